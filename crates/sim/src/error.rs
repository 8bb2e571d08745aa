//! What can go wrong with a run.

use thiserror::Error;
use weir_core::{Bytes, FlowId, Time};
use weir_fc::{ParamError, Violation};
use weir_net::PathError;
use weir_traffic::TrafficError;

/// Why there is no outcome.
#[derive(Debug, Error)]
pub enum SimError {
    /// A scheme refused its parameters.
    #[error("scheme `{scheme}`: {error}")]
    Scheme {
        /// Which.
        scheme: &'static str,
        /// Why.
        error: ParamError,
    },
    /// A static path does not exist.
    #[error("static path: {0}")]
    Path(#[from] PathError),
    /// The traffic cannot be listed, which static paths need.
    #[error("traffic: {0}")]
    Traffic(#[from] TrafficError),
    /// A setting that no model can work with.
    #[error("{what} is {value}: {valid}")]
    Setting {
        /// Which.
        what: &'static str,
        /// What it is.
        value: String,
        /// What it could be.
        valid: &'static str,
    },
    /// A frame larger than a packet can describe.
    #[error("frames of {0} are too large: payload and header together may be at most 65535 B")]
    FrameTooLarge(Bytes),
    /// Something that must always hold did not: nothing computed afterwards could be trusted.
    #[error("invariant violated at {at}, node {node}: {violation}")]
    Invariant {
        /// When.
        at: Time,
        /// Where.
        node: String,
        /// What.
        violation: Violation,
    },
    /// Packets went missing or were made up.
    #[error(
        "packets do not add up at {at}: {sent} sent, {arrived} arrived, {dropped} dropped, \
         {inside} in the network"
    )]
    Conservation {
        /// When.
        at: Time,
        /// Data and ACK packets put into the network.
        sent: u64,
        /// Taken out by hosts.
        arrived: u64,
        /// Lost, with a reason each.
        dropped: u64,
        /// Still there.
        inside: u64,
    },
    /// A flow's packets overtook each other.
    #[error(
        "packet {seq} of flow {flow} arrived behind a later one at {at}, though nothing was resent \
         and no route changed"
    )]
    Reordered {
        /// When.
        at: Time,
        /// Which flow.
        flow: FlowId,
        /// Which packet.
        seq: u32,
    },
}
