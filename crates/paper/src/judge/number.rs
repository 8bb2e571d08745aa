//! Claims that state a number: values, reductions, factors, equality and limits.

use super::estimate::{BOTH_ZERO, Found, LEVEL, Why};
use super::words;
use super::{Data, Finding};
use crate::claim::{Claim, Expected, Pick, Rule};
use crate::outcomes::{of_number, of_range};
use weir_stats::verdict::{Judgement, NumberClaim, Size, at_each_point};
use weir_stats::{Estimate, Interval, largest_of, seeds, smallest_of};

/// The numbers that a claim is about: one per point and other to compare with.
struct Numbers<'a> {
    claim: &'a Claim,
    data: &'a Data,
    /// Operand to compare with and point of each.
    pairs: Vec<(Option<usize>, usize)>,
}

impl<'a> Numbers<'a> {
    fn new(claim: &'a Claim, data: &'a Data) -> Self {
        let others: Vec<Option<usize>> = match data.cells.len() {
            1 => vec![None],
            n => (1..n).map(Some).collect(),
        };
        let points = 0..data.points.len();
        let pairs = others.iter().flat_map(|o| points.clone().map(|p| (*o, p))).collect();
        Self { claim, data, pairs }
    }

    fn one(&self, (other, point): (Option<usize>, usize), alpha: f64) -> Result<Found, Why> {
        let x = &self.data.cells[0][point];
        let Some(other) = other else {
            return self.data.estimator(&[0]).at(alpha).value(x);
        };
        let y = &self.data.cells[other][point];
        let estimator = self.data.estimator(&[0, other]).at(alpha);
        let found = match self.claim.rule {
            Rule::Ratio { inverse: false, .. } => estimator.ratio(y, x),
            _ => estimator.ratio(x, y),
        };
        match found {
            // two zeros are equal
            Err(why) if why == BOTH_ZERO && self.claim.rule == Rule::Equal => {
                let interval = Interval::point(1.0);
                let estimate = Estimate { value: 1.0, interval, seeds: x.len() };
                Ok(Found { estimate, method: "both are 0" })
            }
            other => other.map(|f| self.shaped(f)),
        }
    }

    fn shaped(&self, found: Found) -> Found {
        let Rule::Reduction(_) = self.claim.rule else { return found };
        let Found { estimate: e, method } = found;
        let interval = e.interval.reduction();
        Found { estimate: Estimate { value: 1.0 - e.value, interval, seeds: e.seeds }, method }
    }

    fn all(&self, alpha: f64) -> Result<Vec<Found>, Why> {
        self.pairs.iter().map(|pair| self.one(*pair, alpha)).collect()
    }

    /// The mean over all points: geometric for ratios.
    fn mean(&self) -> Result<Found, Why> {
        let row = |operand: usize, point: usize| self.data.cells[operand][point].as_slice();
        if self.pairs[0].0.is_none() {
            let points = self.pairs.len() as f64;
            let seed =
                |s: usize| self.pairs.iter().map(|(_, p)| row(0, *p)[s]).sum::<f64>() / points;
            let means: Vec<f64> = (0..self.data.seeds()).map(seed).collect();
            return self.data.estimator(&[0]).value(&means);
        }
        let pair = |(other, point): &(Option<usize>, usize)| {
            let (x, y) = (row(0, *point), row(other.unwrap_or(0), *point));
            match self.claim.rule {
                Rule::Ratio { inverse: false, .. } => (y, x),
                _ => (x, y),
            }
        };
        let pairs: Vec<(&[f64], &[f64])> = self.pairs.iter().map(pair).collect();
        let operands: Vec<usize> = (0..self.data.cells.len()).collect();
        self.data.estimator(&operands).mean_ratio(&pairs).map(|f| self.shaped(f))
    }
}

/// What the paper states as one number; a limit and equality are compared with themselves.
fn stated(claim: &Claim) -> Expected {
    match &claim.rule {
        Rule::Value(e) | Rule::Reduction(e) | Rule::Ratio { paper: e, .. } => *e,
        Rule::Limit { paper, .. } => Expected::One(*paper),
        _ => Expected::One(1.0),
    }
}

pub(super) fn number(claim: &Claim, data: &Data) -> Finding {
    let numbers = Numbers::new(claim, data);
    match judged(claim, &numbers) {
        Ok(finding) => finding,
        Err(why) if why == BOTH_ZERO => {
            // no effect at all, in any run
            Finding::new(Judgement::NotReproduced, "both are 0", why)
        }
        Err(why) => {
            let words = words::means(claim, data);
            Finding::open(why, words)
        }
    }
}

