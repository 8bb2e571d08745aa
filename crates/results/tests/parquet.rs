//! Parquet files hold what the CSV files beside them hold.

#[path = "../../sim/examples/own_probe.rs"]
#[allow(dead_code, reason = "its network is for the tests of weir-sim")]
mod own_probe;
#[path = "common/parquet_files.rs"]
mod parquet_files;

use parquet_files::compare;
use std::path::Path;
use weir_results::comparison::Comparison;
use weir_results::report::{self, Formats};
use weir_results::run::{Meter, run_all};
use weir_scenario::{Experiment, Files, Variant};

/// Pauses, a victim, losses, unfinished flows (which have empty cells), names with commas.
const SCENARIO: &str = r#"
name = "tables"
[topology]
kind = "ofc-chain"
[switch]
thresholds = { xoff = "20KB", xon = "18KB" }
[[traffic]]
kind = "burst"
class = "a burst, \"of\" four"
from = "h1..h4"
to = "h9"
size = "400KB"
[[traffic]]
kind = "flow"
class = "victim"
from = "h0"
to = "h8"
size = "400KB"
[run]
until = "60us"
[probe]
series = "2us"
"#;

#[test]
fn every_table_reads_back_as_in_the_csv_file() {
    let mut e = Experiment::read("tables.toml", SCENARIO, Files::default(), &[])
        .unwrap_or_else(|p| panic!("{p}"));
    e.scenario.probe.own = vec![own_probe::WAITS];
    let variants: Vec<Variant> =
        ["pfc", "none"].map(|s| e.variant(Some(s), None, 1).expect("a scheme")).into();
    let runs = run_all(&e, &variants, 2, &Meter::new(2)).into_iter();
    let runs = runs.map(|r| r.expect("not interrupted").expect("a valid run"));
    let c = Comparison::new(&e, runs.collect());
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("results-parquet");
    let formats = Formats::with_parquet().expect("this test is built with the feature");
    // a directory of another version may have no mark
    let _ = std::fs::remove_dir_all(&out);
    report::write(&c, &out, "weir compare", formats).expect("results can be written");
    let (mut nulls, mut doubles) = (0, 0);
    let own = "probe-waits";
    for name in ["flows", "ports", "queues", "pauses", "pause-edges", "victims", "series", own] {
        let (n, d) =
            compare(name, &out.join(format!("{name}.csv")), &out.join(format!("{name}.parquet")));
        (nulls, doubles) = (nulls + n, doubles + d);
    }
    // flows that were not done by 60 us have no completion time: at 40 Gb/s 400 KB take 80 us
    assert!(nulls > 0 && doubles > 0, "{nulls} {doubles}");
}
