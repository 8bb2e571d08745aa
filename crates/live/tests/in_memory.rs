//! Shells with bytes between them and a clock that is never late: live is then the simulation.

use std::collections::BTreeSet;
use std::sync::Arc;
use weir_core::{Bytes, NodeId, PortId, Time};
use weir_live::codec::Codec;
use weir_live::compare::SideBySide;
use weir_live::emulate::{self, Lateness};
use weir_live::lateness::Quantiles;
use weir_live::shell::{Plan, Shell, reason};
use weir_results::comparison::Comparison;
use weir_results::lineup::{Lineup, Otherwise, Request, Setting};
use weir_results::run::{Perf, Run};
use weir_sim::stations::{Ended, Station, run_apart};
use weir_sim::{Finish, Outcome};

const PS: Time = Time::from_ps(1);

fn load(scenario: &str, scheme: &str, sets: &[&str]) -> Lineup {
    let sets: Vec<String> = sets.iter().map(|&s| s.into()).collect();
    let schemes = [scheme.to_owned()];
    let request = Request { sets: &sets, schemes: &schemes, ..Request::default() };
    Lineup::load(scenario, &request, Otherwise::Own).expect("a scenario")
}

/// Hands every frame over at its stamped time, as bytes, until the run of the simulator would end.
/// `meddle` may put other bytes on a port first.
fn live(
    setting: &Setting,
    plain: &Outcome,
    end: Time,
    meddle: &mut dyn FnMut(Time, &mut [Shell<'_, '_>]),
) -> (Outcome, u64) {
    let e = &*setting.experiment;
    let config = e.config(setting.with_seed(1));
    let flows = e.traffic.all_flows(1).expect("flows with an end");
    let plan: Plan = Some(Arc::new(flows.iter().map(|f| (f.id, f.dst)).collect()));
    let drive = |stations: &mut [Station<'_>]| {
        let mut shells: Vec<Shell<'_, '_>> = stations
            .iter_mut()
            .map(|s| Shell::new(s, &e.topology, &config, plan.clone(), false))
            .collect();
        loop {
            let now = shells.iter().map(Shell::due).min().expect("there are nodes");
            if now >= end {
                break;
            }
            meddle(now, &mut shells);
            for i in 0..shells.len() {
                while let Some((port, out)) = shells[i].transmit(now) {
                    let link = e.topology.port(NodeId::from_index(i), port);
                    shells[link.peer.index()].receive(link.peer_port, out.due, &out.bytes, None);
                }
            }
            shells.iter_mut().for_each(|shell| shell.run(now + PS));
        }
        let mut refused = 0;
        for shell in &mut shells {
            shell.run(end);
            refused += shell.counts.refused.values().sum::<u64>();
            assert_eq!(shell.counts.lost, 0);
        }
        for i in 0..shells.len() {
            for (port, out) in shells[i].unsent() {
                let link = e.topology.port(NodeId::from_index(i), port);
                shells[link.peer.index()].give(link.peer_port, out.due, out.parcel);
            }
        }
        (Ended::at(plain.finish.clone(), end), refused)
    };
    let (outcome, refused) =
        run_apart(&e.topology, &e.prepared(&config), &e.traffic, &config, drive).expect("nodes");
    (outcome.expect("nothing is lost"), refused)
}

/// The end of a run that has drained: the next point of the grid of 10 us.
fn end(outcome: &Outcome) -> Time {
    let grid = Time::from_us(10).as_ps();
    Time::from_ps((outcome.end.as_ps() / grid + 1) * grid)
}

fn simulated(setting: &Setting) -> Outcome {
    let e = &*setting.experiment;
    let config = e.config(setting.with_seed(1));
    weir_sim::run(&e.topology, &e.traffic, &config, &mut ()).expect("it runs")
}

fn same(plain: &Outcome, live: &Outcome, what: &str) {
    assert_eq!(live.digest, plain.digest, "{what}: flows");
    assert_eq!(live.ports, plain.ports, "{what}: ports");
    assert_eq!(live.drops, plain.drops, "{what}: drops");
}

