//! Priority Flow Control, IEEE 802.1Qbb (802.1Q clause 36).
//!
//! *Problem:* a full buffer must not drop. *Idea:* every ingress (port, priority) watches
//! the bytes it has brought in that are still in the switch. When they reach the pause
//! threshold it tells the neighbour to stop that priority, when they have fallen to the
//! resume threshold it lets it go on. A pause stops the whole priority of the link, guilty
//! and innocent flows alike; what that does is what the other schemes are about.
//!
//! *Messages:* one 64 B frame with a pause time per priority, in quanta of 512 bit times
//! of the receiving port; zero resumes.
//!
//! *Timers:* `timed`: a pause expires by itself after its time, and the pausing side
//! refreshes it while it lasts; `sticky`: a non-zero time holds until an explicit zero, as
//! several simulators have it. The two give the same result as long as nothing is lost
//! and no pause outlasts the refresh interval; refresh frames cost wire time.
//!
//! *Thresholds* are the buffer's ([`crate::mmu`]), static or dynamic.

use crate::{
    Actions, FlowControl, IngressBound, Kind, Mmu, NodeSetup, NodeView, Param, ParamError,
    PortQueue, PrioritySchedule, QueueLayout, SchemeInfo, StateSize, Target, TimerKey, Values,
    Violation,
};
use std::ops::Range;
use weir_core::{Bytes, ControlMessage, Packet, PortId, Priority, QueueId, Time};

/// Whether a pause expires by itself.
pub const TIMER: Param = Param {
    name: "timer",
    kind: Kind::Choice(&["timed", "sticky"]),
    default: "timed",
    doc: "timed: pauses expire after their quanta and are refreshed; sticky: a pause lasts until a RESUME.",
};
/// The pause time put into a frame.
pub const PAUSE_QUANTA: Param = Param {
    name: "pause-quanta",
    kind: Kind::Integer { min: 1, max: 65_535 },
    default: "65535",
    doc: "Pause time of a PAUSE frame in quanta of 512 bit times.",
};
/// How often a standing pause is repeated.
pub const REFRESH: Param = Param {
    name: "refresh",
    kind: Kind::Time,
    default: "",
    doc: "Interval at which a standing pause is repeated (timed only); default: half the pause time.",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "pfc",
    title: "PFC",
    summary: "Stops a whole priority of a link when the bytes it brought in reach a threshold.",
    reference: "IEEE 802.1Qbb",
    params: &[TIMER, PAUSE_QUANTA, REFRESH],
    lossless: true,
    ingress_bound: |_| IngressBound::Pauses,
    build,
};

/// Bytes of one pause quantum: 512 bit times.
const QUANTUM: u64 = 64;

const EXPIRY: u8 = 0;
const REFRESHING: u8 = 1;

/// One port: as the pausing side of its ingress, and as the paused side of its egress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Port {
    /// Bit `p`: we have paused the neighbour's priority `p`.
    sent: u8,
    /// Bit `p`: the neighbour has paused our priority `p`.
    held: u8,
    refresh: Time,
    quantum: Time,
}

/// PFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pfc {
    schedule: PrioritySchedule,
    queue_of: [u32; Priority::COUNT],
    lossless: u8,
    timed: bool,
    quanta: u16,
    ports: Vec<Port>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Pfc::new(values, setup)?))
}

fn expiry(port: PortId, priority: Priority) -> TimerKey {
    TimerKey { kind: EXPIRY, port, index: u32::from(priority.get()) }
}

fn refreshing(port: PortId) -> TimerKey {
    TimerKey { kind: REFRESHING, port, index: 0 }
}

/// The priorities whose bit is set.
pub(crate) fn priorities(mask: u8) -> impl Iterator<Item = Priority> {
    Priority::ALL.into_iter().filter(move |p| mask & 1 << p.get() != 0)
}

