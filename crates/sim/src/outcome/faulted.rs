//! Control frames that did not take effect as they were sent.

use weir_core::control::PauseScope;
use weir_core::{ControlMessage, FlowId, NodeId, PortId, Priority, QueueId, Time};
use weir_net::Topology;

/// What became of a control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A fault dropped it.
    Dropped,
    /// A bit error destroyed it.
    Damaged,
    /// A fault delayed its effect by this much.
    Delayed(Time),
    /// It took effect a second time, this much later.
    Repeated(Time),
}

impl Fate {
    /// How files and tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Damaged => "bit-error",
            Self::Delayed(_) => "delayed",
            Self::Repeated(_) => "repeated",
        }
    }

    fn is_lost(self) -> bool {
        matches!(self, Self::Dropped | Self::Damaged)
    }
}

/// A control frame that was lost, late, or effective twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultedFrame {
    /// When it arrived.
    pub at: Time,
    /// Where.
    pub node: NodeId,
    /// By which port.
    pub port: PortId,
    /// What became of it.
    pub fate: Fate,
    /// What it says.
    pub message: ControlMessage,
}

impl FaultedFrame {
    /// Whether something of `priority` may be held, `since` then, because of it: a RESUME that was
    /// lost, or a PAUSE that came late.
    pub(crate) fn may_hold(&self, priority: Priority, since: Option<Time>) -> bool {
        if self.fate.is_lost() && since.is_some_and(|since| self.at < since) {
            return false;
        }
        let pauses = self.message.pauses();
        let is_stage = |scope| matches!(scope, PauseScope::Stage(_));
        let holds = |pause, scope| pause != self.fate.is_lost() || is_stage(scope);
        // a report of all queues has no pauses of its own
        pauses.is_empty()
            || pauses.iter().any(|p| p.priority == priority && holds(p.pause, p.scope))
    }

    /// Whether it names the queue, one of the flows, or everything.
    pub(crate) fn concerns(&self, queue: QueueId, flows: &[FlowId]) -> bool {
        let names = |flow: &FlowId| {
            self.message.named_flows().iter().any(|(_, _, name)| {
                name.src == flow.source() && name.number.is_none_or(|n| n == flow.number())
            })
        };
        let covers = |scope| match scope {
            PauseScope::Queue(q) => q == queue,
            PauseScope::Flows(_) => flows.iter().any(names),
            _ => true,
        };
        let pauses = self.message.pauses();
        pauses.is_empty() || pauses.iter().any(|p| covers(p.scope))
    }

    /// The frame and what it was about: "RESUME of priority 3".
    pub fn what(&self, topology: &Topology) -> String {
        let pauses = self.message.pauses();
        let Some(first) = pauses.first() else {
            return match &self.message {
                ControlMessage::QueueBitmap { .. } => "bitmap of paused queues".into(),
                ControlMessage::Own(own) => format!("message of {}", own.scheme),
                _ => "report of queue lengths".into(),
            };
        };
        let verb = match (first.scope, first.pause) {
            (PauseScope::Stage(_), _) => "rate",
            (_, true) => "PAUSE",
            (_, false) => "RESUME",
        };
        let of = match first.scope {
            PauseScope::Priority => String::new(),
            PauseScope::All => "everything of ".into(),
            PauseScope::Queue(q) => format!("queue {q} of "),
            PauseScope::Stage(stage) => format!("stage {stage} of "),
            PauseScope::Flows(_) => self.flows(topology),
        };
        format!("{verb} of {of}priority {}", first.priority)
    }

    /// "flow f1.0 of ", or "h1 to h2 and 3 more of ".
    fn flows(&self, topology: &Topology) -> String {
        let named = self.message.named_flows();
        let Some((_, _, first)) = named.first() else { return "flows of ".into() };
        let name = match (first.number, first.dst) {
            (Some(number), _) => format!("flow {}", FlowId::new(first.src, number)),
            (None, Some(dst)) => format!("{} to {}", topology.name(first.src), topology.name(dst)),
            (None, None) => format!("flows of {}", topology.name(first.src)),
        };
        match named.len() {
            1 => format!("{name} of "),
            n => format!("{name} and {} more of ", n - 1),
        }
    }

    /// The frame, its link, its time and its fate in one sentence without an end: "the RESUME of
    /// priority 3 from s2 to s1 was dropped at 12 us".
    pub fn describe(&self, topology: &Topology) -> String {
        let from = topology.name(topology.port(self.node, self.port).peer);
        let fate = match self.fate {
            Fate::Dropped => "was dropped".into(),
            Fate::Damaged => "had a bit error and was lost".into(),
            Fate::Delayed(by) => format!("was delayed by {by}"),
            Fate::Repeated(by) => format!("took effect again {by} later"),
        };
        let what = self.what(topology);
        format!("the {what} from {from} to {} {fate} at {}", topology.name(self.node), self.at)
    }
}
