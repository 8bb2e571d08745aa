//! Packets of the simulator as frames, and what can be read back from them.
//!
//! A frame is as long as the simulated packet, FCS included, whatever the scenario says of headers:
//! its payload is what RoCEv2 or TCP headers leave. What is left over of a RoCEv2 payload, which
//! comes in multiples of four, follows as an Ethernet trailer of up to three bytes. Where headers
//! alone are longer than the packet (ACKs of 64 bytes: RoCEv2 needs 66) the frame is longer.
//!
//! | packet | RoCEv2 | TCP |
//! |---|---|---|
//! | data | RDMA WRITE, the message's size in the RETH of the first | segment, PSH on the last |
//! | data without ACKs | the same on an unreliable connection | |
//! | ACK | ACK with the PSN before `seq`, BECN when it echoes a mark | acknowledges; ECE |
//! | NACK | NAK, sequence error, with PSN `seq` | as an ACK |
//! | CNP | CNP | |
//! | SYN, SYN-ACK | | SYN, SYN with ACK |
//!
//! The packet sequence number is `seq` modulo 2^24. TCP counts bytes: packet k begins at 1 + k
//! times the payload of a full frame. Payloads are zeros.

use crate::addressing::{self, FlowDirectory, MapError, Transport};
use crate::ethernet::FCS_LEN;
use crate::ipv4::{self, Ecn, Ipv4};
use crate::roce::{Aeth, Bth, BthView, ICRC_LEN, Opcode, Reth, Roce, Syndrome};
use crate::tcp::{self, Tcp, flag};
use crate::udp::{self, Udp};
use crate::{Body, Ethernet, Frame};
use weir_core::packet::flags;
use weir_core::{FlowId, NodeId, Packet, PacketKind, PortId, Priority};

const ETHERNET: usize = 14;
const PSN_MASK: u32 = (1 << 24) - 1;
const ROCE_HEADERS: usize = ETHERNET + ipv4::HEADER_LEN + udp::HEADER_LEN + BthView::LEN + ICRC_LEN;
const TCP_HEADERS: usize = ETHERNET + ipv4::HEADER_LEN + tcp::HEADER_LEN;

/// Makes frames of packets.
#[derive(Clone, Copy)]
pub struct PacketFramer<'a> {
    flows: &'a dyn FlowDirectory,
    /// Payload of a full TCP segment.
    segment: u32,
}

impl<'a> PacketFramer<'a> {
    /// For packets of these flows, of which a full one has `full_frame` bytes, FCS included.
    pub fn new(flows: &'a dyn FlowDirectory, full_frame: u16) -> Self {
        let segment = usize::from(full_frame).saturating_sub(TCP_HEADERS + FCS_LEN).max(1);
        Self { flows, segment: segment as u32 }
    }

    /// The bytes of a packet, without FCS.
    pub fn bytes(&self, packet: &Packet) -> Result<Vec<u8>, MapError> {
        let mut bytes = self.frame(packet)?.emit()?;
        let simulated = usize::from(packet.size).saturating_sub(FCS_LEN);
        bytes.resize(bytes.len().max(simulated), 0);
        Ok(bytes)
    }

    /// The frame of a packet, without its trailer.
    pub fn frame(&self, packet: &Packet) -> Result<Frame, MapError> {
        let flow = packet.flow;
        let (src, dst) = match packet.kind {
            PacketKind::Data | PacketKind::Syn => (flow.source(), packet.dst),
            PacketKind::Ack | PacketKind::Nack | PacketKind::Cnp | PacketKind::SynAck => {
                let receiver = self.flows.destination(flow);
                (receiver.ok_or(MapError::Destination(flow))?, packet.dst)
            }
            PacketKind::Control => return Err(MapError::Kind("a packet of a flow")),
            PacketKind::Mark => return Err(MapError::Kind("a packet that is ever on a wire")),
        };
        let is_data = packet.kind == PacketKind::Data;
        let ip = Ipv4 {
            dscp: packet.priority.get() << 3,
            ecn: match (is_data, packet.has(flags::CE)) {
                (true, true) => Ecn::Experienced,
                (true, false) => Ecn::Capable0,
                (false, _) => Ecn::NotCapable,
            },
            identification: 0,
            dont_fragment: true,
            ttl: 64,
            src: addressing::address(src)?,
            dst: addressing::address(dst)?,
        };
        let [src, dst] = [src, dst].map(|node| addressing::mac(node, PortId(0)));
        let ethernet = Ethernet { dst: dst?, src: src?, vlan: None };
        let body = match self.flows.transport(flow) {
            Transport::Roce => self.roce(packet, ip)?,
            Transport::Tcp => self.tcp(packet, ip)?,
        };
        Ok(Frame { ethernet, body })
    }

