//! The sections about flows.

use super::Source;
use crate::timeline::{Kind, Packed, PackedColumn, TimelineTable};
use weir_core::packed::{Runs, Varints};
use weir_core::{Bytes, FlowId, NodeId, PortId, Time};
use weir_results::run::Run;
use weir_sim::outcome::{Delivery, FlowRecord, Recording};

/// The order of flows in a recording: by start, then by id.
pub(super) struct FlowIndex {
    /// Numbers of flows among those of their host with their places, by host and number.
    places: Vec<(u32, u32)>,
    /// Where the flows of a host begin there, by host; one more than there are hosts.
    hosts: Vec<usize>,
}

impl FlowIndex {
    pub(super) fn new(run: &Run) -> Self {
        let mut by_start: Vec<(Time, FlowId)> =
            run.outcome.flows.iter().map(|f| (f.start, f.id)).collect();
        by_start.sort_unstable();
        let mut by_id: Vec<(FlowId, u32)> =
            by_start.into_iter().enumerate().map(|(i, (_, id))| (id, i as u32)).collect();
        by_id.sort_unstable();
        let count = by_id.last().map_or(0, |(id, _)| id.source().index() + 1);
        let begin = |host| by_id.partition_point(|(id, _)| id.source().index() < host);
        let hosts = (0..=count).map(begin).collect();
        Self { places: by_id.into_iter().map(|(id, at)| (id.number(), at)).collect(), hosts }
    }

    /// How many flows there are.
    fn len(&self) -> usize {
        self.places.len()
    }

    /// The place of a flow. Asked for every row of a recording: where a host has all numbers from
    /// 0, there is nothing to search.
    pub(super) fn place(&self, id: FlowId) -> Option<u64> {
        let host = id.source().index();
        let own = &self.places[*self.hosts.get(host)?..*self.hosts.get(host + 1)?];
        let number = id.number();
        let at = match own.get(number as usize) {
            Some((found, _)) if *found == number => number as usize,
            _ => own.binary_search_by_key(&number, |(number, _)| *number).ok()?,
        };
        Some(own[at].1.into())
    }

    /// The place plus one; 0 for a flow that is not known.
    pub(super) fn reference(&self, id: FlowId) -> u64 {
        self.place(id).map_or(0, |place| place + 1)
    }

    /// All ids in the order of places.
    fn in_order(&self) -> Vec<FlowId> {
        let mut ids = vec![FlowId::default(); self.places.len()];
        for (host, range) in self.hosts.windows(2).enumerate() {
            for &(number, place) in &self.places[range[0]..range[1]] {
                ids[place as usize] = FlowId::new(NodeId::from_index(host), number);
            }
        }
        ids
    }
}

/// All flows, in order.
fn in_order<'a>(source: &'a Source<'_>) -> impl Iterator<Item = &'a FlowRecord> {
    let flows = &source.run.outcome.flows;
    source.flows.in_order().into_iter().filter_map(|id| flows.get(id))
}

pub(super) fn flows(source: &Source<'_>) -> TimelineTable {
    let columns = [
        ("src", Kind::U32),
        ("dst", Kind::U32),
        ("class", Kind::U32),
        ("priority", Kind::U8),
        ("size", Kind::Varint),
        ("start", Kind::Delta),
        ("end", Kind::Varint),
        ("fct_ideal", Kind::Varint),
        ("number", Kind::Varint),
        ("delivered", Kind::Varint),
    ];
    let mut table = TimelineTable::new("flows", &columns);
    for f in in_order(source) {
        table.push([
            f.src().0.into(),
            f.dst.0.into(),
            f.class.index() as u64,
            f.priority.index() as u64,
            // an endless flow has no size
            if f.size == Bytes::MAX { 0 } else { f.size.get() },
            f.start.as_ps(),
            f.finish().map_or(0, Time::as_ps),
            f.ideal().map_or(0, Time::as_ps),
            f.id.number().into(),
            f.delivered.get(),
        ]);
    }
    table
}

/// Where flows go: the ports that send their packets, hop by hop; and how many flows have no path
/// here, because there are too many or each packet takes a way of its own.
pub(super) fn paths(source: &Source<'_>) -> (TimelineTable, u64) {
    const MOST_HOPS: usize = 4_000_000;
    let Source { e, .. } = source;
    let columns = [("flow", Kind::Delta), ("port", Kind::Varint)];
    let mut table = TimelineTable::new("paths", &columns);
    let flows = source.run.outcome.flows.iter().count() as u64;
    if !e.scenario.routing.balance.keeps_order() {
        return (table, flows);
    }
    let mut left_out = 0;
    for (i, f) in in_order(source).enumerate() {
        if table.rows() >= MOST_HOPS {
            left_out += 1;
            continue;
        }
        let path: Option<Vec<(NodeId, PortId)>> = match f.path() {
            Some(path) => e
                .paths
                .get(path as usize)
                .and_then(|path| weir_net::validate_path(&e.topology, &path.nodes).ok()),
            None => e.routes().path(&e.topology, f.src(), f.dst, f.id.hash64()),
        };
        let Some(path) = path else {
            left_out += 1;
            continue;
        };
        for (node, port) in path {
            table.push([i as u64, source.port(node, port)]);
        }
    }
    (table, left_out)
}

/// How long flows were held at each port.
pub(super) fn holds(source: &Source<'_>) -> TimelineTable {
    let columns = [("flow", Kind::Delta), ("port", Kind::Varint), ("held", Kind::Varint)];
    let mut table = TimelineTable::new("holds", &columns);
    for (i, f) in in_order(source).enumerate() {
        for h in f.held() {
            table.push([i as u64, source.port(h.node, h.port), h.time.as_ps()]);
        }
    }
    table
}

/// What arrived of each flow in each window, by flow.
pub(super) fn rates(source: &Source<'_>, recording: &Recording) -> Packed {
    // rows of one flow are in the order of their windows: counting puts them in their places
    let known = |d: &Delivery| Some((source.flows.place(d.flow)?, d.window, d.bytes));
    let mut rows: Vec<(u64, u32, u64)> = Vec::with_capacity(recording.deliveries.len());
    rows.extend(recording.deliveries.iter().filter_map(known));
    let mut places = vec![0usize; source.flows.len() + 1];
    rows.iter().for_each(|(flow, ..)| places[*flow as usize + 1] += 1);
    for i in 1..places.len() {
        places[i] += places[i - 1];
    }
    let mut order = vec![0u32; rows.len()];
    for (i, (flow, ..)) in (0u32..).zip(&rows) {
        let place = &mut places[*flow as usize];
        order[*place] = i;
        *place += 1;
    }
    section(order.into_iter().map(|i| rows[i as usize]))
}

/// The section of [`rates`] with these rows: flow, window, bytes.
pub(super) fn section(rows: impl Iterator<Item = (u64, u32, u64)>) -> Packed {
    let (mut flows, mut windows, mut bytes) = <(Runs, Runs, Varints)>::default();
    let mut count = 0;
    for (flow, window, arrived) in rows {
        flows.push(flow);
        windows.push(window.into());
        bytes.push(arrived);
        count += 1;
    }
    let columns = vec![
        PackedColumn::runs("flow", flows),
        PackedColumn::runs("window", windows),
        PackedColumn::varints("bytes", bytes),
    ];
    Packed { name: "rates", rows: count, columns }
}
