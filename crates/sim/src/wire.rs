//! Wires: what is in flight between nodes, and the side pool of what does not fit a packet.
//!
//! A wire is one direction of a link: a FIFO of (arrival time, packet). Arrivals on one wire
//! are in time order because one transmitter feeds it and its delay is constant. Nodes
//! interact through wires only, and never in less than the wire's delay.

use std::collections::VecDeque;
use weir_cc::{IntHop, MAX_HOPS};
use weir_core::{ControlMessage, NodeId, Packet, PacketKind, Time};

/// Index of a wire. The wires into a node are consecutive: `first + port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WireId(pub(crate) u32);

/// Where a wire ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireEnd {
    pub(crate) node: NodeId,
    pub(crate) port: u16,
}

/// All wires.
#[derive(Debug)]
pub(crate) struct Wires {
    queues: Vec<VecDeque<(Time, Packet)>>,
    ends: Vec<WireEnd>,
    /// First wire into each node.
    first: Vec<u32>,
    /// When each node has something to do next, wires included.
    next: Vec<Time>,
    /// Ports whose wire was empty when something was put on it, one bit each; a node's words
    /// start at `fresh_start`.
    fresh: Vec<u64>,
    fresh_start: Vec<u32>,
    /// Nodes whose `next` was brought forward by a wire, for engines that keep an agenda.
    woken: Vec<NodeId>,
    pub(crate) extras: Extras,
}

impl Wires {
    /// Wires into nodes with these numbers of ports.
    pub(crate) fn new(ports: impl Iterator<Item = usize>) -> Self {
        let mut wires = Self {
            queues: Vec::new(),
            ends: Vec::new(),
            first: Vec::new(),
            next: Vec::new(),
            fresh: Vec::new(),
            fresh_start: Vec::new(),
            woken: Vec::new(),
            extras: Extras::default(),
        };
        for (node, n) in ports.enumerate() {
            wires.first.push(wires.queues.len() as u32);
            wires.fresh_start.push(wires.fresh.len() as u32);
            wires.fresh.resize(wires.fresh.len() + n.div_ceil(64), 0);
            for port in 0..n {
                wires.queues.push(VecDeque::new());
                wires.ends.push(WireEnd { node: NodeId::from_index(node), port: port as u16 });
            }
            wires.next.push(Time::NEVER);
        }
        wires.fresh_start.push(wires.fresh.len() as u32);
        wires
    }

    /// The wire into `port` of `node`.
    pub(crate) fn into_port(&self, node: NodeId, port: usize) -> WireId {
        WireId(self.first[node.index()] + port as u32)
    }

    /// Puts a packet on a wire.
    #[inline]
    pub(crate) fn send(&mut self, wire: WireId, arrival: Time, packet: Packet) {
        let w = wire.0 as usize;
        let queue = &mut self.queues[w];
        if queue.is_empty() {
            let end = self.ends[w];
            let node = end.node.index();
            let word = self.fresh_start[node] as usize + usize::from(end.port / 64);
            self.fresh[word] |= 1 << (end.port % 64);
            if arrival < self.next[node] {
                self.next[node] = arrival;
                self.woken.push(end.node);
            }
        }
        queue.push_back((arrival, packet));
    }

    /// When the head of a wire arrives.
    #[inline]
    pub(crate) fn head(&self, wire: WireId) -> Time {
        self.queues[wire.0 as usize].front().map_or(Time::NEVER, |(t, _)| *t)
    }

    /// Takes the head of a wire.
    #[inline]
    pub(crate) fn receive(&mut self, wire: WireId) -> (Time, Packet) {
        self.queues[wire.0 as usize].pop_front().expect("the head of this wire was due")
    }

    /// Calls `f` for each port of `node` whose wire has a new head since the last call.
    #[inline]
    pub(crate) fn take_fresh(&mut self, node: NodeId, mut f: impl FnMut(usize, Time)) {
        let words =
            self.fresh_start[node.index()] as usize..self.fresh_start[node.index() + 1] as usize;
        let first = self.first[node.index()];
        for (i, word) in words.enumerate() {
            let mut bits = std::mem::take(&mut self.fresh[word]);
            while bits != 0 {
                let port = i * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                f(port, self.head(WireId(first + port as u32)));
            }
        }
    }

    /// When `node` has something to do next.
    #[inline]
    pub(crate) fn next(&self, node: NodeId) -> Time {
        self.next[node.index()]
    }

    /// `node` says when it has something to do next.
    #[inline]
    pub(crate) fn set_next(&mut self, node: NodeId, t: Time) {
        self.next[node.index()] = t;
    }

    /// Nodes that were brought forward since the last call; hand the list back emptied.
    #[inline]
    pub(crate) fn take_woken(&mut self) -> Vec<NodeId> {
        std::mem::take(&mut self.woken)
    }

    /// See [`Wires::take_woken`].
    #[inline]
    pub(crate) fn give_back_woken(&mut self, mut list: Vec<NodeId>) {
        list.clear();
        self.woken = list;
    }

    /// Everything in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flatten().map(|(_, p)| p)
    }

    /// Whether anything but control frames is in flight.
    pub(crate) fn carries_traffic(&self) -> bool {
        self.in_flight().any(|p| p.kind != PacketKind::Control)
    }
}

/// What the switches on the way wrote into a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntStack {
    pub(crate) hops: [IntHop; MAX_HOPS],
    pub(crate) len: u8,
}

impl IntStack {
    pub(crate) fn new() -> Self {
        Self { hops: [IntHop::default(); MAX_HOPS], len: 0 }
    }

    /// Adds a hop; a path longer than the stack loses its telemetry, which `hops` then says.
    pub(crate) fn push(&mut self, hop: IntHop) {
        if let Some(slot) = self.hops.get_mut(usize::from(self.len)) {
            *slot = hop;
        }
        self.len = self.len.saturating_add(1);
    }

    /// The hops, or nothing when there were more than fit.
    pub(crate) fn hops(&self) -> &[IntHop] {
        self.hops.get(..usize::from(self.len)).unwrap_or(&[])
    }
}

/// A slab with a free list.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn put(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.items[at as usize] = Some(item);
                at
            }
            None => {
                self.items.push(Some(item));
                (self.items.len() - 1) as u32
            }
        }
    }

    /// # Panics
    /// When there is nothing at `at`: a packet was used after it was consumed.
    pub(crate) fn take(&mut self, at: u32) -> T {
        self.free.push(at);
        self.items[at as usize].take().expect("a packet's extra is taken once")
    }

    /// # Panics
    /// See [`Slab::take`].
    pub(crate) fn get_mut(&mut self, at: u32) -> &mut T {
        self.items[at as usize].as_mut().expect("a packet's extra is there until taken")
    }

    /// How many are in use.
    pub(crate) fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }
}

/// What packets carry beyond their 32 bytes.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    pub(crate) messages: Slab<ControlMessage>,
    pub(crate) telemetry: Slab<IntStack>,
}

impl Extras {
    /// Forgets what a dropped packet carried.
    pub(crate) fn discard(&mut self, packet: &Packet) {
        if packet.extra == Packet::NO_EXTRA {
            return;
        }
        if packet.kind == PacketKind::Control {
            self.messages.take(packet.extra);
        } else {
            self.telemetry.take(packet.extra);
        }
    }
}