impl Pfc {
    /// PFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let quanta = values.integer(&PAUSE_QUANTA).expect("has a default") as u16;
        let timed = values.choice(&TIMER) == Some("timed");
        let mut ports = Vec::with_capacity(setup.ports.len());
        for port in setup.ports {
            let quantum = port.rate.time_for(Bytes::new(QUANTUM));
            let pause = quantum * u64::from(quanta);
            let refresh = values.time(&REFRESH).unwrap_or(pause / 2);
            if timed && (refresh == Time::ZERO || refresh >= pause) {
                return Err(ParamError(format!(
                    "refresh must be above zero and below the pause time: {} quanta last {pause} at {}",
                    quanta, port.rate
                )));
            }
            if timed {
                port.check_interval(REFRESH.name, refresh)?;
            }
            ports.push(Port { refresh, quantum, ..Port::default() });
        }
        Ok(Self {
            schedule: setup.schedule.clone(),
            queue_of: setup.schedule.queue_of(),
            lossless: setup.lossless,
            timed,
            quanta,
            ports,
        })
    }

    /// One frame with the same time for all priorities of `mask`.
    fn frame(&self, mask: u8, quanta: u16) -> ControlMessage {
        let mut times = [0; Priority::COUNT];
        for p in priorities(mask) {
            times[p.index()] = quanta;
        }
        ControlMessage::Pfc { enable: mask, quanta: times }
    }

    /// The queue of `priority`.
    pub(crate) fn queue_of(&self, priority: Priority) -> QueueId {
        QueueId(self.queue_of[priority.index()])
    }

    /// Whether the neighbour at `port` has been told to stop `priority`.
    pub(crate) fn has_paused(&self, port: PortId, priority: Priority) -> bool {
        self.ports[port.index()].sent & 1 << priority.get() != 0
    }

    /// Whether the neighbour at `port` has told us to stop `priority`.
    pub(crate) fn is_paused(&self, port: PortId, priority: Priority) -> bool {
        self.ports[port.index()].held & 1 << priority.get() != 0
    }

    /// Sees to it that the neighbour at `port` has stopped `priority`, or has not: for schemes
    /// that send PFC's frames for reasons of their own.
    pub(crate) fn set_paused(
        &mut self,
        now: Time,
        port: PortId,
        priority: Priority,
        stop: bool,
        a: &mut Actions,
    ) {
        match (self.has_paused(port, priority), stop) {
            (false, true) => self.pause(now, port, priority, a),
            (true, false) => self.resume(port, priority, a),
            _ => {}
        }
    }

    /// Tells the neighbour at `port` to stop `priority`.
    #[cold]
    #[inline(never)]
    fn pause(&mut self, now: Time, port: PortId, priority: Priority, a: &mut Actions) {
        let bit = 1 << priority.get();
        a.send(port, self.frame(bit, self.quanta));
        let state = &mut self.ports[port.index()];
        if self.timed && state.sent == 0 {
            a.arm_background(refreshing(port), now + state.refresh);
        }
        state.sent |= bit;
    }

    /// Tells the neighbour at `port` that `priority` may go on.
    #[cold]
    #[inline(never)]
    fn resume(&mut self, port: PortId, priority: Priority, a: &mut Actions) {
        let bit = 1 << priority.get();
        a.send(port, self.frame(bit, 0));
        let state = &mut self.ports[port.index()];
        state.sent &= !bit;
        if self.timed && state.sent == 0 {
            a.cancel(refreshing(port));
        }
    }
}

impl FlowControl for Pfc {
    fn layout(&self, _port: PortId) -> QueueLayout {
        QueueLayout::per_priority(&self.schedule)
    }

    fn unconcerned(&self, priority: Priority) -> Option<QueueId> {
        (self.lossless & 1 << priority.get() == 0).then(|| self.queue_of(priority))
    }

    fn quiet_queue(&self, priority: Priority) -> Option<QueueId> {
        Some(self.queue_of(priority))
    }

