//! Every scheme with a refresh: a switch D that pauses, and the switch U above it that is paused.

use super::*;
use crate::harness::{Bench, given};
use crate::{LinkState, SchemeInfo, bfc, capfc, ffc, flowsail, gfc, gpfc, ideal, ofc, pfc, ppfc};
use weir_core::{Priority, QueueId, Rate};

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
const EVERY: Time = Time::from_us(10);

type Params = &'static [(&'static str, &'static str)];

const STICKY: Params = &[("timer", "sticky")];
/// Every scheme whose pauses last until they are lifted.
const ALL: &[(&SchemeInfo, Params)] = &[
    (&pfc::INFO, STICKY),
    (&ppfc::INFO, STICKY),
    (&gpfc::INFO, STICKY),
    (&capfc::INFO, STICKY),
    (&gfc::INFO, &[]),
    (&gfc::INFO, &[("mode", "ofc")]),
    (&gfc::INFO, &[("feedback", "conceptual")]),
    (&ofc::INFO, &[]),
    (&ofc::INFO, &[("flow-key", "pair")]),
    (&ideal::INFO, &[]),
    (&flowsail::INFO, &[]),
    (&ffc::INFO, &[("threshold", "5KB"), ("lane-high", "4KB"), ("lane-low", "2KB")]),
    (
        &ffc::INFO,
        &[("key", "5-tuple"), ("threshold", "5KB"), ("lane-high", "9KB"), ("lane-low", "2KB")],
    ),
];

fn bench(info: &'static SchemeInfo, params: Params, refresh: bool) -> Bench {
    let more: Params = if refresh { &[("refresh", "10us")] } else { &[] };
    let mut b = Bench::switch(info, &given(info, &[params, more].concat()), 2);
    b.links(Rate::from_gbps(40), Time::from_ns(100));
    b.thresholds("20KB", "8KB");
    b
}

/// The frames by which D pauses something of U's, after so many packets that it has to.
fn pauses(d: &mut Bench) -> Vec<ControlMessage> {
    for seq in 0..40 {
        d.arrive(d.packet(UP, 1000).flow(9, 0, 10).seq(seq), OUT);
    }
    let sent = d.take_sent();
    assert!(sent.iter().all(|(port, _)| *port == UP));
    sent.into_iter().map(|(_, message)| message).collect()
}

/// The frames by which D lifts that again, when all packets have left.
fn resumes(d: &mut Bench) -> Vec<ControlMessage> {
    while let Some(q) = d.up_next(OUT).first().copied() {
        if d.depart(OUT, q).is_none() && d.fire_next().is_none() {
            break;
        }
    }
    assert!(!d.holds_packets(), "all have left");
    d.take_sent().into_iter().map(|(_, message)| message).collect()
}

fn hear(u: &mut Bench, frames: &[ControlMessage]) {
    frames.iter().for_each(|m| u.control(OUT, m));
}

/// Whether a queue of the port to D is held, or a rate is limited.
fn is_stopped(u: &Bench) -> bool {
    let queues = u.view().books.ports[OUT.index()].queues.len() as u32;
    (0..queues).any(|q| u.is_held(OUT, QueueId(q))) || !u.limits().is_empty()
}

/// When U goes on by itself.
fn goes_on(u: &mut Bench) -> Option<Time> {
    while is_stopped(u) {
        u.fire_next()?;
    }
    Some(u.now)
}

fn each(check: impl Fn(&mut Bench, &mut Bench, &str)) {
    for (info, params) in ALL {
        let (mut d, mut u) = (bench(info, params, true), bench(info, params, true));
        u.arrive(u.packet(UP, 1000).flow(9, 0, 10), OUT);
        check(&mut d, &mut u, &format!("{} {params:?}", info.name));
    }
}

#[test]
fn a_lost_pause_is_made_good_by_the_next_repetition() {
    each(|d, u, what| {
        assert!(!pauses(d).is_empty(), "{what}");
        // FFC's lanes have timers of their own
        while d.sent().is_empty() {
            d.fire_next().expect(what);
        }
        assert_eq!(d.now, EVERY, "{what}");
        let repeated: Vec<_> = d.take_sent().into_iter().map(|(_, m)| m).collect();
        hear(u, &repeated);
        assert!(is_stopped(u), "{what}: {repeated:?}");
    });
}

#[test]
fn a_pause_whose_resume_is_lost_lapses_after_four_intervals() {
    each(|d, u, what| {
        hear(u, &pauses(d));
        assert!(is_stopped(u), "{what}");
        assert_eq!(goes_on(u), Some(EVERY * 4), "{what}");
    });
}

