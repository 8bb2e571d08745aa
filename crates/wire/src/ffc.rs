//! FFC's back-pressure frames, BPF and CBPF.
//!
//! They follow EtherType 0x8808 and opcode 0x0111, or 0x0112 for flows named by 5-tuple. Offsets
//! count from the opcode.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 2 | 2 | flow count n |
//! | 4 | 10 n | of each flow: source 4, destination 4, priority 1, state 1 |
//! | 4 | 15 n | with 5-tuples: ports 2 + 2 and protocol 1 after the addresses |
//!
//! State 1 (BPF) pauses a flow, 0 (CBPF) resumes it; a frame may hold both. State is kept until it
//! is changed: there is no timer. A frame has max(64, 22 + 10 n) or max(64, 22 + 15 n) bytes.

use crate::WireError;
use crate::bytes::{at_least, len_u16, u16_at};
use crate::identifier::{AddressPair, FiveTuple, Identifier, priority};
use std::marker::PhantomData;
use weir_core::Priority;

/// The state of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowPressure<I> {
    /// The flow.
    pub flow: I,
    /// Its priority.
    pub priority: Priority,
    /// True for XOFF, false for XON.
    pub xoff: bool,
}

/// The parameters of a back-pressure frame.
#[derive(Clone, Copy, Debug)]
pub struct BackPressureView<'a, I> {
    bytes: &'a [u8],
    identifier: PhantomData<I>,
}

impl<'a, I: Identifier> BackPressureView<'a, I> {
    const ENTRY: usize = I::LEN + 2;

    /// A view of what follows the opcode.
    pub fn new(parameters: &'a [u8]) -> Result<Self, WireError> {
        let bytes = at_least("the flow count of FFC", parameters, 2)?;
        let (count, room) = (u16_at(bytes, 0).into(), (bytes.len() - 2) / Self::ENTRY);
        if count > room {
            return Err(WireError::Count { what: "the flow count of FFC", count, room });
        }
        Ok(Self { bytes, identifier: PhantomData })
    }

    /// How many flows are listed.
    pub fn count(self) -> usize {
        u16_at(self.bytes, 0).into()
    }

    /// The flows with the bytes of their priority and state.
    pub fn flows(self) -> impl Iterator<Item = (I, u8, u8)> + 'a {
        let entries = self.bytes[2..].chunks_exact(Self::ENTRY).take(self.count());
        entries.map(|entry| (I::read(entry), entry[I::LEN], entry[I::LEN + 1]))
    }

    fn read(self) -> Result<Vec<FlowPressure<I>>, WireError> {
        let flow = |(flow, qos, state)| {
            let priority = priority("the priority of an FFC flow", qos)?;
            let (what, valid) = ("the state of an FFC flow", "1 is XOFF, 0 is XON");
            match state {
                0 | 1 => Ok(FlowPressure { flow, priority, xoff: state == 1 }),
                found => Err(WireError::Value { what, found: found.into(), valid }),
            }
        };
        self.flows().map(flow).collect()
    }
}

/// A back-pressure frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BackPressure {
    /// Flows named by source and destination.
    Pairs(Vec<FlowPressure<AddressPair>>),
    /// Flows named by 5-tuple.
    Tuples(Vec<FlowPressure<FiveTuple>>),
}

impl BackPressure {
    /// Reads the parameters of opcode 0x0111.
    pub fn parse_pairs(parameters: &[u8]) -> Result<Self, WireError> {
        BackPressureView::new(parameters)?.read().map(Self::Pairs)
    }

    /// Reads the parameters of opcode 0x0112.
    pub fn parse_tuples(parameters: &[u8]) -> Result<Self, WireError> {
        BackPressureView::new(parameters)?.read().map(Self::Tuples)
    }

    /// Writes the parameters.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match self {
            Self::Pairs(flows) => emit(flows, out),
            Self::Tuples(flows) => emit(flows, out),
        }
    }
}

fn emit<I: Identifier>(flows: &[FlowPressure<I>], out: &mut Vec<u8>) -> Result<(), WireError> {
    out.extend(len_u16("the flow count of FFC", flows.len())?.to_be_bytes());
    for flow in flows {
        flow.flow.write(out);
        out.extend([flow.priority.get(), u8::from(flow.xoff)]);
    }
    Ok(())
}
