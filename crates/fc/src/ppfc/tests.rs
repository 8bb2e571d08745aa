//! Both algorithms, condition by condition.

use super::*;
use crate::harness::{Bench, PRIORITY, set};

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
const OUT2: PortId = PortId(2);
const Q: QueueId = QueueId(4);

fn values(options: &[(&Param, &str)]) -> Values {
    set(&[options, &[(&pfc::TIMER, "sticky")]].concat())
}

/// Thresholds 10 and 4 packets of 1000 B, three ports.
fn switch(options: &[(&Param, &str)]) -> Bench<Ppfc> {
    Bench::around(3, "10KB", "4KB", |setup| Ppfc::new(&values(options), setup).unwrap())
}

fn put(b: &mut Bench<Ppfc>, to: PortId, n: u32) {
    for _ in 0..n {
        assert_eq!(b.arrive(b.packet(UP, 1000), to), Q);
    }
}

fn serve(b: &mut Bench<Ppfc>, port: PortId, n: u32) {
    for _ in 0..n {
        b.depart(port, Q).unwrap();
    }
}

fn xoff() -> [(PortId, ControlMessage); 1] {
    [(UP, ControlMessage::pfc(PRIORITY, 65_535))]
}

fn xon() -> [(PortId, ControlMessage); 1] {
    [(UP, ControlMessage::pfc(PRIORITY, 0))]
}

mod average {
    use super::*;

    #[test]
    fn an_egress_longer_than_average_pauses_an_ingress_at_its_floor() {
        let mut b = switch(&[(&INGRESS_FLOOR, "6KB")]);
        put(&mut b, OUT, 5);
        assert_eq!(b.take_sent(), [], "5 KB are below the floor");
        put(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), xoff(), "3 * 6 KB > 6 KB");
    }

    #[test]
    fn an_average_egress_does_not() {
        let mut b = switch(&[(&INGRESS_FLOOR, "6KB")]);
        // three ports of 3 KB each: none is longer than the others
        put(&mut b, UP, 3);
        put(&mut b, OUT2, 3);
        b.take_sent();
        let before = b.scheme().pfc.has_paused(UP, PRIORITY);
        assert!(before, "the sixth packet found OUT2 above the average of 2 KB");
        serve(&mut b, OUT2, 2);
        serve(&mut b, UP, 1);
        assert_eq!(b.take_sent(), xon(), "3 KB left");
        put(&mut b, OUT, 2);
        put(&mut b, OUT2, 1);
        // 2 KB at each of three ports: 3 * 2 KB is not more than the sum
        assert_eq!(b.take_sent(), []);
        put(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), xoff(), "3 * 3 KB > 7 KB");
    }

    #[test]
    fn the_full_threshold_pauses_whatever_the_egress() {
        let mut b = switch(&[(&INGRESS_FLOOR, "20KB")]);
        put(&mut b, OUT, 9);
        assert_eq!(b.take_sent(), []);
        put(&mut b, OUT2, 1);
        assert_eq!(b.take_sent(), xoff());
    }

    #[test]
    fn it_need_not_hear_of_an_ingress_below_its_floor_or_paused_and_above_xon() {
        let interest = |b: &Bench<Ppfc>, p| b.scheme().interest(&b.view().books.mmu, UP, p);
        let quiet = |b: &Bench<Ppfc>| match interest(b, PRIORITY) {
            Interest::Outside(Q, range) => range,
            other => panic!("{other:?}"),
        };
        let kb = Bytes::from_kb;
        let mut b = switch(&[(&INGRESS_FLOOR, "6KB")]);
        assert_eq!(quiet(&b), Bytes::ZERO..kb(6));
        put(&mut b, OUT, 6);
        assert_eq!(quiet(&b), Bytes::new(4001)..Bytes::MAX, "paused");
        serve(&mut b, OUT, 2);
        assert_eq!(quiet(&b), Bytes::ZERO..kb(6), "resumed");
        let b = switch(&[(&INGRESS_FLOOR, "20KB")]);
        assert_eq!(quiet(&b), Bytes::ZERO..kb(10), "xoff comes before the floor");
        let lossy = Priority::ALL[5];
        assert!(matches!(interest(&b, lossy), Interest::Never(_)));
        let b = switch(&[(&MODE, "paper")]);
        assert_eq!(interest(&b, PRIORITY), Interest::Every, "every packet may be sampled");
    }

    #[test]
    fn the_ingress_resumes_at_xon() {
        let mut b = switch(&[(&INGRESS_FLOOR, "6KB")]);
        put(&mut b, OUT, 6);
        b.take_sent();
        serve(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), [], "5 KB");
        serve(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), xon(), "4 KB");
        serve(&mut b, OUT, 4);
        assert_eq!(b.take_sent(), []);
        assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
    }

    #[test]
    fn the_floor_is_the_papers_68_of_75_by_default() {
        let b = Bench::around(1, "75KB", "45KB", |s| Ppfc::new(&Values::new(), s).unwrap());
        assert_eq!(b.scheme().floor, [Bytes::new(68_000)]);
        let levels = [("7500B", "4500B"), ("75KB", "45KB")];
        let mixed = Bench::around_ports(&levels, |s| Ppfc::new(&Values::new(), s).unwrap());
        assert_eq!(mixed.scheme().floor, [Bytes::new(6800), Bytes::new(68_000)]);
        assert_eq!(b.scheme().state_size(), b.scheme().pfc.state_size());
    }
}

