//! Files that are made by the program and kept with the source are current.

use std::path::Path;

fn check(path: &str, made: &str, command: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == made, "{path} is not current: {command} > {path}");
}

#[test]
fn the_scenario_reference_is_current() {
    let made = weir_scenario::scenario_doc::markdown();
    let command = "cargo run -- --generate scenario-reference";
    check("docs/src/scenario-reference.md", &made, command);
}

#[test]
fn the_schema_is_current() {
    let schema = serde_json::to_string_pretty(&weir_scenario::schema::scenario_schema());
    let made = schema.expect("a JSON value is always text") + "\n";
    check("schemas/scenario.schema.json", &made, "cargo run -- schema");
}

/// A release sets both.
#[test]
fn the_citation_names_this_version() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../CITATION.cff");
    let text = std::fs::read_to_string(path).expect("CITATION.cff");
    let version = text.lines().find_map(|line| line.strip_prefix("version: "));
    assert_eq!(version, Some(env!("CARGO_PKG_VERSION")), "CITATION.cff");
}
