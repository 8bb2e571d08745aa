//! Random networks and configurations: runs do not panic, repeat exactly, and report each flow at
//! most once, no faster than light.

use proptest::prelude::*;
use std::collections::BTreeMap;
use weir_ns3::config::{CcMode, LinkDown};
use weir_ns3::record::{FctRecord, PfcRecord, Recorder, TraceRecord};
use weir_ns3::routes::{Ports, Routes};
use weir_ns3::{Config, Flow, Inputs, Link, Memory, StopReason, Topology, run};

/// A tree of switches with hosts at random places, and a few extra links between switches.
fn network() -> impl Strategy<Value = Topology> {
    let link = (
        prop::sample::select(vec![10u64, 25, 40, 100, 400, 1600]),
        prop_oneof![Just(0u64), 1..3000u64],
        prop_oneof![9 => Just(0.0), 1 => Just(0.01)],
    );
    (1u32..5, 2u32..6, prop::collection::vec((any::<u32>(), any::<u32>(), link), 12)).prop_map(
        |(switches, hosts, choices)| {
            let mut is_switch = vec![true; switches as usize];
            is_switch.extend(vec![false; hosts as usize]);
            let mut links = Vec::new();
            for (i, (x, y, (gbps, delay, error_rate))) in choices.into_iter().enumerate() {
                let i = i as u32 + 1;
                // The first links make a tree, the others join switches at random.
                let (a, b) = if i < switches {
                    (i, x % i)
                } else if i < switches + hosts {
                    (i, x % switches)
                } else {
                    (x % switches, y % switches)
                };
                if a != b {
                    links.push(Link { a, b, rate: gbps * 1_000_000_000, delay, error_rate });
                }
            }
            Topology { is_switch, links }
        },
    )
}

fn config() -> impl Strategy<Value = Config> {
    let modes = [CcMode::None, CcMode::Dcqcn, CcMode::Hpcc, CcMode::Timely, CcMode::Dctcp];
    let switches = prop::collection::vec(any::<bool>(), 12);
    (prop::sample::select(modes.to_vec()), switches, 1u32..3000, 1u64..200, 0u32..5, 0u32..6000)
        .prop_map(|(cc_mode, s, payload, timer, buffer_mib, chunk)| Config {
            cc_mode,
            payload,
            buffer_mib,
            enable_qcn: s[0],
            has_win: s[1],
            var_win: s[2],
            global_t: s[3],
            fast_react: s[4],
            multi_rate: s[5],
            sample_feedback: s[6],
            rate_bound: s[7],
            ack_high_prio: s[8],
            back_to_zero: s[9] && chunk > 0,
            clamp_target_rate: s[10],
            ack_interval: if s[11] { 1 } else { 5000 },
            chunk_size: chunk.into(),
            rp_timer_us: timer,
            alpha_resume_us: timer,
            rate_decrease_us: timer,
            ewma_gain: 0.1,
            rate_ai: 50_000_000,
            rate_hai: 500_000_000,
            stop: 2.002,
            kmin: [(100_000_000_000, 5)].into(),
            kmax: [(100_000_000_000, 50)].into(),
            pmax: [(100_000_000_000, 0.5)].into(),
            ..Config::default()
        })
}

