//! From a figure of an experiment and the numbers of its runs to a drawing.

mod stated;

use super::claim::Claim;
use super::claim_rules;
use super::figure::{self, FigureKind, FigureSpec, PanelSpec};
use super::metric_words::words_of;
use super::select::Selector;
use super::tables::Cell;
use weir_plot::style::COLOURS;
use weir_plot::{
    Across, Axis, Bar, BoxPlot, Figure, Layout, Paint, Panel, Point, Rule, Series, Shape, Style,
    Unit,
};
use weir_results::report::figures::look::{colour_of, styles};
use weir_results::stats::Estimate;
use weir_sweep::quantity::Quantity;

/// A variant, and what decides about its look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// What tables call it.
    pub label: String,
    /// Its flow control; empty where there is none.
    pub scheme: String,
    /// Its congestion control.
    pub cc: String,
}

/// Where the numbers of a figure come from.
pub trait Numbers {
    /// The variants, in order.
    fn subjects(&self) -> Vec<Subject>;
    /// Names of the parameters.
    fn parameters(&self) -> Vec<String>;
    /// What is selected, by variant and point.
    fn select(&self, selector: &Selector) -> Vec<Cell>;
}

/// The look of every variant: a scheme has the same colour in all figures, and so has a congestion
/// control over PFC. Further variants of one of them differ in dash, marker and fill, and have
/// colours that no scheme of the experiment has, as long as there are any.
pub fn looks(subjects: &[Subject]) -> Vec<Style> {
    let mut all = styles(subjects.iter().map(|s| colour_of(&s.scheme, &s.cc)));
    let mut taken: Vec<Paint> = Vec::new();
    let further: Vec<usize> = (0..all.len())
        .filter(|i| {
            let paint = all[*i].paint;
            let again = taken.contains(&paint);
            taken.push(paint);
            again
        })
        .collect();
    let mut free = (0..COLOURS).map(Paint::Series).filter(|p| !taken.contains(p));
    for i in further {
        if let Some(paint) = free.next() {
            all[i].paint = paint;
        }
    }
    all
}

/// Draws one figure of an experiment, with what the paper says of it in `stated`.
pub fn draw(
    id: &str,
    spec: &FigureSpec,
    numbers: &dyn Numbers,
    stated: &[&Claim],
    note: &str,
) -> Figure {
    let subjects = numbers.subjects();
    let looks = looks(&subjects);
    let mut shown: Vec<(String, Style)> =
        subjects.into_iter().map(|s| s.label).zip(looks).collect();
    if !spec.variants.is_empty() {
        let find = |v: &String| shown.iter().find(|(label, _)| label == v).cloned();
        shown = spec.variants.iter().filter_map(find).collect();
    }
    let drawer = Drawer { spec, shown, parameters: numbers.parameters(), numbers, stated };
    let panels = drawer.panels();
    let interval = match (panels.iter().any(has_errors), drawer.seeds()) {
        (false, _) => "",
        (true, 2) => "Means of two seeds, with both of them as ends of a line: no interval.",
        (true, _) => "Means with 95 % confidence intervals over seeds.",
    };
    let cut = match panels.iter().any(cuts_errors) {
        true => "An arrowhead at the end of an interval: it goes on beyond the axis.",
        false => "",
    };
    let words = [spec.caption.as_str(), interval, cut, note];
    let caption: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    Figure {
        id: format!("{}-{}", id.to_lowercase(), spec.id),
        title: spec.title.clone(),
        caption: caption.join(" "),
        panels,
        layout: Layout::Grid,
    }
}

fn has_errors(panel: &Panel) -> bool {
    intervals(panel).next().is_some()
}

/// Whether an interval ends beyond the axis.
fn cuts_errors(panel: &Panel) -> bool {
    let within = |x: f64| panel.up.holds(x);
    intervals(panel).any(|(x, error)| within(x) && !(within(x - error) && within(x + error)))
}

/// Values that are uncertain, with half the width of their intervals.
fn intervals(panel: &Panel) -> impl Iterator<Item = (f64, f64)> + '_ {
    let of = |s: &Series| -> Vec<(f64, f64)> {
        match &s.shape {
            Shape::Line(points) => points.iter().map(|p| (p.y, p.error)).collect(),
            Shape::Bars(bars) => {
                bars.iter().flatten().filter_map(|b| Some((b.value?, b.error))).collect()
            }
            _ => Vec::new(),
        }
    };
    panel.series.iter().flat_map(of).filter(|(_, error)| *error > 0.0)
}

