//! Losses, and what looks like one.

use crate::common::random::case;
use crate::common::{flow, run, star};
use crate::{ACK, SEGMENT, count, segments, tcp};
use proptest::prelude::*;
use weir_cc::tcp::Handshake;
use weir_core::{Bytes, LinkId, Rate, Time};
use weir_net::{Layer, Topology, TopologyBuilder};
use weir_sim::config::{LinkFailure, NicDiscipline, ThresholdConfig};
use weir_sim::outcome::DropReason;
use weir_sim::{Config, Finish, Outcome};

fn ms(n: u64) -> Time {
    Time::from_ms(n)
}

fn down(link: u32, down: Time, up: Time) -> LinkFailure {
    LinkFailure { link: LinkId(link), down, up: Some(up) }
}

/// A flow of one segment whose receiver cannot be reached for the first 10 ms. The first timeout
/// comes after 1 ms, and each one doubles the next: the segment is sent at 0, 1, 3, 7 and 15 ms.
/// One that is sent when the link recovers waits in the switch until the link takes data: 2
/// segments and 1 us after it has recovered, which is one segment after it has arrived.
#[test]
fn the_timer_backs_off_while_the_receiver_is_away() {
    for (most, sent_at, timeouts) in [(120_000, 15, 4), (4, 11, 4), (1, 10, 10)] {
        let mut cfg = tcp("pfc");
        cfg.tcp.rto_max = ms(most);
        cfg.failures.push(down(1, Time::ZERO, ms(10)));
        let out = run(&star(2, "1us"), &[flow(0, 1, segments(1))], &cfg);
        let f = &out.flows[0];
        let hops = if sent_at == 10 { 3 } else { 2 };
        assert_eq!(f.fct(), Some(ms(sent_at) + SEGMENT * hops + Time::from_us(2)), "max {most} ms");
        assert_eq!((f.timeouts(), f.retransmitted(), f.lost()), (timeouts, timeouts, timeouts));
        assert_eq!(f.packets, timeouts + 1);
    }
}

/// SYNs at 0, 1 and 3 ms, the third of which gets through. Then one segment is in flight at first,
/// and its timeout would be `rto_fallback`.
#[test]
fn a_lost_syn_is_sent_again_and_the_flow_starts_with_one_segment() {
    let mut cfg = tcp("pfc");
    cfg.tcp.handshake = Handshake::Packets;
    cfg.failures.push(down(1, Time::ZERO, ms(2)));
    let out = run(&star(2, "1us"), &[flow(0, 1, segments(2))], &cfg);
    let f = &out.flows[0];
    let opened = ms(3) + ACK * 4 + Time::from_us(4);
    assert_eq!(f.tcp().unwrap().opened, Some(opened));
    let round_trip = SEGMENT * 2 + ACK * 2 + Time::from_us(4);
    assert_eq!(f.fct(), Some(opened + round_trip + SEGMENT * 2 + Time::from_us(2)));
    assert_eq!((f.timeouts(), f.retransmitted()), (2, 0));
    assert_eq!((f.lost(), f.answers_lost()), (0, 2), "the SYNs are no data");
}

/// A flow of 100 segments over two links of 10 ns that sends all at once, of which exactly number
/// 50 is lost: the sender's link fails for a nanosecond while it is on it.
fn lose_one(threshold: Option<u32>) -> Outcome {
    let mut cfg = tcp("pfc");
    cfg.tcp.initial_window = count(100);
    cfg.tcp.dup_threshold = threshold.map(count);
    let at = SEGMENT * 50 + Time::from_ns(80);
    cfg.failures.push(down(0, at, at + Time::from_ns(1)));
    cfg.convergence = ms(1);
    let out = run(&star(2, "10ns"), &[flow(0, 1, segments(100))], &cfg);
    assert_eq!((&out.finish, out.totals.dropped), (&Finish::Drained, 1));
    assert_eq!(out.flows[0].delivered, Bytes::new(segments(100)));
    out
}

/// Duplicate ACKs repair the loss in a few round trips of 0.3 us.
#[test]
fn duplicate_acks_repair_a_loss() {
    let f = &lose_one(Some(3)).flows[0];
    assert_eq!((f.tcp().unwrap().fast_retransmits, f.retransmitted(), f.timeouts()), (1, 1, 0));
    assert!(f.fct().unwrap() < SEGMENT * 150, "{:?}", f.fct());
}

/// Without fast retransmit the timer does, 1 ms after the last ACK of something new, which is that
/// of number 49. It waits until the link that has failed takes data again: 2 segments and 10 ns
/// after it was up, which was 81 ns after the start of number 50. All later segments have arrived
/// and are kept: none of them is sent again.
#[test]
fn without_fast_retransmit_the_timer_repairs_a_loss() {
    let f = &lose_one(None).flows[0];
    assert_eq!((f.tcp().unwrap().fast_retransmits, f.retransmitted(), f.timeouts()), (0, 1, 1));
    let last_new = SEGMENT * (50 + 2) + Time::from_ns(81 + 10) + ACK + Time::from_ns(10);
    assert_eq!(f.fct(), Some(last_new + ms(1) + SEGMENT * 2 + Time::from_ns(20)));
}

