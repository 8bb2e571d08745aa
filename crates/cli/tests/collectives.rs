//! `weir collectives` as a user runs it.

use std::process::{Command, Output};

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

fn file() -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("collectives.toml");
    std::fs::write(&path, SCENARIO).expect("a file");
    path.to_str().expect("text").to_owned()
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
