//! `weir live run`, `compare` and `clean`.

use super::live::{Bench as BenchArgs, Dilate, Run as Args};
use super::log::{self, Words};
use super::outputs::write_file;
use super::{captures, simulate};
use crate::Status;
use crate::terminal::{Terminal, print};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use weir_core::{NodeId, format};
use weir_live::clock::{ClockKind, Dilation};
use weir_live::compare::SideBySide;
use weir_live::lab;
use weir_live::log::{Header, Source};
use weir_live::machine::{Machine, describe, frame_time, processors, step};
use weir_live::run::{self, Live, LiveReport, Settings};
use weir_results::comparison::Comparison;
use weir_results::lineup::{Otherwise, Request, Setting};
use weir_results::report;
use weir_results::run::{Meter, Perf, Run};
use weir_results::run_text;
use weir_scenario::{Experiment, Variant};
use weir_sim::SimError;

/// `weir live clean`.
pub(super) fn clean(terminal: &Terminal) -> anyhow::Result<Status> {
    let (removed, left) = lab::clean();
    print(&format!("  {} removed", format::plural(removed.len() as u64, "namespace")))?;
    for name in &left {
        terminal.complain(&format!("cannot remove {name}: are you root?"));
    }
    Ok(if left.is_empty() { Status::Done } else { Status::CheckFailed })
}

/// `weir live bench`.
pub(super) fn bench(args: &BenchArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    if !lab::is_root() {
        return Err(lab::enter_user_namespace().into());
    }
    let length = weir_core::Time::from_ms(1000 * args.seconds);
    let interrupt = AtomicBool::new(false);
    let measure = |&size| weir_live::bench::measure(size, length, args.real_time, &interrupt);
    let work = || -> Result<Vec<_>, _> {
        let going = args.sizes.iter().take_while(|_| !interrupt.load(Ordering::Relaxed));
        going.map(measure).collect()
    };
    let all = simulate::with_flag(&interrupt, work)?;
    if interrupt.load(Ordering::Relaxed) {
        terminal.complain("interrupted");
        return Ok(Status::Interrupted);
    }
    let all = all?;
    if args.json {
        print(&serde_json::to_string_pretty(&all)?)?;
        return Ok(Status::Done);
    }
    for line in describe(args.real_time) {
        print(&format!("  {line}"))?;
    }
    print("\n   size    carried    throughput   at half: frames    late p50       p99      p99.9")?;
    for one in &all {
        let us = |ns: Option<f64>| ns.map_or("-".into(), |ns| format!("{:.1} us", ns / 1000.0));
        print(&format!(
            "  {:>5} {:>8.0}/s {:>10.2} Gb/s {:>14.0}/s {:>11} {:>9} {:>10}",
            one.size,
            one.carried,
            one.carried * one.size as f64 * 8e-9,
            one.half,
            us(one.late.p50_ns),
            us(one.late.p99_ns),
            us(one.late.p999_ns),
        ))?;
    }
    Ok(Status::Done)
}

/// What is made of a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// A run on real frames.
    Run,
    /// The same, with its simulation beside it.
    Compare,
}

