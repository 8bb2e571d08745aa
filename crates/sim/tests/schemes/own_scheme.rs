//! The guide's example scheme runs: by itself, in every order of events on a small line, and in a
//! whole network, without a change to the simulator.

use crate::common::{config, flow, run, star};
use crate::door::{self, Door};
use weir_fc::Values;
use weir_fc::explore::explore;
use weir_fc::explore::line::{Line, LineFlow};
use weir_fc::harness::Bench;
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
fn the_example_survives_every_order_of_events_on_a_line() {
    // a limit of two packets, so that five pause
    let mut values = Values::new();
    values.set(&door::INFO.params[0], "2KB").expect("a size");
    let node = || Bench::around(4, "75KB", "45KB", |setup| Door::new(&values, setup));
    let flows = vec![LineFlow::new((0, 2), (1, 2), 3), LineFlow::new((1, 3), (1, 2), 2)];
    let seen = explore(&Line::new(vec![node(), node()], flows), 1_000_000);
    assert!(seen.failure.is_none(), "{:?}", seen.failure);
    assert!(seen.states > 100, "{}", seen.states);
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

/// Every line of the example down to `main` stands in the guide, and every line of the guide's
/// steps in the example.
#[test]
fn the_guide_shows_the_code_of_the_example() {
    let example = read("crates/fc/examples/own_scheme.rs");
    assert!(example.lines().count() < 100);
    let guide = read("docs/src/own-scheme.md");
    let steps = guide.split("## Step by step").nth(1).and_then(|s| s.split("## Test it").next());
    let blocks = steps.expect("both headings").split("```").skip(1).step_by(2);
    let shown: Vec<String> =
        blocks.flat_map(|b| trimmed(b.trim_start_matches("rust,ignore"))).collect();
    let code =
        example.split("const LIMIT").nth(1).and_then(|s| s.split("pub(crate) fn main").next());
    let code = format!("const LIMIT{}", code.expect("the example's parts"));
    assert_eq!(shown, trimmed(&code));
}

/// The table of hooks in the guide names every method of the trait.
#[test]
fn the_guide_names_every_hook() {
    let source = read("crates/fc/src/lib.rs");
    let body = source.split("pub trait FlowControl").nth(1).and_then(|s| s.split("\n}\n").next());
    let methods = body.expect("the trait").lines().filter_map(|l| l.strip_prefix("    fn "));
    let methods: Vec<&str> = methods.map(|l| l.split('(').next().unwrap_or(l)).collect();
    assert!(methods.len() > 10, "{methods:?}");
    let guide = read("docs/src/own-scheme.md");
    let hooks = guide.split("## The hooks").nth(1).and_then(|s| s.split("## ").next());
    let hooks = hooks.expect("the heading");
    for method in methods {
        assert!(hooks.contains(&format!("`{method}`")), "`{method}` is not in the guide");
    }
}
