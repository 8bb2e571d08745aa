//! Selective repeat with a bound of one bandwidth-delay product: IRN.
//!
//! The receiver keeps what comes out of order and answers it with a NACK that carries both the
//! packet it expects and the one that came. The sender remembers which packets arrived. The first
//! NACK, or a timeout, starts recovery: the packet expected is sent again, then every later hole
//! below the highest packet known to have arrived, then new packets; recovery ends when everything
//! sent before it began is acknowledged. At most `cap` packets may lie between the oldest
//! unacknowledged packet and the next new one (BDP-FC). A short timeout serves flows with few
//! packets in flight, whose losses no later packet would reveal.
//!
//! Where packets may overtake each other, a packet out of order is no sign of a loss. With
//! [`Config::reorder`] a packet is taken for lost only when one that far behind it has arrived, or
//! by the timeout. IRN, which has one path per flow, has none of it.
//!
//! Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, sections 3.1 and 3.2.

use super::Response;
use std::collections::VecDeque;
use weir_core::Time;

/// A set of numbers above a moving floor, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Window {
    floor: u64,
    bits: VecDeque<bool>,
}

impl Window {
    fn contains(&self, n: u64) -> bool {
        n >= self.floor && self.bits.get((n - self.floor) as usize).copied().unwrap_or(false)
    }

    /// Adds `n`, which is not below the floor; whether it is new.
    fn insert(&mut self, n: u64) -> bool {
        let i = (n - self.floor) as usize;
        if i >= self.bits.len() {
            self.bits.resize(i + 1, false);
        }
        !std::mem::replace(&mut self.bits[i], true)
    }

    /// Moves the floor up to `floor`.
    fn advance(&mut self, floor: u64) {
        while self.floor < floor {
            self.bits.pop_front();
            self.floor += 1;
        }
    }

    /// Moves the floor over everything contiguous.
    fn advance_over_contiguous(&mut self) {
        while self.bits.front() == Some(&true) {
            self.bits.pop_front();
            self.floor += 1;
        }
    }
}

/// The receiving side of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receiver {
    arrived: Window,
}

impl Receiver {
    /// A flow of which nothing has arrived.
    pub fn new() -> Self {
        Self::default()
    }

    /// Packet `seq` arrived: the answer, and whether the packet is new.
    pub fn on_data(&mut self, seq: u64) -> (Response, bool) {
        let in_order = seq == self.expected();
        let new = seq >= self.expected() && self.arrived.insert(seq);
        self.arrived.advance_over_contiguous();
        let expected = self.expected();
        let response = if in_order || seq < expected {
            Response::Ack { expected }
        } else {
            Response::Nack { expected, received: seq }
        };
        (response, new)
    }

    /// The next packet in order.
    pub fn expected(&self) -> u64 {
        self.arrived.floor
    }
}

/// What does not change about a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Most packets between the oldest unacknowledged and the next new one.
    pub cap: u64,
    /// Timeout with at most `few` packets in flight.
    pub rto_low: Time,
    /// Timeout with more.
    pub rto_high: Time,
    /// See `rto_low`.
    pub few: u64,
    /// Timeouts can be switched off, where flow control keeps the network lossless.
    pub timeouts: bool,
    /// A packet is taken for lost when one more than so many numbers above it has arrived.
    pub reorder: u64,
}

impl Config {
    /// The values of the IRN paper, for a cap of `cap` packets: 100 us up to 3 packets, 320 us
    /// above.
    pub const fn paper(cap: u64) -> Self {
        Self {
            cap,
            rto_low: Time::from_us(100),
            rto_high: Time::from_us(320),
            few: 3,
            timeouts: true,
            reorder: 0,
        }
    }
}

/// Recovery from a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recovery {
    /// Ends when this packet is acknowledged.
    until: u64,
    /// Holes below were sent again; never a packet that is known to have arrived.
    resent: u64,
    /// The packet expected is lost for sure, whatever has arrived.
    certain: bool,
}

/// The sending side of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    config: Config,
    packets: u64,
    next_new: u64,
    /// Packets known to have arrived, above the cumulative acknowledgement.
    arrived: Window,
    highest_arrived: u64,
    recovery: Option<Recovery>,
}

impl Sender {
    /// A flow of `packets` packets.
    pub fn new(packets: u64, config: Config) -> Self {
        Self {
            config,
            packets,
            next_new: 0,
            arrived: Window::default(),
            highest_arrived: 0,
            recovery: None,
        }
    }

    fn acked(&self) -> u64 {
        self.arrived.floor
    }

    /// The hole to fill next, if recovery has one.
    fn hole(&self) -> Option<u64> {
        let r = self.recovery?;
        // The packet expected may be lost for sure; others only if a later one arrived.
        let certain = if r.certain { self.acked() + 1 } else { 0 };
        let revealed = self.highest_arrived.saturating_sub(self.config.reorder);
        let end = revealed.max(certain).min(self.next_new);
        (r.resent < end).then_some(r.resent)
    }

    /// Moves recovery past what is known to have arrived.
    fn skip_arrived(&mut self) {
        if let Some(r) = &mut self.recovery {
            r.resent = r.resent.max(self.arrived.floor);
            while self.arrived.contains(r.resent) {
                r.resent += 1;
            }
        }
    }

