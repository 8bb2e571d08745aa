//! A sender alone: duplicate ACKs, fast retransmit, NewReno, and DCTCP's cuts.

use crate::traces::{MSS, Trace, params, window};
use weir_cc::tcp::{EcnMode, TcpParams};
use weir_core::Time;

/// Ten segments in flight, segment 0 lost. RFC 6582: the third duplicate sends it again, threshold
/// 5, window 5 + 3; two more duplicates make 10, then new segments follow.
#[test]
fn the_third_duplicate_starts_fast_retransmit() {
    let mut t = Trace::new(&params(), 1000);
    t.all();
    assert_eq!(t.ack(0), []);
    assert_eq!(t.ack(0), []);
    assert!(!t.tcp.in_recovery());
    assert_eq!(t.ack(0), [0]);
    assert!(t.tcp.in_recovery());
    assert_eq!((t.cwnd(), t.ssthresh()), (8 * MSS, 5 * MSS));
    assert_eq!(t.ack(0), []);
    assert_eq!(t.ack(0), []);
    assert_eq!(t.ack(0), [10]);
    assert_eq!(t.ack(0), [11]);
    // The full ACK: all that was in flight when the loss was seen; 2 segments are in flight.
    assert_eq!(t.ack(10), [12]);
    assert_eq!((t.cwnd(), t.tcp.in_recovery()), (3 * MSS, false));
    // slow start up to the threshold again
    assert_eq!(t.ack(11), [13, 14]);
}

/// Karn: the ACK of a segment that was sent twice says nothing about the round-trip time, nor does
/// that of a segment that waited for it.
#[test]
fn a_retransmission_gives_no_sample() {
    let mut t = Trace::new(&params(), 1000);
    t.all();
    for _ in 0..3 {
        t.ack(0);
    }
    t.pass(Time::from_ms(5));
    t.ack(10);
    assert_eq!(t.tcp.rto().srtt(), None);
    // A new segment is timed again.
    t.pass(Time::from_us(100));
    t.ack(11);
    assert_eq!(t.tcp.rto().srtt(), Some(Time::from_us(100)));
}

/// Segments 0 and 4 lost: the partial ACK sends 4 again at once, without further duplicates.
#[test]
fn a_partial_ack_sends_the_next_hole() {
    let mut t = Trace::new(&params(), 1000);
    t.all();
    for _ in 0..8 {
        t.ack(0);
    }
    // 8 duplicates: window 5 + 8, segments 10, 11 and 12 followed
    assert_eq!((t.cwnd(), t.tcp.nxt()), (13 * MSS, 13));
    t.pass(Time::from_us(100));
    // 4 segments fewer and one more: window 10, 9 in flight, one new
    assert_eq!(t.ack(4), [4, 13]);
    assert_eq!((t.cwnd(), t.ssthresh()), (10 * MSS, 5 * MSS));
    assert!(t.tcp.in_recovery());
    t.ack(10);
    assert!(!t.tcp.in_recovery());
}

/// RFC 6582, section 3.2: only the first partial ACK restarts the timer, so that a window with
/// many holes ends in a timeout.
#[test]
fn the_timer_is_restarted_by_the_first_partial_ack_only() {
    let mut t = Trace::new(&params(), 1000);
    t.all();
    for _ in 0..3 {
        t.ack(0);
    }
    t.pass(Time::from_us(100));
    t.ack(1);
    let restarted = t.tcp.next_timeout();
    assert_eq!(restarted, Some(t.now + t.tcp.rto().timeout()));
    t.pass(Time::from_us(100));
    t.ack(2);
    assert_eq!(t.tcp.next_timeout(), restarted);
}

/// RFC 6582, section 3.2, step 2: duplicates for a segment that recovery already covered do not
/// start it again.
#[test]
fn duplicates_after_recovery_do_not_start_it_again() {
    let mut t = Trace::new(&params(), 1000);
    t.all();
    for _ in 0..6 {
        t.ack(0);
    }
    t.ack(10);
    let cwnd = t.cwnd();
    for _ in 0..5 {
        t.ack(10);
    }
    assert_eq!((t.cwnd(), t.tcp.in_recovery()), (cwnd, false));
    t.ack(11);
    for _ in 0..3 {
        t.ack(11);
    }
    assert!(t.tcp.in_recovery(), "beyond the old recovery point it is a new loss");
}

