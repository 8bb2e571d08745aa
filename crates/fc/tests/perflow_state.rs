//! What the schemes that look at flows keep for each.

use weir_core::{PortId, Rate, Time};
use weir_fc::harness::{Bench, given};
use weir_fc::{SCHEMES, SchemeInfo, bfc, ffc, flowsail, ideal};

/// Bytes of state in a switch with one packet each of `flows` flows.
fn state(info: &'static SchemeInfo, set: &[(&str, &str)], flows: u32) -> u64 {
    let mut b = Bench::switch(info, &given(info, set), 2);
    // a queue of 10 000 packets must not pause anyone: pauses are state, too
    b.links(Rate::from_gbps(100), Time::from_ms(10));
    for k in 0..flows {
        b.arrive(b.packet(PortId(0), 1000).flow(1 + k % 100, k / 100, 200), PortId(1));
    }
    b.scheme().state_size().tables.iter().map(|(_, bytes)| bytes).sum()
}

/// FlowSail, section V: 50 bits per entry, 10 000 flows in 64 KB.
#[test]
fn an_active_flow_costs_what_the_book_says() {
    const FLOWS: u32 = 10_000;
    let grown = |info, set: &[_]| state(info, set, FLOWS) - state(info, set, 0);
    assert_eq!(grown(&flowsail::INFO, &[]), 62_500);
    assert_eq!(grown(&bfc::INFO, &[]), 80_000);
    assert_eq!(grown(&ideal::INFO, &[]), 160_000);
    // 100 hosts send to one: 100 host pairs
    assert_eq!(grown(&ffc::INFO, &[("threshold", "20MB")]), 1_200);
    assert_eq!(grown(&ffc::INFO, &[("threshold", "20MB"), ("key", "5-tuple")]), 170_000);
}

/// What is there without any flow, in a switch of two ports with the default queues.
#[test]
fn an_empty_switch_keeps_what_the_book_says() {
    // 8 queues of 4 B per port
    assert_eq!(state(&flowsail::INFO, &[], 0), 64);
    assert_eq!(state(&bfc::INFO, &[], 0), 0);
    assert_eq!(state(&ideal::INFO, &[], 0), 0);
    // 16 lanes of 18 B, or 23 B, per port
    assert_eq!(state(&ffc::INFO, &[], 0), 576);
    assert_eq!(state(&ffc::INFO, &[("key", "5-tuple")], 0), 736);
}

/// What is said to be fixed is looked at once.
#[test]
fn state_that_is_said_to_be_fixed_does_not_grow_with_flows() {
    for info in SCHEMES.iter() {
        let mut b = Bench::switch(info, &given(info, &[]), 2);
        let before = b.scheme().state_size();
        for k in 0..40 {
            b.arrive(b.packet(PortId(0), 1000).flow(1 + k, 0, 200), PortId(1));
        }
        if b.scheme().has_fixed_state() {
            assert_eq!(b.scheme().state_size(), before, "{}", info.name);
        }
    }
}