fn inputs() -> impl Strategy<Value = Inputs> {
    let flow = (any::<u32>(), any::<u32>(), 0u8..8, 0u64..200_000, 0u32..50);
    (network(), config(), prop::collection::vec(flow, 1..12)).prop_map(
        |(topology, config, choices)| {
            let hosts: Vec<u32> =
                (0..topology.nodes()).filter(|&n| !topology.is_switch[n as usize]).collect();
            let mut flows: Vec<Flow> = choices
                .into_iter()
                .filter_map(|(src, dst, pg, size, us)| {
                    let host = |x: u32| hosts[x as usize % hosts.len()];
                    let start = 2.0 + f64::from(us) * 1e-6;
                    let flow = Flow { src: host(src), dst: host(dst), pg, dport: 100, size, start };
                    (flow.src != flow.dst).then_some(flow)
                })
                .collect();
            flows.sort_by_key(Flow::start_ns);
            Inputs { config, topology, flows, trace_nodes: Vec::new() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn any_network_runs_to_its_end_the_same_way_twice(inputs in inputs()) {
        let mut first = Memory::default();
        let one = run(&inputs, &mut first);
        let mut second = Memory::default();
        let two = run(&inputs, &mut second);
        prop_assert_eq!(one, two);
        prop_assert_eq!(&first, &second);
        let mut seen = BTreeMap::new();
        for f in &first.fct {
            let count = seen.entry((f.src, f.dst, f.sport)).or_insert(0);
            *count += 1;
            prop_assert_eq!(*count, 1, "reported twice: {}", f);
            prop_assert!(f.size > 0 && f.start_ns + f.fct_ns < 2_002_000_000);
        }
        let c = one.counters;
        prop_assert_eq!(c.flows_done, first.fct.len());
        prop_assert_eq!(c.host.pfc, 0, "hosts never pause");
        prop_assert_eq!(c.unroutable, 0);
        // Every pause frame that arrived was sent by a switch.
        prop_assert!(first.pfc.len() as u64 <= c.switch.pfc);
    }
}

/// Inputs with further links between any nodes (hosts with several NICs, parallel links) and a
/// failure between any two, of which the second need not exist.
fn failing() -> impl Strategy<Value = Inputs> {
    let extra = prop::collection::vec((any::<u32>(), any::<u32>(), 0usize..3), 0..8);
    (inputs(), extra, any::<(u32, u32)>(), 1u64..60, prop::collection::vec(0u32..12, 0..4))
        .prop_map(|(mut inputs, extra, (a, b), after_us, trace_nodes)| {
            let nodes = inputs.topology.nodes();
            for (x, y, rate) in extra {
                let (a, b) = (x % nodes, y % nodes);
                let rate = [25_000_000_000, 100_000_000_000, 400_000_000_000][rate];
                if a != b {
                    inputs.topology.links.push(Link { a, b, rate, delay: 500, error_rate: 0.0 });
                }
            }
            let links = &inputs.topology.links;
            let link = links[a as usize % links.len()];
            let ends = match b % 8 {
                0 => (a % (nodes + 2), b % (nodes + 2)),
                1..4 => (link.b, link.a),
                _ => (link.a, link.b),
            };
            inputs.config.link_down = Some(LinkDown { after_us, a: ends.0, b: ends.1 });
            inputs.trace_nodes = trace_nodes;
            inputs
        })
}

/// Keeps completions, pauses and packets.
#[derive(Default, PartialEq)]
struct Traced(Memory, Vec<TraceRecord>);

impl Recorder for Traced {
    fn fct(&mut self, r: &FctRecord) {
        self.0.fct(r);
    }

    fn pfc(&mut self, r: &PfcRecord) {
        self.0.pfc(r);
    }

    fn packet(&mut self, r: &TraceRecord) {
        self.1.push(*r);
    }

    fn wants_packets(&self) -> bool {
        true
    }
}

/// Whether two hosts are joined by a path without the link that fails.
fn joined_after_failure(inputs: &Inputs, from: u32, to: u32) -> bool {
    let down = inputs.config.link_down.expect("a link fails");
    let ends = |l: &Link| (l.a.min(l.b), l.a.max(l.b));
    let cut = (down.a.min(down.b), down.a.max(down.b));
    // Of parallel links only the last is ever used, so that all of them are lost.
    let up = |link: u32| ends(&inputs.topology.links[link as usize]) != cut;
    let ports = Ports::new(&inputs.topology);
    let routes = Routes::new(&inputs.topology, &ports, 1000, [(from, to)], up);
    routes.pair(from, to).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn any_link_may_fail(inputs in failing()) {
        let (mut first, mut second) = (Traced::default(), Traced::default());
        let one = run(&inputs, &mut first);
        prop_assert_eq!(one, run(&inputs, &mut second));
        prop_assert!(first == second, "two runs differ");
        let failed_at = 2_000_000_000 + inputs.config.link_down.unwrap().after_us * 1000;
        match one.reason {
            StopReason::NoRoute { time_ns, from, to } => {
                prop_assert!(time_ns >= failed_at);
                prop_assert!(!joined_after_failure(&inputs, from, to));
            }
            reason => prop_assert_eq!(reason, StopReason::StopTime),
        }
        // Tracing changes nothing else, and every record comes as often as its node is named.
        let mut plain = Memory::default();
        prop_assert_eq!(one, run(&inputs, &mut plain));
        prop_assert_eq!(&plain, &first.0);
        let mut at = 0;
        while at < first.1.len() {
            let record = first.1[at];
            let named = inputs.trace_nodes.iter().filter(|&&n| n == record.node).count();
            let same = first.1[at..].iter().take_while(|r| **r == record).count();
            prop_assert!(same >= named && named > 0, "{:?}", record);
            at += named;
        }
    }
}
