//! Where the steady state begins: MSER-5, and whether a series drifts after it.

use crate::ALPHA;
use crate::estimate::mean_at;

/// How many values make a batch.
pub const BATCH: usize = 5;

/// What MSER says of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Mser {
    /// How many values are removed, of [`mser5`] a multiple of [`BATCH`]; `None`: there is no
    /// stationary window, because the least error is at the end of the range searched.
    pub removed: Option<usize>,
    /// MSER(d) for d = 0, 1, ... removed batches.
    pub errors: Vec<f64>,
}

/// The truncation of `series` (a metric's series averaged over seeds) by MSER-5: the number of
/// batches of five whose removal minimises the squared standard error of the rest. `None` with
/// fewer than four batches. What does not fill the last batch is left out.
pub fn mser5(series: &[f64]) -> Option<Mser> {
    let batches: Vec<f64> =
        series.chunks_exact(BATCH).map(|b| b.iter().sum::<f64>() / BATCH as f64).collect();
    let found = mser(&batches)?;
    Some(Mser { removed: found.removed.map(|d| d * BATCH), ..found })
}

/// The same of a series whose values are means of batches already: the number of them whose removal
/// minimises the squared standard error of the rest.
pub fn mser(batches: &[f64]) -> Option<Mser> {
    let m = batches.len();
    if m < 4 {
        return None;
    }
    let errors: Vec<f64> = (0..=m / 2).map(|d| error(&batches[d..])).collect();
    let best = (0..errors.len()).reduce(|a, b| if errors[b] < errors[a] { b } else { a })?;
    let removed = (best < m / 2).then_some(best);
    Some(Mser { removed, errors })
}

fn error(rest: &[f64]) -> f64 {
    let n = rest.len() as f64;
    let mean = rest.iter().sum::<f64>() / n;
    rest.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>() / (n * n)
}

/// Whether a window drifts: `halves` has the mean of the first and of the second half for each
/// seed. It does if the interval of their difference excludes zero and it exceeds 5 % of the mean.
pub fn drifts(halves: &[(f64, f64)]) -> bool {
    drifts_at(halves, ALPHA)
}

/// The same with an interval at level 1 - `alpha`.
pub fn drifts_at(halves: &[(f64, f64)], alpha: f64) -> bool {
    let differences: Vec<f64> = halves.iter().map(|(first, second)| second - first).collect();
    let level = halves.iter().map(|(a, b)| (a + b) / 2.0).sum::<f64>() / halves.len() as f64;
    mean_at(&differences, alpha)
        .is_some_and(|d| !d.interval.contains(0.0) && d.value.abs() > 0.05 * level.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<f64> {
        text.split_whitespace().map(|w| w.parse().unwrap()).collect()
    }

    /// Worked example 9, first series.
    #[test]
    fn the_start_of_a_series_is_removed() {
        let series = numbers(
            "26 17 30 30 33 36 33 40 39 53 45 44 45 45 44 46 49 48 51 48 49 54 51 48 49 51 55 49 \
             49 53 47 49 53 52 50 52 41 53 47 45 51 52 49 47 50 50 54 52 51 53 49 47 52 52 49 48 \
             51 43 52 51",
        );
        let found = mser5(&series).unwrap();
        let expected = [3.679167, 0.950263, 0.397000, 0.187106, 0.201250, 0.261924, 0.290370];
        assert_eq!(found.errors.len(), expected.len());
        for (error, expected) in found.errors.iter().zip(expected) {
            assert!((error - expected).abs() < 1e-6, "{error} {expected}");
        }
        assert_eq!(found.removed, Some(15));
        let rest = &series[15..];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        assert!((mean - 49.822_222).abs() < 1e-6);
    }

    /// Worked example 9, second series.
    #[test]
    fn a_series_that_keeps_rising_has_no_stationary_window() {
        let series = numbers(
            "17 21 19 23 18 21 24 26 20 24 26 24 29 24 28 25 31 28 28 26 33 32 33 34 33 31 31 32 \
             37 32 34 35 36 38 35 34 38 41 41 40 39 41 41 43 40 43 43 45 44 50 48 48 42 46 46 49 \
             43 51 51 47",
        );
        assert_eq!(mser5(&series).unwrap().removed, None);
        assert_eq!(mser5(&series[..19]), None, "three batches");
    }

    #[test]
    fn a_window_drifts_only_if_seeds_agree_and_it_matters() {
        let grows = [(10.0, 12.0), (10.1, 12.2), (9.9, 11.8)];
        let hardly = [(10.0, 10.1), (10.1, 10.2), (9.9, 10.0)];
        let either = [(10.0, 14.0), (10.0, 6.0), (10.0, 11.0)];
        assert!(drifts(&grows));
        assert!(!drifts(&hardly), "1 % is less than 5 %");
        assert!(!drifts(&either), "the interval contains zero");
    }
}
