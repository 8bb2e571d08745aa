//! P-PFC: predictive PFC (Tian et al., "P-PFC: Reducing Tail Latency with Predictive PFC in
//! Lossless Data Center Networks", TPDS 2020).
//!
//! *Problem:* PFC pauses when the buffer is already full; queues and pauses are long. *Idea:*
//! pause earlier, when it can be foreseen that the threshold will be reached. Two different
//! algorithms go by this name; both are here.
//!
//! * `mode = paper`: the derivative of each ingress queue is estimated and extrapolated over the
//!   time a pause needs to take effect. The paper's abstract says as much; the constants are ours:
//!   the slope is sampled when packets come and go, at least `sample` apart, smoothed with weight
//!   `weight`; the horizon is one feedback latency and one hop round trip.
//! * `mode = ofc` (default): what the OFC paper describes as its baseline P-PFC: an egress that is
//!   longer than the average of all egresses pauses the ingress that feeds it. Taken alone this
//!   would pause at any load, so the ingress must have reached `ingress-floor`.
//!
//! *Messages:* PFC frames ([`crate::pfc`]).
//!
//! All arithmetic is in integers: slopes in bytes per second.

use crate::{
    Actions, Fallback, FlowControl, Hints, HoldState, IngressBound, Interest, Kind, LinkState, Mmu,
    Network, NodeSetup, NodeView, Param, ParamError, Pipelined, PortQueue, PortSetup, QueueLayout,
    Role, SchemeInfo, Senders, StateSize, TimerKey, Values, Violation, pfc, threshold,
};
use weir_core::reason::{Measured, Quantity};
use weir_core::{
    Bytes, ControlMessage, Packet, PortId, Priority, PrioritySet, QueueId, Ratio, Reason, Time,
};

/// Which of the two algorithms.
pub const MODE: Param = Param {
    name: "mode",
    kind: Kind::Choice(&["ofc", "paper"]),
    fallback: Fallback::Is("ofc"),
    doc: "ofc: pause when the egress is longer than average; paper: when the ingress will reach \
          xoff.",
};
/// The ingress length below which nothing is paused.
pub const INGRESS_FLOOR: Param = Param {
    name: "ingress-floor",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Shortest ingress queue that is paused before xoff; default: 68/75 of xoff (ofc), half \
          of xon (paper).",
};
/// How often the slope is sampled.
pub const SAMPLE: Param = Param {
    name: "sample",
    kind: Kind::Time(&[]),
    fallback: Fallback::Is("1us"),
    doc: "paper: shortest time between two samples of an ingress queue.",
};
/// How much a sample counts.
pub const WEIGHT: Param = Param {
    name: "weight",
    kind: Kind::Fraction,
    fallback: Fallback::Is("1/2"),
    doc: "paper: weight of the newest sample in the smoothed slope, at most 1.",
};
/// How far to look ahead.
pub const HORIZON: Param = Param {
    name: "horizon",
    kind: Kind::Time(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "paper: how far ahead the queue is extrapolated; default: feedback latency plus hop round \
          trip.",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "ppfc",
    title: "P-PFC",
    summary: "PFC that pauses before its threshold: when an egress is longer than average, or \
              when the ingress queue is about to reach it.",
    reference: "Tian et al., P-PFC, TPDS 2020; as a baseline in the OFC paper",
    params: &[
        MODE,
        INGRESS_FLOOR,
        SAMPLE,
        WEIGHT,
        HORIZON,
        pfc::TIMER,
        pfc::PAUSE_QUANTA,
        pfc::REFRESH,
    ],
    lossless: true,
    ingress_bound: |_| IngressBound::Pauses,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |_| false,
    build,
};

const PS_PER_S: i128 = 1_000_000_000_000;

/// The latency from a pause's decision to its effect: a largest frame in front of the pause
/// frame, the frame itself (84 B of line), a largest frame just begun at the other end, and
/// two propagation delays.
pub(crate) fn feedback_latency(port: &PortSetup, max_frame: Bytes) -> Time {
    let frame = max_frame.get() + 20;
    port.rate.time_for(Bytes::new(2 * frame + 84)) + port.propagation_rtt()
}

/// What `paper` mode knows about one ingress queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Trend {
    at: Time,
    bytes: u64,
    /// Smoothed slope in bytes per second.
    slope: i64,
    /// The present pause was foreseen, not forced.
    foreseen: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Prediction {
    sample: Time,
    weight: Ratio,
    /// By port.
    horizon: Vec<Time>,
    /// Pause and resume thresholds, by port.
    levels: Vec<(Bytes, Bytes)>,
}

impl Trend {
    /// Takes a sample when the last one is old enough.
    fn sample(&mut self, now: Time, bytes: u64, rules: &Prediction) {
        let Some(dt) = now.checked_sub(self.at) else { return };
        if dt < rules.sample || dt == Time::ZERO {
            return;
        }
        let grown = i128::from(bytes) - i128::from(self.bytes);
        let slope = (grown * PS_PER_S / i128::from(dt.as_ps())) as i64;
        let change = slope - self.slope;
        let part = rules.weight.of(change.unsigned_abs()) as i64;
        self.slope += change.signum() * part;
        (self.at, self.bytes) = (now, bytes);
    }

    /// The queue's length after `horizon` if it goes on like this.
    fn expected(&self, bytes: u64, horizon: Time) -> i128 {
        i128::from(bytes) + i128::from(self.slope) * i128::from(horizon.as_ps()) / PS_PER_S
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Mode {
    Average,
    Predict(Prediction),
}

/// P-PFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ppfc {
    pfc: pfc::Pfc,
    role: Role,
    mode: Mode,
    /// By port.
    floor: Vec<Bytes>,
    lossless: PrioritySet,
    /// By port and priority; empty in `ofc` mode.
    trends: Vec<Trend>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Ppfc::new(values, setup)?))
}

