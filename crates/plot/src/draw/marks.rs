//! What is inside a plot: lines, steps, bars and boxes.

use super::frame::{Frame, note};
use super::rows;
use super::{Size, clip};
use crate::axis::show;
use crate::figure::{Across, Bar, BoxPlot, Mark, Point, Series, Shape};
use crate::font::{Weight, width};
use crate::scene::{Anchor, Area, Item, Scene, Step, Stroke};
use crate::style::{Marker, Paint, Style};

/// A line has no more points than this, and about one for every point of the plot's width; of each
/// stretch the lowest and the highest are kept.
const MOST_POINTS: f64 = 700.0;
const FEWEST_POINTS: f64 = 300.0;

fn most_points(frame: &Frame<'_>) -> usize {
    frame.plot.w.clamp(FEWEST_POINTS, MOST_POINTS) as usize
}

/// Lines with more points than this have no markers.
const MOST_MARKERS: usize = 40;

pub(super) fn draw(frame: &Frame<'_>, scene: &mut Scene) {
    let side = |s: &&Series| matches!(s.shape, Shape::Bars(_) | Shape::Boxes(_));
    let lanes = frame.panel.series.iter().filter(side).count().max(1);
    let mut lane = 0;
    for (i, series) in frame.panel.series.iter().enumerate() {
        match &series.shape {
            Shape::Line(points) => line(frame, scene, series, points, i),
            Shape::Steps(points) => steps(frame, scene, series, points, i),
            Shape::Bars(bars) => {
                for (i, bar) in bars.iter().enumerate() {
                    let Some(bar) = bar else { continue };
                    let slot = Slot { name: i, names: bars.len(), lane, lanes };
                    match frame.panel.across {
                        Across::Rows { .. } => row(frame, scene, series, bar, slot),
                        _ => column(frame, scene, series, bar, slot),
                    }
                }
                lane += 1;
            }
            Shape::Spans(rows) => rows::spans(frame, scene, series, rows),
            Shape::Chain(links) => rows::chain(frame, scene, series, links),
            Shape::Marks(marks) => published(frame, scene, series, marks),
            Shape::Boxes(all) => {
                for (i, five) in all.iter().enumerate() {
                    let Some(five) = five else { continue };
                    let slot = Slot { name: i, names: all.len(), lane, lanes };
                    box_plot(frame, scene, series, five, slot);
                }
                lane += 1;
            }
        }
    }
}

/// Which part of the axis across something has.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) name: usize,
    pub(super) names: usize,
    pub(super) lane: usize,
    pub(super) lanes: usize,
}

impl Slot {
    /// Begin and width along an axis of this length, with some air between names.
    pub(super) fn along(self, length: f64) -> (f64, f64) {
        let slot = length / self.names.max(1) as f64;
        let lane = slot * 0.8 / self.lanes as f64;
        let air = if self.lanes > 1 { lane * 0.08 } else { lane * 0.12 };
        let begin = slot * (self.name as f64 + 0.1) + lane * self.lane as f64;
        (begin + air, lane - 2.0 * air)
    }
}

fn x_of(frame: &Frame<'_>, x: f64) -> f64 {
    match &frame.panel.across {
        Across::Values(axis) => frame.plot.x + frame.plot.w * axis.at(x),
        // a line over names: x counts them from zero
        Across::Names { names, .. } | Across::Rows { names } => {
            frame.plot.x + frame.plot.w * (x + 0.5) / names.len().max(1) as f64
        }
    }
}

fn stroke(style: Style, width: f64) -> Option<Stroke> {
    Some(Stroke { paint: style.paint, width, dash: style.dash.pattern() })
}

fn line(frame: &Frame<'_>, scene: &mut Scene, series: &Series, points: &[Point], i: usize) {
    let (style, width) = (series.style, frame.size.line);
    let aside = aside(frame, i);
    let at = |p: &Point| (x_of(frame, p.x) + aside, frame.up(p.y));
    let pairs: Vec<(f64, f64)> = points.iter().map(|p| (p.x, p.y)).collect();
    let thinned = thin(&pairs, most_points(frame));
    let place = |&(x, y): &(f64, f64)| (x_of(frame, x) + aside, frame.up(y));
    let path: Vec<_> = thinned.iter().map(place).collect();
    polyline(scene, series, &path, width);
    if points.len() > MOST_MARKERS {
        return sparse_markers(frame, scene, style, &path, i);
    }
    for p in points.iter().filter(|p| p.error > 0.0) {
        error_bar(frame, scene, at(p).0, (p.y, p.error), width, style.paint);
    }
    for p in points {
        scene.push(Item::marker(style.marker, at(p), width * 1.6, style.paint));
    }
}

