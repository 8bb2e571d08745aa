//! Random streams named by what they are for.
//!
//! Every draw in a run comes from a stream identified by (seed, purpose, index), for example
//! (7, "ecn", switch 12). Streams do not disturb each other: drawing one more ECN mark
//! does not change the traffic, and nodes can be simulated in any order or in parallel.
//! The generator is PCG-64 (XSL-RR 128/64), whose output is fixed by its definition, and the
//! mapping to floats and ranges is done here, so values are the same on every machine.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// One random stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream for `purpose` at `index` (a node, a host, 0) of the run with `seed`.
    pub fn new(seed: u64, purpose: &str, index: u64) -> Self {
        let mut h = mix(seed ^ 0x5765_6972_0000_0001);
        for chunk in purpose.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            h = mix(h ^ u64::from_le_bytes(word));
        }
        h = mix(h ^ index);
        let mut bytes = [0; 32];
        for word in bytes.chunks_exact_mut(8) {
            h = mix(h.wrapping_add(0x9e37_79b9_7f4a_7c15));
            word.copy_from_slice(&h.to_le_bytes());
        }
        Self(Pcg64::from_seed(bytes))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)`, a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n`, without bias.
    ///
    /// # Panics
    /// When `n` is zero: there is nothing to choose from.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "cannot choose from an empty range");
        // Lemire's multiply-shift with rejection of the short remainder.
        let threshold = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.bits()) * u128::from(n);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Uniform in `low..=high`.
    ///
    /// # Panics
    /// When `low > high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "empty range");
        match (high - low).checked_add(1) {
            Some(n) => low + self.below(n),
            None => self.bits(),
        }
    }
}

/// The finaliser of SplitMix64: a bijection on 64 bits with good avalanche. Also used
/// wherever a deterministic hash of small integers is needed (ECMP, digests).
#[inline]
pub const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_gives_the_same_stream_and_another_does_not() {
        let take = |seed, purpose, index| {
            let mut s = Stream::new(seed, purpose, index);
            [s.bits(), s.bits()]
        };
        assert_eq!(take(1, "size", 0), take(1, "size", 0));
        let others = [take(2, "size", 0), take(1, "gap", 0), take(1, "size", 1)];
        for other in others {
            assert_ne!(take(1, "size", 0), other);
        }
    }

    /// Pins the values themselves: a change of generator, seeding or mapping would silently
    /// change every result ever published with a seed.
    #[test]
    fn values_are_pinned() {
        let mut s = Stream::new(42, "ecn", 7);
        let got = [s.bits(), s.below(1000), s.between(10, 20)];
        assert_eq!(got, PINNED);
        assert_eq!(s.unit().to_bits(), PINNED_UNIT);
    }
    const PINNED: [u64; 3] = [2_530_452_794_976_031_020, 991, 16];
    const PINNED_UNIT: u64 = 4_602_842_189_497_869_984;

    #[test]
    fn small_ranges_are_uniform() {
        let mut s = Stream::new(3, "test", 0);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[s.below(6) as usize] += 1;
        }
        // 10 000 each, standard deviation 91: five of them is 455
        assert!(seen.iter().all(|&n| n.abs_diff(10_000) < 455), "{seen:?}");
    }

    #[test]
    fn the_whole_range_is_a_range() {
        let _ = Stream::new(0, "test", 0).between(0, u64::MAX);
    }
}
