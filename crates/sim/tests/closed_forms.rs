//! Results that can be worked out with pencil and paper.

mod common;

use common::{config, flow, run, star};
use weir_core::{Bytes, PortId, Rate, Time};
use weir_net::build::{self, dumbbell};
use weir_sim::Finish;
use weir_sim::config::{NicConfig, WindowConfig};

/// h0 -> sw0 -> h1 at 100 Gb/s (80 ps/B), 1 us each. One packet of 1500 B is 1538 B on the
/// wire: 123.04 ns. Twice that plus 2 us.
#[test]
fn a_lone_packet_takes_two_serialisations_and_two_cables() {
    let out = run(&star(2, "1us"), &[flow(0, 1, 1500)], &config("pfc"));
    assert_eq!(out.finish, Finish::Drained);
    assert_eq!(out.flows[0].fct(), Some(Time::from_ps(2 * 123_040 + 2_000_000)));
    // the 64 B ACK (84 B of line time, 6.72 ns) goes back the same way
    let ack = Time::from_ps(2 * 6_720 + 2_000_000);
    assert_eq!(out.flows[0].fct_ack(), Some(out.flows[0].fct().unwrap() + ack));
}

/// n packets in a row through s switches: s + n serialisations and s + 1 cables.
#[test]
fn a_train_of_packets_pipelines_through_the_hops() {
    for (size, n) in [(1_500, 1), (3_000, 2), (150_000, 100), (4_200_000, 2_800)] {
        for (gbps, delay_ns) in [(10, 20), (40, 20), (100, 1_000), (400, 500)] {
            let params = dumbbell::Params {
                rate: Rate::from_gbps(gbps),
                trunk_rate: Rate::from_gbps(gbps),
                delay: Time::from_ns(delay_ns),
                trunk_delay: Time::from_ns(delay_ns),
                ..dumbbell::Params::default()
            };
            let topology = build::dumbbell::build(&params).unwrap();
            let last = topology.hosts().len() as u32 - 1;
            let out = run(&topology, &[flow(0, last, size)], &config("pfc"));
            let packet = Rate::from_gbps(gbps).time_for(Bytes::new(1538));
            let expected = packet * (n + 2) + Time::from_ns(delay_ns) * 3;
            assert_eq!(out.flows[0].fct(), Some(expected), "{size} B at {gbps} Gb/s");
            assert_eq!(out.flows[0].ideal(), Some(expected));
        }
    }
}

/// A short last packet catches up: 2 packets of 1500 B, then one of 100 B, over 100 Gb/s and
/// one switch. The last one waits behind the second at both hops: 3 * 123.04 ns for two
/// packets through two hops, then 138 B (11.04 ns), plus 2 us.
#[test]
fn a_short_last_packet_waits_behind_the_full_one_before_it() {
    let out = run(&star(2, "1us"), &[flow(0, 1, 3_100)], &config("pfc"));
    let expected = Time::from_ps(3 * 123_040 + 11_040 + 2_000_000);
    assert_eq!(out.flows[0].fct(), Some(expected));
    assert_eq!(out.flows[0].ideal(), Some(expected));
}

/// A slow hop in the middle: n packets leave it one slow serialisation apart.
#[test]
fn a_bottleneck_sets_the_pace() {
    let params = dumbbell::Params {
        rate: Rate::from_gbps(100),
        trunk_rate: Rate::from_gbps(10),
        delay: Time::from_us(1),
        trunk_delay: Time::from_us(2),
        ..dumbbell::Params::default()
    };
    let topology = build::dumbbell::build(&params).unwrap();
    let last = topology.hosts().len() as u32 - 1;
    let mut cfg = config("pfc");
    cfg.switch.thresholds = weir_sim::config::ThresholdConfig::Pool;
    let out = run(&topology, &[flow(0, last, 150_000)], &cfg);
    let (fast, slow) = (
        Rate::from_gbps(100).time_for(Bytes::new(1538)),
        Rate::from_gbps(10).time_for(Bytes::new(1538)),
    );
    let expected = fast * 2 + slow * 100 + Time::from_us(4);
    assert_eq!(out.flows[0].fct(), Some(expected));
    assert_eq!(out.flows[0].ideal(), Some(expected));
}

