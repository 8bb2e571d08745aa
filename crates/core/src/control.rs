//! Flow control messages between two neighbours, as the schemes see them.
//!
//! A message travels as a frame of [`ControlMessage::frame_bytes`] bytes: it waits for the
//! frame on the wire, overtakes queued data, and is never paused, dropped or charged to
//! the data buffer.

use crate::ids::{FlowId, NodeId, Priority, QueueId};
use crate::priorities::PrioritySet;
use crate::units::Bytes;

/// The smallest Ethernet frame, FCS included.
pub const MIN_FRAME: u64 = 64;

/// A flow as named in an OFC or FFC frame: source and destination host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPair {
    /// The sending host.
    pub src: NodeId,
    /// The receiving host.
    pub dst: NodeId,
}

/// A flow as a frame names it. What a scheme does not tell flows apart by is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowName {
    /// The sending host.
    pub src: NodeId,
    /// The receiving host.
    pub dst: Option<NodeId>,
    /// The flow's number at its source.
    pub number: Option<u32>,
}

impl FlowName {
    fn of_pair(pair: HostPair, number: Option<u32>) -> Self {
        Self { src: pair.src, dst: Some(pair.dst), number }
    }

    fn of_flow(flow: FlowId) -> Self {
        Self { src: flow.source(), dst: None, number: Some(flow.number()) }
    }
}

/// What one node tells its neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControlMessage {
    /// An 802.1Qbb frame: for each priority in `enable`, pause for `quanta`
    /// (units of 512 bit times at the receiving port's speed); zero resumes.
    Pfc {
        /// For which priorities `quanta` is valid.
        enable: PrioritySet,
        /// Pause times.
        quanta: [u16; Priority::COUNT],
    },
    /// OFC: pause or resume the listed flows of a priority, or all of them.
    OfcFlows {
        /// True for PAUSE, false for RESUME.
        pause: bool,
        /// The priority concerned.
        priority: Priority,
        /// The wildcard of the urgent state: every flow, listed or not.
        all: bool,
        /// The flows, sorted.
        flows: Vec<HostPair>,
    },
    /// OFC with flows told apart by 5-tuple: pause or resume the listed ones.
    OfcTuples {
        /// True for PAUSE, false for RESUME.
        pause: bool,
        /// The priority concerned.
        priority: Priority,
        /// Hosts and the flow's number at its source, which stands for ports and protocol
        /// (5 bytes on the wire); sorted.
        flows: Vec<(HostPair, u32)>,
    },
    /// BFC: pause or resume one queue of the upstream port.
    QueueState {
        /// True to pause.
        pause: bool,
        /// The priority of the packets that caused it.
        priority: Priority,
        /// The upstream queue.
        queue: QueueId,
    },
    /// BFC: the whole pause state of the upstream port, one bit per queue.
    QueueBitmap {
        /// How many bits are valid.
        bits: u16,
        /// Bit `q mod bits` set: queue `q` is paused.
        words: Vec<u64>,
    },
    /// FlowSail and ideal flow control: pause or resume one flow.
    FlowState {
        /// True to pause.
        pause: bool,
        /// The flow's priority.
        priority: Priority,
        /// The flow.
        flow: FlowId,
    },
    /// FFC: back-pressure states of several flows (true = XOFF), a BPF or CBPF frame.
    BackPressure {
        /// Flows and their states, sorted by flow.
        flows: Vec<(HostPair, Priority, bool)>,
    },
    /// FFC with flows told apart by 5-tuple.
    BackPressureTuples {
        /// Hosts, the flow's number at its source (which stands for ports and protocol),
        /// priority and state, sorted by flow.
        flows: Vec<(HostPair, u32, Priority, bool)>,
    },
    /// GFC: the stage of each enabled priority (rate = line rate / 2^stage;
    /// [`ControlMessage::STAGE_STOP`] = rate zero).
    Stage {
        /// For which priorities `stage` is valid.
        enable: PrioritySet,
        /// Stage ids.
        stage: [u8; Priority::COUNT],
    },
    /// Time-based GFC: the ingress occupancy of each enabled priority in units of 64 B.
    Occupancy {
        /// For which priorities `units` is valid.
        enable: PrioritySet,
        /// Occupancies.
        units: [u16; Priority::COUNT],
    },
    /// A message of a scheme that has none of its own here.
    Own(Box<OwnMessage>),
}

