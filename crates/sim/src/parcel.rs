//! A packet outside of the engine, with what it carries: what one node gives to another.
//!
//! Inside, what few packets carry is in a side pool of their thread. A [`Parcel`] has it with it,
//! so it can be written to a log, or put into bytes and sent somewhere else.

pub use crate::extras::MessageEnd;
use crate::extras::{self, Extras, IntStack, Said};
use crate::frame::control_packet;
use weir_cc::{IntHop, MAX_HOPS};
use weir_core::{ControlMessage, Packet, PortId, Reason};

/// A packet with what it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel {
    /// The packet, without what only counts within a node: ingress, local tag, place of its cargo.
    pub packet: Packet,
    /// What it carries.
    pub cargo: Cargo,
}

/// What a packet carries beyond its fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Cargo {
    /// Nothing.
    None,
    /// A control frame: its message, and why it was sent, which takes no bytes on the wire.
    Message(ControlMessage, Reason),
    /// Telemetry, and what transports add.
    Notes(Box<Notes>),
}

/// What switches and transports wrote into a packet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// What each switch on the way reported; at most [`MAX_HOPS`].
    pub hops: Vec<IntHop>,
    /// There were more: the telemetry counts for nothing.
    pub too_many: bool,
    /// Selective repeat: the packet that an ACK or NACK answers.
    pub answers: Option<u32>,
    /// The message of a job that the packet ends.
    pub ends: Option<MessageEnd>,
}

impl Parcel {
    /// A packet and what it carries.
    pub fn new(packet: Packet, cargo: Cargo) -> Self {
        let extra = Packet::NO_EXTRA;
        Self { packet: Packet { extra, ingress: PortId(0), local_tag: 0, ..packet }, cargo }
    }

    /// The control frame of a message.
    pub fn control(message: ControlMessage, reason: Reason) -> Self {
        let packet = control_packet(&message, Packet::NO_EXTRA);
        Self { packet, cargo: Cargo::Message(message, reason) }
    }

    /// The packet, with what it carries in this side pool.
    pub(crate) fn unpack(self, extras: &mut Extras) -> Packet {
        let extra = match self.cargo {
            Cargo::None => Packet::NO_EXTRA,
            Cargo::Message(message, reason) => extras.messages.put(Said { message, reason }),
            Cargo::Notes(notes) => extras.telemetry.put((*notes).into()),
        };
        Packet { extra, ..self.packet }
    }
}

impl From<Said> for Cargo {
    fn from(Said { message, reason }: Said) -> Self {
        Self::Message(message, reason)
    }
}

impl From<IntStack> for Cargo {
    fn from(stack: IntStack) -> Self {
        let notes = stack.notes;
        let len = usize::from(notes.len);
        Self::Notes(Box::new(Notes {
            hops: stack.hops.get(..len).unwrap_or_default().to_vec(),
            too_many: len > MAX_HOPS,
            answers: notes.answers(),
            ends: notes.ends(),
        }))
    }
}

impl From<Notes> for IntStack {
    fn from(notes: Notes) -> Self {
        let mut hops = [IntHop::default(); MAX_HOPS];
        for (hop, &given) in hops.iter_mut().zip(&notes.hops) {
            *hop = given;
        }
        let len = if notes.too_many { MAX_HOPS + 1 } else { notes.hops.len().min(MAX_HOPS) } as u8;
        let mut own = extras::Notes::EMPTY;
        own.len = len;
        own.set_ends(notes.ends);
        if let Some(seq) = notes.answers {
            own.answer(seq);
        }
        Self { notes: own, hops }
    }
}
