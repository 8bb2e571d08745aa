//! What all nodes of a run read and none writes.

use crate::config::{Config, LinkFailure, Routing};
use crate::error::SimError;
use crate::link::Outages;
use crate::probe::{ProbeSetup, blame};
use crate::thresholds::SwitchThresholds;
use std::sync::Arc;
use weir_cc::hpcc::Telemetry;
use weir_core::control::MIN_FRAME;
use weir_core::{Bytes, LinkId, NodeId, PortId, PrioritySet, Time};
use weir_fc::{LinkState, MmuConfig, Neighbour, NodeSetup, PortSetup, Role, Thresholds};
use weir_net::analysis::{LongestPath, RttModel};
use weir_net::{NodeKind, Routes, Topology, validate_path};

/// Constants of a run.
pub(crate) struct Shared<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) config: &'a Config,
    /// Where switches pause and mark.
    pub(crate) thresholds: SwitchThresholds<'a>,
    /// Route tables with the time from which each is in force, in order.
    pub(crate) epochs: Vec<(Time, Arc<Routes>)>,
    /// Static paths as (node, egress port) lists.
    pub(crate) paths: Vec<Vec<(NodeId, PortId)>>,
    /// Logarithm of the probability that a byte is received without a bit error.
    pub(crate) byte_survival_ln: f64,
    /// The longest round trip of the network without queueing.
    pub(crate) base_rtt: Time,
    /// What fits into it.
    pub(crate) bdp: Bytes,
    /// Switches on the longest path.
    pub(crate) longest_path: u32,
    /// The ports of all switches.
    switch_ports: usize,
    /// Switches write telemetry into data packets, in this form.
    pub(crate) telemetry: Option<Telemetry>,
    /// How far apart receivers send congestion notification packets, if they do.
    pub(crate) cnp_interval: Option<Time>,
    /// What travels beside packets, if blame is asked for.
    lives: Option<Arc<blame::Lives>>,
    /// The number of a node's first port among those of all nodes, if blame is asked for.
    first_ports: Vec<usize>,
}

/// What a run must know of the paths of a network. On a large network this takes most of the time
/// before a run begins, so runs on the same network share it: see
/// [`run_prepared`](crate::run_prepared).
#[derive(Clone, Debug)]
pub struct Prepared {
    routes: Arc<Routes>,
    routing: Routing,
    longest: Option<LongestPath>,
    model: RttModel,
}

impl Prepared {
    /// Works it out for all runs on `topology` that have the routing, packet size and switch
    /// latency of `config`.
    pub fn new(topology: &Topology, config: &Config) -> Self {
        Self::with_routes(topology, config, Arc::new(table(topology, config.routing, &[])))
    }

    /// [`Prepared::new`], where the routes of the whole network are known already.
    pub fn with_routes(topology: &Topology, config: &Config, routes: Arc<Routes>) -> Self {
        let model = rtt_model(config);
        let longest = LongestPath::new(topology, &model);
        Self { routes, routing: config.routing, longest, model }
    }

    /// Whether it is what a run with this configuration on the same network needs.
    pub fn fits(&self, config: &Config) -> bool {
        self.routing == config.routing && self.model == rtt_model(config)
    }
}

fn rtt_model(config: &Config) -> RttModel {
    RttModel { frame: config.nic.payload, ack: Bytes::ZERO, switch: config.switch.hop_latency() }
}

impl<'a> Shared<'a> {
    /// Resolves what a configuration means on a topology.
    pub(crate) fn new(
        topology: &'a Topology,
        config: &'a Config,
        prepared: &Prepared,
    ) -> Result<Self, SimError> {
        let longest = prepared.longest.as_ref();
        let mut paths = Vec::new();
        for path in &config.paths {
            paths.push(validate_path(topology, path)?);
        }
        let mut first_ports = Vec::new();
        let lives = config.probes.blame.then(|| {
            let mut ports = 0;
            for (node, _) in topology.nodes().iter().enumerate() {
                first_ports.push(ports);
                ports += topology.ports(NodeId(node as u32)).len();
            }
            Arc::new(blame::Lives::new(ports))
        });
        Ok(Self {
            topology,
            config,
            lives,
            first_ports,
            thresholds: SwitchThresholds::new(topology, config),
            epochs: epochs(topology, config, &prepared.routes),
            paths,
            byte_survival_ln: 8.0 * libm::log1p(-config.link.bit_error_rate),
            base_rtt: longest.map_or(Time::ZERO, |l| l.rtt),
            bdp: longest.map_or(Bytes::ZERO, |l| l.bdp),
            switch_ports: topology.switches().map(|n| topology.ports(n).len()).sum(),
            longest_path: longest.map_or(0, |l| l.diameter.saturating_sub(1)),
            telemetry: config.cc.telemetry(),
            cnp_interval: config.cc.cnp_interval(),
        })
    }

