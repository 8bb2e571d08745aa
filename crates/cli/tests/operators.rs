//! `weir advise`, `weir sonic check`, `weir explain` and `weir import sonic` as a user runs them.

mod common;

use common::{code, scratch, stdout, weir};
use serde_json::Value;
use std::fs;

fn example(name: &str) -> String {
    format!("{}/../../examples/sonic/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn json(args: &[&str]) -> Value {
    let output = weir(args);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!("{args:?}: {e}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

/// The seven published vectors, from the command line.
#[test]
fn advise_prints_the_published_headroom_of_switch_families() {
    for (flags, xon, xoff, size) in [
        ("spectrum-1 --speed 100G --length 5m", 19_456, 72_704, 92_160),
        ("spectrum-2 --speed 100G --length 5m", 19_456, 108_544, 128_000),
        ("spectrum-2 --speed 100G --length 40m", 19_456, 121_856, 141_312),
        ("spectrum-2 --speed 200G --length 40m", 19_456, 148_480, 167_936),
        ("spectrum-4 --speed 400G --length 5m --small-packets 50", 19_456, 98_304, 117_760),
        (
            "spectrum-4 --speed 400G --length 40m --small-packets 50 --oversubscription 2",
            19_456,
            117_760,
            19_456,
        ),
        ("tofino-2 --speed 400G --length 40m --lanes 8", 69_632, 401_408, 69_632),
    ] {
        let line = format!("advise --asic {flags} --mtu 9100 --lossless-mtu 1024 --json");
        let args: Vec<&str> = line.split(' ').collect();
        let found = json(&args);
        let rule = &found["rule"];
        assert_eq!(
            (rule["xon"].as_u64(), rule["xoff"].as_u64(), rule["size"].as_u64()),
            (Some(xon), Some(xoff), Some(size)),
            "{flags}"
        );
        assert_eq!(found["confirmed"]["holds"], Value::Bool(true), "{flags}");
    }
}

#[test]
fn advise_shows_terms_margin_shortcuts_and_the_confirming_run() {
    let text = stdout(&[
        "advise", "--speed", "400G", "--length", "100m", "--mtu", "4096", "--buffer", "64MB",
        "--ports", "64",
    ]);
    for part in [
        // 50 000 + 57 920 + 2 x 4134 + 84 + 4114
        "120.386 KB",
        "frame ahead of the PAUSE",
        "25 KB",
        "confirmed: worst instant of 8 ports at once: nothing lost",
        "left for sharing",
        "alpha = \"1/8\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// The keys can be pasted into a scenario, which then has nothing to complain about.
#[test]
fn keys_of_advise_make_a_scenario_without_warnings() {
    let keys = stdout(&[
        "advise", "--speed", "100G", "--length", "100m", "--mtu", "1500", "--buffer", "16MB",
        "--ports", "4", "--keys",
    ]);
    let file = scratch("advise-keys").join("x.toml");
    let text = format!(
        "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\nlength = \"100m\"\n\n{keys}\n\
         [[traffic]]\nkind = \"burst\"\nfrom = \"h1..h3\"\nto = \"h0\"\nsize = \"1MB\"\n"
    );
    fs::write(&file, text).expect("a temporary file");
    let output = weir(&["check", file.to_str().expect("text")]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !errors.contains("headroom is too small"), "{errors}");
}

/// In cells: the run counts them, says so, and the keys have what `weir check` needs to agree.
#[test]
fn advise_in_cells_is_confirmed_in_cells() {
    let line = "advise --speed 100G --length 100m --mtu 1500 --buffer 16MB --ports 4 --cell 144";
    let args: Vec<&str> = line.split(' ').collect();
    let text = stdout(&args);
    for part in [
        "memory in cells of 144 B; the worst packets have 145 B and take 288 B",
        "confirmed: worst instant of 4 ports at once: nothing lost",
        "memory counted in cells of 144 B, the peer sends packets of 145 B",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let keys = stdout(&[&args[..], &["--keys"]].concat());
    assert!(keys.contains("cell = \"144B\"") && keys.contains("header = \"63B\""), "{keys}");
    let file = scratch("advise-cells").join("x.toml");
    let text = format!(
        "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\nlength = \"100m\"\n\n{keys}\n\
         [[traffic]]\nkind = \"burst\"\nfrom = \"h1..h3\"\nto = \"h0\"\nsize = \"1MB\"\n"
    );
    fs::write(&file, text).expect("a temporary file");
    let output = weir(&["check", file.to_str().expect("text")]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !errors.contains("headroom is too small"), "{errors}");
}

#[test]
fn advise_says_when_a_link_has_too_many_packets_for_a_run() {
    let line = "advise --speed 800G --length 10000km --mtu 1024 --json";
    let found = json(&line.split(' ').collect::<Vec<_>>());
    let why = found["confirmed"]["not_run"].as_str().expect("a reason");
    assert!(why.contains("too many for a run"), "{why}");
    let slow = json(&["advise", "--speed", "1Mbps", "--length", "10m", "--json"]);
    let why = slow["confirmed"]["not_run"].as_str().expect("a reason");
    assert!(why.contains("at least 10 Mb/s"), "{why}");
}

#[test]
fn advise_reads_the_links_of_a_scenario() {
    let found = json(&["advise", "ofc-fig1", "--json"]);
    // 200 + 2 x 1538 + 84 and the packet of 1518 that crosses
    assert_eq!(found[0]["headroom"].as_u64(), Some(3360 + 1518));
    assert_eq!(found[0]["confirmed"]["holds"], Value::Bool(true));
    // a scenario that counts cells is advised in cells
    let cells = json(&["advise", "ofc-fig1", "--set", "switch.cell=208B", "--json"]);
    assert_eq!(cells[0]["cell"].as_u64(), Some(208));
    assert_eq!(cells[0]["confirmed"]["holds"], Value::Bool(true));
}

#[test]
fn advise_reads_the_ports_of_a_switch() {
    let file = example("leaf1.json");
    let found = json(&["advise", "--sonic", &file, "--json"]);
    // three ports of the same kind: one answer, with the rule of the family of its hwsku
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    assert_eq!(found[0]["rule"]["xoff"].as_u64(), Some(108_544));
    assert_eq!(found[0]["confirmed"]["holds"], Value::Bool(true));
}

#[test]
fn advise_refuses_what_makes_no_sense() {
    for (args, says) in [
        (vec!["advise"], "--speed"),
        (vec!["advise", "--speed", "fast", "--length", "1m"], "fast"),
        (vec!["advise", "--speed", "100G", "--length", "40"], "mm, cm, m, km"),
        (vec!["advise", "--speed", "0G", "--length", "40m"], "carries nothing"),
        (vec!["advise", "--speed", "100G", "--length", "-5m"], "-5m"),
        (vec!["advise", "--speed", "100G", "--length", "40m", "--cell", "0"], "1 to 4096"),
        (vec!["advise", "--speed", "1G", "--length", "4m", "--asic", "x"], "spectrum-1"),
        (vec!["advise", "--speed", "1G", "--length", "4m", "--mtu", "3"], "64 to 65517"),
        (vec!["advise", "--speed", "1bps", "--length", "4m"], "100 kb/s"),
        (
            vec![
                "advise",
                "--speed",
                "1G",
                "--length",
                "4m",
                "--mtu",
                "1500",
                "--lossless-mtu",
                "9000",
            ],
            "above the MTU",
        ),
    ] {
        let output = weir(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(says), "{args:?}: {message}");
    }
}

#[test]
fn clean_examples_pass_and_the_broken_one_is_found() {
    let clean = [example("leaf1.json"), example("spine1.json")];
    let args = ["sonic", "check", &clean[0], &clean[1], "--memory", "42MB", "--strict"];
    let output = weir(&args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("2 switches: 0 errors, 0 warnings, 0 notes"), "{text}");
    assert_eq!(output.status.code(), Some(0));
    let broken = example("leaf2.json");
    let host = example("roce.sh");
    let args = ["sonic", "check", &clean[0], &broken, &clean[1], "--host", &host, "--json"];
    let found = json(&args);
    let codes: Vec<&str> = found["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|f| f["code"].as_str())
        .collect();
    for wanted in ["SN101", "SN201", "SN401", "SN408", "SN702", "SN901"] {
        assert!(codes.contains(&wanted), "{wanted}: {codes:?}");
    }
    assert_eq!(code(&args), 1);
}

#[test]
fn a_patch_is_written_for_each_switch_and_ports_to_drain_are_named() {
    let directory = scratch("sonic-patch");
    let (broken, out) = (example("leaf2.json"), directory.join("mend"));
    let out = out.to_str().expect("text");
    let output = weir(&["sonic", "check", &broken, "--patch", out]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("drain traffic first on Ethernet0, Ethernet4, Ethernet8"), "{errors}");
    let text = fs::read_to_string(format!("{out}/leaf2.patch.json")).expect("a patch");
    let patch: Value = serde_json::from_str(&text).expect("JSON");
    let paths: Vec<&str> =
        patch.as_array().expect("a list").iter().filter_map(|op| op["path"].as_str()).collect();
    assert!(paths.contains(&"/PFC_WD/Ethernet0/detection_time"), "{paths:?}");
    assert!(paths.contains(&"/BUFFER_PROFILE/pg_lossless_100000_5m_profile/xoff"), "{paths:?}");
}

#[test]
fn an_imported_fabric_runs() {
    let file = scratch("sonic-import").join("x.toml");
    let path = file.to_str().expect("text");
    let (leaf, spine) = (example("leaf1.json"), example("spine1.json"));
    let other = example("leaf2.json");
    let done = weir(&["import", "sonic", &leaf, &other, &spine, "--out", path]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = fs::read_to_string(&file).expect("a scenario");
    assert!(text.contains("# No counterpart"), "{text}");
    for part in ["egress = { alpha = ", "cell = \"144B\"", "header = \"62B\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let run = json(&["run", path, "--json", "--deny", "unfinished"]);
    assert!(run.is_object() || run.is_array(), "{run}");
}

/// Traffic of a lossy class is dropped where its queue is full, and pauses nobody; that of a
/// lossless class is paused, and nothing is lost.
#[test]
fn lossy_traffic_of_an_imported_fabric_pauses_nothing() {
    let file = scratch("sonic-lossy").join("x.toml");
    let path = file.to_str().expect("text");
    let files = ["leaf1.json", "leaf2.json", "spine1.json"].map(example);
    stdout(&["import", "sonic", &files[0], &files[1], &files[2], "--out", path]);
    let text = fs::read_to_string(&file).expect("a scenario");
    let (head, _) = text.split_once("# Replace this").expect("traffic comes last");
    for (priority, paused) in [(0, false), (3, true)] {
        let incast = format!(
            "[run]\nallow-loss = true\n[[traffic]]\nkind = \"burst\"\nsize = \"30MB\"\n\
             from = [\"server2\", \"server3\", \"server4\"]\nto = \"server1\"\n\
             priority = {priority}\n"
        );
        fs::write(&file, format!("{head}{incast}")).expect("a file");
        let totals = &json(&["run", path, "--json"])["totals"];
        let has = |figure: &str| totals[figure].as_u64().expect("a count") > 0;
        assert_eq!((has("control_frames"), has("dropped")), (paused, !paused), "{totals}");
    }
}

#[test]
fn codes_are_explained() {
    let text = stdout(&["explain", "sn901"]);
    assert!(text.contains("ToS = 4 x DSCP") && text.contains("DSCP 26 is ToS 104"), "{text}");
    assert!(stdout(&["explain"]).contains("SN201"));
    assert_eq!(json(&["explain", "SN201", "--json"])["severity"], "error");
    let output = weir(&["explain", "SN20"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean SN20"));
}

#[test]
fn two_files_of_one_switch_are_pointed_out() {
    let file = example("leaf1.json");
    let output = weir(&["sonic", "check", &file, &file]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("both called leaf1"), "{errors}");
}

#[test]
fn files_that_are_no_configuration_are_bad_input() {
    let directory = scratch("sonic-bad");
    for (name, text) in [("a.json", "{\"PORT\": "), ("b.json", "[]"), ("c.json", "\u{0}")] {
        let file = directory.join(name);
        fs::write(&file, text).expect("a temporary file");
        let path = file.to_str().expect("text");
        assert_eq!(code(&["sonic", "check", path]), 2, "{name}");
        assert_eq!(code(&["import", "sonic", path]), 2, "{name}");
    }
    assert_eq!(code(&["sonic", "check", "no-such-file.json"]), 2);
}
