//! Engines: the order in which nodes run, and on which thread.
//!
//! Nodes interact only through wires, and what a node sends cannot arrive in less than one
//! **lookahead** (propagation plus the shortest frame's time). So when the earliest pending
//! event of the whole network is at `t`, every node may be run up to `t + lookahead` on its
//! own: nothing that happens elsewhere can reach it before. (A node whose neighbours are ahead of
//! it may run one lookahead beyond *them*: [`tiers`].) Each node handles its own events in
//! canonical order; results do not depend on the order in which an engine visits nodes.

pub(crate) mod adaptive;
pub(crate) mod balance;
pub(crate) mod barrier;
pub(crate) mod calendar;
pub(crate) mod partition;
pub(crate) mod relay;
pub(crate) mod sequential;
pub(crate) mod tiers;
pub(crate) mod window;

use crate::link::Wires;
use crate::node::Node;
use crate::shared::Shared;
use partition::Partition;
use weir_core::{NodeId, Time};

/// Nodes that run on one thread, and the wires into them.
pub(crate) struct Part {
    pub(crate) nodes: Vec<Node>,
    /// Their ids, so that asking who is next touches no node.
    ids: Vec<NodeId>,
    pub(crate) wires: Wires,
    /// How often nodes have been run.
    visits: u64,
}

impl Part {
    pub(crate) fn new(nodes: Vec<Node>, wires: Wires) -> Self {
        let ids = nodes.iter().map(Node::id).collect();
        Self { nodes, ids, wires, visits: 0 }
    }

    /// Asks every node when it has something to do first.
    pub(crate) fn announce(&mut self) {
        for node in &self.nodes {
            self.wires.agenda.set_next(node.id(), node.next());
        }
    }

    /// Packets that nodes have received.
    fn hops(&self) -> u64 {
        self.nodes.iter().map(|n| n.tally().hops).sum()
    }

    /// The earliest pending event.
    pub(crate) fn earliest(&self) -> Time {
        let next = || self.ids.iter().map(|&id| self.wires.agenda.next(id)).min();
        self.wires.agenda.earliest().or_else(next).unwrap_or(Time::NEVER)
    }
}

/// Moves a network forward in time.
pub(crate) trait Engine {
    /// Handles every event before `until`. It may move nodes from part to part.
    fn advance(
        &mut self,
        parts: &mut [Part],
        partition: &mut Partition,
        shared: &Shared<'_>,
        until: Time,
    );
}
