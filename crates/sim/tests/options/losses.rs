//! Cases in which control frames are lost, late or effective twice.

use crate::common::{set, try_run};
use crate::draw::{Case, one_in, one_of};
use weir_core::rng::Stream;
use weir_core::{LinkId, Ratio, Time};
use weir_fc::Values;
use weir_sim::SimError;
use weir_sim::config::{
    ControlFault, FaultKind, FaultPick, MessageKind, Reliability, Scheme, Stop, ThresholdConfig,
    WatchdogConfig,
};

/// Whether pauses are refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refresh {
    On,
    Off,
}

/// Schemes whose pauses expire by themselves unless they are sticky.
const TIMED: [&str; 4] = ["pfc", "ppfc", "gpfc", "capfc"];

/// A case under a scheme that supports its settings, on a network without circles, with hosts that
/// repeat what is lost, of which every link loses a share of its control frames: one in a hundred,
/// or in every other case one in four, because small runs have few.
pub(crate) fn case(number: u64, scheme: &'static str, refresh: Refresh) -> Case {
    let draw = |again: u64| draw(number + (again << 32), scheme, refresh);
    let is_supported = |case: &Case| {
        let idle = try_run(&case.topology, &[], &case.config);
        !case.circular && !matches!(idle, Err(SimError::Scheme { .. }))
    };
    (0..100).map(draw).find(is_supported).expect("most are supported")
}

fn draw(number: u64, scheme: &'static str, refresh: Refresh) -> Case {
    let share = if number.is_multiple_of(2) { Ratio::new(1, 100) } else { Ratio::new(1, 4) };
    let share = share.expect("not over zero");
    let mut case = Case::under(number, Some(scheme));
    let cfg = &mut case.config;
    cfg.link.bit_error_rate = 0.0;
    cfg.switch.pipeline = None;
    if cfg.nic.reliability != Reliability::Tcp {
        cfg.nic.timeout.get_or_insert(Time::from_us(300));
    }
    if TIMED.contains(&scheme) {
        set(cfg, "timer", "sticky");
    }
    match (refresh, scheme) {
        (Refresh::Off, _) | (_, "none") => {}
        (Refresh::On, "bfc") => set(cfg, "frames", "both"),
        (Refresh::On, _) => set(cfg, "refresh", "50us"),
    }
    let links = (0..case.topology.links().len() as u32).map(LinkId);
    cfg.faults = links.map(|link| ControlFault::lose(link, share)).collect();
    cfg.stop = Stop::At(Time::from_ms(2000));
    case.what += &format!(", {share} of control frames lost, refresh {refresh:?}");
    case
}

/// A case of the first sample with faults of any kind on some links, and perhaps a refresh.
pub(crate) fn any(number: u64) -> Case {
    let mut case = Case::new(number);
    let mut s = Stream::new(number, "faults", 0);
    let cfg = &mut case.config;
    let links = case.topology.links();
    for _ in 0..s.between(1, 4) {
        let link = LinkId(s.below(links.len() as u64) as u32);
        let ends = [links[link.index()].a.0, links[link.index()].b.0];
        let by = Time::from_ns(s.between(1, 200_000));
        let from = one_of(&mut s, &[Time::ZERO, Time::from_us(5)]);
        cfg.faults.push(ControlFault {
            link,
            towards: if one_in(&mut s, 2) { None } else { Some(one_of(&mut s, &ends)) },
            message: one_of(&mut s, &MessageKind::ALL),
            what: match s.below(4) {
                0 => FaultKind::Delay(by),
                1 => FaultKind::Duplicate(one_of(&mut s, &[Time::ZERO, by])),
                _ => FaultKind::Drop,
            },
            which: match s.below(2) {
                0 => FaultPick::Nth(s.between(1, 5)),
                _ => FaultPick::Share(Ratio::new(s.between(1, 10) as u32, 10).expect("not over 0")),
            },
            from,
            until: one_in(&mut s, 3).then(|| from + Time::from_ns(s.between(1, 100_000))),
        });
    }
    if one_in(&mut s, 10) {
        let info = one_of(&mut s, &[&crate::door::INFO, &crate::credits::INFO]);
        cfg.scheme = Scheme { info, values: Values::new() };
        cfg.switch.thresholds = ThresholdConfig::Pool;
        cfg.switch.pipeline = None;
        case.what += &format!(", but {}", info.name);
    }
    if one_in(&mut s, 2) && cfg.scheme.info.params.iter().any(|p| p.name == "refresh") {
        set(cfg, "refresh", one_of(&mut s, &["7us", "50us", "300us"]));
        case.what += ", refreshed";
    }
    if one_in(&mut s, 8) {
        let action = one_of(
            &mut s,
            &[weir_sim::config::WatchdogAction::Forward, weir_sim::config::WatchdogAction::Drop],
        );
        let detect = Time::from_us(s.between(20, 200));
        cfg.switch.watchdog = Some(WatchdogConfig { detect, restore: detect, action });
        case.what += ", a watchdog";
    }
    case.what += &format!(", faults {:?}", cfg.faults);
    case
}
