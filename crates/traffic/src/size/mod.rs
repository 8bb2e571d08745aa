//! How large flows are.

mod builtin;
mod table;

pub use builtin::{
    BuiltIn, FLOWSAIL_FIG1, FLOWSAIL_WORKLOADS, OneRtt, builtin_table, builtin_tables,
};
pub use table::{SizeTable, TableError, TableSummary};

pub use crate::error::UnknownTable;

use crate::error::TrafficError;
use std::sync::Arc;
use weir_core::rng::Stream;
use weir_core::{Bytes, Ratio};

/// What flow sizes are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// All flows are alike. [`Bytes::MAX`] lasts until the run ends.
    Fixed(Bytes),
    /// Every whole number of bytes from `low` to `high` is equally likely.
    Uniform {
        /// The smallest size.
        low: Bytes,
        /// The largest size.
        high: Bytes,
    },
    /// Drawn from a table, multiplied by `scale`, at least 1 byte.
    Table {
        /// The table.
        table: Arc<SizeTable>,
        /// What sizes are multiplied by: `1/10` divides them by ten.
        scale: Ratio,
    },
}

impl Sizes {
    /// Sizes of a table as they are.
    pub fn table(table: Arc<SizeTable>) -> Self {
        Self::Table { table, scale: Ratio::new(1, 1).expect("one is not zero") }
    }

    /// The mean size in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(size) => size.get() as f64,
            Self::Uniform { low, high } => (low.get() as f64 + high.get() as f64) / 2.0,
            Self::Table { table, scale } => table.mean() * scale.as_f64(),
        }
    }

    /// Draws one size.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> Bytes {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { low, high } => Bytes::new(stream.between(low.get(), high.get())),
            Self::Table { table, scale } => {
                table.scaled_size(stream.unit() * 100.0, scale.as_f64())
            }
        }
    }

    /// Refuses sizes that cannot be drawn, and an unlimited one.
    pub(crate) fn check_finite(&self, parameter: &'static str) -> Result<(), TrafficError> {
        if *self == Self::Fixed(Bytes::MAX) {
            let valid = "this pattern needs flows that end";
            return Err(TrafficError::value(parameter, "unlimited", valid));
        }
        self.check(parameter)
    }

    /// Refuses sizes that cannot be drawn.
    pub(crate) fn check(&self, parameter: &'static str) -> Result<(), TrafficError> {
        let bad = |value: String, valid| Err(TrafficError::value(parameter, value, valid));
        match *self {
            Self::Fixed(Bytes::ZERO) => bad("0 B".into(), "a flow carries at least 1 B"),
            Self::Uniform { low, high } if low > high || low == Bytes::ZERO => {
                bad(format!("{low}..{high}"), "a range must be ascending and start at 1 B or more")
            }
            Self::Uniform { high: Bytes::MAX, .. } => {
                bad("unlimited".into(), "the largest size of a range is finite")
            }
            Self::Table { scale, .. } if scale.as_f64() == 0.0 => {
                Err(TrafficError::value("scale", scale, "sizes are multiplied by more than 0"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_drawn_to_both_ends_and_has_its_mean() {
        let sizes = Sizes::Uniform { low: Bytes::new(5), high: Bytes::new(7) };
        let mut stream = Stream::new(1, "size", 0);
        let mut seen = [0; 3];
        for _ in 0..300 {
            seen[(sizes.draw(&mut stream).get() - 5) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
        assert_eq!(sizes.mean(), 6.0);
    }

    #[test]
    fn web_search_divided_by_ten_has_a_tenth_of_the_mean() {
        let table = builtin_table("websearch").unwrap();
        let sizes = Sizes::Table { table, scale: "1/10".parse().unwrap() };
        assert!((sizes.mean() - 171_125.0).abs() < 1e-6);
        let mut stream = Stream::new(1, "size", 0);
        let drawn = (0..10_000).map(|_| sizes.draw(&mut stream)).max().unwrap();
        assert!(drawn <= Bytes::new(3_000_000) && drawn > Bytes::new(2_500_000), "{drawn}");
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        let table = builtin_table("edu1").unwrap();
        for (sizes, part) in [
            (Sizes::Fixed(Bytes::ZERO), "at least 1 B"),
            (Sizes::Fixed(Bytes::MAX), "unlimited"),
            (Sizes::Uniform { low: Bytes::new(9), high: Bytes::new(8) }, "9 B..8 B"),
            (Sizes::Uniform { low: Bytes::ZERO, high: Bytes::new(8) }, "1 B or more"),
            (Sizes::Uniform { low: Bytes::new(1), high: Bytes::MAX }, "finite"),
            (Sizes::Table { table, scale: Ratio::new(0, 1).unwrap() }, "`scale` is 0"),
        ] {
            let message = sizes.check_finite("size").unwrap_err().to_string();
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
        assert_eq!(Sizes::Fixed(Bytes::MAX).check("size"), Ok(()));
    }
}
