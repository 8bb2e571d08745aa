//! What is in a result directory.

use super::destination::{Content, Destination, PARTIAL, State, WriteError};
use super::{page, probe_tables, summary, tables};
use crate::blame;
use crate::comparison::Comparison;
use serde_json::json;
use std::path::{Path, PathBuf};

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
    /// CSV and Parquet; `None` when the program was built without it.
    pub const fn with_parquet() -> Option<Self> {
        #[cfg(feature = "parquet")]
        let both = Some(Self::CsvAndParquet);
        #[cfg(not(feature = "parquet"))]
        let both = None;
        both
    }
}

/// The tables as files: name and content.
fn table_files<'a>(c: &'a Comparison<'_>, formats: Formats) -> Vec<(String, Content<'a>)> {
    let mut files: Vec<(String, Content<'a>)> = Vec::new();
    for table in tables::tables(c) {
        files.push((format!("{}.csv", table.name), Box::new(|to| table.write_csv(to))));
    }
    for own in probe_tables::tables(c) {
        let name = format!("{}.csv", own.name());
        files.push((name, Box::new(move |to| own.table().write_csv(to))));
    }
    match formats {
        Formats::Csv => {}
        #[cfg(feature = "parquet")]
        Formats::CsvAndParquet => {
            for table in tables::tables(c) {
                let name = format!("{}.parquet", table.name);
                files.push((name, Box::new(|to| table.write_parquet(to))));
            }
            for own in probe_tables::tables(c) {
                let name = format!("{}.parquet", own.name());
                files.push((name, Box::new(move |to| own.table().write_parquet(to))));
            }
        }
    }
    files
}

/// Writes tables, summary and page to `directory`, replacing what a former run left there, and
/// returns where they are. `command` is shown on the page.
pub fn write(
    c: &Comparison<'_>,
    directory: &Path,
    command: &str,
    formats: Formats,
) -> Result<PathBuf, WriteError> {
    Destination::check(directory, &c.experiment.inputs())?.write(c, command, formats)
}

impl Destination {
    /// Writes the results of `c`, and returns where they are: in this directory or, when they are
    /// partial and it holds complete ones, in another one beside it.
    pub fn write(
        &self,
        c: &Comparison<'_>,
        command: &str,
        formats: Formats,
    ) -> Result<PathBuf, WriteError> {
        self.write_with(c, command, formats, Vec::new())
    }

    /// The same, with `more` files, which may be in directories of their own.
    pub fn write_with(
        &self,
        c: &Comparison<'_>,
        command: &str,
        formats: Formats,
        more: Vec<(String, Content<'_>)>,
    ) -> Result<PathBuf, WriteError> {
        if c.partial() && self.holds_complete_results() {
            return self.beside(PARTIAL)?.write_with(c, command, formats, more);
        }
        let state = if c.partial() { State::Partial } else { State::Complete };
        let mut files = table_files(c, formats);
        if c.partial() {
            for (name, _) in &mut files {
                *name = partial_name(name);
            }
        }
        let others: [(&str, Content<'_>); 4] = [
            ("summary.json", Box::new(|to| to.write_all(&json_text(&summary(c))))),
            ("perf.json", Box::new(|to| to.write_all(&json_text(&perf(c))))),
            ("scenario.toml", Box::new(|to| to.write_all(scenario_text(c).as_bytes()))),
            ("index.html", Box::new(|to| to.write_all(page(c, command).as_bytes()))),
        ];
        files.extend(others.map(|(name, content)| (name.to_owned(), content)));
        if tables::keeps_blame(c) {
            files.push(("blame.json".into(), Box::new(|to| to.write_all(&json_text(&views(c))))));
        }
        files.extend(more);
        self.replace_with(files, state)?;
        Ok(self.shown().to_owned())
    }
}

/// `flows.csv` of an interrupted run: a program that expects all flows must not find it.
fn partial_name(name: &str) -> String {
    match name.split_once('.') {
        Some((stem, ending)) => format!("{stem}.partial.{ending}"),
        None => name.to_owned(),
    }
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
            value["variant"] = r.label.clone().into();
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

/// The published views of each run that kept blame.
fn views(c: &Comparison<'_>) -> serde_json::Value {
    let runs = c.runs_with().filter(|(_, run)| run.outcome.blame.is_some()).map(|(e, run)| {
        let views = blame::views::json(e, run);
        json!({ "variant": run.label, "seed": run.variant.seed, "views": views })
    });
    json!({ "runs": runs.collect::<Vec<_>>() })
}

/// The scenario as it was run: the file, and overrides as comments.
fn scenario_text(c: &Comparison<'_>) -> String {
    let mut text = String::new();
    for (i, source) in c.experiment.scenario.sources.iter().enumerate() {
        if i == 0 {
            text = source.text.clone();
        } else {
            // a line break within a value must not end the comment
            let set = source.text.replace(['\n', '\r'], "\n# ");
            text.push_str(&format!("\n# --set {set}\n"));
        }
    }
    text
}
