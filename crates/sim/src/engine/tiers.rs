//! Which nodes take turns, so that each can run for two lookaheads at a time.
//!
//! If every link joins two neighbouring tiers (host, edge, aggregation, core), tiers can be kept
//! one lookahead apart: a node is run when all its neighbours are one lookahead ahead of it, and
//! then gets as far beyond them. Every visit covers two lookaheads instead of one, and what a
//! visit finds cold in the cache it needs half as often.

use std::collections::VecDeque;
use weir_core::NodeId;
use weir_net::Topology;

/// More tiers than this only lengthen the start of a sweep.
const MOST: u32 = 4;

/// The tier of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tiers {
    of: Vec<u32>,
    count: u32,
}

impl Tiers {
    /// By distance from the nearest host, if that puts every link between neighbouring tiers; by
    /// two colours, if two are enough; otherwise all nodes are in one tier.
    pub(crate) fn new(topology: &Topology) -> Self {
        let from_hosts = distances(topology, topology.hosts());
        let from_one = distances(topology, &[]).iter().map(|d| d % 2).collect();
        let fits = |of: &Vec<u32>| {
            let tier = |n: NodeId| of[n.index()];
            topology.links().iter().all(|l| tier(l.a.0).abs_diff(tier(l.b.0)) == 1)
                && of.iter().all(|&t| t < MOST)
        };
        let all_equal = || vec![0; topology.nodes().len()];
        let of = [from_hosts, from_one].into_iter().find(fits).unwrap_or_else(all_equal);
        Self { count: of.iter().max().map_or(1, |top| top + 1), of }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The tier of `node`.
    pub(crate) fn of(&self, node: NodeId) -> u32 {
        self.of[node.index()]
    }

    /// How many lookaheads from the start of the first one a sweep (counted from 0) takes a tier:
    /// two more with each sweep, and one more than the tier below, so that no node runs ahead of
    /// packets that may still reach it. (One more with each sweep if there is only one tier.)
    pub(crate) fn reach(&self, tier: u32, sweep: u64) -> u64 {
        let stride = if self.count == 1 { 1 } else { 2 };
        (sweep * stride + u64::from(tier) + 1).saturating_sub(u64::from(self.count - 1))
    }
}

/// How far each node is from the nearest of `sources`. Where there is none, from one that
/// is chosen there.
fn distances(topology: &Topology, sources: &[NodeId]) -> Vec<u32> {
    let mut distance = vec![u32::MAX; topology.nodes().len()];
    let mut queue: VecDeque<NodeId> = sources.iter().copied().collect();
    for node in sources {
        distance[node.index()] = 0;
    }
    let mut unseen = 0;
    while unseen < distance.len() {
        while let Some(node) = queue.pop_front() {
            for end in topology.ports(node) {
                if distance[end.peer.index()] == u32::MAX {
                    distance[end.peer.index()] = distance[node.index()] + 1;
                    queue.push_back(end.peer);
                }
            }
        }
        if distance[unseen] == u32::MAX {
            distance[unseen] = 0;
            queue.push_back(NodeId::from_index(unseen));
        }
        unseen += 1;
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_net::build::{self, k_ary, ring};

    fn tiers_of(topology: &Topology) -> Tiers {
        let tiers = Tiers::new(topology);
        for sweep in 0..9 {
            for link in topology.links() {
                let reach = |n, sweep| tiers.reach(tiers.of(n), sweep);
                for (a, b) in [(link.a.0, link.b.0), (link.b.0, link.a.0)] {
                    // when `a` runs, a lower tier has run in this sweep, any other in the last
                    let heard = match sweep {
                        _ if tiers.of(b) < tiers.of(a) => reach(b, sweep),
                        0 => 0,
                        _ => reach(b, sweep - 1),
                    };
                    assert!(reach(a, sweep) <= heard + 1, "sweep {sweep} of {tiers:?}");
                }
            }
        }
        tiers
    }

    #[test]
    fn a_fat_tree_has_its_layers() {
        let topology = build::k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap();
        let tiers = tiers_of(&topology);
        let reaches = |s| [0, 1, 2, 3].map(|t| tiers.reach(t, s));
        assert_eq!((tiers.count(), reaches(0)), (4, [0, 0, 0, 1]));
        assert_eq!((reaches(1), reaches(2)), ([0, 1, 2, 3], [2, 3, 4, 5]));
    }

    #[test]
    fn a_ring_has_two_colours_if_it_is_even() {
        let of = |switches| {
            let params = ring::Params { switches, ..Default::default() };
            tiers_of(&build::ring::build(&params).unwrap())
        };
        assert_eq!((of(4).count(), of(5).count()), (2, 1));
        assert_eq!([of(4).reach(0, 3), of(4).reach(1, 3), of(5).reach(0, 3)], [6, 7, 4]);
    }
}
