//! The table of `weir compare`: schemes and variants in rows, what they did to the same traffic in
//! columns.

pub mod columns;
mod published;

pub use columns::{Figure, Sheet};
pub use published::state_table;

use crate::comparison::{ClassSummary, Comparison, Group, failures, notes};
use crate::findings::port_record;
use crate::findings::{Selection, hottest_port};
use crate::listing::{Layout, wrap};
use crate::stats::Estimate;
use crate::table::{Column, TextTable};
use published::Shown;
use weir_core::ClassId;
use weir_core::format;
use weir_scenario::PortAt;

/// What to say of a scheme about which there is nothing to remark.
pub(crate) const ALL_WELL: &str = "in order, nothing lost";

/// How many classes get columns of their own.
const MOST_CLASSES: usize = 3;

/// The figures of one row.
#[derive(Clone, Debug)]
pub struct VariantRow {
    /// What it is called.
    pub label: String,
    /// The scheme.
    pub scheme: &'static weir_fc::SchemeInfo,
    /// By class, the primary one first.
    pub classes: Vec<(ClassId, ClassSummary)>,
    /// Mean queue at the hottest port of the first row, bytes.
    pub queue_mean: Option<Estimate>,
    /// Longest queue there.
    pub queue_max: Option<Estimate>,
    /// How long flows of the primary class were held by pauses that began where they never
    /// went, picoseconds.
    pub innocent_hold: Option<Estimate>,
    /// Whether not all pauses were kept, so that the true hold is longer.
    pub at_least: bool,
    /// Whether pauses that began elsewhere held some of these flows at the same hop too, so that
    /// the true hold is shorter: pauses are attributed to ports, also where they name flows.
    pub at_most: bool,
    /// Remarks.
    pub notes: Vec<String>,
}

/// Everything the table shows.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The port whose queue is shown, one per seed: that with the longest queue under the first
    /// scheme.
    pub hottest: Vec<PortAt>,
    /// By scheme or variant.
    pub rows: Vec<VariantRow>,
    /// What can be asked for by name.
    pub sheet: Sheet,
}

impl Figures {
    /// Sums up.
    pub fn new(c: &Comparison<'_>) -> Self {
        let of_run = |g: &Group<'_>| -> Vec<Option<PortAt>> {
            g.runs.iter().map(|r| hottest_port(&g.experiment.topology, &r.outcome)).collect()
        };
        // ports of one network are compared; where rows have networks of their own, each has its
        // own
        let common = c.one_network();
        let first = c.groups.first().map(of_run).unwrap_or_default();
        let classes = c.class_order();
        let row = |g: &Group<'_>| {
            let hottest = if common { first.clone() } else { of_run(g) };
            let queues: Vec<_> = g
                .runs
                .iter()
                .zip(&hottest)
                .filter_map(|(run, port)| {
                    port.and_then(|p| port_record(p, &run.outcome)).map(|p| &p.queue)
                })
                .collect();
            let means: Vec<f64> = queues.iter().map(|q| q.mean).collect();
            let longest: Vec<f64> = queues.iter().map(|q| q.max.get() as f64).collect();
            VariantRow {
                label: g.label.clone(),
                scheme: g.scheme,
                classes: classes.iter().map(|&k| (k, ClassSummary::new(g, Some(k)))).collect(),
                innocent_hold: classes.first().and_then(|&k| ClassSummary::innocent_hold(g, k)),
                at_least: g.runs.iter().any(|r| r.outcome.pauses_left_out > 0),
                at_most: g.runs.iter().any(|r| {
                    let trees = r.pause_trees(g.experiment);
                    let mut victims = trees.iter().flat_map(|t| &t.victims);
                    victims.any(|v| v.at_most() && Some(&v.class) == classes.first())
                }),
                queue_mean: Estimate::new(&means),
                queue_max: Estimate::new(&longest),
                notes: notes(c, g),
            }
        };
        let rows = c.groups.iter().map(row).collect();
        Self { hottest: first.into_iter().flatten().collect(), rows, sheet: Sheet::new(c) }
    }

    /// Classes with flows other than the queue pairs of jobs.
    fn flow_classes(&self, c: &Comparison<'_>) -> Vec<ClassId> {
        let pairs = |s: &ClassSummary| s.queue_pairs > 0 && s.own_flows() == 0;
        c.class_order().into_iter().filter(|&k| !self.of(k).all(pairs)).collect()
    }

    fn of(&self, class: ClassId) -> impl Iterator<Item = &ClassSummary> {
        self.rows.iter().flat_map(|r| &r.classes).filter(move |(k, _)| *k == class).map(|(_, s)| s)
    }
}

