//! A worker: takes its share of a plan, skips what has a result, runs the rest, appends results.

use super::directory::SweepDir;
use super::plan::{Plan, PlannedRun};
use super::record::{Record, Status};
use super::shard::Shard;
use super::store::{Lock, Results, Writer, seal_left_behind};
use super::{SweepError, build, columns, version};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use weir_results::metrics::Figures;
use weir_results::run::run_alone;
use weir_results::starts::Starts;
use weir_scenario::experiment::Variant;
use weir_scenario::resolve::{Base, Fabrics, Resolved};

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
    /// Runs of the whole sweep.
    pub whole: AtomicUsize,
    /// Those that had a result when the worker began.
    pub whole_before: AtomicUsize,
    /// Whether it waits for another worker of its share.
    pub waiting: AtomicBool,
    /// Runs at a time.
    pub jobs: AtomicUsize,
    /// Set to end early.
    pub interrupt: AtomicBool,
    /// Processor time of the runs that were made, in microseconds.
    pub cpu_us: AtomicU64,
    /// The sweeps it works on, when it knows them.
    pub parts: OnceLock<Vec<SweepPart>>,
}

/// How far one of several sweeps is.
#[derive(Debug, Default)]
pub struct SweepPart {
    /// Its name.
    pub name: String,
    /// Runs to be made.
    pub left: AtomicUsize,
    /// Runs whose processor time is known.
    pub timed: AtomicUsize,
    /// That time in microseconds.
    pub cpu_us: AtomicU64,
}

impl Meter {
    /// Processor time that is left, in seconds, if runs of a sweep take as long as those of it that
    /// were made. `None` until a run of each sweep was made: the others say nothing about it.
    pub fn seconds_left(&self) -> Option<f64> {
        let get = |n: &AtomicUsize| n.load(Ordering::Relaxed) as f64;
        let left = |p: &SweepPart| match (get(&p.left), get(&p.timed)) {
            (0.0, _) => Some(0.0),
            (_, 0.0) => None,
            (left, timed) => Some(left * p.cpu_us.load(Ordering::Relaxed) as f64 / 1e6 / timed),
        };
        self.parts.get()?.iter().map(left).sum()
    }

    /// Whether this worker has made enough runs to tell how fast it is: runs that are being made
    /// have taken time and do not count yet, so there are to be clearly more that do.
    pub fn knows_its_pace(&self) -> bool {
        let get = |n: &AtomicUsize| n.load(Ordering::Relaxed);
        get(&self.done) >= (3 * get(&self.jobs)).max(3)
    }

    /// The sweeps that have runs to be made.
    pub fn open(&self) -> usize {
        let parts = self.parts.get().map_or(&[][..], Vec::as_slice);
        parts.iter().filter(|p| p.left.load(Ordering::Relaxed) > 0).count()
    }
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
    work_all(std::slice::from_ref(directory), options, meter)
}

/// A share of one sweep that this worker has locked.
struct Share<'a> {
    directory: &'a SweepDir,
    plan: Plan,
    results: Results,
    _lock: Lock,
}

