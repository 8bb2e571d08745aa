//! Fingerprints: 128 bits that stand for a state.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Two lanes, each mixed by folding a 128-bit product. A million states collide with a
/// probability of about 10^-27.
struct Lanes {
    a: u64,
    b: u64,
}

fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    product as u64 ^ (product >> 64) as u64
}

impl Hasher for Lanes {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.a = fold(self.a ^ word, 0x9e37_79b9_7f4a_7c15).wrapping_add(self.b);
        self.b = fold(self.b ^ word, 0xd6e8_feb8_6659_fd93).rotate_left(29) ^ self.a;
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(n.into());
    }

    fn write_u16(&mut self, n: u16) {
        self.write_u64(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn finish(&self) -> u64 {
        fold(self.a ^ 0xa076_1d64_78bd_642f, self.b | 1)
    }
}

/// The fingerprint of a state.
pub(super) fn fingerprint(state: &impl Hash) -> u128 {
    let mut lanes = Lanes { a: 0x243f_6a88_85a3_08d3, b: 0x1319_8a2e_0370_7344 };
    state.hash(&mut lanes);
    let high = lanes.finish();
    lanes.write_u64(high);
    u128::from(high) << 64 | u128::from(lanes.finish())
}

/// A part of a state that many states share: cloned by reference, hashed by its fingerprint,
/// which is computed once per change.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    value: Rc<T>,
    print: u128,
}

impl<T: Hash> Shared<T> {
    /// Shares `value`.
    pub fn new(value: T) -> Self {
        let print = fingerprint(&value);
        Self { value: Rc::new(value), print }
    }

    /// Changes this copy and no other.
    pub fn change<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> R
    where
        T: Clone,
    {
        let value = Rc::make_mut(&mut self.value);
        let result = f(value);
        self.print = fingerprint(value);
        result
    }
}

impl<T> std::ops::Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.value, &other.value)
            || self.print == other.print && self.value == other.value
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, h: &mut H) {
        self.print.hash(h);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn small_differences_change_the_whole_fingerprint() {
        let mut seen = BTreeSet::new();
        for a in 0..100u8 {
            for b in 0..100u32 {
                seen.insert(fingerprint(&(a, vec![b; usize::from(a % 3)], b)));
            }
        }
        assert_eq!(seen.len(), 10_000);
        let halves: BTreeSet<u64> = seen.iter().map(|p| *p as u64).collect();
        assert_eq!(halves.len(), 10_000, "each half is as good");
        let halves: BTreeSet<u64> = seen.iter().map(|p| (*p >> 64) as u64).collect();
        assert_eq!(halves.len(), 10_000);
        assert_ne!(fingerprint(&1u16), fingerprint(&2u16));
        assert_ne!(fingerprint(&1usize), fingerprint(&2usize));
        assert_ne!(fingerprint(&[1u8, 2]), fingerprint(&[2u8, 1]));
        assert_ne!(fingerprint(&"ab"), fingerprint(&"abc"));
    }

    /// Ten thousand numbers: each of the 128 bits is set in half of their fingerprints, and each
    /// bit of the first number flips it with probability one half; five standard deviations are 250
    /// of 10 000, and 20 of 64.
    #[test]
    fn every_bit_is_as_good_as_any() {
        let mut ones = [0u32; 128];
        for n in 0..10_000u64 {
            let print = fingerprint(&n);
            ones.iter_mut().enumerate().for_each(|(i, ones)| *ones += (print >> i) as u32 & 1);
        }
        assert!(ones.iter().all(|n| n.abs_diff(5000) <= 250), "{ones:?}");
        let flips = (0..64).map(|bit| fingerprint(&0u64) ^ fingerprint(&(1u64 << bit)));
        let mut flipped = [0u32; 128];
        for flips in flips {
            flipped.iter_mut().enumerate().for_each(|(i, n)| *n += (flips >> i) as u32 & 1);
        }
        assert!(flipped.iter().all(|n| n.abs_diff(32) <= 20), "{flipped:?}");
    }

    #[test]
    fn a_change_is_seen_by_one_copy_only() {
        let first = Shared::new(vec![1, 2]);
        let mut second = first.clone();
        assert!(first == second);
        assert_eq!(second.change(Vec::pop), Some(2));
        assert!(first != second);
        assert_eq!((first.len(), second.len()), (2, 1));
        second.change(|v| v.push(2));
        assert!(first == second);
        assert_eq!(fingerprint(&first), fingerprint(&second));
    }
}
