//! Queues that are thrown away, by a failed link or by the watchdog, take order marks with them.
//! The scheme must hear of it, or it waits for them forever; the audit at the end of every run
//! would find that.

use crate::common::{config, flow, run, set};
use weir_core::{Bytes, Time};
use weir_net::build::{self, dumbbell};
use weir_sim::config::{
    IngressLimit, LinkFailure, ThresholdConfig, WatchdogAction, WatchdogConfig,
};
use weir_sim::outcome::DropReason;
use weir_sim::{Config, Finish, Outcome};

/// Seven hosts on the right keep h8 busy; two on the left send to it over the trunk, one to h9.
fn run_dumbbell(cfg: &mut Config) -> Outcome {
    let params = dumbbell::Params { left: 8, right: 8, ..dumbbell::Params::default() };
    let topology = build::dumbbell::build(&params).expect("builds");
    let trunk = topology.links().len() - 1;
    for failure in &mut cfg.failures {
        failure.link = weir_core::LinkId::from_index(trunk);
    }
    cfg.nic.timeout = Some(Time::from_us(500));
    let mut flows = vec![flow(0, 8, 300_000), flow(1, 8, 300_000), flow(2, 9, 300_000)];
    flows.extend((9..16).map(|h| flow(h, 8, 300_000)));
    run(&topology, &flows, cfg)
}

fn scheme(name: &str, params: &[(&str, &str)], xoff: u64) -> Config {
    let mut cfg = config(name);
    let limit = IngressLimit::Unlimited;
    let (xoff, xon) = (Bytes::from_kb(xoff), Bytes::from_kb(xoff / 2));
    cfg.switch.thresholds = ThresholdConfig::Static { xoff, xon, limit };
    for (param, value) in params {
        set(&mut cfg, param, value);
    }
    cfg
}

/// FlowSail with PFC behind it, which pauses whole priorities: only those are watched.
const SAIL: &[(&str, &str)] = &[("queues", "2"), ("hop-rtt", "4us"), ("backstop", "pfc")];

#[test]
fn a_failed_link_takes_marks_with_it() {
    for (name, params) in [("flowsail", SAIL), ("ofc", &[][..])] {
        for at in (10..60).step_by(2) {
            let mut cfg = scheme(name, params, 30);
            let link = weir_core::LinkId::default();
            let up = Some(Time::from_us(at + 100));
            cfg.failures = vec![LinkFailure { link, down: Time::from_us(at), up }];
            let out = run_dumbbell(&mut cfg);
            assert_eq!(out.finish, Finish::Drained, "{name}, {at} us");
            assert_eq!(out.totals.completed, 10, "{name}, {at} us");
            assert!(out.drops.iter().any(|d| d.reason == DropReason::LinkDown));
        }
    }
}

#[test]
fn the_watchdog_takes_marks_with_it() {
    for (name, params) in [("flowsail", SAIL), ("ofc", &[][..])] {
        let mut thrown = 0;
        for detect in 3..12 {
            let mut cfg = scheme(name, params, 10);
            let action = WatchdogAction::Drop;
            let (detect, restore) = (Time::from_us(detect), Time::from_us(20));
            cfg.switch.watchdog = Some(WatchdogConfig { detect, restore, action });
            let out = run_dumbbell(&mut cfg);
            assert_eq!(out.finish, Finish::Drained, "{name}, {detect}");
            assert_eq!(out.totals.completed, 10, "{name}, {detect}");
            thrown += out.drops.iter().filter(|d| d.reason == DropReason::Watchdog).count();
        }
        assert!(thrown > 0, "{name}: nothing was thrown away");
    }
}
