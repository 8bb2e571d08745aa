//! Since when a queue waits that is not held itself.

use crate::common::{DATA, config, flow, run, star};
use weir_core::packet::flags;
use weir_core::{Packet, PortId, Priority, QueueId, Time};
use weir_fc::{
    Actions, FlowControl, Hints, IngressBound, NodeView, PortQueue, PrioritySchedule, QueueLayout,
    SchemeInfo, Senders, Target, TimerKey, Values, Verdict, Waits,
};
use weir_sim::Finish;
use weir_sim::config::Scheme;
use weir_traffic::FlowSpec;

/// Holds the first packet of a flow forever, and lets the others wait behind it. A flow of one
/// packet is let go once, at [`OPENS`]; another one that comes later waits forever.
struct Shut {
    layout: QueueLayout,
    opened: bool,
}

const OPENS: Time = Time::from_us(50);

static SHUT: SchemeInfo = SchemeInfo {
    name: "shut",
    title: "Shut",
    summary: "Nobody gets through.",
    reference: "this test",
    params: &[],
    lossless: false,
    ingress_bound: |_| IngressBound::Memory,
    many_paths: Ok(()),
    senders: Senders::Nobody,
    reports: |_| false,
    build: |_, setup| Ok(Box::new(Shut { layout: layout(setup.schedule), opened: false })),
};

const FIRST: QueueId = QueueId(4);
const BEHIND: QueueId = QueueId(5);

/// A queue per priority, 7 first; the data's has a second one beside it.
fn layout(schedule: &PrioritySchedule) -> QueueLayout {
    let mut layout = QueueLayout::per_priority(schedule);
    layout.queues.insert(BEHIND.index(), layout.queues[FIRST.index()]);
    layout.groups[FIRST.index()].queues = 2;
    layout.inspects_heads = true;
    layout
}

fn queue_of(priority: Priority) -> QueueId {
    let shift = u32::from(priority < DATA);
    QueueId(7 - u32::from(priority.get()) + shift)
}

impl FlowControl for Shut {
    fn layout(&self, _port: PortId) -> QueueLayout {
        self.layout.clone()
    }

    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId {
        if p.priority != DATA {
            return queue_of(p.priority);
        }
        if p.has(flags::LAST) && p.seq == 0 {
            a.arm(TimerKey { kind: 0, port: egress, index: 0 }, OPENS.max(v.now));
            return BEHIND;
        }
        if p.seq > 0 {
            return BEHIND;
        }
        a.hold(egress, Target::Queue(FIRST));
        FIRST
    }

    fn serve(&mut self, v: &NodeView<'_>, at: PortQueue, _: &Packet, _: &mut Actions) -> Verdict {
        if at.queue != BEHIND {
            return Verdict::Send;
        }
        let opens = v.now >= OPENS && !std::mem::replace(&mut self.opened, v.now >= OPENS);
        if opens { Verdict::Send } else { Verdict::Wait }
    }

    fn timer(&mut self, _: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        a.retry(key.port);
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }

    idle_hooks!();
}

impl Hints for Shut {}

impl Waits for Shut {
    fn head_waits_for(&self, at: PortQueue, _: &Packet) -> Option<QueueId> {
        (at.queue == BEHIND).then_some(FIRST)
    }
}

/// Packets of 1538 B on the wire take 123.04 ns and a link of 1 us. The first is held when it
/// comes, at 1.12304 us; the second comes a packet later and waits behind it from then on.
#[test]
fn a_queue_behind_another_waits_since_its_own_head_came() {
    let mut cfg = config("none");
    cfg.scheme = Scheme { info: &SHUT, values: Values::new() };
    let out = run(&star(2, "1us"), &[flow(0, 1, 4500)], &cfg);
    let Finish::Stalled(stuck) = out.finish else { panic!("{:?}", out.finish) };
    let since = |queue| stuck.iter().find(|s| s.node.0 == 2 && s.queue == queue).unwrap().since;
    assert_eq!(since(FIRST), Some(Time::from_ps(1_123_040)));
    assert_eq!(since(BEHIND), Some(Time::from_ps(1_123_040 + 123_040)));
}

/// The first flow's only packet waits from 1.12304 us on and is sent at 50 us. What comes 150 us
/// later has waited since it came, not since the first did.
#[test]
fn a_wait_ends_with_its_packet() {
    let mut cfg = config("none");
    cfg.scheme = Scheme { info: &SHUT, values: Values::new() };
    let later = FlowSpec { start: Time::from_us(200), ..flow(0, 1, 1500) };
    let out = run(&star(2, "1us"), &[flow(0, 1, 1500), later], &cfg);
    assert_eq!(out.totals.completed, 1);
    let Finish::Stalled(stuck) = out.finish else { panic!("{:?}", out.finish) };
    let waits = stuck.iter().find(|s| s.node.0 == 2 && s.queue == BEHIND).unwrap();
    assert_eq!(waits.since, Some(Time::from_ps(200_000_000 + 1_123_040)));
}
