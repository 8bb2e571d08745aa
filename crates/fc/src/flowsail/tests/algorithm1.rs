//! Algorithm 1: mapping flows to queues, identifying congested flows.

use super::*;
use std::collections::BTreeSet;

#[test]
fn line_3_packets_of_a_congested_flow_go_to_the_isolation_queue() {
    let mut b = bench(&[("queues", "3")]);
    b.control(OUT, &state(true, 0));
    assert_eq!(send(&mut b, 0, 0..1), QueueId(FIRST + 2));
    assert_ne!(send(&mut b, 1, 0..1), QueueId(FIRST + 2));
    audited(&b, Network::InUse);
}

#[test]
fn line_8_an_old_flow_stays_in_its_queue() {
    let mut b = bench(&[("queues", "128")]);
    let q = send(&mut b, 0, 0..1);
    send(&mut b, 1, 0..1);
    assert_eq!(send(&mut b, 0, 1..9), q);
}

#[test]
fn line_11_a_new_flow_takes_an_empty_queue_but_not_the_isolation_queue() {
    let mut b = bench(&[("queues", "8")]);
    let queues: BTreeSet<u32> = (0..7).map(|k| send(&mut b, k, 0..1).0).collect();
    assert_eq!(queues, (FIRST..FIRST + 7).collect());
}

#[test]
fn line_13_without_an_empty_queue_a_random_one_is_taken() {
    let mut b = bench(&[("queues", "3")]);
    let queues: BTreeSet<u32> = (0..40).map(|k| send(&mut b, k, 0..1).0).collect();
    assert_eq!(queues, [FIRST, FIRST + 1].into(), "never the isolation queue");
}

#[test]
fn line_9_a_flow_that_has_drained_is_new_again() {
    let mut b = bench(&[("queues", "128")]);
    let q = send(&mut b, 0, 0..1);
    next(&mut b, q).unwrap();
    audited(&b, Network::Drained);
    assert_eq!(b.scheme().state_size().tables[0], ("normal flow table", 0));
}

#[test]
fn line_17_beyond_q_high_every_flow_is_paused() {
    let mut b = bench(&[("queues", "2")]);
    send(&mut b, 0, 0..74);
    b.take_sent();
    send(&mut b, 1, 0..1);
    assert!(b.sent().is_empty(), "75 000 B is Q_h itself, and 1000 B are less than half of it");
    send(&mut b, 2, 0..1);
    assert_eq!(b.sent(), [(UP, state(true, 2))]);
}

#[test]
fn line_21_up_to_q_low_nobody_is_paused() {
    let mut b = bench(&[("queues", "2")]);
    send(&mut b, 0, 0..24);
    send(&mut b, 1, 0..1);
    assert!(b.sent().is_empty(), "25 000 B is Q_l itself");
    send(&mut b, 0, 24..25);
    assert_eq!(b.sent(), [(UP, state(true, 0))]);
}

#[test]
fn line_23_between_the_thresholds_only_flows_beyond_their_share_are_paused() {
    let mut b = bench(&[("queues", "2")]);
    send(&mut b, 0, 0..20);
    send(&mut b, 1, 0..6);
    // 26 000 B and two flows: the share is 13 000 B; flow 1 has 6000
    assert!(b.sent().is_empty());
    // 27 000 B: the share is 13 500, flow 0 has 21 000
    send(&mut b, 0, 20..21);
    assert_eq!(b.sent(), [(UP, state(true, 0))]);
}

#[test]
fn line_23_a_flow_at_its_share_is_not_beyond_it() {
    let mut b = bench(&[("queues", "2")]);
    send(&mut b, 0, 0..13);
    send(&mut b, 1, 0..13);
    // 26 000 B: the share is 13 000 B
    assert!(b.sent().is_empty());
}

#[test]
fn equation_1_divides_by_the_next_power_of_two() {
    let shares: Vec<u64> = [0, 1, 2, 3, 4, 5, 8, 9].map(|n| fair_share(100, n)).into();
    assert_eq!(shares, [100, 100, 50, 25, 25, 12, 12, 6]);
}

#[test]
fn lines_15_and_12_the_share_follows_the_number_of_flows_in_the_queue() {
    let mut b = bench(&[("queues", "2")]);
    send(&mut b, 0, 0..1);
    send(&mut b, 2, 0..1);
    // 24 packets of flow 1: the last makes 26 000 B, a quarter of it is 6500 B
    send(&mut b, 1, 0..24);
    assert_eq!(b.take_sent(), [(UP, state(true, 1))]);
    // flows 0 and 2 drain; two flows again, 13 packets each is the share
    assert_eq!(drain(&mut b, ONE, 26).len(), 26);
    assert_eq!(b.take_sent(), [(UP, state(false, 1))]);
    send(&mut b, 0, 1..14);
    send(&mut b, 1, 24..37);
    assert!(b.sent().is_empty());
}

