//! One port of a switch.

use super::limit::Limits;
use super::marker::Marker;
use super::scheduler::Scheduler;
use crate::chain::{Chain, Store, Taken};
use crate::config::EcnConfig;
use crate::engine::partition::Partition;
use crate::link::{Outages, Transmitter};
use crate::outcome::QueueStats;
use crate::probe::held::{HeldFlows, HoldClock};
use crate::probe::length::{Area, LengthProbe};
use crate::shared::Shared;
use crate::wire::Wires;
use std::collections::VecDeque;
use weir_cc::IntHop;
use weir_core::prefetch::prefetch;
use weir_core::{NodeId, Packet, PacketKind, PortId, Priority, QueueId, Rate, Time, packet::flags};
use weir_fc::{FlowControl, PortBook, PortQueue, QueueBook, QueueSpec};

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

/// One port. What every packet touches comes first, in three cache lines; a packet that passes
/// through an idle port touches the first one only.
#[repr(C, align(64))]
pub(crate) struct Port {
    pub(crate) tx: Transmitter,
    /// Reasons why a packet may not go straight through; see [`Port::is_plain`].
    obstacles: Obstacles,
    pub(crate) held_priorities: u8,
    /// Priorities that take no packets: stuck according to the watchdog.
    pub(crate) storm: u8,
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
    /// Priorities we have told the neighbour to stop, for the pause log.
    pub(crate) paused_upstream: u8,
    /// How many holds of each priority (its own and its queues') are in force.
    pub(crate) holds_in_force: [u32; Priority::COUNT],
    pub(crate) priority_clocks: [HoldClock; Priority::COUNT],
    pub(crate) holds: [u64; Priority::COUNT],
    pub(crate) pauses_sent: [u64; Priority::COUNT],
    pub(crate) control_sent: u64,
    pub(crate) marked: u64,
    /// How it marks.
    pub(crate) ecn: Option<EcnConfig>,
    pub(crate) dropped: u64,
    /// What the transmitter had sent when statistics began.
    pub(crate) base: (u64, u64),
    held_before: [Time; Priority::COUNT],
}

const _: () = assert!(std::mem::offset_of!(Port, queue) == 64, "the first line");
const _: () = assert!(std::mem::offset_of!(Port, area) < 192, "the third line");

/// What a packet need not look at unless it is there: one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Obstacles(u8);

impl Obstacles {
    /// Notes whether an obstacle is there.
    #[inline(always)]
    fn note(&mut self, obstacle: u8, there: bool) {
        self.0 = self.0 & !obstacle | if there { obstacle } else { 0 };
    }

    #[inline(always)]
    fn has(self, obstacle: u8) -> bool {
        self.0 & obstacle != 0
    }
}

mod obstacle {
    /// Packets are queued.
    pub(super) const QUEUED: u8 = 1;
    /// Something is held.
    pub(super) const HELD: u8 = 1 << 1;
    /// Control frames wait for the wire.
    pub(super) const CONTROL: u8 = 1 << 2;
    /// Heads are inspected before they are sent.
    pub(super) const INSPECTED: u8 = 1 << 3;
    /// Not every packet may come in: the link is down, there is a storm, or the scheme decides.
    pub(super) const GUARDED: u8 = 1 << 4;
    /// Queues take turns.
    pub(super) const TURNS: u8 = 1 << 5;
    /// Rates are limited, or were until lately.
    pub(super) const LIMITED: u8 = 1 << 6;
    /// The link is down.
    pub(super) const DOWN: u8 = 1 << 7;
}

