//! The figures of a page, made from the outcomes.

use super::figure::{Axis, Bar, Bars, Figure, Lines, Mark, Series, Unit};
use crate::findings::{
    ClassStats, ClassSummary, Comparison, Distribution, Group, PortAt, PortKind,
};
use crate::stats::{Sorted, usual_max};
use weir_core::Bytes;
use weir_sim::config::ThresholdConfig;
use weir_sim::marking::SwitchThresholds;
use weir_sim::outcome::Sample;

/// Flow completion times by class and scheme.
pub(super) fn fct_bars(c: &Comparison<'_>) -> Figure {
    let group = |class| {
        let bars = c.groups.iter().enumerate().map(|(i, g)| {
            let s = ClassSummary::new(g, Some(class));
            let unfinished = s.flows - s.completed;
            let note = match unfinished {
                0 => String::new(),
                n => format!("({n} of {} unfinished)", s.flows),
            };
            Bar {
                name: g.scheme.title.into(),
                colour: i,
                value: s.fct_mean.map(|e| e.mean),
                whisker: s.fct_max,
                note,
            }
        });
        (c.class_name(class).to_owned(), bars.collect())
    };
    let bars = Bars {
        label: "mean FCT".into(),
        unit: Unit::Time,
        groups: c
            .class_order()
            .into_iter()
            .map(group)
            .filter(|(_, bars): &(String, Vec<Bar>)| {
                bars.iter().any(|b| b.value.is_some() || !b.note.is_empty())
            })
            .collect(),
    };
    bars.figure(
        "fct",
        "Flow completion time by class",
        "From the start of a flow to its last byte at the receiver: the mean of each class, and \
         a thin line up to the longest, broken where that is too far away.",
    )
}

/// The share of samples that do not exceed a value, as steps.
fn cdf(sorted: &Sorted) -> Vec<(f64, f64)> {
    let n = sorted.len() as f64;
    let values = sorted.as_slice().iter().enumerate();
    let mut points = vec![(sorted.as_slice().first().copied().unwrap_or(0.0), 0.0)];
    points.extend(values.map(|(i, &x)| (x, (i + 1) as f64 / n)));
    points
}

fn share_axis() -> Axis {
    Axis { high: 1.0, ..Axis::linear("share", Unit::Share, 1.0) }
}

/// Distributions of the completion time, one figure per class with enough flows.
pub(super) fn fct_cdfs(c: &Comparison<'_>) -> Vec<Figure> {
    const FEWEST: usize = 5;
    let mut figures = Vec::new();
    for class in c.class_order() {
        let series: Vec<Series> = c
            .groups
            .iter()
            .enumerate()
            .map(|(i, g)| {
                let runs = g.runs.iter().map(|r| ClassStats::new(r, Some(class)).fct);
                let all = Sorted::new(runs.flat_map(|s| s.as_slice().to_vec()));
                let points = if all.len() < FEWEST { Vec::new() } else { cdf(&all) };
                Series { name: g.scheme.title.into(), colour: i, points, steps: true }
            })
            .filter(|s| !s.points.is_empty())
            .collect();
        let values = || series.iter().flat_map(|s| s.points.iter().map(|p| p.0));
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        if series.is_empty() || most <= 0.0 {
            continue;
        }
        let x = match most / least > 30.0 {
            true => Axis::log("FCT", Unit::Time, least, most),
            false => Axis::linear("FCT", Unit::Time, most),
        };
        let name = c.class_name(class);
        let lines = Lines { x, y: share_axis(), series, marks: Vec::new() };
        figures.push(lines.figure(
            &format!("fct-cdf-{}", class.0),
            &format!("Distribution of the completion time: {name}"),
            "The share of flows that took no longer than this.",
        ));
    }
    figures
}

