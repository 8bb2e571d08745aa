//! Judging claims: the rule that a claim states, applied to the numbers of an experiment.
//!
//! A verdict is a pure function of the claim and of the means over seeds. Intervals are jackknife
//! intervals over seeds: the statistic is worked out with each seed left out of all variants at
//! once, so that what all variants of a seed have in common (its traffic) cancels out.

use super::claim::{Claim, Expected, Operand, Pick, Rule};
use super::claim_rules::{
    FLAT_FACTOR, LEAST_POINTS, NEAR, STRAIGHT, VALUE_FACTOR, operand, shown, signed_percent,
};
use super::tables::Tables;
use weir_results::stats::student_t;
use weir_sweep::quantity::Quantity;

/// What a comparison with the paper comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Within the margin that the claim states.
    Reproduced,
    /// The direction holds, the size differs.
    SameDirection,
    /// Neither.
    NotReproduced,
    /// It cannot be checked here.
    NotMeasured(String),
    /// The quick run leaves out what it is about.
    LeftOut(String),
    /// There is no number to compare.
    Missing(String),
}

impl Outcome {
    /// In a word or two.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SameDirection => "same direction",
            Self::NotReproduced => "not reproduced",
            Self::NotMeasured(_) => "not measured",
            Self::LeftOut(_) => "only in full",
            Self::Missing(_) => "missing",
        }
    }

    /// The outcome of this name; `why` there is no comparison.
    pub fn named(name: &str, why: String) -> Option<Self> {
        let all = [
            Self::Reproduced,
            Self::SameDirection,
            Self::NotReproduced,
            Self::NotMeasured(why.clone()),
            Self::LeftOut(why.clone()),
            Self::Missing(why),
        ];
        all.into_iter().find(|o| o.name() == name)
    }

    /// Why there is no comparison.
    pub fn why(&self) -> &str {
        match self {
            Self::NotMeasured(why) | Self::LeftOut(why) | Self::Missing(why) => why,
            _ => "",
        }
    }
}

/// One comparison with a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The claim, by position.
    pub claim: usize,
    /// Which of several readings: the label of the variant.
    pub reading: String,
    /// What was measured, for people.
    pub measured: String,
    /// The number behind it, where it is one.
    pub value: Option<f64>,
    /// Its 95 % confidence interval over seeds, where there are several.
    pub interval: Option<(f64, f64)>,
    /// What the paper states, for people.
    pub paper: String,
    /// The rule, in words.
    pub rule: String,
    /// What it comes to.
    pub outcome: Outcome,
    /// How many runs it rests on.
    pub runs: usize,
}

/// Judges a claim: one verdict, or one for each of several `of`s. `quick` says that points may be
/// left out on purpose.
pub fn judge(index: usize, claim: &Claim, tables: &Tables, quick: bool) -> Vec<Verdict> {
    let of: Vec<&[Operand]> = match &claim.rule {
        Rule::Ordering { order, .. } => vec![order.as_slice()],
        Rule::NotMeasured { .. } => vec![&[]],
        _ => claim.of.chunks(1).collect(),
    };
    let several = claim.of.len() > 1;
    let one = |of: &[Operand]| {
        let mut verdict = Verdict {
            claim: index,
            reading: if several { claim.label(&of[0]) } else { String::new() },
            measured: String::new(),
            value: None,
            interval: None,
            paper: claim.paper(),
            rule: claim.rule_words(),
            outcome: Outcome::Missing(String::new()),
            runs: 0,
        };
        if let Rule::NotMeasured { why } = &claim.rule {
            verdict.outcome = Outcome::NotMeasured(why.clone());
            return verdict;
        }
        match Data::new(claim, of, tables, quick) {
            Err(outcome) => verdict.outcome = outcome,
            Ok(data) => fill(&mut verdict, claim, of, &data),
        }
        verdict
    };
    of.into_iter().map(one).collect()
}

