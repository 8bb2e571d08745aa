//! Runs that ended because nothing could move, or while something was held that nothing may
//! release: the circle on the network, and its queues.

use super::figures::look::looks;
use super::html::{data_table, topology_figure};
use crate::comparison::Comparison;
use crate::run_text;
use weir_core::html;
use weir_core::markup::Html;
use weir_net::draw;
use weir_plot::Data;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{Deadlock, Finish, Stuck};

/// A heading per such run with its queues; the first deadlock of every row is drawn, too.
pub(super) fn section(c: &Comparison<'_>) -> Html {
    let mut out = Html::default();
    for (group, look) in c.groups.iter().zip(looks(c)) {
        let mut drawn = false;
        for run in &group.runs {
            let (what, stuck) = match &run.outcome.finish {
                Finish::Deadlock(d) => {
                    let at = weir_core::format::time(d.closed);
                    (format!("deadlocked: the cycle closed at {at}"), &d.cycle)
                }
                Finish::Stalled(stuck) => ("stalled: no packet could move".into(), stuck),
                _ if run.outcome.held_at_end.is_empty() => continue,
                _ => (run_text::HELD_AT_END.into(), &run.outcome.held_at_end),
            };
            let seed = run.variant.seed;
            out.push(&html!("<h3>{}, seed {} {}</h3>\n", look.name, seed, what));
            if let Some(frame) = run.lost_frame() {
                let text = frame.describe(&group.experiment.topology);
                out.push(&html!("<p class=\"warn\">{}</p>\n", text));
            }
            let table = stuck_table(group.experiment, stuck);
            match &run.outcome.finish {
                Finish::Deadlock(d) if !drawn => {
                    let svg = circle(group.experiment, d);
                    out.push(&topology_figure(&format!("deadlock-{}", look.id), svg, &table));
                    drawn = true;
                }
                _ => out.push(&html!(
                    "<details><summary>{}</summary>{}</details>\n",
                    weir_core::format::plural(stuck.len() as u64, "queue"),
                    data_table(&table)
                )),
            }
        }
    }
    out
}

/// The network with the circle of waiting ports.
fn circle(e: &Experiment, deadlock: &Deadlock) -> String {
    let cycle = deadlock.cycle.iter().map(|s| (s.node, s.port)).collect();
    draw::svg(&e.topology, &draw::Options { cycle, ..Default::default() })
}

/// The queues of a circle, or those that nothing moves.
fn stuck_table(e: &Experiment, stuck: &[Stuck]) -> Data {
    let header = ["node", "port", "priority", "bytes waiting", "held since", "waits for"];
    let topology = &e.topology;
    let row = |s: &Stuck| {
        vec![
            topology.name(s.node).to_owned(),
            topology.port_name(s.node, s.port),
            s.priority.to_string(),
            weir_core::format::bytes(s.bytes),
            s.since.map_or_else(|| "not held".into(), weir_core::format::time),
            s.waits_for.clone(),
        ]
    };
    Data {
        header: header.map(str::to_owned).to_vec(),
        rows: stuck.iter().take(200).map(row).collect(),
    }
}