#[test]
fn a_flow_alone_beyond_q_low_is_congested() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..26);
    assert_eq!(b.sent(), [(UP, state(true, 0))]);
}

#[test]
fn read_literally_a_flow_alone_goes_on_to_q_high() {
    let mut b = two_queues("share-alone");
    send(&mut b, 0, 0..75);
    assert!(b.sent().is_empty());
    send(&mut b, 0, 75..76);
    assert_eq!(b.sent(), [(UP, state(true, 0))]);
}

/// Two normal queues and the isolation queue, 25 000 B in all. Flow 1 stands in one normal queue,
/// flow 0 is counted in the other: 1, 2 (filled) or 3 queues (none is paused) share Q_l.
#[test]
fn what_divides_the_thresholds_is_a_choice() {
    for (n_active, packets) in [("one", 26), ("filled", 13), ("unpaused", 9)] {
        let mut b = bench(&[("queues", "3"), ("n-active", n_active)]);
        send(&mut b, 1, 0..1);
        send(&mut b, 0, 0..packets - 1);
        assert!(b.sent().is_empty(), "{n_active}");
        send(&mut b, 0, packets - 1..packets);
        assert_eq!(b.sent(), [(UP, state(true, 0))], "{n_active}");
    }
}

/// By `two-counters` a PAUSE is repeated, by `share-alone` it comes beyond Q_h: both at once.
#[test]
fn readings_combine() {
    let mut b = two_queues("two-counters, share-alone");
    send(&mut b, 0, 0..75);
    assert!(b.sent().is_empty());
    send(&mut b, 0, 75..76);
    assert_eq!(b.sent(), [(UP, state(true, 0))]);
}

#[test]
fn thresholds_shrink_with_the_active_queues_this_one_included() {
    let mut b = bench(&[("queues", "3")]);
    send(&mut b, 1, 0..1);
    send(&mut b, 0, 0..12);
    assert!(b.sent().is_empty());
    send(&mut b, 0, 12..13);
    assert_eq!(b.sent(), [(UP, state(true, 0))], "13 000 B of 25 000 / 2");
}

#[test]
fn line_26_a_flow_is_paused_once_and_resumed_once() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..30);
    assert_eq!(b.take_sent(), [(UP, state(true, 0))]);
    // packets 25 to 29 met congestion
    assert_eq!(drain(&mut b, ONE, 29).len(), 29);
    assert!(b.sent().is_empty());
    next(&mut b, ONE).unwrap();
    assert_eq!(b.take_sent(), [(UP, state(false, 0))]);
    audited(&b, Network::Drained);
}

#[test]
fn one_counter_serves_both_queues() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..26);
    b.control(OUT, &state(true, 0));
    // rests in the isolation queue, beyond the threshold there as well
    send(&mut b, 0, 26..52);
    assert_eq!(b.take_sent(), [(UP, state(true, 0))]);
    b.control(OUT, &state(false, 0));
    assert_eq!(drain(&mut b, ONE, 26).len(), 26);
    assert!(b.sent().is_empty(), "packet 51 is still here");
    assert_eq!(drain(&mut b, ISOLATION, 99).len(), 26);
    assert_eq!(b.take_sent(), [(UP, state(false, 0))]);
}

#[test]
fn read_literally_two_counters_resume_a_flow_that_is_still_congested() {
    let mut b = two_queues("two-counters");
    send(&mut b, 0, 0..26);
    b.control(OUT, &state(true, 0));
    send(&mut b, 0, 26..52);
    assert_eq!(b.take_sent(), [(UP, state(true, 0)), (UP, state(true, 0))]);
    b.control(OUT, &state(false, 0));
    (0..26).for_each(|_| _ = b.depart(OUT, ONE));
    assert_eq!(b.take_sent(), [(UP, state(false, 0))], "with packet 51 still here");
}

#[test]
fn read_literally_every_packet_at_a_count_of_one_repeats_the_pause() {
    let mut b = two_queues("two-counters");
    send(&mut b, 0, 0..26);
    send(&mut b, 1, 0..1);
    assert_eq!(b.sent().len(), 1);
    (0..20).for_each(|_| _ = b.depart(OUT, ONE));
    send(&mut b, 0, 26..28);
    assert_eq!(b.sent(), vec![(UP, state(true, 0)); 3], "they met no congestion");
}

#[test]
fn line_11_the_search_for_an_empty_queue_starts_at_the_draw_and_goes_round() {
    let mut b = bench(&[("queues", "4")]);
    b.scheme_mut().fix_draws(5);
    // 5 mod 3 normal queues
    assert_eq!([0, 1, 2].map(|k| send(&mut b, k, 0..1).0 - FIRST), [2, 0, 1]);
}
