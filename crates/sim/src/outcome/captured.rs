//! Frames of a capture.

use super::DropReason;
use weir_core::{ControlMessage, NodeId, Packet, PortId, Reason, Time};

/// A frame that crossed a port of which a capture was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// When its first bit went out, or its last bit came in.
    pub at: Time,
    /// Where.
    pub node: NodeId,
    /// By which port.
    pub port: PortId,
    /// Whether it went out; otherwise it came in.
    pub sent: bool,
    /// The packet, without what is known of it in the node only.
    pub packet: Packet,
    /// What a control frame says, and why it was sent.
    pub said: Option<Box<(ControlMessage, Reason)>>,
    /// Came in, and was lost at once: for this reason.
    pub lost: Option<DropReason>,
}

impl CapturedFrame {
    /// A frame that came in, was not lost, and says nothing.
    pub(crate) fn arrived(at: Time, at_port: (NodeId, PortId), packet: &Packet) -> Self {
        let (node, port) = at_port;
        // the place of what it carries depends on which thread runs the node
        let packet = Packet { extra: Packet::NO_EXTRA, local_tag: 0, ..*packet };
        Self { at, node, port, sent: false, packet, said: None, lost: None }
    }
}
