//! Draws one case: a small network, its flows, and every option at random.

use crate::common::witness::WITNESS;
use crate::common::{capture_all, config, flow, set};
use std::num::NonZeroU32;
use weir_cc::tcp::{EcnMode, Handshake};
use weir_cc::{CcKind, CcParams};
use weir_core::rng::Stream;
use weir_core::{Bytes, PortId, Priority, PrioritySet, Rate, Ratio, Response, Time};
use weir_fc::{Cell, EgressShare, EgressThresholds, OnFull, PrioritySchedule, StageLimits};
use weir_net::Topology;
use weir_net::build::{self, dumbbell, leaf_spine, ring, star};
use weir_sim::Config;
use weir_sim::config::{
    Balance, DelayAt, EcnAt, EcnConfig, IngressLimit, NicDiscipline, PipelineConfig, Reliability,
    SlowReceiver, Stop, ThresholdConfig, WindowConfig,
};
use weir_sim::outcome::FlowRecord;
use weir_sim::probe::RecordConfig;
use weir_traffic::{FlowSpec, WhileHeld};

/// Parameters of a scheme and their values.
type Mode = &'static [(&'static str, &'static str)];

/// Modes in which a scheme differs at its hosts or keeps a second mechanism behind it.
const MODES: &[(&str, Mode)] = &[
    ("pfc", &[("timer", "sticky")]),
    ("gfc", &[("mode", "ofc")]),
    ("gfc", &[("feedback", "time")]),
    ("ppfc", &[("mode", "paper")]),
    ("ofc", &[("flow-key", "flow")]),
    ("ofc", &[("flow-key", "pair")]),
    ("bfc", &[("queues", "2")]),
    ("bfc", &[("queues", "4"), ("frames", "both")]),
    ("bfc", &[("backstop", "pfc"), ("queues", "4")]),
    ("ideal", &[("resume", "marks")]),
    ("ideal", &[("backstop", "pfc")]),
    ("flowsail", &[("queues", "2")]),
    ("flowsail", &[("backstop", "pfc"), ("queues", "3")]),
    ("ffc", &[("threshold", "8KB"), ("lane-high", "4KB"), ("lane-low", "2KB")]),
    ("ffc", &[("backstop", "pfc")]),
];

/// One case, the same for the same number.
pub(crate) struct Case {
    pub(crate) topology: Topology,
    /// Its links form a circle, in which packets can wait for each other forever.
    pub(crate) circular: bool,
    pub(crate) flows: Vec<FlowSpec>,
    pub(crate) config: Config,
    /// The combination in a few words.
    pub(crate) what: String,
}

pub(crate) fn one_of<T: Copy>(s: &mut Stream, all: &[T]) -> T {
    all[s.below(all.len() as u64) as usize]
}

pub(crate) fn one_in(s: &mut Stream, n: u64) -> bool {
    s.below(n) == 0
}

impl Case {
    pub(crate) fn new(number: u64) -> Self {
        Self::under(number, None)
    }

    /// The case with this scheme instead of one drawn at random.
    pub(crate) fn under(number: u64, scheme: Option<&'static str>) -> Self {
        let mut s = Stream::new(number, "options", 0);
        let drawn = one_of(&mut s, &weir_fc::SCHEMES).name;
        let scheme = scheme.unwrap_or(drawn);
        let rate = Rate::from_gbps(one_of(&mut s, &[3, 10, 40, 100]));
        let delay = Time::from_ns(s.between(1, 2000));
        let speeds = Speeds::draw(number, rate);
        let (topology, shape) = network(&mut s, rate, speeds.trunk, delay);
        let mut cfg = config(scheme);
        cfg.seed = number;
        let mut what = vec![scheme.to_owned(), shape.to_owned()];
        let modes: Vec<Mode> =
            MODES.iter().filter(|(name, _)| *name == scheme).map(|(_, mode)| *mode).collect();
        if !modes.is_empty() && one_in(&mut s, 2) {
            let mode = one_of(&mut s, &modes);
            mode.iter().for_each(|(name, value)| set(&mut cfg, name, value));
            what.push(format!("{mode:?}"));
        }
        switches(&mut s, &mut cfg, &mut what);
        speeds.apply(&mut cfg, &mut what);
        memory(number, &mut cfg, &mut what);
        pipeline(&mut s, &mut cfg, &mut what);
        egress(number, &mut cfg, &mut what);
        cells(number, &mut cfg, &mut what);
        balance(&mut s, &mut cfg, &mut what);
        hosts(&mut s, &mut cfg, &mut what);
        let flows = flows(&mut s, &topology, rate, &cfg);
        slow_receivers(number, &topology, &mut cfg, &mut what);
        cfg.stop = Stop::At(Time::from_ms(2000));
        if number % 4 == 1 {
            cfg.probes.own.push(WITNESS);
            what.push("a probe".into());
        }
        if number % 4 == 3 {
            cfg.probes.capture = Some(capture_all(&topology));
            what.push("a capture".into());
        }
        // blame does not follow data into hosts that take it in slowly
        if number % 4 == 2 && cfg.receivers.is_empty() {
            cfg.probes.blame = true;
            what.push("blame".into());
        }
        if number % 5 < 2 {
            let rows = if number.is_multiple_of(5) { 100 } else { 1_000_000 };
            cfg.probes.record = Some(RecordConfig { window: Time::from_ns(900), rows });
            what.push("a recording".into());
        }
        let what = format!("case {number}: {}", what.join(", "));
        Self { topology, circular: shape == "ring", flows, config: cfg, what }
    }

