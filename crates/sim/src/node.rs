//! A node as the engine sees it: something that can be run up to a time.

use crate::env::{Ahead, Env};
use crate::nic::Nic;
use crate::probe::{ProbeList, Probes, Sight};
use crate::switch::Switch;
use weir_core::{Bytes, NodeId, Time};

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

    /// When what waits for nothing but its pace has been sent.
    pub(crate) fn paced_until(&self) -> Time {
        match self {
            Self::Switch(s) => s.paced_until(),
            Self::Nic(n) => n.paced_until(),
        }
    }

    /// Whether a packet inside carries more than itself, or may.
    pub(crate) fn uses_extras(&self) -> bool {
        match self {
            Self::Switch(s) => s.uses_extras(),
            Self::Nic(_) => true,
        }
    }

    /// Whether nothing is left to send, and nothing but control frames is inside.
    pub(crate) fn is_drained(&self) -> bool {
        match self {
            Self::Nic(n) => n.all_flows_over() && n.packets_inside() == 0,
            Self::Switch(s) => s.books.mmu.used() == Bytes::ZERO && s.pipeline.is_empty(),
        }
    }

    /// The last time anything other than a periodic event happened here.
    pub(crate) fn last_activity(&self) -> Time {
        let tally = self.tally();
        tally.last_activity.max(tally.last_response)
    }

    /// The run has ended: the last window of its recording is over.
    pub(crate) fn end_recording(&mut self, end: Time) {
        match self {
            Self::Switch(s) => s.end_recording(end),
            Self::Nic(n) => n.end_recording(end),
        }
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
    pub(crate) fn show(&mut self, look: impl FnOnce(&mut ProbeList, &dyn Sight)) {
        let mut probes = std::mem::take(&mut self.probes_mut().all);
        match self {
            Self::Switch(s) => look(&mut probes, &**s),
            Self::Nic(n) => look(&mut probes, &**n),
        }
        self.probes_mut().all = probes;
    }

    pub(crate) fn faults(&self) -> &crate::faults::Faults {
        match self {
            Self::Switch(s) => &s.faults,
            Self::Nic(n) => &n.faults,
        }
    }

    pub(crate) fn tally(&self) -> &crate::tally::Tally {
        match self {
            Self::Switch(s) => &s.tally,
            Self::Nic(n) => &n.tally,
        }
    }
}
