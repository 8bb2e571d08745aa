//! Shares of runs: how many deadlocked, how many lost a packet.

use crate::ALPHA;
use crate::estimate::Interval;
use crate::student::{fair_binomial, normal_quantile};
use libm::{exp, pow, sqrt};

/// Wilson's 95 % interval of `hits` of `runs`.
///
/// # Panics
/// Without runs, or with more hits than runs.
pub fn wilson(hits: u64, runs: u64) -> Interval {
    wilson_at(hits, runs, ALPHA)
}

/// As [`wilson`], at level 1 - `alpha`.
///
/// # Panics
/// Without runs, or with more hits than runs.
pub fn wilson_at(hits: u64, runs: u64, alpha: f64) -> Interval {
    assert!(hits <= runs && runs > 0, "{hits} of {runs}");
    let z = normal_quantile(alpha);
    let (n, z2) = (runs as f64, z * z);
    let p = hits as f64 / n;
    let shrink = 1.0 + z2 / n;
    let centre = (p + z2 / (2.0 * n)) / shrink;
    let half = z / shrink * sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
    Interval::around(centre, half)
}

/// The share that an event which never happened in `runs` runs has at most (one-sided, 95 %).
pub fn at_most(runs: u64) -> f64 {
    at_most_at(runs, ALPHA)
}

/// As [`at_most`], at level 1 - `alpha`.
pub fn at_most_at(runs: u64, alpha: f64) -> f64 {
    1.0 - pow(alpha, 1.0 / runs as f64)
}

/// In how many seeds something happened under two variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairedShares {
    /// Under both.
    pub both: u64,
    /// Under the first only.
    pub first_only: u64,
    /// Under the second only.
    pub second_only: u64,
}

/// The ratio of counts, second over first, with its 95 % interval; `None` if either is zero.
pub fn paired_shares(s: PairedShares) -> Option<(f64, Interval)> {
    paired_shares_at(s, ALPHA)
}

/// As [`paired_shares`], at level 1 - `alpha`.
pub fn paired_shares_at(s: PairedShares, alpha: f64) -> Option<(f64, Interval)> {
    let (first, second) = ((s.both + s.first_only) as f64, (s.both + s.second_only) as f64);
    if first == 0.0 || second == 0.0 {
        return None;
    }
    let error = sqrt((s.first_only + s.second_only) as f64 / (first * second));
    let (ratio, factor) = (second / first, exp(normal_quantile(alpha) * error));
    Some((ratio, Interval::new(ratio / factor, ratio * factor)))
}

/// McNemar's exact two-sided p-value of equal shares.
pub fn mcnemar(s: PairedShares) -> f64 {
    let least = s.first_only.min(s.second_only);
    (2.0 * fair_binomial(least, s.first_only + s.second_only)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{near, spans};

    /// Worked example 6, single shares.
    #[test]
    fn shares_have_wilsons_interval_and_never_has_a_bound() {
        spans(wilson(312, 1000), 0.284_049_7, 0.341_389_2);
        spans(wilson(3, 20), 0.052_368_7, 0.360_418_9);
        near(at_most(1000), 0.002_991_249_5);
    }

    /// Worked example 6, two shares on the same seeds.
    #[test]
    fn two_shares_are_compared_within_seeds() {
        let s = PairedShares { both: 150, first_only: 162, second_only: 18 };
        let (ratio, interval) = paired_shares(s).unwrap();
        near(ratio, 0.538_461_5);
        spans(interval.reduction(), 0.396_001_5, 0.519_964_3);
        assert!((mcnemar(s) / 3.7401e-30 - 1.0).abs() < 1e-4);
        assert_eq!(paired_shares(PairedShares { both: 0, first_only: 0, second_only: 3 }), None);
    }
}
