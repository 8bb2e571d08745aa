//! A pipelined switch: FIFOs in front of one packet processor, bounded egress queues behind it.
//!
//! ```text
//!         ingress FIFOs          processor                    egress queues
//! wire ─► [ port 0 ] ──┐                                 ┌─► (port, priority) ─► scheduler ─► wire
//! wire ─► [ port 1 ] ──┼─► one packet at a time ─► route ┼─► (port, priority) ─► scheduler ─► wire
//! wire ─► [ port 2 ] ──┘   ports in turn           admit └─► ...
//! ```
//!
//! A packet waits in the FIFO of its port, whatever its priority, and is counted by (port,
//! priority) there until it is in an egress queue. The processor takes the same time for every
//! packet. The latency of the pipeline lies in front of the processor or behind it
//! ([`DelayAt`](crate::config::DelayAt)). A
//! packet whose egress queue is full is dropped, or **stops** the processor, and everything behind
//! it, until there is room ([`OnFull`]). Control frames do not pass the processor.
//!
//! Ports, schedulers, holds, control frames and timers are those of the shared-memory switch; this
//! module replaces the way in of the [`datapath`](super::datapath). It has shortcuts of its own,
//! which [`Config::shortcuts`](crate::Config::shortcuts) turns off; results are the same
//! (`crates/sim/tests/pipelined.rs`):
//!
//! * The [`Processor`] begins late. *When:* a delay in front of the processor and none behind it.
//!   *Spares:* the event of beginning after a pause, and a copy of every packet. *Same result:* no
//!   later packet could have been chosen, and nothing can stop the processor in between.
//! * Quiet FIFO in [`Switch::ingress_changed`]. *When:* its bytes are in the range that the scheme
//!   has named. *Spares:* `ingress_changed`. *Same result:* the call would do nothing.
//! * Quiet arrival in [`Switch::leave_processor`], quiet departure in [`Switch::send`]. *When:* the
//!   same, and the scheme needs no notification of such packets. *Spares:* `arrive`, `depart`.
//!   *Same result:* the scheme has named the queue and would request nothing.
//! * [`Switch::send_at_once`]. *When:* the wire has been free, nothing else is queued or held at
//!   the egress port, and the scheme requested nothing in `arrive`. *Spares:* queue, turns, clock.
//!   *Same result:* the packet would be first in its queue and chosen at this instant; `depart`
//!   sees the same books.

mod processor;

pub(crate) use processor::Processor;

use super::{Path, Switch};
use crate::env::Env;
use crate::outcome::DropReason;
use processor::Stop;
use weir_core::{Packet, PortId, Priority, Time};
use weir_fc::{EgressLimit, NodeView, OnFull, PortBook, PortQueue};
use weir_net::Forwarding;

/// The path of packets through a pipelined switch.
pub(super) struct Pipelined;

impl Path for Pipelined {
    const PROCESSOR: bool = true;

    fn forward(
        switch: &mut Switch,
        packet: &mut Packet,
        now: Time,
        _routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        switch.enter(packet, now, env);
    }

    fn leave_pipeline(
        switch: &mut Switch,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        switch.process(now, routes, env);
    }

    fn transmit(switch: &mut Switch, o: usize, now: Time, env: &mut Env<'_, '_>) {
        switch.transmit(o, now, env);
    }
}

/// What a packet at the end of the pipeline meets.
enum Exit {
    Enters,
    Lost(DropReason),
    Stops(EgressLimit),
}

impl Switch {
    #[inline]
    fn processor(&mut self) -> &mut Processor {
        self.processor.as_mut().expect("a pipelined switch has a processor")
    }

    /// A packet comes in: it joins the FIFO of its port, if its (port, priority) has room.
    fn enter(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        self.tally.last_activity = now;
        let Packet { ingress, priority, size, .. } = *packet;
        if let Err(refusal) = self.books.mmu.admit(ingress, priority, size) {
            self.lose(now, refusal.into(), packet, env);
            return;
        }
        self.buffer.set(now, self.books.mmu.used().get());
        let processor = self.processor();
        if processor.join(packet, now) {
            let next = processor.next();
            self.clocks.set(0, next);
        }
        self.ingress_changed(ingress, priority, now, env);
    }

    /// Tells the scheme that an ingress holds more or less than before.
    #[inline]
    fn ingress_changed(&mut self, i: PortId, p: Priority, now: Time, env: &mut Env<'_, '_>) {
        if !self.books.mmu.is_quiet_fifo(i, p) {
            self.notify(i, p, now, env);
        }
    }

    /// [`Switch::ingress_changed`] where the scheme needs to hear of it.
    #[inline(never)]
    fn notify(&mut self, i: PortId, p: Priority, now: Time, env: &mut Env<'_, '_>) {
        let Self { books, scheme, .. } = self;
        let fc = scheme.fc.pipelined().expect("checked when the switch was made");
        fc.ingress_changed(&NodeView { now, books }, i, p, &mut scheme.actions);
        if self.shortcuts {
            books.mmu.set_quiet_fifo(i, p, scheme.fc.quiet_range(&books.mmu, i, p));
        }
        self.carry_out(now, env);
    }

