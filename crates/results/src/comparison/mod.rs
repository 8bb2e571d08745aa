//! Several runs beside each other: rows of schemes and variants, and what is to be said of them.

mod classes;
mod notes;
mod signal;
pub(crate) mod steps;
mod story;

pub use classes::ClassSummary;
pub(crate) use notes::failures;
pub use notes::notes;
pub use signal::missing_signal;
pub use story::answer;

use crate::lineup::{Lineup, Setting};
use crate::reference::{Published, published};
use crate::run::{Failed, Failure, Run};
use std::sync::Arc;
use weir_cc::CcKind;
use weir_core::ClassId;
use weir_fc::SchemeInfo;
use weir_scenario::text::Diagnostics;
use weir_scenario::{Experiment, Variant};
use weir_sim::outcome::{Finish, Outcome};

/// The runs of one row of a comparison, one per seed.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// What tables call it: the scheme, or the label of a variant.
    pub label: String,
    /// The same for names of figures and files.
    pub id: String,
    /// The scheme.
    pub scheme: &'static SchemeInfo,
    /// The congestion control.
    pub cc: CcKind,
    /// What was run.
    pub experiment: &'a Experiment,
    /// Its runs, in the order of the seeds.
    pub runs: Vec<Run>,
}

impl Group<'_> {
    /// What came out of its runs.
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.runs.iter().map(|r| &r.outcome)
    }

    /// Its run with a seed.
    pub fn run(&self, seed: u64) -> Option<&Run> {
        self.runs.iter().find(|r| r.variant.seed == seed)
    }
}

/// Several rows on the same traffic; a single run is a comparison of one.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The scenario; what a row ran is in its group.
    pub experiment: &'a Experiment,
    /// The rows; the first is what the others are compared with. None is without runs.
    pub groups: Vec<Group<'a>>,
    /// Runs that were asked for and have no outcome.
    pub failed: Vec<Failed>,
    /// Published numbers to show beside them.
    pub published: Vec<Published>,
}

impl<'a> Comparison<'a> {
    /// Sorts runs by their scheme, in the order in which they come.
    pub fn new(experiment: &'a Experiment, runs: Vec<Run>) -> Self {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for run in runs {
            let Variant { scheme, cc, .. } = run.variant;
            match groups.iter_mut().find(|g| g.scheme.name == scheme.name) {
                Some(group) => group.runs.push(run),
                None => groups.push(Group {
                    label: scheme.title.to_owned(),
                    id: scheme.name.to_owned(),
                    scheme,
                    cc,
                    experiment,
                    runs: vec![run],
                }),
            }
        }
        // whatever is wrong with published numbers was said before anything ran
        let published = published(&experiment.scenario.references, &mut Diagnostics::default());
        Self { experiment, groups, failed: Vec::new(), published }
    }

    /// The runs of the rows of a lineup, each with the number of its row.
    pub fn of(lineup: &'a Lineup, runs: Vec<(usize, Run)>) -> Self {
        let group = |s: &'a Setting| Group {
            label: s.label.clone(),
            id: s.id.clone(),
            scheme: s.variant.scheme,
            cc: s.variant.cc,
            experiment: &s.experiment,
            runs: Vec::new(),
        };
        let mut groups: Vec<Group<'a>> = lineup.settings.iter().map(group).collect();
        for (row, mut run) in runs {
            let group = &mut groups[row];
            run.label.clone_from(&group.label);
            group.runs.push(run);
        }
        groups.retain(|g| !g.runs.is_empty());
        let published = lineup.published.clone();
        Self { experiment: &lineup.base, groups, failed: Vec::new(), published }
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

    /// All runs, each with what was run.
    pub fn runs_with(&self) -> impl Iterator<Item = (&'a Experiment, &Run)> {
        self.groups.iter().flat_map(|g| g.runs.iter().map(|r| (g.experiment, r)))
    }

    /// Whether all rows are on the same network, so that a port of one is a port of all.
    pub fn one_network(&self) -> bool {
        let same = |g: &Group<'_>| {
            let (a, b) = (&g.experiment.topology, &self.experiment.topology);
            Arc::ptr_eq(a, b) || (a.nodes() == b.nodes() && a.links() == b.links())
        };
        self.groups.iter().all(same)
    }

    /// The seeds with which a row did not have the traffic of the first row. A run that ended
    /// before all flows had started says nothing about that.
    pub fn other_traffic(&self, group: &Group<'_>) -> Vec<u64> {
        let regular = |r: &&Run| matches!(r.outcome.finish, Finish::Drained | Finish::TimeLimit);
        let Some(first) = self.groups.first() else { return Vec::new() };
        let other = |r: &&Run| {
            let base = first.run(r.variant.seed).filter(regular);
            base.is_some_and(|base| base.outcome.traffic_hash != r.outcome.traffic_hash)
        };
        group.runs.iter().filter(regular).filter(other).map(|r| r.variant.seed).collect()
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
