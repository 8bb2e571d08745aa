//! The bottleneck queue of a 16:1 incast under each congestion control, as SVG on standard
//! output (the figure of the congestion control page).

#[path = "../tests/common/incast.rs"]
mod incast;

use incast::{CASES, Queue, queue};
use std::fmt::Write as _;

const STOP_US: u64 = 20_000;
const BIN_NS: u64 = 25_000;
const LEFT: f64 = 170.0;
const WIDTH: f64 = 720.0;
const PANEL: f64 = 120.0;
const HEIGHT: f64 = 95.0;
/// The vertical axis ends here; start-up peaks are cut off and written out.
const TOP_KB: f64 = 2000.0;

fn main() {
    let height = CASES.len() as f64 * PANEL + 40.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>Bottleneck queue of a 16:1 \
         incast</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        LEFT + WIDTH + 30.0
    );
    for (i, (name, thresholds)) in CASES.iter().enumerate() {
        let q = queue(name, STOP_US, BIN_NS);
        panel(&mut svg, 10.0 + i as f64 * PANEL, name, thresholds, &q);
    }
    for ms in (0..=STOP_US / 1000).step_by(2) {
        let x = LEFT + WIDTH * (ms * 1000) as f64 / STOP_US as f64;
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{ms} ms</text>",
            height - 20.0
        );
    }
    svg += "</svg>\n";
    print!("{svg}");
}

fn panel(svg: &mut String, top: f64, name: &str, thresholds: &[u32], q: &Queue) {
    let x = |t: usize| LEFT + WIDTH * t as f64 / (STOP_US * 1000 / BIN_NS) as f64;
    let y = |kb: f64| top + HEIGHT * (1.0 - kb.min(TOP_KB) / TOP_KB);
    let most = q.bins.iter().map(|b| b.1).max().unwrap_or(0);
    let right = LEFT + WIDTH;
    let _ = writeln!(
        svg,
        "<text x=\"8\" y=\"{:.1}\">{name}</text>\n<text x=\"8\" y=\"{:.1}\" fill=\"#666666\">peak \
         {:.2} MB</text>",
        top + 14.0,
        top + 30.0,
        f64::from(most) / 1e6
    );
    for (label, kb) in [("2 MB", TOP_KB), ("0", 0.0)] {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text><line x1=\"{LEFT}\" \
             y1=\"{:.1}\" x2=\"{right}\" y2=\"{:.1}\" stroke=\"#cccccc\"/>",
            LEFT - 6.0,
            y(kb) + 4.0,
            y(kb),
            y(kb)
        );
    }
    for &kb in thresholds {
        let at = y(f64::from(kb));
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#d55e00\" \
             stroke-dasharray=\"4 4\"/>"
        );
    }
    let mut points = String::new();
    for (t, bin) in q.bins.iter().enumerate() {
        let (low, high) = (f64::from(bin.0) / 1000.0, f64::from(bin.1) / 1000.0);
        let _ = write!(points, "{:.1},{:.1} ", x(t), y(low));
        if y(high) < y(low) - 0.05 {
            let _ = write!(points, "{:.1},{:.1} ", x(t), y(high));
        }
    }
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#0072b2\"/>",
        points.trim_end()
    );
}
