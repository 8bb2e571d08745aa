//! Many first-in first-out queues of plain values in one store.
//!
//! Wires carry every packet of the network, but few at a time: what one node has just read is the
//! place the next one should write to, while it is still in a cache. So wires take their memory
//! in links of a few places, from a common store that hands out first what came back last.

/// How many values a link holds; a power of two.
const LINK: u32 = 8;
/// No value, and no link. It looks like the last place of a link: there is no room behind it.
const NONE: u32 = u32::MAX;

/// A first-in first-out queue of values in a [`Store`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u32,
    /// [`NONE`] when there is nothing.
    last: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

impl Chain {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.last == NONE
    }
}

/// The link a place is in, and which one of it.
#[inline(always)]
fn split(at: u32) -> (usize, usize) {
    ((at / LINK) as usize, (at % LINK) as usize)
}

/// Where the values of all chains are.
#[derive(Clone, Debug)]
pub(crate) struct Store<T> {
    links: Vec<[T; LINK as usize]>,
    /// By link: the one behind it in its chain, or among the free ones.
    next: Vec<u32>,
    free: u32,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self { links: Vec::new(), next: Vec::new(), free: NONE }
    }
}

impl<T: Copy> Store<T> {
    /// Appends a place and returns it, to be filled; it may hold anything. `filler` makes a value
    /// for places that are new.
    #[inline(always)]
    pub(crate) fn push(&mut self, chain: &mut Chain, filler: impl FnOnce() -> T) -> &mut T {
        if chain.last % LINK == LINK - 1 {
            if self.free == NONE {
                self.grow(filler());
            }
            self.extend(chain);
        } else {
            chain.last += 1;
        }
        let (link, place) = split(chain.last);
        &mut self.links[link][place]
    }

    /// Appends a link and takes the first place of it.
    #[inline(always)]
    fn extend(&mut self, chain: &mut Chain) {
        let link = self.free;
        self.free = std::mem::replace(&mut self.next[link as usize], NONE);
        if chain.is_empty() {
            chain.first = link * LINK;
        } else {
            self.next[(chain.last / LINK) as usize] = link;
        }
        chain.last = link * LINK;
    }

    /// Makes a link; `filler` stands in it.
    #[cold]
    fn grow(&mut self, filler: T) {
        let link = self.next.len() as u32;
        assert!(link < NONE / LINK, "fewer than 2^32 packets are on all wires");
        self.links.push([filler; LINK as usize]);
        self.next.push(self.free);
        self.free = link;
    }

    /// The value that came first.
    #[inline]
    pub(crate) fn front(&self, chain: &Chain) -> Option<&T> {
        if chain.is_empty() { None } else { Some(self.at(chain.first)) }
    }

    #[inline(always)]
    fn at(&self, at: u32) -> &T {
        let (link, place) = split(at);
        &self.links[link][place]
    }

    /// Takes out the value that came first; returns it, and the one that is first now.
    ///
    /// There must be one.
    #[inline(always)]
    pub(crate) fn pop(&mut self, chain: &mut Chain) -> (&T, Option<&T>) {
        debug_assert!(!chain.is_empty(), "a wire in the inbox has a head");
        let at = chain.first;
        let (link, place) = split(at);
        if at == chain.last {
            chain.last = NONE;
            self.release(link);
            return (&self.links[link][place], None);
        }
        if place == LINK as usize - 1 {
            chain.first = self.release(link) * LINK;
            return (&self.links[link][place], Some(self.at(chain.first)));
        }
        chain.first = at + 1;
        let values = &self.links[link];
        (&values[place], Some(&values[(place + 1) % LINK as usize]))
    }

    /// Takes a link back; returns the one that was behind it.
    #[inline(always)]
    fn release(&mut self, link: usize) -> u32 {
        let next = std::mem::replace(&mut self.next[link], self.free);
        self.free = link as u32;
        next
    }

    /// The values of a chain, first in first.
    pub(crate) fn iter<'a>(&'a self, chain: &Chain) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let (mut at, last) = (chain.first, chain.last);
        let mut done = chain.is_empty();
        std::iter::from_fn(move || {
            if done {
                return None;
            }
            let value = self.at(at);
            let (link, place) = split(at);
            done = at == last;
            let at_end = place == LINK as usize - 1;
            at = if at_end { self.next[link].wrapping_mul(LINK) } else { at + 1 };
            Some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn does_what_deques_do(
            ops in prop::collection::vec((0usize..3, prop::option::weighted(0.6, any::<u8>())), 0..300),
        ) {
            let mut store = Store::default();
            let mut chains = [Chain::default(); 3];
            let mut deques = [const { VecDeque::new() }; 3];
            for (i, op) in ops {
                let (chain, deque) = (&mut chains[i], &mut deques[i]);
                match op {
                    Some(value) => {
                        *store.push(chain, || 0) = value;
                        deque.push_back(value);
                    }
                    None => {
                        let first = deque.pop_front();
                        prop_assert_eq!(store.front(chain).copied(), first);
                        if let Some(first) = first {
                            prop_assert_eq!(store.pop(chain), (&first, deque.front()));
                        }
                    }
                }
                for (chain, deque) in chains.iter().zip(&deques) {
                    prop_assert_eq!(chain.is_empty(), deque.is_empty());
                    prop_assert!(store.iter(chain).eq(deque));
                }
            }
        }
    }

    #[test]
    fn what_came_back_last_is_used_first() {
        let mut store = Store::default();
        let [mut a, mut b, mut c] = [Chain::default(); 3];
        *store.push(&mut a, || 0) = 1;
        *store.push(&mut b, || 0) = 2;
        store.pop(&mut a);
        store.pop(&mut b);
        *store.push(&mut c, || 0) = 3;
        assert_eq!((c.first / LINK, store.next.len()), (1, 2));
        // eight fit a link, the ninth takes the one that came back before
        for value in 4..12 {
            *store.push(&mut c, || 0) = value;
        }
        assert_eq!((c.last / LINK, store.next.len()), (0, 2));
        assert_eq!(store.iter(&c).sum::<u32>(), (3..12).sum());
    }
}
