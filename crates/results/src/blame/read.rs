//! Blame from the files of a run.

use super::{Account, CulpritRow, FlowRow, ShareRow};
use crate::findings::FctPart;
use crate::records::{Records, RecordsError, Row};
use std::collections::BTreeMap;
use std::path::Path;
use weir_core::{Bytes, FlowId, Time};

/// The rows of a table of `directory`, in order.
fn rows<T>(
    directory: &Path,
    name: &str,
    of: impl Fn(&Row) -> Result<T, RecordsError>,
) -> Result<Vec<T>, String> {
    let table = Records::open(&directory.join(name))
        .map_err(|e| format!("cannot read {e}; `weir run SCENARIO --blame --out DIR` writes it"))?;
    table.map(|row| of(&row?)).collect::<Result<_, _>>().map_err(|e| match e {
        RecordsError::Column { .. } => format!("{e}: it was written without --blame"),
        other => other.to_string(),
    })
}

/// Variant and seed of a run.
type Name = (String, String);
/// Rows by run.
type ByRun<T> = BTreeMap<Name, Vec<T>>;
/// A run and its flows, of which those that have not ended are none.
type RunFlows = (Name, Vec<Option<FlowRow>>);

/// The run that a row is of.
fn run_of(row: &Row) -> Result<Name, RecordsError> {
    Ok((row.text("variant")?.to_owned(), row.text("seed")?.to_owned()))
}

fn by_run<T>(rows: Vec<(Name, T)>) -> ByRun<T> {
    let mut sorted: ByRun<T> = BTreeMap::new();
    rows.into_iter().for_each(|(run, row)| sorted.entry(run).or_default().push(row));
    sorted
}

/// A whole number, zero where the cell is empty.
fn number(row: &Row, column: &str) -> Result<u64, RecordsError> {
    Ok(row.given(column)?.unwrap_or(0))
}

/// The flows of each run, the runs in the order of the file.
fn flows(directory: &Path) -> Result<Vec<RunFlows>, String> {
    let parts = FctPart::ALL.map(|part| format!("{}_ps", part.name().replace('-', "_")));
    let all = rows(directory, "flows.csv", |row| {
        let text = |column: &str| row.text(column).map(str::to_owned);
        let mut times = [Time::ZERO; FctPart::ALL.len()];
        for (time, column) in times.iter_mut().zip(&parts) {
            *time = Time::from_ps(number(row, column)?);
        }
        let size = row.given("size")?.map(Bytes::new);
        let (flow, src, dst) = (text("flow")?, text("src")?, text("dst")?);
        let fct = row.given("fct_ps")?.map(Time::from_ps);
        let own = !is_queue_pair(&flow);
        let ended = fct.map(|fct| FlowRow { flow, src, dst, size, fct, parts: times });
        // queue pairs of jobs have no end
        Ok((run_of(row)?, own.then_some(ended)))
    })?;
    let mut order: Vec<Name> = all.iter().map(|(run, _)| run.clone()).collect();
    order.dedup();
    let own = all.into_iter().filter_map(|(run, row)| Some((run, row?))).collect();
    let mut rows = by_run(own);
    let of = |run: (String, String)| (run.clone(), rows.remove(&run).unwrap_or_default());
    Ok(order.into_iter().map(of).collect())
}

/// Whether a flow is a queue pair of a job, by its name.
fn is_queue_pair(name: &str) -> bool {
    let number = name.rsplit_once('.').and_then(|(_, number)| number.parse::<u64>().ok());
    number.is_some_and(|number| number >= u64::from(FlowId::FIRST_PAIR))
}

fn shares(directory: &Path) -> Result<ByRun<ShareRow>, String> {
    let all = rows(directory, "blame.csv", |row| {
        let text = |column: &str| row.text(column).map(str::to_owned);
        let part = FctPart::named(row.text("part")?);
        let share = ShareRow {
            flow: text("flow")?,
            hop: number(row, "hop")?,
            part: part.ok_or_else(|| row.wrong("part", "part of a completion time"))?,
            port: text("port")?,
            root: text("root")?,
            certainty: text("certainty")?,
            count: number(row, "count")?,
            time: Time::from_ps(number(row, "time_ps")?),
        };
        Ok((run_of(row)?, share))
    })?;
    Ok(by_run(all))
}

fn culprits(directory: &Path) -> Result<ByRun<CulpritRow>, String> {
    let all = rows(directory, "culprits.csv", |row| {
        let text = |column: &str| row.text(column).map(str::to_owned);
        let culprit = CulpritRow {
            flow: text("flow")?,
            hop: number(row, "hop")?,
            kind: text("kind")?,
            port: text("port")?,
            root: text("root")?,
            culprit: text("culprit")?,
            bytes: Bytes::new(number(row, "bytes")?),
            time: Time::from_ps(number(row, "time_ps")?),
        };
        Ok((run_of(row)?, culprit))
    })?;
    Ok(by_run(all))
}

impl Account {
    /// Of all runs in a result directory that was written with `--blame`.
    pub fn read(directory: &Path) -> Result<Vec<Self>, String> {
        let flows = flows(directory)?;
        let (mut shares, mut culprits) = (shares(directory)?, culprits(directory)?);
        let views = std::fs::read_to_string(directory.join("blame.json")).unwrap_or_default();
        let views: serde_json::Value = serde_json::from_str(&views).unwrap_or_default();
        let runs = flows.into_iter().map(|(run, rows)| {
            let all = rows.len();
            let flows: Vec<FlowRow> = rows.into_iter().flatten().collect();
            let of = |v: &&serde_json::Value| {
                v["variant"] == run.0.as_str() && v["seed"].as_u64() == run.1.parse().ok()
            };
            let views = views["runs"].as_array().and_then(|all| all.iter().find(of));
            Self {
                title: format!("{} · {} · seed {}", directory.display(), run.0, run.1),
                open: (all - flows.len()) as u64,
                flows,
                shares: shares.remove(&run).unwrap_or_default(),
                culprits: culprits.remove(&run).unwrap_or_default(),
                views: views.map_or_else(Default::default, |v| v["views"].clone()),
            }
        });
        Ok(runs.collect())
    }
}
