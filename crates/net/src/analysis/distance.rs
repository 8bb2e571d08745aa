//! How far apart the farthest hosts are.

use crate::routes::graph::{Edge, Graph};
use crate::topology::{Link, Topology};
use std::collections::BTreeSet;
use weir_core::{Bytes, NodeId, Rate, Time};

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
    fn link(&self, link: &Link) -> u64 {
        let times =
            [link.delay, link.delay, link.rate.time_for(self.frame), link.rate.time_for(self.ack)];
        times.iter().map(|t| t.as_ps()).fold(0, u64::saturating_add)
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
        let walk = Walk::new(topo, &graph, model);
        let targets = without_twins(&graph, &walk, &ends);
        Self::among(topo, model, &graph, &ends, walk, &targets)
    }

    /// The longest way to any of these targets.
    fn among(
        topo: &Topology,
        model: &RttModel,
        graph: &Graph,
        ends: &Ends,
        mut walk: Walk,
        targets: &[u32],
    ) -> Option<Self> {
        let mut best: Option<Candidate> = None;
        let (mut diameter, mut disconnected) = (0, false);
        for &target in targets {
            walk.towards(graph, target);
            for &source in &graph.columns {
                if walk.hops[source as usize] == FAR {
                    disconnected = true;
                    continue;
                }
                let Some(mut here) = ends.pair(source, target) else { continue };
                here.hops += walk.hops[source as usize];
                // the switches between n links, there and back
                let switches = 2 * u64::from(here.hops.saturating_sub(1));
                here.cost = here
                    .cost
                    .saturating_add(walk.cost[source as usize])
                    .saturating_add(model.switch.as_ps().saturating_mul(switches));
                diameter = diameter.max(here.hops);
                if best.is_none_or(|b| here.cost > b.cost) {
                    best = Some(here);
                }
            }
        }
        let Candidate { src, dst, source, target, cost, rate, .. } = best?;
        walk.towards(graph, target);
        let bottleneck = rate.min(walk.slowest(topo, graph, source));
        let rtt = Time::from_ps(cost);
        let bdp = bottleneck.bytes_in(rtt);
        Some(Self { src, dst, diameter, rtt, bottleneck, bdp, disconnected })
    }
}

/// Two hosts, the rows they hang on, and what their own links cost.
#[derive(Clone, Copy)]
struct Candidate {
    src: NodeId,
    dst: NodeId,
    source: u32,
    target: u32,
    cost: u64,
    hops: u32,
    rate: Rate,
}

/// The costliest hosts at each row: two, so that a switch's own pair is found too.
struct Ends(Vec<Vec<End>>);

#[derive(Clone, Copy)]
struct End {
    host: NodeId,
    cost: u64,
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
            source,
            target,
            cost: a.cost.saturating_add(b.cost),
            hops: a.hops + b.hops,
            rate: a.rate.min(b.rate),
        })
    }
}

/// The targets, without those that have an earlier twin: the same neighbours over links of the
/// same cost, and hosts of the same cost. What is true of the paths to one is true of those to the
/// other, so that all ToRs of a pod are looked at once.
fn without_twins(graph: &Graph, walk: &Walk, ends: &Ends) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    let is_first = |row: &u32| {
        let peers = graph.edges(*row).iter().map(|e| e.peer);
        let costs = walk.edge_cost[graph.span(*row)].iter().copied();
        let mut edges: Vec<(u32, u64)> = peers.zip(costs).collect();
        edges.sort_unstable();
        let hosts = ends.0[*row as usize].iter().map(|e| (e.cost, e.hops, e.rate));
        seen.insert((graph.is_host[*row as usize], edges, hosts.collect::<Vec<_>>()))
    };
    graph.columns.iter().copied().filter(is_first).collect()
}

/// The costliest of the shortest paths to one target.
struct Walk {
    /// What each edge of the graph costs.
    edge_cost: Vec<u64>,
    hops: Vec<u32>,
    cost: Vec<u64>,
    queue: Vec<u32>,
}

