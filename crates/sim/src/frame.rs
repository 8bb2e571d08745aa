//! Packets that no flow sends: control frames and order marks.

use crate::extras::{Extras, Said};
use crate::probe::port::PortMeter;
use crate::tally::Tally;
use weir_core::{ControlMessage, FlowId, NodeId, Packet, PacketKind, PortId, Priority};

/// A control frame that carries `message`, which stands at `extra` in the side pool.
pub(crate) fn control_packet(message: &ControlMessage, extra: u32) -> Packet {
    let size = u16::try_from(message.frame_bytes().get()).expect("control frames are fragmented");
    Packet { extra, size, ..bare(PacketKind::Control) }
}

/// The frame of a message that a scheme sends by a port, counted, with the message in the side
/// pool.
pub(crate) fn outgoing(
    said: Said,
    tally: &mut Tally,
    port: &mut PortMeter,
    extras: &mut Extras,
) -> Packet {
    tally.control_frames += 1;
    tally.control_bytes += said.message.frame_bytes().get();
    port.control_sent += 1;
    let packet = control_packet(&said.message, 0);
    Packet { extra: extras.messages.put(said), ..packet }
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
