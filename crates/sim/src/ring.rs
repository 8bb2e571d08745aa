//! A growing ring buffer of plain values.
//!
//! `VecDeque` does the same for any type, with checks and two slices to go through; wires carry
//! every packet of the network, and what is saved here is saved on every hop.

/// A first-in first-out queue of `Copy` values.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// A power of two of places, or none.
    places: Vec<T>,
    /// Counts values taken out, modulo 2^32.
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), head: 0, len: 0 }
    }
}

impl<T: Copy> Ring<T> {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes room for one more and returns its place. `filler` is what unused places hold.
    #[inline(always)]
    pub(crate) fn push(&mut self, filler: impl FnOnce() -> T) -> &mut T {
        if self.len as usize == self.places.len() {
            self.grow(filler());
        }
        let mask = self.places.len() - 1;
        let at = self.head.wrapping_add(self.len) as usize & mask;
        self.len += 1;
        &mut self.places[at]
    }

    /// The one that came first.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.iter().next()
    }

    /// Takes out the one that came first; returns it, and the one that is first now.
    ///
    /// # Panics
    /// When there is none.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> (&T, Option<&T>) {
        assert!(self.len > 0, "a wire in the inbox has a head");
        let places = &*self.places;
        let mask = places.len() - 1;
        let first = &places[self.head as usize & mask];
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        if self.len == 0 {
            // the first places are the likeliest to be in a cache
            self.head = 0;
            return (first, None);
        }
        (first, places.get(self.head as usize & mask))
    }

    /// The values, first in first.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.places.len().wrapping_sub(1);
        let head = self.head;
        (0..self.len).map(move |i| &self.places[head.wrapping_add(i) as usize & mask])
    }

    /// Doubles the places; `filler` stands in the new ones.
    #[cold]
    fn grow(&mut self, filler: T) {
        let mut places = Vec::with_capacity((self.places.len() * 2).max(4));
        places.extend(self.iter().copied());
        places.resize(places.capacity().next_power_of_two(), filler);
        assert!(places.len() <= 1 << 31, "fewer than 2^31 packets are on one wire");
        self.places = places;
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn does_what_a_deque_does(ops in prop::collection::vec(prop::option::of(any::<u8>()), 0..300)) {
            let (mut ring, mut deque) = (Ring::default(), VecDeque::new());
            for op in ops {
                match op {
                    Some(value) => {
                        *ring.push(|| 0) = value;
                        deque.push_back(value);
                    }
                    None => {
                        let first = deque.pop_front();
                        prop_assert_eq!(ring.front().copied(), first);
                        if let Some(first) = first {
                            prop_assert_eq!(ring.pop(), (&first, deque.front()));
                        }
                    }
                }
                prop_assert_eq!(ring.is_empty(), deque.is_empty());
                prop_assert!(ring.iter().eq(&deque));
            }
        }
    }
}
