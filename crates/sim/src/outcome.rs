//! What a run found out.

mod blame;
mod captured;
mod faulted;
mod flow;
mod job;
mod lengths;
mod measurement;
mod path;
pub(crate) mod pieces;
mod recording;
mod samples;

pub use blame::{
    BlameLog, CulpritKind, FlowBlame, PauseCulprits, PortKey, QueueCulprit, Wait, Waited,
};
pub use captured::CapturedFrame;
pub use faulted::{Fate, FaultedFrame};
pub use flow::{FlowIter, FlowRecord, Flows, HeldAt, TcpRecord};
pub(crate) use flow::{MaybeTime, Rare};
pub use job::{IterationRecord, JobRecord, RankWait, Span, StepEnd};
pub use lengths::QueueStats;
pub(crate) use lengths::{SUB, bin};
pub use measurement::{Cell, CellKind, Column, Measurement};
pub use path::{CriticalPath, JobActivity, LinkKind, PathLink, RankActivity, Until};
pub use recording::{Delivery, DropEvent, HoldRecord, LeftOut, Recording, WindowSample};
pub(crate) use samples::NodeSamples;
pub use samples::{PortSamples, Samples};
pub use weir_core::control::PauseScope;
use weir_core::{Bytes, FlowId, NodeId, PortId, Priority, QueueId, Rate, Reason, Time};

/// The result of a run: a pure function of scenario and seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// When the last thing happened, periodic events aside.
    pub end: Time,
    /// Why the run ended.
    pub finish: Finish,
    /// Sums over everything.
    pub totals: Totals,
    /// All flows, by id.
    pub flows: Flows,
    /// All egress ports that ever sent, held or marked anything, by (node, port).
    pub ports: Vec<PortRecord>,
    /// All switches, by id.
    pub switches: Vec<SwitchRecord>,
    /// Lost data packets and answers by reason, in [`DropReason`] order, priority and node.
    pub drops: Vec<DropRecord>,
    /// Pauses and resumes in time order, up to the configured number.
    pub pauses: Vec<PauseEvent>,
    /// How many more pause events there were than were kept.
    pub pauses_left_out: u64,
    /// Frames of the ports of which a capture was asked for, in time order.
    pub captured: Vec<CapturedFrame>,
    /// How many more frames than were kept crossed a port, where there were more.
    pub not_captured: Vec<(NodeId, PortId, u64)>,
    /// Control frames that faults and bit errors hit, in time order: the last of each node.
    pub faulted: Vec<FaultedFrame>,
    /// How many more there were than were kept.
    pub faulted_left_out: u64,
    /// At the time limit or an interruption: what is held where a control frame was lost or late
    /// since the hold began, so that it may be held for ever.
    pub held_at_end: Vec<Stuck>,
    /// Samples, when a series was asked for.
    pub series: Vec<Sample>,
    /// The interval between them: longer than asked for when the run was so long that samples
    /// had to be thinned out.
    pub series_interval: Option<Time>,
    /// What a recording is made of, when one was asked for.
    pub recording: Option<Box<Recording>>,
    /// What probes found that has no field of its own here: a table of each that has columns.
    pub measurements: Vec<Measurement>,
    /// Where the completion times of flows went, if that was asked for.
    pub blame: Option<Box<BlameLog>>,
    /// All jobs, in the order of the plan.
    pub jobs: Vec<JobRecord>,
    /// Hash over all per-flow results, and those of jobs.
    pub digest: u64,
    /// Order-free hash over all flows that were started: equal for schemes on equal traffic.
    pub traffic_hash: u64,
}

impl Outcome {
    /// The table of the probe of this name, which is there if the probe has
    /// [columns](crate::probe::ProbeInfo::columns).
    ///
    /// # Panics
    /// If no probe of this run with that name has columns.
    pub fn measurement(&mut self, name: &str) -> &mut Measurement {
        let found = self.measurements.iter_mut().find(|m| m.name == name);
        found.unwrap_or_else(|| panic!("no probe of this run is called `{name}` and has columns"))
    }

    /// The record of a flow.
    pub fn flow_mut(&mut self, id: FlowId) -> Option<&mut FlowRecord> {
        self.flows.get_mut(id)
    }

