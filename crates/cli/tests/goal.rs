//! `weir goal` as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn weir(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weir")).arg("goal").args(args).output().expect("it starts")
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("goal-{name}"));
    std::fs::write(&path, text).expect("a temporary file");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in UTF-8")
}

const PAIR: &str = "num_ranks 2\nrank 0 {\nsend 4096b to 1\n}\nrank 1 {\nrecv 4096b from 0\n}\n";

#[test]
fn ends_of_ranks_are_printed_as_json_and_as_a_table() {
    let schedule = file("pair.goal", PAIR);
    let json = weir(&[text(&schedule), "--json"]);
    // the sender o = 1500; the receiver o + L + o + 4095 x 6
    assert_eq!(String::from_utf8_lossy(&json.stdout).trim(), "{\"end_ns\":[1500,30070]}");
    let table = String::from_utf8_lossy(&weir(&[text(&schedule)]).stdout).into_owned();
    assert!(table.contains("2 ranks, 2 operations; the last one ends after 30.1 us (30070 ns)"));
}

#[test]
fn parameters_come_from_a_file_and_unknown_ones_are_named() {
    let schedule = file("params.goal", PAIR);
    let params = file("params.json", r#"{"L": 0, "o": 0, "G": 1}"#);
    let json = weir(&[text(&schedule), "--params", text(&params), "--json"]);
    assert_eq!(String::from_utf8_lossy(&json.stdout).trim(), "{\"end_ns\":[0,4095]}");
    let wrong = file("wrong.json", r#"{"latency": 0}"#);
    let failed = weir(&[text(&schedule), "--params", text(&wrong)]);
    assert_eq!(failed.status.code(), Some(2));
    let message = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(message.contains("there is no parameter `latency`: L, o, g, G, O and S are"));
}

#[test]
fn the_binary_form_gives_the_same_times() {
    let schedule = file("binary.goal", PAIR);
    let binary = schedule.with_extension("bin");
    let written = weir(&[text(&schedule), "--binary", text(&binary), "--json"]);
    let read = weir(&[text(&binary), "--json"]);
    assert!(!written.stdout.is_empty());
    assert_eq!(written.stdout, read.stdout);
}

#[test]
fn a_receive_that_nobody_meets_is_an_error_with_its_place() {
    let schedule = file("stuck.goal", "num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 3\n}\n");
    let failed = weir(&[text(&schedule)]);
    assert_eq!(failed.status.code(), Some(2));
    let message = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(message.contains("`recv 8b from 1 tag 3`) waits for a message that nobody sends"));
}

#[test]
fn a_receive_of_another_size_is_a_warning() {
    let schedule = file("sizes.goal", &PAIR.replace("recv 4096b", "recv 4095b"));
    let done = weir(&[text(&schedule), "--json"]);
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "{\"end_ns\":[1500,30070]}");
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    let expected = "1 receive met a message of another size; the first is operation 0 of rank 1";
    assert!(message.contains(expected), "{message}");
}

/// Three packets over a star of 100 Gb/s and 1 us: two of 1538 B of line time (123.04 ns), one of
/// 1134 B (90.72 ns). The last one leaves the switch 3 x 123.04 + 90.72 ns and a cable after the
/// start, and arrives a cable later: 2459.84 ns. Its rank knows of it after 1 us. The sender is
/// done with the ACK, twice 6.72 ns and two cables later.
#[test]
fn a_schedule_runs_with_packets_on_a_scenario() {
    let schedule = file("packets.goal", PAIR);
    let star = "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
                [[job]]\nsize = \"1MB\"\n";
    let scenario = file("star.toml", star);
    let json = weir(&[text(&schedule), "--scenario", text(&scenario), "--json"]);
    let out = String::from_utf8_lossy(&json.stdout).into_owned();
    let err = String::from_utf8_lossy(&json.stderr).into_owned();
    assert_eq!(out.trim(), "{\"end_ns\":[4473.28,3459.84]}", "{err}");
    let stuck = file("stuck-packets.goal", "num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 3\n}\n");
    let failed = weir(&[text(&stuck), "--scenario", text(&scenario)]);
    assert_eq!(failed.status.code(), Some(2));
    let message = String::from_utf8_lossy(&failed.stderr).into_owned();
    let expected = "rank 0 waits for operation 0 (`recv 8b from 1 tag 3`)";
    assert!(message.contains(expected), "{message}");
}
