//! ACKs in the class of their data: stored, paused and dropped as data are.

use crate::common::{flow, run, star};
use crate::{segments, tcp};
use weir_core::{Bytes, Priority, Time};
use weir_net::build::{self, leaf_spine};
use weir_sim::config::{EngineConfig, IngressLimit, PipelineConfig, ThresholdConfig};
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::FlowSpec;

fn with_data(scheme: &str) -> Config {
    let mut cfg = tcp(scheme);
    cfg.nic.acks_with_data = true;
    cfg.tcp.ecn = weir_cc::tcp::EcnMode::Off;
    cfg
}

/// Alone it makes no difference.
#[test]
fn a_lone_flow_takes_as_long() {
    for scheme in weir_fc::SCHEMES.iter() {
        let own = run(&star(2, "1us"), &[flow(0, 1, segments(500))], &tcp(scheme.name));
        let data = run(&star(2, "1us"), &[flow(0, 1, segments(500))], &with_data(scheme.name));
        assert_eq!(own.flows[0].fct_ack(), data.flows[0].fct_ack(), "{}", scheme.name);
    }
}

/// Every host sends to every other, most to the first: data and ACKs meet everywhere.
fn all_to_some() -> Vec<FlowSpec> {
    let pairs = (0..8).flat_map(|a| (0..8).map(move |b| (a, b))).filter(|(a, b)| a != b);
    let incast = (1..8).map(|a| flow(a, 0, segments(200)));
    pairs.map(|(a, b)| flow(a, b, segments(40))).chain(incast).collect()
}

fn fabric() -> weir_net::Topology {
    let params =
        leaf_spine::Params { leaves: 2, spines: 2, hosts_per_leaf: 4, ..Default::default() };
    build::leaf_spine::build(&params).unwrap()
}

/// Under every lossless scheme nothing is lost, data or ACK, within the limits that losslessness
/// needs; and with shortcuts off the result is the same.
#[test]
fn nothing_is_lost_under_a_lossless_scheme() {
    for scheme in weir_fc::SCHEMES.iter().filter(|s| s.lossless) {
        let mut cfg = with_data(scheme.name);
        cfg.switch.thresholds = ThresholdConfig::Static {
            xoff: Bytes::from_kb(30),
            xon: Bytes::from_kb(20),
            limit: IngressLimit::Lossless,
        };
        // long pauses must not look like losses
        cfg.tcp.rto_min = Time::from_ms(20);
        cfg.tcp.rto_initial = Time::from_ms(20);
        let mut flows = all_to_some();
        // the high sub-class means something to G-PFC only
        flows.iter_mut().step_by(3).for_each(|f| f.high = true);
        let out = run(&fabric(), &flows, &cfg);
        let t = &out.totals;
        assert_eq!(out.finish, Finish::Drained, "{}", scheme.name);
        assert_eq!((t.dropped, t.timeouts, t.completed), (0, 0, t.flows), "{}", scheme.name);
        assert!(t.control_frames > 0, "{}: nothing was paused", scheme.name);
        cfg.shortcuts = false;
        assert_eq!(run(&fabric(), &flows, &cfg).digest, out.digest, "{}", scheme.name);
    }
}

/// In a small buffer ACKs that travel with data are lost with it; others never are.
#[test]
fn acks_are_dropped_with_data_only_in_its_class() {
    let lost = |mut cfg: Config| {
        cfg.switch.thresholds = ThresholdConfig::Pool;
        cfg.switch.buffer = Bytes::new(20 * 1518);
        let out = run(&fabric(), &all_to_some(), &cfg);
        assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, out.totals.flows));
        assert!(out.flows.iter().map(|f| f.lost()).sum::<u64>() > 0);
        out.flows.iter().map(|f| f.answers_lost()).sum::<u64>()
    };
    assert!(lost(with_data("none")) > 0);
    assert_eq!(lost(tcp("none")), 0);
}

