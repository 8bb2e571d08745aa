//! Amounts of data.

use super::arithmetic::arithmetic;
use super::parse::{Grammar, notation, print};
use std::fmt;

/// A number of bytes. "64KB" is 64 000 B and "64KiB" is 65 536 B.
///
/// ```
/// use weir_core::Bytes;
/// assert_eq!("64KiB".parse(), Ok(Bytes::new(65_536)));
/// assert_eq!(Bytes::new(75_000).to_string(), "75 KB");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Bytes(u64);

const GRAMMAR: Grammar = Grammar {
    what: "a size",
    example: "64KB",
    units: "B, KB, MB, GB, TB, KiB, MiB, GiB",
    resolution: "bytes",
    max: "18446744 TB",
    table: &[
        ("B", 1),
        ("KB", 1_000),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    bare: Some(1),
};

const PRINT: &[(&str, u64)] =
    &[("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000), ("B", 1)];

impl Bytes {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// More than anything: "no limit".
    pub const MAX: Self = Self(u64::MAX);

    /// `n` bytes.
    #[inline]
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// `n` thousand bytes.
    pub const fn from_kb(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// `self - other`, or zero.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self - other`, or `None` when that is negative: a book that does not balance.
    #[inline]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(n) => Some(Self(n)),
            None => None,
        }
    }

    /// `self + other`, at most [`Bytes::MAX`].
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl From<u16> for Bytes {
    #[inline]
    fn from(n: u16) -> Self {
        Self(u64::from(n))
    }
}

arithmetic!(Bytes);
notation!(Bytes);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MAX {
            return f.pad("unlimited");
        }
        print(f, self.0, PRINT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_decimal_and_binary_prefixes() {
        for (text, n) in [
            ("64KB", 64_000),
            ("64KiB", 65_536),
            ("1.5MB", 1_500_000),
            ("12 MB", 12_000_000),
            ("1500", 1500),
            ("0.5KiB", 512),
        ] {
            assert_eq!(text.parse(), Ok(Bytes::new(n)), "{text}");
        }
        assert!("0.3B".parse::<Bytes>().is_err());
        assert!("3Kb".parse::<Bytes>().unwrap_err().to_string().contains("`Kb`"));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(n in 0..u64::MAX) {
            let b = Bytes::new(n);
            prop_assert_eq!(b.to_string().parse(), Ok(b));
        }
    }
}
