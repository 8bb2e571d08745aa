//! The way out: from a queue to a wire.

use super::limit::Limits;
use super::port::Port;
use super::{NO_PORT, Switch};
use crate::node::Env;
use crate::outcome::DropReason;
use weir_core::{Packet, PacketKind, PortId, Priority, QueueId, Time};
use weir_fc::{Actions, Books, FlowControl, NodeView, PortQueue, Verdict};

/// Tells the scheme that a packet leaves, and asks what it need not hear of from now on if it is one that
/// need not hear of everything.
#[inline(always)]
pub(super) fn tell_departure(
    fc: &mut Box<dyn FlowControl>,
    books: &mut Books,
    quiet: &[Option<QueueId>; Priority::COUNT],
    packet: &mut Packet,
    from: PortQueue,
    now: Time,
    actions: &mut Actions,
) {
    fc.depart(&NodeView { now, books }, packet, from, actions);
    if quiet[packet.priority.index()].is_some() {
        books.hush(&**fc, packet.ingress, packet.priority);
    }
}

impl Switch {
    /// Lets port `o` look for something to send as soon as its wire is free.
    #[inline(always)]
    pub(super) fn wake(&mut self, o: usize, now: Time) {
        let at = self.ports[o].tx.busy_until.max(now);
        let clock = self.tx_clock(o);
        self.clocks.bring_forward(clock, at);
    }

    /// The clock of port `o` is the earliest, and its wire is free: sends the next packet, if there
    /// is one, and sets the clock for the one after it. No event is spent on a wire with nothing
    /// behind it.
    #[inline(always)]
    pub(super) fn transmit_next(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        let port = self.ports.get(o).expect(NO_PORT);
        if now < port.tx.busy_until {
            // woken before another packet of this instant found the wire idle and took it
            self.clocks.advance(port.tx.busy_until);
        } else if port.is_special() {
            self.transmit_with_care(o, now, env);
        } else if let Some(q) = port.scheduler.undisputed()
            && !(port.is_inspected() && self.is_inspected(port, q))
        {
            self.send::<true>(o, q, now, env);
        } else if port.is_inspected() {
            self.transmit_with_care(o, now, env);
        } else {
            self.transmit_in_turn(o, now, env);
        }
    }

    /// Whether the scheme looks at the heads of queue `q`, if it looks at any of the port's.
    #[inline(always)]
    fn is_inspected(&self, port: &Port, q: QueueId) -> bool {
        let priority = port.queues[q.index()].priority;
        self.unconcerned[priority.index()].is_none()
    }

    /// [`Switch::transmit_next`] where a turn has to be taken.
    #[inline(never)]
    fn transmit_in_turn(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        match self.ports[o].select(0, &self.stored) {
            Some(q) => self.send::<true>(o, q, now, env),
            None => self.clocks.advance(Time::NEVER),
        }
    }

    /// A port that has more to look at than its queues.
    #[inline(never)]
    pub(super) fn transmit_with_care(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        let port = &mut self.ports[o];
        if !port.tx.up {
            self.clocks.set(self.tx_clock(o), Time::NEVER);
            return;
        }
        if let Some(frame) = port.pop_control() {
            port.tx.send(now, &frame, env.wires);
        } else {
            self.follow_verdicts(o, now, env);
        }
        self.ports[o].forget_limits();
        self.set_clock(o, now);
    }

    /// Sets the clock of port `o` to when it can send next.
    fn set_clock(&mut self, o: usize, now: Time) {
        let next = self.next_start(o, now);
        self.clocks.set(self.tx_clock(o), next);
    }

    /// When a port can send next: rate limits may make it wait.
    #[inline(always)]
    fn next_start(&self, o: usize, now: Time) -> Time {
        let port = &self.ports[o];
        let free = port.tx.busy_until.max(now);
        if port.has_control() {
            return free;
        }
        if !port.scheduler.any_ready() {
            return Time::NEVER;
        }
        match port.limits() {
            None => free,
            Some(limits) => self.next_allowed(limits, o, free),
        }
    }

    #[cold]
    fn next_allowed(&self, limits: &Limits, o: usize, free: Time) -> Time {
        let scheduler = &self.ports[o].scheduler;
        if scheduler.any_ready_but(limits.blocked(free)) {
            return free;
        }
        let ready = (0..scheduler.len())
            .filter(|&q| scheduler.is_ready(q))
            .fold(0, |mask, q| mask | 1 << scheduler.spec(q).priority.get());
        limits.next_after(free, ready)
    }

