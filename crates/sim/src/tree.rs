//! A tournament over a fixed set of clocks: which is the earliest, ties to the lowest index.
//!
//! A node has one clock per input wire and one per port. With a handful of clocks that change
//! one at a time, replaying one path of a winner tree is cheaper than any queue, and the
//! tie rule (lowest index) *is* the canonical event order: the node lays its clocks out in it.

use weir_core::Time;

/// How many bits of a key hold the clock's index: a node has up to two clocks per port.
const INDEX_BITS: u32 = u16::BITS + 1;

/// Clocks show times below this; whatever is later counts as "never".
const END: Time = Time::from_ps(u64::MAX >> INDEX_BITS);

/// The longest simulated time: 2^46 ps, about 70 s. Half of what clocks can show, so that what
/// they cannot show lies beyond every run.
pub const HORIZON: Time = Time::from_ps(1 << 46);

/// Clocks and who is earliest among them.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// The winner. Keys are time above, index below: comparing them is the whole contest.
    root: u64,
    /// The second half are the clocks; each inner node holds the smaller of its children. The
    /// length is a power of two: masked indices need no check.
    nodes: Box<[u64]>,
}

#[inline(always)]
fn key(i: usize, t: Time) -> u64 {
    t.min(END).as_ps() << INDEX_BITS | i as u64
}

impl Tournament {
    /// `n` clocks, all at "never".
    ///
    /// # Panics
    /// When there are more clocks than an index can tell apart.
    pub(crate) fn new(n: usize) -> Self {
        let leaves = n.next_power_of_two().max(2);
        assert!(leaves <= 1 << INDEX_BITS, "{n} clocks are too many");
        let nodes = (0..2 * leaves).map(|i| key(i % leaves, Time::NEVER)).collect();
        Self { root: key(0, Time::NEVER), nodes }
    }

    /// The earliest time.
    pub(crate) fn min(&self) -> Time {
        Self::or_never(self.earliest())
    }

    /// The earliest time, or one past every run. [`Tournament::or_never`] tells them apart.
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
        (self.root & ((1 << INDEX_BITS) - 1)) as usize
    }

    /// Whether clock `i` shows a time after `t`.
    #[inline(always)]
    pub(crate) fn is_after(&self, i: usize, t: Time) -> bool {
        self.nodes[self.nodes.len() / 2 + i] > key(i, t)
    }

    /// Sets clock `i`.
    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, t: Time) {
        let nodes = &mut *self.nodes;
        assert!(!nodes.is_empty());
        debug_assert!(i < nodes.len() / 2, "there is no clock {i}");
        let mask = nodes.len() - 1;
        let mut min = key(i, t);
        let mut i = (nodes.len() / 2 + i) & mask;
        nodes[i] = min;
        while i > 3 {
            min = min.min(nodes[(i ^ 1) & mask]);
            i /= 2;
            nodes[i & mask] = min;
        }
        self.root = min.min(nodes[(i ^ 1) & mask]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_linear_scan(
            n in 1usize..40,
            sets in prop::collection::vec((0usize..40, 0u64..8), 0..200),
        ) {
            let mut tree = Tournament::new(n);
            let mut clocks = vec![Time::NEVER; n];
            for (i, t) in sets {
                let (i, t) = (i % n, if t == 7 { Time::NEVER } else { Time::from_ps(t) });
                tree.set(i, t);
                clocks[i] = t;
                let min = *clocks.iter().min().unwrap();
                prop_assert_eq!(tree.min(), min);
                for other in [0, 3, 6].map(Time::from_ps) {
                    prop_assert_eq!(tree.is_after(i, other), t > other);
                }
                if min != Time::NEVER {
                    prop_assert_eq!(tree.winner(), clocks.iter().position(|&c| c == min).unwrap());
                }
            }
        }
    }

    #[test]
    fn the_largest_switch_has_clocks_enough() {
        let n = 2 * usize::from(u16::MAX);
        let mut tree = Tournament::new(n);
        tree.set(n - 1, HORIZON);
        assert_eq!((tree.min(), tree.winner()), (HORIZON, n - 1));
    }
}
