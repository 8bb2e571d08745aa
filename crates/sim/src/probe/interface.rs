//! What a probe is: which events it hears, what it is told, what it writes.

use super::capture::Capture;
use super::record::RecordConfig;
use crate::outcome::{Column, DropReason, Outcome, PauseScope};
use std::fmt;
use weir_core::{
    Bytes, ControlMessage, FlowId, NodeId, Packet, PortId, Priority, PrioritySet, QueueId, Reason,
    Time,
};
use weir_fc::{HoldState, PortQueue, Role, StateSize, Target};

/// What to record beyond the totals.
#[derive(Clone, PartialEq, Eq)]
pub struct ProbeConfig {
    /// Sample queue lengths at this interval.
    pub series: Option<Time>,
    /// The most pause and resume events to keep for the timeline and the pause tree.
    pub pause_events: usize,
    /// Leave queue and pause statistics before this time out.
    pub warm_up: Time,
    /// Leave flows that start at or after this time out of tables and figures.
    pub count_until: Option<Time>,
    /// Keep the frames that cross some ports.
    pub capture: Option<Capture>,
    /// Keep where the completion time of each flow went ([`Outcome::blame`]).
    pub blame: bool,
    /// Record what happens over time.
    pub record: Option<RecordConfig>,
    /// Probes besides those of every run ([`PROBES`](super::PROBES)).
    pub own: Vec<ProbeInfo>,
}

impl ProbeConfig {
    /// Whether a flow that starts then counts in tables and figures.
    pub fn counts(&self, start: Time) -> bool {
        start >= self.warm_up && self.count_until.is_none_or(|until| start < until)
    }
}

/// Runs of sweeps are called after their settings as text: an end of the window is part of it only
/// where there is one, and captures, blame and recordings, which change no result, only where they
/// are asked for.
impl fmt::Debug for ProbeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { series, pause_events, warm_up, count_until, capture, blame, record, own } = self;
        let mut text = f.debug_struct("ProbeConfig");
        text.field("series", series).field("pause_events", pause_events);
        text.field("warm_up", warm_up);
        if let Some(until) = count_until {
            text.field("count_until", until);
        }
        if let Some(capture) = capture {
            text.field("capture", capture);
        }
        if *blame {
            text.field("blame", blame);
        }
        if let Some(record) = record {
            text.field("record", record);
        }
        text.field("own", own).finish()
    }
}

impl Default for ProbeConfig {
    fn default() -> Self {
        Self {
            series: None,
            pause_events: 100_000,
            warm_up: Time::ZERO,
            count_until: None,
            capture: None,
            blame: false,
            record: None,
            own: Vec::new(),
        }
    }
}

/// What there is to know of a kind of probe.
#[derive(Clone, Copy)]
pub struct ProbeInfo {
    /// Its name, different from that of every other probe: lower-case letters, digits and `-`.
    pub name: &'static str,
    /// What it measures, in one sentence.
    pub summary: &'static str,
    /// The columns of its table ([`Outcome::measurement`]); none if what it finds goes into
    /// records that are there anyway.
    pub columns: &'static [Column],
    /// Which events it hears.
    pub hears: Hears,
    /// Makes the probe of a node; `None` where there is nothing to measure.
    pub build: fn(&ProbeSetup<'_>) -> Option<Box<dyn Probe>>,
    /// Called once, after all nodes have reported, in order of their ids.
    pub finish: fn(&mut Outcome, &ProbeConfig),
}

impl weir_core::registry::Named for ProbeInfo {
    fn name(&self) -> &str {
        self.name
    }
}

/// Names it. Runs of sweeps are called after their settings as text, so it must be the same in
/// every process: addresses of functions are not.
impl fmt::Debug for ProbeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Probes are known by their names.
impl PartialEq for ProbeInfo {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ProbeInfo {}

/// What a probe is told about its node and the run.
#[derive(Clone, Copy, Debug)]
pub struct ProbeSetup<'a> {
    /// The node.
    pub node: NodeId,
    /// A host's NIC or a switch.
    pub role: Role,
    /// Whether it may pause its neighbours: a switch, or a host that is ever slow.
    pub may_pause: bool,
    /// Its ports.
    pub ports: usize,
    /// The ports of all switches of the network.
    pub switch_ports: usize,
    /// Whether the tables of its scheme never change their sizes.
    pub fixed_tables: bool,
    /// What the run is to record.
    pub config: &'a ProbeConfig,
}

/// A set of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hears(u16);

impl Hears {
    /// None.
    pub const NOTHING: Self = Self(0);
    /// [`Probe::arrived`].
    pub const ARRIVED: Self = Self(1);
    /// [`Probe::queued`].
    pub const QUEUED: Self = Self(1 << 1);
    /// [`Probe::sent`].
    pub const SENT: Self = Self(1 << 2);
    /// [`Probe::dropped`].
    pub const DROPPED: Self = Self(1 << 3);
    /// [`Probe::held`].
    pub const HELD: Self = Self(1 << 4);
    /// [`Probe::paused`].
    pub const PAUSED: Self = Self(1 << 5);
    /// [`Probe::grid`].
    pub const GRID: Self = Self(1 << 6);
    /// [`Probe::control`]; [`ARRIVED`](Self::ARRIVED) and [`SENT`](Self::SENT) must be heard, too.
    pub const CONTROL: Self = Self(1 << 7);
    /// [`Probe::flow`], [`Probe::finished`], and what there is to hear of the messages of jobs.
    pub const FLOWS: Self = Self(1 << 8);
    /// The events that come with every packet.
    pub(crate) const PACKETS: Self = Self::ARRIVED.and(Self::QUEUED).and(Self::SENT);

