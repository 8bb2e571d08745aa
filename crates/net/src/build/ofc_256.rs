//! The fat-tree of OFC's workload experiments (Fig. 6 to 8): 80 switches, 256 servers, 2:1.
//!
//! The paper's counts per layer do not fit a fat-tree of 8-port switches. Ours keeps its totals
//! and ratio: 16 core, 32 agg, 32 edge switches, and 8 servers per edge switch against 4
//! uplinks.

use super::fat_tree;
use crate::{Topology, TopologyError};
use weir_core::{Rate, Time};

topology! {
    name: "ofc-256",
    doc: "OFC's fabric: a fat-tree for k = 8 (16 core, 32 agg, 32 ToR switches) with 8 servers per \
          ToR, 256 in all, 2:1 oversubscribed at the ToR.",
    /// Speed of every link.
    rate: Rate = "40Gbps",
    /// Propagation delay of every link.
    delay: Time = "20ns",
    /// Links that have failed from the start, like `tor0-agg1, agg0-core3`.
    failed: Vec<(String, String)> = "",
}

/// Builds it, as a [`fat_tree`].
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    fat_tree::build(&fat_tree::Params {
        pods: 8,
        tors_per_pod: 4,
        aggs_per_pod: 4,
        cores: 16,
        hosts_per_tor: 8,
        ..fat_tree::Params::uniform(p.rate, p.delay, &p.failed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, with_degree};

    #[test]
    fn it_has_the_papers_totals_and_ratio() {
        let topo = build(&Params::default()).unwrap();
        assert_eq!((topo.hosts().len(), topo.links().len()), (256, 256 + 128 + 128));
        assert_eq!(topo.switches().count(), 80);
        assert_eq!(with_degree(&topo, "tor", 8 + 4), 32);
        assert_eq!(with_degree(&topo, "agg", 8), 32);
        assert_eq!(with_degree(&topo, "core", 8), 16);
        let link = topo.links()[0];
        assert_eq!((link.rate, link.delay), (Rate::from_gbps(40), Time::from_ns(20)));
        assert_eq!(hops(&topo, &Routes::ecmp(&topo, &[]), "h0", "h255"), Some(6));
    }
}
