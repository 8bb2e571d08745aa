//! Flow control messages of the simulator as frames, and back.
//!
//! How many bytes a message takes is stated by [`ControlMessage::frame_bytes`]; a test of this
//! crate compares it with what the codecs write, for every message.

use crate::addressing::{self, FlowDirectory, MapError};
use crate::bfc::{BfcBitmap, BfcQueue};
use crate::ffc::{BackPressure, FlowPressure};
use crate::flowsail::FlowSail;
use crate::identifier::FiveTuple;
use crate::mac_control::{PerPriority, Stages};
use crate::ofc::{FlowNames, Ofc};
use crate::{Body, Ethernet, Frame, MacAddress};
use weir_core::control::{HostPair, OwnMessage};
use weir_core::{ControlMessage, FlowId, QueueId};

/// The frame that carries `message` from the port with address `src`.
///
/// Every message of OFC is complete by itself, so its frame is marked as the last fragment. The
/// message of one's own scheme becomes its words, big-endian, cut off or filled up with zeros to
/// the length that it states.
pub fn frame(
    message: &ControlMessage,
    src: MacAddress,
    flows: &dyn FlowDirectory,
) -> Result<Frame, MapError> {
    let ethernet = Ethernet::to_neighbour(src);
    let tuple = |pair: HostPair, number| {
        let flow = FlowId::new(pair.src, number);
        addressing::tuple(flow, Some(pair.dst), flows.transport(flow))
    };
    let body = match message {
        &ControlMessage::Pfc { enable, quanta } => {
            Body::Pfc(PerPriority { enable, values: quanta })
        }
        ControlMessage::OfcFlows { pause, priority, all, flows } => {
            let flows = flows.iter().map(|&pair| addressing::pair(pair));
            let flows = FlowNames::Pairs(flows.collect::<Result<_, _>>()?);
            Body::Ofc(Ofc { pause: *pause, priority: *priority, all: *all, last: true, flows })
        }
        ControlMessage::OfcTuples { pause, priority, flows } => {
            let flows = flows.iter().map(|&(pair, number)| tuple(pair, number));
            let flows = FlowNames::Tuples(flows.collect::<Result<_, _>>()?);
            Body::Ofc(Ofc { pause: *pause, priority: *priority, all: false, last: true, flows })
        }
        &ControlMessage::QueueState { pause, priority, queue } => {
            Body::BfcQueue(BfcQueue { pause, priority, queue: queue.0 })
        }
        ControlMessage::QueueBitmap { bits, words } => Body::BfcBitmap(bitmap(*bits, words)?),
        &ControlMessage::FlowState { pause, priority, flow } => {
            let flow = addressing::tuple(flow, flows.destination(flow), flows.transport(flow))?;
            Body::FlowSail(FlowSail { pause, priority, flow })
        }
        ControlMessage::BackPressure { flows } => {
            let flow = |&(pair, priority, xoff): &_| {
                addressing::pair(pair).map(|flow| FlowPressure { flow, priority, xoff })
            };
            let flows = flows.iter().map(flow).collect::<Result<_, _>>()?;
            Body::BackPressure(BackPressure::Pairs(flows))
        }
        ControlMessage::BackPressureTuples { flows } => {
            let flow = |&(pair, number, priority, xoff): &_| {
                tuple(pair, number).map(|flow| FlowPressure { flow, priority, xoff })
            };
            let flows = flows.iter().map(flow).collect::<Result<_, _>>()?;
            Body::BackPressure(BackPressure::Tuples(flows))
        }
        &ControlMessage::Stage { enable, stage } => Body::Stages(Stages { enable, stages: stage }),
        &ControlMessage::Occupancy { enable, units } => {
            Body::Occupancy(PerPriority { enable, values: units })
        }
        ControlMessage::Own(message) => Body::Own(own(message)),
    };
    Ok(Frame { ethernet, body })
}

