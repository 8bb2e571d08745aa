//! The pipelined switch: service order, stops, drops, what bounds its queues.

mod common;

use common::fabrics::{mesh, network};
use common::random::{Case, case};
use common::{DATA, config, flow, run, set, star, try_run};
use proptest::prelude::*;
use weir_core::{Bytes, LinkId, NodeId, Priority, PrioritySet, Rate, Time};
use weir_fc::harness::Bench;
use weir_fc::{OnFull, SharedLimits, StageLimits, Values};
use weir_net::Topology;
use weir_net::build::{self, star};
use weir_sim::config::{
    DelayAt, EcnAt, EcnConfig, EngineConfig, IngressLimit, LinkFailure, PipelineConfig,
    Reliability, Stop, ThresholdConfig, WindowConfig,
};
use weir_sim::outcome::{DropReason, ProcessorRecord};
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::FlowSpec;

/// A second lossless priority.
const OTHER: Priority = Priority::ALL[5];

fn kb(n: u64) -> Bytes {
    Bytes::from_kb(n)
}

/// The CaPFC paper's switch: ingress 60/50/40 KB, egress 60 KB; two lossless priorities.
fn pipelined(scheme: &str, on_full: OnFull) -> Config {
    let mut cfg = config(scheme);
    cfg.switch.lossless = PrioritySet::from_bits(1 << DATA.get() | 1 << OTHER.get());
    cfg.switch.thresholds =
        ThresholdConfig::Static { xoff: kb(50), xon: kb(40), limit: IngressLimit::Bytes(kb(60)) };
    cfg.switch.pipeline = Some(PipelineConfig { on_full, ..PipelineConfig::default() });
    cfg.nic.timeout = Some(Time::from_ms(10));
    if scheme == "capfc" {
        for (name, value) in
            [("egress-xoff", "25KB"), ("egress-xon", "20KB"), ("egress-warn", "20KB")]
        {
            set(&mut cfg, name, value);
        }
    }
    cfg
}

/// Hosts around one switch, 1 Gb/s, 500 ns.
fn gigabit(hosts: u32) -> Topology {
    let params = star::Params { hosts, rate: Rate::from_gbps(1), delay: Time::from_ns(500) };
    build::star::build(&params).expect("builds")
}

fn processor(out: &Outcome) -> &ProcessorRecord {
    out.switches[0].processor.as_ref().expect("a pipelined switch")
}

fn longest_egress(out: &Outcome) -> Bytes {
    let switch = out.switches[0].node;
    out.ports.iter().filter(|p| p.node == switch).map(|p| p.queue.max).max().unwrap_or_default()
}

fn lost(out: &Outcome, reason: DropReason) -> u64 {
    out.drops.iter().filter(|d| d.reason == reason).map(|d| d.packets).sum()
}

fn shared_limits() -> StageLimits {
    StageLimits::Shared(SharedLimits {
        dedicated: kb(8),
        pool: kb(350),
        queue: kb(80),
        port: kb(100),
        ingress: kb(350),
        egress: kb(350),
    })
}

/// Two frames of 1538 B on the wire at 8 ns per byte, 500 ns of cable twice, 25 us, 1 us.
#[test]
fn a_packet_alone_takes_delay_and_service_wherever_the_delay_is() {
    for delay_at in [DelayAt::Before, DelayAt::After] {
        let mut cfg = pipelined("pfc", OnFull::Drop);
        cfg.switch.pipeline = Some(PipelineConfig { delay_at, ..PipelineConfig::default() });
        let out = run(&gigabit(2), &[flow(0, 1, 1500)], &cfg);
        let expected = Time::from_ns(2 * 12_304 + 2 * 500 + 25_000 + 1000);
        assert_eq!(out.flows[0].fct(), Some(expected), "{delay_at:?}");
        assert_eq!(out.flows[0].ideal(), Some(expected), "{delay_at:?}");
        assert_eq!(processor(&out).packets, 2, "a packet and its ACK");
    }
}