fn prediction(
    values: &Values,
    setup: &NodeSetup<'_>,
    levels: Vec<(Bytes, Bytes)>,
) -> Result<Prediction, ParamError> {
    let weight = values.ratio(&WEIGHT).expect("has a default");
    if weight.of(1 << 32) > 1 << 32 {
        return Err(ParamError(format!("weight is {weight}: it must not exceed 1")));
    }
    let horizon = |port: &PortSetup| {
        let derived = feedback_latency(port, setup.max_frame) + port.propagation_rtt();
        values.time(&HORIZON).unwrap_or(derived)
    };
    Ok(Prediction {
        sample: values.time(&SAMPLE).expect("has a default"),
        weight,
        horizon: setup.ports.iter().map(horizon).collect(),
        levels,
    })
}

impl Ppfc {
    /// P-PFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let given = values.bytes(&INGRESS_FLOOR);
        let paper =
            values.one_of(&MODE, &[("ofc", false), ("paper", true)]) && threshold::watches(setup);
        let (mode, floor, trends) = if paper {
            let Some(levels) = threshold::fixed(setup) else {
                return Err(ParamError("mode = paper needs static thresholds".into()));
            };
            // an empty queue must not be held by a slope that is past
            let floor = |(_, xon): &(Bytes, Bytes)| {
                given.unwrap_or(Bytes::new(xon.get() / 2)).max(Bytes::new(1))
            };
            let floor = levels.iter().map(floor).collect();
            let trends = vec![Trend::default(); setup.ports.len() * Priority::COUNT];
            (Mode::Predict(prediction(values, setup, levels)?), floor, trends)
        } else {
            let derived = |(xoff, _): (Bytes, Bytes)| Bytes::new(threshold::ALPHA.of(xoff.get()));
            let floor = threshold::each_port(setup, |fixed| match given.or(fixed.map(derived)) {
                None if threshold::watches(setup) => Err(ParamError(
                    "ingress-floor must be given when the buffer's thresholds are not static"
                        .into(),
                )),
                floor => Ok(floor.unwrap_or(Bytes::MAX)),
            })?;
            (Mode::Average, floor, Vec::new())
        };
        Ok(Self {
            pfc: pfc::Pfc::new(values, setup)?,
            role: setup.role,
            mode,
            floor,
            lossless: setup.lossless,
            trends,
        })
    }

    #[inline]
    fn governs(&self, priority: Priority) -> bool {
        self.role == Role::Switch && self.lossless.contains(priority)
    }

    /// The index of an ingress queue in `trends`.
    fn at(ingress: PortId, priority: Priority) -> usize {
        ingress.index() * Priority::COUNT + priority.index()
    }

    /// An ingress may have more than before: pauses it if it is full or will be.
    fn grew(
        &mut self,
        v: &NodeView<'_>,
        ingress: PortId,
        egress: Option<PortId>,
        priority: Priority,
        a: &mut Actions,
    ) {
        let full = v.books.mmu.should_pause(ingress, priority);
        let foreseen = self.foresees(v, ingress, egress, priority);
        let paused = self.pfc.has_paused(ingress, priority);
        if (full || foreseen) && !paused {
            let reason = match full {
                true => v.books.mmu.pause_reason(ingress, priority),
                false => self.foresight(v, ingress, egress, priority),
            };
            self.pfc.set_paused(v.now, (ingress, priority), HoldState::Held, || reason, a);
        }
        if let Some(trend) = self.trends.get_mut(Self::at(ingress, priority)) {
            trend.foreseen = !full && (trend.foreseen || foreseen && !paused);
        }
    }

    /// An ingress may have less than before: resumes it if it may.
    fn shrank(&mut self, v: &NodeView<'_>, ingress: PortId, priority: Priority, a: &mut Actions) {
        if self.may_resume(v, ingress, priority) {
            let reason = self.pfc.has_paused(ingress, priority).then(|| {
                match v.books.mmu.may_resume(ingress, priority) {
                    true => v.books.mmu.resume_reason(ingress, priority),
                    false => self.forecast(v, ingress, priority, HoldState::Open),
                }
            });
            if let Some(reason) = reason {
                self.pfc.set_paused(v.now, (ingress, priority), HoldState::Open, || reason, a);
            }
            if let Some(trend) = self.trends.get_mut(Self::at(ingress, priority)) {
                trend.foreseen = false;
            }
        }
    }

    /// Why an ingress is paused ahead of the full threshold.
    #[cold]
    fn foresight(
        &self,
        v: &NodeView<'_>,
        ingress: PortId,
        egress: Option<PortId>,
        priority: Priority,
    ) -> Reason {
        match (&self.mode, egress) {
            (Mode::Average, Some(egress)) => {
                let port = |o| v.q_out(PortId::from_index(o), priority).get();
                let sum: u64 = (0..v.ports()).map(port).sum();
                let average = Bytes::new(sum / v.ports() as u64);
                Reason::egress(egress, v.q_out(egress, priority)).above("average", average)
            }
            _ => self.forecast(v, ingress, priority, HoldState::Held),
        }
    }

    /// Where an ingress is expected to be, as a reason to pause or to resume it.
    #[cold]
    fn forecast(&self, v: &NodeView<'_>, ingress: PortId, p: Priority, state: HoldState) -> Reason {
        let Mode::Predict(rules) = &self.mode else {
            unreachable!("without a prediction an ingress resumes at xon")
        };
        let (trend, i) = (&self.trends[Self::at(ingress, p)], ingress.index());
        let expected = trend.expected(v.q_in(ingress, p).get(), rules.horizon[i]);
        let bytes = Bytes::new(u64::try_from(expected.max(0)).unwrap_or(u64::MAX));
        let forecast = Measured::new(Quantity::Forecast, ingress, bytes);
        let (xoff, xon) = rules.levels[i];
        match state {
            HoldState::Held => forecast.at_least("xoff", xoff),
            HoldState::Open => forecast.at_most("xon", xon),
        }
    }

    /// Whether a packet that came in, and joined `egress` if it is known yet, is a reason to pause
    /// its ingress ahead of the full threshold.
    fn foresees(
        &mut self,
        v: &NodeView<'_>,
        ingress: PortId,
        egress: Option<PortId>,
        priority: Priority,
    ) -> bool {
        let bytes = v.q_in(ingress, priority);
        match &self.mode {
            Mode::Average => {
                let port = |o| v.q_out(PortId::from_index(o), priority).get();
                let sum = || (0..v.ports()).map(port).sum::<u64>();
                let long = |o| v.q_out(o, priority).get() * v.ports() as u64 > sum();
                bytes >= self.floor[ingress.index()] && egress.is_some_and(long)
            }
            Mode::Predict(rules) => {
                let trend = &mut self.trends[Self::at(ingress, priority)];
                trend.sample(v.now, bytes.get(), rules);
                trend.predicts_pause(bytes, self.floor[ingress.index()], rules, ingress)
            }
        }
    }

    /// Whether the ingress of a packet that left may go on.
    fn may_resume(&mut self, v: &NodeView<'_>, ingress: PortId, priority: Priority) -> bool {
        let drained = v.books.mmu.may_resume(ingress, priority);
        let Mode::Predict(rules) = &self.mode else { return drained };
        let bytes = v.q_in(ingress, priority);
        let trend = &mut self.trends[Self::at(ingress, priority)];
        trend.sample(v.now, bytes.get(), rules);
        if trend.predicts_pause(bytes, self.floor[ingress.index()], rules, ingress) {
            return false;
        }
        let expected = trend.expected(bytes.get(), rules.horizon[ingress.index()]);
        let (_, xon) = rules.levels[ingress.index()];
        drained || trend.foreseen && trend.slope <= 0 && expected <= i128::from(xon.get())
    }
}

