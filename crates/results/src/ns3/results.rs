//! The summary and the flow table of a compatible run.

use super::{Ns3Run, class_name, host_name};
use crate::report::{SCHEMA, flow_names, json_text};
use crate::sheet::Sheet;
use crate::stats::Sorted;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use weir_core::percentile::{P50, P95, P99};
use weir_ns3::record::{FctRecord, Sent};
use weir_ns3::{Flow, Inputs, StopReason};

/// Completion times (as senders see them, picoseconds) and slowdowns of some flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) flows: u64,
    pub(super) completed: u64,
    pub(super) fct: Sorted,
    pub(super) slowdown: Sorted,
}

/// The classes of a run by destination port.
pub(super) fn classes(inputs: &Inputs, run: &Ns3Run) -> Vec<Class> {
    let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
    for flow in &inputs.flows {
        *counts.entry(flow.dport).or_default() += 1;
    }
    let class = |(port, flows): (u16, u64)| {
        let name = class_name(port);
        Class { name, flows, ..finished(run, |r| r.dport == port) }
    };
    counts.into_iter().map(class).collect()
}

/// All flows.
pub(super) fn all(inputs: &Inputs, run: &Ns3Run) -> Class {
    Class { name: "all".into(), flows: inputs.flows.len() as u64, ..finished(run, |_| true) }
}

fn finished(run: &Ns3Run, wanted: impl Fn(&FctRecord) -> bool) -> Class {
    let records: Vec<&FctRecord> = run.fct.iter().filter(|r| wanted(r)).collect();
    Class {
        name: String::new(),
        flows: 0,
        completed: records.len() as u64,
        fct: Sorted::new(records.iter().map(|r| r.fct_ns as f64 * 1000.0)),
        slowdown: Sorted::new(records.iter().map(|r| slowdown(r))),
    }
}

/// At least 1: the original's estimate is no lower bound.
fn slowdown(r: &FctRecord) -> f64 {
    (r.fct_ns as f64 / r.standalone_ns.max(1) as f64).max(1.0)
}

/// `summary.json`: the same fields as for native runs as far as they mean the same, and the
/// counters of the engine.
pub fn summary(name: &str, inputs: &Inputs, run: &Ns3Run) -> Value {
    let c = &run.counters;
    let classes: Map<String, Value> =
        classes(inputs, run).iter().map(|class| (class.name.clone(), describe(class))).collect();
    let digest = (!run.interrupted()).then(|| format!("{:016x}", run.digest));
    json!({
        "schema": SCHEMA,
        "weir": env!("CARGO_PKG_VERSION"),
        "scenario": name,
        "engine": "ns3",
        "scheme": "pfc",
        "cc": inputs.config.congestion_control().name(),
        "finish": finish(run),
        "valid": run.invalid().is_none(),
        "invalid_because": run.invalid(),
        "end_ps": c.end_ns.saturating_mul(1000),
        "digest": digest,
        "totals": {
            "flows": inputs.flows.len(),
            "completed": c.flows_done,
            "events": c.events,
            "pauses": run.pauses,
            "dropped": c.drops,
            "lost_on_links": c.lost,
            "unroutable": c.unroutable,
            "host": sent(&c.host),
            "switch": sent(&c.switch),
            "max_rtt_ps": c.max_rtt_ns.saturating_mul(1000),
            "max_bdp": c.max_bdp,
        },
        "classes": classes,
    })
}

fn finish(run: &Ns3Run) -> Value {
    match run.reason {
        StopReason::StopTime => json!({ "how": "time-limit" }),
        StopReason::Interrupted => json!({ "how": "interrupted" }),
        StopReason::Stuck { time_ns } => {
            json!({ "how": "stuck", "at_ps": time_ns.saturating_mul(1000) })
        }
        StopReason::NoRoute { time_ns, from, to } => json!({
            "how": "no-route",
            "at_ps": time_ns.saturating_mul(1000),
            "from": host_name(from),
            "to": host_name(to),
        }),
    }
}

fn sent(s: &Sent) -> Value {
    json!({ "data": s.data, "ack": s.ack, "nack": s.nack, "pfc": s.pfc, "bytes": s.bytes })
}

fn describe(c: &Class) -> Value {
    let spread = |s: &Sorted| {
        json!({
            "mean": s.mean(),
            "p50": s.percentile(P50),
            "p95": s.percentile(P95),
            "p99": s.percentile(P99),
            "max": s.max(),
        })
    };
    json!({
        "flows": c.flows,
        "completed": c.completed,
        "fct_ack_ps": spread(&c.fct),
        "slowdown": spread(&c.slowdown),
    })
}

/// `perf.json`.
pub fn perf_json(run: &Ns3Run) -> Vec<u8> {
    json_text(&json!(run.perf))
}

/// `flows.csv`: a row per flow in order of start, with the columns of native runs; what the
/// engine does not tell is left empty.
pub fn flows_csv(inputs: &Inputs, run: &Ns3Run) -> Vec<u8> {
    let key = |r: &FctRecord| ((r.src, r.dst, r.sport, r.start_ns), *r);
    let done: BTreeMap<_, _> = run.fct.iter().map(key).collect();
    let mut ports: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    let mut numbers: BTreeMap<u32, u64> = BTreeMap::new();
    let rows = inputs.flows.iter().map(|flow| {
        // source ports count up from 10000 for every pair of hosts
        let port = ports.entry((flow.src, flow.dst)).or_insert(10_000);
        let number = numbers.entry(flow.src).or_default();
        let id = format!("f{}.{number}", flow.src);
        let record = done.get(&(flow.src, flow.dst, *port, flow.start_ns()));
        *port = port.wrapping_add(1);
        *number += 1;
        Row { id, flow, record }
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let told = |name: &str| TOLD.iter().find(|(told, _)| *told == name).map(|(_, of)| *of);
    let sheet = flow_names().fold(Sheet::new(), |sheet, name| {
        sheet.column(name, move |row: &Row<'_>| told(name).map(|of| of(row)))
    });
    sheet.csv(&rows)
}

/// A flow, and what was recorded of it if it completed.
struct Row<'a> {
    id: String,
    flow: &'a Flow,
    record: Option<&'a FctRecord>,
}

/// How a cell is worked out.
type Cell = fn(&Row<'_>) -> Option<String>;

/// The columns of native runs that the engine tells.
const TOLD: [(&str, Cell); 12] = [
    ("variant", |_| Some("PFC".to_owned())),
    ("scheme", |_| Some("pfc".to_owned())),
    ("flow", |row| Some(row.id.clone())),
    ("src", |row| Some(host_name(row.flow.src))),
    ("dst", |row| Some(host_name(row.flow.dst))),
    ("class", |row| Some(class_name(row.flow.dport))),
    ("priority", |row| Some(row.flow.pg.to_string())),
    ("size", |row| Some(row.flow.size.to_string())),
    ("start_ps", |row| Some(row.flow.start_ns().saturating_mul(1000).to_string())),
    ("fct_ack_ps", |row| Some(row.record?.fct_ns.saturating_mul(1000).to_string())),
    ("ideal_ps", |row| Some(row.record?.standalone_ns.saturating_mul(1000).to_string())),
    ("slowdown", |row| Some(format!("{:.6}", slowdown(row.record?)))),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_has_a_column() {
        for (name, _) in TOLD {
            assert!(flow_names().any(|column| column == name), "{name}");
        }
    }
}
