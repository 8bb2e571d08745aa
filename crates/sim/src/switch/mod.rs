//! A switch: shared memory and output queues, or a pipeline ([`pipelined`]).
//!
//! ```text
//!  wire ─► [pipeline: forwarding latency] ─► route ─► admit ─► queue ─► scheduler ─► wire
//!                                                      │         ▲          │
//!                                                   buffer       └─ FlowControl ─► control
//! ```
//!
//! [`datapath`] is the way in and the way out: the plain path. [`shortcuts`] spare steps of it
//! where their result is known beforehand. [`scheme`] calls the scheme and carries out what it asks
//! for, [`watchdog`] guards against pauses that never end.

pub(crate) mod balancer;
mod build;
mod datapath;
mod host_pauses;
mod loss;
pub(crate) mod marker;
mod obstacles;
pub(crate) mod pipelined;
pub(crate) mod port;
pub(crate) mod report;
pub(crate) mod scheduler;
mod scheme;
pub(crate) mod shortcuts;
mod standing;
pub(crate) mod waits;
pub(crate) mod watchdog;

use crate::chain::Store;
use crate::config::WatchdogConfig;
use crate::control::{Responder, Responses};
use crate::env::{Ahead, Env};
use crate::faults::Faults;
use crate::link::{Inbox, Transmitter, Wires};
use crate::outcome::DropReason;
use crate::probe::Probes;
use crate::probe::length::LengthProbe;
use crate::probe::port::PortMeter;
use crate::shared::{Admin, Schedule};
use crate::tally::Tally;
use crate::timers::Timers;
use crate::tree::Tournament;
use balancer::Balancer;
use datapath::Plain;
use host_pauses::HostPauses;
use marker::Marker;
use pipelined::{Pipelined, Processor};
use port::Port;
use rustc_hash::FxHashMap;
use scheme::Hooks;
use shortcuts::{Shortcuts, Straight};
use standing::Standing;
use std::collections::VecDeque;
use weir_core::prefetch::prefetch;
use weir_core::rng::Stream;
use weir_core::{ControlMessage, FlowId, NodeId, Packet, PortId, Priority, Time};
use weir_fc::{Books, LinkState, NodeView, PortQueue, TimerClass, TimerKey};
use weir_net::Forwarding;

/// See [`NO_LINK`](crate::chain::NO_LINK).
const NO_PORT: &str = "ports are of this switch";

/// A timer of a switch, in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SwitchTimer {
    /// A control frame takes effect.
    Response,
    /// One of the scheme's.
    Scheme(TimerKey),
    /// A priority has been held for the detection time, or free for the restoration time.
    Watchdog(PortId, Priority),
    /// The time of a pause that a slow host has asked for is over.
    HostPause(PortId, Priority),
}

impl crate::timers::Name for SwitchTimer {}

/// Which path packets take; results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// [`Plain`].
    Plain,
    /// [`Shortcuts`].
    Shortcuts,
    /// [`Straight`].
    Straight,
    /// The same, with telemetry.
    Reporting,
    /// [`Pipelined`]: another model, with results of its own.
    Pipelined,
}

/// A path for packets through a switch.
trait Path: Sized {
    /// Whether there may be a forwarding pipeline.
    const PIPELINE: bool = true;
    /// Whether there is a packet processor.
    const PROCESSOR: bool = false;
    /// Whether probes may hear of its packets.
    const PROBED: bool = true;
    /// Whether packets may carry telemetry.
    const TELEMETRY: bool = true;

    /// A packet comes in from a wire.
    #[inline(always)]
    fn receive(
        switch: &mut Switch,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        switch.receive::<Self>(packet, now, routes, env);
    }

    /// A packet is forwarded, its latency over.
    fn forward(
        switch: &mut Switch,
        packet: &mut Packet,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    );

    /// The clock of the forwarding pipeline is due.
    fn leave_pipeline(
        switch: &mut Switch,
        now: Time,
        routes: &Forwarding<'_>,
        env: &mut Env<'_, '_>,
    ) {
        switch.leave_pipeline::<Self>(now, routes, env);
    }

    /// The clock of port `o`, which is the earliest, is due.
    fn transmit(switch: &mut Switch, o: usize, now: Time, env: &mut Env<'_, '_>);
}

/// What a switch does next.
enum Due {
    Packet,
    Timer(Time),
    Admin(Time),
    /// Something, but not yet.
    Nothing(Time),
}

