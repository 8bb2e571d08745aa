//! What each congestion control does to the queue of a 16:1 incast.

#[path = "common/incast.rs"]
mod incast;

use incast::{CASES, queue};

/// Smallest and largest queue from `from_us` to `to_us`, in kB.
fn range(name: &str, from_us: usize, to_us: usize) -> (u32, u32) {
    assert!(CASES.iter().any(|case| case.0 == name));
    let bins = queue(name, to_us as u64, 1000).bins;
    let part = &bins[from_us..];
    let low = part.iter().map(|b| b.0).min().unwrap_or(0);
    let high = part.iter().map(|b| b.1).max().unwrap_or(0);
    (low / 1000, high / 1000)
}

#[test]
fn hpcc_keeps_the_queue_near_zero_after_the_first_round_trips() {
    let (_, start) = range("HPCC", 0, 100);
    // 15 of 16 windows of 52 kB arrive before the first reaction
    assert!((700..900).contains(&start), "{start} kB");
    let (_, later) = range("HPCC", 200, 4000);
    assert!(later < 20, "{later} kB");
}

#[test]
fn dctcp_stays_around_its_threshold() {
    let (low, high) = range("DCTCP", 1000, 4000);
    assert!(low > 270 && high < 330, "{low} to {high} kB around 300");
}

#[test]
fn timely_oscillates() {
    let bins = queue("TIMELY", 4000, 1000).bins;
    let settled = &bins[2000..];
    let empty = settled.iter().filter(|b| b.0 == 0).count();
    let full = settled.iter().filter(|b| b.1 > 1_000_000).count();
    assert!(empty > 200 && full > 100, "empty in {empty}, above 1 MB in {full} of 2000 us");
}

#[test]
fn dcqcn_settles_to_peaks_between_its_thresholds() {
    let (_, high) = range("DCQCN", 16_000, 20_000);
    assert!((400..1600).contains(&high), "{high} kB");
    let (low, high) = range("DCQCN, slow timers", 18_000, 20_000);
    assert!(low > 0 && (400..1600).contains(&high), "{low} to {high} kB");
}
