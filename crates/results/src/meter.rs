//! How far runs are, for those who watch.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir_core::Time;
use weir_scenario::{Experiment, Variant};
use weir_sim::config::Stop;
use weir_sim::outcome::JobRecord;
use weir_sim::{Observer, Progress, StepEnd};

/// How far several runs are, shared between those who run and those who watch.
#[derive(Debug)]
pub struct Meter {
    pub(crate) runs: Vec<Gauge>,
    pub(crate) interrupt: AtomicBool,
    /// Where iterations of jobs are written while runs go on.
    pub(crate) journal: Option<Arc<dyn Journal>>,
}

/// How far one run is.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    now: AtomicU64,
    pub(crate) hops: AtomicU64,
    /// Parts per million.
    pub(crate) done: AtomicU64,
    /// Iterations of jobs that have ended, and all.
    steps: [AtomicU64; 2],
    /// The one that ended last: its job, its number and its time; and when.
    last: Mutex<Option<(Instant, LastStep)>>,
}

/// An iteration of a job that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastStep {
    /// The name of the job.
    pub job: String,
    /// The iteration, from 0.
    pub iteration: u32,
    /// How long it took.
    pub time: Time,
}

/// A look at a [`Meter`].
#[derive(Clone, Debug, PartialEq)]
pub struct MeterReading {
    /// Part of all the work that is done, 0 to 1.
    pub done: f64,
    /// Packet-hops of all runs so far.
    pub packet_hops: u64,
    /// Simulated picoseconds of the run that is furthest.
    pub now_ps: u64,
    /// Runs finished.
    pub finished: usize,
    /// Iterations of jobs that have ended in all runs so far, and all of those.
    pub steps: (u64, u64),
    /// The one that ended last.
    pub last_step: Option<LastStep>,
}

pub(crate) const MILLION: u64 = 1_000_000;

impl Meter {
    /// A meter for so many runs.
    pub fn new(runs: usize) -> Self {
        let runs = (0..runs).map(|_| Gauge::default()).collect();
        Self { runs, interrupt: AtomicBool::new(false), journal: None }
    }

    /// The same, with files of the iterations of jobs that have ended.
    #[must_use]
    pub fn with_journal(self, journal: Option<Arc<dyn Journal>>) -> Self {
        Self { journal, ..self }
    }

    /// The files of iterations that have ended, if there are any.
    pub fn journal(&self) -> Option<&dyn Journal> {
        self.journal.as_deref()
    }

    /// Asks all runs to stop.
    pub fn interrupt(&self) {
        self.interrupt.store(true, Ordering::Relaxed);
    }

    /// Whether they were asked to.
    pub fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Says how far run `at` is, for runs that are not driven by [`run`](crate::run::run): `done`
    /// from 0 to 1.
    pub fn report(&self, at: usize, now_ps: u64, packet_hops: u64, done: f64) {
        let Some(gauge) = self.runs.get(at) else { return };
        gauge.now.store(now_ps, Ordering::Relaxed);
        gauge.hops.store(packet_hops, Ordering::Relaxed);
        gauge.done.fetch_max((done.min(1.0) * MILLION as f64) as u64, Ordering::Relaxed);
    }

    /// How many runs there are.
    pub fn total(&self) -> usize {
        self.runs.len()
    }

    /// Looks.
    pub fn read(&self) -> MeterReading {
        let get = |a: &AtomicU64| a.load(Ordering::Relaxed);
        let done: u64 = self.runs.iter().map(|g| get(&g.done)).sum();
        let steps = |of: usize| self.runs.iter().map(|g| get(&g.steps[of])).sum();
        let last = self.runs.iter().filter_map(|g| g.last.lock().ok()?.clone());
        MeterReading {
            last_step: last.max_by_key(|(at, _)| *at).map(|(_, step)| step),
            done: done as f64 / (self.runs.len().max(1) as u64 * MILLION) as f64,
            packet_hops: self.runs.iter().map(|g| get(&g.hops)).sum(),
            now_ps: self.runs.iter().map(|g| get(&g.now)).max().unwrap_or(0),
            finished: self.runs.iter().filter(|g| get(&g.done) >= MILLION).count(),
            steps: (steps(0), steps(1)),
        }
    }
}

