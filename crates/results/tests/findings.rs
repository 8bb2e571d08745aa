//! What runs of the built-in scenarios are made into: tables, trees, summaries, pages.

use weir_results::compare::{self, Figures, View};
use weir_results::comparison::{Comparison, answer, notes};
use weir_results::lineup::{Lineup, Otherwise, Request};
use weir_results::report;
use weir_results::run::{Failed, Failure, Meter, run_all};
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_scenario::Variant;
use weir_scenario::builtin::{BUILT_IN, LARGE};
use weir_scenario::text::Colour;
use weir_sim::config::EngineConfig;
use weir_sim::outcome::Finish;

fn load(name: &str, sets: &[&str]) -> Experiment {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Experiment::load(name, &sets).unwrap_or_else(|p| panic!("{p}"))
}

fn compare<'a>(e: &'a Experiment, schemes: &[&str], seeds: &[u64]) -> Comparison<'a> {
    let mut variants: Vec<Variant> = Vec::new();
    for scheme in schemes {
        for &seed in seeds {
            variants.push(e.variant(Some(scheme), None, seed).expect("a known scheme"));
        }
    }
    let meter = Meter::new(variants.len());
    let runs = run_all(e, &variants, 2, &meter);
    let runs = runs.into_iter().map(|r| r.expect("not interrupted").expect("a valid run"));
    let c = Comparison::new(e, runs.collect());
    assert_eq!(meter.read().finished, variants.len());
    c
}

#[test]
fn built_in_scenarios_load_without_warnings() {
    for b in BUILT_IN.iter().chain(LARGE) {
        let request = Request::default();
        let rows = Lineup::load(b.name, &request, Otherwise::All).expect("it loads");
        let warnings = rows.warnings.plain(&rows.sources);
        assert!(rows.base.scenario.variants.is_empty() || warnings.is_empty(), "{warnings}");
        let e = load(b.name, &[]);
        assert!(e.warnings.is_empty(), "{}", e.warnings.plain(&e.scenario.sources));
        assert_eq!(e.scenario.name, b.name);
    }
}

#[test]
fn the_pause_tree_of_ofcs_figure_1_names_p_d_as_root_and_f0_as_victim() {
    let e = load("ofc-fig1", &[]);
    let c = compare(&e, &["pfc"], &[1]);
    let run = c.runs().next().expect("one run");
    let trees = run.pause_trees(&e);
    let tree = &trees[0];
    assert_eq!(tree.root.expect("a known cause").name(&e.topology), "P_d of Sc");
    // Sc pauses Sb, Sb pauses Sa, Sa pauses the hosts
    assert_eq!(tree.depth(), 3);
    let victims: Vec<&str> = tree.victims.iter().map(|v| c.class_name(v.class)).collect();
    assert_eq!(victims, ["victim"]);
    let held = tree.victims[0].held;
    // it cannot have been held longer than its path was: Sb's port towards Sc
    let sb = e.topology.node_by_name("Sb").expect("a switch of the chain");
    let port = run.outcome.ports.iter().filter(|p| p.node == sb);
    let longest = port.flat_map(|p| p.held_time).max().expect("eight priorities");
    assert!(held.as_ps() > 0 && held <= longest, "{held} {longest}");
}

#[test]
fn the_answer_names_the_victim_and_the_congested_port() {
    let e = load("ofc-fig1", &[]);
    let text = answer(&compare(&e, &["pfc", "ideal"], &[1]));
    let start = "PFC held the victim flow h0 to h8 for ";
    assert!(text.starts_with(start), "{text}");
    // F0 shares the link from Sa with F1, where pauses began too: its own path was not free
    let established = "142 us because of congestion at P_d of Sc, which is not on its path. ";
    assert!(text.contains(established), "{text}");
    let e = load("ring-deadlock", &[]);
    let text = answer(&compare(&e, &["pfc"], &[1]));
    assert!(
        text.contains("deadlocked") && text.contains("sw0 -> sw1 -> sw2 -> sw3 -> sw0"),
        "{text}"
    );
    let e = load("lossy", &[]);
    let text = answer(&compare(&e, &["pfc", "none"], &[1]));
    assert!(text.contains("lost") && text.contains("PFC lost nothing"), "{text}");
}

