//! Running: `Experiment + Variant -> Config -> weir_sim -> Run`, one after the other or several
//! at a time.

use crate::findings::{
    self, Blames, ClassStats, Facts, Hold, KnownStats, PauseTree, Queues, Selection,
};
pub use crate::meter::{Journal, LastStep, Meter, MeterReading};
use crate::meter::{MILLION, Pages, Watch};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;
use weir_cc::tcp::EcnMode;
use weir_core::{Bytes, Priority};
use weir_fc::IngressBound;
use weir_scenario::experiment::{Experiment, Variant};
use weir_sim::config::{Config, EngineConfig, Reliability, Stop};
use weir_sim::outcome::{Fate, FaultedFrame, Finish, Outcome};
use weir_sim::{Observer, Progress, SimError};

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What tables call it: the scheme, unless a comparison has another name for it.
    pub label: String,
    /// Scheme, algorithm, seed.
    pub variant: Variant,
    /// The settings.
    pub config: Config,
    /// What was found out.
    pub outcome: Outcome,
    /// What it cost.
    pub perf: Perf,
    /// How it was made, if not by the simulator: a reader must know before believing it.
    pub made: Option<String>,
    found: Found,
}

/// What several tables and figures tell of a run, each computed when it is first needed.
#[derive(Clone, Debug, Default)]
struct Found {
    holds: OnceLock<Vec<Hold>>,
    pause_trees: OnceLock<Vec<PauseTree>>,
    blames: OnceLock<Option<Blames>>,
    queues: OnceLock<Queues>,
    class_stats: KnownStats,
}

/// What a run cost. Never part of a file that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Perf {
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Processor time, set-up included.
    pub cpu_seconds: f64,
    /// Processor time before simulated time began (routes, ports, flows), where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_cpu_seconds: Option<f64>,
    /// Time on the wall.
    pub wall_seconds: f64,
}

impl Run {
    /// A run whose outcome is known, however it came about.
    pub fn of_outcome(
        e: &Experiment,
        variant: Variant,
        config: Config,
        outcome: Outcome,
        perf: Perf,
    ) -> Self {
        Self::new(e, variant, config, outcome, perf)
    }

    pub(crate) fn new(
        e: &Experiment,
        variant: Variant,
        config: Config,
        outcome: Outcome,
        perf: Perf,
    ) -> Self {
        let mut outcome = outcome;
        if e.late > 0 && outcome.finish == Finish::Drained {
            // all that started is done, but not all flows have started
            outcome.finish = Finish::TimeLimit;
        }
        let label = variant.scheme.title.to_owned();
        let found = Found::default();
        Self { label, variant, config, outcome, perf, made: None, found }
    }

