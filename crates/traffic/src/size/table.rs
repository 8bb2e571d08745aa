//! A flow-size distribution as a table of (bytes, cumulative percent).

use crate::text::shorten;
use std::str::FromStr;
use thiserror::Error;
use weir_core::{Bytes, Rate, Time};

/// A flow-size distribution: piecewise linear between the rows of a table.
///
/// The text form has two columns, bytes and cumulative percent, both strictly increasing; the
/// first row stands at 0 % and the last at 100 %. `#` starts a comment.
///
/// ```
/// let table: weir_traffic::SizeTable = "0 0\n1000 50 # half of the flows\n3000 100".parse()?;
/// assert_eq!(table.mean(), 0.5 * 500.0 + 0.5 * 2000.0);
/// # Ok::<(), weir_traffic::size::TableError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    rows: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    bytes: f64,
    percent: f64,
}

/// The largest size a table may hold: every whole number up to it is an exact `f64`.
const LARGEST: u64 = 1 << 53;

/// A table of sizes that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// A row that is not two columns.
    #[error("line {line}: `{text}` has {found} columns: a row is `bytes percent`")]
    Columns {
        /// Line number, from 1.
        line: usize,
        /// The row.
        text: String,
        /// How many columns it has.
        found: usize,
    },
    /// A value that is no number, or outside its range.
    #[error("line {line}: {column} is `{value}`: {valid}")]
    Value {
        /// Line number, from 1.
        line: usize,
        /// The column, `bytes` or `percent`.
        column: &'static str,
        /// What was found.
        value: String,
        /// What is valid.
        valid: &'static str,
    },
    /// A column that does not grow.
    #[error(
        "line {line}: {column} is `{value}`, not above the `{before}` of the row before: \
         both columns strictly increase"
    )]
    NotIncreasing {
        /// Line number, from 1.
        line: usize,
        /// The column.
        column: &'static str,
        /// What was found.
        value: String,
        /// The value of the row before.
        before: String,
    },
    /// A table that begins elsewhere than at 0 %.
    #[error("line {line}: the first row is at {percent} %: it must be at 0 %")]
    Start {
        /// Line number, from 1.
        line: usize,
        /// Where it stands.
        percent: String,
    },
    /// A table that ends elsewhere than at 100 %.
    #[error("line {line}: the last row is at {percent} %: it must be at 100 %")]
    End {
        /// Line number, from 1.
        line: usize,
        /// Where it stands.
        percent: String,
    },
    /// A table of fewer than two rows.
    #[error("a table of sizes has at least 2 rows, this one has {rows}")]
    TooShort {
        /// How many rows it has.
        rows: usize,
    },
}

impl SizeTable {
    /// The size at `u` percent, `u` in `[0, 100)`: with the first row at or above `u` and the
    /// row before it, the straight line between them. Not rounded.
    #[inline]
    fn at(&self, u: f64) -> f64 {
        match self.rows.partition_point(|r| r.percent < u) {
            0 => self.rows[0].bytes,
            i if i == self.rows.len() => self.rows[i - 1].bytes,
            i => {
                let (a, b) = (self.rows[i - 1], self.rows[i]);
                a.bytes + (b.bytes - a.bytes) * (u - a.percent) / (b.percent - a.percent)
            }
        }
    }

    /// The size that a draw of `u`, uniform in `[0, 100)`, stands for: whole bytes, rounded
    /// down, at least 1.
    #[inline]
    pub fn size(&self, u: f64) -> Bytes {
        self.scaled_size(u, 1.0)
    }

    /// [`SizeTable::size`] of the distribution whose sizes are all multiplied by `scale`.
    #[inline]
    pub fn scaled_size(&self, u: f64, scale: f64) -> Bytes {
        // The largest number means "unlimited", which no table can say.
        Bytes::new(((self.at(u) * scale) as u64).clamp(1, u64::MAX - 1))
    }

    /// The mean by the trapezoid rule, which is exact for straight lines. Sizes drawn are
    /// rounded down to whole bytes, so their mean lies half a byte below.
    pub fn mean(&self) -> f64 {
        self.bytes_above(0.0)
    }

