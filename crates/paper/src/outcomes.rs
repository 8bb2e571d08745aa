//! Which outcomes a rule can give, found when the claim is read: a rule that cannot fail says
//! nothing and is refused.

use super::claim::{Claim, Expected, Possible, Rule};
use super::claim_rules::{LEAST_POINTS, NEAR, VALUE_FACTOR, unit};
use super::select::Scope;
use weir_core::Unit;
use weir_scenario::Fields;
use weir_scenario::text::Span;
use weir_stats::Interval;
use weir_stats::verdict::{MarginWithoutEffect, NumberClaim, Side};

/// The margin and the side of one stated number: what counts as reproduced, and what at least
/// agrees in direction.
pub(super) fn of_number(claim: &Claim, paper: f64) -> Result<NumberClaim, MarginWithoutEffect> {
    of_range(claim, paper, paper)
}

/// The same of a range in which one number has to lie.
pub(super) fn of_range(
    claim: &Claim,
    low: f64,
    high: f64,
) -> Result<NumberClaim, MarginWithoutEffect> {
    let m = claim.margin;
    let about = |paper: f64, half: f64| Interval::around(paper, half);
    let join = |a: Interval, b: Interval| Interval::new(a.low.min(b.low), a.high.max(b.high));
    match &claim.rule {
        Rule::Value(_) => {
            let near = |p: f64| about(p, m * libm::fabs(p));
            let twice = |p: f64| {
                let (a, b) = (p / VALUE_FACTOR, p * VALUE_FACTOR);
                Interval::new(a.min(b), a.max(b))
            };
            let side = Side::Within(join(twice(low), twice(high)));
            NumberClaim::new(join(near(low), near(high)), side)
        }
        Rule::Reduction(_) => {
            let near = |p: f64| about(p, (m * libm::fabs(p)).max(LEAST_POINTS));
            let side = if low + high > 0.0 { Side::Above(0.0) } else { Side::Below(0.0) };
            NumberClaim::new(join(near(low), near(high)), side)
        }
        Rule::Equal => {
            let side = Side::Within(about(1.0, NEAR));
            NumberClaim::new(about(1.0, m), side)
        }
        Rule::Limit { paper, most } => {
            let slack = libm::fabs(*paper) * NEAR;
            match most {
                true => {
                    let margin = Interval::new(f64::NEG_INFINITY, *paper);
                    NumberClaim::new(margin, Side::AtMost(paper + slack))
                }
                false => {
                    let margin = Interval::new(*paper, f64::INFINITY);
                    NumberClaim::new(margin, Side::AtLeast(paper - slack))
                }
            }
        }
        // a factor
        _ => {
            let near = |p: f64| Interval::new(p / (1.0 + m), p * (1.0 + m));
            let side = if low + high > 2.0 { Side::Above(1.0) } else { Side::Below(1.0) };
            NumberClaim::new(join(near(low), near(high)), side)
        }
    }
}

/// Says which outcomes a claim can have; reports one whose margin contains no effect, and one that
/// cannot fail. `place` is where a key of the claim stands.
pub(super) fn check(
    f: &mut Fields<'_>,
    claim: &Claim,
    scope: &Scope,
    place: impl Fn(&str) -> Option<Span>,
) -> Possible {
    let numbers: Vec<f64> = match &claim.rule {
        Rule::Value(e) | Rule::Reduction(e) | Rule::Ratio { paper: e, .. } => match e {
            Expected::One(x) => vec![*x],
            Expected::Range(a, b) => vec![*a, *b],
        },
        Rule::Equal => vec![1.0],
        Rule::Limit { paper, .. } => vec![*paper],
        _ => Vec::new(),
    };
    if numbers.iter().any(|x| of_number(claim, *x).is_err()) {
        let key = if claim.margin > 0.0 { "margin" } else { "paper" };
        let help = match claim.rule {
            Rule::Equal => "above 25 % use kind = \"limit\" with `against`",
            _ => "a smaller `margin`, or another kind",
        };
        f.error("the margin contains no effect: it could not tell one from none", place(key), help);
    }
    if let Some(why) = certain(claim, scope) {
        f.error(format!("this cannot fail: {why}"), place("paper"), "it would say nothing");
    }
    let measured = !matches!(claim.rule, Rule::NotMeasured { .. });
    let sized = match &claim.rule {
        Rule::Limit { paper, .. } => *paper != 0.0,
        Rule::Ordering { .. } | Rule::Contrast { .. } | Rule::Flat(_) => false,
        // of two points there is only one step
        Rule::Monotone { .. } => claim
            .over
            .first()
            .and_then(|name| scope.parameter(name))
            .is_none_or(|i| scope.values(i).len() > 2),
        _ => measured,
    };
    Possible {
        reproduced: measured,
        same_direction: sized,
        not_reproduced: measured,
        not_distinguishable: measured && !scope.analytic && !scope.deterministic,
        not_stationary: claim.steady,
    }
}

/// Why a rule holds whatever the runs say.
fn certain(claim: &Claim, scope: &Scope) -> Option<String> {
    match &claim.rule {
        Rule::Monotone { rising: true } if scope.analytic && claim.against.is_empty() => {
            Some("the share of flows below a size never falls as the size grows".to_owned())
        }
        Rule::Limit { paper, most: false } if claim.against.is_empty() => {
            // times, sizes and rates are whole numbers of their smallest unit
            let least = match unit(claim.metric()) {
                Unit::Time | Unit::Bytes | Unit::Rate => 1.0,
                _ => 0.0,
            };
            let metric = claim.metric();
            (*paper <= least).then(|| format!("`{metric}` is as large as that wherever it exists"))
        }
        Rule::Limit { paper, most: true } if claim.against.is_empty() => {
            let share = matches!(unit(claim.metric()), Unit::Share | Unit::Flag);
            (share && *paper >= 1.0).then(|| "a share is at most 1".to_owned())
        }
        _ => None,
    }
}
