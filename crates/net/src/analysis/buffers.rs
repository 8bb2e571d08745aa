//! Which buffer may wait for which: the static test for PFC deadlocks.
//!
//! Under PFC a packet in the ingress buffer of one switch waits until the ingress buffer of the
//! next has room. So the buffers form a graph: from buffer u an edge leads to buffer v if a
//! packet may move from u to v in its next hop. A circle in it is a cyclic buffer dependency
//! (CBD). Without one no deadlock is possible; with one, it takes traffic that fills the
//! whole circle.

use super::scc::Digraph;
use crate::routes::Routes;
use crate::topology::Topology;
use rustc_hash::FxHashMap;
use weir_core::{LinkId, NodeId, PortId, Priority};

/// An ingress buffer of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Buffer {
    /// The switch.
    pub switch: NodeId,
    /// The port that packets come in by.
    pub port: PortId,
    /// Their priority: PFC pauses each on its own.
    pub priority: Priority,
}

/// Buffers that wait for each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CyclicDependency {
    /// One circle, as short as there is one: each buffer waits for the next, the last for
    /// the first.
    pub cycle: Vec<Buffer>,
    /// All buffers that lie on some circle with these, sorted.
    pub members: Vec<Buffer>,
}

impl CyclicDependency {
    /// The switches of the circle with the link between them: `S1 -> L2 -> S2 -> L4 -> S1`.
    pub fn describe(&self, topo: &Topology) -> String {
        let names = self.cycle.iter().chain(self.cycle.first()).map(|b| topo.name(b.switch));
        names.collect::<Vec<_>>().join(" -> ")
    }
}

/// The buffer dependency graph of a set of routes and paths.
///
/// ```
/// use weir_core::Priority;
/// use weir_net::{Routes, analysis::BufferGraph, build::ring};
/// let topo = ring::build(&ring::Params::default())?;
/// let cycles = |routes: &Routes| {
///     let mut graph = BufferGraph::new(&topo);
///     graph.add_routes(routes, Priority::default());
///     graph.cycles()
/// };
/// // clockwise and counter-clockwise
/// assert_eq!(cycles(&Routes::ecmp(&topo, &[])).len(), 2);
/// assert_eq!(cycles(&Routes::up_down(&topo, &[])).len(), 0);
/// # Ok::<(), weir_net::TopologyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BufferGraph<'t> {
    topo: &'t Topology,
    /// Edges between buffers, or from a buffer to a hub and from there to buffers.
    edges: Vec<(u32, u32)>,
    hubs: u32,
}

/// A node's set of ports towards some destinations, with the ports packets to them come in by.
/// In the graph it stands between these: it saves one edge per pair of them.
struct Hub {
    node: NodeId,
    ports_in: Vec<u64>,
    ports_out: Vec<PortId>,
}

impl<'t> BufferGraph<'t> {
    /// A graph without dependencies.
    pub fn new(topo: &'t Topology) -> Self {
        Self { topo, edges: Vec::new(), hubs: 0 }
    }

    /// The number of a buffer: the direction of the link that fills it, and the priority.
    fn vertex(&self, from: NodeId, port: PortId, priority: Priority) -> u32 {
        let link = self.topo.port(from, port).link;
        let forth = self.topo.link(link).a == (from, port);
        let directed = 2 * link.0 + u32::from(!forth);
        directed * Priority::COUNT as u32 + u32::from(priority.get())
    }

    fn buffer(&self, vertex: u32) -> Option<Buffer> {
        let directed = vertex / Priority::COUNT as u32;
        let link = self.topo.links().get(LinkId(directed / 2).index())?;
        let (switch, port) = if directed.is_multiple_of(2) { link.b } else { link.a };
        let priority = Priority::new((vertex % Priority::COUNT as u32) as u8)?;
        Some(Buffer { switch, port, priority })
    }

    fn first_hub(&self) -> u32 {
        (2 * self.topo.links().len() * Priority::COUNT) as u32
    }

