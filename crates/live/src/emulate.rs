//! A live run without a kernel: its shells, bytes between them, and a clock of its own.
//!
//! Nodes wake up late by times that are drawn from how late frames were in a live run. A frame that
//! is due meanwhile leaves late, and one that comes in waits, as on a real machine. What such a run
//! finds otherwise than the simulation comes from lateness alone: nothing else is different.

use crate::lateness::{Histogram, Quantiles};
use crate::shell::{Outgoing, Shell, plan};
use weir_core::rng::Stream;
use weir_core::{NodeId, PortId, Time};
use weir_scenario::{Experiment, Variant};
use weir_sim::config::Stop;
use weir_sim::stations::{Ended, Station, run_apart};
use weir_sim::{Finish, Outcome, SimError};

const PS: Time = Time::from_ps(1);
/// Parts of a draw.
const PARTS: u64 = 1_000_000;

/// How late nodes wake up: the shares of times up to these, and the times between them as likely as
/// each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Lateness([(u64, Time); 5]);

impl Lateness {
    /// As measured; `None` if nothing was.
    pub fn new(measured: &Quantiles) -> Option<Self> {
        let time = |ns: Option<f64>| ns.map(|ns| Time::from_ps((ns * 1000.0) as u64));
        Some(Self([
            (0, Time::ZERO),
            (PARTS / 2, time(measured.p50_ns)?),
            (PARTS / 100 * 99, time(measured.p99_ns)?),
            (PARTS / 1000 * 999, time(measured.p999_ns)?),
            (PARTS, time(measured.max_ns)?),
        ]))
    }

    fn draw(&self, stream: &mut Stream) -> Time {
        let part = stream.below(PARTS);
        let step = self.0.windows(2).find(|step| part < step[1].0).expect("the last is the whole");
        let [(from, low), (to, high)] = [step[0], step[1]];
        let beyond = high.saturating_sub(low).as_ps() * (part - from) / (to - from);
        low + Time::from_ps(beyond)
    }
}

/// What came out, and how late frames left.
#[derive(Debug)]
pub struct Emulated {
    /// The same as of a simulation.
    pub outcome: Outcome,
    /// How late frames were sent, on all links.
    pub late: Quantiles,
}

/// A node, what has come to its sockets, and when it looks at them.
struct Sleeper<'s, 'a> {
    shell: Shell<'s, 'a>,
    arrived: Vec<(PortId, Time, Vec<u8>)>,
    wakes: Time,
}

/// Runs a variant of an experiment with nodes that wake up late, each `draw` by other times.
pub fn run(
    e: &Experiment,
    variant: Variant,
    lateness: &Lateness,
    draw: u64,
) -> Result<Emulated, SimError> {
    let config = e.config(variant);
    let plan = plan(e, variant.seed);
    let end = match config.stop {
        Stop::At(time) => time,
        Stop::Drained => weir_sim::HORIZON,
    };
    let drive = |stations: &mut [Station<'_>]| {
        let shells = stations.iter_mut().map(|station| {
            let shell = Shell::new(station, &e.topology, &config, plan.clone(), false);
            Sleeper { shell, arrived: Vec::new(), wakes: Time::ZERO }
        });
        let mut network = Network {
            e,
            nodes: shells.collect(),
            lateness,
            stream: Stream::new(draw, "lateness of nodes", 0),
            late: Histogram::default(),
        };
        let ended = network.go(end);
        (ended, network.late.quantiles())
    };
    let (outcome, late) = run_apart(&e.topology, &e.prepared(&config), &e.traffic, &config, drive)?;
    Ok(Emulated { outcome: outcome?, late })
}

impl Sleeper<'_, '_> {
    /// Takes what has arrived and does everything that is due before `until`.
    fn work(&mut self, until: Time) {
        for (port, at, bytes) in self.arrived.drain(..) {
            self.shell.receive(port, at, &bytes, None);
        }
        self.shell.run(until);
    }
}

