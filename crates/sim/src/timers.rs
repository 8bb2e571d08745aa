//! Timers of one node: often moved, seldom fired.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;
use weir_core::Time;
use weir_fc::TimerClass;

/// Timers named by `K`; each name is armed at most once. Those that fire together do so in the
/// order of their names.
///
/// Most timers are moved to a later time, again and again, and never fire: a retransmission timeout
/// moves with every packet. So a timer that moves keeps its place in the heap, which is too early
/// then, and is put right when it comes to the top ([`Timers::settle`]). Between two calls of that
/// the next time is a bound: nothing is due before.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Timers<K> {
    /// The earlier of the next two.
    soonest: Time,
    /// No timer is due before.
    next: Time,
    /// Set by the node: something else is due then.
    bound: Time,
    /// A timer has moved to a later time or been taken out since the top of the heap was put right:
    /// `next` may be too early. As long as none has, the top is live and due at `next`, because
    /// whatever else is armed has a place of its own and `next` takes it into account.
    moved: bool,
    foreground: usize,
    heap: BinaryHeap<Reverse<(Time, K)>>,
    /// The timers that have a place in the heap: those with a number, by kind, and the others. Heap
    /// entries that disagree are stale.
    numbered: [Vec<Option<Timer>>; Number::KINDS],
    named: FxHashMap<K, Timer>,
}

/// The name of a timer.
pub(crate) trait Name: Ord + Hash + Copy {
    /// A number that no other name has, for timers that are armed with every packet or fire every
    /// few microseconds: they are found without a search.
    fn number(self) -> Option<Number> {
        None
    }
}

/// The number of a timer: a small one among those of its kind. Kinds are apart, so that timers of
/// the same kind are close to each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub(crate) kind: usize,
    pub(crate) index: usize,
}

impl Number {
    /// How many kinds there can be.
    pub(crate) const KINDS: usize = 5;
}

/// A timer with a place in the heap.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// Where its place is: not after `due`.
    place: Time,
    /// When it fires.
    due: Time,
    /// It has not been cancelled.
    armed: bool,
    class: TimerClass,
}

impl Timer {
    /// Whether it keeps a run alive.
    fn is_foreground(&self) -> bool {
        self.armed && self.class == TimerClass::Foreground
    }
}