/// Runs a share of each of several plans, as if they were one. A run that several plans have is
/// made once, and results that one of them has are copied to the others.
pub fn work_all(
    directories: &[SweepDir],
    options: &Options,
    meter: &Meter,
) -> Result<Done, SweepError> {
    let name = options.shard.name();
    let mut shares = Vec::new();
    for directory in directories {
        let plan = directory.plan()?;
        check_program(&plan)?;
        let Some(lock) = wait_for(directory, &name, meter)? else {
            return Ok(Done { interrupted: true, ..Done::default() });
        };
        seal_left_behind(&directory.results(), &name)?;
        let results = directory.read_results(&plan)?;
        shares.push(Share { directory, plan, results, _lock: lock });
    }
    lend(&mut shares, &name)?;
    let (mut crews, mut taken, mut total, mut open) = (Vec::new(), BTreeSet::new(), 0, 0);
    let mut twice = false;
    // a run that several plans have is made once: with what any of them asks for
    let starts = shares.iter().any(|share| share.plan.head.starts);
    for share in &shares {
        let (mut jobs, own) = pending(&share.plan, &share.results, options.shard);
        let before = jobs.len();
        jobs.retain(|job| taken.insert(job.run.id.clone()));
        twice |= jobs.len() < before;
        total += own - (before - jobs.len());
        open += jobs.len();
        jobs.truncate(
            options.limit.map_or(usize::MAX, |most| most.saturating_sub(taken_so_far(&crews))),
        );
        crews.push(Crew { starts, ..Crew::new(share, jobs, &name)? });
    }
    let before = total - open;
    meter.jobs.store(options.jobs.clamp(1, open.max(1)), Ordering::Relaxed);
    meter.total.store(total, Ordering::Relaxed);
    meter.before.store(before, Ordering::Relaxed);
    let all = || shares.iter().map(|s| pending(&s.plan, &s.results, Shard::ALL));
    let (whole, left) = all().fold((0, 0), |(n, l), (jobs, total)| (n + total, l + jobs.len()));
    meter.whole.store(whole, Ordering::Relaxed);
    meter.whole_before.store(whole - left, Ordering::Relaxed);
    let _ = meter.parts.set(crews.iter().map(Crew::part).collect());
    run(crews, options.jobs, meter)?;
    if twice {
        for share in &mut shares {
            share.results = share.directory.read_results(&share.plan)?;
        }
        lend(&mut shares, &name)?;
    }
    Ok(Done {
        total,
        before,
        made: meter.done.load(Ordering::Relaxed),
        failed: meter.failed.load(Ordering::Relaxed),
        interrupted: meter.interrupt.load(Ordering::Relaxed),
    })
}

