//! Back-pressure frames: several flows in one.

use super::Timer;
use crate::{Actions, NodeSetup};
use weir_core::control::HostPair;
use weir_core::{ControlMessage, FlowId, Packet, PortId, Priority, Reason, Time};

/// A flow as FFC tells flows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name {
    pub pair: HostPair,
    /// The flow's number at its source; zero under a 3-tuple.
    pub number: u32,
    pub priority: Priority,
}

/// What tells flows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tuple {
    /// Hosts and priority.
    Three,
    /// Ports and protocol as well.
    Five,
}

impl Tuple {
    pub(super) fn name(self, p: &Packet) -> Name {
        let number = if self == Self::Five { p.flow.number() } else { 0 };
        let pair = HostPair { src: p.flow.source(), dst: p.dst };
        Name { pair, number, priority: p.priority }
    }

    /// The name as a key in the tables of its priority.
    pub(super) fn key(self, name: Name) -> u64 {
        match self {
            Self::Three => u64::from(name.pair.src.0) << 32 | u64::from(name.pair.dst.0),
            Self::Five => FlowId::new(name.pair.src, name.number).get(),
        }
    }

    /// The most flows that fit a frame of 1518 B.
    fn most(self) -> usize {
        match self {
            Self::Three => (1518 - 22) / 10,
            Self::Five => (1518 - 22) / 15,
        }
    }

    fn frame(self, flows: &[(Name, bool)]) -> ControlMessage {
        match self {
            Self::Three => ControlMessage::BackPressure {
                flows: flows.iter().map(|(n, xoff)| (n.pair, n.priority, *xoff)).collect(),
            },
            Self::Five => ControlMessage::BackPressureTuples {
                flows: flows
                    .iter()
                    .map(|(n, xoff)| (n.pair, n.number, n.priority, *xoff))
                    .collect(),
            },
        }
    }
}

/// The flow states in a frame, for frames of the kind that `tuple` sends.
pub(super) fn read(tuple: Tuple, m: &ControlMessage) -> Option<Vec<(Name, bool)>> {
    let name = |pair, number, priority| Name { pair, number, priority };
    match (tuple, m) {
        (Tuple::Three, ControlMessage::BackPressure { flows }) => {
            Some(flows.iter().map(|&(pair, p, xoff)| (name(pair, 0, p), xoff)).collect())
        }
        (Tuple::Five, ControlMessage::BackPressureTuples { flows }) => {
            Some(flows.iter().map(|&(pair, n, p, xoff)| (name(pair, n, p), xoff)).collect())
        }
        _ => None,
    }
}

/// Frames under way to each neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frames {
    tuple: Tuple,
    gather: Time,
    /// Changes that wait for others to join them, and why, per neighbour, sorted.
    pending: Vec<Vec<(Name, bool, Reason)>>,
}

impl Frames {
    pub(super) fn new(tuple: Tuple, gather: Time, setup: &NodeSetup<'_>) -> Self {
        Self { tuple, gather, pending: vec![Vec::new(); setup.ports.len()] }
    }

    /// Tells the neighbour at `port` to stop a flow, or to let it go on.
    pub(super) fn tell(
        &mut self,
        now: Time,
        port: PortId,
        (name, xoff): (Name, bool),
        reason: Reason,
        a: &mut Actions,
    ) {
        let pending = &mut self.pending[port.index()];
        match pending.binary_search_by_key(&name, |(n, ..)| *n) {
            // the neighbour knows nothing of the first change: both cancel out
            Ok(i) if pending[i].1 != xoff => _ = pending.remove(i),
            Ok(_) => {}
            Err(i) => {
                pending.insert(i, (name, xoff, reason));
                if self.gather == Time::ZERO {
                    self.flush(port, a);
                } else if self.pending[port.index()].len() == 1 {
                    a.arm(Timer::Flush.key(port, 0), now + self.gather);
                }
            }
        }
    }

    /// Sends what has gathered for the neighbour at `port`.
    pub(super) fn flush(&mut self, port: PortId, a: &mut Actions) {
        let changes = std::mem::take(&mut self.pending[port.index()]);
        for some in changes.chunks(self.tuple.most()) {
            let flows: Vec<_> = some.iter().map(|(name, xoff, _)| (*name, *xoff)).collect();
            // a frame has one reason, and several changes have several: that of the first stop
            let first = some.iter().find(|(_, xoff, _)| *xoff).unwrap_or(&some[0]);
            a.send(port, self.tuple.frame(&flows), first.2.and(some.len() - 1));
        }
    }

    fn frames(&self, flows: &[(Name, bool)]) -> impl Iterator<Item = ControlMessage> {
        flows.chunks(self.tuple.most()).map(|some| self.tuple.frame(some))
    }

    /// The frames that repeat the flows that stand stopped at the neighbour at `port`. A stop that
    /// still waits may be taken back unsent: the neighbour must not know of it.
    pub(super) fn repeated(&self, port: PortId, stopped: &[Name]) -> Vec<ControlMessage> {
        let waits = |name| self.pending[port.index()].binary_search_by_key(name, |(n, ..)| *n);
        let known = stopped.iter().filter(|name| waits(name).is_err());
        let flows: Vec<_> = known.map(|name| (*name, true)).collect();
        self.frames(&flows).collect()
    }

    /// The link at `port` is up again: the neighbour has forgotten the flows that stand stopped.
    pub(super) fn repeat(&self, port: PortId, stopped: &[Name], a: &mut Actions) {
        let flows: Vec<_> = stopped.iter().map(|name| (*name, true)).collect();
        for frame in self.frames(&flows) {
            a.send(port, frame, Reason::Link);
        }
    }

    /// The link at `port` changed: what waits for the neighbour is void.
    pub(super) fn forget(&mut self, port: PortId) {
        self.pending[port.index()].clear();
    }

    /// Whether a change waits to be sent.
    pub(super) fn any_pending(&self) -> bool {
        self.pending.iter().any(|p| !p.is_empty())
    }
}
