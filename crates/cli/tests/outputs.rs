//! Directories of results: what is in them, and what is never replaced.

mod common;

use common::{code, scratch, stdout, weir};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FILES: [&str; 12] = [
    ".weir-results",
    "flows.csv",
    "index.html",
    "pause-edges.csv",
    "pauses.csv",
    "perf.json",
    "ports.csv",
    "queues.csv",
    "scenario.toml",
    "series.csv",
    "summary.json",
    "victims.csv",
];

fn listing(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("a directory");
    let names = entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn results_are_complete_repeatable_and_replace_each_other() {
    let base = scratch("results");
    let (a, b) = (base.join("a"), base.join("b"));
    for out in [&a, &b, &a] {
        let out = out.to_str().expect("a path of text");
        assert_eq!(code(&["run", "incast", "-q", "--out", out]), 0);
    }
    assert_eq!(listing(&base), ["a", "b"], "no temporary directory is left");
    assert_eq!(listing(&a), FILES);
    for file in FILES.into_iter().filter(|file| *file != "perf.json") {
        let read = |dir: &Path| fs::read(dir.join(file)).expect("a result file");
        assert_eq!(read(&a), read(&b), "{file} is a function of scenario and seed");
    }
    let flows = fs::read_to_string(a.join("flows.csv")).expect("a result file");
    // a line of headings and eight senders
    assert_eq!(flows.lines().count(), 9);
}

/// Parquet is not in every build: one without it says how to get it, before anything runs.
#[test]
fn parquet_is_written_or_refused() {
    let out = scratch("parquet").join("out");
    let path = out.to_str().expect("a path of text");
    assert_eq!(code(&["run", "incast", "--parquet"]), 2, "it is no good without --out");
    let output = weir(&["run", "incast", "-q", "--out", path, "--parquet"]);
    let text = String::from_utf8_lossy(&output.stderr);
    if cfg!(feature = "parquet") {
        assert!(output.status.success(), "{text}");
        let bytes = fs::read(out.join("flows.parquet")).expect("a table");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    } else {
        assert_eq!(output.status.code(), Some(2));
        assert!(text.contains("--features parquet"), "{text}");
        assert!(!out.exists());
    }
}

#[test]
fn a_directory_with_other_things_in_it_is_left_alone() {
    let base = scratch("foreign");
    fs::write(base.join("thesis.tex"), "years of work").expect("a file");
    let out = base.to_str().expect("a path of text");
    let output = weir(&["run", "incast", "-q", "--out", out]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("thesis.tex") && text.contains("new or empty directory"), "{text}");
    assert_eq!(listing(&base), ["thesis.tex"]);
}

/// Starts a run that takes long and sends it a signal once.
#[cfg(target_os = "linux")]
fn interrupted(out: &Path, (name, number): (&str, u32)) {
    // who runs the tests under `nohup` ignores SIGHUP, and what is started inherits that
    let mut child = Command::new("env")
        .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_weir")])
        .args(["run", "incast", "-q", "--set", "traffic.0.size=50GB", "--out"])
        .arg(out)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program can be started");
    let status = format!("/proc/{}/status", child.id());
    // the bit of the signal in the mask of caught signals is set once the handler is there
    let listens = || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|l| l.strip_prefix("SigCgt:"));
        mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok())
            .is_some_and(|m| m >> (number - 1) & 1 == 1)
    };
    while !listens() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it could listen");
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    let kill = Command::new("kill").args(["-s", name, &id]).status().expect("kill");
    assert!(kill.success());
    assert_eq!(child.wait().expect("a child").code(), Some(130));
}

