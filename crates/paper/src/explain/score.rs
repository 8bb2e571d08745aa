//! Claims judged under each combination.

use super::search::{Phase, Study};
use crate::claim::{Claim, Operand, Rule};
use crate::explanation::{Combination, Explanation};
use crate::judge::{Library, Response, judge, response};
use crate::tables::Tables;
use crate::verdict::{ClaimOutcome, Verdict};
use weir_stats::verdict::Judgement;

/// A claim with one thing that it looks at.
#[derive(Clone, Debug)]
pub struct Scorable {
    /// Its position in the paper.
    pub index: usize,
    /// What tables call it.
    pub name: String,
    /// The claim, about this alone.
    pub claim: Claim,
}

/// What came out under a combination.
#[derive(Clone, Debug)]
pub struct Scored {
    /// Which.
    pub combination: Combination,
    /// A verdict per claim.
    pub verdicts: Vec<Verdict>,
    /// Per claim, whether it compares runs with themselves here.
    pub same_runs: Vec<bool>,
    /// What each claim compares, per seed.
    pub responses: Vec<Option<Response>>,
}

/// Whether a claim holds: reproduced, or the same direction.
pub fn holds(outcome: &ClaimOutcome) -> bool {
    use Judgement::{Reproduced, SameDirection};
    matches!(outcome, ClaimOutcome::Judged(Reproduced | SameDirection(_)))
}

impl Scored {
    /// Whether it was run: some claim has a verdict.
    pub fn is_judged(&self) -> bool {
        self.verdicts.iter().any(|v| v.outcome.judgement().is_some())
    }

    /// How many claims hold.
    pub fn held(&self) -> usize {
        self.verdicts.iter().filter(|v| holds(&v.outcome)).count()
    }

    /// How many of them are within the margin of the paper's number.
    pub fn within_margin(&self) -> usize {
        let within = |v: &&Verdict| v.outcome == ClaimOutcome::Judged(Judgement::Reproduced);
        self.verdicts.iter().filter(within).count()
    }
}

/// The claims that are scored, one for each variant that is looked at.
pub fn scorables(study: &Study<'_>) -> Vec<Scorable> {
    let mut all = Vec::new();
    for &index in &study.explanation.claims {
        let claim = &study.paper.claims[index];
        if let Rule::Ordering { .. } = claim.rule {
            all.push(Scorable { index, name: claim.id.clone(), claim: claim.clone() });
            continue;
        }
        let of = study.explanation.looked_at(claim);
        let several = of.len() > 1;
        for o in of {
            let name = match several {
                true => format!("{} ({})", claim.id, claim.label(o)),
                false => claim.id.clone(),
            };
            let claim = Claim { of: vec![o.clone()], ..claim.clone() };
            all.push(Scorable { index, name, claim });
        }
    }
    all
}

/// A claim about the variants of a combination.
fn substituted(claim: &Claim, explanation: &Explanation, combination: &Combination) -> Claim {
    let mut claim = claim.clone();
    let order: &mut [Operand] = match &mut claim.rule {
        Rule::Ordering { order, .. } => order,
        _ => &mut [],
    };
    for o in claim.of.iter_mut().chain(&mut claim.against).chain(order) {
        o.variant = explanation.label(&o.variant, combination);
    }
    claim
}

/// A text with the names that variants have in the paper.
fn named_as_before(text: &str, before: &Claim, after: &Claim) -> String {
    let pairs = after.operands().zip(before.operands());
    pairs.fold(text.to_owned(), |text, (a, b)| text.replace(&a.variant, &b.variant))
}

/// Whether a claim compares runs with themselves: a combination may give two variants the same
/// settings. That they agree says nothing then.
fn compares_runs_with_themselves(claim: &Claim, library: &dyn Library) -> bool {
    let same = |a: &Operand, b: &Operand| {
        let alike = a.experiment == b.experiment && a.select == b.select && a.variant != b.variant;
        let runs = |t: &Tables| t.are_same_runs(&a.variant, &b.variant);
        alike && library.tables(&a.experiment).is_some_and(runs)
    };
    let beside = claim.of.iter().flat_map(|of| claim.against.iter().map(move |other| (of, other)));
    let neighbours = claim.rule.order().windows(2).map(|pair| (&pair[0], &pair[1]));
    beside.chain(neighbours).any(|(a, b)| same(a, b))
}

