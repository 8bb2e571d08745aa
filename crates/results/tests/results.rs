//! The files of a comparison on a small fat-tree: what they hold, and that they agree.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use weir_core::Time;
use weir_results::comparison::Comparison;
use weir_results::report::{self, Formats};
use weir_results::run::{Meter, run_all};
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_scenario::Variant;

/// 16 hosts, 20 switches; an incast starts at once and background traffic goes on for 60 us.
const SCENARIO: &str = r#"
name = "files"
[topology]
kind = "k-ary"
k = 4
[switch]
thresholds = { xoff = "20KB", xon = "18KB" }
[[traffic]]
kind = "poisson"
class = "background"
size = "10KB"
load = 0.4
[[traffic]]
kind = "burst"
from = ["h4", "h5", "h8", "h9", "h12", "h13"]
to = "h0"
size = "60KB"
[run]
until = "100us"
traffic-until = "60us"
[probe]
series = "2us"
warm-up = "20us"
"#;

/// The rows of a table, by column.
type Table = Vec<BTreeMap<String, String>>;

struct Results {
    summary: Value,
    tables: BTreeMap<&'static str, Table>,
    page: String,
}

fn results(directory: &str, e: &Experiment, seeds: &[u64]) -> Results {
    let variants: Vec<Variant> = ["pfc", "none"]
        .iter()
        .flat_map(|s| seeds.iter().map(|&seed| e.variant(Some(s), None, seed).expect("a scheme")))
        .collect();
    let runs = run_all(e, &variants, 2, &Meter::new(variants.len()));
    let runs = runs.into_iter().map(|r| r.expect("not interrupted").expect("a valid run"));
    let c = Comparison::new(e, runs.collect());
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lab-{directory}"));
    // a directory of another version may have no mark
    let _ = std::fs::remove_dir_all(&out);
    report::write(&c, &out, "weir compare", Formats::Csv).expect("results can be written");
    let text = |name: &str| std::fs::read_to_string(out.join(name)).expect("a result file");
    let table = |name: &'static str| {
        let text = text(name);
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
        let head: Vec<String> = lines.next().expect("a line of headings").collect();
        (name, lines.map(|line| head.iter().cloned().zip(line).collect()).collect())
    };
    Results {
        summary: serde_json::from_str(&text("summary.json")).expect("JSON"),
        tables: ["flows.csv", "queues.csv", "pauses.csv", "series.csv"].map(table).into(),
        page: text("index.html"),
    }
}

fn experiment() -> Experiment {
    Experiment::read("files.toml", SCENARIO, Files::default(), &[])
        .unwrap_or_else(|p| panic!("{p}"))
}

fn number(row: &BTreeMap<String, String>, column: &str) -> u128 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

#[test]
fn queues_and_memory_are_distributions_over_time_by_kind_of_port() {
    let e = experiment();
    let r = results("queues", &e, &[1]);
    let run = &r.summary["runs"][0];
    let end: u128 = run["end_ps"].as_u64().expect("an end").into();
    let queues = &r.tables["queues.csv"];
    // k = 4: 16 hosts; 8 ToR switches with 2 ports up; 8 agg and 4 core switches with 4 ports
    for (what, ports, count, summary) in [
        ("queue", "host-facing", 16, &run["queues"]["host-facing"]),
        ("queue", "tor", 16, &run["queues"]["tor"]),
        ("queue", "agg", 32, &run["queues"]["agg"]),
        ("queue", "core", 16, &run["queues"]["core"]),
        ("memory", "", 20, &run["memory"]),
    ] {
        let of = |row: &&BTreeMap<String, String>| {
            row["scheme"] == "pfc" && row["what"] == what && row["ports"] == ports
        };
        let rows: Vec<_> = queues.iter().filter(of).collect();
        let time: u128 = rows.iter().map(|row| number(row, "time_ps")).sum();
        // all ports or switches, idle ones too, from the end of the warm-up to the end of the run
        assert_eq!(time, count * (end - 20_000_000), "{what} {ports}");
        assert_eq!(rows.last().map(|row| row["share"].as_str()), Some("1.000000000"));
        // the 99th percentile is where the distribution function passes 0.99
        let p99 = rows.iter().find(|row| row["share"].parse::<f64>().expect("a share") >= 0.99);
        let p99 =
            number(p99.expect("it ends at 1"), "upto").min(summary["max"].as_u64().unwrap().into());
        assert_eq!(summary["p99"].as_u64().map(u128::from), Some(p99), "{what} {ports}");
    }
    assert!(run["queues"].get("other").is_none(), "every switch has a layer");
    for id in ["queues-host-facing", "queues-tor", "queues-agg", "queues-core", "buffers"] {
        assert!(r.page.contains(&format!("<figure id=\"{id}\">")), "{id}");
    }
}