    /// These events and those of `other`.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    pub(super) const fn any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }
}

/// A measurement at one node. Every method except [`report`](Self::report) may be left out; the
/// events of the others must be named in [`ProbeInfo::hears`].
pub trait Probe: Send {
    /// A packet came in by `port`, control frames included, before anything is decided about it.
    fn arrived(&mut self, now: Time, port: PortId, packet: &Packet) {
        let _ = (now, port, packet);
    }

    /// A packet was admitted and joins an egress queue of the switch. (A NIC makes its packets when
    /// it sends them; what a scheme moves from queue to queue is not queued again.)
    fn queued(&mut self, now: Time, at: PortQueue, packet: &Packet) {
        let _ = (now, at, packet);
    }

    /// The scheme moves a packet from one queue of a port to another; comes with
    /// [`queued`](Self::queued).
    fn moved(&mut self, now: Time, port: PortId, from: QueueId, to: QueueId, packet: &Packet) {
        let _ = (now, port, from, to, packet);
    }

    /// The first bit of a packet goes out by `port`, control frames included.
    fn sent(&mut self, now: Time, port: PortId, packet: &Packet) {
        let _ = (now, port, packet);
    }

    /// A control frame came in or goes out: called after [`arrived`](Self::arrived) or
    /// [`sent`](Self::sent) for the same frame.
    fn control(&mut self, now: Time, seen: &ControlSeen<'_>) {
        let _ = (now, seen);
    }

    /// A packet is lost here.
    fn dropped(&mut self, now: Time, reason: DropReason, packet: &Packet) {
        let _ = (now, reason, packet);
    }

    /// The scheme holds or opens a queue, a flow slot of a NIC, or a whole priority.
    fn held(&mut self, now: Time, port: PortId, target: Target, state: HoldState) {
        let _ = (now, port, target, state);
    }

    /// The switch, or a slow host, tells a neighbour to pause or to resume; repeated pauses are
    /// left out.
    fn paused(&mut self, now: Time, pause: &PauseSent<'_>) {
        let _ = (now, pause);
    }

    /// A flow of this host starts, or what it waits for may have changed.
    fn flow(&mut self, now: Time, flow: &FlowSight) {
        let _ = (now, flow);
    }

    /// All payload of a flow to this host has arrived: the packet that came in last completed it.
    fn finished(&mut self, now: Time, flow: FlowId) {
        let _ = (now, flow);
    }

    /// A rank of this host posts a message to a queue pair, whose last packet is `seq`.
    fn posted(&mut self, now: Time, flow: FlowId, seq: u32) {
        let _ = (now, flow, seq);
    }

    /// The message of a queue pair of this host that ends with packet `seq` is acknowledged.
    fn acknowledged(&mut self, now: Time, flow: FlowId, seq: u32) {
        let _ = (now, flow, seq);
    }

