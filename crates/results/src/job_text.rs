//! What a run says of its jobs: how long their steps took, and, with blame, because of what.

use crate::compare::estimate;
use crate::comparison::steps::{StepSummary, bus, mean, times};
use crate::comparison::{Comparison, Group};
use crate::findings::{Blames, PathBlame, PathPart};
use crate::listing::Layout;
use crate::run::Run;
use crate::table::{Column, TextTable};
use serde_json::{Map, Value, json};
use weir_core::{Time, format};
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::RankWait;
use weir_traffic::{Job, Work};

/// What a job does, in a word.
fn what(job: &Job) -> &'static str {
    match &job.work {
        Work::Collective(plan) => plan.operation.name(),
        Work::Schedule(..) => "schedule",
        Work::Tasks(..) => "tasks",
        Work::Training(_) => "training",
    }
}

/// What tables of jobs say of the steps of one.
struct Steps {
    ended: u64,
    asked: u64,
    mean: String,
    most: Option<f64>,
    exposed: String,
    alone: Option<f64>,
    slowdown: Option<f64>,
    bus: String,
}

/// What a table of jobs has a row for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowsOf {
    /// Each job of one run.
    Run,
    /// Each job under each scheme.
    Schemes,
}

/// A table of jobs without rows.
fn empty_table(of: RowsOf) -> TextTable {
    let of_schemes = |column| (of == RowsOf::Schemes).then_some(column);
    let columns = [
        Some(Column::words("job", 20)),
        of_schemes(Column::words("scheme", 19)),
        Some(Column::words("does", 9)),
        Some(Column::numbers("ranks", 10)),
        Some(Column::numbers("steps", 18)),
        Some(Column::numbers("mean", 19).under("step")),
        Some(Column::numbers("max", 17).under("step")),
        Some(Column::numbers("exposed", 16)),
        Some(Column::numbers("alone", 12)),
        Some(Column::numbers("slowdown", 15)),
        Some(Column::numbers("bus", 14)),
        of_schemes(Column::words("to blame", 13)),
    ];
    TextTable::new(columns.into_iter().flatten().collect())
}

/// A row of it; by scheme, with the scheme and the port to blame.
fn row(job: &Job, steps: Steps, scheme: Option<(String, String)>) -> Vec<String> {
    let or_dash = |x, text: fn(f64) -> String| format::or_dash(x, text);
    let (scheme, blame) = scheme.unzip();
    let cells = [
        Some(job.name.clone()),
        scheme,
        Some(what(job).to_owned()),
        Some(format::count(u64::from(job.ranks()))),
        Some(format!("{} of {}", format::count(steps.ended), format::count(steps.asked))),
        Some(steps.mean),
        Some(or_dash(steps.most, format::time_ps)),
        Some(steps.exposed),
        Some(or_dash(steps.alone, format::time_ps)),
        Some(or_dash(steps.slowdown, format::significant)),
        Some(steps.bus),
        blame,
    ];
    cells.into_iter().flatten().collect()
}

/// The jobs of a run; nothing if there are none.
pub(crate) fn table(e: &Experiment, run: &Run, layout: Layout) -> Option<String> {
    if e.traffic.jobs().is_empty() {
        return None;
    }
    let mut t = empty_table(RowsOf::Run);
    for (job, record) in e.traffic.jobs().iter().zip(&run.outcome.jobs) {
        let ps = |t: Time| t.as_ps() as f64;
        let time = mean(times(record).map(|(t, _)| ps(t)));
        let exposed = mean(times(record).map(|(t, it)| ps(t.saturating_sub(it.computed))));
        let alone = record.ideal.map(ps).filter(|alone| *alone > 0.0);
        let bus = mean(times(record).filter_map(|(t, _)| bus(job, t)));
        let steps = Steps {
            ended: times(record).count() as u64,
            asked: u64::from(job.iterations()),
            mean: format::or_dash(time, format::time_ps),
            most: times(record).map(|(t, _)| ps(t)).max_by(f64::total_cmp),
            exposed: format::or_dash(exposed, format::time_ps),
            alone,
            slowdown: time.zip(alone).map(|(time, alone)| time / alone),
            bus: bus.map_or_else(String::new, format::rate_bps),
        };
        t.row(row(job, steps, None));
    }
    Some(t.render(layout.width, layout.colour))
}

/// Who waits for whom, each link in words; of a long chain its beginning and its end.
pub(crate) fn chain(waits: &[RankWait], most: usize, word: impl Fn(&RankWait) -> String) -> String {
    let left_out = waits.len().saturating_sub(most);
    let first = if left_out > 0 { most / 2 } else { waits.len() };
    let mut words: Vec<String> = waits[..first].iter().map(&word).collect();
    if left_out > 0 {
        words.push(format!("{left_out} more, each for the one after it"));
    }
    words.extend(waits[first + left_out..].iter().map(&word));
    words.join("; ")
}

