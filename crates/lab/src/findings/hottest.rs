//! Where the congestion is.

use super::Group;
use weir_core::{NodeId, PortId};
use weir_net::Topology;
use weir_sim::outcome::PortRecord;

/// An egress port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortAt {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
}

impl PortAt {
    /// `P_d of Sc`, `sw0 to h3`.
    pub fn name(self, topology: &Topology) -> String {
        let port = topology.port_name(self.node, self.port);
        let node = topology.name(self.node);
        match port.strip_prefix("to ") {
            Some(to) => format!("{node} to {to}"),
            None => format!("{port} of {node}"),
        }
    }

    /// The record of this port in a run.
    pub fn record(self, run: &crate::run::Run) -> Option<&PortRecord> {
        run.outcome.ports.iter().find(|p| p.node == self.node && p.port == self.port)
    }
}

/// The switch port with the longest mean queue in the runs of a scheme.
pub fn hottest_port(topology: &Topology, group: &Group) -> Option<PortAt> {
    let mut sums: Vec<(PortAt, f64)> = Vec::new();
    for port in group.runs.iter().flat_map(|r| &r.outcome.ports) {
        if topology.is_host(port.node) {
            continue;
        }
        let at = PortAt { node: port.node, port: port.port };
        match sums.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(i) => sums[i].1 += port.queue.mean,
            Err(i) => sums.insert(i, (at, port.queue.mean)),
        }
    }
    let best = sums.into_iter().filter(|(_, mean)| *mean > 0.0);
    // of equals the first: `max_by` would take the last
    best.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(at, _)| at)
}
