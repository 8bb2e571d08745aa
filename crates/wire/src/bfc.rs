//! BFC's frames: the state of one queue, or of all queues of a port.
//!
//! They follow EtherType 0x88B5. Offsets count from the byte after it.
//!
//! | offset | bytes | field, immediate frame (64 B) |
//! |---|---|---|
//! | 0 | 1 | type: 5 pause, 6 resume |
//! | 1 | 1 | priority of the packets that caused it |
//! | 2 | 4 | queue: 32 bits, since a queue of a host is one of its flows |
//!
//! | offset | bytes | field, bitmap (max(64, 22 + ceil(n / 8)) B) |
//! |---|---|---|
//! | 0 | 1 | type: 7 |
//! | 1 | 1 | reserved, zero |
//! | 2 | 2 | number of bits n |
//! | 4 | ceil(n / 8) | queue q is paused: bit q mod 8 of byte q / 8; unused bits are zero |

use crate::WireError;
use crate::bytes::{at_least, reserved, u16_at, u32_at};
use crate::identifier::priority;
use weir_core::Priority;

pub(crate) const PAUSE: u8 = 5;
pub(crate) const RESUME: u8 = 6;
pub(crate) const BITMAP: u8 = 7;

/// The bytes of an immediate frame after the EtherType.
#[derive(Clone, Copy, Debug)]
pub struct BfcQueueView<'a>(&'a [u8]);

impl<'a> BfcQueueView<'a> {
    /// A view of what follows EtherType 0x88B5.
    pub fn new(payload: &'a [u8]) -> Result<Self, WireError> {
        Ok(Self(at_least("the BFC frame", payload, 6)?))
    }

    /// 5 for pause, 6 for resume.
    pub fn kind(self) -> u8 {
        self.0[0]
    }

    /// The priority.
    pub fn priority(self) -> u8 {
        self.0[1]
    }

    /// The queue.
    pub fn queue(self) -> u32 {
        u32_at(self.0, 2)
    }
}

/// An immediate frame: pause or resume one queue of the upstream port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BfcQueue {
    /// True to pause.
    pub pause: bool,
    /// The priority of the packets that caused it.
    pub priority: Priority,
    /// The upstream queue.
    pub queue: u32,
}

impl BfcQueue {
    /// Reads what follows the EtherType.
    pub fn parse(view: BfcQueueView<'_>) -> Result<Self, WireError> {
        let pause = match view.kind() {
            PAUSE => true,
            RESUME => false,
            kind => {
                let (what, valid) = ("the type of a BFC frame", "pause is 5, resume 6");
                return Err(WireError::Opcode { what, found: kind.into(), valid });
            }
        };
        let priority = priority("the priority of BFC", view.priority())?;
        Ok(Self { pause, priority, queue: view.queue() })
    }

    /// Writes what follows the EtherType.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([if self.pause { PAUSE } else { RESUME }, self.priority.get()]);
        out.extend(self.queue.to_be_bytes());
    }
}

/// The bytes of a bitmap frame after the EtherType.
#[derive(Clone, Copy, Debug)]
pub struct BfcBitmapView<'a>(&'a [u8]);

impl<'a> BfcBitmapView<'a> {
    /// A view of what follows EtherType 0x88B5, with as many bits as it says.
    pub fn new(payload: &'a [u8]) -> Result<Self, WireError> {
        let view = Self(at_least("the BFC bitmap header", payload, 4)?);
        let (count, room) = (view.bits().into(), (payload.len() - 4) * 8);
        if count > room {
            return Err(WireError::Count { what: "the number of bits of BFC", count, room });
        }
        Ok(view)
    }

    /// The type: 7.
    pub fn kind(self) -> u8 {
        self.0[0]
    }

    /// The reserved byte.
    pub fn reserved(self) -> u8 {
        self.0[1]
    }

    /// How many bits there are.
    pub fn bits(self) -> u16 {
        u16_at(self.0, 2)
    }

    /// The bits.
    pub fn bitmap(self) -> &'a [u8] {
        &self.0[4..][..usize::from(self.bits()).div_ceil(8)]
    }
}

/// The pause state of all queues of the upstream port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BfcBitmap {
    bits: u16,
    bytes: Vec<u8>,
}

impl BfcBitmap {
    /// `bits` queues, of which `paused` says which are paused.
    pub fn new(bits: u16, paused: impl Fn(u16) -> bool) -> Self {
        let mut bytes = vec![0; usize::from(bits).div_ceil(8)];
        for queue in (0..bits).filter(|&queue| paused(queue)) {
            bytes[usize::from(queue / 8)] |= 1 << (queue % 8);
        }
        Self { bits, bytes }
    }

    /// How many queues it tells of.
    pub fn bits(&self) -> u16 {
        self.bits
    }

    /// Whether a queue is paused; false beyond [`BfcBitmap::bits`].
    pub fn is_paused(&self, queue: u16) -> bool {
        let byte = self.bytes.get(usize::from(queue / 8));
        byte.is_some_and(|byte| byte >> (queue % 8) & 1 == 1)
    }

    /// Reads what follows the EtherType.
    pub fn parse(view: BfcBitmapView<'_>) -> Result<Self, WireError> {
        if view.kind() != BITMAP {
            let (what, valid) = ("the type of a BFC frame", "a bitmap is 7");
            return Err(WireError::Opcode { what, found: view.kind().into(), valid });
        }
        reserved("the second byte of a BFC bitmap", view.reserved())?;
        let (bits, bytes) = (view.bits(), view.bitmap().to_vec());
        if let (Some(last), used @ 1..) = (bytes.last(), bits % 8) {
            reserved("the unused bits of a BFC bitmap", last >> used)?;
        }
        Ok(Self { bits, bytes })
    }

    /// Writes what follows the EtherType.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([BITMAP, 0]);
        out.extend(self.bits.to_be_bytes());
        out.extend(&self.bytes);
    }
}
