//! Tables of probes as files: `probe-NAME.csv`, with the columns that the probe declares.
//!
//! The prefix keeps them apart from all other files, whatever a probe is called.

use super::tables::{Of, TableFile, with_run};
use crate::column::{Heading, Kind, Value, headings};
use crate::comparison::Comparison;
use crate::run::Run;
use serde_json::json;
use weir_core::Unit;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{Cell, CellKind, Measurement};

/// What the names of these files begin with.
const PREFIX: &str = "probe-";

/// Whether this is the name of such a file.
pub(super) fn is_file(name: &str) -> bool {
    name.starts_with(PREFIX) && (name.ends_with(".csv") || name.ends_with(".parquet"))
}

/// A table of a probe, all runs in it.
pub(super) struct ProbeTable<'a> {
    name: String,
    headings: Vec<Heading>,
    runs: Vec<(&'a Experiment, &'a Run, &'a Measurement)>,
}

impl<'a> ProbeTable<'a> {
    fn new(of: &'a Measurement) -> Self {
        let kind = |kind| match kind {
            CellKind::Whole => Kind::Whole,
            CellKind::Real => Kind::Real,
            _ => Kind::Text,
        };
        let own = of.columns.iter().map(|c| {
            // a probe states its unit in words, for the dictionary
            Heading {
                name: c.name,
                kind: kind(c.kind),
                unit: Unit::Number,
                summary: None,
                doc: c.doc,
            }
        });
        let run = headings(&with_run::<()>(Vec::new()));
        let headings = run.into_iter().chain(own).collect();
        Self { name: format!("{PREFIX}{}", of.name), headings, runs: Vec::new() }
    }

    /// The same, as all tables are written.
    pub(super) fn table(&self) -> TableFile<'_> {
        TableFile::made(&*self.name, self.headings.clone(), |to| {
            for &(e, run, of) in &self.runs {
                for row in of.rows() {
                    let names = with_run::<()>(Vec::new());
                    let of_run = Of { e, run, it: () };
                    let names = names.iter().map(|c| (c.of)(&of_run));
                    to.row(&mut names.chain(row.iter().map(|cell| value(e, cell))))?;
                }
            }
            Ok(())
        })
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
            assert_eq!(all[at].headings, fresh.headings, "two probes are called `{}`", of.name);
            all[at].runs.push((e, run, of));
        }
    }
    all
}

fn value<'a>(e: &'a Experiment, cell: &Cell) -> Value<'a> {
    match *cell {
        Cell::Empty => Value::None,
        Cell::Node(node) => e.topology.name(node).into(),
        Cell::Port(node, port) => e.topology.port_label(node, port).into(),
        Cell::Flow(flow) => flow.to_string().into(),
        Cell::Whole(n) => n.into(),
        Cell::Real(x) => x.into(),
        Cell::Word(word) => word.into(),
    }
}

/// What the columns of these tables mean, for `summary.json`.
pub(super) fn dictionary(run: &Run) -> Vec<serde_json::Value> {
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
