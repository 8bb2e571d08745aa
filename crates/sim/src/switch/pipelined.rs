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
//! packet. The latency of the pipeline lies in front of the processor or behind it ([`DelayAt`]). A
//! packet whose egress queue is full is dropped, or **stops** the processor, and everything behind
//! it, until there is room ([`OnFull`]). Control frames do not pass the processor.
//!
//! Ports, schedulers, holds, control frames and timers are those of the shared-memory switch; this
//! module replaces [`forward`](super::forward), and takes no shortcuts.

use super::{Path, Switch};
use crate::config::{DelayAt, PipelineConfig};
use crate::env::Env;
use crate::outcome::{DropReason, ProcessorRecord};
use crate::probe::length::{Area, LengthProbe};
use std::collections::VecDeque;
use weir_core::{Bytes, Packet, PortId, Priority, Time};
use weir_fc::{
    Admit, EgressLimit, FlowControl, Mmu, NodeView, OnFull, ParamError, PortBook, PortQueue,
};
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

/// A packet that stops the processor.
#[derive(Clone, Copy, Debug)]
struct Stop {
    packet: Packet,
    egress: PortId,
    limit: EgressLimit,
    since: Time,
}

/// The packet processor of a switch with what is in front of it and in it.
pub(crate) struct Processor {
    service: Time,
    /// Between arrival and processing.
    before: Time,
    /// Between processing and the egress queue.
    after: Time,
    on_full: OnFull,
    /// By port: packets with the time from which they may be processed.
    inputs: Vec<VecDeque<(Time, Packet)>>,
    /// By port: from when its first packet may be processed; "never" without one. Looked through
    /// twice per packet, so apart from the packets.
    fronts: Box<[Time]>,
    /// The port that is looked at first.
    turn: usize,
    /// The packet that is being processed, and when that is done.
    serving: Option<(Time, Packet)>,
    /// Packets that have been processed, with the time they reach their egress queue.
    behind: VecDeque<(Time, Packet)>,
    stop: Option<Stop>,
    /// Bytes in ingress FIFOs and processor.
    ingress: LengthProbe,
    ingress_area: Area,
    packets: u64,
    stops: u64,
    /// The present stop not included.
    stopped: Time,
    /// When statistics began.
    start: Time,
}

impl Processor {
    /// The processor of a switch with so many ports, or why the scheme cannot work with one.
    pub(super) fn new(
        config: &PipelineConfig,
        fc: &dyn FlowControl,
        ports: usize,
    ) -> Result<Self, ParamError> {
        fc.fits_pipeline()
            .map_err(|why| ParamError(format!("it does not support pipelined switches: {why}")))?;
        let (before, after) = match config.delay_at {
            DelayAt::Before => (config.delay, Time::ZERO),
            DelayAt::After => (Time::ZERO, config.delay),
        };
        Ok(Self {
            service: config.service(),
            before,
            after,
            on_full: fc.on_full().unwrap_or(config.on_full),
            inputs: vec![VecDeque::new(); ports],
            fronts: vec![Time::NEVER; ports].into(),
            turn: 0,
            serving: None,
            behind: VecDeque::new(),
            stop: None,
            ingress: LengthProbe::default(),
            ingress_area: Area::default(),
            packets: 0,
            stops: 0,
            stopped: Time::ZERO,
            start: Time::ZERO,
        })
    }

    /// When it has something to do next.
    fn next(&self) -> Time {
        if self.stop.is_some() {
            return Time::NEVER;
        }
        let done = match &self.serving {
            Some((done, _)) => *done,
            None => self.fronts.iter().fold(Time::NEVER, |first, from| first.min(*from)),
        };
        self.behind.front().map_or(done, |(exit, _)| done.min(*exit))
    }

    /// Begins with the next packet, ports in turn, if there is one and none is being processed.
    fn begin(&mut self, now: Time) {
        if self.serving.is_some() || self.stop.is_some() {
            return;
        }
        let (before, from) = self.fronts.split_at(self.turn);
        let due = |front: &Time| *front <= now;
        let found = from.iter().position(due).map(|i| self.turn + i);
        let Some(i) = found.or_else(|| before.iter().position(due)) else { return };
        let (_, packet) = self.inputs[i].pop_front().expect("a front has a packet");
        self.fronts[i] = self.inputs[i].front().map_or(Time::NEVER, |(from, _)| *from);
        self.turn = if i + 1 == self.fronts.len() { 0 } else { i + 1 };
        self.serving = Some((now + self.service, packet));
    }

