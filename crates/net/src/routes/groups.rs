//! Sets of equally good ports, each stored once.

use super::Entry;
use rustc_hash::FxHashMap;
use weir_core::PortId;

#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// Where each group lies in `pool`.
    spans: Vec<(u32, u32)>,
    pool: Vec<PortId>,
    known: FxHashMap<Box<[PortId]>, u32>,
}

impl Groups {
    /// The table entry for a set of ports. `guess` is an entry that is probably the same.
    pub(super) fn entry(&mut self, ports: &[PortId], guess: Entry) -> Entry {
        match ports {
            [] => return Entry::NONE,
            [port] => return Entry(u32::from(port.0)),
            _ => {}
        }
        if guess != Entry::NONE && guess.0 >= Entry::GROUPS && self.ports(guess) == ports {
            return guess;
        }
        if let Some(&group) = self.known.get(ports) {
            return Entry(Entry::GROUPS + group);
        }
        let group = self.spans.len() as u32;
        self.spans.push((self.pool.len() as u32, ports.len() as u32));
        self.pool.extend_from_slice(ports);
        self.known.insert(ports.into(), group);
        Entry(Entry::GROUPS + group)
    }

    /// The ports of a group entry.
    #[inline]
    pub(super) fn ports(&self, entry: Entry) -> &[PortId] {
        let (start, len) = self.spans[(entry.0 - Entry::GROUPS) as usize];
        &self.pool[start as usize..(start + len) as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        // the map holds every group once more
        size_of_val(&*self.spans) * 4 + size_of_val(&*self.pool) * 2
    }
}
