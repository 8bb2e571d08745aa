//! `weir fct`: slowdown by flow size of several result files side by side, ours (`flows.csv`) and
//! those of the HPCC ns-3 simulator (`fct.txt`).

mod ranges;

pub use ranges::{Ranges, Spread};

use crate::listing::Layout;
use crate::ns3;
use crate::records::{Records, RecordsError, Row};
use crate::table::{Column, TextTable};
use serde_json::{Value, json};
use std::path::Path;
use weir_core::Time;
use weir_ns3::fct_analysis::{self, Filter};
pub use weir_ns3::fct_analysis::{Bucket, SlowdownTable, Stats};
pub use weir_ns3::fct_analysis::{Sample, Series};
use weir_plot::{self as plot, Across, Axis, Figure, Panel, Point, Shape, Style, Unit};

/// Which flows count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only flows of this class; in files of the original, a destination port.
    pub class: Option<String>,
    /// Only flows that finished before this time.
    pub before: Option<Time>,
}

/// The flows of one run, or of one row of a comparison, by seed.
#[derive(Clone, Debug)]
pub struct Seeded {
    /// What to call it.
    pub name: String,
    /// Seeds in the order in which they come; files of the original have none.
    pub seeds: Vec<(String, Vec<Sample>)>,
}

impl Seeded {
    /// All seeds together.
    pub fn series(&self) -> Series {
        let samples = self.seeds.iter().flat_map(|(_, samples)| samples.iter().copied()).collect();
        Series { name: self.name.clone(), samples }
    }
}

/// The flows of one file, by the schemes or variants in it. `name` is what to call the file.
pub fn read(name: &str, text: &str, wanted: &Wanted) -> Result<Vec<Seeded>, String> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if first.split(',').any(|column| column == "slowdown") {
        return read_ours(name, text, wanted);
    }
    let records = fct_analysis::read(Path::new(name), text).map_err(|d| match d.0.first() {
        Some(d) => {
            let line = d.line.map_or_else(String::new, |line| format!(":{line}"));
            let help = d.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
            format!("{name}{line}: {}{help}", d.message)
        }
        None => format!("{name}: cannot be read"),
    })?;
    let dport = match &wanted.class {
        None => None,
        Some(class) => Some(ns3::class_port(class).ok_or_else(|| {
            format!(
                "{name}: classes of this file are destination ports: write `background` (100), \
                 `incast` (200) or a port instead of `{class}`"
            )
        })?),
    };
    let finished_before_ns = wanted.before.map_or(u64::MAX, |t| t.as_ps().div_ceil(1000));
    let series = Series::new(name, &records, Filter { dport, finished_before_ns });
    Ok(vec![Seeded { name: name.into(), seeds: vec![(String::new(), series.samples)] }])
}

fn read_ours(name: &str, text: &str, wanted: &Wanted) -> Result<Vec<Seeded>, String> {
    let table = Records::parse(name, text).map_err(|e| e.to_string())?;
    if let Some(column) = ["size", "slowdown"].into_iter().find(|column| !table.has(column)) {
        return Err(format!("{name}:1: column `{column}` is missing"));
    }
    // files of earlier versions have the scheme alone
    let variant = if table.has("variant") { "variant" } else { "scheme" };
    let mut all: Vec<Seeded> = Vec::new();
    for row in table {
        let row = row.map_err(|e| e.to_string())?;
        let Some(sample) = sample(&row, wanted).map_err(|e| e.to_string())? else { continue };
        let cell = |column: &str| row.optional(column).unwrap_or_default();
        let (run, seed) = (cell(variant), cell("seed"));
        let at = all.iter().rposition(|r| r.name == run).unwrap_or_else(|| {
            all.push(Seeded { name: run.to_owned(), seeds: Vec::new() });
            all.len() - 1
        });
        let seeds = &mut all[at].seeds;
        match seeds.iter_mut().rev().find(|(s, _)| s == seed) {
            Some((_, samples)) => samples.push(sample),
            None => seeds.push((seed.to_owned(), vec![sample])),
        }
    }
    if all.is_empty() {
        all.push(Seeded { name: String::new(), seeds: Vec::new() });
    }
    let only = all.len() == 1;
    for run in &mut all {
        run.name = if only { name.to_owned() } else { format!("{name} {}", run.name) };
    }
    Ok(all)
}

