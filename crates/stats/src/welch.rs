//! Two groups of runs that share no seeds.

use crate::estimate::{Estimate, Interval};
use crate::student::incomplete_beta;
use libm::sqrt;

/// The difference of the means of x and y, two independent groups, with Welch's 95 % interval, and
/// the two-sided p-value of no difference. `None` where a group has fewer than two samples. If
/// neither group varies the interval is a point.
pub fn welch(x: &[f64], y: &[f64]) -> Option<(Estimate, f64)> {
    if x.len() < 2 || y.len() < 2 {
        return None;
    }
    let moments = |samples: &[f64]| {
        let n = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / n;
        let squares: f64 = samples.iter().map(|s| (s - mean) * (s - mean)).sum();
        (mean, squares / (n - 1.0) / n, n)
    };
    let ((a, va, na), (b, vb, nb)) = (moments(x), moments(y));
    let (value, variance) = (a - b, va + vb);
    let seeds = x.len().min(y.len());
    if variance == 0.0 {
        let p = if value == 0.0 { 1.0 } else { 0.0 };
        let interval = Interval::around(value, 0.0);
        return Some((Estimate { value, interval, seeds }, p));
    }
    // Satterthwaite's degrees of freedom
    let degrees = variance * variance / (va * va / (na - 1.0) + vb * vb / (nb - 1.0));
    let error = sqrt(variance);
    let p = two_sided(value / error, degrees);
    let interval = Interval::around(value, quantile(degrees) * error);
    Some((Estimate { value, interval, seeds }, p))
}

/// The probability of a t beyond this, on either side.
fn two_sided(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// The t that one in twenty exceeds, on either side.
fn quantile(degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, degrees) > crate::ALPHA && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if two_sided(middle, degrees) > crate::ALPHA { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.ttest_ind(OFC, PFC, equal_var=False).confidence_interval(): -52.647, -11.353.
    #[test]
    fn the_interval_is_that_of_welch() {
        let pfc = [204.0, 188.0, 215.0, 197.0, 226.0];
        let ofc = [171.0, 166.0, 190.0, 158.0, 185.0];
        let (estimate, p) = welch(&ofc, &pfc).expect("five of each");
        assert_eq!(estimate.value, -32.0);
        assert!((estimate.interval.low + 52.647).abs() < 1e-3, "{estimate:?}");
        assert!((estimate.interval.high + 11.353).abs() < 1e-3, "{estimate:?}");
        assert!(p > 0.001 && p < 0.01, "{p}");
        assert!(welch(&ofc, &pfc[..1]).is_none());
        assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0]).expect("two of each").1, 1.0);
    }
}
