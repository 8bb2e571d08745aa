//! Scenes as SVG. Text stays text: it can be selected, searched and edited.

use crate::font::{FAMILIES, Weight};
use crate::scene::{Anchor, Item, Scene, Step, Stroke};
use crate::style::{Paint, Theme, css_variables};
use std::fmt::Write;
use weir_core::decimal::fixed;
use weir_core::markup::escape;

/// The rules that [`inline`] relies on; a page that shows figures inline has them once, beside
/// the variables of [`css_variables`].
pub fn css() -> String {
    let mut out = format!("svg.figure text {{ font-family: {FAMILIES}; }}\n");
    for paint in Paint::all() {
        let name = paint.css();
        let _ = writeln!(out, ".p-{name} {{ fill: var(--{name}); }}");
        let _ = writeln!(out, ".l-{name} {{ stroke: var(--{name}); fill: none; }}");
    }
    out
}

/// An element for a page that has the rules of [`css`] and the variables of its theme.
pub fn inline(scene: &Scene, title: &str) -> String {
    element(scene, title, "", &body(scene))
}

/// A file of its own: light, and dark where its viewer asks for it.
pub fn file(scene: &Scene, title: &str) -> String {
    let style = format!(
        "<style>svg {{ {} }}\n@media (prefers-color-scheme: dark) {{ svg {{ {} }} }}\n\
         @media print {{ svg {{ {0} }} }}\n{}</style>",
        css_variables(Theme::Light),
        css_variables(Theme::Dark),
        css()
    );
    let (w, h) = (px(scene.width), px(scene.height));
    let ground = format!("<rect class=\"p-bg\" width=\"{w}\" height=\"{h}\"/>");
    let size = format!(" width=\"{w}pt\" height=\"{h}pt\"");
    element(scene, title, &size, &format!("{style}{ground}{}", body(scene)))
}

fn element(scene: &Scene, title: &str, size: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" role=\"img\" \
         aria-label=\"{}\"{size} viewBox=\"0 0 {} {}\">{body}</svg>",
        escape(title),
        px(scene.width),
        px(scene.height)
    )
}

/// A coordinate with enough digits for a screen.
fn px(x: f64) -> String {
    let mut text = fixed(x, 2);
    let short = text.trim_end_matches('0').trim_end_matches('.').len();
    text.truncate(short);
    if text == "-0" { "0".into() } else { text }
}

/// A coordinate of a path, in tenths of a point: one is less than a printer's dot.
fn tenths(x: f64) -> f64 {
    libm::round(x * 10.0)
}

/// Appends so many tenths as [`px`] writes them. Paths have thousands of them.
fn push_tenths(out: &mut String, n: f64) {
    // far beyond, a tenth is less than what a number can tell apart
    if n.abs() >= 1e13 || n.is_nan() {
        out.push_str(&px(n / 10.0));
        return;
    }
    let n = n as i64;
    if n < 0 {
        out.push('-');
    }
    let mut digits = [b'0'; 20];
    let (mut first, mut rest) = (digits.len(), n.unsigned_abs() / 10);
    while rest > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend(digits[first..].iter().map(|&digit| char::from(digit)));
    let tenth = (n.unsigned_abs() % 10) as u8;
    if tenth > 0 {
        out.push('.');
        out.push(char::from(b'0' + tenth));
    }
}

fn body(scene: &Scene) -> String {
    let mut out = String::new();
    for item in &scene.items {
        match item {
            Item::Path { steps, stroke, fill, title } => {
                path(&mut out, steps, *stroke, *fill, title);
            }
            Item::Text { at, text, size, weight, paint, anchor, upwards } => {
                let place = match upwards {
                    false => format!("x=\"{}\" y=\"{}\"", px(at.0), px(at.1)),
                    true => {
                        format!("transform=\"translate({} {}) rotate(-90)\"", px(at.0), px(at.1))
                    }
                };
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                let bold = if *weight == Weight::Bold { " font-weight=\"bold\"" } else { "" };
                let _ = write!(
                    out,
                    "<text {place} font-size=\"{}\" class=\"p-{}\"{anchor}{bold}>{}</text>",
                    px(*size),
                    paint.css(),
                    escape(text)
                );
            }
        }
    }
    out
}

fn path(
    out: &mut String,
    steps: &[Step],
    stroke: Option<Stroke>,
    fill: Option<(Paint, f64)>,
    title: &str,
) {
    let mut attributes = String::new();
    if let Some((paint, opacity)) = fill {
        let _ = write!(attributes, " class=\"p-{}\"", paint.css());
        if opacity < 1.0 {
            let _ = write!(attributes, " fill-opacity=\"{}\"", px(opacity));
        }
    } else if let Some(Stroke { paint, width, dash }) = stroke {
        let _ = write!(attributes, " class=\"l-{}\" stroke-width=\"{}\"", paint.css(), px(width));
        attributes.push_str(" stroke-linejoin=\"round\"");
        if !dash.is_empty() {
            let lengths: Vec<String> = dash.iter().map(|d| px(d * width)).collect();
            let _ = write!(attributes, " stroke-dasharray=\"{}\"", lengths.join(" "));
        }
    }
    let _ = write!(out, "<path{attributes} d=\"");
    draw(out, steps);
    let _ = match title {
        "" => write!(out, "\"/>"),
        _ => write!(out, "\"><title>{}</title></path>", escape(title)),
    };
}

/// Appends the steps of a path.
fn draw(out: &mut String, steps: &[Step]) {
    let mut last = (f64::NAN, f64::NAN);
    for step in steps {
        match step {
            Step::Move(x, y) => {
                last = (tenths(*x), tenths(*y));
                push_place(out, 'M', last);
            }
            Step::Line(x, y) => {
                let next = (tenths(*x), tenths(*y));
                match (next.0 == last.0, next.1 == last.1) {
                    (true, true) => {}
                    (true, false) => push_step(out, 'V', next.1),
                    (false, true) => push_step(out, 'H', next.0),
                    (false, false) => push_place(out, 'L', next),
                }
                last = next;
            }
            Step::Close => out.push('Z'),
        }
    }
}

fn push_step(out: &mut String, letter: char, to: f64) {
    out.push(letter);
    push_tenths(out, to);
}

fn push_place(out: &mut String, letter: char, (x, y): (f64, f64)) {
    push_step(out, letter, x);
    push_step(out, ' ', y);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, -0.001, 1.5, 2.0, 10.0, 100.25].map(px);
        assert_eq!(texts, ["0", "0", "1.5", "2", "10", "100.25"]);
        let steps = [Step::Move(0.0, 0.0), Step::Line(5.0, 0.0), Step::Line(5.0, 2.51)];
        let mut out = String::new();
        path(&mut out, &steps, None, Some((Paint::Ink, 1.0)), "");
        assert!(out.contains("d=\"M0 0H5V2.5\""), "{out}");
    }

    /// As a number that is rounded to tenths and then written with two digits.
    #[test]
    fn tenths_are_written_as_other_numbers_are() {
        let many = (-300..300).flat_map(|i| [f64::from(i) * 0.37, f64::from(i) * 1e4]);
        let odd = [
            1.26,
            -0.04,
            -0.0,
            9.99,
            1e11,
            123456789012.3,
            1e12,
            1e14,
            -1e16,
            1e300,
            f64::NAN,
            f64::INFINITY,
        ];
        for x in many.chain(odd) {
            let mut text = String::new();
            push_tenths(&mut text, tenths(x));
            assert_eq!(text, px(libm::round(x * 10.0) / 10.0), "{x}");
        }
    }
}
