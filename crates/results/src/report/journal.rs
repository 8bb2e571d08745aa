//! The iterations of jobs that have ended, in files while runs go on.
//!
//! Results appear complete or not at all, so these stand beside them, in `NAME.running`:
//! `steps.partial.csv` and `collectives.partial.csv`. Each is replaced as a whole, and the
//! directory is removed when the results are there. Runs do not depend on it.

use super::destination::{Destination, MARK, State};
use super::tables::job_files;
use crate::run::{Journal, Perf, Run};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use weir_scenario::{Experiment, Variant};
use weir_sim::outcome::{JobRecord, Outcome};

/// What is added to the name of a directory of results.
const RUNNING: &str = "running";

/// The files of one run: name and content, headings included.
type Files = Vec<(&'static str, Vec<u8>)>;

/// Steps and collectives that have ended, as files beside the results while runs go on.
#[derive(Debug)]
pub struct StepFiles {
    place: Destination,
    /// What tables call each run.
    labels: Vec<String>,
    every: Duration,
    begun: Instant,
    runs: Mutex<BTreeMap<usize, Files>>,
    written: AtomicBool,
}

impl StepFiles {
    /// Beside `results`, for runs of these names; written at most `every` so long, and not before.
    /// `None` where that directory holds something else.
    pub fn new(results: &Destination, labels: Vec<String>, every: Duration) -> Option<Self> {
        let place = results.beside(RUNNING).ok()?;
        let (runs, written, begun) = (Mutex::default(), AtomicBool::new(false), Instant::now());
        Some(Self { place, labels, every, begun, runs, written })
    }

    /// All runs in one file each.
    fn put(&self, runs: &BTreeMap<usize, Files>) -> io::Result<()> {
        let directory = self.place.real();
        if !directory.join(MARK).exists() {
            fs::create_dir_all(directory)?;
            fs::write(directory.join(MARK), State::Partial.mark())?;
        }
        let Some(first) = runs.values().next() else { return Ok(()) };
        for (i, (name, _)) in first.iter().enumerate() {
            let mut all = Vec::new();
            for (_, text) in runs.values().filter_map(|files| files.get(i)) {
                let head = text.iter().position(|b| *b == b'\n').map_or(0, |end| end + 1);
                all.extend(&text[if all.is_empty() { 0 } else { head }..]);
            }
            let name = format!("{name}.partial.csv");
            let fresh = directory.join(format!(".{name}.{}", std::process::id()));
            fs::write(&fresh, all)?;
            fs::rename(fresh, directory.join(name))?;
        }
        Ok(())
    }

    /// Removes the files, also those of an earlier run that was killed: the results are there.
    pub fn remove(&self) {
        let directory = self.place.real();
        for name in ["steps.partial.csv", "collectives.partial.csv", MARK] {
            let _ = fs::remove_file(directory.join(name));
        }
        // not what somebody else has put there
        let _ = fs::remove_dir(directory);
    }
}

impl Journal for StepFiles {
    fn every(&self) -> Duration {
        self.every
    }

    fn place(&self) -> Option<&Path> {
        self.written.load(Ordering::Acquire).then(|| self.place.shown())
    }

    fn write(&self, at: usize, e: &Experiment, variant: Variant, jobs: Vec<JobRecord>) {
        let (config, perf) = (e.config(variant), Perf::default());
        let mut run = Run::of_outcome(e, variant, config, Outcome::of_jobs(jobs), perf);
        if let Some(label) = self.labels.get(at) {
            run.label.clone_from(label);
        }
        let Ok(files) = job_files(e, &run) else { return };
        let Ok(mut runs) = self.runs.lock() else { return };
        runs.insert(at, files);
        // who cannot write here is told so when the results are to be written
        if self.put(&runs).is_ok() {
            self.written.store(true, Ordering::Release);
        }
    }

    fn end(&self, at: usize, e: &Experiment, variant: Variant, jobs: &[JobRecord]) {
        // nobody waits for what is over at once
        if self.begun.elapsed() >= self.every {
            self.write(at, e, variant, jobs.to_vec());
        }
    }
}
