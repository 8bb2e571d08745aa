//! `weir lint`: can this network deadlock, now or once links have failed?

mod confirm;
mod report;
mod subject;

use super::outputs::{keep_inputs, writable};
use crate::Status;
use crate::args::words;
use crate::terminal::{Terminal, print};
use anyhow::{Context, bail};
use clap::Args;
use report::{Cure, Example, FailureReport, Report, State};
use std::path::PathBuf;
use subject::Subject;
use weir_core::LinkId;
use weir_lint::failures::Fabric;
use weir_lint::{Cycle, Dependencies, Rerouting, Tables, fib, routes_of};

/// `weir lint`.
#[derive(Args, Debug)]
#[command(after_help = "\
Buffers that can wait for each other in a cycle (a cyclic buffer dependency) are
where PFC can deadlock. The check is of all routes between all hosts, whatever
the traffic. The exit code is 1 if a deadlock is possible.

Examples:
  weir lint ring-deadlock
  weir lint ring-deadlock --confirm            the traffic that closes the cycle
  weir lint k-ary-fat-tree --set topology.k=8 --failures 2
  weir lint my.toml --routing bounce           local repair after a failure
  weir lint fabric.graph --routing up-down     a graph file
  weir lint my.toml --fib dump/                forwarding tables of the switches")]
pub(crate) struct Lint {
    /// A scenario, a ready-made topology (see `weir topologies`) or a graph file
    #[arg(value_name = "SCENARIO|TOPOLOGY")]
    pub input: String,
    /// Change a value of the scenario; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Look at all sets of up to K failed links
    #[arg(long, value_name = "K", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=4))]
    pub failures: u8,
    /// How the network routes, also around failures; default: as the scenario says
    #[arg(long, value_name = "HOW", conflicts_with = "fib")]
    #[arg(value_parser = words::one_of(Rerouting::ALL))]
    pub routing: Option<Rerouting>,
    /// Check dumped forwarding tables instead of computed ones: a directory with a file per switch
    #[arg(long, value_name = "DIR")]
    pub fib: Option<PathBuf>,
    /// Construct the traffic that closes a cycle, and run it
    #[arg(long)]
    pub confirm: bool,
    /// Write the scenario of --confirm to this file
    #[arg(long, value_name = "FILE", requires = "confirm")]
    pub out: Option<PathBuf>,
    /// If there are more sets of failed links than this, take a random sample of so many
    #[arg(long, value_name = "N", default_value_t = 2000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub most_sets: u32,
    /// Flow control scheme instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub scheme: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// How many sets of failed links are shown with their cycles.
const SHOWN: usize = 3;

/// `weir lint`.
pub(crate) fn lint(args: &Lint, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(subject) = Subject::load(args, terminal)? else { return Ok(Status::BadInput) };
    if let Some(out) = &args.out {
        keep_inputs(out, &subject.experiment.inputs())?;
        writable(out)?;
    }
    let mut report = match &args.fib {
        Some(directory) => verify(args, &subject, directory)?,
        None => design(args, &subject),
    };
    if args.confirm {
        confirm::confirm(args, &subject, &mut report, terminal)?;
    }
    match args.json {
        true => print(&serde_json::to_string_pretty(&report.json(&subject))?)?,
        false => print(&report.text(&subject, terminal.out))?,
    }
    Ok(if report.possible() { Status::CheckFailed } else { Status::Done })
}

/// The check of computed routes, and of those around failed links.
fn design(args: &Lint, subject: &Subject) -> Report {
    let topo = &*subject.experiment.topology;
    let mut report = Report::new(subject.how.title());
    if !subject.pauses() {
        return report;
    }
    for (when, down) in subject.states() {
        let fabric = Fabric { topo, how: subject.how, down: &down, paths: &subject.paths };
        let cycles = fabric.cycles(&[]);
        let tables = Tables::routed(topo, subject.how, &down);
        report.states.push(State::new(subject, when, down.clone(), cycles, &tables));
    }
    report.cure = cure(subject, &report);
    let down = subject.experiment.never_up();
    let fabric = Fabric { topo, how: subject.how, down: &down, paths: &subject.paths };
    for level in fabric.levels(args.failures.into(), args.most_sets as usize) {
        let cyclic = fabric.cyclic(&level.sets);
        let up_down = Fabric { how: Rerouting::UpDown, ..fabric };
        let still = cyclic.iter().filter(|set| up_down.dependencies(&set.links).is_cyclic());
        let example = |links: &[LinkId]| {
            let all = [&down, links].concat();
            let tables = Tables::routed(topo, subject.how, &all);
            let cycles = fabric.cycles(links);
            cycles.into_iter().next().map(|c| Example::new(subject, links.to_vec(), c, &tables))
        };
        report.failures.push(FailureReport {
            still_under_up_down: level.stands_for(still.copied()),
            examples: cyclic.iter().take(SHOWN).filter_map(|s| example(&s.links)).collect(),
            cyclic: level.stands_for(cyclic.iter().copied()),
            level,
        });
    }
    report
}

/// What up-down routing would do about the cycles of the network as it is.
fn cure(subject: &Subject, report: &Report) -> Option<Cure> {
    let state = report.states.iter().find(|s| !s.cycles.is_empty())?;
    let (topo, down) = (&*subject.experiment.topology, &state.down);
    let cyclic = |paths| {
        let fabric = Fabric { topo, how: Rerouting::UpDown, down, paths };
        fabric.dependencies(&[]).is_cyclic()
    };
    match (cyclic(&subject.paths), cyclic(&[])) {
        (false, _) => Some(Cure::Yes),
        (true, false) => Some(Cure::ButForPaths),
        (true, true) => None,
    }
}

/// The check of dumped tables.
fn verify(args: &Lint, subject: &Subject, directory: &PathBuf) -> anyhow::Result<Report> {
    if args.failures > 1 {
        bail!(
            "--fib checks the tables of one state: after a failure, dump the tables again; \
             --failures needs computed routes"
        );
    }
    let topo = &*subject.experiment.topology;
    let mut files = Vec::new();
    let context = || format!("cannot read {}", directory.display());
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory)
        .with_context(context)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()
        .with_context(context)?;
    entries.sort();
    for path in entries.iter().filter(|p| p.is_file()) {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        files.push((path.display().to_string(), text));
    }
    let tables = fib::read(topo, &files)?;
    let down = subject.experiment.never_up();
    let mut graph = Dependencies::new(topo);
    graph.add_tables(&tables);
    let mut report = Report::new("dumped forwarding tables");
    report.oddities = fib::oddities(topo, &tables, &down);
    if subject.pauses() {
        let cycles = graph.cycles();
        report.states.push(State::new(subject, "as dumped".into(), down, cycles, &tables));
    }
    report.tables = Some(tables);
    Ok(report)
}

/// The flows of a cycle, the first for each step of it.
fn flows(subject: &Subject, cycle: &Cycle, tables: &Tables) -> Vec<Option<String>> {
    let topo = &*subject.experiment.topology;
    let steps = routes_of(topo, tables, &subject.paths, cycle);
    steps.iter().map(|flows| flows.first().map(|f| f.describe(topo))).collect()
}