    /// What paces the flows, in a word or two: the congestion control, or TCP.
    pub fn senders(&self) -> &'static str {
        match (self.config.nic.reliability, self.config.tcp.ecn) {
            (Reliability::Tcp, EcnMode::Off) => "TCP without ECN",
            (Reliability::Tcp, EcnMode::Rfc3168) => "TCP with ECN",
            (Reliability::Tcp, EcnMode::Dctcp) => "DCTCP",
            _ => self.variant.cc.name(),
        }
    }

    /// The pause trees of this run of `e`, the one that did most harm first.
    pub fn pause_trees(&self, e: &Experiment) -> &[PauseTree] {
        self.found.pause_trees.get_or_init(|| PauseTree::of_run(e, self.facts(), self.holds(e)))
    }

    /// The pauses of this run of `e`, each from its start to its end.
    pub fn holds(&self, e: &Experiment) -> &[Hold] {
        self.found.holds.get_or_init(|| findings::holds(e, &self.outcome))
    }

    /// Where the completion times of this run of `e` went, if it was asked for.
    pub fn blames(&self, e: &Experiment) -> Option<&Blames> {
        let blames = || Blames::of_run(e, self.facts(), self.holds(e));
        self.found.blames.get_or_init(blames).as_ref()
    }

    /// How long the queues of this run of `e` were.
    pub fn queues(&self, e: &Experiment) -> &Queues {
        self.found.queues.get_or_init(|| Queues::of_run(&e.topology, &self.outcome))
    }

    /// The flows of a selection that started after the warm-up. Tables, figures and files ask for
    /// the same selections, so the answers are kept.
    pub fn class_stats(&self, which: Selection<'_>) -> Arc<ClassStats> {
        self.found.class_stats.of(which, || match which {
            // the only class is all flows
            Selection { class: Some(class), sizes: None }
                if self.outcome.flows.iter().all(|f| f.class == class) =>
            {
                self.class_stats(Selection::default())
            }
            _ => Arc::new(ClassStats::sort_out(self.facts(), which)),
        })
    }

    fn facts(&self) -> Facts<'_> {
        Facts { seed: self.variant.seed, config: &self.config, outcome: &self.outcome }
    }

    /// The control frame that was lost or late and because of which something stands still, if
    /// anything does: the first of several.
    pub fn lost_frame(&self) -> Option<&FaultedFrame> {
        let stuck = match &self.outcome.finish {
            Finish::Stalled(stuck) => stuck,
            Finish::Deadlock(deadlock) => &deadlock.cycle,
            _ => &self.outcome.held_at_end,
        };
        stuck.iter().filter_map(|s| s.lost.as_ref()).min_by_key(|f| f.at)
    }

    /// The first PAUSE that did not take effect as it was sent, or too late: packets of a lossless
    /// priority that are lost later may be lost because of it.
    pub fn lost_pause(&self) -> Option<&FaultedFrame> {
        let resumes_only = |f: &FaultedFrame| {
            let pauses = f.message.pauses();
            !pauses.is_empty() && pauses.iter().all(|p| !p.pause)
        };
        let late = |f: &&FaultedFrame| !matches!(f.fate, Fate::Repeated(_)) && !resumes_only(f);
        self.outcome.faulted.iter().find(late)
    }

    /// Why the run is no valid result, if it is none: a scheme that promises to lose nothing
    /// lost packets of a lossless priority for lack of memory, and the scenario does not allow it.
    /// A scheme whose PAUSE did not arrive has not broken its promise.
    pub fn invalid(&self, e: &Experiment) -> Option<String> {
        if e.scenario.run.allow_loss || !self.variant.scheme.lossless {
            return None;
        }
        let lossless = |p: Priority| self.config.switch.lossless.contains(p);
        let broken = |d: &&weir_sim::outcome::DropRecord| {
            d.reason.breaks_losslessness() && lossless(d.priority)
        };
        let drops: Vec<_> = self.outcome.drops.iter().filter(broken).collect();
        let first = drops.iter().min_by_key(|d| d.first)?;
        if self.lost_pause().is_some_and(|pause| pause.at < first.first) {
            return None;
        }
        let packets: u64 = drops.iter().map(|d| d.packets).sum();
        let flow = self.outcome.flows.get(first.flow);
        let flow = flow.map_or_else(String::new, |f| {
            format!(", of the flow {} to {}", e.topology.name(f.src()), e.topology.name(f.dst))
        });
        Some(format!(
            "{} lost {} of lossless priority {} ({}), the first at {} in {}{flow}",
            self.label,
            weir_core::format::plural(packets, "packet"),
            first.priority,
            first.reason.name(),
            weir_core::format::time(first.first),
            e.topology.name(first.node),
        ))
    }

    /// What to do about a run that is [invalid](Self::invalid).
    pub fn remedy(&self) -> String {
        let scheme = &self.config.scheme;
        match (scheme.info.ingress_bound)(&scheme.values) {
            IngressBound::Slows => format!(
                "{} slows a neighbour down but never stops it: where buffers wait for each other \
                 in a cycle they fill up at its lowest rate, whatever the headroom; end the run \
                 before with `until` in [run], or accept loss with `allow-loss = true`",
                scheme.info.title
            ),
            _ => "weir check shows the headroom needed; `allow-loss = true` in [run] accepts loss"
                .into(),
        }
    }

    /// Whether the user stopped it.
    pub fn interrupted(&self) -> bool {
        self.outcome.finish == Finish::Interrupted
    }

    /// Whether the run was to go on until all flows are done, and the longest time that can be
    /// simulated was over before.
    pub fn clock_ended(&self) -> bool {
        self.config.stop == Stop::Drained && self.outcome.finish == Finish::TimeLimit
    }

    /// Flows that have an end and did not come to it, and how many have one.
    ///
    /// A flow of a known size has an end. So has a constant-rate source with a time to stop, once
    /// the run has drained: then everything that it sent has arrived, or some of it was lost and
    /// not sent again.
    pub fn unfinished(&self) -> (u64, u64) {
        let drained = self.outcome.finish == Finish::Drained;
        let (mut open, mut all) = (0, 0);
        for f in &self.outcome.flows {
            let finished = f.finish().is_some();
            let lost = drained && f.lost() > f.retransmitted();
            if f.size != Bytes::MAX || finished || lost {
                all += 1;
                open += u64::from(!finished);
            }
        }
        (open, all)
    }
}

