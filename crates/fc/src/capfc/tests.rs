//! Algorithms 1 and 2 of the paper, line by line.

use super::*;
use crate::harness::{Bench, PRIORITY, set};

const A: PortId = PortId(0);
const B: PortId = PortId(1);
const C: PortId = PortId(2);
const OUT: PortId = PortId(3);
const OUT2: PortId = PortId(4);
/// The queue of priority 3.
const Q: QueueId = QueueId(4);

fn values(options: &[(&Param, &str)]) -> Values {
    set(&[options, &[(&pfc::TIMER, "sticky")]].concat())
}

/// Egress: counts from 4 packets of 1000 B, pauses above 6, resumes at 3. Ingress 10/5.
fn switch_with(options: &[(&Param, &str)]) -> Bench<Capfc> {
    let egress: &[(&Param, &str)] =
        &[(&EGRESS_WARN, "4KB"), (&EGRESS_XOFF, "6KB"), (&EGRESS_XON, "3KB")];
    let all: Vec<_> = egress.iter().chain(options).copied().collect();
    Bench::around(5, "10KB", "5KB", |setup| Capfc::new(&values(&all), setup).unwrap())
}

fn switch() -> Bench<Capfc> {
    switch_with(&[])
}

fn put(b: &mut Bench<Capfc>, from: PortId, to: PortId, n: u32) {
    for _ in 0..n {
        assert_eq!(b.arrive(b.packet(from, 1000), to), Q);
    }
}

fn serve(b: &mut Bench<Capfc>, port: PortId, n: u32) {
    for _ in 0..n {
        b.depart(port, Q).unwrap();
    }
}

fn egress(b: &Bench<Capfc>, port: PortId) -> &Egress {
    &b.scheme().egress[b.scheme().at(PRIORITY, port)]
}

fn xoff(port: PortId) -> (PortId, ControlMessage) {
    (port, ControlMessage::pfc(PRIORITY, 65_535))
}

fn xon(port: PortId) -> (PortId, ControlMessage) {
    (port, ControlMessage::pfc(PRIORITY, 0))
}

/// Lines 1 to 5.
#[test]
fn a_packet_that_would_pass_max_is_dropped_and_one_that_reaches_it_is_not() {
    let mut b = switch_with(&[(&EGRESS_MAX, "8KB")]);
    put(&mut b, A, OUT, 7);
    let fits = |size, priority: Priority, to| {
        let p = b.packet(B, size).priority(priority).0;
        let room = b.scheme().layout(to).room.expect("MAX is set");
        room.fits(&p, b.view().q_out(to, priority))
    };
    assert!(fits(1000, PRIORITY, OUT), "8000 B is the limit");
    assert!(!fits(1001, PRIORITY, OUT));
    assert!(fits(1001, PRIORITY, OUT2), "another queue");
    assert!(fits(9000, Priority::ALL[5], OUT), "not lossless");
    assert_eq!(switch().scheme().layout(OUT).room, None, "by default only the memory limits it");
}

/// Lines 7 and 8: counted from WARN on, the packet itself included.
#[test]
fn packets_are_counted_per_input_once_the_queue_has_reached_warn() {
    let mut b = switch();
    put(&mut b, A, OUT, 3);
    assert_eq!(egress(&b, OUT).counted, [0, 0, 0, 0, 0]);
    put(&mut b, B, OUT, 1);
    assert_eq!(egress(&b, OUT).counted, [0, 1, 0, 0, 0], "the fourth packet reaches 4 KB");
    put(&mut b, A, OUT, 2);
    assert_eq!(egress(&b, OUT).counted, [2, 1, 0, 0, 0]);
    assert_eq!(egress(&b, OUT2).counted, [0; 5]);
    assert_eq!(b.sent(), [], "6 KB is not above XOFF");
}

/// Lines 9 to 13: above XOFF the heaviest input is paused, also when another one's packet
/// came.
#[test]
fn above_xoff_the_heaviest_input_is_paused() {
    let mut b = switch();
    put(&mut b, C, OUT, 3); // below WARN: not counted
    put(&mut b, A, OUT, 2);
    put(&mut b, B, OUT, 1);
    assert_eq!(b.sent(), []);
    put(&mut b, B, OUT, 1);
    // A and B brought two each, C three that were not counted: the lower port wins
    assert_eq!(b.take_sent(), [xoff(A)]);
    put(&mut b, A, OUT, 1);
    assert_eq!(b.take_sent(), [], "already paused");
    // congestion persists: B becomes the heaviest and is paused too
    put(&mut b, B, OUT, 1);
    assert_eq!(b.take_sent(), [], "three each");
    put(&mut b, B, OUT, 1);
    assert_eq!(b.take_sent(), [xoff(B)]);
    assert_eq!(egress(&b, OUT).congested, [true, true, false, false, false]);
}

