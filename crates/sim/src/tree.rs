//! A tournament over a fixed set of clocks: which is the earliest, ties to the lowest index.
//!
//! A node has one clock per input wire and one per port. With a handful of clocks that change
//! one at a time, replaying one path of a winner tree is cheaper than any queue, and the
//! tie rule (lowest index) *is* the canonical event order: the node lays its clocks out in it.

use weir_core::Time;

/// Clocks and who is earliest among them.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// `nodes[1]` is the root, `nodes[leaves + i]` clock `i`; each inner node holds the
    /// smaller of its children.
    nodes: Box<[Time]>,
    leaves: usize,
}

impl Tournament {
    /// `n` clocks, all at "never".
    pub(crate) fn new(n: usize) -> Self {
        let leaves = n.next_power_of_two().max(2);
        Self { nodes: vec![Time::NEVER; 2 * leaves].into(), leaves }
    }

    /// The earliest time.
    #[inline]
    pub(crate) fn min(&self) -> Time {
        self.nodes[1]
    }

    /// The clock that shows the earliest time; the lowest one of several.
    #[inline]
    pub(crate) fn winner(&self) -> usize {
        let min = self.nodes[1];
        let mut i = 1;
        while i < self.leaves {
            i *= 2;
            i += usize::from(self.nodes[i] != min);
        }
        i - self.leaves
    }

    /// What clock `i` shows.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> Time {
        self.nodes[self.leaves + i]
    }

    /// Sets clock `i`.
    #[inline]
    pub(crate) fn set(&mut self, i: usize, t: Time) {
        let mut i = self.leaves + i;
        if self.nodes[i] == t {
            return;
        }
        self.nodes[i] = t;
        while i > 1 {
            let min = self.nodes[i].min(self.nodes[i ^ 1]);
            i /= 2;
            if self.nodes[i] == min {
                return;
            }
            self.nodes[i] = min;
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
                prop_assert_eq!(tree.get(i), t);
                if min != Time::NEVER {
                    prop_assert_eq!(tree.winner(), clocks.iter().position(|&c| c == min).unwrap());
                }
            }
        }
    }
}
