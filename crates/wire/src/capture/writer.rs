//! The writer of pcapng files.

use super::Direction;
use super::blocks::{BYTE_ORDER, NANOSECONDS, block, link, option};
use std::io::{self, Write};
use weir_core::Time;

/// An interface of a [`CaptureWriter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(u32);

/// One frame to write.
#[derive(Clone, Copy, Debug)]
pub struct PacketRecord<'a> {
    /// Where it was seen.
    pub interface: InterfaceId,
    /// When; written in whole nanoseconds, rounded down.
    pub time: Time,
    /// Which way it crossed the interface.
    pub direction: Direction,
    /// What Wireshark shows beside it.
    pub comment: Option<&'a str>,
    /// The whole frame without FCS; the interface's snap length cuts it.
    pub frame: &'a [u8],
}

/// Writes a pcapng file: the same bytes on every machine (little-endian, nanoseconds).
#[derive(Debug)]
pub struct CaptureWriter<W> {
    out: W,
    /// The snap length of each interface.
    snaps: Vec<u32>,
    written: u64,
    body: Vec<u8>,
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a file that says which program wrote it.
    pub fn new(out: W, application: &str) -> io::Result<Self> {
        let mut writer = Self { out, snaps: Vec::new(), written: 0, body: Vec::new() };
        writer.body.extend(BYTE_ORDER.to_le_bytes());
        // version 1.0, length of the section not told
        writer.body.extend([1, 0, 0, 0]);
        writer.body.extend(u64::MAX.to_le_bytes());
        writer.option(option::SECTION_APPLICATION, application.as_bytes());
        writer.end_options();
        writer.block(block::SECTION)?;
        Ok(writer)
    }

    /// Adds an Ethernet interface, of whose frames at most `snap` bytes are kept; 0 keeps all.
    pub fn add_interface(&mut self, name: &str, snap: u32) -> io::Result<InterfaceId> {
        self.body.extend(link::ETHERNET.to_le_bytes());
        self.body.extend([0, 0]);
        self.body.extend(snap.to_le_bytes());
        self.option(option::INTERFACE_NAME, name.as_bytes());
        self.option(option::INTERFACE_RESOLUTION, &[NANOSECONDS]);
        self.option(option::INTERFACE_FCS, &[0]);
        self.end_options();
        self.block(block::INTERFACE)?;
        self.snaps.push(snap);
        Ok(InterfaceId(self.snaps.len() as u32 - 1))
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// When the output takes no more, or the interface is one of another writer.
    pub fn packet(&mut self, record: &PacketRecord<'_>) -> io::Result<()> {
        let InterfaceId(interface) = record.interface;
        let Some(&snap) = self.snaps.get(interface as usize) else {
            let message = format!("the capture has no interface {interface}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        let frame = record.frame;
        let kept = if snap == 0 { frame.len() } else { frame.len().min(snap as usize) };
        let time = record.time.as_ps() / 1000;
        self.body.extend(interface.to_le_bytes());
        self.body.extend(((time >> 32) as u32).to_le_bytes());
        self.body.extend((time as u32).to_le_bytes());
        self.body.extend((kept as u32).to_le_bytes());
        self.body.extend((frame.len() as u32).to_le_bytes());
        self.body.extend(&frame[..kept]);
        self.pad();
        if let Some(comment) = record.comment {
            self.option(option::COMMENT, comment.as_bytes());
        }
        let flags: u32 = match record.direction {
            Direction::Unknown => 0,
            Direction::Inbound => 1,
            Direction::Outbound => 2,
        };
        if flags != 0 {
            self.option(option::PACKET_FLAGS, &flags.to_le_bytes());
        }
        if flags != 0 || record.comment.is_some() {
            self.end_options();
        }
        self.block(block::PACKET)
    }

    /// How many bytes [`packet`](Self::packet) would write for a frame.
    pub fn size_of(&self, record: &PacketRecord<'_>) -> u64 {
        const BLOCK: usize = 12;
        const HEADER: usize = 20;
        const OPTION: usize = 4;
        let snap = self.snaps.get(record.interface.0 as usize).copied().unwrap_or_default();
        let frame = record.frame.len();
        let kept = if snap == 0 { frame } else { frame.min(snap as usize) };
        let comment = record.comment.map_or(0, |text| OPTION + text.len().next_multiple_of(4));
        let flags = if record.direction == Direction::Unknown { 0 } else { OPTION + 4 };
        let end = if comment + flags > 0 { OPTION } else { 0 };
        (BLOCK + HEADER + kept.next_multiple_of(4) + comment + flags + end) as u64
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes what is still in memory and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Blocks and options begin at multiples of four bytes.
    fn pad(&mut self) {
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    /// An option; text beyond the 65 535 bytes that one can hold is cut off at a character.
    fn option(&mut self, code: u16, value: &[u8]) {
        let mut len = value.len().min(u16::MAX.into());
        while len < value.len() && value[len] & 0xc0 == 0x80 {
            len -= 1;
        }
        self.body.extend(code.to_le_bytes());
        self.body.extend((len as u16).to_le_bytes());
        self.body.extend(&value[..len]);
        self.pad();
    }

    fn end_options(&mut self) {
        self.body.extend([0; 4]);
    }

    /// Writes the block whose body is in memory.
    fn block(&mut self, kind: u32) -> io::Result<()> {
        let total = (self.body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&total)?;
        self.out.write_all(&self.body)?;
        self.out.write_all(&total)?;
        self.written += self.body.len() as u64 + 12;
        self.body.clear();
        Ok(())
    }
}