/// 99th percentile and median of the slowdown over the size of flows.
pub(super) fn slowdown(c: &Comparison<'_>) -> Option<Figure> {
    const FEWEST: usize = 40;
    let mut series = Vec::new();
    let (mut least, mut most, mut worst) = (f64::INFINITY, 0.0f64, 1.0f64);
    for (i, g) in c.groups.iter().enumerate() {
        let flows = g.runs.iter().flat_map(|r| {
            let warm_up = r.config.probes.warm_up;
            r.outcome.flows.iter().filter(move |f| f.start >= warm_up)
        });
        let mut pairs: Vec<(f64, f64)> =
            flows.filter_map(|f| Some((f.size.get() as f64, f.slowdown()?))).collect();
        if pairs.len() < FEWEST {
            continue;
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        // equally many flows in each bin
        let bins = pairs.chunks(pairs.len().div_ceil(20).max(10));
        let points: Vec<(f64, f64)> = bins
            .filter_map(|bin| {
                let size = bin[bin.len() / 2].0;
                Some((size, Sorted::new(bin.iter().map(|p| p.1)).percentile(99.0)?))
            })
            .collect();
        for (x, y) in &points {
            (least, most, worst) = (least.min(*x), most.max(*x), worst.max(*y));
        }
        series.push(Series { name: g.scheme.title.into(), colour: i, points, steps: false });
    }
    if series.is_empty() || least >= most {
        return None;
    }
    let x = Axis::log("flow size", Unit::Bytes, least, most);
    let y = match worst > 20.0 {
        true => Axis::log("slowdown", Unit::Number, 1.0, worst),
        false => Axis::linear("slowdown", Unit::Number, worst),
    };
    let marks = vec![Mark { y: 1.0, label: "alone in the network".into() }];
    Some(Lines { x, y, series, marks }.figure(
        "slowdown",
        "Slowdown by flow size, 99th percentile",
        "Completion time over what the flow would take alone on its path; bins of equally many \
         flows.",
    ))
}

/// What a sample says about a port.
type Reading = fn(&Sample) -> Bytes;

/// Lines over time, how far to draw them, and the largest value. A run that takes many times
/// as long as the others is cut off.
fn over_time(c: &Comparison<'_>, at: PortAt, reading: Reading) -> (Vec<Series>, f64, f64) {
    let ends = c.groups.iter().filter_map(|g| g.runs.first());
    let end = usual_max(ends.map(|r| r.outcome.end.as_ps() as f64));
    let mut most = 0.0f64;
    let mut series = Vec::new();
    for (i, g) in c.groups.iter().enumerate() {
        let Some(run) = g.runs.first() else { continue };
        let here = run.outcome.series.iter().filter(|s| s.node == at.node && s.port == at.port);
        let points: Vec<(f64, f64)> = here
            .map(|s| (s.at.as_ps() as f64, reading(s).get() as f64))
            .filter(|(t, _)| *t <= end)
            .collect();
        if points.is_empty() {
            continue;
        }
        most = most.max(points.iter().map(|p| p.1).fold(0.0, f64::max));
        series.push(Series { name: g.scheme.title.into(), colour: i, points, steps: false });
    }
    (series, end, most)
}

/// A few lines over each other, more in strips.
fn drawn(lines: &Lines) -> impl Fn(&str, &str, &str) -> Figure + '_ {
    const FEW: usize = 3;
    move |id, title, caption| match lines.series.len() > FEW {
        true => lines.strips(id, title, caption),
        false => lines.figure(id, title, caption),
    }
}

/// The queue at the hottest port over time.
pub(super) fn queue(c: &Comparison<'_>, at: PortAt) -> Option<Figure> {
    let (series, end, most) = over_time(c, at, |s| s.queue);
    if series.is_empty() {
        return None;
    }
    let x = Axis::linear("time", Unit::Time, end);
    let y = Axis::linear("queue", Unit::Bytes, most);
    let name = at.name(&c.experiment.topology);
    Some(drawn(&Lines { x, y, series, marks: Vec::new() })(
        "queue",
        &format!("Queue at {name} over time"),
        "Bytes waiting to leave by the most congested port, first seed.",
    ))
}

