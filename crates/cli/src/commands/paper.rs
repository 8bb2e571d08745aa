//! `weir paper`: experiments of papers, with the papers' numbers beside ours.

mod explain;
mod lists;
mod verdicts;

use super::sweep::{Cluster, Engine, cores, note_done, shown, submit_to_slurm};
use crate::Status;
use crate::terminal::{Terminal, print, tell};
use anyhow::Context;
use clap::{Args, Subcommand};
use lists::{check, claims, claims_json, list, list_json};
use std::path::PathBuf;
use verdicts::{show_counts, show_verdicts, tell_undiscussed};
use weir_core::format;
use weir_paper::catalogue::{Chosen, choose};
use weir_paper::run::{self, Planned};
use weir_paper::setting::{Setting, Trouble};
use weir_paper::undiscussed::undiscussed;
use weir_paper::{Counts, Mode, Overrides, changed, origin};
use weir_sweep::directory::SweepDir;
use weir_sweep::seeds;
use weir_sweep::shard::Shard;
use weir_sweep::status::Status as Progress;
use weir_sweep::worker::{Meter, Options, work_all};

/// `weir paper`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir paper list                all experiments of all papers
  weir paper claims ofc          the paper's claims, and the rules to judge them
  weir paper run all             every experiment, scaled down to minutes
  weir paper run OFC-E1 --full   one experiment at the paper's scale
  weir paper run OFC-E1 --set topology.rate=100Gbps
                                 the same with another setting
  weir paper run my-paper/       your own directory
  weir paper explain FS-F10      which readings and settings would make claims hold
  weir paper check my-paper/     check your own files without a run")]
pub(crate) struct Paper {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do with papers.
#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// List papers and their experiments
    List(Which),
    /// Run experiments, or continue, and compare the papers' numbers with ours
    Run(RunArgs),
    /// Show the claims of papers and the rules that judge them; needs no runs
    Claims(Which),
    /// Check all files and resolve every run, without running anything
    Check(Which),
    /// Write the page and figures again from existing results; `run` does this at its end
    Report(ReportArgs),
    /// Write numbers, figures and verdicts of full runs, for a repository
    Publish(PublishArgs),
    /// Judge published experiments again by their published numbers, without a run
    Judge(JudgeArgs),
    /// Try combinations of readings and open settings, and say which of them would make a paper's
    /// claims hold
    Explain(explain::ExplainArgs),
    /// Print the table that artifact evaluations ask for: claim, experiment, command, minutes and
    /// expected verdict
    Appendix(AppendixArgs),
}

/// `weir paper judge`.
#[derive(Args, Debug)]
#[command(after_help = "\
Reads PAPER/EXPERIMENT/values.csv below DIR and writes verdicts, counts and
pages there again. Experiments that were published without values keep their
verdicts and are named.")]
pub(crate) struct JudgeArgs {
    /// Papers or directories of your own; default: all papers
    #[arg(value_name = "PAPER|DIR")]
    names: Vec<String>,
    /// Directory of the published results
    #[arg(short, long, value_name = "DIR", default_value = "papers/results")]
    output: PathBuf,
}

/// `weir paper appendix`.
#[derive(Args, Debug)]
pub(crate) struct AppendixArgs {
    /// Papers, experiments, `all`, or directories of your own; default: all papers
    #[arg(value_name = "ID|PAPER|DIR")]
    names: Vec<String>,
    /// Directory of the published results
    #[arg(long, value_name = "DIR", default_value = "papers/results")]
    from: PathBuf,
    /// Print CSV instead of a table
    #[arg(long)]
    csv: bool,
}

/// `weir paper report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Papers, experiments, `all`, or directories of your own; default: all papers
    #[arg(value_name = "ID|PAPER|DIR")]
    names: Vec<String>,
    /// Report the full runs instead of the quick ones
    #[arg(long)]
    full: bool,
    /// Report the runs that were made with these settings
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = read_set)]
    sets: Vec<String>,
    /// Directory of the results
    #[arg(short, long, value_name = "DIR", default_value = "weir-out/papers")]
    out: PathBuf,
}

