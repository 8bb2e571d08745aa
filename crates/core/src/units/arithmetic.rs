//! Sums and multiples of quantities of one unit.

/// Lets a unit that counts something be added, subtracted and multiplied like a whole number: what
/// overflows is a mistake.
macro_rules! arithmetic {
    ($unit:ident) => {
        impl std::ops::Add for $unit {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::AddAssign for $unit {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl std::ops::Sub for $unit {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::SubAssign for $unit {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl std::ops::Mul<u64> for $unit {
            type Output = Self;
            #[inline]
            fn mul(self, n: u64) -> Self {
                Self(self.0 * n)
            }
        }

        impl std::iter::Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                Self(iter.map(|x| x.0).sum())
            }
        }
    };
}
pub(super) use arithmetic;
