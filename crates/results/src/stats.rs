//! Statistics of samples: exact percentiles, means, confidence intervals.

use weir_core::Percentile;
use weir_core::format;
use weir_core::percentile::{P25, P50, P75, P90, P95, P99, P999};

/// Samples in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted(Vec<f64>);

/// The bits of a number as an integer with the order of [`f64::total_cmp`], which takes less to
/// compare; and back.
fn ordered(bits: i64) -> i64 {
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

impl Sorted {
    /// Sorts samples; what is not a number is left out.
    pub fn new(samples: impl IntoIterator<Item = f64>) -> Self {
        let numbers = samples.into_iter().filter(|x| !x.is_nan());
        let mut keys: Vec<i64> = numbers.map(|x| ordered(x.to_bits() as i64)).collect();
        // equal samples have equal bits, so a sort that does not keep their order is enough
        keys.sort_unstable();
        Self(keys.into_iter().map(|key| f64::from_bits(ordered(key) as u64)).collect())
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// The smallest sample that at least this share of all do not exceed (nearest rank).
    pub fn percentile(&self, share: Percentile) -> Option<f64> {
        share.of(&self.0)
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// The smallest.
    pub fn min(&self) -> Option<f64> {
        self.0.first().copied()
    }

    /// The largest.
    pub fn max(&self) -> Option<f64> {
        self.0.last().copied()
    }
}

/// Mean, extremes and percentiles of samples, without the samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    percentiles: [Option<f64>; Self::PERCENTILES.len()],
}

impl Spread {
    /// The percentiles that are kept.
    pub const PERCENTILES: [Percentile; 7] = [P25, P50, P75, P90, P95, P99, P999];

    /// Of samples; what is not a number is left out.
    pub fn new(samples: impl IntoIterator<Item = f64>) -> Self {
        let sorted = Sorted::new(samples);
        Self {
            mean: sorted.mean(),
            min: sorted.min(),
            max: sorted.max(),
            percentiles: Self::PERCENTILES.map(|p| sorted.percentile(p)),
        }
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        self.mean
    }

    /// The smallest.
    pub fn min(&self) -> Option<f64> {
        self.min
    }

    /// The largest.
    pub fn max(&self) -> Option<f64> {
        self.max
    }

    /// As [`Sorted::percentile`].
    ///
    /// # Panics
    /// If it is not one of [`Spread::PERCENTILES`].
    pub fn percentile(&self, share: Percentile) -> Option<f64> {
        let at = Self::PERCENTILES.iter().position(|&p| p == share);
        self.percentiles[at.expect("a percentile that is kept")]
    }
}

/// The largest value that is not far off from the others (five times their median): what an
/// axis should reach, so that one outlier does not flatten the rest.
pub fn usual_max(values: impl IntoIterator<Item = f64>) -> f64 {
    let sorted = Sorted::new(values);
    let far = sorted.percentile(P50).unwrap_or(0.0) * 5.0;
    let usual = sorted.as_slice().iter().rev().find(|x| **x <= far);
    usual.or(sorted.as_slice().last()).copied().unwrap_or(0.0)
}

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval; zero for a single sample.
    pub half_width: f64,
}

impl Estimate {
    /// From independent samples, one per seed; `None` without samples.
    pub fn new(samples: &[f64]) -> Option<Self> {
        let n = samples.len();
        if n == 0 {
            return None;
        }
        let mean = samples.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Some(Self { mean, half_width: 0.0 });
        }
        let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
        let deviation = libm::sqrt(squares / (n - 1) as f64);
        let half_width = student_t(n - 1) * deviation / libm::sqrt(n as f64);
        Some(Self { mean, half_width })
    }
}

/// How much one row of a comparison differs from another, in parts of the other's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// -0.14: less by 14 %.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval; zero for a single pair.
    pub half_width: f64,
}

