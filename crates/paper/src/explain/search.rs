//! The runs of combinations: sweeps of the experiments' grids in which variants stand once for
//! every combination that changes them.
//!
//! ```text
//!   OUT/explain/PAPER/ID/search/fs-f10/           a sweep per experiment
//!   OUT/explain/PAPER/ID/confirm-quick/fs-f10/    the best few, on fresh seeds
//!   OUT/explain/PAPER/ID/explain.csv ...          what came out
//! ```

use crate::catalogue::Paper;
use crate::claim::{Claim, Rule};
use crate::experiment::{Experiment, Mode};
use crate::explanation::{Combination, Explanation};
use crate::judge::Library;
use crate::run::Planned;
use crate::select::{Selector, same_value};
use crate::setting::Trouble;
use crate::tables::Tables;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use weir_scenario::Problems;
use weir_scenario::text::Item;
use weir_sweep::SweepError;
use weir_sweep::directory::SweepDir;
use weir_sweep::draft::Draft;
use weir_sweep::grid::{Grid, Values};
use weir_sweep::plan::ANY_BUILD;

/// Which runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Of the search: quick, on its seeds.
    Search,
    /// Of the confirmation: on fresh seeds.
    Confirm(Mode),
}

impl Phase {
    /// The name of its directory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Confirm(Mode::Quick) => "confirm-quick",
            Self::Confirm(Mode::Full) => "confirm-full",
        }
    }

    /// The scale of its runs.
    pub const fn mode(self) -> Mode {
        match self {
            Self::Search => Mode::Quick,
            Self::Confirm(mode) => mode,
        }
    }
}

/// An explanation of a paper that is worked on.
#[derive(Clone, Debug)]
pub struct Study<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// What is tried.
    pub explanation: &'a Explanation,
    /// The directory of all results.
    pub out: PathBuf,
    /// Whether results of other builds of this version count.
    pub any_build: bool,
    /// Seeds of the search instead of the declared ones.
    pub seeds: Option<Vec<u64>>,
}

/// The numbers of all experiments of a phase.
#[derive(Debug, Default)]
pub struct Shelf {
    all: Vec<(String, Tables)>,
    /// How many runs have a result, and how many there are.
    pub runs: (usize, usize),
}

impl Library for Shelf {
    fn tables(&self, experiment: &str) -> Option<&Tables> {
        self.all.iter().find(|(id, _)| id == experiment).map(|(_, tables)| tables)
    }
}

