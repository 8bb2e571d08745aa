//! Malformed frames are refused with an error that names what is wrong.

use weir_core::{Priority, PrioritySet};
use weir_wire::ipv4::{Ecn, Ipv4};
use weir_wire::mac_control::PerPriority;
use weir_wire::tcp::Tcp;
use weir_wire::udp::Udp;
use weir_wire::{Body, Ethernet, Frame, MacAddress, WireError};

/// A frame of an EtherType with these bytes behind it, not padded.
fn parse(ethertype: u16, body: &[u8]) -> Result<Frame, WireError> {
    Frame::parse(&[&[0; 12][..], &ethertype.to_be_bytes(), body].concat())
}

#[track_caller]
fn refused(ethertype: u16, body: &[u8], message: &str) {
    assert_eq!(parse(ethertype, body).unwrap_err().to_string(), message);
}

#[test]
fn short_frames_say_what_is_missing() {
    refused(0x8808, &[], "the MAC control opcode: 0 B, at least 2 B are needed");
    refused(0x8808, &[0, 1, 0], "PAUSE: 1 B, at least 2 B are needed");
    refused(0x8808, &[1, 1, 0, 8], "the values of eight priorities: 2 B, at least 18 B are needed");
    refused(0x88b5, &[1, 3], "the OFC header: 2 B, at least 6 B are needed");
    refused(0x88b5, &[3, 3, 10], "the FlowSail frame: 3 B, at least 15 B are needed");
    refused(0x88b5, &[5], "the BFC frame: 1 B, at least 6 B are needed");
    refused(0x89a2, &[1], "the congestion isolation message: 1 B, at least 17 B are needed");
    refused(0x0800, &[0x45], "the IPv4 header: 1 B, at least 20 B are needed");
    refused(
        0x8100,
        &[0; 3],
        "the Ethernet header with an 802.1Q tag: 17 B, at least 18 B are needed",
    );
}

#[test]
fn unknown_codes_are_shown_beside_the_known_ones() {
    refused(
        0x86dd,
        &[],
        "the EtherType 0x86dd is unknown: IPv4 is 0x0800, MAC control 0x8808, OFC, FlowSail and \
         BFC 0x88b5, a scheme of one's own 0x88b6, CIM 0x89a2",
    );
    refused(
        0x8808,
        &[1, 2],
        "the MAC control opcode 0x0102 is unknown: PAUSE is 0x0001, PFC 0x0101, FFC 0x0111 and \
         0x0112, GFC 0x0113 and 0x0114",
    );
    refused(
        0x88b5,
        &[8],
        "the type of a frame with EtherType 0x88b5 0x0008 is unknown: OFC is 1 and 2, FlowSail 3 \
         and 4, BFC 5 to 7",
    );
}

#[test]
fn counts_that_lie_are_refused() {
    let ffc = [&[1, 0x11, 0, 3][..], &[0; 20]].concat();
    refused(0x8808, &ffc, "the flow count of FFC says 3, but the frame has room for 2");
    let tuples = [&[1, 0x12, 0, 2][..], &[0; 29]].concat();
    refused(0x8808, &tuples, "the flow count of FFC says 2, but the frame has room for 1");
    let ofc = [&[1, 3, 2, 0, 0xff, 0xff][..], &[0; 40]].concat();
    refused(0x88b5, &ofc, "the flow count of OFC says 65535, but the frame has room for 5");
    let bitmap = [&[7, 0, 0, 17][..], &[0; 2]].concat();
    refused(0x88b5, &bitmap, "the number of bits of BFC says 17, but the frame has room for 16");
    let cim = [&[1; 15][..], &[0, 9], &[0; 8]].concat();
    refused(0x89a2, &cim, "the MSDU length of CIM says 9, but the frame has room for 8");
}

