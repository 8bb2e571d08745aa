//! Feedback and obedience, condition by condition.

use super::*;
use crate::harness::{Bench, PRIORITY, set};
use weir_core::{Bytes, PrioritySet, Time};

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
const Q: QueueId = QueueId(4);

/// Stages at 8, 12, 14, 15 KB, ... of 16 KB. X_OFF 16 KB, X_ON 4 KB.
fn switch(options: &[(&Param, &str)]) -> Bench<Gfc> {
    let all: Vec<_> =
        [(&B_M, "16KB"), (&B_1, "8KB"), (&B_0, "8KB")].iter().chain(options).copied().collect();
    Bench::around(2, "16KB", "4KB", |setup| Gfc::new(&set(&all), setup).unwrap())
}

fn put(b: &mut Bench<Gfc>, n: u32) {
    for _ in 0..n {
        assert_eq!(b.arrive(b.packet(UP, 1000), OUT), Q);
    }
}

fn serve(b: &mut Bench<Gfc>, n: u32) {
    for _ in 0..n {
        b.depart(OUT, Q).unwrap();
    }
}

fn stage(k: u8) -> ControlMessage {
    let mut stage = [0; 8];
    stage[PRIORITY.index()] = k;
    ControlMessage::Stage { enable: PrioritySet::only(PRIORITY), stage }
}

fn occupancy(units: u16) -> ControlMessage {
    let mut all = [0; 8];
    all[PRIORITY.index()] = units;
    ControlMessage::Occupancy { enable: PrioritySet::only(PRIORITY), units: all }
}

fn told(b: &mut Bench<Gfc>) -> Vec<ControlMessage> {
    b.take_sent()
        .into_iter()
        .map(|(port, m)| {
            assert_eq!(port, UP);
            m
        })
        .collect()
}

fn limit(b: &Bench<Gfc>) -> Option<u64> {
    b.limits().get(&(OUT, PRIORITY)).map(|r| r.as_bps())
}

mod stages {
    use super::*;

    #[test]
    fn a_stage_is_sent_when_it_changes_both_ways() {
        let mut b = switch(&[]);
        put(&mut b, 7);
        assert_eq!(told(&mut b), []);
        put(&mut b, 1);
        assert_eq!(told(&mut b), [stage(1)], "8 KB");
        put(&mut b, 3);
        assert_eq!(told(&mut b), []);
        put(&mut b, 3);
        assert_eq!(told(&mut b), [stage(2), stage(3)], "12 and 14 KB");
        serve(&mut b, 1);
        assert_eq!(told(&mut b), [stage(2)], "13 KB");
        serve(&mut b, 13);
        assert_eq!(told(&mut b), [stage(1), stage(0)]);
        assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
    }

    #[test]
    fn above_the_end_the_last_stage_holds() {
        let mut b = switch(&[]);
        put(&mut b, 30);
        let last = told(&mut b).pop().unwrap();
        assert_eq!(last, stage(23), "40 Gb/s / 2^23 is the first below 8 kb/s");
    }

    #[test]
    fn hysteresis_delays_the_way_down_only() {
        let mut b = switch(&[(&DOWN_HYSTERESIS, "1500B")]);
        put(&mut b, 12);
        assert_eq!(told(&mut b), [stage(1), stage(2)]);
        serve(&mut b, 1);
        assert_eq!(told(&mut b), [], "11 KB is not 1.5 KB below 12 KB");
        serve(&mut b, 1);
        assert_eq!(told(&mut b), [stage(1)], "10 KB is");
        serve(&mut b, 3);
        assert_eq!(told(&mut b), []);
        serve(&mut b, 1);
        assert_eq!(told(&mut b), [stage(0)], "6 KB");
    }

    #[test]
    fn each_ingress_speaks_for_itself_and_other_priorities_not_at_all() {
        let mut b = switch(&[]);
        put(&mut b, 7);
        b.arrive(b.packet(OUT, 1000), UP);
        b.arrive(b.packet(UP, 20_000).priority(Priority::ALL[5]), OUT);
        assert_eq!(b.take_sent(), []);
        b.depart(OUT, QueueId(2)).unwrap();
        assert_eq!(b.take_sent(), []);
    }

