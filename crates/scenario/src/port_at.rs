//! An egress port of a network, as results and scenarios name it.

use weir_core::{NodeId, PortId};
use weir_net::Topology;

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
}
