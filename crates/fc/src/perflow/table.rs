//! Per-flow state of one egress port.

use crate::{Fallback, Kind, NodeSetup, Param, Values};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};
use weir_core::{FlowId, rng};

/// How flows find their state.
pub(crate) const TABLE: Param = Param {
    name: "table",
    kind: Kind::Choice(&["exact", "hashed"]),
    fallback: Fallback::Is("exact"),
    doc: "exact: every flow has its own entry; hashed: flows in the same bucket share one and are \
          treated as one flow.",
};

/// The size of a hashed table.
pub(crate) const BUCKETS: Param = Param {
    name: "buckets",
    kind: Kind::Whole { min: 1, max: 1 << 24 },
    fallback: Fallback::Absent("derived"),
    doc: "Entries per egress port of a hashed table; default: what the scheme's authors use.",
};

/// Which entry a flow uses: the same at every node, so that two flows that are one flow
/// here are one flow to the neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Keys {
    buckets: Option<u64>,
}

impl Keys {
    /// As the parameters say; `buckets` is the default size of a hashed table.
    pub(crate) fn new(values: &Values, buckets: u64) -> Self {
        let meanings = [("exact", false), ("hashed", true)];
        let hashed = values.one_of(&TABLE, &meanings);
        Self { buckets: hashed.then(|| values.integer(&BUCKETS).unwrap_or(buckets)) }
    }

    #[inline]
    pub(crate) fn of(self, flow: FlowId) -> u64 {
        match self.buckets {
            None => flow.get(),
            // its own mixture: a bucket must say nothing about the path ECMP chose
            Some(n) => rng::mix(flow.get() ^ 0x6275_636b_6574) % n,
        }
    }
}

/// So many entries are found by looking at the tags of all: few flows have packets in one port at
/// a time, and they come and go with every other packet.
const FEW: usize = 16;

/// Eight bits of a key, mixed, so that most keys are told apart without a look at them.
#[inline(always)]
fn tag(key: u64) -> u8 {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// The highest bit of each byte is set where that byte of `tags` is `tag`. (Above the lowest byte
/// that matches, it may also be set for a byte that does not match.)
#[inline(always)]
fn matches(tags: [u8; 8], tag: u8) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let differ = u64::from_le_bytes(tags) ^ ONES.wrapping_mul(u64::from(tag));
    differ.wrapping_sub(ONES) & !differ & (ONES << 7)
}

/// A slab of entries found by key. An entry keeps its index while it lives, and the smallest
/// free index is reused, so that they can name queues and marks.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct FlowTable<E> {
    /// Bit per slot of the first few: taken.
    taken: u32,
    /// How many slots beyond are taken.
    beyond: u32,
    /// Where [`FlowTable::find_again`] looks first.
    recent: u32,
    slots: Vec<Option<(u64, E)>>,
    /// Of the first few; that of a free one means nothing.
    tags: [[u8; 8]; FEW / 8],
    /// Of the slots beyond. Apart: few tables need it.
    rest: Box<Rest>,
}

/// Where each key is, and which slots are free.
#[derive(Clone, Debug, Default)]
struct Rest {
    index: FxHashMap<u64, u32>,
    free: BinaryHeap<Reverse<u32>>,
}

impl<E> FlowTable<E> {
    pub(crate) fn new() -> Self {
        Self {
            taken: 0,
            beyond: 0,
            recent: 0,
            slots: Vec::new(),
            tags: [[0; 8]; FEW / 8],
            rest: Box::default(),
        }
    }

    /// One table per port and class, in the order of [`Plan::at`](super::Plan::at).
    pub(crate) fn per_class(setup: &NodeSetup<'_>, plan: &super::Plan) -> Vec<Self> {
        (0..setup.ports.len() * plan.classes()).map(|_| Self::new()).collect()
    }

