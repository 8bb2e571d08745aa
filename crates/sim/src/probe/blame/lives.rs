//! What travels beside packets.

use crate::outcome::pieces::{Hold, Life};
use std::collections::VecDeque;
use std::sync::Mutex;
use weir_core::{Bytes, FlowId, PortId, Rate, Time};
use weir_fc::Target;

/// The lives of all data packets on wires, wire by wire, in order. A wire has one node at each end,
/// and a packet comes out only after its sender has put it in, whichever threads run them: the
/// locks are never contended for long and decide nothing.
#[derive(Debug)]
pub(crate) struct Lives {
    /// By receiving end.
    wires: Vec<Mutex<VecDeque<Box<Life>>>>,
}

impl Lives {
    /// For so many receiving ends.
    pub(crate) fn new(wires: usize) -> Self {
        Self { wires: (0..wires).map(|_| Mutex::default()).collect() }
    }

    fn wire(&self, wire: usize) -> std::sync::MutexGuard<'_, VecDeque<Box<Life>>> {
        self.wires[wire].lock().expect("no probe panics while it holds the lock")
    }

    /// A packet starts on a wire.
    pub(crate) fn put(&self, wire: usize, life: Box<Life>) {
        self.wire(wire).push_back(life);
    }

    /// A packet comes out of a wire.
    pub(crate) fn take(&self, wire: usize, flow: FlowId, seq: u32) -> Box<Life> {
        let life = self.wire(wire).pop_front().expect("what arrives was sent");
        debug_assert_eq!((life.flow, life.seq), (flow, seq), "wires keep the order");
        life
    }
}

/// The ports of one node.
#[derive(Clone, Debug)]
pub(crate) struct Ports {
    /// By port: rate, the wire that it sends to, the wire that comes in by it.
    pub(crate) of: Vec<(Rate, usize, usize)>,
    /// Preamble and gap.
    pub(crate) overhead: Bytes,
}

impl Ports {
    /// How long a frame occupies the wire of a port.
    pub(crate) fn serialisation(&self, port: PortId, size: u16) -> Time {
        self.of[port.index()].0.time_for(Bytes::from(size) + self.overhead)
    }

    /// The wire that a port sends to.
    pub(crate) fn outgoing(&self, port: PortId) -> usize {
        self.of[port.index()].1
    }

    /// The wire that comes in by a port.
    pub(crate) fn incoming(&self, port: PortId) -> usize {
        self.of[port.index()].2
    }
}

/// The latest stretches of time of some kind, in order, without overlaps. Those that touch are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretches(VecDeque<(Time, Time)>);

impl Stretches {
    /// As many are remembered.
    const MOST: usize = 512;

    /// One more, not before the others.
    pub(crate) fn add(&mut self, from: Time, to: Time) {
        match self.0.back_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => self.0.push_back((from, to)),
        }
        if self.0.len() > Self::MOST {
            self.0.pop_front();
        }
    }

    /// How much of `from..to` they cover.
    pub(crate) fn within(&self, from: Time, to: Time) -> Time {
        let later = self.0.iter().rev().take_while(|s| s.1 > from);
        let parts = later.map(|s| s.1.min(to).saturating_sub(s.0.max(from)));
        parts.fold(Time::ZERO, |sum, part| sum + part)
    }

    /// Forgets those that ended by `t`.
    pub(crate) fn forget(&mut self, t: Time) {
        while self.0.front().is_some_and(|s| s.1 <= t) {
            self.0.pop_front();
        }
    }

    /// Forgets all but the last.
    pub(crate) fn keep_last(&mut self) {
        let past = self.0.len().saturating_sub(1);
        self.0.drain(..past);
    }

    /// When the last of them began, if it lasts until `t` or longer.
    pub(crate) fn began(&self, t: Time) -> Option<Time> {
        self.0.back().filter(|s| s.1 >= t).map(|s| s.0)
    }
}

