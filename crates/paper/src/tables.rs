//! The numbers of an experiment, by selector.

use super::flow_sizes::FlowSizes;
use super::select::{Scope, Selector, same_value};
use std::collections::BTreeMap;
use weir_results::metrics::{Family, Figures};
use weir_results::sheet::Sheet;
use weir_results::starts::Starts;
use weir_stats::warmup::BATCH;
use weir_sweep::plan::Plan;
use weir_sweep::record::Status;
use weir_sweep::store::Results;

/// One variant at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The label of the variant.
    pub variant: String,
    /// The parameters, as the grid writes them.
    pub values: Vec<String>,
    /// The number of each seed that has one.
    pub seeds: Vec<(u64, f64)>,
    /// Seeds without a number, and why.
    pub missing: Vec<(u64, String)>,
}

/// One run, or the place of one that has no result.
#[derive(Clone, Debug)]
struct RunRow {
    cell: usize,
    seed: u64,
    /// What names it among all runs: the same settings have the same name; empty if only its
    /// numbers were published.
    run: String,
    result: Result<Content, String>,
    /// How its flows fared by when they started, in batches.
    starts: Option<Starts>,
}

/// What was published of a run.
#[derive(Clone, Debug)]
pub(super) struct PublishedRun {
    /// Its variant and the values of its parameters.
    pub(super) cell: (String, Vec<String>),
    pub(super) seed: u64,
    pub(super) digest: String,
    /// Numbers by column.
    pub(super) numbers: Vec<Option<f64>>,
}

/// What is known of a run.
#[derive(Clone, Debug)]
enum Content {
    /// All its figures.
    Figures(Box<Figures>),
    /// Its digest and what was published of it, by column.
    Published(String, Vec<Option<f64>>),
}

/// The results of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Names of the parameters, as the grid writes them.
    pub parameters: Vec<String>,
    /// Labels of the variants, in order.
    pub variants: Vec<String>,
    /// Variant and values of each cell, in the order of the grid.
    cells: Vec<(String, Vec<String>)>,
    rows: Vec<RunRow>,
    /// Columns of what was published.
    columns: Vec<String>,
    /// Whether nothing in the runs is random.
    pub deterministic: bool,
    /// Whether claims about them are about a steady state.
    pub steady: bool,
    /// Shares by cell, for experiments without runs.
    shares: Vec<f64>,
    metric: &'static str,
    /// Processor time of all runs.
    pub cpu_seconds: f64,
    /// Runs whose result breaks a promise: a lossless scheme lost packets.
    pub invalid: usize,
}

impl Tables {
    /// Of a sweep: what has a result, and what has none.
    pub fn new(scope: &Scope, plan: &Plan, results: &Results) -> Self {
        let cells: Vec<_> =
            plan.cells.iter().map(|c| (c.variant.clone(), c.values.clone())).collect();
        let mut tables = Self {
            parameters: scope.parameters.clone(),
            variants: in_order(cells.iter().map(|(variant, _)| variant.as_str())),
            cells,
            deterministic: scope.deterministic,
            steady: scope.steady,
            ..Self::default()
        };
        for run in &plan.runs {
            let known = results.of(&run.id);
            let failed = || known.and_then(|k| k.failed());
            let record = known.and_then(|k| k.result.as_ref());
            let result = match record.and_then(|r| r.figures.clone()) {
                Some(figures) => Ok(Content::Figures(Box::new(figures))),
                None => Err(match failed() {
                    Some(failure) => format!("the run failed: {}", failure.reason),
                    None => "it was not run".to_owned(),
                }),
            };
            if let Some(record) = record {
                tables.cpu_seconds += record.cpu_seconds;
                tables.invalid += usize::from(record.status == Status::Invalid);
            }
            let starts = record.and_then(|r| r.starts.as_ref()).map(|s| s.merged(BATCH));
            let (cell, seed, run) = (run.cell, run.seed, run.id.clone());
            tables.rows.push(RunRow { cell, seed, run, result, starts });
        }
        tables
    }

    /// Of size tables, without a run.
    pub fn of_sizes(sizes: &FlowSizes) -> Self {
        let mut tables = Self {
            parameters: sizes.parameters.clone(),
            variants: sizes.tables.iter().map(|(label, _)| label.clone()).collect(),
            metric: sizes.metric,
            deterministic: true,
            ..Self::default()
        };
        for (t, (label, _)) in sizes.tables.iter().enumerate() {
            for (p, (values, ..)) in sizes.points.iter().enumerate() {
                tables.cells.push((label.clone(), values.clone()));
                tables.shares.push(sizes.share(t, p));
            }
        }
        tables
    }

    /// The shares of an experiment without runs as a table.
    pub fn shares_csv(&self) -> Vec<u8> {
        let rows: Vec<(&(String, Vec<String>), &f64)> =
            self.cells.iter().zip(&self.shares).collect();
        Sheet::new()
            .column("variant", |(cell, _): &(&(String, Vec<String>), &f64)| cell.0.as_str())
            .each(self.parameters.iter().map(String::as_str), |(cell, _), i| cell.1[i].as_str())
            .column(self.metric, |(_, share)| **share)
            .csv(&rows)
    }

