//! Every stored run of the reference simulator, line by line.
//!
//! `golden/*.txt` hold runs of the reference (alibaba-edu/High-Precision-Congestion-Control,
//! commit 9f4be2a) packed into two files: a case begins with `#case`, `#counters` are totals where
//! they were recorded, `#queue NODE PORT MAX DATA MARKED` the largest egress queue in bytes and the
//! data packets that left it (all, and marked), `#file NAME` is followed by that file's text, and `#same NAME CASE` stands
//! for the same text as in an earlier case. `routes.txt` lists `switch host next_hops...` in hash
//! order.

use std::collections::BTreeMap;
use std::path::Path;
use weir_ns3::record::{FctRecord, PfcRecord, Recorder, TraceEvent, TraceRecord};
use weir_ns3::routes::{Ports, Routes};
use weir_ns3::{Counters, Inputs, Memory, StopReason, from_texts, run};

#[derive(Clone, Default)]
struct Case {
    name: String,
    files: BTreeMap<String, String>,
    counters: BTreeMap<String, u64>,
    /// By (node, port): largest queue, data packets, marked ones.
    queues: BTreeMap<(u32, u32), [u64; 3]>,
}

fn unpack(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut open = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["#case", name] => cases.push(Case { name: name.into(), ..Case::default() }),
            ["#counters", ref pairs @ ..] => {
                let pairs = pairs.iter().map(|p| p.split_once('=').expect("name=value"));
                cases.last_mut().expect("a case is open").counters =
                    pairs.map(|(k, v)| (k.into(), v.parse().expect("a number"))).collect();
            }
            ["#queue", ref numbers @ ..] => {
                let n: Vec<u64> = numbers.iter().map(|n| n.parse().expect("a number")).collect();
                let key = (n[0] as u32, n[1] as u32);
                cases.last_mut().expect("a case is open").queues.insert(key, [n[2], n[3], n[4]]);
            }
            ["#file", name] => {
                open = name.into();
                cases.last_mut().expect("a case is open").files.insert(open.clone(), String::new());
            }
            ["#same", name, other] => {
                let source = cases.iter().find(|c| c.name == other).expect("an earlier case");
                let text = source.files[name].clone();
                cases.last_mut().expect("a case is open").files.insert(name.into(), text);
            }
            _ => {
                let files = &mut cases.last_mut().expect("a case is open").files;
                let file = files.get_mut(&open).expect("a file is open");
                file.push_str(line);
                file.push('\n');
            }
        }
    }
    cases
}

fn cases() -> Vec<Case> {
    let mut all = unpack(include_str!("golden/cases.txt"));
    all.extend(unpack(include_str!("golden/random.txt")));
    all
}

fn inputs(case: &Case) -> Inputs {
    let open = |name: &Path| {
        let text = name.to_str().and_then(|n| case.files.get(n));
        text.map(|t| (name.into(), t.clone())).ok_or_else(weir_ns3::Diagnostics::default)
    };
    let config = &case.files["config.txt"];
    match from_texts(Path::new("config.txt"), config, open) {
        Ok((inputs, _)) => inputs,
        Err(d) => panic!("{}: {d}", case.name),
    }
}

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
        inputs.trace_nodes = case.queues.keys().map(|&(node, _)| node).collect();
        let mut got = Queues::default();
        run(&inputs, &mut got);
        for (key, want) in &case.queues {
            assert_eq!(got.0.get(key), Some(want), "{}: node and port {key:?}", case.name);
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}
