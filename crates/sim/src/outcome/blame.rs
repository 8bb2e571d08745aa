//! Where the completion time of a flow went: the raw record behind every blame.

use super::pieces::Piece;
use weir_core::{Bytes, FlowId, NodeId, PortId, Priority, Time};
use weir_fc::Target;

/// What a flow waited for during a stretch of its life. Later ones take precedence where two apply
/// at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wait {
    /// Serialisation, propagation and switch latency of the deciding packet.
    Wire,
    /// Earlier packets of the flow on the wire of its host, or the pace of a constant-rate source.
    Source,
    /// Rate, window or pacing of the congestion control.
    Control,
    /// A timeout or a retransmission, and the transmission of packets that were sent before.
    Recovery,
    /// Packets of the same flow ahead in a queue.
    OwnQueue,
    /// Packets of other flows that left by the same port.
    OthersQueue,
    /// Nothing was sent although nothing was held: a rate limit, a head that the scheme left
    /// waiting, or a link that was down.
    Idle,
    /// The queue, the priority or the flow was held.
    Held,
    /// Other flows of the host.
    Host,
}

/// One entry of the account of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// For what.
    pub wait: Wait,
    /// Where on the way: 0 for the host, 1 for the first switch, and so on.
    pub hop: u16,
    /// At which node.
    pub node: NodeId,
    /// At which egress port of it.
    pub port: PortId,
    /// What was held, if something was.
    pub held: Option<Target>,
    /// From when on. Entries other than `Held` are sums over the time from here to `to`.
    pub from: Time,
    /// Until when.
    pub to: Time,
    /// For how long: at most `to - from`.
    pub time: Time,
}

/// Flows that left a queue while a packet waited in it, or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueCulprit {
    /// Where on the way of the flow that waited.
    pub hop: u16,
    /// The node.
    pub node: NodeId,
    /// Its egress port.
    pub port: PortId,
    /// In what sense.
    pub kind: CulpritKind,
    /// Who.
    pub flow: FlowId,
    /// How many bytes of it, frames without preamble and gap.
    pub bytes: Bytes,
}

weir_core::words! {
    /// In what sense a flow is to blame for a queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum CulpritKind {
        /// Its packets left the port while the packet waited.
        Direct = "direct",
        /// Its packets left earlier in the same busy period.
        Indirect = "indirect",
        /// Its packets raised the queue from empty to where the packet found it.
        Original = "original",
    }
}

/// The life of one flow, from its start to its last payload byte at the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowBlame {
    /// Which.
    pub flow: FlowId,
    /// Its priority.
    pub priority: Priority,
    /// When it started.
    pub start: Time,
    /// When its last payload byte arrived.
    pub end: Time,
    /// The way of the deciding packet: egress ports, that of the host first.
    pub path: Vec<(NodeId, PortId)>,
    /// The account. The times add up to `end - start`.
    pub waited: Vec<Waited>,
    /// Who left the queues of the deciding packet, biggest first for each hop and kind.
    pub culprits: Vec<QueueCulprit>,
}

impl FlowBlame {
    /// The sum of all entries for one reason.
    pub fn total(&self, wait: Wait) -> Time {
        let of = |w: &&Waited| w.wait == wait;
        Time::from_ps(self.waited.iter().filter(of).map(|w| w.time.as_ps()).sum())
    }
}

/// Whose bytes an ingress stored when a switch paused its neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseCulprits {
    /// When.
    pub at: Time,
    /// Which switch.
    pub node: NodeId,
    /// The ingress port.
    pub port: PortId,
    /// The priority.
    pub priority: Priority,
    /// By flow, most bytes first, as many as are kept.
    pub flows: Vec<(FlowId, Bytes)>,
    /// Bytes of all flows.
    pub total: Bytes,
}

/// A node and its egress port.
pub type PortKey = (NodeId, PortId);

/// What the probe `blame` found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlameLog {
    /// All flows whose payload arrived completely, by id.
    pub flows: Vec<FlowBlame>,
    /// Pauses that began a chain, by time, node and port.
    pub pauses: Vec<PauseCulprits>,
    /// Which flow was held where and how often: its packets that waited for a hold.
    pub packets_held: Vec<(FlowId, NodeId, PortId, u64)>,
    /// How many bytes went from one egress port to a later one: (from, to, bytes).
    pub passed: Vec<(PortKey, PortKey, Bytes)>,
    /// By flow and port: packets of other flows that waited for one of it, less packets of other
    /// flows that one of it waited for; those that are not zero.
    pub waited_for: Vec<(FlowId, NodeId, PortId, i64)>,
    /// What set the end of each iteration of each job.
    pub paths: Vec<super::CriticalPath>,
    /// What ranks of each job did in its longest iteration.
    pub activity: Vec<super::JobActivity>,
    /// What nodes reported and is not put together yet.
    pub(crate) raw: Vec<Piece>,
}
