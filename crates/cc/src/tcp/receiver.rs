//! The receiving side: reassembly, acknowledgements and the echo of marks.

use super::reassembly::Reassembly;
use super::{Ack, EcnMode, TcpParams};
use weir_core::Time;

/// A data segment as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number within the flow.
    pub seq: u32,
    /// It is the last of the flow.
    pub last: bool,
    /// A switch marked it: congestion experienced.
    pub ce: bool,
    /// The sender has reduced its window.
    pub cwr: bool,
}

/// What came of a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// It had not arrived before: its payload counts.
    pub new: bool,
    /// The ACKs to send now, in this order: none (delayed), one, or two when a DCTCP receiver
    /// acknowledges what it held back with the earlier state of its echo.
    pub acks: [Option<Ack>; 2],
}

/// The receiving side of a flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    arrived: Reassembly,
    /// One past the last segment, once that has arrived.
    total: Option<u32>,
    mode: EcnMode,
    /// Marks are echoed (RFC 3168); the last segment was marked (DCTCP.CE).
    echo: bool,
    /// Segments in order that no ACK covers yet.
    unacked: u32,
    ack_every: u32,
    ack_delay: Time,
    /// When the delayed ACK is due.
    deadline: Option<Time>,
}

impl Receiver {
    /// A flow of which nothing has arrived. Make it with the first packet of the flow, which may
    /// be a data segment: a SYN needs no state.
    pub fn new(params: &TcpParams) -> Self {
        Self {
            arrived: Reassembly::default(),
            total: None,
            mode: params.ecn,
            echo: false,
            unacked: 0,
            ack_every: params.ack_every.get(),
            ack_delay: params.ack_delay,
            deadline: None,
        }
    }

    /// A data segment arrived. Afterwards look at [`next_timeout`](Self::next_timeout).
    pub fn on_data(&mut self, now: Time, data: Arrival) -> Received {
        let before = self.arrived.next();
        let echoed = self.echo;
        // RFC 3168, section 6.1.5: no marks from segments outside of the receive window.
        if data.seq >= before {
            self.take_marks(&data);
        }
        // RFC 8257, section 3.2: what was held back is acknowledged with the earlier echo.
        let changed = self.mode == EcnMode::Dctcp && self.echo != echoed;
        let earlier =
            (changed && self.unacked > 0).then_some(Ack { expected: before, ece: echoed });
        let had_gap = self.arrived.has_gap();
        let new = self.arrived.insert(data.seq);
        if data.last {
            self.total = Some(data.seq + 1);
        }
        let delivered = self.arrived.next() - before;
        self.unacked += delivered;
        // RFC 5681, section 4.2: at once for a segment out of order, a duplicate, or one that
        // fills a gap. The end of the flow is acknowledged at once as well: it carries the FIN.
        let at_once = changed || delivered == 0 || had_gap || self.is_complete();
        if at_once || self.unacked >= self.ack_every {
            let ack = Some(self.acknowledge());
            let acks = if earlier.is_some() { [earlier, ack] } else { [ack, None] };
            return Received { new, acks };
        }
        self.deadline.get_or_insert(now.saturating_add(self.ack_delay));
        Received { new, acks: [None, None] }
    }

    fn take_marks(&mut self, data: &Arrival) {
        self.echo = match self.mode {
            EcnMode::Off => false,
            // RFC 3168, section 6.1.3: a mark on the segment that says "reduced" is a new one
            EcnMode::Rfc3168 => data.ce || (self.echo && !data.cwr),
            EcnMode::Dctcp => data.ce,
        };
    }

    fn acknowledge(&mut self) -> Ack {
        self.unacked = 0;
        self.deadline = None;
        Ack { expected: self.arrived.next(), ece: self.echo }
    }

    /// When to call [`on_timeout`](Self::on_timeout); `None` while no ACK is held back.
    pub fn next_timeout(&self) -> Option<Time> {
        self.deadline
    }

    /// The delayed ACK, if it is due. Calling it early does nothing.
    pub fn on_timeout(&mut self, now: Time) -> Option<Ack> {
        self.deadline.filter(|&at| now >= at)?;
        Some(self.acknowledge())
    }

    /// The first segment that has not arrived.
    pub fn expected(&self) -> u32 {
        self.arrived.next()
    }

    /// What arrived, in order and beyond.
    pub fn arrived(&self) -> &Reassembly {
        &self.arrived
    }

