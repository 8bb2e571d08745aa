//! `weir run --record`, `weir view` and `weir export` from outside.

mod common;

use common::{code, scratch, weir};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

#[test]
fn a_recording_stands_beside_the_same_results() {
    let at = scratch("record-run");
    let (with, without) = (at.join("with"), at.join("without"));
    let output = weir(&["run", "incast", "--record", "--out", path(&with)]);
    assert!(output.status.success(), "{output:?}");
    let told = text(&output.stderr);
    assert!(told.contains("1 recording (") && told.contains("weir view "), "{told}");
    assert!(weir(&["run", "incast", "--out", path(&without)]).status.success());
    for name in ["flows.csv", "ports.csv", "pauses.csv", "summary.json"] {
        let read = |place: &Path| fs::read(place.join(name)).expect(name);
        assert!(read(&with) == read(&without), "{name} is the same");
    }
    let file = fs::read(with.join("timeline.weir")).expect("a recording");
    assert!(file.starts_with(b"WEIRTL\x02\0"));
    // results with a recording are replaced like any others, and the recording goes with them
    assert!(weir(&["run", "incast", "--out", path(&with)]).status.success());
    assert!(!with.join("timeline.weir").exists());
}

#[test]
fn schemes_have_directories_that_only_recordings_may_be_in() {
    let out = scratch("record-compare").join("out");
    let args = ["compare", "ofc-fig1", "--schemes", "pfc,ofc", "--record", "--out", path(&out)];
    assert!(weir(&args).status.success());
    assert!(out.join("pfc/timeline.weir").exists() && out.join("ofc/timeline.weir").exists());
    assert!(weir(&args).status.success(), "they are replaced");
    fs::write(out.join("ofc/notes.txt"), "mine").expect("a file");
    let output = weir(&args);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`ofc`, which is not a result"), "{output:?}");
    assert!(out.join("ofc/notes.txt").exists());
}

#[test]
fn options_that_cannot_be_meant_are_refused() {
    let out = scratch("record-refused").join("out");
    for args in [
        &["run", "incast", "--record"][..],
        &["run", "incast", "--window", "1us"],
        &["run", "incast", "--record", "--window", "1ns", "--out", path(&out)],
        &["run", "incast", "--record", "--window", "5", "--out", path(&out)],
        &["view", "no-such-scenario", "--no-open"],
        &["view", path(&out)],
        &["export", "perfetto", path(&out)],
    ] {
        assert_eq!(code(args), 2, "{args:?}");
    }
    assert!(!out.exists());
}

#[test]
fn sizes_that_hold_nothing_are_refused() {
    let out = scratch("record-nothing").join("out");
    let run = ["run", "ofc-fig1", "--record", "--record-limit", "0", "--out", path(&out)];
    let export = ["export", "perfetto", path(&out), "--limit", "1KB"];
    for args in [&run[..], &export[..]] {
        let output = weir(args);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains("5 KB or more"), "{output:?}");
    }
    assert!(!out.exists());
}

/// 200 kB hold the recording of an incast in coarser windows only.
#[test]
fn a_recording_that_would_be_too_large_says_what_it_did() {
    let out = scratch("record-limit").join("out");
    let args = ["run", "ofc-fig1", "--record", "--record-limit", "6KB", "--out", path(&out)];
    let output = weir(&args);
    assert!(output.status.success(), "{output:?}");
    let told = text(&output.stderr);
    assert!(told.contains("instead of 1.00 us") || told.contains("instead of 1 us"), "{told}");
    assert!(told.contains("(--record-limit)"), "{told}");
    assert!(fs::metadata(out.join("timeline.weir")).expect("a file").len() <= 6_000);
}

#[test]
fn an_exported_page_holds_everything() {
    let at = scratch("view-export");
    let page = at.join("page.html");
    let args = ["view", "ofc-fig1", "--schemes", "pfc,ofc", "--export", path(&page)];
    let output = weir(&args);
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(page).expect("a page");
    for part in ["Content-Security-Policy", "id=\"manifest\"", "id=\"run-0\"", "id=\"run-1\""] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("id=\"run-2\"") && !page.contains("src=\"app.js\""));
}

#[test]
fn traces_are_written_for_every_recording() {
    let at = scratch("export-perfetto");
    let out = at.join("out");
    let args = ["compare", "ofc-fig1", "--schemes", "pfc,ofc", "--record", "--out", path(&out)];
    assert!(weir(&args).status.success());
    let trace = at.join("t.pftrace");
    let output = weir(&["export", "perfetto", path(&out), "-o", path(&trace)]);
    assert!(output.status.success(), "{output:?}");
    for name in ["t-pfc.pftrace", "t-ofc.pftrace"] {
        // a trace is packets, which are field 1 of it
        assert_eq!(fs::read(at.join(name)).expect(name)[0], 0x0a, "{name}");
    }
    // a part says what it is without
    let args = ["export", "perfetto", path(&out), "--to", "40us", "--ports", "Sb", "-o"];
    let part = weir(&[&args[..], &[path(&trace)]].concat());
    let said = text(&part.stderr);
    assert!(said.contains("outside the slice: ") && said.contains(" pauses, "), "{said}");
    let wrong = weir(&["export", "perfetto", path(&out), "--ports", "Sbb", "-o", path(&trace)]);
    assert!(text(&wrong.stderr).contains("did you mean `Sb`?"), "{wrong:?}");
}

#[cfg(feature = "view")]
#[test]
fn a_server_shows_recordings_to_who_knows_its_address() {
    let out = scratch("view-serve").join("out");
    assert!(weir(&["run", "incast", "--record", "--out", path(&out)]).status.success());
    let mut server = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["view", path(&out), "--no-open", "--at", "20us"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be started");
    let mut address = String::new();
    let printed = server.stdout.take().expect("it is piped");
    BufReader::new(printed).read_line(&mut address).expect("it prints its address");
    let rest = address.trim().strip_prefix("http://").expect("an address");
    let (host, rest) = rest.split_once('/').expect("a path");
    let token = rest.strip_suffix("/#t=20us").expect("the moment").to_owned();
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(host).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        answer
    };
    let file = ask(&format!("/{token}/timeline.weir"));
    assert!(file.ends_with(&fs::read(out.join("timeline.weir")).expect("a recording")));
    assert!(ask("/").starts_with(b"HTTP/1.1 404"));
    assert!(ask(&format!("/{token}/../summary.json")).starts_with(b"HTTP/1.1 404"));
    server.kill().expect("it can be ended");
    server.wait().expect("it ends");
}