    /// A packet joins the FIFO of its port at `now`.
    fn join(&mut self, packet: &Packet, now: Time) {
        let (i, from) = (packet.ingress.index(), now + self.before);
        if self.inputs[i].is_empty() {
            self.fronts[i] = from;
        }
        self.inputs[i].push_back((from, *packet));
        self.ingress.set(now, self.ingress.length() + u64::from(packet.size));
        self.ingress_area.add(now, packet.size);
    }

    /// The next packet that reaches its egress queue now, if there is one.
    fn exit(&mut self, now: Time) -> Option<Packet> {
        if self.stop.is_some() {
            return None;
        }
        if self.serving.as_ref().is_some_and(|(done, _)| *done <= now)
            && let Some((done, packet)) = self.serving.take()
        {
            self.packets += 1;
            if self.after == Time::ZERO && self.behind.is_empty() {
                return Some(packet);
            }
            self.behind.push_back((done + self.after, packet));
        }
        self.behind.front().filter(|(exit, _)| *exit <= now)?;
        self.behind.pop_front().map(|(_, packet)| packet)
    }

    /// Stops until there is room for `packet`.
    fn stop(&mut self, packet: &Packet, egress: PortId, limit: EgressLimit, now: Time) {
        self.stops += 1;
        self.stop = Some(Stop { packet: *packet, egress, limit, since: now });
    }

    /// Goes on: what was on its way arrives later by as long as it was stopped.
    fn go_on(&mut self, stop: &Stop, now: Time) {
        let lost = now - stop.since;
        self.stopped += now - stop.since.max(self.start);
        self.stop = None;
        for (exit, _) in &mut self.behind {
            *exit += lost;
        }
        if let Some((done, _)) = &mut self.serving {
            *done += lost;
        }
    }

    /// Whether it has been stopped since `latest` or before and packets of this egress queue are
    /// among those that would have to leave first.
    pub(crate) fn waits_for(&self, port: PortId, priority: Priority, latest: Time) -> bool {
        let holds_it_up = |stop: &Stop| match stop.limit {
            EgressLimit::Queue => stop.egress == port && stop.packet.priority == priority,
            EgressLimit::Port => stop.egress == port,
            EgressLimit::All => true,
        };
        self.stop.as_ref().is_some_and(|s| s.since <= latest && holds_it_up(s))
    }

    /// Packets in front of the processor and in it.
    pub(crate) fn inside(&self) -> impl Iterator<Item = &Packet> {
        let queued = self.inputs.iter().flatten().map(|(_, p)| p);
        let moving = self.serving.iter().chain(&self.behind).map(|(_, p)| p);
        queued.chain(moving).chain(self.stop.iter().map(|s| &s.packet))
    }

    /// Checks that the ingress accounts agree with the packets inside, and returns their bytes.
    pub(super) fn audit(&self, mmu: &Mmu) -> Result<Bytes, String> {
        let mut bytes = vec![[0u64; Priority::COUNT]; self.inputs.len()];
        for p in self.inside() {
            bytes[p.ingress.index()][p.priority.index()] += u64::from(p.size);
        }
        for (i, of_port) in bytes.iter().enumerate() {
            let book = Priority::ALL.map(|p| mmu.q_in(PortId::from_index(i), p).get());
            if *of_port != book {
                return Err(format!(
                    "port {i} has {of_port:?} B by priority in front of the processor, its \
                     counter says {book:?}"
                ));
            }
        }
        let all = bytes.iter().flatten().sum();
        if all != self.ingress.length() {
            let length = self.ingress.length();
            return Err(format!("ingress FIFOs hold {all} B, their probe says {length} B"));
        }
        Ok(Bytes::new(all))
    }

    /// Bytes times time in front of the processor.
    pub(super) fn area(&self, until: Time) -> u128 {
        self.ingress_area.until(until, self.ingress.length())
    }