/// The flow of one row; `None` when it did not finish or is not wanted.
fn sample(row: &Row, wanted: &Wanted) -> Result<Option<Sample>, RecordsError> {
    let Some(slowdown) = row.given::<f64>("slowdown")? else { return Ok(None) };
    if let Some(class) = &wanted.class {
        let found = row.optional("class").unwrap_or_default();
        let port = ns3::class_port(class).map(ns3::class_name);
        if found != class && port.as_deref() != Some(found) {
            return Ok(None);
        }
    }
    if let Some(before) = wanted.before {
        let number = |column: &str| match row.optional(column) {
            None => Ok(None),
            Some(_) => row.given::<u64>(column),
        };
        let start = number("start_ps")?.unwrap_or(0);
        // the time at the receiver, or at the sender where that is not told
        let fct = number("fct_ps")?.or(number("fct_ack_ps")?);
        if start.saturating_add(fct.unwrap_or(0)) >= before.as_ps() {
            return Ok(None);
        }
    }
    let Some(size) = row.given("size")? else { return Ok(None) };
    Ok(Some(Sample { size, slowdown: slowdown.max(1.0) }))
}

/// The table as text, the runs' names above their columns.
pub fn text(table: &SlowdownTable, layout: Layout) -> String {
    let mut columns = vec![Column::numbers("flows from", 3), Column::numbers("up to", 9)];
    for name in &table.names {
        for (head, keep) in [("mean", 6), ("p50", 7), ("p95", 5), ("p99", 8)] {
            columns.push(Column::numbers(head, keep).under(name));
        }
    }
    let mut t = TextTable::new(columns);
    for row in table.rows().1 {
        t.row(row);
    }
    t.render(layout.width, layout.colour)
}

/// What a panel is called, and what it shows.
type PanelFigure = (&'static str, fn(&Stats) -> f64);

/// A figure: median, 95th and 99th percentile over flow size, a line per run.
pub fn figure(table: &SlowdownTable) -> Figure {
    let readings: [PanelFigure; 3] =
        [("median", |s| s.p50), ("95th percentile", |s| s.p95), ("99th percentile", |s| s.p99)];
    let sizes = || table.buckets.iter().map(|b| b.largest as f64);
    let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(1.0, f64::max));
    let of = |read: fn(&Stats) -> f64| {
        table.buckets.iter().flat_map(move |b| b.stats.iter().flatten().map(read))
    };
    // one scale for all panels: they are read side by side
    let values: Vec<f64> = readings.iter().flat_map(|(_, read)| of(*read)).collect();
    let worst = values.iter().copied().fold(1.0, f64::max);
    let up = Axis::log("slowdown", Unit::Number, 1.0, worst);
    let panel = |(title, read): PanelFigure| {
        let line = |(i, name): (usize, &String)| {
            let point = |b: &Bucket| {
                Some(Point { x: b.largest as f64, y: read(b.stats[i].as_ref()?), error: 0.0 })
            };
            let shape = Shape::Line(table.buckets.iter().filter_map(point).collect());
            plot::Series { name: name.clone(), style: Style::new(i, 0), shape }
        };
        Panel {
            title: title.to_owned(),
            across: Across::Values(Axis::log("flow size", Unit::Bytes, least, most)),
            up: up.clone(),
            series: table.names.iter().enumerate().map(line).collect(),
            rules: Vec::new(),
        }
    };
    Figure {
        id: "slowdown-by-size".into(),
        title: "FCT slowdown by flow size".into(),
        caption: "Each point is drawn at the largest size of its bucket of flows.".into(),
        panels: readings.map(panel).into(),
        layout: plot::Layout::Grid,
    }
}

/// The figure as a file, three panels beside each other.
pub fn drawing(table: &SlowdownTable) -> String {
    let figure = figure(table);
    let size = plot::Size { columns: 3, ..plot::Size::PAGE };
    plot::svg::file(&plot::draw::scene(&figure, &size), &figure.title)
}

