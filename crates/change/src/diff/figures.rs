//! The figures that are compared, each computed of one run.

use super::side::{Facts, FlowFacts};
use weir_core::Unit;
use weir_core::percentile::{P50, P95, P99};
use weir_results::stats::Sorted;

/// A figure of a run, of all flows or of those of a class.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    /// Compared as a ratio; otherwise as a difference.
    pub(super) ratio: bool,
    /// Whether it is of flows, so that classes have it too.
    pub(super) of_flows: bool,
    /// Whether tables show it; the others can be asked for.
    pub(super) shown: bool,
    pub(super) of: fn(&Facts, Option<&str>) -> Option<f64>,
}

/// The flows of a class, or all.
fn flows<'a>(run: &'a Facts, class: Option<&'a str>) -> impl Iterator<Item = &'a FlowFacts> {
    run.flows.iter().filter(move |f| class.is_none_or(|c| f.class == c))
}

fn slowdowns(run: &Facts, class: Option<&str>) -> Sorted {
    Sorted::new(flows(run, class).filter_map(|f| f.slowdown))
}

fn times(run: &Facts, class: Option<&str>) -> Sorted {
    Sorted::new(flows(run, class).filter_map(|f| f.fct))
}

const fn ratio(
    name: &'static str,
    unit: Unit,
    shown: bool,
    of: fn(&Facts, Option<&str>) -> Option<f64>,
) -> Figure {
    Figure { name, unit, ratio: true, of_flows: true, shown, of }
}

const fn count(
    name: &'static str,
    unit: Unit,
    of_flows: bool,
    of: fn(&Facts, Option<&str>) -> Option<f64>,
) -> Figure {
    Figure { name, unit, ratio: false, of_flows, shown: true, of }
}

/// All of them. For each, more is worse.
pub(super) const FIGURES: [Figure; 15] = [
    ratio("slowdown_mean", Unit::Number, true, |r, c| slowdowns(r, c).mean()),
    ratio("slowdown_p50", Unit::Number, false, |r, c| slowdowns(r, c).percentile(P50)),
    ratio("slowdown_p95", Unit::Number, false, |r, c| slowdowns(r, c).percentile(P95)),
    ratio("slowdown_p99", Unit::Number, true, |r, c| slowdowns(r, c).percentile(P99)),
    ratio("slowdown_max", Unit::Number, false, |r, c| slowdowns(r, c).max()),
    ratio("fct_mean_ps", Unit::Time, false, |r, c| times(r, c).mean()),
    ratio("fct_p50_ps", Unit::Time, false, |r, c| times(r, c).percentile(P50)),
    ratio("fct_p99_ps", Unit::Time, false, |r, c| times(r, c).percentile(P99)),
    ratio("fct_max_ps", Unit::Time, false, |r, c| times(r, c).max()),
    count("lost", Unit::Count, true, |r, c| Some(flows(r, c).map(|f| f.lost).sum::<u64>() as f64)),
    count("unfinished", Unit::Count, true, |r, c| {
        Some(flows(r, c).filter(|f| f.finite && f.fct.is_none()).count() as f64)
    }),
    count("pauses_sent", Unit::Count, false, |r, _| {
        Some(r.ports.iter().map(|p| p.pauses).sum::<u64>() as f64)
    }),
    count("port_held_ps", Unit::Time, false, |r, _| {
        Some(r.ports.iter().map(|p| p.held).sum::<u64>() as f64)
    }),
    count("victims", Unit::Count, false, |r, _| Some(r.victims.len() as f64)),
    count("deadlock", Unit::Flag, false, |r, _| Some(f64::from(u8::from(r.deadlock)))),
];
