//! The recordings of a directory of results.

use crate::format::{self, FormatError};
use crate::header::Header;
use crate::slice::{Slice, SliceError};
use crate::{FILE, encode, polls};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use weir_core::Time;
use weir_fc::SCHEMES;

/// Why there is nothing to look at.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// No file could be read there.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no recording, or has not what is asked for.
    #[error("{}: {source}", path.display())]
    Entry {
        /// Where.
        path: PathBuf,
        /// Why.
        source: EntryError,
    },
    /// The directory has none.
    #[error(
        "there is no {FILE} in {}: record one with `weir run SCENARIO --record --out DIR`",
        _0.display()
    )]
    None(PathBuf),
}

/// Why a recording cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// It is none.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A slice cannot be cut.
    #[error(transparent)]
    Slice(#[from] SliceError),
}

/// What of a recording is shown, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The part.
    pub slice: Slice,
    /// How often switches are polled, if not as often as in the file.
    pub poll: Option<Time>,
}

/// A recording as it is shown.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name below the directory, with `/` on every system.
    pub name: String,
    /// What it says of itself.
    pub header: Header,
    /// Its bytes.
    pub file: Vec<u8>,
}

impl Entry {
    /// The same under another name for people. (The file says what the scheme is called.)
    #[must_use]
    pub fn labelled(mut self, label: &str) -> Self {
        self.header.label = label.to_owned();
        self
    }

    /// What is `shown` of a recording.
    pub fn new(name: &str, file: Vec<u8>, shown: &Shown) -> Result<Self, EntryError> {
        let name = name.to_owned();
        if *shown == Shown::default() {
            let header = format::decode_header(&file)?;
            return Ok(Self { name, header, file });
        }
        let mut whole = format::decode(&file)?;
        if let Some(every) = shown.poll {
            // the truth of a poll is that of the whole time
            whole.tables.retain(|t| t.name != "polls");
            whole.header.poll_ps = every.as_ps();
            let polled = polls(&whole, every);
            whole.tables.push(polled);
        }
        let part = shown.slice.cut(&whole)?;
        let file = encode(&part);
        Ok(Self { name, header: part.header, file })
    }
}

/// What the page asks for first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Manifest {
    /// The scenario's title.
    pub title: String,
    /// Whether runs are still going on.
    pub live: bool,
    /// How much of them is done, from 0 to 1, while they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    /// The recordings that are there.
    pub runs: Vec<ManifestRun>,
}

/// A recording in a manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ManifestRun {
    /// What people call it.
    pub label: String,
    /// Its scheme.
    pub scheme: String,
    /// Where its file is.
    pub file: String,
    /// Whether it is still going on.
    pub live: bool,
}

impl Manifest {
    /// The manifest of these recordings.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut manifest = Self::default();
        for Entry { name, header, .. } in entries {
            if manifest.runs.is_empty() {
                let title = if header.title.is_empty() { &header.scenario } else { &header.title };
                manifest.title = title.clone();
            }
            let same = |r: &&mut ManifestRun| r.label == header.label;
            let label = match manifest.runs.iter_mut().find(same) {
                Some(_) => format!("{}, seed {}", header.label, header.seed),
                None => header.label.clone(),
            };
            manifest.runs.push(ManifestRun {
                label,
                scheme: header.scheme.clone(),
                file: name.clone(),
                live: false,
            });
        }
        manifest
    }

    /// As a file.
    pub fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a manifest is always JSON")
    }
}

/// Reads the recordings at `place`: a file, or a directory with one or, two levels deep, several,
/// in the order of their schemes.
pub fn open(place: &Path, shown: &Shown) -> Result<Vec<Entry>, LibraryError> {
    let mut files = Vec::new();
    if place.is_dir() {
        find(place, "", 3, &mut files)?;
    } else {
        files.push((FILE.to_owned(), place.to_owned()));
    }
    if files.is_empty() {
        return Err(LibraryError::None(place.to_owned()));
    }
    let entry = |(name, path): (String, PathBuf)| {
        let file =
            fs::read(&path).map_err(|source| LibraryError::Read { path: path.clone(), source })?;
        Entry::new(&name, file, shown)
            .map_err(|source| LibraryError::Entry { path: path.clone(), source })
    };
    let mut entries = files.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    // as comparisons list them
    let rank = |e: &Entry| SCHEMES.iter().position(|s| s.name == e.header.scheme);
    entries.sort_by_key(|e| rank(e).unwrap_or(usize::MAX));
    Ok(entries)
}

/// Collects the recordings of a directory in the order of their names.
fn find(
    directory: &Path,
    prefix: &str,
    levels: usize,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), LibraryError> {
    let error = |source| LibraryError::Read { path: directory.to_owned(), source };
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).map_err(error)? {
        let entry = entry.map_err(error)?;
        entries.push((entry.file_name(), entry.path()));
    }
    entries.sort();
    for (name, path) in entries {
        // links are not followed out of the directory
        let Ok(kind) = fs::symlink_metadata(&path) else { continue };
        let Some(name) = name.to_str() else { continue };
        if kind.is_file() && name == FILE {
            files.push((format!("{prefix}{name}"), path));
        } else if kind.is_dir() && levels > 1 {
            find(&path, &format!("{prefix}{name}/"), levels - 1, files)?;
        }
    }
    Ok(())
}
