//! The advised headroom against the simulator: enough at the worst case, and not much too much.

use std::sync::atomic::AtomicBool;
use weir_core::rng::Stream;
use weir_core::{Bytes, Length, Rate, Response, Time};
use weir_fabric::advice::{Budget, Cells, FRAMING};
use weir_fabric::{Asic, Rule};
use weir_fc::Cell;
use weir_results::run::run_alone;
use weir_results::worst_case::WorstCase;
use weir_scenario::{Experiment, Files};

fn case(gbps: u64, metres: u64, mtu: u64, response: Response) -> WorstCase {
    let frame = Bytes::new(mtu).saturating_add(FRAMING);
    let budget = Budget {
        rate: Rate::from_gbps(gbps),
        delay: Length::from_metres(metres).delay(Length::PER_METRE),
        response,
        latency: Time::ZERO,
        interface: Time::ZERO,
        reverse_frame: frame,
        forward_frame: frame,
        cells: None,
    };
    WorstCase { budget, ports: 1 }
}

fn smallest_of(case: &WorstCase) -> Bytes {
    let found = case.smallest(case.budget.need());
    found.expect("the scenario runs").expect("the advice is lossless")
}

/// What the construction says arrives is what arrives: to the byte.
#[test]
fn the_worst_case_is_what_it_is_constructed_to_be() {
    for case in [
        case(100, 40, 1500, Response::Standard),
        case(400, 100, 4096, Response::Standard),
        case(10, 1, 256, Response::NONE),
        case(800, 2000, 9216, Time::from_us(2).into()),
        case(25, 300, 1024, Time::from_ns(700).into()),
    ] {
        assert_eq!(smallest_of(&case), case.expected(), "{case:?}");
    }
}

#[test]
fn a_frame_of_the_peer_may_be_smaller_than_the_one_ahead_of_the_pause() {
    let mut case = case(100, 40, 9100, Response::Standard);
    case.budget.forward_frame = Bytes::new(1024) + FRAMING;
    case.budget.latency = Time::from_ns(500);
    assert_eq!(smallest_of(&case), case.expected());
    // preambles and gaps of 37 frames of a kilobyte, and the ACK
    let unused = case.budget.need() - case.expected();
    assert!(unused < Bytes::new(2048), "{unused}");
}

#[test]
fn a_slow_link_has_a_worst_case_too() {
    let mut case = case(1, 1000, 256, Response::NONE);
    assert!(case.is_fast_enough());
    for mbps in [10, 30, 100] {
        case.budget.rate = Rate::from_bps(mbps * 1_000_000);
        assert_eq!(smallest_of(&case), case.expected(), "{case:?}");
    }
    case.budget.rate = Rate::from_bps(9_000_000);
    assert!(!case.is_fast_enough());
}

#[test]
fn several_links_at_once_are_no_worse_than_one() {
    let case = WorstCase { ports: 4, ..case(100, 100, 1500, Response::Standard) };
    assert_eq!(case.run(case.expected()).expect("it runs").lost, 0);
    let below = Bytes::new(case.expected().get() - 1);
    assert_eq!(case.run(below).expect("it runs").lost, 4);
}

/// The seven published vectors: the advised headroom loses nothing, 2 kB less than the part of it
/// that the model has (frames, cable, MAC and PHY, response; no cells, no tiles) loses.
#[test]
fn the_published_vectors_lose_nothing_and_two_kilobytes_below_the_need_they_lose() {
    for (asic, speed, cable) in [
        ("spectrum-1", 100, 5),
        ("spectrum-2", 100, 5),
        ("spectrum-2", 100, 40),
        ("spectrum-2", 200, 40),
        ("spectrum-4", 400, 5),
        ("spectrum-4", 400, 40),
        ("tofino-2", 400, 40),
    ] {
        let asic = Asic::find(asic).expect("a family");
        let rule = Rule::new(asic, speed * 1000, cable);
        let sizes = rule.apply().expect("a rule");
        let rate = Rate::from_gbps(speed);
        let budget = Budget {
            rate,
            delay: Length::from_metres(cable).delay(Time::from_ps(5_051)),
            response: Response::Standard,
            latency: Time::ZERO,
            interface: rate.time_for(Bytes::new(asic.mac_phy_tenths * 1024 / 10)),
            reverse_frame: Bytes::new(rule.port_mtu),
            forward_frame: Bytes::new(rule.lossless_mtu),
            cells: None,
        };
        let case = WorstCase { budget, ports: 1 };
        let crossing = budget.forward_frame;
        let trial = case.run(Bytes::new(sizes.xoff) - crossing).expect("it runs");
        assert_eq!(trial.lost, 0, "{asic:?}");
        let below = budget.need() - Bytes::new(2000);
        assert!(case.run(below).expect("it runs").lost > 0, "{asic:?} {speed} {cable}");
    }
}

fn in_cells(case: WorstCase, cell: u64, smallest: u64) -> WorstCase {
    let cell = Cell::new(Bytes::new(cell)).expect("a cell");
    let cells = Some(Cells { cell, smallest: Bytes::new(smallest) });
    WorstCase { budget: Budget { cells, ..case.budget }, ..case }
}

