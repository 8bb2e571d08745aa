//! All engines give the same bytes.

mod common;

use common::fabrics::{mesh, network};
use common::{config, flow, plan, run};
use proptest::prelude::*;
use weir_core::{Bytes, LinkId, NodeId, Rate, Ratio, Time};
use weir_net::build::{self, k_ary, leaf_spine, ofc_chain, ring};
use weir_net::{Layer, Topology, TopologyBuilder};
use weir_sim::config::{
    EcnConfig, EngineConfig, IngressLimit, LinkFailure, PipelineConfig, Reliability, Stop,
    ThresholdConfig,
};
use weir_sim::probe::RecordConfig;
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::FlowSpec;

/// Every engine, on 1 to 4 threads, forced.
const ENGINES: [EngineConfig; 8] = [
    EngineConfig::Stepwise,
    EngineConfig::Sequential,
    EngineConfig::Auto { threads: 1 },
    EngineConfig::Auto { threads: 2 },
    EngineConfig::Window { threads: 1 },
    EngineConfig::Window { threads: 2 },
    EngineConfig::Window { threads: 3 },
    EngineConfig::Window { threads: 4 },
];

/// Runs under all engines and compares everything but the number of events, which may
/// differ in how often an idle clock was looked at.
fn all_agree(topology: &Topology, flows: &[FlowSpec], config: &Config) -> Outcome {
    let mut reference: Option<Outcome> = None;
    let mut config = config.clone();
    // few rows: windows become longer on the way
    config.probes.record = Some(RecordConfig { window: Time::from_ns(700), rows: 3000 });
    for engine in ENGINES {
        let out = run(topology, flows, &Config { engine, ..config.clone() });
        if let Some(first) = &reference {
            assert_eq!(out.digest, first.digest, "{engine:?}");
            assert_eq!(&out, first, "{engine:?}");
        } else {
            reference = Some(out);
        }
    }
    reference.expect("there are engines")
}

#[test]
fn on_a_fat_tree_with_dcqcn() {
    let topology =
        build::k_ary::build(&k_ary::Params { k: 4, ..k_ary::Params::default() }).unwrap();
    for seed in 1..4 {
        let mut cfg = config("pfc");
        cfg.seed = seed;
        cfg.cc = weir_cc::CcParams::new(weir_cc::CcKind::Dcqcn);
        cfg.probes.series = Some(Time::from_us(3));
        cfg.switch.ecn = Some(EcnConfig {
            kmin: Bytes::from_kb(5),
            kmax: Bytes::from_kb(100),
            pmax: Ratio::new(1, 5).unwrap(),
        });
        let out = all_agree(&topology, &mesh(&topology, 120, 200_000, 300, seed), &cfg);
        assert_eq!(out.finish, Finish::Drained);
    }
}

/// Enough to do for two threads at first, then an incast of which they have too little each: one of
/// them runs both parts in turn until there is more to do again.
#[test]
fn when_threads_begin_to_rest_and_work_again() {
    let topology =
        build::k_ary::build(&k_ary::Params { k: 8, ..k_ary::Params::default() }).unwrap();
    let engine = EngineConfig::Auto { threads: 2 };
    let cfg = Config { engine, ..config("pfc") };
    let mut flows = mesh(&topology, 400, 60_000, 10, 3);
    let later = |start, f: FlowSpec| FlowSpec { start: Time::from_us(start), ..f };
    flows.extend((0..32).map(|src| later(60, flow(src, 127, 30_000))));
    flows.extend(mesh(&topology, 400, 60_000, 10, 4).into_iter().map(|f| later(200, f)));
    assert_eq!(weir_sim::run::threads(&topology, &plan(&topology, &flows), &cfg), 2);
    let sequential = Config { engine: EngineConfig::Sequential, ..cfg.clone() };
    let out = run(&topology, &flows, &cfg);
    assert_eq!(out.finish, Finish::Drained);
    assert_eq!(out, run(&topology, &flows, &sequential));
}

#[test]
fn on_a_leaf_spine_with_hpcc_and_bit_errors() {
    let topology = build::leaf_spine::build(&leaf_spine::Params::default()).unwrap();
    let mut cfg = config("pfc");
    cfg.cc = weir_cc::CcParams::new(weir_cc::CcKind::Hpcc);
    cfg.link.bit_error_rate = 1e-7;
    cfg.nic.timeout = Some(Time::from_us(300));
    all_agree(&topology, &mesh(&topology, 100, 150_000, 200, 5), &cfg);
}

