//! What is in the picture: switches with their hosts, lines between them, pointers to ports.

use super::Mark;
use crate::topology::{Layer, Topology};
use std::collections::BTreeMap;
use weir_core::{NodeId, PortId, Rate};

/// More switches or lines than this are merged by pod and layer.
const MOST_SWITCHES: usize = 1200;
const MOST_LINES: usize = 20_000;
/// Port aliases are written into pictures with at most this many nodes.
const FEW_NODES: usize = 60;

pub(super) struct Scene {
    pub(super) items: Vec<Item>,
    pub(super) lines: Vec<Bundle>,
    /// Failed links.
    pub(super) missing: Vec<(usize, usize)>,
    pub(super) pointers: Vec<Pointer>,
    /// Links of a circle of waiting ports, each from the item whose port it is; without repeats.
    pub(super) cycle: Vec<Arrow>,
}

/// A link of a circle, in the direction in which its port sends.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Arrow {
    Between(usize, usize),
    /// To the n-th host below an item.
    Down(usize, usize),
    /// From the n-th host below an item.
    Up(usize, usize),
}

/// A box: a switch, a host with several ports, or all switches of a pod in one layer.
pub(super) struct Item {
    pub(super) label: String,
    pub(super) layer: Layer,
    pub(super) group: u32,
    pub(super) place: Option<(i32, i32)>,
    pub(super) hosts: Vec<String>,
}

/// Links between two items.
pub(super) struct Bundle {
    pub(super) ends: (usize, usize),
    pub(super) count: usize,
    pub(super) rate: Rate,
    pub(super) marked: bool,
}

/// A port to write something at.
pub(super) struct Pointer {
    pub(super) at: usize,
    pub(super) to: Towards,
    pub(super) label: String,
    pub(super) sign: Sign,
}

impl Pointer {
    /// The label, if it is short enough to stand on the line to a host.
    pub(super) fn on_line(&self) -> Option<&str> {
        let short = self.label.chars().count() <= 6;
        (short && matches!(self.to, Towards::Host(_))).then_some(self.label.as_str())
    }
}

/// Why a port is pointed at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Name,
    Congested,
}

/// Where a port leads.
#[derive(Clone, Copy)]
pub(super) enum Towards {
    Item(usize),
    /// The n-th host below the same item.
    Host(usize),
}

/// Which item shows a node, and as which of its hosts if it is not the item itself.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub(super) item: usize,
    pub(super) host: Option<usize>,
}

impl Scene {
    pub(super) fn new(topo: &Topology, marks: &[Mark], cycle: &[(NodeId, PortId)]) -> Self {
        let switches = topo.nodes().len() - topo.hosts().len();
        let large = switches > MOST_SWITCHES
            || topo.links().len() - topo.hosts().len().min(topo.links().len()) > MOST_LINES;
        let (items, shown) = items(topo, if large { Each::Group } else { Each::Switch });
        let mut scene = Self {
            lines: Vec::new(),
            missing: Vec::new(),
            pointers: Vec::new(),
            cycle: Vec::new(),
            items,
        };
        scene.lines = lines(topo, &shown);
        for &(a, b) in topo.missing() {
            let ends = (shown[a.index()].item, shown[b.index()].item);
            if ends.0 != ends.1 {
                scene.missing.push(ends);
            }
        }
        if topo.nodes().len() <= FEW_NODES {
            for (label, node, port) in topo.port_aliases() {
                if !marks.iter().any(|m| (m.node, m.port) == (node, port)) {
                    scene.point(topo, &shown, (node, port), label, Sign::Name);
                }
            }
        }
        let exists = |node: NodeId, port: PortId| {
            let ports = topo.nodes().get(node.index()).map_or(0, |_| topo.ports(node).len());
            port.index() < ports
        };
        for mark in marks.iter().filter(|m| exists(m.node, m.port)) {
            scene.point(topo, &shown, (mark.node, mark.port), &mark.label, Sign::Congested);
        }
        for &(node, port) in cycle.iter().filter(|(node, port)| exists(*node, *port)) {
            let (near, far) = (shown[node.index()], shown[topo.port(node, port).peer.index()]);
            let arrow = match (near.host, far.host) {
                (None, Some(host)) => Arrow::Down(near.item, host),
                (Some(host), None) => Arrow::Up(far.item, host),
                _ if near.item != far.item => Arrow::Between(near.item, far.item),
                _ => continue,
            };
            if !scene.cycle.contains(&arrow) {
                scene.cycle.push(arrow);
            }
        }
        scene
    }