    /// The packet to send now, and whether it was sent before; `None` when nothing may be sent.
    pub fn next_packet(&mut self) -> Option<(u64, bool)> {
        if let Some(seq) = self.hole() {
            if let Some(r) = &mut self.recovery {
                r.resent = seq + 1;
            }
            self.skip_arrived();
            return Some((seq, true));
        }
        if !self.may_send_new() {
            return None;
        }
        self.next_new += 1;
        Some((self.next_new - 1, false))
    }

    /// The packet that [`next_packet`](Self::next_packet) would send now.
    pub fn peek(&self) -> Option<u64> {
        self.hole().or_else(|| self.may_send_new().then_some(self.next_new))
    }

    fn may_send_new(&self) -> bool {
        self.next_new < self.packets && self.next_new - self.acked() < self.config.cap
    }

    /// Whether [`next_packet`](Self::next_packet) has something.
    pub fn has_next(&self) -> bool {
        self.hole().is_some() || self.may_send_new()
    }

    /// Whether [`next_packet`](Self::next_packet) is a hole to fill, not a new packet.
    pub fn has_hole(&self) -> bool {
        self.hole().is_some()
    }

    /// So many more packets follow.
    pub fn extend(&mut self, packets: u64) {
        self.packets += packets;
    }

    /// The flow ends with what was sent so far.
    pub fn close(&mut self) {
        self.packets = self.next_new;
    }

    /// Everything below `expected` arrived; how many packets are newly acknowledged in order.
    pub fn on_ack(&mut self, expected: u64) -> u64 {
        let before = self.acked();
        self.arrived.advance(expected.min(self.next_new));
        if self.recovery.is_some_and(|r| self.acked() >= r.until) {
            self.recovery = None;
        }
        self.skip_arrived();
        self.acked() - before
    }

    /// The same, and `received` arrived out of order.
    pub fn on_nack(&mut self, expected: u64, received: u64) -> u64 {
        let newly = self.on_ack(expected);
        if received >= self.acked() && received < self.next_new {
            self.arrived.insert(received);
            self.highest_arrived = self.highest_arrived.max(received);
        }
        // without reordering a NACK is proof of a loss
        let certain = self.config.reorder == 0;
        let lost = certain || self.highest_arrived > self.acked() + self.config.reorder;
        if lost && !self.finished() && self.recovery.is_none() {
            let (until, resent) = (self.next_new, self.acked());
            self.recovery = Some(Recovery { until, resent, certain });
        }
        self.skip_arrived();
        newly
    }

    /// The timeout expired: send again what is not known to have arrived, from the start. Returns
    /// false, and does nothing, while the first of these packets still waits to be sent again.
    pub fn on_timeout(&mut self) -> bool {
        let before = self.recovery;
        if !self.finished() {
            let resent = self.acked();
            let until = before.map_or(self.next_new, |r| r.until);
            self.recovery = Some(Recovery { until, resent, certain: true });
            self.skip_arrived();
        }
        self.recovery != before
    }

    /// The timeout to keep while something is in flight.
    pub fn rto(&self) -> Option<Time> {
        let c = &self.config;
        (c.timeouts && self.in_flight() > 0)
            .then(|| if self.in_flight() <= c.few { c.rto_low } else { c.rto_high })
    }

    /// Packets between the oldest unacknowledged and the next new one.
    pub fn in_flight(&self) -> u64 {
        self.next_new - self.acked()
    }

