//! The table that artifact evaluations ask for: which command checks a claim, how long that takes,
//! and what should come out.

use super::catalogue::Chosen;
use super::published::{self, table};
use super::verdict;
use std::path::Path;
use weir_core::format;
use weir_results::sheet::Sheet;
use weir_sweep::SweepError;

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendixLine {
    /// The paper.
    pub paper: String,
    /// The claim, and which of its readings.
    pub claim: String,
    /// Where in the paper.
    pub place: String,
    /// What the paper says.
    pub says: String,
    /// Which reading of it this is, if it has several.
    pub reading: String,
    /// The experiment.
    pub experiment: String,
    /// What to type.
    pub command: String,
    /// Processor time of the experiment in minutes; `None` if it is not known.
    pub minutes: Option<f64>,
    /// What should come out, and whether a setting was chosen with the number in view.
    pub expected: String,
}

/// One line per verdict of the chosen experiments that is published below `from`.
pub fn lines(chosen: &[Chosen], from: &Path) -> Result<Vec<AppendixLine>, SweepError> {
    let papers: Vec<_> = chosen.iter().map(|c| &c.paper).collect();
    let seconds = times(from)?;
    published::with(from, &papers, &[], |shown| {
        let mut lines = Vec::new();
        for p in &shown.all {
            let own = |c: &&Chosen| {
                c.paper.id == p.entry.paper
                    && c.experiments.iter().any(|&at| c.paper.experiments[at].id == p.entry.id)
            };
            let Some(c) = chosen.iter().find(own) else { continue };
            let Some(e) = c.paper.experiments.iter().find(|e| e.id == p.entry.id) else { continue };
            let runs_of = c.paper.runs_of(e);
            let time = seconds.iter().find(|(paper, id, _)| {
                (paper.as_str(), id.as_str()) == (c.paper.id.as_str(), runs_of.id.as_str())
            });
            let name = match &c.paper.directory {
                None => e.id.clone(),
                Some(_) => c.paper.argument(),
            };
            for v in &p.verdicts {
                let claim = match v.variant.is_empty() {
                    true => v.claim.clone(),
                    false => format!("{} ({})", v.claim, v.variant),
                };
                let calibrated = if v.calibrated { " (calibrated)" } else { "" };
                let words = verdict::words(&v.outcome, &v.why, v.needed);
                lines.push(AppendixLine {
                    paper: c.paper.id.clone(),
                    claim,
                    place: v.place.clone(),
                    says: v.says.clone(),
                    reading: v.reading.clone(),
                    experiment: e.id.clone(),
                    command: format!("weir paper run {} --full", format::shell_word(&name)),
                    minutes: time.map(|(_, _, seconds)| seconds / 60.0),
                    expected: words + calibrated,
                });
            }
        }
        Ok(lines)
    })
}

/// Paper, experiment and processor time in seconds.
fn times(from: &Path) -> Result<Vec<(String, String, f64)>, SweepError> {
    let path = from.join("times.csv");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let all = table(&path, |row| {
        let (paper, id) = (row.text("paper")?.to_owned(), row.text("experiment")?.to_owned());
        let seconds = row.text("cpu_seconds")?.parse().ok();
        Ok(seconds.map(|seconds| (paper, id, seconds)))
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// The table as CSV.
pub fn csv(lines: &[AppendixLine]) -> Vec<u8> {
    Sheet::new()
        .column("paper", |l: &AppendixLine| l.paper.as_str())
        .column("claim", |l| l.claim.as_str())
        .column("where", |l| l.place.as_str())
        .column("says", |l| l.says.as_str())
        .column("reading", |l| l.reading.as_str())
        .column("experiment", |l| l.experiment.as_str())
        .column("command", |l| l.command.as_str())
        .column("minutes", |l| l.minutes.map(|m| format!("{m:.1}")))
        .column("expected", |l| l.expected.as_str())
        .csv(lines)
}
