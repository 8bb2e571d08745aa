//! Whose packets made a queue, and whose bytes made an ingress pause.

use super::lives::Stretches;
use crate::outcome::CulpritKind;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use weir_core::{Bytes, FlowId, Packet, PacketKind, PortId, Priority, Time};

/// As many flows are named for each wait and each pause.
const MOST_NAMED: usize = 16;

/// The packets that left a port, the latest of them, and those that raised its queue.
#[derive(Debug, Default)]
pub(super) struct Departures {
    left: VecDeque<(Time, FlowId, u16)>,
    /// Bytes that wait at the port.
    length: u64,
    /// Who raised the queue to each level: (level after the packet, flow, bytes). Levels rise; a
    /// packet that is queued at a lower level replaces what is above it.
    raised: Vec<(u64, FlowId, u16)>,
}

impl Departures {
    /// As many are remembered.
    const MOST: usize = 2048;

    /// A packet joins.
    pub(super) fn joined(&mut self, packet: &Packet) {
        self.cut();
        self.length += u64::from(packet.size);
        if packet.kind == PacketKind::Data {
            self.raised.push((self.length, packet.flow, packet.size));
        }
    }

    /// Forgets who raised the queue above its present level.
    fn cut(&mut self) {
        let length = self.length;
        while self.raised.last().is_some_and(|(level, ..)| *level > length) {
            self.raised.pop();
        }
    }

    /// Who raised the queue from empty to its present level.
    pub(super) fn built_up(&mut self) -> Vec<(FlowId, u64)> {
        self.cut();
        let mut original = Tally::default();
        self.raised.iter().for_each(|&(_, flow, size)| original.add(flow, size));
        original.most()
    }

    /// A packet of so many bytes leaves the queue.
    pub(super) fn shrinks(&mut self, size: u16) {
        self.length = self.length.saturating_sub(u64::from(size));
    }

    /// A packet leaves for the wire.
    pub(super) fn left(&mut self, now: Time, packet: &Packet, wire: &Stretches) {
        if wire.began(now).is_none() {
            // the wire was idle: what left before is of another busy period
            self.left.clear();
        }
        if packet.kind == PacketKind::Data {
            self.left.push_back((now, packet.flow, packet.size));
            if self.left.len() > Self::MOST {
                self.left.pop_front();
            }
        }
    }

    /// The culprits of a packet that waited from `queued` to `left` behind what `original` had
    /// built up.
    pub(super) fn culprits(
        &self,
        (queued, left): (Time, Time),
        wire: &Stretches,
        original: &[(FlowId, u64)],
    ) -> Vec<(CulpritKind, FlowId, u64)> {
        let began = wire.began(left).unwrap_or(queued);
        let (mut direct, mut indirect) = (Tally::default(), Tally::default());
        for &(at, flow, size) in self.left.iter().rev().take_while(|(at, ..)| *at >= began) {
            match at >= queued {
                true => direct.add(flow, size),
                false => indirect.add(flow, size),
            }
        }
        let kinds = [
            (CulpritKind::Direct, direct.most()),
            (CulpritKind::Indirect, indirect.most()),
            (CulpritKind::Original, original.to_vec()),
        ];
        let named = |(kind, flows): (CulpritKind, Vec<(FlowId, u64)>)| {
            flows.into_iter().map(move |(flow, bytes)| (kind, flow, bytes))
        };
        kinds.into_iter().flat_map(named).collect()
    }
}

/// Bytes by flow.
#[derive(Debug, Default)]
struct Tally(FxHashMap<FlowId, u64>);

impl Tally {
    fn add(&mut self, flow: FlowId, size: u16) {
        *self.0.entry(flow).or_default() += u64::from(size);
    }

    /// Those with most bytes.
    fn most(&self) -> Vec<(FlowId, u64)> {
        let mut all: Vec<_> = self.0.iter().map(|(f, n)| (*f, *n)).collect();
        all.sort_by_key(|&(flow, bytes)| (std::cmp::Reverse(bytes), flow));
        all.truncate(MOST_NAMED);
        all
    }
}

/// Bytes in the switch by ingress, priority and flow.
#[derive(Debug, Default)]
pub(super) struct Account(FxHashMap<(PortId, Priority), FxHashMap<FlowId, u64>>);

impl Account {
    pub(super) fn add(&mut self, packet: &Packet) {
        let flows = self.0.entry((packet.ingress, packet.priority)).or_default();
        *flows.entry(packet.flow).or_default() += u64::from(packet.size);
    }

    pub(super) fn remove(&mut self, packet: &Packet) {
        let Some(flows) = self.0.get_mut(&(packet.ingress, packet.priority)) else { return };
        if let Some(bytes) = flows.get_mut(&packet.flow) {
            *bytes = bytes.saturating_sub(u64::from(packet.size));
            if *bytes == 0 {
                flows.remove(&packet.flow);
            }
        }
    }

    /// The flows with most bytes at an ingress, and the bytes of all.
    pub(super) fn most(&self, port: PortId, priority: Priority) -> (Vec<(FlowId, Bytes)>, Bytes) {
        let Some(flows) = self.0.get(&(port, priority)) else { return (Vec::new(), Bytes::ZERO) };
        let mut all: Vec<_> = flows.iter().map(|(f, n)| (*f, Bytes::new(*n))).collect();
        let total = all.iter().map(|(_, n)| *n).sum();
        all.sort_by_key(|&(flow, bytes)| (std::cmp::Reverse(bytes), flow));
        all.truncate(MOST_NAMED);
        (all, total)
    }
}
