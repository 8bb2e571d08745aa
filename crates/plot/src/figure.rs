//! What a figure shows: panels with axes and series. Data first; [`crate::draw`] turns it into a
//! drawing.

use crate::axis::{self, Axis};
use crate::style::Style;
use weir_core::Unit;

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
    /// How the panels stand.
    pub layout: Layout,
}

/// How the panels of a figure stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Beside and below each other, each with its axes.
    #[default]
    Grid,
    /// Flat and below each other over one common axis across: what happened at the same time
    /// stands below each other.
    Strips,
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
    /// For every row of the axis across, the stretches (from, to) in which it was on.
    Spans(Vec<Vec<(f64, f64)>>),
    /// A chain over the rows of the axis across: along rows, and from row to row.
    Chain(Vec<Link>),
    /// Published values, drawn over everything else.
    Marks(Vec<Mark>),
}

/// A published value, to compare with what is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Across: a value of the axis, or the place of a name, from zero.
    pub at: f64,
    /// Beside which of several bars of a name it belongs: the place, and how many there are.
    pub lane: Option<(usize, usize)>,
    /// Up.
    pub value: f64,
    /// Words about it.
    pub note: String,
}

/// A link of a chain over rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// What it is called in tables.
    pub name: String,
    /// The row, from 0, and the value at which it begins. A row that is left out lies between
    /// others: 2.5 is between the third and the fourth.
    pub from: (f64, f64),
    /// Where it ends.
    pub to: (f64, f64),
    /// Words about it.
    pub note: String,
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
    /// A look of its own instead of the series'.
    pub style: Option<Style>,
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

fn column(label: &str, unit: Unit) -> String {
    let mut name = String::new();
    for c in label.chars() {
        match c {
            c if c.is_alphanumeric() => name.extend(c.to_lowercase()),
            _ if name.ends_with('_') || name.is_empty() => {}
            _ => name.push('_'),
        }
    }
    format!("{}{}", name.trim_end_matches('_'), unit.suffix())
}

/// What the columns of a figure's numbers are after panel, series and place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberColumns {
    Values,
    Boxes,
    Spans,
}

impl NumberColumns {
    const fn parts(self) -> &'static [&'static str] {
        match self {
            Self::Values => &["", "error", "most"],
            Self::Boxes => &["low", "lower", "middle", "upper", "high"],
            Self::Spans => &["from", "to"],
        }
    }
}

/// How numbers are written.
#[derive(Clone, Copy)]
enum Form {
    /// Exactly, in base units.
    Raw,
    /// For people, at most so many rows of a series.
    Shown(usize),
}

impl Form {
    fn number(self, unit: Unit, value: f64) -> String {
        match self {
            Self::Raw => value.to_string(),
            Self::Shown(_) => axis::show(unit, value),
        }
    }

    fn column(self, label: &str, unit: Unit) -> String {
        match self {
            Self::Raw => column(label, unit),
            Self::Shown(_) => label.to_owned(),
        }
    }

    /// Every how manieth of so many rows stands in the table.
    fn every(self, rows: usize) -> usize {
        match self {
            Self::Raw => 1,
            Self::Shown(most) => rows.div_ceil(most.max(1)).max(1),
        }
    }
}

impl Figure {
    /// The numbers, one row for every point, bar or box, in base units (picoseconds, bytes, bits
    /// per second): columns for panel, series and place, then the value and what belongs to it.
    pub fn data(&self) -> Data {
        self.numbers(Form::Raw)
    }

    /// The numbers as people write them, with their units, at most `most` evenly spread rows of
    /// every series; columns in which nothing stands are left out.
    pub fn table(&self, most: usize) -> Data {
        let Data { header, rows } = self.numbers(Form::Shown(most));
        let used = |i: &usize| rows.iter().any(|row| !row[*i].is_empty());
        let kept: Vec<usize> = (0..header.len()).filter(used).collect();
        let pick = |row: &Vec<String>| kept.iter().map(|&i| row[i].clone()).collect();
        Data { header: pick(&header), rows: rows.iter().map(pick).collect() }
    }

    fn numbers(&self, form: Form) -> Data {
        let Some(first) = self.panels.first() else { return Data::default() };
        let (across, x_unit) = match &first.across {
            Across::Values(axis) => (axis.label.as_str(), axis.unit),
            Across::Names { label, .. } => (label.as_str(), Unit::Number),
            Across::Rows { .. } => ("name", Unit::Number),
        };
        let kind = self.kind();
        let up = form.column(&first.up.label, first.up.unit);
        let mut header = vec!["panel".into(), "series".into(), form.column(across, x_unit)];
        header.extend(kind.parts().iter().map(|part| match (form, *part) {
            (_, "") => up.clone(),
            (Form::Raw, part) => format!("{up}_{part}"),
            (Form::Shown(_), "error") => "±".to_owned(),
            (Form::Shown(_), part) => part.to_owned(),
        }));
        header.push("note".into());
        let rows = self.panels.iter().flat_map(|p| p.rows(kind, form)).collect();
        Data { header, rows }
    }

