//! What a host has to say when the run ends.

use super::receive::Receiver;
use super::records::Records;
use super::sender::Sender;
use super::{Nic, NicTimer};
use crate::faults::Hold;
use crate::outcome::{FlowRecord, Flows, HeldAt, PortRecord, QueueStats, Rare, Stuck};
use crate::probe::Sight;
use weir_core::{Bytes, FlowId, PortId, Priority, PrioritySet, QueueId, Time};
use weir_fc::{Network, NodeView, StateSize, Violation};

impl Nic {
    /// The record of a flow as far as its sender knows it.
    pub(super) fn record_of(&self, s: &Sender, acked: Option<Time>, now: Time) -> FlowRecord {
        let clock = &self.ports[usize::from(s.port)].priority_clocks[s.priority().index()];
        let lost = s.held_total.unwrap_or_else(|| s.held_time(clock.read(now), now));
        // a run that is stuck ends with its last event: a flow that stopped later was held until
        // then
        let lost = lost.min(now.saturating_sub(s.spec.start));
        let held = HeldAt { node: self.id, port: PortId(s.port), time: lost };
        let held = if lost > Time::ZERO { vec![held] } else { Vec::new() };
        let mut record = FlowRecord {
            id: s.spec.id,
            dst: s.spec.dst,
            class: s.spec.class,
            priority: s.priority(),
            size: s.spec.size,
            start: s.spec.start,
            packets: s.packets,
            acked: acked.into(),
            ..FlowRecord::default()
        };
        record.set_rare(Rare {
            retransmitted: s.retransmitted,
            timeouts: s.timeouts,
            discarded: s.discarded,
            held,
            path: s.spec.path,
            tcp: s.tcp().map(|flow| Box::new(flow.record())),
            ..Rare::NONE
        });
        record
    }

    /// Hands over the records of its flows, the unfinished ones included.
    pub(crate) fn take_flow_records(&mut self, end: Time) -> Vec<Vec<FlowRecord>> {
        let records = std::mem::take(&mut self.records);
        let pairs = self.agent.as_mut().map(|a| std::mem::take(&mut a.records));
        self.with_unfinished(records, pairs, end)
    }

    /// The records of its flows as they are now.
    pub(crate) fn flow_records(&self, now: Time) -> Vec<Vec<FlowRecord>> {
        let pairs = self.agent.as_ref().map(|a| a.records.clone());
        self.with_unfinished(self.records.clone(), pairs, now)
    }

    /// The records of finished flows and queue pairs, with those of the others.
    fn with_unfinished(
        &self,
        mut records: Records,
        mut pairs: Option<Records>,
        end: Time,
    ) -> Vec<Vec<FlowRecord>> {
        for sender in self.slots.iter().flatten() {
            let record = self.record_of(sender, None, end);
            match &mut pairs {
                Some(pairs) if sender.pair.is_some() => pairs.put(record),
                _ => records.put(record),
            }
        }
        let mut chunks = records.into_chunks();
        chunks.extend(pairs.into_iter().flat_map(Records::into_chunks));
        chunks
    }

    /// Adds what this host knows as a receiver to the records of the flows, and forgets it.
    pub(crate) fn add_deliveries(&mut self, flows: &mut Flows) {
        #[expect(clippy::iter_over_hash_type, reason = "each flow has one receiver")]
        for (flow, r) in std::mem::take(&mut self.receivers) {
            r.add_to(flow, flows);
        }
    }

    /// The same without forgetting it.
    pub(crate) fn show_deliveries(&self, flows: &mut Flows) {
        #[expect(clippy::iter_over_hash_type, reason = "each flow has one receiver")]
        for (flow, r) in &self.receivers {
            r.add_to(*flow, flows);
        }
    }
}

impl Receiver {
    /// Adds what is known of a flow here to its record.
    fn add_to(&self, flow: FlowId, flows: &mut Flows) {
        let record = flows.get_mut(flow).expect("what arrives was sent by a flow");
        record.delivered = Bytes::new(self.delivered);
        if self.reordered() > 0 {
            record.rare_mut().reordered = self.reordered();
        }
        // What a source discarded, or did not get to before it stopped, is missing.
        let complete = record.size == Bytes::MAX || record.size == record.delivered;
        record.finish = self.finish().filter(|_| complete).into();
    }
}

impl Nic {
    /// ACKs that were made and not yet sent.
    pub(crate) fn packets_inside(&self) -> u64 {
        let queued: u64 = self.ports.iter().map(|p| p.acks.len() as u64).sum();
        let taken_later = self.intake.as_ref().map_or(0, |intake| intake.packets());
        queued + self.streams.waiting() + taken_later
    }

