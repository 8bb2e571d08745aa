//! From runs to what they say: the search step by step, and the confirmation.

use super::answer::Answer;
use super::effects::effects;
use super::record::{Confirmation, Found};
use super::score::{Scored, leave_out, scorables, score};
use super::search::{Phase, Study};
use crate::experiment::Mode;
use crate::explanation::Combination;
use weir_sweep::SweepError;

/// Judges what there is of the search over these combinations.
pub fn found(study: &Study<'_>, tried: &[Combination]) -> Result<Found, SweepError> {
    let shelf = study.collect(Phase::Search)?;
    let mut claims = scorables(study);
    let mut scored = score(study, &claims, &shelf, Phase::Search, tried);
    let unscored = leave_out(&mut claims, &mut scored);
    let answer = Answer::new(study.explanation, &scored, claims.len());
    let effects = effects(study.explanation, &scored, claims.len());
    Ok(Found { claims, unscored, scored, runs: shelf.runs, answer, effects })
}

/// What is to be tried next; empty when the search has ended.
pub fn further(study: &Study<'_>, found: &Found) -> Vec<Combination> {
    let tried: Vec<Combination> = found.scored.iter().map(|s| s.combination.clone()).collect();
    let best = |s: &&Scored| (s.held(), s.within_margin());
    // the first of those that are best has the fewest departures
    let best = found.scored.iter().rev().max_by_key(best);
    best.map_or_else(Vec::new, |b| study.explanation.further(&b.combination, &tried))
}

/// Judges what there is of the confirmation of these combinations.
pub fn confirmed(
    study: &Study<'_>,
    phase: Phase,
    combinations: &[Combination],
) -> Result<Confirmation, SweepError> {
    let shelf = study.collect(phase)?;
    let mut claims = scorables(study);
    let mut scored = score(study, &claims, &shelf, phase, combinations);
    leave_out(&mut claims, &mut scored);
    Ok(Confirmation { phase, claims, scored, runs: shelf.runs })
}

/// What was confirmed before of these combinations, at the largest scale; `None` if nothing was.
pub fn earlier(
    study: &Study<'_>,
    combinations: &[Combination],
) -> Result<Option<Confirmation>, SweepError> {
    for mode in [Mode::Full, Mode::Quick] {
        let phase = Phase::Confirm(mode);
        let mut all = confirmed(study, phase, combinations)?;
        all.scored.retain(Scored::is_judged);
        if !all.scored.is_empty() {
            return Ok(Some(all));
        }
    }
    Ok(None)
}
