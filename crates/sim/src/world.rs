//! All nodes and what is between them.

use crate::config::EngineConfig;
use crate::engine::adaptive::Adaptive;
use crate::engine::partition::Partition;
use crate::engine::sequential::Sequential;
use crate::engine::window::Window;
use crate::engine::{Engine, Part};
use crate::error::SimError;
use crate::link::{WireNumbers, Wires};
use crate::nic::Nic;
use crate::nic::jobs::Agent;
use crate::node::Node;
use crate::probe::Hears;
use crate::shared::Shared;
use crate::switch::Switch;
use crate::threads::threads;
use rustc_hash::FxHashMap;
use weir_core::{NodeId, Time};
use weir_traffic::{HostFlows, Traffic};

/// The network of a run at an instant.
pub(crate) struct World<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) parts: Vec<Part>,
    pub(crate) partition: Partition,
    /// Nodes with probes that look at them at every point of the grid.
    on_grid: Vec<NodeId>,
    /// When a probe is to take its next sample.
    pub(crate) sample_at: Time,
    pub(crate) now: Time,
}

impl<'a> World<'a> {
    pub(crate) fn build(shared: &'a Shared<'a>, traffic: &Traffic) -> Result<Self, SimError> {
        let topology = shared.topology;
        let partition = Partition::new(topology, threads(topology, traffic, shared.config));
        let (numbers, shares) = deal(shared, traffic, &partition);
        let build = |(p, share)| build_part(shared, &partition, &numbers, p, share);
        let mut shares = shares.into_iter().enumerate();
        // each part by the thread that would run it, so that its memory is together, too
        let parts = std::thread::scope(|scope| {
            let mine = shares.next().map(|share| move || build(share));
            let others: Vec<_> = shares.map(|share| scope.spawn(move || build(share))).collect();
            let others = others.into_iter().map(|o| o.join().expect("parts are built"));
            mine.map(|mine| mine()).into_iter().chain(others).collect::<Result<Vec<_>, _>>()
        })?;
        Self::of_parts(shared, traffic, partition, parts)
    }

    /// [`World::build`] with every node in a part of its own.
    pub(crate) fn apart(shared: &'a Shared<'a>, traffic: &Traffic) -> Result<Self, SimError> {
        let partition = Partition::apart(shared.topology);
        let (numbers, shares) = deal(shared, traffic, &partition);
        let shares = shares.into_iter().enumerate();
        let parts = shares.map(|(p, share)| build_part(shared, &partition, &numbers, p, share));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        Self::of_parts(shared, traffic, partition, parts)
    }

    fn of_parts(
        shared: &'a Shared<'a>,
        traffic: &Traffic,
        partition: Partition,
        parts: Vec<Part>,
    ) -> Result<Self, SimError> {
        let sample_at = next_sample(&parts);
        let nodes = parts.iter().flat_map(|p| &p.nodes);
        let on_grid = nodes.filter(|n| n.probes().hear(Hears::GRID)).map(Node::id).collect();
        let mut world = Self { shared, parts, partition, on_grid, sample_at, now: Time::ZERO };
        world.pin_paths(traffic)?;
        Ok(world)
    }

