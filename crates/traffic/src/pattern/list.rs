//! Flows given one by one.

use super::{Context, Pattern, check_flow};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::{FlowSource, FlowSpec};
use weir_core::NodeId;

/// Flows given one by one, in any order. Their ids are given by the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The flows.
    pub flows: Vec<FlowSpec>,
}

impl Pattern for List {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        self.flows.iter().try_for_each(|flow| check_flow(flow, fabric))
    }

    fn streams(&self, ctx: &Context<'_>) -> Vec<(NodeId, Box<dyn FlowSource>)> {
        ctx.bucket(self.flows.clone())
    }
}
