use super::*;
use crate::config::{Config, MessageKind};
use crate::shared::Prepared;
use weir_core::{LinkId, Ratio};
use weir_net::build::{self, star};

const PORT: PortId = PortId(0);

/// The faults of the switch of a star, whose link 0 is at its first port.
fn faults(specs: &[ControlFault], seed: u64) -> Faults {
    let topology = build::star::build(&star::Params::default()).unwrap();
    let mut config = Config::new(weir_fc::scheme("pfc").unwrap());
    config.faults = specs.to_vec();
    config.seed = seed;
    let prepared = Prepared::new(&topology, &config);
    let shared = Shared::new(&topology, &config, &prepared).unwrap();
    let switch = topology.switches().next().unwrap();
    Faults::new(switch, &shared)
}

fn spec(what: FaultKind, which: FaultPick) -> ControlFault {
    let lose = ControlFault::lose(LinkId(0), Ratio::new(1, 2).unwrap());
    ControlFault { what, which, ..lose }
}

fn frame(quanta: u16) -> ControlMessage {
    ControlMessage::pfc(Priority::ALL[3], quanta)
}

/// Which of so many PAUSEs, a microsecond apart, are dropped.
fn dropped(faults: &mut Faults, frames: u64) -> Vec<u64> {
    let strike = |i: &u64| faults.strike(PORT, &frame(1), Time::from_us(*i)).delay.is_none();
    (0..frames).filter(strike).collect()
}

#[test]
fn the_nth_frame_of_its_kind_in_its_time_is_hit_and_no_other() {
    let nth = spec(FaultKind::Drop, FaultPick::Nth(3));
    assert_eq!(dropped(&mut faults(&[nth], 1), 9), [2]);
    let (from, until) = (Time::from_us(4), Some(Time::from_us(6)));
    assert_eq!(dropped(&mut faults(&[ControlFault { from, ..nth }], 1), 9), [6], "from 4 us on");
    let brief = ControlFault { from, until, ..nth };
    assert!(dropped(&mut faults(&[brief], 1), 9).is_empty(), "only two come");
    let resumes = ControlFault { message: MessageKind::Resume, ..nth };
    assert!(dropped(&mut faults(&[resumes], 1), 9).is_empty(), "these are PAUSEs");
}

#[test]
fn a_share_is_drawn_by_the_seed() {
    let half = spec(FaultKind::Drop, FaultPick::Share(Ratio::new(1, 2).unwrap()));
    let of = |seed| dropped(&mut faults(&[half], seed), 1000);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    // 500 +- 6 standard deviations of sqrt(1000) / 2
    assert!((405..595).contains(&of(1).len()), "{}", of(1).len());
}

#[test]
fn delays_add_up_copies_come_after_and_a_drop_ends_it() {
    let (us, always) = (Time::from_us, FaultPick::Share(Ratio::new(1, 1).unwrap()));
    let late = spec(FaultKind::Delay(us(2)), always);
    let twice = spec(FaultKind::Duplicate(us(5)), always);
    let mut f = faults(&[late, late, twice], 1);
    let effects = f.strike(PORT, &frame(0), us(1));
    assert_eq!(effects, Effects { delay: Some(us(4)), again: vec![us(5)] });
    assert_eq!((f.delayed, f.duplicated), (2, 1));
    let mut f = faults(&[late, spec(FaultKind::Drop, always)], 1);
    assert_eq!(f.strike(PORT, &frame(0), us(1)), Effects::default());
    assert!(!f.strike(PortId(1), &frame(0), us(1)).is_fault(), "another link");
}

/// A prompt copy leaves no state behind that the scheme would have to explain.
#[test]
fn only_frames_that_are_lost_or_late_are_misheard() {
    let always = FaultPick::Share(Ratio::new(1, 1).unwrap());
    let misheard = |what| {
        let mut f = faults(&[spec(what, always)], 1);
        f.strike(PORT, &frame(0), Time::ZERO);
        f.misheard
    };
    let late = Time::from_us(1);
    let kinds = [FaultKind::Duplicate(Time::ZERO), FaultKind::Drop];
    assert_eq!(kinds.map(misheard), [false, true]);
    assert_eq!([FaultKind::Delay(late), FaultKind::Duplicate(late)].map(misheard), [true; 2]);
}

#[test]
fn the_reason_of_a_hold_is_the_last_frame_that_would_have_lifted_it() {
    let mut f = faults(&[], 1);
    let us = Time::from_us;
    let flow = |k, pause| ControlMessage::FlowState {
        pause,
        priority: Priority::ALL[3],
        flow: FlowId::new(NodeId(1), k),
    };
    for (at, message) in [(1, flow(0, false)), (2, flow(1, false)), (3, flow(0, true))] {
        f.note(us(at), PORT, Fate::Dropped, &message);
    }
    let hold = |us| Hold {
        port: PORT,
        priority: Priority::ALL[3],
        queue: QueueId(0),
        since: Some(Time::from_us(us)),
    };
    let reason = |since, k| f.reason(&hold(since), &[FlowId::new(NodeId(1), k)]).map(|f| f.at);
    assert_eq!(reason(0, 0), Some(us(1)), "its own RESUME");
    assert_eq!(reason(0, 7), Some(us(2)), "of another flow, which shares its queue");
    assert_eq!(reason(4, 0), None, "all of them were before it");
    let elsewhere = Hold { port: PortId(1), ..hold(0) };
    assert_eq!(f.reason(&elsewhere, &[]), None);
}
