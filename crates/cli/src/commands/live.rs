//! `weir live`: nodes of the simulator on real frames.

use super::live_run::Work;
use super::log;
use crate::Status;
use crate::args::{Results, VariantArgs, words};
use crate::terminal::Terminal;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use weir_core::Time;
use weir_live::clock::ClockKind;

/// `weir live`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir live run incast --out out/live     8:1 incast on veth pairs
  weir live compare incast --dilate auto  beside its simulation
  weir live run incast --app h3           h3 is left to other programs
  weir run incast --log incast.log        the log of a simulation
  weir live replay incast.log             fresh nodes, every answer compared
  weir live study OFC-TB FS-TB            experiments of papers, live, many times
  weir live bench                         frames per second of one switch thread
  weir live clean                         what a killed run has left")]
pub(crate) struct Live {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum What {
    /// Run a scenario on real frames between network namespaces of this machine (Linux)
    Run(Box<Run>),
    /// Run a scenario simulated and live, and print both side by side (Linux)
    Compare(Box<Run>),
    /// Run experiments of papers live, many times and with several dilations, and write how far
    /// they are from their simulation (Linux)
    Study(Study),
    /// Measure how many frames per second one switch thread carries, and how late it is at half of
    /// that (Linux)
    Bench(Bench),
    /// Feed a log to fresh nodes and compare every answer
    Replay(Replay),
    /// Remove the namespaces that killed runs have left (Linux)
    Clean,
}

/// `weir live run` and `weir live compare`.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// A scenario file, or a built-in scenario (see `weir scenarios`)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    #[command(flatten)]
    pub chosen: VariantArgs,
    /// Seed; default: the first of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the scenario; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// How much slower than the scenario: with 1000, 100 Gb/s become 100 Mb/s. `auto` takes the
    /// smallest factor that a rehearsal has kept
    #[arg(long, value_name = "FACTOR", default_value = "1000", value_parser = dilate)]
    pub dilate: Dilate,
    /// 999 of 1000 frames may be so late at most, in scenario time; default: one frame time of the
    /// fastest link
    #[arg(long, value_name = "TIME", value_parser = above_zero)]
    pub bound: Option<Time>,
    /// What the scenario's clock does when a thread of the run is late. Default: waiting, but free
    /// with --app, since the time of other programs does not wait
    #[arg(long, value_name = "CLOCK", value_parser = words::one_of(ClockKind::ALL))]
    pub clock: Option<ClockKind>,
    /// Leave this host to other programs; may be repeated
    #[arg(long, value_name = "HOST")]
    pub app: Vec<String>,
    /// Ask the kernel to run the nodes before all other programs (SCHED_FIFO)
    #[arg(long)]
    pub real_time: bool,
    /// How many threads drive the nodes; default: half as many as processors, or as many with a
    /// free clock
    #[arg(long, value_name = "N", value_parser = whole)]
    pub threads: Option<usize>,
    /// Record what each node is given and answers
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    #[command(flatten)]
    pub results: Results,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Captures for Wireshark.
    #[command(flatten)]
    pub captures: crate::args::CaptureArgs,
}

/// `weir live study`.
#[derive(Args, Debug)]
#[command(after_help = "\
An experiment says in [live] what is run. Runs that do not keep their time are
made again, and stand in the tables of runs only. Results of a kernel are not
the same twice: EXPERIMENT.md, -runs.csv and -flows.csv name the machine.")]
pub(crate) struct Study {
    /// Experiments, papers or directories of your own
    #[arg(value_name = "ID|PAPER|DIR", required = true)]
    pub names: Vec<String>,
    /// So many runs that kept their time, of each variant and dilation, instead of the
    /// experiment's
    #[arg(long, value_name = "N", value_parser = whole)]
    pub runs: Option<usize>,
    /// Stop after so many times as many runs, however many kept their time
    #[arg(long, value_name = "K", default_value = "3", value_parser = whole)]
    pub tries: usize,
    /// Change a value of the scenario in all runs; may be repeated. Results are named after it
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Dilations instead of the experiment's, the one to compare first: 1000,500,2000
    #[arg(long, value_name = "LIST", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub dilate: Vec<u32>,
    /// 999 of 1000 frames may be so late at most, in scenario time; default: one frame time of the
    /// fastest link
    #[arg(long, value_name = "TIME", value_parser = above_zero)]
    pub bound: Option<Time>,
    /// What the scenario's clock does when a thread of the run is late
    #[arg(long, value_name = "CLOCK", value_parser = words::one_of(ClockKind::ALL))]
    #[arg(default_value = ClockKind::DEFAULT.name())]
    pub clock: ClockKind,
    /// Ask the kernel to run the nodes before all other programs (SCHED_FIFO)
    #[arg(long)]
    pub real_time: bool,
    /// How many threads drive the nodes; default: half as many as processors, or as many with a
    /// free clock
    #[arg(long, value_name = "N", value_parser = whole)]
    pub threads: Option<usize>,
    /// Directory to write to
    #[arg(short, long, value_name = "DIR", default_value = "weir-out/live")]
    pub output: PathBuf,
}

fn above_zero(text: &str) -> Result<Time, String> {
    let time: Time = text.parse().map_err(|error| format!("{error}"))?;
    let none = "no frame can be on time: write a time above zero, such as 100ns";
    if time == Time::ZERO { Err(none.into()) } else { Ok(time) }
}

fn whole(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|n| (1..=1000).contains(n));
    number.ok_or_else(|| format!("`{text}` is no whole number from 1 to 1000"))
}

/// `weir live bench`.
#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Sizes of frames in bytes, with FCS
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "64,1000,9000",
        value_parser = clap::value_parser!(u64).range(64..=9018))]
    pub sizes: Vec<u64>,
    /// How long each of the two measurements of a size takes, in seconds
    #[arg(long, value_name = "N", default_value = "2",
        value_parser = clap::value_parser!(u64).range(1..=60))]
    pub seconds: u64,
    /// Ask the kernel to run the switch before all other programs (SCHED_FIFO)
    #[arg(long)]
    pub real_time: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `weir live replay`.
#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// A log of `weir run --log` or `weir live run --log`
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// A factor, or the smallest that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dilate {
    Auto,
    By(u32),
}

fn dilate(text: &str) -> Result<Dilate, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Dilate::Auto),
        Ok(factor @ 1..=1_000_000) => Ok(Dilate::By(factor)),
        _ => Err(format!("`{text}` is no factor: write 1 to 1000000, or auto")),
    }
}

/// `weir live`.
pub(crate) fn live(args: &Live, terminal: &Terminal) -> anyhow::Result<Status> {
    match &args.what {
        What::Replay(args) => log::replay(&args.log, args.json, terminal),
        #[cfg(target_os = "linux")]
        What::Run(args) => super::live_run::run(args, Work::Run, terminal),
        #[cfg(target_os = "linux")]
        What::Compare(args) => super::live_run::run(args, Work::Compare, terminal),
        #[cfg(target_os = "linux")]
        What::Bench(args) => super::live_run::bench(args, terminal),
        #[cfg(target_os = "linux")]
        What::Study(args) => super::live_study::study(args, terminal),
        #[cfg(target_os = "linux")]
        What::Clean => super::live_run::clean(terminal),
        #[cfg(not(target_os = "linux"))]
        _ => anyhow::bail!("live runs need Linux: network namespaces, veth and packet sockets"),
    }
}
