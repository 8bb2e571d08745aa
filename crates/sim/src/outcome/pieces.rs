//! What the nodes report for the probe `blame`, before it is put together.

use super::{CulpritKind, QueueCulprit, Wait};
use weir_core::{Bytes, FlowId, NodeId, PortId, Time};
use weir_fc::Target;

/// What a node reports of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Its host, which it left by this port.
    Host { flow: FlowId, port: (NodeId, PortId), history: History },
    /// The packet that completed it.
    Deciding(Box<Life>),
    /// A message of a queue pair, at its sender.
    Posted { flow: FlowId, seq: u32, posted: Posted },
    /// And at its receiver: the packet that completed it, and when.
    Arrived { flow: FlowId, seq: u32, life: Box<Life>, at: Time },
    /// A switch port at which packets of it were held.
    Felt { flow: FlowId, port: (NodeId, PortId), holds: Vec<Hold> },
}

/// A stretch of time during which a target was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) target: Target,
    pub(crate) from: Time,
    pub(crate) to: Time,
}

/// What a packet met at one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) node: NodeId,
    pub(crate) port: PortId,
    /// When it joined its egress queue.
    pub(crate) queued: Time,
    /// When its first bit left.
    pub(crate) left: Time,
    /// Time in front of the packet processor, and whether its own flow was ahead of it.
    pub(crate) ingress: (Time, bool),
    /// Behind packets of its own flow, of others, and with the wire idle.
    pub(crate) own: Time,
    pub(crate) others: Time,
    pub(crate) idle: Time,
    /// Without overlaps, in order.
    pub(crate) held: Vec<Hold>,
    pub(crate) culprits: Vec<(CulpritKind, FlowId, u64)>,
}

impl Hop {
    /// The culprits as records.
    pub(crate) fn culprits(&self, hop: u16) -> impl Iterator<Item = QueueCulprit> {
        let (node, port) = (self.node, self.port);
        self.culprits.iter().map(move |&(kind, flow, bytes)| QueueCulprit {
            hop,
            node,
            port,
            kind,
            flow,
            bytes: Bytes::new(bytes),
        })
    }
}

/// The life of one packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) flow: FlowId,
    pub(crate) seq: u32,
    /// When its first bit left the host.
    pub(crate) sent: Time,
    /// The port of the host.
    pub(crate) port: PortId,
    pub(crate) hops: Vec<Hop>,
}

/// What a flow waited for at its host during a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) what: What,
}

/// See [`Stretch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    One(Wait),
    Held(Target),
    /// Several stretches that were joined: picoseconds by [`ORDER`].
    Several([u64; ORDER.len()]),
}

/// In this order the parts of joined stretches are taken to have been.
pub(crate) const ORDER: [Wait; 5] =
    [Wait::Source, Wait::Control, Wait::Recovery, Wait::Idle, Wait::Host];

impl What {
    /// Picoseconds by [`ORDER`], unless it was held.
    fn sums(self, length: Time) -> Option<[u64; ORDER.len()]> {
        match self {
            Self::Held(_) => None,
            Self::Several(sums) => Some(sums),
            Self::One(wait) => Some(ORDER.map(|w| if w == wait { length.as_ps() } else { 0 })),
        }
    }
}

/// All stretches of a flow, in order and without gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History(Vec<Stretch>);

impl History {
    /// When there are more, neighbours are joined.
    const MOST: usize = 512;

    pub(crate) fn push(&mut self, from: Time, to: Time, what: What) {
        if from >= to {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.what == what && !matches!(what, What::Several(_)) => last.to = to,
            _ => self.0.push(Stretch { from, to, what }),
        }
        if self.0.len() > Self::MOST {
            self.join();
        }
    }

    /// Joins pairs of neighbours that were not held.
    fn join(&mut self) {
        let mut joined: Vec<Stretch> = Vec::with_capacity(Self::MOST);
        let mut may_join = false;
        for next in self.0.drain(..) {
            let sums = |s: &Stretch| s.what.sums(s.to - s.from);
            if may_join
                && let Some(last) = joined.last_mut()
                && let (Some(a), Some(b)) = (sums(last), sums(&next))
            {
                last.what = What::Several(std::array::from_fn(|i| a[i] + b[i]));
                last.to = next.to;
                may_join = false;
            } else {
                joined.push(next);
                may_join = true;
            }
        }
        self.0 = joined;
    }

    /// What of it ended after `t`.
    pub(crate) fn since(&self, t: Time) -> Self {
        Self(self.0.iter().filter(|s| s.to > t).copied().collect())
    }

    /// Forgets what ended by `t`.
    pub(crate) fn forget(&mut self, t: Time) {
        let past = self.0.partition_point(|s| s.to <= t);
        self.0.drain(..past);
    }

    /// The stretches, with joined ones taken apart in [`ORDER`].
    pub(crate) fn apart(&self) -> Vec<(Time, Time, Wait, Option<Target>)> {
        let mut parts = Vec::with_capacity(self.0.len());
        for s in &self.0 {
            match s.what {
                What::One(wait) => parts.push((s.from, s.to, wait, None)),
                What::Held(target) => parts.push((s.from, s.to, Wait::Held, Some(target))),
                What::Several(sums) => {
                    let mut at = s.from;
                    for (wait, ps) in ORDER.into_iter().zip(sums).filter(|(_, ps)| *ps > 0) {
                        let end = at + Time::from_ps(ps);
                        parts.push((at, end, wait, None));
                        at = end;
                    }
                }
            }
        }
        parts
    }
}

/// What the sender of a message knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Posted {
    pub(crate) port: (NodeId, PortId),
    pub(crate) at: Time,
    /// What the queue pair waited for since then.
    pub(crate) history: History,
}
