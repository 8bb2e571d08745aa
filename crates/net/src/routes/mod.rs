//! Forwarding tables.
//!
//! A table answers "at this node, towards that host, for this flow: which port?" with two array
//! lookups. Hosts that hang on one switch share a column, because every switch treats them
//! alike until the last hop; so a 64-ary fat-tree with 65 536 hosts needs 5120 x 2048 entries,
//! not 70 656 x 65 536. An entry is either a port or the number of a group of equally good
//! ports, and equal groups are stored once.
//!
//! ```text
//!   destination host --> its column, its switch and the port there
//!   node             --> its row
//!   table[row, column] = one port | a group of ports | no route
//! ```
//!
//! A flow's hash picks the member of a group. Each node mixes the hash with its own id first:
//! otherwise all flows that chose the left port here would choose the left port at the next
//! switch too, and half of the paths would stay empty.

pub(crate) mod graph;
mod groups;
mod masks;
mod shortest;
mod updown;

use crate::topology::Topology;
use graph::Graph;
use groups::{GroupMaker, Groups};
use masks::Masks;
use weir_core::prefetch::prefetch;
use weir_core::rng::mix;
use weir_core::{LinkId, NodeId, PortId};

/// An immutable forwarding table of a network with some links down.
///
/// While links fail and return, the simulator keeps one table per epoch.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Per node: how it is reached, if it is a host.
    targets: Vec<Target>,
    /// Per node: the column of its target once more. Every hop of every packet looks here, so the
    /// fewer cache lines, the better.
    columns_of: Vec<u32>,
    /// Per node: the column of the hosts that hang on it; [`NO_HOSTS`] without.
    own_column: Vec<u32>,
    /// Per node: where its row begins in `table`; [`NO_ROW`] for hosts that have just one way
    /// out.
    rows: Vec<u32>,
    /// How long a row is.
    columns: usize,
    table: Vec<Entry>,
    groups: Groups,
}

/// How a host is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    column: u32,
    /// The switch it hangs on; itself if it has several ports.
    pub(crate) at: NodeId,
    /// The port of `at` that leads to it; [`NO_PORT`] if it is `at`.
    port: PortId,
}

/// One cell of the table: below 2^16 a port, above a group, or [`Entry::NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry(u32);

const NO_ROW: u32 = u32::MAX;
const NO_COLUMN: u32 = u32::MAX;
const NO_HOSTS: u32 = u32::MAX - 1;
const NO_PORT: PortId = PortId(u16::MAX);
const NOWHERE: Target = Target { column: NO_COLUMN, at: NodeId(u32::MAX), port: NO_PORT };

impl Entry {
    const NONE: Self = Self(u32::MAX);
    const GROUPS: u32 = 1 << 16;
}

/// One switch's part of a [`Routes`] table: what forwarding a packet needs and no more.
#[derive(Clone, Copy, Debug)]
pub struct Forwarding<'a> {
    salt: u64,
    columns_of: &'a [u32],
    own_column: u32,
    targets: &'a [Target],
    row: &'a [Entry],
    groups: &'a Groups,
}

impl Forwarding<'_> {
    /// Prefetches the table.
    pub fn prefetch(&self) {
        prefetch(self.row);
    }

    /// The port towards host `dst`; `None` when there is no route or `dst` is not a host, or no
    /// node. The flow's hash is asked for only where there is a choice.
    #[inline(always)]
    pub fn next_hop(&self, dst: NodeId, flow_hash: impl FnOnce() -> u64) -> Option<PortId> {
        let column = *self.columns_of.get(dst.index())?;
        if column == self.own_column {
            let port = self.targets.get(dst.index())?.port;
            return (port != NO_PORT).then_some(port);
        }
        // not a host: its column is beyond every row
        let entry = *self.row.get(column as usize)?;
        if entry.0 < Entry::GROUPS {
            return Some(PortId(entry.0 as u16));
        }
        self.groups.pick(entry, || mix(flow_hash() ^ self.salt))
    }
}

/// The ports by which a packet may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHops<'a> {
    /// There is one way.
    One(PortId),
    /// These are equally good, in ascending order. The number is the same wherever in this table
    /// the same ports are.
    Any(u32, &'a [PortId]),
}

impl<'a> Forwarding<'a> {
    /// All ports towards host `dst`, where [`Forwarding::next_hop`] picks one.
    pub fn next_hops(&self, dst: NodeId) -> Option<NextHops<'a>> {
        let column = *self.columns_of.get(dst.index())?;
        if column == self.own_column {
            let port = self.targets.get(dst.index())?.port;
            return (port != NO_PORT).then_some(NextHops::One(port));
        }
        let entry = *self.row.get(column as usize)?;
        if entry.0 < Entry::GROUPS {
            return Some(NextHops::One(PortId(entry.0 as u16)));
        }
        self.groups.ports(entry).map(|ports| NextHops::Any(entry.0 - Entry::GROUPS, ports))
    }
}

/// How many columns of the table are gathered before they are written: a cache line of entries.
const BLOCK: usize = 16;

