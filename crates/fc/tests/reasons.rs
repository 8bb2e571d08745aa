//! The reason that a scheme states with a control message is the true one.
//!
//! The bench has links of 40 Gb/s, packets of 1000 B, and thresholds of 75 KB and 45 KB.

use weir_core::reason::{Measured, Quantity, Relation};
use weir_core::rng::Stream;
use weir_core::{Bytes, ControlMessage, PortId, Rate, Reason, Time};
use weir_fc::harness::{Bench, PRIORITY, given};
use weir_fc::{LinkState, SCHEMES, scheme};

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);
const IN2: PortId = PortId(2);

fn bytes(n: u64) -> Bytes {
    Bytes::new(n)
}

fn bench(name: &str, options: &[(&str, &str)]) -> Bench {
    let info = scheme(name).expect("a scheme");
    Bench::switch(info, &given(info, options), 3)
}

/// The reasons of the frames that `packets` packets of one flow from `IN` to `OUT` cause, and of
/// those that their departures cause.
fn in_and_out(b: &mut Bench, packets: u32) -> (Vec<Reason>, Vec<Reason>) {
    for seq in 0..packets {
        b.arrive(b.packet(IN, 1000).flow(1, 1, 20).seq(seq), OUT);
    }
    let came = b.reasons().to_vec();
    b.take_sent();
    // a packet may go from queue to queue before it leaves
    while b.view().q_out(OUT, PRIORITY) > bytes(0) {
        for queue in b.up_next(OUT) {
            b.depart(OUT, queue);
        }
    }
    (came, b.reasons().to_vec())
}

#[test]
fn pfc_names_the_ingress_and_its_thresholds_and_a_refresh_is_one() {
    let mut b = bench("pfc", &[]);
    let (paused, resumed) = in_and_out(&mut b, 80);
    assert_eq!(paused, [Reason::ingress(IN, bytes(75_000)).at_least("xoff", bytes(75_000))]);
    assert_eq!(resumed, [Reason::ingress(IN, bytes(45_000)).at_most("xon", bytes(45_000))]);
    for seq in 0..75 {
        b.arrive(b.packet(IN, 1000).seq(seq), OUT);
    }
    b.take_sent();
    b.fire_next();
    assert_eq!(b.reasons(), [Reason::Refresh]);
}

/// The egress is above 68 KB with the 69th packet, before the ingress is at 75 KB; the egress is at
/// 45 KB when the ingress is, and is looked at first.
#[test]
fn capfc_names_the_egress_that_is_long() {
    let (paused, resumed) = in_and_out(&mut bench("capfc", &[]), 80);
    let egress = |n| Reason::egress(OUT, bytes(n));
    assert_eq!(paused, [egress(69_000).above("egress-xoff", bytes(68_000))]);
    assert_eq!(resumed, [egress(45_000).at_most("egress-xon", bytes(45_000))]);
}

/// With an egress threshold out of reach the ingress decides; strict is above and below.
#[test]
fn capfc_names_the_ingress_where_it_decides() {
    let far = [("egress-xoff", "1MB"), ("ingress-test", "strict")];
    let (paused, resumed) = in_and_out(&mut bench("capfc", &far), 80);
    assert_eq!(paused, [Reason::ingress(IN, bytes(76_000)).above("xoff", bytes(75_000))]);
    assert_eq!(resumed, [Reason::ingress(IN, bytes(44_000)).below("xon", bytes(45_000))]);
}

/// A pause that was lost with its link is said again when the link is up.
#[test]
fn what_is_said_again_after_a_failure_names_the_link() {
    for (name, options) in [
        ("pfc", &[][..]),
        ("capfc", &[]),
        ("gfc", &[("mode", "ofc")]),
        ("gpfc", &[]),
        ("ofc", &[]),
        ("bfc", &[("hop-rtt", "1us")]),
        ("ideal", &[("hop-rtt", "1us")]),
        ("flowsail", &[("hop-rtt", "1us")]),
    ] {
        let mut b = bench(name, options);
        for seq in 0..76 {
            b.arrive(b.packet(IN, 1000).seq(seq), OUT);
        }
        b.link(IN, LinkState::Down);
        b.take_sent();
        b.link(IN, LinkState::Up);
        let again = b.reasons();
        assert!(!again.is_empty(), "{name}");
        assert!(again.iter().all(|reason| *reason == Reason::Link), "{name}: {again:?}");
    }
}

