//! `weir collectives`: bus bandwidth over message size, in the form of nccl-tests.

use crate::Status;
use crate::terminal::{Terminal, print};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use weir_core::{Bytes, Time, format};
use weir_results::collectives::{self as report, Bandwidth, by_scheme, gigabytes, table};
use weir_results::report::Destination;
use weir_results::run::{Run, run_alone};
use weir_scenario::{Experiment, Variant};
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
  weir collectives all-reduce --schemes pfc,bfc --blame
  weir collectives all-reduce --schemes pfc,ofc,bfc --out bus     bus/index.html: a line per scheme"
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
    /// Schemes to measure, separated by commas; default: that of the scenario
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// Say at each size which port is to blame for most of what the slowest iteration waited
    #[arg(long)]
    pub blame: bool,
    /// Write the figure, the numbers and a page to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Change a value of the scenario: --set switch.thresholds.xoff=90KB
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `weir collectives`.
pub(crate) fn collectives(args: &Collectives, terminal: &Terminal) -> anyhow::Result<Status> {
    let sizes = sizes(&args.sizes, args.factor)?;
    let own = load(args, &[], terminal)?;
    let place = job(&own, args.job.as_deref())?;
    let variants = variants(&own, &args.schemes, terminal)?;
    let out = args.out.as_deref().map(|out| Destination::check(out, &own.inputs())).transpose()?;
    let mut rows = Vec::new();
    for (i, size) in sizes.iter().enumerate() {
        terminal.note(&format!("{size}, {} of {}", i + 1, sizes.len()));
        let set = format!("job.{place}.size={}", size.get());
        let mut e = load(args, &[set], terminal)?;
        e.blame = args.blame;
        for variant in &variants {
            rows.push(measure(&e, *variant, place, *size)?);
        }
    }
    // a line of the figure, and a part of the table, is a scheme
    let of = |row: &Bandwidth| variants.iter().position(|v| v.scheme.name == row.scheme.0);
    rows.sort_by_key(of);
    if let Some(out) = &out {
        report::write(out, &own, place, &rows, &command(args))?;
    }
    let name = &own.traffic.jobs()[place].name;
    match args.json {
        true => print(&serde_json::to_string_pretty(&as_json(name, &rows))?)?,
        false => print(&text(&own, place, &rows, terminal))?,
    }
    if let Some(out) = &out {
        terminal.note(&format!("page: {}/index.html", out.shown().display()));
    }
    Ok(Status::Done)
}

/// The schemes to measure.
fn variants(
    e: &Experiment,
    schemes: &[String],
    terminal: &Terminal,
) -> anyhow::Result<Vec<Variant>> {
    if schemes.is_empty() {
        return Ok(vec![e.own_variant()]);
    }
    let seed = e.own_variant().seed;
    let variant = |name: &String| {
        let variant = e.variant(Some(name.trim()), None, seed);
        variant.map_err(|problems| anyhow!("{}", problems.render(terminal.colour_errors)))
    };
    let mut all: Vec<Variant> = Vec::new();
    for variant in schemes.iter().map(variant) {
        let variant = variant?;
        if all.iter().all(|known| known.scheme.name != variant.scheme.name) {
            all.push(variant);
        }
    }
    Ok(all)
}

/// What to type to get a page again.
fn command(args: &Collectives) -> String {
    let mut line = format!("weir collectives {}", format::shell_word(&args.scenario));
    let mut add = |flag: &str, value: &str| {
        line.push_str(&format!(" {flag} {}", format::shell_word(value)));
    };
    add("--sizes", &args.sizes);
    add("--factor", &args.factor.to_string());
    args.job.iter().for_each(|job| add("--job", job));
    if !args.schemes.is_empty() {
        add("--schemes", &args.schemes.join(","));
    }
    args.sets.iter().for_each(|set| add("--set", set));
    let blame = if args.blame { " --blame" } else { "" };
    format!("{line}{blame} --out DIR")
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

fn measure(
    e: &Experiment,
    variant: Variant,
    place: usize,
    size: Bytes,
) -> anyhow::Result<Bandwidth> {
    let run = run_alone(e, variant, &AtomicBool::new(false))?;
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
    let (name, title) = (variant.scheme.name, variant.scheme.title);
    Ok(Bandwidth {
        scheme: (name, title),
        size,
        time,
        algorithm,
        bus: factor.map(|f| f * algorithm),
        ideal: record.ideal,
        blame: blame(e, &run, place),
    })
}

/// The port to blame for most of what the slowest iteration of a job waited.
fn blame(e: &Experiment, run: &Run, place: usize) -> Option<(String, Time)> {
    let paths = run.blames(e)?.paths.iter().filter(|p| p.job as usize == place);
    let longest = paths.rev().max_by_key(|p| p.span.1 - p.span.0)?;
    let (at, time) = longest.culprit()?;
    Some((e.topology.port_label(at.node, at.port), time))
}

fn average(rows: &[&Bandwidth]) -> f64 {
    rows.iter().filter_map(|r| r.bus).sum::<f64>() / rows.len().max(1) as f64
}

fn text(e: &Experiment, place: usize, rows: &[Bandwidth], terminal: &Terminal) -> String {
    let job = &e.traffic.jobs()[place];
    let Work::Collective(plan) = &job.work else { return String::new() };
    let schemes = by_scheme(rows);
    let names: Vec<&str> = schemes.iter().map(|((name, _), _)| *name).collect();
    let scheme = names.join(", ");
    let t = table(rows);
    let (name, operation, algorithm) = (&job.name, plan.operation.name(), plan.algorithm.name());
    let head = format!("  {name}: {operation}, {algorithm}, {} ranks, {scheme}", plan.ranks);
    let table = t.render(terminal.out.width, terminal.out.colour);
    let average = |((_, title), rows): &((&str, &str), Vec<&Bandwidth>)| {
        let of = if schemes.len() > 1 { format!(" under {title}") } else { String::new() };
        format!("  Avg bus bandwidth{of}: {} GB/s", gigabytes(average(rows)))
    };
    let averages: Vec<String> = schemes.iter().map(average).collect();
    format!("{head}\n\n{table}\n\n{}", averages.join("\n"))
}

fn as_json(name: &str, rows: &[Bandwidth]) -> Value {
    let row = |r: &Bandwidth| {
        json!({
            "scheme": r.scheme.0,
            "size": r.size.get(),
            "time_ps": r.time.as_ps(),
            "algorithm_bytes_per_second": r.algorithm,
            "bus_bytes_per_second": r.bus,
            "ideal_ps": r.ideal.map(Time::as_ps),
            "to_blame": r.blame.as_ref().map(|(port, _)| port),
            "to_blame_ps": r.blame.as_ref().map(|(_, time)| time.as_ps()),
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    json!({ "job": name, "sizes": rows })
}