    /// Whether every segment of the flow has arrived.
    pub fn is_complete(&self) -> bool {
        self.total.is_some_and(|total| self.arrived.next() >= total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    fn receiver(ecn: EcnMode, every: u32) -> Receiver {
        let ack_every = NonZeroU32::new(every).unwrap();
        Receiver::new(&TcpParams { ecn, ack_every, ..TcpParams::default() })
    }

    fn plain(seq: u32) -> Arrival {
        Arrival { seq, last: false, ce: false, cwr: false }
    }

    fn marked(seq: u32) -> Arrival {
        Arrival { ce: true, ..plain(seq) }
    }

    /// The ACKs as (expected, ECE).
    fn acks(r: Received) -> Vec<(u32, bool)> {
        r.acks.into_iter().flatten().map(|a| (a.expected, a.ece)).collect()
    }

    fn feed(r: &mut Receiver, data: Arrival) -> Vec<(u32, bool)> {
        acks(r.on_data(Time::ZERO, data))
    }

    #[test]
    fn every_segment_is_acknowledged_without_delay() {
        let mut r = receiver(EcnMode::Off, 1);
        assert_eq!(feed(&mut r, plain(0)), [(1, false)]);
        assert_eq!(feed(&mut r, plain(2)), [(1, false)]);
        assert_eq!(feed(&mut r, plain(3)), [(1, false)]);
        assert_eq!(feed(&mut r, plain(1)), [(4, false)]);
        assert_eq!(feed(&mut r, plain(1)), [(4, false)], "a duplicate is acknowledged");
        assert!(!r.on_data(Time::ZERO, plain(3)).new);
        assert_eq!(r.next_timeout(), None);
    }

    #[test]
    fn a_delayed_ack_covers_two_segments_or_waits_for_its_timer() {
        let mut r = receiver(EcnMode::Off, 2);
        let ms = Time::from_ms;
        assert_eq!(acks(r.on_data(ms(1), plain(0))), []);
        assert_eq!(r.next_timeout(), Some(ms(41)));
        assert_eq!(acks(r.on_data(ms(2), plain(1))), [(2, false)]);
        assert_eq!(r.next_timeout(), None);
        assert_eq!(acks(r.on_data(ms(3), plain(2))), []);
        assert_eq!(r.on_timeout(ms(42)), None, "not due before 43 ms");
        assert_eq!(r.on_timeout(ms(43)), Some(Ack { expected: 3, ece: false }));
        assert_eq!(r.on_timeout(ms(43)), None);
    }

    #[test]
    fn disorder_and_the_end_are_acknowledged_at_once() {
        let mut r = receiver(EcnMode::Off, 2);
        assert_eq!(feed(&mut r, plain(0)), []);
        // Out of order: the ACK covers segment 0, which was held back.
        assert_eq!(feed(&mut r, plain(2)), [(1, false)]);
        assert_eq!(feed(&mut r, plain(4)), [(1, false)]);
        assert_eq!(feed(&mut r, plain(1)), [(3, false)], "fills a part of the gap");
        assert_eq!(feed(&mut r, plain(3)), [(5, false)], "fills the rest");
        assert_eq!(feed(&mut r, plain(5)), []);
        assert_eq!(feed(&mut r, plain(5)), [(6, false)], "a duplicate");
        assert_eq!(feed(&mut r, Arrival { last: true, ..plain(6) }), [(7, false)]);
        assert!(r.is_complete());
        // Where two segments alone would be held back, filling a gap is what counts.
        let mut r = receiver(EcnMode::Off, 4);
        assert_eq!(feed(&mut r, plain(1)), [(0, false)]);
        assert_eq!(feed(&mut r, plain(0)), [(2, false)]);
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_says_reduced() {
        let mut r = receiver(EcnMode::Rfc3168, 1);
        let cwr = |seq| Arrival { cwr: true, ..plain(seq) };
        assert_eq!(feed(&mut r, plain(0)), [(1, false)]);
        assert_eq!(feed(&mut r, marked(1)), [(2, true)]);
        assert_eq!(feed(&mut r, plain(2)), [(3, true)]);
        assert_eq!(feed(&mut r, cwr(3)), [(4, false)]);
        assert_eq!(feed(&mut r, plain(4)), [(5, false)]);
        // A mark on the segment that says "reduced" starts over.
        assert_eq!(feed(&mut r, Arrival { ce: true, ..cwr(5) }), [(6, true)]);
        assert_eq!(feed(&mut r, cwr(6)), [(7, false)]);
        // A segment below the receive window counts for nothing.
        assert_eq!(feed(&mut r, marked(2)), [(7, false)]);
    }

    #[test]
    fn without_ecn_nothing_is_echoed() {
        let mut r = receiver(EcnMode::Off, 1);
        assert_eq!(feed(&mut r, marked(0)), [(1, false)]);
    }

    /// RFC 8257, section 3.2, with delayed ACKs for every second segment: a change of the mark
    /// sends the ACK of what was held back with the earlier state, and the segment itself at once.
    #[test]
    fn dctcp_acknowledges_each_run_of_marks_with_its_own_echo() {
        let mut r = receiver(EcnMode::Dctcp, 2);
        assert_eq!(feed(&mut r, plain(0)), []);
        assert_eq!(feed(&mut r, marked(1)), [(1, false), (2, true)]);
        assert_eq!(feed(&mut r, marked(2)), []);
        assert_eq!(feed(&mut r, marked(3)), [(4, true)]);
        assert_eq!(feed(&mut r, plain(4)), [(5, false)], "nothing was held back");
        assert_eq!(feed(&mut r, plain(5)), []);
        assert_eq!(feed(&mut r, plain(6)), [(7, false)]);
        assert_eq!(feed(&mut r, plain(7)), []);
        assert_eq!(feed(&mut r, marked(9)), [(8, false), (8, true)], "beyond a gap");
    }

    /// With an ACK for each segment the echo is the mark itself.
    #[test]
    fn dctcp_without_delayed_acks_echoes_each_mark() {
        let mut r = receiver(EcnMode::Dctcp, 1);
        for (seq, ce) in [false, true, true, false, true, false].into_iter().enumerate() {
            let seq = seq as u32;
            assert_eq!(feed(&mut r, Arrival { ce, ..plain(seq) }), [(seq + 1, ce)]);
        }
    }
}
