//! The table of `weir compare`: schemes in rows, what they did to the same traffic in columns.

use crate::findings::{
    ClassSummary, Comparison, Group, PortAt, Selection, TableSummary, failures, hottest_port, notes,
};
use crate::format;
use crate::listing::{Layout, wrap};
use crate::scenario::reference::{Amount, Metric, Reference};
use crate::stats::Estimate;
use crate::table::{Column, TextTable};
use weir_core::ClassId;

/// What to say of a scheme about which there is nothing to remark.
pub(crate) const ALL_WELL: &str = "in order, nothing lost";

/// How many classes get columns of their own.
const MOST_CLASSES: usize = 3;

/// The figures of one scheme.
#[derive(Clone, Debug)]
pub struct Row {
    /// The scheme.
    pub scheme: &'static weir_fc::SchemeInfo,
    /// By class, the primary one first.
    pub classes: Vec<(ClassId, ClassSummary)>,
    /// Mean queue at the hottest port of the first scheme, bytes.
    pub queue_mean: Option<Estimate>,
    /// Longest queue there.
    pub queue_max: Option<f64>,
    /// How long flows of the primary class were held by pauses that began where they never
    /// went, picoseconds.
    pub innocent_hold: Option<Estimate>,
    /// Whether not all pauses were kept, so that the true hold is longer.
    pub at_least: bool,
    /// Whether pauses that began elsewhere held some of these flows at the same hop too, so that
    /// the true hold is shorter: pauses are attributed to ports, also where they name flows.
    pub at_most: bool,
    /// Pauses sent, per run.
    pub pauses: f64,
    /// Bytes of control frames, per run.
    pub control_bytes: f64,
    /// Remarks.
    pub notes: Vec<String>,
}

/// Everything the table shows.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The port whose queue is shown, one per seed: that with the longest queue under the first
    /// scheme.
    pub hottest: Vec<PortAt>,
    /// By scheme.
    pub rows: Vec<Row>,
}

impl Figures {
    /// Sums up.
    pub fn new(c: &Comparison<'_>) -> Self {
        let topology = &c.experiment.topology;
        let first = c.groups.first().map_or(&[][..], |g| &g.runs);
        let hottest: Vec<Option<PortAt>> =
            first.iter().map(|r| hottest_port(topology, r)).collect();
        let classes = c.class_order();
        let row = |g: &Group| {
            let runs = g.runs.len().max(1) as f64;
            let queues: Vec<_> = g
                .runs
                .iter()
                .zip(&hottest)
                .filter_map(|(run, port)| port.and_then(|p| p.record(run)).map(|p| &p.queue))
                .collect();
            let means: Vec<f64> = queues.iter().map(|q| q.mean).collect();
            let ports = g.runs.iter().flat_map(|r| &r.outcome.ports);
            let pauses: u64 = ports.map(|p| p.pauses_sent.iter().sum::<u64>()).sum();
            let control: u64 = g.runs.iter().map(|r| r.outcome.totals.control_bytes.get()).sum();
            Row {
                scheme: g.scheme,
                classes: classes.iter().map(|&k| (k, ClassSummary::new(g, Some(k)))).collect(),
                innocent_hold: classes.first().and_then(|&k| ClassSummary::innocent_hold(c, g, k)),
                at_least: g.runs.iter().any(|r| r.outcome.pauses_left_out > 0),
                at_most: g.runs.iter().any(|r| {
                    let trees = r.pause_trees(c.experiment);
                    let mut victims = trees.iter().flat_map(|t| &t.victims);
                    victims.any(|v| v.at_most() && Some(&v.class) == classes.first())
                }),
                queue_mean: Estimate::new(&means),
                queue_max: queues.iter().map(|q| q.max.get() as f64).reduce(f64::max),
                pauses: pauses as f64 / runs,
                control_bytes: control as f64 / runs,
                notes: notes(c, g),
            }
        };
        let rows = c.groups.iter().map(row).collect();
        Self { hottest: hottest.into_iter().flatten().collect(), rows }
    }
}

