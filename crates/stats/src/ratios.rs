//! Ratios of two variants.

use crate::ALPHA;
use crate::estimate::{Estimate, Interval, mean_at};
use crate::student::quantile;
use libm::{exp, log, sqrt};

/// Why a ratio has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// The denominator cannot be told apart from zero.
    DenominatorMayBeZero,
    /// Fewer than two seeds.
    TooFewSeeds,
}

/// The ratio of means x/y with its 95 % interval; see [`ratio_at`].
pub fn ratio(x: &[f64], y: &[f64]) -> Option<Estimate> {
    ratio_at(x, y, ALPHA)
}

/// The ratio of means x/y with the interval of a delete-one-seed jackknife on its logarithm.
/// `None` unless all values are positive and there are two seeds at least.
///
/// # Panics
/// If there is not one value per seed in both.
pub fn ratio_at(x: &[f64], y: &[f64], alpha: f64) -> Option<Estimate> {
    assert_eq!(x.len(), y.len(), "one value per seed in both");
    let seeds = x.len();
    if seeds < 2 || x.iter().chain(y).any(|v| *v <= 0.0) {
        return None;
    }
    let (sum_x, sum_y) = (x.iter().sum::<f64>(), y.iter().sum::<f64>());
    let left_out: Vec<f64> = x.iter().zip(y).map(|(x, y)| log((sum_x - x) / (sum_y - y))).collect();
    let error = jackknife_error(&left_out);
    let value = sum_x / sum_y;
    let factor = exp(quantile(seeds - 1, alpha) * error);
    Some(Estimate { value, interval: Interval::new(value / factor, value * factor), seeds })
}

/// The standard error of a statistic from its values with each seed left out in turn.
pub fn jackknife_error(left_out: &[f64]) -> f64 {
    let n = left_out.len() as f64;
    let mean = left_out.iter().sum::<f64>() / n;
    let squares: f64 = left_out.iter().map(|l| (l - mean) * (l - mean)).sum();
    sqrt((n - 1.0) / n * squares)
}

/// The ratio of means x/y where y may be near zero, with Fieller's 95 % interval.
///
/// # Panics
/// If there is not one value per seed in both.
pub fn fieller(x: &[f64], y: &[f64]) -> Result<Estimate, Unbounded> {
    fieller_at(x, y, ALPHA)
}

/// As [`fieller`], at level 1 - `alpha`.
///
/// # Panics
/// If there is not one value per seed in both.
pub fn fieller_at(x: &[f64], y: &[f64], alpha: f64) -> Result<Estimate, Unbounded> {
    assert_eq!(x.len(), y.len(), "one value per seed in both");
    let seeds = x.len();
    if seeds < 2 {
        return Err(Unbounded::TooFewSeeds);
    }
    let (a, b, c) = quadratic(x, y, alpha);
    if a <= 0.0 {
        return Err(Unbounded::DenominatorMayBeZero);
    }
    let root = sqrt((b * b - a * c).max(0.0));
    let value = x.iter().sum::<f64>() / y.iter().sum::<f64>();
    Ok(Estimate { value, interval: Interval::new((b - root) / a, (b + root) / a), seeds })
}

/// The coefficients A, B, C of Fieller's quadratic A r² - 2 B r + C = 0.
fn quadratic(x: &[f64], y: &[f64], alpha: f64) -> (f64, f64, f64) {
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let t = quantile(x.len() - 1, alpha);
    let covariance = |u: &[f64], mu: f64, v: &[f64], mv: f64| {
        let sum: f64 = u.iter().zip(v).map(|(u, v)| (u - mu) * (v - mv)).sum();
        t * t * sum / (n - 1.0) / n
    };
    (
        mean_y * mean_y - covariance(y, mean_y, y, mean_y),
        mean_x * mean_y - covariance(x, mean_x, y, mean_y),
        mean_x * mean_x - covariance(x, mean_x, x, mean_x),
    )
}

/// The mean over points (loads, sizes) of the ratios x/y, as a geometric mean within each seed,
/// then over seeds. `points` holds (x, y) of each point, one value per seed. `None` unless all
/// values are positive and there is a point and a seed.
///
/// # Panics
/// If the points have different numbers of seeds.
pub fn geometric_mean(points: &[(&[f64], &[f64])], alpha: f64) -> Option<Estimate> {
    let seeds = points.first()?.0.len();
    let mut logs = vec![0.0; seeds];
    for (x, y) in points {
        assert!(x.len() == seeds && y.len() == seeds, "one value per seed at every point");
        for (log_ratio, (x, y)) in logs.iter_mut().zip(x.iter().zip(*y)) {
            if *x <= 0.0 || *y <= 0.0 {
                return None;
            }
            *log_ratio += log(x / y) / points.len() as f64;
        }
    }
    let on_log = mean_at(&logs, alpha)?;
    let interval = Interval::new(exp(on_log.interval.low), exp(on_log.interval.high));
    Some(Estimate { value: exp(on_log.value), interval, seeds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::{OFC, PFC, near, spans};

    /// Worked example 3.
    #[test]
    fn a_ratio_has_the_interval_of_its_jackknifed_logarithm() {
        let r = ratio(&OFC, &PFC).unwrap();
        near(r.value, 0.844_660_2);
        spans(r.interval, 0.800_238_8, 0.891_547_5);
        let reduction = r.interval.reduction();
        spans(reduction, 0.108_452_5, 0.199_761_2);
        let left_out: Vec<f64> = (0..5)
            .map(|i| {
                let without = |v: &[f64]| v.iter().sum::<f64>() - v[i];
                without(&OFC) / without(&PFC)
            })
            .collect();
        for (value, expected) in
            left_out.iter().zip([0.846_247, 0.836_105, 0.834_356, 0.854_742, 0.851_990])
        {
            assert!((value - expected).abs() < 1e-6);
        }
        near(jackknife_error(&left_out.iter().map(|r| log(*r)).collect::<Vec<_>>()), 0.019_458_07);
    }

    /// Worked example 3, Fieller and the geometric mean.
    #[test]
    fn other_intervals_of_a_ratio_agree_with_the_examples() {
        let (a, b, c) = quadratic(&OFC, &PFC, ALPHA);
        near(a, 42_092.965_2);
        near(b, 35_590.385_5);
        near(c, 30_003.884_7);
        spans(fieller(&OFC, &PFC).unwrap().interval, 0.799_679_0, 0.891_358_2);
        let g = geometric_mean(&[(&OFC, &PFC)], ALPHA).unwrap();
        near(g.value, 0.844_456_1);
        spans(g.interval, 0.799_582_7, 0.891_848_0);
    }

    /// Worked example 4.
    #[test]
    fn a_ratio_whose_denominator_may_be_zero_has_no_interval() {
        let (x, y) = ([12.0, 9.0, 15.0, 10.0], [3.0, 0.0, 5.0, 1.0]);
        near(quadratic(&x, &y, ALPHA).0, -7.386_456);
        assert_eq!(fieller(&x, &y), Err(Unbounded::DenominatorMayBeZero));
        assert_eq!(ratio(&x, &y), None, "the logarithm of 0");
    }

    #[test]
    fn points_weigh_alike_in_a_geometric_mean() {
        // 2 at one point and 1/2 at the other are no change
        let (one, two) = ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0]);
        let g = geometric_mean(&[(&two, &one), (&one, &two)], ALPHA).unwrap();
        near(g.value, 1.0);
    }
}
