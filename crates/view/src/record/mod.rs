//! The recording of a run.

mod blame;
mod flows;
mod pauses;
mod polls;

use crate::format::encode_with;
use crate::header::{Decimated, Header, NodeInfo, PortInfo};
use crate::timeline::{Kind, Packed, PackedColumn, Timeline, TimelineTable};
use flows::FlowIndex;
use pauses::Pauses;
use polls::Windows;
pub use polls::{POLL, polls};
use std::borrow::Cow;
use std::collections::BTreeMap;
use weir_core::packed::{Runs, Sparse, Varints};
use weir_core::{NodeId, PortId, Time};
use weir_net::{Layer, Topology, draw};
use weir_results::run::Run;
use weir_scenario::Experiment;
use weir_sim::outcome::{DropReason, Finish, PortSamples, Recording};

/// How large a recording may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub u64);

impl Default for Limit {
    fn default() -> Self {
        Self(64_000_000)
    }
}

impl Limit {
    /// How many rows a run keeps for a recording of this size: about as many as fit.
    pub fn rows(self) -> usize {
        usize::try_from(self.0 / 6).unwrap_or(usize::MAX)
    }
}

/// The names of the parts of a flow's life.
const PARTS: [&str; 9] = [
    "wire",
    "source",
    "control",
    "recovery",
    "own_queue",
    "others_queue",
    "held_own",
    "held_others",
    "host",
];

/// Everything of a run in one place while its recording is made.
struct Source<'a> {
    e: &'a Experiment,
    run: &'a Run,
    flows: FlowIndex,
}

impl Source<'_> {
    fn topology(&self) -> &Topology {
        &self.e.topology
    }

    /// The number of a port among all ports.
    fn port(&self, node: NodeId, port: PortId) -> u64 {
        self.topology().port_index(node, port) as u64
    }
}

/// The file of the recording of a run of `e`, at most about as large as `limit`. `None` if the run
/// did not record.
///
/// A file that is too large gets windows twice as long, as often as it takes; then it loses the
/// rates of flows, the paths of flows that were never held, and the shortest pauses.
pub fn record(e: &Experiment, run: &Run, limit: Limit) -> Option<Recorded> {
    let recording = run.outcome.recording.as_deref()?;
    let source = Source { e, run, flows: FlowIndex::new(run) };
    let (mut timeline, mut windows) = timeline(&source, recording);
    let mut file = encode_with(&timeline, &windows);
    let fits = |file: &[u8]| file.len() as u64 <= limit.0;
    if fits(&file) && recording.window == recording.asked {
        return Some(Recorded::new(file, timeline));
    }
    timeline.header.decimated =
        Some(Decimated { asked_window_ps: recording.asked.as_ps(), limit_bytes: limit.0 });
    let mut coarse = Cow::Borrowed(recording);
    file = encode_with(&timeline, &windows);
    while !fits(&file) && coarse.window < run.outcome.end {
        coarse.to_mut().coarsen();
        timeline.header.window_ps = coarse.window.as_ps();
        windows = [flows::rates(&source, &coarse), samples(&source, &coarse, |_, _| ())];
        file = encode_with(&timeline, &windows);
    }
    if !fits(&file) && windows[0].rows > 0 {
        timeline.header.left_out.insert("flow_rates".into(), windows[0].rows);
        windows[0] = flows::section(std::iter::empty());
        file = encode_with(&timeline, &windows);
    }
    if !fits(&file) {
        leave_out(&mut timeline, "paths", "path_hops", |_| false);
        file = encode_with(&timeline, &windows);
    }
    let mut shortest = recording.asked.as_ps().max(1);
    while !fits(&file) && shortest < run.outcome.end.as_ps() {
        shortest = shortest.saturating_mul(4);
        pauses::leave_out_short(&mut timeline, shortest);
        file = encode_with(&timeline, &windows);
    }
    Some(Recorded::new(file, timeline))
}

/// The recording of a run, as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its bytes.
    pub file: Vec<u8>,
    /// The length of its windows.
    pub window_ps: u64,
    /// What was made coarser than asked for.
    pub decimated: Option<Decimated>,
    /// How many rows it does not have.
    pub left_out: u64,
}

impl Recorded {
    fn new(file: Vec<u8>, timeline: Timeline) -> Self {
        let Header { window_ps, decimated, left_out, .. } = timeline.header;
        Self { file, window_ps, decimated, left_out: left_out.values().sum() }
    }
}

