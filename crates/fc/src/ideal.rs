//! Ideal flow control: a queue per flow and a pause per flow.
//!
//! *Problem:* in every practical scheme flows share queues or pauses, so flows without congestion
//! wait behind congested ones. *Idea:* each flow has its own queue at every port, as in per-VC flow
//! control of ATM networks (Kung and Morris, 1995) and in FlowSail's definition of the ideal
//! (section II-B). A flow whose queue is longer than its share of what the port drains in a
//! hop round trip is paused at the previous hop, alone. No switch has that many queues: this is
//! the reference for the others.
//!
//! *Messages:* a 64 B PAUSE or RESUME frame naming one flow.
//!
//! *Parameters:* see [`INFO`]. A flow pauses when its queue exceeds
//! `pause-factor * HRTT * rate / N_active`. `resume = level`: it resumes when its queue, at
//! one of its departures, is at or below the threshold of that moment; `marks`: when the
//! last packet that found the queue too long has left, as BFC does it.
//!
//! *Where it is:* `arrive` and `depart` pause the previous hop, `control` reacts to the next one.
//! On a NIC every flow has its own slot anyway.

pub use crate::perflow::{BACKSTOP, HOP_RTT};
pub use crate::refresh::REFRESH;

use crate::perflow::{
    Backstop, FlowTable, HopBdp, NicFlows, Own, Plan, SHARE, Upstream, active_with,
};
use crate::refresh::{Due, Refresh};
use crate::{
    Actions, Fallback, FlowControl, Hints, HoldState, Interest, Kind, LinkState, Mmu, Network,
    NodeSetup, NodeView, Param, ParamError, PortQueue, QueueLayout, Role, SchemeInfo, Senders,
    StateSize, Target, TimerKey, Values, Violation,
};
use weir_core::prefetch::prefetch;
use weir_core::{Bytes, ControlMessage, FlowId, Packet, PortId, Priority, QueueId, Reason};

/// The threshold in hop bandwidth-delay products.
pub const PAUSE_FACTOR: Param = Param {
    name: "pause-factor",
    kind: Kind::Fraction,
    fallback: Fallback::Is("1"),
    doc: "Pause threshold in hop bandwidth-delay products over N_active.",
};
/// When a flow resumes.
pub const RESUME: Param = Param {
    name: "resume",
    kind: Kind::Choice(&["level", "marks"]),
    fallback: Fallback::Is("level"),
    doc: "level: when the flow's queue is back at the threshold; marks: when the last packet that \
          exceeded it has left.",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "ideal",
    title: "ideal FC",
    summary: "A queue and a pause for every flow: impossible in a real switch, used as a \
              reference.",
    reference: "Li et al., FlowSail, ICNP 2023, section II-B; Kung and Morris, 1995",
    params: &[PAUSE_FACTOR, RESUME, HOP_RTT, BACKSTOP, REFRESH],
    lossless: false,
    ingress_bound: crate::perflow::ingress_bound,
    many_paths: Err(crate::perflow::ONE_PATH),
    senders: Senders::Switches,
    reports: |_| false,
    build,
};

/// `Packet::local_tag` of a packet that found its queue too long.
const MARKED: u8 = 1;

/// A flow at an egress port; its index in the table is its queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Entry {
    packets: u32,
    /// Packets that found the queue too long and are still in it.
    marked: u32,
    /// The next hop has paused it.
    held: bool,
    upstream: Upstream,
}

/// Ideal flow control at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ideal {
    plan: Plan,
    role: Role,
    by_marks: bool,
    threshold: HopBdp,
    /// By port and class.
    egresses: Vec<FlowTable<Entry>>,
    nic: NicFlows,
    backstop: Backstop,
    refresh: Refresh<(Priority, FlowId)>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    let ideal = Ideal::new(values, setup)?;
    ideal.threshold.check("pause-factor and hop-rtt", setup)?;
    Ok(Box::new(ideal))
}

