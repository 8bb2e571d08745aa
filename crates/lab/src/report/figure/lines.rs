//! Lines and steps over an axis, with thresholds drawn in.

use super::axis::Axis;
use super::{COLOURS, Data, Figure, WIDTH, escape, legend, px, svg, text_width};

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// Which colour.
    pub colour: usize,
    /// Points in ascending order of x.
    pub points: Vec<(f64, f64)>,
    /// Whether a value holds until the next point.
    pub steps: bool,
}

/// A level to compare with: a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where.
    pub y: f64,
    /// What it is.
    pub label: String,
}

/// A figure of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// The levels.
    pub marks: Vec<Mark>,
}

const LEFT: f64 = 56.0;
const RIGHT: f64 = 12.0;
const PLOT: f64 = 220.0;
const BELOW: f64 = 44.0;

/// A screen has no more pixels across than this.
const MOST_POINTS: usize = 700;

/// The table under a figure shows at most this many points of a line; the files have all.
const MOST_ROWS: usize = 60;

impl Lines {
    /// Draws it.
    pub fn figure(&self, id: &str, title: &str, caption: &str) -> Figure {
        let names: Vec<(usize, &str)> =
            self.series.iter().map(|s| (s.colour, s.name.as_str())).collect();
        let (mut body, top) = legend(&names);
        let height = top + PLOT + BELOW;
        body.push_str(&self.grid(top));
        for mark in self.marks.iter().filter(|m| m.y <= self.y.high) {
            body.push_str(&self.mark(mark, top));
        }
        for series in &self.series {
            body.push_str(&self.line(series, top));
        }
        Figure {
            id: id.into(),
            title: title.into(),
            caption: caption.into(),
            svg: svg(title, height, &body),
            data: self.data(),
        }
    }

    fn x_px(&self, x: f64) -> f64 {
        LEFT + self.x.at(x) * (WIDTH - LEFT - RIGHT)
    }

    fn y_px(&self, y: f64, top: f64) -> f64 {
        top + PLOT * (1.0 - self.y.at(y))
    }

    fn grid(&self, top: f64) -> String {
        let mut out = String::new();
        let (right, bottom) = (WIDTH - RIGHT, top + PLOT);
        for (value, text) in self.y.ticks(5) {
            let y = px(self.y_px(value, top));
            out.push_str(&format!(
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y}\" y2=\"{y}\"/>\
                 <text class=\"end\" x=\"{}\" y=\"{y}\" dy=\"4\">{text}</text>",
                LEFT - 6.0
            ));
        }
        let ticks = self.x.ticks(7);
        for (value, text) in &ticks {
            let x = px(self.x_px(*value));
            out.push_str(&format!(
                "<line class=\"axis\" x1=\"{x}\" x2=\"{x}\" y1=\"{0}\" y2=\"{1}\"/>\
                 <text class=\"mid\" x=\"{x}\" y=\"{2}\">{text}</text>",
                px(bottom),
                px(bottom + 4.0),
                px(bottom + 17.0)
            ));
        }
        out.push_str(&format!(
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{0}\" y2=\"{0}\"/>\
             <text class=\"mid label\" x=\"{1}\" y=\"{2}\">{3}</text>\
             <text class=\"mid label\" transform=\"translate(12 {4}) rotate(-90)\">{5}</text>",
            px(bottom),
            px((LEFT + right) / 2.0),
            px(bottom + 36.0),
            escape(&self.x.title()),
            px(top + PLOT / 2.0),
            escape(&self.y.title()),
        ));
        out
    }

    fn mark(&self, mark: &Mark, top: f64) -> String {
        let y = self.y_px(mark.y, top);
        let right = WIDTH - RIGHT;
        format!(
            "<line class=\"mark\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{0}\" y2=\"{0}\"/>\
             <text class=\"marktext\" x=\"{1}\" y=\"{2}\">{3}</text>",
            px(y),
            px(right - text_width(&mark.label)),
            px(y - 4.0),
            escape(&mark.label)
        )
    }

    fn line(&self, series: &Series, top: f64) -> String {
        let points = thin(&series.points, MOST_POINTS);
        let mut path = String::new();
        let mut before: Option<f64> = None;
        for (x, y) in points {
            let (x, y) = (self.x_px(x), self.y_px(y, top));
            match before {
                None => path.push_str(&format!("M{} {}", px(x), px(y))),
                Some(_) if series.steps => path.push_str(&format!("H{}V{}", px(x), px(y))),
                Some(_) => path.push_str(&format!("L{} {}", px(x), px(y))),
            }
            before = Some(y);
        }
        let colour = series.colour % COLOURS;
        format!("<path class=\"s{colour}\" d=\"{path}\"><title>{}</title></path>", escape(&series.name))
    }

    fn data(&self) -> Data {
        let header = ["", &self.x.label, &self.y.label].map(str::to_owned).to_vec();
        let mut rows = Vec::new();
        for series in &self.series {
            for (x, y) in thin(&series.points, MOST_ROWS) {
                rows.push(vec![series.name.clone(), self.x.unit.show(x), self.y.unit.show(y)]);
            }
        }
        Data { header, rows }
    }
}

/// At most about `most` points: of every stretch, the lowest and the highest stay.
fn thin(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(most / 2);
    let mut kept = Vec::with_capacity(most + 2);
    for chunk in points.chunks(stretch) {
        let by_y = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (low, high) = (chunk.iter().min_by(by_y), chunk.iter().max_by(by_y));
        let mut pair: Vec<(f64, f64)> = low.into_iter().chain(high).copied().collect();
        pair.sort_by(|a, b| a.0.total_cmp(&b.0));
        pair.dedup();
        kept.extend(pair);
    }
    // a line ends where its data ends
    if kept.last() != points.last() {
        kept.extend(points.last());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::axis::Unit;
    use super::*;

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
    fn a_threshold_and_its_name_are_drawn() {
        let lines = Lines {
            x: Axis::linear("time", Unit::Time, 1e9),
            y: Axis::linear("queue", Unit::Bytes, 100e3),
            series: vec![Series {
                name: "PFC".into(),
                colour: 0,
                points: vec![(0.0, 0.0), (1e9, 80e3)],
                steps: false,
            }],
            marks: vec![Mark { y: 75e3, label: "xoff".into() }],
        };
        let figure = lines.figure("q", "Queue", "");
        assert!(figure.svg.contains(">xoff</text>") && figure.svg.contains("queue (KB)"));
        assert_eq!(figure.data.rows[1], ["PFC", "1.00 ms", "80.0 KB"]);
    }
}
