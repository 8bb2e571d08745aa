//! Commands that read files of other programs, or results.

use super::VariantArgs;
use clap::{Args, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;

/// `weir ns3`.
#[derive(Args, Debug)]
#[command(after_help = "\
Reads the configuration with its topology, flow and trace files unchanged, and
writes fct.txt, pfc.txt, qlen.txt and mix.tr to the paths in the configuration,
or with --out to one directory. Also writes summary.json, flows.csv and
perf.json beside fct.txt. If flows are unfinished at SIMULATOR_STOP_TIME, the
files are written and the exit code is 1, unless --allow-unfinished is given.

Examples:
  weir ns3 mix/config.txt
  weir ns3 mix/config.txt --out results
  weir fct results/fct.txt other/fct.txt")]
pub(crate) struct Ns3 {
    /// The configuration file
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Write all results to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Do not fail if flows are unfinished when the simulation stops
    #[arg(long)]
    pub allow_unfinished: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// `weir blame`.
#[derive(Args, Debug)]
#[command(after_help = "\
Divides the completion time of every flow into nine parts that add up to it:
wire, source, control, recovery, own queue, others' queue, held for its own
congestion, held for others, host. A hold is blamed on the port at which its
pauses began, and on the flows whose bytes stood there.

Examples:
  weir blame ofc-fig1                       worst victims, worst culprits
  weir blame ofc-fig1 --scheme ofc --flow f0.0
  weir run incast --blame --out out/incast  blame.csv and culprits.csv
  weir blame out/incast                     the same from these files")]
pub(crate) struct Blame {
    /// A directory of results with blame.csv (`weir run --blame --out DIR`), or a scenario, which
    /// is run first
    #[arg(value_name = "DIR|SCENARIO")]
    pub what: String,
    /// One flow in full, by its name in flows.csv
    #[arg(long, value_name = "FLOW")]
    pub flow: Option<String>,
    /// Ports instead of flows: congested, undetermined or free, and time paused
    #[arg(long, conflicts_with = "flow")]
    pub views: bool,
    #[command(flatten)]
    pub chosen: VariantArgs,
    /// Seed; default: the first seed of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the scenario; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `weir import`.
#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Whose files.
    #[command(subcommand)]
    pub from: ImportFrom,
}

/// Whose files are converted.
#[derive(Subcommand, Debug)]
pub(crate) enum ImportFrom {
    /// A configuration of the HPCC ns-3 simulator
    Ns3(ImportNs3),
    /// The flows of a packet capture
    Pcap(ImportPcap),
    /// Configurations of SONiC switches
    Sonic(super::ImportSonic),
    /// A cabling list: CSV, DOT or GraphML
    Cabling(super::ImportCabling),
    /// A GOAL schedule of a parallel job
    Goal(super::ImportTrace),
    /// Chakra execution traces, a file for each rank
    Chakra(super::ImportTrace),
    /// A run of SimAI: workload, topology and configuration
    Simai(super::ImportSimai),
    /// A connection matrix of htsim, with triggers
    Htsim(super::ImportTrace),
}

/// `weir import ns3`.
#[derive(Args, Debug)]
#[command(after_help = "\
Comments at the top of the scenario list what could not be converted.

Examples:
  weir import ns3 mix/config.txt > my.toml       with the flows inside
  weir import ns3 mix/config.txt --out my.toml   with flows in my.flows.csv")]
pub(crate) struct ImportNs3 {
    /// The configuration file
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Write the scenario to this file, and the flows to a CSV file in the same directory
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `weir import pcap`.
#[derive(Args, Debug)]
#[command(after_help = "\
Reads a pcapng or pcap file with RoCEv2 or TCP over IP and writes a flow list
that scenarios read with kind = \"list\". A flow is what has the same addresses,
ports and queue pair. Its size is what its RDMA WRITEs announce, or the payload
bytes that were captured, each counted once. Starts count from the first flow.
The priority is that of the DSCP (class selector). Comments at the top of the
list say which host has which address.

Examples:
  weir import pcap trace.pcapng > flows.csv
  weir import pcap trace.pcapng --host 10.0.0.1=h4 --host 10.0.0.2=h7
  weir import pcap trace.pcapng --idle 100us --out flows.csv")]
pub(crate) struct ImportPcap {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// The host that has an address; others become h0, h1, ... in the order of their addresses
    #[arg(long = "host", value_name = "ADDRESS=NAME", value_parser = host_name)]
    pub hosts: Vec<(IpAddr, String)>,
    /// Divide a flow where it pauses for longer than this
    #[arg(long, value_name = "TIME")]
    pub idle: Option<weir_core::Time>,
    /// Write the list to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `10.0.0.1=h4`.
fn host_name(text: &str) -> Result<(IpAddr, String), String> {
    let (address, name) = text.split_once('=').ok_or("ADDRESS=NAME, such as 10.0.0.1=h4")?;
    let address = address.parse().map_err(|_| format!("`{address}` is not an IP address"))?;
    if name.is_empty() {
        return Err(format!("a name for {address} is missing after `=`"));
    }
    Ok((address, name.to_owned()))
}

/// `weir fct`.
#[derive(Args, Debug)]
#[command(after_help = "\
Flows are sorted by size and divided into buckets of equal count. Slowdown is
the completion time divided by the ideal completion time, at least 1. In
fct.txt a flow ends with its last ACK, and the ideal time is the estimate of
the ns-3 simulator. In flows.csv of native runs a flow ends with its last byte,
and the ideal time is exact.

Examples:
  weir fct results/fct.txt other/fct.txt
  weir fct a/fct.txt b/flows.csv --class background --svg slowdown.svg
  weir fct out/web/flows.csv --sizes 0..10KB,10KB..100KB,100KB..")]
pub(crate) struct Fct {
    /// Result files: flows.csv of Weir, or fct.txt of the HPCC ns-3 simulator
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only this class; in fct.txt, background is port 100 and incast is port 200, or give a port
    /// number
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,
    /// Only flows that finished before this time, such as 3s
    #[arg(long, value_name = "TIME")]
    pub before: Option<weir_core::Time>,
    /// Ranges of sizes instead of buckets, such as 0..10KB,10KB..; shows means over the seeds of
    /// each file with 95 % confidence intervals
    #[arg(long, value_name = "A..B,...", conflicts_with_all = ["buckets", "svg"])]
    pub sizes: Option<String>,
    /// Number of buckets
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub buckets: u16,
    /// Write the table as CSV to this file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the slowdown to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `weir goal`.
#[derive(Args, Debug)]
#[command(after_help = "\
A GOAL schedule lists the sends, receives and computations of each rank of a
parallel job and what waits for what. The LogGOPS model has no packets and no
congestion: the result is what the schedule takes in a network without
bottlenecks. Parameters are whole numbers in a JSON file, by default
{\"L\": 2500, \"o\": 1500, \"g\": 1000, \"G\": 6, \"O\": 0, \"S\": 65535}:
L latency, o overhead, g gap between messages (ns), G gap and O overhead per
byte (ns), S the largest message that is sent before it is asked for (bytes).

Examples:
  weir goal allreduce.goal
  weir goal allreduce.goal --params cluster.json --json
  weir goal allreduce.goal --binary allreduce.bin")]
pub(crate) struct Goal {
    /// The schedule, text or binary
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Parameters of the model as JSON
    #[arg(long, value_name = "FILE")]
    pub params: Option<PathBuf>,
    /// Run it with packets on the network of this scenario, beside its traffic
    #[arg(long, value_name = "SCENARIO", conflicts_with = "params")]
    pub scenario: Option<String>,
    /// Write the schedule in its binary form to this file
    #[arg(long, value_name = "FILE")]
    pub binary: Option<PathBuf>,
    /// Print {"end_ns": [...]}, the end of each rank, instead of a table
    #[arg(long)]
    pub json: bool,
}
