//! Two endpoints: whatever the wire does, every byte is delivered once and in order.

use crate::pair::{Pair, Transfer, Wire};
use crate::traces::{params, window};
use proptest::prelude::*;
use weir_cc::tcp::{EcnMode, Handshake, TcpParams};
use weir_core::Time;

const MSS: u64 = 1460;
/// A lossy transfer of 100 segments takes some hundred packets; timers are asked for at each.
const STEPS: u64 = 20_000;

fn run(params: &TcpParams, size: u64, wire: Wire, seed: u64) -> Transfer {
    Pair::new(params, size, MSS, wire, seed).run(STEPS).expect("the transfer ends")
}

fn in_order(segments: u64) -> Vec<u32> {
    (0..segments as u32).collect()
}

/// Handshake 100 us; 10 segments leave at 2 us each, the last arrives 50 us after the tenth
/// started, and so does its ACK: 100 + 18 + 100 us.
#[test]
fn a_perfect_wire_takes_the_time_of_its_round_trips() {
    let p = TcpParams::default();
    let done = run(&p, 10 * MSS, Wire::default(), 1);
    assert_eq!(done.finished_at, Time::from_us(218));
    assert_eq!((done.sent, done.resent, done.timeouts, done.acks), (10, 0, 0, 10));
    let without = run(&params(), 10 * MSS, Wire::default(), 1);
    assert_eq!(without.finished_at, Time::from_us(118));
    let delay = TcpParams { handshake: Handshake::Delay, ..p };
    assert_eq!(run(&delay, 10 * MSS, Wire::default(), 1), done);
}

/// 5 segments, an ACK for every second one and for the last: 3 ACKs.
#[test]
fn delayed_acks_halve_the_acks() {
    let p = TcpParams { ack_every: window(2), ..params() };
    assert_eq!(run(&p, 5 * MSS, Wire::default(), 1).acks, 3);
    assert_eq!(run(&p, 4 * MSS, Wire::default(), 1).acks, 2);
    assert_eq!(run(&params(), 5 * MSS, Wire::default(), 1).acks, 5);
}

/// With an initial window of one segment each delayed ACK waits for its timer: 40 ms.
#[test]
fn a_single_segment_in_flight_waits_for_the_delayed_ack() {
    let p = TcpParams { ack_every: window(2), initial_window: window(1), ..params() };
    let done = run(&p, 2 * MSS, Wire::default(), 1);
    // 100 us round trip and 40 ms for the first segment, 100 us for the last
    assert_eq!(done.finished_at, Time::from_us(40_200));
    assert_eq!((done.acks, done.resent), (2, 0));
}

/// Jitter of five times the latency reorders heavily. Without a threshold nothing is sent again;
/// with three duplicates much is, for nothing.
#[test]
fn reordering_costs_nothing_without_fast_retransmit() {
    let wire = Wire { jitter: Time::from_us(250), ..Wire::default() };
    let resistant = TcpParams { handshake: Handshake::None, ..TcpParams::reorder_resistant() };
    let calm = run(&resistant, 300 * MSS, wire, 7);
    assert_eq!((calm.resent, calm.timeouts), (0, 0));
    let eager = run(&params(), 300 * MSS, wire, 7);
    assert!(eager.resent > 10, "{}", eager.resent);
    assert!(eager.finished_at > calm.finished_at);
    assert_eq!(calm.delivered, eager.delivered);
}

/// 2 % loss: fast retransmit needs no timeout for most losses, the resistant sender one for each.
#[test]
fn fast_retransmit_saves_timeouts() {
    let wire = Wire { loss: 2, ..Wire::default() };
    let fast = run(&params(), 300 * MSS, wire, 3);
    let slow = run(&TcpParams { dup_threshold: None, ..params() }, 300 * MSS, wire, 3);
    assert!(fast.timeouts < slow.timeouts, "{} {}", fast.timeouts, slow.timeouts);
    assert!(slow.timeouts > 0);
    assert!(fast.finished_at < slow.finished_at);
}

