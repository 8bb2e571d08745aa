//! What `weir run` prints: a run on one screen.

use crate::compare;
use crate::comparison::{Comparison, answer, notes};
use crate::describe;
use crate::findings::Selection;
use crate::job_text;
use crate::listing::{Layout, wrap};
use crate::run::Run;
use crate::table::{Column, TextTable, paint};
use crate::victims;
use weir_core::ClassId;
use weir_core::format;
use weir_core::percentile::{P50, P99};
use weir_scenario::PortAt;
use weir_scenario::experiment::Experiment;
use weir_sim::config::Stop;
use weir_sim::outcome::{Finish, PortRecord, Stuck};

/// The runs of one scheme as text: a single run in detail, several seeds by their means.
pub fn text(c: &Comparison<'_>, layout: Layout) -> String {
    let Some(group) = c.groups.first() else { return "nothing was run".into() };
    let mut parts = Vec::new();
    match (group.runs.as_slice(), c.failed.is_empty()) {
        ([run], true) => {
            let seed = format!("seed {}", run.variant.seed);
            parts.extend([head(c, run, &seed, layout), flows(c, run, layout)]);
            parts.extend(job_text::table(own(c), run, layout));
            parts.extend(ports(c, run, layout));
            parts.extend(stuck(c, run, layout));
            parts.extend(job_text::endless(own(c), run).iter().map(|text| lines(text, layout)));
            parts.extend(tree(c, run));
            parts.extend(victims::text(c, run, layout));
        }
        (runs, _) => {
            let seeds = format::plural((runs.len() + c.failed.len()) as u64, "seed");
            parts.push(head(c, &runs[0], &seeds, layout));
            let tables = compare::percentiles(c).into_iter().filter(|t| !t.rows.is_empty());
            let tables = tables.chain(job_text::by_scheme(c));
            parts.extend(tables.map(|t| t.render(layout.width, layout.colour)));
            parts.push("  Means over seeds, with 95 % confidence intervals.".into());
        }
    }
    let notes = notes(c, group);
    if !notes.is_empty() {
        parts.push(lines(&notes.join("; "), layout));
    }
    if let Some((title, why)) = group.missing_signal() {
        let warning = paint("warning:", layout.colour, "1;33");
        parts.push(format!("  {warning} {title}: {why}"));
    }
    let several = group.runs.len() > 1;
    let feet = group.runs.iter().map(|run| {
        let seed = if several { format!("seed {}: ", run.variant.seed) } else { String::new() };
        let [result, cost] = foot(run);
        format!("{}\n{}", lines(&format!("{seed}{result}"), layout), lines(&cost, layout))
    });
    parts.push(feet.collect::<Vec<_>>().join("\n"));
    parts.join("\n\n")
}

/// What was run.
fn own<'a>(c: &Comparison<'a>) -> &'a Experiment {
    c.groups.first().map_or(c.experiment, |g| g.experiment)
}

/// Text in indented lines that fit the terminal.
fn lines(text: &str, layout: Layout) -> String {
    let lines = wrap(text, layout.width.saturating_sub(2).max(20)).into_iter();
    lines.map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n")
}

fn head(c: &Comparison<'_>, run: &Run, seeds: &str, layout: Layout) -> String {
    let title =
        format!("{} · {} · {} · {seeds}", describe::headline(own(c)), run.label, run.senders(),);
    let room = layout.width.saturating_sub(2).min(100);
    let answer: Vec<String> = wrap(&answer(c), room).iter().map(|l| format!("  {l}")).collect();
    format!("  {}\n\n{}", paint(&title, layout.colour, "1"), answer.join("\n"))
}

