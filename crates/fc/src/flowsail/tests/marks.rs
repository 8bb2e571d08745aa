//! Order Mark Matching and the release of congested flows.

use super::*;
use crate::Action;
use weir_core::Time;

#[test]
fn the_isolation_queue_waits_at_its_mark_until_the_old_queue_has_passed_its_own() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..2);
    b.control(OUT, &state(true, 0));
    assert_eq!(send(&mut b, 0, 2..4), ISOLATION);
    b.control(OUT, &state(false, 0));
    assert_eq!(next(&mut b, ISOLATION), None);
    assert!(b.is_held(OUT, ISOLATION));
    let mark = *b.queue(OUT, ISOLATION).next().expect("the mark is still there");
    let at = PortQueue { port: OUT, queue: ISOLATION };
    let (mut scheme, mut asked) = (b.scheme().clone(), Actions::new());
    assert_eq!(scheme.serve(&b.view(), at, &mark, &mut asked), Verdict::Wait);
    assert!(scheme == *b.scheme() && asked.is_empty(), "asked twice, held once");
    assert_eq!(scheme.head_waits_for(at, &mark), Some(ONE));
    let elsewhere = PortQueue { port: OUT, queue: ONE };
    assert_eq!(scheme.head_waits_for(elsewhere, &mark), None, "a mark waits in isolation only");
    assert_eq!(scheme.head_waits_for(at, &b.packet(UP, 1000).0), None, "no mark");
    assert_eq!(drain(&mut b, ONE, 9), [(0, 0), (0, 1)]);
    assert!(!b.is_held(OUT, ISOLATION));
    assert_eq!(drain(&mut b, ISOLATION, 9), [(0, 2), (0, 3)]);
    audited(&b, Network::Drained);
}

#[test]
fn a_mark_whose_flow_has_left_its_old_queue_passes() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..1);
    send(&mut b, 1, 0..2);
    b.control(OUT, &state(true, 0));
    send(&mut b, 0, 1..2);
    b.control(OUT, &state(false, 0));
    // packet 0 of flow 0 is gone, its mark still behind flow 1
    assert_eq!(next(&mut b, ONE), Some((0, 0)));
    assert_eq!(next(&mut b, ISOLATION), Some((0, 1)));
    assert_eq!(drain(&mut b, ONE, 9), [(1, 0), (1, 1)]);
    audited(&b, Network::Drained);
}

#[test]
fn a_match_asks_for_the_port_to_be_served() {
    let values = given(&INFO, &[("queues", "2")]);
    let mut asked = Actions::new();
    let mut b = Bench::around(3, "75KB", "45KB", |s| FlowSail::new(&values, s).unwrap());
    send(&mut b, 0, 0..1);
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    assert_eq!(next(&mut b, ISOLATION), None);
    b.depart(OUT, ONE).unwrap();
    let mark = *b.queue(OUT, ONE).next().expect("the mark");
    let mut scheme = b.scheme().clone();
    let at = PortQueue { port: OUT, queue: ONE };
    assert_eq!(scheme.serve(&b.view(), at, &mark, &mut asked), Verdict::Swallow);
    let open = Action::Open { port: OUT, target: crate::Target::Queue(ISOLATION) };
    assert_eq!(asked.as_slice()[..2], [open, Action::Retry { port: OUT }]);
}

#[test]
fn read_literally_the_sign_of_a_mark_lets_packets_overtake() {
    let mut b = two_queues("mark-sign");
    send(&mut b, 0, 0..1);
    b.control(OUT, &state(true, 0));
    send(&mut b, 0, 1..2);
    b.control(OUT, &state(false, 0));
    let p = b.depart(OUT, ISOLATION).expect("the queue does not wait");
    assert_eq!(p.seq, 1, "packet 0 is still in the normal queue");
}

#[test]
fn several_flows_wait_one_after_the_other() {
    let mut b = bench(&[("queues", "3")]);
    let isolation = QueueId(FIRST + 2);
    let (q0, q1) = (send(&mut b, 0, 0..1), send(&mut b, 1, 0..1));
    for k in [0, 1] {
        b.control(OUT, &state(true, k));
        send(&mut b, k, 1..2);
        b.control(OUT, &state(false, k));
    }
    assert_eq!(drain(&mut b, q1, 9), [(1, 0)]);
    assert_eq!(next(&mut b, isolation), None, "flow 0 first");
    assert_eq!(drain(&mut b, q0, 9), [(0, 0)]);
    assert_eq!(drain(&mut b, isolation, 9), [(0, 1), (1, 1)]);
}

