//! Claims judged under each combination.

use super::search::{Phase, Study};
use crate::claim::{Claim, Operand, Rule};
use crate::explanation::{Combination, Explanation};
use crate::judge::{Library, Response, judge, response};
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
    /// What each claim compares, per seed.
    pub responses: Vec<Option<Response>>,
}

/// Whether a claim holds: reproduced, or the same direction.
pub fn holds(outcome: &ClaimOutcome) -> bool {
    use Judgement::{Reproduced, SameDirection};
    matches!(outcome, ClaimOutcome::Judged(Reproduced | SameDirection(_)))
}

impl Scored {
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
        let (mut verdicts, mut responses) = (Vec::new(), Vec::new());
        for s in claims {
            let claim = substituted(&s.claim, study.explanation, combination);
            let mut verdict = judge(s.index, &claim, library, mode).remove(0);
            verdict.measured = named_as_before(&verdict.measured, &s.claim, &claim);
            verdict.why = named_as_before(&verdict.why, &s.claim, &claim);
            verdicts.push(verdict);
            responses.push(response(&claim, library, mode));
        }
        all.push(Scored { combination: combination.clone(), verdicts, responses });
    }
    all
}

/// Leaves out claims that no combination gives a verdict on: a quick run leaves out what they look
/// at. Returns their names.
pub fn leave_out(claims: &mut Vec<Scorable>, scored: &mut [Scored]) -> Vec<String> {
    let judged = |i: usize| {
        let mut all = scored.iter().map(|s| &s.verdicts[i].outcome);
        all.any(|o| !matches!(o, ClaimOutcome::LeftOut(_)))
    };
    let stays: Vec<bool> = (0..claims.len()).map(judged).collect();
    let out = claims.iter().zip(&stays).filter(|(_, stays)| !**stays);
    let names = out.map(|(c, _)| c.name.clone()).collect();
    let keep = |i: &mut usize| {
        *i += 1;
        stays[*i - 1]
    };
    let mut at = 0;
    claims.retain(|_| keep(&mut at));
    for s in scored {
        let (mut at, mut other) = (0, 0);
        s.verdicts.retain(|_| keep(&mut at));
        s.responses.retain(|_| keep(&mut other));
    }
    names
}
