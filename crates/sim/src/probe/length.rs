//! A length over time: time-weighted mean, percentiles and maximum, in integers.

use crate::outcome::{QueueStats, SUB, bin};
use weir_core::Time;
use weir_core::prefetch::prefetch_at;

/// The distribution of a length, weighted by time. Costs a few instructions per change.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct LengthProbe {
    length: u64,
    since: Time,
    /// The bin of the present length.
    bin: usize,
    /// Time spent in each bin, up to the octave of the longest length so far. How long it was zero
    /// is what is left of the time: ports that queue little touch one cache line less.
    bins: Vec<u64>,
    /// The longest length that lasted, since it was last taken.
    max: u64,
    /// The longest before that.
    taken: u64,
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

    /// Prefetches the bin that will count next, if one will.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        if self.length > 0 {
            prefetch_at(&self.bins, self.bin);
        }
    }

    #[inline(always)]
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    #[inline(always)]
    fn advance(&mut self, now: Time) {
        let span = (now - self.since).as_ps();
        self.since = now;
        if self.length > 0 {
            match self.bins.get_mut(self.bin) {
                Some(time) if self.length <= self.max => *time += span,
                _ => self.advance_beyond(span),
            }
        }
    }

    /// The length was longer than any so far, if it lasted at all.
    #[inline(never)]
    fn advance_beyond(&mut self, span: u64) {
        if span == 0 {
            return;
        }
        self.max = self.length;
        if self.bin >= self.bins.len() {
            // to the end of the octave and no further: there are as many probes as ports
            let room = (self.bin + 1).next_multiple_of(SUB as usize);
            self.bins.reserve_exact(room - self.bins.len());
            self.bins.resize(room, 0);
        }
        self.bins[self.bin] += span;
    }

    /// The longest length since the last call, the present one included, which must have lasted.
    pub(crate) fn take_longest(&mut self) -> u64 {
        let longest = self.longest();
        self.taken = self.taken.max(longest);
        self.max = self.length;
        longest
    }

    /// The same without taking it.
    pub(crate) fn longest(&self) -> u64 {
        self.max.max(self.length)
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

    /// The distribution from `start`, when it began to count, until `end`; `area` is the integral.
    /// Only the present length is known after it.
    pub(crate) fn stats(&mut self, (start, end): (Time, Time), area: u128) -> QueueStats {
        if end > self.since {
            self.advance(end);
        }
        let over = std::mem::take(self);
        (self.length, self.bin) = (over.length, over.bin);
        QueueStats::new(over.since - start, over.bins, over.max.max(over.taken), area)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_core::Bytes;
    use weir_core::percentile::{P50, P95};

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
        let s = p.stats((ns(0), ns(100)), area.until(ns(100), 0));
        assert_eq!(s.mean, 500.0);
        assert_eq!((s.max, s.percentile(P50)), (Bytes::new(3000), Bytes::ZERO));
        // 70 ns at zero, 90 ns at 1000 or less: within 1/32 above
        let (edge, spent) = s.distribution().nth(1).unwrap();
        assert!((1000..=1031).contains(&edge.get()) && spent == ns(20).as_ps(), "{s:?}");
        assert_eq!(s.percentile(P95), Bytes::new(3000));
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
        assert_eq!(p.stats((ns(0), ns(50)), 0).max, Bytes::new(1006));
    }

    #[test]
    fn a_restart_forgets_the_warm_up_but_not_the_length() {
        let mut p = LengthProbe::default();
        p.set(ns(0), 9000);
        p.set(ns(50), 100);
        p.restart(ns(60));
        let area = Area::begin(ns(60), 100);
        let s = p.stats((ns(60), ns(70)), area.until(ns(70), 100));
        assert_eq!((s.mean, s.max), (100.0, Bytes::new(100)));
    }
    proptest! {
        /// Whatever a queue does and whenever the warm-up ends: what is counted is each length for
        /// as long as it lasted, and a length that did not last is nowhere.
        #[test]
        fn each_length_counts_for_as_long_as_it_lasts(
            changes in prop::collection::vec((0u64..3, 0u64..5000), 0..200),
            restart in 0usize..200,
        ) {
            let (mut probe, mut now, mut length, mut start) = (LengthProbe::default(), 0, 0, 0);
            let mut lasted = Vec::new();
            for (i, (span, next)) in changes.into_iter().enumerate() {
                lasted.push((Bytes::new(length), ns(span).as_ps()));
                (now, length) = (now + span, next);
                probe.set(ns(now), length);
                if i == restart {
                    probe.restart(ns(now));
                    start = now;
                    lasted.clear();
                }
            }
            let counted = probe.stats((ns(start), ns(now)), 0);
            let expected: QueueStats = lasted.into_iter().collect();
            prop_assert_eq!(counted.time, expected.time);
            prop_assert_eq!(counted.max, expected.max);
            prop_assert!(counted.distribution().eq(expected.distribution()));
        }
    }
}