fn judged(claim: &Claim, numbers: &Numbers<'_>) -> Result<Finding, Why> {
    let count = numbers.pairs.len();
    let shared = LEVEL / count as f64;
    // a claim whose margin contains no effect was refused when it was read
    let rule = |paper| of_number(claim, paper).map_err(|_| "its margin contains no effect");
    match (stated(claim), claim.pick) {
        (Expected::Range(low, high), _) if count == 1 => {
            let rule = of_range(claim, low, high).map_err(|_| "its margin contains no effect")?;
            Ok(single(numbers, &rule, numbers.one(numbers.pairs[0], LEVEL)?, LEVEL))
        }
        (Expected::Range(low, high), _) => {
            Ok(range(numbers, &rule(low)?, &rule(high)?, numbers.all(shared)?, shared))
        }
        (Expected::One(paper), Pick::Max | Pick::Min) => {
            let all = numbers.all(shared)?;
            let estimates: Vec<Estimate> = all.iter().map(|f| f.estimate).collect();
            let extreme = match claim.pick {
                Pick::Max => largest_of(&estimates),
                _ => smallest_of(&estimates),
            };
            let estimate = extreme.unwrap_or(estimates[0]);
            Ok(single(numbers, &rule(paper)?, Found { estimate, ..all[0] }, shared))
        }
        (Expected::One(paper), Pick::Mean) => {
            Ok(single(numbers, &rule(paper)?, numbers.mean()?, LEVEL))
        }
        (Expected::One(paper), _) if count == 1 => {
            Ok(single(numbers, &rule(paper)?, numbers.one(numbers.pairs[0], LEVEL)?, LEVEL))
        }
        (Expected::One(paper), _) => {
            Ok(each(numbers, &rule(paper)?, &numbers.all(LEVEL)?, &numbers.all(shared)?))
        }
    }
}

/// One number decides.
fn single(numbers: &Numbers<'_>, rule: &NumberClaim, found: Found, alpha: f64) -> Finding {
    let (e, claim) = (found.estimate, numbers.claim);
    let judgement = rule.judge(e.value, e.interval);
    let words = words::estimate(claim, numbers.data, &found);
    let mut finding = Finding::new(judgement, found.method, words);
    if judgement == Judgement::NotDistinguishable {
        finding.why = words::contains(claim, e.interval);
        let half = rule.distance(e.value);
        finding.needed = seeds::scaled(e.seeds, e.interval.half_width(), half);
    }
    Finding { estimate: Some(e), alpha, ..finding }
}

/// The smallest and the largest number against the two ends of a stated range.
fn range(
    numbers: &Numbers<'_>,
    low: &NumberClaim,
    high: &NumberClaim,
    all: Vec<Found>,
    alpha: f64,
) -> Finding {
    let estimates: Vec<Estimate> = all.iter().map(|f| f.estimate).collect();
    let ends = smallest_of(&estimates).zip(largest_of(&estimates));
    let (least, most) = ends.unwrap_or((estimates[0], estimates[0]));
    let both = [low.judge(least.value, least.interval), high.judge(most.value, most.interval)];
    let judgement = at_each_point(&both, &both);
    let words = words::span(numbers.claim, numbers.data, &estimates);
    let mut finding = Finding::new(judgement, all[0].method, words);
    if judgement == Judgement::NotDistinguishable {
        let open = if both[0] == Judgement::NotDistinguishable { least } else { most };
        finding.why = words::contains(numbers.claim, open.interval);
    }
    Finding { alpha, ..finding }
}

/// Every number decides.
fn each(numbers: &Numbers<'_>, rule: &NumberClaim, alone: &[Found], shared: &[Found]) -> Finding {
    let judge = |f: &Found| rule.judge(f.estimate.value, f.estimate.interval);
    let each: Vec<Judgement> = alone.iter().map(judge).collect();
    let judgement = at_each_point(&each, &shared.iter().map(judge).collect::<Vec<_>>());
    let estimates: Vec<Estimate> = alone.iter().map(|f| f.estimate).collect();
    let reproduced = each.iter().filter(|j| **j == Judgement::Reproduced).count();
    let same = |j: &&Judgement| matches!(j, Judgement::SameDirection(Size::Open | Size::Differs));
    let span = words::span(numbers.claim, numbers.data, &estimates);
    let words = format!(
        "{span}; of {} points {reproduced} reproduced, {} same direction",
        each.len(),
        each.iter().filter(same).count()
    );
    let mut finding = Finding::new(judgement, alone[0].method, words);
    if judgement == Judgement::NotDistinguishable {
        let open = |(j, _): &(&Judgement, &Estimate)| **j == Judgement::NotDistinguishable;
        let first = each.iter().zip(&estimates).find(open);
        finding.why = match first {
            Some((_, e)) => words::contains(numbers.claim, e.interval),
            None => "a point fails, but not at a level shared among all".to_owned(),
        };
    }
    finding
}
