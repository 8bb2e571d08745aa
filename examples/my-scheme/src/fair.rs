//! *Fair*: PFC whose threshold is shared. An ingress is paused when it holds more than its part of
//! `limit`, which is divided by the number of ingresses that hold anything.

use std::collections::BTreeSet;
use weir::core::{Bytes, ControlMessage, Packet, PortId, Priority, QueueId, Reason};
use weir::fc::*;

const LIMIT: Param = Param {
    name: "limit",
    kind: Kind::Size(&[]),
    fallback: Fallback::Is("100KB"),
    doc: "Bytes that all ingresses of a priority may hold together before they are paused.",
};

pub static INFO: SchemeInfo = SchemeInfo {
    name: "fair",
    title: "Fair",
    summary: "Pauses an ingress that holds more than its part of a common limit.",
    reference: "an example of Weir",
    params: &[LIMIT],
    lossless: false,
    ingress_bound: |_| IngressBound::Memory,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |_| false,
    build: |values, setup| {
        let limit = values.bytes(&LIMIT).expect("has a default").get();
        Ok(Box::new(Fair { schedule: *setup.schedule, limit, paused: BTreeSet::new() }))
    },
};

struct Fair {
    schedule: PrioritySchedule,
    limit: u64,
    paused: BTreeSet<(PortId, Priority)>,
}

impl Fair {
    /// What each ingress may hold: the limit over the number of those that hold something.
    fn part(&self, v: &NodeView<'_>, p: Priority) -> Bytes {
        let ports = (0..v.ports() as u16).map(PortId);
        let holding = ports.filter(|&port| v.q_in(port, p).get() > 0).count();
        Bytes::new(self.limit / holding.max(1) as u64)
    }
}

impl FlowControl for Fair {
    fn layout(&self, _: PortId) -> QueueLayout {
        QueueLayout::per_priority(&self.schedule)
    }

    fn arrive(&mut self, v: &NodeView<'_>, p: &mut Packet, _: PortId, a: &mut Actions) -> QueueId {
        let (ingress, priority) = (p.ingress, p.priority);
        let (length, part) = (v.q_in(ingress, priority), self.part(v, priority));
        if length > part && self.paused.insert((ingress, priority)) {
            let reason = Reason::ingress(ingress, length).above("part", part);
            a.send(ingress, ControlMessage::pfc(priority, u16::MAX), reason);
        }
        QueueId(self.schedule.queue_of()[priority.index()])
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, _: PortQueue, a: &mut Actions) {
        let (ingress, priority) = (p.ingress, p.priority);
        let (length, part) = (v.q_in(ingress, priority), self.part(v, priority));
        let half = Bytes::new(part.get() / 2);
        if length <= half && self.paused.remove(&(ingress, priority)) {
            let reason = Reason::ingress(ingress, length).at_most("part/2", half);
            a.send(ingress, ControlMessage::pfc(priority, 0), reason);
        }
    }

    fn control(&mut self, _: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let ControlMessage::Pfc { enable, quanta } = m else { return };
        for p in enable.iter() {
            let target = Target::Priority(p);
            if quanta[p.index()] > 0 { a.hold(port, target) } else { a.open(port, target) }
        }
    }

    fn link(&mut self, _: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        Priority::ALL.into_iter().for_each(|p| a.open(port, Target::Priority(p)));
        // the neighbour has forgotten that it is paused
        let again = self.paused.iter().filter(|(ingress, _)| link.is_up() && *ingress == port);
        let pause = |p: Priority| ControlMessage::pfc(p, u16::MAX);
        again.for_each(|(_, p)| a.send(port, pause(*p), Reason::Link));
    }

    fn audit(&self, _: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        let left = || Violation { scheme: INFO.name, what: format!("paused: {:?}", self.paused) };
        if network.is_drained() && !self.paused.is_empty() { Err(left()) } else { Ok(()) }
    }

    fn state_size(&self) -> StateSize {
        StateSize { tables: vec![("paused ingresses", self.paused.len() as u64 * 2)] }
    }
}

impl Hints for Fair {}
