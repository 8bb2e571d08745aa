//! Parquet files hold what the CSV files beside them hold.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::path::Path;
use weir_lab::findings::Comparison;
use weir_lab::report::{self, Formats};
use weir_lab::run::{Meter, run_all};
use weir_lab::scenario::Files;
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

#[test]
fn every_table_reads_back_as_in_the_csv_file() {
    let e = Experiment::read("tables.toml", SCENARIO, Files::default(), &[])
        .unwrap_or_else(|p| panic!("{}", p.render(false)));
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
    for name in ["flows", "ports", "queues", "pauses", "pause-edges", "victims", "series"] {
        let mut csv = csv::Reader::from_path(out.join(format!("{name}.csv"))).expect("a table");
        let header = csv.headers().expect("a line of headings").clone();
        let expected: Vec<csv::StringRecord> = csv.records().map(|r| r.expect("a row")).collect();
        let file = File::open(out.join(format!("{name}.parquet"))).expect("a table");
        let file = SerializedFileReader::new(file).expect("Parquet");
        let rows: Vec<_> =
            file.get_row_iter(None).expect("rows").map(|r| r.expect("a row")).collect();
        assert!(!rows.is_empty() && rows.len() == expected.len(), "{name}: {}", rows.len());
        for (row, record) in rows.iter().zip(&expected) {
            for ((column, field), (head, cell)) in
                row.get_column_iter().zip(header.iter().zip(record))
            {
                assert_eq!((column.as_str(), text(field, cell).as_str()), (head, cell), "{name}");
                nulls += usize::from(*field == Field::Null);
                doubles += usize::from(matches!(field, Field::Double(_)));
            }
        }
    }
    // flows that were not done by 60 us have no completion time: at 40 Gb/s 400 KB take 80 us
    assert!(nulls > 0 && doubles > 0, "{nulls} {doubles}");
}
