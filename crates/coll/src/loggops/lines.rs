//! Entries that wait for the same CPU and NIC stand in a line: only the first of them is in the
//! queue of the model.
//!
//! Put back one by one, each of `n` entries would be looked at whenever another one begins, and a
//! schedule of `n` computations for one CPU would take `n^2` steps. All entries of a line become
//! able to begin at the same time, and then the one with the lowest number does. So it is enough
//! that this one is in the queue, with the number that it has: it *has the turn*.

use super::What;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What entries of a line wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Group {
    /// The CPU of a rank, to compute.
    Calc { rank: u32, cpu: u16 },
    /// The CPU and the NIC of a rank, to send.
    Send { rank: u32, cpu: u16, nic: u16 },
    /// The CPU and the NIC of a rank, to receive.
    Receive { rank: u32, cpu: u16, nic: u16 },
}

/// All lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    numbers: FxHashMap<Group, u32>,
    lines: Vec<BinaryHeap<Reverse<(u64, What)>>>,
}

impl Lines {
    /// An entry with a number of its own joins the line of its group. Returns the line if the
    /// entry has the turn now.
    pub(super) fn join(&mut self, group: Group, number: u64, what: What) -> Option<u32> {
        let line = *self.numbers.entry(group).or_insert_with(|| {
            self.lines.push(BinaryHeap::new());
            self.lines.len() as u32 - 1
        });
        self.lines[line as usize].push(Reverse((number, what)));
        self.first(line).filter(|(first, _)| *first == number).map(|_| line)
    }

    /// The entry that has the turn, with its number.
    pub(super) fn first(&self, line: u32) -> Option<(u64, What)> {
        self.lines[line as usize].peek().map(|Reverse(entry)| *entry)
    }

    /// The entry that has the turn leaves the line.
    pub(super) fn leave(&mut self, line: u32) {
        self.lines[line as usize].pop();
    }
}
