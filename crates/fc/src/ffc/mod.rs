//! Flow-based Flow Control with Dynamic Virtual Lanes (FFC/DVL), Yu, IEEE 802.1 DCB.
//!
//! *Problem:* PFC stops a whole priority, also flows that do not cause the congestion. *Idea:* when
//! a transmit queue grows beyond a threshold, the **root flow** of the congestion is selected and
//! its later packets go to a separate lane, so that they no longer block other flows. When a lane
//! fills, a back-pressure frame (BPF) stops that flow at the previous hop, which puts
//! it into a lane in turn and holds it; when the lane has drained, a cancelling frame (CBPF)
//! resumes it. When the transmit queue is short again, the lanes return their packets to
//! it, paced.
//!
//! ```text
//!              later packets of f
//!   ──► arrive ──────────────────► lane of f  ─┐ paced, while the transmit queue is short
//!          │ others                            ▼
//!          └─────────────────────► transmit queue ──► wire
//! ```
//!
//! *Messages:* one frame with (flow, XOFF or XON) for several flows; a state holds until it
//! is changed, there is no timer. 10 B per flow (hosts and priority) or 15 B (5-tuple).
//!
//! *Parameters:* see [`INFO`]. The slides give no numbers: all defaults are free choices.
//!
//! *Where the slides' steps are:* 1 `Egress::root`; 2 `Egress::take_lane`; 3 and 6 in `arrive`
//! and `serve`; 4 `Egress::hear`; 5 `Egress::give`.
//!
//! *Deviations and choices.* The root flow is the one with most bytes in the transmit queue,
//! beyond an equal share, and at most one is selected per round trip of propagation. Lanes return
//! packets to the tail of the transmit queue, behind earlier packets of the flow, so order
//! is kept. A flow keeps its lane until the lane is empty. Without a free lane it stays in
//! the transmit queue, which is counted, and gets a lane with its next packet if it is stopped.

mod audit;
mod egress;
mod frames;
#[cfg(test)]
mod tests;

pub use crate::perflow::BACKSTOP;
pub use crate::refresh::REFRESH;

use crate::perflow::{Backstop, Flag, FlowTable, NicFlows, OWN_TIMERS, Own, Plan, place, tag};
use crate::refresh::{Due, Refresh};
use crate::{
    Actions, Fallback, FlowControl, Hints, HoldState, Interest, Kind, LinkState, Mmu, Network,
    NodeSetup, NodeView, Param, ParamError, PortQueue, QueueLayout, Role, SchemeInfo, Senders,
    StateSize, TimerKey, Values, Verdict, Violation, Waits,
};
use egress::{Egress, Limits};
use frames::{Frames, Name, Tuple};
use weir_core::prefetch::prefetch;
use weir_core::{Bytes, ControlMessage, Packet, PortId, Priority, QueueId, Reason, Time};

