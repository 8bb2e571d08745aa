//! One port of a NIC: what waits for its wire, and which flow is next.

use crate::config::NicDiscipline;
use crate::limit::Limits;
use crate::link::{Outages, Transmitter, WireNumbers};
use crate::probe::held::{HoldClock, PortHolds};
use crate::probe::port::PortMeter;
use crate::probe::record::{PortLook, Watched};
use crate::shared::Shared;
use crate::switch::scheduler::Scheduler;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use weir_core::{NodeId, Packet, Priority, PrioritySet, QueueId, Rate, Time};
use weir_fc::{HoldState, PrioritySchedule, QueueLayout};

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
    fn look(&mut self) -> PortLook {
        PortLook { sent: self.tx.wire_bytes, longest: 0, length: 0 }
    }

    fn look_last(&mut self) -> PortLook {
        self.look()
    }

    fn holds(&self) -> &PortHolds {
        &self.meter.holds
    }
}

/// A set of flow slots.
#[derive(Clone, Debug, Default)]
struct Slots {
    words: Vec<u64>,
    count: u32,
}

impl Slots {
    #[inline(always)]
    fn set(&mut self, i: u32, on: bool) {
        let at = (i / 64) as usize;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let (word, bit) = (&mut self.words[at], 1u64 << (i % 64));
        if (*word & bit != 0) != on {
            *word ^= bit;
            self.count = if on { self.count + 1 } else { self.count - 1 };
        }
    }

    /// The first one at or after `from`.
    #[inline]
    fn next(&self, from: u32) -> Option<u32> {
        let mut word = (from / 64) as usize;
        let mut bits = self.words.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.words.get(word)?;
        }
        Some(word as u32 * 64 + bits.trailing_zeros())
    }
}

/// Priorities that share the wire by rank and weight: the scheduler of a switch port, with one
/// queue per priority.
#[derive(Clone, Debug)]
struct Ranks {
    scheduler: Scheduler,
    /// By priority.
    queue_of: [u32; Priority::COUNT],
    /// By queue.
    priority_of: [usize; Priority::COUNT],
    /// By priority: whose turn it is.
    cursors: [u32; Priority::COUNT],
}

impl Ranks {
    fn new(schedule: &PrioritySchedule) -> Self {
        let layout = QueueLayout::per_priority(schedule);
        let mut priority_of = [0; Priority::COUNT];
        for (q, spec) in layout.queues.iter().enumerate() {
            priority_of[q] = spec.priority.index();
        }
        let queue_of = schedule.queue_of();
        let cursors = [0; Priority::COUNT];
        Self { scheduler: Scheduler::new(&layout), queue_of, priority_of, cursors }
    }

    /// A priority has a ready flow, or has none any more.
    #[inline(never)]
    fn set(&mut self, priority: Priority, ready: bool) {
        let q = self.queue_of[priority.index()] as usize;
        if ready {
            self.scheduler.set_ready(q, true);
        } else {
            self.scheduler.emptied(q);
        }
    }

    /// The next slot in turn of the priority in turn, outside `blocked`. `size` tells the size of
    /// the next frame of a slot.
    #[inline(never)]
    fn take_turn(
        &mut self,
        flows: &[Slots; Priority::COUNT],
        blocked: PrioritySet,
        size: impl Fn(u32) -> u64,
    ) -> Option<u32> {
        let Self { scheduler, priority_of, cursors, .. } = self;
        let first = |q: QueueId| {
            let p = priority_of[q.index()];
            (p, flows[p].next(cursors[p]).or_else(|| flows[p].next(0)))
        };
        let queue = scheduler.select(blocked, |q| first(q).1.map_or(0, &size))?;
        let (p, slot) = first(queue);
        cursors[p] = slot? + 1;
        slot
    }
}

/// Ready flow slots of one port.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct ReadyFlows {
    /// Priorities with a ready flow.
    any: PrioritySet,
    cursor: u32,
    by_priority: [Slots; Priority::COUNT],
    /// Unless all flows take turns whatever their priority.
    ranks: Option<Box<Ranks>>,
}

impl ReadyFlows {
    /// With a schedule, priorities share the wire by it.
    pub(crate) fn new(schedule: Option<&PrioritySchedule>) -> Self {
        let ranks = schedule.map(|schedule| Box::new(Ranks::new(schedule)));
        Self { ranks, ..Self::default() }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, slot: u32, priority: Priority, ready: bool) {
        let bits = &mut self.by_priority[priority.index()];
        bits.set(slot, ready);
        let there = bits.count > 0;
        if self.any.set(priority, there)
            && let Some(ranks) = &mut self.ranks
        {
            ranks.set(priority, there);
        }
    }

    /// Priorities with a ready flow.
    #[inline]
    pub(crate) fn priorities(&self) -> PrioritySet {
        self.any
    }

    /// The next slot in turn, of priorities outside `blocked`; the turn moves past it. `size` tells
    /// the size of the next frame of a slot: weights share bytes.
    #[inline(always)]
    pub(crate) fn take_turn(
        &mut self,
        blocked: PrioritySet,
        size: impl Fn(u32) -> u64,
    ) -> Option<u32> {
        let open = self.any - blocked;
        if open.is_empty() {
            return None;
        }
        if let Some(ranks) = &mut self.ranks {
            return ranks.take_turn(&self.by_priority, blocked, size);
        }
        let slot = self.next_of_few(open.bits()).or_else(|| self.next_of_many(open.bits()))?;
        self.cursor = slot + 1;
        Some(slot)
    }

