//! Wires: failure and recovery, bit errors, control frames among data.

mod common;

use common::{DATA, config, flow, run, set, star};
use weir_core::{Bytes, LinkId, PortId, Rate, Time};
use weir_net::build::{self, leaf_spine};
use weir_net::{Layer, TopologyBuilder};
use weir_sim::config::{EngineConfig, IngressLimit, LinkFailure, Routing, Stop, ThresholdConfig};
use weir_sim::outcome::{DropReason, PauseScope};
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::FlowSpec;

fn us(n: u64) -> Time {
    Time::from_us(n)
}

/// The receiver's link is down from 10 to 50 us: what was queued for it or in flight is lost,
/// and sent again after the timeout.
#[test]
fn a_failed_link_loses_what_is_on_it_and_recovers() {
    let mut cfg = config("pfc");
    cfg.failures.push(LinkFailure { link: LinkId(1), down: us(10), up: Some(us(50)) });
    cfg.nic.timeout = Some(us(100));
    let out = run(&star(2, "1us"), &[flow(0, 1, 300_000)], &cfg);
    assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 1));
    // routes change at once here: what is on its way finds no route, what was queued or in
    // flight is lost with the link
    for d in &out.drops {
        assert!(matches!(d.reason, DropReason::LinkDown | DropReason::NoRoute), "{d:?}");
        assert!(d.first >= us(10) && d.first < us(51), "{d:?}");
    }
    assert!(out.drops.iter().any(|d| d.reason == DropReason::LinkDown));
    assert!(out.totals.retransmitted > 0);
    assert!(out.flows[0].fct().unwrap() > us(110), "{:?}", out.flows[0].fct());
}

/// What comes from outside comes first at an instant: a packet that reaches the switch as its way
/// out fails is lost there, not on the wire; one that the host would send as its link fails
/// is not sent.
#[test]
fn a_failure_comes_before_the_packets_of_its_instant() {
    let fails = |link, at| {
        let mut cfg = config("pfc");
        cfg.failures.push(LinkFailure { link: LinkId(link), down: at, up: None });
        cfg.convergence = us(50);
        cfg.stop = Stop::At(us(20));
        run(&star(2, "1us"), &[flow(0, 1, 3000)], &cfg)
    };
    // 1538 B take 123.04 ns and the cable 1 us; node 2 is the switch
    let out = fails(1, Time::from_ps(1_123_040));
    let lost: Vec<_> = out.drops.iter().map(|d| (d.node.0, d.reason, d.packets)).collect();
    assert_eq!(lost, [(2, DropReason::LinkDown, 2)]);
    let out = fails(0, Time::from_ps(123_040));
    assert_eq!(out.totals.data_sent, 1, "{:?}", out.totals);
}

/// Two of the four links between a leaf and its spines are down from the start, one of them for
/// 300 us: no route leads over them, so nothing is lost while routes would converge.
#[test]
fn a_link_that_is_down_from_the_start_is_on_no_route() {
    let topology = build::leaf_spine::build(&leaf_spine::Params {
        leaves: 2,
        spines: 4,
        hosts_per_leaf: 4,
        ..leaf_spine::Params::default()
    })
    .expect("builds");
    let between = |spine: &str| {
        let [a, b] = ["leaf0", spine].map(|n| topology.find(n).expect("a switch"));
        topology.links_between(a, b).expect("a link")[0]
    };
    let mut cfg = config("pfc");
    cfg.convergence = us(100);
    cfg.failures = vec![
        LinkFailure { link: between("spine0"), down: Time::ZERO, up: None },
        LinkFailure { link: between("spine1"), down: Time::ZERO, up: Some(us(300)) },
    ];
    let flows: Vec<FlowSpec> = (0..4).map(|h| flow(h, h + 4, 1_000_000)).collect();
    let out = run(&topology, &flows, &cfg);
    assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 4));
    assert_eq!(out.totals.dropped, 0, "{:?}", out.drops);
}