/// A mean with its interval, where that is more than rounding.
pub(crate) fn estimate(e: Option<Estimate>, show: fn(f64) -> String) -> String {
    match e {
        None => "-".into(),
        Some(e) if e.half_width <= e.mean.abs() * 0.0005 => show(e.mean),
        Some(e) => format!("{} ±{}", show(e.mean), format::percent(e.half_width / e.mean)),
    }
}

/// The table.
pub fn table(c: &Comparison<'_>, figures: &Figures) -> TextTable {
    let shown = c.class_order();
    let shown = &shown[..shown.len().min(MOST_CLASSES)];
    let mut t = TextTable::new(columns(c, figures, shown));
    for row in &figures.rows {
        t.row(cells(figures, row, shown));
        for (name, cells) in references(c, row.scheme.name, row.scheme.title, shown) {
            t.faint.push(t.rows.len());
            t.row([vec![name], cells].concat());
        }
    }
    for failed in &c.failed {
        let scheme = failed.variant.scheme;
        let shown = t.rows.iter().any(|row| row[0] == scheme.title);
        if shown {
            continue;
        }
        let mut row = vec![String::new(); t.columns.len()];
        row[0] = scheme.title.to_owned();
        if let Some(note) = row.last_mut() {
            let reasons = failures(c, scheme.name).into_iter().map(|(why, _)| why);
            *note = reasons.collect::<Vec<_>>().join("; ");
        }
        t.row(row);
    }
    let known = |r: &Reference| figures.rows.iter().any(|row| row.scheme.name == r.scheme);
    let mut others: Vec<&str> = Vec::new();
    for r in c.experiment.scenario.references.iter().filter(|r| !known(r)) {
        if !others.contains(&r.scheme.as_str()) {
            others.push(&r.scheme);
        }
    }
    for scheme in others {
        let title = weir_fc::scheme(scheme).map_or(scheme, |s| s.title);
        for (name, cells) in references(c, scheme, title, shown) {
            t.faint.push(t.rows.len());
            t.row([vec![name], cells].concat());
        }
    }
    t
}

/// What `weir compare` prints below its title. Remarks stand in the last column where every column
/// fits, and below the table otherwise: a narrow terminal must not hide a deadlock or a loss.
pub fn text(c: &Comparison<'_>, figures: &Figures, layout: Layout) -> String {
    let mut t = table(c, figures);
    let remarks = match t.fits(layout.width) {
        true => Vec::new(),
        false => take_notes(&mut t, layout.width),
    };
    let mut parts = vec![t.render(layout.width, layout.colour)];
    parts.extend((!remarks.is_empty()).then(|| remarks.join("\n")));
    parts.extend(c.partial_note().map(|note| format!("  {note}")));
    parts.extend(state_table(c).map(|t| t.render(layout.width, layout.colour)));
    parts.join("\n\n")
}

/// Removes the last column and says it in lines of at most `width`, each note once with the rows
/// it is about.
fn take_notes(t: &mut TextTable, width: usize) -> Vec<String> {
    let last = t.columns.len() - 1;
    t.columns.truncate(last);
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for row in &mut t.rows {
        let note = if row.len() > last { row.remove(last) } else { String::new() };
        if note.is_empty() {
            continue;
        }
        match notes.iter_mut().find(|(known, _)| *known == note) {
            Some((_, names)) => names.push(row[0].clone()),
            None => notes.push((note, vec![row[0].clone()])),
        }
    }
    // what went wrong comes first
    notes.sort_by_key(|(note, _)| note == ALL_WELL);
    let lines = notes.iter().flat_map(|(note, names)| {
        let text = format!("{}: {note}", names.join(", "));
        let lines = wrap(&text, width.saturating_sub(4).max(20)).into_iter().enumerate();
        lines.map(|(i, line)| if i == 0 { format!("  {line}") } else { format!("    {line}") })
    });
    lines.collect()
}

