//! Where the congestion is.

use crate::run::Run;
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

    /// The same in one word, for tables: `Sc:P_d`, `sw0:h3`.
    pub fn label(self, topology: &Topology) -> String {
        topology.port_label(self.node, self.port)
    }

    /// The record of this port in a run.
    pub fn record(self, run: &Run) -> Option<&PortRecord> {
        run.outcome.ports.iter().find(|p| p.node == self.node && p.port == self.port)
    }
}

/// The switch port with the longest queue of a run. (The longest mean would favour ports that are
/// merely busy for long.)
pub fn hottest_port(topology: &Topology, run: &Run) -> Option<PortAt> {
    let ports = run.outcome.ports.iter();
    let switches = ports.filter(|p| !topology.is_host(p.node) && p.queue.max.get() > 0);
    let at = |p: &PortRecord| PortAt { node: p.node, port: p.port };
    switches.map(|p| (p.queue.max, std::cmp::Reverse(at(p)))).max().map(|(_, at)| at.0)
}
