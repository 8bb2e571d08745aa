//! GFC: gentle flow control (Qian et al., "Gentle Flow Control: Avoiding Deadlock in Lossless
//! Networks", SIGCOMM 2019).
//!
//! *Problem:* a paused port occupies buffer while it waits. If buffers wait for each other in a
//! cycle, all wait forever. *Idea:* never stop. The upstream port's **rate** is lowered as
//! the ingress queue grows, steeply enough that the queue cannot reach its limit before the
//! lower rate takes effect, and never to zero, so that no port waits for another.
//!
//! With C the link's rate, τ the feedback latency and q the ingress queue:
//!
//! | `feedback` | rate | sent | limit that keeps q below B_m |
//! |---|---|---|---|
//! | `buffer` | C/2^k, where q has passed B_1 … B_k | k, when it changes | B_1 ≤ B_m − 2Cτ |
//! | `time` | C·(B_m − q)/(B_m − B_0) above B_0 | q, every `period` T | B_0 ≤ B_m − (√τ + √T)²·C |
//! | `conceptual` | the same | q, whenever it changes | B_0 ≤ B_m − 4Cτ |
//!
//! With `buffer`, k is the stage, and each threshold halves the gap to B_m.
//!
//! Why `buffer` holds: at B_k the old rate C/2^(k−1) lasts for at most τ and adds at most
//! Cτ/2^(k−1) ≤ (B_m − B_k)/2, which is where the next threshold is. The argument assumes fluid;
//! a packet that has started is finished, so q can exceed B_m by two frames.
//!
//! *Modes:* `paper` as above. `ofc` is what the OFC paper calls GFC: thresholds below X_OFF
//! lower the rate, and at X_OFF it **is** zero, until the queue has drained to X_ON: B_m is X_OFF,
//! B_1 is 68/75 of it, and halving ends when the gap is below one frame (68, 71.5 and 73.25 KB for
//! X_OFF = 75 KB). This variant can deadlock.
//!
//! *Messages:* [`ControlMessage::Stage`] and [`ControlMessage::Occupancy`] (in units of 64 B), 64 B
//! frames of PFC's shape.
//!
//! *Deviations:* the conceptual feedback is out of band in the paper; here its frames use the
//! wire. A period in which nothing changed from "no limit" is not reported. The rate ends at
//! `min-rate` (8 kb/s as in the paper, one packet in 1.5 s), and an ingress at that floor may pass
//! B_m by `min-rate` times the time it stays there.

mod curve;
#[cfg(test)]
mod tests;

pub use crate::refresh::REFRESH;
use crate::refresh::{Due, Refresh};
use crate::{
    Actions, Fallback, FlowControl, Hints, IngressBound, Interest, Kind, LinkState, Mmu, Network,
    NodeSetup, NodeView, Param, ParamError, Pipelined, PortQueue, PrioritySchedule, QueueLayout,
    Role, SchemeInfo, Senders, StateSize, Target, TimerKey, Values, Violation, threshold,
};
use curve::{Curve, Plan, Signal};
use weir_core::{
    Bytes, ControlMessage, Packet, PortId, Priority, PrioritySet, QueueId, Rate, Reason,
};