fn fill(verdict: &mut Verdict, claim: &Claim, of: &[Operand], data: &Data) {
    let means = data.means(None);
    let found = finding(claim, &means, &data.numbers);
    verdict.runs = data.runs();
    verdict.outcome = found.outcome;
    verdict.value = found.value.filter(|x| x.is_finite());
    verdict.interval = verdict.value.and_then(|x| {
        let half = data.half_width(|means| finding(claim, means, &data.numbers).value)?;
        Some((x - half, x + half))
    });
    verdict.measured = match &claim.rule {
        Rule::Ordering { .. } => ordering_words(claim, of, &means),
        Rule::Monotone { .. } if found.words.is_empty() => along_words(claim, data, &means),
        _ => found.words,
    };
    if let Some((low, high)) = verdict.interval.filter(|(low, high)| low < high) {
        verdict.measured = claim.with_interval(&verdict.measured, (high - low) / 2.0);
    }
}

/// The numbers of all operands at all points.
struct Data {
    /// Values of the parameters of `over`, per point.
    points: Vec<Vec<String>>,
    /// The same as numbers, for straight lines.
    numbers: Vec<f64>,
    /// Per operand and point the number of each seed; the same seeds everywhere.
    cells: Vec<Vec<Vec<f64>>>,
}

impl Data {
    fn new(claim: &Claim, of: &[Operand], tables: &Tables, quick: bool) -> Result<Self, Outcome> {
        let operands: Vec<&Operand> = of.iter().chain(&claim.against).collect();
        let left_out = |why: String| match quick {
            true => Outcome::LeftOut(why),
            false => Outcome::Missing(why),
        };
        let mut cells = Vec::new();
        let mut points: Vec<Vec<String>> = Vec::new();
        let mut seeds: Option<Vec<u64>> = None;
        for o in operands {
            let own = |c: &super::tables::Cell| c.variant == o.variant;
            let found: Vec<_> = tables.select(&o.select).into_iter().filter(own).collect();
            if found.is_empty() {
                return Err(left_out(format!("there are no runs of {}", operand(o))));
            }
            let key = |c: &super::tables::Cell| {
                let value = |name: &String| {
                    let at = tables.parameters.iter().position(|p| p == name);
                    at.map_or_else(String::new, |i| c.values[i].clone())
                };
                claim.over.iter().map(value).collect::<Vec<_>>()
            };
            if points.is_empty() {
                points = found.iter().map(key).collect();
            }
            let mut row = Vec::new();
            for point in &points {
                let cell = found.iter().find(|c| key(c) == *point).ok_or_else(|| {
                    left_out(format!("there are no runs of {} at {}", operand(o), point.join(", ")))
                })?;
                if let Some((seed, why)) = cell.missing.first() {
                    let place = operand(o);
                    return Err(Outcome::Missing(format!("{place}, seed {seed}: {why}")));
                }
                let own: Vec<u64> = cell.seeds.iter().map(|(seed, _)| *seed).collect();
                if *seeds.get_or_insert_with(|| own.clone()) != own {
                    return Err(Outcome::Missing(format!("{} has other seeds", operand(o))));
                }
                row.push(cell.seeds.iter().map(|(_, x)| *x).collect());
            }
            cells.push(row);
        }
        let least = match claim.rule {
            Rule::Linear => 3,
            Rule::Flat(_) | Rule::Monotone { .. } => 2,
            _ => 1,
        };
        if points.len() < least {
            return Err(left_out(format!("only {} of `{}`", points.len(), claim.over.join(", "))));
        }
        let number = |p: &Vec<String>| p.first().and_then(|v| Quantity::read(v)).map(|q| q.number);
        let numbers = points.iter().enumerate();
        let numbers = numbers.map(|(i, p)| number(p).unwrap_or(i as f64)).collect();
        Ok(Self { points, numbers, cells })
    }

    fn seeds(&self) -> usize {
        self.cells[0][0].len()
    }

    fn runs(&self) -> usize {
        self.cells.iter().flatten().map(Vec::len).sum()
    }

    /// Means over seeds per operand and point, one seed left out.
    fn means(&self, without: Option<usize>) -> Vec<Vec<f64>> {
        let mean = |xs: &Vec<f64>| {
            let kept = xs.iter().enumerate().filter(|(i, _)| Some(*i) != without);
            let (mut n, mut sum) = (0u32, 0.0);
            for (_, x) in kept {
                n += 1;
                sum += x;
            }
            sum / f64::from(n.max(1))
        };
        self.cells.iter().map(|row| row.iter().map(mean).collect()).collect()
    }