    /// [`ReadyFlows::take_turn`] if only one priority is open (a bit each), and has only few slots.
    #[inline(always)]
    fn next_of_few(&self, open: u8) -> Option<u32> {
        let bits = &self.by_priority[open.trailing_zeros() as usize % Priority::COUNT];
        let (true, [word]) = (open.is_power_of_two(), bits.words.as_slice()) else { return None };
        let behind = word & u64::MAX.checked_shl(self.cursor).unwrap_or(0);
        Some(if behind != 0 { behind } else { *word }.trailing_zeros())
    }

    /// The slots that come next, one after the other, as far as priorities do not take turns.
    pub(crate) fn upcoming(&self) -> impl Iterator<Item = u32> {
        let open = self.any.bits();
        let from = move |slot| {
            std::iter::successors(self.first(open, slot), move |s| self.first(open, s + 1))
        };
        from(self.cursor).chain(from(0).take_while(|slot| *slot < self.cursor))
    }

    #[inline(never)]
    fn next_of_many(&self, open: u8) -> Option<u32> {
        self.first(open, self.cursor).or_else(|| self.first(open, 0))
    }

    /// The first slot at or after `from` of one of the priorities in `open`.
    fn first(&self, mut open: u8, from: u32) -> Option<u32> {
        let mut first = None;
        while open != 0 {
            let priority = open.trailing_zeros() as usize % Priority::COUNT;
            open &= open - 1;
            if let Some(slot) = self.by_priority[priority].next(from) {
                first = Some(first.map_or(slot, |f: u32| f.min(slot)));
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: PrioritySet = PrioritySet::EMPTY;

    #[test]
    fn turns_go_round_over_all_priorities_and_skip_the_blocked_ones() {
        let (low, high) = (Priority::ALL[1], Priority::ALL[3]);
        let mut r = ReadyFlows::default();
        r.set(0, low, true);
        r.set(70, high, true);
        r.set(5, high, true);
        let mut turns = |blocked| r.take_turn(blocked, |_| 1).unwrap();
        assert_eq!([NONE; 4].map(&mut turns), [0, 5, 70, 0]);
        assert_eq!([PrioritySet::only(low); 3].map(&mut turns), [5, 70, 5]);
        assert_eq!(r.take_turn(PrioritySet::from_iter([low, high]), |_| 1), None);
        r.set(5, high, false);
        r.set(70, high, false);
        assert_eq!(r.priorities(), PrioritySet::only(low));
        assert_eq!(r.take_turn(NONE, |_| 1), Some(0));
    }

    #[test]
    fn upcoming_slots_are_those_that_turns_take() {
        let mut r = ReadyFlows::default();
        assert_eq!(r.upcoming().next(), None);
        for (slot, priority) in [(0, 1), (70, 3), (5, 3), (64, 1)] {
            r.set(slot, Priority::ALL[priority], true);
        }
        for _ in 0..5 {
            let upcoming: Vec<_> = r.upcoming().collect();
            let mut turns = r.clone();
            assert!(upcoming.iter().all(|slot| turns.take_turn(NONE, |_| 1) == Some(*slot)));
            assert_eq!(upcoming.len(), 4);
            r.take_turn(NONE, |_| 1);
        }
    }

    /// Frames sent of each slot in `n` turns, `size` bytes each by slot.
    fn shares(
        r: &mut ReadyFlows,
        blocked: PrioritySet,
        n: u32,
        size: impl Fn(u32) -> u64,
    ) -> [u32; 4] {
        let mut sent = [0; 4];
        for _ in 0..n {
            sent[r.take_turn(blocked, &size).unwrap() as usize] += 1;
        }
        sent
    }

    /// Slots 0 and 1 of priority 3, slot 2 of priority 4, slot 3 of priority 5.
    fn four(weights: [u32; 8]) -> ReadyFlows {
        let schedule = PrioritySchedule { weights, ..PrioritySchedule::default() };
        let mut r = ReadyFlows::new(Some(&schedule));
        for (slot, priority) in [(0, 3), (1, 3), (2, 4), (3, 5)] {
            r.set(slot, Priority::ALL[priority], true);
        }
        r
    }

    #[test]
    fn strict_priorities_go_before_those_below() {
        let mut r = four([0; 8]);
        assert_eq!(shares(&mut r, NONE, 10, |_| 1518), [0, 0, 0, 10]);
        assert_eq!(
            shares(&mut r, PrioritySet::only(Priority::ALL[5]), 10, |_| 1518),
            [0, 0, 10, 0],
            "5 is held"
        );
        r.set(3, Priority::ALL[5], false);
        r.set(2, Priority::ALL[4], false);
        assert_eq!(shares(&mut r, NONE, 10, |_| 1518), [5, 5, 0, 0], "flows take turns");
        r.set(3, Priority::ALL[5], true);
        assert_eq!(shares(&mut r, NONE, 3, |_| 1518), [0, 0, 0, 3]);
    }

    /// Priority 5 is strict and done; 3 and 4 share by 1 : 2, whatever the number of their flows.
    #[test]
    fn weighted_priorities_share_bytes_by_weight() {
        let mut r = four([0, 0, 0, 1, 2, 0, 0, 0]);
        assert_eq!(shares(&mut r, NONE, 5, |_| 1500), [0, 0, 0, 5]);
        r.set(3, Priority::ALL[5], false);
        assert_eq!(shares(&mut r, NONE, 600, |_| 1500), [100, 100, 400, 0]);
        // frames of slot 2 are half as long: twice as many of them for the same bytes
        let sent = shares(&mut r, NONE, 1000, |slot| if slot == 2 { 750 } else { 1500 });
        assert_eq!(sent, [100, 100, 800, 0]);
        // a held priority leaves the wire to the other
        assert_eq!(shares(&mut r, PrioritySet::only(Priority::ALL[4]), 10, |_| 1500), [5, 5, 0, 0]);
        assert_eq!(r.take_turn(PrioritySet::ALL, |_| 1500), None);
    }
}
