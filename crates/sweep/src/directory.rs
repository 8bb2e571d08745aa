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
use std::fs;
use std::path::{Path, PathBuf};
use weir_core::format::shell_word;
use weir_scenario::Files;
use weir_scenario::resolve::Base;
use weir_scenario::text::{Diagnostics, Sources, parse};

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
        if self.plan_path().exists() {
            return Plan::load(&self.plan_path());
        }
        let shown = shell_word(&self.path.display().to_string());
        let what = if self.path.is_file() {
            format!(
                "{shown} is a file and not the directory of a sweep: if it is a grid, plan it \
                 first with `weir sweep plan {shown} -o DIR`"
            )
        } else if self.path.is_dir() {
            format!(
                "{shown} is not the directory of a sweep: it has no plan.jsonl; plan a grid with \
                 `weir sweep plan GRID.toml -o {shown}`"
            )
        } else {
            format!(
                "there is no directory {shown}: plan a grid with `weir sweep plan GRID.toml -o \
                 {shown}`"
            )
        };
        Err(SweepError::Other(what))
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

    /// Makes an empty sweep with the plan and the inputs of another one.
    pub(crate) fn copy_plan(&self, of: &Self) -> Result<(), SweepError> {
        for directory in [self.results(), self.path.join("locks")] {
            fs::create_dir_all(&directory).map_err(|e| SweepError::io(&directory, e))?;
        }
        copy_files(&of.path.join("input"), &self.path.join("input"))?;
        let plan = fs::read(of.plan_path()).map_err(|e| SweepError::io(&of.plan_path(), e))?;
        // last, so that a directory with a plan has everything
        replace(&self.plan_path(), &plan)
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
            return Err(SweepError::Other(out.plain(&sources)));
        }
        Ok(Base { name: plan.head.scenario.clone(), sources, root, files })
    }
}

/// Copies a directory and those in it.
fn copy_files(from: &Path, to: &Path) -> Result<(), SweepError> {
    fs::create_dir_all(to).map_err(|e| SweepError::io(to, e))?;
    for entry in fs::read_dir(from).map_err(|e| SweepError::io(from, e))? {
        let path = entry.map_err(|e| SweepError::io(from, e))?.path();
        let copy = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_files(&path, &copy)?;
        } else {
            replace(&copy, &fs::read(&path).map_err(|e| SweepError::io(&path, e))?)?;
        }
    }
    Ok(())
}
