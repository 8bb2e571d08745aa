//! Comparisons of variants: the same numbers as sweeps, whatever is crossed with what.

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use weir_results::column::Heading;
use weir_results::compare::{self, Figure, Figures, View};
use weir_results::comparison::Comparison;
use weir_results::lineup::{Lineup, Otherwise, Request};
use weir_results::listing::Layout;
use weir_results::metrics::{self, Family, Row};
use weir_results::report;
use weir_results::run::{Meter, run_each};
use weir_scenario::text::Colour;
use weir_sweep::directory::SweepDir;
use weir_sweep::draft::Draft;
use weir_sweep::merge::Merged;
use weir_sweep::shard::Shard;
use weir_sweep::worker::{self, Options, work};

const SCENARIO: &str = r#"
[topology]
kind = "leaf-spine"
spines = 2
leaves = 2
hosts-per-leaf = 4

[[traffic]]
class = "web"
kind = "poisson"
size = "websearch"
load = "40%"

[[traffic]]
class = "incast"
kind = "incast"
degree = 4
size = "40KB"
load = "5%"

[run]
traffic-until = "150us"
seeds = [1, 2, 3]
"#;

/// Variants that leave the traffic alone.
const SAME: &[&str] = &[
    "PFC: pfc",
    "PFC, low: pfc, switch.thresholds.xoff=40KB, switch.thresholds.xon=20KB",
    "BFC-4Q: bfc, queues=4",
    "BFC-32Q: bfc, queues=32",
    "OFC pair: ofc, flow-key=pair",
    "DCQCN+PFC: pfc, cc=dcqcn",
    "slow switch: switch.latency=1us",
    "P-PFC: ppfc",
    "ideal: ideal",
    "FlowSail: flowsail, queues=4, reading=printed-holds-bounded",
    "lossy: none, switch.buffer=2MB",
    "FIFO: gfc, nic.queues=fifo",
];

/// Variants that do not.
const OTHER: &[&str] = &["more: pfc, traffic.web.load=60%", "wide: bfc, traffic.incast.degree=3"];

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lab-variants-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("made");
    path
}

fn lineup(file: &Path, sets: &[String], variants: &[String]) -> Lineup {
    let request = Request { sets, variants, ..Request::default() };
    Lineup::load(file.to_str().expect("text"), &request, Otherwise::All)
        .unwrap_or_else(|p| panic!("{p}"))
}

fn compared<'a>(lineup: &'a Lineup, seeds: &[u64]) -> Comparison<'a> {
    let mut jobs = Vec::new();
    for (row, s) in lineup.settings.iter().enumerate() {
        jobs.extend(seeds.iter().map(|&seed| (row, (&*s.experiment, s.with_seed(seed)))));
    }
    let all: Vec<_> = jobs.iter().map(|j| j.1).collect();
    let runs = run_each(&all, 2, &Meter::new(all.len())).into_iter();
    let runs = runs.map(|r| r.expect("not interrupted").expect("a run"));
    Comparison::of(lineup, jobs.iter().map(|j| j.0).zip(runs).collect())
}

fn swept(directory: &Path, grid: &str) -> Merged {
    let file = directory.join("grid.toml");
    fs::write(&file, grid).expect("written");
    let draft = Draft::read(file.to_str().expect("text")).unwrap_or_else(|p| panic!("{p}"));
    let planned = draft.plan().unwrap_or_else(|p| panic!("{p}"));
    let sweep = SweepDir::new(&directory.join("sweep"));
    sweep.write(&planned).expect("written");
    let options = Options { shard: Shard::ALL, jobs: 2, limit: None };
    work(&sweep, &options, &worker::Meter::default()).expect("done");
    let results = sweep.read_results(&planned.plan).expect("read");
    Merged::new(&planned.plan, &results)
}

/// Mean and half of the 95 % interval by sums of squares of all pairs rather than around the mean.
fn independent(samples: &[f64]) -> Option<(f64, f64)> {
    const T: [f64; 4] = [12.706, 4.303, 3.182, 2.776];
    let n = samples.len();
    if n == 0 {
        return None;
    }
    let mean = samples.iter().sum::<f64>() / n as f64;
    if n == 1 {
        return Some((mean, 0.0));
    }
    let mut pairs = 0.0;
    for (i, a) in samples.iter().enumerate() {
        pairs += samples[..i].iter().map(|b| (a - b).powi(2)).sum::<f64>();
    }
    let variance = pairs / (n * (n - 1)) as f64;
    Some((mean, T[n - 2] * (variance / n as f64).sqrt()))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-6)
}

