//! `weir import chakra`, `goal`, `htsim` and `simai`.

use clap::Args;
use std::path::PathBuf;

/// `weir import chakra`, `weir import goal`, `weir import htsim`.
#[derive(Args, Debug)]
#[command(after_help = "\
Reads the trace, says what it holds, and prints a scenario with a star of as many
hosts as the trace has ranks, to be replaced by a network of yours. The scenario
names the trace and does not repeat it. What cannot be represented is an error
with its place. A Chakra trace is given by what the names of its files begin
with: `job` for job.0.et, job.1.et and so on (also .et.gz and .json).

Examples:
  weir import chakra traces/llama --groups groups.json --out llama.toml
  weir import htsim allreduce.cm > allreduce.toml
  weir import goal job.goal | weir run -")]
pub(crate) struct ImportTrace {
    /// The trace
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Groups of a Chakra trace: JSON such as {"1": [0, 8]}
    #[arg(long, value_name = "FILE")]
    pub groups: Option<PathBuf>,
    /// Write the scenario to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `weir import simai`.
#[derive(Args, Debug)]
#[command(after_help = "\
Prints a scenario with the network, the switches, the congestion control and the
job of a run of SimAI. Comments at its top list what could not be taken over.
AS_SEND_LAT and AS_PXN_ENABLE are variables of the environment there: the keys
`simai-send-latency` and `simai-pxn` of the job stand for them.

Example:
  weir import simai --workload micro.txt --topology Spectrum-X_8g \\
      --conf SimAI.conf --out micro.toml
  weir run micro.toml")]
pub(crate) struct ImportSimai {
    /// The workload, as AICB writes it
    #[arg(long, value_name = "FILE")]
    pub workload: PathBuf,
    /// The topology
    #[arg(long, value_name = "FILE")]
    pub topology: PathBuf,
    /// The configuration
    #[arg(long, value_name = "FILE")]
    pub conf: PathBuf,
    /// Write the scenario to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
