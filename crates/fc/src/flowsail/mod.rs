//! FlowSail, Li et al., ICNP 2023.
//!
//! *Problem:* BFC pauses whole queues. With the eight queues of a real switch several flows share
//! a queue, and all are paused because of one. *Idea:* count bytes per flow, and
//! when a queue is too long, pause only the flows with more than a fair share of it.
//! The previous hop sends later packets of a paused flow to one **isolation queue**, which is
//! held while any of its flows is paused; the other queues continue to send. Two order marks,
//! one at the end of the flow's old queue and one in the isolation queue, keep the flow in order:
//! the isolation queue stops at its mark until the other mark has left its queue.
//!
//! ```text
//!   PAUSE(f) arrives: f has packets a, b in q1, held; c comes later
//!     q1         | b a        |        q1         | M b a      |  held
//!     isolation  |            |   =>   isolation  | c M        |  held
//!   RESUME(f):  a and b leave, then q1's mark M; only now the isolation queue passes its own
//! ```
//!
//! *Messages:* a 64 B PAUSE or RESUME frame naming one flow. Order marks never leave the switch.
//!
//! *Parameters:* see [`INFO`]. Thresholds are in hop bandwidth-delay products over N_active,
//! evaluated with the packet in the queue.
//!
//! *Where the paper is:* Algorithm 1 lines 1-16 in `FlowSail::map`, lines 17-25 and equation (1) in
//! `FlowSail::congestion`, lines 26-27 in `arrive`. Algorithm 2 lines 1-14 in `FlowSail::left`,
//! lines 15-34 in `Egress::pause` and `Egress::resume`. Order Mark Matching (section V) in
//! `Egress::isolation_mark` and `Egress::normal_mark`, the release rule (section IV-C) in
//! `Egress::release`.
//!
//! *Deviations.* The printed algorithms cannot be followed to the letter: in places they contradict
//! the text, which is followed. `reading` takes printed forms instead, one or several:
//!
//! | `reading` | printed | here |
//! |---|---|---|
//! | `mark-sign` | an unmatched mark *reduces* the counter of pauses | it adds a reason to hold |
//! | `share-alone` | S_fair of a flow alone in its queue is the queue | beyond Q_l: congested |
//! | `two-counters` | pauseNum in NFT and in CFT, PAUSE whenever it *is* 1 | one count per flow |
//! | `printed-holds` | only a PAUSE of a flow already in CFT counts | every change counts |
//! | `hold-once` | only the first PAUSE holds a flow's old queue | each that finds packets in it |
//! | `early-release` | a resumed flow without packets leaves CFT | once its marks are gone, too |
//!
//! * `mark-sign`: the mark at the head of the isolation queue; the match removes the reason.
//! * `share-alone`: no flow exceeds a share that is the whole queue.
//! * `two-counters`: with one count, PAUSE is sent when it leaves 0 and RESUME when it returns.
//! * `printed-holds`: the count of paused flows that holds the isolation queue. Here it rises with
//!   every change of a flow to paused and falls with every change back. With
//!   `printed-holds-bounded` the printed count never falls below 0.
//! * `early-release`: a mark left in the isolation queue would wait for a partner that never comes.
//!
//! Also: sizes are bytes; flowNum of the isolation queue is counted up as well as down; the
//! release waits for two quiet hop round trips, on a timer; marks take no time.

mod audit;
mod congestion;
mod egress;
mod params;
mod soft;
#[cfg(test)]
mod tests;
mod timer;

pub use crate::perflow::{BACKSTOP, HOP_RTT};
pub use crate::refresh::REFRESH;
pub use params::{HOLD_ORIGINAL, N_ACTIVE, Q_HIGH, Q_LOW, QUEUES, QUIET, READING};

