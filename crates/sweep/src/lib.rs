//! Sweeps: thousands of runs of one scenario with changes, resumable and crash-safe.
//!
//! ```text
//!   grid.toml ──► Draft ──► Plan ──► workers ──► records ──► Merged ──► runs.csv, classes.csv,
//!   (people)      (read,    (ids)    (shards)    (files)     (tables)   index.html
//!                  checked)
//! ```
//!
//! A plan names every run by the hash of what it resolves to and its seed. Workers take shares of
//! the plan, skip what has a result, and append results to files of their own; nothing a worker
//! does can damage the results of another. Status and tables are pure functions of the plan and
//! the set of records; workers and order do not matter.

pub mod directory;
pub mod draft;
pub mod expand;
pub mod files;
pub mod grid;
pub mod keys;
pub mod merge;
mod page;
pub mod plan;
pub mod quantity;
pub mod record;
pub mod seeds;
pub mod shard;
pub mod slurm;
pub mod status;
pub mod store;
pub mod survey;
pub mod unite;
pub mod worker;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use weir_results::metrics::Family;
use weir_results::records::RecordsError;
use weir_scenario::hash::sha256;

/// Why a sweep cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A file cannot be read or written.
    #[error("{}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The plan is damaged.
    #[error("{}: {why}", path.display())]
    Plan {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Anything else, in a sentence.
    #[error("{0}")]
    Other(String),
}

impl SweepError {
    /// A file that cannot be read or written.
    pub fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

impl From<RecordsError> for SweepError {
    fn from(error: RecordsError) -> Self {
        match error {
            RecordsError::File { path, source } => Self::Io { path, source },
            other => Self::Other(other.to_string()),
        }
    }
}

/// The version of this program.
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Names the columns of this program's tables: a hash of their names in order. Builds of one
/// version may have different columns, and the cells of one then do not belong under the heads of
/// the other.
pub fn columns() -> &'static str {
    static COLUMNS: OnceLock<String> = OnceLock::new();
    COLUMNS.get_or_init(|| {
        let names = |family: Family| family.headings().iter().map(|h| h.name).collect();
        let tables: [Vec<&str>; 4] = Family::ALL.map(names);
        columns_of(&tables)
    })
}

fn columns_of(tables: &[Vec<&str>]) -> String {
    let text = tables.iter().map(|names| names.join(",") + "\n").collect::<String>();
    sha256(text.as_bytes())[..12].to_owned()
}

/// Which build of this version runs: a hash of the program file.
pub fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read);
        bytes.map_or_else(|_| "unknown".to_owned(), |b| sha256(&b)[..12].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_differ_by_name_order_and_table() {
        let of = |tables: &[&[&str]]| {
            columns_of(&tables.iter().map(|names| names.to_vec()).collect::<Vec<_>>())
        };
        let all = [
            of(&[&["a", "b"], &["c"]]),
            of(&[&["b", "a"], &["c"]]),
            of(&[&["a", "x"], &["c"]]),
            of(&[&["a"], &["b", "c"]]),
        ];
        let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(columns(), columns());
    }
}
