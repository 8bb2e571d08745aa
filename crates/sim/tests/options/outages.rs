//! Cases in which links fail: once, twice, at the same time, for good.

use crate::common::set;
use crate::draw::{Case, one_in, one_of};
use std::collections::BTreeSet;
use weir_core::rng::Stream;
use weir_core::{LinkId, NodeId, Time};
use weir_sim::config::{LinkFailure, Stop, WatchdogAction, WatchdogConfig};

/// Readings of OFC under which everything is delivered.
const READINGS: &[(&str, &str)] = &[
    ("urgent-wildcard", "false"),
    ("origin-test", "receipt"),
    ("scope", "port"),
    ("during-drain", "pending"),
];

/// A share of the cases runs under OFC, which has most to resolve when a link fails.
pub(crate) fn case(number: u64) -> Case {
    let mut case = Case::under(number, number.is_multiple_of(4).then_some("ofc"));
    let mut s = Stream::new(number, "failures", 0);
    let links = case.topology.links().len() as u64;
    let mut failures: Vec<LinkFailure> = Vec::new();
    for _ in 0..s.between(1, 4) {
        let again = failures.last().copied().filter(|_| one_in(&mut s, 2));
        let link = again.map_or(LinkId(s.below(links) as u32), |f| f.link);
        let down = match again.and_then(|f| f.up) {
            // soon after it has recovered, or while it is down
            Some(up) if one_in(&mut s, 2) => up + Time::from_ns(s.between(0, 5_000)),
            _ => Time::from_ps(s.between(0, 60_000_000)),
        };
        let longest = one_of(&mut s, &[100, 5_000, 100_000]);
        let up = down + Time::from_ns(s.between(1, longest));
        failures.push(LinkFailure { link, down, up: (!one_in(&mut s, 5)).then_some(up) });
    }
    let cfg = &mut case.config;
    cfg.convergence = one_of(&mut s, &[Time::ZERO, Time::from_us(5), Time::from_us(100)]);
    if one_in(&mut s, 3) {
        cfg.switch.watchdog = Some(WatchdogConfig {
            detect: Time::from_us(s.between(1, 40)),
            restore: Time::from_us(s.between(1, 40)),
            action: one_of(
                &mut s,
                &[WatchdogAction::Drop, WatchdogAction::Forward, WatchdogAction::Alert],
            ),
        });
    }
    if cfg.scheme.info.name == "ofc" && one_in(&mut s, 2) {
        let (name, value) = one_of(&mut s, READINGS);
        set(cfg, name, value);
        case.what += &format!(", {name} = {value}");
    }
    if one_in(&mut s, 8) {
        failures[0].down = Time::ZERO;
    }
    case.what += &format!(
        ", failures {failures:?}, convergence {}, watchdog {:?}",
        cfg.convergence, cfg.switch.watchdog
    );
    cfg.failures = failures;
    // whoever cannot be reached is tried again and again
    let lasting = cfg.failures.iter().any(|f| f.up.is_none());
    cfg.stop = Stop::At(Time::from_ms(if lasting { 60 } else { 400 }));
    case
}

/// Pairs of hosts that no path joins in the end.
pub(crate) fn cut_off(case: &Case, a: NodeId, b: NodeId) -> bool {
    let down = |l: LinkId| case.config.failures.iter().any(|f| f.link == l && f.up.is_none());
    let (mut seen, mut todo) = (BTreeSet::from([a]), vec![a]);
    while let Some(node) = todo.pop() {
        for end in case.topology.ports(node).iter().filter(|end| !down(end.link)) {
            if seen.insert(end.peer) {
                todo.push(end.peer);
            }
        }
    }
    !seen.contains(&b)
}
