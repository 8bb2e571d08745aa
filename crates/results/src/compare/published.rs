//! Published numbers beside ours: rows of the main table where they fit one of its columns, and a
//! table of their own.

use super::columns::{Figure, Sheet};
use crate::comparison::{Comparison, Group};
use crate::findings::TableSummary;
use crate::reference::{Measure, Published};
use crate::table::{Column, TextTable};
use weir_core::format;

/// Whether a published number is about a row.
fn about(r: &Published, g: &Group<'_>) -> bool {
    match &r.about.variant {
        Some(label) => *label == g.label,
        None => r.about.scheme.as_deref() == Some(g.scheme.name),
    }
}

/// The row a published number is about; of several variants of a scheme, the first.
fn row_of(c: &Comparison<'_>, r: &Published) -> Option<usize> {
    c.groups.iter().position(|g| about(r, g))
}

/// Whether the program can run what a published number is about.
fn can_run(c: &Comparison<'_>, r: &Published) -> bool {
    match &r.about.variant {
        Some(label) => c.experiment.scenario.variants.iter().any(|v| v.label == *label),
        None => r.about.scheme.as_deref().is_some_and(|name| weir_fc::scheme(name).is_some()),
    }
}

/// What a published number calls its row.
fn title(r: &Published) -> &str {
    let scheme = r.about.scheme.as_deref().unwrap_or_default();
    let scheme = weir_fc::scheme(scheme).map_or(scheme, |s| s.title);
    r.about.variant.as_deref().unwrap_or(scheme)
}

/// What a column of the main table shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Names, changes and remarks: no published number stands there.
    Other,
    /// A figure.
    Figure(Figure),
    /// The mean queue at the hottest port of the first row.
    QueueMean,
    /// The longest queue there.
    QueueMax,
}

impl Shown {
    fn takes(&self, r: &Published) -> bool {
        let class = r.about.class.as_deref().unwrap_or_default();
        let sizes = r.about.sizes.as_deref().unwrap_or_default();
        match (self, &r.measure) {
            _ if r.about.against.is_some() => false,
            (Self::QueueMean, Measure::QueueMean) | (Self::QueueMax, Measure::QueueMax) => true,
            (Self::Figure(f), Measure::Figure(m)) => {
                // the longest of a class that has one flow is its mean
                let alike = f.metric.name == "fct_mean_ps" && m.name == "fct_max_ps";
                (f.metric == *m || alike) && f.class == class && f.sizes == sizes
            }
            _ => false,
        }
    }
}

/// Whether a published number has a place in a table with these columns.
fn inline(r: &Published, columns: &[Shown]) -> bool {
    columns.iter().any(|c| c.takes(r))
}

/// Rows with published numbers for row `at`, or for what cannot be run: one per source, names
/// and the other cells, the source in the last one.
pub(super) fn rows(c: &Comparison<'_>, at: Option<usize>, columns: &[Shown]) -> Vec<Vec<String>> {
    // a row that could have been run and was not is not to be taken for one of its neighbours
    let left_out = |r: &Published| at.is_none() && can_run(c, r);
    let here = |r: &&Published| row_of(c, r) == at && inline(r, columns) && !left_out(r);
    let all: Vec<&Published> = c.published.iter().filter(here).collect();
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for r in &all {
        let key = (title(r), r.about.source.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let row = |&(name, source): &(&str, &str)| {
        let cell = |shown: &Shown| {
            let own =
                |r: &&&Published| title(r) == name && r.about.source == source && shown.takes(r);
            all.iter().find(own).map_or_else(String::new, |r| format::quantity(r.unit(), r.value))
        };
        let mut cells = vec![format!("{name} paper")];
        cells.extend(columns[1..columns.len() - 1].iter().map(cell));
        cells.push(source.to_owned());
        cells
    };
    keys.iter().map(row).collect()
}

/// Published numbers that no column of the main table shows, each beside ours; `None` without any.
pub(super) fn table(c: &Comparison<'_>, sheet: &Sheet, columns: &[Shown]) -> Option<TextTable> {
    let mut t = TextTable::new(vec![
        Column::words("published", 20),
        Column::words("of", 17),
        Column::words("figure", 19),
        Column::numbers("ours", 18),
        Column::numbers("paper", 18),
        Column::words("", 10),
    ]);
    for r in &c.published {
        let Measure::Figure(metric) = &r.measure else { continue };
        if inline(r, columns) {
            continue;
        }
        let class = r.about.class.clone().unwrap_or_default();
        let sizes = r.about.sizes.clone().unwrap_or_default();
        let f = Figure { metric: *metric, class, sizes };
        let row = row_of(c, r);
        let (name, ours) = match &r.about.against {
            None => (title(r).to_owned(), row.map(|row| sheet.cell(row, &f))),
            Some(other) => {
                let base = c.groups.iter().position(|g| g.label == *other);
                let ratio = row.zip(base).and_then(|(row, base)| sheet.ratio(row, base, &f));
                let show = |e| super::estimate(Some(e), format::significant);
                (format!("{} over {other}", title(r)), ratio.map(show))
            }
        };
        t.row(vec![
            name,
            f.whose(),
            f.metric.name.to_owned(),
            ours.unwrap_or_else(|| "-".into()),
            format::quantity(r.unit(), r.value),
            r.about.source.clone(),
        ]);
    }
    (!t.rows.is_empty()).then_some(t)
}

/// The tables that schemes keep in their switches, beside published sizes; `None` when the
/// scenario has none of these.
pub fn state_table(c: &Comparison<'_>) -> Option<TextTable> {
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
        for table in TableSummary::of(group.outcomes()) {
            let here = |r: &&Published| match &r.measure {
                Measure::Table(name) => about(r, group) && name == table.name,
                _ => false,
            };
            let Some(r) = c.published.iter().find(here) else { continue };
            t.row(vec![
                group.label.clone(),
                table.name.to_owned(),
                format::bytes_f64(table.mean),
                format::bytes_f64(table.max as f64),
                // a conjecture about the published numbers, and marked as such
                format!("{} (?)", format::bytes(table.at_load_factor())),
                format::bytes_f64(r.value),
                r.about.source.clone(),
            ]);
        }
    }
    (!t.rows.is_empty()).then_some(t)
}
