//! One port of a switch.

use super::limit::Limits;
use super::scheduler::Scheduler;
use crate::link::{Outages, Transmitter};
use crate::pool::Fifo;
use crate::probe::held::HoldClock;
use crate::probe::length::LengthProbe;
use crate::shared::Shared;
use crate::wire::{WireId, Wires};
use std::collections::VecDeque;
use weir_core::{NodeId, Packet, PortId, Priority, Time};
use weir_fc::FlowControl;

/// One port.
pub(crate) struct Port {
    pub(crate) tx: Transmitter,
    pub(crate) wire_in: WireId,
    /// Packets between arrival and memory.
    pub(crate) pipeline: VecDeque<(Time, Packet)>,
    pub(crate) scheduler: Scheduler,
    pub(crate) fifos: Vec<Fifo>,
    /// Control frames that wait for the wire.
    pub(crate) control: VecDeque<Packet>,
    pub(crate) inspects_heads: bool,
    pub(crate) held_queues: Vec<bool>,
    /// Queues whose head the scheme left waiting.
    pub(crate) waiting: Vec<bool>,
    pub(crate) held_priorities: u8,
    pub(crate) clocks: Vec<HoldClock>,
    /// How many holds of each priority (its own and its queues') are in force.
    pub(crate) holds_in_force: [u32; Priority::COUNT],
    pub(crate) priority_clocks: [HoldClock; Priority::COUNT],
    pub(crate) limits: Option<Box<Limits>>,
    pub(crate) outages: Outages,
    /// Priorities the watchdog has declared stuck.
    pub(crate) storm: u8,
    /// Priorities we have told the neighbour to stop, for the pause log.
    pub(crate) paused_upstream: u8,
    pub(crate) queue: LengthProbe,
    pub(crate) holds: [u64; Priority::COUNT],
    pub(crate) pauses_sent: [u64; Priority::COUNT],
    pub(crate) control_sent: u64,
    pub(crate) marked: u64,
    pub(crate) dropped: u64,
    /// Bytes of data and ACK frames sent, for telemetry.
    pub(crate) tx_bytes: u64,
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
        wires: &Wires,
    ) -> Self {
        let end = shared.topology.ports(node)[port];
        let link = shared.topology.link(end.link);
        let layout = fc.layout(PortId::from_index(port));
        let scheduler = Scheduler::new(&layout);
        let queues = scheduler.len();
        Self {
            tx: Transmitter::new(
                wires.into_port(end.peer, end.peer_port.index()),
                link.rate,
                link.delay,
                shared.config.link.overhead,
            ),
            wire_in: wires.into_port(node, port),
            pipeline: VecDeque::new(),
            scheduler,
            fifos: vec![Fifo::default(); queues],
            control: VecDeque::new(),
            inspects_heads: layout.inspects_heads,
            held_queues: vec![false; queues],
            waiting: vec![false; queues],
            held_priorities: 0,
            clocks: vec![HoldClock::default(); queues],
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
            tx_bytes: 0,
            base: (0, 0),
            held_before: [Time::ZERO; Priority::COUNT],
        }
    }

    /// Makes queues up to and including `q`.
    #[cold]
    pub(crate) fn grow(&mut self, q: usize) {
        self.scheduler.grow(q);
        let n = self.scheduler.len();
        self.fifos.resize(n, Fifo::default());
        self.held_queues.resize(n, false);
        self.waiting.resize(n, false);
        self.clocks.resize(n, HoldClock::default());
    }

    /// Whether queue `q` is held, itself or through its priority.
    #[inline]
    pub(crate) fn is_held(&self, q: usize) -> bool {
        self.held_queues[q]
            || self.held_priorities & 1 << self.scheduler.spec(q).priority.get() != 0
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
