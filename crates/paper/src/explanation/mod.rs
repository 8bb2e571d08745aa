//! What would have to be true: the space of readings and open settings in which a paper's claims
//! are tried, `explain.toml`.
//!
//! ```toml
//! [[explain]]
//! id = "bystanders"
//! title = "What would spare bystanders?"
//! experiments = ["MY-1"]              # whose claims are scored
//! variants = ["OFC"]                  # of the primary reading: what factors change
//! seeds = "1..3"
//! fresh-seeds = "101..105"            # of the confirmation, never the same
//!
//! [[explain.factor]]
//! name = "lower threshold"
//! where = "Section 4: not given"      # where the paper leaves it open
//! level = [
//!     { label = "90 %", primary = true },
//!     { label = "50 %", alpha = 0.5, contradicts = "Table 2 states 90 %" },
//! ]
//! ```
//!
//! A level is a set of changes as a variant has them; a combination is one level per factor. One
//! level of each factor is the primary reading, every other one a departure from it.
//! `[explain.quick]` replaces the experiments' own `[quick]`, and `scenario` their scenario at full
//! scale: the same network may have to be written so that a level can change it.

mod combine;
mod read;
#[cfg(test)]
mod read_tests;

#[cfg(test)]
pub(crate) use combine::tests;
pub use combine::{Combination, Design};
pub(crate) use read::read;

use super::claim::{Claim, Operand};
use super::experiment::{Experiment, Mode, Quick};
use weir_scenario::keys::SECTIONS;
use weir_scenario::text::{Diagnostics, Item, Span};
use weir_scenario::variant::{Change, VariantSpec, flatten};
use weir_sweep::grid::Grid;

/// The name of the file.
pub(crate) const FILE: &str = "explain.toml";

/// A declared space of readings and open settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Names it within the paper, and its directory.
    pub id: String,
    /// One line.
    pub title: String,
    /// The experiments whose claims are scored.
    pub experiments: Vec<String>,
    /// Variants of the primary reading, which factors change.
    pub variants: Vec<String>,
    /// The claims that are scored, by position.
    pub claims: Vec<usize>,
    /// Of these, the claims whose numbers stand in the table.
    pub quantities: Vec<usize>,
    /// Seeds of the search.
    pub seeds: Vec<u64>,
    /// Seeds of the confirmation.
    pub fresh: Vec<u64>,
    /// So many combinations are all tried; of more, a part.
    pub most: usize,
    /// How many claims are to hold; `None`: more than half of them.
    pub enough: Option<usize>,
    /// What is varied.
    pub factors: Vec<Factor>,
    /// A scenario that levels can change, instead of the experiments' own at full scale.
    pub scenario: Option<(String, Span)>,
    /// What the search changes instead of the experiments' own `[quick]`, by experiment.
    pub quick: Vec<(String, Quick)>,
}

/// Something that the paper leaves open, or that could differ from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// What it is, in a few words.
    pub name: String,
    /// Where the paper leaves it open, or states it.
    pub place: String,
    /// The variants of an experiment that it changes.
    pub applies: Applies,
    /// The experiments that it changes; empty: all.
    pub experiments: Vec<String>,
    /// What it can be.
    pub levels: Vec<Level>,
    /// Which of them is the primary reading.
    pub primary: usize,
}

/// Which variants of an experiment a factor changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// All.
    ToAll,
    /// Those of the primary reading.
    ToPrimary,
}

/// One possibility of a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// In a few words.
    pub label: String,
    /// What it contradicts in the paper, with the place; empty if nothing.
    pub contradicts: String,
    /// Parameters of the scheme and keys of the scenario, as written.
    changes: Vec<Written>,
    /// The same at full scale, where it differs: rates and numbers of flows of a whole network.
    full: Option<Vec<Written>>,
}

/// A key with its value, and where it is written.
type Written = (String, Span, Item);

/// Whether a key is one of the scenario and not a parameter of a scheme.
fn of_scenario(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    SECTIONS.iter().any(|s| s.name == section)
}

