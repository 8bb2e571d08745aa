//! Sets of equally good ports, each stored once.

use super::Entry;
use rustc_hash::FxHashMap;
use weir_core::PortId;

#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// Where each group lies in `pool`, and how many ports it has.
    spans: Vec<(u32, u32)>,
    pool: Vec<PortId>,
}

impl Groups {
    /// The ports of a group entry.
    #[inline]
    pub(super) fn ports(&self, entry: Entry) -> &[PortId] {
        let (start, len) = self.spans[(entry.0 - Entry::GROUPS) as usize];
        &self.pool[start as usize..(start + len) as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.spans) + size_of_val(&*self.pool)
    }
}

/// Groups while the table is being filled.
#[derive(Default)]
pub(super) struct GroupMaker {
    pub(super) groups: Groups,
    known: FxHashMap<Box<[PortId]>, u32>,
}

impl GroupMaker {
    /// The table entry for a set of ports. `guess` is an entry that is probably the same.
    pub(super) fn entry(&mut self, ports: &[PortId], guess: Entry) -> Entry {
        match ports {
            [] => return Entry::NONE,
            [port] => return Entry(u32::from(port.0)),
            _ => {}
        }
        let is_group = guess != Entry::NONE && guess.0 >= Entry::GROUPS;
        if is_group && self.groups.ports(guess) == ports {
            return guess;
        }
        if let Some(&group) = self.known.get(ports) {
            return Entry(Entry::GROUPS + group);
        }
        let Groups { spans, pool } = &mut self.groups;
        let group = spans.len() as u32;
        spans.push((pool.len() as u32, ports.len() as u32));
        pool.extend_from_slice(ports);
        self.known.insert(ports.into(), group);
        Entry(Entry::GROUPS + group)
    }
}
