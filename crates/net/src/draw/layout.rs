//! Where everything goes.

use super::scene::{Item, Scene};
use crate::topology::Layer;

/// Positions of everything in a scene, in pixels from the top left.
pub(super) struct Layout {
    pub(super) boxes: Vec<Rect>,
    pub(super) hosts: Vec<Hosts>,
    /// Top centre of each block of hosts.
    pub(super) blocks: Vec<(f64, f64)>,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) text: Text,
    /// Rows, rather than a grid or circle.
    pub(super) rows: bool,
    /// The distance between neighbours on a grid or circle.
    pub(super) step: f64,
}

/// How labels run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Level,
    /// Turned, to save width.
    Upright,
}

/// A box by its centre and size.
#[derive(Clone, Copy, Default)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) w: f64,
    pub(super) h: f64,
}

/// The hosts below a box.
pub(super) struct Hosts {
    /// How they are drawn.
    pub(super) style: HostStyle,
    /// Centre of each, relative to the top centre of the block; none for a mere caption.
    pub(super) at: Vec<(f64, f64)>,
    pub(super) w: f64,
    pub(super) h: f64,
    /// What to write below dots: "h0-15".
    pub(super) caption: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HostStyle {
    Named,
    Dots,
    Caption,
}

/// Height of the heading.
pub(super) const TOP: f64 = 56.0;
/// Height of the legend.
pub(super) const BOTTOM: f64 = 44.0;
const MARGIN: f64 = 24.0;
/// Width of a letter of a label.
const LETTER: f64 = 6.4;
/// Rows of more boxes than this have their labels turned.
const WIDE: usize = 16;
/// All hosts are named if there are at most this many.
const NAMED: usize = 48;
/// More hosts on one switch than this are only counted.
const DOTS: usize = 96;

impl Layout {
    pub(super) fn new(scene: &Scene) -> Self {
        let rows = scene.items.iter().all(|i| i.layer != Layer::Other);
        let mut longest = [0; Layer::ALL.len()];
        for item in &scene.items {
            longest[item.layer as usize] += 1;
        }
        let crowded = rows && longest.into_iter().max().unwrap_or(0) > WIDE;
        let text = if crowded { Text::Upright } else { Text::Level };
        let named = scene.items.iter().map(|i| i.hosts.len()).sum::<usize>() <= NAMED;
        let room = |i: usize| {
            let here = scene.pointers.iter().filter(|p| p.at == i);
            here.filter_map(|p| p.on_line())
                .map(|label| text_width(label) + 14.0)
                .fold(0.0, f64::max)
        };
        let hosts: Vec<Hosts> = (scene.items.iter().enumerate())
            .map(|(i, item)| Hosts::new(&item.hosts, named, text, room(i)))
            .collect();
        let letters = scene.items.iter().map(|i| i.label.chars().count()).max().unwrap_or(1);
        let long = LETTER * letters as f64 + 12.0;
        let (w, h) = match text {
            Text::Upright => (15.0, long),
            Text::Level => (long.max(36.0), 24.0),
        };
        let boxes = vec![Rect { x: 0.0, y: 0.0, w, h }; scene.items.len()];
        let blocks = vec![(0.0, 0.0); scene.items.len()];
        let mut layout =
            Self { boxes, hosts, blocks, width: 0.0, height: 0.0, text, rows, step: 0.0 };
        if rows {
            layout.in_rows(&scene.items);
        } else {
            layout.on_grid_or_circle(&scene.items);
        }
        layout
    }

    /// The width that an item and its hosts need.
    fn slot(&self, i: usize) -> f64 {
        let gap = if self.text == Text::Upright { 4.0 } else { 20.0 };
        self.boxes[i].w.max(self.hosts[i].w) + gap
    }

    fn slots(&self, items: &[usize]) -> f64 {
        items.iter().map(|&i| self.slot(i)).sum()
    }