    /// All nodes, in no particular order.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> + Clone {
        self.parts.iter().flat_map(|p| &p.nodes)
    }

    /// One node.
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        let (part, place) = self.partition.place[id.index()];
        &self.parts[part as usize].nodes[place as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        let (part, place) = self.partition.place[id.index()];
        &mut self.parts[part as usize].nodes[place as usize]
    }

    /// Whether anything but control frames is in flight.
    pub(crate) fn carries_traffic(&self) -> bool {
        self.parts.iter().any(|p| p.wires.carries_traffic())
    }

    /// Tells switches the next hops of flows with a static path.
    fn pin_paths(&mut self, traffic: &Traffic) -> Result<(), SimError> {
        if self.shared.paths.is_empty() {
            return Ok(());
        }
        let shared = self.shared;
        if traffic.endless() {
            return Err(weir_traffic::TrafficError::Endless.into());
        }
        for flow in traffic.sources(shared.config.seed).into_iter().flatten() {
            let Some(path) = flow.path.and_then(|i| shared.paths.get(i as usize)) else {
                continue;
            };
            for (node, port) in path {
                if let Node::Switch(s) = self.node_mut(*node) {
                    s.pin(flow.id, *port);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn engine(&mut self) -> Box<dyn Engine> {
        let (lookahead, topology) = (self.shared.lookahead(), self.shared.topology);
        let adapts = matches!(self.shared.config.engine, EngineConfig::Auto { .. });
        let window =
            |parts: &mut [Part]| Window::new(parts, topology, &self.partition, lookahead, adapts);
        match (self.shared.config.engine, &mut self.parts[..]) {
            (EngineConfig::Stepwise, [part]) => Box::new(Sequential::new(part, Time::from_ps(1))),
            (EngineConfig::Window { .. }, parts) => Box::new(window(parts)),
            (EngineConfig::Auto { .. }, parts @ [_]) if self.shared.window_pays() => {
                Box::new(window(parts))
            }
            (EngineConfig::Auto { .. }, parts @ [_]) => {
                let window = window(parts);
                Box::new(Adaptive::new(&mut parts[0], window, lookahead))
            }
            (_, [part]) => Box::new(Sequential::new(part, lookahead)),
            (_, parts) => Box::new(window(parts)),
        }
    }

    /// Moves everything up to `target`.
    pub(crate) fn advance(&mut self, engine: &mut dyn Engine, target: Time) {
        engine.advance(&mut self.parts, &mut self.partition, self.shared, target);
        self.now = target;
    }

    /// All flows over and nothing but control frames anywhere.
    pub(crate) fn drained(&self) -> bool {
        self.nodes().all(Node::is_drained) && !self.carries_traffic()
    }

    /// Lets probes look at their nodes.
    pub(crate) fn at_grid_point(&mut self) {
        let now = self.now;
        for id in &self.on_grid {
            let (part, place) = self.partition.place[id.index()];
            let node = &mut self.parts[part as usize].nodes[place as usize];
            node.show(|probes, sight| probes.grid(now, sight));
        }
    }

    /// Lets probes that are due take their samples.
    pub(crate) fn sample(&mut self) {
        let now = self.now;
        for node in self.parts.iter_mut().flat_map(|p| &mut p.nodes) {
            node.show(|probes, sight| probes.sample(now, sight));
        }
        self.sample_at = next_sample(&self.parts);
    }

    /// Takes the world apart: all nodes by id, and what is left on the wires.
    pub(crate) fn into_remains(self) -> Remains<'a> {
        let (nodes, wires): (Vec<_>, Vec<_>) =
            self.parts.into_iter().map(|p| (p.nodes, p.wires)).unzip();
        let mut nodes: Vec<Node> = nodes.into_iter().flatten().collect();
        nodes.sort_unstable_by_key(Node::id);
        let visitors = Visitors::default();
        Remains { shared: self.shared, nodes, wires, now: self.now, visitors }
    }
}

/// What a host has to send: its flows, and the ranks of jobs.
type Share = (Option<HostFlows>, Option<Box<Agent>>);

/// The numbers of the wires, and what the hosts of each part have to send.
fn deal(
    shared: &Shared<'_>,
    traffic: &Traffic,
    partition: &Partition,
) -> (WireNumbers, Vec<Vec<Share>>) {
    let seed = shared.config.seed;
    let mut sources: FxHashMap<NodeId, HostFlows> =
        traffic.sources(seed).into_iter().map(|s| (s.host(), s)).collect();
    let mut agents = Agent::all(traffic, shared.config);
    let numbers = WireNumbers::new(shared.topology, &partition.parts);
    let mut share = |id: &NodeId| (sources.remove(id), agents.remove(id));
    let shares = partition.parts.iter().map(|ids| ids.iter().map(&mut share).collect());
    let shares = shares.collect();
    (numbers, shares)
}

/// The nodes of a part, with the flows of its hosts, and the wires into them.
fn build_part(
    shared: &Shared<'_>,
    partition: &Partition,
    numbers: &WireNumbers,
    part: usize,
    shares: Vec<Share>,
) -> Result<Part, SimError> {
    let topology = shared.topology;
    let scheme = shared.config.scheme.info.name;
    let mut nodes = Vec::with_capacity(shares.len());
    for (&id, (source, agent)) in partition.parts[part].iter().zip(shares) {
        let node = if topology.is_host(id) {
            let source = source.expect("the traffic was planned for these hosts");
            Nic::new(id, source, agent, shared, numbers).map(|n| Node::Nic(Box::new(n)))
        } else {
            Switch::new(id, shared, numbers).map(|s| Node::Switch(Box::new(s)))
        };
        nodes.push(node.map_err(|error| SimError::Scheme { scheme, error })?);
    }
    Ok(Part::new(nodes, Wires::new(topology, &partition.parts, numbers, part)))
}

/// When a probe is to take its next sample.
fn next_sample(parts: &[Part]) -> Time {
    let nodes = parts.iter().flat_map(|p| &p.nodes);
    nodes.map(|n| n.probes().due()).min().unwrap_or(Time::NEVER)
}

/// A world that has stopped.
pub(crate) struct Remains<'a> {
    pub(crate) shared: &'a Shared<'a>,
    /// By id.
    pub(crate) nodes: Vec<Node>,
    pub(crate) wires: Vec<Wires>,
    pub(crate) now: Time,
    /// Packets from outside of the run.
    pub(crate) visitors: Visitors,
}

/// Packets from outside of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visitors {
    /// Given to a node.
    pub entered: u64,
    /// Taken from a node.
    pub left: u64,
}
