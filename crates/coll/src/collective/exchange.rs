//! All-to-all, in which every rank has a block for every other, and the barrier.

use super::{At, Effect, Leg, Steps, log2_ceil};

/// All-to-all in `n - 1` steps: in step `s` a rank sends to the one `s + 1` after it and receives
/// from the one `s + 1` before it. So every rank sends and receives one message at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairwise {
    pub(crate) ranks: u32,
}

impl Steps for Pairwise {
    fn steps(&self) -> u32 {
        self.ranks - 1
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        (k == 0).then(|| block_for(self.ranks, at.rank, at.step, at.step))
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        (k == 0).then(|| block_from(self.ranks, at.rank, at.step, at.step))
    }
}

/// All-to-all at once: all messages in one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    pub(crate) ranks: u32,
}

impl Steps for Direct {
    fn steps(&self) -> u32 {
        u32::from(self.ranks > 1)
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        (k + 1 < self.ranks).then(|| block_for(self.ranks, at.rank, k, 0))
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        (k + 1 < self.ranks).then(|| block_from(self.ranks, at.rank, k, 0))
    }
}

/// What `rank` has for the one `after + 1` after it.
fn block_for(ranks: u32, rank: u32, after: u32, tag: u32) -> Leg {
    let peer = around(ranks, rank, u64::from(after) + 1);
    Leg { peer, tag, block: peer, blocks: 1, effect: Effect::Exchange }
}

/// What the one `before + 1` before it has for `rank`.
fn block_from(ranks: u32, rank: u32, before: u32, tag: u32) -> Leg {
    let peer = around(ranks, rank, u64::from(ranks) - 1 - u64::from(before));
    Leg { peer, tag, block: rank, blocks: 1, effect: Effect::Exchange }
}

/// The rank `by` after `rank`.
fn around(ranks: u32, rank: u32, by: u64) -> u32 {
    ((u64::from(rank) + by) % u64::from(ranks)) as u32
}

/// The barrier: in round `i` a rank tells the one `2^i` after it that it and all it has heard of
/// are there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dissemination {
    pub(crate) ranks: u32,
}

impl Steps for Dissemination {
    fn steps(&self) -> u32 {
        log2_ceil(self.ranks)
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        let peer = around(self.ranks, at.rank, 1 << at.step);
        (k == 0).then_some(Leg { peer, tag: at.step, block: 0, blocks: 1, effect: Effect::Signal })
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        let peer = around(self.ranks, at.rank, u64::from(self.ranks) - (1 << at.step));
        (k == 0).then_some(Leg { peer, tag: at.step, block: 0, blocks: 1, effect: Effect::Signal })
    }
}
