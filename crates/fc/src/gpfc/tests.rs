//! Thresholds, sub-queues and sub-class pauses.

use super::*;
use crate::harness::{Bench, PRIORITY, TestPacket, set};

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
/// Priority 3: its high sub-queue, then its low one, behind priorities 7 to 4.
const HIGH: QueueId = QueueId(4);
const LOW: QueueId = QueueId(5);
/// The class of the high sub-class.
const P4: Priority = Priority::ALL[4];

/// Pauses low at 6 packets of 1000 B, all at 10, resumes all at 3.
fn switch_with(timer: &str) -> Bench<Gpfc> {
    let values = set(&[(&XOFF_LOW, "6KB"), (&pfc::TIMER, timer)]);
    Bench::around(2, "10KB", "3KB", |setup| Gpfc::new(&values, setup).unwrap())
}

fn switch() -> Bench<Gpfc> {
    switch_with("sticky")
}

fn packet(b: &Bench<Gpfc>, high: bool) -> TestPacket {
    let mut p = b.packet(UP, 1000);
    p.0.flags = if high { flags::HIGH } else { 0 };
    p
}

fn put(b: &mut Bench<Gpfc>, high: bool, n: u32) {
    for _ in 0..n {
        assert_eq!(b.arrive(packet(b, high), OUT), if high { HIGH } else { LOW });
    }
}

fn frame(class: Priority, pause: bool) -> (PortId, ControlMessage) {
    (UP, ControlMessage::pfc(class, if pause { 65_535 } else { 0 }))
}

#[test]
fn the_high_sub_class_has_the_rank_above_the_low_one() {
    let layout = switch().scheme().layout(OUT);
    let priorities: Vec<u8> = layout.queues.iter().map(|q| q.priority.get()).collect();
    assert_eq!(priorities, [7, 6, 5, 4, 3, 3, 2, 1, 0]);
    assert!(layout.groups.iter().all(|g| g.queues == 1));
    assert_eq!(layout.groups.len(), 9);
}

#[test]
fn a_weighted_priority_has_its_high_sub_class_above_all_weighted_ones() {
    let mut schedule = crate::PrioritySchedule::default();
    schedule.weights[3] = 2;
    schedule.weights[5] = 1;
    let b = Bench::around(1, "10KB", "3KB", |setup| {
        let setup = NodeSetup { schedule: &schedule, ..setup.clone() };
        Gpfc::new(&Values::new(), &setup).unwrap()
    });
    let layout = b.scheme().layout(OUT);
    let priorities: Vec<u8> = layout.queues.iter().map(|q| q.priority.get()).collect();
    // strict 7 6 4 2 1 0, high of 3, then weighted 5 and low of 3
    assert_eq!(priorities, [7, 6, 4, 2, 1, 0, 3, 5, 3]);
    assert_eq!(layout.ranks(), [0, 1, 2, 3, 4, 5, 6, 7, 7]);
    assert_eq!(b.scheme().queue_of[3], [8, 6]);
    assert_eq!(b.scheme().queue_of[5], [7, 7]);
}

#[test]
fn the_lower_threshold_pauses_the_low_sub_class_only() {
    let mut b = switch();
    put(&mut b, true, 3);
    put(&mut b, false, 2);
    assert_eq!(b.take_sent(), []);
    put(&mut b, true, 1);
    assert_eq!(b.take_sent(), [frame(PRIORITY, true)], "6 KB, whoever brought them");
    put(&mut b, true, 3);
    assert_eq!(b.take_sent(), []);
    put(&mut b, true, 1);
    assert_eq!(b.take_sent(), [frame(P4, true)], "10 KB");
}

#[test]
fn a_large_packet_may_pause_both_at_once() {
    let mut b = switch();
    let mut p = packet(&b, false);
    p.0.size = 10_000;
    b.arrive(p, OUT);
    assert_eq!(b.take_sent(), [frame(PRIORITY, true), frame(P4, true)]);
    b.depart(OUT, LOW).unwrap();
    assert_eq!(b.take_sent(), [frame(PRIORITY, false), frame(P4, false)]);
}

#[test]
fn the_high_sub_class_resumes_earlier() {
    let mut b = switch();
    put(&mut b, false, 10);
    b.take_sent();
    for _ in 0..3 {
        b.depart(OUT, LOW).unwrap();
    }
    assert_eq!(b.take_sent(), [], "7 KB");
    b.depart(OUT, LOW).unwrap();
    assert_eq!(b.take_sent(), [frame(P4, false)], "6 KB");
    b.depart(OUT, LOW).unwrap();
    b.depart(OUT, LOW).unwrap();
    assert_eq!(b.take_sent(), []);
    b.depart(OUT, LOW).unwrap();
    assert_eq!(b.take_sent(), [frame(PRIORITY, false)], "3 KB");
    assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
}