/// Lines 14 to 18: counters start again when the queue has come down to WARN.
#[test]
fn counters_are_cleared_at_warn() {
    let mut b = switch();
    put(&mut b, A, OUT, 6);
    serve(&mut b, OUT, 1);
    assert_eq!(egress(&b, OUT).counted[0], 3, "5 KB");
    serve(&mut b, OUT, 1);
    assert_eq!(egress(&b, OUT).counted[0], 0, "4 KB");
}

/// Lines 19 and 20: signals end when the queue has come down to XON.
#[test]
fn inputs_leave_the_congested_state_at_xon() {
    let mut b = switch();
    put(&mut b, A, OUT, 4);
    put(&mut b, B, OUT, 3);
    assert_eq!(b.take_sent(), [xoff(B)], "A's packets 1 to 3 came below WARN");
    serve(&mut b, OUT, 3);
    assert_eq!(b.take_sent(), [], "4 KB");
    assert!(egress(&b, OUT).is_touched());
    serve(&mut b, OUT, 1);
    assert_eq!(b.take_sent(), [xon(B)], "3 KB");
    assert!(!egress(&b, OUT).is_touched());
    serve(&mut b, OUT, 3);
    assert_eq!(b.sent(), []);
    assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
}

/// WARN above XON: the counters are cleared first, the signals later, and counting begins anew.
#[test]
fn counters_may_be_cleared_before_the_signals() {
    let mut b = switch();
    put(&mut b, A, OUT, 7);
    b.take_sent();
    serve(&mut b, OUT, 3);
    assert_eq!(egress(&b, OUT).counted[0], 0);
    assert!(egress(&b, OUT).congested[0] && egress(&b, OUT).is_touched());
    serve(&mut b, OUT, 1);
    assert_eq!(b.take_sent(), [xon(A)]);
}

/// Algorithm 2: the smallest set, heaviest first, that brought the part CUT.
#[test]
fn stop_calibrate_pauses_the_fewest_inputs_that_brought_the_cut() {
    let heavy = |counted: &[u32], cut: &str| {
        let e = Egress { counted: counted.to_vec(), ..Egress::new(counted.len()) };
        let ports: Vec<u16> =
            e.heavy(Some(cut.parse().unwrap())).into_iter().map(|p| p.0).collect();
        ports
    };
    assert_eq!(heavy(&[1, 5, 4], "80%"), [1, 2], "9 of 10 pass 8");
    assert_eq!(heavy(&[2, 4, 4], "80%"), [1, 2], "8 of 10 reach 8; ties by port");
    assert_eq!(heavy(&[3, 4, 3], "80%"), [1, 0, 2], "7 of 10 do not");
    assert_eq!(heavy(&[1, 9, 0], "80%"), [1]);
    assert_eq!(heavy(&[3, 4, 0], "1"), [1, 0], "all that have brought any");
    assert_eq!(heavy(&[3, 4, 0], "0"), [1], "never nobody");
    // 2/3 of 4 packets are 2.67: two are not enough
    assert_eq!(heavy(&[2, 1, 1], "2/3"), [0, 1]);
    assert_eq!(heavy(&[0, 0], "80%"), [0]);
}

/// Algorithm 2 in place of lines 10 and 13.
#[test]
fn stop_calibrate_puts_several_inputs_into_the_congested_state_at_once() {
    let mut b = switch_with(&[(&POLICY, "stop-calibrate")]);
    put(&mut b, C, OUT, 3);
    put(&mut b, A, OUT, 1);
    put(&mut b, B, OUT, 2);
    assert_eq!(b.sent(), []);
    put(&mut b, C, OUT, 1);
    // B 2, A 1, C 1 of 4: 80 % are 3.2 packets, so all three
    assert_eq!(b.take_sent(), [xoff(B), xoff(A), xoff(C)]);
    serve(&mut b, OUT, 4);
    assert_eq!(b.take_sent(), [xon(A), xon(B), xon(C)]);
}

/// D = I or any E: a pause lasts until all reasons are gone.
#[test]
fn an_input_is_paused_while_it_is_full_or_any_output_names_it() {
    let mut b = switch();
    put(&mut b, A, OUT, 7);
    assert_eq!(b.take_sent(), [xoff(A)]);
    put(&mut b, A, OUT2, 7);
    assert_eq!(b.take_sent(), [], "now also full, and named by a second output");
    serve(&mut b, OUT, 7);
    assert_eq!(b.take_sent(), [], "the second output still names it");
    serve(&mut b, OUT2, 3);
    assert_eq!(b.take_sent(), [], "4 KB there, not full any more");
    serve(&mut b, OUT2, 1);
    assert_eq!(b.take_sent(), [xon(A)]);
}

