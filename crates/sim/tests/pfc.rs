//! PFC in a whole network: losslessness, exact instants, victims, deadlocks.

mod common;

use common::{config, flow, run, set, star};
use weir_core::{Bytes, NodeId, PortId, Time};
use weir_net::build::{self, ofc_chain, ring};
use weir_sim::config::{Hop, IngressLimit, LinkConfig, ThresholdConfig, headroom};
use weir_sim::outcome::{DropReason, PauseScope};
use weir_sim::{Config, Finish};
use weir_traffic::FlowSpec;

fn thresholds(config: &mut Config, xoff: u64, xon: u64, limit: IngressLimit) {
    config.switch.thresholds =
        ThresholdConfig::Static { xoff: Bytes::new(xoff), xon: Bytes::new(xon), limit };
}

/// Eight hosts send 1 MB each to the ninth at line rate, 100 Gb/s and 1 us.
fn incast() -> Vec<FlowSpec> {
    (0..8).map(|h| flow(h, 8, 1_000_000)).collect()
}

#[test]
fn an_incast_loses_nothing_with_the_headroom_the_link_needs() {
    let mut cfg = config("pfc");
    thresholds(&mut cfg, 75_000, 45_000, IngressLimit::Lossless);
    let out = run(&star(9, "1us"), &incast(), &cfg);
    assert_eq!(out.finish, Finish::Drained);
    assert_eq!((out.totals.dropped, out.totals.completed), (0, 8));
    let pauses: u64 = out.ports.iter().map(|p| p.pauses_sent[3]).sum();
    assert!(pauses >= 8, "every sender is paused, {pauses} PAUSEs");
}

/// Half of the headroom is not enough: 12.5 KB are in flight one way alone.
#[test]
fn an_incast_loses_packets_with_half_the_headroom() {
    let mut cfg = config("pfc");
    let frame = Bytes::new(1518);
    let link = LinkConfig::default();
    let topology = star(9, "1us");
    let wire = &topology.links()[0];
    let need = headroom(wire.rate, wire.delay, &Hop::new(frame), &link);
    let limit = Bytes::new(75_000 + 1517 + need.get() / 2);
    thresholds(&mut cfg, 75_000, 45_000, IngressLimit::Bytes(limit));
    let out = run(&topology, &incast(), &cfg);
    assert!(out.totals.dropped > 0);
    assert!(out.drops.iter().all(|d| d.reason == DropReason::HeadroomExceeded));
    assert_eq!(out.totals.completed, 8, "go-back-N repairs it");
    assert!(out.totals.retransmitted > 0);
}

/// Two senders h0, h1 and a receiver h2 at 100 Gb/s (80 ps/B) and 1 us; xoff 15 000, xon 6000.
///
/// A packet is 1518 B in memory, 1538 B = 123.04 ns (call it T) on the wire. Packet k = 1, 2, ..
/// of each sender reaches the switch at kT + 1 us, h0's just before h1's. The first of h0 leaves at
/// once; from then on the egress sends one packet per T, in order of arrival: h0's number j leaves
/// at (2j - 1)T + 1 us, h1's at 2jT + 1 us. After its arrival k, h0 has k - j packets in memory
/// with j = floor((k + 1)/2) gone before or at that instant, except that at odd k > 1 the departure
/// of number (k + 1)/2 at the same instant comes after the arrival: there j = (k - 1)/2.
///
/// PAUSE when 1518 * count >= 15 000: count 10. h0 reaches 10 first at k = 19 (19 - 9), h1, which
/// loses j = floor(k/2) with even k's departure after its arrival (j = k/2 - 1), at k = 18 (18 -
/// 8): h1 is paused first, at 18T + 1 us, then h0 at 19T + 1 us.
///
/// A PAUSE is 84 B = 6.72 ns on a free wire and 1 us on the cable: h1 stops at 18T + 2006.72 ns.
#[test]
fn pause_and_resume_instants_equal_the_hand_calculation() {
    let mut cfg = config("pfc");
    thresholds(&mut cfg, 15_000, 6_000, IngressLimit::Lossless);
    let out = run(&star(3, "1us"), &[flow(0, 2, 150_000), flow(1, 2, 150_000)], &cfg);
    let t = 123_040;
    let us = 1_000_000;
    let first: Vec<_> = out.pauses.iter().filter(|e| e.pause).take(2).collect();
    assert_eq!((first[0].port, first[0].at), (PortId(1), Time::from_ps(18 * t + us)));
    assert_eq!((first[1].port, first[1].at), (PortId(0), Time::from_ps(19 * t + us)));
    assert!(first.iter().all(|e| e.scope == PauseScope::Priority && e.cause == Some(PortId(2))));
    assert!(first.iter().all(|e| !e.cause_held), "the egress to h2 is the root");

    // h1 has started packets up to the one whose start (k - 1)T is before its PAUSE arrives at
    // 18T + 2 us + 6.72 ns = 34.31T: k = 35. h0's arrives at 35.31T: k = 36. From 37T + 1 us on
    // only departures: h0's j-th at (2j - 1)T + 1 us, h1's at 2jT + 1 us.
    // RESUME when 1518 * count <= 6000: count 3. h1: j = 35 - 3 = 32 leaves at 64T + 1 us;
    // h0: j = 33 at 65T + 1 us.
    let resumes: Vec<_> = out.pauses.iter().filter(|e| !e.pause).take(2).collect();
    assert_eq!((resumes[0].port, resumes[0].at), (PortId(1), Time::from_ps(64 * t + us)));
    assert_eq!((resumes[1].port, resumes[1].at), (PortId(0), Time::from_ps(65 * t + us)));
}