mod predict {
    use super::*;

    /// Samples at every event; the horizon is 10 us.
    fn predictive(options: &[(&Param, &str)]) -> Bench<Ppfc> {
        let all: Vec<_> = [(&MODE, "paper"), (&SAMPLE, "1us"), (&HORIZON, "10us")]
            .into_iter()
            .chain(options.iter().copied())
            .collect();
        switch(&all)
    }

    fn trend(b: &Bench<Ppfc>) -> &Trend {
        &b.scheme().trends[PRIORITY.index()]
    }

    fn after(b: &mut Bench<Ppfc>, us: u64) {
        b.now += Time::from_us(us);
    }

    #[test]
    fn the_slope_is_sampled_and_smoothed() {
        let mut b = predictive(&[]);
        after(&mut b, 1);
        put(&mut b, OUT, 1);
        // 1000 B in 1 us are 10^9 B/s; half of it counts
        assert_eq!((trend(&b).slope, trend(&b).bytes), (500_000_000, 1000));
        put(&mut b, OUT, 1);
        assert_eq!(trend(&b).bytes, 1000, "too early for a sample");
        after(&mut b, 2);
        serve(&mut b, OUT, 1);
        // 1000 -> 1000 B: slope 0, smoothed to half
        assert_eq!((trend(&b).slope, trend(&b).at), (250_000_000, Time::from_us(3)));
        after(&mut b, 1);
        serve(&mut b, OUT, 1);
        // -10^9 B/s: 250e6 + (-10^9 - 250e6)/2
        assert_eq!(trend(&b).slope, -375_000_000);
    }

    #[test]
    fn samples_are_at_least_their_distance_apart() {
        let mut b = predictive(&[]);
        after(&mut b, 1);
        put(&mut b, OUT, 1);
        b.now += Time::from_ns(999);
        put(&mut b, OUT, 1);
        assert_eq!((trend(&b).bytes, trend(&b).at), (1000, Time::from_us(1)), "too early");
        b.now += Time::from_ns(1);
        put(&mut b, OUT, 1);
        assert_eq!((trend(&b).bytes, trend(&b).at), (3000, Time::from_us(2)));
        // no distance: every instant is sampled, but no slope is taken over no time
        let mut b = predictive(&[(&SAMPLE, "0ns")]);
        put(&mut b, OUT, 2);
        assert_eq!(trend(&b), &Trend::default());
        b.now += Time::from_ps(1);
        put(&mut b, OUT, 1);
        assert_eq!((trend(&b).bytes, trend(&b).at), (3000, Time::from_ps(1)));
    }

    #[test]
    fn every_ingress_has_its_own_trend() {
        let mut b = predictive(&[(&WEIGHT, "1")]);
        let at = Ppfc::at(OUT2, PRIORITY);
        assert_eq!(at, 2 * 8 + 3);
        after(&mut b, 1);
        put(&mut b, OUT, 1);
        // UP grows by 1000 B/us; OUT2 brings 3000 B a microsecond later: 3000 B in 2 us
        after(&mut b, 1);
        for _ in 0..3 {
            b.arrive(b.packet(OUT2, 1000), OUT);
        }
        assert_eq!(trend(&b).slope, 1_000_000_000);
        assert_eq!(b.scheme().trends[at].slope, 500_000_000, "sampled with its first packet");
        // 3000 B and 500 B/us over 10 us: 8000 B expected, nothing to foresee
        assert_eq!(b.take_sent(), []);
        after(&mut b, 1);
        b.arrive(b.packet(OUT2, 1000), OUT);
        // 4000 - 1000 B in 1 us: 34 000 B expected
        assert_eq!(b.take_sent(), [(OUT2, ControlMessage::pfc(PRIORITY, 65_535))]);
        assert!(b.scheme().trends[at].foreseen && !trend(&b).foreseen);
        after(&mut b, 100);
        serve(&mut b, OUT, 2); // UP's packet and one of OUT2's: -10 B/us, 2900 B expected
        assert_eq!(b.take_sent(), [(OUT2, ControlMessage::pfc(PRIORITY, 0))]);
        assert!(!b.scheme().trends[at].foreseen);
    }

