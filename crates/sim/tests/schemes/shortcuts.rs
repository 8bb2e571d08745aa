//! Shortcuts spare work and change nothing: every scheme in every mode, under both engines, on
//! random networks with random settings, gives the same bytes with and without them.

use super::invariants::MODES;
use crate::common::fabrics::{mesh, network};
use crate::common::witness::WITNESS;
use crate::common::{capture_all, config, run, set, try_run};
use proptest::prelude::*;
use weir_cc::{CcKind, CcParams};
use weir_core::{Bytes, LinkId, Priority, Rate, Ratio, Time};
use weir_net::Topology;
use weir_sim::config::{
    EcnConfig, EngineConfig, IngressLimit, LinkFailure, NicDiscipline, Reliability, Stop,
    ThresholdConfig, WatchdogAction, WatchdogConfig,
};
use weir_sim::probe::ProbeInfo;
use weir_sim::{Config, Outcome, SimError};
use weir_traffic::FlowSpec;

/// Runs with and without shortcuts and probes and compares everything but the number of events:
/// what is spared may be an event.
fn same_without(topology: &Topology, flows: &[FlowSpec], cfg: &Config) -> Option<Outcome> {
    let outcome = |engine, shortcuts, probes: &[ProbeInfo]| {
        let mut cfg = Config { engine, shortcuts, ..cfg.clone() };
        cfg.probes.own = probes.to_vec();
        cfg.probes.capture = (!probes.is_empty()).then(|| capture_all(topology));
        let mut out = match try_run(topology, flows, &cfg) {
            // a scheme need not go with every way to divide memory
            Err(SimError::Scheme { .. }) => return None,
            out => out.unwrap_or_else(|e| panic!("{engine:?}, shortcuts: {shortcuts}: {e}")),
        };
        out.totals.events = 0;
        Some(out)
    };
    let plain = outcome(EngineConfig::Sequential, false, &[])?;
    let window = |threads| EngineConfig::Window { threads };
    for (engine, shortcuts) in [
        (EngineConfig::Sequential, true),
        (window(1), false),
        (window(1), true),
        (window(2), false),
        (window(2), true),
    ] {
        let out = outcome(engine, shortcuts, &[])?;
        assert_eq!(out.digest, plain.digest, "{engine:?}, shortcuts: {shortcuts}");
        assert!(out == plain, "{engine:?}, shortcuts: {shortcuts}: {}", difference(&out, &plain));
    }
    // A probe that hears of packets turns shortcuts off in switches, and changes nothing either; a
    // capture of all ports is such a probe.
    let mut watched = [EngineConfig::Sequential, window(2)]
        .map(|engine| outcome(engine, true, &[WITNESS]).expect("it ran without a probe"));
    let tables = watched.each_mut().map(|out| std::mem::take(&mut out.measurements));
    assert_eq!(tables[0], tables[1], "what a probe hears does not depend on the engine");
    let frames = watched.each_mut().map(|out| std::mem::take(&mut out.captured));
    assert!(frames[0] == frames[1], "captures do not depend on the engine");
    let hops = plain.totals.packet_hops + plain.ports.iter().map(|p| p.packets).sum::<u64>();
    assert_eq!(frames[0].len() as u64, hops, "each packet goes out and comes in");
    for out in &watched {
        assert!(*out == plain, "with a probe: {}", difference(out, &plain));
    }
    Some(plain)
}

/// The first field in which two outcomes differ.
fn difference(a: &Outcome, b: &Outcome) -> String {
    let (a, b) = (format!("{a:#?}"), format!("{b:#?}"));
    let lines = a.lines().zip(b.lines()).enumerate();
    let found = lines.into_iter().find(|(_, (a, b))| a != b);
    found.map_or("length".into(), |(i, (x, y))| {
        let context: Vec<&str> = b.lines().skip(i.saturating_sub(12)).take(12).collect();
        format!("{x} instead of {y} after\n{}", context.join("\n"))
    })
}

/// A mode of a scheme.
fn settings(scheme: &str, mode: &[(&str, &str)]) -> Config {
    let mut cfg = config(scheme);
    for (name, value) in mode {
        set(&mut cfg, name, value);
    }
    cfg.nic.timeout = Some(Time::from_us(500));
    cfg.stop = Stop::At(Time::from_ms(5));
    // GFC needs room between the length at which it begins and XOFF
    cfg.switch.thresholds = thresholds(0, if scheme == "gfc" { 250_000 } else { 20_000 });
    cfg
}

/// Three ways to divide memory.
fn thresholds(which: u32, xoff: u64) -> ThresholdConfig {
    match which {
        0 => ThresholdConfig::Static {
            xoff: Bytes::new(xoff),
            xon: Bytes::new(xoff * 6 / 10),
            limit: IngressLimit::Unlimited,
        },
        1 => ThresholdConfig::Dynamic {
            shift: 3,
            reserve: Bytes::new(1000),
            resume_offset: Bytes::new(3000),
            headroom: None,
        },
        _ => ThresholdConfig::Pool,
    }
}

/// Priorities that share ports: data of the lossless one, of lossy ones above and below.
fn mixed(flows: Vec<FlowSpec>) -> Vec<FlowSpec> {
    let priority = |i: usize| Priority::ALL[[3, 3, 5, 3, 1, 3, 0][i % 7]];
    let mark = |(i, f)| FlowSpec { priority: priority(i), high: i % 3 == 0, ..f };
    flows.into_iter().enumerate().map(mark).collect()
}

