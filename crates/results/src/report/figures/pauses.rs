//! Pauses over time: a row per paused link.

use super::look::Look;
use super::time::Extent;
use crate::findings::{Hold, within};
use crate::run::Run;
use std::collections::BTreeMap;
use weir_core::format;
use weir_plot::{Across, Figure, Layout, Panel, Series, Shape, Style};
use weir_scenario::PortAt;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::Finish;

/// More rows than this are no longer a figure.
const MOST_ROWS: usize = 40;

fn length(hold: &Hold) -> u64 {
    hold.end.saturating_sub(hold.start).as_ps()
}

/// Holds by link: those with the longest holds, in the order in which they begin, and how many
/// links are left out.
fn by_link(holds: &[Hold]) -> (Vec<(PortAt, Vec<&Hold>)>, usize) {
    let mut links: BTreeMap<PortAt, Vec<&Hold>> = BTreeMap::new();
    for hold in holds {
        links.entry(hold.by).or_default().push(hold);
    }
    let total = |all: &[&Hold]| all.iter().map(|h| length(h)).fold(0, u64::saturating_add);
    let mut links: Vec<_> = links.into_iter().collect();
    let left_out = links.len().saturating_sub(MOST_ROWS);
    links.sort_by_key(|(by, all)| (std::cmp::Reverse(total(all)), *by));
    links.truncate(MOST_ROWS);
    links.sort_by_key(|(by, all)| (all[0].start, *by));
    (links, left_out)
}

/// From the first pause to the last; of a deadlock, whose pauses never end, to a little after it
/// closed.
fn extent(run: &Run, holds: &[Hold]) -> Option<Extent> {
    let times = holds.iter().flat_map(|h| [h.start, h.end]).map(|t| t.as_ps() as f64);
    let mut extent = Extent::usual([Extent::of(times)])?;
    if let Finish::Deadlock(d) = &run.outcome.finish {
        let started = holds.iter().map(|h| h.start.as_ps() as f64).fold(0.0, f64::max);
        let seen = started.max(d.closed.as_ps() as f64);
        extent.last = extent.last.min(seen + (seen - extent.first) * 0.25).max(extent.first);
    }
    Some(extent)
}

/// A row per paused link: when it was paused; `None` when none was.
pub(super) fn timeline(e: &Experiment, run: &Run, look: &Look) -> Option<Figure> {
    let holds = within(e.window, run.holds(e));
    let (links, left_out) = by_link(&holds);
    let extent = extent(run, &holds)?;
    let name = |by: &PortAt| {
        let held = e.topology.port(by.node, by.port).peer;
        format!("{} pauses {}", e.topology.name(by.node), e.topology.name(held))
    };
    let spans = |root: bool| {
        let of = |all: &Vec<&Hold>| {
            let these = all.iter().filter(|h| h.parent.is_none() == root);
            these.map(|h| (h.start.as_ps() as f64, h.end.as_ps() as f64)).collect::<Vec<_>>()
        };
        links.iter().map(|(_, all)| of(all)).collect::<Vec<_>>()
    };
    let series = |root: bool, name: &str, style: Style| Series {
        name: name.into(),
        style,
        shape: Shape::Spans(spans(root)),
    };
    let more = match (left_out, run.outcome.pauses_left_out) {
        (0, 0) => String::new(),
        (0, n) => format!(" {} later pauses and resumes were not recorded.", format::count(n)),
        (n, _) => format!(" {n} links with shorter pauses are left out."),
    };
    let panel = Panel {
        title: String::new(),
        across: Across::Rows { names: links.iter().map(|(by, _)| name(by)).collect() },
        up: extent.axis(),
        series: vec![
            series(false, "propagated: its own port was paused", look.style),
            series(true, "root: its own port was too slow", Style::ALARM),
        ],
        rules: Vec::new(),
    };
    Some(Figure {
        id: format!("timeline-{}", look.id),
        title: format!("Pauses over time: {}, seed {}", look.name, run.variant.seed),
        caption: format!("Each row is a link, each box a pause.{more}"),
        panels: vec![panel],
        layout: Layout::Grid,
    })
}
