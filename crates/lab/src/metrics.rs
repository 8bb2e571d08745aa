//! What a run is in a table: the one place where figures are taken out of runs, for sweeps, for
//! `--columns` of comparisons and for published numbers.
//!
//! Every metric has a name, which is its column, a sentence for the book, and the function that
//! takes it out of a finished run. A figure that a run does not have is an empty cell.

use crate::experiment::Experiment;
use crate::findings::{ClassStats, PortAt, Selection, hottest_port, innocent_holds};
use crate::run::Run;
use crate::scenario::SizeRange;
use crate::stats::Sorted;
use std::sync::Arc;
use weir_core::percentile::{P25, P50, P75, P90, P95, P99, P999, Percentile};
use weir_core::{ClassId, Unit};
use weir_sim::outcome::{Finish, PortRecord};

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number.
    Whole,
    /// Any number.
    Real,
}

/// A column, worked out by an `F`.
pub struct Metric<F> {
    /// Its name, with the unit.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: Kind,
    /// What it is.
    pub doc: &'static str,
    of: F,
}

impl<F> std::fmt::Debug for Metric<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metric").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Columns that every table of a sweep begins with, besides those of the parameters.
pub const HEAD: [&str; 6] = ["variant", "scheme", "cc", "seed", "id", "status"];

/// Whether a table has such a column.
pub fn is_column(name: &str) -> bool {
    fn has<F>(list: &[Metric<F>], name: &str) -> bool {
        list.iter().any(|m| m.name == name)
    }
    let metric = has(RUN, name) || has(FLOWS, name) || has(PORTS, name) || has(STATE, name);
    metric
        || HEAD.contains(&name)
        || matches!(name, "reason" | "class" | "sizes" | "ports" | "table")
}

/// A run with what several metrics need.
#[derive(Debug)]
pub struct RunView<'a> {
    run: &'a Run,
    hottest: Option<&'a PortRecord>,
}

/// The flows of one class, or of all.
#[derive(Debug)]
pub struct FlowView {
    stats: Arc<ClassStats>,
    /// Mean over the flows of the time they were held by pauses that began elsewhere.
    innocent: Option<f64>,
}

/// Some switch ports of a run.
#[derive(Debug)]
pub struct PortsView<'a> {
    ports: &'a [&'a PortRecord],
}

/// One table of the scheme, in all switches.
#[derive(Debug)]
pub struct StateView {
    mean: Option<f64>,
    max: u64,
}