    /// The processor is due: packets that are done go to their egress queues, and the next one
    /// begins.
    fn process(&mut self, now: Time, routes: &Forwarding<'_>, env: &mut Env<'_, '_>) {
        while let Some(mut packet) = self.processor().exit(now) {
            self.tally.last_activity = now;
            match self.choose(&packet, now, routes) {
                Some(egress) => self.leave_processor(&mut packet, egress, now, env),
                None => {
                    self.leave_ingress(&packet, now);
                    self.drop_forwarded(&packet, DropReason::NoRoute, now, env);
                }
            }
        }
        let processor = self.processor();
        processor.begin(now);
        let next = processor.next();
        self.clocks.set(0, next);
    }

    /// A packet at the end of the pipeline joins its egress queue, or is dropped, or stops the
    /// processor.
    fn leave_processor(
        &mut self,
        packet: &mut Packet,
        egress: PortId,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        match self.meets(packet, egress) {
            Exit::Enters => {
                self.leave_ingress(packet, now);
                let (o, p) = (egress.index(), packet.priority);
                self.books.ports[o].q_out[p.index()] += packet.bytes();
                self.ingress_changed(packet.ingress, p, now, env);
                let queue = match self.scheme.quiet_queue(p) {
                    Some(queue) if self.books.mmu.is_quiet_fifo(packet.ingress, p) => queue,
                    _ => self.scheme.arrive(&mut self.books, packet, egress, now),
                };
                let at = PortQueue { port: egress, queue };
                if self.acts_on_entry {
                    self.act_on_entry(packet, at, now);
                }
                if self.shortcuts && self.is_clear_for(at, now) {
                    self.send_at_once(packet, at, now, env);
                } else {
                    // its memory has been in use since it came in
                    self.append(packet, at, now, env);
                }
            }
            Exit::Lost(reason) => {
                self.leave_ingress(packet, now);
                self.ports[egress.index()].meter.dropped += 1;
                self.drop_forwarded(packet, reason, now, env);
            }
            Exit::Stops(limit) => self.processor().stop(packet, egress, limit, now),
        }
    }

    /// What stands in the way of a packet for `egress`.
    #[inline]
    fn meets(&mut self, packet: &Packet, egress: PortId) -> Exit {
        let Self { ports, books, processor, .. } = self;
        let (port, priority) = (&ports[egress.index()], packet.priority);
        let queued = books.ports[egress.index()].q_out[priority.index()];
        if let Err(reason) = port.accepts(packet, queued, &books.mmu) {
            return Exit::Lost(reason);
        }
        let stops = processor.as_ref().is_some_and(|p| p.on_full == OnFull::Stop);
        match books.mmu.egress_full(&books.ports, egress, priority, packet.size) {
            None => Exit::Enters,
            Some(limit) if stops && books.mmu.is_lossless(priority) => Exit::Stops(limit),
            Some(_) => Exit::Lost(DropReason::EgressFull),
        }
    }

    /// A packet is no longer counted at its ingress.
    #[inline]
    fn leave_ingress(&mut self, packet: &Packet, now: Time) {
        self.books.mmu.forward(packet.ingress, packet.priority, packet.size);
        self.processor().leave_ingress(packet, now);
    }

    /// Drops a packet at the end of the pipeline.
    #[cold]
    fn drop_forwarded(
        &mut self,
        packet: &Packet,
        reason: DropReason,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let Packet { ingress, priority, size, .. } = *packet;
        self.books.mmu.release(ingress, priority, size);
        self.buffer.set(now, self.books.mmu.used().get());
        self.lose(now, reason, packet, env);
        self.ingress_changed(ingress, priority, now, env);
    }

    /// Restarts a stopped processor if what it waits for has happened.
    #[inline]
    pub(super) fn retry(&mut self, now: Time, routes: &Forwarding<'_>, env: &mut Env<'_, '_>) {
        if let Some(stop) = self.processor.as_ref().and_then(|p| p.stop) {
            self.retry_stopped(stop, now, routes, env);
        }
    }

    fn retry_stopped(
        &mut self,
        mut stop: Stop,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        if let Exit::Stops(limit) = self.meets(&stop.packet, stop.egress) {
            if let Some(waiting) = &mut self.processor().stop {
                waiting.limit = limit;
            }
            return;
        }
        self.processor().go_on(&stop, now);
        self.tally.last_activity = now;
        self.leave_processor(&mut stop.packet, stop.egress, now, env);
        self.process(now, routes, env);
    }

    /// The egress port to blame for stopping a neighbour: the one that has stopped the processor,
    /// or the longest of those that the scheme names. If there is neither, the processor is to
    /// blame.
    pub(super) fn main_egress_behind(
        &self,
        processor: &Processor,
        ingress: PortId,
        priority: Priority,
    ) -> Option<PortId> {
        if let Some(stop) = &processor.stop {
            return Some(stop.egress);
        }
        let waits = self.scheme.fc.waits()?;
        let named = waits.ingress_waits_for(ingress, priority).egresses;
        let length = |o: &PortId| {
            let book: &PortBook = &self.books.ports[o.index()];
            (book.q_out[priority.index()], std::cmp::Reverse(*o))
        };
        named.into_iter().max_by_key(length)
    }
}
