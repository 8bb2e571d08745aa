//! A packet that goes straight through has had its turn.

use crate::common::{DATA, config, flow, run, star};
use weir_core::{Packet, PortId, QueueId, Time};
use weir_fc::{Actions, FlowControl, Hints, NodeView, QueueLayout, SchemeInfo, Values};
use weir_sim::config::Scheme;
use weir_traffic::FlowSpec;

/// Two queues of data that take turns, one for each of two senders. Nothing is ever held, so
/// every packet may pass.
struct Turns(QueueLayout);

static TURNS: SchemeInfo = SchemeInfo {
    name: "turns",
    title: "Turns",
    summary: "Two queues that take turns.",
    build: |_, setup| {
        let mut layout = QueueLayout::per_priority(setup.schedule);
        layout.queues.insert(FIRST as usize + 1, layout.queues[FIRST as usize]);
        layout.groups[FIRST as usize].queues = 2;
        Ok(Box::new(Turns(layout)))
    },
    ..weir_fc::none::INFO
};

/// The data's priority, 3, counted down from 7.
const FIRST: u32 = 4;

impl FlowControl for Turns {
    fn layout(&self, _port: PortId) -> QueueLayout {
        self.0.clone()
    }

    fn arrive(&mut self, _: &NodeView<'_>, p: &mut Packet, _: PortId, _: &mut Actions) -> QueueId {
        if p.priority == DATA {
            return QueueId(FIRST + u32::from(p.ingress.0 == 1));
        }
        QueueId(7 - u32::from(p.priority.get()) + u32::from(p.priority < DATA))
    }

    idle_hooks!();
}

impl Hints for Turns {}

/// Packets of 1538 B on the wire take 123.04 ns and a link of 1 us. h0's first one is at the switch
/// at 1.12304 us and goes straight through. While it is on the wire h1's comes, at 1.17304 us, and
/// as it leaves, at 1.24608 us, h0's second one. Both wait then, and it is the turn of h1's queue.
#[test]
fn the_queue_of_a_packet_that_passed_comes_last() {
    let mut cfg = config("none");
    cfg.scheme = Scheme { info: &TURNS, values: Values::new() };
    let other = FlowSpec { start: Time::from_ns(50), ..flow(1, 2, 1500) };
    let out = run(&star(3, "1us"), &[flow(0, 2, 3000), other], &cfg);
    // sent at 1.24608 us and one packet later, 1.12304 us on their way
    let fct = |i: usize| out.flows[i].fct().unwrap();
    assert_eq!(fct(1), Time::from_ps(1_246_080 + 1_123_040 - 50_000));
    assert_eq!(fct(0), Time::from_ps(1_246_080 + 123_040 + 1_123_040));
}