/// A run without an outcome.
#[derive(Clone, Debug)]
pub struct Failed {
    /// What tables call it.
    pub label: String,
    /// Scheme, algorithm, seed.
    pub variant: Variant,
    /// Why there is none.
    pub why: Failure,
}

/// Why a run has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// What it was asked for cannot be run.
    BadInput(String),
    /// It violated an invariant on its way.
    Invalid(String),
    /// The user interrupted the others before it began.
    NotBegun,
}

impl Failure {
    /// The failure behind an error of the simulator.
    pub fn new(error: &SimError) -> Self {
        let text = error.to_string();
        if is_bad_input(error) { Self::BadInput(text) } else { Self::Invalid(text) }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BadInput(why) => write!(f, "cannot be run: {why}"),
            Self::Invalid(why) => write!(f, "failed: {why}"),
            Self::NotBegun => write!(f, "not run: interrupted before it began"),
        }
    }
}

/// Whether a run failed because of what it was asked for, rather than on its way.
pub fn is_bad_input(error: &SimError) -> bool {
    match error {
        SimError::Scheme { .. }
        | SimError::Path(_)
        | SimError::Traffic(_)
        | SimError::Setting { .. }
        | SimError::FrameTooLarge(_) => true,
        SimError::Invariant { .. } | SimError::Conservation { .. } | SimError::Reordered { .. } => {
            false
        }
    }
}

/// Runs one variant, the `at`-th of those the meter watches.
pub fn run(e: &Experiment, variant: Variant, meter: &Meter, at: usize) -> Result<Run, SimError> {
    run_by(e, variant, meter, at, |config, watch| {
        weir_sim::run_prepared(&e.topology, &e.prepared(config), &e.traffic, config, watch)
    })
}

/// [`run`], where `simulate` does the work: it gets the settings, and an observer to report to.
pub fn run_by(
    e: &Experiment,
    variant: Variant,
    meter: &Meter,
    at: usize,
    simulate: impl FnOnce(&Config, &mut dyn Observer) -> Result<Outcome, SimError>,
) -> Result<Run, SimError> {
    let config = e.config(variant);
    let gauge = &meter.runs[at];
    // of what jobs send the flows beside them say nothing
    let alone = e.traffic.jobs().is_empty();
    let hops = alone.then(|| expected_hops(e, variant.seed)).flatten();
    let several = match config.engine {
        EngineConfig::Auto { threads } | EngineConfig::Window { threads } => threads > 1,
        EngineConfig::Sequential | EngineConfig::Stepwise => false,
    };
    let cpu_seconds = || if several { process_seconds() } else { thread_seconds() };
    let interrupt = &meter.interrupt;
    let mut begun = None;
    let journal = meter.journal();
    let (ended, written) = (0, (0, Instant::now()));
    let pages = journal.map(|journal| Pages { journal, variant, at, ended, written });
    let mut watch = Watch {
        e,
        pages,
        gauge,
        interrupt,
        hops,
        stop: config.stop,
        begins: &mut || begun = cpu_seconds(),
        looked: None,
    };
    let (wall, cpu) = (Instant::now(), cpu_seconds());
    let outcome = simulate(&config, &mut watch)?;
    let wall_seconds = wall.elapsed().as_secs_f64();
    gauge.hops.store(outcome.totals.packet_hops, Ordering::Relaxed);
    gauge.done.store(MILLION, Ordering::Relaxed);
    let since_start = |t: Option<f64>| Some(t? - cpu?);
    let perf = Perf {
        packet_hops: outcome.totals.packet_hops,
        events: outcome.totals.events,
        cpu_seconds: since_start(cpu_seconds()).unwrap_or(wall_seconds),
        setup_cpu_seconds: since_start(begun),
        wall_seconds,
    };
    let run = Run::new(e, variant, config, outcome, perf);
    if let Some(journal) = journal {
        journal.end(at, e, variant, &run.outcome.jobs);
    }
    Ok(run)
}

