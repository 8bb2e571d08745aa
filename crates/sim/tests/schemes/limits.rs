//! Rate limits that come, go and come back.

use crate::common::{DATA, config, flow, run, star};
use weir_core::{Packet, PortId, Priority, QueueId, Rate, Time};
use weir_fc::{
    Actions, FlowControl, Hints, IngressBound, Interest, Mmu, NodeView, QueueLayout, SchemeInfo,
    Senders, Values,
};
use weir_sim::Outcome;
use weir_sim::config::Scheme;
use weir_traffic::FlowSpec;

/// Packets of one priority limit data at [`OUT`] or lift the limit, as their size says. The scheme
/// hears of no others, so they pass ports that are idle.
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
    many_paths: Ok(()),
    senders: Senders::Nobody,
    reports: |_| false,
    build: |_, setup| Ok(Box::new(Signals(QueueLayout::per_priority(setup.schedule)))),
};

fn queue_of(priority: Priority) -> QueueId {
    QueueId(7 - u32::from(priority.get()))
}

impl FlowControl for Signals {
    fn layout(&self, _: PortId) -> QueueLayout {
        self.0.clone()
    }

    fn arrive(&mut self, _: &NodeView<'_>, p: &mut Packet, _: PortId, a: &mut Actions) -> QueueId {
        let limits = u64::from(p.size) == LIMIT + config("none").nic.header.get();
        a.limit(OUT, DATA, limits.then(|| Rate::from_gbps(10)));
        queue_of(p.priority)
    }

    idle_hooks!();
}

impl Hints for Signals {
    fn interest(&self, _: &Mmu, _: PortId, priority: Priority) -> Interest {
        if priority == SIGNAL { Interest::Every } else { Interest::Never(queue_of(priority)) }
    }
}

/// Runs these flows under the scheme.
fn outcome(flows: &[FlowSpec]) -> Outcome {
    let mut cfg = config("none");
    cfg.scheme = Scheme { info: &SIGNALS, values: Values::new() };
    run(&star(3, "1us"), flows, &cfg)
}

/// A flow of one packet that limits, or lifts the limit.
fn signal(ns: u64, size: u64) -> FlowSpec {
    FlowSpec { priority: SIGNAL, start: Time::from_ns(ns), ..flow(2, 0, size) }
}

/// A flow of one packet to [`OUT`].
fn data(ns: u64) -> FlowSpec {
    FlowSpec { start: Time::from_ns(ns), ..flow(0, 1, LIMIT) }
}

/// How long a frame takes at the line's rate, the overhead on the wire aside.
fn frame(payload: u64) -> Time {
    Time::from_ps((payload + config("none").nic.header.get()) * 80)
}

fn on_wire(payload: u64) -> Time {
    frame(payload) + Time::from_ps(config("none").link.overhead.get() * 80)
}

const HOP: Time = Time::from_us(1);

/// When the packet of a flow is at the switch.
fn arrival(flow: &FlowSpec) -> Time {
    flow.start + on_wire(flow.size.get()) + HOP
}

/// When the packet of a flow started at the switch, if it was alone at its host.
fn departure(out: &Outcome, flow: &FlowSpec) -> Time {
    let found = out.flows.iter().find(|f| (f.start, f.src()) == (flow.start, flow.src)).unwrap();
    flow.start + found.fct().unwrap() - on_wire(flow.size.get()) - HOP
}

/// A limit comes and goes; a packet is sent, another passes. While it is on the wire the limit
/// comes back: what is left of it takes ten times as long, and the next packet waits for that.
#[test]
fn a_limit_that_comes_back_knows_of_the_packet_that_passed() {
    let flows = [
        signal(0, LIMIT),
        data(100),
        signal(2_000, LIFT),
        data(5_000),
        data(10_000),
        data(10_001),
        signal(10_040, LIMIT),
    ];
    let out = outcome(&flows);
    for i in [1, 3, 4] {
        assert_eq!(departure(&out, &flows[i]), arrival(&flows[i]), "packet {i}");
    }
    let limited = arrival(&flows[6]);
    let left = arrival(&flows[4]) + frame(LIMIT) - limited;
    let next = limited + left * 10;
    assert!(next > arrival(&flows[4]) + on_wire(LIMIT), "{next} is late enough to tell");
    assert_eq!(departure(&out, &flows[5]), next);
}

/// What is left of the gap after a limited packet when the limit is lifted is shorter by then, but
/// there: a packet that arrives within it waits.
#[test]
fn a_gap_outlasts_its_limit() {
    let flows = [signal(0, LIMIT), data(100), signal(600, LIFT), data(600)];
    let out = outcome(&flows);
    assert_eq!(departure(&out, &flows[1]), arrival(&flows[1]));
    let lifted = arrival(&flows[2]);
    let left = arrival(&flows[1]) + frame(LIMIT) * 10 - lifted;
    let over = lifted + left / 10;
    assert!((lifted..over).contains(&arrival(&flows[3])), "it arrives before {over}");
    assert_eq!(departure(&out, &flows[3]), over);
}