#[test]
fn pauses_hold_the_sub_queues_separately() {
    let mut b = switch();
    b.control(OUT, &frame(PRIORITY, true).1);
    assert!(b.is_held(OUT, LOW) && !b.is_held(OUT, HIGH));
    b.control(OUT, &frame(P4, true).1);
    assert!(b.is_held(OUT, LOW) && b.is_held(OUT, HIGH));
    assert!(!b.is_held(OUT, QueueId(3)), "packets of priority 4 itself go on");
    b.control(OUT, &frame(PRIORITY, false).1);
    assert!(!b.is_held(OUT, LOW) && b.is_held(OUT, HIGH));
    b.control(OUT, &frame(Priority::ALL[6], true).1);
    assert!(b.is_held(OUT, QueueId(1)), "other classes are plain PFC");
    b.control(OUT, &frame(Priority::ALL[6], false).1);
    assert!(!b.is_held(OUT, QueueId(1)));
}

#[test]
fn a_timed_pause_expires_and_is_refreshed() {
    let mut b = switch_with("timed");
    b.control(OUT, &ControlMessage::pfc(P4, 100));
    b.fire_next();
    assert!(!b.is_held(OUT, HIGH));
    put(&mut b, false, 10);
    b.take_sent();
    b.fire_next();
    let mut quanta = [0; 8];
    quanta[3] = 65_535;
    quanta[4] = 65_535;
    assert_eq!(
        b.take_sent(),
        [(UP, ControlMessage::Pfc { enable: PrioritySet::from_bits(0b1_1000), quanta })]
    );
    assert!(b.scheme().audit(&b.view(), Network::Drained).unwrap_err().scheme == "gpfc");
}

#[test]
fn a_link_change_opens_the_sub_queues() {
    let mut b = switch();
    b.control(OUT, &frame(PRIORITY, true).1);
    b.control(OUT, &frame(P4, true).1);
    b.link(OUT, LinkState::Down);
    assert!(!b.is_held(OUT, LOW) && !b.is_held(OUT, HIGH));
}

/// 10 KB are at the threshold of both sub-classes.
#[test]
fn a_link_that_recovers_is_paused_at_once_in_both_sub_classes() {
    let mut b = switch();
    put(&mut b, false, 10);
    b.link(UP, LinkState::Down);
    b.take_sent();
    b.link(UP, LinkState::Up);
    let mut quanta = [0; 8];
    (quanta[3], quanta[4]) = (65_535, 65_535);
    let both = PrioritySet::from_bits(0b1_1000);
    assert_eq!(b.take_sent(), [(UP, ControlMessage::Pfc { enable: both, quanta })]);
}

#[test]
fn other_priorities_have_no_sub_classes() {
    let mut b = switch();
    for high in [false, true] {
        let mut p = packet(&b, high);
        (p.0.priority, p.0.size) = (Priority::ALL[5], 20_000);
        assert_eq!(b.arrive(p, OUT), QueueId(2));
    }
    b.depart(OUT, QueueId(2)).unwrap();
    assert_eq!(b.sent(), []);
}

#[test]
fn a_nic_holds_the_slots_of_a_sub_class() {
    let mut b = Bench::around(1, "10KB", "3KB", |setup| {
        let thresholds = crate::Thresholds::Pool;
        let setup = NodeSetup { role: Role::Nic, thresholds: &thresholds, ..setup.clone() };
        Gpfc::new(&set(&[(&pfc::TIMER, "sticky")]), &setup).unwrap()
    });
    let start = |b: &mut Bench<Gpfc>, slot, high| b.flow_starts(QueueId(slot), packet(b, high));
    let held =
        |b: &Bench<Gpfc>| -> Vec<u32> { (0..8).filter(|&q| b.is_held(UP, QueueId(q))).collect() };
    start(&mut b, 0, false);
    start(&mut b, 1, true);
    b.control(UP, &frame(PRIORITY, true).1);
    assert_eq!(held(&b), [0]);
    start(&mut b, 2, false);
    start(&mut b, 3, true);
    assert_eq!(held(&b), [0, 2], "a new flow of the paused sub-class");
    b.flow_ends(QueueId(2), packet(&b, false));
    assert_eq!(held(&b), [0]);
    b.control(UP, &frame(P4, true).1);
    assert_eq!(held(&b), [0, 1, 3]);
    b.control(UP, &frame(PRIORITY, false).1);
    assert_eq!(held(&b), [1, 3], "the slot of the flow that ended is left alone");
    b.flow_ends(QueueId(0), packet(&b, false));
    // a flow of another priority is not held by the class it happens to share, ...
    let mut p = packet(&b, false);
    p.0.priority = P4;
    b.flow_starts(QueueId(0), p);
    assert_eq!(held(&b), [1, 3]);
    // ... nor does it take the slots of that class with it
    b.flow_ends(QueueId(0), p);
    b.control(UP, &frame(P4, false).1);
    assert_eq!(held(&b), [] as [u32; 0]);
    // and the same when it was there before the pause
    b.flow_starts(QueueId(0), p);
    b.control(UP, &frame(P4, true).1);
    assert_eq!(held(&b), [1, 3]);
    let (mut nic, mut a) = (b.scheme().clone(), Actions::new());
    let mut p = packet(&b, true).0;
    nic.depart(&b.view(), &mut p, PortQueue { port: UP, queue: QueueId(0) }, &mut a);
    assert!(nic == *b.scheme() && a.is_empty());
}

