//! `weir import pcap` from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use weir_core::packet::flags;
use weir_core::{FlowId, NodeId, Packet, PacketKind, PortId, Priority, Time};
use weir_wire::addressing::{FlowDirectory, Transport};
use weir_wire::capture::{CaptureWriter, Direction, PacketRecord};
use weir_wire::packet::PacketFramer;

struct Flows;

impl FlowDirectory for Flows {
    fn destination(&self, _flow: FlowId) -> Option<NodeId> {
        Some(NodeId(9))
    }

    fn transport(&self, flow: FlowId) -> Transport {
        if flow.number() == 1 { Transport::Tcp } else { Transport::Roce }
    }

    fn size(&self, _flow: FlowId) -> Option<u64> {
        Some(3000)
    }
}

/// A packet of a flow from host 4 to host 9.
fn packet(kind: PacketKind, number: u32, seq: u32, flags: u8) -> Packet {
    Packet {
        flow: FlowId::new(NodeId(4), number),
        seq,
        dst: NodeId(if kind == PacketKind::Data { 9 } else { 4 }),
        wire_tag: 0,
        extra: Packet::NO_EXTRA,
        size: 1518,
        ingress: PortId(0),
        kind,
        priority: Priority::ALL[3],
        flags,
        local_tag: 0,
    }
}

/// A WRITE of two packets that announces 3000 B, its ACK, and a TCP segment of 1460 B.
fn capture(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pcap-{name}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("the scratch directory can be made");
    let mut writer = CaptureWriter::new(Vec::new(), "test").expect("memory takes every byte");
    let interface = writer.add_interface("s0/p0", 80).expect("memory takes every byte");
    let packets = [
        packet(PacketKind::Data, 0, 0, flags::FIRST),
        packet(PacketKind::Data, 0, 1, flags::LAST),
        packet(PacketKind::Ack, 0, 2, 0),
        packet(PacketKind::Data, 1, 0, flags::LAST),
    ];
    for (packet, us) in packets.iter().zip(5..) {
        let frame = PacketFramer::new(&Flows, 1518).bytes(packet).expect("a packet of a flow");
        let (time, direction) = (Time::from_us(us), Direction::Inbound);
        let record = PacketRecord { interface, time, direction, comment: None, frame: &frame };
        writer.packet(&record).expect("memory takes every byte");
    }
    let file = writer.finish().expect("memory takes every byte");
    fs::write(directory.join("trace.pcapng"), file).expect("a file");
    directory
}

fn weir(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(["import", "pcap"]).args(args).current_dir(directory).stdin(Stdio::null());
    command.env("NO_COLOR", "1").env("COLUMNS", "200").output().expect("the program starts")
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("output is text")
}

#[test]
fn a_capture_becomes_a_flow_list_with_sizes_and_starts() {
    let output = weir(&capture("list"), &["trace.pcapng"]);
    assert!(output.status.success(), "{}", text(output.stderr));
    // the WRITE is seen from 5 us on, the segment at 8 us
    let expected = "# Flows of trace.pcapng\n# h0 is 10.0.0.4\n# h1 is 10.0.0.9\n\
        src,dst,size,start,class,priority,rate,while_held,stop,path,high\n\
        h0,h1,3000,0ps,roce,3,,backlog,,,false\n\
        h0,h1,1460,3000000ps,tcp,3,,backlog,,,false\n";
    assert_eq!(text(output.stdout), expected);
    assert!(text(output.stderr).contains("frames that belong to no flow: no payload 1"));
}

#[test]
fn hosts_have_the_names_they_are_given() {
    let directory = capture("names");
    let args = ["trace.pcapng", "--host", "10.0.0.9=h0", "--out", "flows.csv"];
    let output = weir(&directory, &args);
    assert!(output.status.success(), "{}", text(output.stderr));
    let list = fs::read_to_string(directory.join("flows.csv")).expect("the list");
    assert!(list.contains("\nh1,h0,3000,0ps,"), "{list}");
}

#[test]
fn what_cannot_be_imported_is_refused_with_its_reason() {
    let directory = capture("refused");
    fs::write(directory.join("not.pcapng"), "PK\x03\x04").expect("a file");
    let whole = fs::read(directory.join("trace.pcapng")).expect("a file");
    fs::write(directory.join("cut.pcapng"), &whole[..whole.len() - 1]).expect("a file");
    for (args, part) in [
        (&["missing.pcapng"][..], "cannot read missing.pcapng"),
        (&["not.pcapng"], "neither pcapng"),
        (&["cut.pcapng"], "the file ends within a block"),
        (&["trace.pcapng", "--host", "10.0.0.1"], "ADDRESS=NAME"),
        (&["trace.pcapng", "--host", "ten=h1"], "`ten` is not an IP address"),
        (&["trace.pcapng", "--host", "10.0.0.4=a", "--host", "10.0.0.9=a"], "`a` to two addresses"),
        (&["trace.pcapng", "--out", "trace.pcapng"], "which is the same file"),
    ] {
        let output = weir(&directory, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let message = text(output.stderr);
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}
