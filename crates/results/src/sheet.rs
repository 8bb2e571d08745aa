//! Tables that are put together where they are written: columns, each with its head and its cells.
//!
//! [`Column`](crate::column::Column) is for tables whose columns are listed and explained
//! somewhere; the columns of a [`Sheet`] may be as many as there are parameters, and take what they
//! need from around them.
//!
//! ```
//! use weir_results::sheet::Sheet;
//!
//! let rows = [("a", [40, 1]), ("b, c", [60, 2])];
//! let parameters = ["load", "rate"];
//! let mut sheet = Sheet::new().column("name", |row: &(&str, [u64; 2])| row.0);
//! for (i, name) in parameters.into_iter().enumerate() {
//!     sheet = sheet.column(name, move |row| row.1[i]);
//! }
//! let text = String::from_utf8(sheet.csv(&rows)).expect("text");
//! assert_eq!(text, "name,load,rate\na,40,1\n\"b, c\",60,2\n");
//! ```

use crate::column::Value;
use std::borrow::Cow;

/// What stands below the head of a column.
type Cells<'a, T> = Box<dyn Fn(&'a T) -> Value<'a> + 'a>;

/// The columns of a table with a row for every `T`.
pub struct Sheet<'a, T> {
    columns: Vec<(Cow<'a, str>, Cells<'a, T>)>,
}

impl<T> Default for Sheet<'_, T> {
    fn default() -> Self {
        Self { columns: Vec::new() }
    }
}

impl<'a, T> Sheet<'a, T> {
    /// Without a column.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more: its head, and how its cells are worked out.
    #[must_use]
    pub fn column<V: Into<Value<'a>>>(
        mut self,
        head: impl Into<Cow<'a, str>>,
        of: impl Fn(&'a T) -> V + 'a,
    ) -> Self {
        self.columns.push((head.into(), Box::new(move |row| of(row).into())));
        self
    }

    /// With one more for each of these heads, the cells of which are worked out with its number.
    #[must_use]
    pub fn each<V: Into<Value<'a>>>(
        mut self,
        heads: impl IntoIterator<Item = impl Into<Cow<'a, str>>>,
        of: impl Fn(&'a T, usize) -> V + Copy + 'a,
    ) -> Self {
        for (i, head) in heads.into_iter().enumerate() {
            self = self.column(head, move |row| of(row, i));
        }
        self
    }

    /// The names of the columns.
    pub fn heads(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(head, _)| head.as_ref())
    }

    /// The table as a CSV file.
    pub fn csv(&self, rows: impl IntoIterator<Item = &'a T>) -> Vec<u8> {
        const MEMORY: &str = "writing to memory";
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.heads()).expect(MEMORY);
        for row in rows {
            writer
                .write_record(self.columns.iter().map(|(_, of)| of(row).to_string()))
                .expect(MEMORY);
        }
        writer.into_inner().expect(MEMORY)
    }
}