/// Six senders, the link of one of which fails while its switch has paused it: the log then says
/// that it is released, and what is paused after the recovery is a pause of its own.
#[test]
fn the_pause_log_alternates_across_a_failure() {
    let mut cfg = config("pfc");
    cfg.failures.push(LinkFailure { link: LinkId(0), down: us(20), up: Some(us(30)) });
    cfg.nic.timeout = Some(us(50));
    let flows: Vec<FlowSpec> = (0..6).map(|h| flow(h, 6, 1_000_000)).collect();
    let out = run(&star(7, "1us"), &flows, &cfg);
    assert_eq!(out.totals.completed, 6);
    let log: Vec<(Time, bool)> = out
        .pauses
        .iter()
        .filter(|e| e.port == PortId(0) && e.priority == DATA)
        .map(|e| (e.at, e.pause))
        .collect();
    assert_eq!(log.first().map(|e| e.1), Some(true));
    assert!(log.windows(2).all(|pair| pair[0].1 != pair[1].1), "{log:?}");
    assert!(log.contains(&(us(20), false)), "{log:?}");
    assert!(log.iter().any(|&(at, pause)| at > us(30) && pause), "{log:?}");
    assert!(!log.iter().any(|&(at, _)| at > us(20) && at < us(30)), "{log:?}");
}

/// The link of a sender fails while its switch holds pauses of every kind that schemes know: the
/// log says once that all of them are lifted, and what is paused after the recovery is new.
#[test]
fn a_failure_lifts_every_pause_in_the_log_whatever_it_named() {
    for scheme in ["gfc", "ofc", "bfc", "ideal", "flowsail", "ffc"] {
        let mut cfg = config(scheme);
        cfg.failures.push(LinkFailure { link: LinkId(0), down: us(20), up: Some(us(30)) });
        cfg.nic.timeout = Some(us(50));
        let flows: Vec<FlowSpec> = (0..6).map(|h| flow(h, 6, 1_000_000)).collect();
        let out = run(&star(7, "1us"), &flows, &cfg);
        assert_eq!(out.totals.completed, 6, "{scheme}");
        let own = |at: Time| out.pauses.iter().filter(move |e| e.port == PortId(0) && e.at == at);
        let lifted: Vec<_> = own(us(20)).map(|e| (e.pause, e.scope, e.flows)).collect();
        assert_eq!(lifted, [(false, PauseScope::All, 0)], "{scheme}");
        let before = out.pauses.iter().rfind(|e| e.port == PortId(0) && e.at < us(20));
        assert!(before.is_some_and(|e| e.pause), "{scheme} had paused it: {before:?}");
    }
}

/// OFC's switch ports are paused, in the urgent state or draining when their links fail for good:
/// a port that is down is at rest, or the run would end with a violated invariant.
#[test]
fn ofc_is_at_rest_at_a_port_that_has_failed() {
    let topology = build::leaf_spine::build(&leaf_spine::Params {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 3,
        ..leaf_spine::Params::default()
    })
    .expect("builds");
    let spine = topology.find("spine0").expect("a spine");
    for leaf in ["leaf0", "leaf1", "leaf2"] {
        let leaf = topology.find(leaf).expect("a leaf");
        let link = topology.links_between(spine, leaf).expect("joined")[0];
        for down in (2..40).step_by(2).map(us) {
            let mut cfg = config("ofc");
            cfg.failures.push(LinkFailure { link, down, up: None });
            cfg.nic.timeout = Some(us(100));
            let flows: Vec<FlowSpec> = (1..9).map(|h| flow(h, 0, 400_000)).collect();
            let out = run(&topology, &flows, &cfg);
            assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 8), "{down}");
        }
    }
}

/// The link is down from 10 to 50 us, by two outages that overlap: it is not up from 30 us on,
/// when the shorter one ends.
#[test]
fn a_link_is_up_when_no_outage_lasts() {
    let mut cfg = config("pfc");
    for (down, up) in [(20, 30), (10, 50)] {
        cfg.failures.push(LinkFailure { link: LinkId(1), down: us(down), up: Some(us(up)) });
    }
    cfg.nic.timeout = Some(us(100));
    let two = run(&star(2, "1us"), &[flow(0, 1, 300_000)], &cfg);
    cfg.failures.remove(0);
    let one = run(&star(2, "1us"), &[flow(0, 1, 300_000)], &cfg);
    assert_eq!((two.digest, two.totals.dropped), (one.digest, one.totals.dropped));
}

