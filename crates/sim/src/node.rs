//! A node as the engine sees it: something that can be run up to a time.

use crate::nic::Nic;
use crate::probe::{Probes, Sight};
use crate::shared::Shared;
use crate::switch::Switch;
use crate::wire::Wires;
use weir_core::{NodeId, Time};

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

/// A switch or a host.
pub(crate) enum Node {
    Switch(Box<Switch>),
    Nic(Box<Nic>),
}

impl Node {
    /// Handles everything before `until`, in canonical order, and tells the wires when it
    /// has something to do next.
    #[inline]
    pub(crate) fn run(&mut self, until: Time, env: &mut Env<'_, '_>) {
        match self {
            Self::Switch(s) => s.run(until, env),
            Self::Nic(n) => n.run(until, env),
        }
    }

    /// Prefetches what a visit will touch.
    #[inline]
    pub(crate) fn prefetch(&self, ahead: Ahead, env: &Env<'_, '_>) {
        match self {
            Self::Switch(s) => s.prefetch(ahead, env),
            Self::Nic(n) => n.prefetch(ahead, env.wires),
        }
    }

    /// When something happens next, wires aside.
    pub(crate) fn next(&self) -> Time {
        match self {
            Self::Switch(s) => s.next(),
            Self::Nic(n) => n.next(),
        }
    }

    /// Which node it is.
    pub(crate) fn id(&self) -> NodeId {
        match self {
            Self::Switch(s) => s.id,
            Self::Nic(n) => n.id,
        }
    }

    /// Whether anything here would still move a packet.
    pub(crate) fn has_foreground(&self) -> bool {
        match self {
            Self::Switch(s) => s.has_foreground(),
            Self::Nic(n) => n.has_foreground(),
        }
    }

    /// The same, control frames in their response time aside: frames that are repeated forever
    /// move nothing.
    pub(crate) fn has_foreground_traffic(&self) -> bool {
        match self {
            Self::Switch(s) => s.has_foreground_traffic(),
            Self::Nic(n) => n.has_foreground_traffic(),
        }
    }

    /// Whether a packet inside carries more than itself, or may.
    pub(crate) fn uses_extras(&self) -> bool {
        match self {
            Self::Switch(s) => s.uses_extras(),
            Self::Nic(_) => true,
        }
    }

    /// The last time anything other than a periodic event happened here.
    pub(crate) fn last_activity(&self) -> Time {
        let tally = self.tally();
        tally.last_activity.max(tally.last_response)
    }

    pub(crate) fn probes(&self) -> &Probes {
        match self {
            Self::Switch(s) => &s.probes,
            Self::Nic(n) => &n.probes,
        }
    }

    pub(crate) fn probes_mut(&mut self) -> &mut Probes {
        match self {
            Self::Switch(s) => &mut s.probes,
            Self::Nic(n) => &mut n.probes,
        }
    }

    /// Lets probes look at this node.
    pub(crate) fn show(&mut self, look: impl FnOnce(&mut Probes, &dyn Sight)) {
        let mut probes = std::mem::take(self.probes_mut());
        match self {
            Self::Switch(s) => look(&mut probes, &**s),
            Self::Nic(n) => look(&mut probes, &**n),
        }
        *self.probes_mut() = probes;
    }

    pub(crate) fn tally(&self) -> &crate::tally::Tally {
        match self {
            Self::Switch(s) => &s.tally,
            Self::Nic(n) => &n.tally,
        }
    }
}
