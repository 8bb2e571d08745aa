//! Where results go: a directory that is new, empty, or Weir's own, and that appears complete or
//! not at all. Files are written beside it and moved into place at the end.
//!
//! ```text
//!   check ──► (hours of simulation) ──► .NAME.new.PID ──► NAME
//!                                       NAME ──► .NAME.old.PID ──► removed
//! ```
//!
//! A directory of results carries a [`MARK`], and only such a directory is ever replaced: a name
//! such as `flows.csv` says nothing about who wrote the file.

use super::probe_tables;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Why results could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct WriteError {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// The file that says that a directory holds results, and whether they are complete.
pub const MARK: &str = ".weir-results";

const MARK_TEXT: &str = "Results of weir. A later run with the same --out replaces this directory.";

/// What begins a line of the [`MARK`] that names a file written after the results.
const WITH: &str = "with ";

/// The tables that may be in a result directory, as CSV and as Parquet; those of interrupted runs
/// are called `flows.partial.csv` and so on.
const TABLES: [&str; 13] = [
    "flows",
    "ports",
    "queues",
    "pauses",
    "pause-edges",
    "victims",
    "series",
    "collectives",
    "steps",
    "critical-path",
    "blame",
    "culprits",
    "bus-bandwidth",
];

/// Everything else that may be there, the mark and tables of probes aside.
const OURS: [&str; 8] = [
    "live.json",
    "summary.json",
    "blame.json",
    "perf.json",
    "scenario.toml",
    "index.html",
    "bus-bandwidth.svg",
    RECORDING,
];

/// What is added to the name of a directory with complete results for partial ones.
pub(super) const PARTIAL: &str = "interrupted";

/// A recording; those of several runs are in directories that hold nothing else.
const RECORDING: &str = "timeline.weir";

weir_core::words! {
    /// Whether results are complete.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State {
        /// All runs came to their end.
        Complete = "complete",
        /// The user interrupted them.
        Partial = "interrupted",
    }
}

impl State {
    /// What the [`MARK`] says.
    pub(super) fn mark(self) -> String {
        format!("{MARK_TEXT}\n{}\n", self.name())
    }
}

/// Writes the content of a file, when its turn comes.
pub type Content<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// A directory that results may be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// As the user named it.
    shown: PathBuf,
    /// The same without symbolic links.
    real: PathBuf,
    /// What is there already.
    earlier: Option<State>,
}

impl Destination {
    /// Looks whether results can be written to `directory`, before there are any: it is new,
    /// empty, or holds results and nothing else; none of the `inputs` is in it; and the file
    /// system lets us write there. Leaves no trace.
    pub fn check(directory: &Path, inputs: &[PathBuf]) -> Result<Self, WriteError> {
        let error = |source| WriteError { path: directory.to_owned(), source };
        let found = look(directory).map_err(error)?;
        let (real, earlier) = match found {
            Found::New(real) => (real, None),
            Found::Directory(real) => {
                let earlier = contents(&real).map_err(error)?;
                keep_inputs(&real, inputs).map_err(error)?;
                probe_file(&real).map_err(error)?;
                (real, earlier)
            }
        };
        probe(&real).map_err(error)?;
        Ok(Self { shown: directory.to_owned(), real, earlier })
    }

    /// As the user named it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The same without symbolic links.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// The name of the scenario whose results are there already, if any are.
    pub fn scenario(&self) -> Option<String> {
        self.earlier?;
        let text = fs::read_to_string(self.real.join("summary.json")).ok()?;
        let summary: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(summary.get("scenario")?.as_str()?.to_owned())
    }

    /// Whether results would replace `file`, or be replaced by it, however it is spelled: it has
    /// the name of a result in this directory or in that for partial results, or it is one of
    /// these directories or a part of their paths.
    pub fn collides(&self, file: &Path) -> bool {
        let Ok(file) = std::env::current_dir().map(|here| place(&here.join(file))) else {
            return false;
        };
        self.both().iter().any(|directory| {
            let below = file.strip_prefix(directory).ok();
            let name = below.map(|rest| rest.to_string_lossy().to_ascii_lowercase());
            // file systems may take `INDEX.html` for `index.html`
            directory.starts_with(&file) || name.is_some_and(|name| ours(&name))
        })
    }

    /// Whether a file is in the directory, or in that for partial results, however it is spelled:
    /// it would be lost when results replace them.
    pub fn contains(&self, file: &Path) -> bool {
        let Ok(file) = std::env::current_dir().map(|here| place(&here.join(file))) else {
            return false;
        };
        self.both().iter().any(|directory| file.starts_with(directory))
    }

    /// This directory and that for partial results.
    fn both(&self) -> [PathBuf; 2] {
        let mut partial = self.real.clone().into_os_string();
        partial.push(".");
        partial.push(PARTIAL);
        [self.real.clone(), partial.into()]
    }

