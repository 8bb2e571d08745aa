//! The arguments of commands, and the help that teaches them.

mod cabling;
mod captures;
mod chosen;
mod fabric;
mod files;
mod record;
mod traces;
mod view;
pub(crate) mod words;

pub(crate) use cabling::{CablingFormat, ImportCabling};
pub(crate) use captures::CaptureArgs;
pub(crate) use chosen::VariantArgs;
pub(crate) use fabric::{
    Advise, Explain, ImportSonic, Interface, Sonic, SonicCheck, SonicFormat, SonicWhat,
};
pub(crate) use files::{Blame, Fct, Goal, Import, ImportFrom, ImportNs3, ImportPcap, Ns3};
pub(crate) use record::RecordArgs;
pub(crate) use traces::{ImportSimai, ImportTrace};
pub(crate) use view::{Export, ExportPerfetto, ExportTo, View};

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use weir_results::report::figures::{Format, Size};
use weir_sim::config::EngineConfig;

/// What `--generate` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generate {
    /// The scenario reference of the book, in Markdown.
    ScenarioReference,
}

/// `weir completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `weir man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// A command, such as `compare` or `sweep plan`; default: the whole program
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `weir bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
A packet-hop is one packet (data, ACK or control frame) crossing one link.
A measurement is void if the machine was busy, that is, if the wall-clock
time exceeds the processor time by more than 5 %.

Examples:
  weir bench
  weir bench bench-fat-tree --threads 2 --repeat 5 --json")]
pub(crate) struct Bench {
    /// Benchmarks; default: all
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Flow control scheme
    #[arg(long, value_name = "NAME", default_value = "pfc")]
    pub scheme: String,
    /// Number of threads; fewer are used if there is too little work for N, unless written N!
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: EngineConfig,
    /// Repetitions of each benchmark; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `4`, or `4!` to force it.
fn threads(text: &str) -> Result<EngineConfig, String> {
    let (number, forced) = match text.strip_suffix('!') {
        Some(number) => (number, true),
        None => (text, false),
    };
    match number.parse() {
        Ok(threads @ 1..=1024) if forced => Ok(EngineConfig::Window { threads }),
        Ok(threads @ 1..=1024) => Ok(EngineConfig::Auto { threads }),
        _ => Err(format!("`{text}` is not a number of threads: write 1 to 1024, or 4! to force 4")),
    }
}

/// A scenario.
#[derive(Args, Debug)]
pub(crate) struct Input {
    /// A scenario file, - for standard input, or a built-in scenario (see `weir scenarios`)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Change a value of the scenario, such as switch.buffer=2MB or traffic.0.size=1MB; may be
    /// repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `weir check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub chosen: VariantArgs,
}

/// `weir compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without --schemes and --variant, the rows of the table are the variants of
the scenario ([[variant]]) or, if it has none, all schemes. All rows have the
same traffic.

Examples:
  weir compare                          OFC's Fig. 1 under every scheme
  weir compare incast --schemes pfc,none
  weir compare incast --variant pfc --variant 'BFC-32Q: bfc, queues=32'
  weir compare incast --variant 'DCQCN: pfc, cc=dcqcn, switch.buffer=12MB'
  weir compare dumbbell --columns victim:slowdown_p99,pauses_sent
  weir compare dumbbell --seeds 1..10   means with confidence intervals
  weir compare my.toml --set switch.buffer=2MB --out out/my
  weir compare --figure list            the names of all figures
  weir compare dumbbell --seeds 1..5 --figure slowdown-by-size --format pdf")]
pub(crate) struct Compare {
    /// A scenario file, - for standard input, or a built-in scenario (see `weir scenarios`)
    #[arg(value_name = "SCENARIO", default_value = "ofc-fig1")]
    pub scenario: String,
    /// Schemes to run; the others are compared with the first. Default: the variants of the
    /// scenario, or all schemes
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// One row: `LABEL: SCHEME, cc=NAME, KEY=VALUE, ...` with parameters of the scheme or keys of
    /// the scenario, or the label of a variant of the scenario; may be repeated
    #[arg(long = "variant", value_name = "VARIANT")]
    pub variants: Vec<String>,
    /// Congestion control of rows that name none, instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub cc: Option<String>,
    /// Columns of the table: `[CLASS:]METRIC[@SIZES]`, separated by commas; `list` prints all
    /// metrics
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// One seed, instead of the scenario's
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    pub seed: Option<u64>,
    /// Several seeds, instead of the scenario's: 1..10 or 1,2,5
    #[arg(long, value_name = "LIST")]
    pub seeds: Option<String>,
    /// Change a value of the scenario; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    #[command(flatten)]
    pub results: Results,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Number of runs at a time; default: the number of processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Send every packet on the plain path, without shortcuts; the result is the same
    #[arg(long, hide = true)]
    pub no_shortcuts: bool,
    /// Results that make the command fail
    #[arg(long, value_enum, value_name = "RESULT")]
    pub deny: Vec<Deny>,
    /// The time whose pauses are reported.
    #[command(flatten)]
    pub window: WindowArgs,
    /// Refused: captures are of one run.
    #[arg(long, hide = true, value_name = "NODE/PORT=FILE")]
    pub pcap: Vec<String>,
    /// Recordings.
    #[command(flatten)]
    pub record: RecordArgs,
    /// One figure.
    #[command(flatten)]
    pub figure: FigureArgs,
}

