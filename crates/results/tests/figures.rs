//! The figures of shipped scenarios: what is in them, and that they can be read.

use weir_fc::SCHEMES;
use weir_plot::{Across, Figure, Panel, Shape, Style, draw};
use weir_results::comparison::Comparison;
use weir_results::lineup::{Lineup, Otherwise, Request};
use weir_results::report::figures::{self, FIGURES, Format, Size};
use weir_results::run::{Meter, run_all, run_each};
use weir_scenario::Experiment;
use weir_scenario::Variant;
use weir_sim::config::ThresholdConfig;

fn load(name: &str, sets: &[&str]) -> Experiment {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Experiment::load(name, &sets).unwrap_or_else(|p| panic!("{p}"))
}

fn compare<'a>(e: &'a Experiment, schemes: &[&str], seeds: &[u64]) -> Comparison<'a> {
    let variants: Vec<Variant> = schemes
        .iter()
        .flat_map(|s| seeds.iter().map(|&seed| e.variant(Some(s), None, seed).expect("a scheme")))
        .collect();
    let runs = run_all(e, &variants, 2, &Meter::new(variants.len()));
    let runs = runs.into_iter().map(|r| r.expect("not interrupted").expect("a valid run"));
    Comparison::new(e, runs.collect())
}

fn all_schemes() -> Vec<&'static str> {
    SCHEMES.iter().map(|s| s.name).collect()
}

/// Every text of a figure covers no other and is within the drawing, at every size.
fn assert_legible(c: &Comparison<'_>, ids: &[&str]) {
    let all = figures::all(c);
    for id in ids {
        assert!(all.iter().any(|f| f.id == *id), "{id} is missing");
    }
    for figure in &all {
        let pattern = |name: &str| match name.strip_suffix("ROW") {
            Some(start) => figure.id.starts_with(start),
            None => figure.id == name,
        };
        assert!(FIGURES.iter().any(|(name, _)| pattern(name)), "{} is not listed", figure.id);
        for size in [draw::Size::PAGE, draw::Size::COLUMN, draw::Size::WIDE] {
            let clashes = draw::scene(figure, &size).clashes();
            assert!(clashes.is_empty(), "{} at {}: {clashes:?}", figure.id, size.width);
        }
    }
}

#[test]
fn figures_of_two_five_and_all_schemes_are_legible() {
    let e = load("ofc-fig1", &[]);
    let ids = ["fct", "fct-cdf", "queue", "ingress", "queues-tor", "buffers", "timeline-pfc"];
    assert_legible(&compare(&e, &["pfc", "none"], &[1]), &ids);
    assert_legible(&compare(&e, &["pfc", "gfc", "ofc", "bfc", "none"], &[1]), &ids);
    assert_legible(&compare(&e, &all_schemes(), &[1]), &ids);
}

/// Variants of one scheme keep its colour and differ in dash and marker; long labels do not clash.
#[test]
fn figures_of_eleven_variants_are_legible() {
    let variants: Vec<String> = (1..=8)
        .map(|n| format!("BFC with {n} queues, of eight variants: bfc, queues={n}"))
        .chain(["pfc", "DCQCN over PFC: pfc, cc=dcqcn", "ofc"].map(str::to_owned))
        .collect();
    let request = Request { variants: &variants, ..Request::default() };
    let lineup = Lineup::load("incast", &request, Otherwise::All).expect("it loads");
    let jobs: Vec<_> = lineup.settings.iter().map(|s| (&*s.experiment, s.with_seed(1))).collect();
    let runs = run_each(&jobs, 2, &Meter::new(jobs.len())).into_iter().flatten();
    let runs = runs.map(|r| r.expect("a run")).enumerate().collect();
    let c = Comparison::of(&lineup, runs);
    assert_legible(&c, &["fct", "buffers", "timeline-pfc"]);
    let figure = figures::one(&c, "buffers").expect("it is there");
    let styles: Vec<Style> = figure.panels[0].series.iter().map(|s| s.style).collect();
    assert_eq!(styles.len(), 11);
    assert!(styles[..8].iter().all(|s| s.paint == styles[0].paint));
    for (i, a) in styles.iter().enumerate() {
        assert!(!styles[..i].contains(a), "{i}");
    }
}

