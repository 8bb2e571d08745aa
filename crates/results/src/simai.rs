//! A run of SimAI as a native scenario: its configuration, its topology file, its workload.
//!
//! The configuration is one of the HPCC ns-3 simulator with keys of SimAI's own. GPUs are hosts
//! with a port for each of their links: to the NVSwitch of their server, to a switch of the
//! network. Traffic inside a server takes the NVSwitch because that way is shorter.

use crate::ns3::import::{Converted, FlowsIn, Head, Ways, plain, quoted, write};
use std::fmt::Write as _;
use std::path::Path;
use weir_core::{Bytes, Severity};
use weir_ns3::import::pieces;
use weir_ns3::{Config, Diagnostic, Diagnostics, Inputs, Topology};

/// Keys of SimAI that have no effect there, or only on what it records.
const RECORDS: &[&str] = &[
    "BW_MON_FILE",
    "RATE_MON_FILE",
    "CNP_MON_FILE",
    "QLEN_MON_FILE",
    "MON_START",
    "MON_END",
    "QP_MON_INTERVAL",
    "QLEN_MON_INTERVAL",
    "BW_MON_INTERVAL",
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "ENABLE_TRACE",
    "FCT_OUTPUT_FILE",
    "PFC_OUTPUT_FILE",
    "QLEN_MON_START",
    "QLEN_MON_END",
    "TOPOLOGY_FILE",
];
/// Keys that SimAI reads and does not use.
const IDLE: &[&str] = &[
    "GLOBAL_T",
    "SIMULATOR_STOP_TIME",
    "FLOW_FILE",
    "USE_DYNAMIC_PFC_THRESHOLD",
    "DATA_RATE",
    "LINK_DELAY",
    "PINT_LOG_BASE",
    "PINT_PROB",
];
/// Keys whose effect in SimAI is not known.
const UNKNOWN: &[&str] = &["NIC_TOTAL_PAUSE_TIME"];

/// Bytes that a data packet adds to its payload there, without telemetry: four more than in the
/// original, for sequence numbers of 64 bits.
const WIDER: u64 = 4;

/// The three files of a run, by name and text.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The configuration.
    pub conf: (&'a Path, &'a str),
    /// The topology.
    pub topology: (&'a Path, &'a str),
    /// How the scenario calls the workload.
    pub workload: &'a str,
}

/// The first line of a topology file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    gpus_per_server: u32,
    nvswitches: u32,
    gpu: String,
}

/// Converts a run that is called `name`.
pub fn convert(name: &str, files: Files<'_>) -> Result<Converted, Diagnostics> {
    let mut notes = Vec::new();
    let mut config = configuration(files.conf, &mut notes)?;
    let (header, topology) = topology(files.topology)?;
    // nothing stops a run there before its work is done
    config.stop = 0.0;
    let inputs = Inputs { config, topology, flows: Vec::new(), trace_nodes: Vec::new() };
    let mut p = pieces(&inputs);
    let known = &inputs.config.kmin;
    let network: Vec<u64> = network_rates(&inputs.topology, &header);
    p.marking.retain(|rate, _| known.contains_key(rate) && network.contains(rate));
    p.data_overhead += Bytes::new(WIDER);
    // 60 bytes, or 50 padded, which its links carry as 60
    p.ack_size = Bytes::new(p.ack_size.get().max(60));
    notes.extend(p.notes.iter().cloned());
    notes.extend(differences(&inputs, &header));
    if let Some(rate) = network.iter().find(|rate| !known.contains_key(rate)) {
        notes.push(format!("there are no marking thresholds for {} Gb/s", rate / 1_000_000_000));
    }
    let origin = format!("{} and {}", files.conf.0.display(), files.topology.0.display());
    let about = format!(
        "# Converted from {}, of SimAI.\n#\n# What is done in another way, or could not be taken \
         over:\n",
        plain(&origin)
    );
    let job = job(&header, files.workload);
    let head = Head { about, name, origin: &origin };
    Ok(write(&head, &inputs, p, notes, FlowsIn::Instead(&job), Ways::Hashed))
}

/// The job that runs the workload.
fn job(header: &Header, workload: &str) -> String {
    let mut out = String::from("[[job]]\nname = \"simai\"\n");
    let _ = write!(
        out,
        "trace = {}\nsimai-gpus-per-server = {}\nsimai-send-latency = \"6us\"      # AS_SEND_LAT \
         6; SimAI without it takes 6 ms\ncompletion-delay = \"0s\"\n",
        quoted(workload),
        header.gpus_per_server
    );
    out
}

