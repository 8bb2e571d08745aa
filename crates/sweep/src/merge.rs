//! The tables of a sweep: a pure function of the plan and the set of records.

use super::plan::{Plan, PlannedRun};
use super::quantity::{Quantity, common_unit};
use super::record::Record;
use super::store::Results;
use std::io;
use weir_core::Unit;
use weir_core::decimal::rounded;
use weir_results::column::{Csv, Kind, Sink, Value};
use weir_results::metrics::{Family, Row};

/// A table with typed columns.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedTable {
    /// Names and kinds.
    pub columns: Vec<(String, Kind)>,
    /// Cells.
    pub rows: Vec<Row>,
}

impl MergedTable {
    /// Which column has this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(column, _)| column == name)
    }

    /// Names and kinds of its columns.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.columns.iter().map(|(name, kind)| (name.as_str(), *kind))
    }

    /// Writes its rows.
    pub(crate) fn write(&self, to: &mut dyn Sink) -> io::Result<()> {
        self.rows.iter().try_for_each(|row| to.row(&mut row.iter().map(Value::borrowed)))
    }

    /// As CSV.
    pub fn csv(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut csv = Csv::new(&mut bytes, self.heads())?;
        self.write(&mut csv)?;
        csv.finish()?;
        Ok(bytes)
    }
}

/// The tables of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// How many columns say which run it is, before those that say how it went.
    pub key_columns: usize,
    tables: [MergedTable; 4],
}

impl Merged {
    /// Puts together what has a result, in the order of the plan.
    pub fn new(plan: &Plan, results: &Results) -> Self {
        let units = units(plan);
        let text = |name: &str| (name.to_owned(), Kind::Text);
        let mut keys = ["variant", "scheme", "cc"].map(text).to_vec();
        for (name, unit) in plan.head.parameters.iter().zip(&units) {
            let kind = if unit.is_some() { Kind::Real } else { Kind::Text };
            keys.push((name.clone(), kind));
        }
        keys.push(("seed".into(), Kind::Whole));
        let key_columns = keys.len();
        keys.extend(["id", "status"].map(text));
        let tables = Family::ALL.map(|family| {
            let mut columns = keys.clone();
            columns.extend((family == Family::Runs).then(|| text("reason")));
            columns.extend(family.headings().iter().map(|h| (h.name.to_owned(), h.kind)));
            MergedTable { columns, rows: Vec::new() }
        });
        let mut merged = Self { key_columns, tables };
        for run in &plan.runs {
            if let Some(record) = results.of(&run.id).and_then(|k| k.result.as_ref()) {
                merged.add(plan, &units, run, record);
            }
        }
        merged
    }

    /// One of the tables.
    pub fn table(&self, family: Family) -> &MergedTable {
        &self.tables[family as usize]
    }

    fn add(&mut self, plan: &Plan, units: &[Option<Unit>], run: &PlannedRun, record: &Record) {
        let Some(figures) = &record.figures else { return };
        let cell = plan.cell(run);
        let text = |text: &String| Value::from(text.clone());
        let mut key = [&cell.variant, &cell.scheme, &cell.cc].map(text).to_vec();
        for (value, unit) in cell.values.iter().zip(units) {
            key.push(unit.and_then(|_| number(value)).unwrap_or_else(|| text(value)));
        }
        key.extend([run.seed.into(), text(&run.id), record.status.name().into()]);
        for family in Family::ALL {
            let reason = (family == Family::Runs).then(|| text(&record.reason));
            let key = key.iter().chain(&reason);
            let rows = figures.rows(family).iter();
            let rows = rows.map(|row| key.clone().chain(row).cloned().collect());
            self.tables[family as usize].rows.extend(rows);
        }
    }
}

/// The units of the parameters' columns; `None` for text.
fn units(plan: &Plan) -> Vec<Option<Unit>> {
    let parameters = 0..plan.head.parameters.len();
    let unit = |i: usize| common_unit(plan.cells.iter().map(|c| c.values[i].as_str()));
    parameters.map(unit).collect()
}

/// A value in steps of its unit.
fn number(value: &str) -> Option<Value<'static>> {
    let Quantity { number, unit } = Quantity::read(value)?;
    Some(Value::Real(match unit {
        // percent of short decimals: 30 % is 0.3 and not 0.30000000000000004
        Unit::Share => rounded(number, 12),
        _ => number,
    }))
}