/// Whose GFC.
pub const MODE: Param = Param {
    name: "mode",
    kind: Kind::Choice(&["paper", "ofc"]),
    fallback: Fallback::Is("paper"),
    doc: "paper: the rate is never zero; ofc: zero at xoff, as the OFC paper's baseline.",
};
/// How the upstream learns of the queue.
pub const FEEDBACK: Param = Param {
    name: "feedback",
    kind: Kind::Choice(&["buffer", "time", "conceptual"]),
    fallback: Fallback::Is("buffer"),
    doc: "buffer: stages, sent when they change; time: occupancy, sent periodically; conceptual: \
          occupancy, sent on every change.",
};
/// The buffer's end.
pub const B_M: Param = Param {
    name: "b-m",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Ingress length that must not be reached; default: xoff plus C tau (paper), xoff (ofc).",
};
/// The first stage's threshold.
pub const B_1: Param = Param {
    name: "b-1",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "buffer: ingress length of the first stage; default: b-m minus 2 C tau (paper), 68/75 of \
          xoff (ofc).",
};
/// Where the rate begins to fall.
pub const B_0: Param = Param {
    name: "b-0",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "time, conceptual: ingress length up to which the rate is full; default: the largest that \
          is safe.",
};
/// The lowest rate.
pub const MIN_RATE: Param = Param {
    name: "min-rate",
    kind: Kind::Rate,
    fallback: Fallback::Is("8kbps"),
    doc: "Lowest rate (buffer: the first power-of-two fraction below it).",
};
/// How often occupancy is reported.
pub const PERIOD: Param = Param {
    name: "period",
    kind: Kind::Time(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "time: interval between reports; default: the feedback latency.",
};
/// How far the queue must fall below a threshold to leave its stage.
pub const DOWN_HYSTERESIS: Param = Param {
    name: "down-hysteresis",
    kind: Kind::Size(&[]),
    fallback: Fallback::Is("0B"),
    doc: "buffer: a stage is left when the queue is this far below its threshold.",
};
/// What the receiver of a frame takes to act on it.
pub const RESPONSE: Param = Param {
    name: "response",
    kind: Kind::Time(&[]),
    fallback: Fallback::Is("0ns"),
    doc: "Part of the feedback latency: how long a receiver takes to act on a frame.",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "gfc",
    title: "GFC",
    summary: "Lowers the neighbour's rate as the ingress queue grows instead of stopping it.",
    reference: "Qian et al., Gentle Flow Control, SIGCOMM 2019; as a baseline in the OFC paper",
    params: &[MODE, FEEDBACK, B_M, B_1, B_0, MIN_RATE, PERIOD, DOWN_HYSTERESIS, RESPONSE, REFRESH],
    lossless: true,
    ingress_bound,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |values| curve::Signal::of(values) != curve::Signal::Buffer,
    build,
};

fn ingress_bound(values: &Values) -> IngressBound {
    let bounds = [("paper", IngressBound::Slows), ("ofc", IngressBound::Pauses)];
    values.one_of(&MODE, &bounds)
}

/// Bytes per unit of an occupancy report.
const UNIT: u64 = 64;

crate::timers! {
    /// The timers of GFC.
    enum Timer {
        /// The occupancies of a port's ingress are due.
        Report = 0,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Feedback {
    /// Stages, when they change.
    Stages {
        /// `ofc` mode: the rate is zero from X_OFF to X_ON.
        stops: bool,
        hysteresis: u64,
    },
    /// Occupancy, on a timer.
    Periodic,
    /// Occupancy, when it changes.
    OnChange,
}

/// What a number that a neighbour sends stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Stage,
    /// Bytes of the ingress, in units of [`UNIT`].
    Occupancy,
}

/// What an ingress told its neighbour, or an egress was told, per priority: a stage or an
/// occupancy in units. Zero is no limit.
type PerPriority = [u16; Priority::COUNT];

const STOP: u16 = ControlMessage::STAGE_STOP as u16;

/// GFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gfc {
    schedule: PrioritySchedule,
    queue_of: [u32; Priority::COUNT],
    role: Role,
    lossless: PrioritySet,
    feedback: Feedback,
    min_rate: Rate,
    /// By port.
    curves: Vec<Curve>,
    /// By ingress.
    told: Vec<PerPriority>,
    /// By egress.
    heard: Vec<PerPriority>,
    /// Whether an ingress's report timer runs.
    reporting: Vec<bool>,
    refresh: Refresh<Priority>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Gfc::new(values, setup)?))
}

