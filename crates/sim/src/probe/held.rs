//! How long queues were held, and how much of that each flow felt.

use super::interface::Probe;
use crate::outcome::{HeldAt, Outcome};
use rustc_hash::FxHashMap;
use weir_core::{FlowId, NodeId, PortId, Priority, PrioritySet, QueueId, Time};
use weir_fc::HoldState;

/// Runs while a queue is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldClock {
    total: Time,
    since: Time,
    /// When the last hold ended.
    ended: Time,
}

impl Default for HoldClock {
    fn default() -> Self {
        Self { total: Time::ZERO, since: Time::NEVER, ended: Time::ZERO }
    }
}

impl HoldClock {
    #[inline]
    pub(crate) fn running(&self) -> bool {
        self.since != Time::NEVER
    }

    /// Held since, if it is.
    pub(crate) fn since(&self) -> Option<Time> {
        self.running().then_some(self.since)
    }

    pub(crate) fn start(&mut self, now: Time) {
        if !self.running() {
            self.since = now;
        }
    }

    pub(crate) fn stop(&mut self, now: Time) {
        if self.running() {
            self.total += now - self.since;
            self.since = Time::NEVER;
            self.ended = now;
        }
    }

    /// The end of the last hold: `now` if it lasts.
    pub(crate) fn ended(&self, now: Time) -> Time {
        if self.running() { now } else { self.ended }
    }

    /// Total time held until `now`.
    #[inline]
    pub(crate) fn read(&self, now: Time) -> Time {
        if self.running() { self.total + now.saturating_sub(self.since) } else { self.total }
    }
}

/// The holds of one port, of a switch or a NIC: how many are in force at each priority, and how
/// long there was at least one. Most ports of a large network are never held and keep nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortHolds(Option<Box<Holds>>);

#[derive(Clone, Debug, Default)]
struct Holds {
    /// The priorities of which something was ever held.
    ever: PrioritySet,
    in_force: [u32; Priority::COUNT],
    clocks: [HoldClock; Priority::COUNT],
    /// How many have started, the warm-up left out.
    started: [u64; Priority::COUNT],
    /// What the clocks showed when statistics began.
    before: [Time; Priority::COUNT],
}

/// What was held of a port between two looks at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SinceLast {
    /// How long.
    pub(crate) held: Time,
    /// Whether something is held at the second.
    pub(crate) lasts: bool,
}

impl PortHolds {
    /// A hold of a queue, flow or whole priority starts or ends.
    pub(crate) fn count(&mut self, priority: Priority, state: HoldState, now: Time) {
        let p = priority.index();
        let holds = self.0.get_or_insert_default();
        if state.is_held() {
            holds.ever.set(priority, true);
            holds.started[p] += 1;
            holds.in_force[p] += 1;
            holds.clocks[p].start(now);
        } else {
            holds.in_force[p] -= 1;
            if holds.in_force[p] == 0 {
                holds.clocks[p].stop(now);
            }
        }
    }

    /// The priorities of which something is held.
    pub(crate) fn held(&self) -> PrioritySet {
        let Some(holds) = &self.0 else { return PrioritySet::EMPTY };
        Priority::ALL.into_iter().filter(|p| holds.in_force[p.index()] > 0).collect()
    }

    /// How long something was held from the last call until `now`, the longest of all priorities,
    /// the warm-up included. `then` is what the clocks showed at the last call, zero before the
    /// first.
    pub(crate) fn since_last(&self, now: Time, then: &mut [Time; Priority::COUNT]) -> SinceLast {
        let mut found = SinceLast::default();
        let Some(holds) = &self.0 else { return found };
        // asked for every port and window: priorities that were never held cost nothing
        let mut rest = holds.ever.bits();
        while rest != 0 {
            let p = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let clock = &holds.clocks[p];
            let before = std::mem::replace(&mut then[p], clock.read(now));
            found.held = found.held.max(then[p].saturating_sub(before));
            found.lasts |= clock.running();
        }
        found
    }

    /// How many holds have started, by priority, the warm-up left out.
    pub(crate) fn started(&self) -> [u64; Priority::COUNT] {
        self.0.as_ref().map_or([0; Priority::COUNT], |holds| holds.started)
    }

    /// The warm-up is over: statistics start at `now`.
    pub(crate) fn restart(&mut self, now: Time) {
        if let Some(holds) = &mut self.0 {
            holds.before = holds.clocks.map(|clock| clock.read(now));
            holds.started = [0; Priority::COUNT];
        }
    }

