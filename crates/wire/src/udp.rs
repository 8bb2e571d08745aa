//! UDP headers.

use crate::WireError;
use crate::bytes::{at_least, len_u16, u16_at};
use crate::ipv4::{Ipv4, checksum, protocol};

/// Bytes of a header.
pub const HEADER_LEN: usize = 8;

/// The bytes of a UDP datagram, of which at least the header is there.
#[derive(Clone, Copy, Debug)]
pub struct UdpView<'a>(&'a [u8]);

impl<'a> UdpView<'a> {
    /// A view of the payload of an IP packet.
    pub fn new(datagram: &'a [u8]) -> Result<Self, WireError> {
        let view = Self(at_least("the UDP header", datagram, HEADER_LEN)?);
        if usize::from(view.len()) < HEADER_LEN {
            let (what, found) = ("the UDP length", view.len().into());
            return Err(WireError::Value { what, found, valid: "at least the header, 8 B" });
        }
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

    /// Bytes of the datagram, header included.
    #[expect(clippy::len_without_is_empty, reason = "a datagram has at least a header")]
    pub fn len(self) -> u16 {
        u16_at(self.0, 4)
    }

    /// The checksum as written; 0 means none.
    pub fn checksum(self) -> u16 {
        u16_at(self.0, 6)
    }

    /// The bytes of the header.
    pub fn header(self) -> &'a [u8] {
        &self.0[..HEADER_LEN]
    }

    /// What is there of the payload.
    pub fn payload(self) -> &'a [u8] {
        &self.0[HEADER_LEN..self.0.len().min(self.len().into())]
    }
}

/// A UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Udp {
    /// Port of the sender.
    pub src_port: u16,
    /// Port of the receiver.
    pub dst_port: u16,
    /// Whether there is a checksum. RoCEv2 usually has none: its ICRC covers more.
    pub checksummed: bool,
}

impl Udp {
    /// Reads the header and checks it against the bytes there are.
    pub fn parse(ip: &Ipv4, datagram: &[u8]) -> Result<Self, WireError> {
        let view = UdpView::new(datagram)?;
        if usize::from(view.len()) != datagram.len() {
            let (count, room) = (view.len().into(), datagram.len());
            return Err(WireError::Count { what: "the UDP length", count, room });
        }
        let checksummed = view.checksum() != 0;
        let sum = ip.pseudo_sum(protocol::UDP, datagram.len());
        if checksummed && checksum(sum, datagram) != 0 {
            let found = view.checksum();
            let expected = checksum(sum + u32::from(!found), datagram);
            let (found, expected) = (found.into(), expected.into());
            return Err(WireError::Checksum { what: "the UDP checksum", found, expected });
        }
        Ok(Self { src_port: view.src_port(), dst_port: view.dst_port(), checksummed })
    }

    /// The header in front of `payload`.
    pub fn header(&self, ip: &Ipv4, payload: &[u8]) -> Result<[u8; HEADER_LEN], WireError> {
        let len = len_u16("the UDP length", HEADER_LEN + payload.len())?;
        let mut header = [0; HEADER_LEN];
        header[..2].copy_from_slice(&self.src_port.to_be_bytes());
        header[2..4].copy_from_slice(&self.dst_port.to_be_bytes());
        header[4..6].copy_from_slice(&len.to_be_bytes());
        if self.checksummed {
            let header_sum = u32::from(!checksum(0, &header));
            let sum = ip.pseudo_sum(protocol::UDP, len.into()) + header_sum;
            // zero would mean that there is no checksum (RFC 768)
            let sum = match checksum(sum, payload) {
                0 => u16::MAX,
                sum => sum,
            };
            header[6..].copy_from_slice(&sum.to_be_bytes());
        }
        Ok(header)
    }
}