/// The egress holds all of what three ports hold: 68 KB, three times the average of 22 666 B.
#[test]
fn ppfc_names_the_egress_that_is_longer_than_average() {
    let (paused, resumed) = in_and_out(&mut bench("ppfc", &[]), 80);
    let egress = Reason::egress(OUT, bytes(68_000));
    assert_eq!(paused, [egress.above("average", bytes(22_666))]);
    assert_eq!(resumed, [Reason::ingress(IN, bytes(45_000)).at_most("xon", bytes(45_000))]);
}

/// Samples 1 us apart: 10 KB per us from the second on, smoothed by half to 5 KB per us, then 7.5.
/// With a horizon of 5 us the queue of 20 KB is expected at 20 + 37.5 = 57.5 KB, and that of 30 KB,
/// with a slope of 8.75 KB per us, at 73.75; that of 40 KB, with 9.375, at 86.875 KB.
#[test]
fn ppfc_names_the_length_it_expects() {
    let mut b = bench("ppfc", &[("mode", "paper"), ("horizon", "5us")]);
    for seq in 0..50 {
        b.now = Time::from_us(1 + u64::from(seq) / 10);
        b.arrive(b.packet(IN, 1000).seq(seq), OUT);
    }
    let [Reason::Threshold(first)] = *b.reasons() else { panic!("{:?}", b.reasons()) };
    assert_eq!((first.quantity, first.limit), (Quantity::Forecast, "xoff"));
    assert_eq!((first.relation, first.threshold), (Relation::AtLeast, bytes(75_000)));
    assert!(b.view().q_in(IN, PRIORITY) < bytes(75_000), "foreseen: it is not there yet");
}

/// Stages of the OFC paper's reading: 68 KB, then half of what is left up to 75 KB (71.5, 73.25,
/// where a frame still fits); the rate is zero from 75 KB to 45 KB.
#[test]
fn gfc_names_the_stage_that_is_reached() {
    let (slowed, resumed) = in_and_out(&mut bench("gfc", &[("mode", "ofc")]), 76);
    let ingress = |n| Reason::ingress(IN, bytes(n));
    assert_eq!(slowed[0], ingress(68_000).at_least("stage", bytes(68_000)));
    assert_eq!(slowed[1], ingress(72_000).at_least("stage", bytes(71_500)));
    assert_eq!(slowed.last(), Some(&ingress(75_000).at_least("xoff", bytes(75_000))));
    assert_eq!(resumed, [ingress(45_000).at_most("xon", bytes(45_000))]);
}

/// Stages at 10, 15 and 17.5 KB below B_m = 20 KB; a stage ends 2 KB below where it begins.
#[test]
fn gfc_names_the_stage_that_is_left_with_its_hysteresis() {
    let options = [("mode", "paper"), ("b-m", "20KB"), ("b-1", "10KB"), ("down-hysteresis", "2KB")];
    let (up, down) = in_and_out(&mut bench("gfc", &options), 15);
    let ingress = |n| Reason::ingress(IN, bytes(n));
    let rise = [(10_000, 10_000), (15_000, 15_000)];
    assert_eq!(up, rise.map(|(n, b)| ingress(n).at_least("stage", bytes(b))));
    let fall = [(12_000, 13_000), (7_000, 8_000)];
    assert_eq!(down, fall.map(|(n, b)| ingress(n).below("stage", bytes(b))));
}

#[test]
fn gfc_reports_occupancies_for_no_other_reason() {
    let mut b = bench("gfc", &[("mode", "paper"), ("feedback", "time"), ("b-m", "90KB")]);
    b.links(Rate::from_gbps(10), Time::from_ns(10));
    for seq in 0..80 {
        b.arrive(b.packet(IN, 1000).seq(seq), OUT);
    }
    b.fire_next();
    assert_eq!(b.reasons(), [Reason::Report]);
}

/// The low sub-class at 68 KB, the high one at 75 KB; on the way back the high one at 68 KB.
#[test]
fn gpfc_names_the_threshold_of_the_sub_class() {
    let (paused, resumed) = in_and_out(&mut bench("gpfc", &[]), 80);
    let ingress = |n| Reason::ingress(IN, bytes(n));
    assert_eq!(paused[0], ingress(68_000).at_least("xoff-low", bytes(68_000)));
    assert_eq!(paused[1], ingress(75_000).at_least("xoff", bytes(75_000)));
    assert_eq!(resumed[0], ingress(68_000).at_most("xoff-low", bytes(68_000)));
    assert_eq!(resumed[1], ingress(45_000).at_most("xon", bytes(45_000)));
    assert_eq!((paused.len(), resumed.len()), (2, 2));
}

