//! Counters of one node, merged when the run ends.

use crate::outcome::{DropReason, DropRecord, PauseEvent};
use std::collections::BTreeMap;
use weir_core::{FlowId, NodeId, Packet, PacketKind, Priority, Time};

/// Packets of a flow that were lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    pub(crate) data: u64,
    /// ACKs, NACKs, CNPs and the packets of a handshake.
    pub(crate) answers: u64,
}

/// What a node counts.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Tally {
    /// Events other than packets received.
    pub(crate) events: u64,
    /// Packets received from a wire.
    pub(crate) hops: u64,
    /// The last time anything other than a periodic event happened.
    pub(crate) last_activity: Time,
    /// The last time a control frame took effect after its response time.
    pub(crate) last_response: Time,
    pub(crate) control_frames: u64,
    pub(crate) control_bytes: u64,
    /// Data and ACK packets lost here (control frames are not part of the books).
    pub(crate) dropped: u64,
    pub(crate) control_dropped: u64,
    drops: BTreeMap<(DropReason, Priority), DropRecord>,
    lost: BTreeMap<FlowId, Lost>,
    pub(crate) storms: u64,
}

impl Tally {
    /// Notes a lost packet. Control frames have a counter of their own: they belong to no flow.
    #[cold]
    pub(crate) fn drop(&mut self, now: Time, node: NodeId, reason: DropReason, p: &Packet) {
        if p.kind == PacketKind::Control {
            self.control_dropped += 1;
            return;
        }
        self.dropped += 1;
        self.last_activity = self.last_activity.max(now);
        let lost = self.lost.entry(p.flow).or_default();
        match p.kind {
            PacketKind::Data => lost.data += 1,
            _ => lost.answers += 1,
        }
        self.drops
            .entry((reason, p.priority))
            .or_insert(DropRecord {
                reason,
                priority: p.priority,
                node,
                packets: 0,
                first: now,
                flow: p.flow,
            })
            .packets += 1;
    }

    pub(crate) fn drops(&self) -> impl Iterator<Item = &DropRecord> {
        self.drops.values()
    }

    pub(crate) fn lost(&self) -> impl Iterator<Item = (FlowId, Lost)> + '_ {
        self.lost.iter().map(|(f, n)| (*f, *n))
    }
}

/// Pause events of one node, the first so many.
#[derive(Clone, Debug)]
pub(crate) struct PauseLog {
    pub(crate) events: Vec<PauseEvent>,
    pub(crate) left_out: u64,
    capacity: usize,
}

impl PauseLog {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { events: Vec::new(), left_out: 0, capacity }
    }

    /// Whether another event would be kept: working out its cause is worth while.
    pub(crate) fn has_room(&self) -> bool {
        self.events.len() < self.capacity
    }

    pub(crate) fn push(&mut self, event: PauseEvent) {
        if self.has_room() {
            self.events.push(event);
        } else {
            self.left_out += 1;
        }
    }
}
