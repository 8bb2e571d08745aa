//! The command line, and the help that teaches it.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use weir_lab::EngineConfig;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// What Weir is, and where to begin.
const ABOUT: &str = "A laboratory for lossless data-centre networks: what will this flow control \
                     scheme, with these thresholds, do to my traffic on my topology?";

const FIRST_STEPS: &str = "\
First steps:
  weir compare                        what PFC does to an innocent flow, and what others do
  weir scenarios                      scenarios to start from
  weir run incast --out out/incast    one run, with a page of figures
  weir check my.toml                  what a scenario amounts to, without running it
  weir paper run all                  experiments of papers, their numbers beside ours

Exit codes:
  0    done (a deadlock is a result, unless --deny deadlock)
  1    a check failed (--deny)
  2    bad input: a scenario or argument that makes no sense
  3    an invalid run: the books do not balance, or a lossless class lost packets
  130  interrupted; what there was is written and marked";

/// A laboratory for lossless data-centre networks.
#[derive(Parser, Debug)]
#[command(name = "weir", version, about = ABOUT, styles = STYLES, after_help = FIRST_STEPS)]
#[command(subcommand_required = false, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Say nothing but results and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// When to use colours; NO_COLOR is respected
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
    /// Write what the source tree keeps of the program's own making to standard output
    #[arg(long, hide = true, value_enum)]
    pub generate: Option<Generate>,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What `--generate` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generate {
    /// The scenario reference of the book, in Markdown.
    ScenarioReference,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a scenario under several schemes on identical traffic and print one table
    Compare(Compare),
    /// Run a scenario under one scheme
    Run(Run),
    /// Make thousands of runs, resumable, on this machine or a cluster
    Sweep(crate::commands::Sweep),
    /// Run the experiments of papers and compare their numbers with ours
    Paper(crate::commands::Paper),
    /// Say what a scenario amounts to, without running it
    #[command(after_help = "\
Examples:
  weir check incast                          what the defaults resolve to
  weir check my.toml --set switch.buffer=2MB the same with another buffer")]
    Check(Check),
    /// Describe the topology of a scenario, and draw it
    #[command(after_help = "\
Examples:
  weir topo ofc-fig1
  weir topo my.toml --svg fabric.svg")]
    Topo(Topo),
    /// Write the flows of a scenario, as CSV or for the HPCC ns-3 simulator
    #[command(after_help = "\
The columns can be read back by a scenario with `kind = \"list\"`.

Examples:
  weir traffic dumbbell > flows.csv
  weir traffic dumbbell --seed 7 | head
  weir traffic dumbbell --format ns3 > flow.txt")]
    Traffic(Traffic),
    /// List the built-in scenarios, or print one to copy and change
    Scenarios(Named),
    /// List flow control schemes and congestion controls with every parameter
    Schemes(Named),
    /// List ready-made topologies with every parameter
    Topologies(Named),
    /// List traffic patterns with every parameter
    Patterns(Named),
    /// List the flow size tables
    Workloads(Named),
    /// Run a configuration of the HPCC ns-3 simulator and get its numbers, line by line
    Ns3(Ns3),
    /// Convert the files of another simulator into a scenario
    Import(Import),
    /// Show slowdown by flow size, for results of ours and of the HPCC ns-3 simulator
    Fct(Fct),
    /// Print the JSON schema of scenario files, for editors
    Schema,
    /// Time the benchmarks: packet-hops per processor second
    Bench(Bench),
    /// Write completions for a shell
    #[command(after_help = "\
Examples:
  weir completions bash > ~/.local/share/bash-completion/completions/weir
  weir completions zsh > \"${fpath[1]}/_weir\"
  weir completions fish > ~/.config/fish/completions/weir.fish")]
    Completions(Completions),
    /// Write the man page, or that of one command
    #[command(after_help = "\
Examples:
  weir man | man -l -
  weir man compare > ~/.local/share/man/man1/weir-compare.1")]
    Man(Man),
}

/// `weir completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// For which shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `weir man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Of which command, such as `compare` or `sweep plan`; default: of the whole
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `weir bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
A packet-hop is one packet (data, ACK or control frame) crossing one link. A figure is void when
the machine was busy: when the time on the wall exceeds the processor time by more than 5 %.

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
    /// Threads: N uses fewer when windows are too small, N! forces it
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: EngineConfig,
    /// How often to run each; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `4`, or `4!` to insist.
fn threads(text: &str) -> Result<EngineConfig, String> {
    let (number, forced) = match text.strip_suffix('!') {
        Some(number) => (number, true),
        None => (text, false),
    };
    match number.parse() {
        Ok(threads @ 1..=1024) if forced => Ok(EngineConfig::Window { threads }),
        Ok(threads @ 1..=1024) => Ok(EngineConfig::Auto { threads }),
        _ => Err(format!("`{text}` is no number of threads: write 1 to 1024, or 4! to insist")),
    }
}

/// A scenario.
#[derive(Args, Debug)]
pub(crate) struct Input {
    /// A scenario file, - for standard input, or a built-in scenario (see `weir scenarios`)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Change a value of the scenario, such as switch.thresholds.xoff=90KB or traffic.0.size=1MB
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
    /// Congestion control instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub cc: Option<String>,
}

/// `weir compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Rows are the variants of the scenario ([[variant]]) or, if it has none, all schemes; --schemes and
--variant name others. All have the same traffic.

