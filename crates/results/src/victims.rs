//! The victims of a run as `weir run` prints them.

use crate::comparison::Comparison;
use crate::findings::{PauseTree, Victim};
use crate::listing::{Layout, wrap};
use crate::run::Run;
use crate::table::{Column, TextTable};
use weir_core::Time;
use weir_core::format;

/// More lines than this stand in `victims.csv` only.
const MOST: usize = 6;

/// Flows that pauses held although these began at ports the flows never used, the longest holds
/// first; `None` when there were none. Ends with what is not known, if the pause log was full.
pub(crate) fn text(c: &Comparison<'_>, run: &Run, layout: Layout) -> Option<String> {
    let e = c.groups.first().map_or(c.experiment, |g| g.experiment);
    let topology = &e.topology;
    let of_tree = |tree| move |v| (tree, v);
    let trees = run.pause_trees(e).iter();
    let mut all: Vec<(&PauseTree, &Victim)> =
        trees.flat_map(|tree| tree.victims.iter().map(of_tree(tree))).collect();
    all.sort_by_key(|(_, v)| (std::cmp::Reverse(v.held), v.flow));
    let mut t = TextTable::new(vec![
        Column::words("victims", 20),
        Column::words("flow", 19),
        Column::numbers("held for", 18),
        Column::words("at", 15),
        Column::words("because of", 16),
        Column::words("between", 9),
    ]);
    for (tree, v) in all.iter().take(MOST) {
        let at_most = if v.at_most() { "<= " } else { "" };
        t.row(vec![
            c.class_name(v.class).to_owned(),
            format!("{} to {}", topology.name(v.src), topology.name(v.dst)),
            format!("{at_most}{}", format::time(v.held)),
            v.at.name(topology),
            tree.root.map_or_else(String::new, |root| root.name(topology)),
            format!("{} and {}", format::time(v.first), format::time(v.last)),
        ]);
    }
    let mut parts = Vec::new();
    if !all.is_empty() {
        parts.push(t.render(layout.width, layout.colour));
    }
    if all.len() > MOST {
        let more = format::plural((all.len() - MOST) as u64, "more line");
        parts.push(format!("  {more} in victims.csv (--out)"));
    }
    if let Some(end) = log_end(run) {
        let text = format!(
            "the pause log was full at {}: later pauses are not included (raise `pause-events` in \
             [probe])",
            format::time(end)
        );
        let lines = wrap(&text, layout.width.saturating_sub(2).max(20)).into_iter();
        parts.extend(lines.map(|l| format!("  {l}")));
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// When the log of pauses ended because it was full.
fn log_end(run: &Run) -> Option<Time> {
    let last = run.outcome.pauses.last().map(|p| p.at);
    (run.outcome.pauses_left_out > 0).then(|| last.unwrap_or(Time::ZERO))
}
