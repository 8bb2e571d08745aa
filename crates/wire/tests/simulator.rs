//! Messages and packets of the simulator as frames: sizes, and the way back.

use proptest::collection::vec;
use proptest::prelude::*;
use weir_core::control::{HostPair, OwnMessage};
use weir_core::packet::flags;
use weir_core::{
    ControlMessage, FlowId, NodeId, Packet, PacketKind, PortId, Priority, PrioritySet, QueueId,
};
use weir_wire::addressing::{self, FlowDirectory, MAX_NODE, MapError, Transport};
use weir_wire::ethernet::FCS_LEN;
use weir_wire::packet::{PacketFramer, seen};
use weir_wire::{Body, Frame, MacAddress, control};

/// Every flow goes to node 9; odd ones are TCP.
struct ToNine;

impl FlowDirectory for ToNine {
    fn destination(&self, _flow: FlowId) -> Option<NodeId> {
        Some(NodeId(9))
    }

    fn transport(&self, flow: FlowId) -> Transport {
        if flow.number() % 2 == 1 { Transport::Tcp } else { Transport::Roce }
    }
}

fn priority() -> impl Strategy<Value = Priority> {
    (0usize..8).prop_map(|p| Priority::ALL[p])
}

fn hosts() -> impl Strategy<Value = HostPair> {
    (0..=MAX_NODE, 0..=MAX_NODE)
        .prop_map(|(src, dst)| HostPair { src: NodeId(src), dst: NodeId(dst) })
}

fn message() -> impl Strategy<Value = ControlMessage> {
    let set = || any::<u8>().prop_map(PrioritySet::from_bits);
    let said = || (any::<bool>(), priority());
    let flow = (0..=MAX_NODE, any::<u32>()).prop_map(|(n, k)| FlowId::new(NodeId(n), k));
    prop_oneof![
        (set(), any::<[u16; 8]>())
            .prop_map(|(enable, quanta)| ControlMessage::Pfc { enable, quanta }),
        (set(), any::<[u16; 8]>())
            .prop_map(|(enable, units)| ControlMessage::Occupancy { enable, units }),
        (set(), any::<[u8; 8]>())
            .prop_map(|(enable, stage)| ControlMessage::Stage { enable, stage }),
        (said(), any::<bool>(), vec(hosts(), 0..187)).prop_map(
            |((pause, priority), all, flows)| {
                ControlMessage::OfcFlows { pause, priority, all, flows }
            }
        ),
        (said(), vec((hosts(), any::<u32>()), 0..115)).prop_map(|((pause, priority), flows)| {
            ControlMessage::OfcTuples { pause, priority, flows }
        }),
        (said(), any::<u32>()).prop_map(|((pause, priority), queue)| {
            ControlMessage::QueueState { pause, priority, queue: QueueId(queue) }
        }),
        vec(any::<bool>(), 0..1500).prop_map(|paused| {
            let mut words = vec![0; paused.len().div_ceil(64)];
            for (at, _) in paused.iter().enumerate().filter(|(_, paused)| **paused) {
                words[at / 64] |= 1 << (at % 64);
            }
            ControlMessage::QueueBitmap { bits: paused.len() as u16, words }
        }),
        (said(), flow).prop_map(|((pause, priority), flow)| {
            ControlMessage::FlowState { pause, priority, flow }
        }),
        vec((hosts(), priority(), any::<bool>()), 0..150)
            .prop_map(|flows| ControlMessage::BackPressure { flows }),
        vec((hosts(), any::<u32>(), priority(), any::<bool>()), 0..100)
            .prop_map(|flows| ControlMessage::BackPressureTuples { flows }),
    ]
}
/// What the simulator calls the size of a frame: with its FCS, without preamble and gap.
fn frame_bytes(frame: &Frame) -> u64 {
    (frame.emit().unwrap().len() + FCS_LEN) as u64
}

