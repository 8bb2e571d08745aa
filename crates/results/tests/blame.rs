//! Where completion times went, and because of whom, from the scenario to the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use weir_core::rng::Stream;
use weir_core::{FlowId, Time};
use weir_results::blame::Account;
use weir_results::comparison::Comparison;
use weir_results::findings::{Blamed, Certainty, Culprit, Fault, FctPart, Share};
use weir_results::report::{self, Formats};
use weir_results::run::{Meter, Run, run_all};
use weir_scenario::{Experiment, Files};

fn load(name: &str) -> Experiment {
    let mut e = Experiment::load(name, &[]).unwrap_or_else(|p| panic!("{p}"));
    e.blame = true;
    e
}

fn read(text: &str) -> Experiment {
    let mut e = Experiment::read("test.toml", text, Files::default(), &[])
        .unwrap_or_else(|p| panic!("{p}"));
    e.blame = true;
    e
}

fn run(e: &Experiment, scheme: &str) -> Run {
    let variant = e.variant(Some(scheme), None, 1).expect("a scheme");
    let runs = run_all(e, &[variant], 1, &Meter::new(1));
    runs.into_iter().next().flatten().expect("not interrupted").expect("a valid run")
}

fn blamed<'a>(e: &Experiment, run: &'a Run, src: &str) -> &'a Blamed {
    let host = e.topology.find(src).expect("a host");
    run.blames(e).expect("asked for").of(FlowId::new(host, 0)).expect("a complete flow")
}

fn part(b: &Blamed, part: FctPart) -> Time {
    b.parts()[part as usize]
}

/// Every part of every flow adds up, and nothing is held that no pause reached.
fn check(e: &Experiment, run: &Run) {
    for b in &run.blames(e).expect("asked for").flows {
        let sum: Time = b.parts().into_iter().sum();
        assert_eq!(Some(sum), run.outcome.flows.get(b.flow).and_then(|f| f.fct()), "{b:#?}");
    }
}

/// The OFC paper's Fig. 1. Under PFC F0 is a victim of P_d of Sc, which it never uses, and F1 is to
/// blame: its bytes and F0's own stood at the ingress from Sb. Under OFC F0 is held once, 5.0 us at
/// Sa and 21.5 us at h0, which overlap, as `docs/src/family.md` works out.
#[test]
fn in_fig_1_f0_is_a_victim_under_pfc_and_held_once_under_ofc() {
    let e = load("ofc-fig1");
    let pfc = run(&e, "pfc");
    check(&e, &pfc);
    let f0 = blamed(&e, &pfc, "h0");
    let root = e.topology.port_label(
        e.topology.find("Sc").expect("a switch"),
        f0.shares
            .iter()
            .filter(|s| s.part == FctPart::HeldOthers)
            .max_by_key(|s| s.time)
            .and_then(|s| s.root)
            .expect("it was held for others")
            .port,
    );
    assert_eq!(root, "Sc:P_d");
    assert!(part(f0, FctPart::HeldOthers) > Time::from_us(100), "{f0:#?}");
    let f1 = blamed(&e, &pfc, "h1").flow;
    let pause = f0.culprits.iter().filter(|c| c.fault == Fault::Pause);
    let sc =
        |c: &&Culprit| c.root.is_some_and(|r| e.topology.port_label(r.node, r.port) == "Sc:P_d");
    let guilty: BTreeSet<FlowId> = pause.filter(sc).map(|c| c.flow).collect();
    assert_eq!(guilty, BTreeSet::from([f0.flow, f1]));

    let ofc = run(&e, "ofc");
    check(&e, &ofc);
    let f0 = blamed(&e, &ofc, "h0");
    let held: Vec<_> = f0.shares.iter().filter(|s| s.part == FctPart::HeldOthers).collect();
    let at = |port: &str| {
        let is = |s: &&&Share| e.topology.port_label(s.at.node, s.at.port) == port;
        held.iter().filter(is).map(|s| s.time).sum::<Time>()
    };
    // Sa holds it first and keeps what overlaps: at least 21.5 us in all, at most 5.0 + 21.5
    let [sa, h0] = ["Sa:Sb", "h0:Sa"].map(at);
    assert!(sa > Time::from_ps(4_900_000) && sa <= Time::from_ps(5_050_000), "{sa}");
    let all = part(f0, FctPart::HeldOthers);
    assert_eq!(sa + h0, all);
    assert!(all > Time::from_ps(21_500_000) && all < Time::from_ps(26_500_000), "{all}");
    // the pause of F0 joins one of F1 that is in force: its root is not certain
    assert!(held.iter().any(|s| s.certainty == Some(Certainty::Overlap)), "{held:#?}");
}

