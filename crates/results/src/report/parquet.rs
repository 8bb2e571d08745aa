//! Tables as Parquet: the rows of the CSV files with types.
//!
//! Whole numbers are 64-bit integers, real numbers doubles with the digits of the CSV file,
//! everything else is text; an empty number is null. Columns are compressed with Snappy, which
//! every reader knows.

use crate::column::{Kind, Sink, Value};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::io;
use std::sync::Arc;
use weir_core::decimal::rounded;

/// So many rows are held at a time and written together.
const GROUP: usize = 100_000;

/// The file of a table whose rows `fill` writes.
pub fn bytes<'n>(
    name: &str,
    columns: impl Iterator<Item = (&'n str, Kind)>,
    fill: impl FnOnce(&mut dyn Sink) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let columns: Vec<(&str, Kind)> = columns.collect();
    let fields = columns.iter().map(|(name, kind)| field(name, *kind));
    let fields = fields.collect::<Result<Vec<TypePtr>>>()?;
    let schema = Type::group_type_builder(name).with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let cells = columns.iter().map(|(_, kind)| Cells::new(*kind)).collect();
    let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut rows = Rows { file, names, cells, held: 0 };
    fill(&mut rows)?;
    rows.write_group()?;
    Ok(rows.file.into_inner()?)
}

fn field(name: &str, kind: Kind) -> Result<TypePtr> {
    let (physical, logical, repetition) = match kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
        Kind::Whole => (Physical::INT64, None, Repetition::OPTIONAL),
        Kind::Real | Kind::Fixed(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
    };
    let column = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    column.with_logical_type(logical).build().map(Arc::new)
}

/// Cells of a column; of numbers also whether each cell has one (1) or not (0).
enum Cells {
    Text(Vec<ByteArray>),
    Whole(Vec<i64>, Vec<i16>),
    Real(Option<usize>, Vec<f64>, Vec<i16>),
}

impl Cells {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(Vec::new()),
            Kind::Whole => Self::Whole(Vec::new(), Vec::new()),
            Kind::Real => Self::Real(None, Vec::new(), Vec::new()),
            Kind::Fixed(digits) => Self::Real(Some(digits), Vec::new(), Vec::new()),
        }
    }

    /// Adds a cell; `None` if it is not of this kind.
    fn add(&mut self, value: &Value<'_>) -> Option<()> {
        match self {
            Self::Text(texts) => texts.push(value.to_string().as_str().into()),
            Self::Whole(_, present) | Self::Real(_, _, present) if *value == Value::None => {
                present.push(0);
            }
            Self::Whole(numbers, present) => {
                let Value::Whole(n) = value else { return None };
                numbers.push(i64::try_from(*n).ok()?);
                present.push(1);
            }
            Self::Real(digits, numbers, present) => {
                let x = value.number()?;
                numbers.push(digits.map_or(x, |digits| rounded(x, digits)));
                present.push(1);
            }
        }
        Some(())
    }

    /// Writes all cells and forgets them.
    fn write(&mut self, column: &mut ColumnWriter<'_>) -> Result<usize> {
        match (self, column) {
            (Self::Text(texts), ColumnWriter::ByteArrayColumnWriter(to)) => {
                to.write_batch(&std::mem::take(texts), None, None)
            }
            (Self::Whole(numbers, present), ColumnWriter::Int64ColumnWriter(to)) => {
                let (numbers, present) = (std::mem::take(numbers), std::mem::take(present));
                to.write_batch(&numbers, Some(&present), None)
            }
            (Self::Real(_, numbers, present), ColumnWriter::DoubleColumnWriter(to)) => {
                let (numbers, present) = (std::mem::take(numbers), std::mem::take(present));
                to.write_batch(&numbers, Some(&present), None)
            }
            _ => unreachable!("columns are integers, doubles or text"),
        }
    }
}

/// A file, and the rows that are not yet in it.
struct Rows {
    file: SerializedFileWriter<Vec<u8>>,
    names: Vec<String>,
    cells: Vec<Cells>,
    held: usize,
}

impl Rows {
    fn write_group(&mut self) -> Result<()> {
        if self.held == 0 {
            return Ok(());
        }
        self.held = 0;
        let mut group = self.file.next_row_group()?;
        for cells in &mut self.cells {
            let Some(mut column) = group.next_column()? else { break };
            cells.write(column.untyped())?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

impl Sink for Rows {
    fn row(&mut self, cells: &mut dyn Iterator<Item = Value<'_>>) -> io::Result<()> {
        for ((value, column), name) in cells.zip(&mut self.cells).zip(&self.names) {
            column.add(&value).ok_or_else(|| {
                io::Error::other(format!("`{value}` does not fit column `{name}`"))
            })?;
        }
        self.held += 1;
        if self.held == GROUP { Ok(self.write_group()?) } else { Ok(()) }
    }
}
