//! Parquet files of a sweep hold what the CSV files beside them hold.

#[path = "../../results/tests/common/parquet_files.rs"]
mod parquet_files;

use parquet_files::compare;
use std::path::Path;
use weir_results::report::Formats;
use weir_sweep::directory::SweepDir;
use weir_sweep::draft::Draft;
use weir_sweep::files::files;
use weir_sweep::merge::Merged;
use weir_sweep::shard::Shard;
use weir_sweep::worker::{self, Options, work};

/// Both tables of a sweep: parameters with units, a run without a result, labels with commas.
#[test]
fn tables_of_a_sweep_read_back_as_in_the_csv_files() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parquet-sweep");
    let _ = std::fs::remove_dir_all(&out);
    std::fs::create_dir_all(&out).expect("made");
    let grid = out.join("grid.toml");
    let text = "scenario = \"incast\"\nseeds = \"1..2\"\n[parameters]\n\
        buffer = { key = \"switch.buffer\", values = [\"4MB\", \"8MB\"] }\n\
        [[variant]]\nlabel = \"PFC, plain\"\nscheme = \"pfc\"\n[[variant]]\nscheme = \"ofc\"\n";
    std::fs::write(&grid, text).expect("written");
    let draft = Draft::read(grid.to_str().expect("text")).expect("a grid");
    let planned = draft.plan().unwrap_or_else(|p| panic!("{p}"));
    let sweep = SweepDir::new(&out.join("sweep"));
    sweep.write(&planned).expect("written");
    // one of the eight runs is missing
    let options = Options { shard: Shard::ALL, jobs: 2, limit: Some(7) };
    work(&sweep, &options, &worker::Meter::default()).expect("done");
    let results = sweep.read_results(&planned.plan).expect("read");
    let formats = Formats::with_parquet().expect("this test is built with the feature");
    let written =
        files(&Merged::new(&planned.plan, &results), &planned.plan, formats).expect("files");
    for (name, bytes) in written {
        std::fs::write(out.join(name), bytes).expect("written");
    }
    for name in ["runs", "classes"] {
        let (csv, parquet) = (format!("{name}.csv"), format!("{name}.parquet"));
        let (nulls, doubles) = compare(name, &out.join(csv), &out.join(parquet));
        assert!(nulls > 0 && doubles > 0, "{name}: {nulls} {doubles}");
    }
}