    /// The record of a switch.
    pub fn switch_mut(&mut self, node: NodeId) -> Option<&mut SwitchRecord> {
        let at = self.switches.binary_search_by_key(&node, |s| s.node).ok()?;
        self.switches.get_mut(at)
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// All flows done, nothing left in the network.
    Drained,
    /// The time limit, or the end of the clock ([`HORIZON`](crate::HORIZON)) where there is none.
    TimeLimit,
    /// A cycle of held queues, each waiting for the next.
    Deadlock(Deadlock),
    /// Undelivered bytes, and nothing that could move them.
    Stalled(Vec<Stuck>),
    /// The user stopped it: results so far, without a digest.
    Interrupted,
}

/// A cyclic wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The latest hold start on the cycle: when it closed.
    pub closed: Time,
    /// The queues on it, in the order in which each waits for the next.
    pub cycle: Vec<Stuck>,
}

/// A queue that cannot move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Where.
    pub node: NodeId,
    /// The egress port.
    pub port: PortId,
    /// The queue; on a NIC the flow slot.
    pub queue: QueueId,
    /// Its priority.
    pub priority: Priority,
    /// Bytes waiting in it.
    pub bytes: Bytes,
    /// Held since; for a queue that is not held but waits for another of its port, since when its
    /// head has waited. `None` where neither can be said.
    pub since: Option<Time>,
    /// What it waits for.
    pub waits_for: String,
    /// The control frame that was lost or late, if the hold is or may be due to one.
    pub lost: Option<FaultedFrame>,
}

/// Sums over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Flows that started.
    pub flows: u64,
    /// Flows whose payload arrived completely. (An open-ended flow has no complete payload, and
    /// neither has a source that lost or discarded some of it.)
    pub completed: u64,
    /// Data packets put on the wire by their source, retransmissions included.
    pub data_sent: u64,
    /// Data packets that reached their destination host.
    pub data_arrived: u64,
    /// ACKs, NACKs, CNPs and the packets of TCP's handshake, sent and received by hosts.
    pub acks_sent: u64,
    /// See `acks_sent`.
    pub acks_arrived: u64,
    /// ACKs that brought a congestion control the records of every switch on the way.
    pub telemetry: u64,
    /// Data packets and answers lost, for whatever reason: what [`Outcome::drops`] adds up to.
    pub dropped: u64,
    /// Control frames lost.
    pub control_dropped: u64,
    /// Control frames that a fault delayed.
    pub control_delayed: u64,
    /// Control frames that a fault duplicated.
    pub control_duplicated: u64,
    /// Packets still in the network at the end.
    pub in_network: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Data packets that arrived behind a later one of their flow.
    pub reordered: u64,
    /// Packets (data, ACK, control) that crossed a link.
    pub packet_hops: u64,
    /// Control frames sent.
    pub control_frames: u64,
    /// Their frame bytes.
    pub control_bytes: Bytes,
    /// Events handled.
    pub events: u64,
    /// Packets a constant-rate source discarded while held.
    pub discarded: u64,
    /// Watchdog storms detected.
    pub watchdog_storms: u64,
    /// How often NICs ended a pause of theirs to prevent a storm.
    pub storms_prevented: u64,
    /// Retransmission timers that fired.
    pub timeouts: u64,
    /// Those of flows that lost neither data nor answers: a pause or a queue was longer than the
    /// timeout.
    pub needless_timeouts: u64,
    /// TCP: how often a window was cut for ECN marks.
    pub ecn_cuts: u64,
    /// TCP: how often duplicate ACKs started a fast retransmit.
    pub fast_retransmits: u64,
}

/// One egress port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortRecord {
    /// The node.
    pub node: NodeId,
    /// The port.
    pub port: PortId,
    /// Line rate.
    pub rate: Rate,
    /// Packets sent, control frames included.
    pub packets: u64,
    /// Bytes of line time used: frames and overhead.
    pub wire_bytes: Bytes,
    /// Fraction of the run during which the wire was busy.
    pub utilisation: f64,
    /// Bytes waiting at the port.
    pub queue: QueueStats,
    /// Control frames sent by this port.
    pub control_sent: u64,
    /// Control frames that came in by this port and were dropped, delayed or duplicated by a fault.
    pub control_faulted: u64,
    /// Pause requests this port sent to its neighbour, per priority.
    pub pauses_sent: [u64; Priority::COUNT],
    /// Holds taken by this port (whole priorities or single queues), per priority.
    pub holds: [u64; Priority::COUNT],
    /// Time during which something of the priority was held, whether or not it had anything
    /// to send.
    pub held_time: [Time; Priority::COUNT],
    /// Packets marked.
    pub ecn_marked: u64,
    /// Packets dropped on their way to this port.
    pub dropped: u64,
}

