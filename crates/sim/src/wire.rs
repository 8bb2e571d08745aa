//! Wires: what is in flight between nodes.
//!
//! A wire is one direction of a link: a FIFO of (arrival time, packet). Arrivals on one wire
//! are in time order because one transmitter feeds it and its delay is constant. Nodes
//! interact through wires only, and never in less than the wire's delay. A packet that crosses
//! from one thread's part of the network to another's is [mail](crate::mail) until threads meet.

use crate::agenda::Agenda;
use crate::chain::{Chain, Store, Taken};
use crate::extras::Extras;
use crate::mail::{Crossing, Mail};
use crate::parcel::Parcel;
use crate::tree::Tournament;
use std::sync::Arc;
use weir_core::prefetch::prefetch;
use weir_core::{NodeId, Packet, PacketKind, PortId, Time};
use weir_net::Topology;

/// Index of a wire. The wires into a node are consecutive: `first + port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WireId(pub(crate) u32);

/// The number of every wire of a network.
#[derive(Clone, Debug)]
pub(crate) struct WireNumbers {
    /// First wire into each node.
    first: Arc<[u32]>,
}

impl WireNumbers {
    /// Numbers wires part by part and node by node, so that those that end in one part of the
    /// network stand together.
    pub(crate) fn new(topology: &Topology, parts: &[Vec<NodeId>]) -> Self {
        let mut first = vec![0; topology.nodes().len()];
        let mut wires = 0;
        for node in parts.iter().flatten() {
            first[node.index()] = wires;
            wires += topology.ports(*node).len() as u32;
        }
        Self { first: first.into() }
    }

    /// The wire into `port` of `node`.
    pub(crate) fn at_port(&self, node: NodeId, port: usize) -> WireId {
        WireId(self.first[node.index()] + port as u32)
    }
}

/// See [`NO_LINK`](crate::chain::NO_LINK).
const NO_WIRE: &str = "wires are of this network";

/// One wire: what is in flight, and where it ends. The fields that a transmission reads and writes
/// share a cache line.
#[derive(Debug)]
struct Wire {
    /// Packets in flight; empty if the wire ends in another part.
    packets: Chain,
    node: NodeId,
    port: PortId,
    /// The part of the node at its end.
    part: u16,
}

/// For how many links per wire there is room from the start: enough for a microsecond of full
/// frames at 100 Gb/s, and as much again.
const LINKS_PER_WIRE: usize = 4;
/// For how many links there is room at most: 0.7 GB.
const MOST_ROOM: usize = 1 << 21;

/// All wires of the network, as one part of it sees them: only wires that end in this part hold
/// packets.
#[derive(Debug)]
pub(crate) struct Wires {
    /// Which part.
    me: u16,
    /// All wires of the network.
    wires: Vec<Wire>,
    /// How many of them end here.
    own: usize,
    /// Packets in flight, with their times of arrival.
    flights: Store,
    /// First wire into each node of the network.
    first: Arc<[u32]>,
    /// When each node of this part has something to do next, wires included.
    pub(crate) agenda: Agenda,
    /// One bit per port: its wire was empty when the node last looked and holds a packet now. The
    /// words of a node start at `fresh_start`.
    fresh: Vec<u64>,
    fresh_start: Vec<u32>,
    /// Packets for other parts, handed over when threads meet.
    outboxes: Vec<Mail>,
    pub(crate) extras: Extras,
}

impl Wires {
    /// The wires as part number `part` of these knows them.
    pub(crate) fn new(
        topology: &Topology,
        parts: &[Vec<NodeId>],
        numbers: &WireNumbers,
        part: usize,
    ) -> Self {
        let all = topology.nodes().len();
        let mut wires = Self {
            me: part as u16,
            wires: Vec::new(),
            own: 0,
            flights: Store::default(),
            first: Arc::clone(&numbers.first),
            agenda: Agenda::new(all),
            fresh: Vec::new(),
            fresh_start: vec![0; all],
            outboxes: parts.iter().map(|_| Mail::default()).collect(),
            extras: Extras::default(),
        };
        for (p, nodes) in parts.iter().enumerate() {
            for &node in nodes {
                let n = topology.ports(node).len();
                wires.own += if p == part { n } else { 0 };
                wires.fresh_start[node.index()] = wires.fresh.len() as u32;
                wires.fresh.resize(wires.fresh.len() + n.div_ceil(64), 0);
                for port in (0..n).map(PortId::from_index) {
                    let packets = Chain::default();
                    wires.wires.push(Wire { packets, node, port, part: p as u16 });
                }
            }
        }
        wires.flights = Store::with_room((wires.own * LINKS_PER_WIRE).min(MOST_ROOM));
        wires
    }

