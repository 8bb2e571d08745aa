//! The whole run on one screen: build, simulate, report.

use crate::config::{
    Config, EngineConfig, PipelineConfig, Reliability, Stop, ThresholdConfig, WindowConfig,
};
use crate::deadlock;
use crate::engine::partition::Partition;
use crate::engine::sequential::Sequential;
use crate::engine::window::Window;
use crate::engine::{Engine, Part};
use crate::error::SimError;
use crate::nic::Nic;
use crate::node::Node;
use crate::outcome::{Finish, Outcome};
use crate::probe::Hears;
use crate::report;
use crate::shared::{self, Prepared, Shared};
use crate::switch::Switch;
use crate::tree::HORIZON;
use crate::wire::{WireNumbers, Wires};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use weir_cc::CcKind;
use weir_core::{Bytes, NodeId, Time};
use weir_net::Topology;
use weir_traffic::{HostFlows, Traffic};

/// Global conditions (the end, deadlocks, interruption) are looked at on this grid of
/// simulated time, the same for every engine.
pub const GRID: Time = Time::from_us(10);

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Flows started.
    pub flows_started: u64,
    /// Flows whose payload has arrived.
    pub flows_completed: u64,
}

/// Watches a run, and may stop it.
pub trait Observer {
    /// Called once, when routes and nodes are there and time begins.
    fn begins(&mut self) {}

    /// Called on the grid. `Break` ends the run as [`Finish::Interrupted`].
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()>;
}