/// Ctrl-C once: what there is gets written and marked, without a digest, and never in place of
/// complete results.
#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_writes_what_there_is() {
    let base = scratch("interrupt");
    let out = base.join("out");
    interrupted(&out, ("INT", 2));
    let partial = |directory: &Path| {
        let summary = fs::read_to_string(directory.join("summary.json")).expect("what there is");
        assert!(
            summary.contains("\"how\": \"interrupted\"") && summary.contains("\"digest\": null")
        );
        assert!(summary.contains("\"partial\": true"), "{summary}");
        let names = listing(directory);
        assert!(names.iter().any(|n| n == "flows.partial.csv"), "{names:?}");
        assert!(!names.iter().any(|n| n == "flows.csv"), "{names:?}");
        let page = fs::read_to_string(directory.join("index.html")).expect("a page");
        assert!(page.contains("INTERRUPTED"));
    };
    partial(&out);
    // partial results are replaced, complete ones are not
    let path = out.to_str().expect("a path of text");
    assert_eq!(code(&["run", "incast", "-q", "--out", path]), 0);
    let before = fs::read(out.join("summary.json")).expect("a result file");
    interrupted(&out, ("INT", 2));
    assert_eq!(fs::read(out.join("summary.json")).expect("a result file"), before);
    assert_eq!(listing(&base), ["out", "out.interrupted"]);
    partial(&base.join("out.interrupted"));
    // schedulers send SIGTERM, and a terminal that is closed SIGHUP
    for signal in [("TERM", 15), ("HUP", 1)] {
        let out = base.join(signal.0);
        interrupted(&out, signal);
        partial(&out);
    }
}

/// `nohup` lets a program ignore SIGHUP, so that it outlives its terminal.
#[test]
#[cfg(target_os = "linux")]
fn a_hangup_that_is_to_be_ignored_is_ignored() {
    let base = scratch("nohup");
    let (out, weir) = (base.join("out"), env!("CARGO_BIN_EXE_weir"));
    // sends the signal once there is a handler for SIGTERM, which comes after that for SIGHUP
    let script = "trap '' HUP; \"$0\" run incast -q --set traffic.0.size=50GB --out \"$1\" & \
        caught() { sed -n 's/^SigCgt:\\t//p' /proc/$!/status; }; \
        until [ $(( 0x$(caught) & 0x4000 )) != 0 ]; do :; done; \
        kill -s HUP $!; \
        if [ $(( 0x$(caught) & 1 )) = 0 ]; then kill -s TERM $!; else kill -s KILL $!; fi; \
        wait $!";
    let mut command = Command::new("bash");
    command.args(["-c", script, weir]).arg(&out).stdout(Stdio::null());
    assert_eq!(command.status().expect("bash").code(), Some(130));
    assert!(out.join("summary.json").exists());
}

/// A scenario with a flow list beside it, and the directory of both.
fn with_list(name: &str) -> (PathBuf, String) {
    let base = scratch(name);
    fs::write(base.join("flows.csv"), stdout(&["traffic", "ofc-fig1"])).expect("a file");
    let text =
        "[topology]\nkind = \"ofc-chain\"\n[[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\n";
    fs::write(base.join("scenario.toml"), text).expect("a file");
    let file = base.join("scenario.toml").to_str().expect("a path of text").to_owned();
    (base, file)
}

#[test]
fn results_never_replace_what_a_run_reads() {
    let (base, file) = with_list("own-inputs");
    let before = fs::read(base.join("flows.csv")).expect("a file");
    let output = weir(&["run", &file, "-q", "--out", base.to_str().expect("a path of text")]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty(), "nothing is simulated before the check");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!(listing(&base), ["flows.csv", "scenario.toml"]);
    assert_eq!(fs::read(base.join("flows.csv")).expect("a file"), before);
    // a directory of results from which the next run reads
    let out = base.join("out");
    let out = out.to_str().expect("a path of text");
    assert_eq!(code(&["run", &file, "-q", "--out", out]), 0);
    let text = fs::read_to_string(&file).expect("a file").replace("flows.csv", "out/flows.csv");
    fs::write(&file, text).expect("a file");
    let output = weir(&["check", &file]);
    assert_eq!(output.status.code(), Some(2), "flows.csv of results is no flow list");
    fs::copy(base.join("flows.csv"), base.join("out/flows.csv")).expect("a copy");
    let output = weir(&["run", &file, "-q", "--out", out]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("which this run reads"), "{text}");
    // single files
    let output = weir(&["topo", &file, "--svg", &file]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("which is the same file"), "{text}");
    assert!(fs::read_to_string(&file).expect("a file").starts_with("[topology]"));
}
