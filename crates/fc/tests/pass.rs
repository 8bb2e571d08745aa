//! A packet that a scheme lets pass leaves the scheme as `arrive`, `serve` and `depart` would.

use proptest::prelude::*;
use weir_core::packet::flags;
use weir_core::{ControlMessage, FlowId, NodeId, PortId, QueueId};
use weir_fc::harness::{Bench, PRIORITY, TestPacket, given};
use weir_fc::{FlowControl, LinkState, NodeSetup, NodeView, ParamError, SchemeInfo, Values};
use weir_fc::{bfc, ffc, flowsail, ideal, ofc, pfc};

const PORTS: u16 = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive {
        ingress: u16,
        egress: u16,
        flow: u32,
        size: u16,
        first: bool,
    },
    Depart {
        egress: u16,
    },
    /// The next hop pauses or resumes a flow, or a queue with its number.
    Hear {
        port: u16,
        flow: u32,
        pause: bool,
    },
    Fire,
    Link {
        port: u16,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrival = (0..PORTS, 0..PORTS, 0..6u32, 64..1500u16, prop::bool::weighted(0.2));
    let arrive = arrival.prop_map(|(ingress, egress, flow, size, first)| Step::Arrive {
        ingress,
        egress,
        flow,
        size,
        first,
    });
    let depart = (0..PORTS).prop_map(|egress| Step::Depart { egress });
    let hear = (0..PORTS, 0..6u32, any::<bool>()).prop_map(|(port, flow, pause)| Step::Hear {
        port,
        flow,
        pause,
    });
    let link = (0..PORTS).prop_map(|port| Step::Link { port });
    let step =
        prop_oneof![50 => arrive, 60 => depart, 15 => hear, 10 => Just(Step::Fire), 1 => link];
    prop::collection::vec(step, 1..150)
}

