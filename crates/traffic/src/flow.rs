//! One message, its ends, its identity, and the fingerprint of a set of messages.

use weir_core::rng::mix;
use weir_core::{Bytes, ClassId, FlowId, NodeId, Priority, Rate, Time};

/// The most classes of a plan: they are told apart in tables and figures that people read.
pub const MAX_CLASSES: usize = 1000;

/// What a constant-rate source does with what it produces while flow control holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhileHeld {
    /// Keep it and send it later, as fast as the link allows.
    #[default]
    Backlog,
    /// Throw it away, as a real-time source would.
    Discard,
}

/// A sender, a receiver, and the way between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The host that sends.
    pub src: NodeId,
    /// The host that receives.
    pub dst: NodeId,
    /// Index into the scenario's static paths; `None` leaves it to routing.
    pub path: Option<u32>,
}

impl Pair {
    /// A pair whose way is left to routing.
    pub const fn new(src: NodeId, dst: NodeId) -> Self {
        Self { src, dst, path: None }
    }
}

/// One message from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowSpec {
    /// The host that sends.
    pub src: NodeId,
    /// The host that receives.
    pub dst: NodeId,
    /// Payload. [`Bytes::MAX`] lasts until `stop` or the end of the run.
    pub size: Bytes,
    /// When the first byte is ready to be sent.
    pub start: Time,
    /// Label for reports.
    pub class: ClassId,
    /// 802.1Q priority of its packets.
    pub priority: Priority,
    /// `Some`: a constant-rate source (the rate of the payload). `None`: as fast as the
    /// transport allows.
    pub rate: Option<Rate>,
    /// What a constant-rate source does while held.
    pub while_held: WhileHeld,
    /// A constant-rate or long-lived source produces nothing from then on.
    pub stop: Option<Time>,
    /// Index into the scenario's static paths.
    pub path: Option<u32>,
    /// The high sub-class of its priority (G-PFC).
    pub high: bool,
    /// Who it is: its source and its number among that host's flows in start order, from 0
    /// without gaps. Given by the plan.
    pub id: FlowId,
}

impl FlowSpec {
    /// A plain flow that starts at time zero: class 0, priority 0, id still to be given by
    /// the plan it is added to.
    pub fn new(src: NodeId, dst: NodeId, size: Bytes) -> Self {
        Self {
            src,
            dst,
            size,
            start: Time::ZERO,
            class: ClassId::default(),
            priority: Priority::default(),
            rate: None,
            while_held: WhileHeld::default(),
            stop: None,
            path: None,
            high: false,
            id: FlowId::new(src, 0),
        }
    }

    /// The same flow, which begins and ends later.
    pub(crate) fn later(self, by: Time) -> Self {
        let later = |time: Time| time.saturating_add(by);
        Self { start: later(self.start), stop: self.stop.map(later), ..self }
    }

    /// 64 well-mixed bits over everything that shapes the load this flow puts on the network.
    /// The class label is left out, and so is the G-PFC sub-class, which is a setting of one
    /// scheme: two schemes are compared on the same traffic even when that differs.
    pub fn fingerprint(&self) -> u64 {
        let option = |x: Option<u64>| x.map_or(0, |x| mix(x.wrapping_add(1)) | 1);
        let words = [
            self.id.get(),
            u64::from(self.src.0) << 32 | u64::from(self.dst.0),
            self.size.get(),
            self.start.as_ps(),
            u64::from(self.priority.get()) << 1 | u64::from(self.while_held == WhileHeld::Discard),
            option(self.rate.map(Rate::as_bps)),
            option(self.stop.map(Time::as_ps)),
            option(self.path.map(u64::from)),
        ];
        words.iter().fold(0x7765_6972_666c_6f77, |h, &w| {
            mix(mix(h ^ w).wrapping_add(0x9e37_79b9_7f4a_7c15))
        })
    }
}

/// The flows of one source host in start order, produced one at a time.
pub trait FlowSource: Iterator<Item = FlowSpec> + Send {}

impl<T: Iterator<Item = FlowSpec> + Send> FlowSource for T {}

/// An order-free fingerprint of a set of flows: equal for equal traffic, whichever host or
/// thread was drawn first.
///
/// It is the sum of the flows' fingerprints; a sum, not an exclusive or, so that a flow present
/// twice does not vanish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TrafficHash {
    sum: u64,
    flows: u64,
}

impl TrafficHash {
    /// Takes in one flow.
    pub fn add(&mut self, flow: &FlowSpec) {
        self.sum = self.sum.wrapping_add(flow.fingerprint());
        self.flows += 1;
    }

    /// Takes in what is not a flow, but shapes the load as one does.
    pub fn add_other(&mut self, fingerprint: u64) {
        self.sum = self.sum.wrapping_add(fingerprint);
    }

    /// Takes in what another has seen.
    pub fn merge(&mut self, other: Self) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.flows += other.flows;
    }

    /// How many flows it has seen.
    pub fn flows(&self) -> u64 {
        self.flows
    }

    /// The fingerprint.
    pub fn value(&self) -> u64 {
        mix(self.sum ^ mix(self.flows))
    }
}

impl<'a> FromIterator<&'a FlowSpec> for TrafficHash {
    fn from_iter<I: IntoIterator<Item = &'a FlowSpec>>(flows: I) -> Self {
        let mut hash = Self::default();
        for flow in flows {
            hash.add(flow);
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow() -> FlowSpec {
        FlowSpec::new(NodeId(1), NodeId(2), Bytes::from_kb(10))
    }

    #[test]
    fn the_fingerprint_sees_every_field_that_loads_the_network() {
        let f = flow();
        let variants = [
            FlowSpec { src: NodeId(3), ..f },
            FlowSpec { dst: NodeId(3), ..f },
            FlowSpec { size: Bytes::from_kb(11), ..f },
            FlowSpec { start: Time::from_ps(1), ..f },
            FlowSpec { priority: Priority::ALL[1], ..f },
            FlowSpec { rate: Some(Rate::from_bps(0)), ..f },
            FlowSpec { rate: Some(Rate::from_gbps(1)), ..f },
            FlowSpec { while_held: WhileHeld::Discard, ..f },
            FlowSpec { stop: Some(Time::ZERO), ..f },
            FlowSpec { path: Some(0), ..f },
            FlowSpec { id: FlowId::new(NodeId(1), 1), ..f },
        ];
        for v in variants {
            assert_ne!(v.fingerprint(), f.fingerprint(), "{v:?}");
        }
        let relabelled = FlowSpec { class: ClassId(4), high: true, ..f };
        assert_eq!(relabelled.fingerprint(), f.fingerprint());
    }

    #[test]
    fn the_hash_does_not_depend_on_order_and_counts_repetitions() {
        let (a, b) = (flow(), FlowSpec { dst: NodeId(9), ..flow() });
        let hash = |flows: &[FlowSpec]| TrafficHash::from_iter(flows).value();
        assert_eq!(hash(&[a, b]), hash(&[b, a]));
        assert_ne!(hash(&[a]), hash(&[a, b, b]));
        assert_ne!(hash(&[]), hash(&[b, b]));
        let mut merged = TrafficHash::from_iter(&[a]);
        merged.merge(TrafficHash::from_iter(&[b]));
        assert_eq!(merged.value(), hash(&[a, b]));
    }
}
