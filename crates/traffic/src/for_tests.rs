//! What the tests of several patterns need.

use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::pattern::Pattern;
use crate::plan::Traffic;
use weir_core::{NodeId, Rate};

/// `n` hosts at 100 Gb/s.
pub(crate) fn fabric(n: u32) -> Fabric {
    let hosts: Vec<NodeId> = (0..n).map(NodeId).collect();
    Fabric::uniform(&hosts, Rate::from_gbps(100)).unwrap()
}

/// All flows of one pattern.
pub(crate) fn flows_of(
    pattern: impl Pattern + 'static,
    fabric: &Fabric,
    seed: u64,
) -> Vec<FlowSpec> {
    let mut plan = Traffic::new(fabric.clone());
    plan.add(pattern).unwrap();
    plan.all_flows(seed).unwrap()
}