/// Clocks end at 2^46 ps: a run with a flow that starts later does not end as drained.
#[test]
fn traffic_beyond_the_longest_time_is_not_over() {
    let late = FlowSpec { start: Time::from_ms(71_000), ..flow(0, 1, 1000) };
    let outcome = common::try_run(&star(2, "1us"), &[late], &config("pfc")).unwrap();
    assert_eq!((outcome.finish, outcome.end), (Finish::TimeLimit, weir_sim::HORIZON));
    let mut cfg = config("pfc");
    cfg.stop = Stop::At(Time::from_ms(71_000));
    let error = common::try_run(&star(2, "1us"), &[late], &cfg).unwrap_err();
    assert!(error.to_string().starts_with("until is 71 s"), "{error}");
}

/// Two leaves, two spines. A spine link fails for good: after the convergence delay all traffic
/// takes the other spine.
#[test]
fn routes_move_away_from_a_failed_link_after_the_convergence_delay() {
    let topology = build::leaf_spine::build(&leaf_spine::Params {
        leaves: 2,
        spines: 2,
        hosts_per_leaf: 4,
        ..leaf_spine::Params::default()
    })
    .unwrap();
    let failed = topology
        .links_between(topology.find("leaf0").unwrap(), topology.find("spine0").unwrap())
        .unwrap()[0];
    let mut cfg = config("pfc");
    cfg.failures.push(LinkFailure { link: failed, down: us(5), up: None });
    cfg.convergence = us(20);
    cfg.nic.timeout = Some(us(100));
    let flows: Vec<FlowSpec> = (0..4).map(|h| flow(h, 4 + h, 500_000)).collect();
    let out = run(&topology, &flows, &cfg);
    assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 4));
    let last_loss = out.drops.iter().map(|d| d.first).max();
    assert!(last_loss.is_some(), "one of four flows hashes onto the failed link");
    // from 25 us on nothing leaves leaf0 towards spine0
    let leaf = topology.find("leaf0").unwrap();
    let towards = |spine: &str| {
        let port = topology.port_towards(leaf, topology.find(spine).unwrap()).unwrap();
        out.ports.iter().find(|p| p.node == leaf && p.port == port).map_or(0, |p| p.packets)
    };
    assert!(towards("spine1") > 3 * towards("spine0"));
}

#[test]
fn up_down_routing_carries_traffic_too() {
    let topology = build::leaf_spine::build(&leaf_spine::Params::default()).unwrap();
    let mut cfg = config("pfc");
    cfg.routing = Routing::UpDown;
    let last = topology.hosts().len() as u32 - 1;
    let out = run(&topology, &[flow(0, last, 100_000)], &cfg);
    assert_eq!(out.totals.completed, 1);
}

/// At a bit error rate of 10^-6 a frame of 12 144 bits is lost with probability 1.21 %: in 20 000
/// frames 243 +- 15.6 are expected. (Datagrams: nothing is sent twice.)
#[test]
fn bit_errors_lose_the_expected_share_of_frames() {
    let mut cfg = config("none");
    cfg.link.bit_error_rate = 1e-6;
    let source = FlowSpec { rate: Some(Rate::from_gbps(50)), ..flow(0, 1, 10_000 * 1500) };
    let out = run(&star(2, "1us"), &[source], &cfg);
    // over two hops: 2 * 10 000 chances, less those already lost
    let expected = 10_000.0 * (1.0 - (1.0 - 0.012_07f64).powi(2));
    let lost = out.flows[0].lost() as f64;
    assert!((lost - expected).abs() < 5.0 * expected.sqrt(), "{lost} of about {expected}");
    assert!(out.drops.iter().all(|d| d.reason == DropReason::BitError));
}

