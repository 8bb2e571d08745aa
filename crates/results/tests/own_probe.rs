//! The table of a user's own probe is in the files of a run, as the guide says.

#[path = "../examples/probe_files.rs"]
mod probe_files;

use probe_files::{WAITS, write};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of the example, in a directory of its own for one test.
fn written(name: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("own-probe-{name}"));
    // a directory of another version may have no mark
    let _ = fs::remove_dir_all(&out);
    write(&out).expect("results can be written")
}

/// The rows of a table, each by column.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut table = csv::Reader::from_path(path).expect("a table");
    table.deserialize().map(|row| row.expect("a row")).collect()
}

/// Every port that queued something is in both tables, under the same name, and a packet that
/// waited is one that was sent.
#[test]
fn the_table_of_an_own_probe_is_a_file_that_joins_the_others() {
    let out = written("joins");
    let ports = rows(&out.join("ports.csv"));
    let waits = rows(&out.join("probe-waits.csv"));
    let key = |row: &BTreeMap<String, String>| {
        ["variant", "scheme", "seed", "node", "port"].map(|column| row[column].clone())
    };
    let number = |row: &BTreeMap<String, String>, column: &str| -> f64 {
        row[column].parse().unwrap_or_else(|e| panic!("{column} of {row:?}: {e}"))
    };
    for wait in &waits {
        let port = ports.iter().find(|port| key(port) == key(wait));
        let port = port.unwrap_or_else(|| panic!("{wait:?} is not in ports.csv"));
        assert!(number(wait, "packets") <= number(port, "packets"), "{wait:?}, {port:?}");
        // a port in which nothing waited has an empty queue at all times
        let waited = number(wait, "byte_time") > 0.0;
        assert_eq!(waited, number(port, "queue_max") > 0.0, "{wait:?}, {port:?}");
    }
    for scheme in ["pfc", "ofc"] {
        let of = waits.iter().filter(|row| row["scheme"] == scheme);
        assert!(of.clone().any(|row| number(row, "longest_ps") > 0.0), "{scheme} has rows");
    }
}

#[test]
fn what_the_columns_of_an_own_probe_mean_is_in_the_summary() {
    let out = written("meanings");
    let text = fs::read(out.join("summary.json")).expect("a file");
    let summary: Value = serde_json::from_slice(&text).expect("JSON");
    let table = &summary["runs"][0]["probes"][0];
    assert_eq!((&table["probe"], &table["file"]), (&"waits".into(), &"probe-waits.csv".into()));
    assert_eq!(table["summary"], WAITS.summary);
    let columns = table["columns"].as_array().expect("a list");
    let names = columns.iter().map(|c| c["name"].as_str().expect("a name"));
    assert!(names.eq(WAITS.columns.iter().map(|c| c.name)), "{columns:?}");
    assert_eq!(columns[3]["unit"], "ps");
    assert_eq!(columns[3]["doc"], WAITS.columns[3].doc);
    let all = rows(&out.join("probe-waits.csv"));
    let first = all.iter().filter(|row| row["scheme"] == "pfc").count();
    assert_eq!(table["rows"], first);
    let page = fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(page.contains("probe-waits.csv"), "the page names the files beside it");
}

/// A directory is replaced if all files in it are results: this one's are, too.
#[test]
fn results_with_a_table_of_an_own_probe_can_be_replaced() {
    let out = written("again");
    let before = fs::read(out.join("probe-waits.csv")).expect("a table");
    write(&out).expect("earlier results are replaced");
    assert_eq!(fs::read(out.join("probe-waits.csv")).expect("a table"), before);
    fs::write(out.join("probe-notes.txt"), "mine").expect("a file");
    let why = write(&out).expect_err("a note would be lost").to_string();
    assert!(why.contains("`probe-notes.txt`, which is not a result"), "{why}");
}
