//! Files: data to compute with and a page to look at.

mod csv_files;
mod directory;
pub mod figure;
mod figures;
mod page;
mod pause_section;
mod summary;

pub(crate) use csv_files::FLOW_COLUMNS;
pub(crate) use directory::json_text;
pub use directory::{WriteError, write};
pub use page::page;
pub(crate) use summary::SCHEMA;
pub use summary::{run_summary, summary};
