//! Whether the numbers of a steady-state claim come from a stationary window.
//!
//! ```text
//!   flows by their start, in batches, mean over seeds
//!   Z1   Z2   Z3 ...                     ... Zm       arrivals stop
//!   |-d*-|          what MSER-5 would remove
//!   |--------|      the warm-up that the experiment states: at least as long
//!            |------- window of claims ------|        closes before arrivals stop
//!            | first half    | second half   |        seeds agree that one is higher: it drifts
//! ```
//!
//! All variants and points of an experiment are cut alike, as the experiment states. What MSER-5
//! would remove is compared with that for each variant and point that a claim looks at. Each of the
//! three checks turns a claim down only where all seeds agree, by more than chance and by more than
//! 5 %: an overload, what is left of the beginning, a drift.

use super::{LEVEL, Library};
use crate::claim::Operand;
use crate::claim_rules::operand;
use crate::select::{Selector, summary};
use crate::verdict::Window;
use weir_core::percentile::Percentile;
use weir_core::{Time, format};
use weir_results::starts::{Starts, StartsOf};
use weir_results::summary::Observed;
use weir_stats::Interval;
use weir_stats::paired_difference_at;
use weir_stats::warmup::{drifts_at, mser};

/// What was found of one variant at one point, or of all that a claim looks at.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// What it comes to.
    pub(super) window: Window,
    /// The warm-up that the experiment states, picoseconds.
    pub(super) warm_up_ps: Option<u64>,
    /// Why it is no stationary window, in words.
    pub(super) why: String,
    /// The largest share of flows that count and did not finish.
    pub(super) unfinished: f64,
    /// A percentile that does not exist for them, in words.
    pub(super) no_percentile: Option<String>,
}

impl Found {
    fn new(window: Window, why: String) -> Self {
        Self { window, why, ..Self::default() }
    }
}

weir_core::words! {
    /// What a series adds up.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Summed {
        /// Completion times.
        Fct = "fct_ns",
        /// Slowdowns.
        Slowdown = "slowdown_milli",
    }
}

impl Summed {
    /// The sums.
    pub(crate) fn of(self, part: &StartsOf) -> &[u64] {
        match self {
            Self::Fct => &part.fct_ns,
            Self::Slowdown => &part.slowdown_milli,
        }
    }
}

/// Whose series tells whether a metric is in its steady state: class, sizes, and what is added up.
/// The mean stands for the percentiles of the same flows, and the slowdown of all flows for what
/// is no metric of flows: queues are long when flows are slow.
pub(crate) fn series_of(s: &Selector) -> (&str, &str, Summed) {
    let summed = match summary(&s.metric).map(|found| found.of) {
        Some(Observed::Completion | Observed::Throughput) => Summed::Fct,
        _ => Summed::Slowdown,
    };
    (&s.class, &s.sizes, summed)
}

/// One variant at one point.
struct Cell<'a> {
    /// Per seed the series, and the part of it that is looked at.
    runs: Vec<(&'a Starts, &'a StartsOf)>,
    summed: Summed,
}

/// How the batches of a series lie: of `all` those before `from` are warm-up, and those before `to`
/// are before the end of the window.
#[derive(Clone, Copy)]
struct Batches {
    from: usize,
    to: usize,
    all: usize,
}

impl Batches {
    fn of(starts: &Starts) -> Self {
        let all = starts.present.len();
        let until = u128::from(starts.until_ps.max(1));
        let from = (u128::from(starts.from_ps) * all as u128).div_ceil(until) as usize;
        let to = (u128::from(starts.to_ps) * all as u128 / until) as usize;
        Self { from: from.min(all), to: to.min(all), all }
    }
}

impl<'a> Cell<'a> {
    fn new(all: Vec<&'a Starts>, select: &Selector) -> Self {
        let (class, sizes, summed) = series_of(select);
        let mut runs = Vec::new();
        for starts in all {
            let part = starts.part(class, sizes);
            runs.extend(part.filter(|p| !summed.of(p).is_empty()).map(|part| (starts, part)));
        }
        Self { runs, summed }
    }

