//! Tables of results: flows, ports, distributions, pauses, samples.

use super::{blame_tables, job_tables, pause_tables};
use crate::column::{Column, Csv, Heading, Kind, Sink, columns, headings};
use crate::comparison::Comparison;
use crate::findings::{Distribution, PortKind};
use crate::run::Run;
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use weir_core::percentile::{P50, P95, P99};
use weir_core::{Bytes, NodeId, PortId, Priority, Time};
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{FlowRecord, PortRecord, Sample, TcpRecord};

/// One table.
pub(super) struct TableFile<'a> {
    /// The name of its file, without ending.
    pub(super) name: Cow<'a, str>,
    headings: Vec<Heading>,
    fill: Fill<'a>,
}

/// Writes all rows of a table, one after the other: one of a million flows is never in memory as a
/// whole.
type Fill<'a> = Box<dyn FnOnce(&mut dyn Sink) -> io::Result<()> + 'a>;

impl<'a> TableFile<'a> {
    fn new<T: 'a>(
        name: &'static str,
        columns: Vec<Column<T>>,
        rows: impl Iterator<Item = T> + 'a,
    ) -> Self {
        let headings = headings(&columns);
        let fill = move |to: &mut dyn Sink| {
            for row in rows {
                to.row(&mut columns.iter().map(|c| (c.of)(&row)))?;
            }
            Ok(())
        };
        Self::made(name, headings, fill)
    }

    /// A table whose rows are not made by columns.
    pub(super) fn made(
        name: impl Into<Cow<'a, str>>,
        headings: Vec<Heading>,
        fill: impl FnOnce(&mut dyn Sink) -> io::Result<()> + 'a,
    ) -> Self {
        Self { name: name.into(), headings, fill: Box::new(fill) }
    }

    /// Writes it as CSV.
    pub(super) fn write_csv(self, to: &mut dyn Write) -> io::Result<()> {
        let mut csv = Csv::new(to, heads(&self.headings))?;
        (self.fill)(&mut csv)?;
        csv.finish()
    }

    /// Writes it as Parquet.
    #[cfg(feature = "parquet")]
    pub(super) fn write_parquet(self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&super::parquet::bytes(&self.name, heads(&self.headings), self.fill)?)
    }
}

fn heads(headings: &[Heading]) -> impl Iterator<Item = (&'static str, Kind)> {
    headings.iter().map(|h| (h.name, h.kind))
}

/// Something of a run.
pub(super) struct Of<'a, T> {
    pub(super) e: &'a Experiment,
    pub(super) run: &'a Run,
    pub(super) it: T,
}

impl<T> Of<'_, T> {
    /// The name of a node.
    pub(super) fn node(&self, n: NodeId) -> &str {
        self.e.topology.name(n)
    }

    /// The label of a port.
    pub(super) fn port(&self, n: NodeId, p: PortId) -> String {
        self.e.topology.port_label(n, p)
    }

    /// Who is at the other end of a port.
    pub(super) fn peer(&self, n: NodeId, p: PortId) -> &str {
        self.node(self.e.topology.port(n, p).peer)
    }
}

/// The columns that every row begins with, and those of a table.
pub(super) fn with_run<'a, T>(own: Vec<Column<Of<'a, T>>>) -> Vec<Column<Of<'a, T>>> {
    let mut all: Vec<Column<Of<'a, T>>> = columns! {
        "variant" Text: "the run", |v| v.run.label.as_str();
        "scheme" Text: "the run", |v| v.run.variant.scheme.name;
        "seed" Whole: "the run", |v| v.run.variant.seed;
    };
    all.extend(own);
    all
}

