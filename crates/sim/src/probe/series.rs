//! Samples of all switch ports over time, in bounded memory.
//!
//! A run may last much longer than expected: a scheme that slows a network down to a crawl takes
//! seconds of simulated time for what others do in a millisecond. So there is a limit to what is
//! kept. When it is reached, every second sample is dropped and the interval doubles; the samples
//! then still cover the whole run, as they would have with the longer interval from the start.

use crate::outcome::Sample;
use weir_core::Time;

/// Samples kept in a run, all ports together: 64 MB.
const MOST: usize = 2_000_000;

/// Every port keeps at least so many, whatever the number of ports.
const LEAST_PER_PORT: usize = 16;

/// When to sample, and what was sampled.
#[derive(Debug)]
pub(crate) struct Series {
    interval: Option<Time>,
    next: Time,
    most: usize,
    pub(crate) samples: Vec<Sample>,
}

impl Series {
    /// Samples of `ports` ports at every `interval`, the first at the start.
    pub(crate) fn new(interval: Option<Time>, ports: usize) -> Self {
        Self::with_limit(interval, MOST.max(ports.saturating_mul(LEAST_PER_PORT)))
    }

    fn with_limit(interval: Option<Time>, most: usize) -> Self {
        let next = interval.map_or(Time::NEVER, |_| Time::ZERO);
        Self { interval, next, most, samples: Vec::new() }
    }

    /// When the next sample is due; never, without a series.
    pub(crate) const fn due(&self) -> Time {
        self.next
    }

    /// The interval between samples as they stand now.
    pub(crate) const fn interval(&self) -> Option<Time> {
        self.interval
    }

    /// To be called when the samples of the time that was due are there: sets the next time, and
    /// thins the samples out when there are too many.
    pub(crate) fn taken(&mut self) {
        let Some(mut interval) = self.interval else { return };
        let now = self.next;
        while self.samples.len() > self.most && interval < Time::NEVER {
            interval = interval.saturating_add(interval);
            self.samples.retain(|s| s.at.as_ps() % interval.as_ps() == 0);
        }
        self.interval = Some(interval);
        let steps = now.as_ps() / interval.as_ps() + 1;
        self.next = Time::from_ps(interval.as_ps().saturating_mul(steps));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::{Bytes, NodeId, PortId};

    /// Takes samples of two ports at every time that is due, up to `end`.
    fn sampled(series: &mut Series, end: Time) -> Vec<u64> {
        while series.due() <= end {
            let at = series.due();
            for port in 0..2 {
                series.samples.push(Sample {
                    at,
                    node: NodeId(0),
                    port: PortId(port),
                    queue: Bytes::ZERO,
                    ingress: Bytes::ZERO,
                    held: 0,
                });
            }
            series.taken();
        }
        series.samples.iter().map(|s| s.at.as_ps()).collect()
    }

    #[test]
    fn a_long_run_keeps_no_more_samples_than_the_limit() {
        // 1001 times of two ports are due; with a limit of 100 samples the interval doubles until
        // 1000 / interval + 1 times of two ports fit: 32 ps give 32 times
        let mut series = Series::with_limit(Some(Time::from_ps(1)), 100);
        let times = sampled(&mut series, Time::from_ps(1000));
        assert_eq!(series.interval(), Some(Time::from_ps(32)));
        let expected: Vec<u64> = (0..32).flat_map(|i| [32 * i, 32 * i]).collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn a_short_run_keeps_all() {
        let mut series = Series::with_limit(Some(Time::from_ps(3)), 100);
        let times = sampled(&mut series, Time::from_ps(9));
        assert_eq!(times, [0, 0, 3, 3, 6, 6, 9, 9]);
        assert_eq!(series.interval(), Some(Time::from_ps(3)));
    }

    #[test]
    fn without_an_interval_nothing_is_ever_due() {
        assert_eq!(Series::new(None, 4).due(), Time::NEVER);
    }
}
