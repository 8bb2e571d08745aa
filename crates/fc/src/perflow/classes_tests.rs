//! Two lossless priorities: what belongs to one is none of the other's business.

use crate::bfc::Bfc;
use crate::ffc::Ffc;
use crate::flowsail::FlowSail;
use crate::harness::given;
use crate::harness::{Bench, TestPacket};
use crate::ideal::Ideal;
use crate::{
    FlowControl, LinkState, Network, NodeSetup, ParamError, SchemeInfo, Values, bfc, ffc, flowsail,
    ideal,
};
use weir_core::control::HostPair;
use weir_core::packet::flags;
use weir_core::{ControlMessage, FlowId, NodeId, PortId, Priority, PrioritySet, QueueId};

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
const P3: Priority = Priority::ALL[3];
const P5: Priority = Priority::ALL[5];
/// Two data queues per priority: 7, 6, then 5's, then 4, then 3's.
const OF_5: [QueueId; 2] = [QueueId(2), QueueId(3)];
const OF_3: [QueueId; 2] = [QueueId(5), QueueId(6)];

/// A switch with priorities 3 and 5 lossless. 5 us at 40 Gb/s are 25 000 B.
fn bench<S: FlowControl>(
    new: fn(&Values, &NodeSetup<'_>) -> Result<S, ParamError>,
    info: &SchemeInfo,
    params: &[(&str, &str)],
) -> Bench<S> {
    let values = given(info, params);
    Bench::around(3, "75KB", "45KB", |setup| {
        new(&values, &NodeSetup { lossless: PrioritySet::from_bits(0b10_1000), ..setup.clone() })
            .unwrap()
    })
}

/// A packet of the one flow; a flow has one priority, but a table does not know that.
fn packet<S: FlowControl>(b: &Bench<S>, priority: Priority) -> TestPacket {
    b.packet(UP, 1000).flow(9, 0, 10).priority(priority)
}

fn send<S: FlowControl>(b: &mut Bench<S>, priority: Priority, n: u32) -> QueueId {
    let queues: Vec<QueueId> = (0..n).map(|_| b.arrive(packet(b, priority), OUT)).collect();
    b.scheme().audit(&b.view(), Network::InUse).unwrap();
    *queues.last().expect("a packet")
}

fn pause(priority: Priority) -> ControlMessage {
    ControlMessage::FlowState { pause: true, priority, flow: FlowId::new(NodeId(9), 0) }
}

fn resume(priority: Priority) -> ControlMessage {
    ControlMessage::FlowState { pause: false, priority, flow: FlowId::new(NodeId(9), 0) }
}

fn drain<S: FlowControl>(b: &mut Bench<S>) {
    while let Some(q) = b.up_next(OUT).first().copied() {
        b.depart(OUT, q);
        b.scheme().audit(&b.view(), Network::InUse).unwrap();
    }
}

#[test]
fn ideal_fc_has_a_queue_and_a_pause_for_each() {
    let mut b = bench(Ideal::new, &ideal::INFO, &[("hop-rtt", "5us")]);
    // six plain queues; priority 5, which comes first, has the even ones, 3 the odd ones
    assert_eq!((send(&mut b, P5, 1), send(&mut b, P3, 1)), (QueueId(6), QueueId(7)));
    b.control(OUT, &pause(P3));
    assert!(!b.is_held(OUT, QueueId(6)) && b.is_held(OUT, QueueId(7)));
    b.control(OUT, &resume(P5));
    assert!(b.is_held(OUT, QueueId(7)), "a resume of the other");
    b.link(OUT, LinkState::Down);
    assert!(!b.is_held(OUT, QueueId(7)));
    // two active queues: 12 500 B each
    send(&mut b, P3, 12);
    assert_eq!(b.take_sent(), [(UP, pause(P3))]);
    b.control(OUT, &pause(Priority::ALL[2]));
    drain(&mut b);
    assert_eq!(b.take_sent(), [(UP, resume(P3))]);
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn flowsail_isolates_in_the_queues_of_the_priority() {
    let params = [("hop-rtt", "5us"), ("queues", "2")];
    let mut b = bench(FlowSail::new, &flowsail::INFO, &params);
    assert_eq!((send(&mut b, P5, 1), send(&mut b, P3, 1)), (OF_5[0], OF_3[0]));
    b.control(OUT, &pause(P5));
    assert_eq!((send(&mut b, P5, 1), send(&mut b, P3, 1)), (OF_5[1], OF_3[0]));
    let held = |b: &Bench<FlowSail>| {
        [OF_5, OF_3].as_flattened().iter().map(|q| b.is_held(OUT, *q)).collect::<Vec<_>>()
    };
    assert_eq!(held(&b), [true, true, false, false]);
    b.control(OUT, &pause(P3));
    b.control(OUT, &resume(P5));
    assert_eq!(held(&b), [false, false, true, true]);
    b.control(OUT, &resume(P3));
    drain(&mut b);
    // each priority has its entry, and a timer that releases it
    assert_eq!(b.scheme().state_size().tables[1], ("congested flow table", 13));
    assert_eq!((0..2).filter_map(|_| b.fire_next()).count(), 2);
    assert_eq!(b.scheme().state_size().tables[1], ("congested flow table", 0));
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn ffc_stops_a_host_pair_in_one_priority() {
    let small = [("threshold", "4KB"), ("lane-high", "2KB"), ("lane-low", "1KB"), ("lanes", "1")];
    let mut b = bench(Ffc::new, &ffc::INFO, &[&small[..], &[("gather", "1us")]].concat());
    // five packets make a root flow of each; three more fill its lane beyond 2 KB
    assert_eq!((send(&mut b, P5, 8), send(&mut b, P3, 8)), (OF_5[1], OF_3[1]));
    b.fire_next();
    let pair = HostPair { src: NodeId(9), dst: NodeId(10) };
    let states = |states: &[(Priority, bool)]| ControlMessage::BackPressure {
        flows: states.iter().map(|(p, xoff)| (pair, *p, *xoff)).collect(),
    };
    assert_eq!(b.take_sent(), [(UP, states(&[(P3, true), (P5, true)]))], "one frame for both");
    b.control(OUT, &states(&[(P5, true), (Priority::ALL[2], true)]));
    assert!(b.is_held(OUT, OF_5[1]) && !b.is_held(OUT, OF_3[1]));
    b.control(OUT, &states(&[(P5, false)]));
    assert!(!b.is_held(OUT, OF_5[1]));
    for q in [OF_5[0], OF_3[0]] {
        (0..5).for_each(|_| _ = b.depart(OUT, q));
    }
    // both lanes give a packet and have to wait for the next, each with a timer of its own
    b.depart(OUT, OF_5[1]);
    b.depart(OUT, OF_3[1]);
    assert_eq!(b.timers().len(), 2);
}

#[test]
fn bfc_has_tables_queues_and_queues_ahead_for_each() {
    let table = [("table", "hashed"), ("buckets", "1"), ("queues", "1")];
    let params = [&table[..], &[("first-packet", "true"), ("hop-rtt", "5us")]].concat();
    let mut b = bench(Bfc::new, &bfc::INFO, &params);
    // 7, 6, ahead of 5, 5, 4, ahead of 3, 3
    let first = |b: &Bench<Bfc>, p| {
        let mut first = packet(b, p);
        first.0.flags |= flags::FIRST;
        first
    };
    assert_eq!(b.arrive(first(&b, P5), OUT), QueueId(2));
    assert_eq!(b.arrive(first(&b, P3), OUT), QueueId(5));
    // one bucket for all flows, but a queue for each priority; two are active: 12 500 B
    assert_eq!((send(&mut b, P5, 1), send(&mut b, P3, 13)), (QueueId(3), QueueId(6)));
    let pause = ControlMessage::QueueState { pause: true, priority: P3, queue: QueueId(0) };
    assert_eq!(b.take_sent(), [(UP, pause)]);
    let pause = |queue| ControlMessage::QueueState { pause: true, priority: P3, queue };
    for q in [QueueId(2), QueueId(3), QueueId(5), QueueId(6)] {
        b.control(OUT, &pause(q));
        assert!(b.is_held(OUT, q), "{q}");
        b.link(OUT, LinkState::Down);
    }
    drain(&mut b);
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}