    /// How many runs there are, and how many of them have a result.
    pub fn counts(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.iter().filter(|r| r.result.is_ok()).count())
    }

    /// Whether a point has the values that a selector states.
    fn fits(&self, s: &Selector, values: &[String]) -> bool {
        s.at.iter().all(|(name, value)| {
            let at = self.parameters.iter().position(|p| p == name);
            at.is_some_and(|i| same_value(&values[i], value))
        })
    }

    /// How flows fared by when they started, of a variant at each point that is meant: the values
    /// of its parameters and the series of all seeds, `None` where a run has none.
    pub(super) fn starts(
        &self,
        variant: &str,
        s: &Selector,
    ) -> Vec<(&[String], Option<Vec<&Starts>>)> {
        let of = |cell: usize| {
            let rows = self.rows.iter().filter(|row| row.cell == cell);
            rows.map(|row| row.starts.as_ref()).collect()
        };
        let cells = self.cells.iter().enumerate();
        let meant = cells.filter(|(_, (own, values))| own == variant && self.fits(s, values));
        meant.map(|(i, (_, values))| (values.as_slice(), of(i))).collect()
    }

    /// All series, with the variant, values and seed of their run.
    pub(super) fn series(&self) -> impl Iterator<Item = (Vec<String>, &Starts)> {
        self.rows.iter().filter_map(|row| Some((self.key(row), row.starts.as_ref()?)))
    }

    /// What names a run: variant, values and seed.
    fn key(&self, row: &RunRow) -> Vec<String> {
        let (variant, values) = &self.cells[row.cell];
        let own = std::iter::once(variant).chain(values).cloned();
        own.chain([row.seed.to_string()]).collect()
    }

    /// Takes the series of a run; `Err` if there is no such run.
    pub(super) fn add_series(&mut self, run: &[String], starts: Starts) -> Result<(), String> {
        let at = (0..self.rows.len()).find(|&i| self.key(&self.rows[i]) == run);
        let at = at.ok_or_else(|| format!("there is no run {}", run.join(", ")))?;
        self.rows[at].starts = Some(starts);
        Ok(())
    }

    /// The numbers that are meant, a cell per variant and point in the order of the grid.
    pub fn select(&self, s: &Selector) -> Vec<Cell> {
        let mut found: Vec<(usize, Cell)> = Vec::new();
        let mut place = vec![usize::MAX; self.cells.len()];
        for (i, (variant, values)) in self.cells.iter().enumerate() {
            if self.fits(s, values) {
                place[i] = found.len();
                let (variant, values) = (variant.clone(), values.clone());
                let (seeds, missing) = (Vec::new(), Vec::new());
                found.push((i, Cell { variant, values, seeds, missing }));
            }
        }
        if !self.shares.is_empty() {
            for (i, cell) in &mut found {
                match s.metric == self.metric {
                    true => cell.seeds.push((0, self.shares[*i])),
                    false => cell.missing.push((0, format!("there is no `{}` here", s.metric))),
                }
            }
        }
        for row in self.rows.iter().filter(|r| place[r.cell] != usize::MAX) {
            let cell = &mut found[place[row.cell]].1;
            match self.number(row, s) {
                Ok(number) => cell.seeds.push((row.seed, number)),
                Err(why) => cell.missing.push((row.seed, why)),
            }
        }
        found.into_iter().map(|(_, cell)| cell).collect()
    }

    fn number(&self, row: &RunRow, s: &Selector) -> Result<f64, String> {
        match row.result.as_ref().map_err(Clone::clone)? {
            Content::Figures(figures) => number(figures, s),
            Content::Published(_, numbers) => {
                let name = s.column();
                let at = self.columns.iter().position(|column| *column == name);
                let at = at.ok_or_else(|| format!("`{name}` was not published"))?;
                numbers[at].ok_or_else(|| format!("it has no `{}`", s.metric))
            }
        }
    }

    /// A row per run for publishing: variant, parameters, seed, digest, and a number per selector.
    pub(super) fn published(&self, selectors: &[Selector]) -> Vec<u8> {
        Sheet::new()
            .column("variant", |row: &RunRow| self.cells[row.cell].0.as_str())
            .each(self.parameters.iter().map(String::as_str), |row, i| {
                self.cells[row.cell].1[i].as_str()
            })
            .column("seed", |row| row.seed)
            .column("digest", digest)
            .each(selectors.iter().map(Selector::column), |row, i| {
                self.number(row, &selectors[i]).ok().map(|x| x.to_string())
            })
            .csv(&self.rows)
    }

    /// What was published.
    pub(super) fn of_published(
        scope: &Scope,
        columns: Vec<String>,
        runs: Vec<PublishedRun>,
    ) -> Self {
        let (parameters, deterministic) = (scope.parameters.clone(), scope.deterministic);
        let steady = scope.steady;
        let mut tables = Self { parameters, columns, deterministic, steady, ..Self::default() };
        for PublishedRun { cell, seed, digest, numbers } in runs {
            let at = tables.cells.iter().rposition(|known| *known == cell);
            let cell = at.unwrap_or_else(|| {
                tables.cells.push(cell);
                tables.cells.len() - 1
            });
            let result = Ok(Content::Published(digest, numbers));
            let run = String::new();
            tables.rows.push(RunRow { cell, seed, run, result, starts: None });
        }
        tables.variants = in_order(tables.cells.iter().map(|(variant, _)| variant.as_str()));
        tables
    }

    /// Whether two variants are the same runs under two names, wherever both have some.
    pub(super) fn are_same_runs(&self, one: &str, other: &str) -> bool {
        let of = |variant: &str| -> BTreeMap<(&[String], u64), &str> {
            let own = self.rows.iter().filter(|row| self.cells[row.cell].0 == variant);
            let at = |row: &RunRow| (self.cells[row.cell].1.as_slice(), row.seed);
            own.map(|row| (at(row), row.run.as_str())).collect()
        };
        let (one, other) = (of(one), of(other));
        let common = one.iter().filter_map(|(at, run)| Some((run, other.get(at)?)));
        let mut common = common.peekable();
        common.peek().is_some() && common.all(|(a, b)| !a.is_empty() && a == b)
    }
}

