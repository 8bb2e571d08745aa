//! The steps of jobs under each scheme.

use super::{Comparison, Group};
use crate::stats::Estimate;
use std::sync::Arc;
use weir_core::{Time, format};
use weir_sim::outcome::{IterationRecord, JobRecord};
use weir_traffic::{Job, Work};

/// Times of iterations that ended.
pub(crate) fn times(record: &JobRecord) -> impl Iterator<Item = (Time, &IterationRecord)> {
    record.iterations.iter().filter_map(|it| Some((it.end? - it.begin, it)))
}

pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let all: Vec<f64> = values.collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// Bus bandwidth of an iteration of this length, bits per second.
pub(crate) fn bus(job: &Job, time: Time) -> Option<f64> {
    let Work::Collective(plan) = &job.work else { return None };
    let factor = plan.operation.bus_factor(plan.ranks)?;
    let seconds = Some(time.as_secs_f64()).filter(|s| *s > 0.0)?;
    Some(plan.bytes.get() as f64 * 8.0 / seconds * factor)
}

/// The steps of a job under one scheme, over all seeds.
#[derive(Clone, Debug)]
pub(crate) struct StepSummary {
    /// Iterations that ended, all seeds together.
    pub(crate) ended: u64,
    /// Iterations that there were to be.
    pub(crate) asked: u64,
    /// Mean step time, picoseconds.
    pub(crate) mean: Option<Estimate>,
    /// The longest of all seeds.
    pub(crate) most: Option<f64>,
    /// Mean exposed communication.
    pub(crate) exposed: Option<Estimate>,
    /// What a step takes alone.
    pub(crate) alone: Option<f64>,
    /// Mean bus bandwidth, bits per second.
    pub(crate) bus: Option<Estimate>,
}

impl StepSummary {
    /// Of the job at `place`; `None` if the row has no such job.
    pub(crate) fn new(group: &Group<'_>, place: usize) -> Option<Self> {
        let job = group.experiment.traffic.jobs().get(place)?;
        let records: Vec<&JobRecord> = group.outcomes().filter_map(|o| o.jobs.get(place)).collect();
        let ps = |t: Time| t.as_ps() as f64;
        let each = |of: &dyn Fn(Time, &IterationRecord) -> Option<f64>| {
            let of_run = |r: &&JobRecord| mean(times(r).filter_map(|(t, it)| of(t, it)));
            Estimate::new(&records.iter().filter_map(of_run).collect::<Vec<_>>())
        };
        let all = || records.iter().flat_map(|r| times(r));
        Some(Self {
            ended: all().count() as u64,
            asked: u64::from(job.iterations()) * group.runs.len() as u64,
            mean: each(&|t, _| Some(ps(t))),
            most: all().map(|(t, _)| ps(t)).max_by(f64::total_cmp),
            exposed: each(&|t, it| Some(ps(t.saturating_sub(it.computed)))),
            alone: records.first().and_then(|r| r.ideal).map(ps).filter(|alone| *alone > 0.0),
            bus: each(&|t, _| bus(job, t)),
        })
    }
}

/// What the jobs of a comparison did, in a sentence or two; `None` without jobs.
pub(crate) fn sentence(c: &Comparison<'_>) -> Option<String> {
    let jobs = c.experiment.traffic.jobs();
    if jobs.is_empty() {
        return None;
    }
    let collective = |job: &Arc<Job>| matches!(job.work, Work::Collective(_));
    let noun = if jobs.iter().all(collective) { "collective" } else { "step" };
    let mut rows: Vec<SchemeSteps<'_>> =
        c.groups.iter().filter_map(|g| SchemeSteps::new(g, jobs.len())).collect();
    rows.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    Some(match rows.as_slice() {
        [] => format!("No {noun} ended."),
        [only] => only.sentence(noun),
        [best, .., worst] => {
            let noun = if noun == "step" { "A step" } else { "A collective" };
            let [low, high] = [best, worst].map(|row| format::time_ps(row.mean));
            let open = rows.iter().filter(|r| r.ended < r.asked).count() as u64;
            let open = match open {
                0 => String::new(),
                n => format!(" Not all ended under {}.", format::plural(n, "scheme")),
            };
            let (best, worst) = (best.label, worst.label);
            format!("{noun} took {low} on average under {best} and {high} under {worst}.{open}")
        }
    })
}

/// All jobs under one scheme together.
struct SchemeSteps<'a> {
    label: &'a str,
    /// Iterations that ended, and that there were to be.
    ended: u64,
    asked: u64,
    /// Means over jobs.
    mean: f64,
    exposed: f64,
}

impl<'a> SchemeSteps<'a> {
    /// `None` if no iteration ended.
    fn new(g: &'a Group<'_>, jobs: usize) -> Option<Self> {
        let all: Vec<StepSummary> = (0..jobs).filter_map(|p| StepSummary::new(g, p)).collect();
        let sum = |of: fn(&StepSummary) -> u64| all.iter().map(of).sum();
        let over_jobs = |of: fn(&StepSummary) -> Option<Estimate>| {
            mean(all.iter().filter_map(|s| Some(of(s)?.mean)))
        };
        Some(Self {
            label: &g.label,
            ended: sum(|s| s.ended),
            asked: sum(|s| s.asked),
            mean: over_jobs(|s| s.mean)?,
            exposed: over_jobs(|s| s.exposed)?,
        })
    }

    fn sentence(&self, noun: &str) -> String {
        let Self { label, ended, asked, mean, exposed } = self;
        let (all, time) = (format::plural(*asked, noun), format::time_ps(*mean));
        // of what computes nothing all is communication
        let exposed = match exposed < mean {
            true => format!(", {} of that exposed communication", format::time_ps(*exposed)),
            false => String::new(),
        };
        let ended = format::count(*ended);
        format!("{ended} of {all} ended under {label}, in {time} on average{exposed}.")
    }
}
