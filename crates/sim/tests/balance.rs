//! How packets are spread over equal paths: what each balance does to load and order, and that
//! results depend on neither engine nor shortcuts.

mod common;

use common::fabrics::{mesh, network};
use common::{DATA, config, flow, run, try_run};
use weir_core::{Bytes, NodeId, Priority, Rate, Time};
use weir_fc::{OnFull, PrioritySchedule};
use weir_net::build::{self, k_ary};
use weir_net::{Layer, Topology};
use weir_sim::config::{
    Balance, EcnAt, EcnConfig, EngineConfig, IngressLimit, NicDiscipline, PipelineConfig,
    Reliability, Stop, ThresholdConfig, WindowConfig,
};
use weir_sim::{Config, Finish, Outcome, SimError};
use weir_traffic::FlowSpec;

const ALB: Balance = Balance::Adaptive { low: Bytes::from_kb(16), high: Bytes::from_kb(32) };
const FLOWLETS: Balance = Balance::Flowlet { gap: Time::from_us(2) };
const OTHERS: [Balance; 4] = [ALB, Balance::Random, Balance::RoundRobin, FLOWLETS];

/// Whether the tables of a scheme assume one path per flow.
fn one_path(scheme: &str) -> bool {
    weir_fc::scheme(scheme).expect("known").many_paths.is_err()
}

fn fat_tree(k: u32, gbps: u64) -> Topology {
    let (rate, delay) = (Rate::from_gbps(gbps), Time::from_ns(500));
    build::k_ary::build(&k_ary::Params { k, rate, delay, ..Default::default() }).expect("builds")
}

/// Every host sends to the one half the network away: all flows cross the core.
fn shifted(topology: &Topology, size: u64) -> Vec<FlowSpec> {
    let n = topology.hosts().len() as u32;
    (0..n).map(|i| flow(i, (i + n / 2) % n, size)).collect()
}

/// The most loaded port towards the core as a multiple of the mean.
fn imbalance(topology: &Topology, out: &Outcome) -> f64 {
    let up = |p: &&weir_sim::outcome::PortRecord| {
        let layer = |n: NodeId| topology.node(n).layer;
        layer(p.node) == Layer::Agg && layer(topology.port(p.node, p.port).peer) == Layer::Core
    };
    let bytes: Vec<u64> = out.ports.iter().filter(up).map(|p| p.wire_bytes.get()).collect();
    let mean = bytes.iter().sum::<u64>() as f64 / bytes.len() as f64;
    *bytes.iter().max().expect("there are uplinks") as f64 / mean
}

fn tolerant(scheme: &str, balance: Balance) -> Config {
    let mut cfg = config(scheme);
    cfg.balance = balance;
    cfg.nic.reliability = Reliability::SelectiveRepeat;
    cfg.nic.window = WindowConfig::Unlimited;
    cfg
}

/// On a full fat-tree each host sends at line rate. By hash, flows that meet on an uplink leave
/// others idle; by packet, uplinks carry the same, and transfers take little more than alone.
#[test]
fn packets_spread_load_more_evenly_than_flows() {
    let topology = fat_tree(4, 10);
    let flows = shifted(&topology, 300_000);
    let by = |balance| run(&topology, &flows, &tolerant("pfc", balance));
    let last = |out: &Outcome| out.flows.iter().filter_map(|f| f.fct()).max().unwrap();
    let hash = by(Balance::Flow);
    assert!(imbalance(&topology, &hash) > 1.8, "{}", imbalance(&topology, &hash));
    assert_eq!((hash.totals.reordered, hash.totals.retransmitted), (0, 0));
    for (balance, most) in [(ALB, 1.1), (Balance::Random, 1.2), (Balance::RoundRobin, 1.1)] {
        let out = by(balance);
        assert_eq!(out.totals.completed, 16, "{balance:?}");
        let found = imbalance(&topology, &out);
        assert!(found < most, "{balance:?}: {found}");
        assert!(last(&out) < last(&hash), "{balance:?}: {} {}", last(&out), last(&hash));
        // turns on a network as regular as this one keep packets in step
        let in_step = balance == Balance::RoundRobin;
        assert_eq!(out.totals.reordered == 0, in_step, "{balance:?}");
    }
}

