//! The table of jobs: `collectives.csv`, one row per iteration.

use super::tables::{Of, with_run};
use crate::column::{Column, columns};
use crate::findings::{BlamedLink, PathBlame, PathPart, PathShare};
use crate::job_text::chain;
use crate::run::Run;
use weir_core::{Bytes, Time};
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{IterationRecord, JobRecord};
use weir_traffic::{Job, Work};

/// Of a longer chain of waits only the two ends are written down.
const MOST_WAITS: usize = 64;

/// An iteration of a job.
pub(super) struct Iteration<'a> {
    /// The place of the job in the plan.
    place: usize,
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
    jobs.enumerate().flat_map(|(place, (job, record))| {
        let numbered = record.iterations.iter().enumerate();
        numbered.map(move |(number, &it)| Iteration { place, job, record, number, it })
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
            Work::Schedule(..) | Work::Tasks(..) | Work::Training(_) => None,
        }
    }

    /// Bits per second, times `factor` of (bytes, bus factor).
    fn bandwidth(&self, factor: impl Fn(f64) -> f64) -> Option<f64> {
        let (bytes, bus) = self.moved()?;
        let seconds = self.time().filter(|t| *t > Time::ZERO)?.as_secs_f64();
        Some(bytes.get() as f64 * 8.0 / seconds * factor(bus))
    }

    /// The time in which the rank that came last did not compute.
    fn exposed(&self) -> Option<Time> {
        Some(self.time()?.saturating_sub(self.it.computed))
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
        chain(&self.record.waits, MOST_WAITS, |w| {
            format!("rank {} waits for {}", w.rank, w.operation)
        })
    }
}

/// Its columns.
pub(super) fn columns<'a>() -> Vec<Column<Of<'a, Iteration<'a>>>> {
    with_run(columns! {
        "job" Text: "the name of the job", |v| v.it.job.name.as_str();
        "operation" Text:
            "the collective operation; `schedule` or `tasks` for a trace, `training` for a model",
            |v| match &v.it.job.work {
                Work::Collective(plan) => plan.operation.name(),
                Work::Schedule(..) => "schedule",
                Work::Tasks(..) => "tasks",
                Work::Training(_) => "training",
            };
        "algorithm" Text: "how it is carried out; empty for a trace", |v| match &v.it.job.work {
            Work::Collective(plan) => plan.algorithm.name(),
            Work::Schedule(..) | Work::Tasks(..) => "",
            Work::Training(_) => "1f1b",
        };
        "ranks" Whole Count: "number of ranks", |v| u64::from(v.it.job.ranks());
        "size" Whole Bytes: "the buffer of a rank; empty for a barrier, a trace and a model",
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

/// The columns of `steps.csv`.
pub(super) fn step_columns<'a>() -> Vec<Column<Of<'a, Iteration<'a>>>> {
    with_run(columns! {
        "job" Text: "the name of the job", |v| v.it.job.name.as_str();
        "step" Whole Count: "from 0", |v| v.it.number as u64;
        "start_ps" Whole Time: "when the first rank began it", |v| v.it.it.begin;
        "end_ps" Whole Time: "when the last rank had finished it; empty if one has not",
            |v| v.it.it.end;
        "time_ps" Whole Time: "`end_ps` less `start_ps`", |v| v.it.time();
        "computed_ps" Whole Time:
            "for how long the rank that came last computed; computations at the same time count \
             once",
            |v| v.it.it.computed;
        "exposed_ps" Whole Time:
            "exposed communication: `time_ps` less `computed_ps`, the time for which that rank did \
             nothing but wait",
            |v| v.it.exposed();
        "ideal_ps" Whole Time: "as in `collectives.csv`", |v| v.it.record.ideal;
        "slowdown" Fixed(6) Number: "`time_ps` divided by `ideal_ps`", |v| v.it.slowdown();
        "slowest_rank" Whole Count: "the rank that finished it last, or has not finished it",
            |v| u64::from(v.it.it.slowest);
        "slowest_host" Text: "its host", |v| {
            let host = v.it.job.hosts.get(v.it.it.slowest as usize);
            host.map_or("", |h| v.node(*h)).to_owned()
        };
    })
}

/// The critical path of a step.
fn path<'a>(v: &Of<'a, Iteration<'a>>) -> Option<&'a PathBlame> {
    v.run.blames(v.e)?.path(v.it.place, v.it.number)
}

/// A part of the critical path of a step.
fn part<'a>(v: &Of<'a, Iteration<'a>>, part: PathPart) -> Option<Time> {
    Some(path(v)?.total(part))
}

