//! Commands that run something.

use super::input::load;
use crate::Status;
use crate::args::{Compare, Deny, Run as RunArgs};
use crate::progress::watch;
use crate::terminal::{Terminal, print};
use anyhow::Context;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weir_lab::compare::{self, Figures};
use weir_lab::findings::Comparison;
use weir_lab::report::Formats;
use weir_lab::run::{Meter, Run, run_all};
use weir_lab::{EngineConfig, Experiment, Finish, Variant};
use weir_lab::{describe, format, report, summary, table};

/// `weir run`.
pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let formats = formats(args.parquet)?;
    let Some(mut e) = load(&args.scenario, &args.sets, terminal) else {
        return Ok(Status::BadInput);
    };
    e.engine = args.threads;
    let seed = args.seed.unwrap_or(e.scenario.run.seeds[0]);
    let variant = match e.variant(args.scheme.as_deref(), args.cc.as_deref(), seed) {
        Ok(variant) => variant,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    if let EngineConfig::Auto { threads: asked @ 2.. } = e.engine {
        let used = weir_lab::threads(&e.topology, &e.config(variant))?;
        if used < asked {
            terminal.note(&format!(
                "{used} of {asked} threads are used: windows of this network are too small for more (--threads {asked}! forces it)"
            ));
        }
    }
    let Some(c) = simulate(&e, &[variant], 1, terminal)? else { return Ok(Status::Interrupted) };
    let command = command_line(&[
        ("run", Some(args.scenario.clone())),
        ("--scheme", args.scheme.clone()),
        ("--cc", args.cc.clone()),
        ("--seed", args.seed.map(|s| s.to_string())),
    ]) + &set_words(&args.sets);
    if args.json {
        print(&serde_json::to_string_pretty(&report::summary(&c))?)?;
    } else {
        print(&summary::text(&c, terminal.out))?;
    }
    let out = args.out.as_deref().map(|out| (out, formats));
    save(&c, out, &command, args.json, terminal)?;
    Ok(verdict(&c, &args.deny, terminal))
}

/// `weir compare`.
pub(crate) fn compare(args: &Compare, terminal: &Terminal) -> anyhow::Result<Status> {
    let formats = formats(args.parquet)?;
    let Some(e) = load(&args.scenario, &args.sets, terminal) else {
        return Ok(Status::BadInput);
    };
    let seeds = match (&args.seeds, args.seed) {
        (Some(text), _) => weir_lab::sweep::seeds::parse(text).map_err(anyhow::Error::msg)?,
        (None, Some(seed)) => vec![seed],
        (None, None) => e.scenario.run.seeds.clone(),
    };
    let mut variants = Vec::new();
    for scheme in schemes(args) {
        for &seed in &seeds {
            match e.variant(Some(&scheme), args.cc.as_deref(), seed) {
                Ok(variant) => variants.push(variant),
                Err(problems) => {
                    terminal.problems(&problems);
                    return Ok(Status::BadInput);
                }
            }
        }
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.unwrap_or_else(cores);
    let Some(c) = simulate(&e, &variants, jobs, terminal)? else {
        return Ok(Status::Interrupted);
    };
    let list = (!args.schemes.is_empty()).then(|| args.schemes.join(","));
    let command = command_line(&[
        ("compare", Some(args.scenario.clone())),
        ("--schemes", list),
        ("--cc", args.cc.clone()),
        ("--seed", args.seed.map(|s| s.to_string())),
        ("--seeds", args.seeds.clone()),
    ]) + &set_words(&args.sets);
    if args.json {
        print(&serde_json::to_string_pretty(&report::summary(&c))?)?;
    } else {
        let title = format!("{} · {} seeds", describe::headline(&e), seeds.len());
        let title = if seeds.len() == 1 { describe::headline(&e) } else { title };
        let body = compare::table(&c, &Figures::new(&c));
        let mut body = body.render(terminal.out.width, terminal.out.colour);
        if let Some(tables) = compare::state_table(&c) {
            body += "\n\n";
            body += &tables.render(terminal.out.width, terminal.out.colour);
        }
        let title = table::paint(&title, terminal.out.colour, "1");
        print(&format!("  {title}\n\n{body}\n"))?;
    }
    let out = args.out.as_deref().map(|out| (out, formats));
    save(&c, out, &command, args.json, terminal)?;
    Ok(verdict(&c, &args.deny, terminal))
}

fn schemes(args: &Compare) -> Vec<String> {
    match args.schemes.as_slice() {
        [] => weir_lab::SCHEMES.iter().map(|s| s.name.to_owned()).collect(),
        some => some.iter().map(|s| s.trim().to_owned()).collect(),
    }
}

/// Runs everything; `None` when it was interrupted before there was anything.
fn simulate<'a>(
    e: &'a Experiment,
    variants: &[Variant],
    jobs: usize,
    terminal: &Terminal,
) -> anyhow::Result<Option<Comparison<'a>>> {
    let meter = Meter::new(variants.len());
    let results = with_interrupt(&meter, || {
        watch(&e.scenario.name, &meter, terminal, || run_all(e, variants, jobs, &meter))
    })?;
    let mut runs: Vec<Run> = Vec::new();
    for result in results.into_iter().flatten() {
        runs.push(result?);
    }
    Ok((!runs.is_empty()).then(|| Comparison::new(e, runs)))
}

