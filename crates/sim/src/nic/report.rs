//! What a host has to say when the run ends.

use super::Nic;
use super::sender::Sender;
use super::tcp::TcpFlow;
use crate::outcome::{FlowRecord, HeldAt, PortRecord, QueueStats, Stuck};
use crate::probe::Sight;
use weir_core::{Bytes, FlowId, PortId, PrioritySet, QueueId, Time};
use weir_fc::{NodeView, StateSize, Violation};

/// What the receiver of a flow knows about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) flow: FlowId,
    pub(crate) delivered: u64,
    pub(crate) reordered: u64,
    pub(crate) finish: Option<Time>,
}

impl Nic {
    /// The record of a flow as far as its sender knows it.
    pub(super) fn record_of(&self, s: &Sender, acked: Option<Time>, now: Time) -> FlowRecord {
        let clock = &self.ports[usize::from(s.port)].priority_clocks[s.priority().index()];
        let lost = s.held_total.unwrap_or_else(|| s.held_time(clock.read(now), now));
        // a run that is stuck ends with its last event: a flow that stopped later was held until
        // then
        let lost = lost.min(now.saturating_sub(s.spec.start));
        let held = HeldAt { node: self.id, port: PortId(s.port), time: lost };
        FlowRecord {
            id: s.spec.id,
            src: s.spec.src,
            dst: s.spec.dst,
            class: s.spec.class,
            priority: s.priority(),
            size: s.spec.size,
            start: s.spec.start,
            path: s.spec.path,
            finish: None,
            acked,
            ideal: None,
            delivered: Bytes::ZERO,
            packets: s.packets,
            retransmitted: s.retransmitted,
            reordered: 0,
            lost: 0,
            discarded: s.discarded,
            timeouts: s.timeouts,
            answers_lost: 0,
            held: if lost > Time::ZERO { vec![held] } else { Vec::new() },
            tcp: s.tcp().map(TcpFlow::record),
        }
    }

    /// How many flows this host has had, the unfinished ones included.
    pub(crate) fn flow_count(&self) -> usize {
        self.records.len() + self.slots.iter().flatten().count()
    }

    /// Their records; those of finished flows are handed over.
    pub(crate) fn take_flow_records(&mut self, end: Time, to: &mut Vec<FlowRecord>) {
        to.extend(std::mem::take(&mut self.records).into_records());
        to.extend(self.slots.iter().flatten().map(|s| self.record_of(s, None, end)));
    }

    /// What this host received, by flow; it is handed over.
    pub(crate) fn take_deliveries(&mut self) -> Vec<Delivery> {
        let mut all: Vec<Delivery> = Vec::with_capacity(self.receivers.len());
        #[expect(clippy::iter_over_hash_type, reason = "sorted right below")]
        for (flow, r) in std::mem::take(&mut self.receivers) {
            all.push(Delivery {
                flow,
                delivered: r.delivered,
                reordered: r.reordered,
                finish: r.finish,
            });
        }
        all.sort_unstable_by_key(|d| d.flow);
        all
    }

    /// ACKs that were made and not yet sent.
    pub(crate) fn packets_inside(&self) -> u64 {
        let queued: u64 = self.ports.iter().map(|p| p.acks.len() as u64).sum();
        queued + self.streams.waiting()
    }

    pub(crate) fn audit(&self, now: Time, drained: bool) -> Result<(), Violation> {
        self.fc.audit(&NodeView { now, books: &self.books }, drained)
    }

    /// One record per port that did anything.
    pub(crate) fn port_records(&self, start: Time, end: Time) -> Vec<PortRecord> {
        let records = self.ports.iter().enumerate().map(|(o, port)| {
            let at = (self.id, PortId::from_index(o));
            port.meter.record(at, &port.tx, QueueStats::default(), (start, end))
        });
        records.filter(|r| r.packets > 0).collect()
    }

    /// Flows that have something left to send, with what holds them.
    pub(crate) fn waiting(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for (slot, s) in self.slots.iter().enumerate() {
            let Some(s) = s else { continue };
            let port = &self.ports[usize::from(s.port)];
            let priority_held = port.held_priorities.contains(s.priority());
            let since =
                s.hold_clock.since().or_else(|| port.priority_clocks[s.priority().index()].since());
            let waits_for = if s.held || priority_held {
                "a RESUME from its switch"
            } else if !port.tx.up {
                "its link to come up"
            } else if !s.has_data() {
                "acknowledgements"
            } else {
                continue;
            };
            let left = if s.spec.size == Bytes::MAX {
                Bytes::ZERO
            } else {
                let payload = s.payload_of(0);
                s.spec.size.saturating_sub(Bytes::new(u64::from(s.una) * payload))
            };
            stuck.push(Stuck {
                node: self.id,
                port: PortId(s.port),
                queue: QueueId(slot as u32),
                priority: s.priority(),
                bytes: left,
                since,
                waits_for: format!("flow {} waits for {waits_for}", s.spec.id),
            });
        }
        stuck.extend(self.streams.stuck(self.id));
        stuck
    }

    /// Whether every flow that started is over.
    pub(crate) fn all_flows_over(&self) -> bool {
        self.upcoming.is_none() && self.slots.iter().all(Option::is_none)
    }
}

impl Sight for Nic {
    fn ports(&self) -> usize {
        self.ports.len()
    }

    fn queue(&self, _: PortId) -> Bytes {
        Bytes::ZERO
    }

    fn ingress(&self, _: PortId) -> Bytes {
        Bytes::ZERO
    }

    fn held(&self, port: PortId) -> PrioritySet {
        self.ports[port.index()].meter.holds.held()
    }

    fn memory(&self) -> Bytes {
        Bytes::ZERO
    }

    fn tables(&self) -> StateSize {
        self.fc.state_size()
    }

    fn events(&self) -> u64 {
        self.tally.hops + self.tally.events
    }
}