/// `weir live run` and `weir live compare`.
pub(super) fn run(args: &Args, work: Work, terminal: &Terminal) -> anyhow::Result<Status> {
    if !lab::is_root() {
        return Err(lab::enter_user_namespace().into());
    }
    let formats = simulate::formats(args.results.parquet)?;
    let request = Request {
        captures: &args.captures.pcap,
        capture_limits: args.captures.limits(),
        ..args.chosen.request(&args.sets)
    };
    let Some(lineup) = simulate::load(&args.scenario, &request, Otherwise::Own, terminal) else {
        return Ok(Status::BadInput);
    };
    let setting = &lineup.settings[0];
    let e = &*setting.experiment;
    let out = simulate::destination(&args.results, e)?;
    let seed = args.seed.unwrap_or(e.scenario.run.seeds[0]);
    let plan = captures::plan(&args.captures, e, &[seed], out.as_ref(), args.log.as_deref())?;
    log::apart(args.log.as_deref(), out.as_ref())?;
    let interrupt = AtomicBool::new(false);
    let settings = settings(args, setting, seed, terminal)?;
    let prepare = || match args.dilate {
        Dilate::Auto => rehearse(e, setting.with_seed(seed), settings, &interrupt, terminal),
        Dilate::By(_) => Ok(settings),
    };
    let settings = simulate::with_flag(&interrupt, prepare)?;
    if interrupt.load(Ordering::Relaxed) {
        terminal.complain("interrupted before the run began");
        return Ok(Status::Interrupted);
    }
    let settings = settings?;
    let words = Words { scenario: &args.scenario, sets: &args.sets, chosen: &args.chosen };
    let log = match &args.log {
        Some(file) => {
            let run_of = log::run_of(words, e, seed)?;
            let config = e.config(setting.with_seed(seed));
            let factor = Some(settings.dilation.get());
            let header = Header::new(Source::Live, factor, run_of, &e.topology, &config);
            Some((file, log::create(file, &header, setting)?))
        }
        None => None,
    };
    let variant = setting.with_seed(seed);
    let ready = |lab: &lab::Lab| {
        for &host in &settings.free {
            let (name, space) = (e.topology.name(host), lab.name(host));
            terminal.note(&format!("{name} is free: ip netns exec {space} PROGRAM"));
        }
    };
    let began = std::time::Instant::now();
    let live = || run::run(e, variant, &settings, &interrupt, ready);
    let done = simulate::with_flag(&interrupt, live)?;
    let stopped = interrupt.load(Ordering::Relaxed);
    if stopped && done.is_err() {
        terminal.complain("interrupted before the run began");
        return Ok(Status::Interrupted);
    }
    let Live { outcome, report, log: lines, end } = done?;
    if let Some((file, mut log_file)) = log {
        lines.into_iter().for_each(|lines| log_file.append(lines));
        log_file.end(end);
        log::finish(file, log_file, terminal)?;
    }
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return without_figures(args, &error, &report, terminal),
    };
    let perf = Perf {
        packet_hops: outcome.totals.packet_hops,
        events: outcome.totals.events,
        cpu_seconds: began.elapsed().as_secs_f64(),
        setup_cpu_seconds: None,
        wall_seconds: began.elapsed().as_secs_f64(),
    };
    let mut live = Run::of_outcome(e, variant, e.config(variant), outcome, perf);
    live.made = Some(format!(
        "Live: real frames between network namespaces of one machine, {} times slower than the \
         scenario. Times are those of a kernel, not of the simulator; live.json says how late \
         frames were.",
        report.dilation_kept.round()
    ));
    let side = match work {
        Work::Compare => {
            let simulated = weir_results::run::run(e, variant, &Meter::new(1), 0)?;
            Some(SideBySide::new(&e.topology, &simulated.outcome, &live.outcome))
        }
        Work::Run => None,
    };
    let c = Comparison::of(&lineup, vec![(0, live)]);
    if let Some(out) = &out {
        save(args, &c, out, formats, &report, side.as_ref(), terminal)?;
    }
    captures::write(&plan, &args.captures, &c, out.as_ref(), terminal)?;
    if args.json {
        let all = serde_json::json!({
            "summary": report::summary(&c), "live": report, "side_by_side": side,
        });
        print(&serde_json::to_string_pretty(&all)?)?;
    } else {
        match &side {
            Some(side) => print(&side.text())?,
            None => print(&run_text::text(&c, terminal.out))?,
        }
        show(&report, terminal)?;
    }
    let status = simulate::verdict(&c, &[], terminal);
    match status {
        Status::Interrupted if stopped => Ok(status),
        _ if !report.invalid.is_empty() => Ok(Status::InvalidRun),
        _ => Ok(status),
    }
}

/// A run whose figures do not add up: frames got lost in the kernel, and it says why; if not, that
/// is an error.
fn without_figures(
    args: &Args,
    error: &SimError,
    report: &LiveReport,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let what = format!("between the nodes: {error}");
    if args.results.out.is_some() {
        save_invalid(args, report, None, terminal)?;
    }
    if args.json {
        let all = serde_json::json!({ "summary": null, "live": report, "side_by_side": null });
        print(&serde_json::to_string_pretty(&all)?)?;
    } else {
        show(report, terminal)?;
    }
    if report.invalid.is_empty() {
        bail!(what);
    }
    terminal.complain(&format!("invalid run: {what}"));
    Ok(Status::InvalidRun)
}

