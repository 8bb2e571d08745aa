//! The page of the book about result files names every column and key of every file, and nothing
//! that is not in one.

#[path = "../../sim/examples/own_probe.rs"]
#[allow(dead_code, reason = "its network is for the tests of weir-sim")]
mod own_probe;
#[path = "../../ns3/tests/common/stored.rs"]
#[allow(dead_code, reason = "counters and queues are for the tests of weir-ns3")]
mod stored;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use weir_core::Time;
use weir_results::column::headings;
use weir_results::comparison::Comparison;
use weir_results::metrics::{Family, HEAD};
use weir_results::ns3;
use weir_results::report::{self, Formats};
use weir_results::run::{Failed, Failure, Meter, run_all};
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_scenario::Variant;
use weir_scenario::Window;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// `a.{b,c}.d` stands for `a.b.d` and `a.c.d`.
fn expand(name: &str) -> Vec<String> {
    let Some((head, rest)) = name.split_once('{') else { return vec![name.to_owned()] };
    let (choices, tail) = rest.split_once('}').unwrap_or_else(|| panic!("{name}: no `}}`"));
    let each = choices.split(',').map(|choice| format!("{head}{choice}{tail}"));
    each.flat_map(|name| expand(&name)).collect()
}

/// The names in the first columns of the tables of a page, by heading.
fn sections(page: &str) -> BTreeMap<String, Vec<String>> {
    let names = |rows: Vec<(String, String)>| rows.into_iter().map(|(name, _)| name).collect();
    described(page).into_iter().map(|(heading, rows)| (heading, names(rows))).collect()
}

/// The same with what the second columns say.
fn described(page: &str) -> BTreeMap<String, Vec<(String, String)>> {
    let mut found: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut heading = String::new();
    for line in page.lines() {
        if let Some(text) = line.strip_prefix('#') {
            heading = text.trim_start_matches('#').trim().replace('`', "");
        } else if let Some(row) = line.strip_prefix("| ") {
            let (cell, rest) = row.split_once(" | ").unwrap_or((row, ""));
            let doc = rest.trim_end_matches(" |");
            let names = cell.split('`').skip(1).step_by(2).flat_map(expand);
            let rows = names.map(|name| (name, doc.to_owned()));
            found.entry(heading.clone()).or_default().extend(rows);
        }
    }
    found
}

fn read(name: &str, text: &str) -> Experiment {
    Experiment::read(name, text, Files::default(), &[]).unwrap_or_else(|p| panic!("{p}"))
}

fn load(name: &str, sets: &[&str]) -> Experiment {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Experiment::load(name, &sets).unwrap_or_else(|p| panic!("{p}"))
}

fn compare<'a>(e: &'a Experiment, schemes: &[&str], seeds: &[u64]) -> Comparison<'a> {
    let variant = |scheme, &seed| e.variant(Some(scheme), None, seed).expect("a scheme");
    let variants: Vec<Variant> =
        schemes.iter().flat_map(|s| seeds.iter().map(|seed| variant(s, seed))).collect();
    let runs = run_all(e, &variants, 2, &Meter::new(variants.len())).into_iter();
    Comparison::new(e, runs.map(|r| r.expect("not interrupted").expect("a run")).collect())
}

/// Pauses, a series, ranges of sizes, a window, the probe of the guide.
fn sampled() -> Experiment {
    let text = "name = \"sampled\"\n[topology]\nkind = \"ofc-chain\"\n\
        [[traffic]]\nkind = \"flow\"\nclass = \"victim\"\nfrom = \"h0\"\nto = \"h8\"\nsize = \
        \"1MB\"\n\
        [[traffic]]\nkind = \"burst\"\nfrom = \"h1..h7\"\nto = \"h9\"\nsize = \"200KB\"\n\
        [[job]]\ncollective = \"all-reduce\"\nsize = \"20KB\"\nhosts = [\"h4\", \"h5\"]\n\
        [report]\nsizes = [\"0..500KB\", \"500KB..\"]\n[probe]\nseries = \"5us\"\n";
    let mut e = read("sampled.toml", text);
    e.window = Window::new(None, Some(Time::from_us(200))).expect("in order");
    e.scenario.probe.own = vec![own_probe::WAITS];
    e
}

fn pipelined() -> Experiment {
    let text = "[topology]\nkind = \"star\"\nhosts = 5\n[switch]\nmodel = \"pipelined\"\n\
        [[traffic]]\nkind = \"burst\"\nfrom = \"h1..h4\"\nto = \"h0\"\nsize = \"50KB\"\n\
        [run]\nallow-loss = true\n";
    read("pipelined.toml", text)
}

