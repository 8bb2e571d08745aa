//! The answer in one sentence, made from the results.

use super::classes::ClassSummary;
use super::notes::circle;
use super::{Comparison, Group};
use crate::format;
use crate::run::Run;
use weir_sim::outcome::Finish;

/// What the runs say, in a sentence or two.
pub fn answer(c: &Comparison<'_>) -> String {
    let Some(first) = c.groups.first() else { return "Nothing was run.".into() };
    let found = deadlock(c).or_else(|| victim(c, first)).or_else(|| loss(c));
    let mut text = found.unwrap_or_else(|| completion(c));
    if let Some(note) = c.partial_note() {
        text = format!("{note}. {text}");
    }
    for group in c.groups.iter().filter(|g| g.runs.iter().any(Run::clock_ended)) {
        text.push_str(&format!(
            " {} was not done after {}, the longest time that can be simulated.",
            group.scheme.title,
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
    let dead = |g: &&Group| g.runs.iter().any(|r| matches!(r.outcome.finish, Finish::Deadlock(_)));
    let (stuck, free): (Vec<&Group>, Vec<&Group>) = c.groups.iter().partition(dead);
    let found = stuck.first()?.runs.iter().find_map(|r| match &r.outcome.finish {
        Finish::Deadlock(d) => Some(d),
        _ => None,
    })?;
    let names: Vec<&str> = stuck.iter().map(|g| g.scheme.title).collect();
    let circle = circle(c.experiment, found);
    let mut text = format!(
        "Under {} the network deadlocked after {}: {circle}, each waiting for the next.",
        list(&names),
        format::time(found.closed)
    );
    let drained = |g: &&&Group| g.runs.iter().all(|r| r.outcome.finish == Finish::Drained);
    let names: Vec<&str> = free.iter().filter(drained).map(|g| g.scheme.title).collect();
    if !names.is_empty() {
        text.push_str(&format!(" {} did not.", list(&names)));
    }
    Some(text)
}

fn victim(c: &Comparison<'_>, first: &Group) -> Option<String> {
    let run = first.runs.first()?;
    let trees = run.pause_trees(c.experiment);
    let tree = trees.iter().find(|t| !t.victims.is_empty())?;
    let worst = tree.victims.first()?;
    let root = tree.root?.name(&c.experiment.topology);
    let topology = &c.experiment.topology;
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
        first.scheme.title,
        if worst.at_most() { "up to " } else { "" },
        format::time(worst.held),
        if worst.clear { "; no pause began at a port that is" } else { "" },
    );
    let held = |g: &Group| ClassSummary::innocent_hold(c, g, worst.class).map_or(0.0, |e| e.mean);
    let fct = |g: &Group| ClassSummary::new(g, Some(worst.class)).fct_mean.map(|e| e.mean);
    let (base, base_fct) = (held(first), fct(first)?);
    let better: Vec<(&Group, f64)> = c.groups[1..]
        .iter()
        .filter_map(|g| Some((g, fct(g)?)))
        .filter(|(_, fct)| *fct < base_fct * 0.98)
        .collect();
    // not to hold a flow is worth telling only if the flow gained by it
    let spared: Vec<&str> =
        better.iter().filter(|(g, _)| held(g) < base / 10.0).map(|(g, _)| g.scheme.title).collect();
    if !spared.is_empty() {
        text.push_str(&format!(" {} did not.", list(&spared)));
    }
    if let Some((best, fct)) = better.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
        text.push_str(&format!(
            " Under {} the class took {} instead of {}.",
            best.scheme.title,
            format::time_ps(*fct),
            format::time_ps(base_fct)
        ));
    }
    Some(text)
}

fn loss(c: &Comparison<'_>) -> Option<String> {
    let lost = |g: &Group| -> u64 { g.runs.iter().map(|r| r.outcome.totals.dropped).sum() };
    let loser = c.groups.iter().max_by_key(|g| lost(g)).filter(|g| lost(g) > 0)?;
    let again: u64 = loser.runs.iter().map(|r| r.outcome.totals.retransmitted).sum();
    let mut text = format!(
        "{} lost {} and sent {} again.",
        loser.scheme.title,
        format::plural(lost(loser), "packet"),
        format::count(again)
    );
    let kept: Vec<&str> =
        c.groups.iter().filter(|g| lost(g) == 0).map(|g| g.scheme.title).collect();
    if !kept.is_empty() {
        text.push_str(&format!(" {} lost nothing.", list(&kept)));
    }
    Some(text)
}

fn completion(c: &Comparison<'_>) -> String {
    let mean = |g: &Group| ClassSummary::new(g, None).fct_mean.map(|e| e.mean);
    let mut ranked: Vec<(&Group, f64)> =
        c.groups.iter().filter_map(|g| Some((g, mean(g)?))).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    match ranked.as_slice() {
        [] => "No flow completed.".into(),
        [(only, fct)] => {
            let all = ClassSummary::new(only, None);
            format!(
                "{} of {} completed under {}, in {} on average.",
                format::count(all.completed),
                format::plural(all.flows, "flow"),
                only.scheme.title,
                format::time_ps(*fct)
            )
        }
        [(best, low), .., (worst, high)] => format!(
            "Flows took {} on average under {} and {} under {}.",
            format::time_ps(*low),
            best.scheme.title,
            format::time_ps(*high),
            worst.scheme.title
        ),
    }
}
