//! Extended transport headers: RDMA and ACK.

use crate::WireError;
use crate::bytes::{array, at_most, u24, u24_at, u32_at};

/// The RDMA extended transport header: where the data of a message go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reth {
    /// Address in the memory of the receiver.
    pub virtual_address: u64,
    /// Key of that memory.
    pub rkey: u32,
    /// Bytes of the whole message.
    pub dma_len: u32,
}

impl Reth {
    /// How many bytes there are.
    pub const LEN: usize = 16;
    /// A length that stands for one that the field cannot hold; no message of InfiniBand is so
    /// long.
    pub const UNKNOWN: u32 = u32::MAX;

    /// Reads it from [`Reth::LEN`] bytes, which the caller has checked to be there.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self {
            virtual_address: u64::from_be_bytes(array(bytes, 0)),
            rkey: u32_at(bytes, 8),
            dma_len: u32_at(bytes, 12),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.virtual_address.to_be_bytes());
        out.extend(self.rkey.to_be_bytes());
        out.extend(self.dma_len.to_be_bytes());
    }
}

/// What an ACK header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syndrome {
    /// ACK with a credit count, 0 to 31; 31 means that credits are not used.
    Ack(u8),
    /// Receiver not ready, with a timer code, 0 to 31.
    NotReady(u8),
    /// NAK with its code, 0 to 31: 0 is a sequence error.
    Nak(u8),
}

impl Syndrome {
    /// An ACK without credits.
    pub const ACK: Self = Self::Ack(31);
    /// A packet is missing.
    pub const SEQUENCE_ERROR: Self = Self::Nak(0);

    fn read(byte: u8) -> Result<Self, WireError> {
        let value = byte & 0x1f;
        match byte >> 5 {
            0 => Ok(Self::Ack(value)),
            1 => Ok(Self::NotReady(value)),
            3 => Ok(Self::Nak(value)),
            _ => {
                let valid = "bits 7 to 5 are 0 for ACK, 1 for RNR NAK, 3 for NAK";
                Err(WireError::Value { what: "the syndrome", found: byte.into(), valid })
            }
        }
    }

    fn byte(self) -> Result<u8, WireError> {
        let (kind, value) = match self {
            Self::Ack(credits) => (0, credits),
            Self::NotReady(timer) => (1, timer),
            Self::Nak(code) => (3, code),
        };
        Ok(kind << 5 | at_most("the value of the syndrome", value, 31, "0 to 31")?)
    }
}

/// The ACK extended transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aeth {
    /// ACK or NAK.
    pub syndrome: Syndrome,
    /// Message sequence number, 24 bits.
    pub msn: u32,
}

impl Aeth {
    /// How many bytes there are.
    pub const LEN: usize = 4;

    /// Reads it from [`Aeth::LEN`] bytes, which the caller has checked to be there.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, WireError> {
        Ok(Self { syndrome: Syndrome::read(bytes[0])?, msn: u24_at(bytes, 1) })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        at_most("the message sequence number", self.msn, (1 << 24) - 1, "at most 24 bits")?;
        out.push(self.syndrome.byte()?);
        out.extend(u24(self.msn));
        Ok(())
    }
}
