//! `plan.jsonl`: what a sweep consists of.
//!
//! A line about the whole, a line per cell (a variant at a point), a line per run, and a last line
//! with the hash of all before it, so that half a plan is never taken for a whole one.

use super::SweepError;
use super::record::{Record, Status};
use serde::{Deserialize, Serialize};
use std::path::Path;
use weir_scenario::hash::sha256;
use weir_scenario::resolve::run_id;

/// The version of the format.
const FORMAT: u32 = 1;

/// Stands in a plan for every build of the version.
pub const ANY_BUILD: &str = "any";

/// What a sweep consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// About the whole.
    pub head: Head,
    /// Variants at points.
    pub cells: Vec<Cell>,
    /// Runs, in the order of the table.
    pub runs: Vec<PlannedRun>,
}

/// What holds for all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    weir_sweep: u32,
    /// Short name.
    pub name: String,
    /// One line.
    pub title: String,
    /// The version of the program that made the plan.
    pub weir: String,
    /// Which build of it, or `any`: the builds whose results count.
    pub build: String,
    /// Names the columns of its tables, see [`columns`](super::columns).
    #[serde(default)]
    pub columns: String,
    /// The file of the scenario, below `input`.
    pub scenario: String,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Whether results hold how flows fared by when they started ([`Starts`]).
    ///
    /// [`Starts`]: weir_results::starts::Starts
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starts: bool,
}

/// A variant at a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// What tables call the variant.
    pub variant: String,
    /// Flow control.
    pub scheme: String,
    /// Congestion control.
    pub cc: String,
    /// The values of the parameters, as written.
    pub values: Vec<String>,
    /// All changes of the scenario, as `--set` takes them.
    pub set: Vec<String>,
    /// Names what it resolves to.
    pub hash: String,
}

/// A cell with a seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Names it: the same for two runs exactly if their results must be.
    pub id: String,
    /// Which cell.
    pub cell: usize,
    /// Which seed.
    pub seed: u64,
}

#[derive(Serialize, Deserialize)]
struct End {
    runs: usize,
    sha256: String,
}

impl Plan {
    /// A plan of all cells with all seeds.
    pub(crate) fn new(head: Head, cells: Vec<Cell>, seeds: &[u64]) -> Self {
        let run = |(cell, c): (usize, &Cell)| {
            let id = |seed: &u64| run_id(&c.hash, *seed);
            let of_cell = seeds.iter().map(|s| PlannedRun { id: id(s), cell, seed: *s });
            of_cell.collect::<Vec<_>>()
        };
        let runs = cells.iter().enumerate().flat_map(run).collect();
        Self { head, cells, runs }
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |value: serde_json::Result<String>| {
            text.push_str(&value.expect("a plan is text and numbers"));
            text.push('\n');
        };
        line(serde_json::to_string(&self.head));
        self.cells.iter().for_each(|c| line(serde_json::to_string(c)));
        self.runs.iter().for_each(|r| line(serde_json::to_string(r)));
        let end = End { runs: self.runs.len(), sha256: sha256(text.as_bytes()) };
        text + &serde_json::to_string(&end).expect("text and a number") + "\n"
    }

    /// Reads the file at `path`.
    pub fn load(path: &Path) -> Result<Self, SweepError> {
        let text = std::fs::read_to_string(path).map_err(|e| SweepError::io(path, e))?;
        Self::parse(&text).map_err(|why| SweepError::Plan { path: path.to_owned(), why })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let cut = || "the last line is missing or damaged: make the plan again".to_owned();
        let body = text.strip_suffix('\n').ok_or_else(cut)?;
        let (body, last) = body.rsplit_once('\n').ok_or_else(cut)?;
        let end: End = serde_json::from_str(last).map_err(|_| cut())?;
        if sha256(format!("{body}\n").as_bytes()) != end.sha256 {
            return Err("it has been changed: make the plan again".to_owned());
        }
        let mut lines = body.lines();
        let head: Head = serde_json::from_str(lines.next().unwrap_or_default())
            .map_err(|e| format!("line 1: {e}"))?;
        if head.weir_sweep != FORMAT {
            return Err(format!("this program does not know format {}", head.weir_sweep));
        }
        let (mut cells, mut runs) = (Vec::new(), Vec::new());
        for (i, line) in lines.enumerate() {
            let wrong = |e| format!("line {}: {e}", i + 2);
            if line.starts_with("{\"variant\"") {
                cells.push(serde_json::from_str(line).map_err(wrong)?);
            } else {
                runs.push(serde_json::from_str(line).map_err(wrong)?);
            }
        }
        Ok(Self { head, cells, runs })
    }

    /// The cell of a run.
    pub fn cell(&self, run: &PlannedRun) -> &Cell {
        &self.cells[run.cell]
    }

    /// Values of the parameters of a run, `flows = 240, size = 15KB`; its variant first.
    pub fn describe(&self, run: &PlannedRun) -> String {
        let cell = self.cell(run);
        let names = self.head.parameters.iter().zip(&cell.values);
        let values: String = names.map(|(name, value)| format!(", {name} = {value}")).collect();
        format!("{}{values}, seed {}", cell.variant, run.seed)
    }

    /// The command that runs one run again by itself.
    pub fn command(&self, directory: &Path, run: &PlannedRun) -> String {
        let cell = self.cell(run);
        let scenario = directory.join("input").join(&self.head.scenario);
        let mut words = vec!["weir".to_owned(), "run".into(), scenario.display().to_string()];
        let options = [("--scheme", &cell.scheme), ("--cc", &cell.cc)];
        words.extend(options.iter().flat_map(|(o, v)| [(*o).to_owned(), (*v).clone()]));
        words.extend(["--seed".to_owned(), run.seed.to_string()]);
        words.extend(cell.set.iter().flat_map(|s| ["--set".to_owned(), s.clone()]));
        words.iter().map(|w| weir_core::format::shell_word(w)).collect::<Vec<_>>().join(" ")
    }
}

impl Head {
    /// Whether results of a program belong in the table of this plan.
    pub fn accepts(&self, weir: &str, build: &str) -> bool {
        self.weir == weir && (self.build == ANY_BUILD || self.build == build)
    }

    /// Whether a result counts: it is of a program that the plan accepts, and holds what the plan
    /// asks for.
    pub(crate) fn counts(&self, record: &Record) -> bool {
        self.accepts(&record.weir, &record.build) && self.lacks(record).is_none()
    }

    /// What the plan asks for and a result does not hold.
    pub(crate) fn lacks(&self, record: &Record) -> Option<&'static str> {
        let result = matches!(record.status, Status::Ok | Status::Invalid);
        match (result, &record.figures) {
            (false, _) => None,
            (true, None) => Some(", with other columns"),
            (true, Some(_)) => {
                (self.starts && record.starts.is_none()).then_some(", without a series of starts")
            }
        }
    }

    /// What this program puts at the head of its plans.
    pub(crate) fn new(
        name: String,
        title: String,
        scenario: String,
        parameters: Vec<String>,
    ) -> Self {
        let (weir, build) = (super::version().to_owned(), super::build().to_owned());
        let (columns, starts) = (super::columns().to_owned(), false);
        Self { weir_sweep: FORMAT, name, title, weir, build, columns, scenario, parameters, starts }
    }
}