/// Every figure of a comparison, its interval and the change against the first row are those of the
/// table of a sweep with the same variants.
fn same_as_sweep(c: &Comparison<'_>, figures: &Figures, merged: &Merged) {
    let sizes: Vec<String> =
        c.experiment.scenario.report.sizes.iter().map(|s| s.label.clone()).collect();
    let sizes: Vec<&str> = std::iter::once("").chain(sizes.iter().map(String::as_str)).collect();
    for metric in metrics::all().iter().copied().filter(Heading::is_number) {
        let of_flows = metrics::is_of_flows(metric.name);
        let classes: &[&str] = if of_flows { &["", "web", "incast"] } else { &[""] };
        for &class in classes {
            for &sizes in if of_flows { sizes.as_slice() } else { &[""] } {
                let all = (class, sizes) == ("", "");
                let table = merged.table(if all { Family::Runs } else { Family::Classes });
                let at = |name: &str| table.column(name).expect("a column");
                let samples = |label: &str| -> Vec<f64> {
                    let own = table.rows.iter().filter(|row| row[0].word() == label);
                    let part = |name: &str, of: &str, row: &Row| row[at(name)].word() == of;
                    let own = own.filter(|row| {
                        all || part("class", class, row) && part("sizes", sizes, row)
                    });
                    own.filter_map(|row| row[at(metric.name)].number()).collect()
                };
                let f = Figure { metric, class: class.into(), sizes: sizes.into() };
                let base = samples(&c.groups[0].label);
                for (row, group) in c.groups.iter().enumerate() {
                    let own = samples(&group.label);
                    let found = figures.sheet.estimate(row, &f).map(|e| (e.mean, e.half_width));
                    let what = format!("{} {class} {sizes} {}", group.label, metric.name);
                    match (found, independent(&own)) {
                        (None, None) => {}
                        (Some(a), Some(b)) => {
                            assert!(close(a.0, b.0) && close(a.1, b.1), "{what}: {a:?} {b:?}");
                        }
                        other => panic!("{what}: {other:?}"),
                    }
                    // all seeds have the figure: then pairs are those of the rows
                    if own.len() == c.seeds() && base.len() == own.len() {
                        let pairs: Vec<f64> = own.iter().zip(&base).map(|(a, b)| a - b).collect();
                        let mean = base.iter().sum::<f64>() / base.len() as f64;
                        let expected = independent(&pairs).filter(|_| mean != 0.0);
                        let found = figures.sheet.change(row, 0, &f);
                        assert_eq!(found.is_some(), expected.is_some(), "{what}");
                        if let Some((change, (a, b))) = found.zip(expected) {
                            assert!(close(change.mean * mean, a), "{what}");
                            assert!(close(change.half_width * mean.abs(), b), "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// What a reader needs is there at any width: every row, what went wrong, nothing beyond the edge.
fn readable(c: &Comparison<'_>, figures: &Figures, view: &View, width: usize) {
    let text = compare::text(c, figures, view, Layout { width, colour: Colour::Off });
    let widest = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
    assert!(widest <= width, "{widest} of {width}:\n{text}");
    for group in &c.groups {
        assert!(text.contains(&group.label), "{}:\n{text}", group.label);
        let other = OTHER.iter().any(|v| v.starts_with(&group.label));
        let noted = c.other_traffic(group);
        assert_eq!(other && !std::ptr::eq(group, &c.groups[0]), !noted.is_empty(), "{text}");
    }
    let any_other = c.groups.iter().any(|g| !c.other_traffic(g).is_empty());
    assert_eq!(text.contains("OTHER TRAFFIC"), any_other, "{text}");
    let lost = c.runs().any(|r| r.outcome.totals.dropped > 0);
    assert_eq!(text.contains(" lost ("), lost, "{text}");
}

/// A grid with the variants that the command line has.
fn grid(variants: &[String], seeds: &[u64], sets: &[String]) -> String {
    let mut text = format!("scenario = \"scenario.toml\"\nseeds = {seeds:?}\n");
    if !sets.is_empty() {
        text.push_str("[set]\n");
        sets.iter().for_each(|s| text.push_str(&format!("{s}\n")));
    }
    for variant in variants {
        let (label, rest) = variant.split_once(": ").expect("a label");
        text.push_str(&format!("[[variant]]\nlabel = {label:?}\n"));
        for part in rest.split(", ") {
            match part.split_once('=') {
                None => text.push_str(&format!("scheme = {part:?}\n")),
                Some((key, value)) if value.parse::<i64>().is_ok() => {
                    text.push_str(&format!("{key} = {value}\n"));
                }
                Some((key, value)) => text.push_str(&format!("{key} = {value:?}\n")),
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..Default::default()
    })]
    #[test]
    fn variants_seeds_sizes_and_columns_cross(
        picks in prop::sample::subsequence(SAME, 1..=3),
        other in prop::option::of(prop::sample::select(OTHER)),
        seeds in prop::sample::subsequence(vec![1u64, 2, 5, 7, 9], 1..=3),
        sizes in prop::option::of(prop::sample::subsequence(
            vec!["..3KB", "1KB..40001B", "10KB..100KB", "0..", "5MB.."], 0..=3)),
        columns in prop::sample::subsequence(
            vec!["slowdown_p99", "web:fct_mean_ps", "incast:completed", "finish", "pauses_sent"],
            0..=3,
        ),
        width in 44usize..220,
        number in 0u64..1_000_000_000,
    ) {
        let directory = scratch(&format!("cross-{number}"));
        let file = directory.join("scenario.toml");
        fs::write(&file, SCENARIO).expect("written");
        let sets: Vec<String> =
            sizes.iter().map(|s| format!("report.sizes={s:?}")).collect();
        let variants: Vec<String> =
            picks.iter().chain(&other).map(|v| (*v).to_owned()).collect();
        let lineup = lineup(&file, &sets, &variants);
        let c = compared(&lineup, &seeds);
        let figures = Figures::new(&c);
        same_as_sweep(&c, &figures, &swept(&directory, &grid(&variants, &seeds, &sets)));
        let columns = columns.iter().map(|t| Figure::read(t, &lineup.base).expect("a column"));
        readable(&c, &figures, &View { columns: columns.collect() }, width);
        readable(&c, &figures, &View::default(), width);
        let summary = report::summary(&c).to_string();
        let page = report::page(&c, "weir compare");
        for group in &c.groups {
            let named = format!("\"variant\":\"{}\"", group.label);
            assert!(summary.contains(&named), "{named}");
            assert!(page.contains(&group.label), "{}", group.label);
        }
        let _ = fs::remove_dir_all(&directory);
    }
}

#[test]
fn a_scenario_has_rows_of_its_own_and_the_command_line_picks_them() {
    let directory = scratch("own");
    let file = directory.join("scenario.toml");
    let variants = "[[variant]]\nlabel = \"BFC-8Q\"\nscheme = \"bfc\"\nqueues = 8\n\
        [[variant]]\nscheme = \"pfc\"\ncc = \"dcqcn\"\nswitch.buffer = \"12MB\"\n";
    fs::write(&file, format!("{SCENARIO}{variants}")).expect("written");
    let labels = |variants: &[&str]| -> Vec<String> {
        let variants: Vec<String> = variants.iter().map(|v| (*v).to_owned()).collect();
        let lineup = lineup(&file, &[], &variants);
        lineup.settings.iter().map(|s| format!("{} {}", s.label, s.variant.cc.name())).collect()
    };
    assert_eq!(labels(&[]), ["BFC-8Q none", "PFC dcqcn"]);
    assert_eq!(labels(&["PFC", "x: bfc"]), ["PFC dcqcn", "x none"]);
    let own = lineup(&file, &[], &[]);
    let params = |i: usize| {
        let s = &own.settings[i];
        weir_results::describe::scheme_params(&s.experiment.config(s.with_seed(1)))
    };
    assert!(params(0).contains(&("queues".into(), "8".into())), "{:?}", params(0));
    let merged = swept(&directory, "scenario = \"scenario.toml\"\nseeds = [1]\n");
    let rows: Vec<&str> = merged.table(Family::Runs).rows.iter().map(|r| r[0].word()).collect();
    assert_eq!(rows, ["BFC-8Q", "PFC"], "a grid without variants has those of its scenario");
    let request = Request { variants: &["BFC-9Q".to_owned()], ..Request::default() };
    let file = file.to_str().expect("text");
    let error = Lineup::load(file, &request, Otherwise::Own).expect_err("no such row");
    let error = error.to_string();
    assert!(error.contains("no variant `BFC-9Q`") && error.contains("did you mean `BFC-8Q`?"));
}

/// CaPFC's two baselines in one table: a full egress queue drops under one, stops under the other.
#[test]
fn pfc_that_drops_and_pfc_that_stops_are_compared_in_one_go() {
    let directory = scratch("capfc");
    let file = directory.join("scenario.toml");
    let text = SCENARIO.replace(
        "[run]",
        "[switch]\nmodel = \"pipelined\"\n\
        pipeline = { rate = 20000000, delay = \"1us\" }\n[run]\nallow-loss = true\n",
    );
    fs::write(&file, text).expect("written");
    let variants = ["wdrop: pfc, on-full=drop", "wstop: pfc, on-full=stop"].map(str::to_owned);
    let lineup = lineup(&file, &[], &variants);
    let c = compared(&lineup, &[1]);
    let stops = |i: usize| -> u64 {
        let switches = c.groups[i].runs[0].outcome.switches.iter();
        switches.filter_map(|s| s.processor.as_ref()).map(|p| p.stops).sum()
    };
    let dropped = |i: usize| c.groups[i].runs[0].outcome.totals.dropped;
    assert!(dropped(0) > 0 && stops(0) == 0, "{} {}", dropped(0), stops(0));
    assert!(dropped(1) == 0 && stops(1) > 0, "{} {}", dropped(1), stops(1));
    assert!(c.other_traffic(&c.groups[1]).is_empty());
}

/// Published numbers: percentiles, sizes, deadlocks and ratios, by variant.
#[test]
fn published_numbers_stand_beside_ours() {
    let directory = scratch("published");
    let file = directory.join("scenario.toml");
    let references = "\
        [[variant]]\nscheme = \"pfc\"\n[[variant]]\nlabel = \"BFC-8Q\"\nscheme = \"bfc\"\nqueues = \
        8\n\
        [[reference]]\nvariant = \"BFC-8Q\"\nclass = \"web\"\nmetric = \"slowdown_p99\"\n\
        value = 7.77\nsource = \"Fig. 1\"\n\
        [[reference]]\nvariant = \"BFC-8Q\"\nclass = \"web\"\nsizes = \"0..10KB\"\n\
        metric = \"slowdown-p99\"\nvalue = 8.88\nsource = \"Fig. 2\"\n\
        [[reference]]\nvariant = \"PFC\"\nagainst = \"BFC-8Q\"\nmetric = \"fct_p99_ps\"\n\
        value = 4.3\nsource = \"Fig. 3\"\n\
        [[reference]]\nscheme = \"pfc\"\nmetric = \"deadlock\"\nvalue = \"137/200\"\n\
        source = \"Fig. 4\"\n";
    fs::write(&file, format!("{SCENARIO}{references}")).expect("written");
    let lineup = lineup(&file, &[], &[]);
    let c = compared(&lineup, &[1, 2]);
    let figures = Figures::new(&c);
    let layout = Layout { width: 250, colour: Colour::Off };
    let text = compare::text(&c, &figures, &View::default(), layout);
    let line = |source: &str| {
        text.lines().find(|l| l.contains(source)).unwrap_or_else(|| panic!("{source}: {text}"))
    };
    assert!(line("Fig. 1").contains("BFC-8Q paper") && line("Fig. 1").contains("7.77"), "{text}");
    assert!(line("Fig. 2").contains("web, 0..10KB") && line("Fig. 2").contains("8.88"), "{text}");
    let f = Figure::read("fct_p99_ps", &lineup.base).expect("a metric");
    let ratio = figures.sheet.ratio(0, 1, &f).expect("a ratio").mean;
    let ours = format!("{ratio:.2}");
    assert!(line("Fig. 3").contains("PFC over BFC-8Q") && line("Fig. 3").contains(&ours), "{text}");
    assert!(line("Fig. 4").contains("68.5 %") && line("Fig. 4").contains("0 %"), "{text}");
}
