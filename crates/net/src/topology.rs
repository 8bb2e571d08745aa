//! A network as data: nodes, links and ports in flat arrays.

use crate::error::TopologyError;
use weir_core::nearest;
use weir_core::{LinkId, NodeId, PortId, Rate, Time};

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    /// Sends and receives; never forwards for others.
    Host,
    /// Forwards.
    Switch,
}

weir_core::words! {
    /// Where a node stands in a tree-like fabric; ports are reported by the layer of their node.
    /// Ordered from the bottom to the top, with [`Layer::Other`] (no hierarchy) last.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Layer {
        /// A host.
        Host = "host",
        /// The switch that hosts hang on: top of rack, edge, leaf.
        Tor = "tor",
        /// Between ToR and core in a three-layer fabric.
        Agg = "agg",
        /// The top: core, or the spine of a two-layer fabric.
        Core = "core",
        /// A switch of a fabric without layers (ring, torus, explicit graphs).
        Other = "other",
    }
}

/// A host or switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique, for people: `h0`, `tor3`, `Sc`.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// Its place in the hierarchy.
    pub layer: Layer,
    /// The pod or rack it belongs to, for partitioning and drawing. A host is in the group of
    /// the switch it hangs on.
    pub group: u32,
}

/// A full-duplex cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// One end.
    pub a: (NodeId, PortId),
    /// The other end.
    pub b: (NodeId, PortId),
    /// Speed in each direction; never zero.
    pub rate: Rate,
    /// Propagation delay one way.
    pub delay: Time,
}

/// What a port is plugged into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortEnd {
    /// The link at this port.
    pub link: LinkId,
    /// The node at the far end.
    pub peer: NodeId,
    /// The port at the far end.
    pub peer_port: PortId,
}

/// A network. Immutable; made by [`TopologyBuilder`](crate::TopologyBuilder).
///
/// The ready-made topologies number hosts first, so host `h7` is node 7, and connect a
/// switch's ports from the bottom up: hosts first, then uplinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    /// All ports, node after node.
    pub(crate) ports: Vec<PortEnd>,
    /// `ports` of node `n` are `port_start[n]..port_start[n + 1]`.
    pub(crate) port_start: Vec<u32>,
    pub(crate) hosts: Vec<NodeId>,
    /// Node ids in the order of their names.
    pub(crate) by_name: Vec<NodeId>,
    /// Sorted by name.
    pub(crate) aliases: Vec<(String, (NodeId, PortId))>,
    /// Where to draw switches of fabrics without layers, in grid steps.
    pub(crate) places: Vec<(NodeId, (i32, i32))>,
    /// Links that would belong here but were left out as failed; only drawn.
    pub(crate) missing: Vec<(NodeId, NodeId)>,
}

