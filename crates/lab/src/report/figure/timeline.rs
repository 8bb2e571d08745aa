//! What was on when: a row per thing, a box per stretch of time.

use super::axis::{Axis, Unit};
use super::{Data, Figure, WIDTH, escape, px, svg, text_width};

/// A stretch of time in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// From.
    pub start: f64,
    /// To.
    pub end: f64,
    /// Whether to set it apart: what started it all.
    pub strong: bool,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// When it was on.
    pub intervals: Vec<Interval>,
}

/// A timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// From zero to here.
    pub end: f64,
    /// The rows.
    pub rows: Vec<Row>,
}

const ROW: f64 = 20.0;
const BELOW: f64 = 42.0;

impl Timeline {
    /// Draws it.
    pub fn figure(&self, id: &str, title: &str, caption: &str) -> Figure {
        let axis = Axis::linear("time", Unit::Time, self.end / 1.04);
        let widest = self.rows.iter().map(|r| text_width(&r.name)).fold(40.0, f64::max);
        let left = widest.min(280.0) + 14.0;
        let x = |t: f64| left + axis.at(t) * (WIDTH - left - 12.0);
        let bottom = 6.0 + ROW * self.rows.len() as f64;
        let mut body = String::new();
        for (value, text) in axis.ticks(7) {
            body.push_str(&format!(
                "<line class=\"grid\" x1=\"{0}\" x2=\"{0}\" y1=\"4\" y2=\"{1}\"/>\
                 <text class=\"mid\" x=\"{0}\" y=\"{2}\">{text}</text>",
                px(x(value)),
                px(bottom),
                px(bottom + 15.0)
            ));
        }
        for (i, row) in self.rows.iter().enumerate() {
            let y = 6.0 + ROW * i as f64;
            body.push_str(&format!(
                "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>",
                px(left - 6.0),
                px(y + 13.0),
                escape(&row.name)
            ));
            body.push_str(&boxes(row, y, x));
        }
        body.push_str(&format!(
            "<text class=\"mid label\" x=\"{}\" y=\"{}\">{}</text>",
            px((left + WIDTH) / 2.0),
            px(bottom + 34.0),
            escape(&axis.title())
        ));
        Figure {
            id: id.into(),
            title: title.into(),
            caption: caption.into(),
            svg: svg(title, bottom + BELOW, &body),
            data: self.data(),
        }
    }

    fn data(&self) -> Data {
        let header = ["", "times", "in all", "first", "last end"].map(str::to_owned).to_vec();
        let show = |t: f64| Unit::Time.show(t);
        let row = |r: &Row| {
            let total: f64 = r.intervals.iter().map(|i| i.end - i.start).sum();
            let first = r.intervals.first().map(|i| i.start).unwrap_or(0.0);
            let last = r.intervals.iter().map(|i| i.end).fold(0.0, f64::max);
            let count = r.intervals.len().to_string();
            vec![r.name.clone(), count, show(total), show(first), show(last)]
        };
        Data { header, rows: self.rows.iter().map(row).collect() }
    }
}

/// The boxes of a row as one path per kind; boxes that touch on the screen are joined.
fn boxes(row: &Row, y: f64, x: impl Fn(f64) -> f64) -> String {
    let mut out = String::new();
    for strong in [false, true] {
        let mut path = String::new();
        let mut open: Option<(f64, f64)> = None;
        let flush = |open: Option<(f64, f64)>, path: &mut String| {
            if let Some((a, b)) = open {
                path.push_str(&format!("M{} {}h{}v12H{}z", px(a), px(y + 3.0), px(b - a), px(a)));
            }
        };
        for interval in row.intervals.iter().filter(|i| i.strong == strong) {
            let (a, b) = (x(interval.start), x(interval.end).max(x(interval.start) + 0.6));
            open = match open {
                Some((from, to)) if a - to < 0.4 => Some((from, to.max(b))),
                other => {
                    flush(other, &mut path);
                    Some((a, b))
                }
            };
        }
        flush(open, &mut path);
        if !path.is_empty() {
            let class = if strong { "strong" } else { "soft" };
            out.push_str(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
        }
    }
    out
}
