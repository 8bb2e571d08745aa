//! Frames that a wire damages: bit errors, and links that fail while a frame is on them.

use crate::link::{Outages, Transmitter};
use crate::outcome::DropReason;
use crate::shared::Shared;
use weir_core::rng::Stream;
use weir_core::{Packet, Time};

/// Why a frame that arrives now is dropped: it was in flight during an outage of its link, or it
/// has a bit error. `tx` is the sending half of the port it comes in by: both directions of a link
/// have the same rate and delay.
#[inline]
pub(crate) fn damage(
    frame: &Packet,
    tx: &Transmitter,
    outages: &Outages,
    bit_errors: &mut Stream,
    shared: &Shared<'_>,
    now: Time,
) -> Option<DropReason> {
    if !outages.is_empty() {
        let left = now.saturating_sub(tx.delay + tx.serialisation(frame.size));
        if outages.hit(left, now) {
            return Some(DropReason::LinkDown);
        }
    }
    let has_error =
        shared.byte_survival_ln < 0.0 && bit_errors.unit() < frame_error(frame.size, shared);
    has_error.then_some(DropReason::BitError)
}

/// Probability that a frame of `size` bytes has a bit error.
fn frame_error(size: u16, shared: &Shared<'_>) -> f64 {
    -libm::expm1(f64::from(size) * shared.byte_survival_ln)
}