impl Study<'_> {
    /// Its directory.
    pub fn directory(&self) -> PathBuf {
        directory(&self.out, &self.paper.id, &self.explanation.id)
    }

    fn sweep(&self, phase: Phase, e: &Experiment) -> SweepDir {
        SweepDir::new(&self.directory().join(phase.name()).join(e.id.to_lowercase()))
    }

    /// The seeds of a phase.
    pub fn seeds(&self, phase: Phase) -> &[u64] {
        match phase {
            Phase::Search => self.seeds.as_deref().unwrap_or(&self.explanation.seeds),
            Phase::Confirm(_) => &self.explanation.fresh,
        }
    }

    fn scored(&self) -> impl Iterator<Item = &Claim> {
        self.explanation.claims.iter().map(|i| &self.paper.claims[*i])
    }

    /// The experiments with runs that scored claims look at.
    pub fn experiments(&self) -> Vec<&Experiment> {
        let mut all: Vec<&Experiment> = Vec::new();
        for id in self.scored().flat_map(Claim::experiments) {
            let found = self.paper.experiments.iter().find(|e| e.id == id);
            let Some(e) = found.map(|e| self.paper.runs_of(e)) else { continue };
            if all.iter().all(|known| known.id != e.id) {
                all.push(e);
            }
        }
        all
    }

    /// What scored claims look at in the runs of an experiment: variants and selectors.
    fn looked_at(&self, runs_of: &Experiment) -> Vec<(&str, &Selector)> {
        let own = |id: &str| {
            let e = self.paper.experiments.iter().find(|e| e.id == id);
            e.is_some_and(|e| self.paper.runs_of(e).id == runs_of.id)
        };
        let mut all = Vec::new();
        for claim in self.scored() {
            let there = match &claim.rule {
                Rule::Contrast { than, .. } => own(than),
                _ => false,
            };
            let of = self.explanation.looked_at(claim);
            for o in of.into_iter().chain(&claim.against).chain(claim.rule.order()) {
                if there || own(&o.experiment) {
                    all.push((o.variant.as_str(), &o.select));
                }
            }
        }
        all
    }

    /// The grid of an experiment with the variants of all combinations.
    fn grid(&self, phase: Phase, e: &Experiment, combinations: &[Combination]) -> Option<Grid> {
        let mut grid = self.explanation.grid(e, phase.mode())?;
        let looked_at = self.looked_at(e);
        let wanted = |label: &str| looked_at.iter().any(|(variant, _)| *variant == label);
        grid.variants.retain(|v| wanted(&v.label));
        let plain = std::mem::take(&mut grid.variants);
        for combination in combinations {
            for spec in &plain {
                let changed = self.explanation.variant(e, spec, combination, phase.mode());
                if grid.variants.iter().all(|known| known.label != changed.label) {
                    grid.variants.push(changed);
                }
            }
        }
        let selectors: Vec<&Selector> = looked_at.iter().map(|(_, s)| *s).collect();
        narrow(&mut grid, &selectors);
        let seeds = self.seeds(phase);
        // all seeds give the same numbers
        let one = &seeds[..seeds.len().min(1)];
        grid.seeds = Some(if e.scope.deterministic { one.to_vec() } else { seeds.to_vec() });
        (!grid.variants.is_empty()).then_some(grid)
    }

    fn draft(
        &self,
        phase: Phase,
        e: &Experiment,
        combinations: &[Combination],
    ) -> Option<Result<Draft, Problems>> {
        let grid = self.grid(phase, e, combinations)?;
        let (text, sources) = (e.text.clone(), self.paper.sources.clone());
        Some(Draft::of(grid, text, sources, &self.paper.files))
    }

    /// Plans the sweeps of all experiments; results that fit stay.
    pub fn plan(
        &self,
        phase: Phase,
        combinations: &[Combination],
    ) -> Result<Vec<Planned>, Trouble> {
        let mut all = Vec::new();
        for e in self.experiments() {
            let Some(draft) = self.draft(phase, e, combinations) else { continue };
            let mut planned = draft.and_then(Draft::plan).map_err(Trouble::Problems)?;
            if self.any_build {
                ANY_BUILD.clone_into(&mut planned.plan.head.build);
            }
            let directory = self.sweep(phase, e);
            directory.write(&planned)?;
            let warnings = (planned.warnings, planned.sources);
            all.push(Planned { id: e.id.clone(), directory, warnings, unchanged: Vec::new() });
        }
        Ok(all)
    }

    /// Resolves what is tried first, without writing anything, and every single departure at full
    /// scale; returns the number of runs.
    pub fn check(&self) -> Result<usize, Trouble> {
        let primary = self.explanation.primary();
        let mut singles = self.explanation.one_more(&primary);
        singles.insert(0, primary);
        let full = Phase::Confirm(Mode::Full);
        let mut runs = BTreeSet::new();
        for (phase, combinations) in [(Phase::Search, self.explanation.first()), (full, singles)] {
            for e in self.experiments() {
                let Some(draft) = self.draft(phase, e, &combinations) else { continue };
                let planned = draft.and_then(Draft::plan).map_err(Trouble::Problems)?;
                if phase == Phase::Search {
                    // a run that several names have is made once
                    runs.extend(planned.plan.runs.into_iter().map(|r| r.id));
                }
            }
        }
        Ok(runs.len())
    }

    /// Reads what there is of the runs of a phase.
    pub fn collect(&self, phase: Phase) -> Result<Shelf, SweepError> {
        let mut shelf = Shelf::default();
        for runs_of in self.experiments() {
            let sweep = self.sweep(phase, runs_of);
            if !sweep.path.join("plan.jsonl").exists() {
                continue;
            }
            let plan = sweep.plan()?;
            let results = sweep.read_results(&plan)?;
            let tables = Tables::new(&runs_of.scope, &plan, &results);
            let (total, done) = tables.counts();
            shelf.runs = (shelf.runs.0 + done, shelf.runs.1 + total);
            // experiments that use these runs have their numbers
            let same = |e: &&Experiment| self.paper.runs_of(e).id == runs_of.id;
            for e in self.paper.experiments.iter().filter(same) {
                shelf.all.push((e.id.clone(), tables.clone()));
            }
        }
        Ok(shelf)
    }
}

/// Where an explanation is below `out`.
pub(crate) fn directory(out: &Path, paper: &str, id: &str) -> PathBuf {
    out.join("explain").join(paper).join(id.to_lowercase())
}

/// Leaves out the values of parameters that nothing looks at.
fn narrow(grid: &mut Grid, selectors: &[&Selector]) {
    let text = |item: &Item| item.value.text().unwrap_or_else(|| item.value.toml());
    for (i, parameter) in grid.parameters.iter_mut().enumerate() {
        let fixed: Option<Vec<&str>> = selectors.iter().map(|s| s.fixed(&parameter.name)).collect();
        let Some(fixed) = fixed else { continue };
        let used = |item: &Item| fixed.iter().any(|value| same_value(value, &text(item)));
        match &mut parameter.values {
            Values::Listed(items) if items.iter().any(used) => items.retain(used),
            Values::ByPoint => {
                let at = |p: &Vec<(usize, Item)>| p.iter().any(|(at, v)| *at == i && used(v));
                if grid.points.iter().any(at) {
                    grid.points.retain(at);
                }
            }
            _ => {}
        }
    }
}
