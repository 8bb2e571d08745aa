//! What is drawn over rows: stretches, and chains from row to row.

use super::frame::Frame;
use super::marks::Slot;
use crate::axis::show;
use crate::figure::{Link, Series};
use crate::scene::{Item, Scene, Step, Stroke};
use crate::style::Paint;

/// More boxes or links than this are one path with one title; each has its own otherwise.
const MOST_TITLES: usize = 300;

/// A box on the screen, and the stretches that it stands for.
#[derive(Clone, Copy)]
struct Stretch {
    left: f64,
    right: f64,
    from: f64,
    to: f64,
}

/// Stretches of rows; those that touch on the screen are joined.
pub(super) fn spans(
    frame: &Frame<'_>,
    scene: &mut Scene,
    series: &Series,
    rows: &[Vec<(f64, f64)>],
) {
    let boxes: Vec<Vec<Stretch>> = rows.iter().map(|spans| on_screen(frame, spans)).collect();
    let titled = boxes.iter().map(Vec::len).sum::<usize>() <= MOST_TITLES;
    let mut path = Vec::new();
    let mut push = |steps: Vec<Step>, title: String| {
        let fill = Some((series.style.paint, series.style.fill.opacity()));
        scene.push(Item::Path { steps, stroke: None, fill, title });
    };
    for (i, boxes) in boxes.iter().enumerate() {
        let slot = Slot { name: i, names: rows.len(), lane: 0, lanes: 1 };
        let (begin, height) = slot.along(frame.plot.h);
        let (top, bottom) = (frame.plot.y + begin, frame.plot.y + begin + height);
        for b in boxes {
            let steps = [
                Step::Move(b.left, top),
                Step::Line(b.right, top),
                Step::Line(b.right, bottom),
                Step::Line(b.left, bottom),
                Step::Close,
            ];
            match titled {
                true => push(steps.to_vec(), title(frame, series, b)),
                false => path.extend(steps),
            }
        }
    }
    if !path.is_empty() {
        push(path, series.name.clone());
    }
}

fn on_screen(frame: &Frame<'_>, spans: &[(f64, f64)]) -> Vec<Stretch> {
    let mut boxes: Vec<Stretch> = Vec::new();
    for &(from, to) in spans {
        let left = frame.along(from);
        let right = frame.along(to).max(left + 0.5);
        match boxes.last_mut() {
            Some(last) if left - last.right < 0.3 => {
                (last.right, last.to) = (last.right.max(right), last.to.max(to));
            }
            _ => boxes.push(Stretch { left, right, from, to }),
        }
    }
    boxes
}

/// `computing: from 1.204 ms, for 250 us`.
fn title(frame: &Frame<'_>, series: &Series, b: &Stretch) -> String {
    let unit = frame.panel.up.unit;
    let (divisor, name) = unit.prefix(frame.panel.up.high);
    let (from, long) = (b.from / divisor, show(unit, b.to - b.from));
    format!("{}: from {from:.3} {name}, for {long}", series.name)
}

/// A chain: a line along each row it is on, an arrow to the next one.
pub(super) fn chain(frame: &Frame<'_>, scene: &mut Scene, series: &Series, links: &[Link]) {
    let slot = frame.plot.h / frame.row_count().max(1) as f64;
    let place = |(row, x): (f64, f64)| (frame.along(x), frame.plot.y + slot * (row + 0.5));
    // a long chain crosses itself
    let width = frame.size.line * if links.len() > 100 { 0.7 } else { 1.0 };
    let mut push = |paint: Paint, width: f64, steps: Vec<Step>, title: String| {
        let stroke = Some(Stroke { paint, width, dash: &[] });
        scene.push(Item::Path { steps, stroke, fill: None, title });
    };
    // a pale edge sets it off from what is below
    let line = |link: &Link| {
        let (from, to) = (place(link.from), place(link.to));
        [Step::Move(from.0, from.1), Step::Line(to.0, to.1)]
    };
    push(Paint::Paper, width * 2.2, links.iter().flat_map(line).collect(), String::new());
    let paint = series.style.paint;
    let titled = links.len() <= MOST_TITLES;
    let mut path: Vec<Step> = Vec::new();
    let mut end = None;
    for link in links {
        let (from, to) = (place(link.from), place(link.to));
        let mut steps = line(link).to_vec();
        if link.from.0 != link.to.0 {
            steps.extend(head(from, to, width * 2.4));
        }
        if titled {
            push(paint, width, steps, link.note.clone());
            continue;
        }
        // without arrowheads a chain goes on where it was
        let begins = end.is_none_or(|end| end != from);
        path.extend(steps.drain(if begins { 0..2 } else { 1..2 }));
        end = Some(to);
    }
    if !path.is_empty() {
        push(paint, width, path, series.name.clone());
    }
}

/// An arrowhead at `to`, if the arrow is long enough for one.
fn head(from: (f64, f64), to: (f64, f64), size: f64) -> Vec<Step> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = libm::hypot(dx, dy);
    if length < size * 1.5 {
        return Vec::new();
    }
    let (ux, uy) = (dx / length * size, dy / length * size);
    let side = |turn: f64| Step::Move(to.0 - ux - uy * turn, to.1 - uy + ux * turn);
    let tip = Step::Line(to.0, to.1);
    vec![side(0.5), tip, side(-0.5), tip]
}
