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
pub mod grid;
pub(crate) mod hash;
pub mod merge;
mod page;
pub mod plan;
pub mod quantity;
pub(crate) mod reader;
pub mod record;
pub mod seeds;
pub mod shard;
pub mod slurm;
pub mod status;
pub mod store;
pub mod survey;
pub mod worker;

pub use crate::metrics;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// The version of this program.
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Which build of this version runs: a hash of the program file.
pub fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read);
        bytes.map_or_else(|_| "unknown".to_owned(), |b| hash::sha256(&b)[..12].to_owned())
    })
}
