//! Single rules of the model, on small networks with numbers derived by hand.

use std::ops::ControlFlow;
use std::path::Path;
use weir_ns3::record::{
    FctRecord, PfcRecord, Progress, QueueDistribution, Recorder, TraceEvent, TraceRecord,
};
use weir_ns3::{Inputs, Memory, StopReason, from_texts, run};

/// Two hosts and a switch (2), 100 Gb/s, 1 us.
const PAIR: &str = "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n";
/// Senders 1 and 2, receiver 0, switch 3.
const INCAST: &str = "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 100Gbps 1000ns 0\n";

/// No congestion control, no window, stop at 2.01 s; `more` is added or overrides.
fn inputs(topology: &str, flows: &str, more: &str) -> Inputs {
    let config = format!(
        "TOPOLOGY_FILE topology\nFLOW_FILE flows\nTRACE_FILE trace\nCC_MODE 0\nHAS_WIN 0\n\
         ENABLE_QCN 0\nL2_ACK_INTERVAL 1\nL2_CHUNK_SIZE 4000\nSIMULATOR_STOP_TIME 2.01\n{more}\n"
    );
    let open = |name: &Path| {
        let text = match name.to_str() {
            Some("topology") => topology,
            Some("flows") => flows,
            _ => "2\n2 3\n",
        };
        Ok((name.into(), text.to_string()))
    };
    match from_texts(Path::new("config"), &config, open) {
        Ok((inputs, _)) => inputs,
        Err(d) => panic!("{d}"),
    }
}

fn finished(inputs: &Inputs) -> Vec<FctRecord> {
    let mut got = Memory::default();
    run(inputs, &mut got);
    got.fct
}

#[test]
fn a_lone_flow_takes_its_closed_form_time() {
    // 2 h d + (n + h - 1) tx + h ack, with h = 2 links: 4000 + 2 * 83 + 2 * 4 and
    // 4000 + 1001 * 83 + 8; one byte: 49 B on the wire take 3 ns
    for (size, fct) in [(1000, 4174), (1_000_000, 87_091), (1, 4000 + 2 * 3 + 2 * 4)] {
        let got = finished(&inputs(PAIR, &format!("1\n0 1 3 100 {size} 2.0"), ""));
        assert_eq!(got[0].fct_ns, fct, "{size} B");
    }
}

#[test]
fn an_incast_ends_after_all_its_packets() {
    let got = finished(&inputs(
        INCAST,
        "2\n1 0 3 100 2000000 2.0\n2 0 3 100 2000000 2.0",
        "BUFFER_SIZE 32",
    ));
    // 4000 + (4000 + 1) * 83 + 2 * 4
    assert_eq!(got.iter().map(|f| f.fct_ns).max(), Some(336_091));
}

#[test]
fn a_flow_beyond_4_gib_runs_to_its_end() {
    let size = 4_400_000_000u64;
    let flows = format!("1\n0 1 3 100 {size} 2.0");
    let config = "PACKET_PAYLOAD_SIZE 65000\nSIMULATOR_STOP_TIME 3";
    let got = finished(&inputs(PAIR, &flows, config));
    // 67 692 full packets of 65 048 B (5203 ns) and one of 20 000 B + 48 (1603 ns); the last one
    // follows a full one through the switch
    assert_eq!(got[0].size, size);
    assert_eq!(got[0].fct_ns, 4000 + (67_692 + 1) * 5203 + 1603 + 8);
    // 2 * 2000 + 2 * 5200 ns, and 8 (size + 48 * 67 693) / 100 ns, in full width
    assert_eq!(got[0].standalone_ns, 14_400 + (size + 48 * 67_693) * 8 / 100);
}

#[test]
fn flows_out_of_order_run_sorted() {
    let sorted = "2\n0 1 3 100 5000 2.0\n1 0 3 100 7000 2.001";
    let shuffled = "2\n1 0 3 100 7000 2.001\n0 1 3 100 5000 2.0";
    assert_eq!(finished(&inputs(PAIR, sorted, "")), finished(&inputs(PAIR, shuffled, "")));
}

#[test]
fn a_flow_without_bytes_is_never_reported() {
    let got = finished(&inputs(PAIR, "2\n0 1 3 100 0 2.0\n0 1 3 100 1000 2.0", ""));
    assert_eq!(got.iter().map(|f| f.size).collect::<Vec<_>>(), [1000]);
}

#[test]
fn without_an_ack_interval_nothing_finishes() {
    assert_eq!(finished(&inputs(PAIR, "1\n0 1 3 100 1000 2.0", "L2_ACK_INTERVAL 0")), []);
}

