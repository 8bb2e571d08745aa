//! A lone flow: slow start, handshake and delayed ACKs to the picosecond.

use crate::common::{flow, run, star};
use crate::{ACK, SEGMENT, count, segments, tcp};
use weir_cc::tcp::Handshake;
use weir_core::{Bytes, Time};
use weir_sim::config::{NicDiscipline, Stop};
use weir_sim::{Finish, SimError};
use weir_traffic::FlowSpec;

/// From the start of a segment to its ACK over a switch and links of 1 us.
fn round_trip() -> Time {
    SEGMENT * 2 + ACK * 2 + Time::from_us(4)
}

/// From the first bit of a segment at its sender to its last at the receiver.
fn one_way() -> Time {
    SEGMENT * 2 + Time::from_us(2)
}

/// When the last of `n` segments arrives if the first is sent at `opened` and `initial` may be in
/// flight. Each round trip sends twice as many as the one before, back to back, until a round
/// takes longer than the first ACK for it: from then on the wire never rests.
fn slow_start(n: u64, initial: u64, opened: Time) -> Time {
    let (mut sent, mut round, mut start) = (0, initial, opened);
    while n > sent + round && SEGMENT * round < round_trip() {
        sent += round;
        round *= 2;
        start += round_trip();
    }
    start + SEGMENT * (n - sent - 1) + one_way()
}

#[test]
fn a_lone_flow_takes_the_rounds_of_slow_start() {
    for initial in [1, 3, 10, 40] {
        for n in [1, 2, 3, 4, 9, 10, 11, 12, 30, 31, 32, 70, 71, 500, 3_000] {
            let mut cfg = tcp("pfc");
            cfg.tcp.initial_window = count(initial);
            let out = run(&star(2, "1us"), &[flow(0, 1, segments(n))], &cfg);
            let expected = slow_start(n, u64::from(initial), Time::ZERO);
            let f = &out.flows[0];
            assert_eq!(f.fct(), Some(expected), "{n} segments from {initial}");
            assert_eq!(f.fct_ack(), Some(expected + ACK * 2 + Time::from_us(2)));
            // alone and without windows it is one train of segments
            assert_eq!(f.ideal(), Some(SEGMENT * (n - 1) + one_way()));
            assert_eq!((f.packets, f.retransmitted(), f.timeouts()), (n, 0, 0));
        }
    }
}

/// SYN and SYN-ACK are short frames that cross two links each. They count in both completion times,
/// and not as data.
#[test]
fn a_handshake_takes_a_round_trip_of_short_frames() {
    let mut cfg = tcp("pfc");
    cfg.tcp.handshake = Handshake::Packets;
    let opened = ACK * 4 + Time::from_us(4);
    for n in [1, 11, 31] {
        let late = FlowSpec { start: Time::from_us(7), ..flow(0, 1, segments(n)) };
        let out = run(&star(2, "1us"), &[late], &cfg);
        let f = &out.flows[0];
        assert_eq!(f.tcp().unwrap().opened, Some(f.start + opened));
        assert_eq!(f.fct(), Some(slow_start(n, 10, opened)));
        assert_eq!(f.fct_ack(), Some(slow_start(n, 10, opened) + ACK * 2 + Time::from_us(2)));
        assert_eq!((f.packets, out.totals.data_sent), (n, n));
        assert_eq!(out.totals.acks_sent, n + 2, "a SYN, a SYN-ACK, and the ACKs");
    }
}

/// A handshake without packets takes the base round-trip time of the network.
#[test]
fn a_handshake_may_be_a_delay() {
    let mut cfg = tcp("pfc");
    cfg.tcp.handshake = Handshake::Delay;
    let out = run(&star(2, "1us"), &[flow(0, 1, segments(1))], &cfg);
    let opened = out.flows[0].tcp().unwrap().opened.unwrap();
    // cables, and two times the payload on two links
    assert_eq!(opened, Time::from_us(4) + Time::from_ps(2 * 1460 * 80));
    assert_eq!(out.flows[0].fct(), Some(opened + one_way()));
    assert_eq!(out.totals.acks_sent, 1);
}

