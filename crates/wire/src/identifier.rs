//! How frames name flows: 8 bytes of addresses, or 13 bytes of a 5-tuple.

use crate::WireError;
use crate::bytes::{array, u16_at};
use std::fmt;
use std::net::Ipv4Addr;
use weir_core::Priority;

/// What names a flow in a list: a fixed number of bytes.
pub trait Identifier: Copy {
    /// How many bytes.
    const LEN: usize;
    /// Reads it from the first [`Identifier::LEN`] bytes, which the caller has checked to be there.
    fn read(bytes: &[u8]) -> Self;
    /// Writes it.
    fn write(self, out: &mut Vec<u8>);
}

/// Source and destination address: 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressPair {
    /// The sending host.
    pub src: Ipv4Addr,
    /// The receiving host.
    pub dst: Ipv4Addr,
}

impl Identifier for AddressPair {
    const LEN: usize = 8;

    fn read(bytes: &[u8]) -> Self {
        Self { src: array::<4>(bytes, 0).into(), dst: array::<4>(bytes, 4).into() }
    }

    fn write(self, out: &mut Vec<u8>) {
        out.extend(self.src.octets());
        out.extend(self.dst.octets());
    }
}

/// Addresses, ports and protocol: 13 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiveTuple {
    /// The sending host.
    pub src: Ipv4Addr,
    /// The receiving host.
    pub dst: Ipv4Addr,
    /// Port of the sender.
    pub src_port: u16,
    /// Port of the receiver.
    pub dst_port: u16,
    /// 17 for UDP, 6 for TCP.
    pub protocol: u8,
}

impl Identifier for FiveTuple {
    const LEN: usize = 13;

    fn read(bytes: &[u8]) -> Self {
        let AddressPair { src, dst } = AddressPair::read(bytes);
        let (src_port, dst_port) = (u16_at(bytes, 8), u16_at(bytes, 10));
        Self { src, dst, src_port, dst_port, protocol: bytes[12] }
    }

    fn write(self, out: &mut Vec<u8>) {
        AddressPair { src: self.src, dst: self.dst }.write(out);
        out.extend(self.src_port.to_be_bytes());
        out.extend(self.dst_port.to_be_bytes());
        out.push(self.protocol);
    }
}

impl fmt::Display for FiveTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { src, dst, src_port, dst_port, protocol } = self;
        write!(f, "{src}:{src_port} > {dst}:{dst_port}/{protocol}")
    }
}

/// The priority that a byte names.
pub(crate) fn priority(what: &'static str, byte: u8) -> Result<Priority, WireError> {
    Priority::new(byte).ok_or(WireError::Value { what, found: byte.into(), valid: "0 to 7" })
}