    fn found(&self, alpha: f64) -> Found {
        if self.runs.len() < 2 {
            return Found::new(Window::NotChecked, "one seed cannot tell".to_owned());
        }
        let batches = self.runs.iter().map(|(starts, _)| Batches::of(starts));
        // windows of lists of flows differ a little between seeds
        let at = batches.reduce(|a, b| Batches {
            from: a.from.max(b.from),
            to: a.to.min(b.to),
            all: a.all.min(b.all),
        });
        let Some(at) = at.filter(|at| at.from < at.to) else {
            return Found::new(Window::NotChecked, "no flow counts".to_owned());
        };
        if let Some(why) = self.overload(at, alpha) {
            return Found::new(Window::Overloaded, why);
        }
        if let Some(why) = self.warm_up(at, alpha) {
            return Found::new(Window::NotStationary, why);
        }
        if let Some(why) = self.drift(at, alpha) {
            return Found::new(Window::Drifting, why);
        }
        Found::new(Window::Stationary, String::new())
    }

    /// The largest share, over seeds, of flows that start in the window and did not finish.
    fn unfinished(&self) -> f64 {
        let share = |(starts, part): &(&Starts, &StartsOf)| {
            let at = Batches::of(starts);
            let sum = |numbers: &[u64]| numbers[at.from..at.to.max(at.from)].iter().sum::<u64>();
            sum(&part.unfinished) as f64 / sum(&part.flows).max(1) as f64
        };
        self.runs.iter().map(share).fold(0.0, f64::max)
    }

    /// The mean of the flows of a seed that start in some batches; `None` without any.
    fn mean(&self, part: &StartsOf, from: usize, to: usize) -> Option<f64> {
        let flows: u64 = part.flows[from..to].iter().sum();
        let sum: u64 = self.summed.of(part)[from..to].iter().sum();
        (flows > 0).then(|| sum as f64 / flows as f64)
    }

    /// The mean over seeds of each batch before the end of the window; `None` where a batch has no
    /// flow in any seed.
    fn series(&self, at: Batches) -> Option<Vec<f64>> {
        let batch = |i: usize| {
            let means = self.runs.iter().filter_map(|(_, part)| self.mean(part, i, i + 1));
            let (sum, count) = means.fold((0.0, 0), |(sum, n), mean| (sum + mean, n + 1));
            (count > 0).then(|| sum / f64::from(count))
        };
        (0..at.to).map(batch).collect()
    }

    /// Why the window does not begin where it is stationary: MSER-5 would remove more than the
    /// warm-up, and what it would remove besides matters. Where it would end is a random number: of
    /// white noise in 18 batches it is beyond a tenth in one case of five.
    fn warm_up(&self, at: Batches, alpha: f64) -> Option<String> {
        let Some(series) = self.series(at) else {
            return Some("in some batch no flow starts".to_owned());
        };
        let Some(found) = mser(&series) else {
            return Some(format!("{} batches are too few for MSER-5", series.len()));
        };
        let cut = found.removed.unwrap_or(at.to / 2);
        let whole_and_rest = self.seeds(|part| {
            self.mean(part, at.from, at.to).zip(self.mean(part, cut.max(at.from), at.to))
        });
        if !drifts_at(&whole_and_rest, alpha) {
            return None;
        }
        let starts = self.runs[0].0;
        let time = |batches: usize| {
            let ps = u128::from(starts.until_ps) * batches as u128 / at.all as u128;
            format::time(Time::from_ps(ps as u64))
        };
        let what = match found.removed {
            None => format!("MSER-5 finds no stationary window in {}", time(at.to)),
            Some(removed) => format!("MSER-5 removes {}", time(removed)),
        };
        let warm_up = format::time(Time::from_ps(starts.from_ps));
        let change = change(&whole_and_rest);
        Some(format!("{what} and changes the mean after a warm-up of {warm_up} by {change}"))
    }

    /// Two means per seed, of the seeds that have both.
    fn seeds(&self, of: impl Fn(&StartsOf) -> Option<(f64, f64)>) -> Vec<(f64, f64)> {
        self.runs.iter().filter_map(|(_, part)| of(part)).collect()
    }