    fn roce(&self, packet: &Packet, ip: Ipv4) -> Result<Body, MapError> {
        let (src_port, dest_qp) = addressing::queue_pair(packet.flow);
        let udp = Udp { src_port, dst_port: crate::roce::PORT, checksummed: false };
        let psn = packet.seq & PSN_MASK;
        let aeth = |syndrome| Some(Aeth { syndrome, msn: psn });
        let roce = match packet.kind {
            PacketKind::Data => self.write(packet, dest_qp, psn)?,
            PacketKind::Ack => {
                // the simulator names the next packet expected, InfiniBand the last one received
                let received = packet.seq.wrapping_sub(1) & PSN_MASK;
                let becn = packet.has(flags::CE);
                let bth = Bth { becn, ..Bth::new(Opcode::ACK, dest_qp, received) };
                Roce { aeth: aeth(Syndrome::ACK), ..Roce::plain(bth, Vec::new()) }
            }
            PacketKind::Nack => {
                let bth = Bth::new(Opcode::ACK, dest_qp, psn);
                Roce { aeth: aeth(Syndrome::SEQUENCE_ERROR), ..Roce::plain(bth, Vec::new()) }
            }
            PacketKind::Cnp => {
                let bth = Bth { becn: true, ..Bth::new(Opcode::CNP, dest_qp, 0) };
                Roce::plain(bth, Vec::new())
            }
            _ => return Err(MapError::Kind("a packet of RoCEv2")),
        };
        Ok(Body::Roce(ip, udp, roce))
    }

    fn write(&self, packet: &Packet, dest_qp: u32, psn: u32) -> Result<Roce, MapError> {
        let begins = self.flows.begins_message(packet);
        let opcode = match (begins, packet.has(flags::LAST)) {
            (true, true) => Opcode::WRITE_ONLY,
            (true, false) => Opcode::WRITE_FIRST,
            (false, true) => Opcode::WRITE_LAST,
            (false, false) => Opcode::WRITE_MIDDLE,
        };
        let datagram = packet.has(flags::DATAGRAM);
        let opcode = if datagram { opcode.unreliable()? } else { opcode };
        let headers = ROCE_HEADERS + if opcode.has_reth() { Reth::LEN } else { 0 };
        let payload = usize::from(packet.size).saturating_sub(headers + FCS_LEN) / 4 * 4;
        let size = self.flows.message_size(packet).unwrap_or(payload as u64);
        let reth = opcode.has_reth().then(|| Reth {
            virtual_address: 0,
            rkey: 0,
            // more than the field can hold
            dma_len: u32::try_from(size).unwrap_or(Reth::UNKNOWN),
        });
        let ack_request = packet.has(flags::LAST) && !datagram;
        let bth = Bth { ack_request, ..Bth::new(opcode, dest_qp, psn) };
        Ok(Roce { reth, ..Roce::plain(bth, vec![0; payload]) })
    }

    fn tcp(&self, packet: &Packet, ip: Ipv4) -> Result<Body, MapError> {
        let flow = packet.flow;
        let tuple = addressing::tuple(flow, None, Transport::Tcp)?;
        let position = packet.seq.wrapping_mul(self.segment).wrapping_add(1);
        let mark = |bit| if packet.has(flags::CE) { bit } else { 0 };
        let forward = (tuple.src_port, tuple.dst_port);
        let backward = (tuple.dst_port, tuple.src_port);
        let last = if packet.has(flags::LAST) { flag::PSH } else { 0 };
        let reduced = if packet.has(flags::CWR) { flag::CWR } else { 0 };
        let (ports, seq, ack, bits) = match packet.kind {
            PacketKind::Data => (forward, position, 1, flag::ACK | last | reduced),
            PacketKind::Ack | PacketKind::Nack => {
                (backward, 1, position, flag::ACK | mark(flag::ECE))
            }
            PacketKind::Syn => (forward, 0, 0, flag::SYN),
            PacketKind::SynAck => (backward, 0, 1, flag::SYN | flag::ACK),
            _ => return Err(MapError::Kind("a packet of TCP")),
        };
        let payload = match packet.kind {
            PacketKind::Data => {
                usize::from(packet.size).saturating_sub(TCP_HEADERS + FCS_LEN).max(1)
            }
            _ => 0,
        };
        let tcp = Tcp {
            src_port: ports.0,
            dst_port: ports.1,
            seq,
            ack,
            flags: bits,
            window: u16::MAX,
            urgent: 0,
            options: Vec::new(),
        };
        Ok(Body::Tcp(ip, tcp, vec![0; payload]))
    }
}

