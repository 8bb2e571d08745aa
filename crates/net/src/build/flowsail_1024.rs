//! The fabric of FlowSail's large experiments: 64 ToR, 64 agg ("spine" there) and 64 core
//! switches, 1024 servers, 2:1 oversubscribed at the ToR.
//!
//! The paper gives the counts; the wiring is ours: 8 pods of 8 ToR and 8 agg switches; a ToR has
//! 16 servers and 8 uplinks; agg j of every pod is linked to cores 8j..8j+7; a core has a port
//! per pod.

use super::fat_tree;
use crate::{Topology, TopologyError};
use weir_core::{Rate, Time};

topology! {
    name: "flowsail-1024",
    doc: "FlowSail's fabric: 1024 servers, 64 ToR, 64 agg and 64 core switches in 8 pods, 2:1 \
          oversubscribed at the ToR.",
    /// Speed of every link.
    rate: Rate = "100Gbps",
    /// Propagation delay of every link.
    delay: Time = "1us",
    /// Links that have failed from the start, like `tor0-agg1, agg0-core3`.
    failed: Vec<(String, String)> = "",
}

/// Builds it, as a [`fat_tree`].
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    fat_tree::build(&fat_tree::Params {
        pods: 8,
        tors_per_pod: 8,
        aggs_per_pod: 8,
        cores: 64,
        hosts_per_tor: 16,
        ..fat_tree::Params::uniform(p.rate, p.delay, &p.failed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, neighbours, with_degree};

    #[test]
    fn it_has_the_papers_counts_and_our_wiring() {
        let topo = build(&Params::default()).unwrap();
        // 1024 host links, 64 x 8 up from the ToRs, 64 x 8 up from the aggs
        assert_eq!((topo.hosts().len(), topo.links().len()), (1024, 1024 + 512 + 512));
        assert_eq!(with_degree(&topo, "tor", 16 + 8), 64);
        assert_eq!(with_degree(&topo, "agg", 8 + 8), 64);
        assert_eq!(with_degree(&topo, "core", 8), 64);
        // agg 3 of pod 1 is linked to cores 24..31; core 24 to agg 3 of every pod
        let cores: Vec<String> = (24..32).map(|i| format!("core{i}")).collect();
        assert_eq!(neighbours(&topo, "agg11")[8..], cores);
        let aggs: Vec<String> = (0..8).map(|pod| format!("agg{}", 8 * pod + 3)).collect();
        assert_eq!(neighbours(&topo, "core24"), aggs);
        let routes = Routes::ecmp(&topo, &[]);
        let lengths = ["h15", "h16", "h128"].map(|dst| hops(&topo, &routes, "h0", dst));
        assert_eq!(lengths, [2, 4, 6].map(Some));
    }
}
