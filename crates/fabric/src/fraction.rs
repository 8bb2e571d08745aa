//! Exact fractions: a rule that ends in rounding up must not depend on floating point.

use std::ops::{Add, Mul};

/// A non-negative fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Fraction {
    /// `numerator / denominator`, which is not zero.
    pub(crate) fn new(numerator: u128, denominator: u128) -> Self {
        let divisor = gcd(numerator, denominator).max(1);
        Self { numerator: numerator / divisor, denominator: denominator.max(1) / divisor }
    }

    /// A whole number.
    pub(crate) fn whole(n: u64) -> Self {
        Self::new(u128::from(n), 1)
    }

    /// The difference; zero where the other is larger.
    pub(crate) fn minus(self, other: Self) -> Self {
        let common = gcd(self.denominator, other.denominator).max(1);
        let (left, right) = (other.denominator / common, self.denominator / common);
        let difference = (self.numerator * left).saturating_sub(other.numerator * right);
        Self::new(difference, self.denominator * left)
    }

    /// Rounded up to a whole number.
    pub(crate) fn ceil(self) -> u64 {
        u64::try_from(self.numerator.div_ceil(self.denominator)).unwrap_or(u64::MAX)
    }

    /// To show it.
    pub(crate) fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl Add for Fraction {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let common = gcd(self.denominator, other.denominator).max(1);
        let (left, right) = (other.denominator / common, self.denominator / common);
        Self::new(self.numerator * left + other.numerator * right, self.denominator * left)
    }
}

impl Mul for Fraction {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (a, b) = (
            Self::new(self.numerator, other.denominator),
            Self::new(other.numerator, self.denominator),
        );
        Self::new(a.numerator * b.numerator, a.denominator * b.denominator)
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_exact() {
        let (half, third) = (Fraction::new(2, 4), Fraction::new(1, 3));
        assert_eq!(half + third, Fraction::new(5, 6));
        assert_eq!(half * third, Fraction::new(1, 6));
        // 1/3 three times is one, not a little more
        assert_eq!((third + third + third).ceil(), 1);
        assert_eq!((half + third).ceil(), 1);
        assert_eq!(Fraction::whole(7).ceil(), 7);
    }
}
