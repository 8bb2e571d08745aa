//! How long queues were, and how much memory was in use, weighted by time.

use rustc_hash::FxHashMap;
use weir_core::{NodeId, Percentile, PortId};
use weir_net::{Layer, Topology};
use weir_sim::outcome::{Outcome, QueueStats};

weir_core::words! {
    /// Where a switch port stands in the fabric.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum PortKind {
        /// Towards a host.
        HostFacing = "host-facing",
        /// Of a ToR switch, towards switches.
        Tor = "tor",
        /// Of an aggregation switch.
        Agg = "agg",
        /// Of a core switch.
        Core = "core",
        /// Between switches of a network without layers.
        Other = "other",
    }
}

impl PortKind {
    /// How figures call such ports.
    pub const fn title(self) -> &'static str {
        match self {
            Self::HostFacing => "ports towards hosts",
            Self::Tor => "ToR ports towards switches",
            Self::Agg => "aggregation ports",
            Self::Core => "core ports",
            Self::Other => "ports between switches",
        }
    }

    /// The kind of a port; `None` for a port of a host.
    pub fn of(topology: &Topology, node: NodeId, port: PortId) -> Option<Self> {
        if topology.is_host(node) {
            return None;
        }
        Some(match topology.node(node).layer {
            _ if topology.is_host_facing(node, port) => Self::HostFacing,
            Layer::Tor => Self::Tor,
            Layer::Agg => Self::Agg,
            Layer::Core => Self::Core,
            _ => Self::Other,
        })
    }
}

/// A distribution over time of several queues or memories together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// (upper edge in bytes, picoseconds spent in the bin), ascending.
    pub bins: Vec<(u64, u128)>,
    /// All of the time.
    pub total: u128,
    /// Mean in bytes.
    pub mean: f64,
    /// The most, exactly.
    pub max: u64,
}

/// Sums over queues or memories.
#[derive(Default)]
struct Sum {
    bins: FxHashMap<u64, u128>,
    total: u128,
    /// Bytes times picoseconds.
    bytes: f64,
    max: u64,
}

impl Sum {
    fn add(&mut self, stats: &QueueStats) {
        let bins = stats.distribution();
        let bins = bins.map(|(edge, spent)| (edge.get(), u128::from(spent)));
        self.merge(bins, time_of(stats), stats.mean, stats.max.get());
    }

    fn merge(&mut self, bins: impl Iterator<Item = (u64, u128)>, time: u128, mean: f64, max: u64) {
        for (edge, spent) in bins {
            *self.bins.entry(edge).or_default() += spent;
        }
        self.bytes += mean * time as f64;
        self.total += time;
        self.max = self.max.max(max);
    }

    fn distribution(self) -> Distribution {
        let Self { bins, total, bytes, max } = self;
        let mean = if total > 0 { bytes / total as f64 } else { 0.0 };
        let mut bins: Vec<_> = bins.into_iter().collect();
        bins.sort_unstable();
        Distribution { bins, total, mean, max }
    }
}

/// How long the queues of a run were.
#[derive(Clone, Debug, PartialEq)]
pub struct Queues {
    /// By kind of port, in the order of [`PortKind::ALL`].
    by_kind: [Distribution; PortKind::ALL.len()],
    /// Of the memory of all switches.
    pub memory: Distribution,
}

