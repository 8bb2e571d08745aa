//! What was measured, in words: numbers with their intervals and how many seeds they rest on.
//!
//! Two significant digits of half the interval decide the digits of a number.

use super::Data;
use super::estimate::{Found, Nature};
use crate::claim::{Claim, Operand, Rule};
use crate::claim_rules::{shown, unit};
use weir_core::{Unit, format};
use weir_stats::{Estimate, Interval};

/// The unit in which a number is written: its size and name.
fn scale(unit: Unit, x: f64) -> (f64, &'static str) {
    let steps: &[(f64, &str)] = match unit {
        Unit::Time => &[(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns"), (1.0, "ps")],
        Unit::Bytes => &[(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")],
        Unit::Rate => &[(1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")],
        Unit::Share | Unit::Flag => &[(0.01, "%")],
        Unit::Count | Unit::Number => &[(1.0, "")],
    };
    let fits = |(size, _): &&(f64, &str)| libm::fabs(x) >= *size;
    *steps.iter().find(fits).unwrap_or(&steps[steps.len() - 1])
}

/// Decimals such that half the width of an interval has two significant digits; three significant
/// digits of the number itself where it has no width.
fn decimals(x: f64, half: f64) -> usize {
    let (significant, of) = match half > 0.0 && half.is_finite() {
        true => (1.0, half),
        false => (2.0, libm::fabs(x)),
    };
    if of == 0.0 {
        return 0;
    }
    (significant - libm::floor(libm::log10(of))).clamp(0.0, 6.0) as usize
}

/// `-0.0` is written as `0.0`.
fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

fn mean_of(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn with_unit(number: String, unit: &str) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// `174 us ± 16`.
fn plus_minus(unit: Unit, e: &Estimate, exact: bool) -> String {
    let (size, name) = scale(unit, e.value);
    let half = e.interval.half_width() / size;
    let digits = decimals(e.value / size, half);
    let number = with_unit(fixed(e.value / size, digits), name);
    if !half.is_finite() || (half == 0.0 && exact) {
        number
    } else if half == 0.0 {
        format!("{number} ± 0")
    } else {
        format!("{number} ± {}", fixed(half, digits))
    }
}

/// `512 KB [476, 544]`, with what stands behind the number.
fn bracketed(unit: Unit, e: &Estimate, behind: &str) -> String {
    let (size, name) = scale(unit, e.value);
    let digits = decimals(e.value / size, e.interval.half_width() / size);
    let number = with_unit(fixed(e.value / size, digits), name);
    let behind = if behind.is_empty() { String::new() } else { format!(" {behind}") };
    if e.interval.low == e.interval.high {
        return format!("{number}{behind}");
    }
    let end = |x: f64| fixed(x / size, digits);
    format!("{number}{behind} [{}, {}]", end(e.interval.low), end(e.interval.high))
}

/// Whether a number compares operands seed by seed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pairing {
    Paired,
    None,
}

impl Pairing {
    /// That of the operands of a claim: several are compared, one stands alone.
    fn of(data: &Data) -> Self {
        if data.cells.len() > 1 { Self::Paired } else { Self::None }
    }
}

/// What stands behind a number: `(paired, 5 seeds)`.
fn basis(data: &Data, pairing: Pairing, e: &Estimate) -> String {
    if data.deterministic {
        return "(exact, no randomness)".to_owned();
    }
    let seeds = e.seeds as u64;
    let what = match e.interval.low == e.interval.high {
        true => format::plural(seeds, "identical run"),
        false => format::plural(seeds, "seed"),
    };
    match pairing {
        Pairing::Paired => format!("(paired, {what})"),
        Pairing::None => format!("({what})"),
    }
}

/// `15.5 % less [10.8, 20.0]`, `4.2 % more [-1.0, 9.4]`; runs are fewer.
fn reduction(e: &Estimate, nature: Nature) -> String {
    let less = if nature == Nature::Share { "fewer" } else { "less" };
    match e.value {
        v if v > 0.0 => bracketed(Unit::Share, e, less),
        v if v < 0.0 => bracketed(Unit::Share, &negated(e), "more"),
        _ => bracketed(Unit::Share, e, ""),
    }
}

fn negated(e: &Estimate) -> Estimate {
    let interval = Interval::new(-e.interval.high, -e.interval.low);
    Estimate { value: -e.value, interval, seeds: e.seeds }
}

/// A number of a claim without its basis.
fn number(claim: &Claim, data: &Data, e: &Estimate) -> String {
    let nature = data.estimator(&[0]).nature;
    let metric = unit(claim.metric());
    match claim.rule {
        Rule::Reduction(_) => reduction(e, nature),
        Rule::Ratio { .. } => bracketed(Unit::Number, e, "times"),
        Rule::Equal => {
            let interval = e.interval.reduction();
            let less = Estimate { value: 1.0 - e.value, interval, seeds: e.seeds };
            reduction(&less, nature)
        }
        _ if claim.quotient() => bracketed(Unit::Number, e, "times"),
        _ if nature == Nature::Mean => plus_minus(metric, e, data.deterministic),
        _ => bracketed(metric, e, ""),
    }
}

/// One number with its interval.
pub(super) fn estimate(claim: &Claim, data: &Data, found: &Found) -> String {
    let e = &found.estimate;
    let pairing = Pairing::of(data);
    let nature = data.estimator(&[0]).nature;
    let words = number(claim, data, e);
    let basis = basis(data, pairing, e);
    let one = data.points.len() == 1;
    let samples = &data.cells[0][0];
    match (nature, pairing) {
        (Nature::Maximum, Pairing::None) if one && !data.deterministic => {
            let largest = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (size, _) = scale(unit(claim.metric()), e.value);
            let digits = decimals(e.value / size, e.interval.half_width() / size);
            let largest = fixed(largest / size, digits);
            format!("median of maxima {words}, largest {largest} ({} runs)", samples.len())
        }
        (Nature::Share, Pairing::None) if one => {
            let hits = samples.iter().filter(|x| **x != 0.0).count();
            match hits {
                0 => {
                    let most = format::percent(e.interval.high);
                    format!("0 of {} (at most {most})", samples.len())
                }
                _ => format!("{hits} of {}: {words}", samples.len()),
            }
        }
        (Nature::Share, Pairing::Paired) if one && data.cells.len() == 2 => {
            let hits = |i: usize| data.cells[i][0].iter().filter(|x| **x != 0.0).count();
            format!("{} of {} against {}: {words}", hits(0), samples.len(), hits(1))
        }
        (Nature::Mean, Pairing::None)
            if one && !data.deterministic && samples.iter().all(|x| *x == 0.0) =>
        {
            // nothing in any run says only so much about runs that were not made
            let most = format::percent(weir_stats::at_most(samples.len() as u64));
            let runs = format::plural(samples.len() as u64, "run");
            format!("0 in {runs} (others in at most {most} of runs)")
        }
        _ => format!("{words} {basis}"),
    }
}

/// From the smallest to the largest of several numbers, with the ends of their intervals.
pub(super) fn span(claim: &Claim, data: &Data, all: &[Estimate]) -> String {
    let low = all.iter().copied().reduce(|a, b| if b.value < a.value { b } else { a });
    let high = all.iter().copied().reduce(|a, b| if b.value > a.value { b } else { a });
    let (Some(low), Some(high)) = (low, high) else { return String::new() };
    let word = |e: &Estimate| number(claim, data, e);
    let basis = basis(data, Pairing::of(data), &high);
    match low == high {
        true => format!("{} {basis}", word(&low)),
        false => format!("{} to {} {basis}", word(&low), word(&high)),
    }
}

/// Differences of reductions in percentage points.
pub(super) fn points(data: &Data, all: &[Estimate]) -> String {
    let word = |e: &Estimate| {
        let (size, _) = scale(Unit::Share, e.value);
        let digits = decimals(e.value / size, e.interval.half_width() / size);
        let end = |x: f64| fixed(x / size, digits);
        let sign = if e.value > 0.0 { "+" } else { "" };
        let (low, high) = (end(e.interval.low), end(e.interval.high));
        format!("{sign}{} points [{low}, {high}]", end(e.value))
    };
    let low = all.iter().reduce(|a, b| if b.value < a.value { b } else { a });
    let high = all.iter().reduce(|a, b| if b.value > a.value { b } else { a });
    let (Some(low), Some(high)) = (low, high) else { return String::new() };
    let basis = basis(data, Pairing::Paired, high);
    match all.len() {
        1 => format!("{} {basis}", word(low)),
        _ => format!("{} to {} {basis}", word(low), word(high)),
    }
}

/// By how much the largest of several means exceeds the smallest.
pub(super) fn more(data: &Data, e: &Estimate) -> String {
    format!("{} {}", bracketed(Unit::Share, e, ""), basis(data, Pairing::Paired, e))
}

/// How far a line is from straight.
pub(super) fn curved(data: &Data, e: &Estimate) -> String {
    format!(
        "curved by {} of its range {}",
        bracketed(Unit::Share, e, ""),
        basis(data, Pairing::None, e)
    )
}

/// Why an interval does not decide.
pub(super) fn contains(claim: &Claim, interval: Interval) -> String {
    match claim.rule {
        Rule::Reduction(_) if interval.contains(0.0) => "interval contains 0".to_owned(),
        Rule::Ratio { .. } if interval.contains(1.0) => "interval contains 1".to_owned(),
        _ => "interval contains numbers that agree and numbers that do not".to_owned(),
    }
}

/// The means of all operands where there is no interval.
pub(super) fn means(claim: &Claim, data: &Data) -> String {
    let one = |(i, o): (usize, &Operand)| {
        let cells = data.cells[i].iter().flatten().copied().collect::<Vec<f64>>();
        let number = shown(&o.select.metric, mean_of(&cells));
        if data.cells.len() > 1 { format!("{} {number}", claim.label(o)) } else { number }
    };
    let all: Vec<String> = data.operands.iter().enumerate().map(one).collect();
    let over = if data.points.len() > 1 { " in the mean" } else { "" };
    let seeds = format::plural(data.seeds() as u64, "seed");
    format!("{}{over} ({seeds})", all.join(", "))
}

/// The means of an order.
pub(super) fn order(claim: &Claim, of: &[Operand], data: &Data) -> String {
    let one = |(o, row): (&Operand, &Vec<Vec<f64>>)| {
        let cells: Vec<f64> = row.iter().flatten().copied().collect();
        format!("{} {}", claim.label(o), shown(&o.select.metric, mean_of(&cells)))
    };
    let all: Vec<String> = of.iter().zip(&data.cells).map(one).collect();
    let basis = match data.deterministic {
        true => "exact, no randomness".to_owned(),
        false => format!("paired, {}", format::plural(data.seeds() as u64, "seed")),
    };
    format!("{} ({basis})", all.join(", "))
}

/// The means along a parameter.
pub(super) fn along(claim: &Claim, data: &Data) -> String {
    const MOST: usize = 8;
    let rows = data.along(claim.quotient());
    let mean = |p: usize| mean_of(&rows.iter().map(|row| row[p]).collect::<Vec<_>>());
    let text = |x: f64| match claim.quotient() {
        true => format::significant(x),
        false => shown(claim.metric(), x),
    };
    let one = |(p, at): (usize, &Vec<String>)| format!("{} at {}", text(mean(p)), at.join(", "));
    let all: Vec<String> = data.points.iter().enumerate().map(one).collect();
    let all = match all.as_slice() {
        many if many.len() > MOST => format!("{}, ..., {}", many[0], many[many.len() - 1]),
        few => few.join(", "),
    };
    match data.deterministic {
        true => format!("{all} (exact, no randomness)"),
        false => format!("{all} ({})", format::plural(data.seeds() as u64, "seed")),
    }
}