    #[test]
    fn a_stage_limits_the_rate_of_its_priority() {
        let mut b = switch(&[]);
        b.control(OUT, &stage(1));
        assert_eq!(limit(&b), Some(20_000_000_000));
        b.control(OUT, &stage(3));
        assert_eq!(limit(&b), Some(5_000_000_000));
        assert!(!b.is_held(OUT, Q));
        assert!(
            b.scheme().audit(&b.view(), Network::Drained).unwrap_err().what.contains("is limited")
        );
        b.control(
            OUT,
            &ControlMessage::Stage { enable: PrioritySet::from_bits(1 << 5), stage: [4; 8] },
        );
        assert_eq!(b.limits().len(), 1, "priority 5 is not lossless");
        b.control(OUT, &stage(0));
        assert_eq!(limit(&b), None);
        b.control(OUT, &ControlMessage::pfc(PRIORITY, 9));
        assert!(!b.is_held(OUT, Q), "not a frame of GFC's");
        assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
    }

    #[test]
    fn a_link_change_lifts_limits_and_the_recovered_neighbour_is_told_at_once() {
        let mut b = switch(&[]);
        put(&mut b, 8);
        b.control(UP, &stage(2));
        assert!(b.scheme().audit(&b.view(), Network::Drained).unwrap_err().what.contains("limits"));
        told(&mut b);
        b.link(UP, LinkState::Down);
        assert!(b.limits().is_empty());
        assert_eq!(told(&mut b), []);
        b.link(UP, LinkState::Up);
        assert_eq!(told(&mut b), [stage(1)]);
    }
}

mod ofc {
    use super::*;

    const STOP: u8 = ControlMessage::STAGE_STOP;

    #[test]
    fn the_rate_is_zero_from_xoff_to_xon() {
        let mut b = switch(&[(&MODE, "ofc")]);
        put(&mut b, 15);
        assert_eq!(told(&mut b), [stage(1), stage(2), stage(3)], "15 KB: a gap below a frame");
        put(&mut b, 1);
        assert_eq!(told(&mut b), [stage(STOP)], "16 KB");
        put(&mut b, 1);
        assert_eq!(told(&mut b), []);
        serve(&mut b, 12);
        assert_eq!(told(&mut b), [], "5 KB: no stage on the way down");
        serve(&mut b, 1);
        assert_eq!(told(&mut b), [stage(0)], "4 KB: full rate");
        put(&mut b, 4);
        assert_eq!(told(&mut b), [stage(1)]);
    }

    #[test]
    fn a_stopped_priority_is_held_and_goes_on_at_the_rate_of_its_stage() {
        let mut b = switch(&[(&MODE, "ofc")]);
        b.control(OUT, &stage(1));
        b.control(OUT, &stage(STOP));
        assert!(b.is_held(OUT, Q));
        assert!(!b.is_held(OUT, QueueId(0)));
        b.control(OUT, &stage(1));
        assert!(!b.is_held(OUT, Q));
        assert_eq!(limit(&b), Some(20_000_000_000));
        b.control(OUT, &stage(STOP));
        b.control(OUT, &stage(0));
        assert!(!b.is_held(OUT, Q));
        assert_eq!(limit(&b), None);
        b.control(OUT, &stage(STOP));
        b.link(OUT, LinkState::Down);
        assert!(!b.is_held(OUT, Q));
    }

    #[test]
    fn it_needs_stages() {
        let mut error = String::new();
        Bench::around(1, "75KB", "45KB", |setup| {
            let v = set(&[(&MODE, "ofc"), (&FEEDBACK, "time")]);
            error = Gfc::new(&v, setup).unwrap_err().0;
            crate::none::NoFlowControl::new(setup.schedule)
        });
        assert!(error.contains("feedback = buffer"));
    }
}

mod occupancy {
    use super::*;