/// The tables of a comparison, all runs in each.
pub(super) fn tables<'a>(c: &'a Comparison<'_>) -> Vec<TableFile<'a>> {
    /// All rows of all runs.
    fn of<'a, T: 'a, I: IntoIterator<Item = T> + 'a>(
        c: &'a Comparison<'_>,
        rows: impl Fn(&'a Experiment, &'a Run) -> I + 'a,
    ) -> impl Iterator<Item = Of<'a, T>> + 'a {
        c.runs_with()
            .flat_map(move |(e, run)| rows(e, run).into_iter().map(move |it| Of { e, run, it }))
    }
    let blamed = keeps_blame(c);
    let mut flow_columns = flow_columns();
    if blamed {
        flow_columns.extend(blame_tables::flow_columns());
    }
    let mut all = vec![
        TableFile::new("flows", flow_columns, of(c, |_, run| &run.outcome.flows)),
        TableFile::new("ports", port_columns(), of(c, |_, run| &run.outcome.ports)),
        TableFile::new("queues", queue_columns(), of(c, bins)),
        TableFile::new("pauses", pause_tables::event_columns(), of(c, pause_tables::events)),
        TableFile::new("pause-edges", pause_tables::edge_columns(), of(c, pause_tables::edges)),
        TableFile::new("victims", pause_tables::victim_columns(), of(c, pause_tables::victims)),
    ];
    if blamed {
        let rows = of(c, blame_tables::shares);
        all.push(TableFile::new("blame", blame_tables::share_columns(), rows));
        let rows = of(c, blame_tables::culprits);
        all.push(TableFile::new("culprits", blame_tables::culprit_columns(), rows));
    }
    if c.groups.iter().any(|g| !g.experiment.traffic.jobs().is_empty()) {
        let rows = of(c, job_tables::iterations);
        all.push(TableFile::new("collectives", job_tables::columns(), rows));
        let mut columns = job_tables::step_columns();
        if blamed {
            columns.extend(job_tables::path_columns());
            let rows = of(c, job_tables::links);
            all.push(TableFile::new("critical-path", job_tables::link_columns(), rows));
        }
        all.push(TableFile::new("steps", columns, of(c, job_tables::iterations)));
    }
    if c.groups.iter().any(|g| g.experiment.scenario.probe.series.is_some()) {
        all.push(TableFile::new("series", series_columns(), of(c, samples)));
    }
    all
}

/// The tables of jobs of a run as CSV: what they are called, and what they say.
pub(super) fn job_files(e: &Experiment, run: &Run) -> io::Result<Vec<(&'static str, Vec<u8>)>> {
    let rows = || job_tables::iterations(e, run).map(|it| Of { e, run, it });
    let mut files = Vec::new();
    for (name, columns) in
        [("steps", job_tables::step_columns()), ("collectives", job_tables::columns())]
    {
        let mut text = Vec::new();
        TableFile::new(name, columns, rows()).write_csv(&mut text)?;
        files.push((name, text));
    }
    Ok(files)
}

/// Whether runs of a comparison kept where completion times went.
pub(super) fn keeps_blame(c: &Comparison<'_>) -> bool {
    c.runs().any(|run| run.outcome.blame.is_some())
}