impl Trend {
    /// The queue grows, is not short, and will reach the pause threshold within the horizon.
    fn predicts_pause(
        &self,
        bytes: Bytes,
        floor: Bytes,
        rules: &Prediction,
        ingress: PortId,
    ) -> bool {
        let expected = self.expected(bytes.get(), rules.horizon[ingress.index()]);
        let (xoff, _) = rules.levels[ingress.index()];
        self.slope > 0 && bytes >= floor && expected >= i128::from(xoff.get())
    }
}

impl FlowControl for Ppfc {
    fn layout(&self, port: PortId) -> QueueLayout {
        self.pfc.layout(port)
    }

    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId {
        if self.governs(p.priority) {
            self.grew(v, p.ingress, Some(egress), p.priority, a);
        }
        self.pfc.queue_of(p.priority)
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, _from: PortQueue, a: &mut Actions) {
        if self.governs(p.priority) {
            self.shrank(v, p.ingress, p.priority, a);
        }
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        self.pfc.control(v, port, m, a);
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        self.pfc.timer(v, key, a);
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.pfc.reconnect(v.now, port, link, a);
        let ingresses = link.is_up() && self.role == Role::Switch;
        // an empty ingress would have no packet left whose departure resumes it
        let stores = |p: &Priority| ingresses && v.q_in(port, *p) > Bytes::ZERO;
        for priority in self.lossless.iter().filter(stores) {
            self.grew(v, port, None, priority, a);
        }
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.pfc.audit(v, network).map_err(|e| Violation { scheme: INFO.name, ..e })
    }

