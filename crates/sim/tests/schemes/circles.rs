//! Networks with a circle: GFC's rate limiter by hand and its promise where PFC deadlocks, and
//! how all other schemes end there.

use crate::common::circles::Circle;
use crate::common::{config, flow, run, set};
use weir_core::{Bytes, Rate, Time};
use weir_net::{Layer, TopologyBuilder};
use weir_sim::config::{Hop, IngressLimit, Stop, headroom};
use weir_sim::outcome::Deadlock;
use weir_sim::{Finish, Outcome};

const FRAME: u64 = 1518;

/// h0 - s0 - s1 - h1 at 40 Gb/s and 20 ns; the last link is so slow that nothing leaves s1 but
/// the first packet. Stages at 8, 12, 14, 15 KB, ... of 16 KB (2 C tau is 6720 B).
///
/// Packets follow each other by 307.6 ns. Let the 7th reach s1 at 0: q is 6 * 1518 = 9108 B, the
/// first at or above 8000. The stage arrives at s0 at 36.8 ns (84 B and 20 ns). The 8th has
/// started at -20 ns and is on the wire until 287.6 ns: 250.8 ns to go, 501.6 ns at half the rate,
/// so the 9th starts at 538.4 ns and arrives at 866 ns. q = 8 * 1518 = 12 144 B is stage 2, known
/// to s0 at 902.8 ns. The gap after the 9th would have ended at 538.4 + 2 * 303.6 = 1145.6 ns; the
/// 242.8 ns left are doubled: the 10th starts at 1388.4 ns and arrives at 1716 ns. q = 13 662 B
/// changes nothing, so the 11th starts 4 * 303.6 ns later, at 2602.8 ns, and arrives at 2930.4 ns.
#[test]
fn a_limit_concerns_the_packet_on_the_wire() {
    let mut b = TopologyBuilder::new();
    let (rate, delay) = (Rate::from_gbps(40), Time::from_ns(20));
    let (h0, h1) = (b.add_host("h0"), b.add_host("h1"));
    let (s0, s1) = (b.add_switch("s0", Layer::Tor, 0), b.add_switch("s1", Layer::Tor, 1));
    b.connect(h0, s0, rate, delay);
    b.connect(s0, s1, rate, delay);
    b.connect(s1, h1, Rate::from_bps(1_000_000), delay);
    let topology = b.finish().unwrap();
    let mut cfg = config("gfc");
    set(&mut cfg, "b-m", "16KB");
    set(&mut cfg, "b-1", "8KB");
    cfg.stop = Stop::At(Time::from_us(6));
    cfg.probes.series = Some(Time::from_ns(1));
    let out = run(&topology, &[flow(0, 1, 60_000)], &cfg);
    let lengths = || out.series.iter().filter(|s| s.node == s1 && s.port.index() == 0);
    let reached = |packets: u64| lengths().find(|s| s.ingress.get() >= packets * FRAME).unwrap().at;
    let zero = reached(6);
    let after: Vec<u64> = [7, 8, 9, 10].map(|n| (reached(n) - zero).as_ps() / 1000).to_vec();
    // seen at the first whole nanosecond after the event, as is the origin
    for (seen, expected) in after.iter().zip([307.6, 866.0, 1716.0, 2930.4]) {
        assert!((*seen as f64 - expected).abs() <= 1.0, "{after:?}");
    }
}

