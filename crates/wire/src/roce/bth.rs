//! The base transport header.

use super::Opcode;
use crate::WireError;
use crate::bytes::{at_least, at_most, reserved, u16_at, u24, u24_at};

/// The bytes of a packet that has a whole base transport header.
///
/// | offset | bits | field |
/// |---|---|---|
/// | 0 | 8 | opcode |
/// | 1 | 1, 1, 2, 4 | solicited event, migrated, pad count, version |
/// | 2 | 16 | partition key |
/// | 4 | 1, 1, 6 | FECN, BECN, reserved |
/// | 5 | 24 | destination queue pair |
/// | 8 | 1, 7 | ACK request, reserved |
/// | 9 | 24 | packet sequence number |
#[derive(Clone, Copy, Debug)]
pub struct BthView<'a>(&'a [u8]);

impl<'a> BthView<'a> {
    /// How many bytes there are.
    pub const LEN: usize = 12;

    /// A view of the payload of a UDP datagram.
    pub fn new(datagram: &'a [u8]) -> Result<Self, WireError> {
        Ok(Self(at_least("the base transport header", datagram, Self::LEN)?))
    }

    /// The opcode.
    pub fn opcode(self) -> u8 {
        self.0[0]
    }

    /// How many bytes pad the payload.
    pub fn pad(self) -> u8 {
        self.0[1] >> 4 & 3
    }

    /// The version of the header.
    pub fn version(self) -> u8 {
        self.0[1] & 15
    }

    /// The partition key.
    pub fn pkey(self) -> u16 {
        u16_at(self.0, 2)
    }

    /// Forward congestion notification.
    pub fn fecn(self) -> bool {
        self.0[4] & 0x80 != 0
    }

    /// Backward congestion notification.
    pub fn becn(self) -> bool {
        self.0[4] & 0x40 != 0
    }

    /// The destination queue pair.
    pub fn dest_qp(self) -> u32 {
        u24_at(self.0, 5)
    }

    /// The packet sequence number.
    pub fn psn(self) -> u32 {
        u24_at(self.0, 9)
    }

    /// What follows the header, ICRC included.
    pub fn rest(self) -> &'a [u8] {
        &self.0[Self::LEN..]
    }
}

/// A base transport header. The pad count is that of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bth {
    /// The opcode.
    pub opcode: Opcode,
    /// Solicited event.
    pub solicited: bool,
    /// Migration state.
    pub migrated: bool,
    /// The partition key.
    pub pkey: u16,
    /// Forward congestion notification.
    pub fecn: bool,
    /// Backward congestion notification.
    pub becn: bool,
    /// The destination queue pair, 24 bits.
    pub dest_qp: u32,
    /// The receiver is to acknowledge this packet.
    pub ack_request: bool,
    /// The packet sequence number, 24 bits.
    pub psn: u32,
}

impl Bth {
    /// A header of the default partition, without any flag.
    pub fn new(opcode: Opcode, dest_qp: u32, psn: u32) -> Self {
        Self {
            opcode,
            solicited: false,
            migrated: false,
            pkey: 0xffff,
            fecn: false,
            becn: false,
            dest_qp,
            ack_request: false,
            psn,
        }
    }

    /// Reads the header.
    pub fn parse(view: BthView<'_>) -> Result<Self, WireError> {
        let bytes = view.0;
        let opcode = Opcode::new(view.opcode())?;
        at_most("the version of the base transport header", view.version(), 0, "0")?;
        reserved("the fifth byte of the base transport header", bytes[4] & 0x3f)?;
        reserved("the ninth byte of the base transport header", bytes[8] & 0x7f)?;
        Ok(Self {
            opcode,
            solicited: bytes[1] & 0x80 != 0,
            migrated: bytes[1] & 0x40 != 0,
            pkey: view.pkey(),
            fecn: view.fecn(),
            becn: view.becn(),
            dest_qp: view.dest_qp(),
            ack_request: bytes[8] & 0x80 != 0,
            psn: view.psn(),
        })
    }

    /// Writes the header of a packet with `pad` bytes of padding.
    pub(super) fn emit(&self, pad: u8, out: &mut Vec<u8>) -> Result<(), WireError> {
        let bit = |set: bool, at: u8| u8::from(set) << at;
        let limit = (1 << 24) - 1;
        at_most("the destination queue pair", self.dest_qp, limit, "at most 24 bits")?;
        at_most("the packet sequence number", self.psn, limit, "at most 24 bits")?;
        out.push(self.opcode.get());
        out.push(bit(self.solicited, 7) | bit(self.migrated, 6) | pad << 4);
        out.extend(self.pkey.to_be_bytes());
        out.push(bit(self.fecn, 7) | bit(self.becn, 6));
        out.extend(u24(self.dest_qp));
        out.push(bit(self.ack_request, 7));
        out.extend(u24(self.psn));
        Ok(())
    }
}
