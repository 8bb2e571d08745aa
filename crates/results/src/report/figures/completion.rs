//! Figures about flows: completion times, rates and slowdowns.

use super::look::{Look, looks};
use crate::comparison::{ClassSummary, Comparison, Group};
use crate::run::Run;
use crate::stats::{Estimate, Sorted, usual_max};
use weir_core::percentile::P99;
use weir_core::{Bytes, ClassId};
use weir_plot::{
    Across, Axis, Bar, Figure, Layout, Panel, Point, Rule, Scale, Series, Shape, Style, Unit,
};
use weir_sim::outcome::FlowRecord;

/// A figure with more panels than this has no room for them; classes are in order of importance.
pub(super) const MOST_PANELS: usize = 6;

/// What a bar shows of a class: the mean, and the largest.
type ClassFigure = fn(&ClassSummary) -> (Option<Estimate>, Option<f64>);

/// A panel of bars per class, a bar per scheme; none when no class has a value.
fn bars(c: &Comparison<'_>, label: &str, unit: Unit, reading: ClassFigure) -> Vec<Panel> {
    let looks = looks(c);
    let mut panels = Vec::new();
    for class in c.class_order() {
        let bar = |(g, look): (&Group<'_>, &Look)| {
            let s = ClassSummary::new(g, Some(class));
            let (mean, whisker) = reading(&s);
            let flows = s.own_flows();
            let unfinished = match (unit, flows - s.completed) {
                (Unit::Rate, _) | (_, 0) => String::new(),
                (_, n) => format!("({n} of {flows} unfinished)"),
            };
            let bar = Bar {
                value: mean.map(|e| e.mean),
                error: mean.map_or(0.0, |e| e.half_width),
                whisker,
                style: Some(look.style),
                note: unfinished,
            };
            (flows > 0).then_some(bar)
        };
        let bars: Vec<Option<Bar>> = c.groups.iter().zip(&looks).map(bar).collect();
        panels.extend(bar_panel(c.class_name(class), &looks, label, unit, bars));
    }
    panels.truncate(MOST_PANELS);
    panels
}

/// A bar per scheme; `None` when none has a value.
pub(super) fn bar_panel(
    title: &str,
    looks: &[Look],
    label: &str,
    unit: Unit,
    bars: Vec<Option<Bar>>,
) -> Option<Panel> {
    let all = || bars.iter().flatten();
    if !all().any(|b| b.value.is_some()) {
        return None;
    }
    // one bar that is far off must not flatten the others: it is broken, with its value
    let most = usual_max(all().filter_map(|b| Some(b.value? + b.error)));
    let far = usual_max(all().filter_map(|b| b.whisker)).min(most * 2.5);
    Some(Panel {
        title: title.to_owned(),
        across: Across::Rows { names: looks.iter().map(|l| l.name.clone()).collect() },
        up: Axis::linear(label, unit, most.max(far)),
        series: vec![Series {
            name: String::new(),
            style: Style::new(0, 0),
            shape: Shape::Bars(bars),
        }],
        rules: Vec::new(),
    })
}

/// What to add to a caption when there are several seeds.
pub(super) fn seeds_note(c: &Comparison<'_>, what: &str) -> String {
    match c.seeds() {
        0 | 1 => String::new(),
        n => format!(" Mean over {n} seeds; {what} are 95 % confidence intervals."),
    }
}

pub(super) fn figure(id: &str, title: &str, caption: String, panels: Vec<Panel>) -> Option<Figure> {
    let (id, title) = (id.to_owned(), title.to_owned());
    (!panels.is_empty()).then_some(Figure { id, title, caption, panels, layout: Layout::Grid })
}

/// Flow completion times by class and scheme.
pub(super) fn fct(c: &Comparison<'_>) -> Option<Figure> {
    let panels = bars(c, "mean FCT", Unit::Time, |s| (s.fct_mean, s.fct_max));
    let caption = "From the start of a flow to its last byte at the receiver: the mean of each \
                   class, and a thin line up to the longest. A bar with a gap extends to the \
                   value beside it.";
    let caption = caption.to_owned() + &seeds_note(c, "the lines across the ends of bars");
    figure("fct", "Flow completion time by class", caption, panels)
}