    #[test]
    fn a_growing_queue_is_paused_ahead_of_the_threshold() {
        let mut b = predictive(&[(&WEIGHT, "1")]);
        after(&mut b, 2);
        put(&mut b, OUT, 1);
        // 500 B/us: 1000 + 5000 B expected; below xoff
        assert_eq!(b.take_sent(), []);
        for expected in [6_500, 7_000] {
            after(&mut b, 1);
            b.arrive(b.packet(UP, 500), OUT);
            assert_eq!(trend(&b).expected(trend(&b).bytes, Time::from_us(10)), expected);
            assert_eq!(b.take_sent(), []);
        }
        after(&mut b, 1);
        b.arrive(b.packet(UP, 750), OUT);
        // 2750 B and 750 B/us: 10 250 B expected, and not below the floor of 2 KB
        assert_eq!(b.take_sent(), xoff());
        assert!(trend(&b).foreseen);
    }

    #[test]
    fn a_short_queue_is_not_paused_however_steep() {
        let mut b = predictive(&[(&WEIGHT, "1")]);
        after(&mut b, 1);
        b.arrive(b.packet(UP, 1999), OUT);
        assert_eq!(b.take_sent(), [], "21 989 B expected, but below half of xon");
        b.arrive(b.packet(UP, 1), OUT);
        assert_eq!(b.take_sent(), xoff(), "2000 B");
    }

    #[test]
    fn a_foreseen_pause_ends_when_the_queue_falls_fast_enough() {
        let mut b = predictive(&[(&WEIGHT, "1")]);
        after(&mut b, 1);
        put(&mut b, OUT, 9);
        assert_eq!(b.take_sent(), xoff(), "foreseen with the second packet");
        serve(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), [], "the slope is still that of the last sample");
        after(&mut b, 1);
        serve(&mut b, OUT, 1);
        // 1000 B at the sample, 7000 B now
        assert_eq!(trend(&b).slope, 6_000_000_000);
        assert_eq!(b.take_sent(), []);
        after(&mut b, 10);
        serve(&mut b, OUT, 1);
        // -100 B/us: 6000 - 1000 B expected, above xon
        assert_eq!((trend(&b).slope, b.take_sent()), (-100_000_000, vec![]));
        after(&mut b, 4);
        serve(&mut b, OUT, 1);
        // -250 B/us: 5000 - 2500 B expected
        assert_eq!(b.take_sent(), xon());
        assert!(!trend(&b).foreseen);
    }

    #[test]
    fn a_forced_pause_lasts_until_xon() {
        let mut b = predictive(&[(&WEIGHT, "1")]);
        put(&mut b, OUT, 10);
        assert_eq!(b.take_sent(), xoff(), "full at time zero: no slope yet");
        assert!(!trend(&b).foreseen);
        after(&mut b, 100);
        serve(&mut b, OUT, 1);
        after(&mut b, 1);
        serve(&mut b, OUT, 1);
        assert_eq!(trend(&b).slope, -1_000_000_000, "a foreseen pause would end here");
        serve(&mut b, OUT, 3);
        assert_eq!(b.take_sent(), [], "5 KB");
        serve(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), xon(), "4 KB");
    }

    #[test]
    fn a_foreseen_pause_that_becomes_full_is_forced() {
        let mut b = predictive(&[(&WEIGHT, "1")]);
        after(&mut b, 1);
        put(&mut b, OUT, 2);
        assert!(trend(&b).foreseen);
        put(&mut b, OUT, 8);
        assert!(!trend(&b).foreseen);
        assert_eq!(b.take_sent(), xoff(), "one frame");
        put(&mut b, OUT, 1);
        assert!(!trend(&b).foreseen, "still full");
        serve(&mut b, OUT, 3);
        put(&mut b, OUT, 1);
        assert!(!trend(&b).foreseen, "9 KB and steep, but the pause that stands was forced");
        assert_eq!(b.take_sent(), []);
    }

    #[test]
    fn an_empty_queue_is_resumed_although_its_last_slope_was_steep() {
        let mut b = predictive(&[(&WEIGHT, "1"), (&INGRESS_FLOOR, "0B")]);
        after(&mut b, 1);
        put(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), xoff());
        serve(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), xon());
        assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
    }

    #[test]
    fn a_drained_queue_that_is_about_to_fill_stays_paused() {
        let mut b = predictive(&[(&WEIGHT, "1")]);
        after(&mut b, 1);
        put(&mut b, OUT, 4);
        b.take_sent();
        serve(&mut b, OUT, 1);
        assert_eq!(b.take_sent(), [], "3 KB is below xon, but growing by 1 KB/us");
        serve(&mut b, OUT, 2);
        assert_eq!(b.take_sent(), xon(), "1 KB is below the floor");
    }

    #[test]
    fn the_horizon_is_feedback_latency_and_round_trip_by_default() {
        let b = switch(&[(&MODE, "paper")]);
        let Mode::Predict(rules) = &b.scheme().mode else { panic!("mode = paper") };
        // 2 * 1538 + 84 B at 200 ps, 40 ns of cable, and 40 ns more
        assert_eq!(rules.horizon, [Time::from_ns(632 + 40 + 40); 3]);
        assert_eq!(b.scheme().floor, [Bytes::new(2000); 3]);
        assert_eq!(b.scheme().state_size().tables.last(), Some(&("trends", 3 * 8 * 12)));
    }

    #[test]
    fn a_link_that_recovers_is_paused_at_once_for_what_was_foreseen() {
        let mut b = predictive(&[(&WEIGHT, "1")]);
        after(&mut b, 1);
        put(&mut b, OUT, 2);
        assert_eq!(b.take_sent(), xoff());
        b.link(UP, LinkState::Down);
        assert!(trend(&b).foreseen, "the pause may end early");
        assert_eq!(b.take_sent(), []);
        b.link(UP, LinkState::Up);
        assert_eq!(b.take_sent(), xoff());
        assert!(trend(&b).foreseen);
    }
}

