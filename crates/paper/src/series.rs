//! How flows fared by when they started, in batches: `series.csv` of published results of an
//! experiment whose claims are about a steady state.
//!
//! ```text
//!   variant,load,seed,from_ps,to_ps,until_ps,class,sizes,metric,flows,unfinished,sum
//!   PFC,60%,1,100000000,900000000,1000000000,user,0..10KB,slowdown_milli,31 28 …,0 0 …,40231 …
//!   PFC,60%,1,100000000,900000000,1000000000,,,present,12 15 …,,
//! ```
//!
//! A row is a run and a part of its traffic. Flows that start in [`from_ps`, `to_ps`) count in the
//! other tables. The lists have a number per batch, an equal share of the time until `until_ps`:
//! flows that start in it, those of them that do not finish, and the sum of the metric over all of
//! them, where a flow that does not finish counts with the time that it had. In rows of `present`
//! they are the flows in the network, the mean over the batch. Judging stationarity again needs
//! nothing else.

use super::catalogue::Paper;
use super::experiment::Experiment;
use super::judge::{Summed, series_of};
use super::tables::Tables;
use super::values;
use std::path::Path;
use weir_results::column::csv_text;
use weir_results::starts::{Starts, StartsOf};
use weir_sweep::SweepError;

/// The name of the file.
pub(super) const FILE: &str = "series.csv";

/// Columns behind those that name the run.
const HEADS: [&str; 9] =
    ["from_ps", "to_ps", "until_ps", "class", "sizes", "metric", "flows", "unfinished", "sum"];

/// Metric of the rows about the flows in the network.
const PRESENT: &str = "present";

fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// The table of an experiment with runs of its own; `None` if none of its claims needs it.
pub(super) fn csv(paper: &Paper, e: &Experiment, tables: &Tables) -> Option<Vec<u8>> {
    if !e.steady {
        return None;
    }
    let mut parts: Vec<(String, String, Summed)> = Vec::new();
    for s in values::selectors(paper, e) {
        let (class, sizes, summed) = series_of(&s);
        let part = (class.to_owned(), sizes.to_owned(), summed);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (run, starts) in tables.series() {
        let times = [starts.from_ps, starts.to_ps, starts.until_ps].map(|ps| ps.to_string());
        let mut row = |cells: [String; 6]| {
            rows.push(run.iter().chain(&times).cloned().chain(cells).collect());
        };
        let none = String::new;
        row([none(), none(), PRESENT.to_owned(), list(&starts.present), none(), none()]);
        for (class, sizes, summed) in &parts {
            let Some(part) = starts.part(class, sizes) else { continue };
            let [flows, unfinished, sum] =
                [part.flows.as_slice(), part.unfinished.as_slice(), summed.of(part)].map(list);
            let name = summed.name().to_owned();
            row([class.clone(), sizes.clone(), name, flows, unfinished, sum]);
        }
    }
    if rows.is_empty() {
        return None;
    }
    let heads = ["variant"].into_iter().chain(tables.parameters.iter().map(String::as_str));
    Some(csv_text(heads.chain(["seed"]).chain(HEADS), rows))
}

/// Reads what was published of an experiment into its tables; they stay without a series if there
/// is no such file.
pub(super) fn read(path: &Path, tables: &mut Tables) -> Result<(), SweepError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(SweepError::io(path, e)),
    };
    let wrong = |what: String| SweepError::Other(format!("{}: {what}", path.display()));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads: Vec<String> =
        reader.headers().map_err(|e| wrong(e.to_string()))?.iter().map(str::to_owned).collect();
    let keys = tables.parameters.len() + 2;
    let named = tables.parameters.iter().map(String::as_str);
    let expected = ["variant"].into_iter().chain(named).chain(["seed"]).chain(HEADS);
    if !expected.eq(heads.iter().map(String::as_str)) {
        return Err(wrong("it has other columns: publish the experiment again".to_owned()));
    }
    let mut last: Option<(Vec<String>, Starts)> = None;
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|e| wrong(e.to_string()))?;
        let cells: Vec<String> = record.iter().map(str::to_owned).collect();
        let (run, rest) = cells.split_at(keys);
        if last.as_ref().is_none_or(|(known, _)| known != run) {
            last.take()
                .map_or(Ok(()), |(run, starts)| tables.add_series(&run, starts))
                .map_err(&wrong)?;
            last = Some((run.to_vec(), Starts::default()));
        }
        if let Some((_, starts)) = &mut last {
            add(starts, rest).ok_or_else(|| wrong(format!("line {} is no series", i + 2)))?;
        }
    }
    last.map_or(Ok(()), |(run, starts)| tables.add_series(&run, starts)).map_err(wrong)
}

/// Adds a row to the series of its run; `None` if it is none.
fn add(starts: &mut Starts, row: &[String]) -> Option<()> {
    let [from, to, until, class, sizes, metric, flows, unfinished, sum] = row else { return None };
    let numbers = |text: &str| -> Option<Vec<u64>> {
        text.split_whitespace().map(|n| n.parse().ok()).collect()
    };
    [starts.from_ps, starts.to_ps, starts.until_ps] =
        [from.parse().ok()?, to.parse().ok()?, until.parse().ok()?];
    if metric == PRESENT {
        starts.present = numbers(flows)?;
        return Some(());
    }
    let summed = Summed::named(metric)?;
    let (flows, unfinished, sum) = (numbers(flows)?, numbers(unfinished)?, numbers(sum)?);
    let equal = [flows.len(), unfinished.len(), sum.len()] == [starts.present.len(); 3];
    if !equal || flows.is_empty() {
        return None;
    }
    let at = starts.parts.iter().position(|p| p.class == *class && p.sizes == *sizes);
    let at = at.unwrap_or_else(|| {
        let (class, sizes) = (class.clone(), sizes.clone());
        starts.parts.push(StartsOf { class, sizes, flows, unfinished, ..StartsOf::default() });
        starts.parts.len() - 1
    });
    match summed {
        Summed::Fct => starts.parts[at].fct_ns = sum,
        Summed::Slowdown => starts.parts[at].slowdown_milli = sum,
    }
    Some(())
}