/// Two cross flows fill one of two spines by hand-written paths. Packets of other flows that look
/// at queues go by the other spine, packets that are sprayed do not care.
#[test]
fn adaptive_packets_avoid_a_busy_port() {
    let params = build::leaf_spine::Params {
        leaves: 2,
        spines: 2,
        hosts_per_leaf: 4,
        ..build::leaf_spine::Params::default()
    };
    let topology = build::leaf_spine::build(&params).unwrap();
    let node = |name: &str| topology.node_by_name(name).unwrap();
    let [h0, h1, h2, h4, h5, h6] = ["h0", "h1", "h2", "h4", "h5", "h6"].map(node);
    let (leaf, spine, far) = (node("leaf0"), node("spine0"), node("leaf1"));
    let flows = [
        FlowSpec { path: Some(0), ..flow(h0.0, h4.0, 600_000) },
        FlowSpec { path: Some(1), ..flow(h1.0, h5.0, 600_000) },
        FlowSpec { start: Time::from_us(20), ..flow(h2.0, h6.0, 300_000) },
    ];
    let by = |balance| {
        let mut cfg = tolerant("none", balance);
        cfg.paths = vec![vec![h0, leaf, spine, far, h4], vec![h1, leaf, spine, far, h5]];
        let out = run(&topology, &flows, &cfg);
        let third = out.flows.iter().find(|f| f.src() == h2).unwrap();
        let others = out.flows.iter().filter(|f| f.src() != h2);
        assert_eq!(others.map(|f| f.reordered()).sum::<u64>(), 0, "static paths keep order");
        (third.fct().unwrap(), third.ideal().unwrap())
    };
    let (adaptive, alone) = by(ALB);
    let (random, _) = by(Balance::Random);
    assert!(adaptive < alone * 3 / 2, "{adaptive}, alone {alone}");
    assert!(random > adaptive * 3 / 2, "{random} {adaptive}");
}

/// Flows pause for longer than a flowlet's gap between bursts: each burst draws a port, and in
/// between nothing is reordered where the gap is longer than paths can differ.
#[test]
fn flowlets_keep_order_where_gaps_are_long() {
    let topology = fat_tree(4, 10);
    let flows = shifted(&topology, 60_000);
    let mut cfg = tolerant("pfc", Balance::Flowlet { gap: Time::from_ms(1) });
    let out = run(&topology, &flows, &cfg);
    assert_eq!((out.totals.completed, out.totals.reordered), (16, 0));
    // a gap shorter than the time of a frame is a flowlet per packet
    cfg.balance = Balance::Flowlet { gap: Time::from_ns(1) };
    assert!(run(&topology, &flows, &cfg).totals.reordered > 0);
}

/// Go-back-N takes a packet out of order for a loss: everything arrives, with much sent again.
#[test]
fn go_back_n_survives_spraying_and_selective_repeat_wastes_less() {
    let topology = fat_tree(4, 10);
    let flows = mesh(&topology, 40, 200_000, 500, 3);
    let mut cfg = tolerant("pfc", Balance::Random);
    let selective = run(&topology, &flows, &cfg);
    cfg.nic.reliability = Reliability::GoBackN;
    cfg.nic.timeout = Some(Time::from_ms(10));
    let back = run(&topology, &flows, &cfg);
    for out in [&selective, &back] {
        assert_eq!((out.finish.clone(), out.totals.completed), (Finish::Drained, 40));
        assert_eq!(out.totals.dropped, 0);
    }
    let again = |o: &Outcome| o.totals.retransmitted;
    assert!(again(&selective) * 3 < again(&back), "{} {}", again(&selective), again(&back));
    // nothing is lost: a receiver that expects reordering asks for nothing
    cfg.nic.reliability = Reliability::SelectiveRepeat;
    cfg.nic.reorder = 1000;
    let patient = run(&topology, &flows, &cfg);
    assert!(patient.totals.reordered > 0);
    assert_eq!((again(&patient), patient.totals.completed), (0, 40));
}

/// Datagrams are delivered in whatever order they come, and a flow is complete when all have come.
#[test]
fn datagrams_out_of_order_are_delivered() {
    let topology = fat_tree(4, 10);
    let rate = Some(Rate::from_gbps(8));
    let flows: Vec<FlowSpec> =
        shifted(&topology, 100_001).into_iter().map(|f| FlowSpec { rate, ..f }).collect();
    let out = run(&topology, &flows, &tolerant("pfc", Balance::Random));
    assert!(out.totals.reordered > 0);
    assert_eq!((out.finish, out.totals.completed), (Finish::Drained, 16));
    assert!(out.flows.iter().all(|f| f.delivered == f.size && f.fct() >= f.ideal()));
}

