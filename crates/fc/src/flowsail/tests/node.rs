//! NICs, shared entries, links, the backstop, state and audits.

use super::*;
use crate::harness::PRIORITY;
use weir_core::Priority;

#[test]
fn a_nic_holds_the_slot_of_the_named_flow() {
    let mut b = Bench::nic(&INFO, &Values::new());
    let header = |b: &Bench, k| b.packet(UP, 1000).flow(9, k, 10);
    b.flow_starts(QueueId(0), header(&b, 0));
    b.flow_starts(QueueId(1), header(&b, 1));
    b.control(UP, &state(true, 1));
    assert!(!b.is_held(UP, QueueId(0)) && b.is_held(UP, QueueId(1)));
    b.flow_ends(QueueId(1), header(&b, 1));
    assert!(!b.is_held(UP, QueueId(1)), "the slot is free for another flow");
    b.control(UP, &state(true, 0));
    b.link(UP, LinkState::Down);
    assert!(!b.is_held(UP, QueueId(0)));
}

/// With two buckets some two of three flows share one.
fn twins() -> (u32, u32) {
    let keys = Keys::new(&given(&INFO, &[("table", "hashed"), ("buckets", "2")]), 0);
    let same = |a, b| (keys.of(flow(a)) == keys.of(flow(b))).then_some((a, b));
    same(0, 1).or_else(|| same(0, 2)).or_else(|| same(1, 2)).expect("three flows, two buckets")
}

#[test]
fn flows_in_one_bucket_are_one_flow_here_and_at_the_neighbours() {
    let (x, y) = twins();
    let hashed = [("queues", "2"), ("table", "hashed"), ("buckets", "2")];
    let mut b = bench(&hashed);
    send(&mut b, x, 0..20);
    send(&mut b, y, 0..6);
    // 26 000 B in the queue, all of one "flow"
    assert_eq!(b.take_sent(), [(UP, state(true, y))]);
    assert_eq!(drain(&mut b, ONE, 26).len(), 26);
    assert_eq!(b.take_sent(), [(UP, state(false, y))], "the RESUME names the flow of the PAUSE");
    // the neighbour isolates both, and resumes when both are resumed
    b.control(OUT, &state(true, x));
    b.control(OUT, &state(true, y));
    assert_eq!((send(&mut b, x, 20..21), send(&mut b, y, 6..7)), (ISOLATION, ISOLATION));
    b.control(OUT, &state(false, x));
    assert!(b.is_held(OUT, ISOLATION));
    b.control(OUT, &state(false, y));
    assert_eq!(drain(&mut b, ISOLATION, 9).len(), 2);
    let mut nic = Bench::nic(&INFO, &given(&INFO, &hashed));
    nic.flow_starts(QueueId(0), nic.packet(UP, 1000).flow(9, x, 10));
    nic.control(UP, &state(true, y));
    assert!(nic.is_held(UP, QueueId(0)));
}

#[test]
fn a_link_that_recovers_is_paused_at_once_and_what_it_had_paused_is_open() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..26);
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(true, 1));
    b.take_sent();
    b.link(UP, LinkState::Down);
    b.link(OUT, LinkState::Down);
    audited(&b, Network::InUse);
    assert!(!b.is_held(OUT, ONE) && !b.is_held(OUT, ISOLATION));
    b.link(UP, LinkState::Up);
    assert_eq!(b.take_sent(), [(UP, state(true, 0))]);
    assert_eq!(drain(&mut b, ONE, 20).len(), 20);
    assert_eq!(send(&mut b, 0, 26..27), ISOLATION, "its mark is still under way");
    assert_eq!(drain(&mut b, ONE, 9).len(), 6);
    assert_eq!(b.take_sent(), [(UP, state(false, 0))]);
    assert_eq!(drain(&mut b, ISOLATION, 9).len(), 1);
    audited(&b, Network::Drained);
}

#[test]
fn a_flow_is_paused_wherever_it_comes_in_and_resumed_everywhere() {
    let mut b = two_queues("text");
    send(&mut b, 0, 0..26);
    b.arrive(b.packet(UP2, 1000).flow(9, 0, 10).seq(26), OUT);
    assert_eq!(b.take_sent(), [(UP, state(true, 0)), (UP2, state(true, 0))]);
    assert_eq!(drain(&mut b, ONE, 99).len(), 27);
    assert_eq!(b.take_sent(), [(UP, state(false, 0)), (UP2, state(false, 0))]);
}

#[test]
fn other_priorities_and_the_backstop_are_left_alone() {
    let mut b = bench(&[("queues", "2"), ("backstop", "pfc")]);
    let ack = packet(&b, 0, 0).priority(Priority::ALL[7]);
    assert_eq!(b.arrive(ack, OUT), QueueId(0));
    b.depart(OUT, QueueId(0)).unwrap();
    send(&mut b, 0, 0..1);
    b.control(OUT, &ControlMessage::pfc(PRIORITY, 100));
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    assert_eq!(next(&mut b, ONE), None, "the priority is still paused");
    b.fire_next();
    assert_eq!(next(&mut b, ONE), Some((0, 0)));
}