impl Port {
    pub(crate) fn new(
        node: NodeId,
        port: usize,
        fc: &dyn FlowControl,
        shared: &Shared<'_>,
        partition: &Partition,
    ) -> Self {
        let end = shared.topology.ports(node)[port];
        let link = shared.topology.link(end.link);
        let layout = fc.layout(PortId::from_index(port));
        let scheduler = Scheduler::new(&layout);
        let queues = (0..scheduler.len()).map(|q| Queue::new(scheduler.spec(q))).collect();
        let mut port = Self {
            tx: Transmitter::new(
                partition.wire_into(end.peer, end.peer_port.index()),
                link.rate,
                link.delay,
                shared.config.link.overhead,
            ),
            scheduler,
            queues,
            control: VecDeque::new(),
            inspects_heads: layout.inspects_heads,
            obstacles: Obstacles::default(),
            held_priorities: 0,
            all_holds: 0,
            adds: shared.telemetry.is_some() || shared.config.switch.ecn.is_some(),
            holds_in_force: [0; Priority::COUNT],
            priority_clocks: [HoldClock::default(); Priority::COUNT],
            limits: None,
            outages: shared.outages(end.link),
            storm: 0,
            paused_upstream: 0,
            queue: LengthProbe::default(),
            area: Area::default(),
            holds: [0; Priority::COUNT],
            pauses_sent: [0; Priority::COUNT],
            control_sent: 0,
            marked: 0,
            ecn: None,
            dropped: 0,
            base: (0, 0),
            held_before: [Time::ZERO; Priority::COUNT],
        };
        port.obstacles.note(obstacle::INSPECTED, layout.inspects_heads);
        port.obstacles.note(obstacle::GUARDED, fc.gates_admission());
        port.obstacles.note(obstacle::TURNS, port.scheduler.has_turns());
        port
    }

    /// Asks for what packets touch to be at hand soon.
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

    /// Whether a packet sent now would overtake nothing and be held by nothing. Where heads are
    /// inspected that is true only of what the scheme is `unconcerned` about.
    #[inline(always)]
    pub(crate) fn is_clear(&self, unconcerned: bool) -> bool {
        match self.obstacles.0 & !(obstacle::GUARDED | obstacle::TURNS) {
            0 => true,
            obstacle::INSPECTED => unconcerned && !self.scheduler.any_ready(),
            _ => false,
        }
    }