use crate::perflow::{
    BUCKETS, Backstop, Draws, Flag, FlowTable, HopBdp, Keys, NicFlows, Own, Pairs, Plan, TABLE,
    flagged, place, tag,
};
use crate::refresh::{Due, Refresh};
use crate::{
    Actions, FlowControl, Hints, HoldState, Interest, LinkState, Mmu, Network, NodeSetup, NodeView,
    ParamError, PortQueue, QueueLayout, Role, SchemeInfo, Senders, StateSize, TimerKey, Values,
    Verdict, Violation, Waits,
};
use congestion::{Congestion, fair_share};
use egress::{Egress, Queue};
use params::{Reading, Readings, Sharers};
use timer::Timer;
use weir_core::{
    ControlMessage, FlowId, Packet, PacketKind, PortId, Priority, QueueId, Reason, Time,
    prefetch::prefetch, reason::Quantity,
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "flowsail",
    title: "FlowSail",
    summary: "Pauses single flows that exceed their share of a long queue; the previous hop moves \
              them to one isolation queue.",
    reference: "Li et al., Towards Fine-grained and Practical Flow Control for Datacenter \
                Networks, ICNP 2023",
    params: &[
        QUEUES,
        Q_LOW,
        Q_HIGH,
        QUIET,
        HOLD_ORIGINAL,
        N_ACTIVE,
        READING,
        TABLE,
        BUCKETS,
        HOP_RTT,
        BACKSTOP,
        REFRESH,
    ],
    lossless: false,
    ingress_bound: crate::perflow::ingress_bound,
    many_paths: Err(crate::perflow::ONE_PATH),
    senders: Senders::Switches,
    reports: |_| false,
    build,
};

/// Entries per egress port of a hashed table: 100 KB for 16 ports.
const DEFAULT_BUCKETS: u64 = 1024;
/// Bits of a table entry, as the paper states them.
const ENTRY_BITS: u64 = 50;

/// FlowSail at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FlowSail {
    plan: Plan,
    role: Role,
    keys: Keys,
    reading: Readings,
    sharers: Sharers,
    /// The lower and the upper threshold.
    thresholds: Pairs<(u64, u64)>,
    /// By port and class.
    egresses: Vec<Egress>,
    nic: NicFlows,
    draws: Draws,
    backstop: Backstop,
    refresh: Refresh<(Priority, FlowId)>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    let flowsail = FlowSail::new(values, setup)?;
    let low = values.ratio(&Q_LOW).expect("has a default");
    HopBdp::new(values, setup).scaled(low).check("q-low and hop-rtt", setup)?;
    Ok(Box::new(flowsail))
}