    /// Half the width of the 95 % interval of a statistic, by leaving out each seed in turn.
    fn half_width(&self, statistic: impl Fn(&[Vec<f64>]) -> Option<f64>) -> Option<f64> {
        let n = self.seeds();
        if n < 2 {
            return None;
        }
        let without = (0..n).map(|i| statistic(&self.means(Some(i))).filter(|x| x.is_finite()));
        let without = without.collect::<Option<Vec<f64>>>()?;
        let mean = without.iter().sum::<f64>() / n as f64;
        let squares: f64 = without.iter().map(|x| (x - mean) * (x - mean)).sum();
        let variance = squares * (n - 1) as f64 / n as f64;
        Some(student_t(n - 1) * libm::sqrt(variance))
    }
}

/// What a rule says about means per operand and point.
struct Finding {
    outcome: Outcome,
    value: Option<f64>,
    words: String,
}

fn finding(claim: &Claim, means: &[Vec<f64>], across: &[f64]) -> Finding {
    let quotients;
    let of = match claim.quotient() {
        true => {
            quotients = pairs(means, |of, against| of / against);
            &quotients
        }
        false => &means[0],
    };
    if of.iter().any(|x| x.is_nan()) {
        let words = "both are 0".to_owned();
        return Finding { outcome: Outcome::NotReproduced, value: None, words };
    }
    match &claim.rule {
        Rule::Value(paper) => compared(claim, *paper, of.clone(), near_value, factor_of_two),
        Rule::Reduction(paper) => {
            let shares = pairs(means, |of, against| 1.0 - of / against);
            compared(claim, *paper, shares, near_share, same_sign)
        }
        Rule::Ratio { paper, inverse } => {
            let ratios = match inverse {
                false => pairs(means, |of, against| against / of),
                true => pairs(means, |of, against| of / against),
            };
            compared(claim, *paper, ratios, near_factor, |x, _| x > 1.0)
        }
        Rule::Equal => {
            let differences = pairs(means, |of, against| of / against - 1.0);
            equal(claim, &differences)
        }
        Rule::Limit { paper, most } => limit(claim, *paper, *most, of),
        Rule::Ordering { strict, .. } => ordering(claim, means, *strict),
        Rule::Flat(paper) => flat(claim, *paper, of),
        Rule::Monotone { rising } => monotone(claim, *rising, of),
        Rule::Linear => linear(claim, of, across),
        Rule::NotMeasured { why } => Finding {
            outcome: Outcome::NotMeasured(why.clone()),
            value: None,
            words: String::new(),
        },
    }
}

fn decide(reproduced: bool, same_direction: bool) -> Outcome {
    match (reproduced, same_direction) {
        (true, _) => Outcome::Reproduced,
        (false, true) => Outcome::SameDirection,
        _ => Outcome::NotReproduced,
    }
}

/// A number of the first operand with each of the others, at every point. Nothing over nothing is
/// no number.
fn pairs(means: &[Vec<f64>], of: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let others = means[1..].iter();
    others.flat_map(|against| means[0].iter().zip(against).map(|(x, y)| of(*x, *y))).collect()
}

fn near_value(x: f64, paper: f64, margin: f64) -> bool {
    libm::fabs(x - paper) <= margin * libm::fabs(paper)
}

fn factor_of_two(x: f64, paper: f64) -> bool {
    let (low, high) = (paper / VALUE_FACTOR, paper * VALUE_FACTOR);
    x >= low.min(high) && x <= low.max(high)
}

fn near_share(x: f64, paper: f64, margin: f64) -> bool {
    libm::fabs(x - paper) <= (margin * libm::fabs(paper)).max(LEAST_POINTS)
}

fn same_sign(x: f64, paper: f64) -> bool {
    x * paper > 0.0
}

fn near_factor(x: f64, paper: f64, margin: f64) -> bool {
    x <= paper * (1.0 + margin) && x >= paper / (1.0 + margin)
}

