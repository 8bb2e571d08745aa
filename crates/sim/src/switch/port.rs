//! One port of a switch.

use super::limit::Limits;
use super::scheduler::Scheduler;
use crate::engine::partition::Partition;
use crate::link::{Outages, Transmitter};
use crate::pool::Fifo;
use crate::probe::held::HoldClock;
use crate::probe::length::LengthProbe;
use crate::shared::Shared;
use std::collections::VecDeque;
use weir_core::{NodeId, Packet, PortId, Priority, Time};
use weir_fc::{FlowControl, QueueSpec};

/// One egress queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    pub(crate) fifo: Fifo,
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
            fifo: Fifo::default(),
            clock: HoldClock::default(),
            priority: spec.priority,
            data: spec.data,
            held: false,
            waiting: false,
        }
    }
}

/// One port. What every packet touches comes first, in as few cache lines as possible.
#[repr(C)]
pub(crate) struct Port {
    pub(crate) tx: Transmitter,
    pub(crate) queue: LengthProbe,
    /// How many holds are in force.
    pub(crate) all_holds: u32,
    pub(crate) held_priorities: u8,
    /// Priorities that take no packets: stuck according to the watchdog.
    pub(crate) storm: u8,
    /// Priorities we have told the neighbour to stop, for the pause log.
    pub(crate) paused_upstream: u8,
    pub(crate) inspects_heads: bool,
    pub(crate) limits: Option<Box<Limits>>,
    /// Control frames that wait for the wire.
    pub(crate) control: VecDeque<Packet>,
    pub(crate) scheduler: Scheduler,
    pub(crate) queues: Vec<Queue>,
    /// Packets between arrival and memory.
    pub(crate) pipeline: VecDeque<(Time, Packet)>,
    pub(crate) outages: Outages,
    /// How many holds of each priority (its own and its queues') are in force.
    pub(crate) holds_in_force: [u32; Priority::COUNT],
    pub(crate) priority_clocks: [HoldClock; Priority::COUNT],
    pub(crate) holds: [u64; Priority::COUNT],
    pub(crate) pauses_sent: [u64; Priority::COUNT],
    pub(crate) control_sent: u64,
    pub(crate) marked: u64,
    pub(crate) dropped: u64,
    /// What the transmitter had sent when statistics began.
    pub(crate) base: (u64, u64),
    held_before: [Time; Priority::COUNT],
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
        Self {
            tx: Transmitter::new(
                partition.wire_into(end.peer, end.peer_port.index()),
                link.rate,
                link.delay,
                shared.config.link.overhead,
            ),
            pipeline: VecDeque::new(),
            scheduler,
            queues,
            control: VecDeque::new(),
            inspects_heads: layout.inspects_heads,
            held_priorities: 0,
            all_holds: 0,
            holds_in_force: [0; Priority::COUNT],
            priority_clocks: [HoldClock::default(); Priority::COUNT],
            limits: None,
            outages: shared.outages(end.link),
            storm: 0,
            paused_upstream: 0,
            queue: LengthProbe::default(),
            holds: [0; Priority::COUNT],
            pauses_sent: [0; Priority::COUNT],
            control_sent: 0,
            marked: 0,
            dropped: 0,
            base: (0, 0),
            held_before: [Time::ZERO; Priority::COUNT],
        }
    }

    /// Makes queues up to and including `q`.
    #[cold]
    pub(crate) fn grow(&mut self, q: usize) {
        self.scheduler.grow(q);
        for q in self.queues.len()..self.scheduler.len() {
            self.queues.push(Queue::new(self.scheduler.spec(q)));
        }
    }

    /// Whether a packet sent now would overtake nothing and be held by nothing.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.queue.length() == 0
            && self.all_holds == 0
            && self.control.is_empty()
            && !self.inspects_heads
            && self.limits.is_none()
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

    /// Time during which something of each priority was held, the warm-up left out.
    pub(crate) fn held_time(&self, end: Time) -> [Time; Priority::COUNT] {
        let mut held = [Time::ZERO; Priority::COUNT];
        for (p, time) in held.iter_mut().enumerate() {
            *time = self.priority_clocks[p].read(end).saturating_sub(self.held_before[p]);
        }
        held
    }
}
