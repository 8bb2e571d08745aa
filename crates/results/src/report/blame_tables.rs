//! Tables of blame: where completion times went, and who is to blame. They are written for runs
//! that kept it.

use super::tables::{Of, with_run};
use crate::column::{Column, columns};
use crate::findings::{Blamed, Culprit, FctPart, Share};
use crate::run::Run;
use weir_core::{FlowId, Time};
use weir_scenario::PortAt;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::FlowRecord;

fn label<T>(v: &Of<'_, T>, at: PortAt) -> String {
    v.port(at.node, at.port)
}

fn part(v: &Of<'_, &FlowRecord>, part: FctPart) -> Option<Time> {
    let blamed = v.run.blames(v.e)?.of(v.it.id)?;
    Some(blamed.parts()[part as usize])
}

/// What `flows.csv` has besides.
pub(super) fn flow_columns<'a>() -> Vec<Column<Of<'a, &'a FlowRecord>>> {
    columns! {
        "wire_ps" Whole Time:
            "serialisation, propagation and switch latency of the deciding packet; this and the \
             following columns add up to `fct_ps`, and are empty if the flow did not finish",
            |v| part(v, FctPart::Wire);
        "source_ps" Whole Time: "earlier packets of the flow on the wire of its host",
            |v| part(v, FctPart::Source);
        "control_ps" Whole Time: "rate, window or pacing of the congestion control",
            |v| part(v, FctPart::Control);
        "recovery_ps" Whole Time: "timeouts, retransmissions, links that were down",
            |v| part(v, FctPart::Recovery);
        "own_queue_ps" Whole Time: "queued behind packets of the same flow",
            |v| part(v, FctPart::OwnQueue);
        "others_queue_ps" Whole Time: "queued behind packets of other flows",
            |v| part(v, FctPart::OthersQueue);
        "held_own_ps" Whole Time: "held by pauses whose root is on the way of the flow",
            |v| part(v, FctPart::HeldOwn);
        "held_others_ps" Whole Time: "held by pauses whose root is not on the way of the flow",
            |v| part(v, FctPart::HeldOthers);
        "host_ps" Whole Time: "waiting for other flows of the host", |v| part(v, FctPart::Host);
    }
}

/// The columns of `blame.csv`.
pub(super) fn share_columns<'a>() -> Vec<Column<Of<'a, (FlowId, &'a Share)>>> {
    with_run(columns! {
        "flow" Text: "as in `flows.csv`", |v| v.it.0.to_string();
        "hop" Whole: "where on the way: 0 for the host, 1 for the first switch",
            |v| u64::from(v.it.1.hop);
        "part" Text:
            "`wire`, `source`, `control`, `recovery`, `own-queue`, `others-queue`, `held-own`, \
             `held-others` or `host`",
            |v| v.it.1.part.name();
        "port" Text: "the egress port at which the flow waited", |v| label(v, v.it.1.at);
        "root" Text: "for a hold, the port at which the pauses began; empty if it is not known",
            |v| v.it.1.root.map(|at| label(v, at));
        "certainty" Text:
            "for a hold: `single`; `overlap` if pauses with other roots held the flow at the same \
             time; `unknown` if the pause log does not tell",
            |v| v.it.1.certainty.map(|c| c.name());
        "first_ps" Whole Time: "when it began", |v| v.it.1.first;
        "count" Whole Count: "in how many stretches of time, for a hold", |v| v.it.1.count;
        "time_ps" Whole Time: "for how long", |v| v.it.1.time;
    })
}

/// The rows of `blame.csv`.
pub(super) fn shares<'a>(
    e: &'a Experiment,
    run: &'a Run,
) -> impl Iterator<Item = (FlowId, &'a Share)> + use<'a> {
    let of = |b: &'a Blamed| b.shares.iter().map(move |s| (b.flow, s));
    run.blames(e).into_iter().flat_map(|b| &b.flows).flat_map(of)
}

/// The columns of `culprits.csv`.
pub(super) fn culprit_columns<'a>() -> Vec<Column<Of<'a, (FlowId, &'a Culprit)>>> {
    with_run(columns! {
        "flow" Text: "the flow that waited, as in `flows.csv`", |v| v.it.0.to_string();
        "hop" Whole: "where on its way, as in `blame.csv`", |v| u64::from(v.it.1.hop);
        "kind" Text:
            "`direct`: its packets left the port while the deciding packet waited; `indirect`: \
             earlier in the same busy period; `original`: they built the queue up from empty; \
             `pause`: its bytes stood in the ingress of the root when that paused",
            |v| v.it.1.fault.name();
        "port" Text: "the egress port at which the flow waited", |v| label(v, v.it.1.at);
        "root" Text: "for a pause, the port at which it began",
            |v| v.it.1.root.map(|at| label(v, at));
        "culprit" Text: "the flow that is to blame", |v| v.it.1.flow.to_string();
        "bytes" Whole Bytes: "with how many bytes", |v| v.it.1.bytes;
        "time_ps" Whole Time:
            "its part of the time, in proportion to its bytes; 0 for `indirect` and `original`",
            |v| v.it.1.time;
    })
}

/// The rows of `culprits.csv`.
pub(super) fn culprits<'a>(
    e: &'a Experiment,
    run: &'a Run,
) -> impl Iterator<Item = (FlowId, &'a Culprit)> + use<'a> {
    let of = |b: &'a Blamed| b.culprits.iter().map(move |c| (b.flow, c));
    run.blames(e).into_iter().flat_map(|b| &b.flows).flat_map(of)
}
