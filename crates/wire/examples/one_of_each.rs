//! Writes a capture with one frame of every kind: `one_of_each FILE`.
//!
//! `.ci/wire` compares what tshark reads in it, frame by frame, with the values below.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use weir_core::control::{HostPair, OwnMessage};
use weir_core::packet::flags;
use weir_core::{
    ControlMessage, FlowId, NodeId, Packet, PacketKind, PortId, Priority, PrioritySet, QueueId,
    Time,
};
use weir_wire::addressing::{self, FlowDirectory, Transport};
use weir_wire::capture::{CaptureWriter, Direction, PacketRecord};
use weir_wire::cim::Cim;
use weir_wire::mac_control::Pause;
use weir_wire::packet::PacketFramer;
use weir_wire::{Body, Ethernet, Frame, control};

/// Flows go to node 2; flow 1 of a host is TCP, the others are RoCEv2.
struct Flows;

impl FlowDirectory for Flows {
    fn destination(&self, _flow: FlowId) -> Option<NodeId> {
        Some(NodeId(2))
    }

    fn transport(&self, flow: FlowId) -> Transport {
        if flow.number() == 1 { Transport::Tcp } else { Transport::Roce }
    }

    fn size(&self, _flow: FlowId) -> Option<u64> {
        Some(100_000)
    }
}

const PRIORITY: Priority = Priority::ALL[3];

fn pair(src: u32) -> HostPair {
    HostPair { src: NodeId(src), dst: NodeId(2) }
}

fn messages() -> Vec<(&'static str, ControlMessage)> {
    let (pause, priority, enable) = (true, PRIORITY, PrioritySet::only(PRIORITY));
    let own = OwnMessage { scheme: "mine", words: vec![0x0123], body: 8, pauses: Vec::new() };
    vec![
        (
            "PAUSE prio 3: ingress s1/p0 61 440 B >= xoff 61 000 B",
            ControlMessage::pfc(priority, 0xffff),
        ),
        ("RESUME prio 3: ingress s1/p0 44 000 B <= xon 45 000 B", ControlMessage::pfc(priority, 0)),
        (
            "BPF of two flows",
            ControlMessage::BackPressure {
                flows: vec![(pair(0), priority, true), (pair(1), priority, false)],
            },
        ),
        (
            "BPF with 5-tuples",
            ControlMessage::BackPressureTuples { flows: vec![(pair(0), 7, priority, true)] },
        ),
        ("GFC stage 2", ControlMessage::Stage { enable, stage: [0, 0, 0, 2, 0, 0, 0, 0] }),
        ("GFC occupancy", ControlMessage::Occupancy { enable, units: [0, 0, 0, 960, 0, 0, 0, 0] }),
        (
            "OFC PAUSE of two flows",
            ControlMessage::OfcFlows { pause, priority, all: false, flows: vec![pair(0), pair(1)] },
        ),
        (
            "OFC RESUME of all flows",
            ControlMessage::OfcFlows { pause: false, priority, all: true, flows: Vec::new() },
        ),
        (
            "OFC PAUSE with 5-tuples",
            ControlMessage::OfcTuples { pause, priority, flows: vec![(pair(0), 65_541)] },
        ),
        (
            "FlowSail PAUSE",
            ControlMessage::FlowState { pause, priority, flow: FlowId::new(NodeId(0), 7) },
        ),
        ("BFC pause", ControlMessage::QueueState { pause, priority, queue: QueueId(70_000) }),
        ("BFC bitmap", ControlMessage::QueueBitmap { bits: 40, words: vec![1 << 3 | 1 << 33] }),
        ("a scheme of one's own", ControlMessage::Own(Box::new(own))),
    ]
}

fn packets() -> Vec<(&'static str, Packet)> {
    let packet = |kind, number, seq, size, flags| {
        let forward = matches!(kind, PacketKind::Data | PacketKind::Syn);
        Packet {
            flow: FlowId::new(NodeId(1), number),
            seq,
            dst: if forward { NodeId(2) } else { NodeId(1) },
            wire_tag: 0,
            extra: Packet::NO_EXTRA,
            size,
            ingress: PortId(0),
            kind,
            priority: PRIORITY,
            flags,
            local_tag: 0,
        }
    };
    vec![
        ("WRITE first", packet(PacketKind::Data, 0, 0, 1102, flags::FIRST)),
        ("WRITE middle, marked", packet(PacketKind::Data, 0, 1, 1086, flags::CE)),
        ("WRITE last", packet(PacketKind::Data, 0, 2, 131, flags::LAST)),
        ("ACK", packet(PacketKind::Ack, 0, 3, 66, 0)),
        ("NAK", packet(PacketKind::Nack, 0, 2, 66, 0)),
        ("CNP", packet(PacketKind::Cnp, 0, 0, 78, 0)),
        ("SYN", packet(PacketKind::Syn, 1, 0, 64, 0)),
        ("SYN-ACK", packet(PacketKind::SynAck, 1, 0, 64, 0)),
        ("TCP data", packet(PacketKind::Data, 1, 0, 1518, flags::LAST)),
        ("TCP ACK", packet(PacketKind::Ack, 1, 1, 64, 0)),
    ]
}

fn others() -> Result<Vec<(&'static str, Frame)>, Box<dyn Error>> {
    let [switch, host] = [1, 2].map(|n| addressing::mac(NodeId(n), PortId(0)));
    let (src, dst) = (switch?, host?);
    let cim = Cim { version: 0, add: true, dst, src, vid: 5, msdu: vec![0x45; 48] };
    let ethernet = Ethernet { dst, src, vlan: None };
    let pause = Body::Pause(Pause { quanta: 1000 });
    Ok(vec![
        ("classic PAUSE", Frame { ethernet: Ethernet::to_neighbour(src), body: pause }),
        ("congestion isolation", Frame { ethernet, body: Body::Cim(cim) }),
    ])
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: one_of_each FILE")?;
    let src = addressing::mac(NodeId(1), PortId(0))?;
    let mut frames: Vec<(&str, Vec<u8>)> = Vec::new();
    for (comment, message) in messages() {
        frames.push((comment, control::frame(&message, src, &Flows)?.emit()?));
    }
    for (comment, frame) in others()? {
        frames.push((comment, frame.emit()?));
    }
    let control_frames = frames.len();
    for (comment, packet) in packets() {
        frames.push((comment, PacketFramer::new(&Flows, 1518).bytes(&packet)?));
    }
    let mut writer = CaptureWriter::new(BufWriter::new(File::create(path)?), "weir one_of_each")?;
    let ports = [writer.add_interface("s1/p0", 0)?, writer.add_interface("s1/p1", 0)?];
    // one frame every 1001 ns: times that microseconds could not show
    for (i, (comment, frame)) in frames.iter().enumerate() {
        let sent = i < control_frames;
        writer.packet(&PacketRecord {
            interface: ports[if sent { 0 } else { 1 }],
            time: Time::from_ns(1001 * (i as u64 + 1)),
            direction: if sent { Direction::Outbound } else { Direction::Inbound },
            comment: Some(comment),
            frame,
        })?;
    }
    writer.finish()?;
    Ok(())
}