/// Four hosts send frames of 64 B at 1.49 million per second each to four others; one processor
/// works on a million packets per second, data and ACKs. It is never idle until the last ones: n
/// packets take it n us.
#[test]
fn the_processor_saturates_at_its_rate() {
    for rate in [500_000, 1_000_000, 2_000_000] {
        let mut cfg = pipelined("pfc", OnFull::Stop);
        cfg.nic.payload = Bytes::new(46);
        cfg.switch.pipeline = Some(PipelineConfig { rate, ..PipelineConfig::default() });
        let flows: Vec<FlowSpec> = (0..4).map(|i| flow(i, i + 4, 46 * 5000)).collect();
        let out = run(&gigabit(8), &flows, &cfg);
        assert_eq!((out.totals.completed, out.totals.dropped), (4, 0));
        let packets = processor(&out).packets;
        assert_eq!(packets, 2 * 4 * 5000);
        let busy = Time::from_us(packets * 1_000_000 / rate);
        let idle = out.end - busy;
        // until the first packet may be processed, and while the last packets and ACKs travel
        assert!(idle < Time::from_us(150), "{rate}: idle for {idle}");
    }
}

/// 40 packets of host 0 stand in front of a processor that takes 100 us for each. A packet of
/// host 1 has its turn after the one that is being processed, not after the 40.
#[test]
fn a_backlog_of_one_port_does_not_delay_another_port() {
    let mut cfg = pipelined("none", OnFull::Drop);
    let slow = PipelineConfig { rate: 10_000, delay: Time::ZERO, ..PipelineConfig::default() };
    cfg.switch.pipeline = Some(slow);
    cfg.switch.thresholds = ThresholdConfig::Pool;
    let late = FlowSpec { start: Time::from_us(700), ..flow(1, 3, 1500) };
    let out = run(&gigabit(4), &[flow(0, 2, 60_000), late], &cfg);
    let fct = out.flows.iter().find(|f| f.src() == NodeId(1)).unwrap().fct().unwrap();
    let wire = Time::from_ns(2 * 12_304 + 2 * 500);
    // its own service, at most the rest of one that has begun, and one ACK of each receiver
    assert!(fct > wire + Time::from_us(100) && fct <= wire + Time::from_us(400), "{fct}");
}

/// Hosts 0 to 3 send to host 4, and much later host 5 sends a little to host 6 at another priority.
fn congested() -> Vec<FlowSpec> {
    let mut flows: Vec<FlowSpec> = (0..4).map(|i| flow(i, 4, 400_000)).collect();
    let start = Time::from_ms(2);
    flows.push(FlowSpec { start, priority: OTHER, ..flow(5, 6, 16_000) });
    flows
}

fn victim(out: &Outcome) -> Time {
    out.flows.iter().find(|f| f.priority == OTHER).unwrap().fct().unwrap()
}

#[test]
fn a_full_egress_queue_stops_everybody_or_loses_packets_or_capfc_prevents_both() {
    let topology = gigabit(7);
    let stop = run(&topology, &congested(), &pipelined("pfc", OnFull::Stop));
    let drop = run(&topology, &congested(), &pipelined("pfc", OnFull::Drop));
    let capfc = run(&topology, &congested(), &pipelined("capfc", OnFull::Stop));
    for out in [&stop, &drop, &capfc] {
        assert_eq!((out.finish.clone(), out.totals.completed), (Finish::Drained, 5));
        assert!(longest_egress(out) <= kb(60));
    }
    // PFC_wstop: nothing is lost, and the processor stands still most of the time
    assert_eq!(stop.totals.dropped, 0);
    assert!(processor(&stop).stops > 100 && processor(&stop).stopped > Time::from_ms(5));
    // PFC_wdrop: packets are lost at the egress only, and sent again
    assert!(lost(&drop, DropReason::EgressFull) > 0 && drop.totals.retransmitted > 0);
    assert_eq!(lost(&drop, DropReason::EgressFull), drop.totals.dropped);
    assert_eq!(processor(&drop).stopped, Time::ZERO);
    // CaPFC: neither
    assert_eq!((capfc.totals.dropped, processor(&capfc).stops), (0, 0));
    assert!(capfc.totals.control_frames > 0);
    // the other priority, on ports of its own, suffers from the stop only
    let alone = Time::from_ns(25_000 + 1000 + 2 * 500 + 12 * 12_304);
    assert!(victim(&stop) > victim(&capfc) * 2, "{} {}", victim(&stop), victim(&capfc));
    assert!(victim(&drop) < alone + Time::from_us(20), "{}", victim(&drop));
    assert!(victim(&capfc) < alone + Time::from_us(20), "{}", victim(&capfc));
}

