//! TCP headers.

use crate::WireError;
use crate::bytes::{at_least, reserved, u16_at, u32_at};
use crate::ipv4::{Ipv4, checksum, protocol};

/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;
/// The most bytes of options: the header length counts words in four bits.
pub const MAX_OPTIONS: usize = 15 * 4 - HEADER_LEN;

/// Bits of [`Tcp::flags`].
pub mod flag {
    /// Opens a connection.
    pub const SYN: u8 = 2;
    /// Hand the data to the application.
    pub const PSH: u8 = 8;
    /// The acknowledgement number is valid.
    pub const ACK: u8 = 16;
    /// Echoes congestion experienced (RFC 3168).
    pub const ECE: u8 = 64;
    /// The sender has reduced its window (RFC 3168).
    pub const CWR: u8 = 128;
}

/// The bytes of a TCP segment, of which at least the header is there.
#[derive(Clone, Copy, Debug)]
pub struct TcpView<'a>(&'a [u8]);

impl<'a> TcpView<'a> {
    /// A view of the payload of an IP packet.
    pub fn new(segment: &'a [u8]) -> Result<Self, WireError> {
        let view = Self(at_least("the TCP header", segment, HEADER_LEN)?);
        if view.header_len() < HEADER_LEN {
            let (what, found) = ("the TCP header length", view.header_len() as u64);
            return Err(WireError::Value { what, found, valid: "20 B to 60 B" });
        }
        at_least("the TCP header with its options", segment, view.header_len())?;
        Ok(view)
    }

    /// Port of the sender.
    pub fn src_port(self) -> u16 {
        u16_at(self.0, 0)
    }

    /// Port of the receiver.
    pub fn dst_port(self) -> u16 {
        u16_at(self.0, 2)
    }

    /// Sequence number.
    pub fn seq(self) -> u32 {
        u32_at(self.0, 4)
    }

    /// Acknowledgement number.
    pub fn ack(self) -> u32 {
        u32_at(self.0, 8)
    }

    /// Bytes of the header, options included.
    pub fn header_len(self) -> usize {
        usize::from(self.0[12] >> 4) * 4
    }

    /// The four reserved bits.
    pub fn reserved(self) -> u8 {
        self.0[12] & 15
    }

    /// The [`flag`] bits.
    pub fn flags(self) -> u8 {
        self.0[13]
    }

    /// The window, unscaled.
    pub fn window(self) -> u16 {
        u16_at(self.0, 14)
    }

    /// The checksum as written.
    pub fn checksum(self) -> u16 {
        u16_at(self.0, 16)
    }

    /// The urgent pointer.
    pub fn urgent(self) -> u16 {
        u16_at(self.0, 18)
    }

    /// The bytes of the options.
    pub fn options(self) -> &'a [u8] {
        &self.0[HEADER_LEN..self.header_len()]
    }

    /// What is there of the payload.
    pub fn payload(self) -> &'a [u8] {
        &self.0[self.header_len()..]
    }
}

/// A TCP header.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tcp {
    /// Port of the sender.
    pub src_port: u16,
    /// Port of the receiver.
    pub dst_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// [`flag`] bits.
    pub flags: u8,
    /// The window, unscaled.
    pub window: u16,
    /// The urgent pointer.
    pub urgent: u16,
    /// Options as bytes, padded to a multiple of four; at most [`MAX_OPTIONS`].
    pub options: Vec<u8>,
}

impl Tcp {
    /// Reads the header of a whole segment and checks it.
    pub fn parse(ip: &Ipv4, segment: &[u8]) -> Result<Self, WireError> {
        let view = TcpView::new(segment)?;
        reserved("the TCP header", view.reserved())?;
        let sum = ip.pseudo_sum(protocol::TCP, segment.len());
        if checksum(sum, segment) != 0 {
            let found = view.checksum();
            let expected = checksum(sum + u32::from(!found), segment);
            let (found, expected) = (found.into(), expected.into());
            return Err(WireError::Checksum { what: "the TCP checksum", found, expected });
        }
        Ok(Self {
            src_port: view.src_port(),
            dst_port: view.dst_port(),
            seq: view.seq(),
            ack: view.ack(),
            flags: view.flags(),
            window: view.window(),
            urgent: view.urgent(),
            options: view.options().to_vec(),
        })
    }

    /// Writes the header in front of `payload`.
    pub fn emit(&self, ip: &Ipv4, payload: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        if self.options.len() > MAX_OPTIONS || !self.options.len().is_multiple_of(4) {
            let (what, found) = ("the length of the TCP options", self.options.len() as u64);
            return Err(WireError::Value { what, found, valid: "a multiple of 4, at most 40" });
        }
        let header_len = HEADER_LEN + self.options.len();
        let begin = out.len();
        out.extend(self.src_port.to_be_bytes());
        out.extend(self.dst_port.to_be_bytes());
        out.extend(self.seq.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        out.extend([(header_len as u8 / 4) << 4, self.flags]);
        out.extend(self.window.to_be_bytes());
        out.extend([0, 0]);
        out.extend(self.urgent.to_be_bytes());
        out.extend(&self.options);
        let header_sum = u32::from(!checksum(0, &out[begin..]));
        let sum = ip.pseudo_sum(protocol::TCP, header_len + payload.len()) + header_sum;
        out[begin + 16..begin + 18].copy_from_slice(&checksum(sum, payload).to_be_bytes());
        out.extend(payload);
        Ok(())
    }
}