/// h1, h3 and h4 send datagrams to h2 at line rate, and are paused for two thirds of the time; h0
/// sends to h1, three segments per round trip, so that it waits for the ACKs of h1 all the time.
fn beside_a_pause(cfg: &Config, flows: &[FlowSpec]) -> Outcome {
    let rate = Some(weir_core::Rate::from_gbps(100));
    let datagrams = [1, 3, 4].map(|h| FlowSpec { rate, ..flow(h, 2, segments(3_000)) });
    let flows: Vec<_> = datagrams.into_iter().chain(flows.iter().copied()).collect();
    let mut cfg = cfg.clone();
    cfg.tcp.receive_window = Bytes::new(segments(3));
    let out = run(&star(6, "1us"), &flows, &cfg);
    assert_eq!((&out.finish, out.totals.dropped), (&Finish::Drained, 0));
    out
}

/// How long the flow of a host took until its last ACK.
fn fct_of(out: &Outcome, src: u32) -> f64 {
    let flow = out.flows.iter().find(|f| f.src().0 == src).expect("it sends");
    flow.fct_ack().expect("it is done").as_ps() as f64
}

/// A pause of the class holds the ACKs of the flow that arrives; one that names flows or queues
/// spares them. ACKs of a class of their own are never held.
#[test]
fn a_pause_holds_the_acks_of_its_class() {
    for scheme in ["pfc", "gpfc", "bfc", "ideal", "flowsail", "ffc"] {
        let victim = [flow(0, 1, segments(300))];
        let own = fct_of(&beside_a_pause(&tcp(scheme), &victim), 0);
        let data = fct_of(&beside_a_pause(&with_data(scheme), &victim), 0);
        if matches!(scheme, "pfc" | "gpfc") {
            assert!(data > own * 1.2, "{scheme}: {own} {data}");
        } else {
            assert!(data < own * 1.05, "{scheme}: {own} {data}");
        }
    }
}

/// ACKs of a paused class do not hold up those of another one.
#[test]
fn acks_of_one_class_do_not_wait_for_those_of_another() {
    let mut cfg = with_data("pfc");
    cfg.switch.lossless = weir_core::PrioritySet::from_bits(0b1100);
    let other = FlowSpec { priority: Priority::ALL[2], ..flow(5, 1, segments(300)) };
    let victim = flow(0, 1, segments(300));
    let both = beside_a_pause(&cfg, &[victim, other]);
    let without = beside_a_pause(&tcp("pfc"), &[victim, other]);
    assert!(fct_of(&both, 0) > fct_of(&without, 0) * 1.2);
    let (here, there) = (fct_of(&both, 5), fct_of(&without, 5));
    assert!(here < there * 1.05, "{here} {there}");
}

/// The pipelined switch processes ACKs one by one as well, in their class; its ingress and egress
/// limits concern them. Nothing is lost where the processor stops.
#[test]
fn pipelined_switches_take_acks_as_they_take_data() {
    for (scheme, on_full) in
        [("pfc", "stop"), ("pfc", "drop"), ("capfc", ""), ("none", ""), ("gpfc", ""), ("gfc", "")]
    {
        for classes in [false, true] {
            let mut cfg = if classes { with_data(scheme) } else { tcp(scheme) };
            if !on_full.is_empty() {
                crate::common::set(&mut cfg, "on-full", on_full);
            }
            cfg.switch.pipeline = Some(PipelineConfig::default());
            cfg.switch.thresholds = ThresholdConfig::Static {
                xoff: Bytes::from_kb(50),
                xon: Bytes::from_kb(40),
                limit: IngressLimit::Bytes(Bytes::from_kb(60)),
            };
            let rate = weir_core::Rate::from_gbps(1);
            let params = build::star::Params { hosts: 8, rate, delay: Time::from_ns(500) };
            let topology = build::star::build(&params).unwrap();
            let flows: Vec<_> = all_to_some();
            let engines = [EngineConfig::Sequential, EngineConfig::Window { threads: 2 }];
            let [out, other] =
                engines.map(|engine| run(&topology, &flows, &Config { engine, ..cfg.clone() }));
            assert_eq!(out.digest, other.digest, "{scheme}");
            let t = &out.totals;
            assert_eq!((&out.finish, t.completed), (&Finish::Drained, t.flows), "{scheme}");
            if on_full == "stop" {
                assert_eq!(t.dropped, 0, "{scheme} {classes}");
            }
        }
    }
}