/// What a node mixes into flow hashes, so that choices at successive hops are independent.
fn salt(at: NodeId) -> u64 {
    mix(u64::from(at.0) + 0x9e37_79b9_7f4a_7c15)
}

impl Routes {
    /// All shortest paths (in hops) that avoid the links in `down`.
    pub fn ecmp(topo: &Topology, down: &[LinkId]) -> Self {
        let graph = Graph::new(topo, down);
        Self::assemble(topo, &graph, shortest::Search::new(&graph))
    }

    /// Paths that never go up again after having gone down, which makes cyclic buffer
    /// dependencies, and with them PFC deadlocks, impossible.
    ///
    /// In a fabric of layers, up is towards the core. Where layers do not say (links inside a
    /// layer, or no layers), or would cut off hosts that are still connected after failures, up is
    /// towards the root of a breadth-first spanning tree (up*/down* routing as in Autonet):
    /// every connected pair has a path then, though often a longer one through the root.
    ///
    /// Wherever a way straight down exists it is taken, the shortest ones sharing the load;
    /// elsewhere the ways up that lead to the shortest paths do.
    pub fn up_down(topo: &Topology, down: &[LinkId]) -> Self {
        let graph = Graph::new(topo, down);
        let routes = |order| Self::assemble(topo, &graph, updown::Search::new(&graph, &order));
        updown::Order::layers(topo, &graph)
            .map(routes)
            .filter(|by_layers| by_layers.connects_all(&graph))
            .unwrap_or_else(|| routes(updown::Order::spanning(topo, &graph)))
    }

    fn assemble(topo: &Topology, graph: &Graph, mut search: impl Search) -> Self {
        let columns = graph.columns.len();
        let mut groups = GroupMaker::default();
        let mut table = vec![Entry::NONE; graph.len() * columns];
        let (mut good, mut before) = (Masks::new(graph), Masks::new(graph));
        // Neighbouring cells of the table belong to one row. A search fills one column, cells that
        // lie far apart: a few columns are gathered, then written row by row.
        let mut block = vec![Entry::NONE; graph.len() * BLOCK];
        let mut last = vec![Entry::NONE; graph.len()];
        for (column, &target) in graph.columns.iter().enumerate() {
            let other = column.checked_sub(1).map(|c| graph.columns[c]);
            match other
                .filter(|&other| search.is_blind_to_twins() && graph.are_twins(other, target))
            {
                Some(twin) => {
                    for row in turn_to_twin(graph, twin, target, &mut before) {
                        last[row as usize] = groups.entry(before.row(row));
                    }
                }
                None => {
                    good.clear();
                    search.towards(graph, target, &mut good);
                    for (row, last) in (0..).zip(&mut last) {
                        let ports = good.row(row);
                        // towards most destinations a node uses the ports it used for the one
                        // before
                        if column == 0 || ports != before.row(row) {
                            *last = groups.entry(ports);
                        }
                    }
                    std::mem::swap(&mut good, &mut before);
                }
            }
            for (cells, entry) in block.chunks_exact_mut(BLOCK).zip(&last) {
                cells[column % BLOCK] = *entry;
            }
            let filled = column % BLOCK + 1;
            if filled == BLOCK || column + 1 == columns {
                for (row, cells) in block.chunks_exact(BLOCK).enumerate() {
                    let end = row * columns + column + 1;
                    table[end - filled..end].copy_from_slice(&cells[..filled]);
                }
            }
        }
        let row = |n: usize| match graph.row_of[n] {
            NO_ROW => NO_ROW,
            row => row * columns as u32,
        };
        let mut own_column = vec![NO_HOSTS; topo.nodes().len()];
        for target in graph.targets.iter().filter(|t| t.column != NO_COLUMN) {
            own_column[target.at.index()] = target.column;
        }
        Self {
            targets: graph.targets.clone(),
            columns_of: graph.targets.iter().map(|t| t.column).collect(),
            own_column,
            rows: (0..topo.nodes().len()).map(row).collect(),
            columns,
            table,
            groups: groups.groups,
        }
    }

    /// Whether there is a route wherever there is a path.
    fn connects_all(&self, graph: &Graph) -> bool {
        let component = updown::components(graph);
        graph.columns.iter().enumerate().all(|(column, &target)| {
            graph.columns.iter().all(|&source| {
                source == target
                    || component[source as usize] != component[target as usize]
                    || self.table[source as usize * graph.columns.len() + column] != Entry::NONE
            })
        })
    }

    /// The port by which `at` forwards a packet of the flow with this hash to host `dst`; `None`
    /// when there is no route, `at` is the destination, or `dst` is not a host.
    #[inline]
    pub fn next_hop(&self, at: NodeId, dst: NodeId, flow_hash: u64) -> Option<PortId> {
        if self.rows[at.index()] == NO_ROW {
            return self.first_hop(at, dst);
        }
        self.forwarding(at).next_hop(dst, || flow_hash)
    }