/// Nobody watches.
impl Observer for () {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Runs `traffic` over `topology` under `config`.
pub fn run(
    topology: &Topology,
    traffic: &Traffic,
    config: &Config,
    observer: &mut dyn Observer,
) -> Result<Outcome, SimError> {
    check(config)?;
    run_prepared(topology, &Prepared::new(topology, config), traffic, config, observer)
}

/// [`run`], with what several runs on the same topology share; the outcome is the same. What was
/// prepared for another routing, packet size or switch latency is not used.
pub fn run_prepared(
    topology: &Topology,
    prepared: &Prepared,
    traffic: &Traffic,
    config: &Config,
    observer: &mut dyn Observer,
) -> Result<Outcome, SimError> {
    check(config)?;
    let fresh;
    let prepared = match prepared.fits(config) {
        true => prepared,
        false => {
            fresh = Prepared::new(topology, config);
            &fresh
        }
    };
    let shared = Shared::new(topology, config, prepared)?;
    let mut world = World::build(&shared, traffic)?;
    observer.begins();
    let finish = world.simulate(observer);
    report::outcome(world.into_remains(), finish)
}

/// How many threads a run would use: what was asked for, at most as many as there is enough work
/// for in each window.
pub fn threads(topology: &Topology, config: &Config) -> usize {
    Partition::new(topology, shared::threads(topology, config)).parts.len()
}

/// Settings that no model can work with.
fn check(config: &Config) -> Result<(), SimError> {
    let setting = |what, value: String, valid| Err(SimError::Setting { what, value, valid });
    let frame = config.nic.max_frame();
    if frame > Bytes::new(u64::from(u16::MAX)) {
        return Err(SimError::FrameTooLarge(frame));
    }
    if config.nic.payload == Bytes::ZERO {
        return setting("payload", "0 B".into(), "a packet carries at least one byte");
    }
    if config.nic.ack == Bytes::ZERO || config.nic.ack.get() > u64::from(u16::MAX) {
        return setting("ack", config.nic.ack.to_string(), "1 to 65535 B");
    }
    if !(0.0..1.0).contains(&config.link.bit_error_rate) {
        let value = config.link.bit_error_rate.to_string();
        return setting("bit-error-rate", value, "a probability from 0 to below 1");
    }
    if config.link.overhead.get() > u64::from(u16::MAX) {
        return setting("overhead", config.link.overhead.to_string(), "at most 65535 B");
    }
    if let Stop::At(t) = config.stop
        && t > HORIZON
    {
        return setting("until", t.to_string(), "a run lasts at most 2^46 ps, about 70 s");
    }
    check_transport(config)?;
    if let Some(pipeline) = config.switch.pipeline {
        check_pipeline(config, &pipeline)?;
    }
    if let Some(ecn) = config.switch.ecn
        && ecn.kmin > ecn.kmax
    {
        return setting("kmin", ecn.kmin.to_string(), "kmin must not be above kmax");
    }
    Ok(())
}

/// Settings of hosts that do not go together.
fn check_transport(config: &Config) -> Result<(), SimError> {
    let setting = |what, value: String, valid| Err(SimError::Setting { what, value, valid });
    let nic = &config.nic;
    if nic.reliability != Reliability::Tcp {
        return match nic.acks_with_data {
            true => setting(
                "ack-priority",
                "data".into(),
                "only TCP's ACKs can have the priority of their data",
            ),
            false => Ok(()),
        };
    }
    if config.cc.kind() != Some(CcKind::None) {
        let valid = "TCP is its own congestion control: `none`";
        return setting("congestion control", config.cc.name().into(), valid);
    }
    if nic.window != WindowConfig::FromCc {
        let valid = "TCP has a congestion window and a receive window of its own";
        return setting("window", format!("{:?}", nic.window), valid);
    }
    if let Some(timeout) = nic.timeout {
        let valid = "TCP has a timer of its own, which starts from `rto_min`";
        return setting("timeout", timeout.to_string(), valid);
    }
    Ok(())
}

/// A processor takes at least a picosecond per packet.
const MAX_PROCESSOR_RATE: u64 = 1_000_000_000_000;

/// Settings that a pipelined switch cannot work with.
fn check_pipeline(config: &Config, pipeline: &PipelineConfig) -> Result<(), SimError> {
    let setting = |what, value: String, valid| Err(SimError::Setting { what, value, valid });
    if config.switch.latency != Time::ZERO {
        let value = config.switch.latency.to_string();
        return setting(
            "latency",
            value,
            "a pipelined switch has `delay` in `[switch.pipeline]` instead",
        );
    }
    if matches!(config.switch.thresholds, ThresholdConfig::Dynamic { .. }) {
        return setting("thresholds", "dynamic".into(), "those of a pipelined switch are static");
    }
    if pipeline.rate == 0 || pipeline.rate > MAX_PROCESSOR_RATE {
        let valid = "1 to 10^12 packets per second";
        return setting("processor rate", pipeline.rate.to_string(), valid);
    }
    let frame = config.nic.max_frame();
    let longest = config.switch.longest_egress().unwrap_or(Bytes::MAX);
    if longest < frame {
        let valid = "an egress queue holds at least one full frame";
        return setting("egress limit", longest.to_string(), valid);
    }
    Ok(())
}

/// All nodes and what is between them.
pub(crate) struct World<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) parts: Vec<Part>,
    partition: Partition,
    /// When a probe is to take its next sample.
    sample_at: Time,
    pub(crate) now: Time,
}

impl<'a> World<'a> {
    fn build(shared: &'a Shared<'a>, traffic: &Traffic) -> Result<Self, SimError> {
        let topology = shared.topology;
        let partition = Partition::new(topology, shared.threads());
        let mut sources: FxHashMap<NodeId, HostFlows> =
            traffic.sources(shared.config.seed).into_iter().map(|s| (s.host(), s)).collect();
        let numbers = WireNumbers::new(topology, &partition.parts);
        let shares: Vec<Vec<Option<HostFlows>>> = partition
            .parts
            .iter()
            .map(|ids| ids.iter().map(|id| sources.remove(id)).collect())
            .collect();
        let build = |(p, share)| build_part(shared, &partition, &numbers, p, share);
        let mut shares = shares.into_iter().enumerate();
        // each part by the thread that would run it, so that its memory is together, too
        let parts = std::thread::scope(|scope| {
            let mine = shares.next().map(|share| move || build(share));
            let others: Vec<_> = shares.map(|share| scope.spawn(move || build(share))).collect();
            let others = others.into_iter().map(|o| o.join().expect("parts are built"));
            mine.map(|mine| mine()).into_iter().chain(others).collect::<Result<Vec<_>, _>>()
        })?;
        let sample_at = next_sample(&parts);
        let mut world = Self { shared, parts, partition, sample_at, now: Time::ZERO };
        world.pin_paths(traffic)?;
        Ok(world)
    }