/// One switch.
pub(crate) struct Switch {
    pub(crate) id: NodeId,
    pub(crate) books: Books,
    pub(crate) scheme: Hooks,
    pub(crate) ports: Vec<Port>,
    /// What is queued.
    pub(crate) stored: Store,
    /// Packets between arrival and memory, with the time they leave the pipeline: all take the same
    /// time, so one queue is enough for all ports.
    pub(crate) pipeline: VecDeque<(Time, Packet)>,
    /// Of a pipelined switch.
    pub(crate) processor: Option<Box<Processor>>,
    /// Of a pipelined switch: whether its shortcuts are on.
    shortcuts: bool,
    /// Transmit-done by port; before them the exit of the pipeline, if there is a latency, or the
    /// processor.
    clocks: Tournament,
    /// The first transmit-done clock.
    tx_clocks: usize,
    inbox: Inbox,
    timers: Timers<SwitchTimer>,
    schedule: Schedule,
    epoch: usize,
    latency: Time,
    /// Control frames whose response time runs.
    responding: Responses<SwitchTimer>,
    /// Next hops of flows with a static path.
    pinned: FxHashMap<FlowId, PortId>,
    /// Chooses among equally good ports, unless a hash of the flow does.
    balancer: Option<Box<Balancer>>,
    marker: Marker,
    /// Packets are marked as they join their queues, not as they leave them, or a probe hears of
    /// them.
    acts_on_entry: bool,
    marks_on_entry: bool,
    bit_errors: Stream,
    pub(crate) faults: Faults,
    way: Way,
    watchdog: Option<WatchdogConfig>,
    /// Since when heads wait that the scheme has left waiting. Apart from the queues: only few
    /// schemes do.
    waits: FxHashMap<PortQueue, Time>,
    /// What neighbours have been told to stop.
    standing: Standing,
    host_pauses: HostPauses,
    pub(crate) buffer: LengthProbe,
    /// When the lengths of its queues began to count: the end of the warm-up, once it is over.
    counted_from: Time,
    /// At its last visit it had packets enough to be at most of its ports.
    busy: bool,
    pub(crate) tally: Tally,
    pub(crate) probes: Probes,
}

impl Switch {
    /// Sends packets of `flow` out by `port`, whatever the routes say.
    pub(crate) fn pin(&mut self, flow: FlowId, port: PortId) {
        self.pinned.insert(flow, port);
    }

    /// The clock of port `o`'s transmitter.
    #[inline]
    fn tx_clock(&self, o: usize) -> usize {
        self.tx_clocks + o
    }