#[test]
fn a_pause_that_is_repeated_lasts() {
    each(|d, u, what| {
        let frames = pauses(d);
        for _ in 0..10 {
            hear(u, &frames);
            assert!(is_stopped(u), "{what} at {}", u.now);
            u.now += EVERY;
        }
        // heard last at 90 us
        assert_eq!(goes_on(u), Some(EVERY * 13), "{what}");
    });
}

#[test]
fn frames_that_come_twice_change_nothing() {
    each(|d, u, what| {
        let frames = pauses(d);
        hear(u, &frames);
        let timers = u.timers().clone();
        hear(u, &frames);
        assert!(is_stopped(u), "{what}");
        assert_eq!(*u.timers(), timers, "{what}");
        let frames = resumes(d);
        hear(u, &frames);
        assert!(!is_stopped(u), "{what}: {frames:?}");
        let timers = u.timers().clone();
        hear(u, &frames);
        assert!(!is_stopped(u), "{what}");
        assert_eq!(*u.timers(), timers, "{what}");
    });
}

#[test]
fn what_is_resumed_is_not_repeated() {
    each(|d, _, what| {
        pauses(d);
        resumes(d);
        while d.fire_next().is_some() {
            assert!(d.now <= Time::from_us(100), "{what}: {:?}", d.timers());
        }
        assert!(d.sent().is_empty(), "{what}: {:?}", d.sent());
    });
}

#[test]
fn nothing_is_repeated_over_a_link_that_has_failed() {
    each(|d, u, what| {
        hear(u, &pauses(d));
        d.link(UP, LinkState::Down);
        u.link(OUT, LinkState::Down);
        for (b, side) in [(d, "D"), (u, "U")] {
            assert!(b.timers().keys().all(|key| Due::of(*key).is_none()), "{what}, {side}");
        }
    });
}

#[test]
fn without_a_refresh_nothing_is_repeated_and_a_pause_lasts() {
    for (info, params) in ALL {
        let (mut d, mut u) = (bench(info, params, false), bench(info, params, false));
        u.arrive(u.packet(UP, 1000).flow(9, 0, 10), OUT);
        hear(&mut u, &pauses(&mut d));
        assert!(d.timers().keys().all(|key| Due::of(*key).is_none()), "{}", info.name);
        assert_eq!((goes_on(&mut u), lapse(info, &Values::new())), (None, None), "{}", info.name);
    }
}

/// BFC repeats its whole state in bitmaps.
#[test]
fn bitmaps_make_good_what_immediate_frames_of_bfc_lost() {
    let params: Params = &[("frames", "both"), ("period", "2us"), ("hop-rtt", "2us")];
    let make = || {
        let mut b = Bench::switch(&bfc::INFO, &given(&bfc::INFO, params), 2);
        b.links(Rate::from_gbps(40), Time::from_ns(100));
        b
    };
    let (mut d, mut u) = (make(), make());
    for seq in 0..40 {
        d.arrive(d.packet(UP, 1000).flow(9, 0, 10).seq(seq).wire_tag(7), OUT);
    }
    assert!(!d.take_sent().is_empty(), "lost");
    d.fire_next().expect("a bitmap is due");
    let bitmap = d.take_sent().pop().expect("a bitmap").1;
    hear(&mut u, std::slice::from_ref(&bitmap));
    assert!(is_stopped(&u), "{bitmap:?}");
    while let Some(q) = d.up_next(OUT).first().copied() {
        d.depart(OUT, q);
    }
    assert!(!d.take_sent().is_empty(), "lost as well");
    d.fire_next().expect("the next bitmap is due");
    let bitmap = d.take_sent().pop().expect("a bitmap").1;
    hear(&mut u, &[bitmap]);
    assert!(!is_stopped(&u));
}

/// 3000 flows in frames of 64 B take 3000 * 16.8 ns = 50.4 us at 40 Gb/s: they are repeated every
/// 100.8 us, and lapse after 403.2 us.
#[test]
fn more_pauses_than_half_of_the_wire_can_repeat_are_repeated_less_often_and_last_longer() {
    let mut u = bench(&ideal::INFO, &[], true);
    for k in 0..3000 {
        let flow = weir_core::FlowId::new(weir_core::NodeId(9), k);
        let priority = Priority::ALL[3];
        u.control(OUT, &ControlMessage::FlowState { pause: true, priority, flow });
    }
    assert_eq!(goes_on(&mut u), Some(Time::from_ps(403_200_000)));
}

#[test]
fn a_refresh_that_is_faster_than_frames_can_be_sent_is_refused() {
    for (info, params) in ALL {
        let all = [params, &[("refresh", "1ns")] as Params].concat();
        let values = given(info, &all);
        Bench::around(2, "20KB", "8KB", |setup| {
            let error = (info.build)(&values, setup).err().expect(info.name);
            assert!(error.0.contains("refresh is 1 ns"), "{}: {error}", info.name);
            crate::none::NoFlowControl::new(setup.schedule)
        });
    }
}
