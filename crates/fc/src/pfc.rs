//! Priority Flow Control, IEEE 802.1Qbb (802.1Q clause 36).
//!
//! *Problem:* packets must not be dropped for lack of memory. *Idea:* every ingress (port,
//! priority) counts the bytes that arrived by it and are still in the switch. When they reach the
//! pause threshold it asks the neighbour to stop that priority; when they have fallen to the
//! resume threshold it asks it to resume. A pause stops the whole priority of the link, also
//! flows that do not cause the congestion; the other schemes try to avoid that.
//!
//! *Messages:* one 64 B frame with a pause time per priority, in quanta of 512 bit times
//! of the receiving port; zero resumes.
//!
//! *Timers:* `timed`: a pause expires by itself after its time, and the pausing side
//! refreshes it while it lasts; `sticky`: a non-zero time holds until an explicit zero, as
//! several simulators have it. The two give the same result as long as nothing is lost
//! and no pause outlasts the refresh interval; refresh frames cost wire time. A sticky pause can be
//! refreshed, too: then it lapses as [`crate::refresh`] says.
//!
//! *Thresholds* are the buffer's ([`crate::mmu`]), static or dynamic.
//!
//! *Pipelined switch:* an ingress counts what the packet processor has not yet moved. PFC does
//! not specify what happens at a full egress queue; `on-full` selects one of the two variants of
//! the CaPFC paper, PFC_wdrop and PFC_wstop.

use crate::{
    Actions, Fallback, FlowControl, Hints, HoldState, IngressBound, Interest, Kind, LinkState, Mmu,
    Network, NodeSetup, NodeView, OnFull, Param, ParamError, Pipelined, PortQueue,
    PrioritySchedule, QueueLayout, Role, SchemeInfo, Senders, StateSize, Target, TimerKey, Value,
    Values, Violation, refresh,
};
use std::ops::Range;
use weir_core::{
    Bytes, ControlMessage, Packet, PortId, Priority, PrioritySet, QueueId, Reason, Time,
};

/// Whether a pause expires by itself.
pub const TIMER: Param = Param {
    name: "timer",
    kind: Kind::Choice(&["timed", "sticky"]),
    fallback: Fallback::Is("timed"),
    doc: "timed: pauses expire after their quanta and are refreshed; sticky: a pause lasts until a \
          RESUME.",
};
/// The pause time put into a frame.
pub const PAUSE_QUANTA: Param = Param {
    name: "pause-quanta",
    kind: Kind::Whole { min: 1, max: 65_535 },
    fallback: Fallback::Is("65535"),
    doc: "Pause time of a PAUSE frame in quanta of 512 bit times.",
};
/// How often a standing pause is repeated.
pub const REFRESH: Param = Param {
    name: "refresh",
    kind: Kind::Time(&["never"]),
    fallback: Fallback::Absent("derived"),
    doc: "Interval at which a PAUSE is repeated while the pause lasts. timed: default half the \
          pause time. sticky: default never; if a time is given, a pause lapses when it has not \
          been repeated for four intervals.",
};

/// What happens at a full egress queue.
pub const ON_FULL: Param = Param {
    name: "on-full",
    kind: Kind::Choice(&["drop", "stop"]),
    fallback: Fallback::Absent("derived"),
    doc: "Pipelined switch, full egress queue: drop the packet or stop the processor; default: \
          the setting of [switch].",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "pfc",
    title: "PFC",
    summary: "Pauses a whole priority of a link when the bytes that arrived by it reach a \
              threshold.",
    reference: "IEEE 802.1Qbb",
    params: &[TIMER, PAUSE_QUANTA, REFRESH, ON_FULL],
    lossless: true,
    ingress_bound: |_| IngressBound::Pauses,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |_| false,
    build,
};

/// Bytes of one pause quantum: 512 bit times.
const QUANTUM: u64 = 64;

crate::timers! {
    /// The timers of PFC.
    pub(crate) enum Timer {
        /// A pause of the neighbour ends: (port, priority).
        Expiry = 0,
        /// Standing pauses of a port are repeated.
        Refresh = 1,
    }
}

