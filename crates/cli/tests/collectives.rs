//! `weir collectives` as a user runs it.

use std::process::{Command, Output};
use std::sync::OnceLock;

/// Four hosts around a switch of 100 Gb/s, no flow control.
const SCENARIO: &str = "[topology]
kind = \"star\"
hosts = 4

[flow-control]
scheme = \"none\"

[[job]]
name = \"sum\"
size = \"1MB\"
iterations = 2
pipeline = 4
chunk = \"64KiB\"
";

fn weir(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weir")).args(args).output().expect("weir runs")
}

/// The scenario as a file, written once: tests of this file run at the same time.
fn file() -> String {
    static FILE: OnceLock<String> = OnceLock::new();
    let write = || {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("collectives.toml");
        std::fs::write(&path, SCENARIO).expect("a file");
        path.to_str().expect("text").to_owned()
    };
    FILE.get_or_init(write).clone()
}

/// Bus bandwidth grows with size towards the payload rate of 100 Gb/s, 12.19 GB/s, less ACKs.
#[test]
fn bus_bandwidth_grows_towards_the_payload_rate() {
    let out =
        weir(&["collectives", &file(), "--sizes", "100KB..6400KB", "--factor", "4", "--json"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let rows = json["sizes"].as_array().expect("rows");
    let sizes: Vec<u64> = rows.iter().filter_map(|r| r["size"].as_u64()).collect();
    assert_eq!(sizes, [100_000, 400_000, 1_600_000, 6_400_000]);
    let bus: Vec<f64> = rows.iter().filter_map(|r| r["bus_bytes_per_second"].as_f64()).collect();
    assert!(bus[0] < bus[1] && bus[1] < bus[2], "{bus:?}");
    assert!(bus[2..].iter().all(|b| (10.5e9..12.2e9).contains(b)), "{bus:?}");
    for row in rows {
        let (size, time) = (row["size"].as_f64().unwrap(), row["time_ps"].as_f64().unwrap());
        let bus = row["bus_bytes_per_second"].as_f64().unwrap();
        assert!((bus - 1.5 * size / time * 1e12).abs() < 1e-6 * bus);
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let file = file();
    for (args, message) in [
        (vec!["--sizes", "2MB..1MB"], "not above the second"),
        (vec!["--sizes", "much"], "`much` is no size"),
        (vec!["--job", "product"], "there is no job `product`; there are: sum"),
        (vec!["--factor", "1"], "--factor"),
        (vec!["--set", "job.0.collective=barrier"], "no `[[job]]` with a collective"),
    ] {
        let out = weir(&[&["collectives", &file], &args[..]].concat());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && said.contains(message), "{args:?}: {said}");
    }
}

/// The page on training steps stands on these.
#[test]
fn the_examples_of_training_are_scenarios() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/training");
    let files = std::fs::read_dir(directory).expect("examples").map(|f| f.expect("a file").path());
    let files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "toml")).collect();
    assert_eq!(files.len(), 3);
    for file in files {
        let output = weir(&["check", file.to_str().expect("text")]);
        assert!(output.status.success(), "{}: {output:?}", file.display());
    }
}

/// A row and a line per scheme; on four hosts without other traffic the ring waits nowhere long.
#[test]
fn schemes_are_measured_beside_each_other_and_drawn() {
    let base = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("collectives-out");
    let _ = std::fs::remove_dir_all(&base);
    let out = base.to_str().expect("text");
    let file = file();
    let args =
        ["collectives", &file, "--sizes", "200KB..800KB", "--schemes", "pfc,bfc", "--blame", "-q"];
    // results are replaced
    for _ in 0..2 {
        let done = weir(&[&args[..], &["--out", out, "--json"]].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let json: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        let rows = json["sizes"].as_array().expect("rows");
        let schemes: Vec<&str> = rows.iter().filter_map(|r| r["scheme"].as_str()).collect();
        assert_eq!(schemes, ["pfc", "pfc", "pfc", "bfc", "bfc", "bfc"]);
    }
    let csv = std::fs::read_to_string(base.join("bus-bandwidth.csv")).expect("a table");
    assert_eq!(csv.lines().count(), 7);
    let svg = std::fs::read_to_string(base.join("bus-bandwidth.svg")).expect("a figure");
    assert!(svg.starts_with("<svg") && svg.contains("port of a host: 100 Gb/s"));
    let page = std::fs::read_to_string(base.join("index.html")).expect("a page");
    for part in ["PFC", "BFC", "busbw (GB/s)", "--schemes pfc,bfc", "Bus bandwidth over"] {
        assert!(page.contains(part), "{part}");
    }
    let refused = weir(&["collectives", &file, "--schemes", "pfq"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("pfc"), "the nearest is named");
    assert!(!refused.status.success());
}

/// All senders of an incast share the port of h0 with the ring: it is to blame.
#[test]
fn the_port_to_blame_stands_beside_each_size() {
    let text = SCENARIO.to_owned()
        + "\n[[traffic]]\nkind = \"burst\"\nfrom = \"h1..h3\"\nto = \"h0\"\nsize = \"2MB\"\n";
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("collectives-blame.toml");
    std::fs::write(&path, text).expect("a file");
    let path = path.to_str().expect("text");
    let args = ["collectives", path, "--sizes", "1MB", "--blame", "--json"];
    let done = weir(&args);
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(json["sizes"][0]["to_blame"], "sw0:h0", "{json}");
    assert!(json["sizes"][0]["to_blame_ps"].as_u64() > Some(100_000_000), "{json}");
}
