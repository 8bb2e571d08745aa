//! From a scenario to something that runs: `Scenario -> Topology + Traffic -> Config`.

use crate::Ecn;
use crate::FailureSpec;
use crate::Problems;
use crate::Route;
use crate::Scenario;
use crate::ScenarioNames;
use crate::TopologySpec;
use crate::control;
use crate::receivers;
use crate::text::{Diagnostic, Diagnostics};
use crate::{PortAt, Window};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use weir_cc::CcKind;
use weir_cc::ecn::Profile;
use weir_cc::tcp::EcnMode;
use weir_core::{
    Bytes, LinkId, NodeId, PortId, Priority, PrioritySet, Rate, Ratio, Response, Time,
};
use weir_fc::{
    FlowControl, NodeSetup, OnFull, PortSetup, PrioritySchedule, Role, SchemeInfo, Senders,
    Thresholds,
};
use weir_net::{Layer, Routes, Topology};
use weir_sim::Prepared;
use weir_sim::config::{
    Config, ControlFault, EcnConfig, EcnScale, EngineConfig, LinkFailure, PipelineConfig,
    Reliability, Routing, Scheme, SlowReceiver, Stop,
};
use weir_sim::probe::{Capture, ProbeConfig, RecordConfig};
use weir_traffic::{Fabric, Traffic};

/// A scenario made concrete: everything but the scheme, the algorithm and the seed is settled.
#[derive(Debug)]
pub struct Experiment {
    /// As written.
    pub scenario: Scenario,
    /// The network; runs of a sweep share it where it is the same.
    pub topology: Arc<Topology>,
    /// The traffic, the same for every scheme.
    pub traffic: Traffic,
    /// Static paths, by index.
    pub paths: Vec<Route>,
    /// Links that fail.
    pub failures: Vec<LinkFailure>,
    /// Control frames that are lost, late or effective twice.
    pub faults: Vec<ControlFault>,
    /// Hosts that take data in slowly.
    pub receivers: Vec<SlowReceiver>,
    /// What is odd but can run.
    pub warnings: Diagnostics,
    /// How to compute it; results do not depend on this.
    pub engine: EngineConfig,
    /// Whether switches and NICs may take shortcuts; never changes a result.
    pub shortcuts: bool,
    /// The time whose pauses and victims are reported.
    pub window: Window,
    /// The frames that its runs keep for captures.
    pub capture: Option<Capture>,
    /// Whether its runs keep where completion times went.
    pub blame: bool,
    /// What its runs record over time.
    pub record: Option<RecordConfig>,
    /// The switch ports of each group of `[report] ports`, in order.
    pub port_groups: Vec<Vec<PortAt>>,
    /// Flows that do not start because the run ends before.
    pub late: u64,
    /// The paths of the whole network: on a large one they take long to find.
    whole: Arc<Routes>,
    /// Those without the links that are never up.
    routes: Arc<Routes>,
    /// What its runs share, and those of other experiments on the same network.
    preparations: Arc<Preparations>,
}

/// One run of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Flow control.
    pub scheme: &'static SchemeInfo,
    /// Congestion control.
    pub cc: CcKind,
    /// Seed.
    pub seed: u64,
}

