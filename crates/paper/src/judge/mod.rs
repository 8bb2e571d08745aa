//! Judging claims: the rule that a claim states, applied to the numbers of its experiments.
//!
//! A verdict is a pure function of the claim and of one number per run. One observation is one run:
//! intervals are over seeds, and variants are compared within seeds, so that what all variants of a
//! seed have in common (its traffic) cancels out. `weir-stats` has the intervals and what they say;
//! here is which of them a claim needs.

mod along;
mod estimate;
mod number;
mod response;
mod steady;
#[cfg(test)]
mod tests;
mod words;

use super::claim::{Claim, Operand, Rule};
use super::claim_rules::operand;
use super::experiment::Mode;
use super::tables::{Cell, Tables};
use super::verdict::{ClaimOutcome, Verdict};
use estimate::{Estimator, LEVEL, Nature};
pub use response::Response;
pub(crate) use response::response;
use std::collections::BTreeSet;
pub(crate) use steady::{Summed, series_of};
use weir_stats::Estimate;
use weir_stats::verdict::Judgement;
use weir_sweep::quantity::Quantity;

/// Where the numbers of experiments are found.
pub trait Library {
    /// Those of an experiment; `None` if they are not there.
    fn tables(&self, experiment: &str) -> Option<&Tables>;
}

/// One experiment alone.
impl Library for Tables {
    fn tables(&self, _: &str) -> Option<&Tables> {
        Some(self)
    }
}

/// Judges a claim: one verdict, or one for each of several `of`s. In a quick run points may be
/// left out on purpose.
pub fn judge(index: usize, claim: &Claim, library: &dyn Library, mode: Mode) -> Vec<Verdict> {
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
            // of several readings in one claim those of other variants are not primary
            primary: claim.primary && !(several && of[0].other_reading),
            paper: claim.paper(),
            rule: claim.rule_words(),
            ..Verdict::default()
        };
        if let Rule::NotMeasured { why } = &claim.rule {
            verdict.outcome = ClaimOutcome::NotMeasured(why.clone());
            return verdict;
        }
        match Data::new(claim, of, library, mode) {
            Err(outcome) => verdict.outcome = outcome,
            Ok(data) => {
                fill(&mut verdict, claim, of, &data);
                if claim.steady {
                    look_at_window(&mut verdict, steady::of(&data.operands, library), mode);
                }
            }
        }
        verdict
    };
    of.into_iter().map(one).collect()
}

/// Numbers that do not come from a stationary window say nothing about a steady state. Quick runs
/// are too short to be refused for it.
fn look_at_window(verdict: &mut Verdict, found: steady::Found, mode: Mode) {
    verdict.window = found.window;
    verdict.warm_up_ps = found.warm_up_ps;
    if found.unfinished > 0.0 {
        let share = found.unfinished * 100.0;
        let said = format!("; at least: up to {share:.1} % of the flows of a run did not finish");
        verdict.measured.push_str(&said);
    }
    if mode == Mode::Quick {
        return;
    }
    if found.no_percentile.is_some() {
        verdict.measured = String::new();
    }
    let window = found.window.fails().then(|| format!("{}: {}", found.window.name(), found.why));
    if let Some(why) = window.or(found.no_percentile) {
        verdict.why = String::new();
        verdict.outcome = ClaimOutcome::NotMeasured(why);
    }
}

/// What a rule says about the numbers.
struct Finding {
    judgement: Judgement,
    /// Why it is not distinguishable.
    why: String,
    estimate: Option<Estimate>,
    method: &'static str,
    alpha: f64,
    words: String,
    /// How many seeds would decide.
    needed: Option<usize>,
}

impl Finding {
    fn new(judgement: Judgement, method: &'static str, words: String) -> Self {
        let (why, estimate, needed) = (String::new(), None, None);
        Self { judgement, why, estimate, method, alpha: LEVEL, words, needed }
    }