    /// The warm-up is over: statistics start at `now`.
    pub(super) fn restart_statistics(&mut self, now: Time) {
        self.ingress.restart(now);
        self.ingress_area = Area::begin(now, self.ingress.length());
        (self.packets, self.stopped, self.start) = (0, Time::ZERO, now);
        self.stops = u64::from(self.stop.is_some());
    }

    pub(super) fn record(&mut self, end: Time) -> ProcessorRecord {
        let since = self.stop.as_ref().map_or(end, |s| s.since.max(self.start));
        let still = end.saturating_sub(since);
        let area = self.area(self.ingress.until(end));
        ProcessorRecord {
            packets: self.packets,
            stops: self.stops,
            stopped: self.stopped + still,
            ingress: self.ingress.stats(end, area),
        }
    }
}

/// What a packet at the end of the pipeline meets.
enum Exit {
    Enters,
    Lost(DropReason),
    Stops(EgressLimit),
}

impl Switch {
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
        processor.join(packet, now);
        let next = processor.next();
        self.clocks.set(0, next);
        self.ingress_changed(ingress, priority, now, env);
    }

    /// Tells the scheme that an ingress holds more or less than before.
    fn ingress_changed(&mut self, i: PortId, p: Priority, now: Time, env: &mut Env<'_, '_>) {
        let Self { books, scheme, .. } = self;
        scheme.fc.ingress_changed(&NodeView { now, books }, i, p, &mut scheme.actions);
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
        match self.meets(packet, egress, now) {
            Exit::Enters => {
                self.leave_ingress(packet, now);
                let (o, p) = (egress.index(), packet.priority);
                self.books.ports[o].q_out[p.index()] += packet.bytes();
                self.ingress_changed(packet.ingress, p, now, env);
                let queue = self.scheme.arrive(&mut self.books, packet, egress, now);
                let at = PortQueue { port: egress, queue };
                if self.acts_on_entry {
                    self.act_on_entry(packet, at, now);
                }
                self.queue(packet, at, now, env);
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
    fn meets(&mut self, packet: &Packet, egress: PortId, now: Time) -> Exit {
        let Self { ports, books, scheme, processor, .. } = self;
        let (port, priority) = (&ports[egress.index()], packet.priority);
        if !port.tx.up {
            return Exit::Lost(DropReason::LinkDown);
        }
        if port.storm.contains(priority) {
            return Exit::Lost(DropReason::Watchdog);
        }
        if scheme.gates_admission() {
            match scheme.fc.admit(&NodeView { now, books }, packet, egress) {
                Admit::Accept => {}
                Admit::Drop => return Exit::Lost(DropReason::Scheme),
                Admit::Stall => return Exit::Stops(EgressLimit::Queue),
            }
        }
        let stops = processor.as_ref().is_some_and(|p| p.on_full == OnFull::Stop);
        match books.mmu.egress_full(&books.ports, egress, priority, packet.size) {
            None => Exit::Enters,
            Some(limit) if stops && books.mmu.is_lossless(priority) => Exit::Stops(limit),
            Some(_) => Exit::Lost(DropReason::EgressFull),
        }
    }

    /// A packet is no longer counted at its ingress.
    fn leave_ingress(&mut self, packet: &Packet, now: Time) {
        self.books.mmu.forward(packet.ingress, packet.priority, packet.size);
        let processor = self.processor();
        processor.ingress.set(now, processor.ingress.length() - u64::from(packet.size));
        processor.ingress_area.remove(now, packet.size);
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
        if let Exit::Stops(limit) = self.meets(&stop.packet, stop.egress, now) {
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
        let named = self.scheme.fc.ingress_waits_for(ingress, priority).egresses;
        let length = |o: &PortId| {
            let book: &PortBook = &self.books.ports[o.index()];
            (book.q_out[priority.index()], std::cmp::Reverse(*o))
        };
        named.into_iter().max_by_key(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::control_packet;
    use weir_core::ControlMessage;
    use weir_fc::PrioritySchedule;
    use weir_fc::none::NoFlowControl;

    fn processor(config: &PipelineConfig, ports: usize) -> Processor {
        let fc = NoFlowControl::new(&PrioritySchedule::default());
        Processor::new(config, &fc, ports).unwrap()
    }

    /// A packet numbered `seq`.
    fn packet(seq: u32) -> Packet {
        let frame = ControlMessage::pfc(Priority::ALL[0], 0);
        Packet { seq, ..control_packet(&frame, Packet::NO_EXTRA) }
    }

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// Puts packets into the FIFO of `port`, all of which may be processed from `from` on.
    fn put(p: &mut Processor, port: u16, from: Time, numbers: impl IntoIterator<Item = u32>) {
        for n in numbers {
            let packet = Packet { ingress: PortId(port), ..packet(n) };
            p.join(&packet, from.saturating_sub(p.before));
        }
    }

    /// Runs it alone; returns what leaves, with the time.
    fn drain(p: &mut Processor) -> Vec<(Time, u32)> {
        let mut out = Vec::new();
        while p.next() != Time::NEVER {
            let now = p.next();
            out.extend(std::iter::from_fn(|| p.exit(now)).map(|packet| (now, packet.seq)));
            p.begin(now);
        }
        out
    }

    #[test]
    fn ports_are_served_in_turn_one_packet_each() {
        let mut p = processor(&PipelineConfig::default(), 4);
        for (port, packets) in [(0, vec![1, 2, 3]), (1, vec![11]), (3, vec![31, 32])] {
            put(&mut p, port, us(25), packets);
        }
        let order = drain(&mut p);
        // eligible at 25 us, then one per microsecond
        let expected = [(26, 1), (27, 11), (28, 31), (29, 2), (30, 32), (31, 3)];
        assert_eq!(order, expected.map(|(t, n)| (us(t), n)));
        assert_eq!(p.packets, 6);
    }

    #[test]
    fn a_packet_that_may_not_be_processed_yet_does_not_take_its_ports_turn() {
        let mut p = processor(&PipelineConfig::default(), 2);
        put(&mut p, 1, us(25), [2, 3]);
        put(&mut p, 0, us(30), [1]);
        assert_eq!(drain(&mut p), [(us(26), 2), (us(27), 3), (us(31), 1)]);
    }

    #[test]
    fn a_stop_freezes_processor_and_what_is_behind_it() {
        let config = PipelineConfig { delay_at: DelayAt::After, ..PipelineConfig::default() };
        let mut p = processor(&config, 1);
        put(&mut p, 0, us(0), 1..=3);
        p.begin(us(0));
        assert!(p.exit(us(1)).is_none(), "25 us behind the processor");
        p.begin(us(1));
        assert!(p.exit(us(2)).is_none());
        p.begin(us(2));
        // 1 reaches its queue at 26 us, 3 has been processed by then
        assert!(p.exit(us(3)).is_none());
        let first = p.exit(us(26)).unwrap();
        p.stop(&first, PortId(0), EgressLimit::Queue, us(26));
        assert_eq!((p.next(), p.inside().count()), (Time::NEVER, 3));
        assert!(p.exit(us(30)).is_none());
        let stop = p.stop.unwrap();
        p.go_on(&stop, us(126));
        assert_eq!((p.stopped, p.stops), (us(100), 1));
        assert_eq!(drain(&mut p), [(us(127), 2), (us(128), 3)]);
    }

    #[test]
    fn a_stop_waits_for_the_queues_that_its_limit_is_about() {
        let mut p = processor(&PipelineConfig::default(), 2);
        let (here, there, other) = (PortId(0), PortId(1), Priority::ALL[2]);
        let waits = |p: &Processor, at| {
            [(here, packet(1).priority), (here, other), (there, other)]
                .map(|q| p.waits_for(q.0, q.1, at))
        };
        assert_eq!(waits(&p, us(9)), [false; 3]);
        for (limit, expected) in [
            (EgressLimit::Queue, [true, false, false]),
            (EgressLimit::Port, [true, true, false]),
            (EgressLimit::All, [true; 3]),
        ] {
            p.stop(&packet(1), here, limit, us(5));
            assert_eq!(waits(&p, us(5)), expected);
            assert_eq!(waits(&p, us(4)), [false; 3], "not for so long");
        }
    }
}
