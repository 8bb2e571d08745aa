//! `weir goal`: a GOAL schedule under the LogGOPS model, or with packets.

use super::outputs::{keep_inputs, write_file};
use crate::Status;
use crate::args::Goal;
use crate::terminal::{Terminal, print};
use anyhow::{Context, anyhow, bail};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use weir_coll::goal::{Schedule, binary, text};
use weir_coll::loggops::{self, Params};
use weir_core::format::{plural, time_ps};
use weir_results::run::run_alone;
use weir_results::table::{Column, TextTable};
use weir_scenario::Experiment;

/// How many ranks the table shows; `--json` has all.
const SHOWN: usize = 32;

/// The largest schedule that is read.
const LARGEST: u64 = 1 << 30;

/// `weir goal`.
pub(crate) fn goal(args: &Goal, terminal: &Terminal) -> anyhow::Result<Status> {
    let schedule = read(&args.file)?;
    if let Some(scenario) = &args.scenario {
        write_binary(args, &schedule)?;
        return with_packets(args, scenario, &schedule, terminal);
    }
    let params = match &args.params {
        Some(path) => parameters(path)?,
        None => Params::default(),
    };
    let run = loggops::run(&schedule, &params)
        .map_err(|stuck| anyhow!("{}: {stuck}", args.file.display()))?;
    write_binary(args, &schedule)?;
    if let Some(first) = run.other_size {
        let which = first.words();
        let count = plural(run.other_sizes, "receive");
        terminal.warn(&format!("{count} met a message of another size; the first is {which}"));
    }
    let ends: Vec<f64> = run.end_ns.iter().map(|ns| *ns as f64).collect();
    match args.json {
        true => print(&serde_json::to_string(&serde_json::json!({ "end_ns": run.end_ns }))?)?,
        false => print(&table(&schedule, &ends, terminal))?,
    }
    Ok(Status::Done)
}

/// Writes the binary form where that is asked for.
fn write_binary(args: &Goal, schedule: &Schedule) -> anyhow::Result<()> {
    let Some(path) = &args.binary else { return Ok(()) };
    keep_inputs(path, std::slice::from_ref(&args.file))?;
    let bytes = binary::write(schedule)
        .with_context(|| format!("{} has no binary form", args.file.display()))?;
    write_file(path, bytes)
}

/// Runs the schedule as the only job of a scenario, beside the traffic that it has.
fn with_packets(
    args: &Goal,
    scenario: &str,
    schedule: &Schedule,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let file = std::path::absolute(&args.file)
        .with_context(|| format!("cannot find {}", args.file.display()))?;
    let file = file.to_str().with_context(|| format!("{} is no text", file.display()))?;
    // a string of JSON is a string of TOML
    let set = format!("job=[{{trace={}}}]", serde_json::to_string(file)?);
    let experiment = Experiment::load(scenario, &[set])
        .map_err(|problems| anyhow!("{}", problems.render(terminal.colour_errors)))?;
    let run = run_alone(&experiment, experiment.own_variant(), &AtomicBool::new(false))?;
    let record = run.outcome.jobs.first().context("the scenario runs the schedule")?;
    let ends: Option<Vec<f64>> =
        record.rank_ends.iter().map(|end| Some((*end)?.as_ps() as f64 / 1000.0)).collect();
    let Some(ends) = ends else {
        let waits = record.waits.iter();
        let chain: Vec<String> =
            waits.map(|w| format!("rank {} waits for {}", w.rank, w.operation)).collect();
        bail!("{}: the schedule does not end: {}", args.file.display(), chain.join("; "));
    };
    match args.json {
        true => print(&serde_json::to_string(&serde_json::json!({ "end_ns": ends }))?)?,
        false => print(&table(schedule, &ends, terminal))?,
    }
    Ok(Status::Done)
}

/// Reads a schedule, text or binary.
fn read(path: &Path) -> anyhow::Result<Schedule> {
    let name = path.display();
    // a pipe, too, but not without end
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > LARGEST {
        bail!("{name}: more than 1 GiB");
    }
    match binary::is_binary(&bytes) {
        true => binary::parse(&bytes).map_err(|e| anyhow!("{name}: {e}")),
        false => text::parse(&bytes).map_err(|e| anyhow!("{name}: {e}")),
    }
}

/// Reads parameters from JSON: whole numbers called as in the model; those left out are defaults.
fn parameters(path: &Path) -> anyhow::Result<Params> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{name} is not JSON"))?;
    let Some(object) = json.as_object() else {
        bail!("{name}: parameters are an object such as {{\"L\": 2500, \"o\": 1500}}");
    };
    let mut params = Params::default();
    for (key, value) in object {
        let place = match key.as_str() {
            "L" => &mut params.latency,
            "o" => &mut params.overhead,
            "g" => &mut params.gap,
            "G" => &mut params.gap_per_byte,
            "O" => &mut params.overhead_per_byte,
            "S" => &mut params.eager,
            other => bail!("{name}: there is no parameter `{other}`: L, o, g, G, O and S are"),
        };
        *place = value.as_u64().with_context(|| {
            format!("{name}: {key} is {value}, not a whole number of ns, ns/B or bytes")
        })?;
    }
    Ok(params)
}

fn table(schedule: &Schedule, ends: &[f64], terminal: &Terminal) -> String {
    let ns = |t: f64| time_ps(t * 1000.0);
    let all = ends.iter().copied().fold(0.0, f64::max);
    let mut t = TextTable::new(vec![
        Column::numbers("rank", 9),
        Column::numbers("operations", 1),
        Column::numbers("end", 9),
        Column::numbers("ns", 9),
    ]);
    for (rank, end) in ends.iter().enumerate().take(SHOWN) {
        let operations = schedule.ranks[rank].ops.len().to_string();
        t.row(vec![rank.to_string(), operations, ns(*end), end.to_string()]);
    }
    let more = match ends.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!("\n  and {} more: --json has all", plural(n as u64, "rank")),
    };
    format!(
        "  {}, {}; the last one ends after {} ({all} ns)\n\n{}{more}",
        plural(schedule.ranks.len() as u64, "rank"),
        plural(schedule.operations() as u64, "operation"),
        ns(all),
        t.render(terminal.out.width, terminal.out.colour),
    )
}
