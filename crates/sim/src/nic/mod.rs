//! A host's network card and transport.
//!
//! Flows come from the host's traffic stream, take a slot, and share the wire round robin;
//! each asks its congestion control how fast it may go. Packets are made when they are sent:
//! a flow waiting in a NIC is a counter, not a queue of packets. [`sender`] holds what a
//! flow knows, [`transmit`] picks and sends, [`receive`] takes in packets and answers them;
//! [`selective`] is what is different with selective repeat, [`tcp`] with TCP, and [`streams`] with
//! ACKs that flow control holds. [`jobs`] runs the ranks of jobs, whose messages [`pair`] puts
//! into queue pairs.

pub(crate) mod chain;
pub(crate) mod intake;
pub(crate) mod jobs;
pub(crate) mod pair;
pub(crate) mod port;
pub(crate) mod ready;
pub(crate) mod receive;
mod records;
pub(crate) mod report;
pub(crate) mod selective;
pub(crate) mod sender;
pub(crate) mod streams;
pub(crate) mod tcp;
pub(crate) mod transmit;

use crate::env::{Ahead, Env};
use crate::extras::Said;
use crate::faults::Faults;
use crate::frame::outgoing;
use crate::link::Transmitter;
use crate::outcome::DropReason;
use crate::probe::port::PortMeter;
use crate::probe::record::Held;
use crate::probe::{Hears, Probes};
use crate::responses::{Responder, Responses};
use crate::shared::{Admin, Schedule, Shared};
use crate::tally::Tally;
use crate::timers::{Name, Number, Timers};
use crate::tree::Tournament;
use crate::wire::{Inbox, WireNumbers, Wires};
use intake::{Intake, IntakeTimer};
use jobs::Agent;
use port::NicPort;
use receive::Receiver;
use records::Records;
use rustc_hash::FxHashMap;
use sender::Sender;
use streams::Streams;
use weir_cc::TimerKind;
use weir_core::prefetch::prefetch;
use weir_core::rng::Stream;
use weir_core::{ControlMessage, FlowId, NodeId, Packet, PortId, Priority, PrioritySet, Time};
use weir_fc::{
    Action, Actions, Books, FlowControl, HoldState, Interest, Mmu, NodeView, ParamError, PortBook,
    Role, Target, TimerKey,
};
use weir_traffic::{FlowSpec, HostFlows, TrafficHash};

/// A timer of a NIC, in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum NicTimer {
    /// A control frame takes effect.
    Response,
    /// One of the scheme's.
    Scheme(TimerKey),
    /// One of a flow's congestion control.
    Cc(TimerKind, u32),
    /// A flow has received no ACK for its timeout.
    Timeout(u32),
    /// An open-ended flow ceases to send.
    Stop(u32),
    /// TCP: an ACK has been held back for long enough.
    DelayedAck(FlowId),
    /// The receive buffer of a slow host.
    Intake(IntakeTimer),
    /// A rank is to be told something. Last, so that it finds everything else as it is then.
    Rank,
}

impl Name for NicTimer {
    fn number(self) -> Option<Number> {
        match self {
            Self::Timeout(slot) => Some(Number { kind: 0, index: slot as usize }),
            Self::Cc(kind, slot) => Some(Number { kind: 1 + kind.index(), index: slot as usize }),
            _ => None,
        }
    }
}

/// What a NIC does next, or has done.
enum Due {
    Packet,
    Other,
    /// Something, but not yet.
    Nothing,
}

/// More flows than this are not worth asking for before a visit: few of them will be needed.
const FEW: usize = 8;

/// Packets a host has put into and taken out of the network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostCount {
    pub(crate) data_sent: u64,
    pub(crate) data_arrived: u64,
    pub(crate) acks_sent: u64,
    pub(crate) acks_arrived: u64,
    pub(crate) telemetry: u64,
    pub(crate) completed: u64,
    pub(crate) started: u64,
}