/// TCP with everything that sets its timers: handshakes, delayed ACKs, bit errors and a link that
/// fails; with ACKs of their own priority and in the class of their data.
#[test]
fn on_a_leaf_spine_with_tcp_losses_and_failures() {
    let topology = build::leaf_spine::build(&leaf_spine::Params::default()).unwrap();
    for (scheme, acks_with_data) in [("pfc", false), ("pfc", true), ("bfc", true), ("none", true)] {
        let mut cfg = config(scheme);
        cfg.nic.reliability = Reliability::Tcp;
        cfg.nic.acks_with_data = acks_with_data;
        cfg.tcp.rto_min = Time::from_us(300);
        cfg.tcp.rto_initial = Time::from_us(500);
        cfg.tcp.ack_every = std::num::NonZeroU32::new(2).unwrap();
        cfg.tcp.ack_delay = Time::from_us(40);
        cfg.link.bit_error_rate = 1e-7;
        let (down, up) = (Time::from_us(60), Some(Time::from_us(400)));
        let link = LinkId::from_index(topology.links().len() - 1);
        cfg.failures = vec![LinkFailure { link, down, up }];
        cfg.convergence = Time::from_us(50);
        let out = all_agree(&topology, &mesh(&topology, 100, 150_000, 200, 5), &cfg);
        assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, out.totals.flows));
        assert!(out.totals.retransmitted > 0, "{:?}", out.totals);
    }
}

/// DCTCP over pipelined switches that stop, on a fat-tree.
#[test]
fn on_a_fat_tree_of_pipelined_switches_with_tcp() {
    let rate = Rate::from_gbps(1);
    let params = k_ary::Params { k: 4, rate, ..k_ary::Params::default() };
    let topology = build::k_ary::build(&params).unwrap();
    let mut cfg = config("pfc");
    cfg.scheme.values.set(&weir_fc::pfc::ON_FULL, "stop").unwrap();
    cfg.nic.reliability = Reliability::Tcp;
    cfg.nic.acks_with_data = true;
    cfg.tcp.ecn = weir_cc::tcp::EcnMode::Dctcp;
    cfg.switch.pipeline = Some(PipelineConfig::default());
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::from_kb(50),
        xon: Bytes::from_kb(40),
        limit: IngressLimit::Bytes(Bytes::from_kb(60)),
    };
    let k = Bytes::from_kb(20);
    cfg.switch.ecn = Some(EcnConfig { kmin: k, kmax: k, pmax: Ratio::new(1, 1).unwrap() });
    let out = all_agree(&topology, &mesh(&topology, 120, 100_000, 300, 2), &cfg);
    assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, out.totals.flows));
    assert!(out.totals.ecn_cuts > 0, "{:?}", out.totals);
}

/// A host on two racks of different pods: threads meet right above the hosts, and no host may run
/// ahead of that, also where its own rack is on its own thread.
#[test]
fn with_a_host_on_two_pods() {
    let (rate, delay) = (Rate::from_gbps(100), Time::from_us(1));
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(9);
    let racks: Vec<NodeId> =
        (0..4).map(|i| b.add_switch(format!("e{i}"), Layer::Tor, i / 2)).collect();
    let pods: Vec<NodeId> = (0..2).map(|i| b.add_switch(format!("a{i}"), Layer::Agg, i)).collect();
    let core = b.add_switch("c", Layer::Core, 0);
    for (i, &host) in hosts[..8].iter().enumerate() {
        b.connect(host, racks[i / 2], rate, delay);
    }
    b.connect(hosts[8], racks[1], rate, delay);
    b.connect(hosts[8], racks[2], rate, delay);
    for (i, &rack) in racks.iter().enumerate() {
        b.connect(rack, pods[i / 2], rate, delay);
    }
    for &pod in &pods {
        b.connect(pod, core, rate, delay);
    }
    let topology = b.finish().unwrap();
    let out = all_agree(&topology, &mesh(&topology, 60, 150_000, 200, 3), &config("pfc"));
    assert_eq!(out.finish, Finish::Drained);
}

/// Two pods send to each other for a while, then two others: threads that share the pods evenly do
/// not share the work, and hand cores to and fro, with whatever is in them and on its way to them.
/// With telemetry in their packets cores stay where they are, until there is none.
#[test]
fn where_the_work_moves_from_pod_to_pod() {
    let topology =
        build::k_ary::build(&k_ary::Params { k: 4, ..k_ary::Params::default() }).unwrap();
    let mut hpcc = config("pfc");
    hpcc.cc = weir_cc::CcParams::new(weir_cc::CcKind::Hpcc);
    hpcc.switch.latency = Time::from_ns(300);
    let mut stream = weir_core::rng::Stream::new(7, "test", 0);
    for cfg in [config("pfc"), config("ofc"), hpcc] {
        for pods in [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]] {
            let mut flows = Vec::new();
            for i in 0..160 {
                let [a, b] = if i / 40 % 2 == 0 { [pods[0], pods[1]] } else { [pods[2], pods[3]] };
                let [a, b] = if i % 2 == 0 { [a, b] } else { [b, a] };
                let mut host = |pod: u32| pod * 4 + stream.below(4) as u32;
                let spec = flow(host(a), host(b), 60_000);
                flows.push(FlowSpec { start: Time::from_ns(i * 600), ..spec });
            }
            let out = all_agree(&topology, &flows, &cfg);
            assert_eq!(out.finish, Finish::Drained);
        }
    }
}

