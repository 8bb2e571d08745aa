//! Who was held by whom, and when: `victims.csv`, `pause-edges.csv` and windows of time.

use std::collections::BTreeMap;
use std::path::Path;
use weir_core::Time;
use weir_results::comparison::Comparison;
use weir_results::findings::{Bound, Victim};
use weir_results::report::{self, Formats};
use weir_results::run::{Meter, Run, run_all};
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_scenario::Window;

/// OFC's Fig. 1 with two incasts at P_d, at 0 and at 600 us.
const TWICE: &str = r#"
name = "twice"
[topology]
kind = "ofc-chain"
[[traffic]]
kind = "flow"
class = "victim"
from = "h0"
to = "h8"
size = "4MB"
[[traffic]]
kind = "flow"
class = "congested"
from = "h1"
to = "h9"
size = "4MB"
[[traffic]]
kind = "burst"
class = "first"
from = "h2..h7"
to = "h9"
size = "150KB"
[[traffic]]
kind = "burst"
class = "second"
from = "h2..h7"
to = "h9"
size = "150KB"
start = "600us"
"#;

fn experiment(window: Window) -> Experiment {
    let mut e = Experiment::read("twice.toml", TWICE, Files::default(), &[])
        .unwrap_or_else(|p| panic!("{p}"));
    e.window = window;
    e
}

fn compare(e: &Experiment) -> Comparison<'_> {
    let variant = e.variant(Some("pfc"), None, 1).expect("a scheme");
    let runs = run_all(e, &[variant], 1, &Meter::new(1)).into_iter();
    Comparison::new(e, runs.map(|r| r.expect("not interrupted").expect("a valid run")).collect())
}

/// The victim of the tree that began at P_d, if it has one.
fn victim(e: &Experiment, run: &Run) -> Option<Victim> {
    let at_pd = |r: weir_scenario::PortAt| r.label(&e.topology) == "Sc:P_d";
    let tree = run.pause_trees(e).iter().find(|t| t.root.is_some_and(at_pd))?;
    assert!(tree.victims.len() <= 1, "{:?}", tree.victims);
    tree.victims.first().cloned()
}

fn us(n: u64) -> Option<Time> {
    Some(Time::from_us(n))
}

#[test]
fn a_window_has_the_pauses_and_the_victims_of_its_time_only() {
    let of = |window: Window| {
        let e = experiment(window);
        let c = compare(&e);
        let run = c.runs().next().expect("one run");
        (victim(&e, run), run.outcome.digest)
    };
    let (whole, digest) = of(Window::ALL);
    let whole = whole.expect("F0 is held for P_d");
    assert_eq!((whole.bound, whole.at_most()), (Bound::Exact, false));
    assert!(whole.first < Time::from_us(100) && whole.last > Time::from_us(600), "{whole:?}");
    let parts = [(None, us(500)), (us(500), None)].map(|(from, to)| {
        let (part, same) = of(Window::new(from, to).expect("in order"));
        assert_eq!(same, digest, "a window changes no result");
        part.expect("held in both halves")
    });
    for part in &parts {
        // the hold of the flow is counted over its whole life: in a part of it there is a bound
        assert_eq!((part.bound, part.at), (Bound::Window, whole.at));
        assert!(part.held < whole.held, "{part:?} {whole:?}");
    }
    assert!(parts[0].last < Time::from_us(500) && parts[1].first > Time::from_us(600));
    let sum = parts[0].held + parts[1].held;
    assert!(sum >= whole.held, "bounds from above: {sum} {}", whole.held);
    // between the incasts nothing is paused because of P_d
    let (none, _) = of(Window::new(us(400), us(590)).expect("in order"));
    assert_eq!(none, None);
}

