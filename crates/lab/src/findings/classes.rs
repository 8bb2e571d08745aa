//! Flows by class.

use super::pauses::innocent_holds;
use super::{Comparison, Group};
use crate::run::Run;
use crate::scenario::SizeRange;
use crate::stats::{Estimate, Sorted};
use weir_core::{Bytes, ClassId, Time};
use weir_sim::outcome::FlowRecord;

/// The flows of one class in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassStats {
    /// Flows that started.
    pub flows: u64,
    /// Flows that completed.
    pub completed: u64,
    /// Completion times of those, picoseconds.
    pub fct: Sorted,
    /// Completion times as senders see them.
    pub fct_ack: Sorted,
    /// Payload that open-ended flows delivered over the time they had, bits per second.
    pub rate: Sorted,
    /// Payload of those that completed over their completion time, bits per second.
    pub throughput: Sorted,
    /// FCT over ideal FCT.
    pub slowdown: Sorted,
    /// For every flow, the longest time it was held at one hop, picoseconds.
    pub held: Sorted,
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
    pub peak_window: Sorted,
}

/// The longest time a flow was held at one hop. Holds at several hops overlap, so their sum
/// would count the same delay more than once.
pub(super) fn longest_hold(flow: &FlowRecord) -> f64 {
    flow.held.iter().map(|h| h.time.as_ps()).max().unwrap_or(0) as f64
}

/// What a flow without an end delivered over the time it had, bits per second.
fn rate(flow: &FlowRecord, end: Time) -> Option<f64> {
    let time = end.saturating_sub(flow.start).as_ps() as f64;
    let endless = flow.size == Bytes::MAX && flow.finish.is_none() && time > 0.0;
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
    pub fn new(run: &Run, class: Option<ClassId>) -> Self {
        Self::of(run, Selection { class, sizes: None })
    }

    /// Sorts out the flows of a selection that started after the warm-up.
    pub fn of(run: &Run, which: Selection<'_>) -> Self {
        let warm_up = run.config.probes.warm_up;
        let counts = |f: &&FlowRecord| which.holds(f) && f.start >= warm_up;
        let flows: Vec<&FlowRecord> = run.outcome.flows.iter().filter(counts).collect();
        let ps = |t: Option<Time>| t.map(|t| t.as_ps() as f64);
        let sum = |of: fn(&FlowRecord) -> u64| flows.iter().map(|f| of(f)).sum();
        Self {
            flows: flows.len() as u64,
            completed: flows.iter().filter(|f| f.finish.is_some()).count() as u64,
            fct: Sorted::new(flows.iter().filter_map(|f| ps(f.fct()))),
            fct_ack: Sorted::new(flows.iter().filter_map(|f| ps(f.fct_ack()))),
            rate: Sorted::new(flows.iter().filter_map(|f| rate(f, run.outcome.end))),
            throughput: Sorted::new(flows.iter().filter_map(|f| throughput(f))),
            slowdown: Sorted::new(flows.iter().filter_map(|f| f.slowdown())),
            held: Sorted::new(flows.iter().map(|f| longest_hold(f))),
            retransmitted: sum(|f| f.retransmitted),
            lost: sum(|f| f.lost),
            reordered: sum(|f| f.reordered),
            timeouts: sum(|f| f.timeouts),
            ecn_cuts: sum(|f| f.tcp.map_or(0, |tcp| tcp.ecn_cuts)),
            fast_retransmits: sum(|f| f.tcp.map_or(0, |tcp| tcp.fast_retransmits)),
            peak_window: Sorted::new(
                flows.iter().filter_map(|f| f.tcp.map(|tcp| tcp.peak_window.get() as f64)),
            ),
        }
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
    pub fn innocent_hold(c: &Comparison<'_>, group: &Group, class: ClassId) -> Option<Estimate> {
        let of_run = |run: &Run| {
            let held = innocent_holds(run.pause_trees(c.experiment));
            let flows = run.outcome.flows.iter().filter(|f| f.class == class);
            let times = flows.map(|f| held.get(&f.id).map_or(0.0, |t| t.as_ps() as f64));
            Sorted::new(times).mean()
        };
        Estimate::new(&group.runs.iter().filter_map(of_run).collect::<Vec<_>>())
    }

    /// Sums up a class (or all) over the runs of a scheme.
    pub fn new(group: &Group, class: Option<ClassId>) -> Self {
        Self::of(group, Selection { class, sizes: None })
    }

    /// Sums up the flows of a selection over the runs of a scheme.
    pub fn of(group: &Group, which: Selection<'_>) -> Self {
        let runs: Vec<ClassStats> = group.runs.iter().map(|r| ClassStats::of(r, which)).collect();
        let estimate = |of: &dyn Fn(&ClassStats) -> Option<f64>| {
            Estimate::new(&runs.iter().filter_map(of).collect::<Vec<_>>())
        };
        Self {
            flows: runs.iter().map(|s| s.flows).sum(),
            completed: runs.iter().map(|s| s.completed).sum(),
            most: runs.iter().map(|s| s.flows).max().unwrap_or(0),
            fct_mean: estimate(&|s| s.fct.mean()),
            fct_p50: estimate(&|s| s.fct.percentile(50.0)),
            fct_p95: estimate(&|s| s.fct.percentile(95.0)),
            fct_p99: estimate(&|s| s.fct.percentile(99.0)),
            fct_max: runs.iter().filter_map(|s| s.fct.max()).reduce(f64::max),
            rate_mean: estimate(&|s| s.rate.mean()),
            slowdown_mean: estimate(&|s| s.slowdown.mean()),
            slowdown_p50: estimate(&|s| s.slowdown.percentile(50.0)),
            slowdown_p95: estimate(&|s| s.slowdown.percentile(95.0)),
            slowdown_p99: estimate(&|s| s.slowdown.percentile(99.0)),
            held_mean: estimate(&|s| s.held.mean()),
        }
    }
}
