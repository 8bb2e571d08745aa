//! All-reduce in two levels: ranks of a server exchange among themselves, and only complete sums
//! cross the network.
//!
//! Rank `v * g + j` is GPU `j` of server `v`. First the ranks of a server reduce and scatter: GPU
//! `j` gets the sum of the `j`-th part. Then the GPUs `j` of all servers reduce it in a ring, their
//! *rail*. At last the ranks of a server give each other the results. What ranks of one host send
//! each other does not cross the network.

use super::ring::Ring;
use super::{At, Effect, Leg, Steps};

/// `servers` servers of `gpus` ranks each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hierarchy {
    pub(crate) servers: u32,
    pub(crate) gpus: u32,
}

impl Hierarchy {
    fn rail(&self) -> Ring {
        Ring { ranks: self.servers, reduces: true, gathers: true }
    }

    /// Steps before the rails.
    fn local(&self) -> u32 {
        u32::from(self.gpus > 1)
    }

    /// The `k`-th of the other ranks of the same server.
    fn mate(&self, rank: u32, k: u32) -> Option<u32> {
        let (first, own) = (rank / self.gpus * self.gpus, rank % self.gpus);
        (k + 1 < self.gpus).then(|| first + (own + 1 + k) % self.gpus)
    }

    /// The blocks of the part that belongs to the rail of `rank`.
    fn part(&self, rank: u32, peer: u32, tag: u32, effect: Effect) -> Leg {
        let block = rank % self.gpus * self.servers;
        Leg { peer, tag, block, blocks: self.servers, effect }
    }

    /// A message of the rail of `at.rank`, with the names that all ranks have.
    fn on_rail(&self, at: At, leg: impl FnOnce(&Ring, At) -> Option<Leg>) -> Option<Leg> {
        let (server, gpu) = (at.rank / self.gpus, at.rank % self.gpus);
        let there = At { rank: server, step: at.step - self.local(), tree: 0 };
        let leg = leg(&self.rail(), there)?;
        let (peer, block) = (leg.peer * self.gpus + gpu, gpu * self.servers + leg.block);
        Some(Leg { peer, tag: at.step, block, ..leg })
    }

    fn is_last(&self, step: u32) -> bool {
        step + 1 == self.steps()
    }
}

impl Steps for Hierarchy {
    fn steps(&self) -> u32 {
        2 * self.local() + self.rail().steps()
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        if self.local() == 1 && at.step == 0 {
            let mate = self.mate(at.rank, k)?;
            return Some(self.part(mate, mate, at.step, Effect::Reduce));
        }
        if self.local() == 1 && self.is_last(at.step) {
            return Some(self.part(at.rank, self.mate(at.rank, k)?, at.step, Effect::Copy));
        }
        self.on_rail(at, |ring, at| ring.send(at, k))
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        if self.local() == 1 && at.step == 0 {
            return Some(self.part(at.rank, self.mate(at.rank, k)?, at.step, Effect::Reduce));
        }
        if self.local() == 1 && self.is_last(at.step) {
            let mate = self.mate(at.rank, k)?;
            return Some(self.part(mate, mate, at.step, Effect::Copy));
        }
        self.on_rail(at, |ring, at| ring.recv(at, k))
    }
}
