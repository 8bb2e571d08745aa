//! The paper's listings, walked line by line on hand-made sequences of events.

mod algorithm_1;
mod algorithm_2;
mod algorithm_3;
mod card;
mod readings;

use super::*;
use crate::harness::{Bench, PRIORITY, set};
use weir_core::control::HostPair;
use weir_core::{FlowId, NodeId, PrioritySet};

/// Two ingresses and two egresses.
pub(super) const UP: PortId = PortId(0);
pub(super) const UP2: PortId = PortId(1);
pub(super) const OUT: PortId = PortId(2);
pub(super) const OUT2: PortId = PortId(3);

/// Priority 3 under strict priority: priorities 7 to 4 have queues 0 to 3, then come its
/// backups and its normal queue.
pub(super) const B1: QueueId = QueueId(4);
pub(super) const B2: QueueId = QueueId(5);
pub(super) const N: QueueId = QueueId(6);

/// By host pair, so that frames are short to write, unless `options` say otherwise.
pub(super) fn scheme(options: &[(&Param, &str)], setup: &NodeSetup<'_>) -> Ofc {
    let by_pair: &[(&Param, &str)] = &[(&FLOW_KEY, "pair")];
    Ofc::new(&set(&[by_pair, options].concat()), setup).unwrap()
}

/// A switch that pauses congested flows at 6 packets of 1000 B, everything at 10, and resumes
/// at 3.
pub(super) fn switch_with(options: &[(&Param, &str)]) -> Bench<Ofc> {
    let options: Vec<_> = options.iter().copied().chain([(&XOFF_CONGESTED, "6KB")]).collect();
    Bench::around(4, "10KB", "3KB", |setup| scheme(&options, setup))
}

pub(super) fn switch() -> Bench<Ofc> {
    switch_with(&[])
}

/// Flow `f` goes from host `f` to host `100 + f`.
pub(super) fn pair(f: u32) -> HostPair {
    HostPair { src: NodeId(f), dst: NodeId(100 + f) }
}

pub(super) fn key(f: u32) -> FlowKey {
    FlowKey { src: NodeId(f), dst: NodeId(100 + f), number: 0 }
}

pub(super) fn keys(flows: &[u32]) -> std::collections::BTreeSet<FlowKey> {
    flows.iter().map(|&f| key(f)).collect()
}

/// A packet of 1000 B of flow `f` with number `seq` goes from `from` to `to`.
pub(super) fn put_seq(b: &mut Bench<Ofc>, from: PortId, f: u32, to: PortId, seq: u32) -> QueueId {
    b.arrive(b.packet(from, 1000).flow(f, 0, 100 + f).seq(seq), to)
}

/// Brings a drain about in which packet 0 of flow 2, which is paused, has stepped aside: packet 1
/// of flow 2 is behind it.
pub(super) fn begin_drain(b: &mut Bench<Ofc>) {
    b.control(OUT, &pause(&[1, 2]));
    put_seq(b, UP, 2, OUT, 0);
    put_seq(b, UP, 1, OUT, 0);
    put_seq(b, UP, 2, OUT, 1);
    assert_eq!(serve(b, OUT), None);
    b.control(OUT, &resume(&[1]));
    assert_eq!(serve(b, OUT), Some((1, 0)), "packet 0 of flow 2 has stepped aside");
}

/// `n` packets of flow `f`, numbered from 0.
pub(super) fn put(b: &mut Bench<Ofc>, from: PortId, f: u32, to: PortId, n: u32) {
    for seq in 0..n {
        assert_eq!(put_seq(b, from, f, to, seq), N, "new packets join the normal queue");
    }
}

pub(super) fn frame(pause: bool, flows: &[u32]) -> ControlMessage {
    let flows = flows.iter().map(|&f| pair(f)).collect();
    ControlMessage::OfcFlows { pause, priority: PRIORITY, all: false, flows }
}

pub(super) fn pause(flows: &[u32]) -> ControlMessage {
    frame(true, flows)
}

pub(super) fn resume(flows: &[u32]) -> ControlMessage {
    frame(false, flows)
}

pub(super) fn all(pause: bool) -> ControlMessage {
    ControlMessage::OfcFlows { pause, priority: PRIORITY, all: true, flows: Vec::new() }
}

