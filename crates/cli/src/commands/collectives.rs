//! `weir collectives`: bus bandwidth over message size, in the form of nccl-tests.

use crate::Status;
use crate::terminal::{Terminal, print};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;
use weir_core::{Bytes, Time, format};
use weir_results::run::run_alone;
use weir_results::table::{Column, TextTable};
use weir_scenario::Experiment;
use weir_traffic::Work;

/// More sizes than this are a mistake.
const MOST: usize = 64;

/// `weir collectives`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Each size is a run of its own: the scenario with this `size` of the job, \
beside whatever other traffic it has. Time is the mean over iterations; algorithm bandwidth is \
size over time, bus bandwidth that times 2 (n - 1) / n for an all-reduce of n ranks, (n - 1) / n \
for a reduce-scatter, an all-gather and an all-to-all, as in nccl-tests, in 10^9 B/s.

Examples:
  weir collectives all-reduce --sizes 1MB..64MB
  weir collectives job.toml --job gradients --sizes 1MiB..1GiB --factor 4
  weir collectives all-reduce --set flow-control.scheme=bfc --json"
)]
pub(crate) struct Collectives {
    /// A scenario file, or the name of a built-in scenario
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Smallest and largest size of the buffer, as 1MB..1GB
    #[arg(long, value_name = "FROM..TO", default_value = "1MB..64MB")]
    pub sizes: String,
    /// Each size is this many times the one before
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..=1024))]
    pub factor: u64,
    /// The job, by its name; default: the first one with a collective
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// Change a value of the scenario: --set switch.thresholds.xoff=90KB
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// What was measured for one size.
struct Row {
    size: Bytes,
    /// Mean over iterations.
    time: Time,
    /// Bytes per second.
    algorithm: f64,
    bus: Option<f64>,
    ideal: Option<Time>,
}

/// `weir collectives`.
pub(crate) fn collectives(args: &Collectives, terminal: &Terminal) -> anyhow::Result<Status> {
    let sizes = sizes(&args.sizes, args.factor)?;
    let own = load(args, &[], terminal)?;
    let place = job(&own, args.job.as_deref())?;
    let mut rows = Vec::new();
    for (i, size) in sizes.iter().enumerate() {
        terminal.note(&format!("{size}, {} of {}", i + 1, sizes.len()));
        let set = format!("job.{place}.size={}", size.get());
        rows.push(measure(&load(args, &[set], terminal)?, place, *size)?);
    }
    let name = &own.traffic.jobs()[place].name;
    match args.json {
        true => print(&serde_json::to_string_pretty(&as_json(name, &rows))?)?,
        false => print(&text(&own, place, &rows, terminal))?,
    }
    Ok(Status::Done)
}

fn load(args: &Collectives, more: &[String], terminal: &Terminal) -> anyhow::Result<Experiment> {
    let sets = [&args.sets[..], more].concat();
    Experiment::load(&args.scenario, &sets)
        .map_err(|problems| anyhow!("{}", problems.render(terminal.colour_errors)))
}

/// The sizes of a range, each a multiple of the one before.
fn sizes(range: &str, factor: u64) -> anyhow::Result<Vec<Bytes>> {
    let size = |text: &str| -> anyhow::Result<Bytes> {
        text.trim().parse().map_err(|why| anyhow!("`{text}` is no size: {why}"))
    };
    let (from, to) = match range.split_once("..") {
        Some((from, to)) => (size(from)?, size(to)?),
        None => (size(range)?, size(range)?),
    };
    if from == Bytes::ZERO || from > to {
        bail!("`--sizes {range}`: the first size is at least 1 B and not above the second");
    }
    let next = |s: &Bytes| s.get().checked_mul(factor).map(Bytes::new).filter(|s| *s <= to);
    Ok(std::iter::successors(Some(from), next).take(MOST).collect())
}

