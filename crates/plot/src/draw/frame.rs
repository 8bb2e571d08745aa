//! One panel: where its plot is, its axes, and what is in it.

use super::marks;
use super::{Size, clip, line_ends};
use crate::axis::{Axis, Tick, show};
use crate::figure::{Across, Bar, Panel, Shape};
use crate::font::{self, Weight};
use crate::scene::{Anchor, Area, Item, Scene};
use crate::style::{Paint, Style};

/// A panel with its place.
pub(super) struct Frame<'a> {
    pub(super) panel: &'a Panel,
    pub(super) size: &'a Size,
    /// Where data is drawn.
    pub(super) plot: Area,
    left: f64,
    /// Names that do not fit beside each other run upwards.
    upright: bool,
    direct: bool,
    strip: Option<Strip>,
    detail: Detail,
}

/// What words beside bars say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// The value, the largest, and the note.
    Full,
    /// Not the largest.
    Brief,
}

/// Whether an axis has lines across the plot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GridLines {
    Drawn,
    Omitted,
}

/// Where a panel goes, and what it has in common with the others of its figure.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    /// Room for the labels of the axis up.
    pub(super) left: f64,
    /// Height of the plot over its width.
    pub(super) shape: f64,
    /// Room for words beside bars.
    pub(super) notes: f64,
    /// What these words say.
    pub(super) detail: Detail,
    /// Whether lines carry their names at their ends.
    pub(super) direct: bool,
    /// For a panel that is one of several strips.
    pub(super) strip: Option<Strip>,
}

/// One of several flat panels below each other.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    /// Whether it is the lowest, which has the axis across.
    pub(super) last: bool,
    /// Whether its unit is not that of the common title.
    pub(super) own_unit: bool,
}

/// Ticks of the axis up of a strip: few, but more than the one at zero.
pub(super) fn strip_ticks(panel: &Panel, own_unit: bool) -> Vec<Tick> {
    let mut ticks = (2..6).map(|about| panel.up.ticks(about)).find(|t| t.len() > 1);
    if own_unit {
        let unit = panel.up.unit.prefix(panel.up.high).1;
        for tick in ticks.iter_mut().flatten().filter(|t| !t.text.is_empty()) {
            tick.text = format!("{} {unit}", tick.text);
        }
    }
    ticks.unwrap_or_default()
}

/// Room for the axis up of a panel with these ticks, with a title of so many lines.
pub(super) fn left_of(panel: &Panel, size: &Size, ticks: &[Tick], lines: usize) -> f64 {
    let labels = widest(ticks.iter().map(|k| k.text.as_str()), size);
    let more = size.text * LINE * lines.saturating_sub(1) as f64;
    labels + size.text * if panel.up.label.is_empty() { 0.8 } else { 2.3 } + more
}

/// From one line of a title to the next, over the size of the text.
const LINE: f64 = 1.15;

