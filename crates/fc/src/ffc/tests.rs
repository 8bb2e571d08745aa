mod lanes;

use super::*;
use crate::harness::given;
use crate::harness::{Bench, PRIORITY, TestPacket};
use weir_core::control::HostPair;
use weir_core::{NodeId, Priority};

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
const UP2: PortId = PortId(2);
/// Priorities 7 to 4 come first.
const TRANSMIT: QueueId = QueueId(4);

fn lane(l: u32) -> QueueId {
    QueueId(TRANSMIT.0 + 1 + l)
}

/// Packets have 1000 B, 200 ns at 40 Gb/s; the hop round trip is 40 ns.
fn bench(params: &[(&str, &str)]) -> Bench<Ffc> {
    let mut all = vec![("threshold", "4KB"), ("lane-high", "2KB"), ("lane-low", "1KB")];
    all.push(("drain-below", "2KB"));
    all.extend(params);
    let values = given(&INFO, &all);
    Bench::around(3, "75KB", "45KB", |setup| Ffc::new(&values, setup).unwrap())
}

/// Packet `seq` of flow `k` of host 1 to host `dst`.
fn packet(b: &Bench<Ffc>, k: u32, dst: u32, seq: u32) -> TestPacket {
    b.packet(UP, 1000).flow(1, k, dst).seq(seq)
}

/// Packets `seqs` to host `dst`; the queue of the last.
fn send(b: &mut Bench<Ffc>, dst: u32, seqs: std::ops::Range<u32>) -> QueueId {
    let mut q = QueueId(0);
    for seq in seqs {
        q = b.arrive(packet(b, 0, dst, seq), OUT);
        b.scheme().audit(&b.view(), Network::InUse).unwrap();
    }
    q
}

fn pair(dst: u32) -> HostPair {
    HostPair { src: NodeId(1), dst: NodeId(dst) }
}

fn bpf(states: &[(u32, bool)]) -> ControlMessage {
    ControlMessage::BackPressure {
        flows: states.iter().map(|&(dst, xoff)| (pair(dst), PRIORITY, xoff)).collect(),
    }
}

/// Destination and number of the next packet of `q`.
fn next(b: &mut Bench<Ffc>, q: QueueId) -> Option<(u32, u32)> {
    let sent = b.depart(OUT, q).map(|p| (p.dst.0, p.seq));
    b.scheme().audit(&b.view(), Network::InUse).unwrap();
    sent
}

/// Flow 20 has a lane: 5 packets made the transmit queue too long.
fn with_root(params: &[(&str, &str)]) -> Bench<Ffc> {
    let mut b = bench(params);
    assert_eq!(send(&mut b, 20, 0..5), TRANSMIT);
    b
}

#[test]
fn step_1_a_flow_keeps_to_the_transmit_queue_up_to_the_threshold() {
    let mut b = bench(&[]);
    assert_eq!(send(&mut b, 20, 0..4), TRANSMIT);
    assert_eq!(send(&mut b, 20, 4..5), TRANSMIT, "the packet that exceeds it is already there");
    assert_eq!(send(&mut b, 20, 5..6), lane(0));
}

#[test]
fn step_1_the_root_flow_has_most_bytes_and_more_than_its_share() {
    let mut b = bench(&[]);
    send(&mut b, 20, 0..3);
    send(&mut b, 30, 0..2);
    // 5000 B of two flows: flow 20 holds 3000 B
    assert_eq!(send(&mut b, 30, 2..3), TRANSMIT);
    assert_eq!(send(&mut b, 20, 3..4), lane(0));
}

#[test]
fn step_1_bytes_count_before_keys() {
    let mut b = bench(&[]);
    send(&mut b, 30, 0..3);
    send(&mut b, 20, 0..2);
    assert_eq!(send(&mut b, 20, 2..3), TRANSMIT);
    assert_eq!(send(&mut b, 30, 3..4), lane(0));
}

#[test]
fn step_1_flows_with_equal_shares_are_no_roots() {
    let mut b = bench(&[("threshold", "5KB")]);
    for seq in 0..3 {
        send(&mut b, 20, seq..seq + 1);
        send(&mut b, 30, seq..seq + 1);
    }
    // 6000 B, 3000 each; the next packet breaks the tie
    assert_eq!(send(&mut b, 30, 3..4), TRANSMIT);
    assert_eq!(send(&mut b, 30, 4..5), lane(0));
    assert_eq!(send(&mut b, 20, 3..4), TRANSMIT);
}

