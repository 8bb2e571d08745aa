//! How far apart the farthest hosts are.

use crate::routes::graph::Graph;
use crate::topology::{Link, Topology};
use weir_core::{Bytes, LinkId, NodeId, Rate, Time};

/// What travels there and back, to turn distances into times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttModel {
    /// A full data frame on the wire.
    pub frame: Bytes,
    /// An acknowledgement on the wire; zero to leave its serialisation out.
    pub ack: Bytes,
    /// Forwarding latency of each switch.
    pub switch: Time,
}

impl Default for RttModel {
    /// Frames of 1000 B payload with 48 B of headers and acknowledgements of 64 B, each with 20 B
    /// of preamble and gap and 4 B of checksum; switches without latency.
    fn default() -> Self {
        Self { frame: Bytes::new(1072), ack: Bytes::new(84), switch: Time::ZERO }
    }
}

impl RttModel {
    /// Store and forward: each link costs its delay twice and one frame each way.
    fn link(&self, link: &Link) -> u128 {
        let times =
            [link.delay, link.delay, link.rate.time_for(self.frame), link.rate.time_for(self.ack)];
        times.iter().map(|t| u128::from(t.as_ps())).sum()
    }
}

/// The pair of hosts with the longest round trip over shortest paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongestPath {
    /// One host.
    pub src: NodeId,
    /// The other host.
    pub dst: NodeId,
    /// The diameter: links between the two hosts that are most links apart. (Not
    /// necessarily this pair, if some links are slow.)
    pub diameter: u32,
    /// Round trip of a frame and its acknowledgement through an empty network.
    pub rtt: Time,
    /// The slowest link on the way.
    pub bottleneck: Rate,
    /// What fits into the pipe: round trip times the bottleneck, whole bytes.
    pub bdp: Bytes,
    /// Pairs of hosts without any path are left out; this says that there are some.
    pub disconnected: bool,
}

impl LongestPath {
    /// Looks at all pairs; `None` when no two hosts are connected.
    pub fn new(topo: &Topology, model: &RttModel) -> Option<Self> {
        let graph = Graph::new(topo, &[]);
        let ends = Ends::new(topo, &graph, model);
        let mut walk = Walk::new(&graph);
        let mut best: Option<Candidate> = None;
        let (mut diameter, mut disconnected) = (0, false);
        for &target in &graph.columns {
            walk.towards(topo, &graph, model, target);
            for &source in &graph.columns {
                let Some((cost, hops, rate)) = walk.from(source) else {
                    disconnected = true;
                    continue;
                };
                let Some(mut here) = ends.pair(source, target) else { continue };
                here.cost += cost;
                here.hops += hops;
                here.rate = here.rate.min(rate);
                // the switches between n links, there and back
                let switches = u128::from(here.hops.saturating_sub(1));
                here.cost += 2 * switches * u128::from(model.switch.as_ps());
                diameter = diameter.max(here.hops);
                best = match best {
                    Some(b) if b.cost >= here.cost => Some(b),
                    _ => Some(here),
                };
            }
        }
        let best = best?;
        let rtt = Time::from_ps(u64::try_from(best.cost).unwrap_or(u64::MAX));
        let bdp = best.rate.bytes_in(rtt);
        Some(Self {
            src: best.src,
            dst: best.dst,
            diameter,
            rtt,
            bottleneck: best.rate,
            bdp,
            disconnected,
        })
    }
}

#[derive(Clone, Copy)]
struct Candidate {
    src: NodeId,
    dst: NodeId,
    cost: u128,
    hops: u32,
    rate: Rate,
}

/// The costliest hosts at each row: two, so that a switch's own pair is found too.
struct Ends(Vec<Vec<End>>);

#[derive(Clone, Copy)]
struct End {
    host: NodeId,
    cost: u128,
    hops: u32,
    rate: Rate,
}

impl Ends {
    fn new(topo: &Topology, graph: &Graph, model: &RttModel) -> Self {
        let mut ends: Vec<Vec<End>> = vec![Vec::new(); graph.len()];
        let fastest = Rate::from_bps(u64::MAX);
        for &host in topo.hosts() {
            let at = graph.targets[host.index()].at;
            let Some(&row) = graph.row_of.get(at.index()) else { continue };
            let end = if at == host {
                End { host, cost: 0, hops: 0, rate: fastest }
            } else {
                let link = topo.link(topo.ports(host)[0].link);
                End { host, cost: model.link(link), hops: 1, rate: link.rate }
            };
            let list = &mut ends[row as usize];
            list.push(end);
            list.sort_by_key(|e| (std::cmp::Reverse(e.cost), e.host));
            list.truncate(2);
        }
        Self(ends)
    }

    /// The costliest two different hosts at these rows.
    fn pair(&self, source: u32, target: u32) -> Option<Candidate> {
        let second = usize::from(source == target);
        let a = self.0[source as usize].first()?;
        let b = self.0[target as usize].get(second)?;
        Some(Candidate {
            src: a.host,
            dst: b.host,
            cost: a.cost + b.cost,
            hops: a.hops + b.hops,
            rate: a.rate.min(b.rate),
        })
    }
}

/// The costliest of the shortest paths to one target.
struct Walk {
    hops: Vec<u32>,
    cost: Vec<u128>,
    rate: Vec<Rate>,
    queue: Vec<u32>,
}

const FAR: u32 = u32::MAX;

impl Walk {
    fn new(graph: &Graph) -> Self {
        let n = graph.len();
        Self { hops: vec![FAR; n], cost: vec![0; n], rate: vec![Rate::default(); n], queue: vec![] }
    }

    fn towards(&mut self, topo: &Topology, graph: &Graph, model: &RttModel, target: u32) {
        self.hops.fill(FAR);
        self.hops[target as usize] = 0;
        self.cost[target as usize] = 0;
        self.rate[target as usize] = Rate::from_bps(u64::MAX);
        self.queue.clear();
        self.queue.push(target);
        let mut next = 0;
        while let Some(&row) = self.queue.get(next) {
            next += 1;
            if row != target && graph.is_host[row as usize] {
                continue;
            }
            for edge in graph.edges(row) {
                let peer = edge.peer as usize;
                let further = self.hops[row as usize] + 1;
                if self.hops[peer] == FAR {
                    self.hops[peer] = further;
                    self.cost[peer] = 0;
                    self.queue.push(edge.peer);
                }
                if self.hops[peer] == further {
                    let end = topo.port(graph.node_of[row as usize], edge.port);
                    self.improve(topo, model, (row as usize, peer), end.link);
                }
            }
        }
    }

    /// Takes the way from `peer` over `link` and `row` if it costs more than what was known.
    fn improve(
        &mut self,
        topo: &Topology,
        model: &RttModel,
        (row, peer): (usize, usize),
        link: LinkId,
    ) {
        let link = topo.link(link);
        let cost = self.cost[row] + model.link(link);
        if cost > self.cost[peer] {
            self.cost[peer] = cost;
            self.rate[peer] = self.rate[row].min(link.rate);
        }
    }

    fn from(&self, source: u32) -> Option<(u128, u32, Rate)> {
        let i = source as usize;
        (self.hops[i] != FAR).then(|| (self.cost[i], self.hops[i], self.rate[i]))
    }
}
