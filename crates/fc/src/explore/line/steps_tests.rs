//! What the line itself does: who is told what, and what may happen next.

use super::*;
use crate::harness::PRIORITY;
use crate::pfc::{Pfc, TIMER};
use crate::{NodeSetup, Values};

fn line(timer: &'static str, flows: Vec<LineFlow>) -> Line<Pfc> {
    let mut values = Values::new();
    values.set(&TIMER, timer).unwrap();
    let pfc = |setup: &NodeSetup<'_>| Pfc::new(&values, setup).unwrap();
    let node = || Bench::around(4, "2B", "0B", pfc);
    Line::new(vec![node(), node()], flows)
}

fn take(line: &Line<Pfc>, s: &mut LineState<Pfc>, steps: &[LineStep]) {
    for step in steps {
        assert!(line.steps(s).contains(step), "{step:?} cannot happen now");
        line.take(s, step).unwrap();
    }
}

fn enter(flow: usize) -> LineStep {
    LineStep::Enter { flow }
}

fn serve(node: usize, port: PortId) -> LineStep {
    LineStep::Serve { node, port, queue: QueueId(4) }
}

const FLOW: fn(u32) -> FlowId = |k| FlowId::new(NodeId(1), k);

/// A packet of flow `k` from host 1 to host `dst`.
fn packet(k: u32, dst: u32) -> Packet {
    let line = line("sticky", Vec::new());
    line.nodes[0].packet(UP, 1).flow(1, k, dst).0
}

fn pair(dst: u32) -> HostPair {
    HostPair { src: NodeId(1), dst: NodeId(dst) }
}

#[test]
fn ofcs_frames_name_host_pairs_or_all() {
    let frame = |pause, all, flows: &[u32]| {
        let flows = flows.iter().map(|&dst| pair(dst)).collect();
        ControlMessage::OfcFlows { pause, priority: PRIORITY, all, flows }
    };
    let mut told = Obeyed::default();
    told.note(&frame(true, false, &[8, 9]));
    assert!(told.forbids(&packet(0, 8)) && told.forbids(&packet(5, 9)));
    assert!(!told.forbids(&packet(0, 7)));
    told.note(&frame(false, false, &[8]));
    assert!(!told.forbids(&packet(0, 8)) && told.forbids(&packet(0, 9)));
    told.note(&frame(true, true, &[]));
    assert!(told.forbids(&packet(0, 7)));
    told.note(&frame(true, false, &[8]));
    assert!(told.forbids(&packet(0, 7)), "still all");
    told.note(&frame(false, true, &[]));
    assert_eq!(told, Obeyed::default());
}

#[test]
fn other_frames_name_flows_or_pairs() {
    let mut told = Obeyed::default();
    told.note(&ControlMessage::FlowState { pause: true, priority: PRIORITY, flow: FLOW(3) });
    assert!(told.forbids(&packet(3, 8)) && !told.forbids(&packet(4, 8)));
    told.note(&ControlMessage::FlowState { pause: false, priority: PRIORITY, flow: FLOW(3) });
    assert_eq!(told, Obeyed::default());
    let tuples = |pause| ControlMessage::OfcTuples {
        pause,
        priority: PRIORITY,
        flows: vec![(HostPair { src: FLOW(3).source(), dst: NodeId(8) }, FLOW(3).number())],
    };
    told.note(&tuples(true));
    assert!(told.forbids(&packet(3, 8)) && !told.forbids(&packet(4, 8)));
    told.note(&tuples(false));
    assert_eq!(told, Obeyed::default());
    let bpf = |xoff| ControlMessage::BackPressure { flows: vec![(pair(8), PRIORITY, xoff)] };
    told.note(&bpf(true));
    assert!(told.forbids(&packet(3, 8)) && !told.forbids(&packet(3, 9)));
    told.note(&bpf(false));
    assert_eq!(told, Obeyed::default());
    told.note(&ControlMessage::pfc(PRIORITY, 100));
    assert_eq!(told, Obeyed::default(), "no particular flow");
}

#[test]
fn hosts_are_numbered_by_place() {
    let line = line(
        "sticky",
        vec![LineFlow::new((0, 2), (1, 3), 1, 1), LineFlow::new((1, 2), (1, 2), 1, 1)],
    );
    assert_eq!(line.flow_id(0), (FlowId::new(NodeId(102), 0), NodeId(213)));
    assert_eq!(line.flow_id(1), (FlowId::new(NodeId(112), 1), NodeId(212)));
}

/// One link joins two nodes. A pause of node 1 for its own host goes to that host, not up the line;
/// one of node 0 for port 0, where nobody is, is lost.
#[test]
fn frames_go_up_the_line_only() {
    let flows = vec![LineFlow::new((1, 3), (1, 2), 2, 1), LineFlow::new((0, 0), (1, 2), 2, 1)];
    let line = line("sticky", flows);
    let mut s = line.initial();
    assert_eq!((s.wires.len(), s.frames.len(), s.told.len()), (1, 1, 1));
    take(&line, &mut s, &[enter(0), enter(0), enter(1), enter(1)]);
    assert!(s.frames[0].is_empty());
    let over = [serve(0, DOWN), serve(0, DOWN)].map(|x| (x, LineStep::Arrive { link: 0 }));
    over.into_iter().for_each(|(a, b)| take(&line, &mut s, &[a, b]));
    assert_eq!(s.frames[0].len(), 1, "two bytes came by the link");
    take(&line, &mut s, &[LineStep::Tell { link: 0 }]);
    assert_eq!((s.frames[0].len(), s.told(0)), (0, &Obeyed::default()));
    s.told[0].all = true;
    assert!(s.told(0).all);
}

#[test]
fn a_full_link_stops_the_port_above_it_and_no_other() {
    let flows = vec![LineFlow::new((0, 2), (1, 2), 3, 1), LineFlow::new((0, 2), (0, 3), 1, 1)];
    let line = line("sticky", flows);
    let mut s = line.initial();
    take(&line, &mut s, &[enter(0), enter(0), enter(0), enter(1), serve(0, DOWN), serve(0, DOWN)]);
    assert_eq!((s.inside(), s.wires[0].len()), (4, 2));
    assert_eq!(line.steps(&s), [LineStep::Arrive { link: 0 }, serve(0, PortId(3))]);
    take(&line, &mut s, &[LineStep::Arrive { link: 0 }, serve(0, DOWN), serve(0, PortId(3))]);
    assert_eq!((s.inside(), s.delivered(0), s.delivered(1)), (3, 0, 1));
    take(&line, &mut s, &[serve(1, PortId(2)), LineStep::Arrive { link: 0 }, serve(1, PortId(2))]);
    assert_eq!((s.inside(), s.delivered(0), s.delivered(1)), (1, 2, 1));
}

/// A timed pause is refreshed: node 1's timer may fire, node 0 has none.
#[test]
fn a_timer_may_fire_where_one_is_armed() {
    let line = line("timed", vec![LineFlow::new((1, 3), (1, 2), 2, 1)]);
    let mut s = line.initial();
    assert_eq!(line.steps(&s), [enter(0)]);
    take(&line, &mut s, &[enter(0), enter(0)]);
    assert_eq!(line.steps(&s), [serve(1, PortId(2)), LineStep::Timer { node: 1 }]);
}