    /// Whether a flow may use several trunks at a time that are slower than its host's link: it is
    /// faster then than alone on any one path. Where routes change after a failure or recovery,
    /// what is queued on the old path leaves while the new one takes more.
    pub(crate) fn spreads_over_slow_trunks(&self) -> bool {
        let rates = || self.topology.links().iter().map(|l| l.rate);
        let several = !self.config.balance.keeps_order() || !self.config.failures.is_empty();
        several && rates().min() < Some(self.host_rate())
    }

    fn host_rate(&self) -> Rate {
        self.topology.rate(self.topology.hosts()[0], PortId(0))
    }

    /// How long a host's link takes for the payload of a flow.
    pub(crate) fn on_first_link(&self, f: &FlowRecord) -> Time {
        if f.size == Bytes::MAX { Time::ZERO } else { self.host_rate().time_for(f.size) }
    }

    /// How long the slowest link takes for the last packet of a flow.
    pub(crate) fn last_frame(&self, f: &FlowRecord) -> Time {
        let nic = &self.config.nic;
        let last = (f.size.get().max(1) - 1) % nic.payload.get() + 1;
        let bytes = Bytes::new(last) + nic.header + self.config.link.overhead;
        let slowest = self.topology.links().iter().map(|l| l.rate).min();
        slowest.expect("a network has links").time_for(bytes)
    }
}

/// One case in six has thresholds that follow the speed of ports, and trunks of another speed where
/// there are trunks. It is drawn apart: the other options of a case do not depend on it.
struct Speeds {
    trunk: Rate,
    thresholds: Option<ThresholdConfig>,
}

impl Speeds {
    fn draw(number: u64, rate: Rate) -> Self {
        let mut s = Stream::new(number, "speeds", 0);
        if !one_in(&mut s, 6) {
            return Self { trunk: rate, thresholds: None };
        }
        let (times, part) = one_of(&mut s, &[(1, 1), (4, 1), (10, 1), (1, 2), (1, 4)]);
        let xoff = s.between(6_000, 80_000);
        let xon = Bytes::new(xoff * s.between(10, 85) / 100);
        let thresholds = ThresholdConfig::PerSpeed { xoff: Bytes::new(xoff), xon, per: rate };
        let trunk = Rate::from_bps(rate.as_bps() * times / part);
        Self { trunk, thresholds: Some(thresholds) }
    }

    fn apply(&self, cfg: &mut Config, what: &mut Vec<String>) {
        if let Some(thresholds) = self.thresholds {
            cfg.switch.thresholds = thresholds;
            what.push(format!("thresholds by speed, trunks of {}", self.trunk));
        }
    }
}

/// One case in five responds as the standard allows, and one in eight has dynamic thresholds, with
/// alpha on both sides of 1. Drawn apart, too.
fn memory(number: u64, cfg: &mut Config, what: &mut Vec<String>) {
    let mut s = Stream::new(number, "memory", 0);
    if one_in(&mut s, 5) {
        cfg.link.response = Response::Standard;
        what.push("response by the standard".into());
    }
    if one_in(&mut s, 8) {
        let shift = one_of(&mut s, &[-7, -3, -1, 0, 1, 3, 8]);
        cfg.switch.buffer = Bytes::new(s.between(1_000_000, 6_000_000));
        cfg.switch.thresholds = ThresholdConfig::Dynamic {
            shift,
            reserve: Bytes::new(s.between(0, 4096)),
            resume_offset: Bytes::new(s.between(0, 3072)),
            headroom: None,
        };
        what.push(format!("alpha 2^{}, buffer {}", -shift, cfg.switch.buffer));
        if one_in(&mut s, 2) {
            cfg.switch.headroom_pool = Some(Bytes::new(s.between(0, 400_000)));
            what.push(format!("headroom pool {:?}", cfg.switch.headroom_pool));
        }
    }
}

