//! Carries out the actions of a scheme.

use super::standing::Noted;
use super::{Switch, SwitchTimer};
use crate::env::Env;
use crate::extras::Said;
use crate::frame::{mark_packet, outgoing};
use crate::probe::PauseSent;
use crate::probe::record::Held;
use weir_core::{Bytes, Packet, PortId, Priority, QueueId, Reason, Time};
use weir_fc::{Action, HoldState, PortQueue, Target};

impl Switch {
    /// Carries out the scheme's requests, in order, if there are any.
    #[inline(always)]
    pub(super) fn carry_out(&mut self, now: Time, env: &mut Env<'_, '_>) {
        if !self.scheme.actions.is_empty() {
            self.carry_out_all(now, env);
        }
    }

    #[cold]
    fn carry_out_all(&mut self, now: Time, env: &mut Env<'_, '_>) {
        let mut actions = std::mem::take(&mut self.scheme.actions);
        for action in actions.drain() {
            match action {
                Action::Send { port, message, reason } => {
                    self.send_control(port, Said { message, reason }, now, env);
                }
                Action::Hold { port, target } => self.hold(port, target, HoldState::Held, now),
                Action::Open { port, target } => self.hold(port, target, HoldState::Open, now),
                Action::Limit { port, priority, rate } => {
                    self.ports[port.index()].limit(now, priority, rate);
                    self.wake(port.index(), now);
                }
                Action::Mark { port, queue, mark } => {
                    let inspects = self.ports[port.index()].inspects_heads;
                    assert!(inspects, "a mark is read where heads are inspected, nowhere else");
                    self.enqueue(port.index(), queue, &mark_packet(mark), now);
                    self.wake(port.index(), now);
                }
                Action::Arm { key, at, background } => {
                    self.timers.arm_as(SwitchTimer::Scheme(key), at, background);
                }
                Action::Cancel { key } => self.timers.cancel(SwitchTimer::Scheme(key)),
                Action::Exhausted { port, priority, reason } => {
                    self.log_state(port, priority, true, reason, now);
                }
                Action::Replenished { port, priority, reason } => {
                    self.log_state(port, priority, false, reason, now);
                }
                Action::Retry { port } => {
                    for q in 0..self.ports[port.index()].queues.len() {
                        self.stop_waiting(port.index(), q);
                    }
                    self.wake(port.index(), now);
                }
            }
        }
        self.scheme.actions = actions;
    }

    fn stop_waiting(&mut self, o: usize, q: usize) {
        if std::mem::take(&mut self.ports[o].queues[q].waiting) {
            self.settle_queue(o, q);
        }
    }

    /// Recomputes whether a queue is ready.
    fn settle_queue(&mut self, o: usize, q: usize) {
        let port = &mut self.ports[o];
        let queue = &port.queues[q];
        let ready = !queue.fifo.is_empty() && !port.is_held(q) && !queue.waiting;
        port.scheduler.set_ready(q, ready);
    }

    /// Sends a control frame to the neighbour at `port`.
    fn send_control(&mut self, port: PortId, said: Said, now: Time, env: &mut Env<'_, '_>) {
        if !self.ports[port.index()].tx.up {
            return;
        }
        // what is said again is no new pause
        if said.reason != Reason::Refresh {
            self.log_pause(port, &said, now);
        }
        let p = &mut self.ports[port.index()];
        let frame = outgoing(said, &mut self.tally, &mut p.meter, &mut env.wires.extras);
        p.push_control(frame);
        self.wake(port.index(), now);
    }

    /// Starts or lifts a hold.
    pub(super) fn hold(&mut self, port: PortId, target: Target, state: HoldState, now: Time) {
        let (o, held) = (port.index(), state.is_held());
        let what = match target {
            Target::Queue(q) => {
                let q = q.index();
                if q >= self.ports[o].queues.len() {
                    self.ports[o].grow(&mut self.books.ports[o], q);
                }
                let queue = &mut self.ports[o].queues[q];
                if queue.held == held {
                    return;
                }
                queue.held = held;
                let priority = queue.priority;
                self.ports[o].count_hold(priority, state, now);
                self.apply_hold(o, q, now);
                Held::Queue(QueueId(q as u32), priority)
            }
            Target::Priority(priority) => {
                if !self.ports[o].held_priorities.set(priority, held) {
                    return;
                }
                self.ports[o].count_hold(priority, state, now);
                self.watch(port, priority, state, now);
                for q in 0..self.ports[o].queues.len() {
                    if self.ports[o].queues[q].priority == priority {
                        self.apply_hold(o, q, now);
                    }
                }
                Held::Priority(priority)
            }
        };
        self.probes.held(now, port, target, what, state);
        if !held {
            self.wake(o, now);
        }
    }

    /// Brings one queue's books in line with the holds in force.
    fn apply_hold(&mut self, o: usize, q: usize, now: Time) {
        let port = &mut self.ports[o];
        let held = port.is_held(q);
        let book = &mut self.books.ports[o];
        if book.queues[q].held != held {
            book.queues[q].held = held;
            if book.queues[q].packets > 0 && port.queues[q].data {
                if held {
                    book.active -= 1;
                } else {
                    book.active += 1;
                }
            }
            if held {
                port.queues[q].clock.start(now);
            } else {
                port.queues[q].clock.stop(now);
            }
        }
        port.queues[q].waiting = false;
        self.settle_queue(o, q);
    }

    /// Notes pauses and resumes for the timeline and the pause tree. Repeated pauses
    /// (refreshes) of a whole priority are not events.
    fn log_pause(&mut self, port: PortId, said: &Said, now: Time) {
        for noted in self.standing.send(port, &said.message) {
            self.note(port, noted, said.reason, now);
        }
    }

