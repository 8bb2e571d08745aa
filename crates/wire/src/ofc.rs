//! OFC's PAUSE and RESUME with lists of flows.
//!
//! They follow EtherType 0x88B5. Offsets count from the byte after it.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | type: 1 PAUSE, 2 RESUME |
//! | 1 | 1 | priority |
//! | 2 | 1 | flags: bit 0 all flows, bit 1 last fragment, bit 2 flows named by 5-tuple |
//! | 3 | 1 | reserved, zero |
//! | 4 | 2 | count n |
//! | 6 | 8 n | of each flow: source 4, destination 4 |
//! | 6 | 13 n | with bit 2: source 4, destination 4, ports 2 + 2, protocol 1 |
//!
//! A frame has max(64, 24 + 8 n) or max(64, 24 + 13 n) bytes. Longer lists than fit a frame of
//! 1518 bytes travel in fragments, each of which is valid by itself; the last one has bit 1.

use crate::WireError;
use crate::bytes::{at_least, len_u16, reserved, u16_at};
use crate::identifier::{AddressPair, FiveTuple, Identifier, priority};
use weir_core::Priority;

pub(crate) const PAUSE: u8 = 1;
pub(crate) const RESUME: u8 = 2;
const ALL: u8 = 1;
const LAST: u8 = 2;
const TUPLES: u8 = 4;
const HEADER: usize = 6;
/// What a frame of 1518 bytes leaves for the list: Ethernet header, our header and FCS off.
const LIST_ROOM: usize = 1518 - 14 - HEADER - 4;

/// The bytes of an OFC frame after the EtherType.
#[derive(Clone, Copy, Debug)]
pub struct OfcView<'a>(&'a [u8]);

impl<'a> OfcView<'a> {
    /// A view of what follows EtherType 0x88B5, with room for as many flows as it says.
    pub fn new(payload: &'a [u8]) -> Result<Self, WireError> {
        let view = Self(at_least("the OFC header", payload, HEADER)?);
        let (count, room) = (view.count(), (payload.len() - HEADER) / view.flow_len());
        if count > room {
            return Err(WireError::Count { what: "the flow count of OFC", count, room });
        }
        Ok(view)
    }

    /// 1 for PAUSE, 2 for RESUME.
    pub fn kind(self) -> u8 {
        self.0[0]
    }

    /// The priority.
    pub fn priority(self) -> u8 {
        self.0[1]
    }

    /// The flags.
    pub fn flags(self) -> u8 {
        self.0[2]
    }

    /// The reserved byte.
    pub fn reserved(self) -> u8 {
        self.0[3]
    }

    /// How many flows are listed.
    pub fn count(self) -> usize {
        u16_at(self.0, 4).into()
    }

    fn flow_len(self) -> usize {
        if self.flags() & TUPLES != 0 { FiveTuple::LEN } else { AddressPair::LEN }
    }

    fn list<I: Identifier>(self) -> Vec<I> {
        self.0[HEADER..].chunks_exact(I::LEN).take(self.count()).map(I::read).collect()
    }

    /// The flows.
    pub fn flows(self) -> FlowNames {
        if self.flags() & TUPLES != 0 {
            FlowNames::Tuples(self.list())
        } else {
            FlowNames::Pairs(self.list())
        }
    }
}

/// A list of flows, all named in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FlowNames {
    /// By source and destination.
    Pairs(Vec<AddressPair>),
    /// By 5-tuple.
    Tuples(Vec<FiveTuple>),
}

impl FlowNames {
    /// How many flows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Pairs(flows) => flows.len(),
            Self::Tuples(flows) => flows.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cuts the list into parts that fit a frame of 1518 bytes: 186 pairs or 114 tuples.
    fn parts(&self) -> Vec<Self> {
        fn cut<I: Identifier>(flows: &[I], part: fn(Vec<I>) -> FlowNames) -> Vec<FlowNames> {
            flows.chunks(LIST_ROOM / I::LEN).map(|flows| part(flows.to_vec())).collect()
        }
        match self {
            Self::Pairs(flows) => cut(flows, Self::Pairs),
            Self::Tuples(flows) => cut(flows, Self::Tuples),
        }
    }
}