/// The place of the job in the scenario.
fn job(e: &Experiment, name: Option<&str>) -> anyhow::Result<usize> {
    let jobs = e.traffic.jobs();
    let moves =
        |work: &Work| matches!(work, Work::Collective(p) if p.operation.bus_factor(2).is_some());
    let found = jobs.iter().position(|job| match name {
        Some(name) => job.name == name,
        None => moves(&job.work),
    });
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    match (found, name) {
        (Some(place), _) if moves(&jobs[place].work) => Ok(place),
        (Some(_), _) => bail!("job `{}` has no size", name.unwrap_or_default()),
        (None, Some(name)) => bail!("there is no job `{name}`; there are: {}", names.join(", ")),
        (None, None) => bail!("the scenario has no `[[job]]` with a collective that has a size"),
    }
}

fn measure(e: &Experiment, place: usize, size: Bytes) -> anyhow::Result<Row> {
    let run = run_alone(e, e.own_variant(), &AtomicBool::new(false))?;
    let (job, record) = (&e.traffic.jobs()[place], &run.outcome.jobs[place]);
    let times = record.iterations.iter().map(|it| Some(it.end? - it.begin));
    let times: Option<Vec<Time>> = times.collect();
    let complete = |times: &Vec<Time>| times.len() == job.iterations() as usize;
    let times = times.filter(complete).with_context(|| {
        let waits = record.waits.iter();
        let chain: Vec<String> =
            waits.map(|w| format!("rank {} waits for {}", w.rank, w.operation)).collect();
        format!("job `{}` of {size} did not end: {}", job.name, chain.join("; "))
    })?;
    let sum: Time = times.iter().copied().sum();
    let time = Time::from_ps(sum.as_ps() / times.len() as u64);
    let algorithm = size.get() as f64 / time.as_secs_f64();
    let factor = match &job.work {
        Work::Collective(plan) => plan.operation.bus_factor(plan.ranks),
        _ => None,
    };
    Ok(Row { size, time, algorithm, bus: factor.map(|f| f * algorithm), ideal: record.ideal })
}

/// Decimals as in nccl-tests.
fn gigabytes(bytes_per_second: f64) -> String {
    format!("{:.2}", bytes_per_second / 1e9)
}

fn micros(time: Time) -> String {
    format!("{:.2}", time.as_ps() as f64 / 1e6)
}

fn average(rows: &[Row]) -> f64 {
    rows.iter().filter_map(|r| r.bus).sum::<f64>() / rows.len().max(1) as f64
}

fn text(e: &Experiment, place: usize, rows: &[Row], terminal: &Terminal) -> String {
    let job = &e.traffic.jobs()[place];
    let Work::Collective(plan) = &job.work else { return String::new() };
    let scheme = e.own_variant().scheme.name;
    let mut t = TextTable::new(vec![
        Column::numbers("size (B)", 20),
        Column::numbers("time (us)", 19),
        Column::numbers("algbw (GB/s)", 18),
        Column::numbers("busbw (GB/s)", 20),
        Column::numbers("alone (us)", 10),
        Column::numbers("slowdown", 15),
    ]);
    for row in rows {
        let slowdown = row.ideal.filter(|t| *t > Time::ZERO);
        let slowdown = slowdown.map(|ideal| row.time.as_ps() as f64 / ideal.as_ps() as f64);
        t.row(vec![
            row.size.get().to_string(),
            micros(row.time),
            gigabytes(row.algorithm),
            row.bus.map_or_else(String::new, gigabytes),
            row.ideal.map_or_else(String::new, micros),
            format::or_dash(slowdown, format::significant),
        ]);
    }
    let (name, operation, algorithm) = (&job.name, plan.operation.name(), plan.algorithm.name());
    let head = format!("  {name}: {operation}, {algorithm}, {} ranks, {scheme}", plan.ranks);
    let table = t.render(terminal.out.width, terminal.out.colour);
    format!("{head}\n\n{table}\n\n  Avg bus bandwidth: {} GB/s", gigabytes(average(rows)))
}

fn as_json(name: &str, rows: &[Row]) -> Value {
    let row = |r: &Row| {
        json!({
            "size": r.size.get(),
            "time_ps": r.time.as_ps(),
            "algorithm_bytes_per_second": r.algorithm,
            "bus_bytes_per_second": r.bus,
            "ideal_ps": r.ideal.map(Time::as_ps),
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    json!({ "job": name, "sizes": rows })
}