/// The ingress that pauses most at the switch of the hottest port, with its thresholds.
pub(super) fn ingress(c: &Comparison<'_>, hottest: PortAt) -> Option<Figure> {
    let run = c.groups.first()?.runs.first()?;
    let sent = |p: &&weir_sim::outcome::PortRecord| p.pauses_sent.iter().sum::<u64>();
    let here = run.outcome.ports.iter().filter(|p| p.node == hottest.node);
    // the upstream switch matters more than a host: a pause there holds many flows
    let upstream =
        |p: &weir_sim::outcome::PortRecord| !c.experiment.topology.is_host_facing(p.node, p.port);
    let port = here.filter(|p| sent(p) > 0).max_by_key(|p| (upstream(p), sent(p)))?;
    let at = PortAt { node: port.node, port: port.port };
    let (series, end, most) = over_time(c, at, |s| s.ingress);
    if series.is_empty() {
        return None;
    }
    let mut marks = Vec::new();
    let mut top = most;
    let thresholds = SwitchThresholds::new(&c.experiment.topology, &run.config).of(at.node);
    if let ThresholdConfig::Static { xoff, xon, .. } = thresholds {
        top = top.max(xoff.get() as f64);
        marks.push(Mark { y: xoff.get() as f64, label: format!("xoff {xoff}: pause") });
        marks.push(Mark { y: xon.get() as f64, label: format!("xon {xon}: resume") });
    }
    let topology = &c.experiment.topology;
    let peer = topology.name(topology.port(at.node, at.port).peer);
    let node = topology.name(at.node);
    let x = Axis::linear("time", Unit::Time, end);
    let y = Axis::linear("bytes in the switch", Unit::Bytes, top);
    Some(drawn(&Lines { x, y, series, marks })(
        "ingress",
        &format!("What {node} holds from {peer}, and its thresholds"),
        &format!(
            "Bytes that came in from {peer} and are still in {node}: when they reach xoff, {node} \
             pauses {peer}, first seed."
        ),
    ))
}

/// The share of time above each length.
fn exceeded(d: &Distribution) -> Vec<(f64, f64)> {
    d.shares().map(|(edge, _, share)| (edge as f64, (1.0 - share).max(RAREST))).collect()
}

/// Shares of time below this are not drawn.
const RAREST: f64 = 1e-5;

fn distribution(
    c: &Comparison<'_>,
    label: &str,
    points: impl Fn(&Group) -> Vec<(f64, f64)>,
) -> Option<Lines> {
    let groups = c.groups.iter().enumerate();
    let series: Vec<Series> = groups
        .map(|(i, g)| Series {
            name: g.scheme.title.into(),
            colour: i,
            points: points(g),
            steps: true,
        })
        .filter(|s| !s.points.is_empty())
        .collect();
    let most = series.iter().flat_map(|s| s.points.iter().map(|p| p.0)).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let x = Axis::linear(label, Unit::Bytes, most);
    let y = Axis { high: 1.0, ..Axis::log("share of time", Unit::Share, RAREST, 1.0) };
    Some(Lines { x, y, series, marks: Vec::new() })
}

/// Distributions of queue length over time, by kind of port, and of memory in use.
pub(super) fn distributions(c: &Comparison<'_>) -> Vec<Figure> {
    let topology = &c.experiment.topology;
    let mut figures = Vec::new();
    for kind in PortKind::ALL {
        let points = |g: &Group| exceeded(&Distribution::of_ports(topology, &g.runs, kind));
        if let Some(lines) = distribution(c, "queue", points) {
            figures.push(lines.figure(
                &format!("queues-{}", kind.name()),
                &format!("Queue lengths: {}", kind.title()),
                "The share of time during which a queue was longer than this, all such ports \
                 together.",
            ));
        }
    }
    let buffers = |g: &Group| exceeded(&Distribution::of_memory(&g.runs));
    if let Some(lines) = distribution(c, "memory in use", buffers) {
        figures.push(lines.figure(
            "buffers",
            "Memory in use per switch",
            "The share of time during which a switch held more than this, all switches together.",
        ));
    }
    figures
}