/// The columns that there are with blame only, by the names of their files without ending.
pub fn blame_columns() -> [(&'static str, Vec<Heading>); 5] {
    [
        ("flows", headings(&blame_tables::flow_columns())),
        ("blame", headings(&blame_tables::share_columns())),
        ("culprits", headings(&blame_tables::culprit_columns())),
        ("steps", headings(&job_tables::path_columns())),
        ("critical-path", headings(&job_tables::link_columns())),
    ]
}

/// The columns of all tables, by the names of their files without ending.
pub fn columns() -> [(&'static str, Vec<Heading>); 9] {
    [
        ("flows", headings(&flow_columns())),
        ("ports", headings(&port_columns())),
        ("queues", headings(&queue_columns())),
        ("pauses", headings(&pause_tables::event_columns())),
        ("pause-edges", headings(&pause_tables::edge_columns())),
        ("victims", headings(&pause_tables::victim_columns())),
        ("collectives", headings(&job_tables::columns())),
        ("steps", headings(&job_tables::step_columns())),
        ("series", headings(&series_columns())),
    ]
}

/// Names with numbers, separated by blanks: `3:17 5:2`, with `between` in place of the colon.
fn pairs<N: Display>(pairs: impl Iterator<Item = (N, u64)>, between: char) -> String {
    let mut text = String::new();
    for (name, n) in pairs {
        let blank = if text.is_empty() { "" } else { " " };
        write!(text, "{blank}{name}{between}{n}").expect("a string takes everything");
    }
    text
}

/// By priority; priorities without any are left out.
fn by_priority(counts: [u64; Priority::COUNT]) -> String {
    pairs((0u8..).zip(counts).filter(|(_, n)| *n > 0), ':')
}

fn tcp(f: &FlowRecord, of: fn(TcpRecord) -> u64) -> Option<u64> {
    f.tcp().map(of)
}

/// The columns of `flows.csv`.
pub(crate) fn flow_names() -> impl Iterator<Item = &'static str> {
    flow_columns().into_iter().map(|c| c.heading.name)
}

fn flow_columns<'a>() -> Vec<Column<Of<'a, &'a FlowRecord>>> {
    with_run(columns! {
        "flow" Text: "`fS.K`: the K-th flow of node S, from 0", |v| v.it.id.to_string();
        "src" Text: "hosts", |v| v.node(v.it.src());
        "dst" Text: "hosts", |v| v.node(v.it.dst);
        "class" Text: "its class in the scenario", |v| v.e.classes()[v.it.class.index()].as_str();
        "priority" Whole: "of its data, 0 to 7", |v| v.it.priority.get();
        "size" Whole Bytes: "payload bytes; empty for a flow without an end",
            |v| (v.it.size != Bytes::MAX).then_some(v.it.size);
        "start_ps" Whole Time: "when it started", |v| v.it.start;
        "fct_ps" Whole Time:
            "time from the start to the last payload byte at the receiver; empty if it did not \
             finish",
            |v| v.it.fct();
        "fct_ack_ps" Whole Time: "time from the start to the last ACK at the sender",
            |v| v.it.fct_ack();
        "ideal_ps" Whole Time:
            "completion time alone on its path, including headers and overhead",
            |v| v.it.ideal();
        "slowdown" Fixed(6) Number: "`fct_ps` divided by `ideal_ps`", |v| v.it.slowdown();
        "delivered" Whole Bytes: "payload bytes that arrived in order", |v| v.it.delivered;
        "packets" Whole Count: "data packets sent, including retransmissions", |v| v.it.packets;
        "retransmitted" Whole Count: "data packets retransmitted", |v| v.it.retransmitted();
        "lost" Whole Count: "data packets lost in the network", |v| v.it.lost();
        "reordered" Whole Count: "data packets that arrived behind a later one",
            |v| v.it.reordered();
        "discarded" Whole Count:
            "packets that a constant-rate source discarded while it was held",
            |v| v.it.discarded();
        "answers_lost" Whole Count: "ACKs, NACKs, CNPs and packets of a handshake lost",
            |v| v.it.answers_lost();
        "timeouts" Whole Count: "how often the retransmission timer fired", |v| v.it.timeouts();
        "held_ps" Whole Time: "time held by flow control, summed over hops, which overlap",
            |v| v.it.held_total();
        "held_at" Text:
            "the same by port: `h0:Sa=986602800 Sb:Sc=142378800`, separated by blanks, the time \
             after the last `=`",
            |v| pairs(v.it.held().iter().map(|h| (v.port(h.node, h.port), h.time.as_ps())), '=');
        "opened_ps" Whole Time:
            "TCP: time from the start until data could be sent; this and the following columns \
             are empty without TCP",
            |v| v.it.tcp().and_then(|t| t.opened).map(|at| at - v.it.start);
        "peak_window" Whole Bytes: "TCP: the largest congestion window, bytes",
            |v| tcp(v.it, |t| t.peak_window.get());
        "ecn_cuts" Whole Count: "TCP: how often the window was cut for ECN marks",
            |v| tcp(v.it, |t| t.ecn_cuts);
        "fast_retransmits" Whole Count:
            "TCP: how often duplicate ACKs started a fast retransmit",
            |v| tcp(v.it, |t| t.fast_retransmits);
    })
}

