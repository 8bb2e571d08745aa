//! Shortcuts: steps of the plain path that are spared because their result is known beforehand.
//!
//! The plain path is [`datapath`](super::datapath); every packet could take it, and with
//! [`Config::shortcuts`](crate::Config::shortcuts) off every packet does. Results are the same,
//! byte for byte, but for the number of events (`crates/sim/tests/schemes/shortcuts.rs`). Where a
//! [probe](crate::probe) hears of packets they are off, but for [`Switch::send_at_once`], which
//! tells it. The entries are [`Shortcuts`] and [`Straight`]: where no shortcut applies they end in
//! the plain path.
//!
//! A port is **idle** for a packet if its wire is free, or becomes free at this very instant and
//! its transmitter is the next to act ([`Switch::is_idle`]). An ingress is **quiet** while its
//! bytes are in the range in which the scheme needs no notification.
//!
//! * [`Straight`]. *When:* no outages, no bit errors, no forwarding latency. *Spares:* the check
//!   for damage, the pipeline. *Same result:* nothing is damaged and nothing waits; a control frame
//!   is recognised by having no route.
//! * *bypass* in [`Switch::forward_shortcut`]. *When:* egress idle and [open](Port::is_open_for),
//!   ingress quiet with and without the packet. *Spares:* memory books, scheme, queue, clock. *Same
//!   result:* the scheduler could choose no other packet; books and queue would be as before at the
//!   same instant, and only the buffer's peak counts the packet; the scheme needs no notification.
//! * [`Switch::queue_quietly`]. *When:* nothing but memory decides on admission, ingress quiet with
//!   the packet. *Spares:* `arrive`. *Same result:* the scheme has named the queue and needs no
//!   notification.
//! * [`Switch::pass`]. *When:* egress idle, nothing queued or held there; the scheme says that the
//!   packet passes. *Spares:* memory books, `arrive`, `serve`, `depart`, queue, clock. *Same
//!   result:* the scheme is as after these calls, which would request nothing; the scheduler could
//!   choose no other packet.
//! * [`Switch::store_and_send`]. *When:* egress idle, the scheme requested nothing in `arrive` (and
//!   in `serve`, which returned `Send`), nothing else can be sent. *Spares:* queue, clock. *Same
//!   result:* the packet would be first in its queue and chosen at this instant; `depart` sees the
//!   same books.
//! * [`Switch::transmit_shortcut`]. *When:* no control frames, no limits, link up; the next head is
//!   not inspected, or the scheme sends it and requests nothing. *Spares:* the loop of choice and
//!   verdict. *Same result:* the plain path would choose the same queue and send its head.
//! * [`Hooks::arrive`], [`Hooks::serve`], [`Hooks::depart`]. *When:* the scheme needs no
//!   notification of any packet of the priority. *Spares:* these calls. *Same result:* the scheme
//!   would name the same queue and request nothing.
//! * Quiet departure in [`Switch::send`]. *When:* ingress quiet with and without the packet.
//!   *Spares:* `depart`. *Same result:* the scheme needs no notification.
//!
//! [`Hooks::arrive`]: super::scheme::Hooks::arrive
//! [`Hooks::serve`]: super::scheme::Hooks::serve
//! [`Hooks::depart`]: super::scheme::Hooks::depart

use super::obstacles::Obstacles;
use super::port::{Port, Queue};
use super::{NO_PORT, Path, Switch};
use crate::control::Responder;
use crate::env::Env;
use weir_core::{Bytes, Packet, PacketKind, PortId, PrioritySet, QueueId, Time};
use weir_fc::{PortBook, PortQueue, Verdict};
use weir_net::Forwarding;

/// The plain path with shortcuts; `STRAIGHT` in a switch without forwarding latency whose wires
/// never damage a packet, `TELEMETRY` if packets may carry some.
pub(super) struct Shortcuts<const STRAIGHT: bool = false, const TELEMETRY: bool = true>;

/// See [`Shortcuts`].
pub(super) type Straight<const TELEMETRY: bool> = Shortcuts<true, TELEMETRY>;

impl<const STRAIGHT: bool, const TELEMETRY: bool> Path for Shortcuts<STRAIGHT, TELEMETRY> {
    const PIPELINE: bool = !STRAIGHT;
    const PROBED: bool = false;
    const TELEMETRY: bool = TELEMETRY;

    #[inline(always)]
    fn receive(
        switch: &mut Switch,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        if STRAIGHT {
            switch.forward_shortcut(packet, now, routes, env);
        } else {
            switch.receive::<Self>(packet, now, routes, env);
        }
    }

    #[inline(always)]
    fn forward(
        switch: &mut Switch,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        switch.forward_shortcut(packet, now, routes, env);
    }

