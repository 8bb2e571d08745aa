//! Which reading of a paper is its primary one.
//!
//! A statement (a place and what is said there) may be read in several ways: by several claims, and
//! by several variants of one claim. One of them is primary and is counted first. The variants that
//! are other readings of a paper are listed in its `paper.toml`; of several claims about one
//! statement the one that says so is primary, else the first that is not calibrated.

use super::claim::{Claim, Operand, Rule};
use weir_scenario::ports::matches;

/// Marks operands and claims; `others` are patterns of variants that are other readings.
pub(super) fn mark(claims: &mut [Claim], others: &[String]) {
    for claim in claims.iter_mut() {
        let order = match &mut claim.rule {
            Rule::Ordering { order, .. } => order.as_mut_slice(),
            _ => &mut [],
        };
        for o in claim.of.iter_mut().chain(&mut claim.against).chain(order) {
            o.other_reading = others.iter().any(|pattern| matches(pattern, &o.variant));
        }
    }
    let statement = |c: &Claim| (c.place.clone(), c.says.clone());
    let primary: Vec<bool> = claims
        .iter()
        .map(|claim| {
            let same: Vec<&Claim> =
                claims.iter().filter(|c| statement(c) == statement(claim)).collect();
            match same.iter().any(|c| c.primary) {
                true => claim.primary,
                false => {
                    let first = same.iter().find(|c| !c.calibrated && by_primary_variants(c));
                    first.is_some_and(|c| c.id == claim.id)
                }
            }
        })
        .collect();
    for (claim, primary) in claims.iter_mut().zip(primary) {
        claim.primary = primary;
    }
}

/// Whether it looks at a variant of the primary reading.
fn by_primary_variants(claim: &Claim) -> bool {
    let own = |o: &Operand| !o.other_reading;
    match &claim.rule {
        Rule::Ordering { order, .. } => order.iter().all(own),
        Rule::NotMeasured { .. } => true,
        _ => claim.of.iter().any(own) && claim.against.iter().all(own),
    }
}
