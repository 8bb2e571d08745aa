//! Estimates with intervals over seeds: which one for which metric.

use crate::claim_rules::unit;
use crate::select::summary;
use weir_core::Unit;
use weir_results::summary::Statistic;
use weir_stats::{
    ALPHA, Estimate, Interval, PairedShares, at_most_at, fieller_at, least_for_median, mean_at,
    median_at, paired_difference_at, paired_shares_at, ratio_at, wilson_at,
};

/// What one number of a run is, which decides how runs are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// A mean, a percentile, a count: its mean over runs.
    Mean,
    /// The largest of a run: the median over runs.
    Maximum,
    /// Whether something happened: the share of runs.
    Share,
}

impl Nature {
    pub(super) fn of(metric: &str) -> Self {
        match summary(metric).map(|found| found.by) {
            _ if unit(metric) == Unit::Flag => Self::Share,
            Some(Statistic::Max) => Self::Maximum,
            _ => Self::Mean,
        }
    }

    /// That of a comparison of two.
    pub(super) fn with(self, other: Self) -> Self {
        if self == other { self } else { Self::Mean }
    }
}

/// An estimate and how its interval was formed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) estimate: Estimate,
    pub(super) method: &'static str,
}

/// Why there is no interval.
pub(super) type Why = String;

/// No randomness: all seeds give the same number.
const EXACT: &str = "exact";

fn exact(value: f64, seeds: usize) -> Found {
    Found { estimate: Estimate { value, interval: Interval::point(value), seeds }, method: EXACT }
}

fn found(estimate: Estimate, method: &'static str) -> Found {
    Found { estimate, method }
}

fn too_few_for_median(n: usize, alpha: f64) -> Why {
    let least = least_for_median(alpha);
    format!("{n} seeds: the median of maxima has an interval from {least} on")
}

fn one_seed(n: usize) -> Option<Why> {
    (n < 2).then(|| "one seed: no interval".to_owned())
}

/// How numbers of runs are summed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimator {
    pub(super) nature: Nature,
    /// The scenario has no randomness.
    pub(super) deterministic: bool,
    pub(super) alpha: f64,
}

