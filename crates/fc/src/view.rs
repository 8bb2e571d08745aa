//! What a scheme may see of its node: the books the node keeps.

use crate::mmu::Mmu;
use crate::{FlowControl, Interest, ParamError};
use weir_core::control::MIN_FRAME;
use weir_core::{Bytes, NodeId, PortId, Priority, QueueId, Rate, Time};

/// What kind of node a scheme instance serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Packets arrive, are queued and leave.
    Switch,
    /// A host's network card: queues are flow slots, nothing is forwarded.
    Nic,
}

/// The constants of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSetup {
    /// Line rate.
    pub rate: Rate,
    /// One-way propagation delay of its link.
    pub delay: Time,
    /// What is at the other end.
    pub neighbour: Neighbour,
}

/// The node at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Switch or NIC.
    pub role: Role,
    /// Time between the arrival of a packet there and the earliest time when it can leave again:
    /// the forwarding latency of a switch, zero at a NIC.
    pub latency: Time,
}

impl Neighbour {
    /// A switch without forwarding latency.
    pub const SWITCH: Self = Self { role: Role::Switch, latency: Time::ZERO };
    /// A NIC.
    pub const NIC: Self = Self { role: Role::Nic, latency: Time::ZERO };
}

impl PortSetup {
    /// A port at a switch without forwarding latency.
    pub const fn new(rate: Rate, delay: Time) -> Self {
        Self { rate, delay, neighbour: Neighbour::SWITCH }
    }

    /// The round trip over this link, without queueing or serialisation.
    pub fn propagation_rtt(&self) -> Time {
        self.delay * 2
    }

    /// How long a control frame of `bytes` occupies the wire, with preamble and gap.
    pub fn frame_time(&self, bytes: Bytes) -> Time {
        self.rate.time_for(bytes.saturating_add(Bytes::new(20)))
    }

    /// Refuses to have frames of the smallest size sent `every` so often if they take longer than
    /// that: more and more would wait, and nothing else would ever be sent.
    pub(crate) fn check_interval(&self, what: &str, every: Time) -> Result<(), ParamError> {
        let takes = self.frame_time(Bytes::new(MIN_FRAME));
        if every > takes {
            return Ok(());
        }
        Err(ParamError(format!(
            "{what} is {every}: it must be longer than the {takes} that a frame takes at {}",
            self.rate
        )))
    }
}

/// Counters of one egress queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueBook {
    /// Bytes waiting. A packet on the wire is no longer counted.
    pub bytes: Bytes,
    /// Packets waiting; order marks are not packets.
    pub packets: u32,
    /// Held by the scheme, itself or through its priority.
    pub held: bool,
}

/// Counters of one port.
#[derive(Clone, Debug, Default)]
pub struct PortBook {
    /// Its egress queues.
    pub queues: Vec<QueueBook>,
    /// Bytes in the egress queues of each priority.
    pub q_out: [Bytes; Priority::COUNT],
    /// Data queues that are non-empty and not held: N_active of BFC and FlowSail.
    pub active: u32,
}

/// The books of one node. The node writes them, schemes read them.
#[derive(Clone, Debug)]
pub struct Books {
    /// Switch or NIC.
    pub role: Role,
    /// Whose books these are.
    pub node: NodeId,
    /// Port constants.
    pub setup: Vec<PortSetup>,
    /// Port counters.
    pub ports: Vec<PortBook>,
    /// Buffer memory and ingress accounting.
    pub mmu: Mmu,
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

/// A node's books at an instant.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    /// The present time.
    pub now: Time,
    /// The books.
    pub books: &'a Books,
}

impl NodeView<'_> {
    /// Bytes in the node that came in by `port` with `priority`: the virtual ingress queue.
    #[inline]
    pub fn q_in(&self, port: PortId, priority: Priority) -> Bytes {
        self.books.mmu.q_in(port, priority)
    }

    /// Bytes queued at egress `port` with `priority`.
    #[inline]
    pub fn q_out(&self, port: PortId, priority: Priority) -> Bytes {
        self.books.ports[port.index()].q_out[priority.index()]
    }

    /// The counters of one egress queue; a queue that was never used is empty.
    #[inline]
    pub fn queue(&self, port: PortId, queue: QueueId) -> QueueBook {
        self.books.ports[port.index()].queues.get(queue.index()).copied().unwrap_or_default()
    }

    /// Data queues of `port` that are non-empty and not held.
    #[inline]
    pub fn active(&self, port: PortId) -> u32 {
        self.books.ports[port.index()].active
    }

    /// The constants of `port`.
    #[inline]
    pub fn port(&self, port: PortId) -> &PortSetup {
        &self.books.setup[port.index()]
    }

    /// How many ports the node has.
    #[inline]
    pub fn ports(&self) -> usize {
        self.books.setup.len()
    }
}
