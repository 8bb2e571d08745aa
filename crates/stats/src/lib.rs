//! Statistics of experiments whose unit is one run: intervals over seeds, verdicts, warm-up,
//! numbers of seeds and factorial designs.
//!
//! One observation is one run, never one flow: the flows of a run share queues and depend on each
//! other. Variants of an experiment use the same seeds, so they are compared within seeds. Samples
//! are slices with one value per seed, in the same order of seeds for every variant.
//!
//! | question | function |
//! |---|---|
//! | mean, percentile per run | [`mean`] |
//! | difference of two variants | [`paired_difference`] |
//! | difference of groups without common seeds | [`welch`] |
//! | ratio of means | [`ratio`]; [`fieller`] where the denominator may be zero |
//! | mean of ratios over points | [`geometric_mean`] |
//! | largest value of a run | [`median_of_maxima`] |
//! | share of runs | [`wilson`], [`at_most`], [`paired_shares`] |
//! | largest over several points | [`largest`] |
//! | does a claim hold? | [`verdict::NumberClaim::judge`], [`verdict::order`], [`verdict::trend`] |
//! | when does the steady state begin? | [`warmup::mser5`] |
//! | how many seeds? | [`seeds`] |
//! | which setting has an effect? | [`design::effects`] |
//!
//! All functions are deterministic: sums run in the order of the samples, and transcendental
//! functions come from `libm`, so that results are the same on every machine.

pub mod design;
mod estimate;
mod maxima;
pub mod page;
mod ratios;
pub mod seeds;
mod shares;
pub mod student;
pub mod verdict;
pub mod warmup;
mod welch;

pub use estimate::{
    Estimate, Interval, mean, mean_at, p_of_zero_mean, paired_difference, paired_difference_at,
};
pub use maxima::{
    Maxima, largest, largest_of, least_for_median, median_at, median_of_maxima, smallest,
    smallest_of,
};
pub use ratios::{
    Unbounded, fieller, fieller_at, geometric_mean, jackknife_error, ratio, ratio_at,
};
pub use shares::{
    PairedShares, at_most, at_most_at, mcnemar, paired_shares, paired_shares_at, wilson, wilson_at,
};
pub use welch::welch;

/// The level of an interval or a test unless said otherwise: one in twenty decides wrongly.
pub const ALPHA: f64 = 0.05;
