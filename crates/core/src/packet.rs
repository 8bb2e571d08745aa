//! What moves through the network: a small `Copy` value.

use crate::ids::{FlowId, NodeId, PortId, Priority};
use crate::units::Bytes;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PacketKind {
    /// Payload of a flow.
    Data,
    /// Acknowledges everything below `seq`.
    Ack,
    /// Acknowledges everything below `seq` and says that something beyond it arrived.
    Nack,
    /// A congestion notification packet (DCQCN).
    Cnp,
    /// Opens a TCP connection.
    Syn,
    /// Answers a [`PacketKind::Syn`].
    SynAck,
    /// A flow control frame between two neighbours; its content is in the side pool.
    Control,
    /// Stands in a queue, never on a wire: an order mark of a scheme.
    Mark,
}

/// A packet: 32 bytes, moved by value through queues and wires.
///
/// Sequence numbers count packets, not bytes: flows beyond 4 GiB need no wider field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packet {
    /// The flow it belongs to (for a control frame: unused).
    pub flow: FlowId,
    /// Data: the packet's number within its flow. ACK/NACK: the next one expected.
    pub seq: u32,
    /// The host it is going to.
    pub dst: NodeId,
    /// A scheme's tag that crosses the wire to the next hop (BFC's upstream queue).
    pub wire_tag: u32,
    /// Index of a side-pool entry (control message, telemetry), or [`Packet::NO_EXTRA`].
    pub extra: u32,
    /// Frame bytes: headers and FCS included, preamble and gap excluded.
    pub size: u16,
    /// The port it came in by at the present node.
    pub ingress: PortId,
    /// What it is.
    pub kind: PacketKind,
    /// Its priority.
    pub priority: Priority,
    /// [`flags`] bits.
    pub flags: u8,
    /// A scheme's tag that stays at this node (BFC's "counted", FlowSail's "congested");
    /// zero on arrival.
    pub local_tag: u8,
}

/// Bits of [`Packet::flags`].
pub mod flags {
    /// Congestion experienced: set by a switch, echoed by the ACK (TCP: ECE).
    pub const CE: u8 = 1;
    /// The last data packet of its flow.
    pub const LAST: u8 = 2;
    /// Follows a static path given with its flow.
    pub const PINNED: u8 = 4;
    /// The first data packet of its flow.
    pub const FIRST: u8 = 8;
    /// The high sub-class of its priority (G-PFC).
    pub const HIGH: u8 = 16;
    /// Sent before: a retransmission.
    pub const RESENT: u8 = 32;
    /// Belongs to a flow without acknowledgements (a constant-rate source).
    pub const DATAGRAM: u8 = 64;
    /// TCP: the sender has reduced its window since it said so last (CWR of RFC 3168).
    pub const CWR: u8 = 128;
}

impl Packet {
    /// No side-pool entry.
    pub const NO_EXTRA: u32 = u32::MAX;

    /// [`Packet::size`] as an amount of data.
    #[inline]
    pub const fn bytes(&self) -> Bytes {
        Bytes::new(self.size as u64)
    }

    /// Whether `flag` is set.
    #[inline]
    pub const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

const _: () = assert!(size_of::<Packet>() == 32, "a packet is half a cache line");
