//! A tournament over a fixed set of clocks: which is the earliest, ties to the lowest index.
//!
//! A node has one clock per input wire and one per port. With a handful of clocks that change
//! one at a time, replaying one path of a winner tree is cheaper than any queue, and the
//! tie rule (lowest index) *is* the canonical event order: the node lays its clocks out in it.

use weir_core::Time;
use weir_core::prefetch::prefetch;

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
    nodes: Nodes,
}

/// The second half are the clocks; each inner node holds the smaller of its children. Where the
/// number of clocks is known beforehand, playing takes no loop and no checks.
#[derive(Clone, Debug)]
enum Nodes {
    /// The root.
    One,
    Sixteen(Box<[u64; 32]>),
    /// A power of two of clocks.
    Many(Box<[u64]>),
}

#[inline(always)]
fn key(i: usize, t: Time) -> u64 {
    t.min(END).as_ps() << INDEX_BITS | i as u64
}

/// Clock `i` of sixteen shows `key`: plays all its matches and returns the winner.
#[inline(always)]
fn play(nodes: &mut [u64; 32], i: usize, key: u64) -> u64 {
    let (mut i, mut min) = (16 + i % 16, key);
    nodes[i] = key;
    for _ in 0..3 {
        min = min.min(nodes[i ^ 1]);
        i /= 2;
        nodes[i] = min;
    }
    min.min(nodes[i ^ 1])
}

/// [`play`] for any number of clocks.
#[inline(never)]
fn play_any(nodes: &mut [u64], i: usize, key: u64) -> u64 {
    let (mut i, mut min) = (nodes.len() / 2 + i, key);
    nodes[i] = key;
    while i > 3 {
        min = min.min(nodes[i ^ 1]);
        i /= 2;
        nodes[i] = min;
    }
    min.min(nodes[i ^ 1])
}

impl Tournament {
    /// `n` clocks, all at "never".
    ///
    /// # Panics
    /// When there are more clocks than an index can tell apart.
    pub(crate) fn new(n: usize) -> Self {
        let leaves = n.next_power_of_two();
        assert!(leaves <= 1 << INDEX_BITS, "{n} clocks are too many");
        let nodes = match leaves {
            0..=1 => Nodes::One,
            2..=16 => {
                let never = std::array::from_fn(|i| key(i % 16, Time::NEVER));
                Nodes::Sixteen(Box::new(never))
            }
            _ => Nodes::Many((0..2 * leaves).map(|i| key(i % leaves, Time::NEVER)).collect()),
        };
        Self { root: key(0, Time::NEVER), nodes }
    }

    /// Asks for the clocks to be at hand soon.
    pub(crate) fn prefetch(&self) {
        match &self.nodes {
            Nodes::One => {}
            Nodes::Sixteen(nodes) => prefetch(&**nodes),
            Nodes::Many(nodes) => prefetch(&**nodes),
        }
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

    /// How many there are, rounded up.
    fn clocks(&self) -> usize {
        match &self.nodes {
            Nodes::One => 1,
            Nodes::Sixteen(nodes) => nodes.len() / 2,
            Nodes::Many(nodes) => nodes.len() / 2,
        }
    }

    /// What clock `i` shows.
    #[inline(always)]
    fn shown(&self, i: usize) -> u64 {
        match &self.nodes {
            Nodes::One => self.root,
            Nodes::Sixteen(nodes) => nodes[16 + i % 16],
            Nodes::Many(nodes) => nodes[nodes.len() / 2 + i],
        }
    }

    /// Sets clock `i`.
    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, t: Time) {
        debug_assert!(i < self.clocks(), "there is no clock {i}");
        let key = key(i, t);
        self.root = match &mut self.nodes {
            Nodes::Sixteen(nodes) => play(nodes, i, key),
            Nodes::One => key,
            Nodes::Many(nodes) => play_any(nodes, i, key),
        };
    }

    /// Sets clock `i` to `t` unless it shows an earlier time.
    #[inline(always)]
    pub(crate) fn bring_forward(&mut self, i: usize, t: Time) {
        if self.shown(i) > key(i, t) {
            self.set(i, t);
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
            n in 1usize..40,
            sets in prop::collection::vec((0usize..40, 0u64..8, any::<bool>()), 0..200),
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