/// Flows are named from 68 KB at egress and ingress; all of them at 75 KB of the ingress.
#[test]
fn ofc_names_the_congested_egress_and_then_the_urgent_ingress() {
    let (paused, resumed) = in_and_out(&mut bench("ofc", &[]), 80);
    let (egress, ingress) = (|n| Reason::egress(OUT, bytes(n)), |n| Reason::ingress(IN, bytes(n)));
    assert_eq!(paused[0], egress(68_000).at_least("xoff-congested", bytes(68_000)));
    assert_eq!(paused[1], ingress(75_000).at_least("xoff", bytes(75_000)));
    assert_eq!(resumed, [ingress(45_000).at_most("xon", bytes(45_000))]);
    assert_eq!(paused.len(), 2);
}

#[test]
fn without_flow_control_there_is_nothing_to_explain() {
    let (came, left) = in_and_out(&mut bench("none", &[]), 200);
    assert!(came.is_empty() && left.is_empty());
}

/// A hop round trip of 1 us is 5000 B at 40 Gb/s, one queue uses the port: the sixth packet is
/// beyond it. It resumes when none of those beyond is left.
#[test]
fn bfc_names_the_queue_beyond_its_share() {
    let (paused, resumed) = in_and_out(&mut bench("bfc", &[("hop-rtt", "1us")]), 9);
    assert_eq!(paused, [Reason::queue(OUT, bytes(6_000)).above("share", bytes(5_000))]);
    assert_eq!(resumed, [Reason::CountedGone]);
}

#[test]
fn bfc_sends_bitmaps_because_they_are_due() {
    let mut b = bench("bfc", &[("frames", "periodic"), ("hop-rtt", "1us")]);
    b.arrive(b.packet(IN, 1000), OUT);
    b.fire_next();
    assert_eq!(b.reasons(), [Reason::Report]);
}

/// As BFC, but the queue is the flow's own; by level it resumes at its share.
#[test]
fn ideal_names_the_flow_beyond_its_share() {
    let (paused, resumed) = in_and_out(&mut bench("ideal", &[("hop-rtt", "1us")]), 9);
    assert_eq!(paused, [Reason::flow(OUT, bytes(6_000)).above("share", bytes(5_000))]);
    assert_eq!(resumed, [Reason::flow(OUT, bytes(5_000)).at_most("share", bytes(5_000))]);
    let marks = [("hop-rtt", "1us"), ("resume", "marks")];
    let (_, resumed) = in_and_out(&mut bench("ideal", &marks), 9);
    assert_eq!(resumed, [Reason::CountedGone]);
}

/// A flow alone in its queue is paused beyond q-low = 5000 B.
#[test]
fn flowsail_names_the_threshold_of_the_queue() {
    let (paused, resumed) = in_and_out(&mut bench("flowsail", &[("hop-rtt", "1us")]), 9);
    assert_eq!(paused, [Reason::queue(OUT, bytes(6_000)).above("q-low", bytes(5_000))]);
    assert_eq!(resumed, [Reason::CountedGone]);
}

/// Two flows in the one normal queue of a port with two queues: 5 packets of the first and one of
/// the second make 6000 B, beyond q-low. A fair share of two is half: the second flow, with 1000 B,
/// is not paused; the first is with its next packet, 6000 B of 7000 B.
#[test]
fn flowsail_names_the_flow_beyond_its_fair_share() {
    let mut b = bench("flowsail", &[("hop-rtt", "1us"), ("queues", "2")]);
    let mut send = |k, seq| {
        let p = b.packet(IN, 1000).flow(1, k, 20).seq(seq);
        b.arrive(p, OUT);
    };
    (0..5).for_each(|seq| send(1, seq));
    send(2, 0);
    send(1, 5);
    assert_eq!(b.reasons(), [Reason::flow(OUT, bytes(6_000)).above("fair-share", bytes(3_500))]);
}

/// 5000 B of the transmit queue give the flow a lane; it is stopped with 3000 B in it, beyond 2 KB.
#[test]
fn ffc_names_the_lane_of_the_flow() {
    let options = [
        ("threshold", "4KB"),
        ("lane-high", "2KB"),
        ("lane-low", "1KB"),
        ("drain-below", "2KB"),
        ("pacer", "false"),
    ];
    let (paused, resumed) = in_and_out(&mut bench("ffc", &options), 8);
    assert_eq!(paused, [Reason::flow(OUT, bytes(3_000)).above("lane-high", bytes(2_000))]);
    assert_eq!(resumed, [Reason::flow(OUT, bytes(1_000)).at_most("lane-low", bytes(1_000))]);
}