/// Writes what counts: of an invalid run only how it went.
fn save(
    args: &Args,
    c: &Comparison<'_>,
    out: &report::Destination,
    formats: report::Formats,
    live: &LiveReport,
    side: Option<&SideBySide>,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let command = format!("weir live run {} --out DIR", format::shell_word(&args.scenario));
    if !live.invalid.is_empty() {
        return save_invalid(args, live, side, terminal);
    }
    let directory = out.write(c, &command, formats)?;
    let shown = directory.display();
    write_report(&directory.join("live.json"), live, side)?;
    terminal.note(&format!("report: {shown}/index.html     lateness: live.json"));
    Ok(())
}

/// How an invalid run went, beside the directory that its figures would have.
fn save_invalid(
    args: &Args,
    live: &LiveReport,
    side: Option<&SideBySide>,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    // without a slash at its end
    let out: PathBuf = args.results.out.iter().flat_map(|out| out.components()).collect();
    let mut name = out.into_os_string();
    name.push("-invalid.json");
    let file = PathBuf::from(name);
    if let Some(directory) = file.parent() {
        let wrong = || format!("cannot make {}", directory.display());
        std::fs::create_dir_all(directory).with_context(wrong)?;
    }
    write_report(&file, live, side)?;
    terminal.note(&format!("no figures of an invalid run, only {}", file.display()));
    Ok(())
}

fn write_report(file: &Path, live: &LiveReport, side: Option<&SideBySide>) -> anyhow::Result<()> {
    let text = serde_json::json!({ "live": live, "side_by_side": side });
    let text = serde_json::to_string_pretty(&text)? + "\n";
    write_file(file, text)
}

/// What the run says of its clock.
fn show(report: &LiveReport, terminal: &Terminal) -> anyhow::Result<()> {
    let ns = |n: Option<f64>| n.map_or("-".into(), |n| format!("{n:.1} ns"));
    let stood_still = match report.stood_still() >= 0.005 {
        true => format!(
            " ({:.0} with the {:.0} % of the time for which the clock waited)",
            report.dilation_kept,
            100.0 * report.stood_still()
        ),
        false => String::new(),
    };
    print(&format!(
        "  dilation {}{stood_still}: frames late by {} (median), {} (99 %), {} (largest); bound \
         {:.1} ns, {} beyond it",
        report.dilation,
        ns(report.late.p50_ns),
        ns(report.late.p99_ns),
        ns(report.late.max_ns),
        report.bound_ns,
        report.too_late,
    ))?;
    for (why, n) in &report.refused {
        terminal.note(&format!("{} refused: {why}", format::plural(*n, "frame")));
    }
    if report.foreign != (0, 0) {
        let (entered, left) = report.foreign;
        terminal.note(&format!("frames of other programs: {entered} came, {left} left"));
    }
    for why in &report.invalid {
        terminal.complain(&format!("invalid run: {why}"));
    }
    Ok(())
}

fn settings(
    args: &Args,
    setting: &Setting,
    seed: u64,
    terminal: &Terminal,
) -> anyhow::Result<Settings> {
    let e = &*setting.experiment;
    let config = e.config(setting.with_seed(seed));
    let bound = args.bound.unwrap_or_else(|| frame_time(&e.topology, &config));
    let free = free(e, &args.app, seed)?;
    let clock = args.clock.unwrap_or(match free.is_empty() {
        true => ClockKind::Waiting,
        false => ClockKind::Free,
    });
    let machine = Machine::measure(args.real_time);
    let least = match clock {
        // it is not late, and a rehearsal shows how slow it is
        ClockKind::Waiting => step(TRIAL),
        ClockKind::Free => machine.least_dilation(&e.topology, &config, bound),
    };
    let dilation = match args.dilate {
        Dilate::Auto => least,
        Dilate::By(factor) => Dilation::new(factor).context("a factor above zero")?,
    };
    if dilation < least && clock == ClockKind::Free {
        terminal.warn(&format!(
            "this machine wakes up to {} us late and takes {} us per frame: with a dilation of {} \
             frames will be later than {}; {} should do (--dilate auto)",
            machine.latest_ns / 1000,
            machine.frame_ns.div_ceil(1000),
            dilation.get(),
            format::time(bound),
            least.get()
        ));
    }
    let (logged, real_time) = (args.log.is_some(), args.real_time);
    let threads = args.threads.unwrap_or_else(|| clock.threads(processors()));
    Ok(Settings { dilation, clock, bound, until: None, free, logged, real_time, threads })
}