#[test]
fn with_a_perfect_clock_live_is_the_simulation_under_every_scheme() {
    for scheme in weir_fc::SCHEMES.iter() {
        let sets = ["traffic.0.size=100KB"];
        for scenario in ["incast", "ofc-fig1"] {
            let sets = if scenario == "incast" { &sets[..] } else { &[] };
            let lineup = load(scenario, scheme.name, sets);
            let plain = simulated(&lineup.settings[0]);
            let (live, refused) = live(&lineup.settings[0], &plain, end(&plain), &mut |_, _| ());
            same(&plain, &live, scheme.name);
            assert_eq!(refused, 0, "{}", scheme.name);
        }
    }
}

fn late_by(p50: f64, most: f64) -> Lateness {
    let measured = Quantiles {
        count: 1,
        p50_ns: Some(p50),
        p99_ns: Some(p50),
        p999_ns: Some(most),
        max_ns: Some(most),
    };
    Lateness::new(&measured).expect("measured")
}

#[test]
fn without_a_kernel_and_never_late_it_is_the_simulation() {
    for scheme in weir_fc::SCHEMES.iter() {
        for scenario in ["incast", "ofc-fig1"] {
            let lineup = load(scenario, scheme.name, &["run.until=200us"]);
            let setting = &lineup.settings[0];
            let plain = simulated(setting);
            let run =
                emulate::run(&setting.experiment, setting.with_seed(1), &late_by(0.0, 0.0), 1);
            same(&plain, &run.expect("it runs").outcome, scheme.name);
        }
    }
}

#[test]
fn nodes_that_wake_up_late_move_completion_times_and_lose_nothing() {
    for scheme in weir_fc::SCHEMES.iter() {
        let lineup = load("incast", scheme.name, &["traffic.0.size=100KB"]);
        let setting = &lineup.settings[0];
        let plain = simulated(setting);
        let late = |draw| {
            let lateness = late_by(20.0, 2000.0);
            let (e, variant) = (&setting.experiment, setting.with_seed(1));
            emulate::run(e, variant, &lateness, draw).expect("nothing is lost")
        };
        let (once, again, other) = (late(1), late(1), late(2));
        assert_eq!(once.outcome.digest, again.outcome.digest, "{}", scheme.name);
        assert_ne!(once.outcome.digest, other.outcome.digest, "{}", scheme.name);
        assert_ne!(once.outcome.digest, plain.digest, "{}", scheme.name);
        let done = |o: &Outcome| o.flows.iter().filter(|f| f.fct().is_some()).count();
        assert_eq!(done(&once.outcome), done(&plain), "{}", scheme.name);
        let most = once.late.max_ns.expect("frames were sent");
        assert!(most > 0.0 && most <= 2000.0 + 1.0, "{}: {most}", scheme.name);
    }
}

/// FlowSail's Fig. 8: one PAUSE in some hundred that takes effect late, and f2 is held, too.
#[test]
fn one_late_pause_decides_whom_flowsail_holds() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/flowsail/f8.scenario.toml");
    let held = |sets: &[&str]| {
        let sets: Vec<&str> = sets.iter().copied().chain(["nic.queues=per-flow"]).collect();
        let lineup = load(file, "flowsail", &sets);
        let topology = &lineup.settings[0].experiment.topology;
        let outcome = simulated(&lineup.settings[0]);
        let side = SideBySide::new(topology, &outcome, &outcome);
        side.held_live().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let late = "fault=[{ link = [\"A\", \"B\"], message = \"pause\", what = \"delay\", \
                by = \"400ns\", nth = 50 }]";
    assert_eq!(held(&[]), ["f0.0 S > R1"]);
    assert_eq!(held(&[late]), ["f0.0 S > R1", "f0.1 S > R1"]);
}

