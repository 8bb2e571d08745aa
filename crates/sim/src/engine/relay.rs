//! Nodes that are handed their frames one by one, for logs of what each was given and answered.

use super::partition::Partition;
use super::{Engine, Part};
use crate::env::Env;
use crate::parcel::Parcel;
use crate::shared::Shared;
use crate::tree;
use weir_core::{NodeId, PortId, Time};

/// A frame that a node has sent and its neighbour receives.
#[derive(Clone, Copy, Debug)]
pub struct Crossed<'a> {
    /// Who sends it.
    pub from: (NodeId, PortId),
    /// Who receives it.
    pub to: (NodeId, PortId),
    /// When its last bit arrives.
    pub at: Time,
    /// What it is.
    pub parcel: &'a Parcel,
}

/// Hears of every frame of a run. The frames of one wire come in order; those of different wires
/// do not.
pub trait Listener {
    /// A frame crosses a link.
    fn crosses(&mut self, frame: &Crossed<'_>);

    /// The run is over: nodes have handled everything before `now`.
    fn ends(&mut self, now: Time);
}

/// The engine of runs that are logged: every node is a part of its own, and what it sends is taken
/// from it, shown to a listener, and given to the neighbour. All nodes with something to do run for
/// one lookahead at a time.
pub(crate) struct Relay<'l> {
    listener: &'l mut dyn Listener,
    lookahead: Time,
}

impl<'l> Relay<'l> {
    /// An engine for a world whose nodes are [apart](Partition::apart).
    pub(crate) fn new(parts: &mut [Part], lookahead: Time, listener: &'l mut dyn Listener) -> Self {
        parts.iter_mut().for_each(Part::announce);
        Self { listener, lookahead }
    }

    /// Hands over what node `from` has sent.
    fn deliver(&mut self, parts: &mut [Part], shared: &Shared<'_>, from: usize) {
        let id = parts[from].ids[0];
        for end in shared.topology.ports(id) {
            let to = end.peer.index();
            // parallel links: the first takes all
            let sent: Vec<_> = parts[from].wires.sent_to(to).collect();
            for (far, at, parcel) in sent {
                let port = shared.topology.port(far.0, far.1).peer_port;
                self.listener.crosses(&Crossed { from: (id, port), to: far, at, parcel: &parcel });
                parts[to].wires.deliver(far, at, parcel);
            }
        }
    }
}

impl Engine for Relay<'_> {
    fn advance(&mut self, parts: &mut [Part], _: &mut Partition, shared: &Shared<'_>, until: Time) {
        tree::check_comparisons();
        loop {
            let first = parts.iter().map(Part::earliest).min().unwrap_or(Time::NEVER);
            if first >= until {
                return;
            }
            let end = until.min(first.saturating_add(self.lookahead));
            let due: Vec<usize> = (0..parts.len()).filter(|&i| parts[i].earliest() < end).collect();
            for &i in &due {
                let Part { nodes, wires, visits, .. } = &mut parts[i];
                *visits += 1;
                nodes[0].run(end, &mut Env { wires, shared });
            }
            for i in due {
                self.deliver(parts, shared, i);
            }
        }
    }
}
