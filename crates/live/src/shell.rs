//! What is around one live node: bytes in, bytes out, and no clock.
//!
//! ```text
//!   receive(port, time, bytes)   a frame came in
//!   run(now)                     the node handles everything before now
//!   transmit(now)                a frame that is due: put it on the socket
//!   due()                        when to call again, unless a frame comes in before
//! ```
//!
//! The caller has the clock and the sockets. [`crate::run`] is one for threads and real time; tests
//! drive several shells in one thread with a clock of their own.

use crate::codec::{Codec, Refused};
use crate::foreign::{self, Frames};
use crate::lateness::PortTimes;
use crate::log::Lines;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use weir_core::{FlowId, NodeId, Packet, PacketKind, PortId, Time};
use weir_net::Topology;
use weir_scenario::Experiment;
use weir_sim::config::Config;
use weir_sim::parcel::{Cargo, Parcel};
use weir_sim::stations::{Departure, Station};

/// The flows of a run, with their receivers; `None` where they cannot be listed.
pub type Plan = Option<Arc<HashMap<FlowId, NodeId>>>;

/// The flows of a run, if they can be listed.
pub fn plan(e: &Experiment, seed: u64) -> Plan {
    let flows = e.traffic.all_flows(seed).ok()?;
    Some(Arc::new(flows.iter().map(|flow| (flow.id, flow.dst)).collect()))
}

/// A frame to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// When its last bit is to arrive at the neighbour.
    pub due: Time,
    /// Whether it is a control frame.
    pub control: bool,
    /// Its bytes, without FCS.
    pub bytes: Vec<u8>,
    /// What it is.
    pub parcel: Parcel,
}

/// What a shell has counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Frames of flows given to the node, and sent by it. Between all nodes of a network that has
    /// drained they are the same.
    pub traffic: (u64, u64),
    /// The same for frames of other programs.
    pub foreign: (u64, u64),
    /// Control frames given to the node, and sent by it.
    pub control: (u64, u64),
    /// Frames that were not given to the node, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Packets that have no bytes: these are missing at the neighbour.
    pub lost: u64,
}

/// One node, its codec, and what waits to be sent.
pub struct Shell<'s, 'a> {
    station: &'s mut Station<'a>,
    codec: Codec,
    frames: Frames,
    plan: Plan,
    is_host: bool,
    /// The nodes at the other ends of the links, and whether they are hosts.
    peers: Vec<(NodeId, bool)>,
    hosts: Vec<bool>,
    pending: Vec<VecDeque<Outgoing>>,
    /// The last arrival at each port, and its stamp.
    last: Vec<(Time, Option<Time>)>,
    /// What was measured, by port.
    pub times: Vec<PortTimes>,
    /// What was counted.
    pub counts: Counts,
    /// What the node was given and answered, if that is wanted.
    pub log: Option<Lines>,
}

/// Why a frame is refused that a host sends in the name of another.
const SPOOFED: &str = "from another host than its addresses say";
/// A gap is one between frames that follow each other if it is shorter than this many frame times.
const CLOSE: u64 = 4;

impl<'s, 'a> Shell<'s, 'a> {
    /// The shell of a station.
    pub fn new(
        station: &'s mut Station<'a>,
        topology: &Topology,
        config: &Config,
        plan: Plan,
        logged: bool,
    ) -> Self {
        let node = station.node();
        let ports = topology.ports(node);
        let all = (0..topology.nodes().len()).map(NodeId::from_index);
        Self {
            codec: Codec::new(topology, config),
            frames: Frames::default(),
            plan,
            is_host: topology.is_host(node),
            peers: ports.iter().map(|end| (end.peer, topology.is_host(end.peer))).collect(),
            hosts: all.map(|n| topology.is_host(n)).collect(),
            pending: ports.iter().map(|_| VecDeque::new()).collect(),
            last: vec![(Time::ZERO, None); ports.len()],
            times: ports.iter().map(|_| PortTimes::default()).collect(),
            counts: Counts::default(),
            log: logged.then(|| Lines::new(config)),
            station,
        }
    }

    /// The node.
    pub fn node(&self) -> NodeId {
        self.station.node()
    }

    /// It has handled everything before.
    pub fn now(&self) -> Time {
        self.station.now()
    }

    /// Whether nothing is left to send, inside or outside of the node, but control frames.
    pub fn is_drained(&self) -> bool {
        self.station.is_drained() && self.pending.iter().flatten().all(|out| out.control)
    }

    /// Whether no packet moves here, or will by itself.
    pub fn is_still(&self) -> bool {
        self.station.is_still() && self.pending.iter().flatten().all(|out| out.control)
    }

