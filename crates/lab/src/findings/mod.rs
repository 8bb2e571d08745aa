//! What the outcomes of runs say, before it is put into tables and figures.

mod classes;
mod hottest;
mod notes;
mod pauses;
mod queues;
mod signal;
mod story;
mod tables;
mod victims;
mod window;

pub use classes::{ClassStats, ClassSummary, Selection};
pub use hottest::{PortAt, hottest_port};
pub(crate) use notes::failures;
pub use notes::notes;
pub(crate) use pauses::chain;
pub use pauses::{Hold, PauseNode, PauseTree, holds, innocent_holds};
pub use queues::{Distribution, PortKind};
pub use signal::missing_signal;
pub use story::answer;
pub use tables::TableSummary;
pub use victims::{Bound, Victim};
pub use window::Window;

use crate::experiment::Experiment;
use crate::run::{Failed, Failure, Run};
use weir_core::ClassId;
use weir_fc::SchemeInfo;

/// The runs of one scheme, one per seed.
#[derive(Clone, Debug)]
pub struct Group {
    /// The scheme.
    pub scheme: &'static SchemeInfo,
    /// Its runs, in the order of the seeds.
    pub runs: Vec<Run>,
}

/// Several schemes on the same traffic; a single run is a comparison of one.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// What was run.
    pub experiment: &'a Experiment,
    /// By scheme; the first is what the others are compared with. None is without runs.
    pub groups: Vec<Group>,
    /// Runs that were asked for and have no outcome.
    pub failed: Vec<Failed>,
}

impl<'a> Comparison<'a> {
    /// Sorts runs by their scheme, in the order in which they come.
    pub fn new(experiment: &'a Experiment, runs: Vec<Run>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for run in runs {
            let scheme = run.variant.scheme;
            match groups.iter_mut().find(|g| g.scheme.name == scheme.name) {
                Some(group) => group.runs.push(run),
                None => groups.push(Group { scheme, runs: vec![run] }),
            }
        }
        Self { experiment, groups, failed: Vec::new() }
    }

    /// The same with the runs that have no outcome.
    #[must_use]
    pub fn with_failed(self, failed: Vec<Failed>) -> Self {
        Self { failed, ..self }
    }

    /// Whether the user interrupted it, so that something is missing.
    pub fn partial(&self) -> bool {
        self.runs().any(Run::interrupted) || self.failed.iter().any(|f| f.why == Failure::NotBegun)
    }

    /// For an interrupted comparison, how much of it there is.
    pub fn partial_note(&self) -> Option<String> {
        let all = self.runs().count() + self.failed.len();
        let whole = self.runs().filter(|r| !r.interrupted()).count();
        self.partial().then(|| match all {
            1 => "INTERRUPTED: these are the results up to the interruption".to_owned(),
            _ => format!("INTERRUPTED: {whole} of {all} runs are complete"),
        })
    }

    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.groups.iter().flat_map(|g| &g.runs)
    }

    /// The class that the comparison is about: `victim` where there is one, else the first.
    pub fn primary_class(&self) -> Option<ClassId> {
        let classes = self.experiment.classes();
        let victim = classes.iter().position(|c| c == "victim");
        let first = (!classes.is_empty()).then_some(0);
        victim.or(first).map(ClassId::from_index)
    }

    /// All classes, the primary one first.
    pub fn class_order(&self) -> Vec<ClassId> {
        let primary = self.primary_class();
        let all = (0..self.experiment.classes().len()).map(ClassId::from_index);
        primary.into_iter().chain(all.filter(|c| Some(*c) != primary)).collect()
    }

    /// The name of a class.
    pub fn class_name(&self, class: ClassId) -> &str {
        &self.experiment.classes()[class.index()]
    }

    /// How many seeds.
    pub fn seeds(&self) -> usize {
        self.groups.iter().map(|g| g.runs.len()).max().unwrap_or(0)
    }
}