/// The other reading: both must be true, and the end of either ends the pause.
#[test]
fn with_trigger_and_an_input_is_paused_while_it_is_full_and_an_output_names_it() {
    let mut b = switch_with(&[(&TRIGGER, "and")]);
    put(&mut b, A, OUT, 7);
    assert_eq!(b.take_sent(), [], "named, but not full");
    put(&mut b, A, OUT2, 3);
    assert_eq!(b.take_sent(), [xoff(A)], "10 KB: full as well");
    serve(&mut b, OUT, 4);
    assert_eq!(b.take_sent(), [xon(A)], "no output names it, 6 KB of it are left");
    put(&mut b, A, OUT2, 3);
    assert_eq!(b.take_sent(), [], "full still, but 6 KB are not above XOFF");
    put(&mut b, A, OUT2, 1);
    assert_eq!(b.take_sent(), [xoff(A)]);
    serve(&mut b, OUT, 3);
    serve(&mut b, OUT2, 2);
    assert_eq!(b.take_sent(), [xon(A)], "5 KB: not full, though named");
    assert_eq!((INFO.ingress_bound)(&values(&[(&TRIGGER, "and")])), IngressBound::Memory);
    assert_eq!((INFO.ingress_bound)(&Values::new()), IngressBound::Pauses);
}

#[test]
fn a_full_input_is_paused_as_in_pfc() {
    let mut b = switch();
    put(&mut b, A, OUT, 5);
    put(&mut b, A, OUT2, 4);
    assert_eq!(b.take_sent(), []);
    put(&mut b, A, OUT2, 1);
    assert_eq!(b.take_sent(), [xoff(A)], "10 KB");
    serve(&mut b, OUT, 4);
    assert_eq!(b.take_sent(), []);
    serve(&mut b, OUT, 1);
    assert_eq!(b.take_sent(), [xon(A)], "5 KB");
}

#[test]
fn strict_ingress_tests_leave_out_the_thresholds_themselves() {
    let mut b = switch_with(&[(&INGRESS_TEST, "strict")]);
    put(&mut b, A, OUT, 5);
    put(&mut b, A, OUT2, 5);
    assert_eq!(b.take_sent(), [], "10 KB does not pass 10 KB");
    put(&mut b, A, OUT2, 1);
    assert_eq!(b.take_sent(), [xoff(A)]);
    serve(&mut b, OUT, 5);
    serve(&mut b, OUT2, 1);
    assert_eq!(b.take_sent(), [], "5 KB is not below 5 KB");
    serve(&mut b, OUT2, 1);
    assert_eq!(b.take_sent(), [xon(A)]);
}

/// The OR leaves out o = i: a port is not paused for traffic it sends back to itself.
#[test]
fn an_input_is_not_paused_by_its_own_port() {
    let mut b = switch();
    put(&mut b, A, A, 9);
    assert!(egress(&b, A).congested[0]);
    assert_eq!(b.take_sent(), []);
    serve(&mut b, A, 9);
    assert_eq!(b.take_sent(), []);
    assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
}

#[test]
fn other_priorities_are_plain() {
    let mut b = switch();
    for _ in 0..20 {
        let p = b.packet(A, 1000).priority(Priority::ALL[5]);
        assert_eq!(b.arrive(p, OUT), QueueId(2));
    }
    assert_eq!(b.sent(), []);
    assert_eq!(egress(&b, OUT).counted, [0; 5]);
    b.depart(OUT, QueueId(2)).unwrap();
}

/// Priorities 3 and 4 are lossless, with counters and signals of their own.
#[test]
fn lossless_priorities_do_not_share_their_counters() {
    let p4 = Priority::ALL[4];
    let egress: &[(&Param, &str)] = &[(&EGRESS_XOFF, "6KB"), (&EGRESS_XON, "3KB")];
    let mut b = Bench::around(5, "10KB", "5KB", |setup| {
        Capfc::new(
            &values(egress),
            &NodeSetup { lossless: PrioritySet::from_bits(0b1_1000), ..setup.clone() },
        )
        .unwrap()
    });
    for _ in 0..6 {
        b.arrive(b.packet(C, 1000), OUT);
        b.arrive(b.packet(B, 1000).priority(p4), OUT);
    }
    assert_eq!(b.sent(), []);
    b.arrive(b.packet(A, 1000).priority(p4), OUT);
    assert_eq!(b.take_sent(), [(B, ControlMessage::pfc(p4, 65_535))]);
    b.arrive(b.packet(A, 1000), OUT);
    assert_eq!(b.take_sent(), [xoff(C)]);
    for _ in 0..4 {
        b.depart(OUT, QueueId(3)).unwrap();
    }
    assert_eq!(b.take_sent(), [(B, ControlMessage::pfc(p4, 0))]);
    let size = b.scheme().state_size();
    assert_eq!(size.tables.last(), Some(&("congestion counters", 100)));
}

