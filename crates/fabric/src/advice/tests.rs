use super::*;

fn budget(gbps: u64, metres: u64, mtu: u64, response: Response) -> Budget {
    let frame = Bytes::new(mtu).saturating_add(FRAMING);
    Budget {
        rate: Rate::from_gbps(gbps),
        delay: Length::from_metres(metres).delay(Length::PER_METRE),
        response,
        latency: Time::ZERO,
        interface: Time::ZERO,
        reverse_frame: frame,
        forward_frame: frame,
        cells: None,
    }
}

fn wanted(budget: Budget, metres: u64) -> Wanted {
    Wanted {
        budget,
        cable: Length::from_metres(metres),
        per_metre: Length::PER_METRE,
        spare: Length::default(),
        buffer: None,
        ports: 1,
        priorities: 1,
        oversubscription: 1,
        alpha: -3,
        rule: None,
    }
}

/// 400 Gb/s, 100 m: 50 B/ns x 1 us of cable, 905 quanta of 64 B, two frames of 4134 B on the
/// wire, a PAUSE of 84 B, and the packet of 4114 B that crosses the threshold.
#[test]
fn every_term_of_a_link_is_counted_once() {
    let b = budget(400, 100, 4096, Response::Standard);
    assert_eq!(b.need(), Bytes::new(50_000 + 57_920 + 2 * 4134 + 84));
    assert_eq!(b.advised(), Bytes::new(b.need().get() + 4114));
    let sum: f64 = b.terms().iter().map(|t| t.bytes).sum();
    assert!((sum - b.advised().get() as f64).abs() < 1.0, "{sum}");
}

/// The published calculator's 25 KB for 400 Gb/s and 100 m is half of the cable's round trip.
#[test]
fn the_published_calculator_is_shown_to_be_too_small() {
    let advice = Advice::new(wanted(budget(400, 100, 4096, Response::Standard), 100));
    assert_eq!(advice.shortcuts[0].bytes, Bytes::new(25_000));
    assert!(advice.text().contains("too little"), "{}", advice.text());
}

#[test]
fn spare_cable_is_a_margin_of_as_many_metres() {
    let plain = wanted(budget(100, 40, 1500, Response::Standard), 40);
    let spare = Wanted { spare: Length::from_metres(25), ..plain };
    assert!(Advice::new(plain).margin.abs() < 0.01);
    assert!((Advice::new(spare).margin - 25.0).abs() < 0.1);
}

/// S = 64 MB - 64 ports x headroom; alpha 1/8: S / 9; marking below S / (8 + 64).
#[test]
fn memory_is_divided_so_that_marking_precedes_pausing() {
    let b = budget(400, 100, 4096, Response::Standard);
    let w = Wanted { buffer: Some(Bytes::new(64_000_000)), ports: 64, ..wanted(b, 100) };
    let advice = Advice::new(w);
    let d = advice.division.expect("a buffer").expect("it is large enough");
    let shared = 64_000_000 - 64 * advice.headroom.get();
    assert_eq!(d.shared.get(), shared);
    assert_eq!(d.pause.get(), shared / 9);
    assert!(d.marking.kmax.get() <= shared / 72 && d.marking.kmin < d.marking.kmax);
    assert!(d.xon < d.xoff && d.xon >= advice.need);
}

#[test]
fn memory_that_is_too_small_is_said_with_what_is_needed() {
    let b = budget(400, 100, 4096, Response::Standard);
    let w = Wanted { buffer: Some(Bytes::new(1_000_000)), ports: 64, ..wanted(b, 100) };
    let advice = Advice::new(w);
    let least = advice.division.expect("a buffer").expect_err("too small");
    assert!(least.get() >= 64 * advice.headroom.get());
    assert!(advice.text().contains("too small"));
}

#[test]
fn interfaces_are_known_at_ten_and_a_hundred_gigabits() {
    // 122 880 bits at 100 Gb/s
    assert_eq!(standard_interface(Rate::from_gbps(100)), Some(Time::from_ps(1_228_800)));
    assert_eq!(standard_interface(Rate::from_gbps(400)), None);
}

#[test]
fn keys_name_as_many_lossless_priorities_as_were_asked_for() {
    let w = Wanted { priorities: 2, ..wanted(budget(100, 40, 1500, Response::Standard), 40) };
    assert!(Advice::new(w).scenario_keys().contains("lossless = [3, 4]\n"));
    let all = Wanted { priorities: 8, ..w };
    assert!(Advice::new(all).scenario_keys().contains("lossless = [0, 1, 2, 3, 4, 5, 6, 7]\n"));
}
