//! What errors look like. The texts are the product: a change here should be meant.

use weir_scenario::Experiment;
use weir_scenario::Files;

/// A scenario that is fine.
const GOOD: &str = r#"
[topology]
kind = "ofc-chain"

[switch]
thresholds = { xoff = "75KB", xon = "45KB" }

[[traffic]]
kind = "flow"
from = "h0"
to = "h8"
size = "4.2MB"
"#;

/// The errors of `GOOD` with some text replaced.
fn errors(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    let text = GOOD.replace(old, new);
    match Experiment::read("my.toml", &text, Files::default(), &[]) {
        Ok(e) => panic!("no error; warnings: {}", e.warnings.plain(&e.scenario.sources)),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn the_unchanged_scenario_has_no_problem() {
    let e = Experiment::read("my.toml", GOOD, Files::default(), &[]).expect("a good scenario");
    assert!(e.warnings.is_empty());
    assert_eq!(e.scenario.name, "my");
}

/// Arrivals are so rare that few would start before the clock ends; `traffic-until` cuts them off.
#[test]
fn flows_that_never_start_are_not_too_late() {
    let rare =
        "size = \"4.2MB\"\n[[traffic]]\nkind = \"poisson\"\nsize = \"1MB\"\nper-second = 1\n";
    let text =
        GOOD.replace("size = \"4.2MB\"\n", &format!("{rare}[run]\ntraffic-until = \"1ms\"\n"));
    if let Err(problems) = Experiment::read("my.toml", &text, Files::default(), &[]) {
        panic!("{problems}");
    }
}

#[test]
fn xon_above_xoff_is_shown_with_both_values() {
    let expected = "\
error: xon must be below xoff
 --> my.toml:6:37
  |
6 | thresholds = { xoff = \"45KB\", xon = \"75KB\" }
  |                                     ^^^^^^ 75 KB is not below xoff (45 KB): \
an ingress would resume without having drained
  |
  = help: the OFC paper uses xoff 75 KB and xon 45 KB on 40 Gb/s links";
    let found = errors(r#"xoff = "75KB", xon = "45KB""#, r#"xoff = "45KB", xon = "75KB""#);
    assert_eq!(found, expected);
}

#[test]
fn a_wrong_key_names_the_nearest_and_all_that_are_valid() {
    let expected = "\
error: unknown key `tresholds`
 --> my.toml:6:1
  |
6 | tresholds = { xoff = \"75KB\", xon = \"45KB\" }
  | ^^^^^^^^^ `[switch]` has no such key
  |
  = help: did you mean `thresholds`?
  = help: `[switch]` takes model, buffer, thresholds, lossless, weights, quantum, ecn, latency, \
  watchdog, egress, cell, pipeline, shared-pool";
    assert_eq!(errors("thresholds", "tresholds"), expected);
}

#[test]
fn a_wrong_unit_names_the_units_there_are() {
    let expected = "\
error: `xoff`: unknown unit `Kb` in `75Kb`: a size takes one of B, KB, MB, GB, TB, KiB, MiB, GiB
 --> my.toml:6:23
  |
6 | thresholds = { xoff = \"75Kb\", xon = \"45KB\" }
  |                       ^^^^^^";
    assert_eq!(errors("75KB", "75Kb"), expected);
}

#[test]
fn a_wrong_host_names_the_nearest_one() {
    let expected = "\
error: `to` names host `h88`, which does not exist (did you mean `h8`?)
  --> my.toml:11:6
   |
11 | to = \"h88\"
   |      ^^^^^";
    assert_eq!(errors("\"h8\"", "\"h88\""), expected);
}

#[test]
fn a_threshold_above_the_buffer_is_refused() {
    let expected = "\
error: `xoff` is above the buffer
 --> my.toml:7:23
  |
7 | thresholds = { xoff = \"75KB\", xon = \"45KB\" }
  |                       ^^^^^^ 75 KB does not fit into the buffer of 50 KB
  |
  = help: a full buffer drops before the threshold is reached";
    assert_eq!(errors("[switch]", "[switch]\nbuffer = \"50KB\""), expected);
}

#[test]
fn an_override_is_checked_like_the_file() {
    let set = ["traffic.0.size=3 apples".to_owned()];
    let problems = Experiment::read("my.toml", GOOD, Files::default(), &set).unwrap_err();
    let expected = "\
error: `size`: unknown unit `apples` in `3 apples`: a size takes one of B, KB, MB, GB, TB, KiB, \
MiB, GiB
 --> --set:1:16
  |
1 | traffic.0.size=3 apples
  |                ^^^^^^^^";
    assert_eq!(problems.to_string(), expected);
}

#[test]
fn everything_wrong_is_said_at_once_in_the_order_of_the_file() {
    let text = GOOD
        .replace("ofc-chain", "ofc-chian")
        .replace("xon", "xno")
        .replace("kind = \"flow\"", "kind = \"folw\"");
    let problems = Experiment::read("my.toml", &text, Files::default(), &[]).unwrap_err();
    let titles: Vec<&str> = problems.diagnostics.iter().map(|d| d.title.as_str()).collect();
    let expected = [
        "there is no topology `ofc-chian`",
        "unknown key `xno`",
        "there is no traffic pattern `folw`",
    ];
    assert_eq!(titles, expected);
}

/// Each case: what to replace, by what, and what the error must say. All of them must point at
/// a line of the file.
#[test]
fn impossible_values_are_refused_with_a_place_and_a_reason() {
    let traffic = "size = \"4.2MB\"";
    let cases = [
        ("kind = \"ofc-chain\"", "kind = \"ofc-chain\"\nrate = \"0Gbps\"", "at least 100 kb/s"),
        ("kind = \"ofc-chain\"", "kind = \"ofc-chain\"\nbursts = -3", "whole number"),
        ("kind = \"ofc-chain\"", "kind = \"ring\"\nswitches = 2", "at least 3"),
        ("\"h8\"", "\"h0\"", "to itself"),
        ("\"h8\"", "\"Sb\"", "names host `Sb`, which does not exist"),
        (traffic, "size = \"0B\"", "at least 1 B"),
        (traffic, "size = 99999999TB", "expected"),
        (traffic, "size = \"9999TB\"", "too large"),
        (traffic, "size = \"unlimited\"", "keeps the run from draining"),
        (traffic, "size = \"1MB\"\nstart = \"18446744s\"", "too late"),
        (traffic, "size = \"1MB\"\npath = \"east\"", "static path"),
        (
            traffic,
            "size = \"1MB\"\n[[path]]\nname = \"p\"\nnodes = [\"h0\", \"Sc\", \"h8\"]",
            "no link",
        ),
        (
            traffic,
            "size = \"1MB\"\n[[failure]]\nlink = [\"Sa\", \"Sc\"]\ndown = \"1us\"",
            "no link Sa-Sc",
        ),
        (
            traffic,
            "size = \"1MB\"\n[[failure]]\nlink = [\"Sa\", \"Sb\"]\ndown = \"2us\"\nup = \"1us\"",
            "must be later than",
        ),
        (
            traffic,
            "size = \"1MB\"\n[[traffic]]\nkind = \"poisson\"\nload = 0.5\nsize = \"1KB\"",
            "never ends",
        ),
        (traffic, "size = \"1MB\"\n[run]\nseeds = []", "no run"),
        (traffic, "size = \"1MB\"\n[nic]\nwindow = \"1KB\"", "no packet fits"),
        (traffic, "size = \"1MB\"\n[nic]\npayload = \"80KB\"", "out of range"),
        (traffic, "size = \"1MB\"\n[flow-control]\nscheme = \"pcf\"", "did you mean `pfc`"),
        (traffic, "size = \"1MB\"\n[flow-control]\ntimer = \"tmied\"", "`timed`, `sticky`"),
        (
            traffic,
            "size = \"1MB\"\n[congestion-control]\nalgorithm = \"hpc\"",
            "did you mean `hpcc`",
        ),
        (traffic, "size = \"1MB\"\n[link]\nbit-error-rate = 1.5", "below 1"),
        ("xoff = \"75KB\", xon = \"45KB\"", "alpha = \"1/8\"", "shares of a `buffer`"),
        (
            "xoff = \"75KB\", xon = \"45KB\"",
            "alpha = \"1/3\", buffer = \"12MB\"",
            "not a power of two",
        ),
        (
            "xoff = \"75KB\", xon = \"45KB\"",
            "alpha = \"1/8\", xoff = \"1KB\"",
            "either static or dynamic",
        ),
        (
            "xoff = \"75KB\", xon = \"45KB\"",
            "alpha = \"1/8\", buffer = \"20KB\"",
            "no shared memory is left",
        ),
        ("xoff = \"75KB\", xon = \"45KB\"", "limit = \"70KB\"", "must not be below xoff"),
    ];
    for (old, new, part) in cases {
        let found = errors(old, new);
        assert!(found.contains(part), "{new}: {found}");
        assert!(found.contains("--> my.toml:"), "{new}: {found}");
    }
}

#[test]
fn too_little_headroom_is_a_warning_with_the_number_needed() {
    let text = GOOD.replace("xon = \"45KB\"", "limit = \"78KB\"");
    let e = Experiment::read("my.toml", &text, Files::default(), &[]).expect("only a warning");
    let text = e.warnings.plain(&e.scenario.sources);
    // 75 000 + 1518 - 1 + 200 + 2 * 1538 + 84
    assert!(text.contains("`limit` of at least 79.877 KB"), "{text}");
    assert!(text.contains("--> my.toml:6:39"), "{text}");
}

#[test]
fn a_nack_interval_that_does_nothing_is_a_warning() {
    let nic = "[nic]\nreliability = \"selective-repeat\"\nnack-interval = \"1us\"\n";
    let text = format!("{GOOD}{nic}");
    let e = Experiment::read("my.toml", &text, Files::default(), &[]).expect("only a warning");
    let text = e.warnings.plain(&e.scenario.sources);
    assert!(text.contains("`nack-interval` has no effect with selective repeat"), "{text}");
    assert!(text.contains("--> my.toml:15:"), "{text}");
    let reliability = e.scenario.nic.config.reliability;
    assert_eq!(reliability, weir_sim::config::Reliability::SelectiveRepeat);
}

#[test]
fn a_load_above_capacity_is_a_warning_with_the_link() {
    let text = "[topology]\nkind = \"dumbbell\"\nleft = 4\nright = 4\n\
                [[traffic]]\nkind = \"poisson\"\nload = 80%\nsize = \"10KB\"\n[run]\nuntil = \
                \"1ms\"\n"
        .replace("80%", "\"80%\"");
    let e = Experiment::read("my.toml", &text, Files::default(), &[]).expect("only a warning");
    let text = e.warnings.plain(&e.scenario.sources);
    // 4 hosts at 80 % of 40 Gb/s, 4 of 7 receivers on the other side of a trunk of 40 Gb/s: 183 %,
    // and frames of 1538 B for 1500 B of payload make it 188 %
    assert!(
        text.contains("of what link sw0-sw1 can carry") || text.contains("link sw1-sw0"),
        "{text}"
    );
    let percent: f64 =
        text.split("offers ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((percent - 188.0).abs() < 8.0, "{text}");
}

#[test]
fn a_missing_file_and_a_misspelt_built_in_say_so() {
    let text = Experiment::load("incsat", &[]).unwrap_err().to_string();
    assert!(
        text.contains("cannot read `incsat`") && text.contains("did you mean `incast`?"),
        "{text}"
    );
    let list = GOOD.replace(
        "kind = \"flow\"\nfrom = \"h0\"\nto = \"h8\"\nsize = \"4.2MB\"",
        "kind = \"list\"\nfile = \"no-such.csv\"",
    );
    let text = Experiment::read("my.toml", &list, Files::default(), &[]).unwrap_err().to_string();
    assert!(text.contains("no-such.csv") && text.contains("--> my.toml:10:8"), "{text}");
}

#[test]
fn a_range_of_sizes_that_is_none_is_shown_where_it_stands() {
    let sizes = |list: &str| {
        let report = format!("[report]\nsizes = {list}\n\n[[traffic]]");
        errors("[[traffic]]", &report)
    };
    let expected = "\
error: `sizes`: the range `100KB..10KB` is empty: its end is not above its start
 --> my.toml:9:20
  |
9 | sizes = [\"..10KB\", \"100KB..10KB\"]
  |                    ^^^^^^^^^^^^^ write \"10KB..100KB\", \"..10KB\" or \"100KB..\"; the upper \
  end is not included";
    assert_eq!(sizes("[\"..10KB\", \"100KB..10KB\"]"), expected);
    for (list, part) in [
        ("[\"10KB\"]", "it has no `..`"),
        ("\"10Kb..\"", "unknown unit `Kb`"),
        ("[\"0..1KB\", \"..1000B\"]", "`sizes` has the range `..1000B` twice"),
        ("[1, 2]", "a number cannot be a value of `sizes`"),
        ("true", "true or false cannot be a value of `sizes`"),
    ] {
        let found = sizes(list);
        assert!(found.contains(part) && found.contains("my.toml:9:"), "{list}: {found}");
    }
}

/// A label of a variant is the first cell of most rows of CSV files, and stands on terminals.
#[test]
fn labels_of_variants_are_refused_as_names_of_nodes_and_classes_are() {
    for (label, part) in [
        ("=HYPERLINK(\\\"http://x\\\",\\\"y\\\")", "read it as a formula"),
        ("@a", "read it as a formula"),
        ("-1", "read it as a formula"),
        ("\\u001b[31mPFC", "it contains a control character"),
        ("\\u202eCFP", "it contains a mark of text direction"),
    ] {
        let variant =
            format!("size = \"4.2MB\"\n[[variant]]\nlabel = \"{label}\"\nscheme = \"pfc\"");
        let shown = errors("size = \"4.2MB\"", &variant);
        assert!(shown.contains("cannot be the `label` of a variant"), "{label}: {shown}");
        assert!(shown.contains(part) && shown.contains("my.toml:"), "{label}: {shown}");
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    }
}

/// The reader refuses such characters in every text, and the check of classes in names: it is one
/// mistake.
#[test]
fn a_wrong_character_in_a_name_is_one_error() {
    for (key, name) in [("class", "\\u202eabc"), ("class", "\\u0007")] {
        let shown = errors("size = \"4.2MB\"", &format!("size = \"4.2MB\"\n{key} = \"{name}\""));
        assert_eq!(shown.matches("error:").count(), 1, "{shown}");
        assert!(shown.contains("cannot be the name of a class"), "{shown}");
        assert!(shown.contains("my.toml:13:9"), "{shown}");
    }
    // of two classes each has its own
    let two = "class = \"=a\"\n[[traffic]]\nkind = \"flow\"\nfrom = \"h1\"\nto = \"h8\"\n\
        size = \"1KB\"\nclass = \"=b\"";
    let shown = errors("size = \"4.2MB\"", &format!("size = \"4.2MB\"\n{two}"));
    assert!(shown.contains("my.toml:13:9") && shown.contains("my.toml:19:9"), "{shown}");
}

/// The largest time that can be written stands for never inside, where such a flow would be left
/// out without a word.
#[test]
fn a_start_at_the_largest_time_is_refused_as_it_was_written() {
    let start = "18446744073709551615ps";
    let shown = errors("size = \"4.2MB\"", &format!("size = \"4.2MB\"\nstart = \"{start}\""));
    assert!(shown.contains(&format!("a flow starts at {start}, which is too late")), "{shown}");
    assert!(shown.contains("my.toml:13:9") && shown.contains("at most 70.36"), "{shown}");
    let rows = format!("flows = [\"src,dst,size,start\", \"h0,h8,1KB,{start}\"]");
    let list = format!("size = \"4.2MB\"\n[[traffic]]\nkind = \"list\"\n{rows}");
    let shown = errors("size = \"4.2MB\"", &list);
    let part = format!("line 2: `start` is `{start}`: a flow starts before {start}");
    assert!(shown.contains(&part) && shown.contains("my.toml:15:9"), "{shown}");
}

/// Texts that no check of a name sees are looked at where the file is read.
#[test]
fn no_text_of_a_file_contains_control_characters() {
    let shown = errors("[topology]", "notes = \"a\\u001b[2Jb\"\n[topology]");
    assert!(shown.contains("a text contains a control character"), "{shown}");
    assert!(shown.contains("U+001B") && shown.contains("my.toml:2"), "{shown}");
}