impl Ideal {
    /// Ideal flow control for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let factor = values.ratio(&PAUSE_FACTOR).expect("has a default");
        let plan = Plan::new(setup, Own { on_demand: true, ..Own::default() });
        Ok(Self {
            role: setup.role,
            by_marks: values.one_of(&RESUME, &[("level", false), ("marks", true)]),
            threshold: HopBdp::new(values, setup).scaled(factor),
            egresses: FlowTable::per_class(setup, &plan),
            nic: NicFlows::default(),
            backstop: Backstop::new(values, setup)?,
            refresh: Refresh::new(values, setup)?,
            plan,
        })
    }

    /// The entry of `flow` in table `at`, new if need be.
    fn entry(&mut self, at: usize, flow: FlowId) -> (u32, &mut Entry) {
        let flows = &mut self.egresses[at];
        let i = flows
            .find_again(flow.get())
            .unwrap_or_else(|| flows.insert(flow.get(), Entry::default()));
        (i, flows.at_mut(i).expect("found or just made"))
    }

    /// The next hop pauses or resumes a flow of ours.
    fn hear(
        &mut self,
        port: PortId,
        class: usize,
        flow: FlowId,
        state: HoldState,
        a: &mut Actions,
    ) {
        let (at, held) = (self.plan.at(port, class), state.is_held());
        if !held && self.egresses[at].find(flow.get()).is_none() {
            return;
        }
        let (i, entry) = self.entry(at, flow);
        if std::mem::replace(&mut entry.held, held) != held {
            a.set(port, Target::Queue(self.plan.data(class, i)), state);
        }
        self.free(at, i);
    }

    /// A flow may not be sent to the neighbour at `port`, or may again.
    fn set_paused(
        &mut self,
        port: PortId,
        (priority, flow): (Priority, FlowId),
        state: HoldState,
        a: &mut Actions,
    ) {
        if self.role == Role::Nic {
            self.nic.set(port, (priority, flow.get()), flow.get(), state, a);
        } else if let Some(class) = self.plan.class(priority) {
            self.hear(port, class, flow, state, a);
        }
    }

    /// The pauses that stand at the neighbour at `port`.
    fn standing(&self, port: PortId) -> Vec<ControlMessage> {
        let mut messages = Vec::new();
        for (at, flows) in self.egresses.iter().enumerate() {
            let priority = self.plan.priority(at % self.plan.classes());
            let told = flows.iter().filter_map(|(_, _, e)| e.upstream.at(port));
            let state = |flow| ControlMessage::FlowState { pause: true, priority, flow };
            messages.extend(told.map(state));
        }
        messages
    }

    /// Gives the flow's queue back when nothing keeps it.
    fn free(&mut self, at: usize, i: u32) {
        let flows = &mut self.egresses[at];
        if flows.at(i).is_some_and(|e| e.packets == 0 && !e.held) {
            flows.remove(i);
        }
    }

    /// A packet of `class` has left by the queue `from`.
    fn left(
        &mut self,
        v: &NodeView<'_>,
        p: &Packet,
        class: usize,
        from: PortQueue,
        a: &mut Actions,
    ) {
        let PortQueue { port, queue } = from;
        let (at, i) = (self.plan.at(port, class), self.plan.index(class, queue));
        let length = v.queue(port, queue).bytes.get();
        let active = u64::from(v.active(port)).max(1);
        let threshold = self.threshold.bytes(p.ingress, port);
        let at_level = length * active <= threshold;
        let by_marks = self.by_marks;
        let Some(e) = self.egresses[at].at_mut(i) else { return };
        e.packets = e.packets.saturating_sub(1);
        e.marked = e.marked.saturating_sub(u32::from(p.local_tag == MARKED));
        if if by_marks { e.marked == 0 } else { at_level } {
            let why = || match by_marks {
                true => Reason::CountedGone,
                false => {
                    let share = Bytes::new(threshold / active);
                    Reason::flow(port, Bytes::new(length)).at_most(SHARE, share)
                }
            };
            e.upstream.resume(p.priority, why, a);
        }
        self.free(at, i);
    }
}