    /// Notes that the neighbour at `port` must not send a priority, or may again, unless that is
    /// known.
    fn log_state(
        &mut self,
        port: PortId,
        priority: Priority,
        pause: bool,
        reason: Reason,
        now: Time,
    ) {
        if let Some(noted) = self.standing.stop(port, priority, pause) {
            self.note(port, noted, reason, now);
        }
    }

    /// The link at `port` is down: whatever the neighbour was told to stop goes on when it is up
    /// again.
    pub(super) fn forget_pauses(&mut self, port: PortId, now: Time) {
        for noted in self.standing.forget(port) {
            self.note(port, noted, Reason::Link, now);
        }
    }

    fn note(&mut self, port: PortId, noted: Noted, reason: Reason, now: Time) {
        let Noted { priority, pause, scope, flows } = noted;
        self.ports[port.index()].meter.pauses_sent[priority.index()] += u64::from(pause);
        let mut probes = std::mem::take(&mut self.probes);
        let cause = || {
            let main = self.main_egress(port, priority)?;
            Some((main, self.ports[main.index()].meter.holds.held().contains(priority)))
        };
        let sent = PauseSent { port, priority, pause, scope, flows, reason, cause: &cause };
        probes.paused(now, &sent);
        self.probes = probes;
    }

    /// The egress port that holds most bytes of an ingress; the lowest of several.
    fn main_egress(&self, ingress: PortId, priority: Priority) -> Option<PortId> {
        if let Some(processor) = &self.processor {
            return self.main_egress_behind(processor, ingress, priority);
        }
        let from_ingress = |p: &&Packet| p.ingress == ingress && p.priority == priority;
        let bytes_of = |o: usize| -> Bytes {
            (0..self.ports[o].queues.len())
                .flat_map(|q| self.queued(o, q).filter(from_ingress))
                .map(Packet::bytes)
                .sum()
        };
        let mut elsewhere = self.books.mmu.q_in(ingress, priority);
        let mut most = (Bytes::ZERO, None);
        for (o, book) in self.books.ports.iter().enumerate() {
            // no port holds more of it than it holds at all, or than has not been found yet
            if book.q_out[priority.index()].min(elsewhere) > most.0 {
                let bytes = bytes_of(o);
                elsewhere -= bytes;
                if bytes > most.0 {
                    most = (bytes, Some(PortId::from_index(o)));
                }
            }
        }
        most.1
    }

    /// Since when the queue has waited that has waited longest, empty ones included: a packet
    /// that comes to a held queue waits for the same hold.
    pub(crate) fn oldest_wait(&self) -> Option<Time> {
        let ports = self.ports.iter().filter(|p| p.has_holds());
        let holds = ports.flat_map(|p| &p.queues).filter_map(|q| q.clock.since());
        holds.chain(self.waits.values().copied()).min()
    }

    /// Calls `found` for every non-empty queue that waits for the neighbour or for another queue,
    /// for deadlock detection, except those whose wait began after `latest`.
    pub(crate) fn stuck_queues(&self, latest: Time, mut found: impl FnMut(StuckQueue)) {
        for (o, port) in self.ports.iter().enumerate() {
            // only schemes that look at heads leave them waiting, and put marks into queues, which
            // have no length
            if !port.inspects_heads && (port.queue.length() == 0 || !port.has_holds()) {
                continue;
            }
            for (q, queue) in port.queues.iter().enumerate() {
                let held = port.is_held(q);
                if queue.fifo.is_empty() || !held && !port.inspects_heads {
                    continue;
                }
                let at = PortQueue { port: PortId::from_index(o), queue: QueueId(q as u32) };
                let since = if held { queue.clock.since() } else { self.waits.get(&at).copied() };
                if since.is_some_and(|t| t > latest) {
                    continue;
                }
                let Some(head) = self.queued(o, q).next() else { continue };
                let behind = self.scheme.fc.waits().and_then(|w| w.head_waits_for(at, head));
                if held || behind.is_some() {
                    found(StuckQueue {
                        at,
                        priority: queue.priority,
                        bytes: self.books.ports[o].queues[q].bytes,
                        since,
                        held,
                        behind,
                    });
                }
            }
        }
    }
}

impl Switch {
    /// The scheme leaves the head of a queue waiting, perhaps not for the first time.
    pub(super) fn begin_wait(&mut self, o: usize, q: QueueId, now: Time) {
        self.waits.entry(PortQueue { port: PortId::from_index(o), queue: q }).or_insert(now);
    }

    /// The head of a queue leaves it: the next one has not waited yet.
    #[inline]
    pub(super) fn end_wait(&mut self, o: usize, q: QueueId) {
        if !self.waits.is_empty() {
            self.waits.remove(&PortQueue { port: PortId::from_index(o), queue: q });
        }
    }
}

/// A queue that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StuckQueue {
    pub(crate) at: PortQueue,
    pub(crate) priority: Priority,
    pub(crate) bytes: Bytes,
    /// Without a break since: its own hold, or its head left waiting.
    pub(crate) since: Option<Time>,
    /// For the neighbour.
    pub(crate) held: bool,
    /// For this queue of its own port.
    pub(crate) behind: Option<QueueId>,
}

impl Switch {
    /// The watchdog lifts a hold that the scheme still has in force. The scheme's own state is
    /// untouched: its next hold of the priority takes effect again.
    pub(super) fn ignore_hold(&mut self, port: PortId, priority: Priority, now: Time) {
        self.hold(port, Target::Priority(priority), HoldState::Open, now);
    }
}
