//! `weir sweep`: many runs, resumable, on one machine or a cluster.

use crate::Status;
use crate::terminal::{Terminal, print};
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use weir_core::format;
use weir_results::metrics::Family;
use weir_sweep::directory::SweepDir;
use weir_sweep::draft::Draft;
use weir_sweep::files::files;
use weir_sweep::merge::Merged;
use weir_sweep::plan::ANY_BUILD;
use weir_sweep::shard::Shard;
use weir_sweep::slurm::{self, Job};
use weir_sweep::status::{self, Status as Progress};
use weir_sweep::store::replace;
use weir_sweep::survey::Survey;
use weir_sweep::unite::unite;
use weir_sweep::worker::{Done, Meter, Options, work};

/// A plan with more runs than this needs `--yes`.
const MANY: u128 = 100_000;

/// `weir sweep`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir sweep plan grid.toml -o out/sweep       check the grid, plan its runs
  weir sweep run out/sweep                     run it, or continue
  weir sweep status out/sweep                  what is done or missing, and why
  weir sweep merge out/sweep                   tables, and a page of plots
  weir sweep merge a b -o out/sweep            results of two machines together
  weir sweep submit out/sweep --engine slurm   the same on a cluster

Run the same command again to continue after Ctrl-C or a crash.")]
pub(crate) struct Sweep {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do with a sweep.
#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Check a grid file and write the plan of its runs
    Plan(PlanArgs),
    /// Run a plan, or a share of it; skips runs that have a result
    Run(RunArgs),
    /// Show which runs are done, which are missing and why
    Status(StatusArgs),
    /// Clear failures, so that the next `run` repeats the failed runs
    Retry(DirArgs),
    /// Write tables and a page from all results
    Merge(MergeArgs),
    /// Run and merge everything on this machine, or submit it to a cluster
    Submit(SubmitArgs),
}

/// `weir sweep plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// The grid file
    #[arg(value_name = "GRID")]
    grid: String,
    /// The directory of the sweep; results of runs that are still in the plan are kept
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Allow more than 100 000 runs
    #[arg(long)]
    yes: bool,
    /// Accept results of every build of this version, for clusters whose nodes have different
    /// builds
    #[arg(long)]
    any_build: bool,
}