/// The title of an axis up in at most three lines, for a plot of this height.
pub(super) fn title_lines(panel: &Panel, size: &Size, height: f64) -> Vec<String> {
    let room = height + size.text * 2.0;
    let title = panel.up.title();
    let mut lines: Vec<String> = Vec::new();
    for word in title.split(' ') {
        match lines.last_mut() {
            Some(line) if wide(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > 3 {
        let rest = lines.split_off(2).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| clip(line, size.text, Weight::Regular, room)).collect()
}

/// As much as there is room for beside bars.
pub(super) fn note_detail(panels: &[Panel], size: &Size) -> Detail {
    let fits = note_room(panels, size, Detail::Full) <= size.width * 0.4;
    if fits { Detail::Full } else { Detail::Brief }
}

/// Room for what stands beside the bars of these panels.
pub(super) fn note_room(panels: &[Panel], size: &Size, detail: Detail) -> f64 {
    let bars = panels.iter().flat_map(|p| all_bars(p).map(move |b| (p, b)));
    bars.map(|(p, b)| wide(&note_text(p, b, detail), size)).fold(0.0, f64::max)
}

fn all_bars(panel: &Panel) -> impl Iterator<Item = &Bar> {
    panel.series.iter().flat_map(|s| match &s.shape {
        Shape::Bars(bars) => bars.iter().flatten().collect::<Vec<_>>(),
        _ => Vec::new(),
    })
}

/// Text widths at the figure's size.
fn wide(text: &str, size: &Size) -> f64 {
    font::width(text, size.text, Weight::Regular)
}

fn widest<'t>(texts: impl IntoIterator<Item = &'t str>, size: &Size) -> f64 {
    texts.into_iter().map(|t| wide(t, size)).fold(0.0, f64::max)
}

/// Where names at the ends of lines go: spread so that they do not overlap.
fn spread(mut ends: Vec<f64>, distance: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|a, b| ends[*a].total_cmp(&ends[*b]));
    for pass in 0..2 {
        let mut limit = if pass == 0 { top } else { bottom };
        let walk: Vec<usize> =
            if pass == 0 { order.clone() } else { order.iter().rev().copied().collect() };
        for i in walk {
            ends[i] = if pass == 0 { ends[i].max(limit) } else { ends[i].min(limit) };
            limit = if pass == 0 { ends[i] + distance } else { ends[i] - distance };
        }
    }
    ends
}

/// Whether the lines of a panel can carry their names at their right ends: few lines whose ends
/// are far enough from each other.
pub(super) fn labels_fit(panel: &Panel, size: &Size) -> bool {
    let Some(ends) = line_ends(&panel.series) else { return false };
    if ends.len() < 2 || ends.len() > 6 || matches!(panel.across, Across::Rows { .. }) {
        return false;
    }
    let height = size.width * size.shape;
    let names = widest(ends.iter().map(|e| e.0), size);
    let places: Vec<f64> = ends.iter().map(|e| (1.0 - panel.up.at(e.2)) * height).collect();
    let moved = spread(places.clone(), size.text * 1.2, (0.0, height));
    let far = places.iter().zip(&moved).any(|(a, b)| (a - b).abs() > size.text * 0.7);
    names < size.width * 0.25 && !far
}

impl<'a> Frame<'a> {
    /// Lays out a panel.
    pub(super) fn new(panel: &'a Panel, size: &'a Size, place: Place) -> Self {
        let t = size.text;
        if let Across::Rows { names } = &panel.across {
            return Self::rows(panel, size, place, names);
        }
        let Place { x, y, width, left, shape, direct, strip, detail, .. } = place;
        let right = match direct {
            true => widest(panel.series.iter().map(|s| s.name.as_str()), size) + t,
            false => t * 1.2,
        };
        let w = (width - left - right).max(20.0);
        let h = if strip.is_some() { t * 4.6 } else { (w * shape).max(t * 6.0) };
        let plot = Area { x: x + left, y, w, h };
        let upright = match &panel.across {
            Across::Names { names, .. } => {
                let slot = w / names.len().max(1) as f64;
                names.iter().any(|n| wide(n, size) > slot * 0.95)
            }
            _ => false,
        };
        Self { panel, size, plot, left: x, upright, direct, strip, detail }
    }

    fn rows(panel: &'a Panel, size: &'a Size, place: Place, names: &[String]) -> Self {
        let (t, width) = (size.text, place.width);
        let left = widest(names.iter().map(String::as_str), size).min(width * 0.4) + t * 0.8;
        let marked = panel.series.iter().any(|s| matches!(s.shape, Shape::Marks(_)));
        // the words of a bar may have to stand behind a mark
        let marks = if marked { marks::reach(size) } else { 0.0 };
        let right = place.notes.min(width * 0.4) + t * 1.2 + marks;
        let w = (width - left - right).max(20.0);
        let plot = Area { x: place.x + left, y: place.y, w, h: t * 1.6 * names.len() as f64 };
        Self {
            panel,
            size,
            plot,
            left: place.x,
            upright: false,
            direct: false,
            strip: None,
            detail: place.detail,
        }
    }

    /// What stands beside a bar.
    pub(super) fn note(&self, bar: &Bar) -> String {
        note_text(self.panel, bar, self.detail)
    }

    pub(super) fn title_x(&self) -> f64 {
        if matches!(self.panel.across, Across::Rows { .. }) { self.left } else { self.plot.x }
    }

    /// Where the panel ends, its labels included.
    pub(super) fn bottom(&self) -> f64 {
        let t = self.size.text;
        let below = match &self.panel.across {
            _ if self.strip.is_some_and(|s| !s.last) => t * 0.7,
            Across::Values(_) | Across::Rows { .. } => t * 3.1,
            Across::Names { names, label } => {
                let names = match self.upright {
                    true => self.name_room(names) + t * 0.4,
                    false => t * 1.2,
                };
                names + t * if label.is_empty() { 0.6 } else { 2.0 }
            }
        };
        self.plot.bottom() + below
    }

    /// How far upright names reach down.
    fn name_room(&self, names: &[String]) -> f64 {
        widest(names.iter().map(String::as_str), self.size).min(self.size.text * 11.0)
    }

    pub(super) fn up(&self, value: f64) -> f64 {
        self.plot.y + self.plot.h * (1.0 - self.panel.up.at(value))
    }

    /// Where a value lies to the right in a panel of rows.
    pub(super) fn along(&self, value: f64) -> f64 {
        self.plot.x + self.plot.w * self.panel.up.at(value)
    }

    /// How many names or rows there are.
    pub(super) fn row_count(&self) -> usize {
        match &self.panel.across {
            Across::Values(_) => 0,
            Across::Names { names, .. } | Across::Rows { names } => names.len(),
        }
    }

    pub(super) fn draw(&self, scene: &mut Scene) {
        match &self.panel.across {
            Across::Rows { names } => {
                self.horizontal_axis(scene, &self.panel.up, GridLines::Drawn);
                for (i, name) in names.iter().enumerate() {
                    let (t, slot) = (self.size.text, self.plot.h / names.len() as f64);
                    let y = self.plot.y + slot * (i as f64 + 0.5) + t * 0.33;
                    let room = self.plot.x - self.left - t * 0.5;
                    let name = clip(name, t, Weight::Regular, room);
                    scene.push(Item::text((self.plot.x - t * 0.5, y), &name, t, Anchor::End));
                }
            }
            Across::Values(axis) => {
                self.vertical_axis(scene);
                self.horizontal_axis(scene, axis, GridLines::Omitted);
            }
            Across::Names { names, label } => {
                self.vertical_axis(scene);
                self.names(scene, names, label);
            }
        }
        marks::draw(self, scene);
        match self.panel.across {
            Across::Rows { .. } => self.rules_along(scene),
            _ => self.rules(scene),
        }
        if self.direct {
            self.line_names(scene);
        }
    }

    /// Grid lines, labels and title of the axis up.
    fn vertical_axis(&self, scene: &mut Scene) {
        let (t, plot) = (self.size.text, self.plot);
        let ticks = match self.strip {
            Some(strip) => strip_ticks(self.panel, strip.own_unit),
            None => self.panel.up.ticks(5),
        };
        for Tick { value, text } in ticks {
            let y = self.up(value);
            let width = if text.is_empty() { 0.25 } else { 0.6 };
            scene.push(Item::line((plot.x, y), (plot.right(), y), Paint::Grid, width));
            let at = (plot.x - t * 0.45, y + t * 0.34);
            scene.push(Item::text(at, &text, t, Anchor::End).painted(Paint::Soft));
        }
        if self.strip.is_some() {
            return;
        }
        for (i, line) in title_lines(self.panel, self.size, plot.h).iter().enumerate() {
            let at = (self.left + t * (1.0 + LINE * i as f64), plot.y + plot.h / 2.0);
            scene.push(Item::text(at, line, t, Anchor::Middle).upwards());
        }
    }

    /// Ticks, labels and title of a horizontal axis at the lower edge.
    fn horizontal_axis(&self, scene: &mut Scene, axis: &Axis, lines: GridLines) {
        let (t, plot) = (self.size.text, self.plot);
        let base = plot.bottom();
        scene.push(Item::line((plot.x, base), (plot.right(), base), Paint::Soft, 0.8));
        let named = self.strip.is_none_or(|s| s.last);
        // as many labels as have room
        let mut about = 9;
        let ticks = loop {
            let ticks = axis.ticks(about);
            let labels: Vec<f64> = ticks.iter().map(|k| wide(&k.text, self.size)).collect();
            let named = ticks.iter().filter(|k| !k.text.is_empty()).count();
            let need = labels.iter().fold(0.0, |a: f64, b| a.max(*b)) + t;
            if about <= 1 || need * named as f64 <= plot.w {
                break ticks;
            }
            about -= 1;
        };
        let mut free = f64::NEG_INFINITY;
        for Tick { value, text } in ticks {
            let x = plot.x + plot.w * axis.at(value);
            let long = if text.is_empty() { t * 0.18 } else { t * 0.33 };
            if lines == GridLines::Drawn {
                scene.push(Item::line((x, plot.y), (x, base), Paint::Grid, 0.6));
            }
            scene.push(Item::line((x, base), (x, base + long), Paint::Soft, 0.8));
            if !named {
                continue;
            }
            let half = wide(&text, self.size) / 2.0;
            if !text.is_empty() && x - half >= free {
                let at = (x, base + t * 1.3);
                scene.push(Item::text(at, &text, t, Anchor::Middle).painted(Paint::Soft));
                free = x + half + t * 0.4;
            }
        }
        if !named {
            return;
        }
        let title = clip(&axis.title(), t, Weight::Regular, plot.w + t * 4.0);
        let middle = plot.x + plot.w / 2.0;
        scene.push(Item::text((middle, base + t * 2.7), &title, t, Anchor::Middle));
    }

    fn names(&self, scene: &mut Scene, names: &[String], label: &str) {
        let (t, plot) = (self.size.text, self.plot);
        let (base, slot) = (plot.bottom(), plot.w / names.len().max(1) as f64);
        scene.push(Item::line((plot.x, base), (plot.right(), base), Paint::Soft, 0.8));
        let mut below = base + t * 1.3;
        for (i, name) in names.iter().enumerate() {
            let x = plot.x + slot * (i as f64 + 0.5);
            if self.upright {
                let name = clip(name, t, Weight::Regular, t * 11.0);
                let at = (x + t * 0.33, base + t * 0.4);
                scene.push(Item::text(at, &name, t, Anchor::End).upwards());
                below = base + self.name_room(names) + t * 0.4;
            } else {
                scene.push(Item::text((x, base + t * 1.2), name, t, Anchor::Middle));
            }
        }
        let at = (plot.x + plot.w / 2.0, below + t * 1.4);
        scene.push(Item::text(at, label, t, Anchor::Middle));
    }

    /// Levels to compare with, each with its name above the line, or below it where there is no
    /// room above; a name without room at either place is left out.
    fn rules(&self, scene: &mut Scene) {
        let (t, plot) = (self.size.text, self.plot);
        let inside = |at: f64| at >= self.panel.up.low && at <= self.panel.up.high;
        let mut rules: Vec<_> = self.panel.rules.iter().filter(|r| inside(r.at)).collect();
        rules.sort_by(|a, b| b.at.total_cmp(&a.at));
        let lines: Vec<f64> = rules.iter().map(|r| self.up(r.at)).collect();
        let mut taken: Vec<Area> = Vec::new();
        for (i, rule) in rules.iter().enumerate() {
            let y = lines[i];
            scene.push(dashed((plot.x, y), (plot.right(), y)));
            let label = clip(&rule.label, t * 0.92, Weight::Regular, plot.w);
            let text = |base: f64| {
                let at = (plot.right() - t * 0.2, base);
                Item::text(at, &label, t * 0.92, Anchor::End).painted(Paint::Alarm)
            };
            let fits = |area: &Area| {
                let crossed = |line: &f64| *line > area.y && *line < area.bottom();
                area.y >= plot.y
                    && area.bottom() <= plot.bottom()
                    && !taken.iter().any(|other| other.overlaps(area))
                    && !lines.iter().any(crossed)
            };
            let places = [y - t * 0.3, y + t * 0.95].map(text);
            let placed = places.into_iter().find(|p| p.text_area().is_some_and(|a| fits(&a)));
            // bars and lines below it must not make it illegible
            if let (Some(text), false) = (placed, label.is_empty())
                && let Some(area) = text.text_area()
            {
                scene.push(Item::rect(area, Paint::Paper, 0.8));
                scene.push(text);
                taken.push(area);
            }
        }
    }

    fn rules_along(&self, scene: &mut Scene) {
        for rule in self.panel.rules.iter().filter(|r| r.at <= self.panel.up.high) {
            let x = self.along(rule.at);
            scene.push(dashed((x, self.plot.y), (x, self.plot.bottom())));
        }
    }

    /// The names of lines at their right ends.
    fn line_names(&self, scene: &mut Scene) {
        let Some(ends) = line_ends(&self.panel.series) else { return };
        let (t, plot) = (self.size.text, self.plot);
        let places = ends.iter().map(|e| self.up(e.2)).collect();
        let places = spread(places, t * 1.2, (plot.y, plot.bottom()));
        for ((name, style, _), y) in ends.iter().zip(places) {
            let at = (plot.right() + t * 0.5, y + t * 0.34);
            scene.push(Item::text(at, name, t, Anchor::Start).painted(style.paint));
        }
    }

    /// The look of a bar.
    pub(super) fn bar_style(bar: &Bar, series: Style) -> Style {
        bar.style.unwrap_or(series)
    }
}

/// What there is to say of a bar: its value, the largest, and its note.
pub(super) fn note(panel: &Panel, bar: &Bar) -> String {
    note_text(panel, bar, Detail::Full)
}

fn note_text(panel: &Panel, bar: &Bar, detail: Detail) -> String {
    let unit = panel.up.unit;
    let value = bar.value.map(|v| show(unit, v)).unwrap_or_default();
    let error = match (bar.value, bar.error) {
        (Some(v), e) if e > v.abs() * 0.0005 => format!(" ±{}", show(unit, e)),
        _ => String::new(),
    };
    let most = match (bar.value, bar.whisker) {
        (Some(v), Some(most)) if most > v * 1.005 && detail == Detail::Full => {
            format!(", up to {}", show(unit, most))
        }
        _ => String::new(),
    };
    format!("{value}{error}{most} {}", bar.note).trim().to_owned()
}

fn dashed(from: (f64, f64), to: (f64, f64)) -> Item {
    let mut line = Item::line(from, to, Paint::Alarm, 0.8);
    if let Item::Path { stroke: Some(stroke), .. } = &mut line {
        stroke.dash = &[5.0, 4.0];
    }
    line
}
