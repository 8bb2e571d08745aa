//! What a node works with while it runs, and what is brought near before it does.

use crate::link::Wires;
use crate::shared::Shared;

/// What a node works with besides itself: the wires, and what never changes.
pub(crate) struct Env<'w, 's> {
    pub(crate) wires: &'w mut Wires,
    pub(crate) shared: &'s Shared<'s>,
}

/// How far ahead of its visit a node is. What it will touch is asked for step by step: each step
/// needs what the one before has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// The node itself comes next.
    Node,
    /// Then its ports and accounts, and the wires into it.
    Parts,
    /// And its routes and the wires out of it.
    Ways,
    /// Then the packets and flows it will work on.
    Contents,
    /// And the places its packets will go to.
    Ends,
}

/// A part with no more ports than this stays in a cache of two megabytes: there is nothing to ask
/// for.
const CACHED: usize = 1024;
/// A part with more ports than this finds the ways out of a node cold, too.
const VAST: usize = 16_384;

impl Ahead {
    const NEAR: [(usize, Self); 3] = [(3, Self::Node), (2, Self::Parts), (1, Self::Contents)];
    const FAR: [(usize, Self); 5] =
        [(4, Self::Node), (3, Self::Parts), (2, Self::Ways), (2, Self::Contents), (1, Self::Ends)];
    /// Who comes later is not looked at yet.
    pub(crate) const FARTHEST: usize = 4;

    /// With how many visits later the node runs, in a part with so many ports.
    pub(crate) fn all(ports: usize) -> &'static [(usize, Self)] {
        if ports <= CACHED {
            &[]
        } else if ports <= VAST {
            &Self::NEAR
        } else {
            &Self::FAR
        }
    }
}

const _: () = {
    let mut i = 0;
    while i < Ahead::FAR.len() {
        assert!(Ahead::FAR[i].0 <= Ahead::FARTHEST, "it would never be looked at");
        i += 1;
    }
};