fn flows(c: &Comparison<'_>, run: &Run, layout: Layout) -> String {
    let mut t = TextTable::new(vec![
        Column::words("class", 20),
        Column::numbers("flows", 12),
        Column::numbers("done", 13),
        Column::numbers("queue pairs", 5),
        Column::numbers("mean", 19).under("FCT"),
        Column::numbers("p50", 6).under("FCT"),
        Column::numbers("p99", 16).under("FCT"),
        Column::numbers("max", 15).under("FCT"),
        Column::numbers("mean", 11).under("slowdown"),
        Column::numbers("p99", 10).under("slowdown"),
        Column::numbers("mean", 9).under("held for"),
        Column::numbers("max", 14).under("held for"),
        Column::numbers("sent again", 8),
        Column::numbers("lost", 9),
    ]);
    let mut classes: Vec<(&str, Option<ClassId>)> =
        c.class_order().into_iter().map(|k| (c.class_name(k), Some(k))).collect();
    if classes.len() > 1 {
        classes.push(("all", None));
    }
    for (name, class) in classes {
        let s = run.class_stats(Selection::of_class(class));
        let time = |x| format::or_dash(x, format::time_ps);
        let number = |x| format::or_dash(x, format::significant);
        let some = |n: u64| if n == 0 { String::new() } else { format::count(n) };
        let [flows, done] = s.counts();
        t.row(vec![
            name.to_owned(),
            flows,
            done,
            some(s.queue_pairs),
            time(s.fct.mean()),
            time(s.fct.percentile(P50)),
            time(s.fct.percentile(P99)),
            time(s.fct.max()),
            number(s.slowdown.mean()),
            number(s.slowdown.percentile(P99)),
            time(s.held.mean()),
            time(s.held.max()),
            some(s.retransmitted),
            some(s.lost),
        ]);
    }
    t.render(layout.width, layout.colour)
}

/// The switch ports with the longest queues.
fn ports(c: &Comparison<'_>, run: &Run, layout: Layout) -> Option<String> {
    const MOST: usize = 5;
    let topology = &own(c).topology;
    let mut ports: Vec<&PortRecord> = run
        .outcome
        .ports
        .iter()
        .filter(|p| !topology.is_host(p.node) && p.queue.mean > 0.0)
        .collect();
    ports.sort_by(|a, b| b.queue.mean.total_cmp(&a.queue.mean).then(a.node.cmp(&b.node)));
    let mut t = TextTable::new(vec![
        Column::words("longest queues", 20),
        Column::numbers("mean", 19).under("queue"),
        Column::numbers("p99", 16).under("queue"),
        Column::numbers("max", 15).under("queue"),
        Column::numbers("used", 12),
        Column::numbers("sent", 14).under("pauses"),
        Column::numbers("held for", 13),
        Column::numbers("marked", 8),
    ]);
    for p in ports.into_iter().take(MOST) {
        let some = |n: u64| if n == 0 { String::new() } else { format::count(n) };
        let held = p.held_time.iter().max().copied().unwrap_or_default();
        t.row(vec![
            PortAt { node: p.node, port: p.port }.name(topology),
            format::bytes_f64(p.queue.mean),
            format::bytes(p.queue.percentile(P99)),
            format::bytes(p.queue.max),
            format::percent(p.utilisation),
            some(p.pauses_sent.iter().sum()),
            if held.as_ps() == 0 { String::new() } else { format::time(held) },
            some(p.ecn_marked),
        ]);
    }
    (!t.rows.is_empty()).then(|| t.render(layout.width, layout.colour))
}

/// What a run that was not over says of queues and flows that a lost RESUME may hold for ever.
pub(crate) const HELD_AT_END: &str = "held at its end, after a control frame was lost or late";