fn refused(options: &[(&Param, &str)], thresholds: &crate::Thresholds) -> Option<String> {
    let mut error = None;
    Bench::around(1, "75KB", "45KB", |setup| {
        let setup = NodeSetup { thresholds, ..setup.clone() };
        error = Ppfc::new(&values(options), &setup).err().map(|e| e.0);
        crate::none::NoFlowControl::new(setup.schedule)
    });
    error
}

#[test]
fn what_cannot_be_is_refused() {
    let pool = crate::Thresholds::Pool;
    assert!(refused(&[], &pool).is_some_and(|e| e.contains("must be given")));
    assert_eq!(refused(&[(&INGRESS_FLOOR, "9KB")], &pool), None);
    assert!(refused(&[(&MODE, "paper")], &pool).is_some_and(|e| e.contains("static")));
    let fixed = crate::Thresholds::uniform(Bytes::new(75_000), Bytes::new(45_000), Bytes::MAX, 1);
    let paper: &[(&Param, &str)] = &[(&MODE, "paper"), (&WEIGHT, "2")];
    assert!(refused(paper, &fixed).is_some_and(|e| e.contains("exceed 1")));
}

#[test]
fn other_priorities_are_plain_and_frames_work_as_in_pfc() {
    for mode in ["ofc", "paper"] {
        let mut b = switch(&[(&MODE, mode)]);
        let p = b.packet(UP, 50_000).priority(Priority::ALL[5]);
        assert_eq!(b.arrive(p, OUT), QueueId(2));
        b.depart(OUT, QueueId(2)).unwrap();
        assert_eq!(b.sent(), []);
        b.control(OUT, &ControlMessage::pfc(PRIORITY, 3));
        assert!(b.is_held(OUT, Q));
        b.link(OUT, LinkState::Up);
        assert!(!b.is_held(OUT, Q));
        put(&mut b, OUT, 10);
        assert_eq!(b.scheme().audit(&b.view(), Network::Drained).unwrap_err().scheme, "ppfc");
    }
    let mut timed = Bench::switch(&INFO, &Values::new(), 2);
    timed.control(OUT, &ControlMessage::pfc(PRIORITY, 3));
    timed.fire_next();
    assert!(!timed.is_held(OUT, Q));
}

#[test]
fn a_nic_only_obeys() {
    for mode in ["ofc", "paper"] {
        let mut b = Bench::around(1, "10KB", "4KB", |setup| {
            let thresholds = crate::Thresholds::Pool;
            let setup = NodeSetup { role: Role::Nic, thresholds: &thresholds, ..setup.clone() };
            Ppfc::new(&values(&[(&MODE, mode)]), &setup).unwrap()
        });
        b.control(UP, &ControlMessage::pfc(PRIORITY, 7));
        assert!(b.is_held(UP, Q));
        let (mut nic, mut a) = (b.scheme().clone(), Actions::new());
        let mut p = b.packet(UP, 1000).0;
        nic.depart(&b.view(), &mut p, PortQueue { port: UP, queue: Q }, &mut a);
        assert!(nic == *b.scheme() && a.is_empty());
    }
}