/// OFC's PAUSE or RESUME.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ofc {
    /// True for PAUSE, false for RESUME.
    pub pause: bool,
    /// The priority concerned.
    pub priority: Priority,
    /// Every flow, listed or not.
    pub all: bool,
    /// No fragment follows.
    pub last: bool,
    /// The flows.
    pub flows: FlowNames,
}

impl Ofc {
    /// Reads what follows the EtherType.
    pub fn parse(view: OfcView<'_>) -> Result<Self, WireError> {
        let pause = match view.kind() {
            PAUSE => true,
            RESUME => false,
            kind => {
                let (what, valid) = ("the type of an OFC frame", "PAUSE is 1, RESUME 2");
                return Err(WireError::Opcode { what, found: kind.into(), valid });
            }
        };
        reserved("the flags of OFC", view.flags() & !(ALL | LAST | TUPLES))?;
        reserved("the fourth byte of OFC", view.reserved())?;
        Ok(Self {
            pause,
            priority: priority("the priority of OFC", view.priority())?,
            all: view.flags() & ALL != 0,
            last: view.flags() & LAST != 0,
            flows: view.flows(),
        })
    }

    /// Writes what follows the EtherType.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let flag = |set, bit| if set { bit } else { 0 };
        let tuples = matches!(self.flows, FlowNames::Tuples(_));
        out.push(if self.pause { PAUSE } else { RESUME });
        out.push(self.priority.get());
        out.push(flag(self.all, ALL) | flag(self.last, LAST) | flag(tuples, TUPLES));
        out.push(0);
        out.extend(len_u16("the flow count of OFC", self.flows.len())?.to_be_bytes());
        match &self.flows {
            FlowNames::Pairs(flows) => flows.iter().for_each(|flow| flow.write(out)),
            FlowNames::Tuples(flows) => flows.iter().for_each(|flow| flow.write(out)),
        }
        Ok(())
    }

    /// The same message as fragments that fit frames of 1518 bytes.
    pub fn fragments(&self) -> Vec<Self> {
        let mut fragments: Vec<Self> = (self.flows.parts().into_iter())
            .map(|flows| Self { flows, last: false, ..self.clone() })
            .collect();
        match fragments.last_mut() {
            Some(last) => last.last = true,
            None => fragments.push(Self { last: true, ..self.clone() }),
        }
        fragments
    }

    /// Puts the flows of the next fragment behind those of this one. Gives the fragment back when
    /// it does not continue this message: after the last one, or with another type, priority or
    /// way of naming flows.
    pub fn join(&mut self, next: Self) -> Result<(), Self> {
        let same = (self.pause, self.priority, self.all) == (next.pause, next.priority, next.all);
        match (&mut self.flows, &next.flows) {
            _ if self.last || !same => return Err(next),
            (FlowNames::Pairs(flows), FlowNames::Pairs(more)) => flows.extend(more),
            (FlowNames::Tuples(flows), FlowNames::Tuples(more)) => flows.extend(more),
            _ => return Err(next),
        }
        self.last = next.last;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(n: u32) -> Ofc {
        let flow = |i: u32| AddressPair { src: i.into(), dst: (i + 1).into() };
        let flows = FlowNames::Pairs((0..n).map(flow).collect());
        Ofc { pause: true, priority: Priority::ALL[3], all: false, last: true, flows }
    }

    #[test]
    fn a_long_list_travels_in_fragments_and_comes_together_again() {
        // 186 pairs fit a frame: 24 + 8 * 186 = 1512 <= 1518 < 1520
        let whole = pause(400);
        let mut fragments = whole.fragments().into_iter();
        let mut first = fragments.next().expect("at least one fragment");
        assert_eq!((first.flows.len(), first.last), (186, false));
        for next in fragments {
            first.join(next).expect("the next fragment");
        }
        assert_eq!(first, whole);
    }

    #[test]
    fn what_fits_one_frame_is_one_fragment() {
        for n in [0, 1, 186] {
            assert_eq!(pause(n).fragments(), [pause(n)]);
        }
    }

    #[test]
    fn a_fragment_of_another_message_is_given_back() {
        let mut first = pause(187).fragments().remove(0);
        let other = Ofc { priority: Priority::ALL[4], ..pause(1) };
        assert_eq!(first.join(other.clone()), Err(other));
        let mut complete = pause(1);
        assert_eq!(complete.join(pause(1)), Err(pause(1)));
    }
}
