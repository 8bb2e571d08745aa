//! CaPFC: congestion aware priority flow control (Avci et al., "Congestion Aware Priority Flow
//! Control in Data Center Networks", IFIP Networking 2016).
//!
//! *Problem:* PFC looks at ingress queues only; an egress queue can overflow, or grow very
//! long, while no single ingress is at its threshold. *Idea:* egress queues are watched too.
//! Above a warning threshold an egress queue counts the packets that each input brings;
//! above its pause threshold the inputs that brought most are put into the congested state, and
//! an input is paused when its own queue or any egress says so. Frames and receivers are PFC's.
//!
//! *Messages:* PFC frames ([`crate::pfc`]).
//!
//! *State*, per (input i, output o, priority): the counter C and the signal E; per (input,
//! priority): the ingress state I. The decision is D = I or any E with o ≠ i. The OFC paper
//! describes CaPFC in one sentence that can also mean D = I and any E: `trigger = and`. Then an
//! ingress may grow beyond its threshold while no egress is long, and nothing but the memory bounds
//! it.
//!
//! *Listings:* Algorithm 1 (Stop-Max) is `Egress::enqueue`, `Egress::dequeue`,
//! `FlowControl::admit` and, for line 7, `FlowControl::arrive`; Algorithm 2 (Stop-Calibrate) is
//! `Egress::heavy`.
//!
//! *Parameters:* the defaults are the OFC paper's use of CaPFC as a baseline: Stop-Max, egress
//! thresholds 68 KB (68/75 of xoff) and 45 KB (xon), no egress limit. The CaPFC paper itself has
//! egress MAX/XOFF/XON/WARN 60/25/20/20 KB, CUT 80 %, ingress XOFF/XON 50/40 KB.
//!
//! *Pipelined switch,* for which it was made: I looks at the ingress FIFO's counter, C and E at the
//! egress queues behind the processor, and MAX is the switch's own egress limit unless `egress-max`
//! is lower. On a shared-memory switch I looks at all bytes that came in and have not left.
//!
//! *Readings:* the two prints of the paper differ in "> MAX" and "≥ MAX": a packet that would
//! take the queue above MAX is dropped. Ties go to the lowest port. "Sort based on i" sorts by
//! the counters' values. Ingress tests are inclusive as in PFC, or strict as the paper words
//! them ("passes", "drops below") with `ingress-test = strict`.

mod egress;
#[cfg(test)]
mod tests;

use crate::{
    Actions, EgressRoom, Fallback, FlowControl, Hints, HoldState, IngressBound, IngressWait,
    Interest, Kind, LinkState, Mmu, Network, NodeSetup, NodeView, OnFull, Param, ParamError,
    Pipelined, PortQueue, QueueLayout, Role, SchemeInfo, Senders, StateSize, TimerKey, Values,
    Violation, Waits, pfc, threshold,
};
use egress::{Egress, Levels};
use std::ops::Range;
use weir_core::{
    Bytes, ControlMessage, Packet, PortId, Priority, PrioritySet, QueueId, Ratio, Reason,
};

/// Which inputs are paused.
pub const POLICY: Param = Param {
    name: "policy",
    kind: Kind::Choice(&["stop-max", "stop-calibrate"]),
    fallback: Fallback::Is("stop-max"),
    doc: "Above the egress threshold, pause the input with the most packets, or the inputs that \
          together brought `cut`.",
};
/// How much of the congestion Stop-Calibrate stops.
pub const CUT: Param = Param {
    name: "cut",
    kind: Kind::Fraction,
    fallback: Fallback::Is("80%"),
    doc: "Stop-Calibrate: share of the counted packets whose inputs are paused, largest first.",
};
/// Egress pause threshold.
pub const EGRESS_XOFF: Param = Param {
    name: "egress-xoff",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Egress length above which inputs are paused; default: 68/75 of xoff.",
};
/// Egress resume threshold.
pub const EGRESS_XON: Param = Param {
    name: "egress-xon",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Egress length at which the pauses of an egress end; default: xon.",
};
/// Egress warning threshold.
pub const EGRESS_WARN: Param = Param {
    name: "egress-warn",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Egress length from which packets are counted per input; default: egress-xon.",
};
/// Egress limit.
pub const EGRESS_MAX: Param = Param {
    name: "egress-max",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Longest egress queue of a lossless priority; a packet beyond is dropped; default: no \
          limit.",
};
/// How the ingress thresholds are compared.
pub const INGRESS_TEST: Param = Param {
    name: "ingress-test",
    kind: Kind::Choice(&["inclusive", "strict"]),
    fallback: Fallback::Is("inclusive"),
    doc: "Ingress pauses at xoff and resumes at xon (inclusive), or above and below them (strict).",
};

