//! Forwarding tables as sets of ports, wherever they come from.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use weir_core::{LinkId, NodeId, PortId, words};
use weir_net::{NextHops, Routes, Topology};

words! {
    /// How a network routes around failed links.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Rerouting {
        /// Shortest paths of what is left.
        ///
        /// All of them are used.
        Shortest = "ecmp",
        /// Up-down paths of what is left.
        ///
        /// Never up again after having gone down.
        UpDown = "up-down",
        /// Shortest paths as before a failure; a switch without a way sends to a neighbour with
        /// one.
        ///
        /// Tables stay as they were. A switch whose ways towards a destination have all failed
        /// sends its packets to a neighbour that has another way ("bounce", local repair). No
        /// switch sends a packet back by the port it came in by.
        Bounce = "bounce",
    }
}

impl Rerouting {
    /// What reports call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Shortest => "shortest paths (ECMP)",
            Self::UpDown => "up-down routing",
            Self::Bounce => "shortest paths, bounced where a link has failed",
        }
    }
}

/// Hosts that all switches treat alike until the last hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The switch they hang on, or the host itself if it has several links.
    pub at: NodeId,
    /// The hosts.
    pub hosts: Vec<NodeId>,
}

/// A set of ports of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortSet {
    pub(crate) ports: Vec<PortId>,
    /// The same as bits.
    pub(crate) mask: Vec<u64>,
}

impl PortSet {
    fn new(ports: &[PortId]) -> Self {
        let words = ports.iter().map(|p| p.index() / 64 + 1).max().unwrap_or(0);
        let mut mask = vec![0; words];
        for port in ports {
            mask[port.index() / 64] |= 1 << (port.index() % 64);
        }
        Self { ports: ports.to_vec(), mask }
    }
}

/// Which ports each switch may use towards each destination.
#[derive(Clone, Debug)]
pub struct Tables {
    pub(crate) destinations: Vec<Destination>,
    /// Row of each node; [`NO_ROW`] for hosts with one link.
    rows: Vec<u32>,
    /// The set of each row and destination.
    cells: Vec<u32>,
    sets: Vec<PortSet>,
    known: FxHashMap<Vec<PortId>, u32>,
    /// Whether packets may leave by the port they came in by.
    pub(crate) may_return: bool,
}

const NO_ROW: u32 = u32::MAX;

impl Tables {
    /// Tables without entries for a network without some links.
    pub(crate) fn empty(topo: &Topology, down: &[LinkId]) -> Self {
        let mut rows = vec![NO_ROW; topo.nodes().len()];
        let mut next = 0;
        let mut destinations: Vec<Destination> = Vec::new();
        let mut of_node: FxHashMap<NodeId, usize> = FxHashMap::default();
        for (i, row) in rows.iter_mut().enumerate() {
            let node = NodeId::from_index(i);
            if only_switch(topo, node).is_none() {
                *row = next;
                next += 1;
            }
        }
        for &host in topo.hosts() {
            let at = match only_switch(topo, host) {
                Some((_, link)) if down.contains(&link) => continue,
                Some((switch, _)) => switch,
                None => host,
            };
            let place = *of_node.entry(at).or_insert_with(|| {
                destinations.push(Destination { at, hosts: Vec::new() });
                destinations.len() - 1
            });
            destinations[place].hosts.push(host);
        }
        let cells = vec![0; next as usize * destinations.len()];
        let sets = vec![PortSet::new(&[])];
        let known = FxHashMap::from_iter([(Vec::new(), 0)]);
        Self { destinations, rows, cells, sets, known, may_return: true }
    }

    /// The tables of a network in which these links have failed.
    pub fn routed(topo: &Topology, how: Rerouting, down: &[LinkId]) -> Self {
        match how {
            Rerouting::Shortest => Self::of_routes(topo, &Routes::ecmp(topo, down), down),
            Rerouting::UpDown => Self::of_routes(topo, &Routes::up_down(topo, down), down),
            Rerouting::Bounce => Self::bounced(topo, down),
        }
    }

    /// What a forwarding table of the simulator says.
    pub fn of_routes(topo: &Topology, routes: &Routes, down: &[LinkId]) -> Self {
        let mut tables = Self::empty(topo, down);
        // a group of ports has one number throughout the table
        let mut groups: FxHashMap<u32, u32> = FxHashMap::default();
        for node in (0..topo.nodes().len()).map(NodeId::from_index) {
            if tables.rows[node.index()] == NO_ROW {
                continue;
            }
            let forwarding = routes.forwarding(node);
            for d in 0..tables.destinations.len() {
                let Destination { at, hosts } = &tables.destinations[d];
                if *at == node {
                    continue;
                }
                let set = match forwarding.next_hops(hosts[0]) {
                    None => 0,
                    Some(NextHops::One(port)) => tables.set(&[port]),
                    Some(NextHops::Any(group, ports)) => match groups.get(&group) {
                        Some(&set) => set,
                        None => {
                            let set = tables.set(ports);
                            groups.insert(group, set);
                            set
                        }
                    },
                };
                tables.put(node, d, set);
            }
        }
        tables
    }

