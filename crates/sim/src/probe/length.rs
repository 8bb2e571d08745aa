//! A length over time: time-weighted mean, percentiles and maximum, in integers.

use crate::outcome::QueueStats;
use weir_core::prefetch::prefetch_at;
use weir_core::{Bytes, Time};

/// Each power of two is divided into this many bins, so a bin's edge is at most 1/32 above
/// any value in it.
const SUB: u64 = 32;

/// The distribution of a length, weighted by time. Costs a few instructions per change.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct LengthProbe {
    length: u64,
    since: Time,
    /// The bin of the present length.
    bin: usize,
    /// Time spent in each bin below the one of the longest length so far.
    bins: Vec<u64>,
    /// Time spent in that one. It stands apart: only there a length may be the longest yet.
    top: u64,
    max: u64,
}

/// The integral of a length over time, in bytes times picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Area(
    /// Sum of departed bytes times time minus arrived bytes times time: the integral of the length
    /// up to now if the length is zero now.
    u128,
);

impl Area {
    /// There are `bytes` more from `now` on.
    #[inline(always)]
    pub(crate) fn add(&mut self, now: Time, bytes: u16) {
        self.0 = self.0.wrapping_sub(Self::of(bytes, now));
    }

    /// There are `bytes` less from `now` on.
    #[inline(always)]
    pub(crate) fn remove(&mut self, now: Time, bytes: u16) {
        self.0 = self.0.wrapping_add(Self::of(bytes, now));
    }

    /// No time of a run is so late that this would not fit 64 bits.
    #[inline(always)]
    fn of(bytes: u16, time: Time) -> u128 {
        u128::from(u64::from(bytes) * time.as_ps())
    }

    /// Begins at `now` with `length`.
    pub(crate) fn begin(now: Time, length: u64) -> Self {
        Self((u128::from(length) * u128::from(now.as_ps())).wrapping_neg())
    }

    /// The integral until `end`, if the length is `length` now.
    pub(crate) fn until(self, end: Time, length: u64) -> u128 {
        self.0.wrapping_add(u128::from(length) * u128::from(end.as_ps()))
    }
}

#[inline(always)]
fn bin(length: u64) -> usize {
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

impl LengthProbe {
    /// The length is `length` from `now` on. What does not last does not count.
    #[inline(always)]
    pub(crate) fn set(&mut self, now: Time, length: u64) {
        self.advance(now);
        self.length = length;
        self.bin = bin(length);
    }

    /// [`LengthProbe::set`] for the queues of a port: there are many, and successive lengths of one
    /// seldom share a cache line, so the bin that the next change adds to is prefetched now.
    #[inline(always)]
    pub(crate) fn set_ahead(&mut self, now: Time, length: u64) {
        self.set(now, length);
        self.prefetch();
    }

    /// Prefetches the bin that will count next.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        prefetch_at(&self.bins, self.bin);
    }

    #[inline(always)]
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    #[inline(always)]
    fn advance(&mut self, now: Time) {
        let span = (now - self.since).as_ps();
        self.since = now;
        match self.bins.get_mut(self.bin) {
            Some(time) => *time += span,
            None => self.advance_at_the_top(span),
        }
    }

    /// The length was in the highest bin so far, or beyond it.
    #[inline(never)]
    fn advance_at_the_top(&mut self, span: u64) {
        if span == 0 {
            return;
        }
        self.top += span;
        if self.length > self.max {
            self.max = self.length;
        }
        if self.bin > self.bins.len() {
            self.raise_the_top(span);
        }
    }

    /// The bin of the present length, beyond the highest so far, becomes the highest. What was
    /// counted there belongs to the old one, but for `span`.
    #[cold]
    fn raise_the_top(&mut self, span: u64) {
        let top = std::mem::replace(&mut self.top, span) - span;
        // to the end of the octave and no further: there are as many probes as ports
        let room = (self.bin + 1).next_multiple_of(SUB as usize);
        self.bins.reserve_exact(room - self.bins.len());
        self.bins.push(top);
        self.bins.resize(self.bin, 0);
    }

    /// Forgets what was before `now` (the warm-up), except for the present length.
    pub(crate) fn restart(&mut self, now: Time) {
        let Self { length, bin, .. } = *self;
        *self = Self { length, bin, since: now, ..Self::default() };
    }

    /// When the distribution ends that is asked for until `end`: it knows of all changes.
    pub(crate) fn until(&self, end: Time) -> Time {
        end.max(self.since)
    }

    /// The distribution until `end`; `area` is the integral. Only the present length is known after
    /// it.
    pub(crate) fn stats(&mut self, end: Time, area: u128) -> QueueStats {
        if end > self.since {
            self.advance(end);
        }
        let over = std::mem::take(self);
        (self.length, self.bin) = (over.length, over.bin);
        let Self { mut bins, top, max, .. } = over;
        bins.push(top);
        let total = bins.iter().sum::<u64>();
        let mut distribution = Vec::with_capacity(bins.iter().filter(|w| **w > 0).count());
        for (i, &weight) in bins.iter().enumerate() {
            if weight > 0 {
                distribution.push((Bytes::new(upper_edge(i).min(max)), weight));
            }
        }
        let quantile = |percent: u64| {
            let target = (u128::from(total) * u128::from(percent)).div_ceil(100) as u64;
            let mut seen = 0;
            let found = distribution.iter().find(|&&(_, w)| {
                seen += w;
                seen >= target
            });
            found.map_or(Bytes::ZERO, |&(edge, _)| edge)
        };
        QueueStats {
            mean: if total == 0 { 0.0 } else { area as f64 / total as f64 },
            p50: quantile(50),
            p95: quantile(95),
            p99: quantile(99),
            max: Bytes::new(max),
            distribution,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(n: u64) -> Time {
        Time::from_ns(n)
    }

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mut p = LengthProbe::default();
        let mut area = Area::default();
        p.set(ns(10), 1000);
        area.add(ns(10), 1000);
        p.set(ns(30), 3000);
        area.add(ns(30), 2000);
        p.set(ns(40), 0);
        area.remove(ns(40), 3000);
        // 0 for 10, 1000 for 20, 3000 for 10, 0 for 60: 50 000 / 100
        let s = p.stats(ns(100), area.until(ns(100), 0));
        assert_eq!(s.mean, 500.0);
        assert_eq!((s.max, s.p50), (Bytes::new(3000), Bytes::ZERO));
        // 70 ns at zero, 90 ns at 1000 or less: within 1/32 above
        assert!((1000..=1031).contains(&s.distribution[1].0.get()), "{s:?}");
        assert_eq!(s.p95, Bytes::new(3000));
    }

    /// Also if its bin has been there before.
    #[test]
    fn the_longest_length_that_lasts_is_the_longest() {
        let mut p = LengthProbe::default();
        p.set(ns(10), 1000);
        p.set(ns(20), 1006);
        p.set(ns(30), 1003);
        p.set(ns(40), 5000);
        p.set(ns(40), 20);
        assert_eq!(bin(1000), bin(1006));
        assert_eq!(p.stats(ns(50), 0).max, Bytes::new(1006));
    }

    #[test]
    fn a_restart_forgets_the_warm_up_but_not_the_length() {
        let mut p = LengthProbe::default();
        p.set(ns(0), 9000);
        p.set(ns(50), 100);
        p.restart(ns(60));
        let area = Area::begin(ns(60), 100);
        let s = p.stats(ns(70), area.until(ns(70), 100));
        assert_eq!((s.mean, s.max), (100.0, Bytes::new(100)));
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
