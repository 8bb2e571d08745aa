//! The answer in one sentence, made from the results.

use super::classes::ClassSummary;
use super::notes::circle;
use super::steps;
use super::{Comparison, Group};
use crate::findings::Selection;
use crate::run::Run;
use crate::stats::Change;
use weir_core::ClassId;
use weir_core::format;
use weir_sim::outcome::Finish;

/// What the runs say, in a sentence or two.
pub fn answer(c: &Comparison<'_>) -> String {
    let Some(first) = c.groups.first() else { return "Nothing was run.".into() };
    let found = deadlock(c).or_else(|| victim(c, first)).or_else(|| loss(c));
    let flows = c.groups.iter().any(|g| ClassSummary::new(g, None).own_flows() > 0);
    let mut text = match (found, steps::sentence(c)) {
        (Some(found), Some(jobs)) => format!("{found} {jobs}"),
        (Some(found), None) => found,
        (None, Some(jobs)) if flows => format!("{jobs} {}", completion(c)),
        (None, Some(jobs)) => jobs,
        (None, None) => completion(c),
    };
    if let Some(note) = c.partial_note() {
        text = format!("{note}. {text}");
    }
    for group in c.groups.iter().filter(|g| g.runs.iter().any(Run::clock_ended)) {
        text.push_str(&format!(
            " {} was not done after {}, the longest time that can be simulated.",
            group.label,
            format::time(weir_sim::HORIZON)
        ));
    }
    text
}

fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

fn deadlock(c: &Comparison<'_>) -> Option<String> {
    let dead =
        |g: &&Group<'_>| g.runs.iter().any(|r| matches!(r.outcome.finish, Finish::Deadlock(_)));
    let (stuck, free): (Vec<&Group<'_>>, Vec<&Group<'_>>) = c.groups.iter().partition(dead);
    let first = stuck.first()?;
    let found = first.runs.iter().find_map(|r| match &r.outcome.finish {
        Finish::Deadlock(d) => Some(d),
        _ => None,
    })?;
    let circle = circle(first.experiment, found);
    let mut text = match when(&stuck).as_slice() {
        [(names, time)] => format!("Under {names} the network deadlocked {time}: "),
        several => {
            let each: Vec<String> =
                several.iter().map(|(names, time)| format!("under {names} {time}")).collect();
            let each: Vec<&str> = each.iter().map(String::as_str).collect();
            format!("The network deadlocked {}; under {}: ", list(&each), first.label)
        }
    };
    text.push_str(&format!("{circle}, each waiting for the next."));
    for (how, end) in [
        (Ending::Drained, "did not"),
        (Ending::Cut, "had not when the run ended"),
        (Ending::Stalled, "stalled"),
    ] {
        let names: Vec<&str> =
            free.iter().filter(|g| ending(g) == how).map(|g| g.label.as_str()).collect();
        if !names.is_empty() {
            text.push_str(&format!(" {} {end}.", list(&names)));
        }
    }
    Some(text)
}

/// How the runs of a row without a deadlock ended.
#[derive(PartialEq, Eq)]
enum Ending {
    /// All flows were done.
    Drained,
    /// The end of the run came first, in some run at least.
    Cut,
    /// Nothing could move in some run.
    Stalled,
    /// The user or the clock ended it, which other sentences say.
    Said,
}

fn ending(group: &Group<'_>) -> Ending {
    let any = |is: fn(&Run) -> bool| group.runs.iter().any(is);
    match () {
        () if any(|r| r.interrupted() || r.clock_ended()) => Ending::Said,
        () if any(|r| matches!(r.outcome.finish, Finish::Stalled(_))) => Ending::Stalled,
        () if any(|r| r.outcome.finish != Finish::Drained) => Ending::Cut,
        () => Ending::Drained,
    }
}

/// When rows deadlocked, in their order: names of those with the same time, and that time; with
/// several seeds, in how many runs.
fn when(stuck: &[&Group<'_>]) -> Vec<(String, String)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for group in stuck {
        let times = group.runs.iter().filter_map(|r| match &r.outcome.finish {
            Finish::Deadlock(d) => Some(d.closed),
            _ => None,
        });
        let times: Vec<_> = times.collect();
        let (dead, all) = (times.len(), group.runs.len());
        let when = match times.iter().min() {
            Some(time) if all == 1 => format!("after {}", format::time(*time)),
            _ => format!("in {dead} of {all} runs"),
        };
        match found.iter_mut().find(|(known, _)| *known == when) {
            Some((_, names)) => names.push(&group.label),
            None => found.push((when, vec![&group.label])),
        }
    }
    found.into_iter().map(|(when, names)| (list(&names), when)).collect()
}

/// How much longer flows of a class, or all of them, took in a row than in another, seed by seed.
fn change(row: &Group<'_>, other: &Group<'_>, class: Option<ClassId>) -> Option<Change> {
    let mean = |run: &Run| run.class_stats(Selection::of_class(class)).fct.mean();
    let pairs = row.runs.iter().filter_map(|run| {
        let same = other.runs.iter().find(|r| r.variant.seed == run.variant.seed)?;
        Some((mean(run)?, mean(same)?))
    });
    Change::paired(&pairs.collect::<Vec<_>>())
}

