//! Control frames that are dropped, delayed or duplicated, and what a run says of it.

#[path = "../common/mod.rs"]
mod common;

use common::{config, flow, run, set, star};
use weir_core::{Bytes, ControlMessage, LinkId, NodeId, Priority, Ratio, Time};
use weir_net::Topology;
use weir_sim::config::{
    ControlFault, EngineConfig, FaultKind, FaultPick, IngressLimit, MessageKind, Reliability,
    ThresholdConfig,
};
use weir_sim::outcome::{DropReason, Fate, Stuck};
use weir_sim::{Config, Finish, Outcome, SimError};
use weir_traffic::FlowSpec;

const P3: Priority = Priority::ALL[3];
/// The switch of a star of four hosts.
const SWITCH: NodeId = NodeId(4);

/// Three hosts send to the first one over a switch that has to pause them.
fn incast(cfg: &mut Config) -> (Topology, Vec<FlowSpec>) {
    // GFC needs room for its stages
    let (xoff, xon) = if cfg.scheme.info.name == "gfc" { (75, 45) } else { (20, 10) };
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::from_kb(xoff),
        xon: Bytes::from_kb(xon),
        limit: IngressLimit::Lossless,
    };
    (star(4, "1us"), (1..4).map(|src| flow(src, 0, 300_000)).collect())
}

fn go(cfg: &mut Config) -> Outcome {
    let (topology, flows) = incast(cfg);
    run(&topology, &flows, cfg)
}

/// On the link of host 1, whose number is that of the link.
fn fault(what: FaultKind, message: MessageKind, which: FaultPick) -> ControlFault {
    let all = ControlFault::lose(LinkId(1), Ratio::new(1, 1).unwrap());
    ControlFault { what, message, which, ..all }
}

fn first_resume() -> ControlFault {
    fault(FaultKind::Drop, MessageKind::Resume, FaultPick::Nth(1))
}

fn sticky(scheme: &str) -> Config {
    let mut cfg = config(scheme);
    set(&mut cfg, "timer", "sticky");
    cfg.faults.push(first_resume());
    cfg
}

fn stalled(out: &Outcome) -> &[Stuck] {
    match &out.finish {
        Finish::Stalled(stuck) => stuck,
        finish => panic!("{finish:?}"),
    }
}

#[test]
fn a_run_that_a_lost_resume_stalls_ends_and_names_the_frame() {
    let mut cfg = sticky("pfc");
    let out = go(&mut cfg);
    let stuck = stalled(&out);
    let lost = stuck.iter().find_map(|s| s.lost.as_ref()).expect("a reason");
    assert_eq!((lost.node, lost.fate), (NodeId(1), Fate::Dropped));
    assert_eq!(lost.message, ControlMessage::pfc(P3, 0));
    assert_eq!(out.faulted, std::slice::from_ref(lost));
    let text = lost.describe(&star(4, "1us"));
    let expected = format!("the RESUME of priority 3 from sw0 to h1 was dropped at {}", lost.at);
    assert_eq!(text, expected);
    assert!(stuck.iter().all(|s| s.node == NodeId(1)), "the others are done: {stuck:?}");
    assert_eq!((out.totals.completed, out.totals.control_dropped), (2, 1));
}

/// A retransmission timer that goes on for ever is no progress. The flow has sent something that is
/// not acknowledged if the PAUSE came before the ACK did.
#[test]
fn timers_that_go_on_do_not_hide_a_lost_resume() {
    for reliability in [Reliability::GoBackN, Reliability::SelectiveRepeat, Reliability::Tcp] {
        let mut cfg = sticky("pfc");
        cfg.nic.reliability = reliability;
        if reliability != Reliability::Tcp {
            cfg.nic.timeout = Some(Time::from_us(300));
        }
        let out = go(&mut cfg);
        assert!(stalled(&out).iter().any(|s| s.lost.is_some()), "{reliability:?}");
        assert!(out.end < Time::from_ms(2000), "{reliability:?}: {}", out.end);
    }
}

#[test]
fn with_a_refresh_the_same_run_ends_well() {
    let fct = |refresh: Option<&str>, lost: bool| {
        let mut cfg = sticky("pfc");
        if let Some(refresh) = refresh {
            set(&mut cfg, "refresh", refresh);
        }
        if !lost {
            cfg.faults.clear();
        }
        let out = go(&mut cfg);
        assert_eq!(out.finish, Finish::Drained);
        out.flows.iter().filter_map(|f| f.fct()).max().expect("done")
    };
    // the lost RESUME costs at most the four intervals after which the pause lapses
    let (whole, harmed) = (fct(None, false), fct(Some("5us"), true));
    assert!(harmed <= whole + Time::from_us(20), "{whole} {harmed}");
}