/// What has to be long for an input to be paused.
pub const TRIGGER: Param = Param {
    name: "trigger",
    kind: Kind::Choice(&["or", "and"]),
    fallback: Fallback::Is("or"),
    doc: "or: an input is paused when its own queue is full or an egress requests it, as \
          published; and: only when both are true, which does not bound the ingress.",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "capfc",
    title: "CaPFC",
    summary: "PFC that also watches egress queues and pauses the inputs that fill them most.",
    reference: "Avci et al., Congestion Aware Priority Flow Control in Data Center Networks",
    params: &[
        POLICY,
        CUT,
        EGRESS_XOFF,
        EGRESS_XON,
        EGRESS_WARN,
        EGRESS_MAX,
        INGRESS_TEST,
        TRIGGER,
        pfc::TIMER,
        pfc::PAUSE_QUANTA,
        pfc::REFRESH,
    ],
    lossless: true,
    ingress_bound: |values| {
        let bounds = [("or", IngressBound::Pauses), ("and", IngressBound::Memory)];
        values.one_of(&TRIGGER, &bounds)
    },
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |_| false,
    build,
};

fn is_strict(values: &Values) -> bool {
    values.one_of(&INGRESS_TEST, &[("inclusive", false), ("strict", true)])
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Config {
    /// The part Stop-Calibrate stops; `None` for Stop-Max.
    cut: Option<Ratio>,
    max: Bytes,
    /// D = I and any E, instead of or.
    both: bool,
}

/// What the usual packet needs to know of the port it came in by and of the one it leaves by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Port {
    /// Thresholds of its egress queues.
    levels: Levels,
    /// Ingress thresholds of the strict test; `None` for the buffer's own tests.
    strict: Option<(Bytes, Bytes)>,
    /// I: its full ingress queues.
    full: PrioritySet,
    /// D: what the neighbour is to stop.
    stopped: PrioritySet,
    /// Egress queues with a counter or signal that is set.
    touched: PrioritySet,
}

impl Port {
    /// All ports of a node.
    fn all(values: &Values, setup: &NodeSetup<'_>) -> Result<Vec<Self>, ParamError> {
        let strict = is_strict(values);
        threshold::each_port(setup, |fixed| {
            Ok(Self {
                levels: Levels::read(values, setup, fixed)?,
                strict: fixed.filter(|_| strict),
                full: PrioritySet::EMPTY,
                stopped: PrioritySet::EMPTY,
                touched: PrioritySet::EMPTY,
            })
        })
    }
}

impl Config {
    fn read(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let fixed = threshold::fixed(setup);
        let cut = values.ratio(&CUT).expect("has a default");
        if cut.of(1 << 32) > 1 << 32 {
            return Err(ParamError(format!("cut is {cut}: it must not exceed 1")));
        }
        let strict = is_strict(values);
        if strict && fixed.is_none() && threshold::watches(setup) {
            return Err(ParamError("ingress-test = strict needs static thresholds".into()));
        }
        if strict && fixed.iter().flatten().any(|(_, xon)| *xon == Bytes::ZERO) {
            return Err(ParamError("ingress-test = strict needs an xon above zero".into()));
        }
        Ok(Self {
            cut: values.one_of(&POLICY, &[("stop-max", None), ("stop-calibrate", Some(cut))]),
            max: values.bytes(&EGRESS_MAX).unwrap_or(Bytes::MAX),
            both: values.one_of(&TRIGGER, &[("or", false), ("and", true)]),
        })
    }
}

/// CaPFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Capfc {
    pfc: pfc::Pfc,
    role: Role,
    config: Config,
    lossless: PrioritySet,
    ports: Vec<Port>,
    /// Where a lossless priority's outputs (or inputs) begin among those of all.
    lane: [usize; Priority::COUNT],
    /// How many outputs other than itself have an input congested, by class and input.
    signals: Vec<u32>,
    /// By class and output.
    egress: Vec<Egress>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Capfc::new(values, setup)?))
}

impl Capfc {
    /// CaPFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let ports = setup.ports.len();
        let lanes = setup.lossless.len() * ports;
        Ok(Self {
            pfc: pfc::Pfc::new(values, setup)?,
            role: setup.role,
            config: Config::read(values, setup)?,
            lossless: setup.lossless,
            ports: Port::all(values, setup)?,
            lane: Priority::ALL.map(|p| {
                let below = setup.lossless.iter().take_while(|q| q.get() < p.get());
                below.count() * ports
            }),
            signals: vec![0; lanes],
            egress: vec![Egress::new(ports); lanes],
        })
    }

    /// Whether the scheme governs `priority`.
    #[inline]
    fn governs(&self, priority: Priority) -> bool {
        self.role == Role::Switch && self.lossless.contains(priority)
    }

    /// Index of (priority, port); the priority is lossless.
    #[inline]
    fn at(&self, priority: Priority, port: PortId) -> usize {
        self.lane[priority.index()] + port.index()
    }

    /// How many signals E are set for input `i`, to note a change of that of output `o`. D leaves
    /// out the input's own port.
    fn signals(&mut self, priority: Priority, i: PortId, o: PortId) -> Option<&mut u32> {
        let at = self.at(priority, i);
        (i != o).then(|| &mut self.signals[at])
    }

    /// D = I or any E (with `trigger = and`: I and any E).
    fn stops(&self, full: bool, congested: bool) -> bool {
        if self.config.both { full && congested } else { full || congested }
    }

    /// Brings D up to date: pauses or resumes the neighbour at `input` when it changes. `why` says
    /// which of its terms has changed.
    fn decide(
        &mut self,
        v: &NodeView<'_>,
        input: PortId,
        priority: Priority,
        why: impl FnOnce() -> Reason,
        a: &mut Actions,
    ) {
        let congested = self.signals[self.at(priority, input)] > 0;
        let full = self.ports[input.index()].full.contains(priority);
        let stop = self.stops(full, congested);
        self.ports[input.index()].stopped.set(priority, stop);
        self.pfc.set_paused(v.now, (input, priority), HoldState::of(stop), why, a);
    }

    /// Sees whether a queue that was not full is now; returns whether I has changed.
    #[inline(always)]
    fn fills(&mut self, v: &NodeView<'_>, input: PortId, priority: Priority) -> bool {
        let port = &mut self.ports[input.index()];
        let changed = !port.full.contains(priority) && port.is_full(v, input, priority);
        if changed {
            port.full.set(priority, true);
        }
        changed
    }

    /// Sees whether a queue that was full has drained; returns whether I has changed.
    #[inline(always)]
    fn drains(&mut self, v: &NodeView<'_>, input: PortId, priority: Priority) -> bool {
        let port = &mut self.ports[input.index()];
        let changed = port.full.contains(priority) && port.has_drained(v, input, priority);
        if changed {
            port.full.set(priority, false);
        }
        changed
    }

    /// Decides on `input` if its I has `changed`.
    #[inline(always)]
    fn decide_if_changed(
        &mut self,
        changed: bool,
        v: &NodeView<'_>,
        input: PortId,
        priority: Priority,
        a: &mut Actions,
    ) {
        if changed {
            let reason = self.ports[input.index()].reason(v, input, priority);
            self.decide(v, input, priority, || reason, a);
        }
    }

    /// Algorithm 1, lines 8 to 13, of an egress queue that is at least WARN long.
    #[cold]
    fn congests(
        &mut self,
        v: &NodeView<'_>,
        (ingress, egress): (PortId, PortId),
        priority: Priority,
        a: &mut Actions,
    ) {
        let at = self.at(priority, egress);
        let port = &mut self.ports[egress.index()];
        port.touched.set(priority, true);
        let length = v.q_out(egress, priority);
        let levels = port.levels;
        for input in self.egress[at].enqueue(ingress, length, levels, self.config.cut) {
            if let Some(signals) = self.signals(priority, input, egress) {
                *signals += 1;
            }
            let why = || Reason::egress(egress, length).above(EGRESS_XOFF.name, levels.xoff);
            self.decide(v, input, priority, why, a);
        }
    }

    /// Algorithm 1, lines 17 to 20, of an egress queue with counters or signals that are set.
    #[cold]
    fn relieves(&mut self, v: &NodeView<'_>, egress: PortId, priority: Priority, a: &mut Actions) {
        let at = self.at(priority, egress);
        let (queue, port) = (&mut self.egress[at], &mut self.ports[egress.index()]);
        let (length, levels) = (v.q_out(egress, priority), port.levels);
        let freed = queue.dequeue(length, levels);
        port.touched.set(priority, queue.is_touched());
        for input in freed {
            if let Some(signals) = self.signals(priority, input, egress) {
                *signals -= 1;
            }
            let why = || Reason::egress(egress, length).at_most(EGRESS_XON.name, levels.xon);
            self.decide(v, input, priority, why, a);
        }
    }
}