/// So long a rehearsal goes on after the first flow has begun, in real nanoseconds.
const REHEARSAL: u64 = 1_000_000_000;
/// A rehearsal with a waiting clock goes on for a tenth of that, with this dilation: it takes as
/// many times longer as the clock is slower.
const TRIAL: u64 = 1000;
/// With a free clock it waits so long for the first flow at most.
const PATIENCE: u64 = 5_000_000_000;

/// Runs the beginning and takes the smallest dilation that it kept. With a free clock, again and
/// again, more slowly each time; a waiting clock says by itself how slow it was.
fn rehearse(
    e: &Experiment,
    variant: Variant,
    settings: Settings,
    interrupt: &AtomicBool,
    terminal: &Terminal,
) -> anyhow::Result<Settings> {
    let flows = e.traffic.all_flows(variant.seed).unwrap_or_default();
    let first = flows.iter().map(|flow| flow.start).min().unwrap_or_default();
    let mut dilation = settings.dilation;
    let rehearsal = |dilation: Dilation| {
        let real = if settings.clock == ClockKind::Free { REHEARSAL } else { REHEARSAL / 10 };
        let until = Some(first + dilation.scenario(real));
        let tried = Settings { dilation, until, logged: false, ..settings.clone() };
        run::run(e, variant, &tried, interrupt, |_| ()).map(|live| live.report)
    };
    if settings.clock == ClockKind::Waiting {
        dilation = step(rehearsal(dilation)?.dilation_kept.ceil() as u64);
        let factor = dilation.get();
        terminal.note(&format!("dilation {factor}: a rehearsal was not slower than that"));
        return Ok(Settings { dilation, ..settings });
    }
    while dilation.real_ns(first) <= PATIENCE {
        let report = rehearsal(dilation)?;
        let Err(slower) = report.kept_well() else { break };
        let next = step((f64::from(dilation.get()) * slower) as u64 + 1);
        if next == dilation || interrupt.load(Ordering::Relaxed) {
            break;
        }
        let factor = dilation.get();
        terminal.note(&format!("a rehearsal with a dilation of {factor} did not keep its time"));
        dilation = next;
    }
    let factor = dilation.get();
    terminal.note(&format!("dilation {factor}: the smallest that this machine can keep"));
    Ok(Settings { dilation, ..settings })
}

/// The hosts of `--app`, which have no traffic of the scenario.
fn free(e: &Experiment, names: &[String], seed: u64) -> anyhow::Result<Vec<NodeId>> {
    let mut free = Vec::new();
    for name in names {
        let mut hosts = e.topology.hosts().iter().copied();
        let Some(host) = hosts.find(|&host| e.topology.name(host) == name) else {
            let all: Vec<&str> = e.topology.hosts().iter().map(|&h| e.topology.name(h)).collect();
            let near = weir_net::nearest(name, all.iter().copied());
            let near = near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
            bail!("--app: `{name}` is no host{near}; hosts are {}", all.join(", "));
        };
        free.push(host);
    }
    let flows = e.traffic.all_flows(seed).unwrap_or_default();
    if let Some(flow) = flows.iter().find(|f| free.contains(&f.src) || free.contains(&f.dst)) {
        let (src, dst) = (e.topology.name(flow.src), e.topology.name(flow.dst));
        bail!("--app: the scenario has a flow from {src} to {dst}; a free host has none");
    }
    Ok(free)
}
