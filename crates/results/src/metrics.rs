//! What a run is in a table: the one place where figures are taken out of runs, for sweeps, for
//! `--columns` of comparisons, for claims and for published numbers.
//!
//! A figure is a [`Column`]: its name, unit, a sentence for the book, and the function that takes
//! it out of a finished run. A figure that a run does not have is [`Value::None`].

use crate::column::{Column, Heading, Value, columns, headings};
use crate::findings::port_record;
use crate::findings::{ClassStats, Selection, hottest_port, innocent_holds};
use crate::run::Run;
use crate::stats::Sorted;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use weir_core::percentile::{P25, P50, P75, P90, P95, P99, P999, Percentile};
use weir_core::{Bytes, ClassId, Time};
use weir_scenario::PortAt;
use weir_scenario::SizeRange;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{Finish, PortRecord, SwitchRecord};

weir_core::words! {
    /// A table of figures.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Family {
        /// A row per run.
        Runs = "runs",
        /// A row per run, class and range of sizes.
        Classes = "classes",
        /// A row per run and group of switch ports.
        Ports = "ports",
        /// A row per run and table that the scheme keeps.
        State = "state",
    }
}

impl Family {
    /// How many columns say which row of a run it is; they are the first.
    pub const fn keys(self) -> usize {
        match self {
            Self::Runs => 0,
            Self::Classes => 2,
            Self::Ports | Self::State => 1,
        }
    }

    /// Its columns, behind those that say which run it is.
    pub fn headings(self) -> &'static [Heading] {
        static ALL: LazyLock<[Vec<Heading>; 4]> = LazyLock::new(|| {
            let flows = headings(&flow_columns());
            [
                [headings(&run_columns()), flows.clone()].concat(),
                [headings(&part_columns()), flows].concat(),
                headings(&port_columns()),
                headings(&state_columns()),
            ]
        });
        &ALL[self as usize]
    }

    /// The place of a column.
    pub fn position(self, name: &str) -> Option<usize> {
        self.headings().iter().position(|h| h.name == name)
    }

    /// The columns that are figures.
    pub fn figures(self) -> &'static [Heading] {
        &self.headings()[self.keys()..]
    }
}

/// Columns that every table of a sweep begins with, besides those of the parameters.
pub const HEAD: [&str; 6] = ["variant", "scheme", "cc", "seed", "id", "status"];

/// Whether a table has such a column.
pub fn is_column(name: &str) -> bool {
    let has = |family: Family| family.position(name).is_some();
    Family::ALL.into_iter().any(has) || HEAD.contains(&name) || name == "reason"
}

/// The figures that can be asked of a comparison: those of runs, and those of flows, which can
/// also be asked of a class and of a range of sizes.
pub fn all() -> &'static [Heading] {
    Family::Runs.headings()
}

/// Whether a figure is about flows.
pub fn is_of_flows(name: &str) -> bool {
    Family::Classes.position(name).is_some()
}

/// The figure called `name`; `-` may stand for `_`.
pub fn find(name: &str) -> Option<Heading> {
    let name = name.replace('-', "_");
    all().iter().find(|h| h.name == name).copied()
}

/// A run with what several figures need.
struct RunView<'a> {
    run: &'a Run,
    hottest: Option<&'a PortRecord>,
}

/// The flows of one class and range of sizes, or of all.
struct FlowView<'a> {
    class: &'a str,
    sizes: &'a str,
    stats: Arc<ClassStats>,
    /// Mean over the flows of the time they were held by pauses that began elsewhere.
    innocent: Option<f64>,
}

/// Some switch ports of a run.
struct PortsView<'a> {
    name: &'a str,
    ports: Vec<&'a PortRecord>,
}

/// One table of the scheme, in all switches.
struct StateView<'a> {
    name: &'a str,
    mean: Option<f64>,
    max: u64,
}

