//! Draws one figure of every kind in every format, to be looked at:
//! `cargo run -p weir-plot --example gallery -- DIR`.

use weir_plot::{
    Across, Axis, Bar, BoxPlot, Figure, Layout, Panel, Point, Rule, Series, Shape, Size, Style,
    Theme, Unit, draw, print, svg,
};

const NAMES: [&str; 11] = [
    "PFC",
    "CaPFC",
    "P-PFC",
    "GFC",
    "G-PFC",
    "OFC",
    "none (lossy)",
    "BFC-32Q",
    "ideal FC",
    "FlowSail-8Q",
    "FFC/DVL",
];

fn figure(id: &str, panels: Vec<Panel>) -> Figure {
    Figure { id: id.into(), title: id.into(), caption: String::new(), panels, layout: Layout::Grid }
}

fn series(i: usize, shape: Shape) -> Series {
    Series { name: NAMES[i].into(), style: Style::new(i, 0), shape }
}

fn lines(n: usize) -> Figure {
    let line = |i: usize| {
        let at = |k: usize| {
            let y = 1.5 + i as f64 * 0.7 * (k + 1) as f64 * (1.0 + k as f64 * 0.4);
            Point { x: 0.4 + 0.1 * k as f64, y, error: y * 0.08 }
        };
        series(i, Shape::Line((0..5).map(at).collect()))
    };
    let panel = Panel {
        title: String::new(),
        across: Across::Values(Axis::between("load on core links", Unit::Share, 0.4, 0.8)),
        up: Axis::log("p99 slowdown, flows below 10 KB", Unit::Number, 1.0, 90.0),
        series: (0..n).map(line).collect(),
        rules: vec![],
    };
    figure(&format!("lines-{n}"), vec![panel])
}

fn distributions() -> Figure {
    let steps = |i: usize| {
        let at = |k: usize| ((k * k * (i + 2)) as f64 * 3e6 + 1e7, k as f64 / 60.0);
        series(i, Shape::Steps((0..=60).map(at).collect()))
    };
    let panel = |title: &str| Panel {
        title: title.into(),
        across: Across::Values(Axis::linear("FCT", Unit::Time, 6e10)),
        up: Axis { high: 1.0, ..Axis::linear("share of flows", Unit::Share, 1.0) },
        series: (0..6).map(steps).collect(),
        rules: vec![],
    };
    figure("cdf", vec![panel("short flows"), panel("large flows")])
}

fn bars(rows: bool) -> Figure {
    let bar = |i: usize| Bar {
        value: Some(if i == 6 { 9e10 } else { 1e9 + i as f64 * 1.3e8 }),
        error: 4e7,
        whisker: Some(1.4e9 + i as f64 * 1.5e8),
        style: Some(Style::new(i, 0)),
        note: if i == 3 { "(12 of 80 unfinished)".into() } else { String::new() },
    };
    let names: Vec<String> = NAMES.map(str::to_owned).to_vec();
    let across = match rows {
        true => Across::Rows { names },
        false => Across::Names { label: "scheme".into(), names },
    };
    let one = Series {
        name: String::new(),
        style: Style::new(0, 0),
        shape: Shape::Bars((0..11).map(|i| Some(bar(i))).collect()),
    };
    let panel = |title: &str| Panel {
        title: title.into(),
        across: across.clone(),
        up: Axis::linear("mean FCT", Unit::Time, 2.9e9),
        series: vec![one.clone()],
        rules: vec![],
    };
    figure(if rows { "rows" } else { "columns" }, vec![panel("victim"), panel("congested")])
}

fn grouped() -> Figure {
    let group = |i: usize| {
        let bar = |k: usize| Bar {
            value: Some(((i + 3) * (k + 2)) as f64),
            error: 0.9,
            ..Bar::default()
        };
        series(i, Shape::Bars((0..4).map(|k| Some(bar(k))).collect()))
    };
    let names = ["4:1", "6:1", "8:1", "10:1"].map(str::to_owned).to_vec();
    let panel = Panel {
        title: String::new(),
        across: Across::Names { label: "incast ratio".into(), names },
        up: Axis::linear("deadlocks of 1000 runs", Unit::Number, 45.0),
        series: (0..6).map(group).collect(),
        rules: vec![Rule { at: 30.0, label: "published: 30".into() }],
    };
    figure("grouped", vec![panel])
}

fn boxes() -> Figure {
    let five = |i: usize, k: usize| {
        let m = (1.0 + i as f64 * 0.2) * (k + 1) as f64 * 1e8;
        BoxPlot {
            low: m * 0.3,
            lower: m * 0.7,
            middle: m,
            upper: m * 1.4,
            high: m * 2.1,
            style: None,
        }
    };
    let all = |i: usize| series(i, Shape::Boxes((0..3).map(|k| Some(five(i, k))).collect()));
    let names = ["all", "uncongested", "congested"].map(str::to_owned).to_vec();
    let panel = |title: &str| Panel {
        title: title.into(),
        across: Across::Names { label: String::new(), names: names.clone() },
        up: Axis::linear("FCT", Unit::Time, 13e8),
        series: (0..6).map(all).collect(),
        rules: vec![],
    };
    figure("boxes", vec![panel("4:1"), panel("6:1"), panel("8:1"), panel("10:1")])
}

fn main() -> std::io::Result<()> {
    let dir = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    std::fs::create_dir_all(&dir)?;
    let all = [lines(4), lines(11), distributions(), bars(true), bars(false), grouped(), boxes()];
    for f in all {
        for (name, size) in [("page", Size::PAGE), ("column", Size::COLUMN), ("wide", Size::WIDE)] {
            let scene = draw::scene(&f, &size);
            let file = |ending: &str| dir.join(format!("{}-{name}.{ending}", f.id));
            std::fs::write(file("svg"), svg::file(&scene, &f.title))?;
            std::fs::write(file("pdf"), print::pdf(&scene, &f.title))?;
            let png = print::png(&scene, 1000.0 / size.width, Theme::Light);
            std::fs::write(file("png"), png.unwrap_or_default())?;
        }
    }
    Ok(())
}
