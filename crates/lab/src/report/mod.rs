//! Files: data to compute with and a page to look at.

mod cells;
mod deadlocks;
mod destination;
mod directory;
pub mod figures;
pub(crate) mod html;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod pause_section;
mod pause_tables;
mod probe_tables;
mod summary_json;
mod tables;

pub use destination::{Destination, MARK, State, WriteError};
pub(crate) use directory::json_text;
pub use directory::{Formats, write};
pub use page::page;
pub(crate) use page::{CSS as PAGE_CSS, SCRIPT as PAGE_SCRIPT, figure_style};
pub(crate) use summary_json::SCHEMA;
pub use summary_json::{run_summary, summary};
pub(crate) use tables::FLOW_COLUMNS;

/// A table of a sweep as Parquet.
#[cfg(feature = "parquet")]
pub(crate) fn parquet_bytes(
    name: &str,
    table: &crate::sweep::merge::Table,
) -> ::parquet::errors::Result<Vec<u8>> {
    use crate::sweep::metrics::Kind;
    let columns: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    let of = |wanted: Kind| -> Vec<&str> {
        let some = table.columns.iter().filter(|(_, kind)| *kind == wanted);
        some.map(|(name, _)| name.as_str()).collect()
    };
    let (text, real) = (of(Kind::Text), of(Kind::Real));
    let rows = Box::new(table.rows.iter().map(|row| tables::Row::Made(row.iter().collect())));
    parquet::bytes(tables::Table { name, columns: &columns, text: &text, real: &real, rows })
}
