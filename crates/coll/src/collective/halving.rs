//! Recursive halving and doubling: in each step a rank exchanges with the partner whose number
//! differs in one bit.
//!
//! The reduce-scatter halves what is exchanged from step to step, the all-gather mirrors it. An
//! all-reduce begins with the nearest partners, so that the largest messages go the shortest way;
//! a reduce-scatter begins with the farthest, so that rank `r` ends with block `r`.
//!
//! An all-reduce of `2^k + m` ranks folds: of the first `2m` ranks the even ones give everything
//! to their odd neighbour first, and get the result from it in the end.

use super::{At, Effect, Leg, Steps};

/// Halving and doubling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halving {
    pub(crate) ranks: u32,
    pub(crate) reduces: bool,
    pub(crate) gathers: bool,
}

/// What a step is.
enum Phase {
    /// Even ranks give all they have to their odd neighbour.
    Fold,
    /// The `i`-th exchange of the reduce-scatter.
    Halve(u32),
    /// The mirror of the `i`-th exchange of the reduce-scatter.
    Double(u32),
    /// Odd ranks give the result back.
    Unfold,
}

impl Halving {
    /// How many exchanges a half has.
    fn rounds(&self) -> u32 {
        self.ranks.ilog2()
    }

    /// The ranks that take part in the exchanges, and so the number of blocks.
    pub(crate) fn core(&self) -> u32 {
        1 << self.rounds()
    }

    /// Ranks beyond a power of two.
    fn extra(&self) -> u32 {
        self.ranks - self.core()
    }

    /// The place of a rank in the exchanges, if it takes part.
    fn place(&self, rank: u32) -> Option<u32> {
        match rank < 2 * self.extra() {
            true => (rank % 2 == 1).then_some(rank / 2),
            false => Some(rank - self.extra()),
        }
    }

    fn rank_at(&self, place: u32) -> u32 {
        if place < self.extra() { 2 * place + 1 } else { place + self.extra() }
    }

    fn phase(&self, step: u32) -> Phase {
        let fold = u32::from(self.extra() > 0);
        let Some(i) = step.checked_sub(fold) else { return Phase::Fold };
        let halves = if self.reduces { self.rounds() } else { 0 };
        if i < halves {
            return Phase::Halve(i);
        }
        let doubles = if self.gathers { self.rounds() } else { 0 };
        match i - halves {
            i if i < doubles => Phase::Double(doubles - 1 - i),
            _ => Phase::Unfold,
        }
    }

    /// The bit in which partners of exchange `i` differ.
    fn bit(&self, i: u32) -> u32 {
        let both = self.reduces && self.gathers;
        1 << (if both { i } else { self.rounds() - 1 - i })
    }

    /// The blocks that a place holds after `i` exchanges.
    fn held(&self, place: u32, i: u32) -> (u32, u32) {
        let (mut from, mut size) = (0, self.core());
        for exchange in 0..i {
            size /= 2;
            from += if place & self.bit(exchange) != 0 { size } else { 0 };
        }
        (from, size)
    }

    /// What `from` sends to whom in a step.
    fn leg(&self, from: u32, step: u32) -> Option<(u32, Leg)> {
        let all = |peer, effect| {
            let leg = Leg { peer, tag: step, block: 0, blocks: self.core(), effect };
            Some((peer, leg))
        };
        let folded = from < 2 * self.extra();
        let exchange = |i: u32| {
            let place = self.place(from)?;
            Some((place, place ^ self.bit(i)))
        };
        let (to, (block, blocks), effect) = match self.phase(step) {
            Phase::Fold if folded && from.is_multiple_of(2) => {
                return all(from + 1, Effect::Reduce);
            }
            Phase::Unfold if folded && !from.is_multiple_of(2) => {
                return all(from - 1, Effect::Copy);
            }
            Phase::Fold | Phase::Unfold => return None,
            Phase::Halve(i) => {
                let (_, partner) = exchange(i)?;
                (partner, self.held(partner, i + 1), Effect::Reduce)
            }
            Phase::Double(i) => {
                let (place, partner) = exchange(i)?;
                (partner, self.held(place, i + 1), Effect::Copy)
            }
        };
        let peer = self.rank_at(to);
        Some((peer, Leg { peer, tag: step, block, blocks, effect }))
    }
}

impl Steps for Halving {
    fn steps(&self) -> u32 {
        let halves = u32::from(self.reduces) + u32::from(self.gathers);
        halves * self.rounds() + 2 * u32::from(self.extra() > 0)
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        self.leg(at.rank, at.step).filter(|_| k == 0).map(|(_, leg)| leg)
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        let from = match self.phase(at.step) {
            Phase::Fold => at.rank.checked_sub(1)?,
            Phase::Unfold => at.rank + 1,
            Phase::Halve(i) | Phase::Double(i) => self.rank_at(self.place(at.rank)? ^ self.bit(i)),
        };
        let (to, leg) = self.leg(from, at.step).filter(|_| k == 0)?;
        (to == at.rank).then_some(Leg { peer: from, ..leg })
    }
}
