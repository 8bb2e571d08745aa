//! A shared-memory, output-queued switch.
//!
//! ```text
//!  wire ─► [pipeline: forwarding latency] ─► route ─► admit ─► queue ─► scheduler ─► wire
//!                                                      │         ▲          │
//!                                                   buffer       └─ FlowControl ─► control
//! ```
//!
//! [`forward`] is the way in, [`transmit`] the way out, [`holds`] carries out what the scheme
//! asks for, [`watchdog`] guards against pauses that never end.

pub(crate) mod forward;
pub(crate) mod holds;
pub(crate) mod limit;
pub(crate) mod port;
pub(crate) mod report;
pub(crate) mod scheduler;
pub(crate) mod transmit;
pub(crate) mod watchdog;

use crate::config::{EcnConfig, WatchdogConfig};
use crate::engine::partition::Partition;
use crate::node::Env;
use crate::pool::PacketPool;
use crate::probe::held::HeldFlows;
use crate::probe::length::LengthProbe;
use crate::shared::{Admin, Schedule, Shared};
use crate::tally::{PauseLog, Tally};
use crate::timers::Timers;
use crate::tree::Tournament;
use crate::wire::Arrivals;
use port::Port;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use weir_core::rng::Stream;
use weir_core::{ControlMessage, FlowId, NodeId, PortId, Priority, Time};
use weir_fc::{
    Actions, Books, FlowControl, Mmu, NodeView, ParamError, PortBook, QueueBook, Role, TimerKey,
};

/// A timer of a switch, in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SwitchTimer {
    /// A control frame takes effect.
    Response,
    /// One of the scheme's.
    Scheme(TimerKey),
    /// A priority has been held for the detection time, or free for the restoration time.
    Watchdog(PortId, Priority),
}

/// One switch.
pub(crate) struct Switch {
    pub(crate) id: NodeId,
    pub(crate) books: Books,
    pub(crate) fc: Box<dyn FlowControl>,
    gates_admission: bool,
    pub(crate) ports: Vec<Port>,
    pub(crate) pool: PacketPool,
    /// Transmit-done by port; before them pipeline exits by port, if there is a latency.
    clocks: Tournament,
    /// The first transmit-done clock.
    tx_clocks: usize,
    /// Arrivals being handled.
    due: Arrivals,
    timers: Timers<SwitchTimer>,
    schedule: Schedule,
    epoch: usize,
    latency: Time,
    actions: Actions,
    /// Control frames whose response time runs.
    responding: VecDeque<(Time, PortId, ControlMessage)>,
    /// Next hops of flows with a static path.
    pinned: FxHashMap<FlowId, PortId>,
    /// Mixed into ECMP hashes.
    salt: u64,
    ecn: Option<EcnConfig>,
    marks: Stream,
    bit_errors: Stream,
    /// No bit errors and no outages at any port.
    perfect_wires: bool,
    watchdog: Option<WatchdogConfig>,
    pub(crate) held_flows: HeldFlows,
    pub(crate) buffer: LengthProbe,
    pub(crate) tally: Tally,
    pub(crate) pauses: PauseLog,
}

impl Switch {
    pub(crate) fn new(
        id: NodeId,
        shared: &Shared<'_>,
        partition: &Partition,
    ) -> Result<Self, ParamError> {
        let setup = shared.port_setup(id);
        let mmu = shared.mmu(Role::Switch, &setup);
        let scheme = &shared.config.scheme;
        let fc = (scheme.info.build)(
            &scheme.values,
            &shared.node_setup(id, Role::Switch, &setup, &mmu),
        )?;
        let ports: Vec<Port> =
            (0..setup.len()).map(|p| Port::new(id, p, &*fc, shared, partition)).collect();
        let books = Books {
            role: Role::Switch,
            node: id,
            ports: ports
                .iter()
                .map(|p| PortBook {
                    queues: vec![QueueBook::default(); p.scheduler.len()],
                    ..PortBook::default()
                })
                .collect(),
            mmu: Mmu::new(mmu, setup.len()),
            setup,
        };
        let seed = shared.config.seed;
        let index = u64::from(id.0);
        let latency = shared.config.switch.latency;
        let tx_clocks = if latency == Time::ZERO { 0 } else { ports.len() };
        Ok(Self {
            id,
            gates_admission: fc.gates_admission(),
            perfect_wires: shared.byte_survival_ln == 0.0
                && ports.iter().all(|p| p.outages.is_empty()),
            fc,
            clocks: Tournament::new(tx_clocks + ports.len()),
            tx_clocks,
            due: Arrivals::default(),
            ports,
            books,
            pool: PacketPool::default(),
            timers: Timers::new(),
            schedule: Schedule::new(shared.admin(id)),
            epoch: 0,
            latency,
            actions: Actions::new(),
            responding: VecDeque::new(),
            pinned: FxHashMap::default(),
            salt: weir_net::salt(id),
            ecn: shared.config.switch.ecn,
            marks: Stream::new(seed, "ecn", index),
            bit_errors: Stream::new(seed, "bit-errors", index),
            watchdog: shared.config.switch.watchdog,
            held_flows: HeldFlows::default(),
            buffer: LengthProbe::default(),
            tally: Tally::default(),
            pauses: PauseLog::new(shared.config.probes.pause_events),
        })
    }

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