impl Queues {
    /// The distributions of a run; see [`Run::queues`], which works them out only once. A run
    /// records no port that did nothing: such ports were empty for as long as the others were
    /// looked at.
    pub(crate) fn of_run(topology: &Topology, outcome: &Outcome) -> Self {
        let mut sums: [Sum; PortKind::ALL.len()] = Default::default();
        // of each kind, how many ports there are beyond those that are recorded
        let mut idle = [0u128; PortKind::ALL.len()];
        for node in topology.switches() {
            let ports = (0..topology.ports(node).len()).map(PortId::from_index);
            for kind in ports.filter_map(|p| PortKind::of(topology, node, p)) {
                idle[kind as usize] += 1;
            }
        }
        for port in &outcome.ports {
            if let Some(kind) = PortKind::of(topology, port.node, port.port) {
                sums[kind as usize].add(&port.queue);
                idle[kind as usize] -= 1;
            }
        }
        let watched = outcome.switches.first().map_or(0, |s| time_of(&s.buffer));
        let by_kind = PortKind::ALL.map(|kind| {
            let sum = std::mem::take(&mut sums[kind as usize]);
            sum.distribution().with_empty_time(watched * idle[kind as usize])
        });
        let memory = Distribution::new(outcome.switches.iter().map(|s| &s.buffer));
        Self { by_kind, memory }
    }

    /// Of all ports of this kind.
    pub fn of(&self, kind: PortKind) -> &Distribution {
        &self.by_kind[kind as usize]
    }
}

impl<'a> FromIterator<&'a Self> for Distribution {
    /// Several together, as long as each was looked at.
    fn from_iter<T: IntoIterator<Item = &'a Self>>(all: T) -> Self {
        let mut sum = Sum::default();
        for d in all {
            sum.merge(d.bins.iter().copied(), d.total, d.mean, d.max);
        }
        sum.distribution()
    }
}

impl Distribution {
    /// Puts distributions together.
    pub fn new<'a>(all: impl Iterator<Item = &'a QueueStats>) -> Self {
        let mut sum = Sum::default();
        all.for_each(|stats| sum.add(stats));
        sum.distribution()
    }

    /// Adds time during which a queue was empty.
    fn with_empty_time(mut self, time: u128) -> Self {
        if time == 0 {
            return self;
        }
        match self.bins.first_mut() {
            Some((0, spent)) => *spent += time,
            _ => self.bins.insert(0, (0, time)),
        }
        self.mean *= self.total as f64 / (self.total + time) as f64;
        self.total += time;
        self
    }

    /// What was not exceeded for a share of the time, up to the width of a bin above the true
    /// value.
    pub fn percentile(&self, share: Percentile) -> u64 {
        let edge = share.over_time(self.total, self.bins.iter().copied());
        edge.map_or(self.max, |edge| edge.min(self.max))
    }

    /// The bins with the share of time up to each.
    pub fn shares(&self) -> impl Iterator<Item = (u64, u128, f64)> + '_ {
        let mut spent = 0;
        self.bins.iter().map(move |&(edge, time)| {
            spent += time;
            (edge, time, spent as f64 / self.total as f64)
        })
    }
}

/// For how long a queue was looked at.
fn time_of(stats: &QueueStats) -> u128 {
    u128::from(stats.time.as_ps())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::Bytes;
    use weir_core::percentile::P50;

    fn stats(lasted: &[(u64, u64)]) -> QueueStats {
        lasted.iter().map(|&(length, time)| (Bytes::new(length), time)).collect()
    }

    #[test]
    fn queues_are_put_together_by_time() {
        // 60 ps empty and 40 ps at 100 B; 100 ps at 60 B
        let all = [stats(&[(0, 60), (100, 40)]), stats(&[(60, 100)])];
        let d = Distribution::new(all.iter());
        assert_eq!((d.total, d.mean, d.max), (200, 50.0, 100));
        let at = |thousandths| d.percentile(Percentile::per_mille(thousandths));
        assert_eq!([300, 301, 800, 801, 1000].map(at), [0, 60, 60, 100, 100]);
        let shares: Vec<_> = d.shares().collect();
        assert_eq!(shares, [(0, 60, 0.3), (60, 100, 0.8), (100, 40, 1.0)]);
        assert_eq!(Distribution::new([].into_iter()).percentile(P50), 0);
        // one by one, then together
        let apart = all.each_ref().map(|stats| Distribution::new([stats].into_iter()));
        assert_eq!(apart.iter().collect::<Distribution>(), d);
    }
}