/// One port: as the pausing side of its ingress, and as the paused side of its egress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Port {
    /// What we have paused of the neighbour's.
    sent: PrioritySet,
    /// What the neighbour has paused of ours.
    held: PrioritySet,
    /// How often standing pauses are repeated; never, if absent.
    refresh: Option<Time>,
    quantum: Time,
}

/// PFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pfc {
    schedule: PrioritySchedule,
    queue_of: [u32; Priority::COUNT],
    lossless: PrioritySet,
    timed: bool,
    quanta: u16,
    on_full: Option<OnFull>,
    ports: Vec<Port>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Pfc::new(values, setup)?))
}

fn expiry(port: PortId, priority: Priority) -> TimerKey {
    Timer::Expiry.key(port, u32::from(priority.get()))
}

fn refreshing(port: PortId) -> TimerKey {
    Timer::Refresh.key(port, 0)
}

impl Pfc {
    /// PFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let quanta = values.integer(&PAUSE_QUANTA).expect("has a default") as u16;
        let meanings = [("timed", true), ("sticky", false)];
        let timed = values.one_of(&TIMER, &meanings);
        if timed && matches!(values.get(&REFRESH), Some(Value::Choice(_))) {
            let what = "refresh cannot be never: timed pauses expire unless they are repeated \
                        (with timer = \"sticky\" it can)";
            return Err(ParamError(what.into()));
        }
        let mut ports = Vec::with_capacity(setup.ports.len());
        for port in setup.ports {
            let quantum = port.rate.time_for(Bytes::new(QUANTUM));
            let pause = quantum * u64::from(quanta);
            let refresh = values.time(&REFRESH).or_else(|| timed.then_some(pause / 2));
            if timed && refresh.is_none_or(|every| every == Time::ZERO || every >= pause) {
                return Err(ParamError(format!(
                    "refresh must be above zero and below the pause time: {} quanta last {pause} \
                     at {}",
                    quanta, port.rate
                )));
            }
            if let Some(every) = refresh {
                if !timed {
                    refresh::check_longest(every)?;
                }
                port.check_interval(REFRESH.name, every)?;
            }
            ports.push(Port { refresh, quantum, ..Port::default() });
        }
        Ok(Self {
            schedule: *setup.schedule,
            queue_of: setup.schedule.queue_of(),
            lossless: setup.lossless,
            timed,
            quanta,
            on_full: values
                .optional_one_of(&ON_FULL, &[("drop", OnFull::Drop), ("stop", OnFull::Stop)]),
            ports,
        })
    }

    /// One frame with the same time for all of these priorities.
    fn frame(&self, enable: PrioritySet, quanta: u16) -> ControlMessage {
        let mut times = [0; Priority::COUNT];
        for p in enable.iter() {
            times[p.index()] = quanta;
        }
        ControlMessage::Pfc { enable, quanta: times }
    }

    /// Its tables, with their sizes in bytes: a counter of 3 bytes and a state bit per (port,
    /// priority), rounded to 4 bytes.
    pub(crate) fn tables(&self) -> [(&'static str, u64); 1] {
        [("ingress counters", self.ports.len() as u64 * 8 * 4)]
    }

    /// Whether `priority` is lossless.
    pub(crate) fn governs(&self, priority: Priority) -> bool {
        self.lossless.contains(priority)
    }

    /// The queue of `priority`.
    pub(crate) fn queue_of(&self, priority: Priority) -> QueueId {
        QueueId(self.queue_of[priority.index()])
    }

    /// Whether the neighbour at `port` has been told to stop `priority`.
    pub(crate) fn has_paused(&self, port: PortId, priority: Priority) -> bool {
        self.ports[port.index()].sent.contains(priority)
    }

    /// Whether the neighbour at `port` has told us to stop `priority`.
    pub(crate) fn is_paused(&self, port: PortId, priority: Priority) -> bool {
        self.ports[port.index()].held.contains(priority)
    }

    /// Sees to it that the neighbour at `port` has stopped `priority`, or has not: for schemes
    /// that send PFC's frames for reasons of their own. `why` is called if a frame is sent.
    #[inline]
    pub(crate) fn set_paused(
        &mut self,
        now: Time,
        (port, priority): (PortId, Priority),
        state: HoldState,
        why: impl FnOnce() -> Reason,
        a: &mut Actions,
    ) {
        match (self.has_paused(port, priority), state) {
            (false, HoldState::Held) => self.pause(now, port, priority, why(), a),
            (true, HoldState::Open) => self.resume(port, priority, why(), a),
            _ => {}
        }
    }

    /// The ingress has reached its pause threshold.
    #[cold]
    #[inline(never)]
    fn pause_full(&mut self, v: &NodeView<'_>, port: PortId, priority: Priority, a: &mut Actions) {
        self.pause(v.now, port, priority, v.books.mmu.pause_reason(port, priority), a);
    }

    /// The ingress has drained to its resume threshold.
    #[cold]
    #[inline(never)]
    fn resume_drained(
        &mut self,
        v: &NodeView<'_>,
        port: PortId,
        priority: Priority,
        a: &mut Actions,
    ) {
        self.resume(port, priority, v.books.mmu.resume_reason(port, priority), a);
    }

    /// Tells the neighbour at `port` to stop `priority`.
    #[cold]
    #[inline(never)]
    fn pause(
        &mut self,
        now: Time,
        port: PortId,
        priority: Priority,
        reason: Reason,
        a: &mut Actions,
    ) {
        a.send(port, self.frame(PrioritySet::only(priority), self.quanta), reason);
        let state = &mut self.ports[port.index()];
        if let Some(every) = state.refresh.filter(|_| state.sent.is_empty()) {
            a.arm_background(refreshing(port), now + every);
        }
        state.sent.set(priority, true);
    }

    /// The link at `port` failed or recovered. What the neighbour had paused of ours may be sent
    /// again. What we have paused of the neighbour's stays paused as far as this node is concerned:
    /// when the link is up the neighbour is told again.
    pub(crate) fn reconnect(&mut self, now: Time, port: PortId, link: LinkState, a: &mut Actions) {
        let state = &mut self.ports[port.index()];
        for priority in std::mem::take(&mut state.held).iter() {
            a.open(port, Target::Priority(priority));
            a.cancel(expiry(port, priority));
        }
        let (paused, refresh) = (state.sent, state.refresh);
        if paused.is_empty() {
            return;
        }
        if link.is_up() {
            a.send(port, self.frame(paused, self.quanta), Reason::Link);
        }
        match refresh {
            Some(every) if link.is_up() => a.arm_background(refreshing(port), now + every),
            Some(_) => a.cancel(refreshing(port)),
            None => {}
        }
    }

    /// Resumes `priority` of the neighbour at `port`.
    #[cold]
    #[inline(never)]
    fn resume(&mut self, port: PortId, priority: Priority, reason: Reason, a: &mut Actions) {
        a.send(port, self.frame(PrioritySet::only(priority), 0), reason);
        let state = &mut self.ports[port.index()];
        state.sent.set(priority, false);
        if state.refresh.is_some() && state.sent.is_empty() {
            a.cancel(refreshing(port));
        }
    }
}