/// What stands across or makes the series: a variant, or the value of a parameter.
#[derive(Clone, Copy)]
enum Key {
    Variant,
    Parameter(usize),
}

struct Drawer<'a> {
    spec: &'a FigureSpec,
    shown: Vec<(String, Style)>,
    parameters: Vec<String>,
    numbers: &'a dyn Numbers,
    stated: &'a [&'a Claim],
}

impl Drawer<'_> {
    /// The fewest seeds of anything that has several.
    fn seeds(&self) -> usize {
        let panels = self.spec.panels.iter();
        let cells = panels.flat_map(|p| self.cells(&self.any_metric(&p.select)));
        cells.map(|c| c.seeds.len()).filter(|n| *n > 1).min().unwrap_or(0)
    }

    fn panels(&self) -> Vec<Panel> {
        let mut panels = Vec::new();
        for panel in &self.spec.panels {
            let Some(by) = &self.spec.panels_by else {
                panels.push(self.panel(panel));
                continue;
            };
            for value in self.values_of(by, &panel.select) {
                let mut one = panel.clone();
                one.select.at.push((by.clone(), value.clone()));
                let head = format!("{by} {value}");
                one.title = match panel.title.is_empty() {
                    true => head,
                    false => format!("{}, {head}", panel.title),
                };
                panels.push(self.panel(&one));
            }
        }
        share_axes(&mut panels);
        panels
    }

    fn panel(&self, panel: &PanelSpec) -> Panel {
        let (across, mut series, unit) = match self.spec.kind {
            FigureKind::Lines => self.lines(&panel.select),
            FigureKind::Bars => self.bars(&panel.select),
            FigureKind::Boxes => self.boxes(&panel.select),
            FigureKind::Cdf => self.distribution(&panel.select),
        };
        let marks = self.published(&panel.select, &across, &series);
        series.extend(marks);
        let up = match self.spec.kind {
            FigureKind::Cdf => Axis::linear("share of values not above", Unit::Share, 1.0),
            _ => self.axis(&panel.select, unit, &series),
        };
        let rules = self.spec.rules.iter();
        let rules = rules.map(|(at, label)| Rule { at: *at, label: label.clone() }).collect();
        Panel { title: panel.title.clone(), across, up, series, rules }
    }

    /// The label of an axis for what is selected.
    fn label(&self, select: &Selector) -> String {
        let words = self.spec.label.clone().unwrap_or_else(|| words_of(select));
        match &self.spec.relative_to {
            Some(variant) if self.spec.label.is_none() => format!("{words}, {variant} = 1"),
            _ => words,
        }
    }

    fn axis(&self, select: &Selector, unit: Unit, series: &[Series]) -> Axis {
        let label = self.label(select);
        let (mut values, mut ends) = (Vec::new(), Vec::new());
        let mut add = |value: f64, error: f64| {
            values.push(value);
            ends.extend([value - error, value + error]);
        };
        for s in series {
            match &s.shape {
                Shape::Line(points) => points.iter().for_each(|p| add(p.y, p.error)),
                Shape::Bars(bars) => {
                    let bars = bars.iter().flatten().filter_map(|b| Some((b.value?, b.error)));
                    bars.for_each(|(value, error)| add(value, error));
                }
                Shape::Boxes(all) => {
                    all.iter().flatten().for_each(|b| {
                        add(b.low, 0.0);
                        add(b.high, 0.0);
                    });
                }
                Shape::Steps(_) | Shape::Spans(_) | Shape::Chain(_) | Shape::Marks(_) => {}
            }
        }
        for (at, _) in &self.spec.rules {
            values.push(*at);
            ends.push(*at);
        }
        // a published value far beyond all others is drawn at the end of the axis
        let highest = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
        for s in series {
            if let Shape::Marks(marks) = &s.shape {
                let near = marks.iter().map(|m| m.value).filter(|v| *v <= highest * 3.0);
                values.extend(near.filter(|v| !self.spec.log || *v * 10.0 >= least));
            }
        }
        // An interval of two or three seeds may be many times as long as any value: it is cut off
        // rather than let it flatten all values.
        let highest = values.iter().copied().fold(0.0, f64::max);
        let most = ends.iter().copied().fold(highest, f64::max).min(highest * 1.5);
        let positive =
            |all: &[f64]| all.iter().copied().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
        let least = positive(&ends).min(positive(&values)).max(positive(&values) / 2.0);
        let lowest = values.iter().copied().fold(0.0, f64::min);
        let lines = self.spec.kind == FigureKind::Lines;
        match self.spec.log {
            true => Axis::log(&label, unit, least.max(most * 1e-6), most),
            false if lines && !self.spec.from_zero && least > 0.6 * most => {
                Axis::between(&label, unit, least, most)
            }
            false if lowest < 0.0 && lines => Axis::between(&label, unit, lowest, most),
            false => Axis::linear(&label, unit, most),
        }
    }

    /// The parameter of this name, or the variants.
    fn key(&self, name: Option<&String>) -> Key {
        let place = name.and_then(|n| self.parameters.iter().position(|p| p == n));
        place.map_or(Key::Variant, Key::Parameter)
    }

    fn of<'c>(&self, key: Key, cell: &'c Cell) -> &'c str {
        match key {
            Key::Variant => &cell.variant,
            Key::Parameter(i) => cell.values.get(i).map_or("", String::as_str),
        }
    }

    /// Everything that a key can be, in order, with its look.
    fn all(&self, key: Key, cells: &[Cell]) -> Vec<(String, Style)> {
        match key {
            Key::Variant => {
                let there = |v: &&(String, Style)| cells.iter().any(|c| c.variant == v.0);
                self.shown.iter().filter(there).cloned().collect()
            }
            Key::Parameter(_) => {
                let mut values: Vec<String> = Vec::new();
                for cell in cells {
                    let value = self.of(key, cell);
                    if !values.iter().any(|v| v == value) {
                        values.push(value.to_owned());
                    }
                }
                values.into_iter().enumerate().map(|(i, v)| (v, Style::new(i, 0))).collect()
            }
        }
    }

    fn values_of(&self, parameter: &str, select: &Selector) -> Vec<String> {
        let cells = self.cells(&self.any_metric(select));
        self.all(self.key(Some(&parameter.to_owned())), &cells).into_iter().map(|v| v.0).collect()
    }

    /// A selector whose metric is a column: families are named by their first one.
    fn any_metric(&self, select: &Selector) -> Selector {
        let family = match self.spec.kind {
            FigureKind::Boxes => figure::five(&select.metric).map(|five| five[0]),
            FigureKind::Cdf => {
                figure::percentiles(&select.metric).and_then(|all| Some(all.first()?.1))
            }
            FigureKind::Lines | FigureKind::Bars => None,
        };
        let metric = family.unwrap_or(&select.metric).to_owned();
        Selector { metric, ..select.clone() }
    }

    /// The cells of the variants that are shown, divided by those of another variant if so asked.
    fn cells(&self, select: &Selector) -> Vec<Cell> {
        let all = self.numbers.select(select);
        let shown = |c: &&Cell| self.shown.iter().any(|(label, _)| *label == c.variant);
        let Some(base) = &self.spec.relative_to else {
            return all.iter().filter(shown).cloned().collect();
        };
        let relative = |cell: &Cell| {
            let same = |c: &&Cell| c.variant == *base && c.values == cell.values;
            let base = all.iter().find(same)?;
            let ratio = |(seed, x): &(u64, f64)| {
                let other = base.seeds.iter().find(|(s, _)| s == seed)?.1;
                (other != 0.0).then_some((*seed, x / other))
            };
            let seeds = cell.seeds.iter().filter_map(ratio).collect();
            Some(Cell { seeds, ..cell.clone() })
        };
        all.iter().filter(shown).filter_map(relative).collect()
    }

    fn unit(&self, metric: &str) -> Unit {
        if self.spec.relative_to.is_some() { Unit::Number } else { claim_rules::unit(metric) }
    }

    fn lines(&self, select: &Selector) -> (Across, Vec<Series>, Unit) {
        let cells = self.cells(select);
        let (x, by) = (self.key(self.spec.across.as_ref()), self.key(self.spec.by.as_ref()));
        let names: Vec<String> = self.all(x, &cells).into_iter().map(|v| v.0).collect();
        let numbers: Option<Vec<Quantity>> = names.iter().map(|n| Quantity::read(n)).collect();
        let place = |text: &str| match &numbers {
            Some(_) => Quantity::read(text).map(|q| q.number),
            None => names.iter().position(|n| n == text).map(|i| i as f64),
        };
        let series = self.all(by, &cells).into_iter().map(|(name, style)| {
            let own = cells.iter().filter(|c| self.of(by, c) == name);
            let mut points: Vec<Point> = own
                .filter_map(|c| {
                    let e = estimate(c)?;
                    Some(Point { x: place(self.of(x, c))?, y: e.mean, error: e.half_width })
                })
                .collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Series { name: self.series_name(by, &name), style, shape: Shape::Line(points) }
        });
        let series = series.collect();
        let label = self.spec.across.clone().unwrap_or_default();
        let across = match numbers {
            Some(quantities) => Across::Values(value_axis(&label, &quantities)),
            None => Across::Names { label, names },
        };
        (across, series, self.unit(&select.metric))
    }

    fn series_name(&self, by: Key, name: &str) -> String {
        match by {
            Key::Variant => name.to_owned(),
            Key::Parameter(i) => format!("{} {name}", self.parameters[i]),
        }
    }

    fn bars(&self, select: &Selector) -> (Across, Vec<Series>, Unit) {
        let cells = self.cells(select);
        let unit = self.unit(&select.metric);
        let bar = |c: &Cell| {
            let e = estimate(c);
            let (value, error) = (e.map(|e| e.mean), e.map_or(0.0, |e| e.half_width));
            let note = if e.is_none() { "no value".to_owned() } else { String::new() };
            Bar { value, error, note, ..Bar::default() }
        };
        let (x, by) = (self.key(self.spec.across.as_ref()), self.key(self.spec.by.as_ref()));
        let names = self.all(x, &cells);
        if let (Key::Variant, Key::Variant) = (x, by) {
            let bars = names.iter().map(|(name, style)| {
                let cell = cells.iter().find(|c| c.variant == *name)?;
                Some(Bar { style: Some(*style), ..bar(cell) })
            });
            let shape = Shape::Bars(bars.collect());
            let series = vec![Series { name: String::new(), style: Style::new(0, 0), shape }];
            let names = names.into_iter().map(|n| n.0).collect();
            return (Across::Rows { names }, series, unit);
        }
        let series = self.all(by, &cells).into_iter().map(|(name, style)| {
            let find = |at: &(String, Style)| {
                let same = |c: &&Cell| self.of(x, c) == at.0 && self.of(by, c) == name;
                cells.iter().find(same).map(bar)
            };
            let bars = names.iter().map(find).collect();
            Series { name: self.series_name(by, &name), style, shape: Shape::Bars(bars) }
        });
        let series = series.collect();
        (self.names(names), series, unit)
    }

    fn names(&self, names: Vec<(String, Style)>) -> Across {
        let label = self.spec.across.clone().unwrap_or_default();
        Across::Names { label, names: names.into_iter().map(|n| n.0).collect() }
    }

    fn boxes(&self, select: &Selector) -> (Across, Vec<Series>, Unit) {
        let columns = figure::five(&select.metric).unwrap_or_default();
        let five: Vec<Vec<Cell>> = columns
            .iter()
            .map(|metric| self.cells(&Selector { metric: (*metric).to_owned(), ..select.clone() }))
            .collect();
        let (x, by) = (self.key(self.spec.across.as_ref()), self.key(self.spec.by.as_ref()));
        let names = self.all(x, &five[0]);
        let one = |at: &str, of: &str, style: Option<Style>| {
            let value = |cells: &Vec<Cell>| {
                let same = |c: &&Cell| self.of(x, c) == at && self.of(by, c) == of;
                cells.iter().find(same).and_then(estimate).map(|e| e.mean)
            };
            let [low, lower, middle, upper, high] = [0, 1, 2, 3, 4].map(|i| value(&five[i]));
            let (low, lower, middle) = (low?, lower?, middle?);
            Some(BoxPlot { low, lower, middle, upper: upper?, high: high?, style })
        };
        let unit = self.unit(columns[0]);
        let series = match (x, by) {
            (Key::Variant, Key::Variant) => {
                let boxes = names.iter().map(|(n, style)| one(n, n, Some(*style))).collect();
                let (name, style) = (String::new(), Style::new(0, 0));
                vec![Series { name, style, shape: Shape::Boxes(boxes) }]
            }
            _ => {
                let of = |(name, style): (String, Style)| {
                    let boxes = names.iter().map(|(at, _)| one(at, &name, None)).collect();
                    let name = self.series_name(by, &name);
                    Series { name, style, shape: Shape::Boxes(boxes) }
                };
                self.all(by, &five[0]).into_iter().map(of).collect()
            }
        };
        (self.names(names), series, unit)
    }

    /// Percentiles joined by lines: what lies between two of them is not known.
    fn distribution(&self, select: &Selector) -> (Across, Vec<Series>, Unit) {
        let columns = figure::percentiles(&select.metric).unwrap_or_default();
        let metric = |name: &str| Selector { metric: name.to_owned(), ..select.clone() };
        let cells: Vec<(f64, Vec<Cell>)> =
            columns.iter().map(|(share, name)| (*share, self.cells(&metric(name)))).collect();
        let by = self.key(self.spec.by.as_ref());
        let all = cells.first().map(|(_, c)| self.all(by, c)).unwrap_or_default();
        let unit = columns.first().map_or(Unit::Number, |(_, name)| self.unit(name));
        let mut values = Vec::new();
        let mut series = Vec::new();
        for (name, style) in all {
            let value = |(share, cells): &(f64, Vec<Cell>)| {
                let cell = cells.iter().find(|c| self.of(by, c) == name)?;
                Some(Point { x: estimate(cell)?.mean, y: *share, error: 0.0 })
            };
            let points: Vec<Point> = cells.iter().filter_map(value).collect();
            values.extend(points.iter().map(|p| p.x));
            let name = self.series_name(by, &name);
            series.push(Series { name, style, shape: Shape::Line(points) });
        }
        let most = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
        let label = self.label(select);
        let axis = match self.spec.log {
            true => Axis::log(&label, unit, least.max(most * 1e-6), most),
            false => Axis::linear(&label, unit, most),
        };
        (Across::Values(axis), series, unit)
    }
}

