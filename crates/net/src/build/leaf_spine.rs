//! Two layers: every leaf is linked to every spine.
//!
//! ```text
//!   spine0   spine1
//!    | \ \  / / |        every leaf to every spine,
//!   leaf0 leaf1 leaf2    minus the failed links
//! ```

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{NodeId, Rate, Time};

topology! {
    name: "leaf-spine",
    doc: "Two layers, every leaf linked to every spine; failed links may be left out. OFC's \
          deadlock experiment (Fig. 9) is 2 spines, 4 leaves, without spine0-leaf0 and \
          spine1-leaf2.",
    /// Number of spine switches.
    spines: u32 = "2",
    /// Number of leaf switches.
    leaves: u32 = "4",
    /// Hosts on each leaf.
    hosts_per_leaf: u32 = "8",
    /// Speed of the host links.
    rate: Rate = "100Gbps",
    /// Speed of the links between leaves and spines.
    spine_rate: Rate = "100Gbps",
    /// Propagation delay of the host links.
    delay: Time = "1us",
    /// Propagation delay of the links between leaves and spines.
    spine_delay: Time = "1us",
    /// Links that have failed from the start, like `spine0-leaf0, spine1-leaf2`.
    failed: Vec<(String, String)> = "",
}

/// Builds it. Hosts `h0`... are on `leaf0`, and so on; after its hosts, a leaf's ports lead to
/// `spine0`, `spine1`, ...
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    check_count("spines", p.spines, 1..=60_000)?;
    check_count("leaves", p.leaves, 1..=65_535)?;
    check_count("hosts-per-leaf", p.hosts_per_leaf, 1..=60_000)?;
    check_rate("rate", p.rate)?;
    check_rate("spine-rate", p.spine_rate)?;
    let [spines, leaves, per_leaf] = [p.spines, p.leaves, p.hosts_per_leaf].map(u128::from);
    let hosts = leaves * per_leaf;
    check_size(hosts + leaves + spines, hosts + leaves * spines)?;
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(hosts as u32);
    let leaves: Vec<NodeId> =
        (0..p.leaves).map(|i| b.add_switch(format!("leaf{i}"), Layer::Tor, i)).collect();
    let spines: Vec<NodeId> = (0..p.spines)
        .map(|i| b.add_switch(format!("spine{i}"), Layer::Core, p.leaves + i))
        .collect();
    for (i, &host) in hosts.iter().enumerate() {
        b.connect(host, leaves[i / p.hosts_per_leaf as usize], p.rate, p.delay);
    }
    for &leaf in &leaves {
        for &spine in &spines {
            b.connect(leaf, spine, p.spine_rate, p.spine_delay);
        }
    }
    b.finish()?.without_links(&p.failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, id, neighbours, with_degree};

    #[test]
    fn every_leaf_is_linked_to_every_spine() {
        let topo = build(&Params { spines: 3, leaves: 4, hosts_per_leaf: 2, ..Params::default() });
        let topo = topo.unwrap();
        assert_eq!((topo.hosts().len(), topo.links().len()), (8, 8 + 12));
        assert_eq!((with_degree(&topo, "leaf", 5), with_degree(&topo, "spine", 4)), (4, 3));
        assert_eq!(neighbours(&topo, "leaf1"), ["h2", "h3", "spine0", "spine1", "spine2"]);
        let routes = Routes::ecmp(&topo, &[]);
        assert_eq!(hops(&topo, &routes, "h0", "h1"), Some(2));
        assert_eq!(hops(&topo, &routes, "h0", "h7"), Some(4));
        assert_eq!(routes.next_hops(id(&topo, "leaf0"), id(&topo, "h7")).len(), 3);
        assert_eq!(topo.node(id(&topo, "h7")).group, 3);
    }

    /// OFC's deadlock experiment: without spine0-leaf0 and spine1-leaf2, hosts on leaf2 reach
    /// leaf0 only by a bounce, over leaf1 or leaf3.
    #[test]
    fn failed_links_are_left_out_and_force_a_bounce() {
        let failed = [("spine0", "leaf0"), ("leaf2", "spine1")];
        let failed = failed.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
        let topo = build(&Params { failed, ..Params::default() }).unwrap();
        assert_eq!(topo.links().len(), 32 + 8 - 2);
        assert_eq!(neighbours(&topo, "spine0"), ["leaf1", "leaf2", "leaf3"]);
        assert_eq!(neighbours(&topo, "spine1"), ["leaf0", "leaf1", "leaf3"]);
        let routes = Routes::ecmp(&topo, &[]);
        let ways = |at: &str, dst: &str| -> Vec<&str> {
            let at = id(&topo, at);
            let ports = routes.next_hops(at, id(&topo, dst));
            ports.into_iter().map(|port| topo.name(topo.port(at, port).peer)).collect()
        };
        // h16 on leaf2 to h0 on leaf0
        assert_eq!(hops(&topo, &routes, "h16", "h0"), Some(6));
        assert_eq!(ways("leaf2", "h0"), ["spine0"]);
        assert_eq!(ways("spine0", "h0"), ["leaf1", "leaf3"]);
        assert_eq!(ways("leaf1", "h0"), ["spine1"]);
        assert_eq!(ways("spine1", "h0"), ["leaf0"]);
        assert_eq!(topo.missing().len(), 2);
    }
}
