use super::marks::{self, thin};
use super::*;
use crate::axis::Axis;
use crate::figure::{Bar, BoxPlot, Link, Mark, Point, Rule};
use crate::scene::Step;
use crate::style::Paint;
use weir_core::Unit;

const SIZES: [Size; 3] = [Size::PAGE, Size::COLUMN, Size::WIDE];
const SCHEMES: [&str; 11] = [
    "PFC",
    "CaPFC",
    "P-PFC",
    "GFC",
    "G-PFC",
    "OFC",
    "none (lossy)",
    "BFC",
    "ideal FC",
    "FlowSail",
    "FFC/DVL",
];

fn lines(n: usize) -> Figure {
    let series = SCHEMES[..n].iter().enumerate().map(|(i, name)| Series {
        name: (*name).into(),
        style: Style::new(i, 0),
        shape: Shape::Line(
            (0..5)
                .map(|k| {
                    let (x, y) = (f64::from(k) * 0.1 + 0.4, 1.0 + (i * (k as usize + 1)) as f64);
                    Point { x, y, error: 0.3 }
                })
                .collect(),
        ),
    });
    Figure {
        id: "lines".into(),
        title: "Lines".into(),
        caption: String::new(),
        panels: vec![Panel {
            title: String::new(),
            across: Across::Values(Axis::between("load", Unit::Share, 0.4, 0.8)),
            up: Axis::log("slowdown", Unit::Number, 1.0, 60.0),
            series: series.collect(),
            rules: vec![Rule { at: 1.0, label: "alone in the network".into() }],
        }],
        layout: Layout::Grid,
    }
}

fn bars(n: usize, rows: bool) -> Figure {
    let names: Vec<String> = SCHEMES[..n].iter().map(|s| (*s).to_owned()).collect();
    let values = (0..n).map(|i| {
        Some(Bar {
            value: Some((i + 1) as f64 * 2e8),
            error: 2e7,
            whisker: Some((i + 2) as f64 * 2e8),
            style: Some(Style::new(i, 0)),
            note: if i == 2 { "(3 of 80 unfinished)".into() } else { String::new() },
        })
    });
    let series = vec![Series {
        name: String::new(),
        style: Style::new(0, 0),
        shape: Shape::Bars(values.collect()),
    }];
    let across = match rows {
        true => Across::Rows { names },
        false => Across::Names { label: "scheme".into(), names },
    };
    let up = Axis::linear("mean FCT", Unit::Time, 2e9);
    let panel = |title: &str| Panel {
        title: title.into(),
        across: across.clone(),
        up: up.clone(),
        series: series.clone(),
        rules: Vec::new(),
    };
    Figure {
        id: "bars".into(),
        title: "Bars".into(),
        caption: String::new(),
        panels: vec![panel("victim"), panel("congested flows with a long name")],
        layout: Layout::Grid,
    }
}

fn boxes() -> Figure {
    let five = |k: f64| BoxPlot {
        low: k,
        lower: 2.0 * k,
        middle: 3.0 * k,
        upper: 4.0 * k,
        high: 9.0 * k,
        style: None,
    };
    let series = SCHEMES[..6].iter().enumerate().map(|(i, name)| Series {
        name: (*name).into(),
        style: Style::new(i, 0),
        shape: Shape::Boxes((1..4).map(|k| Some(five(f64::from(k) * 1e7))).collect()),
    });
    let names = ["all", "uncongested", "congested"].map(str::to_owned).to_vec();
    Figure {
        id: "boxes".into(),
        title: "Boxes".into(),
        caption: String::new(),
        panels: vec![Panel {
            title: String::new(),
            across: Across::Names { label: String::new(), names },
            up: Axis::linear("FCT", Unit::Time, 27e7),
            series: series.collect(),
            rules: Vec::new(),
        }],
        layout: Layout::Grid,
    }
}

/// Strips over time; the last one reaches far beyond the others.
fn strips(n: usize) -> Figure {
    let panel = |i: usize| {
        let most = if i + 1 == n { 4.1e6 } else { 84e3 };
        let at = |k: u32| Point { x: f64::from(k) * 1e7, y: f64::from(k % 7) * 1e4, error: 0.0 };
        Panel {
            title: SCHEMES[i].into(),
            across: Across::Values(Axis::linear("time", Unit::Time, 1e9)),
            up: Axis::linear("queue", Unit::Bytes, most),
            series: vec![Series {
                name: SCHEMES[i].into(),
                style: Style::new(i, 0),
                shape: Shape::Line((0..100).map(at).collect()),
            }],
            rules: vec![
                Rule { at: 75e3, label: "xoff 75KB: pause".into() },
                Rule { at: 45e3, label: "xon 45KB: resume".into() },
            ],
        }
    };
    Figure { panels: (0..n).map(panel).collect(), layout: Layout::Strips, ..lines(2) }
}

