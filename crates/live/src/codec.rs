//! Parcels as frames and back.
//!
//! A control frame is the bytes of `weir-wire` and nothing else. A packet of a flow is its RoCEv2
//! or TCP frame, followed by a trailer behind the end of the IP packet, which other programs
//! ignore. The trailer has what headers have no room for:
//!
//! | bytes | field |
//! |---|---|
//! | 8 | when the frame is to arrive, in picoseconds of scenario time |
//! | 4 | sequence number, of which the headers have 24 bits or count bytes |
//! | 4 | tag of the scheme for the next hop |
//! | 2 | size in the scenario |
//! | 1 | flags |
//! | n | telemetry and what transports add, if any |
//! | 2 | length of all before |
//! | 4 | `WEIR` |

use std::collections::HashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use thiserror::Error;
use weir_cc::{IntHop, MAX_HOPS};
use weir_core::packet::flags;
use weir_core::{FlowId, NodeId, Packet, PacketKind, PortId, Rate, Reason, Time};
use weir_net::Topology;
use weir_sim::config::{Config, Reliability};
use weir_sim::parcel::{Cargo, MessageEnd, Notes, Parcel};
use weir_wire::addressing::{self, FlowDirectory, MapError, Transport};
use weir_wire::packet::{PacketFramer, seen};
use weir_wire::{Frame, WireError, control};

/// What ends a trailer.
const MAGIC: &[u8; 4] = b"WEIR";
/// The fields of a trailer that are always there.
const FIXED: usize = 19;
/// Length and magic.
const TAIL: usize = 6;

/// Why a frame is not for the node.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// The bytes are no frame that this program knows.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Nothing of the simulator.
    #[error("{0}")]
    Map(MapError),
    /// A frame of a flow without a trailer: another program has made it.
    #[error("the frame has no trailer")]
    NoTrailer,
    /// Trailer and headers contradict each other, or the network.
    #[error("the frame is not one of this network: {0}")]
    Lie(&'static str),
}

impl From<MapError> for Refused {
    fn from(error: MapError) -> Self {
        match error {
            MapError::Wire(error) => Self::Wire(error),
            error => Self::Map(error),
        }
    }
}

/// Receivers of flows, learnt from the frames that a node sees. Bounded: the oldest are forgotten.
#[derive(Debug, Default)]
struct Directory {
    receivers: HashMap<FlowId, NodeId>,
    order: VecDeque<FlowId>,
    tcp: bool,
}

/// So many flows a node remembers the receivers of.
const REMEMBERED: usize = 1 << 16;

impl Directory {
    fn learn(&mut self, flow: FlowId, receiver: NodeId) {
        if let Entry::Vacant(new) = self.receivers.entry(flow) {
            new.insert(receiver);
            self.order.push_back(flow);
            if self.order.len() > REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.receivers.remove(&oldest);
            }
        }
    }
}

impl FlowDirectory for Directory {
    fn destination(&self, flow: FlowId) -> Option<NodeId> {
        self.receivers.get(&flow).copied()
    }

    fn transport(&self, _: FlowId) -> Transport {
        if self.tcp { Transport::Tcp } else { Transport::Roce }
    }
}

/// Puts the parcels of one node into bytes, and reads those of its neighbours.
#[derive(Debug)]
pub struct Codec {
    directory: Directory,
    full_frame: u16,
    /// Whether each node is a host.
    hosts: Vec<bool>,
}

impl Codec {
    /// For the nodes of a run.
    pub fn new(topology: &Topology, config: &Config) -> Self {
        let tcp = config.nic.reliability == Reliability::Tcp;
        let ids = (0..topology.nodes().len()).map(NodeId::from_index);
        Self {
            directory: Directory { tcp, ..Directory::default() },
            full_frame: config.nic.max_frame().get().min(u64::from(u16::MAX)) as u16,
            hosts: ids.map(|n| topology.is_host(n)).collect(),
        }
    }

    fn is_host(&self, node: NodeId) -> bool {
        self.hosts.get(node.index()).copied().unwrap_or(false)
    }

