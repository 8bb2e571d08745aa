//! What a scheme is to its node.

use crate::{Actions, Books, Hints, Interest, NodeView, Pipelined, QueueLayout, TimerKey};
use weir_core::{Bytes, ControlMessage, Packet, PacketKind, PortId, Priority, QueueId};

/// A queue of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortQueue {
    /// The egress port.
    pub port: PortId,
    /// Its queue.
    pub queue: QueueId,
}

/// What to do with the head of the queue that is next to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Transmit it. Never for a mark, which is swallowed or moved: a switch panics.
    Send,
    /// Put it at the tail of another queue of the same port, and choose again.
    Move(QueueId),
    /// Remove it; only for marks.
    Swallow,
    /// Leave it, and serve nothing of this queue until the scheme requests a `retry` of the port,
    /// or a hold of the queue begins or ends. This is no hold: to open the queue has no effect.
    Wait,
}

/// A scheme's own invariant does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{scheme}: {what}")]
pub struct Violation {
    /// Which scheme.
    pub scheme: &'static str,
    /// What is wrong, and where.
    pub what: String,
}

/// Whether a link carries frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It does: it has recovered.
    Up,
    /// It does not: it has failed.
    Down,
}

impl LinkState {
    /// Whether it carries frames.
    pub fn is_up(self) -> bool {
        self == Self::Up
    }
}

/// What a scheme that is [audited](FlowControl::audit) may find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// There may be packets and control frames on their way.
    InUse,
    /// There are none, at no node and on no wire.
    Drained,
}

impl Network {
    /// Whether there is no packet and no control frame.
    pub fn is_drained(self) -> bool {
        self == Self::Drained
    }
}

/// What a stopped ingress waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngressWait {
    /// Packets that came in by it.
    pub own: bool,
    /// The queues of its priority at these egress ports, by whichever ingress they were filled.
    pub egresses: Vec<PortId>,
}

impl Default for IngressWait {
    /// Its own packets.
    fn default() -> Self {
        Self { own: true, egresses: Vec::new() }
    }
}

/// What a scheme keeps in a node, as the papers tabulate it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSize {
    /// Tables by name, in bytes as of now.
    pub tables: Vec<(&'static str, u64)>,
}

/// What waits for what, beyond what a node can see. Called rarely, for the deadlock graph.
pub trait Waits {
    /// The queue of the same port that must move before `head` may be sent, if there is one
    /// (schemes whose `serve` returns `Wait`).
    fn head_waits_for(&self, _at: PortQueue, _head: &Packet) -> Option<QueueId> {
        None
    }

    /// What must leave this node before the neighbour at `ingress`, paused at `priority`,
    /// is resumed.
    fn ingress_waits_for(&self, _ingress: PortId, _priority: Priority) -> IngressWait {
        IngressWait::default()
    }
}

/// A flow control scheme at one node.
///
/// Hooks are called with the counters **after** the reported event, except where
/// noted. What is put into `Actions` is carried out, in order, when the hook returns. All
/// hooks must tolerate duplicate, late and lost frames.
pub trait FlowControl: Hints + Send {
    /// The egress queues of `port`. Called once, before anything else.
    fn layout(&self, port: PortId) -> QueueLayout;

    /// `p` was stored: which queue of `egress` takes it? `q_in` and `q_out` count it already,
    /// the queue's own counter does not. `p.ingress` is where it came in; `p.local_tag` is the
    /// scheme's to set. Never called on a NIC.
    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId;

    /// `head` is next to be sent. Called only when the layout says `inspects_heads`.
    fn serve(
        &mut self,
        _v: &NodeView<'_>,
        _at: PortQueue,
        _head: &Packet,
        _a: &mut Actions,
    ) -> Verdict {
        Verdict::Send
    }

    /// `p` starts on the wire and is no longer counted. `p.wire_tag` is the scheme's to set for
    /// the next hop. On a NIC `from.queue` is the flow slot.
    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions);

    /// `p` is dropped and no longer counted. `from` is the queue in which it waited: its link has
    /// failed, or the watchdog has emptied the queue. `None`: it was refused when it arrived (no
    /// room, no route, a link that is down), so that `arrive` was not called for it. `p` may be an
    /// order mark. By default a packet that waited is treated as one that departs, and nothing is
    /// done for others.
    fn discard(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        from: Option<PortQueue>,
        a: &mut Actions,
    ) {
        if let Some(from) = from.filter(|_| p.kind != PacketKind::Mark) {
            self.depart(v, p, from, a);
        }
    }

    /// The message `m` arrived from the neighbour at `port`.
    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions);

    /// The timer `key` fires; it is no longer armed.
    fn timer(&mut self, _v: &NodeView<'_>, _key: TimerKey, _a: &mut Actions) {}

    /// The link at `port` failed or recovered. The neighbour has forgotten what it was told, and
    /// what it told us is void: holds of the port must be opened. A link that is up again can
    /// bring packets at once, so a scheme must say at once what the neighbour has to stop: what the
    /// ingress stores may be all that it has room for. Messages that are sent while the link is
    /// down are lost.
    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions);

    /// NIC only: a flow takes a slot. `p` is the header its packets will have.
    fn flow_starts(&mut self, _v: &NodeView<'_>, _slot: PortQueue, _p: &Packet, _a: &mut Actions) {}

    /// NIC only: the slot is released; it may be reused for another flow.
    fn flow_ends(&mut self, _v: &NodeView<'_>, _slot: PortQueue, _p: &Packet, _a: &mut Actions) {}

    /// NIC only: `p` came in by `p.ingress` and has left the memory of the card, whatever the
    /// transport makes of it.
    fn delivered(&mut self, _v: &NodeView<'_>, _p: &Packet, _a: &mut Actions) {}

    /// The scheme's own invariants; called when a run ends and in tests. When the network has
    /// drained, nothing may be left paused and tables must be empty.
    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation>;

    /// The present size of its state.
    fn state_size(&self) -> StateSize;

    /// The scheme as pipelined switches need it, or why it does not support them.
    fn pipelined(&mut self) -> Result<&mut dyn Pipelined, &'static str> {
        Err("it does not watch the ingress FIFOs in front of the packet processor")
    }

    /// What must move before a head is sent or a neighbour goes on, where that is not what the
    /// node itself can see: for the deadlock graph.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }
}

impl Books {
    /// Asks the scheme which packets of an ingress it need not hear of.
    pub fn update_quiet_range(
        &mut self,
        fc: &dyn FlowControl,
        ingress: PortId,
        priority: Priority,
    ) {
        match fc.interest(&self.mmu, ingress, priority) {
            Interest::Every => self.mmu.clear_quiet(ingress, priority),
            Interest::Never(_) => self.mmu.set_quiet(ingress, priority, Bytes::ZERO..Bytes::MAX),
            Interest::Outside(_, range) => self.mmu.set_quiet(ingress, priority, range),
        }
    }
}
