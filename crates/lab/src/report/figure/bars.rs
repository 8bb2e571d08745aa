//! Horizontal bars in groups.

use super::axis::{Axis, Unit};
use super::{COLOURS, Data, Figure, WIDTH, escape, px, svg, text_width};
use crate::stats::usual_max;

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it is.
    pub name: String,
    /// Which colour.
    pub colour: usize,
    /// How long; `None` shows the note alone.
    pub value: Option<f64>,
    /// A thin line up to here: the largest of what the bar is the mean of.
    pub whisker: Option<f64>,
    /// Beside the bar, after its value.
    pub note: String,
}

/// A figure of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What lengths mean.
    pub label: String,
    /// What they count.
    pub unit: Unit,
    /// Groups with a heading each.
    pub groups: Vec<(String, Vec<Bar>)>,
}

const ROW: f64 = 19.0;
const HEAD: f64 = 26.0;

impl Bars {
    /// Draws it.
    pub fn figure(&self, id: &str, title: &str, caption: &str) -> Figure {
        let bars = || self.groups.iter().flat_map(|(_, bars)| bars);
        let names = bars().map(|b| text_width(&b.name)).fold(40.0, f64::max);
        let left = names + 20.0;
        let notes = bars().map(|b| text_width(&self.text(b))).fold(0.0, f64::max);
        let room = (WIDTH - left - notes - 32.0).max(120.0);
        let mut body = String::new();
        let mut y = 4.0;
        for (heading, bars) in &self.groups {
            // every group has its own scale: the values stand beside the bars
            let longest = usual_max(bars.iter().filter_map(|b| b.value));
            let reach = bars.iter().filter_map(|b| b.whisker).filter(|w| *w <= longest * 2.0);
            let axis = Axis::linear(&self.label, self.unit, reach.fold(longest, f64::max));
            y += HEAD;
            let text = escape(heading);
            body.push_str(&format!("<text class=\"head\" x=\"4\" y=\"{}\">{text}</text>", y - 9.0));
            for bar in bars {
                body.push_str(&self.bar(bar, &axis, (left, room), y));
                y += ROW;
            }
        }
        Figure {
            id: id.into(),
            title: title.into(),
            caption: caption.into(),
            svg: svg(title, y + 6.0, &body),
            data: self.data(),
        }
    }

    fn text(&self, bar: &Bar) -> String {
        let value = bar.value.map(|v| self.unit.show(v)).unwrap_or_default();
        let most = match (bar.value, bar.whisker) {
            (Some(v), Some(most)) if most > v * 1.005 => {
                format!(", up to {}", self.unit.show(most))
            }
            _ => String::new(),
        };
        format!("{value}{most} {}", bar.note).trim().to_owned()
    }

    fn bar(&self, bar: &Bar, axis: &Axis, (left, room): (f64, f64), y: f64) -> String {
        let (value, text) = (bar.value.unwrap_or(0.0), self.text(bar));
        let long = axis.at(value) * room;
        let mut end = left + long;
        let beyond = value > axis.high;
        let mut out = format!(
            "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>\
             <rect class=\"f{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" rx=\"2\"/>",
            px(left - 6.0),
            px(y + 10.0),
            escape(&bar.name),
            bar.colour % COLOURS,
            px(left),
            px(y),
            px(long),
        );
        if beyond {
            // the bar goes on: a gap near its end says so
            let x = px(left + long - 18.0);
            out.push_str(&format!("<path class=\"gap\" d=\"M{x} {}l4 -16\"/>", px(y + 14.0)));
        }
        if let Some(most) = bar.whisker.filter(|most| *most > value && !beyond) {
            end = left + axis.at(most) * room;
            // a line that goes on beyond the figure has a gap and no end
            let stroke = if most > axis.high { "m4 0h4m4 0h4" } else { "m0 -4v8" };
            out.push_str(&format!(
                "<path class=\"whisker\" d=\"M{} {}H{}{stroke}\"/>",
                px(left + long),
                px(y + 6.0),
                px(end)
            ));
            end += if most > axis.high { 16.0 } else { 0.0 };
        }
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\">{}</text>",
            px(end + 6.0),
            px(y + 10.0),
            escape(&text)
        ));
        out
    }

    fn data(&self) -> Data {
        let header = ["", "", &self.label, "largest", ""].map(str::to_owned).to_vec();
        let mut rows = Vec::new();
        for (heading, bars) in &self.groups {
            for bar in bars {
                let show = |v: Option<f64>| v.map(|v| self.unit.show(v)).unwrap_or_default();
                rows.push(vec![
                    heading.clone(),
                    bar.name.clone(),
                    show(bar.value),
                    show(bar.whisker),
                    bar.note.clone(),
                ]);
            }
        }
        Data { header, rows }
    }
}
