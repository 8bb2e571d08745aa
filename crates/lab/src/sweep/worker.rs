//! A worker: takes its share of a plan, skips what has a result, runs the rest, appends results.

use super::directory::SweepDir;
use super::metrics::Figures;
use super::plan::{Plan, PlannedRun};
use super::record::{Record, Status};
use super::shard::Shard;
use super::store::{Lock, Results, Writer, seal_left_behind};
use super::{SweepError, build, version};
use crate::experiment::Variant;
use crate::resolve::{Base, Fabrics, Resolved};
use crate::run::run_alone;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a worker works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Its share.
    pub shard: Shard,
    /// How many runs at a time.
    pub jobs: usize,
    /// At most so many runs.
    pub limit: Option<usize>,
}

/// How far a worker is, and a way to stop it.
#[derive(Debug, Default)]
pub struct Meter {
    /// Runs of the share.
    pub total: AtomicUsize,
    /// Those that had a result before.
    pub before: AtomicUsize,
    /// Those that were done since.
    pub done: AtomicUsize,
    /// Those of them that failed.
    pub failed: AtomicUsize,
    /// Whether it waits for another worker of its share.
    pub waiting: AtomicBool,
    /// Set to end early.
    pub interrupt: AtomicBool,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Runs of its share.
    pub total: usize,
    /// Those that had a result before.
    pub before: usize,
    /// Runs it made.
    pub made: usize,
    /// Those that failed.
    pub failed: usize,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// A run to be made.
struct Job<'a> {
    run: &'a PlannedRun,
    attempt: u32,
}

/// A cell while runs of it are made.
#[derive(Default)]
struct Slot {
    resolved: Mutex<Option<Arc<Resolved>>>,
    left: AtomicUsize,
}