impl Change {
    /// From pairs of this row and the other, one pair per seed. Both had the same traffic, so what
    /// a seed does to both is not counted as uncertainty. `None` without pairs, or if the other's
    /// mean is zero.
    pub fn paired(pairs: &[(f64, f64)]) -> Option<Self> {
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
        let difference = Estimate::new(&differences)?;
        let base = pairs.iter().map(|(_, b)| b).sum::<f64>() / pairs.len() as f64;
        let of_base = |x: f64| x / base;
        (base != 0.0).then(|| Self {
            mean: of_base(difference.mean),
            half_width: of_base(difference.half_width).abs(),
        })
    }
}

/// The two-sided 95 % quantile of Student's t distribution.
pub fn student_t(degrees: usize) -> f64 {
    #[rustfmt::skip]
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
        2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match degrees {
        0 => f64::INFINITY,
        n if n <= TABLE.len() => TABLE[n - 1],
        // between 30 and infinity the quantile falls almost linearly in 1/n
        n => 1.96 + (2.042 - 1.96) * 30.0 / n as f64,
    }
}

/// A relative change with its interval: `-14 % ±2`.
pub fn change_within(c: Change) -> String {
    let text = format::change(1.0 + c.mean, 1.0);
    match c.half_width < 0.0005 || text.is_empty() {
        true => text,
        false => format!("{text} ±{}", format::points(c.half_width)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_intervals_in_percentage_points() {
        let of = |mean, half_width| change_within(Change { mean, half_width });
        assert_eq!(of(-0.14, 0.021), "-14 % ±2.1");
        assert_eq!(of(0.03, 0.2), "+3.0 % ±20");
        assert_eq!(of(-0.14, 0.0), "-14 %");
        assert_eq!(of(f64::NAN, 0.1), "");
    }

    #[test]
    fn percentiles_are_samples() {
        let s = Sorted::new([5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!([P25, P50, P99].map(|p| s.percentile(p)), [2.0, 3.0, 5.0].map(Some));
        assert_eq!(Sorted::new([]).percentile(P50), None);
        assert_eq!(Sorted::new([f64::NAN, 2.0]).max(), Some(2.0));
    }

    /// Ranks of whole thousands are whole: 999 of 1000 and 1998 of 2000 samples.
    #[test]
    fn the_99_9th_percentile_of_whole_thousands_is_not_the_largest() {
        for thousands in [1u32, 2, 3, 7, 29, 100] {
            let n = thousands * 1000;
            let samples = (1..=n).rev().map(f64::from);
            let found = Spread::new(samples).percentile(P999);
            assert_eq!(found, Some(f64::from(n - thousands)), "{n} samples");
        }
    }

    #[test]
    fn samples_are_in_the_order_of_numbers() {
        let odd =
            [f64::INFINITY, f64::MIN, -0.0, 0.0, 5e-324, -5e-324, 1e300, -1.5, f64::NEG_INFINITY];
        let all: Vec<f64> =
            odd.into_iter().chain((-50..50).map(|i| f64::from(i * 7919 % 101))).collect();
        let mut expected = all.clone();
        expected.sort_by(f64::total_cmp);
        let bits = |of: &[f64]| of.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(Sorted::new(all).as_slice()), bits(&expected));
    }

    #[test]
    fn a_spread_says_what_its_samples_say() {
        let samples: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 1009)).collect();
        let (sorted, spread) = (Sorted::new(samples.clone()), Spread::new(samples));
        assert_eq!((spread.mean(), spread.min()), (sorted.mean(), sorted.min()));
        assert_eq!(spread.max(), sorted.max());
        for p in Spread::PERCENTILES {
            assert_eq!(spread.percentile(p), sorted.percentile(p), "{p}");
        }
        assert_eq!(Spread::new([]), Spread::default());
    }

    #[test]
    fn an_outlier_does_not_set_the_scale() {
        assert_eq!(usual_max([1.9, 1.8, 1.7, 89.0]), 1.9);
        assert_eq!(usual_max([1.0, 2.0, 4.0]), 4.0);
        assert_eq!(usual_max([0.0, 0.0, 7.0]), 0.0);
        assert_eq!(usual_max([]), 0.0);
    }

    #[test]
    fn the_interval_of_three_samples_is_students() {
        // mean 2, deviation 1, t(2) = 4.303: 4.303 / sqrt(3) = 2.484
        let e = Estimate::new(&[1.0, 2.0, 3.0]).unwrap();
        assert!((e.mean - 2.0).abs() < 1e-12 && (e.half_width - 2.4843).abs() < 1e-3, "{e:?}");
        assert_eq!(Estimate::new(&[7.0]), Some(Estimate { mean: 7.0, half_width: 0.0 }));
        assert_eq!(Estimate::new(&[]), None);
    }

    #[test]
    fn the_quantile_falls_towards_the_normal_one() {
        // tabulated: t(40) = 2.021, t(60) = 2.000, t(120) = 1.980
        for (n, t) in [(30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980), (100_000, 1.960)] {
            assert!((student_t(n) - t).abs() < 0.0015, "{n}: {}", student_t(n));
        }
    }

    /// The probability that Student's t lies within `bound`, by another way than the table: with
    /// x = sqrt(n) tan a its density is that of cos(a)^(n-1), which Simpson's rule integrates.
    fn within(bound: f64, degrees: usize) -> f64 {
        let integral = |end: f64| -> f64 {
            let steps = 20_000;
            let h = end / f64::from(steps);
            let f = |i: i32| (f64::from(i) * h).cos().powi(degrees as i32 - 1);
            let weight =
                |i: i32| if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            (0..=steps).map(|i| weight(i) * f(i)).sum::<f64>() * h / 3.0
        };
        let n = degrees as f64;
        integral((bound / n.sqrt()).atan()) / integral(std::f64::consts::FRAC_PI_2)
    }

    #[test]
    fn intervals_hold_the_mean_with_a_probability_of_95_percent() {
        for degrees in (1..=60).chain([100, 300]) {
            let p = within(student_t(degrees), degrees);
            assert!((p - 0.95).abs() < 2e-4, "{degrees}: {p}");
        }
    }

    /// Welch's interval of the difference of two means, as if the samples were not pairs.
    fn unpaired(pairs: &[(f64, f64)]) -> f64 {
        let n = pairs.len() as f64;
        let variance = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let mean = pairs.iter().map(of).sum::<f64>() / n;
            pairs.iter().map(|p| (of(p) - mean).powi(2)).sum::<f64>() / (n - 1.0)
        };
        let (a, b) = (variance(&|p| p.0) / n, variance(&|p| p.1) / n);
        let degrees = (a + b).powi(2) / ((a * a + b * b) / (n - 1.0));
        student_t(degrees as usize) * (a + b).sqrt()
    }

    #[test]
    fn what_seeds_do_to_both_rows_does_not_widen_their_difference() {
        // by hand: differences -1, -2, -1.5, -1.5; mean -1.5, squares 0.25 + 0.25, deviation
        // sqrt(0.5 / 3) = 0.40825, t(3) = 3.182: 3.182 x 0.40825 / 2 = 0.64952; base mean 25
        let pairs = [(9.0, 10.0), (18.0, 20.0), (28.5, 30.0), (38.5, 40.0)];
        let c = Change::paired(&pairs).expect("four pairs");
        assert!((c.mean + 0.06).abs() < 1e-12, "{c:?}");
        assert!((c.half_width - 0.64952 / 25.0).abs() < 1e-6, "{c:?}");
        // seeds differ by 30, rows by 1.5: unpaired, nothing could be said
        assert!(c.half_width * 25.0 < unpaired(&pairs) / 20.0, "{}", unpaired(&pairs));
        // rows that have nothing in common gain nothing by pairs
        let alien = [(1.0, 4.0), (4.0, 1.0), (2.0, 3.0), (3.0, 2.0)];
        let c = Change::paired(&alien).expect("four pairs");
        assert!(c.half_width * 2.5 > unpaired(&alien));
        assert_eq!(Change::paired(&[]), None);
        assert_eq!(Change::paired(&[(1.0, 0.0)]), None);
        let one = Change::paired(&[(3.0, 2.0)]).expect("a pair");
        assert_eq!((one.mean, one.half_width), (0.5, 0.0));
    }
}
