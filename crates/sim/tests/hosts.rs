//! NICs and transport: sources, queues, retransmission, marks, watchdog, statistics.

mod common;

use common::{config, flow, run, set, star};
use weir_cc::CcParams;
use weir_cc::hpcc::{HpccParams, Telemetry};
use weir_core::{Bytes, NodeId, PortId, Priority, PrioritySet, Rate, Ratio, Time};
use weir_sim::config::{
    EcnConfig, NicDiscipline, Stop, ThresholdConfig, WatchdogAction, WatchdogConfig, WindowConfig,
};
use weir_sim::outcome::DropReason;
use weir_sim::{Config, Finish};
use weir_traffic::{FlowSpec, WhileHeld};

fn us(n: u64) -> Time {
    Time::from_us(n)
}

/// 12 Gb/s of payload in 1500 B packets: one per microsecond, from the start on.
#[test]
fn a_constant_rate_source_sends_one_packet_per_interval() {
    let source =
        FlowSpec { rate: Some(Rate::from_gbps(12)), stop: Some(us(100)), ..flow(0, 1, u64::MAX) };
    let out = run(&star(2, "1us"), &[source], &config("pfc"));
    let f = &out.flows[0];
    assert_eq!((f.packets, f.delivered), (100, Bytes::new(150_000)));
    // the hundredth is made at 99 us
    assert_eq!(f.finish(), Some(us(99) + Time::from_ps(2 * 123_040 + 2_000_000)));
    assert_eq!(out.totals.acks_sent, 0, "datagrams are not acknowledged");
}

/// Two sources of 80 Gb/s into one link: half of the time they are held. A backlogging source
/// sends everything in the end, a discarding one loses what it made while held.
#[test]
fn a_held_source_backlogs_or_discards() {
    let run_with = |while_held: WhileHeld, discipline: NicDiscipline| {
        let mut cfg = config("pfc");
        cfg.nic.discipline = discipline;
        let source = |h: u32| FlowSpec {
            rate: Some(Rate::from_gbps(80)),
            stop: Some(us(300)),
            while_held,
            ..flow(h, 2, u64::MAX)
        };
        run(&star(3, "1us"), &[source(0), source(1)], &cfg)
    };
    for discipline in [NicDiscipline::PerFlow, NicDiscipline::Fifo] {
        let backlog = run_with(WhileHeld::Backlog, discipline);
        assert_eq!(backlog.totals.discarded, 0);
        // 300 us at 150 ns per packet
        assert!(backlog.flows.iter().all(|f| f.packets == 2000), "{discipline:?}");
        let discard = run_with(WhileHeld::Discard, discipline);
        assert!(discard.totals.discarded > 100, "{discipline:?} {:?}", discard.totals);
        for f in &discard.flows {
            assert_eq!(f.packets + f.discarded(), 2000, "{discipline:?}");
        }
        assert!(discard.end < backlog.end);
    }
}

/// One queue for all flows: a flow to an idle receiver stands behind the held one. (Priority
/// pauses stop everything anyway; here only the window stops the first flow's turn.)
#[test]
fn a_fifo_nic_serves_flows_in_the_order_they_came() {
    let mut cfg = config("pfc");
    cfg.nic.discipline = NicDiscipline::Fifo;
    let flows = [flow(0, 1, 15_000), flow(0, 2, 15_000)];
    let out = run(&star(3, "1us"), &flows, &cfg);
    let packet = Time::from_ps(123_040);
    let fct: Vec<Time> = out.flows.iter().map(|f| f.fct().unwrap()).collect();
    assert_eq!(fct, [packet * 11 + us(2), packet * 21 + us(2)]);
}

/// A buffer of ten packets and two senders: drops, NACKs, and everything arrives.
#[test]
fn go_back_n_repairs_losses_with_nacks_alone_when_something_follows() {
    let mut cfg = config("none");
    cfg.switch.thresholds = ThresholdConfig::Pool;
    cfg.switch.buffer = Bytes::new(15_180);
    cfg.nic.timeout = Some(Time::from_ms(1));
    let out = run(&star(3, "1us"), &[flow(0, 2, 600_000), flow(1, 2, 600_000)], &cfg);
    assert_eq!(out.totals.completed, 2);
    assert!(out.totals.dropped > 0 && out.totals.retransmitted > 0);
    assert!(out.drops.iter().all(|d| d.reason == DropReason::BufferFull));
    for f in &out.flows {
        assert_eq!(f.packets, 400 + f.retransmitted());
        assert_eq!(f.delivered, Bytes::new(600_000));
    }
}

