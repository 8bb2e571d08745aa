//! What the check says, against runs of the simulator, on random networks.
//!
//! Networks are small and slow (1 Gb/s), so that the millisecond after which a deadlock is
//! reported is a hundred packets long.

use std::sync::atomic::AtomicBool;
use weir_core::rng::Stream;
use weir_lint::{Dependencies, Rerouting, Tables, confirm, routes_of};
use weir_results::run::run_alone;
use weir_scenario::{Experiment, Files};
use weir_sim::outcome::Finish;

const HEAD: &str = "[switch]\nthresholds = { xoff = \"12KB\", xon = \"9KB\" }\nbuffer = \"1MB\"\n";

/// A connected network of 4 to 8 switches with one or two hosts each, as `[topology]`.
fn network(stream: &mut Stream) -> String {
    let switches = 4 + stream.below(5);
    let (mut hosts, mut links) = (Vec::new(), Vec::new());
    for s in 0..switches {
        for _ in 0..=stream.below(2) {
            links.push(format!("\"h{} s{s}\"", hosts.len()));
            hosts.push(format!("\"h{}\"", hosts.len()));
        }
        if s > 0 {
            links.push(format!("\"s{} s{s}\"", stream.below(s)));
        }
    }
    for _ in 0..stream.below(switches + 2) {
        let (a, b) = (stream.below(switches), stream.below(switches));
        let text = |a, b| format!("\"s{a} s{b}\"");
        if a != b && !links.contains(&text(a, b)) && !links.contains(&text(b, a)) {
            links.push(text(a, b));
        }
    }
    let names: Vec<String> = (0..switches).map(|s| format!("\"s{s}\"")).collect();
    format!(
        "[topology]\nkind = \"explicit\"\nhosts = [{}]\nswitches = [{}]\nlinks = [{}]\n\
         rate = \"1Gbps\"\ndelay = \"100ns\"\n",
        hosts.join(", "),
        names.join(", "),
        links.join(", ")
    )
}

fn read(text: &str) -> Experiment {
    let read = Experiment::read("test", text, Files::default(), &[]);
    read.unwrap_or_else(|p| panic!("{p}\n{text}"))
}

fn deadlocks(text: &str) -> bool {
    let e = read(text);
    let run = run_alone(&e, e.own_variant(), &AtomicBool::new(false)).expect("a valid run");
    matches!(run.outcome.finish, Finish::Deadlock(_))
}

/// A network, whether up-down or shortest paths, and whether it has a cycle.
fn case(seed: u64) -> (String, Experiment, Rerouting) {
    let mut stream = Stream::new(seed, "lint", 0);
    let text = network(&mut stream);
    let how = if stream.below(3) == 0 { Rerouting::UpDown } else { Rerouting::Shortest };
    let any = "[[traffic]]\nkind = \"flow\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"1KB\"\n";
    let e = read(&format!("{text}{any}"));
    (text, e, how)
}

/// How many networks of each kind; a longer campaign: WEIR_LINT_NETWORKS=1000.
fn networks() -> usize {
    let asked = std::env::var("WEIR_LINT_NETWORKS").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(60)
}

#[test]
fn networks_with_a_cycle_deadlock_under_the_traffic_that_closes_it() {
    let (mut found, mut seed, mut missed) = (0, 0, Vec::new());
    while found < networks() {
        seed += 1;
        let (text, e, how) = case(seed);
        let topo = &*e.topology;
        let tables = Tables::routed(topo, how, &[]);
        let mut graph = Dependencies::new(topo);
        graph.add_tables(&tables);
        let Some(cycle) = graph.cycles().into_iter().next() else { continue };
        found += 1;
        let steps = routes_of(topo, &tables, &[], &cycle);
        let closes = |flows: &usize| {
            let traffic = confirm::traffic(topo, &steps, *flows).expect("flows for each step");
            let run = "[run]\nuntil = \"20ms\"\n";
            deadlocks(&format!("{text}{HEAD}{run}{traffic}"))
        };
        if !confirm::ATTEMPTS.iter().any(closes) {
            missed.push(seed);
        }
    }
    assert!(missed.is_empty(), "no deadlock in networks {missed:?} of {found}");
}

#[test]
fn networks_without_a_cycle_never_deadlock() {
    let (mut found, mut seed) = (0, 0);
    while found < networks() {
        seed += 1;
        let (text, e, how) = case(seed);
        let topo = &*e.topology;
        let mut graph = Dependencies::new(topo);
        graph.add_tables(&Tables::routed(topo, how, &[]));
        if graph.is_cyclic() {
            continue;
        }
        found += 1;
        let routing = if how == Rerouting::UpDown { "up-down" } else { "ecmp" };
        let mut all =
            format!("{text}{HEAD}[routing]\nkind = \"{routing}\"\n[run]\nuntil = \"3ms\"\n");
        // every host sends to every other: all routes are used, and all at line rate
        for from in topo.hosts() {
            for to in topo.hosts().iter().filter(|to| *to != from) {
                let (from, to) = (topo.name(*from), topo.name(*to));
                all.push_str(&format!(
                    "[[traffic]]\nkind = \"flow\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                     size = \"100MB\"\n"
                ));
            }
        }
        assert!(!deadlocks(&all), "network {seed} deadlocks without a cycle");
    }
}