/// PFC's own `on-full` overrules the switch's.
#[test]
fn one_file_can_compare_both_variants_of_pfc() {
    let topology = gigabit(7);
    for (given, text) in [(OnFull::Drop, "stop"), (OnFull::Stop, "drop")] {
        let mut cfg = pipelined("pfc", given);
        set(&mut cfg, "on-full", text);
        let other = if given == OnFull::Drop { OnFull::Stop } else { OnFull::Drop };
        let plain = run(&topology, &congested(), &pipelined("pfc", other));
        assert_eq!(run(&topology, &congested(), &cfg), plain);
    }
}

/// Lines 2 and 3 of Algorithm 1: with its pause threshold at MAX, CaPFC pauses too late, and what
/// does not fit is dropped whatever the switch would do; at MAX = `egress-max` by the scheme
/// itself.
#[test]
fn capfc_drops_at_max() {
    let topology = gigabit(7);
    let mut cfg = pipelined("capfc", OnFull::Stop);
    set(&mut cfg, "egress-xoff", "60KB");
    let out = run(&topology, &congested(), &cfg);
    assert!(lost(&out, DropReason::EgressFull) > 0);
    assert_eq!((processor(&out).stops, out.totals.completed), (0, 5));
    assert!(longest_egress(&out) <= kb(60) && longest_egress(&out) > kb(58));
    set(&mut cfg, "egress-xoff", "30KB");
    set(&mut cfg, "egress-max", "30KB");
    let out = run(&topology, &congested(), &cfg);
    assert!(lost(&out, DropReason::Scheme) > 0 && lost(&out, DropReason::EgressFull) == 0);
    assert!(longest_egress(&out) <= kb(30));
}

/// Host 0 has brought most of what stands at the egress when it passes XOFF: Stop-Max pauses it
/// first and alone, Stop-Calibrate, whose cut takes in all, the others with it.
#[test]
fn stop_max_pauses_the_heaviest_input_and_stop_calibrate_several() {
    let topology = gigabit(6);
    let mut flows = vec![flow(0, 5, 300_000)];
    // the others send at a fraction of the line rate
    for i in 1..4 {
        flows.push(FlowSpec { rate: Some(Rate::from_bps(100_000_000)), ..flow(i, 5, 40_000) });
    }
    let first_paused = |policy: &str| {
        let mut cfg = pipelined("capfc", OnFull::Drop);
        set(&mut cfg, "policy", policy);
        set(&mut cfg, "cut", "100%");
        let out = run(&topology, &flows, &cfg);
        assert_eq!(out.totals.dropped, 0);
        let first = out.pauses.iter().find(|p| p.pause).expect("a pause").at;
        let at_first = |p: &&weir_sim::outcome::PauseEvent| p.pause && p.at == first;
        out.pauses.iter().filter(at_first).map(|p| (p.port.0, p.cause)).collect::<Vec<_>>()
    };
    let egress = Some(weir_core::PortId(5));
    assert_eq!(first_paused("stop-max"), [(0, egress)]);
    assert_eq!(first_paused("stop-calibrate"), [0, 1, 2, 3].map(|i| (i, egress)));
}

/// The processor takes 20 us per packet, the wire 12.3 us: the ingress fills, not the egress.
#[test]
fn a_slow_processor_pauses_its_neighbours_by_their_own_fifo() {
    let mut cfg = pipelined("pfc", OnFull::Drop);
    cfg.switch.pipeline = Some(PipelineConfig { rate: 50_000, ..PipelineConfig::default() });
    let out = run(&gigabit(4), &[flow(0, 2, 600_000), flow(1, 3, 600_000)], &cfg);
    assert_eq!((out.totals.dropped, processor(&out).stops), (0, 0));
    let ingress = processor(&out).ingress.max;
    assert!(ingress >= kb(100) && ingress <= kb(120), "{ingress}");
    let pause = out.pauses.iter().find(|p| p.pause).expect("a pause");
    assert_eq!(pause.cause, None, "no egress is to blame");
    assert!(longest_egress(&out) < kb(4));
}

