//! Where results come from: `origin.json` in the directory of an experiment.
//!
//! Directories and sections of the page are named after experiments. A changed copy of a paper has
//! the ids of the original; without a record of their origin its results would count as the
//! original's, and the original's as its own.

use super::catalogue::{Chosen, Paper};
use super::experiment::Experiment;
use super::inside::built_in;
use super::setting::Setting;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use weir_sweep::SweepError;
use weir_sweep::store::replace;

const FILE: &str = "origin.json";

/// Where the experiment of a directory came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The paper.
    pub paper: String,
    /// The experiment.
    pub experiment: String,
    /// The directory of the paper; `None` if it is inside the program.
    pub from: Option<PathBuf>,
    /// The SHA-256 of the paper's files; empty where it is not known.
    pub files: String,
    /// What `--set` changed in all runs.
    pub set: Vec<String>,
}

impl Origin {
    /// Of an experiment that is about to be run.
    fn of(paper: &Paper, e: &Experiment, setting: &Setting) -> Self {
        let absolute = |d: &PathBuf| std::fs::canonicalize(d).unwrap_or_else(|_| d.clone());
        Self {
            paper: paper.id.clone(),
            experiment: e.id.clone(),
            from: paper.directory.as_ref().map(absolute),
            files: paper.files_hash.clone(),
            set: setting.overrides.sets.clone(),
        }
    }

    /// What the directory of an experiment says; results from before there were such files are
    /// those of the paper inside the program, if it has this name.
    fn read(directory: &Path) -> Result<Option<Self>, SweepError> {
        let path = directory.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let results = ["plan.jsonl", "verdicts.csv"];
                let older = results.iter().any(|name| directory.join(name).exists());
                return Ok(older.then(|| Self::before(directory)).flatten());
            }
            Err(e) => return Err(SweepError::io(&path, e)),
        };
        let damaged = |e: serde_json::Error| {
            let shown = directory.display();
            SweepError::Other(format!(
                "{}: {e}: it is unknown which experiment the results in {shown} are of; remove \
                 that directory to run it again",
                path.display()
            ))
        };
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }

    fn before(directory: &Path) -> Option<Self> {
        let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
        let paper = name(directory.parent()?)?;
        let (experiment, files) = (name(directory)?, String::new());
        let inside = built_in().contains(&paper.as_str());
        inside.then(|| Self { paper, experiment, from: None, files, set: Vec::new() })
    }

    /// Whether both are the same experiment: from the same place, where it may have been edited,
    /// or from files that are the same, wherever they are.
    fn fits(&self, other: &Self) -> bool {
        let same_files = !self.files.is_empty() && self.files == other.files;
        (self.from == other.from || same_files) && self.set == other.set
    }

    /// In words.
    fn place(&self) -> String {
        match &self.from {
            None => "the paper inside the program".to_owned(),
            Some(directory) => format!("the paper in {}", directory.display()),
        }
    }
}

/// Whether an experiment may use what is in its directory: its own results, or none.
pub fn fits(paper: &Paper, e: &Experiment, setting: &Setting) -> Result<bool, SweepError> {
    let found = Origin::read(&setting.directory(paper, e))?;
    Ok(found.is_none_or(|origin| origin.fits(&Origin::of(paper, e, setting))))
}

/// Refuses an experiment whose directory has results of another.
pub(super) fn check(paper: &Paper, e: &Experiment, setting: &Setting) -> Result<(), SweepError> {
    let directory = setting.directory(paper, e);
    let Some(found) = Origin::read(&directory)? else { return Ok(()) };
    let own = Origin::of(paper, e, setting);
    if found.fits(&own) {
        return Ok(());
    }
    let shown = directory.display();
    Err(SweepError::Other(match found.set == own.set {
        true => format!(
            "{shown} has results of `{}` of {}; {} has an experiment of the same name and differs: \
             use another --out, or give the copy an `id` of its own in paper.toml and in its \
             experiments. If the paper was moved and changed, remove {shown}",
            found.experiment,
            found.place(),
            own.place(),
        ),
        false => format!(
            "{shown} has results with `--set {}`, not with `--set {}`: use another --out",
            found.set.join(" --set "),
            own.set.join(" --set "),
        ),
    }))
}

/// Checks the ids of everything that is run against each other and against everything that shares
/// the directory: sections of the page and files of figures are named by them.
pub(super) fn check_all(chosen: &[Chosen], setting: &Setting) -> Result<(), SweepError> {
    let others = below(&setting.mode_directory())?;
    for c in chosen {
        for &at in &c.experiments {
            let e = &c.paper.experiments[at];
            check(&c.paper, e, setting)?;
            check(&c.paper, c.paper.runs_of(e), setting)?;
            let same =
                |o: &&Origin| o.paper != c.paper.id && o.experiment.eq_ignore_ascii_case(&e.id);
            if let Some(other) = others.iter().find(same) {
                return Err(SweepError::Other(format!(
                    "`{}` of {} is called as one of {}, whose results are in {} too: give it \
                     another `id`, or use another --out",
                    e.id,
                    Origin::of(&c.paper, e, setting).place(),
                    other.place(),
                    setting.mode_directory().display(),
                )));
            }
        }
    }
    Ok(())
}

/// The origins of all experiments below a directory.
fn below(directory: &Path) -> Result<Vec<Origin>, SweepError> {
    let inner = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.is_dir()).collect();
        paths.sort();
        paths
    };
    let experiments = inner(directory).into_iter().flat_map(|paper| inner(&paper));
    let origins = experiments.map(|path| Origin::read(&path));
    origins.filter_map(Result::transpose).collect()
}

/// Writes down where an experiment comes from, beside its results.
pub(super) fn write(paper: &Paper, e: &Experiment, setting: &Setting) -> Result<(), SweepError> {
    let directory = setting.directory(paper, e);
    std::fs::create_dir_all(&directory).map_err(|e| SweepError::io(&directory, e))?;
    let text = serde_json::to_string_pretty(&Origin::of(paper, e, setting));
    replace(&directory.join(FILE), (text.expect("texts only") + "\n").as_bytes())
}
