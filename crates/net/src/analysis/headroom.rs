//! How much can still arrive after the decision to pause.

use crate::topology::Link;
use weir_core::{Bytes, Rate, Time};

/// The worst case between the decision to send XOFF and the last byte that arrives in spite of
/// it, along the budget of IEEE 802.1Qbb (Annex O).
///
/// The pause frame may have to wait for a frame that has just started; it takes its own time on
/// the wire and the cable's; the sender takes its time to react, and may just have started a
/// frame then; and a cable full of data is still on its way.
///
/// ```
/// use weir_core::{Bytes, Rate, Time};
/// use weir_net::analysis::Headroom;
/// // 40 Gb/s, 20 ns, frames of 1538 B on the wire: 200 B in flight, two frames, one pause frame
/// let headroom = Headroom::new(Rate::from_gbps(40), Time::from_ns(20), Bytes::new(1538));
/// assert_eq!(headroom.bytes(), Bytes::new(200 + 2 * 1538 + 84));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// Speed of the link.
    pub rate: Rate,
    /// Propagation delay one way.
    pub delay: Time,
    /// Time in the transmitter (MAC and PHY) of the node that pauses.
    pub transmit: Time,
    /// Time in the receiver (MAC and PHY) of the node that is paused.
    pub receive: Time,
    /// Time the paused node takes to react.
    pub response: Time,
    /// The largest frame, on the wire, that may be in front of the pause frame.
    pub reverse_frame: Bytes,
    /// The pause frame on the wire.
    pub pause_frame: Bytes,
    /// The largest frame, on the wire, that the paused node may just have started.
    pub forward_frame: Bytes,
}

impl Headroom {
    /// A PFC frame of 64 B with preamble and gap.
    pub const PAUSE_FRAME: Bytes = Bytes::new(84);

    /// For a link whose largest frame takes `frame` bytes on the wire in both directions, between
    /// nodes that add no delay of their own.
    pub const fn new(rate: Rate, delay: Time, frame: Bytes) -> Self {
        Self {
            rate,
            delay,
            transmit: Time::ZERO,
            receive: Time::ZERO,
            response: Time::ZERO,
            reverse_frame: frame,
            pause_frame: Self::PAUSE_FRAME,
            forward_frame: frame,
        }
    }

    /// For a link of a topology.
    pub const fn of_link(link: &Link, frame: Bytes) -> Self {
        Self::new(link.rate, link.delay, frame)
    }

    /// The bytes to keep free, in wire bytes: C (2 t_prop + t_tx + t_rx + t_resp) plus the three
    /// frames, rounded up.
    pub fn bytes(&self) -> Bytes {
        let times = [self.delay, self.delay, self.transmit, self.receive, self.response];
        let span: u128 = times.iter().map(|t| u128::from(t.as_ps())).sum();
        let flying =
            (u128::from(self.rate.as_bps())).saturating_mul(span).div_ceil(8_000_000_000_000);
        let flying = Bytes::new(u64::try_from(flying).unwrap_or(u64::MAX));
        flying
            .saturating_add(self.reverse_frame)
            .saturating_add(self.pause_frame)
            .saturating_add(self.forward_frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fabrics of the papers: C * 2 t_prop, two frames, 84 B of pause frame.
    #[test]
    fn the_papers_fabrics_need_what_the_formula_says() {
        for (gbps, delay_ns, frame, expected) in [
            (40, 20, 1538, 200 + 3076 + 84),
            (40, 200, 1538, 2000 + 3076 + 84),
            (100, 1000, 1072, 25_000 + 2144 + 84),
            (1, 500, 1538, 125 + 3076 + 84),
        ] {
            let h =
                Headroom::new(Rate::from_gbps(gbps), Time::from_ns(delay_ns), Bytes::new(frame));
            assert_eq!(h.bytes(), Bytes::new(expected), "{gbps} Gb/s {delay_ns} ns");
        }
    }

    #[test]
    fn delays_of_the_nodes_count_and_part_of_a_byte_is_a_byte() {
        let mut h = Headroom::new(Rate::from_gbps(1), Time::ZERO, Bytes::ZERO);
        h.transmit = Time::from_ns(1);
        h.receive = Time::from_ns(2);
        h.response = Time::from_ns(6);
        // 9 ns at 8 ns per byte
        assert_eq!(h.bytes(), Bytes::new(2 + 84));
        h.response = Time::NEVER;
        h.rate = Rate::from_bps(u64::MAX);
        assert_eq!(h.bytes(), Bytes::MAX);
    }
}
