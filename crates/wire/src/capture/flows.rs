//! The flows of a capture: who sent how much to whom, and when.
//!
//! A flow is what has the same 5-tuple and, in RoCEv2, the same destination queue pair. Bytes count
//! once, however often they were sent or seen: by packet sequence numbers (RoCEv2) and sequence
//! numbers (TCP). Lengths come from headers, so a capture may cut payloads off. What was lost
//! before the capture and came later is counted when it comes.

use super::ip::{self, IpPacket};
use super::ranges::Ranges;
use super::reader::{CaptureError, CaptureReader, CapturedPacket};
use crate::ipv4::protocol;
use crate::roce::{self, Aeth, BthView, ICRC_LEN, Opcode, Reth};
use crate::tcp::TcpView;
use crate::udp::{self, UdpView};
use std::collections::BTreeMap;
use std::io::Read;
use std::net::IpAddr;

/// Addresses, ports and protocol of a flow of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowTuple {
    /// The sending host.
    pub src: IpAddr,
    /// The receiving host.
    pub dst: IpAddr,
    /// Port of the sender.
    pub src_port: u16,
    /// Port of the receiver.
    pub dst_port: u16,
    /// 17 for UDP, 6 for TCP.
    pub protocol: u8,
}

/// A flow of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFlow {
    /// Addresses, ports and protocol.
    pub tuple: FlowTuple,
    /// RoCEv2: the destination queue pair.
    pub queue_pair: Option<u32>,
    /// DSCP of its first packet.
    pub dscp: u8,
    /// Payload bytes, each counted once.
    pub bytes: u64,
    /// RoCEv2: bytes that WRITEs announced in their first packets; `None` if the beginning of a
    /// message was not seen, or announced nothing.
    pub announced: Option<u64>,
    /// Packets with payload.
    pub packets: u64,
    /// Packets of these that brought nothing new: sent again, or seen at several interfaces.
    pub repeated: u64,
    /// When the first packet was seen, in nanoseconds.
    pub start_ns: u64,
    /// When the last packet was seen, in nanoseconds.
    pub end_ns: u64,
}

impl CapturedFlow {
    /// The size of the flow: what its WRITEs announced, or else the bytes that were seen.
    pub fn size(&self) -> u64 {
        self.announced.unwrap_or(self.bytes)
    }
}

/// What a capture holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowsFound {
    /// The flows, by start and then by 5-tuple and queue pair.
    pub flows: Vec<CapturedFlow>,
    /// How many frames belong to no flow, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl FlowsFound {
    /// Reads the flows of a capture; a pause of a flow that is longer than `idle_ns` divides it.
    pub fn read(input: impl Read, idle_ns: Option<u64>) -> Result<Self, CaptureError> {
        let mut reader = CaptureReader::new(input)?;
        let mut collector = FlowCollector::new(idle_ns);
        while let Some(packet) = reader.next_packet()? {
            let link_type = reader.interfaces()[packet.interface].link_type;
            collector.packet(link_type, &packet);
        }
        Ok(collector.finish())
    }
}

/// What a frame adds to a flow.
struct FrameFacts {
    tuple: FlowTuple,
    queue_pair: Option<u32>,
    dscp: u8,
    /// Sequence number, and how many bits it has.
    position: (u32, u32),
    /// How many sequence numbers it takes.
    len: u64,
    payload: u64,
    announced: Announced,
}

#[derive(Clone, Copy)]
enum Announced {
    /// A part of a WRITE: the length of the whole if it is the first, and whether it is the last.
    Write { begins: Option<u64>, ends: bool },
    /// Nothing announces this payload.
    Never,
}

struct Collected {
    flow: CapturedFlow,
    seen: Ranges,
    /// The furthest position, with the bits that sequence numbers lose.
    furthest: u64,
    /// First packets of WRITEs, and last ones.
    begun: u64,
    ended: u64,
}

/// Where positions begin, so that earlier ones are not negative.
const ORIGIN: u64 = 1 << 40;

impl Collected {
    fn new(part: &FrameFacts, time_ns: u64) -> Self {
        let announced = match part.announced {
            Announced::Write { begins: Some(_), .. } => Some(0),
            _ => None,
        };
        let flow = CapturedFlow {
            tuple: part.tuple,
            queue_pair: part.queue_pair,
            dscp: part.dscp,
            bytes: 0,
            announced,
            packets: 0,
            repeated: 0,
            start_ns: time_ns,
            end_ns: time_ns,
        };
        let furthest = ORIGIN + u64::from(part.position.0);
        Self { flow, seen: Ranges::default(), furthest, begun: 0, ended: 0 }
    }

    fn add(&mut self, part: &FrameFacts, time_ns: u64) {
        let (position, bits) = part.position;
        // the distance to the furthest position, as a signed number of so many bits
        let distance = position.wrapping_sub(self.furthest as u32) << (32 - bits);
        let distance = i64::from(distance as i32 >> (32 - bits));
        let begin = self.furthest.saturating_add_signed(distance);
        let new = self.seen.insert(begin, begin + part.len);
        self.furthest = self.furthest.max(begin);
        let flow = &mut self.flow;
        flow.packets += 1;
        flow.start_ns = flow.start_ns.min(time_ns);
        flow.end_ns = flow.end_ns.max(time_ns);
        if new == 0 {
            flow.repeated += 1;
            return;
        }
        // a packet of RoCEv2 takes one number, a byte of TCP one
        flow.bytes += if part.len == part.payload { new } else { part.payload };
        flow.announced = match (flow.announced, part.announced) {
            (Some(sum), Announced::Write { begins, ends }) => {
                self.begun += u64::from(begins.is_some());
                self.ended += u64::from(ends);
                Some(sum + begins.unwrap_or(0))
            }
            _ => None,
        };
    }