    /// Whether the port is empty and there is nothing about it that anybody need know to send a
    /// packet.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.obstacles.0 == 0
    }

    /// Whether a packet, with nothing that could be sent here, is first at the head of `queue` and would
    /// be inspected there.
    #[inline(always)]
    pub(crate) fn inspects_next(&self, queue: QueueId) -> bool {
        let is_free = |queue: &Queue| queue.fifo.is_empty() && !queue.waiting;
        self.obstacles.0 & !(obstacle::GUARDED | obstacle::TURNS) == obstacle::INSPECTED
            && !self.scheduler.any_ready()
            && self.queues.get(queue.index()).is_some_and(is_free)
    }

    /// Whether, with nothing about the port but packets that are held or wait, none of them is in the
    /// way of one for `queue`, where heads are not inspected and no turns taken.
    #[inline(always)]
    pub(crate) fn lets_by(&self, book: &PortBook, queue: Option<QueueId>) -> bool {
        let is_free = |q: QueueId| {
            book.queues.get(q.index()).is_some_and(|book| book.packets == 0 && !book.held)
        };
        let harmless = obstacle::QUEUED | obstacle::HELD | obstacle::INSPECTED | obstacle::TURNS;
        self.obstacles.0 & !harmless == 0
            && !self.scheduler.any_ready()
            && queue.is_some_and(|q| is_free(q) && self.scheduler.is_alone(q))
    }

    /// Whether the scheme, the watchdog or the state of the link decides who may come in.
    #[inline(always)]
    pub(crate) fn is_guarded(&self) -> bool {
        self.obstacles.has(obstacle::GUARDED)
    }

    /// From now on, or no more.
    pub(crate) fn guard(&mut self, guarded: bool) {
        self.obstacles.note(obstacle::GUARDED, guarded);
    }

    /// Whether heads are inspected.
    #[inline(always)]
    pub(crate) fn is_inspected(&self) -> bool {
        self.obstacles.has(obstacle::INSPECTED)
    }

    /// Whether sending takes more than choosing a queue and inspecting its head.
    #[inline(always)]
    pub(crate) fn is_special(&self) -> bool {
        self.obstacles.has(obstacle::LIMITED | obstacle::CONTROL | obstacle::DOWN)
    }

    /// Whether sending takes no more than taking the next head, and no turns.
    #[inline(always)]
    pub(crate) fn is_simple(&self) -> bool {
        !self.obstacles.has(obstacle::INSPECTED | obstacle::LIMITED | obstacle::TURNS)
    }

    /// The link goes up or down.
    pub(crate) fn set_link(&mut self, up: bool) {
        self.tx.up = up;
        self.obstacles.note(obstacle::DOWN, !up);
    }

    /// Whether control frames wait for the wire.
    #[inline(always)]
    pub(crate) fn has_control(&self) -> bool {
        self.obstacles.has(obstacle::CONTROL)
    }

    /// Adds a control frame to those that wait.
    pub(crate) fn push_control(&mut self, frame: Packet) {
        self.control.push_back(frame);
        self.obstacles.note(obstacle::CONTROL, true);
    }

    /// Takes out the control frame that has waited longest.
    pub(crate) fn pop_control(&mut self) -> Option<Packet> {
        let frame = self.control.pop_front();
        self.obstacles.note(obstacle::CONTROL, !self.control.is_empty());
        frame
    }

    /// One hold more, or one less.
    pub(crate) fn count_hold(&mut self, held: bool) {
        self.all_holds = if held { self.all_holds + 1 } else { self.all_holds - 1 };
        self.obstacles.note(obstacle::HELD, self.all_holds != 0);
    }

    /// Sets or lifts the rate limit of a priority.
    pub(crate) fn limit(&mut self, now: Time, priority: Priority, rate: Option<Rate>) {
        self.obstacles.note(obstacle::LIMITED, true);
        self.adds = true;
        let (line, last, busy) = (self.tx.rate, self.tx.last, self.tx.busy_until);
        self.limits
            .get_or_insert_with(|| Box::new(Limits::new(line, last, busy)))
            .set(now, priority, rate);
    }

    /// If rates were limited and are no more, they need not be looked at any longer; they go on measuring
    /// packets for the next limit.
    #[inline(always)]
    pub(crate) fn forget_limits(&mut self) {
        if self.limits().is_some_and(|limits| limits.is_over(self.tx.busy_until)) {
            self.obstacles.note(obstacle::LIMITED, false);
        }
    }

    /// The rate limits, if there are any, or were until lately.
    #[inline(always)]
    pub(crate) fn limits(&self) -> Option<&Limits> {
        if self.obstacles.has(obstacle::LIMITED) { self.limits.as_deref() } else { None }
    }

    /// The queue whose turn it is, of a priority outside `blocked`.
    pub(crate) fn select(&mut self, blocked: u8, stored: &Store) -> Option<QueueId> {
        let Self { scheduler, queues, .. } = self;
        scheduler.select(blocked, |q| {
            stored.front(&queues[q.index()].fifo).map_or(0, |(_, p)| u64::from(p.size))
        })
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
            counters.bytes += u64::from(packet.size);
            counters.packets += 1;
            if counters.packets == 1 && !counters.held && queue.data {
                book.active += 1;
            }
            self.queue.set(now, self.queue.length() + u64::from(packet.size));
            self.area.add(now, packet.size);
            self.obstacles.note(obstacle::QUEUED, true);
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

    /// Takes the head of a queue out and keeps its books; it still stands in the store. With `MARKS`,
    /// it may be a mark.
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
            held.leave(packet.flow, from.port, from.queue, entered, clock);
        }
        if !MARKS || packet.kind != PacketKind::Mark {
            counters.bytes -= u64::from(packet.size);
            counters.packets -= 1;
            if counters.packets == 0 && !counters.held && queue.data {
                book.active -= 1;
            }
            let left = self.queue.length() - u64::from(packet.size);
            self.queue.set(now, left);
            self.area.remove(now, packet.size);
            if left == 0 {
                self.obstacles.note(obstacle::QUEUED, false);
            }
        }
        if queue.fifo.is_empty() {
            self.scheduler.emptied(q);
        }
        packet
    }

    /// Puts a packet on the wire, with what the port adds to it on the way. `left` tells how many bytes
    /// it leaves behind in its queue.
    #[inline(always)]
    pub(crate) fn launch(
        &mut self,
        packet: &Packet,
        left: impl FnOnce() -> u64,
        marker: &mut Marker,
        now: Time,
        wires: &mut Wires,
    ) {
        if self.adds {
            self.launch_with_care(packet, left(), marker, now, wires);
        } else {
            self.tx.send(now, packet, wires);
        }
    }

    /// [`Port::launch`] where there is something to add or to count.
    #[inline(never)]
    fn launch_with_care(
        &mut self,
        packet: &Packet,
        left: u64,
        marker: &mut Marker,
        now: Time,
        wires: &mut Wires,
    ) {
        self.add_to(packet, now, wires);
        let mut packet = *packet;
        if packet.kind == PacketKind::Data && marker.marks(self.ecn.as_ref(), left) {
            self.marked += 1;
            packet.flags |= flags::CE;
        }
        self.tx.send(now, &packet, wires);
    }

    /// [`Port::launch`] from a plain port: nothing is left behind, nothing limits the rate.
    #[inline(always)]
    pub(crate) fn pass(&mut self, packet: &Packet, now: Time, wires: &mut Wires) {
        if self.adds && (packet.extra != Packet::NO_EXTRA || self.limits.is_some()) {
            self.add_to(packet, now, wires);
        }
        self.tx.send(now, packet, wires);
    }

    /// What a packet reports, and what a rate limit must know of it.
    #[inline(never)]
    fn add_to(&mut self, packet: &Packet, now: Time, wires: &mut Wires) {
        if let Some(limits) = &mut self.limits {
            limits.started(now, packet.priority, u64::from(packet.size));
        }
        if packet.extra != Packet::NO_EXTRA {
            self.add_telemetry(packet, now, wires);
        }
    }

    /// Adds what a data packet is to report about this hop. (An ACK takes it home as it is.)
    fn add_telemetry(&self, packet: &Packet, now: Time, wires: &mut Wires) {
        if packet.kind != PacketKind::Data {
            return;
        }
        wires.extras.telemetry.get_mut(packet.extra).push(IntHop {
            time: now,
            tx_bytes: self.tx.wire_bytes,
            queue: self.queue.length(),
            rate: self.tx.rate,
            port: self.tx.wire().0,
        });
    }

    /// Whether queue `q` is held, itself or through its priority.
    #[inline]
    pub(crate) fn is_held(&self, q: usize) -> bool {
        let queue = &self.queues[q];
        queue.held || self.held_priorities & 1 << queue.priority.get() != 0
    }

    /// The warm-up is over: statistics start at `now`.
    pub(crate) fn restart_statistics(&mut self, now: Time) {
        self.queue.restart(now);
        self.area = Area::begin(now, self.queue.length());
        self.base = (self.tx.packets, self.tx.wire_bytes);
        for (before, clock) in self.held_before.iter_mut().zip(&self.priority_clocks) {
            *before = clock.read(now);
        }
        self.holds = [0; Priority::COUNT];
        self.pauses_sent = [0; Priority::COUNT];
        self.control_sent = 0;
        self.marked = 0;
        self.dropped = 0;
    }

    /// How long its queues were together, the warm-up left out.
    pub(crate) fn statistics(&mut self, end: Time) -> QueueStats {
        let area = self.area.until(self.queue.until(end), self.queue.length());
        self.queue.stats(end, area)
    }

    /// Time during which something of each priority was held, the warm-up left out.
    pub(crate) fn held_time(&self, end: Time) -> [Time; Priority::COUNT] {
        let mut held = [Time::ZERO; Priority::COUNT];
        for (p, time) in held.iter_mut().enumerate() {
            *time = self.priority_clocks[p].read(end).saturating_sub(self.held_before[p]);
        }
        held
    }
}
