//! Which message meets which receive: first come, first matched.
//!
//! A rank keeps posted receives and unexpected messages in the order in which they came. Size does
//! not matter, source and tag do; [`ANY`] matches everything, on either side.

use crate::goal::ANY;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// Source and tag of a message, or what a receive asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Envelope {
    pub(crate) source: u64,
    pub(crate) tag: u64,
}

impl Envelope {
    fn is_exact(self) -> bool {
        self.source != ANY && self.tag != ANY
    }

    fn meets(self, other: Self) -> bool {
        let same = |a: u64, b: u64| a == b || a == ANY || b == ANY;
        same(self.source, other.source) && same(self.tag, other.tag)
    }

    /// The envelopes that an exact one meets.
    fn partners(self) -> [Self; 4] {
        let any = |source, tag| Self { source, tag };
        [self, any(ANY, self.tag), any(self.source, ANY), any(ANY, ANY)]
    }
}

/// A list of envelopes, each with something that belongs to it, in the order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<T> {
    all: BTreeMap<u64, (Envelope, T)>,
    /// Positions by envelope; those already taken are skipped when they reach the front.
    by_envelope: FxHashMap<Envelope, VecDeque<u64>>,
    next: u64,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), by_envelope: FxHashMap::default(), next: 0 }
    }
}

impl<T> Waiting<T> {
    pub(crate) fn push(&mut self, envelope: Envelope, what: T) {
        self.all.insert(self.next, (envelope, what));
        self.by_envelope.entry(envelope).or_default().push_back(self.next);
        self.next += 1;
    }

    /// Takes the first that meets `envelope`. Constant time for an exact one; one with a wildcard
    /// looks at the list from its beginning.
    pub(crate) fn take(&mut self, envelope: Envelope) -> Option<T> {
        let first = self.position(envelope)?;
        self.all.remove(&first).map(|(_, what)| what)
    }

    /// The first that meets `envelope`, which stays.
    pub(crate) fn first(&mut self, envelope: Envelope) -> Option<&T> {
        let first = self.position(envelope)?;
        self.all.get(&first).map(|(_, what)| what)
    }

    fn position(&mut self, envelope: Envelope) -> Option<u64> {
        if envelope.is_exact() {
            envelope.partners().into_iter().filter_map(|e| self.front(e)).min()
        } else {
            self.all.iter().find(|(_, (e, _))| e.meets(envelope)).map(|(at, _)| *at)
        }
    }

    fn front(&mut self, envelope: Envelope) -> Option<u64> {
        let queue = self.by_envelope.get_mut(&envelope)?;
        while let Some(at) = queue.front() {
            if self.all.contains_key(at) {
                return Some(*at);
            }
            queue.pop_front();
        }
        self.by_envelope.remove(&envelope);
        None
    }

    /// What is left, in order.
    pub(crate) fn left(&self) -> impl Iterator<Item = &T> {
        self.all.values().map(|(_, what)| what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part() -> impl Strategy<Value = u64> {
        prop_oneof![4 => 0..3_u64, 1 => Just(ANY)]
    }

    proptest! {
        /// Against the plain rule: the first in a list that meets it.
        #[test]
        fn the_first_that_meets_is_taken(
            steps in prop::collection::vec((any::<bool>(), part(), part()), 0..200)
        ) {
            let (mut waiting, mut plain) = (Waiting::default(), Vec::new());
            for (i, (push, source, tag)) in steps.into_iter().enumerate() {
                let envelope = Envelope { source, tag };
                if push {
                    waiting.push(envelope, i);
                    plain.push((envelope, i));
                } else {
                    let at = plain.iter().position(|(e, _)| e.meets(envelope));
                    let expected = at.map(|at| plain.remove(at).1);
                    prop_assert_eq!(waiting.first(envelope).copied(), expected);
                    prop_assert_eq!(waiting.take(envelope), expected);
                }
            }
            prop_assert!(waiting.left().eq(plain.iter().map(|(_, i)| i)));
        }
    }
}
