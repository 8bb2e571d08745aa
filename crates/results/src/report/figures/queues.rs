//! Figures about queues and memory: over time, and how much of the time.

use super::look::looks;
use super::time::{Extent, goes_on};
use crate::comparison::{Comparison, Group};
use crate::findings::{Distribution, PortKind, Queues};
use crate::stats::usual_max;
use weir_core::Bytes;
use weir_fc::IngressBound;
use weir_net::Topology;
use weir_plot::style::Dash;
use weir_plot::{Across, Axis, Figure, Layout, Panel, Point, Rule, Series, Shape, Unit};
use weir_scenario::PortAt;
use weir_sim::config::{Config, ThresholdConfig};
use weir_sim::outcome::{PortRecord, Sample};
use weir_sim::thresholds::SwitchThresholds;

/// More lines than this over each other cannot be told apart.
const FEW: usize = 3;

/// What a sample says about a port.
type SampleFigure = fn(&Sample) -> Bytes;

/// Something over time under one scheme.
struct Curve {
    series: Series,
    /// Its largest value.
    most: f64,
    /// When it is first and last more than zero.
    extent: Extent,
    /// Thresholds to compare it with.
    rules: Vec<Rule>,
}

/// A reading at a port under every scheme, first seed, with what it is to be compared with.
fn curves(
    c: &Comparison<'_>,
    at: PortAt,
    reading: SampleFigure,
    rules: impl Fn(&Config) -> Vec<Rule>,
) -> Vec<Curve> {
    let mut curves = Vec::new();
    for (g, look) in c.groups.iter().zip(looks(c)) {
        let Some(run) = g.runs.first() else { continue };
        let here = run.outcome.series.iter().filter(|s| s.node == at.node && s.port == at.port);
        let points: Vec<Point> = here
            .map(|s| Point { x: s.at.as_ps() as f64, y: reading(s).get() as f64, error: 0.0 })
            .collect();
        if points.is_empty() {
            continue;
        }
        let busy = points.iter().filter(|p| p.y > 0.0).map(|p| p.x);
        curves.push(Curve {
            most: points.iter().map(|p| p.y).fold(0.0, f64::max),
            extent: Extent::of(busy),
            series: Series { name: look.name, style: look.style, shape: Shape::Line(points) },
            rules: rules(&run.config),
        });
    }
    curves
}

/// Draws curves over each other when they are few and alike, else in strips: `None` when there is
/// nothing to see. A strip that reaches far beyond the others has a scale of its own and says so.
fn over_time(
    id: &str,
    title: &str,
    caption: &str,
    label: &str,
    curves: Vec<Curve>,
) -> Option<Figure> {
    let extent = Extent::usual(curves.iter().map(|k| k.extent))?;
    let across = Across::Values(extent.axis());
    let mut caption = caption.to_owned();
    for k in &curves {
        caption.push_str(&goes_on(&k.series.name, k.extent, extent));
    }
    let rule_most = |k: &Curve| k.rules.iter().map(|r| r.at).fold(0.0, f64::max);
    let highest = |k: &Curve| k.most.max(rule_most(k));
    let usual = usual_max(curves.iter().map(highest).filter(|x| *x > 0.0));
    let far = |k: &Curve| highest(k) > usual;
    let same = curves.windows(2).all(|pair| pair[0].rules == pair[1].rules);
    let cut = |mut series: Series| {
        if let Shape::Line(points) = &mut series.shape {
            points.retain(|p| extent.holds(p.x));
        }
        series
    };
    let axis = |most: f64| Axis::linear(label, Unit::Bytes, most);
    let mut panels = Vec::new();
    if curves.len() <= FEW && same && !curves.iter().any(far) {
        let rules = curves.first().map(|k| k.rules.clone()).unwrap_or_default();
        let series = curves.into_iter().map(|k| cut(k.series)).collect();
        panels.push(Panel { title: String::new(), across, up: axis(usual), series, rules });
    } else {
        let mut named: Vec<Rule> = Vec::new();
        for mut k in curves {
            let (title, up) = match far(&k) {
                true => (format!("{}, other scale", k.series.name), axis(highest(&k))),
                false => (k.series.name.clone(), axis(usual)),
            };
            // a threshold is named where it is first drawn
            for rule in &mut k.rules {
                match named.contains(rule) {
                    true => rule.label.clear(),
                    false => named.push(rule.clone()),
                }
            }
            // alone in its strip, a line need not be told from others
            k.series.style.dash = Dash::Solid;
            let across = across.clone();
            panels.push(Panel { title, across, up, series: vec![cut(k.series)], rules: k.rules });
        }
    }
    let layout = if panels.len() > 1 { Layout::Strips } else { Layout::Grid };
    Some(Figure { id: id.into(), title: title.into(), caption, panels, layout })
}

/// The queue at the hottest port over time.
pub(super) fn queue(c: &Comparison<'_>, at: PortAt) -> Option<Figure> {
    let name = at.name(&c.experiment.topology);
    let title = format!("Queue at {name} over time");
    let caption = "Bytes waiting to leave by the most congested port, first seed.";
    let curves = curves(c, at, |s| s.queue, |_| Vec::new());
    over_time("queue", &title, caption, "queue", curves)
}

