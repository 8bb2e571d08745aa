//! Comparisons whose answer is known.

use std::sync::atomic::AtomicBool;
use weir_change::diff::{Diff, Facts, FailIf, Side, SideError, Verdict, paragraph};
use weir_results::run::run_alone;
use weir_scenario::Files;
use weir_scenario::resolve::{Base, Fabrics};
use weir_scenario::text::Diagnostics;

/// Eight hosts at half load for 200 us: a few dozen flows that depend on the seed.
const RANDOM: &str = r#"
[topology]
kind = "star"
hosts = 8
rate = "10Gbps"
delay = "1us"
[[traffic]]
class = "web"
kind = "poisson"
size = "websearch"
scale = "1/100"
load = "50%"
[run]
until = "400us"
traffic-until = "200us"
"#;

fn side(text: &str, sets: &[&str], seeds: &[u64]) -> Side {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    let mut out = Diagnostics::default();
    let base = Base::read("test", text, Files::default(), &sets, &mut out);
    let e = base.experiment(out, &Fabrics::default());
    let e = e.unwrap_or_else(|p| panic!("{p}"));
    let interrupt = AtomicBool::new(false);
    Side::simulate("test", &base, &e, e.own_variant(), (seeds, 2), &interrupt).expect("runs")
}

fn builtin(sets: &[&str], seeds: &[u64]) -> Side {
    let text = weir_scenario::builtin::find("incast").expect("built in").text;
    side(text, sets, seeds)
}

#[test]
fn a_run_compared_with_itself_has_not_changed() {
    let a = side(RANDOM, &[], &[1, 2, 3]);
    let diff = Diff::new(&a, &a.clone());
    assert!(diff.is_empty() && diff.flows.paired > 0);
    assert!(paragraph(&diff).starts_with("Nothing changed"), "{}", paragraph(&diff));
    for condition in ["p99 slowdown worse", "lost > 0", "fct_mean worse by 1 %"] {
        let condition = FailIf::read(condition).expect("a condition");
        assert_eq!(condition.check(&diff), Ok(None));
    }
}

/// Groups of five runs of one scenario with other seeds: nothing has changed, so at most one in
/// twenty comparisons may say so.
#[test]
fn other_seeds_are_told_from_a_change_in_95_of_100_cases() {
    let all = side(RANDOM, &[], &(1..=1000).collect::<Vec<u64>>());
    let part =
        |seeds: std::ops::Range<usize>| Side { runs: all.runs[seeds].to_vec(), ..all.clone() };
    let wrong = (0..100).filter(|case| {
        let first = 10 * case;
        let diff = Diff::new(&part(first..first + 5), &part(first + 5..first + 10));
        assert!(diff.common.is_empty() && diff.settings.is_empty());
        diff.significant().any(|r| r.shown)
    });
    let wrong: Vec<usize> = wrong.collect();
    assert!(wrong.len() <= 5, "{} of 100 cases are called changed: {wrong:?}", wrong.len());
}

#[test]
fn a_limit_below_the_headroom_is_named_with_its_losses() {
    let a = builtin(&["run.allow-loss=true"], &[1]);
    let b = builtin(&["run.allow-loss=true", "switch.thresholds.limit=90KB"], &[1]);
    let diff = Diff::new(&a, &b);
    let keys: Vec<&str> = diff.settings.iter().map(|s| s.key.as_str()).collect();
    assert_eq!(keys, ["switch.thresholds.limit"]);
    // all eight senders share the port to the receiver, where packets are dropped
    assert_eq!(diff.appeared.losing.new, ["sw0:h0"]);
    let text = paragraph(&diff);
    assert!(text.contains("switch.thresholds.limit default to 90KB"), "{text}");
    assert!(text.contains("1 of 18 ports now lose packets"), "{text}");
    for (condition, fails) in [
        ("p99 slowdown worse by 5 %", true),
        ("incast:p99 slowdown worse by 5 %", true),
        ("p99 slowdown worse by 500 %", false),
        ("lost > 0", true),
        ("lost worse", true),
        ("deadlock > 0", false),
        ("fct_max > 1s", false),
    ] {
        let found = FailIf::read(condition).expect(condition).check(&diff).expect(condition);
        assert_eq!(found.is_some(), fails, "{condition}: {found:?}");
    }
    // the other way round nothing is worse
    let back = Diff::new(&b, &a);
    let condition = FailIf::read("p99 slowdown worse by 0 %").expect("a condition");
    assert_eq!(condition.check(&back), Ok(None));
    assert_eq!(back.appeared.losing.gone, ["sw0:h0"]);
}

#[test]
fn a_change_over_seeds_is_worse_only_if_it_is_not_chance() {
    let seeds: Vec<u64> = (1..=6).collect();
    let a = side(RANDOM, &[], &seeds);
    // at half the speed flows of the same sizes take at least as long
    let b = side(RANDOM, &["topology.rate=5Gbps", "traffic.0.load=100%"], &seeds);
    let diff = Diff::new(&a, &b);
    let row = diff.rows.iter().find(|r| r.name == "slowdown_mean").expect("a figure");
    assert_eq!(row.verdict, Verdict::Worse, "{row:?}");
    assert!(row.interval.is_some_and(|i| i.low > 0.0), "{row:?}");
}