/// Feeds a gauge from a running simulation.
pub(crate) struct Watch<'a> {
    pub(crate) e: &'a Experiment,
    pub(crate) gauge: &'a Gauge,
    pub(crate) interrupt: &'a AtomicBool,
    /// Packet-hops the run will take, as far as that is known.
    pub(crate) hops: Option<u64>,
    pub(crate) stop: Stop,
    /// Called when simulated time begins.
    pub(crate) begins: &'a mut dyn FnMut(),
    /// When the gauge was fed last.
    pub(crate) looked: Option<Instant>,
    /// Takes the iterations of jobs that have ended.
    pub(crate) pages: Option<Pages<'a>>,
}

/// Iterations of a run on their way to a journal.
pub(crate) struct Pages<'a> {
    pub(crate) journal: &'a dyn Journal,
    pub(crate) variant: Variant,
    /// Which run it is.
    pub(crate) at: usize,
    /// How many of them had ended when it was last asked, and when they were written last.
    pub(crate) ended: u64,
    pub(crate) written: (u64, Instant),
}

/// Keeps the iterations of jobs that have ended while runs go on.
pub trait Journal: fmt::Debug + Send + Sync {
    /// How long it is at least from one writing to the next.
    fn every(&self) -> Duration;

    /// Where they are, once there are any.
    fn place(&self) -> Option<&Path>;

    /// Takes what has ended of the run at `at`.
    fn write(&self, at: usize, e: &Experiment, variant: Variant, jobs: Vec<JobRecord>);

    /// The same for a run that is over.
    fn end(&self, at: usize, e: &Experiment, variant: Variant, jobs: &[JobRecord]);
}

/// A gauge is read a few times per second.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

impl Observer for Watch<'_> {
    fn begins(&mut self) {
        (self.begins)();
    }

    fn progress(&mut self, look: &dyn Fn() -> Progress) -> ControlFlow<()> {
        if self.interrupt.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        if self.looked.is_none_or(|at| at.elapsed() >= BETWEEN_LOOKS) {
            self.looked = Some(Instant::now());
            self.show(&look());
        }
        ControlFlow::Continue(())
    }

    fn wants_steps(&mut self) -> bool {
        let pages = self.pages.as_ref();
        pages.is_some_and(|p| p.ended > p.written.0 && p.written.1.elapsed() >= p.journal.every())
    }

    fn steps_so_far(&mut self, jobs: Vec<JobRecord>) {
        if let Some(pages) = &mut self.pages {
            pages.journal.write(pages.at, self.e, pages.variant, jobs);
            pages.written = (pages.ended, Instant::now());
        }
    }
}

impl Watch<'_> {
    fn show(&mut self, p: &Progress) {
        if let Some(pages) = &mut self.pages {
            pages.ended = p.steps.0;
        }
        if let Some(StepEnd { job, iteration, time }) = p.last_step {
            let job = self.e.traffic.jobs().get(job as usize).map_or("", |job| &job.name);
            let step = LastStep { job: job.to_owned(), iteration, time };
            if let Ok(mut last) = self.gauge.last.lock()
                && last.as_ref().is_none_or(|(_, known)| *known != step)
            {
                *last = Some((Instant::now(), step));
            }
        }
        let by_time = match self.stop {
            Stop::At(end) => p.now.as_ps() as f64 / end.as_ps().max(1) as f64,
            Stop::Drained => 0.0,
        };
        let by_work = self.hops.map_or(0.0, |all| p.packet_hops as f64 / all.max(1) as f64);
        let (ended, steps) = p.steps;
        let by_steps = match self.stop {
            Stop::Drained if steps > 0 => ended as f64 / steps as f64,
            _ => 0.0,
        };
        let done = by_time.max(by_work).max(by_steps).min(0.999);
        self.gauge.steps[0].store(ended, Ordering::Relaxed);
        self.gauge.steps[1].store(steps, Ordering::Relaxed);
        self.gauge.now.store(p.now.as_ps(), Ordering::Relaxed);
        self.gauge.hops.store(p.packet_hops, Ordering::Relaxed);
        self.gauge.done.fetch_max((done * MILLION as f64) as u64, Ordering::Relaxed);
    }
}
