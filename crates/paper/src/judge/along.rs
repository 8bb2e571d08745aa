//! Claims without a number: orders, trends, flat and straight lines, and contrasts.

use super::estimate::{Estimator, LEVEL, Nature, Why};
use super::words;
use super::{Data, Finding};
use crate::claim::{Claim, Operand};
use weir_stats::verdict::{
    Judgement, Size, Step, Strictness, at_each_point, curvatures, difference_of_ratios_at,
    order_of, trend_of,
};
use weir_stats::{Estimate, Interval, largest_of, median_at};

/// The steps of an order: paired differences of neighbours, alone and at a shared level.
fn steps(rows: &[&[f64]], estimator: &Estimator, alpha: f64) -> Result<Vec<Step>, Why> {
    let count = rows.len().saturating_sub(1) as f64;
    let step = |pair: &[&[f64]]| {
        let at = |alpha| estimator.at(alpha).difference(pair[0], pair[1]);
        Ok(Step {
            alone: at(alpha)?.estimate.interval,
            shared: at(alpha / count)?.estimate.interval,
            next: pair[1].iter().sum::<f64>() / pair[1].len() as f64,
        })
    };
    rows.windows(2).map(step).collect()
}

const PAIRED: &str = "paired differences of neighbours";

pub(super) fn ordering(claim: &Claim, of: &[Operand], data: &Data, strict: bool) -> Finding {
    let strictness = if strict { Strictness::Strict } else { Strictness::UpTo(claim.margin) };
    let operands: Vec<usize> = (0..of.len()).collect();
    let estimator = data.estimator(&operands);
    let points = data.points.len();
    let at = |point: usize, alpha: f64| {
        let rows: Vec<&[f64]> = data.cells.iter().map(|row| row[point].as_slice()).collect();
        steps(&rows, &estimator, alpha).map(|steps| order_of(&steps, strictness))
    };
    let all = |alpha: f64| (0..points).map(|p| at(p, alpha)).collect::<Result<Vec<_>, Why>>();
    let words = words::order(claim, of, data);
    let (each, shared) = match (all(LEVEL), all(LEVEL / points as f64)) {
        (Ok(each), Ok(shared)) => (each, shared),
        (Err(why), _) | (_, Err(why)) => return Finding::open(why, words),
    };
    let judgement = at_each_point(&each, &shared);
    let holds = each.iter().filter(|j| **j == Judgement::Reproduced).count();
    let words = match points {
        1 => words,
        n => format!("{words} in the mean; holds at {holds} of {n} points"),
    };
    let mut finding = Finding::new(judgement, PAIRED, words);
    if judgement == Judgement::NotDistinguishable {
        finding.why = "the interval of a difference contains 0".to_owned();
    }
    finding
}

pub(super) fn monotone(claim: &Claim, data: &Data, rising: bool) -> Finding {
    let words = words::along(claim, data);
    let rows = data.along(claim.quotient());
    if rows.iter().flatten().any(|x| !x.is_finite()) {
        return Finding::open("the denominator is 0".to_owned(), words);
    }
    let sign = if rising { 1.0 } else { -1.0 };
    let rows: Vec<Vec<f64>> =
        rows.iter().map(|row| row.iter().map(|x| sign * x).collect()).collect();
    let columns: Vec<Vec<f64>> =
        (0..data.points.len()).map(|point| rows.iter().map(|row| row[point]).collect()).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let estimator = data.estimator(&[0]);
    let steps = match steps(&columns, &estimator, LEVEL) {
        Ok(steps) => order_of(&steps, Strictness::Strict),
        Err(why) => return Finding::open(why, words),
    };
    let judgement = match data.deterministic {
        // without randomness there is no test: from the first to the last
        true if steps != Judgement::Reproduced => {
            let (first, last) = (columns[0][0], columns[columns.len() - 1][0]);
            match last > first {
                true => Judgement::SameDirection(Size::Open),
                false => Judgement::NotReproduced,
            }
        }
        true => steps,
        false => trend_of(steps, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>()),
    };
    let method = match judgement {
        Judgement::Reproduced => "paired differences of all steps",
        _ => "paired differences of all steps, then Page's L",
    };
    let mut finding = Finding::new(judgement, method, words);
    if judgement == Judgement::NotDistinguishable {
        finding.why = "neither direction can be told from chance".to_owned();
    }
    finding
}

pub(super) fn flat(claim: &Claim, data: &Data, paper: f64) -> Finding {
    let columns: Vec<Vec<f64>> = {
        let rows = data.along(claim.quotient());
        (0..data.points.len()).map(|p| rows.iter().map(|row| row[p]).collect()).collect()
    };
    let pairs = columns.len() * (columns.len() - 1) / 2;
    let alpha = LEVEL / pairs as f64;
    let estimator = data.estimator(&[0]).at(alpha);
    let mut ratios: Vec<Estimate> = Vec::new();
    for (i, a) in columns.iter().enumerate() {
        for b in &columns[i + 1..] {
            for (x, y) in [(a, b), (b, a)] {
                match estimator.ratio(x, y) {
                    Ok(found) => ratios.push(found.estimate),
                    Err(why) => return Finding::open(why, words::along(claim, data)),
                }
            }
        }
    }
    let factor = 1.0 + paper + claim.margin;
    let widest = largest_of(&ratios).unwrap_or(ratios[0]);
    let judgement = match widest.interval {
        i if i.high <= factor => Judgement::Reproduced,
        i if i.low > factor => Judgement::NotReproduced,
        _ => Judgement::NotDistinguishable,
    };
    // the largest over the smallest mean, as a share more than 1
    let share = Estimate {
        value: widest.value - 1.0,
        interval: Interval::new(widest.interval.low - 1.0, widest.interval.high - 1.0),
        seeds: widest.seeds,
    };
    let words = words::more(data, &share);
    let mut finding = Finding::new(judgement, "largest ratio of two points", words);
    if judgement == Judgement::NotDistinguishable {
        finding.why = "the interval contains the limit".to_owned();
    }
    Finding { estimate: Some(share), alpha, ..finding }
}

