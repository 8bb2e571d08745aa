//! What the schemes that look at flows share: BFC, ideal flow control, FlowSail and FFC.
//!
//! | part | what it is |
//! |---|---|
//! | [`Plan`] | their queues among the plain queues of the other priorities |
//! | [`FlowTable`] | per-flow state of one egress port |
//! | [`HopBdp`] | what fits into one hop round trip: the thresholds' unit |
//! | [`Upstream`] | whether a flow is paused at the previous hop |
//! | [`NicFlows`] | which slots of a NIC a flow-level pause holds |
//! | [`Backstop`] | PFC behind a scheme that may lose packets |
//! | [`Draws`] | the scheme's random choices |
//!
//! They control every lossless priority, each with queues and flow tables of its own; packets of
//! the others pass through plain queues. What is per port whatever the priority: N_active, which
//! counts the data queues of all controlled priorities, since they share the wire.

mod backstop;
#[cfg(test)]
mod classes_tests;
mod hop;
mod nic;
mod plan;
mod table;
mod upstream;

pub use backstop::BACKSTOP;
pub(crate) use backstop::{Backstop, ingress_bound};
pub use hop::HOP_RTT;
pub(crate) use hop::{HopBdp, Pairs};
pub(crate) use nic::NicFlows;
pub(crate) use plan::{Own, Plan};
pub(crate) use table::{BUCKETS, FlowTable, Keys, TABLE};
pub(crate) use upstream::Upstream;

use crate::NodeView;
use std::hash::{Hash, Hasher};
use weir_core::{PortId, QueueId, rng::Stream};

/// Why ideal flow control, FlowSail and FFC need flows with one path: each of their egress tables
/// tells the previous hop by itself. (BFC counts by ingress, whatever the egress.)
pub(crate) const ONE_PATH: &str = "each egress port pauses and resumes a flow by itself: with \
    packets of a flow at two ports, the RESUME of one would lift the PAUSE of the other";

/// Timer kinds from here on belong to the schemes, those below to the PFC behind them.
pub(crate) const OWN_TIMERS: u8 = 16;

/// What a scheme notes of a packet besides the place of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Flag {
    Clear = 0,
    Set = 1,
}

/// A tag of a packet that contains the index of its flow in a table, if that fits, and `flag`. With
/// it the scheme finds the flow again without a search.
#[inline]
pub(crate) fn tag(i: u32, flag: Flag) -> u8 {
    let place = if i < 127 { i as u8 + 1 } else { 0 };
    place << 1 | flag as u8
}

/// Where the flow of a packet with this [`tag`] was, if the tag says so.
#[inline]
pub(crate) fn place(tag: u8) -> Option<u32> {
    u32::from(tag >> 1).checked_sub(1)
}

/// Whether the flag of this [`tag`] is set.
#[inline]
pub(crate) fn flagged(tag: u8) -> bool {
    tag & 1 != 0
}

/// N_active of `port` once a packet has joined `queue`: the data queues that are neither
/// empty nor held, at least one.
#[inline]
pub(crate) fn active_with(v: &NodeView<'_>, port: PortId, queue: QueueId) -> u64 {
    let own = v.queue(port, queue);
    let joins = own.packets == 0 && !own.held;
    u64::from(v.active(port) + u32::from(joins)).max(1)
}

/// What reasons call the threshold of a queue: a hop bandwidth-delay product, scaled, over the
/// number of queues that share the port.
pub(crate) const SHARE: &str = "share";

/// A scheme's random choices: drawn from a stream of its own, or fixed from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Draws {
    Random(Stream),
    /// Every choice among `k` takes this number modulo `k`. A search that tries them all
    /// needs no luck.
    Fixed(u32),
}

impl Draws {
    pub(crate) fn new(seed: u64, purpose: &str, node: weir_core::NodeId) -> Self {
        Self::Random(Stream::new(seed, purpose, u64::from(node.0)))
    }

    /// Uniform in `0..n`.
    #[inline]
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        match self {
            Self::Random(stream) => stream.below(u64::from(n)) as u32,
            Self::Fixed(x) => *x % n,
        }
    }
}

// States that differ only in draws to come are unequal and may share a hash.
impl Hash for Draws {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_holds_a_flag_and_a_place_that_fits() {
        use Flag::{Clear, Set};
        for (i, flag) in [(0, Clear), (0, Set), (126, Set), (127, Clear), (u32::MAX, Set)] {
            let tag = tag(i, flag);
            assert_eq!((place(tag), flagged(tag)), ((i < 127).then_some(i), flag == Set));
        }
        assert_eq!((place(0), flagged(0)), (None, false), "as packets come");
    }

    #[test]
    fn a_fixed_draw_is_its_number_modulo_the_choices() {
        let mut draws = Draws::Fixed(7);
        assert_eq!([1, 2, 3, 7, 8].map(|n| draws.below(n)), [0, 1, 1, 0, 7]);
    }
}
