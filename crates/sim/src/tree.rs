//! A tournament tree over a fixed set of clocks: it finds the earliest; of equal ones, that with
//! the lowest index.
//!
//! A node has one clock per input wire and one per port, and few of them change between two
//! queries. A tree with sixteen children per inner node is then cheaper than a priority queue.
//! Clocks are numbered in the canonical order of events, so the tie rule is that order.

use weir_core::Time;
use weir_core::prefetch::prefetch;

/// How many bits of a key hold the clock's index: a node has one clock per port and one more.
const INDEX_BITS: u32 = u16::BITS;

/// Clocks show times below this; whatever is later counts as "never". Keys of such times, read as
/// floating-point numbers, are finite.
pub(crate) const END: Time = Time::from_ps((f64::INFINITY.to_bits() >> INDEX_BITS) - 1);

/// The longest simulated time: 2^46 ps, about 70 s. Half of what clocks can show, so that what
/// they cannot show lies beyond every run.
pub const HORIZON: Time = Time::from_ps(1 << 46);

/// Children per inner node of the tree: how many keys are compared at a time.
const HEAT: usize = 16;

/// Clocks, and the earliest of them.
///
/// The winner's own places in the tree hold "never", so that the minimum of the tree is the best of
/// the others: when the winner gets a new time, one comparison with it decides.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// The winner's key.
    root: u64,
    /// The only heat, where there are at most sixteen clocks.
    heat: Option<Box<Heat>>,
    /// Whether there are clocks in its lower half only, as there are in switches of eight ports.
    half: bool,
    /// Otherwise the heats of each round, from the clocks to the root: the winner of heat `i` of a
    /// round is at place `i % HEAT` of heat `i / HEAT` of the next one. A single clock needs no
    /// heat.
    rounds: Box<[Box<[Heat]>]>,
}

/// Sixteen keys. A key has the time in its upper and the index in its lower bits, so one comparison
/// decides by time and then by index.
///
/// They are held as the floating-point numbers that have these bits: of such numbers, if
/// they are positive, the smaller one has the smaller bits, and finding the smallest of sixteen
/// takes a processor half as many instructions as with integers. No arithmetic is done with them.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Heat([f64; HEAT]);

#[inline(always)]
fn key(i: usize, t: Time) -> u64 {
    t.min(END).as_ps() << INDEX_BITS | i as u64
}

/// The key of a clock at "never", where its index does not matter.
const NEVER: u64 = END.as_ps() << INDEX_BITS;

impl Heat {
    fn new() -> Self {
        Self([f64::from_bits(NEVER); HEAT])
    }

    #[inline(always)]
    fn put(&mut self, i: usize, key: u64) {
        self.0[i % HEAT] = f64::from_bits(key);
    }

    #[inline(always)]
    fn get(&self, i: usize) -> u64 {
        self.0[i % HEAT].to_bits()
    }

    /// The smallest.
    #[inline(always)]
    fn min(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, rest @ ..] = self.0;
        let [i, j, k, l, m, n, o, p] = rest;
        let (a, b, c, d) = (smaller(a, i), smaller(b, j), smaller(c, k), smaller(d, l));
        let (e, f, g, h) = (smaller(e, m), smaller(f, n), smaller(g, o), smaller(h, p));
        smallest([a, b, c, d, e, f, g, h])
    }

    /// The smallest of the lower half.
    #[inline(always)]
    fn min_of_half(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        smallest([a, b, c, d, e, f, g, h])
    }
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
fn smallest([a, b, c, d, e, f, g, h]: [f64; HEAT / 2]) -> u64 {
    let (a, b, c, d) = (smaller(a, e), smaller(b, f), smaller(c, g), smaller(d, h));
    let (a, b) = (smaller(a, c), smaller(b, d));
    smaller(a, b).to_bits()
}

/// The clock of a key.
#[inline(always)]
fn index(key: u64) -> usize {
    (key & ((1 << INDEX_BITS) - 1)) as usize
}

