//! The cells of an experiment that are run live, and what its paper says of them.

use super::catalogue::Paper;
use super::claim::{Expected, Rule};
use super::experiment::{Experiment, Mode};
use super::live::LiveStudy;
use super::overrides::Overrides;
use super::select::{Selector, same_value};
use weir_scenario::Problems;
use weir_sweep::draft::ResolvedCell;

/// A number of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperNumber {
    /// Where it stands.
    pub place: String,
    /// The number, in the unit of the metric.
    pub number: f64,
}

/// The cells that are run.
pub fn cells(
    study: &LiveStudy,
    paper: &Paper,
    e: &Experiment,
    overrides: &Overrides,
) -> Result<Vec<ResolvedCell>, Problems> {
    let of = paper.runs_of(e);
    let draft = of.draft(Mode::Full, overrides, &paper.sources, &paper.files);
    let Some(draft) = draft else { return Ok(Vec::new()) };
    let fits = |values: &[String]| of.scope.matching(&study.select.at).any(|p| p == values);
    draft?.cells(|variant, values| study.variants.iter().any(|v| v == variant) && fits(values))
}

/// What is looked at in a cell: the metric of the study for each of its classes, and what else the
/// paper states a number of, by claims about the experiment or about the one whose runs it uses;
/// with those numbers.
pub fn numbers(
    study: &LiveStudy,
    paper: &Paper,
    e: &Experiment,
    cell: &ResolvedCell,
) -> Vec<(Selector, Vec<PaperNumber>)> {
    let runs_of = paper.runs_of(e);
    let ids = [&e.id, &runs_of.id];
    let here = |(name, value): &(String, String)| {
        runs_of.scope.parameter(name).is_some_and(|i| same_value(&cell.values[i], value))
    };
    let of_class = |class: &String| {
        let base = Selector { at: Vec::new(), ..study.select.clone() };
        (Selector { class: class.clone(), ..base }, Vec::new())
    };
    let mut found: Vec<(Selector, Vec<PaperNumber>)> = study.classes.iter().map(of_class).collect();
    for claim in paper.claims.iter().filter(|c| ids.contains(&&c.experiment)) {
        let Rule::Value(Expected::One(number)) = claim.rule else { continue };
        let new = PaperNumber { place: claim.place.clone(), number };
        let mine = claim.of.iter().filter(|o| o.variant == cell.variant);
        for operand in mine.filter(|o| o.select.at.iter().all(here)) {
            let select = Selector { at: Vec::new(), ..operand.select.clone() };
            match found.iter_mut().find(|(known, _)| *known == select) {
                Some((_, numbers)) if numbers.contains(&new) => {}
                Some((_, numbers)) => numbers.push(new.clone()),
                None => found.push((select, vec![new.clone()])),
            }
        }
    }
    found
}
