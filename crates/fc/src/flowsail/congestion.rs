//! What makes FlowSail pause a flow, as a reason.

use weir_core::reason::{Measured, Quantity};
use weir_core::{Bytes, PortId, Reason};

/// A queue or a flow that is too long.
#[derive(Clone, Copy)]
pub(super) struct Congestion {
    pub(super) quantity: Quantity,
    pub(super) length: u64,
    pub(super) limit: &'static str,
    /// `active` times what `length` exceeds.
    pub(super) threshold: u64,
    pub(super) active: u64,
}

impl Congestion {
    #[cold]
    pub(super) fn reason(self, egress: PortId) -> Reason {
        let threshold = Bytes::new(self.threshold / self.active);
        let length = Measured::new(self.quantity, egress, Bytes::new(self.length));
        length.above(self.limit, threshold)
    }
}

/// Equation (1): the queue's length over the number of its flows, rounded up to a power of
/// two so that it is a shift.
pub(super) fn fair_share(length: u64, flows: u32) -> u64 {
    length >> flows.max(1).next_power_of_two().trailing_zeros()
}