fn port_columns<'a>() -> Vec<Column<Of<'a, &'a PortRecord>>> {
    with_run(columns! {
        "node" Text: "the port", |v| v.node(v.it.node);
        "port" Text: "the port", |v| v.port(v.it.node, v.it.port);
        "towards" Text: "the node at the other end", |v| v.peer(v.it.node, v.it.port);
        "layer" Text: "of the node: `host`, `tor`, `agg`, `core` or `other`",
            |v| v.e.topology.node(v.it.node).layer.name();
        "rate_bps" Whole Rate: "line rate", |v| v.it.rate;
        "packets" Whole Count: "packets sent, control frames included", |v| v.it.packets;
        "wire_bytes" Whole Bytes: "bytes of line time used: frames and overhead",
            |v| v.it.wire_bytes;
        "utilisation" Fixed(6) Share:
            "share of the run during which the wire was busy, 0 to 1",
            |v| v.it.utilisation;
        "queue_mean" Fixed(1) Bytes: "mean of the bytes waiting, weighted by time",
            |v| v.it.queue.mean;
        "queue_p50" Whole Bytes:
            "length not exceeded for this percentage of the time, at most 1/32 above it",
            |v| v.it.queue.percentile(P50);
        "queue_p95" Whole Bytes:
            "length not exceeded for this percentage of the time, at most 1/32 above it",
            |v| v.it.queue.percentile(P95);
        "queue_p99" Whole Bytes:
            "length not exceeded for this percentage of the time, at most 1/32 above it",
            |v| v.it.queue.percentile(P99);
        "queue_max" Whole Bytes: "longest queue, exactly", |v| v.it.queue.max;
        "control_sent" Whole Count: "control frames sent by the port", |v| v.it.control_sent;
        "control_faulted" Whole Count:
            "control frames that came in by the port and were dropped, delayed or duplicated by a \
             fault",
            |v| v.it.control_faulted;
        "pauses_sent" Text: "pauses it sent to its neighbour, by priority",
            |v| by_priority(v.it.pauses_sent);
        "holds" Text: "how often it was held itself, by priority", |v| by_priority(v.it.holds);
        "held_ps" Text: "how long it was held, by priority, even if it had nothing to send",
            |v| by_priority(v.it.held_time.map(Time::as_ps));
        "ecn_marked" Whole Count: "packets marked", |v| v.it.ecn_marked;
        "dropped" Whole Count: "packets dropped on their way to it", |v| v.it.dropped;
    })
}

/// A bin of a distribution over time: of what, of which ports, its edge, time and share.
type Bin = (&'static str, &'static str, u64, u128, f64);

fn queue_columns<'a>() -> Vec<Column<Of<'a, Bin>>> {
    with_run(columns! {
        "what" Text: "`queue` or `memory`", |v| v.it.0;
        "ports" Text:
            "for queues the kind of port: `host-facing` (towards hosts), `tor`, `agg`, `core` (of \
             these switches, towards switches), `other` (between switches of a network without \
             layers)",
            |v| v.it.1;
        "upto" Whole Bytes:
            "upper edge of the bin in bytes, at most 1/32 above what was in it",
            |v| v.it.2;
        "time_ps" Whole Time:
            "time spent in the bin, summed over all such ports or all switches",
            |v| v.it.3;
        "share" Fixed(9) Share:
            "share of the time spent in this bin and those before it: the distribution function",
            |v| v.it.4;
    })
}

/// Distributions over time of queues, by kind of port, and of memory.
fn bins(e: &Experiment, run: &Run) -> Vec<Bin> {
    let queues = run.queues(e);
    let kinds = PortKind::ALL.map(|kind| ("queue", kind.name(), queues.of(kind)));
    let all = kinds.into_iter().chain([("memory", "", &queues.memory)]);
    let bins = |(what, ports, d): (&'static str, &'static str, &Distribution)| {
        d.shares().map(|(edge, time, share)| (what, ports, edge, time, share)).collect::<Vec<_>>()
    };
    all.flat_map(bins).collect()
}

fn series_columns<'a>() -> Vec<Column<Of<'a, &'a Sample>>> {
    with_run(columns! {
        "at_ps" Whole Time: "when the sample was taken", |v| v.it.at;
        "node" Text: "the switch port", |v| v.node(v.it.node);
        "port" Text: "the switch port", |v| v.port(v.it.node, v.it.port);
        "queue" Whole Bytes: "bytes waiting to leave by it", |v| v.it.queue;
        "ingress" Whole Bytes: "bytes that arrived by it and are still in the switch",
            |v| v.it.ingress;
        "held" Text: "priorities that were held, separated by blanks", |v| {
            let held = Priority::ALL.iter().filter(|p| v.it.held & 1 << p.get() != 0);
            held.map(Priority::to_string).collect::<Vec<_>>().join(" ")
        };
    })
}

/// Samples of all switch ports; those with nothing to tell are left out.
fn samples<'a>(_: &'a Experiment, run: &'a Run) -> impl Iterator<Item = &'a Sample> + use<'a> {
    let idle = |s: &Sample| s.queue == Bytes::ZERO && s.ingress == Bytes::ZERO && s.held == 0;
    run.outcome.series.iter().filter(move |s| !idle(s))
}
