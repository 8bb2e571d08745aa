//! Headroom that all ingresses of a switch share.
//!
//! Each ingress may still use its own headroom at most, but memory is set aside only for a pool
//! that is smaller than their sum: not all links need it at the same time. (SONiC: the `xoff` of
//! the lossless pool.)

use super::Mmu;
use weir_core::Bytes;

/// The pool, and how much of it is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedHeadroom {
    /// [`Bytes::MAX`] where each ingress has headroom of its own.
    pub(super) limit: Bytes,
    pub(super) used: Bytes,
}

impl SharedHeadroom {
    pub(super) const NONE: Self = Self { limit: Bytes::MAX, used: Bytes::ZERO };

    /// Whether `size` bytes more do not fit.
    pub(super) fn is_full_for(&self, size: Bytes) -> bool {
        self.used.saturating_add(size) > self.limit
    }
}

impl Mmu {
    /// The same memory, of which `pool` bytes are set aside as headroom of all ingresses together
    /// instead of each one's own. Only dynamic thresholds have headroom apart from the rest.
    #[must_use]
    pub fn sharing_headroom(mut self, pool: Option<Bytes>) -> Self {
        let super::Thresholds::Dynamic { reserve, headroom, .. } = &self.config.thresholds else {
            return self;
        };
        if let Some(pool) = pool {
            let lossless = self.config.lossless.len() as u64;
            let reserved = *reserve * lossless * headroom.len() as u64;
            self.shared = self.config.buffer.saturating_sub(reserved.saturating_add(pool));
            self.shared_headroom = SharedHeadroom { limit: pool, used: Bytes::ZERO };
        }
        self
    }
}
