//! Which queues of a port are ready, one bit each.

/// One bit per queue: non-empty and not held.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct ReadyBits {
    /// The first 64 are a field of their own, because most ports have no more queues and their
    /// scheduling then reads nothing else.
    first: u64,
    more: Box<[u64]>,
}

impl ReadyBits {
    /// None of so many queues is ready.
    pub(super) fn new(queues: usize) -> Self {
        Self { first: 0, more: vec![0; queues.saturating_sub(1) / 64].into() }
    }

    /// Makes room for so many queues.
    pub(super) fn grow(&mut self, queues: usize) {
        let words = (queues - 1) / 64;
        if words > self.more.len() {
            let mut more = std::mem::take(&mut self.more).into_vec();
            more.resize(words, 0);
            self.more = more.into();
        }
    }

    /// The bits of the first 64 queues.
    #[inline(always)]
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The word that holds the bit of queue `q`.
    #[inline]
    fn word_mut(&mut self, q: usize) -> &mut u64 {
        if q < 64 { &mut self.first } else { &mut self.more[q / 64 - 1] }
    }

    /// Word number `i`.
    #[inline]
    fn word(&self, i: usize) -> Option<u64> {
        if i == 0 { Some(self.first) } else { self.more.get(i - 1).copied() }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, q: usize, ready: bool) {
        let bit = 1u64 << (q % 64);
        let word = self.word_mut(q);
        *word = if ready { *word | bit } else { *word & !bit };
    }

    #[inline]
    pub(super) fn has(&self, q: usize) -> bool {
        self.word(q / 64).is_some_and(|w| w & 1 << (q % 64) != 0)
    }

    /// Whether any queue is ready.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.first != 0 || self.any_more()
    }

    /// Whether any queue beyond the first 64 is ready.
    #[inline]
    pub(super) fn any_more(&self) -> bool {
        self.more.iter().any(|&w| w != 0)
    }

    /// The first ready queue in `from..end`.
    #[inline]
    pub(super) fn next(&self, from: u32, end: u32) -> Option<u32> {
        let mut word = (from / 64) as usize;
        let mut bits = self.word(word)? & (u64::MAX << (from % 64));
        loop {
            if bits != 0 {
                let q = word as u32 * 64 + bits.trailing_zeros();
                return (q < end).then_some(q);
            }
            word += 1;
            if word as u32 * 64 >= end {
                return None;
            }
            bits = self.word(word)?;
        }
    }
}
