//! The way out of a host: which flow is next, and its packet.

use super::pair::QueuePair;
use super::sender::{Machine, Sender};
use super::tcp::TcpFlow;
use super::{Nic, NicTimer};
use crate::config::Reliability;
use crate::env::Env;
use crate::probe::Hears;
use std::cmp::Reverse;
use weir_cc::{Pacing, Path, TimerKind, Timers};
use weir_core::{Bytes, PortId, PrioritySet, QueueId, Time, packet::flags};
use weir_fc::{NodeView, PortQueue};
use weir_traffic::FlowSpec;

impl Nic {
    /// A flow of this host starts: it takes a slot.
    pub(super) fn on_flow_start(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let spec = self.upcoming.take().expect("a flow is due");
        self.upcoming = self.source.next();
        self.traffic.add(&spec);
        self.open_flow(spec, None, now, env);
    }

    /// A flow or a queue pair takes a slot.
    pub(super) fn open_flow(
        &mut self,
        spec: FlowSpec,
        pair: Option<QueuePair>,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> u32 {
        self.tally.last_activity = now;
        self.count.started += 1;
        let port = self.egress_of(&spec, pair.as_ref().map(|p| p.rail), env);
        let config = env.shared.config;
        let path = Path {
            line_rate: self.ports[usize::from(port)].tx.rate,
            base_rtt: env.shared.base_rtt,
            bdp: env.shared.bdp,
            mtu: config.nic.payload,
            hops: env.shared.longest_path,
        };
        let wants_rtt = config.cc.needs().rtt;
        let cc = config.cc.start(&path);
        let mut sender = Box::new(Sender::new(spec, port, cc, wants_rtt, &path, &config.nic));
        if config.nic.reliability == Reliability::Tcp && spec.rate.is_none() {
            sender.use_tcp(TcpFlow::new(&config.tcp, &spec, &path, now));
        }
        let is_flow = pair.is_none();
        if let Some(pair) = pair {
            sender.use_pair(pair);
        }
        sender.priority_stamp =
            self.ports[usize::from(port)].priority_clocks[spec.priority.index()].read(now);
        let mut header = sender.packet(0, Bytes::ZERO);
        header.size = 0;
        let slot = self.take_slot(sender);
        if is_flow {
            let number = spec.id.number() as usize;
            if self.slot_of.len() <= number {
                self.slot_of.resize(number + 1, u32::MAX);
            }
            self.slot_of[number] = slot;
        }
        if let Some(stop) = spec.stop.filter(|_| spec.rate.is_none()) {
            self.timers.arm_background(NicTimer::Stop(slot), stop.max(now));
        }
        let view = NodeView { now, books: &self.books };
        let at = PortQueue { port: PortId(port), queue: QueueId(slot) };
        self.fc.flow_starts(&view, at, &header, &mut self.actions);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
        if config.nic.reliability == Reliability::Tcp {
            self.watch_timeout(slot);
        }
        self.settle(slot, now);
        slot
    }

    /// The port of a flow: a queue pair takes that of its GPU, if it leads to the destination.
    fn egress_of(&self, spec: &FlowSpec, rail: Option<u32>, env: &Env<'_, '_>) -> u16 {
        if self.ports.len() == 1 {
            return 0;
        }
        if let Some(rail) = rail {
            let own = PortId((rail as usize % self.ports.len()) as u16);
            let leads = env.shared.epochs[self.epoch].1.next_hops(self.id, spec.dst).contains(&own);
            if leads {
                return own.0;
            }
        }
        let pinned = spec.path.and_then(|i| env.shared.paths.get(i as usize)?.first().copied());
        let routed =
            || env.shared.epochs[self.epoch].1.next_hop(self.id, spec.dst, spec.id.hash64());
        pinned.map(|(_, port)| port).or_else(routed).map_or(0, |p| p.0)
    }

    fn take_slot(&mut self, sender: Box<Sender>) -> u32 {
        let slot = self.reserve_slot();
        self.slots[slot as usize] = Some(sender);
        slot
    }

    /// A slot that nothing else has.
    pub(super) fn reserve_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        })
    }

    /// Lets port `o` look for something to send as soon as its wire is free.
    #[inline]
    pub(super) fn wake(&mut self, o: usize, now: Time) {
        let at = self.ports[o].tx.busy_until.max(now);
        self.clocks.bring_forward(o, at);
    }

    /// Works out whether a flow can send now, later or not at all, and wakes its port for it.
    pub(super) fn settle(&mut self, slot: u32, now: Time) {
        if let Some(s) = &self.slots[slot as usize] {
            let o = usize::from(s.port);
            if let Some(at) = self.line_up(slot, now) {
                self.clocks.bring_forward(o, at);
            }
        }
    }

    /// Puts a flow among those that can send now or later, or takes it out; returns when its port
    /// could send for it.
    #[inline(always)]
    fn line_up(&mut self, slot: u32, now: Time) -> Option<Time> {
        let s = self.slots[slot as usize].as_deref_mut()?;
        let port = &mut self.ports[usize::from(s.port)];
        let fifo_datagram = port.fifo.is_some() && s.is_datagram();
        let can_send = if fifo_datagram {
            s.has_more_to_produce()
        } else {
            s.has_data() && (!s.held || port.fifo.is_some())
        };
        // A wire that is busy until then could not start earlier anyway.
        let due = s.next_time <= now.max(port.tx.busy_until) && !fifo_datagram;
        let ready = can_send && due;
        match &mut port.fifo {
            None => {
                if s.ready != ready {
                    s.ready = ready;
                    port.ready.set(slot, s.priority(), ready);
                }
            }
            Some(fifo) => {
                if ready && !s.in_fifo {
                    s.in_fifo = true;
                    fifo.push_back(slot);
                }
            }
        }
        if self.probes.hear(Hears::FLOWS) {
            self.probes.flow(now, &s.sight(slot, fifo_datagram, now));
        }
        let free = port.tx.busy_until.max(now);
        if can_send && !due {
            let when = s.next_time.max(now);
            if s.paced_at != when {
                s.paced_at = when;
                port.paced.push(Reverse((when, slot)));
            }
            return Some(free.max(when));
        }
        ready.then_some(free)
    }

    /// The wire of port `o` is free: sends the next packet, if there is one, and sets the
    /// clock for the one after it.
    #[inline]
    pub(super) fn transmit_next(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        if self.ports[o].paced.peek().is_some_and(|Reverse((t, _))| *t <= now) {
            self.release_paced(o, now, env);
        }
        let port = &mut self.ports[o];
        if now < port.tx.busy_until || !port.tx.up {
            // woken for a paced flow while the wire is busy, or the link is down
        } else if let Some(frame) = port.control.pop_front() {
            self.probes.sends(now, o, &frame, &env.wires.extras);
            port.tx.send(now, &frame, env.wires);
            port.meter.late.note(now, &port.tx, self.tally.last_activity);
        } else if now < port.settled {
            // the link is up again, but not yet for long enough
        } else if port.ack_may_go(now) {
            let ack = port.acks.pop_front().expect("an ACK waits");
            self.tally.last_activity = now;
            if env.shared.config.nic.acks_with_data {
                self.send_ack_with_data(o, ack, now, env);
            } else {
                port.tx.send(now, &ack, env.wires);
                self.probes.sent(now, o, &ack);
            }
        } else {
            self.send_data(o, now, env);
        }
        let next = self.next_start(o, now, env);
        self.clocks.set(o, next);
    }

    /// When the port can do something next.
    #[inline]
    fn next_start(&self, o: usize, now: Time, env: &Env<'_, '_>) -> Time {
        let port = &self.ports[o];
        if !port.tx.up {
            return Time::NEVER;
        }
        let free = port.tx.busy_until.max(now);
        if !port.control.is_empty() {
            return free;
        }
        let free = free.max(port.settled);
        if !(port.ready.priorities() - port.blocked(free)).is_empty() {
            return free;
        }
        self.next_of_others(o, free, now, env)
    }

    /// [`Nic::next_start`] where no flow is ready and allowed.
    #[inline]
    fn next_of_others(&self, o: usize, free: Time, now: Time, env: &Env<'_, '_>) -> Time {
        let port = &self.ports[o];
        let nic = &env.shared.config.nic;
        let blocked = port.blocked(free);
        let mut waiting = port.ready.priorities();
        if !port.acks.is_empty() {
            let own = PrioritySet::only(nic.ack_priority);
            let acks = if nic.acks_with_data { port.priorities_of_acks() } else { own };
            waiting = waiting | acks;
        }
        if let Some(&head) = port.fifo.as_ref().and_then(|f| f.front()) {
            let s = self.slots[head as usize].as_ref().expect("flows in the queue have a slot");
            if !s.held {
                waiting.set(s.priority(), true);
            }
        }
        if !(waiting - blocked).is_empty() {
            return free;
        }
        let paced = port.paced.peek().map_or(Time::NEVER, |Reverse((t, _))| (*t).max(now));
        match &port.limits {
            Some(limits) => paced.min(limits.next_after(free, waiting - port.held_priorities)),
            None => paced,
        }
    }

    /// Flows whose pace allows them to go on.
    #[inline(never)]
    fn release_paced(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        while let Some(&Reverse((t, slot))) = self.ports[o].paced.peek() {
            if t > now {
                return;
            }
            self.ports[o].paced.pop();
            let Some(s) = &mut self.slots[slot as usize] else { continue };
            if s.paced_at != t {
                continue;
            }
            s.paced_at = Time::NEVER;
            if s.is_datagram() && self.ports[o].fifo.is_some() {
                self.produce_into_fifo(o, slot, now, env);
            } else {
                self.settle(slot, now);
            }
        }
    }

    /// A constant-rate source of a single-queue NIC has produced a packet.
    fn produce_into_fifo(&mut self, o: usize, slot: u32, now: Time, env: &mut Env<'_, '_>) {
        let stuck = self.fifo_is_stuck(o, slot);
        let s = self.slots[slot as usize].as_mut().expect("the slot is taken");
        s.produced += 1;
        // Its last packet waits, as it does in a queue of its own: the receiver knows the end by
        // it.
        if stuck && s.discards() && s.has_more_to_produce() {
            s.discarded += 1;
            s.total = s.total.saturating_sub(1).max(s.nxt);
        } else if let Some(fifo) = &mut self.ports[o].fifo {
            fifo.push_back(slot);
        }
        let s = self.slots[slot as usize].as_mut().expect("the slot is taken");
        if s.has_more_to_produce() {
            s.next_time = s.produced_at(s.produced);
            self.settle(slot, now);
        }
        self.end_if_done(slot, now, env);
    }

    /// Whether the head of the single queue is held; if it is empty, whether the priority of `slot`
    /// is. (A flow that is held itself puts its packet into the empty queue, where it holds the
    /// rest.)
    fn fifo_is_stuck(&self, o: usize, slot: u32) -> bool {
        let port = &self.ports[o];
        let head = port.fifo.as_ref().and_then(|f| f.front()).copied();
        let empty = head.is_none();
        let head = head.unwrap_or(slot);
        let s = self.slots[head as usize].as_ref().expect("flows in the queue have a slot");
        s.held && !empty || port.held_priorities.contains(s.priority())
    }

    /// Picks the next flow and sends its packet.
    #[inline(always)]
    fn send_data(&mut self, o: usize, now: Time, env: &mut Env<'_, '_>) {
        let Self { ports, slots, .. } = self;
        let port = &mut ports[o];
        let blocked = port.blocked(now);
        if port.fifo.is_some() {
            self.send_from_fifo(o, blocked, now, env);
            return;
        }
        let header = env.shared.config.nic.header;
        let size = |slot: u32| slots[slot as usize].as_deref().map_or(0, |s| s.next_frame(header));
        if let Some(slot) = port.ready.take_turn(blocked, size) {
            self.send_packet(o, slot, now, env);
            if !self.end_if_done(slot, now, env) {
                // the port's clock is set next
                self.line_up(slot, now);
            }
        }
    }

    /// Sends the packet at the head of the single queue.
    #[inline(never)]
    fn send_from_fifo(&mut self, o: usize, blocked: PrioritySet, now: Time, env: &mut Env<'_, '_>) {
        let Some(&slot) = self.ports[o].fifo.as_ref().and_then(|f| f.front()) else { return };
        let s = self.slots[slot as usize].as_mut().expect("the slot is taken");
        if !s.is_datagram() && !s.has_data() {
            // what it stood here to send has arrived after all, or the flow has stopped
            s.in_fifo = false;
            if let Some(fifo) = &mut self.ports[o].fifo {
                fifo.pop_front();
            }
            return;
        }
        if s.held || blocked.contains(s.priority()) {
            return;
        }
        self.send_packet(o, slot, now, env);
        let free = self.ports[o].tx.busy_until;
        let keep = self.slots[slot as usize]
            .as_mut()
            .is_some_and(|s| !s.is_datagram() && s.has_data() && s.next_time <= free);
        if !keep {
            if let Some(fifo) = &mut self.ports[o].fifo {
                fifo.pop_front();
            }
            if let Some(s) = &mut self.slots[slot as usize] {
                s.in_fifo = false;
            }
        }
        self.end_if_done(slot, now, env);
        self.settle(slot, now);
    }

    /// Makes the next packet of a flow and puts it on the wire.
    #[inline(always)]
    fn send_packet(&mut self, o: usize, slot: u32, now: Time, env: &mut Env<'_, '_>) {
        let nic = &env.shared.config.nic;
        let Self { slots, ports, fc, books, actions, .. } = self;
        let s = slots[slot as usize].as_deref_mut().expect("the slot is taken");
        let port = &mut ports[o];
        let Some(seq) = s.next_seq() else { return self.send_segment(o, slot, now, env) };
        let mut packet = s.packet(seq, nic.header);
        let size = u64::from(packet.size);
        if !self.quiet.contains(packet.priority) {
            let view = NodeView { now, books };
            let from = PortQueue { port: PortId(o as u16), queue: QueueId(slot) };
            fc.depart(&view, &mut packet, from, actions);
        }
        if env.shared.telemetry.is_some() && !packet.has(flags::DATAGRAM) {
            packet.extra = env.wires.extras.telemetry.start();
        }
        let in_pair = s.pair.is_some();
        if in_pair {
            s.address(&mut packet, &mut env.wires.extras);
        }
        if let Some(limits) = &mut port.limits {
            limits.started(now, packet.priority, size);
        }
        port.tx.send(now, &packet, env.wires);
        self.probes.sent(now, o, &packet);
        self.count.data_sent += 1;
        self.tally.last_activity = now;
        let mut timers = Timers::new();
        let oldest = seq == s.una;
        s.sent(seq, now, size, port.fifo.is_some(), &mut timers);
        if s.nxt >= s.total && s.held_total.is_none() && !in_pair {
            let clock = &port.priority_clocks[s.priority().index()];
            s.held_total = Some(s.held_time(clock.read(now), now));
        }
        // With selective repeat new packets may follow a loss forever: they leave the timer alone,
        // which is that of the oldest packet in flight.
        let starts_timer = !s.is_datagram() && (oldest || s.machine.is_none());
        if let Some(timeout) = nic.timeout.filter(|_| starts_timer) {
            self.timers.arm(NicTimer::Timeout(slot), now + timeout);
        }
        self.arm_cc(slot, timers);
        // a message ends with its last packet
        if in_pair && packet.has(flags::LAST) {
            self.note_left(slot, seq, now);
        }
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
    }

    #[inline(always)]
    pub(super) fn arm_cc(&mut self, slot: u32, timers: Timers) {
        if !timers.is_empty() {
            self.arm_all(slot, timers);
        }
    }

    fn arm_all(&mut self, slot: u32, mut timers: Timers) {
        for (kind, at) in timers.drain() {
            self.timers.arm_background(NicTimer::Cc(kind, slot), at);
        }
    }

    pub(super) fn on_cc_timer(&mut self, kind: TimerKind, slot: u32, now: Time) {
        let Some(s) = &mut self.slots[slot as usize] else { return };
        let mut timers = Timers::new();
        let old = s.cc.rate();
        let pacing = s.cc.on_timer(kind, now, &mut timers);
        self.arm_cc(slot, timers);
        self.repace(slot, old, pacing, now);
    }

    /// The rate may have changed: stretches or shrinks what is left of the gap.
    pub(super) fn repace(&mut self, slot: u32, old: weir_core::Rate, pacing: Pacing, now: Time) {
        let Some(s) = &mut self.slots[slot as usize] else { return };
        let new = s.cc.rate();
        if pacing == Pacing::Retime && new != old && s.last_frame > 0 && !s.is_datagram() {
            let frame = Bytes::new(s.last_frame);
            let started = s.next_time.saturating_sub(old.time_for(frame));
            s.next_time = started.saturating_add(new.time_for(frame));
        }
        self.settle(slot, now);
    }

    /// No ACK arrived within the timeout: goes back to the first unacknowledged packet, or sends
    /// again what is missing.
    pub(super) fn on_timeout(&mut self, slot: u32, now: Time, env: &mut Env<'_, '_>) {
        let Some(s) = &mut self.slots[slot as usize] else { return };
        if s.tcp().is_some() {
            self.on_tcp_timeout(slot, now);
            return;
        }
        // What waits to be sent again has not been lost again; the timer starts when it is sent.
        if s.una >= s.nxt {
            return;
        }
        if let Some(Machine::Repeat(repeat)) = s.machine.as_deref_mut() {
            if !repeat.on_timeout() {
                return;
            }
            s.timeouts += 1;
        } else {
            s.timeouts += 1;
            s.nxt = s.una;
            if let Some(sent_at) = &mut s.sent_at {
                sent_at.clear();
            }
        }
        let old = s.cc.rate();
        let pacing = s.cc.on_timeout(now);
        if let Some(timeout) = env.shared.config.nic.timeout {
            self.timers.arm(NicTimer::Timeout(slot), now + timeout);
        }
        self.repace(slot, old, pacing, now);
    }

    /// An open-ended flow ceases to send: it ends with what it has sent, once that is acknowledged.
    pub(super) fn on_stop(&mut self, slot: u32, now: Time, env: &mut Env<'_, '_>) {
        let Some(s) = &mut self.slots[slot as usize] else { return };
        s.close();
        let o = usize::from(s.port);
        if s.held || self.ports[o].held_priorities.contains(s.priority()) {
            // it has been held until now, so the run has lasted until now
            self.tally.last_activity = now;
        }
        if s.nxt >= s.total && s.held_total.is_none() {
            let clock = &self.ports[o].priority_clocks[s.priority().index()];
            s.held_total = Some(s.held_time(clock.read(now), now));
        }
        if s.in_fifo && !s.has_data() {
            s.in_fifo = false;
            if let Some(fifo) = &mut self.ports[o].fifo {
                fifo.retain(|&queued| queued != slot);
            }
            self.wake(o, now);
        }
        if !self.end_if_done(slot, now, env) {
            self.settle(slot, now);
        }
    }
}