/// The PAUSE is lost, so the host goes on: 300 000 B come, of which the egress sends a third.
#[test]
fn a_lost_pause_costs_packets_of_a_lossless_priority_and_is_on_record() {
    let mut cfg = sticky("pfc");
    let pauses = fault(FaultKind::Drop, MessageKind::Pause, FaultPick::Nth(1));
    cfg.faults = vec![pauses];
    cfg.nic.timeout = Some(Time::from_us(300));
    let out = go(&mut cfg);
    let drops = out.drops.iter().find(|d| d.reason == DropReason::HeadroomExceeded).expect("some");
    let lost = &out.faulted[0];
    assert_eq!((drops.node, drops.priority), (SWITCH, P3));
    assert!(lost.at < drops.first && lost.message == ControlMessage::pfc(P3, 65_535));
}

/// Frames that take effect twice at the same instant are the same as frames that do so once, under
/// every scheme.
#[test]
fn prompt_duplicates_change_nothing() {
    for scheme in weir_fc::SCHEMES.iter() {
        let mut cfg = config(scheme.name);
        let before = go(&mut cfg);
        let share = FaultPick::Share(Ratio::new(1, 1).unwrap());
        let twice = fault(FaultKind::Duplicate(Time::ZERO), MessageKind::Any, share);
        cfg.faults.extend((0..4).map(|link| ControlFault { link: LinkId(link), ..twice }));
        let after = go(&mut cfg);
        assert_eq!(before.digest, after.digest, "{}", scheme.name);
        let t = &after.totals;
        assert_eq!(t.control_duplicated, t.control_frames, "{}", scheme.name);
        let at_ports: u64 = after.ports.iter().map(|p| p.control_faulted).sum();
        assert_eq!(at_ports, t.control_duplicated, "{}", scheme.name);
        assert!(after.faulted.is_empty());
    }
}

#[test]
fn a_resume_that_comes_late_makes_its_flow_late() {
    let late = Time::from_us(30);
    let mut cfg = sticky("pfc");
    cfg.faults = vec![];
    let flow_1 = |out: &Outcome| {
        out.flows.iter().find(|f| f.src() == NodeId(1)).and_then(|f| f.fct()).expect("done")
    };
    let before = flow_1(&go(&mut cfg));
    let always = FaultPick::Share(Ratio::new(1, 1).unwrap());
    cfg.faults = vec![fault(FaultKind::Delay(late), MessageKind::Resume, always)];
    let out = go(&mut cfg);
    assert_eq!(out.finish, Finish::Drained);
    assert!(flow_1(&out) > before + late / 2, "{before} {}", flow_1(&out));
    assert_eq!(out.totals.control_delayed, out.faulted.len() as u64);
}

#[test]
fn only_frames_towards_the_named_end_are_hit() {
    for (end, hits) in [(NodeId(1), true), (SWITCH, false)] {
        let mut cfg = sticky("pfc");
        cfg.faults[0].towards = Some(end);
        assert_eq!(!go(&mut cfg).faulted.is_empty(), hits, "{end}");
    }
}

#[test]
fn every_engine_hits_the_same_frames() {
    for scheme in weir_fc::SCHEMES.iter() {
        let mut cfg = config(scheme.name);
        let share = FaultPick::Share(Ratio::new(1, 4).unwrap());
        for (link, what) in [
            (1, FaultKind::Drop),
            (2, FaultKind::Delay(Time::from_us(3))),
            (3, FaultKind::Duplicate(Time::from_us(2))),
        ] {
            let fault = fault(what, MessageKind::Any, share);
            cfg.faults.push(ControlFault { link: LinkId(link), ..fault });
        }
        cfg.nic.timeout = Some(Time::from_us(300));
        cfg.stop = weir_sim::config::Stop::At(Time::from_ms(20));
        cfg.engine = EngineConfig::Stepwise;
        // shortcuts spare events
        let go = |cfg: &mut Config| {
            let mut out = go(cfg);
            out.totals.events = 0;
            out
        };
        let reference = go(&mut cfg);
        for engine in [
            EngineConfig::Sequential,
            EngineConfig::Window { threads: 1 },
            EngineConfig::Window { threads: 2 },
        ] {
            for shortcuts in [true, false] {
                (cfg.engine, cfg.shortcuts) = (engine, shortcuts);
                assert!(go(&mut cfg) == reference, "{} {engine:?} {shortcuts}", scheme.name);
            }
        }
    }
}

#[test]
fn a_fault_that_cannot_be_is_refused() {
    let refused = |fault: ControlFault, part: &str| {
        let mut cfg = config("pfc");
        cfg.faults.push(fault);
        let (topology, flows) = incast(&mut cfg);
        let error = common::try_run(&topology, &flows, &cfg).unwrap_err();
        assert!(matches!(error, SimError::Setting { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let drop = first_resume();
    refused(ControlFault { which: FaultPick::Nth(0), ..drop }, "nth");
    let share = FaultPick::Share(Ratio::new(3, 2).unwrap());
    refused(ControlFault { which: share, ..drop }, "share");
    refused(ControlFault { what: FaultKind::Delay(Time::ZERO), ..drop }, "by");
    refused(ControlFault { until: Some(Time::ZERO), ..drop }, "until");
}