/// h0 and h1 joined by a short way and, over two more switches, a long one of 10 us.
fn detour() -> Topology {
    let (rate, us) = (Rate::from_gbps(100), Time::from_us);
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(2);
    let s: Vec<_> = (0..4).map(|i| b.add_switch(format!("s{i}"), Layer::Tor, i)).collect();
    for (a, z, delay) in [
        (s[0], s[1], us(1)),
        (hosts[0], s[0], us(1)),
        (hosts[1], s[1], us(1)),
        (s[0], s[2], us(3)),
        (s[2], s[3], us(4)),
        (s[3], s[1], us(3)),
    ] {
        b.connect(a, z, rate, delay);
    }
    b.finish().expect("builds")
}

/// The short way is down at first. When it is back, what follows overtakes what is on the long way:
/// about 10 us of segments arrive late, none is lost.
fn overtake(threshold: Option<u32>) -> Outcome {
    let mut cfg = tcp("pfc");
    cfg.tcp.dup_threshold = threshold.map(count);
    cfg.failures.push(down(0, Time::ZERO, Time::from_us(300)));
    let out = run(&detour(), &[flow(0, 1, segments(6_000))], &cfg);
    assert_eq!((&out.finish, out.totals.dropped), (&Finish::Drained, 0));
    assert!(out.totals.reordered > 50, "{:?}", out.totals);
    assert_eq!(out.flows[0].delivered, out.flows[0].size);
    out
}

/// Early segments of the short way and late ones of the long way come in turns, so that there is
/// one duplicate ACK at a time.
#[test]
fn reordering_looks_like_loss_to_fast_retransmit_and_to_nothing_else() {
    let f = &overtake(Some(1)).flows[0];
    assert!(f.tcp().unwrap().fast_retransmits > 0 && f.retransmitted() > 0, "{f:?}");
    for threshold in [Some(3), None] {
        let f = &overtake(threshold).flows[0];
        assert_eq!((f.tcp().unwrap().fast_retransmits, f.retransmitted(), f.timeouts()), (0, 0, 0));
    }
}

/// Sixteen senders of ten segments each into a buffer of twenty frames: most of the first window is
/// lost, and with nothing behind it to cause duplicate ACKs the timers repair it.
fn incast(threshold: Option<u32>) -> Outcome {
    let mut cfg = tcp("none");
    cfg.tcp.dup_threshold = threshold.map(count);
    cfg.switch.thresholds = ThresholdConfig::Pool;
    cfg.switch.buffer = Bytes::new(20 * 1518);
    let flows: Vec<_> = (0..16).map(|h| flow(h, 16, segments(10))).collect();
    let out = run(&star(17, "1us"), &flows, &cfg);
    assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 16));
    assert!(out.drops.iter().all(|d| d.reason == DropReason::BufferFull));
    assert!(out.flows.iter().all(|f| f.delivered == f.size && f.retransmitted() >= f.lost()));
    out
}

#[test]
fn an_incast_that_overflows_a_buffer_ends_by_timeouts() {
    for threshold in [Some(3), None] {
        let out = incast(threshold);
        assert!(out.totals.dropped > 50 && out.totals.timeouts > 8, "{:?}", out.totals);
        // who has lost something waits for a timer, which takes a thousand times a round trip
        for f in out.flows.iter().filter(|f| f.timeouts() > 0) {
            assert!(f.fct().unwrap() > ms(1), "{f:?}");
        }
    }
    assert_eq!(incast(None).totals.fast_retransmits, 0);
}

/// A trunk fails under the flows for 2 ms and comes back.
#[test]
fn a_failed_link_is_outlived() {
    let params = weir_net::build::dumbbell::Params {
        left: 2,
        right: 2,
        trunks: 1,
        ..weir_net::build::dumbbell::Params::default()
    };
    let topology = weir_net::build::dumbbell::build(&params).unwrap();
    let trunk =
        topology.links().iter().position(|l| !topology.is_host(l.a.0) && !topology.is_host(l.b.0));
    for scheme in ["pfc", "none"] {
        let mut cfg = tcp(scheme);
        cfg.failures.push(down(trunk.unwrap() as u32, Time::from_us(20), ms(2)));
        let flows = [flow(0, 2, segments(2_000)), flow(1, 3, segments(2_000))];
        let out = run(&topology, &flows, &cfg);
        assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 2), "{scheme}");
        assert!(out.totals.timeouts >= 2 && out.totals.dropped > 0, "{:?}", out.totals);
    }
}

fn lossy(cfg: &mut Config, buffer: u64, bits: f64) {
    cfg.switch.thresholds = ThresholdConfig::Pool;
    cfg.switch.buffer = Bytes::new(buffer);
    cfg.link.bit_error_rate = bits;
    cfg.tcp.rto_max = ms(50);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    /// Whatever is lost, in either direction, every byte is delivered once. The run itself checks
    /// conservation, all books and per-flow order.
    #[test]
    fn tcp_delivers_every_byte_once(
        case in case(),
        buffer in 4_000u64..60_000,
        fifo in any::<bool>(),
        with_data in any::<bool>(),
        bits in prop::sample::select(vec![0.0, 1e-7, 1e-6, 1e-5]),
        threshold in prop::option::of(1u32..6),
    ) {
        let mut cfg = tcp("none");
        cfg.seed = case.seed;
        lossy(&mut cfg, buffer, bits);
        cfg.tcp.handshake = Handshake::Packets;
        cfg.tcp.dup_threshold = threshold.map(count);
        cfg.nic.acks_with_data = with_data;
        if fifo {
            cfg.nic.discipline = NicDiscipline::Fifo;
        }
        let out = case.run(&cfg);
        case.all_delivered(&out, 1460)?;
    }
}
