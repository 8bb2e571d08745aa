//! Files: data to compute with and a page to look at.

mod deadlocks;
mod destination;
mod directory;
pub mod figures;
mod html;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod pause_section;
mod summary;
mod tables;

pub use destination::{Destination, MARK, State, WriteError};
pub(crate) use directory::json_text;
pub use directory::{Formats, write};
pub use page::page;
pub(crate) use summary::SCHEMA;
pub use summary::{run_summary, summary};
pub(crate) use tables::FLOW_COLUMNS;
