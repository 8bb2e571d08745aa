//! The table of jobs: `collectives.csv`, one row per iteration.

use super::tables::{Of, with_run};
use crate::column::{Column, columns};
use crate::run::Run;
use weir_core::{Bytes, Time};
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{IterationRecord, JobRecord};
use weir_traffic::{Job, Work};

/// An iteration of a job.
pub(super) struct Iteration<'a> {
    job: &'a Job,
    record: &'a JobRecord,
    number: usize,
    it: IterationRecord,
}

/// All iterations of all jobs of a run.
pub(super) fn iterations<'a>(
    e: &'a Experiment,
    run: &'a Run,
) -> impl Iterator<Item = Iteration<'a>> + use<'a> {
    let jobs = e.traffic.jobs().iter().zip(&run.outcome.jobs);
    jobs.flat_map(|(job, record)| {
        let numbered = record.iterations.iter().enumerate();
        numbered.map(move |(number, &it)| Iteration { job, record, number, it })
    })
}

impl Iteration<'_> {
    fn time(&self) -> Option<Time> {
        Some(self.it.end? - self.it.begin)
    }

    /// The bytes whose time is measured, and the factor of the bus bandwidth.
    fn moved(&self) -> Option<(Bytes, f64)> {
        match &self.job.work {
            Work::Collective(plan) => Some((plan.bytes, plan.operation.bus_factor(plan.ranks)?)),
            Work::Schedule(..) | Work::Tasks(..) => None,
        }
    }

    /// Bits per second, times `factor` of (bytes, bus factor).
    fn bandwidth(&self, factor: impl Fn(f64) -> f64) -> Option<f64> {
        let (bytes, bus) = self.moved()?;
        let seconds = self.time().filter(|t| *t > Time::ZERO)?.as_secs_f64();
        Some(bytes.get() as f64 * 8.0 / seconds * factor(bus))
    }

    fn slowdown(&self) -> Option<f64> {
        let ideal = self.record.ideal.filter(|t| *t > Time::ZERO)?;
        Some(self.time()?.as_ps() as f64 / ideal.as_ps() as f64)
    }

    /// Who waits for whom, if it has not ended.
    fn waits(&self) -> String {
        if self.it.end.is_some() {
            return String::new();
        }
        let waits = self.record.waits.iter();
        let all: Vec<String> =
            waits.map(|w| format!("rank {} waits for {}", w.rank, w.operation)).collect();
        all.join("; ")
    }
}

/// Its columns.
pub(super) fn columns<'a>() -> Vec<Column<Of<'a, Iteration<'a>>>> {
    with_run(columns! {
        "job" Text: "the name of the job", |v| v.it.job.name.as_str();
        "operation" Text: "the collective operation; `schedule` or `tasks` for a trace",
            |v| match &v.it.job.work {
                Work::Collective(plan) => plan.operation.name(),
                Work::Schedule(..) => "schedule",
                Work::Tasks(..) => "tasks",
            };
        "algorithm" Text: "how it is carried out; empty for a trace", |v| match &v.it.job.work {
            Work::Collective(plan) => plan.algorithm.name(),
            Work::Schedule(..) | Work::Tasks(..) => "",
        };
        "ranks" Whole Count: "number of ranks", |v| u64::from(v.it.job.ranks());
        "size" Whole Bytes: "the buffer of a rank; empty for a barrier and a trace",
            |v| v.it.moved().map(|(bytes, _)| bytes);
        "iteration" Whole Count: "from 0", |v| v.it.number as u64;
        "start_ps" Whole Time: "when the first rank began it", |v| v.it.it.begin;
        "end_ps" Whole Time: "when the last rank had finished it; empty if one has not",
            |v| v.it.it.end;
        "time_ps" Whole Time: "`end_ps` less `start_ps`", |v| v.it.time();
        "algorithm_bps" Fixed(0) Rate: "algorithm bandwidth: size over time",
            |v| v.it.bandwidth(|_| 1.0);
        "bus_bps" Fixed(0) Rate:
            "bus bandwidth, which can be compared with the rate of links: algorithm bandwidth \
             times 2 (n - 1) / n for an all-reduce of n ranks, (n - 1) / n for a reduce-scatter, \
             an all-gather and an all-to-all, 1 for a broadcast",
            |v| v.it.bandwidth(|bus| bus);
        "ideal_ps" Whole Time:
            "the time of an iteration alone in the network, without flow control, congestion \
             control, acknowledgements, jitter and stragglers; empty for more than 4 million \
             messages",
            |v| v.it.record.ideal;
        "slowdown" Fixed(6) Number: "`time_ps` divided by `ideal_ps`", |v| v.it.slowdown();
        "slowest_rank" Whole Count: "the rank that finished it last, or has not finished it",
            |v| u64::from(v.it.it.slowest);
        "slowest_host" Text: "its host", |v| {
            let host = v.it.job.hosts.get(v.it.it.slowest as usize);
            host.map_or("", |h| v.node(*h)).to_owned()
        };
        "waits" Text: "for an iteration that has not ended: who waits for whom", |v| v.it.waits();
    })
}
