//! `weir goal`: a GOAL schedule under the LogGOPS model.

use super::outputs::keep_inputs;
use crate::Status;
use crate::args::Goal;
use crate::terminal::{Terminal, print};
use anyhow::{Context, anyhow, bail};
use std::path::Path;
use weir_coll::goal::{Schedule, binary, text};
use weir_coll::loggops::{self, Params, Run};
use weir_core::format::{plural, time_ps};
use weir_results::table::{Column, TextTable};

/// How many ranks the table shows; `--json` has all.
const SHOWN: usize = 32;

/// `weir goal`.
pub(crate) fn goal(args: &Goal, terminal: &Terminal) -> anyhow::Result<Status> {
    let schedule = read(&args.file)?;
    let params = match &args.params {
        Some(path) => parameters(path)?,
        None => Params::default(),
    };
    let run = loggops::run(&schedule, &params)
        .map_err(|stuck| anyhow!("{}: {stuck}", args.file.display()))?;
    if let Some(path) = &args.binary {
        keep_inputs(path, std::slice::from_ref(&args.file))?;
        let bytes = binary::write(&schedule)
            .with_context(|| format!("{} has no binary form", args.file.display()))?;
        std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    match args.json {
        true => print(&serde_json::to_string(&serde_json::json!({ "end_ns": run.end_ns }))?)?,
        false => print(&table(&schedule, &run, terminal))?,
    }
    Ok(Status::Done)
}

/// Reads a schedule, text or binary.
fn read(path: &Path) -> anyhow::Result<Schedule> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {name}"))?;
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

fn table(schedule: &Schedule, run: &Run, terminal: &Terminal) -> String {
    let ns = |t: u64| time_ps(t as f64 * 1000.0);
    let all = run.end_ns.iter().copied().max().unwrap_or(0);
    let mut t = TextTable::new(vec![
        Column::numbers("rank", 9),
        Column::numbers("operations", 1),
        Column::numbers("end", 9),
        Column::numbers("ns", 9),
    ]);
    for (rank, end) in run.end_ns.iter().enumerate().take(SHOWN) {
        let operations = schedule.ranks[rank].ops.len().to_string();
        t.row(vec![rank.to_string(), operations, ns(*end), end.to_string()]);
    }
    let more = match run.end_ns.len().saturating_sub(SHOWN) {
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
