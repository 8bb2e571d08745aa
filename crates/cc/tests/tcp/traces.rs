//! A sender alone, ACK by ACK: growth, marks, the timer, the handshake.

use std::num::NonZeroU32;
use weir_cc::tcp::{Ack, Data, EcnMode, Handshake, Segment, Sender, TcpParams};
use weir_core::{Bytes, Time};

pub(crate) const MSS: u64 = 1000;

/// A sender whose ACKs are made by hand. Windows are read in segments.
pub(crate) struct Trace {
    pub(crate) tcp: Sender,
    pub(crate) now: Time,
}

/// The parameters of most traces: no handshake, short timeouts.
pub(crate) fn params() -> TcpParams {
    TcpParams { handshake: Handshake::None, rto_min: Time::from_ms(10), ..TcpParams::default() }
}

pub(crate) fn window(segments: u32) -> NonZeroU32 {
    NonZeroU32::new(segments).expect("not zero")
}

impl Trace {
    pub(crate) fn new(params: &TcpParams, segments: u64) -> Self {
        let size = Bytes::new(segments * MSS);
        let tcp = Sender::new(params, size, Bytes::new(MSS), Time::from_us(100), Time::ZERO);
        Self { tcp, now: Time::ZERO }
    }

    /// Sends one segment.
    pub(crate) fn one(&mut self) -> Data {
        match self.tcp.poll_transmit(self.now) {
            Some(Segment::Data(data)) => data,
            other => panic!("a data segment was expected, not {other:?}"),
        }
    }

    /// Sends all the window allows; their numbers.
    pub(crate) fn all(&mut self) -> Vec<u32> {
        let mut seqs = vec![];
        while self.tcp.can_transmit() {
            seqs.push(self.one().seq);
        }
        assert_eq!(self.tcp.poll_transmit(self.now), None);
        seqs
    }

    pub(crate) fn ack(&mut self, expected: u32) -> Vec<u32> {
        self.tcp.on_ack(self.now, Ack { expected, ece: false });
        self.all()
    }

    pub(crate) fn echo(&mut self, expected: u32) {
        self.tcp.on_ack(self.now, Ack { expected, ece: true });
    }

    pub(crate) fn pass(&mut self, time: Time) {
        self.now += time;
    }

    /// Waits for the timer and lets it expire; how long that took.
    pub(crate) fn expire(&mut self) -> Time {
        let at = self.tcp.next_timeout().expect("a timer runs");
        let waited = at - self.now;
        assert!(!self.tcp.on_timeout(at - Time::from_ps(1)), "not before its time");
        self.now = at;
        assert!(self.tcp.on_timeout(at));
        waited
    }

    pub(crate) fn cwnd(&self) -> u64 {
        self.tcp.window().get()
    }

    pub(crate) fn ssthresh(&self) -> u64 {
        self.tcp.window().ssthresh()
    }
}

#[test]
fn the_initial_window_is_ten_segments_or_as_set() {
    let mut t = Trace::new(&params(), 100);
    assert_eq!(t.all(), (0..10).collect::<Vec<_>>());
    let mut t = Trace::new(&TcpParams { initial_window: window(3), ..params() }, 100);
    assert_eq!(t.all(), [0, 1, 2]);
}

/// Each ACK of a segment lets two follow: 2, 4, 8, 16 segments per round trip.
#[test]
fn slow_start_doubles_per_round_trip() {
    let mut t = Trace::new(&TcpParams { initial_window: window(2), ..params() }, 1000);
    let mut flight = t.all();
    for round in [2, 4, 8, 16, 32] {
        assert_eq!(flight.len(), round);
        t.pass(Time::from_us(100));
        flight = flight.into_iter().flat_map(|seq| t.ack(seq + 1)).collect();
    }
    assert_eq!(t.cwnd(), 64 * MSS);
}

/// After a mark at 20 segments the threshold is 10: one more segment per round trip.
#[test]
fn congestion_avoidance_adds_a_segment_per_round_trip() {
    let mut t = Trace::new(&TcpParams { initial_window: window(20), ..params() }, 1000);
    t.all();
    // The mark is echoed until segment 20, the first after the cut, has arrived.
    for una in 1..=20 {
        t.echo(una);
        t.all();
    }
    for segments in 10..20 {
        assert_eq!((t.cwnd(), t.tcp.flight()), (segments * MSS, segments * MSS));
        for una in t.tcp.una() + 1..=t.tcp.nxt() {
            t.ack(una);
        }
    }
}

/// The window counts bytes: a short last segment fits where a full one does not.
#[test]
fn a_segment_is_sent_when_all_of_it_fits() {
    let p = TcpParams { receive_window: Bytes::new(2500), ..params() };
    for (size, sent) in [(2500, vec![0, 1, 2]), (2501, vec![0, 1]), (3500, vec![0, 1])] {
        let tcp = Sender::new(&p, Bytes::new(size), Bytes::new(MSS), Time::ZERO, Time::ZERO);
        let mut t = Trace { tcp, now: Time::ZERO };
        assert_eq!(t.all(), sent, "{size} B");
    }
    // A window below one segment would never open.
    let p = TcpParams { receive_window: Bytes::new(1), ..params() };
    assert_eq!(Trace::new(&p, 10).all(), [0]);
}

