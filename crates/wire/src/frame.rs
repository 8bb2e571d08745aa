//! A whole frame: an Ethernet header and one of the bodies that this crate knows.

use crate::WireError;
use crate::bfc::{self, BfcBitmap, BfcBitmapView, BfcQueue, BfcQueueView};
use crate::bytes::at_least;
use crate::cim::{Cim, CimView};
use crate::ethernet::{Ethernet, EthernetView, MIN_LEN, ethertype};
use crate::ffc::BackPressure;
use crate::flowsail::{self, FlowSail, FlowSailView};
use crate::ipv4::{Ipv4, Ipv4View, protocol};
use crate::mac_control::{MacControlView, Pause, PerPriority, PerPriorityView, Stages, opcode};
use crate::ofc::{self, Ofc, OfcView};
use crate::roce::{self, Roce};
use crate::tcp::{Tcp, TcpView};
use crate::udp::{self, Udp, UdpView};

/// What a frame holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// Classic PAUSE.
    Pause(Pause),
    /// PFC: pause times in units of 512 bit times.
    Pfc(PerPriority),
    /// FFC: BPF or CBPF.
    BackPressure(BackPressure),
    /// GFC: stages.
    Stages(Stages),
    /// Time-based GFC: occupancies in units of 64 B.
    Occupancy(PerPriority),
    /// OFC's PAUSE or RESUME.
    Ofc(Ofc),
    /// FlowSail's PAUSE or RESUME.
    FlowSail(FlowSail),
    /// BFC: one queue.
    BfcQueue(BfcQueue),
    /// BFC: all queues.
    BfcBitmap(BfcBitmap),
    /// 802.1Qcz congestion isolation.
    Cim(Cim),
    /// A message of one's own scheme (EtherType 0x88B6): bytes that only the scheme understands,
    /// followed by what padding the frame needs.
    Own(Vec<u8>),
    /// RoCEv2: data, ACK, NAK or CNP.
    Roce(Ipv4, Udp, Roce),
    /// Any other UDP datagram with its payload.
    Udp(Ipv4, Udp, Vec<u8>),
    /// A TCP segment with its payload.
    Tcp(Ipv4, Tcp, Vec<u8>),
}

/// A whole frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Its header.
    pub ethernet: Ethernet,
    /// What it holds.
    pub body: Body,
}

impl Frame {
    /// Reads a whole frame without FCS. Padding behind the body is ignored.
    ///
    /// ```
    /// use weir_wire::{Frame, WireError};
    /// let short = Frame::parse(&[0; 13]).unwrap_err();
    /// assert_eq!(short, WireError::Short { what: "the Ethernet header", needed: 14, found: 13 });
    /// ```
    pub fn parse(frame: &[u8]) -> Result<Self, WireError> {
        let view = EthernetView::new(frame)?;
        let payload = view.payload();
        let body = match view.ethertype() {
            ethertype::MAC_CONTROL => mac_control(MacControlView::new(payload)?)?,
            ethertype::WEIR => experimental(payload)?,
            ethertype::OWN => Body::Own(payload.to_vec()),
            ethertype::CIM => Body::Cim(Cim::parse(CimView::new(payload)?)?),
            ethertype::IPV4 => ipv4(Ipv4View::new(payload)?)?,
            found => {
                let valid = "IPv4 is 0x0800, MAC control 0x8808, OFC, FlowSail and BFC 0x88b5, \
                             a scheme of one's own 0x88b6, CIM 0x89a2";
                return Err(WireError::Opcode { what: "the EtherType", found, valid });
            }
        };
        Ok(Self { ethernet: Ethernet::parse(view), body })
    }

    /// The bytes of the frame without FCS, padded with zeros to at least 60.
    pub fn emit(&self) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(MIN_LEN);
        self.ethernet.emit(self.body.ethertype(), &mut out)?;
        self.body.emit(&mut out)?;
        out.resize(out.len().max(MIN_LEN), 0);
        Ok(out)
    }
}

impl Body {
    /// The EtherType in front of it.
    pub fn ethertype(&self) -> u16 {
        match self {
            Self::Pause(_)
            | Self::Pfc(_)
            | Self::BackPressure(_)
            | Self::Stages(_)
            | Self::Occupancy(_) => ethertype::MAC_CONTROL,
            Self::Ofc(_) | Self::FlowSail(_) | Self::BfcQueue(_) | Self::BfcBitmap(_) => {
                ethertype::WEIR
            }
            Self::Cim(_) => ethertype::CIM,
            Self::Own(_) => ethertype::OWN,
            Self::Roce(..) | Self::Udp(..) | Self::Tcp(..) => ethertype::IPV4,
        }
    }