    /// Why the window drifts.
    fn drift(&self, at: Batches, alpha: f64) -> Option<String> {
        let middle = at.from.midpoint(at.to);
        let halves =
            self.seeds(|part| self.mean(part, at.from, middle).zip(self.mean(part, middle, at.to)));
        let says =
            || format!("from its first to its second half the mean changes by {}", change(&halves));
        drifts_at(&halves, alpha).then(says)
    }

    /// Why the network is overloaded: in every seed more flows are there when the window ends than
    /// in its middle, by more than chance and by more than 5 %.
    fn overload(&self, at: Batches, alpha: f64) -> Option<String> {
        let middle = at.from.midpoint(at.to);
        let at_end = |(starts, _): &(&Starts, &StartsOf)| starts.present[at.to - 1] as f64;
        let amid = |(starts, _): &(&Starts, &StartsOf)| starts.present[middle] as f64;
        let (end, mid): (Vec<f64>, Vec<f64>) =
            self.runs.iter().map(|run| (at_end(run), amid(run))).unzip();
        let all = end.iter().zip(&mid).all(|(end, mid)| end > mid);
        let level = mid.iter().sum::<f64>() / mid.len() as f64;
        let grows = |d: Interval, value: f64| d.low > 0.0 && value > 0.05 * level;
        let difference = paired_difference_at(&end, &mid, alpha)?;
        (all && grows(difference.interval, difference.value)).then(|| {
            let mean = level + difference.value;
            format!("{level:.0} flows are in the network amid the window, {mean:.0} at its end")
        })
    }
}

/// By how much the second of two means differs from the first, over all seeds.
fn change(pairs: &[(f64, f64)]) -> String {
    let (first, second) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    format!("{:+.0} %", (second / first - 1.0) * 100.0)
}

/// What is known of the windows of all that a claim looks at: the worst decides. Each is tested at
/// a level shared among them, so that a claim about many points is not turned down by chance.
pub(super) fn of(operands: &[Operand], library: &dyn Library) -> Found {
    let mut cells: Vec<(Key<'_>, &Operand, Option<Cell<'_>>)> = Vec::new();
    for o in operands {
        let Some(tables) = library.tables(&o.experiment).filter(|t| t.steady) else { continue };
        for (values, series) in tables.starts(&o.variant, &o.select) {
            let key = (o.experiment.as_str(), o.variant.as_str(), values, series_of(&o.select));
            if cells.iter().all(|(known, ..)| *known != key) {
                cells.push((key, o, series.map(|series| Cell::new(series, &o.select))));
            }
        }
    }
    let alpha = LEVEL / cells.len().max(1) as f64;
    let found = cells.iter().map(|((_, _, values, _), o, cell)| {
        let mut found = match cell {
            None => Found::new(Window::NotChecked, "there is no series of starts".to_owned()),
            Some(cell) => cell.found(alpha),
        };
        let place = match values.is_empty() {
            true => operand(o),
            false => format!("{} at {}", operand(o), values.join(", ")),
        };
        found.why = format!("{place}: {}", found.why);
        found.unfinished = cell.as_ref().map_or(0.0, Cell::unfinished);
        // they are beyond all others: there is no p99 if 1 % of the flows did not finish
        let exists = |p: Percentile| found.unfinished < 1.0 - p.share();
        if o.select.percentile().is_some_and(|p| !exists(p)) {
            let share = found.unfinished * 100.0;
            let (metric, what) = (&o.select.metric, "of the flows did not finish");
            found.no_percentile = Some(format!("{place}: {share:.1} % {what}: no `{metric}`"));
        }
        found
    });
    // of equals the first
    let worst = found.reduce(|a, b| {
        let unfinished = a.unfinished.max(b.unfinished);
        let no_percentile = a.no_percentile.clone().or_else(|| b.no_percentile.clone());
        let worse = if b.window > a.window { b } else { a };
        Found { unfinished, no_percentile, ..worse }
    });
    let runs = cells.iter().filter_map(|(.., cell)| cell.as_ref()?.runs.first());
    let warm_up_ps = runs.map(|(starts, _)| starts.from_ps).max();
    Found { warm_up_ps, ..worst.unwrap_or_default() }
}

/// What names a series: experiment, variant, point, and the part of the traffic.
type Key<'a> = (&'a str, &'a str, &'a [String], (&'a str, &'a str, Summed));

#[cfg(test)]
mod tests;