/// Runs one variant without reporting progress; `interrupt` ends it.
pub fn run_alone(
    e: &Experiment,
    variant: Variant,
    interrupt: &AtomicBool,
) -> Result<Run, SimError> {
    let config = e.config(variant);
    let (wall, cpu) = (Instant::now(), thread_seconds());
    let (prepared, mut alone) = (e.prepared(&config), Alone(interrupt));
    let outcome = weir_sim::run_prepared(&e.topology, &prepared, &e.traffic, &config, &mut alone)?;
    let wall_seconds = wall.elapsed().as_secs_f64();
    let cpu_seconds = thread_seconds().zip(cpu).map_or(wall_seconds, |(end, start)| end - start);
    let perf = Perf {
        packet_hops: outcome.totals.packet_hops,
        events: outcome.totals.events,
        cpu_seconds,
        setup_cpu_seconds: None,
        wall_seconds,
    };
    Ok(Run::new(e, variant, config, outcome, perf))
}

/// Looks only whether to end.
struct Alone<'a>(&'a AtomicBool);

impl Observer for Alone<'_> {
    fn progress(&mut self, _: &dyn Fn() -> Progress) -> ControlFlow<()> {
        match self.0.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Runs all variants of an experiment, `jobs` at a time, and returns them in order. An interrupt
/// leaves those out that have not begun.
pub fn run_all(
    e: &Experiment,
    variants: &[Variant],
    jobs: usize,
    meter: &Meter,
) -> Vec<Option<Result<Run, SimError>>> {
    let all: Vec<(&Experiment, Variant)> = variants.iter().map(|v| (e, *v)).collect();
    run_each(&all, jobs, meter)
}

/// The same for runs of several experiments.
pub fn run_each(
    all: &[(&Experiment, Variant)],
    jobs: usize,
    meter: &Meter,
) -> Vec<Option<Result<Run, SimError>>> {
    let next = AtomicUsize::new(0);
    let results: Vec<_> = all.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(e, variant)) = all.get(at) else { break };
            if meter.interrupted() {
                break;
            }
            let result = run(e, variant, meter, at);
            *results[at].lock().expect("no run panics while it holds the lock") = Some(result);
        }
    };
    let threads = jobs.clamp(1, all.len().max(1));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    results.into_iter().map(|r| r.into_inner().expect("all threads have ended")).collect()
}

/// Packet-hops that the flows of a seed will take when nothing is lost: every packet and its
/// ACK over every link. `None` when there are too many flows to count, or endless ones.
fn expected_hops(e: &Experiment, seed: u64) -> Option<u64> {
    const MOST: usize = 200_000;
    if e.traffic.endless() {
        return None;
    }
    let routes = e.routes();
    let payload = e.scenario.nic.config.payload.get().max(1);
    let mut total = 0u64;
    for (i, flow) in e.traffic.sources(seed).into_iter().flatten().enumerate() {
        if i >= MOST || flow.size == weir_core::Bytes::MAX {
            return None;
        }
        let links = match flow.path.and_then(|p| e.paths.get(p as usize)) {
            Some(path) => path.nodes.len().saturating_sub(1),
            None => routes.path(&e.topology, flow.src, flow.dst, flow.id.hash64())?.len(),
        };
        let packets = flow.size.get().div_ceil(payload);
        total = total.saturating_add(packets.saturating_mul(2 * links as u64));
    }
    Some(total)
}

/// Processor time of this thread so far, where the system tells it without ado.
pub(crate) fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Processor time of all threads so far, those that have ended included; coarse.
fn process_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // the name of the program, in brackets, may hold blanks
    let (_, fields) = text.rsplit_once(')')?;
    let ticks = |i: usize| fields.split_whitespace().nth(i)?.parse::<f64>().ok();
    // user and system time are the 14th and 15th field of the line, in hundredths of a second
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