/// Compares every engine, with and without shortcuts.
fn same_everywhere(topology: &Topology, flows: &[FlowSpec], cfg: &Config, what: &str) -> Outcome {
    let by = |engine, shortcuts| {
        let cfg = Config { engine, shortcuts, ..cfg.clone() };
        let mut out = try_run(topology, flows, &cfg).unwrap_or_else(|e| panic!("{what}: {e}"));
        out.totals.events = 0;
        out
    };
    let reference = by(EngineConfig::Stepwise, false);
    for shortcuts in [false, true] {
        for engine in [
            EngineConfig::Sequential,
            EngineConfig::Window { threads: 1 },
            EngineConfig::Window { threads: 3 },
        ] {
            let out = by(engine, shortcuts);
            assert_eq!(out.digest, reference.digest, "{what} {engine:?} {shortcuts}");
            assert!(out == reference, "{what} {engine:?}, shortcuts: {shortcuts}");
        }
    }
    reference
}

fn classes(flows: Vec<FlowSpec>) -> Vec<FlowSpec> {
    let of = |i: usize| [DATA, Priority::ALL[5], Priority::ALL[1]][i % 3];
    flows.into_iter().enumerate().map(|(i, f)| FlowSpec { priority: of(i), ..f }).collect()
}

/// Every balance, both switch models, every scheme that fits: all engines, threads and shortcuts
/// give the same bytes. Marking is at the queue's entry, and hosts schedule by priority.
#[test]
fn results_depend_on_neither_engine_nor_shortcuts() {
    for fabric in [0, 1] {
        let topology = network(fabric, Rate::from_gbps(10), Time::from_ns(600));
        let flows = classes(mesh(&topology, 30, 30_000, 300, 5));
        for scheme in weir_fc::SCHEMES.iter().map(|s| s.name) {
            for pipelined in [false, true] {
                for (i, balance) in OTHERS.into_iter().enumerate() {
                    let mut cfg = config(scheme);
                    let what = format!("{fabric} {scheme} pipelined: {pipelined} {balance:?}");
                    let weights = [0, 0, 0, 1, 0, 2, 0, 0];
                    cfg.switch.schedule.weights = weights;
                    cfg.nic.discipline = NicDiscipline::ByPriority(PrioritySchedule {
                        weights,
                        ..PrioritySchedule::default()
                    });
                    cfg.switch.thresholds = ThresholdConfig::Static {
                        xoff: Bytes::from_kb(250),
                        xon: Bytes::from_kb(150),
                        limit: IngressLimit::Unlimited,
                    };
                    cfg.switch.ecn = Some(EcnConfig {
                        kmin: Bytes::from_kb(3),
                        kmax: Bytes::from_kb(20),
                        pmax: "1/2".parse().unwrap(),
                    });
                    cfg.switch.ecn_at = if i % 2 == 0 { EcnAt::Enqueue } else { EcnAt::Dequeue };
                    cfg.cc = weir_cc::CcParams::new(weir_cc::CcKind::Dcqcn);
                    cfg.balance = balance;
                    cfg.nic.timeout = Some(Time::from_us(900));
                    if i % 2 == 0 {
                        cfg.nic.reliability = Reliability::SelectiveRepeat;
                    }
                    cfg.stop = Stop::At(Time::from_us(400));
                    if pipelined {
                        let rate = 5_000_000;
                        let on_full = if i % 2 == 0 { OnFull::Stop } else { OnFull::Drop };
                        cfg.switch.pipeline =
                            Some(PipelineConfig { rate, on_full, ..PipelineConfig::default() });
                    }
                    let probe = try_run(&topology, &flows, &cfg);
                    if let Err(SimError::Scheme { error, .. }) = &probe {
                        let per_flow = ["ofc", "bfc"].contains(&scheme) || one_path(scheme);
                        let refused = if pipelined { per_flow } else { one_path(scheme) };
                        assert!(refused, "{what}: {}", error.0);
                        continue;
                    }
                    let out = same_everywhere(&topology, &flows, &cfg, &what);
                    assert!(out.totals.data_arrived > 100, "{what}");
                }
            }
        }
    }
}