/// DeTail: with the threshold off, nothing but the timer sends anything again.
#[test]
fn without_a_threshold_reordering_changes_nothing() {
    let mut t = Trace::new(&TcpParams { dup_threshold: None, ..params() }, 1000);
    t.all();
    for _ in 0..9 {
        assert_eq!(t.ack(0), []);
    }
    assert_eq!((t.cwnd(), t.ssthresh()), (10 * MSS, u64::MAX));
    // Segment 0 was only late: everything is acknowledged at once and slow start goes on.
    assert_eq!(t.ack(10).len(), 20);
    assert_eq!(t.cwnd(), 20 * MSS);
}

#[test]
fn a_higher_threshold_tolerates_as_much_reordering() {
    let mut t = Trace::new(&TcpParams { dup_threshold: Some(window(7)), ..params() }, 1000);
    t.all();
    for _ in 0..6 {
        assert_eq!(t.ack(0), []);
    }
    // half of 10 and the 7 that left: room for two more
    assert_eq!(t.ack(0), [0, 10, 11]);
    assert_eq!((t.cwnd(), t.ssthresh()), (12 * MSS, 5 * MSS));
}

/// RFC 3168, section 6.1.2: a loss in the window of data that was cut for a mark is not answered
/// by another cut.
#[test]
fn a_mark_and_a_loss_in_one_window_are_one_cut() {
    let mut t = Trace::new(&TcpParams { initial_window: window(16), ..params() }, 1000);
    t.all();
    t.echo(1);
    assert_eq!(t.cwnd(), 8 * MSS);
    for _ in 0..3 {
        t.echo(1);
    }
    assert!(t.tcp.in_recovery());
    assert_eq!((t.ssthresh(), t.cwnd()), (8 * MSS, 11 * MSS));
    // and no cut for marks while it recovers
    t.echo(1);
    assert_eq!((t.ssthresh(), t.cwnd()), (8 * MSS, 12 * MSS));
}

/// RFC 8257, section 3.5: with DCTCP a loss is answered like any TCP's.
#[test]
fn dctcp_answers_a_loss_in_full() {
    let p = TcpParams { ecn: EcnMode::Dctcp, initial_window: window(16), ..params() };
    let mut t = Trace::new(&p, 1000);
    t.all();
    for _ in 0..3 {
        t.ack(0);
    }
    assert_eq!(t.ssthresh(), 8 * MSS);
    // A cut for a mark in the same window does not take its place: alpha is 15/16 15/16 by now.
    let mut t = Trace::new(&p, 1000);
    t.all();
    t.ack(1);
    t.ack(2);
    t.echo(3);
    let (cut, flight) = (t.cwnd(), t.tcp.flight());
    for _ in 0..3 {
        t.ack(3);
    }
    assert!(t.tcp.in_recovery());
    assert_eq!(t.ssthresh(), flight / 2);
    assert_ne!(t.ssthresh(), cut);
}

/// Alpha 1; segment 0 marked: the observation window of the first ACK is that segment alone,
/// alpha = 15/16 + 1/16 = 1, the window is halved. The next one ends with the ACK of segment 10,
/// the first sent after the cut: 3 of 10 marked, alpha = 15/16 + 0.3/16 = 0.95625, factor
/// 1 - 0.478125.
#[test]
fn dctcp_cuts_by_alpha_once_per_window() {
    let mut t = Trace::new(&TcpParams { ecn: EcnMode::Dctcp, ..params() }, 1000);
    t.all();
    t.echo(1);
    assert_eq!((t.tcp.window().alpha(), t.cwnd()), (Some(1.0), 5 * MSS));
    t.all();
    t.echo(2);
    t.echo(3);
    assert_eq!(t.cwnd(), 5 * MSS, "one cut per window");
    for una in 4..=10 {
        t.ack(una);
    }
    // congestion avoidance: 7 segments acknowledged at a window of 5, the first of them while it
    // was not full
    let before = t.cwnd();
    assert_eq!(before, 6 * MSS);
    t.echo(11);
    assert_eq!(t.tcp.window().alpha(), Some(0.9375 + 0.3 / 16.0));
    // 6000 (1 - 0.478125) = 3131.25
    assert_eq!(t.cwnd(), 3131);
}
