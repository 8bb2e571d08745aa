//! The guide's example probe runs in a whole network, and probes hear of everything. (That they
//! change nothing is for the tests of shortcuts.)

use crate::common::witness::{WITNESS, heard};
use crate::own_scheme::{read, trimmed};
use crate::waiting::{self, WAITS, run};
use weir_core::{Bytes, FlowId, NodeId, Packet, PacketKind, PortId, Priority, QueueId, Time};
use weir_fc::{PortQueue, Role};
use weir_sim::outcome::{Cell, Column, PortRecord};
use weir_sim::probe::{ProbeConfig, ProbeInfo, ProbeSetup};

#[test]
fn the_example_runs_to_its_end() {
    waiting::main();
}

/// Bytes times waits, divided by the duration, are the mean length of the queue: the port's own
/// meter, which hears nothing of probes, must find the same.
#[test]
fn the_example_finds_the_mean_queue_length() {
    let out = run(vec![WAITS]).expect("a valid run");
    let ends = out.end.as_ps() as f64;
    let mut longest = 0.0f64;
    let table = &out.measurements[0];
    for (row, sum) in table.rows().zip(table.numbers("byte_time")) {
        let of = |p: &&PortRecord| row[1] == Cell::Port(p.node, p.port);
        let mean = out.ports.iter().find(of).expect("a port that sends has a record").queue.mean;
        assert!((sum as f64 / ends - mean).abs() <= 1e-9 * mean, "{row:?}: {mean}");
        longest = longest.max(mean);
    }
    // 8 x 100 kB come in eight times as fast as they leave; PFC keeps most of it in the hosts
    assert!(longest > 10_000.0, "{longest}");
}

/// Every packet but control frames is queued. In a queue that is served in order, the packet that
/// makes it longest waits for all bytes before it.
#[test]
fn the_example_counts_every_packet_of_a_whole_network() {
    let out = run(vec![WAITS]).expect("a valid run");
    let table = &out.measurements[0];
    let found = table.numbers("packets").zip(table.numbers("longest_ps"));
    let mut most = 0;
    for (row, (packets, longest)) in table.rows().zip(found) {
        let of = |p: &&PortRecord| row[1] == Cell::Port(p.node, p.port);
        let port = out.ports.iter().find(of).expect("a port that sends has a record");
        assert_eq!(packets, port.packets - port.control_sent, "{row:?}");
        let before = port.queue.max.saturating_sub(Bytes::new(1_600));
        assert!(longest >= port.rate.time_for(before).as_ps(), "{row:?}: {before}");
        most = most.max(packets);
    }
    // 100 kB are 67 packets of up to 1500 B, and eight flows leave by the port to the receiver
    assert_eq!(most, 8 * 67);
}

/// By hand: of three packets of 1000 B at one port the second waits longest, 30 ns; a fourth is
/// still there at the end.
#[test]
fn the_example_keeps_the_longest_wait_of_a_port_and_the_sum_of_all() {
    let config = ProbeConfig::default();
    let setup = ProbeSetup {
        node: NodeId(9),
        role: Role::Switch,
        may_pause: true,
        ports: 9,
        switch_ports: 9,
        fixed_tables: false,
        config: &config,
    };
    let mut probe = (WAITS.build)(&setup).expect("a switch has one");
    let at = PortQueue { port: PortId(4), queue: QueueId(0) };
    let packet = |seq| Packet {
        flow: FlowId::new(NodeId(0), 0),
        seq,
        dst: NodeId(4),
        wire_tag: 0,
        extra: Packet::NO_EXTRA,
        size: 1000,
        ingress: PortId(0),
        kind: PacketKind::Data,
        priority: Priority::ALL[3],
        flags: 0,
        local_tag: 0,
    };
    let ns = Time::from_ns;
    for (seq, queued, sent) in [(0, 0, 10), (1, 5, 35), (2, 20, 40)] {
        probe.queued(ns(queued), at, &packet(seq));
        probe.sent(ns(sent), at.port, &packet(seq));
    }
    probe.queued(ns(50), at, &packet(3));
    let mut out = run(vec![WAITS]).expect("a valid run");
    probe.report(ns(60), &mut out);
    let last = out.measurements[0].rows().last().expect("a row").to_vec();
    // 10 + 30 + 20 ns
    let sum = 1000 * ns(60).as_ps();
    let (node, port) = (NodeId(9), PortId(4));
    assert_eq!(last, [node.into(), (node, port).into(), 3u64.into(), ns(30).into(), sum.into()]);
}