fn bitmap(bits: u16, words: &[u64]) -> Result<BfcBitmap, MapError> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let beyond = words.iter().enumerate().any(|(at, &word)| {
        let valid = usize::from(bits).saturating_sub(at * 64).min(64);
        word.checked_shr(valid as u32).unwrap_or_default() != 0
    });
    if beyond {
        return Err(MapError::Bitmap(bits));
    }
    Ok(BfcBitmap::new(bits, |q| word(usize::from(q / 64)) >> (q % 64) & 1 == 1))
}

fn own(message: &OwnMessage) -> Vec<u8> {
    let mut bytes: Vec<u8> = message.words.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.resize(message.body.into(), 0);
    bytes
}

/// The message that a frame carries.
///
/// The message of one's own scheme is not read back: only the scheme knows what its bytes mean, and
/// [`Body::Own`] has them.
pub fn message(frame: &Frame) -> Result<ControlMessage, MapError> {
    let tuple = |tuple: FiveTuple| {
        let flow = addressing::flow(tuple)?;
        let pair = HostPair { src: flow.source(), dst: addressing::node(tuple.dst)? };
        Ok::<_, MapError>((pair, flow.number()))
    };
    Ok(match &frame.body {
        &Body::Pfc(PerPriority { enable, values }) => {
            ControlMessage::Pfc { enable, quanta: values }
        }
        &Body::Stages(Stages { enable, stages }) => ControlMessage::Stage { enable, stage: stages },
        &Body::Occupancy(PerPriority { enable, values }) => {
            ControlMessage::Occupancy { enable, units: values }
        }
        Body::Ofc(Ofc { pause, priority, all, flows: FlowNames::Pairs(flows), .. }) => {
            let flows = flows.iter().map(|&pair| addressing::hosts(pair));
            let flows = flows.collect::<Result<_, _>>()?;
            ControlMessage::OfcFlows { pause: *pause, priority: *priority, all: *all, flows }
        }
        Body::Ofc(Ofc { all: true, .. }) => {
            return Err(MapError::Kind("an OFC message: ALL goes with flows named by addresses"));
        }
        Body::Ofc(Ofc { pause, priority, flows: FlowNames::Tuples(flows), .. }) => {
            let flows = flows.iter().map(|&flow| tuple(flow)).collect::<Result<_, _>>()?;
            ControlMessage::OfcTuples { pause: *pause, priority: *priority, flows }
        }
        &Body::FlowSail(FlowSail { pause, priority, flow }) => {
            ControlMessage::FlowState { pause, priority, flow: addressing::flow(flow)? }
        }
        &Body::BfcQueue(BfcQueue { pause, priority, queue }) => {
            ControlMessage::QueueState { pause, priority, queue: QueueId(queue) }
        }
        Body::BfcBitmap(bitmap) => {
            let mut words = vec![0; usize::from(bitmap.bits()).div_ceil(64)];
            for queue in (0..bitmap.bits()).filter(|&queue| bitmap.is_paused(queue)) {
                words[usize::from(queue / 64)] |= 1 << (queue % 64);
            }
            ControlMessage::QueueBitmap { bits: bitmap.bits(), words }
        }
        Body::BackPressure(BackPressure::Pairs(flows)) => {
            let flow = |f: &FlowPressure<_>| Ok((addressing::hosts(f.flow)?, f.priority, f.xoff));
            let flows = flows.iter().map(flow).collect::<Result<_, MapError>>()?;
            ControlMessage::BackPressure { flows }
        }
        Body::BackPressure(BackPressure::Tuples(flows)) => {
            let flow = |f: &FlowPressure<_>| {
                let (pair, number) = tuple(f.flow)?;
                Ok((pair, number, f.priority, f.xoff))
            };
            let flows = flows.iter().map(flow).collect::<Result<_, MapError>>()?;
            ControlMessage::BackPressureTuples { flows }
        }
        Body::Pause(_)
        | Body::Cim(_)
        | Body::Own(_)
        | Body::Roce(..)
        | Body::Udp(..)
        | Body::Tcp(..) => return Err(MapError::Kind("a flow control message of the simulator")),
    })
}
