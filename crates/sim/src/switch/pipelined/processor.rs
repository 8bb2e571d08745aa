//! The packet processor of a pipelined switch: what is in front of it, in it and behind it.

use crate::chain::{Chain, Store, Taken};
use crate::config::{DelayAt, PipelineConfig};
use crate::outcome::ProcessorRecord;
use crate::probe::length::{Area, LengthProbe};
use std::collections::VecDeque;
use weir_core::{Bytes, Packet, PortId, Priority, Time};
use weir_fc::{EgressLimit, FlowControl, Mmu, OnFull, ParamError};

/// A packet that stops the processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    pub(super) packet: Packet,
    pub(super) egress: PortId,
    pub(super) limit: EgressLimit,
    since: Time,
}

/// The packet processor of a switch with what is in front of it and in it.
pub(crate) struct Processor {
    service: Time,
    /// Between arrival and processing.
    before: Time,
    /// Between processing and the egress queue.
    after: Time,
    pub(super) on_full: OnFull,
    /// A shortcut, if all of the delay lies in front of it: the processor spends no event on
    /// beginning with a packet; what it began with is decided when that is done. No packet that has
    /// come in since could have been chosen instead, because it may not be processed before a later
    /// instant; and with no packets behind the processor, nothing can have stopped it meanwhile.
    begins_late: bool,
    /// By port: packets with the time from which they may be processed, which are in `waiting`.
    inputs: Box<[Chain]>,
    waiting: Store,
    /// By port: from when its first packet may be processed; "never" without one.
    fronts: Box<[Time]>,
    /// The earliest of them.
    first: Time,
    /// The port that is looked at first.
    turn: usize,
    /// The packet that is being processed, and when that is done; nothing if it begins late.
    serving: Option<(Time, Packet)>,
    /// Since when no packet is being processed, if none is.
    free: Time,
    /// Packets that have been processed, with the time they reach their egress queue.
    behind: VecDeque<(Time, Packet)>,
    pub(super) stop: Option<Stop>,
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
    /// Results are the same with and without `shortcuts`.
    pub(in crate::switch) fn new(
        config: &PipelineConfig,
        fc: &mut dyn FlowControl,
        ports: usize,
        shortcuts: bool,
    ) -> Result<Self, ParamError> {
        let fc = fc
            .pipelined()
            .map_err(|why| ParamError(format!("it does not support pipelined switches: {why}")))?;
        let (before, after) = match config.delay_at {
            DelayAt::Before => (config.delay, Time::ZERO),
            DelayAt::After => (Time::ZERO, config.delay),
        };
        Ok(Self {
            service: config.service(),
            before,
            after,
            begins_late: shortcuts && after == Time::ZERO && before > Time::ZERO,
            on_full: fc.on_full().unwrap_or(config.on_full),
            inputs: vec![Chain::default(); ports].into(),
            waiting: Store::default(),
            fronts: vec![Time::NEVER; ports].into(),
            first: Time::NEVER,
            turn: 0,
            serving: None,
            free: Time::ZERO,
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
    #[inline]
    pub(super) fn next(&self) -> Time {
        if self.stop.is_some() {
            return Time::NEVER;
        }
        let done = match &self.serving {
            Some((done, _)) => *done,
            None if self.begins_late => self.first.max(self.free).saturating_add(self.service),
            None => self.first,
        };
        self.behind.front().map_or(done, |(exit, _)| done.min(*exit))
    }

    /// Begins with the next packet, ports in turn, if there is one and none is being processed.
    #[inline]
    pub(super) fn begin(&mut self, now: Time) {
        if self.begins_late || self.serving.is_some() || self.stop.is_some() || self.first > now {
            return;
        }
        self.serving = Some((now + self.service, self.take(now)));
    }

    /// Takes the next packet, ports in turn, that may be processed at `now`: there is one.
    #[inline]
    fn take(&mut self, now: Time) -> Packet {
        let i = self.turn_at(now);
        let Taken { packet, next, .. } = self.waiting.pop(&mut self.inputs[i]);
        self.fronts[i] = next.unwrap_or(Time::NEVER);
        self.first = self.fronts.iter().fold(Time::NEVER, |first, front| first.min(*front));
        self.turn = if i + 1 == self.fronts.len() { 0 } else { i + 1 };
        *packet
    }

    /// The first port, in turn, with a packet that may be processed at `now`: there is one.
    #[inline]
    fn turn_at(&self, now: Time) -> usize {
        let due = |front: &Time| *front <= now;
        let (before, from) = self.fronts.split_at(self.turn);
        let later = || before.iter().position(due);
        let in_turn = from.iter().position(due).map(|i| self.turn + i).or_else(later);
        in_turn.expect("the first of all packets is that of a port")
    }

    /// A packet joins the FIFO of its port at `now`; returns whether that may change when the
    /// processor has something to do next.
    #[inline]
    pub(super) fn join(&mut self, packet: &Packet, now: Time) -> bool {
        let (i, from) = (packet.ingress.index(), now + self.before);
        let comes_first = self.first == Time::NEVER;
        if self.inputs[i].is_empty() {
            self.fronts[i] = from;
            self.first = self.first.min(from);
        }
        self.waiting.push(&mut self.inputs[i], from, packet);
        self.ingress.set(now, self.ingress.length() + u64::from(packet.size));
        self.ingress_area.add(now, packet.size);
        comes_first && self.serving.is_none()
    }

    /// A packet is no longer counted at its ingress.
    #[inline]
    pub(super) fn leave_ingress(&mut self, packet: &Packet, now: Time) {
        self.ingress.set(now, self.ingress.length() - u64::from(packet.size));
        self.ingress_area.remove(now, packet.size);
    }

    /// The next packet that reaches its egress queue now, if there is one.
    #[inline]
    pub(super) fn exit(&mut self, now: Time) -> Option<Packet> {
        if self.stop.is_some() {
            return None;
        }
        if self.begins_late {
            let from = self.first.max(self.free);
            let done = from.saturating_add(self.service);
            if done > now {
                return None;
            }
            self.packets += 1;
            self.free = done;
            return Some(self.take(from));
        }
        if self.serving.as_ref().is_some_and(|(done, _)| *done <= now)
            && let Some((done, packet)) = self.serving.take()
        {
            self.packets += 1;
            self.free = done;
            if self.after == Time::ZERO && self.behind.is_empty() {
                return Some(packet);
            }
            self.behind.push_back((done + self.after, packet));
        }
        self.behind.front().filter(|(exit, _)| *exit <= now)?;
        self.behind.pop_front().map(|(_, packet)| packet)
    }

    /// Stops until there is room for `packet`.
    pub(super) fn stop(&mut self, packet: &Packet, egress: PortId, limit: EgressLimit, now: Time) {
        self.stops += 1;
        self.stop = Some(Stop { packet: *packet, egress, limit, since: now });
    }

    /// Goes on: what was on its way arrives later by as long as it was stopped.
    pub(super) fn go_on(&mut self, stop: &Stop, now: Time) {
        let lost = now - stop.since;
        self.stopped += now - stop.since.max(self.start);
        self.stop = None;
        for (exit, _) in &mut self.behind {
            *exit += lost;
        }
        if let Some((done, _)) = &mut self.serving {
            *done += lost;
        }
        self.free = now;
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
        let queued = self.inputs.iter().flat_map(|fifo| self.waiting.iter(fifo));
        let moving = self.serving.iter().chain(&self.behind).map(|(_, p)| p);
        queued.chain(moving).chain(self.stop.iter().map(|s| &s.packet))
    }

    /// Checks that the ingress accounts agree with the packets inside, and returns their bytes.
    pub(in crate::switch) fn audit(&self, mmu: &Mmu) -> Result<Bytes, String> {
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
    pub(in crate::switch) fn area(&self, until: Time) -> u128 {
        self.ingress_area.until(until, self.ingress.length())
    }

    /// The warm-up is over: statistics start at `now`.
    pub(in crate::switch) fn restart_statistics(&mut self, now: Time) {
        self.ingress.restart(now);
        self.ingress_area = Area::begin(now, self.ingress.length());
        (self.packets, self.stopped, self.start) = (0, Time::ZERO, now);
        self.stops = u64::from(self.stop.is_some());
    }

    pub(in crate::switch) fn record(&mut self, end: Time) -> ProcessorRecord {
        let since = self.stop.as_ref().map_or(end, |s| s.since.max(self.start));
        let still = end.saturating_sub(since);
        let area = self.area(self.ingress.until(end));
        ProcessorRecord {
            packets: self.packets,
            stops: self.stops,
            stopped: self.stopped + still,
            ingress: self.ingress.stats((self.start, end), area),
        }
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
        let mut fc = NoFlowControl::new(&PrioritySchedule::default());
        Processor::new(config, &mut fc, ports, true).unwrap()
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

    /// Port 0 would have its turn first, but its packet may not be processed when the processor
    /// begins with that of port 1.
    #[test]
    fn a_packet_that_comes_while_another_is_processed_is_not_chosen_instead() {
        let mut p = processor(&PipelineConfig::default(), 2);
        put(&mut p, 1, us(25), [2]);
        put(&mut p, 0, us(25) + Time::from_ps(1), [1]);
        assert_eq!(drain(&mut p), [(us(26), 2), (us(27), 1)]);
    }

    #[test]
    fn what_waits_for_the_end_of_a_stop_begins_then() {
        let mut p = processor(&PipelineConfig::default(), 1);
        put(&mut p, 0, us(25), 1..=3);
        assert_eq!((p.next(), p.exit(us(25)).is_none()), (us(26), true));
        let first = p.exit(us(26)).unwrap();
        p.stop(&first, PortId(0), EgressLimit::Queue, us(26));
        assert_eq!(p.next(), Time::NEVER);
        let stop = p.stop.unwrap();
        p.go_on(&stop, us(126));
        assert_eq!(drain(&mut p), [(us(127), 2), (us(128), 3)]);
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
