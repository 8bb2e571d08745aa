//! Where the congestion is.

use weir_net::Topology;
use weir_scenario::PortAt;
use weir_sim::outcome::{Outcome, PortRecord};

/// The record of port `at` in a run.
pub fn port_record(at: PortAt, outcome: &Outcome) -> Option<&PortRecord> {
    outcome.ports.iter().find(|p| p.node == at.node && p.port == at.port)
}

/// The switch port with the longest queue of a run. (The longest mean would favour ports that are
/// merely busy for long.)
pub fn hottest_port(topology: &Topology, outcome: &Outcome) -> Option<PortAt> {
    let ports = outcome.ports.iter();
    let switches = ports.filter(|p| !topology.is_host(p.node) && p.queue.max.get() > 0);
    let at = |p: &PortRecord| PortAt { node: p.node, port: p.port };
    switches.map(|p| (p.queue.max, std::cmp::Reverse(at(p)))).max().map(|(_, at)| at.0)
}