#[test]
fn figures_of_several_seeds_have_intervals() {
    let e = load("dumbbell", &["traffic.0.flows=80"]);
    let c = compare(&e, &["pfc", "bfc", "none"], &[1, 2, 3]);
    assert_legible(&c, &["fct", "slowdown-by-size", "fct-cdf"]);
    let uncertain = |f: &Figure| {
        let series = f.panels.iter().flat_map(|p| &p.series);
        series.into_iter().all(|s| match &s.shape {
            Shape::Line(points) => points.iter().any(|p| p.error > 0.0),
            Shape::Bars(bars) => bars.iter().flatten().any(|b| b.error > 0.0),
            _ => false,
        })
    };
    for id in ["fct", "slowdown-by-size"] {
        assert!(uncertain(&figures::one(&c, id).expect("it is there")), "{id}");
    }
    let one = compare(&e, &["pfc"], &[1]);
    assert!(!uncertain(&figures::one(&one, "fct").expect("it is there")));
}

#[test]
fn figures_of_deadlocks_and_endless_flows_are_legible() {
    let ring = load("ring-deadlock", &[]);
    let c = compare(&ring, &["pfc", "none"], &[1]);
    assert_legible(&c, &["queue", "timeline-pfc"]);
    let page = weir_results::report::page(&c, "weir");
    let (_, circle) = page.split_once("<figure id=\"deadlock-pfc\">").expect("the circle is drawn");
    let drawn = circle.split("</figure>").next().unwrap_or_default();
    assert_eq!(drawn.matches("class=\"lc\"").count(), 4, "sw0 to sw1 to sw2 to sw3 to sw0");
    let endless = load("flowsail-fig8", &[]);
    assert_legible(&compare(&endless, &["pfc", "flowsail"], &[1]), &["rate"]);
}

/// Where panels are strips, one per scheme.
fn strip<'f>(figure: &'f Figure, scheme: &str) -> &'f Panel {
    figure.panels.iter().find(|p| p.title.starts_with(scheme)).expect("a strip per scheme")
}

#[test]
fn thresholds_are_drawn_for_schemes_that_pause_at_them_only() {
    let e = load("ofc-fig1", &[]);
    let c = compare(&e, &["pfc", "gfc", "ofc", "bfc", "none"], &[1]);
    let figure = figures::one(&c, "ingress").expect("samples are taken");
    // GFC stops at xoff in the mode of this scenario, and slows down instead in its own
    for (scheme, rules) in [("PFC", 2), ("GFC", 2), ("OFC", 2), ("none", 0)] {
        assert_eq!(strip(&figure, scheme).rules.len(), rules, "{scheme}");
    }
    let own = load("ofc-fig1", &["flow-control.gfc.mode=paper"]);
    let other = figures::one(&compare(&own, &["pfc", "gfc"], &[1]), "ingress");
    assert_eq!(strip(&other.expect("samples are taken"), "GFC").rules, []);
    // `none` holds many times as much as the others: they keep their scale, and it says so
    assert_eq!(strip(&figure, "none").title, "none (lossy), other scale");
    assert!(strip(&figure, "none").up.high > 4.0 * strip(&figure, "PFC").up.high);
    assert_eq!(strip(&figure, "PFC").up.high, strip(&figure, "BFC").up.high);
    let xoff = 75e3;
    assert!(strip(&figure, "PFC").up.high < 3.0 * xoff);
}

#[test]
fn thresholds_that_follow_the_speed_of_ports_are_drawn() {
    // 75 KB at 40 Gb/s, and as much in proportion at 10 Gb/s
    let sets = ["topology.rate=10Gbps", "switch.thresholds=auto"];
    let e = load("incast", &sets);
    let c = compare(&e, &["pfc"], &[1]);
    let run = c.runs().next().expect("a run");
    assert!(matches!(run.config.switch.thresholds, ThresholdConfig::PerSpeed { .. }));
    let figure = figures::one(&c, "ingress").expect("samples are taken");
    let at: Vec<f64> = figure.panels[0].rules.iter().map(|r| r.at).collect();
    assert_eq!(at, [18_750.0, 11_250.0]);
}

