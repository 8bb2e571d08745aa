//! Sweeps give the numbers of comparisons, and the book describes every column.

use std::fs;
use std::path::{Path, PathBuf};
use weir_results::comparison::{ClassSummary, Comparison};
use weir_results::metrics::{Family, is_of_flows};
use weir_results::run::{Meter, run_all};
use weir_results::stats::Estimate;
use weir_scenario::Experiment;
use weir_sweep::directory::SweepDir;
use weir_sweep::draft::Draft;
use weir_sweep::merge::Merged;
use weir_sweep::shard::Shard;
use weir_sweep::worker::{self, Options, work, work_all};

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lab-sweep-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("made");
    path
}

fn merged(name: &str, grid: &str) -> Merged {
    let dir = scratch(name);
    let file = dir.join("grid.toml");
    fs::write(&file, grid).expect("written");
    let draft = Draft::read(file.to_str().expect("text")).expect("a grid");
    let planned = draft.plan().unwrap_or_else(|p| panic!("{p}"));
    let sweep = SweepDir::new(&dir.join("sweep"));
    sweep.write(&planned).expect("written");
    let options = Options { shard: Shard::ALL, jobs: 2, limit: None };
    work(&sweep, &options, &worker::Meter::default()).expect("done");
    let results = sweep.read_results(&planned.plan).expect("read");
    Merged::new(&planned.plan, &results)
}

fn column(merged: &Merged, variant: &str, name: &str) -> Vec<f64> {
    let table = merged.table(Family::Runs);
    let at = table.column(name).expect("a column");
    let rows = table.rows.iter().filter(|row| row[0].word() == variant);
    rows.map(|row| row[at].number().expect("a number")).collect()
}

#[test]
fn one_point_of_a_sweep_has_the_numbers_of_a_comparison_with_the_same_seeds() {
    let grid = "scenario = \"dumbbell\"\nseeds = \"1..5\"\nschemes = [\"pfc\", \"ofc\"]\n";
    let merged = merged("same", grid);
    let e = Experiment::load("dumbbell", &[]).expect("built in");
    let variants: Vec<_> = ["pfc", "ofc"]
        .iter()
        .flat_map(|s| (1..=5).map(|seed| e.variant(Some(s), None, seed).expect("known")))
        .collect();
    let meter = Meter::new(variants.len());
    let runs = run_all(&e, &variants, 2, &meter).into_iter().flatten();
    let comparison = Comparison::new(&e, runs.map(|r| r.expect("a run")).collect());
    for group in &comparison.groups {
        let expected = ClassSummary::new(group, None);
        let found = |name| Estimate::new(&column(&merged, &group.label, name));
        assert_eq!(found("fct_mean_ps"), expected.fct_mean, "{}", group.scheme.name);
        assert_eq!(found("fct_p99_ps"), expected.fct_p99);
        assert_eq!(found("slowdown_mean"), expected.slowdown_mean);
        assert_eq!(found("slowdown_p99"), expected.slowdown_p99);
        assert_eq!(found("held_mean_ps"), expected.held_mean);
    }
}