#[test]
fn step_1_among_equals_the_smallest_key_is_the_root() {
    let mut b = bench(&[]);
    send(&mut b, 30, 0..2);
    send(&mut b, 20, 0..2);
    send(&mut b, 40, 0..1);
    // 5000 B of three flows: 20 and 30 hold 2000 B each, more than a third
    assert_eq!(send(&mut b, 20, 2..3), lane(0));
    assert_eq!(send(&mut b, 30, 2..3), TRANSMIT);
    // whichever came first
    let mut b = bench(&[]);
    send(&mut b, 20, 0..2);
    send(&mut b, 30, 0..2);
    send(&mut b, 40, 0..1);
    assert_eq!(send(&mut b, 20, 2..3), lane(0));
}

#[test]
fn step_1_one_root_flow_per_hop_round_trip() {
    let mut b = with_root(&[]);
    send(&mut b, 30, 0..20);
    assert_eq!(send(&mut b, 30, 20..21), TRANSMIT, "40 ns have not passed");
    b.now = Time::from_ns(40);
    assert_eq!(send(&mut b, 30, 21..22), TRANSMIT);
    assert_eq!(send(&mut b, 30, 22..23), lane(1));
}

#[test]
fn step_2_other_flows_stay_in_the_transmit_queue() {
    let mut b = with_root(&[]);
    assert_eq!(send(&mut b, 20, 5..6), lane(0));
    assert_eq!(send(&mut b, 30, 0..1), TRANSMIT);
}

#[test]
fn step_3_a_lane_beyond_its_high_mark_stops_the_flow_once() {
    let mut b = with_root(&[]);
    send(&mut b, 20, 5..7);
    assert!(b.sent().is_empty(), "2000 B is the mark itself");
    send(&mut b, 20, 7..9);
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, true)]))]);
    // the same host pair by another way in
    b.arrive(b.packet(UP2, 1000).flow(1, 1, 20), OUT);
    assert_eq!(b.take_sent(), [(UP2, bpf(&[(20, true)]))]);
}

#[test]
fn step_4_a_stopped_flow_gets_a_lane_that_is_held() {
    let mut b = bench(&[]);
    assert_eq!(send(&mut b, 20, 0..1), TRANSMIT);
    b.control(OUT, &bpf(&[(20, true), (30, true)]));
    assert_eq!(send(&mut b, 20, 1..2), lane(0));
    assert_eq!(send(&mut b, 30, 0..1), lane(1));
    assert_eq!(next(&mut b, lane(0)), None);
    assert_eq!(next(&mut b, TRANSMIT), Some((20, 0)), "what was there goes on");
    assert_eq!(next(&mut b, TRANSMIT), None);
    b.control(OUT, &bpf(&[(20, false)]));
    assert_eq!(b.depart(OUT, lane(0)), None, "the lane gives its packet to the transmit queue");
    assert_eq!(next(&mut b, TRANSMIT), Some((20, 1)));
    assert!(b.is_held(OUT, lane(1)));
}

#[test]
fn step_4_back_pressure_travels_on() {
    let mut b = bench(&[]);
    b.control(OUT, &bpf(&[(20, true)]));
    send(&mut b, 20, 0..3);
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, true)]))]);
    b.control(OUT, &bpf(&[(20, true)]));
    assert!(b.sent().is_empty(), "a repeated frame changes nothing");
}

#[test]
fn step_5_lanes_wait_while_the_transmit_queue_is_long() {
    let mut b = with_root(&[]);
    send(&mut b, 20, 5..7);
    // drains below 2000 B; 5000 B are queued
    assert_eq!(next(&mut b, lane(0)), None);
    let behind = |b: &Bench<Ffc>, queue| {
        let head = *b.queue(OUT, queue).next().expect("a packet");
        b.scheme().head_waits_for(PortQueue { port: OUT, queue }, &head)
    };
    assert_eq!(behind(&b, lane(0)), Some(TRANSMIT));
    assert_eq!(behind(&b, TRANSMIT), None);
    for seq in 0..4 {
        assert_eq!(next(&mut b, TRANSMIT), Some((20, seq)));
    }
    assert_eq!(behind(&b, lane(0)), None, "1000 B are queued");
    assert_eq!(next(&mut b, lane(0)), None);
    let order: Vec<_> = b.queue(OUT, TRANSMIT).map(|p| p.seq).collect();
    assert_eq!(order, [4, 5], "behind what was there");
}

