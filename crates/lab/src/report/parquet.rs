//! Tables as Parquet: the rows of the CSV files with types.
//!
//! Whole numbers are 64-bit integers, real numbers doubles, everything else is text; an empty
//! number is null. Columns are compressed with Snappy, which every reader knows.

use super::cells::Cells;
use super::tables::Table;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::str::FromStr;
use std::sync::Arc;

/// So many rows are held at a time and written together.
const GROUP: usize = 100_000;

/// The file of a table.
pub(super) fn bytes(mut table: Table<'_>) -> Result<Vec<u8>> {
    let columns = table.columns.iter().map(|name| column(&table, name));
    let columns = columns.collect::<Result<Vec<TypePtr>>>()?;
    let schema = Type::group_type_builder(table.name).with_fields(columns).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let (mut out, mut cells) = (Vec::new(), Cells::default());
    let mut file = SerializedFileWriter::new(&mut out, Arc::new(schema), Arc::new(properties))?;
    loop {
        let mut texts: Vec<Vec<String>> = vec![Vec::new(); table.columns.len()];
        for row in table.rows.by_ref().take(GROUP) {
            row.fill(&mut cells);
            for (column, cell) in texts.iter_mut().zip(cells.iter()) {
                column.push(String::from_utf8_lossy(cell).into_owned());
            }
        }
        if texts.first().is_none_or(Vec::is_empty) {
            break;
        }
        let mut group = file.next_row_group()?;
        let mut i = 0;
        while let Some(column) = group.next_column()? {
            write(column, table.columns[i], texts[i].iter().map(String::as_str))?;
            i += 1;
        }
        group.close()?;
    }
    file.close()?;
    Ok(out)
}

fn column(table: &Table<'_>, name: &str) -> Result<TypePtr> {
    let (physical, logical) = match name {
        _ if table.text.contains(&name) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        _ if table.real.contains(&name) => (Physical::DOUBLE, None),
        _ => (Physical::INT64, None),
    };
    let repetition = match physical {
        Physical::BYTE_ARRAY => Repetition::REQUIRED,
        _ => Repetition::OPTIONAL,
    };
    let column = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    column.with_logical_type(logical).build().map(Arc::new)
}

fn write<'a>(
    mut column: SerializedColumnWriter<'_>,
    name: &str,
    cells: impl Iterator<Item = &'a str>,
) -> Result<()> {
    match column.untyped() {
        ColumnWriter::Int64ColumnWriter(writer) => {
            let (values, present) = numbers(name, cells)?;
            writer.write_batch(&values, Some(&present), None)?;
        }
        ColumnWriter::DoubleColumnWriter(writer) => {
            let (values, present) = numbers(name, cells)?;
            writer.write_batch(&values, Some(&present), None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let values: Vec<ByteArray> = cells.map(ByteArray::from).collect();
            writer.write_batch(&values, None, None)?;
        }
        _ => unreachable!("columns are integers, doubles or text"),
    }
    column.close()
}

/// The numbers of a column, and for every cell whether it has one (1) or not (0).
fn numbers<'a, T: FromStr>(
    name: &str,
    cells: impl Iterator<Item = &'a str>,
) -> Result<(Vec<T>, Vec<i16>)> {
    let (mut values, mut present) = (Vec::new(), Vec::new());
    for cell in cells {
        present.push(i16::from(!cell.is_empty()));
        if !cell.is_empty() {
            let bad = |_| ParquetError::General(format!("`{cell}` does not fit column `{name}`"));
            values.push(cell.parse().map_err(bad)?);
        }
    }
    Ok((values, present))
}
