//! The plain way in: from a wire to a queue.
//!
//! ```text
//! receive ─► pipeline ─► forward: route ─► admit ─► FlowControl::arrive ─► queue ─► offer
//! ```
//!
//! [`shortcuts`](super::shortcuts) spare some of these steps for most packets. Where none applies,
//! and in tests with shortcuts off, packets come this way.

use super::{Path, Switch};
use crate::env::Env;
use crate::link::damage;
use crate::outcome::{DropReason, Fate};
use crate::responses::Responder;
use weir_core::{Bytes, Packet, PacketKind, PortId, Time, packet::flags};
use weir_fc::{PortQueue, Refusal};
use weir_net::Forwarding;

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
}

impl From<Refusal> for DropReason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::BufferFull => Self::BufferFull,
            Refusal::HeadroomExceeded => Self::HeadroomExceeded,
        }
    }
}
