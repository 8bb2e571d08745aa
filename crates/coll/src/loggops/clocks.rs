//! When the CPUs or NICs of a rank are free.

use std::collections::BTreeMap;

/// CPUs and NICs below this number have a place of their own; a schedule may name any of 65 536,
/// and then only those that it names take memory.
const DENSE: u16 = 64;

/// A time for each CPU, or for each NIC, of a rank; 0 at the beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    dense: Vec<u64>,
    sparse: BTreeMap<u16, u64>,
}

impl Clocks {
    pub(super) fn at(&self, index: u16) -> u64 {
        let found = match index < DENSE {
            true => self.dense.get(usize::from(index)),
            false => self.sparse.get(&index),
        };
        found.copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, index: u16, time: u64) {
        if index >= DENSE {
            self.sparse.insert(index, time);
            return;
        }
        let at = usize::from(index);
        if self.dense.len() <= at {
            self.dense.resize(at + 1, 0);
        }
        self.dense[at] = time;
    }

    /// The latest of all.
    pub(super) fn last(&self) -> u64 {
        self.dense.iter().chain(self.sparse.values()).copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_set_is_zero_and_takes_no_memory() {
        let mut clocks = Clocks::default();
        assert_eq!((clocks.at(0), clocks.at(65_535), clocks.last()), (0, 0, 0));
        for (index, time) in [(3, 7), (63, 8), (64, 9), (65_535, 5)] {
            clocks.set(index, time);
            assert_eq!(clocks.at(index), time);
        }
        assert_eq!((clocks.at(2), clocks.at(65), clocks.last()), (0, 0, 9));
        assert_eq!((clocks.dense.len(), clocks.sparse.len()), (64, 2));
    }
}