/// How far line `i` is moved aside, so that error bars at the same place do not cover each other.
fn aside(frame: &Frame<'_>, i: usize) -> f64 {
    let uncertain = |s: &Series| match &s.shape {
        Shape::Line(points) => points.len() <= MOST_MARKERS && points.iter().any(|p| p.error > 0.0),
        _ => false,
    };
    let lines = frame.panel.series.len();
    if lines < 2 || !frame.panel.series.iter().any(uncertain) {
        return 0.0;
    }
    let step = (frame.size.line * 1.3).min(frame.size.text / (lines - 1) as f64);
    (i as f64 - (lines - 1) as f64 / 2.0) * step
}

fn polyline(scene: &mut Scene, series: &Series, path: &[(f64, f64)], width: f64) {
    let step = |(i, &(x, y)): (usize, &(f64, f64))| match i {
        0 => Step::Move(x, y),
        _ => Step::Line(x, y),
    };
    scene.push(Item::Path {
        steps: path.iter().enumerate().map(step).collect(),
        stroke: stroke(series.style, width),
        fill: None,
        title: series.name.clone(),
    });
}

/// A few markers along a line of many points, at other places than those of the other lines, so
/// that they can be told apart without colours.
fn sparse_markers(
    frame: &Frame<'_>,
    scene: &mut Scene,
    style: Style,
    path: &[(f64, f64)],
    i: usize,
) {
    let lines = frame.panel.series.len();
    if lines < 2 {
        return;
    }
    let length = |pair: &[(f64, f64)]| libm::hypot(pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
    let total: f64 = path.windows(2).map(length).sum();
    let count = libm::round(total / (frame.plot.w / 5.0)).clamp(1.0, 8.0);
    let mut next = total * (i as f64 + 0.5) / lines as f64 / count;
    let mut walked = 0.0;
    for pair in path.windows(2) {
        let long = length(pair);
        while next <= walked + long && long > 0.0 {
            let share = (next - walked) / long;
            let [(ax, ay), (bx, by)] = [pair[0], pair[1]];
            let at = (ax + (bx - ax) * share, ay + (by - ay) * share);
            scene.push(Item::marker(style.marker, at, frame.size.line * 1.6, style.paint));
            next += total / count;
        }
        walked += long;
    }
}

/// A thin line with caps, upright: a value and how far the interval reaches to either side. An end
/// that the axis cuts off has an arrowhead instead of a cap.
fn error_bar(
    frame: &Frame<'_>,
    scene: &mut Scene,
    x: f64,
    (value, error): (f64, f64),
    cap: f64,
    paint: Paint,
) {
    let (width, wide) = (cap * 0.45, cap * 1.6);
    let ends = [value - error, value + error];
    let [low, high] = ends.map(|end| frame.up(end));
    scene.push(Item::line((x, low), (x, high), paint, width));
    for (end, y, back) in [(ends[0], low, low - wide), (ends[1], high, high + wide)] {
        if frame.panel.up.holds(end) {
            scene.push(Item::line((x - wide, y), (x + wide, y), paint, width));
        } else {
            for side in [x - wide, x + wide] {
                scene.push(Item::line((side, back), (x, y), paint, width));
            }
        }
    }
}

fn steps(frame: &Frame<'_>, scene: &mut Scene, series: &Series, points: &[(f64, f64)], i: usize) {
    let mut path: Vec<(f64, f64)> = Vec::new();
    for (x, y) in thin(points, most_points(frame)) {
        let (x, y) = (x_of(frame, x), frame.up(y));
        if let Some(&(_, level)) = path.last() {
            path.push((x, level));
        }
        path.push((x, y));
    }
    polyline(scene, series, &path, frame.size.line);
    sparse_markers(frame, scene, series.style, &path, i);
}

/// Hollow marks: what was published. A value beyond the axis is at its end.
fn published(frame: &Frame<'_>, scene: &mut Scene, series: &Series, marks: &[Mark]) {
    let names = frame.row_count();
    for m in marks {
        let (lane, lanes) = m.lane.unwrap_or((0, 1));
        let slot = Slot { name: m.at as usize, names, lane, lanes };
        let middle = |length: f64| {
            let (begin, wide) = slot.along(length);
            begin + wide / 2.0
        };
        let at = match &frame.panel.across {
            Across::Values(_) => (x_of(frame, m.at), frame.up(m.value)),
            Across::Names { .. } => (frame.plot.x + middle(frame.plot.w), frame.up(m.value)),
            Across::Rows { .. } => (frame.along(m.value), frame.plot.y + middle(frame.plot.h)),
        };
        let title = format!("{}: {} {}", series.name, show(frame.panel.up.unit, m.value), m.note);
        hollow(scene, series.style.marker, at, frame.size, title.trim());
    }
}

/// Radius of the paper of a hollow mark, over the width of a line.
const HOLLOW: f64 = 2.0;

/// How far a hollow mark reaches to either side, its outline and corners included.
pub(super) fn reach(size: &Size) -> f64 {
    size.line * HOLLOW * OUTLINE * 1.3
}

/// The ink of a hollow mark over its paper.
const OUTLINE: f64 = 1.6;

/// A mark with an outline, which is seen on every colour.
pub(super) fn hollow(scene: &mut Scene, marker: Marker, at: (f64, f64), size: &Size, title: &str) {
    let r = size.line * HOLLOW;
    scene.push(Item::marker(marker, at, r * OUTLINE, Paint::Ink));
    push_titled(scene, Item::marker(marker, at, r, Paint::Paper), title);
}

/// Where words of this width beside a bar that ends at `end` may begin: behind the published marks
/// that would stand on them.
fn beside(frame: &Frame<'_>, slot: Slot, end: f64, wide: f64) -> f64 {
    let own =
        |m: &&Mark| m.at as usize == slot.name && m.lane.is_none_or(|(lane, _)| lane == slot.lane);
    let marks = frame.panel.series.iter().filter_map(|s| match &s.shape {
        Shape::Marks(marks) => Some(marks),
        _ => None,
    });
    let mut at: Vec<f64> = marks.flatten().filter(own).map(|m| frame.along(m.value)).collect();
    at.sort_by(f64::total_cmp);
    let r = reach(frame.size);
    at.into_iter().fold(end, |end, x| match x + r > end && x - r < end + wide {
        true => x + r,
        false => end,
    })
}

/// A bar that stands.
fn column(frame: &Frame<'_>, scene: &mut Scene, series: &Series, bar: &Bar, slot: Slot) {
    let (begin, width) = slot.along(frame.plot.w);
    let (x, base, t) = (frame.plot.x + begin, frame.plot.bottom(), frame.size.text);
    let style = Frame::bar_style(bar, series.style);
    let middle = x + width / 2.0;
    let Some(value) = bar.value else {
        let text = clip(&bar.note, t * 0.85, Weight::Regular, frame.plot.h);
        let at = (middle + t * 0.3, base - t * 0.3);
        scene.push(Item::text(at, &text, t * 0.85, Anchor::Start).painted(Paint::Soft).upwards());
        return;
    };
    let top = frame.up(value);
    let area = Area { x, y: top, w: width, h: (base - top).max(0.4) };
    let title = format!("{}: {}", series.name, note(frame.panel, bar));
    fill_bar(frame, scene, area, style, &title);
    let beyond = value > frame.panel.up.high;
    if beyond {
        // the bar goes on: a gap near its end and its value say so
        let y = top + t * 0.9;
        scene.push(Item::line((x - 1.0, y + 2.0), (x + width + 1.0, y - 2.0), Paint::Paper, 2.0));
        let at = (middle + t * 0.3, top + t * 1.6);
        let text = show(frame.panel.up.unit, value);
        let inside = Item::text(at, &text, t * 0.85, Anchor::End).painted(Paint::Paper).upwards();
        scene.push(inside);
    } else if bar.error > 0.0 {
        error_bar(frame, scene, middle, (value, bar.error), frame.size.line, Paint::Ink);
    }
    if let Some(most) = bar.whisker.filter(|m| *m > value && !beyond) {
        let end = (middle, frame.up(most));
        scene.push(Item::line((middle, top), end, style.paint, frame.size.line * 0.5));
    }
}

/// A bar that lies, with its value beside it.
fn row(frame: &Frame<'_>, scene: &mut Scene, series: &Series, bar: &Bar, slot: Slot) {
    let (begin, height) = slot.along(frame.plot.h);
    let (y, t) = (frame.plot.y + begin, frame.size.text);
    let style = Frame::bar_style(bar, series.style);
    let value = bar.value.unwrap_or(0.0);
    let mut end = frame.along(value);
    let area = Area { x: frame.plot.x, y, w: (end - frame.plot.x).max(0.4), h: height };
    let middle = y + height / 2.0;
    if bar.value.is_some() {
        fill_bar(frame, scene, area, style, "");
    }
    let beyond = value > frame.panel.up.high;
    if beyond {
        // the bar goes on: a gap near its end says so
        let x = end - t;
        let gap = Item::line((x - 2.0, y + height + 1.0), (x + 2.0, y - 1.0), Paint::Paper, 2.5);
        scene.push(gap);
    }
    if bar.error > 0.0 && !beyond {
        let ends = [value - bar.error, value + bar.error];
        let [low, high] = ends.map(|end| frame.along(end));
        let cap = height * 0.22;
        // an arrowhead instead of a cap where the axis cuts the interval off
        let mut caps = Vec::new();
        for (end, x, back) in [(ends[0], low, low + cap), (ends[1], high, high - cap)] {
            match frame.panel.up.holds(end) {
                true => caps.push(((x, middle - cap), (x, middle + cap))),
                false => caps.extend([-cap, cap].map(|side| ((back, middle + side), (x, middle)))),
            }
        }
        // on a bar as dark as the line, a pale edge shows where it is
        for (paint, width) in [(Paint::Paper, 1.2), (Paint::Ink, 0.5)] {
            let width = frame.size.line * width;
            scene.push(Item::line((low, middle), (high, middle), paint, width));
            for &(from, to) in &caps {
                scene.push(Item::line(from, to, paint, width));
            }
        }
        end = end.max(high);
    }
    if let Some(most) = bar.whisker.filter(|m| *m > value && !beyond) {
        let to = frame.along(most);
        let paint = style.paint;
        scene.push(Item::line((end, middle), (to, middle), paint, frame.size.line * 0.5));
        if most <= frame.panel.up.high {
            let cap = height * 0.25;
            let (up, down) = ((to, middle - cap), (to, middle + cap));
            scene.push(Item::line(up, down, paint, frame.size.line * 0.5));
        }
        end = to;
    }
    let note = frame.note(bar);
    end = beside(frame, slot, end, t * 0.5 + width(&note, t, Weight::Regular));
    let text = clip(&note, t, Weight::Regular, frame.size.width - end - t * 0.6);
    scene.push(Item::text((end + t * 0.5, middle + t * 0.34), &text, t, Anchor::Start));
}

fn box_plot(frame: &Frame<'_>, scene: &mut Scene, series: &Series, b: &BoxPlot, slot: Slot) {
    let (begin, width) = slot.along(frame.plot.w);
    let (x, paint) = (frame.plot.x + begin, b.style.unwrap_or(series.style).paint);
    let middle = x + width / 2.0;
    let [low, lower, median, upper, high] =
        [b.low, b.lower, b.middle, b.upper, b.high].map(|v| frame.up(v));
    let area = Area { x, y: upper, w: width, h: (lower - upper).max(0.6) };
    let thin = frame.size.line * 0.55;
    scene.push(Item::line((middle, low), (middle, lower), paint, thin));
    scene.push(Item::line((middle, upper), (middle, high), paint, thin));
    for y in [low, high] {
        let cap = width * 0.25;
        scene.push(Item::line((middle - cap, y), (middle + cap, y), paint, thin));
    }
    let unit = frame.panel.up.unit;
    let five = [b.low, b.lower, b.middle, b.upper, b.high].map(|v| show(unit, v)).join(" · ");
    push_titled(scene, Item::rect(area, paint, 0.55), &format!("{}: {five}", series.name));
    scene.push(Item::line((x, median), (x + width, median), Paint::Ink, frame.size.line * 0.8));
}

fn fill_bar(frame: &Frame<'_>, scene: &mut Scene, area: Area, style: Style, title: &str) {
    let full = style.fill.opacity();
    push_titled(scene, Item::rect(area, style.paint, full), title);
    if full < 1.0
        && let Item::Path { steps, .. } = Item::rect(area, style.paint, 1.0)
    {
        let stroke = Stroke { paint: style.paint, width: frame.size.line * 0.5, dash: &[] };
        let (stroke, title) = (Some(stroke), String::new());
        scene.push(Item::Path { steps, stroke, fill: None, title });
    }
}

fn push_titled(scene: &mut Scene, mut item: Item, text: &str) {
    if let Item::Path { title, .. } = &mut item {
        text.clone_into(title);
    }
    scene.push(item);
}

/// At most about `most` points: of every stretch, the lowest and the highest stay.
pub(super) fn thin(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
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
