//! The threads of a live run. Each has a processor for itself and drives some of the nodes, in
//! turn.

use super::Settings;
use super::coordinate::{Board, Seat};
use crate::clock::Clock;
use crate::lab::Lab;
use crate::lateness::PortTimes;
use crate::log::Lines;
use crate::machine::prepare;
use crate::shell::{Counts, Outgoing, Plan, Shell};
use crate::socket::{self, Sent, Sockets, real_time_ns};
use std::sync::atomic::Ordering;
use weir_core::{NodeId, PortId, Time};
use weir_net::Topology;
use weir_scenario::Experiment;
use weir_sim::config::Config;
use weir_sim::stations::Station;

/// What a thread needs beside its nodes.
#[derive(Clone, Copy)]
pub(super) struct Worker<'a> {
    pub(super) e: &'a Experiment,
    pub(super) config: &'a Config,
    pub(super) settings: &'a Settings,
    pub(super) lab: &'a Lab,
    pub(super) board: &'a Board,
}

/// What is left of a node.
pub(super) struct Done {
    pub(super) node: NodeId,
    pub(super) counts: Counts,
    pub(super) times: Vec<PortTimes>,
    pub(super) log: Option<Lines>,
    /// What was due after the end.
    pub(super) unsent: Vec<(PortId, Outgoing)>,
    /// Frames that the kernel dropped.
    pub(super) dropped: u64,
    /// How often an interface came back.
    pub(super) returned: u64,
    /// Whether its thread ran before all others.
    pub(super) real_time: bool,
}

/// Tells the others if a thread ends before it should.
struct Alarm<'a>(&'a Board, bool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.failed.store(true, Ordering::Release);
        }
    }
}

/// A node takes so many frames before it sends again: a flood at one port does not stop the others.
const AT_ONCE: usize = 256;
/// And at the end of a run, before it asks whether all frames have arrived.
const LEFT: usize = 1 << 13;
/// The longest sleep, in nanoseconds: the end of the run may be near.
const LONGEST_SLEEP: u64 = 2_000_000;
/// A thread does not sleep for less: it would wake up late. In nanoseconds.
const AWAKE: u64 = 200_000;
/// A thread that runs before all others leaves its processor to them for so long ...
const BREATH: u64 = 30_000;
/// ... after so long without a sleep. The kernel would stop it for far longer otherwise.
const BREATHLESS: u64 = 500_000;

/// Shares nodes among threads, so that all have about as many ports: the node with the most ports
/// first, each to the thread that has the fewest.
pub(super) fn share(topology: &Topology, nodes: &[NodeId], threads: usize) -> Vec<Vec<NodeId>> {
    let mut by_ports = nodes.to_vec();
    let ports = |node: NodeId| topology.ports(node).len();
    by_ports.sort_by_key(|&node| std::cmp::Reverse(ports(node)));
    let mut shares = vec![Vec::new(); threads.clamp(1, nodes.len().max(1))];
    for node in by_ports {
        let load = |share: &Vec<NodeId>| share.iter().map(|&n| ports(n)).sum::<usize>();
        if let Some(least) = shares.iter_mut().min_by_key(|share| load(share)) {
            least.push(node);
        }
    }
    shares
}

/// A node with its sockets.
struct Driven<'n, 's, 'a> {
    shell: Shell<'s, 'a>,
    sockets: Sockets,
    /// Its seat at the board.
    seat: &'n Seat,
    /// It has handled everything before the end of the run.
    ended: bool,
}

impl<'a> Worker<'a> {
    /// Drives nodes, each with its seat at the board, to the end of the run.
    pub(super) fn run(
        &self,
        at: usize,
        stations: Vec<(usize, &mut Station<'_>)>,
        plan: &Plan,
    ) -> Result<Vec<Done>, String> {
        let mut alarm = Alarm(self.board, true);
        let mut nodes = Vec::new();
        for (seat, station) in stations {
            let id = station.node();
            self.lab.enter(id).map_err(|error| error.to_string())?;
            let ports = self.e.topology.ports(id).len();
            let sockets = Sockets::open(ports).map_err(|e| format!("no packet socket: {e}"))?;
            let logged = self.settings.logged;
            let shell = Shell::new(station, &self.e.topology, self.config, plan.clone(), logged);
            nodes.push(Driven { shell, sockets, seat: &self.board.seats[seat], ended: false });
        }
        let real_time = prepare(self.settings.real_time, at);
        self.board.ready.fetch_add(nodes.len(), Ordering::AcqRel);
        let clock = self.board.wait_for_clock().ok_or("the run did not begin")?;
        let timed = Timed { worker: self, clock, breathes: real_time };
        timed.go(&mut nodes);
        alarm.1 = false;
        let reached = nodes.iter().map(|node| node.shell.now()).max().unwrap_or_default();
        if let Some(end) = self.board.stop(reached, nodes.len()) {
            // what was sent before the others stopped is on its way
            self.board.wait_for_rest(|| {
                nodes.iter_mut().fold(false, |more, node| {
                    let left = timed.take(node, LEFT);
                    node.tell();
                    more | left
                })
            });
            nodes.iter_mut().for_each(|node| node.shell.run(end));
        }
        Ok(nodes.into_iter().map(|node| node.done(real_time)).collect())
    }
}

impl Driven<'_, '_, '_> {
    fn done(mut self, real_time: bool) -> Done {
        self.sockets.count_drops();
        Done {
            node: self.shell.node(),
            unsent: self.shell.unsent(),
            times: std::mem::take(&mut self.shell.times),
            counts: std::mem::take(&mut self.shell.counts),
            log: self.shell.log.take(),
            dropped: self.sockets.dropped,
            returned: self.sockets.returned,
            real_time,
        }
    }