    /// There is no interval that could decide.
    fn open(why: String, words: String) -> Self {
        Self { why, ..Self::new(Judgement::NotDistinguishable, "none", words) }
    }
}

fn fill(verdict: &mut Verdict, claim: &Claim, of: &[Operand], data: &Data) {
    let found = match &claim.rule {
        Rule::Ordering { strict, .. } => along::ordering(claim, of, data, *strict),
        Rule::Monotone { rising } => along::monotone(claim, data, *rising),
        Rule::Flat(paper) => along::flat(claim, data, *paper),
        Rule::Linear => along::linear(claim, data),
        Rule::Contrast { larger, .. } => along::contrast(claim, data, *larger),
        _ => number::number(claim, data),
    };
    verdict.runs = data.runs();
    verdict.seeds = data.seeds();
    verdict.outcome = ClaimOutcome::Judged(found.judgement);
    verdict.why = found.why;
    verdict.estimate = found.estimate.map(|e| e.value).filter(|x| x.is_finite());
    verdict.interval = found.estimate.map(|e| e.interval).filter(|i| !i.low.is_nan());
    verdict.method = found.method;
    verdict.level = 1.0 - found.alpha;
    verdict.needed = found.needed;
    verdict.measured = found.words;
    if let Some((flows, needed)) = data.few {
        verdict.few = true;
        let said = format!("; few: {flows} flows of a run, the percentile needs {needed}");
        verdict.measured.push_str(&said);
    }
    verdict.rows = rows(data.operands.iter(), claim);
}

/// The rows of tables that a verdict rests on, in words: experiment, variants, points and column.
fn rows<'a>(operands: impl Iterator<Item = &'a Operand>, claim: &Claim) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for o in operands {
        let mut parts = vec![format!("variant={}", o.variant)];
        parts.extend(o.select.at.iter().map(|(name, value)| format!("{name}={value}")));
        parts.extend(claim.over.iter().map(|name| format!("{name}=*")));
        let row = format!("{}: {} [{}]", o.experiment, parts.join(" "), o.select.column());
        if !all.contains(&row) {
            all.push(row);
        }
    }
    all
}

/// The numbers of all operands at all points.
struct Data {
    /// What is looked at, what it is compared with, and both in the other experiment of a contrast.
    operands: Vec<Operand>,
    /// Values of the parameters of `over`, per point.
    points: Vec<Vec<String>>,
    /// The same as numbers, for straight lines.
    numbers: Vec<f64>,
    /// Per operand and point the number of each seed; the same seeds everywhere.
    cells: Vec<Vec<Vec<f64>>>,
    deterministic: bool,
    /// Of a percentile of flows: the fewest flows of a run, and how many it needs.
    few: Option<(f64, f64)>,
}

/// The fewest flows of a run where a percentile has too few beyond it, and how many it needs.
fn few(tables: &Tables, o: &Operand) -> Option<(f64, f64)> {
    let (flows, needed) = o.select.flows()?;
    let cells = tables.select(&flows).into_iter().filter(|c| c.variant == o.variant);
    let numbers = cells.flat_map(|c| c.seeds).map(|(_, n)| n);
    let least = numbers.reduce(f64::min)?;
    let needed = needed as f64;
    (least < needed).then_some((least, needed))
}

/// What is judged with one of several `of`s.
fn operands(claim: &Claim, of: &[Operand], library: &dyn Library) -> Vec<Operand> {
    let mut all: Vec<Operand> = of.iter().chain(&claim.against).cloned().collect();
    if let Rule::Contrast { than, metric, .. } = &claim.rule {
        let there = |o: &Operand| {
            let mut there = Operand { experiment: than.clone(), ..o.clone() };
            let known = library.tables(than).map_or(&[][..], |t| t.parameters.as_slice());
            there.select.at.retain(|(name, _)| known.contains(name));
            if let Some(metric) = metric {
                there.select.metric.clone_from(metric);
            }
            there
        };
        let others: Vec<Operand> = all.iter().map(there).collect();
        all.extend(others);
    }
    all
}

