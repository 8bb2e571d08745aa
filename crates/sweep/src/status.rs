//! What is done, what is missing and why: a pure function of the plan and the records.

use super::SweepError;
use super::directory::SweepDir;
use super::plan::{Plan, PlannedRun};
use super::record::{Record, Status as RunStatus};
use super::store::{Results, Writer};
use super::{build, version};
use serde_json::json;
use std::fmt::Write as _;
use weir_core::format;

/// The state of a sweep.
#[derive(Debug)]
pub struct Status<'a> {
    plan: &'a Plan,
    results: &'a Results,
    /// Rows of the table.
    pub total: usize,
    /// With a result.
    pub done: usize,
    /// Of these, results that break a promise.
    pub invalid: Vec<(&'a PlannedRun, &'a Record)>,
    /// Without a result: the run failed.
    pub failed: Vec<(&'a PlannedRun, &'a Record)>,
    /// With two results that differ.
    pub conflicts: Vec<&'a PlannedRun>,
    /// Processor time of what is done.
    cpu_seconds: f64,
}

/// So many of a kind are listed.
const MOST: usize = 10;

impl<'a> Status<'a> {
    /// Looks.
    pub fn new(plan: &'a Plan, results: &'a Results) -> Self {
        let (invalid, failed, conflicts) = (Vec::new(), Vec::new(), Vec::new());
        let total = plan.runs.len();
        let (done, cpu_seconds) = (0, 0.0);
        let mut s = Self { plan, results, total, done, invalid, failed, conflicts, cpu_seconds };
        for run in &plan.runs {
            let Some(known) = results.of(&run.id) else { continue };
            if known.conflict.is_some() {
                s.conflicts.push(run);
            }
            if let Some(result) = &known.result {
                s.done += 1;
                s.cpu_seconds += result.cpu_seconds;
                if result.status == RunStatus::Invalid {
                    s.invalid.push((run, result));
                }
            } else if let Some(failure) = known.failed() {
                s.failed.push((run, failure));
            }
        }
        s
    }

    /// Runs without a result.
    pub fn missing(&self) -> usize {
        self.total - self.done - self.failed.len()
    }

    /// Whether the table can be written in full.
    pub fn complete(&self) -> bool {
        self.done == self.total && self.conflicts.is_empty()
    }

    /// As text.
    pub fn text(&self, directory: &SweepDir) -> String {
        let mut t = String::new();
        let count = |n: usize| n.to_string();
        let name = &self.plan.head.name;
        let _ = writeln!(t, "{name}: {} of {} runs done", count(self.done), count(self.total));
        if self.missing() > 0 {
            let each = self.cpu_seconds / self.done.max(1) as f64;
            let left = match self.done {
                0 => String::new(),
                _ => format!(
                    ", about {} of processor time",
                    format::time_ps(each * self.missing() as f64 * 1e12)
                ),
            };
            let _ = writeln!(t, "  {} not run yet{left}", count(self.missing()));
        }
        self.list(&mut t, "failed", &self.failed, directory);
        self.list(&mut t, "invalid", &self.invalid, directory);
        for run in self.conflicts.iter().take(MOST) {
            let what = self.plan.describe(run);
            let _ = writeln!(t, "  two different results of {what} ({})", run.id);
        }
        for (program, n) in &self.results.foreign {
            let plan = &self.plan.head;
            let _ = writeln!(
                t,
                "  {} of another program ({program}) not counted: the plan is of weir {}, build {}",
                format::plural(*n as u64, "record"),
                plan.weir,
                plan.build
            );
        }
        self.files(&mut t);
        t
    }

    fn list(
        &self,
        t: &mut String,
        what: &str,
        runs: &[(&PlannedRun, &Record)],
        directory: &SweepDir,
    ) {
        if runs.is_empty() {
            return;
        }
        let _ = writeln!(t, "  {} {what}:", runs.len());
        for (run, record) in runs.iter().take(MOST) {
            let _ = writeln!(t, "    {}: {}", self.plan.describe(run), record.reason);
            let _ = writeln!(t, "      {}", self.plan.command(&directory.path, run));
        }
        if runs.len() > MOST {
            let _ = writeln!(t, "    and {} more", runs.len() - MOST);
        }
    }

    fn files(&self, t: &mut String) {
        for file in &self.results.files {
            let name = &file.name;
            if let Some(why) = &file.unreadable {
                let _ = writeln!(t, "  results/{name} cannot be read: {why}");
            }
            if let [first, ..] = file.damaged[..] {
                let n = format::plural(file.damaged.len() as u64, "damaged record");
                let _ = writeln!(t, "  results/{name}: {n}, the first in line {first}; run again");
            }
            if file.torn && name.ends_with(".rec") {
                let _ = writeln!(t, "  results/{name}: the last record was cut off; run again");
            }
            if name.ends_with(".open") {
                let n = format::plural(file.records as u64, "record");
                let _ =
                    writeln!(t, "  results/{name}: {n}, being written or left by a killed worker");
            }
        }
    }

    /// As JSON.
    pub fn json(&self, directory: &SweepDir) -> serde_json::Value {
        let list = |runs: &[(&PlannedRun, &Record)]| -> Vec<_> {
            let one = |(run, record): &(&PlannedRun, &Record)| {
                json!({
                    "id": run.id,
                    "run": self.plan.describe(run),
                    "reason": record.reason,
                    "command": self.plan.command(&directory.path, run),
                })
            };
            runs.iter().map(one).collect()
        };
        let files: Vec<_> = self
            .results
            .files
            .iter()
            .map(|f| {
                json!({
                    "file": f.name, "records": f.records, "torn": f.torn,
                    "damaged_lines": f.damaged, "unreadable": f.unreadable,
                })
            })
            .collect();
        json!({
            "name": self.plan.head.name,
            "total": self.total,
            "done": self.done,
            "missing": self.missing(),
            "failed": list(&self.failed),
            "invalid": list(&self.invalid),
            "conflicts": self.conflicts.iter().map(|r| &r.id).collect::<Vec<_>>(),
            "foreign_records": self.results.foreign,
            "files": files,
        })
    }
}

/// Forgets all failures, so that the next worker tries these runs again; says how many.
pub fn retry(directory: &SweepDir) -> Result<usize, SweepError> {
    let plan = directory.plan()?;
    let results = directory.read_results(&plan)?;
    let status = Status::new(&plan, &results);
    let mut writer = Writer::new(&directory.results(), "retry");
    for (_, failure) in &status.failed {
        writer.add(&Record {
            status: RunStatus::Retry,
            reason: String::new(),
            weir: version().to_owned(),
            build: build().to_owned(),
            ..(*failure).clone()
        })?;
    }
    writer.seal()?;
    Ok(status.failed.len())
}
