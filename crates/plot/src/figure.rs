//! What a figure shows: panels with axes and series. Data first; [`crate::draw`] turns it into a
//! drawing.

use crate::axis::{Axis, Unit};
use crate::style::Style;

/// A figure with its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Short name, for links and file names.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// One or several plots that are read together. They share the colours of their series.
    pub panels: Vec<Panel>,
}

/// One plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What tells it from the other panels; empty when there is one only.
    pub title: String,
    /// The axis across.
    pub across: Across,
    /// The axis up: what is measured.
    pub up: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Levels to compare with, such as thresholds or published values.
    pub rules: Vec<Rule>,
}

/// The axis across a panel.
#[derive(Clone, Debug, PartialEq)]
pub enum Across {
    /// Values.
    Values(Axis),
    /// Names beside each other: what stands over them.
    Names {
        /// What the names are.
        label: String,
        /// The names, in order.
        names: Vec<String>,
    },
    /// Names below each other, bars to the right: for long names.
    Rows {
        /// The names, from above.
        names: Vec<String>,
    },
}

/// Something with a name and a look.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// How it looks.
    pub style: Style,
    /// What it shows.
    pub shape: Shape,
}

/// What a series shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points joined by straight lines, in ascending order of x.
    Line(Vec<Point>),
    /// A value that holds until the next point: distributions, samples.
    Steps(Vec<(f64, f64)>),
    /// A bar for every name of the axis across; `None` where there is none.
    Bars(Vec<Option<Bar>>),
    /// A box for every name of the axis across.
    Boxes(Vec<Option<BoxPlot>>),
}

/// A point with the interval it is uncertain in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Half the width of the confidence interval; zero when there is none.
    pub error: f64,
}

/// A bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// How long; `None` shows the note alone.
    pub value: Option<f64>,
    /// Half the width of the confidence interval; zero when there is none.
    pub error: f64,
    /// A thin line up to here: the largest of what the bar is the mean of.
    pub whisker: Option<f64>,
    /// A look of its own instead of the series'.
    pub style: Option<Style>,
    /// Words beside or above the bar.
    pub note: String,
}

/// Five numbers of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxPlot {
    /// Lower end of the line.
    pub low: f64,
    /// Lower edge of the box.
    pub lower: f64,
    /// The line in the box.
    pub middle: f64,
    /// Upper edge of the box.
    pub upper: f64,
    /// Upper end of the line.
    pub high: f64,
}

/// A level to compare with.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where, on the axis up.
    pub at: f64,
    /// What it is.
    pub label: String,
}

/// The numbers behind a figure, for a table or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Column names.
    pub header: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

/// The unit in which numbers stand in files: the smallest step, so that they are exact.
fn raw(unit: Unit) -> &'static str {
    match unit {
        Unit::Time => "_ps",
        Unit::Bytes => "_bytes",
        Unit::Rate => "_bps",
        Unit::Number | Unit::Share => "",
    }
}

fn column(label: &str, unit: Unit) -> String {
    let mut name = String::new();
    for c in label.chars() {
        match c {
            c if c.is_alphanumeric() => name.extend(c.to_lowercase()),
            _ if name.ends_with('_') || name.is_empty() => {}
            _ => name.push('_'),
        }
    }
    format!("{}{}", name.trim_end_matches('_'), raw(unit))
}

impl Figure {
    /// The numbers, one row for every point, bar or box, in base units (picoseconds, bytes, bits
    /// per second): columns for panel, series and place, then the value and what belongs to it.
    pub fn data(&self) -> Data {
        let Some(first) = self.panels.first() else { return Data::default() };
        let (across, x_unit) = match &first.across {
            Across::Values(axis) => (axis.label.as_str(), axis.unit),
            Across::Names { label, .. } => (label.as_str(), Unit::Number),
            Across::Rows { .. } => ("name", Unit::Number),
        };
        let boxes = self.shapes().any(|s| matches!(s, Shape::Boxes(_)));
        let up = column(&first.up.label, first.up.unit);
        let mut header = vec!["panel".into(), "series".into(), column(across, x_unit)];
        match boxes {
            true => {
                let parts = ["low", "lower", "middle", "upper", "high"];
                header.extend(parts.map(|part| format!("{up}_{part}")));
            }
            false => header.extend([up.clone(), format!("{up}_error"), format!("{up}_most")]),
        }
        header.push("note".into());
        let rows = self.panels.iter().flat_map(|p| p.rows(boxes)).collect();
        Data { header, rows }
    }

    /// [`Figure::data`] as CSV.
    pub fn csv(&self) -> String {
        let Data { header, rows } = self.data();
        let cell = |text: &String| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.clone(),
        };
        let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
        std::iter::once(&header).chain(&rows).map(line).collect()
    }

    fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.panels.iter().flat_map(|p| p.series.iter().map(|s| &s.shape))
    }
}

impl Panel {
    fn names(&self) -> &[String] {
        match &self.across {
            Across::Values(_) => &[],
            Across::Names { names, .. } | Across::Rows { names } => names,
        }
    }

    fn rows(&self, boxes: bool) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        let mut add = |series: &Series, at: String, numbers: Vec<String>, note: &str| {
            let mut row = vec![self.title.clone(), series.name.clone(), at];
            row.extend(numbers);
            row.resize(if boxes { 8 } else { 6 }, String::new());
            row.push(note.to_owned());
            rows.push(row);
        };
        let name = |i: usize| self.names().get(i).cloned().unwrap_or_default();
        for s in &self.series {
            match &s.shape {
                Shape::Line(points) => points.iter().for_each(|p| {
                    add(s, p.x.to_string(), vec![p.y.to_string(), p.error.to_string()], "");
                }),
                Shape::Steps(points) => {
                    points.iter().for_each(|(x, y)| {
                        add(s, x.to_string(), vec![y.to_string()], "");
                    });
                }
                Shape::Bars(bars) => {
                    for (i, bar) in bars.iter().enumerate() {
                        let Some(b) = bar else { continue };
                        let show = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
                        let numbers = vec![show(b.value), b.error.to_string(), show(b.whisker)];
                        add(s, name(i), numbers, &b.note);
                    }
                }
                Shape::Boxes(all) => {
                    for (i, five) in all.iter().enumerate() {
                        let Some(b) = five else { continue };
                        let five = [b.low, b.lower, b.middle, b.upper, b.high];
                        add(s, name(i), five.map(|v| v.to_string()).to_vec(), "");
                    }
                }
            }
        }
        rows
    }
}
