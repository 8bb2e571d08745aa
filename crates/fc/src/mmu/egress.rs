//! Thresholds at the egress of a shared-memory switch.
//!
//! The ingress decides when to pause; it protects lossless priorities. What keeps lossy priorities
//! from taking all of the memory is a threshold at the egress: a packet whose egress queue (port,
//! priority) is too long is dropped. It is fixed, or alpha times what the lossy priorities of the
//! whole switch leave of a pool, as in SONiC's `egress_lossy_pool`. Lossless queues usually have no
//! limit there, because a limit loses what flow control protects.

use super::{Mmu, share_of, slot};
use weir_core::{Bytes, PortId, Priority};

/// What bounds the egress queues (port, priority) of a switch. Priorities whose packets are always
/// admitted have no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EgressThresholds {
    /// Most bytes of a lossy priority; [`Bytes::MAX`] for no limit.
    pub limit: Bytes,
    /// Most bytes of a lossless priority; [`Bytes::MAX`] for no limit.
    pub lossless: Bytes,
    /// A lossy queue may hold this share of what is free, too.
    pub share: Option<EgressShare>,
}

/// A dynamic threshold of lossy egress queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EgressShare {
    /// alpha = 2^-shift.
    pub shift: i8,
    /// Of this memory, less what lossy priorities use at all ports.
    pub pool: Bytes,
}

/// The thresholds, and what counts against the pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Egress {
    thresholds: EgressThresholds,
    pub(super) lossy_used: Bytes,
}

impl Egress {
    /// Whether packets of lossy priorities must be counted.
    pub(super) fn counts(&self) -> bool {
        self.thresholds.share.is_some()
    }
}

impl Mmu {
    /// The same memory with thresholds at the egress.
    #[must_use]
    pub fn bounding_egress(mut self, thresholds: Option<EgressThresholds>) -> Self {
        self.egress =
            thresholds.map(|thresholds| Egress { thresholds, lossy_used: Bytes::ZERO }.into());
        self.find_rules();
        self
    }

    /// The most that an egress queue of `priority` may hold now.
    pub fn egress_threshold(&self, priority: Priority) -> Bytes {
        let Some(egress) = self.egress.as_deref() else { return Bytes::MAX };
        if self.config.exempt.contains(priority) {
            return Bytes::MAX;
        }
        if self.is_lossless(priority) {
            return egress.thresholds.lossless;
        }
        let free = |of: EgressShare| share_of(of.pool.saturating_sub(egress.lossy_used), of.shift);
        let share = egress.thresholds.share.map_or(Bytes::MAX, free);
        egress.thresholds.limit.min(share)
    }

    /// Whether packets of `priority` count against the pool of lossy priorities.
    pub(super) fn counts_at_egress(&self, priority: Priority) -> bool {
        let counts = self.egress.as_ref().is_some_and(|e| e.counts());
        counts && !self.is_lossless(priority) && !self.config.exempt.contains(priority)
    }

    /// Checks that the count of lossy priorities is the sum of their ingresses.
    pub(super) fn audit_egress(&self, ports: usize) -> Result<(), String> {
        let Some(egress) = &self.egress else { return Ok(()) };
        let priorities = || Priority::ALL.into_iter().filter(|p| self.counts_at_egress(*p));
        let of_port = |port: usize| priorities().map(move |p| slot(PortId::from_index(port), p));
        let sum: Bytes = (0..ports).flat_map(of_port).map(|s| self.ingress[s].bytes).sum();
        match sum == egress.lossy_used {
            true => Ok(()),
            false => Err(format!(
                "lossy priorities hold {} B, the egress counts {} B",
                sum.get(),
                egress.lossy_used.get()
            )),
        }
    }
}