/// XOFF at 15 KB, reached by h0 at 19T + 1 us with T = 123.04 ns (the hand calculation in
/// `pfc.rs`); a run that ends before the RESUME.
fn early_pause() -> Config {
    let mut cfg = config("pfc");
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::new(15_000),
        xon: Bytes::new(6_000),
        limit: IngressLimit::Lossless,
    };
    cfg.stop = Stop::At(us(6));
    cfg
}

/// How long host `h` was held.
fn held(out: &Outcome, h: u32) -> Time {
    out.ports.iter().find(|p| p.node.0 == h).unwrap().held_time[DATA.index()]
}

/// h0 and h2 send to h3, and h1 sends to h0, 50 ns later: the frames on sw0 -> h0 start at
/// kT + 1.05 us, back to back. The PAUSE for h0 is decided at 19T + 1 us, 50 ns before a frame
/// ends; it waits for that frame, goes before the next one that waits by then, takes 6.72 ns and
/// the cable. (One ACK of h0's first packet has passed on that wire at 3.253 us and has shifted
/// the frames by its 6.72 ns.)
#[test]
fn a_control_frame_waits_for_the_frame_on_the_wire_and_overtakes_the_queue() {
    let late = FlowSpec { start: Time::from_ns(50), ..flow(1, 0, 3_000_000) };
    let flows = [late, flow(0, 3, 3_000_000), flow(2, 3, 3_000_000)];
    let out = run(&star(4, "1us"), &flows, &early_pause());
    let t = 123_040;
    let pause = out.pauses.iter().find(|e| e.pause && e.port == PortId(0)).unwrap();
    assert_eq!(pause.at, Time::from_ps(19 * t + 1_000_000));
    let held_at = Time::from_ps(19 * t + 1_050_000 + 6_720 + 6_720 + 1_000_000);
    assert_eq!(held(&out, 0), us(6) - held_at);
}

/// With a response time the hold starts later by just that.
#[test]
fn a_response_time_delays_the_hold_by_just_that() {
    let flows = [flow(0, 2, 3_000_000), flow(1, 2, 3_000_000)];
    let mut cfg = early_pause();
    let at_once = held(&run(&star(3, "1us"), &flows, &cfg), 0);
    cfg.link.response = Time::from_ns(700).into();
    let later = held(&run(&star(3, "1us"), &flows, &cfg), 0);
    assert_eq!(at_once - later, Time::from_ns(700));
}

/// A switch that nothing is connected to has routes to learn and statistics to begin, like others.
#[test]
fn a_switch_without_links_harms_nobody() {
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(3);
    let switch = b.add_switch("connected", Layer::Tor, 0);
    for host in hosts {
        b.connect(host, switch, Rate::from_gbps(100), us(1));
    }
    b.add_switch("alone", Layer::Tor, 0);
    let topology = b.finish().unwrap();
    let mut cfg = config("pfc");
    cfg.probes.warm_up = us(2);
    cfg.failures.push(LinkFailure { link: LinkId(1), down: us(10), up: Some(us(12)) });
    cfg.engine = EngineConfig::Window { threads: 1 };
    let out = run(&topology, &[flow(0, 2, 200_000)], &cfg);
    assert_eq!((out.finish, out.totals.completed), (Finish::Drained, 1));
}

/// A bit error may hit the frame that lifts GFC's last limit: the flows that are over by then do
/// not miss it, and the host stays limited in an empty network. That is no fault of the books.
#[test]
fn a_lost_control_frame_after_the_last_packet_harms_nobody() {
    let mut misheard = 0;
    for seed in 0..100 {
        let mut cfg = config("gfc");
        set(&mut cfg, "mode", "ofc");
        cfg.seed = seed;
        cfg.stop = Stop::At(Time::from_ms(50));
        cfg.link.bit_error_rate = 5e-6;
        cfg.nic.timeout = Some(us(300));
        let flows: Vec<FlowSpec> = (1..5).map(|i| flow(i, 0, 80_000)).collect();
        let out = run(&star(5, "100ns"), &flows, &cfg);
        let lost = out.totals.control_dropped > 0;
        misheard += u32::from(out.finish == Finish::Drained && lost);
    }
    assert!(misheard > 0);
}