    /// Time from `start` to `end` during which something of each priority was held. A hold that
    /// ended after the run counts until its end.
    pub(crate) fn time(&self, start: Time, end: Time) -> [Time; Priority::COUNT] {
        let Some(holds) = &self.0 else { return [Time::ZERO; Priority::COUNT] };
        let most = end.saturating_sub(start);
        let held = |p: usize| holds.clocks[p].read(end).saturating_sub(holds.before[p]);
        std::array::from_fn(|p| held(p).min(most))
    }
}

/// Time each flow lost at the ports of one node.
///
/// A packet notes the queue's hold clock when it is queued and when it leaves; the difference is
/// what it waited for. A flow's loss is the union over its packets: since they leave in
/// order, the part before the previous packet's departure has been counted already.
///
/// A flow may have packets in several queues of a port (OFC's backups, FlowSail's reserved queue),
/// whose holds overlap. What one queue adds to another is counted as if it had been the last part
/// of the hold, so that the sum is never more than the time that has passed.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldFlows {
    node: NodeId,
    lost: FxHashMap<(FlowId, PortId), Loss>,
}

/// Time that a flow lost at a port. With its key it fills a cache line.
#[derive(Clone, Debug)]
struct Loss {
    total: Time,
    /// The end of the last hold that is counted.
    until: Time,
    /// By queue: what its clock showed at the last departure. Most flows use one or two queues of
    /// a port.
    clocks: [Time; 2],
    queues: [QueueId; 2],
    more: Option<Box<More>>,
}

/// The other queues of a flow, with what their clocks showed.
#[derive(Clone, Debug, Default)]
struct More(Vec<(QueueId, Time)>);

impl Loss {
    /// Stands for "no queue".
    const NONE: QueueId = QueueId(u32::MAX);

    /// Nothing lost yet, in `queue`.
    fn new(queue: QueueId) -> Self {
        Self {
            total: Time::ZERO,
            until: Time::ZERO,
            clocks: [Time::ZERO; 2],
            queues: [queue, Self::NONE],
            more: None,
        }
    }

    /// Whether the flow has used one queue only.
    fn is_of_one_queue(&self) -> bool {
        self.queues[1] == Self::NONE
    }

    /// What the clock of `queue` showed when a packet left it last.
    #[inline]
    fn counted(&mut self, queue: QueueId) -> &mut Time {
        if self.queues[0] == queue {
            return &mut self.clocks[0];
        }
        if self.is_of_one_queue() {
            self.queues[1] = queue;
        }
        if self.queues[1] == queue {
            return &mut self.clocks[1];
        }
        let more = &mut self.more.get_or_insert_default().0;
        let place = match more.iter().position(|(q, _)| *q == queue) {
            Some(place) => place,
            None => {
                more.push((queue, Time::ZERO));
                more.len() - 1
            }
        };
        &mut more[place].1
    }
}

impl HeldFlows {
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, ..Self::default() }
    }

    /// A packet of `flow` leaves a queue whose clock went from `entered` to `now`, and whose last
    /// hold ended at `ended`.
    #[inline]
    pub(crate) fn leave(
        &mut self,
        flow: FlowId,
        port: PortId,
        queue: QueueId,
        entered: Time,
        now: Time,
        ended: Time,
    ) {
        if entered == now {
            return;
        }
        let loss = self.lost.entry((flow, port)).or_insert_with(|| Loss::new(queue));
        let before = std::mem::replace(loss.counted(queue), now);
        let lost = now.saturating_sub(entered.max(before));
        let alone = loss.is_of_one_queue();
        loss.total += if alone { lost } else { lost.min(ended.saturating_sub(loss.until)) };
        loss.until = ended.max(loss.until);
    }

    /// What was found, sorted by (flow, port).
    fn records(&self) -> Vec<(FlowId, HeldAt)> {
        let mut lost: Vec<_> = self.lost.iter().collect();
        lost.sort_unstable_by_key(|(key, _)| **key);
        let record = |(&(flow, port), loss): (&(FlowId, PortId), &Loss)| {
            (flow, HeldAt { node: self.node, port, time: loss.total })
        };
        lost.into_iter().map(record).collect()
    }
}

impl Probe for HeldFlows {
    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        for (id, at) in self.records() {
            let flow = outcome.flow_mut(id).expect("what is held was sent by a flow");
            flow.add_hold(at);
        }
        self.lost = FxHashMap::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(n: u64) -> Time {
        Time::from_ns(n)
    }

