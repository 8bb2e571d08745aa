//! The IP packet in a captured frame, whatever the link is.
//!
//! Headers may be those of a capture that cut frames off, so lengths come from headers.

use super::blocks::link;
use crate::bytes::{array, u16_at};
use crate::ethernet::ethertype;
use std::net::IpAddr;

/// What follows the IP headers of a packet, and what they say of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IpPacket<'a> {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    pub(super) dscp: u8,
    pub(super) protocol: u8,
    /// What is there of the payload.
    pub(super) payload: &'a [u8],
    /// Bytes of the payload when nothing was cut off.
    pub(super) len: usize,
}

const CUT: &str = "damaged or cut off";
const FRAGMENT: &str = "IP fragment";

/// Finds the packet in the kept bytes of a frame that had `whole` bytes, or says why there is none.
pub(super) fn packet(
    link_type: u16,
    frame: &[u8],
    whole: usize,
) -> Result<IpPacket<'_>, &'static str> {
    // where the EtherType stands, and where what it names begins
    let (code, begin) = match link_type {
        link::ETHERNET => (12, 14),
        link::LINUX_COOKED => (14, 16),
        link::LINUX_COOKED_2 => (0, 20),
        link::LOOPBACK => return at(frame, whole, 4),
        link::RAW | link::RAW_BSD | link::IPV4 | link::IPV6 => return at(frame, whole, 0),
        _ => return Err("of an unknown kind of link"),
    };
    if frame.len() < begin {
        return Err("cut off");
    }
    let (mut kind, mut begin) = (u16_at(frame, code), begin);
    while matches!(kind, ethertype::VLAN | ethertype::SERVICE_VLAN) {
        // the tag's number, and the EtherType of what is tagged
        let tag = frame.get(begin..begin + 4).ok_or("cut off")?;
        (kind, begin) = (u16_at(tag, 2), begin + 4);
    }
    match kind {
        ethertype::IPV4 | ethertype::IPV6 => at(frame, whole, begin),
        ethertype::MAC_CONTROL | ethertype::WEIR | ethertype::OWN | ethertype::CIM => {
            Err("flow control")
        }
        _ => Err("not IP"),
    }
}

/// The packet that begins at `begin`.
fn at(frame: &[u8], whole: usize, begin: usize) -> Result<IpPacket<'_>, &'static str> {
    let bytes = frame.get(begin..).ok_or("cut off")?;
    let whole = whole.saturating_sub(begin);
    match bytes.first().map(|first| first >> 4) {
        Some(4) => version_4(bytes, whole),
        Some(6) => version_6(bytes, whole),
        _ => Err(CUT),
    }
}

fn version_4(bytes: &[u8], whole: usize) -> Result<IpPacket<'_>, &'static str> {
    let header = usize::from(bytes[0] & 15) * 4;
    if header < 20 || bytes.len() < header {
        return Err(CUT);
    }
    let total = match u16_at(bytes, 2) {
        // a segment that the NIC will divide was seen before it has a length
        0 => whole,
        total => total.into(),
    };
    let len = total.checked_sub(header).ok_or(CUT)?;
    if u16_at(bytes, 6) & 0x1fff != 0 {
        return Err(FRAGMENT);
    }
    Ok(IpPacket {
        src: array::<4>(bytes, 12).into(),
        dst: array::<4>(bytes, 16).into(),
        dscp: bytes[1] >> 2,
        protocol: bytes[9],
        payload: &bytes[header..bytes.len().min(total)],
        len,
    })
}

fn version_6(bytes: &[u8], whole: usize) -> Result<IpPacket<'_>, &'static str> {
    const HEADER: usize = 40;
    if bytes.len() < HEADER {
        return Err(CUT);
    }
    let total = match u16_at(bytes, 4) {
        0 => whole.max(HEADER),
        len => HEADER + usize::from(len),
    };
    let bytes = &bytes[..bytes.len().min(total)];
    let (mut protocol, mut begin) = (bytes[6], HEADER);
    loop {
        let field = |at: usize| bytes.get(begin + at).copied().map(usize::from).ok_or(CUT);
        let len = match protocol {
            // options of hops and of the destination, and routing
            0 | 43 | 60 => (field(1)? + 1) * 8,
            // authentication
            51 => (field(1)? + 2) * 4,
            44 if (field(2)? << 8 | field(3)?) & 0xfff8 != 0 => return Err(FRAGMENT),
            44 => 8,
            _ => break,
        };
        protocol = bytes[begin];
        begin += len;
    }
    Ok(IpPacket {
        src: array::<16>(bytes, 8).into(),
        dst: array::<16>(bytes, 24).into(),
        dscp: (u16_at(bytes, 0) >> 6 & 0x3f) as u8,
        protocol,
        payload: bytes.get(begin..).ok_or(CUT)?,
        len: total.checked_sub(begin).ok_or(CUT)?,
    })
}
