//! Tables of pauses: events, the edges of the pause trees, and whom they held without reason.

use super::cells::Cells;
use super::tables::{Row, names};
use crate::experiment::Experiment;
use crate::findings::{PauseTree, PortAt, Victim, chain};
use crate::run::Run;
use weir_sim::outcome::{PauseEvent, PauseScope};

/// The columns of `pauses.csv`.
pub(super) const EVENT_COLUMNS: [&str; 13] = [
    "variant",
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
    "flows_paused",
];

/// The columns of `pause-edges.csv`.
pub(super) const EDGE_COLUMNS: [&str; 15] = [
    "variant",
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
pub(super) const VICTIM_COLUMNS: [&str; 16] = [
    "variant",
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

fn scope(scope: PauseScope) -> String {
    match scope {
        PauseScope::Priority => "priority".into(),
        PauseScope::Queue(queue) => format!("queue {}", queue.0),
        PauseScope::Flows(n) => format!("{n} flows"),
        PauseScope::Stage(stage) => format!("stage {stage}"),
        PauseScope::All => "all".into(),
    }
}

/// Pauses and resumes within the window, in the order of time.
pub(super) fn event_rows<'a>(e: &'a Experiment, run: &'a Run) -> impl Iterator<Item = Row<'a>> {
    let seen = run.outcome.pauses.iter().filter(move |p| e.window.has(p.at));
    seen.map(move |p| Row::Pause(e, run, p))
}

pub(super) fn event_cells(cells: &mut Cells, e: &Experiment, run: &Run, p: &PauseEvent) {
    let topology = &e.topology;
    names(cells, run);
    cells.whole(p.at.as_ps()).word(topology.name(p.node)).port(topology, p.node, p.port);
    cells.word(topology.name(topology.port(p.node, p.port).peer)).whole(p.priority.get().into());
    cells.word(if p.pause { "pause" } else { "resume" }).word(&scope(p.scope));
    match p.cause {
        // an egress port that was held itself passes on a pause that began further down
        Some(port) => cells.port(topology, p.node, port).whole(p.cause_held.into()),
        None => cells.maybe(None).maybe(None),
    };
    cells.whole(p.flows.into());
}

/// Every pause from its start to its end, with the one that caused it; those that touch the
/// window. Edges keep their numbers in every window.
pub(super) fn edge_rows<'a>(e: &'a Experiment, run: &'a Run) -> impl Iterator<Item = Row<'a>> {
    let all = run.holds(e).iter().enumerate();
    let seen = all.filter(move |(_, h)| e.window.touches(h.start, h.end));
    seen.map(move |(i, _)| Row::Edge(e, run, i))
}

pub(super) fn edge_cells(cells: &mut Cells, e: &Experiment, run: &Run, i: usize) {
    let (all, number) = (run.holds(e), |i: usize| i as u64);
    let hold = &all[i];
    names(cells, run);
    cells.whole(number(i)).maybe(hold.parent.map(number));
    cells.whole(number(chain(all, i).len()));
    label(cells, e, Some(hold.held));
    label(cells, e, Some(hold.by));
    cells.whole(hold.priority.get().into()).word(&scope(hold.scope));
    cells.whole(hold.start.as_ps()).whole(hold.end.as_ps()).whole(hold.lifted.into());
    label(cells, e, hold.cause);
    label(cells, e, hold.root);
}

/// A cell with the label of a port, if there is one.
fn label(cells: &mut Cells, e: &Experiment, port: Option<PortAt>) {
    match port {
        Some(at) => cells.port(&e.topology, at.node, at.port),
        None => cells.maybe(None),
    };
}

/// Flows that pauses held although these began at ports the flows never used, tree by tree.
pub(super) fn victim_rows<'a>(e: &'a Experiment, run: &'a Run) -> impl Iterator<Item = Row<'a>> {
    let of =
        move |tree: &'a PauseTree| tree.victims.iter().map(move |v| Row::Victim(e, run, tree, v));
    run.pause_trees(e).iter().flat_map(of)
}

pub(super) fn victim_cells(
    cells: &mut Cells,
    e: &Experiment,
    run: &Run,
    tree: &PauseTree,
    v: &Victim,
) {
    let topology = &e.topology;
    let link = topology.port(v.at.node, v.at.port);
    names(cells, run);
    cells.word(&v.flow.to_string()).word(&e.classes()[v.class.index()]);
    cells.word(topology.name(v.src)).word(topology.name(v.dst));
    cells.whole(v.priority.get().into());
    label(cells, e, Some(v.at));
    cells.port(topology, link.peer, link.peer_port);
    cells.whole(v.held.as_ps()).word(v.bound.name());
    cells.whole(v.first.as_ps()).whole(v.last.as_ps());
    label(cells, e, tree.root);
    cells.whole(v.clear.into());
}
