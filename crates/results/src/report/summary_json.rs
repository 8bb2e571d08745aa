//! `summary.json`: what a run amounts to. A pure function of scenario and seed.

use super::probe_tables;
use crate::column::{Column, columns};
use crate::comparison::{ClassSummary, Comparison, Group, answer, missing_signal};
use crate::findings::port_record;
use crate::findings::{
    ClassStats, Distribution, PauseTree, PortKind, Selection, TableSummary, hottest_port,
};
use crate::run::{Failed, Run};
use crate::stats::{Estimate, Spread};
use serde_json::{Map, Value, json};
use weir_core::percentile::{P50, P95, P99};
use weir_core::{ClassId, Time};
use weir_scenario::experiment::Experiment;
use weir_sim::config::Reliability;
use weir_sim::outcome::{Deadlock, FaultedFrame, Finish, Stuck, Totals};

/// The version of the file format.
pub(crate) const SCHEMA: u32 = 2;

/// The summary of everything that was run: of the run itself if there is only one.
pub fn summary(c: &Comparison<'_>) -> Value {
    let e = c.experiment;
    let mut all = json!({
        "schema": SCHEMA,
        "weir": env!("CARGO_PKG_VERSION"),
        "scenario": e.scenario.name,
        "title": e.scenario.title,
        "answer": answer(c),
        "partial": c.partial(),
        "window": window(e),
    });
    let mut runs: Vec<Value> = c.runs_with().map(|(e, r)| run_summary(e, r)).collect();
    let object = all.as_object_mut().expect("made above");
    if runs.len() == 1
        && c.failed.is_empty()
        && let Some(Value::Object(run)) = runs.pop()
    {
        object.extend(run);
    } else {
        let schemes = c.groups.iter().map(|g| scheme(c, g)).collect::<Vec<_>>();
        object.insert("schemes".into(), schemes.into());
        object.insert("runs".into(), runs.into());
        object.insert("failed".into(), c.failed.iter().map(failed).collect());
    }
    all
}

/// The time whose pauses and victims are in the files; null for the whole run.
fn window(e: &Experiment) -> Value {
    match e.window.is_all() {
        true => Value::Null,
        false => json!({
            "from_ps": e.window.from.as_ps(),
            "to_ps": (e.window.to < Time::NEVER).then_some(e.window.to.as_ps()),
        }),
    }
}

/// A run without an outcome.
fn failed(f: &Failed) -> Value {
    json!({
        "variant": f.label,
        "scheme": f.variant.scheme.name,
        "cc": f.variant.cc.name(),
        "seed": f.variant.seed,
        "why": f.why.to_string(),
    })
}

/// A scheme over all seeds: means of what each seed gave, with 95 % confidence intervals.
fn scheme(c: &Comparison<'_>, group: &Group<'_>) -> Value {
    let estimate = |e: Option<Estimate>| {
        e.map_or(Value::Null, |e| json!({ "mean": e.mean, "plus_minus": e.half_width }))
    };
    let flows = |which: Selection<'_>| {
        let s = ClassSummary::of(group, which);
        json!({
            "flows": s.flows,
            "completed": s.completed,
            "fct_ps": {
                "mean": estimate(s.fct_mean),
                "p50": estimate(s.fct_p50),
                "p95": estimate(s.fct_p95),
                "p99": estimate(s.fct_p99),
            },
            "slowdown": {
                "mean": estimate(s.slowdown_mean),
                "p50": estimate(s.slowdown_p50),
                "p95": estimate(s.slowdown_p95),
                "p99": estimate(s.slowdown_p99),
            },
        })
    };
    let (classes, sizes) = divided(c.experiment, flows);
    json!({
        "variant": group.label,
        "scheme": group.scheme.name,
        "cc": group.cc.name(),
        "seeds": group.runs.len(),
        "classes": classes,
        "sizes": sizes,
    })
}