    /// Whether every flow here has begun and ended and all its packets have left: what the node
    /// reports of its work.
    pub fn work(&self) -> (u64, u64) {
        self.station.work()
    }

    /// A frame came in by `port` at `at`, with the tag that the kernel took off it. If the node has
    /// run beyond that time already, the frame is taken as if it came now. Frames that are not for
    /// the node are counted.
    pub fn receive(&mut self, port: PortId, at: Time, bytes: &[u8], vlan: Option<u16>) {
        let earliest = self.station.now().max(self.last[port.index()].0);
        let arrival = at.max(earliest);
        let parcel = match self.sort(port, bytes, vlan) {
            Ok((stamp, parcel)) => {
                self.measure(port, at, arrival, stamp, parcel.packet.size);
                parcel
            }
            Err(why) => {
                *self.counts.refused.entry(why).or_default() += 1;
                return;
            }
        };
        match parcel.packet.kind {
            PacketKind::Control => self.counts.control.0 += 1,
            _ if foreign::is_foreign(parcel.packet.flow) => self.counts.foreign.0 += 1,
            _ => self.counts.traffic.0 += 1,
        }
        self.give(port, arrival, parcel);
    }

    /// What is on its way when a run ends arrives, but is not handled.
    pub fn give(&mut self, port: PortId, at: Time, parcel: Parcel) {
        if let Some(log) = &mut self.log {
            log.given(self.station.node(), port, at, &parcel);
        }
        self.station.arrive(port, at.max(self.station.now()), parcel);
    }

    /// What a frame is, or why it is refused.
    fn sort(
        &mut self,
        port: PortId,
        bytes: &[u8],
        vlan: Option<u16>,
    ) -> Result<(Option<Time>, Parcel), String> {
        let (peer, peer_is_host) = self.peers[port.index()];
        match self.codec.decode(bytes) {
            Ok((stamp, parcel)) => {
                if parcel.packet.kind != PacketKind::Control {
                    self.check(&parcel.packet, peer, peer_is_host)?;
                }
                Ok((stamp, parcel))
            }
            Err(Refused::Lie(why)) => Err(why.to_owned()),
            Err(_) if self.is_host => Err("not of this network".to_owned()),
            Err(why) => {
                // a frame that another program has made, from its host or through another switch
                let claimed = source(bytes);
                let hosts = &self.hosts;
                let is_host = |n: NodeId| hosts.get(n.index()).copied().unwrap_or(false);
                let from = if peer_is_host { Some(peer) } else { claimed };
                let from = from.filter(|&n| is_host(n));
                let of_mac = !matches!(why, Refused::Wire(_)) || is_unicast_of_ours(bytes);
                if of_mac && peer_is_host && claimed.is_some_and(|claimed| claimed != peer) {
                    return Err(SPOOFED.into());
                }
                let packet = from
                    .filter(|_| of_mac)
                    .and_then(|from| self.frames.packet(from, bytes, vlan, is_host));
                let packet = packet.ok_or_else(|| reason(&why))?;
                Ok((None, Parcel::new(packet, Cargo::None)))
            }
        }
    }

    /// Refuses packets that claim to be of a flow that there is not, or that come from elsewhere.
    fn check(&self, packet: &Packet, peer: NodeId, peer_is_host: bool) -> Result<(), String> {
        let forward = matches!(packet.kind, PacketKind::Data | PacketKind::Syn);
        let pair = packet.flow.number() >= 1 << 31;
        let receiver = match &self.plan {
            Some(plan) if !pair => match plan.get(&packet.flow) {
                Some(&receiver) => Some(receiver),
                None => return Err("of a flow that the scenario does not have".into()),
            },
            _ => None,
        };
        if forward && receiver.is_some_and(|receiver| receiver != packet.dst) {
            return Err("to another host than its flow".into());
        }
        let sender = if forward { Some(packet.flow.source()) } else { receiver };
        if peer_is_host && sender.is_some_and(|sender| sender != peer) {
            return Err(SPOOFED.into());
        }
        if self.is_host && packet.dst != self.station.node() {
            return Err("for another host".into());
        }
        Ok(())
    }

    fn measure(&mut self, port: PortId, at: Time, arrival: Time, stamp: Option<Time>, size: u16) {
        let times = &mut self.times[port.index()];
        if arrival > at {
            times.moved.add(arrival - at);
        }
        let (before, stamped) = std::mem::replace(&mut self.last[port.index()], (arrival, stamp));
        let Some(stamp) = stamp else { return };
        times.hop.add(arrival.saturating_sub(stamp));
        let Some(stamped) = stamped else { return };
        let expected = stamp.saturating_sub(stamped);
        // 100 Gb/s and more: 80 ps per byte
        if expected.as_ps() < CLOSE * u64::from(size) * 80 {
            times.gap.add(arrival.saturating_sub(before));
            times.gap_expected.add(expected);
        }
    }

