//! What only pipelined switches ask of a scheme.

use crate::{Actions, NodeView};
use weir_core::{PortId, Priority};

/// What a pipelined switch does with a packet of a lossless priority whose egress queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnFull {
    /// Drop the packet.
    Drop,
    /// Stop the packet processor, for all ports and priorities, until there is room.
    Stop,
}

/// A scheme at a pipelined switch: FIFOs in front of one packet processor.
///
/// There `q_in` counts a packet until the processor has moved it to an egress queue, and `q_out`
/// from then on. [`ingress_changed`](Self::ingress_changed) reports the former,
/// [`arrive`](crate::FlowControl::arrive) and [`depart`](crate::FlowControl::depart) the latter.
pub trait Pipelined {
    /// `q_in` of (`ingress`, `priority`) has changed. A packet came in, or the processor has moved
    /// one to an egress queue (`arrive` follows) or dropped it.
    fn ingress_changed(
        &mut self,
        v: &NodeView<'_>,
        ingress: PortId,
        priority: Priority,
        a: &mut Actions,
    );

    /// What to do when an egress queue is full, if the scheme and not the switch decides that;
    /// called once.
    fn on_full(&self) -> Option<OnFull> {
        None
    }
}