#[test]
fn marks_telemetry_and_answers_survive_as_bytes() {
    for sets in [
        &["congestion-control.algorithm=hpcc"][..],
        &["congestion-control.algorithm=dcqcn", "switch.ecn={ kmin = \"5KB\", kmax = \"50KB\" }"],
        &["nic.reliability=selective-repeat"],
        &["nic.transport=tcp"],
    ] {
        let sets: Vec<&str> = sets.iter().copied().chain(["traffic.0.size=200KB"]).collect();
        let lineup = load("incast", "pfc", &sets);
        let plain = simulated(&lineup.settings[0]);
        let (live, refused) = live(&lineup.settings[0], &plain, end(&plain), &mut |_, _| ());
        same(&plain, &live, sets[0]);
        assert_eq!(refused, 0, "{sets:?}");
    }
}

#[test]
fn nodes_that_wait_for_each_other_end_as_the_deadlock_of_the_simulation() {
    let lineup = load("ring-deadlock", "pfc", &[]);
    let plain = simulated(&lineup.settings[0]);
    assert!(matches!(plain.finish, Finish::Deadlock(_)), "{:?}", plain.finish);
    // a live run that finds all nodes still knows no more than that
    let still = Outcome { finish: Finish::Stalled(Vec::new()), ..plain.clone() };
    let later = plain.end + Time::from_ms(2);
    let (live, _) = live(&lineup.settings[0], &still, later, &mut |_, _| ());
    assert_eq!(live.finish, plain.finish);
}

#[test]
fn flows_that_stand_for_each_other_are_compared_in_the_order_of_their_ends() {
    let sets = ["traffic.0.size=200KB"];
    let [pfc, none] = ["pfc", "none"].map(|scheme| load("incast", scheme, &sets));
    let topology = &pfc.settings[0].experiment.topology;
    let (a, b) = (simulated(&pfc.settings[0]), simulated(&none.settings[0]));
    let same = SideBySide::new(topology, &a, &a);
    assert_eq!((same.worst_flow(), same.worst_rank()), (Some(0.0), Some(0.0)));
    assert!(same.same_held() && !same.flows_held.is_empty());
    let side = SideBySide::new(topology, &a, &b);
    // eight senders that begin together, of one class and size: one group
    let ends: Vec<[f64; 2]> =
        side.ranks.iter().map(|p| [p.simulated, p.live].map(|x| x.expect("it ends"))).collect();
    assert_eq!(ends.len(), 8);
    assert!(ends.windows(2).all(|w| w[0][0] <= w[1][0] && w[0][1] <= w[1][1]), "{ends:?}");
    // nobody is held without flow control
    assert!(!side.same_held());
}

#[test]
fn the_page_of_a_live_run_says_so() {
    let lineup = load("incast", "pfc", &["traffic.0.size=20KB"]);
    let setting = &lineup.settings[0];
    let (e, variant) = (&setting.experiment, setting.with_seed(1));
    let outcome = simulated(setting);
    let mut run = Run::of_outcome(e, variant, e.config(variant), outcome, Perf::default());
    let page = |run: &Run| {
        weir_results::report::page(
            &Comparison::of(&lineup, vec![(0, run.clone())]),
            "weir live run incast",
        )
    };
    assert!(!page(&run).contains("real frames"));
    run.made = Some("Live: real frames & no simulation".into());
    assert!(page(&run).contains("Live: real frames &amp; no simulation"));
}

/// A small generator: the test prints its seed with every failure, and needs no more of it.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Random bytes, cut and altered frames of every kind, at every port of a switch: the flows end,
/// and what is no frame of the network is counted.
#[test]
fn hostile_frames_are_counted_and_stop_nobody() {
    for (n, scheme) in weir_fc::SCHEMES.iter().enumerate() {
        let lineup = load("incast", scheme.name, &["traffic.0.size=50KB", "run.until=1ms"]);
        let plain = simulated(&lineup.settings[0]);
        let mut random = Random(0x9e37_79b9 + n as u64);
        let switch = 9;
        let mut sent = 0;
        let mut meddle = |now: Time, shells: &mut [Shell<'_, '_>]| {
            if sent >= 20_000 {
                return;
            }
            for _ in 0..4 {
                sent += 1;
                let bytes = hostile(&mut random);
                let port = PortId((random.next() % 9) as u16);
                shells[switch].receive(port, now, &bytes, None);
            }
        };
        let (_, refused) = live_with_visitors(&lineup.settings[0], &plain, &mut meddle);
        assert!(refused > 1000, "{}: {refused} refused", scheme.name);
    }
}

