//! The literal readings of the listings, each showing its defect.

use super::*;

/// Algorithm 3 with the text's "2 → 1" after a drain: what is still paused sits in queue 2,
/// which nobody serves any more.
#[test]
fn rotating_back_strands_what_is_still_paused() {
    let mut b = switch_with(&[(&ROTATION, "back")]);
    b.control(OUT, &pause(&[1, 2]));
    put(&mut b, UP, 1, OUT, 1);
    put(&mut b, UP, 2, OUT, 1);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[1]));
    assert_eq!(serve_all(&mut b, OUT), [(1, 0)]);
    b.control(OUT, &resume(&[2]));
    assert_eq!(serve_all(&mut b, OUT), [], "flow 2 is resumed and does not come");
    assert_eq!(waiting(&b, OUT, B2), [Some((2, 0))]);
    assert_eq!((hierarchy(&b, OUT).serving, hierarchy(&b, OUT).sink), (0, 1));
}

/// Algorithm 3 line 18 to the letter: with modulo 2 the normal queue becomes the sink, and what
/// is still paused goes behind newer packets of its flow.
#[test]
fn rotating_modulo_two_reorders() {
    let mut b = switch_with(&[(&ROTATION, "modulo")]);
    b.control(OUT, &pause(&[1, 2]));
    put_seq(&mut b, UP, 1, OUT, 0);
    put_seq(&mut b, UP, 2, OUT, 0);
    assert_eq!(serve(&mut b, OUT), None);
    put_seq(&mut b, UP, 2, OUT, 1);
    b.control(OUT, &resume(&[1]));
    assert_eq!((hierarchy(&b, OUT).serving, hierarchy(&b, OUT).sink), (1, 0));
    assert_eq!(serve_all(&mut b, OUT), [(1, 0)]);
    assert_eq!((hierarchy(&b, OUT).serving, hierarchy(&b, OUT).sink), (0, 1));
    b.control(OUT, &resume(&[2]));
    assert_eq!(serve_all(&mut b, OUT), [(2, 1), (2, 0)]);
}

/// Algorithm 2 line 8 to the letter: a RESUME during a drain lets the rest of the drained queue
/// out before what has already stepped aside.
#[test]
fn resuming_at_once_during_a_drain_reorders() {
    let mut b = switch_with(&[(&DURING_DRAIN, "at-once")]);
    begin_drain(&mut b);
    b.control(OUT, &resume(&[2]));
    assert_eq!(serve_all(&mut b, OUT), [(2, 1), (2, 0)]);
    assert_eq!(audit(&b, Network::Drained), Ok(()), "nothing is lost, only the order");
}

/// Deferring whole frames, PAUSEs included, sends what may not be sent.
#[test]
fn deferring_whole_frames_sends_paused_flows() {
    let mut b = switch_with(&[(&DURING_DRAIN, "whole-frames")]);
    b.control(OUT, &pause(&[1]));
    put(&mut b, UP, 1, OUT, 2);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[1]));
    b.control(OUT, &pause(&[1]));
    assert!(!hierarchy(&b, OUT).is_at_rest());
    assert_eq!(serve(&mut b, OUT), Some((1, 0)), "although it is paused again");
    // the frame takes effect when the mark comes out
    assert_eq!(serve_all(&mut b, OUT), [(1, 1)]);
    assert_eq!(hierarchy(&b, OUT).paused, keys(&[1]));
    // one after the other: a shelved RESUME starts a drain, what follows it waits again
    put_seq(&mut b, UP, 1, OUT, 2);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[1]));
    b.control(OUT, &pause(&[1]));
    b.control(OUT, &all(false));
    b.control(OUT, &pause(&[1]));
    assert_eq!(serve_all(&mut b, OUT), [(1, 2)]);
    assert_eq!(hierarchy(&b, OUT).paused, keys(&[1]));
    // a link change forgets shelved frames
    b.control(OUT, &resume(&[1]));
    b.control(OUT, &pause(&[2]));
    b.link(OUT, LinkState::Down);
    assert_eq!(serve(&mut b, OUT), None);
    assert!(hierarchy(&b, OUT).is_at_rest());
}