/// What `steps.csv` has besides where blame is kept.
pub(super) fn path_columns<'a>() -> Vec<Column<Of<'a, Iteration<'a>>>> {
    use crate::findings::FctPart;
    columns! {
        "path_compute_ps" Whole Time:
            "computations on the critical path; this and the following columns up to \
             `path_unknown_ps` add up to `time_ps`, and are empty if the step did not end",
            |v| part(v, PathPart::Compute);
        "path_wire_ps" Whole Time: "serialisation, propagation and switch latency",
            |v| part(v, PathPart::Of(FctPart::Wire));
        "path_source_ps" Whole Time: "earlier packets of a message, or of its queue pair, on the \
                                      wire of the host",
            |v| part(v, PathPart::Of(FctPart::Source));
        "path_host_ps" Whole Time: "waiting for other flows of the host",
            |v| part(v, PathPart::Of(FctPart::Host));
        "path_own_queue_ps" Whole Time: "queued behind packets of the same queue pair",
            |v| part(v, PathPart::Of(FctPart::OwnQueue));
        "path_others_queue_ps" Whole Time: "queued behind packets of other flows",
            |v| part(v, PathPart::Of(FctPart::OthersQueue));
        "path_held_own_ps" Whole Time: "held by pauses whose root is on the way of the message",
            |v| part(v, PathPart::Of(FctPart::HeldOwn));
        "path_held_others_ps" Whole Time: "held by pauses whose root is not on its way",
            |v| part(v, PathPart::Of(FctPart::HeldOthers));
        "path_control_ps" Whole Time: "rate, window or pacing of the congestion control",
            |v| part(v, PathPart::Of(FctPart::Control));
        "path_recovery_ps" Whole Time: "timeouts, retransmissions, links that were down",
            |v| part(v, PathPart::Of(FctPart::Recovery));
        "path_nvlink_ps" Whole Time: "messages between ranks of a host",
            |v| part(v, PathPart::Nvlink);
        "path_nvlink_queue_ps" Whole Time: "their turn", |v| part(v, PathPart::NvlinkQueue);
        "path_told_ps" Whole Time: "completion delays", |v| part(v, PathPart::Told);
        "path_answer_ps" Whole Time: "acknowledgements that a schedule waited for",
            |v| part(v, PathPart::Answer);
        "path_start_ps" Whole Time: "before the first rank of the path began: jitter",
            |v| part(v, PathPart::Start);
        "path_unknown_ps" Whole Time: "what is not explained", |v| part(v, PathPart::Unknown);
        "path_links" Whole Count: "computations, messages and delays on the path",
            |v| path(v).map(|path| path.links.len() as u64);
        "to_blame" Text:
            "the port at which most of what the path waited for in queues, pauses and recovery \
             began",
            |v| path(v).and_then(PathBlame::culprit).map(|(at, _)| v.port(at.node, at.port));
        "to_blame_ps" Whole Time: "for how long it is",
            |v| path(v).and_then(PathBlame::culprit).map(|c| c.1);
    }
}

/// A part of a link of a critical path.
pub(super) struct PathRow<'a> {
    job: &'a Job,
    path: &'a PathBlame,
    number: usize,
    link: &'a BlamedLink,
    share: &'a PathShare,
}

/// All parts of all links of all paths of a run.
pub(super) fn links<'a>(
    e: &'a Experiment,
    run: &'a Run,
) -> impl Iterator<Item = PathRow<'a>> + use<'a> {
    let jobs = e.traffic.jobs();
    let paths = run.blames(e).into_iter().flat_map(|b| &b.paths);
    paths.flat_map(move |path| {
        let job = &*jobs[path.job as usize];
        let links = path.links.iter().enumerate();
        links.flat_map(move |(number, link)| {
            link.shares.iter().map(move |share| PathRow { job, path, number, link, share })
        })
    })
}

/// The columns of `critical-path.csv`.
pub(super) fn link_columns<'a>() -> Vec<Column<Of<'a, PathRow<'a>>>> {
    with_run(columns! {
        "job" Text: "the name of the job", |v| v.it.job.name.as_str();
        "step" Whole Count: "as in `steps.csv`", |v| u64::from(v.it.path.iteration);
        "link" Whole Count: "which link of the chain, from 0", |v| v.it.number as u64;
        "rank" Whole Count: "the rank that computes, sends or is told",
            |v| u64::from(v.it.link.rank);
        "host" Text: "its host", |v| v.node(v.it.link.host).to_owned();
        "peer" Whole Count: "the other rank of a message", |v| v.it.link.peer.map(u64::from);
        "from_ps" Whole Time: "when the link began", |v| v.it.link.from;
        "to_ps" Whole Time: "when it was over, and the next one began", |v| v.it.link.to;
        "part" Text:
            "a part of `blame.csv`, or `compute`, `nvlink`, `nvlink-queue`, `told`, `answer`, \
             `start`, `unknown`",
            |v| v.it.share.part.name();
        "port" Text: "the egress port at which the message waited",
            |v| v.it.share.at.map(|at| v.port(at.node, at.port));
        "root" Text: "for a hold, the port at which the pauses began",
            |v| v.it.share.root.map(|at| v.port(at.node, at.port));
        "time_ps" Whole Time: "for how long", |v| v.it.share.time;
    })
}
