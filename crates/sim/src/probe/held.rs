//! How long queues were held, and how much of that each flow felt.

use crate::outcome::HeldAt;
use rustc_hash::FxHashMap;
use weir_core::{FlowId, NodeId, PortId, QueueId, Time};

/// Runs while a queue is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldClock {
    total: Time,
    since: Time,
}

impl Default for HoldClock {
    fn default() -> Self {
        Self { total: Time::ZERO, since: Time::NEVER }
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
        }
    }

    /// Total time held until `now`.
    #[inline]
    pub(crate) fn read(&self, now: Time) -> Time {
        if self.running() { self.total + now.saturating_sub(self.since) } else { self.total }
    }
}

/// Time each flow lost at the ports of one node.
///
/// A packet notes the queue's hold clock when it is queued and when it leaves; the difference is
/// what it waited for. A flow's loss is the union over its packets: since they leave in
/// order, the part before the previous packet's departure has been counted already.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldFlows {
    lost: FxHashMap<(FlowId, PortId, QueueId), (Time, Time)>,
}

impl HeldFlows {
    /// A packet of `flow` leaves a queue whose clock went from `entered` to `now`.
    #[inline]
    pub(crate) fn leave(
        &mut self,
        flow: FlowId,
        port: PortId,
        queue: QueueId,
        entered: Time,
        now: Time,
    ) {
        if entered == now {
            return;
        }
        let (total, counted) = self.lost.entry((flow, port, queue)).or_default();
        *total += now.saturating_sub(entered.max(*counted));
        *counted = now;
    }

    /// What was found, sorted by (flow, port).
    pub(crate) fn into_records(self, node: NodeId) -> Vec<(FlowId, HeldAt)> {
        let mut lost: Vec<_> = self.lost.into_iter().collect();
        lost.sort_unstable_by_key(|(key, _)| *key);
        let mut records: Vec<(FlowId, HeldAt)> = Vec::new();
        for ((flow, port, _), (time, _)) in lost {
            match records.last_mut() {
                Some((f, at)) if *f == flow && at.port == port => at.time += time,
                _ => records.push((flow, HeldAt { node, port, time })),
            }
        }
        records
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
    fn two_packets_waiting_for_one_pause_lose_it_once() {
        let f = FlowId::new(NodeId(1), 0);
        let (port, q) = (PortId(2), QueueId(0));
        let mut h = HeldFlows::default();
        // both queued before a pause of 10, leaving after it
        h.leave(f, port, q, ns(0), ns(10));
        h.leave(f, port, q, ns(0), ns(10));
        // a third, queued half way through a second pause of 10
        h.leave(f, port, q, ns(15), ns(20));
        // no pause in between: nothing noted
        h.leave(FlowId::new(NodeId(1), 1), port, q, ns(20), ns(20));
        let records = h.into_records(NodeId(7));
        assert_eq!(records, [(f, HeldAt { node: NodeId(7), port, time: ns(15) })]);
    }
}
