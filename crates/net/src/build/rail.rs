//! Servers with several GPUs, one NIC each: GPU `j` of every server is on leaf `j`, its rail.
//!
//! ```text
//!   spine0 spine1   spine2 spine3     spines of rail 0, of rail 1
//!     |  \ /  |       |  \ /  |
//!   leaf0   leaf2   leaf1   leaf3     leaf = pod * rails + rail
//!    | |     | |     | |     | |
//!   h0 h1   h2 h3   h0 h1   h2 h3     a server has a port on each rail of its pod
//! ```
//!
//! A host is a whole server, and its port `j` is the NIC of GPU `j`. Each rail is a network of its
//! own, so a packet that leaves by a rail arrives by it.

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{NodeId, Rate, Time};

topology! {
    name: "rail",
    doc: "Rail-optimised: servers with a port for each of their GPUs, a leaf per rail and pod, and \
          spines per rail. Queue pairs of the j-th rank of a host leave by port j.",
    /// Pods: servers of a pod share their leaves.
    pods: u32 = "2",
    /// Servers in each pod.
    servers_per_pod: u32 = "4",
    /// GPUs and NICs of a server, and rails.
    rails: u32 = "8",
    /// Spine switches of each rail; several pods need one at least.
    spines_per_rail: u32 = "2",
    /// Speed of the links of NICs.
    rate: Rate = "400Gbps",
    /// Speed of the links between leaves and spines.
    spine_rate: Rate = "400Gbps",
    /// Propagation delay of the links of NICs.
    delay: Time = "1us",
    /// Propagation delay of the links between leaves and spines.
    spine_delay: Time = "1us",
    /// Links that have failed from the start, like `spine0-leaf0`.
    failed: Vec<(String, String)> = "",
}

/// Builds it.
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    check_count("pods", p.pods, 1..=60_000)?;
    check_count("servers-per-pod", p.servers_per_pod, 1..=60_000)?;
    check_count("rails", p.rails, 1..=1024)?;
    check_count("spines-per-rail", p.spines_per_rail, u32::from(p.pods > 1)..=60_000)?;
    check_rate("rate", p.rate)?;
    check_rate("spine-rate", p.spine_rate)?;
    let counts = [p.pods, p.servers_per_pod, p.rails, p.spines_per_rail];
    let [pods, servers, rails, spines] = counts.map(u128::from);
    let (hosts, leaves) = (pods * servers, pods * rails);
    check_size(hosts + leaves + rails * spines, (hosts + pods * spines) * rails)?;
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(hosts as u32);
    let leaves: Vec<NodeId> =
        (0..leaves as u32).map(|i| b.add_switch(format!("leaf{i}"), Layer::Tor, i)).collect();
    let of_spines = leaves.len() as u32;
    let spines: Vec<NodeId> = (0..p.rails * p.spines_per_rail)
        .map(|i| b.add_switch(format!("spine{i}"), Layer::Core, of_spines + i))
        .collect();
    for (i, &host) in hosts.iter().enumerate() {
        let pod = i / p.servers_per_pod as usize;
        for rail in 0..p.rails as usize {
            b.connect(host, leaves[pod * p.rails as usize + rail], p.rate, p.delay);
        }
    }
    for (i, &leaf) in leaves.iter().enumerate() {
        let first = i % p.rails as usize * p.spines_per_rail as usize;
        for &spine in &spines[first..first + p.spines_per_rail as usize] {
            b.connect(leaf, spine, p.spine_rate, p.spine_delay);
        }
    }
    b.finish()?.without_links(&p.failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, neighbours, with_degree};

    #[test]
    fn a_server_is_on_every_rail_of_its_pod() {
        let params =
            Params { servers_per_pod: 3, rails: 2, spines_per_rail: 2, ..Params::default() };
        let topo = build(&params).unwrap();
        assert_eq!((topo.hosts().len(), topo.links().len()), (6, 12 + 8));
        assert_eq!(neighbours(&topo, "h4"), ["leaf2", "leaf3"]);
        assert_eq!(neighbours(&topo, "leaf1"), ["h0", "h1", "h2", "spine2", "spine3"]);
        assert_eq!((with_degree(&topo, "leaf", 5), with_degree(&topo, "spine", 2)), (4, 4));
        let routes = Routes::ecmp(&topo, &[]);
        assert_eq!(hops(&topo, &routes, "h0", "h2"), Some(2));
        assert_eq!(hops(&topo, &routes, "h0", "h5"), Some(4));
    }

    /// Every way that begins at a leaf of one rail stays on it.
    #[test]
    fn a_packet_arrives_by_the_rail_that_it_left_by() {
        let topo = build(&Params::default()).unwrap();
        let routes = Routes::ecmp(&topo, &[]);
        let (from, to) = (topo.hosts()[0], topo.hosts()[7]);
        for flow in 0..64 {
            let path = routes.path(&topo, from, to, flow).unwrap();
            let leaf = |i: usize| {
                let name = topo.name(path[i].0);
                name.strip_prefix("leaf").unwrap().parse::<u32>().unwrap()
            };
            assert_eq!((leaf(1) % 8, u32::from(path[0].1.0)), (leaf(3) % 8, leaf(1)));
        }
    }

    #[test]
    fn several_pods_need_spines() {
        assert!(build(&Params { spines_per_rail: 0, ..Params::default() }).is_err());
        assert!(build(&Params { spines_per_rail: 0, pods: 1, ..Params::default() }).is_ok());
    }
}
