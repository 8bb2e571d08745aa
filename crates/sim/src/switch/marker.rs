//! ECN: which packets a switch marks.

use crate::config::{Config, EcnConfig, Reliability};
use weir_cc::tcp::EcnMode;
use weir_core::rng::Stream;
use weir_core::{Packet, packet::flags};

/// Marks packets that leave a long queue behind, RED-like: never up to K_min, always above
/// K_max, in between with a probability that grows to P_max.
pub(crate) struct Marker {
    draws: Stream,
    /// Retransmissions are not ECN-capable (RFC 3168, section 6.1.5).
    spares_resent: bool,
}

impl Marker {
    pub(crate) fn new(draws: Stream, config: &Config) -> Self {
        let spares_resent =
            config.nic.reliability == Reliability::Tcp && config.tcp.ecn == EcnMode::Rfc3168;
        Self { draws, spares_resent }
    }

    /// Whether a data packet may be marked.
    pub(crate) fn may_mark(&self, packet: &Packet) -> bool {
        !(self.spares_resent && packet.has(flags::RESENT))
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
