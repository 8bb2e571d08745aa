mod sticky;

use super::*;
use crate::harness::given;
use crate::harness::{Bench, PRIORITY, TestPacket};
use std::collections::BTreeSet;
use weir_core::{Priority, PrioritySet, Rate};

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
const UP2: PortId = PortId(2);
/// Priorities 7 to 4 come first.
const FIRST: u32 = 4;

/// 100 Gb/s and 1 us: the hop round trip is 2 us, its product 25 000 B.
fn bench(params: &[(&str, &str)]) -> Bench {
    let all = [&[("hop-rtt", "2us")], params].concat();
    let mut b = Bench::switch(&INFO, &given(&INFO, &all), 3);
    b.links(Rate::from_gbps(100), Time::from_us(1));
    b
}

fn nic(params: &[(&str, &str)]) -> Bench {
    let mut b = Bench::nic(&INFO, &given(&INFO, params));
    b.links(Rate::from_gbps(100), Time::from_us(1));
    b
}

/// A packet of flow `k` that left queue `tag` of the neighbour at `from`.
fn packet(b: &Bench, from: PortId, k: u32, tag: u32) -> TestPacket {
    b.packet(from, 1000).flow(9, k, 10).wire_tag(tag)
}

/// `n` packets of flow `k`; the queue they went to.
fn send(b: &mut Bench, k: u32, n: u32, tag: u32) -> QueueId {
    let mut q = QueueId(0);
    for _ in 0..n {
        q = b.arrive(packet(b, UP, k, tag), OUT);
    }
    q
}

fn state(pause: bool, queue: u32) -> ControlMessage {
    ControlMessage::QueueState { pause, priority: PRIORITY, queue: QueueId(queue) }
}

fn bitmap(bits: &[u32]) -> ControlMessage {
    let mut words = vec![0; 16];
    bits.iter().for_each(|b| words[*b as usize / 64] |= 1u64 << (b % 64));
    ControlMessage::QueueBitmap { bits: 1024, words }
}

#[test]
fn active_flows_get_empty_queues_while_there_are_any() {
    let mut b = bench(&[("queues", "8")]);
    let queues: BTreeSet<u32> = (0..8).map(|k| send(&mut b, k, 1, 0).0).collect();
    assert_eq!(queues, (FIRST..FIRST + 8).collect());
    let ninth = send(&mut b, 8, 1, 0);
    assert!((FIRST..FIRST + 8).contains(&ninth.0), "no empty queue is left: a random one");
    assert_eq!(send(&mut b, 8, 1, 0), ninth, "an active flow keeps its queue");
}

#[test]
fn the_random_queue_is_any_of_them() {
    let mut b = bench(&[("queues", "2")]);
    send(&mut b, 0, 1, 0);
    send(&mut b, 1, 1, 0);
    let random: BTreeSet<u32> = (2..40).map(|k| send(&mut b, k, 1, 0).0).collect();
    assert_eq!(random.len(), 2, "38 fair draws that all agree have a chance of 2^-37");
}

#[test]
fn a_held_queue_counts_as_taken() {
    let mut b = bench(&[("queues", "2")]);
    b.control(OUT, &state(true, FIRST));
    assert_eq!(send(&mut b, 0, 1, 0), QueueId(FIRST + 1));
}

#[test]
fn an_idle_flow_keeps_its_queue_for_the_sticky_period() {
    // of 128 queues a new one would be the same with a chance of 1/128
    let mut b = bench(&[("queues", "128")]);
    let q = send(&mut b, 0, 1, 0);
    b.depart(OUT, q).unwrap();
    // three hop round trips
    b.now = Time::from_us(6);
    assert_eq!(send(&mut b, 0, 1, 0), q);
    b.depart(OUT, q).unwrap();
    b.now = Time::from_us(12) + Time::from_ps(1);
    assert_ne!(send(&mut b, 0, 1, 0), q);
}

/// Anything else would let it overtake itself.
#[test]
fn a_flow_with_packets_keeps_its_queue_however_long_they_wait() {
    let mut b = bench(&[("queues", "128")]);
    let q = send(&mut b, 0, 1, 0);
    b.depart(OUT, q).unwrap();
    // back within the 6 us it is remembered; from 11 us on only the packet keeps the queue
    b.now = Time::from_us(5);
    assert_eq!(send(&mut b, 0, 1, 0), q);
    b.now = Time::from_us(12);
    assert_eq!(send(&mut b, 0, 1, 0), q);
}