/// The mean with its interval; of two seeds, whose interval would be twelve times as long as their
/// difference, half of the difference.
fn estimate(cell: &Cell) -> Option<Estimate> {
    let samples: Vec<f64> = cell.seeds.iter().map(|(_, x)| *x).collect();
    let found = Estimate::new(&samples)?;
    Some(match samples[..] {
        [a, b] => Estimate { half_width: (a - b).abs() / 2.0, ..found },
        _ => found,
    })
}

/// The axis of a parameter.
fn value_axis(label: &str, values: &[Quantity]) -> Axis {
    let unit = values.first().map_or(Unit::Number, |q| q.unit);
    let whole = |q: &Quantity| q.number.fract() == 0.0;
    let unit = match unit {
        Unit::Number if values.iter().all(whole) => Unit::Count,
        unit => unit,
    };
    let low = values.iter().map(|q| q.number).fold(f64::INFINITY, f64::min);
    let high = values.iter().map(|q| q.number).fold(f64::NEG_INFINITY, f64::max);
    // several values that span decades stand evenly on a logarithmic axis
    match low > 0.0 && high / low >= 20.0 {
        true => Axis::log(label, unit, low, high),
        false if values.is_empty() => Axis::linear(label, unit, 1.0),
        false => Axis::between(label, unit, low, high),
    }
}

/// Panels of one metric have one scale, so that they can be compared by eye, unless one of them
/// would be flat then.
fn share_axes(panels: &mut [Panel]) {
    let Some(first) = panels.first().map(|p| (p.up.label.clone(), p.up.unit, p.up.scale)) else {
        return;
    };
    let alike = panels.iter().all(|p| (p.up.label.clone(), p.up.unit, p.up.scale) == first);
    let highest = panels.iter().map(|p| p.up.high).fold(f64::NEG_INFINITY, f64::max);
    let lowest = panels.iter().map(|p| p.up.low).fold(f64::INFINITY, f64::min);
    if alike && panels.iter().all(|p| p.up.high * 4.0 >= highest) {
        for p in panels {
            (p.up.low, p.up.high) = (lowest, highest);
        }
    }
}

#[cfg(test)]
mod tests;
