//! Hosts that take data in slowly: what their NICs do, and how far the pauses spread.

use crate::common::{DATA, config, flow, run, set, star};
use weir_core::{Bytes, NodeId, Rate, Reason, Time};
use weir_net::Topology;
use weir_net::build::leaf_spine;
use weir_sim::config::{
    Config, EngineConfig, IngressLimit, SlowReceiver, Stop, ThresholdConfig, WatchdogAction,
    WatchdogConfig,
};
use weir_sim::outcome::DropReason;
use weir_sim::{Finish, Outcome};

/// Host 1 takes nothing in from 10 us to 110 us.
fn stalled() -> SlowReceiver {
    SlowReceiver {
        host: NodeId(1),
        rate: Rate::from_bps(0),
        from: Time::from_us(10),
        to: Some(Time::from_us(110)),
        every: None,
        buffer: Bytes::from_kb(200),
        xoff: Bytes::from_kb(60),
        xon: Bytes::from_kb(30),
        prevention: None,
    }
}

fn with(receiver: SlowReceiver, scheme: &str) -> Config {
    Config { receivers: vec![receiver], ..config(scheme) }
}

/// 1 MB takes 80 us of payload at 100 Gb/s. Host 0 sends for 10 us, then into the buffer; it can go
/// on when the receiver is well again, at 110 us: 70 us of payload are left, less the 60 KB in
/// the buffer and what was on its way.
#[test]
fn a_stalled_receiver_pauses_its_sender_and_loses_nothing() {
    for scheme in ["pfc", "none", "ofc", "bfc", "gfc"] {
        let out = run(&star(2, "1us"), &[flow(0, 1, 1_000_000)], &with(stalled(), scheme));
        assert_eq!((&out.finish, out.totals.dropped), (&Finish::Drained, 0), "{scheme}");
        let fct = out.flows.iter().next().and_then(|f| f.fct()).expect("it is complete");
        let range = Time::from_us(160)..Time::from_us(190);
        assert!(range.contains(&fct), "{scheme}: {fct}");
        let own: Vec<_> = out.pauses.iter().filter(|e| e.node == NodeId(1)).collect();
        let [pause, resume] = own[..] else { panic!("{scheme}: {own:?}") };
        assert!(pause.pause && !resume.pause && pause.priority == DATA);
        let Reason::Threshold(why) = pause.reason else { panic!("{:?}", pause.reason) };
        assert_eq!((why.limit, why.threshold), ("xoff", Bytes::from_kb(60)));
        assert_eq!(resume.at, Time::from_us(110), "it is well again");
    }
}

/// At 10 Gb/s the packets of 1 MB, with headers of 48 B for 1000 B, take 838.4 us to be taken in.
#[test]
fn a_slow_receiver_takes_data_in_at_its_rate() {
    let slow = SlowReceiver { rate: Rate::from_gbps(10), from: Time::ZERO, to: None, ..stalled() };
    let cfg = with(slow, "pfc");
    let frame = cfg.nic.payload + cfg.nic.header;
    let out = run(&star(2, "1us"), &[flow(0, 1, 1_000_000)], &cfg);
    let fct = out.flows.iter().next().and_then(|f| f.fct()).expect("it is complete");
    let packets = 1_000_000_u64.div_ceil(cfg.nic.payload.get());
    let least = Rate::from_gbps(10).time_for(Bytes::new(frame.get() * (packets - 1)));
    assert!(fct > least && fct < least + Time::from_us(5), "{fct} for {least}");
    assert_eq!((out.finish, out.totals.dropped), (Finish::Drained, 0));
}

/// A pause lasts 335.5 us at 100 Gb/s. Without repetitions the switch would go on after 1 ms.
#[test]
fn a_pause_is_repeated_as_long_as_it_lasts() {
    let to = Some(Time::from_ms(2));
    let cfg = with(SlowReceiver { to, ..stalled() }, "ofc");
    let out = run(&star(2, "1us"), &[flow(0, 1, 1_000_000)], &cfg);
    assert_eq!((out.finish, out.totals.dropped), (Finish::Drained, 0));
    // the PAUSE after 15 us, 11 repetitions every 167.8 us up to 2 ms, and the RESUME
    assert_eq!(out.ports[1].control_sent, 13);
}

#[test]
fn a_receiver_that_is_never_well_again_stalls_the_run_which_says_who_waits_for_whom() {
    let cfg = with(SlowReceiver { to: None, ..stalled() }, "pfc");
    let out = run(&star(2, "1us"), &[flow(0, 1, 1_000_000)], &cfg);
    let Finish::Stalled(stuck) = &out.finish else { panic!("{:?}", out.finish) };
    assert!(stuck.iter().any(|s| s.waits_for == "a RESUME from h1"), "{stuck:?}");
}

/// The pause may last 20 us. Then the switch sends on, into a full buffer.
#[test]
fn storm_prevention_ends_the_pause_and_loses_what_does_not_fit() {
    let slow = SlowReceiver { prevention: Some(Time::from_us(20)), ..stalled() };
    let mut cfg = with(slow, "pfc");
    cfg.nic.timeout = Some(Time::from_us(300));
    let out = run(&star(2, "1us"), &[flow(0, 1, 2_000_000)], &cfg);
    assert_eq!((&out.finish, out.totals.storms_prevented), (&Finish::Drained, 1));
    assert!(out.totals.dropped > 0);
    assert!(out.drops.iter().all(|d| d.reason == DropReason::ReceiverFull), "{:?}", out.drops);
    let own: Vec<_> = out.pauses.iter().filter(|e| e.node == NodeId(1)).collect();
    assert_eq!(own[1].at - own[0].at, Time::from_us(20), "{own:?}");
    assert_eq!(own[1].reason, Reason::Words("storm prevention"));
}