    /// What the switch `at` forwards by: its part of the table, looked up once for many packets.
    ///
    /// # Panics
    /// When `at` has no row of its own (a host with one port).
    #[inline]
    pub fn forwarding(&self, at: NodeId) -> Forwarding<'_> {
        let columns = self.columns;
        let row = self.rows[at.index()] as usize;
        Forwarding {
            salt: salt(at),
            columns_of: &self.columns_of,
            own_column: self.own_column[at.index()],
            targets: &self.targets,
            row: &self.table[row..row + columns],
            groups: &self.groups,
        }
    }

    /// Out of a host with one port, if the switch there knows the way.
    fn first_hop(&self, at: NodeId, dst: NodeId) -> Option<PortId> {
        let (here, target) = (self.targets[at.index()], self.targets[dst.index()]);
        if at == dst || here.column == NO_COLUMN || target.column == NO_COLUMN {
            return None;
        }
        let row = self.rows[here.at.index()] as usize;
        let known = here.at == target.at || self.table[row + target.column as usize] != Entry::NONE;
        known.then_some(PortId(0))
    }

    /// All ports that a packet to `dst` may take at `at`, in ascending order; empty when there
    /// is no route.
    pub fn next_hops(&self, at: NodeId, dst: NodeId) -> Vec<PortId> {
        let target = self.targets[dst.index()];
        let row = self.rows[at.index()];
        if target.column == NO_COLUMN || at == target.at || row == NO_ROW {
            return self.next_hop(at, dst, 0).into_iter().collect();
        }
        let entry = self.table[row as usize + target.column as usize];
        match entry {
            Entry::NONE => Vec::new(),
            Entry(port) if port < Entry::GROUPS => vec![PortId(port as u16)],
            group => self.groups.ports(group).unwrap_or_default().to_vec(),
        }
    }

    /// The whole way of one flow: each node with the port it sends on, the destination left
    /// out. `None` when there is no route.
    pub fn path(
        &self,
        topo: &Topology,
        src: NodeId,
        dst: NodeId,
        flow_hash: u64,
    ) -> Option<Vec<(NodeId, PortId)>> {
        let mut path = Vec::new();
        let mut at = src;
        while at != dst {
            let port = self.next_hop(at, dst, flow_hash)?;
            path.push((at, port));
            at = topo.port(at, port).peer;
            assert!(path.len() <= topo.nodes().len(), "forwarding tables are free of loops");
        }
        Some(path)
    }

    /// Where the hosts of each column are: a switch, or the host itself.
    pub(crate) fn column_nodes(&self) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for target in self.targets.iter().filter(|t| t.column != NO_COLUMN) {
            // columns are numbered in the order of the first host they hold
            if target.column as usize == nodes.len() {
                nodes.push(target.at);
            }
        }
        nodes
    }

    /// The ports that `at` (a switch, or a host with several ports) may use towards the hosts
    /// of a column, and a number that is the same wherever this node uses the same ports. `one`
    /// is a place to keep a single port in.
    pub(crate) fn column_ports<'a>(
        &'a self,
        at: NodeId,
        column: usize,
        one: &'a mut PortId,
    ) -> (u32, &'a [PortId]) {
        let entry = self.table[self.rows[at.index()] as usize + column];
        let ports = match entry {
            Entry::NONE => &[],
            Entry(port) if port < Entry::GROUPS => {
                *one = PortId(port as u16);
                std::slice::from_ref(one)
            }
            group => self.groups.ports(group).unwrap_or_default(),
        };
        (entry.0, ports)
    }

    /// The memory the table takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.table)
            + size_of_val(&*self.targets)
            + size_of_val(&*self.columns_of)
            + size_of_val(&*self.own_column)
            + size_of_val(&*self.rows)
            + self.groups.bytes()
    }
}

/// Makes the good ports towards `twin` those towards `target`, which has the same neighbours, and
/// returns the rows that differ: from everywhere else the shortest ways are the same.
fn turn_to_twin(graph: &Graph, twin: u32, target: u32, good: &mut Masks) -> Vec<u32> {
    let mut rows: Vec<u32> = graph.edges(target).iter().map(|edge| edge.peer).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.extend([twin, target]);
    rows.iter().for_each(|&row| good.clear_row(row));
    for edge in graph.edges(target) {
        good.set(edge.peer, edge.peer_port);
    }
    // two links away, over all neighbours that forward
    for edge in graph.edges(twin).iter().filter(|edge| !graph.is_host[edge.peer as usize]) {
        good.set(twin, edge.port);
    }
    rows
}

/// A way to find the good ports towards one destination after the other.
trait Search {
    /// Whether ways to two nodes with the same neighbours differ only at these nodes and their
    /// neighbours.
    fn is_blind_to_twins(&self) -> bool {
        false
    }

    /// Looks from everywhere towards `target` (a row of the graph) and adds the good ports of
    /// each row to `good`; none at the target itself.
    fn towards(&mut self, graph: &Graph, target: u32, good: &mut Masks);
}

#[cfg(test)]
mod tests;