fn run_columns<'a>() -> Vec<Column<RunView<'a>>> {
    columns! {
        "finish" Text: "why the run ended: drained, time-limit, deadlock or stalled",
            |v| finish(&v.run.outcome.finish);
        "deadlock" Whole Flag: "1 if it ended in a deadlock, else 0",
            |v| matches!(v.run.outcome.finish, Finish::Deadlock(_));
        "stalled" Whole Flag:
            "1 if bytes were undelivered and nothing could move them, without a cycle; else 0",
            |v| matches!(v.run.outcome.finish, Finish::Stalled(_));
        "deadlock_ps" Whole Time: "time at which the cycle of the deadlock closed",
            |v| match &v.run.outcome.finish {
                Finish::Deadlock(d) => Some(d.closed),
                _ => None,
            };
        "end_ps" Whole Time: "time of the last event", |v| v.run.outcome.end;
        "dropped" Whole Count: "packets lost, for any reason", |v| v.run.outcome.totals.dropped;
        "pauses_sent" Whole Count: "pause requests that ports sent to their neighbours",
            |v| v.run.outcome.ports.iter().flat_map(|p| p.pauses_sent).sum::<u64>();
        "port_held_ps" Whole Time:
            "time during which a priority of a port was held, summed over ports and priorities",
            |v| held(v.run.outcome.ports.iter());
        "control_frames" Whole Count: "control frames sent",
            |v| v.run.outcome.totals.control_frames;
        "control_bytes" Whole Bytes: "bytes of these frames",
            |v| v.run.outcome.totals.control_bytes;
        "ecn_marked" Whole Count: "packets marked",
            |v| v.run.outcome.ports.iter().map(|p| p.ecn_marked).sum::<u64>();
        "queue_mean_bytes" Real Bytes [Queue Mean]:
            "mean queue at the switch port with the longest queue",
            |v| v.hottest.map(|p| p.queue.mean);
        "queue_p99_bytes" Whole Bytes [Queue Percentile(P99)]:
            "length that this queue did not exceed for 99 % of the time",
            |v| v.hottest.map(|p| p.queue.percentile(P99));
        "queue_max_bytes" Whole Bytes [Queue Max]: "longest queue of any switch port",
            |v| v.hottest.map(|p| p.queue.max);
        "buffer_p50_bytes" Whole Bytes [Buffer Percentile(P50)]:
            "memory that the fullest switch did not exceed for half of the time",
            |v| buffer(v.run, P50);
        "buffer_p90_bytes" Whole Bytes [Buffer Percentile(P90)]: "the same for 90 % of the time",
            |v| buffer(v.run, P90);
        "buffer_p95_bytes" Whole Bytes [Buffer Percentile(P95)]: "the same for 95 % of the time",
            |v| buffer(v.run, P95);
        "buffer_p99_bytes" Whole Bytes [Buffer Percentile(P99)]: "the same for 99 % of the time",
            |v| buffer(v.run, P99);
        "buffer_p999_bytes" Whole Bytes [Buffer Percentile(P999)]:
            "the same for 99.9 % of the time",
            |v| buffer(v.run, P999);
        "buffer_max_bytes" Whole Bytes [Buffer Max]: "most memory that one switch used",
            |v| v.run.outcome.switches.iter().map(|s| s.peak_buffer).max().unwrap_or_default();
        "tables_mean_bytes" Real Bytes [Tables Mean]:
            "mean size of the tables that the scheme keeps in a switch",
            |v| tables(v.run);
        "tables_max_bytes" Whole Bytes [Tables Max]: "largest size of these tables in one switch",
            |v| {
                let sizes = |s: &SwitchRecord| s.tables.iter().map(|t| t.max).sum::<u64>();
                v.run.outcome.switches.iter().map(sizes).max().unwrap_or(0)
            };
        "stall_ps" Whole Time:
            "time during which processors of pipelined switches were stopped, summed over \
             switches",
            |v| {
                let processors = v.run.outcome.switches.iter().filter_map(|s| s.processor.as_ref());
                processors.map(|p| p.stopped.as_ps()).sum::<u64>()
            };
        "steps" Whole Count: "iterations of jobs that ended", |v| steps(v.run).count() as u64;
        "step_mean_ps" Real Time [Step Mean]:
            "mean time of an iteration of a job: from the first rank that \
                                   began it to the last that finished it",
            |v| mean(steps(v.run).map(|(time, _)| time));
        "step_max_ps" Whole Time [Step Max]: "the longest",
            |v| steps(v.run).map(|(time, _)| time).max();
        "exposed_mean_ps" Real Time [Exposed Mean]:
            "mean over them of the time in which the rank that came last \
                                      did not compute",
            |v| mean(steps(v.run).map(|(_, exposed)| exposed));
        "packet_hops" Whole Count: "packets of all kinds that crossed a link",
            |v| v.run.outcome.totals.packet_hops;
        "traffic" Text: "hash of the flows that were started: equal on equal traffic",
            |v| format!("{:016x}", v.run.outcome.traffic_hash);
        "digest" Text: "hash of the results of all flows",
            |v| format!("{:016x}", v.run.outcome.digest);
    }
}