    #[inline(always)]
    fn transmit(switch: &mut Switch, o: usize, now: Time, env: &mut Env<'_, '_>) {
        switch.transmit_shortcut(o, now, env);
    }
}

impl Switch {
    /// [`Switch::forward`] with shortcuts.
    #[inline(always)]
    fn forward_shortcut(
        &mut self,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        let Some(egress) = self.route(packet, routes) else {
            self.not_forwarded(packet, now, env);
            return;
        };
        self.tally.last_activity = now;
        let idle = self.is_idle(egress, now);
        let Self { ports, books, scheme, marker, .. } = self;
        let port = ports.get_mut(egress.index()).expect(NO_PORT);
        if idle
            && port.is_open_for(&books.ports[egress.index()], scheme.quiet_queue(packet.priority))
            && books.mmu.transit_quietly(packet.ingress, packet.priority, packet.size)
        {
            port.start(packet, || Bytes::ZERO, marker, now, env.wires);
            return;
        }
        if let Some(queue) = scheme.quiet_queue(packet.priority)
            && !port.is_guarded()
            && self.queue_quietly(packet, PortQueue { port: egress, queue }, now, env)
        {
            return;
        }
        if idle {
            self.store_and_send(packet, egress, now, env);
        } else {
            self.store(packet, egress, now, env);
        }
    }

    /// A packet without a route: a control frame, which is for this switch itself, or lost.
    #[cold]
    fn not_forwarded(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        if packet.kind == PacketKind::Control {
            self.on_control_frame(packet.ingress, packet, now, env);
        } else {
            self.drop_unroutable(packet, now, env);
        }
    }

    /// Whether the wire of `egress` could take a packet now, and nothing that happens at this
    /// instant comes before it does.
    #[inline(always)]
    fn is_idle(&self, egress: PortId, now: Time) -> bool {
        let free = self.ports.get(egress.index()).expect(NO_PORT).tx.busy_until;
        now > free || now == free && self.is_next(egress, now)
    }

    /// Whether the transmitter of `egress`, if it is due now, acts before everything else that is
    /// due now.
    #[inline(never)]
    fn is_next(&self, egress: PortId, now: Time) -> bool {
        self.inbox.next() > now && self.clocks.would_win(self.tx_clock(egress.index()), now)
    }

