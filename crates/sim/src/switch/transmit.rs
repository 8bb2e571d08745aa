//! The way out: from a queue to a wire.

use super::Switch;
use crate::node::Env;
use crate::outcome::DropReason;
use weir_cc::IntHop;
use weir_core::{Packet, PacketKind, PortId, QueueId, Time, packet::flags};
use weir_fc::{NodeView, PortQueue, Verdict};

impl Switch {
    /// Lets port `o` look for something to send as soon as its wire is free.
    #[inline]
    pub(super) fn wake(&mut self, o: usize, now: Time) {
        let at = self.ports[o].tx.busy_until.max(now);
        let clock = self.tx_clock(o);
        if self.clocks.get(clock) > at {
            self.clocks.set(clock, at);
        }
    }

    /// The wire of port `o` is free: sends the next packet, if there is one, and sets the
    /// clock for the one after it. No event is spent on a wire with nothing behind it.
    #[inline]
    pub(super) fn transmit_next(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        if !self.ports[o].tx.up {
            self.clocks.set(self.tx_clock(o), Time::NEVER);
            return;
        }
        if let Some(frame) = self.ports[o].control.pop_front() {
            self.ports[o].tx.send(now, frame, env.wires);
        } else {
            self.send_from_queue(o, now, env);
        }
        let port = &self.ports[o];
        let next = if !port.control.is_empty() {
            port.tx.busy_until.max(now)
        } else if !port.scheduler.any_ready() {
            Time::NEVER
        } else {
            self.next_start(o, now)
        };
        self.clocks.set(self.tx_clock(o), next);
    }

    /// When a port with ready queues can send next: rate limits may make it wait.
    #[inline]
    fn next_start(&self, o: usize, now: Time) -> Time {
        let port = &self.ports[o];
        let free = port.tx.busy_until.max(now);
        match &port.limits {
            None => free,
            Some(limits) => {
                if port.scheduler.any_ready_but(limits.blocked(free)) {
                    free
                } else {
                    limits.next_after(free, self.ready_priorities(o))
                }
            }
        }
    }

    #[cold]
    fn ready_priorities(&self, o: usize) -> u8 {
        let scheduler = &self.ports[o].scheduler;
        (0..scheduler.len())
            .filter(|&q| scheduler.is_ready(q))
            .fold(0, |mask, q| mask | 1 << scheduler.spec(q).priority.get())
    }

    /// Chooses a head and follows the scheme's verdicts until one is sent or none is left.
    #[inline]
    fn send_from_queue(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        loop {
            let port = &mut self.ports[o];
            let blocked = port.limits.as_ref().map_or(0, |l| l.blocked(now));
            let (pool, queues) = (&self.pool, &port.queues);
            let size =
                |q: QueueId| pool.front(&queues[q.index()].fifo).map_or(0, |p| u64::from(p.size));
            let Some(q) = port.scheduler.select(blocked, size) else { return };
            let verdict = if self.ports[o].inspects_heads {
                self.inspect(o, q, now, env)
            } else {
                Verdict::Send
            };
            match verdict {
                Verdict::Send => {
                    let packet = self.dequeue(o, q.index(), now);
                    if packet.kind != PacketKind::Mark {
                        self.release(o, &packet, now);
                        self.depart(o, q, packet, now, env);
                        return;
                    }
                }
                Verdict::Move(to) => {
                    let packet = self.dequeue(o, q.index(), now);
                    self.enqueue(o, to.index(), packet, now);
                }
                Verdict::Swallow => {
                    let packet = self.dequeue(o, q.index(), now);
                    assert_eq!(packet.kind, PacketKind::Mark, "only marks are swallowed");
                }
                Verdict::Wait => {
                    self.ports[o].queues[q.index()].waiting = true;
                    self.ports[o].scheduler.set_ready(q.index(), false);
                }
            }
        }
    }

    fn inspect(&mut self, o: usize, q: QueueId, now: Time, env: &mut Env<'_, '_>) -> Verdict {
        let head = *self
            .pool
            .front(&self.ports[o].queues[q.index()].fifo)
            .expect("a ready queue has a head");
        let view = NodeView { now, books: &self.books };
        let at = PortQueue { port: PortId::from_index(o), queue: q };
        let verdict = self.fc.serve(&view, at, &head, &mut self.actions);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
        verdict
    }