/// Two leaves under one spine; h0 is sick for 1 ms from 50 us on. h4 sends to it, the others to
/// healthy hosts of the same leaf.
fn fabric(scheme: &str, change: impl Fn(&mut Config)) -> (Topology, Outcome) {
    let topology = leaf_spine::build(&leaf_spine::Params {
        leaves: 2,
        spines: 1,
        hosts_per_leaf: 4,
        rate: Rate::from_gbps(100),
        spine_rate: Rate::from_gbps(400),
        delay: Time::from_ns(500),
        spine_delay: Time::from_ns(500),
        ..leaf_spine::Params::default()
    });
    let topology = topology.expect("it builds");
    let (from, to) = (Time::from_us(50), Some(Time::from_us(1050)));
    let mut cfg = with(SlowReceiver { host: NodeId(0), from, to, ..stalled() }, scheme);
    cfg.nic.timeout = Some(Time::from_ms(3));
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::from_kb(200),
        xon: Bytes::from_kb(60),
        limit: IngressLimit::Lossless,
    };
    cfg.stop = Stop::At(Time::from_ms(50));
    change(&mut cfg);
    let sizes = [2_000_000, 5_000_000, 5_000_000, 5_000_000];
    let flows: Vec<_> = (0..4).map(|i| flow(4 + i, i, sizes[i as usize])).collect();
    let out = run(&topology, &flows, &cfg);
    assert_eq!(out.totals.completed, 4, "{scheme}: {:?}", out.finish);
    (topology, out)
}

/// The slowest of the flows whose receivers are healthy. Alone they take 440 us: 5 MB in packets of
/// 1 KB with headers.
fn innocent(out: &Outcome) -> Time {
    let others = out.flows.iter().filter(|f| f.dst != NodeId(0));
    others.filter_map(|f| f.fct()).max().expect("they are complete")
}

#[test]
fn under_pfc_the_storm_of_one_sick_host_stops_the_others() {
    let (topology, out) = fabric("pfc", |_| {});
    assert!(innocent(&out) > Time::from_ms(1), "{}", innocent(&out));
    // h0 paused leaf0, leaf0 the spine, the spine leaf1, leaf1 its hosts
    for name in ["h0", "leaf0", "spine0", "leaf1"] {
        let node = topology.node_by_name(name).expect("a node");
        assert!(out.pauses.iter().any(|e| e.pause && e.node == node), "{name}");
    }
    assert_eq!(out.totals.dropped, 0);
}

#[test]
fn a_watchdog_and_storm_prevention_contain_the_storm() {
    let detect = Time::from_us(100);
    let watchdog = WatchdogConfig { detect, restore: detect, action: WatchdogAction::Drop };
    let (_, watched) = fabric("pfc", |cfg| cfg.switch.watchdog = Some(watchdog));
    let (_, prevented) = fabric("pfc", |cfg| cfg.receivers[0].prevention = Some(detect));
    // held for 100 us at most, and the time it takes to fill and empty buffers
    for out in [&watched, &prevented] {
        assert!(innocent(out) < Time::from_us(700), "{}", innocent(out));
        assert!(out.totals.dropped > 0);
    }
    assert!(watched.totals.watchdog_storms > 0 && prevented.totals.storms_prevented > 0);
}

#[test]
fn schemes_that_know_flows_contain_the_storm_without_a_loss() {
    for scheme in ["ofc", "bfc", "ideal", "flowsail", "ffc"] {
        let (_, out) = fabric(scheme, |cfg| {
            if scheme == "ofc" {
                set(cfg, "alpha", "1/2");
            }
        });
        assert!(innocent(&out) < Time::from_us(450), "{scheme}: {}", innocent(&out));
        assert_eq!(out.totals.dropped, 0, "{scheme}");
    }
}

/// With 100 KB and OFC's usual 68/75 of it, 9 KB are between the list of flows and the pause of
/// everything: less than the 12.5 KB that come in during the microsecond of the two ways.
#[test]
fn ofc_needs_room_between_its_thresholds_to_contain_the_storm() {
    let (_, out) = fabric("ofc", |cfg| {
        cfg.switch.thresholds = ThresholdConfig::Static {
            xoff: Bytes::from_kb(100),
            xon: Bytes::from_kb(80),
            limit: IngressLimit::Lossless,
        };
    });
    assert!(innocent(&out) > Time::from_ms(1), "{}", innocent(&out));
}

#[test]
fn a_slow_receiver_gives_the_same_bytes_on_threads_and_without_shortcuts() {
    for scheme in ["pfc", "ofc", "flowsail"] {
        // shortcuts spare events
        let same = |change: fn(&mut Config)| {
            let (_, mut out) = fabric(scheme, change);
            out.totals.events = 0;
            out
        };
        let one = same(|_| {});
        assert!(one == same(|cfg| cfg.shortcuts = false), "{scheme}, without shortcuts");
        let two = same(|cfg| cfg.engine = EngineConfig::Window { threads: 2 });
        assert!(one == two, "{scheme}, two threads");
    }
}