/// In cells, what the construction says arrives is what arrives, to the byte; the advice covers
/// it and is at most 15 % more: preambles, the ACK, and the rest of a packet.
#[test]
fn the_worst_case_in_cells_is_what_it_is_constructed_to_be() {
    for (case, cell, smallest) in [
        (case(100, 5, 1024, Response::Standard), 96, 64),
        (case(100, 40, 4096, Response::Standard), 144, 64),
        (case(400, 5, 1024, Time::from_ns(100).into()), 192, 64),
        (case(25, 300, 1500, Time::from_ns(700).into()), 256, 64),
        (case(100, 40, 1500, Response::Standard), 208, 1518),
        (case(10, 20, 1500, Response::NONE), 100, 19),
    ] {
        let case = in_cells(case, cell, smallest);
        assert_eq!(smallest_of(&case), case.expected(), "{case:?}");
        let (advised, least) = (case.budget.need().get(), case.expected().get());
        assert!(advised >= least, "{case:?}");
        assert!(advised as f64 / least as f64 <= 1.15, "{advised} {least} {case:?}");
    }
}

#[test]
fn more_packets_than_a_run_takes_are_known_before_it() {
    // 20 000 km at 800 Gb/s: 20 GB arrive
    let far = case(800, 20_000_000, 4096, Response::NONE);
    assert_eq!(far.most_ports(), None);
    assert!(case(800, 2000, 4096, Response::NONE).most_ports() >= Some(8));
    // 64 B packets are flows of their own: 800 Gb/s x 20 us are 24 000 of them
    assert_eq!(in_cells(case(800, 2000, 4096, Response::NONE), 192, 64).most_ports(), None);
}

/// A link of 10 to 800 Gb/s, 1 to 2000 m, MTU 256 to 9216, response up to 2 us.
fn random(seed: u64) -> WorstCase {
    let mut draw = Stream::new(seed, "random links", 0);
    let mut whole = |low: u64, high: u64| draw.between(low, high);
    let gbps = whole(10, 800);
    let (metres, mtu) = (whole(1, 2000), whole(256, 9216));
    case(gbps, metres, mtu, Time::from_ps(whole(0, 2_000_000)).into())
}

/// The advice is the need and the packet that crosses the threshold; compared with the smallest
/// that a bisection finds and the same packet.
fn check(case: &WorstCase, smallest: Bytes) {
    let crossing = case.budget.forward_frame;
    let (advised, least) = (case.budget.advised(), smallest + crossing);
    assert!(advised >= least, "{case:?}");
    let above = advised.get() as f64 / least.get() as f64;
    assert!(above <= 1.1, "{above} {case:?}");
}

/// 500 links, each compared with the smallest headroom that bisection finds, which is the one that
/// the construction names.
#[test]
fn the_advice_is_lossless_and_at_most_10_percent_above_the_smallest() {
    for seed in 0..500 {
        let case = random(seed);
        assert_eq!(case.run(case.budget.need()).expect("it runs").lost, 0, "{seed} {case:?}");
        let found = smallest_of(&case);
        assert_eq!(found, case.expected(), "seed {seed}");
        check(&case, found);
    }
}

/// The same in cells, of links on which at most 500 packets arrive: their runs are slower.
#[test]
fn the_advice_in_cells_is_lossless_and_at_most_15_percent_above_the_smallest() {
    let (mut seed, mut found) = (0, 0);
    while found < 40 {
        seed += 1;
        let mut draw = Stream::new(seed, "random cells", 0);
        let (cell, smallest) = (draw.between(1, 512), draw.between(19, 300));
        let case = in_cells(random(seed), cell, smallest);
        if case.packets() > 500 {
            continue;
        }
        found += 1;
        let lost = |h: Bytes| case.run(h).expect("it runs").lost;
        let (need, least) = (case.budget.need(), case.expected());
        assert_eq!(lost(need), 0, "{seed} {case:?}");
        assert_eq!(lost(least), 0, "{seed} {case:?}");
        assert!(lost(least - Bytes::new(1)) > 0, "{seed} {case:?}");
        let above =
            |stored: Bytes| case.budget.advised().get() as f64 / (least + stored).get() as f64;
        assert!(above(case.budget.stored()) <= 1.15, "{seed} {case:?}");
    }
}

/// Congestion of a priority that is not lossless drops packets and pauses nobody.
#[test]
fn a_lossy_priority_never_sends_a_pause() {
    let text = "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\n[switch]\n\
                buffer = \"200KB\"\nlossless = [3]\n\
                thresholds = { xoff = \"20KB\", xon = \"10KB\" }\n\
                [run]\nuntil = \"200us\"\n[[traffic]]\nkind = \"burst\"\nfrom = [\"h1\", \"h2\", \
                \"h3\"]\nto = \"h0\"\nsize = \"1MB\"\npriority = PRIORITY\n";
    let run = |priority: &str| {
        let text = text.replace("PRIORITY", priority);
        let e = Experiment::read("x.toml", &text, Files::default(), &[])
            .unwrap_or_else(|problems| panic!("{problems}"));
        let done = run_alone(&e, e.own_variant(), &AtomicBool::new(false)).expect("it runs");
        (done.outcome.pauses.len(), done.outcome.drops.len())
    };
    let (pauses, drops) = run("0");
    assert!(pauses == 0 && drops > 0, "{pauses} {drops}");
    let (pauses, drops) = run("3");
    assert!(pauses > 0 && drops == 0, "{pauses} {drops}");
}
