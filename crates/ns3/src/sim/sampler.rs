//! Distributions of queue lengths.

use super::Sim;
use crate::queue::Event;
use crate::record::QueueDistribution;
use weir_cc::CongestionControl;

/// Between two samples.
const INTERVAL_NS: u64 = 100;
/// Distributions are written at multiples of this.
const DUMP_NS: u64 = 100_000_000;

impl<C: CongestionControl> Sim<'_, C> {
    pub(super) fn sample(&mut self) {
        let now = self.now();
        if !self.options.sample {
            // Not needed: count the samples instead of taking them.
            let until_end = self.options.qlen_end.saturating_sub(now).div_ceil(INTERVAL_NS);
            let until_stop = self.stop.saturating_sub(now + 1) / INTERVAL_NS;
            self.counters.events += until_end.min(until_stop);
            return;
        }
        for (switch, samples) in self.switches.iter().zip(&mut self.samples) {
            for (port, bins) in samples.iter_mut().enumerate() {
                let bin = switch.mmu.egress_total(port) as usize / 1000;
                if bins.len() <= bin {
                    bins.resize(bin + 1, 0);
                }
                bins[bin] += 1;
            }
        }
        if now.is_multiple_of(DUMP_NS) {
            let mut ports =
                self.switches.iter().zip(&self.samples).flat_map(|(switch, samples)| {
                    samples.iter().enumerate().map(|(port, bins)| QueueDistribution {
                        switch: switch.node,
                        interface: port as u32 + 1,
                        samples: bins,
                    })
                });
            self.recorder.queues(now, &mut ports);
        }
        if now < self.options.qlen_end {
            self.schedule(now + INTERVAL_NS, Event::Sample);
        }
    }
}