    /// All nodes, in no particular order.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
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

    fn engine(&mut self) -> Box<dyn Engine> {
        let (lookahead, topology) = (self.shared.lookahead(), self.shared.topology);
        let adapts = matches!(self.shared.config.engine, EngineConfig::Auto { .. });
        let window = |parts: &mut [Part]| {
            Box::new(Window::new(parts, topology, &self.partition, lookahead, adapts))
        };
        match (self.shared.config.engine, &mut self.parts[..]) {
            (EngineConfig::Stepwise, [part]) => Box::new(Sequential::new(part, Time::from_ps(1))),
            (EngineConfig::Window { .. }, parts) => window(parts),
            (EngineConfig::Auto { .. }, parts @ [_]) if self.shared.window_pays() => window(parts),
            (_, [part]) => Box::new(Sequential::new(part, lookahead)),
            (_, parts) => window(parts),
        }
    }

    /// Moves from grid point to grid point until there is a reason to stop.
    fn simulate(&mut self, observer: &mut dyn Observer) -> Finish {
        let mut engine = self.engine();
        let stop = match self.shared.config.stop {
            Stop::Drained => HORIZON,
            Stop::At(t) => t,
        };
        let mut watch = deadlock::Watch::new(self);
        self.at_grid_point();
        loop {
            // Samples must not change the instants at which the run as a whole is looked at.
            let grid = self.next_grid().min(stop);
            while self.sample_at < grid {
                self.advance(&mut *engine, self.sample_at);
                self.sample();
            }
            self.advance(&mut *engine, grid);
            self.at_grid_point();
            if self.sample_at == grid {
                self.sample();
            }
            if let Some(finish) = self.finished(stop, &mut watch) {
                return finish;
            }
            if observer.progress(&self.progress()).is_break() {
                return Finish::Interrupted;
            }
        }
    }

    /// Moves everything up to `target`.
    fn advance(&mut self, engine: &mut dyn Engine, target: Time) {
        engine.advance(&mut self.parts, &mut self.partition, self.shared, target);
        self.now = target;
    }

    /// The next grid point at which there can be something to see: idle stretches are skipped.
    fn next_grid(&self) -> Time {
        let next = self.parts.iter().map(Part::earliest).min().unwrap_or(Time::NEVER);
        let from = if next == Time::NEVER { self.now } else { next.max(self.now) };
        let grid = GRID.as_ps();
        Time::from_ps((from.as_ps() / grid + 1).saturating_mul(grid))
    }

    fn finished(&self, stop: Time, watch: &mut deadlock::Watch) -> Option<Finish> {
        if self.drained() {
            return Some(Finish::Drained);
        }
        if self.now >= stop {
            return Some(Finish::TimeLimit);
        }
        watch.find(self)
    }

    /// All flows over and nothing but control frames anywhere.
    fn drained(&self) -> bool {
        self.nodes().all(|n| match n {
            Node::Nic(n) => n.all_flows_over() && n.packets_inside() == 0,
            Node::Switch(s) => s.books.mmu.used() == Bytes::ZERO && s.pipeline.is_empty(),
        }) && !self.carries_traffic()
    }

    /// Lets probes look at their nodes.
    fn at_grid_point(&mut self) {
        let now = self.now;
        for node in self.parts.iter_mut().flat_map(|p| &mut p.nodes) {
            if node.probes().hear(Hears::GRID) {
                node.show(|probes, sight| probes.grid(now, sight));
            }
        }
    }

