//! Small figures as SVG: lines, bars and timelines.
//!
//! A figure is data first: what it shows stands in a table beside it. Colours are CSS variables
//! that the page defines for light and dark; a saved figure carries them along.

mod axis;
mod bars;
mod lines;
mod timeline;

pub use axis::{Axis, Scale, Unit};
pub use bars::{Bar, Bars};
pub use lines::{Lines, Mark, Series};
pub use timeline::{Interval, Row, Timeline};

/// A figure with its words and its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Short name, for links and file names.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The drawing.
    pub svg: String,
    /// The data: a heading and rows.
    pub data: Data,
}

/// The numbers behind a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Column names.
    pub header: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

/// How many colours there are before they repeat.
pub const COLOURS: usize = 12;

/// Width of every drawing; the page scales it.
const WIDTH: f64 = 720.0;

/// Text that may stand in XML and HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // characters that XML does not allow at all
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// An SVG element around `body`.
fn svg(title: &str, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" role=\"img\" \
         aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {height}\">{body}</svg>",
        escape(title)
    )
}

/// A coordinate with enough digits for a screen.
fn px(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// About how wide a text of the figures' font is.
fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 7.0
}

/// A legend above the drawing: its elements and the height it takes.
fn legend(names: &[(usize, &str)]) -> (String, f64) {
    if names.len() < 2 {
        return (String::new(), 8.0);
    }
    let (mut x, mut y, mut out) = (56.0, 12.0, String::new());
    for (colour, name) in names {
        let wide = 32.0 + text_width(name);
        if x + wide > WIDTH - 8.0 {
            (x, y) = (56.0, y + 18.0);
        }
        out.push_str(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"4\" rx=\"2\" class=\"f{}\"/>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            px(x),
            px(y - 5.0),
            colour % COLOURS,
            px(x + 17.0),
            px(y),
            escape(name)
        ));
        x += wide;
    }
    (out, y + 14.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_write_cannot_break_out_of_the_markup() {
        assert_eq!(escape("<b a=\"x\">&\u{7}"), "&lt;b a=&quot;x&quot;&gt;&amp; ");
    }
}
