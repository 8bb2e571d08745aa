//! ECN: how marks slow flows down, and how flows share a link.

use crate::common::{flow, run, star};
use crate::{ACK, SEGMENT, segments, tcp};
use weir_cc::tcp::EcnMode;
use weir_core::{Bytes, Ratio, Time};
use weir_sim::config::{EcnAt, EcnConfig, Stop, ThresholdConfig};
use weir_sim::{Config, Outcome};

/// From the start of a segment to its ACK over a switch and links of 1 us, without queueing.
fn round_trip() -> Time {
    SEGMENT * 2 + ACK * 2 + Time::from_us(4)
}

/// Switches mark what leaves more than `packets` behind, and never pause or drop.
fn marking(ecn: EcnMode, packets: u64) -> Config {
    let mut cfg = tcp("none");
    cfg.switch.thresholds = ThresholdConfig::Pool;
    cfg.tcp.ecn = ecn;
    let k = Bytes::new(packets * 1518);
    let pmax = Ratio::new(1, 1).expect("one is not zero");
    cfg.switch.ecn = Some(EcnConfig { kmin: k, kmax: k, pmax });
    cfg
}

/// Two flows into one link for 2 ms.
fn two(cfg: &Config) -> Outcome {
    let cfg = Config { stop: Stop::At(Time::from_ms(2)), ..cfg.clone() };
    run(&star(3, "1us"), &[flow(0, 2, u64::MAX), flow(1, 2, u64::MAX)], &cfg)
}

/// The port of the switch to the receiver.
fn queue(out: &Outcome) -> &weir_sim::outcome::PortRecord {
    out.ports.iter().find(|p| p.node.0 == 3 && p.port.0 == 2).expect("it sent something")
}

/// Marks are echoed by every ACK until the sender says that it has reacted, and whole windows are
/// marked; the window is cut once per round trip nevertheless.
#[test]
fn marks_cut_the_window_once_per_round_trip() {
    for ecn in [EcnMode::Rfc3168, EcnMode::Dctcp] {
        let out = two(&marking(ecn, 5));
        for f in &out.flows {
            let cuts = f.tcp().unwrap().ecn_cuts;
            let most = out.end.as_ps() / round_trip().as_ps() + 1;
            assert!((20..=most).contains(&cuts), "{ecn:?}: {cuts} cuts, {most} round trips");
        }
        assert!(queue(&out).ecn_marked > 4 * out.totals.ecn_cuts, "{ecn:?}: {:?}", out.totals);
        assert_eq!((out.totals.dropped, out.totals.timeouts), (0, 0));
    }
}

/// Marks keep the queue near the threshold; without them it grows to what the windows allow.
#[test]
fn without_ecn_nothing_is_marked_and_the_queue_grows() {
    let mut cfg = marking(EcnMode::Off, 5);
    cfg.tcp.receive_window = Bytes::new(segments(200));
    let out = two(&cfg);
    assert_eq!((queue(&out).ecn_marked, out.totals.ecn_cuts), (0, 0));
    // 400 segments in flight, of which 35 are on their way without queueing
    let longest = queue(&out).queue.max.get() / 1518;
    assert!((400 - 36..400).contains(&longest), "{longest}");
    cfg.tcp.ecn = EcnMode::Rfc3168;
    let longest = queue(&two(&cfg)).queue.max.get() / 1518;
    assert!(longest < 100, "{longest}");
}

/// With a threshold far below the bandwidth-delay product of 40 segments, halving leaves the link
/// idle; DCTCP cuts by the marked fraction and keeps it busier.
#[test]
fn dctcp_needs_less_queue_for_the_same_throughput() {
    let [reno, dctcp] = [EcnMode::Rfc3168, EcnMode::Dctcp].map(|ecn| {
        let cfg = Config { stop: Stop::At(Time::from_ms(2)), ..marking(ecn, 5) };
        let params = weir_net::build::dumbbell::Params {
            rate: weir_core::Rate::from_gbps(100),
            trunk_rate: weir_core::Rate::from_gbps(40),
            delay: Time::from_us(2),
            trunk_delay: Time::from_us(2),
            ..weir_net::build::dumbbell::Params::default()
        };
        let topology = weir_net::build::dumbbell::build(&params).unwrap();
        let last = topology.hosts().len() as u32 - 1;
        run(&topology, &[flow(0, last, u64::MAX)], &cfg).flows[0].delivered.get()
    });
    assert!(dctcp > reno, "{dctcp} {reno}");
    // 40 Gb/s for 2 ms, less headers
    let capacity = 40e9 / 8.0 * 2e-3 * 1460.0 / 1538.0;
    assert!(dctcp as f64 > 0.9 * capacity, "{dctcp} of {capacity}");
}

/// Two flows with equal round trips get equal shares, also when one starts late.
#[test]
fn two_flows_share_a_link_fairly() {
    for ecn in [EcnMode::Rfc3168, EcnMode::Dctcp] {
        let mut cfg = marking(ecn, 20);
        cfg.stop = Stop::At(Time::from_ms(20));
        let late = weir_traffic::FlowSpec { start: Time::from_us(500), ..flow(1, 2, u64::MAX) };
        let out = run(&star(3, "1us"), &[flow(0, 2, u64::MAX), late], &cfg);
        let [a, b] = [0, 1].map(|i| out.flows[i].delivered.get() as f64);
        assert!((0.85..1.2).contains(&(a / b)), "{ecn:?}: {a} {b}");
        assert!(queue(&out).utilisation > 0.9, "{ecn:?}: {}", queue(&out).utilisation);
    }
}

/// A retransmission is not ECN-capable under RFC 3168: with every segment marked that leaves one
/// behind, those sent again are not.
#[test]
fn retransmissions_are_not_marked_under_rfc_3168() {
    let marked = |ecn, ecn_at| {
        let mut cfg = marking(ecn, 0);
        cfg.switch.ecn_at = ecn_at;
        cfg.switch.buffer = Bytes::new(20 * 1518);
        // one window each, most of which is lost; what is sent again comes in bursts, too
        cfg.tcp.dup_threshold = None;
        let flows: Vec<_> = (0..8).map(|h| flow(h, 8, segments(10))).collect();
        let out = run(&star(9, "1us"), &flows, &cfg);
        assert!(out.totals.retransmitted > 20);
        let first: u64 =
            out.flows.iter().map(|f| f.packets - f.retransmitted() - f.lost().min(10)).sum();
        (out.ports.iter().map(|p| p.ecn_marked).sum::<u64>(), first)
    };
    for at in [EcnAt::Dequeue, EcnAt::Enqueue] {
        let (rfc, first) = marked(EcnMode::Rfc3168, at);
        assert!(rfc <= first, "{rfc} marks on {first} segments that were sent once and arrived");
        assert!(marked(EcnMode::Dctcp, at).0 > rfc, "{at:?}");
    }
}