/// A timeout of 1 us, a round trip of over 8 us: the one packet of the first flow is queued again
/// behind the second flow's when its ACK comes, and must not be sent from a slot that is free.
#[test]
fn a_late_ack_takes_its_flow_out_of_the_single_queue() {
    let mut cfg = config("pfc");
    cfg.nic.discipline = NicDiscipline::Fifo;
    cfg.nic.timeout = Some(us(1));
    let out = run(&star(3, "2us"), &[flow(0, 1, 1_500), flow(0, 2, 150_000)], &cfg);
    assert_eq!(out.totals.completed, 2);
    assert_eq!(out.flows[0].packets, 1);
}

/// Without a timeout the loss of the last packet of a flow is never noticed: the run says what
/// waits for what.
#[test]
fn a_stalled_run_says_what_is_waiting() {
    let mut cfg = config("none");
    cfg.switch.thresholds = ThresholdConfig::Pool;
    cfg.switch.buffer = Bytes::new(1_600);
    let flows: Vec<FlowSpec> = (0..4).map(|h| flow(h, 4, 1_500)).collect();
    let out = run(&star(5, "1us"), &flows, &cfg);
    let Finish::Stalled(stuck) = &out.finish else { panic!("{:?}", out.finish) };
    assert!(!stuck.is_empty());
    assert!(stuck.iter().all(|s| s.waits_for.contains("acknowledgements")), "{stuck:?}");
}

/// Two priorities with weights 3 and 1 at a shared link get 3/4 and 1/4 of it.
#[test]
fn weighted_priorities_share_a_link_by_their_weights() {
    let mut cfg = config("pfc");
    cfg.switch.lossless = PrioritySet::from_bits(0b1010);
    cfg.switch.schedule.weights[3] = 3;
    cfg.switch.schedule.weights[1] = 1;
    cfg.stop = Stop::At(us(400));
    let low = FlowSpec { priority: Priority::ALL[1], ..flow(1, 2, 30_000_000) };
    let out = run(&star(3, "1us"), &[flow(0, 2, 30_000_000), low], &cfg);
    let share = out.flows[0].delivered.get() as f64 / out.flows[1].delivered.get() as f64;
    assert!((share - 3.0).abs() < 0.02, "{share}");
}

/// Strict priority: the low one gets nothing while the high one has something to send.
#[test]
fn a_strict_priority_goes_first() {
    let mut cfg = config("pfc");
    cfg.switch.lossless = PrioritySet::from_bits(0b1010);
    let low = FlowSpec { priority: Priority::ALL[1], ..flow(1, 2, 300_000) };
    let out = run(&star(3, "1us"), &[flow(0, 2, 300_000), low], &cfg);
    // the high flow is delayed by at most one low frame
    let alone = Time::from_ps(123_040) * 201 + us(2);
    assert!(out.flows[0].fct().unwrap() <= alone + Time::from_ps(123_040));
}

/// Two packets reach a switch at the very instant at which the wire to their host becomes free.
/// They are there before the transmitter looks: the higher priority goes first although it came by
/// the later port, and of two equal ones the one that came by the earlier port.
#[test]
fn arrivals_come_before_the_transmitter_of_the_same_instant() {
    // one packet of 1500 B takes 123.04 ns on every wire
    let frame = Time::from_ps(123_040);
    for latency in [Time::ZERO, Time::from_ns(500)] {
        let finish = |priority: usize| {
            let mut cfg = config("pfc");
            cfg.switch.lossless = PrioritySet::from_bits(0b10_1000);
            cfg.switch.latency = latency;
            let early = FlowSpec { start: frame, ..flow(1, 3, 1500) };
            let late = FlowSpec { priority: Priority::ALL[priority], src: NodeId(2), ..early };
            let out = run(&star(4, "1us"), &[flow(0, 3, 1500), early, late], &cfg);
            let finish: Vec<Time> = out.flows.iter().map(|f| f.finish().unwrap()).collect();
            assert_eq!(finish[0], frame * 2 + us(2) + latency, "alone on its way");
            assert_eq!(finish[1].min(finish[2]), finish[0] + frame, "the wire is not idle");
            finish[1] < finish[2]
        };
        assert_eq!([3, 5].map(finish), [true, false], "latency {latency}");
    }
}

