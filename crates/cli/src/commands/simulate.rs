//! Commands that run something.

use super::figure;
use super::input::load;
use crate::Status;
use crate::args::{Compare, Deny, Run as RunArgs, WindowArgs};
use crate::progress::watch;
use crate::terminal::{Terminal, print, tell};
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weir_lab::compare::{self, Figures};
use weir_lab::findings::{Comparison, Window};
use weir_lab::report::{Destination, Formats};
use weir_lab::run::{Failed, Failure, Meter, run_all};
use weir_lab::text::Diagnostics;
use weir_lab::{EngineConfig, Experiment, Finish, Variant};
use weir_lab::{describe, format, report, summary, table};

/// `weir run`.
pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let formats = formats(args.parquet)?;
    let Some(mut e) = load(&args.scenario, &args.sets, terminal) else {
        return Ok(Status::BadInput);
    };
    e.engine = args.threads;
    e.window = window(&args.window)?;
    e.shortcuts = !args.no_shortcuts;
    let out = destination(args.out.as_deref(), &e)?;
    let seeds = args.seed.map_or_else(|| e.scenario.run.seeds.clone(), |seed| vec![seed]);
    let mut variants = Vec::new();
    for seed in seeds {
        match e.variant(args.scheme.as_deref(), args.cc.as_deref(), seed) {
            Ok(variant) => variants.push(variant),
            Err(problems) => {
                terminal.problems(&problems);
                return Ok(Status::BadInput);
            }
        }
    }
    terminal.warnings(&e.warnings_about(variants[0]), &e.scenario.sources);
    if let EngineConfig::Auto { threads: asked @ 2.. } = e.engine {
        let used = weir_lab::threads(&e.topology, &e.config(variants[0]));
        if used < asked {
            terminal.note(&format!(
                "{used} of {asked} threads are used: windows of this network are too small for \
                 more (--threads {asked}! forces it)"
            ));
        }
    }
    if let EngineConfig::Window { threads: forced @ 2.. } = e.engine {
        let unforced = EngineConfig::Auto { threads: forced };
        let mut config = e.config(variants[0]);
        config.engine = unforced;
        let useful = weir_lab::threads(&e.topology, &config);
        if useful < forced {
            terminal.note(&format!(
                "{forced} threads are forced, but windows of this network have work for {useful}: \
                 the run may be slower than with --threads {useful}"
            ));
        }
    }
    // several seeds at a time, unless each of them is to use several threads itself
    let jobs = if e.engine == EngineConfig::default() { cores() } else { 1 };
    let Some(c) = simulate(&e, &variants, jobs, terminal)? else {
        return Ok(Status::Interrupted);
    };
    let command = command_line(&[
        ("run", Some(args.scenario.clone())),
        ("--scheme", args.scheme.clone()),
        ("--cc", args.cc.clone()),
        ("--seed", args.seed.map(|s| s.to_string())),
    ]) + &window_words(&args.window)
        + &set_words(&args.sets);
    // results are saved first: whoever reads what is printed may stop at any time (`| head`)
    let saved = save(&c, out.as_ref(), formats, &command)?;
    if args.json {
        print(&serde_json::to_string_pretty(&report::summary(&c))?)?;
    } else {
        print(&summary::text(&c, terminal.out))?;
        next_steps(&c, &saved, &command, terminal);
    }
    Ok(verdict(&c, &args.deny, terminal))
}

/// `weir compare`.
pub(crate) fn compare(args: &Compare, terminal: &Terminal) -> anyhow::Result<Status> {
    if args.figure.figure.as_deref() == Some("list") {
        figure::list(terminal.out)?;
        return Ok(Status::Done);
    }
    let formats = formats(args.parquet)?;
    let Some(mut e) = load(&args.scenario, &args.sets, terminal) else {
        return Ok(Status::BadInput);
    };
    e.window = window(&args.window)?;
    let out = destination(args.out.as_deref(), &e)?;
    let figure = figure::Wanted::new(&args.figure, &e)?;
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
    // the congestion control is that of all: what is said of it is said once
    let mut about = Diagnostics::default();
    for variant in variants.iter().filter(|v| v.seed == seeds[0]) {
        e.warnings_about(*variant).iter().for_each(|w| about.push(w.clone()));
    }
    terminal.warnings(&about, &e.scenario.sources);
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
    ]) + &window_words(&args.window)
        + &set_words(&args.sets);
    let saved = save(&c, out.as_ref(), formats, &command)?;
    if let Some(figure) = figure {
        figure.write(&c, terminal)?;
    } else if args.json {
        print(&serde_json::to_string_pretty(&report::summary(&c))?)?;
    } else {
        let title = format!("{} · {} seeds", describe::headline(&e), seeds.len());
        let title = if seeds.len() == 1 { describe::headline(&e) } else { title };
        let title = match e.window.is_all() {
            true => title,
            false => format!("{title} · victims of pauses{}", e.window.label()),
        };
        let body = compare::text(&c, &Figures::new(&c), terminal.out);
        let title = table::paint(&title, terminal.out.colour, "1");
        print(&format!("  {title}\n\n{body}\n"))?;
        next_steps(&c, &saved, &command, terminal);
    }
    Ok(verdict(&c, &args.deny, terminal))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Where results are to go, checked before there are any.