/// Without flow control what does not fit into the FIFO is lost there.
#[test]
fn a_fifo_without_flow_control_overflows_at_its_limit() {
    let mut cfg = pipelined("none", OnFull::Drop);
    cfg.switch.pipeline = Some(PipelineConfig { rate: 50_000, ..PipelineConfig::default() });
    let out = run(&gigabit(2), &[flow(0, 1, 600_000)], &cfg);
    assert!(lost(&out, DropReason::HeadroomExceeded) > 0);
    // ACKs wait in the same FIFOs, beyond the limit of data
    assert!(processor(&out).ingress.max <= kb(70));
    assert_eq!(out.totals.completed, 1);
}

#[test]
fn a_lossy_priority_is_dropped_and_never_stops_the_processor() {
    let mut cfg = pipelined("pfc", OnFull::Stop);
    cfg.switch.lossless = PrioritySet::from_bits(1 << OTHER.get());
    let out = run(&gigabit(7), &congested(), &cfg);
    assert!(lost(&out, DropReason::EgressFull) > 0);
    assert_eq!((processor(&out).stops, out.totals.completed), (0, 5));
}

#[test]
fn shared_memory_bounds_a_queue_by_its_share() {
    let topology = gigabit(7);
    for (on_full, loses) in [(OnFull::Stop, false), (OnFull::Drop, true)] {
        let mut cfg = pipelined("pfc", on_full);
        let limits = shared_limits();
        cfg.switch.pipeline = Some(PipelineConfig { on_full, limits, ..PipelineConfig::default() });
        cfg.switch.thresholds =
            ThresholdConfig::Static { xoff: kb(30), xon: kb(20), limit: IngressLimit::Unlimited };
        let out = run(&topology, &congested(), &cfg);
        assert_eq!(out.totals.completed, 5);
        assert_eq!(lost(&out, DropReason::EgressFull) > 0, loses);
        assert_eq!(out.totals.dropped, lost(&out, DropReason::EgressFull));
        assert!(longest_egress(&out) <= kb(88) && longest_egress(&out) > kb(86));
    }
}

#[test]
fn what_a_pipelined_switch_cannot_do_is_refused_with_the_reason() {
    let (topology, flows) = (star(2, "1us"), [flow(0, 1, 1000)]);
    let error = |cfg: &Config| try_run(&topology, &flows, cfg).unwrap_err().to_string();
    for scheme in ["ofc", "bfc", "ideal", "flowsail", "ffc"] {
        let mut cfg = pipelined(scheme, OnFull::Drop);
        cfg.switch.lossless = PrioritySet::from_bits(1 << DATA.get());
        let said = error(&cfg);
        let why = "does not support pipelined switches: it does not watch the ingress FIFOs";
        assert!(said.contains(scheme) && said.contains(why), "{said}");
    }
    let mut cfg = pipelined("pfc", OnFull::Drop);
    cfg.switch.latency = Time::from_ns(1);
    assert!(error(&cfg).contains("`delay` in `[switch.pipeline]`"));
    cfg.switch.latency = Time::ZERO;
    cfg.switch.pipeline = Some(PipelineConfig { rate: 0, ..PipelineConfig::default() });
    assert!(error(&cfg).contains("processor rate is 0"));
    let limits = StageLimits::Dedicated { egress: Bytes::new(1517) };
    cfg.switch.pipeline = Some(PipelineConfig { limits, ..PipelineConfig::default() });
    assert!(error(&cfg).contains("at least one full frame"));
    cfg.switch.pipeline = Some(PipelineConfig::default());
    cfg.switch.buffer = Bytes::from_kb(1000);
    cfg.switch.thresholds = ThresholdConfig::Dynamic {
        shift: 3,
        reserve: Bytes::ZERO,
        resume_offset: Bytes::ZERO,
        headroom: None,
    };
    assert!(error(&cfg).contains("static"));
}

/// Schemes that can govern a pipelined switch.
fn schemes() -> Vec<&'static str> {
    let governs = |info| Bench::nic(info, &Values::new()).scheme_mut().pipelined().is_ok();
    weir_fc::SCHEMES.iter().copied().filter(|&info| governs(info)).map(|info| info.name).collect()
}

