//! Figures of both sides beside each other, with what can be said of their difference.

use super::figures::{FIGURES, Figure};
use super::side::{Facts, Side};
use std::collections::BTreeSet;
use weir_core::Unit;
use weir_stats::design::holm;
use weir_stats::{ALPHA, Interval, mean, p_of_zero_mean, welch};

/// What can be said of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every run has the same value on both sides.
    Same,
    /// More, and not by chance.
    Worse,
    /// Less, and not by chance.
    Better,
    /// It cannot be told from chance.
    Undecided,
    /// There is only one run: no interval.
    OneRun,
    /// One side has no such figure, as where no flow completes.
    Missing,
}

/// A figure on both sides.
#[derive(Clone, Debug)]
pub struct FigureDiff {
    /// Only flows of this class; empty: all.
    pub class: String,
    /// The figure, as in other tables.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Means over the runs of each side.
    pub means: [Option<f64>; 2],
    /// The change: a ratio minus one if [`FigureDiff::ratio`], else a difference.
    pub change: Option<f64>,
    /// Its 95 % interval, if there is one.
    pub interval: Option<Interval>,
    /// Whether the change is a ratio.
    pub ratio: bool,
    /// How many pairs of runs, or runs on each side.
    pub runs: [usize; 2],
    /// The probability of such a difference by chance.
    pub p: Option<f64>,
    /// What can be said, with the other shown figures in view.
    pub verdict: Verdict,
    /// Whether tables show it.
    pub shown: bool,
}

/// All figures of all flows and of each class.
pub(super) fn rows(a: &Side, b: &Side, common: &[u64]) -> Vec<FigureDiff> {
    let names = |side: &Side| -> BTreeSet<String> {
        side.runs.iter().flat_map(|r| &r.flows).map(|f| f.class.clone()).collect()
    };
    let classes: BTreeSet<String> = names(a).union(&names(b)).cloned().collect();
    let mut rows = Vec::new();
    let one = (classes.len() > 1).then_some(&classes).into_iter().flatten();
    for class in std::iter::once(None).chain(one.map(Some)) {
        for figure in FIGURES.iter().filter(|f| class.is_none() || f.of_flows) {
            rows.push(row(a, b, common, figure, class.map(String::as_str)));
        }
    }
    judge(&mut rows);
    rows
}

fn row(a: &Side, b: &Side, common: &[u64], figure: &Figure, class: Option<&str>) -> FigureDiff {
    let value = |run: &Facts| (figure.of)(run, class);
    let mut row = FigureDiff {
        class: class.unwrap_or_default().to_owned(),
        name: figure.name,
        unit: figure.unit,
        means: [a, b].map(|side| {
            let wanted = |r: &&Facts| common.is_empty() || common.contains(&r.seed);
            let values: Vec<f64> = side.runs.iter().filter(wanted).filter_map(value).collect();
            mean(&values).map(|m| m.value)
        }),
        change: None,
        interval: None,
        ratio: figure.ratio,
        runs: [0, 0],
        p: None,
        verdict: Verdict::Missing,
        shown: figure.shown,
    };
    let scale = |x: f64| if figure.ratio { libm::log(x) } else { x };
    let back = |x: f64| if figure.ratio { libm::exp(x) - 1.0 } else { x };
    let bounds = |i: Interval| Interval { low: back(i.low), high: back(i.high) };
    if common.is_empty() {
        let of =
            |side: &Side| -> Vec<f64> { side.runs.iter().filter_map(value).map(scale).collect() };
        let (x, y) = (of(a), of(b));
        row.runs = [x.len(), y.len()];
        let (Some(first), Some(second)) = (mean(&x), mean(&y)) else { return row };
        row.change = Some(back(second.value - first.value));
        row.verdict = Verdict::OneRun;
        if let Some((estimate, p)) = welch(&y, &x) {
            row.interval = Some(bounds(estimate.interval));
            row.p = Some(p);
            row.verdict = Verdict::Undecided;
        }
    } else {
        let pair = |seed: &u64| Some((value(a.run(*seed)?)?, value(b.run(*seed)?)?));
        let pairs: Vec<(f64, f64)> = common.iter().filter_map(pair).collect();
        row.runs = [pairs.len(); 2];
        if pairs.is_empty() {
            let has = |side: &Side| side.runs.iter().any(|r| value(r).is_some());
            row.verdict = if has(a) || has(b) { Verdict::Missing } else { Verdict::Same };
            return row;
        }
        let differences: Vec<f64> = pairs.iter().map(|(x, y)| scale(*y) - scale(*x)).collect();
        let Some(estimate) = mean(&differences) else { return row };
        row.change = Some(back(estimate.value));
        row.verdict = match pairs.len() {
            _ if pairs.iter().all(|(x, y)| x == y) => Verdict::Same,
            1 => Verdict::OneRun,
            _ => {
                row.interval = Some(bounds(estimate.interval));
                row.p = Some(p_of_zero_mean(&differences));
                Verdict::Undecided
            }
        };
    }
    row
}

/// Decides about all shown figures together: the chance that any of them is called changed though
/// nothing has is one in twenty. The others are decided one by one.
fn judge(rows: &mut [FigureDiff]) {
    let (shown, others): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).filter(|&i| rows[i].p.is_some()).partition(|&i| rows[i].shown);
    let p = |i: usize| rows[i].p.unwrap_or(1.0);
    let together = holm(&shown.iter().map(|&i| p(i)).collect::<Vec<_>>());
    let alone: Vec<f64> = others.iter().map(|&i| p(i)).collect();
    let all = shown.iter().zip(together).chain(others.iter().zip(alone));
    let decided: Vec<usize> = all.filter(|(_, p)| *p < ALPHA).map(|(i, _)| *i).collect();
    for i in decided {
        let worse = rows[i].change.is_some_and(|c| c > 0.0);
        rows[i].verdict = if worse { Verdict::Worse } else { Verdict::Better };
    }
}
