//! How much can still arrive by a link after the decision to pause it.

use super::{LinkConfig, NicConfig, SwitchConfig};
use weir_core::{Bytes, Rate, Time};
use weir_fc::Cell;
use weir_net::analysis::Headroom;

/// What a switch and the frames of its network add to the headroom of its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Forwarding latency.
    pub latency: Time,
    /// The largest frame.
    pub frame: Bytes,
    /// The smallest frame that memory is taken for.
    pub smallest: Bytes,
    /// The cells in which memory is counted.
    pub cell: Option<Cell>,
}

impl Hop {
    /// A switch without latency that counts bytes.
    pub fn new(frame: Bytes) -> Self {
        Self { latency: Time::ZERO, frame, smallest: Bytes::new(1), cell: None }
    }

    /// The switches of a run.
    pub fn of(switch: &SwitchConfig, nic: &NicConfig) -> Self {
        let data = nic.header + Bytes::new(1);
        Self {
            latency: switch.latency,
            frame: nic.max_frame(),
            smallest: if nic.acks_with_data { data.min(nic.ack) } else { data },
            cell: switch.cell,
        }
    }

    /// The memory that a largest frame takes.
    pub fn stored(&self) -> Bytes {
        self.cell.map_or(self.frame, |cell| cell.stored(self.frame))
    }
}

/// Bytes that can still arrive by a link after the decision to pause it, in the worst case
/// (the delay budget of 802.1Qbb):
///
/// `rate * (2 * propagation + response + latency) + frame ahead of the PAUSE + PAUSE + frame
/// that the neighbour has just begun`, all in wire bytes.
///
/// Where memory is counted in cells, these are the cells of the smallest frames that fill the same
/// time on the wire, and of a largest frame that the neighbour has just begun.
///
/// ```
/// use weir_core::{Bytes, Rate, Time};
/// use weir_sim::config::{Hop, LinkConfig, headroom};
/// // OFC's links: 200 + 2 * 1538 + 84
/// let (rate, link) = (Rate::from_gbps(40), LinkConfig::default());
/// let need = headroom(rate, Time::from_ns(20), &Hop::new(Bytes::new(1518)), &link);
/// assert_eq!(need, Bytes::new(3360));
/// ```
pub fn headroom(rate: Rate, delay: Time, hop: &Hop, link: &LinkConfig) -> Bytes {
    let mut budget = Headroom::new(rate, delay, hop.frame + link.overhead);
    budget.response = link.response.at(rate) + hop.latency;
    budget.pause_frame = Bytes::new(weir_core::control::MIN_FRAME) + link.overhead;
    let Some(cell) = hop.cell else { return budget.bytes() };
    budget.forward_frame = Bytes::ZERO;
    cell.most(budget.bytes(), hop.smallest, link.overhead).saturating_add(hop.stored())
}

/// What dynamic thresholds set aside for a link: its [`headroom`] and a frame more, because the
/// packet that crosses the threshold, and so causes the PAUSE, is itself stored in headroom.
pub fn dynamic_headroom(rate: Rate, delay: Time, hop: &Hop, link: &LinkConfig) -> Bytes {
    headroom(rate, delay, hop, link).saturating_add(hop.stored())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::Time;

    /// The published budgets: 40 Gb/s with 200 ns; 100 Gb/s with 1 us and 1048 B frames plus
    /// 24 B of wire overhead; 1 Gb/s with 0.5 us.
    #[test]
    fn headroom_matches_the_budget_of_known_links() {
        let link = LinkConfig::default();
        let need = |gbps, ns, frame| {
            let hop = Hop::new(Bytes::new(frame));
            headroom(Rate::from_gbps(gbps), Time::from_ns(ns), &hop, &link).get()
        };
        assert_eq!(need(40, 200, 1518), 2000 + 2 * 1538 + 84);
        assert_eq!(need(100, 1000, 1052), 25_000 + 2 * 1072 + 84);
        assert_eq!(need(1, 500, 1518), 125 + 2 * 1538 + 84);
    }

    #[test]
    fn a_slow_reaction_needs_more_headroom() {
        let slow = LinkConfig { response: Time::from_us(2).into(), ..LinkConfig::default() };
        let hop = Hop { latency: Time::from_us(1), ..Hop::new(Bytes::new(1048)) };
        let need = headroom(Rate::from_gbps(100), Time::from_us(1), &hop, &slow);
        // 12.5 B/ns over 2 us of cable, 2 us of response, 1 us of latency
        assert_eq!(need.get(), 62_500 + 2 * 1068 + 84);
    }

    /// Frames of 19 B, 39 B on the wire, take a cell of 100 B each: 200 + 1538 + 84 B of the wire
    /// are at most 4672 B of memory; the last frame is a full one, 16 cells.
    #[test]
    fn in_cells_the_smallest_frames_are_the_worst_case() {
        let hop = Hop {
            smallest: Bytes::new(19),
            cell: weir_fc::Cell::new(Bytes::new(100)),
            ..Hop::new(Bytes::new(1518))
        };
        let link = LinkConfig::default();
        let need = headroom(Rate::from_gbps(40), Time::from_ns(20), &hop, &link);
        assert_eq!(need.get(), (200u64 + 1538 + 84) * 100 / 39 + 1 + 1600);
        let all = dynamic_headroom(Rate::from_gbps(40), Time::from_ns(20), &hop, &link);
        assert_eq!(all, need + Bytes::new(1600));
    }
}