/// Leaves rows of a section out, and counts them.
pub(crate) fn leave_out(
    timeline: &mut Timeline,
    table: &str,
    what: &str,
    keep: impl Fn(usize) -> bool,
) {
    let Some(rows) = timeline.table_mut(table) else { return };
    let left_out = rows.retain(keep);
    if left_out > 0 {
        *timeline.header.left_out.entry(what.to_owned()).or_default() += left_out;
    }
}

/// Everything that was recorded; `rates` and `samples`, the sections of windows, come packed.
fn timeline(source: &Source<'_>, recording: &Recording) -> (Timeline, [Packed; 2]) {
    let pauses = Pauses::new(source, recording);
    let mut timeline = Timeline { header: header(source, recording, &pauses), tables: Vec::new() };
    timeline.tables.push(flows::flows(source));
    let (paths, left_out) = flows::paths(source);
    timeline.tables.push(paths);
    if left_out > 0 {
        timeline.header.left_out.insert("paths".into(), left_out);
    }
    timeline.tables.push(pauses.table());
    timeline.tables.push(flows::holds(source));
    timeline.tables.push(drops(source, recording));
    timeline.tables.push(failures(source));
    timeline.tables.push(deadlocks(source));
    timeline.tables.extend(blame::tables(source, &pauses).into_iter().flatten());
    let mut polled = Windows::new(recording.window, POLL);
    let samples = samples(source, recording, |port, own| polled.add_port(port, own));
    timeline.tables.push(polled.with_pauses(&timeline));
    timeline.header.poll_ps = POLL.as_ps();
    (timeline, [flows::rates(source, recording), samples])
}

fn header(source: &Source<'_>, recording: &Recording, pauses: &Pauses) -> Header {
    let Source { e, run, .. } = source;
    let outcome = match run.outcome.finish {
        Finish::Drained => "drained",
        Finish::Deadlock(_) => "deadlocked",
        Finish::Stalled(_) => "stalled",
        Finish::TimeLimit | Finish::Interrupted => "stopped",
    };
    let mut left_out = BTreeMap::new();
    let kinds = recording.left_out;
    for (what, rows) in
        [("pauses", kinds.holds), ("pause_reasons", kinds.decisions), ("drops", kinds.drops)]
    {
        if rows > 0 {
            left_out.insert(what.to_owned(), rows);
        }
    }
    let totals = &run.outcome.totals;
    let counters = [
        ("flows", totals.flows),
        ("completed", totals.completed),
        ("packet_hops", totals.packet_hops),
        ("control_frames", totals.control_frames),
        ("pauses", pauses.rows() as u64),
        ("dropped", totals.dropped),
        ("control_dropped", totals.control_dropped),
    ];
    Header {
        format: crate::format::VERSION,
        weir: env!("CARGO_PKG_VERSION").into(),
        scenario: e.scenario.name.clone(),
        title: e.scenario.title.clone(),
        scheme: run.variant.scheme.name.into(),
        label: run.label.clone(),
        seed: run.variant.seed,
        end_ps: run.outcome.end.as_ps(),
        window_ps: recording.window.as_ps(),
        poll_ps: POLL.as_ps(),
        outcome: outcome.into(),
        nodes: nodes(&e.topology),
        ports: ports(&e.topology),
        classes: e.classes().to_vec(),
        reasons: pauses.reasons.clone(),
        drop_reasons: DropReason::ALL.map(|r| r.name().to_owned()).to_vec(),
        parts: PARTS.map(str::to_owned).to_vec(),
        counters: counters.map(|(name, n)| (name.to_owned(), n)).into(),
        left_out,
        decimated: None,
        slice: None,
    }
}

fn nodes(topology: &Topology) -> Vec<NodeInfo> {
    let places = draw::places(topology);
    let node = |(node, (x, y)): (&weir_net::Node, (f64, f64))| NodeInfo {
        name: node.name.clone(),
        role: if node.layer == Layer::Host { "host" } else { "switch" }.into(),
        tier: match node.layer {
            Layer::Host => 0,
            Layer::Tor | Layer::Other => 1,
            Layer::Agg => 2,
            Layer::Core => 3,
        },
        x: x as f32,
        y: y as f32,
        group: (node.layer != Layer::Core && node.layer != Layer::Other)
            .then(|| format!("pod{}", node.group)),
    };
    topology.nodes().iter().zip(places).map(node).collect()
}

