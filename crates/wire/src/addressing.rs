//! Nodes and flows of the simulator as addresses and ports, and back.
//!
//! | simulator | on the wire |
//! |---|---|
//! | node n (host or switch) | IPv4 address 10.0.0.0 + n, so 10.a.b.c with n in 24 bits |
//! | port p of node n | MAC address 02:pp:pp:nn:nn:nn, locally administered |
//! | flow k of a host, low 16 bits of k | source port 0xC000 XOR low bits |
//! | flow k, high 16 bits of k | destination port 4791 (RoCEv2) or 5001 (TCP) XOR high bits |
//! | the same in a RoCEv2 packet | port 4791, destination queue pair 0x010000 + high bits |
//! | priority p | DSCP 8 p (class selector p) |
//!
//! The XOR makes the first 16 384 flows of a host use the dynamic ports 49152 to 65535, as RoCEv2
//! recommends, and the destination port the well-known one up to flow 65 535. Beyond that a RoCEv2
//! packet still has port 4791, without which nothing would take it for RoCEv2: its queue pair tells
//! the flow. A 13-byte identifier has no queue pair; its destination port has the high bits.
//! Queue pairs 0 and 1, which InfiniBand reserves, are never used.

use crate::identifier::{AddressPair, FiveTuple};
use crate::ipv4::protocol;
use crate::mac::MacAddress;
use crate::{WireError, roce};
use std::net::Ipv4Addr;
use thiserror::Error;
use weir_core::control::HostPair;
use weir_core::packet::flags;
use weir_core::{FlowId, NodeId, Packet, PortId};

/// The network of all addresses: 10.0.0.0/8.
const NETWORK: u32 = 10 << 24;
/// The highest node that has an address.
pub const MAX_NODE: u32 = (1 << 24) - 1;
/// Source port of flow 0.
const FIRST_PORT: u16 = 0xc000;
/// Destination port of TCP.
const TCP_PORT: u16 = 5001;
/// Queue pair of the flows below 65 536.
const FIRST_QP: u32 = 0x01_0000;

/// Why something of the simulator has no frame, or a frame does not come from the simulator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    /// A node beyond those that have addresses.
    #[error("node {0} has no address: they reach up to node {MAX_NODE}")]
    Node(u32),
    /// An address that is not that of a node.
    #[error("{0} is not the address of a node: those are 10.0.0.0/8")]
    Address(Ipv4Addr),
    /// Ports, protocol or queue pair that are not those of a flow.
    #[error("{0} is not a flow of the simulator: those are UDP to port 4791 and TCP")]
    Flow(FiveTuple),
    /// A flow whose destination must be known.
    #[error("the destination of flow {0} is not known")]
    Destination(FlowId),
    /// Not a frame of the kind that was asked for.
    #[error("this is not {0}")]
    Kind(&'static str),
    /// A bitmap that has more bits than it says.
    #[error("the bitmap has queues paused beyond its {0} bits")]
    Bitmap(u16),
    /// The bytes are wrong.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// What carries a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// RoCEv2.
    #[default]
    Roce,
    /// TCP.
    Tcp,
}

/// What frames say of a flow and its id does not.
pub trait FlowDirectory {
    /// The host that receives a flow.
    fn destination(&self, flow: FlowId) -> Option<NodeId>;

    /// What carries a flow.
    fn transport(&self, _flow: FlowId) -> Transport {
        Transport::Roce
    }

    /// Bytes of payload of a flow, for the length in its first RoCEv2 packet.
    fn size(&self, _flow: FlowId) -> Option<u64> {
        None
    }

    /// Whether a packet of data begins a message, and so a RoCEv2 WRITE. A flow is one message
    /// unless more is known.
    fn begins_message(&self, packet: &Packet) -> bool {
        packet.has(flags::FIRST)
    }

    /// Bytes of payload of the message that a packet begins.
    fn message_size(&self, packet: &Packet) -> Option<u64> {
        self.size(packet.flow)
    }
}

/// The address of a node.
pub fn address(node: NodeId) -> Result<Ipv4Addr, MapError> {
    if node.0 > MAX_NODE {
        return Err(MapError::Node(node.0));
    }
    Ok(Ipv4Addr::from_bits(NETWORK | node.0))
}

/// The node of an address.
pub fn node(address: Ipv4Addr) -> Result<NodeId, MapError> {
    match address.to_bits() ^ NETWORK {
        n @ ..=MAX_NODE => Ok(NodeId(n)),
        _ => Err(MapError::Address(address)),
    }
}