/// The time and the exposed communication of each iteration of jobs that ended.
fn steps(run: &Run) -> impl Iterator<Item = (Time, Time)> + '_ {
    let all = run.outcome.jobs.iter().flat_map(|job| &job.iterations);
    all.filter_map(|it| {
        let time = it.end? - it.begin;
        Some((time, time.saturating_sub(it.computed)))
    })
}

fn mean(times: impl Iterator<Item = Time>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for time in times {
        sum += time.as_ps() as f64;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}

/// What says of which flows a row is.
fn part_columns<'a>() -> Vec<Column<FlowView<'a>>> {
    columns! {
        "class" Text: "class of traffic; empty: all", |v| v.class;
        "sizes" Text: "range of flow sizes; empty: all", |v| v.sizes;
    }
}

fn flow_columns<'a>() -> Vec<Column<FlowView<'a>>> {
    columns! {
        "flows" Whole Count: "flows that started after the warm-up, before `count-until`",
            |v| v.stats.flows;
        "completed" Whole Count: "those that completed", |v| v.stats.completed;
        "fct_mean_ps" Real Time [Completion Mean]: "mean completion time", |v| v.stats.fct.mean();
        "fct_min_ps" Whole Time [Completion Min]: "the shortest", |v| ps(v.stats.fct.min());
        "fct_p25_ps" Whole Time [Completion Percentile(P25)]: "its 25th percentile",
            |v| ps(v.stats.fct.percentile(P25));
        "fct_p50_ps" Whole Time [Completion Percentile(P50)]: "its median",
            |v| ps(v.stats.fct.percentile(P50));
        "fct_p75_ps" Whole Time [Completion Percentile(P75)]: "its 75th percentile",
            |v| ps(v.stats.fct.percentile(P75));
        "fct_p90_ps" Whole Time [Completion Percentile(P90)]: "its 90th percentile",
            |v| ps(v.stats.fct.percentile(P90));
        "fct_p95_ps" Whole Time [Completion Percentile(P95)]: "its 95th percentile",
            |v| ps(v.stats.fct.percentile(P95));
        "fct_p99_ps" Whole Time [Completion Percentile(P99)]: "its 99th percentile",
            |v| ps(v.stats.fct.percentile(P99));
        "fct_p999_ps" Whole Time [Completion Percentile(P999)]: "its 99.9th percentile",
            |v| ps(v.stats.fct.percentile(P999));
        "fct_max_ps" Whole Time [Completion Max]: "the longest", |v| ps(v.stats.fct.max());
        "slowdown_mean" Real Number [Slowdown Mean]:
            "mean of completion time divided by ideal completion time",
            |v| v.stats.slowdown.mean();
        "slowdown_min" Real Number [Slowdown Min]: "the smallest", |v| v.stats.slowdown.min();
        "slowdown_p25" Real Number [Slowdown Percentile(P25)]: "its 25th percentile",
            |v| v.stats.slowdown.percentile(P25);
        "slowdown_p50" Real Number [Slowdown Percentile(P50)]: "its median",
            |v| v.stats.slowdown.percentile(P50);
        "slowdown_p75" Real Number [Slowdown Percentile(P75)]: "its 75th percentile",
            |v| v.stats.slowdown.percentile(P75);
        "slowdown_p90" Real Number [Slowdown Percentile(P90)]: "its 90th percentile",
            |v| v.stats.slowdown.percentile(P90);
        "slowdown_p95" Real Number [Slowdown Percentile(P95)]: "its 95th percentile",
            |v| v.stats.slowdown.percentile(P95);
        "slowdown_p99" Real Number [Slowdown Percentile(P99)]: "its 99th percentile",
            |v| v.stats.slowdown.percentile(P99);
        "slowdown_p999" Real Number [Slowdown Percentile(P999)]: "its 99.9th percentile",
            |v| v.stats.slowdown.percentile(P999);
        "slowdown_max" Real Number [Slowdown Max]: "the largest", |v| v.stats.slowdown.max();
        "throughput_mean_bps" Real Rate [Throughput Mean]:
            "mean over completed flows of size divided by completion time",
            |v| v.stats.throughput.mean();
        "rate_mean_bps" Real Rate [Rate Mean]: "mean rate of flows without an end",
            |v| v.stats.rate.mean();
        "held_mean_ps" Real Time [Hold Mean]: "mean over the flows of the longest hold at one hop",
            |v| v.stats.held.mean();
        "held_max_ps" Whole Time [Hold Max]: "the longest hold of a flow at one hop",
            |v| ps(v.stats.held.max());
        "innocent_held_mean_ps" Real Time [InnocentHold Mean]:
            "mean over the flows of the time held by pauses that began at ports they never used; \
             empty if not all pauses were kept",
            |v| v.innocent;
        "retransmitted" Whole Count: "packets sent again", |v| v.stats.retransmitted;
        "lost" Whole Count: "packets lost", |v| v.stats.lost;
        "reordered" Whole Count: "packets that arrived behind later ones", |v| v.stats.reordered;
        "timeouts" Whole Count: "retransmission timers that fired", |v| v.stats.timeouts;
        "ecn_cuts" Whole Count: "TCP: windows cut for ECN marks", |v| v.stats.ecn_cuts;
        "fast_retransmits" Whole Count: "TCP: fast retransmits", |v| v.stats.fast_retransmits;
        "window_peak_mean_bytes" Real Bytes [Window Mean]:
            "TCP: mean over the flows of their largest window",
            |v| v.stats.peak_window.mean();
    }
}

fn port_columns<'a>() -> Vec<Column<PortsView<'a>>> {
    columns! {
        "ports" Text: "group of ports; empty: all switch ports", |v| v.name;
        "queue_mean_bytes" Real Bytes [Queue Mean]: "mean over the ports of their mean queues",
            |v| Sorted::new(v.ports.iter().map(|p| p.queue.mean)).mean();
        "queue_p99_bytes" Whole Bytes [Queue Percentile(P99)]:
            "largest of the lengths that they did not exceed for 99 % of the time",
            |v| v.ports.iter().map(|p| p.queue.percentile(P99)).max().unwrap_or_default();
        "queue_max_bytes" Whole Bytes [Queue Max]: "longest queue",
            |v| v.ports.iter().map(|p| p.queue.max).max().unwrap_or_default();
        "held_ps" Whole Time:
            "time during which a priority of a port was held, summed over ports and priorities",
            |v| held(v.ports.iter().copied());
        "pauses_sent" Whole Count: "pause requests that they sent",
            |v| v.ports.iter().flat_map(|p| p.pauses_sent).sum::<u64>();
        "utilisation" Real Share: "mean over the ports of the share of time in which they sent",
            |v| Sorted::new(v.ports.iter().map(|p| p.utilisation)).mean();
        "ecn_marked" Whole Count: "packets marked",
            |v| v.ports.iter().map(|p| p.ecn_marked).sum::<u64>();
        "dropped" Whole Count: "packets dropped",
            |v| v.ports.iter().map(|p| p.dropped).sum::<u64>();
    }
}

fn state_columns<'a>() -> Vec<Column<StateView<'a>>> {
    columns! {
        "table" Text: "table that the scheme keeps", |v| v.name;
        "mean_bytes" Real Bytes [Tables Mean]: "mean over the switches of its mean size",
            |v| v.mean;
        "max_bytes" Whole Bytes [Tables Max]: "its largest size in one switch", |v| v.max;
    }
}

/// Picoseconds of single flows are whole numbers, and so are percentiles of them.
fn ps(x: Option<f64>) -> Option<u64> {
    x.map(|x| libm::round(x) as u64)
}

/// The time during which a priority of a port was held, in sum.
fn held<'a>(ports: impl Iterator<Item = &'a PortRecord>) -> u64 {
    ports.flat_map(|p| p.held_time).map(|t| t.as_ps()).sum()
}