    /// Sends the head of queue `q`. If the port's clock is `DUE`, sets it for what comes after it. (One
    /// function, so that the port is looked up once.)
    #[inline(always)]
    fn send<const DUE: bool>(&mut self, o: usize, q: QueueId, now: Time, env: &mut Env<'_, '_>) {
        let Self { ports, books, stored, held_flows, fc, actions, quiet: quiet_queues, .. } = self;
        let port = ports.get_mut(o).expect(NO_PORT);
        let book = books.ports.get_mut(o).expect(NO_PORT);
        let from = PortQueue { port: PortId(o as u16), queue: q };
        let mut packet = port.dequeue::<false>(book, stored, held_flows, from, now);
        debug_assert_ne!(packet.kind, PacketKind::Mark, "marks are where heads are inspected");
        let Packet { size, ingress, priority, .. } = *packet;
        book.q_out[priority.index()] -= u64::from(size);
        let quiet = books.mmu.release(ingress, priority, size);
        self.buffer.set(now, books.mmu.used().get());
        self.tally.last_activity = now;
        let mut told;
        if !quiet && self.unconcerned[priority.index()].is_none() {
            told = *packet;
            tell_departure(fc, books, quiet_queues, &mut told, from, now, actions);
            packet = &told;
        }
        let left = || books.ports[o].queues[q.index()].bytes;
        port.launch(packet, left, &mut self.marker, now, env.wires);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
            if DUE {
                self.set_clock(o, now);
            }
        } else if DUE {
            let next = port.scheduler.any_ready().then_some(port.tx.busy_until);
            self.clocks.advance_to(next);
        }
    }

    /// Chooses a head and follows the scheme's verdicts until one is sent or none is left.
    fn follow_verdicts(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        loop {
            let Self { ports, books, fc, stored, actions, unconcerned, .. } = self;
            let port = &mut ports[o];
            let blocked = port.limits().map_or(0, |l| l.blocked(now));
            let Some(q) = port.select(blocked, stored) else { return };
            let queue = &port.queues[q.index()];
            let head = stored.front(&queue.fifo).expect("a ready queue has a head").1;
            let verdict = if port.inspects_heads && unconcerned[queue.priority.index()].is_none() {
                let at = PortQueue { port: PortId::from_index(o), queue: q };
                fc.serve(&NodeView { now, books }, at, head, actions)
            } else {
                Verdict::Send
            };
            if self.follow(o, q, verdict, now, env) {
                return;
            }
        }
    }

    /// Does with the head of queue `q`, whose turn it was, what the scheme says; returns whether it was
    /// sent.
    #[inline(always)]
    fn follow(
        &mut self,
        o: usize,
        q: QueueId,
        verdict: Verdict,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> bool {
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
        let is_mark = |s: &Self| {
            let head = s.stored.front(&s.ports[o].queues[q.index()].fifo);
            head.is_some_and(|(_, p)| p.kind == PacketKind::Mark)
        };
        match verdict {
            Verdict::Send => {
                assert!(!is_mark(self), "marks are never sent");
                self.end_wait(o, q);
                self.send::<false>(o, q, now, env);
                return true;
            }
            Verdict::Move(to) => {
                self.end_wait(o, q);
                let visit = self.ports[o].scheduler.visit(q);
                let packet = self.dequeue(o, q, now);
                self.enqueue(o, to, &packet, now);
                // its bytes are charged to the priority when they are sent
                self.ports[o].scheduler.revisit(q, visit, u64::from(packet.size));
            }
            Verdict::Swallow => {
                assert!(is_mark(self), "only marks are swallowed");
                self.end_wait(o, q);
                self.dequeue(o, q, now);
            }
            Verdict::Wait => {
                let size = self.stored.front(&self.ports[o].queues[q.index()].fifo);
                let size = size.map_or(0, |(_, p)| u64::from(p.size));
                let port = &mut self.ports[o];
                port.queues[q.index()].waiting = true;
                port.scheduler.set_ready(q.index(), false);
                let visit = port.scheduler.visit(q);
                port.scheduler.revisit(q, visit, size);
                self.begin_wait(o, q, now);
            }
        }
        false
    }

    /// The scheme has looked at a packet that was alone to be queued, and it does not simply go: does
    /// what the scheme says, as if it had looked after it was queued.
    #[cold]
    pub(super) fn follow_first(
        &mut self,
        at: PortQueue,
        verdict: Verdict,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let o = at.port.index();
        let turn = self.ports[o].select(0, &self.stored);
        assert_eq!(turn, Some(at.queue), "nothing else could go");
        if !self.follow(o, at.queue, verdict, now, env) {
            self.follow_verdicts(o, now, env);
        }
        self.set_clock(o, now);
    }

    /// Appends a packet or a mark to a queue and keeps the books.
    pub(super) fn enqueue(&mut self, o: usize, q: QueueId, packet: &Packet, now: Time) {
        let Self { ports, books, stored, .. } = self;
        ports[o].enqueue::<true>(&mut books.ports[o], stored, q, packet, now);
    }

    /// Takes the head of a queue out and keeps the books of the queue.
    fn dequeue(&mut self, o: usize, q: QueueId, now: Time) -> Packet {
        let Self { ports, books, stored, held_flows, .. } = self;
        let from = PortQueue { port: PortId::from_index(o), queue: q };
        *ports[o].dequeue::<true>(&mut books.ports[o], stored, held_flows, from, now)
    }

    /// Throws these queues away.
    pub(super) fn flush(
        &mut self,
        port: PortId,
        queues: &[usize],
        now: Time,
        reason: DropReason,
        env: &mut Env<'_, '_>,
    ) {
        let empty = |s: &Self, q: usize| s.ports[port.index()].queues[q].fifo.is_empty();
        // a mark that is lost may make the scheme put another one
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
        let o = port.index();
        self.end_wait(o, QueueId(q as u32));
        self.ports[o].queues[q].waiting = false;
        while !self.ports[o].queues[q].fifo.is_empty() {
            let mut packet = self.dequeue(o, QueueId(q as u32), now);
            let from = PortQueue { port, queue: QueueId(q as u32) };
            if packet.kind == PacketKind::Mark {
                let view = NodeView { now, books: &self.books };
                self.fc.mark_lost(&view, from, &packet, &mut self.actions);
                continue;
            }
            self.books.mmu.release(packet.ingress, packet.priority, packet.size);
            self.buffer.set(now, self.books.mmu.used().get());
            self.books.ports[o].q_out[packet.priority.index()] -= u64::from(packet.size);
            // The scheme must hear that the packet is gone, or its counters would leak.
            if self.unconcerned[packet.priority.index()].is_none() {
                let Self { fc, books, quiet, actions, .. } = self;
                tell_departure(fc, books, quiet, &mut packet, from, now, actions);
            }
            self.ports[o].dropped += 1;
            self.lose(now, reason, &packet, env);
        }
        self.carry_out(now, env);
    }
}
