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

/// A coordinate of a path: a tenth of a point is less than a printer's dot.
fn tenth(x: f64) -> String {
    px(libm::round(x * 10.0) / 10.0)
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
    let mut d = String::new();
    let mut last = (String::new(), String::new());
    for step in steps {
        match step {
            Step::Move(x, y) => {
                last = (tenth(*x), tenth(*y));
                let _ = write!(d, "M{} {}", last.0, last.1);
            }
            Step::Line(x, y) => {
                let next = (tenth(*x), tenth(*y));
                let _ = match (next.0 == last.0, next.1 == last.1) {
                    (true, true) => Ok(()),
                    (true, false) => write!(d, "V{}", next.1),
                    (false, true) => write!(d, "H{}", next.0),
                    (false, false) => write!(d, "L{} {}", next.0, next.1),
                };
                last = next;
            }
            Step::Close => d.push('Z'),
        }
    }
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
    let _ = match title {
        "" => write!(out, "<path{attributes} d=\"{d}\"/>"),
        _ => write!(out, "<path{attributes} d=\"{d}\"><title>{}</title></path>", escape(title)),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, -0.001, 1.5, 2.0, 10.0, 100.25].map(px);
        assert_eq!(texts, ["0", "0", "1.5", "2", "10", "100.25"]);
        assert_eq!([tenth(1.26), tenth(-0.04), tenth(3.0)], ["1.3", "0", "3"]);
        let steps = [Step::Move(0.0, 0.0), Step::Line(5.0, 0.0), Step::Line(5.0, 2.51)];
        let mut out = String::new();
        path(&mut out, &steps, None, Some((Paint::Ink, 1.0)), "");
        assert!(out.contains("d=\"M0 0H5V2.5\""), "{out}");
    }
}
