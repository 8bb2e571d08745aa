//! What commands say about a scenario that would otherwise go unnoticed.

mod common;

use common::{code, scratch, stdout, weir};
use std::fs;

fn stderr(args: &[&str]) -> String {
    String::from_utf8_lossy(&weir(args).stderr).into_owned()
}

/// A scenario file with this content.
fn file(name: &str, text: &str) -> String {
    let path = scratch(name).join("x.toml");
    fs::write(&path, text).expect("a file");
    path.to_str().expect("a path of text").to_owned()
}

const STAR: &str = "[topology]\nkind = \"star\"\nhosts = 4\n";
const BURST: &str =
    "[[traffic]]\nkind = \"burst\"\nfrom = \"h1..h3\"\nto = \"h0\"\nsize = \"50KB\"\n";

#[test]
fn check_shows_what_variants_change() {
    let variants = "[[variant]]\nlabel = \"plain\"\nscheme = \"pfc\"\n\
                    [[variant]]\nlabel = \"DCQCN\"\nscheme = \"pfc\"\ncc = \"dcqcn\"\n";
    let path = file("check-variants", &format!("{STAR}{BURST}{variants}"));
    let all = stdout(&["check", &path]);
    let (own, theirs) = all.split_once("variant DCQCN").expect("a variant");
    assert!(own.contains("ECN marking             off"), "{own}");
    assert!(own.contains("variant plain\n  the same settings"), "{own}");
    assert!(theirs.contains("ECN marking") && theirs.contains("dcqcn (g 1/256"), "{theirs}");
    let one = stdout(&["check", &path, "--variant", "DCQCN"]);
    assert!(one.contains("dcqcn (g 1/256") && !one.contains("variant plain"), "{one}");
    assert!(stderr(&["check", &path, "--variant", "DCQN"]).contains("did you mean `DCQCN`?"));
}

#[test]
fn check_warns_about_a_response_of_zero_and_run_does_not() {
    let path = file("check-response", &format!("{STAR}{BURST}"));
    assert!(stderr(&["check", &path]).contains("assumes that neighbours stop at once"));
    assert!(!stderr(&["run", &path]).contains("assumes that neighbours stop at once"));
    assert_eq!(stderr(&["check", &path, "--set", "link.response=802.1Qbb"]), "");
}

#[test]
fn flows_after_the_end_are_named_by_check_run_and_compare() {
    let flow = "[[traffic]]\nkind = \"flow\"\nfrom = \"h1\"\nto = \"h0\"\nsize = \"1MB\"\nstart = \
                \"2ms\"\n[run]\nuntil = \"1ms\"\n";
    let path = file("late", &format!("{STAR}{flow}"));
    for command in ["check", "run", "compare"] {
        let found = stderr(&[command, &path]);
        assert!(found.contains("1 flow starts after the end of the run (1 ms)"), "{found}");
    }
    let text = stdout(&["run", &path]);
    assert!(text.contains("stopped after 1.00 ms") && !text.contains("drained"), "{text}");
    assert!(text.contains("No flow started before the end of the run."), "{text}");
}

#[test]
fn classes_that_a_table_leaves_out_are_named_below_it() {
    let class = |i: u32| format!("{BURST}class = \"c{i}\"\n");
    let classes: String = (0..14).map(class).collect();
    let path = file("classes", &format!("{STAR}{classes}"));
    let text = stdout(&["compare", &path, "--schemes", "pfc"]);
    // three of them have columns
    assert!(text.contains("Not shown: 11 of 14 classes (c"), "{text}");
}

#[test]
fn results_of_another_scenario_are_replaced_by_force_only() {
    let out = scratch("another").join("out");
    let out = out.to_str().expect("a path of text");
    assert_eq!(code(&["run", "incast", "-q", "--out", out]), 0);
    assert_eq!(code(&["run", "incast", "-q", "--out", out]), 0);
    let found = stderr(&["run", "ofc-fig1", "-q", "--out", out]);
    assert!(found.contains("has the results of scenario `incast`"), "{found}");
    assert_eq!(code(&["run", "ofc-fig1", "-q", "--out", out]), 2);
    assert_eq!(code(&["run", "ofc-fig1", "-q", "--out", out, "--force"]), 0);
}

#[test]
fn columns_and_a_figure_exclude_each_other() {
    let args = ["compare", "incast", "--columns", "pauses_sent", "--figure", "fct"];
    assert_eq!(code(&args), 2);
    assert!(stderr(&args).contains("cannot be used with"));
}

#[test]
fn the_ring_ends_where_its_story_ends() {
    let output = weir(&["compare", "ring-deadlock"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("DEADLOCK at 66.1 us") && !text.contains("lost ("), "{text}");
}

#[test]
fn loss_under_gfc_is_explained_by_its_lowest_rate() {
    let args = ["run", "ring-deadlock", "--scheme", "gfc", "--set", "run.until=drained"];
    let found = stderr(&args);
    assert_eq!(code(&args), 3);
    assert!(found.contains("slows a neighbour down but never stops it"), "{found}");
    assert!(!found.contains("shows the headroom needed"), "{found}");
}

/// Published numbers of a scheme that is not run would stand below a row of another one.
#[test]
fn published_numbers_stand_below_their_own_row_only() {
    let text = stdout(&["compare", "ofc-fig1", "--schemes", "ofc,bfc"]);
    assert!(text.contains("OFC paper") && !text.contains("PFC paper"), "{text}");
}

#[test]
fn a_file_that_is_not_text_is_refused_with_the_place() {
    let path = scratch("bytes").join("x.toml");
    fs::write(&path, b"name = \"a\"\n[topology]\nkind = \"st\xffar\"\n").expect("a file");
    let found = stderr(&["check", path.to_str().expect("a path of text")]);
    // 11 + 11 bytes in two lines, then `kind = "st`
    assert!(found.contains("not UTF-8 in line 3: byte 32 is 0xff"), "{found}");
}

#[test]
fn a_misspelt_scheme_finds_its_name() {
    for args in [["run", "incast", "--scheme", "pcf"], ["check", "incast", "--scheme", "pcf"]] {
        let found = stderr(&args);
        assert!(found.contains("did you mean `pfc`?") && found.contains("--scheme:1:1"), "{found}");
    }
}
