//! The first line of a log.

use serde::{Deserialize, Serialize};
use weir_core::{Bytes, NodeId, PortId};
use weir_net::Topology;
use weir_sim::config::{Config, ThresholdConfig};
use weir_sim::thresholds::SwitchThresholds;

/// The version of the format.
pub const VERSION: u32 = 1;

/// Where a log comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A simulation.
    Simulated,
    /// A run on real frames.
    Live,
}

/// What was run, so that it can be built again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOf {
    /// The scenario: file or built-in name.
    pub scenario: String,
    /// Its text.
    pub text: String,
    /// The files that it reads, by the names that it has for them.
    pub files: Vec<TextFile>,
    /// `--set`
    pub sets: Vec<String>,
    /// `--scheme`
    pub scheme: Option<String>,
    /// `--variant`
    pub variant: Option<String>,
    /// `--cc`
    pub cc: Option<String>,
    /// The seed.
    pub seed: u64,
}

/// A file that a scenario reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFile {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// One node, by its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// Its name.
    pub name: String,
    /// Whether it is a host.
    pub host: bool,
    /// Its ports.
    pub ports: Vec<PortInfo>,
}

/// One port, by its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortInfo {
    /// The node at the other end.
    pub peer: u32,
    /// The port at the other end.
    pub peer_port: u16,
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay in picoseconds.
    pub delay: u64,
    /// How long after its arrival a control frame takes effect, in picoseconds.
    pub response: u64,
    /// An ingress of a lossless priority pauses at so many bytes, where that is fixed.
    pub xoff: Option<u64>,
    /// And resumes at so many.
    pub xon: Option<u64>,
}

/// What all nodes have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// The scheme.
    pub scheme: String,
    /// Its parameters, as text.
    pub parameters: Vec<(String, String)>,
    /// The lossless priorities.
    pub lossless: Vec<u8>,
    /// The priority of ACKs, whose packets are exempt from flow control unless they travel with
    /// the data.
    pub exempt: Option<u8>,
    /// Bytes on the wire between frames.
    pub overhead: u64,
    /// Forwarding latency of switches, in picoseconds.
    pub latency: u64,
    /// Switches are pipelines: an ingress counts what has not been moved to its egress queue.
    pub pipelined: bool,
    /// Frames may be lost by bit errors, failures or faults.
    pub faulty: bool,
}

/// The first line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// `weir-log`
    pub format: String,
    /// [`VERSION`]
    pub version: u32,
    /// The version of the program.
    pub weir: String,
    /// Simulated or live.
    pub source: Source,
    /// How much slower than the scenario a live run was.
    pub dilation: Option<u32>,
    /// What was run.
    pub run: RunOf,
    /// The network.
    pub nodes: Vec<NodeInfo>,
    /// What all nodes have in common.
    pub rules: Rules,
}

impl Header {
    /// The header of a run.
    pub fn new(
        source: Source,
        dilation: Option<u32>,
        run: RunOf,
        topology: &Topology,
        config: &Config,
    ) -> Self {
        let ids = (0..topology.nodes().len()).map(NodeId::from_index);
        Self {
            format: "weir-log".into(),
            version: VERSION,
            weir: env!("CARGO_PKG_VERSION").into(),
            source,
            dilation,
            run,
            nodes: ids.map(|node| info(topology, config, node)).collect(),
            rules: rules(config),
        }
    }
}

fn info(topology: &Topology, config: &Config, node: NodeId) -> NodeInfo {
    let thresholds = SwitchThresholds::new(topology, config);
    let host = topology.is_host(node);
    let port = |at: usize| {
        let end = topology.port(node, PortId::from_index(at));
        let link = topology.link(end.link);
        let (xoff, xon) = match thresholds.at(link.rate) {
            ThresholdConfig::Static { xoff, xon, .. } if !host => (Some(xoff), Some(xon)),
            _ => (None, None),
        };
        PortInfo {
            peer: end.peer.0,
            peer_port: end.peer_port.0,
            rate: link.rate.as_bps(),
            delay: link.delay.as_ps(),
            response: config.link.response.at(link.rate).as_ps(),
            xoff: xoff.map(Bytes::get),
            xon: xon.map(Bytes::get),
        }
    };
    let ports = (0..topology.ports(node).len()).map(port).collect();
    NodeInfo { name: topology.name(node).to_owned(), host, ports }
}

fn rules(config: &Config) -> Rules {
    let info = config.scheme.info;
    let parameters = info.params.iter().filter_map(|param| {
        let value = config.scheme.values.get(param)?;
        Some((param.name.to_owned(), value.to_string()))
    });
    Rules {
        scheme: info.name.to_owned(),
        parameters: parameters.collect(),
        lossless: config.switch.lossless.iter().map(|p| p.get()).collect(),
        exempt: (!config.nic.acks_with_data).then(|| config.nic.ack_priority.get()),
        overhead: config.link.overhead.get(),
        latency: config.switch.latency.as_ps(),
        pipelined: config.switch.pipeline.is_some(),
        faulty: config.link.bit_error_rate > 0.0
            || !config.failures.is_empty()
            || !config.faults.is_empty(),
    }
}