/// Three switches in a row. The root lies beside the way of the victim: hosts behind s2 send to one
/// of them, which pauses s1 and then s0; the victim goes from s0 to another host of s2.
const CHAIN: &str = "[topology]\nkind = \"ofc-chain\"\n[switch]\nthresholds = { xoff = \"30KB\", \
    xon = \"20KB\" }\n[[traffic]]\nkind = \"flow\"\nfrom = \"h0\"\nto = \"h8\"\nsize = \"1MB\"\n\
    [[traffic]]\nkind = \"flow\"\nfrom = \"h1\"\nto = \"h9\"\nsize = \"1MB\"\n[[traffic]]\nkind = \
    \"burst\"\nfrom = \"h2..h5\"\nto = \"h9\"\nsize = \"200KB\"\n";

#[test]
fn a_chain_of_pauses_is_blamed_on_its_root_beside_the_path() {
    let e = read(CHAIN);
    let run = run(&e, "pfc");
    check(&e, &run);
    let f0 = blamed(&e, &run, "h0");
    let held: BTreeMap<String, Time> = f0
        .shares
        .iter()
        .filter(|s| s.part == FctPart::HeldOthers)
        .map(|s| (e.topology.port_label(s.at.node, s.at.port), s.time))
        .collect();
    let roots: BTreeSet<String> = f0
        .shares
        .iter()
        .filter(|s| s.part == FctPart::HeldOthers)
        .filter_map(|s| s.root)
        .map(|r| e.topology.port_label(r.node, r.port))
        .collect();
    assert_eq!(roots, BTreeSet::from(["Sc:P_d".to_owned()]));
    assert!(held.keys().any(|port| port == "Sb:Sc"), "{held:?}");
    assert!(part(f0, FctPart::HeldOthers) > Time::ZERO);
}

/// Without the flow whose bytes stood at the root, the victim is not held for others.
#[test]
fn without_its_culprits_a_victim_is_not_held() {
    for scheme in ["pfc", "gpfc", "capfc", "ppfc"] {
        let e = read(CHAIN);
        let with = run(&e, scheme);
        if part(blamed(&e, &with, "h0"), FctPart::HeldOthers) == Time::ZERO {
            continue;
        }
        let guilty = blamed(&e, &with, "h0").culprits.iter().filter(|c| c.fault == Fault::Pause);
        let guilty: BTreeSet<u32> = guilty.map(|c| c.flow.source().0).collect();
        assert!(guilty.contains(&e.topology.find("h1").expect("a host").0), "{scheme}");
        // the culprits are F0 itself and F1
        let lines: Vec<&str> = CHAIN.split("[[traffic]]").collect();
        let e = read(&[lines[0], lines[1], lines[3]].join("[[traffic]]"));
        let without = run(&e, scheme);
        assert_eq!(part(blamed(&e, &without, "h0"), FctPart::HeldOthers), Time::ZERO, "{scheme}");
    }
}

/// One flow of some hosts of the chain, at random, without those of `left_out`.
fn random(seed: u64, left_out: &BTreeSet<u64>) -> Experiment {
    let mut s = Stream::new(seed, "blame", 0);
    let xoff = s.between(10, 60);
    let mut text = format!(
        "[topology]\nkind = \"ofc-chain\"\n[switch]\nthresholds = {{ xoff = \"{xoff}KB\", xon = \
         \"{}KB\" }}\n",
        xoff / 2
    );
    for src in 0..8 {
        let (dst, size, start) = (s.between(8, 9), s.between(20, 600), s.between(0, 40));
        if !left_out.contains(&src) {
            text += &format!(
                "[[traffic]]\nkind = \"flow\"\nfrom = \"h{src}\"\nto = \"h{dst}\"\nsize = \
                 \"{size}KB\"\nstart = \"{start}us\"\n"
            );
        }
    }
    read(&text)
}