/// Congestion is what is beyond the threshold, and over when it is not.
#[test]
fn step_5_by_default_lanes_give_below_the_threshold() {
    let values = given(&INFO, &[("threshold", "4KB"), ("lane-high", "2KB"), ("lane-low", "1KB")]);
    let mut b = Bench::around(3, "75KB", "45KB", |setup| Ffc::new(&values, setup).unwrap());
    send(&mut b, 20, 0..7);
    assert_eq!(next(&mut b, TRANSMIT), Some((20, 0)));
    assert_eq!(next(&mut b, lane(0)), None);
    assert_eq!(b.queue(OUT, TRANSMIT).count(), 4, "4000 B are not below it");
    assert_eq!(next(&mut b, TRANSMIT), Some((20, 1)));
    assert_eq!(next(&mut b, lane(0)), None);
    let order: Vec<_> = b.queue(OUT, TRANSMIT).map(|p| p.seq).collect();
    assert_eq!(order, [2, 3, 4, 5], "3000 B are");
}

#[test]
fn step_5_a_lane_gives_at_line_rate() {
    let mut b = with_root(&[]);
    send(&mut b, 20, 5..8);
    (0..5).for_each(|_| _ = next(&mut b, TRANSMIT));
    assert_eq!(next(&mut b, lane(0)), None);
    assert_eq!(b.queue(OUT, TRANSMIT).count(), 1);
    b.fire_next();
    assert_eq!(b.now, Time::from_ns(200));
    next(&mut b, TRANSMIT);
    next(&mut b, lane(0));
    assert_eq!(b.queue(OUT, lane(0)).count(), 1);
}

#[test]
fn step_5_draining_lanes_share_the_line_rate() {
    let mut b = bench(&[]);
    b.control(OUT, &bpf(&[(20, true), (30, true), (40, true)]));
    for dst in [20, 30, 40] {
        send(&mut b, dst, 0..2);
    }
    b.control(OUT, &bpf(&[(20, false), (30, false)]));
    next(&mut b, lane(0));
    assert_eq!(b.fire_next().map(|k| k.index), Some(0));
    // two lanes drain, the third is held
    assert_eq!(b.now, Time::from_ns(400));
}

#[test]
fn step_5_without_the_pacer_a_lane_gives_until_the_transmit_queue_is_long() {
    let mut b = with_root(&[("pacer", "false")]);
    send(&mut b, 20, 5..9);
    (0..5).for_each(|_| _ = next(&mut b, TRANSMIT));
    assert_eq!(next(&mut b, lane(0)), None);
    assert_eq!(b.queue(OUT, TRANSMIT).count(), 2, "2000 B: no longer below");
    assert!(b.timers().is_empty());
}

#[test]
fn step_6_a_lane_at_its_low_mark_lets_the_flow_go_on() {
    let mut b = with_root(&[("pacer", "false")]);
    send(&mut b, 20, 5..8);
    b.take_sent();
    (0..4).for_each(|_| _ = next(&mut b, TRANSMIT));
    assert_eq!(next(&mut b, lane(0)), None);
    assert_eq!(b.take_sent(), [], "one packet went, 2000 B are left");
    next(&mut b, TRANSMIT);
    assert_eq!(next(&mut b, lane(0)), None);
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, false)]))], "1000 B");
    (0..2).for_each(|_| _ = next(&mut b, TRANSMIT));
    assert_eq!(next(&mut b, lane(0)), None);
    assert!(b.sent().is_empty());
}

