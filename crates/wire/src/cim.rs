//! The Congestion Isolation Message of IEEE 802.1Qcz, for comparison: no scheme of Weir sends it.
//!
//! It follows EtherType 0x89A2 and goes to the upstream peer's own address. Offsets count from the
//! byte after the EtherType. The layout is our reading of the standard's field list.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | version 4 bit, reserved 3 bit, add 1 bit (0: delete) |
//! | 1 | 6 + 6 | destination and source MAC address of the congested flow |
//! | 13 | 2 | reserved 4 bit, VLAN 12 bit |
//! | 15 | 2 | length n of the encapsulated MSDU |
//! | 17 | n | the first bytes of a packet of the flow, from the IP header on |
//!
//! A frame has max(64, 35 + n) bytes: 83 with the usual 48 bytes.

use crate::WireError;
use crate::bytes::{array, at_least, at_most, len_u16, reserved, u16_at};
use crate::mac::MacAddress;

const HEADER: usize = 17;

/// The bytes of a congestion isolation message after the EtherType.
#[derive(Clone, Copy, Debug)]
pub struct CimView<'a>(&'a [u8]);

impl<'a> CimView<'a> {
    /// A view of what follows EtherType 0x89A2, with as much of the packet as it says.
    pub fn new(payload: &'a [u8]) -> Result<Self, WireError> {
        let view = Self(at_least("the congestion isolation message", payload, HEADER)?);
        let (count, room) = (u16_at(payload, 15).into(), payload.len() - HEADER);
        if count > room {
            return Err(WireError::Count { what: "the MSDU length of CIM", count, room });
        }
        Ok(view)
    }

    /// The version.
    pub fn version(self) -> u8 {
        self.0[0] >> 4
    }

    /// The three reserved bits of the first byte.
    pub fn reserved(self) -> u8 {
        self.0[0] >> 1 & 7
    }

    /// Isolate the flow, or no longer.
    pub fn add(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// Destination of the flow.
    pub fn dst(self) -> MacAddress {
        MacAddress(array(self.0, 1))
    }

    /// Source of the flow.
    pub fn src(self) -> MacAddress {
        MacAddress(array(self.0, 7))
    }

    /// The VLAN, with its four reserved bits.
    pub fn vlan(self) -> u16 {
        u16_at(self.0, 13)
    }

    /// The first bytes of a packet of the flow.
    pub fn msdu(self) -> &'a [u8] {
        &self.0[HEADER..][..u16_at(self.0, 15).into()]
    }
}

/// A congestion isolation message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cim {
    /// The version, 0 to 15.
    pub version: u8,
    /// Isolate the flow, or no longer.
    pub add: bool,
    /// Destination of the flow.
    pub dst: MacAddress,
    /// Source of the flow.
    pub src: MacAddress,
    /// The VLAN, 0 to 4095.
    pub vid: u16,
    /// The first bytes of a packet of the flow.
    pub msdu: Vec<u8>,
}

impl Cim {
    /// Reads what follows the EtherType.
    pub fn parse(view: CimView<'_>) -> Result<Self, WireError> {
        reserved("the first byte of CIM", view.reserved())?;
        reserved("the VLAN of CIM", view.vlan() >> 12)?;
        Ok(Self {
            version: view.version(),
            add: view.add(),
            dst: view.dst(),
            src: view.src(),
            vid: view.vlan(),
            msdu: view.msdu().to_vec(),
        })
    }

    /// Writes what follows the EtherType.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        at_most("the version of CIM", self.version, 15, "0 to 15")?;
        at_most("the VLAN of CIM", self.vid, 0xfff, "0 to 4095")?;
        out.push(self.version << 4 | u8::from(self.add));
        out.extend(self.dst.0);
        out.extend(self.src.0);
        out.extend(self.vid.to_be_bytes());
        out.extend(len_u16("the MSDU length of CIM", self.msdu.len())?.to_be_bytes());
        out.extend(&self.msdu);
        Ok(())
    }
}