    /// Below XOFF until the neighbour is told to stop, and then above XON.
    fn quiet_range(&self, mmu: &Mmu, ingress: PortId, priority: Priority) -> Range<Bytes> {
        if self.has_paused(ingress, priority) {
            let news = mmu.resume_threshold(priority);
            news.saturating_add(Bytes::new(1))..Bytes::MAX
        } else {
            Bytes::ZERO..mmu.pause_threshold(priority)
        }
    }

    #[inline]
    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        _egress: PortId,
        a: &mut Actions,
    ) -> QueueId {
        let bit = 1 << p.priority.get();
        if self.lossless & bit != 0
            && self.ports[p.ingress.index()].sent & bit == 0
            && v.books.mmu.should_pause(p.ingress, p.priority)
        {
            self.pause(v.now, p.ingress, p.priority, a);
        }
        self.queue_of(p.priority)
    }

    #[inline]
    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, _from: PortQueue, a: &mut Actions) {
        let bit = 1 << p.priority.get();
        // A NIC sends its own packets: it has no ingress to resume.
        if self.ports[p.ingress.index()].sent & bit != 0
            && v.books.mmu.may_resume(p.ingress, p.priority)
        {
            self.resume(p.ingress, p.priority, a);
        }
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let ControlMessage::Pfc { enable, quanta } = m else { return };
        let state = &mut self.ports[port.index()];
        for priority in priorities(*enable) {
            let bit = 1 << priority.get();
            let time = quanta[priority.index()];
            if time > 0 {
                state.held |= bit;
                a.hold(port, Target::Priority(priority));
                if self.timed {
                    // overwrites a pause that still runs, also with a shorter time
                    let until = v.now + state.quantum * u64::from(time);
                    a.arm_background(expiry(port, priority), until);
                }
            } else if state.held & bit != 0 {
                state.held &= !bit;
                a.open(port, Target::Priority(priority));
                a.cancel(expiry(port, priority));
            }
        }
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        let state = &mut self.ports[key.port.index()];
        match key.kind {
            EXPIRY => {
                state.held &= !(1 << key.index);
                a.open(key.port, Target::Priority(Priority::ALL[key.index as usize]));
            }
            _ => {
                a.arm_background(key, v.now + state.refresh);
                let mask = state.sent;
                a.send(key.port, self.frame(mask, self.quanta));
            }
        }
    }

    fn link(&mut self, _v: &NodeView<'_>, port: PortId, _up: bool, a: &mut Actions) {
        let state = &mut self.ports[port.index()];
        for priority in priorities(std::mem::take(&mut state.held)) {
            a.open(port, Target::Priority(priority));
            a.cancel(expiry(port, priority));
        }
        if std::mem::take(&mut state.sent) != 0 {
            a.cancel(refreshing(port));
        }
    }

    fn audit(&self, v: &NodeView<'_>, drained: bool) -> Result<(), Violation> {
        for (i, port) in self.ports.iter().enumerate() {
            if drained && port.sent != 0 {
                return Err(Violation {
                    scheme: INFO.name,
                    what: format!(
                        "port {i} still pauses priorities {:#010b} of its neighbour at {}, with nothing left in the network",
                        port.sent, v.now
                    ),
                });
            }
        }
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        // a counter of 3 bytes and a state bit per (port, priority), rounded to 4 bytes
        StateSize { tables: vec![("ingress counters", self.ports.len() as u64 * 8 * 4)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Bench, PRIORITY};
    use weir_core::Rate;

    const UP: PortId = PortId(0);
    const OUT: PortId = PortId(1);
    /// Priority 3 under strict priority: queues count down from priority 7.
    const Q: QueueId = QueueId(4);

    fn bench(timer: &str) -> Bench {
        let mut values = Values::new();
        values.set(&TIMER, timer).unwrap();
        let mut bench = Bench::switch(&INFO, &values, 3);
        bench.thresholds("3KB", "1KB");
        bench
    }

    fn fill(bench: &mut Bench, packets: u32) {
        for seq in 0..packets {
            assert_eq!(bench.arrive(bench.packet(UP, 1000).seq(seq), OUT), Q);
        }
    }

    fn pause(quanta: u16) -> ControlMessage {
        ControlMessage::pfc(PRIORITY, quanta)
    }

    #[test]
    fn pauses_the_ingress_once_when_it_reaches_xoff() {
        let mut b = bench("timed");
        fill(&mut b, 2);
        assert!(b.sent().is_empty());
        fill(&mut b, 3);
        assert_eq!(b.sent(), [(UP, pause(65_535))]);
    }

    #[test]
    fn it_need_not_hear_of_an_ingress_below_xoff_or_paused_and_above_xon() {
        let mut b = bench("timed");
        let quiet = |b: &Bench, p| b.scheme().quiet_range(&b.view().books.mmu, UP, p);
        let (lossless, lossy) = (PRIORITY, Priority::ALL[5]);
        let [xoff, above_xon] = [3000, 1001].map(Bytes::new);
        assert_eq!(b.scheme().quiet_queue(lossless), Some(Q));
        assert_eq!(quiet(&b, lossless), Bytes::ZERO..xoff);
        fill(&mut b, 3);
        b.depart(OUT, Q).unwrap();
        // 2000 B and paused
        assert_eq!(quiet(&b, lossless), above_xon..Bytes::MAX);
        assert_eq!(quiet(&b, lossy), Bytes::ZERO..Bytes::MAX);
        b.depart(OUT, Q).unwrap();
        assert_eq!(quiet(&b, lossless), Bytes::ZERO..xoff, "it has been resumed at xon");
        fill(&mut b, 2);
        b.link(UP, false);
        assert_eq!(quiet(&b, lossless), Bytes::ZERO..xoff, "what was told is void");
    }

    #[test]
    fn another_ingress_or_priority_has_its_own_account() {
        let mut b = bench("timed");
        fill(&mut b, 2);
        b.arrive(b.packet(PortId(2), 1000), OUT);
        b.arrive(b.packet(UP, 3000).priority(Priority::ALL[5]), OUT);
        assert!(b.sent().is_empty(), "priority 5 is not lossless here, port 2 holds 1000 B");
    }

    #[test]
    fn resumes_when_the_ingress_has_fallen_to_xon() {
        let mut b = bench("timed");
        fill(&mut b, 3);
        b.take_sent();
        b.depart(OUT, Q).unwrap();
        assert!(b.sent().is_empty(), "2000 B are above xon");
        b.depart(OUT, Q).unwrap();
        assert_eq!(b.take_sent(), [(UP, pause(0))]);
        b.depart(OUT, Q).unwrap();
        assert!(b.sent().is_empty(), "one RESUME is enough");
        assert!(b.timers().is_empty(), "nothing left to refresh");
        b.scheme().audit(&b.view(), true).unwrap();
    }

    #[test]
    fn a_standing_pause_is_refreshed_at_half_its_time() {
        let mut b = bench("timed");
        fill(&mut b, 3);
        b.take_sent();
        b.fire_next();
        // 65 535 quanta of 12.8 ns are 838.848 us
        assert_eq!(b.now, Time::from_ns(419_424));
        assert_eq!(b.take_sent(), [(UP, pause(65_535))]);
        b.fire_next();
        assert_eq!(b.now, Time::from_ns(838_848));
        assert!(b.scheme().audit(&b.view(), true).is_err(), "a pause is left standing");
    }

    #[test]
    fn one_refresh_frame_carries_all_paused_priorities_of_a_port() {
        let schedule = PrioritySchedule::default();
        let thresholds = crate::Thresholds::Static {
            xoff: Bytes::new(1000),
            xon: Bytes::ZERO,
            limit: vec![Bytes::MAX],
        };
        let setup = NodeSetup {
            node: weir_core::NodeId(0),
            role: crate::Role::Switch,
            ports: &[crate::PortSetup { rate: Rate::from_gbps(40), delay: Time::ZERO }],
            schedule: &schedule,
            lossless: 0b11,
            thresholds: &thresholds,
            max_frame: Bytes::new(1518),
            seed: 1,
        };
        let mut pfc = Pfc::new(&Values::new(), &setup).unwrap();
        let mut a = Actions::new();
        pfc.pause(Time::ZERO, UP, Priority::ALL[0], &mut a);
        pfc.pause(Time::from_ns(5), UP, Priority::ALL[1], &mut a);
        let arms = a.as_slice().iter().filter(|x| matches!(x, crate::Action::Arm { .. })).count();
        assert_eq!(arms, 1, "the second pause rides on the first one's refresh");
        let mut a = Actions::new();
        pfc.resume(UP, Priority::ALL[0], &mut a);
        let resume = |p| crate::Action::Send { port: UP, message: ControlMessage::pfc(p, 0) };
        assert_eq!(a.as_slice(), [resume(Priority::ALL[0])], "the other one is still refreshed");
        pfc.resume(UP, Priority::ALL[1], &mut a);
        let cancel = crate::Action::Cancel { key: refreshing(UP) };
        assert_eq!(a.as_slice()[1..], [resume(Priority::ALL[1]), cancel]);
        assert_eq!(
            pfc.frame(0b11, 7),
            ControlMessage::Pfc { enable: 3, quanta: [7, 7, 0, 0, 0, 0, 0, 0] }
        );
    }

    /// 10 000 B, 1000 B of them headroom: a dynamic threshold of what is left of 9000 B. It pauses
    /// whoever holds as much, but a priority that may lose packets has nobody to pause.
    #[test]
    fn a_lossy_priority_pauses_nobody_however_much_it_holds() {
        let b = bench("timed");
        let lossy = Priority::ALL[5];
        let thresholds = crate::Thresholds::Dynamic {
            reserve: Bytes::ZERO,
            resume_offset: Bytes::ZERO,
            headroom: vec![Bytes::new(1000)],
            shift: vec![0],
        };
        let buffer = Bytes::new(10_000);
        let config = crate::MmuConfig { buffer, thresholds, lossless: 1 << 3, exempt: 0 };
        let mut books = b.view().books.clone();
        books.mmu = crate::Mmu::new(config, 1);
        books.mmu.admit(UP, lossy, 9500).unwrap();
        assert!(books.mmu.should_pause(UP, lossy));
        let mut pfc = Bench::around(1, "3KB", "1KB", |s| Pfc::new(&Values::new(), s).unwrap());
        let (mut p, mut a) = (b.packet(UP, 1000).priority(lossy).0, Actions::new());
        let view = NodeView { now: Time::ZERO, books: &books };
        assert_eq!(pfc.scheme_mut().arrive(&view, &mut p, OUT, &mut a), QueueId(2));
        assert!(a.is_empty());
    }

    #[test]
    fn a_pause_holds_its_priority_until_it_expires() {
        let mut b = bench("timed");
        b.control(OUT, &pause(100));
        fill(&mut b, 1);
        assert!(b.is_held(OUT, Q));
        assert_eq!(b.depart(OUT, Q), None);
        assert!(!b.is_held(OUT, QueueId(0)), "priority 7 goes on");
        assert!(!b.is_held(PortId(2), Q), "other ports go on");
        b.fire_next();
        // 100 quanta of 12.8 ns
        assert_eq!(b.now, Time::from_ns(1280));
        assert!(b.depart(OUT, Q).is_some());
    }

    #[test]
    fn a_pause_that_expired_is_forgotten() {
        let mut b =
            Bench::around(2, "3KB", "1KB", |setup| Pfc::new(&Values::new(), setup).unwrap());
        b.control(OUT, &pause(100));
        assert!(b.scheme().is_paused(OUT, PRIORITY));
        b.fire_next();
        assert!(!b.scheme().is_paused(OUT, PRIORITY));
    }

    #[test]
    fn a_later_frame_overwrites_the_time_also_with_a_shorter_one() {
        let mut b = bench("timed");
        b.control(OUT, &pause(100));
        b.control(OUT, &pause(10));
        b.fire_next();
        assert_eq!(b.now, Time::from_ns(128));
        assert!(!b.is_held(OUT, Q));
        assert!(b.timers().is_empty());
    }

    #[test]
    fn bits_that_are_not_set_leave_their_priority_alone() {
        let mut b = bench("timed");
        b.control(OUT, &pause(100));
        b.control(OUT, &ControlMessage::Pfc { enable: 1, quanta: [0; 8] });
        assert!(b.is_held(OUT, Q));
        b.control(OUT, &pause(0));
        assert!(!b.is_held(OUT, Q));
        assert!(b.timers().is_empty(), "a RESUME disarms the expiry");
    }

    #[test]
    fn a_resume_without_a_pause_asks_for_nothing() {
        let bench =
            Bench::around(2, "3KB", "1KB", |setup| Pfc::new(&Values::new(), setup).unwrap());
        let mut pfc = bench.scheme().clone();
        let mut a = Actions::new();
        pfc.control(&bench.view(), OUT, &pause(100), &mut a);
        a = Actions::new();
        // priority 2 was never paused; priority 3 is opened and its expiry disarmed
        let both = ControlMessage::Pfc { enable: 0b1100, quanta: [0; 8] };
        pfc.control(&bench.view(), OUT, &both, &mut a);
        assert_eq!(a.as_slice().len(), 2, "{:?}", a.as_slice());
    }

    #[test]
    fn sticky_pauses_neither_expire_nor_refresh() {
        let mut b = bench("sticky");
        b.control(OUT, &pause(1));
        fill(&mut b, 3);
        assert!(b.timers().is_empty());
        assert!(b.is_held(OUT, Q));
        b.control(OUT, &pause(0));
        assert!(!b.is_held(OUT, Q));
    }

    #[test]
    fn a_link_change_voids_pauses_in_both_directions() {
        let mut b = bench("timed");
        b.control(UP, &pause(100));
        fill(&mut b, 3);
        b.take_sent();
        b.link(UP, false);
        assert!(b.timers().is_empty());
        assert!(!b.is_held(UP, Q));
        // what we had paused must be paused again when more arrives
        fill(&mut b, 1);
        assert_eq!(b.sent(), [(UP, pause(65_535))]);
    }

    #[test]
    fn state_is_four_bytes_per_port_and_priority() {
        let tables = bench("timed").scheme().state_size().tables;
        assert_eq!(tables, [("ingress counters", 3 * 8 * 4)]);
    }

    #[test]
    fn a_refresh_that_comes_too_late_or_faster_than_frames_can_be_sent_is_refused() {
        let mut values = Values::new();
        values.set(&PAUSE_QUANTA, "10").unwrap();
        values.set(&REFRESH, "1us").unwrap();
        let schedule = PrioritySchedule::default();
        let setup = NodeSetup {
            node: weir_core::NodeId(0),
            role: crate::Role::Switch,
            ports: &[crate::PortSetup { rate: Rate::from_gbps(40), delay: Time::ZERO }],
            schedule: &schedule,
            lossless: 8,
            thresholds: &crate::Thresholds::Pool,
            max_frame: Bytes::new(1518),
            seed: 1,
        };
        // 10 quanta at 40 Gb/s are 128 ns
        assert!(Pfc::new(&values, &setup).unwrap_err().0.contains("128 ns"));
        // 64 B, preamble and gap are 16.8 ns
        for (refresh, fits) in [("16800ps", false), ("16801ps", true)] {
            values.set(&REFRESH, refresh).unwrap();
            assert_eq!(Pfc::new(&values, &setup).is_ok(), fits, "{refresh}");
        }
        values.set(&TIMER, "sticky").unwrap();
        values.set(&REFRESH, "1ps").unwrap();
        assert!(Pfc::new(&values, &setup).is_ok(), "nothing is refreshed");
    }
}
