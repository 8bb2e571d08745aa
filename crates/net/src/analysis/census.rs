//! Counting: nodes per layer, links per pair of layers, capacity down and up.

use crate::topology::{Layer, Topology};
use weir_core::{NodeId, Rate};

/// How many of everything there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// Number of hosts.
    pub hosts: usize,
    /// Number of switches.
    pub switches: usize,
    /// Number of switches per layer, bottom to top, layers without any left out.
    pub layers: Vec<(Layer, usize)>,
    /// Number of links.
    pub links: usize,
    /// Links by the layers they join, bottom to top.
    pub tiers: Vec<Tier>,
    /// The most ports any switch has.
    pub most_ports: usize,
}

/// All links between two layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The lower layer.
    pub lower: Layer,
    /// The upper layer; the same for links inside a layer.
    pub upper: Layer,
    /// Number of links.
    pub links: usize,
    /// Their speeds together, in one direction.
    pub capacity: Rate,
    /// The slowest and the fastest of them.
    pub rates: (Rate, Rate),
}

impl Census {
    /// Counts.
    pub fn new(topo: &Topology) -> Self {
        let count = |layer| topo.nodes().iter().filter(|n| n.layer == layer).count();
        let layers =
            Layer::ALL.into_iter().skip(1).map(|layer| (layer, count(layer))).filter(|l| l.1 > 0);
        let switches = topo.nodes().len() - topo.hosts().len();
        Self {
            hosts: topo.hosts().len(),
            switches,
            layers: layers.collect(),
            links: topo.links().len(),
            tiers: tiers(topo),
            most_ports: topo.switches().map(|n| topo.ports(n).len()).max().unwrap_or(0),
        }
    }
}

fn tiers(topo: &Topology) -> Vec<Tier> {
    let mut tiers: Vec<Tier> = Vec::new();
    for link in topo.links() {
        let mut ends = [link.a.0, link.b.0].map(|n| topo.node(n).layer);
        ends.sort();
        let [lower, upper] = ends;
        match tiers.iter_mut().find(|t| (t.lower, t.upper) == (lower, upper)) {
            Some(tier) => {
                tier.links += 1;
                tier.capacity = sum(tier.capacity, link.rate);
                tier.rates = (tier.rates.0.min(link.rate), tier.rates.1.max(link.rate));
            }
            None => tiers.push(Tier {
                lower,
                upper,
                links: 1,
                capacity: link.rate,
                rates: (link.rate, link.rate),
            }),
        }
    }
    tiers.sort_by_key(|t| (t.lower, t.upper));
    tiers
}

fn sum(a: Rate, b: Rate) -> Rate {
    Rate::from_bps(a.as_bps().saturating_add(b.as_bps()))
}

/// Capacity towards the hosts against capacity towards the core, for the switches of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oversubscription {
    /// The layer.
    pub layer: Layer,
    /// The switch where the ratio is worst.
    pub worst: NodeId,
    /// Capacity of its links to lower layers.
    pub down: Rate,
    /// Capacity of its links to higher layers.
    pub up: Rate,
}

impl Oversubscription {
    /// Down over up: 2.0 means 2:1. Infinite when nothing leads up any more.
    pub fn ratio(&self) -> f64 {
        self.down.as_bps() as f64 / self.up.as_bps() as f64
    }
}

/// The worst switch of every layer that has something above it, bottom to top. Links inside a
/// layer and switches without layers are left out.
pub fn oversubscription(topo: &Topology) -> Vec<Oversubscription> {
    let mut worst: Vec<Oversubscription> = Vec::new();
    let layers = topo.nodes().iter().map(|n| n.layer);
    let Some(top) = layers.filter(|&layer| layer != Layer::Other).max() else { return worst };
    for n in topo.switches() {
        let layer = topo.node(n).layer;
        if layer >= top {
            continue;
        }
        let mut here =
            Oversubscription { layer, worst: n, down: Rate::default(), up: Rate::default() };
        for end in topo.ports(n) {
            let peer = topo.node(end.peer).layer;
            let rate = topo.link(end.link).rate;
            if above(peer, layer) {
                here.up = sum(here.up, rate);
            } else if above(layer, peer) {
                here.down = sum(here.down, rate);
            }
        }
        match worst.iter_mut().find(|w| w.layer == layer) {
            Some(w) if is_worse(&here, w) => *w = here,
            Some(_) => {}
            None => worst.push(here),
        }
    }
    worst.sort_by_key(|w| w.layer);
    worst
}

fn above(a: Layer, b: Layer) -> bool {
    a != Layer::Other && a > b
}

/// Whether down/up of `a` exceeds that of `b`, by cross multiplication.
fn is_worse(a: &Oversubscription, b: &Oversubscription) -> bool {
    let [ad, au, bd, bu] = [a.down, a.up, b.down, b.up].map(|r| u128::from(r.as_bps()));
    ad * bu > bd * au
}