    pub(crate) fn audit(&self, now: Time, network: Network) -> Result<(), Violation> {
        self.fc.audit(&NodeView { now, books: &self.books }, network)
    }

    /// One record per port that did anything.
    pub(crate) fn port_records(&self, start: Time, end: Time) -> Vec<PortRecord> {
        let records = self.ports.iter().enumerate().map(|(o, port)| {
            let at = (self.id, PortId::from_index(o));
            port.meter.record(at, &port.tx, QueueStats::default(), (start, end))
        });
        records.filter(|r| r.packets > 0 || r.control_faulted > 0).collect()
    }

    /// Flows that have something left to send, with what holds them.
    pub(crate) fn waiting(&self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for (slot, s) in self.slots.iter().enumerate() {
            let Some(s) = s else { continue };
            if s.pair.as_ref().is_some_and(|pair| pair.is_idle()) {
                continue;
            }
            let port = &self.ports[usize::from(s.port)];
            let priority_held = port.held_priorities.contains(s.priority());
            let since =
                s.hold_clock.since().or_else(|| port.priority_clocks[s.priority().index()].since());
            let held = s.held || priority_held;
            let waits_for = if held {
                "a RESUME from its switch"
            } else if !port.tx.up {
                "its link to come up"
            } else if !s.has_data() {
                "acknowledgements"
            } else {
                continue;
            };
            let hold = Hold {
                port: PortId(s.port),
                priority: s.priority(),
                queue: QueueId(slot as u32),
                // held from its start: the pause, of who had the slot before, may be older
                since: since.filter(|at| *at != s.spec.start),
            };
            let lost = self.faults.reason(&hold, &[s.spec.id]).filter(|_| held);
            stuck.push(Stuck {
                node: self.id,
                port: hold.port,
                queue: hold.queue,
                priority: s.priority(),
                bytes: s.unacknowledged(),
                since,
                waits_for: format!("flow {} waits for {waits_for}", s.spec.id),
                lost: lost.cloned(),
            });
        }
        stuck.extend(self.streams.stuck(self.id, &self.faults));
        for (port, p) in self.ports.iter().enumerate() {
            let held = p.priorities_of_acks() & p.held_priorities;
            let port = PortId::from_index(port);
            stuck.extend(held.iter().map(|priority| self.stuck_acks(port, priority)));
        }
        stuck
    }

    /// ACKs of a priority that is held at their port.
    fn stuck_acks(&self, port: PortId, priority: Priority) -> Stuck {
        let p = &self.ports[port.index()];
        let acks = || p.acks.iter().filter(|ack| ack.priority == priority);
        let flows: Vec<FlowId> = acks().map(|ack| ack.flow).collect();
        let since = p.priority_clocks[priority.index()].since();
        let queue = QueueId(priority.index() as u32);
        let lost = self.faults.reason(&Hold { port, priority, queue, since }, &flows);
        Stuck {
            node: self.id,
            port,
            queue,
            priority,
            bytes: Bytes::new(acks().map(|ack| u64::from(ack.size)).sum()),
            since,
            waits_for: "ACKs wait for a RESUME from their switch".into(),
            lost: lost.cloned(),
        }
    }

    /// Whether a flow that the traffic plan has for this host is still to start.
    pub(crate) fn expects_flows(&self) -> bool {
        self.upcoming.is_some()
    }

    /// Payload bytes that this host has received, what came twice counted once, and how many of its
    /// own flows are not over.
    pub(crate) fn progress(&self) -> (u64, u64) {
        let received = self.receivers.values().map(|r| r.delivered).sum();
        (received, self.slots.iter().flatten().count() as u64)
    }

    /// When everything that is to be sent now has been, as far as pacing goes.
    pub(crate) fn paced_until(&self) -> Time {
        let paces = self.slots.iter().flatten().filter(|s| s.has_data()).map(|s| s.next_time);
        let clock = Some(self.clocks.min()).filter(|t| *t != Time::NEVER);
        paces.chain(clock).max().unwrap_or_default()
    }

    /// The flows whose retransmission timers run, each with how often its timer has fired.
    pub(crate) fn timeouts(&self) -> impl Iterator<Item = (FlowId, u64)> {
        let runs = |slot: usize| self.timers.is_armed(NicTimer::Timeout(slot as u32));
        let flows = self.slots.iter().enumerate().filter_map(|(slot, s)| Some((slot, s.as_ref()?)));
        flows.filter(move |(slot, _)| runs(*slot)).map(|(_, s)| (s.spec.id, s.timeouts))
    }

    /// Whether every flow that started is over.
    pub(crate) fn all_flows_over(&self) -> bool {
        self.upcoming.is_none()
            && self.slots.iter().all(Option::is_none)
            && self.agent.as_ref().is_none_or(|agent| agent.is_done())
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
