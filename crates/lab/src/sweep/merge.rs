//! The tables of a sweep: a pure function of the plan and the set of records.

use super::SweepError;
use super::metrics::{Kind, flow_columns, port_columns, run_columns, state_columns};
use super::plan::{Plan, PlannedRun};
use super::quantity::{Quantity, common_unit};
use super::record::Record;
use super::store::Results;
use crate::report::Formats;
use weir_core::Unit;

/// A table with typed columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Names and kinds.
    pub columns: Vec<(String, Kind)>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Which column has this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(column, _)| column == name)
    }

    /// As CSV.
    pub fn csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let heads = self.columns.iter().map(|(name, _)| name);
        writer.write_record(heads).expect("writing to memory");
        for row in &self.rows {
            writer.write_record(row).expect("all rows have as many cells as there are columns");
        }
        writer.into_inner().expect("writing to memory")
    }
}

/// The tables of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// How many columns say which run it is, before those that say how it went.
    pub key_columns: usize,
    /// A row per run.
    pub runs: Table,
    /// A row per run, class and range of sizes.
    pub classes: Table,
    /// A row per run and group of switch ports.
    pub ports: Table,
    /// A row per run and table that the scheme keeps.
    pub state: Table,
}

impl Merged {
    /// Puts together what has a result, in the order of the plan.
    pub fn new(plan: &Plan, results: &Results) -> Self {
        let units = units(plan);
        let mut keys: Vec<(String, Kind)> =
            ["variant", "scheme", "cc"].map(|name| (name.to_owned(), Kind::Text)).to_vec();
        for (name, unit) in plan.head.parameters.iter().zip(&units) {
            let kind = if unit.is_some() { Kind::Real } else { Kind::Text };
            keys.push((name.clone(), kind));
        }
        keys.push(("seed".into(), Kind::Whole));
        let own = |name: &'static str, kind| (name.to_owned(), kind);
        let text = |name: &'static str| own(name, Kind::Text);
        let runs: Vec<_> = keys
            .iter()
            .cloned()
            .chain(["id", "status", "reason"].map(text))
            .chain(run_columns().map(|(name, kind)| own(name, kind)))
            .collect();
        let table = |names: &[&'static str], columns: Vec<(&'static str, Kind)>| {
            let names = ["id", "status"].iter().chain(names).map(|name| text(name));
            let columns = columns.into_iter().map(|(name, kind)| own(name, kind));
            Table {
                columns: keys.iter().cloned().chain(names).chain(columns).collect(),
                rows: Vec::new(),
            }
        };
        let mut merged = Self {
            key_columns: keys.len(),
            runs: Table { columns: runs, rows: Vec::new() },
            classes: table(&["class", "sizes"], flow_columns().collect()),
            ports: table(&["ports"], port_columns().collect()),
            state: table(&["table"], state_columns().collect()),
        };
        for run in &plan.runs {
            if let Some(record) = results.of(&run.id).and_then(|k| k.result.as_ref()) {
                merged.add(plan, &units, run, record);
            }
        }
        merged
    }

    /// The files: names and contents.
    pub fn files(
        &self,
        plan: &Plan,
        formats: Formats,
    ) -> Result<Vec<(String, Vec<u8>)>, SweepError> {
        let tables = [
            ("runs", &self.runs),
            ("classes", &self.classes),
            ("ports", &self.ports),
            ("state", &self.state),
        ];
        let mut files = tables.map(|(name, t)| (format!("{name}.csv"), t.csv())).to_vec();
        match formats {
            Formats::Csv => {}
            #[cfg(feature = "parquet")]
            Formats::CsvAndParquet => {
                for (name, table) in tables {
                    let bytes = crate::report::parquet_bytes(name, table);
                    let bytes = bytes.map_err(|e| SweepError::Other(e.to_string()))?;
                    files.push((format!("{name}.parquet"), bytes));
                }
            }
        }
        files.push(("index.html".to_owned(), super::page::page(plan, self).into_bytes()));
        Ok(files)
    }

    fn add(&mut self, plan: &Plan, units: &[Option<Unit>], run: &PlannedRun, record: &Record) {
        let cell = plan.cell(run);
        let mut key = vec![cell.variant.clone(), cell.scheme.clone(), cell.cc.clone()];
        for (value, unit) in cell.values.iter().zip(units) {
            key.push(if unit.is_some() { number(value) } else { value.clone() });
        }
        key.push(run.seed.to_string());
        key.push(run.id.clone());
        key.push(record.status.name().to_owned());
        let row = key.iter().cloned().chain([record.reason.clone()]).chain(record.run.clone());
        self.runs.rows.push(row.collect());
        let parts = [
            (&mut self.classes, &record.classes),
            (&mut self.ports, &record.ports),
            (&mut self.state, &record.state),
        ];
        for (table, rows) in parts {
            table.rows.extend(rows.iter().map(|row| key.iter().chain(row).cloned().collect()));
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
fn number(value: &str) -> String {
    match Quantity::read(value) {
        // percent of short decimals: 30 % is 0.3 and not 0.30000000000000004
        Some(Quantity { number, unit: Unit::Share }) => {
            let rounded: f64 = format!("{number:.12}").parse().unwrap_or(number);
            rounded.to_string()
        }
        Some(Quantity { number, .. }) => number.to_string(),
        None => value.to_owned(),
    }
}