/// The port serves one packet: its flow and number. After a swallowed mark it chooses again.
pub(super) fn serve(b: &mut Bench<Ofc>, port: PortId) -> Option<(u32, u32)> {
    for _ in 0..1000 {
        let before = b.clone();
        let turn = b.up_next(port);
        if let Some(p) = turn.into_iter().find_map(|q| b.depart(port, q)) {
            return Some((p.flow.source().0, p.seq));
        }
        if *b == before {
            return None;
        }
    }
    panic!("packets go round and none leaves");
}

/// The port serves all it can.
pub(super) fn serve_all(b: &mut Bench<Ofc>, port: PortId) -> Vec<(u32, u32)> {
    std::iter::from_fn(|| serve(b, port)).collect()
}

/// (flow, number) of what waits in a queue; a mark is `None`.
pub(super) fn waiting(b: &Bench<Ofc>, port: PortId, q: QueueId) -> Vec<Option<(u32, u32)>> {
    b.queue(port, q)
        .map(|p| (p.kind != PacketKind::Mark).then(|| (p.flow.source().0, p.seq)))
        .collect()
}

pub(super) fn hierarchy(b: &Bench<Ofc>, port: PortId) -> &Hierarchy {
    let ofc = b.scheme();
    &ofc.egress[ofc.at(PRIORITY, port)]
}

pub(super) fn told(b: &Bench<Ofc>, port: PortId) -> &Told {
    let ofc = b.scheme();
    &ofc.told[ofc.at(PRIORITY, port)]
}

pub(super) fn sizes(b: &Bench<Ofc>) -> Vec<u64> {
    b.scheme().state_size().tables.iter().map(|t| t.1).collect()
}

pub(super) fn audit(b: &Bench<Ofc>, network: Network) -> Result<(), String> {
    b.scheme().audit(&b.view(), network).map_err(|v| v.what)
}

#[test]
fn each_lossless_priority_has_two_backups_in_the_rank_above_it() {
    let layout = switch().scheme().layout(OUT);
    let priorities: Vec<u8> = layout.queues.iter().map(|q| q.priority.get()).collect();
    assert_eq!(priorities, [7, 6, 5, 4, 3, 3, 3, 2, 1, 0]);
    let groups: Vec<u32> = layout.groups.iter().map(|g| g.queues).collect();
    assert_eq!(groups, [1, 1, 1, 1, 2, 1, 1, 1, 1]);
    assert!(layout.inspects_heads);
}

#[test]
fn weighted_priorities_keep_their_backups_in_their_own_group() {
    let mut schedule = crate::PrioritySchedule::default();
    schedule.weights[3] = 2;
    schedule.weights[1] = 1;
    let ofc = Bench::around(1, "10KB", "3KB", |setup| {
        scheme(&[], &NodeSetup { schedule: &schedule, ..setup.clone() })
    });
    let layout = ofc.scheme().layout(OUT);
    let priorities: Vec<u8> = layout.queues.iter().map(|q| q.priority.get()).collect();
    assert_eq!(priorities, [7, 6, 5, 4, 2, 0, 3, 3, 3, 1]);
    let weighted = layout.groups.iter().filter_map(|g| g.quantum.map(|q| (g.queues, q.get())));
    assert_eq!(weighted.collect::<Vec<_>>(), [(3, 3000), (1, 1500)]);
    let queues = ofc.scheme().queues;
    assert_eq!(queues[3], Queues { normal: 8, backup: 6, ranked: false });
    assert_eq!(queues[1].normal, 9);
}

