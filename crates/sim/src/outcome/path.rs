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
    /// A message had arrived, and its rank was not told yet.
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
