//! What is sent again after a loss: everything from there on, or only what is missing.

mod common;

use common::random::case;
use common::{config, flow, run, star};
use proptest::prelude::*;
use weir_cc::{CcKind, CcParams};
use weir_core::{Bytes, LinkId, Time};
use weir_sim::config::{
    EngineConfig, LinkFailure, NicDiscipline, Reliability, ThresholdConfig, WindowConfig,
};
use weir_sim::outcome::DropReason;
use weir_sim::{Config, Finish, Outcome};

const BOTH: [Reliability; 2] = [Reliability::GoBackN, Reliability::SelectiveRepeat];

/// A frame of 1518 B and 20 B of overhead at 100 Gb/s.
const PACKET: Time = Time::from_ps(123_040);

/// A flow over two links of 10 ns at line rate, of which exactly the packets in these places are
/// lost: the sender's link fails for a nanosecond while each is on it. (An ACK is on that link
/// from 36.72 to 53.44 ns after the start of every packet, the packet before it until 10 ns.)
fn lose(places: &[u64], packets: u64, cfg: &Config) -> Outcome {
    let mut cfg = cfg.clone();
    for (earlier, &n) in (0..).zip(places) {
        let down = PACKET * n + silence() * earlier + Time::from_ns(80);
        cfg.failures.push(LinkFailure { link: LinkId(0), down, up: Some(down + Time::from_ns(1)) });
    }
    cfg.convergence = Time::from_ms(1);
    let out = run(&star(2, "10ns"), &[flow(0, 1, packets * 1500)], &cfg);
    assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 1));
    assert_eq!(out.totals.dropped, places.len() as u64);
    assert!(out.drops.iter().all(|d| d.reason == DropReason::LinkDown));
    assert_eq!(out.flows[0].delivered, Bytes::new(packets * 1500));
    out
}

/// How much later everything is after an outage. The link is up again 81 ns after the start of the
/// packet that is lost and takes no data for two packets and 10 ns more; otherwise the next packet
/// would start one packet after the start of this one.
fn silence() -> Time {
    Time::from_ns(81 + 10) + PACKET * 2 - PACKET
}

fn settings(reliability: Reliability, window: WindowConfig) -> Config {
    let mut cfg = config("pfc");
    cfg.nic.reliability = reliability;
    cfg.nic.window = window;
    cfg
}

/// How long a flow of so many packets takes alone.
fn lone(packets: u64) -> Time {
    PACKET * (packets + 1) + Time::from_ns(20)
}

/// Packet 51 arrives 3 packets and 20 ns after the start of number 50, its NACK another 33.44 ns
/// later, when number 53 is on the wire: go-back-N sends 50 to 53 again. Selective repeat sends
/// number 50 after 53, and the flow ends as much earlier as it sends less.
#[test]
fn after_one_loss_selective_repeat_sends_one_packet_again_and_go_back_n_the_window() {
    let run_with = |r| lose(&[50], 100, &settings(r, WindowConfig::Unlimited));
    let [back, repeat] = BOTH.map(run_with);
    assert_eq!(back.flows[0].retransmitted(), 4);
    assert_eq!(repeat.flows[0].retransmitted(), 1);
    assert_eq!(back.flows[0].fct(), Some(lone(100) + silence() + PACKET * 4));
    assert_eq!(repeat.flows[0].fct(), Some(lone(100) + silence() + PACKET));
}

/// The sender's link is down from 5 us to 1.005 ms. Number 40 is lost, the timer fires 100 us after
/// the last ACK, and what is to be sent again waits for the link: the timeout counts once, not ten
/// times, and the rate is cut once.
#[test]
fn a_timeout_counts_once_while_its_packet_waits_to_be_sent_again() {
    let timeouts = BOTH.map(|reliability| {
        let mut cfg = settings(reliability, WindowConfig::Unlimited);
        let (down, up) = (Time::from_us(5), Some(Time::from_us(1_005)));
        cfg.failures.push(LinkFailure { link: LinkId(0), down, up });
        cfg.nic.timeout = Some(Time::from_us(100));
        let out = run(&star(2, "10ns"), &[flow(0, 1, 150_000)], &cfg);
        assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 1));
        out.flows[0].timeouts()
    });
    assert_eq!(timeouts, [1, 1]);
}

/// A window of 4 packets, which a round trip of 2.4 packets never fills: number 50 is lost, 51 to
/// 53 fill it, and the NACK of 51 lets the hole be filled nevertheless.
#[test]
fn a_hole_is_filled_although_the_window_is_full() {
    let window = WindowConfig::Bytes(Bytes::new(6_000));
    // without a timeout nothing else could save the flow
    let out = lose(&[50], 100, &settings(Reliability::SelectiveRepeat, window));
    assert_eq!(out.flows[0].retransmitted(), 1);
}

/// Number 50 is lost and, sent again after 53, lost again. New packets follow all the time, and
/// the timeout comes nevertheless, 20 us after the ACK of 49: long before the 2000 packets are
/// sent, so that the two repetitions are all it costs.
#[test]
fn a_packet_lost_twice_is_sent_again_after_the_timeout_among_new_ones() {
    let mut cfg = settings(Reliability::SelectiveRepeat, WindowConfig::Unlimited);
    cfg.nic.timeout = Some(Time::from_us(20));
    let out = lose(&[50, 54], 2000, &cfg);
    assert_eq!(out.flows[0].retransmitted(), 2);
    assert_eq!(out.flows[0].fct(), Some(lone(2000) + (silence() + PACKET) * 2));
}