/// The guide shows the code of both examples line by line: all of the probe, and how a run with
/// result files is made.
#[test]
fn the_guide_shows_the_code_of_the_example() {
    let example = read("crates/sim/examples/own_probe.rs");
    let files = read("crates/results/examples/probe_files.rs");
    assert!(example.lines().count() < 100);
    let guide = read("docs/src/own-probe.md");
    let blocks: Vec<&str> = guide.split("```rust,ignore\n").skip(1).collect();
    let mut shown = Vec::new();
    for block in blocks {
        let code = block.split("```").next().expect("a block ends").trim_end();
        assert!(example.contains(code) || files.contains(code), "not in an example:\n{code}");
        shown.extend(trimmed(code));
    }
    let probe = example.split("/// The line of registration.").nth(1);
    let probe = probe.and_then(|s| s.split("/// Eight hosts").next()).expect("the probe");
    // lines that only join the pieces
    let joins = |line: &str| ["}", "impl Probe for Waits {"].contains(&line);
    for line in trimmed(probe).into_iter().filter(|line| !joins(line)) {
        assert!(shown.contains(&line), "the guide does not show: {line}");
    }
    let steps = files.split("(directory: &Path)").nth(1).and_then(|s| s.split("\n}").next());
    for line in trimmed(steps.expect("the steps")).into_iter().skip(1) {
        assert!(shown.contains(&line), "the guide does not show: {line}");
    }
}

/// Two tables of one name would be one file, and so on.
#[test]
fn probes_whose_tables_could_not_be_written_are_refused() {
    const LOUD: ProbeInfo = ProbeInfo { name: "Waits", ..WAITS };
    const TWICE: &[Column] = &[Column::node("node", ""), Column::port("node", "")];
    const SEED: &[Column] = &[Column::count("seed", "")];
    const TIME: &[Column] = &[Column::time("wait", "")];
    let with = |columns| ProbeInfo { columns, ..WAITS };
    for (own, why) in [
        (vec![LOUD], "name of a probe is Waits: a lower-case letter"),
        (vec![WAITS, WAITS], "name of a probe is waits: two probes of a run"),
        (vec![ProbeInfo { name: "drops", ..WAITS }], "name of a probe is drops: two probes"),
        (vec![with(TWICE)], "column is node of waits: once per table"),
        (vec![with(SEED)], "column is seed of waits: once per table, and none of `variant`"),
        (vec![with(TIME)], "column is wait of waits: the name of a time, and of nothing else"),
    ] {
        let error = run(own).expect_err(why).to_string();
        assert!(error.starts_with(why), "{error}, not {why}");
    }
}

/// A run of 8 x 100 kB drains: what was heard is what the totals say.
#[test]
fn a_probe_hears_of_every_packet() {
    let out = run(vec![WITNESS]).expect("a valid run");
    let packets: u64 = out.ports.iter().map(|p| p.packets).sum();
    let pauses: u64 = out.ports.iter().flat_map(|p| p.pauses_sent).sum();
    let holds: u64 = out.ports.iter().flat_map(|p| p.holds).sum();
    assert_eq!(heard(&out, "arrived"), Some(out.totals.packet_hops));
    assert_eq!(heard(&out, "sent"), Some(packets));
    assert_eq!(heard(&out, "queued"), Some(out.totals.data_sent + out.totals.acks_sent));
    assert_eq!((heard(&out, "paused"), heard(&out, "held")), (Some(pauses), Some(holds)));
    assert!(pauses > 0);
    // ten nodes, one of them at 0, 1, 3, 7, 15, 31 and 63 us
    assert!(out.end > Time::from_us(63) && out.end < Time::from_us(127), "{}", out.end);
    assert_eq!(heard(&out, "samples"), Some(10 * 7));
}