/// On a ring every link is congested: a flow may be held for a port that it does not use, but its
/// own path has roots of pauses, too, and its hold may be due to several of them.
#[test]
fn the_answer_says_no_more_than_was_established() {
    let e = load("ring-deadlock", &["flow-control.scheme=ofc"]);
    let c = compare(&e, &["pfc"], &[1]);
    let run = c.runs().next().expect("one run");
    let trees = run.pause_trees(&e);
    let roots = trees.iter().filter_map(|t| t.root).count();
    assert!(roots > 1, "{trees:?}");
    let victims: Vec<_> = trees.iter().flat_map(|t| &t.victims).collect();
    assert!(!victims.is_empty() && victims.iter().all(|v| !v.clear), "{victims:?}");
    assert!(victims.iter().any(|v| v.at_most()), "{victims:?}");
}

/// GFC's ring neither deadlocks nor drains before its end; PFC's deadlocks, that of `ideal` drains.
#[test]
fn a_headline_about_deadlocks_names_every_row() {
    let e = load("ring-deadlock", &[]);
    let text = answer(&compare(&e, &["pfc", "gfc", "ideal"], &[1]));
    assert!(text.starts_with("Under PFC the network deadlocked after "), "{text}");
    assert!(text.ends_with("ideal FC did not. GFC had not when the run ended."), "{text}");
}

/// One constant-rate source of two has to lose: both send as much as the link to h0 carries.
#[test]
fn a_source_that_lost_packets_for_good_is_unfinished() {
    let text = r#"
[topology]
kind = "star"
hosts = 4
[flow-control]
scheme = "none"
[switch]
buffer = "200KB"
[[traffic]]
kind = "constant"
from = ["h1", "h2"]
to = "h0"
rate = "90Gbps"
stop = "100us"
[[traffic]]
kind = "constant"
from = "h1"
to = "h3"
rate = "1Gbps"
stop = "100us"
[[traffic]]
kind = "long-lived"
from = "h3"
to = "h2"
stop = "100us"
"#;
    let e =
        Experiment::read("my.toml", text, Files::default(), &[]).unwrap_or_else(|p| panic!("{p}"));
    let c = compare(&e, &["none"], &[1]);
    let run = c.runs().next().expect("one run");
    assert_eq!(run.outcome.finish, Finish::Drained);
    assert!(run.outcome.totals.dropped > 0);
    // of the two sources to h0 the memory is shared, so both lose; the third source loses nothing,
    // and the long-lived flow, which repairs losses, has no end of its own
    assert_eq!(run.unfinished(), (2, 3));
    let notes = notes(&c, &c.groups[0]).join("; ");
    assert!(notes.contains("2 of 3 flows unfinished"), "{notes}");
}

/// Where nothing is paused and nothing lost, two schemes differ in nothing, and the sentence says
/// that seeds do not tell them apart. An incast that every seed repeats exactly tells two schemes
/// apart, and so do victims whose gain is larger than its interval (9.4 % and 3.3 %).
#[test]
fn a_headline_states_a_difference_only_if_seeds_tell_it() {
    let e = load("dumbbell", &["traffic.0.flows=30", "switch.thresholds.xoff=4MB"]);
    let text = answer(&compare(&e, &["pfc", "none"], &[1, 2, 3]));
    assert!(text.ends_with("; 3 seeds do not tell these apart."), "{text}");
    let e = load("incast", &[]);
    let text = answer(&compare(&e, &["pfc", "ideal"], &[1, 2, 3]));
    assert!(text.starts_with("Flows took ") && text.ends_with("under ideal FC."), "{text}");
    let e = load("dumbbell", &[]);
    let text = answer(&compare(&e, &["pfc", "ideal"], &[1, 2, 3]));
    assert!(text.contains(" Under ideal FC the class took "), "{text}");
}