impl Topology {
    /// All nodes, by id.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, n: NodeId) -> &Node {
        &self.nodes[n.index()]
    }

    /// The name of one node.
    pub fn name(&self, n: NodeId) -> &str {
        &self.nodes[n.index()].name
    }

    /// All links, by id.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// One link.
    pub fn link(&self, l: LinkId) -> &Link {
        &self.links[l.index()]
    }

    /// The ports of one node, by port id.
    #[inline]
    pub fn ports(&self, n: NodeId) -> &[PortEnd] {
        let start = self.port_start[n.index()] as usize;
        let end = self.port_start[n.index() + 1] as usize;
        &self.ports[start..end]
    }

    /// What one port is plugged into.
    #[inline]
    pub fn port(&self, n: NodeId, p: PortId) -> &PortEnd {
        &self.ports(n)[p.index()]
    }

    /// The number of ports of all nodes together.
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }

    /// The position of a port in an array over all ports of all nodes, node after node.
    #[inline]
    pub fn port_index(&self, n: NodeId, p: PortId) -> usize {
        self.port_start[n.index()] as usize + p.index()
    }

    /// The speed of the link at a port.
    pub fn rate(&self, n: NodeId, p: PortId) -> Rate {
        self.link(self.port(n, p).link).rate
    }

    /// All hosts, by id.
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }

    /// All switches, by id.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len()).map(NodeId::from_index).filter(|&n| !self.is_host(n))
    }

    /// Whether the node is a host.
    #[inline]
    pub fn is_host(&self, n: NodeId) -> bool {
        self.nodes[n.index()].kind == NodeKind::Host
    }

    /// Whether the port of a switch leads to a host.
    pub fn is_host_facing(&self, n: NodeId, p: PortId) -> bool {
        self.is_host(self.port(n, p).peer)
    }

    /// The node with this name.
    pub fn node_by_name(&self, name: &str) -> Option<NodeId> {
        self.by_name
            .binary_search_by(|&n| self.name(n).cmp(name))
            .ok()
            .map(|position| self.by_name[position])
    }

    /// The node with this name, or an error with the nearest name.
    pub fn find(&self, name: &str) -> Result<NodeId, TopologyError> {
        self.node_by_name(name).ok_or_else(|| TopologyError::UnknownNode {
            name: name.to_owned(),
            nearest: nearest(name, self.nodes.iter().map(|n| n.name.as_str())).map(str::to_owned),
        })
    }

    /// The lowest port of `from` that leads to `to`.
    pub fn port_towards(&self, from: NodeId, to: NodeId) -> Option<PortId> {
        self.ports(from).iter().position(|end| end.peer == to).map(PortId::from_index)
    }

    /// All links between two nodes; an error when there are none.
    pub fn links_between(&self, a: NodeId, b: NodeId) -> Result<Vec<LinkId>, TopologyError> {
        let found: Vec<_> =
            self.ports(a).iter().filter(|end| end.peer == b).map(|end| end.link).collect();
        if found.is_empty() { Err(self.no_such_link(a, b)) } else { Ok(found) }
    }

    pub(crate) fn no_such_link(&self, a: NodeId, b: NodeId) -> TopologyError {
        const SHOWN: usize = 8;
        let mut names: Vec<_> =
            self.ports(a).iter().take(SHOWN).map(|end| self.name(end.peer)).collect();
        if self.ports(a).len() > SHOWN {
            names.push("...");
        }
        TopologyError::NoSuchLink {
            a: self.name(a).to_owned(),
            b: self.name(b).to_owned(),
            neighbours: if names.is_empty() { "nothing".to_owned() } else { names.join(", ") },
        }
    }

    /// The port that goes by this name in a paper or scenario, such as `P_d`.
    pub fn port_alias(&self, alias: &str) -> Option<(NodeId, PortId)> {
        self.aliases
            .binary_search_by(|(name, _)| name.as_str().cmp(alias))
            .ok()
            .map(|position| self.aliases[position].1)
    }

    /// All port aliases in the order of their names.
    pub fn port_aliases(&self) -> impl Iterator<Item = (&str, NodeId, PortId)> + '_ {
        self.aliases.iter().map(|(name, (node, port))| (name.as_str(), *node, *port))
    }

    /// How a report calls a port: its alias (`P_d`), or the neighbour it leads to
    /// (`to tor3`), with the port number added where several links lead there.
    pub fn port_name(&self, n: NodeId, p: PortId) -> String {
        if let Some((name, _)) = self.aliases.iter().find(|(_, at)| *at == (n, p)) {
            return name.clone();
        }
        let peer = self.port(n, p).peer;
        let parallel = self.ports(n).iter().filter(|end| end.peer == peer).count() > 1;
        let suffix = if parallel { format!(" ({p})") } else { String::new() };
        format!("to {}{suffix}", self.name(peer))
    }

    /// The same in one word that is unique in the network, for tables: `Sc:P_d`, `sw0:tor3`, or
    /// `sw0:sw1/p4` where several links lead there. Names hold neither blanks nor colons.
    pub fn port_label(&self, n: NodeId, p: PortId) -> String {
        let (node, port, number) = self.port_label_parts(n, p);
        match number {
            Some(p) => format!("{node}:{port}/{p}"),
            None => format!("{node}:{port}"),
        }
    }

    /// What [`Topology::port_label`] is made of: the node, the port's alias or who is at its other
    /// end, and its number where several links lead there.
    pub fn port_label_parts(&self, n: NodeId, p: PortId) -> (&str, &str, Option<PortId>) {
        if let Some((name, _)) = self.aliases.iter().find(|(_, at)| *at == (n, p)) {
            return (self.name(n), name, None);
        }
        let peer = self.port(n, p).peer;
        let parallel = self.ports(n).iter().filter(|end| end.peer == peer).count() > 1;
        (self.name(n), self.name(peer), parallel.then_some(p))
    }

    /// Links that were left out as failed from the start, as pairs of nodes.
    pub fn missing(&self) -> &[(NodeId, NodeId)] {
        &self.missing
    }
}