#[test]
fn frames_hold_and_timers_run_as_in_pfc() {
    let mut b = switch();
    b.control(OUT, &ControlMessage::pfc(PRIORITY, 7));
    assert!(b.is_held(OUT, Q));
    b.link(OUT, LinkState::Down);
    assert!(!b.is_held(OUT, Q));
    let mut values = Values::new();
    values.set(&EGRESS_XOFF, "60KB").unwrap();
    let mut timed = Bench::switch(&INFO, &values, 2);
    timed.control(OUT_OF_TWO, &ControlMessage::pfc(PRIORITY, 100));
    timed.fire_next();
    assert!(!timed.is_held(OUT_OF_TWO, Q), "the pause expires");
}

const OUT_OF_TWO: PortId = PortId(1);

#[test]
fn a_link_that_recovers_is_paused_at_once_for_its_share_of_an_egress() {
    let mut b = switch();
    put(&mut b, A, OUT, 7);
    b.take_sent();
    b.link(A, LinkState::Down);
    assert_eq!(b.take_sent(), []);
    b.link(A, LinkState::Up);
    assert_eq!(b.take_sent(), [xoff(A)]);
    b.link(B, LinkState::Up);
    assert_eq!(b.take_sent(), [], "it has brought nothing");
}

#[test]
fn an_audit_notices_what_is_left_over() {
    let mut b = switch();
    put(&mut b, A, OUT, 7);
    assert!(
        b.scheme().audit(&b.view(), Network::Drained).unwrap_err().what.contains("still pauses")
    );
    let mut b = switch();
    put(&mut b, A, A, 4);
    assert!(b.scheme().audit(&b.view(), Network::Drained).unwrap_err().what.contains("congested"));
    let mut b = switch();
    b.link(A, LinkState::Down);
    put(&mut b, A, OUT, 3);
    assert_eq!(
        b.scheme().audit(&b.view(), Network::Drained),
        Ok(()),
        "nothing to be ashamed of below WARN"
    );
    let mut b = Bench::around(5, "10KB", "5KB", |setup| {
        Capfc::new(&values(&[(&EGRESS_XOFF, "60KB"), (&EGRESS_XON, "50KB")]), setup).unwrap()
    });
    put(&mut b, A, OUT, 10);
    assert!(
        b.scheme().audit(&b.view(), Network::Drained).unwrap_err().what.contains("still pauses")
    );
}

#[test]
fn the_counters_take_two_bytes_each() {
    let size = switch().scheme().state_size();
    // 5 inputs, 5 outputs, one lossless priority
    assert_eq!(size.tables.last(), Some(&("congestion counters", 50)));
}

#[test]
fn the_defaults_are_the_ofc_papers() {
    let b = Bench::around(2, "75KB", "45KB", |setup| Capfc::new(&Values::new(), setup).unwrap());
    let c = &b.scheme().config;
    for Port { levels: l, .. } in &b.scheme().ports {
        assert_eq!([l.xoff, l.xon, l.warn].map(Bytes::get), [68_000, 45_000, 45_000]);
    }
    assert_eq!((c.max, c.cut), (Bytes::MAX, None));
}

/// Inputs of 40 Gb/s, an output of 10 Gb/s: the output's queue is long at a quarter of what one of
/// 40 Gb/s takes, far below what an input may hold.
#[test]
fn an_egress_is_congested_at_the_threshold_of_its_own_port() {
    let levels = [("80KB", "45KB"), ("80KB", "45KB"), ("20KB", "10KB")];
    let mut b = Bench::around_ports(&levels, |s| Capfc::new(&Values::new(), s).unwrap());
    // 68/75 of 80 KB is 72.5 KB, of 20 KB 18.1 KB; counted from 10 KB on
    for _ in 0..18 {
        b.arrive(b.packet(A, 1000), PortId(2));
    }
    assert_eq!(b.take_sent(), []);
    b.arrive(b.packet(A, 1000), PortId(2));
    assert_eq!(b.take_sent().len(), 1, "19 KB");
    for _ in 0..72 {
        b.arrive(b.packet(PortId(1), 1000), A);
    }
    assert_eq!(b.take_sent(), []);
    b.arrive(b.packet(PortId(1), 1000), A);
    assert_eq!(b.take_sent().len(), 1, "73 KB");
}

