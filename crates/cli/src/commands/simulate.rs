//! Commands that run something.

use super::record::{self, Recorded};
use super::{captures, figure, log};
use crate::Status;
use crate::args::{Compare, Deny, Results, Run as RunArgs, WindowArgs};
use crate::progress::watch;
use crate::terminal::{Terminal, print, tell};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use weir_core::format;
use weir_results::blame::Account;
use weir_results::compare::{self, Figures, View};
use weir_results::comparison::Comparison;
use weir_results::describe;
use weir_results::lineup::{BlameWish, Lineup, Otherwise, Request};
use weir_results::report;
use weir_results::report::{Content, Destination, Formats, StepFiles};
use weir_results::run::{Failed, Failure, Journal, Meter, run_each};
use weir_results::run_text;
use weir_results::table;
use weir_scenario::Experiment;
use weir_scenario::Variant;
use weir_scenario::Window;
use weir_sim::config::EngineConfig;
use weir_sim::outcome::Finish;

/// `weir run`.
pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let formats = formats(args.results.parquet)?;
    let request = Request {
        engine: args.threads,
        plain: args.no_shortcuts,
        window: window(&args.window)?,
        captures: &args.captures.pcap,
        capture_limits: args.captures.limits(),
        blame: BlameWish::flag(args.results.blame),
        record: args.record.config(),
        ..args.chosen.request(&args.sets)
    };
    let Some(lineup) = load(&args.scenario, &request, Otherwise::Own, terminal) else {
        return Ok(Status::BadInput);
    };
    let setting = &lineup.settings[0];
    let e = &*setting.experiment;
    let out = destination(&args.results, e)?;
    let seeds = args.seed.map_or_else(|| e.scenario.run.seeds.clone(), |seed| vec![seed]);
    let log = args.log.as_deref();
    let plan = captures::plan(&args.captures, e, &seeds, out.as_ref(), log)?;
    log::apart(log, out.as_ref())?;
    let theirs = lineup.base.scenario.variants.len();
    if theirs > 0 && !args.chosen.is_one() {
        terminal.note(&format!(
            "the scenario has {}: `--variant LABEL` runs one, `weir compare` all",
            format::plural(theirs as u64, "variant")
        ));
    }
    note_threads(e, setting.with_seed(seeds[0]), terminal);
    // several seeds at a time, unless each of them is to use several threads itself
    let jobs = if e.engine == EngineConfig::default() { cores() } else { 1 };
    let journal = journal(&lineup, &seeds, out.as_ref());
    let done = match &args.log {
        Some(file) => logged(file, args, &lineup, &seeds, terminal).map(Some)?,
        None => simulate(&lineup, &seeds, jobs, kept(&journal), terminal)?,
    };
    let Some(c) = done else {
        return Ok(Status::Interrupted);
    };
    let command = command_line(&[
        ("run", Some(args.scenario.clone())),
        ("--scheme", args.chosen.scheme.clone()),
        ("--variant", args.chosen.variant.clone()),
        ("--cc", args.chosen.cc.clone()),
        ("--seed", args.seed.map(|s| s.to_string())),
    ]) + &window_words(&args.window)
        + &words("--set", &args.sets)
        + &args.record.words();
    // results are saved first: the reader of the output may stop at any time (`| head`)
    let recorded = record::recordings(&c, &args.record);
    let saved = save(&c, out.as_ref(), formats, &command, &recorded, terminal)?;
    journal.iter().for_each(|journal| journal.remove());
    captures::write(&plan, &args.captures, &c, out.as_ref(), terminal)?;
    if args.json {
        print(&serde_json::to_string_pretty(&report::summary(&c))?)?;
    } else {
        print(&run_text::text(&c, terminal.out))?;
        let accounts = c.runs_with().filter_map(|(e, run)| Account::of_run(e, run));
        for account in accounts {
            print(&format!("\n{}", account.text(terminal.out)))?;
        }
        next_steps(&c, &saved, &command, terminal);
    }
    Ok(verdict(&c, &args.deny, terminal))
}

/// One run with a log of what its nodes do.
fn logged<'a>(
    file: &Path,
    args: &RunArgs,
    lineup: &'a Lineup,
    seeds: &[u64],
    terminal: &Terminal,
) -> anyhow::Result<Comparison<'a>> {
    let &[seed] = seeds else {
        let (n, first) = (seeds.len(), seeds[0]);
        bail!("--log is of one run, but the scenario has {n} seeds: choose one, --seed {first}");
    };
    let words = log::Words { scenario: &args.scenario, sets: &args.sets, chosen: &args.chosen };
    let meter = Meter::new(1);
    let setting = &lineup.settings[0];
    let work = || log::simulate(file, words, setting, seed, &meter, terminal);
    let name = &lineup.base.scenario.name;
    let run = with_interrupt(&meter, || watch(name, &meter, terminal, work))??;
    Ok(Comparison::of(lineup, vec![(0, run)]))
}

