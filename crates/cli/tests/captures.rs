//! `weir run --pcap` from outside.

mod common;

use common::{scratch, weir};
use std::fs;
use std::path::Path;

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn file(directory: &Path, port: &str, name: &str) -> String {
    format!("{port}={}", directory.join(name).display())
}

/// sw0 of the incast has ports p0 to p8 to its hosts, of which h0 receives.
#[test]
fn captures_are_written_beside_the_results_and_told_of() {
    let at = scratch("pcap-run");
    let (port, node) = (file(&at, "sw0/p0", "port.pcapng"), file(&at, "sw0", "node.pcapng"));
    let out = at.join("out");
    let out = out.to_str().expect("a path of text");
    let plain = weir(&["run", "incast"]);
    let output = weir(&["run", "incast", "--pcap", &port, "--pcap", &node, "--out", out]);
    assert!(output.status.success(), "{output:?}");
    let strip = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).into_owned();
        // the last line tells how long it took
        text.trim_end().rsplit_once('\n').map(|(head, _)| head.to_owned())
    };
    assert_eq!(strip(&output.stdout), strip(&plain.stdout), "a capture changes no result");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("port.pcapng (1 port, "), "{told}");
    assert!(told.contains("node.pcapng (9 ports, "), "{told}");
    assert_eq!(names(&at), ["node.pcapng", "out", "port.pcapng"]);
    // a capture is read back by the program itself
    let capture = at.join("port.pcapng");
    let flows = weir(&["import", "pcap", capture.to_str().expect("a path of text")]);
    let list = String::from_utf8_lossy(&flows.stdout).into_owned();
    assert_eq!(list.lines().filter(|l| l.contains(",roce,")).count(), 8, "{list}");
}

#[test]
fn what_is_cut_is_told() {
    let at = scratch("pcap-cut");
    let all = file(&at, "all", "all.pcapng");
    let args = ["run", "incast", "--pcap", &all, "--pcap-snap", "64B", "--pcap-limit", "50KB"];
    let output = weir(&args);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("cut to 64 B (--pcap-snap)"), "{told}");
    assert!(told.contains("left out: the file has reached 50.0 KB (--pcap-limit)"), "{told}");
    assert!(fs::metadata(at.join("all.pcapng")).expect("a file").len() <= 50_000);
    let quiet = weir(&[&args[..], &["-q"]].concat());
    let told = String::from_utf8_lossy(&quiet.stderr).into_owned();
    assert!(told.starts_with("warning: capture: ") && told.contains("--pcap-limit"), "{told}");
}

