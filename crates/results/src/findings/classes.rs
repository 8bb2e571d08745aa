//! Flows by class.

use super::Group;
use super::pauses::innocent_holds;
use crate::run::Run;
use crate::stats::{Estimate, Sorted, Spread};
use std::sync::{Arc, Mutex};
use weir_core::percentile::{P50, P95, P99};
use weir_core::{Bytes, ClassId, Time};
use weir_scenario::SizeRange;
use weir_sim::outcome::FlowRecord;

/// The flows of one class in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassStats {
    /// Flows that started.
    pub flows: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Completion times of those, picoseconds.
    pub fct: Spread,
    /// Completion times as senders see them.
    pub fct_ack: Spread,
    /// Payload that open-ended flows delivered over the time they had, bits per second.
    pub rate: Spread,
    /// Payload of those that completed over their completion time, bits per second.
    pub throughput: Spread,
    /// FCT over ideal FCT.
    pub slowdown: Spread,
    /// For every flow, the longest time it was held at one hop, picoseconds.
    pub held: Spread,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Packets lost.
    pub lost: u64,
    /// Packets that arrived behind later ones.
    pub reordered: u64,
    /// Retransmission timers that fired.
    pub timeouts: u64,
    /// TCP: windows cut for ECN marks.
    pub ecn_cuts: u64,
    /// TCP: fast retransmits.
    pub fast_retransmits: u64,
    /// TCP: the largest congestion window of each flow, bytes.
    pub peak_window: Spread,
}

/// The longest time a flow was held at one hop. Holds at several hops overlap, so their sum
/// would count the same delay more than once.
pub(super) fn longest_hold(flow: &FlowRecord) -> f64 {
    flow.held().iter().map(|h| h.time.as_ps()).max().unwrap_or(0) as f64
}

/// What a flow without an end delivered over the time it had, bits per second.
fn rate(flow: &FlowRecord, end: Time) -> Option<f64> {
    let time = end.saturating_sub(flow.start).as_ps() as f64;
    let endless = flow.size == Bytes::MAX && flow.finish().is_none() && time > 0.0;
    endless.then(|| flow.delivered.get() as f64 * 8e12 / time)
}

/// Which flows of a run: those of a class, those of a range of sizes, or all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// Only this class.
    pub class: Option<ClassId>,
    /// Only these sizes.
    pub sizes: Option<&'a SizeRange>,
}

impl Selection<'_> {
    /// Whether a flow is one of them.
    pub fn holds(&self, flow: &FlowRecord) -> bool {
        self.class.is_none_or(|c| flow.class == c) && self.sizes.is_none_or(|s| s.holds(flow.size))
    }
}

/// The size of a flow over its completion time, bits per second.
fn throughput(flow: &FlowRecord) -> Option<f64> {
    let time = flow.fct()?.as_ps();
    (time > 0).then(|| flow.size.get() as f64 * 8e12 / time as f64)
}

impl ClassStats {
    /// Sorts out the flows of `class`, or of all classes, that started after the warm-up.
    pub fn new(run: &Run, class: Option<ClassId>) -> Arc<Self> {
        Self::of(run, Selection { class, sizes: None })
    }

    /// Sorts out the flows of a selection that started after the warm-up. Tables, figures and files
    /// ask for the same selections, so the answers are kept.
    pub fn of(run: &Run, which: Selection<'_>) -> Arc<Self> {
        run.class_stats.of(which, || match which {
            // the only class is all flows
            Selection { class: Some(class), sizes: None }
                if run.outcome.flows.iter().all(|f| f.class == class) =>
            {
                Self::of(run, Selection::default())
            }
            _ => Arc::new(Self::sort_out(run, which)),
        })
    }

    fn sort_out(run: &Run, which: Selection<'_>) -> Self {
        let warm_up = run.config.probes.warm_up;
        let counts = |f: &&FlowRecord| which.holds(f) && f.start >= warm_up;
        let flows: Vec<&FlowRecord> = run.outcome.flows.iter().filter(counts).collect();
        let ps = |t: Option<Time>| t.map(|t| t.as_ps() as f64);
        let sum = |of: fn(&FlowRecord) -> u64| flows.iter().map(|f| of(f)).sum();
        Self {
            flows: flows.len() as u64,
            completed: flows.iter().filter(|f| f.finish().is_some()).count() as u64,
            fct: Spread::new(flows.iter().filter_map(|f| ps(f.fct()))),
            fct_ack: Spread::new(flows.iter().filter_map(|f| ps(f.fct_ack()))),
            rate: Spread::new(flows.iter().filter_map(|f| rate(f, run.outcome.end))),
            throughput: Spread::new(flows.iter().filter_map(|f| throughput(f))),
            slowdown: Spread::new(flows.iter().filter_map(|f| f.slowdown())),
            held: Spread::new(flows.iter().map(|f| longest_hold(f))),
            retransmitted: sum(|f| f.retransmitted()),
            lost: sum(|f| f.lost()),
            reordered: sum(|f| f.reordered()),
            timeouts: sum(|f| f.timeouts()),
            ecn_cuts: sum(|f| f.tcp().map_or(0, |tcp| tcp.ecn_cuts)),
            fast_retransmits: sum(|f| f.tcp().map_or(0, |tcp| tcp.fast_retransmits)),
            peak_window: Spread::new(
                flows.iter().filter_map(|f| f.tcp().map(|tcp| tcp.peak_window.get() as f64)),
            ),
        }
    }
}

