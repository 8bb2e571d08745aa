//! Putting a network together, node by node and link by link.

use crate::error::TopologyError;
use crate::limits::{
    MAX_DELAY, MAX_LINKS, MAX_NODES, MAX_PORTS, MAX_RATE, MAX_ROUTES, MIN_RATE, check_size,
};
use crate::topology::{Layer, Link, Node, NodeKind, PortEnd, Topology};
use weir_core::{LinkId, NodeId, PortId, Rate, Time};

const MAX_NAME: usize = 64;

/// Collects nodes and links. Calls never fail: the first mistake is remembered and
/// [`finish`](Self::finish) reports it, so builders read like wiring lists.
///
/// ```
/// use weir_core::{Rate, Time};
/// use weir_net::{Layer, TopologyBuilder};
/// let mut b = TopologyBuilder::new();
/// let (h0, h1) = (b.add_host("h0"), b.add_host("h1"));
/// let sw = b.add_switch("sw0", Layer::Tor, 0);
/// for host in [h0, h1] {
///     b.connect(host, sw, Rate::from_gbps(40), Time::from_ns(20));
/// }
/// assert_eq!(b.finish()?.ports(sw).len(), 2);
/// # Ok::<(), weir_net::TopologyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TopologyBuilder {
    nodes: Vec<Node>,
    /// Ports used so far, per node.
    used: Vec<u32>,
    links: Vec<Link>,
    aliases: Vec<(String, (NodeId, PortId))>,
    places: Vec<(NodeId, (i32, i32))>,
    missing: Vec<(NodeId, NodeId)>,
    error: Option<TopologyError>,
}

impl TopologyBuilder {
    /// An empty network.
    pub fn new() -> Self {
        Self::default()
    }

    fn fail(&mut self, error: TopologyError) {
        self.error.get_or_insert(error);
    }

    fn add(&mut self, name: String, kind: NodeKind, layer: Layer, group: u32) -> NodeId {
        let id = NodeId::from_index(self.nodes.len().min(MAX_NODES as usize));
        if self.nodes.len() as u64 >= MAX_NODES {
            let count = u128::from(MAX_NODES) + 1;
            self.fail(TopologyError::TooLarge { what: "nodes", count, limit: MAX_NODES });
            return id;
        }
        self.check_name(&name);
        self.nodes.push(Node { name, kind, layer, group });
        self.used.push(0);
        id
    }