    /// Adds what packets on one path do: each buffer waits for the next.
    pub fn add_path(&mut self, path: &[(NodeId, PortId)], priority: Priority) {
        for pair in path.windows(2) {
            let [(a, p), (b, q)] = [pair[0], pair[1]];
            if !self.topo.is_host_facing(b, q) {
                self.edges.push((self.vertex(a, p, priority), self.vertex(b, q, priority)));
            }
        }
    }

    /// Adds what packets between all pairs of hosts may do, whatever their flow hashes.
    pub fn add_routes(&mut self, routes: &Routes, priority: Priority) {
        let sources = routes.column_nodes();
        let mut walk = Walk::new(self.topo, routes);
        for (column, &target) in sources.iter().enumerate() {
            walk.towards(column, target, &sources);
        }
        for hub in walk.hubs {
            let vertex = self.first_hub() + self.hubs;
            self.hubs += 1;
            for port in bits(&hub.ports_in) {
                let end = self.topo.port(hub.node, port);
                self.edges.push((self.vertex(end.peer, end.peer_port, priority), vertex));
            }
            for &port in &hub.ports_out {
                if !self.topo.is_host_facing(hub.node, port) {
                    self.edges.push((vertex, self.vertex(hub.node, port, priority)));
                }
            }
        }
    }

    /// All cyclic buffer dependencies, each with one circle. Empty: no deadlock is possible.
    pub fn cycles(&self) -> Vec<CyclicDependency> {
        let mut edges = self.edges.clone();
        edges.sort_unstable();
        edges.dedup();
        let graph = Digraph::new((self.first_hub() + self.hubs) as usize, &edges);
        let found = graph.circles();
        found.iter().map(|component| self.dependency(&graph, component)).collect()
    }

    fn dependency(&self, graph: &Digraph, component: &[u32]) -> CyclicDependency {
        /// Looking at more starting points than this would hardly find a shorter circle.
        const TRIES: usize = 256;
        let buffers = |vertices: &[u32]| -> Vec<Buffer> {
            let real = vertices.iter().filter(|&&v| v < self.first_hub());
            real.filter_map(|&v| self.buffer(v)).collect()
        };
        let starts = component.iter().filter(|&&v| v < self.first_hub()).take(TRIES);
        let circles = starts.filter_map(|&v| graph.shortest_circle(v, component));
        let cycle = circles.map(|c| buffers(&c)).min_by_key(Vec::len).unwrap_or_default();
        let mut members = buffers(component);
        members.sort_unstable();
        CyclicDependency { cycle, members }
    }
}

/// Whether all packets between hosts first move away from the hosts, switch by switch, and then
/// towards them again, as in a fat-tree. Then buffers cannot wait for each other in a cycle: on a
/// cycle, some packet would go up after it went down. If the result is `false` there may be a cycle
/// or not: [`BufferGraph::cycles`], which takes far longer, tells.
pub fn rises_then_falls(topo: &Topology, routes: &Routes) -> bool {
    let height = heights(topo);
    let level = |l: &crate::topology::Link| height[l.a.0.index()] == height[l.b.0.index()];
    if topo.links().iter().any(level) {
        return false;
    }
    let falls = |n: NodeId, p: PortId| height[topo.port(n, p).peer.index()] < height[n.index()];
    let targets = routes.column_nodes();
    topo.switches().all(|n| {
        targets.iter().enumerate().all(|(column, &target)| {
            let (mut one, mut other) = (PortId::default(), PortId::default());
            let mut ports = routes.column_ports(n, column, &mut one).1.iter();
            n == target
                || ports.all(|&p| {
                    let next = topo.port(n, p).peer;
                    !falls(n, p)
                        || next == target
                        || topo.is_host(next)
                        || routes
                            .column_ports(next, column, &mut other)
                            .1
                            .iter()
                            .all(|&q| falls(next, q))
                })
        })
    })
}