/// Judges all claims under all combinations.
pub fn score(
    study: &Study<'_>,
    claims: &[Scorable],
    library: &dyn Library,
    phase: Phase,
    combinations: &[Combination],
) -> Vec<Scored> {
    let mode = phase.mode();
    let mut all = Vec::new();
    for combination in combinations {
        let (mut verdicts, mut same_runs, mut responses) = (Vec::new(), Vec::new(), Vec::new());
        for s in claims {
            let claim = substituted(&s.claim, study.explanation, combination);
            let mut verdict = judge(s.index, &claim, library, mode).remove(0);
            verdict.measured = named_as_before(&verdict.measured, &s.claim, &claim);
            verdict.why = named_as_before(&verdict.why, &s.claim, &claim);
            let same = compares_runs_with_themselves(&claim, library);
            if same {
                let why = "under a combination it compares runs with themselves";
                verdict.outcome = ClaimOutcome::LeftOut(why.into());
            }
            verdicts.push(verdict);
            same_runs.push(same);
            responses.push(response(&claim, library, mode));
        }
        all.push(Scored { combination: combination.clone(), verdicts, same_runs, responses });
    }
    all
}

/// Why a claim is not scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    OnlyInFull,
    SameRuns,
}

/// Claims that are not scored, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unscored {
    /// A quick run leaves out what they look at.
    pub only_in_full: Vec<String>,
    /// Some combination gives the variants that they compare the same settings.
    pub same_runs: Vec<String>,
}

/// Leaves out claims that some combination that was run gives no verdict on: all combinations are
/// scored by the same claims.
pub fn leave_out(claims: &mut Vec<Scorable>, scored: &mut [Scored]) -> Unscored {
    let why = |i: usize| {
        let judged = scored.iter().filter(|s| s.is_judged());
        let mut out = judged.filter(|s| matches!(s.verdicts[i].outcome, ClaimOutcome::LeftOut(_)));
        out.next().map(|s| match s.same_runs[i] {
            true => Reason::SameRuns,
            false => Reason::OnlyInFull,
        })
    };
    let reasons: Vec<Option<Reason>> = (0..claims.len()).map(why).collect();
    let names = |why: Reason| {
        let out = claims.iter().zip(&reasons).filter(|(_, reason)| **reason == Some(why));
        out.map(|(c, _)| c.name.clone()).collect()
    };
    let unscored =
        Unscored { only_in_full: names(Reason::OnlyInFull), same_runs: names(Reason::SameRuns) };
    let keep = |i: &mut usize| {
        *i += 1;
        reasons[*i - 1].is_none()
    };
    let mut at = 0;
    claims.retain(|_| keep(&mut at));
    for s in scored {
        let (mut at, mut same, mut other) = (0, 0, 0);
        s.verdicts.retain(|_| keep(&mut at));
        s.same_runs.retain(|_| keep(&mut same));
        s.responses.retain(|_| keep(&mut other));
    }
    unscored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Paper;
    use std::path::Path;
    use weir_stats::verdict::Judgement::Reproduced;

    fn example() -> Paper {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/my-paper");
        Paper::load(&directory).expect("the example")
    }

    /// Under a combination, claims that are judged or left out for a reason.
    fn one<const N: usize>(claims: [Option<Reason>; N]) -> Scored {
        let verdict = |reason: &Option<Reason>| Verdict {
            outcome: match reason {
                Some(why) => ClaimOutcome::LeftOut(format!("{why:?}")),
                None => ClaimOutcome::Judged(Reproduced),
            },
            ..Verdict::default()
        };
        Scored {
            combination: Combination(vec![0]),
            verdicts: claims.iter().map(verdict).collect(),
            same_runs: claims.map(|reason| reason == Some(Reason::SameRuns)).into(),
            responses: vec![None; N],
        }
    }

    /// The second claim compares runs with themselves under the second combination only; the third
    /// looks at what a quick run leaves out.
    #[test]
    fn all_combinations_are_scored_by_the_same_claims() {
        let claim = example().claims.remove(0);
        let scorable = |name: &str| Scorable { index: 0, name: name.into(), claim: claim.clone() };
        let mut claims: Vec<Scorable> = ["a", "b", "c"].map(scorable).into();
        let mut scored =
            [None, Some(Reason::SameRuns)].map(|of_b| one([None, of_b, Some(Reason::OnlyInFull)]));
        let unscored = leave_out(&mut claims, &mut scored);
        assert_eq!(
            (unscored.only_in_full, unscored.same_runs),
            (vec!["c".into()], vec!["b".into()])
        );
        assert_eq!(claims.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a"]);
        assert!(scored.iter().all(|s| s.verdicts.len() == 1 && s.held() == 1));
    }

    #[test]
    fn a_combination_that_was_not_run_leaves_no_claim_out() {
        let claim = example().claims.remove(0);
        let mut claims = vec![Scorable { index: 0, name: "a".into(), claim }];
        let mut scored = [one([None]), one([Some(Reason::OnlyInFull)])];
        assert_eq!(leave_out(&mut claims, &mut scored), Unscored::default());
        assert_eq!(claims.len(), 1);
    }
}
