//! How late frames were, and what that means for a run.

use serde::Serialize;
use weir_core::Time;
use weir_core::percentile::{P50, P99, P999, Percentile};

/// Counts times in bins of a factor of 2^(1/8): quantiles are right within 9 %.
#[derive(Clone, Debug)]
pub struct Histogram {
    bins: Vec<u64>,
    count: u64,
    most: Time,
}

const PER_DOUBLING: u32 = 8;

impl Default for Histogram {
    fn default() -> Self {
        Self { bins: vec![0; (64 * PER_DOUBLING) as usize], count: 0, most: Time::ZERO }
    }
}

fn bin(ps: u64) -> usize {
    let ps = ps.max(1);
    let log = ps.ilog2();
    // the three bits below the highest one
    let below = if log >= 3 { (ps >> (log - 3)) & 7 } else { (ps << (3 - log)) & 7 };
    (log * PER_DOUBLING) as usize + below as usize
}

/// The largest value of a bin.
fn upper(bin: usize) -> u64 {
    let (log, below) = (bin as u32 / PER_DOUBLING, bin as u128 % u128::from(PER_DOUBLING));
    let top = ((9 + below) << log).div_ceil(8);
    u64::try_from(top.saturating_sub(1)).unwrap_or(u64::MAX)
}

impl Histogram {
    /// Adds a time.
    pub fn add(&mut self, time: Time) {
        self.bins[bin(time.as_ps())] += 1;
        self.count += 1;
        self.most = self.most.max(time);
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(a, b)| *a += b);
        self.count += other.count;
        self.most = self.most.max(other.most);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest, exactly.
    pub fn most(&self) -> Time {
        self.most
    }

    /// How many are larger, but for those in the same bin.
    pub fn beyond(&self, time: Time) -> u64 {
        self.bins[bin(time.as_ps()) + 1..].iter().sum()
    }

    /// The smallest value that at least this share does not exceed, or the end of its bin.
    pub fn quantile(&self, share: Percentile) -> Option<Time> {
        let filled = self.bins.iter().enumerate().filter(|(_, n)| **n > 0);
        let bin = share.over_time(self.count.into(), filled.map(|(i, n)| (i, u128::from(*n))));
        bin.map(|bin| Time::from_ps(upper(bin)).min(self.most))
    }

    /// The usual quantiles.
    pub fn quantiles(&self) -> Quantiles {
        let ns = |t: Option<Time>| t.map(|t| t.as_ps() as f64 / 1000.0);
        let most = (self.count > 0).then_some(self.most);
        Quantiles {
            count: self.count,
            p50_ns: ns(self.quantile(P50)),
            p99_ns: ns(self.quantile(P99)),
            p999_ns: ns(self.quantile(P999)),
            max_ns: ns(most),
        }
    }
}

/// Quantiles of times, in nanoseconds of scenario time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// How many there were.
    pub count: u64,
    /// Half of them.
    pub p50_ns: Option<f64>,
    /// 99 %.
    pub p99_ns: Option<f64>,
    /// 99.9 %.
    pub p999_ns: Option<f64>,
    /// All.
    pub max_ns: Option<f64>,
}

/// What one port of a shell has measured.
#[derive(Clone, Debug, Default)]
pub struct PortTimes {
    /// How long after its stamp each frame was sent.
    pub late: Histogram,
    /// Frames that were sent later than the bound.
    pub too_late: u64,
    /// Sends that the kernel refused at first.
    pub retried: u64,
    /// Frames that the kernel refused for good.
    pub unsent: u64,
    /// Between two frames that arrived without a pause between them.
    pub gap: Histogram,
    /// What these gaps were to be.
    pub gap_expected: Histogram,
    /// From the stamp of a frame to its arrival: beyond the delay of the link.
    pub hop: Histogram,
    /// Frames whose arrival was moved, since the node had run beyond it.
    pub moved: Histogram,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_bin_of_the_truth() {
        let mut h = Histogram::default();
        (1..=1000).for_each(|n| h.add(Time::from_ns(n)));
        for (permille, truth) in [(500, 500_000.0), (990, 990_000.0), (1000, 1_000_000.0)] {
            let found =
                h.quantile(Percentile::per_mille(permille)).expect("there are some").as_ps() as f64;
            assert!(found >= truth && found <= truth * 1.125, "{permille}: {found}");
        }
        assert_eq!((h.most(), h.count()), (Time::from_ns(1000), 1000));
        // 512 ns is in the bin up to 524.287 ns
        assert_eq!(h.beyond(Time::from_ns(512)), 1000 - 524);
        assert_eq!(h.beyond(Time::NEVER), 0);
        assert_eq!(Histogram::default().quantile(P50), None);
    }

    #[test]
    fn bins_are_in_order_and_without_gaps() {
        for ps in [1, 2, 3, 7, 8, 9, 15, 16, 17, 1000, u64::MAX / 2, u64::MAX] {
            assert!(upper(bin(ps)) >= ps, "{ps}");
            assert!(ps < 16 || bin(ps) == 0 || upper(bin(ps) - 1) < ps, "{ps}");
        }
    }
}