/// A message that only one scheme understands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnMessage {
    /// The scheme, so that others can tell that it is not for them.
    pub scheme: &'static str,
    /// What it says, in the scheme's own encoding.
    pub words: Vec<u64>,
    /// How many bytes that takes between Ethernet header and FCS.
    pub body: u16,
    /// What it pauses or resumes.
    pub pauses: Vec<Pause>,
}

/// What a pause or a resume applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PauseScope {
    /// A whole priority, or every flow of it.
    Priority,
    /// One upstream queue.
    Queue(QueueId),
    /// A number of flows.
    Flows(u32),
    /// A rate step: this stage.
    Stage(u8),
    /// Everything of a priority. A resume of all lifts every pause of the priority that stands,
    /// whatever it named.
    All,
}

/// One pause or resume that a message tells the neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pause {
    /// The priority concerned.
    pub priority: Priority,
    /// True for a pause, false for a resume.
    pub pause: bool,
    /// What of it.
    pub scope: PauseScope,
    /// The message states what holds from now on, and may be sent again to refresh it: a repetition
    /// is no new pause.
    pub state: bool,
}

/// How many of a list of flows are paused and how many resumed, by priority.
fn pauses_of(flows: impl Iterator<Item = (Priority, bool)> + Clone) -> Vec<Pause> {
    let mut pauses = Vec::new();
    for pause in [true, false] {
        for priority in Priority::ALL {
            let count = flows.clone().filter(|flow| *flow == (priority, pause)).count() as u32;
            if count > 0 {
                let scope = PauseScope::Flows(count);
                pauses.push(Pause { priority, pause, scope, state: false });
            }
        }
    }
    pauses
}

impl ControlMessage {
    /// What the message pauses or resumes, for the log of pauses: the simulator knows no scheme's
    /// messages. Empty for reports that pause nothing by themselves.
    pub fn pauses(&self) -> Vec<Pause> {
        let one = |priority, pause, scope| vec![Pause { priority, pause, scope, state: false }];
        match self {
            Self::Pfc { enable, quanta } => enable
                .iter()
                .map(|priority| {
                    let pause = quanta[priority.index()] > 0;
                    Pause { priority, pause, scope: PauseScope::Priority, state: true }
                })
                .collect(),
            Self::OfcFlows { pause: true, priority, all: true, .. } => {
                one(*priority, true, PauseScope::Priority)
            }
            // the RESUME of the urgent state lifts listed flows, too
            Self::OfcFlows { pause: false, priority, all: true, .. } => {
                one(*priority, false, PauseScope::All)
            }
            Self::OfcFlows { pause, priority, flows, .. } => {
                one(*priority, *pause, PauseScope::Flows(flows.len() as u32))
            }
            Self::OfcTuples { pause, priority, flows } => {
                one(*priority, *pause, PauseScope::Flows(flows.len() as u32))
            }
            Self::QueueState { pause, priority, queue } => {
                one(*priority, *pause, PauseScope::Queue(*queue))
            }
            Self::FlowState { pause, priority, .. } => one(*priority, *pause, PauseScope::Flows(1)),
            Self::BackPressure { flows } => {
                pauses_of(flows.iter().map(|(_, priority, xoff)| (*priority, *xoff)))
            }
            Self::BackPressureTuples { flows } => {
                pauses_of(flows.iter().map(|(_, _, priority, xoff)| (*priority, *xoff)))
            }
            Self::Stage { enable, stage } => enable
                .iter()
                .map(|priority| {
                    let stage = stage[priority.index()];
                    let scope = PauseScope::Stage(stage);
                    Pause { priority, pause: stage > 0, scope, state: false }
                })
                .collect(),
            Self::Own(message) => message.pauses.clone(),
            Self::QueueBitmap { .. } | Self::Occupancy { .. } => Vec::new(),
        }
    }

    /// The flows that the message names, with their priorities and whether they are paused.
    pub fn named_flows(&self) -> Vec<(Priority, bool, FlowName)> {
        match self {
            Self::OfcFlows { pause, priority, flows, .. } => {
                let name = |&pair| (*priority, *pause, FlowName::of_pair(pair, None));
                flows.iter().map(name).collect()
            }
            Self::OfcTuples { pause, priority, flows } => flows
                .iter()
                .map(|&(pair, n)| (*priority, *pause, FlowName::of_pair(pair, Some(n))))
                .collect(),
            Self::FlowState { pause, priority, flow } => {
                vec![(*priority, *pause, FlowName::of_flow(*flow))]
            }
            Self::BackPressure { flows } => flows
                .iter()
                .map(|&(pair, priority, xoff)| (priority, xoff, FlowName::of_pair(pair, None)))
                .collect(),
            Self::BackPressureTuples { flows } => flows
                .iter()
                .map(|&(pair, n, priority, xoff)| {
                    (priority, xoff, FlowName::of_pair(pair, Some(n)))
                })
                .collect(),
            Self::Pfc { .. }
            | Self::QueueState { .. }
            | Self::QueueBitmap { .. }
            | Self::Stage { .. }
            | Self::Occupancy { .. }
            | Self::Own(_) => Vec::new(),
        }
    }

