//! Recordings: what a run did over time, as a file that the explorer, traces and programs of one's
//! own read.
//!
//! ```text
//!   Run ──► Timeline ──► timeline.weir ──► Timeline ──► slice ──► page, server, Perfetto trace
//!           (model)      (format)          (format)
//! ```
//!
//! A [`Timeline`] is a header and tables of columns of whole numbers. [`record`] makes it of a run;
//! [`format`](mod@format) writes and reads it.

mod assets;
mod export;
pub mod format;
mod header;
mod library;
pub mod perfetto;
mod record;
#[cfg(feature = "serve")]
mod serve;
mod site;
mod slice;
mod timeline;

pub use export::page;
pub use format::{FormatError, decode, encode};
pub use header::{Decimated, Header, NodeInfo, PortInfo, SliceInfo};
pub use library::{Entry, EntryError, LibraryError, Manifest, ManifestRun, Shown, open};
pub use record::{Limit, POLL, Recorded, polls, record};
#[cfg(feature = "serve")]
pub use serve::{serve, token};
pub use site::{Answer, Site};
pub use slice::{Slice, SliceError};
pub use timeline::{Column, Kind, Timeline, TimelineTable};

/// The name of a recording in a directory of results.
pub const FILE: &str = "timeline.weir";