    /// Takes files that were put into the directory after its results as a part of them: later
    /// results replace them, too. Others are left alone.
    pub fn adopt<'a>(&self, files: impl Iterator<Item = &'a Path>) -> Result<(), WriteError> {
        let mark = self.real.join(MARK);
        let named = |source| WriteError { path: mark.clone(), source };
        let here = std::env::current_dir().map_err(named)?;
        let relative = |file: &Path| {
            let place = place(&here.join(file));
            let name = place.strip_prefix(&self.real).ok()?.to_str()?.to_owned();
            (!name.contains(['\n', '\r'])).then_some(format!("{WITH}{name}\n"))
        };
        let lines: String = files.filter_map(relative).collect();
        if lines.is_empty() || !mark.is_file() {
            return Ok(());
        }
        let file = fs::OpenOptions::new().append(true).open(&mark);
        file.and_then(|mut file| file.write_all(lines.as_bytes())).map_err(named)
    }

    /// Whether there are complete results already.
    pub fn holds_complete_results(&self) -> bool {
        self.earlier == Some(State::Complete)
    }

    /// The directory `NAME.suffix` beside this one, if results may be written to it.
    pub(super) fn beside(&self, suffix: &str) -> Result<Self, WriteError> {
        let with = |path: &Path| {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".");
            name.push(suffix);
            path.with_file_name(name)
        };
        // `..` and the like have no name of their own
        let base = if self.shown.file_name().is_some() { &self.shown } else { &self.real };
        Self::check(&with(base), &[])
    }

    /// Puts `source` and this directory into an error.
    pub(super) fn error(&self, source: io::Error) -> WriteError {
        WriteError { path: self.shown.clone(), source }
    }

    /// Makes `files` the content of the directory: complete results of another kind than runs.
    pub fn write_files(&self, files: Vec<(String, Content<'_>)>) -> Result<(), WriteError> {
        self.replace_with(files, State::Complete)
    }

    /// Makes `files` and the mark the content of the directory. When that fails at the end, what
    /// was written stays where it is and the error names the place.
    pub(super) fn replace_with(
        &self,
        files: Vec<(String, Content<'_>)>,
        state: State,
    ) -> Result<(), WriteError> {
        let (fresh, stale) = (self.sibling("new"), self.sibling("old"));
        let parent = self.real.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(|e| self.error(e))?;
        let _ = fs::remove_dir_all(&fresh);
        fs::create_dir(&fresh).map_err(|e| self.error(e))?;
        let mark = state.mark();
        let mark: Content<'_> = Box::new(|to| to.write_all(mark.as_bytes()));
        for (name, content) in files.into_iter().chain([(MARK.to_owned(), mark)]) {
            let path = fresh.join(name);
            let place = path.parent().unwrap_or(&fresh);
            if let Err(source) = fs::create_dir_all(place)
                .and_then(|()| fs::File::create(&path))
                .and_then(|mut file| content(&mut file))
            {
                let _ = fs::remove_dir_all(&fresh);
                return Err(WriteError { path, source });
            }
        }
        self.swap(&fresh, &stale).map_err(|e| {
            let what = format!("{e}; the results are in {}", fresh.display());
            self.error(io::Error::new(e.kind(), what))
        })
    }

    fn swap(&self, fresh: &Path, stale: &Path) -> io::Result<()> {
        // another program may have written something there during the simulation
        let replace = match look(&self.real)? {
            Found::New(_) => false,
            Found::Directory(_) => contents(&self.real).map(|_| true)?,
        };
        if replace {
            fs::rename(&self.real, stale)?;
        }
        if let Err(e) = fs::rename(fresh, &self.real) {
            if replace {
                let _ = fs::rename(stale, &self.real);
            }
            return Err(e);
        }
        if replace {
            let _ = fs::remove_dir_all(stale);
        }
        Ok(())
    }

    fn sibling(&self, what: &str) -> PathBuf {
        let name = self.real.file_name().unwrap_or_default().to_string_lossy();
        self.real.with_file_name(format!(".{name}.{what}.{}", std::process::id()))
    }
}

/// What a name stands for.
enum Found {
    /// Nothing yet; where it will be.
    New(PathBuf),
    /// A directory, without symbolic links.
    Directory(PathBuf),
}

fn refuse<T>(kind: ErrorKind, what: impl Into<String>) -> io::Result<T> {
    Err(io::Error::new(kind, what.into()))
}

/// Whether a file of this name is a result.
fn ours(name: &str) -> bool {
    let plain = name.replace(".partial.", ".");
    let table = |ending: &str| plain.strip_suffix(ending).is_some_and(|n| TABLES.contains(&n));
    let known = OURS.contains(&&*plain) || table(".csv") || table(".parquet");
    name == MARK || known || probe_tables::is_file(name)
}

/// The place that an absolute path stands for: without `.` and `..`, and without symbolic links as
/// far as it exists.
fn place(path: &Path) -> PathBuf {
    let mut place = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = place.pop(),
            other => {
                place.push(other);
                place = fs::canonicalize(&place).unwrap_or(place);
            }
        }
    }
    place
}