    #[test]
    fn the_clock_runs_only_while_held() {
        let mut c = HoldClock::default();
        c.start(ns(10));
        c.start(ns(12));
        assert_eq!(c.read(ns(15)), ns(5));
        c.stop(ns(20));
        c.stop(ns(25));
        assert_eq!((c.read(ns(99)), c.since()), (ns(10), None));
    }

    #[test]
    fn a_port_counts_the_time_with_any_hold_of_a_priority() {
        let (p, mut holds) = (Priority::ALL[3], PortHolds::default());
        use HoldState::{Held, Open};
        for (t, state) in [(10, Held), (20, Held), (30, Open), (50, Open), (70, Held)] {
            holds.count(p, state, ns(t));
        }
        assert!(holds.held().iter().eq([p]));
        // 10..50 and 70..100; the run began at 0
        assert_eq!((holds.time(ns(0), ns(100))[3], holds.started()[3]), (ns(70), 3));
        holds.restart(ns(80));
        assert_eq!((holds.time(ns(80), ns(100))[3], holds.started()[3]), (ns(20), 0));
    }

    /// Of two priorities, the one that was held for longer counts, and each window for itself.
    #[test]
    fn what_was_held_since_the_last_look_is_the_longest_of_all_priorities() {
        let (mut holds, mut then) = (PortHolds::default(), [Time::ZERO; Priority::COUNT]);
        assert_eq!(holds.since_last(ns(5), &mut then), SinceLast::default());
        holds.count(Priority::ALL[0], HoldState::Held, ns(10));
        holds.count(Priority::ALL[7], HoldState::Held, ns(15));
        holds.count(Priority::ALL[0], HoldState::Open, ns(18));
        // 10..18 and 15..20, then 20..24 of the second only, then nothing
        let mut look = |holds: &PortHolds, at| {
            let SinceLast { held, lasts } = holds.since_last(ns(at), &mut then);
            (held, lasts)
        };
        assert_eq!(look(&holds, 20), (ns(8), true));
        holds.count(Priority::ALL[7], HoldState::Open, ns(24));
        assert_eq!(look(&holds, 30), (ns(4), false));
        assert_eq!(look(&holds, 40), (ns(0), false));
    }

    #[test]
    fn two_packets_waiting_for_one_pause_lose_it_once() {
        let f = FlowId::new(NodeId(1), 0);
        let (port, q) = (PortId(2), QueueId(0));
        let mut h = HeldFlows::new(NodeId(7));
        // both queued before a pause of 10, leaving after it
        h.leave(f, port, q, ns(0), ns(10), ns(50));
        h.leave(f, port, q, ns(0), ns(10), ns(50));
        // a third, queued half way through a second pause of 10
        h.leave(f, port, q, ns(15), ns(20), ns(90));
        // no pause in between: nothing noted
        h.leave(FlowId::new(NodeId(1), 1), port, q, ns(20), ns(20), ns(90));
        let records = h.records();
        assert_eq!(records, [(f, HeldAt { node: NodeId(7), port, time: ns(15) })]);
    }

    /// Two queues are held, one from 0 to 60 ns, the other from 20 to 100 ns, and a flow waits in
    /// both.
    #[test]
    fn what_is_held_in_two_queues_at_once_counts_once() {
        let f = FlowId::new(NodeId(1), 0);
        let mut h = HeldFlows::new(NodeId(7));
        h.leave(f, PortId(2), QueueId(0), ns(0), ns(60), ns(60));
        h.leave(f, PortId(2), QueueId(1), ns(0), ns(80), ns(100));
        // a second packet of the other queue has waited for the same hold
        h.leave(f, PortId(2), QueueId(1), ns(0), ns(80), ns(100));
        let at = HeldAt { node: NodeId(7), port: PortId(2), time: ns(100) };
        assert_eq!(h.records(), [(f, at)]);
    }

    /// Whatever number of queues its packets are in: each is told apart.
    #[test]
    fn packets_in_many_queues_are_counted_by_queue() {
        let f = FlowId::new(NodeId(1), 0);
        let mut h = HeldFlows::new(NodeId(7));
        for (i, q) in [0, 5, 2, 9, 0, 5, 2, 9].into_iter().enumerate() {
            let shown = ns(if i < 4 { 10 } else { 15 });
            // the second time a queue's clock has gone on by 5, of a hold that ended later
            h.leave(f, PortId(2), QueueId(q), ns(0), shown, ns(100 * (i as u64 + 1)));
        }
        let at = HeldAt { node: NodeId(7), port: PortId(2), time: ns(4 * 10 + 4 * 5) };
        assert_eq!(h.records(), [(f, at)]);
    }
}