/// `weir paper publish`.
#[derive(Args, Debug)]
pub(crate) struct PublishArgs {
    /// Papers, experiments, `all`, or directories of your own; default: all papers
    #[arg(value_name = "ID|PAPER|DIR")]
    names: Vec<String>,
    /// Directory of the results
    #[arg(long, value_name = "DIR", default_value = "weir-out/papers")]
    from: PathBuf,
    /// Directory to write to
    #[arg(short, long, value_name = "DIR", default_value = "papers/results")]
    output: PathBuf,
    /// Only write the pages of what is published there again: texts have changed, no runs are
    /// needed
    #[arg(long, conflicts_with = "from")]
    pages: bool,
}

/// Papers, experiments or directories.
#[derive(Args, Debug)]
pub(crate) struct Which {
    /// Papers, experiments or directories of your own; default: all papers
    #[arg(value_name = "ID|PAPER|DIR")]
    names: Vec<String>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// `weir paper run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Run the same command again to continue after Ctrl-C or a crash. The directory
of an experiment, OUT/quick/PAPER/EXPERIMENT, is that of a sweep: `weir sweep
status` and `weir sweep run` accept it.

Exit codes: 1 if a run failed or a claim has no number, 3 if a lossless
priority lost packets.")]
pub(crate) struct RunArgs {
    /// Papers, experiments, `all`, or directories of your own
    #[arg(value_name = "ID|PAPER|all|DIR", required = true)]
    names: Vec<String>,
    /// Run scaled-down experiments, which take minutes (the default)
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Run experiments at the papers' scale
    #[arg(long)]
    full: bool,
    /// Seeds 1 to N, or a list such as 1..10, instead of the experiments' own
    #[arg(long, value_name = "N", value_parser = read_seeds)]
    seeds: Option<Seeds>,
    /// Change a value of the scenario in all runs, such as topology.rate=100Gbps; may be repeated.
    /// Results are kept apart and marked
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = read_set)]
    sets: Vec<String>,
    /// Number of runs at a time; default: the number of processors
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Directory of the results
    #[arg(short, long, value_name = "DIR", default_value = "weir-out/papers")]
    out: PathBuf,
    /// Accept results of every build of this version
    #[arg(long)]
    any_build: bool,
    /// Where to make the runs
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "local")]
    engine: Engine,
    #[command(flatten)]
    cluster: Cluster,
}

/// Seeds of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Seeds(Vec<u64>);

fn read_seeds(text: &str) -> Result<Seeds, String> {
    match text.trim().parse::<u64>() {
        Ok(0) => Err("0 seeds: there would be no runs".to_owned()),
        Ok(n) => seeds::parse(&format!("1..{n}")).map(Seeds),
        Err(_) => seeds::parse(text).map(Seeds),
    }
}

fn read_set(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((path, _)) if !path.trim().is_empty() => Ok(text.trim().to_owned()),
        _ => Err("write a path and a value, such as switch.buffer=2MB".to_owned()),
    }
}

