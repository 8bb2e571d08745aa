//! The `weir` command.

mod args;
mod commands;
mod progress;
mod terminal;

use args::{Cli, Command, Import, ImportFrom};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;
use terminal::Terminal;

/// Small tables of thousands of nodes lie closer together with it than with the system's
/// allocator, which is worth about a tenth of a simulation's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How a command ends. The numbers are documented in the help and in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// 0
    Done,
    /// 1
    CheckFailed,
    /// 2
    BadInput,
    /// 3
    InvalidRun,
    /// 130
    Interrupted,
}

impl Status {
    const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::CheckFailed => 1,
            Self::BadInput => 2,
            Self::InvalidRun => 3,
            Self::Interrupted => 130,
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let terminal = Terminal::new(&cli);
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
        Command::Check(args) => commands::check(&args, terminal),
        Command::Topo(args) => commands::topo(&args, terminal),
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
        Command::Fct(args) => commands::fct(&args, terminal),
        Command::Goal(args) => commands::goal(&args, terminal),
        Command::Schema => commands::schema(),
        Command::Bench(args) => commands::bench(&args, terminal),
        Command::Completions(args) => commands::completions(&args),
        Command::Man(args) => commands::man(&args),
    }
}
