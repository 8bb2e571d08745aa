//! The k-ary fat-tree: three layers of equal switches with k ports each.

use super::fat_tree;
use crate::{Topology, TopologyError};
use weir_core::{Rate, Time};

topology! {
    name: "k-ary",
    doc: "The fat-tree of k-port switches: k pods of k/2 ToR and k/2 agg switches, (k/2)^2 cores, \
          k^3/4 hosts, no oversubscription.",
    /// Ports of every switch; even.
    k: u32 = "4",
    /// Speed of every link.
    rate: Rate = "100Gbps",
    /// Propagation delay of every link.
    delay: Time = "1us",
    /// Links that have failed from the start, like `tor0-agg1, agg0-core3`.
    failed: Vec<(String, String)> = "",
}

/// Builds it, as a [`fat_tree`].
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    if p.k == 0 || !p.k.is_multiple_of(2) || p.k > LARGEST {
        return Err(TopologyError::Parameter {
            name: "k".to_owned(),
            value: p.k.to_string(),
            valid: format!("it must be an even number from 2 to {LARGEST}"),
        });
    }
    let half = p.k / 2;
    fat_tree::build(&fat_tree::Params {
        pods: p.k,
        tors_per_pod: half,
        aggs_per_pod: half,
        cores: half * half,
        hosts_per_tor: half,
        ..fat_tree::Params::uniform(p.rate, p.delay, &p.failed)
    })
}

/// 524 288 hosts.
const LARGEST: u32 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, id, with_degree};

    #[test]
    fn all_switches_have_k_ports() {
        for k in [2, 4, 8] {
            let topo = build(&Params { k, ..Params::default() }).unwrap();
            let [hosts, pod, core] = [k * k * k / 4, k * k / 2, k * k / 4].map(|n| n as usize);
            assert_eq!(topo.hosts().len(), hosts);
            // as many links on every layer
            assert_eq!(topo.links().len(), 3 * hosts);
            let counts = ["tor", "agg", "core"].map(|name| with_degree(&topo, name, k as usize));
            assert_eq!(counts, [pod, pod, core]);
        }
    }

    #[test]
    fn all_ways_between_pods_are_used() {
        let topo = build(&Params { k: 8, ..Params::default() }).unwrap();
        let routes = Routes::ecmp(&topo, &[]);
        let h127 = id(&topo, "h127");
        let ways = |at: &str| routes.next_hops(id(&topo, at), h127).len();
        // 4 aggs times 4 cores each; from the core there is one way
        assert_eq!(["tor0", "agg0", "core0"].map(ways), [4, 4, 1]);
        assert_eq!(hops(&topo, &routes, "h0", "h127"), Some(6));
    }
}