    /// Whether everything is acknowledged.
    pub fn finished(&self) -> bool {
        self.acked() >= self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sender(packets: u64, cap: u64) -> Sender {
        Sender::new(packets, Config::paper(cap))
    }

    fn send_all(s: &mut Sender) -> Vec<(u64, bool)> {
        std::iter::from_fn(|| s.next_packet()).collect()
    }

    #[test]
    fn the_receiver_keeps_what_comes_early() {
        let mut r = Receiver::new();
        assert_eq!(r.on_data(0), (Response::Ack { expected: 1 }, true));
        assert_eq!(r.on_data(2), (Response::Nack { expected: 1, received: 2 }, true));
        assert_eq!(r.on_data(3), (Response::Nack { expected: 1, received: 3 }, true));
        assert_eq!(r.on_data(3), (Response::Nack { expected: 1, received: 3 }, false));
        assert_eq!(r.on_data(1), (Response::Ack { expected: 4 }, true));
        assert_eq!(r.on_data(1), (Response::Ack { expected: 4 }, false));
    }

    #[test]
    fn no_more_than_the_cap_is_in_flight() {
        let mut s = sender(10, 4);
        assert_eq!(send_all(&mut s).len(), 4);
        s.on_ack(2);
        assert_eq!(send_all(&mut s), [(4, false), (5, false)]);
    }

    /// 0 is overtaken by 1 to 3, which is no sign of a loss; 4 makes it one.
    #[test]
    fn a_reordering_that_is_allowed_for_sends_nothing_again() {
        let config = Config { reorder: 3, ..Config::paper(8) };
        let mut s = Sender::new(12, config);
        send_all(&mut s);
        for received in 1..=3 {
            assert_eq!((s.on_nack(0, received), s.has_hole()), (0, false));
        }
        let mut late = s.clone();
        late.on_ack(4);
        assert_eq!(send_all(&mut late), [(8, false), (9, false), (10, false), (11, false)]);
        s.on_nack(0, 4);
        assert_eq!((s.peek(), s.next_packet()), (Some(0), Some((0, true))));
        assert_eq!(s.next_packet(), None, "5 to 7 may be on their way");
        // 6 and 7 arrive, 5 does not: nothing behind it is far enough, only the timeout helps
        s.on_ack(5);
        s.on_nack(5, 6);
        s.on_nack(5, 7);
        assert!(!s.has_hole() && s.peek() == Some(8));
        send_all(&mut s);
        s.on_timeout();
        assert_eq!(s.next_packet(), Some((5, true)));
    }

    #[test]
    fn only_holes_are_sent_again_and_new_packets_follow() {
        let mut s = sender(12, 8);
        send_all(&mut s);
        // 2 and 4 are lost; 3 and 5 arrive
        s.on_nack(2, 3);
        assert_eq!(s.next_packet(), Some((2, true)));
        assert_eq!(s.next_packet(), Some((8, false)), "4 is not yet known to be lost");
        s.on_nack(2, 5);
        assert_eq!(s.next_packet(), Some((4, true)));
        assert_eq!(s.next_packet(), Some((9, false)));
        assert_eq!(s.next_packet(), None, "8 packets from 2 on");
        assert_eq!(s.on_ack(4), 2);
        assert!(s.recovery.is_some(), "8 packets were out when recovery began");
        s.on_ack(8);
        assert_eq!(s.recovery, None);
    }

    #[test]
    fn a_timeout_starts_over_but_skips_what_arrived() {
        let mut s = sender(4, 8);
        send_all(&mut s);
        s.on_nack(1, 3);
        assert_eq!(send_all(&mut s), [(1, true), (2, true)]);
        s.on_timeout();
        assert_eq!(send_all(&mut s), [(1, true), (2, true)]);
        s.on_ack(4);
        assert!(s.finished());
        assert_eq!(s.rto(), None);
    }

    /// A packet that waits to be sent again, for its pace or because the flow is held, cannot have
    /// been lost again.
    #[test]
    fn nothing_times_out_before_it_was_sent_again() {
        let mut s = sender(4, 8);
        send_all(&mut s);
        assert!(s.on_timeout());
        assert!(!s.on_timeout(), "0 was not sent since");
        assert_eq!(s.next_packet(), Some((0, true)));
        assert!(s.on_timeout(), "0 was lost again");
        s.on_nack(1, 3);
        assert!(!s.on_timeout(), "1 is next to be sent again");
        assert_eq!(send_all(&mut s), [(1, true), (2, true)]);
        s.on_ack(4);
        assert!(!s.on_timeout(), "it is over");
    }

    #[test]
    fn a_closed_flow_is_finished_with_what_was_sent() {
        let mut s = sender(u64::MAX, 4);
        send_all(&mut s);
        s.close();
        s.on_nack(1, 3);
        assert!(s.has_hole());
        assert_eq!(send_all(&mut s), [(1, true), (2, true)], "nothing new follows");
        assert!(!s.has_hole());
        s.on_ack(4);
        assert!(s.finished());
    }

    #[test]
    fn few_packets_in_flight_time_out_sooner() {
        let mut s = sender(10, 8);
        assert_eq!(s.rto(), None);
        for _ in 0..3 {
            s.next_packet();
        }
        assert_eq!(s.rto(), Some(Time::from_us(100)));
        s.next_packet();
        assert_eq!(s.rto(), Some(Time::from_us(320)));
        s.config.timeouts = false;
        assert_eq!(s.rto(), None);
    }

    proptest! {
        /// Whatever is lost, in either direction, timeouts finish the flow and every packet is
        /// new at the receiver exactly once.
        #[test]
        fn any_pattern_of_loss_is_recovered(
            losses in prop::collection::vec(any::<bool>(), 0..300),
            packets in 1..60u64,
            cap in 1..20u64
        ) {
            let mut losses = losses.into_iter();
            let mut lost = || losses.next().unwrap_or(false);
            let (mut s, mut r) = (sender(packets, cap), Receiver::new());
            let mut delivered = 0;
            for _round in 0..1000 {
                if s.finished() {
                    break;
                }
                let mut responses = Vec::new();
                while let Some((seq, _)) = s.next_packet() {
                    if !lost() {
                        let (response, new) = r.on_data(seq);
                        delivered += u64::from(new);
                        responses.push(response);
                    }
                }
                for response in responses.into_iter().filter(|_| !lost()) {
                    match response {
                        Response::Ack { expected } => s.on_ack(expected),
                        Response::Nack { expected, received } => s.on_nack(expected, received),
                    };
                }
                if !s.has_next() {
                    s.on_timeout();
                }
            }
            prop_assert!(s.finished());
            prop_assert_eq!(delivered, packets);
        }
    }
}
