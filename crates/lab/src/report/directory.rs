//! A result directory, complete or not there at all: files are written beside it and moved
//! into place at the end.

use super::{page, summary, tables};
use crate::findings::Comparison;
use serde_json::json;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why results could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct WriteError {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// Everything that may be in a result directory.
const OURS: [&str; 14] = [
    "summary.json",
    "flows.csv",
    "ports.csv",
    "queues.csv",
    "pauses.csv",
    "series.csv",
    "flows.parquet",
    "ports.parquet",
    "queues.parquet",
    "pauses.parquet",
    "series.parquet",
    "perf.json",
    "scenario.toml",
    "index.html",
];

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formats {
    /// As CSV.
    Csv,
    /// As CSV, and as Parquet beside it.
    #[cfg(feature = "parquet")]
    CsvAndParquet,
}

impl Formats {
    /// CSV, with Parquet if that is asked for; `None` when the program was built without it.
    pub const fn new(parquet: bool) -> Option<Self> {
        match parquet {
            false => Some(Self::Csv),
            #[cfg(feature = "parquet")]
            true => Some(Self::CsvAndParquet),
            #[cfg(not(feature = "parquet"))]
            true => None,
        }
    }
}

/// The tables as files: name and content.
fn table_files(c: &Comparison<'_>, formats: Formats) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for table in tables::tables(c) {
        files.push((format!("{}.csv", table.name), table.csv().map_err(io::Error::other)?));
    }
    match formats {
        Formats::Csv => {}
        #[cfg(feature = "parquet")]
        Formats::CsvAndParquet => {
            for table in tables::tables(c) {
                let name = format!("{}.parquet", table.name);
                files.push((name, super::parquet::bytes(table).map_err(io::Error::other)?));
            }
        }
    }
    Ok(files)
}

/// Writes tables, summary and page to `directory`, replacing what a former run left there.
/// `command` is shown on the page.
pub fn write(
    c: &Comparison<'_>,
    directory: &Path,
    command: &str,
    formats: Formats,
) -> Result<(), WriteError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| WriteError { path, source }
    };
    let mut files = table_files(c, formats).map_err(fail(directory))?;
    files.extend(
        [
            ("summary.json", json_text(&summary(c))),
            ("perf.json", json_text(&perf(c))),
            ("scenario.toml", scenario_text(c).into_bytes()),
            ("index.html", page(c, command).into_bytes()),
        ]
        .map(|(name, bytes)| (name.to_owned(), bytes)),
    );
    check_replaceable(directory, &OURS)?;
    let parent = directory.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(fail(parent))?;
    let base = directory.file_name().map_or_else(|| "out".into(), |n| n.to_string_lossy());
    let sibling = |what: &str| parent.join(format!(".{base}.{what}.{}", std::process::id()));
    let (fresh, stale) = (sibling("new"), sibling("old"));
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir(&fresh).map_err(fail(&fresh))?;
    for (name, bytes) in files {
        let path = fresh.join(name);
        if let Err(source) = fs::write(&path, bytes) {
            let _ = fs::remove_dir_all(&fresh);
            return Err(WriteError { path, source });
        }
    }
    let replace = directory.exists();
    if replace {
        fs::rename(directory, &stale).map_err(fail(directory))?;
    }
    fs::rename(&fresh, directory).map_err(fail(directory))?;
    if replace {
        let _ = fs::remove_dir_all(&stale);
    }
    Ok(())
}

/// Refuses to replace a directory that holds anything but results.
fn check_replaceable(directory: &Path, ours: &[&str]) -> Result<(), WriteError> {
    let fail = |source| WriteError { path: directory.to_owned(), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(fail(e)),
    };
    for entry in entries {
        let name = entry.map_err(fail)?.file_name();
        if !ours.iter().any(|o| name.to_str() == Some(*o)) {
            let name = name.to_string_lossy();
            let what = format!("it holds `{name}`, which is no result: name another directory");
            return Err(fail(io::Error::new(io::ErrorKind::AlreadyExists, what)));
        }
    }
    Ok(())
}

/// JSON as it stands in a file.
pub(crate) fn json_text(value: &serde_json::Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("a JSON value is always text");
    text.push(b'\n');
    text
}

fn perf(c: &Comparison<'_>) -> serde_json::Value {
    let runs: Vec<_> = c
        .runs()
        .map(|r| {
            let mut value = json!(r.perf);
            value["scheme"] = r.variant.scheme.name.into();
            value["seed"] = r.variant.seed.into();
            value
        })
        .collect();
    match <[_; 1]>::try_from(runs) {
        Ok([only]) => only,
        Err(runs) => json!({ "runs": runs }),
    }
}

/// The scenario as it was run: the file, and overrides as comments.
fn scenario_text(c: &Comparison<'_>) -> String {
    let mut text = String::new();
    for (i, source) in c.experiment.scenario.sources.iter().enumerate() {
        if i == 0 {
            text = source.text.clone();
        } else {
            text.push_str(&format!("\n# --set {}\n", source.text));
        }
    }
    text
}
