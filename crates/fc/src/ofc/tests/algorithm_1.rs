//! Algorithm 1: when PAUSE and RESUME frames are sent, and what they name.

use super::*;

/// Lines 1 and 2: the packet's own ingress, egress and priority are looked at.
#[test]
fn other_ingresses_and_priorities_have_their_own_accounts() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 5);
    put(&mut b, UP2, 2, OUT, 5);
    assert_eq!(b.sent(), [], "10 packets in the egress, but 5 of each ingress");
    let p = b.packet(UP, 9000).priority(Priority::ALL[5]);
    assert_eq!(b.arrive(p, OUT), QueueId(2));
    assert_eq!(b.sent(), [], "priority 5 is not lossless");
    b.depart(OUT, QueueId(2)).unwrap();
    assert_eq!(b.sent(), []);
}

/// Line 3: below the lower threshold nothing happens, whatever the egress holds.
#[test]
fn a_short_ingress_is_left_alone_behind_a_long_egress() {
    let mut b = switch();
    put(&mut b, UP2, 2, OUT, 9);
    b.take_sent();
    put(&mut b, UP, 1, OUT, 5);
    assert_eq!(b.take_sent(), []);
    put_seq(&mut b, UP, 1, OUT, 5);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))], "the sixth packet reaches the threshold");
}

/// Line 4: a long ingress whose egresses are all short has congested nothing.
#[test]
fn a_long_ingress_is_left_alone_in_front_of_short_egresses() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 5);
    put(&mut b, UP, 2, OUT2, 4);
    assert_eq!(b.take_sent(), [], "9 packets in, at most 5 at an egress");
    // the sixth packet at an egress: 10 in all is the urgent state, so let one leave first
    serve(&mut b, OUT2);
    put_seq(&mut b, UP, 1, OUT, 5);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))], "both ends of the range are included");
}

/// Lines 5 and 6: nobody has paused this egress, so the congestion starts here. Named are the
/// flows of this ingress in this egress.
#[test]
fn the_origin_names_the_flows_in_its_queue_that_came_by_this_ingress() {
    let mut b = switch();
    put(&mut b, UP, 9, OUT2, 2); // the victim: another way out
    put(&mut b, UP2, 5, OUT, 3); // another way in
    put(&mut b, UP, 2, OUT, 1);
    put(&mut b, UP, 1, OUT, 3);
    assert_eq!(b.take_sent(), [(UP, pause(&[1, 2]))]);
    assert_eq!(told(&b, UP).flows, keys(&[1, 2]));
    assert!(told(&b, UP2).is_nothing());
}

/// Lines 7 and 8: a PAUSE came from below, so the flows named there are passed on, as far as
/// they come in here.
#[test]
fn a_port_that_was_paused_passes_on_the_names_it_was_given() {
    let mut b = switch();
    b.control(OUT, &pause(&[1, 7]));
    put(&mut b, UP, 2, OUT, 3);
    put(&mut b, UP, 1, OUT, 2);
    assert_eq!(b.take_sent(), []);
    put_seq(&mut b, UP, 2, OUT, 3);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))], "flow 2 is innocent, flow 7 not seen here");
}

/// A congested flow that shows up later is told when it does.
#[test]
fn a_congested_flow_first_seen_later_is_told_as_growth() {
    let mut b = switch();
    b.control(OUT, &pause(&[1, 7]));
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))]);
    put_seq(&mut b, UP, 2, OUT, 0);
    assert_eq!(b.take_sent(), [], "an innocent flow changes nothing");
    put_seq(&mut b, UP, 7, OUT, 0);
    assert_eq!(b.take_sent(), [(UP, pause(&[7]))]);
    assert_eq!(told(&b, UP).flows, keys(&[1, 7]));
}