/// Numbers against what the paper states, as the claim picks them.
fn compared(
    claim: &Claim,
    paper: Expected,
    numbers: Vec<f64>,
    near: impl Fn(f64, f64, f64) -> bool,
    direction: impl Fn(f64, f64) -> bool,
) -> Finding {
    if numbers.iter().any(|x| x.is_nan()) {
        let words = "both are 0".to_owned();
        return Finding { outcome: Outcome::NotReproduced, value: None, words };
    }
    let (low, high) = extent(&numbers);
    if let (Pick::Range, Expected::Range(from, to)) = (claim.pick, paper) {
        let m = claim.margin;
        let (reproduced, same, value) = match low == high {
            // one number lies in the range, or near its ends
            true => {
                let inside = low >= from && low <= to;
                let reproduced = inside || near(low, from, m) || near(low, to, m);
                (reproduced, direction(low, from) || direction(low, to), Some(low))
            }
            false => {
                let reproduced = near(low, from, m) && near(high, to, m);
                (reproduced, direction(low, from) && direction(high, to), None)
            }
        };
        let words = span_words(claim, low, high);
        return Finding { outcome: decide(reproduced, same), value, words };
    }
    let Expected::One(paper) = paper else {
        unreachable!("a range of numbers is read with `pick = \"range\"`")
    };
    let picked = match claim.pick {
        Pick::Max => Some(high),
        Pick::Min => Some(low),
        Pick::Mean => Some(numbers.iter().sum::<f64>() / numbers.len() as f64),
        Pick::Each | Pick::Range if numbers.len() == 1 => Some(low),
        Pick::Each | Pick::Range => None,
    };
    match picked {
        Some(x) => Finding {
            outcome: decide(near(x, paper, claim.margin), direction(x, paper)),
            value: Some(x),
            words: claim.number(x),
        },
        None => Finding {
            outcome: decide(
                numbers.iter().all(|x| near(*x, paper, claim.margin)),
                numbers.iter().all(|x| direction(*x, paper)),
            ),
            value: None,
            words: span_words(claim, low, high),
        },
    }
}

