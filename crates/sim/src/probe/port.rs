//! What is counted at a port, of a switch or of a NIC.

use super::held::PortHolds;
use super::late::LateFrames;
use crate::link::Transmitter;
use crate::outcome::{PortRecord, QueueStats};
use weir_core::{Bytes, NodeId, PortId, Priority, Time};

/// The counters of a port, the warm-up left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortMeter {
    pub(crate) holds: PortHolds,
    pub(crate) late: LateFrames,
    pub(crate) control_sent: u64,
    /// Control frames of the neighbour that a fault hit.
    pub(crate) control_faulted: u64,
    pub(crate) pauses_sent: [u64; Priority::COUNT],
    /// Packets with an ECN mark of this port.
    pub(crate) marked: u64,
    pub(crate) dropped: u64,
    /// Packets and bytes that the transmitter had sent when statistics began.
    before: (u64, u64),
}

impl PortMeter {
    /// The warm-up is over: statistics start at `now`.
    pub(crate) fn restart(&mut self, now: Time, tx: &Transmitter) {
        self.holds.restart(now);
        self.before = (tx.packets, tx.wire_bytes);
        self.pauses_sent = [0; Priority::COUNT];
        (self.control_sent, self.control_faulted) = (0, 0);
        (self.marked, self.dropped) = (0, 0);
    }

    /// What the port did from `start` to `end`.
    pub(crate) fn record(
        &self,
        (node, port): (NodeId, PortId),
        tx: &Transmitter,
        queue: QueueStats,
        (start, end): (Time, Time),
    ) -> PortRecord {
        let wire_bytes = tx.wire_bytes - self.before.1;
        let busy = self.late.busy(tx, wire_bytes, start, end);
        let span = end.saturating_sub(start).as_ps();
        PortRecord {
            node,
            port,
            rate: tx.rate,
            packets: tx.packets - self.before.0,
            wire_bytes: Bytes::new(wire_bytes),
            utilisation: if span == 0 { 0.0 } else { busy.as_ps() as f64 / span as f64 },
            queue,
            control_sent: self.control_sent,
            control_faulted: self.control_faulted,
            pauses_sent: self.pauses_sent,
            holds: self.holds.started(),
            held_time: self.holds.time(start, end),
            ecn_marked: self.marked,
            dropped: self.dropped,
        }
    }
}
