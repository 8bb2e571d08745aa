//! The command line as a whole, and the help that teaches it.

use crate::args::{
    Advise, Bench, Blame, Check, Compare, Completions, Explain, Export, Fct, Generate, Goal,
    Import, Man, Named, Ns3, Run, Sonic, Topo, Traffic, View,
};
use crate::commands;
use crate::terminal::ColourWhen;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

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
  weir compare                       a victim of PFC, under every scheme
  weir scenarios                     scenarios to start from
  weir run incast --out out/incast   one run, with a page of figures
  weir check my.toml                 resolved settings, without a run
  weir paper run all                 the papers' numbers beside ours

Exit codes:
  0    done (a deadlock is a result, unless --deny deadlock)
  1    a check failed (--deny, unfinished flows of weir ns3), or runs of a
       sweep have no result
  2    bad input: an invalid scenario or argument
  3    invalid run: an invariant failed, or a lossless priority lost packets
  130  interrupted; partial results are written and labelled";

/// A laboratory for lossless data-centre networks.
#[derive(Parser, Debug)]
#[command(name = "weir", version, about = ABOUT, styles = STYLES, after_help = FIRST_STEPS)]
#[command(subcommand_required = false, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Print only results and errors
    #[arg(short, long, global = true, display_order = 900)]
    pub quiet: bool,
    /// When to use colours; NO_COLOR is respected
    #[arg(long, global = true, value_enum, default_value_t = ColourWhen::Auto, value_name = "WHEN")]
    #[arg(display_order = 901)]
    pub color: ColourWhen,
    /// Write a generated file of the source tree to standard output
    #[arg(long, hide = true, value_enum)]
    pub generate: Option<Generate>,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a scenario under several schemes on identical traffic and print one table
    Compare(Compare),
    /// Run a scenario under one scheme
    Run(Run),
    /// Make many runs over grids of parameters, on this machine or a cluster; resumable
    Sweep(commands::Sweep),
    /// Repeat the experiments of papers and compare their numbers with ours
    Paper(commands::Paper),
    /// Watch recordings in a browser: pauses that spread, their causes and victims
    View(View),
    /// Convert recordings into files of other programs
    Export(Export),
    /// Check a scenario and print its resolved settings, without running it
    #[command(after_help = "\
Examples:
  weir check incast                            every setting, with defaults
  weir check incast --scheme bfc --cc dcqcn    those of another scheme
  weir check my.toml --variant BFC-32Q         those of one of its [[variant]]s
  weir check my.toml --set switch.buffer=2MB   the same with another buffer")]
    Check(Check),
    /// Describe the topology of a scenario, or draw it
    #[command(after_help = "\
Examples:
  weir topo ofc-fig1
  weir topo my.toml --svg fabric.svg")]
    Topo(Topo),
    /// Find the smallest or largest value of a setting that keeps a property
    Search(commands::Search),
    /// Compare two scenarios or two results: what changed, and can it be told from chance
    Diff(commands::Diff),
    /// Check whether a network can deadlock, now or once links have failed
    Lint(commands::Lint),
    /// Write the flows of a scenario, as CSV or for the HPCC ns-3 simulator
    #[command(after_help = "\
A scenario can read the CSV file with `kind = \"list\"`.

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
    /// Run a configuration of the HPCC ns-3 simulator, with the same output line by line
    Ns3(Ns3),
    /// Convert the files of another simulator into a scenario
    Import(Import),
    /// Show slowdown by flow size, from results of Weir or the HPCC ns-3 simulator
    Fct(Fct),
    /// Show where the completion time of each flow went, and whose fault it was
    Blame(Blame),
    /// Measure the bus bandwidth of a collective over message sizes
    Collectives(commands::Collectives),
    /// Run a GOAL schedule under the LogGOPS model, without packets
    Goal(Goal),
    /// Run a scenario on real Ethernet frames of this machine; replay logs
    Live(commands::Live),
    /// Compute headroom, thresholds and marking for a link, confirmed by a run
    Advise(Advise),
    /// Check configurations of SONiC switches
    Sonic(Sonic),
    /// Explain a code of a finding of `weir sonic check`
    Explain(Explain),
    /// Print the JSON schema of scenario files, for editors
    Schema,
    /// Run the benchmarks: packet-hops per processor second
    Bench(Bench),
    /// Write shell completions to standard output
    #[command(after_help = "\
Examples:
  weir completions bash > ~/.local/share/bash-completion/completions/weir
  weir completions zsh > \"${fpath[1]}/_weir\"
  weir completions fish > ~/.config/fish/completions/weir.fish")]
    Completions(Completions),
    /// Write the man page, or the man page of one command, to standard output
    #[command(after_help = "\
Examples:
  weir man | man -l -
  weir man compare > ~/.local/share/man/man1/weir-compare.1")]
    Man(Man),
}