/// Settings of a random network: everything about the pipeline is drawn.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    rate: u64,
    delay_ns: u64,
    after: bool,
    stop: bool,
    egress: u64,
    shared: bool,
    /// Flows of three classes that share links by weight, one of them lossy, and marks on entry.
    classes: bool,
    /// A link that fails after so many nanoseconds, for ten microseconds.
    failure: Option<(u32, u64)>,
}

prop_compose! {
    fn drawn()(
        rate in prop::sample::select(vec![300_000u64, 2_000_000, 50_000_000]),
        delay_ns in prop::sample::select(vec![0u64, 700, 25_000]),
        after in any::<bool>(),
        stop in any::<bool>(),
        egress in 1518u64..60_000,
        shared in any::<bool>(),
        classes in any::<bool>(),
        failure in prop::option::of((0u32..4, 0u64..40_000)),
    ) -> Drawn {
        Drawn { rate, delay_ns, after, stop, egress, shared, classes, failure }
    }
}

impl Drawn {
    fn apply(&self, cfg: &mut Config) {
        let limits = if self.shared {
            StageLimits::Shared(SharedLimits {
                dedicated: Bytes::new(1518),
                pool: Bytes::MAX,
                queue: Bytes::new(self.egress),
                port: Bytes::new(self.egress * 3 / 2),
                ingress: Bytes::MAX,
                egress: Bytes::new(self.egress * 3),
            })
        } else {
            StageLimits::Dedicated { egress: Bytes::new(self.egress) }
        };
        cfg.switch.pipeline = Some(PipelineConfig {
            rate: self.rate,
            delay: Time::from_ns(self.delay_ns),
            delay_at: if self.after { DelayAt::After } else { DelayAt::Before },
            on_full: if self.stop { OnFull::Stop } else { OnFull::Drop },
            limits,
        });
        if self.classes {
            cfg.switch.lossless = PrioritySet::from_bits(1 << DATA.get() | 1 << OTHER.get());
            cfg.switch.schedule.weights = [0, 1, 0, 1, 0, 3, 0, 0];
            cfg.switch.ecn = Some(EcnConfig {
                kmin: Bytes::new(1000),
                kmax: Bytes::new(20_000),
                pmax: "1/2".parse().expect("a ratio"),
            });
            cfg.switch.ecn_at = EcnAt::Enqueue;
        }
    }

    /// The flows of a random network, in their classes.
    fn flows(&self, case: &Case, topology: &Topology) -> Vec<FlowSpec> {
        let mut flows = case.flows(topology);
        for (i, flow) in flows.iter_mut().enumerate().filter(|_| self.classes) {
            flow.priority = [DATA, OTHER, Priority::ALL[1]][i % 3];
        }
        flows
    }
}

/// Settings of a random network under `scheme`.
fn settings(case: &Case, drawn: &Drawn, scheme: &str) -> Config {
    // xon leaves room for thresholds between xon and xoff
    let case = Case { xon_percent: case.xon_percent * 4 / 5, ..case.clone() };
    let mut cfg = case.config(scheme);
    if scheme == "gfc" {
        // the other mode needs more memory than most cases have
        set(&mut cfg, "mode", "ofc");
    }
    drawn.apply(&mut cfg);
    cfg.nic.timeout = Some(Time::from_ms(20));
    cfg
}