proptest! {
    #[test]
    fn a_message_has_the_size_that_the_simulator_charges_and_reads_back(message in message()) {
        let frame = control::frame(&message, MacAddress::default(), &ToNine).unwrap();
        prop_assert_eq!(frame_bytes(&frame), message.frame_bytes().get());
        let read = Frame::parse(&frame.emit().unwrap()).unwrap();
        prop_assert_eq!(control::message(&read), Ok(message));
    }

    #[test]
    fn a_message_of_ones_own_has_the_size_it_states(
        words in vec(any::<u64>(), 0..10), body in 0u16..300,
    ) {
        let own = OwnMessage { scheme: "mine", words, body, pauses: Vec::new() };
        let message = ControlMessage::Own(Box::new(own));
        let frame = control::frame(&message, MacAddress::default(), &ToNine).unwrap();
        prop_assert_eq!(frame_bytes(&frame), message.frame_bytes().get());
    }

    #[test]
    fn nodes_ports_and_flows_come_back_from_their_addresses(
        n in 0..=MAX_NODE, p in any::<u16>(), k in any::<u32>(), tcp in any::<bool>(),
    ) {
        let (node, port, flow) = (NodeId(n), PortId(p), FlowId::new(NodeId(n), k));
        prop_assert_eq!(addressing::node(addressing::address(node).unwrap()), Ok(node));
        prop_assert_eq!(addressing::port(addressing::mac(node, port).unwrap()), Some((node, port)));
        let transport = if tcp { Transport::Tcp } else { Transport::Roce };
        let tuple = addressing::tuple(flow, Some(NodeId(7)), transport).unwrap();
        prop_assert_eq!(addressing::flow(tuple), Ok(flow));
        let (src_port, qp) = addressing::queue_pair(flow);
        prop_assert!(qp > 1 && qp < 1 << 24);
        prop_assert_eq!(addressing::number_of_queue_pair(src_port, qp), Some(k));
    }

    #[test]
    fn a_packet_is_as_long_as_simulated_and_tells_its_flow(
        k in any::<u32>(),
        seq in 0..1u32 << 24,
        size in 82u16..9000,
        bits in any::<u8>(),
        priority in priority(),
        kind in 0usize..4,
    ) {
        let flow = FlowId::new(NodeId(4), k);
        let tcp = ToNine.transport(flow) == Transport::Tcp;
        use PacketKind::{Ack, Cnp, Data, Nack, Syn, SynAck};
        let kinds = if tcp { [Data, Ack, Syn, SynAck] } else { [Data, Ack, Nack, Cnp] };
        let kind = kinds[kind];
        let forward = matches!(kind, Data | Syn);
        let packet = Packet {
            flow,
            seq,
            dst: if forward { NodeId(9) } else { NodeId(4) },
            wire_tag: 0,
            extra: Packet::NO_EXTRA,
            size,
            ingress: PortId(0),
            kind,
            priority,
            flags: bits,
            local_tag: 0,
        };
        let bytes = PacketFramer::new(&ToNine, 1518).bytes(&packet).unwrap();
        prop_assert_eq!(bytes.len() + 4, usize::from(size));
        let read = seen(&Frame::parse(&bytes).unwrap()).unwrap();
        prop_assert_eq!((read.flow, read.receiver, read.kind), (flow, NodeId(9), kind));
        prop_assert_eq!(read.priority, priority);
        if matches!(kind, Data | Ack) {
            prop_assert_eq!(read.marked, packet.has(flags::CE));
        }
        if !tcp && kind != Cnp {
            prop_assert_eq!(read.position, seq);
        }
    }
}

#[test]
fn a_roce_frame_has_the_bytes_of_its_headers_around_its_payload() {
    let packet = |bits, size| Packet {
        flow: FlowId::new(NodeId(4), 0),
        seq: 0,
        dst: NodeId(9),
        wire_tag: 0,
        extra: Packet::NO_EXTRA,
        size,
        ingress: PortId(0),
        kind: PacketKind::Data,
        priority: Priority::ALL[3],
        flags: bits,
        local_tag: 0,
    };
    let payload = |bits, size| {
        let frame = PacketFramer::new(&ToNine, 1518).frame(&packet(bits, size)).unwrap();
        let Body::Roce(_, _, roce) = frame.body else { panic!("RoCEv2") };
        (roce.payload.len(), roce.bth.opcode.to_string())
    };
    // 14 + 20 + 8 + 12 + 4 + 4 = 62 B around a middle packet, 16 more with a RETH
    assert_eq!(payload(0, 1086), (1024, "RC WRITE middle".into()));
    assert_eq!(payload(flags::FIRST, 1102), (1024, "RC WRITE first".into()));
    assert_eq!(payload(flags::LAST | flags::DATAGRAM, 62), (0, "UC WRITE last".into()));
    // three bytes that no padding can make go into the trailer
    assert_eq!(payload(flags::LAST, 1089), (1024, "RC WRITE last".into()));
}

#[test]
fn bits_beyond_a_bitmap_are_refused() {
    for (bits, words) in [(8, vec![0x100]), (64, vec![0, 1]), (65, vec![0, 2])] {
        let message = ControlMessage::QueueBitmap { bits, words };
        let refused = control::frame(&message, MacAddress::default(), &ToNine);
        assert_eq!(refused, Err(MapError::Bitmap(bits)));
    }
}