fn refused(options: &[(&Param, &str)], thresholds: &crate::Thresholds) -> Option<String> {
    let mut error = None;
    Bench::around(1, "75KB", "45KB", |setup| {
        let setup = NodeSetup { thresholds, ..setup.clone() };
        error = Capfc::new(&values(options), &setup).err().map(|e| e.0);
        crate::none::NoFlowControl::new(setup.schedule)
    });
    error
}

#[test]
fn thresholds_that_make_no_sense_are_refused() {
    let fixed = crate::Thresholds::uniform(Bytes::new(75_000), Bytes::new(45_000), Bytes::MAX, 1);
    let says = |options: &[(&Param, &str)], thresholds, text| {
        refused(options, thresholds).is_some_and(|e| e.contains(text))
    };
    assert!(says(&[(&EGRESS_XON, "70KB")], &fixed, "must not exceed"));
    assert!(says(&[(&EGRESS_WARN, "70KB")], &fixed, "must not exceed"));
    assert_eq!(refused(&[(&EGRESS_XON, "68KB"), (&EGRESS_WARN, "68KB")], &fixed), None);
    assert!(says(&[(&CUT, "101%")], &fixed, "must not exceed 1"));
    assert_eq!(refused(&[(&CUT, "100%")], &fixed), None);
    let pool = crate::Thresholds::Pool;
    assert!(says(&[], &pool, "egress-xoff must be given"));
    assert!(says(&[(&EGRESS_XOFF, "9KB")], &pool, "egress-xon must be given"));
    let both: &[(&Param, &str)] = &[(&EGRESS_XOFF, "9KB"), (&EGRESS_XON, "5KB")];
    assert_eq!(refused(both, &pool), None);
    let strict: Vec<_> = both.iter().copied().chain([(&INGRESS_TEST, "strict")]).collect();
    assert!(says(&strict, &pool, "static"));
    let nothing_below = crate::Thresholds::uniform(Bytes::new(75_000), Bytes::ZERO, Bytes::MAX, 1);
    assert!(says(&[(&INGRESS_TEST, "strict")], &nothing_below, "above zero"));
    assert_eq!(refused(&[], &nothing_below), None);
}

#[test]
fn a_nic_only_obeys() {
    let mut b = Bench::around(1, "10KB", "5KB", |setup| {
        let thresholds = crate::Thresholds::Pool;
        let setup = NodeSetup { role: Role::Nic, thresholds: &thresholds, ..setup.clone() };
        Capfc::new(&values(&[(&INGRESS_TEST, "strict")]), &setup).unwrap()
    });
    b.control(A, &ControlMessage::pfc(PRIORITY, 7));
    assert!(b.is_held(A, Q));
    let (mut nic, mut a) = (b.scheme().clone(), Actions::new());
    let mut p = b.packet(A, 1000).0;
    nic.depart(&b.view(), &mut p, PortQueue { port: A, queue: Q }, &mut a);
    assert!(nic == *b.scheme() && a.is_empty());
}

/// D = I or any E with o other than i: whose turn it is to drain.
#[test]
fn a_stopped_input_waits_for_itself_and_for_the_outputs_that_stopped_it() {
    let mut b = switch();
    let waits = |b: &Bench<Capfc>, i| {
        let w = b.scheme().ingress_waits_for(i, PRIORITY);
        (w.own, w.egresses)
    };
    // A brings 4 of 7 packets: the heaviest input of a queue above 6
    put(&mut b, B, OUT, 3);
    put(&mut b, A, OUT, 4);
    assert_eq!(waits(&b, A), (false, vec![OUT]));
    assert_eq!(waits(&b, B), (false, vec![]));
    // its packets leave, four of B's stay: A still waits for the queue
    put(&mut b, B, OUT, 4);
    serve(&mut b, OUT, 7);
    assert_eq!(waits(&b, A), (false, vec![OUT]));
    assert_eq!(waits(&b, B), (false, vec![]));
    // 10 packets in all: B is full; 7 in one queue: B fills it most
    put(&mut b, B, OUT2, 6);
    assert_eq!(waits(&b, B), (true, vec![]));
    put(&mut b, B, OUT2, 1);
    assert_eq!(waits(&b, B), (true, vec![OUT2]));
    let other = b.scheme().ingress_waits_for(A, Priority::ALL[5]);
    assert_eq!(other, IngressWait::default(), "not governed");
}