impl Estimator {
    pub(super) fn at(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// The value that all seeds agree on, where the scenario is declared so.
    fn agreed(self, samples: &[f64]) -> Result<Option<f64>, Why> {
        if !self.deterministic {
            return Ok(None);
        }
        match samples.iter().all(|x| *x == samples[0]) {
            true => Ok(samples.first().copied()),
            false => Err("declared deterministic, but the seeds differ".to_owned()),
        }
    }

    /// Of one variant.
    pub(super) fn value(self, x: &[f64]) -> Result<Found, Why> {
        if let Some(value) = self.agreed(x)? {
            return Ok(exact(value, x.len()));
        }
        if let Some(why) = one_seed(x.len()) {
            return Err(why);
        }
        match self.nature {
            Nature::Share => {
                let hits = x.iter().filter(|x| **x != 0.0).count() as u64;
                let runs = x.len() as u64;
                let interval = match hits {
                    0 => Interval::new(0.0, at_most_at(runs, self.alpha)),
                    _ => wilson_at(hits, runs, self.alpha),
                };
                let value = hits as f64 / runs as f64;
                Ok(found(Estimate { value, interval, seeds: x.len() }, "share (Wilson)"))
            }
            Nature::Maximum => {
                let median = median_at(x, self.alpha);
                let median = median.ok_or_else(|| too_few_for_median(x.len(), self.alpha))?;
                Ok(found(median, "median of maxima (order statistics)"))
            }
            Nature::Mean => {
                let mean = mean_at(x, self.alpha).ok_or_else(|| "no seeds".to_owned())?;
                Ok(found(mean, "mean (t)"))
            }
        }
    }

    /// x - y within seeds.
    pub(super) fn difference(self, x: &[f64], y: &[f64]) -> Result<Found, Why> {
        if let Some((one, other)) = self.agreed(x)?.zip(self.agreed(y)?) {
            return Ok(exact(one - other, x.len()));
        }
        if let Some(why) = one_seed(x.len()) {
            return Err(why);
        }
        if self.nature == Nature::Maximum {
            let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
            let median = median_at(&differences, self.alpha);
            let median = median.ok_or_else(|| too_few_for_median(x.len(), self.alpha))?;
            return Ok(found(median, "median of paired differences (order statistics)"));
        }
        let mean = paired_difference_at(x, y, self.alpha).ok_or_else(|| "no seeds".to_owned())?;
        Ok(found(mean, "paired difference (t)"))
    }

    /// x / y within seeds.
    pub(super) fn ratio(self, x: &[f64], y: &[f64]) -> Result<Found, Why> {
        let seeds = x.len();
        if let Some((x, y)) = self.agreed(x)?.zip(self.agreed(y)?) {
            return match (x == 0.0, y == 0.0) {
                (true, true) => Err(BOTH_ZERO.to_owned()),
                (false, true) => Err("the denominator is 0".to_owned()),
                _ => Ok(exact(x / y, seeds)),
            };
        }
        if x.iter().chain(y).all(|v| *v == 0.0) {
            return Err(BOTH_ZERO.to_owned());
        }
        if let Some(why) = one_seed(x.len()) {
            return Err(why);
        }
        match self.nature {
            Nature::Share => self.ratio_of_shares(x, y),
            Nature::Maximum if y.iter().all(|y| *y > 0.0) => {
                let ratios: Vec<f64> = x.iter().zip(y).map(|(x, y)| x / y).collect();
                let median = median_at(&ratios, self.alpha);
                let median = median.ok_or_else(|| too_few_for_median(x.len(), self.alpha))?;
                Ok(found(median, "median of paired ratios (order statistics)"))
            }
            _ => match ratio_at(x, y, self.alpha) {
                Some(ratio) => Ok(found(ratio, "ratio of means (jackknife of the logarithm)")),
                None => fieller_at(x, y, self.alpha)
                    .map(|ratio| found(ratio, "ratio of means (Fieller)"))
                    .map_err(|_| "the denominator may be 0".to_owned()),
            },
        }
    }

    fn ratio_of_shares(self, x: &[f64], y: &[f64]) -> Result<Found, Why> {
        let count = |of: &dyn Fn(bool, bool) -> bool| {
            x.iter().zip(y).filter(|(x, y)| of(**x != 0.0, **y != 0.0)).count() as u64
        };
        let shares = PairedShares {
            both: count(&|x, y| x && y),
            first_only: count(&|x, y| y && !x),
            second_only: count(&|x, y| x && !y),
        };
        let seeds = x.len();
        if let Some((value, interval)) = paired_shares_at(shares, self.alpha) {
            let estimate = Estimate { value, interval, seeds };
            return Ok(found(estimate, "ratio of paired counts (log)"));
        }
        if shares.both + shares.first_only == 0 {
            return Err("the denominator may be 0".to_owned());
        }
        // never under the first: at most its bound over the least of the second
        let runs = seeds as u64;
        let least = wilson_at(shares.first_only, runs, self.alpha / 2.0).low;
        let interval = Interval::new(0.0, at_most_at(runs, self.alpha / 2.0) / least);
        Ok(found(Estimate { value: 0.0, interval, seeds }, "ratio of counts, the first 0"))
    }

    /// The mean over points of the ratios x / y: geometric within seeds.
    pub(super) fn mean_ratio(self, pairs: &[(&[f64], &[f64])]) -> Result<Found, Why> {
        let seeds = pairs[0].0.len();
        let mut logs = vec![0.0; seeds];
        for (x, y) in pairs {
            for (log, (x, y)) in logs.iter_mut().zip(x.iter().zip(*y)) {
                if *x <= 0.0 || *y <= 0.0 {
                    return Err("a geometric mean needs numbers above 0".to_owned());
                }
                *log += libm::log(x / y) / pairs.len() as f64;
            }
        }
        let on_log = Self { nature: self.nature.with(Nature::Maximum), ..self };
        let log = on_log.value(&logs)?.estimate;
        let interval = Interval::new(libm::exp(log.interval.low), libm::exp(log.interval.high));
        let estimate = Estimate { value: libm::exp(log.value), interval, seeds };
        Ok(found(estimate, "geometric mean of ratios (t of the logarithm)"))
    }
}

/// Nothing over nothing.
pub(super) const BOTH_ZERO: &str = "both are 0";

/// The level of a single statement.
pub(super) const LEVEL: f64 = ALPHA;
