//! Gzip, unpacked as it is read: 32 KiB of memory, whatever the file claims to hold.

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};
use std::io::{self, Read};

/// Whether bytes begin like a gzip file.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The unpacked bytes of a gzip file; of several members one after the other.
pub struct Gunzip<'a> {
    rest: &'a [u8],
    state: Option<Box<InflateState>>,
    crc: crc32fast::Hasher,
    length: u32,
}

impl std::fmt::Debug for Gunzip<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gunzip({} bytes left)", self.rest.len())
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged gzip file: {what}"))
}

impl<'a> Gunzip<'a> {
    /// Unpacks a file that was read as a whole.
    pub fn new(packed: &'a [u8]) -> Self {
        Self { rest: packed, state: None, crc: crc32fast::Hasher::new(), length: 0 }
    }

    fn skip(&mut self, bytes: usize) -> io::Result<&'a [u8]> {
        let split = self.rest.split_at_checked(bytes);
        let (head, rest) = split.ok_or_else(|| broken("it ends in a header"))?;
        self.rest = rest;
        Ok(head)
    }

    fn skip_text(&mut self) -> io::Result<()> {
        let end = self.rest.iter().position(|b| *b == 0);
        let end = end.ok_or_else(|| broken("it ends in a header"))?;
        self.skip(end + 1).map(|_| ())
    }

    /// The header of a member: flags say what follows its ten bytes.
    fn header(&mut self) -> io::Result<()> {
        let head = self.skip(10)?;
        if !is_gzip(head) || head[2] != 8 {
            return Err(broken("its packing is unknown"));
        }
        let flags = head[3];
        if flags & 4 != 0 {
            let length = self.skip(2)?;
            self.skip(usize::from(u16::from_le_bytes([length[0], length[1]])))?;
        }
        for flag in [8, 16] {
            if flags & flag != 0 {
                self.skip_text()?;
            }
        }
        if flags & 2 != 0 {
            self.skip(2)?;
        }
        self.state = Some(InflateState::new_boxed(DataFormat::Raw));
        self.crc.reset();
        self.length = 0;
        Ok(())
    }

    /// Checks what stands behind a member.
    fn trailer(&mut self) -> io::Result<()> {
        let tail = self.skip(8)?;
        let word =
            |at: usize| u32::from_le_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
        if word(0) != self.crc.clone().finalize() || word(4) != self.length {
            return Err(broken("its checksum is another"));
        }
        self.state = None;
        Ok(())
    }
}

impl Read for Gunzip<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if self.state.is_none() {
                if self.rest.is_empty() {
                    return Ok(0);
                }
                self.header()?;
            }
            let Some(state) = &mut self.state else { return Ok(0) };
            let step = inflate(state, self.rest, into, MZFlush::None);
            self.rest = &self.rest[step.bytes_consumed..];
            let written = &into[..step.bytes_written];
            self.crc.update(written);
            self.length = self.length.wrapping_add(written.len() as u32);
            let ended = match step.status {
                Ok(MZStatus::StreamEnd) => true,
                Ok(_) => false,
                Err(MZError::Buf) => return Err(broken("it ends in the middle")),
                Err(_) => return Err(broken("its data cannot be unpacked")),
            };
            let count = step.bytes_written;
            if ended {
                self.trailer()?;
            } else if count == 0 && step.bytes_consumed == 0 {
                return Err(broken("it ends in the middle"));
            }
            if count > 0 {
                return Ok(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
        out.extend(b"name\0");
        out.extend(miniz_oxide::deflate::compress_to_vec(bytes, 6));
        out.extend(crc32fast::hash(bytes).to_le_bytes());
        out.extend((bytes.len() as u32).to_le_bytes());
        out
    }

    fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Gunzip::new(bytes).read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn members_are_unpacked_one_after_the_other() {
        let one: Vec<u8> = (0..100_000_u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).collect();
        let mut packed = pack(&one);
        packed.extend(pack(b"and more"));
        let expected = [&one[..], b"and more"].concat();
        assert_eq!(unpack(&packed).expect("a gzip file"), expected);
    }

    #[test]
    fn damage_is_an_error() {
        let packed = pack(b"some bytes that are packed, some bytes that are packed");
        for end in 1..packed.len() {
            assert!(unpack(&packed[..end]).is_err(), "cut off at {end}");
        }
        for at in 0..packed.len() {
            let mut other = packed.clone();
            other[at] ^= 0x55;
            let _ = unpack(&other);
        }
        let mut other = packed.clone();
        let crc = packed.len() - 8;
        other[crc] ^= 1;
        assert!(unpack(&other).is_err());
    }
}
