//! Where and how experiments are run.

use super::catalogue::Paper;
use super::experiment::{Experiment, Mode};
use super::overrides::Overrides;
use std::path::PathBuf;
use weir_scenario::Problems;
use weir_sweep::SweepError;

/// Where and how experiments are run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The directory of both modes.
    pub out: PathBuf,
    /// How much is run.
    pub mode: Mode,
    /// What is different from the experiments' files.
    pub overrides: Overrides,
    /// Whether results of other builds of this version count.
    pub any_build: bool,
}

impl Setting {
    /// The directory of all results of this mode. Runs with changed settings have a directory of
    /// their own, so that they never stand beside unchanged ones.
    pub fn mode_directory(&self) -> PathBuf {
        let out = match self.overrides.slug() {
            None => self.out.clone(),
            Some(slug) => self.out.join("with").join(slug),
        };
        out.join(self.mode.name())
    }

    /// The directory of an experiment.
    pub fn directory(&self, paper: &Paper, e: &Experiment) -> PathBuf {
        self.mode_directory().join(&paper.id).join(e.id.to_lowercase())
    }
}

/// Why experiments cannot be run.
#[derive(Debug)]
pub enum Trouble {
    /// Something in their files.
    Problems(Problems),
    /// Something in their directories.
    Sweep(SweepError),
}

impl From<SweepError> for Trouble {
    fn from(error: SweepError) -> Self {
        Self::Sweep(error)
    }
}