#[test]
fn every_mode_of_every_scheme_is_the_same_without_shortcuts() {
    let topology = network(1, Rate::from_gbps(40), Time::from_ns(200));
    let flows = mixed(mesh(&topology, 60, 60_000, 150, 3));
    let mut paused = 0;
    for (scheme, modes) in MODES {
        for mode in *modes {
            let out = same_without(&topology, &flows, &settings(scheme, mode));
            let out = out.unwrap_or_else(|| panic!("{scheme} {mode:?} does not build"));
            paused += u64::from(out.totals.control_frames > 0);
        }
    }
    assert!(paused > 30, "most modes have something to say: {paused}");
}

/// The flag does something: without shortcuts there is more to do.
#[test]
fn shortcuts_spare_events() {
    let topology = network(0, Rate::from_gbps(100), Time::from_us(1));
    let flows = mesh(&topology, 40, 50_000, 300, 1);
    let events =
        |shortcuts| run(&topology, &flows, &Config { shortcuts, ..config("pfc") }).totals.events;
    assert!(events(true) * 20 < events(false) * 19, "{} {}", events(true), events(false));
}

/// What is drawn beside scheme, network and flows.
#[derive(Clone, Debug)]
struct Extra {
    latency_ns: u64,
    response_ns: u64,
    bit_errors: bool,
    thresholds: u32,
    xoff: u64,
    buffer: Option<u64>,
    weights: Option<[u32; 8]>,
    ecn: bool,
    cc: CcKind,
    watchdog: Option<WatchdogAction>,
    failure: Option<(u32, u64, u64)>,
    fifo: bool,
    selective: bool,
}

prop_compose! {
    fn extra()(
        latency_ns in prop::sample::select(vec![0u64, 0, 0, 300]),
        response_ns in prop::sample::select(vec![0u64, 0, 400]),
        bit_errors in prop::bool::weighted(0.2),
        thresholds in 0u32..3,
        xoff in 4_000u64..60_000,
        buffer in prop::option::weighted(0.3, 30_000u64..400_000),
        weights in prop::option::weighted(0.3, prop::array::uniform8(0u32..4)),
        ecn in any::<bool>(),
        cc in prop::sample::select(CcKind::ALL.to_vec()),
        watchdog in prop::option::weighted(0.3, prop::sample::select(vec![
            WatchdogAction::Drop, WatchdogAction::Forward, WatchdogAction::Alert,
        ])),
        failure in prop::option::weighted(0.3, (any::<u32>(), 1u64..40, 1u64..60)),
        fifo in prop::bool::weighted(0.2),
        selective in prop::bool::weighted(0.2),
    ) -> Extra {
        Extra {
            latency_ns, response_ns, bit_errors, thresholds, xoff, buffer, weights, ecn, cc,
            watchdog, failure, fifo, selective,
        }
    }
}

impl Extra {
    fn apply(&self, cfg: &mut Config, topology: &Topology) {
        cfg.switch.latency = Time::from_ns(self.latency_ns);
        cfg.link.response = Time::from_ns(self.response_ns).into();
        cfg.link.bit_error_rate = if self.bit_errors { 1e-7 } else { 0.0 };
        cfg.switch.thresholds = thresholds(self.thresholds, self.xoff);
        cfg.switch.buffer = match self.buffer {
            Some(buffer) => Bytes::new(buffer),
            // dynamic thresholds need an end
            None if self.thresholds == 1 => Bytes::new(1_000_000),
            None => Bytes::MAX,
        };
        if let Some(weights) = self.weights {
            cfg.switch.schedule.weights = weights;
            cfg.switch.schedule.quantum = Bytes::new(700);
        }
        cfg.switch.ecn = self.ecn.then(|| EcnConfig {
            kmin: Bytes::from_kb(5),
            kmax: Bytes::from_kb(50),
            pmax: Ratio::new(1, 5).unwrap(),
        });
        cfg.cc = CcParams::new(self.cc);
        cfg.switch.watchdog = self.watchdog.map(|action| WatchdogConfig {
            detect: Time::from_us(15),
            restore: Time::from_us(10),
            action,
        });
        if let Some((link, down, lasts)) = self.failure {
            let link = LinkId(link % topology.links().len() as u32);
            let down = Time::from_us(down);
            cfg.failures.push(LinkFailure { link, down, up: Some(down + Time::from_us(lasts)) });
            cfg.convergence = Time::from_us(3);
        }
        if self.fifo {
            cfg.nic.discipline = NicDiscipline::Fifo;
        }
        if self.selective {
            cfg.nic.reliability = Reliability::SelectiveRepeat;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn random_networks_are_the_same_without_shortcuts(
        scheme in 0..MODES.len(),
        mode in any::<usize>(),
        fabric in 0u32..6,
        gbps in prop::sample::select(vec![10u64, 40, 100]),
        delay_ns in prop::sample::select(vec![5u64, 20, 200, 1000]),
        flows in 1u32..50,
        size in 1u64..80_000,
        gap_ns in prop::sample::select(vec![0u64, 100, 1000]),
        seed in any::<u64>(),
        extra in extra(),
    ) {
        let (name, modes) = MODES[scheme];
        let topology = network(fabric, Rate::from_gbps(gbps), Time::from_ns(delay_ns));
        let mut cfg = settings(name, modes[mode % modes.len()]);
        cfg.seed = seed;
        extra.apply(&mut cfg, &topology);
        if name == "gfc" {
            cfg.switch.thresholds = thresholds(extra.thresholds, 150_000 + extra.xoff);
        }
        same_without(&topology, &mixed(mesh(&topology, flows, size, gap_ns, seed)), &cfg);
    }
}