/// What `of` says of each class, with its ranges of sizes inside, and of the ranges of all flows.
fn divided(
    e: &Experiment,
    of: impl Fn(Selection<'_>) -> Value,
) -> (Map<String, Value>, Map<String, Value>) {
    let ranges = |class: Option<ClassId>| -> Map<String, Value> {
        let sizes = e.scenario.report.sizes.iter();
        sizes.map(|s| (s.label.clone(), of(Selection { class, sizes: Some(s) }))).collect()
    };
    let class = |(i, name): (usize, &String)| {
        let class = Some(ClassId::from_index(i));
        let mut value = of(Selection { class, sizes: None });
        value["sizes"] = ranges(class).into();
        (name.clone(), value)
    };
    (e.classes().iter().enumerate().map(class).collect(), ranges(None))
}

fn length(d: &Distribution) -> Value {
    json!({
        "mean": d.mean,
        "p50": d.percentile(P50),
        "p95": d.percentile(P95),
        "p99": d.percentile(P99),
        "max": d.max,
    })
}

/// Queue lengths by kind of port, and memory of all switches.
fn lengths(e: &Experiment, run: &Run) -> (Map<String, Value>, Value) {
    let queues = PortKind::ALL.into_iter().filter_map(|kind| {
        let d = run.queues(e).of(kind);
        (d.total > 0).then(|| (kind.name().to_owned(), length(d)))
    });
    (queues.collect(), length(&run.queues(e).memory))
}

/// The summary of one run.
pub fn run_summary(e: &Experiment, run: &Run) -> Value {
    let o = &run.outcome;
    let (classes, sizes) = divided(e, |which| class(&run.class_stats(which)));
    let (queues, memory) = lengths(e, run);
    let is_tcp = run.config.nic.reliability == Reliability::Tcp;
    // An interrupted run depends on when it was interrupted: it has no fingerprint.
    let digest = (!run.interrupted()).then(|| format!("{:016x}", o.digest));
    let mut all = json!({
        "variant": run.label,
        "scheme": run.variant.scheme.name,
        "cc": run.variant.cc.name(),
        "transport": if is_tcp { "tcp" } else { "roce" },
        "seed": run.variant.seed,
        "finish": finish(e, run),
        "valid": run.invalid(e).is_none(),
        "invalid_because": run.invalid(e),
        "end_ps": o.end.as_ps(),
        "digest": digest,
        "traffic": format!("{:016x}", o.traffic_hash),
        "totals": object(&total_columns(), &o.totals),
        "missing_signal": missing_signal(run),
        "series_interval_ps": o.series_interval.map(Time::as_ps),
        "drops": drops(e, run),
        "faulted_frames": faulted(e, run),
        "classes": classes,
        "sizes": sizes,
        "queues": queues,
        "memory": memory,
        "hottest_port": hottest(e, run),
        "pause_trees": trees(e, run),
        "tables": tables(run),
        "processors": processors(run),
    });
    if !o.measurements.is_empty() {
        all["probes"] = probe_tables::dictionary(run).into();
    }
    all
}

/// A row as an object.
fn object<T>(columns: &[Column<T>], of: &T) -> Map<String, Value> {
    columns.iter().map(|c| (c.heading.name.to_owned(), json!((c.of)(of)))).collect()
}

/// Sums over a run.
pub fn total_columns() -> Vec<Column<Totals>> {
    columns! {
        "flows" Whole Count: "flows that started", |t| t.flows;
        "completed" Whole Count: "flows whose payload arrived", |t| t.completed;
        "data_sent" Whole Count: "data packets sent by hosts", |t| t.data_sent;
        "data_arrived" Whole Count: "data packets received by hosts", |t| t.data_arrived;
        "acks_sent" Whole Count: "ACKs, NACKs, CNPs and packets of a handshake sent by hosts",
            |t| t.acks_sent;
        "acks_arrived" Whole Count: "the same, received by hosts", |t| t.acks_arrived;
        "dropped" Whole Count: "data packets and answers lost, for any reason", |t| t.dropped;
        "control_dropped" Whole Count: "control frames lost", |t| t.control_dropped;
        "control_delayed" Whole Count: "control frames that a fault delayed", |t| t.control_delayed;
        "control_duplicated" Whole Count: "control frames that a fault duplicated",
            |t| t.control_duplicated;
        "in_network" Whole Count: "packets still in the network at the end", |t| t.in_network;
        "retransmitted" Whole Count: "packets retransmitted", |t| t.retransmitted;
        "reordered" Whole Count: "packets that arrived behind a later one", |t| t.reordered;
        "discarded" Whole Count: "packets discarded at the source", |t| t.discarded;
        "telemetry" Whole Count: "ACKs that carried telemetry to their sender", |t| t.telemetry;
        "control_frames" Whole Count: "control frames sent", |t| t.control_frames;
        "control_bytes" Whole Bytes: "bytes of these frames", |t| t.control_bytes;
        "storms_prevented" Whole Count: "pauses that slow hosts' NICs ended to prevent a storm",
            |t| t.storms_prevented;
        "watchdog_storms" Whole Count: "storms that watchdogs detected", |t| t.watchdog_storms;
        "timeouts" Whole Count: "retransmission timers that fired", |t| t.timeouts;
        "needless_timeouts" Whole Count: "those of flows that had lost nothing",
            |t| t.needless_timeouts;
        "ecn_cuts" Whole Count: "TCP: windows cut for ECN marks", |t| t.ecn_cuts;
        "fast_retransmits" Whole Count: "TCP: fast retransmits", |t| t.fast_retransmits;
    }
}

/// The packet processors of all switches together; null where switches have none.
fn processors(run: &Run) -> Value {
    let all = || run.outcome.switches.iter().filter_map(|s| s.processor.as_ref());
    if all().next().is_none() {
        return Value::Null;
    }
    let ingress = length(&Distribution::new(all().map(|p| &p.ingress)));
    json!({
        "packets": all().map(|p| p.packets).sum::<u64>(),
        "stops": all().map(|p| p.stops).sum::<u64>(),
        "stopped_ps": all().map(|p| p.stopped.as_ps()).sum::<u64>(),
        "longest_stopped_ps": all().map(|p| p.stopped.as_ps()).max(),
        "ingress": ingress,
    })
}

/// What the scheme keeps in a switch.
fn tables(run: &Run) -> Vec<Value> {
    let each = |t: TableSummary| json!({ "table": t.name, "mean": t.mean, "max": t.max });
    TableSummary::of([&run.outcome]).into_iter().map(each).collect()
}

fn picoseconds(t: Option<f64>) -> Value {
    t.map_or(Value::Null, |ps| json!(ps))
}

fn spread(s: &Spread) -> Value {
    json!({
        "mean": picoseconds(s.mean()),
        "p50": picoseconds(s.percentile(P50)),
        "p95": picoseconds(s.percentile(P95)),
        "p99": picoseconds(s.percentile(P99)),
        "max": picoseconds(s.max()),
    })
}

fn class(s: &ClassStats) -> Value {
    json!({
        "flows": s.flows,
        "completed": s.completed,
        "fct_ps": spread(&s.fct),
        "fct_ack_ps": spread(&s.fct_ack),
        "slowdown": spread(&s.slowdown),
        "longest_hold_ps": spread(&s.held),
        "retransmitted": s.retransmitted,
        "lost": s.lost,
        "reordered": s.reordered,
        "timeouts": s.timeouts,
        "tcp": tcp(s),
    })
}

/// What TCP did; null where hosts do not use it.
fn tcp(s: &ClassStats) -> Value {
    s.peak_window.mean().map_or(Value::Null, |mean| {
        json!({
            "ecn_cuts": s.ecn_cuts,
            "fast_retransmits": s.fast_retransmits,
            "peak_window_mean": mean,
            "peak_window_max": s.peak_window.max(),
        })
    })
}

/// A control frame that was lost or late.
fn faulted_frame(e: &Experiment, f: &FaultedFrame) -> Value {
    json!({
        "at_ps": f.at.as_ps(),
        "node": e.topology.name(f.node),
        "port": e.topology.port_label(f.node, f.port),
        "fate": f.fate.name(),
        "frame": f.what(&e.topology),
    })
}

/// The first frames that faults and bit errors hit, and how many more there were.
fn faulted(e: &Experiment, run: &Run) -> Value {
    const MOST: usize = 100;
    let all = &run.outcome.faulted;
    let more = all.len().saturating_sub(MOST) as u64 + run.outcome.faulted_left_out;
    let first: Vec<Value> = all.iter().take(MOST).map(|f| faulted_frame(e, f)).collect();
    json!({ "frames": first, "more": more })
}

fn stuck(e: &Experiment, s: &Stuck) -> Value {
    json!({
        "node": e.topology.name(s.node),
        "port": e.topology.port_label(s.node, s.port),
        "queue": s.queue.0,
        "priority": s.priority.get(),
        "bytes": s.bytes.get(),
        "since_ps": s.since.map(Time::as_ps),
        "waits_for": s.waits_for,
        "lost_frame": s.lost.as_ref().map(|f| faulted_frame(e, f)),
    })
}

fn finish(e: &Experiment, run: &Run) -> Value {
    let list = |all: &[Stuck]| all.iter().map(|s| stuck(e, s)).collect::<Vec<_>>();
    let mut finish = match &run.outcome.finish {
        Finish::Drained => json!({ "how": "drained" }),
        Finish::TimeLimit if run.clock_ended() => json!({ "how": "clock-end" }),
        Finish::TimeLimit => json!({ "how": "time-limit" }),
        Finish::Interrupted => json!({ "how": "interrupted" }),
        Finish::Deadlock(Deadlock { closed, cycle }) => json!({
            "how": "deadlock",
            "closed_ps": closed.as_ps(),
            "cycle": list(cycle),
        }),
        Finish::Stalled(stuck) => json!({ "how": "stalled", "stuck": list(stuck) }),
    };
    if !run.outcome.held_at_end.is_empty() {
        finish["stuck"] = list(&run.outcome.held_at_end).into();
    }
    finish
}

fn drops(e: &Experiment, run: &Run) -> Vec<Value> {
    let each = |d: &weir_sim::outcome::DropRecord| {
        json!({
            "reason": d.reason.name(),
            "priority": d.priority.get(),
            "node": e.topology.name(d.node),
            "packets": d.packets,
            "first_ps": d.first.as_ps(),
            "flow": d.flow.to_string(),
        })
    };
    run.outcome.drops.iter().map(each).collect()
}

fn hottest(e: &Experiment, run: &Run) -> Value {
    let Some(at) = hottest_port(&e.topology, &run.outcome) else { return Value::Null };
    let Some(port) = port_record(at, &run.outcome) else { return Value::Null };
    json!({
        "node": e.topology.name(at.node),
        "port": at.label(&e.topology),
        "queue_mean": port.queue.mean,
        "queue_p99": port.queue.percentile(P99).get(),
        "queue_max": port.queue.max.get(),
    })
}

/// The largest pause trees: roots, extent and victims.
fn trees(e: &Experiment, run: &Run) -> Vec<Value> {
    const MOST: usize = 20;
    let each = |t: &PauseTree| {
        let (count, time) = t.totals();
        let victims: Vec<Value> = t
            .victims
            .iter()
            .take(MOST)
            .map(|v| {
                json!({
                    "flow": v.flow.to_string(),
                    "src": e.topology.name(v.src),
                    "dst": e.topology.name(v.dst),
                    "class": e.classes()[v.class.index()],
                    "held_at": v.at.label(&e.topology),
                    "held_ps": v.held.as_ps(),
                    "bound": v.bound.name(),
                    "at_most": v.at_most(),
                    "clear_path": v.clear,
                })
            })
            .collect();
        json!({
            "root": t.root.map(|r| json!({
                "node": e.topology.name(r.node),
                "port": r.label(&e.topology),
            })),
            "pauses": count,
            "paused_ps": time.as_ps(),
            "depth": t.depth(),
            "victims": t.victims.len(),
            "longest_held": victims,
        })
    };
    run.pause_trees(e).iter().take(MOST).map(each).collect()
}
