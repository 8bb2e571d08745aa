//! Flows by class.

use super::Facts;
use crate::stats::Spread;
use std::sync::{Arc, Mutex};
use weir_core::{Bytes, ClassId, Time};
use weir_scenario::SizeRange;
use weir_sim::outcome::FlowRecord;

/// The flows of one class in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassStats {
    /// Flows that started.
    pub flows: u64,
    /// Queue pairs of jobs among them: they last as long as their job, and never complete.
    pub queue_pairs: u64,
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
    /// The flows of a class, or all flows.
    pub fn of_class(class: Option<ClassId>) -> Self {
        Self { class, sizes: None }
    }

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
    /// How many flows there are and how many of them completed, in text: queue pairs are none.
    pub fn counts(&self) -> [String; 2] {
        let own = self.flows - self.queue_pairs;
        match own == 0 && self.queue_pairs > 0 {
            true => ["-".to_owned(), "-".to_owned()],
            false => [own, self.completed].map(weir_core::format::count),
        }
    }

    /// The flows of a selection that started after the warm-up, and before the end of the window
    /// if it has one.
    pub(crate) fn sort_out(run: Facts<'_>, which: Selection<'_>) -> Self {
        let probes = &run.config.probes;
        let counts = |f: &&FlowRecord| which.holds(f) && probes.counts(f.start);
        let flows: Vec<&FlowRecord> = run.outcome.flows.iter().filter(counts).collect();
        let ps = |t: Option<Time>| t.map(|t| t.as_ps() as f64);
        let sum = |of: fn(&FlowRecord) -> u64| flows.iter().map(|f| of(f)).sum();
        Self {
            flows: flows.len() as u64,
            queue_pairs: flows.iter().filter(|f| f.is_queue_pair()).count() as u64,
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
    pub(crate) fn of(
        &self,
        which: Selection<'_>,
        find: impl FnOnce() -> Arc<ClassStats>,
    ) -> Arc<ClassStats> {
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