/// How many networks: 20, or what `WEIR_CIRCLES` says.
fn wanted() -> usize {
    std::env::var("WEIR_CIRCLES").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

/// Nothing was ever stopped, and nothing was refused for lack of room.
fn check(circle: &Circle, out: &Outcome, number: usize) {
    assert!(
        matches!(out.finish, Finish::Drained | Finish::TimeLimit),
        "{number}: {:?}",
        out.finish
    );
    assert!(out.ports.iter().all(|p| p.holds == [0; 8]), "{number}: a port was stopped");
    assert_eq!(out.totals.dropped, 0, "{number}, xoff {}: {:?}", circle.xoff, out.drops);
}

/// GFC's promise: the occupancy stays below B_m and two frames, on networks on which PFC
/// deadlocks. A floor above the default of 8 kb/s lets in what it says and no more: an ingress
/// at the floor gets R_N whether or not anything leaves, R_N * 20 ms in the time of these runs.
#[test]
fn gfc_never_stops_and_keeps_its_bound_where_pfc_deadlocks() {
    let deadlocking = (1..).map(Circle::new).filter(Circle::deadlocks_under_pfc);
    for (number, c) in deadlocking.take(wanted()).enumerate() {
        let link = c.settings("gfc", IngressLimit::Lossless).link;
        let in_flight = headroom(c.rate, c.delay, &Hop::new(Bytes::new(FRAME)), &link);
        // "below": a packet that would make it B_m + 2 frames is refused
        let end = c.xoff + in_flight.get() + 2 * FRAME - 1;
        let limit = IngressLimit::Bytes(Bytes::new(end));
        check(&c, &c.run(&c.settings("gfc", limit)), number);

        let let_in = Rate::from_bps(10_000_000).bytes_in(Time::from_ms(20));
        let mut cfg = c.settings("gfc", IngressLimit::Bytes(let_in + Bytes::new(end)));
        set(&mut cfg, "min-rate", "10Mbps");
        check(&c, &c.run(&cfg), number);
    }
}

/// Parameters of a scheme and their values.
type Options = &'static [(&'static str, &'static str)];

const SCHEMES: &[(&str, Options)] = &[
    ("pfc", &[]),
    ("capfc", &[]),
    ("capfc", &[("policy", "stop-calibrate"), ("timer", "sticky")]),
    ("ppfc", &[]),
    ("ppfc", &[("mode", "paper")]),
    ("gfc", &[("mode", "ofc")]),
    ("gpfc", &[]),
    ("ofc", &[]),
    ("ofc", &[("flow-key", "pair")]),
    ("bfc", &[("queues", "2")]),
    ("ideal", &[]),
    ("flowsail", &[("queues", "2")]),
    ("flowsail", &[("queues", "3"), ("backstop", "pfc")]),
    ("ffc", &[]),
    ("ffc", &[("backstop", "pfc")]),
];

/// Whatever a scheme waits for, a network that stops is found to wait in a circle: of at least
/// two queues, each at the port that the one before names, none of them empty. CaPFC stops an
/// ingress for what others sent (the fifth network has such a circle), FlowSail and FFC let queues
/// wait for each other within a port.
#[test]
fn a_network_that_stops_is_found_to_wait_in_a_circle() {
    for (scheme, options) in SCHEMES {
        let mut deadlocks = 0;
        for number in 1..=wanted() as u64 {
            let c = Circle::new(number);
            let mut cfg = c.settings(scheme, IngressLimit::Lossless);
            cfg.stop = Stop::At(Time::from_ms(200));
            options.iter().for_each(|(name, value)| set(&mut cfg, name, value));
            let out = c.run(&cfg);
            assert_eq!(out.totals.dropped, 0, "{scheme} {options:?} on network {number}");
            match &out.finish {
                Finish::Drained => {}
                Finish::Deadlock(deadlock) => {
                    deadlocks += 1;
                    check_circle(&c, deadlock);
                }
                other => panic!("{scheme} {options:?} on network {number}: {other:?}"),
            }
        }
        // these stop whole priorities: on some circle that must end badly
        let must = ["pfc", "capfc"].contains(scheme);
        assert!(!must || deadlocks > 0, "{scheme} {options:?} was never seen to deadlock");
    }
}

fn check_circle(c: &Circle, deadlock: &Deadlock) {
    let cycle = &deadlock.cycle;
    assert!(cycle.len() >= 2, "{deadlock:?}");
    for (stuck, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(stuck.waits_for, c.topology.port_name(next.node, next.port));
        let peer = c.topology.port(stuck.node, stuck.port).peer;
        assert!(peer == next.node || stuck.node == next.node, "{deadlock:?}");
        assert!(stuck.since <= Some(deadlock.closed) && stuck.bytes > Bytes::ZERO);
    }
}