    /// Where the entry of `key` is. Most tables are empty most of the time.
    #[inline(always)]
    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        if self.taken | self.beyond == 0 { None } else { self.search(key) }
    }

    #[inline(never)]
    fn search(&self, key: u64) -> Option<u32> {
        let tag = tag(key);
        let mut taken = self.taken;
        for (word, tags) in self.tags.iter().enumerate() {
            if taken == 0 {
                break;
            }
            let mut found = matches(*tags, tag);
            while found != 0 {
                let i = word as u32 * 8 + found.trailing_zeros() / 8;
                if self.is_at(key, i) {
                    return Some(i);
                }
                found &= found - 1;
            }
            taken >>= 8;
        }
        if self.beyond == 0 { None } else { self.rest.index.get(&key).copied() }
    }

    /// [`FlowTable::find`] where the entry was at `hint` before.
    #[inline(always)]
    pub(crate) fn find_near(&self, key: u64, hint: Option<u32>) -> Option<u32> {
        hint.filter(|i| self.is_at(key, *i)).or_else(|| self.find(key))
    }

    /// [`FlowTable::find`] where it is mostly the entry of the last time: flows come in trains.
    #[inline(always)]
    pub(crate) fn find_again(&mut self, key: u64) -> Option<u32> {
        let found = self.find_near(key, Some(self.recent));
        if let Some(i) = found {
            self.recent = i;
        }
        found
    }

    #[inline(always)]
    fn is_at(&self, key: u64, i: u32) -> bool {
        matches!(self.slots.get(i as usize), Some(Some((k, _))) if *k == key)
    }

    /// The index that the next entry gets.
    #[inline]
    pub(crate) fn next_index(&self) -> u32 {
        match self.taken.trailing_ones() {
            first_free if (first_free as usize) < FEW => first_free,
            _ => self.rest.free.peek().map_or(self.slots.len() as u32, |Reverse(i)| *i),
        }
    }

    #[inline]
    pub(crate) fn at(&self, i: u32) -> Option<&E> {
        Some(&self.slots.get(i as usize)?.as_ref()?.1)
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, i: u32) -> Option<&mut E> {
        Some(&mut self.slots.get_mut(i as usize)?.as_mut()?.1)
    }

    /// Adds an entry that is not there yet.
    pub(crate) fn insert(&mut self, key: u64, entry: E) -> u32 {
        debug_assert!(self.find(key).is_none(), "one entry per key");
        let first_free = self.taken.trailing_ones() as usize;
        let i = if first_free < FEW {
            self.taken |= 1 << first_free;
            self.tags[first_free / 8][first_free % 8] = tag(key);
            first_free
        } else {
            let i = self.rest.free.pop().map_or(self.slots.len() as u32, |Reverse(i)| i);
            self.rest.index.insert(key, i);
            self.beyond += 1;
            i as usize
        };
        if i == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[i] = Some((key, entry));
        self.recent = i as u32;
        self.recent
    }

    pub(crate) fn remove(&mut self, i: u32) {
        if let Some((key, _)) = self.slots.get_mut(i as usize).and_then(Option::take) {
            if (i as usize) < FEW {
                self.taken &= !(1 << i);
            } else {
                self.rest.index.remove(&key);
                self.rest.free.push(Reverse(i));
                self.beyond -= 1;
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        (self.taken.count_ones() + self.beyond) as usize
    }

    /// The slots that may be in use.
    fn in_use(&self) -> usize {
        let few = (u32::BITS - self.taken.leading_zeros()) as usize;
        if self.beyond == 0 { few } else { self.slots.len() }
    }

    /// All entries in index order: index, key, entry.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u64, &E)> {
        let slots = self.slots[..self.in_use()].iter().enumerate();
        slots.filter_map(|(i, s)| s.as_ref().map(|(key, e)| (i as u32, *key, e)))
    }

    /// All entries in index order, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut E)> {
        let end = self.in_use();
        let slots = self.slots[..end].iter_mut().enumerate();
        slots.filter_map(|(i, s)| s.as_mut().map(|(_, e)| (i as u32, e)))
    }
}

impl<E> FlowTable<E> {
    /// The slots without the empty ones at the end. Index and free list follow from them.
    fn used(&self) -> &[Option<(u64, E)>] {
        let end = self.slots.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        &self.slots[..end]
    }
}

impl<E: PartialEq> PartialEq for FlowTable<E> {
    fn eq(&self, other: &Self) -> bool {
        self.used() == other.used()
    }
}

impl<E: Eq> Eq for FlowTable<E> {}

