//! The way in: from a wire to a queue.

use super::{Switch, SwitchTimer};
use crate::node::Env;
use crate::outcome::DropReason;
use weir_core::{Packet, PacketKind, PortId, QueueId, Time, packet::flags};
use weir_fc::{Admit, NodeView, Refusal};

impl Switch {
    /// A packet arrives at port `i`.
    #[inline(always)]
    pub(super) fn on_arrival(
        &mut self,
        i: usize,
        packet: Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        self.tally.hops += 1;
        if !self.perfect_wires && self.is_corrupted(i, &packet, now, env) {
            return;
        }
        if packet.kind == PacketKind::Control {
            self.on_control_frame(i, &packet, now, env);
        } else if self.latency == Time::ZERO {
            self.forward(i, packet, now, env);
        } else {
            let port = &mut self.ports[i];
            port.pipeline.push_back((now + self.latency, packet));
            let head = port.pipeline[0].0;
            self.clocks.set(i, head);
        }
    }

    /// A packet leaves the forwarding pipeline of port `i`.
    pub(super) fn on_pipeline_exit(&mut self, i: usize, now: Time, env: &mut Env<'_, '_>) {
        let port = &mut self.ports[i];
        let (_, packet) = port.pipeline.pop_front().expect("a packet is due");
        let head = port.pipeline.front().map_or(Time::NEVER, |(t, _)| *t);
        self.clocks.set(i, head);
        self.forward(i, packet, now, env);
    }

    /// Drops what the wire has spoilt: frames in flight during an outage, and bit errors.
    fn is_corrupted(
        &mut self,
        i: usize,
        packet: &Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> bool {
        let port = &self.ports[i];
        if !port.outages.is_empty() {
            let left = now.saturating_sub(port.tx.delay + port.tx.serialisation(packet.size));
            if port.outages.hit(left, now) {
                self.lose(now, DropReason::LinkDown, packet, env);
                return true;
            }
        }
        if env.shared.byte_survival_ln < 0.0
            && self.bit_errors.unit() < env.shared.frame_error(packet.size)
        {
            self.lose(now, DropReason::BitError, packet, env);
            return true;
        }
        false
    }

    #[cold]
    pub(super) fn lose(
        &mut self,
        now: Time,
        reason: DropReason,
        packet: &Packet,
        env: &mut Env<'_, '_>,
    ) {
        self.tally.drop(now, self.id, reason, packet);
        env.wires.extras.discard(packet);
    }

    fn on_control_frame(&mut self, i: usize, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        let message = env.wires.extras.messages.take(packet.extra);
        let port = PortId::from_index(i);
        let response = env.shared.config.link.response;
        if response == Time::ZERO {
            self.on_control(port, &message, now, env);
            return;
        }
        if self.responding.is_empty() {
            self.timers.arm(SwitchTimer::Response, now + response, false);
        }
        self.responding.push_back((now + response, port, message));
    }

    /// Finds the way, stores the packet and queues it.
    #[inline(always)]
    fn forward(&mut self, i: usize, mut packet: Packet, now: Time, env: &mut Env<'_, '_>) {
        self.tally.last_activity = now;
        packet.ingress = PortId::from_index(i);
        packet.local_tag = 0;
        let Some(egress) = self.route(&packet, env) else {
            self.lose(now, DropReason::NoRoute, &packet, env);
            return;
        };
        if let Err(reason) = self.admit(&packet, egress, now) {
            self.ports[egress.index()].dropped += 1;
            self.lose(now, reason, &packet, env);
            return;
        }
        let o = egress.index();
        let size = u64::from(packet.size);
        self.books.ports[o].q_out[packet.priority.index()] += size;
        let view = NodeView { now, books: &self.books };
        let queue = self.fc.arrive(&view, &mut packet, egress, &mut self.actions);
        let port = &self.ports[o];
        let idle = now > port.tx.busy_until;
        if idle && port.is_clear() && self.actions.is_empty() {
            self.pass_through(o, queue, packet, now, env);
            return;
        }
        self.buffer.set(now, self.books.mmu.used().get());
        self.enqueue(o, queue.index(), packet, now);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
        if idle {
            self.transmit_next(o, now, env);
        } else {
            self.wake(o, now);
        }
    }

    /// Sends a packet that finds its port idle and empty, without queueing it first. The
    /// scheme sees the same as if it had been queued for no time; nothing else could have
    /// been chosen.
    #[inline(always)]
    fn pass_through(
        &mut self,
        o: usize,
        queue: QueueId,
        packet: Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        self.books.mmu.release(packet.ingress, packet.priority, packet.size);
        self.books.ports[o].q_out[packet.priority.index()] -= u64::from(packet.size);
        self.ports[o].scheduler.passed(queue.index());
        self.depart(o, queue, packet, now, env);
    }

    #[inline(always)]
    fn route(&self, packet: &Packet, env: &Env<'_, '_>) -> Option<PortId> {
        if packet.has(flags::PINNED) {
            return self.pinned.get(&packet.flow).copied();
        }
        env.shared.next_hop(self.id, packet, self.epoch, self.salt)
    }

    #[inline(always)]
    fn admit(&mut self, packet: &Packet, egress: PortId, now: Time) -> Result<(), DropReason> {
        let port = &self.ports[egress.index()];
        if !port.tx.up {
            return Err(DropReason::LinkDown);
        }
        if port.storm & 1 << packet.priority.get() != 0 {
            return Err(DropReason::Watchdog);
        }
        if self.gates_admission {
            let view = NodeView { now, books: &self.books };
            match self.fc.admit(&view, packet, egress) {
                Admit::Accept => {}
                // This switch has no pipeline to stop: what the scheme would stall is refused.
                Admit::Drop | Admit::Stall => return Err(DropReason::Scheme),
            }
        }
        self.books.mmu.admit(packet.ingress, packet.priority, packet.size).map_err(|refusal| {
            match refusal {
                Refusal::BufferFull => DropReason::BufferFull,
                Refusal::HeadroomExceeded => DropReason::HeadroomExceeded,
            }
        })
    }

    /// Appends to a queue and keeps the books.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, o: usize, q: usize, packet: Packet, now: Time) {
        if q >= self.ports[o].queues.len() {
            self.grow(o, q);
        }
        let port = &mut self.ports[o];
        let book = &mut self.books.ports[o];
        let (queue, counters) = (&mut port.queues[q], &mut book.queues[q]);
        let was_empty = queue.fifo.is_empty();
        self.pool.push(&mut queue.fifo, packet, queue.clock.read(now));
        if packet.kind != PacketKind::Mark {
            counters.bytes += u64::from(packet.size);
            counters.packets += 1;
            if counters.packets == 1 && !counters.held && queue.data {
                book.active += 1;
            }
            port.queue.set(now, port.queue.length() + u64::from(packet.size));
        }
        if was_empty && !counters.held && !queue.waiting {
            port.scheduler.set_ready(q, true);
        }
    }

    #[cold]
    pub(super) fn grow(&mut self, o: usize, q: usize) {
        self.ports[o].grow(q);
        let queues = &mut self.books.ports[o].queues;
        queues.resize(self.ports[o].queues.len(), weir_fc::QueueBook::default());
        for (q, book) in queues.iter_mut().enumerate() {
            book.held = self.ports[o].is_held(q);
        }
    }
}
