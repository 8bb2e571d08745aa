//! Algorithm 2: control frames and holds.

use super::*;
use weir_core::Time;

#[test]
fn lines_18_to_23_a_paused_flow_with_packets_leaves_marks_and_holds_both_queues() {
    let mut b = bench(&[("queues", "3")]);
    let q1 = send(&mut b, 0, 0..2);
    let other = send(&mut b, 1, 0..1);
    b.control(OUT, &state(true, 0));
    let isolation = QueueId(FIRST + 2);
    assert!(b.is_held(OUT, q1) && b.is_held(OUT, isolation) && !b.is_held(OUT, other));
    let kinds = |q| b.queue(OUT, q).map(|p| p.kind).collect::<Vec<_>>();
    assert_eq!(kinds(q1), [PacketKind::Data, PacketKind::Data, PacketKind::Mark]);
    assert_eq!(kinds(isolation), [PacketKind::Mark]);
    audited(&b, Network::InUse);
}

/// `hold-original = false`: everyone in the old queue goes on, and the flow stays in order.
#[test]
fn without_line_24_what_is_queued_is_still_sent() {
    let mut b = bench(&[("queues", "2"), ("hold-original", "false")]);
    send(&mut b, 0, 0..1);
    send(&mut b, 1, 0..1);
    b.control(OUT, &state(true, 0));
    assert!(!b.is_held(OUT, ONE) && b.is_held(OUT, ISOLATION));
    send(&mut b, 0, 1..2);
    assert_eq!(drain(&mut b, ONE, 9), [(0, 0), (1, 0)]);
    assert_eq!(next(&mut b, ISOLATION), None, "later packets wait");
    b.control(OUT, &state(false, 0));
    assert_eq!(drain(&mut b, ISOLATION, 9), [(0, 1)]);
    audited(&b, Network::Drained);
}

#[test]
fn line_21_a_paused_flow_without_packets_needs_no_marks() {
    let mut b = bench(&[("queues", "3")]);
    b.control(OUT, &state(true, 0));
    assert_eq!(b.queue(OUT, QueueId(FIRST + 2)).count(), 0);
    let held: Vec<bool> = (0..3).map(|i| b.is_held(OUT, QueueId(FIRST + i))).collect();
    assert_eq!(held, [false, false, true]);
    audited(&b, Network::InUse);
}

#[test]
fn line_26_a_second_pause_holds_the_isolation_queue_again() {
    let mut b = two_queues("text");
    b.control(OUT, &state(true, 0));
    send(&mut b, 0, 0..1);
    b.control(OUT, &state(false, 0));
    assert!(!b.is_held(OUT, ISOLATION));
    b.control(OUT, &state(true, 0));
    assert!(b.is_held(OUT, ISOLATION));
    assert_eq!(b.queue(OUT, ISOLATION).count(), 1, "no marks: nothing in the normal queue");
}

#[test]
fn line_28_the_isolation_queue_opens_when_its_last_paused_flow_is_resumed() {
    let mut b = two_queues("text");
    for k in [0, 1] {
        b.control(OUT, &state(true, k));
        b.control(OUT, &state(true, k));
    }
    b.control(OUT, &state(false, 0));
    b.control(OUT, &state(false, 0));
    assert!(b.is_held(OUT, ISOLATION), "flow 1 is still paused, repeated frames count once");
    b.control(OUT, &state(false, 1));
    assert!(!b.is_held(OUT, ISOLATION));
}

#[test]
fn line_30_a_queue_shared_by_two_paused_flows_opens_with_the_second_resume() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..1);
    send(&mut b, 1, 0..1);
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(true, 1));
    b.control(OUT, &state(false, 0));
    assert!(b.is_held(OUT, ONE), "flow 1 has a packet in it");
    b.control(OUT, &state(false, 1));
    assert_eq!(drain(&mut b, ONE, 9), [(0, 0), (1, 0)]);
}

#[test]
fn a_second_pause_holds_the_old_queue_again_while_packets_are_in_it() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..3);
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    assert_eq!(next(&mut b, ONE), Some((0, 0)));
    b.control(OUT, &state(true, 0));
    assert_eq!(next(&mut b, ONE), None);
    b.control(OUT, &state(false, 0));
    assert_eq!(drain(&mut b, ONE, 9), [(0, 1), (0, 2)]);
}

#[test]
fn held_once_only_the_old_queue_leaks_a_paused_flow() {
    let mut b = two_queues("hold-once");
    send(&mut b, 0, 0..3);
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    b.control(OUT, &state(true, 0));
    assert!(b.depart(OUT, ONE).is_some());
}

#[test]
fn as_printed_a_new_congested_flow_does_not_hold_the_isolation_queue() {
    let mut b = two_queues("printed-holds");
    b.control(OUT, &state(true, 0));
    send(&mut b, 0, 0..1);
    assert!(b.depart(OUT, ISOLATION).is_some());
}

/// As printed the first PAUSE of a flow is not counted, but its RESUME is taken back: the count is
/// -1, and the second PAUSE brings it to 0. With a bound it goes from 0 to 1.
#[test]
fn as_printed_the_count_of_the_isolation_queue_falls_below_zero_unless_it_is_bounded() {
    let sends = |reading| {
        let mut b = two_queues(reading);
        let mut sent = Vec::new();
        for pause in [true, false, true] {
            b.control(OUT, &state(pause, 0));
            send(&mut b, 0, 0..1);
            sent.push(b.depart(OUT, ISOLATION).is_some());
        }
        sent
    };
    assert_eq!(sends("text"), [false, true, false]);
    assert_eq!(sends("printed-holds"), [true, true, true]);
    assert_eq!(sends("printed-holds-bounded"), [true, true, false]);
}

/// The entry is quiet from the PAUSE that made it, not from the beginning of time: two round trips
/// of 5 us later it may go.
#[test]
fn a_flow_paused_before_its_first_packet_is_kept_for_the_quiet_time() {
    let mut b = two_queues("text");
    b.now = Time::from_us(100);
    b.control(OUT, &state(true, 0));
    b.now = Time::from_us(101);
    b.control(OUT, &state(false, 0));
    assert_eq!(b.timers().values().copied().collect::<Vec<_>>(), [Time::from_us(110)]);
    assert_eq!(b.scheme().egresses[OUT.index()].flows.len(), 1);
    b.fire_next();
    assert_eq!(b.scheme().egresses[OUT.index()].flows.len(), 0);
    assert!(b.timers().is_empty());
}