    /// Handles everything before `until`, in canonical order.
    pub(crate) fn run(&mut self, until: Time, env: &mut Env<'_, '_>) {
        let mut due = std::mem::take(&mut self.due);
        let on_wires = env.wires.receive(self.id, self.ports.len(), until, &mut due);
        let mut arrived = 0;
        loop {
            let next_due = due.get(arrived);
            let arrival = next_due.map_or(Time::NEVER, |d| d.at);
            let clock = self.clocks.min();
            let (timer, admin) = (self.timers.next(), self.schedule.next());
            let now = arrival.min(clock).min(timer).min(admin);
            if now >= until {
                env.wires.set_next(self.id, now.min(on_wires));
                break;
            }
            self.tally.events += 1;
            if admin == now {
                self.on_admin(now, env);
            } else if arrival == now {
                let port = next_due.map_or(0, |d| d.port);
                arrived += 1;
                let packet = env.wires.take(self.id, port);
                self.on_arrival(port as usize, packet, now, env);
            } else if clock == now {
                let winner = self.clocks.winner();
                if winner < self.tx_clocks {
                    self.on_pipeline_exit(winner, now, env);
                } else {
                    self.transmit_next(winner - self.tx_clocks, now, env);
                }
            } else {
                self.on_timer(now, env);
            }
        }
        self.due = due;
    }

    fn view(&self, now: Time) -> NodeView<'_> {
        NodeView { now, books: &self.books }
    }

    #[cold]
    fn on_timer(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let (_, key, background) = self.timers.pop().expect("a timer is due");
        if !background {
            self.tally.last_activity = now;
        }
        match key {
            SwitchTimer::Response => {
                let (_, port, message) =
                    self.responding.pop_front().expect("a frame's response time is over");
                if let Some((at, ..)) = self.responding.front() {
                    self.timers.arm(SwitchTimer::Response, *at, false);
                }
                self.on_control(port, &message, now, env);
            }
            SwitchTimer::Scheme(key) => {
                let view = NodeView { now, books: &self.books };
                self.fc.timer(&view, key, &mut self.actions);
                self.carry_out(now, env);
            }
            SwitchTimer::Watchdog(port, priority) => self.on_watchdog(port, priority, now, env),
        }
    }

    #[cold]
    fn on_admin(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let (_, event) = self.schedule.pop().expect("an admin event is due");
        self.tally.last_activity = now;
        match event {
            Admin::Epoch(i) => self.epoch = i,
            Admin::Link { port, up } => self.on_link(port, up, now, env),
            Admin::WarmUpOver => {
                self.buffer.restart(now);
                for port in &mut self.ports {
                    port.restart_statistics(now);
                }
            }
        }
    }

    /// A control frame takes effect.
    fn on_control(
        &mut self,
        port: PortId,
        message: &ControlMessage,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let view = NodeView { now, books: &self.books };
        self.fc.control(&view, port, message, &mut self.actions);
        self.carry_out(now, env);
    }

    /// The link at `port` fails or recovers. What was queued for it is lost.
    fn on_link(&mut self, port: PortId, up: bool, now: Time, env: &mut Env<'_, '_>) {
        self.ports[port.index()].tx.up = up;
        if !up {
            for q in 0..self.ports[port.index()].queues.len() {
                self.flush(port, q, now, crate::outcome::DropReason::LinkDown, env);
            }
            for frame in std::mem::take(&mut self.ports[port.index()].control) {
                env.wires.extras.discard(&frame);
            }
        }
        let view = NodeView { now, books: &self.books };
        self.fc.link(&view, port, up, &mut self.actions);
        self.carry_out(now, env);
        self.wake(port.index(), now);
    }

    /// Whether anything here would still move a packet: timers that keep a run alive, or a
    /// transmitter that will look again.
    pub(crate) fn has_foreground(&self) -> bool {
        self.timers.foreground() > 0 || self.clocks.min() != Time::NEVER
    }
}
