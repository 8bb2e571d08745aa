//! The simulator: the reference's nodes on its clock and in its order of events.
//!
//! Events are transmit-complete, receive, NIC wake-up, the flow reader and its followers, timers
//! of congestion control, the queue sampler, a link failure and the end. Everything else happens
//! inside the event that causes it. Two events of the same nanosecond run in the order of their
//! insertion, so the order in which handlers insert is part of the model.
//!
//! | file | what happens there |
//! |---|---|
//! | `build.rs` | from input files to the state at time zero |
//! | `wire.rs` | transmission, reception, pause frames |
//! | `switch.rs` | forwarding, buffer accounting, marking, telemetry |
//! | `host.rs` | data and ACKs at hosts |
//! | `nic.rs` | what a NIC sends next |
//! | `flow.rs` | flows: start, timers, completion |
//! | `sampler.rs` | queue length distributions |
//! | `failure.rs` | a link going down |
//! | `trace.rs` | packet records |

mod build;
mod failure;
mod flow;
mod host;
mod nic;
mod packet;
mod sampler;
mod switch;
mod trace;
mod wire;

use crate::hash_order::HashOrder;
use crate::inputs::Inputs;
use crate::mmu::{Mmu, QUEUES};
use crate::queue::{Event, EventQueue};
use crate::random::{Generator, Streams};
use crate::record::{Counters, Progress, Recorder, StopReason};
use crate::routes::{Ports, Routes};
use flow::{FlowInfo, FlowState, Receiver};
use nic::Nic;
use packet::{Fifo, Pool};
use std::ops::ControlFlow;
use weir_cc::ecn::Marking;
use weir_cc::{CongestionControl, Path, WindowKind};

/// How a flow's congestion control is made.
pub(crate) type MakeCc<'a, C> = &'a dyn Fn(&Path) -> C;

/// One end of a link, with its queues: two cache lines.
#[repr(align(64))]
struct Port {
    /// The port at the other end.
    peer: u32,
    /// Index of the switch, or of the NIC at hosts.
    owner: u32,
    node: u32,
    /// Index of the table of transmission times.
    speed: u32,
    delay: u64,
    rate: u64,
    /// Bytes sent so far, frames of all kinds.
    sent: u64,
    /// Bytes in all queues.
    queued: u32,
    busy: bool,
    up: bool,
    is_host: bool,
    /// Bit q: queue q is paused by the other end.
    paused: u8,
    /// Bit q: queue q is not empty.
    backlog: u8,
    /// The queue served last, other than 0.
    last_served: u8,
    /// Error model of the link, or `NO_ERRORS`.
    errors: u32,
    queues: [Fifo; QUEUES],
}

const _: () = assert!(size_of::<Port>() == 128, "a port is two cache lines");

const NO_ERRORS: u32 = u32::MAX;

/// A switch.
struct Switch {
    node: u32,
    /// Its number in the routes.
    chooser: u32,
    first_port: u32,
    mmu: Mmu,
    marking: Vec<Marking>,
}

/// What the run needs of the configuration.
struct Options {
    ack_interval: u64,
    chunk: u64,
    back_to_zero: bool,
    payload: u64,
    overhead: u32,
    ack_size: u32,
    telemetry: bool,
    /// Data packets carry a timestamp.
    stamped: bool,
    int_multi: u32,
    enable_ecn: bool,
    rate_bound: bool,
    window: WindowKind,
    global_t: bool,
    pause_time: u32,
    qlen_end: u64,
    /// Queue lengths are written somewhere.
    sample: bool,
}

/// A network in motion.
pub(crate) struct Sim<'a, C> {
    events: EventQueue,
    stop: u64,
    counters: Counters,
    options: Options,
    ports: Vec<Port>,
    /// By `Port::speed`: transmission time by frame size.
    speeds: Vec<Vec<u64>>,
    switches: Vec<Switch>,
    nics: Vec<Nic>,
    pool: Pool,
    info: Vec<FlowInfo>,
    flows: Vec<FlowState>,
    cc: Vec<C>,
    receivers: Vec<Receiver>,
    /// The flow that the reader looks at next.
    next_flow: usize,
    done: usize,
    routes: Routes,
    streams: Streams,
    errors: Vec<(Generator, f64)>,
    /// By node: how many times each of its packets is recorded.
    traced: Vec<u32>,
    tracing: bool,
    samples: Vec<Vec<Vec<u32>>>,
    /// By host: its unfinished flows, as long as a link failure is ahead; then and in runs
    /// without one, nothing.
    unfinished: Vec<HashOrder<u32>>,
    /// What ended the run before its time.
    failed: Option<StopReason>,
    make_cc: MakeCc<'a, C>,
    inputs: &'a Inputs,
    numbering: Ports,
    recorder: &'a mut dyn Recorder,
}

/// Events between two reports of progress.
const REPORT_EVERY: u64 = 1 << 18;

impl<C: CongestionControl> Sim<'_, C> {
    /// Inserts an event. Those at or after the end will not run and are not kept.
    #[inline]
    fn schedule(&mut self, time: u64, event: Event) {
        if time < self.stop {
            self.counters.events += 1;
            self.events.insert(time, event);
        }
    }

    #[inline]
    fn now(&self) -> u64 {
        self.events.now()
    }

    /// Runs to the end.
    pub(crate) fn run(mut self) -> (Counters, StopReason) {
        let mut until_report = REPORT_EVERY;
        let reason = loop {
            until_report -= 1;
            if until_report == 0 {
                until_report = REPORT_EVERY;
                if self.report().is_break() {
                    break StopReason::Interrupted;
                }
            }
            match self.events.pop() {
                None | Some(Event::Stop) => break StopReason::StopTime,
                Some(event) => {
                    if let ControlFlow::Break(reason) = self.handle(event) {
                        break reason;
                    }
                }
            }
        };
        let reason = self.failed.unwrap_or(reason);
        self.counters.end_ns = match reason {
            StopReason::StopTime => self.stop,
            StopReason::Interrupted | StopReason::Stuck { .. } | StopReason::NoRoute { .. } => {
                self.now()
            }
        };
        self.counters.flows_done = self.done;
        (self.counters, reason)
    }

    #[inline]
    fn handle(&mut self, event: Event) -> ControlFlow<StopReason> {
        match event {
            Event::Receive(packet) => self.receive(packet),
            Event::TransmitDone(port) => {
                self.ports[port as usize].busy = false;
                self.try_send(port);
            }
            Event::Wake { nic, generation } => self.wake(nic, generation),
            Event::Timer { kind, generation, flow } => return self.timer(flow, kind, generation),
            Event::ReadFlows => self.read_flows(),
            Event::Announce(flow) => self.schedule(self.now(), Event::Start(flow)),
            Event::Start(flow) => self.start_flow(flow),
            Event::Sample => self.sample(),
            Event::LinkDown => self.take_link_down(),
            Event::Stop => {}
        }
        ControlFlow::Continue(())
    }

    /// Host `from` has to send to `to`, and there is no way: the run ends with this event.
    #[cold]
    fn no_route(&mut self, from: u32, to: u32) {
        self.failed = Some(StopReason::NoRoute { time_ns: self.now(), from, to });
        self.events.abandon();
    }

    fn report(&mut self) -> ControlFlow<()> {
        self.recorder.progress(&Progress {
            now_ns: self.events.now(),
            stop_ns: self.stop,
            flows_done: self.done,
            flows: self.info.len(),
            packet_hops: self.counters.packet_hops(),
        })
    }
}