/// A sweep.
#[derive(Args, Debug)]
pub(crate) struct DirArgs {
    /// The directory of the sweep
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// `weir sweep run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without --shard, the share is taken from SLURM_ARRAY_TASK_ID, else from
WEIR_SHARD_INDEX or JOB_COMPLETION_INDEX (Kubernetes) with WEIR_SHARD_COUNT.
If none of these is set, all runs are made.")]
pub(crate) struct RunArgs {
    /// The directory of the sweep
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Only share I of N, counted from 0
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Number of runs at a time; default: the number of processors
    #[arg(long, value_name = "K")]
    jobs: Option<usize>,
    /// Stop after N runs
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// `weir sweep status`.
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// The directory of the sweep
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// `weir sweep merge`.
#[derive(Args, Debug)]
#[command(after_help = "\
For machines that share no disk: plan once, copy the directory to each machine,
run a share there, copy the directories back, and merge them into a new one.

Examples:
  weir sweep merge out/sweep                   tables, and a page of plots
  weir sweep merge from-a from-b -o out/sweep  the results of both, then the same")]
pub(crate) struct MergeArgs {
    /// The directory of the sweep, or several with the same plan
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
    /// Directory for the results of several directories; can be continued like any sweep
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Merge the existing results even if runs are missing
    #[arg(long)]
    partial: bool,
    /// Also write tables as Parquet (in builds with `--features parquet`)
    #[arg(long)]
    parquet: bool,
}

/// Where a sweep is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// This machine.
    Local,
    /// A SLURM cluster.
    Slurm,
}

/// `weir sweep submit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without --tasks, a few runs are made on this machine to measure how long they
take (their results are kept). The number of tasks is then chosen so that each
lasts about five minutes.

Examples:
  weir sweep submit out/sweep --engine local
  weir sweep submit out/sweep --engine slurm --tasks 100 --at-a-time 20
  weir sweep submit out/sweep --engine slurm --sbatch=--account=lab --dry-run")]
pub(crate) struct SubmitArgs {
    /// The directory of the sweep
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Where to run the sweep
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Engine,
    /// Processors of a task, and its number of runs at a time
    #[arg(long, value_name = "K", default_value_t = 1)]
    jobs: usize,
    #[command(flatten)]
    cluster: Cluster,
}

/// How a sweep is submitted to a cluster.
#[derive(Args, Clone, Debug)]
pub(crate) struct Cluster {
    /// Number of tasks; default: chosen so that a task lasts about five minutes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    tasks: Option<u32>,
    /// Largest number of tasks at a time
    #[arg(long, value_name = "M")]
    at_a_time: Option<usize>,
    /// Time limit of a task
    #[arg(long, value_name = "TIME", default_value = "1:00:00")]
    time: String,
    /// Partition of the cluster
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Another option for sbatch, such as --sbatch=--mem=4G
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch: Vec<String>,
    /// Write the job scripts without submitting them
    #[arg(long)]
    dry_run: bool,
}

/// `weir sweep`.
pub(crate) fn sweep(args: &Sweep, terminal: &Terminal) -> anyhow::Result<Status> {
    match &args.verb {
        Verb::Plan(args) => plan(args, terminal),
        Verb::Run(args) => run(args, terminal),
        Verb::Status(args) => show_status(args),
        Verb::Retry(args) => retry(&SweepDir::new(&args.dir), terminal),
        Verb::Merge(args) => merge(args, terminal),
        Verb::Submit(args) => submit(args, terminal),
    }
}

fn plan(args: &PlanArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let draft = match Draft::read(&args.grid) {
        Ok(draft) => draft,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    let runs = draft.runs();
    if runs > MANY && !args.yes {
        let factors = draft.factors().map(|(n, what)| format!("{n} {what}")).join(" x ");
        bail!("{}: {runs} runs ({factors}); confirm such a large plan with --yes", args.grid);
    }
    if runs > 20_000_000 {
        bail!("{}: {runs} runs exceed the limit of 20 million; divide the grid", args.grid);
    }
    let mut planned = match draft.plan() {
        Ok(planned) => planned,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    if args.any_build {
        ANY_BUILD.clone_into(&mut planned.plan.head.build);
    }
    terminal.warnings(&planned.warnings, &planned.sources);
    SweepDir::new(&args.out).write(&planned)?;
    let plan = &planned.plan;
    let variants: std::collections::BTreeSet<&str> =
        plan.cells.iter().map(|c| c.variant.as_str()).collect();
    terminal.note(&format!(
        "{}: {} of {} at {}",
        plan.head.name,
        format::plural(plan.runs.len() as u64, "run"),
        format::plural(variants.len() as u64, "variant"),
        format::plural((plan.cells.len() / variants.len().max(1)) as u64, "point"),
    ));
    terminal.note(&format!("next: weir sweep run {}", shown(&args.out)));
    Ok(Status::Done)
}

pub(super) fn shown(path: &Path) -> String {
    format::shell_word(&path.display().to_string())
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Says what a worker did.
pub(super) fn note_done(done: &Done, terminal: &Terminal) {
    terminal.note(&format!(
        "{} of {} done: {} before, {} now, {} failed",
        done.before + done.made,
        format::plural(done.total as u64, "run"),
        done.before,
        done.made,
        done.failed,
    ));
}

fn run(args: &RunArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let shard = match args.shard {
        Some(shard) => shard,
        None => {
            let found = Shard::from_environment(|name| std::env::var(name).ok());
            found.map_err(anyhow::Error::msg)?.unwrap_or(Shard::ALL)
        }
    };
    let options = Options { shard, jobs: args.jobs.unwrap_or_else(cores), limit: args.limit };
    run_here(&args.dir, &options, terminal)
}

fn run_here(dir: &Path, options: &Options, terminal: &Terminal) -> anyhow::Result<Status> {
    let meter = Meter::default();
    let directory = SweepDir::new(dir);
    // what is no sweep has no runs to continue with
    directory.plan()?;
    let resume = format!("weir sweep run {} --shard {}", shown(dir), options.shard);
    let title = if options.shard == Shard::ALL { "sweep".into() } else { options.shard.name() };
    let others = (options.shard != Shard::ALL).then(|| Survey::new(directory.results(), &title));
    let result = super::simulate::with_flag(&meter.interrupt, || {
        crate::progress::watch_sweep(&title, &meter, others, terminal, || {
            work(&directory, options, &meter)
        })
    })?;
    let done = result.with_context(|| {
        format!("stopped; finished runs are kept, and `{resume}` continues with the others")
    })?;
    if done.interrupted {
        let made = format::plural(done.made as u64, "run");
        eprintln!("interrupted after {made}; `{resume}` continues with the others");
        return Ok(Status::Interrupted);
    }
    note_done(&done, terminal);
    if done.failed > 0 {
        let dir = shown(dir);
        terminal
            .note(&format!("weir sweep status {dir} says why; weir sweep retry {dir} clears them"));
    }
    Ok(Status::Done)
}

fn show_status(args: &StatusArgs) -> anyhow::Result<Status> {
    let directory = SweepDir::new(&args.dir);
    let plan = directory.plan()?;
    let results = directory.read_results(&plan)?;
    let progress = Progress::new(&plan, &results);
    match args.json {
        true => print(&serde_json::to_string_pretty(&progress.json(&directory))?)?,
        false => print(progress.text(&directory).trim_end())?,
    }
    Ok(if progress.complete() { Status::Done } else { Status::CheckFailed })
}

fn retry(directory: &SweepDir, terminal: &Terminal) -> anyhow::Result<Status> {
    let n = status::retry(directory)?;
    let runs = format::plural(n as u64, "failed run");
    terminal.note(&format!("{runs} will be repeated by weir sweep run {}", shown(&directory.path)));
    Ok(Status::Done)
}

/// The directory whose results are merged; several are put together first.
fn merged_directory<'a>(args: &'a MergeArgs, terminal: &Terminal) -> anyhow::Result<&'a Path> {
    let out = match (&args.dirs[..], &args.out) {
        ([dir], None) => return Ok(dir),
        (_, Some(out)) => out,
        (dirs, None) => {
            let dirs: Vec<String> = dirs.iter().map(|dir| shown(dir)).collect();
            let command = format!("weir sweep merge {} -o OUT", dirs.join(" "));
            bail!("results of several directories need one of their own: `{command}`")
        }
    };
    let sources: Vec<SweepDir> = args.dirs.iter().map(|dir| SweepDir::new(dir)).collect();
    let united = unite(&sources, &SweepDir::new(out))?;
    terminal.note(&format!(
        "{} with a result in {} directories, {} of them in several; {} added to {}",
        format::plural(united.results as u64, "run"),
        sources.len(),
        united.equal,
        format::plural(united.added as u64, "record"),
        shown(out),
    ));
    Ok(out)
}

fn merge(args: &MergeArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let formats = super::simulate::formats(args.parquet)?;
    let dir = merged_directory(args, terminal)?;
    let directory = SweepDir::new(dir);
    let plan = directory.plan()?;
    let results = directory.read_results(&plan)?;
    let progress = Progress::new(&plan, &results);
    if !progress.conflicts.is_empty() || (!progress.complete() && !args.partial) {
        eprintln!("{}", progress.text(&directory).trim_end());
        let dir = shown(dir);
        if progress.conflicts.is_empty() {
            eprintln!(
                "not merged: `weir sweep run {dir}` makes the missing runs, or use --partial"
            );
            return Ok(Status::CheckFailed);
        }
        eprintln!(
            "not merged: results of one run differ; remove the wrong file from {dir}/results"
        );
        return Ok(Status::InvalidRun);
    }
    let merged = Merged::new(&plan, &results);
    for (name, bytes) in files(&merged, &plan, formats)? {
        replace(&dir.join(name), &bytes)?;
    }
    let dir = dir.display();
    let rows = format::plural(merged.table(Family::Runs).rows.len() as u64, "row");
    terminal.note(&format!("{dir}/runs.csv ({rows})   {dir}/classes.csv   page: {dir}/index.html"));
    Ok(Status::Done)
}

fn submit(args: &SubmitArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    if args.engine == Engine::Local {
        let jobs = if args.jobs > 1 { args.jobs } else { cores() };
        let options = Options { shard: Shard::ALL, jobs, limit: None };
        let status = run_here(&args.dir, &options, terminal)?;
        let dirs = vec![args.dir.clone()];
        let args = MergeArgs { dirs, out: None, partial: false, parquet: false };
        return if status == Status::Done { merge(&args, terminal) } else { Ok(status) };
    }
    submit_to_slurm(&args.dir, &args.cluster, args.jobs, terminal)?;
    terminal.note(&format!("weir sweep status {}", shown(&args.dir)));
    Ok(Status::Done)
}

/// Submits the plan in a directory to SLURM: a job array, and a job that merges its results.
pub(super) fn submit_to_slurm(
    dir: &Path,
    args: &Cluster,
    jobs: usize,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let dir = dir.canonicalize().with_context(|| shown(dir))?;
    let directory = SweepDir::new(&dir);
    let plan = directory.plan()?;
    let tasks = match args.tasks {
        Some(n) => n as usize,
        None => measured_tasks(&directory, jobs, terminal)?,
    };
    let program = std::env::current_exe()?;
    let job = Job {
        name: &plan.head.name,
        program: &program,
        directory: &dir,
        tasks: tasks.min(plan.runs.len().max(1)),
        at_a_time: args.at_a_time,
        cpus: jobs,
        time: &args.time,
        partition: args.partition.as_deref(),
        options: &args.sbatch,
    };
    std::fs::create_dir_all(dir.join("log"))?;
    let (array, merge) = (dir.join("array.sbatch"), dir.join("merge.sbatch"));
    replace(&array, job.array().as_bytes())?;
    replace(&merge, job.merge().as_bytes())?;
    if args.dry_run {
        terminal.note(&format!("{} and {}", array.display(), merge.display()));
        return Ok(());
    }
    let id = sbatch(&[array.as_os_str()])?;
    let after = format!("--dependency=afterany:{id}");
    let merging = sbatch(&[after.as_ref(), merge.as_os_str()])?;
    print(&format!("job array {id} with {} tasks, then merge in job {merging}", job.tasks))
}

/// Submits a script to SLURM; returns the number of the job.
fn sbatch(words: &[&std::ffi::OsStr]) -> anyhow::Result<String> {
    let output = Command::new("sbatch").arg("--parsable").args(words).output();
    let output = output.context("cannot start sbatch; run this on a node of the cluster")?;
    if !output.status.success() {
        bail!("sbatch: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim().split(';').next().unwrap_or_default().to_owned())
}

/// Makes a few runs to measure how long they take.
fn measured_tasks(directory: &SweepDir, jobs: usize, terminal: &Terminal) -> anyhow::Result<usize> {
    const FEW: usize = 8;
    const LONG: Duration = Duration::from_secs(10);
    let plan = directory.plan()?;
    let shards = plan.runs.len().div_ceil(FEW).max(1);
    let (start, mut made) = (Instant::now(), 0);
    // Every shard of this division has at most eight runs from all over the plan.
    let shard = Shard { index: shards / 2, count: shards };
    for _ in 0..FEW {
        let meter = Meter::default();
        let done = work(directory, &Options { shard, jobs: 1, limit: Some(1) }, &meter)?;
        made += meter.done.load(Ordering::Relaxed);
        if done.made == 0 || start.elapsed() > LONG {
            break;
        }
    }
    let seconds = start.elapsed().as_secs_f64() / made.max(1) as f64;
    let tasks = slurm::tasks(plan.runs.len(), seconds, jobs);
    let each = format::time_ps(seconds * 1e12);
    terminal.note(&format!("a run takes about {each}: {}", format::plural(tasks as u64, "task")));
    Ok(tasks)
}
