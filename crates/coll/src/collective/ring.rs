//! Rings: each rank receives from the one before it and sends to the one after it.
//!
//! In step `i` of a reduce-scatter rank `r` sends block `r - 1 - i`, to which all ranks before it
//! have added theirs; after `n - 1` steps it owns block `r`. The steps of an all-gather hand the
//! complete blocks on. An all-reduce is one after the other.

use super::{At, Effect, Leg, Steps};

/// A ring of ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    pub(crate) ranks: u32,
    /// Begins with a reduce-scatter.
    pub(crate) reduces: bool,
    /// Ends with an all-gather.
    pub(crate) gathers: bool,
}

impl Ring {
    /// The block that `rank` sends in `step`, and what happens to it.
    fn block(&self, rank: u32, step: u32) -> (u32, Effect) {
        let n = u64::from(self.ranks);
        let half = u64::from(if self.reduces { self.ranks - 1 } else { 0 });
        let (back, effect) = match u64::from(step) {
            step if step < half => (step + 1, Effect::Reduce),
            step => (step - half, Effect::Copy),
        };
        (((u64::from(rank) + 2 * n - back) % n) as u32, effect)
    }

    fn before(&self, rank: u32) -> u32 {
        (rank + self.ranks - 1) % self.ranks
    }
}

impl Steps for Ring {
    fn steps(&self) -> u32 {
        (u32::from(self.reduces) + u32::from(self.gathers)) * (self.ranks - 1)
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        let (block, effect) = self.block(at.rank, at.step);
        let peer = (at.rank + 1) % self.ranks;
        (k == 0).then_some(Leg { peer, tag: at.step, block, blocks: 1, effect })
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        let peer = self.before(at.rank);
        let (block, effect) = self.block(peer, at.step);
        (k == 0).then_some(Leg { peer, tag: at.step, block, blocks: 1, effect })
    }
}