/// Nothing is run and no file is left behind.
#[test]
fn bad_captures_are_refused_before_the_run() {
    let at = scratch("pcap-refused");
    let inside = at.join("scenario.toml");
    let text = common::stdout(&["scenarios", "incast"]);
    fs::write(&inside, text).expect("a file");
    let scenario = inside.to_str().expect("a path of text");
    let own = file(&at, "sw0/p0", "scenario.toml");
    let nowhere = file(&at, "sw0/p0", "a/b/c.pcapng");
    let below_a_file = file(&at, "sw0/p0", "scenario.toml/x.pcapng");
    let fine = file(&at, "sw0/p0", "fine.pcapng");
    let (page, crooked) = (file(&at, "all", "o/index.html"), file(&at, "all", "o/./ports.csv"));
    let itself = file(&at, "all", "o");
    let out = at.join("o");
    let out = out.to_str().expect("a path of text");
    for (args, part) in [
        (&["--pcap", "sw7/p0=x"][..], "there is no node `sw7`"),
        (&["--pcap", "sw0/p9=x"], "`sw0` has no port `p9`: it has p0 (h0), p1 (h1)"),
        (&["--pcap", "sw0/p0"], "NODE/PORT=FILE"),
        (&["--pcap", "sw0/p0=-"], "needs a file"),
        (&["--pcap", &own], "which is the same file"),
        (&["--pcap", &nowhere], "there is no directory"),
        (&["--pcap", &below_a_file], "is not a directory"),
        (&["--pcap", &fine, "--set", "run.seeds=[4, 5]"], "choose one, such as --seed 4"),
        (&["--pcap", &fine, "--pcap-snap", "13B"], "from 14 B"),
        (&["--pcap-snap", "64B"], "--pcap"),
        (&["--pcap", &fine, "--pcap-limit", "50B"], "at least 1.664 KB"),
        (&["--pcap", &page, "--out", out], "writes its results there"),
        (&["--pcap", &crooked, "--out", out, "--force"], "writes its results there"),
        (&["--pcap", &itself, "--out", out], "writes its results there"),
    ] {
        let output = weir(&[&["run", scenario], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(part), "{args:?}: {told}");
        assert!(output.stdout.is_empty(), "{args:?}: nothing was run");
        assert_eq!(names(&at), ["scenario.toml"], "{args:?}");
    }
    let output = weir(&["compare", scenario, "--pcap", &fine]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("--pcap captures one run: use `weir run`"), "{told}");
}

/// A few dozen combinations of --pcap, --out and their options: either everything is written, and
/// the results are those without a capture, or nothing is run and nothing is left behind.
#[test]
fn captures_and_results_go_together_or_are_refused_together() {
    let plain = scratch("pcap-out-plain").join("o");
    let plain = plain.to_str().expect("a path of text");
    assert!(weir(&["run", "incast", "--out", plain]).status.success());
    let same = |out: &Path, name: &str| {
        fs::read(out.join(name)).expect("a file") == fs::read(Path::new(plain).join(name)).unwrap()
    };
    let (mut written, mut refused) = (0, 0);
    for (n, (what, target)) in [
        ("all", "x.pcapng"),
        ("all", "caps/"),
        ("sw0", "o/x.pcapng"),
        ("sw0/p0", "o/index.html"),
        ("all", "o/../o/flows.csv"),
        ("h0", "o"),
        ("all", "o/"),
        ("sw0/h3", "o.interrupted/x.pcapng"),
        ("h1", "o.interrupted/index.html"),
    ]
    .into_iter()
    .enumerate()
    {
        for limits in [&[][..], &["--pcap-limit", "4KB"], &["--pcap-snap", "64B", "-q"]] {
            let at = scratch(&format!("pcap-out-{n}-{}", limits.len()));
            let capture = format!("{what}={}", at.join(target).display());
            let capture = if target.ends_with('/') { format!("{capture}/") } else { capture };
            let out = at.join("o");
            let out_text = out.to_str().expect("a path of text");
            let args = ["run", "incast", "--pcap", &capture, "--out", out_text];
            let output = weir(&[&args, limits].concat());
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() {
                written += 1;
                for name in ["flows.csv", "ports.csv", "pauses.csv", "summary.json", "index.html"] {
                    assert!(same(&out, name), "{capture} {limits:?}: {name}");
                }
            } else {
                refused += 1;
                assert_eq!(output.status.code(), Some(2), "{capture}: {told}");
                assert_eq!(names(&at), [""; 0], "{capture}: {told}");
            }
        }
    }
    // a capture in the place of results or their directory is refused, the others are not
    assert_eq!((written, refused), (5 * 3, 4 * 3));
}

/// The command that was given can be given again.
#[test]
fn a_run_with_captures_beside_its_results_can_be_repeated() {
    let at = scratch("pcap-again");
    let out = at.join("o");
    let capture = format!("all={}/", out.display());
    let args = ["run", "incast", "--pcap", &capture, "--out", out.to_str().expect("text"), "-q"];
    assert!(weir(&args).status.success());
    let first = names(&out);
    assert!(first.contains(&"h0-p0.pcapng".to_owned()), "{first:?}");
    let again = weir(&args);
    assert!(again.status.success(), "{again:?}");
    assert_eq!(names(&out), first);
    // captures of an earlier run do not stay beside results of a later one
    assert!(weir(&[&args[..2], &args[4..]].concat()).status.success());
    assert!(!out.join("h0-p0.pcapng").exists());
}

/// Nothing is run and no file is left behind.
#[test]
fn a_log_is_never_where_results_or_captures_go() {
    let at = scratch("pcap-log");
    let path = |name: &str| at.join(name).display().to_string();
    let (out, log, page) = (path("o"), path("x.log"), path("o/flows.csv"));
    let inside = path("o/x.log");
    let capture = format!("all={}", path("./x.log"));
    for (args, part) in [
        (&["--log", &log, "--pcap", &capture][..], "--log writes the same file"),
        (&["--log", &page, "--out", &out], "replaces the whole directory"),
        (&["--log", &inside, "--out", &out], "replaces the whole directory"),
    ] {
        let output = weir(&[&["run", "incast"], args].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(part), "{args:?}: {told}");
        assert_eq!(names(&at), [""; 0], "{args:?}");
    }
}