/// A queue between Kmin and Kmax is marked in proportion, above Kmax always.
#[test]
fn ecn_marks_between_the_thresholds_in_proportion() {
    let marked = |kmin: u64, kmax: u64, pmax: Ratio| {
        let mut cfg = config("pfc");
        let ecn = EcnConfig { kmin: Bytes::new(kmin), kmax: Bytes::new(kmax), pmax };
        cfg.switch.ecn = Some(ecn);
        let out = run(&star(3, "1us"), &[flow(0, 2, 600_000), flow(1, 2, 600_000)], &cfg);
        out.ports.iter().map(|p| p.ecn_marked).sum::<u64>()
    };
    let half = Ratio::new(1, 2).unwrap();
    assert_eq!(marked(10_000_000, 20_000_000, half), 0);
    let all = marked(0, 1, half);
    assert!(all > 700, "nearly all of 800 packets leave a queue behind, {all} marked");
    let some = marked(0, 200_000, half);
    assert!(some > 50 && some < all / 2, "{some}");
}

/// A host that never lifts its pause: the watchdog notices and acts.
fn storm(action: WatchdogAction) -> (Config, Vec<FlowSpec>) {
    let mut cfg = config("pfc");
    set(&mut cfg, "timer", "sticky");
    // The RESUME never comes: xon is below what a paused ingress can reach while the
    // egress is held by a deadlocked ring; here simply a very slow drain.
    cfg.switch.watchdog = Some(WatchdogConfig { detect: us(20), restore: us(50), action });
    let flows = (0..8).map(|h| flow(h, 8, 1_000_000)).collect();
    (cfg, flows)
}

/// In an 8:1 incast at 100 Gb/s every ingress is held by its switch for longer than 20 us; the
/// NICs have no watchdog, so a second switch stage is needed to see one: a dumbbell.
#[test]
fn the_watchdog_detects_drops_or_ignores_a_stuck_priority() {
    use weir_net::build::{self, dumbbell};
    let params = dumbbell::Params { left: 8, right: 8, ..dumbbell::Params::default() };
    let topology = build::dumbbell::build(&params).unwrap();
    let run_with = |action| {
        let (mut cfg, _) = storm(action);
        cfg.nic.timeout = Some(Time::from_ms(1));
        // the trunk is held while 7 hosts on the right fill the receiver's link
        let mut flows = vec![flow(0, 8, 500_000)];
        flows.extend((9..16).map(|h| flow(h, 8, 500_000)));
        run(&topology, &flows, &cfg)
    };
    let alert = run_with(WatchdogAction::Alert);
    assert!(alert.totals.watchdog_storms > 0);
    assert_eq!(alert.totals.dropped, 0);
    let drop = run_with(WatchdogAction::Drop);
    assert!(drop.drops.iter().any(|d| d.reason == DropReason::Watchdog));
    assert_eq!(drop.totals.completed, 8, "what it dropped is sent again");
    let forward = run_with(WatchdogAction::Forward);
    let f0 = |o: &weir_sim::Outcome| o.flows[0].held_total();
    assert!(f0(&forward) < f0(&alert), "ignoring the pause shortens it");
}

/// Statistics leave the warm-up out.
#[test]
fn the_warm_up_is_left_out_of_statistics() {
    let mut cfg = config("pfc");
    let flows = [flow(0, 2, 600_000), flow(1, 2, 600_000)];
    let whole = run(&star(3, "1us"), &flows, &cfg);
    cfg.probes.warm_up = us(50);
    let late = run(&star(3, "1us"), &flows, &cfg);
    let port = |o: &weir_sim::Outcome| {
        o.ports.iter().find(|p| p.node.0 == 3 && p.port == PortId(2)).unwrap().clone()
    };
    assert_eq!(whole.digest, late.digest, "flows are not affected");
    let (a, b) = (port(&whole), port(&late));
    // (50 us - 1.12 us) / 123.04 ns = 397 packets left before the cut
    assert_eq!(a.packets - b.packets, 398);
    // 402 packets in the 52 us that are left until the last ACK
    assert!(b.utilisation > 0.9 && b.queue.max <= a.queue.max, "{}", b.utilisation);
    // a mean and a distribution of the same time: bins tell lengths up to 1/32 too long
    let switch = |o: &weir_sim::Outcome| o.switches[0].buffer.clone();
    for queue in [a.queue, b.queue, switch(&whole), switch(&late)] {
        let (sum, time) = queue.distribution().fold((0.0, 0), |(sum, time), (edge, weight)| {
            (sum + edge.get() as f64 * weight as f64, time + weight)
        });
        let mean = sum / time as f64;
        assert!(queue.mean > 1000.0 && queue.mean <= mean, "{} {mean}", queue.mean);
        assert!(mean <= queue.mean * (1.0 + 1.0 / 32.0), "{} {mean}", queue.mean);
    }
}