impl Experiment {
    /// The files this was read from.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.scenario.files.inputs()
    }

    /// Builds the network and puts the traffic on it. What does not fit together is for
    /// [`crate::checks`] to say.
    pub(crate) fn assemble(
        scenario: Scenario,
        out: &mut Diagnostics,
        fabric: impl FnOnce(&TopologySpec, Routing) -> Result<Built, Diagnostic>,
    ) -> Option<Self> {
        let Built { topology, routes: whole, preparations } =
            match fabric(scenario.topology.as_ref()?, scenario.routing.kind) {
                Ok(built) => built,
                Err(error) => {
                    out.push(error);
                    return None;
                }
            };
        let failures = find_links(&scenario.failures, &topology, out);
        let never = never_up(&failures);
        let routes = match never.is_empty() {
            true => Arc::clone(&whole),
            false => Arc::new(route(&topology, scenario.routing.kind, &never)),
        };
        let (traffic, paths) = put_traffic(&scenario, &topology, &routes, out)?;
        let faults = crate::faults::find(&scenario.faults, &topology, out);
        let links = receivers::Links {
            frame: scenario.nic.config.max_frame(),
            latency: scenario.switch.config.latency,
            link: &scenario.link,
        };
        let files = &scenario.files;
        let receivers = receivers::find(&scenario.receivers, &links, files, &topology, out);
        let warnings = Diagnostics::default();
        let engine = EngineConfig::default();
        let mut experiment = Self {
            scenario,
            topology,
            traffic,
            paths,
            failures,
            faults,
            receivers,
            warnings,
            engine,
            shortcuts: true,
            window: Window::ALL,
            capture: None,
            blame: false,
            record: None,
            port_groups: Vec::new(),
            late: 0,
            whole,
            routes,
            preparations,
        };
        let groups = experiment.scenario.report.ports.iter();
        experiment.port_groups = groups.map(|g| g.find(&experiment.topology, out)).collect();
        Some(experiment)
    }

    /// The settings of one run.
    pub fn config(&self, variant: Variant) -> Config {
        let s = &self.scenario;
        let mut switch = s.switch.config.clone();
        let mut nic = s.nic.config;
        let tcp = (nic.reliability == Reliability::Tcp).then_some(s.tcp.params.ecn);
        (switch.ecn, switch.ecn_scale) = marking(s.switch.ecn, variant.cc, tcp);
        let scheme = s.flow_control.with(variant.scheme);
        let reorders = weir_fc::order::reordering(scheme.info, &scheme.values).is_some();
        let keeps_order = s.routing.balance.keeps_order() && !reorders;
        nic.timeout = s.nic.timeout.unwrap_or_else(|| {
            let lossy = !variant.scheme.lossless
                || s.run.allow_loss
                || s.link.bit_error_rate > 0.0
                || !self.failures.is_empty()
                || !self.faults.is_empty()
                || !self.receivers.is_empty()
                || switch.watchdog.is_some()
                || switch.egress.is_some()
                // what comes too early is thrown away, which no later packet may reveal
                || !keeps_order && nic.reliability == Reliability::GoBackN
                || drops_when_full(switch.pipeline.as_ref(), &scheme);
            // TCP has a timer of its own
            let wanted = lossy && tcp.is_none();
            wanted.then(|| self.patience(variant.scheme))
        });
        Config {
            seed: variant.seed,
            link: s.link,
            switch,
            nic,
            scheme,
            cc: s.congestion_control.with(variant.cc),
            tcp: s.tcp.params.clone(),
            routing: s.routing.kind,
            balance: s.routing.balance,
            paths: self.paths.iter().map(|p| p.nodes.clone()).collect(),
            failures: self.failures.clone(),
            faults: self.faults.clone(),
            receivers: self.receivers.clone(),
            convergence: s.routing.convergence,
            stop: s.run.stop,
            probes: ProbeConfig {
                capture: self.capture.clone(),
                blame: self.blame,
                record: self.record,
                ..s.probe.clone()
            },
            engine: self.engine,
            shortcuts: self.shortcuts,
        }
    }

    /// The retransmission timeout where packets can be lost: so long that no pause triggers it.
    ///
    /// Without flow control nothing is paused: 1 ms. Otherwise a packet on its way waits at most
    /// for what the switches before it have stored; on a path through three tiers these are five.
    /// As long as the slowest link takes to send five full memories, and 10 ms where that is less
    /// or memory has no limit. (A sender that is held with nothing in flight runs no timer.)
    fn patience(&self, scheme: &SchemeInfo) -> Time {
        const SWITCHES: u64 = 5;
        if scheme.senders == Senders::Nobody {
            return Time::from_ms(1);
        }
        let slowest = self.topology.links().iter().map(|l| l.rate).min();
        let stored = self.scenario.switch.config.buffer;
        let drain = slowest.filter(|_| stored != Bytes::MAX).map(|rate| rate.time_for(stored));
        drain.map_or(Time::ZERO, |t| t * SWITCHES).clamp(Time::from_ms(10), Time::from_ms(1000))
    }

    /// What `weir run` runs: the scheme and algorithm of the file unless others are asked for.
    pub fn variant(
        &self,
        scheme: Option<&str>,
        cc: Option<&str>,
        seed: u64,
    ) -> Result<Variant, Problems> {
        let scheme = match scheme {
            Some(name) => control::find_scheme(name).map_err(Problems::plain)?,
            None => self.scenario.flow_control.scheme.value,
        };
        let cc = match cc {
            Some(name) => control::find_cc(name).map_err(Problems::plain)?,
            None => self.scenario.congestion_control.algorithm.value,
        };
        self.check_cc(cc).map_err(Problems::plain)?;
        Ok(Variant { scheme, cc, seed })
    }

    /// Whether hosts can use a congestion control.
    pub fn check_cc(&self, cc: CcKind) -> Result<(), Diagnostic> {
        if self.scenario.nic.config.reliability != Reliability::Tcp || cc == CcKind::None {
            return Ok(());
        }
        let title = format!(
            "`{}` cannot be used with TCP, which has its own congestion control",
            cc.name()
        );
        let error = Diagnostic::error(title);
        let help = match cc {
            CcKind::Dctcp => "write `ecn = \"dctcp\"` in `[tcp]`, and no congestion control",
            _ => "remove the congestion control, or write `transport = \"roce\"` in `[nic]`",
        };
        Err(error.help(help))
    }

    /// The scheme and the algorithm of the file, with its first seed.
    pub fn own_variant(&self) -> Variant {
        let s = &self.scenario;
        let cc = s.congestion_control.algorithm.value;
        Variant { scheme: s.flow_control.scheme.value, cc, seed: s.run.seeds[0] }
    }

    /// The names of the classes of traffic.
    pub fn classes(&self) -> &[String] {
        self.traffic.classes()
    }

    /// The paths of the scenario. None leads over a link that is down from the start for good.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The network without the links that are down from the start for good, which drawings show as
    /// failed; the whole network if something would be without any link.
    pub fn standing_topology(&self) -> Arc<Topology> {
        let never = never_up(&self.failures);
        let rest = (!never.is_empty()).then(|| self.topology.without(&never).ok()).flatten();
        rest.map_or_else(|| Arc::clone(&self.topology), Arc::new)
    }

    /// The links that are down from the start for good.
    pub fn never_up(&self) -> Vec<LinkId> {
        never_up(&self.failures)
    }

    /// What a run with this configuration shares with others on the same network.
    pub fn prepared(&self, config: &Config) -> Arc<Prepared> {
        self.preparations.get(&self.topology, &self.whole, config)
    }

    /// How often anything had to be prepared for runs on its network.
    #[cfg(test)]
    pub(crate) fn preparations(&self) -> usize {
        self.preparations.0.lock().expect("no thread panics with the lock").len()
    }
}

