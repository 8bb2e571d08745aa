//! Go-back-N: what RDMA NICs do.
//!
//! The receiver takes packets in order only. At a gap it sends one NACK with the packet it
//! expects, and keeps silent until that one comes or `nack_interval` has passed. The sender goes
//! back to the packet named.
//!
//! Duplicates are not acknowledged unless `ack_duplicates` is set, which is needed where ACKs can
//! be lost. There is no timer at the receiver; a lost tail is recovered by the sender's timeout.

use super::Response;
use weir_core::Time;

/// The receiving side of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    expected: u64,
    last_nack: Option<(u64, Time)>,
    nack_interval: Time,
    ack_duplicates: bool,
}

impl Receiver {
    /// A receiver that repeats a NACK after `nack_interval` (500 us is usual).
    pub const fn new(nack_interval: Time, ack_duplicates: bool) -> Self {
        Self { expected: 0, last_nack: None, nack_interval, ack_duplicates }
    }

    /// Packet `seq` arrived. The packet is delivered if and only if [`expected`](Self::expected)
    /// moved.
    pub fn on_data(&mut self, seq: u64, now: Time) -> Response {
        if seq == self.expected {
            self.expected += 1;
            return Response::Ack { expected: self.expected };
        }
        if seq < self.expected {
            return match self.ack_duplicates {
                true => Response::Ack { expected: self.expected },
                false => Response::Silent,
            };
        }
        let told = self.last_nack.is_some_and(|(about, at)| {
            about == self.expected && now.saturating_sub(at) < self.nack_interval
        });
        if told {
            return Response::Silent;
        }
        self.last_nack = Some((self.expected, now));
        Response::Nack { expected: self.expected, received: seq }
    }

    /// The next packet in order.
    pub const fn expected(&self) -> u64 {
        self.expected
    }
}

/// The sending side of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    packets: u64,
    next: u64,
    acked: u64,
    highest: u64,
    rto: Option<Time>,
}

impl Sender {
    /// A flow of `packets` packets; `rto` is its retransmission timeout, if it has one.
    pub const fn new(packets: u64, rto: Option<Time>) -> Self {
        Self { packets, next: 0, acked: 0, highest: 0, rto }
    }

    /// The packet to send now, and whether it was sent before; `None` when all are sent. The
    /// caller looks at window and pace first.
    pub fn next_packet(&mut self) -> Option<(u64, bool)> {
        if self.next >= self.packets {
            return None;
        }
        let seq = self.next;
        self.next += 1;
        let again = seq < self.highest;
        self.highest = self.highest.max(self.next);
        Some((seq, again))
    }

    /// Whether [`next_packet`](Self::next_packet) has something.
    pub const fn has_next(&self) -> bool {
        self.next < self.packets
    }

    /// Everything below `expected` arrived; how many packets are newly acknowledged.
    pub fn on_ack(&mut self, expected: u64) -> u64 {
        let before = self.acked;
        self.acked = self.acked.max(expected.min(self.highest));
        // An ACK may overtake what we went back to: no need to send that again.
        self.next = self.next.max(self.acked);
        self.acked - before
    }

    /// Everything below `expected` arrived and the rest must be sent again.
    pub fn on_nack(&mut self, expected: u64) -> u64 {
        let newly = self.on_ack(expected);
        self.next = self.acked;
        newly
    }

    /// Nothing was acknowledged for `rto`: start over from the first missing packet.
    pub fn on_timeout(&mut self) {
        self.next = self.acked;
    }

    /// The timeout to keep while something is in flight.
    pub fn rto(&self) -> Option<Time> {
        self.rto.filter(|_| self.highest > self.acked)
    }

    /// Packets sent since the last acknowledged one.
    pub const fn in_flight(&self) -> u64 {
        self.next - self.acked
    }

    /// Whether everything is acknowledged.
    pub const fn finished(&self) -> bool {
        self.acked >= self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Time = Time::from_us(500);

    #[test]
    fn a_gap_is_reported_once_until_the_interval_has_passed() {
        let mut r = Receiver::new(INTERVAL, false);
        let us = Time::from_us;
        assert_eq!(r.on_data(0, us(1)), Response::Ack { expected: 1 });
        assert_eq!(r.on_data(2, us(2)), Response::Nack { expected: 1, received: 2 });
        assert_eq!(r.on_data(3, us(3)), Response::Silent);
        assert_eq!(r.on_data(4, us(502)), Response::Nack { expected: 1, received: 4 });
        assert_eq!(r.on_data(1, us(503)), Response::Ack { expected: 2 });
        // A new gap is reported at once.
        assert_eq!(r.on_data(3, us(504)), Response::Nack { expected: 2, received: 3 });
    }

    #[test]
    fn duplicates_are_silent_unless_asked_for() {
        let mut r = Receiver::new(INTERVAL, false);
        r.on_data(0, Time::ZERO);
        assert_eq!(r.on_data(0, Time::ZERO), Response::Silent);
        let mut r = Receiver::new(INTERVAL, true);
        r.on_data(0, Time::ZERO);
        assert_eq!(r.on_data(0, Time::ZERO), Response::Ack { expected: 1 });
    }

    #[test]
    fn the_sender_goes_back_to_what_is_missing() {
        let mut s = Sender::new(5, None);
        let sent: Vec<_> = std::iter::from_fn(|| s.next_packet()).collect();
        assert_eq!(sent.len(), 5);
        assert_eq!(s.on_nack(2), 2);
        assert_eq!(s.next_packet(), Some((2, true)));
        assert_eq!(s.in_flight(), 1);
        // Packets 3 and 4 of the first round had arrived after all.
        assert_eq!(s.on_ack(5), 3);
        assert_eq!(s.next_packet(), None);
        assert!(s.finished());
    }

    #[test]
    fn the_timeout_runs_only_while_something_is_out() {
        let mut s = Sender::new(2, Some(INTERVAL));
        assert_eq!(s.rto(), None);
        s.next_packet();
        assert_eq!(s.rto(), Some(INTERVAL));
        s.on_timeout();
        assert_eq!(s.next_packet(), Some((0, true)));
        s.on_ack(1);
        assert_eq!(s.rto(), None);
    }

    #[test]
    fn acknowledging_what_was_never_sent_changes_nothing() {
        let mut s = Sender::new(10, None);
        s.next_packet();
        assert_eq!(s.on_ack(7), 1);
        assert_eq!(s.next_packet(), Some((1, false)));
    }
}
