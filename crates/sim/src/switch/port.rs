//! One port of a switch.

use super::marker::Marker;
use super::obstacles::Obstacles;
use super::scheduler::{Scheduler, Schedulers};
use crate::chain::{Chain, Store, Taken};
use crate::config::EcnAt;
use crate::limit::Limits;
use crate::link::{Outages, Transmitter, WireNumbers, Wires};
use crate::outcome::{DropReason, QueueStats};
use crate::probe::held::{HeldFlows, HoldClock, PortHolds};
use crate::probe::length::{Area, LengthProbe};
use crate::probe::port::PortMeter;
use crate::probe::record::{PortLook, Watched};
use crate::shared::Shared;
use std::collections::VecDeque;
use weir_cc::IntHop;
use weir_cc::ecn::Marking;
use weir_core::prefetch::prefetch;
use weir_core::{
    Bytes, NodeId, Packet, PacketKind, PortId, Priority, PrioritySet, QueueId, Rate, Time,
    packet::flags,
};
use weir_fc::{EgressRoom, FlowControl, HoldState, Mmu, PortBook, PortQueue, QueueBook, QueueSpec};

/// See [`NO_LINK`](crate::chain::NO_LINK).
const NO_QUEUE: &str = "queues are of this port";

/// One egress queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    pub(crate) fifo: Chain,
    /// Runs while the queue is held, itself or through its priority.
    pub(crate) clock: HoldClock,
    pub(crate) priority: Priority,
    /// Counts in N_active.
    pub(crate) data: bool,
    /// Held by itself.
    pub(crate) held: bool,
    /// The scheme left its head waiting.
    pub(crate) waiting: bool,
}

impl Queue {
    fn new(spec: &QueueSpec) -> Self {
        Self {
            fifo: Chain::default(),
            clock: HoldClock::default(),
            priority: spec.priority,
            data: spec.data,
            held: false,
            waiting: false,
        }
    }
}

/// One port. What every packet touches comes first, in three cache lines; a packet that bypasses
/// the queues of an idle port touches the first one only.
#[repr(C, align(64))]
pub(crate) struct Port {
    pub(crate) tx: Transmitter,
    /// What can stand in the way of a packet, for shortcuts.
    pub(super) obstacles: Obstacles,
    pub(crate) held_priorities: PrioritySet,
    /// Priorities that take no packets: stuck according to the watchdog.
    pub(crate) storm: PrioritySet,
    /// Packets leave with more than they came with, or are counted by a rate limit.
    adds: bool,
    /// How many holds are in force.
    all_holds: u32,
    pub(crate) queue: LengthProbe,
    pub(crate) queues: Vec<Queue>,
    pub(crate) area: Area,
    pub(crate) scheduler: Scheduler,
    pub(crate) inspects_heads: bool,
    /// Control frames that wait for the wire.
    control: VecDeque<Packet>,
    limits: Option<Box<Limits>>,
    pub(crate) outages: Outages,
    /// From when on the link takes data, after its last outage.
    pub(crate) settled: Time,
    pub(crate) meter: PortMeter,
    /// How it marks.
    pub(crate) ecn: Option<Marking>,
    /// It marks packets as they leave their queues.
    marks_on_exit: bool,
    /// Packets take telemetry with them.
    reports: bool,
    /// The most that may wait here, if the scheme limits that.
    room: Option<EgressRoom>,
    /// The memory has thresholds for what waits here.
    bounded: bool,
}

const _: () = assert!(std::mem::offset_of!(Port, queue) == 64, "the first line");
const _: () = assert!(std::mem::offset_of!(Port, area) < 192, "the third line");

impl Port {
    pub(crate) fn new(
        node: NodeId,
        port: usize,
        fc: &dyn FlowControl,
        shared: &Shared<'_>,
        wires: &WireNumbers,
        schedulers: &mut Schedulers,
    ) -> Self {
        let end = shared.topology.ports(node)[port];
        let link = shared.topology.link(end.link);
        let layout = fc.layout(PortId::from_index(port));
        let (inspects_heads, room) = (layout.inspects_heads, layout.room);
        let scheduler = schedulers.make(layout);
        let queues = (0..scheduler.len()).map(|q| Queue::new(scheduler.spec(q))).collect();
        let mut port = Self {
            tx: Transmitter::new(
                wires.at_port(end.peer, end.peer_port.index()),
                link.rate,
                link.delay,
                shared.config.link.overhead,
            ),
            scheduler,
            queues,
            control: VecDeque::new(),
            inspects_heads,
            room,
            bounded: shared.config.switch.egress.is_some(),
            obstacles: Obstacles::default(),
            held_priorities: PrioritySet::EMPTY,
            all_holds: 0,
            adds: shared.telemetry.is_some() || shared.config.switch.ecn.is_some(),
            reports: shared.telemetry.is_some(),
            limits: None,
            outages: shared.outages(end.link),
            storm: PrioritySet::EMPTY,
            settled: Time::ZERO,
            queue: LengthProbe::default(),
            area: Area::default(),
            meter: PortMeter::default(),
            ecn: None,
            marks_on_exit: shared.config.switch.ecn_at == EcnAt::Dequeue,
        };
        port.obstacles.set(Obstacles::INSPECTED, inspects_heads);
        port.obstacles.set(Obstacles::GUARDED, port.limits_egress());
        port.obstacles.set(Obstacles::TURNS, port.scheduler.has_turns());
        port
    }

