//! The reader of pcapng files and of classic pcap files, of either byte order.

use super::Direction;
use super::blocks::{BYTE_ORDER, block, option};
use std::io::{self, Read};
use thiserror::Error;

/// Longer blocks are taken for damage.
const MAX_BLOCK: u32 = 16 << 20;
const PCAP_MICROSECONDS: u32 = 0xa1b2_c3d4;
const PCAP_NANOSECONDS: u32 = 0xa1b2_3c4d;

/// Why a capture cannot be read.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("byte {offset}: {source}")]
    Io {
        /// Where.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// The first bytes are those of no capture.
    #[error("the file begins with {found:02x?}: neither pcapng (0a 0d 0d 0a) nor pcap")]
    NotACapture {
        /// The first bytes.
        found: Vec<u8>,
    },
    /// The file ends too early.
    #[error("byte {offset}: the file ends within {what}")]
    Cut {
        /// Where the block begins.
        offset: u64,
        /// What is cut off.
        what: &'static str,
    },
    /// A field that cannot be.
    #[error("byte {offset}: {what} is {found}: {valid}")]
    Field {
        /// Where the block begins.
        offset: u64,
        /// Which field.
        what: &'static str,
        /// Its value.
        found: u64,
        /// What is allowed.
        valid: &'static str,
    },
}

/// An interface of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name; empty when the file has none.
    pub name: String,
    /// Link type; 1 is Ethernet.
    pub link_type: u16,
    /// At most this many bytes of a frame were kept; 0 for all.
    pub snap: u32,
    /// Ticks of its clock per second.
    ticks: u64,
    /// Seconds that are added to its clock.
    offset: i64,
}

impl Interface {
    fn time_ns(&self, clock: u64) -> u64 {
        let ns = u128::from(clock) * 1_000_000_000 / u128::from(self.ticks);
        let ns = i128::try_from(ns).unwrap_or(i128::MAX);
        let ns = ns.saturating_add(i128::from(self.offset) * 1_000_000_000);
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }
}

/// A frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Its interface, an index into [`CaptureReader::interfaces`].
    pub interface: usize,
    /// When it was seen, in nanoseconds.
    pub time_ns: u64,
    /// Which way it crossed the interface.
    pub direction: Direction,
    /// Its comment.
    pub comment: Option<String>,
    /// Bytes of the whole frame.
    pub original_len: u32,
    /// What was kept of it.
    pub bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Pcapng,
    Pcap,
}

/// Reads a capture frame by frame.
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: R,
    offset: u64,
    /// Where the present block begins.
    begin: u64,
    format: Format,
    order: ByteOrder,
    interfaces: Vec<Interface>,
    /// The first interface of the present section.
    section: usize,
    body: Vec<u8>,
}

/// Of the fields of a file, or of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

/// A field of a body whose length was checked.
fn number(bytes: &[u8], order: ByteOrder) -> u64 {
    let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    match order {
        ByteOrder::Big => bytes.iter().fold(0, fold),
        ByteOrder::Little => bytes.iter().rev().fold(0, fold),
    }
}