/// One host. What every packet touches comes first: a host has few packets per visit, so what
/// counts is how many cache lines it takes to get to work.
#[repr(C)]
pub(crate) struct Nic {
    pub(crate) id: NodeId,
    /// No bit errors and no outages at any port: no need to look for damage. And no probe hears of
    /// what comes in, and nothing waits in a receive buffer.
    undamaged: bool,
    pub(crate) ports: Vec<NicPort>,
    inbox: Inbox,
    /// Transmit-done by port.
    clocks: Tournament,
    pub(crate) tally: Tally,
    pub(crate) count: HostCount,
    /// Flow slots; `None` is free.
    slots: Vec<Option<Box<Sender>>>,
    /// The slot of each flow by number; `u32::MAX` when done.
    slot_of: Vec<u32>,
    pub(crate) receivers: FxHashMap<FlowId, Receiver>,
    pub(crate) fc: Box<dyn FlowControl>,
    /// Priorities whose packets the scheme need not hear of.
    quiet: PrioritySet,
    actions: Actions,
    /// The next flow to start.
    upcoming: Option<FlowSpec>,
    schedule: Schedule,
    timers: Timers<NicTimer>,
    books: Books,
    epoch: usize,
    responding: Responses<NicTimer>,
    source: HostFlows,
    free: Vec<u32>,
    bit_errors: Stream,
    pub(crate) faults: Faults,
    /// Flows that are over.
    pub(crate) records: Records,
    pub(crate) traffic: TrafficHash,
    /// A packet came out of order although nothing was lost or sent again.
    pub(crate) disorder: Option<(Time, FlowId, u32)>,
    /// ACKs that travel in the class of their data, by flow.
    pub(super) streams: Streams,
    /// The port by which the last packet came in, of a host with several.
    came_by: PortId,
    /// The ranks of jobs that live here.
    pub(crate) agent: Option<Box<Agent>>,
    /// The receive buffer, of a host that is ever slow.
    pub(crate) intake: Option<Box<Intake>>,
    pub(crate) probes: Probes,
}

impl Nic {
    pub(crate) fn new(
        id: NodeId,
        source: HostFlows,
        agent: Option<Box<Agent>>,
        shared: &Shared<'_>,
        wires: &WireNumbers,
    ) -> Result<Self, ParamError> {
        let setup = shared.port_setup(id);
        let mmu = shared.mmu(Role::Nic, &setup);
        // A NIC has no thresholds of its own, but its scheme may have to know those of the ingress
        // at the other end of its link, which has the same speed.
        let neighbours = shared.mmu(Role::Switch, &setup);
        let scheme = &shared.config.scheme;
        let fc = (scheme.info.build)(
            &scheme.values,
            &shared.node_setup(id, Role::Nic, &setup, &neighbours),
        )?;
        let ports: Vec<NicPort> =
            (0..setup.len()).map(|p| NicPort::new(id, p, shared, wires)).collect();
        // a host without links has no port to ask about
        let shortcuts = shared.config.shortcuts && !setup.is_empty();
        let mmu = Mmu::new(mmu, setup.len());
        let hears = |p: &Priority| fc.interest(&mmu, PortId(0), *p) == Interest::Every;
        let quiet = Priority::ALL.into_iter().filter(|p| shortcuts && !hears(p)).collect();
        let probes = Probes::new(&shared.probe_setup(id, Role::Nic))
            .with_blame(shared.blame_setup(id, Role::Nic));
        let intake = Intake::of(id, shared);
        let mut nic = Self {
            id,
            quiet,
            fc,
            clocks: Tournament::new(ports.len()),
            inbox: Inbox::new(ports.len()),
            books: Books {
                role: Role::Nic,
                node: id,
                ports: vec![PortBook::default(); setup.len()],
                mmu,
                setup,
            },
            timers: Timers::new(),
            schedule: Schedule::new(shared.admin(id)),
            epoch: 0,
            actions: Actions::new(),
            responding: Responses::new(NicTimer::Response),
            source,
            upcoming: None,
            slots: Vec::new(),
            free: Vec::new(),
            slot_of: Vec::new(),
            receivers: FxHashMap::default(),
            bit_errors: Stream::new(shared.config.seed, "bit-errors", u64::from(id.0)),
            faults: Faults::new(id, shared),
            undamaged: shortcuts
                && !probes.hear(Hears::ARRIVED)
                && intake.is_none()
                && shared.byte_survival_ln == 0.0
                && ports.iter().all(|p| p.outages.is_empty()),
            ports,
            records: Records::default(),
            count: HostCount::default(),
            traffic: TrafficHash::default(),
            tally: Tally::default(),
            probes,
            disorder: None,
            streams: Streams::default(),
            came_by: PortId(0),
            agent,
            intake,
        };
        nic.upcoming = nic.source.next();
        nic.watch_ranks();
        Ok(nic)
    }