/// A flow that is paused and has half of its window in flight does not earn a larger one.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut t = Trace::new(&params(), 1000);
    for _ in 0..4 {
        t.one();
    }
    for una in 1..=4 {
        t.tcp.on_ack(t.now, Ack { expected: una, ece: false });
    }
    assert_eq!(t.cwnd(), 10 * MSS, "4 of 10 segments were in flight");
    for _ in 0..6 {
        t.one();
    }
    t.tcp.on_ack(t.now, Ack { expected: 5, ece: false });
    assert_eq!(t.cwnd(), 11 * MSS, "slow start needs more than half of it");
}

/// RFC 3168: however many marks are echoed, one cut per window of data; the first new segment
/// after the cut says so, and only the ACK of something sent after it can cut again.
#[test]
fn one_cut_per_window_for_marks() {
    let mut t = Trace::new(&params(), 1000);
    t.all();
    t.echo(1);
    assert_eq!(t.cwnd(), 5 * MSS);
    for una in 2..=5 {
        t.echo(una);
        assert!(!t.tcp.can_transmit(), "10 - {una} segments in flight, window 5");
    }
    t.echo(6);
    let first = t.one();
    assert!(first.cwr && first.ect && first.seq == 10);
    for una in 7..=10 {
        t.echo(una);
        assert!(!t.one().cwr);
    }
    assert_eq!(t.cwnd(), 5 * MSS, "ACKs of what was sent before the cut");
    t.echo(11);
    assert_eq!(t.cwnd(), 2500, "an ACK of what was sent after it");
}

/// Slow start ends with a mark, and an ACK with an echo never raises the window.
#[test]
fn no_growth_on_an_echo() {
    let mut t = Trace::new(&params(), 1000);
    t.all();
    t.echo(3);
    let after_cut = t.cwnd();
    t.echo(10);
    t.all();
    assert_eq!((t.cwnd(), t.ssthresh()), (after_cut, after_cut));
}

#[test]
fn without_ecn_an_echo_is_ignored() {
    let mut t = Trace::new(&TcpParams { ecn: EcnMode::Off, ..params() }, 100);
    assert!(!t.one().ect);
    t.all();
    t.echo(1);
    assert_eq!(t.cwnd(), 11 * MSS);
}

/// A timeout per 10, 20, 40, 80 ms; one segment each time, and the threshold held at half of the
/// first flight. A valid sample ends the back-off.
#[test]
fn the_timer_backs_off_and_only_a_new_sample_ends_it() {
    let mut t = Trace::new(&params(), 1000);
    assert_eq!(t.one().seq, 0);
    t.pass(Time::from_us(100));
    t.ack(1);
    // one of ten segments of window was in use: it has not grown
    assert_eq!(t.tcp.flight(), 10 * MSS);
    for ms in [10, 20, 40, 80] {
        assert_eq!(t.expire(), Time::from_ms(ms));
        assert_eq!((t.cwnd(), t.ssthresh()), (MSS, 5 * MSS));
        let again = t.one();
        assert!(again.seq == 1 && again.resent && !again.ect && !again.cwr);
        assert!(!t.tcp.can_transmit());
    }
    // The ACK of a retransmission is no sample (Karn): the timeout stays at 160 ms.
    t.pass(Time::from_us(100));
    t.ack(2);
    assert_eq!(t.tcp.rto().timeout(), Time::from_ms(160));
    // Everything else had arrived: new segments, and the first of them is a sample.
    t.ack(11);
    t.pass(Time::from_us(100));
    t.ack(12);
    assert_eq!(t.tcp.rto().timeout(), Time::from_ms(10));
}

/// RFC 6298, 5.1 to 5.3: started by the first segment, restarted by an ACK of something new, not
/// by further segments or duplicates, and off when nothing is in flight.
#[test]
fn the_timer_is_restarted_by_new_acks_only() {
    let mut t = Trace::new(&TcpParams { dup_threshold: None, ..params() }, 3);
    assert_eq!(t.tcp.next_timeout(), None);
    t.one();
    let first = t.tcp.next_timeout();
    assert_eq!(first, Some(Time::from_ms(1000)), "no sample yet");
    t.pass(Time::from_us(100));
    t.all();
    t.tcp.on_ack(t.now, Ack { expected: 0, ece: false });
    assert_eq!(t.tcp.next_timeout(), first);
    t.ack(1);
    // SRTT 100 us, RTTVAR 50 us: below RTO_min
    assert_eq!(t.tcp.next_timeout(), Some(t.now + Time::from_ms(10)));
    t.ack(3);
    assert_eq!(t.tcp.next_timeout(), None);
    assert!(t.tcp.is_finished());
    assert!(!t.tcp.on_timeout(Time::from_ms(5000)), "a late call does nothing");
}

