//! The figure: three panels side by side, a line per run.

use super::table::{Stats, Table, size};
use std::fmt::Write as _;

const WIDTH: f64 = 1080.0;
const HEIGHT: f64 = 390.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 84.0;
const LEFT: f64 = 58.0;
const GAP: f64 = 46.0;
const RIGHT: f64 = 16.0;

/// Okabe and Ito's colours: told apart with any colour vision.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
/// Beyond the colours, lines are dashed.
const DASHES: [&str; 3] = ["", "6 3", "2 3"];

/// A panel's title and what it shows.
type Panel = (&'static str, fn(&Stats) -> f64);
const PANELS: [Panel; 3] =
    [("median", |s| s.p50), ("95th percentile", |s| s.p95), ("99th percentile", |s| s.p99)];

/// The vertical axis: logarithmic from 1 to the first of 2, 5, 10, 20, ... that covers all.
struct Scale {
    ticks: Vec<f64>,
    /// log10 of the last tick.
    span: f64,
}

impl Scale {
    fn new(table: &Table) -> Self {
        let all = table.buckets.iter().flat_map(|b| b.stats.iter().flatten());
        let most = all.map(|s| s.p99.max(s.p95).max(s.p50)).fold(1.0, f64::max);
        let mut ticks = vec![1.0];
        let mut top = 1.0;
        for (i, factor) in [2.0, 2.5, 2.0].iter().cycle().enumerate().take(36) {
            if top >= most && i > 0 {
                break;
            }
            top *= factor;
            ticks.push(top);
        }
        Self { ticks, span: libm::log10(top) }
    }

    /// Height of a slowdown above the axis, 0 to 1.
    fn at(&self, slowdown: f64) -> f64 {
        (libm::log10(slowdown.max(1.0)) / self.span).min(1.0)
    }
}

pub(super) fn svg(table: &Table) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>FCT slowdown by flow size</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    legend(&mut out, table);
    let scale = Scale::new(table);
    let width = (WIDTH - LEFT - RIGHT - 2.0 * GAP) / 3.0;
    for (i, panel) in PANELS.iter().enumerate() {
        let left = LEFT + i as f64 * (width + GAP);
        draw_panel(&mut out, table, &scale, left, width, panel);
    }
    out += "</svg>\n";
    out
}

fn style(i: usize) -> (&'static str, &'static str) {
    (COLOURS[i % COLOURS.len()], DASHES[i / COLOURS.len() % DASHES.len()])
}

fn legend(out: &mut String, table: &Table) {
    let mut x = LEFT;
    for (i, name) in table.names.iter().enumerate() {
        let (colour, dash) = style(i);
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"16\" x2=\"{:.1}\" y2=\"16\" stroke=\"{colour}\" \
             stroke-width=\"2\" stroke-dasharray=\"{dash}\"/>\
             <text x=\"{:.1}\" y=\"20\">{}</text>",
            x + 22.0,
            x + 28.0,
            escaped(name)
        );
        x += 44.0 + 7.0 * name.chars().count() as f64;
    }
}

fn draw_panel(
    out: &mut String,
    table: &Table,
    scale: &Scale,
    left: f64,
    width: f64,
    &(title, value): &Panel,
) {
    let height = HEIGHT - TOP - BOTTOM;
    let y = |slowdown: f64| TOP + height * (1.0 - scale.at(slowdown));
    let n = table.buckets.len();
    let x = |i: usize| left + width * (i as f64 + 0.5) / n.max(1) as f64;
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">slowdown, {title}</text>",
        left + width / 2.0,
        TOP - 10.0
    );
    for &label in &scale.ticks {
        let at = y(label);
        let _ = writeln!(
            out,
            "<line x1=\"{left:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            left + width,
            left - 6.0,
            at + 4.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">flow size up to</text>",
        left + width / 2.0,
        HEIGHT - 6.0
    );
    // About eight labels, whatever the number of buckets.
    for (i, bucket) in table.buckets.iter().enumerate().step_by(n.div_ceil(8).max(1)) {
        let (at, base) = (x(i), TOP + height + 14.0);
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{base:.1}\" text-anchor=\"end\" \
             transform=\"rotate(-40 {at:.1} {base:.1})\">{}</text>",
            size(bucket.largest)
        );
    }
    for run in 0..table.names.len() {
        let mut points = String::new();
        for (i, bucket) in table.buckets.iter().enumerate() {
            if let Some(stats) = &bucket.stats[run] {
                let _ = write!(points, "{:.1},{:.1} ", x(i), y(value(stats)));
            }
        }
        let (colour, dash) = style(run);
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dash}\"/>",
            points.trim_end()
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::{Sample, Series};
    use super::*;

    #[test]
    fn every_run_has_a_line_in_every_panel_and_a_name() {
        let samples: Vec<_> =
            (1..=40).map(|i| Sample { size: 1000 * i, slowdown: i as f64 }).collect();
        let runs: Vec<_> = ["a<b", "c"]
            .iter()
            .map(|n| Series { name: (*n).into(), samples: samples.clone() })
            .collect();
        let svg = Table::new(&runs, 20).svg();
        assert_eq!(svg.matches("<polyline").count(), 6);
        assert!(svg.contains("a&lt;b"));
        assert!(svg.contains(">50</text>") && !svg.contains(">100</text>"), "50 covers 40");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn an_empty_table_is_still_a_figure() {
        let svg = Table::new(&[], 20).svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }
}
