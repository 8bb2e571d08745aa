//! One port of a NIC.

use super::ready::ReadyFlows;
use crate::config::NicDiscipline;
use crate::limit::Limits;
use crate::link::{Outages, Transmitter};
use crate::probe::held::{HoldClock, PortHolds};
use crate::probe::port::PortMeter;
use crate::probe::record::{PortLook, Watched};
use crate::shared::Shared;
use crate::wire::WireNumbers;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use weir_core::{NodeId, Packet, Priority, PrioritySet, Rate, Time};
use weir_fc::HoldState;

/// One port.
#[repr(C)]
pub(crate) struct NicPort {
    pub(crate) tx: Transmitter,
    pub(crate) held_priorities: PrioritySet,
    /// From when on the link takes data, after its last outage.
    pub(crate) settled: Time,
    pub(crate) limits: Option<Box<Limits>>,
    pub(crate) control: VecDeque<Packet>,
    pub(crate) acks: VecDeque<Packet>,
    /// Flows that wait for their pace: (when, slot); an entry is stale when the flow waits for
    /// another time.
    pub(crate) paced: BinaryHeap<Reverse<(Time, u32)>>,
    /// With one queue for all flows: whose packets stand in it, in order.
    pub(crate) fifo: Option<VecDeque<u32>>,
    pub(crate) ready: ReadyFlows,
    pub(crate) priority_clocks: [HoldClock; Priority::COUNT],
    pub(crate) outages: Outages,
    pub(crate) meter: PortMeter,
}

impl NicPort {
    pub(crate) fn new(node: NodeId, port: usize, shared: &Shared<'_>, wires: &WireNumbers) -> Self {
        let end = shared.topology.ports(node)[port];
        let link = shared.topology.link(end.link);
        Self {
            tx: Transmitter::new(
                wires.at_port(end.peer, end.peer_port.index()),
                link.rate,
                link.delay,
                shared.config.link.overhead,
            ),
            control: VecDeque::new(),
            acks: VecDeque::new(),
            ready: match &shared.config.nic.discipline {
                NicDiscipline::ByPriority(schedule) => ReadyFlows::new(Some(schedule)),
                NicDiscipline::PerFlow | NicDiscipline::Fifo => ReadyFlows::new(None),
            },
            fifo: (shared.config.nic.discipline == NicDiscipline::Fifo).then(VecDeque::new),
            paced: BinaryHeap::new(),
            held_priorities: PrioritySet::EMPTY,
            settled: Time::ZERO,
            priority_clocks: [HoldClock::default(); Priority::COUNT],
            limits: None,
            outages: shared.outages(end.link),
            meter: PortMeter::default(),
        }
    }

    /// Holds or opens a whole priority; false when nothing changed.
    pub(crate) fn hold_priority(
        &mut self,
        priority: Priority,
        state: HoldState,
        now: Time,
    ) -> bool {
        if !self.held_priorities.set(priority, state.is_held()) {
            return false;
        }
        let clock = &mut self.priority_clocks[priority.index()];
        match state {
            HoldState::Held => clock.start(now),
            HoldState::Open => clock.stop(now),
        }
        self.meter.holds.count(priority, state, now);
        true
    }

    pub(crate) fn limit(&mut self, now: Time, priority: Priority, rate: Option<Rate>) {
        let (line, last, busy) = (self.tx.rate, self.tx.last, self.tx.busy_until);
        self.limits
            .get_or_insert_with(|| Box::new(Limits::new(line, last, busy)))
            .set(now, priority, rate);
    }

    /// Whether a packet of `priority` could start at `t` and would overtake nothing but data.
    #[inline(always)]
    pub(crate) fn is_clear_for(&self, priority: Priority, t: Time) -> bool {
        self.tx.up
            && t >= self.settled
            && self.control.is_empty()
            && self.acks.is_empty()
            && !self.blocked(t).contains(priority)
    }

    /// Whether an ACK waits whose priority may start at `t`; it stands in front then.
    #[inline(always)]
    pub(crate) fn ack_may_go(&mut self, t: Time) -> bool {
        match self.acks.front() {
            None => false,
            Some(ack) if !self.blocked(t).contains(ack.priority) => true,
            Some(_) => self.bring_ack_to_front(t),
        }
    }

    /// Brings an ACK whose priority may start at `t` to the front; returns whether there is one.
    /// (Only TCP's ACKs can have several priorities.)
    #[cold]
    fn bring_ack_to_front(&mut self, t: Time) -> bool {
        let blocked = self.blocked(t);
        let free = |ack: &Packet| !blocked.contains(ack.priority);
        let Some(i) = self.acks.iter().position(free) else { return false };
        if let Some(ack) = self.acks.remove(i) {
            self.acks.push_front(ack);
        }
        true
    }

    /// Priorities of the ACKs that wait.
    pub(crate) fn priorities_of_acks(&self) -> PrioritySet {
        self.acks.iter().map(|ack| ack.priority).collect()
    }

    /// Priorities whose data may not start at `t`.
    #[inline(always)]
    pub(crate) fn blocked(&self, t: Time) -> PrioritySet {
        let limited = self.limits.as_ref().map_or(PrioritySet::EMPTY, |l| l.blocked(t));
        self.held_priorities | limited
    }
}

impl Watched for NicPort {
    /// The queue of a host is no part of the network.
    #[inline]
    fn look(&mut self, _last: bool) -> PortLook {
        PortLook { sent: self.tx.wire_bytes, longest: 0, length: 0 }
    }

    fn holds(&self) -> &PortHolds {
        &self.meter.holds
    }
}
