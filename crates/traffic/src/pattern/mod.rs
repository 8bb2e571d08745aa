//! Traffic patterns, one file each.

mod list;

pub use list::List;

use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::{FlowSource, FlowSpec};
use std::collections::BTreeMap;
use std::fmt;
use weir_core::rng::Stream;
use weir_core::{NodeId, Time};

/// A source of flows: says what is wrong with its parameters, and gives the flows of each host.
pub trait Pattern: fmt::Debug + Send + Sync {
    /// Refuses parameters that make no sense on `fabric`. Called once, before `streams`.
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError>;

    /// One stream per sending host, in any order of hosts; the flows of a stream are in start
    /// order, and none starts at or after [`Context::until`].
    fn streams(&self, ctx: &Context<'_>) -> Vec<(NodeId, Box<dyn FlowSource>)>;

    /// Whether it yields flows for ever unless it is cut off.
    fn endless(&self) -> bool {
        false
    }
}

/// What a pattern is told when it makes its streams.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The hosts and capacities.
    pub fabric: &'a Fabric,
    /// The seed of the run.
    pub seed: u64,
    /// Position of the pattern in the plan: patterns of one plan draw from different streams.
    pub pattern: u32,
    /// No flow starts at or after this time.
    pub until: Time,
}

impl Context<'_> {
    /// The random stream of this pattern for `purpose` at `index`.
    pub fn stream(&self, purpose: &str, index: u64) -> Stream {
        Stream::new(self.seed, &format!("traffic.{}.{purpose}", self.pattern), index)
    }

    /// Sorts ready-made flows into per-host streams.
    pub fn bucket(&self, flows: Vec<FlowSpec>) -> Vec<(NodeId, Box<dyn FlowSource>)> {
        let mut hosts: BTreeMap<NodeId, Vec<FlowSpec>> = BTreeMap::new();
        for flow in flows.into_iter().filter(|f| f.start < self.until) {
            hosts.entry(flow.src).or_default().push(flow);
        }
        let mut streams: Vec<(NodeId, Box<dyn FlowSource>)> = Vec::with_capacity(hosts.len());
        for (host, mut flows) in hosts {
            flows.sort_by_key(|f| f.start);
            streams.push((host, Box::new(flows.into_iter())));
        }
        streams
    }
}

/// Refuses a flow that cannot be carried.
pub(crate) fn check_flow(flow: &FlowSpec, fabric: &Fabric) -> Result<(), TrafficError> {
    fabric.check_host("src", flow.src)?;
    fabric.check_host("dst", flow.dst)?;
    if flow.src == flow.dst {
        return Err(TrafficError::ToItself { host: flow.src });
    }
    if flow.size.get() == 0 {
        return Err(TrafficError::value("size", flow.size, "a flow carries at least 1 B"));
    }
    if let Some(rate) = flow.rate.filter(|r| r.as_bps() == 0) {
        return Err(TrafficError::value("rate", rate, "a constant-rate source sends above 0 b/s"));
    }
    if let Some(stop) = flow.stop.filter(|&stop| stop <= flow.start) {
        let valid = format!("a source stops after its start, {}", flow.start);
        return Err(TrafficError::value("stop", stop, valid));
    }
    Ok(())
}