impl FlowSail {
    /// FlowSail for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let queues = values.integer(&QUEUES).expect("has a default") as u32;
        let own = Own { data: queues, inspects_heads: true, ..Own::default() };
        let plan = Plan::new(setup, own);
        let low = values.ratio(&Q_LOW).expect("has a default");
        let high = values.ratio(&Q_HIGH).expect("has a default");
        if high.of(1 << 32) < low.of(1 << 32) {
            return Err(ParamError(format!("q-high = {high} is below q-low = {low}")));
        }
        let hop = HopBdp::new(values, setup);
        let reading = Readings::new(values);
        let holds_original = values.bool(&HOLD_ORIGINAL).expect("has a default");
        let egress = |(i, flows): (usize, FlowTable<egress::Flow>)| {
            let (port, class) = (PortId::from_index(i / plan.classes()), i % plan.classes());
            Egress {
                port,
                class: class as u8,
                priority: plan.priority(class),
                first: plan.data(class, 0).0,
                flows,
                queues: vec![Queue::default(); queues as usize],
                quiet: values.time(&QUIET).unwrap_or(hop.rtt(port) * 2),
                holds_original,
                normal: 0,
                isolated: 0,
                marks: 0,
                reading,
            }
        };
        Ok(Self {
            role: setup.role,
            keys: Keys::new(values, DEFAULT_BUCKETS),
            reading,
            sharers: Sharers::new(values),
            egresses: FlowTable::per_class(setup, &plan)
                .into_iter()
                .enumerate()
                .map(egress)
                .collect(),
            thresholds: hop.clone().scaled(low).beside(&hop.scaled(high)),
            nic: NicFlows::default(),
            draws: Draws::new(setup.seed, INFO.name, setup.node),
            backstop: Backstop::new(values, setup)?,
            refresh: Refresh::new(values, setup)?,
            plan,
        })
    }

    /// From now on every random choice among `k` takes number `n mod k`: a search over all
    /// behaviours tries each `n`.
    pub fn fix_draws(&mut self, n: u32) {
        self.draws = Draws::Fixed(n);
    }

    /// An empty normal queue that is open, looking round from a random start, or the random
    /// one itself.
    fn free_queue(&mut self, v: &NodeView<'_>, at: usize) -> u32 {
        let e = &self.egresses[at];
        let normal = e.isolation();
        let start = self.draws.below(normal);
        let free = |i: &u32| {
            let book = v.queue(e.port, e.queue_id(*i));
            book.packets == 0 && !book.held
        };
        (start..normal).chain(0..start).find(free).unwrap_or(start)
    }

    /// Algorithm 1, lines 1-16: the packet's flow and the index of its queue.
    fn map(&mut self, v: &NodeView<'_>, p: &Packet, at: usize) -> (u32, u32) {
        let key = self.keys.of(p.flow);
        let size = u64::from(p.size);
        let e = &mut self.egresses[at];
        let i = e.flow(key);
        let isolation = e.isolation();
        let f = e.flows.at_mut(i).expect("found or just made");
        if let Some(c) = &mut f.congested {
            let joins = c.bytes == 0;
            c.bytes += size;
            c.last = v.now;
            e.queues[isolation as usize].flows += u32::from(joins);
            return (i, isolation);
        }
        let joins = f.bytes == 0;
        f.bytes += size;
        if joins {
            let queue = self.free_queue(v, at);
            let e = &mut self.egresses[at];
            e.flows.at_mut(i).expect("still there").queue = queue;
            e.queues[queue as usize].flows += 1;
            e.normal += 1;
            return (i, queue);
        }
        (i, f.queue)
    }

    /// Algorithm 1, lines 17-25: what congestion the packet of flow `i` meets in `queue`, if any.
    fn congestion(
        &self,
        v: &NodeView<'_>,
        p: &Packet,
        at: usize,
        i: u32,
        queue: u32,
    ) -> Option<Congestion> {
        let e = &self.egresses[at];
        let (egress, id) = (e.port, e.queue_id(queue));
        let length = v.queue(egress, id).bytes.get() + u64::from(p.size);
        // length > threshold / N_active, without the division
        let active = self.sharers.count(v, e, id);
        let scaled = length * active;
        let (low, high) = self.thresholds.get(p.ingress, egress);
        let long = |limit, threshold| {
            Some(Congestion { quantity: Quantity::Queue, length, limit, threshold, active })
        };
        if scaled > high {
            return long(params::Q_HIGH.name, high);
        }
        if scaled <= low {
            return None;
        }
        let flows = e.queues[queue as usize].flows;
        if flows <= 1 && !self.reading.has(Reading::ShareAlone) {
            return long(params::Q_LOW.name, low);
        }
        let size = e.flows.at(i).map_or(0, |f| {
            if queue == e.isolation() {
                f.congested.as_ref().map_or(0, |c| c.bytes)
            } else {
                f.bytes
            }
        });
        let (quantity, threshold) = (Quantity::Flow, fair_share(length, flows));
        let limit = "fair-share";
        let large = Congestion { quantity, length: size, limit, threshold, active: 1 };
        (size > threshold).then_some(large)
    }

    /// Algorithm 1, lines 18-19, 24-27: the packet of flow `i` in `queue` met congestion or not.
    fn identify(
        &mut self,
        now: Time,
        p: &mut Packet,
        at: usize,
        (i, queue): (u32, u32),
        met: Option<Congestion>,
        a: &mut Actions,
    ) {
        let hit = met.is_some();
        p.local_tag = tag(i, if hit { Flag::Set } else { Flag::Clear });
        if !hit && !self.reading.has(Reading::TwoCounters) {
            return;
        }
        let e = &mut self.egresses[at];
        let egress = e.port;
        let why = || match met {
            Some(congestion) => congestion.reason(egress),
            None => Reason::Words("one packet is counted"),
        };
        let table = usize::from(queue == e.isolation());
        let f = e.flows.at_mut(i).expect("the packet's flow");
        f.pause_num[table] += u32::from(hit);
        if self.reading.has(Reading::TwoCounters) {
            if f.pause_num[table] == 1 {
                let (priority, flow) = (p.priority, p.flow);
                a.send(p.ingress, ControlMessage::FlowState { pause: true, priority, flow }, why());
            }
        } else if hit {
            f.upstream.pause(p.ingress, p.priority, p.flow, why, a);
            self.refresh.told(now, p.ingress, a);
        }
    }

    /// Algorithm 2, lines 1-14: `p` has left the queue with this index.
    fn left(&mut self, v: &NodeView<'_>, p: &Packet, at: usize, queue: u32, a: &mut Actions) {
        let e = &mut self.egresses[at];
        let from_isolation = queue == e.isolation();
        let found = e.flows.find_near(self.keys.of(p.flow), place(p.local_tag));
        let Some((i, f)) = found.and_then(|i| Some((i, e.flows.at_mut(i)?))) else { return };
        let size = u64::from(p.size);
        let (bytes, table) = match &mut f.congested {
            Some(c) if from_isolation => {
                c.last = v.now;
                (&mut c.bytes, None)
            }
            _ => (&mut f.bytes, Some(&mut e.normal)),
        };
        let had = *bytes > 0;
        *bytes = bytes.saturating_sub(size);
        let emptied = *bytes == 0;
        if let Some(normal) = table.filter(|_| had && emptied) {
            *normal -= 1;
        }
        if flagged(p.local_tag) {
            let n = &mut f.pause_num[usize::from(from_isolation)];
            *n = n.saturating_sub(1);
            if self.reading.has(Reading::TwoCounters) && *n == 0 {
                let (priority, flow) = (p.priority, p.flow);
                let message = ControlMessage::FlowState { pause: false, priority, flow };
                a.send(p.ingress, message, Reason::CountedGone);
            } else if f.pauses() == 0 {
                f.upstream.resume(p.priority, || Reason::CountedGone, a);
            }
        }
        let (isolated, idle) = (f.congested.is_some(), f.is_idle());
        if emptied {
            let flows = &mut e.queues[queue as usize].flows;
            *flows = flows.saturating_sub(1);
        }
        if isolated {
            e.release(v.now, i, a);
        } else if idle {
            e.flows.remove(i);
        }
    }

    fn hear(&mut self, v: &NodeView<'_>, port: PortId, state: FlowState, a: &mut Actions) {
        let FlowState { pause, priority, flow } = state;
        let state = HoldState::of(pause);
        self.refresh.received(v, port, (priority, flow), state, a);
        let key = self.keys.of(flow);
        if self.role == Role::Nic {
            self.nic.set(port, (priority, key), flow.get(), state, a);
            return;
        }
        let Some(class) = self.plan.class(priority) else { return };
        let e = &mut self.egresses[self.plan.at(port, class)];
        if pause {
            let i = e.flow(key);
            e.pause(v.now, i, flow, a);
        } else if let Some(i) = e.flows.find(key) {
            e.resume(v.now, i, flow, a);
        }
    }

    /// The tables that queue `at` belongs to.
    fn egress_of(&self, at: PortQueue) -> Option<usize> {
        self.plan.class_of(at.queue).map(|class| self.plan.at(at.port, class))
    }
}