#[test]
fn the_table_has_the_papers_rows_and_fits_narrow_terminals() {
    let e = load("ofc-fig1", &[]);
    let c = compare(&e, &["pfc", "ofc"], &[1]);
    let table = compare::table(&c, &Figures::new(&c), &View::default());
    let wide = table.render(250, Colour::Off);
    for part in
        ["vs PFC", "PFC paper", "1.96 ms", "OFC paper", "1.45 ms", "Table I", "queue P_d of Sc"]
    {
        assert!(wide.contains(part), "{part}: {wide}");
    }
    for width in [60, 80, 100, 120] {
        let text = table.render(width, Colour::Off);
        assert!(text.lines().all(|l| l.chars().count() <= width), "{text}");
        assert!(text.contains("victim"), "{text}");
    }
}

#[test]
fn several_seeds_give_intervals() {
    let e = load("dumbbell", &["traffic.0.flows=60"]);
    let c = compare(&e, &["pfc"], &[1, 2, 3]);
    let figures = Figures::new(&c);
    let (_, victim) = &figures.rows[0].classes[0];
    let fct = victim.fct_mean.expect("victims complete");
    assert!(fct.half_width > 0.0 && fct.half_width < fct.mean, "{fct:?}");
    assert_eq!(figures.hottest.len(), 3);
}

