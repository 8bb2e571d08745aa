//! Who counts for a share, when a waiting lane is looked at again, and packets that never left
//! theirs.

use super::*;
use crate::Action;

/// Flows 20 and 30 hold 3000 B each, half of the transmit queue: neither is a root flow. Flow 40
/// is known, because the next hop has stopped it, but has nothing in the queue: it is not a third
/// one to share with.
#[test]
fn a_flow_without_packets_has_no_share_of_the_transmit_queue() {
    let mut b = bench(&[("threshold", "5KB")]);
    b.control(OUT, &bpf(&[(40, true)]));
    for seq in 0..3 {
        send(&mut b, 20, seq..seq + 1);
        send(&mut b, 30, seq..seq + 1);
    }
    assert_eq!(send(&mut b, 20, 3..4), TRANSMIT);
}

/// Flow 30 is a root flow and has a lane, but only flow 20 has packets in one: it may use the whole
/// line.
#[test]
fn an_empty_lane_takes_no_share_of_the_line_rate() {
    let mut b = bench(&[("drain-below", "3KB")]);
    b.control(OUT, &bpf(&[(20, true)]));
    send(&mut b, 20, 0..2);
    send(&mut b, 30, 0..5);
    assert_eq!(b.scheme().egresses[OUT.index()].lanes[..2], [Some(0), Some(1)]);
    b.control(OUT, &bpf(&[(20, false)]));
    (0..4).for_each(|_| assert!(next(&mut b, TRANSMIT).is_some()));
    assert_eq!(next(&mut b, lane(0)), None, "one packet went, the other waits for its time");
    // 1000 B at 40 Gb/s; two lanes would take twice as long
    assert_eq!(b.timers().values().copied().collect::<Vec<_>>(), [Time::from_ns(200)]);
}

/// A neighbour that repeats its stops changes nothing and asks for nothing.
#[test]
fn a_repeated_stop_is_the_same_stop() {
    let mut b = bench(&[("lanes", "1")]);
    b.control(OUT, &bpf(&[(20, true), (30, true)]));
    assert_eq!(b.scheme().lanes_exhausted(), 1, "30 found no lane");
    let (before, mut asked) = (b.clone(), Actions::new());
    let again = bpf(&[(20, true), (30, true)]);
    b.scheme_mut().control(&before.view(), OUT, &again, &mut asked);
    assert!(asked.is_empty() && b == before);
    b.control(OUT, &bpf(&[(30, false)]));
    assert_eq!(b.scheme().lanes_exhausted(), 1, "a flow that may go asks for no lane");
}

#[test]
fn what_gathers_for_a_neighbour_that_is_gone_is_not_sent() {
    let mut b = with_root(&[("gather", "1us")]);
    send(&mut b, 20, 5..8);
    assert_eq!((b.sent().len(), b.timers().len()), (0, 1));
    b.link(UP, LinkState::Down);
    b.fire_next();
    assert_eq!((b.now, b.sent().len()), (Time::from_us(1), 0));
}

/// 5000 B are queued and lanes wait for less than 2000 B: with 1000 B left the port is looked at
/// again, and that only once.
#[test]
fn a_lane_that_waits_is_looked_at_again_when_the_transmit_queue_is_short() {
    let mut b = with_root(&[]);
    send(&mut b, 20, 5..6);
    assert_eq!(next(&mut b, lane(0)), None);
    let mut retries = Vec::new();
    for _ in 0..5 {
        let mut before = b.scheme().clone();
        let mut p = *b.queue(OUT, TRANSMIT).next().expect("a packet");
        next(&mut b, TRANSMIT);
        let mut asked = Actions::new();
        let from = PortQueue { port: OUT, queue: TRANSMIT };
        before.depart(&b.view(), &mut p, from, &mut asked);
        retries.push(asked.as_slice() == [Action::Retry { port: OUT }]);
    }
    // 4000, 3000, 2000, 1000 and 0 B
    assert_eq!(retries, [false, false, false, true, false]);
}

#[test]
fn when_its_pace_allows_the_next_packet_the_port_is_looked_at_again() {
    let mut b = with_root(&[]);
    let mut asked = Actions::new();
    let view = b.clone();
    b.scheme_mut().timer(&view.view(), Timer::Pace.key(OUT, 0), &mut asked);
    assert_eq!(asked.as_slice(), [Action::Retry { port: OUT }]);
}

/// A failed link throws the lane's packets away: 3000 B, two packets less are the low mark.
#[test]
fn packets_thrown_away_with_their_lane_count_as_given() {
    let mut b = with_root(&[]);
    send(&mut b, 20, 5..8);
    let (view, mut asked) = (b.clone(), Actions::new());
    for seq in 5..7 {
        assert!(asked.is_empty());
        let mut p = packet(&b, 0, 20, seq).0;
        let from = PortQueue { port: OUT, queue: lane(0) };
        b.scheme_mut().depart(&view.view(), &mut p, from, &mut asked);
    }
    let (left, low) = (Bytes::new(1000), Bytes::new(1000));
    let reason = Reason::flow(OUT, left).at_most(LANE_LOW.name, low);
    let resume = Action::Send { port: UP, message: bpf(&[(20, false)]), reason };
    assert_eq!(asked.as_slice(), [resume]);
    let flow = b.scheme().egresses[OUT.index()].flows.at(0).unwrap();
    assert_eq!((flow.bytes, flow.lane_bytes), (5000, 1000));
}

/// Two flows of hosts 1 and 20 leave by two ports, as ECMP may have it. The neighbour knows the
/// pair only, so one frame stops both, and the pair goes on when both lanes are short.
#[test]
fn a_host_pair_on_two_ports_goes_on_when_neither_lane_wants_it_stopped() {
    let mut b = bench(&[("pacer", "false")]);
    for egress in [OUT, UP2] {
        // 5000 B are more than the threshold, then 3000 B in a lane are more than lane-high
        for seq in 0..8 {
            b.arrive(packet(&b, egress.0.into(), 20, seq), egress);
        }
    }
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, true)]))], "once for both");
    let drain = |b: &mut Bench<Ffc>, egress| {
        (0..4).for_each(|_| _ = b.depart(egress, TRANSMIT));
        for _ in 0..2 {
            assert!(b.depart(egress, lane(0)).is_none(), "moves to the transmit queue");
            b.depart(egress, TRANSMIT);
        }
    };
    drain(&mut b, OUT);
    assert_eq!(b.take_sent(), [], "the lane of the other port still has 3000 B");
    // the lane that is short wants the pair stopped again, which it still is
    for seq in 8..10 {
        b.arrive(packet(&b, OUT.0.into(), 20, seq), OUT);
    }
    assert_eq!(b.take_sent(), []);
    drain(&mut b, UP2);
    assert_eq!(b.take_sent(), [], "now the first one has 3000 B");
    for _ in 0..2 {
        assert!(b.depart(OUT, lane(0)).is_none());
        b.depart(OUT, TRANSMIT);
    }
    assert_eq!(b.take_sent(), [(UP, bpf(&[(20, false)]))]);
}
