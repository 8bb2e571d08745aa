//! `weir blame` from outside.

mod common;

use common::{code, scratch, stdout, weir};

/// The newcomer's way: run with --blame, look at the directory, look at one flow.
#[test]
fn a_victim_is_named_with_the_port_that_held_it() {
    let out = scratch("blame-fig1");
    let dir = out.to_str().expect("a path of text");
    stdout(&["run", "ofc-fig1", "-q", "--scheme", "pfc", "--blame", "--out", dir]);
    let text = stdout(&["blame", dir]);
    assert!(text.contains("worst victims") && text.contains("worst culprits"), "{text}");
    assert!(text.contains("because of Sc:P_d"), "{text}");
    let one = stdout(&["blame", dir, "--flow", "f0.0"]);
    assert!(one.contains("h0 -> h8") && one.contains("FCT") && one.contains("held for others"));
    // a run on the spot says the same of it
    let again = stdout(&["blame", "ofc-fig1", "-q", "--scheme", "pfc", "--flow", "f0.0"]);
    assert_eq!(one, again);
}

#[test]
fn several_runs_are_named_and_keep_their_order() {
    let out = scratch("blame-two");
    let dir = out.to_str().expect("a path of text");
    stdout(&["compare", "ofc-fig1", "-q", "--schemes", "pfc,ofc", "--blame", "--out", dir]);
    for args in [&["blame", dir][..], &["blame", dir, "--flow", "f0.0"]] {
        let text = stdout(args);
        let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("no {name}: {text}"));
        assert!(at("· PFC · seed 1") < at("· OFC · seed 1"), "{text}");
    }
    let json = stdout(&["blame", dir, "--flow", "f0.0", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let runs: Vec<_> = value["runs"].as_array().expect("runs").iter().map(|r| &r["run"]).collect();
    assert_eq!(runs.len(), 2);
    assert!(runs[0].as_str().expect("a name").contains("PFC"), "{json}");
}

#[test]
fn parts_in_json_add_up_to_the_completion_time() {
    let text = stdout(&["blame", "ofc-fig1", "-q", "--scheme", "ofc", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let flows = value["flows"].as_array().expect("a list");
    assert_eq!(flows.len(), 8);
    for flow in flows {
        let parts = flow["parts"].as_object().expect("parts").values();
        let sum: u64 = parts.map(|p| p.as_u64().expect("picoseconds")).sum();
        assert_eq!(flow["fct_ps"].as_u64(), Some(sum), "{flow}");
    }
    assert!(value["views"]["waits_for"]["port_to_flow"].is_array());
}

#[test]
fn what_cannot_be_shown_is_explained() {
    let out = scratch("blame-without");
    let dir = out.to_str().expect("a path of text");
    stdout(&["run", "incast", "-q", "--out", dir]);
    for (args, what) in [
        (&["blame", dir][..], "without --blame"),
        (&["blame", "incast", "-q", "--flow", "f99.9"], "no complete flow is called `f99.9`"),
        (&["blame", dir, "--scheme", "pfc"], "its runs are over"),
        (&["run", "incast", "--blame"], "--out"),
    ] {
        let output = weir(args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(what), "{args:?}: {text}");
        assert_eq!(code(args), 2, "{args:?}");
    }
}
