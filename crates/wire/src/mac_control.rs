//! MAC control frames with a time per priority: PAUSE, PFC and GFC.
//!
//! All follow EtherType 0x8808 and fit a minimum frame. Offsets count from the opcode.
//!
//! | frame | opcode | offset 2 | offset 4 |
//! |---|---|---|---|
//! | PAUSE (802.3 Annex 31B) | 0x0001 | time u16 | |
//! | PFC (802.1Qbb) | 0x0101 | 0, enable vector u8 | time u16 of each priority |
//! | GFC stage | 0x0113 | as PFC | 0, stage u8 of each priority |
//! | GFC occupancy | 0x0114 | as PFC | units of 64 B, u16 of each priority |
//!
//! FFC's frames, of any length, are in [`crate::ffc`]. What follows the fields is padding and
//! ignored, as 802.3 asks of receivers.

use crate::WireError;
use crate::bytes::{at_least, reserved, u16_at};
use weir_core::{Priority, PrioritySet};

/// Opcodes of MAC control.
pub mod opcode {
    /// Classic PAUSE.
    pub const PAUSE: u16 = 0x0001;
    /// Priority flow control.
    pub const PFC: u16 = 0x0101;
    /// FFC, flows named by source, destination and priority.
    pub const FFC: u16 = 0x0111;
    /// FFC, flows named by 5-tuple and priority.
    pub const FFC_TUPLES: u16 = 0x0112;
    /// GFC, stages.
    pub const GFC_STAGE: u16 = 0x0113;
    /// Time-based GFC, occupancies.
    pub const GFC_OCCUPANCY: u16 = 0x0114;
    /// All of them, for messages.
    pub(crate) const KNOWN: &str = "PAUSE is 0x0001, PFC 0x0101, FFC 0x0111 and 0x0112, \
                                    GFC 0x0113 and 0x0114";
}

/// The bytes of a MAC control frame after the EtherType.
#[derive(Clone, Copy, Debug)]
pub struct MacControlView<'a>(&'a [u8]);

impl<'a> MacControlView<'a> {
    /// A view of what follows EtherType 0x8808.
    pub fn new(payload: &'a [u8]) -> Result<Self, WireError> {
        Ok(Self(at_least("the MAC control opcode", payload, 2)?))
    }

    /// What the frame is.
    pub fn opcode(self) -> u16 {
        u16_at(self.0, 0)
    }

    /// What follows the opcode, padding included.
    pub fn parameters(self) -> &'a [u8] {
        &self.0[2..]
    }
}

/// Classic PAUSE: the whole link stops for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pause {
    /// For how long, in units of 512 bit times; 0 resumes.
    pub quanta: u16,
}

impl Pause {
    /// Reads the parameters of opcode [`opcode::PAUSE`].
    pub fn parse(parameters: &[u8]) -> Result<Self, WireError> {
        Ok(Self { quanta: u16_at(at_least("PAUSE", parameters, 2)?, 0) })
    }

    /// Writes the parameters.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.quanta.to_be_bytes());
    }
}

/// The parameters of PFC and of GFC: an enable vector and a value of each priority.
#[derive(Clone, Copy, Debug)]
pub struct PerPriorityView<'a>(&'a [u8]);

impl<'a> PerPriorityView<'a> {
    /// How many bytes there are.
    pub const LEN: usize = 2 + 2 * Priority::COUNT;

    /// A view of what follows the opcode.
    pub fn new(parameters: &'a [u8]) -> Result<Self, WireError> {
        Ok(Self(at_least("the values of eight priorities", parameters, Self::LEN)?))
    }

    /// The reserved byte of the enable vector.
    pub fn reserved(self) -> u8 {
        self.0[0]
    }

    /// The priorities whose value is valid.
    pub fn enable(self) -> PrioritySet {
        PrioritySet::from_bits(self.0[1])
    }

    /// The value of a priority.
    pub fn value(self, priority: Priority) -> u16 {
        u16_at(self.0, 2 + 2 * priority.index())
    }
}

/// An enable vector and a value of each priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PerPriority {
    /// The priorities whose value is valid.
    pub enable: PrioritySet,
    /// PFC: units of 512 bit times at the receiver, 0 resumes. GFC occupancy: units of 64 B.
    pub values: [u16; Priority::COUNT],
}

impl PerPriority {
    /// Reads the parameters.
    pub fn parse(view: PerPriorityView<'_>) -> Result<Self, WireError> {
        reserved("the high byte of the enable vector", view.reserved())?;
        Ok(Self { enable: view.enable(), values: Priority::ALL.map(|p| view.value(p)) })
    }

    /// Writes the parameters.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([0, self.enable.bits()]);
        self.values.iter().for_each(|value| out.extend(value.to_be_bytes()));
    }
}

/// GFC: the stage of each enabled priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stages {
    /// The priorities whose stage is valid.
    pub enable: PrioritySet,
    /// Rate = line rate / 2^stage; 0xff stands for rate zero.
    pub stages: [u8; Priority::COUNT],
}

impl Stages {
    /// Reads the parameters; the high byte of each value is reserved.
    pub fn parse(view: PerPriorityView<'_>) -> Result<Self, WireError> {
        let PerPriority { enable, values } = PerPriority::parse(view)?;
        for value in values {
            reserved("the high byte of a GFC stage", value >> 8)?;
        }
        Ok(Self { enable, stages: values.map(|value| value as u8) })
    }

    /// Writes the parameters.
    pub fn emit(&self, out: &mut Vec<u8>) {
        PerPriority { enable: self.enable, values: self.stages.map(u16::from) }.emit(out);
    }
}
