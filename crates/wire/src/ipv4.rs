//! IPv4 headers.
//!
//! [`Ipv4View`] reads any header, also of a frame that a capture cut off; [`Ipv4::parse`] accepts
//! whole packets without options and fragments only.

use crate::WireError;
use crate::bytes::{array, at_least, at_most, len_u16, u16_at};
use std::net::Ipv4Addr;

/// Protocol numbers.
pub mod protocol {
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
}

/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;
const DONT_FRAGMENT: u16 = 0x4000;

/// The ECN field of an IP header (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable = 0,
    /// ECN-capable, ECT(1).
    Capable1 = 1,
    /// ECN-capable, ECT(0).
    Capable0 = 2,
    /// Congestion experienced.
    Experienced = 3,
}

impl Ecn {
    /// The low two bits of a TOS byte.
    pub const fn from_tos(tos: u8) -> Self {
        match tos & 3 {
            0 => Self::NotCapable,
            1 => Self::Capable1,
            2 => Self::Capable0,
            _ => Self::Experienced,
        }
    }
}

/// The bytes of an IPv4 packet, of which at least the header is there.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4View<'a>(&'a [u8]);

impl<'a> Ipv4View<'a> {
    /// A view of what follows EtherType 0x0800.
    pub fn new(packet: &'a [u8]) -> Result<Self, WireError> {
        let view = Self(at_least("the IPv4 header", packet, HEADER_LEN)?);
        let (version, words) = (packet[0] >> 4, packet[0] & 15);
        if version != 4 {
            let (what, found) = ("the version of the IPv4 header", version.into());
            return Err(WireError::Value { what, found, valid: "4" });
        }
        if words < 5 {
            let (what, found) = ("the header length of the IPv4 header", words.into());
            return Err(WireError::Value { what, found, valid: "at least 5 words" });
        }
        at_least("the IPv4 header with its options", packet, view.header_len())?;
        let total = usize::from(view.total_len());
        if total < view.header_len() {
            let (what, found) = ("the total length of the IPv4 header", total as u64);
            return Err(WireError::Value { what, found, valid: "at least the header" });
        }
        Ok(view)
    }

    /// Bytes of the header, options included.
    pub fn header_len(self) -> usize {
        usize::from(self.0[0] & 15) * 4
    }

    /// Differentiated services code point.
    pub fn dscp(self) -> u8 {
        self.0[1] >> 2
    }

    /// Congestion marking.
    pub fn ecn(self) -> Ecn {
        Ecn::from_tos(self.0[1])
    }

    /// Bytes of the packet, header included.
    pub fn total_len(self) -> u16 {
        u16_at(self.0, 2)
    }

    /// Bytes of the payload when nothing was cut off.
    pub fn payload_len(self) -> usize {
        usize::from(self.total_len()) - self.header_len()
    }

    /// Identification.
    pub fn identification(self) -> u16 {
        u16_at(self.0, 4)
    }

    /// Flags and fragment offset.
    pub fn fragmentation(self) -> u16 {
        u16_at(self.0, 6)
    }

    /// Hops left.
    pub fn ttl(self) -> u8 {
        self.0[8]
    }

    /// What is inside.
    pub fn protocol(self) -> u8 {
        self.0[9]
    }

    /// The header checksum as written.
    pub fn checksum(self) -> u16 {
        u16_at(self.0, 10)
    }

    /// The sending host.
    pub fn src(self) -> Ipv4Addr {
        array::<4>(self.0, 12).into()
    }

    /// The receiving host.
    pub fn dst(self) -> Ipv4Addr {
        array::<4>(self.0, 16).into()
    }

    /// The bytes of the header.
    pub fn header(self) -> &'a [u8] {
        &self.0[..self.header_len()]
    }

    /// What is there of the payload: less than [`Ipv4View::payload_len`] when it was cut off.
    /// Ethernet padding is left out.
    pub fn payload(self) -> &'a [u8] {
        &self.0[self.header_len()..self.0.len().min(self.total_len().into())]
    }
}

