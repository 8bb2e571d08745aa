//! Captures read back as they were written, and their flows are those that were sent.

mod strategies;

use proptest::collection::vec;
use proptest::prelude::*;
use weir_core::packet::flags;
use weir_core::{FlowId, NodeId, Packet, PacketKind, PortId, Priority, Time};
use weir_wire::addressing::{FlowDirectory, Transport};
use weir_wire::capture::{
    CaptureReader, CaptureWriter, CapturedPacket, Direction, FlowsFound, InterfaceId, PacketRecord,
};
use weir_wire::packet::PacketFramer;

/// Frames with time in nanoseconds, direction and comment.
type Seen = (Vec<u8>, u64, Direction, Option<String>);

fn seen() -> impl Strategy<Value = Seen> {
    let direction =
        prop::sample::select(&[Direction::Unknown, Direction::Inbound, Direction::Outbound][..]);
    let frame = strategies::frame().prop_map(|frame| frame.emit().expect("a valid frame"));
    (frame, 0..u64::MAX / 2000, direction, prop::option::of("\\PC{0,40}"))
}

fn written(packets: &[Seen], snap: u32) -> Vec<u8> {
    let mut writer = CaptureWriter::new(Vec::new(), "test").expect("memory takes every byte");
    let ports = ["s0/p0", "s1/p12"].map(|name| writer.add_interface(name, snap).unwrap());
    for (i, (frame, ns, direction, comment)) in packets.iter().enumerate() {
        let (interface, time) = (ports[i % 2], Time::from_ns(*ns));
        let (direction, comment) = (*direction, comment.as_deref());
        let record = PacketRecord { interface, time, direction, comment, frame };
        writer.packet(&record).unwrap();
    }
    let bytes = writer.written();
    let file = writer.finish().unwrap();
    assert_eq!(file.len() as u64, bytes);
    file
}

fn packets(file: &[u8]) -> Vec<CapturedPacket> {
    let mut reader = CaptureReader::new(file).expect("a capture");
    std::iter::from_fn(|| reader.next_packet().expect("whole blocks")).collect()
}

proptest! {
    #[test]
    fn a_capture_reads_back_as_it_was_written(
        sent in vec(seen(), 0..10), snap in prop::sample::select(&[0u32, 1, 64, 4096][..]),
    ) {
        let read = packets(&written(&sent, snap));
        prop_assert_eq!(read.len(), sent.len());
        for (i, (packet, (frame, ns, direction, comment))) in read.iter().zip(&sent).enumerate() {
            let limit = if snap == 0 { usize::MAX } else { snap as usize };
            let kept = &frame[..frame.len().min(limit)];
            prop_assert_eq!((packet.interface, packet.time_ns), (i % 2, *ns));
            prop_assert_eq!((packet.direction, &packet.comment), (*direction, comment));
            prop_assert_eq!((packet.original_len as usize, &packet.bytes[..]), (frame.len(), kept));
        }
    }

    #[test]
    fn no_damage_to_a_capture_makes_a_reader_panic(
        sent in vec(seen(), 1..4),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut file = written(&sent, 0);
        for (at, byte) in damage {
            let at = at.index(file.len());
            file[at] = byte;
        }
        weir_wire::fuzz::capture(&file);
        file.truncate(cut.index(file.len()));
        weir_wire::fuzz::capture(&file);
    }
}

#[test]
fn a_section_an_interface_and_a_packet_are_the_blocks_of_the_format() {
    let mut writer = CaptureWriter::new(Vec::new(), "w").unwrap();
    let interface = writer.add_interface("p0", 96).unwrap();
    let (time, direction) = (Time::from_ns(0x1_0000_0002), Direction::Outbound);
    let comment = Some("abc");
    writer.packet(&PacketRecord { interface, time, direction, comment, frame: &[9; 5] }).unwrap();
    let file = writer.finish().unwrap();
    let words: Vec<u32> = file.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let expected = [
        // section: type, length, byte order, version 1.0, no length, option 4 "w", end
        &[0x0a0d_0d0a, 40, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 0x1_0004, 0x77, 0, 40][..],
        // interface: Ethernet, 96 B, option 2 "p0", 9 (10^-9 s), 13 (no FCS), end
        &[1, 48, 1, 96, 0x2_0002, 0x3070, 0x1_0009, 9, 0x1_000d, 0, 0, 48],
        // packet: interface 0, time, 5 of 5 B, option 1 "abc", 2 (outbound), end
        &[6, 60, 0, 1, 2, 5, 5, 0x0909_0909, 9, 0x3_0001, 0x63_6261, 0x4_0002, 2, 0, 60],
    ]
    .concat();
    assert_eq!(words, expected);
}