    /// Whether nodes have enough to do in a window for running them one after the other, in any
    /// order, to beat always looking for the one that is due first: about four packets each.
    pub(crate) fn window_pays(&self) -> bool {
        packets_per_window(self.topology, self.config) / 4 >= self.topology.nodes().len() as u64
    }

    /// The shortest time in which one node can affect another: the lookahead of the engines.
    pub(crate) fn lookahead(&self) -> Time {
        lookahead(self.topology, self.config)
    }
}

/// How many packets arrive in one lookahead, between two meetings of threads, if a quarter of all
/// wire time is used.
pub(crate) fn packets_per_window(topology: &Topology, config: &Config) -> u64 {
    let window = lookahead(topology, config);
    let frame = config.nic.max_frame();
    let of_link = |l: &weir_net::Link| 2 * window.as_ps() / l.rate.time_for(frame).as_ps().max(1);
    topology.links().iter().map(of_link).sum::<u64>() / 4
}

/// The last packet of a flow is not padded, so it may be shorter than any control frame.
pub(crate) fn lookahead(topology: &Topology, config: &Config) -> Time {
    let nic = &config.nic;
    let shortest = (nic.header + Bytes::new(1)).min(nic.ack).min(Bytes::new(MIN_FRAME));
    let shortest = shortest + config.link.overhead;
    let links = topology.links().iter();
    links.map(|l| l.delay + l.rate.time_for(shortest)).min().unwrap_or(Time::from_us(1))
}

fn table(topology: &Topology, routing: Routing, down: &[LinkId]) -> Routes {
    match routing {
        Routing::Ecmp => Routes::ecmp(topology, down),
        Routing::UpDown => Routes::up_down(topology, down),
    }
}

/// Route tables, one for each set of failed links, with the time each comes into force. A link that
/// is down from the start never was part of a route: nothing has to converge.
fn epochs(topology: &Topology, config: &Config, whole: &Arc<Routes>) -> Vec<(Time, Arc<Routes>)> {
    let mut changes: Vec<Time> =
        config.failures.iter().flat_map(|f| [Some(f.down), f.up]).flatten().collect();
    changes.sort_unstable();
    changes.dedup();
    let mut epochs = vec![(Time::ZERO, Arc::clone(whole))];
    for t in changes {
        let is_down = |f: &&LinkFailure| f.down <= t && f.up.is_none_or(|up| t < up);
        let down: Vec<LinkId> = config.failures.iter().filter(is_down).map(|f| f.link).collect();
        let routes = Arc::new(table(topology, config.routing, &down));
        match t {
            Time::ZERO => epochs[0].1 = routes,
            _ => epochs.push((t + config.convergence, routes)),
        }
    }
    epochs
}

