//! Figures of made-up numbers.

use super::*;
use crate::claim::{Expected, Operand, Pick, Possible, Rule as Says};
use crate::metric_words::OWN_WORDS;
use weir_results::metrics::Family;

struct Fixed(Vec<(&'static str, Vec<Cell>)>);

impl Numbers for Fixed {
    fn subjects(&self) -> Vec<Subject> {
        let one = |(label, scheme, cc): (&str, &str, &str)| Subject {
            label: label.into(),
            scheme: scheme.into(),
            cc: cc.into(),
        };
        [("PFC", "pfc", "none"), ("OFC", "ofc", "none")].map(one).to_vec()
    }

    fn parameters(&self) -> Vec<String> {
        vec!["load".into()]
    }

    fn select(&self, s: &Selector) -> Vec<Cell> {
        let fits = |c: &&Cell| s.at.iter().all(|(_, v)| *v == c.values[0]);
        let all = self.0.iter().find(|(m, _)| *m == s.metric);
        all.map_or_else(Vec::new, |(_, cells)| cells.iter().filter(fits).cloned().collect())
    }
}

fn cell(variant: &str, load: &str, values: &[f64]) -> Cell {
    let seeds = values.iter().enumerate().map(|(i, x)| (i as u64, *x)).collect();
    Cell { variant: variant.into(), values: vec![load.into()], seeds, missing: Vec::new() }
}

fn spec(kind: FigureKind, metric: &str) -> FigureSpec {
    let select = Selector { metric: metric.into(), ..Selector::default() };
    FigureSpec {
        id: "f".into(),
        title: "t".into(),
        caption: String::new(),
        kind,
        panels: vec![PanelSpec { title: String::new(), select }],
        panels_by: None,
        across: None,
        by: None,
        variants: Vec::new(),
        relative_to: None,
        log: false,
        from_zero: false,
        label: None,
        rules: Vec::new(),
    }
}

fn two_loads() -> Fixed {
    let cells = vec![
        cell("PFC", "60%", &[2e9, 4e9]),
        cell("PFC", "40%", &[1e9, 3e9]),
        cell("OFC", "40%", &[1e9, 1e9]),
        cell("OFC", "60%", &[1e9, 2e9]),
    ];
    Fixed(vec![("fct_mean_ps", cells)])
}

#[test]
fn lines_are_in_order_of_the_parameter_with_intervals_over_seeds() {
    let spec = FigureSpec { across: Some("load".into()), ..spec(FigureKind::Lines, "fct_mean_ps") };
    let cells = vec![cell("PFC", "60%", &[2e9, 4e9, 3e9]), cell("PFC", "40%", &[1e9, 3e9, 2e9])];
    let figure = draw("A-1", &spec, &Fixed(vec![("fct_mean_ps", cells)]), &[], "quick");
    let panel = &figure.panels[0];
    let Shape::Line(points) = &panel.series[0].shape else { panic!("a line") };
    assert_eq!(points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>(), [(0.4, 2e9), (0.6, 3e9)]);
    // deviation 1e9, t(2) = 4.3027, n = 3
    assert!((points[0].error - 2.484e9).abs() < 1e6, "{points:?}");
    assert_eq!(figure.id, "a-1-f");
    // the axis ends below 3e9 + 2.5e9
    let caption = "Means with 95 % confidence intervals over seeds. An arrowhead at the end of an \
        interval: it goes on beyond the axis. quick";
    assert_eq!(figure.caption, caption);
    assert_eq!(panel.up.title(), "mean completion time (ms)");
}

/// Each seed is divided by the same seed of the other variant.
#[test]
fn values_relative_to_a_variant_are_paired_by_seed() {
    let spec = FigureSpec {
        across: Some("load".into()),
        relative_to: Some("PFC".into()),
        ..spec(FigureKind::Lines, "fct_mean_ps")
    };
    let figure = draw("A-1", &spec, &two_loads(), &[], "");
    let Shape::Line(ofc) = &figure.panels[0].series[1].shape else { panic!("a line") };
    // 40 %: 1/1 and 1/3; 60 %: 1/2 and 2/4
    assert!((ofc[0].y - 2.0 / 3.0).abs() < 1e-12 && ofc[1].y == 0.5 && ofc[1].error == 0.0);
    assert_eq!(figure.panels[0].up.unit, Unit::Number);
}

#[test]
fn bars_of_variants_lie_in_rows_and_a_panel_per_value_is_drawn() {
    let spec =
        FigureSpec { panels_by: Some("load".into()), ..spec(FigureKind::Bars, "fct_mean_ps") };
    let figure = draw("A-1", &spec, &two_loads(), &[], "");
    let titles: Vec<&str> = figure.panels.iter().map(|p| p.title.as_str()).collect();
    assert_eq!(titles, ["load 60%", "load 40%"]);
    assert!(matches!(&figure.panels[0].across, Across::Rows { names } if names.len() == 2));
    assert_eq!(figure.panels[0].up.high, figure.panels[1].up.high);
}

/// t(2) = 4.3 makes the interval of three seeds longer than they differ.
#[test]
fn long_intervals_do_not_flatten_the_values() {
    let cells = vec![cell("PFC", "1", &[2.0, 4.0, 3.0]), cell("OFC", "1", &[2.0, 2.0, 2.0])];
    let spec = spec(FigureKind::Bars, "slowdown_mean");
    let figure = draw("A-1", &spec, &Fixed(vec![("slowdown_mean", cells)]), &[], "");
    let up = &figure.panels[0].up;
    assert!(up.high > 3.0 && up.high < 5.0, "{up:?}");
}

#[test]
fn a_variant_without_a_number_says_so() {
    let cells = vec![cell("PFC", "1", &[5.0]), cell("OFC", "1", &[])];
    let spec = spec(FigureKind::Bars, "fct_mean_ps");
    let figure = draw("A-1", &spec, &Fixed(vec![("fct_mean_ps", cells)]), &[], "");
    let Shape::Bars(bars) = &figure.panels[0].series[0].shape else { panic!("bars") };
    assert_eq!(bars[1].as_ref().map(|b| b.note.as_str()), Some("no value"));
}

#[test]
fn congestion_controls_and_further_variants_have_colours_of_their_own() {
    let subject = |label: &str, scheme: &str, cc: &str| Subject {
        label: label.into(),
        scheme: scheme.into(),
        cc: cc.into(),
    };
    let all = [
        subject("DCQCN", "pfc", "dcqcn"),
        subject("HPCC", "pfc", "hpcc"),
        subject("TIMELY", "pfc", "timely"),
        subject("DCTCP", "pfc", "dctcp"),
        subject("PFC", "pfc", "none"),
        subject("BFC-8Q", "bfc", "none"),
        subject("BFC-32Q", "bfc", "none"),
        subject("FlowSail", "flowsail", "none"),
    ];
    let looks = looks(&all);
    for i in 0..all.len() {
        for j in 0..i {
            assert_ne!(looks[i].paint, looks[j].paint, "{} {}", all[i].label, all[j].label);
        }
    }
    assert_ne!(looks[5].dash, looks[6].dash);
}

fn words(metric: &str, ports: &str, table: &str) -> String {
    let (ports, table) = (ports.into(), table.into());
    words_of(&Selector { metric: metric.into(), ports, table, ..Selector::default() })
}

/// The mean over all ports is not that of the port with the longest queue.
#[test]
fn a_metric_is_named_after_the_table_that_it_is_taken_from() {
    let longest = "mean queue at the switch port with the longest queue";
    assert_eq!(words("queue_mean_bytes", "", ""), longest);
    assert_eq!(words("queue_mean_bytes", "*", ""), "mean queue of the ports");
    assert_eq!(words("queue_max_bytes", "", ""), "longest queue of any switch port");
    assert_eq!(words("queue_max_bytes", "core", ""), "longest queue of the ports");
    assert_eq!(words("max_bytes", "", "flows"), "largest size of the table in a switch");
    assert_eq!(words("fct_p999_ps", "", ""), "99.9th percentile of the completion time");
    assert_eq!(words("slowdown_p25", "", ""), "25th percentile of the slowdown");
    assert_eq!(words("fct_p50_ps", "", ""), "median completion time");
    assert_eq!(words("deadlock", "", ""), "runs that deadlock");
    assert_eq!(words("share_below", "", ""), "share below");
}

/// An axis stands alone: its words cannot refer to those of another one.
#[test]
fn no_words_refer_to_another_metric() {
    let of =
        |family: Family, ports, table| family.figures().iter().map(move |h| (h.name, ports, table));
    let (runs, ports) = (of(Family::Runs, "", ""), of(Family::Ports, "*", ""));
    let state = of(Family::State, "", "flows");
    for (metric, ports, table) in runs.chain(ports).chain(state) {
        let words = words(metric, ports, table);
        let refers = |w: &str| matches!(w, "this" | "these" | "those" | "same" | "its");
        assert!(!words.split(' ').any(refers), "{metric}: {words}");
    }
    for (family, name, _) in OWN_WORDS {
        assert!(family.position(name).is_some(), "there is no metric {name}");
    }
}

/// A value stands where it was published, a factor where it leads from the other variant here.
#[test]
fn published_values_are_drawn_beside_the_measured_ones() {
    let select = |load: &str| Selector {
        metric: "fct_mean_ps".into(),
        at: vec![("load".into(), load.into())],
        ..Selector::default()
    };
    let operand = |variant: &str, load: &str| Operand::new("A-1", variant.into(), select(load));
    let claim = |rule: Says, of: Operand, against: Vec<Operand>| Claim {
        id: "c".into(),
        experiment: "A-1".into(),
        place: "Table I".into(),
        says: "so".into(),
        rule,
        margin: 0.1,
        of: vec![of],
        against,
        over: Vec::new(),
        pick: Pick::Each,
        reading: String::new(),
        calibrated: false,
        primary: true,
        steady: false,
        possible: Possible::default(),
        discussion: String::new(),
    };
    let value = claim(Says::Value(Expected::One(5e9)), operand("PFC", "60%"), Vec::new());
    let half = Says::Reduction(Expected::One(0.5));
    let factor = claim(half, operand("OFC", "40%"), vec![operand("PFC", "40%")]);
    let stated = [&value, &factor];
    let lines =
        FigureSpec { across: Some("load".into()), ..spec(FigureKind::Lines, "fct_mean_ps") };
    let figure = draw("A-1", &lines, &two_loads(), &stated, "");
    let marks = |i: usize| match &figure.panels[0].series[i].shape {
        Shape::Marks(marks) => (marks[0].at, marks[0].value),
        other => panic!("{other:?}"),
    };
    assert_eq!((marks(2), marks(3)), ((0.6, 5e9), (0.4, 1e9)));
    assert!(figure.panels[0].up.high > 5e9, "the axis holds it");
    let other = FigureSpec { across: Some("load".into()), ..spec(FigureKind::Lines, "fct_p50_ps") };
    let numbers = Fixed(vec![("fct_p50_ps", vec![cell("PFC", "60%", &[1e9])])]);
    assert_eq!(draw("A-1", &other, &numbers, &stated, "").panels[0].series.len(), 1);
}

/// Two seeds have an interval twelve times as long as their difference: both are shown instead.
#[test]
fn of_two_seeds_both_are_shown_and_no_interval() {
    let lines =
        FigureSpec { across: Some("load".into()), ..spec(FigureKind::Lines, "fct_mean_ps") };
    let figure = draw("A-1", &lines, &two_loads(), &[], "");
    let Shape::Line(points) = &figure.panels[0].series[0].shape else { panic!("a line") };
    assert_eq!((points[0].y, points[0].error), (2e9, 1e9));
    assert!(figure.caption.contains("no interval"), "{}", figure.caption);
}