    #[inline]
    fn next_flow(&self) -> Time {
        self.upcoming.as_ref().map_or(Time::NEVER, |f| f.start)
    }

    /// When something happens next.
    pub(crate) fn next(&self) -> Time {
        self.clocks.min().min(self.timers.next()).min(self.schedule.next()).min(self.next_flow())
    }

    /// Prefetches what a visit will touch.
    pub(crate) fn prefetch(&self, ahead: Ahead, wires: &Wires) {
        match ahead {
            Ahead::Node => prefetch(self),
            Ahead::Parts => {
                prefetch(self.ports.as_slice());
                prefetch(&self.slots[..self.slots.len().min(FEW)]);
                wires.prefetch(self.id, self.ports.len());
            }
            Ahead::Ways => {
                for port in &self.ports {
                    port.tx.prefetch_way(wires);
                }
            }
            Ahead::Ends => {
                for port in &self.ports {
                    port.tx.prefetch_end(wires);
                }
            }
            Ahead::Contents => {
                self.prefetch_senders();
                wires.prefetch_packets(self.id, self.ports.len());
            }
        }
    }

    /// Asks for all flows if they are few, and otherwise for those that come next.
    fn prefetch_senders(&self) {
        if self.slots.len() <= FEW {
            for sender in self.slots.iter().flatten() {
                prefetch(&**sender);
            }
            return;
        }
        for slot in self.ports.iter().flat_map(|port| port.ready.upcoming().take(FEW)) {
            if let Some(Some(sender)) = self.slots.get(slot as usize) {
                prefetch(&**sender);
            }
        }
    }

    /// Handles everything before `until`, in canonical order.
    pub(crate) fn run(&mut self, until: Time, env: &mut Env<'_, '_>) {
        env.wires.open(self.id, self.ports.len(), &mut self.inbox);
        self.inbox.check(self.id, until);
        self.bound_timers(until);
        loop {
            let (arrival, clock) = (self.inbox.next(), self.clocks.earliest());
            let now = arrival.min(clock);
            if now >= self.timers.soonest() {
                match self.on_others(now, until, env) {
                    Due::Packet => {}
                    Due::Other => continue,
                    Due::Nothing => return,
                }
            }
            if arrival == now {
                if env.shared.telemetry.is_some() {
                    env.wires.prefetch_answer(&self.inbox);
                }
                let (port, packet) = env.wires.take(&mut self.inbox);
                let packet = *packet;
                self.on_arrival(port, &packet, now, env);
            } else {
                self.tally.events += 1;
                self.transmit_next(self.clocks.winner(), now, env);
            }
        }
    }

    /// Handles what comes before the next packet, which is due at `packet`.
    #[inline(never)]
    fn on_others(&mut self, packet: Time, until: Time, env: &mut Env<'_, '_>) -> Due {
        let (timer, admin, flow) = (self.timers.settle(), self.schedule.next(), self.next_flow());
        let now = packet.min(timer).min(admin).min(flow);
        if now >= until {
            env.wires.agenda.set_next(self.id, Tournament::or_never(now));
            return Due::Nothing;
        }
        if now >= self.probes.window_end() {
            self.close_windows(now);
            self.bound_timers(until);
        }
        if admin > now && packet == now {
            return Due::Packet;
        }
        self.tally.events += 1;
        if admin == now {
            self.on_admin(now, env);
        } else if timer == now {
            self.on_timer(now, env);
        } else {
            self.on_flow_start(now, env);
        }
        self.bound_timers(until);
        Due::Other
    }

