//! ECN: which packets a switch marks.

use crate::config::{Config, Reliability};
use weir_cc::ecn::{Mark, Marking};
use weir_cc::tcp::EcnMode;
use weir_core::rng::Stream;
use weir_core::{Bytes, Packet, packet::flags};

/// Marks packets that leave a long queue behind, or find one, as [`Marking`] says.
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

    /// Whether a packet is to be marked that leaves `left` bytes behind in its queue, or finds them
    /// there, at a port with these thresholds.
    pub(crate) fn marks(&mut self, marking: Option<&Marking>, left: Bytes) -> bool {
        let Some(marking) = marking else { return false };
        match marking.decide(left.get()) {
            Mark::No => false,
            Mark::Yes => true,
            Mark::If(probability) => self.draws.unit() < probability,
        }
    }
}