/// What a frame says of the packet it was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeenPacket {
    /// The flow.
    pub flow: FlowId,
    /// The host that receives the flow.
    pub receiver: NodeId,
    /// What the packet is.
    pub kind: PacketKind,
    /// Its priority.
    pub priority: Priority,
    /// Congestion experienced: marked, or echoed by an ACK.
    pub marked: bool,
    /// RoCEv2: the low 24 bits of the packet's `seq`. TCP: the first byte of a data packet, or the
    /// next one expected.
    pub position: u32,
}

/// Reads back what [`PacketFramer`] wrote.
pub fn seen(frame: &Frame) -> Result<SeenPacket, MapError> {
    match &frame.body {
        Body::Roce(ip, udp, roce) => seen_roce(ip, udp, roce),
        Body::Tcp(ip, tcp, payload) => seen_tcp(ip, tcp, payload),
        _ => Err(MapError::Kind("a packet of a flow")),
    }
}

fn priority(ip: &Ipv4) -> Priority {
    Priority::new(ip.dscp >> 3).expect("three bits of a six-bit DSCP")
}

fn seen_roce(ip: &Ipv4, udp: &Udp, roce: &Roce) -> Result<SeenPacket, MapError> {
    let Bth { opcode, psn, dest_qp, becn, .. } = roce.bth;
    let (kind, position) = match (opcode, roce.aeth) {
        (Opcode::CNP, _) => (PacketKind::Cnp, psn),
        (Opcode::ACK, Some(Aeth { syndrome: Syndrome::Ack(_), .. })) => {
            (PacketKind::Ack, psn.wrapping_add(1) & PSN_MASK)
        }
        (Opcode::ACK, _) => (PacketKind::Nack, psn),
        _ => (PacketKind::Data, psn),
    };
    let is_data = kind == PacketKind::Data;
    let (src, dst) = if is_data { (ip.src, ip.dst) } else { (ip.dst, ip.src) };
    let Some(number) = addressing::number_of_queue_pair(udp.src_port, dest_qp) else {
        return Err(MapError::Kind("a queue pair of the simulator"));
    };
    Ok(SeenPacket {
        flow: FlowId::new(addressing::node(src)?, number),
        receiver: addressing::node(dst)?,
        kind,
        priority: priority(ip),
        marked: if is_data { ip.ecn == Ecn::Experienced } else { kind == PacketKind::Ack && becn },
        position,
    })
}

fn seen_tcp(ip: &Ipv4, tcp: &Tcp, payload: &[u8]) -> Result<SeenPacket, MapError> {
    let kind = match tcp.flags & (flag::SYN | flag::ACK) {
        flag::SYN => PacketKind::Syn,
        bits if bits & flag::SYN != 0 => PacketKind::SynAck,
        _ if payload.is_empty() => PacketKind::Ack,
        _ => PacketKind::Data,
    };
    // data go one way only, so what a segment is tells its direction
    let forward = matches!(kind, PacketKind::Data | PacketKind::Syn);
    let (src, dst, src_port, dst_port) = match forward {
        true => (ip.src, ip.dst, tcp.src_port, tcp.dst_port),
        false => (ip.dst, ip.src, tcp.dst_port, tcp.src_port),
    };
    let protocol = ipv4::protocol::TCP;
    let tuple = crate::FiveTuple { src, dst, src_port, dst_port, protocol };
    Ok(SeenPacket {
        flow: addressing::flow(tuple)?,
        receiver: addressing::node(dst)?,
        kind,
        priority: priority(ip),
        marked: match kind {
            PacketKind::Data => ip.ecn == Ecn::Experienced,
            _ => tcp.flags & flag::ECE != 0,
        },
        position: if kind == PacketKind::Data { tcp.seq } else { tcp.ack },
    })
}
