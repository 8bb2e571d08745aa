//! Event logs: written by `weir run --log`, verified by `weir live replay`.

mod common;

use common::{scratch, weir};
use std::path::Path;

fn file(place: &Path, name: &str) -> String {
    place.join(name).to_string_lossy().into_owned()
}

fn log(place: &Path) -> String {
    let path = file(place, "incast.log");
    let size = "traffic.0.size=60KB";
    let done = weir(&["run", "incast", "--set", size, "--scheme", "ofc", "--log", &path, "-q"]);
    assert!(done.status.success(), "{done:?}");
    path
}

fn replay(file: &str) -> (Option<i32>, String) {
    let done = weir(&["live", "replay", file]);
    let text = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8(text).expect("text"))
}

#[test]
fn a_log_is_answered_as_it_was_and_results_do_not_depend_on_it() {
    let place = scratch("log-same");
    let (code, text) = replay(&log(&place));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("every answer is the one in the log"), "{text}");
    let digest = |more: &[&str]| {
        let args = ["run", "incast", "--set", "traffic.0.size=60KB", "--json", "-q"];
        let done = weir(&[&args[..], more].concat());
        let json: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        json["digest"].clone()
    };
    assert_eq!(digest(&["--log", &file(&place, "other.log")]), digest(&[]));
}

#[test]
fn a_log_that_was_altered_differs_where_it_was() {
    let place = scratch("log-altered");
    let path = log(&place);
    let text = std::fs::read_to_string(&path).expect("a log");
    // the last answer of the switch, which is node 9, is a picosecond later
    let at = text.rfind("\n> 9 ").expect("it answers") + 1;
    let line: Vec<&str> = text[at..].lines().next().expect("a line").split(' ').collect();
    let time: u64 = line[3].parse().expect("a time");
    let later = (time + 1).to_string();
    let altered = [&line[..3], &[&later[..]], &line[4..]].concat().join(" ");
    let end = at + line.join(" ").len();
    std::fs::write(&path, format!("{}{altered}{}", &text[..at], &text[end..])).expect("written");
    let (code, said) = replay(&path);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("sw0/p{}: answer", line[2])), "{said}");
    assert!(said.contains(&altered), "{said}");
}

#[test]
fn what_is_wrong_with_a_log_is_said_with_its_line() {
    let place = scratch("log-wrong");
    let path = log(&place);
    let text = std::fs::read_to_string(&path).expect("a log");
    let cut = &text[..text.len() / 2];
    let cut = &cut[..=cut.rfind('\n').expect("lines")];
    let broken = cut.to_owned() + "> 9 77 1 D\n";
    let lines = broken.lines().count();
    for (content, what) in [
        (String::new(), "it is empty".to_owned()),
        ("{}\n".to_owned(), "line 1 is not the header".to_owned()),
        (cut.to_owned(), "it was cut off".to_owned()),
        (broken, format!("line {lines}: the size is missing")),
        (cut.to_owned() + "end 5 1\n", "says that it has 1 frames".to_owned()),
    ] {
        std::fs::write(&path, content).expect("written");
        let (code, said) = replay(&path);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(&what), "{what}: {said}");
    }
    let (code, said) = replay(&file(&place, "none.log"));
    assert!(code == Some(2) && said.contains("cannot read"), "{said}");
}