impl<K: Name> Timers<K> {
    pub(crate) fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            numbered: [const { Vec::new() }; Number::KINDS],
            named: FxHashMap::default(),
            next: Time::NEVER,
            bound: Time::NEVER,
            soonest: Time::NEVER,
            moved: false,
            foreground: 0,
        }
    }

    /// When the next one is due, or earlier.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Something else is due at `t`.
    pub(crate) fn bound(&mut self, t: Time) {
        self.bound = t;
        self.soonest = self.next.min(t);
    }

    /// No timer is due before, nor is the bound reached: until then a node need not look at
    /// anything but its packets.
    #[inline(always)]
    pub(crate) fn soonest(&self) -> Time {
        self.soonest
    }

    /// How many are armed that keep a run alive.
    pub(crate) fn foreground(&self) -> usize {
        self.foreground
    }

    /// (Re-)arms `key`, which keeps the run alive.
    #[inline(always)]
    pub(crate) fn arm(&mut self, key: K, at: Time) {
        self.arm_as(key, at, TimerClass::Foreground);
    }

    /// (Re-)arms `key`, which does not keep the run alive.
    #[inline(always)]
    pub(crate) fn arm_background(&mut self, key: K, at: Time) {
        self.arm_as(key, at, TimerClass::Background);
    }

    /// (Re-)arms `key`. What happens with every packet, that a numbered timer which keeps the run
    /// alive moves to a later time, takes no call.
    #[inline(always)]
    pub(crate) fn arm_as(&mut self, key: K, at: Time, class: TimerClass) {
        if let Some(n) = key.number()
            && let Some(Some(timer)) = self.numbered[n.kind].get_mut(n.index)
            && timer.is_foreground()
            && timer.place <= at
            && class == TimerClass::Foreground
        {
            timer.due = at;
            self.moved = true;
            return;
        }
        self.place(key, at, class);
    }

    /// [`Timers::arm`] for any timer.
    #[inline(never)]
    fn place(&mut self, key: K, at: Time, class: TimerClass) {
        let new = Timer { place: at, due: at, armed: true, class };
        self.foreground += usize::from(new.is_foreground());
        match self.known(key) {
            None => self.add(key, new),
            Some(timer) => {
                let was_foreground = timer.is_foreground();
                let stays = timer.place <= at;
                *timer = Timer { place: timer.place.min(at), ..new };
                self.foreground -= usize::from(was_foreground);
                if stays {
                    self.moved = true;
                    return;
                }
            }
        }
        if self.heap.capacity() == 0 {
            // a node may never have another one, and there may be many nodes
            self.heap.reserve_exact(1);
        }
        self.heap.push(Reverse((at, key)));
        self.next = self.next.min(at);
        self.soonest = self.soonest.min(at);
    }

    /// Disarms `key`, if it is armed.
    pub(crate) fn cancel(&mut self, key: K) {
        if let Some(timer) = self.known(key) {
            let was_foreground = timer.is_foreground();
            timer.armed = false;
            self.foreground -= usize::from(was_foreground);
            self.moved = true;
        }
    }

    /// Whether `key` is armed.
    pub(crate) fn is_armed(&self, key: K) -> bool {
        let timer = match key.number() {
            Some(n) => self.numbered[n.kind].get(n.index).and_then(Option::as_ref),
            None => self.named.get(&key),
        };
        timer.is_some_and(|timer| timer.armed)
    }

    /// The timer of this name, if it has a place.
    #[inline]
    fn known(&mut self, key: K) -> Option<&mut Timer> {
        match key.number() {
            Some(n) => self.numbered[n.kind].get_mut(n.index)?.as_mut(),
            None => self.named.get_mut(&key),
        }
    }

    fn add(&mut self, key: K, timer: Timer) {
        match key.number() {
            Some(Number { kind, index }) => {
                let timers = &mut self.numbered[kind];
                if timers.is_empty() {
                    // often the only one
                    timers.reserve_exact(index + 1);
                }
                if timers.len() <= index {
                    timers.resize(index + 1, None);
                }
                timers[index] = Some(timer);
            }
            None => _ = self.named.insert(key, timer),
        }
    }

    fn remove(&mut self, key: K) -> Option<Timer> {
        match key.number() {
            Some(n) => self.numbered[n.kind].get_mut(n.index)?.take(),
            None => self.named.remove(&key),
        }
    }

    /// Fires the next one: it is not armed any more. It keeps its place at the top, because most
    /// timers that fire are armed again at once; if this one is not, [`Timers::settle`] removes it.
    pub(crate) fn pop(&mut self) -> Option<(Time, K, TimerClass)> {
        self.settle();
        let &Reverse((at, key)) = self.heap.peek()?;
        let timer = self.known(key).expect("the top entry is live");
        let (was_foreground, class) = (timer.is_foreground(), timer.class);
        timer.armed = false;
        self.foreground -= usize::from(was_foreground);
        self.moved = true;
        Some((at, key, class))
    }

    /// When the next one is due.
    #[inline]
    pub(crate) fn settle(&mut self) -> Time {
        if self.moved {
            self.put_right();
        }
        self.next
    }

    /// Puts the top of the heap right.
    #[inline(never)]
    fn put_right(&mut self) {
        self.moved = false;
        self.next = Time::NEVER;
        while let Some(&Reverse((at, key))) = self.heap.peek() {
            match self.known(key).filter(|timer| timer.place == at) {
                Some(timer) if timer.armed && timer.due == at => {
                    self.next = at;
                    break;
                }
                Some(timer) if timer.armed => {
                    timer.place = timer.due;
                    let moved = Reverse((timer.due, key));
                    if let Some(mut top) = self.heap.peek_mut() {
                        *top = moved;
                    }
                }
                found => {
                    if found.is_some() {
                        self.remove(key);
                    }
                    self.heap.pop();
                }
            }
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

    /// Some names have a number.
    impl Name for u8 {
        fn number(self) -> Option<Number> {
            let (kind, index) = (usize::from(self % 2), usize::from(self / 2));
            (self > 5).then_some(Number { kind, index })
        }
    }

    #[test]
    fn timers_fire_by_time_then_by_name() {
        let mut t = Timers::new();
        t.arm(2u8, at(5));
        t.arm_background(1u8, at(5));
        t.arm_background(3u8, at(4));
        assert_eq!(t.settle(), at(4));
        let order: Vec<u8> = std::iter::from_fn(|| t.pop()).map(|(_, k, _)| k).collect();
        assert_eq!(order, [3, 1, 2]);
        assert_eq!(t.settle(), Time::NEVER);
    }

    #[test]
    fn the_soonest_is_a_timer_or_the_bound() {
        let mut t = Timers::new();
        t.bound(at(8));
        assert_eq!(t.soonest(), at(8));
        t.arm(1u8, at(9));
        t.arm(2u8, at(5));
        assert_eq!((t.settle(), t.soonest()), (at(5), at(5)));
        t.cancel(2);
        assert_eq!((t.settle(), t.soonest()), (at(9), at(8)));
        t.bound(at(20));
        assert_eq!(t.soonest(), at(9));
    }

    /// Moved, cancelled and fired in any order, they do what a list does that is searched.
    #[test]
    fn many_timers_fire_as_a_plain_list_says() {
        let (mut timers, mut list) = (Timers::new(), std::collections::BTreeMap::new());
        let mut now = 0;
        for step in 0..20_000u64 {
            let draw = weir_core::rng::mix(step);
            let classes = [TimerClass::Foreground, TimerClass::Background];
            let (key, class) = ((draw >> 8) as u8 % 12, classes[(draw >> 20 & 1) as usize]);
            match draw % 8 {
                0 => {
                    timers.cancel(key);
                    list.remove(&key);
                }
                1 => {
                    let first = list.iter().map(|(k, (at, b))| (*at, *k, *b)).min();
                    assert_eq!(timers.pop(), first);
                    if let Some((at, key, _)) = first {
                        (now, _) = (at.as_ps() / 1000, list.remove(&key));
                    }
                }
                _ => {
                    let due = at(now + (draw >> 32) % 50);
                    timers.arm_as(key, due, class);
                    list.insert(key, (due, class));
                }
            }
            let next = list.values().map(|(at, _)| *at).min().unwrap_or(Time::NEVER);
            assert!(timers.next() <= next && timers.soonest() <= next);
            if draw >> 40 & 3 == 0 {
                assert_eq!((timers.settle(), timers.next()), (next, next));
            }
            let foreground = |(_, class): &&(Time, TimerClass)| *class == TimerClass::Foreground;
            assert_eq!(timers.foreground(), list.values().filter(foreground).count());
        }
    }

    /// A timer that moves with every packet leaves nothing behind.
    #[test]
    fn a_timer_that_is_moved_takes_one_place() {
        for name in [1u8, 7] {
            let mut t = Timers::new();
            for i in 0..1000 {
                t.arm(name, at(100 + i));
            }
            assert_eq!((t.heap.len(), t.next(), t.settle()), (1, at(100), at(1099)));
            for i in 0..1000 {
                t.cancel(name);
                t.arm_background(name, at(2000 + i));
            }
            assert_eq!((t.heap.len(), t.settle(), t.foreground()), (1, at(2999), 0));
        }
    }

    #[test]
    fn arming_again_moves_and_cancelling_removes() {
        let mut t = Timers::new();
        t.arm(1u8, at(5));
        t.arm(1u8, at(9));
        t.arm_background(2u8, at(7));
        assert_eq!((t.settle(), t.foreground()), (at(7), 1));
        t.cancel(2);
        t.cancel(2);
        assert_eq!(t.settle(), at(9));
        // moved earlier: the entry at 9 must not fire a second time
        t.arm(1u8, at(6));
        assert_eq!(t.pop(), Some((at(6), 1, TimerClass::Foreground)));
        assert_eq!((t.pop(), t.foreground()), (None, 0));
    }
}
