//! Balance of work: nodes move to other threads when one thread has more work than another.
//!
//! The work of a node depends on the traffic, which is not known when nodes are divided among
//! threads. Moving a node is cheap if it is in the highest tier: threads synchronise before and
//! after that tier runs, so no other part of the schedule depends on the thread of the node.
//! Results do not depend on it.

use super::Part;
use super::partition::Partition;
use weir_core::NodeId;
use weir_net::Topology;

/// Moves are made while one part has more to do than another by more than one in so many
/// packet-hops of both: below, they would cost more than they gain.
const TOLERANCE: u64 = 32;
/// Fewer packet-hops than this say nothing about the next ones.
const ENOUGH: u64 = 5_000;

/// Keeps parts equally busy.
#[derive(Debug)]
pub(crate) struct Balance {
    /// By node: the packets it had had when work was looked at last.
    seen: Vec<u64>,
}

/// What a part has had to do since it was looked at last.
#[derive(Clone, Debug, Default)]
struct Work {
    /// In packet-hops, of all its nodes.
    total: u64,
    /// Of those that may move.
    movable: Vec<(u64, NodeId)>,
}

/// A node changes parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    node: NodeId,
    from: usize,
    to: usize,
}

impl Balance {
    pub(crate) fn new(topology: &Topology) -> Self {
        Self { seen: vec![0; topology.nodes().len()] }
    }

    /// Moves nodes from parts that have had more to do than others, and may have so again. Returns
    /// whether any were.
    pub(crate) fn restore(
        &mut self,
        parts: &mut [Part],
        partition: &mut Partition,
        topology: &Topology,
    ) -> bool {
        let hops: u64 = parts.iter().flat_map(|p| &p.nodes).map(|n| n.tally().hops).sum();
        if hops - self.seen.iter().sum::<u64>() < ENOUGH {
            return false;
        }
        assert!(parts.iter().all(|p| p.wires.has_no_mail()), "nodes move when nothing else does");
        let work = parts.iter().zip(&partition.settled).map(|(p, &n)| self.look(p, n)).collect();
        let mut any = false;
        for Move { node, from, to } in choose(work) {
            let ports = topology.ports(node).len();
            let (_, place) = partition.place[node.index()];
            if parts[from].can_lose(place as usize, ports) {
                hand_over(parts, from, to, place as usize, ports);
                partition.relocate(node, to);
                any = true;
            }
        }
        let agree = parts.iter().zip(&partition.parts).all(|(part, ids)| part.ids == *ids);
        assert!(agree, "a node that nobody finds would be waited for for ever");
        any
    }

    /// What the nodes of a part have had to do, of which all but the first `settled` may move.
    fn look(&mut self, part: &Part, settled: usize) -> Work {
        let mut work = Work::default();
        for (place, node) in part.nodes.iter().enumerate() {
            let hops = node.tally().hops;
            let new = hops - std::mem::replace(&mut self.seen[node.id().index()], hops);
            work.total += new;
            if place >= settled {
                work.movable.push((new, node.id()));
            }
        }
        work
    }
}

/// Which nodes should move, so that parts would have had equally much to do. None moves twice: it
/// may turn out that it has to stay.
fn choose(mut work: Vec<Work>) -> Vec<Move> {
    let mut moves = Vec::new();
    loop {
        let by_work = |p: &usize| work[*p].total;
        let (Some(to), Some(from)) =
            ((0..work.len()).min_by_key(by_work), (0..work.len()).max_by_key(by_work))
        else {
            return moves;
        };
        let (most, least) = (work[from].total, work[to].total);
        let gap = most - least;
        // the one that leaves the smallest gap, on whichever side; it must be smaller than before
        let candidates = work[from].movable.iter().filter(|(w, _)| 0 < *w && *w < gap);
        let best = candidates.copied().min_by_key(|&(w, node)| (gap.abs_diff(2 * w), node));
        let (Some((moved, node)), true) = (best, gap * TOLERANCE > most + least) else {
            return moves;
        };
        work[from].movable.retain(|(_, n)| *n != node);
        work[from].total -= moved;
        work[to].total += moved;
        moves.push(Move { node, from, to });
    }
}

/// The node at `place` of part `from` becomes the last of part `to`.
fn hand_over(parts: &mut [Part], from: usize, to: usize, place: usize, ports: usize) {
    let [a, b] = parts.get_disjoint_mut([from, to]).expect("two different parts");
    let node = a.nodes.swap_remove(place);
    let id = a.ids.swap_remove(place);
    a.wires.move_to(&mut b.wires, id, ports);
    b.nodes.push(node);
    b.ids.push(id);
    for part in parts {
        part.wires.reroute(id, ports, to);
    }
}

impl Part {
    /// Whether nothing of the node at `place` is in the side pool of this part, where it would have
    /// to stay.
    fn can_lose(&self, place: usize, ports: usize) -> bool {
        let node = &self.nodes[place];
        !node.uses_extras() && !self.wires.carries_extras(node.id(), ports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(total: u64, movable: &[(u64, u32)]) -> Work {
        Work { total, movable: movable.iter().map(|&(w, n)| (w, NodeId(n))).collect() }
    }

    #[test]
    fn the_node_that_closes_the_gap_best_moves() {
        let moves = choose(vec![part(100, &[(3, 1)]), part(160, &[(10, 2), (28, 3), (60, 4)])]);
        // 28 leaves 132 and 128; after that the gap is within the tolerance
        assert_eq!(moves, [Move { node: NodeId(3), from: 1, to: 0 }]);
    }

    #[test]
    fn small_gaps_and_nodes_that_would_turn_them_round_are_left_alone() {
        assert_eq!(choose(vec![part(100, &[(1, 1)]), part(103, &[(1, 2)])]), []);
        assert_eq!(choose(vec![part(100, &[]), part(160, &[(60, 2), (0, 3)])]), []);
        assert_eq!(choose(vec![part(0, &[]), part(0, &[(0, 2)])]), []);
    }

    #[test]
    fn three_parts_meet_in_the_middle() {
        let many: Vec<(u64, u32)> = (0..30).map(|n| (10, n)).collect();
        let mut loads = [0, 90, 300];
        for Move { from, to, .. } in choose(vec![part(0, &[]), part(90, &[]), part(300, &many)]) {
            loads[from] -= 10;
            loads[to] += 10;
        }
        assert_eq!(loads, [130, 130, 130]);
    }
}