    /// Lets probes that are due take their samples.
    fn sample(&mut self) {
        let now = self.now;
        for node in self.parts.iter_mut().flat_map(|p| &mut p.nodes) {
            node.show(|probes, sight| probes.sample(now, sight));
        }
        self.sample_at = next_sample(&self.parts);
    }

    fn progress(&self) -> Progress {
        let mut p = Progress {
            now: self.now,
            packet_hops: 0,
            events: 0,
            flows_started: 0,
            flows_completed: 0,
        };
        for node in self.nodes() {
            p.packet_hops += node.tally().hops;
            p.events += node.tally().hops + node.tally().events;
            if let Node::Nic(n) = node {
                p.flows_started += n.count.started;
                p.flows_completed += n.count.completed;
            }
        }
        p
    }

    /// Takes the world apart: all nodes by id, and what is left on the wires.
    pub(crate) fn into_remains(self) -> Remains<'a> {
        let (nodes, wires): (Vec<_>, Vec<_>) =
            self.parts.into_iter().map(|p| (p.nodes, p.wires)).unzip();
        let mut nodes: Vec<Node> = nodes.into_iter().flatten().collect();
        nodes.sort_unstable_by_key(Node::id);
        Remains { shared: self.shared, nodes, wires, now: self.now }
    }
}

/// The nodes of a part, with the flows of its hosts, and the wires into them.
fn build_part(
    shared: &Shared<'_>,
    partition: &Partition,
    numbers: &WireNumbers,
    part: usize,
    sources: Vec<Option<HostFlows>>,
) -> Result<Part, SimError> {
    let topology = shared.topology;
    let scheme = shared.config.scheme.info.name;
    let mut nodes = Vec::with_capacity(sources.len());
    for (&id, source) in partition.parts[part].iter().zip(sources) {
        let node = if topology.is_host(id) {
            let source = source.expect("the traffic was planned for these hosts");
            Nic::new(id, source, shared, numbers).map(|n| Node::Nic(Box::new(n)))
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_net::build::{self, k_ary};
    use weir_traffic::pattern::List;
    use weir_traffic::{Fabric, FlowSpec};

    fn config() -> Config {
        Config {
            stop: Stop::At(Time::from_us(35)),
            engine: EngineConfig::Window { threads: 2 },
            ..Config::new(weir_fc::scheme("pfc").unwrap())
        }
    }

    /// Hosts of one thread send to each other through the cores: the other thread, with nothing
    /// else to do, gets all of these. (That nothing else changes is for the tests of engines.)
    #[test]
    fn cores_go_where_there_is_less_to_do() {
        let topology = build::k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap();
        let partition = Partition::new(&topology, 2);
        let cores = |partition: &Partition| -> Vec<usize> {
            partition.parts.iter().zip(&partition.settled).map(|(p, s)| p.len() - s).collect()
        };
        assert_eq!(cores(&partition), [2, 2]);
        let mine: Vec<NodeId> = topology
            .hosts()
            .iter()
            .copied()
            .filter(|h| partition.place[h.index()].0 == 0)
            .collect();
        let flows = (0..mine.len())
            .map(|i| FlowSpec::new(mine[i], mine[(i + 4) % mine.len()], Bytes::from_kb(1000)));
        let rate = topology.rate(mine[0], weir_core::PortId(0));
        let mut plan = Traffic::new(Fabric::uniform(topology.hosts(), rate).unwrap());
        plan.class("test").unwrap();
        plan.add(List { flows: flows.collect() }).unwrap();

        let config = config();
        let prepared = Prepared::new(&topology, &config);
        let shared = Shared::new(&topology, &config, &prepared).unwrap();
        let mut world = World::build(&shared, &plan).unwrap();
        assert_eq!(world.simulate(&mut ()), Finish::TimeLimit);
        assert_eq!(cores(&world.partition), [0, 4]);
        for id in (0..topology.nodes().len()).map(NodeId::from_index) {
            assert_eq!(world.node(id).id(), id);
        }
    }
}
