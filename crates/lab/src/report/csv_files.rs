//! `flows.csv` and `ports.csv`: a row per flow and per port, for any tool that reads tables.

use crate::findings::Comparison;
use crate::run::Run;
use weir_core::{Bytes, Time};

/// The columns of `flows.csv`.
pub(crate) const FLOW_COLUMNS: [&str; 21] = [
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
    "held_ps",
    "held_at",
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

fn ps(t: Option<Time>) -> String {
    t.map_or_else(String::new, |t| t.as_ps().to_string())
}

fn write(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(|e| e.into_error().into())
}

/// All flows of all runs.
pub(super) fn flows(c: &Comparison<'_>) -> Result<Vec<u8>, csv::Error> {
    write(&FLOW_COLUMNS, c.runs().flat_map(|run| flow_rows(c, run)))
}

fn flow_rows<'a>(c: &'a Comparison<'_>, run: &'a Run) -> impl Iterator<Item = Vec<String>> + 'a {
    let topology = &c.experiment.topology;
    run.outcome.flows.iter().map(move |f| {
        let held: Vec<String> = f
            .held
            .iter()
            .map(|h| {
                let node = topology.name(h.node);
                format!("{node}/{}={}", topology.port_name(h.node, h.port), h.time.as_ps())
            })
            .collect();
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
            f.held_total().as_ps().to_string(),
            held.join(" "),
        ]
    })
}

/// All ports of all runs.
pub(super) fn ports(c: &Comparison<'_>) -> Result<Vec<u8>, csv::Error> {
    write(&PORT_COLUMNS, c.runs().flat_map(|run| port_rows(c, run)))
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
            p.port.0.to_string(),
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
