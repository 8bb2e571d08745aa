//! The `weir` command as a library: a program of one's own is the whole command with own schemes,
//! congestion controls, traffic patterns, topologies and probes in it.
//!
//! ```no_run
//! use weir::Weir;
//!
//! # use weir::fc::none::INFO as MINE;
//! fn main() -> std::process::ExitCode {
//!     Weir::new().scheme(&MINE).main()
//! }
//! ```
//!
//! The crates it is made of are re-exported, so that `weir` is all that such a program depends on.

mod args;
mod command_line;
mod commands;
mod progress;
mod status;
mod terminal;

pub use weir_cc as cc;
pub use weir_core as core;
pub use weir_fabric as fabric;
pub use weir_fc as fc;
pub use weir_net as net;
pub use weir_results as results;
pub use weir_scenario as scenario;
pub use weir_sim as sim;
pub use weir_traffic as traffic;

use args::{Export, ExportTo, Import, ImportFrom, Sonic, SonicWhat};
use clap::{CommandFactory, Parser};
use command_line::{Cli, Command};
use status::Status;
use std::process::ExitCode;
use terminal::Terminal;
use weir_cc::OwnCc;
use weir_core::registry::AddError;
use weir_fc::SchemeInfo;
use weir_net::build::TopologyInfo;
use weir_sim::probe::ProbeInfo;
use weir_traffic::catalogue::PatternInfo;

/// The command, with what a program adds to it.
///
/// What is added is there wherever a built-in thing is: in scenarios, `compare`, `check`, sweeps,
/// experiments of papers, lists, the schema and the help. Records of sweeps name the program that
/// made them, so results of two builds are never mixed.
#[must_use = "nothing happens before `main` is called"]
#[derive(Debug, Default)]
pub struct Weir {
    wrong: Vec<AddError>,
}

impl Weir {
    /// The command as it is.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, added: Result<(), AddError>) -> Self {
        self.wrong.extend(added.err());
        self
    }

    /// Adds a flow control scheme: `[flow-control] scheme = "NAME"`.
    pub fn scheme(self, info: &'static SchemeInfo) -> Self {
        self.with(weir_fc::SCHEMES.add(info))
    }

    /// Adds a congestion control: `[congestion-control] algorithm = "NAME"`.
    pub fn congestion_control(self, own: OwnCc) -> Self {
        // a handful per program, and needed until it ends
        self.with(weir_cc::OWN.add(Box::leak(Box::new(own))))
    }

    /// Adds a traffic pattern: `[[traffic]] kind = "NAME"`.
    pub fn pattern(self, info: &'static PatternInfo) -> Self {
        self.with(weir_traffic::catalogue::PATTERNS.add(info))
    }

    /// Adds a topology: `[topology] kind = "NAME"`.
    pub fn topology(self, info: &'static TopologyInfo) -> Self {
        self.with(weir_net::build::TOPOLOGIES.add(info))
    }

    /// Adds a probe to every run; its table is `probe-NAME.csv`.
    pub fn probe(self, info: &'static ProbeInfo) -> Self {
        self.with(weir_sim::probe::OWN.add(info))
    }

    /// Reads the arguments of the process and does what they say.
    pub fn main(self) -> ExitCode {
        if !self.wrong.is_empty() {
            for error in &self.wrong {
                eprintln!("error: {error}");
            }
            return ExitCode::from(Status::BadInput.code());
        }
        command()
    }
}

fn command() -> ExitCode {
    let cli = Cli::parse();
    let terminal = Terminal::new(cli.color, cli.quiet);
    let done = match (cli.generate, cli.command) {
        (Some(what), _) => commands::generate(what),
        (None, Some(command)) => dispatch(command, &terminal),
        (None, None) => {
            // clap prints the help for no arguments at all; this is `weir --quiet`
            let _ = Cli::command().print_help();
            Ok(Status::BadInput)
        }
    };
    let status = match done {
        Ok(status) => status,
        Err(error) if terminal::is_broken_pipe(&error) => Status::Done,
        Err(error) => {
            terminal.error(&error);
            match error.downcast_ref::<weir_sim::SimError>() {
                Some(error) if !weir_results::run::is_bad_input(error) => Status::InvalidRun,
                _ => Status::BadInput,
            }
        }
    };
    ExitCode::from(status.code())
}

fn dispatch(command: Command, terminal: &Terminal) -> anyhow::Result<Status> {
    match command {
        Command::Compare(args) => commands::compare(&args, terminal),
        Command::Run(args) => commands::run(&args, terminal),
        Command::Sweep(args) => commands::sweep(&args, terminal),
        Command::Paper(args) => commands::paper(&args, terminal),
        Command::View(args) => commands::view(&args, terminal),
        Command::Export(Export { to: ExportTo::Perfetto(args) }) => {
            commands::export_perfetto(&args, terminal)
        }
        Command::Check(args) => commands::check(&args, terminal),
        Command::Topo(args) => commands::topo(&args, terminal),
        Command::Search(args) => commands::search(&args, terminal),
        Command::Diff(args) => commands::diff(&args, terminal),
        Command::Lint(args) => commands::lint(&args, terminal),
        Command::Traffic(args) => commands::traffic(&args, terminal),
        Command::Scenarios(args) => commands::scenarios(&args, terminal),
        Command::Schemes(args) => commands::schemes(&args, terminal),
        Command::Topologies(args) => commands::topologies(&args, terminal),
        Command::Patterns(args) => commands::patterns(&args, terminal),
        Command::Workloads(args) => commands::workloads(&args, terminal),
        Command::Ns3(args) => commands::ns3(&args, terminal),
        Command::Import(Import { from: ImportFrom::Ns3(args) }) => {
            commands::import_ns3(&args, terminal)
        }
        Command::Import(Import { from: ImportFrom::Pcap(args) }) => {
            commands::import_pcap(&args, terminal)
        }
        Command::Import(Import { from: ImportFrom::Sonic(args) }) => {
            commands::import_sonic(&args, terminal)
        }
        Command::Sonic(Sonic { what: SonicWhat::Check(args) }) => {
            commands::sonic_check(&args, terminal)
        }
        Command::Import(Import { from: ImportFrom::Cabling(args) }) => {
            commands::import_cabling(&args, terminal)
        }
        Command::Import(Import { from: ImportFrom::Goal(args) }) => {
            commands::import_trace(&args, "a GOAL schedule", terminal)
        }
        Command::Import(Import { from: ImportFrom::Chakra(args) }) => {
            commands::import_trace(&args, "a Chakra trace", terminal)
        }
        Command::Import(Import { from: ImportFrom::Htsim(args) }) => {
            commands::import_trace(&args, "an htsim matrix", terminal)
        }
        Command::Import(Import { from: ImportFrom::Simai(args) }) => {
            commands::import_simai(&args, terminal)
        }
        Command::Fct(args) => commands::fct(&args, terminal),
        Command::Live(args) => commands::live(&args, terminal),
        Command::Blame(args) => commands::blame(&args, terminal),
        Command::Collectives(args) => commands::collectives(&args, terminal),
        Command::Goal(args) => commands::goal(&args, terminal),
        Command::Advise(args) => commands::advise(&args, terminal),
        Command::Explain(args) => commands::explain(&args, terminal),
        Command::Schema => commands::schema(),
        Command::Bench(args) => commands::bench(&args, terminal),
        Command::Completions(args) => commands::completions(&args, Cli::command()),
        Command::Man(args) => commands::man(&args, Cli::command()),
    }
}