/// Two kinds of stretches in rows.
fn spans(rows: usize) -> Figure {
    let row = |i: usize| (0..30).map(move |k| (k as f64 * 1e7, (k * 10 + i % 9 + 1) as f64 * 1e6));
    let series = |name: &str, style: Style| Series {
        name: name.into(),
        style,
        shape: Shape::Spans((0..rows).map(|i| row(i).collect()).collect()),
    };
    let panel = Panel {
        title: String::new(),
        across: Across::Rows { names: (0..rows).map(|i| format!("sw{i} pauses h{i}")).collect() },
        up: Axis::linear("time", Unit::Time, 3e8),
        series: vec![series("passed on", Style::new(0, 0)), series("root", Style::ALARM)],
        rules: Vec::new(),
    };
    Figure { panels: vec![panel], ..lines(2) }
}

fn texts(figure: &Figure, size: &Size) -> Vec<String> {
    let text = |i: &Item| match i {
        Item::Text { text, .. } => Some(text.clone()),
        Item::Path { .. } => None,
    };
    scene(figure, size).items.iter().filter_map(text).collect()
}

#[test]
fn strips_share_their_axis_and_another_scale_has_its_unit() {
    let all = texts(&strips(4), &Size::PAGE);
    assert_eq!(all.iter().filter(|t| *t == "time (ms)").count(), 1);
    assert_eq!(all.iter().filter(|t| *t == "queue (KB)").count(), 1);
    assert!(all.iter().any(|t| t == "2 MB"), "{all:?}");
    let named = all.iter().filter(|t| *t == "CaPFC").count();
    assert_eq!(named, 1, "the title of the strip, and no legend");
}

#[test]
fn long_lines_have_a_few_markers_unless_they_are_alone() {
    let paths = |f: &Figure| {
        let filled = |i: &&Item| matches!(i, Item::Path { fill: Some(_), .. });
        scene(f, &Size::PAGE).items.iter().filter(filled).count()
    };
    let mut many = strips(1);
    many.panels[0].rules.clear();
    assert_eq!(paths(&many), 0);
    let second = Series { style: Style::new(1, 0), ..many.panels[0].series[0].clone() };
    many.panels[0].series.push(second);
    // at most eight each, besides two in the legend
    assert!((2 + 2..=2 * 8 + 2).contains(&paths(&many)), "{}", paths(&many));
}

#[test]
fn spans_stand_in_their_rows_and_in_the_data() {
    let figure = spans(3);
    assert!(texts(&figure, &Size::PAGE).iter().any(|t| t == "root"));
    let csv = figure.csv();
    let mut all = csv.lines();
    assert_eq!(all.next(), Some("panel,series,name,time_ps_from,time_ps_to,note"));
    assert_eq!(all.next(), Some(",passed on,sw0 pauses h0,0,1000000,"));
    let table = figure.table(10);
    assert_eq!(table.header, ["series", "name", "from", "to"], "empty columns are left out");
    assert_eq!(table.rows.len(), 2 * 10);
    // every ninth of 90: the second is the tenth of the first row
    assert_eq!(table.rows[1][3], "91.0 us");
}

#[test]
fn error_bars_at_one_place_stand_beside_each_other() {
    let middle = |f: &Figure, i: usize| {
        let paint = f.panels[0].series[i].style.paint;
        let drawn = scene(f, &Size::PAGE);
        let upright = drawn.items.iter().find_map(|item| match item {
            Item::Path { steps, stroke: Some(s), .. } if s.paint == paint && steps.len() == 2 => {
                match (steps[0], steps[1]) {
                    (Step::Move(a, _), Step::Line(b, _)) if a == b => Some(a),
                    _ => None,
                }
            }
            _ => None,
        });
        upright.expect("an error bar")
    };
    let figure = lines(5);
    let places: Vec<f64> = (0..5).map(|i| middle(&figure, i)).collect();
    assert!(places.windows(2).all(|p| p[1] - p[0] > 1.0), "{places:?}");
}