Examples:
  weir compare                                 OFC's Fig. 1 under every scheme
  weir compare incast --schemes pfc,none
  weir compare incast --variant 'BFC-8Q: bfc, queues=8' --variant 'BFC-32Q: bfc, queues=32'
  weir compare incast --variant pfc --variant 'DCQCN+PFC: pfc, cc=dcqcn, switch.buffer=12MB'
  weir compare dumbbell --columns victim:slowdown_p99,pauses_sent
  weir compare dumbbell --seeds 1..10          ten seeds, with confidence intervals
  weir compare my.toml --set switch.buffer=2MB --out out/my
  weir compare --figure list                   figures that can be asked for
  weir compare dumbbell --seeds 1..5 --figure slowdown-by-size --format pdf")]
pub(crate) struct Compare {
    /// A scenario file, - for standard input, or a built-in scenario (see `weir scenarios`)
    #[arg(value_name = "SCENARIO", default_value = "ofc-fig1")]
    pub scenario: String,
    /// Which schemes, the first is what the others are compared with; default: the variants of the
    /// scenario, or all schemes
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// A row `LABEL: SCHEME, cc=NAME, KEY=VALUE, ...` with parameters of the scheme and any keys of
    /// the scenario, or the label of one of the scenario's variants; may be repeated
    #[arg(long = "variant", value_name = "VARIANT")]
    pub variants: Vec<String>,
    /// Congestion control of rows that do not name one, instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub cc: Option<String>,
    /// Columns of the table: `[CLASS:]METRIC[@SIZES]`, separated by commas; `list` shows them
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// One seed instead of the scenario's
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    pub seed: Option<u64>,
    /// Several seeds instead of the scenario's: 1..10 or 1,2,5
    #[arg(long, value_name = "LIST")]
    pub seeds: Option<String>,
    /// Change a value of the scenario
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Write data and a page of figures to this directory: new, empty, or of earlier results
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write tables as Parquet too (in builds with `--features parquet`)
    #[arg(long, requires = "out")]
    pub parquet: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// How many runs at a time; default: as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Send every packet the plain way, without shortcuts; never changes a result
    #[arg(long, hide = true)]
    pub no_shortcuts: bool,
    /// Results that make the command fail
    #[arg(long, value_enum, value_name = "RESULT")]
    pub deny: Vec<Deny>,
    /// The time whose pauses are reported.
    #[command(flatten)]
    pub window: WindowArgs,
    /// One figure.
    #[command(flatten)]
    pub figure: FigureArgs,
}

/// The time whose pauses are reported.
#[derive(Args, Debug)]
pub(crate) struct WindowArgs {
    /// Report pauses and their victims from this time on, such as 1ms
    #[arg(long, value_name = "TIME")]
    pub from: Option<weir_lab::Time>,
    /// Report pauses and their victims up to this time, such as 2ms
    #[arg(long, value_name = "TIME")]
    pub to: Option<weir_lab::Time>,
}

/// One figure of a comparison.
#[derive(Args, Debug)]
pub(crate) struct FigureArgs {
    /// Write one figure instead of printing the table; `list` shows their names
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub figure: Option<String>,
    /// What to write it as; default: as the file name of -o ends, else svg
    #[arg(long, value_enum, value_name = "FORMAT", requires = "figure")]
    pub format: Option<FigureFormat>,
    /// How large: one column of a paper, two columns, or as on the page
    #[arg(long, value_enum, value_name = "SIZE", requires = "figure")]
    #[arg(default_value_t = FigureSize::Column)]
    pub size: FigureSize,
    /// Where to write it, - for standard output; default: SCENARIO-NAME.FORMAT
    #[arg(short, long = "output", value_name = "FILE", requires = "figure")]
    pub output: Option<PathBuf>,
}

/// What a figure is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureFormat {
    /// For papers; text as outlines, no fonts needed.
    Pdf,
    /// For pages, and to be edited.
    Svg,
    /// 300 pixels per inch.
    Png,
    /// The numbers behind it, in base units.
    Csv,
}

/// How large a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureSize {
    /// One column of a two-column paper: 3.33 inches wide.
    Column,
    /// Both columns: 7 inches wide.
    Wide,
    /// As on the page of `--out`: 10 inches wide, larger text.
    Page,
}

