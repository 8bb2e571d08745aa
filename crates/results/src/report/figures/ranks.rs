//! What ranks of jobs did over time, and the critical path through them.

use super::look::Look;
use crate::findings::{BlamedLink, PathBlame, PathPart};
use crate::run::Run;
use weir_core::{Time, format};
use weir_plot::style::Fill;
use weir_plot::{
    Across, Axis, Figure, Layout, Link, Paint, Panel, Scale, Series, Shape, Style, Unit,
};
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{JobActivity, RankActivity};

/// A figure with more panels than this has no room for them.
const MOST_JOBS: usize = 4;

fn ps(t: Time) -> f64 {
    t.as_ps() as f64
}

/// What a message waited for in queues, pauses, recovery and for congestion control.
fn waited(link: &BlamedLink) -> Time {
    link.shares.iter().filter(|s| s.part.is_waiting()).map(|s| s.time).sum()
}

/// The rows of ranks: those that are left out lie between others.
struct Rows<'a>(&'a [RankActivity]);

impl Rows<'_> {
    fn of(&self, rank: u32) -> f64 {
        let at = self.0.partition_point(|r| r.rank < rank);
        match (at.checked_sub(1).and_then(|i| self.0.get(i)), self.0.get(at)) {
            (_, Some(here)) if here.rank == rank => at as f64,
            (Some(before), Some(after)) => {
                let share = f64::from(rank - before.rank) / f64::from(after.rank - before.rank);
                at as f64 - 1.0 + share
            }
            (None, _) => 0.0,
            (Some(_), None) => at as f64 - 1.0,
        }
    }
}

/// One link of the chain as it is drawn.
fn link(e: &Experiment, rows: &Rows<'_>, of: &BlamedLink) -> Link {
    // a rank that is told of a message stays where it is
    let told = of.shares.iter().all(|s| s.part == PathPart::Told);
    let to = of.peer.filter(|_| !told);
    let name = match to {
        Some(peer) => format!("rank {} to rank {peer}", of.rank),
        None => format!("rank {}", of.rank),
    };
    let mut shares: Vec<_> = of.shares.iter().collect();
    shares.sort_by_key(|s| std::cmp::Reverse(s.time));
    let shares = shares.iter().take(4).map(|s| {
        let at = s.root.or(s.at.filter(|_| s.part.is_waiting()));
        let at = at.map(|at| format!(" ({})", e.topology.port_label(at.node, at.port)));
        format!("{} {}{}", s.part.words(), format::time(s.time), at.unwrap_or_default())
    });
    let note = format!("{name}: {}", shares.collect::<Vec<_>>().join(", "));
    let (from, to) = (rows.of(of.rank), rows.of(to.unwrap_or(of.rank)));
    Link { name, from: (from, ps(of.from)), to: (to, ps(of.to)), note }
}

/// Stretches of `all` that are not in `but`; both in order and without overlaps.
fn without(all: &[(Time, Time)], but: &[(Time, Time)]) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    for &(mut from, to) in all {
        for &(a, b) in but {
            if b <= from || a >= to {
                continue;
            }
            if a > from {
                out.push((ps(from), ps(a)));
            }
            from = b.min(to);
        }
        if from < to {
            out.push((ps(from), ps(to)));
        }
    }
    out
}