/// Algorithm 2 line 8 to the letter: with the table emptied at receipt the port looks like an
/// origin although its queue is the neighbour's doing, and names whoever is there.
#[test]
fn an_origin_test_at_receipt_pauses_innocent_flows_during_a_drain() {
    let mut b = switch_with(&[(&ORIGIN_TEST, "receipt")]);
    b.control(OUT, &pause(&[1]));
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))]);
    assert_eq!(serve(&mut b, OUT), None);
    put(&mut b, UP, 2, OUT, 1);
    assert_eq!(b.take_sent(), [], "flow 2 is innocent");
    b.control(OUT, &resume(&[1]));
    put_seq(&mut b, UP, 2, OUT, 1);
    assert_eq!(b.take_sent(), [(UP, pause(&[2]))], "and paused, for the packets of flow 1");
    // flows whose RESUME is pending are not congested either
    b.control(OUT, &pause(&[1, 3]));
    b.control(OUT, &resume(&[1]));
    put_seq(&mut b, UP, 3, OUT, 0);
    assert_eq!(b.take_sent(), [(UP, pause(&[3]))], "flow 3 is paused: not an origin");
    b.control(OUT, &resume(&[3]));
    put_seq(&mut b, UP, 4, OUT, 0);
    assert_eq!(b.take_sent().len(), 1, "all pending: an origin again");
}

/// Algorithm 1 tests the resume threshold only when a packet comes in: with everything paused
/// none does, and the pause stays forever.
#[test]
fn testing_only_on_enqueue_never_resumes_a_paused_ingress() {
    let mut b = switch_with(&[(&RESUME_TEST, "enqueue")]);
    put(&mut b, UP, 1, OUT, 10);
    b.take_sent();
    assert_eq!(serve_all(&mut b, OUT).len(), 10);
    assert_eq!(b.take_sent(), []);
    assert!(audit(&b, Network::Drained).unwrap_err().contains("still pauses"));
    put_seq(&mut b, UP, 1, OUT, 10);
    assert_eq!(b.take_sent(), [(UP, all(false))], "a packet that came in would have done it");
}

/// Algorithm 1 line 14 to the letter: each PAUSE overwrites the table, so the RESUME names the
/// flows of the last one only.
#[test]
fn overwriting_the_table_leaves_flows_paused_for_ever() {
    let options: &[_] = &[(&PAUSE_TABLE, "overwrite"), (&XOFF_CONGESTED, "6KB")];
    let mut b = Bench::around(4, "100KB", "3KB", |setup| scheme(options, setup));
    put(&mut b, UP, 1, OUT, 6);
    put(&mut b, UP, 2, OUT2, 6);
    put_seq(&mut b, UP, 2, OUT2, 6);
    assert_eq!(
        b.take_sent(),
        [(UP, pause(&[1])), (UP, pause(&[2])), (UP, pause(&[2]))],
        "and a frame for every packet"
    );
    while serve(&mut b, OUT).or_else(|| serve(&mut b, OUT2)).is_some() {}
    assert_eq!(b.take_sent(), [(UP, resume(&[2]))], "flow 1 is never resumed");
    assert_eq!(audit(&b, Network::Drained), Ok(()), "nobody here knows");
}

/// The urgent state overwrites as well, and is overwritten.
#[test]
fn overwriting_forgets_the_urgent_state() {
    let mut b = switch_with(&[(&PAUSE_TABLE, "overwrite")]);
    put(&mut b, UP, 1, OUT, 10);
    assert_eq!(b.take_sent().last(), Some(&(UP, all(true))));
    serve(&mut b, OUT);
    serve(&mut b, OUT);
    put_seq(&mut b, UP, 1, OUT, 10);
    assert_eq!(b.take_sent(), [(UP, pause(&[1]))]);
    assert_eq!(serve_all(&mut b, OUT).len(), 9);
    assert_eq!(b.take_sent(), [(UP, resume(&[1]))], "the neighbour stays wholly paused");
}

/// The tables as a whole: flows that never came in by this ingress are named to it. Upstream
/// they look like congested flows, and its ports no longer like origins.
#[test]
fn whole_tables_name_flows_the_neighbour_does_not_send() {
    let mut b = switch_with(&[(&SCOPE, "port")]);
    put(&mut b, UP2, 5, OUT, 3);
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1, 5]))]);
    // and of congested flows likewise
    let mut b = switch_with(&[(&SCOPE, "port")]);
    b.control(OUT, &pause(&[1, 7]));
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1, 7]))]);
    // while the urgent list misses the flows at other egresses
    let mut b = switch_with(&[(&SCOPE, "port"), (&URGENT_WILDCARD, "false")]);
    put(&mut b, UP, 1, OUT, 5);
    put(&mut b, UP, 2, OUT2, 5);
    assert_eq!(b.take_sent(), [(UP, pause(&[2]))], "flow 1 goes on into a full buffer");
    // under the wildcard from below, every flow at the egress
    let mut b = switch_with(&[(&SCOPE, "port")]);
    b.control(OUT, &all(true));
    put(&mut b, UP2, 5, OUT, 1);
    put(&mut b, UP, 1, OUT, 6);
    assert_eq!(b.take_sent(), [(UP, pause(&[1, 5]))]);
}