    fn in_rows(&mut self, items: &[Item]) {
        let rows = rows(items);
        let lowest = rows.last().map_or(&[][..], |row| row.as_slice());
        let groups: Vec<u32> = {
            let mut groups: Vec<u32> = lowest.iter().map(|&i| items[i].group).collect();
            groups.dedup();
            groups
        };
        let of_group = |row: &[usize], group: u32| -> Vec<usize> {
            row.iter().copied().filter(|&i| items[i].group == group).collect()
        };
        // a row belongs to the pods if all its boxes do; otherwise it spans the whole width
        let in_pods =
            |row: &[usize]| row.iter().all(|&i| groups.binary_search(&items[i].group).is_ok());
        let mut widths: Vec<f64> = groups
            .iter()
            .map(|&g| {
                let pods = rows.iter().filter(|row| in_pods(row));
                pods.map(|row| self.slots(&of_group(row, g))).fold(0.0, f64::max)
            })
            .collect();
        let single = lowest.len() == groups.len();
        let gap = if single { 0.0 } else { 16.0 };
        let between = gap * groups.len().saturating_sub(1) as f64;
        let inner = widths.iter().sum::<f64>() + between;
        let needed = rows.iter().map(|row| self.slots(row)).fold(360.0, f64::max);
        let extra = (needed - inner).max(0.0) / groups.len().max(1) as f64;
        widths.iter_mut().for_each(|w| *w += extra);
        let inner = widths.iter().sum::<f64>() + between;
        let pitch = (inner * 0.085).clamp(86.0, 210.0) + self.boxes.first().map_or(0.0, |b| b.h);
        let mut y = TOP + self.boxes.first().map_or(0.0, |b| b.h / 2.0);
        let mut bottom = y;
        for row in &rows {
            if in_pods(row) {
                let mut x = MARGIN;
                for (&group, &width) in groups.iter().zip(&widths) {
                    self.spread(&of_group(row, group), x, width, y);
                    x += width + gap;
                }
            } else {
                self.spread(row, MARGIN, inner, y);
            }
            let hosts = row.iter().map(|&i| self.block_height(i)).fold(0.0, f64::max);
            bottom = y + self.boxes[row[0]].h / 2.0 + hosts;
            y += pitch + hosts;
        }
        self.width = inner + 2.0 * MARGIN;
        self.height = bottom + BOTTOM;
    }

    /// Between a box and its hosts; lines that fan out need more.
    fn drop(&self, i: usize) -> f64 {
        if self.hosts[i].style == HostStyle::Named { 38.0 } else { 22.0 }
    }

    fn block_height(&self, i: usize) -> f64 {
        if self.hosts[i].h > 0.0 { self.drop(i) + self.hosts[i].h } else { 0.0 }
    }

    /// Puts boxes side by side, sharing out what width is left.
    fn spread(&mut self, row: &[usize], mut x: f64, width: f64, y: f64) {
        let spare = (width - self.slots(row)) / row.len().max(1) as f64;
        for &i in row {
            let slot = self.slot(i) + spare;
            self.boxes[i].x = x + slot / 2.0;
            self.boxes[i].y = y;
            self.blocks[i] = (self.boxes[i].x, y + self.boxes[i].h / 2.0 + self.drop(i));
            x += slot;
        }
    }

    fn on_grid_or_circle(&mut self, items: &[Item]) {
        let size = |i: usize| {
            let (b, h) = (self.boxes[i], &self.hosts[i]);
            (b.w + h.w + 44.0).max(b.h + h.h + 60.0)
        };
        self.step = (0..items.len()).map(size).fold(110.0, f64::max);
        let unplaced = items.iter().filter(|i| i.place.is_none()).count();
        let mut nth = 0;
        for (i, item) in items.iter().enumerate() {
            let ((x, y), outwards) = match item.place {
                // beside the links of a grid, which go straight up, down, left and right
                Some((x, y)) => ((f64::from(x), f64::from(y)), (0.7, 0.7)),
                None => {
                    nth += 1;
                    on_circle(nth - 1, unplaced)
                }
            };
            self.boxes[i].x = x * self.step;
            self.boxes[i].y = y * self.step;
            self.put_hosts(i, outwards);
        }
        // lines that close a torus bulge out of the grid
        let bulge = if unplaced == 0 { 0.3 * self.step } else { 0.0 };
        self.fit(bulge);
    }