/// Flows of two ranges of sizes over TCP.
fn tcp() -> Experiment {
    let text = "[topology]\nkind = \"star\"\nhosts = 3\n[nic]\ntransport = \"tcp\"\n\
        [[traffic]]\nkind = \"flow\"\nfrom = \"h0\"\nto = \"h2\"\nsize = \"1MB\"\n\
        [[traffic]]\nkind = \"burst\"\nfrom = \"h1\"\nto = \"h2\"\nsize = \"200KB\"\n\
        [report]\nsizes = [\"0..500KB\", \"500KB..\"]\n";
    read("tcp.toml", text)
}

/// A comparison with several seeds and a run without an outcome.
fn several(e: &Experiment) -> Comparison<'_> {
    let variant = e.variant(Some("gfc"), None, 1).expect("a scheme");
    let label = variant.scheme.title.into();
    let failed = Failed { label, variant, why: Failure::BadInput("no room".into()) };
    compare(e, &["pfc", "ofc"], &[1, 2]).with_failed(vec![failed])
}

fn written(name: &str, c: &Comparison<'_>) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("dictionary-{name}"));
    // a directory of another version may have no mark
    let _ = fs::remove_dir_all(&out);
    report::write(c, &out, "weir", Formats::Csv).expect("results can be written");
    out
}

#[test]
fn every_file_and_every_column_is_in_the_book_in_its_order() {
    let sections = sections(&page("data.md"));
    let e = sampled();
    let out = written("tables", &compare(&e, &["pfc"], &[1]));
    let files = &sections["Result files"];
    let mut tables = 0;
    for entry in fs::read_dir(&out).expect("a directory") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(files.contains(&name), "{name} is not in the list of files");
        if name.ends_with(".csv") {
            let text = fs::read_to_string(out.join(&name)).expect("a table");
            let mut lines = text.lines();
            let columns: Vec<&str> = lines.next().expect("a line of headings").split(',').collect();
            assert_eq!(sections[&name], columns, "{name}");
            assert!(lines.next().is_some(), "{name} has no rows to look at");
            tables += 1;
        }
    }
    assert_eq!(tables, files.iter().filter(|f| f.ends_with(".csv")).count() - 3, "but sweeps'");
    let (mut flows, name) = (Vec::new(), |_| String::new());
    weir_traffic::write_flows(&mut flows, [], &name, &|_| String::new(), &[]).expect("in memory");
    let header = String::from_utf8(flows).expect("text");
    let columns: Vec<&str> = header.trim_end().split(',').collect();
    assert_eq!(sections["weir traffic"], columns);
}

/// The book says of a column what the table of columns says.
#[test]
fn what_columns_are_is_in_the_book() {
    let described = described(&page("data.md"));
    for (name, columns) in report::columns() {
        let columns: Vec<(String, String)> =
            columns.iter().map(|h| (h.name.to_owned(), h.doc.to_owned())).collect();
        assert_eq!(described[&format!("{name}.csv")], columns, "{name}");
    }
    for h in headings(&report::total_columns()) {
        let row = (format!("totals.{}", h.name), h.doc.to_owned());
        assert!(described["Of a run"].contains(&row), "{row:?}");
    }
}

/// Adds the paths of all values that are neither lists nor objects. Names that a scenario chooses
/// are `*`.
fn leaves<'a>(path: &str, value: &'a Value, out: &mut BTreeMap<String, &'a Value>) {
    let inner = |key: &str| match path {
        "" => key.to_owned(),
        _ => format!("{path}.{key}"),
    };
    match value {
        Value::Object(map) => {
            let last = path.rsplit(['.', ']']).next().unwrap_or(path);
            let free = ["classes", "sizes", "queues"].contains(&last);
            for (key, value) in map {
                leaves(&inner(if free { "*" } else { key }), value, out);
            }
        }
        Value::Array(all) => {
            all.iter().for_each(|value| leaves(&format!("{path}[]"), value, out));
        }
        // a number is worth more than no number
        _ if value.is_null() => _ = out.entry(path.to_owned()).or_insert(value),
        _ => _ = out.insert(path.to_owned(), value),
    }
}