/// `weir paper`.
pub(crate) fn paper(args: &Paper, terminal: &Terminal) -> anyhow::Result<Status> {
    let names = match &args.verb {
        Verb::List(which) | Verb::Claims(which) | Verb::Check(which) => &which.names,
        Verb::Run(args) => &args.names,
        Verb::Report(args) => &args.names,
        Verb::Publish(args) => &args.names,
        Verb::Judge(args) => &args.names,
        Verb::Appendix(args) => &args.names,
        // names of explanations are names, too
        Verb::Explain(args) => return explain::explain(args, terminal),
    };
    let chosen = match choose(names) {
        Ok(chosen) => chosen,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    match &args.verb {
        Verb::List(which) if which.json => list_json(&chosen),
        Verb::List(_) => list(&chosen, terminal),
        Verb::Run(args) => run_all(&chosen, args, terminal),
        Verb::Claims(which) if which.json => claims_json(&chosen),
        Verb::Claims(_) => claims(&chosen, terminal),
        Verb::Check(_) => check(&chosen, terminal),
        Verb::Report(args) => report(&chosen, args, terminal),
        Verb::Publish(args) => publish(&chosen, args, terminal),
        Verb::Judge(args) => judge(&chosen, args, terminal),
        Verb::Explain(_) => Ok(Status::Done),
        Verb::Appendix(args) => lists::appendix(&chosen, &args.from, args.csv, terminal),
    }
}

/// The page of everything that was run in this directory, not only of what was run last.
fn write_page(chosen: &[Chosen], setting: &Setting) -> anyhow::Result<PathBuf> {
    let own: Vec<&Chosen> = chosen.iter().filter(|c| c.paper.directory.is_some()).collect();
    let mut papers = choose(&[]).unwrap_or_default();
    // what others have run under the names of the papers inside the program is not theirs
    papers.retain(|c| own.iter().all(|other| other.paper.id != c.paper.id));
    for Chosen { paper, experiments } in &mut papers {
        let mut fitting = Vec::new();
        for at in std::mem::take(experiments) {
            let e = &paper.experiments[at];
            if origin::fits(paper, e, setting)? && origin::fits(paper, paper.runs_of(e), setting)? {
                fitting.push(at);
            }
        }
        *experiments = fitting;
    }
    papers.extend(own.into_iter().cloned());
    let mut all = run::collect(&papers, setting)?;
    all.retain(|c| c.was_planned(setting));
    Ok(weir_paper::report::write(&all, setting)?)
}

/// The page and the figures of what there is.
fn report(chosen: &[Chosen], args: &ReportArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let mode = if args.full { Mode::Full } else { Mode::Quick };
    let overrides = Overrides { seeds: None, sets: args.sets.clone() };
    let setting = Setting { out: args.out.clone(), mode, overrides, any_build: false };
    let mut all = run::collect(chosen, &setting)?;
    // an experiment that was never planned here has nothing to show
    all.retain(|c| c.was_planned(&setting));
    if all.is_empty() {
        let mode = mode.name();
        let below = shown(&setting.mode_directory());
        anyhow::bail!("no {mode} runs in {below}: `weir paper run all --{mode}`");
    }
    for c in &all {
        run::write(c, &setting)?;
    }
    let page = weir_paper::report::write(&all, &setting)?;
    show_counts(&Counts::new(&all).words(), terminal)?;
    if args.full {
        tell_undiscussed(&undiscussed(&all), terminal);
    }
    terminal.note(&format!("report: {}", shown(&page)));
    Ok(Status::Done)
}

fn publish(chosen: &[Chosen], args: &PublishArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    if args.pages {
        let papers: Vec<_> = chosen.iter().map(|c| &c.paper).collect();
        weir_paper::publish::pages(&papers, &args.output)?;
        terminal.note(&format!("pages: {}", shown(&args.output)));
        return Ok(Status::Done);
    }
    let out = args.from.clone();
    let overrides = Overrides::default();
    let setting = Setting { out, mode: Mode::Full, overrides, any_build: false };
    let mut all = run::collect(chosen, &setting)?;
    all.retain(|c| c.was_planned(&setting));
    let mut explained = 0;
    for c in chosen {
        explained += weir_paper::explain::files::publish(&c.paper, &args.from, &args.output)?;
    }
    if explained > 0 {
        let many = format::plural(explained as u64, "explanation");
        terminal.note(&format!("{many} published: {}", shown(&args.output)));
    }
    if all.is_empty() && explained > 0 {
        let papers: Vec<_> = chosen.iter().map(|c| &c.paper).collect();
        if args.output.join("experiments.csv").exists() {
            weir_paper::publish::pages(&papers, &args.output)?;
        }
        return Ok(Status::Done);
    }
    if all.is_empty() {
        anyhow::bail!("no full runs below {}: `weir paper run all --full`", shown(&args.from));
    }
    tell_undiscussed(&undiscussed(&all), terminal);
    let written = weir_paper::publish::publish(&all, &args.output)?;
    let written = format::plural(written as u64, "experiment");
    terminal.note(&format!("{written} published: {}", shown(&args.output)));
    Ok(Status::Done)
}

/// Judges what is published again.
fn judge(chosen: &[Chosen], args: &JudgeArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let papers: Vec<_> = chosen.iter().map(|c| &c.paper).collect();
    let done = weir_paper::publish::judge(&papers, &args.output)?;
    if !done.without_values.is_empty() {
        let many = format::plural(done.without_values.len() as u64, "experiment");
        terminal.warn(&format!(
            "{many} without values per seed, whose verdicts stay until they are run again: {}",
            done.without_values.join(", ")
        ));
    }
    let judged = format::plural(done.judged as u64, "experiment");
    terminal.note(&format!("{judged} judged again: {}", shown(&args.output)));
    Ok(Status::Done)
}

fn run_all(chosen: &[Chosen], args: &RunArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let setting = Setting {
        out: args.out.clone(),
        mode: if args.full { Mode::Full } else { Mode::Quick },
        overrides: Overrides {
            seeds: args.seeds.as_ref().map(|s| s.0.clone()),
            sets: args.sets.clone(),
        },
        any_build: args.any_build,
    };
    let mut chosen = chosen.to_vec();
    if !args.sets.is_empty() {
        for id in changed::retain_runs(&mut chosen) {
            terminal.note(&format!("{id} is left out: it has no runs that --set could change"));
        }
        if chosen.is_empty() {
            anyhow::bail!("none of these experiments has runs that --set could change");
        }
    }
    let chosen = &chosen;
    let planned = match run::plan(chosen, &setting) {
        Ok(planned) => planned,
        Err(Trouble::Problems(problems)) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
        Err(Trouble::Sweep(error)) => return Err(error.into()),
    };
    planned.iter().flat_map(|p| &p.unchanged).for_each(|what| terminal.warn(what));
    let odd = planned.iter().filter(|p| !p.warnings.0.is_empty()).count();
    if odd > 0 {
        let experiments = format::plural(odd as u64, "experiment");
        terminal.note(&format!("{experiments} with warnings: `weir paper check` shows them"));
    }
    if args.engine == Engine::Slurm {
        return submit(&planned, args, terminal);
    }
    let mut status =
        run_here(&planned, "papers", args.jobs.map_or_else(cores, usize::from), terminal)?;
    if status == Status::Interrupted {
        return Ok(status);
    }
    let all = run::collect(chosen, &setting)?;
    for c in &all {
        run::write(c, &setting)?;
    }
    show_verdicts(&all, &setting, terminal)?;
    let counts = Counts::new(&all);
    let (total, done) =
        all.iter().map(|c| c.tables.counts()).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    if counts.missing > 0 || done < total {
        status = Status::CheckFailed;
    }
    let invalid: usize = all.iter().map(|c| c.tables.invalid).sum();
    if invalid > 0 {
        let runs = format::plural(invalid as u64, "run");
        terminal.warn(&format!("{runs} invalid: a lossless priority lost packets"));
        status = Status::InvalidRun;
    }
    let page = write_page(chosen, &setting)?;
    let out = setting.mode_directory();
    terminal.note(&format!(
        "report: {}     tables and verdicts: {}/PAPER/EXPERIMENT/*.csv",
        shown(&page),
        shown(&out)
    ));
    Ok(status)
}

/// Makes all runs that are missing.
fn run_here(
    planned: &[Planned],
    title: &str,
    jobs: usize,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let directories: Vec<SweepDir> = planned.iter().map(|p| p.directory.clone()).collect();
    let options = Options { shard: Shard::ALL, jobs, limit: None };
    let meter = Meter::default();
    let result = super::simulate::with_flag(&meter.interrupt, || {
        crate::progress::watch_sweep(title, &meter, None, terminal, || {
            work_all(&directories, &options, &meter)
        })
    })?;
    let done = result.context("stopped; finished runs are kept, and the same command continues")?;
    if done.interrupted {
        let made = format::plural(done.made as u64, "run");
        tell(&format!("interrupted after {made}; the same command continues with the others"));
        return Ok(Status::Interrupted);
    }
    note_done(&done, terminal);
    for p in planned {
        let plan = p.directory.plan()?;
        let results = p.directory.read_results(&plan)?;
        let progress = Progress::new(&plan, &results);
        if let Some((run, record)) = progress.failed.first() {
            let runs = format::plural(progress.failed.len() as u64, "run");
            let dir = shown(&p.directory.path);
            let first = format!("{}: {}", plan.describe(run), record.reason);
            terminal.complain(&format!("{}: {runs} failed, the first: {first}", p.id));
            tell(&format!(
                "  weir sweep status {dir} lists them, weir sweep retry {dir} clears them"
            ));
        }
    }
    Ok(Status::Done)
}

/// Hands the sweeps that are not complete to a cluster.
fn submit(planned: &[Planned], args: &RunArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    for p in planned {
        let plan = p.directory.plan()?;
        let results = p.directory.read_results(&plan)?;
        if Progress::new(&plan, &results).complete() {
            terminal.note(&format!("{}: all runs have a result", p.id));
            continue;
        }
        print(&p.id)?;
        let jobs = args.jobs.map_or(1, usize::from);
        submit_to_slurm(&p.directory.path, &args.cluster, jobs, terminal)?;
    }
    terminal.note(
        "when the jobs have ended, the same command without --engine slurm judges the claims",
    );
    Ok(Status::Done)
}
