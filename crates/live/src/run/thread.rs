//! The threads of a live run. Each has a processor for itself and drives some of the nodes, in
//! turn.

use super::Settings;
use super::coordinate::{Board, Seat};
use super::incoming::Incoming;
use crate::clock::{ClockKind, Reading, SharedClock};
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
    /// Frames that had not come long after they were sent.
    pub(super) overdue: u64,
    /// How often an interface came back.
    pub(super) returned: u64,
    /// Whether its thread ran before all others.
    pub(super) real_time: bool,
}

/// Tells the others if a thread ends before it should, and that they need not wait for it.
struct Alarm<'a> {
    board: &'a Board,
    thread: usize,
    /// It has not ended as it should.
    armed: bool,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.board.failed.store(true, Ordering::Release);
        }
        if let Some(clock) = self.board.clock() {
            clock.done(self.thread, Time::NEVER);
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
/// A frame that has not come so long after it was sent, in nanoseconds, is taken to be lost.
const OVERDUE: u64 = 100_000_000;
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
    /// By port: where the neighbour counts what it has sent here, and how much of it has come.
    /// Nobody counts what other programs send.
    incoming: Vec<Option<Incoming<'n>>>,
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
        let mut alarm = Alarm { board: self.board, thread: at, armed: true };
        let mut nodes = Vec::new();
        for (seat, station) in stations {
            let id = station.node();
            self.lab.enter(id).map_err(|error| error.to_string())?;
            let ports = self.e.topology.ports(id).len();
            let sockets = Sockets::open(ports).map_err(|e| format!("no packet socket: {e}"))?;
            let logged = self.settings.logged;
            let shell = Shell::new(station, &self.e.topology, self.config, plan.clone(), logged);
            let incoming = self.incoming(id);
            let seat = &self.board.seats[seat];
            nodes.push(Driven { shell, sockets, seat, incoming, ended: false });
        }
        let real_time = prepare(self.settings.real_time, at);
        self.board.ready.fetch_add(nodes.len(), Ordering::AcqRel);
        let clock = self.board.wait_for_clock().ok_or("the run did not begin")?;
        let timed = Timed { worker: self, clock, thread: at, breathes: real_time };
        let last = timed.go(&mut nodes);
        alarm.armed = false;
        drop(alarm);
        let reached = nodes.iter().map(|node| node.shell.now()).max().unwrap_or_default();
        if let Some(end) = self.board.stop(reached, nodes.len()) {
            // what was sent before the others stopped is on its way
            self.board.wait_for_rest(|| {
                nodes.iter_mut().fold(false, |more, node| {
                    let left = timed.take(node, &last, LEFT);
                    node.tell();
                    more | left
                })
            });
            nodes.iter_mut().for_each(|node| node.shell.run(end));
        }
        Ok(nodes.into_iter().map(|node| node.done(real_time)).collect())
    }
}

impl Worker<'_> {
    /// Where the neighbours of a node count what they send it.
    fn incoming(&self, node: NodeId) -> Vec<Option<Incoming<'_>>> {
        let of = |end: &weir_net::PortEnd| {
            let seat = self.board.seats.iter().find(|seat| seat.node == end.peer)?;
            Some(Incoming::new(&seat.sent_by_port[end.peer_port.index()]))
        };
        self.e.topology.ports(node).iter().map(of).collect()
    }
}

