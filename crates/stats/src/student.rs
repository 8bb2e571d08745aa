//! Student's t distribution and the binomial tails, from the incomplete beta function.

use libm::{exp, lgamma, log, sqrt};

/// The two-sided 95 % quantile of the normal distribution.
pub const Z95: f64 = 1.959_963_984_540_054;

/// The `z` beyond which the two-sided p of a normal distribution is `alpha`.
pub fn normal_quantile(alpha: f64) -> f64 {
    if alpha == crate::ALPHA {
        return Z95;
    }
    halve(|z| libm::erfc(z / std::f64::consts::SQRT_2) > alpha)
}

/// The number at which `above` becomes false, which it is beyond it and not below.
fn halve(above: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while above(high) {
        low = high;
        high *= 2.0;
    }
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if above(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction.
pub fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * libm::log1p(-x));
    // the fraction converges quickly on one side of the mean only; the other one is mirrored
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const LEAST: f64 = 1e-300;
    const STEPS: u32 = 500;
    let away_from_zero = |v: f64| if v.abs() < LEAST { LEAST } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..=STEPS {
        let m = f64::from(step);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            value *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// P(|T| > `t`) with `degrees` degrees of freedom: the two-sided p-value.
pub fn two_sided(t: f64, degrees: usize) -> f64 {
    let n = degrees as f64;
    incomplete_beta(n / (n + t * t), n / 2.0, 0.5)
}

/// The `t` beyond which two-sided p is `alpha`: for an interval of level 1 - `alpha`. Infinite
/// without a degree of freedom.
pub fn quantile(degrees: usize, alpha: f64) -> f64 {
    if degrees == 0 {
        return f64::INFINITY;
    }
    // two_sided falls from 1 to 0
    halve(|t| two_sided(t, degrees) > alpha)
}

/// P(X <= `k`) of `n` fair coins.
pub fn fair_binomial(k: u64, n: u64) -> f64 {
    let ln_half = log(0.5);
    let choose =
        |i: u64| lgamma(n as f64 + 1.0) - lgamma(i as f64 + 1.0) - lgamma((n - i) as f64 + 1.0);
    let sum: f64 = (0..=k.min(n)).map(|i| exp(choose(i) + n as f64 * ln_half)).sum();
    sum.min(1.0)
}

/// Mean and standard deviation (divisor n - 1) of samples; the latter is zero for one sample.
pub(crate) fn moments(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    if samples.len() < 2 {
        return (mean, 0.0);
    }
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, sqrt(squares / (n - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against published tables of the t distribution.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, alpha, expected) in [
            (1, 0.05, 12.706_205),
            (4, 0.05, 2.776_445),
            (4, 0.05 / 3.0, 3.960_786),
            (9, 0.05, 2.262_157),
            (29, 0.05, 2.045_230),
            (8, 0.10, 1.859_548),
            (1000, 0.05, 1.962_339),
        ] {
            let t = quantile(degrees, alpha);
            assert!((t - expected).abs() < 1e-6, "{degrees} {alpha}: {t}");
        }
        assert_eq!(quantile(0, 0.05), f64::INFINITY);
    }

    #[test]
    fn the_quantile_is_where_the_tail_is_alpha() {
        for degrees in [1, 2, 3, 7, 19, 120] {
            for alpha in [0.2, 0.05, 0.01, 1e-4] {
                let p = two_sided(quantile(degrees, alpha), degrees);
                assert!((p / alpha - 1.0).abs() < 1e-9, "{degrees} {alpha}: {p}");
            }
        }
    }

    #[test]
    fn coins_are_fair() {
        // (1 + 4) / 16 with four coins
        assert!((fair_binomial(1, 4) - 0.3125).abs() < 1e-12);
        assert!((fair_binomial(4, 4) - 1.0).abs() < 1e-12);
    }
}