    /// Lets the node handle everything before `now`.
    pub fn run(&mut self, now: Time) {
        if now <= self.station.now() {
            return;
        }
        self.station.run(now);
        let node = self.station.node();
        for Departure { port, arrival, parcel } in self.station.departures() {
            if let Some(log) = &mut self.log {
                log.answered(node, port, arrival, &parcel);
            }
            let control = parcel.packet.kind == PacketKind::Control;
            let bytes = match parcel.packet.flow {
                flow if !control && foreign::is_foreign(flow) => self.take_foreign(&parcel.packet),
                _ => self.codec.encode((node, port), arrival, &parcel).ok(),
            };
            let Some(bytes) = bytes else {
                self.counts.lost += 1;
                continue;
            };
            let out = Outgoing { due: arrival, control, bytes, parcel };
            self.pending[port.index()].push_back(out);
        }
    }

    /// The bytes of a frame of another program, marked if the switch has marked the packet.
    fn take_foreign(&mut self, packet: &Packet) -> Option<Vec<u8>> {
        let mut bytes = self.frames.take(packet.seq)?;
        if packet.has(weir_core::packet::flags::CE) {
            mark(&mut bytes);
        }
        Some(bytes)
    }

    /// Takes a frame that is due at `now`, and its port.
    pub fn transmit(&mut self, now: Time) -> Option<(PortId, Outgoing)> {
        let heads = self.pending.iter().enumerate();
        let heads = heads.filter_map(|(port, queue)| Some((queue.front()?.due, port)));
        let (due, port) = heads.min()?;
        if due > now {
            return None;
        }
        let out = self.pending[port].pop_front()?;
        match out.parcel.packet.kind {
            PacketKind::Control => self.counts.control.1 += 1,
            _ if foreign::is_foreign(out.parcel.packet.flow) => self.counts.foreign.1 += 1,
            _ => self.counts.traffic.1 += 1,
        }
        Some((PortId::from_index(port), out))
    }

    /// Takes everything that waits to be sent, at the end of a run.
    pub fn unsent(&mut self) -> Vec<(PortId, Outgoing)> {
        let queues = self.pending.iter_mut().enumerate();
        queues.flat_map(|(p, q)| q.drain(..).map(move |o| (PortId::from_index(p), o))).collect()
    }

    /// When the next frame is to be sent or the node has something to do.
    pub fn due(&self) -> Time {
        let heads = self.pending.iter().filter_map(|queue| Some(queue.front()?.due));
        heads.min().unwrap_or(Time::NEVER).min(self.station.next())
    }
}

/// The node that a source address belongs to.
fn source(bytes: &[u8]) -> Option<NodeId> {
    let mac = bytes.get(6..12)?.first_chunk::<6>()?;
    Some(weir_wire::addressing::port(weir_wire::MacAddress(*mac))?.0)
}

/// Whether a frame goes to an address of a node: broken control frames do not.
fn is_unicast_of_ours(bytes: &[u8]) -> bool {
    bytes
        .first_chunk::<6>()
        .is_some_and(|mac| weir_wire::addressing::port(weir_wire::MacAddress(*mac)).is_some())
}

/// Few words for a frame that was refused: reasons are counted, so they must not have numbers.
pub fn reason(why: &Refused) -> String {
    use weir_wire::WireError;
    match why {
        Refused::Wire(WireError::Short { what, .. }) => format!("too short for {what}"),
        Refused::Wire(WireError::Opcode { what, .. }) => format!("unknown: {what}"),
        Refused::Wire(WireError::Checksum { what, .. }) => format!("wrong: {what}"),
        Refused::Wire(_) => "malformed".into(),
        Refused::Map(_) | Refused::NoTrailer => "to no host of this network".into(),
        Refused::Lie(why) => (*why).into(),
    }
}

/// Sets congestion experienced in an IPv4 header that is ECN-capable.
fn mark(bytes: &mut [u8]) {
    let Some(ip) = bytes.get_mut(14..34) else { return };
    if ip[0] != 0x45 || ip[1] & 3 == 0 || ip[1] & 3 == 3 {
        return;
    }
    ip[1] |= 3;
    ip[10..12].fill(0);
    let words = ip.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
}