impl<'n, 's, 'a> Driven<'n, 's, 'a> {
    /// Where frames are on their way from neighbours. What was sent to an interface that is away is
    /// lost.
    fn awaited<'d>(&'d mut self) -> impl Iterator<Item = &'d mut Incoming<'n>>
    where
        's: 'd,
        'a: 'd,
    {
        let open = |port| self.sockets.is_open(PortId::from_index(port));
        let ports = self.incoming.iter_mut().enumerate();
        ports.filter_map(move |(port, from)| from.as_mut().filter(|f| f.awaits() && open(port)))
    }

    fn done(mut self, real_time: bool) -> Done {
        self.sockets.count_drops();
        Done {
            node: self.shell.node(),
            unsent: self.shell.unsent(),
            times: std::mem::take(&mut self.shell.times),
            counts: std::mem::take(&mut self.shell.counts),
            log: self.shell.log.take(),
            dropped: self.sockets.dropped,
            overdue: self.incoming.iter().flatten().map(Incoming::lost).sum(),
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
    clock: &'w SharedClock,
    /// Its number.
    thread: usize,
    /// Whether it leaves its processor to others now and then.
    breathes: bool,
}

impl Timed<'_, '_> {
    /// Until the end; the last time that it has read.
    fn go(&self, nodes: &mut [Driven<'_, '_, '_>]) -> Reading {
        let mut slept = real_time_ns();
        let mut before: Option<Reading> = None;
        loop {
            // the time is read first: what comes in meanwhile is handled next time
            let real = real_time_ns();
            let reading = self.clock.read(self.thread, real, before.as_ref());
            let more = self.round(nodes, &reading, real);
            before = Some(reading);
            if nodes.iter().all(|node| node.ended) {
                return reading;
            }
            self.clock.done(self.thread, reading.now);
            let now = real_time_ns();
            if self.breathes && now > slept + BREATHLESS {
                socket::sleep(BREATH);
                slept = real_time_ns();
            } else if reading.waits_for_another {
                // it may be waiting for this processor
                std::thread::yield_now();
            }
            if !more && let Some(sleep) = self.free(nodes) {
                socket::wait(nodes.iter().map(|node| &node.sockets), sleep);
                slept = real_time_ns();
            }
        }
    }

    /// How long it may sleep: not at all where others would wait for it.
    fn free(&self, nodes: &[Driven<'_, '_, '_>]) -> Option<u64> {
        if self.waits() {
            return None;
        }
        let end = self.worker.board.end();
        let due = nodes.iter().filter(|n| !n.ended).map(|n| n.shell.due()).min();
        let due = due.unwrap_or(end).min(end).saturating_add(Time::from_ps(1));
        let real = self.clock.onward().real(due);
        let free = real.saturating_sub(real_time_ns()).min(LONGEST_SLEEP);
        free.checked_sub(AWAKE).filter(|&sleep| sleep > 0)
    }

    /// Lets all nodes do what is due: first what leaves now, then what is done with what comes in,
    /// so that no node has run beyond a frame of a neighbour on the same thread that was due when
    /// the round began. Whether more may have arrived.
    fn round(&self, nodes: &mut [Driven<'_, '_, '_>], reading: &Reading, real: u64) -> bool {
        let board = self.worker.board;
        let end = board.end();
        let now = reading.now.min(end);
        for node in nodes.iter_mut().filter(|node| !node.ended) {
            self.send(node, now);
        }
        let mut more = false;
        for node in nodes.iter_mut().filter(|node| !node.ended) {
            more |= self.take(node, reading, AT_ONCE);
            if self.waits() {
                self.take_all_sent(node, reading);
            }
            node.shell.run(now);
            self.send(node, now);
            node.tell();
            node.ended = now >= end || board.failed.load(Ordering::Acquire);
            if node.sockets.to_reopen(real) {
                // in the namespace of the node; if that is gone, so is the interface
                let _ = self.worker.lab.enter(node.shell.node());
                node.sockets.reopen(real);
                // what was sent while it was away
                node.awaited().for_each(Incoming::give_up);
            }
        }
        more
    }

    /// Takes at most so many frames; whether there may be more.
    fn take(&self, node: &mut Driven<'_, '_, '_>, reading: &Reading, most: usize) -> bool {
        for _ in 0..most {
            let Some(frame) = node.sockets.receive() else { return false };
            // the clock may have stood still since the reading
            let at = reading.scenario(frame.at).min(self.clock.now(real_time_ns()));
            if let Some(from) = &mut node.incoming[frame.port.index()] {
                from.came();
            }
            node.shell.receive(frame.port, at, frame.bytes, frame.vlan);
        }
        true
    }

    /// Takes what the neighbours have sent and the kernel still has, for a while: when the clock
    /// waits, nobody runs beyond a frame that is on its way.
    fn take_all_sent(&self, node: &mut Driven<'_, '_, '_>, reading: &Reading) {
        let began = real_time_ns();
        while node.awaited().next().is_some() && !self.worker.board.failed.load(Ordering::Acquire) {
            // the time is read before the sockets: this thread may not have run for long
            let waited = real_time_ns().saturating_sub(began);
            if self.take(node, reading, AT_ONCE) {
                continue;
            }
            if waited > OVERDUE {
                node.awaited().for_each(Incoming::give_up);
            } else if self.breathes && waited > BREATHLESS {
                socket::sleep(BREATH);
            } else {
                std::thread::yield_now();
            }
        }
    }

    fn waits(&self) -> bool {
        self.worker.settings.clock == ClockKind::Waiting
    }

    fn send(&self, node: &mut Driven<'_, '_, '_>, now: Time) {
        while let Some((port, out)) = node.shell.transmit(now) {
            // counted first: who sees that time goes on sees that the frame is on its way
            let count = &node.seat.sent_by_port[port.index()];
            count.fetch_add(1, Ordering::AcqRel);
            let sent = node.sockets.send(port, out.control, &out.bytes);
            let late = self.clock.now(real_time_ns()).saturating_sub(out.due);
            let times = &mut node.shell.times[port.index()];
            times.late.add(late);
            times.too_late += u64::from(late > self.worker.settings.bound);
            match sent {
                Sent::After(tries) => times.retried += u64::from(tries > 0),
                Sent::Never => {
                    times.unsent += 1;
                    count.fetch_sub(1, Ordering::AcqRel);
                }
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
