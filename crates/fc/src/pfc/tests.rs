//! Frames, timers and thresholds, one by one.

use super::*;
use crate::harness::{Bench, PRIORITY};
use weir_core::Rate;

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
/// Priority 3 under strict priority: queues count down from priority 7.
const Q: QueueId = QueueId(4);

fn bench(timer: &str) -> Bench {
    let mut values = Values::new();
    values.set(&TIMER, timer).unwrap();
    let mut bench = Bench::switch(&INFO, &values, 3);
    bench.thresholds("3KB", "1KB");
    bench
}

fn fill(bench: &mut Bench, packets: u32) {
    for seq in 0..packets {
        assert_eq!(bench.arrive(bench.packet(UP, 1000).seq(seq), OUT), Q);
    }
}

fn pause(quanta: u16) -> ControlMessage {
    ControlMessage::pfc(PRIORITY, quanta)
}

#[test]
fn pauses_the_ingress_once_when_it_reaches_xoff() {
    let mut b = bench("timed");
    fill(&mut b, 2);
    assert!(b.sent().is_empty());
    fill(&mut b, 3);
    assert_eq!(b.sent(), [(UP, pause(65_535))]);
}

#[test]
fn it_need_not_hear_of_an_ingress_below_xoff_or_paused_and_above_xon() {
    let mut b = bench("timed");
    let interest = |b: &Bench, p| b.scheme().interest(&b.view().books.mmu, UP, p);
    let quiet = |b: &Bench, p| match interest(b, p) {
        Interest::Outside(Q, range) => range,
        other => panic!("{other:?}"),
    };
    let (lossless, lossy) = (PRIORITY, Priority::ALL[5]);
    let [xoff, above_xon] = [3000, 1001].map(Bytes::new);
    assert_eq!(quiet(&b, lossless), Bytes::ZERO..xoff);
    fill(&mut b, 3);
    b.depart(OUT, Q).unwrap();
    // 2000 B and paused
    assert_eq!(quiet(&b, lossless), above_xon..Bytes::MAX);
    assert!(matches!(interest(&b, lossy), Interest::Never(_)));
    b.depart(OUT, Q).unwrap();
    assert_eq!(quiet(&b, lossless), Bytes::ZERO..xoff, "it has been resumed at xon");
    fill(&mut b, 2);
    b.link(UP, LinkState::Down);
    assert_eq!(quiet(&b, lossless), above_xon..Bytes::MAX, "it is to stay paused");
}

#[test]
fn another_ingress_or_priority_has_its_own_account() {
    let mut b = bench("timed");
    fill(&mut b, 2);
    b.arrive(b.packet(PortId(2), 1000), OUT);
    b.arrive(b.packet(UP, 3000).priority(Priority::ALL[5]), OUT);
    assert!(b.sent().is_empty(), "priority 5 is not lossless here, port 2 holds 1000 B");
}