fn destination(out: Option<&Path>, e: &Experiment) -> anyhow::Result<Option<Destination>> {
    Ok(out.map(|out| Destination::check(out, &e.inputs())).transpose()?)
}

fn schemes(args: &Compare) -> Vec<String> {
    match args.schemes.as_slice() {
        [] => weir_lab::SCHEMES.iter().map(|s| s.name.to_owned()).collect(),
        some => some.iter().map(|s| s.trim().to_owned()).collect(),
    }
}

/// Runs everything; `None` when it was interrupted before there was anything. Runs that fail are
/// part of the result as long as there are others.
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
    let (mut runs, mut failed, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (&variant, result) in variants.iter().zip(results) {
        let why = match result {
            Some(Ok(run)) => {
                runs.push(run);
                continue;
            }
            Some(Err(error)) => {
                let why = Failure::new(&error);
                errors.push(error);
                why
            }
            None => Failure::NotBegun,
        };
        failed.push(Failed { variant, why });
    }
    if runs.is_empty() {
        return errors.into_iter().next().map_or(Ok(None), |error| Err(error.into()));
    }
    Ok(Some(Comparison::new(e, runs).with_failed(failed)))
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

/// The time whose pauses are reported.
fn window(args: &WindowArgs) -> anyhow::Result<Window> {
    Window::new(args.from, args.to).map_err(anyhow::Error::msg)
}

fn window_words(args: &WindowArgs) -> String {
    let word = |name: &str, time: Option<weir_lab::Time>| {
        time.map(|t| format!(" {name} {}", t.to_string().replace(' ', "")))
    };
    [word("--from", args.from), word("--to", args.to)].into_iter().flatten().collect()
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

/// Writes results, and returns where they are.
fn save(
    c: &Comparison<'_>,
    out: Option<&Destination>,
    formats: Formats,
    command: &str,
) -> anyhow::Result<Option<PathBuf>> {
    let Some(out) = out else { return Ok(None) };
    let parquet = if formats == Formats::Csv { "" } else { " --parquet" };
    // the page is the same wherever it lies
    let command = format!("{command} --out DIR{parquet}");
    Ok(Some(out.write(c, &command, formats)?))
}

/// Says where the results are, or how to get them.
fn next_steps(c: &Comparison<'_>, saved: &Option<PathBuf>, command: &str, terminal: &Terminal) {
    let Some(directory) = saved else {
        let name = &c.experiment.scenario.name;
        let place = format::shell_word(&format!("weir-out/{name}"));
        terminal.note(&format!("a page with figures and the data: {command} --out {place}"));
        return;
    };
    let shown = directory.display();
    let tables = if c.partial() { "flows.partial.csv" } else { "flows.csv ports.csv" };
    terminal.note(&format!("report: {shown}/index.html     data: {tables} summary.json"));
    if !c.partial() {
        let place = format::shell_word(&directory.to_string_lossy());
        terminal.note(&format!("repeat: {command} --out {place}"));
    }
}

/// What the runs mean for the exit code, the gravest first.
fn verdict(c: &Comparison<'_>, deny: &[Deny], terminal: &Terminal) -> Status {
    if c.partial() {
        let what = "interrupted: the results are those so far";
        terminal.complain(&format!("{what}, and runs that were interrupted have no digest"));
        return Status::Interrupted;
    }
    let mut status = Status::Done;
    for f in &c.failed {
        let (title, seed) = (f.variant.scheme.title, f.variant.seed);
        terminal.complain(&format!("{title}, seed {seed}: {}", f.why));
        status = match &f.why {
            Failure::Invalid(_) => Status::InvalidRun,
            _ if status == Status::InvalidRun => status,
            _ => Status::BadInput,
        };
    }
    let mut lossy = false;
    for run in c.runs() {
        if let Some(why) = run.invalid(c.experiment) {
            terminal.complain(&format!("invalid run, seed {}: {why}", run.variant.seed));
            (status, lossy) = (Status::InvalidRun, true);
        }
    }
    if lossy {
        tell("  weir check shows the headroom needed; `allow-loss = true` in [run] accepts loss");
    }
    if status != Status::Done {
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
            let text = format!("{title}, seed {seed}: {what}, which --deny does not allow");
            terminal.complain(&text);
            status = Status::CheckFailed;
        }
    }
    status
}