/// On random small networks: without the flows whose bytes stood at the roots that held a victim,
/// no pause with one of these roots holds it for others.
#[test]
fn without_culprits_the_roots_that_held_a_victim_do_not() {
    let (mut victims, mut removed) = (0, Time::ZERO);
    for seed in 0..30 {
        let e = random(seed, &BTreeSet::new());
        let with = run(&e, "pfc");
        check(&e, &with);
        let blames = with.blames(&e).expect("asked for");
        let worst = blames.flows.iter().max_by_key(|b| part(b, FctPart::HeldOthers));
        let worst = worst.filter(|b| part(b, FctPart::HeldOthers) > Time::ZERO);
        let Some(victim) = worst else { continue };
        let others = victim.shares.iter().filter(|s| s.part == FctPart::HeldOthers);
        let roots: BTreeSet<_> = others.filter_map(|s| s.root).collect();
        let guilty = |c: &&Culprit| {
            c.fault == Fault::Pause
                && c.flow != victim.flow
                && c.root.is_some_and(|r| roots.contains(&r))
        };
        let culprits: BTreeSet<u64> = victim
            .culprits
            .iter()
            .filter(guilty)
            .map(|c| e.topology.name(c.flow.source())[1..].parse().expect("hosts are numbered"))
            .collect();
        assert!(!culprits.is_empty(), "seed {seed}: {victim:#?}");
        let src = e.topology.name(victim.flow.source()).to_owned();
        let e = random(seed, &culprits);
        let without = run(&e, "pfc");
        check(&e, &without);
        let now = blamed(&e, &without, &src);
        let by_roots = |s: &&Share| {
            s.part == FctPart::HeldOthers && s.root.is_some_and(|r| roots.contains(&r))
        };
        let left: Time = now.shares.iter().filter(by_roots).map(|s| s.time).sum();
        assert_eq!(left, Time::ZERO, "seed {seed}, without {culprits:?}: {now:#?}");
        victims += 1;
        removed += part(victim, FctPart::HeldOthers);
    }
    assert!(victims >= 10, "{victims} victims, {removed} removed");
}

/// A small network of any kind, with any congestion control, and now and then a link that fails.
fn anywhere(seed: u64) -> Experiment {
    let mut s = Stream::new(seed, "blame anywhere", 0);
    let networks = [
        "kind = \"star\"\nhosts = 12",
        "kind = \"ofc-chain\"",
        "kind = \"leaf-spine\"\nspines = 2\nleaves = 3\nhosts-per-leaf = 4",
        "kind = \"k-ary\"\nk = 4",
        "kind = \"ring\"\nswitches = 4\nhosts-per-switch = 3",
    ];
    let network = networks[s.below(networks.len() as u64) as usize];
    let hosts = if network.contains("ofc-chain") { 10 } else { 12 };
    let cc = ["none", "dcqcn", "hpcc", "swift"][s.below(4) as usize];
    let xoff = s.between(12, 80);
    let mut text = format!(
        "[topology]\n{network}\n[switch]\nthresholds = {{ xoff = \"{xoff}KB\", xon = \"{}KB\" }}\n\
         [congestion-control]\nalgorithm = \"{cc}\"\n[run]\nuntil = \"4ms\"\nallow-loss = true\n",
        xoff * 2 / 3
    );
    for _ in 0..16 {
        let (src, dst) = (s.below(hosts), s.below(hosts - 1));
        let dst = if dst >= src { dst + 1 } else { dst };
        let (size, start) = (s.between(1, 250_000), s.between(0, 60_000));
        text += &format!(
            "[[traffic]]\nkind = \"flow\"\nfrom = \"h{src}\"\nto = \"h{dst}\"\nsize = \
             \"{size}B\"\nstart = \"{start}ns\"\n"
        );
    }
    if s.below(2) == 0 && network.contains("leaf-spine") {
        text += "[[failure]]\nlink = [\"leaf0\", \"spine1\"]\ndown = \"20us\"\nup = \"90us\"\n";
    }
    read(&text)
}

/// In all schemes, on random networks with random flows: the nine parts of every flow that is
/// complete add up to its completion time to the picosecond, and so do the rows of `blame.csv` and
/// the hops of its path.
#[test]
fn in_every_scheme_the_parts_of_every_flow_add_up() {
    let mut divided = BTreeMap::new();
    for seed in 0..10 {
        let e = anywhere(seed);
        for scheme in weir_fc::SCHEMES.iter() {
            // settings that do not fit are refused: thresholds too close for GFC
            let variant = e.variant(Some(scheme.name), None, 1).expect("a scheme");
            let found = run_all(&e, &[variant], 1, &Meter::new(1)).pop().flatten();
            let Some(Ok(run)) = found else { continue };
            check(&e, &run);
            let count = run.blames(&e).expect("asked for").flows.len();
            let done = run.outcome.flows.iter().filter(|f| f.fct().is_some()).count();
            assert_eq!(count, done, "{} seed {seed}", scheme.name);
            *divided.entry(scheme.name).or_insert(0) += count;
        }
    }
    assert!(divided.values().all(|flows| *flows >= 40), "{divided:?}");
}