#[test]
fn an_empty_lane_is_given_back_and_order_holds() {
    let mut b = with_root(&[("pacer", "false")]);
    send(&mut b, 20, 5..6);
    (0..4).for_each(|_| _ = next(&mut b, TRANSMIT));
    assert_eq!(next(&mut b, lane(0)), None);
    assert_eq!(send(&mut b, 20, 6..7), TRANSMIT, "the lane is gone");
    let order: Vec<_> = b.queue(OUT, TRANSMIT).map(|p| p.seq).collect();
    assert_eq!(order, [4, 5, 6]);
    (0..3).for_each(|_| _ = next(&mut b, TRANSMIT));
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn a_lane_that_nothing_came_for_is_given_back_with_the_flow() {
    let mut b = with_root(&[]);
    (0..5).for_each(|_| _ = next(&mut b, TRANSMIT));
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn a_stopped_flow_without_packets_keeps_its_lane() {
    let mut b = bench(&[("lanes", "1")]);
    b.control(OUT, &bpf(&[(20, true)]));
    send(&mut b, 30, 0..5);
    assert_eq!(b.scheme().lanes_exhausted(), 1);
    b.control(OUT, &bpf(&[(20, false)]));
    assert_eq!(b.scheme().state_size().tables[0], ("flow table", 12));
}

#[test]
fn without_a_free_lane_a_flow_stays_in_the_transmit_queue() {
    let mut b = bench(&[("lanes", "1")]);
    b.control(OUT, &bpf(&[(20, true)]));
    assert_eq!(b.scheme().lanes_exhausted(), 0, "it got the lane");
    b.control(OUT, &bpf(&[(30, true)]));
    assert_eq!(b.scheme().lanes_exhausted(), 1);
    assert_eq!(send(&mut b, 30, 0..1), TRANSMIT);
    // a lane that comes free is taken by the next packet
    b.control(OUT, &bpf(&[(20, false)]));
    assert_eq!(send(&mut b, 30, 1..2), lane(0));
    assert_eq!(next(&mut b, lane(0)), None);
    assert!(b.is_held(OUT, lane(0)));
    assert_eq!(b.scheme().lanes_exhausted(), 1);
}

#[test]
fn a_host_pair_is_one_flow_unless_five_fields_tell_flows_apart() {
    let mut three = bench(&[]);
    three.control(OUT, &bpf(&[(20, true)]));
    assert_eq!(three.arrive(packet(&three, 7, 20, 0), OUT), lane(0));
    let mut five = bench(&[("key", "5-tuple")]);
    let stop =
        |k| ControlMessage::BackPressureTuples { flows: vec![(pair(20), k, PRIORITY, true)] };
    five.control(OUT, &stop(7));
    five.control(OUT, &bpf(&[(20, true)]));
    assert_eq!(five.arrive(packet(&five, 8, 20, 0), OUT), TRANSMIT);
    for seq in 0..3 {
        assert_eq!(five.arrive(packet(&five, 7, 20, seq), OUT), lane(0));
    }
    assert_eq!(five.sent(), [(UP, stop(7))]);
}

#[test]
fn flows_of_different_sources_to_one_host_are_told_apart() {
    let mut b = bench(&[]);
    b.control(OUT, &bpf(&[(20, true)]));
    assert_eq!(b.arrive(b.packet(UP, 1000).flow(2, 0, 20), OUT), TRANSMIT);
    assert_eq!(b.arrive(b.packet(UP, 1000).flow(1, 0, 20), OUT), lane(0));
}

#[test]
fn changes_that_gather_share_a_frame_and_opposite_ones_cancel() {
    let mut b = bench(&[("gather", "1us"), ("pacer", "false")]);
    b.control(OUT, &bpf(&[(30, true), (20, true), (40, true)]));
    for (dst, ns) in [(30, 0), (20, 300), (40, 600)] {
        b.now = Time::from_ns(ns);
        send(&mut b, dst, 0..3);
    }
    b.control(OUT, &bpf(&[(40, false)]));
    next(&mut b, lane(2));
    assert!(b.sent().is_empty());
    b.fire_next();
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, true), (30, true)]))]);
    assert_eq!(b.now, Time::from_us(1));
}

/// Flows between the same hosts may leave by different ports and have a lane at each.
#[test]
fn a_flow_stopped_for_two_egresses_is_named_once_and_does_not_cancel_out() {
    let mut b = bench(&[("gather", "1us")]);
    for egress in [OUT, UP2] {
        b.control(egress, &bpf(&[(20, true)]));
        // the third packet takes the lane beyond its high mark of 2 KB
        for seq in 0..3 {
            b.arrive(packet(&b, 0, 20, seq), egress);
        }
    }
    b.fire_next();
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, true)]))]);
}

#[test]
fn repeating_stops_takes_at_most_half_of_the_wire() {
    let mut b = bench(&[("refresh", "200ns"), ("lanes", "200"), ("pacer", "false")]);
    for dst in 0..151 {
        b.control(OUT, &bpf(&[(dst, true)]));
        send(&mut b, dst, 0..3);
    }
    b.take_sent();
    b.fire_next();
    let bytes: u64 = b.take_sent().iter().map(|(_, m)| m.frame_bytes().get() + 20).sum();
    assert_eq!(bytes, 1512 + 64 + 40);
    let rate = b.view().books.setup[UP.index()].rate;
    let again = b.now + rate.time_for(weir_core::Bytes::new(bytes)) * 2;
    let at_up = b.timers().iter().filter(|(key, _)| key.port == UP).map(|(_, at)| *at);
    assert_eq!(at_up.min(), Some(again));
}

