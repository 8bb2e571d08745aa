//! Timers of one node: few, seldom armed, often cancelled.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;
use weir_core::Time;

/// Timers named by `K`; each name is armed at most once. Those that fire together do so in the
/// order of their names.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Timers<K> {
    /// The earlier of the next two.
    soonest: Time,
    /// The earliest live entry.
    next: Time,
    /// Set by the node: something else is due then.
    bound: Time,
    foreground: usize,
    heap: BinaryHeap<Reverse<(Time, K)>>,
    /// When each is due; heap entries that disagree are stale.
    armed: FxHashMap<K, (Time, bool)>,
}

impl<K: Ord + Hash + Copy> Timers<K> {
    pub(crate) fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            armed: FxHashMap::default(),
            next: Time::NEVER,
            bound: Time::NEVER,
            soonest: Time::NEVER,
            foreground: 0,
        }
    }

    /// When the next one is due.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Something else is due at `t`.
    pub(crate) fn bound(&mut self, t: Time) {
        self.bound = t;
        self.soonest = self.next.min(t);
    }

    /// When the next one is due, or the bound is reached: until then a node need not look at
    /// anything but its packets.
    #[inline(always)]
    pub(crate) fn soonest(&self) -> Time {
        self.soonest
    }

    /// How many are armed that keep a run alive.
    pub(crate) fn foreground(&self) -> usize {
        self.foreground
    }

    /// (Re-)arms `key`.
    pub(crate) fn arm(&mut self, key: K, at: Time, background: bool) {
        if let Some((_, was_background)) = self.armed.insert(key, (at, background)) {
            self.foreground -= usize::from(!was_background);
        }
        self.foreground += usize::from(!background);
        self.heap.push(Reverse((at, key)));
        self.settle();
    }

    /// Disarms `key`, if it is armed.
    pub(crate) fn cancel(&mut self, key: K) {
        if let Some((_, background)) = self.armed.remove(&key) {
            self.foreground -= usize::from(!background);
            self.settle();
        }
    }

    /// Takes the next one out.
    pub(crate) fn pop(&mut self) -> Option<(Time, K, bool)> {
        let Reverse((at, key)) = self.heap.pop()?;
        let (_, background) = self.armed.remove(&key).expect("the top entry is live");
        self.foreground -= usize::from(!background);
        self.settle();
        Some((at, key, background))
    }

    /// Drops stale entries from the top.
    fn settle(&mut self) {
        self.next = Time::NEVER;
        while let Some(Reverse((at, key))) = self.heap.peek() {
            if self.armed.get(key).is_some_and(|(due, _)| due == at) {
                self.next = *at;
                break;
            }
            self.heap.pop();
        }
        self.soonest = self.next.min(self.bound);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn timers_fire_by_time_then_by_name() {
        let mut t = Timers::new();
        t.arm(2u8, at(5), false);
        t.arm(1u8, at(5), true);
        t.arm(3u8, at(4), true);
        assert_eq!(t.next(), at(4));
        let order: Vec<u8> = std::iter::from_fn(|| t.pop()).map(|(_, k, _)| k).collect();
        assert_eq!(order, [3, 1, 2]);
        assert_eq!(t.next(), Time::NEVER);
    }

    #[test]
    fn the_soonest_is_a_timer_or_the_bound() {
        let mut t = Timers::new();
        t.bound(at(8));
        assert_eq!(t.soonest(), at(8));
        t.arm(1u8, at(9), false);
        t.arm(2u8, at(5), false);
        assert_eq!((t.soonest(), t.next()), (at(5), at(5)));
        t.cancel(2);
        assert_eq!((t.soonest(), t.next()), (at(8), at(9)));
        t.bound(at(20));
        assert_eq!(t.soonest(), at(9));
    }

    #[test]
    fn arming_again_moves_and_cancelling_removes() {
        let mut t = Timers::new();
        t.arm(1u8, at(5), false);
        t.arm(1u8, at(9), false);
        t.arm(2u8, at(7), true);
        assert_eq!((t.next(), t.foreground()), (at(7), 1));
        t.cancel(2);
        t.cancel(2);
        assert_eq!(t.next(), at(9));
        // moved earlier: the entry at 9 must not fire a second time
        t.arm(1u8, at(6), false);
        assert_eq!(t.pop(), Some((at(6), 1, false)));
        assert_eq!((t.pop(), t.foreground()), (None, 0));
    }
}