    /// Packets before this time are looked at without a thought of anything else.
    fn bound_timers(&mut self, until: Time) {
        let others = self.schedule.next().min(self.next_flow());
        self.timers.bound(others.min(until).min(self.probes.window_end()));
    }

    /// Closes the windows of the recording that end at `now` or before.
    #[cold]
    fn close_windows(&mut self, now: Time) {
        let Self { ports, probes, .. } = self;
        if let Some(recorder) = &mut probes.recorder {
            recorder.close(now, ports);
        }
    }

    /// Closes the last window of the recording; nothing happens any more.
    pub(crate) fn end_recording(&mut self, end: Time) {
        self.close_windows(end);
        let Self { ports, probes, .. } = self;
        if let Some(recorder) = &mut probes.recorder {
            recorder.finish(end, ports);
        }
    }

    fn on_timer(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let (_, key, background) = self.timers.pop().expect("a timer is due");
        if key == NicTimer::Response {
            self.tally.last_response = now;
        } else if !background {
            self.tally.last_activity = now;
        }
        match key {
            NicTimer::Response => {
                let (port, message) = self.responding.pop(&mut self.timers);
                self.on_control(port, &message, now, env);
            }
            NicTimer::Scheme(key) => {
                let view = NodeView { now, books: &self.books };
                self.fc.timer(&view, key, &mut self.actions);
                self.carry_out(now, env);
            }
            NicTimer::Cc(kind, slot) => self.on_cc_timer(kind, slot, now),
            NicTimer::Timeout(slot) => self.on_timeout(slot, now, env),
            NicTimer::Stop(slot) => self.on_stop(slot, now, env),
            NicTimer::DelayedAck(flow) => self.on_delayed_ack(flow, now, env),
            NicTimer::Intake(timer) => self.on_intake(timer, now, env),
            NicTimer::Rank => self.on_rank_events(now, env),
        }
    }

    #[cold]
    fn on_admin(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let (_, event) = self.schedule.pop().expect("an admin event is due");
        self.tally.last_activity = now;
        match event {
            Admin::Epoch(i) => self.epoch = i,
            Admin::WarmUpOver => {
                self.probes.restart(now);
                for port in &mut self.ports {
                    port.meter.restart(now, &port.tx);
                }
            }
            Admin::Link { port, up } => {
                let p = &mut self.ports[port.index()];
                if up {
                    let c = env.shared.config;
                    p.settled = p.tx.recover(now, c.nic.max_frame(), c.link.response);
                } else {
                    p.tx.up = false;
                    for frame in std::mem::take(&mut p.control) {
                        env.wires.extras.discard(&frame);
                    }
                    self.responding.forget(port, &mut self.timers);
                }
                let view = NodeView { now, books: &self.books };
                self.fc.link(&view, port, up, &mut self.actions);
                self.carry_out(now, env);
                if up {
                    self.repeat_pause(now, env);
                }
                self.wake(port.index(), now);
            }
        }
    }

    /// Carries out the scheme's requests, in order.
    #[cold]
    fn carry_out(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain() {
            match action {
                Action::Send { port, message, reason } => {
                    let p = &mut self.ports[port.index()];
                    if p.tx.up {
                        let extras = &mut env.wires.extras;
                        let said = Said { message, reason };
                        let frame = outgoing(said, &mut self.tally, &mut p.meter, extras);
                        p.control.push_back(frame);
                        self.wake(port.index(), now);
                    }
                }
                Action::Hold { port, target } => self.hold(port, target, HoldState::Held, now),
                Action::Open { port, target } => self.hold(port, target, HoldState::Open, now),
                Action::Limit { port, priority, rate } => {
                    self.ports[port.index()].limit(now, priority, rate);
                    self.wake(port.index(), now);
                }
                Action::Arm { key, at, background } => {
                    self.timers.arm_as(NicTimer::Scheme(key), at, background);
                }
                Action::Cancel { key } => self.timers.cancel(NicTimer::Scheme(key)),
                Action::Retry { port } => self.wake(port.index(), now),
                // only switches keep pause counts
                Action::Exhausted { .. } | Action::Replenished { .. } => {}
                Action::Mark { .. } => unreachable!("a NIC has no queues to mark"),
            }
        }
        self.actions = actions;
    }

