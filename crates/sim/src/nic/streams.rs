//! ACKs that travel in the class of their data.
//!
//! Such ACKs are packets like any others: switches store, pause and drop them. A pause of a whole
//! priority holds them at the host as it holds data. A scheme that pauses flows or queues must be
//! able to hold them one by one, too: for it the ACKs of a flow are a **stream** with a slot of its
//! own among the flow slots of their host, from the first of them until the flow is complete.
//! What is held waits in the stream, and joins the ACKs of the port when the stream is opened.

use super::Nic;
use crate::env::Env;
use crate::faults::{Faults, Hold};
use crate::outcome::Stuck;
use crate::probe::record::Held;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use weir_core::{Bytes, FlowId, NodeId, Packet, PacketKind, PortId, QueueId, Time, packet::flags};
use weir_fc::{HoldState, NodeView, PortQueue, Target};

/// The ACKs of one flow.
#[derive(Clone, Debug)]
struct Stream {
    /// What its packets have in common.
    header: Packet,
    port: PortId,
    /// Since when the scheme holds it.
    held: Option<Time>,
    /// What is held.
    waiting: VecDeque<Packet>,
    /// How many of its packets wait among the ACKs of the port.
    queued: u32,
}

/// The streams of a host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    slot_of: FxHashMap<FlowId, u32>,
    /// By slot.
    all: BTreeMap<u32, Stream>,
}

impl Streams {
    /// ACKs that are held.
    pub(super) fn waiting(&self) -> u64 {
        self.all.values().map(|s| s.waiting.len() as u64).sum()
    }

    /// Streams with something to send that the scheme holds.
    pub(super) fn stuck<'a>(
        &'a self,
        node: NodeId,
        faults: &'a Faults,
    ) -> impl Iterator<Item = Stuck> + 'a {
        let held = self.all.iter().filter(|(_, s)| !s.waiting.is_empty());
        held.map(move |(&slot, s)| {
            let Stream { header: Packet { flow, priority, .. }, port, held: since, .. } = *s;
            let queue = QueueId(slot);
            Stuck {
                node,
                port,
                queue,
                priority,
                bytes: Bytes::new(s.waiting.iter().map(|p| u64::from(p.size)).sum()),
                since,
                waits_for: format!("ACKs of flow {flow} wait for a RESUME from their switch"),
                lost: faults.reason(&Hold { port, priority, queue, since }, &[flow]).cloned(),
            }
        })
    }

    /// The stream of a flow.
    fn of(&mut self, flow: FlowId) -> Option<(u32, &mut Stream)> {
        let slot = *self.slot_of.get(&flow)?;
        Some((slot, self.all.get_mut(&slot)?))
    }
}

impl Nic {
    /// Sends an answer to `p` in the class of `p`.
    pub(super) fn answer_with_data(
        &mut self,
        p: &Packet,
        kind: PacketKind,
        seq: u32,
        bits: u8,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let mut o = self.way_back(p, env);
        let mut answer = Packet {
            seq,
            dst: p.flow.source(),
            wire_tag: 0,
            extra: Packet::NO_EXTRA,
            size: env.shared.config.nic.ack.get() as u16,
            kind,
            flags: bits | p.flags & flags::HIGH,
            local_tag: 0,
            ..*p
        };
        self.count.acks_sent += 1;
        // a scheme may hold flows of a lossless class only
        if env.shared.config.switch.lossless.contains(answer.priority) {
            if !self.streams.slot_of.contains_key(&p.flow) {
                self.open_stream(&answer, PortId::from_index(o), now, env);
            }
            let (_, stream) = self.streams.of(p.flow).expect("it has just been made");
            o = stream.port.index();
            answer.ingress = stream.port;
            if stream.held.is_some() {
                stream.waiting.push_back(answer);
                return;
            }
            stream.queued += 1;
        }
        answer.ingress = PortId::from_index(o);
        self.ports[o].acks.push_back(answer);
        self.wake(o, now);
    }

    /// The answers of a flow take a slot.
    fn open_stream(&mut self, first: &Packet, port: PortId, now: Time, env: &mut Env<'_, '_>) {
        let slot = self.reserve_slot();
        let header = Packet { seq: 0, size: 0, flags: first.flags & flags::HIGH, ..*first };
        let stream = Stream { header, port, held: None, waiting: VecDeque::new(), queued: 0 };
        self.streams.slot_of.insert(header.flow, slot);
        self.streams.all.insert(slot, stream);
        let view = NodeView { now, books: &self.books };
        let at = PortQueue { port, queue: QueueId(slot) };
        self.fc.flow_starts(&view, at, &header, &mut self.actions);
        self.carry_out(now, env);
    }

    /// Gives the slot of a stream back if its flow is complete and nothing of it waits.
    fn close_stream(&mut self, flow: FlowId, now: Time, env: &mut Env<'_, '_>) {
        let complete = self.receivers.get(&flow).is_some_and(|r| r.finish().is_some());
        let Some((slot, stream)) = self.streams.of(flow) else { return };
        if !complete || stream.queued > 0 || !stream.waiting.is_empty() {
            return;
        }
        let (header, port, held) = (stream.header, stream.port, stream.held);
        if held.is_some() {
            self.ports[port.index()].meter.holds.count(header.priority, HoldState::Open, now);
            let what = Held::Flow(header.flow, header.priority);
            self.probes.record_hold(now, port, what, HoldState::Open);
        }
        self.streams.slot_of.remove(&flow);
        self.streams.all.remove(&slot);
        self.free.push(slot);
        let view = NodeView { now, books: &self.books };
        let at = PortQueue { port, queue: QueueId(slot) };
        self.fc.flow_ends(&view, at, &header, &mut self.actions);
        self.carry_out(now, env);
    }

    /// The scheme holds or opens a slot that no flow has: a stream, or nothing.
    #[cold]
    pub(super) fn hold_stream(&mut self, port: PortId, slot: QueueId, state: HoldState, now: Time) {
        let Some(stream) = self.streams.all.get_mut(&slot.0) else { return };
        if stream.held.is_some() == state.is_held() {
            return;
        }
        let p = &mut self.ports[port.index()];
        p.meter.holds.count(stream.header.priority, state, now);
        let what = Held::Flow(stream.header.flow, stream.header.priority);
        self.probes.held(now, port, Target::Queue(slot), what, state);
        if state.is_held() {
            stream.held = Some(now);
            let flow = stream.header.flow;
            stream.waiting.extend(p.acks.iter().filter(|ack| ack.flow == flow));
            p.acks.retain(|ack| ack.flow != flow);
            stream.queued = 0;
        } else {
            stream.held = None;
            stream.queued = stream.waiting.len() as u32;
            p.acks.extend(stream.waiting.drain(..));
            self.wake(port.index(), now);
        }
    }

    /// Puts an ACK that travels in the class of its data on the wire.
    pub(super) fn send_ack_with_data(
        &mut self,
        o: usize,
        ack: Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let stream = self.streams.of(ack.flow).map(|(slot, stream)| {
            stream.queued -= 1;
            slot
        });
        self.put_on_wire(o, QueueId(stream.unwrap_or_default()), ack, now, env);
        if stream.is_some() {
            self.close_stream(ack.flow, now, env);
        }
    }
}