/// Reads the configuration without the keys that are SimAI's own.
fn configuration(
    (path, text): (&Path, &str),
    notes: &mut Vec<String>,
) -> Result<Config, Diagnostics> {
    let (mut kept, mut idle, mut unknown) = (String::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let key = line.split_whitespace().next().unwrap_or_default();
        if IDLE.contains(&key) {
            idle.push(key);
        } else if UNKNOWN.contains(&key) {
            unknown.push(key);
        } else if !RECORDS.contains(&key) {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept.push_str("TOPOLOGY_FILE given FLOW_FILE none\n");
    if !idle.is_empty() {
        notes.push(format!("without effect in SimAI and here: {}", idle.join(", ")));
    }
    if !unknown.is_empty() {
        notes.push(format!("left out, since its effect is not known: {}", unknown.join(", ")));
    }
    let (config, warnings) = Config::parse(path, &kept)?;
    notes.extend(warnings.0.iter().map(|d| d.message.clone()));
    Ok(config)
}

/// Reads the topology: its first line says more than in the original, the rest is the same.
fn topology((path, text): (&Path, &str)) -> Result<(Header, Topology), Diagnostics> {
    let wrong = |message: String, help: &str| {
        Diagnostics(vec![Diagnostic {
            severity: Severity::Error,
            file: path.to_owned(),
            line: Some(1),
            message,
            help: Some(help.to_owned()),
        }])
    };
    const FORM: &str = "nodes, GPUs per server, NVSwitches, switches, links, type of GPU";
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let words: Vec<&str> = first.split_whitespace().collect();
    let [nodes, gpus, nvswitches, switches, links, gpu] = words[..] else {
        return Err(wrong(format!("{} words instead of six", words.len()), FORM));
    };
    let mut numbers = [0_u32; 5];
    for (number, word) in numbers.iter_mut().zip([nodes, gpus, nvswitches, switches, links]) {
        let parsed = word.parse().ok();
        *number = parsed.ok_or_else(|| wrong("a number is none".into(), FORM))?;
    }
    let [nodes, gpus_per_server, nvswitches, switches, links] = numbers;
    let inner = nvswitches.checked_add(switches).filter(|inner| *inner < nodes);
    let Some(inner) = inner.filter(|_| gpus_per_server > 0) else {
        return Err(wrong("there are no GPUs".into(), FORM));
    };
    let network = Topology::read(path, &format!("{nodes} {inner} {links}\n{rest}"))?;
    // servers are counted by the numbers of GPUs
    let gpus = nodes - inner;
    if network.is_switch[..gpus as usize].iter().any(|switch| *switch) {
        return Err(wrong(format!("the first {gpus} nodes are not all GPUs"), FORM));
    }
    Ok((Header { gpus_per_server, nvswitches, gpu: gpu.to_owned() }, network))
}

/// Whether a node is an NVSwitch: they have the first numbers behind the GPUs.
fn is_nvswitch(topology: &Topology, header: &Header, node: u32) -> bool {
    let gpus = topology.hosts() as u32;
    (gpus..gpus + header.nvswitches).contains(&node)
}

/// The rates of ports of switches that are no NVSwitches.
fn network_rates(topology: &Topology, header: &Header) -> Vec<u64> {
    let inside = |node| is_nvswitch(topology, header, node);
    let network = topology.links.iter().filter(|l| !inside(l.a) && !inside(l.b));
    let mut rates: Vec<u64> = network.map(|l| l.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    rates
}

/// What does not depend on a key of the configuration.
fn differences(inputs: &Inputs, header: &Header) -> Vec<String> {
    let mut notes: Vec<String> = [
        "AS_SEND_LAT, AS_PXN_ENABLE and AS_NVLS_ENABLE are variables of the environment: \
         `simai-send-latency` and `simai-pxn` of the job stand for the first two; there is no NVLS",
        "flows of a pair and channel share a queue pair, which keeps its window and rate; in SimAI \
         each has a new one",
        "a rank knows of a flow when it has arrived, in SimAI when its last ACK is back at the \
         sender",
        "NVSwitches pause and mark like other switches; in SimAI they do neither and may lose \
         packets",
        "every flow has the window of its own path; in SimAI all have the largest of the network",
        "flows choose among paths of equal length by another hash",
        "ACKs have a priority of their own in switches, go first and are never paused",
    ]
    .map(str::to_owned)
    .to_vec();
    if shared_switch(inputs, header) {
        notes.push(
            "GPUs of one server are below one switch: their traffic is divided between it and the \
             NVSwitch, in SimAI all of it takes the NVSwitch"
                .into(),
        );
    }
    if !["A100", "A800", "H100", "H800"].contains(&header.gpu.as_str()) {
        notes.push(format!("the type of GPU, {}, has no effect in SimAI", header.gpu));
    }
    notes
}

/// Whether a switch other than an NVSwitch has two GPUs of one server.
fn shared_switch(inputs: &Inputs, header: &Header) -> bool {
    let topology = &inputs.topology;
    let gpus = topology.hosts() as u32;
    let mut seen = std::collections::BTreeMap::new();
    topology.links.iter().any(|l| {
        let (gpu, switch) = if l.a < gpus { (l.a, l.b) } else { (l.b, l.a) };
        let inside = is_nvswitch(topology, header, switch);
        let place = (switch, gpu / header.gpus_per_server);
        gpu < gpus && !inside && seen.insert(place, gpu).is_some_and(|other| other != gpu)
    })
}
