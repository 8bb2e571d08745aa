//! Columns and the values in them: what every table of results is made of.
//!
//! ```text
//!   Column<T> { name, kind, unit, doc, of } ──► Value ──► Sink: CSV, Parquet
//!                                                 │
//!                                                 └─► records of sweeps, text tables, claims
//! ```
//!
//! A value is typed from where it is counted to where it is shown; it becomes text there and only
//! there. A column says in which unit its numbers are: nobody guesses that from its name.

use crate::summary::Summary;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use weir_core::decimal::{push_fixed, push_whole};
use weir_core::{Bytes, Rate, Time, Unit};

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value<'a> {
    /// A whole number.
    Whole(u64),
    /// Any other number; always finite.
    Real(f64),
    /// Text.
    Text(Cow<'a, str>),
    /// There is nothing to say: an empty cell, null.
    None,
}

impl Value<'_> {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(n) => Some(*n as f64),
            Self::Real(x) => Some(*x),
            Self::Text(_) | Self::None => None,
        }
    }

    /// The text; empty if it is none.
    pub fn word(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// The same value, which keeps its text where it is.
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Self::Whole(n) => Value::Whole(*n),
            Self::Real(x) => Value::Real(*x),
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
            Self::None => Value::None,
        }
    }

    /// The same value with a text of its own.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Whole(n) => Value::Whole(n),
            Self::Real(x) => Value::Real(x),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::None => Value::None,
        }
    }

    /// Appends the value as the cells of a column of this kind are written.
    fn push(&self, kind: Kind, out: &mut Vec<u8>) {
        match (self, kind) {
            (Self::Whole(n), _) => push_whole(out, *n),
            (Self::Real(x), Kind::Fixed(digits)) => push_fixed(out, *x, digits),
            (Self::Real(x), _) => write!(out, "{x}").expect("a vector takes everything"),
            (Self::Text(text), _) => out.extend_from_slice(text.as_bytes()),
            (Self::None, _) => {}
        }
    }
}

/// As in a cell of a CSV file, with as many digits as tell it from all other numbers.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(n) => n.fmt(f),
            Self::Real(x) => x.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::None => Ok(()),
        }
    }
}

/// A number that is none, such as a mean of nothing, leaves a cell empty.
impl From<f64> for Value<'_> {
    fn from(x: f64) -> Self {
        if x.is_finite() { Self::Real(x) } else { Self::None }
    }
}

/// What does not fit 64 bits is written out; Parquet has no place for it.
impl From<u128> for Value<'_> {
    fn from(n: u128) -> Self {
        u64::try_from(n).map_or_else(|_| n.to_string().into(), Self::Whole)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

macro_rules! from {
    ($($from:ty, $v:ident => $to:expr;)*) => {
        $(impl From<$from> for Value<'_> {
            fn from($v: $from) -> Self {
                $to
            }
        })*
    };
}

from! {
    u64, n => Self::Whole(n);
    u32, n => Self::Whole(n.into());
    u8, n => Self::Whole(n.into());
    bool, yes => Self::Whole(yes.into());
    Time, t => Self::Whole(t.as_ps());
    Bytes, b => Self::Whole(b.get());
    Rate, r => Self::Whole(r.as_bps());
    String, text => Self::Text(Cow::Owned(text));
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

/// What the cells of a column hold, unless they are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers, written with all their digits.
    Real,
    /// Numbers, written with so many digits behind the point.
    Fixed(usize),
}

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Its name.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: Kind,
    /// What its numbers are measured in.
    pub unit: Unit,
    /// Which number of many values it is, if it is one.
    pub summary: Option<Summary>,
    /// What it is, for the book and for lists.
    pub doc: &'static str,
}

impl Heading {
    /// Whether its cells are numbers.
    pub fn is_number(&self) -> bool {
        self.kind != Kind::Text
    }
}

/// A column of a table with a row for every `T`.
#[derive(Clone, Copy, Debug)]
pub struct Column<T> {
    /// What it is.
    pub heading: Heading,
    /// Takes its value out of a row.
    pub of: fn(&T) -> Value<'_>,
}

/// Columns, one per line: name, kind, unit unless it is text, what it sums up if it does, what it
/// is, and how it is worked out.
macro_rules! columns {
    ($($name:literal $kind:ident $(($digits:literal))? $($unit:ident)?
        $([$observed:ident $statistic:ident $(($share:ident))?])? : $doc:literal,
        |$v:pat_param| $of:expr;)*) => {
        vec![$($crate::column::Column {
            heading: $crate::column::Heading {
                name: $name,
                kind: $crate::column::Kind::$kind $(($digits))?,
                unit: $crate::column::columns!(@unit $($unit)?),
                summary: $crate::column::columns!(@summary $($observed $statistic $(($share))?)?),
                doc: $doc,
            },
            of: |$v| $crate::column::Value::from($of),
        },)*]
    };
    (@unit) => { weir_core::Unit::Number };
    (@unit $unit:ident) => { weir_core::Unit::$unit };
    (@summary) => { None };
    (@summary $observed:ident $statistic:ident $(($share:ident))?) => {
        Some($crate::summary::Summary {
            of: $crate::summary::Observed::$observed,
            by: $crate::summary::Statistic::$statistic $(($share))?,
        })
    };
}
pub(crate) use columns;