/// A segment that flow control holds after a timeout has not timed out again.
#[test]
fn a_held_retransmission_does_not_back_off_further() {
    let mut t = Trace::new(&params(), 10);
    t.one();
    t.expire();
    assert_eq!(t.tcp.next_timeout(), None);
    t.pass(Time::from_ms(60_000));
    assert!(!t.tcp.on_timeout(t.now));
    t.one();
    assert_eq!(t.expire(), Time::from_ms(2000));
}

/// After a timeout, slow start from one segment: 1, 2, 4; what had arrived is not sent again.
#[test]
fn a_timeout_goes_back_to_the_first_segment_missing() {
    let mut t = Trace::new(&params(), 1000);
    t.all();
    t.expire();
    assert_eq!(t.all(), [0]);
    assert_eq!(t.ack(1), [1, 2]);
    // 1 was missing, 2..=6 had arrived: one segment of growth for an ACK of many
    assert_eq!(t.ack(7), [7, 8, 9]);
    assert_eq!(t.cwnd(), 3 * MSS);
    // duplicates that the retransmissions cause start nothing
    for _ in 0..6 {
        assert_eq!(t.ack(7), []);
    }
    assert!(!t.tcp.in_recovery());
    assert_eq!(t.ack(10), [10, 11, 12, 13]);
}

#[test]
fn a_syn_opens_the_connection_and_gives_a_sample() {
    let mut t = Trace::new(&TcpParams { handshake: Handshake::Packets, ..params() }, 100);
    assert!(t.tcp.can_transmit());
    assert_eq!(t.tcp.poll_transmit(t.now), Some(Segment::Syn { resent: false }));
    assert!(!t.tcp.can_transmit());
    assert_eq!(t.tcp.poll_transmit(t.now), None);
    t.pass(Time::from_ms(4));
    t.tcp.on_syn_ack(t.now);
    assert_eq!(t.all().len(), 10);
    // SRTT 4 ms, RTTVAR 2 ms
    assert_eq!(t.tcp.next_timeout(), Some(t.now + Time::from_ms(12)));
    t.pass(Time::from_ms(1));
    t.tcp.on_syn_ack(t.now);
    assert_eq!(t.tcp.rto().srtt(), Some(Time::from_ms(4)), "the second SYN-ACK is ignored");
}

/// RFC 6298, 5.7 and RFC 5681, section 3.1: 3 s and one segment.
#[test]
fn a_lost_syn_is_sent_again_and_the_flow_starts_carefully() {
    let mut t = Trace::new(&TcpParams { handshake: Handshake::Packets, ..params() }, 100);
    t.tcp.poll_transmit(t.now);
    for seconds in [1, 2, 4] {
        assert_eq!(t.expire(), Time::from_ms(seconds * 1000));
        assert_eq!(t.tcp.poll_transmit(t.now), Some(Segment::Syn { resent: true }));
    }
    t.tcp.on_syn_ack(t.now);
    assert_eq!(t.all(), [0]);
    assert_eq!(t.tcp.next_timeout(), Some(t.now + Time::from_ms(3000)));
}

#[test]
fn a_handshake_by_delay_waits_one_round_trip() {
    let mut t = Trace::new(&TcpParams { handshake: Handshake::Delay, ..params() }, 100);
    assert!(!t.tcp.can_transmit());
    assert_eq!(t.tcp.next_timeout(), Some(Time::from_us(100)));
    assert_eq!(t.tcp.poll_transmit(t.now), None);
    t.pass(Time::from_us(100));
    assert!(!t.tcp.on_timeout(t.now), "no retransmission timeout");
    assert_eq!(t.all().len(), 10);
    assert_eq!(t.tcp.next_timeout(), Some(t.now + Time::from_ms(10)));
}

#[test]
fn an_open_ended_flow_ends_with_what_was_sent() {
    let open = Sender::new(&params(), Bytes::MAX, Bytes::new(MSS), Time::ZERO, Time::ZERO);
    let mut t = Trace { tcp: open, now: Time::ZERO };
    assert_eq!(t.all().len(), 10);
    t.ack(4);
    t.tcp.close();
    assert_eq!(t.tcp.total(), 18);
    assert!(!t.tcp.can_transmit() && !t.tcp.is_finished());
    t.expire();
    assert_eq!(t.all(), [4], "what is missing is still sent again");
    t.ack(18);
    assert!(t.tcp.is_finished());
}

/// An ACK of nothing that was sent, or of what is long acknowledged, changes nothing.
#[test]
fn impossible_and_old_acks_are_ignored() {
    let mut t = Trace::new(&params(), 100);
    t.all();
    let acked = t.tcp.on_ack(t.now, Ack { expected: 11, ece: true });
    assert_eq!((acked.segments, t.tcp.una(), t.cwnd()), (0, 0, 10 * MSS));
    t.ack(5);
    let cwnd = t.cwnd();
    t.echo(3);
    assert_eq!((t.tcp.una(), t.cwnd()), (5, cwnd));
}