/// Memory that the fullest switch did not exceed for a share of the time.
fn buffer(run: &Run, share: Percentile) -> Bytes {
    let of = |s: &SwitchRecord| s.buffer.percentile(share);
    run.outcome.switches.iter().map(of).max().unwrap_or_default()
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
    let of_switch = |s: &SwitchRecord| s.tables.iter().map(|t| t.mean).sum();
    Sorted::new(run.outcome.switches.iter().map(of_switch)).mean()
}

/// A class with its name, if not all, and a range of sizes, if not all.
pub(crate) type Selected<'a> = (Option<(ClassId, &'a str)>, Option<&'a SizeRange>);

/// The parts of the traffic of an experiment that have rows of their own.
pub(crate) fn selections(e: &Experiment) -> impl Iterator<Item = Selected<'_>> {
    let ranges = || e.scenario.report.sizes.iter().map(Some);
    let classes = e.classes().iter().enumerate().flat_map(move |(i, name)| {
        let class = Some((ClassId::from_index(i), name.as_str()));
        std::iter::once(None).chain(ranges()).map(move |sizes| (class, sizes))
    });
    ranges().map(|sizes| (None, sizes)).chain(classes)
}

/// The values of a row.
pub type Row = Vec<Value<'static>>;

/// The figures of one run: the rows of each family, with a value for each of its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures([Vec<Row>; 4]);