    /// Shortest paths of the whole network; where all ports towards a destination have failed,
    /// those of live neighbours that are nearest to it and have a way that does not lead back.
    fn bounced(topo: &Topology, down: &[LinkId]) -> Self {
        let whole = Self::of_routes(topo, &Routes::ecmp(topo, &[]), &[]);
        let mut tables = Self::empty(topo, down);
        tables.may_return = false;
        let up = |node: NodeId, port: PortId| !down.contains(&topo.port(node, port).link);
        for d in 0..tables.destinations.len() {
            let target = tables.destinations[d].at;
            let Some(before) = whole.destinations.iter().position(|w| w.at == target) else {
                continue;
            };
            let distance = distances(topo, target, &[]);
            // a destination that has no way left has no routes
            let left = distances(topo, target, down);
            for node in (0..topo.nodes().len()).map(NodeId::from_index) {
                let row = tables.rows[node.index()];
                if node == target || row == NO_ROW || left[node.index()] == u32::MAX {
                    continue;
                }
                let old = whole.ports(node, before);
                let mut ports: Vec<PortId> = old.iter().copied().filter(|&p| up(node, p)).collect();
                if ports.is_empty() && !old.is_empty() && !topo.is_host(node) {
                    ports = detours(topo, &whole, (node, before), &distance, &up);
                }
                let set = tables.set(&ports);
                tables.put(node, d, set);
            }
        }
        tables
    }

    /// Makes every host a destination of its own, without entries: dumped tables may treat hosts
    /// of one switch differently.
    pub(crate) fn divide(&mut self) {
        let whole = std::mem::take(&mut self.destinations);
        let rows = self.cells.len() / whole.len().max(1);
        for Destination { at, hosts } in whole {
            let one = |host| Destination { at, hosts: vec![host] };
            self.destinations.extend(hosts.into_iter().map(one));
        }
        self.cells = vec![0; rows * self.destinations.len()];
    }

    /// The number of a set of ports.
    pub(crate) fn set(&mut self, ports: &[PortId]) -> u32 {
        if let Some(&set) = self.known.get(ports) {
            return set;
        }
        let set = self.sets.len() as u32;
        self.sets.push(PortSet::new(ports));
        self.known.insert(ports.to_vec(), set);
        set
    }

    /// Says which ports a node may use towards a destination.
    pub(crate) fn put(&mut self, node: NodeId, destination: usize, set: u32) {
        let row = self.rows[node.index()] as usize;
        self.cells[row * self.destinations.len() + destination] = set;
    }

    pub(crate) fn cell(&self, node: NodeId, destination: usize) -> &PortSet {
        let row = self.rows[node.index()];
        if row == NO_ROW {
            return &self.sets[0];
        }
        let cell = self.cells[row as usize * self.destinations.len() + destination];
        &self.sets[cell as usize]
    }

    /// The destinations, each a switch with its hosts or a host with several links.
    pub fn destinations(&self) -> &[Destination] {
        &self.destinations
    }

    /// The ports that a node may use towards a destination, ascending. A host with one link has
    /// none here, and neither has the destination itself.
    pub fn ports(&self, node: NodeId, destination: usize) -> &[PortId] {
        &self.cell(node, destination).ports
    }
}

/// The ports of a switch that lead to the live neighbours nearest to a destination, of those that
/// have a live way towards it which does not lead back.
fn detours(
    topo: &Topology,
    whole: &Tables,
    (node, destination): (NodeId, usize),
    distance: &[u32],
    up: &impl Fn(NodeId, PortId) -> bool,
) -> Vec<PortId> {
    let leads_on = |port: &PortId| {
        let end = topo.port(node, *port);
        let onward = whole.ports(end.peer, destination);
        let target = whole.destinations[destination].at;
        up(node, *port)
            && !topo.is_host(end.peer)
            && (end.peer == target
                || onward.iter().any(|&p| up(end.peer, p) && topo.port(end.peer, p).peer != node))
    };
    let all = (0..topo.ports(node).len()).map(PortId::from_index).filter(leads_on);
    let all: Vec<PortId> = all.collect();
    let far = |port: &PortId| distance[topo.port(node, *port).peer.index()];
    let nearest = all.iter().map(far).min();
    all.into_iter().filter(|p| Some(far(p)) == nearest).collect()
}

/// Links to `target` through switches, in the network without the links in `down`.
fn distances(topo: &Topology, target: NodeId, down: &[LinkId]) -> Vec<u32> {
    let mut distance = vec![u32::MAX; topo.nodes().len()];
    distance[target.index()] = 0;
    let mut queue = VecDeque::from([target]);
    while let Some(node) = queue.pop_front() {
        if topo.is_host(node) && node != target {
            continue;
        }
        for end in topo.ports(node) {
            if distance[end.peer.index()] == u32::MAX && !down.contains(&end.link) {
                distance[end.peer.index()] = distance[node.index()] + 1;
                queue.push_back(end.peer);
            }
        }
    }
    distance
}

/// For a host with one link, and that to a switch: the switch and the link.
pub(crate) fn only_switch(topo: &Topology, node: NodeId) -> Option<(NodeId, LinkId)> {
    match topo.ports(node) {
        [end] if topo.is_host(node) && !topo.is_host(end.peer) => Some((end.peer, end.link)),
        _ => None,
    }
}