/// Two senders share a link of 100 Gb/s. The longest round trip is 2 x (2 us + 120 ns), which is
/// 53 kB or 36 packets: of the 72 that are in flight at most, the pipe holds 35.
#[test]
fn selective_repeat_keeps_one_bandwidth_delay_product_in_flight() {
    let longest_queue = |window: WindowConfig| {
        let mut cfg = config("none");
        cfg.switch.thresholds = ThresholdConfig::Pool;
        cfg.nic.reliability = Reliability::SelectiveRepeat;
        cfg.nic.window = window;
        let flows = [flow(0, 2, 1_500_000), flow(1, 2, 1_500_000)];
        let out = run(&star(3, "1us"), &flows, &cfg);
        assert_eq!(out.totals.dropped, 0);
        out.ports.iter().map(|p| p.queue.max).max().unwrap().get() / 1518
    };
    let capped = longest_queue(WindowConfig::FromCc);
    assert!((72 - 36..=72 - 34).contains(&capped), "{capped}");
    // every second packet of 2000 queues up
    let free = longest_queue(WindowConfig::Unlimited);
    assert!(free > 900, "{free}");
}

/// Bit errors lose 1.2 % of the frames of 12 kbit on each of two links. A round trip is 35
/// packets: go-back-N sends about that many again for each loss outside such a window, selective
/// repeat what was lost, and a little more because answers are lost too.
#[test]
fn selective_repeat_wastes_little_where_go_back_n_wastes_much() {
    let wasted = BOTH.map(|reliability| {
        let mut cfg = config("pfc");
        cfg.link.bit_error_rate = 1e-6;
        cfg.nic.timeout = Some(Time::from_us(100));
        cfg.nic.reliability = reliability;
        let out = run(&star(2, "1us"), &[flow(0, 1, 3_000_000)], &cfg);
        let f = &out.flows[0];
        assert_eq!((&out.finish, f.delivered), (&Finish::Drained, f.size));
        assert!(f.lost() > 30, "{f:?}");
        (f.retransmitted() - f.lost()) as f64 / f.lost() as f64
    });
    assert!(wasted[0] > 10.0 && wasted[1] < 0.2, "{wasted:?}");
}

/// Answers under selective repeat carry a number in the side pool, beside telemetry (HPCC) and
/// past a scheme that tags what it forwards (BFC).
#[test]
fn answers_get_through_beside_telemetry_and_tags() {
    for (scheme, cc) in [("none", CcKind::Hpcc), ("bfc", CcKind::None), ("bfc", CcKind::Hpcc)] {
        let mut cfg = config(scheme);
        cfg.cc = CcParams::new(cc);
        cfg.link.bit_error_rate = 1e-6;
        cfg.nic.timeout = Some(Time::from_ms(1));
        cfg.nic.reliability = Reliability::SelectiveRepeat;
        let flows = [flow(0, 2, 3_000_000), flow(1, 2, 3_000_000)];
        let out = run(&star(3, "1us"), &flows, &cfg);
        assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 2), "{scheme} {cc:?}");
        // 1.2 % of the frames are lost on each of two links, 96 of 4000 on average; what is sent
        // again beyond that is due to lost answers, of which none may be taken for another
        let lost: u64 = out.flows.iter().map(|f| f.lost()).sum();
        let again = out.totals.retransmitted;
        assert!(lost > 50 && (lost..lost * 3 / 2).contains(&again), "{scheme}: {lost}, {again}");
    }
}

#[test]
fn threads_do_not_change_what_is_sent_again() {
    let digest = |engine: EngineConfig| {
        let mut cfg = config("none");
        cfg.nic.reliability = Reliability::SelectiveRepeat;
        cfg.nic.timeout = Some(Time::from_ms(1));
        cfg.engine = engine;
        cfg.cc = CcParams::new(CcKind::Hpcc);
        cfg.link.bit_error_rate = 1e-6;
        let topology = weir_net::build::leaf_spine::build(&Default::default()).unwrap();
        let flows: Vec<_> = (1..6).map(|h| flow(h * 3, 0, 300_000)).collect();
        let out = run(&topology, &flows, &cfg);
        assert!(out.totals.retransmitted > 0);
        out.digest
    };
    let sequential = digest(EngineConfig::Sequential);
    assert_eq!(digest(EngineConfig::Stepwise), sequential);
    assert_eq!(digest(EngineConfig::Window { threads: 2 }), sequential);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Whatever is lost, in either direction, every byte is delivered once. The run itself checks
    /// conservation, all books and per-flow order.
    #[test]
    fn selective_repeat_delivers_every_byte_once(
        case in case(),
        buffer in 4_000u64..60_000,
        fifo in any::<bool>(),
        bits in prop::sample::select(vec![0.0, 1e-7, 1e-6, 1e-5]),
        cc in prop::sample::select(CcKind::ALL),
        from_cc in any::<bool>(),
    ) {
        let mut cfg = case.config("none");
        cfg.switch.thresholds = ThresholdConfig::Pool;
        cfg.switch.buffer = Bytes::new(buffer);
        cfg.link.bit_error_rate = bits;
        cfg.cc = CcParams::new(cc);
        cfg.nic.timeout = Some(Time::from_us(500));
        cfg.nic.reliability = Reliability::SelectiveRepeat;
        if fifo {
            cfg.nic.discipline = NicDiscipline::Fifo;
        }
        if from_cc {
            cfg.nic.window = WindowConfig::FromCc;
        }
        let out = case.run(&cfg);
        case.all_delivered(&out, 1500)?;
    }
}
