//! Flows that can send now, by priority, and whose turn it is.

use weir_core::Priority;

#[derive(Clone, Debug, Default)]
struct Bits {
    words: Vec<u64>,
    count: u32,
}

impl Bits {
    #[inline(always)]
    fn set(&mut self, i: u32, on: bool) {
        let at = (i / 64) as usize;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let (word, bit) = (&mut self.words[at], 1u64 << (i % 64));
        if (*word & bit != 0) != on {
            *word ^= bit;
            self.count = if on { self.count + 1 } else { self.count - 1 };
        }
    }

    /// The first one at or after `from`.
    #[inline]
    fn next(&self, from: u32) -> Option<u32> {
        let mut word = (from / 64) as usize;
        let mut bits = self.words.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.words.get(word)?;
        }
        Some(word as u32 * 64 + bits.trailing_zeros())
    }
}

/// Ready flow slots of one port.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct ReadyFlows {
    /// Bit `p`: a flow of priority `p` is ready.
    any: u8,
    cursor: u32,
    by_priority: [Bits; Priority::COUNT],
}

impl ReadyFlows {
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: u32, priority: Priority, ready: bool) {
        let bits = &mut self.by_priority[priority.index()];
        bits.set(slot, ready);
        let bit = 1 << priority.get();
        self.any = if bits.count > 0 { self.any | bit } else { self.any & !bit };
    }

    /// Priorities with a ready flow.
    #[inline]
    pub(crate) fn priorities(&self) -> u8 {
        self.any
    }

    /// The next slot in turn, of priorities outside `blocked`; the turn moves past it.
    #[inline(always)]
    pub(crate) fn take_turn(&mut self, blocked: u8) -> Option<u32> {
        let open = self.any & !blocked;
        if open == 0 {
            return None;
        }
        let slot = self.next_of_few(open).or_else(|| self.next_of_many(open))?;
        self.cursor = slot + 1;
        Some(slot)
    }

    /// [`ReadyFlows::take_turn`] if only one priority is open, and has only few slots.
    #[inline(always)]
    fn next_of_few(&self, open: u8) -> Option<u32> {
        let bits = &self.by_priority[open.trailing_zeros() as usize % Priority::COUNT];
        let (true, [word]) = (open.is_power_of_two(), bits.words.as_slice()) else { return None };
        let behind = word & u64::MAX.checked_shl(self.cursor).unwrap_or(0);
        Some(if behind != 0 { behind } else { *word }.trailing_zeros())
    }

    #[inline(never)]
    fn next_of_many(&self, open: u8) -> Option<u32> {
        self.first(open, self.cursor).or_else(|| self.first(open, 0))
    }

    /// The first slot at or after `from` of one of the priorities in `open`.
    fn first(&self, mut open: u8, from: u32) -> Option<u32> {
        let mut first = None;
        while open != 0 {
            let priority = open.trailing_zeros() as usize % Priority::COUNT;
            open &= open - 1;
            if let Some(slot) = self.by_priority[priority].next(from) {
                first = Some(first.map_or(slot, |f: u32| f.min(slot)));
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_go_round_over_all_priorities_and_skip_the_blocked_ones() {
        let (low, high) = (Priority::ALL[1], Priority::ALL[3]);
        let mut r = ReadyFlows::default();
        r.set(0, low, true);
        r.set(70, high, true);
        r.set(5, high, true);
        let mut turns = |blocked| r.take_turn(blocked).unwrap();
        assert_eq!([turns(0), turns(0), turns(0), turns(0)], [0, 5, 70, 0]);
        assert_eq!([turns(1 << 1), turns(1 << 1), turns(1 << 1)], [5, 70, 5]);
        assert_eq!(r.take_turn(0b1010), None);
        r.set(5, high, false);
        r.set(70, high, false);
        assert_eq!(r.priorities(), 1 << 1);
        assert_eq!(r.take_turn(0), Some(0));
    }
}
