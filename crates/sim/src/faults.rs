//! Faults of control frames: which frames a node loses, delays or takes twice, and what it
//! remembers of those that did not take effect as they were sent.
//!
//! A fault acts at the receiving end of a link, between the arrival of a frame and its response
//! time, so the wire, its utilisation and the packets of flows are the same with and without it.
//! The random numbers come from a stream per fault, link and direction.

use crate::config::{ControlFault, FaultKind, FaultPick};
use crate::outcome::{Fate, FaultedFrame};
use crate::shared::Shared;
use std::collections::VecDeque;
use weir_core::rng::Stream;
use weir_core::{ControlMessage, FlowId, NodeId, PortId, Priority, QueueId, Time};

/// A fault at one end of its link.
#[derive(Clone, Debug)]
struct Fault {
    port: PortId,
    spec: ControlFault,
    /// Frames that it has looked at.
    seen: u64,
    draws: Stream,
}

impl Fault {
    /// Whether it happens to a frame that arrives now.
    fn strikes(&mut self, port: PortId, now: Time, message: &ControlMessage) -> bool {
        if port != self.port || !self.spec.watches(now, message) {
            return false;
        }
        self.seen += 1;
        match self.spec.which {
            FaultPick::Nth(n) => self.seen == n,
            FaultPick::Share(share) => self.draws.unit() < share.as_f64(),
        }
    }
}

/// When a frame that has arrived takes effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// How much later than it should; `None` if it never does.
    pub(crate) delay: Option<Time>,
    /// Once more, so much later than it should.
    pub(crate) again: Vec<Time>,
}

impl Effects {
    /// Whether they differ from those of a frame that no fault hits.
    pub(crate) fn is_fault(&self) -> bool {
        self.delay != Some(Time::ZERO) || !self.again.is_empty()
    }
}

/// A hold whose reason is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) port: PortId,
    pub(crate) priority: Priority,
    pub(crate) queue: QueueId,
    pub(crate) since: Option<Time>,
}

/// The faults of one node's links and the frames they, or bit errors, have hit.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    node: NodeId,
    all: Vec<Fault>,
    log: VecDeque<FaultedFrame>,
    /// How many frames that were dropped or late are no longer in the log.
    pub(crate) left_out: u64,
    pub(crate) delayed: u64,
    pub(crate) duplicated: u64,
    /// A frame did not take effect, or did so late: the scheme's state may not fit that of a
    /// neighbour.
    pub(crate) misheard: bool,
    /// A RESUME may arrive so long before the PAUSE that it follows takes effect.
    response: Time,
}

impl Faults {
    /// How many frames are remembered.
    const MOST: usize = 256;

    pub(crate) fn new(node: NodeId, shared: &Shared<'_>) -> Self {
        let mut all = Vec::new();
        for (i, spec) in shared.config.faults.iter().enumerate() {
            if spec.towards.is_some_and(|end| end != node) {
                continue;
            }
            for (p, end) in shared.topology.ports(node).iter().enumerate() {
                if end.link == spec.link {
                    let index = (i as u64) << 32 | u64::from(node.0);
                    let draws = Stream::new(shared.config.seed, "control-faults", index);
                    all.push(Fault { port: PortId::from_index(p), spec: *spec, seen: 0, draws });
                }
            }
        }
        let ports = shared.topology.ports(node).iter();
        let rates = ports.map(|end| shared.topology.link(end.link).rate);
        let response = rates.map(|rate| shared.config.link.response.at(rate)).max();
        Self {
            node,
            all,
            log: VecDeque::new(),
            left_out: 0,
            delayed: 0,
            duplicated: 0,
            misheard: false,
            response: response.unwrap_or_default(),
        }
    }

    /// What becomes of a control frame that has arrived by `port`.
    #[cold]
    pub(crate) fn strike(&mut self, port: PortId, message: &ControlMessage, now: Time) -> Effects {
        let mut effects = Effects { delay: Some(Time::ZERO), again: Vec::new() };
        for i in 0..self.all.len() {
            if !self.all[i].strikes(port, now, message) {
                continue;
            }
            match self.all[i].spec.what {
                FaultKind::Drop => {
                    self.note(now, port, Fate::Dropped, message);
                    return Effects::default();
                }
                FaultKind::Delay(by) => {
                    self.delayed += 1;
                    effects.delay = effects.delay.map(|delay| delay + by);
                    self.note(now, port, Fate::Delayed(by), message);
                }
                FaultKind::Duplicate(by) => {
                    self.duplicated += 1;
                    effects.again.push(by);
                    if by > Time::ZERO {
                        self.note(now, port, Fate::Repeated(by), message);
                    }
                }
            }
        }
        effects
    }

    /// Whether any fault is set up here.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.all.is_empty()
    }

    /// Remembers a frame that did not take effect as it was sent.
    #[cold]
    pub(crate) fn note(&mut self, at: Time, port: PortId, fate: Fate, message: &ControlMessage) {
        self.misheard = true;
        if self.log.len() == Self::MOST {
            self.log.pop_front();
            self.left_out += 1;
        }
        let (node, message) = (self.node, message.clone());
        self.log.push_back(FaultedFrame { at, node, port, fate, message });
    }

    /// The frames that are remembered, in the order of their arrival.
    pub(crate) fn log(&self) -> impl DoubleEndedIterator<Item = &FaultedFrame> {
        self.log.iter()
    }

    /// The last frame that may be the reason of a hold: of those that concern one of the `flows`
    /// or the queue, or else of all.
    pub(crate) fn reason(&self, hold: &Hold, flows: &[FlowId]) -> Option<&FaultedFrame> {
        let since = hold.since.map(|since| since.saturating_sub(self.response));
        let fits = |f: &&FaultedFrame| f.port == hold.port && f.may_hold(hold.priority, since);
        let all = || self.log.iter().rev().filter(fits);
        all().find(|f| f.concerns(hold.queue, flows)).or_else(|| all().next())
    }
}

#[cfg(test)]
#[path = "faults/tests.rs"]
mod tests;