/// A resumed port is no origin while what had to wait is still there: its flows, pending ones
/// included, stay in `congested_flow_tab` until the mark comes out.
#[test]
fn a_resumed_port_is_an_origin_again_when_its_backlog_has_left() {
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))]);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[1]));
    put(&mut b, UP, 2, OUT, 1);
    assert_eq!(b.take_sent(), [], "flow 2 is innocent, flow 1 has been told");
    // paused and resumed once more during the drain: pending
    b.control(OUT, &pause(&[1]));
    b.control(OUT, &resume(&[1]));
    assert_eq!(hierarchy(&b, OUT).pending, keys(&[1]));
    put(&mut b, UP, 2, OUT, 1);
    assert_eq!(b.take_sent(), []);
    assert_eq!(sizes(&b)[1], 16, "paused and draining");
    // the first drain moves everything to the other backup, the second sends it
    assert_eq!(serve(&mut b, OUT), Some((1, 0)));
    assert!(hierarchy(&b, OUT).is_draining());
    put(&mut b, UP, 2, OUT, 1);
    assert_eq!(b.take_sent(), []);
    for seq in 1..6 {
        assert_eq!(serve(&mut b, OUT), Some((1, seq)));
    }
    // three packets are left: resumed; the mark comes out in front of the next one
    assert_eq!(b.take_sent(), [(UP, resume(&[1]))]);
    assert_eq!(serve(&mut b, OUT), Some((2, 0)));
    assert!(hierarchy(&b, OUT).is_at_rest());
    put(&mut b, UP, 2, OUT, 4);
    assert_eq!(b.take_sent(), [(UP, pause(&[2]))], "now it is its own congestion");
}

/// Paused by the wildcard, every flow is congested and the port is no origin.
#[test]
fn under_the_wildcard_from_below_every_flow_is_congested() {
    let mut b = switch();
    b.control(OUT, &all(true));
    put(&mut b, UP, 2, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[2]))]);
}

/// Lines 10 and 11: at the full threshold everything is paused, once, whatever the egress.
#[test]
fn at_the_full_threshold_everything_is_paused() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 5);
    put(&mut b, UP, 2, OUT2, 4);
    put_seq(&mut b, UP, 3, OUT2, 0);
    assert_eq!(b.take_sent(), [(UP, all(true))], "10 packets are the full threshold");
    assert!(told(&b, UP).all);
    put_seq(&mut b, UP, 4, OUT, 0);
    assert_eq!(b.take_sent(), [], "nothing is left to pause");
}

/// Line 11 with a list instead of the wildcard: all flows of the ingress, at any egress.
#[test]
fn without_the_wildcard_the_urgent_state_lists_all_known_flows() {
    let mut b = switch_with(&[(&URGENT_WILDCARD, "false")]);
    put(&mut b, UP2, 8, OUT, 1);
    put(&mut b, UP, 1, OUT, 4);
    put(&mut b, UP, 2, OUT2, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1, 2]))], "both, although one egress is short");
    put_seq(&mut b, UP, 3, OUT2, 0);
    assert_eq!(b.take_sent(), [(UP, pause(&[3]))], "an unknown flow still came, and is listed");
    while serve(&mut b, OUT).or_else(|| serve(&mut b, OUT2)).is_some() {}
    assert_eq!(b.take_sent(), [(UP, resume(&[1, 2, 3]))]);
}

/// Line 13: lists are sorted and cut into frames of at most 186 pairs.
#[test]
fn a_list_that_does_not_fit_one_frame_takes_several() {
    let mut b =
        Bench::around(4, "1MB", "3KB", |setup| scheme(&[(&XOFF_CONGESTED, "187KB")], setup));
    for f in (1..188).rev() {
        put(&mut b, UP, f, OUT, 1);
    }
    let first: Vec<u32> = (1..187).collect();
    assert_eq!(b.take_sent(), [(UP, pause(&first)), (UP, pause(&[187]))]);
    assert_eq!(pause(&first).frame_bytes(), Bytes::new(1512));
    assert_eq!(tables::per_frame(KeyKind::Flow), 114);
}

