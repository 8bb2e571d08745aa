//! The figures of a comparison, by name: for its page, and one at a time for papers.

mod completion;
mod export;
pub mod look;
mod pauses;
mod queues;
mod ranks;
mod steps;
mod time;

pub use export::{Format, Size};

use crate::compare::Figures;
use crate::comparison::Comparison;
use crate::lineup::Lineup;
use look::{Look, looks};
use weir_net::nearest;
use weir_plot::Figure;

/// Names of figures and what they show. `ROW` stands for the name of a scheme or variant.
pub const FIGURES: &[(&str, &str)] = &[
    ("fct", "mean flow completion time by class and scheme"),
    ("rate", "mean rate of flows without an end, by class and scheme"),
    ("fct-cdf", "distribution of the completion time, a panel per class"),
    (
        "slowdown-by-size",
        "mean and 99th percentile of the slowdown over flow size, all classes together",
    ),
    ("queue", "queue of the most congested port over time (needs [probe] series)"),
    (
        "ingress",
        "bytes held from the neighbour paused most, with thresholds (needs [probe] series)",
    ),
    ("queues-host-facing", "share of time with longer queues: ports towards hosts"),
    ("queues-tor", "the same: ToR ports towards switches"),
    ("queues-agg", "the same: aggregation ports"),
    ("queues-core", "the same: core ports"),
    ("queues-other", "the same: ports between switches of a network without layers"),
    ("buffers", "share of time with more memory in use, per switch"),
    ("step-time", "mean time of the steps of jobs, by job and scheme"),
    ("exposed", "mean exposed communication of steps, by job and scheme"),
    ("gantt-ROW", "what ranks did over time, and the critical path (needs --blame)"),
    ("timeline-ROW", "pauses over time under a scheme or variant, a row per link"),
];

/// Figures that are drawn from samples over time.
const SAMPLED: [&str; 2] = ["queue", "ingress"];

/// How the names of figures of jobs begin.
const JOBS: [&str; 3] = ["step-time", "exposed", "gantt-"];

/// All names that may be asked for in a comparison with these rows.
fn names(rows: &[&str]) -> Vec<String> {
    let expand = |(name, _): &(&str, &str)| match name.strip_suffix("ROW") {
        Some(start) => rows.iter().map(|row| format!("{start}{row}")).collect(),
        None => vec![(*name).to_owned()],
    };
    FIGURES.iter().flat_map(expand).collect()
}

/// Whether there can be a figure called `name` in a comparison, before it is run; else why not.
pub fn check(name: &str, lineup: &Lineup) -> Result<(), String> {
    let e = &lineup.base;
    let rows: Vec<&str> = lineup.settings.iter().map(|s| s.id.as_str()).collect();
    let names = names(&rows);
    if !names.iter().any(|n| n == name) {
        let near = nearest(name, names.iter().map(String::as_str));
        let hint = near.map_or_else(String::new, |n| format!(": did you mean `{n}`?"));
        return Err(format!("there is no figure `{name}`{hint} (`--figure list` shows all)"));
    }
    if SAMPLED.contains(&name) && e.scenario.probe.series.is_none() {
        return Err(format!(
            "figure `{name}` is drawn from samples over time, but the scenario has none: add \
             `--set probe.series=2us`"
        ));
    }
    if JOBS.iter().any(|start| name.starts_with(start)) && e.traffic.jobs().is_empty() {
        return Err(format!("figure `{name}` is of jobs, and the scenario has no `[[job]]`"));
    }
    if name.starts_with("gantt-") && !lineup.settings.iter().any(|s| s.experiment.blame) {
        return Err(format!("figure `{name}` shows critical paths, which are kept with `--blame`"));
    }
    Ok(())
}

/// The figure called `name`; else which ones there are.
pub fn one(c: &Comparison<'_>, name: &str) -> Result<Figure, String> {
    let all = all(c);
    match all.iter().position(|f| f.id == name) {
        Some(at) => Ok(all.into_iter().nth(at).expect("it is there")),
        None => {
            let there: Vec<&str> = all.iter().map(|f| f.id.as_str()).collect();
            Err(format!(
                "these runs have no data for figure `{name}`; available are {}",
                there.join(", ")
            ))
        }
    }
}

/// All figures for which there is something to show.
pub fn all(c: &Comparison<'_>) -> Vec<Figure> {
    let timelines = looks(c).into_iter().enumerate();
    let timelines = timelines.filter_map(|(i, look)| timeline(c, i, &look));
    let gantts = looks(c).into_iter().enumerate();
    let gantts = gantts.filter_map(|(i, look)| gantt(c, i, &look));
    let all = jobs(c).into_iter().chain(gantts).chain(completion(c));
    all.chain(queues(c, &Figures::new(c))).chain(timelines).collect()
}

/// Figures about the steps of jobs.
pub(super) fn jobs(c: &Comparison<'_>) -> Vec<Figure> {
    [steps::time(c), steps::exposed(c)].into_iter().flatten().collect()
}

/// The ranks of the first seed of row `i`.
pub(super) fn gantt(c: &Comparison<'_>, i: usize, look: &Look) -> Option<Figure> {
    let group = c.groups.get(i)?;
    ranks::gantt(group.experiment, group.runs.first()?, look)
}

/// Figures about completion times.
pub(super) fn completion(c: &Comparison<'_>) -> Vec<Figure> {
    let all = [
        completion::fct(c),
        completion::rate(c),
        completion::slowdown_by_size(c),
        completion::fct_cdf(c),
    ];
    all.into_iter().flatten().collect()
}

/// Figures about queues and memory.
pub(super) fn queues(c: &Comparison<'_>, numbers: &Figures) -> Vec<Figure> {
    let mut all = Vec::new();
    // a port of one network is none of another
    if let Some(&at) = numbers.hottest.first().filter(|_| c.one_network()) {
        all.extend(queues::queue(c, at));
        all.extend(queues::ingress(c, at));
    }
    all.extend(queues::distributions(c));
    all
}

/// Pauses over time of the first seed of row `i`.
pub(super) fn timeline(c: &Comparison<'_>, i: usize, look: &Look) -> Option<Figure> {
    let run = c.groups.get(i)?.runs.first()?;
    pauses::timeline(c.groups[i].experiment, run, look)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::PortKind;

    #[test]
    fn the_list_names_every_kind_of_port() {
        for kind in PortKind::ALL {
            let name = format!("queues-{}", kind.name());
            assert!(FIGURES.iter().any(|(n, _)| *n == name), "{name}");
        }
    }
}
