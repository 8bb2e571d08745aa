//! Statistics of samples: exact percentiles, means, confidence intervals.

/// Samples in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts samples; what is not a number is left out.
    pub fn new(samples: impl IntoIterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = samples.into_iter().filter(|x| !x.is_nan()).collect();
        all.sort_by(f64::total_cmp);
        Self(all)
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

    /// The smallest sample that at least `percent` of all do not exceed (nearest rank).
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let rank = libm::ceil(percent / 100.0 * self.0.len() as f64) as usize;
        self.0.get(rank.max(1) - 1).copied()
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

/// The largest value that is not far off from the others (five times their median): what an
/// axis should reach, so that one outlier does not flatten the rest.
pub fn usual_max(values: impl IntoIterator<Item = f64>) -> f64 {
    let sorted = Sorted::new(values);
    let far = sorted.percentile(50.0).unwrap_or(0.0) * 5.0;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let s = Sorted::new([5.0, 1.0, 4.0, 2.0, 3.0]);
        let at = |p| s.percentile(p).unwrap();
        assert_eq!([at(0.0), at(20.0), at(20.1), at(50.0), at(99.0)], [1.0, 1.0, 2.0, 3.0, 5.0]);
        assert_eq!(Sorted::new([]).percentile(50.0), None);
        assert_eq!(Sorted::new([f64::NAN, 2.0]).max(), Some(2.0));
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
}