/// What a frame says.
struct FlowState {
    pause: bool,
    priority: Priority,
    flow: FlowId,
}

impl FlowSail {
    fn discard_mark(&mut self, v: &NodeView<'_>, at: PortQueue, mark: &Packet, a: &mut Actions) {
        // Either way nothing waits for it any more. One left in the other queue finds that.
        if let Some(egress) = self.egress_of(at) {
            self.egresses[egress].normal_mark(v.now, mark.wire_tag, a);
        }
    }
}

impl FlowControl for FlowSail {
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
        let at = self.plan.at(egress, class);
        let (i, queue) = self.map(v, p, at);
        let met = self.congestion(v, p, at, i, queue);
        self.identify(v.now, p, at, (i, queue), met, a);
        self.plan.data(class, queue)
    }

    #[inline]
    fn serve(
        &mut self,
        v: &NodeView<'_>,
        at: PortQueue,
        head: &Packet,
        a: &mut Actions,
    ) -> Verdict {
        if head.kind != PacketKind::Mark {
            return Verdict::Send;
        }
        // a mark's own priority means nothing: its queue's does
        let Some(egress) = self.egress_of(at) else { return Verdict::Swallow };
        let e = &mut self.egresses[egress];
        if at.queue == e.queue_id(e.isolation()) {
            if e.isolation_mark(v.now, head.wire_tag, a) {
                return Verdict::Wait;
            }
        } else {
            e.normal_mark(v.now, head.wire_tag, a);
        }
        Verdict::Swallow
    }

    fn discard(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        from: Option<PortQueue>,
        a: &mut Actions,
    ) {
        match from {
            Some(at) if p.kind == PacketKind::Mark => self.discard_mark(v, at, p, a),
            Some(at) => self.depart(v, p, at, a),
            None => {}
        }
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        if self.role == Role::Nic {
            return;
        }
        self.backstop.depart(v, p, from, a);
        if let Some(class) = self.plan.class(p.priority) {
            let at = self.plan.at(from.port, class);
            self.left(v, p, at, self.plan.index(class, from.queue), a);
            p.local_tag = 0;
        }
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        match m {
            &ControlMessage::FlowState { pause, priority, flow } => {
                self.hear(v, port, FlowState { pause, priority, flow }, a);
            }
            _ => self.backstop.control(v, port, m, a),
        }
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        if let Some(due) = Due::of(key) {
            return self.refresh(v, key.port, due, a);
        }
        if self.backstop.timer(v, key, a) {
            return;
        }
        let Timer::Release { class } = Timer::of(key);
        let e = &mut self.egresses[self.plan.at(key.port, usize::from(class))];
        if let Some(c) = e.flows.at_mut(key.index).and_then(|f| f.congested.as_mut()) {
            c.armed = false;
            e.release(v.now, key.index, a);
        }
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.backstop.link(v, port, link, a);
        self.refresh.link(v.now, port, link, a);
        self.nic.link(port, a);
        for e in &mut self.egresses[self.plan.all_at(port)] {
            e.resume_all(v.now, a);
        }
        let classes = self.plan.classes();
        for (at, e) in self.egresses.iter().enumerate().filter(|_| link.is_up()) {
            let priority = self.plan.priority(at % classes);
            e.flows.iter().for_each(|(_, _, f)| f.upstream.repeat(port, priority, a));
        }
    }

    fn flow_starts(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.nic.starts(slot, (p.priority, self.keys.of(p.flow)), a);
    }

    fn flow_ends(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.nic.ends(slot, (p.priority, self.keys.of(p.flow)), a);
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.backstop.audit(v, network)?;
        if self.role == Role::Nic {
            return Ok(());
        }
        self.egresses.iter().try_for_each(|e| audit::audit(e, v, network))
    }

    fn state_size(&self) -> StateSize {
        let count = |of: fn(&Egress) -> u32| self.egresses.iter().map(|e| u64::from(of(e))).sum();
        let bytes = |entries: u64| (entries * ENTRY_BITS).div_ceil(8);
        let queues: usize = self.egresses.iter().map(|e| e.queues.len()).sum();
        StateSize {
            tables: vec![
                ("normal flow table", bytes(count(|e| e.normal))),
                ("congested flow table", bytes(count(|e| e.isolated))),
                // flowNum and cfNum, 2 B each
                ("queue table", queues as u64 * 4),
                ("NIC flows", bytes(self.nic.len() as u64)),
            ],
        }
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

impl Hints for FlowSail {
    fn interest(&self, _mmu: &Mmu, _ingress: PortId, priority: Priority) -> Interest {
        // a NIC's packets leave no trace
        if self.role == Role::Nic {
            return Interest::Never(self.plan.other(priority));
        }
        self.backstop.interest(&self.plan, priority)
    }

    /// A flow that is not known would have an entry, an empty queue and no share that is too large,
    /// and be forgotten: what is left is the draw of its queue. (A mark may wait in the isolation
    /// queue, which is none of the flow's.) One that is isolated has been active.
    fn pass(&mut self, v: &NodeView<'_>, p: &mut Packet, egress: PortId) -> Option<QueueId> {
        let class = self.plan.class(p.priority).filter(|_| self.backstop.is_none())?;
        let (low, high) = self.thresholds.get(p.ingress, egress);
        if u64::from(p.size) > low.min(high) {
            return None;
        }
        let e = &mut self.egresses[self.plan.at(egress, class)];
        let isolation = e.isolation();
        let queue = match e.flows.find(self.keys.of(p.flow)) {
            None => self.draws.below(isolation),
            Some(i) => e.pass(v.now, i).then_some(isolation)?,
        };
        Some(self.plan.data(class, queue))
    }

    fn prefetch(&self) {
        prefetch(self.egresses.as_slice());
    }
}

impl Waits for FlowSail {
    /// A mark in the isolation queue waits for its flow's packets in the normal queue.
    fn head_waits_for(&self, at: PortQueue, head: &Packet) -> Option<QueueId> {
        let e = &self.egresses[self.egress_of(at)?];
        let marks = head.kind == PacketKind::Mark && at.queue == e.queue_id(e.isolation());
        let flow = marks.then(|| e.flows.at(head.wire_tag).filter(|f| f.waiting)).flatten()?;
        Some(e.queue_id(flow.queue))
    }
}
