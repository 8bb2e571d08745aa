//! Every run and every flow of a study as CSV.

use super::{Attempt, Cell, Study};
use crate::compare::Pair;
use weir_results::column::csv_text;

/// A row per live run.
pub fn runs_csv(study: &Study) -> Vec<u8> {
    let heads = [
        "variant",
        "at",
        "dilation",
        "run",
        "valid",
        "late_p50_ns",
        "late_p99_ns",
        "late_p999_ns",
        "late_max_ns",
        "worst_flow_difference",
        "worst_in_order",
        "held_flows_same",
        "pauses_simulated",
        "pauses_live",
        "held_us_simulated",
        "held_us_live",
        "reasons",
    ];
    let rows = each(study).map(|(cell, number, run)| {
        let text = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
        let side = run.side.as_ref();
        let sum = |of: fn(&crate::compare::SideBySide) -> &Vec<Pair>, live: bool| {
            let number = |p: &Pair| if live { p.live } else { p.simulated };
            text(side.map(|side| of(side).iter().filter_map(number).sum()))
        };
        vec![
            cell.variant.clone(),
            cell.at.clone(),
            run.dilation.to_string(),
            number.to_string(),
            u8::from(run.counts()).to_string(),
            text(run.late.p50_ns),
            text(run.late.p99_ns),
            text(run.late.p999_ns),
            text(run.late.max_ns),
            text(run.worst().filter(|x| x.is_finite())),
            text(run.worst_rank().filter(|x| x.is_finite())),
            side.map_or(String::new(), |s| u8::from(s.same_held()).to_string()),
            sum(|s| &s.pauses, false),
            sum(|s| &s.pauses, true),
            sum(|s| &s.held, false),
            sum(|s| &s.held, true),
            run.invalid.join("; "),
        ]
    });
    csv_text(heads, rows)
}

/// A row per live run and flow.
pub fn flows_csv(study: &Study) -> Vec<u8> {
    let heads = ["variant", "at", "dilation", "run", "valid", "flow", "simulated", "live"];
    let rows = each(study).flat_map(|(cell, number, run)| {
        let flows = run.side.iter().flat_map(|side| &side.flows);
        let valid = u8::from(run.counts()).to_string();
        flows.map(move |pair| {
            let text = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
            vec![
                cell.variant.clone(),
                cell.at.clone(),
                run.dilation.to_string(),
                number.to_string(),
                valid.clone(),
                pair.what.clone(),
                text(pair.simulated),
                text(pair.live),
            ]
        })
    });
    csv_text(heads, rows)
}

/// Every run with its cell, and its number among those of the cell.
fn each(study: &Study) -> impl Iterator<Item = (&Cell, usize, &Attempt)> {
    study.cells.iter().flat_map(|cell| {
        cell.attempts.iter().enumerate().map(move |(i, attempt)| (cell, i + 1, attempt))
    })
}
