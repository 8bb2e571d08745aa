//! The ports of a node: their constants, and what the node counts at them.

use crate::ParamError;
use weir_core::control::MIN_FRAME;
use weir_core::{Bytes, Priority, Rate, Time};

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
