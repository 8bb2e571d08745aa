//! Tables of pauses: events, the edges of the pause trees, and whom they held without reason.

use super::tables::{Of, with_run};
use crate::column::{Column, columns};
use crate::findings::{Hold, PauseTree, Victim, chain};
use crate::run::Run;
use weir_scenario::PortAt;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{PauseEvent, PauseScope};

fn scope(scope: PauseScope) -> String {
    match scope {
        PauseScope::Priority => "priority".into(),
        PauseScope::Queue(queue) => format!("queue {}", queue.0),
        PauseScope::Flows(n) => format!("{n} flows"),
        PauseScope::Stage(stage) => format!("stage {stage}"),
        PauseScope::All => "all".into(),
    }
}

impl<T> Of<'_, T> {
    fn label(&self, at: PortAt) -> String {
        self.port(at.node, at.port)
    }
}

pub(super) fn event_columns<'a>() -> Vec<Column<Of<'a, &'a PauseEvent>>> {
    with_run(columns! {
        "at_ps" Whole Time: "when the switch decided it", |v| v.it.at;
        "node" Text: "the switch and the ingress port; the frame is sent by this port",
            |v| v.node(v.it.node);
        "port" Text: "the switch and the ingress port; the frame is sent by this port",
            |v| v.port(v.it.node, v.it.port);
        "towards" Text: "the neighbour that is paused", |v| v.peer(v.it.node, v.it.port);
        "priority" Whole: "of the pause", |v| v.it.priority.get();
        "action" Text: "`pause` or `resume`", |v| if v.it.pause { "pause" } else { "resume" };
        "scope" Text:
            "`priority`, `queue N`, `N flows`, or `stage N` where rates are limited in steps; a \
             resume of `all` lifts every pause of the priority that this port had sent, whatever \
             it named",
            |v| scope(v.it.scope);
        "cause" Text: "for a pause, the egress port with most bytes of this ingress",
            |v| v.it.cause.map(|port| v.port(v.it.node, port));
        "cause_held" Whole Flag:
            "for a pause, whether that port was held itself, so that the pause began further \
             downstream",
            |v| v.it.cause.map(|_| v.it.cause_held);
        "flows_paused" Whole Count:
            "how many flows of the priority then stand paused by name over this link",
            |v| v.it.flows;
        "reason" Text:
            "why, as the scheme states it: a length, how it compares, and the threshold's name \
             (`ingress >= xoff`), or `counted packets gone`, `refresh`, `report`, `link change`, \
             or other words",
            |v| v.it.reason.cause().to_string();
        "measured_at" Text: "the port where the length was measured",
            |v| v.it.reason.comparison().map(|c| v.port(v.it.node, c.port));
        "value" Whole Bytes: "the length that was compared",
            |v| v.it.reason.comparison().map(|c| c.value);
        "threshold" Whole Bytes: "the threshold it was compared with",
            |v| v.it.reason.comparison().map(|c| c.threshold);
    })
}

/// Pauses and resumes within the window, in the order of time.
pub(super) fn events<'a>(
    e: &'a Experiment,
    run: &'a Run,
) -> impl Iterator<Item = &'a PauseEvent> + use<'a> {
    run.outcome.pauses.iter().filter(move |p| e.window.has(p.at))
}

pub(super) fn edge_columns<'a>() -> Vec<Column<Of<'a, (usize, &'a Hold)>>> {
    with_run(columns! {
        "edge" Whole: "number of the edge within the run", |v| v.it.0 as u64;
        "parent" Whole:
            "the edge that caused it; empty for a root, and if the pause that held the cause is \
             not known",
            |v| v.it.1.parent.map(|i| i as u64);
        "depth" Whole Count: "1 for a root, one more than the parent's otherwise",
            |v| chain(v.run.holds(v.e), v.it.0).len() as u64;
        "upstream" Text: "the egress port that was paused", |v| v.label(v.it.1.held);
        "downstream" Text: "the ingress port, at the other end of the link, that paused it",
            |v| v.label(v.it.1.by);
        "priority" Whole: "of the pause", |v| v.it.1.priority.get();
        "scope" Text: "what the pause named when it began, as in `pauses.csv`",
            |v| scope(v.it.1.scope);
        "start_ps" Whole Time: "when it was decided", |v| v.it.1.start;
        "end_ps" Whole Time: "when it was lifted, or the run ended", |v| v.it.1.end;
        "lifted" Whole Flag: "whether it was lifted before the run ended", |v| v.it.1.lifted;
        "cause" Text:
            "the egress port of the pausing switch with most bytes of this ingress; empty if not \
             known",
            |v| v.it.1.cause.map(|at| v.label(at));
        "root" Text: "the cause of the first pause of the chain: the congested port; of a pause by \
                      a slow host the port that leads to it",
            |v| v.it.1.root.map(|at| v.label(at));
        "reason" Text: "why it was sent, as in `pauses.csv`",
            |v| v.it.1.reason.cause().to_string();
    })
}

/// Every pause from its start to its end, with the one that caused it; those that touch the
/// window. Edges keep their numbers in every window.
pub(super) fn edges<'a>(
    e: &'a Experiment,
    run: &'a Run,
) -> impl Iterator<Item = (usize, &'a Hold)> + use<'a> {
    let all = run.holds(e).iter().enumerate();
    all.filter(move |(_, h)| e.window.touches(h.start, h.end))
}

pub(super) fn victim_columns<'a>() -> Vec<Column<Of<'a, (&'a PauseTree, &'a Victim)>>> {
    with_run(columns! {
        "flow" Text: "as in `flows.csv`", |v| v.it.1.flow.to_string();
        "class" Text: "as in `flows.csv`", |v| v.e.classes()[v.it.1.class.index()].as_str();
        "src" Text: "as in `flows.csv`", |v| v.node(v.it.1.src);
        "dst" Text: "as in `flows.csv`", |v| v.node(v.it.1.dst);
        "priority" Whole: "as in `flows.csv`", |v| v.it.1.priority.get();
        "held_at" Text: "the port of its path at which pauses of this root held it longest",
            |v| v.label(v.it.1.at);
        "by" Text: "the ingress port that paused that port", |v| {
            let link = v.e.topology.port(v.it.1.at.node, v.it.1.at.port);
            v.port(link.peer, link.peer_port)
        };
        "held_ps" Whole Time: "for how long", |v| v.it.1.held;
        "bound" Text:
            "accuracy of that time: `exact`; or an upper bound, because pauses that began \
             elsewhere held the flow there too (`shared`), because some of the pauses are outside \
             `--from` and `--to` (`window`), or because the pause log was full (`log-full`)",
            |v| v.it.1.bound.name();
        "first_ps" Whole Time: "when the first of these pauses began", |v| v.it.1.first;
        "last_ps" Whole Time: "when the last of them was lifted", |v| v.it.1.last;
        "root" Text: "the port at which they began, as far as the log shows it",
            |v| v.it.0.root.map(|at| v.label(at));
        "clear_path" Whole Flag:
            "1 if no pause of the whole run began at a port of the flow's own path; 0 otherwise, \
             or if the log is incomplete",
            |v| v.it.1.clear;
    })
}

/// Flows that pauses held although these began at ports the flows never used, tree by tree.
pub(super) fn victims<'a>(
    e: &'a Experiment,
    run: &'a Run,
) -> impl Iterator<Item = (&'a PauseTree, &'a Victim)> + use<'a> {
    run.pause_trees(e).iter().flat_map(|tree| tree.victims.iter().map(move |v| (tree, v)))
}