#[test]
fn reserved_bits_must_be_zero() {
    let pfc = [&[1, 1, 1, 8][..], &[0; 16]].concat();
    let must = "they must be zero";
    refused(
        0x8808,
        &pfc,
        &format!("the high byte of the enable vector: the reserved bits are 0x1, {must}"),
    );
    let stage = [&[1, 0x13, 0, 8, 2, 1][..], &[0; 14]].concat();
    refused(
        0x8808,
        &stage,
        &format!("the high byte of a GFC stage: the reserved bits are 0x2, {must}"),
    );
    let flags = [1, 3, 8, 0, 0, 0];
    refused(0x88b5, &flags, &format!("the flags of OFC: the reserved bits are 0x8, {must}"));
    let bitmap = [7, 0, 0, 4, 0b1_0001];
    refused(
        0x88b5,
        &bitmap,
        &format!("the unused bits of a BFC bitmap: the reserved bits are 0x1, {must}"),
    );
    let cim = [&[0b10][..], &[0; 16]].concat();
    refused(0x89a2, &cim, &format!("the first byte of CIM: the reserved bits are 0x1, {must}"));
}

#[test]
fn values_out_of_range_are_refused() {
    refused(0x88b5, &[1, 8, 0, 0, 0, 0], "the priority of OFC is 8: 0 to 7");
    let ffc = [&[1, 0x11, 0, 1][..], &[0; 8], &[3, 2]].concat();
    refused(0x8808, &ffc, "the state of an FFC flow is 2: 1 is XOFF, 0 is XON");
    refused(0x0800, &[0x65; 20], "the version of the IPv4 header is 6: 4");
}

/// An IPv4 packet with a TCP segment or a RoCEv2 datagram of four bytes of payload.
fn packet(tcp: bool) -> Vec<u8> {
    let (src, dst) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let ip = Ipv4 {
        dscp: 0,
        ecn: Ecn::Capable0,
        identification: 1,
        dont_fragment: true,
        ttl: 64,
        src,
        dst,
    };
    let segment = Tcp {
        src_port: 1,
        dst_port: 2,
        seq: 3,
        ack: 4,
        flags: 16,
        window: 5,
        urgent: 0,
        options: Vec::new(),
    };
    let body = match tcp {
        true => Body::Tcp(ip, segment, vec![1; 8]),
        false => Body::Udp(ip, Udp { src_port: 1, dst_port: 2, checksummed: true }, vec![1; 20]),
    };
    let ethernet = Ethernet { dst: MacAddress([2; 6]), src: MacAddress([3; 6]), vlan: None };
    Frame { ethernet, body }.emit().expect("a valid frame")
}

#[track_caller]
fn damaged(tcp: bool, at: usize, byte: u8, part: &str) {
    let mut bytes = packet(tcp);
    bytes[at] = byte;
    let message = Frame::parse(&bytes).unwrap_err().to_string();
    assert!(message.contains(part), "{message:?} lacks {part:?}");
}

#[test]
fn checksums_and_lengths_of_ip_packets_are_checked() {
    // offsets: IPv4 at 14, the transport at 34
    damaged(true, 22, 63, "the IPv4 checksum is 0x");
    damaged(true, 40, 9, "the TCP checksum is 0x");
    damaged(true, 46, 0x40, "the TCP header length is 16");
    damaged(false, 45, 9, "the UDP checksum is 0x");
    damaged(false, 39, 7, "the UDP length is 7");
    damaged(false, 39, 200, "the UDP length says 200, but the frame has room for 28");
}

#[test]
fn what_does_not_fit_a_field_is_not_written() {
    let ethernet = Ethernet::to_neighbour(MacAddress::default());
    let tagged =
        Ethernet { vlan: Some(weir_wire::VlanTag { pcp: 8, dei: false, vid: 0 }), ..ethernet };
    let values = PerPriority { enable: PrioritySet::only(Priority::ALL[0]), values: [0; 8] };
    let frame = Frame { ethernet: tagged, body: Body::Pfc(values) };
    let message = frame.emit().unwrap_err().to_string();
    assert_eq!(message, "the priority code point is 8: 0 to 7");
}
