//! Flow control messages between two neighbours, as the schemes see them.
//!
//! A message travels as a frame of [`ControlMessage::frame_bytes`] bytes: it waits for the
//! frame on the wire, overtakes queued data, and is never paused, dropped or charged to
//! the data buffer.

use crate::ids::{FlowId, NodeId, Priority, QueueId};
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

/// What one node tells its neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControlMessage {
    /// An 802.1Qbb frame: for each priority whose bit is set in `enable`, pause for `quanta`
    /// (units of 512 bit times at the receiving port's speed); zero resumes.
    Pfc {
        /// Bit `p` says that `quanta[p]` is valid.
        enable: u8,
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
        /// Bit `p` says that `stage[p]` is valid.
        enable: u8,
        /// Stage ids.
        stage: [u8; Priority::COUNT],
    },
    /// Time-based GFC: the ingress occupancy of each enabled priority in units of 64 B.
    Occupancy {
        /// Bit `p` says that `units[p]` is valid.
        enable: u8,
        /// Occupancies.
        units: [u16; Priority::COUNT],
    },
}

impl ControlMessage {
    /// The stage that means "rate zero" (OFC's reading of GFC only).
    pub const STAGE_STOP: u8 = 0xff;

    /// A PFC frame that pauses (`quanta > 0`) or resumes one priority.
    pub fn pfc(priority: Priority, quanta: u16) -> Self {
        let mut times = [0; Priority::COUNT];
        times[priority.index()] = quanta;
        Self::Pfc { enable: 1 << priority.get(), quanta: times }
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
        };
        Bytes::new((18 + body).max(MIN_FRAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
