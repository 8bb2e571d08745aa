//! What crosses from one thread's part of the network to another's: packets and, when threads have
//! too different loads, nodes.

use super::{WireId, Wires};
use crate::chain::Taken;
use crate::extras::{Extras, IntStack, Said};
use crate::parcel::{Cargo, Parcel};
use weir_core::{NodeId, Packet, PacketKind, PortId, Time};

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

impl Wires {
    /// Hands over what was kept for part `to` and takes the emptied buffer of the last time in
    /// exchange; returns when the first packet of it arrives.
    pub(crate) fn hand_over(&mut self, to: usize, mail: &mut Mail) -> Time {
        std::mem::swap(&mut self.outboxes[to], mail);
        mail.first()
    }

    /// Puts on the wires what another part has handed over.
    pub(crate) fn take_over(&mut self, mail: &mut Mail) {
        for Crossing { wire, arrival, packet } in mail.unpack(&mut self.extras) {
            self.send(wire, arrival, &packet);
        }
    }

    /// Puts what comes from outside on the wire into `port` of `node`, which is of this part.
    pub(crate) fn deliver(&mut self, (node, port): (NodeId, PortId), at: Time, parcel: Parcel) {
        let wire = WireId(self.first[node.index()] + u32::from(port.0));
        let packet = parcel.unpack(&mut self.extras);
        self.send(wire, at, &packet);
    }

    /// Takes what was sent to part `to`, with the far ends of the wires and the arrival times.
    pub(crate) fn sent_to(
        &mut self,
        to: usize,
    ) -> impl Iterator<Item = ((NodeId, PortId), Time, Parcel)> {
        let wires = &self.wires;
        self.outboxes[to].parcels().map(|(wire, at, parcel)| {
            let wire = &wires[wire.0 as usize];
            ((wire.node, wire.port), at, parcel)
        })
    }

    /// Whether nothing waits to be handed over to other parts.
    pub(crate) fn has_no_mail(&self) -> bool {
        self.outboxes.iter().all(Mail::is_empty)
    }

    /// Moves what is in flight to `node` of this part to part `to`. All parts must then be told
    /// that the wires end there ([`Wires::reroute`]).
    ///
    /// # Panics
    /// When a packet carries something in the side pool.
    pub(crate) fn move_to(&mut self, to: &mut Self, node: NodeId, ports: usize) {
        let first = self.first[node.index()] as usize;
        for w in first..first + ports {
            while !self.wires[w].packets.is_empty() {
                let Taken { packet, time, .. } = self.flights.pop(&mut self.wires[w].packets);
                assert_eq!(packet.extra, Packet::NO_EXTRA, "it has something in the side pool");
                to.flights.push(&mut to.wires[w].packets, time, packet);
            }
        }
        let start = self.fresh_start[node.index()] as usize;
        for word in start..start + ports.div_ceil(64) {
            to.fresh[word] = std::mem::take(&mut self.fresh[word]);
        }
        self.agenda.move_to(&mut to.agenda, node);
        self.own -= ports;
        to.own += ports;
    }

    /// From now on the wires into `node` end in `part`.
    pub(crate) fn reroute(&mut self, node: NodeId, ports: usize, part: usize) {
        let first = self.first[node.index()] as usize;
        for wire in &mut self.wires[first..first + ports] {
            wire.part = part as u16;
        }
    }

    /// Whether a packet in flight to `node` carries something in the side pool.
    pub(crate) fn carries_extras(&self, node: NodeId, ports: usize) -> bool {
        self.wires_into(node, ports)
            .iter()
            .flat_map(|w| self.flights.iter(&w.packets))
            .any(|p| p.extra != Packet::NO_EXTRA)
    }
}
