//! A paper of its own about Poisson traffic at two loads, one of which the network cannot carry.

use std::fs;
use std::path::{Path, PathBuf};
use weir_paper::catalogue::Chosen;
use weir_paper::run::{collect, plan};
use weir_paper::setting::Setting;
use weir_paper::verdict::Window;
use weir_paper::{ClaimOutcome, Mode, Overrides, Paper, Verdict, publish};
use weir_sweep::shard::Shard;
use weir_sweep::worker::{Meter, Options, work};

/// Two leaves with four hosts each and one link between them: four sevenths of the traffic of the
/// hosts cross it, which is 46 % of its rate at a load of 20 %, and 137 % at 60 %.
const SCENARIO: &str = r#"
name = "crossing"
[topology]
kind = "leaf-spine"
spines = 1
leaves = 2
hosts-per-leaf = 4
rate = "100Gbps"
spine-rate = "100Gbps"
[[traffic]]
class = "user"
kind = "poisson"
size = "10KB"
load = "20%"
[probe]
warm-up = "40us"
count-until = "360us"
pause-events = 0
[run]
traffic-until = "400us"
"#;

const EXPERIMENT: &str = r#"
id = "P-1"
title = "Slowdown at two loads"
where = "Fig. 1"
steady = true
shows = "S"
scenario = "crossing.scenario.toml"
seeds = "1..5"
[parameters]
load = { key = "traffic.user.load", values = ["20%", "60%"] }
[[variant]]
label = "PFC"
scheme = "pfc"
[[figure]]
id = "f"
title = "F"
kind = "lines"
across = "load"
metric = "slowdown_mean"
"#;

const CLAIMS: &str = r#"
[[claim]]
id = "carried"
experiment = "P-1"
where = "Fig. 1"
says = "at 20 % flows take less than five times their ideal time"
kind = "limit"
bound = "most"
metric = "slowdown_mean"
at = { load = "20%" }
paper = 5

[[claim]]
id = "piled-up"
experiment = "P-1"
where = "Fig. 1"
says = "at 60 % flows take less than a thousand times their ideal time"
kind = "limit"
bound = "most"
metric = "slowdown_p50"
class = "user"
at = { load = "60%" }
paper = 1000

[[claim]]
id = "whole"
experiment = "P-1"
where = "Fig. 1"
says = "at 60 % the traffic is carried within 4 ms"
kind = "limit"
bound = "most"
steady = false
metric = "end_ps"
at = { load = "60%" }
paper = "4ms"
"#;

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("steady-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("made");
    path
}

fn paper(experiment: &str, claims: &str) -> Result<Paper, String> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let directory = scratch(&format!("paper-{number}"));
    let head = "id = \"p\"\ntitle = \"P\"\nshort = \"P\"\nexperiments = [\"e\"]\n";
    for (name, text) in [
        ("paper.toml", head),
        ("e.toml", experiment),
        ("crossing.scenario.toml", SCENARIO),
        ("claims.toml", claims),
    ] {
        fs::write(directory.join(name), text).expect("written");
    }
    Paper::load(&directory).map_err(|p| p.to_string())
}

/// What the published files of an experiment say of each claim: verdict, why, window, warm-up.
fn published(to: &Path) -> Vec<[String; 4]> {
    let text = fs::read_to_string(to.join("p/p-1/verdicts.csv")).expect("published");
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let heads = lines.headers().expect("a line of names").clone();
    let at = |name: &str| heads.iter().position(|head| head == name).expect("a column");
    let columns = ["verdict", "why", "stationary", "warm_up_ps"].map(at);
    let rows = lines.records().map(|row| row.expect("a row"));
    rows.map(|row| columns.map(|i| row[i].to_owned())).collect()
}

#[test]
fn a_load_that_is_carried_has_a_stationary_window_and_an_overload_has_none() {
    let paper = paper(EXPERIMENT, CLAIMS).unwrap_or_else(|why| panic!("{why}"));
    let (out, overrides) = (scratch("out"), Overrides::default());
    let setting = Setting { out, mode: Mode::Full, overrides, any_build: false };
    let chosen = [Chosen { paper, experiments: vec![0] }];
    let planned = plan(&chosen, &setting).expect("planned");
    let options = Options { shard: Shard::ALL, jobs: 2, limit: None };
    work(&planned[0].directory, &options, &Meter::default()).expect("done");
    let collected = collect(&chosen, &setting).expect("collected");
    let [carried, piled_up, whole]: &[Verdict; 3] =
        collected[0].verdicts.as_slice().try_into().expect("three claims");
    assert_eq!(carried.outcome.name(), "reproduced", "{}", carried.reason());
    assert_eq!((carried.window, carried.warm_up_ps), (Window::Stationary, Some(40_000_000)));
    assert_eq!(piled_up.window, Window::Overloaded, "{}", piled_up.reason());
    assert!(matches!(&piled_up.outcome, ClaimOutcome::NotMeasured(why) if why.contains("flows")));
    assert_eq!((whole.outcome.name(), whole.window), ("reproduced", Window::Terminating));

    // judged again from what is published, the verdicts are the same
    let to = scratch("published");
    publish::publish(&collected, &to).expect("published");
    let first = published(&to);
    assert_eq!(first[1][0], "not measured");
    assert_eq!([&first[0][2], &first[1][2], &first[2][2]], ["yes", "overloaded", "terminating"]);
    assert_eq!([&first[0][3], &first[2][3]], ["40000000", ""]);
    publish::judge(&[&chosen[0].paper], &to).expect("judged");
    assert_eq!(published(&to), first);

    // a damaged series is named, a missing one is said
    let series = to.join("p/p-1/series.csv");
    let text = fs::read_to_string(&series).expect("published");
    fs::write(&series, text.replace("present", "presents")).expect("written");
    let wrong = publish::judge(&[&chosen[0].paper], &to).expect_err("damaged").to_string();
    assert!(wrong.contains("series.csv:2: `presents` in `metric`"), "{wrong}");
    fs::remove_file(&series).expect("removed");
    publish::judge(&[&chosen[0].paper], &to).expect("judged");
    assert_eq!(published(&to)[1][2], "not checked");
}

#[test]
fn steady_belongs_to_experiments_with_runs_and_to_claims_about_them() {
    let terminating = EXPERIMENT.replace("steady = true\n", "");
    let why = paper(&terminating, CLAIMS).expect_err("a claim says `steady`");
    assert!(why.contains("P-1 is not about a steady state"), "{why}");
    let again = "id = \"P-1\"\ntitle = \"T\"\nshows = \"S\"\nsteady = true\nre-run-of = \"P-1\"\n";
    let why = paper(again, "").expect_err("it has no runs");
    assert!(why.contains("`steady` is for experiments with runs of their own"), "{why}");
}