/// Does `work`, which ends early when Ctrl-C has interrupted `meter`.
pub(super) fn with_interrupt<T>(meter: &Meter, work: impl FnOnce() -> T) -> anyhow::Result<T> {
    on_interrupt(|| meter.interrupt(), work)
}

/// Does `work`, which ends early when Ctrl-C has set `flag`.
pub(super) fn with_flag<T>(flag: &AtomicBool, work: impl FnOnce() -> T) -> anyhow::Result<T> {
    on_interrupt(|| flag.store(true, Ordering::Relaxed), work)
}

fn on_interrupt<T>(tell: impl Fn() + Sync, work: impl FnOnce() -> T) -> anyhow::Result<T> {
    let stop = Arc::new(AtomicBool::new(false));
    // The first Ctrl-C asks the runs to end, a second one ends the program.
    let signal = signal_hook::consts::SIGINT;
    signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
    signal_hook::flag::register(signal, Arc::clone(&stop))?;
    let finished = AtomicBool::new(false);
    Ok(std::thread::scope(|scope| {
        scope.spawn(|| {
            while !finished.load(Ordering::Acquire) {
                if stop.load(Ordering::Relaxed) {
                    tell();
                }
                std::thread::park_timeout(std::time::Duration::from_millis(20));
            }
        });
        let result = work();
        finished.store(true, Ordering::Release);
        result
    }))
}

fn command_line(words: &[(&str, Option<String>)]) -> String {
    let mut line = String::from("weir");
    for (name, value) in words {
        if let Some(value) = value {
            line.push_str(&format!(" {name} {}", format::shell_word(value)));
        }
    }
    line
}

fn set_words(sets: &[String]) -> String {
    sets.iter().map(|s| format!(" --set {}", format::shell_word(s))).collect()
}

/// The formats of tables, if this program can write them.
pub(super) fn formats(parquet: bool) -> anyhow::Result<Formats> {
    Formats::new(parquet).context(
        "this program was built without Parquet: build it with `cargo build --release --features \
         parquet`, or leave `--parquet` out",
    )
}

/// Writes results, and says where to look next.
fn save(
    c: &Comparison<'_>,
    out: Option<(&Path, Formats)>,
    command: &str,
    json: bool,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let say = |text: String| {
        if !terminal.quiet && !json {
            eprintln!("  {}", table::paint(&text, terminal.colour_errors, "2"));
        }
    };
    let Some((directory, formats)) = out else {
        say(format!(
            "a page with figures and the data: {command} --out weir-out/{}",
            c.experiment.scenario.name
        ));
        return Ok(());
    };
    let parquet = if formats == Formats::Csv { "" } else { " --parquet" };
    let command =
        format!("{command} --out {}{parquet}", format::shell_word(&directory.to_string_lossy()));
    report::write(c, directory, &command, formats)?;
    let shown = directory.display();
    say(format!("report: {shown}/index.html     data: flows.csv ports.csv summary.json"));
    say(format!("repeat: {command}"));
    Ok(())
}

/// What the runs mean for the exit code, the gravest first.
fn verdict(c: &Comparison<'_>, deny: &[Deny], terminal: &Terminal) -> Status {
    let complain = |text: String| {
        let label = table::paint("error", terminal.colour_errors, "1;31");
        eprintln!("{label}: {text}");
    };
    if c.runs().any(Run::interrupted) {
        complain("interrupted: the results are those so far and have no digest".into());
        return Status::Interrupted;
    }
    let mut status = Status::Done;
    for run in c.runs() {
        if let Some(why) = run.invalid(c.experiment) {
            complain(format!("invalid run, seed {}: {why}", run.variant.seed));
            status = Status::InvalidRun;
        }
    }
    if status == Status::InvalidRun {
        eprintln!(
            "  weir check shows the headroom needed; `allow-loss = true` in [run] accepts loss"
        );
        return status;
    }
    for run in c.runs() {
        let denied = deny.iter().find(|d| match d {
            Deny::Deadlock => matches!(run.outcome.finish, Finish::Deadlock(_)),
            Deny::Stall => matches!(run.outcome.finish, Finish::Stalled(_)),
            Deny::Loss => run.outcome.totals.dropped > 0,
        });
        if let Some(what) = denied {
            let what = match what {
                Deny::Deadlock => "a deadlock",
                Deny::Stall => "a stall",
                Deny::Loss => "loss",
            };
            let (title, seed) = (run.variant.scheme.title, run.variant.seed);
            complain(format!("{title}, seed {seed}: {what}, which --deny does not allow"));
            status = Status::CheckFailed;
        }
    }
    status
}