    /// The stage that means "rate zero" (OFC's reading of GFC only).
    pub const STAGE_STOP: u8 = 0xff;

    /// A PFC frame that pauses (`quanta > 0`) or resumes one priority.
    pub fn pfc(priority: Priority, quanta: u16) -> Self {
        let mut times = [0; Priority::COUNT];
        times[priority.index()] = quanta;
        Self::Pfc { enable: PrioritySet::only(priority), quanta: times }
    }

    /// The frame's bytes: headers and FCS included, preamble and gap excluded.
    pub fn frame_bytes(&self) -> Bytes {
        // Ethernet header 14 + FCS 4 around each body.
        let body = match self {
            Self::Pfc { .. }
            | Self::QueueState { .. }
            | Self::FlowState { .. }
            | Self::Stage { .. }
            | Self::Occupancy { .. } => 0,
            Self::OfcFlows { flows, .. } => 6 + 8 * flows.len() as u64,
            Self::OfcTuples { flows, .. } => 6 + 13 * flows.len() as u64,
            Self::QueueBitmap { bits, .. } => 4 + u64::from(*bits).div_ceil(8),
            Self::BackPressure { flows } => 4 + 10 * flows.len() as u64,
            Self::BackPressureTuples { flows } => 4 + 15 * flows.len() as u64,
            Self::Own(message) => u64::from(message.body),
        };
        Bytes::new((18 + body).max(MIN_FRAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_it_pauses() {
        let p = Priority::ALL[3];
        let pause = |pause, scope, state| Pause { priority: p, pause, scope, state };
        let pfc = ControlMessage::pfc(p, 1).pauses();
        assert_eq!(pfc, [pause(true, PauseScope::Priority, true)]);
        let pair = HostPair { src: NodeId(1), dst: NodeId(2) };
        let ffc = ControlMessage::BackPressure { flows: vec![(pair, p, false), (pair, p, true)] };
        let flows = PauseScope::Flows(1);
        assert_eq!(ffc.pauses(), [pause(true, flows, false), pause(false, flows, false)]);
        assert_eq!(ControlMessage::QueueBitmap { bits: 8, words: vec![1] }.pauses(), []);
    }

    #[test]
    fn frame_sizes_grow_with_the_flow_list() {
        let pairs = |n| vec![HostPair { src: NodeId(1), dst: NodeId(2) }; n];
        let ofc = |n| ControlMessage::OfcFlows {
            pause: true,
            priority: Priority::default(),
            all: false,
            flows: pairs(n),
        };
        // 24 + 8n, at least 64: five flows fit a minimum frame
        assert_eq!([0, 5, 6, 20].map(|n| ofc(n).frame_bytes().get()), [64, 64, 72, 184]);
        let tuples = |n| ControlMessage::OfcTuples {
            pause: true,
            priority: Priority::default(),
            flows: vec![(pairs(1)[0], 0); n],
        };
        // 24 + 13n
        assert_eq!([3, 4, 114].map(|n| tuples(n).frame_bytes().get()), [64, 76, 1506]);
        let ffc = |n| ControlMessage::BackPressure {
            flows: vec![(pairs(1)[0], Priority::default(), true); n],
        };
        // 22 + 10n
        assert_eq!([4, 10].map(|n| ffc(n).frame_bytes().get()), [64, 122]);
        let tuples = |n| ControlMessage::BackPressureTuples {
            flows: vec![(pairs(1)[0], 0, Priority::default(), true); n],
        };
        // 22 + 15n
        assert_eq!([2, 10].map(|n| tuples(n).frame_bytes().get()), [64, 172]);
        let bitmap = ControlMessage::QueueBitmap { bits: 1024, words: vec![0; 16] };
        // 14 + 4 + 128 + 4
        assert_eq!(bitmap.frame_bytes().get(), 150);
        assert_eq!(ControlMessage::pfc(Priority::default(), 1).frame_bytes().get(), 64);
    }
}