/// Jobs that have not ended at the end of the clock. A sentence for each, with the operation, the
/// peer and the tag that ranks wait for.
pub(crate) fn endless(e: &Experiment, run: &Run) -> Vec<String> {
    if !run.clock_ended() {
        return Vec::new();
    }
    let word = |w: &RankWait| {
        let tag = w.tag.map_or_else(String::new, |tag| format!(", tag {tag}"));
        format!("rank {} waits for {}{tag}", w.rank, w.operation)
    };
    let jobs = e.traffic.jobs().iter().zip(&run.outcome.jobs);
    let waiting = jobs.filter(|(_, record)| !record.waits.is_empty());
    let sentences = waiting.map(|(job, record)| {
        format!("Job {} has not ended: {}.", job.name, chain(&record.waits, 4, word))
    });
    sentences.collect()
}

/// The jobs of a comparison by scheme: their steps, and with blame the port to blame for most of
/// the longest step of the first seed. `None` if there are no jobs.
pub(crate) fn by_scheme(c: &Comparison<'_>) -> Option<TextTable> {
    let jobs = c.experiment.traffic.jobs();
    let mut t = empty_table(RowsOf::Schemes);
    for (place, job) in jobs.iter().enumerate() {
        for g in &c.groups {
            let Some(s) = StepSummary::new(g, place) else { continue };
            let time = |e| estimate(e, format::time_ps);
            let steps = Steps {
                ended: s.ended,
                asked: s.asked,
                mean: time(s.mean),
                most: s.most,
                exposed: time(s.exposed),
                alone: s.alone,
                slowdown: s.mean.zip(s.alone).map(|(mean, alone)| mean.mean / alone),
                bus: s.bus.map_or_else(String::new, |b| estimate(Some(b), format::rate_bps)),
            };
            let blame = to_blame(g, place).unwrap_or_default();
            t.row(row(job, steps, Some((g.label.clone(), blame))));
        }
    }
    (!t.rows.is_empty()).then_some(t)
}

/// The port to blame for most of the longest step of a job with the first seed.
fn to_blame(g: &Group<'_>, place: usize) -> Option<String> {
    let blames = g.runs.first()?.blames(g.experiment)?;
    let mut paths = longest(g.experiment, blames);
    let (_, path) = paths.find(|(_, path)| path.job as usize == place)?;
    let (at, time) = path.culprit()?;
    let port = g.experiment.topology.port_label(at.node, at.port);
    Some(format!("{port}, {}", format::time(time)))
}

/// Where the time of the longest step of each job went; empty without blame.
fn paths(e: &Experiment, run: &Run) -> Vec<String> {
    let Some(blames) = run.blames(e) else { return Vec::new() };
    longest(e, blames).map(|(job, path)| sentence(e, job, path)).collect()
}

/// The longest step of each job as JSON.
pub(crate) fn paths_json(e: &Experiment, run: &Run) -> Vec<Value> {
    let Some(blames) = run.blames(e) else { return Vec::new() };
    let paths = longest(e, blames).zip(paths(e, run));
    let json = |((job, path), text): ((&Job, &PathBlame), String)| {
        let parts = PathPart::all().map(|part| (part, path.total(part).as_ps()));
        let parts = parts.into_iter().filter(|(_, ps)| *ps > 0);
        let parts: Map<String, Value> =
            parts.map(|(part, ps)| (part.name().to_owned(), ps.into())).collect();
        let culprit = path.culprit();
        json!({
            "job": job.name,
            "step": path.iteration,
            "time_ps": (path.span.1 - path.span.0).as_ps(),
            "links": path.links.len(),
            "parts": parts,
            "to_blame": culprit.map(|(at, _)| e.topology.port_label(at.node, at.port)),
            "to_blame_ps": culprit.map(|(_, time)| time.as_ps()),
            "text": text,
        })
    };
    paths.map(json).collect()
}

/// The longest step of each job that has one; of equal ones the first.
pub(crate) fn longest<'a>(
    e: &'a Experiment,
    blames: &'a Blames,
) -> impl Iterator<Item = (&'a Job, &'a PathBlame)> {
    e.traffic.jobs().iter().enumerate().filter_map(|(j, job)| {
        let of_job = blames.paths.iter().filter(|p| p.job as usize == j);
        Some((&**job, of_job.rev().max_by_key(|p| p.span.1 - p.span.0)?))
    })
}

/// One path, in a sentence.
fn sentence(e: &Experiment, job: &Job, path: &PathBlame) -> String {
    let whole = path.span.1 - path.span.0;
    let mut parts: Vec<(PathPart, Time)> =
        PathPart::all().map(|part| (part, path.total(part))).to_vec();
    parts.retain(|(_, time)| *time > Time::ZERO);
    parts.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let share = |time: Time| {
        let percent = 100.0 * time.as_ps() as f64 / whole.as_ps().max(1) as f64;
        format!("{} %", format::significant(percent))
    };
    let text: Vec<String> =
        parts.iter().map(|(part, time)| format!("{} {}", part.words(), share(*time))).collect();
    let blame = path.culprit().map_or_else(String::new, |(at, time)| {
        let port = e.topology.port_label(at.node, at.port);
        let time = format::time_ps(time.as_ps() as f64);
        format!(". Most to blame: {port}, for {time}")
    });
    let (name, step, links) = (&job.name, path.iteration, path.links.len());
    let time = format::time_ps(whole.as_ps() as f64);
    format!(
        "Critical path of step {step} of {name}, {time} in {links} links: {}{blame}.",
        text.join(", "),
    )
}
