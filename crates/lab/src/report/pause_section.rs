//! Who paused whom, when, and why.

use super::figure::{Figure, Interval, Row, Timeline, escape};
use crate::experiment::Experiment;
use crate::findings::{Hold, PauseNode, PauseTree, PortAt, holds};
use crate::format;
use crate::run::Run;
use std::collections::BTreeMap;
use weir_core::Time;

/// More rows than this are no longer a figure.
const MOST_ROWS: usize = 40;

/// A row per paused link: when it was paused.
pub(super) fn timeline(e: &Experiment, run: &Run, id: &str) -> Option<Figure> {
    let holds = holds(e, run);
    let mut by_link: BTreeMap<PortAt, Vec<&Hold>> = BTreeMap::new();
    for hold in &holds {
        by_link.entry(hold.by).or_default().push(hold);
    }
    let total = |all: &[&Hold]| -> u64 {
        all.iter().map(|h| h.end.saturating_sub(h.start).as_ps()).fold(0, u64::saturating_add)
    };
    let mut links: Vec<(PortAt, Vec<&Hold>)> = by_link.into_iter().collect();
    let left_out = links.len().saturating_sub(MOST_ROWS);
    links.sort_by_key(|(by, all)| (std::cmp::Reverse(total(all)), *by));
    links.truncate(MOST_ROWS);
    links.sort_by_key(|(by, all)| (all[0].start, *by));
    if links.is_empty() {
        return None;
    }
    let rows = links.into_iter().map(|(by, all)| {
        let held = e.topology.port(by.node, by.port).peer;
        let interval = |h: &&Hold| Interval {
            start: h.start.as_ps() as f64,
            end: h.end.as_ps() as f64,
            strong: h.parent.is_none(),
        };
        let name = format!("{} pauses {}", e.topology.name(by.node), e.topology.name(held));
        Row { name, intervals: all.iter().map(interval).collect() }
    });
    let timeline = Timeline { end: run.outcome.end.as_ps() as f64, rows: rows.collect() };
    let more = match (left_out, run.outcome.pauses_left_out) {
        (0, 0) => String::new(),
        (0, n) => format!(" {} later pauses and resumes were not kept.", format::count(n)),
        (n, _) => format!(" {n} links with shorter pauses are left out."),
    };
    Some(timeline.figure(
        &format!("timeline-{id}"),
        &format!("Pauses over time: {}", run.variant.scheme.title),
        &format!(
            "Each row is a link, each box a pause. Red: the pausing switch's own port was too slow \
             (a root). Blue: its port was itself paused.{more}"
        ),
    ))
}

/// The pause trees of a run as nested lists.
pub(super) fn tree(e: &Experiment, run: &Run) -> String {
    const MOST_TREES: usize = 5;
    let trees = run.pause_trees(e);
    if trees.is_empty() {
        return format!("<p>{} paused nobody.</p>", escape(run.variant.scheme.title));
    }
    let mut out = String::from("<ul class=\"tree\">");
    for tree in trees.iter().take(MOST_TREES) {
        out.push_str(&one_tree(e, tree));
    }
    out.push_str("</ul>");
    if trees.len() > MOST_TREES {
        let more = format::plural((trees.len() - MOST_TREES) as u64, "more root");
        out.push_str(&format!("<p class=\"soft\">{more} with shorter pauses.</p>"));
    }
    out
}

fn one_tree(e: &Experiment, tree: &PauseTree) -> String {
    let root = match tree.root {
        Some(port) => format!(
            "<span class=\"root\">{}</span> could not keep up with what came for it",
            escape(&port.name(&e.topology))
        ),
        None => "pauses whose cause is not known".into(),
    };
    let mut out = format!("<li>{root}<ul>");
    out.push_str(&nodes(e, &tree.pauses));
    out.push_str("</ul>");
    out.push_str(&victims(e, tree));
    out.push_str("</li>");
    out
}

fn nodes(e: &Experiment, all: &[PauseNode]) -> String {
    const MOST: usize = 12;
    let mut sorted: Vec<&PauseNode> = all.iter().collect();
    sorted.sort_by_key(|n| (std::cmp::Reverse((n.children.len().min(1), n.time)), n.by));
    let mut out = String::new();
    for node in sorted.iter().take(MOST) {
        let (by, held) = (e.topology.name(node.by.node), e.topology.name(node.held.node));
        out.push_str(&format!(
            "<li>{} paused <b>{}</b> <span class=\"soft\">{} for {} in all, first at {}</span>",
            escape(by),
            escape(held),
            format::times(node.count),
            format::time(node.time),
            format::time(node.first)
        ));
        if !node.children.is_empty() {
            out.push_str(&format!("<ul>{}</ul>", nodes(e, &node.children)));
        }
        out.push_str("</li>");
    }
    if sorted.len() > MOST {
        let rest = &sorted[MOST..];
        let total: Time = rest.iter().map(|n| n.time).fold(Time::ZERO, Time::saturating_add);
        let others = format::plural(rest.len() as u64, "other");
        out.push_str(&format!("<li class=\"soft\">{others}, {} in all</li>", format::time(total)));
    }
    out
}

fn victims(e: &Experiment, tree: &PauseTree) -> String {
    const MOST: usize = 8;
    if tree.victims.is_empty() {
        return String::new();
    }
    let mut out = String::from("<p>Victims, held although they never go through that port: ");
    let names: Vec<String> = tree
        .victims
        .iter()
        .take(MOST)
        .map(|v| {
            format!(
                "<b>{}</b> ({} to {}, {})",
                escape(&e.classes()[v.class.index()]),
                escape(e.topology.name(v.src)),
                escape(e.topology.name(v.dst)),
                format::time(v.held)
            )
        })
        .collect();
    out.push_str(&names.join(", "));
    if tree.victims.len() > MOST {
        out.push_str(&format!(" and {} more", tree.victims.len() - MOST));
    }
    out.push_str(".</p>");
    out
}