#[test]
fn a_table_entry_has_fifty_bits_as_the_paper_states() {
    let mut b = bench(&[]);
    for k in 0..10_000 {
        send(&mut b, k, 0..1);
    }
    // "64 KB" for 10 000 flows: 62 500 B
    assert_eq!(b.scheme().state_size().tables[0], ("normal flow table", 62_500));
    // three ports of eight queues
    assert_eq!(b.scheme().state_size().tables[2], ("queue table", 96));
}

#[test]
fn what_is_left_after_a_drain_is_reported() {
    let mut b = two_queues("text");
    b.control(OUT, &state(true, 0));
    let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
    assert!(left.what.contains("left after a drain"), "{left}");
    b.control(OUT, &state(false, 0));
    audited(&b, Network::Drained);
}

#[test]
fn books_that_contradict_themselves_or_the_queues_are_reported() {
    let after = |packets: u32, meddle: fn(&mut egress::Flow)| {
        let mut b = two_queues("text");
        send(&mut b, 0, 0..packets);
        b.control(OUT, &state(true, 0));
        let flows = &mut b.scheme_mut().egresses[OUT.index()].flows;
        let i = flows.iter().next().unwrap().0;
        meddle(flows.at_mut(i).unwrap());
        b.scheme().audit(&b.view(), Network::InUse).unwrap_err().what
    };
    assert!(after(0, |f| f.pause_num[0] = 1).contains("counts packets it does not have"));
    let for_nothing = after(1, |f| {
        f.upstream.pause(UP, PRIORITY, flow(0), || Reason::Refresh, &mut Actions::new());
    });
    assert!(for_nothing.contains("is paused upstream without a reason"), "{for_nothing}");
    assert!(after(1, |f| f.bytes += 1).contains("queue 0 holds 1000 B, its flows 1001 B"));
}

#[test]
fn an_upper_threshold_below_the_lower_one_is_refused() {
    let values = given(&INFO, &[("q-high", "1/2")]);
    let _ = Bench::around(1, "75KB", "45KB", |setup| {
        let refused = FlowSail::new(&values, setup).unwrap_err();
        assert!(refused.0.contains("q-high = 1/2 is below q-low = 1"));
        FlowSail::new(&Values::new(), setup).unwrap()
    });
}

/// What the tables say and what the queues are: the audit compares them, except where a literal
/// reading loses count on purpose.
#[test]
fn counts_and_holds_of_queues_are_compared_with_their_flows() {
    let meddled = |reading: &str, meddle: fn(&mut Queue)| {
        let mut b = two_queues(reading);
        send(&mut b, 0, 0..1);
        meddle(&mut b.scheme_mut().egresses[OUT.index()].queues[0]);
        b.scheme().audit(&b.view(), Network::InUse).map_err(|v| v.what)
    };
    let counts = meddled("text", |q| q.flows += 1).unwrap_err();
    assert!(counts.contains("queue 0 counts"), "{counts}");
    assert!(meddled("text", |q| q.holds -= 1).unwrap_err().contains("queue 0 counts"));
    assert_eq!(meddled("two-counters", |q| q.flows += 1), Ok(()));
    assert_eq!(meddled("two-counters", |q| q.holds -= 1), Ok(()));
    let open = meddled("two-counters", |q| q.holds += 1).unwrap_err();
    assert!(open.contains("queue 0 should be held"), "{open}");
}

/// An entry may outlast a drain only while its release timer runs.
#[test]
fn an_entry_that_no_timer_will_take_is_reported() {
    let mut b = two_queues("text");
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    audited(&b, Network::Drained);
    let flows = &mut b.scheme_mut().egresses[OUT.index()].flows;
    flows.at_mut(0).unwrap().congested.as_mut().unwrap().armed = false;
    let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
    assert!(left.what.contains("left after a drain"), "{left}");
}

/// Normal flows go with their last packet, congested ones with their release.
#[test]
fn a_flow_that_is_over_leaves_no_entry() {
    let mut b = two_queues("text");
    let entries = |b: &Bench<FlowSail>| b.scheme().egresses[OUT.index()].flows.len();
    send(&mut b, 0, 0..2);
    assert_eq!((entries(&b), drain(&mut b, ONE, 9).len(), entries(&b)), (1, 2, 0));
    // paused with a packet in the normal queue: two marks
    send(&mut b, 0, 2..3);
    b.control(OUT, &state(true, 0));
    b.control(OUT, &state(false, 0));
    assert_eq!((drain(&mut b, ONE, 9).len(), drain(&mut b, ISOLATION, 9).len()), (1, 0));
    assert_eq!(entries(&b), 1, "not quiet yet");
    b.fire_next();
    assert_eq!(entries(&b), 0);
}