/// Says when threads are not used as asked for, or in vain.
fn note_threads(e: &Experiment, variant: Variant, terminal: &Terminal) {
    if let EngineConfig::Auto { threads: asked @ 2.. } = e.engine {
        let used = weir_sim::run::threads(&e.topology, &e.traffic, &e.config(variant));
        if used < asked {
            terminal.note(&format!(
                "{used} of {asked} threads are used: this run has too little work for more \
                 (--threads {asked}! forces {asked})"
            ));
        }
    }
    if let EngineConfig::Window { threads: forced @ 2.. } = e.engine {
        let unforced = EngineConfig::Auto { threads: forced };
        let mut config = e.config(variant);
        config.engine = unforced;
        let useful = weir_sim::run::threads(&e.topology, &e.traffic, &config);
        if useful < forced {
            terminal.note(&format!(
                "{forced} threads are forced, but this run has work for {useful}: it may \
                 be slower than with --threads {useful}"
            ));
        }
    }
}

/// `weir compare`.
pub(crate) fn compare(args: &Compare, terminal: &Terminal) -> anyhow::Result<Status> {
    if args.figure.figure.as_deref() == Some("list") {
        figure::list(terminal.out)?;
        return Ok(Status::Done);
    }
    if args.columns.iter().any(|c| c.trim() == "list") {
        print(&compare::columns::list(terminal.out))?;
        return Ok(Status::Done);
    }
    if !args.pcap.is_empty() {
        bail!(
            "--pcap captures one run: use `weir run` with --scheme or --variant, once for each \
             capture"
        );
    }
    let formats = formats(args.results.parquet)?;
    let schemes: Vec<String> = args.schemes.iter().map(|s| s.trim().to_owned()).collect();
    let request = Request {
        sets: &args.sets,
        schemes: &schemes,
        variants: &args.variants,
        cc: args.cc.as_deref(),
        engine: EngineConfig::default(),
        plain: args.no_shortcuts,
        window: window(&args.window)?,
        blame: BlameWish::flag(args.results.blame),
        record: args.record.config(),
        ..Request::default()
    };
    let Some(lineup) = load(&args.scenario, &request, Otherwise::All, terminal) else {
        return Ok(Status::BadInput);
    };
    let e = &*lineup.base;
    let out = destination(&args.results, e)?;
    let figure = figure::Wanted::new(&args.figure, &lineup)?;
    let columns = args.columns.iter().map(|text| compare::Figure::read(text, e));
    let columns: Result<Vec<_>, String> = columns.collect();
    let view = View { columns: columns.map_err(anyhow::Error::msg)? };
    let seeds = match (&args.seeds, args.seed) {
        (Some(text), _) => weir_sweep::seeds::parse(text).map_err(anyhow::Error::msg)?,
        (None, Some(seed)) => vec![seed],
        (None, None) => e.scenario.run.seeds.clone(),
    };
    let jobs = args.jobs.unwrap_or_else(cores);
    let journal = journal(&lineup, &seeds, out.as_ref());
    let Some(c) = simulate(&lineup, &seeds, jobs, kept(&journal), terminal)? else {
        return Ok(Status::Interrupted);
    };
    let list = |all: &[String]| (!all.is_empty()).then(|| all.join(","));
    let command = command_line(&[
        ("compare", Some(args.scenario.clone())),
        ("--schemes", list(&args.schemes)),
        ("--cc", args.cc.clone()),
        ("--columns", list(&args.columns)),
        ("--seed", args.seed.map(|s| s.to_string())),
        ("--seeds", args.seeds.clone()),
    ]) + &words("--variant", &args.variants)
        + &window_words(&args.window)
        + &words("--set", &args.sets)
        + &args.record.words();
    let recorded = record::recordings(&c, &args.record);
    let saved = save(&c, out.as_ref(), formats, &command, &recorded, terminal)?;
    journal.iter().for_each(|journal| journal.remove());
    if let Some(figure) = figure {
        figure.write(&c, terminal)?;
    } else if args.json {
        print(&serde_json::to_string_pretty(&report::summary(&c))?)?;
    } else {
        let title = format!("{} · {} seeds", describe::headline(e), seeds.len());
        let title = if seeds.len() == 1 { describe::headline(e) } else { title };
        let title = match e.window.is_all() {
            true => title,
            false => format!("{title} · victims of pauses{}", e.window.label()),
        };
        let body = compare::text(&c, &Figures::new(&c), &view, terminal.out);
        let title = table::paint(&title, terminal.out.colour, "1");
        print(&format!("  {title}\n\n{body}\n"))?;
        next_steps(&c, &saved, &command, terminal);
    }
    Ok(verdict(&c, &args.deny, terminal))
}