/// Slopes of the short strokes in a colour: caps are level, arrowheads are not.
fn slanted(figure: &Figure, paint: Paint) -> usize {
    let drawn = scene(figure, &Size::PAGE);
    let slants = drawn.items.iter().filter(|item| match item {
        Item::Path { steps, stroke: Some(s), .. } if s.paint == paint && steps.len() == 2 => {
            matches!((steps[0], steps[1]), (Step::Move(a, b), Step::Line(c, d)) if a != c && b != d)
        }
        _ => false,
    });
    slants.count()
}

/// An interval that the axis cuts off ends in an arrowhead of two strokes.
#[test]
fn error_bars_that_the_axis_cuts_off_are_marked() {
    let mut figure = lines(1);
    let paint = figure.panels[0].series[0].style.paint;
    let point = |x, y, error| Point { x, y, error };
    let mut draw = |points: Vec<Point>| {
        figure.panels[0].series[0].shape = Shape::Line(points);
        slanted(&figure, paint)
    };
    // the axis goes from 1 to 60
    assert_eq!(draw(vec![point(0.5, 10.0, 5.0)]), 0);
    assert_eq!(draw(vec![point(0.5, 10.0, 9.5)]), 2, "below");
    assert_eq!(draw(vec![point(0.5, 40.0, 39.5)]), 4, "below and above");
    for rows in [true, false] {
        let mut figure = bars(1, rows);
        let paint = if rows { Paint::Paper } else { Paint::Ink };
        let uncut = slanted(&figure, paint);
        for panel in &mut figure.panels {
            // the axis ends at 2e9
            let bar = Bar { value: Some(1.5e9), error: 1e9, ..Bar::default() };
            panel.series[0].shape = Shape::Bars(vec![Some(bar)]);
        }
        assert_eq!(slanted(&figure, paint) - uncut, 2 * figure.panels.len(), "rows: {rows}");
    }
}

#[test]
fn no_text_covers_another_or_leaves_the_drawing() {
    let all = [
        lines(2),
        lines(5),
        lines(11),
        bars(2, true),
        bars(11, true),
        bars(2, false),
        bars(11, false),
        boxes(),
        strips(2),
        strips(11),
        spans(2),
        spans(40),
    ];
    for figure in all {
        for size in SIZES {
            let clashes = scene(&figure, &size).clashes();
            assert!(clashes.is_empty(), "{} at {}: {clashes:?}", figure.id, size.width);
        }
    }
}

/// The number beside a bar stands behind the published mark that would cover it, and stays in the
/// drawing; a mark elsewhere does not move it.
#[test]
fn a_published_mark_does_not_cover_the_number_beside_its_bar() {
    let number_of_first = |value: Option<f64>| {
        let mut figure = bars(3, true);
        figure.panels.truncate(1);
        let Shape::Bars(bars) = &mut figure.panels[0].series[0].shape else { panic!("bars") };
        for bar in bars.iter_mut().flatten() {
            (bar.error, bar.whisker, bar.note) = (0.0, None, String::new());
        }
        if let Some(value) = value {
            let mark = Mark { at: 0.0, lane: None, value, note: String::new() };
            figure.panels[0].series.push(Series {
                name: "the paper's value".into(),
                style: Style::ALARM,
                shape: Shape::Marks(vec![mark]),
            });
        }
        let scene = scene(&figure, &Size::PAGE);
        let number = scene.items.iter().find_map(|item| match item {
            Item::Text { text, at, .. } if text.ends_with("200 us") => Some(at.0),
            _ => None,
        });
        (number.expect("the first bar has 200 us"), scene.width)
    };
    // the words of the first bar, of 0.2 ms on an axis of 2 ms, are about 0.2 ms wide
    let (free, _) = number_of_first(None);
    let (far, _) = number_of_first(Some(1.8e9));
    let (near, width) = number_of_first(Some(2.4e8));
    // the room for marks makes the axis shorter, and with it the bar
    assert!(far <= free, "{far} {free}");
    let reach = marks::reach(&Size::PAGE);
    assert!(near > far + reach && near < width, "{near} {far}");
}

#[test]
fn few_lines_carry_their_names_and_many_have_a_legend() {
    let count = |f: &Figure, text: &str| {
        let is = |i: &&Item| matches!(i, Item::Text { text: t, .. } if t == text);
        scene(f, &Size::PAGE).items.iter().filter(is).count()
    };
    assert_eq!(count(&lines(3), "CaPFC"), 1);
    assert_eq!(count(&lines(11), "CaPFC"), 1);
    assert!(legend_entries(&lines(11)).len() == 11);
}