#[test]
fn the_sticky_period_starts_anew_with_every_packet() {
    let mut b = bench(&[("queues", "128")]);
    let mut q = QueueId(0);
    for us in [0, 5] {
        b.now = Time::from_us(us);
        q = send(&mut b, 0, 1, 0);
        b.depart(OUT, q).unwrap();
    }
    // 7 us is past the first period, and another flow's packet has old entries looked at
    b.now = Time::from_us(7);
    send(&mut b, 1, 1, 0);
    assert_eq!(send(&mut b, 0, 1, 0), q);
}

#[test]
fn entries_of_idle_flows_are_dropped() {
    let mut b = bench(&[]);
    for k in 0..10 {
        let q = send(&mut b, k, 1, 0);
        b.depart(OUT, q).unwrap();
    }
    b.now = Time::from_us(7);
    send(&mut b, 10, 1, 0);
    assert_eq!(b.scheme().state_size().tables[0], ("flow table", 8));
}

#[test]
fn an_entry_is_looked_at_again_when_its_time_is_over() {
    let mut b = bench(&[]);
    let q = send(&mut b, 0, 1, 0);
    b.depart(OUT, q).unwrap();
    // flow 0 counts up to and including 6 us
    for (k, us) in [(1, 6), (2, 7)] {
        b.now = Time::from_us(us);
        send(&mut b, k, 1, 0);
    }
    assert_eq!(b.scheme().state_size().tables[0], ("flow table", 16));
}

#[test]
fn a_queue_at_the_threshold_is_not_counted_and_one_beyond_is() {
    let mut b = bench(&[]);
    // one active queue: 25 packets are 25 000 B, exactly the threshold
    send(&mut b, 0, 25, 7);
    assert!(b.sent().is_empty());
    send(&mut b, 0, 3, 7);
    assert_eq!(b.sent(), [(UP, state(true, 7))], "one frame, however many packets count");
}

#[test]
fn the_threshold_is_shared_by_the_active_queues_this_one_included() {
    let mut b = bench(&[("queues", "2")]);
    send(&mut b, 0, 1, 1);
    // two active queues: 12 500 B each
    send(&mut b, 1, 12, 2);
    assert!(b.sent().is_empty());
    send(&mut b, 1, 1, 2);
    assert_eq!(b.sent(), [(UP, state(true, 2))]);
}

#[test]
fn a_held_queue_does_not_share_the_threshold() {
    let mut b = bench(&[("queues", "2")]);
    let held = send(&mut b, 0, 1, 1);
    b.control(OUT, &state(true, held.0));
    send(&mut b, 1, 25, 2);
    assert!(b.sent().is_empty());
}

#[test]
fn a_lone_packet_is_never_counted() {
    let mut b = bench(&[("queues", "1")]);
    send(&mut b, 0, 26, 0);
    b.take_sent();
    // the queue is far beyond the threshold, but flow 1 has nothing else in it
    send(&mut b, 1, 1, 5);
    assert!(b.sent().is_empty());
    send(&mut b, 1, 1, 5);
    assert_eq!(b.sent(), [(UP, state(true, 5))]);
}

