//! Tables of results: flows, ports, distributions, pauses, samples.

use super::pause_tables;
use crate::findings::{Comparison, Distribution, PortKind};
use crate::run::Run;
use weir_core::{Bytes, Priority, Time};
use weir_sim::outcome::{Sample, TcpRecord};

/// The columns of `flows.csv`.
pub(crate) const FLOW_COLUMNS: [&str; 27] = [
    "scheme",
    "seed",
    "flow",
    "src",
    "dst",
    "class",
    "priority",
    "size",
    "start_ps",
    "fct_ps",
    "fct_ack_ps",
    "ideal_ps",
    "slowdown",
    "delivered",
    "packets",
    "retransmitted",
    "lost",
    "reordered",
    "discarded",
    "answers_lost",
    "timeouts",
    "held_ps",
    "held_at",
    "opened_ps",
    "peak_window",
    "ecn_cuts",
    "fast_retransmits",
];

/// The columns of `ports.csv`.
pub(crate) const PORT_COLUMNS: [&str; 21] = [
    "scheme",
    "seed",
    "node",
    "port",
    "towards",
    "layer",
    "rate_bps",
    "packets",
    "wire_bytes",
    "utilisation",
    "queue_mean",
    "queue_p50",
    "queue_p95",
    "queue_p99",
    "queue_max",
    "control_sent",
    "pauses_sent",
    "holds",
    "held_ps",
    "ecn_marked",
    "dropped",
];

/// The columns of `queues.csv`.
const QUEUE_COLUMNS: [&str; 7] = ["scheme", "seed", "what", "ports", "upto", "time_ps", "share"];

/// The columns of `series.csv`.
const SERIES_COLUMNS: [&str; 8] =
    ["scheme", "seed", "at_ps", "node", "port", "queue", "ingress", "held"];

fn ps(t: Option<Time>) -> String {
    t.map_or_else(String::new, |t| t.as_ps().to_string())
}

/// One table. Columns that are neither text nor real numbers are whole numbers; an empty cell of
/// a number says that there is none.
pub(super) struct Table<'a> {
    /// The name of its file, without ending.
    pub(super) name: &'a str,
    pub(super) columns: &'a [&'a str],
    /// Which columns are text.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "CSV knows no types"))]
    pub(super) text: &'a [&'a str],
    /// Which columns are real numbers.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "CSV knows no types"))]
    pub(super) real: &'a [&'a str],
    pub(super) rows: Box<dyn Iterator<Item = Vec<String>> + 'a>,
}

impl Table<'_> {
    /// As CSV.
    pub(super) fn csv(self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns)?;
        for row in self.rows {
            writer.write_record(row)?;
        }
        writer.into_inner().map_err(|e| e.into_error().into())
    }
}

/// The tables of a comparison, all runs in each.
pub(super) fn tables<'a>(c: &'a Comparison<'_>) -> Vec<Table<'a>> {
    let mut all = vec![
        Table {
            name: "flows",
            columns: &FLOW_COLUMNS,
            text: &["scheme", "flow", "src", "dst", "class", "held_at"],
            real: &["slowdown"],
            rows: Box::new(c.runs().flat_map(|run| flow_rows(c, run))),
        },
        Table {
            name: "ports",
            columns: &PORT_COLUMNS,
            text: &[
                "scheme",
                "node",
                "port",
                "towards",
                "layer",
                "pauses_sent",
                "holds",
                "held_ps",
            ],
            real: &["utilisation", "queue_mean"],
            rows: Box::new(c.runs().flat_map(|run| port_rows(c, run))),
        },
        Table {
            name: "queues",
            columns: &QUEUE_COLUMNS,
            text: &["scheme", "what", "ports"],
            real: &["share"],
            rows: Box::new(c.runs().flat_map(|run| queue_rows(c, run))),
        },
        Table {
            name: "pauses",
            columns: &pause_tables::EVENT_COLUMNS,
            text: &["scheme", "node", "port", "towards", "action", "scope", "cause"],
            real: &[],
            rows: Box::new(c.runs().flat_map(|run| pause_tables::event_rows(c, run))),
        },
        Table {
            name: "pause-edges",
            columns: &pause_tables::EDGE_COLUMNS,
            text: &["scheme", "upstream", "downstream", "scope", "cause", "root"],
            real: &[],
            rows: Box::new(c.runs().flat_map(|run| pause_tables::edge_rows(c, run))),
        },
        Table {
            name: "victims",
            columns: &pause_tables::VICTIM_COLUMNS,
            text: &["scheme", "flow", "class", "src", "dst", "held_at", "by", "root", "bound"],
            real: &[],
            rows: Box::new(c.runs().flat_map(|run| pause_tables::victim_rows(c, run))),
        },
    ];
    if c.experiment.scenario.probe.series.is_some() {
        all.push(Table {
            name: "series",
            columns: &SERIES_COLUMNS,
            text: &["scheme", "node", "port", "held"],
            real: &[],
            rows: Box::new(c.runs().flat_map(|run| series_rows(c, run))),
        });
    }
    all
}

