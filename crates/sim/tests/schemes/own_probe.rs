//! The guide's example probe runs in a whole network, and probes hear of everything. (That they
//! change nothing is for the tests of shortcuts.)

use crate::common::witness::{WITNESS, heard};
use crate::own_scheme::read;
use crate::waiting::{self, WAITS, incast};
use weir_core::{NodeId, Time};

#[test]
fn the_example_runs_to_its_end() {
    waiting::main();
}

/// Bytes times waits, divided by the duration, are the mean length of the queue: the port's own
/// meter, which hears nothing of probes, must find the same.
#[test]
fn the_example_finds_the_mean_queue_length() {
    let out = incast(vec![WAITS]);
    let ends = out.end.as_ps() as f64;
    let mut longest = 0.0f64;
    for row in out.measurements[0].rows() {
        let port = out
            .ports
            .iter()
            .find(|p| p.node == NodeId(row[0] as u32) && u64::from(p.port.0) == row[1]);
        let mean = port.expect("a port that sends has a record").queue.mean;
        assert!((row[4] as f64 / ends - mean).abs() <= 1e-9 * mean, "{row:?}: {mean}");
        longest = longest.max(mean);
    }
    // 8 x 100 kB come in eight times as fast as they leave; PFC keeps most of it in the hosts
    assert!(longest > 10_000.0, "{longest}");
}

/// The guide shows the example's code line by line, and is not longer than a page.
#[test]
fn the_guide_shows_the_code_of_the_example() {
    let example = read("crates/sim/examples/own_probe.rs");
    assert!(example.lines().count() < 100);
    let guide = read("docs/src/own-probe.md");
    for block in guide.split("```rust,ignore\n").skip(1) {
        let code = block.split("```").next().expect("a block ends");
        assert!(example.contains(code.trim_end()), "not in the example:\n{code}");
    }
}

/// A run of 8 x 100 kB drains: what was heard is what the totals say.
#[test]
fn a_probe_hears_of_every_packet() {
    let out = incast(vec![WITNESS]);
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
