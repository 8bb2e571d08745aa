//! Which flows make a cycle: for each pair of buffers, hosts whose packets go from one to the
//! next.

use crate::tables::Tables;
use crate::{Cycle, Hop};
use std::collections::VecDeque;
use weir_core::{NodeId, PortId};
use weir_net::Topology;

/// A flow and its way, from host to host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPath {
    /// All nodes, the hosts included.
    pub nodes: Vec<NodeId>,
    /// The hosts of the first switch, which can all send on this way.
    pub sources: Vec<NodeId>,
}

impl FlowPath {
    /// `h0 -> h2 by sw0, sw1, sw2`.
    pub fn describe(&self, topo: &Topology) -> String {
        let [first, middle @ .., last] = self.nodes.as_slice() else { return String::new() };
        let names: Vec<&str> = middle.iter().map(|&n| topo.name(n)).collect();
        format!("{} -> {} by {}", topo.name(*first), topo.name(*last), names.join(", "))
    }
}

/// How many flows are looked for at each step of a cycle.
const MOST: usize = 256;

/// For each buffer of a cycle, flows whose packets go from it to the next one, the shortest ways
/// first. A way visits no node twice. Static `paths` count too.
pub fn routes_of(
    topo: &Topology,
    tables: &Tables,
    paths: &[Vec<(NodeId, PortId)>],
    cycle: &Cycle,
) -> Vec<Vec<FlowPath>> {
    let next = |i: usize| cycle.hops[(i + 1) % cycle.hops.len()];
    let steps = cycle.hops.iter().enumerate().map(|(i, &hop)| (hop, next(i)));
    steps.map(|(one, two)| flows_through(topo, tables, paths, one, two)).collect()
}

fn flows_through(
    topo: &Topology,
    tables: &Tables,
    paths: &[Vec<(NodeId, PortId)>],
    one: Hop,
    two: Hop,
) -> Vec<FlowPath> {
    let mut found = Vec::new();
    let pair = [(one.from, one.port), (two.from, two.port)];
    for path in paths.iter().filter(|path| path.windows(2).any(|w| w == pair)) {
        let mut nodes: Vec<NodeId> = path.iter().map(|hop| hop.0).collect();
        let end = path.last().map(|&(n, p)| topo.port(n, p).peer);
        nodes.extend(end);
        let sources = nodes[..1].to_vec();
        found.push(FlowPath { nodes, sources });
    }
    for d in 0..tables.destinations().len() {
        let target = tables.destinations()[d].at;
        let uses = |hop: Hop| {
            hop.from != target && tables.ports(hop.from, d).binary_search(&hop.port).is_ok()
        };
        if uses(one) && uses(two) && found.len() < MOST {
            through(topo, tables, d, one, two, &mut found);
        }
    }
    found.sort_by_key(|f| f.nodes.len());
    found
}

/// Flows to one destination that take two hops one after the other.
fn through(
    topo: &Topology,
    tables: &Tables,
    d: usize,
    one: Hop,
    two: Hop,
    found: &mut Vec<FlowPath>,
) {
    let target = &tables.destinations()[d];
    for mut nodes in ways_to(topo, tables, d, one.from) {
        nodes.push(two.from);
        if !onward(topo, tables, d, two, &mut nodes) {
            continue;
        }
        let mut seen = nodes.clone();
        seen.sort_unstable();
        if seen.windows(2).any(|w| w[0] == w[1]) {
            continue;
        }
        let source = tables.destinations().iter().find(|s| s.at == nodes[0]);
        let (Some(source), Some(&to)) = (source, target.hosts.first()) else { continue };
        if source.at != source.hosts[0] {
            nodes.insert(0, source.hosts[0]);
        }
        if target.at != to {
            nodes.push(to);
        }
        found.push(FlowPath { nodes, sources: source.hosts.clone() });
        if found.len() >= MOST {
            return;
        }
    }
}

/// From everywhere with hosts to `to`, on the way to destination `d`; near sources first. Each way
/// begins where hosts are and ends with `to`.
fn ways_to(topo: &Topology, tables: &Tables, d: usize, to: NodeId) -> Vec<Vec<NodeId>> {
    let target = tables.destinations()[d].at;
    let mut next = vec![None; topo.nodes().len()];
    let mut queue = VecDeque::from([to]);
    let mut ways = Vec::new();
    let mut seen = vec![false; topo.nodes().len()];
    seen[to.index()] = true;
    while let Some(node) = queue.pop_front() {
        if tables.destinations().iter().any(|s| s.at == node) {
            let way = std::iter::successors(Some(node), |n| next[n.index()]);
            ways.push(way.collect());
        }
        for end in topo.ports(node) {
            let leads_here = tables.ports(end.peer, d).binary_search(&end.peer_port).is_ok();
            if leads_here && end.peer != target && !seen[end.peer.index()] {
                seen[end.peer.index()] = true;
                next[end.peer.index()] = Some(node);
                queue.push_back(end.peer);
            }
        }
    }
    ways
}

/// Goes on by `hop` and then to the destination, without visiting a node twice.
fn onward(topo: &Topology, tables: &Tables, d: usize, hop: Hop, nodes: &mut Vec<NodeId>) -> bool {
    let target = tables.destinations()[d].at;
    let mut at = topo.port(hop.from, hop.port).peer;
    loop {
        if nodes.contains(&at) {
            return false;
        }
        nodes.push(at);
        if at == target {
            return true;
        }
        let fresh = |p: &&PortId| {
            let peer = topo.port(at, **p).peer;
            !nodes.contains(&peer) && (!topo.is_host(peer) || peer == target)
        };
        match tables.ports(at, d).iter().find(fresh) {
            Some(&port) => at = topo.port(at, port).peer,
            None => return false,
        }
    }
}
