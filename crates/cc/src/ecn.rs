//! Which packets a switch marks: RED on the egress queue, decided as a packet leaves or joins it.

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
    /// The decision for a packet that leaves `queue` bytes behind, or finds them.
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
}

/// A published parameter set of marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Up to this many bytes nothing is marked.
    pub kmin: Bytes,
    /// Above this many bytes everything is marked.
    pub kmax: Bytes,
    /// The probability at `kmax`, in percent.
    pub percent: u32,
    /// The thresholds are for ports of this speed, and in proportion for others; `None`: for any.
    pub per: Option<Rate>,
}

impl Profile {
    /// * `dcqcn`: the HPCC evaluation;
    /// * `dcqcn-paper`: the DCQCN paper, at 40 Gb/s;
    /// * `dcqcn-ns3-rdma`: that simulator's sample;
    /// * `dctcp`: all or nothing.
    pub const ALL: [Self; 4] = [
        Self::new("dcqcn", 100, 400, 20, Some(Rate::from_gbps(25))),
        Self::new("dcqcn-paper", 5, 200, 1, None),
        Self::new("dcqcn-ns3-rdma", 40, 1000, 100, None),
        Self::new("dctcp", 30, 30, 100, Some(Rate::from_gbps(10))),
    ];

    const fn new(
        name: &'static str,
        kmin: u64,
        kmax: u64,
        percent: u32,
        per: Option<Rate>,
    ) -> Self {
        Self { name, kmin: Bytes::from_kb(kmin), kmax: Bytes::from_kb(kmax), percent, per }
    }

    /// The profile called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        const ALL: &[Profile] = &Profile::ALL;
        ALL.iter().find(|p| p.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_above_kmax_never_up_to_kmin_and_linear_between() {
        let m = Marking { kmin: 400_000, kmax: 1_600_000, pmax: 0.2 };
        assert_eq!(m.decide(400_000), Mark::No);
        assert_eq!(m.decide(1_000_000), Mark::If(0.1));
        assert_eq!(m.decide(1_600_000), Mark::If(0.2));
        assert_eq!(m.decide(1_600_001), Mark::Yes);
    }

    #[test]
    fn equal_thresholds_mark_all_or_nothing() {
        let m = Marking { kmin: 300_000, kmax: 300_000, pmax: 1.0 };
        assert_eq!((m.decide(300_000), m.decide(300_001)), (Mark::No, Mark::Yes));
    }

    #[test]
    fn profiles_are_found_by_name() {
        for profile in &Profile::ALL {
            assert_eq!(Profile::find(profile.name), Some(profile));
            assert!(profile.kmin <= profile.kmax && profile.percent <= 100, "{profile:?}");
        }
        assert_eq!(Profile::find("red"), None);
    }
}
