//! Numbers as text, many of them: tables have millions of cells.
//!
//! The same text as `format!` makes of them, without what makes `format!` able to do anything else.

use std::fmt;
use std::io::Write;

/// Appends a whole number: as `{n}`.
///
/// ```
/// let mut out = Vec::new();
/// weir_core::decimal::push_whole(&mut out, 407);
/// assert_eq!(out, b"407");
/// ```
pub fn push_whole(out: &mut Vec<u8>, n: u64) {
    let mut digits = [0; MOST];
    let first = write_digits(&mut digits, n, 1);
    out.extend_from_slice(&digits[first..]);
}

/// Digits of the largest number.
const MOST: usize = 20;

/// Writes `n` to the end of `digits`, with zeros in front where it has fewer than `least`, and
/// returns where it begins.
fn write_digits(digits: &mut [u8; MOST], mut n: u64, least: usize) -> usize {
    let mut first = MOST;
    while n > 0 || MOST - first < least {
        first -= 1;
        digits[first] = b'0' + (n % 10) as u8;
        n /= 10;
    }
    first
}

/// Appends a number with so many digits after its point: as `{x:.decimals$}`.
///
/// ```
/// let mut out = Vec::new();
/// weir_core::decimal::push_fixed(&mut out, -2.125, 2);
/// assert_eq!(out, b"-2.12");
/// ```
pub fn push_fixed(out: &mut Vec<u8>, x: f64, decimals: usize) {
    let Some(scaled) = scaled(x, decimals) else {
        write!(out, "{x:.decimals$}").expect("a vector takes everything");
        return;
    };
    if x.is_sign_negative() {
        out.push(b'-');
    }
    let mut digits = [0; MOST];
    let first = write_digits(&mut digits, scaled, decimals + 1);
    let point = MOST - decimals;
    out.extend_from_slice(&digits[first..point]);
    if decimals > 0 {
        out.push(b'.');
        out.extend_from_slice(&digits[point..]);
    }
}

/// The same as a text of its own.
pub fn fixed(x: f64, decimals: usize) -> String {
    let mut out = Vec::with_capacity(16);
    push_fixed(&mut out, x, decimals);
    String::from_utf8(out).expect("digits are ASCII")
}

/// The number that [`push_fixed`] writes.
///
/// ```
/// assert_eq!(weir_core::decimal::rounded(0.30000000000000004, 6), 0.3);
/// ```
pub fn rounded(x: f64, decimals: usize) -> f64 {
    // both are whole numbers that a float holds exactly, so that their quotient is the float next
    // to the decimal number
    match (scaled(x, decimals), POWERS.get(decimals)) {
        (Some(n), Some(&power)) if n < 1 << 53 => (n as f64 / power as f64).copysign(x),
        _ => fixed(x, decimals).parse().unwrap_or(x),
    }
}

/// Shows a number with one digit after its point: as `{x:.1}`.
#[derive(Clone, Copy, Debug)]
pub struct Tenths(pub f64);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&fixed(self.0, 1))
    }
}

const POWERS: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The magnitude of `x` times 10^`decimals`, rounded, halves to even; `None` where that takes more
/// than 64 bits or a loop.
///
/// A number is m x 2^-s with m below 2^53, so m x 10^decimals fits 128 bits and what is below the
/// last digit is known exactly.
fn scaled(x: f64, decimals: usize) -> Option<u64> {
    let power = *POWERS.get(decimals)?;
    let bits = x.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    // 2^53 and beyond, infinite, or no number
    if exponent > 1075 {
        return None;
    }
    let (mantissa, shift) = match exponent {
        0 => (fraction, 1074),
        _ => (fraction | 1 << 52, 1075 - exponent),
    };
    let product = u128::from(mantissa) * u128::from(power);
    if shift == 0 {
        return u64::try_from(product).ok();
    }
    if shift > 100 {
        // less than 2^83 / 2^101
        return Some(0);
    }
    let (whole, below) = (product >> shift, product & ((1 << shift) - 1));
    let half = 1u128 << (shift - 1);
    let up = below > half || below == half && whole & 1 == 1;
    u64::try_from(whole + u128::from(up)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(x: f64) {
        for decimals in 0..12 {
            let text = format!("{x:.decimals$}");
            assert_eq!(fixed(x, decimals), text, "{x:e} with {decimals}");
            let (number, read) = (rounded(x, decimals), text.parse::<f64>().unwrap());
            assert_eq!(number.to_bits(), read.to_bits(), "{x:e} with {decimals}");
        }
    }

    #[test]
    fn ends_of_ranges_are_written_as_by_format() {
        let limits = [f64::MAX, f64::MIN_POSITIVE, f64::EPSILON, 5e-324, 9_007_199_254_740_992.0];
        let odd = [f64::NAN, f64::INFINITY, -0.0, 0.0, 9_007_199_254_740_991.5, 1e19, 18.4e18];
        for x in limits.into_iter().chain(odd) {
            check(x);
            check(-x);
        }
        for n in [0, 9, 10, 99, u64::MAX, u64::MAX / 10] {
            let mut out = Vec::new();
            push_whole(&mut out, n);
            assert_eq!(out, n.to_string().into_bytes());
        }
    }

    /// Quarters, eighths and so on lie right between two texts.
    #[test]
    fn halves_are_rounded_as_by_format() {
        for n in 0..4096 {
            for shift in 0..12 {
                check(f64::from(n) / f64::from(1 << shift));
            }
        }
    }

    proptest! {
        #[test]
        fn any_number_is_written_as_by_format(bits: u64, small in 0.0..1e6f64, n: u64) {
            check(f64::from_bits(bits));
            check(small);
            check(-small);
            let mut out = Vec::new();
            push_whole(&mut out, n);
            prop_assert_eq!(out, n.to_string().into_bytes());
        }
    }
}
