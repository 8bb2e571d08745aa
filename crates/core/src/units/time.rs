//! Simulated time in whole picoseconds.

use super::arithmetic::arithmetic;
use super::parse::{Grammar, notation, print};
use std::fmt;
use std::ops::Div;

/// A point in simulated time, or a span of it: whole picoseconds, up to 213 days.
///
/// ```
/// use weir_core::Time;
/// let t: Time = "1.5us".parse()?;
/// assert_eq!(t, Time::from_ns(1500));
/// assert_eq!(t.to_string(), "1.5 us");
/// # Ok::<(), weir_core::ParseUnitError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

const GRAMMAR: Grammar = Grammar {
    what: "a time",
    example: "1.5us",
    units: "ps, ns, us, ms, s",
    resolution: "picoseconds",
    max: "18446744 s",
    table: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
    ],
    bare: None,
};

const PRINT: &[(&str, u64)] =
    &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];

impl Time {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// From whole picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// From whole nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// From whole microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// From whole milliseconds.
    #[inline]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// In picoseconds.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// In seconds, for printing and plotting only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// `self - other`, or zero when `other` is later.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or [`Time::NEVER`] beyond the end of time.
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self - other`, or `None` when `other` is later.
    #[inline]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(ps) => Some(Self(ps)),
            None => None,
        }
    }
}

impl Div<u64> for Time {
    type Output = Self;
    #[inline]
    fn div(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}

arithmetic!(Time);
notation!(Time);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER {
            return f.pad("never");
        }
        print(f, self.0, PRINT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        for (text, ps) in [
            ("1.5us", 1_500_000),
            ("20 ns", 20_000),
            ("0.001ms", 1_000_000),
            ("2s", 2_000_000_000_000),
            ("7ps", 7),
            ("0", 0),
            ("1_000ns", 1_000_000),
            (".5ns", 500),
        ] {
            assert_eq!(text.parse(), Ok(Time::from_ps(ps)), "{text}");
        }
    }

    #[test]
    fn refuses_with_the_valid_units() {
        assert!("5".parse::<Time>().unwrap_err().to_string().contains("ps, ns, us, ms, s"));
        assert!("5 parsec".parse::<Time>().unwrap_err().to_string().contains("`parsec`"));
        assert!("us".parse::<Time>().unwrap_err().to_string().contains("1.5us"));
        assert!("-3us".parse::<Time>().is_err());
        assert!("1.2.3us".parse::<Time>().is_err());
        assert!("0.5ps".parse::<Time>().unwrap_err().to_string().contains("picoseconds"));
        assert!("99999999s".parse::<Time>().is_err());
        assert!(format!("0.{}1s", "0".repeat(60)).parse::<Time>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(ps in 0..u64::MAX) {
            let t = Time::from_ps(ps);
            prop_assert_eq!(t.to_string().parse(), Ok(t));
        }

        #[test]
        fn no_text_makes_the_parser_panic(s in "\\PC{0,24}") {
            let _ = s.parse::<Time>();
        }
    }
}