impl Level {
    /// Its changes of a variant. A parameter of the scheme needs a variant that names one: the
    /// reader has checked that.
    fn changes_of(&self, spec: &VariantSpec, mode: Mode) -> Vec<Change> {
        let (mut changes, mut out) = (Vec::new(), Diagnostics::default());
        let full = self.full.as_ref().filter(|_| mode == Mode::Full);
        for (key, at, item) in full.unwrap_or(&self.changes) {
            let before = match (&spec.scheme, of_scenario(key)) {
                (Some((scheme, _)), false) => {
                    vec![("flow-control".to_owned(), *at), (scheme.clone(), *at)]
                }
                _ => Vec::new(),
            };
            flatten(key, *at, item, &before, &mut changes, &mut out);
        }
        changes
    }
}

impl Factor {
    /// Whether it changes runs of an experiment.
    pub(crate) fn touches(&self, experiment: &str) -> bool {
        self.experiments.is_empty() || self.experiments.iter().any(|id| id == experiment)
    }

    /// Whether it changes a variant.
    fn changes_variant(&self, explanation: &Explanation, variant: &str) -> bool {
        self.applies == Applies::ToAll || explanation.variants.iter().any(|v| v == variant)
    }
}

impl Explanation {
    /// What a quick run of an experiment changes.
    pub(crate) fn quick_of<'e>(&'e self, e: &'e Experiment) -> &'e Quick {
        self.quick.iter().find(|(id, _)| *id == e.id).map_or(&e.quick, |(_, quick)| quick)
    }

    /// The grid of an experiment, without the variants of combinations.
    pub(crate) fn grid(&self, e: &Experiment, mode: Mode) -> Option<Grid> {
        let mut grid = e.grid_reduced_by(mode, self.quick_of(e))?;
        // a search compares combinations and confirms nothing by a steady state
        grid.starts = false;
        if let Some(scenario) = self.scenario.as_ref().filter(|_| mode == Mode::Full) {
            grid.scenario = scenario.clone();
        }
        Some(grid)
    }

    /// The operands of a claim that are looked at: of several readings those that are changed.
    pub(crate) fn looked_at<'c>(&self, claim: &'c Claim) -> Vec<&'c Operand> {
        let changed = |o: &&Operand| self.variants.contains(&o.variant);
        let own: Vec<&Operand> = claim.of.iter().filter(changed).collect();
        match own.is_empty() {
            true => claim.of.iter().filter(|o| !o.other_reading).collect(),
            false => own,
        }
    }

    /// What a variant is called under a combination: two combinations that differ in nothing that
    /// changes it share a name, so that its runs are made once.
    pub(crate) fn label(&self, variant: &str, combination: &Combination) -> String {
        let own = self.factors.iter().zip(&combination.0);
        let own = own.filter(|(f, _)| f.changes_variant(self, variant));
        let digits: String = own.map(|(_, level)| digit(*level)).collect();
        match digits.is_empty() {
            true => variant.to_owned(),
            false => format!("{variant} [{digits}]"),
        }
    }

    /// A variant of an experiment under a combination.
    pub(crate) fn variant(
        &self,
        e: &Experiment,
        spec: &VariantSpec,
        combination: &Combination,
        mode: Mode,
    ) -> VariantSpec {
        let mut changed =
            VariantSpec { label: self.label(&spec.label, combination), ..spec.clone() };
        let mut added: Vec<Change> = Vec::new();
        for (factor, level) in self.factors.iter().zip(&combination.0) {
            if factor.changes_variant(self, &spec.label) && factor.touches(&e.id) {
                factor.levels[*level]
                    .changes_of(spec, mode)
                    .into_iter()
                    .for_each(|c| join(&mut added, c));
            }
        }
        changed.changes.extend(added);
        changed
    }
}

/// Adds a change. Lists of two factors for one key are sets that are united: readings of a scheme.
fn join(all: &mut Vec<Change>, change: Change) {
    use weir_scenario::text::Value::List;
    let names = |c: &Change| c.path.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let same = all.iter_mut().find(|c| names(c) == names(&change));
    match same.map(|c| &mut c.item.value) {
        Some(List(before)) => {
            if let List(more) = change.item.value {
                for item in more {
                    if before.iter().all(|known| known.value != item.value) {
                        before.push(item);
                    }
                }
            }
        }
        _ => all.push(change),
    }
}

/// The digit of a level in the name of a variant.
fn digit(level: usize) -> char {
    char::from_digit(level as u32, 36).unwrap_or('?')
}