/// Otherwise the neighbour would know of it, and never hear that it was taken back.
#[test]
fn a_stop_that_is_not_yet_sent_is_not_repeated() {
    let mut b = bench(&[("gather", "1us"), ("refresh", "5us"), ("pacer", "false")]);
    b.control(OUT, &bpf(&[(20, true), (30, true)]));
    send(&mut b, 20, 0..3);
    b.fire_next();
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, true)]))]);
    // flow 30 is to be stopped just before the time to repeat
    b.now = Time::from_ns(4_500);
    send(&mut b, 30, 0..3);
    b.fire_next();
    assert_eq!((b.now, b.take_sent()), (Time::from_us(5), vec![(UP, bpf(&[(20, true)]))]));
    b.control(OUT, &bpf(&[(30, false)]));
    next(&mut b, lane(1));
    b.fire_next();
    assert!(b.take_sent().is_empty(), "taken back unsent");
}

#[test]
fn a_frame_is_no_longer_than_an_ethernet_frame() {
    let mut b = bench(&[("gather", "1us"), ("lanes", "200")]);
    for dst in 0..151 {
        b.control(OUT, &bpf(&[(dst, true)]));
        send(&mut b, dst, 0..3);
    }
    b.fire_next();
    let sizes: Vec<u64> = b.take_sent().iter().map(|(_, m)| m.frame_bytes().get()).collect();
    // 149 flows in 22 + 1490 B, then two
    assert_eq!(sizes, [1512, 64]);
    let mut b = bench(&[("gather", "1us"), ("lanes", "200"), ("key", "5-tuple")]);
    for k in 0..101 {
        let flows = vec![(pair(20), k, PRIORITY, true)];
        b.control(OUT, &ControlMessage::BackPressureTuples { flows });
        for seq in 0..3 {
            b.arrive(packet(&b, k, 20, seq), OUT);
        }
    }
    b.fire_next();
    let sizes: Vec<u64> = b.take_sent().iter().map(|(_, m)| m.frame_bytes().get()).collect();
    // 99 flows in 22 + 1485 B, then two
    assert_eq!(sizes, [1507, 64]);
}

#[test]
fn standing_stops_are_repeated_if_asked_for() {
    let mut b = bench(&[("refresh", "5us"), ("pacer", "false")]);
    b.control(OUT, &bpf(&[(20, true), (30, true)]));
    send(&mut b, 30, 0..3);
    send(&mut b, 20, 0..3);
    b.take_sent();
    b.fire_next();
    assert_eq!(
        (b.now, b.take_sent()),
        (Time::from_us(5), vec![(UP, bpf(&[(20, true), (30, true)]))])
    );
    b.control(OUT, &bpf(&[(20, false), (30, false)]));
    for l in [0, 0, 1, 1] {
        next(&mut b, lane(l));
        while next(&mut b, TRANSMIT).is_some() {}
    }
    b.take_sent();
    b.fire_next();
    assert!(b.sent().is_empty() && b.timers().is_empty(), "nothing stands any more");
}

#[test]
fn a_nic_holds_all_slots_of_a_host_pair() {
    let mut b = Bench::nic(&INFO, &Values::new());
    let header = |b: &Bench, k, dst| b.packet(UP, 1000).flow(1, k, dst);
    b.flow_starts(QueueId(0), header(&b, 0, 20));
    b.flow_starts(QueueId(1), header(&b, 1, 20));
    b.flow_starts(QueueId(2), header(&b, 2, 30));
    b.control(UP, &bpf(&[(20, true)]));
    let held = |b: &Bench| [0, 1, 2, 3].map(|q| b.is_held(UP, QueueId(q)));
    assert_eq!(held(&b), [true, true, false, false]);
    b.flow_starts(QueueId(3), header(&b, 3, 20));
    assert_eq!(held(&b), [true, true, false, true]);
    b.control(UP, &bpf(&[(20, false)]));
    assert_eq!(held(&b), [false; 4]);
    b.control(UP, &bpf(&[(30, true)]));
    b.link(UP, LinkState::Down);
    assert_eq!(held(&b), [false; 4]);
    b.control(UP, &bpf(&[(30, true)]));
    b.flow_ends(QueueId(2), header(&b, 2, 30));
    assert_eq!(held(&b), [false; 4], "the slot is free for another flow");
}

