//! Pauses from their start to their end, under every scheme, and what a failure of a link does to
//! them. `.ci/recompute` replays the pauses of random runs.

use weir_core::Time;
use weir_results::comparison::{Comparison, notes};
use weir_results::findings::PauseTree;
use weir_results::run::{Meter, run_all};
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_sim::outcome::Finish;
use weir_sim::outcome::PauseScope;

/// Runs a scenario once, with the scheme that it names or this one.
fn run(text: &str, scheme: Option<&str>, check: impl FnOnce(&Experiment, &Comparison<'_>)) {
    let e = Experiment::read("test", text, Files::default(), &[]).unwrap_or_else(|p| panic!("{p}"));
    let variants = [e.variant(scheme, None, 1).expect("a known scheme")];
    let runs = run_all(&e, &variants, 1, &Meter::new(1));
    let runs = runs.into_iter().map(|r| r.expect("not interrupted").expect("a valid run"));
    let c = Comparison::new(&e, runs.collect());
    check(&e, &c);
}

/// How often and for how long all trees together paused.
fn totals(trees: &[PauseTree]) -> (u64, Time) {
    let each = trees.iter().map(PauseTree::totals);
    each.fold((0, Time::ZERO), |(n, t), (count, time)| (n + count, t + time))
}

/// Three senders, one receiver, and little memory for a cable this long.
const BURST: &str = r#"
[topology]
kind = "star"
hosts = 4
rate = "10Gbps"
delay = "5us"
[switch]
thresholds = { xoff = "30KB", xon = "10KB" }
[flow-control]
scheme = "ofc"
[[traffic]]
kind = "burst"
from = "h1..h3"
to = "h0"
size = "600KB"
"#;

/// OFC lists flows first and pauses everything a moment later. The RESUME of everything lifts both,
/// so there are as many pauses as such RESUMEs. Together the three senders need 1.44 ms for
/// 1.8 MB at 10 Gb/s, and each can be paused at most for this long.
#[test]
fn a_pause_of_ofc_ends_with_the_resume_of_the_urgent_state() {
    run(BURST, None, |e, c| {
        let run = c.runs().next().expect("one run");
        let pauses = &run.outcome.pauses;
        assert!(pauses.iter().any(|p| p.pause && p.scope == PauseScope::Priority), "urgent");
        assert!(pauses.iter().any(|p| matches!(p.scope, PauseScope::Flows(_))), "listed");
        let lifted = pauses.iter().filter(|p| !p.pause && p.scope == PauseScope::All).count();
        let listed = |p: &&weir_sim::outcome::PauseEvent| {
            !p.pause && matches!(p.scope, PauseScope::Flows(_)) && p.flows == 0
        };
        let by_list = pauses.iter().filter(listed).count();
        assert!(lifted > 6, "each of the three senders is paused again and again: {lifted}");
        let (count, time) = totals(run.pause_trees(e));
        assert_eq!(count, (lifted + by_list) as u64);
        assert!(time < Time::from_us(3 * 1500), "{time}");
    });
}

/// A pause lasts until it is lifted, under every scheme: a network that has drained has lifted all.
#[test]
fn no_pause_outlasts_a_network_that_has_drained() {
    let timeout = "[nic]\ntimeout = \"1ms\"\n";
    let failure = "[[failure]]\nlink = [\"h1\", \"sw0\"]\ndown = \"150us\"\nup = \"160us\"\n";
    for info in weir_fc::SCHEMES.iter() {
        for text in [format!("{BURST}{timeout}"), format!("{BURST}{timeout}{failure}")] {
            run(&text, Some(info.name), |e, c| {
                let run = c.runs().next().expect("one run");
                assert_eq!(run.outcome.finish, Finish::Drained, "{}", info.name);
                let unlifted = run.holds(e).iter().filter(|h| !h.lifted).count();
                assert_eq!(unlifted, 0, "{} of {}", info.name, run.holds(e).len());
            });
        }
    }
}

/// The incast fills the switches up to the senders; then the link that carries most of it fails.
#[test]
fn ofc_ends_an_incast_over_a_link_that_fails() {
    let text = r#"
[topology]
kind = "fat-tree"
pods = 2
tors-per-pod = 2
hosts-per-tor = 2
[switch]
thresholds = { xoff = "75000B", xon = "37500B" }
[flow-control]
scheme = "ofc"
[[traffic]]
kind = "constant"
from = "h1..h7"
to = "h0"
rate = "100000000000bps"
stop = "24000000ps"
[[failure]]
link = ["tor0", "agg0"]
down = "20928471ps"
"#;
    run(text, None, |_, c| {
        assert_eq!(c.runs().next().expect("one run").outcome.finish, Finish::Drained);
    });
}

/// FlowSail's listing reorders. Who asks for it gets results, with what came out of order and why.
#[test]
fn a_reading_that_reorders_is_reported_and_named() {
    let text = r#"
[topology]
kind = "k-ary"
rate = "40Gbps"
[flow-control]
scheme = "flowsail"
queues = 2
reading = "mark-sign"
[[traffic]]
kind = "all-to-all"
size = "1500B"
[[traffic]]
kind = "incast"
degree = 6
size = "9001B"
per-second = 500000
events = 2
"#;
    run(text, None, |_, c| {
        let reordered = c.runs().next().expect("one run").outcome.totals.reordered;
        assert!(reordered > 0);
        let notes = notes(c, &c.groups[0]);
        let named = format!("{reordered} out of order (reading = mark-sign reorders)");
        assert!(notes.contains(&named), "{notes:?}");
    });
}
