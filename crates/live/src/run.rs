//! A live run: a thread per processor that drives some of the nodes, sockets between them, real
//! time divided by the dilation.

mod coordinate;
mod incoming;
mod report;
mod thread;

pub use report::{LinkReport, LiveReport};

use crate::clock::{ClockKind, Dilation, SLACK, SharedClock};
use crate::lab::{Lab, LabError};
use crate::log::Lines;
use crate::shell::{Plan, plan};
use coordinate::Board;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;
use thread::Done;
use weir_core::{NodeId, Time};
use weir_scenario::{Experiment, Variant};
use weir_sim::config::Config;
use weir_sim::stations::{Ended, Station, Visitors, run_apart};
use weir_sim::{Outcome, SimError};

/// How to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How much slower than the scenario.
    pub dilation: Dilation,
    /// What the scenario's clock does when a thread is late.
    pub clock: ClockKind,
    /// 999 of 1000 frames may be so late at most, in scenario time.
    pub bound: Time,
    /// It ends then at the latest, as a rehearsal does.
    pub until: Option<Time>,
    /// Hosts that are left to other programs.
    pub free: Vec<NodeId>,
    /// Whether what nodes are given and answer is kept.
    pub logged: bool,
    /// Whether threads ask to run before all others.
    pub real_time: bool,
    /// How many threads drive the nodes.
    pub threads: usize,
}

impl Settings {
    /// How far a waiting clock may be ahead of a thread.
    pub(crate) fn slack(&self) -> Option<Time> {
        match self.clock {
            ClockKind::Waiting => Some((self.bound / SLACK).max(Time::from_ps(1))),
            ClockKind::Free => None,
        }
    }
}

/// Why there was no run.
#[derive(Debug, Error)]
pub enum LiveError {
    /// There is no network.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// It cannot be built.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The thread of some nodes has failed.
    #[error("the thread of {nodes} failed: {why}")]
    Nodes {
        /// Which.
        nodes: String,
        /// Why.
        why: String,
    },
}

/// What a live run has found out.
#[derive(Debug)]
pub struct Live {
    /// The same as of a simulation; an error if frames were lost between the nodes.
    pub outcome: Result<Outcome, SimError>,
    /// How well time was kept.
    pub report: LiveReport,
    /// The lines of the log, by node, and until when it goes.
    pub log: Vec<Lines>,
    /// Nodes have handled everything before.
    pub end: Time,
}

/// Runs a variant of an experiment live. `interrupt` ends it early.
pub fn run(
    e: &Experiment,
    variant: Variant,
    settings: &Settings,
    interrupt: &AtomicBool,
    ready: impl FnOnce(&Lab),
) -> Result<Live, LiveError> {
    let config = e.config(variant);
    let longest = config.nic.max_frame().get() as usize + 1500;
    let lab = Lab::build(&e.topology, longest.clamp(1500, 65_000), &settings.free)?;
    ready(&lab);
    let plan = plan(e, variant.seed);
    let drive = |stations: &mut [Station<'_>]| {
        let driven = drive(e, &config, settings, &lab, &plan, stations, interrupt);
        let ended = match &driven {
            Ok(driven) => driven.ended.clone(),
            Err(_) => Ended::at(weir_sim::Finish::Interrupted, Time::ZERO),
        };
        (ended, driven)
    };
    let (outcome, driven) =
        run_apart(&e.topology, &e.prepared(&config), &e.traffic, &config, drive)?;
    let mut driven = driven?;
    let report = LiveReport::new(e, settings, &driven);
    let log = driven.nodes.iter_mut().filter_map(|done| done.log.take()).collect();
    Ok(Live { outcome, report, log, end: driven.ended.now })
}

/// A thread with the names of its nodes, if it could be started.
type Thread<'s> = std::io::Result<std::thread::ScopedJoinHandle<'s, Result<Vec<Done>, String>>>;

/// What the threads have returned.
struct AllDriven {
    ended: Ended,
    /// For how many real nanoseconds the clock has stood still.
    stood_still: u64,
    nodes: Vec<Done>,
}

fn drive(
    e: &Experiment,
    config: &Config,
    settings: &Settings,
    lab: &Lab,
    plan: &Plan,
    stations: &mut [Station<'_>],
    interrupt: &AtomicBool,
) -> Result<AllDriven, LiveError> {
    let driven = |node: &NodeId| !settings.free.contains(node);
    let all: Vec<NodeId> = stations.iter().map(|s| s.node()).filter(driven).collect();
    let shares = thread::share(&e.topology, &all, settings.threads);
    let mut rest: Vec<Option<&mut Station<'_>>> = stations.iter_mut().map(Some).collect();
    // in the order in which threads take their seats
    let ports = |&node: &NodeId| (node, e.topology.ports(node).len());
    let board = Board::new(shares.iter().flatten().map(ports));
    let worker = thread::Worker { e, config, settings, lab, board: &board };
    let results: Vec<Result<Vec<Done>, LiveError>> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut seats = 0..all.len();
        for (at, share) in shares.iter().enumerate() {
            let names: Vec<&str> = share.iter().map(|&node| e.topology.name(node)).collect();
            let mine = share.iter().filter_map(|node| rest[node.index()].take());
            let mine = seats.by_ref().take(share.len()).zip(mine).collect();
            let work = move || worker.run(at, mine, plan);
            let thread = std::thread::Builder::new().spawn_scoped(scope, work);
            if thread.is_err() {
                board.failed.store(true, Ordering::Release);
            }
            threads.push((names.join(", "), thread));
        }
        let patience = weir_sim::stations::patience(&e.topology, config);
        board.coordinate(config, settings, shares.len(), patience, interrupt);
        let join = |(nodes, thread): (String, Thread<'_>)| {
            let failed = |why: String| LiveError::Nodes { nodes: nodes.clone(), why };
            let handle = thread.map_err(|error| failed(error.to_string()))?;
            let panicked = |_| failed("it panicked: see above".into());
            handle.join().map_err(panicked)?.map_err(failed)
        };
        threads.into_iter().map(join).collect()
    });
    let nodes: Vec<Vec<Done>> = results.into_iter().collect::<Result<_, _>>()?;
    let mut nodes: Vec<Done> = nodes.into_iter().flatten().collect();
    // in the order of the network, whichever thread had them
    nodes.sort_by_key(|done| done.node);
    let end = board.reached();
    deliver(e, stations, &mut nodes, end);
    let visitors = nodes.iter().fold(Visitors::default(), |sum, done| Visitors {
        entered: sum.entered + done.counts.foreign.0,
        left: sum.left + done.counts.foreign.1 + done.counts.lost,
    });
    let ended = Ended { finish: board.finish(), now: end, visitors };
    let stood_still = board.clock().map_or(0, SharedClock::stood_still);
    Ok(AllDriven { ended, stood_still, nodes })
}

/// Puts what was due after the end on the wires, where it counts as on its way.
fn deliver(e: &Experiment, stations: &mut [Station<'_>], nodes: &mut [Done], end: Time) {
    for done in nodes {
        for (port, out) in done.unsent.drain(..) {
            let link = e.topology.port(done.node, port);
            if !crate::foreign::is_foreign(out.parcel.packet.flow) {
                let at = out.due.max(end).max(stations[link.peer.index()].now());
                stations[link.peer.index()].arrive(link.peer_port, at, out.parcel);
            } else {
                done.counts.foreign.1 += 1;
            }
        }
    }
}
