//! Frames written by hand, and frames captured from real adapters.

use weir_core::{Priority, PrioritySet};
use weir_wire::mac_control::{Pause, PerPriority};
use weir_wire::roce::Opcode;
use weir_wire::{Body, Ethernet, Frame, MacAddress, WireError};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn from_port() -> Ethernet {
    Ethernet::to_neighbour(MacAddress([0x02, 0, 0, 0, 0, 0x0a]))
}

#[test]
fn a_pfc_frame_is_what_the_standard_says() {
    // DA, SA, 0x8808, 0x0101, priorities 3 and 5: 0b101000 = 0x28; 0xffff quanta for 3, 0 for 5
    let written = bytes(
        "0180c2000001 02000000000a 8808 0101 0028
         0000 0000 0000 ffff 0000 0000 0000 0000",
    );
    let values = [0, 0, 0, 0xffff, 0, 0, 0, 0];
    let enable = PrioritySet::from_iter([Priority::ALL[3], Priority::ALL[5]]);
    let frame = Frame { ethernet: from_port(), body: Body::Pfc(PerPriority { enable, values }) };
    let emitted = frame.emit().expect("a valid frame");
    // 26 bytes of padding follow
    assert_eq!((emitted.len(), &emitted[..34]), (60, &written[..]));
    assert!(emitted[34..].iter().all(|&byte| byte == 0));
    assert_eq!(Frame::parse(&emitted), Ok(frame));
}

#[test]
fn a_pause_frame_is_what_the_standard_says() {
    let written = bytes("0180c2000001 02000000000a 8808 0001 1234");
    let frame = Frame { ethernet: from_port(), body: Body::Pause(Pause { quanta: 0x1234 }) };
    assert_eq!(frame.emit().expect("a valid frame")[..18], written);
    // without padding, as some adapters hand frames over
    assert_eq!(Frame::parse(&written), Ok(frame));
}

/// A CNP captured on a ConnectX-4 Lx, with the ICRC that the adapter computed (found in the
/// tests of scapy's RoCE layer).
const CNP: &str = "e41d2dab2bc2 7cfe90643b32 0800 45c2 003c 718c 4000 4011 9161 0a001101 0a001201
    0000 12b7 0028 0000 8100ffff 40000118 00000000 00000000 00000000 00000000 00000000 82fd002a";

#[test]
fn the_icrc_is_that_of_a_real_adapter() {
    let captured = bytes(CNP);
    let frame = Frame::parse(&captured).expect("a captured CNP");
    let Body::Roce(ip, udp, roce) = &frame.body else { panic!("RoCEv2: {frame:?}") };
    assert_eq!((roce.bth.opcode, roce.bth.dest_qp, roce.bth.becn), (Opcode::CNP, 0x118, true));
    assert_eq!((ip.dscp, udp.src_port, ip.src.to_string()), (48, 0, "10.0.17.1".into()));
    // 14 + 20 + 8 + 12 + 16 + 4
    assert_eq!(captured.len(), 74);
    assert_eq!(frame.emit(), Ok(captured));
}

#[test]
fn a_flipped_bit_is_told_by_the_icrc_but_for_those_that_switches_change() {
    let captured = bytes(CNP);
    let mut broken = captured.clone();
    // a byte of the queue pair: offset 14 + 20 + 8 + 5
    broken[47] ^= 1;
    let error = Frame::parse(&broken).unwrap_err();
    assert!(matches!(error, WireError::Checksum { what: "the ICRC", .. }), "{error}");
    // FECN, bit 7 of byte 4 of the base header, is what a switch may set
    let mut marked = captured;
    marked[46] |= 0x80;
    assert!(Frame::parse(&marked).is_ok());
}

/// A SEND on an unreliable connection with two bytes of padding (same source).
#[test]
fn icrc_and_checksums_of_a_padded_payload_are_those_of_another_program() {
    let captured = bytes(
        "248a07a8fa22 248a07a8fa22 0800 4501 0040 0478 4000 4011 b4d5 c0a80007 c0a80007
         c000 12b7 002c aca2 2460ffff 000000d3 00cf1710
         4630818b e28935d9 0e9a9550 5401be88 5e500000 78f353f3",
    );
    let frame = Frame::parse(&captured).expect("a captured SEND");
    let Body::Roce(_, udp, roce) = &frame.body else { panic!("RoCEv2: {frame:?}") };
    assert!(udp.checksummed && roce.payload.len() == 18 && roce.pad() == 2);
    assert_eq!((roce.bth.psn, roce.bth.opcode.to_string()), (13_571_856, "UC SEND only".into()));
    assert_eq!(frame.emit(), Ok(captured));
}
