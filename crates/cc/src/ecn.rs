//! Which packets a switch marks: RED on the egress queue, decided as a packet leaves.

use weir_core::{Bytes, Rate};

/// Marking thresholds of an egress queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marking {
    /// Up to this many bytes nothing is marked.
    pub kmin: u64,
    /// Above this many bytes everything is marked.
    pub kmax: u64,
    /// The probability at `kmax`; it rises linearly from zero at `kmin`.
    pub pmax: f64,
}

/// What to do with a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    /// Leave it.
    No,
    /// Mark it.
    Yes,
    /// Mark it if a uniform draw from [0, 1) is below this.
    If(f64),
}

impl Marking {
    /// The decision for a packet that leaves `queue` bytes behind.
    #[inline]
    pub fn decide(&self, queue: u64) -> Mark {
        if queue > self.kmax {
            Mark::Yes
        } else if queue > self.kmin {
            let above = (queue - self.kmin) as f64;
            Mark::If(self.pmax * above / (self.kmax - self.kmin) as f64)
        } else {
            Mark::No
        }
    }

    /// A published parameter set for a port of `rate`:
    ///
    /// * `dcqcn`: 100 kB, 400 kB per 25 Gb/s and 0.2 (the HPCC evaluation);
    /// * `dcqcn-paper`: 5 kB, 200 kB, 0.01 at any rate (the DCQCN paper, 40 Gb/s);
    /// * `dcqcn-ns3-rdma`: 40 kB, 1000 kB, 1 (that simulator's sample);
    /// * `dctcp`: 30 kB per 10 Gb/s, all or nothing.
    pub fn profile(name: &str, rate: Rate) -> Option<Self> {
        let scaled = |kb: u64, per_gbps: u64| {
            let product = u128::from(kb * 1000) * u128::from(rate.as_bps());
            (product / u128::from(per_gbps * 1_000_000_000)) as u64
        };
        let (kmin, kmax, pmax) = match name {
            "dcqcn" => (scaled(100, 25), scaled(400, 25), 0.2),
            "dcqcn-paper" => (5_000, 200_000, 0.01),
            "dcqcn-ns3-rdma" => (40_000, 1_000_000, 1.0),
            "dctcp" => (scaled(30, 10), scaled(30, 10), 1.0),
            _ => return None,
        };
        Some(Self { kmin, kmax, pmax })
    }

    /// The names [`Marking::profile`] knows.
    pub const PROFILES: &[&str] = &["dcqcn", "dcqcn-paper", "dcqcn-ns3-rdma", "dctcp"];

    /// Marks nothing, whatever the queue.
    pub const NEVER: Self = Self { kmin: u64::MAX, kmax: u64::MAX, pmax: 0.0 };

    /// All-or-nothing marking above `k`.
    pub const fn step(k: Bytes) -> Self {
        Self { kmin: k.get(), kmax: k.get(), pmax: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_above_kmax_never_up_to_kmin_and_linear_between() {
        let m = Marking::profile("dcqcn", Rate::from_gbps(100)).unwrap();
        assert_eq!((m.kmin, m.kmax), (400_000, 1_600_000));
        assert_eq!(m.decide(400_000), Mark::No);
        assert_eq!(m.decide(1_000_000), Mark::If(0.1));
        assert_eq!(m.decide(1_600_000), Mark::If(0.2));
        assert_eq!(m.decide(1_600_001), Mark::Yes);
        assert_eq!(Marking::NEVER.decide(1 << 60), Mark::No);
    }

    #[test]
    fn dctcp_marks_all_or_nothing() {
        let m = Marking::profile("dctcp", Rate::from_gbps(100)).unwrap();
        assert_eq!(m, Marking::step(Bytes::new(300_000)));
        assert_eq!((m.decide(300_000), m.decide(300_001)), (Mark::No, Mark::Yes));
        for name in Marking::PROFILES {
            assert!(Marking::profile(name, Rate::from_gbps(40)).is_some());
        }
        assert_eq!(Marking::profile("red", Rate::from_gbps(40)), None);
    }
}
