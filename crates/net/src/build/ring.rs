//! Switches in a circle.
//!
//! Shortest paths on a ring of four or more switches use buffers in a circle: the textbook
//! case of a cyclic buffer dependency. (On three switches every path is one link long, so no
//! buffer waits for the next.)
//!
//! ```text
//!   sw0 -- sw1
//!    |      |        each with its hosts
//!   sw3 -- sw2
//! ```

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{NodeId, Rate, Time};

topology! {
    name: "ring",
    doc: "Switches in a ring, each with hosts: the smallest fabric that can deadlock.",
    /// Number of switches.
    switches: u32 = "4",
    /// Hosts on each switch.
    hosts_per_switch: u32 = "1",
    /// Speed of every link.
    rate: Rate = "40Gbps",
    /// Propagation delay of every link.
    delay: Time = "20ns",
}

/// Builds it. `sw0` has the first hosts, and so on. After its hosts a switch's ports lead to the
/// switch before and the switch after it; at `sw0`, where the circle closes, the other way round.
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    check_count("switches", p.switches, 3..=u32::MAX)?;
    check_count("hosts-per-switch", p.hosts_per_switch, 1..=60_000)?;
    check_rate("rate", p.rate)?;
    let hosts = u128::from(p.switches) * u128::from(p.hosts_per_switch);
    check_size(hosts + u128::from(p.switches), hosts + u128::from(p.switches))?;
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(hosts as u32);
    let switches: Vec<NodeId> =
        (0..p.switches).map(|i| b.add_switch(format!("sw{i}"), Layer::Other, i)).collect();
    for (i, &host) in hosts.iter().enumerate() {
        b.connect(host, switches[i / p.hosts_per_switch as usize], p.rate, p.delay);
    }
    for (i, &switch) in switches.iter().enumerate() {
        b.connect(switch, switches[(i + 1) % switches.len()], p.rate, p.delay);
    }
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, neighbours, with_degree};

    #[test]
    fn each_switch_has_two_neighbours_and_its_hosts() {
        let topo =
            build(&Params { switches: 5, hosts_per_switch: 2, ..Params::default() }).unwrap();
        assert_eq!((topo.hosts().len(), topo.links().len()), (10, 15));
        assert_eq!(with_degree(&topo, "sw", 4), 5);
        assert_eq!(neighbours(&topo, "sw0"), ["h0", "h1", "sw1", "sw4"]);
        assert_eq!(neighbours(&topo, "sw3"), ["h6", "h7", "sw2", "sw4"]);
        let routes = Routes::ecmp(&topo, &[]);
        // two links on at most, whichever way is shorter
        let lengths = ["h1", "h2", "h4", "h6", "h8"].map(|dst| hops(&topo, &routes, "h0", dst));
        assert_eq!(lengths, [2, 3, 4, 4, 3].map(Some));
    }
}
