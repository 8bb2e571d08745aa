//! Every run and every flow of a study as CSV.

use super::{Attempt, Cell, Study};
use crate::compare::{Pair, SideBySide};
use weir_results::sheet::Sheet;

/// A live run with its cell and its number there.
type Line<'a> = (&'a Cell, usize, &'a Attempt);

/// The columns that say which run a row is about.
fn run_columns<'a, T>(of: fn(&'a T) -> Line<'a>) -> Sheet<'a, T> {
    Sheet::new()
        .column("variant", move |row| of(row).0.variant.as_str())
        .column("at", move |row| of(row).0.at.as_str())
        .column("dilation", move |row| of(row).2.dilation.to_string())
        .column("run", move |row| of(row).1 as u64)
        .column("valid", move |row| of(row).2.counts())
}

/// A row per live run.
pub fn runs_csv(study: &Study) -> Vec<u8> {
    let sum = |run: &Attempt, of: fn(&SideBySide) -> &Vec<Pair>, side: fn(&Pair) -> Option<f64>| {
        let all = run.side.as_ref()?;
        Some(of(all).iter().filter_map(side).sum::<f64>())
    };
    let rows: Vec<Line<'_>> = each(study).collect();
    run_columns(|row: &Line<'_>| *row)
        .column("dilation_kept", |(.., run)| run.kept)
        .column("late_p50_ns", |(.., run)| run.late.p50_ns)
        .column("late_p99_ns", |(.., run)| run.late.p99_ns)
        .column("late_p999_ns", |(.., run)| run.late.p999_ns)
        .column("late_max_ns", |(.., run)| run.late.max_ns)
        .column("worst_flow_difference", |(.., run)| run.worst())
        .column("worst_in_order", |(.., run)| run.worst_rank())
        .column("held_flows_same", |(.., run)| run.side.as_ref().map(|s| s.same_held()))
        .column("pauses_simulated", move |(.., run)| sum(run, |s| &s.pauses, |p| p.simulated))
        .column("pauses_live", move |(.., run)| sum(run, |s| &s.pauses, |p| p.live))
        .column("held_us_simulated", move |(.., run)| sum(run, |s| &s.held, |p| p.simulated))
        .column("held_us_live", move |(.., run)| sum(run, |s| &s.held, |p| p.live))
        .column("reasons", |(.., run)| run.invalid.join("; "))
        .csv(&rows)
}

/// A row per live run and flow.
pub fn flows_csv(study: &Study) -> Vec<u8> {
    let rows = each(study).flat_map(|run| {
        let flows = run.2.side.iter().flat_map(|side| &side.flows);
        flows.map(move |pair| (run, pair))
    });
    let rows: Vec<(Line<'_>, &Pair)> = rows.collect();
    run_columns(|(run, _): &(Line<'_>, &Pair)| *run)
        .column("flow", |(_, pair)| pair.what.as_str())
        .column("simulated", |(_, pair)| pair.simulated)
        .column("live", |(_, pair)| pair.live)
        .csv(&rows)
}

/// Every run with its cell, and its number among those of the cell.
fn each(study: &Study) -> impl Iterator<Item = (&Cell, usize, &Attempt)> {
    study.cells.iter().flat_map(|cell| {
        cell.attempts.iter().enumerate().map(move |(i, attempt)| (cell, i + 1, attempt))
    })
}
