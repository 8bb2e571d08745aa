//! The guide's credit scheme in whole networks, without a change to the simulator: an incast, lost
//! frames, links that fail and recover, and the watchdog.

use crate::common::fabrics::{mesh, network};
use crate::common::{DATA, config, flow, run, star};
use crate::credits;
use weir_core::{Bytes, LinkId, Rate, Time};
use weir_fc::Values;
use weir_sim::config::{
    Config, IngressLimit, LinkFailure, Reliability, Scheme, Stop, ThresholdConfig, WatchdogAction,
    WatchdogConfig,
};
use weir_sim::outcome::{DropReason, PauseEvent};
use weir_sim::{Finish, Outcome};

/// The scheme with a limit of 60 KB; the switch takes no more of an ingress than was granted.
fn settings() -> Config {
    let mut cfg = config("pfc");
    cfg.scheme = Scheme { info: &credits::INFO, values: Values::new() };
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::from_kb(75),
        xon: Bytes::from_kb(45),
        limit: IngressLimit::Lossless,
    };
    cfg
}

fn lost(out: &Outcome, reason: DropReason) -> usize {
    out.drops.iter().filter(|d| d.reason == reason).count()
}

#[test]
fn the_second_example_runs_to_its_end() {
    credits::main();
}

/// Without headroom: 60 KB per ingress are all the memory that is ever used.
#[test]
fn an_incast_is_granted_no_more_than_there_is_room_for() {
    let mut cfg = settings();
    cfg.switch.buffer = Bytes::from_kb(8 * 60);
    let flows: Vec<_> = (0..8).map(|h| flow(h, 8, 1_000_000)).collect();
    let out = run(&star(9, "1us"), &flows, &cfg);
    assert_eq!((out.finish.clone(), out.totals.completed), (Finish::Drained, 8));
    assert_eq!(out.totals.dropped, 0);
    let peak = out.switches[0].peak_buffer;
    assert!(peak > Bytes::from_kb(8 * 30) && peak <= Bytes::from_kb(8 * 60), "{peak}");
    // nobody was told to stop, but all senders had to: that is in the counts and in the tree
    let stops: Vec<&PauseEvent> = out.pauses.iter().filter(|e| e.pause).collect();
    for host in 0..8 {
        assert!(stops.iter().any(|e| e.port.index() == host && e.priority == DATA), "{host}");
    }
    let counted: u64 = out.ports.iter().map(|p| p.pauses_sent[DATA.index()]).sum();
    assert_eq!(counted, stops.len() as u64);
}

/// Packets and credits are lost; what they are worth is asked for.
#[test]
fn lost_frames_take_no_credits_with_them() {
    let mut cfg = settings();
    cfg.link.bit_error_rate = 5e-6;
    cfg.nic.reliability = Reliability::SelectiveRepeat;
    cfg.nic.timeout = Some(Time::from_us(500));
    let flows: Vec<_> = (0..4).map(|h| flow(h, 4, 4_000_000)).collect();
    cfg.stop = Stop::At(Time::from_ms(500));
    let out = run(&star(5, "1us"), &flows, &cfg);
    assert_eq!((out.finish.clone(), out.totals.completed), (Finish::Drained, 4));
    // 16 MB cross two links each, at 4e-5 per byte: 1280 frames. The link of a sender loses 160 of
    // them, 240 KB: four times the credits that it has
    assert!(out.totals.dropped > 1000, "{}", out.totals.dropped);
    assert!(out.drops.iter().all(|d| d.reason == DropReason::BitError), "{:?}", out.drops);
}

/// Two links of a leaf-spine network fail in the middle of it all and come back, one twice.
#[test]
fn links_that_fail_and_recover_leave_no_credit_behind() {
    let topology = network(1, Rate::from_gbps(40), Time::from_ns(200));
    let flows = mesh(&topology, 60, 60_000, 150, 3);
    let links = topology.links().len() as u32;
    for first in 0..links {
        let mut cfg = settings();
        cfg.nic.timeout = Some(Time::from_us(500));
        cfg.switch.latency = Time::from_ns(500);
        cfg.stop = Stop::At(Time::from_ms(50));
        let failure = |link: u32, down, up| LinkFailure {
            link: LinkId(link % links),
            down: Time::from_us(down),
            up: Some(Time::from_us(up)),
        };
        cfg.failures =
            vec![failure(first, 20, 60), failure(first, 90, 91), failure(first + 3, 30, 45)];
        cfg.convergence = Time::from_us(5);
        let out = run(&topology, &flows, &cfg);
        assert_eq!(out.finish, Finish::Drained, "link {first}");
        assert_eq!(out.totals.completed, flows.len() as u64, "link {first}");
        assert_eq!(lost(&out, DropReason::HeadroomExceeded), 0, "link {first}");
    }
}

/// An incast: switches on the way wait for credits longer than the watchdog does. What it throws
/// away gives its credit back.
#[test]
fn the_watchdog_may_empty_a_queue_that_has_no_credit() {
    let mut cfg = settings();
    cfg.nic.timeout = Some(Time::from_us(500));
    cfg.switch.watchdog = Some(WatchdogConfig {
        detect: Time::from_us(2),
        restore: Time::from_us(20),
        action: WatchdogAction::Drop,
    });
    let topology = network(1, Rate::from_gbps(40), Time::from_ns(200));
    let last = topology.hosts().len() as u32 - 1;
    let flows: Vec<_> = (0..last).map(|h| flow(h, last, 200_000)).collect();
    cfg.stop = Stop::At(Time::from_ms(50));
    let out = run(&topology, &flows, &cfg);
    assert!(out.totals.watchdog_storms > 0 && out.totals.dropped > 0);
    assert_eq!((out.finish.clone(), out.totals.completed), (Finish::Drained, flows.len() as u64));
}