/// In one case of six with shared memory, egress queues have thresholds. Drawn apart, too.
fn egress(number: u64, cfg: &mut Config, what: &mut Vec<String>) {
    let mut s = Stream::new(number, "egress", 0);
    if !one_in(&mut s, 6) || cfg.switch.pipeline.is_some() {
        return;
    }
    let frame = 2_000;
    let limit = Bytes::new(frame + s.below(60_000));
    let shift: i8 = one_of(&mut s, &[-7, -1, 0, 1, 3, 8]);
    // a share of all of it holds a frame
    let least = frame << shift.max(0);
    let share = EgressShare { shift, pool: Bytes::new(least + s.below(300_000)) };
    let lossless = Bytes::new(frame + s.below(100_000));
    let egress = EgressThresholds {
        limit: if one_in(&mut s, 2) { limit } else { Bytes::MAX },
        lossless: if one_in(&mut s, 3) { lossless } else { Bytes::MAX },
        share: one_in(&mut s, 2).then_some(share),
    };
    cfg.switch.egress = Some(egress);
    what.push(format!("{egress:?}"));
}

/// In one case of six with shared memory, that is counted in cells. Drawn apart, too.
fn cells(number: u64, cfg: &mut Config, what: &mut Vec<String>) {
    let mut s = Stream::new(number, "cells", 0);
    if !one_in(&mut s, 6) || cfg.switch.pipeline.is_some() {
        return;
    }
    let bytes = one_of(&mut s, &[1, 80, 144, 208, 254, 420, 1519, 5000]);
    cfg.switch.cell = Cell::new(Bytes::new(bytes));
    what.push(format!("cells of {bytes} B"));
}

/// In one case of eight a host or two take data in slowly, for a time or again and again. Drawn
/// apart, too.
fn slow_receivers(number: u64, topology: &Topology, cfg: &mut Config, what: &mut Vec<String>) {
    let mut s = Stream::new(number, "slow-receivers", 0);
    if !one_in(&mut s, 8) {
        return;
    }
    let hosts = topology.hosts();
    for i in 0..s.between(1, 2) {
        // most flows go to the first host
        let host = hosts[if i == 0 { 0 } else { s.between(1, hosts.len() as u64 - 1) as usize }];
        let from = Time::from_ns(s.below(30_000));
        let lasts = Time::from_ns(s.between(1, 300_000));
        let xoff = s.between(2_000, 60_000);
        cfg.receivers.push(SlowReceiver {
            host,
            rate: Rate::from_bps(one_of(&mut s, &[0, 0, 1, 5, 50]) * 1_000_000_000),
            from,
            to: Some(from + lasts),
            every: one_in(&mut s, 3).then(|| lasts + Time::from_ns(s.between(20_000, 200_000))),
            buffer: Bytes::new(xoff + s.between(0, 60_000)),
            xoff: Bytes::new(xoff),
            xon: Bytes::new(xoff * s.below(90) / 100),
            prevention: one_in(&mut s, 3).then(|| Time::from_ns(s.between(1, 100_000))),
        });
    }
    what.push(format!("slow {:?}", cfg.receivers));
}

fn network(s: &mut Stream, rate: Rate, trunk: Rate, delay: Time) -> (Topology, &'static str) {
    let shape = one_of(s, &["star", "star", "dumbbell", "dumbbell", "leaf-spine", "ring"]);
    let topology = match shape {
        "star" => build::star::build(&star::Params { hosts: s.between(3, 6) as u32, rate, delay }),
        "dumbbell" => build::dumbbell::build(&dumbbell::Params {
            left: s.between(2, 4) as u32,
            right: s.between(2, 4) as u32,
            trunks: s.between(1, 2) as u32,
            rate,
            delay,
            trunk_rate: trunk,
            trunk_delay: delay,
        }),
        "leaf-spine" => build::leaf_spine::build(&leaf_spine::Params {
            leaves: 2,
            spines: 2,
            hosts_per_leaf: 2,
            rate,
            delay,
            spine_rate: trunk,
            spine_delay: delay,
            ..leaf_spine::Params::default()
        }),
        _ => build::ring::build(&ring::Params { rate, delay, ..ring::Params::default() }),
    };
    (topology.expect("builds"), shape)
}

