//! Which reading of a paper is its primary one.
//!
//! A statement (a place and what is said there) may be read in several ways: by several claims, and
//! by several variants of one claim. One of them is primary and is counted first. The variants and
//! experiments that are other readings of a paper are listed in its `paper.toml`; of several claims
//! about one statement the one that says so is primary, else the first that is not calibrated.
//! Claims with the same words in `reading` are the same reading, of other experiments for instance.

use super::claim::{Claim, Operand, Rule};
use weir_scenario::ports::matches;

/// Marks operands and claims; `others` are patterns of variants and experiments.
pub(super) fn mark(claims: &mut [Claim], others: &[String]) {
    for claim in claims.iter_mut() {
        let order = match &mut claim.rule {
            Rule::Ordering { order, .. } => order.as_mut_slice(),
            _ => &mut [],
        };
        for o in claim.of.iter_mut().chain(&mut claim.against).chain(order) {
            let other = |p: &String| matches(p, &o.variant) || matches(p, &o.experiment);
            o.other_reading = others.iter().any(other);
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
                    let like = |c: &&Claim| c.reading == claim.reading && !claim.calibrated;
                    first.is_some_and(like) && by_primary_variants(claim)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim_read;
    use crate::select::Scope;
    use weir_scenario::text::{Diagnostics, Sources};

    #[test]
    fn the_first_reading_is_primary_in_every_experiment_and_listed_variants_are_not() {
        let scope = |id: &str| Scope {
            id: id.into(),
            variants: ["A", "A (and)", "B"].map(str::to_owned).to_vec(),
            points: vec![Vec::new()],
            ..Scope::default()
        };
        let (x, y) = (scope("X"), scope("Y"));
        let claim = |id: &str, experiment: &str, more: &str| {
            format!(
                "[[claim]]\nid = \"{id}\"\nexperiment = \"{experiment}\"\nsays = \"so\"\n\
                 kind = \"equal\"\nmetric = \"fct_mean_ps\"\nagainst = \"B\"\n{more}\n"
            )
        };
        let text = [
            claim("fit", "X", "of = \"A\"\ncalibrated = true"),
            claim("one", "X", "of = [\"A\", \"A (and)\"]\nreading = \"mean\""),
            claim("two", "X", "of = \"A\"\nreading = \"largest\""),
            claim("there", "Y", "of = \"A\"\nreading = \"mean\""),
        ];
        let mut sources = Sources::default();
        let id = sources.add("claims.toml", text.concat());
        let mut out = Diagnostics::default();
        let mut claims = claim_read::read(&sources, id, &[&x, &y], &mut out);
        assert!(!out.has_errors(), "{}", out.plain(&sources));
        mark(&mut claims, &["*(and)".to_owned()]);
        let primary: Vec<&str> =
            claims.iter().filter(|c| c.primary).map(|c| c.id.as_str()).collect();
        assert_eq!(primary, ["one", "there"]);
        assert_eq!(claims[1].of.iter().map(|o| o.other_reading).collect::<Vec<_>>(), [false, true]);
        // one that says so is primary alone
        claims.iter_mut().for_each(|c| c.primary = c.id == "two");
        mark(&mut claims, &[]);
        assert!(claims.iter().all(|c| c.primary == (c.id == "two")));
    }
}
