//! Packets that were lost, by reason and by flow.

use super::interface::{Hears, Probe, ProbeInfo};
use crate::outcome::{DropReason, DropRecord, Outcome};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use weir_core::{FlowId, NodeId, Packet, PacketKind, Priority, Time};

/// See [`PROBES`](super::PROBES).
pub(super) const INFO: ProbeInfo = ProbeInfo {
    name: "drops",
    summary: "lost packets by reason, priority and node, and by flow",
    columns: &[],
    hears: Hears::DROPPED,
    build: |setup| Some(Box::new(Drops::new(setup.node))),
    finish: |outcome, _| outcome.drops.sort_by_key(|d| (d.reason, d.priority, d.node)),
};

/// Packets of a flow that were lost.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    data: u64,
    /// ACKs, NACKs, CNPs and the packets of a handshake.
    answers: u64,
}

/// How many flows are counted apart.
const RECENT: usize = 256;

/// What a node lost. Control frames have a counter of their own: they belong to no flow.
#[derive(Clone, Debug)]
struct Drops {
    node: NodeId,
    records: BTreeMap<(DropReason, Priority), DropRecord>,
    lost: FxHashMap<FlowId, Lost>,
    /// Data packets that are not in `lost` yet, of one flow in each place: a flow that loses a
    /// packet loses more of them, and a look-up in a large map costs more than the count.
    recent: Vec<(FlowId, u64)>,
}

impl Drops {
    fn new(node: NodeId) -> Self {
        Self { node, records: BTreeMap::new(), lost: FxHashMap::default(), recent: Vec::new() }
    }

    fn count_data(&mut self, flow: FlowId) {
        if self.recent.is_empty() {
            self.recent = vec![(flow, 0); RECENT];
        }
        let place = &mut self.recent[flow.hash64() as usize % RECENT];
        if place.0 == flow {
            place.1 += 1;
            return;
        }
        let (before, packets) = std::mem::replace(place, (flow, 1));
        self.settle(before, packets);
    }

    fn settle(&mut self, flow: FlowId, packets: u64) {
        if packets > 0 {
            self.lost.entry(flow).or_default().data += packets;
        }
    }

    fn settle_all(&mut self) {
        for (flow, packets) in std::mem::take(&mut self.recent) {
            self.settle(flow, packets);
        }
    }
}

impl Probe for Drops {
    fn dropped(&mut self, now: Time, reason: DropReason, packet: &Packet) {
        let Packet { flow, priority, kind, .. } = *packet;
        match kind {
            PacketKind::Control => return,
            PacketKind::Data => self.count_data(flow),
            _ => self.lost.entry(flow).or_default().answers += 1,
        }
        let first = DropRecord { reason, priority, node: self.node, packets: 0, first: now, flow };
        self.records.entry((reason, priority)).or_insert(first).packets += 1;
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        outcome.drops.extend(self.records.values());
        self.settle_all();
        let mut lost: Vec<_> = self.lost.iter().collect();
        lost.sort_unstable_by_key(|(id, _)| **id);
        for (id, lost) in lost {
            let flow = outcome.flow_mut(*id).expect("what is lost was sent by a flow");
            flow.add_losses(lost.data, lost.answers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where flows share a place.
    #[test]
    fn losses_of_many_flows_are_counted_by_flow() {
        let flows: Vec<_> = (0..3 * RECENT as u32).map(|k| FlowId::new(NodeId(1), k)).collect();
        let mut drops = Drops::new(NodeId(9));
        for round in 0..3 {
            for (i, flow) in flows.iter().enumerate() {
                let times = if round == 2 { i % 2 } else { 2 };
                (0..times).for_each(|_| drops.count_data(*flow));
            }
        }
        drops.settle_all();
        assert_eq!(drops.lost.len(), flows.len());
        for (i, flow) in flows.iter().enumerate() {
            assert_eq!(drops.lost[flow].data, 4 + i as u64 % 2, "{flow:?}");
        }
    }
}