type New<S> = fn(&Values, &NodeSetup<'_>) -> Result<S, ParamError>;

/// Whether nothing is queued at a port, nothing could be sent and nothing is held there.
fn is_vacant<S: FlowControl>(bench: &Bench<S>, port: PortId) -> bool {
    let queues = &bench.view().books.ports[port.index()].queues;
    queues.iter().all(|q| q.packets == 0 && !q.held) && bench.ready(port).next().is_none()
}

/// Lets a packet come to a vacant port and leave at once, both ways; returns whether it passed.
fn pass<S: FlowControl + Clone + Eq + std::fmt::Debug>(
    bench: &mut Bench<S>,
    packet: TestPacket,
    egress: PortId,
) -> Result<bool, TestCaseError> {
    let mut short = bench.scheme().clone();
    let mut passed = packet.0;
    let books = bench.view().books.clone();
    let view = NodeView { now: bench.view().now, books: &books };
    let Some(queue) = short.pass(&view, &mut passed, egress) else {
        prop_assert_eq!(&short, bench.scheme(), "nothing has changed");
        bench.arrive(packet, egress);
        return Ok(false);
    };
    let before = bench.clone();
    prop_assert_eq!(bench.arrive(packet, egress), queue);
    prop_assert_eq!(bench.up_next(egress), [queue], "it is the next one");
    let left = bench.depart(egress, queue).expect("it is sent");
    prop_assert_eq!((left.wire_tag, left.local_tag), (passed.wire_tag, passed.local_tag));
    prop_assert_eq!(&short, bench.scheme());
    prop_assert_eq!(bench.sent(), before.sent());
    prop_assert_eq!(bench.timers(), before.timers());
    prop_assert!(is_vacant(bench, egress));
    Ok(true)
}

/// What the next hop says.
fn messages(flow: u32, pause: bool) -> [ControlMessage; 3] {
    let id = FlowId::new(NodeId(9), flow);
    let pair = weir_core::control::HostPair { src: NodeId(9), dst: NodeId(20 + flow) };
    [
        ControlMessage::FlowState { pause, priority: PRIORITY, flow: id },
        ControlMessage::QueueState { pause, priority: PRIORITY, queue: QueueId(flow + 4) },
        ControlMessage::OfcFlows { pause, priority: PRIORITY, all: flow == 5, flows: vec![pair] },
    ]
}

/// Walks through `steps`; returns how many packets passed.
fn walk<S: FlowControl + Clone + Eq + std::fmt::Debug>(
    steps: &[Step],
    info: &SchemeInfo,
    new: New<S>,
    options: &[(&str, &str)],
) -> Result<u32, TestCaseError> {
    let values = given(info, options);
    let mut bench =
        Bench::around(usize::from(PORTS), "6KB", "3KB", |setup| new(&values, setup).unwrap());
    let mut passes = 0;
    for step in steps {
        match *step {
            Step::Arrive { ingress, egress, flow, size, first } => {
                let mut packet = bench.packet(PortId(ingress), size).flow(9, flow, 20 + flow);
                packet.0.flags |= if first { flags::FIRST } else { 0 };
                let egress = PortId(egress);
                if is_vacant(&bench, egress) {
                    passes += u32::from(pass(&mut bench, packet, egress)?);
                } else {
                    bench.arrive(packet, egress);
                }
            }
            Step::Depart { egress } => {
                if let Some(&q) = bench.up_next(PortId(egress)).first() {
                    bench.depart(PortId(egress), q);
                }
            }
            Step::Hear { port, flow, pause } => {
                messages(flow, pause).iter().for_each(|m| bench.control(PortId(port), m));
            }
            Step::Fire => _ = bench.fire_next(),
            Step::Link { port } => {
                bench.link(PortId(port), LinkState::Down);
                bench.link(PortId(port), LinkState::Up);
            }
        }
    }
    Ok(passes)
}

proptest! {
    #[test]
    fn through_bfc(
        steps in steps(),
        table in prop::sample::select(vec!["exact", "hashed"]),
        frames in prop::sample::select(vec!["immediate", "periodic", "both"]),
    ) {
        walk(&steps, &bfc::INFO, bfc::Bfc::new, &[("table", table), ("frames", frames)])?;
    }

    #[test]
    fn through_flowsail(
        steps in steps(),
        reading in prop::sample::select(vec![
            "text", "mark-sign", "share-alone", "two-counters", "printed-holds",
            "printed-holds-bounded", "hold-once", "early-release",
            "share-alone, hold-once, early-release", "mark-sign, two-counters, printed-holds",
        ]),
        hold in prop::sample::select(vec!["true", "false"]),
    ) {
        let options = [("reading", reading), ("hold-original", hold)];
        walk(&steps, &flowsail::INFO, flowsail::FlowSail::new, &options)?;
    }

    #[test]
    fn through_ideal(steps in steps()) {
        walk(&steps, &ideal::INFO, ideal::Ideal::new, &[])?;
    }

    #[test]
    fn through_ffc(steps in steps()) {
        walk(&steps, &ffc::INFO, ffc::Ffc::new, &[("threshold", "2KB")])?;
    }

    #[test]
    fn through_pfc(steps in steps()) {
        walk(&steps, &pfc::INFO, pfc::Pfc::new, &[])?;
    }

    #[test]
    fn through_ofc(steps in steps()) {
        walk(&steps, &ofc::INFO, ofc::Ofc::new, &[("xoff-congested", "4KB")])?;
    }
}

/// The tests above are not empty.
#[test]
fn packets_pass() {
    let arrive = |flow, size| Step::Arrive { ingress: 0, egress: 1, flow, size, first: false };
    let steps = [arrive(1, 1000), Step::Depart { egress: 1 }, arrive(2, 500), arrive(1, 64)];
    assert_eq!(walk(&steps, &bfc::INFO, bfc::Bfc::new, &[]).unwrap(), 3);
    assert_eq!(walk(&steps, &flowsail::INFO, flowsail::FlowSail::new, &[]).unwrap(), 3);
    assert_eq!(walk(&steps, &ffc::INFO, ffc::Ffc::new, &[]).unwrap(), 3);
    assert_eq!(walk(&steps, &ofc::INFO, ofc::Ofc::new, &[]).unwrap(), 3);
    assert_eq!(walk(&steps, &pfc::INFO, pfc::Pfc::new, &[]).unwrap(), 3);
    // the first packet makes the queue, and waits for its departure
    assert_eq!(walk(&steps, &ideal::INFO, ideal::Ideal::new, &[]).unwrap(), 2);
}
