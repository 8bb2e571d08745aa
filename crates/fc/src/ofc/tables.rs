//! What OFC keeps about flows, and how it puts them into frames.

use crate::{Actions, HoldState};
use std::collections::BTreeSet;
use weir_core::control::HostPair;
use weir_core::{ControlMessage, NodeId, Packet, PortId, Priority, Reason};

/// What two packets must share to be of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyKind {
    /// Source and destination host, as in the paper's tables.
    Pair,
    /// The single flow, as in the paper's text (a 5-tuple).
    Flow,
}

/// A flow as OFC tells flows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FlowKey {
    pub(super) src: NodeId,
    pub(super) dst: NodeId,
    /// Which flow of its source; zero where the pair of hosts is all that counts.
    pub(super) number: u32,
}

impl FlowKey {
    #[inline]
    pub(super) fn of(p: &Packet, kind: KeyKind) -> Self {
        let number = match kind {
            KeyKind::Pair => 0,
            KeyKind::Flow => p.flow.number(),
        };
        Self { src: p.flow.source(), dst: p.dst, number }
    }

    fn pair(self) -> HostPair {
        HostPair { src: self.src, dst: self.dst }
    }
}

/// A PAUSE or RESUME as received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) pause: bool,
    /// Every flow, listed or not.
    pub(super) all: bool,
    pub(super) flows: Vec<FlowKey>,
}

/// The most flows of this kind in a frame of 1518 B: 24 B around 8 B or 13 B each.
pub(super) fn per_frame(kind: KeyKind) -> usize {
    match kind {
        KeyKind::Pair => (1518 - 24) / 8,
        KeyKind::Flow => (1518 - 24) / 13,
    }
}

impl Frame {
    /// Reads a message; `None` when it is not OFC's.
    pub(super) fn read(m: &ControlMessage) -> Option<(Priority, Self)> {
        let key = |pair: HostPair, number| FlowKey { src: pair.src, dst: pair.dst, number };
        match m {
            ControlMessage::OfcFlows { pause, priority, all, flows } => {
                let flows = flows.iter().map(|&pair| key(pair, 0)).collect();
                Some((*priority, Self { pause: *pause, all: *all, flows }))
            }
            ControlMessage::OfcTuples { pause, priority, flows } => {
                let flows = flows.iter().map(|&(pair, number)| key(pair, number)).collect();
                Some((*priority, Self { pause: *pause, all: false, flows }))
            }
            _ => None,
        }
    }

    /// The wildcard.
    fn all(state: HoldState, priority: Priority) -> ControlMessage {
        let pause = state.is_held();
        ControlMessage::OfcFlows { pause, priority, all: true, flows: Vec::new() }
    }

    /// Sends the wildcard.
    pub(super) fn send_all(
        state: HoldState,
        (port, priority): (PortId, Priority),
        reason: Reason,
        a: &mut Actions,
    ) {
        a.send(port, Self::all(state, priority), reason);
    }

    /// `flows`, sorted, in as many frames as they need.
    fn lists(
        state: HoldState,
        kind: KeyKind,
        priority: Priority,
        flows: &[FlowKey],
    ) -> impl Iterator<Item = ControlMessage> {
        let pause = state.is_held();
        flows.chunks(per_frame(kind)).map(move |part| match kind {
            KeyKind::Pair => ControlMessage::OfcFlows {
                pause,
                priority,
                all: false,
                flows: part.iter().map(|f| f.pair()).collect(),
            },
            KeyKind::Flow => ControlMessage::OfcTuples {
                pause,
                priority,
                flows: part.iter().map(|f| (f.pair(), f.number)).collect(),
            },
        })
    }

    /// Sends `flows`, sorted, in as many frames as they need.
    pub(super) fn send_list(
        state: HoldState,
        kind: KeyKind,
        (port, priority): (PortId, Priority),
        flows: &[FlowKey],
        reason: Reason,
        a: &mut Actions,
    ) {
        for message in Self::lists(state, kind, priority, flows) {
            a.send(port, message, reason);
        }
    }
}

/// One part of `flow_in_port_tab`: how many packets each flow has in an egress port, for the
/// packets that came in by one ingress with one priority. Sorted by flow.
///
/// A vector rather than a tree: it is touched twice per packet, mostly with few flows in it,
/// and keeps its memory when it runs empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FlowCounts(Vec<(FlowKey, u32)>);

impl FlowCounts {
    /// Algorithm 2, line 12.
    #[inline]
    pub(super) fn add(&mut self, flow: FlowKey) {
        match self.0.binary_search_by_key(&flow, |e| e.0) {
            Ok(at) => self.0[at].1 += 1,
            Err(at) => self.0.insert(at, (flow, 1)),
        }
    }

    /// Algorithm 3, lines 9 to 12.
    ///
    /// # Panics
    /// When more packets leave than came: the node's books are wrong.
    #[inline]
    pub(super) fn remove(&mut self, flow: FlowKey) {
        let at = self.0.binary_search_by_key(&flow, |e| e.0).expect("what leaves was counted in");
        self.0[at].1 -= 1;
        if self.0[at].1 == 0 {
            self.0.remove(at);
        }
    }

    pub(super) fn flows(&self) -> impl Iterator<Item = FlowKey> {
        self.0.iter().map(|e| e.0)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Packets of all flows.
    pub(super) fn packets(&self) -> u64 {
        self.0.iter().map(|e| u64::from(e.1)).sum()
    }
}

/// One entry of `pause_frame_tab`: what the neighbour above has been told to pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Told {
    pub(super) all: bool,
    pub(super) flows: BTreeSet<FlowKey>,
}

impl Told {
    #[inline]
    pub(super) fn is_nothing(&self) -> bool {
        !self.all && self.flows.is_empty()
    }

    /// The frames that say it once more.
    pub(super) fn frames(&self, kind: KeyKind, priority: Priority) -> Vec<ControlMessage> {
        let flows: Vec<FlowKey> = self.flows.iter().copied().collect();
        let all = self.all.then(|| Frame::all(HoldState::Held, priority));
        all.into_iter().chain(Frame::lists(HoldState::Held, kind, priority, &flows)).collect()
    }
}