#[test]
fn the_size_of_a_packet_is_known_before_it_is_written() {
    let mut writer = CaptureWriter::new(Vec::new(), "size").unwrap();
    let interfaces = [0, 64].map(|snap| writer.add_interface("p0", snap).unwrap());
    let frame = [0; 101];
    for interface in interfaces {
        for direction in [Direction::Unknown, Direction::Inbound] {
            for comment in [None, Some(""), Some("12345")] {
                for frame in [&frame[..0], &frame[..63], &frame[..]] {
                    let record =
                        PacketRecord { interface, time: Time::ZERO, direction, comment, frame };
                    let (before, size) = (writer.written(), writer.size_of(&record));
                    writer.packet(&record).unwrap();
                    assert_eq!(writer.written() - before, size, "{record:?}");
                }
            }
        }
    }
}

#[test]
fn an_interface_of_another_writer_is_refused() {
    let mut other = CaptureWriter::new(Vec::new(), "other").unwrap();
    let interface: InterfaceId = other.add_interface("p0", 0).unwrap();
    let mut writer = CaptureWriter::new(Vec::new(), "this").unwrap();
    let (time, direction) = (Time::ZERO, Direction::Unknown);
    let record = PacketRecord { interface, time, direction, comment: None, frame: &[] };
    assert!(writer.packet(&record).unwrap_err().to_string().contains("no interface 0"));
}

#[test]
fn classic_captures_are_read_in_both_byte_orders_and_resolutions() {
    // 3 s and 5 ticks: 5000 ns in microseconds, 5 ns in nanoseconds
    for (magic, ns) in [(0xa1b2_c3d4u32, 3_000_005_000), (0xa1b2_3c4d, 3_000_000_005)] {
        for big in [false, true] {
            let bytes = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
            let header = [magic, 0x0004_0002, 0, 0, 65535, 1].map(bytes).concat();
            let record = [3, 5, 4, 60].map(bytes).concat();
            let file = [&header[..], &record, &[1, 2, 3, 4]].concat();
            let [packet] = &packets(&file)[..] else { panic!("one packet") };
            assert_eq!((packet.time_ns, packet.original_len), (ns, 60));
            assert_eq!(packet.bytes, [1, 2, 3, 4]);
        }
    }
}