#[test]
fn resumes_when_the_ingress_has_fallen_to_xon() {
    let mut b = bench("timed");
    fill(&mut b, 3);
    b.take_sent();
    b.depart(OUT, Q).unwrap();
    assert!(b.sent().is_empty(), "2000 B are above xon");
    b.depart(OUT, Q).unwrap();
    assert_eq!(b.take_sent(), [(UP, pause(0))]);
    b.depart(OUT, Q).unwrap();
    assert!(b.sent().is_empty(), "one RESUME is enough");
    assert!(b.timers().is_empty(), "nothing left to refresh");
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn a_standing_pause_is_refreshed_at_half_its_time() {
    let mut b = bench("timed");
    fill(&mut b, 3);
    b.take_sent();
    b.fire_next();
    // 65 535 quanta of 12.8 ns are 838.848 us
    assert_eq!(b.now, Time::from_ns(419_424));
    assert_eq!(b.take_sent(), [(UP, pause(65_535))]);
    b.fire_next();
    assert_eq!(b.now, Time::from_ns(838_848));
    assert!(b.scheme().audit(&b.view(), Network::Drained).is_err(), "a pause is left standing");
}

/// PFC on a switch with one port and two lossless priorities.
fn with_one_port(values: &Values) -> Result<Pfc, crate::ParamError> {
    let schedule = PrioritySchedule::default();
    let thresholds = crate::Thresholds::uniform(Bytes::new(1000), Bytes::ZERO, Bytes::MAX, 1);
    let setup = NodeSetup {
        node: weir_core::NodeId(0),
        role: crate::Role::Switch,
        ports: &[crate::PortSetup::new(Rate::from_gbps(40), Time::ZERO)],
        schedule: &schedule,
        lossless: PrioritySet::from_bits(0b11),
        thresholds: &thresholds,
        max_frame: Bytes::new(1518),
        response: weir_core::Response::NONE,
        seed: 1,
    };
    Pfc::new(values, &setup)
}

#[test]
fn one_refresh_frame_carries_all_paused_priorities_of_a_port() {
    let mut pfc = with_one_port(&Values::new()).unwrap();
    let mut a = Actions::new();
    let why = Reason::Words("why");
    pfc.pause(Time::ZERO, UP, Priority::ALL[0], why, &mut a);
    pfc.pause(Time::from_ns(5), UP, Priority::ALL[1], why, &mut a);
    let arms = a.as_slice().iter().filter(|x| matches!(x, crate::Action::Arm { .. })).count();
    assert_eq!(arms, 1, "the second pause rides on the first one's refresh");
    let mut a = Actions::new();
    pfc.resume(UP, Priority::ALL[0], why, &mut a);
    let message = |p| ControlMessage::pfc(p, 0);
    let resume = |p| crate::Action::Send { port: UP, message: message(p), reason: why };
    assert_eq!(a.as_slice(), [resume(Priority::ALL[0])], "the other one is still refreshed");
    pfc.resume(UP, Priority::ALL[1], why, &mut a);
    let cancel = crate::Action::Cancel { key: refreshing(UP) };
    assert_eq!(a.as_slice()[1..], [resume(Priority::ALL[1]), cancel]);
    assert_eq!(
        pfc.frame(PrioritySet::from_bits(0b11), 7),
        ControlMessage::Pfc { enable: PrioritySet::from_bits(3), quanta: [7, 7, 0, 0, 0, 0, 0, 0] }
    );
}

/// 10 000 B, 1000 B of them headroom: a dynamic threshold of what is left of 9000 B. It pauses
/// whoever holds as much, but a priority that may lose packets has nobody to pause.
#[test]
fn a_lossy_priority_pauses_nobody_however_much_it_holds() {
    let b = bench("timed");
    let lossy = Priority::ALL[5];
    let thresholds = crate::Thresholds::Dynamic {
        reserve: Bytes::ZERO,
        resume_offset: Bytes::ZERO,
        headroom: vec![Bytes::new(1000)],
        shift: vec![0],
    };
    let buffer = Bytes::new(10_000);
    let config = crate::MmuConfig {
        buffer,
        thresholds,
        lossless: PrioritySet::from_bits(1 << 3),
        exempt: PrioritySet::EMPTY,
    };
    let mut books = b.view().books.clone();
    books.mmu = crate::Mmu::new(config, 1);
    books.mmu.admit(UP, lossy, 9500).unwrap();
    assert!(books.mmu.should_pause(UP, lossy));
    let mut pfc = Bench::around(1, "3KB", "1KB", |s| Pfc::new(&Values::new(), s).unwrap());
    let (mut p, mut a) = (b.packet(UP, 1000).priority(lossy).0, Actions::new());
    let view = NodeView { now: Time::ZERO, books: &books };
    assert_eq!(pfc.scheme_mut().arrive(&view, &mut p, OUT, &mut a), QueueId(2));
    assert!(a.is_empty());
}

#[test]
fn a_pause_holds_its_priority_until_it_expires() {
    let mut b = bench("timed");
    b.control(OUT, &pause(100));
    fill(&mut b, 1);
    assert!(b.is_held(OUT, Q));
    assert_eq!(b.depart(OUT, Q), None);
    assert!(!b.is_held(OUT, QueueId(0)), "priority 7 goes on");
    assert!(!b.is_held(PortId(2), Q), "other ports go on");
    b.fire_next();
    // 100 quanta of 12.8 ns
    assert_eq!(b.now, Time::from_ns(1280));
    assert!(b.depart(OUT, Q).is_some());
}

#[test]
fn a_pause_that_expired_is_forgotten() {
    let mut b = Bench::around(2, "3KB", "1KB", |setup| Pfc::new(&Values::new(), setup).unwrap());
    b.control(OUT, &pause(100));
    assert!(b.scheme().is_paused(OUT, PRIORITY));
    b.fire_next();
    assert!(!b.scheme().is_paused(OUT, PRIORITY));
}

#[test]
fn a_later_frame_overwrites_the_time_also_with_a_shorter_one() {
    let mut b = bench("timed");
    b.control(OUT, &pause(100));
    b.control(OUT, &pause(10));
    b.fire_next();
    assert_eq!(b.now, Time::from_ns(128));
    assert!(!b.is_held(OUT, Q));
    assert!(b.timers().is_empty());
}

#[test]
fn bits_that_are_not_set_leave_their_priority_alone() {
    let mut b = bench("timed");
    b.control(OUT, &pause(100));
    b.control(OUT, &ControlMessage::Pfc { enable: PrioritySet::from_bits(1), quanta: [0; 8] });
    assert!(b.is_held(OUT, Q));
    b.control(OUT, &pause(0));
    assert!(!b.is_held(OUT, Q));
    assert!(b.timers().is_empty(), "a RESUME disarms the expiry");
}

#[test]
fn a_resume_without_a_pause_asks_for_nothing() {
    let bench = Bench::around(2, "3KB", "1KB", |setup| Pfc::new(&Values::new(), setup).unwrap());
    let mut pfc = bench.scheme().clone();
    let mut a = Actions::new();
    pfc.control(&bench.view(), OUT, &pause(100), &mut a);
    a = Actions::new();
    // priority 2 was never paused; priority 3 is opened and its expiry disarmed
    let both = ControlMessage::Pfc { enable: PrioritySet::from_bits(0b1100), quanta: [0; 8] };
    pfc.control(&bench.view(), OUT, &both, &mut a);
    assert_eq!(a.as_slice().len(), 2, "{:?}", a.as_slice());
}

#[test]
fn timed_pauses_that_are_never_repeated_are_refused() {
    let mut values = Values::new();
    values.set(&REFRESH, "never").unwrap();
    let why = with_one_port(&values).unwrap_err();
    assert!(why.to_string().contains("timed pauses expire"), "{why}");
}

#[test]
fn sticky_pauses_neither_expire_nor_refresh() {
    let mut b = bench("sticky");
    b.control(OUT, &pause(1));
    fill(&mut b, 3);
    assert!(b.timers().is_empty());
    assert!(b.is_held(OUT, Q));
    b.control(OUT, &pause(0));
    assert!(!b.is_held(OUT, Q));
}

#[test]
fn a_link_that_recovers_is_paused_at_once_and_what_it_had_paused_is_open() {
    let mut b = bench("timed");
    b.control(UP, &pause(100));
    fill(&mut b, 3);
    b.take_sent();
    b.link(UP, LinkState::Down);
    assert!(b.timers().is_empty());
    assert!(!b.is_held(UP, Q));
    assert_eq!(b.take_sent(), [], "nobody is there to be told");
    b.link(UP, LinkState::Up);
    assert_eq!(b.take_sent(), [(UP, pause(65_535))]);
    assert_eq!(b.timers().len(), 1, "and the pause is refreshed");
    // 1000 B are left
    (0..2).for_each(|_| _ = b.depart(OUT, Q).unwrap());
    assert_eq!(b.take_sent(), [(UP, pause(0))]);
    assert!(b.timers().is_empty());
}

#[test]
fn what_drained_while_the_link_was_down_is_not_paused_again() {
    let mut b = bench("sticky");
    fill(&mut b, 3);
    b.link(UP, LinkState::Down);
    (0..2).for_each(|_| _ = b.depart(OUT, Q).unwrap());
    b.take_sent();
    b.link(UP, LinkState::Up);
    assert_eq!(b.take_sent(), []);
}

/// A dynamic threshold can fall below what is stored without a packet that comes: here a scheme
/// that has heard of none is shown a full ingress.
#[test]
fn a_threshold_that_has_fallen_in_the_meantime_counts_when_the_link_recovers() {
    let (mut b, mut full) = (bench("sticky"), bench("sticky"));
    fill(&mut full, 3);
    let mut a = Actions::new();
    b.scheme_mut().link(&full.view(), UP, LinkState::Down, &mut a);
    assert_eq!(a.as_slice(), []);
    b.scheme_mut().link(&full.view(), UP, LinkState::Up, &mut a);
    let (message, mmu) = (pause(65_535), &full.view().books.mmu);
    let reason = mmu.pause_reason(UP, PRIORITY);
    assert_eq!(a.as_slice(), [crate::Action::Send { port: UP, message, reason }]);
}

#[test]
fn a_nic_whose_link_recovers_has_nothing_to_say() {
    let mut b = Bench::nic(&INFO, &Values::new());
    b.link(PortId(0), LinkState::Up);
    assert_eq!(b.sent(), []);
}

#[test]
fn state_is_four_bytes_per_port_and_priority() {
    let tables = bench("timed").scheme().state_size().tables;
    assert_eq!(tables, [("ingress counters", 3 * 8 * 4)]);
}

#[test]
fn a_refresh_that_comes_too_late_or_faster_than_frames_can_be_sent_is_refused() {
    let mut values = Values::new();
    values.set(&PAUSE_QUANTA, "10").unwrap();
    values.set(&REFRESH, "1us").unwrap();
    let schedule = PrioritySchedule::default();
    let setup = NodeSetup {
        node: weir_core::NodeId(0),
        role: crate::Role::Switch,
        ports: &[crate::PortSetup::new(Rate::from_gbps(40), Time::ZERO)],
        schedule: &schedule,
        lossless: PrioritySet::from_bits(8),
        thresholds: &crate::Thresholds::Pool,
        max_frame: Bytes::new(1518),
        response: weir_core::Response::NONE,
        seed: 1,
    };
    // 10 quanta at 40 Gb/s are 128 ns
    assert!(Pfc::new(&values, &setup).unwrap_err().0.contains("128 ns"));
    // 64 B, preamble and gap are 16.8 ns
    for (refresh, fits) in [("16800ps", false), ("16801ps", true)] {
        values.set(&REFRESH, refresh).unwrap();
        assert_eq!(Pfc::new(&values, &setup).is_ok(), fits, "{refresh}");
    }
    values.set(&TIMER, "sticky").unwrap();
    assert!(Pfc::new(&values, &setup).is_ok(), "no pause time to be below of");
    values.set(&REFRESH, "1ps").unwrap();
    assert!(Pfc::new(&values, &setup).is_err());
}