#[test]
fn every_series_of_a_line_figure_differs_in_more_than_colour() {
    for i in 0..11 {
        for j in i + 1..11 {
            let (a, b) = (Style::new(i, 0), Style::new(j, 0));
            assert!(a.paint != b.paint, "{i} {j}");
            assert!(a.marker != b.marker || a.dash != b.dash, "{i} {j}");
        }
    }
}

#[test]
fn thinning_keeps_extremes_and_ends() {
    let points: Vec<(f64, f64)> =
        (0..100_000).map(|i| (f64::from(i), if i == 54_321 { 9.0 } else { 0.0 })).collect();
    let kept = thin(&points, 500);
    assert!(kept.len() <= 502, "{}", kept.len());
    assert!(kept.contains(&(54_321.0, 9.0)));
    assert_eq!((kept[0], kept[kept.len() - 1]), ((0.0, 0.0), (99_999.0, 0.0)));
}

#[test]
fn every_format_is_written() {
    for figure in [lines(11), bars(11, true), boxes()] {
        let drawn = scene(&figure, &Size::COLUMN);
        let svg = crate::svg::file(&drawn, &figure.title);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"));
        let pdf = crate::print::pdf(&drawn, &figure.title);
        assert!(pdf.starts_with(b"%PDF-") && !String::from_utf8_lossy(&pdf).contains("/Font"));
        let png = crate::print::png(&drawn, 4.0, crate::style::Theme::Light).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
    }
}

#[test]
fn data_is_in_base_units() {
    let csv = bars(2, true).csv();
    let mut all = csv.lines();
    assert_eq!(
        all.next(),
        Some("panel,series,name,mean_fct_ps,mean_fct_ps_error,mean_fct_ps_most,note")
    );
    assert_eq!(all.next(), Some("victim,,PFC,200000000,20000000,400000000,"));
}

#[test]
fn figures_without_data_are_drawn_empty() {
    let mut empty = lines(2);
    empty.panels[0].series.clear();
    assert!(scene(&empty, &Size::PAGE).height > 50.0);
    empty.panels.clear();
    assert!(scene(&empty, &Size::PAGE).height < 50.0);
    assert_eq!(empty.csv(), "");
}

/// A chain to and fro between the first and the last row.
fn chained(links: usize) -> Figure {
    let link = |i: usize| Link {
        name: format!("link {i}"),
        from: ((i % 2) as f64 * 4.0, i as f64 * 1e6),
        to: (((i + 1) % 2) as f64 * 4.0, (i + 1) as f64 * 1e6),
        note: format!("note {i}"),
    };
    let chain = Shape::Chain((0..links).map(link).collect());
    let mut figure = spans(5);
    figure.panels[0].series.push(Series {
        name: "chain".into(),
        style: Style::new(2, 0),
        shape: chain,
    });
    figure
}

fn titles(figure: &Figure) -> Vec<String> {
    let title = |item: &Item| match item {
        Item::Path { title, .. } if !title.is_empty() => Some(title.clone()),
        _ => None,
    };
    scene(figure, &Size::PAGE).items.iter().filter_map(title).collect()
}

#[test]
fn a_chain_has_its_words_and_a_long_one_is_one_line() {
    let few = titles(&chained(10));
    assert!((0..10).all(|i| few.contains(&format!("note {i}"))), "{few:?}");
    let many = titles(&chained(1000));
    assert_eq!(many.iter().filter(|t| *t == "chain").count(), 1);
    assert!(!many.iter().any(|t| t.starts_with("note")));
    let table = chained(3).table(60);
    assert!(table.rows.iter().any(|row| row.contains(&"link 2".to_owned())), "{table:?}");
    assert!(scene(&chained(10), &Size::COLUMN).clashes().is_empty());
}

/// The first stretch is from 0 to 1 us.
#[test]
fn a_stretch_says_when_it_was_and_how_long() {
    let all = titles(&spans(2));
    assert!(all.contains(&"root: from 0.000 us, for 1.00 us".to_owned()), "{all:?}");
    assert_eq!(all.len(), 2 * 2 * 30);
    assert_eq!(titles(&spans(20)), ["passed on", "root"], "too many to have words each");
}
