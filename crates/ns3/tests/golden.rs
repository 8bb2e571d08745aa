//! Every stored run of the reference simulator, line by line.
//!
//! `common/stored.rs` says what is stored; `routes.txt` lists `switch host next_hops...` in hash
//! order.

#[path = "common/stored.rs"]
mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use stored::{cases, inputs};
use weir_ns3::output::Files;
use weir_ns3::record::{FctRecord, PfcRecord, Recorder, TraceBody, TraceEvent, TraceRecord};
use weir_ns3::routes::{Ports, Routes};
use weir_ns3::{Counters, Memory, StopReason, run};

/// The first line in which `got` differs from `want`.
fn difference(want: &str, got: impl Iterator<Item = String>) -> Option<String> {
    let want: Vec<String> = want.lines().map(Into::into).collect();
    let got: Vec<String> = got.collect();
    if want == got {
        return None;
    }
    let same = want.iter().zip(&got).take_while(|(w, g)| w == g).count();
    let (w, g) = (want.get(same), got.get(same));
    Some(format!("line {}: want {w:?}, got {g:?}", same + 1))
}

fn named(c: &Counters) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("events", c.events),
        ("host_data", c.host.data),
        ("host_ack", c.host.ack),
        ("host_nack", c.host.nack),
        ("host_bytes", c.host.bytes),
        ("sw_data", c.switch.data),
        ("sw_ack", c.switch.ack),
        ("sw_nack", c.switch.nack),
        ("sw_pfc", c.switch.pfc),
        ("sw_bytes", c.switch.bytes),
        ("drops", c.drops),
        ("maxRtt", c.max_rtt_ns),
        ("maxBdp", c.max_bdp),
        ("n_done", c.flows_done as u64),
    ])
}

