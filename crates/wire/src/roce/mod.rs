//! RoCEv2: InfiniBand's transport in UDP datagrams to port 4791.
//!
//! | part | bytes | when |
//! |---|---|---|
//! | BTH | 12 | always |
//! | RETH | 16 | first or only packet of a WRITE, READ request |
//! | AETH | 4 | ACK and NAK, READ response other than middle |
//! | immediate data | 4 | opcodes "with immediate" |
//! | payload | n | padded with zeros to a multiple of four |
//! | ICRC | 4 | always |
//!
//! A CNP has 16 reserved bytes in place of a payload.

mod bth;
mod extended;
mod opcode;

pub use bth::{Bth, BthView};
pub use extended::{Aeth, Reth, Syndrome};
pub use opcode::Opcode;

use crate::WireError;
use crate::bytes::{at_least, u32_at};
use crate::crc::Crc32;
use crate::ipv4::{Ipv4, protocol};
use crate::udp::{self, Udp};

/// The UDP port of RoCEv2.
pub const PORT: u16 = 4791;
/// Bytes of the invariant CRC.
pub const ICRC_LEN: usize = 4;
/// Reserved bytes of a CNP.
const CNP_LEN: usize = 16;

/// A RoCEv2 packet without its IP and UDP headers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Roce {
    /// Base transport header.
    pub bth: Bth,
    /// RDMA header, when the opcode has one.
    pub reth: Option<Reth>,
    /// Acknowledgement header, when the opcode has one.
    pub aeth: Option<Aeth>,
    /// Immediate data, when the opcode has it.
    pub immediate: Option<u32>,
    /// The payload, without padding.
    pub payload: Vec<u8>,
}

impl Roce {
    /// A packet that consists of its base header and `payload`.
    pub fn plain(bth: Bth, payload: Vec<u8>) -> Self {
        Self { bth, reth: None, aeth: None, immediate: None, payload }
    }