/// `weir run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir run incast
  weir run ofc-fig1 --scheme pfc --out out/fig1       then open out/fig1/index.html
  weir run my.toml --set traffic.0.load=60% --seed 3
  weir run my.toml --variant BFC-32Q                  a row of its [[variant]]s
  weir run my.toml --from 1ms --to 2ms --out out/my   pauses and victims of this millisecond
  weir run ring-deadlock --deny deadlock              exits with 1 if it deadlocks")]
pub(crate) struct Run {
    /// A scenario file, - for standard input, or a built-in scenario (see `weir scenarios`)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Flow control scheme instead of the scenario's
    #[arg(long, value_name = "NAME", conflicts_with = "variant")]
    pub scheme: Option<String>,
    /// One of the scenario's variants by its label, or a variant as in `weir compare`
    #[arg(long, value_name = "VARIANT")]
    pub variant: Option<String>,
    /// Congestion control instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub cc: Option<String>,
    /// One seed instead of the scenario's, all of which are run
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the scenario, such as switch.thresholds.xoff=90KB or traffic.0.size=1MB
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Write data and a page of figures to this directory: new, empty, or of earlier results
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write tables as Parquet too (in builds with `--features parquet`)
    #[arg(long, requires = "out")]
    pub parquet: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Threads: N uses fewer when there is too little to do at a time, N! forces it; never
    /// changes a result
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: EngineConfig,
    /// Send every packet the plain way, without shortcuts; never changes a result
    #[arg(long, hide = true)]
    pub no_shortcuts: bool,
    /// Results that make the command fail
    #[arg(long, value_enum, value_name = "RESULT")]
    pub deny: Vec<Deny>,
    /// The time whose pauses are reported.
    #[command(flatten)]
    pub window: WindowArgs,
}

/// A result that a caller does not want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    /// A deadlock.
    Deadlock,
    /// A run that stops although there is something to send.
    Stall,
    /// Any lost packet.
    Loss,
}

/// `weir topo`.
#[derive(Args, Debug)]
pub(crate) struct Topo {
    /// The scenario.
    #[command(flatten)]
    pub input: Input,
    /// Draw it to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `weir traffic`.
#[derive(Args, Debug)]
pub(crate) struct Traffic {
    /// The scenario.
    #[command(flatten)]
    pub input: Input,
    /// Seed instead of the scenario's first
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How to write them
    #[arg(long, value_enum, default_value_t = FlowFormat::Csv, value_name = "FORMAT")]
    pub format: FlowFormat,
}

/// How `weir traffic` writes flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlowFormat {
    /// A table that scenarios read with `kind = "list"`.
    Csv,
    /// FLOW_FILE of the HPCC ns-3 simulator; nodes are numbered as `weir topo` lists them.
    Ns3,
}

/// `weir ns3`.
#[derive(Args, Debug)]
#[command(after_help = "\
Reads the configuration with its topology, flow and trace files unchanged, and writes fct.txt,
pfc.txt, qlen.txt and mix.tr where it says, or with --out into one directory. Our own results stand
beside them: summary.json, flows.csv and perf.json.

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
    /// Print the summary as JSON
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
}

/// `weir import ns3`.
#[derive(Args, Debug)]
#[command(after_help = "\
What cannot be carried over stands in comments at the head of the scenario.

Examples:
  weir import ns3 mix/config.txt > scenario.toml           flows stand in the scenario
  weir import ns3 mix/config.txt --out scenario.toml       flows go to scenario.flows.csv")]
pub(crate) struct ImportNs3 {
    /// The configuration file
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Write the scenario to this file and the flows beside it
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `weir fct`.
#[derive(Args, Debug)]
#[command(after_help = "\
Flows are sorted by size and cut into buckets of equal count. Slowdown is completion time over the
time alone in the network, at least 1. In fct.txt that is the original's estimate, and time runs to
the last ACK; in flows.csv of native runs it is the exact time, to the last byte.

Examples:
  weir fct results/fct.txt other/fct.txt
  weir fct results/fct.txt out/incast/flows.csv --class background --svg slowdown.svg
  weir fct out/web/flows.csv --sizes 0..10KB,10KB..100KB,100KB..   by range, with intervals over \
  seeds")]
pub(crate) struct Fct {
    /// Files: flows.csv of ours, or fct.txt of the HPCC ns-3 simulator
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only this class; in fct.txt background is port 100 and incast 200, or write the port
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,
    /// Only flows that finished before this time, such as 3s
    #[arg(long, value_name = "TIME")]
    pub before: Option<weir_lab::Time>,
    /// Ranges of sizes instead of buckets, such as 0..10KB,10KB..; means over the seeds of a file
    /// with 95 % confidence intervals
    #[arg(long, value_name = "A..B,...", conflicts_with_all = ["buckets", "svg"])]
    pub sizes: Option<String>,
    /// How many buckets
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub buckets: u16,
    /// Write the table as CSV to this file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw it to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Something of a list.
#[derive(Args, Debug)]
pub(crate) struct Named {
    /// Show only this one, with every detail
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
