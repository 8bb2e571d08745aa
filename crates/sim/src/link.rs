//! The sending half of a port: serialisation onto a wire, and what may happen to a frame on it.

use crate::outcome::DropReason;
use crate::tree::{END, HORIZON};
use crate::wire::{WireId, Wires};
use weir_core::rng::Stream;
use weir_core::{Bytes, Packet, Priority, Rate, Response, Time};
use weir_net::limits::{MAX_DELAY, MIN_RATE};

/// No control frame is longer.
const LONGEST_CONTROL: Bytes = Bytes::new(1518);

/// A transmitter: one cache line.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    /// The wire is free after this instant, or in the transmit-done event at it.
    pub(crate) busy_until: Time,
    /// Picoseconds per byte when that is a whole number, else zero.
    ps_per_byte: u64,
    pub(crate) delay: Time,
    pub(crate) packets: u64,
    pub(crate) rate: Rate,
    pub(crate) wire_bytes: u64,
    wire: WireId,
    overhead: u16,
    pub(crate) up: bool,
    /// The priority of the frame sent last.
    pub(crate) last: Priority,
}

const _: () = assert!(size_of::<Transmitter>() <= 64);

/// Clocks can show when a frame arrives that was sent in a run: see [`Tournament`].
///
/// [`Tournament`]: crate::tree::Tournament
const _: () = {
    let frame = Bytes::new(2 * u16::MAX as u64);
    let takes = MIN_RATE.time_for(frame).as_ps() + MAX_DELAY.as_ps();
    assert!(HORIZON.as_ps() + takes < END.as_ps());
};

impl Transmitter {
    pub(crate) fn new(wire: WireId, rate: Rate, delay: Time, overhead: Bytes) -> Self {
        Self {
            wire,
            rate,
            ps_per_byte: rate.ps_per_byte().unwrap_or(0),
            delay,
            overhead: u16::try_from(overhead.get()).unwrap_or(u16::MAX),
            busy_until: Time::ZERO,
            up: true,
            last: Priority::default(),
            packets: 0,
            wire_bytes: 0,
        }
    }

    /// The link is up again at `now`; returns from when on it takes data. Both ends say at once
    /// what the other has to stop, and data follow when that is in force: what an ingress stores
    /// may be all that it has room for. It takes a frame that may still be on the wire, a control
    /// frame, the way, and the `response` of the other end.
    #[must_use]
    pub(crate) fn recover(&mut self, now: Time, max_frame: Bytes, response: Response) -> Time {
        let longest = max_frame.max(LONGEST_CONTROL).get().min(u64::from(u16::MAX)) as u16;
        let wait = self.serialisation(longest) * 2 + self.delay + response.at(self.rate);
        self.up = true;
        now + wait
    }

    /// The wire it sends to; no other transmitter does.
    pub(crate) fn wire(&self) -> WireId {
        self.wire
    }

    /// Prefetches the wire.
    pub(crate) fn prefetch_way(&self, wires: &Wires) {
        wires.prefetch_way(self.wire);
    }

    /// Asks for the place of the next packet on the wire.
    pub(crate) fn prefetch_end(&self, wires: &Wires) {
        wires.prefetch_end(self.wire);
    }

    /// How long a frame of `size` bytes occupies the wire.
    #[inline(always)]
    pub(crate) fn serialisation(&self, size: u16) -> Time {
        let bytes = u64::from(size) + u64::from(self.overhead);
        if self.ps_per_byte != 0 {
            Time::from_ps(bytes * self.ps_per_byte)
        } else {
            self.odd(bytes)
        }
    }

    /// [`Transmitter::serialisation`] where a byte does not take whole picoseconds.
    #[cold]
    fn odd(&self, bytes: u64) -> Time {
        self.rate.time_for(Bytes::new(bytes))
    }

    /// Starts sending at `now`: the last bit leaves at `busy_until` and arrives one
    /// propagation delay later. Store and forward: that is when the far end sees the packet.
    ///
    /// # Panics
    /// When the wire is busy: it carries one frame at a time.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time, packet: &Packet, wires: &mut Wires) {
        if now < self.busy_until {
            Self::collide(now);
        }
        self.busy_until = now + self.serialisation(packet.size);
        self.last = packet.priority;
        self.packets += 1;
        self.wire_bytes += u64::from(packet.size) + u64::from(self.overhead);
        wires.send(self.wire, self.busy_until + self.delay, packet);
    }

    #[cold]
    fn collide(now: Time) -> ! {
        panic!("a frame starts at {now} on a wire that is busy");
    }
}

/// Times at which a link was down, for the receiving end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages(Vec<(Time, Time)>);