    #[test]
    fn the_conceptual_feedback_tells_every_change_above_b_0() {
        let mut b = switch(&[(&FEEDBACK, "conceptual")]);
        put(&mut b, 8);
        assert_eq!(told(&mut b), [], "8 KB is B_0");
        put(&mut b, 2);
        // 9000 / 64 = 140.6, 10 000 / 64 = 156.25
        assert_eq!(told(&mut b), [occupancy(141), occupancy(157)]);
        serve(&mut b, 2);
        assert_eq!(told(&mut b), [occupancy(141), occupancy(0)]);
        assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
        for _ in 0..100 {
            b.arrive(b.packet(UP, 50_000), OUT);
        }
        assert_eq!(told(&mut b).pop(), Some(occupancy(u16::MAX)), "the field's end");
    }

    #[test]
    fn an_occupancy_sets_the_rate_on_the_line() {
        let mut b = switch(&[(&FEEDBACK, "conceptual")]);
        // 12 000 B would be half way from 8 to 16 KB; 187 units are 11 968 B
        b.control(OUT, &occupancy(187));
        assert_eq!(limit(&b), Some(40_000_000_000 / 8000 * 4032));
        b.control(OUT, &occupancy(300));
        assert_eq!(limit(&b), Some(8_000), "past the end: the lowest rate");
        b.control(OUT, &occupancy(0xff));
        assert_eq!(limit(&b), Some(8_000), "255 units are 16 320 B, no stop");
        assert!(!b.is_held(OUT, Q));
        b.control(OUT, &occupancy(0));
        assert_eq!(limit(&b), None);
    }

    #[test]
    fn a_report_is_not_put_off_by_packets_that_come_before_it() {
        let mut b = switch(&[(&FEEDBACK, "time"), (&PERIOD, "5us")]);
        put(&mut b, 1);
        b.now += Time::from_us(3);
        put(&mut b, 1);
        assert_eq!(b.timers().values().copied().collect::<Vec<_>>(), [Time::from_us(5)]);
        for feedback in ["buffer", "conceptual"] {
            let mut b = switch(&[(&FEEDBACK, feedback)]);
            put(&mut b, 1);
            assert!(b.timers().is_empty(), "{feedback}: told when it changes");
        }
    }

    #[test]
    fn an_audit_asks_only_for_what_must_be_over() {
        let mut b = switch(&[]);
        put(&mut b, 8);
        assert_eq!(b.scheme().audit(&b.view(), Network::InUse), Ok(()));
        let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
        assert!(left.what.contains("port 0 still limits its neighbour"), "{left}");
        let mut b = switch(&[(&FEEDBACK, "time")]);
        put(&mut b, 9);
        b.fire_next();
        assert_eq!(told(&mut b), [occupancy(141)]);
        serve(&mut b, 9);
        assert_eq!(
            b.scheme().audit(&b.view(), Network::Drained),
            Ok(()),
            "the last report is still to come"
        );
    }

    #[test]
    fn periodic_reports_run_while_there_is_something_to_say() {
        let mut b = switch(&[(&FEEDBACK, "time"), (&PERIOD, "5us")]);
        put(&mut b, 8);
        assert_eq!(b.timers().len(), 1);
        b.fire_next();
        assert_eq!((b.now, told(&mut b)), (Time::from_us(5), vec![]), "nothing above B_0");
        put(&mut b, 1);
        assert_eq!(told(&mut b), [], "not before the report is due");
        b.fire_next();
        assert_eq!((b.now, told(&mut b)), (Time::from_us(10), vec![occupancy(141)]));
        b.fire_next();
        assert_eq!(told(&mut b), [occupancy(141)], "every period");
        serve(&mut b, 9);
        assert_eq!(told(&mut b), []);
        b.fire_next();
        assert_eq!(told(&mut b), [occupancy(0)], "the limit is lifted");
        assert!(b.timers().is_empty());
        put(&mut b, 1);
        assert_eq!(b.timers().values().next(), Some(&Time::from_us(25)), "20 us and a period");
        b.link(UP, LinkState::Down);
        put(&mut b, 8);
        assert_eq!(b.timers().len(), 1);
        assert_eq!(told(&mut b), []);
        b.link(UP, LinkState::Up);
        assert_eq!(told(&mut b), [occupancy(141)], "at once, not when the report is due");
        assert_eq!(b.timers().len(), 1);
        assert_eq!(
            b.scheme().audit(&b.view(), Network::Drained),
            Ok(()),
            "a report may be still to come"
        );
    }
}