/// Line 14: the table gathers what was told; only growth is sent.
#[test]
fn a_pause_is_sent_only_when_the_set_grows() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))]);
    put_seq(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), []);
    put_seq(&mut b, UP, 2, OUT, 0);
    assert_eq!(b.take_sent(), [(UP, pause(&[2]))]);
    assert_eq!(told(&b, UP).flows, keys(&[1, 2]));
}

/// Two congested egresses behind one ingress add up.
#[test]
fn two_congestion_trees_behind_one_ingress_are_united() {
    let mut b =
        Bench::around(4, "100KB", "3KB", |setup| scheme(&[(&XOFF_CONGESTED, "6KB")], setup));
    put(&mut b, UP, 1, OUT, 6);
    put(&mut b, UP, 2, OUT2, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1])), (UP, pause(&[2]))]);
    assert_eq!(serve_all(&mut b, OUT).len(), 6);
    assert_eq!(b.take_sent(), [], "the ingress still holds 6 packets");
    assert_eq!(serve_all(&mut b, OUT2).len(), 6);
    assert_eq!(b.take_sent(), [(UP, resume(&[1, 2]))]);
}

/// Lines 16 to 20, tested when a packet leaves.
#[test]
fn what_was_paused_is_resumed_when_the_ingress_has_drained() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 4);
    put(&mut b, UP, 2, OUT, 2);
    put(&mut b, UP2, 5, OUT2, 1);
    b.take_sent();
    serve(&mut b, OUT2);
    assert_eq!(b.take_sent(), [], "another ingress has drained");
    for left in [5, 4] {
        serve(&mut b, OUT);
        assert_eq!(b.take_sent(), [], "{left} packets are above the resume threshold");
    }
    serve(&mut b, OUT);
    assert_eq!(b.take_sent(), [(UP, resume(&[1, 2]))], "line 17: the union");
    assert!(told(&b, UP).is_nothing(), "line 18");
    assert_eq!(serve_all(&mut b, OUT).len(), 3);
    assert_eq!(b.take_sent(), [], "line 19: one RESUME is enough");
    assert_eq!(audit(&b, Network::Drained), Ok(()));
}

/// Line 17 after the urgent state: one RESUME for all.
#[test]
fn the_urgent_state_ends_with_a_wildcard() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 10);
    assert_eq!(b.take_sent(), [(UP, pause(&[1])), (UP, all(true))]);
    assert_eq!(serve_all(&mut b, OUT).len(), 10);
    assert_eq!(b.take_sent(), [(UP, all(false))]);
    assert_eq!(audit(&b, Network::Drained), Ok(()));
}

/// Ports of two speeds. A slow ingress names flows before it is in the urgent state, however much a
/// queue of the fast egress may hold; a fast ingress does when the slow egress's queue is long,
/// once its own share is.
#[test]
fn ports_of_two_speeds_have_thresholds_of_their_own() {
    // lower thresholds: 8 packets for the slow ports, 80 for the fast ones
    let (slow, fast) = (("10KB", "3KB"), ("100KB", "30KB"));
    let make = |setup: &NodeSetup<'_>| scheme(&[(&ALPHA, "0.8")], setup);
    let mut b = Bench::around_ports(&[slow, slow, fast, slow], make);
    put(&mut b, UP, 1, OUT, 7);
    assert_eq!(b.take_sent(), []);
    put_seq(&mut b, UP, 1, OUT, 7);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))], "slow to fast: at the slow threshold");
    let mut b = Bench::around_ports(&[fast, slow, slow, slow], make);
    put(&mut b, UP, 1, OUT, 79);
    assert_eq!(b.take_sent(), [], "79 packets at a slow egress, but the ingress may hold them");
    put_seq(&mut b, UP, 1, OUT, 79);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))], "fast to slow: at the ingress's threshold");
}