/// The largest share of the range by which a line may be curved.
const CURVED: f64 = 0.05;

pub(super) fn linear(claim: &Claim, data: &Data) -> Finding {
    let rows = data.along(claim.quotient());
    let words = words::along(claim, data);
    let slices: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let Some(curvatures) = curvatures(&data.numbers, &slices) else {
        return Finding::open("fewer than three different points".to_owned(), words);
    };
    let estimator = Estimator { nature: Nature::Mean, ..data.estimator(&[0]) };
    let curvature = match estimator.value(&curvatures) {
        Ok(found) => found.estimate,
        Err(why) => return Finding::open(why, words),
    };
    let means: Vec<f64> = (0..data.points.len())
        .map(|p| rows.iter().map(|row| row[p]).sum::<f64>() / rows.len() as f64)
        .collect();
    let (first, last) = (means[0], means[means.len() - 1]);
    let range = libm::fabs(last - first);
    let share = |x: f64| x / range;
    let bound = Interval::around(0.0, CURVED);
    let shares = Interval::new(share(curvature.interval.low), share(curvature.interval.high));
    let judgement = if range == 0.0 {
        Judgement::NotReproduced
    } else if shares.within(bound) {
        Judgement::Reproduced
    } else if !shares.meets(bound) {
        // curved, but every step goes the same way
        let columns: Vec<Vec<f64>> =
            (0..data.points.len()).map(|p| rows.iter().map(|row| row[p]).collect()).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        match steps(&columns, &estimator, LEVEL).map(|s| order_of(&s, Strictness::Strict)) {
            Ok(Judgement::Reproduced) => Judgement::SameDirection(Size::Differs),
            _ => Judgement::NotReproduced,
        }
    } else {
        Judgement::NotDistinguishable
    };
    let of_range = Estimate { value: share(curvature.value), interval: shares, ..curvature };
    let words = format!("{words}; {}", words::curved(data, &of_range));
    let mut finding = Finding::new(judgement, "curvature per seed (t)", words);
    if judgement == Judgement::NotDistinguishable {
        finding.why = "the interval of the curvature contains the limit".to_owned();
    }
    Finding { estimate: Some(of_range), ..finding }
}

/// The reduction here minus that of the other experiment, for one other and point.
fn gain(data: &Data, other: usize, point: usize, alpha: f64) -> Result<Estimate, Why> {
    let half = data.cells.len() / 2;
    let cell = |operand: usize| data.cells[operand][point].as_slice();
    let (here, there) = ([cell(0), cell(other)], [cell(half), cell(half + other)]);
    let estimator = data.estimator(&[0, other]).at(alpha);
    let zero = || "a denominator is 0".to_owned();
    // the quotient there minus the quotient here is the reduction here minus the one there
    if estimator.nature == Nature::Maximum || estimator.deterministic {
        let quotient = |[x, y]: [&[f64]; 2], i: usize| x[i] / y[i];
        let differences: Vec<f64> =
            (0..here[0].len()).map(|i| quotient(there, i) - quotient(here, i)).collect();
        if differences.iter().any(|d| !d.is_finite()) {
            return Err(zero());
        }
        if estimator.deterministic {
            return estimator.value(&differences).map(|f| f.estimate);
        }
        let few = || format!("{} seeds in common: too few for maxima", differences.len());
        return median_at(&differences, alpha).ok_or_else(few);
    }
    if here[0].len() < 2 {
        return Err("one seed: no interval".to_owned());
    }
    difference_of_ratios_at(there, here, alpha).ok_or_else(zero)
}

pub(super) fn contrast(claim: &Claim, data: &Data, larger: bool) -> Finding {
    let others = 1..data.cells.len() / 2;
    let pairs: Vec<(usize, usize)> =
        others.flat_map(|o| (0..data.points.len()).map(move |p| (o, p))).collect();
    let all = |alpha: f64| {
        pairs.iter().map(|(o, p)| gain(data, *o, *p, alpha)).collect::<Result<Vec<_>, Why>>()
    };
    let (alone, shared) = match (all(LEVEL), all(LEVEL / pairs.len() as f64)) {
        (Ok(alone), Ok(shared)) => (alone, shared),
        (Err(why), _) | (_, Err(why)) => return Finding::open(why, words::means(claim, data)),
    };
    let judge = |e: &Estimate| {
        let (yes, no) = match larger {
            true => (e.interval.low > 0.0, e.interval.high <= 0.0),
            false => (e.interval.high < 0.0, e.interval.low >= 0.0),
        };
        match (yes, no) {
            (true, _) => Judgement::Reproduced,
            (_, true) => Judgement::NotReproduced,
            _ => Judgement::NotDistinguishable,
        }
    };
    let each: Vec<Judgement> = alone.iter().map(judge).collect();
    let judgement = at_each_point(&each, &shared.iter().map(judge).collect::<Vec<_>>());
    let holds = each.iter().filter(|j| **j == Judgement::Reproduced).count();
    let mut words = words::points(data, &alone);
    if each.len() > 1 {
        words = format!("{words}; holds at {holds} of {}", each.len());
    }
    let mut finding = Finding::new(judgement, "difference of reductions (jackknife)", words);
    if judgement == Judgement::NotDistinguishable {
        finding.why = "the interval of a difference contains 0".to_owned();
    }
    let single = (alone.len() == 1).then_some(alone[0]);
    Finding { estimate: single, ..finding }
}