    /// Puts the hosts of a box next to it in some direction.
    fn put_hosts(&mut self, i: usize, (dx, dy): (f64, f64)) {
        let (b, h) = (self.boxes[i], &self.hosts[i]);
        // as far as it takes for the two to be apart, either across or down
        let reach = |half: f64, d: f64| half / d.abs().max(1e-9);
        let far = reach((b.w + h.w) / 2.0 + 10.0, dx).min(reach((b.h + h.h) / 2.0 + 12.0, dy));
        let (x, y) = (b.x + dx * far, b.y + dy * far);
        self.blocks[i] = (x, y - h.h / 2.0);
    }

    /// Moves everything into a picture that just holds it.
    fn fit(&mut self, bulge: f64) {
        let (mut left, mut right, mut top, mut bottom) = (f64::MAX, f64::MIN, f64::MAX, f64::MIN);
        for ((b, h), block) in self.boxes.iter().zip(&self.hosts).zip(&self.blocks) {
            left = left.min(b.x - b.w / 2.0).min(block.0 - h.w / 2.0);
            right = right.max(b.x + b.w / 2.0).max(block.0 + h.w / 2.0);
            top = top.min(b.y - b.h / 2.0).min(block.1);
            bottom = bottom.max(b.y + b.h / 2.0).max(block.1 + h.h);
        }
        left -= bulge;
        top -= bulge;
        self.width = (right - left + 2.0 * MARGIN).max(360.0);
        self.height = bottom - top + TOP + BOTTOM;
        let (dx, dy) = ((self.width - (right - left)) / 2.0 - left, TOP - top);
        for (rect, block) in self.boxes.iter_mut().zip(&mut self.blocks) {
            rect.x += dx;
            rect.y += dy;
            block.0 += dx;
            block.1 += dy;
        }
    }

    /// Where the n-th host of item `i` is; the middle of the block if it is not drawn by itself.
    pub(super) fn host(&self, i: usize, n: usize) -> (f64, f64) {
        let (x, y) = self.blocks[i];
        let (dx, dy) = self.hosts[i].at.get(n).copied().unwrap_or((0.0, self.hosts[i].h / 2.0));
        (x + dx, y + dy)
    }

    /// The two ends of the line between two boxes: in rows from top to bottom edge, so that it
    /// does not run below neighbours, otherwise from centre to centre.
    pub(super) fn line(&self, i: usize, j: usize) -> ((f64, f64), (f64, f64)) {
        let (a, b) = (self.boxes[i], self.boxes[j]);
        let edge = match a.y - b.y {
            d if !self.rows || d.abs() < 1.0 => 0.0,
            d => -d.signum(),
        };
        ((a.x, a.y + edge * a.h / 2.0), (b.x, b.y - edge * b.h / 2.0))
    }

