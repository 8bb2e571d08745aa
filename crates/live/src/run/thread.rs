//! The thread of one node.

use super::Settings;
use super::coordinate::{Board, Seat};
use crate::clock::Clock;
use crate::lab::Lab;
use crate::lateness::PortTimes;
use crate::log::Lines;
use crate::machine::prepare;
use crate::shell::{Counts, Outgoing, Plan, Shell};
use crate::socket::{Sent, Sockets, real_time_ns};
use std::sync::atomic::Ordering;
use weir_core::{NodeId, PortId, Time};
use weir_scenario::Experiment;
use weir_sim::config::Config;
use weir_sim::stations::Station;

/// A node and what its thread needs.
pub(super) struct Node<'a> {
    pub(super) e: &'a Experiment,
    pub(super) config: &'a Config,
    pub(super) settings: &'a Settings,
    pub(super) lab: &'a Lab,
    pub(super) board: &'a Board,
    /// Its seat at the board.
    pub(super) at: usize,
}

/// What a thread returns.
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
    /// Whether the thread ran before all others.
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

impl Node<'_> {
    pub(super) fn run(&self, station: &mut Station<'_>, plan: Plan) -> Result<Done, String> {
        let mut alarm = Alarm(self.board, true);
        let id = station.node();
        self.lab.enter(id).map_err(|error| error.to_string())?;
        let ports = self.e.topology.ports(id).len();
        let mut sockets = Sockets::open(ports).map_err(|e| format!("no packet socket: {e}"))?;
        let real_time = prepare(self.settings.real_time);
        let logged = self.settings.logged;
        let mut shell = Shell::new(station, &self.e.topology, self.config, plan, logged);
        self.board.ready.fetch_add(1, Ordering::AcqRel);
        let clock = self.board.wait_for_clock().ok_or("the run did not begin")?;
        let timed = Timed { node: self, clock };
        timed.go(&mut shell, &mut sockets);
        alarm.1 = false;
        if let Some(end) = self.board.stop(shell.now()) {
            // what was sent before the others stopped is on its way
            self.board.wait_for_rest(|| {
                let more = timed.take(&mut shell, &mut sockets, LEFT);
                timed.tell(&shell);
                more
            });
            shell.run(end);
        }
        sockets.count_drops();
        Ok(Done {
            node: id,
            unsent: shell.unsent(),
            times: std::mem::take(&mut shell.times),
            counts: std::mem::take(&mut shell.counts),
            log: shell.log.take(),
            dropped: sockets.dropped,
            returned: sockets.returned,
            real_time,
        })
    }
}

/// A node whose time has begun.
struct Timed<'n> {
    node: &'n Node<'n>,
    clock: Clock,
}

impl Timed<'_> {
    /// Until the end.
    fn go(&self, shell: &mut Shell<'_, '_>, sockets: &mut Sockets) {
        loop {
            let end = self.node.board.end();
            // the time is read first: what comes in meanwhile is handled next time
            let real = real_time_ns();
            let now = self.clock.scenario(real).min(end);
            let more = self.take(shell, sockets, AT_ONCE);
            shell.run(now);
            self.send(shell, sockets, now);
            self.tell(shell);
            if now >= end || self.node.board.failed.load(Ordering::Acquire) {
                return;
            }
            sockets.reopen(real);
            if more {
                continue;
            }
            let due = self.clock.real(shell.due().min(end).saturating_add(Time::from_ps(1)));
            let sleep = due.saturating_sub(real_time_ns()).min(LONGEST_SLEEP);
            if sleep > 0 {
                sockets.wait(sleep);
            }
        }
    }

    /// Takes at most so many frames; whether there may be more.
    fn take(&self, shell: &mut Shell<'_, '_>, sockets: &mut Sockets, most: usize) -> bool {
        for _ in 0..most {
            let Some(frame) = sockets.receive() else { return false };
            shell.receive(frame.port, self.clock.scenario(frame.at), frame.bytes, frame.vlan);
        }
        true
    }

    fn send(&self, shell: &mut Shell<'_, '_>, sockets: &mut Sockets, now: Time) {
        while let Some((port, out)) = shell.transmit(now) {
            let sent = sockets.send(port, out.control, &out.bytes);
            let late = self.clock.scenario(real_time_ns()).saturating_sub(out.due);
            let times = &mut shell.times[port.index()];
            times.late.add(late);
            times.too_late += u64::from(late > self.node.settings.bound);
            match sent {
                Sent::After(tries) => times.retried += u64::from(tries > 0),
                Sent::Never => times.unsent += 1,
            }
        }
    }

    fn tell(&self, shell: &Shell<'_, '_>) {
        let seat: &Seat = &self.node.board.seats[self.node.at];
        // in this order: frames that are counted as sent are never counted as received too early
        seat.still.store(shell.is_still(), Ordering::Release);
        seat.drained.store(shell.is_drained(), Ordering::Release);
        seat.sent.store(shell.counts.traffic.1, Ordering::Release);
        seat.received.store(shell.counts.traffic.0, Ordering::Release);
        seat.rounds.fetch_add(1, Ordering::AcqRel);
    }
}