#[test]
fn classes_have_percentiles_with_confidence_intervals_over_seeds() {
    let e = experiment();
    let r = results("seeds", &e, &[1, 2, 3]);
    let scheme = &r.summary["schemes"][0];
    assert_eq!((&scheme["scheme"], &scheme["seeds"]), (&"pfc".into(), &3.into()));
    for metric in ["fct_ps", "slowdown"] {
        for percentile in ["mean", "p50", "p95", "p99"] {
            let of_seed = |i: usize| {
                let class = &r.summary["runs"][i]["classes"]["background"];
                class[metric][percentile].as_f64().expect("a number")
            };
            let mean = (of_seed(0) + of_seed(1) + of_seed(2)) / 3.0;
            let found = &scheme["classes"]["background"][metric][percentile];
            let difference = found["mean"].as_f64().expect("a mean") - mean;
            assert!(difference.abs() < 1e-9 * mean, "{metric} {percentile}: {found}, not {mean}");
            assert!(found["plus_minus"].as_f64().is_some_and(|x| x > 0.0), "{found}");
        }
    }
    assert!(r.page.contains("95 % confidence intervals") && r.page.contains(" ±"));
}

#[test]
fn flows_of_the_warm_up_are_recorded_but_not_counted() {
    let e = experiment();
    let r = results("warm-up", &e, &[1]);
    let run = &r.summary["runs"][0];
    // all six of the burst start at time zero
    assert_eq!(run["classes"]["burst"]["flows"], 0);
    let background =
        |row: &&BTreeMap<String, String>| row["scheme"] == "pfc" && row["class"] == "background";
    let flows: Vec<_> = r.tables["flows.csv"].iter().filter(background).collect();
    let late = flows.iter().filter(|row| number(row, "start_ps") >= 20_000_000).count();
    assert!(0 < late && late < flows.len());
    assert_eq!(run["classes"]["background"]["flows"], late);
    assert_eq!(run["totals"]["flows"], flows.len() + 6);
}

/// Those that start just before the end of the traffic meet less of it.
#[test]
fn flows_behind_the_end_of_the_window_are_not_counted() {
    let set = ["probe.count-until=45us".to_owned()];
    let e = Experiment::read("files.toml", SCENARIO, Files::default(), &set);
    let e = e.unwrap_or_else(|p| panic!("{}", p.to_string()));
    let r = results("count-until", &e, &[1]);
    let starts = |row: &BTreeMap<String, String>| number(row, "start_ps");
    let pfc = r.tables["flows.csv"].iter().filter(|row| row["scheme"] == "pfc");
    let background: Vec<u128> =
        pfc.filter(|row| row["class"] == "background").map(starts).collect();
    let inside = background.iter().filter(|s| (20_000_000..45_000_000).contains(*s)).count();
    assert!(background.iter().any(|s| *s >= 45_000_000) && inside > 0);
    assert_eq!(r.summary["runs"][0]["classes"]["background"]["flows"], inside);
    let set = ["probe.count-until=20us".to_owned()];
    let refused = Experiment::read("files.toml", SCENARIO, Files::default(), &set);
    let said = refused.expect_err("nothing would count").to_string();
    assert!(said.contains("`count-until` is not after `warm-up`"), "{said}");
}