/// What names a selection: its class, and the ends of its range of sizes.
type Key = (Option<ClassId>, Option<(Bytes, Option<Bytes>)>);

/// The statistics of a run that somebody has asked for.
#[derive(Debug, Default)]
pub(crate) struct KnownStats(Mutex<Vec<(Key, Arc<ClassStats>)>>);

impl KnownStats {
    /// Those of a selection, which `find` works out the first time.
    fn of(&self, which: Selection<'_>, find: impl FnOnce() -> Arc<ClassStats>) -> Arc<ClassStats> {
        let key = (which.class, which.sizes.map(|s| (s.from, s.to)));
        let known = || self.0.lock().expect("nothing panics while it holds the lock");
        let found = known().iter().find(|(k, _)| *k == key).map(|(_, stats)| Arc::clone(stats));
        found.unwrap_or_else(|| {
            let stats = find();
            known().push((key, Arc::clone(&stats)));
            stats
        })
    }
}

impl Clone for KnownStats {
    /// The outcome of the copy may be changed, so nothing is known of it.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// One class under one scheme, over all seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassSummary {
    /// Flows that started, all seeds together.
    pub flows: u64,
    /// Flows that completed.
    pub completed: u64,
    /// The most flows in one run.
    pub most: u64,
    /// Mean FCT, picoseconds.
    pub fct_mean: Option<Estimate>,
    /// Median of the FCT.
    pub fct_p50: Option<Estimate>,
    /// 95th percentile of the FCT.
    pub fct_p95: Option<Estimate>,
    /// 99th percentile of the FCT.
    pub fct_p99: Option<Estimate>,
    /// Longest FCT of all seeds.
    pub fct_max: Option<f64>,
    /// Mean rate of open-ended flows, bits per second.
    pub rate_mean: Option<Estimate>,
    /// Mean slowdown.
    pub slowdown_mean: Option<Estimate>,
    /// Median of the slowdown.
    pub slowdown_p50: Option<Estimate>,
    /// 95th percentile of the slowdown.
    pub slowdown_p95: Option<Estimate>,
    /// 99th percentile of the slowdown.
    pub slowdown_p99: Option<Estimate>,
    /// Mean over the flows of the longest hold at one hop, picoseconds.
    pub held_mean: Option<Estimate>,
}

impl ClassSummary {
    /// Mean over the flows of a class of the time they were held by pauses that began at ports
    /// they never used, picoseconds.
    pub fn innocent_hold(group: &Group<'_>, class: ClassId) -> Option<Estimate> {
        let of_run = |run: &Run| {
            let held = innocent_holds(run.pause_trees(group.experiment));
            let flows = run.outcome.flows.iter().filter(|f| f.class == class);
            let times = flows.map(|f| held.get(&f.id).map_or(0.0, |t| t.as_ps() as f64));
            Sorted::new(times).mean()
        };
        Estimate::new(&group.runs.iter().filter_map(of_run).collect::<Vec<_>>())
    }

    /// Sums up a class (or all) over the runs of a scheme.
    pub fn new(group: &Group<'_>, class: Option<ClassId>) -> Self {
        Self::of(group, Selection { class, sizes: None })
    }

    /// Sums up the flows of a selection over the runs of a scheme.
    pub fn of(group: &Group<'_>, which: Selection<'_>) -> Self {
        let runs: Vec<Arc<ClassStats>> =
            group.runs.iter().map(|r| ClassStats::of(r, which)).collect();
        let estimate = |of: &dyn Fn(&ClassStats) -> Option<f64>| {
            Estimate::new(&runs.iter().filter_map(|s| of(s)).collect::<Vec<_>>())
        };
        Self {
            flows: runs.iter().map(|s| s.flows).sum(),
            completed: runs.iter().map(|s| s.completed).sum(),
            most: runs.iter().map(|s| s.flows).max().unwrap_or(0),
            fct_mean: estimate(&|s| s.fct.mean()),
            fct_p50: estimate(&|s| s.fct.percentile(P50)),
            fct_p95: estimate(&|s| s.fct.percentile(P95)),
            fct_p99: estimate(&|s| s.fct.percentile(P99)),
            fct_max: runs.iter().filter_map(|s| s.fct.max()).reduce(f64::max),
            rate_mean: estimate(&|s| s.rate.mean()),
            slowdown_mean: estimate(&|s| s.slowdown.mean()),
            slowdown_p50: estimate(&|s| s.slowdown.percentile(P50)),
            slowdown_p95: estimate(&|s| s.slowdown.percentile(P95)),
            slowdown_p99: estimate(&|s| s.slowdown.percentile(P99)),
            held_mean: estimate(&|s| s.held.mean()),
        }
    }
}