    /// When something happens next.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.clocks.min().min(self.timers.next()).min(self.schedule.next())
    }

    /// Prefetches what a visit will touch.
    pub(crate) fn prefetch(&self, ahead: Ahead, env: &Env<'_, '_>) {
        let wires = &*env.wires;
        match ahead {
            Ahead::Node => prefetch(self),
            _ if !self.busy => {}
            Ahead::Ways => {
                env.shared.epochs[self.epoch].1.forwarding(self.id).prefetch();
                for port in &self.ports {
                    port.tx.prefetch_way(wires);
                }
            }
            Ahead::Ends => {
                for port in &self.ports {
                    port.tx.prefetch_end(wires);
                }
            }
            Ahead::Parts => {
                for (p, port) in self.ports.iter().enumerate() {
                    port.prefetch();
                    self.books.mmu.prefetch(PortId::from_index(p));
                }
                prefetch(self.books.ports.as_slice());
                self.scheme.fc.prefetch();
                self.clocks.prefetch();
                self.inbox.prefetch();
                wires.prefetch(self.id, self.ports.len());
            }
            Ahead::Contents => {
                for (port, book) in self.ports.iter().zip(&self.books.ports) {
                    port.prefetch_contents(book, &self.stored);
                }
                wires.prefetch_packets(self.id, self.ports.len());
            }
        }
    }

    /// Handles everything before `until`, in canonical order: at one instant scheduled changes,
    /// then arrivals, then packets that leave the pipeline, then transmitters, then timers.
    pub(crate) fn run(&mut self, until: Time, env: &mut Env<'_, '_>) {
        match self.way {
            Way::Plain => self.run_by::<Plain>(until, env),
            Way::Shortcuts => self.run_by::<Shortcuts>(until, env),
            Way::Straight => self.run_by::<Straight<false>>(until, env),
            Way::Reporting => self.run_by::<Straight<true>>(until, env),
            Way::Pipelined => self.run_by::<Pipelined>(until, env),
        }
    }

    /// [`Switch::run`] with packets that take path `P`.
    fn run_by<P: Path>(&mut self, until: Time, env: &mut Env<'_, '_>) {
        env.wires.open(self.id, self.ports.len(), &mut self.inbox);
        self.inbox.check(self.id, until);
        self.bound_timers(until);
        let hops = self.tally.hops;
        let mut routes = env.shared.epochs[self.epoch].1.forwarding(self.id);
        loop {
            let (arrival, clock) = (self.inbox.next(), self.clocks.earliest());
            let now = arrival.min(clock);
            if now >= self.timers.soonest() {
                match self.due(now, until) {
                    Due::Packet => {}
                    Due::Timer(now) => {
                        self.on_timer(now, env);
                        if P::PROCESSOR {
                            self.retry(now, &routes, env);
                        }
                        continue;
                    }
                    Due::Admin(now) => {
                        self.on_admin(now, env);
                        self.bound_timers(until);
                        routes = env.shared.epochs[self.epoch].1.forwarding(self.id);
                        if P::PROCESSOR {
                            self.retry(now, &routes, env);
                        }
                        continue;
                    }
                    Due::Nothing(next) => {
                        env.wires.agenda.set_next(self.id, Tournament::or_never(next));
                        self.busy = self.tally.hops - hops > self.ports.len() as u64;
                        return;
                    }
                }
            }
            if arrival <= clock {
                if P::TELEMETRY && env.shared.telemetry.is_some() {
                    // the next packet's, written to when that leaves: soon, unless others wait
                    env.wires.prefetch_telemetry(&self.inbox);
                }
                let mut packet = *env.wires.take(&mut self.inbox).1;
                self.tally.hops += 1;
                P::receive(self, &mut packet, now, &routes, env);
            } else {
                self.tally.events += 1;
                let winner = self.clocks.winner();
                if P::PIPELINE && winner < self.tx_clocks {
                    P::leave_pipeline(self, now, &routes, env);
                } else {
                    let first = if P::PIPELINE { self.tx_clocks } else { 0 };
                    if P::TELEMETRY && env.shared.telemetry.is_some() {
                        self.prefetch_telemetry(winner - first, env.wires);
                    }
                    P::transmit(self, winner - first, now, env);
                }
            }
            if P::PROCESSOR {
                self.retry(now, &routes, env);
            }
        }
    }

    /// Prefetches the telemetry of the packet behind the one that port `o` is about to send: it was
    /// last written to before it was queued.
    fn prefetch_telemetry(&self, o: usize, wires: &Wires) {
        let Some(port) = self.ports.get(o) else { return };
        if let Some(q) = port.scheduler.undisputed()
            && let Some(packet) = self.stored.second(&port.queues[q.index()].fifo)
        {
            wires.extras.telemetry.prefetch(packet.extra);
        }
    }

    /// What comes first, if the next packet is due at `packet`.
    #[inline(never)]
    fn due(&mut self, packet: Time, until: Time) -> Due {
        let (timer, admin) = (self.timers.settle(), self.schedule.next());
        let now = packet.min(timer).min(admin);
        if now >= until {
            return Due::Nothing(now);
        }
        if now >= self.probes.window_end() {
            self.close_windows(now);
            self.bound_timers(until);
        }
        if admin > now && packet == now {
            return Due::Packet;
        }
        self.tally.events += 1;
        if admin == now { Due::Admin(now) } else { Due::Timer(now) }
    }

    /// Packets before this time are looked at without a thought of anything else.
    fn bound_timers(&mut self, until: Time) {
        self.timers.bound(self.schedule.next().min(until).min(self.probes.window_end()));
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

    fn view(&self, now: Time) -> NodeView<'_> {
        NodeView { now, books: &self.books }
    }

    #[cold]
    fn on_timer(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let (_, key, class) = self.timers.pop().expect("a timer is due");
        if key == SwitchTimer::Response {
            self.tally.last_response = now;
        } else if class == TimerClass::Foreground {
            self.tally.last_activity = now;
        }
        match key {
            SwitchTimer::Response => {
                let (port, message) = self.responding.pop(&mut self.timers);
                self.on_control(port, &message, now, env);
            }
            SwitchTimer::Scheme(key) => {
                let view = NodeView { now, books: &self.books };
                self.scheme.fc.timer(&view, key, &mut self.scheme.actions);
                self.carry_out(now, env);
            }
            SwitchTimer::Watchdog(port, priority) => self.on_watchdog(port, priority, now, env),
            SwitchTimer::HostPause(port, priority) => self.end_host_pause(port, priority, now),
        }
    }

    #[cold]
    fn on_admin(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let (_, event) = self.schedule.pop().expect("an admin event is due");
        self.tally.last_activity = now;
        match event {
            Admin::Epoch(i) => self.epoch = i,
            Admin::Link { port, link } => self.on_link(port, link, now, env),
            Admin::WarmUpOver => {
                self.probes.restart(now);
                self.counted_from = now;
                self.buffer.restart(now);
                if let Some(processor) = &mut self.processor {
                    processor.restart_statistics(now);
                }
                for port in &mut self.ports {
                    port.restart_statistics(now);
                }
            }
        }
    }

    /// The link at `port` fails or recovers. What was queued for it is lost.
    fn on_link(&mut self, port: PortId, link: LinkState, now: Time, env: &mut Env<'_, '_>) {
        if link.is_up() {
            let config = env.shared.config;
            let frame = config.nic.max_frame();
            let p = &mut self.ports[port.index()];
            p.settled = p.tx.recover(now, frame, config.link.response);
        } else {
            self.ports[port.index()].fail();
        }
        self.guard(port);
        if !link.is_up() {
            let queues: Vec<usize> = (0..self.ports[port.index()].queues.len()).collect();
            self.flush(port, &queues, now, DropReason::LinkDown, env);
            while let Some(frame) = self.ports[port.index()].pop_control() {
                env.wires.extras.discard(&frame);
            }
            self.responding.forget(port, &mut self.timers);
            self.forget_pauses(port, now);
        }
        self.forget_host_pauses(port, now);
        let view = NodeView { now, books: &self.books };
        self.scheme.fc.link(&view, port, link, &mut self.scheme.actions);
        self.scheme.refresh(&mut self.books, port);
        Priority::ALL.into_iter().for_each(|p| self.books.mmu.clear_quiet_fifo(port, p));
        self.carry_out(now, env);
        self.wake(port.index(), now);
    }

    /// Works out whether more than the memory decides on admission at `port`.
    fn guard(&mut self, port: PortId) {
        let port = &mut self.ports[port.index()];
        port.set_guarded(port.limits_egress() || !port.tx.up || !port.storm.is_empty());
    }

    /// Whether anything here would still move a packet: timers that keep a run alive, or a
    /// transmitter that will look again.
    pub(crate) fn has_foreground(&self) -> bool {
        self.timers.foreground() > 0 || self.clocks.min() != Time::NEVER
    }

    /// When a port sends next that may, if any does: its rate may be limited.
    pub(crate) fn paced_until(&self) -> Time {
        Some(self.clocks.min()).filter(|t| *t != Time::NEVER).unwrap_or_default()
    }

    /// The same as [`Switch::has_foreground`], control frames in their response time aside.
    pub(crate) fn has_foreground_traffic(&self) -> bool {
        self.timers.foreground() > self.responding.timers() || self.clocks.min() != Time::NEVER
    }
}

impl Responder for Switch {
    type Timer = SwitchTimer;

    fn responses(&mut self) -> (&mut Responses<SwitchTimer>, &mut Timers<SwitchTimer>) {
        (&mut self.responding, &mut self.timers)
    }

    fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    fn port(&mut self, port: PortId) -> (&Transmitter, &mut PortMeter) {
        let Port { tx, meter, .. } = &mut self.ports[port.index()];
        (tx, meter)
    }

    fn on_control(
        &mut self,
        port: PortId,
        message: &ControlMessage,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        if !env.shared.config.receivers.is_empty() && self.on_host_pause(port, message, now, env) {
            return;
        }
        let view = NodeView { now, books: &self.books };
        self.scheme.fc.control(&view, port, message, &mut self.scheme.actions);
        self.carry_out(now, env);
    }

    fn lose(&mut self, reason: DropReason, frame: &Packet, now: Time, env: &mut Env<'_, '_>) {
        self.lose(now, reason, frame, env);
    }
}
