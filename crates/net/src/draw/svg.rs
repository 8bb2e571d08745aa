//! The picture as text.

use super::layout::{HostStyle, Hosts, Layout, Rect, TOP, Text};
use super::scene::{Arrow, Bundle, Pointer, Scene, Sign, Towards};
use crate::analysis::Census;
use crate::topology::{Layer, Topology};
use std::fmt::Write;
use weir_core::decimal::Tenths;
use weir_core::markup::escape;

/// All rules are below `.weir-topo`, so that a picture inside a page leaves the page alone.
const STYLE: &str = "\
.weir-topo{font:11px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}
.weir-topo .bg{fill:#fff}
.weir-topo text{fill:#24292f}
.weir-topo .t{font-size:16px;font-weight:600}
.weir-topo .s,.weir-topo .hl{fill:#57606a}
.weir-topo .hl{font-size:10px}
.weir-topo .l,.weir-topo .lh{stroke:#8c959f;fill:none}
.weir-topo .dense .l{stroke-opacity:.4}
.weir-topo .crowd .l{stroke-opacity:.15}
.weir-topo .lx{stroke:#cf222e;stroke-dasharray:5 4;stroke-width:1.2;fill:none}
.weir-topo .lm{stroke:#cf222e;stroke-width:2.2;fill:none}
.weir-topo .lc{stroke:#cf222e;stroke-width:3;fill:none}
.weir-topo .ah{fill:#cf222e}
.weir-topo .core{fill:#ddf4ff;stroke:#0969da}
.weir-topo .agg{fill:#dafbe1;stroke:#1a7f37}
.weir-topo .tor{fill:#fff8c5;stroke:#9a6700}
.weir-topo .other{fill:#fbefff;stroke:#8250df}
.weir-topo .host,.weir-topo .hb{fill:#f6f8fa;stroke:#6e7781}
.weir-topo .hd{fill:#6e7781}
.weir-topo .hm{fill:#cf222e}
.weir-topo .m{fill:#cf222e;stroke:#fff;stroke-width:1.5}
.weir-topo .a,.weir-topo .hl,.weir-topo .mt{paint-order:stroke;stroke:#fff;stroke-width:3px;\
stroke-linejoin:round}
.weir-topo .mt{fill:#cf222e;font-weight:600}
@media screen and (prefers-color-scheme:dark){
.weir-topo .bg{fill:#0d1117}
.weir-topo text{fill:#e6edf3}
.weir-topo .s,.weir-topo .hl{fill:#9198a1}
.weir-topo .l,.weir-topo .lh{stroke:#6e7681}
.weir-topo .lx,.weir-topo .lm,.weir-topo .lc{stroke:#ff7b72}
.weir-topo .ah{fill:#ff7b72}
.weir-topo .core{fill:#0c2d6b;stroke:#58a6ff}
.weir-topo .agg{fill:#033a16;stroke:#3fb950}
.weir-topo .tor{fill:#3b2300;stroke:#d29922}
.weir-topo .other{fill:#3c1e70;stroke:#bc8cff}
.weir-topo .host,.weir-topo .hb{fill:#161b22;stroke:#8b949e}
.weir-topo .hd{fill:#8b949e}
.weir-topo .hm,.weir-topo .m{fill:#ff7b72}
.weir-topo .m,.weir-topo .a,.weir-topo .hl,.weir-topo .mt{stroke:#0d1117}
.weir-topo .mt{fill:#ff7b72}
}";

/// More lines than this are drawn thin and pale, so that the crowd stays readable.
const DENSE: usize = 150;
/// More than this, even paler.
const CROWD: usize = 1500;

pub(super) fn write(topo: &Topology, scene: &Scene, layout: &Layout, title: &str) -> String {
    let census = Census::new(topo);
    let legend = legend(scene, &census);
    let subtitle = subtitle(&census);
    // a picture is never narrower than its text
    let text = [&legend, &subtitle].map(|s| 6.0 * s.chars().count() as f64 + 48.0);
    let width = text.into_iter().fold(layout.width, f64::max);
    let mut out = Canvas { text: String::new(), shift: (width - layout.width) / 2.0 };
    let (w, h) = (width.ceil(), layout.height.ceil());
    out.raw(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"weir-topo\" viewBox=\"0 0 {w} {h}\" \
         width=\"{w}\" height=\"{h}\" role=\"img\" style=\"max-width:100%;height:auto\">\n"
    ));
    out.raw(&format!(
        "<title>{}</title>\n",
        escape(if title.is_empty() { "Topology" } else { title })
    ));
    out.raw(&format!("<style>\n{STYLE}\n</style>\n"));
    out.raw(&format!("<rect class=\"bg\" width=\"{w}\" height=\"{h}\"/>\n"));
    out.heading(title, &subtitle);
    out.links(scene, layout);
    for &arrow in &scene.cycle {
        out.arrow(layout, arrow);
    }
    for i in 0..scene.items.len() {
        out.hosts(layout, scene, i);
        out.item(layout, scene, i);
    }
    for pointer in &scene.pointers {
        out.pointer(layout, pointer);
    }
    out.raw(&format!(
        "<text class=\"s\" x=\"24\" y=\"{:.0}\">{}</text>\n",
        h - 16.0,
        escape(&legend)
    ));
    out.raw("</svg>\n");
    out.text
}

fn subtitle(census: &Census) -> String {
    let plural =
        |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut text = format!(
        "{}, {}",
        plural(census.hosts, "host", "hosts"),
        plural(census.switches, "switch", "switches")
    );
    if census.layers.len() > 1 {
        let layers = census.layers.iter().map(|(layer, n)| format!("{n} {}", label(*layer)));
        let _ = write!(text, " ({})", layers.collect::<Vec<_>>().join(", "));
    }
    let _ = write!(text, ", {}", plural(census.links, "link", "links"));
    text
}

fn label(layer: Layer) -> &'static str {
    match layer {
        Layer::Tor => "ToR",
        Layer::Other => "switch",
        layer => layer.name(),
    }
}

/// The speeds of the links, and what the red marks mean.
fn legend(scene: &Scene, census: &Census) -> String {
    let mut parts: Vec<String> = Vec::new();
    for tier in &census.tiers {
        let speed = match tier.rates {
            (slow, fast) if slow == fast => fast.to_string(),
            (slow, fast) => format!("{slow} to {fast}"),
        };
        parts.push(format!(
            "{}-{}: {} x {speed}",
            label(tier.lower),
            label(tier.upper),
            tier.links
        ));
    }
    if !scene.missing.is_empty() {
        parts.push("dashed red: failed link".to_owned());
    }
    if scene.pointers.iter().any(|p| p.sign == Sign::Congested) {
        parts.push("red dot: congested port".to_owned());
    }
    if !scene.cycle.is_empty() {
        parts.push("red arrows: each waits for the next".to_owned());
    }
    parts.join(" \u{b7} ")
}

struct Canvas {
    text: String,
    /// Everything but the text moves right by this, to the middle.
    shift: f64,
}

impl Canvas {
    fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn heading(&mut self, title: &str, subtitle: &str) {
        let mut y = TOP - 34.0;
        if !title.is_empty() {
            self.raw(&format!(
                "<text class=\"t\" x=\"24\" y=\"{y:.0}\">{}</text>\n",
                escape(title)
            ));
            y += 18.0;
        }
        self.raw(&format!("<text class=\"s\" x=\"24\" y=\"{y:.0}\">{}</text>\n", escape(subtitle)));
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64), width: f64) {
        let s = self.shift;
        let _ = writeln!(
            self.text,
            "<path class=\"{class}\" stroke-width=\"{}\" d=\"M{} {}L{} {}\"/>",
            Tenths(width),
            Tenths(from.0 + s),
            Tenths(from.1),
            Tenths(to.0 + s),
            Tenths(to.1)
        );
    }

    fn label(&mut self, class: &str, (x, y): (f64, f64), direction: Text, text: &str) {
        let (x, y, text) = (Tenths(x + self.shift), Tenths(y), escape(text));
        let turn = match direction {
            Text::Upright => format!(" transform=\"rotate(-90 {x} {y})\""),
            Text::Level => String::new(),
        };
        let _ = writeln!(
            self.text,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" \
             dy=\".35em\"{turn}>{text}</text>"
        );
    }

    fn rect(&mut self, class: &str, r: Rect, radius: f64) {
        let _ = writeln!(
            self.text,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" \
             rx=\"{radius}\"/>",
            Tenths(r.x - r.w / 2.0 + self.shift),
            Tenths(r.y - r.h / 2.0),
            Tenths(r.w),
            Tenths(r.h)
        );
    }

    fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let (x, y) = (Tenths(x + self.shift), Tenths(y));
        let _ =
            writeln!(self.text, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>");
    }

    fn links(&mut self, scene: &Scene, layout: &Layout) {
        let dense = scene.lines.len() > DENSE;
        let slowest = scene.lines.iter().map(|l| l.rate.as_bps()).min().unwrap_or(1).max(1);
        self.raw(match scene.lines.len() {
            n if n > CROWD => "<g class=\"crowd\">\n",
            n if n > DENSE => "<g class=\"dense\">\n",
            _ => "<g>\n",
        });
        // marked lines last, on top
        for marked in [false, true] {
            for line in scene.lines.iter().filter(|l| l.marked == marked) {
                let times = (line.rate.as_bps() / slowest).max(1).ilog2().min(5);
                let thin = if dense { 0.7 } else { 1.2 };
                let width = thin * (1.0 + 0.5 * f64::from(times)) + if marked { 1.2 } else { 0.0 };
                self.curve(layout, if marked { "lm" } else { "l" }, line.ends, width);
                if !dense {
                    self.multiplicity(layout, line);
                }
            }
        }
        for &ends in &scene.missing {
            self.curve(layout, "lx", ends, 1.2);
        }
        self.raw("</g>\n");
    }

    fn multiplicity(&mut self, layout: &Layout, line: &Bundle) {
        if line.count > 1 {
            let (a, b) = layout.line(line.ends.0, line.ends.1);
            let middle = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0 - 9.0);
            self.label("a", middle, Text::Level, &format!("x{}", line.count));
        }
    }

    /// Straight, unless other boxes would lie in between.
    fn curve(&mut self, layout: &Layout, class: &str, (i, j): (usize, usize), width: f64) {
        let (a, b) = layout.line(i, j);
        match bulge(layout, a, b) {
            None => self.line(class, a, b, width),
            Some((x, y)) => {
                let s = self.shift;
                let _ = writeln!(
                    self.text,
                    "<path class=\"{class}\" stroke-width=\"{}\" d=\"M{} {}Q{} {} {} {}\"/>",
                    Tenths(width),
                    Tenths(a.0 + s),
                    Tenths(a.1),
                    Tenths(x + s),
                    Tenths(y),
                    Tenths(b.0 + s),
                    Tenths(b.1)
                );
            }
        }
    }

    /// A link of a circle of waiting ports, a little to the right of its direction, so that the
    /// way back over the same link can be told from it.
    fn arrow(&mut self, layout: &Layout, arrow: Arrow) {
        let (from, to) = match arrow {
            Arrow::Between(i, j) => {
                let (a, b) = layout.line(i, j);
                (leaves_box(layout.boxes[i], a, b), leaves_box(layout.boxes[j], b, a))
            }
            Arrow::Down(i, n) => layout.host_line(i, n),
            Arrow::Up(i, n) => {
                let (top, host) = layout.host_line(i, n);
                (host, top)
            }
        };
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let long = (dx * dx + dy * dy).sqrt();
        if long < 1.0 {
            return;
        }
        let (ux, uy) = (dx / long, dy / long);
        let aside = |(x, y): (f64, f64)| (x - uy * 3.0, y + ux * 3.0);
        let (from, to) = (aside(from), aside(to));
        // the head stands a little beyond the middle of the line, on its bulge if it has one
        let bulge = match arrow {
            Arrow::Between(..) => bulge(layout, from, to),
            _ => None,
        };
        let middle = match bulge {
            Some((x, y)) => ((from.0 + 2.0 * x + to.0) / 4.0, (from.1 + 2.0 * y + to.1) / 4.0),
            None => (from.0 + dx * 0.55, from.1 + dy * 0.55),
        };
        let s = self.shift;
        let (cx, cy) = bulge.unwrap_or(((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0));
        let _ = writeln!(
            self.text,
            "<path class=\"lc\" d=\"M{:.1} {:.1}Q{:.1} {cy:.1} {:.1} {:.1}\"/>",
            from.0 + s,
            from.1,
            cx + s,
            to.0 + s,
            to.1
        );
        let corner = |along: f64, out: f64| {
            let (x, y) = (middle.0 + ux * along - uy * out, middle.1 + uy * along + ux * out);
            format!("{:.1} {y:.1}", x + s)
        };
        let (tip, left, right) = (corner(9.0, 0.0), corner(-5.0, 6.5), corner(-5.0, -6.5));
        let _ = writeln!(self.text, "<path class=\"ah\" d=\"M{tip}L{left}L{right}Z\"/>");
    }

    fn item(&mut self, layout: &Layout, scene: &Scene, i: usize) {
        let (rect, item) = (layout.boxes[i], &scene.items[i]);
        self.rect(item.layer.name(), rect, 4.0);
        self.label("n", (rect.x, rect.y), layout.text, &item.label);
    }

    fn hosts(&mut self, layout: &Layout, scene: &Scene, i: usize) {
        let block = &layout.hosts[i];
        if block.h == 0.0 {
            return;
        }
        let (x, y) = layout.blocks[i];
        let marked = |n: usize| {
            let here = |p: &&Pointer| p.sign == Sign::Congested && p.at == i;
            scene.pointers.iter().filter(here).any(|p| matches!(p.to, Towards::Host(h) if h == n))
        };
        match block.style {
            HostStyle::Named => {
                for (n, name) in scene.items[i].hosts.iter().enumerate() {
                    let (from, at) = layout.host_line(i, n);
                    let class = if marked(n) { "lm" } else { "lh" };
                    self.line(class, from, at, 1.2);
                    self.dot(if marked(n) { "hm" } else { "host" }, at, 5.0);
                    self.label("hl", (at.0, at.1 + 14.0), Text::Level, name);
                }
            }
            HostStyle::Dots => self.dots(layout, i, block, &marked),
            HostStyle::Caption => {
                let to = (x, if layout.rows { y } else { y + block.h / 2.0 });
                self.line("lh", layout.host_line(i, 0).0, to, 1.2);
                self.rect("hb", Rect { x, y: y + block.h / 2.0, w: block.w, h: block.h }, 3.0);
                self.label("hl", (x, y + block.h / 2.0), layout.text, &block.caption);
            }
        }
    }

    fn dots(&mut self, layout: &Layout, i: usize, block: &Hosts, marked: &dyn Fn(usize) -> bool) {
        let (x, y) = layout.blocks[i];
        let right = block.at.iter().map(|at| at.0).fold(0.0, f64::max) + 4.5;
        let low = block.at.iter().map(|at| at.1).fold(0.0, f64::max) + 4.5;
        let to = (x, if layout.rows { y } else { y + low / 2.0 });
        self.line("lh", layout.host_line(i, 0).0, to, 1.2);
        self.rect("hb", Rect { x, y: y + low / 2.0, w: 2.0 * right, h: low }, 2.0);
        for n in 0..block.at.len() {
            let (class, radius) = if marked(n) { ("hm", 2.8) } else { ("hd", 2.0) };
            self.dot(class, layout.host(i, n), radius);
        }
        self.label("hl", (x, (y + low + y + block.h) / 2.0 + 1.0), layout.text, &block.caption);
    }

    fn pointer(&mut self, layout: &Layout, pointer: &Pointer) {
        let (from, to) = match pointer.to {
            Towards::Item(i) => layout.line(pointer.at, i),
            Towards::Host(n) => layout.host_line(pointer.at, n),
        };
        let edge = leaves_box(layout.boxes[pointer.at], from, to);
        let congested = pointer.sign == Sign::Congested;
        if congested {
            self.dot("m", edge, 5.0);
        }
        // on the line, far enough out not to sit on its neighbours; or below the host
        let along = |t: f64| (edge.0 + (to.0 - edge.0) * t, edge.1 + (to.1 - edge.1) * t - 2.0);
        let at = match pointer.to {
            Towards::Item(_) => along(0.3),
            Towards::Host(_) if pointer.on_line().is_some() => along(0.72),
            Towards::Host(_) => {
                let block = layout.blocks[pointer.at];
                (to.0, block.1 + layout.hosts[pointer.at].h + 8.0)
            }
        };
        let at = if congested { clear_of_boxes(layout, at, &pointer.label) } else { at };
        self.label(if congested { "mt" } else { "a" }, at, Text::Level, &pointer.label);
    }
}

/// The nearest place above or below `at` where a label covers no box.
fn clear_of_boxes(layout: &Layout, at: (f64, f64), label: &str) -> (f64, f64) {
    let (w, h) = (6.4 * label.chars().count() as f64, 14.0);
    let free = |&(x, y): &(f64, f64)| {
        let covers =
            |r: &Rect| (r.x - x).abs() < (r.w + w) / 2.0 && (r.y - y).abs() < (r.h + h) / 2.0;
        !layout.boxes.iter().any(covers)
    };
    let moves = [0.0, -10.0, 10.0, -20.0, 20.0, -30.0, 30.0];
    moves.into_iter().map(|dy| (at.0, at.1 + dy)).find(free).unwrap_or(at)
}

/// Where the line between two points leaves the box that it begins in or on.
fn leaves_box(r: Rect, from: (f64, f64), to: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let reach = |middle: f64, half: f64, from: f64, d: f64| match d {
        d if d > 0.0 => (middle + half - from) / d,
        d if d < 0.0 => (middle - half - from) / d,
        _ => f64::INFINITY,
    };
    let t = reach(r.x, r.w / 2.0, from.0, dx).min(reach(r.y, r.h / 2.0, from.1, dy)).min(1.0);
    (from.0 + dx * t, from.1 + dy * t)
}

/// The point that pulls a line aside, if it would run through other boxes.
fn bulge(layout: &Layout, a: (f64, f64), b: (f64, f64)) -> Option<(f64, f64)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let between = |r: &Rect| {
        let (px, py) = (r.x - a.0, r.y - a.1);
        let along = (px * dx + py * dy) / (dx * dx + dy * dy);
        let aside = (px * dy - py * dx).abs() / (dx * dx + dy * dy).sqrt();
        along > 0.01 && along < 0.99 && aside < 6.0
    };
    let straight_row = dy.abs() < 1.0 || (!layout.rows && dx.abs() < 1.0);
    if !straight_row || !layout.boxes.iter().any(between) {
        return None;
    }
    let pull = if layout.rows { 0.22 * dx.abs() } else { 0.55 * layout.step };
    let middle = (a.0 + dx / 2.0, a.1 + dy / 2.0);
    // rows bulge up, columns to the left
    Some(if dy.abs() < 1.0 { (middle.0, middle.1 - pull) } else { (middle.0 - pull, middle.1) })
}
