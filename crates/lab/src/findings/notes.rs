//! What is remarkable about the runs of a scheme, in a few words.

use super::Group;
use crate::experiment::Experiment;
use crate::format;
use weir_sim::outcome::{Deadlock, DropReason, Finish};

/// Remarks, the gravest first; none when all went well and nothing was sent twice.
pub fn notes(e: &Experiment, group: &Group) -> Vec<String> {
    let mut notes = Vec::new();
    let runs = group.runs.len();
    let of_all = |n: usize| match runs {
        1 => String::new(),
        all => format!(" in {n} of {all} runs"),
    };
    let count =
        |is: fn(&Finish) -> bool| group.runs.iter().filter(|r| is(&r.outcome.finish)).count();
    let deadlocks = count(|f| matches!(f, Finish::Deadlock(_)));
    if deadlocks > 0 {
        let first = group.runs.iter().find_map(|r| match &r.outcome.finish {
            Finish::Deadlock(d) => Some(d),
            _ => None,
        });
        let at = first.map(|d| format!(" at {}: {}", format::time(d.closed), circle(e, d)));
        notes.push(format!("DEADLOCK{}{}", of_all(deadlocks), at.unwrap_or_default()));
    }
    let stalls = count(|f| matches!(f, Finish::Stalled(_)));
    if stalls > 0 {
        notes.push(format!("STALLED{}", of_all(stalls)));
    }
    if group.runs.iter().any(crate::run::Run::interrupted) {
        notes.push("interrupted".into());
    }
    for reason in DropReason::ALL {
        let drops = group.runs.iter().flat_map(|r| &r.outcome.drops);
        let packets: u64 = drops.filter(|d| d.reason == reason).map(|d| d.packets).sum();
        if packets > 0 {
            notes.push(format!("{} lost ({})", format::count(packets), reason.name()));
        }
    }
    let total = |of: fn(&weir_sim::outcome::Totals) -> u64| -> u64 {
        group.runs.iter().map(|r| of(&r.outcome.totals)).sum()
    };
    let (started, completed) = (total(|t| t.flows), total(|t| t.completed));
    if completed < started {
        let left = format::count(started - completed);
        notes.push(format!("{left} of {} unfinished", format::plural(started, "flow")));
    }
    notes.extend(group.missing_signal().map(|(title, _)| title));
    for (n, what) in [
        (total(|t| t.retransmitted), "sent again"),
        (total(|t| t.reordered), "out of order"),
        (total(|t| t.discarded), "discarded at the source"),
        (total(|t| t.watchdog_storms), "watchdog storms"),
    ] {
        if n > 0 {
            notes.push(format!("{} {what}", format::count(n)));
        }
    }
    notes
}

/// `sw0 -> sw1 -> sw2 -> sw0`.
pub(crate) fn circle(e: &Experiment, d: &Deadlock) -> String {
    let names: Vec<&str> = d.cycle.iter().map(|s| e.topology.name(s.node)).collect();
    let back = names.first().copied();
    names.into_iter().chain(back).collect::<Vec<_>>().join(" -> ")
}
