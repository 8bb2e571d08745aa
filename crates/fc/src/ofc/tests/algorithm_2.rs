//! Algorithm 2: what received frames do.

use super::*;

/// Lines 3 and 4: the flows of a PAUSE are stored, for this port and priority.
#[test]
fn a_pause_is_stored_and_later_ones_are_added() {
    let mut b = switch();
    b.control(OUT, &pause(&[2]));
    b.control(OUT, &pause(&[1, 2]));
    assert_eq!(hierarchy(&b, OUT).paused, keys(&[1, 2]));
    assert!(hierarchy(&b, OUT2).is_at_rest());
    assert!(!b.is_held(OUT, N), "other flows go on");
    assert!(b.is_held(OUT, B1), "paused packets will wait in here");
    assert!(!b.is_held(OUT, B2), "nobody waits in here");
}

/// Line 5: a frame is taken out of the traffic; it is not passed on.
#[test]
fn a_pause_is_not_forwarded() {
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    b.control(OUT, &resume(&[1]));
    assert_eq!(b.sent(), []);
}

/// Frames that are not OFC's, or of a priority it does not govern, change nothing.
#[test]
fn frames_of_others_are_ignored() {
    let mut b = switch();
    let before = b.clone();
    b.control(OUT, &ControlMessage::pfc(PRIORITY, 100));
    b.control(
        OUT,
        &ControlMessage::OfcFlows {
            pause: true,
            priority: Priority::ALL[5],
            all: true,
            flows: vec![pair(1)],
        },
    );
    assert!(b == before);
}

/// Lines 7 to 9: the flows are removed, and the copy of the frame goes to the paused queue.
#[test]
fn a_resume_removes_its_flows_and_puts_a_mark_into_the_paused_queue() {
    let mut b = switch();
    b.control(OUT, &pause(&[1, 2]));
    put(&mut b, UP, 1, OUT, 1);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[1, 3]));
    assert_eq!(hierarchy(&b, OUT).paused, keys(&[2]));
    assert_eq!(waiting(&b, OUT, B1), [Some((1, 0)), None], "the mark stands behind the packet");
}

/// A RESUME of flows that are not paused has nothing to do.
#[test]
fn a_duplicate_resume_starts_no_drain() {
    let mut b = switch();
    b.control(OUT, &pause(&[2]));
    b.control(OUT, &resume(&[1]));
    assert!(!hierarchy(&b, OUT).is_draining());
    assert_eq!(waiting(&b, OUT, B1), []);
    b.control(OUT, &all(false));
    assert!(hierarchy(&b, OUT).is_draining(), "a RESUME of all lifts what is paused");
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &all(false));
    assert!(hierarchy(&b, OUT).is_at_rest(), "and then there is nothing left to lift");
}

/// Lines 11 and 12, and Algorithm 3 lines 9 to 12: packets are counted per flow.
#[test]
fn packets_are_counted_in_and_out() {
    let mut b = switch();
    let count = |b: &Bench<Ofc>, from, to| {
        let ofc = b.scheme();
        let counts = &ofc.counts[ofc.between(PRIORITY, from, to)];
        (counts.len(), counts.packets())
    };
    put(&mut b, UP, 1, OUT, 2);
    put(&mut b, UP, 2, OUT, 1);
    assert_eq!(count(&b, UP, OUT), (2, 3));
    assert_eq!((count(&b, UP2, OUT), count(&b, UP, OUT2)), ((0, 0), (0, 0)));
    serve(&mut b, OUT);
    assert_eq!(count(&b, UP, OUT), (2, 2), "flow 1 has a packet left");
    serve(&mut b, OUT);
    assert_eq!(count(&b, UP, OUT), (1, 1), "flow 1 is forgotten");
    // a move between the queues of a port is no departure
    b.control(OUT, &pause(&[2]));
    assert_eq!(serve(&mut b, OUT), None);
    assert_eq!(count(&b, UP, OUT), (1, 1));
    assert_eq!(b.view().q_out(OUT, PRIORITY), Bytes::new(1000));
    assert_eq!(audit(&b, Network::InUse), Ok(()));
}