/// Rates of flows without an end, by class and scheme.
pub(super) fn rate(c: &Comparison<'_>) -> Option<Figure> {
    let panels = bars(c, "mean rate", Unit::Rate, |s| (s.rate_mean, None));
    let caption =
        "Payload delivered by flows without an end, divided by their duration.".to_owned();
    let caption = caption + &seeds_note(c, "the lines across the ends of bars");
    figure("rate", "Rate by class", caption, panels)
}

/// The share of samples that do not exceed a value, as steps.
fn cdf(sorted: &Sorted) -> Vec<(f64, f64)> {
    let n = sorted.len() as f64;
    let values = sorted.as_slice().iter().enumerate();
    let mut points = vec![(sorted.as_slice().first().copied().unwrap_or(0.0), 0.0)];
    points.extend(values.map(|(i, &x)| (x, (i + 1) as f64 / n)));
    points
}

/// Completion times of the flows of a class that count, picoseconds.
fn class_fct(run: &Run, class: ClassId) -> impl Iterator<Item = f64> {
    let counts = move |f: &&FlowRecord| f.class == class && run.config.probes.counts(f.start);
    run.outcome.flows.iter().filter(counts).filter_map(|f| Some(f.fct()?.as_ps() as f64))
}

/// Distributions of the completion time, a panel per class with enough flows.
pub(super) fn fct_cdf(c: &Comparison<'_>) -> Option<Figure> {
    const FEWEST: usize = 5;
    let mut panels = Vec::new();
    for class in c.class_order() {
        let line = |(g, look): (&Group<'_>, super::look::Look)| {
            let all = Sorted::new(g.runs.iter().flat_map(|r| class_fct(r, class)));
            let shape = Shape::Steps(cdf(&all));
            (all.len() >= FEWEST).then_some(Series { name: look.name, style: look.style, shape })
        };
        let series: Vec<Series> = c.groups.iter().zip(looks(c)).filter_map(line).collect();
        let points = |s: &Series| match &s.shape {
            Shape::Steps(points) => points.iter().map(|p| p.0).collect(),
            _ => Vec::new(),
        };
        let values = Sorted::new(series.iter().flat_map(points));
        let (Some(&least), Some(most)) = (values.as_slice().first(), values.max()) else {
            continue;
        };
        if most <= 0.0 {
            continue;
        }
        let across = match most / least > 30.0 {
            true => Axis::log("FCT", Unit::Time, least, most),
            // below the shortest there is nothing to see
            false if least > most * 0.4 => Axis::between("FCT", Unit::Time, least, most),
            false => Axis::linear("FCT", Unit::Time, most),
        };
        panels.push(Panel {
            title: c.class_name(class).to_owned(),
            across: Across::Values(across),
            up: Axis { high: 1.0, ..Axis::linear("share of flows", Unit::Share, 1.0) },
            series,
            rules: Vec::new(),
        });
    }
    panels.truncate(MOST_PANELS);
    let caption = "The share of flows that took no longer than this, all seeds together.".into();
    figure("fct-cdf", "Distribution of the completion time", caption, panels)
}

/// Ranges of flow sizes, by their upper ends: about twenty with equally many flows, or one for each
/// size where there are few sizes.
fn size_bins(c: &Comparison<'_>) -> Vec<f64> {
    const MOST: usize = 20;
    const FEWEST: usize = 10;
    let flows = c.groups.first().into_iter().flat_map(|g| &g.runs).flat_map(counted);
    let sizes = Sorted::new(flows.map(|(size, _)| size));
    let all = sizes.as_slice();
    let mut distinct = all.to_vec();
    distinct.dedup();
    if distinct.len() <= MOST {
        return distinct;
    }
    let bins = (all.len() / FEWEST).clamp(1, MOST);
    let mut ends: Vec<f64> =
        (1..=bins).filter_map(|i| all.get((i * all.len() / bins).max(1) - 1).copied()).collect();
    ends.dedup();
    ends
}

