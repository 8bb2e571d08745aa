//! Tables of probes as files: `probe-NAME.csv`, with the columns that the probe declares.
//!
//! The prefix keeps them apart from all other files, whatever a probe is called.

use super::cells::Cells;
use super::tables::{Row, Table, names};
use crate::experiment::Experiment;
use crate::findings::Comparison;
use crate::run::Run;
use serde_json::{Value, json};
use weir_sim::outcome::{Cell, CellKind, Measurement};

/// What the names of these files begin with.
const PREFIX: &str = "probe-";

/// The columns that every table begins with.
const OF_THE_RUN: [&str; 3] = ["variant", "scheme", "seed"];

/// Whether this is the name of such a file.
pub(super) fn is_file(name: &str) -> bool {
    name.starts_with(PREFIX) && (name.ends_with(".csv") || name.ends_with(".parquet"))
}

/// A table of a probe, all runs in it.
pub(super) struct ProbeTable<'a> {
    name: String,
    columns: Vec<&'a str>,
    text: Vec<&'a str>,
    real: Vec<&'a str>,
    runs: Vec<(&'a Experiment, &'a Run, &'a Measurement)>,
}

impl<'a> ProbeTable<'a> {
    fn new(of: &'a Measurement) -> Self {
        let kinds = |wanted: fn(CellKind) -> bool| {
            of.columns.iter().filter(move |c| wanted(c.kind)).map(|c| c.name)
        };
        let is_text = |kind| !matches!(kind, CellKind::Whole | CellKind::Real);
        Self {
            name: format!("{PREFIX}{}", of.name),
            columns: OF_THE_RUN.into_iter().chain(of.columns.iter().map(|c| c.name)).collect(),
            text: ["variant", "scheme"].into_iter().chain(kinds(is_text)).collect(),
            real: kinds(|kind| kind == CellKind::Real).collect(),
            runs: Vec::new(),
        }
    }

    /// The same, as all tables are written.
    pub(super) fn table(&self) -> Table<'_> {
        let rows = self
            .runs
            .iter()
            .flat_map(|&(e, run, of)| of.rows().map(move |row| Row::Made(cells(e, run, row))));
        Table {
            name: &self.name,
            columns: &self.columns,
            text: &self.text,
            real: &self.real,
            rows: Box::new(rows),
        }
    }

    /// The name of its file, without ending.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// The tables of all probes that have columns, in the order in which runs name them.
pub(super) fn tables<'a>(c: &'a Comparison<'_>) -> Vec<ProbeTable<'a>> {
    let mut all: Vec<ProbeTable<'a>> = Vec::new();
    for (e, run) in c.runs_with() {
        for of in &run.outcome.measurements {
            let fresh = ProbeTable::new(of);
            let at = all.iter().position(|t| t.name == fresh.name).unwrap_or_else(|| {
                all.push(ProbeTable::new(of));
                all.len() - 1
            });
            // a name stands for one probe: `ProbeInfo::name`
            assert_eq!(all[at].columns, fresh.columns, "two probes are called `{}`", of.name);
            all[at].runs.push((e, run, of));
        }
    }
    all
}

fn cells(e: &Experiment, run: &Run, row: &[Cell]) -> Cells {
    let mut cells = Cells::default();
    names(&mut cells, run);
    for cell in row {
        match *cell {
            Cell::Empty => cells.maybe(None),
            Cell::Node(node) => cells.word(e.topology.name(node)),
            Cell::Port(node, port) => cells.port(&e.topology, node, port),
            Cell::Flow(flow) => cells.word(&flow.to_string()),
            Cell::Whole(n) => cells.whole(n),
            // the shortest text that reads back as the same number
            Cell::Real(x) => cells.word(&x.to_string()),
            Cell::Word(word) => cells.word(word),
        };
    }
    cells
}

/// What the columns of these tables mean, for `summary.json`.
pub(super) fn dictionary(run: &Run) -> Vec<Value> {
    let tables = run.outcome.measurements.iter();
    let each = |of: &Measurement| {
        let columns = of.columns.iter().map(
            |c| json!({ "name": c.name, "kind": c.kind.name(), "unit": c.unit, "doc": c.doc }),
        );
        json!({
            "probe": of.name,
            "file": format!("{PREFIX}{}.csv", of.name),
            "summary": of.summary,
            "rows": of.rows().len(),
            "columns": columns.collect::<Vec<_>>(),
        })
    };
    tables.map(each).collect()
}
