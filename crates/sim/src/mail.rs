//! Packets that cross from one thread's part of the network to another's.

use crate::extras::{Extras, IntStack, Said};
use crate::parcel::{Cargo, Parcel};
use crate::wire::WireId;
use weir_core::{Packet, PacketKind, Time};

/// A packet on its way from one part to another.
#[derive(Debug)]
pub(crate) struct Crossing {
    pub(crate) wire: WireId,
    pub(crate) arrival: Time,
    pub(crate) packet: Packet,
}

/// The packets that go from one part to another when threads meet, and what they carry in the side
/// pool, which few of them do.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    crossings: Vec<Crossing>,
    /// When the first of them arrives.
    first: Option<Time>,
    messages: Vec<Said>,
    telemetry: Vec<IntStack>,
}

impl Mail {
    /// Adds a packet. What it carries in the side pool of its part goes with it.
    pub(crate) fn post(
        &mut self,
        wire: WireId,
        arrival: Time,
        mut packet: Packet,
        extras: &mut Extras,
    ) {
        if packet.extra != Packet::NO_EXTRA {
            if packet.kind == PacketKind::Control {
                self.messages.push(extras.messages.take(packet.extra));
                packet.extra = self.messages.len() as u32 - 1;
            } else {
                self.telemetry.push(extras.telemetry.remove(packet.extra));
                packet.extra = self.telemetry.len() as u32 - 1;
            }
        }
        self.first = Some(self.first.map_or(arrival, |first| first.min(arrival)));
        self.crossings.push(Crossing { wire, arrival, packet });
    }

    /// When the first packet of it arrives.
    pub(crate) fn first(&self) -> Time {
        self.first.unwrap_or(Time::NEVER)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.crossings.is_empty()
    }

    /// Takes all packets out, each with what it carries.
    pub(crate) fn parcels(&mut self) -> impl Iterator<Item = (WireId, Time, Parcel)> {
        self.first = None;
        let mut messages = self.messages.drain(..);
        let mut telemetry = self.telemetry.drain(..);
        // what packets carry is in the order of the packets
        self.crossings.drain(..).map(move |Crossing { wire, arrival, packet }| {
            let cargo = match packet.kind {
                _ if packet.extra == Packet::NO_EXTRA => Cargo::None,
                PacketKind::Control => messages.next().map_or(Cargo::None, Cargo::from),
                _ => telemetry.next().map_or(Cargo::None, Cargo::from),
            };
            (wire, arrival, Parcel::new(packet, cargo))
        })
    }

    /// Takes all packets out; what they carry goes to the side pool of their new part.
    pub(crate) fn unpack<'a>(
        &'a mut self,
        extras: &mut Extras,
    ) -> impl Iterator<Item = Crossing> + use<'a> {
        self.first = None;
        let messages: Vec<u32> = self.messages.drain(..).map(|m| extras.messages.put(m)).collect();
        let telemetry: Vec<u32> =
            self.telemetry.drain(..).map(|t| extras.telemetry.put(t)).collect();
        self.crossings.drain(..).map(move |mut crossing| {
            let packet = &mut crossing.packet;
            if packet.extra != Packet::NO_EXTRA {
                let places =
                    if packet.kind == PacketKind::Control { &messages } else { &telemetry };
                packet.extra = places[packet.extra as usize];
            }
            crossing
        })
    }
}
