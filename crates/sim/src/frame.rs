//! Packets that no flow sends: control frames and order marks.

use weir_core::{ControlMessage, FlowId, NodeId, Packet, PacketKind, PortId, Priority};

/// A control frame that carries `message`, which stands at `extra` in the side pool.
pub(crate) fn control_packet(message: &ControlMessage, extra: u32) -> Packet {
    let size = u16::try_from(message.frame_bytes().get()).expect("control frames are fragmented");
    Packet { extra, size, ..bare(PacketKind::Control) }
}

/// An order mark that shows `mark` to the scheme when it reaches the head of its queue.
pub(crate) fn mark_packet(mark: u32) -> Packet {
    Packet { wire_tag: mark, ..bare(PacketKind::Mark) }
}

/// A packet of no flow, for the neighbour or, as a mark, for no node: it has no route.
fn bare(kind: PacketKind) -> Packet {
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