    /// Stores a packet of a quiet ingress and queues it where the scheme has said beforehand,
    /// without a word to the scheme. Returns whether it did.
    #[inline(always)]
    fn queue_quietly(
        &mut self,
        packet: &Packet,
        at: PortQueue,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> bool {
        let Self { ports, books, stored, .. } = self;
        if !books.mmu.admit_quietly(packet.ingress, packet.priority, packet.size) {
            return false;
        }
        let (o, priority) = (at.port.index(), packet.priority);
        self.buffer.set(now, books.mmu.used().get());
        let port = ports.get_mut(o).expect(NO_PORT);
        let book = books.ports.get_mut(o).expect(NO_PORT);
        book.q_out[priority.index()] += packet.bytes();
        let free = port.tx.busy_until;
        if port.enqueue::<false>(book, stored, at.queue, packet, now) {
            self.offer(o, free, now, env);
        }
        true
    }

    /// [`Switch::store`] for an idle egress: sends the packet without queueing it if nothing else
    /// could be sent and the scheme asks for nothing.
    #[inline(never)]
    fn store_and_send(
        &mut self,
        packet: &mut Packet,
        egress: PortId,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        if self.pass(packet, egress, now, env) {
            return;
        }
        if let Err(reason) = self.admit(packet, egress) {
            self.refuse(egress, reason, packet, now, env);
            return;
        }
        let queue = self.scheme.arrive(&mut self.books, packet, egress, now);
        let at = PortQueue { port: egress, queue };
        let port = &self.ports[egress.index()];
        if !self.scheme.actions.is_empty() {
            self.queue(packet, at, now, env);
        } else if port.is_clear_for(queue) {
            self.send_unqueued(packet, at, now, env);
        } else if port.inspects_next(queue) {
            match self.serve_unqueued(packet, at, now) {
                Verdict::Send if self.scheme.actions.is_empty() => {
                    self.send_unqueued(packet, at, now, env);
                }
                verdict => self.queue_after_verdict(packet, at, verdict, now, env),
            }
        } else {
            self.queue(packet, at, now, env);
        }
    }

    /// Sends a packet that leaves no state behind, as the scheme says, by a vacant egress. Returns
    /// whether it was sent.
    #[inline(always)]
    fn pass(
        &mut self,
        packet: &mut Packet,
        egress: PortId,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> bool {
        let Self { ports, books, scheme, marker, .. } = self;
        let port = ports.get_mut(egress.index()).expect(NO_PORT);
        if !port.is_vacant() || !books.mmu.transit(packet.ingress, packet.priority, packet.size) {
            return false;
        }
        let Some(queue) = scheme.pass(books, packet, egress, now) else { return false };
        port.scheduler.passed(queue.index());
        port.start(packet, || Bytes::ZERO, marker, now, env.wires);
        true
    }

    /// Asks the scheme what to do with a packet as if it were queued, with the books as they would
    /// be then.
    #[inline(always)]
    fn serve_unqueued(&mut self, packet: &Packet, at: PortQueue, now: Time) -> Verdict {
        let Self { ports, books, scheme, .. } = self;
        let (o, q) = (at.port.index(), at.queue.index());
        let Queue { data, priority, .. } = ports[o].queues[q];
        let book = &mut books.ports[o];
        book.queues[q].bytes += packet.bytes();
        book.queues[q].packets += 1;
        book.active += u32::from(data);
        let verdict = scheme.serve(books, at, priority, packet, now);
        let book = &mut books.ports[o];
        book.queues[q].bytes -= packet.bytes();
        book.queues[q].packets -= 1;
        book.active -= u32::from(data);
        verdict
    }

    /// Queues a packet on which the scheme has given a verdict already, and follows it.
    #[cold]
    fn queue_after_verdict(
        &mut self,
        packet: &Packet,
        at: PortQueue,
        verdict: Verdict,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let o = at.port.index();
        self.buffer.set(now, self.books.mmu.used().get());
        self.enqueue(o, at.queue, packet, now);
        let turn = self.ports[o].select(PrioritySet::EMPTY, &self.stored);
        assert_eq!(turn, Some(at.queue), "no other queue could send");
        if !self.follow(o, at.queue, verdict, now, env) {
            self.transmit_data(o, now, env);
        }
        self.set_clock(o, now);
    }

    /// Sends a packet that is stored but was never queued.
    #[inline(always)]
    fn send_unqueued(
        &mut self,
        packet: &mut Packet,
        from: PortQueue,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let Self { ports, books, scheme, marker, .. } = self;
        let (o, priority) = (from.port.index(), packet.priority);
        books.mmu.release(packet.ingress, priority, packet.size);
        books.ports[o].q_out[priority.index()] -= packet.bytes();
        ports[o].scheduler.passed(from.queue.index());
        scheme.depart(books, packet, from, now);
        ports[o].start(packet, || Bytes::ZERO, marker, now, env.wires);
        self.carry_out(now, env);
    }

    /// Whether a packet that joined this queue now would leave it now, and the scheme asks for
    /// nothing.
    #[inline(always)]
    pub(super) fn is_clear_for(&self, at: PortQueue, now: Time) -> bool {
        let port = &self.ports[at.port.index()];
        now > port.tx.busy_until && port.is_clear_for(at.queue) && self.scheme.actions.is_empty()
    }

    /// Sends a packet through a queue that is [clear](Self::is_clear_for), and whose memory is in
    /// the buffer's statistics already: in a pipelined switch.
    pub(super) fn send_at_once(
        &mut self,
        packet: &mut Packet,
        from: PortQueue,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let Self { ports, books, scheme, marker, .. } = self;
        let (o, priority) = (from.port.index(), packet.priority);
        let quiet = books.mmu.release(packet.ingress, priority, packet.size);
        self.buffer.set(now, books.mmu.used().get());
        books.ports[o].q_out[priority.index()] -= packet.bytes();
        ports[o].scheduler.passed(from.queue.index());
        if !quiet {
            scheme.depart(books, packet, from, now);
        }
        ports[o].start(packet, || Bytes::ZERO, marker, now, env.wires);
        self.probes.sent(now, o, packet);
        self.carry_out(now, env);
    }

    /// [`Switch::transmit`] with shortcuts, for the port whose clock is the earliest.
    #[inline(always)]
    fn transmit_shortcut(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        let port = self.ports.get(o).expect(NO_PORT);
        if now < port.tx.busy_until || port.has_more_than_data() {
            self.transmit_and_look_at_limits(o, now, env);
        } else if let Some(q) = port.scheduler.undisputed()
            && !(port.inspects_heads && self.is_inspected(port, q))
        {
            self.send_due(o, q, now, env);
        } else if port.inspects_heads {
            self.transmit_inspected(o, now, env);
        } else {
            self.transmit_in_turn(o, now, env);
        }
    }

    /// Whether the scheme looks at the heads of queue `q`, if it looks at any of the port's.
    #[inline(always)]
    fn is_inspected(&self, port: &Port, q: QueueId) -> bool {
        !self.scheme.never_hears(port.queues[q.index()].priority)
    }

    /// [`Switch::transmit_shortcut`] where the scheme inspects heads.
    #[inline(never)]
    fn transmit_inspected(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        let Self { ports, books, scheme, stored, .. } = self;
        let port = &mut ports[o];
        let Some(q) = port.select_any(stored) else {
            return self.clocks.advance(Time::NEVER);
        };
        let queue = &port.queues[q.index()];
        let head = stored.front(&queue.fifo).expect("a ready queue has a head").1;
        let at = PortQueue { port: PortId::from_index(o), queue: q };
        let sends = head.kind != PacketKind::Mark;
        let verdict = scheme.serve(books, at, queue.priority, head, now);
        if verdict == Verdict::Send && sends && scheme.actions.is_empty() {
            self.end_wait(o, q);
            self.send_due(o, q, now, env);
            return;
        }
        if !self.follow(o, q, verdict, now, env) {
            self.transmit_data(o, now, env);
        }
        self.set_clock(o, now);
    }

    /// [`Switch::transmit_shortcut`] where queues take turns.
    #[inline(never)]
    fn transmit_in_turn(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        match self.ports[o].select_any(&self.stored) {
            Some(q) => self.send_due(o, q, now, env),
            None => self.clocks.advance(Time::NEVER),
        }
    }

    /// Sends the head of queue `q` at a port whose clock is the earliest, and advances the clock.
    #[inline(always)]
    fn send_due(&mut self, o: usize, q: QueueId, now: Time, env: &mut Env<'_, '_>) {
        let next = self.send::<false>(o, q, now, env);
        if self.scheme.actions.is_empty() {
            self.clocks.advance_to(next);
        } else {
            self.carry_out(now, env);
            self.set_clock(o, now);
        }
    }

    /// [`Switch::transmit`], and then finds out whether rates are still limited.
    #[inline(never)]
    fn transmit_and_look_at_limits(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        self.transmit(o, now, env);
        self.ports[o].look_at_limits();
    }
}

/// What the bits together mean.
impl Port {
    /// Whether a packet for `queue`, which takes no turns, would be chosen next if it were queued
    /// at an idle port, and would not be inspected: the port is empty, or all that is queued is
    /// held, in other queues.
    #[inline(always)]
    fn is_open_for(&self, book: &PortBook, queue: Option<QueueId>) -> bool {
        !self.obstacles.any_but(0) || self.is_open_beside(book, queue)
    }

    #[inline(always)]
    fn is_open_beside(&self, book: &PortBook, queue: Option<QueueId>) -> bool {
        const HARMLESS: u8 =
            Obstacles::QUEUED | Obstacles::HELD | Obstacles::INSPECTED | Obstacles::TURNS;
        let is_free = |q: QueueId| {
            book.queues.get(q.index()).is_some_and(|book| book.packets == 0 && !book.held)
        };
        !self.obstacles.any_but(HARMLESS)
            && queue.is_some_and(|q| {
                !self.scheduler.any_ready() && is_free(q) && self.scheduler.is_alone(q)
            })
    }

    /// Whether more than the memory decides on admission.
    #[inline(always)]
    fn is_guarded(&self) -> bool {
        self.obstacles.any(Obstacles::GUARDED)
    }

    /// Whether no packet is queued, nothing is held and nothing could be sent, and only the memory
    /// decides on admission.
    #[inline(always)]
    fn is_vacant(&self) -> bool {
        !self.obstacles.any_but(Obstacles::TURNS | Obstacles::INSPECTED)
            && !self.scheduler.any_ready()
    }

    /// Whether an admitted packet would be chosen next in `queue`, which has been made, and is not
    /// inspected.
    #[inline(always)]
    fn is_clear_for(&self, queue: QueueId) -> bool {
        !self.obstacles.any_but(Obstacles::GUARDED | Obstacles::TURNS)
            && queue.index() < self.queues.len()
    }

    /// Whether an admitted packet would be chosen next in `queue`, and is inspected there first.
    #[inline(always)]
    fn inspects_next(&self, queue: QueueId) -> bool {
        let is_free = |queue: &Queue| queue.fifo.is_empty() && !queue.waiting;
        self.inspects_heads
            && !self.obstacles.any_but(Obstacles::GUARDED | Obstacles::TURNS | Obstacles::INSPECTED)
            && !self.scheduler.any_ready()
            && self.queues.get(queue.index()).is_some_and(is_free)
    }

    /// Whether there is more to look at before sending than queues and heads.
    #[inline(always)]
    fn has_more_than_data(&self) -> bool {
        self.obstacles.any(Obstacles::LIMITED | Obstacles::CONTROL | Obstacles::DOWN)
    }
}