    /// The message of a queue pair to this host that ends with packet `seq` is there, and all
    /// before it: the packet that came in last completed it.
    fn message(&mut self, now: Time, flow: FlowId, seq: u32) {
        let _ = (now, flow, seq);
    }

    /// The run is at a grid point; everything before `now` has happened, nothing at `now` has.
    /// Stretches of time in which nothing happens anywhere have no grid points.
    fn grid(&mut self, now: Time, node: &dyn Sight) {
        let _ = (now, node);
    }

    /// When [`sample`](Self::sample) is to be called next, if ever.
    fn due(&self) -> Time {
        Time::NEVER
    }

    /// It is [`due`](Self::due) now, and must be due later afterwards; everything before `now` has
    /// happened, nothing at `now` has.
    fn sample(&mut self, now: Time, node: &dyn Sight) {
        let _ = (now, node);
    }

    /// The warm-up is over: what statistics there are begin at `now`.
    fn restart(&mut self, now: Time) {
        let _ = now;
    }

    /// The run has ended, and its last event was at `end`: writes what was found into the outcome,
    /// which has all flows, ports and switches by then. [`Outcome::measurement`] is for what has no
    /// field of its own there.
    fn report(&mut self, end: Time, outcome: &mut Outcome);
}

/// What a probe can see of its node when it looks at it.
pub trait Sight {
    /// How many ports it has.
    fn ports(&self) -> usize;
    /// Bytes that wait in the egress queues of a port; none at a NIC.
    fn queue(&self, port: PortId) -> Bytes;
    /// Bytes in the virtual ingress queues of a port, all priorities; none at a NIC.
    fn ingress(&self, port: PortId) -> Bytes;
    /// Priorities of a port of which something is held.
    fn held(&self, port: PortId) -> PrioritySet;
    /// Memory in use; none at a NIC.
    fn memory(&self) -> Bytes;
    /// The sizes of the scheme's tables.
    fn tables(&self) -> StateSize;
    /// How many events it has handled, packets included: while this stays the same, so does
    /// everything else.
    fn events(&self) -> u64;
}

/// A flow at its sender. Holds are told apart from this ([`Probe::held`]): a flow that is held
/// waits for what is said here as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSight {
    /// Which.
    pub flow: FlowId,
    /// Its slot, which holds name.
    pub slot: QueueId,
    /// The port it sends by.
    pub port: PortId,
    /// The priority of its packets.
    pub priority: Priority,
    /// What it waits for.
    pub wait: FlowWait,
}

/// What a flow waits for at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowWait {
    /// Its turn on the wire.
    Turn,
    /// Its pace, until this instant, and then its turn.
    Pace(Time),
    /// The next packet of a constant-rate source, made at this instant; then its turn.
    Production(Time),
    /// An answer: its window is full, its connection is not open, or it has sent everything.
    Window,
}

/// A control frame that crosses a port.
#[derive(Clone, Copy, Debug)]
pub struct ControlSeen<'a> {
    /// The port.
    pub port: PortId,
    /// Whether it goes out; otherwise it came in.
    pub sent: bool,
    /// The frame.
    pub packet: &'a Packet,
    /// What it says.
    pub message: &'a ControlMessage,
    /// Why it was sent, as the scheme of its sender states it.
    pub reason: &'a Reason,
}

/// A pause or a resume that a switch or a slow host sends.
pub struct PauseSent<'a> {
    /// The ingress port it concerns; the frame leaves by it.
    pub port: PortId,
    /// The priority.
    pub priority: Priority,
    /// Whether it stops or releases.
    pub pause: bool,
    /// What it names.
    pub scope: PauseScope,
    /// How many flows of the priority stand paused by name over this link, it included.
    pub flows: u32,
    /// Why, as the scheme states it.
    pub reason: Reason,
    /// Finds the cause, which takes a look at everything that is queued.
    pub(crate) cause: &'a dyn Fn() -> Option<(PortId, bool)>,
}

impl PauseSent<'_> {
    /// The egress port that holds most of this ingress' bytes, and whether it is itself held.
    pub fn cause(&self) -> Option<(PortId, bool)> {
        (self.cause)()
    }
}
