//! The way in: from a wire to a queue.

use super::transmit::tell_departure;
use super::{NO_PORT, Switch};
use crate::node::Env;
use crate::outcome::DropReason;
use weir_core::{Packet, PacketKind, PortId, Time, packet::flags};
use weir_fc::{Admit, NodeView, PortQueue, Refusal, Verdict};
use weir_net::Forwarding;

impl Switch {
    /// A packet arrives at port `i` that may be spoilt, or has to wait before it is forwarded.
    #[inline(never)]
    pub(super) fn arrive_with_care(
        &mut self,
        i: usize,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        if !self.perfect_wires && self.is_corrupted(i, packet, now, env) {
            return;
        }
        if packet.kind == PacketKind::Control {
            self.on_control_frame(packet, now, env);
        } else if self.latency == Time::ZERO {
            self.forward(packet, now, routes, env);
        } else {
            self.enter_pipeline(packet, now);
        }
    }

    /// A packet waits for as long as the switch takes to forward it.
    fn enter_pipeline(&mut self, packet: &Packet, now: Time) {
        self.pipeline.push_back((now + self.latency, *packet));
        self.clocks.set(0, self.pipeline[0].0);
    }

    /// A packet leaves the forwarding pipeline.
    pub(super) fn on_pipeline_exit(
        &mut self,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        let (_, mut packet) = self.pipeline.pop_front().expect("a packet is due");
        let head = self.pipeline.front().map_or(Time::NEVER, |(t, _)| *t);
        self.clocks.set(0, head);
        self.forward(&mut packet, now, routes, env);
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

    fn on_control_frame(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        let message = env.wires.extras.messages.take(packet.extra);
        let port = packet.ingress;
        let response = env.shared.config.link.response;
        if response == Time::ZERO {
            self.on_control(port, &message, now, env);
            return;
        }
        self.responding.push(now + response, port, message, &mut self.timers);
    }

    /// Finds the way, and sends the packet at once if it finds its port idle, or about to be at this
    /// very instant, with nothing else that could go: nothing else could have been chosen.
    #[inline(always)]
    pub(super) fn forward(
        &mut self,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        let Some(egress) = self.route(packet, routes) else {
            self.keep(packet, now, env);
            return;
        };
        self.tally.last_activity = now;
        let free = self.ports.get(egress.index()).expect(NO_PORT).tx.busy_until;
        let clear = now > free || now == free && self.is_next(egress, now);
        let Self { ports, books, .. } = self;
        let port = ports.get_mut(egress.index()).expect(NO_PORT);
        if clear
            && (port.is_plain()
                || port.lets_by(&books.ports[egress.index()], self.quiet[packet.priority.index()]))
            && books.mmu.pass_quietly(packet.ingress, packet.priority, packet.size)
        {
            port.pass(packet, now, env.wires);
            return;
        }
        let care = port.is_guarded() || clear && !port.is_simple();
        let asks = port.is_guarded() || clear && port.is_plain();
        if care || !self.queue_quietly(packet, egress, now, env) {
            if asks || self.quiet[packet.priority.index()].is_some() {
                self.forward_with_care(packet, egress, clear, now, env);
            } else {
                // the scheme hears of every packet of this priority, and nobody else has a say
                self.store(packet, egress, clear, now, env);
            }
        }
    }

    /// A packet that leads nowhere: what is for this switch itself, or what has no route.
    #[cold]
    fn keep(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        if packet.kind == PacketKind::Control {
            self.on_control_frame(packet, now, env);
        } else {
            self.tally.last_activity = now;
            self.lose(now, DropReason::NoRoute, packet, env);
        }
    }

    /// Whether the transmitter of `egress`, if it is due now, comes next: nothing else that is due
    /// now comes before it.
    #[inline(never)]
    fn is_next(&self, egress: PortId, now: Time) -> bool {
        self.inbox.next() > now && self.clocks.would_win(self.tx_clock(egress.index()), now)
    }

    /// Where somebody has to be asked or told.
    #[inline(never)]
    fn forward_with_care(
        &mut self,
        packet: &mut Packet,
        egress: PortId,
        clear: bool,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let port = &self.ports[egress.index()];
        if clear && port.is_plain() && self.lets_pass(packet, now) {
            let port = &mut self.ports[egress.index()];
            port.launch(packet, || 0, &mut self.marker, now, env.wires);
            return;
        }
        if self.ports[egress.index()].is_guarded()
            && let Err(reason) = self.may_enter(packet, egress, now)
        {
            self.refuse(egress.index(), reason, packet, now, env);
            return;
        }
        if clear && self.pass_unconcerned(packet, egress, now, env)
            || self.queue_quietly(packet, egress, now, env)
        {
            return;
        }
        self.store(packet, egress, clear, now, env);
    }

    /// Sends a packet at once that is no concern of the scheme's, where nothing waits but there
    /// is more to a port than its queues.
    #[inline(always)]
    fn pass_unconcerned(
        &mut self,
        packet: &mut Packet,
        egress: PortId,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> bool {
        let port = &mut self.ports[egress.index()];
        let Some(queue) = self.unconcerned[packet.priority.index()] else { return false };
        if !port.is_clear(true)
            || !self.books.mmu.pass_quietly(packet.ingress, packet.priority, packet.size)
        {
            return false;
        }
        port.scheduler.passed(queue.index());
        port.launch(packet, || 0, &mut self.marker, now, env.wires);
        true
    }

    /// Whether a packet can go through without a trace in books and scheme; the buffer's peak
    /// sees it.
    #[inline(always)]
    fn lets_pass(&mut self, packet: &Packet, now: Time) -> bool {
        (self.unconcerned[packet.priority.index()].is_some()
            || self.fc.lets_pass(&NodeView { now, books: &self.books }, packet))
            && self.books.mmu.pass(packet.ingress, packet.priority, packet.size)
    }

    /// Queues a packet of a quiet ingress. The scheme need not know.
    #[inline(always)]
    fn queue_quietly(
        &mut self,
        packet: &Packet,
        egress: PortId,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> bool {
        let Self { ports, books, stored, .. } = self;
        if !books.mmu.admit_quietly(packet.ingress, packet.priority, packet.size) {
            return false;
        }
        let (o, priority) = (egress.index(), packet.priority.index());
        let queue = self.quiet[priority].expect("a quiet ingress has a queue");
        self.buffer.set(now, books.mmu.used().get());
        let port = ports.get_mut(o).expect(NO_PORT);
        let book = books.ports.get_mut(o).expect(NO_PORT);
        book.q_out[priority] += u64::from(packet.size);
        let free = port.tx.busy_until;
        if port.enqueue::<false>(book, stored, queue, packet, now) {
            self.may_send(o, free, now, env);
        }
        true
    }

    /// Stores the packet and queues it, or sends it if the wire is `clear` and nothing stands in
    /// its way: the scheme sees the same as if it had been queued for no time.
    #[inline(never)]
    fn store(
        &mut self,
        packet: &mut Packet,
        egress: PortId,
        clear: bool,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let o = egress.index();
        if let Err(refusal) = self.books.mmu.admit(packet.ingress, packet.priority, packet.size) {
            self.refuse(o, refusal.into(), packet, now, env);
            return;
        }
        let priority = packet.priority.index();
        let Self { ports, books, fc, actions, .. } = self;
        books.ports[o].q_out[priority] += u64::from(packet.size);
        let unconcerned = self.unconcerned[priority];
        let queue = unconcerned.unwrap_or_else(|| {
            if self.quiet[priority].is_some() {
                books.mmu.alert(packet.ingress, packet.priority);
            }
            fc.arrive(&NodeView { now, books }, packet, egress, actions)
        });
        let at = PortQueue { port: egress, queue };
        let mut verdict = None;
        if clear && actions.is_empty() {
            if ports[o].is_clear(unconcerned.is_some()) {
                self.pass_stored(packet, at, now, env);
                return;
            }
            verdict = self.inspect(packet, at, now);
            if verdict == Some(Verdict::Send) && self.actions.is_empty() {
                self.pass_stored(packet, at, now, env);
                return;
            }
        }
        let Self { ports, books, .. } = self;
        self.buffer.set(now, books.mmu.used().get());
        let ready =
            ports[o].enqueue::<false>(&mut books.ports[o], &mut self.stored, queue, packet, now);
        if let Some(verdict) = verdict {
            self.follow_first(at, verdict, now, env);
            return;
        }
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
        if ready {
            self.may_send(o, self.ports[o].tx.busy_until, now, env);
        }
    }

    /// Asks the scheme what to do with a packet that would be the only one to be queued, if it looks
    /// at heads. It sees the packet in its queue.
    #[inline(always)]
    fn inspect(&mut self, packet: &Packet, at: PortQueue, now: Time) -> Option<Verdict> {
        let Self { ports, books, fc, actions, .. } = self;
        let (o, q) = (at.port.index(), at.queue.index());
        if !ports[o].inspects_next(at.queue) {
            return None;
        }
        let counts = u32::from(ports[o].queues[q].data);
        let book = &mut books.ports[o];
        book.queues[q].bytes += u64::from(packet.size);
        book.queues[q].packets += 1;
        book.active += counts;
        let verdict = fc.serve(&NodeView { now, books }, at, packet, actions);
        let book = &mut books.ports[o];
        book.queues[q].bytes -= u64::from(packet.size);
        book.queues[q].packets -= 1;
        book.active -= counts;
        Some(verdict)
    }

    /// Sends a packet that is stored but was never queued.
    #[inline(always)]
    fn pass_stored(
        &mut self,
        packet: &mut Packet,
        from: PortQueue,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let Self { ports, books, fc, actions, .. } = self;
        let (o, priority) = (from.port.index(), packet.priority.index());
        let port = &mut ports[o];
        books.mmu.release(packet.ingress, packet.priority, packet.size);
        books.ports[o].q_out[priority] -= u64::from(packet.size);
        port.scheduler.passed(from.queue.index());
        if self.unconcerned[priority].is_none() {
            tell_departure(fc, books, &self.quiet, packet, from, now, actions);
        }
        port.launch(packet, || 0, &mut self.marker, now, env.wires);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
    }

    /// Port `o` has a packet that it could send: it does if its wire is idle, or as soon as it is,
    /// which is after `free`.
    #[inline(always)]
    fn may_send(&mut self, o: usize, free: Time, now: Time, env: &mut Env<'_, '_>) {
        if now > free {
            self.transmit_with_care(o, now, env);
        } else {
            self.clocks.bring_forward(self.tx_clock(o), free);
        }
    }

    #[inline(always)]
    fn route(&self, packet: &Packet, routes: &Forwarding<'_>) -> Option<PortId> {
        if packet.has(flags::PINNED) {
            return self.pinned.get(&packet.flow).copied();
        }
        routes.next_hop(packet.dst, || packet.flow.hash64())
    }

    #[cold]
    fn refuse(
        &mut self,
        o: usize,
        reason: DropReason,
        packet: &Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        self.ports[o].dropped += 1;
        self.lose(now, reason, packet, env);
    }

    /// Whether link, watchdog and scheme let a packet in.
    fn may_enter(&mut self, packet: &Packet, egress: PortId, now: Time) -> Result<(), DropReason> {
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
        Ok(())
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