/// How switches mark, for a congestion control or TCP in this mode.
fn marking(ecn: Ecn, cc: CcKind, tcp: Option<EcnMode>) -> (Option<EcnConfig>, EcnScale) {
    let (profile, before_pause) = match ecn {
        Ecn::On(ecn) => return (Some(ecn), EcnScale::default()),
        Ecn::Off => return (None, EcnScale::default()),
        Ecn::Profile(name) => (name, false),
        Ecn::Auto if tcp.is_some_and(|mode| mode != EcnMode::Off) => ("dctcp", true),
        Ecn::Auto if cc.needs().marks => (cc.name(), true),
        Ecn::Auto => return (None, EcnScale::default()),
    };
    match published(profile) {
        Some((ecn, per)) => (Some(ecn), EcnScale { per, before_pause }),
        None => (None, EcnScale::default()),
    }
}

/// A published marking profile, and the port speed it is for, if it depends on that.
fn published(profile: &str) -> Option<(EcnConfig, Option<Rate>)> {
    let p = Profile::find(profile)?;
    let pmax = Ratio::new(p.percent, 100)?;
    Some((EcnConfig { kmin: p.kmin, kmax: p.kmax, pmax }, p.per))
}

/// A network, the paths on it, and what runs on it share.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) topology: Arc<Topology>,
    routes: Arc<Routes>,
    preparations: Arc<Preparations>,
}

/// What was prepared for runs on one network with one routing: one entry for each packet size and
/// switch latency. Runs of a sweep share it across variants and points.
#[derive(Debug, Default)]
struct Preparations(Mutex<Vec<Arc<Prepared>>>);

/// More than this are not kept: a sweep of latencies does not come back to them.
const KEPT: usize = 8;

impl Preparations {
    fn get(&self, topology: &Topology, routes: &Arc<Routes>, config: &Config) -> Arc<Prepared> {
        // an entry is complete when it is added, so a panic elsewhere leaves nothing half done
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|p| p.fits(config)) {
            return Arc::clone(found);
        }
        let fresh = Arc::new(Prepared::with_routes(topology, config, Arc::clone(routes)));
        if known.len() >= KEPT {
            known.clear();
        }
        known.push(Arc::clone(&fresh));
        fresh
    }
}