#[test]
fn every_reference_run_is_reproduced_line_by_line() {
    let mut failures = Vec::new();
    let cases = cases();
    assert_eq!(cases.len(), 166);
    for case in &cases {
        let mut got = Memory::default();
        let outcome = run(&inputs(case), &mut got);
        assert_eq!(outcome.reason, StopReason::StopTime);
        let fct = got.fct.iter().map(ToString::to_string);
        let pfc = got.pfc.iter().map(ToString::to_string);
        if let Some(d) = difference(&case.files["fct.txt"], fct) {
            failures.push(format!("{}: fct {d}", case.name));
        }
        if let Some(d) = difference(&case.files["pfc.txt"], pfc) {
            failures.push(format!("{}: pfc {d}", case.name));
        }
        let counters = named(&outcome.counters);
        for (name, want) in &case.counters {
            let got = counters[name.as_str()];
            if got != *want {
                failures.push(format!("{}: {name}: want {want}, got {got}", case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn every_file_of_runs_with_a_link_failure_is_reproduced() {
    let cases = stored::unpack(include_str!("golden/linkdown.txt"));
    assert_eq!(cases.len(), 55);
    let mut failures = Vec::new();
    for case in &cases {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failures").join(&case.name);
        let inputs = inputs(case);
        let mut files = Files::create(&inputs, Some(&dir)).expect("results can be written");
        assert_eq!(run(&inputs, &mut files).reason, StopReason::StopTime, "{}", case.name);
        files.finish().expect("results can be written");
        for file in ["fct.txt", "pfc.txt", "qlen.txt"] {
            let got = std::fs::read_to_string(dir.join(file)).expect("a result");
            if let Some(d) = difference(&case.files[file], got.lines().map(Into::into)) {
                failures.push(format!("{}: {file} {d}", case.name));
            }
        }
        let trace = std::fs::read(dir.join("mix.tr")).expect("a trace");
        let got = (trace.len() as u64, hash(&trace));
        let want = (case.counters["trace_bytes"], case.counters["trace_hash"]);
        if got != want {
            failures.push(format!("{}: trace: want {want:?}, got {got:?}", case.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn next_hops_come_in_the_reference_s_order() {
    let mut checked = 0;
    for case in cases() {
        let Some(routes) = case.files.get("routes.txt") else { continue };
        let inputs = inputs(&case);
        let ports = Ports::new(&inputs.topology);
        let hosts: Vec<u32> = (0..inputs.topology.nodes())
            .filter(|&n| !inputs.topology.is_switch[n as usize])
            .collect();
        let pairs = hosts.iter().map(|&h| (hosts[0], h));
        let computed =
            Routes::new(&inputs.topology, &ports, inputs.config.payload, pairs, |_| true);
        for line in routes.lines() {
            let ids: Vec<u32> = line.split(' ').map(|w| w.parse().expect("a node")).collect();
            let next: Vec<u32> = computed
                .next_hops_to(computed.chooser(ids[0]).unwrap(), computed.destination(ids[1]))
                .iter()
                .map(|&p| ports.ends[ports.ends[p as usize].peer as usize].node)
                .collect();
            assert_eq!(next, ids[2..], "{}: from {} to {}", case.name, ids[0], ids[1]);
            checked += 1;
        }
    }
    assert!(checked > 500, "{checked}");
}

/// Follows the egress queues of traced nodes through their packet records.
#[derive(Default)]
struct Queues(BTreeMap<(u32, u32), [u64; 3]>);

impl Recorder for Queues {
    fn fct(&mut self, _: &FctRecord) {}

    fn pfc(&mut self, _: &PfcRecord) {}

    fn wants_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, r: &TraceRecord) {
        if r.queue == 0 {
            return;
        }
        let [largest, data, marked] = self.0.entry((r.node, r.interface)).or_default();
        match r.event {
            TraceEvent::Enqueue => {
                *largest = (*largest).max(u64::from(r.qlen) + u64::from(r.size));
            }
            TraceEvent::Dequeue if r.l3_protocol == 0x11 => {
                *data += 1;
                *marked += u64::from(r.ecn == 3);
            }
            _ => {}
        }
    }
}

#[test]
fn queues_and_marks_seen_in_packet_records_are_the_reference_s() {
    let mut checked = 0;
    for case in cases().into_iter().filter(|c| !c.queues.is_empty()) {
        let mut inputs = inputs(&case);
        let nodes: BTreeSet<u32> = case.queues.keys().map(|&(node, _)| node).collect();
        inputs.trace_nodes = nodes.into_iter().collect();
        let mut got = Queues::default();
        run(&inputs, &mut got);
        for (key, want) in &case.queues {
            assert_eq!(got.0.get(key), Some(want), "{}: node and port {key:?}", case.name);
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

/// The switches that data packets of each (sender, receiver, source port) left.
#[derive(Default)]
struct Passed(BTreeMap<(u32, u32, u16), BTreeSet<u32>>);

impl Recorder for Passed {
    fn fct(&mut self, _: &FctRecord) {}

    fn pfc(&mut self, _: &PfcRecord) {}

    fn wants_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, r: &TraceRecord) {
        let node = |address: u32| (address >> 8) & 0xffff;
        if let (TraceEvent::Dequeue, TraceBody::Data { sport, .. }) = (r.event, r.body) {
            self.0.entry((node(r.sip), node(r.dip), sport)).or_default().insert(r.node);
        }
    }
}

#[test]
fn flows_pass_the_switches_that_their_paths_name() {
    let name = "ls16_ws50_buf2_nocc_win";
    let case = cases().into_iter().find(|c| c.name == name).expect("a stored case");
    let mut inputs = inputs(&case);
    let is_switch = inputs.topology.is_switch.clone();
    inputs.trace_nodes = (0..inputs.topology.nodes()).filter(|&n| is_switch[n as usize]).collect();
    let mut passed = Passed::default();
    run(&inputs, &mut passed);
    let mut ports: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    for (flow, path) in inputs.flows.iter().zip(weir_ns3::import::paths(&inputs)) {
        let sport = ports.entry((flow.src, flow.dst)).or_insert(10_000);
        let path = path.expect("every pair is connected");
        assert_eq!((path.first(), path.last()), (Some(&flow.src), Some(&flow.dst)));
        let switches: BTreeSet<u32> = path[1..path.len() - 1].iter().copied().collect();
        assert_eq!(passed.0.get(&(flow.src, flow.dst, *sport)), Some(&switches), "{flow:?}");
        *sport += 1;
    }
    // Otherwise one switch would do for all.
    assert!(passed.0.values().any(|switches| switches.len() == 3));
}