/// Loads a scenario with its rows; shows what is wrong or odd about it, and returns `None` if it
/// cannot be used.
pub(super) fn load(
    scenario: &str,
    request: &Request<'_>,
    otherwise: Otherwise,
    terminal: &Terminal,
) -> Option<Lineup> {
    match Lineup::load(scenario, request, otherwise) {
        Ok(lineup) => {
            terminal.warnings(&lineup.warnings, &lineup.sources);
            Some(lineup)
        }
        Err(problems) => {
            terminal.problems(&problems);
            None
        }
    }
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Where results are to go, checked before there are any.
pub(super) fn destination(
    results: &Results,
    e: &Experiment,
) -> anyhow::Result<Option<Destination>> {
    let Some(out) = &results.out else { return Ok(None) };
    let found = Destination::check(out, &e.inputs())?;
    let name = &e.scenario.name;
    if let Some(other) = found.scenario().filter(|other| other != name && !results.force) {
        bail!(
            "{} has the results of scenario `{other}`, not of `{name}`: choose another directory, \
             or replace them with --force",
            out.display()
        );
    }
    Ok(Some(found))
}

/// Where the iterations of jobs are written while runs go on.
fn journal(lineup: &Lineup, seeds: &[u64], out: Option<&Destination>) -> Option<Arc<StepFiles>> {
    /// Who looks into the files does not look more often.
    const EVERY: Duration = Duration::from_secs(2);
    if lineup.settings.iter().all(|s| s.experiment.traffic.jobs().is_empty()) {
        return None;
    }
    let labels = lineup.settings.iter().flat_map(|s| seeds.iter().map(|_| s.label.clone()));
    StepFiles::new(out?, labels.collect(), EVERY).map(Arc::new)
}

fn kept(journal: &Option<Arc<StepFiles>>) -> Option<Arc<dyn Journal>> {
    journal.as_ref().map(|journal| Arc::clone(journal) as Arc<dyn Journal>)
}

/// Runs all rows with all seeds; `None` when it was interrupted before there was anything. Runs
/// that
/// fail are part of the result as long as there are others.
pub(super) fn simulate<'a>(
    lineup: &'a Lineup,
    seeds: &[u64],
    jobs: usize,
    journal: Option<Arc<dyn Journal>>,
    terminal: &Terminal,
) -> anyhow::Result<Option<Comparison<'a>>> {
    let mut all: Vec<(usize, &Experiment, Variant)> = Vec::new();
    for (row, setting) in lineup.settings.iter().enumerate() {
        all.extend(seeds.iter().map(|&s| (row, &*setting.experiment, setting.with_seed(s))));
    }
    let jobs_to_do: Vec<(&Experiment, Variant)> = all.iter().map(|(_, e, v)| (*e, *v)).collect();
    let meter = Meter::new(all.len()).with_journal(journal);
    let results = with_interrupt(&meter, || {
        let name = &lineup.base.scenario.name;
        watch(name, &meter, terminal, || run_each(&jobs_to_do, jobs, &meter))
    })?;
    let (mut runs, mut failed, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (&(row, _, variant), result) in all.iter().zip(results) {
        let why = match result {
            Some(Ok(run)) => {
                runs.push((row, run));
                continue;
            }
            Some(Err(error)) => {
                let why = Failure::new(&error);
                errors.push(error);
                why
            }
            None => Failure::NotBegun,
        };
        failed.push(Failed { label: lineup.settings[row].label.clone(), variant, why });
    }
    if runs.is_empty() {
        return errors.into_iter().next().map_or(Ok(None), |error| Err(error.into()));
    }
    Ok(Some(Comparison::of(lineup, runs).with_failed(failed)))
}

/// Does `work`, which ends early when a signal has interrupted `meter`.
pub(super) fn with_interrupt<T>(meter: &Meter, work: impl FnOnce() -> T) -> anyhow::Result<T> {
    on_interrupt(|| meter.interrupt(), work)
}

/// Does `work`, which ends early when a signal has set `flag`.
pub(super) fn with_flag<T>(flag: &AtomicBool, work: impl FnOnce() -> T) -> anyhow::Result<T> {
    on_interrupt(|| flag.store(true, Ordering::Relaxed), work)
}

