//! What a run keeps for a recording: what ports and flows did in each window of time, and what
//! happened at which instant.

use super::samples::NodeSamples;
use super::{DropReason, PauseEvent, Samples};
use weir_core::{FlowId, NodeId, PortId, Priority, QueueId, Time};

/// What was recorded of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The length of a window that was asked for.
    pub asked: Time,
    /// The length of a window: longer than asked for if there would have been too many.
    pub window: Time,
    /// What ports did, by port and window; windows in which a port was idle are left out.
    pub samples: Samples,
    /// Payload that arrived; that of one flow by window.
    pub deliveries: Vec<Delivery>,
    /// What was held and how long, by start.
    pub holds: Vec<HoldRecord>,
    /// Pauses and resumes in time order.
    pub decisions: Vec<PauseEvent>,
    /// Lost packets in time order, control frames included.
    pub drops: Vec<DropEvent>,
    /// How much more there was than was kept.
    pub left_out: LeftOut,
}

/// How much of each kind a recording does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Holds.
    pub holds: u64,
    /// Pauses and resumes.
    pub decisions: u64,
    /// Lost packets.
    pub drops: u64,
}

/// What a port did in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSample {
    /// Which window, from 0.
    pub window: u32,
    /// The node.
    pub node: NodeId,
    /// The port.
    pub port: PortId,
    /// The most bytes that waited at the port at once; none at a NIC.
    pub queue: u32,
    /// Bytes of line time of the frames that began in the window.
    pub sent: u64,
    /// How long a priority or a part of it was held: the longest of all priorities.
    pub held: Time,
}

/// Payload of a flow that arrived in one window, what arrived twice included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which window, from 0.
    pub window: u32,
    /// The flow.
    pub flow: FlowId,
    /// Bytes of payload.
    pub bytes: u64,
}

/// A priority, a queue or a flow that a port could not send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldRecord {
    /// When it began.
    pub from: Time,
    /// When it was over; `None` if it stood at the end of the run.
    pub to: Option<Time>,
    /// The node.
    pub node: NodeId,
    /// The port.
    pub port: PortId,
    /// The priority.
    pub priority: Priority,
    /// The queue of a switch, if not the whole priority is held.
    pub queue: Option<QueueId>,
    /// The flow of a host, if not the whole priority is held.
    pub flow: Option<FlowId>,
}

/// A lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropEvent {
    /// When.
    pub at: Time,
    /// Where.
    pub node: NodeId,
    /// The port by which it had come in.
    pub port: PortId,
    /// Its flow; a control frame has none.
    pub flow: Option<FlowId>,
    /// Why.
    pub reason: DropReason,
}

impl Recording {
    /// Nothing, in windows of this length.
    pub fn new(window: Time) -> Self {
        Self { asked: window, window, ..Self::default() }
    }

    /// Adds what a node recorded; nodes come in the order of their ids.
    pub(crate) fn add(&mut self, mut node: Self, mut samples: NodeSamples) {
        // lengths of windows are the one asked for, doubled some times
        while self.window < node.window {
            self.coarsen();
        }
        while node.window < self.window {
            node.coarsen();
            samples.coarsen();
        }
        self.samples.add(samples);
        self.deliveries.append(&mut node.deliveries);
        self.holds.append(&mut node.holds);
        self.drops.append(&mut node.drops);
        self.left_out.holds += node.left_out.holds;
        self.left_out.drops += node.left_out.drops;
    }

    /// Puts everything in order, now that all nodes are in, by id: the rows of each are in order.
    pub(crate) fn settle(&mut self) {
        self.holds.sort_by_key(|h| (h.from, h.node, h.port, h.priority, h.queue, h.flow));
        self.drops.sort_by_key(|d| (d.at, d.node, d.port));
    }

    /// Makes windows twice as long: the longest queue of two, the sum of everything else.
    pub fn coarsen(&mut self) {
        self.window = self.window.saturating_add(self.window);
        self.samples.coarsen();
        self.merge_deliveries();
    }

    fn merge_deliveries(&mut self) {
        let key = |d: &Delivery| (d.window, d.flow);
        self.deliveries.iter_mut().for_each(|d| d.window /= 2);
        self.deliveries.sort_by_key(key);
        self.deliveries.dedup_by(|next, kept| {
            let same = key(next) == key(kept);
            if same {
                kept.bytes += next.bytes;
            }
            same
        });
    }
}
