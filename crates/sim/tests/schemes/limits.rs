//! Rate limits that come, go and come back.

use crate::common::{DATA, config, flow, run, star};
use weir_core::{ControlMessage, Packet, PortId, Priority, QueueId, Rate, Time};
use weir_fc::{
    Actions, FlowControl, IngressBound, NodeView, PortQueue, QueueLayout, SchemeInfo, StateSize,
    TimerKey, Values, Violation,
};
use weir_sim::config::Scheme;
use weir_traffic::FlowSpec;

/// Packets of one priority limit data at [`OUT`] or lift the limit, as their size says. The scheme hears
/// of no others, so they pass ports that are idle.
struct Signals(QueueLayout);

const SIGNAL: Priority = Priority::ALL[5];
const OUT: PortId = PortId(1);
/// Payloads: what limits, and what lifts the limit.
const LIMIT: u64 = 1000;
const LIFT: u64 = 900;

static SIGNALS: SchemeInfo = SchemeInfo {
    name: "signals",
    title: "Signals",
    summary: "Limits a port when told to.",
    reference: "this test",
    params: &[],
    lossless: false,
    ingress_bound: |_| IngressBound::Memory,
    build: |_, setup| Ok(Box::new(Signals(QueueLayout::per_priority(setup.schedule)))),
};

fn queue_of(priority: Priority) -> QueueId {
    QueueId(7 - u32::from(priority.get()))
}

impl FlowControl for Signals {
    fn layout(&self, _: PortId) -> QueueLayout {
        self.0.clone()
    }

    fn quiet_queue(&self, priority: Priority) -> Option<QueueId> {
        (priority != SIGNAL).then(|| queue_of(priority))
    }

    fn arrive(&mut self, _: &NodeView<'_>, p: &mut Packet, _: PortId, a: &mut Actions) -> QueueId {
        let limits = u64::from(p.size) == LIMIT + config("none").nic.header.get();
        a.limit(OUT, DATA, limits.then(|| Rate::from_gbps(10)));
        queue_of(p.priority)
    }

    fn depart(&mut self, _: &NodeView<'_>, _: &mut Packet, _: PortQueue, _: &mut Actions) {}

    fn control(&mut self, _: &NodeView<'_>, _: PortId, _: &ControlMessage, _: &mut Actions) {}

    fn timer(&mut self, _: &NodeView<'_>, _: TimerKey, _: &mut Actions) {}

    fn link(&mut self, _: &NodeView<'_>, _: PortId, _: bool, _: &mut Actions) {}

    fn audit(&self, _: &NodeView<'_>, _: bool) -> Result<(), Violation> {
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        StateSize::default()
    }
}

/// A limit comes and goes; a packet is sent, another passes. While it is on the wire the limit comes
/// back: what is left of it takes ten times as long, and the next packet waits for that.
#[test]
fn a_limit_that_comes_back_knows_of_the_packet_that_passed() {
    let mut cfg = config("none");
    cfg.scheme = Scheme { info: &SIGNALS, values: Values::new() };
    let frame = LIMIT + cfg.nic.header.get();
    let on_wire = Time::from_ps((frame + cfg.link.overhead.get()) * 80);
    let at = |ns, flow| FlowSpec { start: Time::from_ns(ns), ..flow };
    let signal = |ns, size| FlowSpec { priority: SIGNAL, ..at(ns, flow(2, 0, size)) };
    let data = |ns| at(ns, flow(0, 1, LIMIT));
    let flows = [
        signal(0, LIMIT),
        data(100),
        signal(2_000, LIFT),
        data(5_000),
        data(10_000),
        data(10_001),
        signal(10_040, LIMIT),
    ];
    let out = run(&star(3, "1us"), &flows, &cfg);
    let fct = |i: usize| {
        let flow = out.flows.iter().find(|f| (f.start, f.src) == (flows[i].start, flows[i].src));
        flow.unwrap().fct().unwrap()
    };
    let hop = Time::from_us(1);
    let plain = (on_wire + hop) * 2;
    assert_eq!([fct(1), fct(3), fct(4)], [plain; 3]);
    let passed = flows[4].start + on_wire + hop;
    let limited = flows[6].start + on_wire + hop;
    let left = passed + Time::from_ps(frame * 80) - limited;
    let next = limited + left * 10;
    assert!(next > passed + on_wire, "{next} is late enough to tell");
    assert_eq!(fct(5), next + on_wire + hop - flows[5].start);
}
