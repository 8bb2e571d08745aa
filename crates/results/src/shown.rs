//! Runs that are shown while they go on.

use crate::run::{Meter, Perf, Run, run_by};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use weir_scenario::experiment::{Experiment, Variant};
use weir_sim::outcome::Outcome;
use weir_sim::{Observer, Progress, SimError};

/// How often a run is shown. Less often if that takes long: at most a fifth of the time is spent on
/// it.
const BETWEEN: Duration = Duration::from_secs(1);

/// An observer that also shows what there is.
struct Showing<'a> {
    inner: &'a mut dyn Observer,
    show: &'a mut dyn FnMut(Outcome),
    /// When to do so next.
    next: Instant,
}

impl Observer for Showing<'_> {
    fn begins(&mut self) {
        self.inner.begins();
    }

    fn progress(&mut self, look: &dyn Fn() -> Progress) -> ControlFlow<()> {
        self.inner.progress(look)
    }

    fn wants_look(&mut self) -> bool {
        Instant::now() >= self.next
    }

    fn so_far(&mut self, outcome: Outcome) {
        let began = Instant::now();
        (self.show)(outcome);
        self.next = Instant::now() + BETWEEN.max(began.elapsed() * 4);
    }
}

/// [`run`](crate::run::run), which shows about once per second what there is so far: a run with
/// flows and a recording and nothing else.
pub fn run_shown(
    e: &Experiment,
    variant: Variant,
    meter: &Meter,
    at: usize,
    show: &mut dyn FnMut(&Run),
) -> Result<Run, SimError> {
    run_by(e, variant, meter, at, |config, watch| {
        let mut show =
            |outcome| show(&Run::new(e, variant, config.clone(), outcome, Perf::default()));
        let next = Instant::now() + BETWEEN;
        let mut showing = Showing { inner: watch, show: &mut show, next };
        let prepared = e.prepared(config);
        weir_sim::run_prepared(&e.topology, &prepared, &e.traffic, config, &mut showing)
    })
}
