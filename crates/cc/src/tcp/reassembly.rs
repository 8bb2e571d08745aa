//! Segments that arrived out of order, as ranges.

use std::collections::VecDeque;
use std::ops::Range;

/// What has arrived of a flow: everything below [`next`](Self::next), and ranges beyond it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reassembly {
    next: u32,
    /// Disjoint, not adjacent, ascending, all above `next`.
    ranges: VecDeque<Range<u32>>,
}

impl Reassembly {
    /// Segment `seq` arrived; whether it is new.
    pub fn insert(&mut self, seq: u32) -> bool {
        if seq < self.next {
            return false;
        }
        if seq > self.next {
            return self.insert_beyond(seq);
        }
        self.next += 1;
        if self.ranges.front().is_some_and(|r| r.start == self.next) {
            self.next = self.ranges.pop_front().map_or(self.next, |r| r.end);
        }
        true
    }

    fn insert_beyond(&mut self, seq: u32) -> bool {
        // the first range that ends at or behind `seq`: it holds, precedes or follows it
        let i = self.ranges.partition_point(|r| r.end < seq);
        match self.ranges.get_mut(i) {
            Some(r) if r.contains(&seq) => return false,
            Some(r) if r.end == seq => {
                r.end += 1;
                if self.ranges.get(i + 1).is_some_and(|after| after.start == seq + 1) {
                    let after = self.ranges.remove(i + 1).map_or(seq + 1, |after| after.end);
                    self.ranges[i].end = after;
                }
            }
            Some(r) if r.start == seq + 1 => r.start = seq,
            _ => self.ranges.insert(i, seq..seq + 1),
        }
        true
    }

    /// The first segment that has not arrived.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Whether something arrived beyond the first missing segment.
    pub fn has_gap(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// What arrived beyond the first missing segment, ascending.
    pub fn beyond(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.ranges.iter().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn ranges_merge_from_both_sides() {
        let mut r = Reassembly::default();
        for seq in [5, 7, 2] {
            assert!(r.insert(seq));
        }
        assert_eq!(r.beyond().collect::<Vec<_>>(), [2..3, 5..6, 7..8]);
        assert!(r.insert(6));
        assert_eq!(r.beyond().collect::<Vec<_>>(), [2..3, 5..8]);
        assert!(!r.insert(6));
        assert!(r.insert(4));
        assert!(r.insert(3));
        assert_eq!(r.beyond().collect::<Vec<_>>(), vec![2..8]);
        assert!(r.insert(0));
        assert!(r.insert(1));
        assert_eq!((r.next(), r.has_gap()), (8, false));
        assert!(!r.insert(3));
    }

    proptest! {
        /// The ranges are those of a plain set, whatever the order.
        #[test]
        fn it_is_a_set(seqs in proptest::collection::vec(0u32..40, 0..120)) {
            let (mut r, mut set) = (Reassembly::default(), BTreeSet::new());
            for seq in seqs {
                prop_assert_eq!(r.insert(seq), set.insert(seq));
                let next = (0..).find(|n| !set.contains(n)).unwrap();
                prop_assert_eq!(r.next(), next);
                let held: Vec<u32> = r.beyond().flatten().collect();
                let beyond: Vec<u32> = set.range(next..).copied().collect();
                prop_assert_eq!(held, beyond);
                let ranges: Vec<_> = r.beyond().collect();
                prop_assert!(ranges.windows(2).all(|w| w[0].end < w[1].start));
            }
        }
    }
}
