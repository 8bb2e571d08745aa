//! The part of a topology that routing has to look at: switches, and the few hosts that have a
//! choice of ports, joined by the links that are up.

use super::{NO_COLUMN, NO_PORT, NO_ROW, NOWHERE, Target};
use crate::topology::Topology;
use weir_core::{LinkId, NodeId, PortId};

pub(crate) struct Graph {
    /// Row of each node, or [`NO_ROW`].
    pub(crate) row_of: Vec<u32>,
    /// Node of each row.
    pub(crate) node_of: Vec<NodeId>,
    /// Whether the row is a host, through which nothing passes.
    pub(crate) is_host: Vec<bool>,
    start: Vec<u32>,
    edges: Vec<Edge>,
    /// The row that each column of the table leads to.
    pub(crate) columns: Vec<u32>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) peer: u32,
    pub(crate) port: PortId,
    pub(crate) peer_port: PortId,
}

impl Graph {
    pub(crate) fn new(topo: &Topology, down: &[LinkId]) -> Self {
        let mut up = vec![true; topo.links().len()];
        for link in down {
            if let Some(up) = up.get_mut(link.index()) {
                *up = false;
            }
        }
        let mut graph = Self {
            row_of: vec![NO_ROW; topo.nodes().len()],
            node_of: Vec::new(),
            is_host: Vec::new(),
            start: vec![0],
            edges: Vec::new(),
            columns: Vec::new(),
            targets: vec![NOWHERE; topo.nodes().len()],
        };
        for n in (0..topo.nodes().len()).map(NodeId::from_index) {
            if hangs_on(topo, n).is_none() {
                graph.row_of[n.index()] = graph.node_of.len() as u32;
                graph.node_of.push(n);
                graph.is_host.push(topo.is_host(n));
            }
        }
        for &n in &graph.node_of {
            for (port, end) in topo.ports(n).iter().enumerate() {
                let peer = graph.row_of[end.peer.index()];
                if peer != NO_ROW && up[end.link.index()] {
                    let (port, peer_port) = (PortId::from_index(port), end.peer_port);
                    graph.edges.push(Edge { peer, port, peer_port });
                }
            }
            graph.start.push(graph.edges.len() as u32);
        }
        graph.find_targets(topo, &up);
        graph
    }

    fn find_targets(&mut self, topo: &Topology, up: &[bool]) {
        let mut column_of = vec![NO_COLUMN; self.node_of.len()];
        for &host in topo.hosts() {
            let (at, port) = match hangs_on(topo, host) {
                Some((_, _, link)) if !up[link.index()] => continue,
                Some((switch, port, _)) => (switch, port),
                None => (host, NO_PORT),
            };
            let row = self.row_of[at.index()];
            let column = &mut column_of[row as usize];
            if *column == NO_COLUMN {
                *column = self.columns.len() as u32;
                self.columns.push(row);
            }
            self.targets[host.index()] = Target { column: *column, at, port };
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.node_of.len()
    }

    /// The edges of all rows, row after row.
    pub(crate) fn all_edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Where the edges of a row lie among all.
    #[inline]
    pub(crate) fn span(&self, row: u32) -> std::ops::Range<usize> {
        self.start[row as usize] as usize..self.start[row as usize + 1] as usize
    }

    #[inline]
    pub(crate) fn edges(&self, row: u32) -> &[Edge] {
        &self.edges[self.span(row)]
    }

    /// Whether two rows have the same neighbours, over as many links each, as the ToRs of a pod do.
    pub(crate) fn are_twins(&self, a: u32, b: u32) -> bool {
        let neighbours = |row: u32| {
            let mut peers: Vec<u32> = self.edges(row).iter().map(|e| e.peer).collect();
            peers.sort_unstable();
            peers
        };
        self.is_host[a as usize] == self.is_host[b as usize] && neighbours(a) == neighbours(b)
    }
}

/// For a host with one link, and that to a switch: the switch, the port there and the link.
fn hangs_on(topo: &Topology, n: NodeId) -> Option<(NodeId, PortId, LinkId)> {
    match topo.ports(n) {
        [end] if topo.is_host(n) && !topo.is_host(end.peer) => {
            Some((end.peer, end.peer_port, end.link))
        }
        _ => None,
    }
}