#[test]
fn equal_runs_give_equal_summaries_and_other_seeds_do_not() {
    let e = load("dumbbell", &["traffic.0.flows=60"]);
    let text = |seed| report::summary(&compare(&e, &["pfc"], &[seed])).to_string();
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = |threads| {
        let mut e = load("incast", &[]);
        e.engine = EngineConfig::Window { threads };
        compare(&e, &["pfc"], &[1]).groups.remove(0).runs.remove(0).outcome
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn every_scheme_sees_the_same_traffic() {
    let e = load("dumbbell", &["traffic.0.flows=60"]);
    let c = compare(&e, &["pfc", "none", "bfc"], &[7]);
    let hashes: Vec<u64> = c.runs().map(|r| r.outcome.traffic_hash).collect();
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:?}");
}

#[test]
fn an_interrupted_run_is_marked_and_has_no_digest() {
    let e = load("incast", &[]);
    let variant = e.variant(None, None, 1).expect("the scheme of the file");
    let meter = Meter::new(1);
    meter.interrupt();
    let run = weir_results::run::run(&e, variant, &meter, 0).expect("what there is");
    assert_eq!(run.outcome.finish, Finish::Interrupted);
    let summary = report::run_summary(&e, &run);
    assert!(summary["digest"].is_null());
    assert_eq!(summary["finish"]["how"], "interrupted");
    // those that have not begun are left out
    assert!(run_all(&e, &[variant], 1, &meter)[0].is_none());
}

#[test]
fn loss_with_too_little_headroom_is_no_valid_run_unless_allowed() {
    let small = "switch.thresholds.limit=90KB";
    let e = load("incast", &[small]);
    let c = compare(&e, &["pfc"], &[1]);
    let why = c.runs().next().expect("one run").invalid(&e).expect("packets were lost");
    assert!(why.contains("headroom-exceeded") && why.contains("sw0"), "{why}");
    let e = load("incast", &[small, "run.allow-loss=true"]);
    let c = compare(&e, &["pfc"], &[1]);
    assert_eq!(c.runs().next().expect("one run").invalid(&e), None);
    let e = load("lossy", &[]);
    let c = compare(&e, &["none"], &[1]);
    assert_eq!(c.runs().next().expect("one run").invalid(&e), None, "a lossy scheme may lose");
}

#[test]
fn flows_without_an_end_have_a_rate_in_place_of_a_completion_time() {
    let e = load("flowsail-fig8", &[]);
    let c = compare(&e, &["ideal", "bfc"], &[1]);
    let text = compare::table(&c, &Figures::new(&c), &View::default()).render(250, Colour::Off);
    let row = |name: &str| text.lines().find(|l| l.trim_start().starts_with(name)).expect("a row");
    assert!(row("scheme").contains("rate") && !text.contains("FCT"), "{text}");
    // f1 is cut to the 20 Gb/s that f2 leaves; the paper gives f2 and f3 only
    assert_eq!(row("ideal FC  ").matches("20.0 Gb/s").count(), 3, "{text}");
    assert_eq!(row("BFC paper").matches("10.0 Gb/s").count(), 2, "{text}");
    let other = load("ofc-fig1", &[]);
    let c = compare(&other, &["pfc"], &[1]);
    let text = compare::table(&c, &Figures::new(&c), &View::default()).render(250, Colour::Off);
    assert!(text.contains("FCT") && !text.contains("b/s"), "{text}");
}

#[test]
fn table_sizes_stand_beside_the_papers() {
    let e = load("ofc-fig1", &[]);
    let c = compare(&e, &["pfc", "ofc"], &[1]);
    let text = compare::state_table(&c)
        .expect("the scenario has published sizes")
        .render(200, Colour::Off);
    for (table, paper) in [("flow_in", "426 B"), ("congested", "142 B"), ("pause", "276 B")] {
        let row = text.lines().find(|l| l.contains(table)).expect("a row");
        assert!(row.contains("OFC") && row.contains(paper) && row.contains("Table II"), "{text}");
    }
    assert!(!text.contains("PFC"), "published for OFC only: {text}");
    // at most F1 to F7 at Sc, 24 B each, and the mean is below the largest
    let tables = weir_results::findings::TableSummary::of(c.groups[1].outcomes());
    assert_eq!((tables[0].name, tables[0].max), ("flow_in_port_tab", 7 * 24));
    assert_eq!(tables[0].at_load_factor().get(), 240, "168 B / 0.7");
    assert!(text.contains("240 B (?)"), "a conjecture: {text}");
    assert!(tables.iter().all(|t| t.mean > 0.0 && t.mean < t.max as f64), "{tables:?}");
    let e = load("incast", &[]);
    assert_eq!(compare::state_table(&compare(&e, &["ofc"], &[1])), None);
}

#[test]
fn a_page_stands_alone() {
    for b in BUILT_IN {
        let e = load(b.name, &[]);
        let c = compare(&e, &["pfc", "none"], &e.scenario.run.seeds[..1]);
        let page = report::page(&c, "weir compare <b>");
        // nothing is fetched: the only addresses are names of XML languages
        for address in page.split("http").skip(1) {
            assert!(address.starts_with("://www.w3.org/2000/svg"), "{}", &address[..60]);
        }
        assert!(!page.contains("src=") && !page.contains("@import"), "{}", b.name);
        assert!(page.contains("weir compare &lt;b&gt;"));
        for id in ["fct", "queue", "fabric", "results", "scenario"] {
            let wanted = format!("id=\"{id}\"");
            // not all take samples over time, and flows without an end have no completion times
            let endless = b.name.starts_with("flowsail") || b.name == "training";
            let optional = id == "queue" || (id == "fct" && endless);
            assert!(page.contains(&wanted) || optional, "{} lacks {id}", b.name);
        }
        for tag in ["figure", "section", "table", "details", "svg", "ul", "li"] {
            let open = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{} <{tag}>", b.name);
        }
    }
}

/// Runs without an outcome are part of the table, the summary and the page.
#[test]
fn a_run_without_an_outcome_is_a_row_with_its_reason() {
    let e = load("incast", &[]);
    let c = compare(&e, &["pfc"], &[1]);
    let failed = |scheme, seed, why| {
        let variant = e.variant(Some(scheme), None, seed).expect("a known scheme");
        Failed { label: variant.scheme.title.into(), variant, why }
    };
    let refusal = || Failure::BadInput("no room".into());
    let c = c.with_failed(vec![
        failed("pfc", 2, refusal()),
        failed("pfc", 3, refusal()),
        failed("gfc", 1, Failure::NotBegun),
    ]);
    for width in [60, 250] {
        let layout = weir_results::listing::Layout { width, colour: Colour::Off };
        let text = compare::text(&c, &Figures::new(&c), &View::default(), layout);
        for part in ["2 seeds cannot be run: no room", "not run: interrupted", "1 of 4 runs are"] {
            assert!(text.contains(part), "{width}, {part}: {text}");
        }
    }
    let summary = report::summary(&c);
    assert_eq!(summary["partial"], true);
    assert_eq!(summary["failed"][2]["scheme"], "gfc");
    assert!(report::page(&c, "weir").contains("INTERRUPTED: 1 of 4 runs are complete"));
}
