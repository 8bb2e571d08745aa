//! Throwing queues away: their link has failed, or the watchdog has found them stuck.

use super::Switch;
use crate::env::Env;
use crate::outcome::DropReason;
use weir_core::{PacketKind, PortId, QueueId, Time};
use weir_fc::PortQueue;

impl Switch {
    /// Drops everything in these queues of `port`.
    pub(super) fn flush(
        &mut self,
        port: PortId,
        queues: &[usize],
        now: Time,
        reason: DropReason,
        env: &mut Env<'_, '_>,
    ) {
        let empty = |s: &Self, q: usize| s.ports[port.index()].queues[q].fifo.is_empty();
        // When the scheme hears that a mark is lost, it may put another one into any queue.
        while let Some(&q) = queues.iter().find(|q| !empty(self, **q)) {
            self.flush_queue(port, q, now, reason, env);
        }
    }

    fn flush_queue(
        &mut self,
        port: PortId,
        q: usize,
        now: Time,
        reason: DropReason,
        env: &mut Env<'_, '_>,
    ) {
        let (o, queue) = (port.index(), QueueId(q as u32));
        let from = PortQueue { port, queue };
        self.end_wait(o, queue);
        self.ports[o].queues[q].waiting = false;
        while !self.ports[o].queues[q].fifo.is_empty() {
            let mut packet = self.dequeue(o, queue, now);
            let Self { books, scheme, .. } = self;
            if packet.kind == PacketKind::Mark {
                scheme.discard(books, &mut packet, Some(from), now);
                continue;
            }
            books.mmu.release(packet.ingress, packet.priority, packet.size);
            self.buffer.set(now, books.mmu.used().get());
            books.ports[o].q_out[packet.priority.index()] -= packet.bytes();
            // The scheme must hear that the packet is gone, or its counters would leak.
            scheme.discard(books, &mut packet, Some(from), now);
            self.ports[o].meter.dropped += 1;
            self.lose(now, reason, &packet, env);
        }
        self.carry_out(now, env);
    }
}