/// The fixed thresholds at which a scheme pauses an ingress, if it does.
fn thresholds(topology: &Topology, at: PortAt, config: &Config) -> Vec<Rule> {
    let bound = (config.scheme.info.ingress_bound)(&config.scheme.values);
    match SwitchThresholds::new(topology, config).at(topology.rate(at.node, at.port)) {
        ThresholdConfig::Static { xoff, xon, .. } if bound == IngressBound::Pauses => vec![
            Rule { at: xoff.get() as f64, label: format!("xoff {xoff}: pause") },
            Rule { at: xon.get() as f64, label: format!("xon {xon}: resume") },
        ],
        _ => Vec::new(),
    }
}

/// The ingress that pauses most at the switch of the hottest port, with its thresholds.
pub(super) fn ingress(c: &Comparison<'_>, hottest: PortAt) -> Option<Figure> {
    let topology = &c.experiment.topology;
    let sent = |p: &&PortRecord| p.pauses_sent.iter().sum::<u64>();
    // the upstream switch matters more than a host: a pause there holds many flows
    let upstream = |p: &PortRecord| !topology.is_host_facing(p.node, p.port);
    let busiest = |g: &Group<'_>| {
        let here = g.runs.first()?.outcome.ports.iter().filter(|p| p.node == hottest.node);
        here.filter(|p| sent(p) > 0)
            .max_by_key(|p| (upstream(p), sent(p)))
            .map(|p| PortAt { node: p.node, port: p.port })
    };
    let at = c.groups.iter().find_map(busiest)?;
    let curves = curves(c, at, |s| s.ingress, |config| thresholds(topology, at, config));
    let peer = topology.name(topology.port(at.node, at.port).peer);
    let node = topology.name(at.node);
    let title = format!("What {node} holds from {peer}");
    let caption = format!(
        "Bytes that came in from {peer} and are still in {node}, first seed. Dashed: the \
         thresholds at which a scheme pauses and resumes {peer}, where it does."
    );
    over_time("ingress", &title, &caption, "bytes in the switch", curves)
}

/// Shares of time below this are not drawn.
const RAREST: f64 = 1e-5;

/// The share of time above each length.
fn exceeded(d: &Distribution) -> Vec<(f64, f64)> {
    d.shares().map(|(edge, _, share)| (edge as f64, (1.0 - share).max(RAREST))).collect()
}

fn distribution(
    c: &Comparison<'_>,
    label: &str,
    points: impl Fn(&Group<'_>) -> Vec<(f64, f64)>,
) -> Option<Panel> {
    let line = |(g, look): (&Group<'_>, super::look::Look)| {
        let points = points(g);
        let last = points.last()?.0;
        let series = Series { name: look.name, style: look.style, shape: Shape::Steps(points) };
        Some((series, last))
    };
    let lines: Vec<(Series, f64)> = c.groups.iter().zip(looks(c)).filter_map(line).collect();
    let most = lines.iter().map(|l| l.1).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    // one scheme whose queues are many times as long makes the scale logarithmic
    let usual = usual_max(lines.iter().map(|l| l.1).filter(|x| *x > 0.0));
    let across = match most > usual {
        true => Axis::log(label, Unit::Bytes, (usual / 100.0).max(64.0), most),
        false => Axis::linear(label, Unit::Bytes, most),
    };
    Some(Panel {
        title: String::new(),
        across: Across::Values(across),
        up: Axis { high: 1.0, ..Axis::log("share of time", Unit::Share, RAREST, 1.0) },
        series: lines.into_iter().map(|l| l.0).collect(),
        rules: Vec::new(),
    })
}

fn figure(id: String, title: String, caption: &str, panel: Panel) -> Figure {
    Figure { id, title, caption: caption.into(), panels: vec![panel], layout: Layout::Grid }
}

/// A distribution of all runs of a group together.
fn pooled(g: &Group<'_>, of: impl Fn(&Queues) -> &Distribution) -> Distribution {
    g.runs.iter().map(|run| of(run.queues(g.experiment))).collect()
}

/// Distributions of queue length over time, by kind of port, and of memory in use.
pub(super) fn distributions(c: &Comparison<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for kind in PortKind::ALL {
        let points = |g: &Group<'_>| exceeded(&pooled(g, |queues| queues.of(kind)));
        if let Some(panel) = distribution(c, "queue", points) {
            figures.push(figure(
                format!("queues-{}", kind.name()),
                format!("Queue lengths: {}", kind.title()),
                "The share of time during which a queue was longer than this, all such ports \
                 together.",
                panel,
            ));
        }
    }
    let buffers = |g: &Group<'_>| exceeded(&pooled(g, |queues| &queues.memory));
    if let Some(panel) = distribution(c, "memory in use", buffers) {
        figures.push(figure(
            "buffers".into(),
            "Memory in use per switch".into(),
            "The share of time during which a switch held more than this, all switches together.",
            panel,
        ));
    }
    figures
}