/// A mean with its interval, where that is more than rounding.
pub(crate) fn estimate(e: Option<Estimate>, show: impl Fn(f64) -> String) -> String {
    match e {
        None => "-".into(),
        Some(e) if e.half_width <= e.mean.abs() * 0.0005 => show(e.mean),
        Some(e) => format!("{} ±{} %", show(e.mean), format::points(e.half_width / e.mean.abs())),
    }
}

/// Which columns a comparison shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// These figures instead of the usual ones; empty: the usual ones.
    pub columns: Vec<Figure>,
}

/// What a row has in a column.
type CellText = dyn Fn(&Figures, usize) -> String;

/// A column of the main table.
struct ShownColumn {
    column: Column,
    shows: Shown,
    /// What a row has there.
    cell: Box<CellText>,
}

impl ShownColumn {
    fn new(column: Column, cell: impl Fn(&Figures, usize) -> String + 'static) -> Self {
        Self { column, shows: Shown::Other, cell: Box::new(cell) }
    }

    fn figure(column: Column, f: &Figure) -> Self {
        let own = f.clone();
        let cell = move |figures: &Figures, row| figures.sheet.cell(row, &own);
        Self { shows: Shown::Figure(f.clone()), ..Self::new(column, cell) }
    }

    /// The change of a figure against the first row.
    fn versus(column: Column, f: Figure) -> Self {
        Self::new(column, move |figures: &Figures, row| figures.sheet.versus(row, &f))
    }
}

/// The table.
pub fn table(c: &Comparison<'_>, figures: &Figures, view: &View) -> TextTable {
    let parts = parts(c, figures, view);
    let shown: Vec<Shown> = parts.iter().map(|p| p.shows.clone()).collect();
    let mut t = TextTable::new(parts.iter().map(|p| p.column.clone()).collect());
    for row in 0..figures.rows.len() {
        t.row(parts.iter().map(|p| (p.cell)(figures, row)).collect());
        add_faint(&mut t, published::rows(c, Some(row), &shown));
    }
    for failed in &c.failed {
        if t.rows.iter().any(|row| row[0] == failed.label) {
            continue;
        }
        let mut row = vec![String::new(); t.columns.len()];
        row[0].clone_from(&failed.label);
        if let Some(note) = row.last_mut() {
            let reasons = failures(c, &failed.label).into_iter().map(|(why, _)| why);
            *note = reasons.collect::<Vec<_>>().join("; ");
        }
        t.row(row);
    }
    add_faint(&mut t, published::rows(c, None, &shown));
    t
}

fn add_faint(t: &mut TextTable, rows: Vec<Vec<String>>) {
    for row in rows {
        t.faint.push(t.rows.len());
        t.row(row);
    }
}

/// Published numbers that have no place in the main table, beside ours.
pub fn published_table(c: &Comparison<'_>, figures: &Figures, view: &View) -> Option<TextTable> {
    let shown: Vec<Shown> = parts(c, figures, view).into_iter().map(|p| p.shows).collect();
    published::table(c, &figures.sheet, &shown)
}