const FAR: u32 = u32::MAX;

impl Walk {
    fn new(topo: &Topology, graph: &Graph, model: &RttModel) -> Self {
        let mut edge_cost = Vec::with_capacity(graph.all_edges().len());
        for &node in &graph.node_of {
            for edge in graph.edges(graph.row_of[node.index()]) {
                edge_cost.push(model.link(topo.link(topo.port(node, edge.port).link)));
            }
        }
        let n = graph.len();
        Self { edge_cost, hops: vec![FAR; n], cost: vec![0; n], queue: Vec::with_capacity(n) }
    }

    fn towards(&mut self, graph: &Graph, target: u32) {
        self.hops.fill(FAR);
        self.hops[target as usize] = 0;
        self.cost[target as usize] = 0;
        self.queue.clear();
        self.queue.push(target);
        let mut next = 0;
        while let Some(&row) = self.queue.get(next) {
            next += 1;
            if row != target && graph.is_host[row as usize] {
                continue;
            }
            let (further, here) = (self.hops[row as usize] + 1, self.cost[row as usize]);
            let costs = &self.edge_cost[graph.span(row)];
            for (edge, &cost) in graph.edges(row).iter().zip(costs) {
                let peer = edge.peer as usize;
                if self.hops[peer] == FAR {
                    self.hops[peer] = further;
                    self.cost[peer] = 0;
                    self.queue.push(edge.peer);
                }
                if self.hops[peer] == further {
                    self.cost[peer] = self.cost[peer].max(here.saturating_add(cost));
                }
            }
        }
    }

    /// The slowest link on the costliest way from `row` to the target.
    fn slowest(&self, topo: &Topology, graph: &Graph, mut row: u32) -> Rate {
        let mut slowest = Rate::from_bps(u64::MAX);
        while self.hops[row as usize] > 0 {
            let here = row as usize;
            let nearer = |(edge, _): &(&Edge, &u64)| {
                let peer = edge.peer as usize;
                let through = self.hops[peer] == 0 || !graph.is_host[peer];
                self.hops[peer] == self.hops[here] - 1 && through
            };
            let edges = graph.edges(row).iter().zip(&self.edge_cost[graph.span(row)]);
            let worst = edges
                .filter(nearer)
                .max_by_key(|(edge, cost)| self.cost[edge.peer as usize].saturating_add(**cost));
            let Some((edge, _)) = worst else { break };
            let link = topo.port(graph.node_of[here], edge.port).link;
            slowest = slowest.min(topo.link(link).rate);
            row = edge.peer;
        }
        slowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{explicit, flowsail_1024, k_ary};

    /// Twins are left out: the answer must be that of looking at all targets.
    #[test]
    fn leaving_out_twins_changes_nothing() {
        let graph = explicit::read(
            "host a b c d e\nswitch s t u v w\nrate 10Gbps\ndelay 1us\n\
             link a s\nlink b t 1Gbps 5us\nlink c t\nlink d u\n\
             link s v\nlink t v\nlink u v 40Gbps 2us\n\
             link s w\nlink t w\nlink u w\nlink e v\nlink e w",
        );
        let topologies = [
            explicit::build(&graph.unwrap()).unwrap(),
            k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap(),
            flowsail_1024::build(&flowsail_1024::Params::default()).unwrap(),
        ];
        let model = RttModel { switch: Time::from_ns(300), ..RttModel::default() };
        for (i, topo) in topologies.iter().enumerate() {
            let graph = Graph::new(topo, &[]);
            let ends = Ends::new(topo, &graph, &model);
            let walk = Walk::new(topo, &graph, &model);
            let fewer = without_twins(&graph, &walk, &ends).len();
            assert_eq!(fewer < graph.columns.len(), i > 0, "topology {i}");
            let all = LongestPath::among(topo, &model, &graph, &ends, walk, &graph.columns.clone());
            assert_eq!(LongestPath::new(topo, &model), all, "topology {i}");
        }
    }
}
