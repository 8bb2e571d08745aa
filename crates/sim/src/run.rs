//! The whole run on one screen: build, simulate, report.

use crate::config::{Config, Stop};
use crate::deadlock;
use crate::engine::partition::Partition;
use crate::engine::{Engine, Part};
use crate::error::SimError;
use crate::jobs;
use crate::node::Node;
use crate::outcome::{Finish, JobRecord, Outcome, StepEnd};
use crate::report;
use crate::shared::{Prepared, Shared};
use crate::standstill;
use crate::threads;
use crate::tree::HORIZON;
use crate::world::World;
use std::ops::ControlFlow;
use weir_core::Time;
use weir_net::Topology;
use weir_traffic::Traffic;

/// Global conditions (the end, deadlocks, interruption) are looked at on this grid of
/// simulated time, the same for every engine.
pub const GRID: Time = Time::from_us(10);

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Flows started.
    pub flows_started: u64,
    /// Flows whose payload has arrived.
    pub flows_completed: u64,
    /// Iterations of jobs that all their ranks have ended, and all that there are.
    pub steps: (u64, u64),
    /// The iteration of a job that ended last.
    pub last_step: Option<StepEnd>,
}

/// Watches a run, and may stop it.
pub trait Observer {
    /// Called once, when routes and nodes are there and time begins.
    fn begins(&mut self) {}

    /// Called on the grid. `look` says how far the run has come; it looks at every node, so an
    /// observer should not call it more often than somebody reads it. `Break` ends the run as
    /// [`Finish::Interrupted`].
    fn progress(&mut self, look: &dyn Fn() -> Progress) -> ControlFlow<()>;

    /// Called on the grid: whether somebody wants to see what there is so far. That is a copy of
    /// all flows and of the whole recording.
    fn wants_look(&mut self) -> bool {
        false
    }

    /// Called on the grid: whether somebody wants to see which iterations of jobs have ended.
    fn wants_steps(&mut self) -> bool {
        false
    }

    /// Each job with the iterations that all its ranks have ended so far.
    fn steps_so_far(&mut self, jobs: Vec<JobRecord>) {
        let _ = jobs;
    }

    /// What there is so far: flows and the recording. Everything else is empty.
    fn so_far(&mut self, outcome: Outcome) {
        let _ = outcome;
    }
}