fn taken_so_far(crews: &[Crew<'_>]) -> usize {
    crews.iter().map(|c| c.jobs.len()).sum()
}

/// The lock of a share; `None` if the wait for it was interrupted.
fn wait_for(directory: &SweepDir, name: &str, meter: &Meter) -> Result<Option<Lock>, SweepError> {
    std::fs::create_dir_all(directory.results())
        .map_err(|e| SweepError::io(&directory.results(), e))?;
    let path = directory.lock(name);
    loop {
        if let Some(lock) = Lock::take(&path)? {
            meter.waiting.store(false, Ordering::Relaxed);
            return Ok(Some(lock));
        }
        if meter.interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        meter.waiting.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Copies results between sweeps that have the same runs.
fn lend(shares: &mut [Share<'_>], name: &str) -> Result<(), SweepError> {
    if shares.len() < 2 {
        return Ok(());
    }
    let mut known: BTreeMap<String, Record> = BTreeMap::new();
    for share in &*shares {
        for (id, k) in &share.results.runs {
            if let (Some(record), None) = (&k.result, &k.conflict)
                && known.get(id).is_none_or(|other| other.starts.is_none())
            {
                known.insert(id.clone(), record.clone());
            }
        }
    }
    for share in shares {
        let mut writer = Writer::new(&share.directory.results(), name);
        let mut seen = BTreeSet::new();
        let missing = share.plan.runs.iter().filter(|run| {
            seen.insert(run.id.as_str())
                && share.results.of(&run.id).is_none_or(|k| k.result.is_none())
        });
        let mut any = false;
        for record in missing.filter_map(|run| known.get(&run.id)) {
            if share.plan.head.counts(record) {
                writer.add(record)?;
                any = true;
            }
        }
        writer.seal()?;
        if any {
            share.results = share.directory.read_results(&share.plan)?;
        }
    }
    Ok(())
}

/// Results of different programs are not mixed.
fn check_program(plan: &Plan) -> Result<(), SweepError> {
    let head = &plan.head;
    if head.weir != version() {
        return Err(SweepError::Other(format!(
            "the plan was made by weir {} and this is weir {}: results of two versions cannot be \
             mixed; use that version, or make the plan again",
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
    if head.columns != columns() {
        return Err(SweepError::Other(format!(
            "the plan was made by a build of weir {} whose tables have other columns than those \
             of this build, {}: build both from the same sources, or make the plan again",
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

/// Jobs of one sweep that threads share.
struct Crew<'a> {
    plan: &'a Plan,
    base: Base,
    fabrics: Fabrics,
    slots: Vec<Slot>,
    jobs: Vec<Job<'a>>,
    next: AtomicUsize,
    writer: Mutex<Writer>,
    /// Runs of earlier workers and their processor time in microseconds.
    earlier: (usize, u64),
    /// Whether results hold how flows fared by when they started.
    starts: bool,
}

/// What all threads of a worker have in common.
struct Site<'a> {
    meter: &'a Meter,
    trouble: Mutex<Option<SweepError>>,
    stop: AtomicBool,
}

/// Does the jobs of all crews: one of each first, so that what is wrong with a sweep and how long
/// its runs take is known early, then sweeps with long runs before those with short ones, so that
/// no thread waits long for another at the end.
fn run(mut crews: Vec<Crew<'_>>, threads: usize, meter: &Meter) -> Result<(), SweepError> {
    let site = Site { meter, trouble: Mutex::new(None), stop: AtomicBool::new(false) };
    let parts = meter.parts.get().map_or(&[][..], Vec::as_slice);
    let jobs: usize = crews.iter().map(|c| c.jobs.len()).sum();
    let finished = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ticker = scope.spawn(|| {
            while !finished.load(Ordering::Acquire) {
                std::thread::park_timeout(Duration::from_millis(50));
                crews.iter().for_each(|crew| crew.write(&site, Writer::flush_if_due));
            }
        });
        let together = |what: &(dyn Fn() + Sync)| {
            std::thread::scope(|scope| {
                for _ in 1..threads.clamp(1, jobs.max(1)) {
                    scope.spawn(what);
                }
                what();
            });
        };
        let mut order: Vec<usize> = (0..crews.len()).collect();
        if crews.len() > 1 {
            let next = AtomicUsize::new(0);
            together(&|| {
                while let Some(i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    crews[*i].work(&site, &parts[*i], 1);
                }
            });
            let cost = |i: &usize| {
                let p = &parts[*i];
                let runs = p.timed.load(Ordering::Relaxed).max(1) as u64;
                p.cpu_us.load(Ordering::Relaxed) / runs
            };
            order.sort_by_cached_key(|i| std::cmp::Reverse(cost(i)));
        }
        together(&|| order.iter().for_each(|i| crews[*i].work(&site, &parts[*i], usize::MAX)));
        finished.store(true, Ordering::Release);
        ticker.thread().unpark();
    });
    let mut sealed = Ok(());
    for crew in crews.drain(..) {
        let writer = crew.writer.into_inner().expect("no thread panics with it");
        sealed = sealed.and(writer.seal());
    }
    match site.trouble.into_inner().expect("no thread panics with it") {
        Some(trouble) => Err(trouble),
        None => sealed,
    }
}

impl Site<'_> {
    fn over(&self) -> bool {
        self.meter.interrupt.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    /// Stops everybody; the first reason is the one that is told.
    fn give_up(&self, trouble: SweepError) {
        self.stop.store(true, Ordering::Relaxed);
        self.trouble.lock().expect("no thread panics with it").get_or_insert(trouble);
    }
}

impl<'a> Crew<'a> {
    fn new(share: &'a Share<'_>, jobs: Vec<Job<'a>>, name: &str) -> Result<Self, SweepError> {
        let (plan, directory) = (&share.plan, share.directory);
        let slots: Vec<Slot> = plan.cells.iter().map(|_| Slot::default()).collect();
        for job in &jobs {
            slots[job.run.cell].left.fetch_add(1, Ordering::Relaxed);
        }
        let records = share.results.runs.values().filter_map(|k| k.result.as_ref());
        let earlier = records.fold((0, 0), |(runs, us), r| (runs + 1, us + micros(r.cpu_seconds)));
        Ok(Self {
            plan,
            base: directory.base(plan)?,
            fabrics: Fabrics::default(),
            slots,
            jobs,
            next: AtomicUsize::new(0),
            writer: Mutex::new(Writer::new(&directory.results(), name)),
            earlier,
            starts: plan.head.starts,
        })
    }

    fn part(&self) -> SweepPart {
        SweepPart {
            name: self.plan.head.name.clone(),
            left: AtomicUsize::new(self.jobs.len()),
            timed: AtomicUsize::new(self.earlier.0),
            cpu_us: AtomicU64::new(self.earlier.1),
        }
    }

    /// Does at most so many jobs.
    fn work(&self, site: &Site<'_>, part: &SweepPart, most: usize) {
        for _ in 0..most {
            if site.over() {
                return;
            }
            let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            match self.one(job, &site.meter.interrupt) {
                Ok(None) => return,
                Ok(Some(record)) => {
                    site.meter.done.fetch_add(1, Ordering::Relaxed);
                    part.left.fetch_sub(1, Ordering::Relaxed);
                    part.timed.fetch_add(1, Ordering::Relaxed);
                    part.cpu_us.fetch_add(micros(record.cpu_seconds), Ordering::Relaxed);
                    site.meter.cpu_us.fetch_add(micros(record.cpu_seconds), Ordering::Relaxed);
                    if record.status == Status::Failed {
                        site.meter.failed.fetch_add(1, Ordering::Relaxed);
                    }
                    self.write(site, |writer| writer.add(&record));
                }
                Err(trouble) => site.give_up(trouble),
            }
        }
    }

    fn write(&self, site: &Site<'_>, what: impl FnOnce(&mut Writer) -> Result<(), SweepError>) {
        let result = what(&mut self.writer.lock().expect("no thread panics with it"));
        if let Err(trouble) = result {
            site.give_up(trouble);
        }
    }

    /// Makes one run; `None` if it was interrupted.
    fn one(&self, job: &Job<'_>, interrupt: &AtomicBool) -> Result<Option<Record>, SweepError> {
        let resolved = self.resolved(job.run)?;
        let variant = Variant { seed: job.run.seed, ..resolved.variant };
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let run = run_alone(&resolved.experiment, variant, interrupt);
            run.map(|run| {
                let invalid = run.invalid(&resolved.experiment);
                let figures = Figures::new(&resolved.experiment, &run);
                let starts = self.starts.then(|| Starts::new(&resolved.experiment, &run));
                (run.interrupted(), run.perf.cpu_seconds, invalid, figures, starts)
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
            figures: None,
            starts: None,
            cpu_seconds: 0.0,
        };
        match ran {
            Ok(Ok((true, ..))) => return Ok(None),
            Ok(Ok((false, cpu_seconds, invalid, figures, starts))) => {
                (record.cpu_seconds, record.figures) = (cpu_seconds, Some(figures));
                record.starts = starts;
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

    /// The cell of a run, made when it is first needed and checked against the plan.
    fn resolved(&self, run: &PlannedRun) -> Result<Arc<Resolved>, SweepError> {
        let mut slot = self.slots[run.cell].resolved.lock().expect("no thread panics with it");
        if let Some(resolved) = &*slot {
            return Ok(Arc::clone(resolved));
        }
        let cell = self.plan.cell(run);
        let resolved = self
            .base
            .resolve_sets(&cell.set, &cell.scheme, &cell.cc, &self.fabrics)
            .map_err(|problems| SweepError::Other(problems.to_string()))?;
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

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}
