//! Why bytes are not a frame, or a frame cannot become bytes.

use thiserror::Error;

/// Why bytes are not the frame they claim to be, or why a frame has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// Fewer bytes than the part needs.
    #[error("{what}: {found} B, at least {needed} B are needed")]
    Short {
        /// The part of the frame.
        what: &'static str,
        /// How many bytes it needs.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// An EtherType, opcode, type or protocol that means nothing here.
    #[error("{what} 0x{found:04x} is unknown: {valid}")]
    Opcode {
        /// Which code.
        what: &'static str,
        /// Its value.
        found: u16,
        /// What is known.
        valid: &'static str,
    },
    /// A count or length field that announces more than the frame holds.
    #[error("{what} says {count}, but the frame has room for {room}")]
    Count {
        /// Which field.
        what: &'static str,
        /// What it says.
        count: usize,
        /// What there is room for.
        room: usize,
    },
    /// Reserved bits that are set.
    #[error("{what}: the reserved bits are 0x{found:x}, they must be zero")]
    Reserved {
        /// Which bits.
        what: &'static str,
        /// Their value.
        found: u32,
    },
    /// A field whose value is not allowed.
    #[error("{what} is {found}: {valid}")]
    Value {
        /// Which field.
        what: &'static str,
        /// Its value.
        found: u64,
        /// What is allowed.
        valid: &'static str,
    },
    /// A checksum that does not fit the bytes it covers.
    #[error("{what} is 0x{found:x}, but the bytes give 0x{expected:x}")]
    Checksum {
        /// Which checksum.
        what: &'static str,
        /// What the frame says.
        found: u32,
        /// What its bytes give.
        expected: u32,
    },
}