    /// Every switch with its hosts and nothing else, and where nodes are shown.
    pub(super) fn bare(topo: &Topology) -> (Self, Vec<Shown>) {
        let (items, shown) = items(topo, Each::Switch);
        let (lines, missing) = (Vec::new(), Vec::new());
        let scene = Self { items, lines, missing, pointers: Vec::new(), cycle: Vec::new() };
        (scene, shown)
    }

    fn point(
        &mut self,
        topo: &Topology,
        shown: &[Shown],
        (node, port): (NodeId, PortId),
        label: &str,
        sign: Sign,
    ) {
        let near = shown[node.index()];
        let far = shown[topo.port(node, port).peer.index()];
        let to = match (near.host, far.host) {
            (None, Some(host)) | (Some(host), None) => Towards::Host(host),
            _ if near.item != far.item => Towards::Item(far.item),
            _ => return,
        };
        if let (Sign::Congested, Towards::Item(_)) = (sign, to) {
            let ends = (near.item.min(far.item), near.item.max(far.item));
            self.lines.iter_mut().filter(|l| l.ends == ends).for_each(|l| l.marked = true);
        }
        self.pointers.push(Pointer { at: near.item, to, label: label.to_owned(), sign });
    }
}

/// What an item of the picture stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Each {
    Switch,
    /// All switches of a layer and group.
    Group,
}

fn items(topo: &Topology, each: Each) -> (Vec<Item>, Vec<Shown>) {
    let mut items: Vec<Item> = Vec::new();
    let mut shown = vec![Shown { item: 0, host: None }; topo.nodes().len()];
    let mut merged: BTreeMap<(Layer, u32), (usize, usize)> = BTreeMap::new();
    let places: BTreeMap<NodeId, (i32, i32)> = topo.places.iter().copied().collect();
    let below = |n: NodeId| match topo.ports(n) {
        [end] if topo.is_host(n) && !topo.is_host(end.peer) => Some(end.peer),
        _ => None,
    };
    for n in (0..topo.nodes().len()).map(NodeId::from_index).filter(|&n| below(n).is_none()) {
        let node = topo.node(n);
        let new = Item {
            label: node.name.clone(),
            layer: node.layer,
            group: node.group,
            place: places.get(&n).copied(),
            hosts: Vec::new(),
        };
        let fresh = items.len();
        shown[n.index()].item = if each == Each::Group {
            let entry = merged.entry((node.layer, node.group)).or_insert((fresh, 0));
            entry.1 += 1;
            entry.0
        } else {
            fresh
        };
        if shown[n.index()].item == fresh {
            items.push(new);
        }
    }
    for ((layer, _), (item, count)) in merged {
        items[item].label = format!("{count} {}", layer.name());
    }
    for &host in topo.hosts() {
        if let Some(switch) = below(host) {
            let item = shown[switch.index()].item;
            shown[host.index()] = Shown { item, host: Some(items[item].hosts.len()) };
            items[item].hosts.push(topo.name(host).to_owned());
        }
    }
    (items, shown)
}

fn lines(topo: &Topology, shown: &[Shown]) -> Vec<Bundle> {
    let mut lines: BTreeMap<(usize, usize), Bundle> = BTreeMap::new();
    for link in topo.links() {
        let [a, b] = [link.a.0, link.b.0].map(|n| shown[n.index()]);
        if a.item == b.item {
            continue;
        }
        let ends = (a.item.min(b.item), a.item.max(b.item));
        let line =
            lines.entry(ends).or_insert(Bundle { ends, count: 0, rate: link.rate, marked: false });
        line.count += 1;
        line.rate = line.rate.max(link.rate);
    }
    lines.into_values().collect()
}