    /// Starts or lifts a hold of a flow slot or a priority.
    fn hold(&mut self, port: PortId, target: Target, state: HoldState, now: Time) {
        let held = state.is_held();
        match target {
            Target::Queue(q) => {
                let Some(Some(sender)) = self.slots.get_mut(q.index()) else {
                    self.hold_stream(port, q, state, now);
                    return;
                };
                if sender.held == held {
                    return;
                }
                sender.held = held;
                let priority = sender.priority();
                let p = &mut self.ports[port.index()];
                sender.note_hold(state, p.priority_clocks[priority.index()].read(now), now);
                p.meter.holds.count(priority, state, now);
                let what = Held::Flow(sender.spec.id, priority);
                self.probes.held(now, port, target, what, state);
                let single_queue = p.fifo.is_some();
                if !held {
                    self.lift(q.0, now);
                }
                self.settle(q.0, now);
                if !held && single_queue {
                    // Packets of this flow may stand at the head although it makes no more.
                    self.wake(port.index(), now);
                }
            }
            Target::Priority(priority) => {
                if !self.ports[port.index()].hold_priority(priority, state, now) {
                    return;
                }
                self.probes.held(now, port, target, Held::Priority(priority), state);
                if !held {
                    self.lift_priority(port, priority, now);
                }
                self.wake(port.index(), now);
            }
        }
    }

    /// A priority goes on: constant-rate sources that discard while held have missed some.
    fn lift_priority(&mut self, port: PortId, priority: Priority, now: Time) {
        for slot in 0..self.slots.len() as u32 {
            let concerned = self.slots[slot as usize]
                .as_ref()
                .is_some_and(|s| s.priority() == priority && s.port == port.0 && s.discards());
            if concerned {
                self.lift(slot, now);
            }
        }
    }

    /// A slot goes on. (With one queue for all flows, what is made while the queue is stuck is
    /// thrown away as it is made.)
    fn lift(&mut self, slot: u32, now: Time) {
        if let Some(sender) = &mut self.slots[slot as usize]
            && self.ports[usize::from(sender.port)].fifo.is_none()
        {
            sender.skip_missed(now);
        }
    }

    /// Whether anything here would still move a packet.
    pub(crate) fn has_foreground(&self) -> bool {
        self.upcoming.is_some() || self.timers.foreground() > 0 || self.clocks.min() != Time::NEVER
    }

    /// The same, control frames in their response time aside.
    pub(crate) fn has_foreground_traffic(&self) -> bool {
        self.upcoming.is_some()
            || self.timers.foreground() > self.responding.timers()
            || self.clocks.min() != Time::NEVER
    }
}

impl Responder for Nic {
    type Timer = NicTimer;

    fn responses(&mut self) -> (&mut Responses<NicTimer>, &mut Timers<NicTimer>) {
        (&mut self.responding, &mut self.timers)
    }

    fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    fn port(&mut self, port: PortId) -> (&Transmitter, &mut PortMeter) {
        let NicPort { tx, meter, .. } = &mut self.ports[port.index()];
        (tx, meter)
    }

    fn on_control(&mut self, port: PortId, m: &ControlMessage, now: Time, env: &mut Env<'_, '_>) {
        let view = NodeView { now, books: &self.books };
        self.fc.control(&view, port, m, &mut self.actions);
        self.carry_out(now, env);
    }

    fn lose(&mut self, reason: DropReason, frame: &Packet, now: Time, env: &mut Env<'_, '_>) {
        self.lose(reason, frame, now, env);
    }
}