    /// How many wires end in this part.
    pub(crate) fn count(&self) -> usize {
        self.own
    }

    /// Puts a packet on a wire, with the ingress port of the far end and without this node's local
    /// tag.
    #[inline(always)]
    pub(crate) fn send(&mut self, id: WireId, arrival: Time, packet: &Packet) {
        let wire = self.wires.get_mut(id.0 as usize).expect(NO_WIRE);
        if wire.packets.is_empty() {
            if wire.part != self.me {
                self.cross(id, arrival, *packet);
                return;
            }
            let word = self.fresh_start[wire.node.index()] as usize + wire.port.index() / 64;
            self.fresh[word] |= 1 << (wire.port.index() % 64);
            self.agenda.bring_forward(wire.node, arrival);
        }
        let packet = self.flights.push(&mut wire.packets, arrival, packet);
        packet.ingress = wire.port;
        packet.local_tag = 0;
    }

    /// Keeps a packet for another part until threads meet.
    #[inline(never)]
    fn cross(&mut self, wire: WireId, arrival: Time, packet: Packet) {
        let to = self.wires[wire.0 as usize].part;
        self.outboxes[usize::from(to)].post(wire, arrival, packet, &mut self.extras);
    }

    /// Hands over what was kept for part `to` and takes the emptied buffer of the last time in
    /// exchange; returns when the first packet of it arrives.
    pub(crate) fn hand_over(&mut self, to: usize, mail: &mut Mail) -> Time {
        std::mem::swap(&mut self.outboxes[to], mail);
        mail.first()
    }

    /// Puts on the wires what another part has handed over.
    pub(crate) fn take_over(&mut self, mail: &mut Mail) {
        for Crossing { wire, arrival, packet } in mail.unpack(&mut self.extras) {
            self.send(wire, arrival, &packet);
        }
    }

    /// Puts what comes from outside on the wire into `port` of `node`, which is of this part.
    pub(crate) fn deliver(&mut self, (node, port): (NodeId, PortId), at: Time, parcel: Parcel) {
        let wire = WireId(self.first[node.index()] + u32::from(port.0));
        let packet = parcel.unpack(&mut self.extras);
        self.send(wire, at, &packet);
    }

    /// Takes what was sent to part `to`, with the far ends of the wires and the arrival times.
    pub(crate) fn sent_to(
        &mut self,
        to: usize,
    ) -> impl Iterator<Item = ((NodeId, PortId), Time, Parcel)> {
        let wires = &self.wires;
        self.outboxes[to].parcels().map(|(wire, at, parcel)| {
            let wire = &wires[wire.0 as usize];
            ((wire.node, wire.port), at, parcel)
        })
    }

    /// Prefetches the wires into a node.
    pub(crate) fn prefetch(&self, node: NodeId, ports: usize) {
        prefetch(self.wires_into(node, ports));
        if let Some(word) = self.fresh.get(self.fresh_start[node.index()] as usize) {
            prefetch(word);
        }
    }

    /// Prefetches what is on the wires into a node.
    pub(crate) fn prefetch_packets(&self, node: NodeId, ports: usize) {
        for wire in self.wires_into(node, ports) {
            self.flights.prefetch(&wire.packets);
        }
    }

    /// Prefetches a wire out of a node.
    pub(crate) fn prefetch_way(&self, wire: WireId) {
        prefetch(&self.wires[wire.0 as usize]);
    }

    /// Prefetches the place where the next packet on a wire will be written.
    pub(crate) fn prefetch_end(&self, wire: WireId) {
        self.flights.prefetch_end(&self.wires[wire.0 as usize].packets);
    }

    fn wires_into(&self, node: NodeId, ports: usize) -> &[Wire] {
        let first = self.first[node.index()] as usize;
        &self.wires[first..first + ports]
    }

    /// When the head of a wire arrives.
    #[cfg(test)]
    pub(crate) fn head(&self, wire: WireId) -> Time {
        let packets = &self.wires[wire.0 as usize].packets;
        self.flights.front(packets).map_or(Time::NEVER, |(arrival, _)| arrival)
    }

    /// Brings `inbox` up to date with the wires into `node` that were empty before.
    #[inline]
    pub(crate) fn open(&mut self, node: NodeId, ports: usize, inbox: &mut Inbox) {
        let start = self.fresh_start[node.index()] as usize;
        inbox.first = self.first[node.index()];
        for i in 0..ports.div_ceil(64) {
            let bits = std::mem::take(&mut self.fresh[start + i]);
            if bits != 0 {
                self.open_fresh(i * 64, bits, inbox);
            }
        }
    }