/// The table as JSON.
pub fn as_json(table: &SlowdownTable) -> Value {
    let stats = |s: &Stats| {
        json!({
            "flows": s.flows, "mean": s.mean, "p50": s.p50, "p95": s.p95, "p99": s.p99,
        })
    };
    let buckets: Vec<Value> = table
        .buckets
        .iter()
        .map(|b| {
            let runs: Vec<Value> =
                b.stats.iter().map(|s| s.as_ref().map_or(Value::Null, stats)).collect();
            json!({ "fraction": b.fraction, "largest": b.largest, "runs": runs })
        })
        .collect();
    json!({ "runs": table.names, "buckets": buckets })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_scenario::text::Colour;

    const OURS: &str = "scheme,class,size,start_ps,fct_ps,fct_ack_ps,slowdown\n\
                        pfc,incast,1000,0,5000,,2.5\n\
                        pfc,background,2000,0,9000,,0.5\n\
                        none,incast,1000,0,,,\n\
                        none,incast,3000,2000000,,4000,4\n";
    const THEIRS: &str = "0b000701 0b000001 10000 100 2000 2000000000 300 100\n\
                          0b000701 0b000001 10001 200 3000 2000000000 200 100\n";

    fn series(text: &str, wanted: &Wanted) -> Vec<(String, Vec<(u64, f64)>)> {
        let flows = |s: Seeded| {
            let s = s.series();
            let samples = s.samples.iter().map(|x| (x.size, x.slowdown)).collect();
            (s.name, samples)
        };
        read("x", text, wanted).unwrap().into_iter().map(flows).collect()
    }

    #[test]
    fn both_formats_are_told_apart_and_schemes_are_series() {
        let all = Wanted::default();
        assert_eq!(
            series(OURS, &all),
            [
                ("x pfc".into(), vec![(1000, 2.5), (2000, 1.0)]),
                ("x none".into(), vec![(3000, 4.0)])
            ]
        );
        assert_eq!(series(THEIRS, &all), [("x".into(), vec![(2000, 3.0), (3000, 2.0)])]);
        assert_eq!(series("", &all), [("x".into(), vec![])]);
    }

    #[test]
    fn a_class_is_a_port_of_the_original() {
        let wanted = |class: &str| Wanted { class: Some(class.into()), before: None };
        for class in ["incast", "200", "port 200"] {
            assert_eq!(series(THEIRS, &wanted(class))[0].1, [(3000, 2.0)]);
            let ours: Vec<_> = series(OURS, &wanted(class)).into_iter().map(|s| s.1).collect();
            assert_eq!(ours, [vec![(1000, 2.5)], vec![(3000, 4.0)]]);
        }
        let error = read("x", THEIRS, &wanted("victim")).unwrap_err();
        assert!(error.contains("`background`") && error.contains("`victim`"), "{error}");
    }

    #[test]
    fn late_flows_are_left_out() {
        // the last of ours finishes at 2 us + 4 ns, by its ACK
        let before = |ps| Wanted { class: None, before: Some(Time::from_ps(ps)) };
        assert_eq!(series(OURS, &before(2_004_001)).len(), 2);
        assert_eq!(series(OURS, &before(2_004_000)).len(), 1);
        assert_eq!(series(THEIRS, &before(2_000_000_200_001))[0].1, [(3000, 2.0)]);
    }

    #[test]
    fn mistakes_are_shown_with_file_and_line() {
        for (text, part) in [
            ("slowdown,x\n", "x:1: column `size` is missing"),
            ("size,slowdown\n1,2\nx,2\n", "x:3: `x` in `size` is no whole number"),
            ("size,slowdown\n1,inf\n", "x:2: `inf` in `slowdown` is no number"),
            ("size,slowdown\n1\n", "x:2: cells: 1, heads: 2"),
            ("0b000701 zz\n", "x:1: `zz` is not the destination address"),
        ] {
            let error = read("x", text, &Wanted::default()).unwrap_err();
            assert!(error.contains(part), "{error:?} lacks {part:?}");
        }
    }

    #[test]
    fn the_text_groups_columns_by_run() {
        let mut all = read("a", OURS, &Wanted::default()).unwrap();
        all.extend(read("b", THEIRS, &Wanted::default()).unwrap());
        let all: Vec<Series> = all.iter().map(Seeded::series).collect();
        let table = SlowdownTable::new(&all, 2);
        let text = text(&table, Layout { width: 200, colour: Colour::Off });
        let mut lines = text.lines();
        let groups = lines.next().unwrap();
        assert!(groups.contains("a pfc") && groups.contains("a none") && groups.contains("b"));
        assert_eq!(lines.next().unwrap().matches("p99").count(), 3);
        assert_eq!(as_json(&table)["buckets"][1]["runs"][2]["p50"], 2.0);
    }

    #[test]
    fn every_run_has_a_line_in_every_panel_and_a_name() {
        let samples = |n: u64| (1..=n).map(|i| Sample { size: 1000 * i, slowdown: i as f64 });
        let series = |name: &str| Series { name: name.into(), samples: samples(40).collect() };
        let figure = figure(&SlowdownTable::new(&[series("a<b"), series("c")], 20));
        assert_eq!(figure.panels.len(), 3);
        assert!(figure.panels.iter().all(|p| p.series.len() == 2 && p.up.high >= 40.0));
        let drawn = plot::draw::scene(&figure, &plot::Size::PAGE);
        assert_eq!(drawn.clashes(), []);
        let svg = plot::svg::file(&drawn, &figure.title);
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn an_empty_table_is_still_a_figure() {
        let drawn =
            plot::draw::scene(&super::figure(&SlowdownTable::new(&[], 20)), &plot::Size::PAGE);
        let svg = plot::svg::file(&drawn, "");
        assert!(svg.starts_with("<svg") && !svg.contains("NaN"));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(
            text in "(size,slowdown|\\PC{0,9})(\n[-0-9a-f., \"]{0,30}){0,5}",
        ) {
            let _ = read("x", &text, &Wanted { class: None, before: Some(Time::from_us(1)) });
        }
    }
}