/// Control frames that the nodes have sent, some bytes of them changed or cut off, at any
/// port of any node: they may hold whom they like, but no node panics.
#[test]
fn control_frames_that_lie_make_no_node_panic() {
    for (n, scheme) in weir_fc::SCHEMES.iter().enumerate() {
        let lineup = load("ofc-fig1", scheme.name, &["run.until=200us"]);
        let e = &*lineup.settings[0].experiment;
        let config = e.config(lineup.settings[0].with_seed(1));
        let plan: Plan = None;
        let mut random = Random(0x51ed_2705 + n as u64);
        let (mut heard, mut lies) = (Vec::<Vec<u8>>::new(), 0);
        let drive = |stations: &mut [Station<'_>]| {
            let mut shells: Vec<Shell<'_, '_>> = stations
                .iter_mut()
                .map(|s| Shell::new(s, &e.topology, &config, plan.clone(), true))
                .collect();
            loop {
                let now = shells.iter().map(Shell::due).min().expect("there are nodes");
                if now >= Time::from_us(200) {
                    break;
                }
                for i in 0..shells.len() {
                    while let Some((port, out)) = shells[i].transmit(now) {
                        let link = e.topology.port(NodeId::from_index(i), port);
                        let peer = &mut shells[link.peer.index()];
                        peer.receive(link.peer_port, out.due, &out.bytes, None);
                        if out.control && heard.len() < 500 {
                            heard.push(out.bytes);
                        }
                    }
                }
                if lies < 20_000 && !heard.is_empty() {
                    lies += 1;
                    let bytes = lie(&heard[random.below(heard.len())], &mut random);
                    let node = random.below(shells.len());
                    let ports = e.topology.ports(NodeId::from_index(node)).len();
                    let port = PortId::from_index(random.below(ports));
                    shells[node].receive(port, now, &bytes, None);
                }
                shells.iter_mut().for_each(|shell| shell.run(now + PS));
            }
            (Ended::at(Finish::Interrupted, Time::from_us(200)), ())
        };
        // books that do not add up are no wonder: packets on their way were not handed over
        let _ = run_apart(&e.topology, &e.prepared(&config), &e.traffic, &config, drive);
        assert!(lies > 0 || heard.is_empty(), "{}", scheme.name);
    }
}

/// A frame with up to four other bytes behind its addresses, and sometimes without its end.
fn lie(frame: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = frame.to_vec();
    for _ in 0..random.below(5) {
        // what counts stands at the front of the payload
        let from = if random.below(2) == 0 { 12 } else { bytes.len() - 14 };
        let at = 14 + random.below(from);
        bytes[at] = [0, 1, 0xff, random.next() as u8][random.below(4)];
    }
    if random.below(8) == 0 {
        bytes.truncate(14 + random.below(bytes.len() - 14));
    }
    bytes
}

#[test]
fn a_million_random_frames_are_read_or_refused_by_a_bounded_number_of_reasons() {
    let lineup = load("incast", "bfc", &[]);
    let e = &*lineup.settings[0].experiment;
    let config = e.config(lineup.settings[0].with_seed(1));
    let mut codec = Codec::new(&e.topology, &config);
    let mut random = Random(0x2545_f491);
    let (mut read, mut reasons) = (0, BTreeSet::new());
    for _ in 0..1_000_000 {
        match codec.decode(&hostile(&mut random)) {
            Ok(_) => read += 1,
            Err(why) => {
                reasons.insert(reason(&why));
            }
        }
    }
    // opcodes, EtherTypes and lengths of the frame are not in the words that are counted
    assert!(reasons.len() < 64, "{reasons:?}");
    assert!(read < 10_000, "{read} of random bytes were frames of the network");
}