    fn state_size(&self) -> StateSize {
        let mut size = self.pfc.state_size();
        if let Mode::Predict(_) = self.mode {
            // length, time and slope in 4 bytes each, per (port, priority)
            size.tables.push(("trends", self.trends.len() as u64 * 12));
        }
        size
    }

    fn pipelined(&mut self) -> Result<&mut dyn Pipelined, &'static str> {
        Ok(self)
    }
}

impl Hints for Ppfc {
    /// As PFC's, but what is not paused yet may be from the floor on. In `paper` mode samples are
    /// taken when packets come and go.
    fn interest(&self, mmu: &Mmu, ingress: PortId, priority: Priority) -> Interest {
        if !self.governs(priority) {
            return Interest::Never(self.pfc.queue_of(priority));
        }
        match self.pfc.interest(mmu, ingress, priority) {
            Interest::Outside(..) if matches!(self.mode, Mode::Predict(_)) => Interest::Every,
            Interest::Outside(queue, range) if !self.pfc.has_paused(ingress, priority) => {
                Interest::Outside(queue, range.start..range.end.min(self.floor[ingress.index()]))
            }
            interest => interest,
        }
    }

    fn has_fixed_state(&self) -> bool {
        true
    }
}

impl Pipelined for Ppfc {
    fn ingress_changed(&mut self, v: &NodeView<'_>, i: PortId, p: Priority, a: &mut Actions) {
        if self.governs(p) {
            self.grew(v, i, None, p, a);
            self.shrank(v, i, p, a);
        }
    }
}

#[cfg(test)]
mod tests;