/// One switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchRecord {
    /// The node.
    pub node: NodeId,
    /// The most memory ever used at once.
    pub peak_buffer: Bytes,
    /// Memory in use over time.
    pub buffer: QueueStats,
    /// The scheme's tables.
    pub tables: Vec<TableStats>,
    /// The packet processor of a pipelined switch.
    pub processor: Option<ProcessorRecord>,
}

/// The packet processor of a pipelined switch, the warm-up left out.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessorRecord {
    /// Packets processed.
    pub packets: u64,
    /// How often a full egress queue stopped it.
    pub stops: u64,
    /// How long it was stopped.
    pub stopped: Time,
    /// Bytes in all ingress FIFOs.
    pub ingress: QueueStats,
}

/// A table of a scheme at one switch, looked at every 10 us if its size changes.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStats {
    /// Its name.
    pub name: &'static str,
    /// Time-weighted mean size in bytes.
    pub mean: f64,
    /// The largest size seen, in bytes.
    pub max: u64,
}

weir_core::words! {
    /// Why a packet was lost.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum DropReason {
        /// The switch's memory was full.
        BufferFull = "buffer-full",
        /// The ingress had used up its share and its headroom.
        HeadroomExceeded = "headroom-exceeded",
        /// The scheme refused it.
        Scheme = "scheme",
        /// Its egress queue was full: that of a pipelined switch, or one with a threshold.
        EgressFull = "egress-full",
        /// The route table knows no way to the destination.
        NoRoute = "no-route",
        /// The link failed under it or was down.
        LinkDown = "link-down",
        /// A bit was received wrong.
        BitError = "bit-error",
        /// The watchdog emptied or closed its queue.
        Watchdog = "watchdog",
        /// A fault of the scenario; only control frames are lost this way.
        Fault = "fault",
        /// It did not fit into the receive buffer of a slow host.
        ReceiverFull = "receiver-full",
    }
}

impl DropReason {
    /// Whether losing a packet of a lossless class this way makes a run invalid. At a full egress
    /// queue packets are dropped because switch or scheme are set to.
    pub const fn breaks_losslessness(self) -> bool {
        matches!(self, Self::BufferFull | Self::HeadroomExceeded)
    }
}

/// Lost packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropRecord {
    /// Why.
    pub reason: DropReason,
    /// At which priority.
    pub priority: Priority,
    /// Where.
    pub node: NodeId,
    /// How many.
    pub packets: u64,
    /// When the first one was lost.
    pub first: Time,
    /// The flow of the first one.
    pub flow: FlowId,
}

/// A pause or a resume, as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseEvent {
    /// When it was decided.
    pub at: Time,
    /// The node that decided.
    pub node: NodeId,
    /// The ingress port it concerns; the frame leaves by it.
    pub port: PortId,
    /// The priority.
    pub priority: Priority,
    /// Whether it stops or releases.
    pub pause: bool,
    /// What it names: the whole priority, a queue, or this many flows.
    pub scope: PauseScope,
    /// How many flows of the priority then stand paused by name over this link. A frame may name
    /// flows that are paused already, so this is not the sum of what frames named.
    pub flows: u32,
    /// Why, as the scheme states it.
    pub reason: Reason,
    /// For a pause: the egress port that holds most of this ingress' bytes.
    pub cause: Option<PortId>,
    /// For a pause: whether that port was itself held then. If not, this is the root.
    pub cause_held: bool,
}

/// State at an instant, before what happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// Which switch port.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
    /// Bytes waiting at the port.
    pub queue: Bytes,
    /// Bytes in the virtual ingress queues of the port, all priorities.
    pub ingress: Bytes,
    /// Bit `p`: priority `p`, or a queue of it, is held.
    pub held: u8,
}