#[test]
fn on_a_ring_that_deadlocks() {
    let params = ring::Params { hosts_per_switch: 2, ..ring::Params::default() };
    let topology = build::ring::build(&params).unwrap();
    let mut cfg = config("pfc");
    let switches: Vec<NodeId> = topology.switches().collect();
    let mut flows = Vec::new();
    for i in 0..8u32 {
        let at = (i / 2) as usize;
        let to = (i + 4) % 8;
        let via = [switches[at], switches[(at + 1) % 4], switches[(at + 2) % 4]];
        let mut path = vec![NodeId(i)];
        path.extend(via);
        path.push(NodeId(to));
        cfg.paths.push(path);
        flows.push(FlowSpec { path: Some(i), ..flow(i, to, 2_000_000) });
    }
    let out = all_agree(&topology, &flows, &cfg);
    assert!(matches!(out.finish, Finish::Deadlock(_)), "{:?}", out.finish);
}

#[test]
fn on_a_chain_with_20_ns_links() {
    let topology = build::ofc_chain::build(&ofc_chain::Params::default()).unwrap();
    let mut flows = vec![flow(0, 8, 420_000), flow(1, 9, 420_000)];
    flows.extend((2..8).map(|h| flow(h, 9, 150_000)));
    all_agree(&topology, &flows, &config("pfc"));
}

/// A last packet with one byte of payload is shorter on the wire than any control frame, and
/// must not arrive in the past of a node that has run ahead.
#[test]
fn with_last_packets_of_one_byte() {
    let topology = build::ofc_chain::build(&ofc_chain::Params::default()).unwrap();
    let mut stream = weir_core::rng::Stream::new(1, "test", 0);
    let flows: Vec<FlowSpec> = (0..1500)
        .map(|i| {
            let start = Time::from_ps(stream.below(60_000_000));
            FlowSpec { start, ..flow(i % 8, 8 + i % 2, 1 + u64::from(i % 2) * 1500) }
        })
        .collect();
    all_agree(&topology, &flows, &config("pfc"));
}

/// The comparison is worth something: another setting gives another digest.
#[test]
fn a_changed_threshold_changes_the_digest() {
    let topology = build::ofc_chain::build(&ofc_chain::Params::default()).unwrap();
    let mut flows = vec![flow(0, 8, 420_000), flow(1, 9, 420_000)];
    flows.extend((2..8).map(|h| flow(h, 9, 150_000)));
    let mut cfg = config("pfc");
    let usual = run(&topology, &flows, &cfg).digest;
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::from_kb(74),
        xon: Bytes::from_kb(45),
        limit: IngressLimit::Lossless,
    };
    assert_ne!(run(&topology, &flows, &cfg).digest, usual);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 36, ..ProptestConfig::default() })]

    /// Schemes, fabrics and traffic at random. The fabrics have two, three and four tiers, two
    /// colours, or neither; deadlocks on rings and tori are as good as anything else.
    #[test]
    fn on_random_networks(
        scheme in prop::sample::select(weir_fc::SCHEMES.iter().map(|s| s.name).collect::<Vec<_>>()),
        fabric in 0u32..6,
        seed in any::<u64>(),
        flows in 1u32..60,
        size in 1u64..80_000,
        gbps in prop::sample::select(vec![10u64, 40, 100]),
        delay_ns in 5u64..1500,
        latency_ns in prop::sample::select(vec![0u64, 0, 300]),
    ) {
        let topology = network(fabric, Rate::from_gbps(gbps), Time::from_ns(delay_ns));
        let mut cfg = config(scheme);
        cfg.seed = seed;
        cfg.nic.timeout = Some(Time::from_us(500));
        cfg.switch.latency = Time::from_ns(latency_ns);
        all_agree(&topology, &mesh(&topology, flows, size, 100, seed), &cfg);
    }

    /// A link fails and comes back: flows change their paths, their packets and ACKs overtake each
    /// other, and what congestion control was told of ports is of others suddenly.
    #[test]
    fn when_a_link_fails_under_any_congestion_control(
        cc in prop::sample::select(weir_cc::CcKind::ALL.to_vec()),
        fabric in 0u32..6,
        seed in any::<u64>(),
        flows in 10u32..60,
        link in any::<u32>(),
        down_us in 1u64..20,
        lasts_us in 1u64..50,
        convergence_us in prop::sample::select(vec![0u64, 5]),
    ) {
        let topology = network(fabric, Rate::from_gbps(100), Time::from_us(1));
        let mut cfg = config("pfc");
        cfg.seed = seed;
        cfg.cc = weir_cc::CcParams::new(cc);
        cfg.switch.ecn = Some(EcnConfig {
            kmin: Bytes::from_kb(5),
            kmax: Bytes::from_kb(100),
            pmax: Ratio::new(1, 5).unwrap(),
        });
        cfg.nic.timeout = Some(Time::from_us(100));
        cfg.stop = Stop::At(Time::from_ms(2));
        let down = Time::from_us(down_us);
        let up = Some(down + Time::from_us(lasts_us));
        let link = LinkId(link % topology.links().len() as u32);
        cfg.failures.push(LinkFailure { link, down, up });
        cfg.convergence = Time::from_us(convergence_us);
        all_agree(&topology, &mesh(&topology, flows, 300_000, 100, seed), &cfg);
    }
}