/// No observer: progress is ignored and nothing interrupts the run.
impl Observer for () {
    fn progress(&mut self, _: &dyn Fn() -> Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Runs `traffic` over `topology` under `config`.
pub fn run(
    topology: &Topology,
    traffic: &Traffic,
    config: &Config,
    observer: &mut dyn Observer,
) -> Result<Outcome, SimError> {
    config.check()?;
    run_prepared(topology, &Prepared::new(topology, config), traffic, config, observer)
}

/// [`run`], with what several runs on the same topology share; the outcome is the same. What was
/// prepared for another routing, packet size or switch latency is not used.
pub fn run_prepared(
    topology: &Topology,
    prepared: &Prepared,
    traffic: &Traffic,
    config: &Config,
    observer: &mut dyn Observer,
) -> Result<Outcome, SimError> {
    config.check()?;
    let fresh;
    let prepared = match prepared.fits(config) {
        true => prepared,
        false => {
            fresh = Prepared::new(topology, config);
            &fresh
        }
    };
    let shared = Shared::new(topology, config, prepared)?;
    let mut world = World::build(&shared, traffic)?;
    observer.begins();
    let mut engine = world.engine();
    let finish = world.simulate(&mut *engine, observer);
    // a run that stands still says so with its end
    let held = match finish {
        Finish::TimeLimit | Finish::Interrupted => standstill::held_by_faults(&world),
        _ => Vec::new(),
    };
    let outcome = report::outcome(world.into_remains(), finish)?;
    Ok(Outcome { held_at_end: held, ..outcome })
}

/// How many threads a run would use: what was asked for, at most as many as there is enough work
/// for in each window.
pub fn threads(topology: &Topology, traffic: &Traffic, config: &Config) -> usize {
    Partition::new(topology, threads::threads(topology, traffic, config)).parts.len()
}

impl World<'_> {
    /// Moves from grid point to grid point until there is a reason to stop.
    pub(crate) fn simulate(
        &mut self,
        engine: &mut dyn Engine,
        observer: &mut dyn Observer,
    ) -> Finish {
        let stop = match self.shared.config.stop {
            Stop::Drained => HORIZON,
            Stop::At(t) => t,
        };
        let mut watch = deadlock::Watch::new(self);
        self.at_grid_point();
        loop {
            // Samples must not change the instants at which the run as a whole is looked at.
            let grid = self.next_grid().min(stop);
            while self.sample_at < grid {
                self.advance(engine, self.sample_at);
                self.sample();
            }
            self.advance(engine, grid);
            self.at_grid_point();
            if self.sample_at == grid {
                self.sample();
            }
            if let Some(finish) = self.finished(stop, &mut watch) {
                return finish;
            }
            if observer.progress(&|| self.progress()).is_break() {
                return Finish::Interrupted;
            }
            if observer.wants_steps() {
                observer.steps_so_far(jobs::ended(self.nodes()));
            }
            if observer.wants_look() {
                observer.so_far(self.so_far());
            }
        }
    }

    /// The next grid point at which there can be something to see: idle stretches are skipped.
    fn next_grid(&self) -> Time {
        let next = self.parts.iter().map(Part::earliest).min().unwrap_or(Time::NEVER);
        let from = if next == Time::NEVER { self.now } else { next.max(self.now) };
        let grid = GRID.as_ps();
        Time::from_ps((from.as_ps() / grid + 1).saturating_mul(grid))
    }

    fn finished(&self, stop: Time, watch: &mut deadlock::Watch) -> Option<Finish> {
        if self.drained() {
            return Some(Finish::Drained);
        }
        if self.now >= stop {
            return Some(Finish::TimeLimit);
        }
        watch.find(self)
    }

    fn progress(&self) -> Progress {
        let (steps, last_step) = jobs::steps(self.nodes());
        let mut p = Progress {
            now: self.now,
            packet_hops: 0,
            events: 0,
            flows_started: 0,
            flows_completed: 0,
            steps,
            last_step,
        };
        for node in self.nodes() {
            p.packet_hops += node.tally().hops;
            p.events += node.tally().hops + node.tally().events;
            if let Node::Nic(n) = node {
                p.flows_started += n.count.started;
                p.flows_completed += n.count.completed;
            }
        }
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EngineConfig;
    use weir_core::{Bytes, NodeId};
    use weir_net::build::{self, k_ary};
    use weir_traffic::pattern::List;
    use weir_traffic::{Fabric, FlowSpec};

    fn config() -> Config {
        Config {
            stop: Stop::At(Time::from_us(35)),
            engine: EngineConfig::Window { threads: 2 },
            ..Config::new(weir_fc::scheme("pfc").unwrap())
        }
    }

    /// Hosts of one thread send to each other through the cores: the other thread, with nothing
    /// else to do, gets all of these. (That nothing else changes is for the tests of engines.)
    #[test]
    fn cores_go_where_there_is_less_to_do() {
        let topology = build::k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap();
        let partition = Partition::new(&topology, 2);
        let cores = |partition: &Partition| -> Vec<usize> {
            partition.parts.iter().zip(&partition.settled).map(|(p, s)| p.len() - s).collect()
        };
        assert_eq!(cores(&partition), [2, 2]);
        let mine: Vec<NodeId> = topology
            .hosts()
            .iter()
            .copied()
            .filter(|h| partition.place[h.index()].0 == 0)
            .collect();
        let flows = (0..mine.len())
            .map(|i| FlowSpec::new(mine[i], mine[(i + 4) % mine.len()], Bytes::from_kb(1000)));
        let rate = topology.rate(mine[0], weir_core::PortId(0));
        let mut plan = Traffic::new(Fabric::uniform(topology.hosts(), rate).unwrap());
        plan.class("test").unwrap();
        plan.add(List { flows: flows.collect() }).unwrap();

        let config = config();
        let prepared = Prepared::new(&topology, &config);
        let shared = Shared::new(&topology, &config, &prepared).unwrap();
        let mut world = World::build(&shared, &plan).unwrap();
        let mut engine = world.engine();
        assert_eq!(world.simulate(&mut *engine, &mut ()), Finish::TimeLimit);
        assert_eq!(cores(&world.partition), [0, 4]);
        for id in (0..topology.nodes().len()).map(NodeId::from_index) {
            assert_eq!(world.node(id).id(), id);
        }
    }
}