    fn finish(self) -> CapturedFlow {
        let Self { mut flow, begun, ended, .. } = self;
        // the beginning of a WRITE was not seen: what was announced is not all of it
        flow.announced = flow.announced.filter(|_| ended <= begun);
        flow
    }
}

/// Collects the flows of frames that come in order of time.
pub struct FlowCollector {
    idle_ns: Option<u64>,
    open: BTreeMap<(FlowTuple, Option<u32>), Collected>,
    found: FlowsFound,
}

impl FlowCollector {
    /// Collects flows; a pause of a flow that is longer than `idle_ns` divides it.
    pub fn new(idle_ns: Option<u64>) -> Self {
        Self { idle_ns, open: BTreeMap::new(), found: FlowsFound::default() }
    }

    /// Takes in a frame of an interface with this link type.
    pub fn packet(&mut self, link_type: u16, packet: &CapturedPacket) {
        let whole = packet.original_len as usize;
        let part = match ip::packet(link_type, &packet.bytes, whole).and_then(part) {
            Ok(part) => part,
            Err(reason) => {
                *self.found.skipped.entry(reason).or_default() += 1;
                return;
            }
        };
        let time = packet.time_ns;
        let key = (part.tuple, part.queue_pair);
        if let (Some(idle), Some(open)) = (self.idle_ns, self.open.get(&key))
            && time.saturating_sub(open.flow.end_ns) > idle
        {
            let done = self.open.remove(&key);
            self.found.flows.extend(done.map(Collected::finish));
        }
        self.open.entry(key).or_insert_with(|| Collected::new(&part, time)).add(&part, time);
    }

    /// What was found.
    pub fn finish(self) -> FlowsFound {
        let mut found = self.found;
        found.flows.extend(self.open.into_values().map(Collected::finish));
        found.flows.sort_by_key(|flow| (flow.start_ns, flow.tuple, flow.queue_pair));
        found
    }
}

/// What a packet adds to a flow, or why it belongs to none.
fn part(packet: IpPacket<'_>) -> Result<FrameFacts, &'static str> {
    match packet.protocol {
        protocol::TCP => tcp_part(packet),
        protocol::UDP => roce_part(packet),
        _ => Err("neither TCP nor RoCEv2"),
    }
}

impl IpPacket<'_> {
    fn tuple(&self, src_port: u16, dst_port: u16) -> FlowTuple {
        let Self { src, dst, protocol, .. } = *self;
        FlowTuple { src, dst, src_port, dst_port, protocol }
    }
}

fn tcp_part(ip: IpPacket<'_>) -> Result<FrameFacts, &'static str> {
    let tcp = TcpView::new(ip.payload).map_err(|_| "damaged or cut off")?;
    let payload = ip.len.saturating_sub(tcp.header_len()) as u64;
    if payload == 0 {
        return Err("no payload");
    }
    Ok(FrameFacts {
        tuple: ip.tuple(tcp.src_port(), tcp.dst_port()),
        queue_pair: None,
        dscp: ip.dscp,
        position: (tcp.seq(), 32),
        len: payload,
        payload,
        announced: Announced::Never,
    })
}

fn roce_part(ip: IpPacket<'_>) -> Result<FrameFacts, &'static str> {
    let udp = UdpView::new(ip.payload).map_err(|_| "damaged or cut off")?;
    if udp.dst_port() != roce::PORT {
        return Err("neither TCP nor RoCEv2");
    }
    let bth = BthView::new(udp.payload()).map_err(|_| "damaged or cut off")?;
    let opcode = Opcode::new(bth.opcode()).map_err(|_| "RoCEv2 of another kind")?;
    if !opcode.has_payload() {
        return Err("no payload");
    }
    let lengths = [
        (opcode.has_reth(), Reth::LEN),
        (opcode.has_aeth(), Aeth::LEN),
        (opcode.has_immediate(), 4),
    ];
    let extended: usize = lengths.iter().filter(|(there, _)| *there).map(|(_, len)| len).sum();
    let headers = udp::HEADER_LEN + BthView::LEN + extended + usize::from(bth.pad()) + ICRC_LEN;
    let reth = bth.rest().get(..Reth::LEN).map(Reth::read).filter(|_| opcode.has_reth());
    let len = reth.map(|reth| reth.dma_len).filter(|len| *len != Reth::UNKNOWN);
    let announced = match opcode.is_write() && len.is_some() == opcode.has_reth() {
        true => Announced::Write { begins: len.map(u64::from), ends: opcode.ends_write() },
        false => Announced::Never,
    };
    Ok(FrameFacts {
        tuple: ip.tuple(udp.src_port(), udp.dst_port()),
        queue_pair: Some(bth.dest_qp()),
        dscp: ip.dscp,
        position: (bth.psn(), 24),
        len: 1,
        payload: usize::from(udp.len()).saturating_sub(headers) as u64,
        announced,
    })
}
