//! The directory of a sweep.
//!
//! ```text
//!   plan.jsonl                  what is to be run
//!   input/                      scenario, grid, and files the scenario reads
//!   results/shard-0003-of-0020.….rec     finished (or .open: being written)
//!   locks/                      one per shard
//!   runs.csv classes.csv index.html      written by merge
//! ```

use super::SweepError;
use super::draft::Planned;
use super::plan::Plan;
use super::store::{Results, replace};
use crate::resolve::Base;
use crate::scenario::Files;
use crate::text::{Diagnostics, Sources, parse};
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of a sweep.
#[derive(Clone, Debug)]
pub struct SweepDir {
    /// Where it is.
    pub path: PathBuf,
}

impl SweepDir {
    /// The one at `path`.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where results are.
    pub fn results(&self) -> PathBuf {
        self.path.join("results")
    }

    pub(crate) fn lock(&self, name: &str) -> PathBuf {
        self.path.join("locks").join(format!("{name}.lock"))
    }

    fn plan_path(&self) -> PathBuf {
        self.path.join("plan.jsonl")
    }

    /// The plan.
    pub fn plan(&self) -> Result<Plan, SweepError> {
        if !self.plan_path().exists() {
            let shown = self.path.display();
            let what = format!(
                "{shown} has no plan: make one with `weir sweep plan GRID.toml -o {shown}`"
            );
            return Err(SweepError::Other(what));
        }
        Plan::load(&self.plan_path())
    }

    /// Everything known of its runs.
    pub fn read_results(&self, plan: &Plan) -> Result<Results, SweepError> {
        Results::read(&self.results(), &plan.head)
    }

    /// Writes a plan, or replaces one: results of runs that are in both stay.
    pub fn write(&self, planned: &Planned) -> Result<(), SweepError> {
        for directory in [self.path.join("input"), self.results(), self.path.join("locks")] {
            fs::create_dir_all(&directory).map_err(|e| SweepError::io(&directory, e))?;
        }
        for (name, text) in &planned.inputs {
            let path = self.path.join("input").join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|e| SweepError::io(parent, e))?;
            }
            replace(&path, text.as_bytes())?;
        }
        replace(&self.plan_path(), planned.plan.text().as_bytes())
    }

    /// The scenario of the plan.
    pub(crate) fn base(&self, plan: &Plan) -> Result<Base, SweepError> {
        let files = Files::of(Some(self.path.join("input")));
        let text = files.read(&plan.head.scenario).map_err(SweepError::Other)?;
        let mut sources = Sources::default();
        let name = self.path.join("input").join(&plan.head.scenario).display().to_string();
        let id = sources.add(name.as_str(), text);
        let mut out = Diagnostics::default();
        let root = parse(&sources, id, &mut out);
        if out.has_errors() {
            return Err(SweepError::Other(out.render(&sources, false)));
        }
        Ok(Base { name: plan.head.scenario.clone(), sources, root, files })
    }
}