/// How a family of figures is stored: with the names of its columns.
#[derive(Serialize, Deserialize)]
pub struct Stored<'a> {
    columns: Vec<Cow<'a, str>>,
    rows: Cow<'a, [Row]>,
}

fn row<T>(columns: &[Column<T>], of: &T) -> Row {
    columns.iter().map(|c| (c.of)(of).into_owned()).collect()
}

impl Figures {
    /// Takes all figures out of a run.
    pub fn new<'a>(e: &'a Experiment, run: &'a Run) -> Self {
        let port = hottest_port(&e.topology, &run.outcome);
        let view = RunView { run, hottest: port.and_then(|p| port_record(p, &run.outcome)) };
        let kept = run.outcome.pauses_left_out == 0;
        let innocent = kept.then(|| innocent_holds(run.pause_trees(e)));
        let flows = |(class, sizes): Selected<'a>| {
            let which = Selection { class: class.map(|(id, _)| id), sizes };
            let innocent = innocent.as_ref().and_then(|held| {
                let of = run.outcome.flows.iter().filter(|f| which.holds(f));
                let times = of.map(|f| held.get(&f.id).map_or(0.0, |t| t.as_ps() as f64));
                Sorted::new(times).mean()
            });
            let (class, sizes) = (class.map_or("", |c| c.1), sizes.map_or("", |s| &s.label));
            FlowView { class, sizes, stats: run.class_stats(which), innocent }
        };
        let columns = flow_columns();
        let runs = [row(&run_columns(), &view), row(&columns, &flows((None, None)))];
        let parts = selections(e).map(flows).filter(|view| view.stats.flows > 0);
        let classes = parts.map(|v| [row(&part_columns(), &v), row(&columns, &v)].concat());
        let ports = ports(e, run).iter().map(|view| row(&port_columns(), view)).collect();
        let state = state(run).iter().map(|view| row(&state_columns(), view)).collect();
        Self([vec![runs.concat()], classes.collect(), ports, state])
    }

    /// The rows of a family.
    pub fn rows(&self, family: Family) -> &[Row] {
        &self.0[family as usize]
    }

    /// The row with these values in its first columns.
    pub fn row(&self, family: Family, key: &[&str]) -> Option<&Row> {
        self.rows(family).iter().find(|row| key.iter().zip(*row).all(|(k, v)| *k == v.word()))
    }

    /// A figure of all flows, or of those of a class and of a range of sizes ("": all). `None`
    /// where there are none, or the figure is not about flows.
    pub fn value(&self, name: &str, class: &str, sizes: &str) -> Option<&Value<'static>> {
        let family = match (class, sizes) {
            ("", "") => Family::Runs,
            _ => Family::Classes,
        };
        let key = &[class, sizes][..family.keys()];
        self.row(family, key).zip(family.position(name)).map(|(row, at)| &row[at])
    }

    /// A run of which nothing but one figure of [`Family::Runs`] is known.
    ///
    /// # Panics
    ///
    /// If there is no such figure.
    pub fn by_hand(name: &str, value: Value<'static>) -> Self {
        let mut row = vec![Value::None; Family::Runs.headings().len()];
        row[Family::Runs.position(name).expect("a figure")] = value;
        Self([vec![row], Vec::new(), Vec::new(), Vec::new()])
    }

    /// What was stored; `None` where it has other columns than this program.
    pub fn from_stored(mut stored: BTreeMap<String, Stored<'_>>) -> Option<Self> {
        let mut all = [const { Vec::new() }; 4];
        for family in Family::ALL {
            let Stored { columns, rows } = stored.remove(family.name())?;
            let names = family.headings().iter().map(|h| h.name);
            let fits = names.eq(columns.iter().map(|name| &**name));
            if !fits || rows.iter().any(|row| row.len() != columns.len()) {
                return None;
            }
            all[family as usize] = rows.into_owned();
        }
        (all[Family::Runs as usize].len() == 1).then_some(Self(all))
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Family::ALL.map(|family| {
            let columns = family.headings().iter().map(|h| h.name.into()).collect();
            (family.name(), Stored { columns, rows: self.rows(family).into() })
        }))
    }
}