    /// The bytes of what leaves by a port, without FCS, to arrive at `arrival`.
    pub fn encode(
        &mut self,
        from: (NodeId, PortId),
        arrival: Time,
        parcel: &Parcel,
    ) -> Result<Vec<u8>, MapError> {
        if let Cargo::Message(message, _) = &parcel.cargo {
            let source = addressing::mac(from.0, from.1)?;
            return Ok(control::frame(message, source, &self.directory)?.emit()?);
        }
        let packet = &parcel.packet;
        if matches!(packet.kind, PacketKind::Data | PacketKind::Syn) {
            self.directory.learn(packet.flow, packet.dst);
        }
        let mut bytes = PacketFramer::new(&self.directory, self.full_frame).bytes(packet)?;
        trailer(arrival, parcel, &mut bytes);
        Ok(bytes)
    }

    /// What a frame is, and when it was to arrive, if it says so.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<(Option<Time>, Parcel), Refused> {
        let frame = Frame::parse(bytes)?;
        match control::message(&frame) {
            Ok(message) => {
                self.check_flows(&message)?;
                return Ok((None, Parcel::control(message, RECEIVED)));
            }
            Err(MapError::Kind(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let seen = seen(&frame)?;
        let (arrival, stated, cargo) = read_trailer(bytes).ok_or(Refused::NoTrailer)??;
        let forward = matches!(seen.kind, PacketKind::Data | PacketKind::Syn);
        let dst = if forward { seen.receiver } else { seen.flow.source() };
        if !self.is_host(seen.flow.source()) || !self.is_host(seen.receiver) {
            return Err(Refused::Lie("its hosts are not of this network"));
        }
        if !self.directory.tcp
            && seen.kind != PacketKind::Cnp
            && seen.position != stated.seq & 0xff_ffff
        {
            return Err(Refused::Lie("its sequence number is not that of its headers"));
        }
        if usize::from(stated.size) > bytes.len() + 4 || stated.size == 0 {
            return Err(Refused::Lie("its size is not that of its bytes"));
        }
        self.directory.learn(seen.flow, seen.receiver);
        let marked = if seen.marked { flags::CE } else { 0 };
        // without a field for it in TCP, only data tell a NACK from an ACK by their trailer
        let kind = match (seen.kind, stated.nack) {
            (PacketKind::Ack, true) => PacketKind::Nack,
            (kind, _) => kind,
        };
        let packet = Packet {
            flow: seen.flow,
            seq: stated.seq,
            dst,
            wire_tag: stated.tag,
            extra: Packet::NO_EXTRA,
            size: stated.size,
            ingress: PortId(0),
            kind,
            priority: seen.priority,
            flags: stated.flags & !flags::CE | marked,
            local_tag: 0,
        };
        Ok((Some(arrival), Parcel::new(packet, cargo)))
    }

    /// Messages name hosts of the network only.
    fn check_flows(&self, message: &weir_core::ControlMessage) -> Result<(), Refused> {
        let known = message.named_flows().iter().all(|(.., name)| {
            self.is_host(name.src) && name.dst.is_none_or(|dst| self.is_host(dst))
        });
        if known {
            Ok(())
        } else {
            Err(Refused::Lie("it names hosts that are not of this network"))
        }
    }
}

/// The reason of a message takes no bytes on the wire.
pub const RECEIVED: Reason = Reason::Words("received");

/// What a trailer states beside the arrival and what the packet carries.
struct Stated {
    seq: u32,
    tag: u32,
    size: u16,
    flags: u8,
    nack: bool,
}

fn trailer(arrival: Time, parcel: &Parcel, out: &mut Vec<u8>) {
    let start = out.len();
    let packet = &parcel.packet;
    out.extend(arrival.as_ps().to_be_bytes());
    out.extend(packet.seq.to_be_bytes());
    out.extend(packet.wire_tag.to_be_bytes());
    out.extend(packet.size.to_be_bytes());
    out.push(packet.flags);
    if let Cargo::Notes(notes) = &parcel.cargo {
        write_notes(notes, out);
    } else if packet.kind == PacketKind::Nack {
        out.push(NACK);
    }
    if packet.kind == PacketKind::Nack && matches!(parcel.cargo, Cargo::Notes(_)) {
        out[start + FIXED] |= NACK;
    }
    let len = (out.len() - start) as u16;
    out.extend(len.to_be_bytes());
    out.extend(MAGIC);
}

/// Bits of the first byte of what a packet carries.
const CARRIES: u8 = 1;
const TOO_MANY: u8 = 2;
const ANSWERS: u8 = 4;
const ENDS: u8 = 8;
const NACK: u8 = 16;

fn write_notes(notes: &Notes, out: &mut Vec<u8>) {
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    out.push(
        CARRIES
            | bit(notes.too_many, TOO_MANY)
            | bit(notes.answers.is_some(), ANSWERS)
            | bit(notes.ends.is_some(), ENDS),
    );
    if let Some(seq) = notes.answers {
        out.extend(seq.to_be_bytes());
    }
    if let Some(MessageEnd { job, from, to, tag }) = notes.ends {
        [job, from, to].iter().for_each(|n| out.extend(n.to_be_bytes()));
        out.extend(tag.to_be_bytes());
    }
    for hop in &notes.hops {
        for number in [hop.time.as_ps(), hop.tx_bytes, hop.queue, hop.rate.as_bps()] {
            out.extend(number.to_be_bytes());
        }
        out.extend(hop.port.to_be_bytes());
    }
}

/// Takes numbers off the front of bytes.
struct Taker<'a>(&'a [u8]);

impl Taker<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        Some(self.take::<1>()?[0])
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take()?))
    }
}