impl Port {
    /// Why I has just changed.
    #[cold]
    fn reason(&self, v: &NodeView<'_>, input: PortId, priority: Priority) -> Reason {
        let (full, bytes) = (self.full.contains(priority), v.q_in(input, priority));
        match self.strict {
            None if full => v.books.mmu.pause_reason(input, priority),
            None => v.books.mmu.resume_reason(input, priority),
            Some((xoff, _)) if full => Reason::ingress(input, bytes).above("xoff", xoff),
            Some((_, xon)) => Reason::ingress(input, bytes).below("xon", xon),
        }
    }

    fn is_full(&self, v: &NodeView<'_>, input: PortId, priority: Priority) -> bool {
        match self.strict {
            None => v.books.mmu.should_pause(input, priority),
            Some((xoff, _)) => v.q_in(input, priority) > xoff,
        }
    }

    fn has_drained(&self, v: &NodeView<'_>, input: PortId, priority: Priority) -> bool {
        match self.strict {
            None => v.books.mmu.may_resume(input, priority),
            Some((_, xon)) => v.q_in(input, priority) < xon,
        }
    }
}

impl FlowControl for Capfc {
    /// With MAX of Algorithm 1, lines 2 and 3.
    fn layout(&self, port: PortId) -> QueueLayout {
        let limited = self.config.max < Bytes::MAX;
        let governed = || Priority::ALL.into_iter().filter(|p| self.governs(*p)).collect();
        let room = || EgressRoom { priorities: governed(), bytes: self.config.max };
        QueueLayout { room: limited.then(room), ..self.pfc.layout(port) }
    }

    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId {
        if self.governs(p.priority) {
            let changed = self.fills(v, p.ingress, p.priority);
            // line 7
            if v.q_out(egress, p.priority) >= self.ports[egress.index()].levels.warn {
                self.congests(v, (p.ingress, egress), p.priority, a);
            }
            self.decide_if_changed(changed, v, p.ingress, p.priority, a);
        }
        self.pfc.queue_of(p.priority)
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        if !self.governs(p.priority) {
            return;
        }
        let changed = self.drains(v, p.ingress, p.priority);
        if self.ports[from.port.index()].touched.contains(p.priority) {
            self.relieves(v, from.port, p.priority, a);
        }
        self.decide_if_changed(changed, v, p.ingress, p.priority, a);
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        self.pfc.control(v, port, m, a);
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        self.pfc.timer(v, key, a);
    }

