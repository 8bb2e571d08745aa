//! PFC and its successors on random lines: random nodes, flows, packet sizes and thresholds,
//! random orders of arrivals, service and frames.
//!
//! For every scheme: packets of a flow leave in order, no packet is stranded, no paused flow is
//! sent, and when the line has drained every pause is lifted and every table empty. Each test
//! runs 256 lines; `PROPTEST_CASES` sets another number.

use proptest::prelude::*;
use std::hash::Hash;
use weir_core::packet::flags;
use weir_fc::explore::line::{Line, LineFlow};
use weir_fc::explore::walk;
use weir_fc::harness::Bench;
use weir_fc::{
    FlowControl, NodeSetup, Param, ParamError, SchemeInfo, Values, capfc, gfc, gpfc, ofc, pfc, ppfc,
};

/// A line to be walked.
#[derive(Clone, Debug)]
struct Plan {
    nodes: usize,
    xon: u64,
    /// How far the lower threshold is above xon, and xoff above that.
    congested: u64,
    xoff: u64,
    in_flight: usize,
    flows: Vec<LineFlow>,
    seed: u64,
}

fn plans() -> impl Strategy<Value = Plan> {
    let numbers = (2..5usize, 0..4000u64, 1..4000u64, 1..4000u64, 1..4usize, any::<u64>());
    numbers.prop_flat_map(|(nodes, xon, congested, xoff, in_flight, seed)| {
        let flow = (0..nodes, 0..nodes, 2..4u16, 4..7u16, 1..20u32, 64..1500u16, any::<bool>());
        let flow = flow.prop_map(|(a, b, enter, leave, packets, size, high)| LineFlow {
            flags: if high { flags::HIGH } else { 0 },
            ..LineFlow::new((a.min(b), enter), (a.max(b), leave), packets, size)
        });
        prop::collection::vec(flow, 1..7).prop_map(move |flows| Plan {
            nodes,
            xon,
            congested,
            xoff,
            in_flight,
            flows,
            seed,
        })
    })
}

type New<S> = fn(&Values, &NodeSetup<'_>) -> Result<S, ParamError>;

/// Walks the line of `plan` with this scheme to its end.
fn walk_line<S: FlowControl + Clone + Eq + Hash>(
    plan: &Plan,
    info: &SchemeInfo,
    new: New<S>,
    lower: Option<&Param>,
    options: &[(&Param, &str)],
) -> Result<(), TestCaseError> {
    let congested = plan.xon + plan.congested;
    let [xoff, congested, xon] =
        [congested + plan.xoff, congested, plan.xon].map(|bytes| format!("{bytes}B"));
    let mut values = Values::new();
    for (param, text) in options.iter().copied().chain(lower.map(|p| (p, congested.as_str()))) {
        values.set(param, text).unwrap();
    }
    if info.params.contains(&pfc::TIMER) {
        values.set(&pfc::TIMER, "sticky").unwrap();
    }
    let node = |_| Bench::around(7, &xoff, &xon, |setup| new(&values, setup).unwrap());
    let mut line = Line::new((0..plan.nodes).map(node).collect(), plan.flows.clone());
    line.in_flight = plan.in_flight;
    let mut state = plan.seed;
    let end = walk(&line, |n| {
        // an LCG's high bits
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % n as u64) as usize
    });
    match end {
        Ok(end) => prop_assert_eq!(end.inside(), 0),
        Err(failure) => prop_assert!(false, "{} after {} steps", failure.what, failure.steps.len()),
    }
    Ok(())
}

proptest! {
    #[test]
    fn pfc_keeps_its_promises(plan in plans()) {
        walk_line(&plan, &pfc::INFO, pfc::Pfc::new, None, &[])?;
    }

    #[test]
    fn ofc_keeps_its_promises(plan in plans()) {
        walk_line(&plan, &ofc::INFO, ofc::Ofc::new, Some(&ofc::XOFF_CONGESTED), &[])?;
    }

    #[test]
    fn ofc_with_lists_for_the_urgent_state_keeps_its_promises(plan in plans()) {
        let options = [(&ofc::URGENT_WILDCARD, "false")];
        walk_line(&plan, &ofc::INFO, ofc::Ofc::new, Some(&ofc::XOFF_CONGESTED), &options)?;
    }

    #[test]
    fn ofc_with_single_flows_keeps_its_promises(plan in plans()) {
        let options = [(&ofc::FLOW_KEY, "flow")];
        walk_line(&plan, &ofc::INFO, ofc::Ofc::new, Some(&ofc::XOFF_CONGESTED), &options)?;
    }

    #[test]
    fn capfc_keeps_its_promises(plan in plans(), calibrate: bool, strict: bool) {
        let policy = if calibrate { "stop-calibrate" } else { "stop-max" };
        // strictly below a resume threshold of zero is nowhere
        let strict = strict && plan.xon > 0;
        let test = if strict { "strict" } else { "inclusive" };
        let options = [(&capfc::POLICY, policy), (&capfc::INGRESS_TEST, test)];
        walk_line(&plan, &capfc::INFO, capfc::Capfc::new, Some(&capfc::EGRESS_XOFF), &options)?;
    }

    #[test]
    fn ppfc_keeps_its_promises(plan in plans(), paper: bool) {
        let options = [(&ppfc::MODE, if paper { "paper" } else { "ofc" })];
        walk_line(&plan, &ppfc::INFO, ppfc::Ppfc::new, Some(&ppfc::INGRESS_FLOOR), &options)?;
    }

    #[test]
    fn gfc_keeps_its_promises(plan in plans(), stops: bool) {
        let options = [(&gfc::MODE, if stops { "ofc" } else { "paper" })];
        walk_line(&plan, &gfc::INFO, gfc::Gfc::new, Some(&gfc::B_1), &options)?;
    }

    #[test]
    fn conceptual_gfc_keeps_its_promises(plan in plans()) {
        let options = [(&gfc::FEEDBACK, "conceptual")];
        walk_line(&plan, &gfc::INFO, gfc::Gfc::new, Some(&gfc::B_0), &options)?;
    }

    #[test]
    fn gpfc_keeps_its_promises(plan in plans()) {
        walk_line(&plan, &gpfc::INFO, gpfc::Gpfc::new, Some(&gpfc::XOFF_LOW), &[])?;
    }
}