#[test]
fn forwarding_latency_counts_once_per_switch() {
    let mut cfg = config("pfc");
    cfg.switch.latency = Time::from_ns(300);
    let out = run(&star(2, "1us"), &[flow(0, 1, 3_100)], &cfg);
    let expected = Time::from_ps(3 * 123_040 + 11_040 + 2_000_000 + 300_000);
    assert_eq!(out.flows[0].fct(), Some(expected));
    assert_eq!(out.flows[0].ideal(), Some(expected));
}

/// The long way round a ring of four: three links between switches instead of one.
#[test]
fn the_ideal_time_is_that_of_the_path_the_flow_takes() {
    let params = build::ring::Params { delay: Time::from_us(1), ..build::ring::Params::default() };
    let topology = build::ring::build(&params).unwrap();
    let mut cfg = config("pfc");
    let way = ["h0", "sw0", "sw3", "sw2", "sw1", "h1"];
    cfg.paths = vec![way.map(|name| topology.find(name).expect("a node")).to_vec()];
    let pinned = weir_traffic::FlowSpec { path: Some(0), ..flow(0, 1, 1500) };
    let out = run(&topology, &[pinned], &cfg);
    // 1538 B on the wire at 200 ps/B, five links of 1 us
    let expected = Time::from_ps(5 * (1538 * 200 + 1_000_000));
    assert_eq!(out.flows[0].fct(), Some(expected));
    assert_eq!(out.flows[0].ideal(), Some(expected));
}

/// Without preamble and gap a frame is just its bytes.
#[test]
fn wire_overhead_can_be_left_out() {
    let mut cfg = config("pfc");
    cfg.link.overhead = Bytes::ZERO;
    cfg.nic = NicConfig { payload: Bytes::new(1000), header: Bytes::new(48), ..cfg.nic };
    let out = run(&star(2, "1us"), &[flow(0, 1, 1000)], &cfg);
    assert_eq!(out.flows[0].fct(), Some(Time::from_ps(2 * 1048 * 80 + 2_000_000)));
}

/// A window of one packet: a round trip per packet. 2 * 123.04 + 2 * 6.72 ns + 4 us.
#[test]
fn a_window_of_one_packet_sends_one_per_round_trip() {
    let mut cfg = config("pfc");
    cfg.nic.window = WindowConfig::Bytes(Bytes::new(1500));
    let out = run(&star(2, "1us"), &[flow(0, 1, 15_000)], &cfg);
    let rtt = Time::from_ps(2 * 123_040 + 2 * 6_720 + 4_000_000);
    assert_eq!(out.flows[0].fct_ack(), Some(rtt * 10));
}

/// Two senders, one receiver link: each gets half, and both finish within one packet.
#[test]
fn two_flows_share_a_link_equally() {
    let out = run(&star(3, "1us"), &[flow(0, 2, 3_000_000), flow(1, 2, 3_000_000)], &config("pfc"));
    let (a, b) = (out.flows[0].fct().unwrap(), out.flows[1].fct().unwrap());
    let packet = Time::from_ps(123_040);
    assert!(a.max(b) - a.min(b) <= packet * 1, "{a} and {b}");
    // 4000 packets through the shared link, after the first one has come this far
    let last = a.max(b);
    assert_eq!(last, packet * 4001 + Time::from_us(2));
    let link = out.ports.iter().find(|p| p.node.0 == 3 && p.port == PortId(2)).unwrap();
    assert_eq!(link.packets, 4000);
    assert!(out.totals.dropped == 0);
}

/// Flows of one host take turns.
#[test]
fn flows_of_one_host_share_its_wire_round_robin() {
    let out = run(
        &star(4, "1us"),
        &[flow(0, 1, 15_000), flow(0, 2, 15_000), flow(0, 3, 15_000)],
        &config("pfc"),
    );
    let packet = Time::from_ps(123_040);
    let fct: Vec<Time> = out.flows.iter().map(|f| f.fct().unwrap()).collect();
    // the first one's tenth packet is number 28 on the wire
    let expected = [28, 29, 30].map(|n| packet * (n + 1) + Time::from_us(2));
    assert_eq!(fct, expected);
}
