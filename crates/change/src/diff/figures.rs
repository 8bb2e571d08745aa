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

/// A figure of flows that is compared as a ratio.
const fn ratio(
    name: &'static str,
    unit: Unit,
    of: fn(&Facts, Option<&str>) -> Option<f64>,
) -> Figure {
    Figure { name, unit, ratio: true, of_flows: true, shown: true, of }
}

/// A figure of the whole run that is compared as a difference.
const fn count(
    name: &'static str,
    unit: Unit,
    of: fn(&Facts, Option<&str>) -> Option<f64>,
) -> Figure {
    Figure { name, unit, ratio: false, of_flows: false, shown: true, of }
}

impl Figure {
    const fn of_flows(self) -> Self {
        Self { of_flows: true, ..self }
    }

    const fn on_request(self) -> Self {
        Self { shown: false, ..self }
    }
}

/// All of them. For each, more is worse.
pub(super) const FIGURES: [Figure; 15] = [
    ratio("slowdown_mean", Unit::Number, |r, c| slowdowns(r, c).mean()),
    ratio("slowdown_p50", Unit::Number, |r, c| slowdowns(r, c).percentile(P50)).on_request(),
    ratio("slowdown_p95", Unit::Number, |r, c| slowdowns(r, c).percentile(P95)).on_request(),
    ratio("slowdown_p99", Unit::Number, |r, c| slowdowns(r, c).percentile(P99)),
    ratio("slowdown_max", Unit::Number, |r, c| slowdowns(r, c).max()).on_request(),
    ratio("fct_mean_ps", Unit::Time, |r, c| times(r, c).mean()).on_request(),
    ratio("fct_p50_ps", Unit::Time, |r, c| times(r, c).percentile(P50)).on_request(),
    ratio("fct_p99_ps", Unit::Time, |r, c| times(r, c).percentile(P99)).on_request(),
    ratio("fct_max_ps", Unit::Time, |r, c| times(r, c).max()).on_request(),
    count("lost", Unit::Count, |r, c| Some(flows(r, c).map(|f| f.lost).sum::<u64>() as f64))
        .of_flows(),
    count("unfinished", Unit::Count, |r, c| {
        Some(flows(r, c).filter(|f| f.finite && f.fct.is_none()).count() as f64)
    })
    .of_flows(),
    count("pauses_sent", Unit::Count, |r, _| {
        Some(r.ports.iter().map(|p| p.pauses).sum::<u64>() as f64)
    }),
    count("port_held_ps", Unit::Time, |r, _| {
        Some(r.ports.iter().map(|p| p.held).sum::<u64>() as f64)
    }),
    count("victims", Unit::Count, |r, _| Some(r.victims.len() as f64)),
    count("deadlock", Unit::Flag, |r, _| Some(f64::from(u8::from(r.deadlock)))),
];
