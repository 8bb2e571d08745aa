//! Packets of no flow: control frames and order marks.

use weir_core::{ControlMessage, FlowId, NodeId, Packet, PacketKind, PortId, Priority};

/// A control frame that carries `message`, which stands at `extra` in the side pool.
pub(crate) fn control_packet(message: &ControlMessage, extra: u32) -> Packet {
    let size = u16::try_from(message.frame_bytes().get()).expect("control frames are fragmented");
    Packet { extra, size, ..bare(PacketKind::Control) }
}

/// A packet of no flow, for the neighbour or, as an order mark, for no node: it has no route.
pub(crate) fn bare(kind: PacketKind) -> Packet {
    Packet {
        flow: FlowId::default(),
        seq: 0,
        dst: NodeId(u32::MAX),
        wire_tag: 0,
        extra: Packet::NO_EXTRA,
        size: 0,
        ingress: PortId(0),
        kind,
        priority: Priority::ALL[7],
        flags: 0,
        local_tag: 0,
    }
}