/// When the targets of a port were held, in order of their ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct HoldLog {
    past: Vec<Hold>,
    /// In force now.
    now: Vec<(Target, Time)>,
}

impl HoldLog {
    /// A hold begins. One of the same target that is still in force was of a flow that has ended:
    /// its slot is taken again.
    pub(crate) fn begin(&mut self, target: Target, now: Time) {
        self.end(target, now);
        self.now.push((target, now));
    }

    /// A new flow takes a slot: a hold that began before is not of this flow.
    pub(crate) fn renew(&mut self, target: Target, now: Time) {
        if self.now.iter().any(|(t, since)| *t == target && *since < now) {
            self.end(target, now);
        }
    }

    /// A hold ends.
    pub(crate) fn end(&mut self, target: Target, now: Time) {
        if let Some(i) = self.now.iter().position(|(t, _)| *t == target) {
            let (target, from) = self.now.remove(i);
            if from < now {
                self.past.push(Hold { target, from, to: now });
            }
        }
    }

    /// Forgets holds that are over.
    pub(crate) fn forget_past(&mut self) {
        self.past.clear();
    }

    /// The holds of any of these targets within `from..to`, without overlaps, in order: of two at
    /// the same time the one that began first counts.
    pub(crate) fn within(&self, of: &[Target], from: Time, to: Time) -> Vec<Hold> {
        let past = self.past.iter().rev().take_while(|h| h.to > from).copied();
        let now = self.now.iter().map(|&(target, since)| Hold { target, from: since, to });
        let mut found: Vec<Hold> =
            past.chain(now).filter(|h| of.contains(&h.target) && h.from < to).collect();
        found.sort_by_key(|h| (h.from, h.to));
        let mut at = from;
        let mut parts = Vec::with_capacity(found.len());
        for h in found {
            let part = Hold { from: h.from.max(at), to: h.to.min(to), ..h };
            if part.from < part.to {
                at = part.to;
                parts.push(part);
            }
        }
        parts
    }
}

/// The parts of `from..to` outside `holds`, which are within it and in order.
pub(crate) fn outside(holds: &[Hold], from: Time, to: Time) -> Vec<(Time, Time)> {
    let mut at = from;
    let mut parts = Vec::with_capacity(holds.len() + 1);
    for hold in holds {
        parts.push((at, hold.from));
        at = hold.to;
    }
    parts.push((at, to));
    parts.retain(|(from, to)| from < to);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::{Priority, QueueId};

    fn ns(n: u64) -> Time {
        Time::from_ns(n)
    }

    #[test]
    fn stretches_that_touch_are_one_and_are_cut_to_what_is_asked() {
        let mut s = Stretches::default();
        for (from, to) in [(0, 10), (10, 20), (30, 40)] {
            s.add(ns(from), ns(to));
        }
        // 5..20 and 30..35
        assert_eq!(s.within(ns(5), ns(35)), ns(20));
        assert_eq!((s.began(ns(40)), s.began(ns(41))), (Some(ns(30)), None));
        s.forget(ns(20));
        assert_eq!(s.within(ns(0), ns(50)), ns(10));
    }

    #[test]
    fn of_two_holds_at_once_the_first_counts() {
        let (p, q) = (Target::Priority(Priority::ALL[3]), Target::Queue(QueueId(1)));
        let mut log = HoldLog::default();
        log.begin(p, ns(10));
        log.begin(q, ns(20));
        log.end(p, ns(30));
        log.end(q, ns(50));
        log.begin(p, ns(70));
        let found = log.within(&[p, q], ns(15), ns(80));
        let hold = |target, from, to| Hold { target, from: ns(from), to: ns(to) };
        assert_eq!(found, [hold(p, 15, 30), hold(q, 30, 50), hold(p, 70, 80)]);
        assert_eq!(outside(&found, ns(15), ns(80)), [(ns(50), ns(70))]);
    }
}