/// `timed` with refresh and `sticky` agree as long as no pause outlasts the refresh interval.
#[test]
fn timed_and_sticky_pauses_give_the_same_result_in_a_short_incast() {
    let mut cfg = config("pfc");
    let timed = run(&star(9, "1us"), &incast(), &cfg);
    set(&mut cfg, "timer", "sticky");
    let sticky = run(&star(9, "1us"), &incast(), &cfg);
    assert_eq!(timed.digest, sticky.digest);
}

/// A pause time shorter than the congestion: refreshes keep it up, nothing is lost.
#[test]
fn short_pauses_are_refreshed() {
    let mut cfg = config("pfc");
    set(&mut cfg, "pause-quanta", "1000");
    let short = run(&star(9, "1us"), &incast(), &cfg);
    let long = run(&star(9, "1us"), &incast(), &config("pfc"));
    assert_eq!(short.totals.dropped, 0);
    assert!(short.totals.control_frames > long.totals.control_frames);
}

/// A response time delays the effect, and the headroom grows with it.
#[test]
fn a_slow_response_is_covered_by_its_headroom() {
    let mut cfg = config("pfc");
    cfg.link.response = Time::from_us(2).into();
    let out = run(&star(9, "1us"), &incast(), &cfg);
    assert_eq!(out.totals.dropped, 0);
    thresholds(&mut cfg, 75_000, 45_000, IngressLimit::Bytes(Bytes::new(75_000 + 1517 + 28_160)));
    let out = run(&star(9, "1us"), &incast(), &cfg);
    assert!(out.totals.dropped > 0, "the headroom of an instant response does not suffice");
}

/// OFC's Fig. 1: F0 shares two links with the congested F1 and is held with it.
#[test]
fn a_victim_is_held_although_its_own_path_is_free() {
    let topology = build::ofc_chain::build(&ofc_chain::Params::default()).unwrap();
    let mut flows = vec![flow(0, 8, 4_200_000), flow(1, 9, 4_200_000)];
    let alone = run(&topology, &flows, &config("pfc"));
    flows.extend((2..8).map(|h| flow(h, 9, 150_000)));
    let out = run(&topology, &flows, &config("pfc"));
    assert_eq!((out.finish.clone(), out.totals.dropped), (Finish::Drained, 0));
    let (f0, f1) = (&out.flows[0], &out.flows[1]);
    let share = alone.flows[0].fct().unwrap();
    assert!(f0.held_total() > Time::from_us(100), "F0 lost {} to pauses", f0.held_total());
    assert!(f0.fct().unwrap() > share + Time::from_us(100), "{:?}", f0.fct());
    let apart = f0.fct().unwrap().max(f1.fct().unwrap()) - f0.fct().unwrap().min(f1.fct().unwrap());
    assert!(apart < Time::from_us(40), "PFC drags F0 down to F1's pace");
    // the first pause is Sc's, caused by the egress to h9 (P_d), which nobody holds
    let root = &out.pauses[0];
    assert_eq!(topology.port_alias("P_d"), Some((root.node, root.cause.unwrap())));
    assert!(!root.cause_held);
}

/// Every host sends two switches further round a ring: each trunk waits for the next.
#[test]
fn a_ring_with_cyclic_routes_deadlocks_and_the_run_says_so() {
    let topology = build::ring::build(&ring::Params::default()).unwrap();
    let switches: Vec<NodeId> = topology.switches().collect();
    let hosts_of = |s: NodeId| -> Vec<u32> {
        topology.ports(s).iter().filter(|p| topology.is_host(p.peer)).map(|p| p.peer.0).collect()
    };
    let n = switches.len();
    let mut cfg = config("pfc");
    let mut flows = Vec::new();
    for (i, &s) in switches.iter().enumerate() {
        let two_on = switches[(i + 2) % n];
        let next = switches[(i + 1) % n];
        for (&from, &to) in hosts_of(s).iter().zip(&hosts_of(two_on)) {
            cfg.paths.push(vec![NodeId(from), s, next, two_on, NodeId(to)]);
            let path = Some((cfg.paths.len() - 1) as u32);
            flows.push(FlowSpec { path, ..flow(from, to, 3_000_000) });
        }
    }
    let out = run(&topology, &flows, &cfg);
    let Finish::Deadlock(deadlock) = &out.finish else { panic!("{:?}", out.finish) };
    assert_eq!(deadlock.cycle.len(), n, "{deadlock:?}");
    for stuck in &deadlock.cycle {
        assert!(!topology.is_host(topology.port(stuck.node, stuck.port).peer));
        assert!(stuck.bytes > Bytes::ZERO && stuck.since <= Some(deadlock.closed));
    }
    assert!(out.totals.in_network > 0 && out.totals.completed < flows.len() as u64);
}

/// A ring deadlocks while its switches repeat their pauses every 128 ns, for a millisecond after
/// the last packet moved: wires were busy for a part of the run only, and never for longer than it.
#[test]
fn frames_after_the_end_do_not_count_as_utilisation() {
    use common::circles::Circle;
    let mut deadlocks = 0;
    for circle in (0..12).map(Circle::new).filter(Circle::deadlocks_under_pfc) {
        let mut cfg = circle.settings("pfc", weir_sim::config::IngressLimit::Lossless);
        set(&mut cfg, "pause-quanta", "20");
        let out = circle.run(&cfg);
        deadlocks += u64::from(matches!(out.finish, weir_sim::Finish::Deadlock(_)));
        for p in &out.ports {
            assert!(p.utilisation <= 1.0, "{p:?}");
            // what is on the wire before the end, to the picosecond, is hardly ever all of it
            assert!(p.utilisation < 1.0 || p.control_sent < 1000, "{p:?}");
        }
    }
    assert!(deadlocks > 0, "nothing is shown");
}
