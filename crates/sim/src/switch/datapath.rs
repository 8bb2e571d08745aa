//! The data path of a switch: how a packet gets from a wire to a queue and from a queue to a wire.
//!
//! ```text
//! receive ─► pipeline ─► forward: choose ─► admit ─► FlowControl::arrive ─► queue ─► offer
//!
//! transmit: control frame, or select ─► FlowControl::serve ─► send: release ─► depart ─► wire
//! ```
//!
//! This is the plain path. [`shortcuts`](super::shortcuts) spare some of these steps for most
//! packets. Where none applies, and in tests with shortcuts off, packets come this way.

use super::{NO_PORT, Path, Switch};
use crate::control::Responder;
use crate::env::Env;
use crate::limit::Limits;
use crate::link::damage;
use crate::outcome::DropReason;
use crate::probe::Hears;
use weir_core::{Bytes, Packet, PacketKind, PortId, PrioritySet, QueueId, Time, packet::flags};
use weir_fc::{PortQueue, Verdict};
use weir_net::{Forwarding, NextHops};

/// The path without shortcuts.
pub(super) struct Plain;

impl Path for Plain {
    fn forward(
        switch: &mut Switch,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        switch.forward(packet, now, routes, env);
    }

    fn transmit(switch: &mut Switch, o: usize, now: Time, env: &mut Env<'_, '_>) {
        switch.transmit(o, now, env);
    }
}

/// The way in.
impl Switch {
    /// A packet comes in from a wire. If it is damaged, it is dropped; control frames go to the
    /// scheme; other packets are forwarded when the forwarding latency has passed.
    #[inline(never)]
    pub(super) fn receive<P: Path>(
        &mut self,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        if P::PROBED {
            self.probes.arrived(now, packet.ingress, packet, &env.wires.extras);
        }
        let port = &self.ports[packet.ingress.index()];
        let survival = env.shared.byte_survival_ln;
        let errors = &mut self.bit_errors;
        if let Some(reason) = damage(packet, &port.tx, &port.outages, errors, survival, now) {
            self.lose(now, reason, packet, env);
        } else if packet.kind == PacketKind::Control {
            self.on_control_frame(packet.ingress, packet, now, env);
        } else if self.latency == Time::ZERO {
            P::forward(self, packet, now, routes, env);
        } else {
            self.pipeline.push_back((now + self.latency, *packet));
            self.clocks.set(0, self.pipeline[0].0);
        }
    }

    /// The first packet in the forwarding pipeline has been there for the forwarding latency.
    pub(super) fn leave_pipeline<P: Path>(
        &mut self,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        let (_, mut packet) = self.pipeline.pop_front().expect("a packet is due");
        let head = self.pipeline.front().map_or(Time::NEVER, |(t, _)| *t);
        self.clocks.set(0, head);
        P::forward(self, &mut packet, now, routes, env);
    }

    /// Forwards a packet: finds its egress port and stores it there.
    pub(super) fn forward(
        &mut self,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        let Some(egress) = self.choose(packet, now, routes) else {
            self.drop_unroutable(packet, now, env);
            return;
        };
        self.tally.last_activity = now;
        self.store(packet, egress, now, env);
    }

    /// The egress port of a packet, by route and, if there are several, by the balancer.
    #[inline]
    pub(super) fn choose(
        &mut self,
        packet: &Packet,
        now: Time,
        routes: &Forwarding<'_>,
    ) -> Option<PortId> {
        if self.balancer.is_none() || packet.has(flags::PINNED) {
            return self.route(packet, routes);
        }
        self.choose_balanced(packet, now, routes)
    }

    #[inline(never)]
    fn choose_balanced(
        &mut self,
        packet: &Packet,
        now: Time,
        routes: &Forwarding<'_>,
    ) -> Option<PortId> {
        let Self { balancer, books, .. } = self;
        match routes.next_hops(packet.dst)? {
            NextHops::One(port) => Some(port),
            NextHops::Any(group, ports) => {
                let balancer = balancer.as_mut().expect("asked before");
                Some(balancer.choose(packet, (group, ports), &books.ports, now))
            }
        }
    }

    /// The egress port of a packet by its path or by its flow.
    #[inline(always)]
    pub(super) fn route(&self, packet: &Packet, routes: &Forwarding<'_>) -> Option<PortId> {
        if packet.has(flags::PINNED) {
            return self.pinned.get(&packet.flow).copied();
        }
        routes.next_hop(packet.dst, || packet.flow.hash64())
    }

    /// Stores a packet and queues it where the scheme says, if link, watchdog, scheme and memory
    /// take it.
    #[inline(never)]
    pub(super) fn store(
        &mut self,
        packet: &mut Packet,
        egress: PortId,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        if let Err(reason) = self.admit(packet, egress) {
            self.refuse(egress, reason, packet, now, env);
            return;
        }
        let queue = self.scheme.arrive(&mut self.books, packet, egress, now);
        let at = PortQueue { port: egress, queue };
        if self.acts_on_entry {
            self.act_on_entry(packet, at, now);
        }
        self.queue(packet, at, now, env);
    }

