//! Every option meets every other: schemes, NIC queue models, weights, priorities, kinds of
//! sources, congestion controls, reliability, bit errors, small buffers, on small networks.
//!
//! The property: everything is delivered, or the run names the reason why not; and every figure is
//! within its physical bounds. A sample runs with the other tests; more run with
//!
//! ```text
//! WEIR_OPTIONS=0..20000 cargo test --release -p weir-sim --test options -- --nocapture
//! ```
//!
//! which prints how many cases ended in which way. `WEIR_OPTIONS=17` replays one case.

#[path = "../common/mod.rs"]
mod common;
mod draw;
mod judge;

use draw::Case;
use judge::judge;
use std::collections::BTreeMap;
use std::ops::Range;

/// Cases of the sample.
const SAMPLE: Range<u64> = 0..6000;

fn asked_for() -> Range<u64> {
    let Ok(text) = std::env::var("WEIR_OPTIONS") else { return SAMPLE };
    let number = |t: &str| t.parse().expect("WEIR_OPTIONS is a number or a range such as 0..20000");
    match text.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => number(&text)..number(&text) + 1,
    }
}

#[test]
fn everything_is_delivered_or_the_reason_is_named() {
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut faults = Vec::new();
    let cases = asked_for();
    for number in cases.clone() {
        let case = Case::new(number);
        match judge(&case) {
            Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
            Err(fault) => faults.push(format!("{}\n    {fault}", case.what)),
        }
    }
    println!("{} cases", cases.end - cases.start);
    for (outcome, n) in &outcomes {
        println!("{n:>7}  {outcome}");
    }
    println!("{:>7}  faults", faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // A sample in which nothing is delivered, lost or stuck would show nothing.
    if cases == SAMPLE {
        assert!(outcomes[judge::DELIVERED] > 100, "{outcomes:?}");
        assert!(outcomes.len() >= 4, "{outcomes:?}");
    }
}