/// DCQCN reacts to marks, HPCC to telemetry, TIMELY to round-trip times: each keeps the queue
/// below what line-rate senders build up.
#[test]
fn congestion_controls_shorten_the_queue() {
    use weir_cc::{CcKind, CcParams};
    let queue = |kind: CcKind| {
        let mut cfg = config("pfc");
        cfg.switch.thresholds = ThresholdConfig::Pool;
        cfg.nic.payload = Bytes::new(1000);
        cfg.nic.header = Bytes::new(48);
        cfg.cc = CcParams::new(kind);
        cfg.switch.ecn = Some(EcnConfig {
            kmin: Bytes::from_kb(100),
            kmax: Bytes::from_kb(400),
            pmax: Ratio::new(1, 5).unwrap(),
        });
        let flows: Vec<FlowSpec> = (0..4).map(|h| flow(h, 4, 2_000_000)).collect();
        let out = run(&star(5, "1us"), &flows, &cfg);
        assert_eq!(out.totals.completed, 4, "{kind:?}");
        out.ports.iter().find(|p| p.node.0 == 5 && p.port == PortId(4)).unwrap().queue.mean
    };
    let none = queue(CcKind::None);
    for kind in CcKind::ALL.iter().filter(|k| **k != CcKind::None) {
        let with = queue(*kind);
        assert!(with < none / 2.0, "{}: {with:.0} B, without {none:.0} B", kind.name());
    }
}

/// A window from the congestion control, none at all, or a fixed one.
#[test]
fn the_window_setting_overrides_the_congestion_control() {
    let fct = |window: WindowConfig| {
        let mut cfg = config("pfc");
        cfg.nic.window = window;
        run(&star(2, "1us"), &[flow(0, 1, 150_000)], &cfg).flows[0].fct().unwrap()
    };
    let free = fct(WindowConfig::Unlimited);
    assert_eq!(fct(WindowConfig::FromCc), free, "`none` has no window");
    assert!(fct(WindowConfig::Bytes(Bytes::new(6_000))) > free);
}

/// Packed records round what switches report to units of 16 * 128 B and 16 * 80 B: HPCC's rates,
/// and so all completion times, come out a little different.
#[test]
fn packed_telemetry_is_coarser_than_exact() {
    let run_with = |telemetry| {
        let mut cfg = config("pfc");
        cfg.cc = CcParams::Hpcc(HpccParams { telemetry, ..HpccParams::default() });
        let flows: Vec<FlowSpec> = (0..4).map(|h| flow(h, 4, 200_000)).collect();
        run(&star(5, "1us"), &flows, &cfg)
    };
    let exact = run_with(Telemetry::Exact);
    let packed = run_with(Telemetry::Packed { multi: 16 });
    assert_eq!((exact.totals.completed, packed.totals.completed), (4, 4));
    assert_ne!(exact.digest, packed.digest);
}

/// Two sources of 20 Gb/s into a link of 10 Gb/s until 2560 ns, and one queue per NIC: what waits
/// there when the sources have stopped is sent after the last hold.
#[test]
fn a_single_queue_goes_on_after_a_flow_level_hold_although_its_source_has_stopped() {
    use weir_net::build::{self, star};
    let rate = Rate::from_gbps(10);
    let params = star::Params { hosts: 3, rate, ..star::Params::default() };
    let topology = build::star::build(&params).unwrap();
    for scheme in ["bfc", "flowsail", "ideal", "ffc", "ofc", "gpfc"] {
        let mut cfg = config(scheme);
        cfg.nic.discipline = NicDiscipline::Fifo;
        let source = |h: u32| FlowSpec {
            rate: Some(Rate::from_gbps(20)),
            stop: Some(Time::from_ns(2560)),
            ..flow(h, 0, u64::MAX)
        };
        let out = run(&topology, &[source(1), source(2)], &cfg);
        assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 2), "{scheme}");
    }
}