    /// Marks a packet as it joins its queue, if that says so, and tells probes of it.
    #[inline(never)]
    pub(super) fn act_on_entry(&mut self, packet: &mut Packet, at: PortQueue, now: Time) {
        if self.marks_on_entry {
            self.mark_on_entry(packet, at);
        }
        self.probes.queued(now, at, packet);
    }

    fn mark_on_entry(&mut self, packet: &mut Packet, at: PortQueue) {
        let Self { ports, books, marker, .. } = self;
        let port = &mut ports[at.port.index()];
        // a queue that has yet to be made holds nothing
        let found = books.ports[at.port.index()].queues.get(at.queue.index());
        let found = found.map_or(Bytes::ZERO, |q| q.bytes);
        if packet.kind == PacketKind::Data
            && marker.marks(port.ecn.as_ref(), found)
            && marker.may_mark(packet)
        {
            port.meter.marked += 1;
            packet.flags |= flags::CE;
        }
    }

    /// Takes memory for a packet, or says why not.
    #[inline(always)]
    pub(super) fn admit(&mut self, packet: &Packet, egress: PortId) -> Result<(), DropReason> {
        let Self { ports, books, .. } = self;
        let (port, book) = (&ports[egress.index()], &mut books.ports[egress.index()]);
        let queued = &mut book.q_out[packet.priority.index()];
        port.accepts(packet, *queued, &books.mmu)?;
        books.mmu.admit(packet.ingress, packet.priority, packet.size)?;
        *queued += packet.bytes();
        Ok(())
    }

    /// Appends a stored packet to its queue, carries out what the scheme asked for when it was
    /// told of the packet, and offers it to the transmitter.
    #[inline(always)]
    pub(super) fn queue(
        &mut self,
        packet: &Packet,
        at: PortQueue,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        self.buffer.set(now, self.books.mmu.used().get());
        self.append(packet, at, now, env);
    }

    /// [`Switch::queue`] for a packet whose memory is in the buffer's statistics already.
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        packet: &Packet,
        at: PortQueue,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let Self { ports, books, stored, .. } = self;
        let o = at.port.index();
        let ready = ports[o].enqueue::<false>(&mut books.ports[o], stored, at.queue, packet, now);
        self.carry_out(now, env);
        if ready {
            self.offer(o, self.ports[o].tx.busy_until, now, env);
        }
    }

    /// A queue of port `o` could send now and could not before. An idle wire takes its head at
    /// once; a wire that is busy until `free` takes the next packet then, after all arrivals of
    /// that instant.
    #[inline(always)]
    pub(super) fn offer(&mut self, o: usize, free: Time, now: Time, env: &mut Env<'_, '_>) {
        if now > free {
            self.transmit(o, now, env);
        } else {
            self.clocks.bring_forward(self.tx_clock(o), free);
        }
    }
}

/// The way out.
impl Switch {
    /// Lets port `o` look for something to send as soon as its wire is free.
    #[inline(always)]
    pub(super) fn wake(&mut self, o: usize, now: Time) {
        let at = self.ports[o].tx.busy_until.max(now);
        let clock = self.tx_clock(o);
        self.clocks.bring_forward(clock, at);
    }

    /// Sends what comes next at port `o`, if its wire is free, and sets its clock to when it can
    /// send again. No event is spent on a wire with nothing behind it.
    #[inline(never)]
    pub(super) fn transmit(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        let port = &mut self.ports[o];
        // It may be busy: a packet of this instant found the wire idle after the port was woken.
        if port.tx.up && now >= port.tx.busy_until {
            if let Some(frame) = port.pop_control() {
                self.probes.sends(now, o, &frame, &env.wires.extras);
                port.tx.send(now, &frame, env.wires);
                port.meter.late.note(now, &port.tx, self.tally.last_activity);
            } else if port.takes_data(now) {
                self.transmit_data(o, now, env);
            }
        }
        self.set_clock(o, now);
    }

    /// Chooses a queue and follows the scheme's verdict on its head until one is sent or none is
    /// left.
    pub(super) fn transmit_data(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        loop {
            let Self { ports, books, scheme, stored, .. } = self;
            let port = &mut ports[o];
            let blocked = port.limits().map_or(PrioritySet::EMPTY, |l| l.blocked(now));
            let Some(q) = port.select(blocked, stored) else { return };
            if !port.inspects_heads {
                // no verdict is asked for: there are no marks and no heads left waiting
                self.carry_out(now, env);
                self.send::<true>(o, q, now, env);
                self.carry_out(now, env);
                return;
            }
            let queue = &port.queues[q.index()];
            let head = stored.front(&queue.fifo).expect("a ready queue has a head").1;
            let at = PortQueue { port: PortId::from_index(o), queue: q };
            let verdict = scheme.serve(books, at, queue.priority, head, now);
            if self.follow(o, q, verdict, now, env) {
                return;
            }
        }
    }

