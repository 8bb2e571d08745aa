//! From a figure to a drawing: sizes, the grid of panels, and the legend.

mod frame;
mod marks;
mod rows;

use crate::figure::{Across, Figure, Layout, Panel, Series, Shape};
use crate::font::{self, Weight};
use crate::scene::{Anchor, Item, Scene, Stroke};
use crate::style::Style;
use frame::{Frame, Place, Strip};

/// How large a figure is and how large its parts are, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width of the whole figure.
    pub width: f64,
    /// Size of the text.
    pub text: f64,
    /// Width of lines.
    pub line: f64,
    /// How many panels stand beside each other at most.
    pub columns: usize,
    /// Height of a plot over its width.
    pub shape: f64,
}

impl Size {
    /// For a page on a screen; the page scales it.
    pub const PAGE: Self = Self { width: 720.0, text: 12.0, line: 1.8, columns: 3, shape: 0.36 };
    /// One column of a two-column paper (3.33 inches).
    pub const COLUMN: Self = Self { width: 240.0, text: 7.5, line: 1.1, columns: 1, shape: 0.58 };
    /// Both columns of a two-column paper (7 inches).
    pub const WIDE: Self = Self { width: 504.0, text: 7.5, line: 1.1, columns: 3, shape: 0.58 };

    fn gap(&self) -> f64 {
        self.text * 1.2
    }
}

/// Draws a figure, without its title and caption: these stand where it is shown.
pub fn scene(figure: &Figure, size: &Size) -> Scene {
    let mut scene = Scene { width: size.width, ..Scene::default() };
    let direct = figure.panels.len() == 1 && frame::labels_fit(&figure.panels[0], size);
    let mut y = size.text * 0.4;
    if !direct {
        y = legend(&mut scene, figure, size, y);
    }
    scene.height = match figure.layout {
        Layout::Strips => strips(&mut scene, figure, size, y),
        Layout::Grid => grid(&mut scene, figure, size, y, direct),
    };
    scene
}

/// Height over width of plots that stand beside each other.
const SQUARER: f64 = 0.62;

/// Panels in rows and columns; returns where they end.
fn grid(scene: &mut Scene, figure: &Figure, size: &Size, mut y: f64, direct: bool) -> f64 {
    let rows_only = |p: &Panel| matches!(p.across, Across::Rows { .. });
    let columns = match figure.panels.iter().any(rows_only) {
        true => 1,
        // rows of equally many panels
        false => {
            let rows = figure.panels.len().div_ceil(size.columns.max(1)).max(1);
            figure.panels.len().div_ceil(rows).max(1)
        }
    };
    let width = (size.width - size.gap() * (columns - 1) as f64) / columns as f64;
    let shape = if columns == 1 { size.shape } else { size.shape.max(SQUARER) };
    let least = width * 0.75 * shape;
    let left = |p: &Panel| {
        let lines = frame::title_lines(p, size, least).len();
        frame::left_of(p, size, &p.up.ticks(5), lines)
    };
    let left = figure.panels.iter().map(left).fold(0.0, f64::max);
    // bars of all panels begin and end at the same places
    let detail = frame::note_detail(&figure.panels, size);
    let notes = frame::note_room(&figure.panels, size, detail);
    for row in figure.panels.chunks(columns) {
        let mut bottom = y;
        // plots of a row begin at one height and have the same one
        let head = match row.iter().any(|p| !p.title.is_empty()) {
            true => size.text * 1.7,
            false => size.text * 0.5,
        };
        for (i, panel) in row.iter().enumerate() {
            let x = i as f64 * (width + size.gap());
            let y = y + head;
            let place = Place { x, y, width, left, shape, notes, detail, direct, strip: None };
            let frame = Frame::new(panel, size, place);
            if !panel.title.is_empty() {
                let title = clip(&panel.title, size.text, Weight::Bold, width);
                let at = (frame.title_x(), y - head + size.text);
                scene.push(Item::text(at, &title, size.text, Anchor::Start).bold());
            }
            frame.draw(scene);
            bottom = bottom.max(frame.bottom());
        }
        y = bottom + size.gap() * 0.6;
    }
    y
}

