//! Which runs settings of the command line change.

use super::catalogue::{Chosen, Paper};
use super::experiment::{Experiment, Work};
use super::setting::{Setting, Trouble};
use weir_scenario::Problems;
use weir_scenario::text::Diagnostic;
use weir_sweep::plan::Plan;

/// Whether there are runs that settings could change.
pub fn has_runs(paper: &Paper, e: &Experiment) -> bool {
    matches!(paper.runs_of(e).work, Work::Sweep(_))
}

/// Leaves out experiments without runs; returns the ids of those.
pub fn retain_runs(chosen: &mut Vec<Chosen>) -> Vec<String> {
    let mut left_out = Vec::new();
    for Chosen { paper, experiments } in chosen.iter_mut() {
        let (with, without) = std::mem::take(experiments)
            .into_iter()
            .partition::<Vec<usize>, _>(|&at| has_runs(paper, &paper.experiments[at]));
        left_out.extend(without.into_iter().map(|at| paper.experiments[at].id.clone()));
        *experiments = with;
    }
    chosen.retain(|c| !c.experiments.is_empty());
    left_out
}

/// Variants that a setting does not change, in words. One that changes no run at all is a mistake:
/// the results would be called changed and would not be.
pub(super) fn unchanged(
    paper: &Paper,
    e: &Experiment,
    setting: &Setting,
    plan: &Plan,
) -> Result<Vec<String>, Trouble> {
    let mut all = Vec::new();
    for (i, set) in setting.overrides.sets.iter().enumerate() {
        let mut without = setting.overrides.clone();
        without.sets.remove(i);
        let draft = e.draft(setting.mode, &without, &paper.sources, &paper.files);
        // settings that only make sense together cannot be compared one by one
        let Some(Ok(other)) = draft.map(|d| d.and_then(|d| d.plan())) else { continue };
        let pairs = || plan.cells.iter().zip(&other.plan.cells);
        let changed = |label: &str| pairs().any(|(a, b)| a.variant == label && a.hash != b.hash);
        let mut same: Vec<&str> = Vec::new();
        for cell in plan.cells.iter().filter(|c| !changed(&c.variant)) {
            if !same.contains(&cell.variant.as_str()) {
                same.push(&cell.variant);
            }
        }
        if pairs().all(|(a, b)| a.hash == b.hash) {
            let error = Diagnostic::error(format!("`--set {set}` changes no run of {}", e.id));
            let help = "the experiment has this value already, or its parameters and variants set \
                        their own; choose other experiments, or copy the paper and change it there";
            return Err(Trouble::Problems(Problems::plain(error.help(help))));
        }
        if !same.is_empty() {
            all.push(format!("{}: `--set {set}` does not change {}", e.id, same.join(", ")));
        }
    }
    Ok(all)
}