/// When a transmit queue is congested.
pub const THRESHOLD: Param = Param {
    name: "threshold",
    kind: Kind::Size(&[]),
    fallback: Fallback::Is("40KB"),
    doc: "Transmit queue length beyond which a root flow is selected.",
};
/// When lanes give packets back.
pub const DRAIN_BELOW: Param = Param {
    name: "drain-below",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Lanes return packets to the transmit queue while it is below this; default: the \
          threshold, where congestion begins and ends.",
};
/// When a lane stops its flow upstream.
pub const LANE_HIGH: Param = Param {
    name: "lane-high",
    kind: Kind::Size(&[]),
    fallback: Fallback::Is("20KB"),
    doc: "Lane length beyond which its flow is stopped at the previous hop.",
};
/// When a lane resumes its flow.
pub const LANE_LOW: Param = Param {
    name: "lane-low",
    kind: Kind::Size(&[]),
    fallback: Fallback::Is("10KB"),
    doc: "Lane length at which a stopped flow is resumed.",
};
/// How many lanes there are.
pub const LANES: Param = Param {
    name: "lanes",
    kind: Kind::Whole { min: 1, max: 1024 },
    fallback: Fallback::Is("16"),
    doc: "Lanes per egress port.",
};
/// What tells flows apart.
pub const KEY: Param = Param {
    name: "key",
    kind: Kind::Choice(&["3-tuple", "5-tuple"]),
    fallback: Fallback::Is("3-tuple"),
    doc: "3-tuple: source, destination and priority; 5-tuple: every flow by itself.",
};
/// The time between two root flows.
pub const ROOT_INTERVAL: Param = Param {
    name: "root-interval",
    kind: Kind::Time(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Shortest time between two root flows of a port; default: twice the propagation delay.",
};
/// Whether lanes are paced.
pub const PACER: Param = Param {
    name: "pacer",
    kind: Kind::Bool,
    fallback: Fallback::Is("true"),
    doc: "true: draining lanes share the line rate; false: they return packets as fast as the \
          transmit queue shrinks.",
};
/// How long changes wait for each other.
pub const GATHER: Param = Param {
    name: "gather",
    kind: Kind::Time(&[]),
    fallback: Fallback::Is("0ns"),
    doc: "How long a change waits for others to share its frame.",
};
/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "ffc",
    title: "FFC/DVL",
    summary: "Moves the flow that causes congestion to a separate lane and stops only this flow, \
              hop by hop.",
    reference: "Yu, Flow-based Flow Control and Dynamic Virtual Lane, IEEE 802.1 DCB",
    params: &[
        THRESHOLD,
        DRAIN_BELOW,
        LANE_HIGH,
        LANE_LOW,
        LANES,
        KEY,
        ROOT_INTERVAL,
        PACER,
        GATHER,
        REFRESH,
        BACKSTOP,
    ],
    lossless: false,
    ingress_bound: crate::perflow::ingress_bound,
    many_paths: Err(crate::perflow::ONE_PATH),
    senders: Senders::Switches,
    reports: |_| false,
    build,
};

crate::timers! {
    /// The timers of FFC.
    enum Timer {
        /// A lane may give a packet back: (port, class and lane).
        Pace = OWN_TIMERS,
        /// The frame that a port gathers is sent.
        Flush = OWN_TIMERS + 1,
    }
}

/// FFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ffc {
    plan: Plan,
    role: Role,
    tuple: Tuple,
    lane_high: u64,
    lane_low: u64,
    /// By port and class.
    egresses: Vec<Egress>,
    frames: Frames,
    nic: NicFlows,
    backstop: Backstop,
    refresh: Refresh<Name>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Ffc::new(values, setup)?))
}

