//! Samples of all switch ports over time, in bounded memory.
//!
//! A run may last much longer than expected: a scheme that slows a network down to a crawl takes
//! seconds of simulated time for what others do in a millisecond. So there is a limit to what is
//! kept. When it is reached, every second sample is dropped and the interval doubles; the samples
//! then still cover the whole run, as they would have with the longer interval from the start.

use super::interface::{Hears, Probe, ProbeInfo, ProbeSetup, Sight};
use crate::outcome::{Outcome, Sample};
use weir_core::{NodeId, PortId, Time};
use weir_fc::Role;

/// See [`PROBES`](super::PROBES).
pub(super) const INFO: ProbeInfo = ProbeInfo {
    name: "series",
    summary: "the state of all switch ports at equal distances in time",
    columns: &[],
    hears: Hears::NOTHING,
    build,
    finish: |outcome, _| outcome.series.sort_by_key(|s| (s.at, s.node, s.port)),
};

/// Samples kept in a run, all ports together: 64 MB.
const MOST: usize = 2_000_000;

/// Every port keeps at least so many, whatever the number of ports.
const LEAST_PER_PORT: usize = 16;

/// When to sample a switch, and what was sampled.
#[derive(Debug)]
struct Series {
    node: NodeId,
    ports: usize,
    interval: Time,
    next: Time,
    /// At how many instants samples may have been taken. All switches keep the same ones, because
    /// this is the same for all of them.
    most: usize,
    samples: Vec<Sample>,
}

fn build(setup: &ProbeSetup<'_>) -> Option<Box<dyn Probe>> {
    let interval = setup.config.series?;
    let most = (MOST / setup.switch_ports.max(1)).max(LEAST_PER_PORT);
    let samples = setup.role == Role::Switch && setup.ports > 0;
    samples.then(|| Box::new(Series::new(setup.node, setup.ports, interval, most)) as _)
}

impl Series {
    /// Samples of `ports` ports at every `interval`, the first at the start.
    fn new(node: NodeId, ports: usize, interval: Time, most: usize) -> Self {
        Self { node, ports, interval, next: Time::ZERO, most, samples: Vec::new() }
    }

    /// Sets the next time, and thins the samples out when there are too many.
    fn taken(&mut self) {
        let now = self.next;
        let Self { samples, interval, .. } = self;
        while samples.len() > self.most * self.ports && *interval < Time::NEVER {
            *interval = interval.saturating_add(*interval);
            samples.retain(|s| s.at.as_ps() % interval.as_ps() == 0);
        }
        let steps = now.as_ps() / interval.as_ps() + 1;
        self.next = Time::from_ps(interval.as_ps().saturating_mul(steps));
    }
}

impl Probe for Series {
    fn due(&self) -> Time {
        self.next
    }

    fn sample(&mut self, now: Time, node: &dyn Sight) {
        let sample = |port| Sample {
            at: now,
            node: self.node,
            port,
            queue: node.queue(port),
            ingress: node.ingress(port),
            held: node.held(port).bits(),
        };
        self.samples.extend((0..self.ports).map(PortId::from_index).map(sample));
        self.taken();
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        outcome.series.append(&mut self.samples);
        outcome.series_interval = Some(self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::{Bytes, PrioritySet};
    use weir_fc::StateSize;

    /// Two ports at which nothing happens.
    struct Idle;

    impl Sight for Idle {
        fn ports(&self) -> usize {
            2
        }
        fn queue(&self, _: PortId) -> Bytes {
            Bytes::ZERO
        }
        fn ingress(&self, _: PortId) -> Bytes {
            Bytes::ZERO
        }
        fn held(&self, _: PortId) -> PrioritySet {
            PrioritySet::EMPTY
        }
        fn memory(&self) -> Bytes {
            Bytes::ZERO
        }
        fn tables(&self) -> StateSize {
            StateSize::default()
        }

        fn events(&self) -> u64 {
            0
        }
    }

    /// Takes samples of two ports at every time that is due, up to `end`: the interval at the end,
    /// and when the samples were taken.
    fn sampled(interval: u64, most: usize, end: u64) -> (u64, Vec<u64>) {
        let mut series = Series::new(NodeId(0), 2, Time::from_ps(interval), most);
        while series.due() <= Time::from_ps(end) {
            series.sample(series.due(), &Idle);
        }
        (series.interval.as_ps(), series.samples.iter().map(|s| s.at.as_ps()).collect())
    }

    #[test]
    fn a_long_run_keeps_no_more_samples_than_the_limit() {
        // 1001 times of two ports are due; with a limit of 50 times the interval doubles until
        // 1000 / interval + 1 times fit: 32 ps give 32 times
        let expected: Vec<u64> = (0..32).flat_map(|i| [32 * i, 32 * i]).collect();
        assert_eq!(sampled(1, 50, 1000), (32, expected));
    }

    #[test]
    fn a_short_run_keeps_all() {
        assert_eq!(sampled(3, 50, 9), (3, vec![0, 0, 3, 3, 6, 6, 9, 9]));
    }
}