struct Network<'e, 's, 'a> {
    e: &'e Experiment,
    nodes: Vec<Sleeper<'s, 'a>>,
    lateness: &'e Lateness,
    stream: Stream,
    late: Histogram,
}

impl Network<'_, '_, '_> {
    /// Until the end, or until nothing is left to do.
    fn go(&mut self, end: Time) -> Ended {
        for node in 0..self.nodes.len() {
            self.set_alarm(node);
        }
        let mut reached = Time::ZERO;
        let ended = loop {
            let now = self.nodes.iter().map(|node| node.wakes).min().expect("there are nodes");
            if now == Time::NEVER {
                // the simulator finds out why
                break Ended::at(Finish::Stalled(Vec::new()), reached);
            }
            if now >= end {
                break Ended::at(Finish::TimeLimit, end);
            }
            reached = now + PS;
            // first all that leaves at this instant, then all that it does where it arrives
            for node in 0..self.nodes.len() {
                if self.nodes[node].wakes <= now {
                    self.send(node, now);
                }
            }
            for node in 0..self.nodes.len() {
                if self.nodes[node].wakes <= now {
                    self.nodes[node].work(reached);
                    self.set_alarm(node);
                }
            }
            if self.nodes.iter().all(|n| n.shell.is_drained() && n.arrived.is_empty()) {
                break Ended::at(Finish::Drained, reached);
            }
        };
        self.close(ended.now);
        ended
    }

    /// Node `i` sends what is due; who receives it wakes up, sooner or later.
    fn send(&mut self, i: usize, now: Time) {
        let id = self.nodes[i].shell.node();
        while let Some((port, out)) = self.nodes[i].shell.transmit(now) {
            self.late.add(now - out.due);
            let link = self.e.topology.port(id, port);
            let late = self.lateness.draw(&mut self.stream);
            let peer = &mut self.nodes[link.peer.index()];
            peer.arrived.push((link.peer_port, now, out.bytes));
            peer.wakes = peer.wakes.min(now + late);
        }
    }

    /// Node `i` sleeps until it has something to do, and longer.
    fn set_alarm(&mut self, i: usize) {
        let late = self.lateness.draw(&mut self.stream);
        let node = &mut self.nodes[i];
        node.wakes = node.shell.due().saturating_add(late);
    }

    /// What is on its way when the run ends arrives, but is not handled.
    fn close(&mut self, end: Time) {
        for node in &mut self.nodes {
            node.shell.run(end);
            for (port, at, bytes) in std::mem::take(&mut node.arrived) {
                node.shell.receive(port, at.max(end), &bytes, None);
            }
        }
        for i in 0..self.nodes.len() {
            for (port, Outgoing { due, parcel, .. }) in self.nodes[i].shell.unsent() {
                let link = self.e.topology.port(NodeId::from_index(i), port);
                let peer = &mut self.nodes[link.peer.index()].shell;
                peer.give(link.peer_port, due.max(end), parcel);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: Quantiles = Quantiles {
        count: 1000,
        p50_ns: Some(3.0),
        p99_ns: Some(60.0),
        p999_ns: Some(150.0),
        max_ns: Some(900.0),
    };

    #[test]
    fn draws_have_the_measured_quantiles() {
        let lateness = Lateness::new(&MEASURED).expect("measured");
        let mut stream = Stream::new(1, "test", 0);
        let mut drawn: Vec<Time> = (0..100_000).map(|_| lateness.draw(&mut stream)).collect();
        drawn.sort_unstable();
        for (share, ns) in [(50_000, 3.0), (99_000, 60.0), (99_900, 150.0)] {
            let found = drawn[share].as_ps() as f64 / 1000.0;
            assert!((found / ns - 1.0).abs() < 0.15, "{share}: {found}");
        }
        assert!(drawn[99_999] <= Time::from_ns(900));
        assert_eq!(Lateness::new(&Quantiles::default()), None);
    }
}