impl FlowControl for Ideal {
    fn layout(&self, _port: PortId) -> QueueLayout {
        self.plan.layout()
    }

    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId {
        self.backstop.arrive(v, p, egress, a);
        let Some(class) = self.plan.class(p.priority) else { return self.plan.other(p.priority) };
        let threshold = self.threshold.bytes(p.ingress, egress);
        let at = self.plan.at(egress, class);
        let (i, _) = self.entry(at, p.flow);
        let queue = self.plan.data(class, i);
        let e = self.egresses[at].at_mut(i).expect("found or just made");
        e.packets += 1;
        let length = v.queue(egress, queue).bytes.get() + u64::from(p.size);
        let active = active_with(v, egress, queue);
        if length * active > threshold {
            e.marked += 1;
            p.local_tag = MARKED;
            let why = || {
                let share = Bytes::new(threshold / active);
                Reason::flow(egress, Bytes::new(length)).above(SHARE, share)
            };
            e.upstream.pause(p.ingress, p.priority, p.flow, why, a);
            self.refresh.told(v.now, p.ingress, a);
        }
        queue
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        if self.role == Role::Nic {
            return;
        }
        self.backstop.depart(v, p, from, a);
        if let Some(class) = self.plan.class(p.priority) {
            self.left(v, p, class, from, a);
            p.local_tag = 0;
        }
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let ControlMessage::FlowState { pause, priority, flow } = m else {
            return self.backstop.control(v, port, m, a);
        };
        let (key, state) = ((*priority, *flow), HoldState::of(*pause));
        self.refresh.received(v, port, key, state, a);
        self.set_paused(port, key, state, a);
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        match Due::of(key) {
            Some(Due::Repeat) => {
                let standing = self.standing(key.port);
                self.refresh.repeat(v, key.port, &standing, a);
            }
            Some(Due::Lapse) => {
                for flow in self.refresh.lapsed(v, key.port, a) {
                    self.set_paused(key.port, flow, HoldState::Open, a);
                }
            }
            None => _ = self.backstop.timer(v, key, a),
        }
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.backstop.link(v, port, link, a);
        self.refresh.link(v.now, port, link, a);
        self.nic.link(port, a);
        let classes = self.plan.classes();
        for (at, flows) in self.egresses.iter().enumerate().filter(|_| link.is_up()) {
            let priority = self.plan.priority(at % classes);
            flows.iter().for_each(|(_, _, e)| e.upstream.repeat(port, priority, a));
        }
        for class in 0..self.plan.classes() {
            let at = self.plan.at(port, class);
            let held: Vec<u32> = self.egresses[at]
                .iter_mut()
                .filter_map(|(i, e)| std::mem::take(&mut e.held).then_some(i))
                .collect();
            for i in held {
                a.open(port, Target::Queue(self.plan.data(class, i)));
                self.free(at, i);
            }
        }
    }

    fn flow_starts(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.nic.starts(slot, (p.priority, p.flow.get()), a);
    }

    fn flow_ends(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.nic.ends(slot, (p.priority, p.flow.get()), a);
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.backstop.audit(v, network)?;
        let classes = self.plan.classes();
        for (at, flows) in self.egresses.iter().enumerate() {
            let (port, class) = (at / classes, at % classes);
            if network.is_drained()
                && let Some((_, flow, e)) = flows.iter().next()
            {
                let what = format!("port {port} remembers flow {flow:#x} after a drain: {e:?}");
                return Err(Violation { scheme: INFO.name, what });
            }
            for (i, flow, e) in flows.iter() {
                let queued = v.queue(PortId::from_index(port), self.plan.data(class, i)).packets;
                if queued != e.packets {
                    let what = format!(
                        "port {port} counts {} packets of flow {flow:#x}, its queue holds {queued}",
                        e.packets
                    );
                    return Err(Violation { scheme: INFO.name, what });
                }
            }
        }
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let entries: usize = self.egresses.iter().map(FlowTable::len).sum();
        // flow 13 B, queue 2 B, flags 1 B
        StateSize { tables: vec![("flow table", (entries + self.nic.len()) as u64 * 16)] }
    }
}

impl Hints for Ideal {
    fn interest(&self, _mmu: &Mmu, _ingress: PortId, priority: Priority) -> Interest {
        // a NIC's packets leave no trace
        if self.role == Role::Nic {
            return Interest::Never(self.plan.other(priority));
        }
        self.backstop.interest(&self.plan, priority)
    }

    /// A flow without packets here would take the first free queue, which would hold this packet
    /// only, and give it back. (A queue that has yet to be made is made by `arrive`.)
    fn pass(&mut self, v: &NodeView<'_>, p: &mut Packet, egress: PortId) -> Option<QueueId> {
        let class = self.plan.class(p.priority).filter(|_| self.backstop.is_none())?;
        let flows = &self.egresses[self.plan.at(egress, class)];
        let queue = self.plan.data(class, flows.next_index());
        let passes = queue.index() < v.books.ports[egress.index()].queues.len()
            && u64::from(p.size) <= self.threshold.bytes(p.ingress, egress)
            && flows.find(p.flow.get()).is_none();
        passes.then_some(queue)
    }

