//! What waits at a switch, and for what: for the detection of deadlocks and stalls.

use super::Switch;
use crate::faults::Hold;
use crate::outcome::Stuck;
use weir_core::{Bytes, FlowId, PortId, Priority, QueueId, Time};
use weir_fc::PortQueue;

/// A queue that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StuckQueue {
    pub(crate) at: PortQueue,
    pub(crate) priority: Priority,
    pub(crate) bytes: Bytes,
    /// Without a break since: its own hold, or its head left waiting.
    pub(crate) since: Option<Time>,
    /// For the neighbour.
    pub(crate) held: bool,
    /// For this queue of its own port.
    pub(crate) behind: Option<QueueId>,
}

impl Switch {
    /// The scheme leaves the head of a queue waiting, perhaps not for the first time.
    pub(super) fn begin_wait(&mut self, o: usize, q: QueueId, now: Time) {
        self.waits.entry(PortQueue { port: PortId::from_index(o), queue: q }).or_insert(now);
    }

    /// The head of a queue leaves it: the next one has not waited yet.
    #[inline]
    pub(super) fn end_wait(&mut self, o: usize, q: QueueId) {
        if !self.waits.is_empty() {
            self.waits.remove(&PortQueue { port: PortId::from_index(o), queue: q });
        }
    }

    /// Since when the queue has waited that has waited longest, empty ones included: a packet
    /// that comes to a held queue waits for the same hold.
    pub(crate) fn oldest_wait(&self) -> Option<Time> {
        let ports = self.ports.iter().filter(|p| p.has_holds());
        let holds = ports.flat_map(|p| &p.queues).filter_map(|q| q.clock.since());
        holds.chain(self.waits.values().copied()).min()
    }

    /// A queue that waits, with the control frame that may be the reason.
    pub(crate) fn stuck(&self, q: &StuckQueue, waits_for: String) -> Stuck {
        let PortQueue { port, queue } = q.at;
        let hold = Hold { port, priority: q.priority, queue, since: q.since };
        let flows: Vec<FlowId> = match self.faults.misheard {
            true => self.queued(port.index(), queue.index()).map(|p| p.flow).collect(),
            false => Vec::new(),
        };
        let lost = self.faults.reason(&hold, &flows).filter(|_| q.held);
        Stuck {
            node: self.id,
            port,
            queue,
            priority: q.priority,
            bytes: q.bytes,
            since: q.since,
            waits_for,
            lost: lost.cloned(),
        }
    }

    /// Calls `found` for every non-empty queue that waits for the neighbour or for another queue,
    /// for deadlock detection, except those whose wait began after `latest`.
    pub(crate) fn stuck_queues(&self, latest: Time, mut found: impl FnMut(StuckQueue)) {
        for (o, port) in self.ports.iter().enumerate() {
            // only schemes that look at heads leave them waiting, and put marks into queues, which
            // have no length
            if !port.inspects_heads && (port.queue.length() == 0 || !port.has_holds()) {
                continue;
            }
            for (q, queue) in port.queues.iter().enumerate() {
                let held = port.is_held(q);
                if queue.fifo.is_empty() || !held && !port.inspects_heads {
                    continue;
                }
                let at = PortQueue { port: PortId::from_index(o), queue: QueueId(q as u32) };
                let since = if held { queue.clock.since() } else { self.waits.get(&at).copied() };
                if since.is_some_and(|t| t > latest) {
                    continue;
                }
                let Some(head) = self.queued(o, q).next() else { continue };
                let behind = self.scheme.fc.waits().and_then(|w| w.head_waits_for(at, head));
                if held || behind.is_some() {
                    found(StuckQueue {
                        at,
                        priority: queue.priority,
                        bytes: self.books.ports[o].queues[q].bytes,
                        since,
                        held,
                        behind,
                    });
                }
            }
        }
    }
}