#[test]
fn time_axes_end_where_something_happens() {
    // the burst is over after 0.25 ms; two long flows go on for 1.6 ms more
    let e = load("ofc-fig1", &[]);
    let c = compare(&e, &["pfc", "gfc"], &[1]);
    assert!(c.runs().all(|r| r.outcome.end.as_ps() > 1_500_000_000));
    for id in ["queue", "ingress"] {
        let figure = figures::one(&c, id).expect("samples are taken");
        let Across::Values(axis) = &figure.panels[0].across else { panic!("{id} is over time") };
        assert!(axis.high < 3e8, "{id} ends at {} ps", axis.high);
    }
}

#[test]
fn a_scheme_looks_the_same_in_every_comparison() {
    let e = load("incast", &[]);
    let style = |schemes: &[&str], name: &str| -> Style {
        let figure = figures::one(&compare(&e, schemes, &[1]), "buffers").expect("it is there");
        let series = &figure.panels[0].series;
        series.iter().find(|s| s.name == name).expect("a line per scheme").style
    };
    assert_eq!(style(&["pfc", "bfc"], "BFC"), style(&["bfc", "none"], "BFC"));
    assert_ne!(style(&["pfc", "bfc"], "BFC"), style(&["pfc", "bfc"], "PFC"));
}

#[test]
fn unknown_and_impossible_figures_are_refused_before_a_run() {
    let rows = |name, variants: &[&str]| {
        let variants: Vec<String> = variants.iter().map(|v| (*v).to_owned()).collect();
        let request = Request { variants: &variants, ..Request::default() };
        Lineup::load(name, &request, Otherwise::All).unwrap_or_else(|p| panic!("{p}"))
    };
    let sampled = rows("ofc-fig1", &[]);
    for name in ["fct", "queue", "timeline-ofc", "queues-core"] {
        assert_eq!(figures::check(name, &sampled), Ok(()));
    }
    let variants = ["BFC-8Q: bfc, queues=8", "BFC, 32 queues: bfc, queues=32", "ofc"];
    let named = rows("dumbbell", &variants);
    for name in ["timeline-bfc-8q", "timeline-bfc-32-queues", "timeline-ofc"] {
        assert_eq!(figures::check(name, &named), Ok(()));
    }
    let why = figures::check("timeline-bfc", &named).expect_err("no row is called so");
    assert!(why.contains("did you mean `timeline-"), "{why}");
    let dumbbell = rows("dumbbell", &[]);
    let why = figures::check("slowdown-by-sise", &dumbbell).expect_err("misspelt");
    assert!(why.contains("did you mean `slowdown-by-size`?"), "{why}");
    let why = figures::check("timeline-pcf", &dumbbell).expect_err("misspelt");
    assert!(why.contains("timeline-pfc"), "{why}");
    let why = figures::check("queue", &dumbbell).expect_err("no samples");
    assert!(why.contains("--set probe.series="), "{why}");
    let plain = load("dumbbell", &[]);
    let c = compare(&plain, &["none"], &[1]);
    let why = figures::one(&c, "timeline-pfc").expect_err("it was not run");
    assert!(why.contains("timeline-pfc") && why.contains("slowdown-by-size"), "{why}");
}

#[test]
fn every_format_and_size_is_written() {
    let e = load("incast", &[]);
    let figure = figures::one(&compare(&e, &["pfc", "none"], &[1]), "fct").expect("it is there");
    for size in [Size::Column, Size::Wide, Size::Page] {
        for format in Format::ALL {
            let bytes = format.bytes(&figure, size);
            let start: &[u8] = match format {
                Format::Svg => b"<svg ",
                Format::Pdf => b"%PDF-",
                Format::Png => b"\x89PNG",
                Format::Csv => b"panel,series,name,mean_fct_ps",
            };
            assert!(bytes.starts_with(start), "{format:?} {size:?}");
        }
    }
}

#[test]
fn the_book_lists_every_figure() {
    let book =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/figures.md"));
    let book = book.expect("the page is there");
    for (name, _) in FIGURES {
        assert!(book.contains(&format!("\n| `{name}` |")), "{name}");
    }
}