/// Priorities 3 and 4 are lossless: each has its own queues, tables and pauses.
#[test]
fn lossless_priorities_do_not_share_their_tables() {
    let p4 = Priority::ALL[4];
    let mut b = Bench::around(4, "10KB", "3KB", |setup| {
        scheme(
            &[(&XOFF_CONGESTED, "6KB")],
            &NodeSetup { lossless: PrioritySet::from_bits(0b1_1000), ..setup.clone() },
        )
    });
    // 7 6 5, then backups and normal queue of 4, then of 3
    assert_eq!(b.scheme().queues[4], Queues { backup: 3, normal: 5, ranked: true });
    assert_eq!(b.scheme().queues[3], Queues { backup: 6, normal: 8, ranked: true });
    let put = |b: &mut Bench<Ofc>, priority, from, f| {
        b.arrive(b.packet(from, 1000).flow(f, 0, 100 + f).priority(priority), OUT)
    };
    let named = |b: &mut Bench<Ofc>| {
        let sent = b.take_sent();
        sent.iter()
            .filter_map(|(port, m)| Frame::read(m).map(|(p, f)| (*port, p, f.flows)))
            .collect::<Vec<_>>()
    };
    for _ in 0..5 {
        put(&mut b, PRIORITY, UP2, 1);
        put(&mut b, p4, UP2, 2);
    }
    assert_eq!(named(&mut b), []);
    put(&mut b, p4, UP2, 2);
    assert_eq!(named(&mut b), [(UP2, p4, vec![key(2)])]);
    put(&mut b, PRIORITY, UP2, 1);
    assert_eq!(named(&mut b), [(UP2, PRIORITY, vec![key(1)])]);
    b.control(OUT, &pause(&[1, 2]));
    assert_eq!(b.depart(OUT, QueueId(8)), None, "flow 1 of priority 3 is paused");
    assert!(b.depart(OUT, QueueId(5)).is_some(), "flow 2 of priority 4 is not");
    assert_eq!(audit(&b, Network::InUse), Ok(()));
    for _ in 0..2 {
        b.depart(OUT, QueueId(5)).unwrap();
    }
    assert_eq!(named(&mut b), [(UP2, p4, vec![key(2)])], "RESUME");
    b.link(OUT, LinkState::Down);
    b.link(UP2, LinkState::Down);
    b.take_sent();
    b.link(UP2, LinkState::Up);
    assert_eq!(named(&mut b), [(UP2, PRIORITY, vec![key(1)])], "told again");
    assert!(b.scheme().egress.iter().all(|e| e.paused.is_empty()));
}

fn refused(options: &[(&Param, &str)]) -> String {
    let mut values = Values::new();
    for (param, text) in options {
        values.set(param, text).unwrap();
    }
    let mut error = String::new();
    Bench::around(1, "75KB", "45KB", |setup| {
        error = Ofc::new(&values, setup).err().map(|e| e.0).unwrap_or_default();
        crate::none::NoFlowControl::new(setup.schedule)
    });
    error
}

#[test]
fn the_lower_threshold_is_68_kb_by_default_and_either_size_or_part() {
    let at = |options: &[(&Param, &str)]| {
        let b = Bench::around(1, "75KB", "45KB", |setup| scheme(options, setup));
        b.scheme().config.xoff_congested[0].get()
    };
    assert_eq!(at(&[]), 68_000);
    assert_eq!(at(&[(&ALPHA, "0.8")]), 60_000);
    assert_eq!(at(&[(&XOFF_CONGESTED, "50KB")]), 50_000);
    assert!(refused(&[(&ALPHA, "0.8"), (&XOFF_CONGESTED, "50KB")]).contains("not both"));
    assert!(refused(&[(&ALPHA, "1")]).contains("below xoff"));
    assert!(refused(&[(&ALPHA, "0.6")]).contains("above xon"));
}

#[test]
fn table_sizes_count_registers_of_eight_bytes() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 2);
    put(&mut b, UP, 2, OUT, 4);
    put(&mut b, UP2, 3, OUT2, 1);
    b.control(OUT, &pause(&[1]));
    // three flows with key, priority and count each; one congested flow; the PAUSE of flows 1 and
    // 2, each with port and priority
    assert_eq!(sizes(&b), [3 * 24, 8, 2 * 16]);
    let mut b = switch_with(&[(&FLOW_KEY, "flow")]);
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(sizes(&b), [24, 0, 16]);
}

#[test]
fn by_default_a_flow_is_a_5_tuple() {
    assert_eq!(Values::new().choice(&FLOW_KEY), Some("flow"));
    let mut b = Bench::around(4, "10KB", "3KB", |setup| Ofc::new(&Values::new(), setup).unwrap());
    for f in 0..10 {
        b.arrive(b.packet(UP, 1000).flow(1, f % 2, 101), OUT);
    }
    assert_eq!(sizes(&b)[0], 2 * 24, "two flows of one pair of hosts");
}

#[test]
fn an_audit_notices_what_is_left_over() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(audit(&b, Network::InUse), Ok(()));
    assert!(audit(&b, Network::Drained).unwrap_err().contains("still pauses"));
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    assert!(audit(&b, Network::Drained).unwrap_err().contains("still paused"));
    let mut b = switch();
    b.control(OUT, &all(true));
    assert!(audit(&b, Network::Drained).unwrap_err().contains("still paused"));
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 1);
    let empty = switch();
    assert!(b.scheme().audit(&empty.view(), Network::InUse).unwrap_err().what.contains("counts 1"));
}