/// The switch ports: all of them, then each group.
fn ports<'a>(e: &'a Experiment, run: &'a Run) -> Vec<PortsView<'a>> {
    let switches = run.outcome.ports.iter().filter(|p| !e.topology.is_host(p.node));
    let mut views = vec![PortsView { name: "", ports: switches.collect() }];
    for (group, ports) in e.scenario.report.ports.iter().zip(&e.port_groups) {
        let at = |p: &PortRecord| PortAt { node: p.node, port: p.port };
        let all = views[0].ports.iter().copied();
        let ports = all.filter(|p| ports.binary_search(&at(p)).is_ok()).collect();
        views.push(PortsView { name: &group.name.value, ports });
    }
    views
}

/// The tables that the scheme keeps, in the order of its switches.
fn state(run: &Run) -> Vec<StateView<'_>> {
    let tables = || run.outcome.switches.iter().flat_map(|s| &s.tables);
    let mut views: Vec<StateView<'_>> = Vec::new();
    for name in tables().map(|t| t.name) {
        if !views.iter().any(|v| v.name == name) {
            let own = || tables().filter(|t| t.name == name);
            let mean = Sorted::new(own().map(|t| t.mean)).mean();
            views.push(StateView { name, mean, max: own().map(|t| t.max).max().unwrap_or(0) });
        }
    }
    views
}

#[cfg(test)]
mod tests;