#[test]
fn a_nic_needs_thresholds_only_to_understand_occupancies() {
    let nic = |options: &[(&Param, &str)]| {
        let mut built = None;
        Bench::around(1, "75KB", "45KB", |setup| {
            let thresholds = crate::Thresholds::Pool;
            let setup = NodeSetup { role: Role::Nic, thresholds: &thresholds, ..setup.clone() };
            built = Some(Gfc::new(&set(options), &setup));
            crate::none::NoFlowControl::new(setup.schedule)
        });
        built.unwrap()
    };
    assert!(nic(&[]).is_ok());
    assert!(nic(&[(&FEEDBACK, "time")]).unwrap_err().0.contains("b-m must be given"));
    let given: &[(&Param, &str)] = &[(&FEEDBACK, "time"), (&B_M, "90KB"), (&B_0, "9KB")];
    assert_eq!(nic(given).unwrap().curves[0].b_0, 9000);
    // a stage needs no thresholds, but it is a part of the port's own rate
    assert_eq!(nic(&[]).unwrap().curves[0].rate_of_stage(1), Some(Rate::from_gbps(20)));
    let mut gfc = nic(&[]).unwrap();
    let b = switch(&[]);
    let (mut a, mut p) = (Actions::new(), b.packet(UP, 60_000).0);
    gfc.depart(&b.view(), &mut p, PortQueue { port: UP, queue: Q }, &mut a);
    gfc.arrive(&b.view(), &mut p, UP, &mut a);
    assert!(a.is_empty());
    gfc.control(&b.view(), UP, &stage(2), &mut a);
    assert_eq!(a.as_slice().len(), 1);
}

#[test]
fn a_switch_without_lossless_priorities_needs_no_thresholds() {
    let mut built = false;
    Bench::around(1, "75KB", "45KB", |setup| {
        let thresholds = crate::Thresholds::Pool;
        let setup =
            NodeSetup { lossless: PrioritySet::EMPTY, thresholds: &thresholds, ..setup.clone() };
        built = Gfc::new(&Values::new(), &setup).is_ok();
        crate::none::NoFlowControl::new(setup.schedule)
    });
    assert!(built);
    let size = switch(&[]).scheme().state_size();
    assert_eq!(size.tables, [("ingress counters", 64)]);
    assert_eq!(switch(&[]).scheme().layout(OUT).queues.len(), 8);
    assert_eq!(Bytes::new(UNIT), Bytes::new(64));
}

/// `ofc` with a hysteresis of 5 KB: stage 1 begins at 8 KB and is left below 3 KB. A stop is not a
/// stage to be left slowly: it ends at X_ON, 4 KB, and then there is no limit.
#[test]
fn a_stop_ends_at_xon_whatever_the_hysteresis() {
    let mut b = switch(&[(&MODE, "ofc"), (&DOWN_HYSTERESIS, "5KB")]);
    put(&mut b, 8);
    assert_eq!(told(&mut b), [stage(1)]);
    serve(&mut b, 5);
    assert_eq!(told(&mut b), [], "3 KB");
    serve(&mut b, 1);
    assert_eq!(told(&mut b), [stage(0)], "2 KB");
    put(&mut b, 14);
    assert_eq!(told(&mut b).last(), Some(&stage(ControlMessage::STAGE_STOP)), "16 KB");
    serve(&mut b, 11);
    assert_eq!(told(&mut b), [], "5 KB");
    serve(&mut b, 1);
    assert_eq!(told(&mut b), [stage(0)], "4 KB");
}

/// 68/75 of nothing is nothing below it.
#[test]
fn an_end_of_zero_asks_for_a_larger_buffer() {
    let mut error = String::new();
    Bench::around(1, "75KB", "45KB", |setup| {
        error = Gfc::new(&set(&[(&MODE, "ofc"), (&B_M, "0B")]), setup).unwrap_err().0;
        crate::none::NoFlowControl::new(setup.schedule)
    });
    assert!(error.contains("give a larger buffer"), "{error}");
}