fn ports(topology: &Topology) -> Vec<PortInfo> {
    let mut ports = Vec::with_capacity(topology.port_count());
    for n in (0..topology.nodes().len()).map(NodeId::from_index) {
        for (p, end) in topology.ports(n).iter().enumerate() {
            let port = PortId::from_index(p);
            let link = topology.link(end.link);
            ports.push(PortInfo {
                node: n.0,
                port: port.0,
                peer: topology.port_index(end.peer, end.peer_port) as u32,
                rate_bps: link.rate.as_bps(),
                delay_ps: link.delay.as_ps(),
                name: topology.port_label(n, port),
            });
        }
    }
    ports
}

/// What ports did in each window, by port; tells of each port.
fn samples(
    source: &Source<'_>,
    recording: &Recording,
    mut tell: impl FnMut(u64, &PortSamples),
) -> Packed {
    let (mut ports, mut windows, mut sent) = <(Runs, Runs, Varints)>::default();
    let (mut queue, mut held) = <(Sparse, Sparse)>::default();
    let mut rows = 0;
    for own in recording.samples.ports() {
        let port = source.port(own.node, own.port);
        let own = during(own, recording.window, source.run.outcome.end);
        rows += own.rows;
        ports.push_times(port, own.rows);
        windows.append(&own.windows);
        queue.append(&own.queue);
        sent.append(&own.sent);
        held.append(&own.held);
        tell(port, &own);
    }
    let columns = vec![
        PackedColumn::runs("port", ports),
        PackedColumn::runs("window", windows),
        PackedColumn::sparse("queue", queue),
        PackedColumn::varints("sent", sent),
        PackedColumn::sparse("held", held),
    ];
    Packed { name: "samples", rows, columns }
}

/// The windows of a port that begin before the `end` of the run or at it: what periodic frames did
/// after the last event is no part of it.
fn during(port: &PortSamples, window: Time, end: Time) -> Cow<'_, PortSamples> {
    let inside = |number: u64| number.saturating_mul(window.as_ps()) <= end.as_ps();
    if inside(port.windows.last()) { Cow::Borrowed(port) } else { Cow::Owned(port.up_to(inside)) }
}

fn drops(source: &Source<'_>, recording: &Recording) -> TimelineTable {
    let columns =
        [("at", Kind::Delta), ("port", Kind::Varint), ("flow", Kind::Varint), ("reason", Kind::U8)];
    let mut table = TimelineTable::new("drops", &columns);
    for d in &recording.drops {
        let ports = source.topology().ports(d.node).len();
        // a packet that its own host lost has come in by no port
        let port = if d.port.index() < ports { d.port } else { PortId(0) };
        let reason = DropReason::ALL.iter().position(|r| *r == d.reason).unwrap_or_default();
        let flow = d.flow.map_or(0, |id| source.flows.reference(id));
        table.push([d.at.as_ps(), source.port(d.node, port), flow, reason as u64]);
    }
    table
}

fn failures(source: &Source<'_>) -> TimelineTable {
    let columns = [("at", Kind::Delta), ("port", Kind::Varint), ("up", Kind::U8)];
    let mut table = TimelineTable::new("failures", &columns);
    let mut rows = Vec::new();
    for failure in &source.e.failures {
        let link = source.topology().link(failure.link);
        for (node, port) in [link.a, link.b] {
            let port = source.port(node, port);
            rows.push([failure.down.as_ps(), port, 0]);
            rows.extend(failure.up.map(|up| [up.as_ps(), port, 1]));
        }
    }
    rows.sort_unstable();
    let end = source.run.outcome.end.as_ps();
    rows.into_iter().filter(|row| row[0] <= end).for_each(|row| table.push(row));
    table
}

fn deadlocks(source: &Source<'_>) -> TimelineTable {
    let columns = [("at", Kind::Delta), ("cycle", Kind::U32), ("port", Kind::Varint)];
    let mut table = TimelineTable::new("deadlocks", &columns);
    if let Finish::Deadlock(deadlock) = &source.run.outcome.finish {
        for stuck in &deadlock.cycle {
            let port = source.port(stuck.node, stuck.port);
            table.push([deadlock.closed.as_ps(), 1, port]);
        }
    }
    table
}