#[test]
fn schemes_whose_tables_assume_one_path_are_refused_with_the_reason() {
    let topology = fat_tree(4, 10);
    let flows = shifted(&topology, 10_000);
    for scheme in weir_fc::SCHEMES.iter().map(|s| s.name) {
        for balance in OTHERS {
            let result = try_run(&topology, &flows, &tolerant(scheme, balance));
            match result {
                Err(SimError::Scheme { error, .. }) if one_path(scheme) => {
                    assert!(error.0.contains("several paths"), "{}", error.0);
                    assert!(error.0.contains("RESUME"), "{}", error.0);
                }
                Ok(out) => assert_eq!(out.totals.completed, 16, "{scheme} {balance:?}"),
                Err(error) => panic!("{scheme} {balance:?}: {error}"),
            }
        }
        assert!(try_run(&topology, &flows, &tolerant(scheme, Balance::Flow)).is_ok(), "{scheme}");
    }
}

/// Two hosts of one switch; one sends at three priorities to the other, endlessly.
fn shares(discipline: NicDiscipline, priorities: [usize; 3]) -> [f64; 3] {
    let mut cfg = config("pfc");
    cfg.nic.discipline = discipline;
    cfg.stop = Stop::At(Time::from_ms(1));
    let flows: Vec<FlowSpec> = priorities
        .iter()
        .map(|&p| FlowSpec { priority: Priority::ALL[p], ..flow(0, 1, 100_000_000) })
        .collect();
    let out = run(&common::star(2, "100ns"), &flows, &cfg);
    let of = |p: usize| {
        let flows = out.flows.iter().filter(|f| f.priority == Priority::ALL[p]);
        flows.map(|f| f.delivered.get()).sum::<u64>() as f64
    };
    let all: f64 = priorities.iter().map(|&p| of(p)).sum();
    priorities.map(|p| of(p) / all)
}

/// 1 ms at 100 Gb/s is 8127 frames: shares by weight are exact to a visit or so.
#[test]
fn a_nic_shares_its_wire_by_rank_and_weight() {
    let close = |found: [f64; 3], wanted: [f64; 3]| {
        let same = found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 0.003);
        assert!(same, "{found:?} instead of {wanted:?}");
    };
    let by = |weights| {
        NicDiscipline::ByPriority(PrioritySchedule { weights, ..PrioritySchedule::default() })
    };
    let third = 1.0 / 3.0;
    close(shares(NicDiscipline::PerFlow, [3, 4, 5]), [third, third, third]);
    close(shares(by([0; 8]), [3, 4, 5]), [0.0, 0.0, 1.0]);
    close(shares(by([0, 0, 0, 1, 2, 5, 0, 0]), [3, 4, 5]), [0.125, 0.25, 0.625]);
    close(shares(by([0, 0, 0, 1, 3, 0, 0, 0]), [3, 4, 5]), [0.0, 0.0, 1.0]);
    close(shares(by([0, 1, 0, 1, 3, 0, 0, 0]), [1, 3, 4]), [0.2, 0.2, 0.6]);
}

/// Hosts 0 to 2 send four packets each to host 3, all at once: they come to the switch three at a
/// time, at 223, 346, 469 and 592 ns. They find 0 0 1, 2 3 4, 4 5 6 and 6 7 8 packets of 1518 B in
/// their queue; those that leave it leave 0, 4, 6 and 8 behind at these times, and then 7 6 5 4 3 2
/// 1 0.
#[test]
fn marks_at_the_entry_count_what_a_packet_finds() {
    let topology = common::star(4, "100ns");
    let flows: Vec<FlowSpec> = (0..3).map(|i| flow(i, 3, 6000)).collect();
    let marked = |at, stop| {
        let mut cfg = config("none");
        cfg.switch.ecn_at = at;
        cfg.stop = stop;
        let limit = Bytes::new(2 * 1518);
        cfg.switch.ecn = Some(EcnConfig { kmin: limit, kmax: limit, pmax: "1".parse().unwrap() });
        let out = run(&topology, &flows, &cfg);
        out.ports.iter().map(|p| p.ecn_marked).sum::<u64>()
    };
    let (early, late) = (Stop::At(Time::from_ns(600)), Stop::Drained);
    assert_eq!([EcnAt::Enqueue, EcnAt::Dequeue].map(|at| marked(at, early)), [8, 3]);
    assert_eq!([EcnAt::Enqueue, EcnAt::Dequeue].map(|at| marked(at, late)), [8, 8]);
}