/// Whatever paces a flow without an end, the run ends when everything it sent is acknowledged.
#[test]
fn a_long_lived_flow_ends_after_its_stop_under_every_congestion_control() {
    use weir_cc::CcKind;
    for (kind, stop) in CcKind::ALL.iter().flat_map(|k| [7, 20, 33].map(|t| (*k, us(t)))) {
        let mut cfg = config("pfc");
        cfg.cc = CcParams::new(kind);
        let open = FlowSpec { stop: Some(stop), ..flow(0, 2, u64::MAX) };
        let other = FlowSpec { src: NodeId(1), ..open };
        let out = run(&star(3, "1us"), &[open, other], &cfg);
        assert_eq!(out.finish, Finish::Drained, "{kind:?} until {stop}");
        for f in &out.flows {
            assert_eq!((f.delivered.get(), f.finish()), (f.packets * 1500, None), "{kind:?}");
        }
    }
}

/// Bit errors lose 11 % of the frames, among them the last ones of a flow that has stopped.
#[test]
fn what_a_stopped_flow_lost_is_repaired() {
    use weir_sim::config::Reliability;
    for reliability in [Reliability::GoBackN, Reliability::SelectiveRepeat] {
        for seed in 0..20 {
            let mut cfg = config("pfc");
            (cfg.seed, cfg.nic.reliability) = (seed, reliability);
            cfg.link.bit_error_rate = 1e-5;
            cfg.nic.timeout = Some(us(50));
            let open = FlowSpec { stop: Some(us(5)), ..flow(0, 1, u64::MAX) };
            let out = run(&star(2, "1us"), &[open], &cfg);
            let f = &out.flows[0];
            assert_eq!(out.finish, Finish::Drained, "{reliability:?}, seed {seed}");
            assert_eq!(f.delivered.get(), (f.packets - f.retransmitted()) * 1500);
        }
    }
}

/// Of 100 datagrams some are lost: the flow is not done, although its last packet arrives.
#[test]
fn a_datagram_flow_with_losses_is_not_complete() {
    let mut cfg = config("none");
    cfg.switch.thresholds = ThresholdConfig::Pool;
    cfg.switch.buffer = Bytes::new(6_000);
    let source = |h: u32| FlowSpec { rate: Some(Rate::from_gbps(80)), ..flow(h, 2, 150_000) };
    let out = run(&star(3, "1us"), &[source(0), source(1)], &cfg);
    // they arrive in step, so that always the same one finds the buffer full
    let (whole, lossy) = (&out.flows[0], &out.flows[1]);
    assert!(lossy.lost() > 20 && lossy.delivered.get() == (100 - lossy.lost()) * 1500, "{lossy:?}");
    assert_eq!((whole.lost(), whole.finish().is_some(), lossy.finish()), (0, true, None));
    assert_eq!((&out.finish, out.totals.completed), (&Finish::Drained, 1));
}

/// A timeout of 2 us on a round trip of over 4 us: it fires, nothing was lost, and the run says so.
#[test]
fn a_timeout_without_a_loss_is_reported_as_such() {
    let mut cfg = config("pfc");
    cfg.nic.timeout = Some(us(2));
    let out = run(&star(2, "1us"), &[flow(0, 1, 1_500)], &cfg);
    let t = &out.totals;
    assert!(t.timeouts > 0 && t.needless_timeouts == t.timeouts, "{t:?}");
    assert_eq!(out.flows[0].needless_timeouts(), t.timeouts);
    // the sender waits for the timeout after a loss: that one was needed
    cfg.nic.timeout = Some(us(50));
    cfg.link.bit_error_rate = 1e-5;
    let out = run(&star(2, "1us"), &[flow(0, 1, 150_000)], &cfg);
    assert!(out.totals.timeouts > 0 && out.totals.needless_timeouts == 0, "{:?}", out.totals);
}

/// Control frames are lost, too: they are counted apart, so that drops add up.
#[test]
fn lost_control_frames_are_counted_apart() {
    let mut cfg = config("pfc");
    cfg.link.bit_error_rate = 3e-6;
    set(&mut cfg, "pause-quanta", "500");
    cfg.nic.timeout = Some(us(500));
    let flows: Vec<FlowSpec> = (0..8).map(|h| flow(h, 8, 1_000_000)).collect();
    let out = run(&star(9, "1us"), &flows, &cfg);
    let drops: u64 = out.drops.iter().map(|d| d.packets).sum();
    assert!(out.totals.control_dropped > 0, "{:?}", out.totals);
    assert_eq!(drops, out.totals.dropped);
}
