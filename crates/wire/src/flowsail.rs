//! FlowSail's PAUSE and RESUME of one flow; ideal flow control uses them too.
//!
//! They follow EtherType 0x88B5 in a minimum frame. Offsets count from the byte after it.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | type: 3 PAUSE, 4 RESUME |
//! | 1 | 1 | priority of the flow |
//! | 2 | 13 | flow: source 4, destination 4, ports 2 + 2, protocol 1 |

use crate::WireError;
use crate::bytes::at_least;
use crate::identifier::{FiveTuple, Identifier, priority};
use weir_core::Priority;

pub(crate) const PAUSE: u8 = 3;
pub(crate) const RESUME: u8 = 4;

/// The bytes of a FlowSail frame after the EtherType.
#[derive(Clone, Copy, Debug)]
pub struct FlowSailView<'a>(&'a [u8]);

impl<'a> FlowSailView<'a> {
    /// A view of what follows EtherType 0x88B5.
    pub fn new(payload: &'a [u8]) -> Result<Self, WireError> {
        Ok(Self(at_least("the FlowSail frame", payload, 2 + FiveTuple::LEN)?))
    }

    /// 3 for PAUSE, 4 for RESUME.
    pub fn kind(self) -> u8 {
        self.0[0]
    }

    /// The priority.
    pub fn priority(self) -> u8 {
        self.0[1]
    }

    /// The flow.
    pub fn flow(self) -> FiveTuple {
        FiveTuple::read(&self.0[2..])
    }
}

/// FlowSail's PAUSE or RESUME.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowSail {
    /// True for PAUSE, false for RESUME.
    pub pause: bool,
    /// The priority of the flow.
    pub priority: Priority,
    /// The flow.
    pub flow: FiveTuple,
}

impl FlowSail {
    /// Reads what follows the EtherType.
    pub fn parse(view: FlowSailView<'_>) -> Result<Self, WireError> {
        let pause = match view.kind() {
            PAUSE => true,
            RESUME => false,
            kind => {
                let (what, valid) = ("the type of a FlowSail frame", "PAUSE is 3, RESUME 4");
                return Err(WireError::Opcode { what, found: kind.into(), valid });
            }
        };
        let priority = priority("the priority of FlowSail", view.priority())?;
        Ok(Self { pause, priority, flow: view.flow() })
    }

    /// Writes what follows the EtherType.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([if self.pause { PAUSE } else { RESUME }, self.priority.get()]);
        self.flow.write(out);
    }
}