/// Takes a figure out of a run.
pub type OfRun = fn(&RunView<'_>) -> String;

/// Takes a figure out of the flows of a run.
pub type OfFlows = fn(&FlowView) -> String;

/// Takes a figure out of some ports of a run.
pub type OfPorts = fn(&PortsView<'_>) -> String;

/// Takes a figure out of a table of the scheme.
pub type OfState = fn(&StateView) -> String;

fn whole(n: u64) -> String {
    n.to_string()
}

fn real(x: Option<f64>) -> String {
    x.filter(|x| x.is_finite()).map_or_else(String::new, |x| x.to_string())
}

/// Picoseconds of single flows are whole numbers, and so are percentiles of them.
fn time(x: Option<f64>) -> String {
    x.map_or_else(String::new, |x| format!("{x:.0}"))
}

macro_rules! metrics {
    ($($name:literal $kind:ident $doc:literal $of:expr;)*) => {
        &[$(Metric { name: $name, kind: Kind::$kind, doc: $doc, of: $of },)*]
    };
}

/// One row per run.
pub const RUN: &[Metric<OfRun>] = metrics![
    "finish" Text "why the run ended: drained, time-limit, deadlock or stalled"
        |v| finish(&v.run.outcome.finish).to_owned();
    "deadlock" Whole "1 if it ended in a deadlock, else 0"
        |v| whole(u64::from(matches!(v.run.outcome.finish, Finish::Deadlock(_))));
    "stalled" Whole "1 if bytes were undelivered and nothing could move them, without a cycle; \
                     else 0"
        |v| whole(u64::from(matches!(v.run.outcome.finish, Finish::Stalled(_))));
    "deadlock_ps" Whole "time at which the cycle of the deadlock closed"
        |v| match &v.run.outcome.finish {
            Finish::Deadlock(d) => whole(d.closed.as_ps()),
            _ => String::new(),
        };
    "end_ps" Whole "time of the last event" |v| whole(v.run.outcome.end.as_ps());
    "dropped" Whole "packets lost, for any reason" |v| whole(v.run.outcome.totals.dropped);
    "pauses_sent" Whole "pause requests that ports sent to their neighbours"
        |v| whole(v.run.outcome.ports.iter().flat_map(|p| p.pauses_sent).sum());
    "port_held_ps" Whole "time during which a priority of a port was held, summed over ports and \
                          priorities"
        |v| whole(v.run.outcome.ports.iter().flat_map(|p| p.held_time).map(|t| t.as_ps()).sum());
    "control_frames" Whole "control frames sent"
        |v| whole(v.run.outcome.totals.control_frames);
    "control_bytes" Whole "bytes of these frames"
        |v| whole(v.run.outcome.totals.control_bytes.get());
    "ecn_marked" Whole "packets marked"
        |v| whole(v.run.outcome.ports.iter().map(|p| p.ecn_marked).sum());
    "queue_mean_bytes" Real "mean queue at the switch port with the longest queue"
        |v| real(v.hottest.map(|p| p.queue.mean));
    "queue_p99_bytes" Whole "length that this queue did not exceed for 99 % of the time"
        |v| v.hottest.map_or_else(String::new, |p| whole(p.queue.percentile(P99).get()));
    "queue_max_bytes" Whole "longest queue of any switch port"
        |v| v.hottest.map_or_else(String::new, |p| whole(p.queue.max.get()));
    "buffer_p50_bytes" Whole "memory that the fullest switch did not exceed for half of the time"
        |v| whole(buffer(v.run, P50));
    "buffer_p90_bytes" Whole "the same for 90 % of the time" |v| whole(buffer(v.run, P90));
    "buffer_p95_bytes" Whole "the same for 95 % of the time" |v| whole(buffer(v.run, P95));
    "buffer_p99_bytes" Whole "the same for 99 % of the time" |v| whole(buffer(v.run, P99));
    "buffer_p999_bytes" Whole "the same for 99.9 % of the time" |v| whole(buffer(v.run, P999));
    "buffer_max_bytes" Whole "most memory that one switch used"
        |v| whole(v.run.outcome.switches.iter().map(|s| s.peak_buffer.get()).max().unwrap_or(0));
    "tables_mean_bytes" Real "mean size of the tables that the scheme keeps in a switch"
        |v| real(tables(v.run));
    "tables_max_bytes" Whole "largest size of these tables in one switch"
        |v| whole(v.run.outcome.switches.iter().map(|s| s.tables.iter().map(|t| t.max).sum())
            .max().unwrap_or(0));
    "stall_ps" Whole "time during which processors of pipelined switches were stopped, summed \
                      over switches"
        |v| whole(v.run.outcome.switches.iter().filter_map(|s| s.processor.as_ref())
            .map(|p| p.stopped.as_ps()).sum());
    "packet_hops" Whole "packets of all kinds that crossed a link"
        |v| whole(v.run.outcome.totals.packet_hops);
    "traffic" Text "hash of the flows that were started: equal on equal traffic"
        |v| format!("{:016x}", v.run.outcome.traffic_hash);
    "digest" Text "hash of the results of all flows" |v| format!("{:016x}", v.run.outcome.digest);
];

/// One row per run for all flows together, and one row per run, class and range of sizes.
pub const FLOWS: &[Metric<OfFlows>] = metrics![
    "flows" Whole "flows that started after the warm-up" |v| whole(v.stats.flows);
    "completed" Whole "those that completed" |v| whole(v.stats.completed);
    "fct_mean_ps" Real "mean completion time" |v| real(v.stats.fct.mean());
    "fct_min_ps" Whole "the shortest" |v| time(v.stats.fct.min());
    "fct_p25_ps" Whole "its 25th percentile" |v| time(v.stats.fct.percentile(P25));
    "fct_p50_ps" Whole "its median" |v| time(v.stats.fct.percentile(P50));
    "fct_p75_ps" Whole "its 75th percentile" |v| time(v.stats.fct.percentile(P75));
    "fct_p90_ps" Whole "its 90th percentile" |v| time(v.stats.fct.percentile(P90));
    "fct_p95_ps" Whole "its 95th percentile" |v| time(v.stats.fct.percentile(P95));
    "fct_p99_ps" Whole "its 99th percentile" |v| time(v.stats.fct.percentile(P99));
    "fct_p999_ps" Whole "its 99.9th percentile" |v| time(v.stats.fct.percentile(P999));
    "fct_max_ps" Whole "the longest" |v| time(v.stats.fct.max());
    "slowdown_mean" Real "mean of completion time divided by ideal completion time"
        |v| real(v.stats.slowdown.mean());
    "slowdown_min" Real "the smallest" |v| real(v.stats.slowdown.min());
    "slowdown_p25" Real "its 25th percentile" |v| real(v.stats.slowdown.percentile(P25));
    "slowdown_p50" Real "its median" |v| real(v.stats.slowdown.percentile(P50));
    "slowdown_p75" Real "its 75th percentile" |v| real(v.stats.slowdown.percentile(P75));
    "slowdown_p90" Real "its 90th percentile" |v| real(v.stats.slowdown.percentile(P90));
    "slowdown_p95" Real "its 95th percentile" |v| real(v.stats.slowdown.percentile(P95));
    "slowdown_p99" Real "its 99th percentile" |v| real(v.stats.slowdown.percentile(P99));
    "slowdown_p999" Real "its 99.9th percentile" |v| real(v.stats.slowdown.percentile(P999));
    "slowdown_max" Real "the largest" |v| real(v.stats.slowdown.max());
    "throughput_mean_bps" Real "mean over completed flows of size divided by completion time"
        |v| real(v.stats.throughput.mean());
    "rate_mean_bps" Real "mean rate of flows without an end" |v| real(v.stats.rate.mean());
    "held_mean_ps" Real "mean over the flows of the longest hold at one hop"
        |v| real(v.stats.held.mean());
    "held_max_ps" Whole "the longest hold of a flow at one hop" |v| time(v.stats.held.max());
    "innocent_held_mean_ps" Real "mean over the flows of the time held by pauses that began at \
        ports they never used; empty if not all pauses were kept"
        |v| real(v.innocent);
    "retransmitted" Whole "packets sent again" |v| whole(v.stats.retransmitted);
    "lost" Whole "packets lost" |v| whole(v.stats.lost);
    "reordered" Whole "packets that arrived behind later ones" |v| whole(v.stats.reordered);
    "timeouts" Whole "retransmission timers that fired" |v| whole(v.stats.timeouts);
    "ecn_cuts" Whole "TCP: windows cut for ECN marks" |v| whole(v.stats.ecn_cuts);
    "fast_retransmits" Whole "TCP: fast retransmits" |v| whole(v.stats.fast_retransmits);
    "window_peak_mean_bytes" Real "TCP: mean over the flows of their largest window"
        |v| real(v.stats.peak_window.mean());
];

/// One row per run and group of switch ports.
pub const PORTS: &[Metric<OfPorts>] = metrics![
    "queue_mean_bytes" Real "mean over the ports of their mean queues"
        |v| real(Sorted::new(v.ports.iter().map(|p| p.queue.mean)).mean());
    "queue_p99_bytes" Whole "largest of the lengths that they did not exceed for 99 % of the time"
        |v| whole(v.ports.iter().map(|p| p.queue.percentile(P99).get()).max().unwrap_or(0));
    "queue_max_bytes" Whole "longest queue" |v| whole(v.ports.iter().map(|p| p.queue.max.get())
        .max().unwrap_or(0));
    "held_ps" Whole "time during which a priority of a port was held, summed over ports and \
                     priorities"
        |v| whole(v.ports.iter().flat_map(|p| p.held_time).map(|t| t.as_ps()).sum());
    "pauses_sent" Whole "pause requests that they sent"
        |v| whole(v.ports.iter().flat_map(|p| p.pauses_sent).sum());
    "utilisation" Real "mean over the ports of the share of time in which they sent"
        |v| real(Sorted::new(v.ports.iter().map(|p| p.utilisation)).mean());
    "ecn_marked" Whole "packets marked" |v| whole(v.ports.iter().map(|p| p.ecn_marked).sum());
    "dropped" Whole "packets dropped" |v| whole(v.ports.iter().map(|p| p.dropped).sum());
];

/// One row per run and table of the scheme.
pub const STATE: &[Metric<OfState>] = metrics![
    "mean_bytes" Real "mean over the switches of its mean size" |v| real(v.mean);
    "max_bytes" Whole "its largest size in one switch" |v| whole(v.max);
];

/// Memory that the fullest switch did not exceed for a share of the time.
fn buffer(run: &Run, share: Percentile) -> u64 {
    let of = |s: &weir_sim::outcome::SwitchRecord| s.buffer.percentile(share).get();
    run.outcome.switches.iter().map(of).max().unwrap_or(0)
}

fn finish(finish: &Finish) -> &'static str {
    match finish {
        Finish::Drained => "drained",
        Finish::TimeLimit => "time-limit",
        Finish::Deadlock(_) => "deadlock",
        Finish::Stalled(_) => "stalled",
        Finish::Interrupted => "interrupted",
    }
}

/// Mean over the switches of the mean size of all tables together.
fn tables(run: &Run) -> Option<f64> {
    let of_switch = |s: &weir_sim::outcome::SwitchRecord| s.tables.iter().map(|t| t.mean).sum();
    Sorted::new(run.outcome.switches.iter().map(of_switch)).mean()
}

/// A class with its name, if not all, and a range of sizes, if not all.
type Part<'a> = (Option<(ClassId, &'a str)>, Option<&'a SizeRange>);