/// Runs a share of the plan in `directory`.
pub fn work(directory: &SweepDir, options: &Options, meter: &Meter) -> Result<Done, SweepError> {
    let plan = directory.plan()?;
    check_program(&plan)?;
    let name = options.shard.name();
    std::fs::create_dir_all(directory.results())
        .map_err(|e| SweepError::io(&directory.results(), e))?;
    let lock_path = directory.lock(&name);
    let _lock = loop {
        match Lock::take(&lock_path)? {
            Some(lock) => break lock,
            None if meter.interrupt.load(Ordering::Relaxed) => {
                return Ok(Done { interrupted: true, ..Done::default() });
            }
            None => {
                meter.waiting.store(true, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    };
    meter.waiting.store(false, Ordering::Relaxed);
    seal_left_behind(&directory.results(), &name)?;
    let results = directory.read_results(&plan)?;
    let (mut jobs, total) = pending(&plan, &results, options.shard);
    let before = total - jobs.len();
    jobs.truncate(options.limit.unwrap_or(usize::MAX));
    meter.total.store(total, Ordering::Relaxed);
    meter.before.store(before, Ordering::Relaxed);
    let crew = Crew::new(directory, &plan, jobs, meter, &name)?;
    crew.run(options.jobs)?;
    Ok(Done {
        total,
        before,
        made: meter.done.load(Ordering::Relaxed),
        failed: meter.failed.load(Ordering::Relaxed),
        interrupted: meter.interrupt.load(Ordering::Relaxed),
    })
}

/// Results of different programs are not mixed.
fn check_program(plan: &Plan) -> Result<(), SweepError> {
    let head = &plan.head;
    if head.weir != version() {
        return Err(SweepError::Other(format!(
            "the plan was made by weir {} and this is weir {}: their results do not belong in one \
             table; use that program, or make the plan again",
            head.weir,
            version()
        )));
    }
    if !head.accepts(version(), build()) {
        return Err(SweepError::Other(format!(
            "the plan was made by build {} of weir {} and this is build {}: make the plan again, \
             with --any-build if both are built from the same sources",
            head.build,
            version(),
            build()
        )));
    }
    Ok(())
}

/// The runs of a share without a result, and how many it has in all. Runs that are the same are
/// one run.
fn pending<'a>(plan: &'a Plan, results: &Results, shard: Shard) -> (Vec<Job<'a>>, usize) {
    let mut seen = BTreeSet::new();
    let unique = plan.runs.iter().filter(|r| seen.insert(r.id.as_str()));
    let mine = unique.enumerate().filter(|(i, _)| shard.has(*i)).map(|(_, run)| run);
    let (mut jobs, mut total) = (Vec::new(), 0);
    for run in mine {
        total += 1;
        let known = results.of(&run.id);
        if !known.is_some_and(|k| k.settled()) {
            jobs.push(Job { run, attempt: known.map_or(1, |k| k.next_attempt()) });
        }
    }
    (jobs, total)
}

/// Threads that share a list of jobs.
struct Crew<'a> {
    plan: &'a Plan,
    base: Base,
    fabrics: Fabrics,
    slots: Vec<Slot>,
    jobs: Vec<Job<'a>>,
    next: AtomicUsize,
    writer: Mutex<Writer>,
    meter: &'a Meter,
    trouble: Mutex<Option<SweepError>>,
    stop: AtomicBool,
}

impl<'a> Crew<'a> {
    fn new(
        directory: &SweepDir,
        plan: &'a Plan,
        jobs: Vec<Job<'a>>,
        meter: &'a Meter,
        name: &str,
    ) -> Result<Self, SweepError> {
        let slots: Vec<Slot> = plan.cells.iter().map(|_| Slot::default()).collect();
        for job in &jobs {
            slots[job.run.cell].left.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Self {
            plan,
            base: directory.base(plan)?,
            fabrics: Fabrics::default(),
            slots,
            jobs,
            next: AtomicUsize::new(0),
            writer: Mutex::new(Writer::new(&directory.results(), name)),
            meter,
            trouble: Mutex::new(None),
            stop: AtomicBool::new(false),
        })
    }

    fn run(self, threads: usize) -> Result<(), SweepError> {
        let finished = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let ticker = scope.spawn(|| {
                while !finished.load(Ordering::Acquire) {
                    std::thread::park_timeout(Duration::from_millis(50));
                    self.write(Writer::flush_if_due);
                }
            });
            std::thread::scope(|scope| {
                for _ in 1..threads.clamp(1, self.jobs.len().max(1)) {
                    scope.spawn(|| self.work());
                }
                self.work();
            });
            finished.store(true, Ordering::Release);
            ticker.thread().unpark();
        });
        let sealed = self.writer.into_inner().expect("no thread panics with it").seal();
        match self.trouble.into_inner().expect("no thread panics with it") {
            Some(trouble) => Err(trouble),
            None => sealed,
        }
    }

    fn work(&self) {
        loop {
            let interrupted = self.meter.interrupt.load(Ordering::Relaxed);
            if interrupted || self.stop.load(Ordering::Relaxed) {
                return;
            }
            let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            match self.one(job) {
                Ok(None) => return,
                Ok(Some(record)) => {
                    self.meter.done.fetch_add(1, Ordering::Relaxed);
                    if record.status == Status::Failed {
                        self.meter.failed.fetch_add(1, Ordering::Relaxed);
                    }
                    self.write(|writer| writer.add(&record));
                }
                Err(trouble) => self.give_up(trouble),
            }
        }
    }

    fn write(&self, what: impl FnOnce(&mut Writer) -> Result<(), SweepError>) {
        let result = what(&mut self.writer.lock().expect("no thread panics with it"));
        if let Err(trouble) = result {
            self.give_up(trouble);
        }
    }

    /// Stops everybody; the first reason is the one that is told.
    fn give_up(&self, trouble: SweepError) {
        self.stop.store(true, Ordering::Relaxed);
        self.trouble.lock().expect("no thread panics with it").get_or_insert(trouble);
    }

    /// Makes one run; `None` if it was interrupted.
    fn one(&self, job: &Job<'_>) -> Result<Option<Record>, SweepError> {
        let resolved = self.resolved(job.run)?;
        let variant = Variant { seed: job.run.seed, ..resolved.variant };
        let interrupt = &self.meter.interrupt;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let run = run_alone(&resolved.experiment, variant, interrupt);
            run.map(|run| {
                let invalid = run.invalid(&resolved.experiment);
                let figures = Figures::new(&resolved.experiment, &run);
                (run.interrupted(), run.perf.cpu_seconds, invalid, figures)
            })
        }));
        self.release(job.run.cell);
        let mut record = Record {
            id: job.run.id.clone(),
            weir: version().to_owned(),
            build: build().to_owned(),
            status: Status::Ok,
            reason: String::new(),
            attempt: job.attempt,
            run: Vec::new(),
            classes: Vec::new(),
            cpu_seconds: 0.0,
        };
        match ran {
            Ok(Ok((true, ..))) => return Ok(None),
            Ok(Ok((false, cpu_seconds, invalid, figures))) => {
                record.cpu_seconds = cpu_seconds;
                (record.run, record.classes) = (figures.run, figures.classes);
                if let Some(why) = invalid {
                    (record.status, record.reason) = (Status::Invalid, why);
                }
            }
            Ok(Err(error)) => (record.status, record.reason) = (Status::Failed, error.to_string()),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                record.status = Status::Failed;
                record.reason = format!("the program panicked: {}", text.unwrap_or("no message"));
            }
        }
        Ok(Some(record))
    }

    /// The cell of a run, put together by whoever needs it first and checked against the plan.
    fn resolved(&self, run: &PlannedRun) -> Result<Arc<Resolved>, SweepError> {
        let mut slot = self.slots[run.cell].resolved.lock().expect("no thread panics with it");
        if let Some(resolved) = &*slot {
            return Ok(Arc::clone(resolved));
        }
        let cell = self.plan.cell(run);
        let resolved = self
            .base
            .resolve_sets(&cell.set, &cell.scheme, &cell.cc, &self.fabrics)
            .map_err(|problems| SweepError::Other(problems.render(false)))?;
        if resolved.hash != cell.hash {
            return Err(SweepError::Other(format!(
                "{} is not what was planned: files in `input` were changed, or this is another \
                 program; make the plan again",
                self.plan.describe(run)
            )));
        }
        let resolved = Arc::new(resolved);
        *slot = Some(Arc::clone(&resolved));
        Ok(resolved)
    }

    /// Forgets a cell when its last run is made: sweeps may have more of them than memory.
    fn release(&self, cell: usize) {
        let slot = &self.slots[cell];
        if slot.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            *slot.resolved.lock().expect("no thread panics with it") = None;
        }
    }
}