impl<E: Hash> Hash for FlowTable<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.used().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::NodeId;

    #[test]
    fn an_entry_keeps_its_index_and_the_index_is_reused() {
        let mut t = FlowTable::new();
        assert_eq!((t.insert(7, 'a'), t.insert(8, 'b')), (0, 1));
        t.remove(0);
        assert_eq!((t.find(7), t.find(8), t.len()), (None, Some(1), 1));
        assert_eq!(t.insert(9, 'c'), 0);
        assert_eq!(t.insert(10, 'd'), 2);
        t.remove(2);
        assert_eq!(
            t.iter().map(|(i, k, e)| (i, k, *e)).collect::<Vec<_>>(),
            [(0, 9, 'c'), (1, 8, 'b')]
        );
        t.remove(5);
        assert_eq!(t.at(5), None);
    }

    /// The smallest free index, and whatever was put there last, however many there are.
    #[test]
    fn few_or_many_it_does_what_a_list_does() {
        let mut t = FlowTable::new();
        let mut list: Vec<Option<u64>> = Vec::new();
        for step in 0..3000u64 {
            // grows to some 50 entries, then shrinks
            let r = rng::mix(step) % 100;
            if r < if step < 1500 { 55 } else { 35 } {
                let free = list.iter().position(Option::is_none).unwrap_or(list.len());
                if free == list.len() {
                    list.push(None);
                }
                list[free] = Some(step);
                assert_eq!(t.insert(step, step) as usize, free);
            } else if let Some(i) = list.iter().rposition(Option::is_some) {
                let victim = if r.is_multiple_of(2) { i } else { (r as usize * 7) % list.len() };
                list[victim] = None;
                t.remove(victim as u32);
            }
            let key = rng::mix(step ^ 1) % (step + 1);
            let at = list.iter().position(|e| *e == Some(key)).map(|i| i as u32);
            assert_eq!(t.find(key), at);
            assert_eq!(t.find_near(key, Some(step as u32 % 50)), at);
            assert_eq!(t.find_near(key, at), at);
            assert_eq!(t.find_again(key), at);
            assert_eq!(t.len(), list.iter().flatten().count());
            let all = t.iter().map(|(i, key, _)| (i as usize, key));
            assert!(all.eq(list.iter().enumerate().filter_map(|(i, k)| Some((i, (*k)?)))));
            let free = list.iter().position(Option::is_none).unwrap_or(list.len());
            assert_eq!(t.next_index() as usize, free);
        }
        assert!(list.len() > 2 * FEW, "{}", list.len());
    }

    #[test]
    fn tables_with_the_same_entries_are_equal_whatever_came_before() {
        let with = |entries: &[(u64, char)]| {
            let mut t = FlowTable::new();
            entries.iter().for_each(|(key, e)| _ = t.insert(*key, *e));
            t
        };
        let mut t = with(&[(7, 'a'), (8, 'b'), (9, 'c')]);
        t.remove(1);
        t.remove(2);
        assert_eq!(t, with(&[(7, 'a')]));
        assert_ne!(t, with(&[(7, 'x')]));
        assert_ne!(t, with(&[]));
        assert_eq!(t.insert(5, 'd'), 1, "and they go on alike");
    }

    /// Equal tables must have the same hash; that others differ spares a search comparing them.
    #[test]
    fn the_hash_follows_the_entries() {
        let hash = |t: &FlowTable<char>| {
            let mut h = std::hash::DefaultHasher::new();
            t.hash(&mut h);
            h.finish()
        };
        let (mut t, empty) = (FlowTable::new(), FlowTable::new());
        t.insert(7, 'a');
        assert_ne!(hash(&t), hash(&empty));
        t.remove(0);
        assert_eq!(hash(&t), hash(&empty));
    }

    #[test]
    fn buckets_are_shared_and_evenly_used() {
        let keys = Keys { buckets: Some(8) };
        let mut seen = [0u32; 8];
        for k in 0..8000 {
            seen[keys.of(FlowId::new(NodeId(3), k)) as usize] += 1;
        }
        // 1000 each, standard deviation 30: five of them is 150
        assert!(seen.iter().all(|n| n.abs_diff(1000) < 150), "{seen:?}");
    }
}