    /// The integral of the size over the percentiles above `p`, per flow.
    fn bytes_above(&self, p: f64) -> f64 {
        let mut sum = 0.0;
        for pair in self.rows.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if b.percent <= p {
                continue;
            }
            let (x, y) = if a.percent < p { (self.at(p), p) } else { (a.bytes, a.percent) };
            sum += (x + b.bytes) / 2.0 * (b.percent - y) / 100.0;
        }
        sum
    }

    /// The standard deviation of the size, exact for straight lines.
    pub fn standard_deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self
            .rows
            .windows(2)
            .map(|w| {
                let (a, b) = (w[0].bytes, w[1].bytes);
                (a * a + a * b + b * b) / 3.0 * (w[1].percent - w[0].percent) / 100.0
            })
            .sum();
        (squares - mean * mean).max(0.0).sqrt()
    }

    /// The size below which `percent` of the flows lie; beyond the ends, the end.
    pub fn quantile(&self, percent: f64) -> f64 {
        self.at(percent.clamp(0.0, 100.0))
    }

    /// The percentage of flows of at most `size`.
    pub fn percent_below(&self, size: Bytes) -> f64 {
        let x = size.get() as f64;
        match self.rows.partition_point(|r| r.bytes < x) {
            0 => 0.0,
            i if i == self.rows.len() => 100.0,
            i => {
                let (a, b) = (self.rows[i - 1], self.rows[i]);
                a.percent + (b.percent - a.percent) * (x - a.bytes) / (b.bytes - a.bytes)
            }
        }
    }

    /// The percentage of flows that a sender at `rate` has injected whole within one `rtt`, that
    /// is, those of at most one bandwidth-delay product (FlowSail, Fig. 1).
    pub fn percent_within_rtt(&self, rate: Rate, rtt: Time) -> f64 {
        self.percent_below(rate.bytes_in(rtt))
    }

    /// The smallest size.
    pub fn min(&self) -> Bytes {
        Bytes::new(self.rows[0].bytes as u64)
    }

    /// The largest size.
    pub fn max(&self) -> Bytes {
        Bytes::new(self.rows[self.rows.len() - 1].bytes as u64)
    }

    /// The percentage of all bytes that the largest tenth of the flows carries.
    pub fn percent_of_bytes_in_top_tenth(&self) -> f64 {
        100.0 * self.bytes_above(90.0) / self.mean()
    }

    /// The rows as (bytes, percent).
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (Bytes, f64)> + '_ {
        self.rows.iter().map(|r| (Bytes::new(r.bytes as u64), r.percent))
    }

    /// What `weir workloads` prints of it.
    pub fn summary(&self) -> TableSummary {
        TableSummary {
            rows: self.rows.len(),
            mean: self.mean(),
            median: self.quantile(50.0),
            max: self.max(),
            percent_below_1kb: self.percent_below(Bytes::from_kb(1)),
            percent_below_10kb: self.percent_below(Bytes::from_kb(10)),
            percent_below_100kb: self.percent_below(Bytes::from_kb(100)),
            percent_of_bytes_in_top_tenth: self.percent_of_bytes_in_top_tenth(),
        }
    }
}

/// A table of sizes in eight numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableSummary {
    /// Rows of the table.
    pub rows: usize,
    /// Mean size, bytes.
    pub mean: f64,
    /// Median size, bytes.
    pub median: f64,
    /// Largest size.
    pub max: Bytes,
    /// Percentage of flows up to 1 KB.
    pub percent_below_1kb: f64,
    /// Percentage of flows up to 10 KB.
    pub percent_below_10kb: f64,
    /// Percentage of flows up to 100 KB.
    pub percent_below_100kb: f64,
    /// Percentage of the bytes carried by the largest tenth of the flows.
    pub percent_of_bytes_in_top_tenth: f64,
}

impl FromStr for SizeTable {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Self, TableError> {
        let mut rows: Vec<Point> = Vec::new();
        let mut last = (0, "");
        for (i, text) in text.lines().enumerate() {
            let line = i + 1;
            let content = text.split('#').next().unwrap_or("").trim();
            if content.is_empty() {
                continue;
            }
            let row = parse_row(line, content)?;
            match rows.last() {
                None if row.percent != 0.0 => {
                    return Err(TableError::Start { line, percent: row.percent.to_string() });
                }
                Some(before) => check_growth(line, *before, row)?,
                None => {}
            }
            rows.push(row);
            last = (line, content);
        }
        if rows.len() < 2 {
            return Err(TableError::TooShort { rows: rows.len() });
        }
        if rows[rows.len() - 1].percent != 100.0 {
            let percent = last.1.split_whitespace().nth(1).unwrap_or("").to_owned();
            return Err(TableError::End { line: last.0, percent });
        }
        Ok(Self { rows })
    }
}

fn parse_row(line: usize, content: &str) -> Result<Point, TableError> {
    let columns: Vec<&str> = content.split_whitespace().collect();
    let &[bytes, percent] = columns.as_slice() else {
        return Err(TableError::Columns { line, text: shorten(content), found: columns.len() });
    };
    let bytes = bytes.parse::<u64>().ok().filter(|&b| b <= LARGEST).ok_or_else(|| {
        let valid = "write a whole number of bytes up to 9007199254740992";
        TableError::Value { line, column: "bytes", value: shorten(bytes), valid }
    })?;
    let percent =
        percent.parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p)).ok_or_else(|| {
            TableError::Value {
                line,
                column: "percent",
                value: shorten(percent),
                valid: "write a number from 0 to 100",
            }
        })?;
    Ok(Point { bytes: bytes as f64, percent })
}