/// Every key of the values is documented, and every documented key is in one of them.
fn same_keys(what: &str, documented: &[String], values: &[Value]) {
    let mut found = BTreeMap::new();
    values.iter().for_each(|value| leaves("", value, &mut found));
    // the fields of a run stand at the top, or in `runs`
    let found: BTreeMap<String, &Value> = found
        .into_iter()
        .map(|(key, v)| (key.strip_prefix("runs[].").unwrap_or(&key).to_owned(), v))
        .collect();
    let within = |outer: &str, key: &str| {
        let rest = key.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    for (key, value) in &found {
        // where there is no number there is no object around it, either
        let known = documented.iter().any(|d| d == key || value.is_null() && within(key, d));
        assert!(known, "{what}: `{key}` is not in the book");
    }
    for name in documented.iter().filter(|name| *name != "runs[]") {
        assert!(found.keys().any(|key| within(name, key)), "{what}: there is no `{name}`");
    }
    let unique: BTreeSet<&String> = documented.iter().collect();
    assert_eq!(unique.len(), documented.len(), "{what}: a key stands there twice");
}

#[test]
fn every_key_of_the_summary_is_in_the_book() {
    let sections = sections(&page("data.md"));
    let sampled = sampled();
    let (lossy, ring) = (load("lossy", &["nic.timeout=never"]), load("ring-deadlock", &[]));
    let (pipelined, tcp) = (pipelined(), tcp());
    let lost = ["fault.link=all", "fault.message=resume", "fault.nth=1"];
    let faulty = load("incast", &[&["flow-control.timer=sticky"][..], &lost].concat());
    let summaries = [
        report::summary(&compare(&sampled, &["pfc"], &[1])),
        report::summary(&several(&sampled)),
        report::summary(&compare(&lossy, &["none"], &[1])),
        report::summary(&compare(&ring, &["pfc"], &[1])),
        report::summary(&compare(&pipelined, &["pfc"], &[1])),
        report::summary(&compare(&tcp, &["pfc"], &[1])),
        report::summary(&compare(&faulty, &["pfc"], &[1])),
    ];
    assert_eq!(summaries[2]["finish"]["how"], "stalled");
    assert_eq!(summaries[3]["finish"]["how"], "deadlock");
    let parts = ["Always", "Of a run", "Of a comparison"];
    let documented: Vec<String> = parts.iter().flat_map(|part| sections[*part].clone()).collect();
    same_keys("summary.json", &documented, &summaries);
}

#[test]
fn every_key_of_what_runs_cost_is_in_the_book() {
    let sections = sections(&page("data.md"));
    let e = load("incast", &[]);
    let read = |name: &str, c: &Comparison<'_>| -> Value {
        let text = fs::read(written(name, c).join("perf.json")).expect("a file");
        serde_json::from_slice(&text).expect("JSON")
    };
    let [one, two] = [&["pfc"][..], &["pfc", "none"]].map(|schemes| compare(&e, schemes, &[1]));
    same_keys("perf.json", &sections["perf.json"], &[read("one", &one)]);
    same_keys("perf.json", &sections["perf.json"], &[read("two", &two)]);
}

#[test]
fn every_key_of_a_compatible_run_is_in_the_book() {
    let sections = sections(&page("data.md"));
    let all = stored::cases();
    let case = all.iter().find(|c| c.name == "chain3_buf2_dcqcn").expect("a stored case");
    let inputs = stored::inputs(case);
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dictionary-ns3");
    fs::create_dir_all(&out).expect("the scratch directory can be made");
    let files = ns3::Files::create(&inputs, Some(&out)).expect("files can be written");
    let run = ns3::run(&inputs, files, &Meter::new(1)).expect("it runs");
    let summary = ns3::summary("chain", &inputs, &run);
    same_keys("summary.json of weir ns3", &sections["Of weir ns3"], &[summary]);
    let perf: Value = serde_json::from_slice(&ns3::perf_json(&run)).expect("JSON");
    let own = ["setup_cpu_seconds", "variant", "scheme", "seed"];
    let documented = sections["perf.json"].iter().filter(|key| !own.contains(&key.as_str()));
    same_keys("perf.json of weir ns3", &documented.cloned().collect::<Vec<_>>(), &[perf]);
    let flows = ns3::flows_csv(&inputs, &run);
    let header = String::from_utf8(flows).expect("text");
    let columns: Vec<&str> = header.lines().next().expect("a line").split(',').collect();
    assert_eq!(sections["flows.csv"], columns);
}

/// Besides the columns of parameters, whose names a grid chooses.
#[test]
fn every_column_of_a_sweep_is_in_the_book() {
    let sections = sections(&page("sweeps.md"));
    let same = |heading: &str, columns: Vec<&str>| {
        let unique: BTreeSet<&str> = columns.iter().copied().collect();
        assert_eq!(unique.len(), columns.len(), "two columns of one name: {columns:?}");
        let documented: BTreeSet<&str> = sections[heading].iter().map(String::as_str).collect();
        assert_eq!(documented, unique, "{heading}");
    };
    let names = |family: Family| family.headings().iter().map(|h| h.name);
    let own = ["reason", "class", "sizes"];
    same("The tables", names(Family::Runs).chain(HEAD).chain(own).collect());
    same("ports.csv and state.csv", names(Family::Ports).chain(names(Family::State)).collect());
}
