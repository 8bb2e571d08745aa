//! The sections about flows.

use super::Source;
use crate::timeline::{Kind, Table};
use weir_core::{Bytes, FlowId, NodeId, PortId, Time};
use weir_results::run::Run;
use weir_sim::outcome::{FlowRecord, Recording};

/// The order of flows in a recording: by start, then by id.
pub(super) struct FlowIndex {
    /// Ids with their places, by id.
    places: Vec<(FlowId, u32)>,
}

impl FlowIndex {
    pub(super) fn new(run: &Run) -> Self {
        let mut by_start: Vec<(Time, FlowId)> =
            run.outcome.flows.iter().map(|f| (f.start, f.id)).collect();
        by_start.sort_unstable();
        let mut places: Vec<(FlowId, u32)> =
            by_start.into_iter().enumerate().map(|(i, (_, id))| (id, i as u32)).collect();
        places.sort_unstable();
        Self { places }
    }

    /// The place of a flow.
    pub(super) fn place(&self, id: FlowId) -> Option<u64> {
        let at = self.places.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.places[at].1.into())
    }

    /// The place plus one; 0 for a flow that is not known.
    pub(super) fn reference(&self, id: FlowId) -> u64 {
        self.place(id).map_or(0, |place| place + 1)
    }

    /// All ids in the order of places.
    fn in_order(&self) -> Vec<FlowId> {
        let mut ids = vec![FlowId::default(); self.places.len()];
        for &(id, place) in &self.places {
            ids[place as usize] = id;
        }
        ids
    }
}

/// All flows, in order.
fn in_order<'a>(source: &'a Source<'_>) -> impl Iterator<Item = &'a FlowRecord> {
    let flows = &source.run.outcome.flows;
    source.flows.in_order().into_iter().filter_map(|id| flows.get(id))
}

pub(super) fn flows(source: &Source<'_>) -> Table {
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
    let mut table = Table::new("flows", &columns);
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
pub(super) fn paths(source: &Source<'_>) -> (Table, u64) {
    const MOST_HOPS: usize = 4_000_000;
    let Source { e, .. } = source;
    let columns = [("flow", Kind::Delta), ("port", Kind::Varint)];
    let mut table = Table::new("paths", &columns);
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
pub(super) fn holds(source: &Source<'_>) -> Table {
    let columns = [("flow", Kind::Delta), ("port", Kind::Varint), ("held", Kind::Varint)];
    let mut table = Table::new("holds", &columns);
    for (i, f) in in_order(source).enumerate() {
        for h in f.held() {
            table.push([i as u64, source.port(h.node, h.port), h.time.as_ps()]);
        }
    }
    table
}

/// What arrived of each flow in each window.
pub(super) fn rates(source: &Source<'_>, recording: &Recording) -> Table {
    let columns = [("window", Kind::Delta), ("flow", Kind::Varint), ("bytes", Kind::Varint)];
    let mut rows: Vec<[u64; 3]> = Vec::with_capacity(recording.deliveries.len());
    for d in &recording.deliveries {
        if let Some(flow) = source.flows.place(d.flow) {
            rows.push([d.window.into(), flow, d.bytes]);
        }
    }
    rows.sort_unstable();
    let mut table = Table::with_capacity("rates", &columns, rows.len());
    rows.into_iter().for_each(|row| table.push(row));
    table
}
