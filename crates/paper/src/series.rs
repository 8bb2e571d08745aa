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
use weir_results::records::{Records, RecordsError, Row};
use weir_results::sheet::Sheet;
use weir_results::starts::{Starts, StartsOf};
use weir_sweep::SweepError;

/// The name of the file.
pub(super) const FILE: &str = "series.csv";

/// A row of the file.
struct Line<'a> {
    /// Variant, values of the parameters and seed.
    run: Vec<String>,
    starts: &'a Starts,
    class: &'a str,
    sizes: &'a str,
    metric: &'static str,
    flows: &'a [u64],
    unfinished: &'a [u64],
    sum: &'a [u64],
}

fn sheet<'a>(parameters: &'a [String]) -> Sheet<'a, Line<'a>> {
    Sheet::new()
        .column("variant", |l: &Line<'_>| l.run[0].as_str())
        .each(parameters.iter().map(String::as_str), |l, i| l.run[i + 1].as_str())
        .column("seed", |l| l.run.last().map(String::as_str))
        .column("from_ps", |l| l.starts.from_ps)
        .column("to_ps", |l| l.starts.to_ps)
        .column("until_ps", |l| l.starts.until_ps)
        .column("class", |l| l.class)
        .column("sizes", |l| l.sizes)
        .column("metric", |l| l.metric)
        .column("flows", |l| list(l.flows))
        .column("unfinished", |l| list(l.unfinished))
        .column("sum", |l| list(l.sum))
}

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
    let mut rows: Vec<Line<'_>> = Vec::new();
    let series: Vec<(Vec<String>, &Starts)> = tables.series().collect();
    for (run, starts) in &series {
        let none = Line {
            run: run.clone(),
            starts,
            class: "",
            sizes: "",
            metric: PRESENT,
            flows: &starts.present,
            unfinished: &[],
            sum: &[],
        };
        rows.push(none);
        for (class, sizes, summed) in &parts {
            let Some(part) = starts.part(class, sizes) else { continue };
            rows.push(Line {
                run: run.clone(),
                starts,
                class,
                sizes,
                metric: summed.name(),
                flows: &part.flows,
                unfinished: &part.unfinished,
                sum: summed.of(part),
            });
        }
    }
    (!rows.is_empty()).then(|| sheet(&tables.parameters).csv(&rows))
}

/// Reads what was published of an experiment into its tables; they stay without a series if there
/// is no such file.
pub(super) fn read(path: &Path, tables: &mut Tables) -> Result<(), SweepError> {
    let Some(table) = Records::open_if_there(path)? else { return Ok(()) };
    let file = table.file().to_owned();
    let wrong = |what: String| SweepError::Other(format!("{file}: {what}"));
    let keys = tables.parameters.len() + 2;
    if !sheet(&tables.parameters).heads().eq(table.heads()) {
        return Err(wrong("it has other columns: publish the experiment again".to_owned()));
    }
    let mut last: Option<(Vec<String>, Starts)> = None;
    for row in table {
        let row = row?;
        let run: Vec<String> = row.cells()[..keys].iter().map(|&cell| cell.to_owned()).collect();
        if last.as_ref().is_none_or(|(known, _)| *known != run) {
            last.take()
                .map_or(Ok(()), |(run, starts)| tables.add_series(&run, starts))
                .map_err(&wrong)?;
            last = Some((run, Starts::default()));
        }
        if let Some((_, starts)) = &mut last {
            add(starts, &row)?;
        }
    }
    last.map_or(Ok(()), |(run, starts)| tables.add_series(&run, starts)).map_err(wrong)
}

/// Adds a row to the series of its run.
fn add(starts: &mut Starts, row: &Row) -> Result<(), RecordsError> {
    let numbers = |column: &str| -> Result<Vec<u64>, RecordsError> {
        let all = row.text(column)?.split_whitespace().map(|n| n.parse().ok());
        all.collect::<Option<_>>().ok_or_else(|| row.wrong(column, "list of whole numbers"))
    };
    [starts.from_ps, starts.to_ps, starts.until_ps] =
        [row.get("from_ps")?, row.get("to_ps")?, row.get("until_ps")?];
    let (class, sizes, metric) = (row.text("class")?, row.text("sizes")?, row.text("metric")?);
    if metric == PRESENT {
        starts.present = numbers("flows")?;
        return Ok(());
    }
    let summed = Summed::named(metric).ok_or_else(|| row.wrong("metric", "metric of series"))?;
    let [flows, unfinished, sum] = [numbers("flows")?, numbers("unfinished")?, numbers("sum")?];
    let equal = [flows.len(), unfinished.len(), sum.len()] == [starts.present.len(); 3];
    if !equal || flows.is_empty() {
        return Err(row.wrong("flows", "list as long as the others"));
    }
    let at = starts.parts.iter().position(|p| p.class == class && p.sizes == sizes);
    let at = at.unwrap_or_else(|| {
        let (class, sizes) = (class.to_owned(), sizes.to_owned());
        starts.parts.push(StartsOf { class, sizes, flows, unfinished, ..StartsOf::default() });
        starts.parts.len() - 1
    });
    match summed {
        Summed::Fct => starts.parts[at].fct_ns = sum,
        Summed::Slowdown => starts.parts[at].slowdown_milli = sum,
    }
    Ok(())
}
