//! The guide's example scheme runs in a whole network, without a change to the simulator.

use crate::common::{config, flow, run, star};
use crate::door;
use weir_fc::Values;
use weir_sim::Finish;
use weir_sim::config::{Scheme, ThresholdConfig};

/// A file of the repository.
pub(crate) fn read(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The lines of a text without indentation and empty lines.
pub(crate) fn trimmed(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_example_runs_to_its_end() {
    door::main();
}

#[test]
fn the_example_pauses_an_incast_in_a_whole_network() {
    let mut cfg = config("pfc");
    cfg.scheme = Scheme { info: &door::INFO, values: Values::new() };
    cfg.switch.thresholds = ThresholdConfig::Pool;
    let flows: Vec<_> = (0..8).map(|h| flow(h, 8, 1_000_000)).collect();
    let topology = star(9, "1us");
    let out = run(&topology, &flows, &cfg);
    assert_eq!((out.finish, out.totals.completed, out.totals.dropped), (Finish::Drained, 8, 0));
    let pauses: u64 = out.ports.iter().map(|p| p.pauses_sent[3]).sum();
    assert!(pauses >= 8, "every sender is paused: {pauses}");
    // 8 x 12.5 B/ns less 12.5 drained, for 2 us of cable and three frames of 123 ns; without a
    // pause it would be 7 MB
    let longest = out.ports.iter().map(|p| p.queue.max.get()).max().expect("ports");
    assert!((30_000..30_000 + 8 * 12_500 * 24 / 10).contains(&longest), "{longest}");
}
