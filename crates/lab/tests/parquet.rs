//! Parquet files hold what the CSV files beside them hold.

#[path = "../../sim/examples/own_probe.rs"]
#[allow(dead_code, reason = "its network is for the tests of weir-sim")]
mod own_probe;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::path::Path;
use weir_lab::findings::Comparison;
use weir_lab::report::{self, Formats};
use weir_lab::run::{Meter, run_all};
use weir_lab::scenario::Files;
use weir_lab::sweep::directory::SweepDir;
use weir_lab::sweep::draft::Draft;
use weir_lab::sweep::merge::Merged;
use weir_lab::sweep::shard::Shard;
use weir_lab::sweep::worker::{self, Options, work};
use weir_lab::{Experiment, Variant};

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

/// A field as the CSV file writes it.
fn text(field: &Field, cell: &str) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(n) => n.to_string(),
        // with as many digits as in the cell
        Field::Double(x) => {
            let digits = cell.split_once('.').map_or(0, |(_, digits)| digits.len());
            format!("{x:.digits$}")
        }
        other => panic!("no column is {other:?}"),
    }
}

/// Compares the two files of a table; returns how many fields are null and how many are fractions.
fn compare(name: &str, csv: &Path, parquet: &Path) -> (usize, usize) {
    let mut csv = csv::Reader::from_path(csv).expect("a table");
    let header = csv.headers().expect("a line of headings").clone();
    let expected: Vec<csv::StringRecord> = csv.records().map(|r| r.expect("a row")).collect();
    let file = SerializedFileReader::new(File::open(parquet).expect("a table")).expect("Parquet");
    let rows: Vec<_> = file.get_row_iter(None).expect("rows").map(|r| r.expect("a row")).collect();
    assert!(!rows.is_empty() && rows.len() == expected.len(), "{name}: {}", rows.len());
    let (mut nulls, mut doubles) = (0, 0);
    for (row, record) in rows.iter().zip(&expected) {
        assert_eq!(row.len(), header.len(), "{name}");
        for ((column, field), (head, cell)) in row.get_column_iter().zip(header.iter().zip(record))
        {
            assert_eq!((column.as_str(), text(field, cell).as_str()), (head, cell), "{name}");
            nulls += usize::from(*field == Field::Null);
            doubles += usize::from(matches!(field, Field::Double(_)));
        }
    }
    (nulls, doubles)
}

#[test]
fn every_table_reads_back_as_in_the_csv_file() {
    let mut e = Experiment::read("tables.toml", SCENARIO, Files::default(), &[])
        .unwrap_or_else(|p| panic!("{}", p.render(false)));
    e.scenario.probe.own = vec![own_probe::WAITS];
    let variants: Vec<Variant> =
        ["pfc", "none"].map(|s| e.variant(Some(s), None, 1).expect("a scheme")).into();
    let runs = run_all(&e, &variants, 2, &Meter::new(2)).into_iter();
    let runs = runs.map(|r| r.expect("not interrupted").expect("a valid run"));
    let c = Comparison::new(&e, runs.collect());
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab-parquet");
    let formats = Formats::new(true).expect("this test is built with the feature");
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

/// Both tables of a sweep: parameters with units, a run without a result, labels with commas.
#[test]
fn tables_of_a_sweep_read_back_as_in_the_csv_files() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab-parquet-sweep");
    let _ = std::fs::remove_dir_all(&out);
    std::fs::create_dir_all(&out).expect("made");
    let grid = out.join("grid.toml");
    let text = "scenario = \"incast\"\nseeds = \"1..2\"\n[parameters]\n\
        buffer = { key = \"switch.buffer\", values = [\"4MB\", \"8MB\"] }\n\
        [[variant]]\nlabel = \"PFC, plain\"\nscheme = \"pfc\"\n[[variant]]\nscheme = \"ofc\"\n";
    std::fs::write(&grid, text).expect("written");
    let draft = Draft::read(grid.to_str().expect("text")).expect("a grid");
    let planned = draft.plan().unwrap_or_else(|p| panic!("{}", p.render(false)));
    let sweep = SweepDir::new(&out.join("sweep"));
    sweep.write(&planned).expect("written");
    // one of the eight runs is missing
    let options = Options { shard: Shard::ALL, jobs: 2, limit: Some(7) };
    work(&sweep, &options, &worker::Meter::default()).expect("done");
    let results = sweep.read_results(&planned.plan).expect("read");
    let formats = Formats::new(true).expect("this test is built with the feature");
    let files = Merged::new(&planned.plan, &results).files(&planned.plan, formats).expect("files");
    for (name, bytes) in files {
        std::fs::write(out.join(name), bytes).expect("written");
    }
    for name in ["runs", "classes"] {
        let (csv, parquet) = (format!("{name}.csv"), format!("{name}.parquet"));
        let (nulls, doubles) = compare(name, &out.join(csv), &out.join(parquet));
        assert!(nulls > 0 && doubles > 0, "{name}: {nulls} {doubles}");
    }
}