/// The most steps that routes may take to compute: (switches with hosts) x (directions of links).
const MOST_ROUTING: u64 = 4_000_000_000;

/// Networks whose routes alone would take minutes.
fn too_large(topology: &Topology) -> Option<Diagnostic> {
    let mut edges: Vec<NodeId> =
        topology.hosts().iter().map(|&h| topology.port(h, PortId(0)).peer).collect();
    edges.sort_unstable();
    edges.dedup();
    let work = edges.len() as u64 * 2 * topology.links().len() as u64;
    (work > MOST_ROUTING).then(|| {
        let title = format!(
            "the network is too large: {} switches with hosts and {} links",
            edges.len(),
            topology.links().len()
        );
        Diagnostic::error(title).help(format!(
            "their product may be at most {}: a 64-ary fat-tree with 65536 hosts is fine",
            MOST_ROUTING / 2
        ))
    })
}

/// Builds a network, and finds its paths.
pub(crate) fn build(spec: &TopologySpec, routing: Routing) -> Result<Built, Diagnostic> {
    let topology = spec.build()?;
    if let Some(error) = too_large(&topology) {
        return Err(error);
    }
    let routes = route(&topology, routing, &[]);
    let (topology, routes) = (Arc::new(topology), Arc::new(routes));
    Ok(Built { topology, routes, preparations: Arc::default() })
}

fn route(topology: &Topology, routing: Routing, down: &[LinkId]) -> Routes {
    match routing {
        Routing::Ecmp => Routes::ecmp(topology, down),
        Routing::UpDown => Routes::up_down(topology, down),
    }
}

/// Links that fail at time 0 and do not recover.
fn never_up(failures: &[LinkFailure]) -> Vec<LinkId> {
    let never = failures.iter().filter(|f| f.down == Time::ZERO && f.up.is_none());
    never.map(|f| f.link).collect()
}

/// The traffic on the network, and the static paths it uses.
fn put_traffic(
    scenario: &Scenario,
    topology: &Topology,
    routes: &Routes,
    out: &mut Diagnostics,
) -> Option<(Traffic, Vec<Route>)> {
    let exact = scenario.traffic.iter().flat_map(|t| &t.args).any(|a| a.joined() == "core-exact");
    let fabric = match fabric(topology, routes, exact) {
        Ok(fabric) => fabric,
        Err(error) => {
            out.push(Diagnostic::error(error.to_string()));
            return None;
        }
    };
    let mut traffic = Traffic::new(fabric);
    let names = ScenarioNames::new(topology, &scenario.paths, &scenario.files, out);
    let priority = default_priority(scenario);
    for spec in &scenario.traffic {
        let params = spec.params(priority);
        if let Err(error) = traffic.add_named(spec.entry.name, &params, &names) {
            out.push(spec.at_fault(&error, topology));
        }
    }
    for (index, job) in scenario.jobs.iter().enumerate() {
        let settings = (priority, scenario.run.seeds[0]);
        match job.place(index, &mut traffic, &names, &scenario.files, settings) {
            Ok(warnings) => warnings.into_iter().for_each(|w| out.push(w)),
            Err(error) => out.push(error),
        }
    }
    if scenario.traffic.is_empty() && scenario.jobs.is_empty() && !out.has_errors() {
        let error = Diagnostic::error("the scenario has no `[[traffic]]` and no `[[job]]`");
        let names: Vec<&str> = weir_traffic::catalogue::entries().map(|e| e.name).collect();
        let help = format!("add [[traffic]] with `kind`, one of {}", names.join(", "));
        out.push(error.help(help));
    }
    let stop = match scenario.run.stop {
        Stop::At(time) => time,
        Stop::Drained => Time::NEVER,
    };
    traffic.set_until(scenario.run.traffic_until.unwrap_or(Time::NEVER).min(stop));
    Some((traffic, names.into_paths()))
}

/// The priority of traffic that does not say: the lowest lossless one.
pub(crate) fn default_priority(scenario: &Scenario) -> Priority {
    let lossless = scenario.switch.config.lossless;
    lossless.iter().next().unwrap_or_default()
}