/// The seeds of a cell.
fn seeds_of(cell: &Cell) -> BTreeSet<u64> {
    cell.seeds.iter().map(|(seed, _)| *seed).collect()
}

impl Data {
    fn new(
        claim: &Claim,
        of: &[Operand],
        library: &dyn Library,
        mode: Mode,
    ) -> Result<Self, ClaimOutcome> {
        let operands = operands(claim, of, library);
        let left_out = |why: String| match mode {
            Mode::Quick => ClaimOutcome::LeftOut(why),
            Mode::Full => ClaimOutcome::Missing(why),
        };
        let across = operands.iter().any(|o| o.experiment != operands[0].experiment);
        let mut cells: Vec<Vec<Cell>> = Vec::new();
        let mut points: Vec<Vec<String>> = Vec::new();
        let (mut deterministic, mut fewest) = (true, None);
        for o in &operands {
            let tables = library
                .tables(&o.experiment)
                .ok_or_else(|| left_out(format!("{} was not run", o.experiment)))?;
            deterministic &= tables.deterministic;
            fewest = fewest.or(few(tables, o));
            let own = |c: &Cell| c.variant == o.variant;
            let found: Vec<_> = tables.select(&o.select).into_iter().filter(own).collect();
            if found.is_empty() {
                return Err(left_out(format!("there are no runs of {}", operand(o))));
            }
            let key = |c: &Cell| {
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
                    return Err(ClaimOutcome::Missing(format!("{place}, seed {seed}: {why}")));
                }
                row.push(cell.clone());
            }
            cells.push(row);
        }
        let cells = paired(cells, across).map_err(|i| {
            ClaimOutcome::Missing(format!("{} has other seeds", operand(&operands[i])))
        })?;
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
        Ok(Self { operands, points, numbers, cells, deterministic, few: fewest })
    }

    fn seeds(&self) -> usize {
        self.cells[0][0].len()
    }

    fn runs(&self) -> usize {
        self.cells.iter().flatten().map(Vec::len).sum()
    }

    /// How the numbers of an operand are summed up, or those of two are compared.
    fn estimator(&self, of: &[usize]) -> Estimator {
        let nature = |i: &usize| Nature::of(&self.operands[*i].select.metric);
        let nature = of.iter().map(nature).reduce(Nature::with).unwrap_or(Nature::Mean);
        Estimator { nature, deterministic: self.deterministic, alpha: LEVEL }
    }

    /// One row per seed with a number per point: of the first operand, or of its quotient with the
    /// second.
    fn along(&self, quotient: bool) -> Vec<Vec<f64>> {
        let number = |point: usize, seed: usize| match quotient {
            true => self.cells[0][point][seed] / self.cells[1][point][seed],
            false => self.cells[0][point][seed],
        };
        let row = |seed| (0..self.points.len()).map(|point| number(point, seed)).collect();
        (0..self.seeds()).map(row).collect()
    }
}

/// The numbers of the seeds that all have. Within an experiment these are all seeds; `Err` has the
/// operand that has others. Experiments may have more seeds than others: what they have in common
/// counts.
fn paired(cells: Vec<Vec<Cell>>, across: bool) -> Result<Vec<Vec<Vec<f64>>>, usize> {
    let mut common = seeds_of(&cells[0][0]);
    for (i, row) in cells.iter().enumerate() {
        for cell in row {
            let own = seeds_of(cell);
            if !across && own != common {
                return Err(i);
            }
            common.retain(|seed| own.contains(seed));
        }
        if common.is_empty() {
            return Err(i);
        }
    }
    let numbers = |cell: &Cell| {
        let kept = cell.seeds.iter().filter(|(seed, _)| common.contains(seed));
        kept.map(|(_, x)| *x).collect()
    };
    Ok(cells.iter().map(|row| row.iter().map(numbers).collect()).collect())
}