impl Ffc {
    /// FFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let size = |param| values.bytes(param).expect("has a default").get();
        let threshold = size(&THRESHOLD);
        let drain_below = values.bytes(&DRAIN_BELOW).map_or(threshold, |b| b.get());
        let (lane_high, lane_low) = (size(&LANE_HIGH), size(&LANE_LOW));
        if lane_low > lane_high {
            return Err(ParamError(format!(
                "lane-low = {lane_low} B is above lane-high = {lane_high} B"
            )));
        }
        if drain_below == 0 {
            return Err(ParamError("with drain-below = 0 no lane would ever drain".into()));
        }
        let lanes = values.integer(&LANES).expect("has a default") as u32;
        let own = Own { data: 1 + lanes, inspects_heads: true, ..Own::default() };
        let plan = Plan::new(setup, own);
        let tuples = [("3-tuple", Tuple::Three), ("5-tuple", Tuple::Five)];
        let tuple = values.one_of(&KEY, &tuples);
        let gather = values.time(&GATHER).expect("has a default");
        let paced = values.bool(&PACER).expect("has a default");
        let egress = |(i, flows): (usize, FlowTable<egress::Flow>)| {
            let (at, class) = (i / plan.classes(), i % plan.classes());
            let port = setup.ports[at];
            let root_interval =
                values.time(&ROOT_INTERVAL).unwrap_or_else(|| port.propagation_rtt());
            Egress {
                port: PortId::from_index(at),
                class: class as u32,
                first: plan.data(class, 0).0,
                limits: Limits {
                    threshold,
                    drain_below,
                    root_interval,
                    pace: paced.then_some(port.rate),
                },
                flows,
                lanes: vec![None; lanes as usize],
                next_root: Time::ZERO,
                gated: false,
                exhausted: 0,
            }
        };
        Ok(Self {
            role: setup.role,
            tuple,
            lane_high,
            lane_low,
            egresses: FlowTable::per_class(setup, &plan)
                .into_iter()
                .enumerate()
                .map(egress)
                .collect(),
            frames: Frames::new(tuple, gather, setup),
            nic: NicFlows::default(),
            backstop: Backstop::new(values, setup)?,
            refresh: Refresh::new(values, setup)?,
            plan,
        })
    }

    /// How often a flow that needed a lane found none.
    pub fn lanes_exhausted(&self) -> u64 {
        self.egresses.iter().map(|e| e.exhausted).sum()
    }

    /// Whether an egress other than `at` has told the neighbour at `ingress` to stop the flow. With
    /// the 3-tuple the flows of a host pair may leave by several ports, and the neighbour knows
    /// the pair only: it is stopped while any of them wants it.
    fn told_elsewhere(&self, at: usize, name: Name, ingress: PortId) -> bool {
        let key = self.tuple.key(name);
        let told = |e: &Egress| {
            let flow = e.flows.find(key).and_then(|i| e.flows.at(i));
            flow.is_some_and(|f| f.name == name && f.told.contains(&ingress))
        };
        self.tuple == Tuple::Three
            && self.egresses.iter().enumerate().any(|(i, e)| i != at && told(e))
    }

    /// Step 3: a packet of flow `i` went to its lane.
    fn lane_grew(&mut self, v: &NodeView<'_>, p: &Packet, at: usize, i: u32, a: &mut Actions) {
        let egress = self.egresses[at].port;
        let Some(f) = self.egresses[at].flows.at_mut(i) else { return };
        f.lane_bytes += u64::from(p.size);
        if f.lane_bytes > self.lane_high && !f.told.contains(&p.ingress) {
            f.told.push(p.ingress);
            let (name, bytes) = (f.name, Bytes::new(f.lane_bytes));
            if !self.told_elsewhere(at, name, p.ingress) {
                let high = Bytes::new(self.lane_high);
                let reason = Reason::flow(egress, bytes).above(LANE_HIGH.name, high);
                self.frames.tell(v.now, p.ingress, (name, true), reason, a);
            }
            self.refresh.told(v.now, p.ingress, a);
        }
    }

    /// Step 6: a packet of flow `i` left its lane.
    fn lane_shrank(&mut self, v: &NodeView<'_>, at: usize, i: u32, a: &mut Actions) {
        let egress = self.egresses[at].port;
        let Some(f) = self.egresses[at].flows.at_mut(i) else { return };
        let empty = f.lane_bytes == 0;
        if f.lane_bytes <= self.lane_low {
            let (name, bytes) = (f.name, Bytes::new(f.lane_bytes));
            for port in std::mem::take(&mut f.told) {
                if !self.told_elsewhere(at, name, port) {
                    let low = Bytes::new(self.lane_low);
                    let reason = Reason::flow(egress, bytes).at_most(LANE_LOW.name, low);
                    self.frames.tell(v.now, port, (name, false), reason, a);
                }
            }
        }
        if empty {
            self.egresses[at].settle(i, a);
        }
    }

    /// Step 4: the neighbour at `port` stops a flow, or lets it go on.
    fn set_stopped(
        &mut self,
        now: Time,
        port: PortId,
        name: Name,
        state: HoldState,
        a: &mut Actions,
    ) {
        let key = self.tuple.key(name);
        if self.role == Role::Nic {
            return self.nic.set(port, (name.priority, key), key, state, a);
        }
        let Some(class) = self.plan.class(name.priority) else { return };
        let e = &mut self.egresses[self.plan.at(port, class)];
        if state.is_held() || e.flows.find(key).is_some() {
            let i = e.flow(key, name);
            e.hear(now, i, state, a);
        }
    }

    /// A timer of the refresh.
    fn refresh(&mut self, v: &NodeView<'_>, port: PortId, due: Due, a: &mut Actions) {
        match due {
            Due::Repeat => {
                let stopped = self.stopped_at(port);
                self.refresh.repeat(v, port, &self.frames.repeated(port, &stopped), a);
                if !stopped.is_empty() {
                    // all of them may wait to be told for the first time
                    self.refresh.told(v.now, port, a);
                }
            }
            Due::Lapse => {
                for name in self.refresh.lapsed(v, port, a) {
                    self.set_stopped(v.now, port, name, HoldState::Open, a);
                }
            }
        }
    }

    /// Names of the flows that stand stopped at the neighbour at `port`.
    fn stopped_at(&self, port: PortId) -> Vec<Name> {
        let flows = self.egresses.iter().flat_map(|e| e.flows.iter());
        let told = |f: &egress::Flow| f.told.contains(&port);
        let mut names: Vec<_> = flows.filter(|(_, _, f)| told(f)).map(|(_, _, f)| f.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl FlowControl for Ffc {
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
        let name = self.tuple.name(p);
        let e = &mut self.egresses[at];
        let i = e.flow(self.tuple.key(name), name);
        p.local_tag = tag(i, Flag::Clear);
        if e.flows.at(i).is_some_and(|f| f.xoff && f.lane.is_none()) {
            e.take_lane(v.now, i, a);
        }
        let f = e.flows.at_mut(i).expect("found or just made");
        if let Some(lane) = f.lane {
            let queue = e.lane_queue(lane);
            self.lane_grew(v, p, at, i, a);
            return queue;
        }
        f.bytes += u64::from(p.size);
        let length = v.queue(egress, e.transmit()).bytes.get() + u64::from(p.size);
        e.check(v.now, length, a);
        e.transmit()
    }

    #[inline]
    fn serve(
        &mut self,
        v: &NodeView<'_>,
        at: PortQueue,
        head: &Packet,
        a: &mut Actions,
    ) -> Verdict {
        let Some(class) = self.plan.class(head.priority) else { return Verdict::Send };
        let egress = self.plan.at(at.port, class);
        let e = &mut self.egresses[egress];
        let transmit = e.transmit();
        if at.queue == transmit {
            return Verdict::Send;
        }
        let lane = at.queue.0 - transmit.0 - 1;
        let queued = v.queue(at.port, transmit).bytes.get();
        match e.give(v.now, lane, u64::from(head.size), queued, a) {
            Some(i) => {
                self.lane_shrank(v, egress, i, a);
                Verdict::Move(transmit)
            }
            None => Verdict::Wait,
        }
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        if self.role == Role::Nic {
            return;
        }
        self.backstop.depart(v, p, from, a);
        let Some(class) = self.plan.class(p.priority) else { return };
        let at = self.plan.at(from.port, class);
        let e = &mut self.egresses[at];
        let size = u64::from(p.size);
        let key = self.tuple.key(self.tuple.name(p));
        let found = e.flows.find_near(key, place(p.local_tag));
        p.local_tag = 0;
        if let Some((i, f)) = found.and_then(|i| Some((i, e.flows.at_mut(i)?))) {
            if from.queue > QueueId(e.first) {
                // no packet goes from a lane to the wire: it was thrown away with its lane
                f.lane_bytes = f.lane_bytes.saturating_sub(size);
                return self.lane_shrank(v, at, i, a);
            }
            f.bytes = f.bytes.saturating_sub(size);
            if f.bytes == 0 {
                e.settle(i, a);
            }
        }
        if e.gated && v.queue(from.port, e.transmit()).bytes.get() < e.limits.drain_below {
            e.gated = false;
            a.retry(from.port);
        }
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let Some(flows) = frames::read(self.tuple, m) else {
            return self.backstop.control(v, port, m, a);
        };
        for (name, xoff) in flows {
            let state = HoldState::of(xoff);
            self.refresh.received(v, port, name, state, a);
            self.set_stopped(v.now, port, name, state, a);
        }
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        if let Some(due) = Due::of(key) {
            return self.refresh(v, key.port, due, a);
        }
        if self.backstop.timer(v, key, a) {
            return;
        }
        match Timer::of(key) {
            Timer::Pace => a.retry(key.port),
            Timer::Flush => self.frames.flush(key.port, a),
        }
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.backstop.link(v, port, link, a);
        self.refresh.link(v.now, port, link, a);
        self.nic.link(port, a);
        self.frames.forget(port);
        if link.is_up() {
            let stopped = self.stopped_at(port);
            self.frames.repeat(port, &stopped, a);
        }
        for e in &mut self.egresses[self.plan.all_at(port)] {
            e.resume_all(v.now, a);
        }
    }

    fn flow_starts(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.nic.starts(slot, (p.priority, self.tuple.key(self.tuple.name(p))), a);
    }

    fn flow_ends(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.nic.ends(slot, (p.priority, self.tuple.key(self.tuple.name(p))), a);
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.backstop.audit(v, network)?;
        if network.is_drained() && self.frames.any_pending() {
            return Err(Violation { scheme: INFO.name, what: "a frame was never sent".into() });
        }
        if self.role == Role::Nic {
            return Ok(());
        }
        self.egresses.iter().try_for_each(|e| audit::audit(e, self.lane_low, v, network))
    }

    fn state_size(&self) -> StateSize {
        let flows: usize = self.egresses.iter().map(|e| e.flows.len()).sum();
        let lanes: usize = self.egresses.iter().map(|e| e.lanes.len()).sum();
        let name = if self.tuple == Tuple::Three { 9 } else { 14 };
        StateSize {
            tables: vec![
                // bytes in the transmit queue, 3 B, per flow
                ("flow table", (flows + self.nic.len()) as u64 * (name + 3)),
                // flow, state 1 B, head and tail 8 B per lane
                ("lanes", lanes as u64 * (name + 9)),
            ],
        }
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

impl Hints for Ffc {
    fn interest(&self, _mmu: &Mmu, _ingress: PortId, priority: Priority) -> Interest {
        // a NIC's packets leave no trace
        if self.role == Role::Nic {
            return Interest::Never(self.plan.other(priority));
        }
        self.backstop.interest(&self.plan, priority)
    }

    /// A flow that is not known would have its bytes in the transmit queue, and be forgotten.
    fn pass(&mut self, _v: &NodeView<'_>, p: &mut Packet, egress: PortId) -> Option<QueueId> {
        let class = self.plan.class(p.priority).filter(|_| self.backstop.is_none())?;
        let e = &self.egresses[self.plan.at(egress, class)];
        let passes = !e.gated
            && u64::from(p.size) <= e.limits.threshold
            && e.flows.find(self.tuple.key(self.tuple.name(p))).is_none();
        passes.then(|| e.transmit())
    }

    fn prefetch(&self) {
        prefetch(self.egresses.as_slice());
    }
}

impl Waits for Ffc {
    /// A lane whose flow may go waits for the transmit queue to shrink.
    fn head_waits_for(&self, at: PortQueue, _head: &Packet) -> Option<QueueId> {
        let class = self.plan.class_of(at.queue)?;
        let e = &self.egresses[self.plan.at(at.port, class)];
        let lane = at.queue.0.checked_sub(e.transmit().0 + 1)?;
        let flow = e.flows.at(e.lanes.get(lane as usize).copied().flatten()?)?;
        (e.gated && !flow.xoff).then_some(e.transmit())
    }
}