/// An IPv4 header without options, of a packet that is not a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv4 {
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Congestion marking.
    pub ecn: Ecn,
    /// Identification.
    pub identification: u16,
    /// Routers must not cut it.
    pub dont_fragment: bool,
    /// Hops left.
    pub ttl: u8,
    /// The sending host.
    pub src: Ipv4Addr,
    /// The receiving host.
    pub dst: Ipv4Addr,
}

impl Ipv4 {
    /// Reads the header and checks it against the bytes there are.
    pub fn parse(view: Ipv4View<'_>) -> Result<Self, WireError> {
        if view.header_len() != HEADER_LEN {
            let (what, found) = ("the header length of the IPv4 header", view.header_len() as u64);
            return Err(WireError::Value { what, found, valid: "20 B: options are not supported" });
        }
        if view.payload().len() < view.payload_len() {
            let (count, room) = (view.payload_len(), view.payload().len());
            return Err(WireError::Count { what: "the IPv4 payload length", count, room });
        }
        let sum = checksum(0, view.header());
        if sum != 0 {
            // the sum over all, its own field included, is zero when the field is right
            let found = view.checksum();
            let expected = checksum(u32::from(!found), view.header());
            let (found, expected) = (found.into(), expected.into());
            return Err(WireError::Checksum { what: "the IPv4 checksum", found, expected });
        }
        let fragmentation = view.fragmentation();
        if fragmentation & !DONT_FRAGMENT != 0 {
            let (what, found) = ("the fragment field of the IPv4 header", fragmentation.into());
            let valid = "0 or 0x4000: fragments are not supported";
            return Err(WireError::Value { what, found, valid });
        }
        Ok(Self {
            dscp: view.dscp(),
            ecn: view.ecn(),
            identification: view.identification(),
            dont_fragment: fragmentation == DONT_FRAGMENT,
            ttl: view.ttl(),
            src: view.src(),
            dst: view.dst(),
        })
    }

    /// The header in front of `payload_len` bytes of a protocol.
    pub fn header(&self, protocol: u8, payload_len: usize) -> Result<[u8; 20], WireError> {
        at_most("the DSCP", self.dscp, 63, "0 to 63")?;
        let total = len_u16("the total length of the IPv4 header", HEADER_LEN + payload_len)?;
        let mut header = [0; HEADER_LEN];
        header[0] = 0x45;
        header[1] = self.dscp << 2 | self.ecn as u8;
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header[4..6].copy_from_slice(&self.identification.to_be_bytes());
        let fragmentation = if self.dont_fragment { DONT_FRAGMENT } else { 0 };
        header[6..8].copy_from_slice(&fragmentation.to_be_bytes());
        header[8] = self.ttl;
        header[9] = protocol;
        header[12..16].copy_from_slice(&self.src.octets());
        header[16..20].copy_from_slice(&self.dst.octets());
        let sum = checksum(0, &header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        Ok(header)
    }

    /// The sum of the pseudo header that checksums of UDP and TCP cover.
    pub(crate) fn pseudo_sum(&self, protocol: u8, len: usize) -> u32 {
        let halves = |address: Ipv4Addr| (address.to_bits() >> 16) + (address.to_bits() & 0xffff);
        halves(self.src) + halves(self.dst) + u32::from(protocol) + len as u32
    }
}

/// The Internet checksum (RFC 1071) of `bytes` on top of a sum of 16-bit words.
pub(crate) fn checksum(sum: u32, bytes: &[u8]) -> u16 {
    let (words, rest) = bytes.as_chunks::<2>();
    let rest = rest.first().map_or(0, |&byte| u64::from(byte) << 8);
    let words: u64 = words.iter().map(|&word| u64::from(u16::from_be_bytes(word))).sum();
    let mut sum = u64::from(sum) + words + rest;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
