//! The cells of an experiment that are run live, and what its paper says of them.

use super::catalogue::Paper;
use super::claim::{Expected, Rule};
use super::experiment::{Experiment, Mode};
use super::live::LiveStudy;
use super::overrides::Overrides;
use super::select::same_value;
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
) -> Result<Vec<ResolvedCell>, Problems> {
    let of = paper.runs_of(e);
    let draft = of.draft(Mode::Full, &Overrides::default(), &paper.sources, &paper.files);
    let Some(draft) = draft else { return Ok(Vec::new()) };
    let fits = |values: &[String]| of.scope.matching(&study.select.at).any(|p| p == values);
    draft?.cells(|variant, values| study.variants.iter().any(|v| v == variant) && fits(values))
}

/// The numbers that the paper states of a cell and class, by claims about the experiment or about
/// the one whose runs it uses.
pub fn stated(
    study: &LiveStudy,
    paper: &Paper,
    e: &Experiment,
    cell: &ResolvedCell,
    class: &str,
) -> Vec<PaperNumber> {
    let runs_of = paper.runs_of(e);
    let ids = [&e.id, &runs_of.id];
    let here = |(name, value): &(String, String)| {
        runs_of.scope.parameter(name).is_some_and(|i| same_value(&cell.values[i], value))
    };
    let mut found: Vec<PaperNumber> = Vec::new();
    for claim in paper.claims.iter().filter(|c| ids.contains(&&c.experiment)) {
        let Rule::Value(Expected::One(number)) = claim.rule else { continue };
        let fits = claim.of.iter().any(|o| {
            let of = (o.select.metric.as_str(), o.select.class.as_str());
            o.variant == cell.variant
                && of == (study.select.metric.as_str(), class)
                && o.select.at.iter().all(here)
        });
        let new = PaperNumber { place: claim.place.clone(), number };
        if fits && !found.contains(&new) {
            found.push(new);
        }
    }
    found
}
