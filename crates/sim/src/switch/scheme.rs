//! The flow control scheme of a switch: the calls that concern a packet, and what the scheme then
//! requests.
//!
//! The plain path calls [`Hooks::arrive`], [`Hooks::serve`] and [`Hooks::depart`] for every packet.
//! A scheme may have said beforehand which calls it does not need; those are left out here. With
//! shortcuts off it is not asked, and hears of every packet.

use super::{Switch, SwitchTimer};
use crate::control::outgoing;
use crate::env::Env;
use crate::extras::Said;
use crate::frame::bare;
use crate::probe::record::Held;
use weir_core::{Packet, PacketKind, PortId, Priority, QueueId, Reason, Time};
use weir_fc::{
    Action, Actions, Books, FlowControl, HoldState, Interest, Mmu, NodeView, PortQueue, Target,
    Verdict,
};

/// The scheme of a switch, what it has asked for, and which packets it hears of.
pub(crate) struct Hooks {
    pub(crate) fc: Box<dyn FlowControl>,
    /// What the scheme has asked for and has not been carried out yet.
    pub(super) actions: Actions,
    /// By priority: the queue of all its packets, if the scheme never hears of them.
    never: [Option<QueueId>; Priority::COUNT],
    /// By priority: the queue of packets whose ingress is quiet.
    quiet: [Option<QueueId>; Priority::COUNT],
}

impl Hooks {
    /// Asks the scheme which packets it need not hear of, unless `shortcuts` are off.
    pub(super) fn new(fc: Box<dyn FlowControl>, mmu: &Mmu, shortcuts: bool) -> Self {
        let interest = |p| match shortcuts {
            true => fc.interest(mmu, PortId(0), p),
            false => Interest::Every,
        };
        let never = |p| match interest(p) {
            Interest::Never(queue) => Some(queue),
            _ => None,
        };
        // with thresholds that move, an ingress is never known to be quiet: nobody need look
        let quiet = |p| match interest(p) {
            Interest::Outside(_, range) if range.is_empty() => None,
            some => some.unheard(),
        };
        Self {
            never: Priority::ALL.map(never),
            quiet: Priority::ALL.map(quiet),
            actions: Actions::new(),
            fc,
        }
    }

    /// Whether the scheme hears of some packets of a priority, but not of all.
    pub(super) fn hears_in_part(&self) -> bool {
        self.quiet != self.never
    }

    /// The queue of packets of `priority` whose ingress is quiet, if an ingress can be.
    #[inline(always)]
    pub(super) fn quiet_queue(&self, priority: Priority) -> Option<QueueId> {
        self.quiet[priority.index()]
    }

    /// Whether the scheme hears of no packet of `priority`.
    #[inline(always)]
    pub(super) fn never_hears(&self, priority: Priority) -> bool {
        self.never[priority.index()].is_some()
    }

    /// A packet was stored: returns the queue of `egress` that takes it.
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        books: &mut Books,
        packet: &mut Packet,
        egress: PortId,
        now: Time,
    ) -> QueueId {
        let priority = packet.priority.index();
        if let Some(queue) = self.never[priority] {
            return queue;
        }
        if self.quiet[priority].is_some() {
            // The scheme may change its mind now; it is asked again when a packet departs.
            books.mmu.clear_quiet(packet.ingress, packet.priority);
        }
        self.fc.arrive(&NodeView { now, books }, packet, egress, &mut self.actions)
    }

    /// Asks the scheme whether a packet passes `egress`, which is idle, is empty and could send
    /// nothing else. Returns the queue that it passes through; if `None`, the scheme's state is
    /// unchanged.
    #[inline(always)]
    pub(super) fn pass(
        &mut self,
        books: &Books,
        packet: &mut Packet,
        egress: PortId,
        now: Time,
    ) -> Option<QueueId> {
        if self.never_hears(packet.priority) {
            return None;
        }
        self.fc.pass(&NodeView { now, books }, packet, egress)
    }

    /// What to do with the head of a queue of `priority` whose turn it is, on a port whose layout
    /// says that heads are inspected.
    #[inline(always)]
    pub(super) fn serve(
        &mut self,
        books: &Books,
        at: PortQueue,
        priority: Priority,
        head: &Packet,
        now: Time,
    ) -> Verdict {
        if self.never_hears(priority) {
            return Verdict::Send;
        }
        self.fc.serve(&NodeView { now, books }, at, head, &mut self.actions)
    }

    /// A packet leaves onto the wire. The scheme need not hear of it if the
    /// packet's ingress is quiet with it and without it: that is for the caller to see.
    #[inline(always)]
    pub(super) fn depart(
        &mut self,
        books: &mut Books,
        packet: &mut Packet,
        from: PortQueue,
        now: Time,
    ) {
        if self.never_hears(packet.priority) {
            return;
        }
        self.fc.depart(&NodeView { now, books }, packet, from, &mut self.actions);
        if self.quiet[packet.priority.index()].is_some() {
            books.update_quiet_range(&*self.fc, packet.ingress, packet.priority);
        }
    }

    /// A packet or a mark is thrown away: with its queue, or when it arrived.
    #[cold]
    pub(super) fn discard(
        &mut self,
        books: &mut Books,
        packet: &mut Packet,
        from: Option<PortQueue>,
        now: Time,
    ) {
        let is_mark = packet.kind == PacketKind::Mark;
        if !is_mark && self.never_hears(packet.priority) {
            return;
        }
        self.fc.discard(&NodeView { now, books }, packet, from, &mut self.actions);
        if !is_mark && self.quiet[packet.priority.index()].is_some() {
            books.update_quiet_range(&*self.fc, packet.ingress, packet.priority);
        }
    }

    /// Asks the scheme anew which packets that come in by `ingress` it need not hear of.
    pub(super) fn refresh(&self, books: &mut Books, ingress: PortId) {
        for priority in Priority::ALL.into_iter().filter(|p| self.quiet[p.index()].is_some()) {
            books.update_quiet_range(&*self.fc, ingress, priority);
        }
    }
}

/// What the scheme requests is carried out.
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
                Action::Arm { key, at, class } => {
                    self.timers.arm_as(SwitchTimer::Scheme(key), at, class);
                }
                Action::Cancel { key } => self.timers.cancel(SwitchTimer::Scheme(key)),
                Action::Exhausted { port, priority, reason } => {
                    self.log_state(port, priority, HoldState::Held, reason, now);
                }
                Action::Replenished { port, priority, reason } => {
                    self.log_state(port, priority, HoldState::Open, reason, now);
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
}

/// An order mark that shows `mark` to the scheme when it reaches the head of its queue.
fn mark_packet(mark: u32) -> Packet {
    Packet { wire_tag: mark, ..bare(PacketKind::Mark) }
}