/// What columns are, without how they are worked out.
pub fn headings<T>(columns: &[Column<T>]) -> Vec<Heading> {
    columns.iter().map(|c| c.heading).collect()
}

/// Where rows of values go.
pub trait Sink {
    /// Takes a row: a value for each column.
    fn row(&mut self, cells: &mut dyn Iterator<Item = Value<'_>>) -> io::Result<()>;
}

/// So many bytes of rows are written at a time.
const AT_A_TIME: usize = 1 << 16;

/// Rows as CSV (RFC 4180, lines end in LF).
///
/// Numbers need no quotes and few texts do: a row is put together as it is, and only a text with a
/// comma, a quote or an end of line is handed to the `csv` crate. The bytes are the same as if all
/// were.
pub struct Csv<W: Write> {
    to: W,
    kinds: Vec<Kind>,
    /// Rows that are not written yet.
    rows: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// Begins with the line of names.
    pub fn new<'n>(to: W, columns: impl IntoIterator<Item = (&'n str, Kind)>) -> io::Result<Self> {
        let (names, kinds): (Vec<&str>, _) = columns.into_iter().unzip();
        let mut rows = csv::Writer::from_writer(Vec::new());
        rows.write_record(names)?;
        let rows = rows.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(Self { to, kinds, rows })
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.write_all(&self.rows)?;
        self.to.flush()
    }

    /// Puts the text that begins at `start` into quotes.
    #[cold]
    fn quote(&mut self, start: usize) -> io::Result<()> {
        let mut line = csv::Writer::from_writer(Vec::new());
        line.write_record([&self.rows[start..]])?;
        let line = line.into_inner().map_err(csv::IntoInnerError::into_error)?;
        self.rows.truncate(start);
        self.rows.extend_from_slice(line.trim_ascii_end());
        Ok(())
    }
}

/// Whether a text cannot stand in a row as it is.
fn needs_quotes(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'))
}

impl<W: Write> Sink for Csv<W> {
    fn row(&mut self, cells: &mut dyn Iterator<Item = Value<'_>>) -> io::Result<()> {
        for (i, value) in cells.enumerate().take(self.kinds.len()) {
            if i > 0 {
                self.rows.push(b',');
            }
            let start = self.rows.len();
            value.push(self.kinds[i], &mut self.rows);
            // a line with nothing on it is no row
            let lone = self.kinds.len() == 1 && start == self.rows.len();
            if lone || matches!(value, Value::Text(_)) && needs_quotes(&self.rows[start..]) {
                self.quote(start)?;
            }
        }
        self.rows.push(b'\n');
        if self.rows.len() >= AT_A_TIME {
            self.to.write_all(&self.rows)?;
            self.rows.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        /// Records of sweeps are read by later runs, which must go on with the same numbers.
        #[test]
        fn a_value_is_the_same_after_it_was_stored(
            x in any::<f64>(), n in any::<u64>(), text in "[a,\"\n é1.]{0,6}"
        ) {
            for value in [Value::from(x), n.into(), text.into(), Value::None, (n as f64).into()] {
                let stored = serde_json::to_string(&value).unwrap();
                prop_assert_eq!(serde_json::from_str::<Value<'_>>(&stored).unwrap(), value);
            }
        }
    }

    proptest! {
        #[test]
        fn rows_are_those_of_the_csv_crate(
            rows in vec(vec("[a, \"\r\n\u{e9}1.]{0,4}", 3), 0..5),
            columns in 1..=3usize,
        ) {
            let (mut ours, mut theirs) = (Vec::new(), csv::Writer::from_writer(Vec::new()));
            let names = ["a", "b,", "c"].map(|name| (name, Kind::Text));
            let mut csv = Csv::new(&mut ours, names.into_iter().take(columns)).unwrap();
            theirs.write_record(names[..columns].iter().map(|(name, _)| name)).unwrap();
            for row in &rows {
                csv.row(&mut row[..columns].iter().map(|cell| cell.as_str().into())).unwrap();
                theirs.write_record(&row[..columns]).unwrap();
            }
            csv.finish().unwrap();
            prop_assert_eq!(ours, theirs.into_inner().unwrap());
        }
    }

    #[test]
    fn a_value_becomes_text_in_the_way_of_its_column() {
        let written = |value: Value<'_>, kind| {
            let mut out = Vec::new();
            value.push(kind, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(0.1.into(), Kind::Real), "0.1");
        assert_eq!(written(0.1.into(), Kind::Fixed(3)), "0.100");
        assert_eq!(written(12e6.into(), Kind::Real), "12000000");
        assert_eq!(written(Time::from_ns(2).into(), Kind::Whole), "2000");
        assert_eq!(written(f64::NAN.into(), Kind::Real), "");
        // 2^64
        assert_eq!(written((1u128 << 64).into(), Kind::Whole), "18446744073709551616");
    }

    #[test]
    fn what_needs_quotes_in_a_file_has_them() {
        let mut out = Vec::new();
        let mut csv = Csv::new(&mut out, [("a", Kind::Text), ("b", Kind::Fixed(1))]).unwrap();
        csv.row(&mut ["x, \"y\"".into(), 2.0.into()].into_iter()).unwrap();
        csv.row(&mut [Value::None, Value::None].into_iter()).unwrap();
        csv.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,b\n\"x, \"\"y\"\"\",2.0\n,\n");
    }
}
