//! Tables that were written as CSV and are read again: rows, and their cells by head.
//!
//! ```
//! use weir_results::records::Records;
//!
//! let mut table = Records::parse("my.csv", "paper,runs\na,3\nb,x\n").expect("heads");
//! let mut row = || table.next().expect("a row").expect("as many cells as heads");
//! let (first, second) = (row(), row());
//! assert_eq!((first.text("paper").unwrap(), first.get::<u64>("runs").unwrap()), ("a", 3));
//! let error = second.get::<u64>("runs").unwrap_err().to_string();
//! assert_eq!(error, "my.csv:3: `x` in `runs` is no whole number");
//! ```
//!
//! An error names the file, the line and the column. What to do about it is added by whoever knows
//! how the file comes to be.

use csv::StringRecord;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// The file cannot be opened.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no CSV.
    #[error("{file}:{line}: {why}")]
    Form {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// A column is missing.
    #[error("{file} has no column `{column}`")]
    Column {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// A cell does not hold what its column is to hold.
    #[error("{file}:{line}: `{text}` in `{column}` is no {expected}")]
    Cell {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
        /// What is to stand there.
        expected: &'static str,
    },
}

/// What a cell can be read as.
pub trait Cell: Sized {
    /// What it is called in errors.
    const NAME: &'static str;

    /// Reads it; `None` if the text is something else.
    fn read(text: &str) -> Option<Self>;
}

impl Cell for u64 {
    const NAME: &'static str = "whole number";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// Finite numbers only.
impl Cell for f64 {
    const NAME: &'static str = "number";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|x: &Self| x.is_finite())
    }
}

/// What the reader of CSV says, with its line.
fn malformed(file: String, e: &csv::Error) -> RecordsError {
    let line = e.position().map_or(1, csv::Position::line);
    let why = match e.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("cells: {len}, heads: {expected_len}")
        }
        _ => e.to_string(),
    };
    RecordsError::Form { file, line, why }
}

/// The file, and where its columns are.
#[derive(Debug)]
struct Heads {
    file: String,
    names: Vec<String>,
    places: BTreeMap<String, usize>,
}

/// A table that is being read: an iterator over its rows.
pub struct Records<'a> {
    heads: Arc<Heads>,
    rows: csv::StringRecordsIntoIter<Box<dyn Read + 'a>>,
}

impl<'a> Records<'a> {
    /// Opens a file and reads its heads.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        let file = File::open(path);
        let file = file.map_err(|source| RecordsError::File { path: path.to_owned(), source })?;
        Self::new(path.display().to_string(), Box::new(file))
    }

    /// The same; `None` if there is no such file.
    pub fn open_if_there(path: &Path) -> Result<Option<Self>, RecordsError> {
        match Self::open(path) {
            Err(RecordsError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// Reads the text of a file of this name.
    pub fn parse(file: &str, text: &'a str) -> Result<Self, RecordsError> {
        Self::new(file.to_owned(), Box::new(text.as_bytes()))
    }

    fn new(file: String, from: Box<dyn Read + 'a>) -> Result<Self, RecordsError> {
        let mut reader = csv::Reader::from_reader(from);
        let names: Vec<String> = match reader.headers() {
            Ok(names) => names.iter().map(str::to_owned).collect(),
            Err(e) => return Err(malformed(file, &e)),
        };
        // of two columns of one name the first counts
        let places = names.iter().cloned().enumerate().rev().map(|(i, name)| (name, i)).collect();
        let heads = Arc::new(Heads { file, names, places });
        Ok(Self { heads, rows: reader.into_records() })
    }

    /// The file.
    pub fn file(&self) -> &str {
        &self.heads.file
    }

    /// The names of the columns.
    pub fn heads(&self) -> &[String] {
        &self.heads.names
    }

    /// Whether there is such a column.
    pub fn has(&self, column: &str) -> bool {
        self.heads.places.contains_key(column)
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Row, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        let wrong = |e: csv::Error| malformed(self.heads.file.clone(), &e);
        let row = |cells| Row { heads: Arc::clone(&self.heads), cells };
        self.rows.next().map(|cells| cells.map(row).map_err(wrong))
    }
}

/// A row of [`Records`].
#[derive(Clone, Debug)]
pub struct Row {
    heads: Arc<Heads>,
    cells: StringRecord,
}

impl Row {
    /// Its line in the file, from 1.
    pub fn line(&self) -> u64 {
        self.cells.position().map_or(1, csv::Position::line)
    }

    /// All cells in the order of the heads.
    pub fn cells(&self) -> Vec<&str> {
        self.cells.iter().collect()
    }

    /// What stands in a column.
    pub fn text(&self, column: &str) -> Result<&str, RecordsError> {
        self.optional(column).ok_or_else(|| RecordsError::Column {
            file: self.heads.file.clone(),
            column: column.to_owned(),
        })
    }

    /// What stands in a column that not all files have.
    pub fn optional(&self, column: &str) -> Option<&str> {
        self.heads.places.get(column).and_then(|at| self.cells.get(*at))
    }

    /// What stands in a column, read as what it is to be.
    pub fn get<T: Cell>(&self, column: &str) -> Result<T, RecordsError> {
        T::read(self.text(column)?).ok_or_else(|| self.wrong(column, T::NAME))
    }

    /// The same where the cell may be empty.
    pub fn given<T: Cell>(&self, column: &str) -> Result<Option<T>, RecordsError> {
        match self.text(column)? {
            "" => Ok(None),
            _ => self.get(column).map(Some),
        }
    }

    /// That a cell of this row is not what it is to be.
    pub fn wrong(&self, column: &str, expected: &'static str) -> RecordsError {
        RecordsError::Cell {
            file: self.heads.file.clone(),
            line: self.line(),
            column: column.to_owned(),
            text: self.optional(column).unwrap_or_default().to_owned(),
            expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Row> {
        let table = Records::parse("my.csv", text).expect("heads");
        table.collect::<Result<_, _>>().expect("rows")
    }

    #[test]
    fn cells_are_found_by_the_name_of_their_column() {
        let text = "paper,runs,\"seconds, all\",runs\na,3,2.5,7\n\"b\"\"1\",x,,\n";
        let rows = rows(text);
        assert_eq!(rows[0].get::<u64>("runs").ok(), Some(3), "the first of two");
        assert_eq!(rows[0].given::<f64>("seconds, all").ok(), Some(Some(2.5)));
        assert_eq!((rows[1].text("paper").ok(), rows[1].line()), (Some("b\"1"), 3));
        assert_eq!(rows[1].given::<f64>("seconds, all").ok(), Some(None));
        assert_eq!(rows[1].optional("seed"), None);
    }

    #[test]
    fn errors_name_file_line_and_column() {
        let row = &rows("a,b\n1,inf\n")[0];
        let says = |e: RecordsError| e.to_string();
        let wrong = row.get::<f64>("b").map_err(says);
        assert_eq!(wrong, Err("my.csv:2: `inf` in `b` is no number".to_owned()));
        let missing = row.get::<u64>("seed").map_err(says);
        assert_eq!(missing, Err("my.csv has no column `seed`".to_owned()));
        let short = Records::parse("my.csv", "a,b\n1\n").expect("heads").next();
        let short = short.expect("a row").expect_err("a cell is missing").to_string();
        assert_eq!(short, "my.csv:2: cells: 1, heads: 2");
        assert!(Records::open_if_there(Path::new("no/such.csv")).expect("none").is_none());
    }
}