    fn kind(&self) -> NumberColumns {
        let of = |s: &Shape| match s {
            Shape::Boxes(_) => NumberColumns::Boxes,
            Shape::Spans(_) | Shape::Chain(_) => NumberColumns::Spans,
            Shape::Line(_) | Shape::Steps(_) | Shape::Bars(_) | Shape::Marks(_) => {
                NumberColumns::Values
            }
        };
        let shapes = self.panels.iter().flat_map(|p| p.series.iter().map(|s| of(&s.shape)));
        shapes.into_iter().find(|k| *k != NumberColumns::Values).unwrap_or(NumberColumns::Values)
    }

    /// [`Figure::data`] as CSV.
    pub fn csv(&self) -> String {
        const WRITES: &str = "rows have as many cells as there are heads, and memory takes them";
        let Data { header, rows } = self.data();
        let mut writer = csv::Writer::from_writer(Vec::new());
        // without a panel there is no head
        for row in std::iter::once(&header).chain(&rows).filter(|row| !row.is_empty()) {
            writer.write_record(row).expect(WRITES);
        }
        String::from_utf8(writer.into_inner().expect(WRITES)).expect("cells are text")
    }
}

impl Panel {
    fn names(&self) -> &[String] {
        match &self.across {
            Across::Values(_) => &[],
            Across::Names { names, .. } | Across::Rows { names } => names,
        }
    }

    fn rows(&self, kind: NumberColumns, form: Form) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        let mut add = |series: &Series, at: String, numbers: Vec<String>, note: &str| {
            let mut row = vec![self.title.clone(), series.name.clone(), at];
            row.extend(numbers);
            row.resize(3 + kind.parts().len(), String::new());
            row.push(note.to_owned());
            rows.push(row);
        };
        let name = |i: usize| self.names().get(i).cloned().unwrap_or_default();
        let across = |x: f64| match &self.across {
            Across::Values(axis) => form.number(axis.unit, x),
            Across::Names { .. } | Across::Rows { .. } => x.to_string(),
        };
        let up = |y: f64| form.number(self.up.unit, y);
        let error = |e: f64| match form {
            Form::Shown(_) if e == 0.0 => String::new(),
            _ => up(e),
        };
        for s in &self.series {
            match &s.shape {
                Shape::Line(points) => {
                    for p in points.iter().step_by(form.every(points.len())) {
                        add(s, across(p.x), vec![up(p.y), error(p.error)], "");
                    }
                }
                Shape::Steps(points) => {
                    for (x, y) in points.iter().step_by(form.every(points.len())) {
                        add(s, across(*x), vec![up(*y)], "");
                    }
                }
                Shape::Bars(bars) => {
                    for (i, bar) in bars.iter().enumerate() {
                        let Some(b) = bar else { continue };
                        let show = |v: Option<f64>| v.map_or_else(String::new, up);
                        let numbers = vec![show(b.value), error(b.error), show(b.whisker)];
                        add(s, name(i), numbers, &b.note);
                    }
                }
                Shape::Boxes(all) => {
                    for (i, five) in all.iter().enumerate() {
                        let Some(b) = five else { continue };
                        let five = [b.low, b.lower, b.middle, b.upper, b.high];
                        add(s, name(i), five.map(up).to_vec(), "");
                    }
                }
                Shape::Spans(all) => {
                    let spans = all.iter().enumerate();
                    let spans: Vec<_> =
                        spans.flat_map(|(i, row)| row.iter().map(move |span| (i, span))).collect();
                    for (i, (from, to)) in spans.iter().step_by(form.every(spans.len())) {
                        add(s, name(*i), vec![up(*from), up(*to)], "");
                    }
                }
                Shape::Marks(marks) => {
                    for m in marks {
                        // places of names are counted, and so stand for a name
                        let place = match &self.across {
                            Across::Values(_) => across(m.at),
                            Across::Names { .. } | Across::Rows { .. } => name(m.at as usize),
                        };
                        add(s, place, vec![up(m.value)], &m.note);
                    }
                }
                Shape::Chain(links) => {
                    for link in links.iter().step_by(form.every(links.len())) {
                        let ends = vec![up(link.from.1), up(link.to.1)];
                        add(s, link.name.clone(), ends, &link.note);
                    }
                }
            }
        }
        rows
    }
}