    /// The pauses sent are void; they are sent again with the next packet that comes in while
    /// D still says so.
    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.pfc.reconnect(v.now, port, link, a);
        let ingresses = link.is_up() && self.role == Role::Switch;
        // an empty ingress would have no packet left whose departure resumes it
        let stores = |p: &Priority| ingresses && v.q_in(port, *p) > Bytes::ZERO;
        for priority in self.lossless.iter().filter(stores) {
            let changed = self.fills(v, port, priority);
            self.decide_if_changed(changed, v, port, priority, a);
        }
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        let wrong = |what: String| Err(Violation { scheme: INFO.name, what });
        self.pfc.audit(v, network).or_else(|e| wrong(e.what))?;
        for (i, port) in self.ports.iter().enumerate().filter(|_| self.role == Role::Switch) {
            for priority in self.lossless.iter() {
                let at = self.at(priority, PortId::from_index(i));
                let stop = self.stops(port.full.contains(priority), self.signals[at] > 0);
                let touched = self.egress[at].is_touched();
                let noted = (port.stopped.contains(priority), port.touched.contains(priority));
                if noted != (stop, touched) {
                    let what = format!("port {i}: D and counters are {:?}", (stop, touched));
                    return wrong(format!("{what}, but {noted:?} is noted"));
                }
            }
        }
        if network.is_drained() && self.ports.iter().any(|port| !port.full.is_empty()) {
            return wrong(format!("inputs are full in an empty switch: {:?}", self.ports));
        }
        if network.is_drained() && self.egress.iter().any(Egress::is_touched) {
            return wrong(format!("outputs are congested in an empty switch: {:?}", self.egress));
        }
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        // a counter of 2 bytes per (input, output, lossless priority), as the paper reckons
        let counters = self.egress.len() * self.ports.len();
        let mut size = self.pfc.state_size();
        size.tables.push(("congestion counters", counters as u64 * 2));
        size
    }

    fn pipelined(&mut self) -> Result<&mut dyn Pipelined, &'static str> {
        Ok(self)
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

impl Hints for Capfc {
    /// While I stays as it is.
    fn quiet_range(&self, mmu: &Mmu, ingress: PortId, priority: Priority) -> Range<Bytes> {
        if !self.governs(priority) {
            return Bytes::ZERO..Bytes::MAX;
        }
        let one = Bytes::new(1);
        let port = &self.ports[ingress.index()];
        let (full_from, drained_below) = match port.strict {
            None => (
                mmu.pause_threshold(ingress, priority),
                mmu.resume_threshold(ingress, priority).saturating_add(one),
            ),
            Some((xoff, xon)) => (xoff.saturating_add(one), xon),
        };
        match port.full.contains(priority) {
            true => drained_below..Bytes::MAX,
            false => Bytes::ZERO..full_from,
        }
    }

    fn interest(&self, _mmu: &Mmu, _ingress: PortId, priority: Priority) -> Interest {
        match self.governs(priority) {
            true => Interest::Every,
            false => Interest::Never(self.pfc.queue_of(priority)),
        }
    }

    fn has_fixed_state(&self) -> bool {
        true
    }
}

impl Pipelined for Capfc {
    /// I, from the ingress FIFO's own counter.
    fn ingress_changed(&mut self, v: &NodeView<'_>, i: PortId, p: Priority, a: &mut Actions) {
        if !self.governs(p) {
            return;
        }
        let was = self.ports[i.index()].full.contains(p);
        let changed = if was { self.drains(v, i, p) } else { self.fills(v, i, p) };
        if changed {
            let reason = self.ports[i.index()].reason(v, i, p);
            self.decide(v, i, p, || reason, a);
        }
    }

    /// Algorithm 1, lines 2 and 3, where MAX is the switch's own limit.
    fn on_full(&self) -> Option<OnFull> {
        Some(OnFull::Drop)
    }
}

impl Waits for Capfc {
    /// The terms of D that hold: an egress stops an input also for what others sent.
    fn ingress_waits_for(&self, ingress: PortId, priority: Priority) -> IngressWait {
        if !self.governs(priority) {
            return IngressWait::default();
        }
        let congests = |o: &PortId| {
            *o != ingress && self.egress[self.at(priority, *o)].congested[ingress.index()]
        };
        IngressWait {
            own: self.ports[ingress.index()].full.contains(priority),
            egresses: (0..self.ports.len()).map(PortId::from_index).filter(congests).collect(),
        }
    }
}
