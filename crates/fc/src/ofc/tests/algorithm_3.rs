//! Algorithm 3: how paused packets are kept apart, and how they leave in order.

use super::*;

/// The port's held queues.
fn held(b: &Bench<Ofc>) -> Vec<QueueId> {
    [N, B1, B2].into_iter().filter(|&q| b.is_held(OUT, q)).collect()
}

/// Lines 7, 8 and 14: a head of a paused flow goes to the paused queue, others to the wire.
#[test]
fn paused_packets_step_aside_and_others_pass() {
    let mut b = switch();
    put(&mut b, UP, 1, OUT, 1);
    put(&mut b, UP, 2, OUT, 1);
    put_seq(&mut b, UP, 1, OUT, 1);
    b.control(OUT, &pause(&[1]));
    assert_eq!(serve_all(&mut b, OUT), [(2, 0)]);
    assert_eq!(waiting(&b, OUT, B1), [Some((1, 0)), Some((1, 1))]);
    assert_eq!(waiting(&b, OUT, B2), []);
}

/// Partial paused flows resumed: the paused queue is served in place of the normal one, what
/// is still paused goes to the empty backup.
#[test]
fn a_drain_sends_the_resumed_and_keeps_the_paused_in_the_other_backup() {
    let mut b = switch();
    b.control(OUT, &pause(&[1, 2]));
    for seq in 0..2 {
        put_seq(&mut b, UP, 1, OUT, seq);
        put_seq(&mut b, UP, 2, OUT, seq);
    }
    assert_eq!(serve(&mut b, OUT), None);
    put_seq(&mut b, UP, 1, OUT, 2); // newer packets in the normal queue
    b.control(OUT, &resume(&[1]));
    let h = hierarchy(&b, OUT);
    assert_eq!((h.serving, h.sink), (1, 2));
    assert_eq!(held(&b), [B2], "the normal queue is not held: the drained backup outranks it");
    assert_eq!(serve(&mut b, OUT), Some((1, 0)));
    assert_eq!(serve(&mut b, OUT), Some((1, 1)), "the older packets leave first");
    assert_eq!(waiting(&b, OUT, B2), [Some((2, 0))]);
    // lines 3 to 5: behind packet 1 of flow 2 comes the mark, then the normal queue again
    assert_eq!(serve(&mut b, OUT), Some((1, 2)));
    assert_eq!(waiting(&b, OUT, B2), [Some((2, 0)), Some((2, 1))]);
    let h = hierarchy(&b, OUT);
    assert_eq!((h.serving, h.sink), (0, 2), "the backups have swapped roles");
    assert_eq!(held(&b), [B2]);
    // the next drain runs the other way round
    put_seq(&mut b, UP, 2, OUT, 2);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[2]));
    assert_eq!((hierarchy(&b, OUT).serving, hierarchy(&b, OUT).sink), (2, 1));
    assert_eq!(held(&b), []);
    assert_eq!(serve_all(&mut b, OUT), [(2, 0), (2, 1), (2, 2)]);
    assert_eq!(held(&b), []);
    assert_eq!(audit(&b, Network::Drained), Ok(()));
}

/// Backups of a weighted priority share its group, so the normal queue is held during a drain.
#[test]
fn without_ranks_the_normal_queue_is_held_during_a_drain() {
    let mut schedule = crate::PrioritySchedule::default();
    schedule.weights[3] = 1;
    let mut b = Bench::around(4, "10KB", "3KB", |setup| {
        scheme(&[], &NodeSetup { schedule: &schedule, ..setup.clone() })
    });
    // the seven strict priorities come first
    let [b1, b2, n] = [7, 8, 9].map(QueueId);
    let holds = |b: &Bench<Ofc>| [b1, b2, n].map(|q| b.is_held(OUT, q));
    b.control(OUT, &pause(&[1, 2]));
    assert_eq!(holds(&b), [true, false, false]);
    b.arrive(b.packet(UP, 1000).flow(1, 0, 101), OUT);
    assert_eq!(b.depart(OUT, n), None);
    b.control(OUT, &resume(&[1]));
    assert_eq!(holds(&b), [false, true, true]);
    assert!(b.depart(OUT, b1).is_some());
    assert_eq!(b.depart(OUT, b1), None, "the mark");
    assert_eq!(holds(&b), [false, true, false]);
}

/// A drain of an empty paused queue is over as soon as the port looks at the mark.
#[test]
fn an_empty_drain_takes_no_packet_time() {
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    b.control(OUT, &resume(&[1]));
    put(&mut b, UP, 1, OUT, 1);
    assert_eq!(serve(&mut b, OUT), Some((1, 0)));
    assert_eq!(audit(&b, Network::Drained), Ok(()));
}