impl Gfc {
    /// GFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let plan = Plan::new(values, setup);
        let hysteresis = values.bytes(&DOWN_HYSTERESIS).expect("has a default").get();
        let feedback = match plan.signal {
            Signal::Buffer => Feedback::Stages { stops: plan.stops, hysteresis },
            _ if plan.stops => {
                return Err(ParamError("mode = ofc needs feedback = buffer".into()));
            }
            Signal::Time => Feedback::Periodic,
            Signal::Conceptual => Feedback::OnChange,
        };
        // a stage says all its receiver needs; an occupancy means something only with the
        // thresholds it is measured by
        let needs_curve = match setup.role {
            Role::Switch => threshold::watches(setup),
            Role::Nic => plan.signal != Signal::Buffer,
        };
        let ports = setup.ports.len();
        let refresh = Refresh::new(values, setup)?;
        let curve = |i: usize| match needs_curve {
            true => plan.curve(i),
            false => Ok(Curve::flat(&setup.ports[i])),
        };
        Self {
            schedule: *setup.schedule,
            queue_of: setup.schedule.queue_of(),
            role: setup.role,
            lossless: setup.lossless,
            feedback,
            min_rate: values.rate(&MIN_RATE).expect("has a default"),
            curves: (0..ports).map(curve).collect::<Result<_, _>>()?,
            told: vec![[0; Priority::COUNT]; ports],
            heard: vec![[0; Priority::COUNT]; ports],
            reporting: vec![false; ports],
            refresh,
        }
        .checked()
    }

    /// Refuses a refresh that is too short for reports which come on a timer of their own.
    fn checked(self) -> Result<Self, ParamError> {
        let longest = self.curves.iter().map(|c| c.period).max().unwrap_or_default();
        match self.refresh.every() {
            Some(every) if self.feedback == Feedback::Periodic && every < longest => {
                Err(ParamError(format!(
                    "refresh is {every}: limits are repeated every period, which is {longest}, and \
                     must not lapse earlier"
                )))
            }
            _ => Ok(self),
        }
    }

    #[inline]
    fn governs(&self, priority: Priority) -> bool {
        self.role == Role::Switch && self.lossless.contains(priority)
    }

    /// What `ingress` should say about `priority` now.
    fn to_tell(&self, v: &NodeView<'_>, ingress: PortId, priority: Priority) -> u16 {
        let curve = &self.curves[ingress.index()];
        let q = v.q_in(ingress, priority).get();
        let Feedback::Stages { stops, hysteresis } = self.feedback else {
            let units = q.div_ceil(UNIT).min(u64::from(u16::MAX)) as u16;
            return if q <= curve.b_0 { 0 } else { units };
        };
        let mut now = self.told[ingress.index()][priority.index()];
        if stops {
            let mmu = &v.books.mmu;
            if mmu.should_pause(ingress, priority)
                || now == STOP && !mmu.may_resume(ingress, priority)
            {
                return STOP;
            }
            if now == STOP {
                now = 0;
            }
        }
        let (up, down) = (curve.stage(q), curve.stage(q.saturating_add(hysteresis)));
        down.min(now).max(up)
    }

    /// Tells the neighbour at `ingress` about `priority` when there is something new.
    fn update(&mut self, v: &NodeView<'_>, ingress: PortId, priority: Priority, a: &mut Actions) {
        if self.feedback == Feedback::Periodic {
            return;
        }
        let new = self.to_tell(v, ingress, priority);
        let told = &mut self.told[ingress.index()];
        let old = std::mem::replace(&mut told[priority.index()], new);
        if new != old {
            let mut values = [0; Priority::COUNT];
            values[priority.index()] = new;
            let reason = self.reason(v, (ingress, priority), old, new);
            a.send(ingress, self.message(PrioritySet::only(priority), values), reason);
            if new != 0 {
                self.refresh.told(v.now, ingress, a);
            }
        }
    }

    /// Why `ingress` says `new` about `priority` after `old`.
    #[cold]
    fn reason(
        &self,
        v: &NodeView<'_>,
        (ingress, priority): (PortId, Priority),
        old: u16,
        new: u16,
    ) -> Reason {
        let curve = &self.curves[ingress.index()];
        let bytes = v.q_in(ingress, priority);
        let measured = Reason::ingress(ingress, bytes);
        let Feedback::Stages { stops, hysteresis } = self.feedback else {
            let b_0 = Bytes::new(curve.b_0);
            return match bytes > b_0 {
                true => measured.above(B_0.name, b_0),
                false => measured.at_most(B_0.name, b_0),
            };
        };
        let stage = |k: u16| curve.stages.get(usize::from(k)).copied().unwrap_or(u64::MAX);
        match stops {
            true if new == STOP => v.books.mmu.pause_reason(ingress, priority),
            true if old == STOP => v.books.mmu.resume_reason(ingress, priority),
            _ if new > old => measured.at_least("stage", Bytes::new(stage(new - 1))),
            // the length with the hysteresis added is below the next stage
            _ => measured.below("stage", Bytes::new(stage(new).saturating_sub(hysteresis))),
        }
    }

    /// Something came in by `ingress`: tells the neighbour now, or sees to it that reports are
    /// sent.
    fn look(&mut self, v: &NodeView<'_>, ingress: PortId, priority: Priority, a: &mut Actions) {
        self.update(v, ingress, priority, a);
        let i = ingress.index();
        if self.feedback == Feedback::Periodic && !self.reporting[i] {
            self.reporting[i] = true;
            a.arm_background(Self::timer_key(ingress), v.now + self.curves[i].period);
        }
    }

    fn message(&self, enable: PrioritySet, values: PerPriority) -> ControlMessage {
        match self.feedback {
            Feedback::Stages { .. } => {
                ControlMessage::Stage { enable, stage: values.map(|k| k as u8) }
            }
            _ => ControlMessage::Occupancy { enable, units: values },
        }
    }

    /// The neighbour at `port` wants `priority` sent at the rate that `new` stands for.
    fn obey(&mut self, port: PortId, priority: Priority, new: u16, unit: Unit, a: &mut Actions) {
        let old = std::mem::replace(&mut self.heard[port.index()][priority.index()], new);
        if old == new {
            return;
        }
        if unit == Unit::Stage && new == STOP {
            a.hold(port, Target::Priority(priority));
            return;
        }
        let curve = &self.curves[port.index()];
        let rate = match unit {
            Unit::Stage => curve.rate_of_stage(new),
            Unit::Occupancy => curve.rate_at(u64::from(new) * UNIT, self.min_rate),
        };
        a.limit(port, priority, rate);
        if unit == Unit::Stage && old == STOP {
            a.open(port, Target::Priority(priority));
        }
    }

    /// A timer of the refresh. (Reports on a timer of their own repeat limits anyway.)
    fn on_refresh(&mut self, v: &NodeView<'_>, port: PortId, due: Due, a: &mut Actions) {
        match due {
            Due::Repeat => {
                let told = self.told[port.index()];
                let limited = |p: &Priority| told[p.index()] != 0;
                let enable: PrioritySet = Priority::ALL.into_iter().filter(limited).collect();
                let message = (!enable.is_empty()).then(|| self.message(enable, told));
                self.refresh.repeat(v, port, message.as_slice(), a);
            }
            Due::Lapse => {
                let unit = match self.feedback {
                    Feedback::Stages { .. } => Unit::Stage,
                    _ => Unit::Occupancy,
                };
                for priority in self.refresh.lapsed(v, port, a) {
                    self.obey(port, priority, 0, unit, a);
                }
            }
        }
    }

    fn timer_key(port: PortId) -> TimerKey {
        Timer::Report.key(port, 0)
    }
}