#[test]
fn a_quiet_flow_leaves_the_isolation_queue_after_two_round_trips() {
    let mut b = two_queues("text");
    b.control(OUT, &state(true, 0));
    send(&mut b, 0, 0..1);
    b.now = Time::from_us(1);
    b.control(OUT, &state(false, 0));
    b.now = Time::from_us(2);
    assert_eq!(next(&mut b, ISOLATION), Some((0, 0)));
    // the last packet left at 2 us
    b.now = Time::from_us(11);
    assert_eq!(send(&mut b, 0, 1..2), ISOLATION);
    assert_eq!(next(&mut b, ISOLATION), Some((0, 1)));
    b.fire_next();
    assert_eq!(b.now, Time::from_us(12));
    assert_eq!(b.timers().len(), 1, "not quiet yet: asked again at 21 us");
    b.fire_next();
    assert_eq!(b.now, Time::from_us(21));
    assert!(b.timers().is_empty());
    assert_eq!(b.scheme().state_size().tables[1], ("congested flow table", 0));
    assert_eq!(send(&mut b, 0, 2..3), ONE);
}

#[test]
fn a_flow_that_was_quiet_while_it_was_paused_is_released_by_its_resume() {
    let mut b = two_queues("text");
    b.control(OUT, &state(true, 0));
    b.now = Time::from_us(10);
    b.control(OUT, &state(false, 0));
    audited(&b, Network::Drained);
    assert!(b.timers().is_empty());
    assert_eq!(send(&mut b, 0, 0..1), ONE);
}

#[test]
fn a_pause_before_the_release_keeps_the_flow_isolated() {
    let mut b = two_queues("text");
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    b.control(OUT, &state(true, 0));
    b.fire_next();
    assert_eq!(send(&mut b, 0, 0..1), ISOLATION);
    assert!(b.timers().is_empty());
}

/// Flow 1 is congested and its packet stands at the head of the isolation queue; flow 0
/// leaves its mark behind it.
fn mark_left_behind(reading: &str) -> Bench<FlowSail> {
    let mut b = bench(&[("queues", "2"), ("release", "0ns"), ("reading", reading)]);
    b.control(OUT, &state(true, 1));
    send(&mut b, 1, 0..1);
    send(&mut b, 0, 0..1);
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    // its packet and the mark in the normal queue go; flow 1 still holds the isolation queue
    assert_eq!(b.depart(OUT, ONE).map(|p| p.seq), Some(0));
    assert_eq!(b.depart(OUT, ONE), None);
    b
}

#[test]
fn a_flow_whose_mark_is_left_behind_stays_isolated() {
    let mut b = mark_left_behind("text");
    assert_eq!(send(&mut b, 0, 1..2), ISOLATION);
    b.control(OUT, &state(false, 1));
    assert_eq!(drain(&mut b, ISOLATION, 9), [(1, 0), (0, 1)]);
    audited(&b, Network::Drained);
}

#[test]
fn released_early_its_mark_strands_the_isolation_queue() {
    let mut b = mark_left_behind("early-release");
    assert_eq!(send(&mut b, 0, 1..2), ONE);
    b.control(OUT, &state(false, 1));
    assert_eq!(b.depart(OUT, ISOLATION).map(|p| p.flow), Some(flow(1)));
    b.control(OUT, &state(true, 2));
    send(&mut b, 2, 0..1);
    b.control(OUT, &state(false, 2));
    assert_eq!(b.depart(OUT, ISOLATION), None, "the old mark finds flow 0 in a normal queue");
    (0..9).for_each(|_| _ = b.depart(OUT, ONE));
    assert!(b.is_held(OUT, ISOLATION), "its partner is long gone");
    assert_eq!(b.depart(OUT, ISOLATION), None);
    assert!(b.scheme().audit(&b.view(), Network::Drained).is_err());
}

/// The link throws away what stands in the normal queue: the isolation queue waits no longer.
#[test]
fn a_lost_mark_is_waited_for_no_longer() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..1);
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    assert_eq!(next(&mut b, ISOLATION), None);
    let (before, mut asked) = (b.clone(), Actions::new());
    let mark = before.queue(OUT, ONE).last().unwrap();
    let at = PortQueue { port: OUT, queue: ONE };
    b.scheme_mut().discard_mark(&before.view(), at, mark, &mut asked);
    let flow = b.scheme().egresses[OUT.index()].flows.at(0).unwrap();
    assert_eq!((flow.marks, flow.waiting), (1, false), "the isolation queue's is left");
    let open = Action::Open { port: OUT, target: crate::Target::Queue(ISOLATION) };
    assert_eq!(asked.as_slice(), [open, Action::Retry { port: OUT }]);
}

/// Four queues: three flows stand in the three normal ones, in whatever order.
#[test]
fn the_mark_of_a_flow_stands_behind_its_packets_in_its_own_queue() {
    let mut b = bench(&[("queues", "4")]);
    for k in 0..3 {
        let q = send(&mut b, k, 0..1);
        b.control(OUT, &state(true, k));
        let kinds: Vec<_> = b.queue(OUT, q).map(|p| p.kind).collect();
        assert_eq!(kinds, [PacketKind::Data, PacketKind::Mark]);
    }
    assert_eq!(b.queue(OUT, QueueId(FIRST + 3)).count(), 3, "their partners are in isolation");
}
