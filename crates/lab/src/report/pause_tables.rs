//! Tables of pauses: events, the edges of the pause trees, and whom they held without reason.

use crate::findings::{Comparison, Hold, PauseTree, PortAt, Victim, chain, holds};
use crate::run::Run;
use weir_sim::outcome::{PauseEvent, PauseScope};

/// The columns of `pauses.csv`.
pub(super) const EVENT_COLUMNS: [&str; 11] = [
    "scheme",
    "seed",
    "at_ps",
    "node",
    "port",
    "towards",
    "priority",
    "action",
    "scope",
    "cause",
    "cause_held",
];

/// The columns of `pause-edges.csv`.
pub(super) const EDGE_COLUMNS: [&str; 14] = [
    "scheme",
    "seed",
    "edge",
    "parent",
    "depth",
    "upstream",
    "downstream",
    "priority",
    "scope",
    "start_ps",
    "end_ps",
    "lifted",
    "cause",
    "root",
];

/// The columns of `victims.csv`.
pub(super) const VICTIM_COLUMNS: [&str; 15] = [
    "scheme",
    "seed",
    "flow",
    "class",
    "src",
    "dst",
    "priority",
    "held_at",
    "by",
    "held_ps",
    "bound",
    "first_ps",
    "last_ps",
    "root",
    "clear_path",
];

fn flag(yes: bool) -> String {
    u8::from(yes).to_string()
}

fn scope(scope: PauseScope) -> String {
    match scope {
        PauseScope::Priority => "priority".into(),
        PauseScope::Queue(queue) => format!("queue {}", queue.0),
        PauseScope::Flows(n) => format!("{n} flows"),
        PauseScope::Stage(stage) => format!("stage {stage}"),
    }
}

/// Pauses and resumes within the window, in the order of time.
pub(super) fn event_rows<'a>(
    c: &'a Comparison<'_>,
    run: &'a Run,
) -> impl Iterator<Item = Vec<String>> + 'a {
    let (topology, window) = (&c.experiment.topology, c.experiment.window);
    let seen = run.outcome.pauses.iter().filter(move |p| window.has(p.at));
    seen.map(move |p: &PauseEvent| {
        vec![
            run.variant.scheme.name.into(),
            run.variant.seed.to_string(),
            p.at.as_ps().to_string(),
            topology.name(p.node).into(),
            topology.port_label(p.node, p.port),
            topology.name(topology.port(p.node, p.port).peer).into(),
            p.priority.to_string(),
            if p.pause { "pause" } else { "resume" }.into(),
            scope(p.scope),
            p.cause.map_or_else(String::new, |port| topology.port_label(p.node, port)),
            // an egress port that was held itself passes on a pause that began further down
            p.cause.map_or_else(String::new, |_| flag(p.cause_held)),
        ]
    })
}

/// Every pause from its start to its end, with the one that caused it; those that touch the
/// window. Edges keep their numbers in every window.
pub(super) fn edge_rows(c: &Comparison<'_>, run: &Run) -> Vec<Vec<String>> {
    let e = c.experiment;
    let all = holds(e, run);
    let label = |port: Option<PortAt>| port.map_or_else(String::new, |p| p.label(&e.topology));
    let row = |(i, hold): (usize, &Hold)| {
        vec![
            run.variant.scheme.name.into(),
            run.variant.seed.to_string(),
            i.to_string(),
            hold.parent.map_or_else(String::new, |parent| parent.to_string()),
            chain(&all, i).len().to_string(),
            label(Some(hold.held)),
            label(Some(hold.by)),
            hold.priority.to_string(),
            scope(hold.scope),
            hold.start.as_ps().to_string(),
            hold.end.as_ps().to_string(),
            flag(hold.lifted),
            label(hold.cause),
            label(hold.root),
        ]
    };
    let seen = all.iter().enumerate().filter(|(_, h)| e.window.touches(h.start, h.end));
    seen.map(row).collect()
}

/// Flows that pauses held although these began at ports the flows never used, tree by tree.
pub(super) fn victim_rows<'a>(
    c: &'a Comparison<'_>,
    run: &'a Run,
) -> impl Iterator<Item = Vec<String>> + 'a {
    let e = c.experiment;
    let topology = &e.topology;
    let row = move |tree: &PauseTree, v: &Victim| {
        let link = topology.port(v.at.node, v.at.port);
        vec![
            run.variant.scheme.name.into(),
            run.variant.seed.to_string(),
            v.flow.to_string(),
            c.class_name(v.class).into(),
            topology.name(v.src).into(),
            topology.name(v.dst).into(),
            v.priority.to_string(),
            v.at.label(topology),
            topology.port_label(link.peer, link.peer_port),
            v.held.as_ps().to_string(),
            v.bound.name().into(),
            v.first.as_ps().to_string(),
            v.last.as_ps().to_string(),
            tree.root.map_or_else(String::new, |root| root.label(topology)),
            flag(v.clear),
        ]
    };
    run.pause_trees(e).iter().flat_map(move |tree| tree.victims.iter().map(move |v| row(tree, v)))
}
