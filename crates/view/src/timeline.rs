//! A recording in memory.

use crate::header::Header;
use weir_core::packed::{Runs, Sparse, Varints, write_varint, zigzag};

weir_core::words! {
    /// How a column is written.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// One byte.
        U8 = "u8",
        /// Four bytes, the lowest first.
        U32 = "u32",
        /// Seven bits per byte, the lowest first; the eighth is set in all bytes but the last.
        Varint = "varint",
        /// The same, of the differences to the row before, with the sign in the lowest bit.
        Delta = "delta",
        /// How often the same difference to the row before comes, and the difference.
        Runs = "runs",
        /// How many zeros come before a value, and the value.
        Sparse = "sparse",
    }
}

impl Kind {
    /// The bytes of a column.
    pub(crate) fn write(self, values: &[u64], to: &mut Vec<u8>) {
        // references and numbers of kinds; a larger one is a mistake of the caller
        match self {
            Self::U8 => to.extend(values.iter().map(|&v| u8::try_from(v).unwrap_or(u8::MAX))),
            Self::U32 => {
                let short = |&v: &u64| u32::try_from(v).unwrap_or(u32::MAX).to_le_bytes();
                to.extend(values.iter().flat_map(short));
            }
            Self::Varint => values.iter().for_each(|v| write_varint(*v, to)),
            Self::Delta => {
                let mut before = 0u64;
                for &value in values {
                    write_varint(zigzag(value.wrapping_sub(before)), to);
                    before = value;
                }
            }
            Self::Runs => {
                let mut list = Runs::default();
                values.iter().for_each(|v| list.push(*v));
                to.append(&mut list.into_bytes());
            }
            Self::Sparse => {
                let mut list = Sparse::default();
                values.iter().for_each(|v| list.push(*v));
                to.append(&mut list.into_bytes());
            }
        }
    }

    /// Whether each value takes a byte or more.
    pub(crate) const fn is_plain(self) -> bool {
        !matches!(self, Self::Runs | Self::Sparse)
    }
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// How it is written.
    pub kind: Kind,
    /// A number for each row.
    pub values: Vec<u64>,
}

/// A section as it stands in a file. One of millions of rows is written as it is found: as a
/// [`TimelineTable`] it would take several times as much memory.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    pub(crate) name: &'static str,
    pub(crate) rows: u64,
    pub(crate) columns: Vec<PackedColumn>,
}

/// One column of it.
#[derive(Clone, Debug)]
pub(crate) struct PackedColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
}

impl PackedColumn {
    pub(crate) fn runs(name: &'static str, list: Runs) -> Self {
        Self { name, kind: Kind::Runs, bytes: list.into_bytes() }
    }

    pub(crate) fn sparse(name: &'static str, list: Sparse) -> Self {
        Self { name, kind: Kind::Sparse, bytes: list.into_bytes() }
    }

    pub(crate) fn varints(name: &'static str, list: Varints) -> Self {
        Self { name, kind: Kind::Varint, bytes: list.into_bytes() }
    }
}

/// A section of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineTable {
    /// Its name.
    pub name: String,
    /// Its columns, all of the same length.
    pub columns: Vec<Column>,
}

impl TimelineTable {
    /// A table without rows.
    pub fn new(name: &str, columns: &[(&str, Kind)]) -> Self {
        Self::with_capacity(name, columns, 0)
    }

    /// A table without rows that has room for so many: tables of millions of rows would otherwise
    /// be copied each time they have doubled.
    pub fn with_capacity(name: &str, columns: &[(&str, Kind)], rows: usize) -> Self {
        let column = |&(name, kind): &(&str, Kind)| Column {
            name: name.to_owned(),
            kind,
            values: Vec::with_capacity(rows),
        };
        Self { name: name.to_owned(), columns: columns.iter().map(column).collect() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has another number of values than there are columns.
    pub fn push<const N: usize>(&mut self, row: [u64; N]) {
        assert_eq!(N, self.columns.len(), "a value for each column of {}", self.name);
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.values.push(value);
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.values.len())
    }

    /// The values of a column; none if there is no such column.
    pub fn column(&self, name: &str) -> &[u64] {
        self.columns.iter().find(|c| c.name == name).map_or(&[], |c| c.values.as_slice())
    }

    /// The same, to be changed.
    pub fn column_mut(&mut self, name: &str) -> Option<&mut Vec<u64>> {
        self.columns.iter_mut().find(|c| c.name == name).map(|c| &mut c.values)
    }

    /// Keeps the rows for which `keep` is true; returns how many it leaves out.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) -> u64 {
        let rows: Vec<bool> = (0..self.rows()).map(keep).collect();
        for column in &mut self.columns {
            let mut at = 0;
            column.values.retain(|_| {
                at += 1;
                rows[at - 1]
            });
        }
        rows.iter().filter(|kept| !**kept).count() as u64
    }
}

/// A recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// What it says of itself.
    pub header: Header,
    /// Its sections; a reader leaves those alone that it does not know.
    pub tables: Vec<TimelineTable>,
}

impl Timeline {
    /// The section of this name.
    pub fn table(&self, name: &str) -> Option<&TimelineTable> {
        self.tables.iter().find(|t| t.name == name)
    }

    /// The same, to be changed.
    pub fn table_mut(&mut self, name: &str) -> Option<&mut TimelineTable> {
        self.tables.iter_mut().find(|t| t.name == name)
    }

    /// The values of a column of a section; none if there is no such section or column.
    pub fn column(&self, table: &str, column: &str) -> &[u64] {
        self.table(table).map_or(&[], |t| t.column(column))
    }
}

/// Leaves pauses out and renumbers the references to the others; returns how many it leaves out. A
/// parent or root that is left out becomes "none", and the pause its own root. Shares of flows that
/// lose their root are counted in the header.
pub(crate) fn drop_pauses(timeline: &mut Timeline, keep: &[bool]) -> u64 {
    let mut next = 0u64;
    let number = |kept: &bool| {
        next += u64::from(*kept);
        if *kept { next } else { 0 }
    };
    let numbers: Vec<u64> = keep.iter().map(number).collect();
    let renumbered = |old: u64| match old {
        0 => 0,
        old => numbers.get(old as usize - 1).copied().unwrap_or(0),
    };
    let mut lost = 0;
    if let Some(roots) = timeline.table_mut("blame").and_then(|t| t.column_mut("root")) {
        for root in roots {
            let before = std::mem::replace(root, renumbered(*root));
            lost += u64::from(before > 0 && *root == 0);
        }
    }
    if lost > 0 {
        *timeline.header.left_out.entry("blame_roots".into()).or_default() += lost;
    }
    let Some(pauses) = timeline.table_mut("pauses") else { return 0 };
    if let Some(parents) = pauses.column_mut("parent") {
        parents.iter_mut().for_each(|p| *p = renumbered(*p));
    }
    if let Some(roots) = pauses.column_mut("root") {
        for (row, root) in roots.iter_mut().enumerate() {
            *root = match renumbered(*root) {
                0 => numbers[row],
                kept => kept,
            };
        }
    }
    pauses.retain(|row| keep[row])
}