    /// Whether anything but the memory keeps out a packet that finds `queued` bytes of its priority
    /// here.
    #[inline(always)]
    pub(super) fn accepts(
        &self,
        packet: &Packet,
        queued: Bytes,
        mmu: &Mmu,
    ) -> Result<(), DropReason> {
        if !self.obstacles.any(Obstacles::GUARDED) {
            return Ok(());
        }
        if !self.tx.up {
            return Err(DropReason::LinkDown);
        }
        if self.storm.contains(packet.priority) {
            return Err(DropReason::Watchdog);
        }
        if self.room.is_some_and(|room| !room.fits(packet, queued)) {
            return Err(DropReason::Scheme);
        }
        if self.bounded && queued + packet.bytes() > mmu.egress_threshold(packet.priority) {
            return Err(DropReason::EgressFull);
        }
        Ok(())
    }

    /// Whether what may wait here is limited, by the scheme or by the memory.
    pub(super) fn limits_egress(&self) -> bool {
        self.room.is_some() || self.bounded
    }

    /// Prefetches what packets touch.
    pub(crate) fn prefetch(&self) {
        prefetch(&self.tx);
        prefetch(&self.queue);
        prefetch(&self.area);
    }

    /// Asks for the queues that are in use, and what is in them. A priority that has packets now
    /// will have some more.
    pub(crate) fn prefetch_contents(&self, book: &PortBook, stored: &Store) {
        self.queue.prefetch();
        self.scheduler.prefetch();
        let mut ready = self.scheduler.first_ready();
        while ready != 0 {
            let q = ready.trailing_zeros() as usize;
            ready &= ready - 1;
            if let (Some(queue), Some(counters)) = (self.queues.get(q), book.queues.get(q)) {
                prefetch(counters);
                stored.prefetch(&queue.fifo);
            }
        }
    }

    /// Makes queues up to and including `q`.
    #[cold]
    pub(crate) fn grow(&mut self, book: &mut PortBook, q: usize) {
        self.scheduler.grow(q);
        for q in self.queues.len()..self.scheduler.len() {
            self.queues.push(Queue::new(self.scheduler.spec(q)));
            book.queues.push(QueueBook { held: self.is_held(q), ..QueueBook::default() });
        }
    }

    /// Notes whether more than the memory decides on admission.
    pub(crate) fn set_guarded(&mut self, guarded: bool) {
        self.obstacles.set(Obstacles::GUARDED, guarded);
    }

    /// The link fails.
    pub(crate) fn fail(&mut self) {
        self.tx.up = false;
        self.obstacles.set(Obstacles::DOWN, true);
    }

    /// No data before this instant.
    #[inline(always)]
    pub(crate) fn data_from(&self) -> Time {
        if self.obstacles.any(Obstacles::DOWN) { self.settled } else { Time::ZERO }
    }

    /// Whether the link takes data: it is up, and if it was down before, long enough.
    pub(crate) fn takes_data(&mut self, now: Time) -> bool {
        let settled = self.tx.up && now >= self.settled;
        self.obstacles.set(Obstacles::DOWN, !settled);
        settled
    }

    /// Whether control frames wait for the wire.
    #[inline(always)]
    pub(crate) fn has_control(&self) -> bool {
        !self.control.is_empty()
    }

    /// Adds a control frame to those that wait.
    pub(crate) fn push_control(&mut self, frame: Packet) {
        self.control.push_back(frame);
        self.obstacles.set(Obstacles::CONTROL, true);
    }

    /// Takes out the control frame that has waited longest.
    pub(crate) fn pop_control(&mut self) -> Option<Packet> {
        let frame = self.control.pop_front();
        self.obstacles.set(Obstacles::CONTROL, !self.control.is_empty());
        frame
    }

