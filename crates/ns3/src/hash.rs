//! MurmurHash3 (32 bit) over the twelve bytes that identify a direction of a flow.

/// What ECMP hashes, already mixed word by word: the part that does not depend on the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowKey([u32; 3]);

impl FlowKey {
    /// The key for packets from `src` to `dst` (addresses) with these ports.
    pub(crate) fn new(src: u32, dst: u32, sport: u16, dport: u16) -> Self {
        let ports = u32::from(sport) | u32::from(dport) << 16;
        Self(
            [src, dst, ports]
                .map(|k| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)),
        )
    }

    /// The hash under `seed`.
    #[inline]
    pub(crate) fn hash(self, seed: u32) -> u32 {
        let mut h = seed;
        for k in self.0 {
            h = (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
        }
        h ^= 12;
        h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
        h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
        h ^ (h >> 16)
    }
}

/// The address of node `n`: 11.x.y.1.
pub(crate) fn address(n: u32) -> u32 {
    0x0b00_0001 + (n / 256) * 0x1_0000 + (n % 256) * 0x100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_of_the_reference_flow_hash_as_there() {
        let (a, b) = (address(0), address(1));
        assert_eq!(FlowKey::new(a, b, 10_000, 100).hash(16), 0x9720_2071);
        assert_eq!(FlowKey::new(b, a, 100, 10_000).hash(16), 0x23fb_d5ac);
    }

    #[test]
    fn addresses_carry_the_node_in_their_middle_bytes() {
        assert_eq!(address(0), 0x0b00_0001);
        assert_eq!(address(7), 0x0b00_0701);
        assert_eq!((address(600) >> 8) & 0xffff, 600);
    }
}