/// What traffic must know of the network.
fn fabric(
    topology: &Topology,
    routes: &Routes,
    exact: bool,
) -> Result<Fabric, weir_traffic::TrafficError> {
    let rates = topology.hosts().iter().map(|&h| topology.rate(h, PortId(0))).collect();
    let fabric = Fabric::new(topology.hosts(), rates)?;
    let is_core = |n: NodeId| topology.node(n).layer == Layer::Core;
    let core = topology.links().iter().filter(|l| is_core(l.a.0) || is_core(l.b.0));
    let capacity: u128 = core.map(|l| u128::from(l.rate.as_bps())).sum();
    if capacity == 0 {
        return Ok(fabric);
    }
    let crossing = if exact { crossing(topology, routes) } else { None };
    fabric.with_core(capacity, crossing)
}

/// The share of ordered pairs of hosts whose path goes through the core layer. Hosts of one
/// switch have the same paths, so one of them stands for all.
fn crossing(topology: &Topology, routes: &Routes) -> Option<Ratio> {
    let mut racks: Vec<(NodeId, NodeId, u64)> = Vec::new();
    for &host in topology.hosts() {
        let at = topology.port(host, PortId(0)).peer;
        match racks.iter_mut().find(|(switch, ..)| *switch == at) {
            Some((.., count)) => *count += 1,
            None => racks.push((at, host, 1)),
        }
    }
    let (mut crossing, mut pairs) = (0u64, 0u64);
    for (i, &(_, src, n)) in racks.iter().enumerate() {
        pairs += n * (n - 1);
        for (j, &(_, dst, m)) in racks.iter().enumerate() {
            if i == j {
                continue;
            }
            pairs += n * m;
            let path = routes.path(topology, src, dst, 0)?;
            let core = |&(node, _): &(NodeId, PortId)| topology.node(node).layer == Layer::Core;
            if path.iter().any(core) {
                crossing += n * m;
            }
        }
    }
    let shift = (64 - pairs.leading_zeros()).saturating_sub(32);
    Ratio::new((crossing >> shift) as u32, (pairs >> shift) as u32)
}

fn find_links(
    failures: &[FailureSpec],
    topology: &Topology,
    out: &mut Diagnostics,
) -> Vec<LinkFailure> {
    let mut found = Vec::new();
    for failure in failures {
        let [a, b] = &failure.ends;
        let mut node = |end: &crate::At<String>| match topology.find(&end.value) {
            Ok(node) => Some(node),
            Err(error) => {
                out.push(Diagnostic::error(error.to_string()).maybe_at(end.span, ""));
                None
            }
        };
        let (Some(from), Some(to)) = (node(a), node(b)) else { continue };
        match topology.links_between(from, to) {
            // Of several parallel links, each mention takes the next one.
            Ok(links) => {
                let taken = |l: &&LinkId| {
                    found.iter().all(|f: &LinkFailure| f.link != **l || f.up.is_some())
                };
                match links.iter().find(taken) {
                    Some(&link) => {
                        found.push(LinkFailure { link, down: failure.down, up: failure.up });
                    }
                    None => {
                        let title = format!("link {}-{} fails permanently twice", a.value, b.value);
                        out.push(Diagnostic::error(title).maybe_at(a.span, ""));
                    }
                }
            }
            Err(error) => out.push(Diagnostic::error(error.to_string()).maybe_at(b.span, "")),
        }
    }
    found
}

/// Whether a pipelined switch under this scheme drops packets at a full egress queue.
fn drops_when_full(pipeline: Option<&PipelineConfig>, scheme: &Scheme) -> bool {
    let Some(pipeline) = pipeline else { return false };
    let rule = ask(scheme).and_then(|mut fc| fc.pipelined().ok()?.on_full());
    rule.unwrap_or(pipeline.on_full) == OnFull::Drop
}

/// The scheme at some node, to ask it what does not depend on the node.
pub(crate) fn ask(scheme: &Scheme) -> Option<Box<dyn FlowControl>> {
    let port = PortSetup::new(Rate::from_gbps(1), Time::ZERO);
    let setup = NodeSetup {
        node: NodeId(0),
        role: Role::Nic,
        ports: &[port],
        schedule: &PrioritySchedule::default(),
        lossless: PrioritySet::EMPTY,
        thresholds: &Thresholds::Pool,
        max_frame: Bytes::new(1518),
        response: Response::NONE,
        seed: 0,
    };
    (scheme.info.build)(&scheme.values, &setup).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_marks_for_every_congestion_control_that_needs_marks() {
        for &cc in CcKind::ALL {
            let (ecn, scale) = marking(Ecn::Auto, cc, None);
            assert_eq!(ecn.is_some(), cc.needs().marks, "{}", cc.name());
            assert_eq!(scale.before_pause, ecn.is_some());
        }
    }
}
