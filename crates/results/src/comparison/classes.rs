//! Classes of flows under one scheme, over all seeds.

use super::Group;
use crate::findings::{ClassStats, Selection, innocent_holds};
use crate::run::Run;
use crate::stats::{Estimate, Sorted};
use std::sync::Arc;
use weir_core::ClassId;
use weir_core::percentile::{P50, P95, P99};

/// One class under one scheme, over all seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassSummary {
    /// Flows that started, all seeds together.
    pub flows: u64,
    /// Queue pairs of jobs among them, which have no end.
    pub queue_pairs: u64,
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

    /// Flows that started, without the queue pairs of jobs.
    pub fn own_flows(&self) -> u64 {
        self.flows - self.queue_pairs
    }

    /// Sums up a class (or all) over the runs of a scheme.
    pub fn new(group: &Group<'_>, class: Option<ClassId>) -> Self {
        Self::of(group, Selection::of_class(class))
    }

    /// Sums up the flows of a selection over the runs of a scheme.
    pub fn of(group: &Group<'_>, which: Selection<'_>) -> Self {
        let runs: Vec<Arc<ClassStats>> = group.runs.iter().map(|r| r.class_stats(which)).collect();
        let estimate = |of: &dyn Fn(&ClassStats) -> Option<f64>| {
            Estimate::new(&runs.iter().filter_map(|s| of(s)).collect::<Vec<_>>())
        };
        Self {
            flows: runs.iter().map(|s| s.flows).sum(),
            queue_pairs: runs.iter().map(|s| s.queue_pairs).sum(),
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
