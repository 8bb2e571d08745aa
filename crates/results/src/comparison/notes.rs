//! What is remarkable about the runs of a scheme, in a few words.

use super::{Comparison, Group};
use crate::run::Run;
use weir_core::format;
use weir_scenario::experiment::Experiment;
use weir_sim::config::{Reliability, Stop};
use weir_sim::outcome::{Deadlock, DropReason, Finish};

/// Remarks, the gravest first; none when all went well and nothing was sent twice.
pub fn notes(c: &Comparison<'_>, group: &Group<'_>) -> Vec<String> {
    let mut notes = endings(group.experiment, group);
    notes.extend(other_traffic(c, group));
    notes.extend(late(group.experiment));
    notes.extend(failures(c, &group.label).into_iter().map(
        |(why, seeds)| match seeds.as_slice() {
            [seed] => format!("seed {seed} {why}"),
            several => format!("{} {why}", format::plural(several.len() as u64, "seed")),
        },
    ));
    for reason in DropReason::ALL {
        let drops = group.runs.iter().flat_map(|r| &r.outcome.drops);
        let packets: u64 = drops.filter(|d| d.reason == reason).map(|d| d.packets).sum();
        if packets > 0 {
            notes.push(format!("{} lost ({})", format::count(packets), reason.name()));
        }
    }
    notes.extend(lost_pauses(group));
    let (open, all) = group
        .runs
        .iter()
        .map(Run::unfinished)
        .fold((0, 0), |(a, b), (open, all)| (a + open, b + all));
    if open > 0 {
        let mut note =
            format!("{} of {} unfinished", format::count(open), format::plural(all, "flow"));
        if open < all {
            note.push_str(", and FCT figures are of the others");
        }
        notes.push(note);
    }
    notes.extend(group.missing_signal().map(|(title, _)| title));
    let total = |of: fn(&weir_sim::outcome::Totals) -> u64| -> u64 {
        group.runs.iter().map(|r| of(&r.outcome.totals)).sum()
    };
    let is_tcp = group.runs.iter().any(|r| r.config.nic.reliability == Reliability::Tcp);
    // how many, of what (packets, where nothing is said), and what about it
    for (n, noun, what) in [
        (total(|t| t.retransmitted), "", "sent again"),
        (if is_tcp { total(|t| t.timeouts) } else { 0 }, "timeout", ""),
        (total(|t| t.fast_retransmits), "fast retransmit", ""),
        (total(|t| t.ecn_cuts), "window", "cut for marks"),
        (total(|t| t.reordered), "", out_of_order(group).as_str()),
        (total(|t| t.discarded), "", "discarded at the source"),
        (total(|t| t.watchdog_storms), "watchdog storm", ""),
        (total(|t| t.storms_prevented), "storm", "prevented by NICs"),
        (total(|t| t.needless_timeouts), "timeout", "although nothing was lost"),
        (total(|t| t.control_dropped), "control frame", "lost"),
        (total(|t| t.control_delayed), "control frame", "late"),
        (total(|t| t.control_duplicated), "control frame", "duplicated"),
    ] {
        let counted = if noun.is_empty() { format::count(n) } else { format::plural(n, noun) };
        if n > 0 {
            notes.push(format!("{counted} {what}").trim_end().to_owned());
        }
    }
    let processors = || {
        let switches = group.runs.iter().flat_map(|r| &r.outcome.switches);
        switches.filter_map(|s| s.processor.as_ref())
    };
    let stops: u64 = processors().map(|p| p.stops).sum();
    if stops > 0 {
        let stopped = format::time(processors().map(|p| p.stopped).sum());
        let times = format::plural(stops, "time");
        notes.push(format!("packet processors stopped {times}, {stopped} together"));
    }
    notes
}

/// What is said of a lossless priority that lost packets after a PAUSE had not arrived.
fn lost_pauses(group: &Group<'_>) -> Option<String> {
    let broken = |r: &&Run| {
        let breaks = |d: &weir_sim::outcome::DropRecord| {
            d.reason.breaks_losslessness() && r.config.switch.lossless.contains(d.priority)
        };
        r.variant.scheme.lossless && r.outcome.drops.iter().any(breaks)
    };
    let frame = group.runs.iter().filter(broken).find_map(Run::lost_pause)?;
    let text = frame.describe(&group.experiment.topology);
    Some(format!("lossless packets lost after a lost PAUSE: {text}"))
}