/// Size and slowdown of the flows of a run that count and have an end.
fn counted(run: &Run) -> impl Iterator<Item = (f64, Option<f64>)> {
    let flows = run.outcome.flows.iter().filter(|f| run.config.probes.counts(f.start));
    flows.filter(|f| f.size != Bytes::MAX).map(|f| (f.size.get() as f64, f.slowdown()))
}

/// Slowdowns of a run's flows, by bin.
fn binned(run: &Run, ends: &[f64]) -> Vec<Sorted> {
    let mut bins: Vec<Vec<f64>> = vec![Vec::new(); ends.len()];
    for (size, slowdown) in counted(run) {
        let at = ends.partition_point(|end| *end < size);
        if let (Some(bin), Some(slowdown)) = (bins.get_mut(at), slowdown) {
            bin.push(slowdown);
        }
    }
    bins.into_iter().map(Sorted::new).collect()
}

/// What a panel is called, and what it shows of the flows of a bin.
type OfBin = (&'static str, fn(&Sorted) -> Option<f64>);

/// Mean and 99th percentile of the slowdown over the size of flows.
pub(super) fn slowdown_by_size(c: &Comparison<'_>) -> Option<Figure> {
    const FEWEST: usize = 40;
    let ends = size_bins(c);
    let (&least, &most) = (ends.first()?, ends.last()?);
    if least >= most {
        return None;
    }
    let groups: Vec<Vec<Vec<Sorted>>> =
        c.groups.iter().map(|g| g.runs.iter().map(|r| binned(r, &ends)).collect()).collect();
    let readings: [OfBin; 2] = [("mean", Sorted::mean), ("99th percentile", |s| s.percentile(P99))];
    let panel = |(title, of): OfBin| {
        let line = |(runs, look): (&Vec<Vec<Sorted>>, super::look::Look)| {
            let flows: usize = runs.iter().flatten().map(Sorted::len).sum();
            let point = |i: usize| {
                let seeds: Vec<f64> = runs.iter().filter_map(|bins| of(&bins[i])).collect();
                let e = Estimate::new(&seeds)?;
                Some(Point { x: ends[i], y: e.mean, error: e.half_width })
            };
            let shape = Shape::Line((0..ends.len()).filter_map(point).collect());
            (flows >= FEWEST).then_some(Series { name: look.name, style: look.style, shape })
        };
        let series: Vec<Series> = groups.iter().zip(looks(c)).filter_map(line).collect();
        Panel {
            title: title.to_owned(),
            across: Across::Values(Axis::log("flow size", Unit::Bytes, least, most)),
            up: Axis::linear("slowdown", Unit::Number, 1.0),
            series,
            rules: vec![Rule { at: 1.0, label: "alone in the network".into() }],
        }
    };
    let mut panels: Vec<Panel> = readings.map(panel).into();
    panels.retain(|p| !p.series.is_empty());
    for panel in &mut panels {
        panel.up = slowdown_axis(&panel.series);
    }
    let what = "Completion time divided by the ideal completion time, alone on the path. Each \
                point is drawn at the largest size of its bin; bins have equally many flows.";
    let names: Vec<&str> = c.class_order().into_iter().map(|k| c.class_name(k)).collect();
    let (title, whose) = match names.as_slice() {
        [] | [_] => ("Slowdown by flow size", String::new()),
        several => {
            let whose = format!(" The flows of all classes together: {}.", several.join(", "));
            ("Slowdown by flow size, all classes together", whose)
        }
    };
    let caption = what.to_owned() + &whose + &seeds_note(c, "upright lines");
    figure("slowdown-by-size", title, caption, panels)
}

/// From one up; logarithmic when some are many times as large as most.
fn slowdown_axis(series: &[Series]) -> Axis {
    let ys = |s: &Series| match &s.shape {
        Shape::Line(points) => points.iter().map(|p| p.y + p.error).collect(),
        _ => Vec::new(),
    };
    let values: Vec<f64> = series.iter().flat_map(ys).collect();
    let fitting = Axis::fitting("slowdown", Unit::Number, &values, 5.0);
    match fitting.scale {
        Scale::Linear => fitting,
        Scale::Log => {
            Axis::log("slowdown", Unit::Number, 1.0, values.iter().copied().fold(1.0, f64::max))
        }
    }
}
