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

/// What a node lost. Control frames have a counter of their own: they belong to no flow.
#[derive(Clone, Debug)]
struct Drops {
    node: NodeId,
    records: BTreeMap<(DropReason, Priority), DropRecord>,
    lost: FxHashMap<FlowId, Lost>,
}

impl Drops {
    fn new(node: NodeId) -> Self {
        Self { node, records: BTreeMap::new(), lost: FxHashMap::default() }
    }
}

impl Probe for Drops {
    fn dropped(&mut self, now: Time, reason: DropReason, packet: &Packet) {
        let Packet { flow, priority, kind, .. } = *packet;
        let lost = match kind {
            PacketKind::Control => return,
            PacketKind::Data => &mut self.lost.entry(flow).or_default().data,
            _ => &mut self.lost.entry(flow).or_default().answers,
        };
        *lost += 1;
        let first = DropRecord { reason, priority, node: self.node, packets: 0, first: now, flow };
        self.records.entry((reason, priority)).or_insert(first).packets += 1;
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        outcome.drops.extend(self.records.values());
        let mut lost: Vec<_> = self.lost.iter().collect();
        lost.sort_unstable_by_key(|(id, _)| **id);
        for (id, lost) in lost {
            let flow = outcome.flow_mut(*id).expect("what is lost was sent by a flow");
            flow.add_losses(lost.data, lost.answers);
        }
    }
}
