//! Columns of comparisons, by the names of metrics: `slowdown_p99`, `victim:fct_mean_ps`,
//! `slowdown_p99@0..10KB`.

use crate::column::Heading;
use crate::comparison::Comparison;
use crate::listing::{Layout, wrap};
use crate::metrics::{self, Figures};
use crate::stats::change_within;
use crate::stats::{Change, Estimate};
use weir_core::format;
use weir_net::nearest;
use weir_scenario::experiment::Experiment;

/// A figure that can be asked of every run: a metric of all flows, or of some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The metric.
    pub metric: Heading,
    /// Only flows of this class; empty: all.
    pub class: String,
    /// Only flows of this range of sizes; empty: all.
    pub sizes: String,
}

/// How columns are written, for help and errors.
pub const SYNTAX: &str = "[CLASS:]METRIC[@SIZES]";

impl Figure {
    /// A metric of the flows of a class.
    pub(super) fn of_class(name: &str, class: &str) -> Self {
        let metric = metrics::find(name).expect("a metric in the table");
        Self { metric, class: class.to_owned(), sizes: String::new() }
    }

    /// The same of a range of sizes.
    pub(super) fn of_sizes(self, sizes: &str) -> Self {
        Self { sizes: sizes.to_owned(), ..self }
    }

    /// Reads `[CLASS:]METRIC[@SIZES]` for an experiment.
    pub fn read(text: &str, e: &Experiment) -> Result<Self, String> {
        let (class, rest) = match text.rsplit_once(':') {
            Some((class, rest)) => (class.trim(), rest.trim()),
            None => ("", text.trim()),
        };
        let (name, sizes) = match rest.split_once('@') {
            Some((name, sizes)) => (name.trim(), sizes.trim()),
            None => (rest, ""),
        };
        let Some(metric) = metrics::find(name) else {
            let near = nearest(&name.replace('-', "_"), metrics::all().iter().map(|m| m.name));
            let hint = near.map_or_else(String::new, |n| format!(": did you mean `{n}`?"));
            return Err(format!("there is no column `{name}`{hint} (`--columns list` shows all)"));
        };
        Self::checked(metric, class, sizes, e)
    }

    /// A metric of the flows of a class and a range of sizes, if an experiment has them.
    pub(crate) fn checked(
        metric: Heading,
        class: &str,
        sizes: &str,
        e: &Experiment,
    ) -> Result<Self, String> {
        if !metrics::is_of_flows(metric.name) && (class, sizes) != ("", "") {
            let what = if class.is_empty() { sizes } else { class };
            return Err(format!(
                "`{}` is a metric of the whole run, not of flows: omit `{what}`",
                metric.name
            ));
        }
        if !class.is_empty() && !e.classes().iter().any(|c| c == class) {
            let near = nearest(class, e.classes().iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |n| format!(", did you mean `{n}`"));
            let all = e.classes().join(", ");
            return Err(format!("no traffic has the class `{class}`{hint}: the classes are {all}"));
        }
        let ranges = &e.scenario.report.sizes;
        let plain: String = sizes.chars().filter(|c| !c.is_whitespace()).collect();
        if !plain.is_empty() && !ranges.iter().any(|r| r.label == plain) {
            let all: Vec<&str> = ranges.iter().map(|r| r.label.as_str()).collect();
            let there = match all.is_empty() {
                true => "the scenario has none".to_owned(),
                false => format!("there are {}", all.join(", ")),
            };
            return Err(format!(
                "`{sizes}` is not a range of `sizes` in `[report]`: {there} (add it with \
                 `--set 'report.sizes=[\"{sizes}\"]'`)"
            ));
        }
        Ok(Self { metric, class: class.to_owned(), sizes: plain })
    }

    /// Whose flows it is about, for the heading above it.
    pub fn whose(&self) -> String {
        match (self.class.as_str(), self.sizes.as_str()) {
            (class, "") => class.to_owned(),
            ("", sizes) => sizes.to_owned(),
            (class, sizes) => format!("{class}, {sizes}"),
        }
    }
}

