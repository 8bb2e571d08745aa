//! What `weir ns3` prints.

use super::results::{Class, all, classes};
use super::{Inputs, Ns3Run, StopReason};
use crate::listing::Layout;
use crate::table::{Column, TextTable, paint};
use weir_core::format;
use weir_core::percentile::{P50, P99};

/// A run on one screen.
pub fn text(name: &str, inputs: &Inputs, run: &Ns3Run, layout: Layout) -> String {
    let hosts = inputs.topology.hosts() as u64;
    let switches = u64::from(inputs.topology.nodes()) - hosts;
    let title = format!(
        "{name} · ns-3 compatible · {}, {} · {} · {}",
        format::plural(hosts, "host"),
        format::plural(switches, "switch"),
        format::plural(inputs.flows.len() as u64, "flow"),
        inputs.config.congestion_control().name(),
    );
    let table = flows(inputs, run).render(layout.width, layout.colour);
    format!("  {}\n\n{table}\n\n{}", paint(&title, layout.colour, "1"), foot(run))
}

fn flows(inputs: &Inputs, run: &Ns3Run) -> TextTable {
    let mut t = TextTable::new(vec![
        Column::words("class", 20),
        Column::numbers("flows", 12),
        Column::numbers("done", 13),
        Column::numbers("mean", 19).under("FCT"),
        Column::numbers("p50", 14).under("FCT"),
        Column::numbers("p99", 16).under("FCT"),
        Column::numbers("max", 15).under("FCT"),
        Column::numbers("mean", 18).under("slowdown"),
        Column::numbers("p50", 10).under("slowdown"),
        Column::numbers("p99", 17).under("slowdown"),
        Column::numbers("max", 11).under("slowdown"),
    ]);
    let mut rows = classes(inputs, run);
    if rows.len() > 1 {
        rows.push(all(inputs, run));
    }
    for c in rows {
        t.row(row(&c));
    }
    t
}

fn row(c: &Class) -> Vec<String> {
    let time = |x| format::or_dash(x, format::time_ps);
    let number = |x| format::or_dash(x, format::significant);
    vec![
        c.name.clone(),
        format::count(c.flows),
        format::count(c.completed),
        time(c.fct.mean()),
        time(c.fct.percentile(P50)),
        time(c.fct.percentile(P99)),
        time(c.fct.max()),
        number(c.slowdown.mean()),
        number(c.slowdown.percentile(P50)),
        number(c.slowdown.percentile(P99)),
        number(c.slowdown.max()),
    ]
}

fn foot(run: &Ns3Run) -> String {
    let c = &run.counters;
    let end = match run.reason {
        StopReason::StopTime => "stopped",
        StopReason::Interrupted => "interrupted",
        StopReason::Stuck { .. } => "stuck",
        StopReason::NoRoute { .. } => "cut off",
    };
    let mut lost = Vec::new();
    for (n, what) in [(c.drops, "dropped"), (c.lost, "lost on links"), (c.unroutable, "unroutable")]
    {
        if n > 0 {
            lost.push(format!("{} {what}", format::plural(n, "packet")));
        }
    }
    let lost = if lost.is_empty() { "nothing lost".into() } else { lost.join(", ") };
    let digest = match run.interrupted() {
        true => "no digest".into(),
        false => format!("digest {:016x}", run.digest),
    };
    format!(
        "  {end} at {} · {} · {lost} · {} events · {} packet-hops in {}, {}/s · {digest}",
        format::time_ps(c.end_ns as f64 * 1000.0),
        format::plural(run.pauses, "pause"),
        format::count(c.events),
        format::count(run.perf.packet_hops),
        format::time_ps(run.perf.wall_seconds * 1e12),
        format::count_f64(run.perf.packet_hops as f64 / run.perf.wall_seconds.max(1e-9)),
    )
}