/// The first segment is alone, so its ACK waits for the timer; the next two share one.
#[test]
fn a_delayed_ack_is_sent_by_its_timer() {
    let mut cfg = tcp("pfc");
    cfg.tcp.initial_window = count(1);
    cfg.tcp.ack_every = count(2);
    cfg.tcp.ack_delay = Time::from_us(50);
    let out = run(&star(2, "1us"), &[flow(0, 1, segments(3))], &cfg);
    let first = round_trip() + Time::from_us(50);
    assert_eq!(out.flows[0].fct(), Some(first + SEGMENT + one_way()));
    assert_eq!((out.totals.acks_sent, out.totals.timeouts), (2, 0));
    assert_eq!(out.finish, Finish::Drained);
}

/// With the receive window as large as three segments, three are sent per round trip.
#[test]
fn the_receive_window_bounds_what_is_in_flight() {
    let mut cfg = tcp("pfc");
    cfg.tcp.receive_window = Bytes::new(segments(3));
    let out = run(&star(2, "1us"), &[flow(0, 1, segments(30))], &cfg);
    assert_eq!(out.flows[0].fct(), Some(round_trip() * 9 + SEGMENT * 2 + one_way()));
}

/// Both NIC disciplines send the same where there is one flow, and so does any switch model.
#[test]
fn queues_of_the_nic_do_not_matter_to_a_lone_flow() {
    let mut cfg = tcp("pfc");
    cfg.nic.discipline = NicDiscipline::Fifo;
    let out = run(&star(2, "1us"), &[flow(0, 1, segments(71))], &cfg);
    assert_eq!(out.flows[0].fct(), Some(slow_start(71, 10, Time::ZERO)));
}

/// An open-ended flow that stops is over when what it sent is acknowledged, also when it stops
/// before its handshake is done.
#[test]
fn an_open_ended_flow_ends_when_it_stops() {
    for (stop, any) in [(Time::from_us(30), true), (Time::from_us(2), false)] {
        let mut cfg = tcp("pfc");
        cfg.tcp.handshake = Handshake::Packets;
        cfg.stop = Stop::At(Time::from_ms(100));
        let endless = FlowSpec { stop: Some(stop), ..flow(0, 1, u64::MAX) };
        let out = run(&star(2, "1us"), &[endless], &cfg);
        assert_eq!(out.finish, Finish::Drained);
        let f = &out.flows[0];
        assert_eq!((f.packets > 0, f.delivered.get()), (any, segments(f.packets)));
    }
}

/// A constant-rate source beside TCP stays a datagram source.
#[test]
fn a_constant_rate_source_is_no_tcp_flow() {
    let source = FlowSpec {
        rate: Some(weir_core::Rate::from_gbps(12)),
        stop: Some(Time::from_us(100)),
        ..flow(0, 1, u64::MAX)
    };
    let out = run(&star(3, "1us"), &[source, flow(2, 1, segments(100))], &tcp("pfc"));
    assert_eq!(out.finish, Finish::Drained);
    let datagrams = &out.flows[0];
    assert_eq!((datagrams.tcp(), datagrams.acked()), (None, None));
    assert_eq!(out.totals.acks_sent, 100);
}

#[test]
fn settings_of_other_transports_are_refused_with_tcp() {
    let fails = |cfg: &weir_sim::Config, says: &str| {
        let error = crate::common::try_run(&star(2, "1us"), &[flow(0, 1, 1)], cfg).unwrap_err();
        assert!(matches!(error, SimError::Setting { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    let mut cfg = tcp("pfc");
    cfg.cc = weir_cc::CcParams::new(weir_cc::CcKind::Dcqcn);
    fails(&cfg, "congestion control");
    let mut cfg = tcp("pfc");
    cfg.nic.timeout = Some(Time::from_ms(1));
    fails(&cfg, "timeout");
    let mut cfg = tcp("pfc");
    cfg.nic.window = weir_sim::config::WindowConfig::Unlimited;
    fails(&cfg, "window");
    let mut cfg = crate::config("pfc");
    cfg.nic.acks_with_data = true;
    fails(&cfg, "ack-priority");
}