/// What is said of packets out of order, with the reading of the scheme that is known to cause it.
fn out_of_order(group: &Group<'_>) -> String {
    let reading = group.runs.iter().find_map(|r| {
        let scheme = &r.config.scheme;
        weir_fc::order::reordering(scheme.info, &scheme.values)
    });
    match reading {
        Some(r) => format!("out of order ({} = {} reorders)", r.param.name, r.value),
        None => "out of order".into(),
    }
}

/// Flows that were not simulated because the run ended before.
fn late(e: &Experiment) -> Option<String> {
    let verb = if e.late == 1 { "starts" } else { "start" };
    let end = match e.scenario.run.stop {
        Stop::At(end) => format!("the end of the run ({})", format::time(end)),
        Stop::Drained => "the end of the run".into(),
    };
    (e.late > 0).then(|| format!("{} {verb} after {end}", format::plural(e.late, "flow")))
}

/// A row whose changes of the scenario reach its traffic is no comparison with the others.
fn other_traffic(c: &Comparison<'_>, group: &Group<'_>) -> Option<String> {
    let base = &c.groups.first()?.label;
    match c.other_traffic(group).as_slice() {
        [] => None,
        seeds if seeds.len() == group.runs.len() => Some(format!("OTHER TRAFFIC than {base}")),
        [seed] => Some(format!("OTHER TRAFFIC than {base} with seed {seed}")),
        some => {
            let seeds = format::plural(some.len() as u64, "seed");
            Some(format!("OTHER TRAFFIC than {base} with {seeds}"))
        }
    }
}

/// Why runs of a row have no outcome, each reason with the seeds it is about.
pub(crate) fn failures(c: &Comparison<'_>, label: &str) -> Vec<(String, Vec<u64>)> {
    let mut reasons: Vec<(String, Vec<u64>)> = Vec::new();
    for failed in c.failed.iter().filter(|f| f.label == label) {
        let (why, seed) = (failed.why.to_string(), failed.variant.seed);
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, seeds)) => seeds.push(seed),
            None => reasons.push((why, vec![seed])),
        }
    }
    reasons
}

/// Runs that ended otherwise than by being done.
fn endings(e: &Experiment, group: &Group<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let of_all = |n: usize| match group.runs.len() {
        1 => String::new(),
        all => format!(" in {n} of {all} runs"),
    };
    let count = |is: fn(&Run) -> bool| group.runs.iter().filter(|r| is(r)).count();
    let deadlocks = count(|r| matches!(r.outcome.finish, Finish::Deadlock(_)));
    if deadlocks > 0 {
        let first = group.runs.iter().find_map(|r| match &r.outcome.finish {
            Finish::Deadlock(d) => Some(d),
            _ => None,
        });
        let at = first.map(|d| format!(" at {}: {}", format::time(d.closed), circle(e, d)));
        notes.push(format!("DEADLOCK{}{}", of_all(deadlocks), at.unwrap_or_default()));
    }
    let stalls = count(|r| matches!(r.outcome.finish, Finish::Stalled(_)));
    if stalls > 0 {
        let frame = group.runs.iter().find_map(Run::lost_frame);
        let why = frame.map(|f| format!(": {}", f.describe(&e.topology)));
        notes.push(format!("STALLED{}{}", of_all(stalls), why.unwrap_or_default()));
    }
    let clock = count(Run::clock_ended);
    if clock > 0 {
        let end = format::time(weir_sim::HORIZON);
        notes.push(format!("NOT OVER{} after {end}, the end of the clock", of_all(clock)));
    }
    let unfinished = |r: &&Run| r.outcome.finish == Finish::TimeLimit && r.unfinished().0 > 0;
    let held = count(|r| !r.outcome.held_at_end.is_empty());
    if held > 0 {
        let frame = group.runs.iter().find_map(Run::lost_frame);
        let why = frame.map(|f| format!(": {}", f.describe(&e.topology)));
        notes.push(format!("STILL HELD{} at the end{}", of_all(held), why.unwrap_or_default()));
    } else if let Some(frame) =
        group.runs.iter().filter(unfinished).find_map(|r| r.outcome.faulted.last())
    {
        let text = frame.describe(&e.topology);
        notes.push(format!("unfinished after lost control frames, the last: {text}"));
    }
    if group.runs.iter().any(Run::interrupted) {
        notes.push("INTERRUPTED".into());
    }
    notes
}

/// `sw0 -> sw1 -> sw2 -> sw0`.
pub(super) fn circle(e: &Experiment, d: &Deadlock) -> String {
    let names: Vec<&str> = d.cycle.iter().map(|s| e.topology.name(s.node)).collect();
    let back = names.first().copied();
    names.into_iter().chain(back).collect::<Vec<_>>().join(" -> ")
}
