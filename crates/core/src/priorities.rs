//! Sets of priorities.

use crate::ids::Priority;
use std::fmt;

/// A set of priorities, as small as a byte: which are lossless, held, blocked, exempt.
///
/// ```
/// use weir_core::{Priority, PrioritySet};
/// let [low, high] = [3, 7].map(|p| Priority::ALL[p]);
/// let mut set = PrioritySet::from_iter([low]);
/// assert!(set.contains(low) && !set.contains(high));
/// set.set(high, true);
/// assert!(set.iter().eq([low, high]));
/// assert_eq!((set - PrioritySet::from_iter([low])).to_string(), "7");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrioritySet(u8);

impl PrioritySet {
    /// No priority.
    pub const EMPTY: Self = Self(0);
    /// Every priority.
    pub const ALL: Self = Self(u8::MAX);

    /// Only `priority`.
    #[inline(always)]
    pub const fn only(priority: Priority) -> Self {
        Self(1 << priority.index())
    }

    /// The set of bits `p` of a mask, as 802.1Qbb writes it.
    #[inline(always)]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The set as a mask: bit `p` stands for priority `p`.
    #[inline(always)]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether there is none.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether `priority` is one of them.
    #[inline(always)]
    pub const fn contains(self, priority: Priority) -> bool {
        self.0 & 1 << priority.index() != 0
    }

    /// Puts `priority` in or takes it out; returns whether that changed anything.
    #[inline(always)]
    pub fn set(&mut self, priority: Priority, there: bool) -> bool {
        let changes = self.contains(priority) != there;
        if changes {
            self.0 ^= 1 << priority.index();
        }
        changes
    }

    /// They, from the lowest to the highest.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Priority> + Clone {
        Priority::ALL.into_iter().filter(move |p| self.contains(*p))
    }
}

impl FromIterator<Priority> for PrioritySet {
    fn from_iter<I: IntoIterator<Item = Priority>>(priorities: I) -> Self {
        priorities.into_iter().fold(Self::EMPTY, |set, p| set | Self::only(p))
    }
}

impl std::ops::BitOr for PrioritySet {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitAnd for PrioritySet {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// What is in the first set and not in the second.
impl std::ops::Sub for PrioritySet {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// `3, 5`; `none` for the empty set.
impl fmt::Display for PrioritySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<String> = self.iter().map(|p| p.get().to_string()).collect();
        f.write_str(&names.join(", "))
    }
}

impl fmt::Debug for PrioritySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Priority::get)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in_and_not_taken_out() {
        let mut set = PrioritySet::EMPTY;
        let p = Priority::ALL[3];
        assert!(set.is_empty() && !set.set(p, false));
        assert!(set.set(p, true) && !set.set(p, true));
        assert_eq!((set.len(), set.bits(), set.to_string()), (1, 8, "3".into()));
        assert!(set.set(p, false) && set == PrioritySet::EMPTY);
        assert_eq!(
            (set.to_string(), format!("{:?}", PrioritySet::from_bits(5))),
            ("none".into(), "{0, 2}".into())
        );
    }

    #[test]
    fn sets_are_joined_and_parted() {
        let [a, b] = [0b0110, 0b0011].map(PrioritySet::from_bits);
        assert_eq!([a | b, a & b, a - b].map(PrioritySet::bits), [0b0111, 0b0010, 0b0100]);
        assert_eq!(PrioritySet::ALL.iter().count(), Priority::COUNT);
    }
}
