//! Compares a Parquet file with the CSV file beside it.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::path::Path;

/// A field as the CSV file writes it.
fn text(field: &Field, cell: &str) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(n) => n.to_string(),
        // with as many digits as in the cell
        Field::Double(x) => {
            let digits = cell.split_once('.').map_or(0, |(_, digits)| digits.len());
            format!("{x:.digits$}")
        }
        other => panic!("no column is {other:?}"),
    }
}

/// Compares the two files of a table; returns how many fields are null and how many are fractions.
pub(crate) fn compare(name: &str, csv: &Path, parquet: &Path) -> (usize, usize) {
    let mut csv = csv::Reader::from_path(csv).expect("a table");
    let header = csv.headers().expect("a line of headings").clone();
    let expected: Vec<csv::StringRecord> = csv.records().map(|r| r.expect("a row")).collect();
    let file = SerializedFileReader::new(File::open(parquet).expect("a table")).expect("Parquet");
    let rows: Vec<_> = file.get_row_iter(None).expect("rows").map(|r| r.expect("a row")).collect();
    assert!(!rows.is_empty() && rows.len() == expected.len(), "{name}: {}", rows.len());
    let (mut nulls, mut doubles) = (0, 0);
    for (row, record) in rows.iter().zip(&expected) {
        assert_eq!(row.len(), header.len(), "{name}");
        for ((column, field), (head, cell)) in row.get_column_iter().zip(header.iter().zip(record))
        {
            assert_eq!((column.as_str(), text(field, cell).as_str()), (head, cell), "{name}");
            nulls += usize::from(*field == Field::Null);
            doubles += usize::from(matches!(field, Field::Double(_)));
        }
    }
    (nulls, doubles)
}
