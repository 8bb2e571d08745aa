//! Critical paths: what set the end of an iteration of a job.

use super::FlowBlame;
use weir_core::{FlowId, NodeId, Time};

/// The chain of computations and messages that set the end of an iteration: each began when the one
/// before it was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalPath {
    /// The job, by its place in the plan.
    pub job: u32,
    /// The iteration.
    pub iteration: u32,
    /// When it began, and when it ended.
    pub span: (Time, Time),
    /// From the beginning to the end, without gaps.
    pub links: Vec<PathLink>,
}

/// One link of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLink {
    /// The rank that waits: for its computation, or for what it sends.
    pub rank: u32,
    /// Its host.
    pub host: NodeId,
    /// The rank that a message is for, or comes from, when it is told of it.
    pub peer: Option<u32>,
    /// When it began.
    pub from: Time,
    /// When it was over.
    pub to: Time,
    /// What it was.
    pub what: LinkKind,
}

/// See [`PathLink`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// The rank had not begun.
    Start,
    /// A computation.
    Compute,
    /// A message had arrived, and its rank was not told yet; or it waited for the latency of a
    /// send.
    Told,
    /// A message over NVLink, which takes `alone` if nothing is ahead of it.
    Nvlink {
        /// Without others ahead of it.
        alone: Time,
    },
    /// A message of a queue pair.
    Message {
        /// The queue pair.
        flow: FlowId,
        /// Its last packet.
        seq: u32,
        /// Until when the link lasts.
        until: Until,
        /// What it waited for; the times add up to the link, but for `answered`.
        blame: Option<Box<FlowBlame>>,
        /// The time of the acknowledgement, if the link lasts until that came.
        answered: Time,
    },
}

/// What of a message a rank waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Its last packet left.
    Left,
    /// It arrived.
    Arrived,
    /// It was acknowledged.
    Acked,
}

/// What ranks of a job did during the longest of its iterations; of equally long ones the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobActivity {
    /// The job, by its place in the plan.
    pub job: u32,
    /// The iteration.
    pub iteration: u32,
    /// When it began, and when it ended.
    pub span: (Time, Time),
    /// How many ranks the job has.
    pub all: u32,
    /// Some of them, in order: those on which the critical path is longest, the others evenly
    /// spread.
    pub ranks: Vec<RankActivity>,
    /// Gaps that are not longer than this are closed.
    pub closed: Time,
}

/// What a rank did during an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankActivity {
    /// The rank.
    pub rank: u32,
    /// Its host.
    pub host: NodeId,
    /// When it computed, from and to; in order, without overlaps.
    pub computing: Vec<(Time, Time)>,
    /// When a message that it had posted had not left yet.
    pub sending: Vec<(Time, Time)>,
    /// For how long it computed, gaps left out.
    pub computed: Time,
    /// For how long it sent and did not compute, gaps left out.
    pub sent: Time,
}
