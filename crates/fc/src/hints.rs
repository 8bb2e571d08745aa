//! What a scheme may say about itself so that its node saves time.

use crate::{Mmu, NodeView};
use std::ops::Range;
use weir_core::{Bytes, Packet, PortId, Priority, QueueId};

/// For which packets of an ingress (port, priority) a scheme must be called. Other packets need no
/// calls, which saves time; results do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Every packet.
    Every,
    /// No packet: `arrive` would always name this queue, and `arrive`, `serve` and `depart` would
    /// never change state or request an action.
    Never(QueueId),
    /// Only packets that arrive or depart while the bytes of the ingress are outside this range,
    /// counted with the packet on arrival, and with it and without it on departure. Inside the
    /// range `arrive` would name this queue, and neither hook would change state or request an
    /// action. `depart` may be called for a packet without `arrive`, and the other way round.
    /// Only for schemes that do not inspect heads.
    Outside(QueueId, Range<Bytes>),
}

impl Interest {
    /// The queue of packets for which the scheme is not called.
    pub fn unheard(&self) -> Option<QueueId> {
        match self {
            Self::Every => None,
            Self::Never(queue) | Self::Outside(queue, _) => Some(*queue),
        }
    }
}

/// Calls of a scheme that would do nothing and are therefore left out. No result depends on what a
/// scheme says here; a scheme with nothing to say writes `impl Hints for MyScheme {}`.
pub trait Hints {
    /// For which packets that arrive by `ingress` with `priority` the scheme must be called. Only
    /// the range of [`Interest::Outside`] may depend on anything but `priority`. A switch calls
    /// this at the start, when the link at `ingress` has failed or recovered, and after every
    /// `depart` of such a packet; the answer is valid until it calls `arrive` for one. A NIC calls
    /// it at the start, and calls `depart` and `delivered` for [`Interest::Every`] only. By default
    /// the scheme is called for every packet.
    fn interest(&self, _mmu: &Mmu, _ingress: PortId, _priority: Priority) -> Interest {
        Interest::Every
    }

    /// `p` arrives for an `egress` that is idle: nothing is queued there except order marks,
    /// nothing is held, and `p` would leave at once. Returns the queue that `p` passes through,
    /// with tags and state as after `arrive`, `serve` (if heads are inspected) and `depart`; or
    /// `None` with nothing changed, and then these are called. Allowed only if they would request
    /// no action and the packet would be sent; the books do not count it, but [`Mmu::transit`] is
    /// true for it. A switch may call this for packets of [`Interest::Every`]: most packets find an
    /// idle port, and often leave no state behind.
    fn pass(&mut self, _v: &NodeView<'_>, _p: &mut Packet, _egress: PortId) -> Option<QueueId> {
        None
    }

    /// Pipelined switch only: the range of `q_in` of (`ingress`, `priority`) in which
    /// [`ingress_changed`](crate::Pipelined::ingress_changed) would change and request nothing. A
    /// switch calls this after `ingress_changed`, which it then leaves out while `q_in` stays in
    /// the range and the link at `ingress` neither fails nor recovers. If it is empty for no
    /// priority, what [`interest`](Self::interest) says holds for pipelined switches, too. By
    /// default it is empty.
    fn quiet_range(&self, _mmu: &Mmu, _ingress: PortId, _priority: Priority) -> Range<Bytes> {
        Bytes::ZERO..Bytes::ZERO
    }

    /// Prefetches memory that the next packets will need: see [`weir_core::prefetch`].
    fn prefetch(&self) {}

    /// Whether [`state_size`](crate::FlowControl::state_size) never changes during a run: then it
    /// is called once, at the end.
    fn has_fixed_state(&self) -> bool {
        false
    }
}
