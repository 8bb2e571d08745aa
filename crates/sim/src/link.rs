//! Links: a [`Transmitter`] serialises a frame onto a wire, and an [`Inbox`] takes it off at the
//! far end, unless the link has failed meanwhile or the frame has a bit error ([`damage`]).
//!
//! A wire is one direction of a link: a FIFO of (arrival time, packet). Arrivals on one wire
//! are in time order because one transmitter feeds it and its delay is constant. Nodes
//! interact through wires only, and never in less than the wire's delay. A packet that crosses
//! from one thread's part of the network to another's is [mail] until threads meet.

pub(crate) mod mail;

use crate::agenda::Agenda;
use crate::chain::{Chain, Store, Taken};
use crate::extras::Extras;
use crate::outcome::DropReason;
use crate::tree::{END, HORIZON, Tournament};
use mail::Mail;
use std::sync::Arc;
use weir_core::prefetch::prefetch;
use weir_core::rng::Stream;
use weir_core::{Bytes, NodeId, Packet, PacketKind, PortId, Priority, Rate, Response, Time};
use weir_net::Topology;
use weir_net::limits::{MAX_DELAY, MIN_RATE};

/// No control frame is longer.
const LONGEST_CONTROL: Bytes = Bytes::new(1518);

/// A transmitter: one cache line.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    /// The wire is free after this instant, or in the transmit-done event at it.
    pub(crate) busy_until: Time,
    /// Picoseconds per byte when that is a whole number, else zero.
    ps_per_byte: u64,
    pub(crate) delay: Time,
    pub(crate) packets: u64,
    pub(crate) rate: Rate,
    pub(crate) wire_bytes: u64,
    wire: WireId,
    overhead: u16,
    pub(crate) up: bool,
    /// The priority of the frame sent last.
    pub(crate) last: Priority,
}

const _: () = assert!(size_of::<Transmitter>() <= 64);

/// Clocks can show when a frame arrives that was sent in a run: see [`Tournament`].
///
/// [`Tournament`]: crate::tree::Tournament
const _: () = {
    let frame = Bytes::new(2 * u16::MAX as u64);
    let takes = MIN_RATE.time_for(frame).as_ps() + MAX_DELAY.as_ps();
    assert!(HORIZON.as_ps() + takes < END.as_ps());
};

impl Transmitter {
    pub(crate) fn new(wire: WireId, rate: Rate, delay: Time, overhead: Bytes) -> Self {
        Self {
            wire,
            rate,
            ps_per_byte: rate.ps_per_byte().unwrap_or(0),
            delay,
            overhead: u16::try_from(overhead.get()).unwrap_or(u16::MAX),
            busy_until: Time::ZERO,
            up: true,
            last: Priority::default(),
            packets: 0,
            wire_bytes: 0,
        }
    }

    /// The link is up again at `now`; returns from when on it takes data. Both ends say at once
    /// what the other has to stop, and data follow when that is in force: what an ingress stores
    /// may be all that it has room for. It takes a frame that may still be on the wire, a control
    /// frame, the way, and the `response` of the other end.
    #[must_use]
    pub(crate) fn recover(&mut self, now: Time, max_frame: Bytes, response: Response) -> Time {
        let longest = max_frame.max(LONGEST_CONTROL).get().min(u64::from(u16::MAX)) as u16;
        let wait = self.serialisation(longest) * 2 + self.delay + response.at(self.rate);
        self.up = true;
        now + wait
    }

    /// The wire it sends to; no other transmitter does.
    pub(crate) fn wire(&self) -> WireId {
        self.wire
    }

    /// Prefetches the wire.
    pub(crate) fn prefetch_way(&self, wires: &Wires) {
        wires.prefetch_way(self.wire);
    }

    /// Asks for the place of the next packet on the wire.
    pub(crate) fn prefetch_end(&self, wires: &Wires) {
        wires.prefetch_end(self.wire);
    }

    /// How long a frame of `size` bytes occupies the wire.
    #[inline(always)]
    pub(crate) fn serialisation(&self, size: u16) -> Time {
        let bytes = u64::from(size) + u64::from(self.overhead);
        if self.ps_per_byte != 0 {
            Time::from_ps(bytes * self.ps_per_byte)
        } else {
            self.odd(bytes)
        }
    }

    /// [`Transmitter::serialisation`] where a byte does not take whole picoseconds.
    #[cold]
    fn odd(&self, bytes: u64) -> Time {
        self.rate.time_for(Bytes::new(bytes))
    }

    /// Starts sending at `now`: the last bit leaves at `busy_until` and arrives one
    /// propagation delay later. Store and forward: that is when the far end sees the packet.
    ///
    /// # Panics
    /// When the wire is busy: it carries one frame at a time.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time, packet: &Packet, wires: &mut Wires) {
        if now < self.busy_until {
            Self::collide(now);
        }
        self.busy_until = now + self.serialisation(packet.size);
        self.last = packet.priority;
        self.packets += 1;
        self.wire_bytes += u64::from(packet.size) + u64::from(self.overhead);
        wires.send(self.wire, self.busy_until + self.delay, packet);
    }

    #[cold]
    fn collide(now: Time) -> ! {
        panic!("a frame starts at {now} on a wire that is busy");
    }
}

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

/// Times at which a link was down, for the receiving end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages(Vec<(Time, Time)>);

impl Outages {
    /// One more outage. Those that overlap or touch are one: the link is up when none lasts.
    pub(crate) fn add(&mut self, down: Time, up: Option<Time>) {
        self.0.push((down, up.unwrap_or(Time::NEVER)));
        self.0.retain(|(down, up)| down < up);
        self.0.sort_unstable();
        self.0.dedup_by(|next, last| {
            let joined = next.0 <= last.1;
            if joined {
                last.1 = last.1.max(next.1);
            }
            joined
        });
    }

    /// When the link fails and recovers (`Time::NEVER`: it does not), in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, Time)> {
        self.0.iter().copied()
    }

    /// Whether the link was down at any instant of `from..=to`: a frame in flight then is lost.
    pub(crate) fn hit(&self, from: Time, to: Time) -> bool {
        self.0.iter().any(|&(down, up)| down <= to && from < up)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Why a frame that arrives now is dropped: it was in flight during an outage of its link, or it
/// has a bit error. `tx` is the sending half of the port it comes in by: both directions of a link
/// have the same rate and delay. `byte_survival_ln` is the logarithm of the probability that a byte
/// arrives as it was sent.
#[inline]
pub(crate) fn damage(
    frame: &Packet,
    tx: &Transmitter,
    outages: &Outages,
    bit_errors: &mut Stream,
    byte_survival_ln: f64,
    now: Time,
) -> Option<DropReason> {
    if !outages.is_empty() {
        let left = now.saturating_sub(tx.delay + tx.serialisation(frame.size));
        if outages.hit(left, now) {
            return Some(DropReason::LinkDown);
        }
    }
    let has_error =
        byte_survival_ln < 0.0 && bit_errors.unit() < frame_error(frame.size, byte_survival_ln);
    has_error.then_some(DropReason::BitError)
}

/// Probability that a frame of `size` bytes has a bit error.
fn frame_error(size: u16, byte_survival_ln: f64) -> f64 {
    -libm::expm1(f64::from(size) * byte_survival_ln)
}

#[cfg(test)]
mod tests;
