//! Which parts of a stream have been seen.

use std::collections::BTreeMap;

/// A set of numbers as ranges that do not touch: begin to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds `begin..end` and returns how many numbers of it are new.
    pub(super) fn insert(&mut self, begin: u64, end: u64) -> u64 {
        if begin >= end {
            return 0;
        }
        let (mut first, mut last, mut known) = (begin, end, 0);
        // ranges that overlap or touch become one
        while let Some((&from, &to)) = self.0.range(..=last).next_back() {
            if to < first {
                break;
            }
            known += to.min(end).saturating_sub(from.max(begin));
            (first, last) = (first.min(from), last.max(to));
            self.0.remove(&from);
        }
        self.0.insert(first, last);
        end - begin - known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_counts() {
        let mut seen = Ranges::default();
        assert_eq!(seen.insert(10, 20), 10);
        assert_eq!(seen.insert(10, 20), 0);
        assert_eq!(seen.insert(30, 40), 10);
        // 5..10 and 20..30 are new
        assert_eq!(seen.insert(5, 35), 15);
        assert_eq!(seen.insert(40, 41), 1);
        assert_eq!((seen.insert(5, 41), seen.insert(7, 7)), (0, 0));
        assert_eq!(seen.0.len(), 1);
    }
}