    /// Writes what follows the EtherType, without padding.
    fn emit(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut code = |code: u16| out.extend(code.to_be_bytes());
        match self {
            Self::Pause(_) => code(opcode::PAUSE),
            Self::Pfc(_) => code(opcode::PFC),
            Self::BackPressure(BackPressure::Pairs(_)) => code(opcode::FFC),
            Self::BackPressure(BackPressure::Tuples(_)) => code(opcode::FFC_TUPLES),
            Self::Stages(_) => code(opcode::GFC_STAGE),
            Self::Occupancy(_) => code(opcode::GFC_OCCUPANCY),
            _ => {}
        }
        match self {
            Self::Pause(pause) => pause.emit(out),
            Self::Pfc(values) | Self::Occupancy(values) => values.emit(out),
            Self::BackPressure(flows) => flows.emit(out)?,
            Self::Stages(stages) => stages.emit(out),
            Self::Ofc(ofc) => ofc.emit(out)?,
            Self::FlowSail(flow) => flow.emit(out),
            Self::BfcQueue(queue) => queue.emit(out),
            Self::BfcBitmap(bitmap) => bitmap.emit(out),
            Self::Cim(cim) => cim.emit(out)?,
            Self::Own(bytes) => out.extend(bytes),
            Self::Roce(ip, udp, roce) => roce.emit(ip, udp, out)?,
            Self::Udp(ip, udp, payload) => {
                out.extend(ip.header(protocol::UDP, udp::HEADER_LEN + payload.len())?);
                out.extend(udp.header(ip, payload)?);
                out.extend(payload);
            }
            Self::Tcp(ip, tcp, payload) => {
                let mut segment = Vec::with_capacity(60 + payload.len());
                tcp.emit(ip, payload, &mut segment)?;
                out.extend(ip.header(protocol::TCP, segment.len())?);
                out.extend(segment);
            }
        }
        Ok(())
    }
}

fn mac_control(view: MacControlView<'_>) -> Result<Body, WireError> {
    let parameters = view.parameters();
    let values = || PerPriorityView::new(parameters);
    Ok(match view.opcode() {
        opcode::PAUSE => Body::Pause(Pause::parse(parameters)?),
        opcode::PFC => Body::Pfc(PerPriority::parse(values()?)?),
        opcode::FFC => Body::BackPressure(BackPressure::parse_pairs(parameters)?),
        opcode::FFC_TUPLES => Body::BackPressure(BackPressure::parse_tuples(parameters)?),
        opcode::GFC_STAGE => Body::Stages(Stages::parse(values()?)?),
        opcode::GFC_OCCUPANCY => Body::Occupancy(PerPriority::parse(values()?)?),
        found => {
            let (what, valid) = ("the MAC control opcode", opcode::KNOWN);
            return Err(WireError::Opcode { what, found, valid });
        }
    })
}

fn experimental(payload: &[u8]) -> Result<Body, WireError> {
    Ok(match at_least("the type of the frame", payload, 1)?[0] {
        ofc::PAUSE | ofc::RESUME => Body::Ofc(Ofc::parse(OfcView::new(payload)?)?),
        flowsail::PAUSE | flowsail::RESUME => {
            Body::FlowSail(FlowSail::parse(FlowSailView::new(payload)?)?)
        }
        bfc::PAUSE | bfc::RESUME => Body::BfcQueue(BfcQueue::parse(BfcQueueView::new(payload)?)?),
        bfc::BITMAP => Body::BfcBitmap(BfcBitmap::parse(BfcBitmapView::new(payload)?)?),
        found => {
            let valid = "OFC is 1 and 2, FlowSail 3 and 4, BFC 5 to 7";
            let what = "the type of a frame with EtherType 0x88b5";
            return Err(WireError::Opcode { what, found: found.into(), valid });
        }
    })
}

fn ipv4(view: Ipv4View<'_>) -> Result<Body, WireError> {
    let ip = Ipv4::parse(view)?;
    let inner = view.payload();
    match view.protocol() {
        protocol::UDP => {
            let udp = Udp::parse(&ip, inner)?;
            let datagram = UdpView::new(inner)?;
            if udp.dst_port != roce::PORT {
                return Ok(Body::Udp(ip, udp, datagram.payload().to_vec()));
            }
            let roce = Roce::parse(datagram.payload())?;
            Roce::check(view.header(), datagram.header(), datagram.payload())?;
            Ok(Body::Roce(ip, udp, roce))
        }
        protocol::TCP => {
            let tcp = Tcp::parse(&ip, inner)?;
            let payload = TcpView::new(inner)?.payload().to_vec();
            Ok(Body::Tcp(ip, tcp, payload))
        }
        found => {
            let (what, valid) = ("the IP protocol", "TCP is 6, UDP 17");
            Err(WireError::Opcode { what, found: found.into(), valid })
        }
    }
}