impl FlowControl for Pfc {
    fn layout(&self, _port: PortId) -> QueueLayout {
        QueueLayout::per_priority(&self.schedule)
    }

    #[inline]
    fn arrive(&mut self, v: &NodeView<'_>, p: &mut Packet, _: PortId, a: &mut Actions) -> QueueId {
        if self.lossless.contains(p.priority)
            && !self.ports[p.ingress.index()].sent.contains(p.priority)
            && v.books.mmu.should_pause(p.ingress, p.priority)
        {
            self.pause_full(v, p.ingress, p.priority, a);
        }
        self.queue_of(p.priority)
    }

    #[inline]
    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, _from: PortQueue, a: &mut Actions) {
        // A NIC sends its own packets: it has no ingress to resume.
        if self.ports[p.ingress.index()].sent.contains(p.priority)
            && v.books.mmu.may_resume(p.ingress, p.priority)
        {
            self.resume_drained(v, p.ingress, p.priority, a);
        }
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let ControlMessage::Pfc { enable, quanta } = m else { return };
        let state = &mut self.ports[port.index()];
        for priority in enable.iter() {
            let time = quanta[priority.index()];
            if time > 0 {
                state.held.set(priority, true);
                a.hold(port, Target::Priority(priority));
                let lasts = match state.refresh {
                    _ if self.timed => Some(state.quantum * u64::from(time)),
                    every => every.map(|every| every * refresh::INTERVALS),
                };
                if let Some(lasts) = lasts {
                    // overwrites a pause that still runs, also with a shorter time
                    a.arm_background(expiry(port, priority), v.now + lasts);
                }
            } else if state.held.set(priority, false) {
                a.open(port, Target::Priority(priority));
                a.cancel(expiry(port, priority));
            }
        }
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        let state = &mut self.ports[key.port.index()];
        match Timer::of(key) {
            Timer::Expiry => {
                let priority = Priority::ALL[key.index as usize];
                state.held.set(priority, false);
                a.open(key.port, Target::Priority(priority));
            }
            Timer::Refresh => {
                let Some(every) = state.refresh else { return };
                a.arm_background(key, v.now + every);
                let paused = state.sent;
                a.send(key.port, self.frame(paused, self.quanta), Reason::Refresh);
            }
        }
    }

    /// A dynamic threshold may have fallen below what the ingress stores since its last packet
    /// came: the rule is applied once more when the link recovers.
    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.reconnect(v.now, port, link, a);
        let ingresses = link.is_up() && v.books.role == Role::Switch;
        // an empty ingress would have no packet left whose departure resumes it
        let stores = |p: &Priority| ingresses && v.q_in(port, *p) > Bytes::ZERO;
        for priority in self.lossless.iter().filter(stores) {
            if !self.has_paused(port, priority) && v.books.mmu.should_pause(port, priority) {
                self.pause_full(v, port, priority, a);
            }
        }
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        for (i, port) in self.ports.iter().enumerate() {
            if network.is_drained() && !port.sent.is_empty() {
                return Err(Violation {
                    scheme: INFO.name,
                    what: format!(
                        "port {i} still pauses priorities {} of its neighbour at {}, with nothing \
                         left in the network",
                        port.sent, v.now
                    ),
                });
            }
        }
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        StateSize { tables: self.tables().to_vec() }
    }

    fn pipelined(&mut self) -> Result<&mut dyn Pipelined, &'static str> {
        Ok(self)
    }
}