#[test]
fn damaged_captures_are_refused_with_place_and_reason() {
    let error = |file: &[u8]| match CaptureReader::new(file) {
        Ok(mut reader) => reader.next_packet().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    let zip = error(b"PK\x03\x04");
    assert!(zip.contains("[50, 4b, 03, 04]: neither pcapng"), "{zip}");
    assert!(error(b"").contains("[]: neither pcapng"));
    let file = written(&[(vec![1; 60], 5, Direction::Inbound, None)], 0);
    // the section of "test" has 40 B, each interface 52 B
    assert_eq!(error(&file[..43]), "byte 40: the file ends within a block's header");
    let mut long = file.clone();
    long[47] = 0x7f;
    let message = error(&long);
    assert!(message.contains("byte 40: the length of a block is 2130706484"), "{message}");
    let mut foreign = file;
    foreign[40 + 52 + 52 + 8] = 7;
    let message = error(&foreign);
    assert!(message.contains("byte 144: the interface of a packet is 7"), "{message}");
}

struct ToTwo(Transport);

impl FlowDirectory for ToTwo {
    fn destination(&self, _flow: FlowId) -> Option<NodeId> {
        Some(NodeId(2))
    }

    fn transport(&self, _flow: FlowId) -> Transport {
        self.0
    }

    fn size(&self, _flow: FlowId) -> Option<u64> {
        Some(4000)
    }
}

/// Packet `seq` of three of a flow to node 2: 1518 B each, but for the last.
fn packet(number: u32, seq: u32) -> Packet {
    let ends = |at, flag| if seq == at { flag } else { 0 };
    Packet {
        flow: FlowId::new(NodeId(1), number),
        seq,
        dst: NodeId(2),
        wire_tag: 0,
        extra: Packet::NO_EXTRA,
        size: if seq == 2 { 1018 } else { 1518 },
        ingress: PortId(0),
        kind: PacketKind::Data,
        priority: Priority::ALL[3],
        flags: ends(0, flags::FIRST) | ends(2, flags::LAST),
        local_tag: 0,
    }
}

/// Packets of flows (number, seq), one every microsecond.
fn capture(transport: Transport, sent: &[(u32, u32)], snap: u32) -> FlowsFound {
    let flows = ToTwo(transport);
    let framer = PacketFramer::new(&flows, 1518);
    let frames: Vec<Seen> = (sent.iter().zip(1..))
        .map(|(&(number, seq), us)| {
            let frame = framer.bytes(&packet(number, seq)).unwrap();
            (frame, us * 1000, Direction::Inbound, None)
        })
        .collect();
    FlowsFound::read(&written(&frames, snap)[..], None).unwrap()
}

#[test]
fn flows_have_the_size_that_was_sent_whatever_was_repeated_lost_or_cut_off() {
    // flow 5 comes out of order, its packet 1 twice; flow 6 is a part of a flow
    let sent = [(5, 0), (5, 2), (5, 1), (5, 1), (6, 1)];
    for (transport, snap) in [(Transport::Roce, 0), (Transport::Roce, 80), (Transport::Tcp, 80)] {
        let found = capture(transport, &sent, snap);
        let [five, six] = &found.flows[..] else { panic!("two flows: {found:?}") };
        // headers and FCS: RoCEv2 78 with RETH, else 62; TCP 58
        let (bytes, size) = match transport {
            Transport::Roce => (1440 + 1456 + 956, 4000),
            Transport::Tcp => (1460 + 1460 + 960, 1460 + 1460 + 960),
        };
        assert_eq!((five.bytes, five.size(), five.packets, five.repeated), (bytes, size, 4, 1));
        assert_eq!((five.start_ns, five.end_ns, five.dscp), (1000, 4000, 24));
        assert_eq!((five.tuple.src_port, five.tuple.dst.to_string()), (49157, "10.0.0.2".into()));
        // the beginning of flow 6 was not seen, so nothing announces its size
        let middle = if transport == Transport::Roce { 1456 } else { 1460 };
        assert_eq!((six.bytes, six.size()), (middle, middle));
    }
}

#[test]
fn a_long_pause_divides_a_flow() {
    let flows = ToTwo(Transport::Roce);
    let framer = PacketFramer::new(&flows, 1518);
    let at =
        |seq, ns| (framer.bytes(&packet(0, seq)).unwrap(), ns, Direction::Inbound, None::<String>);
    let file = written(&[at(0, 0), at(1, 10), at(2, 2000)], 0);
    let sizes = |idle| {
        let found = FlowsFound::read(&file[..], idle).unwrap();
        found.flows.iter().map(|flow| (flow.start_ns, flow.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(sizes(None), [(0, 1440 + 1456 + 956)]);
    assert_eq!(sizes(Some(1000)), [(0, 1440 + 1456), (2000, 956)]);
}

#[test]
fn frames_of_no_flow_are_counted_by_reason() {
    let arp = [&[0xff; 12][..], &[0x08, 0x06], &[0; 46]].concat();
    let pfc = [&[1; 12][..], &[0x88, 0x08, 1, 1], &[0; 44]].concat();
    let frames = [arp, pfc].map(|frame| (frame, 0, Direction::Unknown, None));
    let found = FlowsFound::read(&written(&frames, 0)[..], None).unwrap();
    assert!(found.flows.is_empty());
    assert!(found.skipped.into_iter().eq([("flow control", 1), ("not IP", 1)]));
}

/// A WRITE whose beginning was not captured, and then another: what the second one announces is
/// not all.
#[test]
fn a_message_whose_beginning_is_missing_leaves_what_was_seen() {
    let sent = [(5, 0), (5, 1), (5, 2)];
    assert_eq!(capture(Transport::Roce, &sent, 0).flows[0].announced, Some(4000));
    let flows = ToTwo(Transport::Roce);
    let framer = PacketFramer::new(&flows, 1518);
    let again = |seq: u32| Packet { seq: seq + 3, ..packet(5, seq) };
    let frames = [packet(5, 0), packet(5, 1), packet(5, 2), again(1), again(2)];
    let frames = frames.map(|p| (framer.bytes(&p).unwrap(), 0, Direction::Inbound, None));
    let found = FlowsFound::read(&written(&frames, 0)[..], None).unwrap();
    let bytes = 1440 + 2 * (1456 + 956);
    assert_eq!((found.flows[0].announced, found.flows[0].size()), (None, bytes));
}

/// A length that the field cannot hold announces nothing.
#[test]
fn a_flow_of_more_than_4_gigabytes_has_the_size_that_was_seen() {
    struct Huge;
    impl FlowDirectory for Huge {
        fn destination(&self, _flow: FlowId) -> Option<NodeId> {
            Some(NodeId(2))
        }

        fn size(&self, _flow: FlowId) -> Option<u64> {
            Some(5_000_000_000)
        }
    }
    let framer = PacketFramer::new(&Huge, 1518);
    let frame = framer.bytes(&packet(5, 0)).unwrap();
    let found = FlowsFound::read(&written(&[(frame, 0, Direction::Inbound, None)], 0)[..], None);
    assert_eq!(found.unwrap().flows[0].size(), 1440);
}

/// A classic capture of one frame, of which `cut` bytes were not kept.
fn classic(link_type: u32, frame: &[u8], cut: usize) -> Vec<u8> {
    let kept = &frame[..frame.len() - cut];
    let header = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, link_type].map(u32::to_le_bytes).concat();
    let record = [3, 5, kept.len() as u32, frame.len() as u32].map(u32::to_le_bytes).concat();
    [&header[..], &record, kept].concat()
}

/// Addresses, DSCP and bytes of the only flow.
fn only_flow(link_type: u32, frame: &[u8], cut: usize) -> (String, String, u8, u64) {
    let found = FlowsFound::read(&classic(link_type, frame, cut)[..], None).unwrap();
    let [flow] = &found.flows[..] else { panic!("link type {link_type}: {found:?}") };
    (flow.tuple.src.to_string(), flow.tuple.dst.to_string(), flow.dscp, flow.bytes)
}

/// The IPv4 packet of a middle packet of RoCEv2 with 1456 B of payload.
fn ipv4_packet() -> Vec<u8> {
    let flows = ToTwo(Transport::Roce);
    PacketFramer::new(&flows, 1518).bytes(&packet(0, 1)).unwrap().split_off(14)
}

#[test]
fn flows_are_found_behind_the_headers_of_other_links() {
    let ip = &ipv4_packet()[..];
    let with = |header: &[u8]| [header, ip].concat();
    let tag = [0x81, 0x00, 0x60, 0x05];
    let service_tag = [0x88, 0xa8, 0x60, 0x05];
    let cooked = [&[0, 4, 0, 1, 0, 6][..], &[1; 8], &[8, 0]].concat();
    let cooked_2 = [&[8, 0][..], &[0; 18]].concat();
    for (link_type, frame) in [
        (1, with(&[&[0; 12][..], &[8, 0]].concat())),
        (1, with(&[&[0; 12][..], &tag, &[8, 0]].concat())),
        (1, with(&[&[0; 12][..], &service_tag, &tag, &[8, 0]].concat())),
        (0, with(&[2, 0, 0, 0])),
        (12, ip.to_vec()),
        (101, ip.to_vec()),
        (113, with(&cooked)),
        (228, ip.to_vec()),
        (276, with(&cooked_2)),
    ] {
        let expected = ("10.0.0.1".to_owned(), "10.0.0.2".to_owned(), 24, 1456);
        assert_eq!(only_flow(link_type, &frame, 0), expected);
        // headers say how long the payload was
        assert_eq!(only_flow(link_type, &frame, 1400), expected);
    }
}

#[test]
fn flows_over_ipv6_are_found_behind_its_extension_headers() {
    let udp = &ipv4_packet()[20..];
    for extensions in [&[][..], &[17, 0, 1, 4, 0, 0, 0, 0]] {
        let len = (extensions.len() + udp.len()) as u16;
        let next = if extensions.is_empty() { 17 } else { 60 };
        // traffic class 0x62: DSCP 24, ECT(0)
        let mut ip = [&[0x66, 0x20, 0, 0][..], &len.to_be_bytes(), &[next, 64]].concat();
        for host in [1, 2] {
            ip.extend([&[0xfd][..], &[0; 14], &[host]].concat());
        }
        let frame = [&[0u8; 12][..], &[0x86, 0xdd], &ip, extensions, udp].concat();
        let expected = ("fd00::1".to_owned(), "fd00::2".to_owned(), 24, 1456);
        assert_eq!(only_flow(1, &frame, 0), expected);
        assert_eq!(only_flow(1, &frame, 1400), expected);
    }
}

#[test]
fn a_segment_without_a_length_has_that_of_its_frame() {
    let flows = ToTwo(Transport::Tcp);
    let mut frame = PacketFramer::new(&flows, 1518).bytes(&packet(0, 1)).unwrap();
    frame[16..18].fill(0);
    assert_eq!(only_flow(1, &frame, 0).3, 1460);
    assert_eq!(only_flow(1, &frame, 1440).3, 1460);
}

#[test]
fn no_bytes_behind_any_link_make_the_search_for_flows_panic() {
    let ip = ipv4_packet();
    for link_type in [0, 1, 12, 101, 113, 228, 229, 276, 147] {
        for first in [0x45, 0x4f, 0x40, 0x60, 0x66] {
            for next in [0, 6, 17, 43, 44, 51, 60, 59] {
                for len in 0..120 {
                    let mut frame = ip[..len].to_vec();
                    for (at, byte) in [(0, first), (6, next), (9, next), (40, next)] {
                        if let Some(there) = frame.get_mut(at) {
                            *there = byte;
                        }
                    }
                    let mut file = classic(link_type, &frame, 0);
                    assert!(FlowsFound::read(&file[..], None).is_ok());
                    // a frame that was shorter than what is there of it
                    file[36..40].fill(0);
                    assert!(FlowsFound::read(&file[..], None).is_ok());
                }
            }
        }
    }
}
