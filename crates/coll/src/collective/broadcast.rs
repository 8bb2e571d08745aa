//! Broadcasts from one rank, the root. Ranks are counted from it.

use super::{At, Effect, Leg, Steps, log2_ceil};

/// A binomial tree: in round `i` each of the first `2^i` ranks sends to the one `2^i` after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binomial {
    pub(crate) ranks: u32,
    pub(crate) root: u32,
}

/// The whole piece, to or from the rank `counted` after the root.
fn whole(ranks: u32, root: u32, counted: u32, tag: u32) -> Leg {
    let peer = ((u64::from(counted) + u64::from(root)) % u64::from(ranks)) as u32;
    Leg { peer, tag, block: 0, blocks: 1, effect: Effect::Copy }
}

/// The place of a rank, counted from the root.
fn counted(ranks: u32, root: u32, rank: u32) -> u32 {
    (rank + ranks - root) % ranks
}

impl Steps for Binomial {
    fn steps(&self) -> u32 {
        log2_ceil(self.ranks)
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        let (v, round) = (counted(self.ranks, self.root, at.rank), 1 << at.step);
        let sends = k == 0 && v < round && v + round < self.ranks;
        sends.then(|| whole(self.ranks, self.root, v + round, at.step))
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        let (v, round) = (counted(self.ranks, self.root, at.rank), 1 << at.step);
        let receives = k == 0 && round <= v && v < 2 * round;
        receives.then(|| whole(self.ranks, self.root, v - round, at.step))
    }
}

/// A chain: each rank hands on what it has received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    pub(crate) ranks: u32,
    pub(crate) root: u32,
}

impl Steps for Chain {
    fn steps(&self) -> u32 {
        2 * u32::from(self.ranks > 1)
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        let v = counted(self.ranks, self.root, at.rank);
        let sends = k == 0 && at.step == 1 && v + 1 < self.ranks;
        sends.then(|| whole(self.ranks, self.root, v + 1, 0))
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        let v = counted(self.ranks, self.root, at.rank);
        (k == 0 && at.step == 0 && v > 0).then(|| whole(self.ranks, self.root, v - 1, 0))
    }
}