#[test]
fn conditions_that_cannot_be_read_are_explained() {
    for (text, says) in [
        ("slowdown", "is not a condition"),
        ("p98 slowdown worse", "there is no figure `p98 slowdown`"),
        ("p99 slowdown worse by much", "write `p99 slowdown worse by 5 %`"),
        ("web:pauses > 1", "is of the whole run"),
        ("fct_max > 3", "fct_max > 3"),
    ] {
        let error = FailIf::read(text).expect_err(text);
        assert!(error.contains(says), "{text}: {error}");
    }
    let a = side(RANDOM, &[], &[1]);
    let error = FailIf::read("wob:lost > 0").expect("reads").check(&Diff::new(&a, &a.clone()));
    assert!(error.is_ok_and(|found| found.is_none()), "a scenario of one class has no rows of it");
}

/// Results of a scenario in a directory of its own, read again after `change` of its summary.
fn written(scenario: &str, change: impl FnOnce(String) -> String) -> Result<Side, SideError> {
    let e = weir_scenario::Experiment::load(scenario, &[]).expect("built in");
    let run = run_alone(&e, e.own_variant(), &AtomicBool::new(false)).expect("a run");
    let name =
        format!("weir-diff-{scenario}-{}-{:?}", std::process::id(), std::thread::current().id());
    let directory = std::env::temp_dir().join(name.replace(['(', ')'], ""));
    let c = weir_results::comparison::Comparison::new(&e, vec![run]);
    let target =
        weir_results::report::Destination::check(&directory, &[]).expect("a new directory");
    target.write(&c, "weir run", weir_results::report::Formats::Csv).expect("written");
    let summary = directory.join("summary.json");
    let text = std::fs::read_to_string(&summary).expect("a summary");
    std::fs::write(&summary, change(text)).expect("written");
    let read = Side::read(&directory, None);
    std::fs::remove_dir_all(&directory).expect("removed");
    read
}

#[test]
fn a_deadlock_in_a_directory_of_results_is_one() {
    let b = written("ring-deadlock", |text| text).expect("results");
    assert!(b.runs.iter().all(|r| r.deadlock));
    let condition = FailIf::read("deadlock > 0").expect("a condition");
    assert!(condition.check(&Diff::new(&b, &b.clone())).expect("a figure").is_some());
}

#[test]
fn a_directory_without_runs_is_said_to_have_none() {
    let none = |_: String| "{\"runs\": []}".to_owned();
    let error = written("ofc-fig1", none).expect_err("no runs").to_string();
    assert!(error.contains("summary.json") && error.contains("lists no runs"), "{error}");
}

#[test]
fn different_networks_are_told_from_a_change() {
    let (a, b) = (side(RANDOM, &[], &[1]), side(RANDOM, &["topology.hosts=6"], &[1]));
    let diff = Diff::new(&a, &b);
    // two hosts less: a port of each, and of the switch to each
    assert_eq!(diff.ports_apart, 4);
    assert!(paragraph(&diff).contains("different networks (4 ports"), "{}", paragraph(&diff));
    assert_eq!(Diff::new(&a, &a.clone()).ports_apart, 0);
}

/// Results list the ports that were used: with other traffic these are others, in the same
/// network.
#[test]
fn results_of_two_seeds_are_of_the_same_network() {
    let of = |seed: u64, unused: usize, pausing: usize| {
        let mut side = Side { network: None, ..side(RANDOM, &[], &[seed]) };
        let ports = &mut side.runs[0].ports;
        ports.remove(unused);
        for (i, port) in ports.iter_mut().enumerate() {
            (port.dropped, port.pauses) = (0, u64::from(i == pausing));
        }
        side
    };
    let (a, b) = (of(1, 0, 3), of(2, 1, 4));
    let diff = Diff::new(&a, &b);
    assert_eq!((diff.ports_apart, diff.significant().count()), (0, 0));
    assert!(diff.appeared.pausing.is_empty(), "which port pauses is chance");
    let text = paragraph(&diff);
    assert!(!text.contains("different networks") && !text.contains("ports"), "{text}");
    // none against some is not
    let none = of(1, 0, usize::MAX);
    assert_eq!(Diff::new(&none, &b).appeared.pausing.new.len(), 1);
}

#[test]
fn results_of_an_interrupted_run_are_refused() {
    let cut = |text: String| text.replace("\"how\": \"drained\"", "\"how\": \"interrupted\"");
    let error = written("incast", cut).expect_err("incomplete").to_string();
    assert!(error.contains("was interrupted") && error.contains("run it again"), "{error}");
}

/// What results on disk say is what the runs said.
#[test]
fn results_of_a_directory_are_those_of_the_runs() {
    let e = weir_scenario::Experiment::load("incast", &[]).expect("built in");
    let run = run_alone(&e, e.own_variant(), &AtomicBool::new(false)).expect("a run");
    let made = Facts::of_run(&e, &run);
    let directory = std::env::temp_dir().join(format!("weir-diff-{}", std::process::id()));
    let c = weir_results::comparison::Comparison::new(&e, vec![run]);
    let target =
        weir_results::report::Destination::check(&directory, &[]).expect("a new directory");
    target.write(&c, "weir run incast", weir_results::report::Formats::Csv).expect("written");
    let read = Side::read(&directory, None);
    std::fs::remove_dir_all(&directory).expect("removed");
    let read = read.expect("results");
    let [facts] = &read.runs[..] else { panic!("{} runs", read.runs.len()) };
    assert_eq!((facts.seed, &facts.traffic), (made.seed, &made.traffic));
    let times = |f: &Facts| f.flows.iter().map(|f| (f.id.clone(), f.fct)).collect::<Vec<_>>();
    assert_eq!(times(facts), times(&made));
    let ports = |f: &Facts| -> Vec<(String, u64, u64, u64)> {
        f.ports.iter().map(|p| (p.name.clone(), p.dropped, p.pauses, p.held)).collect()
    };
    assert_eq!(ports(facts), ports(&made));
    assert_eq!(facts.victims, made.victims);
}
