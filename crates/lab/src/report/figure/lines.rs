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
/// Height of a strip, and of the name above it.
const STRIP: f64 = 64.0;
const HEADING: f64 = 20.0;

/// Where a line is drawn.
#[derive(Clone, Copy)]
struct Plot {
    top: f64,
    height: f64,
}

/// A screen has no more pixels across than this.
const MOST_POINTS: usize = 700;

/// The table under a figure shows at most this many points of a line; the files have all.
const MOST_ROWS: usize = 60;

impl Lines {
    /// Draws all lines over each other.
    pub fn figure(&self, id: &str, title: &str, caption: &str) -> Figure {
        let names: Vec<(usize, &str)> =
            self.series.iter().map(|s| (s.colour, s.name.as_str())).collect();
        let (mut body, top) = legend(&names);
        let plot = Plot { top, height: PLOT };
        body.push_str(&self.grid(plot, 5));
        body.push_str(&self.marks(plot, true));
        for series in &self.series {
            body.push_str(&self.line(series, plot));
        }
        body.push_str(&self.x_axis(top + PLOT));
        body.push_str(&self.y_title(top + PLOT / 2.0));
        self.finish(id, title, caption, (&body, top + PLOT + BELOW))
    }

    /// Draws each line in a strip of its own, on common axes: lines that wave up and down
    /// cannot be told apart when there are many over each other.
    pub fn strips(&self, id: &str, title: &str, caption: &str) -> Figure {
        let mut body = String::new();
        let mut top = 6.0;
        for (i, series) in self.series.iter().enumerate() {
            top += HEADING;
            let plot = Plot { top, height: STRIP };
            body.push_str(&format!(
                "<text class=\"head\" x=\"{LEFT}\" y=\"{}\">{}</text>",
                px(top - 5.0),
                escape(&series.name)
            ));
            body.push_str(&self.grid(plot, 2));
            body.push_str(&self.marks(plot, i == 0));
            body.push_str(&self.line(series, plot));
            top += STRIP;
        }
        body.push_str(&self.x_axis(top));
        body.push_str(&self.y_title(top / 2.0));
        self.finish(id, title, caption, (&body, top + BELOW))
    }

    fn finish(&self, id: &str, title: &str, caption: &str, (body, height): (&str, f64)) -> Figure {
        Figure {
            id: id.into(),
            title: title.into(),
            caption: caption.into(),
            svg: svg(title, height, body),
            data: self.data(),
        }
    }

    fn x_px(&self, x: f64) -> f64 {
        LEFT + self.x.at(x) * (WIDTH - LEFT - RIGHT)
    }

    fn y_px(&self, y: f64, plot: Plot) -> f64 {
        plot.top + plot.height * (1.0 - self.y.at(y))
    }

    fn grid(&self, plot: Plot, ticks: usize) -> String {
        let mut out = String::new();
        let right = WIDTH - RIGHT;
        for (value, text) in self.y.ticks(ticks) {
            let y = px(self.y_px(value, plot));
            out.push_str(&format!(
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y}\" y2=\"{y}\"/>\
                 <text class=\"end\" x=\"{}\" y=\"{y}\" dy=\"4\">{text}</text>",
                LEFT - 6.0
            ));
        }
        out
    }

    fn x_axis(&self, bottom: f64) -> String {
        let mut out = String::new();
        let right = WIDTH - RIGHT;
        for (value, text) in self.x.ticks(7) {
            let x = px(self.x_px(value));
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
             <text class=\"mid label\" x=\"{1}\" y=\"{2}\">{3}</text>",
            px(bottom),
            px((LEFT + right) / 2.0),
            px(bottom + 36.0),
            escape(&self.x.title()),
        ));
        out
    }

    fn y_title(&self, middle: f64) -> String {
        format!(
            "<text class=\"mid label\" transform=\"translate(12 {}) rotate(-90)\">{}</text>",
            px(middle),
            escape(&self.y.title()),
        )
    }

    fn marks(&self, plot: Plot, named: bool) -> String {
        let inside: Vec<&Mark> = self.marks.iter().filter(|m| m.y <= self.y.high).collect();
        let y = |m: &Mark| self.y_px(m.y, plot);
        // names stand above their lines, but for one that would stand on the name or line above
        let crowded = |m: &Mark| inside.iter().any(|o| y(o) < y(m) && y(m) - y(o) < 14.0);
        let name = |m: &Mark| named.then(|| if crowded(m) { 12.0 } else { -4.0 });
        inside.iter().map(|m| self.mark(m, y(m), name(m))).collect()
    }

    fn mark(&self, mark: &Mark, y: f64, name: Option<f64>) -> String {
        let right = WIDTH - RIGHT;
        let mut out = format!(
            "<line class=\"mark\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{0}\" y2=\"{0}\"/>",
            px(y)
        );
        if let Some(offset) = name {
            out.push_str(&format!(
                "<text class=\"marktext\" x=\"{}\" y=\"{}\">{}</text>",
                px(right - text_width(&mark.label)),
                px(y + offset),
                escape(&mark.label)
            ));
        }
        out
    }

    fn line(&self, series: &Series, plot: Plot) -> String {
        let points = thin(&series.points, MOST_POINTS);
        let mut path = String::new();
        let mut before: Option<f64> = None;
        for (x, y) in points {
            let (x, y) = (self.x_px(x), self.y_px(y, plot));
            match before {
                None => path.push_str(&format!("M{} {}", px(x), px(y))),
                Some(_) if series.steps => path.push_str(&format!("H{}V{}", px(x), px(y))),
                Some(_) => path.push_str(&format!("L{} {}", px(x), px(y))),
            }
            before = Some(y);
        }
        let colour = series.colour % COLOURS;
        format!(
            "<path class=\"s{colour}\" d=\"{path}\"><title>{}</title></path>",
            escape(&series.name)
        )
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