    /// Reads the payload of a UDP datagram, but for its ICRC, which [`Roce::check`] verifies.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let view = BthView::new(datagram)?;
        let bth = Bth::parse(view)?;
        let rest = at_least("the RoCEv2 packet", view.rest(), ICRC_LEN)?;
        let mut rest = &rest[..rest.len() - ICRC_LEN];
        let mut take = |what, len| {
            let (taken, left) = at_least(what, rest, len)?.split_at(len);
            rest = left;
            Ok::<_, WireError>(taken)
        };
        let opcode = bth.opcode;
        let reth = match opcode.has_reth() {
            true => Some(Reth::read(take("the RDMA header", Reth::LEN)?)),
            false => None,
        };
        let aeth = match opcode.has_aeth() {
            true => Some(Aeth::read(take("the ACK header", Aeth::LEN)?)?),
            false => None,
        };
        let immediate = match opcode.has_immediate() {
            true => Some(u32_at(take("the immediate data", 4)?, 0)),
            false => None,
        };
        if opcode == Opcode::CNP {
            let bits = take("the CNP", CNP_LEN)?.iter().fold(0, |bits, byte| bits | byte);
            crate::bytes::reserved("the 16 bytes of a CNP", bits)?;
        }
        let pad = usize::from(view.pad());
        if pad > rest.len() {
            let (count, room) = (pad, rest.len());
            return Err(WireError::Count { what: "the pad count of RoCEv2", count, room });
        }
        let payload = rest[..rest.len() - pad].to_vec();
        let roce = Self { bth, reth, aeth, immediate, payload };
        roce.check_payload(pad)?;
        Ok(roce)
    }

    fn check_payload(&self, pad: usize) -> Result<(), WireError> {
        if !self.bth.opcode.has_payload() && self.payload.len() + pad > 0 {
            let (what, found) = ("the payload of an ACK, READ request or CNP", self.payload.len());
            return Err(WireError::Value { what, found: found as u64, valid: "none, 0 B" });
        }
        if pad != self.pad() {
            let (what, found) = ("the pad count of RoCEv2", pad as u64);
            return Err(WireError::Value { what, found, valid: "what is left to a multiple of 4" });
        }
        Ok(())
    }

    /// Compares the ICRC at the end of a datagram with what its headers and bytes give.
    pub fn check(ip_header: &[u8], udp_header: &[u8], datagram: &[u8]) -> Result<(), WireError> {
        let Some((covered, icrc_bytes)) = datagram.split_last_chunk::<ICRC_LEN>() else {
            let found = datagram.len();
            return Err(WireError::Short { what: "the ICRC", needed: ICRC_LEN, found });
        };
        let (found, expected) =
            (u32::from_le_bytes(*icrc_bytes), icrc(ip_header, udp_header, covered));
        if found != expected {
            return Err(WireError::Checksum { what: "the ICRC", found, expected });
        }
        Ok(())
    }

    /// How many bytes pad the payload.
    pub fn pad(&self) -> usize {
        self.payload.len().next_multiple_of(4) - self.payload.len()
    }

    /// Writes the packet with its IP and UDP headers.
    pub fn emit(&self, ip: &Ipv4, udp: &Udp, out: &mut Vec<u8>) -> Result<(), WireError> {
        let datagram = self.datagram()?;
        let len = datagram.len() + ICRC_LEN;
        let ip_header = ip.header(protocol::UDP, udp::HEADER_LEN + len)?;
        // The ICRC does not cover the UDP checksum, which covers the ICRC.
        let plain = Udp { checksummed: false, ..*udp };
        let mut with_icrc = datagram;
        with_icrc.extend([0; ICRC_LEN]);
        let udp_header = plain.header(ip, &with_icrc)?;
        let covered = with_icrc.len() - ICRC_LEN;
        let crc = icrc(&ip_header, &udp_header, &with_icrc[..covered]);
        with_icrc[covered..].copy_from_slice(&crc.to_le_bytes());
        out.extend(ip_header);
        out.extend(udp.header(ip, &with_icrc)?);
        out.extend(with_icrc);
        Ok(())
    }

    /// From the base header to the padding.
    fn datagram(&self) -> Result<Vec<u8>, WireError> {
        let opcode = self.bth.opcode;
        let mut out = Vec::with_capacity(48 + self.payload.len());
        self.bth.emit(self.pad() as u8, &mut out)?;
        let (what, valid) = ("the number of extended headers", "those of the opcode");
        let found = [self.reth.is_some(), self.aeth.is_some(), self.immediate.is_some()];
        if found != [opcode.has_reth(), opcode.has_aeth(), opcode.has_immediate()] {
            let found = found.iter().filter(|&&there| there).count() as u64;
            return Err(WireError::Value { what, found, valid });
        }
        self.check_payload(self.pad())?;
        if let Some(reth) = &self.reth {
            reth.write(&mut out);
        }
        if let Some(aeth) = &self.aeth {
            aeth.write(&mut out)?;
        }
        if let Some(immediate) = self.immediate {
            out.extend(immediate.to_be_bytes());
        }
        if opcode == Opcode::CNP {
            out.extend([0; CNP_LEN]);
        }
        out.extend(&self.payload);
        out.resize(out.len() + self.pad(), 0);
        Ok(out)
    }
}

/// The invariant CRC of RoCEv2 (annex A17 of the InfiniBand specification): CRC-32 over eight
/// bytes of ones in place of the local route header, and over the packet from the IP header on.
/// Fields that change on the way count as ones: TOS, TTL and checksum of IPv4, the checksum of UDP
/// and the byte of the BTH with FECN and BECN. It is sent least significant byte first.
///
/// `datagram` runs from the base header to the padding.
pub fn icrc(ip_header: &[u8], udp_header: &[u8], datagram: &[u8]) -> u32 {
    fn masked(crc: &mut Crc32, bytes: &[u8], ones: &[usize]) {
        let mut from = 0;
        for &at in ones.iter().filter(|&&at| at < bytes.len()) {
            crc.update(&bytes[from..at]);
            crc.update(&[0xff]);
            from = at + 1;
        }
        crc.update(&bytes[from..]);
    }
    let mut crc = Crc32::default();
    crc.update(&[0xff; 8]);
    masked(&mut crc, ip_header, &[1, 8, 10, 11]);
    masked(&mut crc, udp_header, &[6, 7]);
    masked(&mut crc, datagram, &[4]);
    crc.finish()
}