/// What `weir compare` prints below its title. Remarks stand in the last column where every column
/// fits, and below the table otherwise: a narrow terminal must not hide a deadlock or a loss.
pub fn text(c: &Comparison<'_>, figures: &Figures, view: &View, layout: Layout) -> String {
    let mut t = table(c, figures, view);
    let remarks = match t.fits(layout.width) {
        true => Vec::new(),
        false => take_notes(&mut t, layout.width),
    };
    let left_out =
        if view.columns.is_empty() { left_out(c, figures, &t, layout.width) } else { None };
    let render = |t: TextTable| t.render(layout.width, layout.colour);
    let mut parts = vec![render(t)];
    parts.extend(left_out);
    parts.extend((!remarks.is_empty()).then(|| remarks.join("\n")));
    parts.extend(c.partial_note().map(|note| format!("  {note}")));
    if view.columns.is_empty() {
        parts.extend(by_size(c, figures).map(render));
    }
    parts.extend(published_table(c, figures, view).map(render));
    parts.extend(state_table(c).map(render));
    if c.seeds() > 1 {
        let note = format!(
            "Means over {} seeds; ± is half a 95 % confidence interval, of changes paired by seed.",
            c.seeds()
        );
        let lines = wrap(&note, layout.width.saturating_sub(2).max(20));
        parts.push(lines.iter().map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n"));
    }
    parts.join("\n\n")
}

/// Which classes the table does not show at this width.
fn left_out(c: &Comparison<'_>, figures: &Figures, t: &TextTable, width: usize) -> Option<String> {
    let classes = figures.flow_classes(c);
    let names = classes.iter().map(|&k| c.class_name(k));
    let hidden: Vec<&str> = names.filter(|name| !t.shows_group(name, width)).collect();
    let first = hidden.first()?;
    let note = format!(
        "Not shown: {} of {} classes ({}). `--columns {first}:fct_mean_ps` shows one, `--out` has \
         all.",
        hidden.len(),
        classes.len(),
        hidden.join(", ")
    );
    let lines = wrap(&note, width.saturating_sub(2).max(20));
    Some(lines.iter().map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n"))
}

/// Slowdowns of the primary class by flow size, where the scenario has ranges of sizes.
pub fn by_size(c: &Comparison<'_>, figures: &Figures) -> Option<TextTable> {
    let class = c.class_name(c.primary_class()?);
    let ranges = &c.experiment.scenario.report.sizes;
    let of = |metric: &str, sizes: &str| Figure::of_class(metric, class).of_sizes(sizes);
    let any = |f: &Figure| (0..c.groups.len()).any(|row| figures.sheet.estimate(row, f).is_some());
    let mut parts = Vec::new();
    for (i, range) in ranges.iter().enumerate() {
        for (metric, head, keep) in [("slowdown_mean", "mean", 200), ("slowdown_p99", "p99", 199)] {
            let f = of(metric, &range.label);
            let keep = keep - u8::try_from(2 * i).unwrap_or(u8::MAX).min(keep - 1);
            let column = Column::numbers(head, keep).under(&range.label);
            parts.extend(any(&f).then(|| ShownColumn::figure(column, &f)));
        }
    }
    let name = format!("slowdown of {class} by size");
    let mut t = TextTable::new(vec![Column::words(&name, 255)]);
    t.columns.extend(parts.iter().map(|p| p.column.clone()));
    for (row, group) in c.groups.iter().enumerate() {
        let cells = parts.iter().map(|p| (p.cell)(figures, row));
        t.row(std::iter::once(group.label.clone()).chain(cells).collect());
    }
    (!parts.is_empty()).then_some(t)
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
    let all = t.rows.len() - t.faint.len();
    let lines = notes.iter().flat_map(|(note, names)| {
        let names = match note == ALL_WELL && names.len() == all && all > 3 {
            true => "all".to_owned(),
            false => names.join(", "),
        };
        let text = format!("{names}: {note}");
        let lines = wrap(&text, width.saturating_sub(4).max(20)).into_iter().enumerate();
        lines.map(|(i, line)| if i == 0 { format!("  {line}") } else { format!("    {line}") })
    });
    lines.collect()
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
    let ranges = &c.experiment.scenario.report.sizes;
    for class in c.class_order() {
        for sizes in std::iter::once(None).chain(ranges.iter().map(Some)) {
            for g in &c.groups {
                let s = ClassSummary::of(g, Selection { class: Some(class), sizes });
                if s.own_flows() == 0 {
                    continue;
                }
                let name = c.class_name(class);
                let start = [
                    sizes.map_or_else(|| name.to_owned(), |s| format!("{name}, {s}")),
                    g.label.clone(),
                    format::count(s.own_flows()),
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

/// The columns of the main table: the name of the row first, its remarks last.
fn parts(c: &Comparison<'_>, figures: &Figures, view: &View) -> Vec<ShownColumn> {
    let named = c.groups.iter().any(|g| g.label != g.scheme.title);
    let head = if named { "variant" } else { "scheme" };
    let name =
        ShownColumn::new(Column::words(head, 255), |f: &Figures, row| f.rows[row].label.clone());
    let mut parts = vec![name];
    match view.columns.as_slice() {
        [] => {
            let classes = figures.flow_classes(c);
            let shown = &classes[..classes.len().min(MOST_CLASSES)];
            parts.extend(of_jobs(c, figures));
            for (i, &class) in shown.iter().enumerate() {
                parts.extend(of_class(c, figures, class, i));
            }
            parts.extend(of_run(c, figures));
        }
        some => parts.extend(some.iter().enumerate().flat_map(|(i, f)| chosen(c, f, i))),
    }
    parts.push(ShownColumn::new(Column::words("notes", 110), |f: &Figures, row| {
        match f.rows[row].notes.as_slice() {
            [] => ALL_WELL.into(),
            some => some.join("; "),
        }
    }));
    parts
}

fn versus_head(c: &Comparison<'_>) -> String {
    format!("vs {}", c.groups.first().map_or("", |g| &g.label))
}

/// The columns of a figure that was asked for, the `i`-th.
fn chosen(c: &Comparison<'_>, f: &Figure, i: usize) -> Vec<ShownColumn> {
    let last = |from: u8| from.saturating_sub(u8::try_from(i).unwrap_or(u8::MAX)).max(12);
    let whose = f.whose();
    let mut parts =
        vec![ShownColumn::figure(Column::numbers(f.metric.name, last(250)).under(&whose), f)];
    if c.groups.len() > 1 && f.metric.is_number() {
        // changes go before figures that were asked for
        let column = Column::numbers(&versus_head(c), last(100)).under(&whose);
        parts.push(ShownColumn::versus(column, f.clone()));
    }
    parts
}

/// The columns of a class, the `i`-th that is shown.
fn of_class(c: &Comparison<'_>, figures: &Figures, class: ClassId, i: usize) -> Vec<ShownColumn> {
    // the third class goes before the columns that say how a result came about
    let keep = [190, 160, 70][i.min(2)];
    let name = c.class_name(class);
    let several = figures.of(class).any(|s| s.most > 1);
    // flows that never end have a rate instead
    let rates = figures.of(class).any(|s| s.rate_mean.is_some());
    let endless = figures.of(class).all(|s| s.completed == 0) && rates;
    let head = match (several, endless) {
        (true, false) => "mean FCT",
        (false, false) => "FCT",
        (true, true) => "mean rate",
        (false, true) => "rate",
    };
    let figure = |metric: &str| Figure::of_class(metric, name);
    let mean = figure(if endless { "rate_mean_bps" } else { "fct_mean_ps" });
    let column = |head: &str, keep: u8| Column::numbers(head, keep).under(name);
    let mut parts = vec![
        ShownColumn::figure(column(head, keep), &mean),
        ShownColumn::versus(column(&versus_head(c), keep - 10), mean),
    ];
    if endless {
        return parts;
    }
    if several {
        parts.push(ShownColumn::figure(column("p99 FCT", 30), &figure("fct_p99_ps")));
    }
    // of a single flow the slowdown says what its time says
    let [mean, p99] = if several { [keep - 12, keep - 11] } else { [20, 20] };
    parts.push(ShownColumn::figure(column("slowdown", mean), &figure("slowdown_mean")));
    if several {
        parts.push(ShownColumn::figure(column("its p99", p99), &figure("slowdown_p99")));
    }
    parts
}

/// The columns of the steps of jobs.
fn of_jobs(c: &Comparison<'_>, figures: &Figures) -> Vec<ShownColumn> {
    if c.experiment.traffic.jobs().is_empty() {
        return Vec::new();
    }
    let figure = |metric: &str| Figure::of_class(metric, "");
    let column = |head: &str, keep: u8| Column::numbers(head, keep).under("step");
    let [mean, exposed] = ["step_mean_ps", "exposed_mean_ps"].map(figure);
    let of = |row: usize, f: &Figure| figures.sheet.estimate(row, f).map(|e| e.mean);
    // of what computes nothing all is communication
    let computes = (0..figures.rows.len()).any(|row| of(row, &mean) != of(row, &exposed));
    let mut parts = vec![
        ShownColumn::figure(column("mean", 200), &mean),
        ShownColumn::versus(column(&versus_head(c), 198), mean),
        ShownColumn::figure(column("max", 100), &figure("step_max_ps")),
    ];
    if computes {
        parts.push(ShownColumn::figure(column("exposed", 196), &exposed));
        parts.push(ShownColumn::versus(column(&versus_head(c), 95), exposed));
    }
    parts
}

/// The columns that say how a result came about.
fn of_run(c: &Comparison<'_>, figures: &Figures) -> Vec<ShownColumn> {
    let same = figures.hottest.windows(2).all(|pair| pair[0] == pair[1]) && c.one_network();
    let port = match figures.hottest.first() {
        Some(port) if same => format!("queue {}", port.name(&c.experiment.topology)),
        _ => "longest queue".to_owned(),
    };
    let primary = c.primary_class().map_or("flows", |k| c.class_name(k));
    let of_all = |metric: &str| Figure::of_class(metric, "");
    let queue = |head: &str, keep, shows, of: fn(&VariantRow) -> Option<Estimate>| ShownColumn {
        shows,
        ..ShownColumn::new(Column::numbers(head, keep).under(&port), move |f: &Figures, row| {
            estimate(of(&f.rows[row]), format::bytes_f64)
        })
    };
    vec![
        queue("mean", 120, Shown::QueueMean, |r| r.queue_mean),
        queue("max", 80, Shown::QueueMax, |r| r.queue_max),
        ShownColumn::figure(Column::numbers("sent", 90).under("pauses"), &of_all("pauses_sent")),
        ShownColumn::new(Column::numbers("held for", 140).under(primary), held),
        ShownColumn::figure(
            Column::numbers("bytes", 50).under("control"),
            &of_all("control_bytes"),
        ),
    ]
}

fn held(figures: &Figures, row: usize) -> String {
    let row = &figures.rows[row];
    let held = estimate(row.innocent_hold, format::time_ps);
    match (row.at_least, row.at_most) {
        (true, _) => format!(">= {held}"),
        (false, true) => format!("<= {held}"),
        (false, false) => held,
    }
}
