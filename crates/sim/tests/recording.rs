//! What a recording has of a run, and that nothing else depends on it.

mod common;

use common::{config, flow, run};
use weir_core::{Bytes, NodeId, PortId, Rate, Time};
use weir_net::Topology;
use weir_net::build::{self, leaf_spine, star};
use weir_sim::outcome::{Outcome, Recording};
use weir_sim::probe::RecordConfig;
use weir_sim::{Config, Finish};
use weir_traffic::FlowSpec;

fn recorded(scheme: &str, record: RecordConfig) -> Config {
    let mut cfg = config(scheme);
    cfg.probes.record = Some(record);
    cfg
}

/// Four hosts send to a fifth.
fn incast() -> (Topology, Vec<FlowSpec>) {
    let topology = build::star::build(&star::Params { hosts: 5, ..Default::default() }).unwrap();
    (topology, (1..5).map(|src| flow(src, 0, 400_000)).collect())
}

/// All hosts of a leaf-spine send to three of them.
fn mesh() -> (Topology, Vec<FlowSpec>) {
    let topology = build::leaf_spine::build(&leaf_spine::Params::default()).unwrap();
    let hosts = topology.hosts().len() as u32;
    let flows = (3..hosts).map(|src| flow(src, src % 3, 60_000 + u64::from(src))).collect();
    (topology, flows)
}

fn recording(out: &Outcome) -> &Recording {
    out.recording.as_deref().expect("it was asked for")
}

#[test]
fn a_recording_changes_nothing_else() {
    let (topology, flows) = mesh();
    for scheme in ["pfc", "ofc", "bfc", "none"] {
        let mut with = run(&topology, &flows, &recorded(scheme, RecordConfig::default()));
        assert!(!recording(&with).samples.is_empty(), "{scheme}");
        with.recording = None;
        assert_eq!(with, run(&topology, &flows, &config(scheme)), "{scheme}");
    }
}

/// Bytes and time of windows add up to those of the run, the longest queue of a window is the
/// longest of all, and every flow arrives as a whole.
fn adds_up(out: &Outcome, flows: &[FlowSpec]) {
    let recording = recording(out);
    for port in &out.ports {
        let own = recording.samples.iter().filter(|s| (s.node, s.port) == (port.node, port.port));
        let own: Vec<_> = own.collect();
        assert!(own.is_sorted_by(|a, b| a.window < b.window), "a row for each window: {own:?}");
        let sent: u64 = own.iter().map(|s| s.sent).sum();
        assert_eq!(sent, port.wire_bytes.get(), "{} {}", port.node, port.port);
        let held: Time = own.iter().map(|s| s.held).sum();
        assert_eq!(held, port.held_time[3], "{} {}: one priority is used", port.node, port.port);
        let longest = own.iter().map(|s| s.queue).max().unwrap_or(0);
        assert_eq!(Bytes::new(longest.into()), port.queue.max, "{} {}", port.node, port.port);
    }
    let delivered: u64 = recording.deliveries.iter().map(|d| d.bytes).sum();
    assert_eq!(delivered, flows.iter().map(|f| f.size.get()).sum::<u64>());
}

#[test]
fn windows_add_up_to_the_run() {
    for (topology, flows) in [incast(), mesh()] {
        let out = run(&topology, &flows, &recorded("pfc", RecordConfig::default()));
        assert_eq!(out.finish, Finish::Drained);
        assert_eq!(recording(&out).window, Time::from_us(1));
        adds_up(&out, &flows);
    }
}

#[test]
fn few_rows_make_windows_longer_and_lose_nothing() {
    let (topology, flows) = incast();
    // 5 ports of the switch and as many hosts keep 64 windows each, whatever is asked for
    let few = RecordConfig { window: Time::from_ns(100), rows: 1 };
    let out = run(&topology, &flows, &recorded("pfc", few));
    let recording = recording(&out);
    // 1.6 MB at 100 Gb/s take at least 128 us: 1280 windows of 100 ns, and 40 of 3.2 us
    assert!(recording.window >= Time::from_ns(3_200), "{}", recording.window);
    assert_eq!(recording.window.as_ps() % Time::from_ns(100).as_ps(), 0);
    let rows = recording.samples.len();
    assert!(rows <= 64 * 10, "{rows}");
    adds_up(&out, &flows);
}

/// By hand: two hosts send to a third at once. The port to it has half of what comes.
#[test]
fn a_window_has_what_was_sent_in_it() {
    let topology = build::star::build(&star::Params { hosts: 3, ..Default::default() }).unwrap();
    let flows = [flow(1, 0, 100_000), flow(2, 0, 100_000)];
    let out = run(&topology, &flows, &recorded("pfc", RecordConfig::default()));
    let rate = topology.rate(NodeId(3), PortId(0));
    // from the third window on the port is busy without a break: as many frames of 1500 B payload
    // begin as fit
    let frame = out.ports.iter().find(|p| p.node == NodeId(1)).map(|p| p.wire_bytes.get() / 67);
    let frame = rate.time_for(Bytes::new(frame.expect("host 1 has sent")));
    let per_window = Time::from_us(1).as_ps() / frame.as_ps();
    let recording = recording(&out);
    let port = |s: &weir_sim::outcome::WindowSample| (s.node, s.port) == (NodeId(3), PortId(0));
    let third = recording.samples.iter().filter(port).find(|s| s.window == 3).expect("a row");
    let frames = rate.time_for(Bytes::new(third.sent)).as_ps() / frame.as_ps();
    assert!(frames.abs_diff(per_window) <= 1, "{frames} of {per_window}");
    assert!(rate >= Rate::from_gbps(10));
}

/// Under PFC a port's holds of a priority do not overlap, so they add up to its time held.
#[test]
fn holds_are_noted_from_start_to_end() {
    let (topology, flows) = incast();
    let out = run(&topology, &flows, &recorded("pfc", RecordConfig::default()));
    assert!(!recording(&out).holds.is_empty());
    for port in &out.ports {
        let own =
            recording(&out).holds.iter().filter(|h| (h.node, h.port) == (port.node, port.port));
        let held: Time = own.map(|h| h.to.expect("the run drained") - h.from).sum();
        assert_eq!(held, port.held_time[3], "{} {}", port.node, port.port);
    }
}

/// The pauses of the log are those of the run, also where the log of tables is shorter.
#[test]
fn a_recording_has_more_pauses_than_tables_may_have() {
    let (topology, flows) = incast();
    let mut cfg = recorded("pfc", RecordConfig::default());
    cfg.probes.pause_events = 3;
    let out = run(&topology, &flows, &cfg);
    assert_eq!(out.pauses.len(), 3);
    assert_eq!(recording(&out).decisions.len() as u64, 3 + out.pauses_left_out);
    assert_eq!(recording(&out).left_out.decisions, 0);
}