/// The time whose pauses are reported.
#[derive(Args, Debug)]
pub(crate) struct WindowArgs {
    /// Report pauses and their victims from this time on, such as 1ms
    #[arg(long, value_name = "TIME")]
    pub from: Option<weir_core::Time>,
    /// Report pauses and their victims up to this time, such as 2ms
    #[arg(long, value_name = "TIME")]
    pub to: Option<weir_core::Time>,
}

/// One figure of a comparison.
#[derive(Args, Debug)]
pub(crate) struct FigureArgs {
    /// Write one figure instead of printing the table; `list` prints all names
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "columns"])]
    pub figure: Option<String>,
    /// Format of the figure; default: by the extension of -o, else svg
    #[arg(long, value_name = "FORMAT", requires = "figure")]
    #[arg(value_parser = words::one_of([Format::Pdf, Format::Svg, Format::Png, Format::Csv]))]
    pub format: Option<Format>,
    /// Size of the figure
    #[arg(long, value_name = "SIZE", requires = "figure", default_value = "column")]
    #[arg(value_parser = words::one_of(Size::ALL))]
    pub size: Size,
    /// File of the figure, - for standard output; default: SCENARIO-NAME.FORMAT
    #[arg(short, long = "output", value_name = "FILE", requires = "figure")]
    pub output: Option<PathBuf>,
}

/// Where results of `weir run` and `weir compare` go.
#[derive(Args, Debug)]
pub(crate) struct Results {
    /// Write data and a page of figures to this directory (new, empty, or with earlier results)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace results of another scenario in the directory of --out
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Also write tables as Parquet (in builds with `--features parquet`)
    #[arg(long, requires = "out")]
    pub parquet: bool,
    /// Keep where the completion time of each flow went: columns in flows.csv, blame.csv,
    /// culprits.csv (see `weir blame`)
    #[arg(long, requires = "out")]
    pub blame: bool,
}

/// `weir run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir run incast
  weir run ofc-fig1 --scheme pfc --out out/fig1   writes out/fig1/index.html
  weir run my.toml --set traffic.0.load=60% --seed 3
  weir run my.toml --variant BFC-32Q              one of its [[variant]]s
  weir run my.toml --from 1ms --to 2ms            pauses of this millisecond
  weir run ofc-fig1 --pcap Sb/p0=sb.pcapng        a capture for Wireshark
  weir run incast --log incast.log                what each node did, to verify
  weir run ring-deadlock --deny deadlock          exit code 1 on a deadlock")]
pub(crate) struct Run {
    /// A scenario file, - for standard input, or a built-in scenario (see `weir scenarios`)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    #[command(flatten)]
    pub chosen: VariantArgs,
    /// One seed; default: all seeds of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the scenario, such as switch.buffer=2MB or traffic.0.size=1MB; may be
    /// repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    #[command(flatten)]
    pub results: Results,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Number of threads; fewer are used if there is too little work for N, unless written N!.
    /// The result is the same for any number
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: EngineConfig,
    /// Send every packet on the plain path, without shortcuts; the result is the same
    #[arg(long, hide = true)]
    pub no_shortcuts: bool,
    /// Results that make the command fail
    #[arg(long, value_enum, value_name = "RESULT")]
    pub deny: Vec<Deny>,
    /// The time whose pauses are reported.
    #[command(flatten)]
    pub window: WindowArgs,
    /// Captures for Wireshark.
    #[command(flatten)]
    pub captures: CaptureArgs,
    /// Record what each node is given and answers; `weir live replay` verifies it
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Recordings.
    #[command(flatten)]
    pub record: RecordArgs,
}

/// A result that a caller does not want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    /// A deadlock.
    Deadlock,
    /// A run that cannot make progress although bytes are undelivered.
    Stall,
    /// Any lost packet.
    Loss,
    /// A flow with an end that did not finish.
    Unfinished,
}

/// `weir topo`.
#[derive(Args, Debug)]
pub(crate) struct Topo {
    /// The scenario.
    #[command(flatten)]
    pub input: Input,
    /// Draw the topology to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `weir traffic`.
#[derive(Args, Debug)]
pub(crate) struct Traffic {
    /// The scenario.
    #[command(flatten)]
    pub input: Input,
    /// Seed; default: the first seed of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Format of the flows
    #[arg(long, value_enum, default_value_t = FlowFormat::Csv, value_name = "FORMAT")]
    pub format: FlowFormat,
}

/// How `weir traffic` writes flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlowFormat {
    /// A table that scenarios read with `kind = "list"`.
    Csv,
    /// FLOW_FILE of the HPCC ns-3 simulator; nodes have the numbers of the topology, from 0.
    Ns3,
}

/// Something of a list.
#[derive(Args, Debug)]
pub(crate) struct Named {
    /// Show only this one, in full
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