#[test]
fn an_upstream_queue_is_resumed_when_its_last_counted_packet_leaves() {
    let mut b = bench(&[]);
    let q = send(&mut b, 0, 27, 7);
    b.take_sent();
    // the first 25 were not counted
    for _ in 0..26 {
        b.depart(OUT, q).unwrap();
        assert!(b.sent().is_empty());
    }
    b.depart(OUT, q).unwrap();
    assert_eq!(b.sent(), [(UP, state(false, 7))]);
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn counters_are_per_ingress_and_upstream_queue() {
    let mut b = bench(&[("queues", "1")]);
    send(&mut b, 0, 26, 7);
    b.arrive(packet(&b, UP2, 0, 7), OUT);
    b.arrive(packet(&b, UP2, 0, 8), OUT);
    assert_eq!(b.sent(), [(UP, state(true, 7)), (UP2, state(true, 7)), (UP2, state(true, 8))]);
}

#[test]
fn a_packet_carries_the_queue_it_leaves() {
    let mut b = bench(&[]);
    let q = send(&mut b, 0, 27, 7);
    let tags: BTreeSet<_> =
        (0..27).map(|_| b.depart(OUT, q).map(|p| (p.wire_tag, p.local_tag))).collect();
    assert_eq!(tags, BTreeSet::from([Some((q.0, 0))]));
}

#[test]
fn a_pause_holds_the_named_queue_and_no_other() {
    let mut b = bench(&[("queues", "2")]);
    let (q0, q1) = (send(&mut b, 0, 1, 0), send(&mut b, 1, 1, 0));
    b.control(OUT, &state(true, q0.0));
    b.control(OUT, &state(true, q0.0));
    assert!(b.is_held(OUT, q0) && !b.is_held(OUT, q1));
    assert!(!b.is_held(UP2, q0), "other ports go on");
    b.control(OUT, &state(false, q0.0));
    assert!(b.depart(OUT, q0).is_some());
}

#[test]
fn a_pause_for_a_queue_that_is_not_ours_is_ignored() {
    let mut b = bench(&[("queues", "2")]);
    b.control(OUT, &state(true, 0));
    assert!(!b.is_held(OUT, QueueId(0)), "the queue of ACKs is never held");
    b.control(OUT, &state(true, 60_000));
}

#[test]
fn other_priorities_pass_by() {
    let mut b = bench(&[("queues", "1")]);
    let ack = packet(&b, UP, 0, 7).priority(Priority::ALL[7]);
    for _ in 0..100 {
        assert_eq!(b.arrive(ack, OUT), QueueId(0));
    }
    assert!(b.sent().is_empty());
    b.depart(OUT, QueueId(0)).unwrap();
}

#[test]
fn a_nic_holds_the_slot_and_whoever_takes_it_next() {
    let mut b = nic(&[]);
    b.flow_starts(QueueId(3), b.packet(UP, 1000));
    b.control(UP, &state(true, 3));
    assert!(b.is_held(UP, QueueId(3)));
    b.flow_ends(QueueId(3), b.packet(UP, 1000));
    assert!(!b.is_held(UP, QueueId(3)));
    b.flow_starts(QueueId(3), b.packet(UP, 1000));
    assert!(b.is_held(UP, QueueId(3)), "the number is still paused");
    b.control(UP, &state(false, 3));
    assert!(!b.is_held(UP, QueueId(3)));
}

#[test]
fn a_nic_stamps_its_slot_and_has_no_queue_of_first_packets() {
    let b = nic(&[("first-packet", "true")]);
    let mut p = first(&b, 0, 0).0;
    let values = given(&INFO, &[("first-packet", "true")]);
    let ports = [crate::PortSetup::new(Rate::from_gbps(100), Time::from_us(1))];
    let schedule = crate::PrioritySchedule::default();
    let setup = NodeSetup {
        node: weir_core::NodeId(0),
        role: Role::Nic,
        ports: &ports,
        schedule: &schedule,
        lossless: PrioritySet::only(PRIORITY),
        thresholds: &crate::Thresholds::Pool,
        max_frame: weir_core::Bytes::new(1518),
        response: weir_core::Response::NONE,
        seed: 1,
    };
    let mut bfc = Bfc::new(&values, &setup).unwrap();
    let slot = PortQueue { port: UP, queue: QueueId(11) };
    bfc.depart(&b.view(), &mut p, slot, &mut Actions::new());
    assert_eq!(p.wire_tag, 11);
}

#[test]
fn periodic_pauses_wait_for_the_tick_and_resumes_do_not() {
    let mut b = bench(&[("frames", "periodic")]);
    // the threshold grows by half a round trip: 37 500 B
    let q = send(&mut b, 0, 37, 7);
    b.fire_next();
    assert_eq!(b.take_sent(), [(UP, bitmap(&[]))]);
    send(&mut b, 0, 1, 7);
    assert!(b.sent().is_empty());
    b.fire_next();
    assert_eq!(b.now, Time::from_us(2), "a bitmap every half round trip");
    assert_eq!(b.take_sent(), [(UP, bitmap(&[7]))]);
    (0..38).for_each(|_| _ = b.depart(OUT, q));
    assert_eq!(b.take_sent(), [(UP, bitmap(&[]))]);
}

/// 40 Gb/s and a round trip of 40 ns: half of it is 20 ns, but 1024 bits in a frame of 170 B on the
/// wire take 34 ns.
#[test]
fn on_a_short_link_bitmaps_take_a_tenth_of_the_wire() {
    let periodic = given(&INFO, &[("frames", "periodic"), ("hop-rtt", "40ns")]);
    let mut b = Bench::around(3, "75KB", "45KB", |setup| Bfc::new(&periodic, setup).unwrap());
    b.arrive(b.packet(UP, 1000).flow(9, 0, 10).wire_tag(7), OUT);
    b.fire_next();
    assert_eq!(b.now, Time::from_ns(340));
    let period = |p| given(&INFO, &[("frames", "periodic"), ("period", p)]);
    Bench::around(2, "75KB", "45KB", |setup| {
        // a pause may wait for 340 ns and takes 40 ns: 380 ns at 5 B/ns
        let bfc = Bfc::new(&periodic, setup).unwrap();
        assert_eq!(bfc.threshold.bytes(PortId(0), PortId(1)), 1900);
        let refused = Bfc::new(&period("34ns"), setup).unwrap_err().0;
        assert!(refused.contains("takes 34 ns"), "{refused}");
        Bfc::new(&period("35ns"), setup).unwrap()
    });
}

#[test]
fn upstream_queues_are_counted_modulo_the_bits() {
    let mut b = bench(&[("frames", "both")]);
    send(&mut b, 0, 26, 1024 + 7);
    assert_eq!(b.take_sent(), [(UP, state(true, 7))]);
    b.fire_next();
    assert_eq!(b.take_sent(), [(UP, bitmap(&[7]))]);
    let mut n = nic(&[("frames", "periodic")]);
    for slot in [7, 8, 1031] {
        n.flow_starts(QueueId(slot), n.packet(UP, 1000));
    }
    n.control(UP, &bitmap(&[7]));
    assert!(n.is_held(UP, QueueId(7)) && n.is_held(UP, QueueId(1031)));
    assert!(!n.is_held(UP, QueueId(8)));
    n.control(UP, &bitmap(&[8, 1000]));
    n.flow_starts(QueueId(1000), n.packet(UP, 1000));
    assert!(n.is_held(UP, QueueId(8)) && n.is_held(UP, QueueId(1000)), "in its sixteenth word");
    assert!(!n.is_held(UP, QueueId(7)));
}

/// 300 bits are four words and 44 bits of a fifth: the other 20 are nobody's, not those of queues 0
/// to 19.
#[test]
fn the_end_of_the_last_word_means_nothing() {
    let mut n = nic(&[("frames", "periodic"), ("bits", "300")]);
    n.flow_starts(QueueId(3), n.packet(UP, 1000));
    n.control(UP, &bitmap(&[3]));
    assert!(n.is_held(UP, QueueId(3)));
}

#[test]
fn a_bitmap_replaces_the_whole_state() {
    let mut b = bench(&[("frames", "both"), ("queues", "4")]);
    b.control(OUT, &bitmap(&[FIRST, FIRST + 1]));
    b.control(OUT, &bitmap(&[FIRST + 1, FIRST + 2]));
    let held: Vec<bool> = (0..4).map(|i| b.is_held(OUT, QueueId(FIRST + i))).collect();
    assert_eq!(held, [false, true, true, false]);
    b.control(OUT, &ControlMessage::QueueBitmap { bits: 9, words: vec![] });
    assert!(!b.is_held(OUT, QueueId(FIRST + 1)), "a short bitmap ends in zeros");
    b.control(OUT, &ControlMessage::QueueBitmap { bits: 9, words: vec![u64::MAX; 5000] });
    assert!(b.is_held(OUT, QueueId(FIRST + 1)), "an overlong one is cut");
}

#[test]
fn static_assignment_depends_on_the_flow_alone() {
    let params = [("queues", "8"), ("assignment", "static")];
    let mut b = bench(&params);
    let queues: Vec<_> = (0..64).map(|k| send(&mut b, k, 1, 0)).collect();
    let mut again = bench(&params);
    let backwards: Vec<_> = (0..64).rev().map(|k| send(&mut again, k, 1, 0)).collect();
    assert!(queues.iter().eq(backwards.iter().rev()));
    assert_eq!(queues.iter().collect::<BTreeSet<_>>().len(), 8);
}

#[test]
fn without_pausing_nothing_is_ever_sent() {
    let mut b = bench(&[("assignment", "static"), ("pausing", "false")]);
    send(&mut b, 0, 200, 7);
    assert!(b.sent().is_empty());
}

fn first(b: &Bench, k: u32, tag: u32) -> TestPacket {
    let mut p = packet(b, UP, k, tag);
    p.0.flags = flags::FIRST;
    p
}

#[test]
fn a_first_packet_overtakes_and_never_pauses() {
    let mut b = bench(&[("first-packet", "true"), ("queues", "1")]);
    let (ahead, data) = (QueueId(FIRST), QueueId(FIRST + 1));
    assert_eq!(send(&mut b, 0, 30, 7), data);
    b.take_sent();
    assert_eq!(b.arrive(first(&b, 1, 8), OUT), ahead);
    assert_eq!(send(&mut b, 1, 1, 8), data);
    assert_eq!(b.take_sent(), [(UP, state(true, 8))], "the second packet counts");
    // sent again while others of its flow wait: it must stay behind them
    assert_eq!(b.arrive(first(&b, 1, 9), OUT), data);
    assert!(b.sent().is_empty());
}

#[test]
fn paced_resumes_come_one_per_period_and_queue() {
    let mut b = bench(&[("resume", "paced"), ("queues", "1")]);
    let q = send(&mut b, 0, 25, 0);
    for tag in [1, 2, 3] {
        send(&mut b, 0, 1, tag);
    }
    b.take_sent();
    (0..28).for_each(|_| _ = b.depart(OUT, q));
    assert_eq!(b.take_sent(), [(UP, state(false, 1))]);
    // counted again while it waits: 2 stays paused and 3 takes its turn
    send(&mut b, 0, 25, 0);
    send(&mut b, 0, 1, 2);
    assert!(b.take_sent().is_empty(), "2 was never resumed");
    b.fire_next();
    assert_eq!(b.now, Time::from_us(1));
    assert_eq!(b.take_sent(), [(UP, state(false, 3))]);
    (0..26).for_each(|_| _ = b.depart(OUT, q));
    assert!(b.take_sent().is_empty(), "the last resume was just now");
    b.fire_next();
    assert_eq!((b.now, b.take_sent()), (Time::from_us(2), vec![(UP, state(false, 2))]));
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn paced_resumes_go_on_while_any_waits() {
    let mut b = bench(&[("resume", "paced"), ("queues", "1")]);
    let q = send(&mut b, 0, 25, 0);
    for tag in [1, 2, 3, 4] {
        send(&mut b, 0, 1, tag);
    }
    b.take_sent();
    (0..29).for_each(|_| _ = b.depart(OUT, q));
    let resumed = |b: &mut Bench| b.take_sent().into_iter().map(|(_, m)| m).collect::<Vec<_>>();
    assert_eq!(resumed(&mut b), [state(false, 1)]);
    for (us, tag) in [(1, 2), (2, 3), (3, 4)] {
        b.fire_next();
        assert_eq!((b.now, resumed(&mut b)), (Time::from_us(us), vec![state(false, tag)]));
    }
    assert!(b.timers().is_empty());
    // upstream queues 0 to 4 have counters of 2 B
    assert_eq!(b.scheme().state_size().tables[1], ("pause counters", 10));
}

#[test]
fn resumes_that_wait_for_their_turn_stay_in_line_while_a_link_is_down() {
    let mut b = bench(&[("resume", "paced"), ("queues", "1")]);
    let q = send(&mut b, 0, 25, 0);
    send(&mut b, 0, 1, 1);
    send(&mut b, 0, 1, 2);
    b.arrive(packet(&b, UP2, 0, 3), OUT);
    (0..28).for_each(|_| _ = b.depart(OUT, q));
    b.take_sent();
    b.link(UP, LinkState::Down);
    // lost with its link, as the link is down: it is not paused again below
    b.fire_next();
    assert_eq!(b.take_sent(), [(UP, state(false, 2))]);
    b.link(UP, LinkState::Up);
    assert_eq!(b.take_sent(), []);
    b.fire_next();
    assert_eq!(b.take_sent(), [(UP2, state(false, 3))]);
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn flows_in_one_bucket_are_one_flow() {
    let mut b = bench(&[("table", "hashed"), ("buckets", "1"), ("queues", "8")]);
    let q = send(&mut b, 0, 1, 0);
    assert_eq!(send(&mut b, 1, 1, 0), q);
    assert_eq!(b.scheme().state_size().tables[0], ("flow table", 8));
    (0..2).for_each(|_| _ = b.depart(OUT, q));
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn a_link_that_recovers_is_paused_at_once_and_what_it_had_paused_is_open() {
    let mut b = bench(&[("queues", "1")]);
    b.control(UP, &state(true, FIRST));
    let q = send(&mut b, 0, 26, 7);
    b.take_sent();
    b.link(UP, LinkState::Down);
    assert!(!b.is_held(UP, QueueId(FIRST)));
    assert_eq!(b.take_sent(), []);
    b.link(UP, LinkState::Up);
    assert_eq!(b.take_sent(), [(UP, state(true, 7))]);
    (0..26).for_each(|_| _ = b.depart(OUT, q));
    assert_eq!(b.take_sent(), [(UP, state(false, 7))], "and resumed with its last packet");
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

/// A bitmap at once: the next one may be long in coming.
#[test]
fn a_link_that_recovers_gets_a_bitmap_if_there_is_something_to_say() {
    let mut b = bench(&[("queues", "1"), ("frames", "periodic")]);
    b.link(UP, LinkState::Up);
    assert_eq!(b.take_sent(), []);
    let many = 200;
    send(&mut b, 0, many, 7);
    b.take_sent();
    b.link(UP, LinkState::Down);
    b.link(UP, LinkState::Up);
    let sent = b.take_sent();
    let [(UP, ControlMessage::QueueBitmap { words, .. })] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(words.iter().map(|w| w.count_ones()).sum::<u32>(), 1);
}

#[test]
fn a_backstop_holds_the_priority_beside_the_queues() {
    let mut b = bench(&[("backstop", "pfc"), ("queues", "2")]);
    b.thresholds("3KB", "1KB");
    let q = send(&mut b, 0, 3, 7);
    assert!(matches!(b.take_sent()[..], [(UP, ControlMessage::Pfc { .. })]));
    b.control(OUT, &ControlMessage::pfc(PRIORITY, 100));
    b.control(OUT, &state(true, q.0));
    b.control(OUT, &state(false, q.0));
    assert!(b.is_held(OUT, q), "the priority is still paused");
    b.control(OUT, &ControlMessage::pfc(PRIORITY, 0));
    (0..2).for_each(|_| _ = b.depart(OUT, q));
    assert!(matches!(b.take_sent()[..], [(UP, ControlMessage::Pfc { .. })]));
}

#[test]
fn what_is_left_after_a_drain_is_reported() {
    let mut b = bench(&[]);
    send(&mut b, 0, 1, 0);
    let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
    assert!(left.what.contains("counts 1 packets"), "{left}");
    send(&mut b, 0, 25, 7);
    let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
    assert!(left.what.contains("upstream queue 7 at port 0"), "{left}");
    b.scheme().audit(&b.view(), Network::InUse).unwrap();
    // the packets stay counted whatever happens to the link
    b.link(UP, LinkState::Down);
    let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
    assert!(left.what.contains("upstream queue 7 at port 0"), "{left}");
}

#[test]
fn bitmaps_without_a_period_are_refused() {
    let values = given(&INFO, &[("frames", "periodic"), ("period", "0ns")]);
    let schedule = crate::PrioritySchedule::default();
    let setup = NodeSetup {
        node: weir_core::NodeId(0),
        role: Role::Switch,
        ports: &[crate::PortSetup::new(Rate::from_gbps(40), Time::ZERO)],
        schedule: &schedule,
        lossless: PrioritySet::from_bits(8),
        thresholds: &crate::Thresholds::Pool,
        max_frame: weir_core::Bytes::new(1518),
        response: weir_core::Response::NONE,
        seed: 1,
    };
    assert!(Bfc::new(&values, &setup).unwrap_err().0.contains("period"));
    let values = given(&INFO, &[("backstop", "pfc")]);
    assert!(Bfc::new(&values, &setup).unwrap_err().0.contains("pause thresholds"));
}
