//! Results for a repository: numbers, drawings and verdicts of full runs, without the runs.
//!
//! ```text
//!   papers/results/
//!     README.md                       verdicts of all papers; runs of experiments
//!     ofc.md                          figures, verdicts and discussions of a paper
//!     experiments.csv                 runs and counts of verdicts, per experiment
//!     counts.csv                      counts of verdicts of papers: numbers, orders, trends
//!     not-reproduced.csv              claims that are not reproduced
//!     times.csv                       processor times, and the version that made the runs
//!     ofc/ofc-e1/verdicts.csv         what the paper says, what came out, and by which rule
//!     ofc/ofc-e1/values.csv           one number per run of all that claims look at
//!     ofc/ofc-e2/series.csv           how flows fared by when they started, for steady states
//!     ofc/ofc-e1/runs.txt             how many runs, and the hash of all of their digests
//!     ofc/ofc-e1/ofc-e1-fct.svg .csv  drawings, and the numbers behind them
//! ```
//!
//! But for `times.csv`, and for `live/`, which `weir live study` writes, all files are functions of
//! the experiments: who runs one again gets the same bytes. Verdicts and pages are functions of
//! `values.csv`: [`judge`] makes them again without a run.

use super::experiment::{Experiment, Work};
use super::judge::Library;
use super::published::{self, Entry, table};
use super::report::{Media, figure_files, figures};
use super::results_pages;
use super::run::{Collected, judge_all, verdicts_csv};
use super::series;
use super::tables::Tables;
use super::values;
use super::{Mode, Paper};
use std::path::Path;
use weir_results::metrics::{Family, Row};
use weir_results::sheet::Sheet;
use weir_scenario::hash::sha256;
use weir_sweep::SweepError;
use weir_sweep::directory::SweepDir;
use weir_sweep::merge::Merged;
use weir_sweep::store::replace;

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
        let verdicts = verdicts_csv(c.paper, c.experiment, &c.verdicts);
        replace(&directory.join("verdicts.csv"), &verdicts)?;
        let own = !matches!(c.experiment.work, Work::ReRun(_));
        if let Some(values) = values::csv(c.paper, c.experiment, &c.tables).filter(|_| own) {
            replace(&directory.join(values::FILE), &values)?;
        }
        if let Some(series) = series::csv(c.paper, c.experiment, &c.tables).filter(|_| own) {
            replace(&directory.join(series::FILE), &series)?;
        }
        replace(&directory.join("runs.txt"), runs(c)?.as_bytes())?;
        for figure in figures(c, Mode::Full, "") {
            for (name, bytes) in figure_files(&figure, "", Media::Screen) {
                replace(&directory.join(name), &bytes)?;
            }
        }
    }
    times(to, all)?;
    let entry = |c: &Collected<'_>| Entry {
        paper: c.paper.id.clone(),
        id: c.experiment.id.clone(),
        own: c.experiment.own_check,
        runs: own_runs(c).0 as u64,
    };
    let fresh: Vec<Entry> = all.iter().map(entry).collect();
    let mut papers: Vec<&Paper> = all.iter().map(|c| c.paper).collect();
    papers.dedup_by_key(|p| &p.id);
    results_pages::write(to, &papers, &fresh)?;
    Ok(all.len())
}

/// Runs and processor time; those that two experiments use are counted with the one that has them.
fn own_runs(c: &Collected<'_>) -> (usize, f64) {
    match c.experiment.work {
        Work::ReRun(_) => (0, 0.0),
        _ => (c.tables.counts().0, c.tables.cpu_seconds),
    }
}

/// What `judge` did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Experiments that were judged again.
    pub judged: usize,
    /// Experiments whose verdicts stay, as no values per seed are published of them.
    pub without_values: Vec<String>,
}

/// What is published of the experiments of a paper.
struct Shelf(Vec<(String, Tables)>);

impl Library for Shelf {
    fn tables(&self, experiment: &str) -> Option<&Tables> {
        self.0.iter().find(|(id, _)| id == experiment).map(|(_, tables)| tables)
    }
}

/// The numbers of an experiment: computed, or as they were published; `None` if they were not.
fn numbers(to: &Path, paper: &Paper, e: &Experiment) -> Result<Option<Tables>, SweepError> {
    let runs_of = paper.runs_of(e);
    if let Work::FlowSizes(sizes) = &runs_of.work {
        return Ok(Some(Tables::of_sizes(sizes)));
    }
    let directory = to.join(&paper.id).join(runs_of.id.to_lowercase());
    let mut tables = values::read(&directory.join(values::FILE), &runs_of.scope)?;
    if let Some(tables) = tables.as_mut().filter(|tables| tables.steady) {
        series::read(&directory.join(series::FILE), tables)?;
    }
    Ok(tables)
}

/// Judges the claims about published experiments of some papers again, by the numbers that are
/// published, and writes counts and pages; needs no runs.
pub fn judge(papers: &[&Paper], to: &Path) -> Result<Judged, SweepError> {
    let mut done = Judged::default();
    let entries = published::entries(to, &[])?;
    for paper in papers {
        let listed = |e: &&Experiment| entries.iter().any(|x| x.paper == paper.id && x.id == e.id);
        let experiments: Vec<&Experiment> = paper.experiments.iter().filter(listed).collect();
        let mut shelf = Shelf(Vec::new());
        for e in &experiments {
            if let Some(tables) = numbers(to, paper, e)? {
                shelf.0.push((e.id.clone(), tables));
            }
        }
        for e in experiments {
            let claimed = paper.claims.iter().any(|c| c.experiment == e.id);
            if claimed && shelf.tables(&e.id).is_none() {
                done.without_values.push(e.id.clone());
                continue;
            }
            let verdicts = judge_all(paper, e, &shelf, Mode::Full);
            let directory = to.join(&paper.id).join(e.id.to_lowercase());
            replace(&directory.join("verdicts.csv"), &verdicts_csv(paper, e, &verdicts))?;
            done.judged += 1;
        }
    }
    pages(papers, to)?;
    Ok(done)
}

/// Writes the pages of published results again, for texts that have changed; needs no runs.
pub fn pages(papers: &[&Paper], to: &Path) -> Result<(), SweepError> {
    results_pages::write(to, papers, &[])
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

/// `times.csv`: rows that were there and are not replaced, and new ones, in order.
fn times(to: &Path, all: &[Collected<'_>]) -> Result<(), SweepError> {
    let path = to.join("times.csv");
    // paper, experiment, seconds and version
    let mut rows: Vec<[String; 4]> = Vec::new();
    if path.exists() {
        let there = table(&path, |row| {
            let cell = |name: &str| row.text(name).map(str::to_owned);
            Ok([cell("paper")?, cell("experiment")?, cell("cpu_seconds")?, cell("weir")?])
        })?;
        let kept = |[paper, id, ..]: &[String; 4]| {
            !all.iter().any(|c| c.experiment.id == *id && c.paper.id == *paper)
        };
        rows.extend(there.into_iter().filter(kept));
    }
    rows.extend(all.iter().map(|c| {
        let seconds = format!("{:.1}", own_runs(c).1);
        let version = weir_sweep::version().to_owned();
        [c.paper.id.clone(), c.experiment.id.clone(), seconds, version]
    }));
    rows.sort();
    let sheet = Sheet::new()
        .column("paper", |[paper, ..]: &[String; 4]| paper.as_str())
        .column("experiment", |[_, id, ..]| id.as_str())
        .column("cpu_seconds", |[.., seconds, _]| seconds.as_str())
        .column("weir", |[.., version]| version.as_str());
    replace(&path, &sheet.csv(&rows))
}