/// All flows paused and all paused flows resumed: nothing moves, nothing is mixed.
#[test]
fn under_the_wildcard_nothing_moves() {
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    put(&mut b, UP, 1, OUT, 1);
    assert_eq!(serve(&mut b, OUT), None);
    put(&mut b, UP, 2, OUT, 1);
    b.control(OUT, &all(true));
    assert_eq!(serve(&mut b, OUT), None);
    assert_eq!(waiting(&b, OUT, N), [Some((2, 0))]);
    // other priorities are not concerned
    b.arrive(b.packet(UP, 1000).priority(Priority::ALL[5]), OUT);
    assert!(b.depart(OUT, QueueId(2)).is_some());
    b.control(OUT, &all(false));
    assert_eq!(serve_all(&mut b, OUT), [(1, 0), (2, 0)]);
    assert_eq!(audit(&b, Network::Drained), Ok(()));
}

/// A RESUME during a drain: its flows stay paused until the mark comes out, then a second drain
/// sends them.
#[test]
fn a_resume_during_a_drain_waits_for_its_end() {
    let mut b = switch();
    begin_drain(&mut b);
    b.control(OUT, &resume(&[2]));
    let h = hierarchy(&b, OUT);
    assert_eq!((&h.paused, &h.pending), (&keys(&[2]), &keys(&[2])));
    assert_eq!(serve_all(&mut b, OUT), [(2, 0), (2, 1)], "in order");
    assert_eq!(audit(&b, Network::Drained), Ok(()));
}

/// A PAUSE during a drain holds at once, and takes back a pending RESUME.
#[test]
fn a_pause_during_a_drain_holds_at_once() {
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    put(&mut b, UP, 1, OUT, 2);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[1]));
    assert_eq!(serve(&mut b, OUT), Some((1, 0)));
    b.control(OUT, &pause(&[1]));
    b.control(OUT, &resume(&[1]));
    b.control(OUT, &pause(&[1]));
    assert_eq!(hierarchy(&b, OUT).pending, keys(&[]));
    assert_eq!(serve(&mut b, OUT), None);
    assert_eq!(waiting(&b, OUT, B2), [Some((1, 1))]);
    b.control(OUT, &all(true));
    b.control(OUT, &all(false));
    assert_eq!(serve_all(&mut b, OUT), [(1, 1)]);
    assert_eq!(audit(&b, Network::Drained), Ok(()));
}

/// The wildcard of the urgent state may come and go in the midst of a drain.
#[test]
fn the_wildcard_interrupts_a_drain() {
    let mut b = switch();
    b.control(OUT, &pause(&[1, 2]));
    put(&mut b, UP, 2, OUT, 1);
    put(&mut b, UP, 1, OUT, 2);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[1]));
    assert_eq!(serve(&mut b, OUT), Some((1, 0)));
    b.control(OUT, &all(true));
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &all(false));
    assert_eq!(hierarchy(&b, OUT).pending, keys(&[2]), "resumed when the drain is over");
    assert_eq!(serve_all(&mut b, OUT), [(1, 1), (2, 0)]);
    assert_eq!(audit(&b, Network::Drained), Ok(()));
}

/// A packet of another priority is none of the hierarchy's business.
#[test]
fn a_plain_priority_is_sent_although_its_hosts_are_paused() {
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    let p = b.packet(UP, 1000).flow(1, 0, 101).priority(Priority::ALL[2]);
    let q = b.arrive(p, OUT);
    assert_eq!(q, QueueId(7));
    assert!(b.depart(OUT, q).is_some());
    assert_eq!(sizes(&b), [0, 8, 0]);
}

/// The link loses what stands in the served backup, the mark included: the drain is over, and the
/// normal queue is served again.
#[test]
fn a_lost_mark_ends_its_drain() {
    let mut b = switch();
    b.control(OUT, &pause(&[1]));
    put(&mut b, UP, 1, OUT, 2);
    assert_eq!(serve(&mut b, OUT), None);
    b.control(OUT, &resume(&[1]));
    assert_eq!(waiting(&b, OUT, B1), [Some((1, 0)), Some((1, 1)), None]);
    assert!(hierarchy(&b, OUT).is_draining());
    let (before, mut a) = (b.clone(), Actions::new());
    let mark = before.queue(OUT, B1).last().unwrap();
    b.scheme_mut().discard_mark(&before.view(), PortQueue { port: OUT, queue: B1 }, mark, &mut a);
    assert!(hierarchy(&b, OUT).is_at_rest());
    let open = |queue| crate::Action::Open { port: OUT, target: crate::Target::Queue(queue) };
    assert_eq!(a.as_slice(), [open(N), open(B1), open(B2)]);
}