/// Every segment marked: RFC 3168 keeps the window at two segments, and nothing is sent again.
#[test]
fn a_wire_that_marks_everything_is_slow_but_loses_nothing() {
    let wire = Wire { mark: 100, ..Wire::default() };
    for ecn in [EcnMode::Rfc3168, EcnMode::Dctcp] {
        let marked = run(&TcpParams { ecn, ..params() }, 300 * MSS, wire, 3);
        let plain = run(&TcpParams { ecn: EcnMode::Off, ..params() }, 300 * MSS, wire, 3);
        assert_eq!((marked.resent, marked.timeouts), (0, 0));
        assert!(marked.finished_at > plain.finished_at * 3, "{ecn:?}");
    }
}

/// The same seed gives the same transfer.
#[test]
fn a_transfer_is_reproducible() {
    let wire = Wire { loss: 10, repeat: 10, mark: 20, hold: 5, jitter: Time::from_us(80) };
    assert_eq!(run(&params(), 90_000, wire, 5), run(&params(), 90_000, wire, 5));
    assert_ne!(run(&params(), 90_000, wire, 5), run(&params(), 90_000, wire, 6));
}

fn any_params() -> impl Strategy<Value = TcpParams> {
    let ecn = prop_oneof![Just(EcnMode::Off), Just(EcnMode::Rfc3168), Just(EcnMode::Dctcp)];
    let handshake =
        prop_oneof![Just(Handshake::None), Just(Handshake::Delay), Just(Handshake::Packets)];
    let counts = (1u32..12, 1u32..4, 0u32..8, 0u32..3);
    let times = (1u64..20_000, 1u64..3000, 1500u64..40_000_000);
    (ecn, handshake, counts, times).prop_map(
        |(ecn, handshake, (initial, every, dup, limit), (min, delay, receive))| TcpParams {
            ecn,
            handshake,
            initial_window: window(initial),
            ack_every: window(every),
            dup_threshold: std::num::NonZeroU32::new(dup),
            growth_limit: std::num::NonZeroU32::new(limit),
            rto_min: Time::from_us(min),
            ack_delay: Time::from_us(delay),
            receive_window: weir_core::Bytes::new(receive),
            ..TcpParams::default()
        },
    )
}

fn any_wire() -> impl Strategy<Value = Wire> {
    (0u64..=40, 0u64..=30, 0u64..=100, 0u64..=20, 0u64..400).prop_map(
        |(loss, repeat, mark, hold, jitter)| Wire {
            loss,
            repeat,
            mark,
            hold,
            jitter: Time::from_us(jitter),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Every byte exactly once, in order, and it ends, for every combination of options and every
    /// wire that lets a packet through now and then.
    #[test]
    fn every_byte_arrives_once_and_in_order(
        params in any_params(),
        wire in any_wire(),
        size in 0u64..150_000,
        seed in any::<u64>(),
    ) {
        let done = Pair::new(&params, size, MSS, wire, seed).run(STEPS);
        let done = done.expect("the transfer ends");
        prop_assert_eq!(done.bytes, size);
        prop_assert_eq!(done.delivered, in_order(size.div_ceil(MSS).max(1)));
        if wire.loss == 0 && wire.jitter == Time::ZERO && wire.repeat == 0 {
            prop_assert_eq!(done.resent, 0);
        }
    }

    /// A wire that reorders but loses nothing needs no retransmission where fast retransmit is off
    /// and the timeout is longer than any delay.
    #[test]
    fn reordering_alone_never_sends_again(
        params in any_params(),
        jitter in 0u64..400,
        size in 0u64..150_000,
        seed in any::<u64>(),
    ) {
        let params = TcpParams { dup_threshold: None, rto_min: Time::from_ms(10), ..params };
        let wire = Wire { jitter: Time::from_us(jitter), mark: 30, ..Wire::default() };
        let done = Pair::new(&params, size, MSS, wire, seed).run(STEPS);
        let done = done.expect("the transfer ends");
        prop_assert_eq!((done.resent, done.timeouts), (0, 0));
        prop_assert_eq!(done.bytes, size);
    }
}