    /// Tells the board.
    fn tell(&self) {
        let (seat, shell) = (self.seat, &self.shell);
        // in this order: frames that are counted as sent are never counted as received too early
        seat.still.store(shell.is_still(), Ordering::Release);
        seat.drained.store(shell.is_drained(), Ordering::Release);
        seat.sent.store(shell.counts.traffic.1, Ordering::Release);
        seat.received.store(shell.counts.traffic.0, Ordering::Release);
        seat.rounds.fetch_add(1, Ordering::AcqRel);
    }
}

/// A thread whose time has begun.
struct Timed<'w, 'a> {
    worker: &'w Worker<'a>,
    clock: Clock,
    /// Whether it leaves its processor to others now and then.
    breathes: bool,
}

impl Timed<'_, '_> {
    /// Until the end.
    fn go(&self, nodes: &mut [Driven<'_, '_, '_>]) {
        let mut slept = real_time_ns();
        loop {
            let mut more = false;
            for node in nodes.iter_mut().filter(|node| !node.ended) {
                more |= self.turn(node);
            }
            if nodes.iter().all(|node| node.ended) {
                return;
            }
            let now = real_time_ns();
            if self.breathes && now > slept + BREATHLESS {
                socket::sleep(BREATH);
                slept = real_time_ns();
            }
            if more {
                continue;
            }
            let end = self.worker.board.end();
            let due = nodes.iter().filter(|n| !n.ended).map(|n| n.shell.due()).min();
            let due = due.unwrap_or(end).min(end).saturating_add(Time::from_ps(1));
            let free = self.clock.real(due).saturating_sub(real_time_ns()).min(LONGEST_SLEEP);
            if let Some(sleep) = free.checked_sub(AWAKE).filter(|&sleep| sleep > 0) {
                socket::wait(nodes.iter().map(|node| &node.sockets), sleep);
                slept = real_time_ns();
            }
        }
    }

    /// Lets a node take what has arrived and do what is due; whether more may have arrived.
    fn turn(&self, node: &mut Driven<'_, '_, '_>) -> bool {
        let board = self.worker.board;
        let end = board.end();
        // the time is read first: what comes in meanwhile is handled next time
        let real = real_time_ns();
        let now = self.clock.scenario(real).min(end);
        let more = self.take(node, AT_ONCE);
        node.shell.run(now);
        self.send(node, now);
        node.tell();
        node.ended = now >= end || board.failed.load(Ordering::Acquire);
        if node.sockets.to_reopen(real) {
            // in the namespace of the node; if that is gone, so is the interface
            let _ = self.worker.lab.enter(node.shell.node());
            node.sockets.reopen(real);
        }
        more
    }

    /// Takes at most so many frames; whether there may be more.
    fn take(&self, node: &mut Driven<'_, '_, '_>, most: usize) -> bool {
        for _ in 0..most {
            let Some(frame) = node.sockets.receive() else { return false };
            let at = self.clock.scenario(frame.at);
            node.shell.receive(frame.port, at, frame.bytes, frame.vlan);
        }
        true
    }

    fn send(&self, node: &mut Driven<'_, '_, '_>, now: Time) {
        while let Some((port, out)) = node.shell.transmit(now) {
            let sent = node.sockets.send(port, out.control, &out.bytes);
            let late = self.clock.scenario(real_time_ns()).saturating_sub(out.due);
            let times = &mut node.shell.times[port.index()];
            times.late.add(late);
            times.too_late += u64::from(late > self.worker.settings.bound);
            match sent {
                Sent::After(tries) => times.retried += u64::from(tries > 0),
                Sent::Never => times.unsent += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_net::build::star;

    #[test]
    fn threads_have_about_as_many_ports_each() {
        // a switch with six ports and six hosts with one: the switch has a thread for itself
        let params = star::Params { hosts: 6, ..star::Params::default() };
        let topology = star::build(&params).expect("a star");
        let all: Vec<NodeId> = (0..7).map(NodeId::from_index).collect();
        let ports = |share: &Vec<NodeId>| -> usize {
            share.iter().map(|&node| topology.ports(node).len()).sum()
        };
        for threads in 1..9 {
            let shares = share(&topology, &all, threads);
            assert_eq!(shares.len(), threads.min(7));
            assert_eq!(shares.iter().map(Vec::len).sum::<usize>(), 7);
            assert!(shares.iter().all(|share| !share.is_empty()));
        }
        let two = share(&topology, &all, 2);
        assert_eq!(two.iter().map(ports).collect::<Vec<_>>(), [6, 6]);
    }
}