/// The trailer of a frame, if it has one.
fn read_trailer(bytes: &[u8]) -> Option<Result<(Time, Stated, Cargo), Refused>> {
    let rest = bytes.strip_suffix(MAGIC)?;
    let (rest, len) = rest.split_last_chunk::<2>()?;
    let len = usize::from(u16::from_be_bytes(*len));
    let start = rest.len().checked_sub(len)?;
    if len < FIXED || start + len + TAIL != bytes.len() {
        return None;
    }
    let fields = &rest[start..];
    Some(read_fields(Taker(fields)).ok_or(Refused::Lie("its trailer is cut off")))
}

fn read_fields(mut from: Taker<'_>) -> Option<(Time, Stated, Cargo)> {
    let arrival = Time::from_ps(from.u64()?);
    let (seq, tag, size, flags) = (from.u32()?, from.u32()?, from.u16()?, from.u8()?);
    let mut stated = Stated { seq, tag, size, flags, nack: false };
    if from.0.is_empty() {
        return Some((arrival, stated, Cargo::None));
    }
    let bits = from.u8()?;
    stated.nack = bits & NACK != 0;
    if bits & CARRIES == 0 {
        return from.0.is_empty().then_some((arrival, stated, Cargo::None));
    }
    let mut notes = Notes { too_many: bits & TOO_MANY != 0, ..Notes::default() };
    if bits & ANSWERS != 0 {
        notes.answers = Some(from.u32()?);
    }
    if bits & ENDS != 0 {
        let (job, sender, to) = (from.u32()?, from.u32()?, from.u32()?);
        notes.ends = Some(MessageEnd { job, from: sender, to, tag: from.u64()? });
    }
    while !from.0.is_empty() {
        let [time, tx_bytes, queue, rate] = [from.u64()?, from.u64()?, from.u64()?, from.u64()?];
        let rate = Rate::from_bps(rate);
        let port = from.u32()?;
        notes.hops.push(IntHop { time: Time::from_ps(time), tx_bytes, queue, rate, port });
        if notes.hops.len() > MAX_HOPS {
            return None;
        }
    }
    Some((arrival, stated, Cargo::Notes(Box::new(notes))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_core::{ControlMessage, Priority};
    use weir_net::build::star;

    fn codec() -> Codec {
        let params = star::Params { hosts: 3, ..star::Params::default() };
        let topology = star::build(&params).expect("a star");
        let config = Config::new(weir_fc::scheme("pfc").expect("a scheme"));
        Codec::new(&topology, &config)
    }

    fn packet(kind: PacketKind, seq: u32) -> Packet {
        Packet {
            flow: FlowId::new(NodeId(0), 5),
            seq,
            dst: if kind == PacketKind::Data { NodeId(2) } else { NodeId(0) },
            wire_tag: 77,
            extra: Packet::NO_EXTRA,
            size: if kind == PacketKind::Data { 1048 } else { 64 },
            ingress: PortId(0),
            kind,
            priority: Priority::ALL[3],
            flags: if kind == PacketKind::Data { flags::FIRST | flags::CE } else { 0 },
            local_tag: 0,
        }
    }

    #[test]
    fn a_packet_comes_back_with_all_that_it_carries() {
        let hop = IntHop {
            time: Time::from_ns(7),
            tx_bytes: 1 << 40,
            queue: 9,
            rate: Rate::from_gbps(100),
            port: 3,
        };
        let end = MessageEnd { job: 1, from: 2, to: 3, tag: 1 << 60 };
        let notes =
            Notes { hops: vec![hop; 2], too_many: false, answers: Some(4), ends: Some(end) };
        let mut codec = codec();
        let at = Time::from_us(12);
        // beyond 2^24 the headers have only the low bits
        for seq in [1, 0xff_ffff, 0x1ff_ffff] {
            for kind in [PacketKind::Data, PacketKind::Ack, PacketKind::Nack] {
                for cargo in [Cargo::None, Cargo::Notes(Box::new(notes.clone()))] {
                    let parcel = Parcel::new(packet(kind, seq), cargo);
                    let bytes = codec.encode((NodeId(0), PortId(0)), at, &parcel).expect("bytes");
                    assert_eq!(codec.decode(&bytes), Ok((Some(at), parcel)));
                }
            }
        }
    }

    #[test]
    fn a_pause_frame_is_the_bytes_of_the_standard_and_no_more() {
        let message = ControlMessage::pfc(Priority::ALL[3], 0xffff);
        let parcel = Parcel::control(message, RECEIVED);
        let bytes = codec().encode((NodeId(3), PortId(1)), Time::ZERO, &parcel).expect("bytes");
        // 802.1Qbb: destination 01-80-C2-00-00-01, type 0x8808, opcode 0x0101, enable vector with
        // bit 3, eight times; 60 bytes without FCS
        let mut expected = vec![1, 0x80, 0xc2, 0, 0, 1, 2, 0, 1, 0, 0, 3, 0x88, 8, 1, 1, 0, 8];
        expected.extend([0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        expected.resize(60, 0);
        assert_eq!(bytes, expected);
        assert_eq!(codec().decode(&bytes), Ok((None, parcel)));
    }

    #[test]
    fn what_contradicts_the_headers_or_the_network_is_refused() {
        let mut codec = codec();
        let parcel = Parcel::new(packet(PacketKind::Data, 9), Cargo::None);
        let from = (NodeId(0), PortId(0));
        let bytes = codec.encode(from, Time::ZERO, &parcel).expect("bytes");
        assert_eq!(codec.decode(&bytes[..bytes.len() - 1]), Err(Refused::NoTrailer));
        let seq = bytes.len() - TAIL - FIXED + 8 + 3;
        let mut other = bytes.clone();
        other[seq] ^= 1;
        assert!(matches!(codec.decode(&other), Err(Refused::Lie(_))));
        let foreign = Packet { dst: NodeId(9), ..parcel.packet };
        let foreign = Parcel::new(foreign, Cargo::None);
        let bytes = codec.encode(from, Time::ZERO, &foreign).expect("bytes");
        assert!(matches!(codec.decode(&bytes), Err(Refused::Lie(_))));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            base in 0usize..3, cut in 0usize..1200,
            changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..9),
        ) {
            let mut codec = codec();
            let parcel = match base {
                0 => Parcel::new(packet(PacketKind::Data, 9), Cargo::None),
                1 => Parcel::new(packet(PacketKind::Ack, 9), Cargo::None),
                _ => Parcel::control(ControlMessage::pfc(Priority::ALL[1], 7), RECEIVED),
            };
            codec.directory.learn(FlowId::new(NodeId(0), 5), NodeId(2));
            let sent = codec.encode((NodeId(0), PortId(0)), Time::ZERO, &parcel);
            let mut bytes = sent.expect("bytes");
            for (at, value) in changes {
                let at = at % bytes.len();
                bytes[at] = value;
            }
            bytes.truncate(cut);
            let _ = codec.decode(&bytes);
        }
    }
}