    /// [`Wires::open`] for the wires of these ports, counted from `first`.
    #[inline(never)]
    fn open_fresh(&self, first: usize, mut bits: u64, inbox: &mut Inbox) {
        while bits != 0 {
            let port = first + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let head = self.flights.front(&self.wires[inbox.first as usize + port].packets);
            inbox.heads.set(port, head.map_or(Time::NEVER, |(arrival, _)| arrival));
        }
    }

    /// The earliest packet of an inbox, which must have one, and the port it comes by.
    #[inline(always)]
    pub(crate) fn take(&mut self, inbox: &mut Inbox) -> (usize, &Packet) {
        let port = inbox.heads.winner();
        let wire = self.wires.get_mut(inbox.first as usize + port).expect(NO_WIRE);
        let Taken { packet, next, .. } = self.flights.pop(&mut wire.packets);
        inbox.heads.advance_to(next);
        (port, packet)
    }

    /// Prefetches what a switch reads of the telemetry of the packet behind the earliest one of an
    /// inbox: it was last written by the previous switch, a link's delay ago.
    #[inline(never)]
    pub(crate) fn prefetch_telemetry(&self, inbox: &Inbox) {
        if let Some(packet) = self.behind(inbox) {
            self.extras.telemetry.prefetch(packet.extra);
        }
    }

    /// [`Wires::prefetch_telemetry`] for a host, which reads all of it when an ACK is back.
    #[inline(never)]
    pub(crate) fn prefetch_answer(&self, inbox: &Inbox) {
        if let Some(packet) = self.behind(inbox).filter(|p| p.kind != PacketKind::Data) {
            self.extras.telemetry.prefetch_hops(packet.extra);
        }
    }

    /// The packet behind the earliest one of an inbox, on its wire.
    #[inline(always)]
    fn behind(&self, inbox: &Inbox) -> Option<&Packet> {
        let wire = inbox.first as usize + inbox.heads.winner();
        self.flights.second(&self.wires[wire].packets)
    }

    /// Whether nothing waits to be handed over to other parts.
    pub(crate) fn has_no_mail(&self) -> bool {
        self.outboxes.iter().all(Mail::is_empty)
    }

    /// Moves what is in flight to `node` of this part to part `to`. All parts must then be told
    /// that the wires end there ([`Wires::reroute`]).
    ///
    /// # Panics
    /// When a packet carries something in the side pool.
    pub(crate) fn move_to(&mut self, to: &mut Self, node: NodeId, ports: usize) {
        let first = self.first[node.index()] as usize;
        for w in first..first + ports {
            while !self.wires[w].packets.is_empty() {
                let Taken { packet, time, .. } = self.flights.pop(&mut self.wires[w].packets);
                assert_eq!(packet.extra, Packet::NO_EXTRA, "it has something in the side pool");
                to.flights.push(&mut to.wires[w].packets, time, packet);
            }
        }
        let start = self.fresh_start[node.index()] as usize;
        for word in start..start + ports.div_ceil(64) {
            to.fresh[word] = std::mem::take(&mut self.fresh[word]);
        }
        self.agenda.move_to(&mut to.agenda, node);
        self.own -= ports;
        to.own += ports;
    }

    /// From now on the wires into `node` end in `part`.
    pub(crate) fn reroute(&mut self, node: NodeId, ports: usize, part: usize) {
        let first = self.first[node.index()] as usize;
        for wire in &mut self.wires[first..first + ports] {
            wire.part = part as u16;
        }
    }

    /// Whether a packet in flight to `node` carries something in the side pool.
    pub(crate) fn carries_extras(&self, node: NodeId, ports: usize) -> bool {
        self.wires_into(node, ports)
            .iter()
            .flat_map(|w| self.flights.iter(&w.packets))
            .any(|p| p.extra != Packet::NO_EXTRA)
    }

    /// Everything in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &Packet> {
        self.wires.iter().flat_map(|w| self.flights.iter(&w.packets))
    }

    /// Whether anything but control frames is in flight.
    pub(crate) fn carries_traffic(&self) -> bool {
        self.in_flight().any(|p| p.kind != PacketKind::Control)
    }
}

/// What is on the wires into one node, as it sees it: packets come in the order of (time,
/// port), the canonical order.
#[derive(Debug)]
pub(crate) struct Inbox {
    /// When the head of each wire arrives.
    heads: Tournament,
    /// The first wire into the node.
    first: u32,
    /// The node has handled everything before.
    done: Time,
}

