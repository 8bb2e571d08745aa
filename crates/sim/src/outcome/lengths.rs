//! How long a queue was, for how long.

use weir_core::{Bytes, Percentile, Time};

/// Each power of two is divided into this many bins, so a bin's edge is at most 1/32 above
/// any value in it.
pub(crate) const SUB: u64 = 32;

/// The bin of a length.
#[inline(always)]
pub(crate) fn bin(length: u64) -> usize {
    // up to 2 * SUB a length is its own bin
    let octave = u64::from((length | SUB).ilog2() - SUB.ilog2());
    (octave * SUB + (length >> octave)) as usize
}

/// The largest length in a bin.
fn upper_edge(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < SUB {
        return bin;
    }
    let octave = bin / SUB - 1;
    ((bin % SUB + SUB + 1) << octave) - 1
}

/// A distribution of queue length over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueStats {
    /// Time-weighted mean in bytes.
    pub mean: f64,
    /// The longest, exactly.
    pub max: Bytes,
    /// For how long the queue was looked at.
    pub time: Time,
    /// Picoseconds by bin, but for the time it was empty, which is what is left. They stay as they
    /// were counted: there are as many distributions as ports, and few are ever asked for anything.
    bins: Vec<u64>,
}

impl QueueStats {
    /// From what was counted during `time`: picoseconds by bin but the first, the longest length,
    /// and the integral of the length in bytes times picoseconds.
    pub(crate) fn new(time: Time, bins: Vec<u64>, max: u64, area: u128) -> Self {
        let mean = if time == Time::ZERO { 0.0 } else { area as f64 / time.as_ps() as f64 };
        Self { mean, max: Bytes::new(max), time, bins }
    }

    /// The distribution: (upper edge in bytes, picoseconds spent in the bin), ascending, without
    /// bins in which no time was spent.
    pub fn distribution(&self) -> impl Iterator<Item = (Bytes, u64)> {
        self.spent().map(|(bin, time)| (self.edge(bin), time))
    }

    /// Bins in which time was spent, ascending, with that time.
    fn spent(&self) -> impl Iterator<Item = (usize, u64)> {
        let others = self.bins.get(1..).unwrap_or_default();
        let empty = self.time.as_ps() - others.iter().sum::<u64>();
        let bins = [empty].into_iter().chain(others.iter().copied());
        bins.enumerate().filter(|(_, time)| *time > 0)
    }

    /// The upper edge of a bin; none is beyond the longest.
    fn edge(&self, bin: usize) -> Bytes {
        Bytes::new(upper_edge(bin)).min(self.max)
    }

    /// The mean by the upper edges of the bins; at most 3.2 % above the true value.
    pub(crate) fn mean_of_bins(&self) -> f64 {
        let area: u128 =
            self.distribution().map(|(b, t)| u128::from(b.get()) * u128::from(t)).sum();
        if self.time == Time::ZERO { 0.0 } else { area as f64 / self.time.as_ps() as f64 }
    }

    /// Length not exceeded during a share of the time; within 3.2 % above the true value.
    pub fn percentile(&self, share: Percentile) -> Bytes {
        let lasted = self.spent().map(|(bin, time)| (bin, u128::from(time)));
        let bin = share.over_time(u128::from(self.time.as_ps()), lasted);
        bin.map_or(Bytes::ZERO, |bin| self.edge(bin))
    }
}

impl FromIterator<(Bytes, u64)> for QueueStats {
    /// From lengths and how many picoseconds each lasted. One that did not last does not count.
    fn from_iter<T: IntoIterator<Item = (Bytes, u64)>>(lasted: T) -> Self {
        let (mut total, mut bins, mut max, mut area) = (0, Vec::new(), 0, 0);
        for (length, time) in lasted.into_iter().filter(|(_, time)| *time > 0) {
            let (length, bin) = (length.get(), bin(length.get()));
            total += time;
            if length > 0 {
                bins.resize(bins.len().max(bin + 1), 0);
                bins[bin] += time;
            }
            max = length.max(max);
            area += u128::from(length) * u128::from(time);
        }
        Self::new(Time::from_ps(total), bins, max, area)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_core::percentile::P99;

    #[test]
    fn percentiles_are_edges_of_bins() {
        let lasted = [(1000, 50), (0, 40), (9000, 9), (20_000, 1), (50_000, 0)];
        let stats: QueueStats = lasted.iter().map(|&(l, t)| (Bytes::new(l), t)).collect();
        let at = |thousandths| stats.percentile(Percentile::per_mille(thousandths)).get();
        assert_eq!((stats.time.as_ps(), stats.mean, stats.max.get()), (100, 1510.0, 20_000));
        // a bin is 16 B wide from 512 B, 256 B from 8192 B
        assert_eq!([0, 400, 401, 900, 990].map(at), [0, 0, 1007, 1007, 9215]);
        assert_eq!([991, 1000].map(at), [20_000; 2], "no edge is beyond the longest");
        assert_eq!(QueueStats::default().percentile(P99), Bytes::ZERO);
    }

    proptest! {
        #[test]
        fn bins_are_ordered_and_tight(a in 0u64..1 << 40, b in 0u64..1 << 40) {
            let (a, b) = (a.min(b), a.max(b));
            prop_assert!(bin(a) <= bin(b));
            prop_assert!(upper_edge(bin(a)) >= a);
            prop_assert!(upper_edge(bin(a)) <= a + a / 32);
        }
    }
}
