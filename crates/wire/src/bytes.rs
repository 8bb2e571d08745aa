//! Fields of fixed place and width, big-endian.

use crate::WireError;

/// `bytes`, if there are at least `needed`: what a view checks once so that its fields need no
/// check.
pub(crate) fn at_least<'a>(
    what: &'static str,
    bytes: &'a [u8],
    needed: usize,
) -> Result<&'a [u8], WireError> {
    if bytes.len() < needed {
        return Err(WireError::Short { what, needed, found: bytes.len() });
    }
    Ok(bytes)
}

/// The `N` bytes at `at`, which the caller has checked to be there.
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a slice of N bytes is an array of N bytes")
}

/// The 16-bit field at `at`.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array(bytes, at))
}

/// The 24-bit field at `at`.
pub(crate) fn u24_at(bytes: &[u8], at: usize) -> u32 {
    let [a, b, c] = array(bytes, at);
    u32::from_be_bytes([0, a, b, c])
}

/// The 32-bit field at `at`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(array(bytes, at))
}

/// The low 24 bits of `value`, as bytes.
pub(crate) fn u24(value: u32) -> [u8; 3] {
    let [_, a, b, c] = value.to_be_bytes();
    [a, b, c]
}

/// Refuses reserved bits that are set.
pub(crate) fn reserved(what: &'static str, found: impl Into<u32>) -> Result<(), WireError> {
    match found.into() {
        0 => Ok(()),
        found => Err(WireError::Reserved { what, found }),
    }
}

/// `value`, if it is at most `limit`.
pub(crate) fn at_most<T: Copy + Into<u64>>(
    what: &'static str,
    value: T,
    limit: u64,
    valid: &'static str,
) -> Result<T, WireError> {
    let found = value.into();
    if found > limit {
        return Err(WireError::Value { what, found, valid });
    }
    Ok(value)
}

/// `len` as a 16-bit length or count field.
pub(crate) fn len_u16(what: &'static str, len: usize) -> Result<u16, WireError> {
    let too_long = |_| WireError::Value { what, found: len as u64, valid: "at most 65535" };
    u16::try_from(len).map_err(too_long)
}
