//! Means and paired differences over seeds.

use crate::ALPHA;
use crate::student::{moments, quantile, two_sided};
use libm::sqrt;

/// A closed range of plausible values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// From `low` to `high`.
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// The single value `x`.
    pub const fn point(x: f64) -> Self {
        Self { low: x, high: x }
    }

    /// Around `centre`.
    pub fn around(centre: f64, half: f64) -> Self {
        Self { low: centre - half, high: centre + half }
    }

    /// Whether all of it is inside `other`.
    pub fn within(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Whether it has a value in common with `other`.
    pub fn meets(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether `x` is in it.
    pub fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// A reduction from a ratio: 1 - r.
    #[must_use]
    pub fn reduction(self) -> Self {
        Self { low: 1.0 - self.high, high: 1.0 - self.low }
    }

    /// Half its width.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// An estimate with its interval over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The best single value.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
    /// How many seeds it rests on.
    pub seeds: usize,
}

/// The mean with its 95 % interval; see [`mean_at`].
pub fn mean(samples: &[f64]) -> Option<Estimate> {
    mean_at(samples, ALPHA)
}

/// The mean with the interval of Student's t at level 1 - `alpha`. One sample has an unbounded
/// interval; `None` without samples.
pub fn mean_at(samples: &[f64], alpha: f64) -> Option<Estimate> {
    if samples.is_empty() {
        return None;
    }
    let (value, deviation) = moments(samples);
    let half = match samples.len() {
        1 => f64::INFINITY,
        n => quantile(n - 1, alpha) * deviation / sqrt(n as f64),
    };
    Some(Estimate { value, interval: Interval::around(value, half), seeds: samples.len() })
}

/// The mean of x - y within seeds; see [`paired_difference_at`].
pub fn paired_difference(x: &[f64], y: &[f64]) -> Option<Estimate> {
    paired_difference_at(x, y, ALPHA)
}

/// The mean of x - y within seeds with its interval: what a seed does to both variants cancels.
///
/// # Panics
/// If there is not one value per seed in both.
pub fn paired_difference_at(x: &[f64], y: &[f64], alpha: f64) -> Option<Estimate> {
    mean_at(&differences(x, y), alpha)
}

/// The two-sided p-value of a mean of zero; 1 where all samples are zero.
pub fn p_of_zero_mean(samples: &[f64]) -> f64 {
    let (mean, deviation) = moments(samples);
    let standard_error = deviation / sqrt(samples.len() as f64);
    match (mean == 0.0, standard_error == 0.0) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => two_sided(mean / standard_error, samples.len() - 1),
    }
}

pub(crate) fn differences(x: &[f64], y: &[f64]) -> Vec<f64> {
    assert_eq!(x.len(), y.len(), "one value per seed in both");
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Completion times of two variants, seeds 1 to 5: the example of the documentation.
    pub(crate) const PFC: [f64; 5] = [204.0, 188.0, 215.0, 197.0, 226.0];
    pub(crate) const OFC: [f64; 5] = [171.0, 166.0, 190.0, 158.0, 185.0];

    #[track_caller]
    pub(crate) fn near(actual: f64, expected: f64) {
        let error = (actual - expected).abs() / expected.abs().max(1e-300);
        assert!(error < 1e-6, "{actual} instead of {expected}");
    }

    #[track_caller]
    pub(crate) fn spans(actual: Interval, low: f64, high: f64) {
        near(actual.low, low);
        near(actual.high, high);
    }

    /// Worked example 1.
    #[test]
    fn means_have_the_interval_of_students_t() {
        let (p, o) = (mean(&PFC).unwrap(), mean(&OFC).unwrap());
        near(moments(&PFC).1, 14.916_434);
        near(moments(&OFC).1, 13.285_330);
        near(p.value, 206.0);
        near(p.interval.half_width(), 18.521_199);
        near(o.interval.half_width(), 16.495_916);
    }

    /// Worked example 2.
    #[test]
    fn differences_are_taken_within_seeds() {
        let d = paired_difference(&OFC, &PFC).unwrap();
        near(d.value, -32.0);
        spans(d.interval, -42.388_506, -21.611_494);
        assert!((p_of_zero_mean(&differences(&OFC, &PFC)) - 0.001_026_2).abs() < 1e-7);
    }

    #[test]
    fn one_seed_decides_nothing() {
        let one = mean(&[3.0]).unwrap();
        assert_eq!(one.interval, Interval::new(f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(mean(&[]), None);
    }
}
