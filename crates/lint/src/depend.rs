//! Which buffer may wait for which.
//!
//! A vertex is the ingress buffer at the end of a link between two switches, in one direction. A
//! row of bits says by which ports the packets in it may leave, so packets to a thousand
//! destinations that may use the same ports take one operation per word.

use crate::tables::Tables;
use weir_core::{NodeId, PortId};
use weir_net::Topology;
use weir_net::analysis::Digraph;

/// A port by which a packet leaves a switch towards another; it fills the buffer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// The switch that sends.
    pub from: NodeId,
    /// Its port.
    pub port: PortId,
}

/// Buffers that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// A shortest cycle: the buffer that each of these fills waits for the next one's, the last
    /// for the first.
    pub hops: Vec<Hop>,
    /// All buffers that are on some cycle with these.
    pub members: usize,
}

impl Cycle {
    /// Its switches: `spine0 -> leaf1 -> spine1 -> leaf3 -> spine0`.
    pub fn describe(&self, topo: &Topology) -> String {
        let names = self.hops.iter().chain(self.hops.first()).map(|hop| topo.name(hop.from));
        names.collect::<Vec<_>>().join(" -> ")
    }
}

/// The buffer dependencies of tables and paths.
#[derive(Clone, Debug)]
pub struct Dependencies<'t> {
    topo: &'t Topology,
    /// The vertex at each port: the buffer that the link there fills; [`NONE`] at hosts and where
    /// the neighbour is a host.
    vertex_at: Vec<u32>,
    /// The port of each vertex: node, and the port that packets come in by.
    vertices: Vec<(NodeId, PortId)>,
    /// Ports by which packets in a buffer may leave: words `start[v]..start[v + 1]`.
    rows: Vec<u64>,
    start: Vec<u32>,
    /// Ports of each node that lead to switches, as bits: words `facing_start[n]..`.
    facing: Vec<u64>,
    facing_start: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<'t> Dependencies<'t> {
    /// No dependencies.
    pub fn new(topo: &'t Topology) -> Self {
        let mut found = Self {
            topo,
            vertex_at: vec![NONE; topo.port_count()],
            vertices: Vec::new(),
            rows: Vec::new(),
            start: vec![0],
            facing: Vec::new(),
            facing_start: vec![0],
        };
        for node in (0..topo.nodes().len()).map(NodeId::from_index) {
            let words = topo.ports(node).len().div_ceil(64);
            let mut facing = vec![0; words];
            for (i, end) in topo.ports(node).iter().enumerate() {
                let port = PortId::from_index(i);
                if topo.is_host(node) || topo.is_host(end.peer) {
                    continue;
                }
                facing[i / 64] |= 1 << (i % 64);
                found.vertex_at[topo.port_index(node, port)] = found.vertices.len() as u32;
                found.vertices.push((node, port));
                found.rows.extend(std::iter::repeat_n(0, words));
                found.start.push(found.rows.len() as u32);
            }
            found.facing.extend(facing);
            found.facing_start.push(found.facing.len() as u32);
        }
        found
    }

    /// The buffer that a hop fills.
    fn filled_by(&self, node: NodeId, port: PortId) -> Option<u32> {
        let end = self.topo.port(node, port);
        let vertex = self.vertex_at[self.topo.port_index(end.peer, end.peer_port)];
        (vertex != NONE).then_some(vertex)
    }

    fn row(&self, vertex: u32) -> std::ops::Range<usize> {
        self.start[vertex as usize] as usize..self.start[vertex as usize + 1] as usize
    }

    /// Adds what packets on one path do: each buffer waits for the next.
    pub fn add_path(&mut self, path: &[(NodeId, PortId)]) {
        for pair in path.windows(2) {
            let [(a, p), (b, q)] = [pair[0], pair[1]];
            if let (Some(vertex), Some(_)) = (self.filled_by(a, p), self.filled_by(b, q)) {
                let word = self.row(vertex).start + q.index() / 64;
                self.rows[word] |= 1 << (q.index() % 64);
            }
        }
    }

    /// Adds what packets between all pairs of hosts may do, whichever of several ports they take.
    pub fn add_tables(&mut self, tables: &Tables) {
        let mut walk = Walk {
            left: vec![0; self.facing.len()],
            touched: Vec::new(),
            reached: vec![false; self.topo.nodes().len()],
            pending: Vec::new(),
        };
        for d in 0..tables.destinations.len() {
            self.towards(tables, d, &mut walk);
        }
    }

    /// Follows packets to one destination from everywhere.
    fn towards(&mut self, tables: &Tables, d: usize, walk: &mut Walk) {
        let target = tables.destinations[d].at;
        for source in tables.destinations.iter().filter(|s| s.at != target) {
            // what hosts send waits for buffers, and no buffer of a switch waits for a host's
            let out = &tables.cell(source.at, d).mask;
            if self.topo.is_host(source.at) {
                for &port in &tables.cell(source.at, d).ports {
                    let peer = self.topo.port(source.at, port).peer;
                    if peer != target && !self.topo.is_host(peer) {
                        let out = tables.cell(peer, d).mask.clone();
                        self.leave(peer, &out, None, walk);
                    }
                }
            } else {
                self.leave(source.at, out, None, walk);
            }
        }
        while let Some(vertex) = walk.pending.pop() {
            let (node, came_in) = self.vertices[vertex as usize];
            if node == target {
                continue;
            }
            let out = &tables.cell(node, d).mask;
            let skip = (!tables.may_return).then_some(came_in);
            let (row, facing) = (self.row(vertex), self.facing_start[node.index()] as usize);
            for (i, word) in out.iter().enumerate() {
                self.rows[row.start + i] |= word & self.facing[facing + i] & !bit(skip, i);
            }
            self.leave(node, out, skip, walk);
        }
        for node in walk.touched.drain(..) {
            let span = self.facing_start[node.index()] as usize
                ..self.facing_start[node.index() + 1] as usize;
            walk.left[span].fill(0);
            walk.reached[node.index()] = false;
        }
    }

    /// Packets leave a node by these ports but one, and fill the buffers there.
    fn leave(&self, node: NodeId, out: &[u64], skip: Option<PortId>, walk: &mut Walk) {
        if !walk.reached[node.index()] {
            walk.reached[node.index()] = true;
            walk.touched.push(node);
        }
        let first = self.facing_start[node.index()] as usize;
        for (i, word) in out.iter().enumerate() {
            let left = &mut walk.left[first + i];
            let mut new = word & self.facing[first + i] & !*left & !bit(skip, i);
            *left |= new;
            while new != 0 {
                let port = PortId::from_index(64 * i + new.trailing_zeros() as usize);
                new &= new - 1;
                walk.pending.extend(self.filled_by(node, port));
            }
        }
    }

    fn heads(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let (node, _) = self.vertices[vertex as usize];
        let row = &self.rows[self.row(vertex)];
        let ports = row.iter().enumerate().flat_map(|(i, &word)| {
            let bits = std::iter::successors(Some(word), |&w| Some(w & w.wrapping_sub(1)));
            let bits = bits.take_while(|&w| w != 0);
            bits.map(move |w| PortId::from_index(64 * i + w.trailing_zeros() as usize))
        });
        ports.filter_map(move |port| self.filled_by(node, port))
    }

    fn graph(&self) -> Digraph {
        let tails = 0..self.vertices.len() as u32;
        let edges: Vec<(u32, u32)> = tails
            .flat_map(|tail| {
                let mut heads: Vec<u32> = self.heads(tail).collect();
                heads.sort_unstable();
                heads.into_iter().map(move |head| (tail, head))
            })
            .collect();
        Digraph::new(self.vertices.len(), &edges)
    }

    /// Whether some buffers can wait for each other in a cycle.
    pub fn is_cyclic(&self) -> bool {
        !self.graph().circles().is_empty()
    }

    /// All cyclic buffer dependencies, each with a shortest cycle. Empty: no deadlock is possible.
    pub fn cycles(&self) -> Vec<Cycle> {
        /// Looking at more starting points than this would hardly find a shorter cycle.
        const TRIES: usize = 256;
        let graph = self.graph();
        let found = graph.circles();
        let cycle = |component: &Vec<u32>| {
            let starts = component.iter().take(TRIES);
            let circles = starts.filter_map(|&v| graph.shortest_circle(v, component));
            let hops = |circle: Vec<u32>| {
                let mut hops: Vec<Hop> = circle.into_iter().map(|v| self.hop(v)).collect();
                // every cycle is told from its first switch on
                let first = (0..hops.len()).min_by_key(|&i| hops[i]).unwrap_or(0);
                hops.rotate_left(first);
                hops
            };
            Cycle {
                hops: circles.min_by_key(Vec::len).map(hops).unwrap_or_default(),
                members: component.len(),
            }
        };
        found.iter().map(cycle).collect()
    }

    /// The hop that fills a buffer.
    fn hop(&self, vertex: u32) -> Hop {
        let (node, port) = self.vertices[vertex as usize];
        let end = self.topo.port(node, port);
        Hop { from: end.peer, port: end.peer_port }
    }
}

/// What one walk towards a destination has seen.
struct Walk {
    /// Ports by which packets have left, like [`Dependencies::facing`].
    left: Vec<u64>,
    touched: Vec<NodeId>,
    reached: Vec<bool>,
    /// Buffers whose packets have not been followed yet.
    pending: Vec<u32>,
}

/// The bit of a port in word `i` of a row.
fn bit(port: Option<PortId>, i: usize) -> u64 {
    port.filter(|p| p.index() / 64 == i).map_or(0, |p| 1 << (p.index() % 64))
}