fn flow_rows<'a>(c: &'a Comparison<'_>, run: &'a Run) -> impl Iterator<Item = Vec<String>> + 'a {
    let topology = &c.experiment.topology;
    run.outcome.flows.iter().map(move |f| {
        let held: Vec<String> = f
            .held
            .iter()
            .map(|h| format!("{}={}", topology.port_label(h.node, h.port), h.time.as_ps()))
            .collect();
        let tcp = |of: &dyn Fn(TcpRecord) -> String| f.tcp.map_or_else(String::new, of);
        vec![
            run.variant.scheme.name.into(),
            run.variant.seed.to_string(),
            f.id.to_string(),
            topology.name(f.src).into(),
            topology.name(f.dst).into(),
            c.class_name(f.class).into(),
            f.priority.to_string(),
            if f.size == Bytes::MAX { String::new() } else { f.size.get().to_string() },
            f.start.as_ps().to_string(),
            ps(f.fct()),
            ps(f.fct_ack()),
            ps(f.ideal),
            f.slowdown().map_or_else(String::new, |s| format!("{s:.6}")),
            f.delivered.get().to_string(),
            f.packets.to_string(),
            f.retransmitted.to_string(),
            f.lost.to_string(),
            f.reordered.to_string(),
            f.discarded.to_string(),
            f.answers_lost.to_string(),
            f.timeouts.to_string(),
            f.held_total().as_ps().to_string(),
            held.join(" "),
            tcp(&|t| t.opened.map_or_else(String::new, |at| (at - f.start).as_ps().to_string())),
            tcp(&|t| t.peak_window.get().to_string()),
            tcp(&|t| t.ecn_cuts.to_string()),
            tcp(&|t| t.fast_retransmits.to_string()),
        ]
    })
}

fn port_rows<'a>(c: &'a Comparison<'_>, run: &'a Run) -> impl Iterator<Item = Vec<String>> + 'a {
    let topology = &c.experiment.topology;
    run.outcome.ports.iter().map(move |p| {
        let q = &p.queue;
        // by priority, as `3:17`; priorities without any are left out
        let by_priority = |of: [u64; 8]| {
            let some = of.iter().enumerate().filter(|(_, n)| **n > 0);
            some.map(|(i, n)| format!("{i}:{n}")).collect::<Vec<_>>().join(" ")
        };
        vec![
            run.variant.scheme.name.into(),
            run.variant.seed.to_string(),
            topology.name(p.node).into(),
            topology.port_label(p.node, p.port),
            topology.name(topology.port(p.node, p.port).peer).into(),
            topology.node(p.node).layer.name().into(),
            p.rate.as_bps().to_string(),
            p.packets.to_string(),
            p.wire_bytes.get().to_string(),
            format!("{:.6}", p.utilisation),
            format!("{:.1}", q.mean),
            q.p50.get().to_string(),
            q.p95.get().to_string(),
            q.p99.get().to_string(),
            q.max.get().to_string(),
            p.control_sent.to_string(),
            by_priority(p.pauses_sent),
            by_priority(p.holds),
            by_priority(p.held_time.map(Time::as_ps)),
            p.ecn_marked.to_string(),
            p.dropped.to_string(),
        ]
    })
}

/// Distributions over time of queues, by kind of port, and of memory.
fn queue_rows(c: &Comparison<'_>, run: &Run) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut add = |what: &str, ports: &str, d: &Distribution| {
        rows.extend(d.shares().map(|(edge, time, share)| {
            vec![
                run.variant.scheme.name.into(),
                run.variant.seed.to_string(),
                what.into(),
                ports.into(),
                edge.to_string(),
                time.to_string(),
                format!("{share:.9}"),
            ]
        }));
    };
    for kind in PortKind::ALL {
        add("queue", kind.name(), &Distribution::of_ports(&c.experiment.topology, [run], kind));
    }
    add("memory", "", &Distribution::of_memory([run]));
    rows
}

/// Samples of all switch ports; those with nothing to tell are left out.
fn series_rows<'a>(c: &'a Comparison<'_>, run: &'a Run) -> impl Iterator<Item = Vec<String>> + 'a {
    let topology = &c.experiment.topology;
    let idle = |s: &&Sample| s.queue == Bytes::ZERO && s.ingress == Bytes::ZERO && s.held == 0;
    run.outcome.series.iter().filter(move |s| !idle(s)).map(move |s| {
        let held = Priority::ALL.iter().filter(|p| s.held & 1 << p.get() != 0);
        let held: Vec<String> = held.map(Priority::to_string).collect();
        vec![
            run.variant.scheme.name.into(),
            run.variant.seed.to_string(),
            s.at.as_ps().to_string(),
            topology.name(s.node).into(),
            topology.port_label(s.node, s.port),
            s.queue.get().to_string(),
            s.ingress.get().to_string(),
            held.join(" "),
        ]
    })
}
