//! Two hashes: SHA-256 names runs by what they are, CRC-32 finds damaged records.

use sha2::Digest;

pub use crc32fast::hash as crc32;

/// A SHA-256 of text that comes piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Sha256(sha2::Sha256);

impl Sha256 {
    /// Of nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash in hexadecimal.
    pub fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Text that is formatted straight into a hash.
impl std::fmt::Write for Sha256 {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.update(text.as_bytes());
        Ok(())
    }
}

/// The SHA-256 of `bytes` in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(bytes);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of FIPS 180-4.
    #[test]
    fn sha_256_gives_the_published_examples() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        let expected = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
        assert_eq!(sha256(long), expected);
        let mut pieces = Sha256::new();
        long.iter().for_each(|b| pieces.update(&[*b]));
        assert_eq!(pieces.finish(), expected);
    }

    #[test]
    fn crc_32_gives_its_check_value() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
