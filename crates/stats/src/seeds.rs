//! How many seeds decide.

use crate::ALPHA;
use crate::student::{moments, quantile};
use libm::ceil;

/// The fewest seeds for which an interval is drawn: two have a quantile of 12.7.
pub const LEAST: usize = 3;

/// How many runs reach the half-width `half`, from `pilot` runs of which there should be five or
/// more (Stein's two-stage rule). `None` with fewer than two runs or a half-width of zero.
pub fn needed(pilot: &[f64], half: f64) -> Option<usize> {
    if pilot.len() < 2 || half <= 0.0 || !half.is_finite() {
        return None;
    }
    let wanted = quantile(pilot.len() - 1, ALPHA) * moments(pilot).1 / half;
    Some(pilot.len().max(ceil(wanted * wanted) as usize))
}

/// How many runs bring a half-width from `now`, seen with `seeds` runs, down to `half`.
pub fn scaled(seeds: usize, now: f64, half: f64) -> Option<usize> {
    if seeds < 2 || half <= 0.0 || !half.is_finite() || !now.is_finite() {
        return None;
    }
    let factor = now / half;
    let wanted = ceil(seeds as f64 * factor * factor);
    (wanted < 1e9).then_some(seeds.max(wanted as usize))
}

/// The half-width that keeps the relative error of the true mean below `gamma` (Law).
pub fn relative_half_width(mean: f64, gamma: f64) -> f64 {
    mean.abs() * gamma / (1.0 + gamma)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::PFC;

    /// Worked example 12.
    #[test]
    fn pilot_runs_say_how_many_are_needed() {
        assert_eq!(needed(&PFC, 0.05 * 206.0), Some(17));
        assert_eq!(needed(&PFC, relative_half_width(206.0, 0.05)), Some(18));
        assert_eq!(needed(&PFC, 0.02 * 206.0), Some(102));
        assert_eq!(needed(&PFC, relative_half_width(206.0, 0.02)), Some(106));
        assert_eq!(needed(&PFC, 0.0), None);
    }

    #[test]
    fn half_the_width_needs_four_times_the_seeds() {
        assert_eq!(scaled(5, 10.0, 5.0), Some(20));
        assert_eq!(scaled(5, 10.0, 20.0), Some(5), "never fewer than there are");
        assert_eq!(scaled(5, f64::INFINITY, 1.0), None);
    }
}