/// A shared queue may share little at the ingress, too: then the neighbour must be stopped early.
fn is_lossless(drawn: &Drawn) -> bool {
    drawn.stop && !drawn.shared
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The simulator itself checks that books balance and packets add up. Beyond that: everything
    /// is delivered, or a circle waits; nothing is lost that must not be; the processor works no
    /// faster than it can.
    #[test]
    fn everything_is_delivered_and_nothing_lost_without_a_reason(
        case in case(),
        drawn in drawn(),
        scheme in prop::sample::select(schemes()),
    ) {
        let mut cfg = settings(&case, &drawn, scheme);
        // without a window a slow switch would make queues of ACKs, which have no limit
        cfg.nic.window = WindowConfig::Bytes(Bytes::new(case.window.unwrap_or(50_000)));
        let out = case.run(&cfg);
        match &out.finish {
            Finish::Drained => prop_assert_eq!(out.totals.completed, out.totals.flows),
            Finish::Deadlock(_) => prop_assert!(drawn.stop, "a processor that drops never waits"),
            other => prop_assert!(false, "{:?}", other),
        }
        if is_lossless(&drawn) && scheme == "pfc" {
            prop_assert_eq!(out.totals.dropped, 0, "{:?}", out.drops);
        }
        let service = cfg.switch.pipeline.unwrap().service();
        for switch in &out.switches {
            let p = switch.processor.as_ref().unwrap();
            prop_assert!(service * p.packets + p.stopped <= out.end + service);
            prop_assert!(drawn.stop || p.stops == 0);
        }
    }

    #[test]
    fn all_engines_agree_with_and_without_shortcuts(
        case in case(),
        drawn in drawn(),
        scheme in prop::sample::select(schemes()),
    ) {
        let mut cfg = settings(&case, &drawn, scheme);
        // two of 20 000 cases never end: see `go_back_n_may_lose_the_same_packet_for_ever`
        cfg.stop = Stop::At(Time::from_ms(20));
        let engines = [
            (EngineConfig::Stepwise, false),
            (EngineConfig::Stepwise, true),
            (EngineConfig::Sequential, true),
            (EngineConfig::Auto { threads: 1 }, true),
            (EngineConfig::Window { threads: 3 }, true),
        ];
        cfg.failures.extend(drawn.failure.map(|(link, ns)| LinkFailure {
            link: LinkId(link),
            down: Time::from_ns(ns),
            up: Some(Time::from_ns(ns + 10_000)),
        }));
        let topology = case.topology();
        let flows = drawn.flows(&case, &topology);
        let outs = engines.map(|(engine, shortcuts)| {
            run(&topology, &flows, &Config { engine, shortcuts, ..cfg.clone() })
        });
        for out in &outs[1..] {
            prop_assert_eq!(out.digest, outs[0].digest);
            let events = outs[0].totals.events;
            let mut out = out.clone();
            out.totals.events = events;
            prop_assert_eq!(&out, &outs[0]);
        }
    }
}

/// Three flows of one host take turns at wire speed, and the FIFO in front of the processor takes
/// few frames, as long as its delay lasts: what is lost repeats with a period that is a multiple of
/// three. Nothing is random, so each NACK makes a flow send its whole window in the same pattern,
/// in which the packet that its receiver waits for is lost again; and what is sent starts the timer
/// anew. Selective repeat, which sends less, gets out of step and through.
#[test]
fn go_back_n_may_lose_the_same_packet_for_ever() {
    let params = star::Params { hosts: 6, rate: Rate::from_gbps(3), delay: Time::from_ns(1343) };
    let topology = build::star::build(&params).expect("builds");
    let starts = [(75_465, 5_261), (72_629, 8_197), (94_109, 12_257)];
    let flows: Vec<FlowSpec> =
        starts.map(|(size, ns)| FlowSpec { start: Time::from_ns(ns), ..flow(3, 5, size) }).into();
    let by = |reliability, ms| {
        let mut cfg = pipelined("pfc", OnFull::Stop);
        let (delay_at, egress) = (DelayAt::After, Bytes::new(3177));
        let limits = StageLimits::Shared(SharedLimits {
            dedicated: Bytes::new(1600),
            pool: egress,
            queue: egress,
            port: egress,
            ingress: egress,
            egress,
        });
        cfg.switch.pipeline =
            Some(PipelineConfig { rate: 2_000_000, delay_at, limits, ..PipelineConfig::default() });
        cfg.nic.window = WindowConfig::Bytes(Bytes::new(98_449));
        cfg.nic.timeout = Some(Time::from_ms(20));
        cfg.nic.reliability = reliability;
        cfg.stop = Stop::At(Time::from_ms(ms));
        run(&topology, &flows, &cfg)
    };
    let delivered = |out: &Outcome| out.flows.iter().map(|f| f.delivered.get()).collect::<Vec<_>>();
    let (early, late) = (by(Reliability::GoBackN, 100), by(Reliability::GoBackN, 400));
    assert_eq!(delivered(&early), delivered(&late), "no progress");
    assert!(late.totals.retransmitted > early.totals.retransmitted * 3);
    assert_eq!((late.totals.completed, late.totals.timeouts), (0, 0));
    assert_eq!(by(Reliability::SelectiveRepeat, 400).totals.completed, 3);
}

