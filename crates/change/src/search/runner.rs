//! Runs a scenario with changed settings and holds the results against a condition.

use crate::condition::{Broken, Condition};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use weir_results::metrics::Figures;
use weir_results::run::{Run, run_alone};
use weir_scenario::resolve::{Base, Fabrics};
use weir_scenario::{Experiment, Problems, Variant};
use weir_sim::SimError;

/// Runs one scenario again and again.
#[derive(Debug)]
pub struct Runner<'a> {
    /// The scenario.
    pub base: &'a Base,
    /// What it is run with.
    pub variant: Variant,
    /// The seeds with which the condition must hold.
    pub seeds: &'a [u64],
    /// How many runs at a time.
    pub jobs: usize,
    /// Ends the runs when set.
    pub interrupt: &'a AtomicBool,
    fabrics: Fabrics,
}

/// Why a value could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario cannot be run with it.
    #[error("the scenario cannot be run with {sets}:\n{problems}")]
    Problems {
        /// The settings.
        sets: String,
        /// What is wrong with them.
        problems: Box<Problems>,
    },
    /// A run violated an invariant.
    #[error("{sets}, seed {seed}: {error}")]
    Failed {
        /// The settings.
        sets: String,
        /// The seed.
        seed: u64,
        /// Why.
        error: SimError,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Whether all seeds keep a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The first seed that breaks it, and how.
    pub broken: Option<(u64, Broken)>,
}

impl Verdict {
    /// Whether all seeds keep it.
    pub fn keeps(&self) -> bool {
        self.broken.is_none()
    }
}

impl<'a> Runner<'a> {
    /// For a scenario.
    pub fn new(
        base: &'a Base,
        variant: Variant,
        seeds: &'a [u64],
        jobs: usize,
        interrupt: &'a AtomicBool,
    ) -> Self {
        Self { base, variant, seeds, jobs, interrupt, fabrics: Fabrics::default() }
    }

    /// Whether the condition holds with these settings, with every seed.
    pub fn judge(&self, sets: &[String], condition: &Condition) -> Result<Verdict, RunError> {
        // what a run is made with has names of its own, beside the settings
        let varied = |path: &str| {
            let mut pairs = sets.iter().rev().filter_map(|set| set.split_once('='));
            let found = pairs.find(|(key, _)| key.trim() == path);
            found.map(|(_, value)| value.trim().trim_matches('"'))
        };
        let scheme = varied("flow-control.scheme").unwrap_or(self.variant.scheme.name);
        let cc = varied("congestion-control.algorithm").unwrap_or(self.variant.cc.name());
        let resolved = self.base.resolve_sets(sets, scheme, cc, &self.fabrics);
        let resolved = resolved.map_err(|problems| RunError::Problems {
            sets: sets.join(", "),
            problems: Box::new(problems),
        })?;
        let e = &resolved.experiment;
        let runs = each_seed(e, resolved.variant, self.seeds, self.jobs, self.interrupt);
        for (run, &seed) in runs.into_iter().zip(self.seeds) {
            let run = run.ok_or(RunError::Interrupted)?;
            let run =
                run.map_err(|error| RunError::Failed { sets: sets.join(", "), seed, error })?;
            if run.interrupted() {
                return Err(RunError::Interrupted);
            }
            if let Err(broken) = condition.check(&Figures::new(e, &run)) {
                return Ok(Verdict { broken: Some((seed, broken)) });
            }
        }
        Ok(Verdict { broken: None })
    }
}

/// Runs all seeds, some at a time; `None` for those that an interrupt prevented.
pub(crate) fn each_seed(
    e: &Experiment,
    variant: Variant,
    seeds: &[u64],
    jobs: usize,
    interrupt: &AtomicBool,
) -> Vec<Option<Result<Run, SimError>>> {
    let next = AtomicUsize::new(0);
    let results: Vec<_> = seeds.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&seed) = seeds.get(at) else { break };
            if interrupt.load(Ordering::Relaxed) {
                break;
            }
            let run = run_alone(e, Variant { seed, ..variant }, interrupt);
            *results[at].lock().expect("no run panics while it holds the lock") = Some(run);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.clamp(1, seeds.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    results.into_iter().map(|r| r.into_inner().expect("all threads have ended")).collect()
}
