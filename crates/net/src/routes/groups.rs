//! Sets of equally good ports, each stored once.

use super::{Entry, masks};
use rustc_hash::FxHashMap;
use weir_core::PortId;

#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// Where each group lies in `pool`, and how many ports it has.
    spans: Vec<(u32, u32)>,
    pool: Vec<PortId>,
}

impl Groups {
    /// The ports of a group entry; `None` for [`Entry::NONE`].
    #[inline(always)]
    pub(super) fn ports(&self, entry: Entry) -> Option<&[PortId]> {
        let (start, len) = *self.spans.get((entry.0 - Entry::GROUPS) as usize)?;
        self.pool.get(start as usize..(start + len) as usize)
    }

    /// The port of a group entry that a hash picks; `None` for [`Entry::NONE`].
    #[inline(always)]
    pub(super) fn pick(&self, entry: Entry, hash: impl FnOnce() -> u64) -> Option<PortId> {
        let (start, len) = *self.spans.get((entry.0 - Entry::GROUPS) as usize)?;
        // multiply-shift: the bias is below 2^-48 for any number of ports
        let pick = (u128::from(hash()) * u128::from(len)) >> 64;
        self.pool.get(start as usize + pick as usize).copied()
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.spans) + size_of_val(&*self.pool)
    }
}

/// Groups while the table is being filled.
#[derive(Default)]
pub(super) struct GroupMaker {
    pub(super) groups: Groups,
    known: FxHashMap<Box<[u64]>, Entry>,
}

impl GroupMaker {
    /// The table entry for a set of ports.
    pub(super) fn entry(&mut self, mask: &[u64]) -> Entry {
        let mut few = masks::ports(mask);
        match (few.next(), few.next()) {
            (None, _) => return Entry::NONE,
            (Some(port), None) => return Entry(u32::from(port.0)),
            _ => {}
        }
        if let Some(&entry) = self.known.get(mask) {
            return entry;
        }
        let Groups { spans, pool } = &mut self.groups;
        let (entry, start) = (Entry(Entry::GROUPS + spans.len() as u32), pool.len());
        pool.extend(masks::ports(mask));
        spans.push((start as u32, (pool.len() - start) as u32));
        self.known.insert(mask.into(), entry);
        entry
    }
}
