//! Files: data to compute with and a page to look at.

mod blame_tables;
mod deadlocks;
mod destination;
mod directory;
pub mod figures;
pub mod html;
mod job_section;
mod job_tables;
mod journal;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod pause_section;
mod pause_tables;
mod probe_tables;
mod summary_json;
mod tables;

pub use destination::{Content, Destination, MARK, State, WriteError};
pub(crate) use directory::json_text;
pub use directory::{Formats, write};
pub use journal::StepFiles;
pub use page::page;
pub use page::{CSS as PAGE_CSS, SCRIPT as PAGE_SCRIPT, figure_style};
#[cfg(feature = "parquet")]
pub use parquet::bytes as parquet_bytes;
pub(crate) use summary_json::SCHEMA;
pub use summary_json::{run_summary, summary, total_columns};
pub(crate) use tables::flow_names;
pub use tables::{blame_columns, columns};