    /// Takes the head of a queue out and keeps the books of the queue.
    #[inline(always)]
    fn dequeue(&mut self, o: usize, q: usize, now: Time) -> Packet {
        let port = &mut self.ports[o];
        let book = &mut self.books.ports[o];
        let (queue, counters) = (&mut port.queues[q], &mut book.queues[q]);
        let (packet, stamp) = self.pool.pop(&mut queue.fifo).expect("a ready queue has a head");
        if packet.kind != PacketKind::Mark {
            counters.bytes -= u64::from(packet.size);
            counters.packets -= 1;
            if counters.packets == 0 && !counters.held && queue.data {
                book.active -= 1;
            }
            port.queue.set(now, port.queue.length() - u64::from(packet.size));
            let clock = queue.clock.read(now);
            if stamp != clock && packet.kind == PacketKind::Data {
                let (port, queue) = (PortId::from_index(o), QueueId(q as u32));
                self.held_flows.leave(packet.flow, port, queue, stamp, clock);
            }
        }
        if queue.fifo.is_empty() {
            port.scheduler.emptied(q);
        }
        packet
    }

    /// Marks a packet whose memory has been released and puts it on the wire.
    #[inline(always)]
    pub(super) fn depart(
        &mut self,
        o: usize,
        q: QueueId,
        mut packet: Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        self.tally.last_activity = now;
        let port_id = PortId::from_index(o);
        let view = NodeView { now, books: &self.books };
        let from = PortQueue { port: port_id, queue: q };
        self.fc.depart(&view, &mut packet, from, &mut self.actions);
        if packet.kind == PacketKind::Data {
            self.mark(o, q.index(), &mut packet);
            if packet.extra != Packet::NO_EXTRA {
                let port = &self.ports[o];
                env.wires.extras.telemetry.get_mut(packet.extra).push(IntHop {
                    time: now,
                    tx_bytes: port.tx.wire_bytes,
                    queue: port.queue.length(),
                    rate: port.tx.rate,
                });
            }
        }
        let port = &mut self.ports[o];
        if let Some(limits) = &mut port.limits {
            limits.started(now, packet.priority, u64::from(packet.size));
        }
        port.tx.send(now, packet, env.wires);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
    }

    #[inline(always)]
    fn release(&mut self, o: usize, packet: &Packet, now: Time) {
        self.books.mmu.release(packet.ingress, packet.priority, packet.size);
        self.buffer.set(now, self.books.mmu.used().get());
        self.books.ports[o].q_out[packet.priority.index()] -= u64::from(packet.size);
    }

    /// ECN: by the bytes left in the queue.
    #[inline]
    fn mark(&mut self, o: usize, q: usize, packet: &mut Packet) {
        let Some(ecn) = self.ecn else { return };
        let left = self.books.ports[o].queues.get(q).map_or(0, |b| b.bytes);
        let (kmin, kmax) = (ecn.kmin.get(), ecn.kmax.get());
        let hit = left > kmax
            || (left > kmin
                && self.marks.unit()
                    < ecn.pmax.as_f64() * (left - kmin) as f64 / (kmax - kmin) as f64);
        if hit {
            packet.flags |= flags::CE;
            self.ports[o].marked += 1;
        }
    }

    /// Throws a queue away.
    pub(super) fn flush(
        &mut self,
        port: PortId,
        q: usize,
        now: Time,
        reason: DropReason,
        env: &mut Env<'_, '_>,
    ) {
        let o = port.index();
        while !self.ports[o].queues[q].fifo.is_empty() {
            let mut packet = self.dequeue(o, q, now);
            if packet.kind == PacketKind::Mark {
                continue;
            }
            self.release(o, &packet, now);
            // The scheme must hear that the packet is gone, or its counters would leak.
            let view = NodeView { now, books: &self.books };
            let from = PortQueue { port, queue: QueueId(q as u32) };
            self.fc.depart(&view, &mut packet, from, &mut self.actions);
            self.ports[o].dropped += 1;
            self.lose(now, reason, &packet, env);
        }
        self.carry_out(now, env);
    }
}
