//! A program that is `weir` with things of its own: they are wherever built-in ones are.
//!
//! This test is such a program itself, and starts itself with `AS_PROGRAM` set. (An example would
//! not be built when one test is asked for.)

mod common;
#[path = "../examples/extended.rs"]
mod extended;

use common::scratch;
use std::fs;
use std::process::{Command, ExitCode, Output};

const AS_PROGRAM: &str = "WEIR_TEST_EXTENDED";

fn main() -> ExitCode {
    if std::env::var_os(AS_PROGRAM).is_some() {
        return extended::main();
    }
    own_things_are_listed_and_in_the_schema();
    own_things_run_together_and_the_probe_has_its_table();
    sweeps_of_own_schemes_go_on_where_they_were();
    a_slip_in_an_own_name_is_answered_with_it();
    println!("extensions: 4 tests passed");
    ExitCode::SUCCESS
}

fn extended(args: &[&str]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("the test is a file"));
    command.args(args).env(AS_PROGRAM, "1").env("NO_COLOR", "1").env("COLUMNS", "200");
    command.output().expect("the test can be started")
}

fn stdout(args: &[&str]) -> String {
    let output = extended(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is text")
}

/// All five in one scenario.
const SCENARIO: &str = r#"
name = "mine"
[topology]
kind = "tiny"
[flow-control]
scheme = "door"
limit = "20KB"
[congestion-control]
algorithm = "brake"
[[traffic]]
kind = "gather"
size = "200KB"
"#;

fn own_things_are_listed_and_in_the_schema() {
    for (list, name) in
        [("schemes", "door"), ("topologies", "tiny"), ("patterns", "gather"), ("schemes", "brake")]
    {
        assert!(stdout(&[list]).contains(name), "{list} does not list {name}");
    }
    let schema = stdout(&["schema"]);
    for name in ["door", "tiny", "gather", "brake"] {
        assert!(schema.contains(&format!("\"{name}\"")), "{name} is not in the schema");
    }
}

fn own_things_run_together_and_the_probe_has_its_table() {
    let dir = scratch("extended-run");
    let (file, out) = (dir.join("mine.toml"), dir.join("out"));
    fs::write(&file, SCENARIO).expect("written");
    let (file, out_text) = (file.to_str().expect("text"), out.to_str().expect("text"));
    assert!(stdout(&["check", file]).contains("Door"));
    let shown = stdout(&["compare", file, "--schemes", "pfc,door", "--out", out_text]);
    assert!(shown.contains("Door") && shown.contains("PFC"), "{shown}");
    let waits = fs::read_to_string(out.join("probe-waits.csv")).expect("the table of the probe");
    assert!(waits.lines().count() > 1, "{waits}");
    let flows = fs::read_to_string(out.join("flows.csv")).expect("flows");
    // two senders under two schemes
    assert_eq!(flows.lines().count(), 1 + 2 * 2, "{flows}");
}

fn sweeps_of_own_schemes_go_on_where_they_were() {
    let dir = scratch("extended-sweep");
    fs::write(dir.join("mine.toml"), SCENARIO).expect("written");
    let grid = "scenario = \"mine.toml\"\nseeds = \"1..2\"\n[parameters]\n\
        limit = { key = \"flow-control.limit\", values = [\"20KB\", \"40KB\"] }\n";
    fs::write(dir.join("grid.toml"), grid).expect("written");
    let (grid, out) = (dir.join("grid.toml"), dir.join("sweep"));
    let (grid, out_text) = (grid.to_str().expect("text"), out.to_str().expect("text"));
    stdout(&["sweep", "plan", grid, "--out", out_text]);
    let first = stdout(&["sweep", "run", out_text, "--limit", "1"]);
    let rest = stdout(&["sweep", "run", out_text]);
    stdout(&["sweep", "merge", out_text]);
    let runs = fs::read_to_string(out.join("runs.csv")).expect("the table of runs");
    assert_eq!(runs.lines().count(), 1 + 4, "{first}{rest}{runs}");
    assert!(runs.contains("door"), "{runs}");
}

fn a_slip_in_an_own_name_is_answered_with_it() {
    let output = extended(&["compare", "incast", "--schemes", "dor"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("did you mean `door`"), "{said}");
}