#[test]
fn flows_below_the_ack_interval_finish_only_on_a_chunk_boundary() {
    let flows = "2\n0 1 3 100 4000 2.0\n0 1 3 100 3000 2.001";
    let got = finished(&inputs(PAIR, flows, "L2_ACK_INTERVAL 100000"));
    assert_eq!(got.iter().map(|f| f.size).collect::<Vec<_>>(), [4000]);
}

#[test]
fn pauses_with_time_zero_resume() {
    let flows = "2\n1 0 3 100 2000000 2.0\n2 0 3 100 2000000 2.0";
    let mut normal = Memory::default();
    run(&inputs(INCAST, flows, "BUFFER_SIZE 1"), &mut normal);
    assert!(normal.pfc.iter().any(|p| p.pause));
    let mut zero = Memory::default();
    run(&inputs(INCAST, flows, "BUFFER_SIZE 1\nPAUSE_TIME 0.9"), &mut zero);
    assert!(!zero.pfc.is_empty() && zero.pfc.iter().all(|p| !p.pause));
}

#[test]
fn a_timer_without_a_period_stops_the_run_instead_of_hanging() {
    let flows = "2\n1 0 3 100 2000000 2.0\n2 0 3 100 2000000 2.0";
    let dcqcn = "CC_MODE 1\nENABLE_QCN 1\nKMIN_MAP 1 100000000000 1\nKMAX_MAP 1 100000000000 2\n\
                 PMAX_MAP 1 100000000000 1\nRP_TIMER 0.5";
    let outcome = run(&inputs(INCAST, flows, dcqcn), &mut Memory::default());
    assert!(matches!(outcome.reason, StopReason::Stuck { .. }), "{:?}", outcome.reason);
}

#[test]
fn a_host_with_two_nics_sends_each_flow_by_one_of_them() {
    // Host 0 has links to switches 2 and 3, host 1 too.
    let topology = "4 2 4\n2 3\n0 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n1 2 100Gbps 1us 0\n\
                    1 3 100Gbps 1us 0\n";
    let flows: String = (0..16).map(|i| format!("\n0 1 3 {i} 100000 2.0")).collect();
    let got = finished(&inputs(topology, &format!("16{flows}"), ""));
    assert_eq!(got.len(), 16);
    // 16 flows of 100 packets: on one NIC they would need 1600 * 83 ns
    let last = got.iter().map(|f| f.fct_ns).max().unwrap();
    assert!(last < 1600 * 83, "{last}");
}

/// Switch, port and bins.
type Distribution = (u32, u32, Vec<u32>);

/// Keeps everything.
#[derive(Default)]
struct All {
    memory: Memory,
    dumps: Vec<(u64, Vec<Distribution>)>,
    packets: Vec<TraceRecord>,
    stop_at_once: bool,
}

impl Recorder for All {
    fn fct(&mut self, r: &FctRecord) {
        self.memory.fct(r);
    }

    fn pfc(&mut self, r: &PfcRecord) {
        self.memory.pfc(r);
    }

    fn queues(&mut self, time_ns: u64, ports: &mut dyn Iterator<Item = QueueDistribution<'_>>) {
        let ports = ports.map(|p| (p.switch, p.interface, p.samples.to_vec())).collect();
        self.dumps.push((time_ns, ports));
    }

    fn wants_queues(&self) -> bool {
        true
    }

    fn packet(&mut self, r: &TraceRecord) {
        self.packets.push(*r);
    }