/// The parts of the traffic of an experiment that have rows of their own.
fn selections(e: &Experiment) -> impl Iterator<Item = Part<'_>> {
    let ranges = || e.scenario.report.sizes.iter().map(Some);
    let classes = e.classes().iter().enumerate().flat_map(move |(i, name)| {
        let class = Some((ClassId::from_index(i), name.as_str()));
        std::iter::once(None).chain(ranges()).map(move |sizes| (class, sizes))
    });
    ranges().map(|sizes| (None, sizes)).chain(classes)
}

/// The cells of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Those of [`RUN`], then those of [`FLOWS`] for all flows.
    pub run: Vec<String>,
    /// For each class ("": all) and range of sizes ("": all) with flows both names, then those of
    /// [`FLOWS`]; what all flows did is in `run`.
    pub classes: Vec<Vec<String>>,
    /// For all switch ports ("") and each group of `[report] ports` its name, then those of
    /// [`PORTS`].
    pub ports: Vec<Vec<String>>,
    /// For each table that the scheme keeps its name, then those of [`STATE`].
    pub state: Vec<Vec<String>>,
}

impl Figures {
    /// Takes all figures out of a run.
    pub fn new(e: &Experiment, run: &Run) -> Self {
        let port = hottest_port(&e.topology, run);
        let view = RunView { run, hottest: port.and_then(|p| p.record(run)) };
        let kept = run.outcome.pauses_left_out == 0;
        let innocent = kept.then(|| innocent_holds(run.pause_trees(e)));
        let flows = |which: Selection<'_>| {
            let innocent = innocent.as_ref().and_then(|held| {
                let of = run.outcome.flows.iter().filter(|f| which.holds(f));
                let times = of.map(|f| held.get(&f.id).map_or(0.0, |t| t.as_ps() as f64));
                Sorted::new(times).mean()
            });
            let view = FlowView { stats: ClassStats::of(run, which), innocent };
            (view.stats.flows > 0, FLOWS.iter().map(|m| (m.of)(&view)).collect::<Vec<_>>())
        };
        let mut cells: Vec<String> = RUN.iter().map(|m| (m.of)(&view)).collect();
        cells.extend(flows(Selection::default()).1);
        let mut classes = Vec::new();
        for (class, sizes) in selections(e) {
            let (any, cells) = flows(Selection { class: class.map(|(id, _)| id), sizes });
            if any {
                let class = class.map_or("", |(_, name)| name).to_owned();
                let sizes = sizes.map_or("", |s| &s.label).to_owned();
                classes.push([vec![class, sizes], cells].concat());
            }
        }
        Self { run: cells, classes, ports: ports(e, run), state: state(run) }
    }

    /// Whether the cells are as many as this program's columns.
    pub fn fits(&self) -> bool {
        let whole = self.run.len() == RUN.len() + FLOWS.len();
        whole
            && self.classes.iter().all(|c| c.len() == 2 + FLOWS.len())
            && self.ports.iter().all(|p| p.len() == 1 + PORTS.len())
            && self.state.iter().all(|s| s.len() == 1 + STATE.len())
    }
}

