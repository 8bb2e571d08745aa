//! *Door* pauses the ingresses of a long egress queue with PFC frames until it has shrunk by half.

use std::collections::BTreeSet;
use weir_core::{Bytes, ControlMessage, Packet, PortId, Priority, QueueId, Reason};
use weir_fc::harness::{Bench, PRIORITY};
use weir_fc::*;

const LIMIT: Param = Param {
    name: "limit",
    kind: Kind::Size(&[]),
    fallback: Fallback::Is("30KB"),
    doc: "Egress queue length beyond which the ingresses that feed it are paused.",
};

pub(crate) static INFO: SchemeInfo = SchemeInfo {
    name: "door",
    title: "Door",
    summary: "Pauses every ingress that feeds a long egress queue.",
    reference: "the guide to writing schemes",
    params: &[LIMIT],
    lossless: false,
    ingress_bound: |_| IngressBound::Memory,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |_| false,
    build: |values, setup| Ok(Box::new(Door::new(values, setup))),
};

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Door {
    schedule: PrioritySchedule,
    limit: Bytes,
    /// Which ingress is paused because of which queue: (egress, priority), ingress.
    shut: BTreeSet<((PortId, Priority), PortId)>,
}

impl Door {
    pub(crate) fn new(values: &Values, setup: &NodeSetup<'_>) -> Self {
        let limit = values.bytes(&LIMIT).expect("has a default");
        Self { schedule: *setup.schedule, limit, shut: BTreeSet::new() }
    }
}

impl FlowControl for Door {
    fn layout(&self, _: PortId) -> QueueLayout {
        QueueLayout::per_priority(&self.schedule)
    }

    fn arrive(&mut self, v: &NodeView<'_>, p: &mut Packet, o: PortId, a: &mut Actions) -> QueueId {
        let length = v.q_out(o, p.priority);
        if length > self.limit && self.shut.insert(((o, p.priority), p.ingress)) {
            let reason = Reason::egress(o, length).above(LIMIT.name, self.limit);
            a.send(p.ingress, ControlMessage::pfc(p.priority, u16::MAX), reason);
        }
        QueueId(self.schedule.queue_of()[p.priority.index()])
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        let (queue, length) = ((from.port, p.priority), v.q_out(from.port, p.priority));
        let half = Bytes::new(self.limit.get() / 2);
        if length <= half {
            let reason = Reason::egress(from.port, length).at_most("limit/2", half);
            let shut = self.shut.iter().filter(|(q, _)| *q == queue);
            shut.for_each(|(_, i)| a.send(*i, ControlMessage::pfc(p.priority, 0), reason));
            self.shut.retain(|(q, _)| *q != queue);
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
        let shut = self.shut.iter().filter(|(_, ingress)| link.is_up() && *ingress == port);
        let pause = |p| ControlMessage::pfc(p, u16::MAX);
        shut.for_each(|((_, p), _)| a.send(port, pause(*p), Reason::Link));
    }

    fn audit(&self, _: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        let left = || Violation { scheme: INFO.name, what: format!("paused: {:?}", self.shut) };
        if network.is_drained() && !self.shut.is_empty() { Err(left()) } else { Ok(()) }
    }

    fn state_size(&self) -> StateSize {
        StateSize { tables: vec![("doors", self.shut.len() as u64 * 5)] }
    }
}

impl Hints for Door {}

pub(crate) fn main() {
    let (input, output) = (PortId(0), PortId(1));
    let mut bench = Bench::switch(&INFO, &Values::new(), 2);
    let send = |seq| bench.arrive(bench.packet(input, 1000).seq(seq), output);
    let queue = (0..40).map(send).last().expect("some packets came");
    println!("40 packets in: {:?}", bench.take_sent());
    while bench.depart(output, queue).is_some() {}
    println!("and out: {:?}", bench.take_sent());
    bench.control(output, &ControlMessage::pfc(PRIORITY, 1));
    println!("the neighbour pauses us: held = {}", bench.is_held(output, QueueId(4)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::control::{OwnMessage, Pause, PauseScope};
    use weir_fc::explore::explore;
    use weir_fc::explore::line::{Line, LineFlow};

    #[test]
    fn whoever_feeds_a_long_queue_is_paused_once() {
        let mut bench = Bench::switch(&INFO, &Values::new(), 2);
        for seq in 0..30 {
            bench.arrive(bench.packet(PortId(0), 1000).seq(seq), PortId(1));
        }
        assert!(bench.sent().is_empty(), "30 KB are not above the limit of 30 KB");
        for seq in 30..40 {
            bench.arrive(bench.packet(PortId(0), 1000).seq(seq), PortId(1));
        }
        // the 31st packet of 1000 B takes the queue above the limit
        let reason = Reason::egress(PortId(1), Bytes::new(31_000));
        assert_eq!(bench.reasons(), [reason.above(LIMIT.name, Bytes::new(30_000))]);
        assert_eq!(bench.take_sent().len(), 1, "one PAUSE, however long the queue becomes");
    }

    #[test]
    fn nothing_is_stranded_in_any_order_of_events() {
        // packets of 1000 B and a limit of two of them, so that five pause switch and hosts
        let mut values = Values::new();
        values.set(&LIMIT, "2KB").expect("a size");
        let door = |setup: &NodeSetup<'_>| Door::new(&values, setup);
        let node = || Bench::around(4, "75KB", "45KB", door);
        let flow = |enter, packets| LineFlow::new(enter, (1, 2), packets, 1000);
        let line = Line::new(vec![node(), node()], vec![flow((0, 2), 4), flow((1, 3), 4)])
            .with_hosts(|slots| Bench::host(slots, "75KB", "45KB", door));
        let seen = explore(&line, 1_000_000);
        assert!(seen.failure.is_none() && seen.complete, "{:?}", seen.failure);
        assert!(seen.coverage.held > 0 && seen.coverage.hosts_held > 0, "{:?}", seen.coverage);
    }

    #[test]
    fn a_message_of_its_own_has_words_a_length_and_what_it_pauses() {
        let (ingress, priority, length) = (PortId(0), PRIORITY, 31_000);
        let measured = Reason::egress(PortId(1), Bytes::new(length));
        let mut a = Actions::new();
        a.send(
            ingress,
            ControlMessage::Own(Box::new(OwnMessage {
                scheme: INFO.name,
                words: vec![u64::from(priority.get()), length],
                body: 9,
                pauses: vec![Pause {
                    priority,
                    pause: true,
                    scope: PauseScope::Priority,
                    state: false,
                }],
            })),
            measured.above(LIMIT.name, Bytes::new(30_000)),
        );
        assert!(!a.is_empty());
    }
}