/// Flat panels over one axis across; returns where they end.
fn strips(scene: &mut Scene, figure: &Figure, size: &Size, mut y: f64) -> f64 {
    let t = size.text;
    let title = figure.panels.first().map(|p| p.up.title()).unwrap_or_default();
    let own_unit = |p: &Panel| p.up.title() != title;
    let left = |p: &Panel| frame::left_of(p, size, &frame::strip_ticks(p, own_unit(p)), 1);
    let left = figure.panels.iter().map(left).fold(0.0, f64::max);
    let (top, last) = (y, figure.panels.len().saturating_sub(1));
    for (i, panel) in figure.panels.iter().enumerate() {
        let strip = Some(Strip { last: i == last, own_unit: own_unit(panel) });
        let (width, shape) = (size.width, 0.0);
        let place = Place {
            x: 0.0,
            y: y + t * 1.6,
            width,
            left,
            shape,
            notes: 0.0,
            detail: frame::Detail::Full,
            direct: false,
            strip,
        };
        let frame = Frame::new(panel, size, place);
        let title = clip(&panel.title, t, Weight::Bold, width - left);
        scene.push(Item::text((frame.title_x(), y + t), &title, t, Anchor::Start).bold());
        frame.draw(scene);
        y = frame.bottom();
    }
    let text = clip(&title, t, Weight::Regular, y - top);
    let at = (t, top + (y - t * 3.0 - top) / 2.0);
    scene.push(Item::text(at, &text, t, Anchor::Middle).upwards());
    y + size.gap() * 0.4
}

/// Shortens a text to `room` with an ellipsis.
fn clip(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if font::width(text, size, weight) <= room {
        return text.to_owned();
    }
    let mut short: Vec<char> = text.chars().collect();
    while !short.is_empty() {
        short.pop();
        let candidate: String = short.iter().chain(&['…']).collect();
        if font::width(&candidate, size, weight) <= room {
            return candidate;
        }
    }
    String::new()
}

/// The sample of a series in the legend.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sample {
    Line,
    Area,
    Mark,
}

/// Names that the axis across does not say already, with their looks.
fn legend_entries(figure: &Figure) -> Vec<(&str, Style, Sample)> {
    let mut entries: Vec<(&str, Style, Sample)> = Vec::new();
    for s in figure.panels.iter().flat_map(|p| &p.series) {
        let sample = match s.shape {
            Shape::Line(_) | Shape::Steps(_) | Shape::Chain(_) => Sample::Line,
            Shape::Marks(_) => Sample::Mark,
            _ => Sample::Area,
        };
        let entry = (s.name.as_str(), s.style, sample);
        if !s.name.is_empty() && !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    // strips of one series each say in their titles what it is
    let titled =
        figure.layout == Layout::Strips && figure.panels.iter().all(|p| p.series.len() < 2);
    let marked = entries.iter().any(|e| e.2 == Sample::Mark);
    if (entries.len() < 2 && !marked) || titled { Vec::new() } else { entries }
}

/// Draws the legend from `top` down; returns where it ends.
fn legend(scene: &mut Scene, figure: &Figure, size: &Size, top: f64) -> f64 {
    let entries = legend_entries(figure);
    if entries.is_empty() {
        return top;
    }
    let (sample, height) = (size.text * 2.0, size.text * 1.45);
    let start = size.text;
    let (mut x, mut y) = (start, top + size.text);
    for (name, style, look) in entries {
        let name = clip(name, size.text, Weight::Regular, size.width - sample - 3.0 * size.text);
        let wide = sample + size.text * 0.5 + font::width(&name, size.text, Weight::Regular);
        if x + wide > size.width && x > start {
            (x, y) = (start, y + height);
        }
        key(scene, style, look, (x, y - size.text * 0.35, sample), size);
        let at = (x + sample + size.text * 0.4, y);
        scene.push(Item::text(at, &name, size.text, Anchor::Start));
        x += wide + size.text * 1.2;
    }
    y + size.text * 0.9
}

/// A sample of how a series looks.
fn key(scene: &mut Scene, style: Style, look: Sample, (x, y, wide): (f64, f64, f64), size: &Size) {
    if look == Sample::Mark {
        marks::hollow(scene, style.marker, (x + wide / 2.0, y), size, "");
    } else if look == Sample::Line {
        let mut stroke = Item::line((x, y), (x + wide, y), style.paint, size.line);
        if let Item::Path { stroke: Some(Stroke { dash, .. }), .. } = &mut stroke {
            *dash = style.dash.pattern();
        }
        scene.push(stroke);
        let at = (x + wide / 2.0, y);
        scene.push(Item::marker(style.marker, at, size.line * 1.7, style.paint));
    } else {
        let half = size.text * 0.36;
        let area = crate::scene::Area {
            x: x + wide - half * 2.8,
            y: y - half,
            w: half * 2.8,
            h: half * 2.0,
        };
        scene.push(Item::rect(area, style.paint, style.fill.opacity()));
    }
}

/// Lines of a panel that could carry their names at their ends.
fn line_ends(series: &[Series]) -> Option<Vec<(&str, Style, f64)>> {
    series
        .iter()
        .map(|s| match &s.shape {
            Shape::Line(points) => Some((s.name.as_str(), s.style, points.last()?.y)),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
