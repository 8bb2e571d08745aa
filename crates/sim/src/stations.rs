//! Nodes without an engine.
//!
//! A node affects the world through its wires only and reads no clock. So it can be run by
//! anything that puts frames on the wires into it and takes frames from the wires out of it: a
//! [`Station`] is a node of a run in that form. The live switch drives stations by real time and
//! real frames, a replay by a log. What comes out of a run of stations is the [`Outcome`] of any
//! other run.
//!
//! [`run_logged`] is a simulation that shows every frame to a [`Listener`] as it crosses a link.
//! Its results are those of [`run`](crate::run()).

use crate::config::Config;
use crate::deadlock;
use crate::engine::Part;
use crate::engine::relay::Relay;
pub use crate::engine::relay::{Crossed, Listener};
use crate::env::Env;
use crate::error::SimError;
use crate::node::Node;
use crate::outcome::{Finish, Outcome};
use crate::parcel::Parcel;
use crate::probe::Hears;
use crate::report;
use crate::run::{GRID, Observer};
use crate::shared::{Prepared, Shared};
use crate::standstill;
use crate::tree;
pub use crate::world::Visitors;
use crate::world::{Remains, World};
use weir_core::{NodeId, PortId, Time};
use weir_net::Topology;
use weir_traffic::Traffic;

/// [`run_prepared`](crate::run_prepared) with a listener. Much slower, with the same outcome.
pub fn run_logged(
    topology: &Topology,
    prepared: &Prepared,
    traffic: &Traffic,
    config: &Config,
    observer: &mut dyn Observer,
    listener: &mut dyn Listener,
) -> Result<Outcome, SimError> {
    check(topology, config)?;
    let shared = Shared::new(topology, config, prepared)?;
    let mut world = World::apart(&shared, traffic)?;
    observer.begins();
    let mut engine = Relay::new(&mut world.parts, shared.lookahead(), listener);
    let finish = world.simulate(&mut engine, observer);
    listener.ends(world.now);
    report::outcome(world.into_remains(), finish)
}

/// The most nodes that can be apart: each knows all wires of the network.
pub const MOST_NODES: usize = 4096;

fn check(topology: &Topology, config: &Config) -> Result<(), SimError> {
    config.check()?;
    let nodes = topology.nodes().len();
    if nodes > MOST_NODES {
        let valid = "single nodes can be run in networks of up to 4096";
        return Err(SimError::Setting {
            what: "the number of nodes",
            value: nodes.to_string(),
            valid,
        });
    }
    Ok(())
}

/// What a node has sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The port it leaves by.
    pub port: PortId,
    /// When its last bit arrives at the neighbour.
    pub arrival: Time,
    /// What it is.
    pub parcel: Parcel,
}

/// A node of a run, for somebody else to drive.
pub struct Station<'a> {
    part: Part,
    shared: &'a Shared<'a>,
    id: NodeId,
    /// It has handled everything before.
    now: Time,
    /// When probes look at it next, if any do.
    grid: Time,
}

/// How a run of stations has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Why.
    pub finish: Finish,
    /// Every node has handled everything before.
    pub now: Time,
    /// Packets that no host of the run has sent and a node was given, and how many of them were
    /// taken from nodes: frames of other programs.
    pub visitors: Visitors,
}

impl Ended {
    /// Without packets from outside.
    pub fn at(finish: Finish, now: Time) -> Self {
        Self { finish, now, visitors: Visitors::default() }
    }
}