/// The figures of all runs of a comparison, by row and seed.
#[derive(Clone, Debug)]
pub struct Sheet {
    rows: Vec<Vec<(u64, Figures)>>,
}

impl Sheet {
    /// Takes them out of the runs.
    pub fn new(c: &Comparison<'_>) -> Self {
        let row = |g: &crate::comparison::Group<'_>| {
            let of = |r: &crate::run::Run| (r.variant.seed, Figures::new(g.experiment, r));
            g.runs.iter().map(of).collect()
        };
        Self { rows: c.groups.iter().map(row).collect() }
    }

    /// A figure of one row by seed, as far as runs have it.
    fn by_seed(&self, row: usize, f: &Figure) -> Vec<(u64, f64)> {
        let of = |(seed, all): &(u64, Figures)| {
            Some((*seed, all.value(f.metric.name, &f.class, &f.sizes)?.number()?))
        };
        self.rows[row].iter().filter_map(of).collect()
    }

    /// The mean over seeds with its interval.
    pub fn estimate(&self, row: usize, f: &Figure) -> Option<Estimate> {
        Estimate::new(&self.by_seed(row, f).iter().map(|(_, x)| *x).collect::<Vec<_>>())
    }

    /// This row and another with the same seeds.
    fn pairs(&self, row: usize, other: usize, f: &Figure) -> Vec<(f64, f64)> {
        let theirs = self.by_seed(other, f);
        let pair = |(seed, x): (u64, f64)| {
            let (_, y) = theirs.iter().find(|(s, _)| *s == seed)?;
            Some((x, *y))
        };
        self.by_seed(row, f).into_iter().filter_map(pair).collect()
    }

    /// How much a row differs from another, seed by seed.
    pub fn change(&self, row: usize, other: usize, f: &Figure) -> Option<Change> {
        Change::paired(&self.pairs(row, other, f))
    }

    /// How many times a row is what another is, seed by seed.
    pub fn ratio(&self, row: usize, other: usize, f: &Figure) -> Option<Estimate> {
        let pairs = self.pairs(row, other, f);
        let ratios = pairs.iter().filter(|(_, y)| *y != 0.0).map(|(x, y)| x / y);
        Estimate::new(&ratios.collect::<Vec<_>>())
    }

    /// A cell of a table: the mean with its interval, or the words of all seeds.
    pub(super) fn cell(&self, row: usize, f: &Figure) -> String {
        if f.metric.is_number() {
            return super::estimate(self.estimate(row, f), |x| format::quantity(f.metric.unit, x));
        }
        let mut words: Vec<&str> = Vec::new();
        for (_, all) in &self.rows[row] {
            let word = all.value(f.metric.name, &f.class, &f.sizes).map_or("", |v| v.word());
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words.join(", ")
    }

    /// The change against the first row as a cell.
    pub(super) fn versus(&self, row: usize, f: &Figure) -> String {
        let change = if row == 0 { None } else { self.change(row, 0, f) };
        change.map_or_else(String::new, change_within)
    }
}

/// What `--columns list` prints.
pub fn list(layout: Layout) -> String {
    let wide = metrics::all().iter().map(|m| m.name.len()).max().unwrap_or(0);
    let room = layout.width.saturating_sub(wide + 4).clamp(20, 100);
    let mut lines = Vec::new();
    let mut part = |title: &str, of_flows: bool| {
        lines.push(title.to_owned());
        for m in metrics::all().iter().filter(|m| metrics::is_of_flows(m.name) == of_flows) {
            for (i, text) in wrap(m.doc, room).into_iter().enumerate() {
                let name = if i == 0 { m.name } else { "" };
                lines.push(format!("  {name:wide$}  {text}"));
            }
        }
        lines.push(String::new());
    };
    part("Of flows: all of them, of a class (victim:fct_mean_ps), of a range of sizes", true);
    part("Of runs", false);
    lines.push(format!("Columns are written {SYNTAX}; SIZES is a range of `[report] sizes`:"));
    lines.push("  --columns slowdown_mean,slowdown_p99@0..10KB,incast:fct_p99_ps,deadlock".into());
    lines.join("\n")
}