fn panel(e: &Experiment, activity: &JobActivity, path: &PathBlame) -> Panel {
    let job = &e.traffic.jobs()[activity.job as usize];
    let rows = Rows(&activity.ranks);
    let (waiting, moving): (Vec<&BlamedLink>, Vec<&BlamedLink>) =
        path.links.iter().partition(|l| waited(l) * 2 > l.to - l.from);
    let chain = |links: Vec<&BlamedLink>| {
        Shape::Chain(links.into_iter().map(|l| link(e, &rows, l)).collect())
    };
    let of = |ranks: fn(&RankActivity) -> Vec<(f64, f64)>| {
        Shape::Spans(activity.ranks.iter().map(ranks).collect())
    };
    let series =
        |name: &str, style: Style, shape: Shape| Series { name: name.into(), style, shape };
    let sending = Style { fill: Fill::Half, ..Style::new(4, 0) };
    let ink = Style { paint: Paint::Ink, ..Style::ALARM };
    let mut all = vec![
        series("computes", Style::new(0, 0), of(|r| without(&r.computing, &[]))),
        series("sends and does not compute", sending, of(|r| without(&r.sending, &r.computing))),
        series("critical path", ink, chain(moving)),
        series("critical path: messages that mostly waited", Style::ALARM, chain(waiting)),
    ];
    all.retain(|s| match &s.shape {
        Shape::Spans(rows) => rows.iter().any(|r| !r.is_empty()),
        Shape::Chain(links) => !links.is_empty(),
        _ => true,
    });
    let (begin, end) = activity.span;
    let shown = match activity.ranks.len() as u32 {
        n if n < activity.all => format!(", {n} of {} ranks", activity.all),
        _ => String::new(),
    };
    let (label, unit, scale) = ("time".into(), Unit::Time, Scale::Linear);
    Panel {
        title: format!("{}, step {}{shown}", job.name, activity.iteration),
        across: Across::Rows {
            names: activity
                .ranks
                .iter()
                .map(|r| format!("{}, {}", r.rank, e.topology.name(r.host)))
                .collect(),
        },
        up: Axis { label, unit, scale, low: ps(begin), high: ps(end) },
        series: all,
        rules: Vec::new(),
    }
}

/// What ranks did during the longest step of each job, with the critical path; `None` without
/// blame.
pub(super) fn gantt(e: &Experiment, run: &Run, look: &Look) -> Option<Figure> {
    let (blames, log) = (run.blames(e)?, run.outcome.blame.as_ref()?);
    let panels = log.activity.iter().filter_map(|a| {
        let path = blames.path(a.job as usize, a.iteration as usize)?;
        Some(panel(e, a, path))
    });
    let panels: Vec<Panel> = panels.take(MOST_JOBS).collect();
    let closed = log.activity.iter().map(|a| a.closed).max().unwrap_or_default();
    let few = log.activity.iter().any(|a| (a.ranks.len() as u32) < a.all);
    let mut caption = format!(
        "The longest step of each job. Each row is a rank with its host; where it is blank, the \
         rank waits for others. The line is the chain of computations and messages that set the \
         end of the step, red where a message spent more than half of its time in queues, pauses, \
         recovery or congestion control. Gaps of up to {} are closed.",
        format::time(closed)
    );
    if few {
        caption.push_str(
            " Of many ranks, those are shown on which the path is longest, and a few others; the \
             path runs between rows where its rank is left out.",
        );
    }
    if log.activity.len() > panels.len() {
        let more = (log.activity.len() - panels.len()) as u64;
        caption.push_str(&format!(" {} more are left out.", format::plural(more, "job")));
    }
    (!panels.is_empty()).then(|| Figure {
        id: format!("gantt-{}", look.id),
        title: format!("Ranks and critical path: {}, seed {}", look.name, run.variant.seed),
        caption,
        panels,
        layout: Layout::Grid,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::NodeId;

    fn rank(rank: u32) -> RankActivity {
        let (computing, sending) = (Vec::new(), Vec::new());
        let zero = Time::ZERO;
        RankActivity { rank, host: NodeId(0), computing, sending, computed: zero, sent: zero }
    }

    /// Of the ranks 0, 4 and 8 the first row is that of rank 0; rank 5 is a quarter below rank 4.
    #[test]
    fn a_rank_that_is_left_out_lies_between_its_neighbours() {
        let all = [rank(0), rank(4), rank(8)];
        let rows = Rows(&all);
        assert_eq!([0, 4, 5, 8, 9].map(|r| rows.of(r)), [0.0, 1.0, 1.25, 2.0, 2.0]);
    }

    #[test]
    fn what_is_computed_meanwhile_is_not_exposed() {
        let ps = Time::from_ps;
        let all = [(ps(0), ps(10)), (ps(20), ps(30))];
        let but = [(ps(2), ps(4)), (ps(8), ps(22)), (ps(29), ps(40))];
        assert_eq!(without(&all, &but), [(0.0, 2.0), (4.0, 8.0), (22.0, 29.0)]);
    }
}
