//! ECN: which packets a switch marks.

use crate::config::EcnConfig;
use weir_core::rng::Stream;

/// Marks packets that leave a long queue behind, RED-like: never up to K_min, always above
/// K_max, in between with a probability that grows to P_max.
pub(crate) struct Marker {
    draws: Stream,
}

impl Marker {
    pub(crate) fn new(draws: Stream) -> Self {
        Self { draws }
    }

    /// Whether a packet is to be marked that leaves `left` bytes behind in its queue, at a port with
    /// these thresholds.
    pub(crate) fn marks(&mut self, ecn: Option<&EcnConfig>, left: u64) -> bool {
        let Some(ecn) = ecn else { return false };
        let (kmin, kmax) = (ecn.kmin.get(), ecn.kmax.get());
        left > kmax
            || (left > kmin
                && self.draws.unit()
                    < ecn.pmax.as_f64() * (left - kmin) as f64 / (kmax - kmin) as f64)
    }
}
