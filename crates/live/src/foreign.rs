//! Frames of other programs: forwarded by destination address as they are, in the class of their
//! VLAN tag or DSCP.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};
use weir_core::{FlowId, NodeId, Packet, PacketKind, PortId, Priority};
use weir_wire::ethernet::{EthernetView, FCS_LEN, ethertype};
use weir_wire::{MacAddress, addressing};

/// Flows of other programs have numbers from here on. Flows of scenarios have lower ones, queue
/// pairs of jobs higher ones.
pub const FIRST: u32 = 1 << 30;
const BEYOND: u32 = 1 << 31;
/// So many frames of other programs a node keeps the bytes of. More are never in one switch, unless
/// its memory is larger than 64 MB; the oldest are forgotten.
const KEPT: usize = 1 << 16;

/// Whether a flow is one of another program.
pub fn is_foreign(flow: FlowId) -> bool {
    (FIRST..BEYOND).contains(&flow.number())
}

/// The bytes of frames while their packets are in a switch.
#[derive(Debug, Default)]
pub struct Frames {
    kept: VecDeque<Option<Vec<u8>>>,
    /// The number of the first one that is kept.
    first: u32,
}

impl Frames {
    /// Keeps a frame; returns its number.
    fn keep(&mut self, bytes: Vec<u8>) -> u32 {
        let number = self.first.wrapping_add(self.kept.len() as u32);
        self.kept.push_back(Some(bytes));
        let gone = |frame: &Option<Vec<u8>>| frame.is_none();
        while self.kept.len() > KEPT || self.kept.front().is_some_and(gone) {
            self.kept.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        number
    }

    /// Takes a frame, unless it was forgotten.
    pub fn take(&mut self, number: u32) -> Option<Vec<u8>> {
        self.kept.get_mut(number.wrapping_sub(self.first) as usize)?.take()
    }

    /// The packet of a frame from the host at the other end of a port. `None` if it goes to no host
    /// of this network.
    pub fn packet(
        &mut self,
        from: NodeId,
        bytes: &[u8],
        vlan: Option<u16>,
        is_host: impl Fn(NodeId) -> bool,
    ) -> Option<Packet> {
        let view = EthernetView::new(bytes).ok()?;
        let (dst, _) = addressing::port(MacAddress(*bytes.first_chunk::<6>()?))?;
        let size = u16::try_from(bytes.len() + FCS_LEN).ok()?;
        if !is_host(dst) || dst == from {
            return None;
        }
        let payload = view.payload();
        let is_ip = view.ethertype() == ethertype::IPV4 && payload.len() >= 20;
        let priority = match vlan {
            Some(tci) => tci >> 13,
            None if is_ip => u16::from(payload[1] >> 5),
            None => 0,
        };
        let flow = FlowId::new(from, FIRST | (hash(bytes, payload, is_ip) & (FIRST - 1)));
        Some(Packet {
            flow,
            seq: self.keep(bytes.to_vec()),
            dst,
            wire_tag: 0,
            extra: Packet::NO_EXTRA,
            size,
            ingress: PortId(0),
            kind: PacketKind::Data,
            priority: Priority::new(priority as u8)?,
            // no host of the simulator answers it
            flags: weir_core::packet::flags::DATAGRAM,
            local_tag: 0,
        })
    }
}

/// Of what the frames of one flow have in common: addresses, and ports and protocol of IPv4.
fn hash(bytes: &[u8], payload: &[u8], is_ip: bool) -> u32 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes[..12]);
    if is_ip {
        hasher.write(&payload[12..20]);
        hasher.write_u8(payload[9]);
        let ports = usize::from(payload[0] & 15) * 4;
        if matches!(payload[9], 6 | 17) {
            hasher.write(payload.get(ports..ports + 4).unwrap_or_default());
        }
    }
    hasher.finish() as u32
}

/// Completes the TCP or UDP checksum of a frame, which a kernel leaves to the network card: a veth
/// pair has none.
pub fn complete_checksum(bytes: &mut [u8]) {
    let Some(ip) = bytes.get_mut(14..) else { return };
    if ip.len() < 20 || ip[0] >> 4 != 4 {
        return;
    }
    let header = usize::from(ip[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let fragment = u16::from_be_bytes([ip[6], ip[7]]) & 0x3fff != 0;
    let at = match ip[9] {
        6 => header + 16,
        17 => header + 6,
        _ => return,
    };
    if fragment || header < 20 || total > ip.len() || at + 2 > total {
        return;
    }
    ip[at..at + 2].fill(0);
    let mut sum = u64::from(ip[9]) + (total - header) as u64;
    let words = ip[12..20].chunks(2).chain(ip[header..total].chunks(2));
    for word in words {
        sum += u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or(0));
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let checksum = match (!(sum as u16), ip[9]) {
        (0, 17) => 0xffff,
        (checksum, _) => checksum,
    };
    ip[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use weir_wire::ipv4::{Ecn, Ipv4};
    use weir_wire::udp::Udp;
    use weir_wire::{Body, Ethernet, Frame};

    fn datagram() -> Vec<u8> {
        let [src, dst] = [1, 2].map(|n| addressing::mac(NodeId(n), PortId(0)).expect("a node"));
        let ip = Ipv4 {
            dscp: 26,
            ecn: Ecn::NotCapable,
            identification: 0,
            dont_fragment: true,
            ttl: 64,
            src: Ipv4Addr::new(10, 0, 0, 1),
            dst: Ipv4Addr::new(10, 0, 0, 2),
        };
        let udp = Udp { src_port: 7, dst_port: 9, checksummed: true };
        let body = Body::Udp(ip, udp, b"odd".to_vec());
        Frame { ethernet: Ethernet { dst, src, vlan: None }, body }.emit().expect("bytes")
    }

    #[test]
    fn the_class_is_that_of_the_tag_or_of_the_dscp() {
        let mut frames = Frames::default();
        let is_host = |n: NodeId| n.0 < 3;
        let bytes = datagram();
        let plain = frames.packet(NodeId(1), &bytes, None, is_host).expect("a packet");
        // DSCP 26 is AF31, class 3
        assert_eq!((plain.priority.get(), plain.dst, plain.size), (3, NodeId(2), 64));
        let tagged = frames.packet(NodeId(1), &bytes, Some(5 << 13 | 100), is_host);
        assert_eq!(tagged.expect("a packet").priority.get(), 5);
        assert_eq!(frames.packet(NodeId(1), &bytes, None, |_| false), None);
        assert_eq!(frames.take(plain.seq).as_deref(), Some(&bytes[..]));
        assert_eq!(frames.take(plain.seq), None);
    }

    #[test]
    fn frames_that_never_leave_are_forgotten() {
        let mut frames = Frames::default();
        let numbers: Vec<u32> = (0..KEPT as u32 + 10).map(|_| frames.keep(vec![1])).collect();
        assert_eq!(frames.kept.len(), KEPT);
        assert_eq!(frames.take(numbers[9]), None);
        assert_eq!(frames.take(numbers[10]), Some(vec![1]));
    }

    #[test]
    fn a_checksum_that_was_left_out_is_completed() {
        let whole = datagram();
        let mut bytes = whole.clone();
        // UDP checksum at 14 + 20 + 6
        bytes[40..42].fill(0xaa);
        complete_checksum(&mut bytes);
        assert_eq!(bytes, whole);
        for cut in 0..whole.len() {
            complete_checksum(&mut whole[..cut].to_vec());
        }
    }
}