    fn check_name(&mut self, name: &str) {
        let visible =
            |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, ':' | ',' | '"' | '`');
        if name.is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(visible) {
            self.fail(TopologyError::BadName { name: name.to_owned(), limit: MAX_NAME });
        }
    }

    /// Adds a host. Its group is that of the first switch it is connected to.
    pub fn add_host(&mut self, name: impl Into<String>) -> NodeId {
        self.add(name.into(), NodeKind::Host, Layer::Host, 0)
    }

    /// Adds hosts `h0`, `h1`, ... in one go.
    pub fn add_hosts(&mut self, count: u32) -> Vec<NodeId> {
        (0..count).map(|i| self.add_host(format!("h{i}"))).collect()
    }

    /// Adds a switch in a pod or rack.
    pub fn add_switch(&mut self, name: impl Into<String>, layer: Layer, group: u32) -> NodeId {
        self.add(name.into(), NodeKind::Switch, layer, group)
    }

    /// Connects the next free ports of two nodes.
    pub fn connect(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) -> LinkId {
        let id = LinkId::from_index(self.links.len());
        match self.check_link(a, b, rate, delay) {
            Ok(()) => {
                let ends = [a, b].map(|n| (n, self.take_port(n)));
                self.links.push(Link { a: ends[0], b: ends[1], rate, delay });
            }
            Err(error) => self.fail(error),
        }
        id
    }

    fn take_port(&mut self, n: NodeId) -> PortId {
        let port = PortId::from_index(self.used[n.index()] as usize);
        self.used[n.index()] += 1;
        port
    }

    fn check_link(
        &self,
        a: NodeId,
        b: NodeId,
        rate: Rate,
        delay: Time,
    ) -> Result<(), TopologyError> {
        for n in [a, b] {
            let Some(&used) = self.used.get(n.index()) else {
                return Err(TopologyError::UnknownId { id: n });
            };
            if used as usize >= MAX_PORTS {
                let node = self.name(n);
                return Err(TopologyError::TooManyPorts { node, limit: MAX_PORTS });
            }
        }
        if self.links.len() as u64 >= MAX_LINKS {
            check_size(0, u128::from(MAX_LINKS) + 1)?;
        }
        if a == b {
            return Err(TopologyError::SelfLink { node: self.name(a) });
        }
        let bad = |what, value, valid| {
            Err(TopologyError::LinkValue { a: self.name(a), b: self.name(b), what, value, valid })
        };
        if !(MIN_RATE..=MAX_RATE).contains(&rate) {
            let valid = "it must be at least 100 kb/s and at most 100 Tb/s";
            return bad("rate", rate.to_string(), valid);
        }
        if delay > MAX_DELAY {
            return bad("delay", delay.to_string(), "it must be at most 1 s");
        }
        Ok(())
    }

    fn name(&self, n: NodeId) -> String {
        self.nodes[n.index()].name.clone()
    }

    /// Gives the port that `link` has at `node` a name of its own.
    pub fn alias(&mut self, alias: impl Into<String>, node: NodeId, link: LinkId) {
        let alias = alias.into();
        self.check_name(&alias);
        let end =
            self.links.get(link.index()).and_then(|l| [l.a, l.b].into_iter().find(|e| e.0 == node));
        match end {
            Some(end) => self.aliases.push((alias, end)),
            None => self.fail(TopologyError::UnknownId { id: node }),
        }
    }

    /// Says where to draw a switch of a fabric without layers, in grid steps.
    pub fn place(&mut self, node: NodeId, x: i32, y: i32) {
        self.places.push((node, (x, y)));
    }

    /// The builder that would make `topo` with only the links that `keep` chooses.
    fn remake(
        topo: &Topology,
        keep: impl Fn(LinkId) -> bool,
        missing: Vec<(NodeId, NodeId)>,
    ) -> Self {
        let mut b = Self {
            nodes: topo.nodes.clone(),
            used: vec![0; topo.nodes.len()],
            places: topo.places.clone(),
            missing,
            ..Self::default()
        };
        for (i, link) in topo.links.iter().enumerate() {
            if !keep(LinkId::from_index(i)) {
                continue;
            }
            let new = b.connect(link.a.0, link.b.0, link.rate, link.delay);
            for end in [link.a, link.b] {
                for (alias, _) in topo.aliases.iter().filter(|(_, at)| *at == end) {
                    b.alias(alias.clone(), end.0, new);
                }
            }
        }
        b
    }

    /// The network, or the first mistake made on the way.
    pub fn finish(mut self) -> Result<Topology, TopologyError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let by_name = sorted_names(&self.nodes)?;
        let hosts: Vec<NodeId> = (0..self.nodes.len())
            .map(NodeId::from_index)
            .filter(|n| self.nodes[n.index()].kind == NodeKind::Host)
            .collect();
        if hosts.is_empty() {
            return Err(TopologyError::NoHosts);
        }
        if let Some(&lonely) = hosts.iter().find(|n| self.used[n.index()] == 0) {
            return Err(TopologyError::Unconnected { host: self.name(lonely) });
        }
        self.aliases.sort();
        if let Some(pair) = self.aliases.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(TopologyError::DuplicateName { name: pair[0].0.clone() });
        }
        let (port_start, ports) = port_table(&self.used, &self.links);
        let mut topology = Topology {
            nodes: self.nodes,
            links: self.links,
            ports,
            port_start,
            hosts,
            by_name,
            aliases: self.aliases,
            places: self.places,
            missing: self.missing,
        };
        topology.group_hosts();
        topology.check_routing_size()?;
        Ok(topology)
    }
}

impl Topology {
    fn group_hosts(&mut self) {
        for i in 0..self.hosts.len() {
            let host = self.hosts[i];
            if let Some(end) = self.ports(host).iter().find(|end| !self.is_host(end.peer)) {
                self.nodes[host.index()].group = self.node(end.peer).group;
            }
        }
    }

