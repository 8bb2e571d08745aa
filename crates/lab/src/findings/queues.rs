//! How long queues were, and how much memory was in use, weighted by time.

use crate::run::Run;
use rustc_hash::FxHashMap;
use weir_core::{NodeId, PortId};
use weir_net::{Layer, Topology};
use weir_sim::outcome::{PortRecord, QueueStats};

/// Where a switch port stands in the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortKind {
    /// Towards a host.
    HostFacing,
    /// Of a ToR switch, towards switches.
    Tor,
    /// Of an aggregation switch.
    Agg,
    /// Of a core switch.
    Core,
    /// Between switches of a network without layers.
    Other,
}

impl PortKind {
    /// All of them, from the hosts upwards.
    pub const ALL: [Self; 5] = [Self::HostFacing, Self::Tor, Self::Agg, Self::Core, Self::Other];

    /// How files call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostFacing => "host-facing",
            Self::Tor => "tor",
            Self::Agg => "agg",
            Self::Core => "core",
            Self::Other => "other",
        }
    }

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

    /// How many ports of this kind there are.
    fn count(self, topology: &Topology) -> usize {
        let ports = |node: NodeId| {
            let all = (0..topology.ports(node).len()).map(PortId::from_index);
            all.filter(move |&p| Self::of(topology, node, p) == Some(self)).count()
        };
        topology.switches().map(ports).sum()
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

impl Distribution {
    /// Puts distributions together.
    pub fn new<'a>(all: impl Iterator<Item = &'a QueueStats>) -> Self {
        let mut bins: FxHashMap<u64, u128> = FxHashMap::default();
        let (mut total, mut bytes, mut max) = (0u128, 0.0, 0);
        for stats in all {
            let time = time_of(stats);
            for &(edge, spent) in &stats.distribution {
                *bins.entry(edge.get()).or_default() += u128::from(spent);
            }
            bytes += stats.mean * time as f64;
            total += time;
            max = max.max(stats.max.get());
        }
        let mean = if total > 0 { bytes / total as f64 } else { 0.0 };
        let mut bins: Vec<_> = bins.into_iter().collect();
        bins.sort_unstable();
        Self { bins, total, mean, max }
    }

    /// Of all ports of `kind` in these runs. A run records no port that did nothing: such ports
    /// were empty for as long as the others were looked at.
    pub fn of_ports<'a>(
        topology: &Topology,
        runs: impl IntoIterator<Item = &'a Run>,
        kind: PortKind,
    ) -> Self {
        let runs: Vec<&Run> = runs.into_iter().collect();
        let of_kind = |p: &&PortRecord| PortKind::of(topology, p.node, p.port) == Some(kind);
        let recorded = |r: &'a Run| r.outcome.ports.iter().filter(of_kind).map(|p| &p.queue);
        let there_are = kind.count(topology);
        let idle = runs.iter().map(|r| {
            let watched = r.outcome.switches.first().map_or(0, |s| time_of(&s.buffer));
            watched * (there_are - recorded(r).count()) as u128
        });
        let idle = idle.sum();
        Self::new(runs.iter().flat_map(|r| recorded(r))).with_empty_time(idle)
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

    /// Of the memory of all switches in these runs.
    pub fn of_memory<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Self {
        Self::new(runs.into_iter().flat_map(|r| &r.outcome.switches).map(|s| &s.buffer))
    }

    /// What was not exceeded for `percent` of the time, up to the width of a bin above the true
    /// value.
    pub fn percentile(&self, percent: f64) -> u64 {
        let wanted = percent / 100.0 * self.total as f64;
        let mut spent = 0;
        for &(edge, time) in &self.bins {
            spent += time;
            if spent as f64 >= wanted {
                return edge.min(self.max);
            }
        }
        self.max
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
    stats.distribution.iter().map(|&(_, spent)| u128::from(spent)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::Bytes;

    fn stats(mean: f64, max: u64, bins: &[(u64, u64)]) -> QueueStats {
        let distribution = bins.iter().map(|&(edge, time)| (Bytes::new(edge), time)).collect();
        QueueStats { mean, max: Bytes::new(max), distribution, ..QueueStats::default() }
    }

    #[test]
    fn queues_are_put_together_by_time() {
        // 60 ps empty and 40 ps at 100 B; 100 ps at 60 B, in the bin up to 64
        let all = [stats(40.0, 100, &[(0, 60), (100, 40)]), stats(60.0, 60, &[(64, 100)])];
        let d = Distribution::new(all.iter());
        assert_eq!((d.total, d.mean, d.max), (200, 50.0, 100));
        assert_eq!([30.0, 31.0, 80.0, 81.0, 100.0].map(|p| d.percentile(p)), [0, 64, 64, 100, 100]);
        let shares: Vec<_> = d.shares().collect();
        assert_eq!(shares, [(0, 60, 0.3), (64, 100, 0.8), (100, 40, 1.0)]);
        assert_eq!(Distribution::new([].into_iter()).percentile(50.0), 0);
    }
}