    fn prefetch(&self) {
        prefetch(self.egresses.as_slice());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::given;
    use crate::harness::{Bench, PRIORITY, TestPacket};
    use weir_core::{NodeId, Priority, Rate, Time};

    const UP: PortId = PortId(0);
    const OUT: PortId = PortId(1);
    /// The controlled priority comes last.
    const FIRST: u32 = 7;

    /// 100 Gb/s and 1 us: the product is 25 000 B.
    fn bench(params: &[(&str, &str)]) -> Bench {
        let all = [&[("hop-rtt", "2us")], params].concat();
        let mut b = Bench::switch(&INFO, &given(&INFO, &all), 3);
        b.links(Rate::from_gbps(100), Time::from_us(1));
        b
    }

    fn packet(b: &Bench, k: u32) -> TestPacket {
        b.packet(UP, 1000).flow(9, k, 10)
    }

    fn send(b: &mut Bench, k: u32, n: u32) -> QueueId {
        let mut q = QueueId(0);
        for _ in 0..n {
            q = b.arrive(packet(b, k), OUT);
        }
        q
    }

    fn state(pause: bool, k: u32) -> ControlMessage {
        let flow = FlowId::new(NodeId(9), k);
        ControlMessage::FlowState { pause, priority: PRIORITY, flow }
    }

    #[test]
    fn every_flow_has_a_queue_and_gives_it_back() {
        let mut b = bench(&[]);
        for k in 0..200 {
            assert_eq!(send(&mut b, k, 2), QueueId(FIRST + k));
        }
        let turn: Vec<QueueId> = (0..200).map(|k| QueueId(FIRST + k)).collect();
        assert_eq!(b.up_next(OUT), turn, "they share one group");
        b.depart(OUT, QueueId(FIRST + 5)).unwrap();
        b.scheme().audit(&b.view(), Network::InUse).unwrap();
        assert_eq!(send(&mut b, 5, 1), QueueId(FIRST + 5), "a packet was left");
        (0..2).for_each(|_| _ = b.depart(OUT, QueueId(FIRST + 5)));
        assert_eq!(send(&mut b, 200, 1), QueueId(FIRST + 5), "the queue is used again");
    }

    #[test]
    fn a_queue_at_the_threshold_is_not_beyond_it() {
        let mut b = bench(&[]);
        send(&mut b, 0, 25);
        assert!(b.sent().is_empty(), "25 000 B");
        send(&mut b, 0, 1);
        assert_eq!(b.sent(), [(UP, state(true, 0))]);
    }

    /// Flow 1 has a packet here. A packet of 13 000 B of flow 0 makes two active queues, with
    /// 12 500 B each; if flow 0 is held, only flow 1 is active, and 25 000 B are the limit.
    #[test]
    fn the_queue_a_packet_joins_shares_the_threshold_unless_it_is_held() {
        let joined = |held: bool| {
            let mut b = bench(&[]);
            send(&mut b, 1, 1);
            b.control(OUT, &state(held, 0));
            b.arrive(b.packet(UP, 13_000).flow(9, 0, 10), OUT);
            b.take_sent()
        };
        assert_eq!(joined(false), [(UP, state(true, 0))]);
        assert_eq!(joined(true), []);
    }

    #[test]
    fn only_the_flow_beyond_its_share_is_paused() {
        let mut b = bench(&[]);
        send(&mut b, 1, 1);
        // two active queues: 12 500 B each
        send(&mut b, 0, 12);
        assert!(b.sent().is_empty());
        send(&mut b, 0, 2);
        assert_eq!(b.sent(), [(UP, state(true, 0))]);
    }

    #[test]
    fn a_paused_flow_resumes_when_its_queue_is_back_at_the_threshold() {
        let mut b = bench(&[]);
        let q = send(&mut b, 0, 27);
        assert_eq!(b.take_sent(), [(UP, state(true, 0))]);
        b.depart(OUT, q).unwrap();
        assert!(b.sent().is_empty(), "26 000 B");
        b.depart(OUT, q).unwrap();
        assert_eq!(b.take_sent(), [(UP, state(false, 0))]);
        b.depart(OUT, q).unwrap();
        assert!(b.sent().is_empty());
    }

    #[test]
    fn a_paused_flow_resumes_at_its_share_of_the_threshold() {
        let mut b = bench(&[]);
        let q = send(&mut b, 0, 27);
        send(&mut b, 1, 1);
        b.take_sent();
        // two active queues: 12 500 B each
        (0..14).for_each(|_| _ = b.depart(OUT, q));
        assert!(b.sent().is_empty(), "13 000 B");
        b.depart(OUT, q).unwrap();
        assert_eq!(b.take_sent(), [(UP, state(false, 0))]);
    }

    #[test]
    fn by_marks_it_resumes_with_the_last_packet_that_exceeded() {
        let mut b = bench(&[("resume", "marks")]);
        let q = send(&mut b, 0, 27);
        b.take_sent();
        (0..26).for_each(|_| _ = b.depart(OUT, q));
        assert!(b.sent().is_empty());
        b.depart(OUT, q).unwrap();
        assert_eq!(b.take_sent(), [(UP, state(false, 0))]);
        b.scheme().audit(&b.view(), Network::Drained).unwrap();
    }

    #[test]
    fn a_pause_holds_one_flow_also_before_it_comes() {
        let mut b = bench(&[]);
        b.control(OUT, &state(true, 0));
        let (held, open) = (send(&mut b, 0, 1), send(&mut b, 1, 1));
        assert!(b.is_held(OUT, held) && !b.is_held(OUT, open));
        b.depart(OUT, open).unwrap();
        b.control(OUT, &state(false, 0));
        b.control(OUT, &state(false, 0));
        b.depart(OUT, held).unwrap();
        b.scheme().audit(&b.view(), Network::Drained).unwrap();
    }

    #[test]
    fn a_held_flow_keeps_its_queue_when_it_is_empty() {
        let mut b = bench(&[]);
        let q = send(&mut b, 0, 1);
        b.depart(OUT, q).unwrap();
        b.control(OUT, &state(true, 0));
        let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
        assert!(left.what.contains("held: true"), "{left}");
        assert_ne!(send(&mut b, 1, 1), q);
        b.control(OUT, &state(false, 0));
        assert!(!b.is_held(OUT, q));
        assert_eq!(send(&mut b, 2, 1), q);
    }

    #[test]
    fn a_link_that_recovers_is_paused_at_once_and_what_it_had_paused_is_open() {
        let mut b = bench(&[]);
        let q = send(&mut b, 0, 26);
        b.control(OUT, &state(true, 0));
        b.control(OUT, &state(true, 3));
        b.take_sent();
        b.link(UP, LinkState::Down);
        b.link(OUT, LinkState::Down);
        assert!(!b.is_held(OUT, q));
        send(&mut b, 0, 1);
        assert_eq!(b.take_sent(), []);
        b.link(UP, LinkState::Up);
        assert_eq!(b.take_sent(), [(UP, state(true, 0))], "paused anew");
        (0..27).for_each(|_| _ = b.depart(OUT, q));
        assert_eq!(b.take_sent(), [(UP, state(false, 0))]);
        b.scheme().audit(&b.view(), Network::Drained).unwrap();
    }

    #[test]
    fn a_nic_holds_the_slot_of_the_named_flow() {
        let mut b = Bench::nic(&INFO, &Values::new());
        b.flow_starts(QueueId(0), packet(&bench(&[]), 0));
        b.flow_starts(QueueId(1), packet(&bench(&[]), 1));
        b.control(UP, &state(true, 1));
        assert!(!b.is_held(UP, QueueId(0)) && b.is_held(UP, QueueId(1)));
        b.control(UP, &state(false, 1));
        assert!(!b.is_held(UP, QueueId(1)));
        b.control(UP, &state(true, 1));
        b.link(UP, LinkState::Down);
        assert!(!b.is_held(UP, QueueId(1)));
        b.flow_ends(QueueId(0), packet(&bench(&[]), 0));
        b.flow_ends(QueueId(1), packet(&bench(&[]), 1));
        assert_eq!(b.scheme().state_size().tables, [("flow table", 0)]);
    }

    #[test]
    fn other_priorities_and_the_backstop_are_left_alone() {
        let mut b = bench(&[("backstop", "pfc")]);
        b.thresholds("3KB", "1KB");
        let ack = packet(&b, 0).priority(Priority::ALL[7]);
        assert_eq!(b.arrive(ack, OUT), QueueId(0));
        b.depart(OUT, QueueId(0)).unwrap();
        let q = send(&mut b, 0, 3);
        b.take_sent();
        b.control(OUT, &ControlMessage::pfc(PRIORITY, 100));
        assert!(b.is_held(OUT, q));
        b.fire_next();
        // 100 quanta of 5.12 ns
        assert_eq!((b.now, b.is_held(OUT, q)), (Time::from_ns(512), false));
    }
}
