//! Opcodes of InfiniBand's transport.

use crate::WireError;
use std::fmt;

/// What a RoCEv2 packet is: an opcode of a reliable or unreliable connection, or CNP.
///
/// Atomics and datagrams of InfiniBand, which have more headers, are not supported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Opcode(u8);

/// The bit that tells unreliable from reliable connections.
const UNRELIABLE: u8 = 0x20;
const NAMES: [&str; 18] = [
    "SEND first",
    "SEND middle",
    "SEND last",
    "SEND last with immediate",
    "SEND only",
    "SEND only with immediate",
    "WRITE first",
    "WRITE middle",
    "WRITE last",
    "WRITE last with immediate",
    "WRITE only",
    "WRITE only with immediate",
    "READ request",
    "READ response first",
    "READ response middle",
    "READ response last",
    "READ response only",
    "ACK",
];

impl Opcode {
    /// First packet of a WRITE of several.
    pub const WRITE_FIRST: Self = Self(0x06);
    /// Neither the first nor the last packet of a WRITE.
    pub const WRITE_MIDDLE: Self = Self(0x07);
    /// Last packet of a WRITE of several.
    pub const WRITE_LAST: Self = Self(0x08);
    /// A WRITE of one packet.
    pub const WRITE_ONLY: Self = Self(0x0a);
    /// ACK, and NAK by its syndrome.
    pub const ACK: Self = Self(0x11);
    /// Congestion notification packet.
    pub const CNP: Self = Self(0x81);

    /// The opcode of a byte.
    pub fn new(byte: u8) -> Result<Self, WireError> {
        let known = match byte & !UNRELIABLE {
            0x00..=0x0b => true,
            0x0c..=0x11 => byte & UNRELIABLE == 0,
            _ => byte == Self::CNP.0,
        };
        let (what, found) = ("the RoCEv2 opcode", byte.into());
        let valid = "0x00 to 0x11, 0x20 to 0x2b and 0x81 are supported";
        if known { Ok(Self(byte)) } else { Err(WireError::Opcode { what, found, valid }) }
    }

    /// The same on an unreliable connection, which has SEND and WRITE only.
    pub fn unreliable(self) -> Result<Self, WireError> {
        Self::new(self.0 | UNRELIABLE)
    }

    /// The byte.
    pub const fn get(self) -> u8 {
        self.0
    }

    fn operation(self) -> u8 {
        if self == Self::CNP { u8::MAX } else { self.0 & !UNRELIABLE }
    }

    /// Whether an RDMA header follows.
    pub fn has_reth(self) -> bool {
        matches!(self.operation(), 0x06 | 0x0a | 0x0b | 0x0c)
    }

    /// Whether an ACK header follows.
    pub fn has_aeth(self) -> bool {
        matches!(self.operation(), 0x0d | 0x0f | 0x10 | 0x11)
    }

    /// Whether immediate data follow.
    pub fn has_immediate(self) -> bool {
        matches!(self.operation(), 0x03 | 0x05 | 0x09 | 0x0b)
    }

    /// Whether it may have a payload: what belongs to a message of a flow.
    pub fn has_payload(self) -> bool {
        !matches!(self.operation(), 0x0c | 0x11 | u8::MAX)
    }

    /// Whether it is the last or the only packet of a WRITE.
    pub fn ends_write(self) -> bool {
        matches!(self.operation(), 0x08..=0x0b)
    }

    /// Whether it belongs to a WRITE.
    pub fn is_write(self) -> bool {
        matches!(self.operation(), 0x06..=0x0b)
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connection = if self.0 & UNRELIABLE == 0 { "RC" } else { "UC" };
        match NAMES.get(usize::from(self.operation())) {
            Some(name) => write!(f, "{connection} {name}"),
            None => f.write_str("CNP"),
        }
    }
}

impl fmt::Debug for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} (0x{:02x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_have_names_and_the_unknown_are_refused() {
        assert_eq!(Opcode::CNP.to_string(), "CNP");
        assert_eq!(Opcode::ACK.to_string(), "RC ACK");
        let unreliable = Opcode::WRITE_ONLY.unreliable().expect("UC has WRITE");
        assert_eq!((unreliable.get(), unreliable.to_string()), (0x2a, "UC WRITE only".into()));
        assert!(Opcode::ACK.unreliable().is_err());
        // atomics, datagrams, and CNP with the bit of unreliable connections
        for byte in [0x12, 0x13, 0x64, 0xa1, 0xff] {
            assert!(Opcode::new(byte).is_err(), "0x{byte:02x}");
        }
    }
}