impl<R: Read> CaptureReader<R> {
    /// Reads the header of a file.
    pub fn new(input: R) -> Result<Self, CaptureError> {
        let mut reader = Self {
            input,
            offset: 0,
            begin: 0,
            format: Format::Pcapng,
            order: ByteOrder::Little,
            interfaces: Vec::new(),
            section: 0,
            body: Vec::new(),
        };
        reader.fill(4)?;
        let Ok(first) = <[u8; 4]>::try_from(&reader.body[..]) else {
            return Err(CaptureError::NotACapture { found: reader.body });
        };
        if u32::from_le_bytes(first) == block::SECTION {
            reader.section()?;
            return Ok(reader);
        }
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let ticks = match number(&first, order) as u32 {
                PCAP_MICROSECONDS => 1_000_000,
                PCAP_NANOSECONDS => 1_000_000_000,
                _ => continue,
            };
            (reader.format, reader.order) = (Format::Pcap, order);
            reader.pcap_header(ticks)?;
            return Ok(reader);
        }
        Err(CaptureError::NotACapture { found: first.to_vec() })
    }

    /// The interfaces that came up so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The next frame, or `None` at the end.
    pub fn next_packet(&mut self) -> Result<Option<CapturedPacket>, CaptureError> {
        match self.format {
            Format::Pcap => self.pcap_packet(),
            Format::Pcapng => self.pcapng_packet(),
        }
    }

    /// Reads up to `len` bytes into `body`; fewer at the end of the file.
    fn fill(&mut self, len: u32) -> Result<(), CaptureError> {
        self.body.clear();
        let read = self.input.by_ref().take(len.into()).read_to_end(&mut self.body);
        let offset = self.offset;
        let read = read.map_err(|source| CaptureError::Io { offset, source })?;
        self.offset += read as u64;
        Ok(())
    }

    /// Reads `len` bytes, all of which must be there.
    fn fill_all(&mut self, len: u32, what: &'static str) -> Result<(), CaptureError> {
        self.fill(len)?;
        if self.body.len() < len as usize {
            return Err(CaptureError::Cut { offset: self.begin, what });
        }
        Ok(())
    }

    /// The 32-bit field at `at` of the body.
    fn u32_at(&self, at: usize) -> u32 {
        number(&self.body[at..at + 4], self.order) as u32
    }

    fn u16_at(&self, at: usize) -> u16 {
        number(&self.body[at..at + 2], self.order) as u16
    }

    fn field<T>(
        &self,
        what: &'static str,
        found: impl Into<u64>,
        valid: &'static str,
    ) -> Result<T, CaptureError> {
        Err(CaptureError::Field { offset: self.begin, what, found: found.into(), valid })
    }

    fn pcap_header(&mut self, ticks: u64) -> Result<(), CaptureError> {
        self.fill_all(20, "the header")?;
        let (snap, link_type) = (self.u32_at(12), self.u32_at(16) as u16);
        self.interfaces.push(Interface { name: String::new(), link_type, snap, ticks, offset: 0 });
        Ok(())
    }

    fn pcap_packet(&mut self) -> Result<Option<CapturedPacket>, CaptureError> {
        self.begin = self.offset;
        self.fill(16)?;
        if self.body.is_empty() {
            return Ok(None);
        }
        if self.body.len() < 16 {
            return Err(CaptureError::Cut { offset: self.begin, what: "a packet's header" });
        }
        let [seconds, fraction, kept, original_len] = [0, 4, 8, 12].map(|at| self.u32_at(at));
        if kept > MAX_BLOCK {
            return self.field("the length of a packet", kept, "at most 16 MiB");
        }
        self.fill_all(kept, "a packet")?;
        let ticks = self.interfaces[0].ticks;
        let clock = u64::from(seconds) * ticks + u64::from(fraction);
        Ok(Some(CapturedPacket {
            interface: 0,
            time_ns: self.interfaces[0].time_ns(clock),
            direction: Direction::Unknown,
            comment: None,
            original_len,
            bytes: std::mem::take(&mut self.body),
        }))
    }

    fn pcapng_packet(&mut self) -> Result<Option<CapturedPacket>, CaptureError> {
        loop {
            self.begin = self.offset;
            self.fill(4)?;
            if self.body.is_empty() {
                return Ok(None);
            }
            if self.body.len() < 4 {
                return Err(CaptureError::Cut { offset: self.begin, what: "a block's header" });
            }
            let kind = self.u32_at(0);
            // the type of a section is the same in both byte orders
            if kind == block::SECTION {
                self.section()?;
                continue;
            }
            self.fill_all(4, "a block's header")?;
            let total = self.u32_at(0);
            self.read_body(total, 8)?;
            match kind {
                block::INTERFACE => self.interface()?,
                block::PACKET => return self.enhanced_packet().map(Some),
                block::SIMPLE_PACKET => return self.simple_packet().map(Some),
                _ => {}
            }
        }
    }

    /// Reads the rest of a block of `total` bytes, `done` of which are read, without the length at
    /// its end.
    fn read_body(&mut self, total: u32, done: u32) -> Result<(), CaptureError> {
        if total < done + 4 || total > MAX_BLOCK || !total.is_multiple_of(4) {
            let valid = "a multiple of 4 from 12 to 16 MiB";
            return self.field("the length of a block", total, valid);
        }
        self.fill_all(total - done, "a block")?;
        let body = self.body.len() - 4;
        if self.u32_at(body) != total {
            let valid = "the length at its beginning";
            return self.field("the length at the end of a block", self.u32_at(body), valid);
        }
        self.body.truncate(body);
        Ok(())
    }

    /// Reads a section header, whose type has been read.
    fn section(&mut self) -> Result<(), CaptureError> {
        self.fill_all(8, "the section header")?;
        let is = |order| number(&self.body[4..8], order) as u32 == BYTE_ORDER;
        self.order = match (is(ByteOrder::Little), is(ByteOrder::Big)) {
            (true, _) => ByteOrder::Little,
            (_, true) => ByteOrder::Big,
            _ => {
                let valid = "0x1a2b3c4d in either byte order";
                return self.field(
                    "the byte order mark",
                    number(&self.body[4..8], ByteOrder::Big),
                    valid,
                );
            }
        };
        let total = self.u32_at(0);
        self.read_body(total, 12)?;
        let version = if self.body.len() < 4 { 0 } else { self.u16_at(0) };
        if version != 1 {
            return self.field("the major version", version, "1");
        }
        self.section = self.interfaces.len();
        Ok(())
    }

    /// The options from `at` on: code and place. What does not fit is the end.
    fn options(&self, mut at: usize) -> Vec<(u16, std::ops::Range<usize>)> {
        let mut options = Vec::new();
        while at + 4 <= self.body.len() {
            let (code, len) = (self.u16_at(at), usize::from(self.u16_at(at + 2)));
            let value = at + 4..at + 4 + len;
            if code == option::END || value.end > self.body.len() {
                break;
            }
            at = value.end.next_multiple_of(4);
            options.push((code, value));
        }
        options
    }

    fn text(&self, value: std::ops::Range<usize>) -> String {
        String::from_utf8_lossy(&self.body[value]).into_owned()
    }

    fn interface(&mut self) -> Result<(), CaptureError> {
        if self.body.len() < 8 {
            return self.field("the length of an interface", self.body.len() as u64, "at least 8");
        }
        let mut interface = Interface {
            name: String::new(),
            link_type: self.u16_at(0),
            snap: self.u32_at(4),
            ticks: 1_000_000,
            offset: 0,
        };
        for (code, value) in self.options(8) {
            match (code, value.len()) {
                (option::INTERFACE_NAME, _) => interface.name = self.text(value),
                (option::INTERFACE_RESOLUTION, 1) => {
                    let byte = self.body[value.start];
                    let Some(ticks) = ticks(byte) else {
                        let valid = "10^n up to n = 19, or 2^n up to n = 63";
                        return self.field("the resolution of an interface", byte, valid);
                    };
                    interface.ticks = ticks;
                }
                (option::INTERFACE_OFFSET, 8) => {
                    interface.offset = number(&self.body[value], self.order) as i64;
                }
                _ => {}
            }
        }
        self.interfaces.push(interface);
        Ok(())
    }

    fn enhanced_packet(&mut self) -> Result<CapturedPacket, CaptureError> {
        const HEADER: usize = 20;
        if self.body.len() < HEADER {
            return self.field("the length of a packet block", self.body.len() as u64, "20 B");
        }
        let [number_of, high, low, kept, original_len] =
            [0, 4, 8, 12, 16].map(|at| self.u32_at(at));
        let interface = self.section.saturating_add(number_of as usize);
        let Some(description) = self.interfaces.get(interface) else {
            return self.field("the interface of a packet", number_of, "one described before it");
        };
        let time_ns = description.time_ns(u64::from(high) << 32 | u64::from(low));
        let end = HEADER + kept as usize;
        if end > self.body.len() {
            return self.field("the length of a packet", kept, "at most what its block has");
        }
        let (mut direction, mut comment) = (Direction::Unknown, None);
        for (code, value) in self.options(end.next_multiple_of(4)) {
            match (code, value.len()) {
                (option::COMMENT, _) => comment = Some(self.text(value)),
                (option::PACKET_FLAGS, 4) => {
                    direction = match self.u32_at(value.start) & 3 {
                        1 => Direction::Inbound,
                        2 => Direction::Outbound,
                        _ => Direction::Unknown,
                    };
                }
                _ => {}
            }
        }
        let bytes = self.body[HEADER..end].to_vec();
        Ok(CapturedPacket { interface, time_ns, direction, comment, original_len, bytes })
    }

    /// A packet without time: of the first interface, at time zero.
    fn simple_packet(&mut self) -> Result<CapturedPacket, CaptureError> {
        let Some(interface) = self.interfaces.get(self.section) else {
            return self.field("the interface of a packet", 0u64, "one described before it");
        };
        let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
        if self.body.len() < 4 {
            return self.field("the length of a packet block", self.body.len() as u64, "4 B");
        }
        let original_len = self.u32_at(0);
        let kept = (original_len.min(snap) as usize).min(self.body.len() - 4);
        Ok(CapturedPacket {
            interface: self.section,
            time_ns: 0,
            direction: Direction::Unknown,
            comment: None,
            original_len,
            bytes: self.body[4..4 + kept].to_vec(),
        })
    }
}

/// Ticks per second of a resolution option: a negative power of ten, or of two with the high bit.
fn ticks(byte: u8) -> Option<u64> {
    let power = u32::from(byte & 0x7f);
    if byte & 0x80 == 0 { 10u64.checked_pow(power) } else { 2u64.checked_pow(power) }
}