    fn wants_packets(&self) -> bool {
        true
    }

    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        if self.stop_at_once { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn queue_lengths_are_sampled_every_100_ns_and_dumped_at_100_ms() {
    let flows = "2\n1 0 3 100 100000 2.0999\n2 0 3 100 100000 2.0999";
    let config = "SIMULATOR_STOP_TIME 2.2\nQLEN_MON_START 2099900000\nQLEN_MON_END 2100000000\n\
                  BUFFER_SIZE 32";
    let mut all = All::default();
    let with = run(&inputs(INCAST, flows, config), &mut all).counters;
    let (time, ports) = &all.dumps[0];
    assert_eq!((all.dumps.len(), *time), (1, 2_100_000_000));
    assert_eq!(ports.iter().map(|p| (p.0, p.1)).collect::<Vec<_>>(), [(3, 1), (3, 2), (3, 3)]);
    // From 2.0999 to 2.1 s: 1001 samples at each port
    assert!(ports.iter().all(|p| p.2.iter().sum::<u32>() == 1001));
    // 200 packets come in pairs, every 83 ns: the queue to the receiver grows to about half
    let largest = ports[0].2.len() - 1;
    assert!((100..=110).contains(&largest), "{largest} kB");
    assert_eq!(ports[1].2.len(), 1, "ACKs do not queue");
    // Sampling changes nothing else, and is counted either way.
    let without = run(&inputs(INCAST, flows, config), &mut Memory::default()).counters;
    assert_eq!(with, without);
}

#[test]
fn a_packet_s_way_through_a_traced_switch() {
    let mut all = All::default();
    run(&inputs(PAIR, "1\n0 1 3 100 500 2.0", ""), &mut all);
    let seen: Vec<_> = all
        .packets
        .iter()
        .map(|r| (r.time_ns - 2_000_000_000, r.l3_protocol, r.event, r.interface, r.size))
        .collect();
    // 548 B take 43 ns; the ACK is back at the switch after 2 * 43 + 2000 + 4 + 1000 ns
    assert_eq!(
        seen,
        [
            (1043, 0x11, TraceEvent::Receive, 1, 548),
            (1043, 0x11, TraceEvent::Enqueue, 2, 548),
            (1043, 0x11, TraceEvent::Dequeue, 2, 548),
            (3090, 0xfc, TraceEvent::Receive, 2, 60),
            (3090, 0xfc, TraceEvent::Enqueue, 1, 60),
            (3090, 0xfc, TraceEvent::Dequeue, 1, 60),
        ]
    );
}

#[test]
fn an_interrupted_run_says_so() {
    let flows = "2\n1 0 3 100 100000000 2.0\n2 0 3 100 100000000 2.0";
    let mut all = All { stop_at_once: true, ..All::default() };
    let outcome = run(&inputs(INCAST, flows, "SIMULATOR_STOP_TIME 3\nENABLE_TRACE 0"), &mut all);
    assert_eq!(outcome.reason, StopReason::Interrupted);
    assert!(outcome.counters.end_ns < 3_000_000_000);
}

#[test]
fn traffic_moves_to_the_other_path_when_a_link_goes_down() {
    // Hosts 0 and 1 at leaves 2 and 3, spines 4 and 5; 4 is lost after 50 us.
    let topology = "6 4 6\n2 3 4 5\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 4 100Gbps 1us 0\n\
                    2 5 100Gbps 1us 0\n3 4 100Gbps 1us 0\n3 5 100Gbps 1us 0\n";
    let flows: String = (0..8).map(|i| format!("\n0 1 3 {i} 1000000 2.0")).collect();
    let inputs = inputs(topology, &format!("8{flows}"), "LINK_DOWN 50 2 4\nENABLE_TRACE 0");
    let mut got = Memory::default();
    let counters = run(&inputs, &mut got).counters;
    assert!(counters.lost > 0, "frames on the cut link vanish");
    assert!(!got.fct.is_empty(), "flows on the other spine finish");
    assert_eq!(counters.unroutable, 0);
}

#[test]
fn a_host_without_a_path_ends_the_run_and_says_who() {
    let cut = "LINK_DOWN 10 0 2\nENABLE_TRACE 0";
    // The first flow is over by then; the second takes 87 us, or starts later.
    let flows = "2\n1 0 3 100 1000 2.0\n0 1 3 100 1000000 2.000001";
    let mut got = Memory::default();
    let outcome = run(&inputs(PAIR, flows, cut), &mut got);
    let lost = |time_ns, from, to| StopReason::NoRoute { time_ns, from, to };
    assert_eq!(outcome.reason, lost(2_000_010_000, 0, 1));
    assert_eq!((got.fct.len(), outcome.counters.end_ns), (1, 2_000_010_000));
    let later = "2\n1 0 3 100 1000 2.0\n0 1 3 100 1000 2.0005";
    let later = inputs(PAIR, later, cut);
    let outcome = run(&later, &mut Memory::default());
    assert_eq!(outcome.reason, lost(later.flows[1].start_ns(), 0, 1));
    // Without such a flow the failure has no consequence.
    let over = "1\n1 0 3 100 1000 2.0";
    let mut got = Memory::default();
    assert_eq!(run(&inputs(PAIR, over, cut), &mut got).reason, StopReason::StopTime);
    assert_eq!(got.fct.len(), 1);
}

#[test]
fn a_link_failure_between_nodes_without_a_link_is_passed_over() {
    let flows = "1\n0 1 3 100 100000 2.0";
    let without = finished(&inputs(PAIR, flows, ""));
    assert_eq!(finished(&inputs(PAIR, flows, "LINK_DOWN 5 0 1")), without);
    assert_eq!(without.len(), 1);
}