/// A host is held from when a PAUSE takes effect until its RESUME does. Both take the same way, so
/// the time differs from that between their decisions in `pauses.csv` by what they wait for a
/// frame on the wire: at most one of 84 B, an ACK, each, as nothing else goes to the hosts.
#[test]
fn what_a_flow_was_held_at_its_host_is_what_the_pauses_say() {
    let e = read(
        "[topology]\nkind = \"star\"\nhosts = 5\n[[traffic]]\nkind = \"burst\"\nfrom = \
         \"h1..h4\"\nto = \"h0\"\nsize = \"300KB\"\n",
    );
    let run = run(&e, "pfc");
    check(&e, &run);
    let ack = Time::from_ps((run.config.nic.ack + run.config.link.overhead).get() * 80);
    let mut some = 0;
    for b in &run.blames(&e).expect("asked for").flows {
        let end = run.outcome.flows.get(b.flow).and_then(|f| f.finish()).expect("complete");
        let at = |h: &&weir_results::findings::Hold| h.held.node == b.flow.source();
        let holds: Vec<_> = run.holds(&e).iter().filter(at).collect();
        let decided: Time = holds.iter().map(|h| h.end.min(end) - h.start.min(end)).sum();
        let held = part(b, FctPart::HeldOwn);
        let slack = ack * holds.len() as u64;
        assert!(held <= decided + slack && decided <= held + slack, "{held} {decided} {slack}");
        assert_eq!(part(b, FctPart::HeldOthers), Time::ZERO, "the root is the port to h0");
        some += holds.len();
    }
    assert!(some > 0, "nothing was paused");
}

fn written(name: &str, e: &Experiment, runs: Vec<Run>) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("blame-{name}"));
    let _ = fs::remove_dir_all(&out);
    report::write(&Comparison::new(e, runs), &out, "weir", Formats::Csv).expect("written");
    out
}

#[test]
fn files_say_what_the_run_says_and_nothing_is_written_unasked() {
    let mut e = load("ofc-fig1");
    let pfc = run(&e, "pfc");
    let account = Account::of_run(&e, &pfc).expect("asked for");
    let out = written("with", &e, vec![pfc]);
    let [found] = <[Account; 1]>::try_from(Account::read(&out).expect("files")).expect("one run");
    let by_time = |a: &Account| {
        (a.flows.clone(), a.shares.clone(), a.culprits.clone(), a.open, a.views.clone())
    };
    assert_eq!(by_time(&found), by_time(&account));
    e.blame = false;
    let without = written("without", &e, vec![run(&e, "pfc")]);
    for name in ["blame.csv", "culprits.csv", "blame.json"] {
        assert!(out.join(name).exists() && !without.join(name).exists(), "{name}");
    }
    let heads = |dir: &Path| {
        let text = fs::read_to_string(dir.join("flows.csv")).expect("a table");
        text.lines().next().expect("headings").to_owned()
    };
    assert!(heads(&out).starts_with(&heads(&without)) && heads(&out) != heads(&without));
    let why = Account::read(&without).expect_err("no blame");
    assert!(why.contains("without --blame"), "{why}");
}

/// The ring of the deadlock: the initial trigger is known, and says when and why it paused.
#[test]
fn a_deadlock_has_an_initial_trigger() {
    let e = load("ring-deadlock");
    let run = run(&e, "pfc");
    let views = weir_results::blame::views::json(&e, &run);
    let trigger = &views["deadlock"];
    assert!(trigger["at_ps"].is_u64() && trigger["by"].is_string(), "{trigger}");
}

/// In Fig. 1 P_d is congested, and the ports that the victim passes are not, but for those that its
/// own traffic fills.
#[test]
fn the_root_is_congested_and_what_it_holds_is_undetermined() {
    let e = load("ofc-fig1");
    let run = run(&e, "pfc");
    let views = weir_results::blame::views::json(&e, &run);
    let state = |port: &str| {
        let ports = views["ports"].as_array().expect("a list");
        let found = ports.iter().find(|p| p["port"] == port);
        found.unwrap_or_else(|| panic!("{port}: {ports:?}"))["state"].clone()
    };
    assert_eq!(state("Sc:P_d"), "congested");
    assert_eq!(state("Sb:Sc"), "undetermined");
    assert!(!views["waits_for"]["port_to_port"].as_array().expect("a list").is_empty());
    let paused = views["paused"].as_array().expect("a list");
    assert!(paused.iter().any(|p| p["port"] == "Sb:Sc" && p["percent"].as_f64() > Some(1.0)));
}

#[test]
fn the_book_describes_every_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/blame.md");
    let page = fs::read_to_string(path).expect("the page");
    for (table, columns) in report::blame_columns() {
        let heading = format!("### `{table}.csv`");
        let section = page.split(&heading).nth(1).unwrap_or_else(|| panic!("{heading}"));
        let section = section.split("\n#").next().unwrap_or_default();
        let rows: Vec<String> =
            columns.iter().map(|h| format!("| `{}` | {} |", h.name, h.doc)).collect();
        let documented: Vec<&str> = section.lines().filter(|l| l.starts_with("| `")).collect();
        assert_eq!(documented, rows, "{table}");
    }
}
