//! `weir compare --figure`: one figure as a file.

mod common;

use common::{command, scratch};
use std::fs;
use std::path::Path;
use std::process::Output;

fn weir(directory: &Path, args: &[&str]) -> Output {
    command(args).current_dir(directory).output().expect("the program can be started")
}

/// Standard output and error of a command that succeeds.
fn done(directory: &Path, args: &[&str]) -> (Vec<u8>, String) {
    let output = weir(directory, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {errors}");
    (output.stdout, errors)
}

/// What a command says that is refused as bad input.
fn refused(directory: &Path, args: &[&str]) -> String {
    let output = weir(directory, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).expect("text")
}

const RUN: [&str; 4] = ["compare", "incast", "--schemes", "pfc,none"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&RUN[..], more].concat()
}

#[test]
fn a_figure_is_written_as_its_format_says() {
    let base = scratch("figure-formats");
    let (out, said) = done(&base, &with(&["--figure", "fct", "--format", "pdf"]));
    assert!(out.is_empty(), "no table");
    assert!(said.contains("incast-fct.pdf"), "{said}");
    let start = |name: &str, n: usize| fs::read(base.join(name)).expect("a file")[..n].to_vec();
    assert_eq!(start("incast-fct.pdf", 5), b"%PDF-");
    done(&base, &with(&["--figure", "fct", "-o", "a.PNG", "--size", "wide", "-q"]));
    assert_eq!(start("a.PNG", 4), b"\x89PNG");
    done(&base, &with(&["--figure", "fct", "-q"]));
    assert_eq!(start("incast-fct.svg", 4), b"<svg");
    let (out, _) = done(&base, &with(&["--figure", "fct", "-o", "-", "--format", "csv", "-q"]));
    let text = String::from_utf8(out).expect("CSV is text");
    assert!(text.starts_with("panel,series,name,mean_fct_ps"), "{text}");
    assert_eq!(text.lines().filter(|l| l.contains(",PFC,")).count(), 1, "{text}");
    assert_eq!(fs::read_dir(&base).expect("a directory").count(), 3);
}

#[test]
fn the_list_needs_no_run() {
    let base = scratch("figure-list");
    let (out, _) = done(&base, &["compare", "--figure", "list"]);
    let text = String::from_utf8(out).expect("text");
    for name in ["fct", "slowdown-by-size", "timeline-ROW"] {
        assert!(text.lines().any(|l| l.trim_start().starts_with(name)), "{name}: {text}");
    }
}

#[test]
fn mistakes_are_found_before_anything_is_run() {
    let base = scratch("figure-mistakes");
    let (scenario, _) = done(&base, &["scenarios", "incast"]);
    fs::write(base.join("my.svg"), &scenario).expect("a file");
    fs::create_dir(base.join("dir.svg")).expect("it is new");
    for (more, part) in [
        (&["--figure", "fckt"][..], "did you mean `fct`?"),
        (&["--figure", "gantt-pfc"], "of jobs"),
        (&["--figure", "fct", "-o", "x.gif"], "`.gif` is not a format of figures"),
        (&["--figure", "fct", "-o", "x.svg", "--format", "pdf"], "contradict each other"),
        (&["--figure", "fct", "-o", "no/x.svg"], "there is no directory no"),
        (&["--figure", "fct", "-o", "dir.svg"], "it is a directory"),
        (&["--format", "pdf"], "--figure"),
    ] {
        let said = refused(&base, &with(more));
        assert!(said.contains(part), "{more:?}: {said}");
    }
    let said = refused(&base, &["compare", "my.svg", "--figure", "fct", "-o", "./my.svg"]);
    assert!(said.contains("this command reads my.svg"), "{said}");
    assert_eq!(fs::read(base.join("my.svg")).expect("it is still there"), scenario);
}