impl Inbox {
    /// The node is about to handle everything before `until`.
    ///
    /// # Panics
    /// When a packet arrives before the time up to which the node has run: the lookahead was
    /// violated.
    #[inline]
    pub(crate) fn check(&mut self, node: NodeId, until: Time) {
        let next = self.next();
        assert!(next >= self.done, "a packet reaches {node} at {next}, after {}", self.done);
        self.done = until;
    }

    /// Prefetches the clocks.
    pub(crate) fn prefetch(&self) {
        self.heads.prefetch();
    }

    /// The inbox of a node with `ports` ports.
    pub(crate) fn new(ports: usize) -> Self {
        Self { heads: Tournament::new(ports), first: 0, done: Time::ZERO }
    }

    /// When the next packet arrives, or a time later than any run lasts.
    #[inline(always)]
    pub(crate) fn next(&self) -> Time {
        self.heads.earliest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::test_packet;
    use crate::engine::partition::Partition;
    use proptest::prelude::*;
    use weir_net::build;

    fn star(hosts: u32) -> Topology {
        build::star::build(&build::star::Params { hosts, ..Default::default() }).unwrap()
    }

    proptest! {
        #[test]
        fn arrivals_come_in_the_order_of_time_then_port(
            sends in prop::collection::vec((0u16..70, 1u64..40), 0..120), reopen in 1usize..9,
        ) {
            let topology = star(70);
            let nodes = [(0..71).map(NodeId).collect()];
            let numbers = WireNumbers::new(&topology, &nodes);
            let mut wires = Wires::new(&topology, &nodes, &numbers, 0);
            let hub = NodeId(70);
            let mut clock = [0u64; 70];
            let mut expected = Vec::new();
            for (i, (port, gap)) in sends.into_iter().enumerate() {
                clock[usize::from(port)] += gap;
                let t = clock[usize::from(port)];
                let wire = numbers.at_port(hub, usize::from(port));
                wires.send(wire, Time::from_ps(t), &test_packet(i as u32, 64));
                expected.push((t, port, i as u32));
            }
            expected.sort_unstable();
            let mut inbox = Inbox::new(70);
            wires.open(hub, 70, &mut inbox);
            for (i, (t, port, seq)) in expected.into_iter().enumerate() {
                prop_assert_eq!(inbox.next().as_ps(), t);
                let (from, packet) = wires.take(&mut inbox);
                prop_assert_eq!((from, packet.seq), (usize::from(port), seq));
                if i % reopen == 0 {
                    wires.open(hub, 70, &mut inbox);
                }
            }
            prop_assert_eq!(Tournament::or_never(inbox.next()), Time::NEVER);
        }
    }

    /// Whatever a packet carried at the node it left, it arrives with the port it comes in by and
    /// no mark, also from another part, which is told when the first of its mail arrives.
    #[test]
    fn a_packet_arrives_as_the_far_end_needs_it() {
        let params = build::leaf_spine::Params { spines: 1, leaves: 2, ..Default::default() };
        let topology = build::leaf_spine::build(&params).unwrap();
        let nodes = Partition::new(&topology, 2).parts;
        let numbers = WireNumbers::new(&topology, &nodes);
        let mut parts = [0, 1].map(|p| Wires::new(&topology, &nodes, &numbers, p));
        let (node, port) = (nodes[1][0], 0);
        let wire = numbers.at_port(node, port);
        let used = Packet { ingress: PortId(9), local_tag: 5, ..test_packet(7, 64) };
        let mut mail = Mail::default();
        for t in [30, 40] {
            parts[0].send(wire, Time::from_ps(t), &used);
        }
        assert_eq!(parts[0].hand_over(1, &mut mail), Time::from_ps(30));
        parts[1].take_over(&mut mail);
        assert_eq!(parts[0].hand_over(1, &mut mail), Time::NEVER);
        assert_eq!(parts[1].agenda.next(node), Time::from_ps(30));
        parts[1].send(wire, Time::from_ps(50), &used);
        let mut inbox = Inbox::new(topology.ports(node).len());
        parts[1].open(node, topology.ports(node).len(), &mut inbox);
        for t in [30, 40, 50] {
            assert_eq!(inbox.next(), Time::from_ps(t));
            let (from, packet) = parts[1].take(&mut inbox);
            assert_eq!((from, packet.seq, packet.ingress, packet.local_tag), (0, 7, PortId(0), 0));
        }
    }
}