/// The tables that schemes keep in their switches, beside published sizes; `None` when the
/// scenario has none of these.
pub fn state_table(c: &Comparison<'_>) -> Option<TextTable> {
    let published: Vec<&Reference> =
        c.experiment.scenario.references.iter().filter(|r| r.metric == Metric::TableMean).collect();
    let mut t = TextTable::new(vec![
        Column::words("bytes per switch", 20),
        Column::words("", 19),
        Column::numbers("mean", 18),
        Column::numbers("largest", 17),
        Column::numbers("at 70 % load", 14),
        Column::numbers("paper", 16),
        Column::words("", 15),
    ]);
    for group in &c.groups {
        for table in TableSummary::of_group(group) {
            let about = |r: &&&Reference| {
                r.scheme == group.scheme.name && r.table.as_deref() == Some(table.name)
            };
            let Some(Reference { value: Amount::Bytes(bytes), source, .. }) =
                published.iter().find(about)
            else {
                continue;
            };
            t.row(vec![
                group.scheme.title.to_owned(),
                table.name.to_owned(),
                format::bytes_f64(table.mean),
                format::bytes_f64(table.max as f64),
                // a conjecture about the published numbers, and marked as such
                format!("{} (?)", format::bytes(table.at_load_factor())),
                format::bytes(*bytes),
                source.clone(),
            ]);
        }
    }
    (!t.rows.is_empty()).then_some(t)
}

/// Completion times, and slowdowns, of every class under every scheme: percentiles, with
/// confidence intervals over seeds where there are several.
pub fn percentiles(c: &Comparison<'_>) -> [TextTable; 2] {
    let table = |group: &str| {
        let mut columns = vec![
            Column::words("class", 9),
            Column::words("scheme", 9),
            Column::numbers("flows", 3),
            Column::numbers("done", 4),
        ];
        let heads = ["mean", "p50", "p95", "p99"];
        columns.extend(heads.map(|head| Column::numbers(head, 5).under(group)));
        TextTable::new(columns)
    };
    let (mut times, mut slowdowns) = (table("FCT"), table("slowdown"));
    for class in c.class_order() {
        for g in &c.groups {
            for sizes in
                std::iter::once(None).chain(c.experiment.scenario.report.sizes.iter().map(Some))
            {
                let s = ClassSummary::of(g, Selection { class: Some(class), sizes });
                if s.flows == 0 {
                    continue;
                }
                let name = c.class_name(class);
                let start = [
                    sizes.map_or_else(|| name.to_owned(), |s| format!("{name}, {s}")),
                    g.scheme.title.to_owned(),
                    format::count(s.flows),
                    format::count(s.completed),
                ];
                let fct = [s.fct_mean, s.fct_p50, s.fct_p95, s.fct_p99];
                let fct = fct.map(|e| estimate(e, format::time_ps));
                times.row(start.iter().cloned().chain(fct).collect());
                let slowdown = [s.slowdown_mean, s.slowdown_p50, s.slowdown_p95, s.slowdown_p99];
                let slowdown = slowdown.map(|e| estimate(e, format::significant));
                slowdowns.row(start.into_iter().chain(slowdown).collect());
            }
        }
    }
    [times, slowdowns]
}

fn columns(c: &Comparison<'_>, figures: &Figures, shown: &[ClassId]) -> Vec<Column> {
    let base = figures.rows.first().map_or("", |r| r.scheme.title);
    let versus = format!("vs {base}");
    let mut columns = vec![Column::words("scheme", 20)];
    for (i, &class) in shown.iter().enumerate() {
        // the third class goes before the columns that say how a result came about
        let keep = [19, 16, 7][i.min(2)];
        let group = c.class_name(class);
        let any = |what: fn(&ClassSummary) -> bool| {
            figures.rows.iter().any(|r| r.classes.iter().any(|(k, s)| *k == class && what(s)))
        };
        let several = any(|s| s.most > 1);
        // flows that never end have a rate instead
        let endless = !any(|s| s.completed > 0) && any(|s| s.rate_mean.is_some());
        let head = match (several, endless) {
            (true, false) => "mean FCT",
            (false, false) => "FCT",
            (true, true) => "mean rate",
            (false, true) => "rate",
        };
        columns.push(Column::numbers(head, keep).under(group));
        columns.push(Column::numbers(&versus, keep - 1).under(group));
        columns.push(Column::numbers(if several { "p99" } else { "" }, 3).under(group));
    }
    let same = figures.hottest.windows(2).all(|pair| pair[0] == pair[1]);
    let port = match figures.hottest.first() {
        Some(port) if same => format!("queue {}", port.name(&c.experiment.topology)),
        _ => "longest queue".to_owned(),
    };
    let primary = shown.first().map_or("flows", |&k| c.class_name(k));
    columns.extend([
        Column::numbers("mean", 12).under(&port),
        Column::numbers("max", 8).under(&port),
        Column::numbers("sent", 9).under("pauses"),
        Column::numbers("held for", 14).under(primary),
        Column::numbers("bytes", 5).under("control"),
        Column::words("notes", 11),
    ]);
    columns
}

