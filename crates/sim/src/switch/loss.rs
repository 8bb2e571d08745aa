//! Packets that are lost at a switch: on arrival, or with a queue that is thrown away because its
//! link has failed or the watchdog has found it stuck.

use super::Switch;
use crate::env::Env;
use crate::outcome::{DropReason, Fate};
use weir_core::{Packet, PacketKind, PortId, QueueId, Time};
use weir_fc::{PortQueue, Refusal};

impl Switch {
    /// Drops a packet that has no route.
    #[cold]
    pub(super) fn drop_unroutable(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        self.tally.last_activity = now;
        self.lose(now, DropReason::NoRoute, packet, env);
        self.tell_refused(packet, now, env);
    }

    /// Drops a packet that may not be stored for `egress`.
    #[cold]
    pub(super) fn refuse(
        &mut self,
        egress: PortId,
        reason: DropReason,
        packet: &Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        self.ports[egress.index()].meter.dropped += 1;
        self.lose(now, reason, packet, env);
        self.tell_refused(packet, now, env);
    }

    /// Tells the scheme of a packet that was dropped as it arrived.
    fn tell_refused(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        let Self { scheme, books, .. } = self;
        scheme.discard(books, &mut packet.clone(), None, now);
        self.carry_out(now, env);
    }

    /// Counts a dropped packet and frees what it carried in the side pool.
    #[cold]
    pub(super) fn lose(
        &mut self,
        now: Time,
        reason: DropReason,
        packet: &Packet,
        env: &mut Env<'_, '_>,
    ) {
        if packet.kind == PacketKind::Control && reason == DropReason::BitError {
            let message = &env.wires.extras.messages.get(packet.extra).message;
            self.faults.note(now, packet.ingress, Fate::Damaged, message);
        }
        self.tally.drop(now, packet);
        self.probes.dropped(now, reason, packet);
        env.wires.extras.discard(packet);
    }

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

impl From<Refusal> for DropReason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::BufferFull => Self::BufferFull,
            Refusal::HeadroomExceeded => Self::HeadroomExceeded,
        }
    }
}