/// Writes `key` to all places that clock `i` has in `rounds` when it is the winner.
fn put_all(rounds: &mut [Box<[Heat]>], mut i: usize, key: u64) {
    for heats in rounds {
        heats[i / HEAT].put(i, key);
        i /= HEAT;
    }
}

/// The winner, clock `i`, gets `key`; returns the key of the new winner, whose places then hold
/// "never".
#[inline(never)]
fn play_again(rounds: &mut [Box<[Heat]>], mut i: usize, mut key: u64) -> u64 {
    for heats in rounds.iter_mut() {
        let heat = &mut heats[i / HEAT];
        let best = key.min(heat.min());
        heat.put(i, key);
        (i, key) = (i / HEAT, best);
    }
    put_all(rounds, index(key), NEVER);
    key
}

/// Clock `i`, which is not the winner (`best`), gets `key`; returns the key of the new winner,
/// whose places then hold "never".
#[inline(never)]
fn play_on(rounds: &mut [Box<[Heat]>], best: u64, mut i: usize, mut key: u64) -> u64 {
    let mut winner = index(best);
    if key < best {
        put_all(rounds, winner, best);
        put_all(rounds, i, NEVER);
        return key;
    }
    for heats in rounds {
        let heat = &mut heats[i / HEAT];
        heat.put(i, key);
        (i, winner) = (i / HEAT, winner / HEAT);
        if i == winner {
            // the next round has no entry of the winner's heat until the winner gets a new key
            break;
        }
        key = heat.min();
    }
    best
}

/// Checks that this thread compares keys exactly: a library may have set the processor to treat
/// subnormal numbers as zero, which would change the order of events.
///
/// # Panics
/// When it does not.
pub(crate) fn check_comparisons() {
    let [one, two] = [1, 2].map(|i| std::hint::black_box(f64::from_bits(i)));
    assert!(one < two, "denormals are zero in this thread: times cannot be compared");
}

impl Tournament {
    /// `n` clocks, all at "never".
    ///
    /// # Panics
    /// When there are more clocks than an index can tell apart.
    pub(crate) fn new(n: usize) -> Self {
        assert!(n <= 1 << INDEX_BITS, "{n} clocks are too many");
        let mut rounds = Vec::new();
        let mut players = n;
        while n > HEAT && players > 1 {
            players = players.div_ceil(HEAT);
            rounds.push((0..players).map(|_| Heat::new()).collect());
        }
        let heat = (2..=HEAT).contains(&n).then(|| Box::new(Heat::new()));
        Self { root: NEVER, heat, half: n <= HEAT / 2, rounds: rounds.into() }
    }

    /// Prefetches the clocks.
    pub(crate) fn prefetch(&self) {
        if let Some(heat) = &self.heat {
            prefetch(&**heat);
        } else if let Some(heats) = self.rounds.first() {
            prefetch(&**heats);
        }
    }

    /// The earliest time.
    pub(crate) fn min(&self) -> Time {
        Self::or_never(self.earliest())
    }

    /// The earliest time, or a time later than any run lasts, which [`Tournament::or_never`] turns
    /// into "never".
    #[inline(always)]
    pub(crate) fn earliest(&self) -> Time {
        Time::from_ps(self.root >> INDEX_BITS)
    }

    /// What a time means that may come from [`Tournament::earliest`].
    #[inline(always)]
    pub(crate) fn or_never(t: Time) -> Time {
        if t < END { t } else { Time::NEVER }
    }

    /// The clock that shows the earliest time; the lowest one of several.
    #[inline(always)]
    pub(crate) fn winner(&self) -> usize {
        index(self.root)
    }

    /// The earliest clock shows `t` from now on.
    #[inline(always)]
    pub(crate) fn advance(&mut self, t: Time) {
        self.come_back(t.min(END).as_ps() << INDEX_BITS);
    }