impl Shared<'_> {
    /// The constants of a node's ports.
    pub(crate) fn port_setup(&self, node: NodeId) -> Vec<PortSetup> {
        self.topology
            .ports(node)
            .iter()
            .map(|end| {
                let link = self.topology.link(end.link);
                let neighbour = match self.topology.node(end.peer).kind {
                    NodeKind::Switch => {
                        let latency = self.config.switch.hop_latency();
                        Neighbour { role: Role::Switch, latency }
                    }
                    NodeKind::Host => Neighbour::NIC,
                };
                PortSetup { rate: link.rate, delay: link.delay, neighbour }
            })
            .collect()
    }

    /// A node's buffer configuration.
    pub(crate) fn mmu(&self, role: Role, ports: &[PortSetup]) -> MmuConfig {
        let switch = &self.config.switch;
        let nic = &self.config.nic;
        let exempt = match nic.acks_with_data {
            true => PrioritySet::EMPTY,
            false => PrioritySet::only(nic.ack_priority),
        };
        match role {
            Role::Nic => MmuConfig {
                buffer: Bytes::MAX,
                thresholds: Thresholds::Pool,
                lossless: switch.lossless,
                exempt: PrioritySet::ALL,
            },
            Role::Switch => MmuConfig {
                buffer: switch.buffer,
                thresholds: self.thresholds.memory(ports),
                lossless: switch.lossless - exempt,
                exempt,
            },
        }
    }

    /// What a scheme is told about a node.
    pub(crate) fn node_setup<'b>(
        &'b self,
        node: NodeId,
        role: Role,
        ports: &'b [PortSetup],
        mmu: &'b MmuConfig,
    ) -> NodeSetup<'b> {
        NodeSetup {
            node,
            role,
            ports,
            schedule: &self.config.switch.schedule,
            lossless: mmu.lossless,
            thresholds: &mmu.thresholds,
            max_frame: self.config.nic.max_frame(),
            response: self.config.link.response,
            seed: self.config.seed,
        }
    }

    /// What a probe is told about a node.
    pub(crate) fn probe_setup(&self, node: NodeId, role: Role) -> ProbeSetup<'_> {
        let slow = self.config.receivers.iter().any(|r| r.host == node);
        ProbeSetup {
            node,
            role,
            may_pause: role == Role::Switch || slow,
            ports: self.topology.ports(node).len(),
            switch_ports: self.switch_ports,
            fixed_tables: false,
            config: &self.config.probes,
        }
    }

    /// What the probe for blame needs at a node, if it is asked for.
    pub(crate) fn blame_setup(&self, node: NodeId, role: Role) -> Option<blame::Setup> {
        let lives = Arc::clone(self.lives.as_ref()?);
        let first = self.first_ports[node.index()];
        let ends = self.topology.ports(node).iter().enumerate();
        let of = ends.map(|(port, end)| {
            let out = self.first_ports[end.peer.index()] + end.peer_port.index();
            (self.topology.link(end.link).rate, out, first + port)
        });
        Some(blame::Setup {
            node,
            role,
            ports: blame::Ports { of: of.collect(), overhead: self.config.link.overhead },
            latency: self.config.switch.hop_latency(),
            pipelined: self.config.switch.pipeline.is_some(),
            most_pauses: self.config.probes.pause_events,
            lives,
        })
    }

    /// When the link at a port is down.
    pub(crate) fn outages(&self, link: LinkId) -> Outages {
        let mut outages = Outages::default();
        for failure in self.config.failures.iter().filter(|f| f.link == link) {
            outages.add(failure.down, failure.up);
        }
        outages
    }

    /// Admin events of a node, in order.
    pub(crate) fn admin(&self, node: NodeId) -> Vec<(Time, Admin)> {
        let mut events = Vec::new();
        for (p, end) in self.topology.ports(node).iter().enumerate() {
            let port = PortId::from_index(p);
            for (down, up) in self.outages(end.link).iter() {
                events.push((down, Admin::Link { port, link: LinkState::Down }));
                if up != Time::NEVER {
                    events.push((up, Admin::Link { port, link: LinkState::Up }));
                }
            }
        }
        for (i, (from, _)) in self.epochs.iter().enumerate().skip(1) {
            events.push((*from, Admin::Epoch(i)));
        }
        if self.config.probes.warm_up > Time::ZERO {
            events.push((self.config.probes.warm_up, Admin::WarmUpOver));
        }
        events.sort_by_key(|e| e.0);
        events
    }
}

/// Something that happens to a node from outside, on a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admin {
    /// The link at a port fails or recovers.
    Link { port: PortId, link: LinkState },
    /// Another route table is in force.
    Epoch(usize),
    /// Statistics start here.
    WarmUpOver,
}

/// A node's schedule of admin events.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Schedule {
    next: Time,
    at: usize,
    events: Vec<(Time, Admin)>,
}

impl Schedule {
    pub(crate) fn new(events: Vec<(Time, Admin)>) -> Self {
        let next = events.first().map_or(Time::NEVER, |e| e.0);
        Self { events, at: 0, next }
    }

    /// When the next one is due.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, Admin)> {
        let event = self.events.get(self.at).copied();
        self.at += 1;
        self.next = self.events.get(self.at).map_or(Time::NEVER, |e| e.0);
        event
    }
}
