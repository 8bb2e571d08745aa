//! What every reader of files promises, as functions for a fuzzer and for property tests.
//!
//! No input makes a reader panic or run for long, every error can be shown and names a line that
//! exists (or concerns the file as a whole), and accepted input can be used. Each function panics
//! when its reader breaks the promise. `fuzz/` has a target per entry of [`READERS`], and
//! `tests/robustness.rs` runs the same functions in every test run.

use std::cell::Cell;
use std::fmt::{Debug, Display};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use weir_core::{Bytes, Length, NodeId, Rate, Ratio, Severity, Time};
use weir_net::{Routes, build::explicit, draw};
use weir_ns3::{Config, Diagnostics, Inputs, Topology, flows, from_texts, output};
use weir_results::describe;
use weir_results::fct;
use weir_results::ns3::import;
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_scenario::Scenario;
use weir_scenario::text::Colour;
use weir_traffic::{SizeTable, size::TableError};

/// A reader, by the name of its fuzz target.
pub type Reader = (&'static str, fn(&[u8]));

/// All of them.
pub const READERS: &[Reader] = &[
    ("units", units),
    ("size_table", size_table),
    ("flow_list", flow_list),
    ("graph", graph),
    ("scenario", scenario),
    ("fct", fct_file),
    ("paper", paper),
    ("ns3_config", ns3_config),
    ("ns3_topology", ns3_topology),
    ("ns3_flows", ns3_flows),
    ("ns3_inputs", ns3_inputs),
    ("ns3_trace", ns3_trace),
];

/// Separates the files of one run in the input of [`ns3_inputs`].
pub const NEXT_FILE: &str = "%%\n";

/// Beyond this many nodes only the reader is tried: analyses of large networks take their time
/// by right.
const LARGEST_NETWORK: usize = 2_000;

/// Times, rates, sizes and fractions: what is accepted is printed so that it reads back.
pub fn units(bytes: &[u8]) {
    fn try_one<T: FromStr + Display + Debug + PartialEq>(text: &str)
    where
        T::Err: Display + Debug,
    {
        match text.parse::<T>() {
            Ok(value) => assert_eq!(value.to_string().parse::<T>().ok(), Some(value), "{text:?}"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // The largest number of each stands for "no limit", which parameters write in their own way.
    if text.parse() != Ok(Time::NEVER) {
        try_one::<Time>(text);
    }
    if text.parse() != Ok(Bytes::MAX) {
        try_one::<Bytes>(text);
    }
    try_one::<Length>(text);
    try_one::<Rate>(text);
    try_one::<Ratio>(text);
}

/// Experiments and claims of papers, each as a file by itself, about a fixed set of variants,
/// parameters and classes. Scenarios and grids are not resolved here: they have targets and checks
/// of their own.
pub fn paper(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (sources, diagnostics) = crate::read_alone(text);
    let shown = diagnostics.plain(&sources);
    assert_eq!(shown.is_empty(), diagnostics.is_empty());
}

/// Tables of flow sizes.
pub fn size_table(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse::<SizeTable>() {
        Ok(table) => {
            let summary = table.summary();
            assert!(summary.mean.is_finite() && summary.mean > 0.0, "{summary:?}");
            for percent in [0.0, 12.5, 50.0, 99.999] {
                let size = table.size(percent);
                assert!(size.get() >= 1 && size <= table.max(), "{size} at {percent} %");
            }
        }
        Err(TableError::TooShort { .. }) => {}
        Err(error) => names_a_line(&error.to_string(), text),
    }
}

/// Flow lists as CSV: what is accepted is written so that it reads back.
pub fn flow_list(bytes: &[u8]) {
    let host = |name: &str| name.strip_prefix('h')?.parse().ok().map(NodeId);
    let path = |name: &str, _, _| name.parse().ok();
    let list = match weir_traffic::read_flows(bytes, &host, &path) {
        Ok(list) => list,
        Err(error) => return names_a_line(&error.to_string(), &String::from_utf8_lossy(bytes)),
    };
    let mut text = Vec::new();
    let name = |node: NodeId| format!("h{}", node.0);
    weir_traffic::write_flows(&mut text, list.flows(), &name, &|p| p.to_string(), list.classes())
        .expect("memory takes every byte");
    let again = weir_traffic::read_flows(&text[..], &host, &path);
    assert_eq!(again.as_ref().map(|l| l.flows()), Ok(list.flows()));
}

/// Graph files: what can be built has routes and a picture.
pub fn graph(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let graph = match explicit::read(text) {
        Ok(graph) => graph,
        Err(error) => return names_a_line(&error.to_string(), text),
    };
    match explicit::build(&graph) {
        Ok(topology) if topology.nodes().len() <= LARGEST_NETWORK => {
            let _ = Routes::ecmp(&topology, &[]);
            let _ = Routes::up_down(&topology, &[]);
            assert!(draw::svg(&topology, &draw::Options::default()).starts_with("<svg"));
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Scenario files, and everything that is said about them before a run.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    scenario_with(text, &[]);
}

/// The same with values from the command line.
pub fn scenario_with(text: &str, sets: &[String]) {
    let (read, found) = Scenario::read("x.toml", text, Files::default(), sets);
    let _ = found.render(&read.sources, Colour::On);
    let network = read.topology.as_ref().map(|t| t.build());
    if network.is_some_and(|t| t.is_ok_and(|t| t.nodes().len() > LARGEST_NETWORK)) {
        return;
    }
    match Experiment::read("x.toml", text, Files::default(), sets) {
        Ok(e) => {
            let _ = e.warnings.render(&e.scenario.sources, Colour::On);
            let variant = e.variant(None, None, 1).expect("the scheme of the file");
            assert!(!describe::settings(&e, &e.config(variant)).is_empty());
        }
        Err(problems) => {
            assert!(problems.diagnostics.has_errors());
            assert!(!problems.to_string().is_empty());
        }
    }
}

/// Result files, ours and the original's: what is accepted makes a table and a figure.
pub fn fct_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match fct::read("x", text, &fct::Wanted::default()) {
        Ok(runs) => {
            let ranges = fct::Ranges::new(&runs, &weir_scenario::SizeRange::usual());
            assert!(ranges.csv().starts_with("run,"));
            let series: Vec<fct::Series> = runs.iter().map(fct::Seeded::series).collect();
            let table = fct::SlowdownTable::new(&series, 20);
            assert!(table.csv().starts_with("run,") && fct::drawing(&table).starts_with("<svg"));
            let _ = fct::as_json(&table);
        }
        Err(error) => {
            let place = error.strip_prefix("x:").unwrap_or_else(|| panic!("no line: {error}"));
            names_a_line(&format!("line {place}"), text);
        }
    }
}

/// Configurations of the original.
pub fn ns3_config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Config::parse(Path::new("x"), text) {
        Ok((config, warnings)) => {
            assert!(!warnings.has_errors());
            let _ = config.congestion_control();
        }
        // What is missing stands nowhere.
        Err(found) => check(&found, text, Lines::WhereGiven),
    }
}

/// Topology files of the original.
pub fn ns3_topology(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Topology::read(Path::new("x"), text) {
        Ok(topology) => assert!(topology.links.iter().all(|l| l.a != l.b && l.rate > 0)),
        Err(found) => check(&found, text, Lines::Always),
    }
}

/// Flow files of the original, on four hosts and a switch.
pub fn ns3_flows(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let star = Topology { is_switch: vec![false, false, false, false, true], links: Vec::new() };
    match flows::read(Path::new("x"), text, &star) {
        Ok((read, warnings)) => {
            assert!(!warnings.has_errors());
            let again = flows::read(Path::new("x"), &flows::write(&read), &star);
            assert_eq!(again.map(|(again, _)| again.len()), Ok(read.len()));
        }
        Err(found) => check(&found, text, Lines::Always),
    }
}

/// All files of a run of the original, [`NEXT_FILE`] between them: configuration, topology,
/// flows and nodes to trace. What is accepted converts to a scenario that the reader of scenarios
/// takes or refuses like any other.
pub fn ns3_inputs(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut files = text.split(NEXT_FILE);
    let config = files.next().unwrap_or_default();
    let rest: Vec<&str> = files.collect();
    let next = Cell::new(0);
    let open = |_: &Path| {
        let text = rest.get(next.replace(next.get() + 1)).copied().unwrap_or_default();
        Ok((PathBuf::from("x"), text.to_owned()))
    };
    match from_texts(Path::new("x"), config, open) {
        Ok((inputs, _)) if inputs.topology.is_switch.len() <= LARGEST_NETWORK => convert(&inputs),
        Ok(_) => {}
        Err(found) => assert!(found.has_errors()),
    }
}

/// Packet records of the original: what is accepted is written so that it reads back.
pub fn ns3_trace(bytes: &[u8]) {
    for record in bytes.as_chunks().0 {
        if let Some(read) = output::read_trace_record(record) {
            assert_eq!(output::read_trace_record(&output::trace_record(&read)), Some(read));
        }
    }
}

fn convert(inputs: &Inputs) {
    for ways in [import::Ways::Hashed, import::Ways::Original] {
        let made = import::convert("x", "x", inputs, import::FlowsIn::Scenario, ways);
        scenario_with(&made.scenario, &[]);
    }
}

/// Which errors have a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Always,
    /// All but those that speak of the whole file.
    WhereGiven,
}

fn check(found: &Diagnostics, text: &str, lines: Lines) {
    assert!(found.has_errors());
    for d in found.0.iter().filter(|d| d.severity == Severity::Error) {
        match d.line {
            Some(line) => names_a_line(&format!("line {line}: {}", d.message), text),
            None => assert!(lines != Lines::Always, "no line: {d}"),
        }
    }
}

/// The message begins with `line N:`, and there is such a line.
fn names_a_line(message: &str, text: &str) {
    let line = message.strip_prefix("line ").and_then(|m| m.split(':').next());
    let line: Option<usize> = line.and_then(|n| n.parse().ok());
    // A file that ends too early is at fault where it ends.
    let last = text.split(['\n', '\r']).count().max(1);
    assert!(line.is_some_and(|n| (1..=last).contains(&n)), "{message:?} of {last} lines");
}