/// Two sweeps have the same two runs, and one of them asks for a series: whichever makes a run
/// makes it with the series, and a run that was made without it is made again for the one that
/// asks.
#[test]
fn a_series_that_one_of_two_sweeps_asks_for_is_made_for_both() {
    let dir = scratch("starts");
    let file = dir.join("grid.toml");
    fs::write(&file, "scenario = \"incast\"\nseeds = [1, 2]\n").expect("written");
    let planned = |name: &str, starts| {
        let draft = Draft::read(file.to_str().expect("text")).expect("a grid");
        let mut planned = draft.plan().unwrap_or_else(|p| panic!("{}", p.to_string()));
        planned.plan.head.starts = starts;
        let sweep = SweepDir::new(&dir.join(name));
        sweep.write(&planned).expect("written");
        sweep
    };
    let (plain, asks) = (planned("plain", false), planned("asks", true));
    let go = |sweeps: &[SweepDir], limit| {
        let options = Options { shard: Shard::ALL, jobs: 1, limit };
        work_all(sweeps, &options, &worker::Meter::default()).expect("done").made
    };
    let of = |sweep: &SweepDir| {
        let results = sweep.read_results(&sweep.plan().expect("a plan")).expect("read");
        let made = results.runs.values().filter_map(|k| k.result.clone());
        made.map(|r| (r.figures, r.starts.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(go(std::slice::from_ref(&plain), Some(1)), 1);
    assert_eq!((of(&plain).len(), of(&plain)[0].1), (1, false));
    // the run that is there has no series, the other one is made once for both
    assert_eq!(go(&[plain.clone(), asks.clone()], None), 2);
    let (plain, asks) = (of(&plain), of(&asks));
    assert_eq!((plain.len(), asks.len()), (2, 2));
    assert!(asks.iter().all(|(_, starts)| *starts));
    assert!(plain.iter().zip(&asks).all(|((figures, _), (other, _))| figures == other));
}

/// 30 % is 0.3, sizes are bytes, and columns say so.
#[test]
fn parameters_are_numbers_with_their_unit_in_the_name() {
    let grid = "scenario = \"incast\"\nseeds = [1]\n[parameters]\n\
        buffer = { key = \"switch.buffer\", values = [\"12MB\", \"16MB\"] }\n";
    let merged = merged("units", grid);
    let table = merged.table(Family::Runs);
    let at = table.column("buffer_bytes").expect("a column");
    let values: Vec<String> = table.rows.iter().map(|row| row[at].to_string()).collect();
    assert_eq!(values, ["12000000", "16000000"]);
}

#[test]
fn the_book_has_every_column() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/src/sweeps.md")).expect("the page");
    let named = |name: &str, of: &str, doc: &str| {
        assert!(text.contains(&format!("| `{name}` | {of} | {doc} |")), "{name}: {doc}");
    };
    for family in Family::ALL {
        for h in family.figures() {
            let of = match family {
                Family::Runs if is_of_flows(h.name) => continue,
                Family::Runs => "run",
                Family::Classes => "run, class, sizes",
                Family::Ports => "ports",
                Family::State => "table",
            };
            named(h.name, of, h.doc);
        }
    }
}

const GROUPED: &str = "[topology]\nkind = \"explicit\"\nhosts = [\"h0\", \"h1\", \"h2\"]\n\
    switches = [\"s0\", \"s1\"]\nlinks = [\"h0 s0\", \"h1 s0\", \"s0 s1\", \"h2 s1\"]\n\
    ports = [\"P_d s1 h2\"]\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
    [[traffic]]\nkind = \"burst\"\nfrom = [\"h0\", \"h1\"]\nto = \"h2\"\nsize = \"100KB\"\n\
    [switch]\nthresholds = { xoff = \"1MB\", xon = \"500KB\" }\n[report]\nports = { between = \"s0 \
    -> s1\", last = \"* -> P_d\", both = [\"s0 -> s1\", \"s1 -> h*\"] }\n";

/// Two hosts at line rate meet at s0: its port to s1 gets 20 Gb/s and sends 10, so that half of
/// what arrives waits; the last port gets no more than it sends.
#[test]
fn groups_of_ports_and_tables_of_the_scheme_have_rows() {
    let dir = scratch("ports-scenario");
    let file = dir.join("grouped.toml");
    fs::write(&file, GROUPED).expect("written");
    let name = file.to_str().expect("text");
    let merged = merged("ports", &format!("scenario = {name:?}\nschemes = [\"pfc\", \"ofc\"]\n"));
    let table = merged.table(Family::Ports);
    let at = |name: &str| table.column(name).expect("a column");
    let pfc: Vec<_> = table.rows.iter().filter(|row| row[0].word() == "PFC").collect();
    let names: Vec<&str> = pfc.iter().map(|row| row[at("ports")].word()).collect();
    assert_eq!(names, ["", "between", "last", "both"]);
    let of = |group: usize, name: &str| pfc[group][at(name)].number().expect("a number");
    let peak = of(1, "queue_max_bytes");
    // 100 KB of 200 KB, headers and the first packets apart
    assert!((95_000.0..112_000.0).contains(&peak), "{peak}");
    assert_eq!(peak, of(0, "queue_max_bytes"), "the longest of all");
    assert!(of(2, "queue_max_bytes") < 3_000.0, "a packet or two");
    // a mean over two ports is half the sum of both
    let (one, two) = (of(1, "queue_mean_bytes"), of(2, "queue_mean_bytes"));
    assert!((of(3, "queue_mean_bytes") - (one + two) / 2.0).abs() < 1e-6);
    assert!((of(1, "utilisation") - of(2, "utilisation")).abs() < 0.01, "all bytes pass both");
    let state = merged.table(Family::State);
    let ofc: Vec<_> = state.rows.iter().filter(|row| row[0].word() == "OFC").collect();
    let table = state.column("table").expect("a column");
    assert!(ofc.iter().any(|row| row[table].word() == "flow_in_port_tab"), "{ofc:?}");
}

/// Two runs that differ in nothing but the groups of ports that are asked for have different rows.
#[test]
fn another_group_of_ports_is_another_run() {
    let dir = scratch("groups");
    fs::write(dir.join("grouped.toml"), GROUPED).expect("written");
    let grid = "scenario = \"grouped.toml\"\nseeds = [1]\n[parameters]\n\
        last = { key = \"report.ports.last\", values = [\"* -> P_d\", \"s1 -> *\"] }\n";
    fs::write(dir.join("grid.toml"), grid).expect("written");
    let draft = Draft::read(dir.join("grid.toml").to_str().expect("text")).expect("a grid");
    let runs = draft.runs();
    let plan = draft.plan().unwrap_or_else(|p| panic!("{p}")).plan;
    assert_eq!((plan.runs.len() as u128, runs), (2, 2));
    assert_eq!(plan.head.weir, weir_sweep::version());
    assert_ne!(plan.runs[0].id, plan.runs[1].id);
}

const SIZED: &str = "[topology]\nkind = \"star\"\nhosts = 8\n\
    [[traffic]]\nkind = \"poisson\"\nclass = \"web\"\nload = \"50%\"\nsize = \"websearch\"\n\
    [[traffic]]\nkind = \"poisson\"\nclass = \"small\"\nload = \"5%\"\nsize = \"2KB\"\n\
    [run]\ntraffic-until = \"2ms\"\nseeds = [1, 2]\n";

/// A row for every class and range with flows, all flows of a size included, and all with the
/// figures of the flows that are in them.
#[test]
fn parts_of_the_traffic_by_class_and_size_have_rows() {
    let dir = scratch("sizes-scenario");
    let file = dir.join("sized.toml");
    fs::write(&file, SIZED).expect("written");
    let name = file.to_str().expect("text");
    let merged = merged("sizes", &format!("scenario = {name:?}\n"));
    let table = merged.table(Family::Classes);
    let at = |name: &str| table.column(name).expect("a column");
    let (class, sizes, flows) = (at("class"), at("sizes"), at("flows"));
    let seed_1 = || table.rows.iter().filter(|row| row[at("seed")].number() == Some(1.0));
    let parts: Vec<(&str, &str)> = seed_1().map(|r| (r[class].word(), r[sizes].word())).collect();
    let expected = [
        ("", "0..10KB"),
        ("", "10KB..100KB"),
        ("", "100KB.."),
        ("web", ""),
        ("web", "0..10KB"),
        ("web", "10KB..100KB"),
        ("web", "100KB.."),
        ("small", ""),
        ("small", "0..10KB"),
    ];
    assert_eq!(parts, expected, "small flows are in no other range");
    // the ranges do not overlap and leave nothing out
    let sum = |of: &str| -> u64 {
        let rows = seed_1();
        let rows = rows.filter(|row| row[class].word() == of && !row[sizes].word().is_empty());
        rows.map(|row| row[flows].number().expect("a number") as u64).sum()
    };
    let all = column(&merged, merged.table(Family::Runs).rows[0][0].word(), "flows")[0];
    assert_eq!(sum("") as f64, all);
    assert_eq!(sum("web") + sum("small"), sum(""));
    // the 99th percentile of the slowdown of short flows, worked out by hand
    let e = Experiment::load(name, &[]).expect("a scenario");
    let meter = Meter::new(1);
    let run = weir_results::run::run(&e, e.own_variant(), &meter, 0).expect("a run");
    let short = run.outcome.flows.iter().filter(|f| f.size.get() < 10_000);
    let mut slowdowns: Vec<f64> = short.filter_map(|f| f.slowdown()).collect();
    slowdowns.sort_by(f64::total_cmp);
    let p99 = slowdowns[(slowdowns.len() * 99).div_ceil(100) - 1];
    let row = seed_1().next().expect("the first row");
    assert_eq!(row[at("slowdown_p99")].number(), Some(p99));
}