#[test]
fn the_class_of_the_high_sub_class_must_be_free() {
    let refused = |lossless, offset: &str| {
        let mut error = None;
        Bench::around(1, "75KB", "45KB", |setup| {
            let lossless = PrioritySet::from_bits(lossless);
            let setup = NodeSetup { lossless, ..setup.clone() };
            error = Gpfc::new(&set(&[(&HIGH_OFFSET, offset)]), &setup).err().map(|e| e.0);
            crate::none::NoFlowControl::new(setup.schedule)
        });
        error
    };
    assert!(refused(0b1_1000, "1").is_some_and(|e| e.contains("class 4")));
    assert_eq!(refused(0b1_1000, "2"), None);
    assert_eq!(refused(0b1000_0000, "1"), None, "class 0 stands for the high of 7");
}

#[test]
fn high_sub_classes_take_the_next_free_classes() {
    let high = |lossless| {
        let lossless = PrioritySet::from_bits(lossless);
        let classes = high_classes(None, lossless).map_err(|e| e.0)?;
        Ok::<_, String>(lossless.iter().map(|p| classes[p.index()].get()).collect())
    };
    assert_eq!(high(0b1000), Ok(vec![4]));
    // above 3, 4 and 5: 6 is free, then 7, then 0
    assert_eq!(high(0b11_1000), Ok(vec![6, 7, 0]));
    assert_eq!(high(0b1111_0000), Ok(vec![0, 1, 2, 3]));
    assert!(high(0b1111_1000).is_err_and(|e| e.contains("5 lossless") && e.contains("at most 4")));
}

#[test]
fn the_default_threshold_is_the_ofc_papers() {
    let b = Bench::around(1, "75KB", "45KB", |setup| Gpfc::new(&Values::new(), setup).unwrap());
    assert_eq!(b.scheme().xoff_low, [Bytes::new(68_000)]);
}

#[test]
fn each_port_has_its_own_lower_threshold() {
    let levels = [("7500B", "4500B"), ("75KB", "45KB")];
    let mut b = Bench::around_ports(&levels, |s| Gpfc::new(&set(&[]), s).unwrap());
    for (port, other, first) in [(UP, OUT, 7), (OUT, UP, 68)] {
        for n in 1..=first {
            assert_eq!(b.take_sent(), [], "port {port}, {n} packets");
            b.arrive(b.packet(port, 1000), other);
        }
        assert_eq!(b.take_sent(), [(port, ControlMessage::pfc(PRIORITY, 65_535))]);
    }
}

/// The class of priority 2's high sub-class would be 3, which is lossless itself: what priority 2
/// does must not resume it.
#[test]
fn packets_of_other_priorities_resume_nobody() {
    let mut b = switch();
    put(&mut b, false, 6);
    assert_eq!(b.take_sent(), [frame(PRIORITY, true)]);
    let p = packet(&b, false).priority(Priority::ALL[2]);
    let q = b.arrive(p, OUT);
    let interest = |p| b.scheme().interest(&b.view().books.mmu, UP, p);
    assert_eq!(interest(Priority::ALL[2]), Interest::Never(q));
    assert_eq!(interest(PRIORITY), Interest::Every);
    b.depart(OUT, q).unwrap();
    assert_eq!(b.sent(), []);
}

#[test]
fn it_keeps_the_counters_of_pfc() {
    // two ports, eight priorities, 4 B each
    assert_eq!(switch().scheme().state_size().tables, [("ingress counters", 64)]);
}
