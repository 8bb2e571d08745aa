//! ECN: which packets a switch marks.

use weir_cc::ecn::{Mark, Marking};
use weir_core::rng::Stream;

/// Marks packets that leave a long queue behind, as [`Marking`] says.
pub(crate) struct Marker {
    draws: Stream,
}

impl Marker {
    pub(crate) fn new(draws: Stream) -> Self {
        Self { draws }
    }

    /// Whether a packet is to be marked that leaves `left` bytes behind in its queue, at a port with
    /// these thresholds.
    pub(crate) fn marks(&mut self, marking: Option<&Marking>, left: u64) -> bool {
        let Some(marking) = marking else { return false };
        match marking.decide(left) {
            Mark::No => false,
            Mark::Yes => true,
            Mark::If(probability) => self.draws.unit() < probability,
        }
    }
}