impl FlowControl for Gfc {
    fn layout(&self, _port: PortId) -> QueueLayout {
        QueueLayout::per_priority(&self.schedule)
    }

    fn arrive(&mut self, v: &NodeView<'_>, p: &mut Packet, _: PortId, a: &mut Actions) -> QueueId {
        if self.governs(p.priority) {
            self.look(v, p.ingress, p.priority, a);
        }
        QueueId(self.queue_of[p.priority.index()])
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, _from: PortQueue, a: &mut Actions) {
        if self.governs(p.priority) {
            self.update(v, p.ingress, p.priority, a);
        }
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let (enable, values, unit) = match m {
            ControlMessage::Stage { enable, stage } => (*enable, stage.map(u16::from), Unit::Stage),
            ControlMessage::Occupancy { enable, units } => (*enable, *units, Unit::Occupancy),
            _ => return,
        };
        for priority in (enable & self.lossless).iter() {
            let new = values[priority.index()];
            match new {
                0 => self.refresh.lifted(port, priority, a),
                _ => self.refresh.heard(v, port, priority, a),
            }
            self.obey(port, priority, new, unit, a);
        }
    }

    /// A report is due: the occupancies of all lossless priorities. The timer goes on while
    /// there is something in the ingress, or a limit to be lifted.
    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        if let Some(due) = Due::of(key) {
            return self.on_refresh(v, key.port, due, a);
        }
        let Timer::Report = Timer::of(key);
        let mut new = [0; Priority::COUNT];
        let mut empty = true;
        for priority in self.lossless.iter() {
            new[priority.index()] = self.to_tell(v, key.port, priority);
            empty &= v.q_in(key.port, priority).get() == 0;
        }
        let i = key.port.index();
        let old = std::mem::replace(&mut self.told[i], new);
        if old != [0; Priority::COUNT] || new != [0; Priority::COUNT] {
            a.send(key.port, self.message(self.lossless, new), Reason::Report);
        }
        self.reporting[i] = !empty;
        if !empty {
            a.arm_background(key, v.now + self.curves[i].period);
        }
    }

    /// The neighbour has forgotten its limits. When the link is up it is told of all that deviate
    /// from none; with periodic reports, too, which go on as before.
    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        let i = port.index();
        self.refresh.link(v.now, port, link, a);
        if link.is_up() && self.role == Role::Switch {
            // an empty ingress would have no packet left whose departure lifts the limit
            let stores = |p: &Priority| v.q_in(port, *p) > Bytes::ZERO;
            for priority in self.lossless.iter().filter(stores) {
                self.told[i][priority.index()] = self.to_tell(v, port, priority);
            }
            if self.told[i] != [0; Priority::COUNT] {
                a.send(port, self.message(self.lossless, self.told[i]), Reason::Link);
            }
        }
        for priority in self.lossless.iter() {
            if std::mem::take(&mut self.heard[i][priority.index()]) != 0 {
                a.limit(port, priority, None);
                a.open(port, Target::Priority(priority));
            }
        }
    }

    fn audit(&self, _v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        // the last report of a timer may be still to come
        if !network.is_drained() || self.feedback == Feedback::Periodic {
            return Ok(());
        }
        for (what, values) in [("limits", &self.told), ("is limited by", &self.heard)] {
            if let Some(port) = values.iter().position(|v| *v != [0; Priority::COUNT]) {
                return Err(Violation {
                    scheme: INFO.name,
                    what: format!("port {port} still {what} its neighbour: {:?}", values[port]),
                });
            }
        }
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        // a counter of 3 bytes and a stage per (port, priority)
        StateSize { tables: vec![("ingress counters", self.told.len() as u64 * 8 * 4)] }
    }

    fn pipelined(&mut self) -> Result<&mut dyn Pipelined, &'static str> {
        Ok(self)
    }
}

impl Hints for Gfc {
    /// Below the first threshold, as long as the neighbour was told nothing. With periodic reports
    /// the scheme hears of every packet: the first one starts them.
    fn interest(&self, mmu: &Mmu, ingress: PortId, priority: Priority) -> Interest {
        let i = ingress.index();
        let queue = QueueId(self.queue_of[priority.index()]);
        let below = match self.feedback {
            _ if !self.governs(priority) => return Interest::Never(queue),
            _ if self.told[i][priority.index()] != 0 => Bytes::ZERO,
            Feedback::Periodic => Bytes::ZERO,
            Feedback::Stages { stops, .. } => {
                let stop = if stops { mmu.pause_threshold(ingress, priority) } else { Bytes::MAX };
                self.curves[i].first_stage().min(stop)
            }
            Feedback::OnChange => Bytes::new(self.curves[i].b_0 + 1),
        };
        Interest::Outside(queue, Bytes::ZERO..below)
    }

    fn has_fixed_state(&self) -> bool {
        true
    }
}

impl Pipelined for Gfc {
    fn ingress_changed(&mut self, v: &NodeView<'_>, i: PortId, p: Priority, a: &mut Actions) {
        if self.governs(p) {
            self.look(v, i, p, a);
        }
    }
}
