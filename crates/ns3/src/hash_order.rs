//! The order in which the original walks through its hash maps.
//!
//! Its maps (those of libstdc++) keep all entries in one list. A key's bucket is the key modulo
//! the number of buckets. A new entry goes before the first entry of its bucket, or to the front
//! of the list when its bucket is empty, so the entries of a bucket are neighbours. When an
//! insertion would make more entries than buckets, the list is first built anew, in its present
//! order and by the same rule, with about twice as many buckets. The number of buckets never
//! falls. With few entries the order is newest first.

/// Numbers of buckets, each the smallest of the library's primes that is at least twice the one
/// before.
const BUCKETS: [usize; 18] = [
    13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10_273, 20_753, 42_043, 85_229, 172_933, 351_061,
    712_697, 1_447_153, 2_938_679,
];

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    key: u64,
    value: T,
    previous: u32,
    next: u32,
}

/// A map from numbers, walked through in the original's order.
#[derive(Clone, Debug)]
pub(crate) struct HashOrder<T> {
    entries: Vec<Entry<T>>,
    /// Entries that were taken out, linked by `next`.
    free: u32,
    len: usize,
    first: u32,
    /// The first entry of every bucket.
    buckets: Vec<u32>,
}

impl<T: Copy> HashOrder<T> {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), free: NONE, len: 0, first: NONE, buckets: Vec::new() }
    }

    /// Adds an entry, or gives the entry of this key another value.
    pub(crate) fn insert(&mut self, key: u64, value: T) {
        if let Some(i) = self.find(key) {
            self.entries[i as usize].value = value;
            return;
        }
        if self.len == self.buckets.len() {
            self.grow();
        }
        let entry = Entry { key, value, previous: NONE, next: NONE };
        let i = if self.free == NONE {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        } else {
            let i = self.free;
            self.free = self.entries[i as usize].next;
            self.entries[i as usize] = entry;
            i
        };
        self.len += 1;
        self.link(i);
    }

    /// Takes an entry out, if it is there.
    pub(crate) fn remove(&mut self, key: u64) {
        let Some(i) = self.find(key) else { return };
        let Entry { previous, next, .. } = self.entries[i as usize];
        match previous {
            NONE => self.first = next,
            p => self.entries[p as usize].next = next,
        }
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        let bucket = self.bucket(key);
        if self.buckets[bucket] == i {
            let same = next != NONE && self.bucket(self.entries[next as usize].key) == bucket;
            self.buckets[bucket] = if same { next } else { NONE };
        }
        self.entries[i as usize].next = self.free;
        self.free = i;
        self.len -= 1;
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: u64) -> Option<T> {
        self.find(key).map(|i| self.entries[i as usize].value)
    }

    /// Keys and values in the original's order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, T)> + '_ {
        let mut at = self.first;
        std::iter::from_fn(move || {
            let entry = self.entries.get(at as usize)?;
            at = entry.next;
            Some((entry.key, entry.value))
        })
    }

    fn bucket(&self, key: u64) -> usize {
        (key % self.buckets.len() as u64) as usize
    }

    fn find(&self, key: u64) -> Option<u32> {
        if self.buckets.is_empty() {
            return None;
        }
        let bucket = self.bucket(key);
        let mut at = self.buckets[bucket];
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.key == key {
                return Some(at);
            }
            if self.bucket(entry.key) != bucket {
                return None;
            }
            at = entry.next;
        }
        None
    }

    /// Puts an entry into the list.
    fn link(&mut self, i: u32) {
        let bucket = self.bucket(self.entries[i as usize].key);
        let next = match self.buckets[bucket] {
            NONE => self.first,
            first => first,
        };
        let previous = self.entries.get(next as usize).map_or(NONE, |e| e.previous);
        let entry = &mut self.entries[i as usize];
        (entry.previous, entry.next) = (previous, next);
        match previous {
            NONE => self.first = i,
            p => self.entries[p as usize].next = i,
        }
        if next != NONE {
            self.entries[next as usize].previous = i;
        }
        self.buckets[bucket] = i;
    }

    fn grow(&mut self) {
        let now = self.buckets.len();
        let more = BUCKETS.into_iter().find(|&n| n > now).unwrap_or(2 * now + 1);
        let mut at = std::mem::replace(&mut self.first, NONE);
        self.buckets = vec![NONE; more];
        while at != NONE {
            let next = self.entries[at as usize].next;
            self.link(at);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(map: &HashOrder<u32>) -> Vec<u64> {
        map.iter().map(|(key, _)| key).collect()
    }

    fn map_of(keys: impl IntoIterator<Item = u64>) -> HashOrder<u32> {
        let mut map = HashOrder::new();
        for key in keys {
            map.insert(key, 0);
        }
        map
    }

    #[test]
    fn the_newest_comes_first_unless_its_bucket_is_in_use() {
        // 13 buckets: 14 and 27 are in the bucket of 1
        assert_eq!(keys(&map_of([1, 2, 3])), [3, 2, 1]);
        assert_eq!(keys(&map_of([1, 2, 3, 14, 4, 27])), [4, 3, 2, 27, 14, 1]);
    }

    #[test]
    fn the_first_of_a_bucket_can_leave_it() {
        let mut map = map_of([1, 2, 14, 27]);
        map.remove(27);
        assert_eq!(keys(&map), [2, 14, 1]);
        map.insert(40, 0);
        assert_eq!(keys(&map), [2, 40, 14, 1]);
        for key in [40, 14, 1, 99] {
            map.remove(key);
        }
        map.insert(1, 0);
        assert_eq!(keys(&map), [1, 2], "an empty bucket begins at the front again");
    }

    #[test]
    fn a_key_has_one_value() {
        let mut map = map_of([5, 6]);
        map.insert(5, 7);
        assert_eq!(map.iter().collect::<Vec<_>>(), [(6, 0), (5, 7)]);
        assert_eq!([map.get(5), map.get(8)], [Some(7), None]);
    }

    #[test]
    fn growing_turns_the_list_round() {
        // The 14th entry brings 29 buckets: entries 13 to 1 are put in again in that order, so
        // that 1 is in front, and then 14.
        assert_eq!(keys(&map_of(1..=13)), (1..=13).rev().collect::<Vec<_>>());
        let all: Vec<u64> = std::iter::once(14).chain(1..=13).collect();
        assert_eq!(keys(&map_of(1..=14)), all);
    }

    #[test]
    fn keys_of_flows_come_in_the_order_that_libstdcxx_gives_them() {
        // 40 flows to 7 hosts, every fifth time the flow three before is finished; walked through
        // by std::unordered_map<uint64_t, int> of g++ 12.
        let flow = |n: u64| (0x0b00_0001 + n % 7 * 0x100) << 32 | (10_000 + n / 7) << 16 | 3;
        let mut map = HashOrder::new();
        for n in 0..40u32 {
            map.insert(flow(n.into()), n);
            if n % 5 == 4 {
                map.remove(flow(u64::from(n) - 3));
            }
        }
        let order: Vec<u32> = map.iter().map(|(_, n)| n).collect();
        assert_eq!(
            order,
            [
                39, 38, 37, 13, 24, 35, 12, 23, 7, 5, 10, 4, 9, 3, 2, 17, 28, 18, 29, 0, 19, 30,
                20, 22, 25, 8, 27, 32, 14, 33, 15, 34
            ]
        );
    }

    /// The rule in its plainest form: a list, searched from its front.
    #[derive(Default)]
    struct Plain {
        buckets: u64,
        list: Vec<u64>,
    }

    impl Plain {
        fn link(&mut self, key: u64) {
            let same = |&k: &u64| k % self.buckets == key % self.buckets;
            let at = self.list.iter().position(same).unwrap_or(0);
            self.list.insert(at, key);
        }

        fn insert(&mut self, key: u64) {
            if self.list.contains(&key) {
                return;
            }
            if self.list.len() as u64 == self.buckets {
                self.buckets = match self.buckets {
                    0 => 13,
                    13 => 29,
                    29 => 59,
                    59 => 127,
                    _ => 257,
                };
                for old in std::mem::take(&mut self.list) {
                    self.link(old);
                }
            }
            self.link(key);
        }
    }

    proptest! {
        #[test]
        fn any_sequence_gives_the_order_of_the_plain_rule(
            steps in prop::collection::vec((any::<bool>(), any::<bool>(), 0u64..200), 0..300),
        ) {
            let (mut map, mut plain) = (HashOrder::new(), Plain::default());
            for (a, b, key) in steps {
                if a && b {
                    map.remove(key);
                    plain.list.retain(|&k| k != key);
                } else {
                    map.insert(key, 0);
                    plain.insert(key);
                }
                prop_assert_eq!(keys(&map), &plain.list[..]);
            }
        }
    }
}
