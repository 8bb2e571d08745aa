//! Two racks and a trunk between them.
//!
//! ```text
//!   h0 ...  --+            +-- ... right hosts
//!           sw0 ==trunks== sw1
//!   left hosts +           +
//! ```

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{Rate, Time};

topology! {
    name: "dumbbell",
    doc: "Two racks joined by a trunk, as in OFC's incast experiments (Fig. 4 and 5).",
    /// Hosts on the left switch.
    left: u32 = "32",
    /// Hosts on the right switch.
    right: u32 = "32",
    /// Parallel links between the two switches.
    trunks: u32 = "1",
    /// Speed of the host links.
    rate: Rate = "40Gbps",
    /// Speed of each trunk link.
    trunk_rate: Rate = "40Gbps",
    /// Propagation delay of the host links.
    delay: Time = "20ns",
    /// Propagation delay of the trunk links.
    trunk_delay: Time = "20ns",
}

/// Builds it. Hosts `h0`... are on `sw0`, the rest on `sw1`; the trunk takes the last ports.
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    check_count("left", p.left, 1..=32_768)?;
    check_count("right", p.right, 1..=32_768)?;
    check_count("trunks", p.trunks, 1..=4096)?;
    check_rate("rate", p.rate)?;
    check_rate("trunk-rate", p.trunk_rate)?;
    let hosts = p.left + p.right;
    check_size(u128::from(hosts) + 2, u128::from(hosts) + u128::from(p.trunks))?;
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(hosts);
    let switches = [0, 1].map(|i| b.add_switch(format!("sw{i}"), Layer::Tor, i));
    let (left, right) = hosts.split_at(p.left as usize);
    for (rack, switch) in [(left, switches[0]), (right, switches[1])] {
        for &host in rack {
            b.connect(host, switch, p.rate, p.delay);
        }
    }
    for _ in 0..p.trunks {
        b.connect(switches[0], switches[1], p.trunk_rate, p.trunk_delay);
    }
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, id, neighbours};

    #[test]
    fn the_racks_meet_in_the_trunk() {
        let p = Params { left: 3, right: 2, trunks: 2, ..Params::default() };
        let topo = build(&p).unwrap();
        assert_eq!((topo.hosts().len(), topo.links().len()), (5, 7));
        assert_eq!(neighbours(&topo, "sw0"), ["h0", "h1", "h2", "sw1", "sw1"]);
        assert_eq!(neighbours(&topo, "sw1"), ["h3", "h4", "sw0", "sw0"]);
        let routes = Routes::ecmp(&topo, &[]);
        assert_eq!(hops(&topo, &routes, "h0", "h1"), Some(2));
        assert_eq!(hops(&topo, &routes, "h0", "h4"), Some(3));
        // both trunk links may carry a flow from left to right
        assert_eq!(routes.next_hops(id(&topo, "sw0"), id(&topo, "h3")).len(), 2);
        assert_eq!(topo.port_name(id(&topo, "sw0"), weir_core::PortId(4)), "to sw1 (p4)");
        assert_eq!(topo.port_label(id(&topo, "sw0"), weir_core::PortId(4)), "sw0:sw1/p4");
    }
}
