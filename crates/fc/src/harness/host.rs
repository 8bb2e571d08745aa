//! A NIC on the bench: its queues are flow slots, and packets are made when they are sent.

use super::{Bench, PRIORITY, TestPacket, node, node_setup};
use crate::{
    Actions, FlowControl, Group, NodeSetup, NodeView, PortQueue, PrioritySchedule, QueueLayout,
    QueueSpec, Role,
};
use weir_core::{Packet, PortId, QueueId};

impl<S: FlowControl> Bench<S> {
    /// A NIC with one port of 40 Gb/s and 20 ns and `slots` flow slots, at a switch with these
    /// thresholds, around the scheme that `make` returns.
    ///
    /// # Panics
    /// When a size does not parse.
    pub fn host(
        slots: usize,
        xoff: &str,
        xon: &str,
        make: impl FnOnce(&NodeSetup<'_>) -> S,
    ) -> Self {
        let (ports, thresholds) = node(1, xoff, xon);
        let schedule = PrioritySchedule::default();
        let scheme = make(&node_setup(Role::Nic, &ports, &schedule, &thresholds));
        let layout = QueueLayout {
            groups: vec![Group { queues: slots as u32, quantum: None }],
            queues: vec![QueueSpec { priority: PRIORITY, data: true }; slots],
            ..QueueLayout::default()
        };
        Self::assemble(Box::new(scheme), None, Role::Nic, ports, thresholds, [layout].into())
    }
}

impl<S: FlowControl + ?Sized> Bench<S> {
    /// NIC: a flow takes `slot`.
    pub fn flow_starts(&mut self, slot: QueueId, p: TestPacket) {
        let mut a = Actions::new();
        let view = NodeView { now: self.now, books: &self.books };
        self.scheme.flow_starts(&view, PortQueue { port: PortId(0), queue: slot }, &p.0, &mut a);
        self.carry_out(&mut a);
    }

    /// NIC: the flow in `slot` is over.
    pub fn flow_ends(&mut self, slot: QueueId, p: TestPacket) {
        let mut a = Actions::new();
        let view = NodeView { now: self.now, books: &self.books };
        self.scheme.flow_ends(&view, PortQueue { port: PortId(0), queue: slot }, &p.0, &mut a);
        self.carry_out(&mut a);
    }

    /// NIC: `p` came in and has left the memory of the card.
    pub fn deliver(&mut self, p: TestPacket) {
        let mut a = Actions::new();
        let view = NodeView { now: self.now, books: &self.books };
        self.scheme.delivered(&view, &p.0, &mut a);
        self.carry_out(&mut a);
    }

    /// NIC: the flow in `slot` sends `p`; returns it as it goes on the wire.
    pub fn transmit(&mut self, slot: QueueId, p: TestPacket) -> Packet {
        let (mut p, mut a) = (p.0, Actions::new());
        let view = NodeView { now: self.now, books: &self.books };
        self.scheme.depart(&view, &mut p, PortQueue { port: PortId(0), queue: slot }, &mut a);
        self.carry_out(&mut a);
        p
    }
}
