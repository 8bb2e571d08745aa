//! Percentiles, by one rule and in integers.
//!
//! The p-th percentile of n values is the value of *nearest rank*: with the values in ascending
//! order, counted from 1, the one at ⌈n · p⌉. It is always one of the values, and the smallest
//! that at least the share p of all does not exceed. The rank is computed in integers: in floating
//! point 99.9 / 100 · 1000 is a little more than 999, and its ceiling one rank too high.

use std::fmt;

/// A share of values or of time, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentile(u16);

/// The first quartile.
pub const P25: Percentile = Percentile::per_mille(250);
/// The median.
pub const P50: Percentile = Percentile::per_mille(500);
/// The third quartile.
pub const P75: Percentile = Percentile::per_mille(750);
/// The 90th percentile.
pub const P90: Percentile = Percentile::per_mille(900);
/// The 95th percentile.
pub const P95: Percentile = Percentile::per_mille(950);
/// The 99th percentile.
pub const P99: Percentile = Percentile::per_mille(990);
/// The 99.9th percentile.
pub const P999: Percentile = Percentile::per_mille(999);

impl Percentile {
    /// The whole.
    const ALL: u16 = 1000;

    /// From thousandths.
    ///
    /// # Panics
    /// If there are more than 1000.
    pub const fn per_mille(thousandths: u16) -> Self {
        assert!(thousandths <= Self::ALL, "a share is at most the whole");
        Self(thousandths)
    }

    /// As a number from 0 to 1, for axes.
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ALL)
    }

    /// The rank among `count` values, from 1: ⌈count · share⌉; 0 only for the share 0 or without
    /// values.
    pub const fn rank(self, count: u128) -> u128 {
        let (share, all) = (self.0 as u128, Self::ALL as u128);
        // whole thousands first, so that no count overflows
        count / all * share + (count % all * share).div_ceil(all)
    }

    /// How many values there must be so that `beyond` of them lie beyond it; `None` for the whole.
    pub const fn needed(self, beyond: u64) -> Option<u64> {
        match (Self::ALL - self.0) as u64 {
            0 => None,
            rest => Some((beyond * Self::ALL as u64).div_ceil(rest)),
        }
    }

    /// Of values in ascending order: the one of nearest rank; `None` without values. The share 0
    /// means the first.
    pub fn of<T: Copy>(self, ascending: &[T]) -> Option<T> {
        let rank = self.rank(ascending.len() as u128) as usize;
        ascending.get(rank.saturating_sub(1)).copied()
    }

    /// Of values in ascending order that lasted: the smallest that is not exceeded during this
    /// share of the `total` time; `None` without values.
    pub fn over_time<T>(
        self,
        total: u128,
        ascending: impl IntoIterator<Item = (T, u128)>,
    ) -> Option<T> {
        let wanted = self.rank(total);
        let mut spent = 0;
        let reached = |(_, time): &(T, u128)| {
            spent += time;
            spent >= wanted
        };
        ascending.into_iter().find(reached).map(|(value, _)| value)
    }
}

impl fmt::Display for Percentile {
    /// In per cent: `99.9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => write!(f, "{}", self.0 / 10),
            tenth => write!(f, "{}.{tenth}", self.0 / 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 99.9 / 100 in floating point lies above 0.999, so that every thousand values gave the
    /// largest instead of the second largest.
    #[test]
    fn the_rank_of_whole_thousands_is_exact() {
        for thousands in 1..=1000u32 {
            let values: Vec<u32> = (1..=thousands * 1000).collect();
            // 1000 values: rank 999; 2000 values: rank 1998
            assert_eq!(P999.of(&values), Some(thousands * 999), "{thousands}000 values");
            if thousands > 20 && thousands % 100 != 0 {
                continue;
            }
            for (p, rank) in
                [(P25, 250), (P50, 500), (P75, 750), (P90, 900), (P95, 950), (P99, 990)]
            {
                assert_eq!(p.of(&values), Some(thousands * rank), "{p} of {thousands}000");
            }
        }
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let five = [1, 2, 3, 4, 5];
        let at = |thousandths| Percentile::per_mille(thousandths).of(&five);
        // ranks: 0 stands for the first; 0.2 x 5 = 1; 0.201 x 5 = 1.005; 0.5 x 5 = 2.5
        assert_eq!([0, 200, 201, 500, 990, 1000].map(at), [1, 1, 2, 3, 5, 5].map(Some));
        assert_eq!(P50.of::<u8>(&[]), None);
        assert_eq!(P999.of(&[7]), Some(7));
    }

    #[test]
    fn the_values_needed_leave_so_many_beyond() {
        // 10 / 0.001, 10 / 0.5, 10 / 0.75 = 13.3
        assert_eq!([P999, P50, P25].map(|p| p.needed(10)), [10_000, 20, 14].map(Some));
        assert_eq!(Percentile::per_mille(1000).needed(10), None);
    }

    #[test]
    fn values_that_lasted_count_by_their_time() {
        // 999 ps at 5, 1 ps at 9: 999 of 1000 ps do not exceed 5
        let lasted = [(5, 999), (9, 1)];
        assert_eq!(P999.over_time(1000, lasted), Some(5));
        assert_eq!(Percentile::per_mille(1000).over_time(1000, lasted), Some(9));
        assert_eq!(P50.over_time::<u8>(0, []), None);
    }

    #[test]
    fn no_count_overflows() {
        // 2^128 - 1 = 1000 q + 455: q x 999 + ceil(455 x 0.999) = 1000 q + 455 - q
        assert_eq!(P999.rank(u128::MAX), u128::MAX - u128::MAX / 1000);
    }

    #[test]
    fn it_is_written_in_per_cent() {
        assert_eq!([P50, P999].map(|p| p.to_string()), ["50", "99.9"]);
        assert_eq!(P999.share(), 0.999);
    }

    proptest! {
        /// The definition itself: at least the share of all values is at most the percentile, and
        /// of the values below it there are fewer.
        #[test]
        fn the_rank_is_the_smallest_that_reaches_the_share(
            count in 1u32..100_000,
            p in 1u16..=1000,
        ) {
            let rank = Percentile::per_mille(p).rank(u128::from(count));
            let (count, p) = (u128::from(count), u128::from(p));
            prop_assert!(rank * 1000 >= count * p && (rank - 1) * 1000 < count * p);
        }
    }
}