/// The circle of a deadlock, what a stalled run waits for, or what is held at the end of another.
fn stuck(c: &Comparison<'_>, run: &Run, layout: Layout) -> Option<String> {
    const MOST: usize = 20;
    let (title, all): (String, &[Stuck]) = match &run.outcome.finish {
        Finish::Deadlock(d) => {
            let at = format::time(d.closed);
            (format!("deadlock, closed at {at}: each waits for the next"), &d.cycle)
        }
        Finish::Stalled(all) => {
            ("stalled: bytes are undelivered and nothing can move them".into(), all)
        }
        _ if run.outcome.held_at_end.is_empty() => return None,
        _ => (HELD_AT_END.into(), &run.outcome.held_at_end),
    };
    let topology = &own(c).topology;
    let mut t = TextTable::new(vec![
        Column::words("queue", 20),
        Column::numbers("priority", 10),
        Column::numbers("bytes", 12),
        Column::numbers("held since", 14),
        Column::words("waits for", 16),
    ]);
    let name = |s: &Stuck| PortAt { node: s.node, port: s.port }.name(topology);
    // a chain of ranks ends with its cause
    let last = if matches!(run.outcome.finish, Finish::Stalled(_)) { MOST / 2 } else { 0 };
    let left_out = MOST - last..all.len().saturating_sub(last);
    for (i, s) in all.iter().enumerate().filter(|(i, _)| !left_out.contains(i)) {
        if i > 0 && i == left_out.end && !left_out.is_empty() {
            t.row(vec![format!("{} more", left_out.len()), String::new()]);
        }
        let next = match &run.outcome.finish {
            Finish::Deadlock(d) => name(&d.cycle[(i + 1) % d.cycle.len()]),
            _ => s.waits_for.clone(),
        };
        t.row(vec![
            name(s),
            s.priority.to_string(),
            format::bytes(s.bytes),
            s.since.map_or_else(|| "not held".into(), format::time),
            next,
        ]);
    }
    let more = match left_out.len() {
        n if n > 0 && last == 0 => format!("\n  and {n} more"),
        _ => String::new(),
    };
    let title = paint(&title, layout.colour, "1;31");
    let reason = match run.lost_frame() {
        Some(frame) => format!("\n  {}", frame.describe(topology)),
        None => String::new(),
    };
    Some(format!("  {title}{reason}\n{}{more}", t.render(layout.width, layout.colour)))
}

/// The largest pause tree in a few lines.
fn tree(c: &Comparison<'_>, run: &Run) -> Option<String> {
    let topology = &own(c).topology;
    let trees = run.pause_trees(own(c));
    let tree = trees.first()?;
    let root = tree.root?.name(topology);
    let mut lines = vec![format!("  pauses{} began at {root}:", c.experiment.window.label())];
    let mut level: Vec<&crate::findings::PauseNode> = tree.pauses.iter().collect();
    let mut depth = 0;
    while !level.is_empty() && depth < 6 {
        level.sort_by_key(|n| (std::cmp::Reverse((n.children.len().min(1), n.time)), n.by));
        let node = level[0];
        let (by, held) = (topology.name(node.by.node), topology.name(node.held.node));
        let more = match level.len() - 1 {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        lines.push(format!(
            "  {}{by} paused {held}{more}, {}, {} in all",
            "  ".repeat(depth + 1),
            format::times(node.count),
            format::time(node.time)
        ));
        level = level.iter().flat_map(|n| &n.children).collect();
        depth += 1;
    }
    if trees.len() > 1 {
        let others = format::plural(trees.len() as u64 - 1, "other port");
        lines.push(format!("  pauses began at {others} too"));
    }
    Some(lines.join("\n"))
}

/// When a run ended. One that is done before its end waits for flows that start later.
fn ended(run: &Run) -> weir_core::Time {
    match (&run.outcome.finish, run.config.stop) {
        (Finish::TimeLimit, Stop::At(end)) => end,
        _ => run.outcome.end,
    }
}

/// How a run ended, and, on a line of its own because it differs from run to run, what it cost.
fn foot(run: &Run) -> [String; 2] {
    let o = &run.outcome;
    let end = match &o.finish {
        Finish::Drained => "drained",
        Finish::TimeLimit if run.clock_ended() => "not over",
        Finish::TimeLimit => "stopped",
        Finish::Deadlock(_) => "deadlocked",
        Finish::Stalled(_) => "stalled",
        Finish::Interrupted => "interrupted",
    };
    let digest = match run.interrupted() {
        true => "no digest".into(),
        false => format!("digest {:016x}", o.digest),
    };
    let drops = match o.totals.dropped {
        0 => "nothing lost".to_owned(),
        n => format!("{} lost", format::plural(n, "packet")),
    };
    let result = format!(
        "{end} after {} · {drops} · {} control frames, {} · {digest}",
        format::time(ended(run)),
        format::count(o.totals.control_frames),
        format::bytes(o.totals.control_bytes),
    );
    let cost = format!(
        "{} packet-hops in {}",
        format::count(run.perf.packet_hops),
        format::time_ps(run.perf.wall_seconds * 1e12),
    );
    [result, cost]
}