fn table(out: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(out.join(name)).expect("a table");
    let head = reader.headers().expect("a line of headings").clone();
    let row = |r: csv::StringRecord| {
        head.iter().zip(&r).map(|(h, c)| (h.to_owned(), c.to_owned())).collect()
    };
    reader.records().map(|r| row(r.expect("a row"))).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

#[test]
fn tables_of_pauses_join_by_the_names_of_ports_and_keep_to_the_window() {
    let e = experiment(Window::new(us(500), us(800)).expect("in order"));
    let c = compare(&e);
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab-victims");
    let _ = std::fs::remove_dir_all(&out);
    report::write(&c, &out, "weir run", Formats::Csv).expect("results can be written");
    let [ports, pauses, edges, victims, flows] =
        ["ports.csv", "pauses.csv", "pause-edges.csv", "victims.csv", "flows.csv"]
            .map(|name| table(&out, name));
    let names: Vec<&str> = ports.iter().map(|p| p["port"].as_str()).collect();
    assert!(names.contains(&"Sc:P_d") && names.contains(&"h0:Sa"), "{names:?}");
    let (from, to) = (500_000_000, 800_000_000);
    assert!(!pauses.is_empty() && !edges.is_empty() && !victims.is_empty());
    for p in &pauses {
        assert!((from..to).contains(&number(p, "at_ps")), "{p:?}");
        assert!(p["port"].starts_with(&format!("{}:", p["node"])), "{p:?}");
        assert_eq!(p["cause_held"].is_empty(), p["cause"].is_empty(), "{p:?}");
    }
    for e in &edges {
        assert!(number(e, "start_ps") < to && number(e, "end_ps") > from, "{e:?}");
        assert!(names.contains(&e["upstream"].as_str()), "{e:?}");
        let towards = ports.iter().find(|p| p["port"] == e["upstream"]).expect("a port");
        assert!(e["downstream"].starts_with(&format!("{}:", towards["towards"])), "{e:?}");
    }
    // edges are those of the run, by number
    let run = c.runs().next().expect("one run");
    let all = run.holds(&e);
    assert!(all.len() > edges.len());
    for row in &edges {
        let hold = all[number(row, "edge") as usize];
        assert_eq!(hold.start.as_ps(), number(row, "start_ps"), "{row:?}");
        assert_eq!(hold.held.label(&e.topology), row["upstream"]);
    }
    let v = &victims[0];
    assert_eq!((v["class"].as_str(), v["root"].as_str()), ("victim", "Sc:P_d"));
    assert_eq!((v["held_at"].as_str(), v["by"].as_str()), ("Sb:Sc", "Sc:P_a"));
    // held_at of the flow: port=ps, separated by blanks
    let flow = flows.iter().find(|f| f["flow"] == v["flow"]).expect("the flow");
    let held: BTreeMap<&str, u64> = flow["held_at"]
        .split(' ')
        .map(|part| part.rsplit_once('=').expect("a port and a time"))
        .map(|(port, ps)| (port, ps.parse().expect("picoseconds")))
        .collect();
    assert_eq!(held.values().sum::<u64>(), number(flow, "held_ps"));
    assert!(held[v["held_at"].as_str()] >= number(v, "held_ps"), "{held:?} {v:?}");
    let summary = report::summary(&c);
    assert_eq!(summary["window"]["from_ps"], from);
    assert_eq!(summary["pause_trees"][0]["longest_held"][0]["bound"], "window");
}

/// A flow that starts during a pause is held until the RESUME has reached its port, not only until
/// it was decided: a PAUSE of 3.6 us over a link of 666 ns.
#[test]
fn a_hold_lasts_until_the_resume_takes_effect() {
    let text = r#"
[topology]
kind = "star"
hosts = 6
rate = "100Gbps"
delay = "666ns"
[switch]
thresholds = { xoff = "58211B", xon = "34926B" }
[[traffic]]
kind = "burst"
class = "incast"
from = ["h1", "h3"]
to = "h2"
size = "500KB"
[[traffic]]
kind = "flow"
class = "late"
from = "h3"
to = "h0"
size = "40KB"
start = "12us"
"#;
    let e = Experiment::read("late.toml", text, Files::default(), &[])
        .unwrap_or_else(|p| panic!("{p}"));
    let c = compare(&e);
    let run = c.runs().next().expect("one run");
    let late = run.outcome.flows.iter().find(|f| c.class_name(f.class) == "late").expect("it ran");
    let at = late.held().iter().max_by_key(|h| h.time).expect("it was held");
    let mut victims = run.pause_trees(&e).iter().flat_map(|t| &t.victims);
    let v = victims.find(|v| v.flow == late.id).expect("it never uses the port to h2");
    assert_eq!((v.bound, v.held), (Bound::Exact, at.time));
}