/// The rows of the switch ports: all of them, then each group.
fn ports(e: &Experiment, run: &Run) -> Vec<Vec<String>> {
    let switches = run.outcome.ports.iter().filter(|p| !e.topology.is_host(p.node));
    let all: Vec<&PortRecord> = switches.collect();
    let row = |name: &str, ports: &[&PortRecord]| {
        let view = PortsView { ports };
        let cells = PORTS.iter().map(|m| (m.of)(&view));
        std::iter::once(name.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    let mut rows = vec![row("", &all)];
    for (group, ports) in e.scenario.report.ports.iter().zip(&e.port_groups) {
        let at = |p: &PortRecord| PortAt { node: p.node, port: p.port };
        let own = all.iter().copied().filter(|p| ports.binary_search(&at(p)).is_ok());
        rows.push(row(&group.name.value, &own.collect::<Vec<_>>()));
    }
    rows
}

/// The rows of the tables that the scheme keeps, in the order of its switches.
fn state(run: &Run) -> Vec<Vec<String>> {
    let tables = || run.outcome.switches.iter().flat_map(|s| &s.tables);
    let mut names: Vec<&str> = Vec::new();
    for table in tables() {
        if !names.contains(&table.name) {
            names.push(table.name);
        }
    }
    let row = |name: &str| {
        let own = || tables().filter(|t| t.name == name);
        let view = StateView {
            mean: Sorted::new(own().map(|t| t.mean)).mean(),
            max: own().map(|t| t.max).max().unwrap_or(0),
        };
        let cells = STATE.iter().map(|m| (m.of)(&view));
        std::iter::once(name.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    names.into_iter().map(row).collect()
}

/// A metric by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name, with the unit.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: Kind,
    /// What it is.
    pub doc: &'static str,
    /// Whether it is about flows, so that it can be asked of a class and of a range of sizes.
    pub of_flows: bool,
    /// Its place among those of runs, or of flows.
    at: usize,
}

/// All metrics, those of runs first. What is counted of runs and of flows under one name is asked
/// of flows: all of them are the run.
pub fn all() -> impl Iterator<Item = Named> {
    fn named<F>(of_flows: bool) -> impl Fn((usize, &'static Metric<F>)) -> Named {
        move |(at, m)| Named { name: m.name, kind: m.kind, doc: m.doc, of_flows, at }
    }
    let of_flows = |name: &str| FLOWS.iter().any(|m| m.name == name);
    let runs = RUN.iter().enumerate().filter(move |(_, m)| !of_flows(m.name)).map(named(false));
    runs.chain(FLOWS.iter().enumerate().map(named(true)))
}

/// The metric called `name`; `-` may stand for `_`.
pub fn find(name: &str) -> Option<Named> {
    let name = name.replace('-', "_");
    all().find(|m| m.name == name)
}

impl Named {
    /// What it is measured in, by the end of its name.
    pub fn unit(&self) -> Unit {
        let ends = |end: &str| self.name.ends_with(end);
        match self.kind {
            _ if ends("_ps") => Unit::Time,
            _ if ends("_bytes") || ends("control_bytes") => Unit::Bytes,
            _ if ends("_bps") => Unit::Rate,
            _ if matches!(self.name, "deadlock" | "stalled") => Unit::Flag,
            Kind::Whole => Unit::Count,
            Kind::Real | Kind::Text => Unit::Number,
        }
    }
}

impl Figures {
    /// A cell: of all flows, or of those of a class and of a range of sizes ("": all). `None`
    /// where there are none, or the metric is not about flows.
    pub fn cell(&self, metric: Named, class: &str, sizes: &str) -> Option<&str> {
        let all = (class, sizes) == ("", "");
        match (metric.of_flows, all) {
            (false, _) => all.then(|| self.run[metric.at].as_str()),
            (true, true) => Some(self.run[RUN.len() + metric.at].as_str()),
            (true, false) => {
                let row = self.classes.iter().find(|r| r[0] == class && r[1] == sizes)?;
                Some(row[2 + metric.at].as_str())
            }
        }
    }

    /// The same as a number.
    pub fn number(&self, metric: Named, class: &str, sizes: &str) -> Option<f64> {
        self.cell(metric, class, sizes)?.parse().ok().filter(|x: &f64| x.is_finite())
    }
}

/// Names and kinds of the columns of a run, behind those that say which run it is.
pub fn run_columns() -> impl Iterator<Item = (&'static str, Kind)> {
    RUN.iter().map(|m| (m.name, m.kind)).chain(flow_columns())
}

/// Names and kinds of the columns of the flows of a class.
pub fn flow_columns() -> impl Iterator<Item = (&'static str, Kind)> {
    FLOWS.iter().map(|m| (m.name, m.kind))
}

/// Names and kinds of the columns of a group of ports.
pub fn port_columns() -> impl Iterator<Item = (&'static str, Kind)> {
    PORTS.iter().map(|m| (m.name, m.kind))
}

/// Names and kinds of the columns of a table of the scheme.
pub fn state_columns() -> impl Iterator<Item = (&'static str, Kind)> {
    STATE.iter().map(|m| (m.name, m.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_with_either_dash() {
        let names: Vec<&str> = all().map(|m| m.name).collect();
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name}");
            assert_eq!(find(&name.replace('_', "-")).map(|m| m.name), Some(*name));
        }
        assert!(find("slowdown_p98").is_none());
    }

    #[test]
    fn numbers_are_read_in_the_unit_of_their_metric() {
        for (name, text, value) in [
            ("fct_p99_ps", "1.5us", 1_500_000.0),
            ("queue_mean_bytes", "75KB", 75_000.0),
            ("control_bytes", "1KB", 1000.0),
            ("rate_mean_bps", "10Gbps", 1e10),
            ("deadlock", "137/200", 0.685),
            ("deadlock", "46%", 0.46),
            ("slowdown_p99", "4.3", 4.3),
            ("dropped", "12", 12.0),
        ] {
            let found = find(name).expect("a metric").unit().read(text);
            assert!((found.expect("a number") - value).abs() < 1e-9 * value, "{name} {text}");
        }
        for (name, text) in [("deadlock", "1/0"), ("slowdown_p99", "inf"), ("fct_p99_ps", "4")] {
            assert!(find(name).expect("a metric").unit().read(text).is_err(), "{name} {text}");
        }
    }
}
