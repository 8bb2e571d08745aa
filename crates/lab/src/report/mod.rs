//! Files: data to compute with and a page to look at.

mod csv_files;
mod directory;
pub mod figure;
mod page;
mod summary;

pub use directory::{WriteError, write};
pub use page::page;
pub use summary::{run_summary, summary};
