//! Commands for people who run a fabric: lint, search, diff, import cabling.

mod common;

use common::{code, scratch, stdout, text, weir};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn stderr(args: &[&str]) -> String {
    String::from_utf8_lossy(&weir(args).stderr).into_owned()
}

fn json(args: &[&str]) -> Value {
    let output = weir(args);
    let text = String::from_utf8(output.stdout).expect("text");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn lint_names_the_cycle_and_confirms_it_with_a_scenario_that_runs() {
    let file = scratch("lint-ring").join("confirm.toml");
    let args = ["lint", "ring-deadlock", "--confirm", "--out", text(&file), "--json"];
    assert_eq!(code(&args), 1);
    let found = json(&args);
    assert_eq!(found["deadlock_possible"], true);
    let cycles = found["states"][0]["cycles"].as_array().expect("cycles");
    assert_eq!(cycles.len(), 2, "one in each direction");
    assert_eq!(cycles[0]["switches"].as_array().map(Vec::len), Some(4));
    assert!(found["confirmed"]["deadlock"].is_array(), "{found}");
    // the same traffic again, by itself
    assert_eq!(code(&["run", text(&file), "--deny", "deadlock"]), 1);
}

/// Nothing pauses without flow control, PFC does.
#[test]
fn search_varies_the_scheme() {
    let vary = "flow-control.scheme=none,pfc";
    let found = json(&["search", "incast", "--vary", vary, "--until", "pauses == 0", "--json"]);
    assert_eq!(found["answer"], "largest", "{found}");
    assert_eq!(found["set"], "flow-control.scheme=none");
    let says = stderr(&["search", "incast", "--vary", "run.seeds=1..3", "--until", "lost == 0"]);
    assert!(says.contains("--seeds"), "{says}");
}

#[test]
fn a_directory_without_results_is_named() {
    let directory = scratch("diff-no-results");
    let says = stderr(&["diff", "incast", text(&directory)]);
    assert!(says.contains("holds no results") && says.contains("summary.json"), "{says}");
}

#[test]
fn lint_of_a_fat_tree_finds_nothing_and_says_how_it_looked() {
    let args = ["lint", "k-ary", "--set", "topology.k=8"];
    assert_eq!(code(&args), 0);
    let all = stdout(&args);
    assert!(all.contains("no cycle of buffers, so no deadlock is possible"), "{all}");
    assert!(all.contains("1 failed link: no cycle in any of 256 cases"), "{all}");
    let two = stdout(&[&args[..], &["--failures", "2"]].concat());
    assert!(two.contains("the same up to a symmetry of the network"), "{two}");
    let some = stdout(&["lint", "k-ary", "--set", "topology.k=8", "--failures", "3"]);
    assert!(some.contains("3 failed links"), "{some}");
}

#[test]
fn lint_finds_the_bounces_of_a_leaf_spine_and_up_down_as_their_cure() {
    let set = ["--set", "topology.spines=2", "--failures", "2"];
    let args = [&["lint", "leaf-spine", "--routing", "bounce"], &set[..]].concat();
    let output = weir(&args);
    assert_eq!(output.status.code(), Some(1));
    let all = String::from_utf8_lossy(&output.stdout);
    assert!(all.contains("2 failed links: DEADLOCK POSSIBLE in 12 of 28 cases"), "{all}");
    assert!(all.contains("cure: up-down routing has no cycle in any of these cases"), "{all}");
    let cured = [&["lint", "leaf-spine", "--routing", "up-down"], &set[..]].concat();
    assert_eq!(code(&cured), 0);
}

#[test]
fn lint_checks_dumped_tables() {
    let directory = scratch("lint-fib");
    // all traffic of a ring of four goes clockwise
    for i in 0..4 {
        let next = (i + 1) % 4;
        fs::write(directory.join(format!("sw{i}.fib")), format!("default sw{next}\n"))
            .expect("a file");
    }
    let set = ["--set", "topology.switches=4"];
    let args = [&["lint", "ring", "--fib", text(&directory), "--json"], &set[..]].concat();
    let found = json(&args);
    assert_eq!(found["states"][0]["cycles"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["loops"].as_array().map(Vec::len), Some(0));
    fs::remove_file(directory.join("sw2.fib")).expect("removed");
    let says = stderr(&args);
    assert!(says.contains("no table for sw2"), "{says}");
    assert_eq!(code(&args), 2);
}

#[test]
fn lint_says_when_nothing_pauses_and_what_it_does_not_know() {
    let none = stdout(&["lint", "ring-deadlock", "--scheme", "none"]);
    assert!(none.contains("no deadlock is possible"), "{none}");
    let says = stderr(&["lint", "k-arry"]);
    assert!(
        says.contains("there is no scenario, topology or file") && says.contains("k-ary"),
        "{says}"
    );
}

#[test]
fn search_finds_the_smallest_limit_and_names_the_run_that_breaks_it() {
    let vary = "switch.thresholds.limit=76KB..116KB:2KB";
    let args = [
        "search",
        "incast",
        "--set",
        "traffic.0.size=300KB",
        "--vary",
        vary,
        "--until",
        "lost == 0",
    ];
    let all = stdout(&args);
    assert!(
        all.contains("the smallest switch.thresholds.limit that keeps `lost == 0` is 100 KB"),
        "{all}"
    );
    assert!(all.contains("monotone at all of them"), "{all}");
    let command = all.lines().find(|l| l.contains("weir run")).expect("a command").trim();
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    assert!(words.contains(&"switch.thresholds.limit=98000B"), "{command}");
    // packets of a lossless priority are lost: an invalid run
    assert_eq!(code(&words), 3);
}

#[test]
fn search_draws_a_map_of_two_settings() {
    let x = "switch.thresholds.limit=80KB,100KB,120KB";
    let y = "switch.thresholds.xoff=60KB,75KB,90KB";
    let args = [
        "search",
        "incast",
        "--set",
        "traffic.0.size=300KB",
        "--vary",
        x,
        "--vary",
        y,
        "--until",
        "lost == 0",
    ];
    let all = stdout(&args);
    // 25 KB above xoff are enough for this traffic; a limit below xoff is refused
    for row in
        ["60KB       .      #      #", "75KB       .      #      #", "90KB       x      .      #"]
    {
        let tidy = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.lines().any(|l| tidy(l) == tidy(row)), "{row}\n{all}");
    }
}

#[test]
fn search_refuses_what_it_cannot_read() {
    for (vary, until, says) in [
        ("switch.buffer", "lost == 0", "PATH=LOW..HIGH"),
        ("switch.bufer=1MB..2MB", "lost == 0", "did you mean `buffer`"),
        ("switch.buffer=1MB..2MB", "lots == 0", "did you mean `lost`"),
    ] {
        let args = ["search", "incast", "--vary", vary, "--until", until];
        assert_eq!(code(&args), 2);
        let found = stderr(&args);
        assert!(found.contains(says), "{found}");
    }
}

#[test]
fn diff_of_a_scenario_with_itself_and_with_a_change() {
    let same = stdout(&["diff", "incast", "incast"]);
    assert!(same.contains("Nothing changed"), "{same}");
    let limit = "switch.thresholds.limit=90KB";
    let args =
        ["diff", "incast", "incast", "--set-b", limit, "--fail-if", "p99 slowdown worse by 5 %"];
    assert_eq!(code(&args), 1);
    let says = stderr(&args);
    assert!(says.contains("--fail-if: p99 slowdown worse by 5 %"), "{says}");
    assert_eq!(code(&["diff", "incast", "incast", "--set-b", limit]), 0, "no condition");
}

#[test]
fn diff_of_directories_is_that_of_the_scenarios_and_writes_a_page() {
    let home = scratch("diff-results");
    let [a, b, out] = ["a", "b", "diff"].map(|name| home.join(name));
    stdout(&["run", "dumbbell", "--out", text(&a)]);
    stdout(&["run", "dumbbell", "--scheme", "ofc", "--out", text(&b)]);
    let read = json(&["diff", text(&a), text(&b), "--json", "--out", text(&out)]);
    let run =
        json(&["diff", "dumbbell", "dumbbell", "--set-b", "flow-control.scheme=ofc", "--json"]);
    assert_eq!(read["settings"], run["settings"]);
    assert_eq!(read["flows"], run["flows"]);
    assert_eq!(read["victims"], run["victims"]);
    assert_eq!(read["figures"], run["figures"]);
    let page = fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(page.contains("flow-control.scheme") && page.starts_with("<!doctype html>"));
    let same = stdout(&["diff", text(&a), text(&a)]);
    assert!(same.contains("Nothing changed"), "{same}");
    assert!(stderr(&["diff", text(&home), text(&a)]).contains("error"));
}

#[test]
fn a_cabling_list_becomes_a_scenario_that_lint_reads() {
    let home = scratch("cabling");
    let list = home.join("cables.csv");
    let mut lines = String::from("from,to,speed,length\n");
    for leaf in 0..4 {
        for host in 0..2 {
            lines.push_str(&format!("leaf{leaf},h{},100G,3m\n", 2 * leaf + host));
        }
        for spine in 0..2 {
            lines.push_str(&format!("leaf{leaf},spine{spine},100G,40m\n"));
        }
    }
    fs::write(&list, lines).expect("a file");
    let scenario = home.join("fabric.toml");
    stdout(&["import", "cabling", text(&list), "--out", text(&scenario)]);
    let found = json(&["lint", text(&scenario), "--failures", "2", "--json"]);
    assert_eq!(found["deadlock_possible"], true, "shortest paths bounce after two failures");
    assert_eq!(code(&["lint", text(&scenario), "--failures", "2", "--routing", "up-down"]), 0);
    // the scenario on standard output is the same network
    let inline = stdout(&["import", "cabling", text(&list)]);
    assert!(inline.contains("\"leaf0 spine0 100000000000bps 200000ps\""), "{inline}");
    fs::write(&list, "from,to\na,b\n").expect("a file");
    let says = stderr(&["import", "cabling", text(&list)]);
    assert!(says.contains("cables.csv:2: the cable a-b has no speed: give --rate"), "{says}");
}

/// A file of the chapter on incidents.
fn incident(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/incidents").join(name);
    text(&path).to_owned()
}

/// What the chapter on incidents says of each, on fewer seeds.
#[test]
fn the_incidents_are_what_their_chapter_says() {
    let [before, after] = ["cable-before.toml", "cable-after.toml"].map(incident);
    let found = json(&["diff", &before, &after, "--seeds", "1..3", "--json"]);
    assert_eq!(found["settings"][0]["key"], "topology.spine-length");
    let figure = |found: &Value, name: &str, side: &str| {
        let rows = found["figures"].as_array().expect("figures");
        let row = rows.iter().find(|r| r["figure"] == name && r["class"] == "").expect("a figure");
        row[side].as_f64().expect("a number")
    };
    assert_eq!(figure(&found, "lost", "before"), 0.0);
    assert!(figure(&found, "lost", "after") > 0.0);

    let one = incident("one-sided.toml");
    let found = json(&["diff", &one, &one, "--set-b", "fault=[]", "--json"]);
    assert!(figure(&found, "lost", "before") > 0.0);
    assert_eq!(figure(&found, "lost", "after"), 0.0);

    let storm = incident("storm.toml");
    let prevention = "slow-receiver.0.storm-prevention=100us";
    let found = json(&["diff", &storm, &storm, "--set-b", prevention, "--seeds", "1..3", "--json"]);
    let of_background = |name: &str, side: &str| {
        let rows = found["figures"].as_array().expect("figures");
        let wanted = |r: &&Value| r["figure"] == name && r["class"] == "background";
        rows.iter().find(wanted).and_then(|r| r[side].as_f64()).expect("a number")
    };
    let [sick, mended] = ["before", "after"].map(|side| of_background("slowdown_mean", side));
    assert!(mended < 0.2 * sick, "{sick} {mended}");
    assert_eq!(of_background("lost", "after"), 0.0);
    assert!(figure(&found, "lost", "after") > 0.0, "what the sick host does not take");

    let bounce = incident("bounce.toml");
    assert_eq!(code(&["run", &bounce, "--deny", "deadlock"]), 1);
    let cured = ["run", &bounce, "--set", "routing.kind=up-down", "--deny", "deadlock"];
    assert_eq!(code(&cured), 0);
    assert_eq!(code(&["lint", &bounce, "--routing", "up-down", "--failures", "2"]), 0);

    let [plain, ecn] = ["incast-plain.toml", "incast-ecn.toml"].map(incident);
    let found = json(&["diff", &plain, &ecn, "--seeds", "1..3", "--json"]);
    let [pauses, fewer] = ["before", "after"].map(|side| figure(&found, "pauses_sent", side));
    assert!(fewer < 0.6 * pauses, "{pauses} {fewer}");
}