    /// A forwarding table has a row per switch and a column per switch with hosts (and one of
    /// each per host with several ports).
    fn check_routing_size(&self) -> Result<(), TopologyError> {
        let mut has_hosts = vec![false; self.nodes.len()];
        let mut odd_hosts = 0u64;
        for &host in &self.hosts {
            match self.ports(host) {
                [end] if !self.is_host(end.peer) => has_hosts[end.peer.index()] = true,
                _ => odd_hosts += 1,
            }
        }
        let rows = (self.nodes.len() - self.hosts.len()) as u64 + odd_hosts;
        let columns = has_hosts.iter().filter(|&&yes| yes).count() as u64 + odd_hosts;
        let count = u128::from(rows) * u128::from(columns);
        if count > u128::from(MAX_ROUTES) {
            let what = "routing table entries (switches x switches with hosts)";
            return Err(TopologyError::TooLarge { what, count, limit: MAX_ROUTES });
        }
        Ok(())
    }
}

fn sorted_names(nodes: &[Node]) -> Result<Vec<NodeId>, TopologyError> {
    let mut by_name: Vec<NodeId> = (0..nodes.len()).map(NodeId::from_index).collect();
    let name = |n: &NodeId| nodes[n.index()].name.as_str();
    by_name.sort_by(|a, b| name(a).cmp(name(b)));
    match by_name.windows(2).find(|pair| name(&pair[0]) == name(&pair[1])) {
        Some(pair) => Err(TopologyError::DuplicateName { name: name(&pair[0]).to_owned() }),
        None => Ok(by_name),
    }
}

fn port_table(used: &[u32], links: &[Link]) -> (Vec<u32>, Vec<PortEnd>) {
    let mut start = Vec::with_capacity(used.len() + 1);
    let mut total = 0;
    start.push(0);
    for &n in used {
        total += n;
        start.push(total);
    }
    let nobody = PortEnd { link: LinkId(u32::MAX), peer: NodeId(u32::MAX), peer_port: PortId(0) };
    let mut ports = vec![nobody; total as usize];
    for (i, link) in links.iter().enumerate() {
        for (from, to) in [(link.a, link.b), (link.b, link.a)] {
            ports[start[from.0.index()] as usize + from.1.index()] =
                PortEnd { link: LinkId::from_index(i), peer: to.0, peer_port: to.1 };
        }
    }
    (start, ports)
}

impl Topology {
    /// The same network without some links, each given by the names of its ends. Of several
    /// parallel links each mention takes one away. Ports are numbered anew.
    pub fn without_links(&self, failed: &[(String, String)]) -> Result<Self, TopologyError> {
        if failed.is_empty() {
            return Ok(self.clone());
        }
        let mut gone = vec![false; self.links.len()];
        let mut ends = Vec::new();
        for (a, b) in failed {
            let (a, b) = (self.find(a)?, self.find(b)?);
            let links = self.links_between(a, b)?;
            let Some(link) = links.into_iter().find(|link| !gone[link.index()]) else {
                let name = format!("failed {}-{}", self.name(a), self.name(b));
                let why = "all links between these nodes have failed already".to_owned();
                return Err(TopologyError::Unreadable { name, why });
            };
            gone[link.index()] = true;
            ends.push((a, b));
        }
        self.keep(|link| !gone[link.index()], &ends)
    }

    /// The same network without these links, which drawings show as failed. Ports are numbered
    /// anew.
    pub fn without(&self, links: &[LinkId]) -> Result<Self, TopologyError> {
        let ends = |&link: &LinkId| (self.link(link).a.0, self.link(link).b.0);
        let ends: Vec<(NodeId, NodeId)> = links.iter().map(ends).collect();
        self.keep(|link| !links.contains(&link), &ends)
    }

    /// The same network with only the links that `keep` chooses; the others join `ends`.
    fn keep(
        &self,
        keep: impl Fn(LinkId) -> bool,
        ends: &[(NodeId, NodeId)],
    ) -> Result<Self, TopologyError> {
        let missing = [&self.missing, ends].concat();
        TopologyBuilder::remake(self, keep, missing).finish()
    }
}
