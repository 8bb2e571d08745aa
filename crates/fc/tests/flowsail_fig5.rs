//! FlowSail, Fig. 5: whom ideal flow control, BFC and FlowSail pause.
//!
//! f1 and f4 fill a congested port, f2 and f3 hardly use it; f5 goes elsewhere but shares
//! a queue with f4 at the previous switch. BFC and FlowSail have one queue at the congested port
//! (FlowSail beside its isolation queue).

use std::collections::BTreeSet;
use weir_core::{ControlMessage, FlowId, NodeId, PortId, QueueId, Rate, Time};
use weir_fc::harness::{Bench, PRIORITY, TestPacket};
use weir_fc::{SchemeInfo, Values, bfc, flowsail, ideal};

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);

/// 100 Gb/s and 1 us: a hop round trip is 25 packets of 1000 B.
fn switch(info: &'static SchemeInfo, queues: Option<&str>) -> Bench {
    let mut values = Values::new();
    if let Some(queues) = queues {
        let param = info.params.iter().find(|p| p.name == "queues").expect("a parameter");
        values.set(param, queues).expect("a value");
    }
    let mut bench = Bench::switch(info, &values, 2);
    bench.links(Rate::from_gbps(100), Time::from_us(1));
    bench
}

/// A packet of flow `f` that left queue `tag` of the previous switch.
fn packet(b: &Bench, f: u32, tag: u32) -> TestPacket {
    b.packet(IN, 1000).flow(1, f, 9).wire_tag(tag)
}

/// The queue of the previous switch that f4 and f5 share; the other flows have one each.
const SHARED: u32 = 4;

/// What the congested port tells the previous switch when f1 and f4 send two packets per
/// round and f2 and f3 one in rounds 0, 3 and 6.
fn told(mut b: Bench) -> Vec<ControlMessage> {
    for round in 0..7 {
        let small = if round % 3 == 0 { 1 } else { 0 };
        for (f, n) in [(1, 2), (2, small), (3, small), (4, 2)] {
            for _ in 0..n {
                b.arrive(packet(&b, f, f), OUT);
            }
        }
    }
    b.take_sent().into_iter().map(|(_, m)| m).collect()
}

fn paused_flows(told: &[ControlMessage]) -> BTreeSet<u32> {
    let paused = |m: &ControlMessage| match m {
        ControlMessage::FlowState { pause: true, flow, .. } => Some(flow.number()),
        _ => None,
    };
    told.iter().filter_map(paused).collect()
}

#[test]
fn ideal_flow_control_pauses_the_two_that_congest() {
    // four queues share 25 packets: f1 and f4 have 14, f2 and f3 have 3
    assert_eq!(paused_flows(&told(switch(&ideal::INFO, None))), [1, 4].into());
}

#[test]
fn flowsail_pauses_the_two_that_congest() {
    // 34 packets of four flows: a share is 8
    assert_eq!(paused_flows(&told(switch(&flowsail::INFO, Some("2")))), [1, 4].into());
}

#[test]
fn bfc_pauses_the_queue_of_everyone() {
    let paused = |m: &ControlMessage| match m {
        ControlMessage::QueueState { pause: true, queue, .. } => Some(queue.0),
        _ => None,
    };
    let told = told(switch(&bfc::INFO, Some("1")));
    assert_eq!(told.iter().filter_map(paused).collect::<BTreeSet<_>>(), [1, 2, 3, SHARED].into());
}

#[test]
fn at_the_previous_switch_bfc_holds_f5_with_f4() {
    let mut b = switch(&bfc::INFO, Some("1"));
    let shared = b.arrive(packet(&b, 4, 0), OUT);
    assert_eq!(b.arrive(packet(&b, 5, 0), OUT), shared);
    let stop = ControlMessage::QueueState { pause: true, priority: PRIORITY, queue: shared };
    b.control(OUT, &stop);
    assert!(b.is_held(OUT, shared));
    for f in [4, 5] {
        b.arrive(packet(&b, f, 0), OUT);
    }
    assert_eq!(b.depart(OUT, shared), None, "f5 waits for f4");
}

/// While f4 has packets in the queue it shares with f5 that queue is held; they are soon
/// gone, and from then on f5 is left alone however often f4 is paused.
#[test]
fn at_the_previous_switch_flowsail_keeps_f5_going() {
    let mut b = switch(&flowsail::INFO, Some("2"));
    let pause = |pause| {
        let flow = FlowId::new(NodeId(1), 4);
        ControlMessage::FlowState { pause, priority: PRIORITY, flow }
    };
    let shared = b.arrive(packet(&b, 4, 0), OUT);
    assert_eq!(b.arrive(packet(&b, 5, 0), OUT), shared);
    b.control(OUT, &pause(true));
    assert_eq!(b.depart(OUT, shared), None, "f4's own packet is in front");
    b.control(OUT, &pause(false));
    assert_eq!(b.depart(OUT, shared).map(|p| p.flow.number()), Some(4));
    b.control(OUT, &pause(true));
    let isolation = b.arrive(packet(&b, 4, 0), OUT);
    assert_eq!(isolation, QueueId(shared.0 + 1));
    assert_eq!(b.depart(OUT, isolation), None);
    for _ in 0..3 {
        assert_eq!(b.depart(OUT, shared).map(|p| p.flow.number()), Some(5));
        assert_eq!(b.arrive(packet(&b, 5, 0), OUT), shared);
    }
}