fn check_growth(line: usize, before: Point, row: Point) -> Result<(), TableError> {
    for (column, old, new) in
        [("bytes", before.bytes, row.bytes), ("percent", before.percent, row.percent)]
    {
        if new <= old {
            let (value, before) = (new.to_string(), old.to_string());
            return Err(TableError::NotIncreasing { line, column, value, before });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(text: &str) -> SizeTable {
        text.parse().unwrap()
    }

    #[test]
    fn a_draw_lands_on_the_line_between_two_rows() {
        let t = table("10 0\n20 50\n120 100");
        // u = 0 is the first row itself; 25 is half way from 10 to 20; 75 half way from 20 to 120
        for (u, size) in [(0.0, 10), (25.0, 15), (50.0, 20), (75.0, 70), (99.9, 119)] {
            assert_eq!(t.size(u), Bytes::new(size), "at {u}");
        }
    }

    #[test]
    fn no_flow_is_empty_even_when_scaled_down() {
        let t = table("0 0\n100 100");
        assert_eq!(t.size(0.0), Bytes::new(1));
        assert_eq!(t.scaled_size(5.0, 0.1), Bytes::new(1));
        assert_eq!(t.scaled_size(55.0, 0.1), Bytes::new(5));
    }

    #[test]
    fn moments_of_a_uniform_distribution_are_those_of_the_textbook() {
        let t = table("0 0\n600 50\n1200 100");
        assert_eq!(t.mean(), 600.0);
        // 1200 / sqrt(12)
        assert!((t.standard_deviation() - 346.410_161_5).abs() < 1e-6);
        // the top tenth is 1080..1200: mean 1140, a tenth of the flows, 114 of 600 bytes
        assert!((t.percent_of_bytes_in_top_tenth() - 19.0).abs() < 1e-12);
        assert_eq!(t.quantile(50.0), 600.0);
        assert_eq!(t.percent_below(Bytes::new(300)), 25.0);
        assert_eq!(t.percent_below(Bytes::new(9999)), 100.0);
        assert_eq!((t.min(), t.max()), (Bytes::ZERO, Bytes::new(1200)));
    }

    #[test]
    fn comments_and_empty_lines_do_not_count() {
        let t = table("# sizes\n\n0 0 # start\n  5\t50\r\n10 100\n");
        assert_eq!(t.rows().len(), 3);
    }

    #[test]
    fn a_bad_table_is_refused_with_line_value_and_remedy() {
        for (text, parts) in [
            ("0 0\n5 50 3\n9 100", &["line 2", "5 50 3", "3 columns"][..]),
            ("0 0\n-5 50\n9 100", &["line 2", "bytes", "-5", "whole number"]),
            ("0 0\n5.5 50\n9 100", &["line 2", "bytes", "5.5"]),
            ("0 0\n5 NaN\n9 100", &["line 2", "percent", "NaN", "0 to 100"]),
            ("0 0\n5 101\n", &["line 2", "percent", "101"]),
            ("0 0\n5 50\n5 100", &["line 3", "bytes", "`5`", "increase"]),
            ("0 0\n5 50\n9 50", &["line 3", "percent", "50"]),
            ("# c\n0 1\n9 100", &["line 2", "first row", "1 %"]),
            ("0 0\n9 99.5\n", &["line 2", "last row", "99.5 %"]),
            ("0 0\n", &["2 rows", "has 1"]),
            ("", &["has 0"]),
            ("0 0\n99999999999999999 100", &["line 2", "bytes", "9007199254740992"]),
        ] {
            let message = text.parse::<SizeTable>().unwrap_err().to_string();
            for part in parts {
                assert!(message.contains(part), "{message:?} lacks {part:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_can_be_drawn_from(
            steps in prop::collection::vec((1u64..1_000_000, 1u32..1000), 1..40),
            u in 0.0..100.0f64,
        ) {
            let total: u32 = steps.iter().map(|s| s.1).sum();
            let (mut bytes, mut sum, mut text) = (0, 0, String::from("0 0\n"));
            for (b, p) in &steps {
                bytes += b;
                sum += p;
                let percent = 100.0 * f64::from(sum) / f64::from(total);
                text += &format!("{bytes} {percent}\n");
            }
            let t: SizeTable = text.parse().unwrap();
            let size = t.size(u);
            prop_assert!(size >= Bytes::new(1) && size <= t.max());
            // the size drawn at u is the u-th percentile, but for the rounding to whole bytes
            let (below, above) = (t.percent_below(size), t.percent_below(size + Bytes::new(1)));
            prop_assert!(size == Bytes::new(1) || below <= u + 1e-9);
            prop_assert!(u <= above + 1e-9);
        }
    }
}