#[test]
fn samples_and_pauses_are_tables_too() {
    let e = experiment();
    let r = results("series", &e, &[1]);
    let series = &r.tables["series.csv"];
    assert!(series.iter().all(|row| number(row, "at_ps").is_multiple_of(2_000_000)));
    // no sample after the warm-up exceeds what the queues were at most
    let late = series.iter().filter(|row| {
        row["scheme"] == "pfc" && number(row, "at_ps") > u128::from(Time::from_us(20).as_ps())
    });
    let sampled = late.map(|row| number(row, "queue")).max().expect("samples");
    let kinds = r.summary["runs"][0]["queues"].as_object().expect("kinds of ports");
    let longest = kinds.values().filter_map(|d| d["max"].as_u64()).max().expect("a queue");
    assert!(0 < sampled && sampled <= longest.into(), "{sampled} {longest}");
    let pauses = &r.tables["pauses.csv"];
    assert!(pauses.iter().all(|row| row["scheme"] == "pfc"), "none pauses nobody");
    let (stop, go): (Vec<_>, Vec<_>) = pauses.iter().partition(|row| row["action"] == "pause");
    assert_eq!(stop.len(), go.len(), "everything was delivered");
    let first = stop.first().expect("the burst exceeds xoff");
    assert!(number(first, "at_ps") < u128::from(Time::from_us(20).as_ps()));
    assert!(!first["cause"].is_empty() && first["cause_held"] == "0", "a root: {first:?}");
    assert!(stop.iter().any(|row| row["cause_held"] == "1"), "the incast's pauses spread");
    assert!(r.page.contains("<figure id=\"timeline-pfc\">"));
}

/// HPCC's packets have room for the records of eight switches. Between hosts that are closer all
/// ACKs bring telemetry; between hosts at opposite ends of a torus of 24 switches in a row none
/// does.
#[test]
fn a_signal_that_never_came_is_a_field_of_the_summary() {
    let run = |cc: &str, to: &str| {
        let text = format!(
            "name = \"signal\"\n[topology]\nkind = \"torus\"\nx = 24\ny = 1\n[[traffic]]\n\
             kind = \"burst\"\nfrom = \"h0\"\nto = \"{to}\"\nsize = \"30KB\"\n"
        );
        let e = Experiment::read("x.toml", &text, Files::default(), &[]).expect("a scenario");
        let variants = [e.variant(None, Some(cc), 1).expect("a congestion control")];
        let runs = run_all(&e, &variants, 1, &Meter::new(1));
        let run = runs.into_iter().next().flatten().expect("a run").expect("a valid run");
        let summary = report::run_summary(&e, &run);
        let notes = Comparison::new(&e, vec![run]).groups[0].missing_signal();
        (summary["missing_signal"].clone(), summary["totals"]["telemetry"].clone(), notes)
    };
    // 30 packets of 1000 B; one flow alone fills no queue
    let (missing, telemetry, note) = run("hpcc", "h12");
    assert_eq!((missing.as_str(), telemetry.as_u64()), (Some("telemetry"), Some(0)));
    assert_eq!(note.expect("a remark").0, "hpcc got no telemetry");
    let (missing, telemetry, note) = run("hpcc", "h1");
    assert_eq!((missing, note), (Value::Null, None));
    assert!(telemetry.as_u64() > Some(0), "{telemetry}");
    let (missing, telemetry, note) = run("dcqcn", "h1");
    assert_eq!((missing.as_str(), telemetry.as_u64()), (Some("marks"), Some(0)));
    assert_eq!(note.expect("a remark").0, "dcqcn got no marks");
    assert_eq!(run("swift", "h1").0, Value::Null);
}
