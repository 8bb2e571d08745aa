//! Up-down routing.
//!
//! All nodes are put in a total order; the end of a link that is higher in the order is "up".
//! A path goes up any number of times, then down any number of times. A packet that came up
//! waits only for buffers higher up or for the way down, one that came down only for lower
//! ones, so no circle of waiting can close.
//!
//! Tables do not remember how a packet came, so they follow a stricter rule that needs no memory:
//! a node from which the destination is reachable straight down goes down. Every node further
//! down on such a way has one too, so nothing that went down ever turns up again.

use super::graph::{Edge, Graph};
use super::masks::Masks;
use crate::topology::{Layer, Topology};

const FAR: u32 = u32::MAX;

/// Which end of a link is up.
pub(super) struct Order {
    /// Position of each row; higher is further up. Hosts are at the bottom.
    rank: Vec<u32>,
    /// Rows from the top to the bottom.
    descending: Vec<u32>,
}

impl Order {
    /// Sorts rows by a key, ties by id; a lower key is further up.
    fn by_key<K: Ord>(graph: &Graph, key: impl Fn(u32) -> K) -> Self {
        let mut descending: Vec<u32> = (0..graph.len() as u32).collect();
        descending.sort_by_key(|&row| (graph.is_host[row as usize], key(row)));
        let mut rank = vec![0; graph.len()];
        for (i, &row) in descending.iter().rev().enumerate() {
            rank[row as usize] = i as u32;
        }
        Self { rank, descending }
    }

    /// The order by layers, unless a link joins two switches of one layer. It may leave pairs of
    /// hosts without a path that have one.
    pub(super) fn layers(topo: &Topology, graph: &Graph) -> Option<Self> {
        let layer = |row: u32| topo.node(graph.node_of[row as usize]).layer;
        let clear = (0..graph.len() as u32).all(|row| {
            let apart = |peer| layer(row) != Layer::Other && layer(row) != layer(peer);
            graph.is_host[row as usize] || graph.edges(row).iter().all(|edge| apart(edge.peer))
        });
        clear.then(|| Self::by_key(graph, |row| std::cmp::Reverse(layer(row))))
    }

    /// Breadth-first levels from a root per component: the switch in the highest layer, of those
    /// the one with most links.
    pub(super) fn spanning(topo: &Topology, graph: &Graph) -> Self {
        let mut roots: Vec<u32> = (0..graph.len() as u32).collect();
        roots.sort_by_key(|&row| {
            let layer = topo.node(graph.node_of[row as usize]).layer;
            let links = graph.edges(row).len();
            (graph.is_host[row as usize], std::cmp::Reverse((layer, links)))
        });
        let mut level = vec![FAR; graph.len()];
        let mut queue = Vec::with_capacity(graph.len());
        for root in roots {
            if level[root as usize] != FAR {
                continue;
            }
            level[root as usize] = 0;
            let mut next = queue.len();
            queue.push(root);
            while let Some(&row) = queue.get(next) {
                next += 1;
                if graph.is_host[row as usize] {
                    continue;
                }
                for edge in graph.edges(row) {
                    if level[edge.peer as usize] == FAR {
                        level[edge.peer as usize] = level[row as usize] + 1;
                        queue.push(edge.peer);
                    }
                }
            }
        }
        Self::by_key(graph, |row| level[row as usize])
    }
}

/// A number per row that is the same for rows with a path between them through switches.
pub(super) fn components(graph: &Graph) -> Vec<u32> {
    let mut component = vec![FAR; graph.len()];
    let mut stack = Vec::new();
    // switches first: a host belongs to where its links lead, and joins nothing
    let (hosts, switches): (Vec<u32>, Vec<u32>) =
        (0..graph.len() as u32).partition(|&row| graph.is_host[row as usize]);
    for start in switches.into_iter().chain(hosts) {
        if component[start as usize] != FAR {
            continue;
        }
        component[start as usize] = start;
        stack.push(start);
        while let Some(row) = stack.pop() {
            for edge in graph.edges(row) {
                let peer = edge.peer as usize;
                if component[peer] == FAR && !graph.is_host[row as usize] {
                    component[peer] = start;
                    stack.push(edge.peer);
                }
            }
        }
    }
    component
}

/// Distances along allowed paths to the current target.
pub(super) struct Search<'a> {
    order: &'a Order,
    distance: Vec<u32>,
    /// Whether the way from here is straight down.
    down: Vec<bool>,
    queue: Vec<u32>,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &Graph, order: &'a Order) -> Self {
        Self {
            order,
            distance: vec![FAR; graph.len()],
            down: vec![false; graph.len()],
            queue: Vec::with_capacity(graph.len()),
        }
    }

    fn is_up(&self, from: u32, to: u32) -> bool {
        self.order.rank[to as usize] > self.order.rank[from as usize]
    }

    /// Climbs from the target: everything met on the way can come straight down to it.
    fn climb(&mut self, graph: &Graph, target: u32, good: &mut Masks) {
        self.queue.clear();
        self.queue.push(target);
        self.distance[target as usize] = 0;
        self.down[target as usize] = true;
        let mut next = 0;
        while let Some(&row) = self.queue.get(next) {
            next += 1;
            for edge in graph.edges(row) {
                let peer = edge.peer as usize;
                let host = graph.is_host[peer];
                // a host comes down only where a cable joins it to a target that is a host too
                let joined = host && row == target && graph.is_host[target as usize];
                let above = self.is_up(row, edge.peer) && !host;
                if !above && !joined {
                    continue;
                }
                let further = self.distance[row as usize] + 1;
                if self.distance[peer] == FAR {
                    self.distance[peer] = further;
                    self.down[peer] = true;
                    if !host {
                        self.queue.push(edge.peer);
                    }
                }
                if self.distance[peer] == further {
                    good.set(edge.peer, edge.peer_port);
                }
            }
        }
    }
}

impl super::Search for Search<'_> {
    fn towards(&mut self, graph: &Graph, target: u32, good: &mut Masks) {
        self.distance.fill(FAR);
        self.down.fill(false);
        self.climb(graph, target, good);
        // the others go up; what is above them is settled already
        for &row in &self.order.descending {
            if self.down[row as usize] {
                continue;
            }
            let above = || {
                let up = |edge: &&Edge| self.is_up(row, edge.peer);
                let switch = |edge: &&Edge| !graph.is_host[edge.peer as usize];
                graph.edges(row).iter().filter(up).filter(switch)
            };
            let best = above().map(|e| self.distance[e.peer as usize]).min().unwrap_or(FAR);
            if best == FAR {
                continue;
            }
            for edge in above().filter(|e| self.distance[e.peer as usize] == best) {
                good.set(row, edge.port);
            }
            self.distance[row as usize] = best + 1;
        }
    }
}
