//! Which nodes run on which thread.

use super::tiers::Tiers;
use weir_core::NodeId;
use weir_net::{Layer, Topology};

/// A division of the nodes into parts.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    /// The nodes of each part. If there are several parts, those of the highest tier come last:
    /// they may move to another part.
    pub(crate) parts: Vec<Vec<NodeId>>,
    /// For each part: how many of its nodes come before those.
    pub(crate) settled: Vec<usize>,
    /// For each node: its part, and its place in it.
    pub(crate) place: Vec<(u32, u32)>,
}

impl Partition {
    /// Divides by pod or rack, since most hops stay within one; what belongs to none (the
    /// core layer) is spread one by one. The heaviest groups are dealt first, each to the
    /// part that has least so far. A node weighs as much as it has ports.
    pub(crate) fn new(topology: &Topology, parts: usize) -> Self {
        let mut groups: Vec<(u64, Vec<NodeId>)> = Vec::new();
        let mut by_group: std::collections::BTreeMap<u32, usize> =
            std::collections::BTreeMap::new();
        for (i, node) in topology.nodes().iter().enumerate() {
            let id = NodeId::from_index(i);
            let weight = topology.ports(id).len() as u64;
            let at = if node.layer == Layer::Core {
                groups.push((0, Vec::new()));
                groups.len() - 1
            } else {
                *by_group.entry(node.group).or_insert_with(|| {
                    groups.push((0, Vec::new()));
                    groups.len() - 1
                })
            };
            groups[at].0 += weight;
            groups[at].1.push(id);
        }
        groups.sort_by_key(|(weight, nodes)| (std::cmp::Reverse(*weight), nodes[0]));
        let mut loads = vec![0u64; parts];
        let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); parts];
        for (weight, nodes) in groups {
            let lightest = (0..parts).min_by_key(|&p| loads[p]).expect("at least one part");
            loads[lightest] += weight;
            members[lightest].extend(nodes);
        }
        members.retain(|m| !m.is_empty());
        let tiers = Tiers::new(topology);
        let several = members.len() > 1 && tiers.count() > 1;
        let is_high = |n: &NodeId| several && tiers.of(*n) + 1 == tiers.count();
        for part in &mut members {
            part.sort_unstable_by_key(|n| (is_high(n), *n));
        }
        let settled = members.iter().map(|m| m.iter().filter(|n| !is_high(n)).count()).collect();
        Self::from_parts(topology, members, settled)
    }

    /// Every node is a part of its own: part `i` is node `i`.
    pub(crate) fn apart(topology: &Topology) -> Self {
        let nodes = topology.nodes().len();
        let parts = (0..nodes).map(|i| vec![NodeId::from_index(i)]).collect();
        Self::from_parts(topology, parts, vec![1; nodes])
    }

    /// `node`, which is one of those that may move, is the last one of part `to` from now on.
    pub(crate) fn relocate(&mut self, node: NodeId, to: usize) {
        let (from, place) = self.place[node.index()];
        let (members, place) = (&mut self.parts[from as usize], place as usize);
        members.swap_remove(place);
        if let Some(last) = members.get(place) {
            self.place[last.index()] = (from, place as u32);
        }
        self.place[node.index()] = (to as u32, self.parts[to].len() as u32);
        self.parts[to].push(node);
    }

    fn from_parts(topology: &Topology, parts: Vec<Vec<NodeId>>, settled: Vec<usize>) -> Self {
        let n = topology.nodes().len();
        let mut place = vec![(0, 0); n];
        for (p, part) in parts.iter().enumerate() {
            for (i, node) in part.iter().enumerate() {
                place[node.index()] = (p as u32, i as u32);
            }
        }
        Self { parts, settled, place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_net::build::{self, k_ary};

    #[test]
    fn pods_stay_together_and_parts_are_balanced() {
        let topology =
            build::k_ary::build(&k_ary::Params { k: 8, ..k_ary::Params::default() }).unwrap();
        let partition = Partition::new(&topology, 3);
        let ports =
            |part: &Vec<NodeId>| -> usize { part.iter().map(|n| topology.ports(*n).len()).sum() };
        let loads: Vec<usize> = partition.parts.iter().map(ports).collect();
        let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
        // eight pods of 80 ports (64 of switches, 16 of hosts) and 16 cores of 8 on three parts
        assert!(most - least <= 80, "{loads:?}");
        for part in &partition.parts {
            for n in part {
                let node = topology.node(*n);
                if node.layer != Layer::Core {
                    let mates = topology
                        .nodes()
                        .iter()
                        .enumerate()
                        .filter(|(_, m)| m.group == node.group && m.layer != Layer::Core);
                    assert!(mates.map(|(i, _)| NodeId::from_index(i)).all(|m| part.contains(&m)));
                }
            }
        }
        let all: usize = partition.parts.iter().map(Vec::len).sum();
        assert_eq!(all, topology.nodes().len());
    }

    #[test]
    fn there_are_never_more_parts_than_groups() {
        let topology = build::star::build(&build::star::Params::default()).unwrap();
        assert_eq!(Partition::new(&topology, 4).parts.len(), 1);
    }
}