fn extent(numbers: &[f64]) -> (f64, f64) {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    (low, numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

fn span_words(claim: &Claim, low: f64, high: f64) -> String {
    span(claim.number(low), &claim.number(high))
}

/// From one number to another; once if both are written alike.
fn span(low: String, high: &str) -> String {
    if low == high { low } else { format!("{low} to {high}") }
}

/// Picks the number that decides, where larger is worse unless `least`.
fn picked(claim: &Claim, numbers: &[f64]) -> Vec<f64> {
    let (low, high) = extent(numbers);
    match claim.pick {
        Pick::Max => vec![high],
        Pick::Min => vec![low],
        Pick::Mean => vec![numbers.iter().sum::<f64>() / numbers.len() as f64],
        Pick::Each | Pick::Range => numbers.to_vec(),
    }
}

fn equal(claim: &Claim, differences: &[f64]) -> Finding {
    // two zeros are equal
    let differences: Vec<f64> =
        differences.iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect();
    let chosen = picked(claim, &differences);
    let within = |share: f64| chosen.iter().all(|x| libm::fabs(*x) <= share);
    let (low, high) = extent(&chosen);
    let words = span(signed_percent(low), &signed_percent(high));
    let value = (low == high).then_some(low);
    Finding { outcome: decide(within(claim.margin), within(NEAR)), value, words }
}

fn limit(claim: &Claim, paper: f64, most: bool, numbers: &[f64]) -> Finding {
    let chosen = picked(claim, numbers);
    let near = libm::fabs(paper) * NEAR;
    let holds = |slack: f64| match most {
        true => chosen.iter().all(|x| *x <= paper + slack),
        false => chosen.iter().all(|x| *x >= paper - slack),
    };
    let (low, high) = extent(&chosen);
    let value = (low == high).then_some(low);
    Finding { outcome: decide(holds(0.0), holds(near)), value, words: span_words(claim, low, high) }
}

fn in_order(numbers: &[f64], strict: bool, margin: f64) -> bool {
    numbers.windows(2).all(|pair| match strict {
        true => pair[0] < pair[1],
        false => pair[0] <= pair[1] + margin * libm::fabs(pair[1]),
    })
}

fn ordering(claim: &Claim, means: &[Vec<f64>], strict: bool) -> Finding {
    let at = |point: usize| means.iter().map(|row| row[point]).collect::<Vec<_>>();
    let all = (0..means[0].len()).all(|p| in_order(&at(p), strict, claim.margin));
    let over: Vec<f64> =
        means.iter().map(|row| row.iter().sum::<f64>() / row.len() as f64).collect();
    let outcome = decide(all, means[0].len() > 1 && in_order(&over, strict, claim.margin));
    Finding { outcome, value: None, words: String::new() }
}

fn ordering_words(claim: &Claim, order: &[Operand], means: &[Vec<f64>]) -> String {
    let Rule::Ordering { strict, .. } = claim.rule else { return String::new() };
    let points = means[0].len();
    let at = |point: usize| means.iter().map(|row| row[point]).collect::<Vec<_>>();
    let holds = (0..points).filter(|p| in_order(&at(*p), strict, claim.margin)).count();
    let mean = |row: &Vec<f64>| row.iter().sum::<f64>() / row.len() as f64;
    let one = |(o, row): (&Operand, &Vec<f64>)| {
        format!("{} {}", claim.label(o), shown(&o.select.metric, mean(row)))
    };
    let all: Vec<String> = order.iter().zip(means).map(one).collect();
    match points {
        1 => all.join(", "),
        n => format!("{} in the mean; holds at {holds} of {n} points", all.join(", ")),
    }
}

fn flat(claim: &Claim, paper: f64, numbers: &[f64]) -> Finding {
    let (low, high) = extent(numbers);
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let varies = if high == low { 0.0 } else { (high - low) / libm::fabs(mean) };
    let outcome = decide(varies <= paper + claim.margin, varies <= paper * FLAT_FACTOR);
    Finding { outcome, value: Some(varies), words: claim.number(varies) }
}

fn rises(numbers: &[f64], rising: bool, margin: f64) -> bool {
    let tie = |x: f64| margin * libm::fabs(x);
    numbers.windows(2).all(|pair| match rising {
        true => pair[1] >= pair[0] - tie(pair[0]),
        false => pair[1] <= pair[0] + tie(pair[0]),
    })
}

fn monotone(claim: &Claim, rising: bool, numbers: &[f64]) -> Finding {
    let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
    let overall = if rising { last > first } else { last < first };
    // steps that are all ties go nowhere
    let outcome = decide(rises(numbers, rising, claim.margin) && overall, overall);
    Finding { outcome, value: None, words: String::new() }
}

fn along_words(claim: &Claim, data: &Data, means: &[Vec<f64>]) -> String {
    const MOST: usize = 8;
    let numbers = match claim.quotient() {
        true => pairs(means, |of, against| of / against),
        false => means[0].clone(),
    };
    let one = |(x, p): (&f64, &Vec<String>)| format!("{} at {}", claim.number(*x), p.join(", "));
    let all: Vec<String> = numbers.iter().zip(&data.points).map(one).collect();
    match all.as_slice() {
        many if many.len() > MOST => {
            format!("{}, ..., {}", many[0], many[many.len() - 1])
        }
        few => few.join(", "),
    }
}

/// The share of the variance that a straight line explains.
fn linear(claim: &Claim, numbers: &[f64], across: &[f64]) -> Finding {
    let n = numbers.len() as f64;
    let mean = |xs: &[f64]| xs.iter().sum::<f64>() / n;
    let (mx, my) = (mean(across), mean(numbers));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        across.iter().zip(numbers).map(|(x, y)| of(x - mx, y - my)).sum::<f64>()
    };
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    let explained = if xx > 0.0 && yy > 0.0 { xy * xy / (xx * yy) } else { 0.0 };
    let outcome =
        decide(explained >= STRAIGHT && xy > 0.0, numbers.windows(2).all(|pair| pair[1] > pair[0]));
    Finding { outcome, value: Some(explained), words: claim.number(explained) }
}
