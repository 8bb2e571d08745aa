//! How flows fared by when they started: the series of a run against its flows, one by one.

use weir_core::{Bytes, Time};
use weir_results::run::{Meter, Run, run};
use weir_results::starts::{BINS, Starts};
use weir_scenario::Experiment;
use weir_scenario::Files;

/// Flows of two classes on a star, the larger ones so many that they do not finish.
const SCENARIO: &str = r#"
name = "starts"
[topology]
kind = "star"
hosts = 4
[[traffic]]
kind = "poisson"
class = "small"
size = "4KB"
load = 0.2
[[traffic]]
kind = "flow"
class = "large"
from = "h1"
to = "h2"
size = "2MB"
start = "30.5us"
[run]
until = "70us"
traffic-until = "50us"
[probe]
warm-up = "5us"
count-until = "45us"
[report]
sizes = ["0..10KB", "10KB.."]
"#;

fn made(text: &str) -> (Experiment, Run) {
    let e = Experiment::read("starts.toml", text, Files::default(), &[]);
    let e = e.unwrap_or_else(|p| panic!("{}", p.to_string()));
    let run = run(&e, e.own_variant(), &Meter::new(1), 0).expect("a run");
    (e, run)
}

/// Whether a flow of this size is in a range.
type IsIn = fn(Bytes) -> bool;

#[test]
fn a_series_counts_every_flow_in_the_bin_of_its_start() {
    let (e, run) = made(SCENARIO);
    let starts = Starts::new(&e, &run);
    // 50 us in 100 bins
    let times = [starts.from_ps, starts.to_ps, starts.until_ps];
    assert_eq!(times, [5_000_000, 45_000_000, 50_000_000]);
    let width = 500_000;
    let parts: [(&str, &str, IsIn); 4] = [
        ("", "", |_| true),
        ("small", "", |size| size < Bytes::new(10_000)),
        ("large", "10KB..", |size| size > Bytes::new(10_000)),
        ("", "0..10KB", |size| size < Bytes::new(10_000)),
    ];
    for (class, sizes, holds) in parts {
        let part = starts.part(class, sizes).expect("there are such flows");
        let own = || run.outcome.flows.iter().filter(|f| holds(f.size));
        for bin in 0..BINS {
            let here = || own().filter(move |f| f.start.as_ps() / width == bin as u64);
            assert_eq!(part.flows[bin], here().count() as u64, "{class} {sizes} bin {bin}");
            let open = here().filter(|f| f.finish().is_none()).count();
            assert_eq!(part.unfinished[bin], open as u64);
            let time =
                |f: &weir_sim::outcome::FlowRecord| f.fct().unwrap_or(run.outcome.end - f.start);
            let ns: u64 = here().map(|f| (time(f).as_ps() + 500) / 1000).sum();
            assert_eq!(part.fct_ns[bin], ns);
            let slow = |f: &weir_sim::outcome::FlowRecord| {
                time(f).as_ps() as f64 / f.ideal().expect("it has a size").as_ps() as f64
            };
            let slowdown: f64 = here().map(slow).sum();
            let found = part.slowdown_milli[bin] as f64 / 1000.0;
            // each rounded to a thousandth
            let most = 0.000_51 * part.flows[bin] as f64;
            assert!((found - slowdown).abs() <= most, "{found} {slowdown}");
        }
    }
    assert!(starts.part("small", "10KB..").is_none(), "there are no such flows");
    // 2 MB take 160 us at 100 Gbps: it has 39.5 us until the end of the run, and counts with them
    let large = starts.part("large", "").expect("one flow");
    assert_eq!((large.flows[61], large.unfinished[61], large.fct_ns[61]), (1, 1, 39_500));
}

#[test]
fn flows_are_in_the_network_from_their_start_to_their_end() {
    let (e, run) = made(SCENARIO);
    let starts = Starts::new(&e, &run);
    for bin in 0..BINS {
        let end = Time::from_ps((bin as u64 + 1) * 500_000);
        let there = run
            .outcome
            .flows
            .iter()
            .filter(|f| f.start < end && f.finish().is_none_or(|finish| finish >= end));
        assert_eq!(starts.present[bin], there.count() as u64, "bin {bin}");
    }
}

/// Without a time in `traffic-until` the window ends behind the last flow.
#[test]
fn a_list_of_flows_ends_its_window() {
    let text = SCENARIO.replace("load = 0.2", "load = 0.2\nflows = 30");
    let text = text.replace("until = \"70us\"\ntraffic-until = \"50us\"", "");
    let (e, run) = made(&text);
    let starts = Starts::new(&e, &run);
    // the large flow is the last one
    assert_eq!((starts.to_ps, starts.until_ps), (30_500_001, 30_500_001));
    let all = starts.part("", "").expect("flows");
    assert_eq!(all.flows.iter().sum::<u64>(), 31);
    assert!(all.flows[BINS - 1] > 0);
}

#[test]
fn wider_bins_have_the_sums_of_narrow_ones() {
    let (e, run) = made(SCENARIO);
    let starts = Starts::new(&e, &run);
    let wide = starts.merged(5);
    let (all, of) = (starts.part("", "").expect("flows"), wide.part("", "").expect("flows"));
    assert_eq!((wide.present.len(), of.flows.len()), (20, 20));
    for at in 0..20 {
        let sum = |numbers: &[u64]| numbers[5 * at..5 * at + 5].iter().sum::<u64>();
        assert_eq!(of.flows[at], sum(&all.flows));
        assert_eq!(of.fct_ns[at], sum(&all.fct_ns));
        // the nearest whole number to a fifth of the sum
        let fifth = sum(&starts.present) as f64 / 5.0;
        assert!((wide.present[at] as f64 - fifth).abs() <= 0.5);
    }
    assert_eq!((wide.from_ps, wide.to_ps, wide.until_ps), (5_000_000, 45_000_000, 50_000_000));
}