fn switches(s: &mut Stream, cfg: &mut Config, what: &mut Vec<String>) {
    let lossless = one_of(s, &[1 << 3, 1 << 3, 1 << 3, 0b1100, 0b10_1010]);
    cfg.switch.lossless = PrioritySet::from_bits(lossless);
    if lossless != 1 << 3 {
        what.push(format!("lossless {}", cfg.switch.lossless));
    }
    match s.below(4) {
        0 => cfg.switch.schedule.weights = [1; Priority::COUNT],
        1 => cfg.switch.schedule.weights = [(); 8].map(|()| s.below(4) as u32),
        _ => {}
    }
    if cfg.switch.schedule.weights != [0; Priority::COUNT] {
        what.push(format!("weights {:?}", cfg.switch.schedule.weights));
    }
    let xoff = s.between(6_000, 80_000);
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::new(xoff),
        xon: Bytes::new(xoff * s.between(10, 85) / 100),
        limit: one_of(s, &[IngressLimit::Lossless, IngressLimit::Unlimited]),
    };
    if one_in(s, 6) {
        cfg.switch.buffer = Bytes::new(s.between(20_000, 200_000));
        what.push(format!("buffer {}", cfg.switch.buffer));
    }
    if one_in(s, 2) {
        let kmin = s.between(1_000, 40_000);
        let kmax = Bytes::new(kmin + s.between(0, 40_000));
        let pmax = Ratio::new(1, 2).expect("two is not zero");
        cfg.switch.ecn = Some(EcnConfig { kmin: Bytes::new(kmin), kmax, pmax });
        cfg.switch.ecn_at = one_of(s, &[EcnAt::Dequeue, EcnAt::Enqueue]);
    }
    cfg.switch.latency = one_of(s, &[Time::ZERO, Time::from_ns(500)]);
    cfg.link.response = one_of(s, &[Time::ZERO, Time::from_ns(700)]).into();
    if one_in(s, 3) {
        cfg.link.bit_error_rate = one_of(s, &[1e-8, 1e-7, 1e-6]);
        what.push(format!("bit errors {:e}", cfg.link.bit_error_rate));
    }
    if one_in(s, 4) {
        cfg.probes.warm_up = Time::from_us(20);
    }
}

/// One in six cases has pipelined switches.
fn pipeline(s: &mut Stream, cfg: &mut Config, what: &mut Vec<String>) {
    let is_static = !matches!(cfg.switch.thresholds, ThresholdConfig::Dynamic { .. });
    if !one_in(s, 6) || !is_static {
        return;
    }
    let on_full = one_of(s, &[OnFull::Drop, OnFull::Stop]);
    cfg.switch.latency = Time::ZERO;
    cfg.switch.pipeline = Some(PipelineConfig {
        rate: one_of(s, &[1_000_000, 10_000_000, 100_000_000]),
        delay: one_of(s, &[Time::ZERO, Time::from_us(3)]),
        delay_at: one_of(s, &[DelayAt::Before, DelayAt::After]),
        on_full,
        limits: StageLimits::Dedicated { egress: Bytes::new(s.between(3_100, 60_000)) },
    });
    what.push(format!("pipelined, {on_full:?}"));
}

fn balance(s: &mut Stream, cfg: &mut Config, what: &mut Vec<String>) {
    let low = Bytes::new(s.between(1, 30_000));
    let gap = Time::from_ns(s.between(1, 30_000));
    cfg.balance = match s.below(8) {
        0 => Balance::Adaptive { low, high: low + Bytes::new(s.below(30_000)) },
        1 => Balance::Random,
        2 => Balance::RoundRobin,
        3 => Balance::Flowlet { gap },
        _ => Balance::Flow,
    };
    if cfg.balance != Balance::Flow {
        what.push(format!("{:?}", cfg.balance));
    }
}