fn cells(figures: &Figures, row: &Row, shown: &[ClassId]) -> Vec<String> {
    let first = &figures.rows[0];
    let is_first = std::ptr::eq(first, row);
    let mut cells = vec![row.scheme.title.to_owned()];
    let of = |row: &Row, class: ClassId| {
        row.classes.iter().find(|(k, _)| *k == class).map(|(_, s)| s.clone())
    };
    for &class in shown {
        let (here, base) = (of(row, class), of(first, class));
        let endless = figures.rows.iter().all(|r| of(r, class).is_none_or(|s| s.completed == 0));
        let figure = |s: &ClassSummary| if endless { s.rate_mean } else { s.fct_mean };
        let (mean, base) = (here.as_ref().and_then(figure), base.as_ref().and_then(figure));
        cells.push(estimate(mean, if endless { format::rate_bps } else { format::time_ps }));
        cells.push(match (mean, base) {
            (Some(a), Some(b)) if !is_first => format::change(a.mean, b.mean),
            _ => String::new(),
        });
        cells.push(match &here {
            Some(s) if s.most > 1 => estimate(s.fct_p99, format::time_ps),
            _ => String::new(),
        });
    }
    let held = estimate(row.innocent_hold, format::time_ps);
    cells.extend([
        estimate(row.queue_mean, format::bytes_f64),
        row.queue_max.map_or_else(|| "-".into(), format::bytes_f64),
        format::count_f64(row.pauses),
        match (row.at_least, row.at_most) {
            (true, _) => format!(">= {held}"),
            (false, true) => format!("<= {held}"),
            (false, false) => held,
        },
        format::bytes_f64(row.control_bytes),
        match row.notes.as_slice() {
            [] => ALL_WELL.into(),
            some => some.join("; "),
        },
    ]);
    cells
}

/// Rows with published numbers for a scheme, one per source: name and the other cells.
fn references(
    c: &Comparison<'_>,
    scheme: &str,
    title: &str,
    shown: &[ClassId],
) -> Vec<(String, Vec<String>)> {
    let here = |r: &&Reference| r.scheme == scheme && r.metric != Metric::TableMean;
    let all: Vec<&Reference> = c.experiment.scenario.references.iter().filter(here).collect();
    let mut sources: Vec<&str> = Vec::new();
    for r in &all {
        if !sources.contains(&r.source.as_str()) {
            sources.push(&r.source);
        }
    }
    let value = |source: &str, metrics: &[Metric], class: Option<&str>| {
        all.iter()
            .find(|r| {
                r.source == source && metrics.contains(&r.metric) && r.class.as_deref() == class
            })
            .map_or_else(String::new, |r| match r.value {
                Amount::Time(t) => format::time(t),
                Amount::Bytes(b) => format::bytes(b),
                Amount::Rate(r) => format::rate_bps(r.as_bps() as f64),
            })
    };
    let row = |source: &&str| {
        let mut cells = Vec::new();
        for &class in shown {
            let name = c.class_name(class);
            cells.push(value(source, &[Metric::FctMean, Metric::FctMax, Metric::Rate], Some(name)));
            cells.extend([String::new(), String::new()]);
        }
        cells.push(value(source, &[Metric::QueueMean], None));
        cells.push(value(source, &[Metric::QueueMax], None));
        cells.extend([String::new(), String::new(), String::new(), (*source).to_owned()]);
        (format!("{title} paper"), cells)
    };
    sources.iter().map(row).collect()
}
