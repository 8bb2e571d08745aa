//! Largest values: of a run, and over several points.

use crate::ALPHA;
use crate::estimate::{Estimate, Interval, mean_at};
use crate::student::fair_binomial;

/// What the largest values of several runs say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maxima {
    /// The median of the runs' maxima.
    pub median: f64,
    /// Its interval by order statistics; `None` below six runs.
    pub interval: Option<Interval>,
    /// The largest of all, which has no interval.
    pub largest: f64,
    /// How many runs.
    pub runs: usize,
}

/// The median of the runs' maxima with the interval of order statistics at 95 % or above; `None`
/// without runs. Compare only runs of equal length and equal numbers of flows.
pub fn median_of_maxima(maxima: &[f64]) -> Option<Maxima> {
    let mut sorted = maxima.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let largest = *sorted.last()?;
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    let interval = rank(n, ALPHA).map(|k| Interval::new(sorted[k - 1], sorted[n - k]));
    Some(Maxima { median, interval, largest, runs: n })
}

/// The median with the interval of order statistics at level 1 - `alpha`; `None` with fewer than
/// [`least_for_median`] samples.
pub fn median_at(samples: &[f64], alpha: f64) -> Option<Estimate> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let k = rank(n, alpha)?;
    let value = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    Some(Estimate { value, interval: Interval::new(sorted[k - 1], sorted[n - k]), seeds: n })
}

/// The fewest samples for which the median has an interval at level 1 - `alpha`: 6 at 95 %.
pub fn least_for_median(alpha: f64) -> usize {
    (2..).find(|&n| rank(n, alpha).is_some()).unwrap_or(usize::MAX)
}

/// The largest k for which [x_(k), x_(n+1-k)] covers the median at level 1 - `alpha`.
pub(crate) fn rank(n: usize, alpha: f64) -> Option<usize> {
    (1..=n / 2).rev().find(|&k| coverage(n, k) >= 1.0 - alpha)
}

/// With which probability the k-th smallest and largest of n enclose the median.
fn coverage(n: usize, k: usize) -> f64 {
    1.0 - 2.0 * fair_binomial(k as u64 - 1, n as u64)
}

/// The largest of the means at several points ("up to"), with a simultaneous interval: those of
/// the points at `alpha` divided by their number, and of these the largest ends. `None` without
/// points or samples.
pub fn largest(points: &[&[f64]], alpha: f64) -> Option<Estimate> {
    extreme(points, alpha, f64::max)
}

/// As [`largest`], for the smallest.
pub fn smallest(points: &[&[f64]], alpha: f64) -> Option<Estimate> {
    extreme(points, alpha, f64::min)
}

fn extreme(points: &[&[f64]], alpha: f64, pick: fn(f64, f64) -> f64) -> Option<Estimate> {
    let share = alpha / points.len() as f64;
    let each: Option<Vec<Estimate>> = points.iter().map(|p| mean_at(p, share)).collect();
    extreme_of(&each?, pick)
}

/// The largest of several estimates, whose intervals are at a level shared among them.
pub fn largest_of(estimates: &[Estimate]) -> Option<Estimate> {
    extreme_of(estimates, f64::max)
}

/// As [`largest_of`], for the smallest.
pub fn smallest_of(estimates: &[Estimate]) -> Option<Estimate> {
    extreme_of(estimates, f64::min)
}

fn extreme_of(estimates: &[Estimate], pick: fn(f64, f64) -> f64) -> Option<Estimate> {
    estimates.iter().copied().reduce(|a, b| Estimate {
        value: pick(a.value, b.value),
        interval: Interval::new(
            pick(a.interval.low, b.interval.low),
            pick(a.interval.high, b.interval.high),
        ),
        seeds: a.seeds.min(b.seeds),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::near;

    /// Worked example 5.
    #[test]
    fn maxima_are_told_by_their_median_and_order_statistics() {
        let queue = [519.0, 471.0, 533.0, 498.0, 560.0, 487.0, 505.0, 544.0, 476.0, 521.0];
        let m = median_of_maxima(&queue).unwrap();
        assert_eq!((m.median, m.largest, m.runs), (512.0, 560.0, 10));
        assert_eq!(m.interval, Some(Interval::new(476.0, 544.0)));
        near(coverage(10, 2), 0.978_516);
        near(coverage(6, 1), 0.968_750);
        near(coverage(12, 3), 0.961_426);
        near(coverage(20, 6), 0.958_611);
        near(coverage(5, 1), 0.937_5);
        assert_eq!(median_of_maxima(&queue[..5]).unwrap().interval, None);
    }

    #[test]
    fn ranks_are_those_of_the_table() {
        for (n, k) in [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (14, 3), (15, 4), (16, 4)] {
            assert_eq!(rank(n, ALPHA), Some(k), "{n}");
        }
        assert_eq!([20, 25, 30].map(|n| rank(n, ALPHA)), [Some(6), Some(8), Some(10)]);
        assert_eq!(rank(5, ALPHA), None);
        // 1 - 2 / 2^n is 0.969 for six; for two points at 2.5 % each it takes seven: 0.984
        assert_eq!((least_for_median(ALPHA), least_for_median(ALPHA / 2.0)), (6, 7));
    }

    /// Worked example 13.
    #[test]
    fn the_largest_over_points_has_a_simultaneous_interval() {
        let points: [&[f64]; 3] = [
            &[0.18, 0.22, 0.15, 0.20, 0.19],
            &[0.31, 0.24, 0.35, 0.28, 0.30],
            &[0.27, 0.33, 0.29, 0.22, 0.31],
        ];
        let up_to = largest(&points, ALPHA).unwrap();
        near(up_to.value, 0.296);
        // the examples are rounded to six places
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
        close(up_to.interval.low, 0.224_486);
        close(up_to.interval.high, 0.367_514);
        let at_least = smallest(&points, ALPHA).unwrap();
        close(at_least.interval.low, 0.142_151);
        close(at_least.interval.high, 0.233_849);
    }
}
