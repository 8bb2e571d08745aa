//! Tables of results: flows, ports, distributions, pauses, samples.

use super::cells::{Cells, push_port};
use super::pause_tables;
use crate::experiment::Experiment;
use crate::findings::{Comparison, Distribution, PauseTree, PortKind, Victim};
use crate::run::Run;
use std::io::{self, Write};
use weir_core::decimal::push_whole;
use weir_core::percentile::{P50, P95, P99};
use weir_core::{Bytes, Priority, Time};
use weir_sim::outcome::{FlowRecord, PauseEvent, PortRecord, Sample, TcpRecord};

/// The columns of `flows.csv`.
pub(crate) const FLOW_COLUMNS: [&str; 28] = [
    "variant",
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
pub(crate) const PORT_COLUMNS: [&str; 22] = [
    "variant",
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
const QUEUE_COLUMNS: [&str; 8] =
    ["variant", "scheme", "seed", "what", "ports", "upto", "time_ps", "share"];

/// The columns of `series.csv`.
const SERIES_COLUMNS: [&str; 9] =
    ["variant", "scheme", "seed", "at_ps", "node", "port", "queue", "ingress", "held"];

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
    pub(super) rows: Box<dyn Iterator<Item = Row<'a>> + 'a>,
}

/// What a row is about. Where there may be a million, cells are made when a row is written, in
/// memory that all rows share.
pub(super) enum Row<'a> {
    Flow(&'a Experiment, &'a Run, &'a FlowRecord),
    Port(&'a Experiment, &'a Run, &'a PortRecord),
    Pause(&'a Experiment, &'a Run, &'a PauseEvent),
    Sample(&'a Experiment, &'a Run, &'a Sample),
    /// The pause of this number.
    Edge(&'a Experiment, &'a Run, usize),
    Victim(&'a Experiment, &'a Run, &'a PauseTree, &'a Victim),
    /// Of a short table.
    Made(Cells),
}

impl Row<'_> {
    /// Replaces the cells of the last row by those of this one.
    pub(super) fn fill(self, cells: &mut Cells) {
        cells.clear();
        match self {
            Self::Flow(e, run, flow) => flow_cells(cells, e, run, flow),
            Self::Port(e, run, port) => port_cells(cells, e, run, port),
            Self::Pause(e, run, pause) => pause_tables::event_cells(cells, e, run, pause),
            Self::Sample(e, run, sample) => sample_cells(cells, e, run, sample),
            Self::Edge(e, run, i) => pause_tables::edge_cells(cells, e, run, i),
            Self::Victim(e, run, tree, v) => pause_tables::victim_cells(cells, e, run, tree, v),
            Self::Made(made) => *cells = made,
        }
    }
}

impl Table<'_> {
    /// Writes it as CSV, in pieces: a table of a million flows is never in memory as a whole.
    pub(super) fn write_csv(self, to: &mut dyn Write) -> io::Result<()> {
        const PIECE: usize = 1 << 16;
        let (mut out, mut cells) = (Vec::new(), Cells::default());
        self.columns.iter().for_each(|name| {
            cells.word(name);
        });
        cells.write_csv(&mut out);
        for row in self.rows {
            row.fill(&mut cells);
            cells.write_csv(&mut out);
            if out.len() >= PIECE {
                to.write_all(&out)?;
                out.clear();
            }
        }
        to.write_all(&out)
    }
}

/// The tables of a comparison, all runs in each.
pub(super) fn tables<'a>(c: &'a Comparison<'_>) -> Vec<Table<'a>> {
    let mut all = vec![
        Table {
            name: "flows",
            columns: &FLOW_COLUMNS,
            text: &["variant", "scheme", "flow", "src", "dst", "class", "held_at"],
            real: &["slowdown"],
            rows: Box::new(c.runs_with().flat_map(|(e, run)| flow_rows(e, run))),
        },
        Table {
            name: "ports",
            columns: &PORT_COLUMNS,
            text: &[
                "variant",
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
            rows: Box::new(c.runs_with().flat_map(|(e, run)| port_rows(e, run))),
        },
        Table {
            name: "queues",
            columns: &QUEUE_COLUMNS,
            text: &["variant", "scheme", "what", "ports"],
            real: &["share"],
            rows: Box::new(c.runs_with().flat_map(|(e, run)| queue_rows(e, run)).map(Row::Made)),
        },
        Table {
            name: "pauses",
            columns: &pause_tables::EVENT_COLUMNS,
            text: &["variant", "scheme", "node", "port", "towards", "action", "scope", "cause"],
            real: &[],
            rows: Box::new(c.runs_with().flat_map(|(e, run)| pause_tables::event_rows(e, run))),
        },
        Table {
            name: "pause-edges",
            columns: &pause_tables::EDGE_COLUMNS,
            text: &["variant", "scheme", "upstream", "downstream", "scope", "cause", "root"],
            real: &[],
            rows: Box::new(c.runs_with().flat_map(|(e, run)| pause_tables::edge_rows(e, run))),
        },
        Table {
            name: "victims",
            columns: &pause_tables::VICTIM_COLUMNS,
            text: &[
                "variant", "scheme", "flow", "class", "src", "dst", "held_at", "by", "root",
                "bound",
            ],
            real: &[],
            rows: Box::new(c.runs_with().flat_map(|(e, run)| pause_tables::victim_rows(e, run))),
        },
    ];
    if c.groups.iter().any(|g| g.experiment.scenario.probe.series.is_some()) {
        all.push(Table {
            name: "series",
            columns: &SERIES_COLUMNS,
            text: &["variant", "scheme", "node", "port", "held"],
            real: &[],
            rows: Box::new(c.runs_with().flat_map(|(e, run)| series_rows(e, run))),
        });
    }
    all
}

/// The cells that every row begins with.
pub(super) fn names(cells: &mut Cells, run: &Run) {
    cells.word(&run.label).word(run.variant.scheme.name).whole(run.variant.seed);
}

fn flow_rows<'a>(e: &'a Experiment, run: &'a Run) -> impl Iterator<Item = Row<'a>> {
    run.outcome.flows.iter().map(move |f| Row::Flow(e, run, f))
}

fn flow_cells(cells: &mut Cells, e: &Experiment, run: &Run, f: &FlowRecord) {
    let topology = &e.topology;
    let ps = |t: Option<Time>| t.map(Time::as_ps);
    names(cells, run);
    cells.word(&f.id.to_string()).word(topology.name(f.src())).word(topology.name(f.dst));
    cells.word(&e.classes()[f.class.index()]).whole(f.priority.get().into());
    cells.maybe((f.size != Bytes::MAX).then(|| f.size.get())).whole(f.start.as_ps());
    cells.maybe(ps(f.fct())).maybe(ps(f.fct_ack())).maybe(ps(f.ideal()));
    match f.slowdown() {
        Some(slowdown) => cells.real(slowdown, 6),
        None => cells.maybe(None),
    };
    cells.whole(f.delivered.get()).whole(f.packets).whole(f.retransmitted()).whole(f.lost());
    cells.whole(f.reordered()).whole(f.discarded()).whole(f.answers_lost()).whole(f.timeouts());
    cells.whole(f.held_total().as_ps());
    let held = f.held().iter().map(|h| ((h.node, h.port), h.time.as_ps()));
    cells.pairs(held, b'=', |out, (node, port)| push_port(out, topology, node, port));
    let tcp = |of: fn(TcpRecord) -> u64| f.tcp().map(of);
    cells.maybe(f.tcp().and_then(|t| t.opened).map(|at| (at - f.start).as_ps()));
    cells.maybe(tcp(|t| t.peak_window.get())).maybe(tcp(|t| t.ecn_cuts));
    cells.maybe(tcp(|t| t.fast_retransmits));
}

fn port_rows<'a>(e: &'a Experiment, run: &'a Run) -> impl Iterator<Item = Row<'a>> {
    run.outcome.ports.iter().map(move |p| Row::Port(e, run, p))
}

fn port_cells(cells: &mut Cells, e: &Experiment, run: &Run, p: &PortRecord) {
    let (topology, q) = (&e.topology, &p.queue);
    names(cells, run);
    cells.word(topology.name(p.node)).port(topology, p.node, p.port);
    cells.word(topology.name(topology.port(p.node, p.port).peer));
    cells.word(topology.node(p.node).layer.name()).whole(p.rate.as_bps());
    cells.whole(p.packets).whole(p.wire_bytes.get()).real(p.utilisation, 6).real(q.mean, 1);
    for share in [P50, P95, P99] {
        cells.whole(q.percentile(share).get());
    }
    cells.whole(q.max.get());
    cells.whole(p.control_sent);
    // by priority, as `3:17`; priorities without any are left out
    for of in [p.pauses_sent, p.holds, p.held_time.map(Time::as_ps)] {
        cells.pairs((0u64..).zip(of).filter(|(_, n)| *n > 0), b':', push_whole);
    }
    cells.whole(p.ecn_marked).whole(p.dropped);
}

/// Distributions over time of queues, by kind of port, and of memory.
fn queue_rows(e: &Experiment, run: &Run) -> Vec<Cells> {
    let mut rows = Vec::new();
    let mut add = |what: &str, ports: &str, d: &Distribution| {
        rows.extend(d.shares().map(|(edge, time, share)| {
            let mut cells = Cells::default();
            names(&mut cells, run);
            cells.word(what).word(ports).whole(edge).word(&time.to_string()).real(share, 9);
            cells
        }));
    };
    for kind in PortKind::ALL {
        add("queue", kind.name(), run.queues(e).of(kind));
    }
    add("memory", "", &run.queues(e).memory);
    rows
}

/// Samples of all switch ports; those with nothing to tell are left out.
fn series_rows<'a>(e: &'a Experiment, run: &'a Run) -> impl Iterator<Item = Row<'a>> {
    let idle = |s: &&Sample| s.queue == Bytes::ZERO && s.ingress == Bytes::ZERO && s.held == 0;
    run.outcome.series.iter().filter(move |s| !idle(s)).map(move |s| Row::Sample(e, run, s))
}

fn sample_cells(cells: &mut Cells, e: &Experiment, run: &Run, s: &Sample) {
    names(cells, run);
    cells.whole(s.at.as_ps()).word(e.topology.name(s.node)).port(&e.topology, s.node, s.port);
    cells.whole(s.queue.get()).whole(s.ingress.get());
    let held = Priority::ALL.iter().filter(|p| s.held & 1 << p.get() != 0);
    let held: Vec<String> = held.map(Priority::to_string).collect();
    cells.word(&held.join(" "));
}