/// Builds every node of a run as a [`Station`], by id, lets `drive` run them, and joins what they
/// found out.
///
/// The outcome is an error if frames were lost or made up between the stations: what is still on
/// its way must have [arrived](Station::arrive), whether or not it was handled.
///
/// A run that ended as [`Finish::Stalled`] with nothing in it, because all stations were
/// [still](Station::is_still), ends as what is found in them: a deadlock with its cycle, or what
/// waits for what.
pub fn run_apart<T>(
    topology: &Topology,
    prepared: &Prepared,
    traffic: &Traffic,
    config: &Config,
    drive: impl FnOnce(&mut [Station<'_>]) -> (Ended, T),
) -> Result<(Result<Outcome, SimError>, T), SimError> {
    check(topology, config)?;
    let shared = Shared::new(topology, config, prepared)?;
    let mut world = World::apart(&shared, traffic)?;
    let parts = std::mem::take(&mut world.parts);
    let mut stations: Vec<Station<'_>> =
        parts.into_iter().map(|part| Station::new(part, &shared)).collect();
    let (ended, found) = drive(&mut stations);
    world.now = ended.now;
    world.parts = stations.into_iter().map(|s| s.part).collect();
    let finish = match ended.finish {
        Finish::Stalled(stuck) if stuck.is_empty() => why_still(&world),
        finish => finish,
    };
    let remains = Remains { visitors: ended.visitors, ..world.into_remains() };
    Ok((report::outcome(remains, finish), found))
}

/// Why nothing moves any more.
fn why_still(world: &World<'_>) -> Finish {
    let found = deadlock::Watch::new(world).find(world);
    found.unwrap_or_else(|| Finish::Stalled(standstill::all_stuck(world)))
}

/// How long all stations must have been [still](Station::is_still) until nothing will move any
/// more: longer than any pause lasts by itself.
pub fn patience(topology: &Topology, config: &Config) -> Time {
    standstill::patience(topology, config)
}

impl<'a> Station<'a> {
    fn new(mut part: Part, shared: &'a Shared<'a>) -> Self {
        part.announce();
        let node = &mut part.nodes[0];
        let on_grid = node.probes().hear(Hears::GRID);
        if on_grid {
            node.show(|probes, sight| probes.grid(Time::ZERO, sight));
        }
        let grid = if on_grid { GRID } else { Time::NEVER };
        Self { id: node.id(), part, shared, now: Time::ZERO, grid }
    }

    /// Which node it is.
    pub fn node(&self) -> NodeId {
        self.id
    }

    /// It has handled everything before this time: nothing can arrive earlier.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When it has something to do next, arrivals included.
    pub fn next(&self) -> Time {
        self.part.earliest()
    }

    /// A frame arrives by `port`. Call it before [`Station::run`] reaches `at`, and in the order of
    /// time for each port.
    ///
    /// # Panics
    /// When the node has handled a later time already.
    pub fn arrive(&mut self, port: PortId, at: Time, parcel: Parcel) {
        assert!(at >= self.now, "a frame arrives at {at}, after {}", self.now);
        self.part.wires.deliver((self.id, port), at, parcel);
    }

    /// Handles everything before `until`. What it sends, [`Station::departures`] has.
    pub fn run(&mut self, until: Time) {
        tree::check_comparisons();
        loop {
            let sample = self.node_ref().probes().due();
            let stop = until.min(sample).min(self.grid);
            if self.next() < stop {
                let Part { nodes, wires, .. } = &mut self.part;
                nodes[0].run(stop, &mut Env { wires, shared: self.shared });
            }
            self.now = self.now.max(stop);
            let now = self.now;
            let node = &mut self.part.nodes[0];
            if stop == self.grid {
                node.show(|probes, sight| probes.grid(now, sight));
                self.grid += GRID;
            }
            if stop == sample {
                node.show(|probes, sight| probes.sample(now, sight));
            }
            if stop == until {
                return;
            }
        }
    }

    /// Takes what it has sent since the last call. The frames of one port are in order.
    pub fn departures(&mut self) -> Vec<Departure> {
        let mut sent = Vec::new();
        let topology = self.shared.topology;
        for end in topology.ports(self.id) {
            let crossings = self.part.wires.sent_to(end.peer.index());
            sent.extend(crossings.map(|((node, port), arrival, parcel)| Departure {
                port: topology.port(node, port).peer_port,
                arrival,
                parcel,
            }));
        }
        sent
    }

    /// Whether nothing is left to send, and nothing but control frames is inside or about to
    /// arrive.
    pub fn is_drained(&self) -> bool {
        self.node_ref().is_drained() && !self.part.wires.carries_traffic()
    }

    /// Whether nothing here moves a packet by itself: what is inside, if anything, waits for a
    /// neighbour.
    pub fn is_still(&self) -> bool {
        !self.node_ref().has_foreground_traffic() && !self.part.wires.carries_traffic()
    }

    /// Packets received, and events handled, so far.
    pub fn work(&self) -> (u64, u64) {
        let tally = self.node_ref().tally();
        (tally.hops, tally.events)
    }

    fn node_ref(&self) -> &Node {
        &self.part.nodes[0]
    }
}