/// The address of a port.
pub fn mac(node: NodeId, port: PortId) -> Result<MacAddress, MapError> {
    let [_, a, b, c] = address(node)?.octets();
    let [high, low] = port.0.to_be_bytes();
    Ok(MacAddress([2, high, low, a, b, c]))
}

/// The port of an address.
pub fn port(mac: MacAddress) -> Option<(NodeId, PortId)> {
    let [2, high, low, a, b, c] = mac.0 else { return None };
    Some((NodeId(u32::from_be_bytes([0, a, b, c])), PortId(u16::from_be_bytes([high, low]))))
}

/// The 8-byte identifier of the flows between two hosts.
pub fn pair(pair: HostPair) -> Result<AddressPair, MapError> {
    Ok(AddressPair { src: address(pair.src)?, dst: address(pair.dst)? })
}

/// The hosts of an 8-byte identifier.
pub fn hosts(pair: AddressPair) -> Result<HostPair, MapError> {
    Ok(HostPair { src: node(pair.src)?, dst: node(pair.dst)? })
}

fn halves(number: u32) -> (u16, u16) {
    ((number >> 16) as u16, number as u16)
}

fn number(high: u16, low: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

/// The 13-byte identifier of a flow. The destination address is 0.0.0.0 when it is not known.
pub fn tuple(
    flow: FlowId,
    dst: Option<NodeId>,
    transport: Transport,
) -> Result<FiveTuple, MapError> {
    let (high, low) = halves(flow.number());
    let (port, protocol) = match transport {
        Transport::Roce => (roce::PORT, protocol::UDP),
        Transport::Tcp => (TCP_PORT, protocol::TCP),
    };
    Ok(FiveTuple {
        src: address(flow.source())?,
        dst: dst.map_or(Ok(Ipv4Addr::UNSPECIFIED), address)?,
        src_port: FIRST_PORT ^ low,
        dst_port: port ^ high,
        protocol,
    })
}

/// The flow of a 13-byte identifier.
pub fn flow(tuple: FiveTuple) -> Result<FlowId, MapError> {
    let port = match tuple.protocol {
        protocol::UDP => roce::PORT,
        protocol::TCP => TCP_PORT,
        _ => return Err(MapError::Flow(tuple)),
    };
    let number = number(tuple.dst_port ^ port, tuple.src_port ^ FIRST_PORT);
    Ok(FlowId::new(node(tuple.src)?, number))
}

/// Source port and destination queue pair of a flow's RoCEv2 packets, and of the packets that
/// answer them.
pub fn queue_pair(flow: FlowId) -> (u16, u32) {
    let (high, low) = halves(flow.number());
    (FIRST_PORT ^ low, FIRST_QP + u32::from(high))
}

/// The number of a flow at its source, by source port and destination queue pair of its packets.
pub fn number_of_queue_pair(src_port: u16, dest_qp: u32) -> Option<u32> {
    let high = u16::try_from(dest_qp.checked_sub(FIRST_QP)?).ok()?;
    Some(number(high, src_port ^ FIRST_PORT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_and_port_can_be_read_off_an_address() {
        let [n, p] = [0x01_0203, 0x0405];
        assert_eq!(address(NodeId(n)).map(|a| a.to_string()), Ok("10.1.2.3".into()));
        let mac = mac(NodeId(n), PortId(p as u16)).expect("a small node");
        assert_eq!(mac.to_string(), "02:04:05:01:02:03");
        assert_eq!(port(mac), Some((NodeId(n), PortId(p as u16))));
    }

    #[test]
    fn addresses_of_other_networks_are_no_nodes() {
        let foreign = Ipv4Addr::new(192, 168, 0, 7);
        assert_eq!(node(foreign), Err(MapError::Address(foreign)));
        assert_eq!(port(MacAddress([0x24, 0x8a, 7, 0xa8, 0xfa, 0x22])), None);
        assert_eq!(address(NodeId(1 << 24)), Err(MapError::Node(1 << 24)));
    }

    #[test]
    fn the_first_flows_use_dynamic_ports_and_the_known_destination_port() {
        let flow_5 = FlowId::new(NodeId(1), 5);
        let roce = tuple(flow_5, Some(NodeId(2)), Transport::Roce).expect("small nodes");
        // 0xC005 = 49157
        assert_eq!(roce.to_string(), "10.0.0.1:49157 > 10.0.0.2:4791/17");
        let tcp = tuple(flow_5, Some(NodeId(2)), Transport::Tcp).expect("small nodes");
        assert_eq!(tcp.to_string(), "10.0.0.1:49157 > 10.0.0.2:5001/6");
        assert_eq!(queue_pair(flow_5), (49157, 0x01_0000));
    }
}
