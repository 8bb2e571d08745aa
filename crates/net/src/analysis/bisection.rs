//! How much can cross the middle of a fabric.

use super::maxflow::FlowNetwork;
use crate::topology::Topology;
use weir_core::{NodeId, Rate};

/// The capacity between two halves of the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// What the hosts of one half can send to the other half, all at once, in one direction.
    pub capacity: Rate,
    /// What the smaller half could send at the speed of its own links.
    pub demand: Rate,
}

impl Bisection {
    /// Capacity over demand: 1.0 is a fabric without bottleneck, 0.5 one with 2:1.
    pub fn ratio(&self) -> f64 {
        self.capacity.as_bps() as f64 / self.demand.as_bps() as f64
    }
}

/// More pods or racks than this are not split in all possible ways.
const FEW_GROUPS: usize = 8;

/// The bisection bandwidth.
///
/// For a given split of the hosts into halves the capacity is exact: a maximum flow through all
/// links, host links included. The split is the worst of these: the hosts in the order of
/// their pods or racks, cut in the middle; and, if there are at most eight groups of equal
/// size, every way to share out whole groups. For fabrics of equal pods or racks (all
/// ready-made ones without failures) that is the true bisection. For others it is an upper
/// bound: finding the worst of all splits is not feasible.
pub fn bisection(topo: &Topology) -> Bisection {
    let mut hosts = topo.hosts().to_vec();
    hosts.sort_by_key(|&h| (topo.node(h).group, h));
    let mut left = vec![false; topo.nodes().len()];
    for host in &hosts[..hosts.len() / 2] {
        left[host.index()] = true;
    }
    let mut worst = across(topo, &left);
    let groups = equal_groups(topo, &hosts);
    if (2..=FEW_GROUPS).contains(&groups.len()) && groups.len().is_multiple_of(2) {
        // the last group stays right: the mirror image of a split is the same split
        for choice in 0u32..1 << (groups.len() - 1) {
            if choice.count_ones() as usize != groups.len() / 2 {
                continue;
            }
            for (i, group) in groups.iter().enumerate() {
                group.iter().for_each(|h| left[h.index()] = choice >> i & 1 == 1);
            }
            let here = across(topo, &left);
            worst = if here.capacity < worst.capacity { here } else { worst };
        }
    }
    worst
}

/// The hosts by group, or nothing if the groups differ in size.
fn equal_groups<'a>(topo: &Topology, sorted: &'a [NodeId]) -> Vec<&'a [NodeId]> {
    let groups: Vec<_> =
        sorted.chunk_by(|&a, &b| topo.node(a).group == topo.node(b).group).collect();
    let equal = groups.windows(2).all(|pair| pair[0].len() == pair[1].len());
    if equal { groups } else { Vec::new() }
}

/// The most that the hosts marked in `left` can send to the others.
fn across(topo: &Topology, left: &[bool]) -> Bisection {
    let n = topo.nodes().len();
    let (source, sink) = (n, n + 1);
    let mut net = FlowNetwork::new(n + 2);
    for link in topo.links() {
        let rate = u128::from(link.rate.as_bps());
        net.join(link.a.0.index(), link.b.0.index(), rate, rate);
    }
    let mut demand = [0u128; 2];
    for &host in topo.hosts() {
        let ports = topo.ports(host).iter();
        let rate: u128 = ports.map(|end| u128::from(topo.link(end.link).rate.as_bps())).sum();
        if left[host.index()] {
            net.join(source, host.index(), rate, 0);
        } else {
            net.join(host.index(), sink, rate, 0);
        }
        demand[usize::from(left[host.index()])] += rate;
    }
    let rate = |bps: u128| Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX));
    Bisection { capacity: rate(net.max_flow(source, sink)), demand: rate(demand[0].min(demand[1])) }
}