fn hosts(s: &mut Stream, cfg: &mut Config, what: &mut Vec<String>) {
    let cc = one_of(s, CcKind::ALL);
    cfg.cc = CcParams::new(cc);
    what.push(cc.name().to_owned());
    let weights = [(); 8].map(|()| s.below(3) as u32);
    let quantum = Bytes::new(s.between(100, 5_000));
    cfg.nic.discipline = match s.below(4) {
        0 => NicDiscipline::PerFlow,
        1 => NicDiscipline::ByPriority(PrioritySchedule { weights, quantum }),
        _ => NicDiscipline::Fifo,
    };
    if cfg.nic.discipline != NicDiscipline::PerFlow {
        what.push(format!("{:?}", cfg.nic.discipline));
    }
    if one_in(s, 3) {
        cfg.nic.reliability = Reliability::SelectiveRepeat;
        cfg.nic.reorder = one_of(s, &[0, 0, 1, 5, 1000]);
        what.push(format!("selective repeat, reorder {}", cfg.nic.reorder));
    }
    cfg.nic.window = match s.below(4) {
        0 => WindowConfig::Unlimited,
        1 => WindowConfig::Bytes(Bytes::new(s.between(1_500, 60_000))),
        _ => WindowConfig::FromCc,
    };
    if !one_in(s, 3) {
        cfg.nic.timeout = Some(one_of(s, &[Time::from_us(300), Time::from_ms(1)]));
        what.push(format!("timeout {}", cfg.nic.timeout.unwrap_or_default()));
    }
    if one_in(s, 3) {
        tcp(s, cfg, what);
    }
}

/// TCP instead, with settings at random.
fn tcp(s: &mut Stream, cfg: &mut Config, what: &mut Vec<String>) {
    cfg.cc = CcParams::new(CcKind::None);
    cfg.nic.reliability = Reliability::Tcp;
    cfg.nic.window = WindowConfig::FromCc;
    cfg.nic.timeout = None;
    cfg.nic.acks_with_data = one_in(s, 2);
    let count = |n: u64| NonZeroU32::new(n as u32).expect("counts are from 1");
    let t = &mut cfg.tcp;
    t.initial_window = count(s.between(1, 12));
    t.receive_window = Bytes::new(s.between(1_000, 200_000));
    t.ecn = one_of(s, &[EcnMode::Off, EcnMode::Rfc3168, EcnMode::Dctcp]);
    t.dup_threshold = if one_in(s, 2) { None } else { Some(count(s.between(1, 4))) };
    t.growth_limit = if one_in(s, 2) { None } else { Some(count(s.between(1, 2))) };
    t.rto_min = one_of(s, &[Time::from_us(300), Time::from_ms(1)]);
    t.rto_initial = Time::from_ms(s.between(1, 3));
    t.rto_fallback = Time::from_ms(3);
    t.rto_max = Time::from_ms(20);
    t.ack_every = count(s.between(1, 3));
    t.ack_delay = Time::from_us(s.between(1, 500));
    t.handshake = one_of(s, &[Handshake::None, Handshake::Delay, Handshake::Packets]);
    let acks = if cfg.nic.acks_with_data { ", ACKs with data" } else { "" };
    what.push(format!("TCP {:?}{acks}", cfg.tcp));
}

fn flows(s: &mut Stream, topology: &Topology, rate: Rate, cfg: &Config) -> Vec<FlowSpec> {
    let hosts: Vec<u32> = topology.hosts().iter().map(|h| h.0).collect();
    let lossless: Vec<Priority> = cfg.switch.lossless.iter().collect();
    let few = one_of(s, &[1, 2, 3]) as u64;
    (0..s.between(2, 12))
        .map(|_| {
            let n = hosts.len() as u64;
            let src = s.below(n);
            // most go to the first host
            let dst = if one_in(s, 3) || src == 0 { (src + s.between(1, n - 1)) % n } else { 0 };
            let (src, dst) = (hosts[src as usize], hosts[dst as usize]);
            let start = Time::from_ns(s.between(0, 20_000));
            let priority = if one_in(s, 8) {
                Priority::ALL[s.below(7) as usize]
            } else {
                one_of(s, &lossless)
            };
            let plain = FlowSpec { start, priority, ..flow(src, dst, s.between(1, 120_000)) };
            let stop = Some(start + Time::from_ns(s.between(1, 60_000)));
            let while_held = one_of(s, &[WhileHeld::Backlog, WhileHeld::Discard]);
            let pace = Rate::from_bps(rate.as_bps() / 10 * s.between(1, 20));
            match s.below(3 * few) {
                0 => FlowSpec { rate: Some(pace), while_held, ..plain },
                1 => FlowSpec { rate: Some(pace), while_held, stop, size: Bytes::MAX, ..plain },
                2 => FlowSpec { stop, size: Bytes::MAX, ..plain },
                _ => plain,
            }
        })
        .collect()
}