/// Fabrics of many switches on several threads, with and without shortcuts elsewhere.
#[test]
fn fabrics_agree_on_any_number_of_threads() {
    for fabric in 0..6 {
        let topology = network(fabric, Rate::from_gbps(10), Time::from_ns(600));
        let flows = mesh(&topology, 60, 60_000, 300, 7);
        for (scheme, on_full) in
            [("pfc", OnFull::Stop), ("pfc", OnFull::Drop), ("capfc", OnFull::Drop)]
        {
            let mut cfg = pipelined(scheme, on_full);
            let fast = PipelineConfig { rate: 5_000_000, on_full, ..PipelineConfig::default() };
            cfg.switch.pipeline = Some(fast);
            let by = |engine, shortcuts| {
                run(&topology, &flows, &Config { engine, shortcuts, ..cfg.clone() })
            };
            let reference = by(EngineConfig::Stepwise, false);
            for threads in 1..=4 {
                let out = by(EngineConfig::Window { threads }, true);
                assert_eq!(out.digest, reference.digest, "{fabric} {scheme} {threads}");
                assert_eq!(out.switches, reference.switches, "{fabric} {scheme} {threads}");
                assert_eq!(out.pauses, reference.pauses, "{fabric} {scheme} {threads}");
            }
        }
    }
}

/// Two switches whose hosts send to each other, by one link: the routes have no circle. But a
/// processor that stops for the link stops also what came in by it: each switch waits for the
/// other.
#[test]
fn stopping_the_processor_makes_a_circle_of_any_link() {
    let params = build::dumbbell::Params {
        left: 4,
        right: 4,
        trunks: 1,
        rate: Rate::from_gbps(1),
        trunk_rate: Rate::from_gbps(1),
        delay: Time::from_ns(500),
        trunk_delay: Time::from_ns(500),
    };
    let topology = build::dumbbell::build(&params).expect("builds");
    let flows: Vec<FlowSpec> =
        (0..4).flat_map(|i| [flow(i, i + 4, 300_000), flow(i + 4, i, 300_000)]).collect();
    let stop = run(&topology, &flows, &pipelined("pfc", OnFull::Stop));
    let Finish::Deadlock(deadlock) = &stop.finish else { panic!("{:?}", stop.finish) };
    assert_eq!((deadlock.cycle.len(), stop.totals.dropped), (2, 0));
    for scheme in ["pfc", "capfc"] {
        let out = run(&topology, &flows, &pipelined(scheme, OnFull::Drop));
        assert_eq!((out.finish, out.totals.completed), (Finish::Drained, 8), "{scheme}");
    }
    // on a shared-memory switch there is no processor to stop
    let mut cfg = pipelined("pfc", OnFull::Stop);
    cfg.switch.pipeline = None;
    assert_eq!(run(&topology, &flows, &cfg).finish, Finish::Drained);
}

/// A ring whose flows wait for each other: PFC that stops the processor deadlocks, PFC that drops
/// cannot.
#[test]
fn a_circle_of_stopped_processors_is_a_deadlock() {
    let mut found = 0;
    for number in 0..30 {
        let circle = common::circles::Circle::new(number);
        let settings = |on_full| {
            let mut cfg = circle.settings("pfc", IngressLimit::Lossless);
            cfg.nic.timeout = Some(Time::from_ms(2));
            let limits = StageLimits::Dedicated { egress: Bytes::new(circle.xoff / 2 + 3036) };
            let delay = Time::from_us(1);
            cfg.switch.pipeline = Some(PipelineConfig {
                rate: 100_000_000,
                delay,
                on_full,
                limits,
                ..PipelineConfig::default()
            });
            cfg
        };
        let stop = circle.run(&settings(OnFull::Stop));
        assert_eq!(stop.totals.dropped, 0, "{number}");
        if let Finish::Deadlock(deadlock) = &stop.finish {
            found += 1;
            assert!(deadlock.cycle.len() >= 3, "{number}: {deadlock:?}");
        }
        let drop = circle.run(&settings(OnFull::Drop));
        assert!(!matches!(drop.finish, Finish::Deadlock(_) | Finish::Stalled(_)), "{number}");
    }
    assert!(found >= 3, "{found} deadlocks");
}
