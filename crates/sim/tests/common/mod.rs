//! Small networks for whole-system tests.
#![allow(dead_code, reason = "each test binary uses its own part of the kit")]

pub(crate) mod circles;
pub(crate) mod e4;
pub(crate) mod fabrics;
pub(crate) mod random;
pub(crate) mod witness;

use weir_core::{Bytes, NodeId, PortId, Priority, Time};
use weir_net::Topology;
use weir_net::build::{self, star};
use weir_sim::probe::Capture;
use weir_sim::{Config, Outcome, SimError};
use weir_traffic::pattern::List;
use weir_traffic::{Fabric, FlowSpec, Traffic};

/// The lossless priority of the tests.
pub(crate) const DATA: Priority = Priority::ALL[3];

/// Defaults with the scheme called `scheme`.
pub(crate) fn config(scheme: &str) -> Config {
    Config::new(weir_fc::scheme(scheme).expect("known"))
}

/// Gives a parameter of the scheme a value.
pub(crate) fn set(config: &mut Config, name: &str, value: &str) {
    let info = config.scheme.info;
    let param = info.params.iter().find(|p| p.name == name).expect("a parameter of the scheme");
    config.scheme.values.set(param, value).expect("a valid value");
}

/// Hosts around one switch, 100 Gb/s.
pub(crate) fn star(hosts: u32, delay: &str) -> Topology {
    let delay = delay.parse().expect("a time");
    build::star::build(&star::Params { hosts, delay, ..star::Params::default() }).expect("builds")
}

/// A flow of the lossless priority.
pub(crate) fn flow(src: u32, dst: u32, size: u64) -> FlowSpec {
    FlowSpec { priority: DATA, ..FlowSpec::new(NodeId(src), NodeId(dst), Bytes::new(size)) }
}

/// A plan of exactly these flows.
pub(crate) fn plan(topology: &Topology, flows: &[FlowSpec]) -> Traffic {
    let rate = topology.rate(topology.hosts()[0], weir_core::PortId(0));
    let mut plan = Traffic::new(Fabric::uniform(topology.hosts(), rate).expect("hosts"));
    plan.class("test").expect("a free class");
    plan.add(List { flows: flows.to_vec() }).expect("valid flows");
    plan
}

/// Runs these flows.
pub(crate) fn try_run(
    topology: &Topology,
    flows: &[FlowSpec],
    config: &Config,
) -> Result<Outcome, SimError> {
    weir_sim::run(topology, &plan(topology, flows), config, &mut ())
}

/// Runs these flows; the run must be valid.
pub(crate) fn run(topology: &Topology, flows: &[FlowSpec], config: &Config) -> Outcome {
    try_run(topology, flows, config).expect("a valid run")
}

/// A capture of all frames of all ports.
pub(crate) fn capture_all(topology: &Topology) -> Capture {
    let nodes = (0..topology.nodes().len()).map(NodeId::from_index);
    let ports = |node| (0..topology.ports(node).len()).map(move |p| (node, PortId::from_index(p)));
    Capture {
        ports: nodes.flat_map(ports).collect(),
        from: Time::ZERO,
        to: Time::NEVER,
        snap: u64::MAX,
        most: u64::MAX,
    }
}