    /// [`Tournament::advance`] to a time that clocks can show, or to "never".
    #[inline(always)]
    pub(crate) fn advance_to(&mut self, t: Option<Time>) {
        debug_assert!(t.is_none_or(|t| t < END), "the run is over by then");
        self.come_back(t.map_or(NEVER, |t| t.as_ps() << INDEX_BITS));
    }

    /// The earliest clock shows the time of a key whose index is missing.
    #[inline(always)]
    fn come_back(&mut self, time: u64) {
        let i = self.winner();
        let key = time | i as u64;
        match &mut self.heat {
            Some(heat) => {
                let best = if self.half { heat.min_of_half() } else { heat.min() };
                self.root = key.min(best);
                heat.put(i, key);
                heat.put(self.root as usize, NEVER);
            }
            None if self.rounds.is_empty() => self.root = key,
            None => self.root = play_again(&mut self.rounds, i, key),
        }
    }

    /// Sets clock `i`.
    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, t: Time) {
        debug_assert!(self.heat.is_none() || i < HEAT, "there is no clock {i}");
        if i == self.winner() {
            self.advance(t);
        } else {
            self.challenge(i, key(i, t));
        }
    }

    /// Sets clock `i` to `t` unless it shows an earlier time.
    #[inline(always)]
    pub(crate) fn bring_forward(&mut self, i: usize, t: Time) {
        let key = key(i, t);
        if i != self.winner() {
            if key < self.shown(i) {
                self.challenge(i, key);
            }
        } else if key < self.root {
            self.set(i, t);
        }
    }

    /// Whether clock `i`, if it showed `t`, would be the earliest.
    #[inline(always)]
    pub(crate) fn would_win(&self, i: usize, t: Time) -> bool {
        key(i, t) <= self.root
    }

    /// What clock `i` shows, which is not the earliest.
    #[inline(always)]
    fn shown(&self, i: usize) -> u64 {
        match (&self.heat, &*self.rounds) {
            (Some(heat), _) => heat.get(i),
            (None, [clocks, ..]) => clocks[i / HEAT].get(i),
            (None, []) => NEVER,
        }
    }

    /// Clock `i`, which is not the earliest, shows `key`.
    #[inline(always)]
    fn challenge(&mut self, i: usize, key: u64) {
        let best = self.root;
        match &mut self.heat {
            Some(heat) if key < best => {
                heat.put(best as usize, best);
                heat.put(i, NEVER);
                self.root = key;
            }
            Some(heat) => heat.put(i, key),
            None => self.root = play_on(&mut self.rounds, best, i, key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_linear_scan(
            n in prop_oneof![1usize..40, 250usize..300, 4090usize..4110],
            sets in prop::collection::vec((0usize..5000, 0u64..8, any::<bool>()), 0..200),
        ) {
            let mut tree = Tournament::new(n);
            let mut clocks = vec![Time::NEVER; n];
            for (i, t, forward) in sets {
                let (i, t) = (i % n, if t == 7 { Time::NEVER } else { Time::from_ps(t) });
                if forward {
                    tree.bring_forward(i, t);
                    clocks[i] = clocks[i].min(t);
                } else {
                    tree.set(i, t);
                    clocks[i] = t;
                }
                let min = *clocks.iter().min().unwrap();
                prop_assert_eq!(tree.min(), min);
                let (before, after) = clocks.split_at(i);
                let wins = before.iter().all(|&c| t < c) && after.iter().all(|&c| t <= c);
                prop_assert_eq!(tree.would_win(i, t) || t == Time::NEVER, wins || t == Time::NEVER);
                if min != Time::NEVER {
                    prop_assert_eq!(tree.winner(), clocks.iter().position(|&c| c == min).unwrap());
                }
            }
        }
    }

    #[test]
    fn the_largest_switch_has_clocks_enough() {
        let n = usize::from(u16::MAX) + 1;
        let mut tree = Tournament::new(n);
        tree.set(n - 1, HORIZON);
        assert_eq!((tree.min(), tree.winner()), (HORIZON, n - 1));
    }
}
