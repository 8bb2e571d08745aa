//! `weir paper explain` from outside, on the example of the book: combinations are run once, go on
//! where they were, give the same bytes by one and two jobs, and are confirmed on fresh seeds.

mod common;

use common::{code_and_text, my_paper, ok, scratch, text};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What an explanation wrote, by name.
fn written(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let directory = out.join("explain/my-paper/my-spare");
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(&directory).expect("a directory") {
        let path = entry.expect("readable").path();
        if path.is_file() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            all.insert(name, fs::read(&path).expect("read"));
        }
    }
    all
}

/// Two factors of two levels are 4 combinations. OFC has one variant for each, PFC one for each
/// size of incasts: 6 variants at 2 degrees with 3 seeds are 36 runs.
#[test]
fn combinations_are_searched_once_and_confirmed_on_fresh_seeds() {
    let dir = scratch("explain-search");
    let (example, one, two) = (my_paper(), dir.join("one"), dir.join("two"));
    let explain = |out: &Path, more: &[&str]| {
        let args = [&["paper", "explain", text(&example), "--out", text(out)][..], more].concat();
        ok(&args)
    };
    let shown = explain(&one, &["--jobs", "1"]);
    assert!(shown.contains("36 of 36 runs done: 0 before, 36 now"), "{shown}");
    assert!(shown.contains("4 combinations of 2 open settings (all combinations)"), "{shown}");
    assert!(shown.contains("primary reading") && shown.contains("claims held"), "{shown}");
    assert!(shown.contains("none of it counts as reproduced"), "{shown}");
    assert!(shown.contains("1 claim only in full: middle"), "{shown}");
    assert!(!shown.contains("confirmation on"), "{shown}");
    let again = explain(&one, &[]);
    assert!(again.contains("36 of 36 runs done: 36 before, 0 now"), "{again}");
    explain(&two, &["--jobs", "2"]);
    assert_eq!(written(&one), written(&two));
    let names: Vec<String> = written(&one).into_keys().collect();
    let expected =
        ["effects.csv", "effects.pdf", "effects.png", "effects.svg", "explain.csv", "explain.json"];
    assert_eq!(names, expected);
    // combinations x (5 claims - the one only in full), and `queue` is judged for OFC alone
    let table = String::from_utf8(written(&one)["explain.csv"].clone()).expect("text");
    assert_eq!(table.lines().count(), 1 + 4 * 4, "{table}");
    // the seeds of the search have no part in it
    let confirmed = explain(&one, &["--confirm", "2"]);
    assert!(confirmed.contains("confirmation on 3 fresh seeds, quick scale"), "{confirmed}");
    let table = String::from_utf8(written(&one)["explain.csv"].clone()).expect("text");
    assert_eq!(table.matches("confirm-quick").count(), 2 * 4, "{table}");
    // what was confirmed stays when the search is shown again
    assert!(explain(&one, &[]).contains("confirmation on 3 fresh seeds"));
}

#[test]
fn an_explanation_stands_on_the_page_and_is_published() {
    let dir = scratch("explain-shown");
    let (example, out, to) = (my_paper(), dir.join("out"), dir.join("to"));
    let at = ["--out", text(&out)];
    ok(&[&["paper", "explain", text(&example)][..], &at].concat());
    ok(&[&["paper", "run", text(&example)][..], &at].concat());
    let page = fs::read_to_string(out.join("quick/index.html")).expect("a page");
    assert!(page.contains("What would have to be true"), "no section");
    assert!(page.contains("none of it counts as reproduced"), "no label");
    ok(&[&["paper", "run", text(&example), "--full"][..], &at].concat());
    ok(&["paper", "publish", text(&example), "--from", text(&out), "-o", text(&to)]);
    let page = fs::read_to_string(to.join("my-paper.md")).expect("a page");
    assert!(page.contains("## What would have to be true"), "{page}");
    assert!(page.contains("my-paper/explain/my-spare/effects.svg"), "{page}");
    assert!(to.join("my-paper/explain/my-spare/explain.json").exists());
}

#[test]
fn what_is_not_declared_or_wrong_is_named() {
    let dir = scratch("explain-wrong");
    let (code, shown) = code_and_text(&["paper", "explain", "MX-INCAST"]);
    assert!(
        code == Some(2) && shown.contains("nothing is declared for MX-INCAST"),
        "{code:?} {shown}"
    );
    let paper = dir.join("paper");
    fs::create_dir(&paper).expect("made");
    for entry in fs::read_dir(my_paper()).expect("the example") {
        let entry = entry.expect("readable");
        fs::copy(entry.path(), paper.join(entry.file_name())).expect("copied");
    }
    let file = paper.join("explain.toml");
    let declared = fs::read_to_string(&file).expect("read");
    fs::write(&file, declared.replace("alpha = 0.7", "alfa = 0.7")).expect("written");
    for verb in ["check", "explain"] {
        let (code, shown) = code_and_text(&["paper", verb, text(&paper)]);
        assert_eq!(code, Some(2), "{shown}");
        assert!(shown.contains("explain.toml:17") && shown.contains("alpha"), "{shown}");
    }
    fs::remove_file(&file).expect("removed");
    let (code, shown) = code_and_text(&["paper", "explain", text(&paper)]);
    assert!(code == Some(2) && shown.contains("nothing is declared for"), "{code:?} {shown}");
}