/// The digest of a run; empty without a result.
fn digest(row: &RunRow) -> String {
    match &row.result {
        Ok(Content::Figures(figures)) => {
            let at = Family::Runs.position("digest");
            let run = figures.row(Family::Runs, &[]);
            at.zip(run).map_or_else(String::new, |(at, row)| row[at].to_string())
        }
        Ok(Content::Published(digest, _)) => digest.clone(),
        Err(_) => String::new(),
    }
}

fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    }
    all
}

/// The number that a selector means in the figures of one run, or why there is none.
pub fn number(figures: &Figures, s: &Selector) -> Result<f64, String> {
    let (family, metric) = (s.family(), &s.metric);
    let at = family.position(metric).ok_or_else(|| format!("there is no metric `{metric}`"))?;
    let ports = if s.ports == "*" { "" } else { &s.ports };
    let row = match family {
        Family::Runs => figures.row(family, &[]),
        Family::Classes => figures.row(family, &[&s.class, &s.sizes]),
        Family::Ports => figures.row(family, &[ports]),
        Family::State => figures.row(family, &[&s.table]),
    };
    let row = row.ok_or_else(|| match family {
        Family::Classes if s.sizes.is_empty() => format!("no flow is of class `{}`", s.class),
        Family::Classes => format!("no flow has a size in `{}`", s.sizes),
        Family::Ports => format!("there is no group of ports `{}`", s.ports),
        Family::Runs | Family::State => {
            let names: Vec<&str> = figures.rows(family).iter().map(|row| row[0].word()).collect();
            match names.is_empty() {
                true => "the scheme keeps no tables".to_owned(),
                false => format!("no table `{}`: there are {}", s.table, names.join(", ")),
            }
        }
    })?;
    row[at].number().ok_or_else(|| format!("it has no `{metric}`"))
}

#[cfg(test)]
impl Tables {
    /// Tables with one metric of runs, made by hand: variant, values of the parameters, numbers of
    /// seeds 1, 2, ...
    pub(super) fn by_hand(
        parameters: &[&str],
        metric: &str,
        cells: &[(&str, &[&str], &[f64])],
    ) -> Self {
        let mut tables = Self {
            parameters: parameters.iter().map(|p| (*p).to_owned()).collect(),
            variants: in_order(cells.iter().map(|(variant, ..)| *variant)),
            ..Self::default()
        };
        for (cell, (variant, values, numbers)) in cells.iter().enumerate() {
            let values = values.iter().map(|v| (*v).to_owned()).collect();
            tables.cells.push(((*variant).to_owned(), values));
            for (seed, x) in numbers.iter().enumerate() {
                // a number that is none stands for a run without this figure
                let figures = Box::new(Figures::by_hand(metric, (*x).into()));
                let result = Ok(Content::Figures(figures));
                let seed = seed as u64 + 1;
                let run = format!("{cell}, {seed}");
                tables.rows.push(RunRow { cell, seed, run, result, starts: None });
            }
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_with_the_same_settings_are_the_same_runs() {
        let two: &[f64] = &[1.0, 2.0];
        let cells = ["A", "B", "C"].map(|v| (v, &["60"][..], two));
        let mut tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
        assert!(!tables.are_same_runs("A", "B"), "the same numbers are not the same runs");
        // B is A under another name; C shares one of two runs with it
        for (row, name) in [(0, "x"), (1, "y"), (2, "x"), (3, "y"), (4, "x"), (5, "z")] {
            tables.rows[row].run = name.into();
        }
        let same = |other| tables.are_same_runs("A", other);
        assert_eq!([same("B"), same("C"), same("D")], [true, false, false]);
        // of published numbers nobody knows which run they are of
        tables.rows.iter_mut().for_each(|row| row.run.clear());
        assert!(!tables.are_same_runs("A", "B"));
    }
}
