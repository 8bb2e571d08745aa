//! Results for a repository: numbers, drawings and verdicts of full runs, without the runs.
//!
//! ```text
//!   papers/results/
//!     README.md                       verdicts of all papers; runs and time of experiments
//!     ofc.md                          figures, verdicts and discussions of a paper
//!     experiments.csv                 runs, processor time and counts of verdicts, per experiment
//!     not-reproduced.csv              claims that are not reproduced
//!     ofc/ofc-e1/verdicts.csv         what the paper says, what came out, and by which rule
//!     ofc/ofc-e1/runs.txt             how many runs, and the hash of all of their digests
//!     ofc/ofc-e1/ofc-e1-fct.svg .csv  drawings, and the numbers behind them
//! ```
//!
//! But for processor times in `experiments.csv` and `README.md`, all files are functions of the
//! experiments: who runs one again gets the same bytes.

use super::counts::Counts;
use super::experiment::Work;
use super::report::{figure_files, figures};
use super::results_pages;
use super::run::{Collected, verdicts_csv};
use super::{Mode, Paper};
use std::path::Path;
use weir_results::column::csv_text;
use weir_results::metrics::{Family, Row};
use weir_scenario::hash::sha256;
use weir_sweep::SweepError;
use weir_sweep::directory::SweepDir;
use weir_sweep::merge::Merged;
use weir_sweep::store::replace;

const HEADS: [&str; 12] = [
    "paper",
    "experiment",
    "own_check",
    "runs",
    "cpu_seconds",
    "reproduced",
    "same_direction",
    "not_reproduced",
    "not_measured",
    "calibrated",
    "missing",
    "weir",
];

/// Writes what is published of complete experiments below `to`; rows of experiments that are not
/// among them stay in `experiments.csv`. Returns how many experiments were written.
pub fn publish(all: &[Collected<'_>], to: &Path) -> Result<usize, SweepError> {
    for c in all {
        let (total, done) = c.tables.counts();
        if done < total {
            let (id, left) = (&c.experiment.id, total - done);
            return Err(SweepError::Other(format!(
                "{id}: {left} of {total} runs have no result; only complete experiments are \
                 published: run `weir paper run {id} --full` again"
            )));
        }
    }
    for c in all {
        let directory = to.join(&c.paper.id).join(c.experiment.id.to_lowercase());
        clear(&directory)?;
        std::fs::create_dir_all(&directory).map_err(|e| SweepError::io(&directory, e))?;
        replace(&directory.join("verdicts.csv"), &verdicts_csv(c))?;
        replace(&directory.join("runs.txt"), runs(c)?.as_bytes())?;
        for figure in figures(c, Mode::Full, "") {
            for (name, bytes) in figure_files(&figure, "", false) {
                replace(&directory.join(name), &bytes)?;
            }
        }
    }
    let path = to.join("experiments.csv");
    let table = table(&path, all)?;
    replace(&path, &table)?;
    let mut papers: Vec<&Paper> = all.iter().map(|c| c.paper).collect();
    papers.dedup_by_key(|p| &p.id);
    results_pages::write(to, &papers)?;
    Ok(all.len())
}

/// Writes the pages of published results again, for texts that have changed; needs no runs.
pub fn pages(papers: &[&Paper], to: &Path) -> Result<(), SweepError> {
    results_pages::write(to, papers)
}

/// Removes what was published before: figures may have other names now.
fn clear(directory: &Path) -> Result<(), SweepError> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(()) };
    for path in entries.flatten().map(|e| e.path()) {
        let ours = ["csv", "txt", "svg"];
        if path.extension().is_some_and(|e| ours.iter().any(|known| e == *known)) {
            std::fs::remove_file(&path).map_err(|e| SweepError::io(&path, e))?;
        }
    }
    Ok(())
}

/// How many runs there are, and the hash of what they are and what came out.
fn runs(c: &Collected<'_>) -> Result<String, SweepError> {
    let Some(plan) = &c.plan else {
        return Ok("no runs: computed from size tables\n".to_owned());
    };
    let results = SweepDir::new(&c.directory).read_results(plan)?;
    let merged = Merged::new(plan, &results);
    // a run is identified by the columns before its id: variant, values, seed. The id itself also
    // depends on how this version writes down a scenario
    let table = merged.table(Family::Runs);
    let id = table.column("id").unwrap_or_default();
    let digest = table.column("digest").unwrap_or_default();
    let line = |row: &Row| {
        let cells: Vec<String> = row[..id].iter().map(ToString::to_string).collect();
        format!("{} {}\n", cells.join(","), row[digest])
    };
    let mut lines: Vec<String> = table.rows.iter().map(line).collect();
    lines.sort_unstable();
    let hash = sha256(lines.concat().as_bytes());
    Ok(format!("runs {}\nsha256 {hash}\n", lines.len()))
}

/// The table of all experiments: rows that were there and are not replaced, and new ones, in order.
fn table(path: &Path, all: &[Collected<'_>]) -> Result<Vec<u8>, SweepError> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    if let Ok(text) = std::fs::read_to_string(path) {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let wrong = |e: csv::Error| SweepError::Other(format!("{}: {e}", path.display()));
        for record in reader.records() {
            let row: Vec<String> = record.map_err(wrong)?.iter().map(str::to_owned).collect();
            let same = |c: &Collected<'_>| c.experiment.id == row[1] && c.paper.id == row[0];
            if row.len() == HEADS.len() && !all.iter().any(same) {
                rows.push(row);
            }
        }
    }
    for c in all {
        let counts = Counts::new([c]);
        let own = c.experiment.own_check;
        let three = if own { counts.own } else { counts.three() };
        // runs that two experiments use are counted with the one that has them
        let (runs, seconds) = match c.experiment.work {
            Work::ReRun(_) => (0, 0.0),
            _ => (c.tables.counts().0, c.tables.cpu_seconds),
        };
        let mut row = vec![c.paper.id.clone(), c.experiment.id.clone()];
        row.extend([own.to_string(), runs.to_string(), format!("{seconds:.1}")]);
        let others = [counts.not_measured, counts.calibrated, counts.missing];
        row.extend(three.into_iter().chain(others).map(|n| n.to_string()));
        row.push(weir_sweep::version().to_owned());
        rows.push(row);
    }
    rows.sort();
    Ok(csv_text(HEADS, rows))
}
