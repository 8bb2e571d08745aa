//! Shortest paths by breadth-first search from each destination.

use super::graph::Graph;
use super::masks::Masks;

/// Distances in hops to the current target.
pub(super) struct Search {
    distance: Vec<u32>,
    queue: Vec<u32>,
}

const FAR: u32 = u32::MAX;

impl Search {
    pub(super) fn new(graph: &Graph) -> Self {
        Self { distance: vec![FAR; graph.len()], queue: Vec::with_capacity(graph.len()) }
    }
}

impl super::Search for Search {
    fn is_blind_to_twins(&self) -> bool {
        true
    }

    fn towards(&mut self, graph: &Graph, target: u32, good: &mut Masks) {
        self.distance.fill(FAR);
        self.distance[target as usize] = 0;
        self.queue.clear();
        self.queue.push(target);
        let mut next = 0;
        while let Some(&row) = self.queue.get(next) {
            next += 1;
            // a host on the way leads nowhere
            if graph.is_host[row as usize] && row != target {
                continue;
            }
            let further = self.distance[row as usize] + 1;
            for edge in graph.edges(row) {
                let distance = &mut self.distance[edge.peer as usize];
                if *distance == FAR {
                    *distance = further;
                    self.queue.push(edge.peer);
                }
                if *distance == further {
                    good.set(edge.peer, edge.peer_port);
                }
            }
        }
    }
}