    /// A hold of a queue or of a whole priority starts or ends.
    pub(crate) fn count_hold(&mut self, priority: Priority, state: HoldState, now: Time) {
        self.meter.holds.count(priority, state, now);
        match state {
            HoldState::Held => self.all_holds += 1,
            HoldState::Open => self.all_holds -= 1,
        }
        self.obstacles.set(Obstacles::HELD, self.all_holds != 0);
    }

    /// Whether any queue is held.
    pub(crate) fn has_holds(&self) -> bool {
        self.all_holds != 0
    }

    /// Sets or lifts the rate limit of a priority.
    pub(crate) fn limit(&mut self, now: Time, priority: Priority, rate: Option<Rate>) {
        self.obstacles.set(Obstacles::LIMITED, true);
        self.adds = true;
        let (line, last, busy) = (self.tx.rate, self.tx.last, self.tx.busy_until);
        self.limits
            .get_or_insert_with(|| Box::new(Limits::new(line, last, busy)))
            .set(now, priority, rate);
    }

    /// Notes whether rates are still limited. Limits that are over go on measuring packets, for
    /// the next limit.
    pub(super) fn look_at_limits(&mut self) {
        let over = |limits: &Limits| limits.is_over(self.tx.busy_until);
        if self.limits().is_some_and(over) {
            self.obstacles.set(Obstacles::LIMITED, false);
        }
    }

    /// The rate limits, if there have been any.
    #[inline(always)]
    pub(crate) fn limits(&self) -> Option<&Limits> {
        self.limits.as_deref()
    }

    /// The queue whose turn it is, of a priority outside `blocked`.
    pub(crate) fn select(&mut self, blocked: PrioritySet, stored: &Store) -> Option<QueueId> {
        let Self { scheduler, queues, .. } = self;
        scheduler.select(blocked, |q| {
            stored.front(&queues[q.index()].fifo).map_or(0, |(_, p)| u64::from(p.size))
        })
    }

    /// [`Port::select`] where nothing is blocked. Mostly queues take turns that are alone in doing
    /// so: that takes no call.
    #[inline(always)]
    pub(crate) fn select_any(&mut self, stored: &Store) -> Option<QueueId> {
        let first = self.scheduler.undisputed().or_else(|| self.scheduler.select_in_main());
        first.or_else(|| self.select(PrioritySet::EMPTY, stored))
    }

    /// Appends to a queue and keeps its books; returns whether there is a queue more now that could
    /// send. With `MARKS`, what is appended may be a mark.
    #[inline(always)]
    pub(crate) fn enqueue<const MARKS: bool>(
        &mut self,
        book: &mut PortBook,
        stored: &mut Store,
        q: QueueId,
        packet: &Packet,
        now: Time,
    ) -> bool {
        let at = q.index();
        let (Some(queue), Some(counters)) = (self.queues.get_mut(at), book.queues.get_mut(at))
        else {
            return self.enqueue_on_demand::<MARKS>(book, stored, q, packet, now);
        };
        let alone = queue.fifo.is_empty();
        stored.push(&mut queue.fifo, queue.clock.read(now), packet);
        if !MARKS || packet.kind != PacketKind::Mark {
            counters.bytes += packet.bytes();
            counters.packets += 1;
            if counters.packets == 1 && !counters.held && queue.data {
                book.active += 1;
            }
            self.queue.set_ahead(now, self.queue.length() + u64::from(packet.size));
            self.area.add(now, packet.size);
            self.obstacles.set(Obstacles::QUEUED, true);
        }
        let ready = alone && !counters.held && !queue.waiting;
        if ready {
            self.scheduler.set_ready(at, true);
        }
        ready
    }

    /// [`Port::enqueue`] where the queue has to be made first.
    #[cold]
    fn enqueue_on_demand<const MARKS: bool>(
        &mut self,
        book: &mut PortBook,
        stored: &mut Store,
        q: QueueId,
        packet: &Packet,
        now: Time,
    ) -> bool {
        self.grow(book, q.index());
        self.enqueue::<MARKS>(book, stored, q, packet, now)
    }

