//! What can be wrong with a traffic plan.

use thiserror::Error;
use weir_core::NodeId;

/// A traffic plan that cannot be generated. Each error names the parameter, the value found and
/// what is valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TrafficError {
    /// A parameter outside its range.
    #[error("`{parameter}` is {value}: {valid}")]
    Value {
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        value: String,
        /// What is valid.
        valid: String,
    },
    /// A flow whose source is its destination.
    #[error("a flow from {host} to itself: source and destination must differ")]
    ToItself {
        /// The host.
        host: NodeId,
    },
    /// A node that is no host of the fabric.
    #[error("`{parameter}` names {node}, which is not a host of this fabric")]
    NotAHost {
        /// The parameter.
        parameter: &'static str,
        /// The node.
        node: NodeId,
    },
    /// The same host twice where each may stand once.
    #[error("`{parameter}` lists {node} twice: each host may stand once")]
    Twice {
        /// The parameter.
        parameter: &'static str,
        /// The node.
        node: NodeId,
    },
    /// A plan whose flows never end was asked for all of them.
    #[error("the traffic never ends: give the plan a time until which flows start")]
    Endless,
}

impl TrafficError {
    pub(crate) fn value(
        parameter: &'static str,
        value: impl ToString,
        valid: impl Into<String>,
    ) -> Self {
        Self::Value { parameter, value: value.to_string(), valid: valid.into() }
    }
}