impl Hints for Pfc {
    fn quiet_range(&self, mmu: &Mmu, ingress: PortId, priority: Priority) -> Range<Bytes> {
        match self.interest(mmu, ingress, priority) {
            Interest::Outside(_, range) => range,
            _ => Bytes::ZERO..Bytes::MAX,
        }
    }

    /// Below XOFF until the neighbour is paused, and then above XON.
    fn interest(&self, mmu: &Mmu, ingress: PortId, priority: Priority) -> Interest {
        let queue = self.queue_of(priority);
        if !self.governs(priority) {
            Interest::Never(queue)
        } else if self.has_paused(ingress, priority) {
            let above_xon = mmu.resume_threshold(ingress, priority).saturating_add(Bytes::new(1));
            Interest::Outside(queue, above_xon..Bytes::MAX)
        } else {
            Interest::Outside(queue, Bytes::ZERO..mmu.pause_threshold(ingress, priority))
        }
    }

    /// A packet that neither pauses the neighbour nor finds it paused. (With fixed thresholds the
    /// switch knows that beforehand and does not ask.)
    fn pass(&mut self, v: &NodeView<'_>, p: &mut Packet, _egress: PortId) -> Option<QueueId> {
        let concerned = self.governs(p.priority)
            && (self.has_paused(p.ingress, p.priority)
                || v.books.mmu.would_pause(p.ingress, p.priority, p.size));
        (!concerned).then(|| self.queue_of(p.priority))
    }

    fn has_fixed_state(&self) -> bool {
        true
    }
}

impl Pipelined for Pfc {
    fn ingress_changed(&mut self, v: &NodeView<'_>, i: PortId, p: Priority, a: &mut Actions) {
        if !self.lossless.contains(p) {
            return;
        }
        let (paused, full) = (self.has_paused(i, p), v.books.mmu.should_pause(i, p));
        if !paused && full {
            self.pause_full(v, i, p, a);
        } else if paused && !full && v.books.mmu.may_resume(i, p) {
            self.resume_drained(v, i, p, a);
        }
    }

    fn on_full(&self) -> Option<OnFull> {
        self.on_full
    }
}

#[cfg(test)]
mod tests;