#[test]
fn a_link_that_recovers_is_paused_at_once_and_what_it_had_paused_leaves_in_order() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 6);
    b.control(OUT, &pause(&[1]));
    b.control(UP, &all(true));
    assert_eq!(serve(&mut b, OUT), None);
    put_seq(&mut b, UP2, 1, OUT, 6);
    b.take_sent();
    b.link(OUT, LinkState::Down);
    assert_eq!(
        serve_all(&mut b, OUT),
        (0..7).map(|seq| (1, seq)).collect::<Vec<_>>(),
        "what waited leaves first"
    );
    assert_eq!(b.take_sent(), [(UP, resume(&[1]))], "the other link's pause was not void");
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))]);
    b.link(UP, LinkState::Down);
    assert!(b.sent().is_empty(), "nothing can be said to a neighbour that is away");
    assert!(hierarchy(&b, UP).is_at_rest());
    assert!(!b.is_held(UP, N));
    b.link(UP, LinkState::Up);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))], "told again");
}

/// A dynamic threshold can fall below what is stored without a packet that comes: here a scheme
/// that knows of 5 KB, which is not congested, is shown an ingress in the urgent state.
#[test]
fn a_link_that_recovers_is_told_what_has_become_urgent_in_the_meantime() {
    let (mut b, mut full) = (switch(), switch());
    put(&mut b, UP, 1, OUT, 5);
    put(&mut full, UP, 1, OUT, 10);
    assert_eq!(b.take_sent(), []);
    let mut a = crate::Actions::new();
    b.scheme_mut().link(&full.view(), UP, LinkState::Up, &mut a);
    let reason = full.view().books.mmu.pause_reason(UP, PRIORITY);
    let told = crate::Action::Send { port: UP, message: all(true), reason };
    assert_eq!(a.as_slice().last(), Some(&told), "after the holds are opened");
}

/// What was queued is lost with the link, so nothing needs to stay in order: no mark, which would
/// wait for ever at a port that sends nothing, and no hold.
#[test]
fn a_failed_link_with_nothing_queued_is_at_rest_at_once() {
    for told in [&[pause(&[1, 2])][..], &[all(true)], &[pause(&[1]), all(true)]] {
        let mut b = switch();
        told.iter().for_each(|m| b.control(OUT, m));
        b.link(OUT, LinkState::Down);
        assert!(hierarchy(&b, OUT).is_at_rest());
        assert_eq!(b.queue(OUT, B1).count() + b.queue(OUT, B2).count(), 0, "no mark");
        assert!([N, B1, B2].iter().all(|q| !b.is_held(OUT, *q)));
        assert_eq!(audit(&b, Network::Drained), Ok(()));
    }
}

#[test]
fn flows_between_the_same_hosts_are_one_unless_told_apart() {
    let second = |b: &Bench<Ofc>| b.packet(UP, 1000).flow(1, 7, 101);
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    b.arrive(second(&b), OUT);
    assert_eq!(serve(&mut b, OUT), None);

    let mut b = switch_with(&[(&FLOW_KEY, "flow")]);
    let tuples = |pause, numbers: &[u32]| ControlMessage::OfcTuples {
        pause,
        priority: PRIORITY,
        flows: numbers.iter().map(|&n| (pair(1), n)).collect(),
    };
    b.control(OUT, &tuples(true, &[0]));
    b.arrive(second(&b), OUT);
    put(&mut b, UP, 1, OUT, 5);
    assert_eq!(b.take_sent(), [(UP, tuples(true, &[0]))], "flow 7 is not congested");
    assert_eq!(b.depart(OUT, N).map(|p| p.flow), Some(FlowId::new(NodeId(1), 7)));
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &tuples(false, &[0]));
    assert_eq!(serve_all(&mut b, OUT).len(), 5);

    let mut b = switch_with(&[(&FLOW_KEY, "flow")]);
    b.arrive(second(&b), OUT);
    put(&mut b, UP, 1, OUT, 5);
    assert_eq!(b.take_sent(), [(UP, tuples(true, &[0, 7]))]);
    while serve(&mut b, OUT).is_some() {}
    assert_eq!(b.take_sent(), [(UP, tuples(false, &[0, 7]))]);
}