/// Two changes in one frame have two reasons: it states the first and counts the other. A flow is
/// stopped with 2000 B in its lane, beyond 1 KB. (The second flow gets its lane when the interval
/// between two of them, 20 ns here, is over.)
#[test]
fn ffc_counts_the_changes_that_a_frame_gathers() {
    let sizes = [("threshold", "4KB"), ("lane-high", "1KB"), ("lane-low", "1KB")];
    let mut b = bench("ffc", &[&sizes[..], &[("gather", "10us")]].concat());
    for k in [1, 2] {
        b.now += Time::from_us(1);
        for seq in 0..9 {
            b.arrive(b.packet(IN, 1000).flow(k, k, 20).seq(seq), OUT);
        }
    }
    while b.sent().is_empty() {
        b.fire_next().expect("what has gathered is sent");
    }
    let [(_, ControlMessage::BackPressure { flows })] = b.sent() else { panic!("{:?}", b.sent()) };
    assert_eq!(flows.len(), 2);
    let first = Reason::flow(OUT, bytes(2_000)).above("lane-high", bytes(1_000));
    assert_eq!(b.reasons(), [first.and(1)]);
}

/// What is left of 9000 B of shared memory is the threshold: 5000 B meet 4000 B.
#[test]
fn a_dynamic_threshold_is_stated_as_it_is_then() {
    use weir_fc::{Mmu, MmuConfig, Thresholds};
    let config = MmuConfig {
        buffer: bytes(10_000),
        thresholds: Thresholds::Dynamic {
            reserve: bytes(0),
            resume_offset: bytes(500),
            headroom: vec![bytes(1_000)],
            shift: vec![0],
        },
        lossless: weir_core::PrioritySet::only(PRIORITY),
        exempt: weir_core::PrioritySet::EMPTY,
    };
    let mut mmu = Mmu::new(config, 1);
    for _ in 0..5 {
        assert!(!mmu.should_pause(IN, PRIORITY));
        mmu.admit(IN, PRIORITY, 1_000).expect("there is room");
    }
    assert!(mmu.should_pause(IN, PRIORITY));
    let ingress = |n| Reason::ingress(IN, bytes(n));
    assert_eq!(mmu.pause_reason(IN, PRIORITY), ingress(5_000).at_least("xoff", bytes(4_000)));
    mmu.admit(IN, PRIORITY, 800).expect("into the headroom");
    let headroom = Measured::new(Quantity::Headroom, IN, bytes(800));
    assert_eq!(mmu.pause_reason(IN, PRIORITY), headroom.above("empty", bytes(0)));
    // 4000 B are left here, 5000 B of the memory; less the offset of 500 B
    mmu.release(IN, PRIORITY, 800);
    mmu.release(IN, PRIORITY, 1_000);
    assert!(mmu.may_resume(IN, PRIORITY));
    assert_eq!(mmu.resume_reason(IN, PRIORITY), ingress(4_000).at_most("xon", bytes(4_500)));
}

/// Whatever comes and goes, a stated length is what the node's counters say, and compares with its
/// threshold as stated.
#[test]
fn every_reason_agrees_with_the_counters_of_the_node() {
    for info in SCHEMES.iter() {
        let mut b = Bench::switch(info, &weir_fc::Values::new(), 3);
        b.thresholds("20KB", "10KB");
        let mut draws = Stream::new(1, "reasons", 0);
        let mut compared = 0;
        for seq in 0..4_000 {
            let fill = (seq / 200) % 2 == 0;
            if draws.below(10) < if fill { 7 } else { 3 } {
                let ingress = if draws.below(2) == 0 { IN } else { IN2 };
                let flow = draws.below(3) as u32;
                b.arrive(b.packet(ingress, 1000).flow(flow, flow, 20 + flow).seq(seq), OUT);
            } else if let Some(queue) = b.up_next(OUT).first() {
                b.depart(OUT, *queue);
            }
            b.now += Time::from_ns(100);
            for reason in b.reasons() {
                let Some(c) = reason.comparison() else { continue };
                assert!(c.relation.holds(c.value, c.threshold), "{}: {reason:?}", info.name);
                let counted = match c.quantity {
                    Quantity::Ingress => b.view().q_in(c.port, PRIORITY),
                    Quantity::Egress => b.view().q_out(c.port, PRIORITY),
                    _ => continue,
                };
                assert_eq!(c.value, counted, "{}: {reason:?}", info.name);
                compared += 1;
            }
            b.take_sent();
        }
        let by_counters = matches!(info.name, "pfc" | "capfc" | "ppfc" | "gfc" | "gpfc" | "ofc");
        assert_eq!(compared > 0, by_counters, "{}: {compared}", info.name);
    }
}