/// Finds out what `directory` is.
fn look(directory: &Path) -> io::Result<Found> {
    if directory.as_os_str().is_empty() {
        return refuse(ErrorKind::InvalidInput, "the name is empty: name a directory");
    }
    let link = match fs::symlink_metadata(directory) {
        Ok(meta) => meta.is_symlink(),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return future(directory).map(Found::New);
        }
        Err(e) => return Err(e),
    };
    let meta = match fs::metadata(directory) {
        Err(e) if link && e.kind() == ErrorKind::NotFound => {
            let what = "it is a symbolic link to something that does not exist";
            return refuse(ErrorKind::NotFound, what);
        }
        other => other?,
    };
    if !meta.is_dir() {
        let what = "it exists and is not a directory: name another one";
        return refuse(ErrorKind::NotADirectory, what);
    }
    let real = fs::canonicalize(directory)?;
    let here = std::env::current_dir().and_then(fs::canonicalize);
    if here.is_ok_and(|here| here.starts_with(&real)) {
        let what = "it is the current directory or one above it, and results replace a whole \
                    directory: name a separate one";
        return refuse(ErrorKind::InvalidInput, what);
    }
    Ok(Found::Directory(real))
}

/// Where a directory will be that does not exist yet.
fn future(directory: &Path) -> io::Result<PathBuf> {
    let (Some(name), Some(parent)) = (directory.file_name(), directory.parent()) else {
        return refuse(ErrorKind::NotFound, "there is no such directory");
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    match fs::canonicalize(parent) {
        Ok(parent) => Ok(parent.join(name)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(future(parent)?.join(name)),
        Err(e) => Err(e),
    }
}

/// What an existing directory holds: nothing, or results. Anything else is refused.
fn contents(directory: &Path) -> io::Result<Option<State>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        names.push((entry.file_name().to_string_lossy().into_owned(), entry.file_type()?));
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    let Some((first, _)) = names.first() else { return Ok(None) };
    if !names.iter().any(|(name, _)| name == MARK) {
        let what = format!(
            "it contains `{first}` and is not a directory of results (it has no `{MARK}`): name a \
             new or empty directory, or one with earlier results"
        );
        return refuse(ErrorKind::AlreadyExists, what);
    }
    let mark = fs::read_to_string(directory.join(MARK)).unwrap_or_default();
    let with: BTreeSet<&str> = mark.lines().filter_map(|line| line.strip_prefix(WITH)).collect();
    let is_ours = |name: &str, kind: fs::FileType| match kind.is_dir() {
        true => {
            let below = directory.join(name);
            holds_recordings(&below, 2) || holds_only(&below, name, &with)
        }
        false => kind.is_file() && (ours(name) || with.contains(name)),
    };
    if let Some((name, _)) = names.iter().find(|(name, kind)| !is_ours(name, *kind)) {
        let what = format!(
            "it contains `{name}`, which is not a result and would be lost: move it, or name \
             another directory"
        );
        return refuse(ErrorKind::AlreadyExists, what);
    }
    let partial = mark.lines().any(|line| line == State::Partial.name());
    Ok(Some(if partial { State::Partial } else { State::Complete }))
}

/// Whether all that the directory `name` holds is in a list of files.
fn holds_only(directory: &Path, name: &str, files: &BTreeSet<&str>) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.into_iter().all(|entry| {
        entry.is_ok_and(|entry| {
            let path = format!("{name}/{}", entry.file_name().to_string_lossy());
            entry.file_type().is_ok_and(|kind| kind.is_file()) && files.contains(&*path)
        })
    })
}

/// Whether a directory holds recordings and nothing else, at most so many levels deep.
fn holds_recordings(directory: &Path, levels: usize) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.into_iter().all(|entry| {
        let Ok(entry) = entry else { return false };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => levels > 1 && holds_recordings(&entry.path(), levels - 1),
            Ok(kind) => kind.is_file() && entry.file_name() == RECORDING,
            Err(_) => false,
        }
    })
}

/// Refuses a directory in which an input of the run is.
fn keep_inputs(directory: &Path, inputs: &[PathBuf]) -> io::Result<()> {
    for input in inputs {
        if fs::canonicalize(input).is_ok_and(|input| input.starts_with(directory)) {
            let name = input.display();
            let what =
                format!("it contains `{name}`, which this run reads: name another directory");
            return refuse(ErrorKind::AlreadyExists, what);
        }
    }
    Ok(())
}

/// A name that no other thread or process uses.
fn probe_name() -> String {
    static TRIED: AtomicU64 = AtomicU64::new(0);
    format!(".weir-probe.{}.{}", std::process::id(), TRIED.fetch_add(1, Ordering::Relaxed))
}

/// Tries whether files can be made in a directory, which is what it takes to remove them, too.
fn probe_file(directory: &Path) -> io::Result<()> {
    let path = directory.join(probe_name());
    fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)
}

/// Tries whether a directory can be made beside `real`, or in the nearest directory above that
/// exists.
fn probe(real: &Path) -> io::Result<()> {
    let existing = real.ancestors().skip(1).find(|a| a.exists()).unwrap_or(Path::new("/"));
    let path = existing.join(probe_name());
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", existing.display()));
    fs::create_dir(&path).map_err(named)?;
    fs::remove_dir(&path).map_err(named)
}

#[cfg(test)]
#[path = "destination/tests.rs"]
mod tests;
