//! Groups of switches: within a group every switch is linked to every other one, and every pair of
//! groups is joined by one link.
//!
//! ```text
//!    group 0         group 1
//!   sw0 === sw1 --- sw2 === sw3
//!     \__________ ...             one link from each group to each other
//! ```
//!
//! Shortest paths take at most one link between groups, with one in the group before and one in
//! the group after. Buffers on them can wait for each other in a circle (local, global, local):
//! `weir lint` shows it, and up-down routing has none.

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{NodeId, Rate, Time};

topology! {
    name: "dragonfly",
    doc: "Groups of switches that are all linked to each other, and a link between every two \
          groups. Shortest paths may deadlock: see `weir lint`.",
    /// Groups.
    groups: u32 = "5",
    /// Switches of a group.
    switches_per_group: u32 = "4",
    /// Hosts on each switch.
    hosts_per_switch: u32 = "2",
    /// Speed of the links of hosts.
    rate: Rate = "100Gbps",
    /// Speed of the links within groups.
    local_rate: Rate = "100Gbps",
    /// Speed of the links between groups.
    global_rate: Rate = "100Gbps",
    /// Propagation delay of the links of hosts and of those within groups.
    delay: Time = "1us",
    /// Propagation delay of the links between groups.
    global_delay: Time = "1us",
    /// Links that have failed from the start, like `sw0-sw1`.
    failed: Vec<(String, String)> = "",
}

/// Builds it. Switch `k` of group `i` is number `i * switches + k`; the links of a group to others
/// are spread over its switches as evenly as possible.
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    check_count("groups", p.groups, 1..=60_000)?;
    check_count("switches-per-group", p.switches_per_group, 1..=60_000)?;
    check_count("hosts-per-switch", p.hosts_per_switch, 1..=60_000)?;
    for (name, rate) in
        [("rate", p.rate), ("local-rate", p.local_rate), ("global-rate", p.global_rate)]
    {
        check_rate(name, rate)?;
    }
    let counts = [p.groups, p.switches_per_group, p.hosts_per_switch];
    let [groups, of_group, per_switch] = counts.map(u128::from);
    let (switches, hosts) = (groups * of_group, groups * of_group * per_switch);
    let (local, global) = (of_group * (of_group - 1) / 2, groups * (groups - 1) / 2);
    check_size(hosts + switches, hosts + groups * local + global)?;
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(hosts as u32);
    let switches: Vec<NodeId> = (0..switches as u32)
        .map(|i| b.add_switch(format!("sw{i}"), Layer::Other, i / p.switches_per_group))
        .collect();
    for (i, &host) in hosts.iter().enumerate() {
        b.connect(host, switches[i / p.hosts_per_switch as usize], p.rate, p.delay);
    }
    for group in switches.chunks(p.switches_per_group as usize) {
        for (i, &one) in group.iter().enumerate() {
            for &other in &group[i + 1..] {
                b.connect(one, other, p.local_rate, p.delay);
            }
        }
    }
    for one in 0..p.groups {
        for other in one + 1..p.groups {
            let (a, b_) = (switches[gateway(p, one, other)], switches[gateway(p, other, one)]);
            b.connect(a, b_, p.global_rate, p.global_delay);
        }
    }
    for (i, &switch) in switches.iter().enumerate() {
        let i = i as u32;
        b.place(switch, (i % p.switches_per_group) as i32, (i / p.switches_per_group) as i32);
    }
    b.finish()?.without_links(&p.failed)
}

/// The switch of group `from` with the link to group `to`: other groups are counted from the next
/// one on.
fn gateway(p: &Params, from: u32, to: u32) -> usize {
    let nth = u64::from((to + p.groups - from) % p.groups - 1);
    let switch = nth * u64::from(p.switches_per_group) / u64::from(p.groups - 1);
    (from * p.switches_per_group) as usize + switch as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, neighbours, with_degree};

    /// Five groups of four switches: each switch has two hosts, three neighbours in its group and
    /// one of the four links to other groups.
    #[test]
    fn every_two_groups_are_joined_by_one_link() {
        let topo = build(&Params::default()).unwrap();
        assert_eq!((topo.hosts().len(), topo.links().len()), (40, 40 + 5 * 6 + 10));
        assert_eq!(with_degree(&topo, "sw", 6), 20);
        assert_eq!(neighbours(&topo, "sw0"), ["h0", "h1", "sw1", "sw2", "sw3", "sw7"]);
        let routes = Routes::ecmp(&topo, &[]);
        assert_eq!(hops(&topo, &routes, "h0", "h2"), Some(3));
        let all = topo.hosts().iter();
        let longest = all.filter_map(|&to| routes.path(&topo, topo.hosts()[0], to, 1));
        assert_eq!(longest.map(|path| path.len()).max(), Some(5), "local, global, local");
    }

    #[test]
    fn more_groups_than_switches_share_gateways() {
        let params = Params { groups: 9, switches_per_group: 2, ..Params::default() };
        let topo = build(&params).unwrap();
        // 2 hosts, 1 neighbour, 4 of 8 links to other groups
        assert_eq!(with_degree(&topo, "sw", 7), 18);
        assert!(build(&Params { groups: 1, ..Params::default() }).is_ok());
    }
}