    /// Takes the head of a queue out and keeps its books; it still stands in the store. With
    /// `MARKS`, it may be a mark.
    #[inline(always)]
    pub(crate) fn dequeue<'a, const MARKS: bool>(
        &mut self,
        book: &mut PortBook,
        stored: &'a mut Store,
        held: &mut HeldFlows,
        from: PortQueue,
        now: Time,
    ) -> &'a Packet {
        let q = from.queue.index();
        let queue = self.queues.get_mut(q).expect(NO_QUEUE);
        let counters = book.queues.get_mut(q).expect(NO_QUEUE);
        let Taken { packet, time: entered, .. } = stored.pop(&mut queue.fifo);
        let clock = queue.clock.read(now);
        if entered != clock && packet.kind == PacketKind::Data {
            let ended = queue.clock.ended(now);
            held.leave(packet.flow, from.port, from.queue, entered, clock, ended);
        }
        if !MARKS || packet.kind != PacketKind::Mark {
            counters.bytes -= packet.bytes();
            counters.packets -= 1;
            if counters.packets == 0 && !counters.held && queue.data {
                book.active -= 1;
            }
            let left = self.queue.length() - u64::from(packet.size);
            self.queue.set_ahead(now, left);
            self.area.remove(now, packet.size);
            if left == 0 {
                self.obstacles.set(Obstacles::QUEUED, false);
            }
        }
        if queue.fifo.is_empty() {
            self.scheduler.emptied(q);
        }
        packet
    }

    /// Starts a packet on the wire, with what the port adds to it on the way. `left` tells how many
    /// bytes it leaves behind in its queue. Returns the flags that it then has.
    #[inline(always)]
    pub(crate) fn start(
        &mut self,
        packet: &Packet,
        left: impl FnOnce() -> Bytes,
        marker: &mut Marker,
        now: Time,
        wires: &mut Wires,
    ) -> u8 {
        let mut packet = packet;
        let marked;
        if self.adds {
            if packet.extra != Packet::NO_EXTRA || self.limits.is_some() {
                self.add_to(packet, now, wires);
            }
            let left = left();
            if left > Bytes::ZERO
                && self.marks_on_exit
                && packet.kind == PacketKind::Data
                && marker.marks(self.ecn.as_ref(), left)
            {
                marked = self.mark(packet, marker);
                packet = &marked;
            }
        }
        self.tx.send(now, packet, wires);
        packet.flags
    }

    /// The packet with a mark, if it is ECN-capable.
    #[inline(never)]
    fn mark(&mut self, packet: &Packet, marker: &Marker) -> Packet {
        if !marker.may_mark(packet) {
            return *packet;
        }
        self.meter.marked += 1;
        Packet { flags: packet.flags | flags::CE, ..*packet }
    }

    /// What a packet reports, and what a rate limit must know of it.
    #[inline(never)]
    fn add_to(&mut self, packet: &Packet, now: Time, wires: &mut Wires) {
        if let Some(limits) = &mut self.limits {
            limits.started(now, packet.priority, u64::from(packet.size));
        }
        if self.reports && packet.extra != Packet::NO_EXTRA {
            self.add_telemetry(packet, now, wires);
        }
    }

    /// Adds what a data packet is to report about this hop. (An ACK takes it home as it is.)
    fn add_telemetry(&self, packet: &Packet, now: Time, wires: &mut Wires) {
        if packet.kind != PacketKind::Data {
            return;
        }
        let hop = IntHop {
            time: now,
            tx_bytes: self.tx.wire_bytes,
            queue: self.queue.length(),
            rate: self.tx.rate,
            port: self.tx.wire().0,
        };
        wires.extras.telemetry.push(packet.extra, hop);
    }

    /// Whether queue `q` is held, itself or through its priority.
    #[inline]
    pub(crate) fn is_held(&self, q: usize) -> bool {
        let queue = &self.queues[q];
        queue.held || self.held_priorities.contains(queue.priority)
    }

    /// The warm-up is over: statistics start at `now`.
    pub(crate) fn restart_statistics(&mut self, now: Time) {
        self.queue.restart(now);
        self.area = Area::begin(now, self.queue.length());
        self.meter.restart(now, &self.tx);
    }

    /// How long its queues were together from `start`, when statistics did, until `end`.
    pub(crate) fn statistics(&mut self, start: Time, end: Time) -> QueueStats {
        let area = self.area.until(self.queue.until(end), self.queue.length());
        self.queue.stats((start, end), area)
    }
}

impl Watched for Port {
    #[inline]
    fn look(&mut self) -> PortLook {
        let longest = self.queue.take_longest();
        PortLook { sent: self.tx.wire_bytes, longest, length: self.queue.length() }
    }

    fn look_last(&mut self) -> PortLook {
        let longest = self.queue.longest();
        PortLook { sent: self.tx.wire_bytes, longest, length: self.queue.length() }
    }

    fn holds(&self) -> &PortHolds {
        &self.meter.holds
    }
}