#[test]
fn a_host_cannot_send_in_the_name_of_another() {
    let lineup = load("incast", "pfc", &["traffic.0.size=50KB"]);
    let plain = simulated(&lineup.settings[0]);
    // an IPv4 packet that begins like one: from h1 to h0, and the same from h2
    let mut frame = vec![2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0, 0x45];
    frame.resize(64, 0);
    let mut spoofed = frame.clone();
    spoofed[11] = 2;
    let mut sent = 0;
    let mut meddle = |now: Time, shells: &mut [Shell<'_, '_>]| {
        if sent < 10 {
            sent += 1;
            // the switch, at its port to h1; a host believes nothing that is not Weir's
            shells[9].receive(PortId(1), now, &spoofed, None);
            shells[0].receive(PortId(0), now, &frame, None);
        }
    };
    let (_, refused) = live(&lineup.settings[0], &plain, end(&plain), &mut meddle);
    assert_eq!(refused, 20);
}

/// Bytes of any length; half of them begin like frames of the network.
fn hostile(random: &mut Random) -> Vec<u8> {
    let len = (random.next() % 200) as usize;
    let mut bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
    let heads: [&[u8]; 4] = [
        &[1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 1],
        &[1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0xb5],
        &[2, 0, 0, 0, 0, 99, 2, 0, 0, 0, 0, 1, 8, 0, 0x45],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6],
    ];
    let head = heads[(random.next() % 4) as usize];
    if random.next().is_multiple_of(2) {
        let n = head.len().min(bytes.len());
        bytes[..n].copy_from_slice(&head[..n]);
    }
    bytes
}

/// [`live`], where hostile pauses may keep flows from ending: only the counts are of interest.
fn live_with_visitors(
    setting: &Setting,
    plain: &Outcome,
    meddle: &mut dyn FnMut(Time, &mut [Shell<'_, '_>]),
) -> ((), u64) {
    let (_, refused) = live(setting, plain, Time::from_ms(1), meddle);
    ((), refused)
}

#[test]
fn a_pfc_frame_of_another_tool_pauses_for_exactly_its_quanta() {
    // one host sends to another; a PAUSE of 1000 quanta comes at 5 us from the receiver's side
    let lineup = load("incast", "pfc", &["traffic.0.from=h1", "traffic.0.size=500KB"]);
    let setting = &lineup.settings[0];
    let plain = simulated(setting);
    // written by hand: 802.1Qbb, priority 3, 1000 quanta
    let mut pause = vec![1, 0x80, 0xc2, 0, 0, 1, 0, 1, 2, 3, 4, 5, 0x88, 8, 1, 1, 0, 8];
    pause.extend([0, 0, 0, 0, 0, 0, 1000u16.to_be_bytes()[0], 1000u16.to_be_bytes()[1]]);
    pause.resize(60, 0);
    let mut done = false;
    let mut meddle = |now: Time, shells: &mut [Shell<'_, '_>]| {
        if now >= Time::from_us(20) && !done {
            done = true;
            // the port of the switch to h0, which receives
            shells[9].receive(PortId(0), now, &pause, None);
        }
    };
    let later = end(&plain) + Time::from_us(20);
    let (live, _) = live(setting, &plain, later, &mut meddle);
    // 1000 quanta of 512 bit times at 100 Gb/s are 5.12 us; the switch has more than that queued
    // nowhere, so the flow ends later by that time, less what the frame on the wire had left
    let fct = |o: &Outcome| o.flows.iter().next().and_then(|f| f.fct()).expect("it ends");
    let longer = fct(&live) - fct(&plain);
    let frame = Time::from_ps((1518 + 20) * 80);
    let pause = Time::from_ps(5_120_000);
    assert!(longer <= pause && longer + frame >= pause, "{longer}");
    let held: Time = live.ports.iter().flat_map(|p| p.held_time).fold(Time::ZERO, |a, b| a + b);
    assert_eq!(held, pause);
    assert_eq!(live.flows.iter().map(|f| f.delivered).sum::<Bytes>(), Bytes::from_kb(500));
}