/// The distance of each node from the nearest host, in links.
fn heights(topo: &Topology) -> Vec<u32> {
    let mut height = vec![u32::MAX; topo.nodes().len()];
    let mut reached: Vec<NodeId> = topo.hosts().to_vec();
    reached.iter().for_each(|h| height[h.index()] = 0);
    let mut next = 0;
    while let Some(&node) = reached.get(next) {
        next += 1;
        for end in topo.ports(node) {
            if height[end.peer.index()] == u32::MAX {
                height[end.peer.index()] = height[node.index()] + 1;
                reached.push(end.peer);
            }
        }
    }
    height
}

/// Follows all packets to one destination after the other, noting who comes in where.
struct Walk<'a> {
    topo: &'a Topology,
    routes: &'a Routes,
    hubs: Vec<Hub>,
    /// The hub of a node and a set of ports.
    known: FxHashMap<(NodeId, u32), u32>,
    /// Ingress ports in use towards the current destination: bits of `mask_start[n]..`.
    mask: Vec<u64>,
    mask_start: Vec<u32>,
    visited: Vec<bool>,
    order: Vec<NodeId>,
}

impl<'a> Walk<'a> {
    fn new(topo: &'a Topology, routes: &'a Routes) -> Self {
        let mut mask_start = vec![0];
        let mut words = 0;
        for n in 0..topo.nodes().len() {
            words += topo.ports(NodeId::from_index(n)).len().div_ceil(64) as u32;
            mask_start.push(words);
        }
        Self {
            topo,
            routes,
            hubs: Vec::new(),
            known: FxHashMap::default(),
            mask: vec![0; words as usize],
            mask_start,
            visited: vec![false; topo.nodes().len()],
            order: Vec::new(),
        }
    }

    fn span(&self, n: NodeId) -> std::ops::Range<usize> {
        self.mask_start[n.index()] as usize..self.mask_start[n.index() + 1] as usize
    }

    fn towards(&mut self, column: usize, target: NodeId, sources: &[NodeId]) {
        self.order.clear();
        for &source in sources {
            self.visit(source);
        }
        let mut next = 0;
        let routes = self.routes;
        while let Some(&node) = self.order.get(next) {
            next += 1;
            if node == target {
                continue;
            }
            let mut one = PortId::default();
            for &port in routes.column_ports(node, column, &mut one).1 {
                let end = *self.topo.port(node, port);
                if self.topo.is_host(end.peer) {
                    continue;
                }
                let first = self.mask_start[end.peer.index()] as usize;
                self.mask[first + end.peer_port.index() / 64] |= 1 << (end.peer_port.index() % 64);
                self.visit(end.peer);
            }
        }
        for i in 0..self.order.len() {
            let node = self.order[i];
            if node != target && !self.topo.is_host(node) {
                self.note(node, column);
            }
            let span = self.span(node);
            self.mask[span].fill(0);
            self.visited[node.index()] = false;
        }
    }

    fn visit(&mut self, n: NodeId) {
        if !self.visited[n.index()] {
            self.visited[n.index()] = true;
            self.order.push(n);
        }
    }

    /// Packets in by the ports of the mask may go out by these ports.
    fn note(&mut self, node: NodeId, column: usize) {
        let mut one = PortId::default();
        let (set, ports) = self.routes.column_ports(node, column, &mut one);
        if ports.is_empty() {
            return;
        }
        let span = self.span(node);
        let hub = *self.known.entry((node, set)).or_insert_with(|| {
            let ports_in = vec![0; span.len()];
            self.hubs.push(Hub { node, ports_in, ports_out: ports.to_vec() });
            self.hubs.len() as u32 - 1
        });
        let known = &mut self.hubs[hub as usize].ports_in;
        known.iter_mut().zip(&self.mask[span]).for_each(|(known, new)| *known |= new);
    }
}

fn bits(words: &[u64]) -> impl Iterator<Item = PortId> + '_ {
    let ports = 0..words.len() * 64;
    ports.filter(|&i| words[i / 64] >> (i % 64) & 1 == 1).map(PortId::from_index)
}