impl Outages {
    /// One more outage. Those that overlap or touch are one: the link is up when none lasts.
    pub(crate) fn add(&mut self, down: Time, up: Option<Time>) {
        self.0.push((down, up.unwrap_or(Time::NEVER)));
        self.0.retain(|(down, up)| down < up);
        self.0.sort_unstable();
        self.0.dedup_by(|next, last| {
            let joined = next.0 <= last.1;
            if joined {
                last.1 = last.1.max(next.1);
            }
            joined
        });
    }

    /// When the link fails and recovers (`Time::NEVER`: it does not), in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, Time)> {
        self.0.iter().copied()
    }

    /// Whether the link was down at any instant of `from..=to`: a frame in flight then is lost.
    pub(crate) fn hit(&self, from: Time, to: Time) -> bool {
        self.0.iter().any(|&(down, up)| down <= to && from < up)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Why a frame that arrives now is dropped: it was in flight during an outage of its link, or it
/// has a bit error. `tx` is the sending half of the port it comes in by: both directions of a link
/// have the same rate and delay. `byte_survival_ln` is the logarithm of the probability that a byte
/// arrives as it was sent.
#[inline]
pub(crate) fn damage(
    frame: &Packet,
    tx: &Transmitter,
    outages: &Outages,
    bit_errors: &mut Stream,
    byte_survival_ln: f64,
    now: Time,
) -> Option<DropReason> {
    if !outages.is_empty() {
        let left = now.saturating_sub(tx.delay + tx.serialisation(frame.size));
        if outages.hit(left, now) {
            return Some(DropReason::LinkDown);
        }
    }
    let has_error =
        byte_survival_ln < 0.0 && bit_errors.unit() < frame_error(frame.size, byte_survival_ln);
    has_error.then_some(DropReason::BitError)
}

/// Probability that a frame of `size` bytes has a bit error.
fn frame_error(size: u16, byte_survival_ln: f64) -> f64 {
    -libm::expm1(f64::from(size) * byte_survival_ln)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::test_packet;
    use crate::wire::WireNumbers;
    use weir_core::NodeId;
    use weir_net::build;

    #[test]
    fn a_frame_arrives_after_its_serialisation_and_the_cable() {
        let params = build::star::Params { hosts: 1, ..Default::default() };
        let topology = build::star::build(&params).unwrap();
        let nodes = [(0..2).map(NodeId).collect()];
        let numbers = WireNumbers::new(&topology, &nodes);
        let mut wires = Wires::new(&topology, &nodes, &numbers, 0);
        let wire = numbers.at_port(NodeId(1), 0);
        let mut tx = Transmitter::new(wire, Rate::from_gbps(40), Time::from_ns(20), Bytes::new(20));
        tx.send(Time::from_ns(100), &test_packet(0, 1518), &mut wires);
        // (1518 + 20) B at 200 ps/B = 307.6 ns
        assert_eq!(tx.busy_until, Time::from_ps(407_600));
        assert_eq!(wires.head(wire), Time::from_ps(427_600));
        assert_eq!(wires.agenda.next(weir_core::NodeId(1)), Time::from_ps(427_600));
    }

    #[test]
    fn outages_that_overlap_or_touch_are_one() {
        let mut outages = Outages::default();
        let ns = Time::from_ns;
        for (down, up) in [(30, 50), (10, 20), (15, 30), (12, 14), (70, 80), (60, 60)] {
            outages.add(ns(down), Some(ns(up)));
        }
        assert_eq!(outages.iter().collect::<Vec<_>>(), [(ns(10), ns(50)), (ns(70), ns(80))]);
        outages.add(ns(75), None);
        assert_eq!(outages.iter().last(), Some((ns(70), Time::NEVER)));
        assert!(outages.hit(ns(40), ns(41)) && !outages.hit(ns(50), ns(69)));
    }

    #[test]
    fn odd_rates_round_up_to_the_picosecond() {
        let tx = Transmitter::new(WireId(0), Rate::from_gbps(3), Time::ZERO, Bytes::ZERO);
        // 100 B * 8000/3 ps = 266 666.67 ps
        assert_eq!(tx.serialisation(100), Time::from_ps(266_667));
    }

    #[test]
    fn an_outage_takes_what_is_in_flight_during_any_part_of_it() {
        let mut o = Outages::default();
        o.add(Time::from_ns(10), Some(Time::from_ns(20)));
        let hit = |a, b| o.hit(Time::from_ns(a), Time::from_ns(b));
        assert_eq!(
            [hit(0, 9), hit(0, 10), hit(12, 13), hit(19, 30), hit(20, 30)],
            [false, true, true, true, false]
        );
    }
}
