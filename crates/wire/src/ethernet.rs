//! Ethernet II, with at most one 802.1Q tag.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 6 | destination |
//! | 6 | 6 | source |
//! | 12 | 0 or 4 | 802.1Q tag: 0x8100, PCP 3 bit, DEI 1 bit, VID 12 bit |
//! | 12 or 16 | 2 | EtherType |
//!
//! Frames have no FCS here, as in most captures: [`crate::fcs`] computes it.

use crate::WireError;
use crate::bytes::{array, at_least, at_most, u16_at};
use crate::mac::MacAddress;

/// EtherTypes of the frames in this crate.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// An 802.1Q tag.
    pub const VLAN: u16 = 0x8100;
    /// The outer one of two tags, 802.1ad.
    pub const SERVICE_VLAN: u16 = 0x88a8;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// MAC control: PAUSE, PFC, FFC and GFC.
    pub const MAC_CONTROL: u16 = 0x8808;
    /// Local experimental 1: OFC, FlowSail and BFC.
    pub const WEIR: u16 = 0x88b5;
    /// Local experimental 2: messages of one's own scheme.
    pub const OWN: u16 = 0x88b6;
    /// 802.1Qcz congestion isolation.
    pub const CIM: u16 = 0x89a2;
}

/// The shortest frame, without FCS.
pub const MIN_LEN: usize = weir_core::control::MIN_FRAME as usize - FCS_LEN;
/// Bytes of the frame check sequence.
pub const FCS_LEN: usize = 4;
const UNTAGGED: usize = 14;
const TAGGED: usize = 18;

/// An 802.1Q tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VlanTag {
    /// Priority code point, 0 to 7.
    pub pcp: u8,
    /// Drop eligible.
    pub dei: bool,
    /// VLAN, 0 to 4095.
    pub vid: u16,
}

/// The bytes of a frame that has a whole Ethernet header.
#[derive(Clone, Copy, Debug)]
pub struct EthernetView<'a>(&'a [u8]);

impl<'a> EthernetView<'a> {
    /// A view of `frame`, which begins at the destination address.
    pub fn new(frame: &'a [u8]) -> Result<Self, WireError> {
        let view = Self(at_least("the Ethernet header", frame, UNTAGGED)?);
        if view.is_tagged() {
            at_least("the Ethernet header with an 802.1Q tag", frame, TAGGED)?;
        }
        Ok(view)
    }

    fn is_tagged(self) -> bool {
        u16_at(self.0, 12) == ethertype::VLAN
    }

    /// Where it goes.
    pub fn dst(self) -> MacAddress {
        MacAddress(array(self.0, 0))
    }

    /// Where it comes from.
    pub fn src(self) -> MacAddress {
        MacAddress(array(self.0, 6))
    }

    /// Its 802.1Q tag.
    pub fn vlan(self) -> Option<VlanTag> {
        let tag = self.is_tagged().then(|| u16_at(self.0, 14))?;
        Some(VlanTag { pcp: (tag >> 13) as u8, dei: tag >> 12 & 1 == 1, vid: tag & 0xfff })
    }

    /// What is inside.
    pub fn ethertype(self) -> u16 {
        u16_at(self.0, if self.is_tagged() { 16 } else { 12 })
    }

    /// What follows the header, padding included.
    pub fn payload(self) -> &'a [u8] {
        &self.0[if self.is_tagged() { TAGGED } else { UNTAGGED }..]
    }
}

/// An Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ethernet {
    /// Where it goes.
    pub dst: MacAddress,
    /// Where it comes from.
    pub src: MacAddress,
    /// Its 802.1Q tag.
    pub vlan: Option<VlanTag>,
}

impl Ethernet {
    /// An untagged frame from `src` to its neighbour.
    pub fn to_neighbour(src: MacAddress) -> Self {
        Self { dst: MacAddress::MAC_CONTROL, src, vlan: None }
    }

    /// The header of a view.
    pub fn parse(view: EthernetView<'_>) -> Self {
        Self { dst: view.dst(), src: view.src(), vlan: view.vlan() }
    }

    /// How many bytes [`Ethernet::emit`] writes.
    pub fn header_len(&self) -> usize {
        if self.vlan.is_some() { TAGGED } else { UNTAGGED }
    }

    /// Writes the header.
    pub fn emit(&self, ethertype: u16, out: &mut Vec<u8>) -> Result<(), WireError> {
        out.extend(self.dst.0);
        out.extend(self.src.0);
        if let Some(VlanTag { pcp, dei, vid }) = self.vlan {
            at_most("the priority code point", pcp, 7, "0 to 7")?;
            at_most("the VLAN", vid, 0xfff, "0 to 4095")?;
            out.extend(ethertype::VLAN.to_be_bytes());
            out.extend((u16::from(pcp) << 13 | u16::from(dei) << 12 | vid).to_be_bytes());
        }
        out.extend(ethertype.to_be_bytes());
        Ok(())
    }
}
