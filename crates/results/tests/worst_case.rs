//! The advised headroom against the simulator: enough at the worst case, and not much too much.

use std::sync::atomic::AtomicBool;
use weir_core::rng::Stream;
use weir_core::{Bytes, Length, Rate, Response, Time};
use weir_fabric::advice::{Budget, FRAMING};
use weir_fabric::{Asic, Rule};
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
    };
    WorstCase { budget, ports: 1 }
}

fn smallest(case: &WorstCase) -> Bytes {
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
        assert_eq!(smallest(&case), case.expected(), "{case:?}");
    }
}

#[test]
fn a_frame_of_the_peer_may_be_smaller_than_the_one_ahead_of_the_pause() {
    let mut case = case(100, 40, 9100, Response::Standard);
    case.budget.forward_frame = Bytes::new(1024) + FRAMING;
    case.budget.latency = Time::from_ns(500);
    assert_eq!(smallest(&case), case.expected());
    // preambles and gaps of 37 frames of a kilobyte, and the ACK
    let unused = case.budget.need() - case.expected();
    assert!(unused < Bytes::new(2048), "{unused}");
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
        };
        let case = WorstCase { budget, ports: 1 };
        let crossing = budget.forward_frame;
        let trial = case.run(Bytes::new(sizes.xoff) - crossing).expect("it runs");
        assert_eq!(trial.lost, 0, "{asic:?}");
        let below = budget.need() - Bytes::new(2000);
        assert!(case.run(below).expect("it runs").lost > 0, "{asic:?} {speed} {cable}");
    }
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

/// 500 links; a tenth by bisection, the others by one run at, and one a byte below, the smallest
/// headroom that the construction names.
#[test]
fn the_advice_is_lossless_and_at_most_10_percent_above_the_smallest() {
    for seed in 0..500 {
        let case = random(seed);
        assert_eq!(case.run(case.budget.need()).expect("it runs").lost, 0, "{seed} {case:?}");
        let found = match seed % 10 {
            0 => smallest(&case),
            _ => {
                let least = case.expected();
                let lost = |h: Bytes| case.run(h).expect("it runs").lost;
                assert_eq!(lost(least), 0, "seed {seed}");
                assert!(lost(least - Bytes::new(1)) > 0, "seed {seed}");
                least
            }
        };
        check(&case, found);
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
            .unwrap_or_else(|problems| panic!("{}", problems.render(false)));
        let done = run_alone(&e, e.own_variant(), &AtomicBool::new(false)).expect("it runs");
        (done.outcome.pauses.len(), done.outcome.drops.len())
    };
    let (pauses, drops) = run("0");
    assert!(pauses == 0 && drops > 0, "{pauses} {drops}");
    let (pauses, drops) = run("3");
    assert!(pauses > 0 && drops == 0, "{pauses} {drops}");
}