#[test]
fn a_link_that_recovers_is_told_of_stops_at_once_and_its_own_are_void() {
    let mut b = bench(&[("pacer", "false")]);
    b.control(OUT, &bpf(&[(20, true)]));
    send(&mut b, 20, 0..3);
    b.take_sent();
    b.link(UP, LinkState::Down);
    send(&mut b, 20, 3..4);
    assert_eq!(b.take_sent(), []);
    b.link(UP, LinkState::Up);
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, true)]))], "stopped anew");
    b.link(OUT, LinkState::Down);
    assert!(!b.is_held(OUT, lane(0)));
    for _ in 0..4 {
        next(&mut b, lane(0));
        while next(&mut b, TRANSMIT).is_some() {}
    }
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, false)]))]);
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn other_priorities_and_the_backstop_are_left_alone() {
    let mut b = bench(&[("backstop", "pfc")]);
    for (priority, queue) in [(7, QueueId(0)), (2, QueueId(TRANSMIT.0 + 17))] {
        let other = packet(&b, 0, 20, 0).priority(Priority::ALL[priority]);
        assert_eq!(b.arrive(other, OUT), queue);
        assert!(b.depart(OUT, queue).is_some());
    }
    send(&mut b, 20, 0..1);
    b.control(OUT, &ControlMessage::pfc(PRIORITY, 100));
    assert_eq!(next(&mut b, TRANSMIT), None);
    b.control(OUT, &ControlMessage::pfc(PRIORITY, 0));
    assert_eq!(next(&mut b, TRANSMIT), Some((20, 0)));
}

#[test]
fn what_is_left_after_a_drain_is_reported() {
    let mut b = bench(&[]);
    b.control(OUT, &bpf(&[(20, true)]));
    let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
    assert!(left.what.contains("xoff: true"), "{left}");
}

#[test]
fn books_that_disagree_with_the_queues_are_reported() {
    let after = |meddle: fn(&mut egress::Flow)| {
        let mut b = with_root(&[]);
        assert_eq!(send(&mut b, 20, 5..6), lane(0));
        let flows = &mut b.scheme_mut().egresses[OUT.index()].flows;
        let i = flows.iter().next().unwrap().0;
        meddle(flows.at_mut(i).unwrap());
        b.scheme().audit(&b.view(), Network::InUse).unwrap_err().what
    };
    let disagree = "lane 0 and its flow disagree";
    assert!(after(|f| f.lane_bytes += 1).contains(disagree));
    assert!(after(|f| f.xoff = true).contains(disagree), "the lane is not held");
    assert!(after(|f| f.lane = None).contains("has no lane"));
    assert!(after(|f| f.bytes += 1).contains("5000 B queued and 5001 B counted"));
    assert!(after(|f| f.told.push(UP)).contains("paused upstream without a reason"));
}

#[test]
fn a_frame_that_was_never_sent_is_reported() {
    let mut b = bench(&[("gather", "1us"), ("pacer", "false")]);
    b.control(OUT, &bpf(&[(20, true)]));
    send(&mut b, 20, 0..3);
    b.fire_next();
    b.control(OUT, &bpf(&[(20, false)]));
    for _ in 0..3 {
        next(&mut b, lane(0));
        while next(&mut b, TRANSMIT).is_some() {}
    }
    let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
    assert!(left.what.contains("never sent"), "{left}");
    b.fire_next();
    b.scheme().audit(&b.view(), Network::Drained).unwrap();
}

#[test]
fn marks_that_contradict_each_other_are_refused() {
    let refused = |params: &[(&str, &str)]| {
        let values = given(&INFO, params);
        let mut why = String::new();
        let _ = Bench::around(1, "75KB", "45KB", |setup| {
            why = Ffc::new(&values, setup).unwrap_err().0;
            Ffc::new(&Values::new(), setup).unwrap()
        });
        why
    };
    assert!(refused(&[("lane-low", "30KB")]).contains("above lane-high"));
    assert!(refused(&[("drain-below", "0B")]).contains("ever drain"));
    assert!(refused(&[("refresh", "0ns")]).contains("it must be longer than"));
}