    /// Does with the head of queue `q`, whose turn it was, what the scheme says; returns whether
    /// it was sent.
    #[inline(always)]
    pub(super) fn follow(
        &mut self,
        o: usize,
        q: QueueId,
        verdict: Verdict,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> bool {
        self.carry_out(now, env);
        let is_mark = |s: &Self| {
            let head = s.stored.front(&s.ports[o].queues[q.index()].fifo);
            head.is_some_and(|(_, p)| p.kind == PacketKind::Mark)
        };
        match verdict {
            Verdict::Send => {
                assert!(!is_mark(self), "marks are never sent");
                self.end_wait(o, q);
                self.send::<true>(o, q, now, env);
                self.carry_out(now, env);
                return true;
            }
            Verdict::Move(to) => {
                self.end_wait(o, q);
                let visit = self.ports[o].scheduler.visit(q);
                let packet = self.dequeue(o, q, now);
                self.enqueue(o, to, &packet, now);
                let from = PortQueue { port: PortId::from_index(o), queue: q };
                self.probes.moved(now, from, to, &packet);
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

    /// Sends the head of queue `q`: takes it out of its queue, gives its memory back, tells the
    /// scheme, and starts it on the wire. What the scheme asks for is left to be carried out.
    /// Returns when the port could send the next packet, holds and limits aside. (It is known
    /// here without another look-up of the port.) With `PROBED`, a probe may hear of it.
    #[inline(always)]
    pub(super) fn send<const PROBED: bool>(
        &mut self,
        o: usize,
        q: QueueId,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> Option<Time> {
        let Self { ports, books, stored, probes, scheme, .. } = self;
        let port = ports.get_mut(o).expect(NO_PORT);
        let book = books.ports.get_mut(o).expect(NO_PORT);
        let from = PortQueue { port: PortId(o as u16), queue: q };
        let mut packet = port.dequeue::<false>(book, stored, &mut probes.held_flows, from, now);
        debug_assert_ne!(packet.kind, PacketKind::Mark, "marks are where heads are inspected");
        let Packet { size, ingress, priority, .. } = *packet;
        book.q_out[priority.index()] -= Bytes::from(size);
        let quiet = books.mmu.release(ingress, priority, size);
        self.buffer.set(now, books.mmu.used().get());
        self.tally.last_activity = now;
        let mut told;
        if !quiet && !scheme.never_hears(priority) {
            told = *packet;
            scheme.depart(books, &mut told, from, now);
            packet = &told;
        }
        let left = || books.ports[o].queues[q.index()].bytes;
        let flags = port.start(packet, left, &mut self.marker, now, env.wires);
        if PROBED && probes.hear(Hears::SENT) {
            probes.sent(now, o, &Packet { flags, ..*packet });
        }
        port.scheduler.any_ready().then_some(port.tx.busy_until)
    }

    /// Sets the clock of port `o` to when it can send next.
    pub(super) fn set_clock(&mut self, o: usize, now: Time) {
        let next = self.next_start(o, now);
        self.clocks.set(self.tx_clock(o), next);
    }

    /// When a port can send next: rate limits may make it wait.
    #[inline(always)]
    fn next_start(&self, o: usize, now: Time) -> Time {
        let port = &self.ports[o];
        let free = port.tx.busy_until.max(now);
        if !port.tx.up {
            Time::NEVER
        } else if port.has_control() {
            free
        } else if !port.scheduler.any_ready() {
            Time::NEVER
        } else {
            let free = free.max(port.data_from());
            port.limits().map_or(free, |limits| self.next_allowed(limits, o, free))
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
            .map(|q| scheduler.spec(q).priority)
            .collect();
        limits.next_after(free, ready)
    }

    /// Appends a packet or a mark to a queue and keeps the books.
    pub(super) fn enqueue(&mut self, o: usize, q: QueueId, packet: &Packet, now: Time) {
        let Self { ports, books, stored, .. } = self;
        ports[o].enqueue::<true>(&mut books.ports[o], stored, q, packet, now);
    }

    /// Takes the head of a queue out and keeps the books of the queue.
    pub(super) fn dequeue(&mut self, o: usize, q: QueueId, now: Time) -> Packet {
        let Self { ports, books, stored, probes, .. } = self;
        let from = PortQueue { port: PortId::from_index(o), queue: q };
        let held = &mut probes.held_flows;
        *ports[o].dequeue::<true>(&mut books.ports[o], stored, held, from, now)
    }
}