/// Whether a change can be told from none.
fn is_clear(change: Change) -> bool {
    change.mean.abs() > change.half_width
}

fn victim(c: &Comparison<'_>, first: &Group<'_>) -> Option<String> {
    let run = first.runs.first()?;
    let trees = run.pause_trees(first.experiment);
    let tree = trees.iter().find(|t| !t.victims.is_empty())?;
    let worst = tree.victims.first()?;
    let root = tree.root?.name(&first.experiment.topology);
    let topology = &first.experiment.topology;
    let (src, dst) = (topology.name(worst.src), topology.name(worst.dst));
    let class = c.class_name(worst.class);
    let more = match tree.victims.len() {
        1 => String::new(),
        n => format!(
            " The same held {} more, none of them longer.",
            format::plural(n as u64 - 1, "flow")
        ),
    };
    // holds and paths are those of one run
    let seed = match first.runs.len() {
        1 => String::new(),
        _ => format!("With seed {}, ", run.variant.seed),
    };
    let mut text = format!(
        "{seed}{} held the {class} flow {src} to {dst} for {}{} because of congestion at {root}, \
         which is not on its path{}.{more}",
        first.label,
        if worst.at_most() { "up to " } else { "" },
        format::time(worst.held),
        if worst.clear { "; no pause began at a port that is" } else { "" },
    );
    let held = |g: &Group<'_>| ClassSummary::innocent_hold(g, worst.class).map_or(0.0, |e| e.mean);
    let fct = |g: &Group<'_>| ClassSummary::new(g, Some(worst.class)).fct_mean.map(|e| e.mean);
    let (base, base_fct) = (held(first), fct(first)?);
    let better: Vec<(&Group<'_>, f64)> = c.groups[1..]
        .iter()
        .filter_map(|g| Some((g, fct(g)?)))
        .filter(|(_, fct)| *fct < base_fct * 0.98)
        .filter(|(g, _)| change(g, first, Some(worst.class)).is_some_and(is_clear))
        .collect();
    // not to hold a flow is worth telling only if the flow gained by it
    let spared: Vec<&str> = better
        .iter()
        .filter(|(g, _)| held(g) < base / 10.0)
        .map(|(g, _)| g.label.as_str())
        .collect();
    if !spared.is_empty() {
        text.push_str(&format!(" {} did not.", list(&spared)));
    }
    if let Some((best, fct)) = better.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
        text.push_str(&format!(
            " Under {} the class took {} instead of {}.",
            best.label,
            format::time_ps(*fct),
            format::time_ps(base_fct)
        ));
    }
    Some(text)
}

fn loss(c: &Comparison<'_>) -> Option<String> {
    let lost = |g: &Group<'_>| -> u64 { g.runs.iter().map(|r| r.outcome.totals.dropped).sum() };
    let loser = c.groups.iter().max_by_key(|g| lost(g)).filter(|g| lost(g) > 0)?;
    let again: u64 = loser.runs.iter().map(|r| r.outcome.totals.retransmitted).sum();
    let mut text = format!(
        "{} lost {} and sent {} again.",
        loser.label,
        format::plural(lost(loser), "packet"),
        format::count(again)
    );
    let kept: Vec<&str> =
        c.groups.iter().filter(|g| lost(g) == 0).map(|g| g.label.as_str()).collect();
    if !kept.is_empty() {
        text.push_str(&format!(" {} lost nothing.", list(&kept)));
    }
    Some(text)
}

/// Whether the runs of a row had no flows.
fn nothing(g: &Group<'_>) -> bool {
    g.runs.iter().all(|r| r.outcome.flows.is_empty())
}

fn completion(c: &Comparison<'_>) -> String {
    let mean = |g: &Group<'_>| ClassSummary::new(g, None).fct_mean.map(|e| e.mean);
    let mut ranked: Vec<(&Group<'_>, f64)> =
        c.groups.iter().filter_map(|g| Some((g, mean(g)?))).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    match ranked.as_slice() {
        [] if c.groups.iter().all(|g| g.experiment.late > 0 && nothing(g)) => {
            "No flow started before the end of the run.".into()
        }
        [] => "No flow completed.".into(),
        [(only, fct)] => {
            let all = ClassSummary::new(only, None);
            format!(
                "{} of {} completed under {}, in {} on average.",
                format::count(all.completed),
                format::plural(all.own_flows(), "flow"),
                only.label,
                format::time_ps(*fct)
            )
        }
        [(best, low), .., (worst, high)] => {
            let clear = change(best, worst, None).is_none_or(is_clear) || c.seeds() < 2;
            format!(
                "Flows took {} on average under {} and {} under {}{}.",
                format::time_ps(*low),
                best.label,
                format::time_ps(*high),
                worst.label,
                match clear {
                    true => String::new(),
                    false => format!("; {} seeds do not tell these apart", c.seeds()),
                }
            )
        }
    }
}
