//! The calls of the flow control scheme that concern a packet.
//!
//! The plain path calls [`Hooks::arrive`], [`Hooks::serve`] and [`Hooks::depart`] for every packet.
//! A scheme may have said beforehand which calls it does not need; those are left out here. With
//! shortcuts off it is not asked, and hears of every packet.

use weir_core::{Packet, PacketKind, PortId, Priority, QueueId, Time};
use weir_fc::{Actions, Books, FlowControl, Interest, Mmu, NodeView, PortQueue, Verdict};

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
