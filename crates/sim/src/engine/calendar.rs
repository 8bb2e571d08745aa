//! A calendar queue of (time, node): buckets of equal width, sorted when they are opened.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use weir_core::{NodeId, Time};

/// How many buckets a calendar holds.
const BUCKETS: usize = 4096;

/// Entries in order of time, then node.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// Bucket width is 2^shift picoseconds.
    shift: u32,
    buckets: Vec<Vec<(Time, NodeId)>>,
    /// One bit per non-empty bucket.
    filled: Vec<u64>,
    /// The number of the open bucket.
    current: u64,
    /// The open bucket, last first.
    open: Vec<(Time, NodeId)>,
    /// What lies beyond the buckets.
    far: BinaryHeap<Reverse<(Time, NodeId)>>,
}

impl Calendar {
    /// A calendar whose buckets are about `width` wide.
    pub(crate) fn new(width: Time) -> Self {
        Self {
            shift: width.as_ps().max(1).ilog2(),
            buckets: vec![Vec::new(); BUCKETS],
            filled: vec![0; BUCKETS / 64],
            current: 0,
            open: Vec::new(),
            far: BinaryHeap::new(),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, t: Time, node: NodeId) {
        let bucket = t.as_ps() >> self.shift;
        if bucket <= self.current {
            let at = self.open.partition_point(|e| *e > (t, node));
            self.open.insert(at, (t, node));
        } else if bucket < self.current + BUCKETS as u64 {
            let i = bucket as usize % BUCKETS;
            self.buckets[i].push((t, node));
            self.filled[i / 64] |= 1 << (i % 64);
        } else if t != Time::NEVER {
            self.far.push(Reverse((t, node)));
        }
    }

    /// The earliest entry; it stays.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<(Time, NodeId)> {
        while self.open.is_empty() {
            self.open_next()?;
        }
        self.open.last().copied()
    }

    /// Takes out the earliest entry, which has been looked at ([`Calendar::peek`]), with nothing
    /// in between.
    #[inline]
    pub(crate) fn drop_first(&mut self) {
        self.open.pop();
    }

    /// Opens the next bucket that has anything in it.
    #[inline(never)]
    fn open_next(&mut self) -> Option<()> {
        let next = match self.next_filled() {
            Some(bucket) => bucket,
            None => self.far.peek()?.0.0.as_ps() >> self.shift,
        };
        self.current = next;
        let i = next as usize % BUCKETS;
        std::mem::swap(&mut self.open, &mut self.buckets[i]);
        self.filled[i / 64] &= !(1 << (i % 64));
        while let Some(&Reverse((t, node))) = self.far.peek() {
            if t.as_ps() >> self.shift >= self.current + BUCKETS as u64 {
                break;
            }
            self.far.pop();
            self.push(t, node);
        }
        self.open.sort_unstable_by(|a, b| b.cmp(a));
        Some(())
    }

    /// The first bucket after the open one with anything in it.
    fn next_filled(&self) -> Option<u64> {
        let start = (self.current + 1) as usize % BUCKETS;
        let words = BUCKETS / 64;
        for step in 0..=words {
            let word = (start / 64 + step) % words;
            let mut bits = self.filled[word];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            } else if step == words {
                bits &= !(u64::MAX << (start % 64));
            }
            if bits != 0 {
                let i = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (i + BUCKETS - start) % BUCKETS;
                return Some(self.current + 1 + ahead as u64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Interleaved pushes (never before what was popped) and pops, near and far.
        #[test]
        fn agrees_with_a_sorted_set(
            steps in prop::collection::vec((any::<bool>(), 0u64..3, 0u64..70_000, 0u32..5), 1..300),
        ) {
            let mut calendar = Calendar::new(Time::from_ps(16));
            let mut reference = BTreeSet::new();
            let mut now = 0;
            for (push, far, offset, node) in steps {
                if push || reference.is_empty() {
                    let t = Time::from_ps(now + offset * 300u64.pow(far as u32) / 300);
                    if reference.insert((t, NodeId(node))) {
                        calendar.push(t, NodeId(node));
                    }
                } else {
                    let expected = reference.pop_first();
                    prop_assert_eq!(calendar.peek(), expected);
                    calendar.drop_first();
                    now = expected.unwrap().0.as_ps();
                }
            }
            while let Some(expected) = reference.pop_first() {
                prop_assert_eq!(calendar.peek(), Some(expected));
                calendar.drop_first();
            }
            prop_assert_eq!(calendar.peek(), None);
        }
    }
}