fn on_interrupt<T>(tell: impl Fn() + Sync, work: impl FnOnce() -> T) -> anyhow::Result<T> {
    let stop = Arc::new(AtomicBool::new(false));
    // The first signal asks the runs to end, a second one ends the program.
    for signal in ending_signals() {
        let code = 128 + signal;
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
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

/// The signals that end the work early: Ctrl-C, the end that `kill` and schedulers ask for, and the
/// terminal that is closed.
fn ending_signals() -> Vec<i32> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    #[cfg_attr(not(unix), expect(unused_mut, reason = "SIGHUP is a signal of Unix"))]
    let mut signals = vec![SIGTERM, SIGINT];
    #[cfg(unix)]
    if !hangups_are_ignored() {
        signals.insert(0, signal_hook::consts::SIGHUP);
    }
    signals
}

/// Whether the program was started to outlive its terminal, as by `nohup`: then it must not react
/// to SIGHUP. Where the system does not say so (it does on Linux), SIGHUP is left alone.
#[cfg(unix)]
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal_hook::consts::SIGHUP - 1) & 1 == 1)
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

/// A flag that was given several times.
fn words(flag: &str, values: &[String]) -> String {
    values.iter().map(|v| format!(" {flag} {}", format::shell_word(v))).collect()
}

/// The time whose pauses are reported.
fn window(args: &WindowArgs) -> anyhow::Result<Window> {
    Window::new(args.from, args.to).map_err(anyhow::Error::msg)
}

fn window_words(args: &WindowArgs) -> String {
    let word = |name: &str, time: Option<weir_core::Time>| {
        time.map(|t| format!(" {name} {}", t.to_string().replace(' ', "")))
    };
    [word("--from", args.from), word("--to", args.to)].into_iter().flatten().collect()
}

/// The formats of tables, if this program can write them.
pub(super) fn formats(parquet: bool) -> anyhow::Result<Formats> {
    if !parquet {
        return Ok(Formats::Csv);
    }
    Formats::with_parquet().context(
        "this program was built without Parquet: build it with `cargo build --release --features \
         parquet`, or omit `--parquet`",
    )
}

/// Writes results, says which recordings are among them, and returns where they are.
fn save(
    c: &Comparison<'_>,
    out: Option<&Destination>,
    formats: Formats,
    command: &str,
    recorded: &[Recorded],
    terminal: &Terminal,
) -> anyhow::Result<Option<PathBuf>> {
    let Some(out) = out else { return Ok(None) };
    let parquet = if formats == Formats::Csv { "" } else { " --parquet" };
    let blame = if c.runs().any(|r| r.outcome.blame.is_some()) { " --blame" } else { "" };
    // the page is the same wherever it lies
    let command = format!("{command} --out DIR{parquet}{blame}");
    let more = recorded.iter().map(|r| {
        let content: Content<'_> = Box::new(|to| to.write_all(&r.file));
        (r.name.clone(), content)
    });
    let directory = out.write_with(c, &command, formats, more.collect())?;
    record::tell(recorded, &directory, terminal);
    Ok(Some(directory))
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
pub(super) fn verdict(c: &Comparison<'_>, deny: &[Deny], terminal: &Terminal) -> Status {
    if c.partial() {
        let what = "interrupted: these are partial results";
        terminal.complain(&format!("{what}; interrupted runs have no digest"));
        return Status::Interrupted;
    }
    let mut status = Status::Done;
    for f in &c.failed {
        let (title, seed) = (&f.label, f.variant.seed);
        terminal.complain(&format!("{title}, seed {seed}: {}", f.why));
        status = match &f.why {
            Failure::Invalid(_) => Status::InvalidRun,
            _ if status == Status::InvalidRun => status,
            _ => Status::BadInput,
        };
    }
    let mut remedies: Vec<String> = Vec::new();
    for (e, run) in c.runs_with() {
        if let Some(why) = run.invalid(e) {
            terminal.complain(&format!("invalid run, seed {}: {why}", run.variant.seed));
            status = Status::InvalidRun;
            let remedy = run.remedy();
            if !remedies.contains(&remedy) {
                remedies.push(remedy);
            }
        }
    }
    for remedy in remedies {
        tell(&format!("  {remedy}"));
    }
    if status != Status::Done {
        return status;
    }
    for run in c.runs() {
        let denied = deny.iter().find(|d| match d {
            Deny::Deadlock => matches!(run.outcome.finish, Finish::Deadlock(_)),
            Deny::Stall => matches!(run.outcome.finish, Finish::Stalled(_)),
            Deny::Loss => run.outcome.totals.dropped > 0,
            Deny::Unfinished => run.unfinished().0 > 0,
        });
        if let Some(what) = denied {
            let what = match what {
                Deny::Deadlock => "a deadlock",
                Deny::Stall => "a stall",
                Deny::Loss => "loss",
                Deny::Unfinished => "unfinished flows",
            };
            let (title, seed) = (&run.label, run.variant.seed);
            let text = format!("{title}, seed {seed}: {what}, which --deny does not allow");
            terminal.complain(&text);
            status = Status::CheckFailed;
        }
    }
    status
}
