//! Exact fractions, for thresholds such as "alpha = 1/8" that must not depend on rounding.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A non-negative fraction of two 32-bit numbers, written "1/8", "0.125" or "12.5%".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: u32,
    denominator: u32,
}

/// A text that is not a fraction.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a fraction: write `1/8`, `0.125` or `12.5%`")]
pub struct ParseRatioError(String);

impl Ratio {
    /// `numerator / denominator` in lowest terms, or `None` when the denominator is zero.
    pub const fn new(numerator: u32, denominator: u32) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let (mut a, mut b) = (numerator, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Some(Self { numerator: numerator / a, denominator: denominator / a })
    }

    /// `floor(x * self)`.
    #[inline]
    pub const fn of(self, x: u64) -> u64 {
        let product = x as u128 * self.numerator as u128 / self.denominator as u128;
        if product > u64::MAX as u128 { u64::MAX } else { product as u64 }
    }

    /// For printing, plotting and probabilities.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

impl FromStr for Ratio {
    type Err = ParseRatioError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ParseRatioError(text.into());
        let t = text.trim();
        if let Some((n, d)) = t.split_once('/') {
            let n = n.trim().parse().map_err(|_| bad())?;
            let d = d.trim().parse().map_err(|_| bad())?;
            return Self::new(n, d).ok_or_else(bad);
        }
        let (t, percent) = match t.strip_suffix('%') {
            Some(t) => (t.trim(), 100u64),
            None => (t, 1),
        };
        let (whole, fraction) = t.split_once('.').unwrap_or((t, ""));
        let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction)
        {
            return Err(bad());
        }
        let scale = 10u64.checked_pow(fraction.len() as u32).ok_or_else(bad)?;
        let digits: u64 = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
        let scale = scale.checked_mul(percent).ok_or_else(bad)?;
        let (mut a, mut b) = (digits, scale);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let n = u32::try_from(digits / a).map_err(|_| bad())?;
        let d = u32::try_from(scale / a).map_err(|_| bad())?;
        Self::new(n, d).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways_to_write_an_eighth() {
        for text in ["1/8", "0.125", "12.5%", "2/16"] {
            assert_eq!(text.parse(), Ok(Ratio::new(1, 8).unwrap()), "{text}");
        }
        assert_eq!("0.125".parse::<Ratio>().unwrap().to_string(), "1/8");
    }

    #[test]
    fn it_rounds_down_and_never_overflows() {
        assert_eq!(Ratio::new(1, 8).unwrap().of(15), 1);
        assert_eq!(Ratio::new(4, 1).unwrap().of(u64::MAX), u64::MAX);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", ".", "1/0", "-1", "a/b", "1e3", "99999999999999999999"] {
            assert!(text.parse::<Ratio>().is_err(), "{text}");
        }
    }
}