    /// The two ends of the line from box `i` to its n-th host.
    pub(super) fn host_line(&self, i: usize, n: usize) -> ((f64, f64), (f64, f64)) {
        let (b, to) = (self.boxes[i], self.host(i, n));
        let at = &self.hosts[i].at;
        if !self.rows {
            return ((b.x, b.y), to);
        }
        // fan out from the whole lower edge
        let middle = (at.len() as f64 - 1.0) / 2.0;
        let share = (n as f64 - middle) / at.len().max(1) as f64;
        let fan = if self.hosts[i].style == HostStyle::Named { share * 0.8 * b.w } else { 0.0 };
        ((b.x + fan, b.y + b.h / 2.0), to)
    }
}

/// A rough measure of a label.
fn text_width(text: &str) -> f64 {
    LETTER * text.chars().count() as f64
}

/// Items by layer, top layer first; inside a row by pod.
fn rows(items: &[Item]) -> Vec<Vec<usize>> {
    let layers = [Layer::Core, Layer::Agg, Layer::Tor, Layer::Host];
    let row = |layer| {
        let mut row: Vec<usize> = (0..items.len()).filter(|&i| items[i].layer == layer).collect();
        row.sort_by_key(|&i| (items[i].group, i));
        row
    };
    layers.map(row).into_iter().filter(|row| !row.is_empty()).collect()
}

/// Point `i` of `n` on a circle whose points are one step apart, clockwise from the top; and the
/// direction outwards.
fn on_circle(i: usize, n: usize) -> ((f64, f64), (f64, f64)) {
    if n < 3 {
        return ((i as f64, 0.0), (0.0, 1.0));
    }
    let step = std::f64::consts::TAU / n as f64;
    let radius = 0.5 / libm::sin(step / 2.0);
    // with four, a square on its side rather than on its tip
    let angle = step * (i as f64 - if n == 4 { 0.5 } else { 0.0 });
    let (x, y) = (libm::sin(angle), -libm::cos(angle));
    ((radius * x, radius * y), (x, y))
}

impl Hosts {
    /// `room` is what labels at the lines to the hosts need.
    fn new(names: &[String], named: bool, text: Text, room: f64) -> Self {
        let n = names.len();
        let upright = text == Text::Upright;
        let caption = caption(names);
        let grid = |columns: usize, pitch: f64, first: f64| -> Vec<(f64, f64)> {
            let middle = (columns.min(n) as f64 - 1.0) / 2.0;
            let at = |i: usize| ((i % columns) as f64 - middle, (i / columns) as f64);
            (0..n).map(at).map(|(x, y)| (x * pitch, first + y * pitch)).collect()
        };
        let (style, at, w, h) = match n {
            0 => (HostStyle::Caption, Vec::new(), 0.0, 0.0),
            1..=NAMED if named => {
                let letters = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
                let pitch = (LETTER * letters as f64 + 8.0).max(24.0).max(room);
                let at = grid(n, pitch, 6.0);
                (HostStyle::Named, at, n as f64 * pitch, 28.0)
            }
            _ if n > DOTS => {
                let long = LETTER * caption.chars().count() as f64 + 10.0;
                let (w, h) = if upright { (15.0, long) } else { (long, 20.0) };
                (HostStyle::Caption, Vec::new(), w, h)
            }
            _ => {
                let columns = if upright { 2 } else { (n.isqrt() + 1).max(4) };
                let pitch = 6.0;
                let rows = n.div_ceil(columns) as f64;
                let long = LETTER * caption.chars().count() as f64 + 6.0;
                let (label_w, label_h) = if upright { (0.0, long) } else { (long, 14.0) };
                let w = columns.min(n) as f64 * pitch + 3.0;
                (
                    HostStyle::Dots,
                    grid(columns, pitch, 4.5),
                    w.max(label_w),
                    rows * pitch + 3.0 + label_h,
                )
            }
        };
        Self { style, at, w, h, caption }
    }
}

/// "h0-15" for names that are numbered in a row, "16 hosts" for others.
fn caption(names: &[String]) -> String {
    let number = |name: &str| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, digits) = name.split_at(name.len() - digits);
        digits.parse::<u64>().ok().map(|n| (prefix.to_owned(), n))
    };
    match (names.first().and_then(|n| number(n)), names.last().and_then(|n| number(n))) {
        (Some((prefix, a)), Some((other, b)))
            if prefix == other && b.checked_sub(a) == Some(names.len() as u64 - 1) =>
        {
            if a == b {
                names[0].clone()
            } else {
                format!("{prefix}{a}-{b}")
            }
        }
        _ => format!("{} hosts", names.len()),
    }
}
