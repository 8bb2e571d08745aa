//! The hosts: why a flow did not send, and which packet completed it.

use super::lives::{HoldLog, Stretches, outside};
use super::{Setup, log};
use crate::outcome::pieces::{History, Hold, Life, Piece, Posted, What};
use crate::outcome::{Outcome, Wait};
use crate::probe::interface::{FlowSight, FlowWait, Probe};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use weir_core::{
    FlowId, NodeId, Packet, PacketKind, PortId, Priority, QueueId, Time, packet::flags,
};
use weir_fc::{HoldState, Target};

/// A flow at its sender.
#[derive(Debug)]
struct Flow {
    slot: QueueId,
    port: PortId,
    priority: Priority,
    wait: FlowWait,
    /// The account is complete up to here, but for what is `open`.
    until: Time,
    /// Its last packet is on the wire until then, and had been sent before.
    busy: Time,
    resent: bool,
    /// What it waited for since its last packet. `None` is window or pace: whether that was for a
    /// retransmission, the next packet shows.
    open: Vec<(Time, Time, Option<What>)>,
    history: History,
    /// Messages of a queue pair that are not acknowledged: the last packet, and when it was posted.
    messages: VecDeque<(u32, Time)>,
}

/// One port.
#[derive(Debug, Default)]
struct Port {
    wire: Stretches,
    holds: HoldLog,
}

/// As many culprits are kept of a message at each hop.
const MOST_CULPRITS: usize = 16;

/// The probe of a host.
pub(super) struct HostProbe {
    setup: Setup,
    ports: Vec<Port>,
    flows: FxHashMap<FlowId, Flow>,
    /// The packet that came in last.
    last: Option<Box<Life>>,
    done: Vec<Life>,
    /// Of messages: for the walk.
    messages: Vec<Piece>,
}

impl HostProbe {
    pub(super) fn new(setup: Setup) -> Self {
        let ports = setup.ports.of.iter().map(|_| Port::default()).collect();
        Self {
            setup,
            ports,
            flows: FxHashMap::default(),
            last: None,
            done: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// Completes the account of a flow up to `now`.
    fn advance(&mut self, id: FlowId, now: Time) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let port = &self.ports[flow.port.index()];
        flow.advance(port, now);
    }
}

impl Flow {
    fn new(sight: &FlowSight, now: Time) -> Self {
        Self {
            slot: sight.slot,
            port: sight.port,
            priority: sight.priority,
            wait: sight.wait,
            until: now,
            busy: Time::ZERO,
            resent: false,
            open: Vec::new(),
            history: History::default(),
            messages: VecDeque::new(),
        }
    }

    fn advance(&mut self, port: &Port, now: Time) {
        if self.until >= now {
            return;
        }
        let from = std::mem::replace(&mut self.until, now);
        let targets = [Target::Queue(self.slot), Target::Priority(self.priority)];
        let holds = port.holds.within(&targets, from, now);
        let free = outside(&holds, from, now);
        let (mut holds, mut free) = (holds.into_iter().peekable(), free.into_iter().peekable());
        loop {
            let held_next = match (holds.peek(), free.peek()) {
                (Some(h), Some(f)) => h.from < f.0,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return,
            };
            if held_next && let Some(Hold { target, from, to }) = holds.next() {
                self.add(from, to, Some(What::Held(target)));
            } else if let Some((from, to)) = free.next() {
                self.free(port, from, to);
            }
        }
    }

    /// Its oldest message, which is over.
    fn message(&mut self, node: NodeId, flow: FlowId) -> Option<Piece> {
        let (seq, at) = self.messages.pop_front()?;
        let posted = Posted { port: (node, self.port), at, history: self.history.since(at) };
        Some(Piece::Posted { flow, seq, posted })
    }

    /// Adds a stretch behind the others.
    fn add(&mut self, from: Time, to: Time, what: Option<What>) {
        match self.open.last_mut() {
            Some(last) if last.2 == what && !matches!(what, Some(What::Several(_))) => last.1 = to,
            _ => self.open.push((from, to, what)),
        }
    }

    /// It sends: what it waited for is known.
    fn close(&mut self, wait: Wait) {
        for (from, to, what) in self.open.drain(..) {
            self.history.push(from, to, what.unwrap_or(What::One(wait)));
        }
    }

    /// It was not held from `from` to `to`, nor did it send.
    fn free(&mut self, port: &Port, from: Time, to: Time) {
        let own = if self.resent { Wait::Recovery } else { Wait::Source };
        let at = self.busy.clamp(from, to);
        if from < at {
            self.add(from, at, Some(What::One(own)));
        }
        // until then it could not have sent for reasons of its own
        let could = match self.wait {
            FlowWait::Turn => at,
            FlowWait::Pace(due) | FlowWait::Production(due) => due.clamp(at, to),
            FlowWait::Window => to,
        };
        if at < could {
            let produces = matches!(self.wait, FlowWait::Production(_));
            self.add(at, could, produces.then_some(What::One(Wait::Source)));
        }
        if could < to {
            let busy = port.wire.within(could, to);
            let host = busy.min(to - could);
            let idle = to - could - host;
            let what = match (host, idle) {
                (_, Time::ZERO) => What::One(Wait::Host),
                (Time::ZERO, _) => What::One(Wait::Idle),
                _ => What::Several([0, 0, 0, idle.as_ps(), host.as_ps()]),
            };
            self.add(could, to, Some(what));
        }
    }
}

impl Probe for HostProbe {
    fn arrived(&mut self, _: Time, port: PortId, packet: &Packet) {
        if packet.kind == PacketKind::Data {
            let wire = self.setup.ports.incoming(port);
            self.last = Some(self.setup.lives.take(wire, packet.flow, packet.seq));
        }
    }

    fn sent(&mut self, now: Time, port: PortId, packet: &Packet) {
        let end = now + self.setup.ports.serialisation(port, packet.size);
        let of_sender = matches!(packet.kind, PacketKind::Data | PacketKind::Syn);
        if of_sender && packet.flow.source() == self.setup.node {
            self.advance(packet.flow, now);
            if let Some(flow) = self.flows.get_mut(&packet.flow) {
                let resent = packet.has(flags::RESENT);
                flow.close(if resent { Wait::Recovery } else { Wait::Control });
                (flow.busy, flow.resent) = (end, resent);
            }
        }
        if packet.kind == PacketKind::Data {
            let life = Life {
                flow: packet.flow,
                seq: packet.seq,
                sent: now,
                port,
                hops: Vec::with_capacity(4),
            };
            self.setup.lives.put(self.setup.ports.outgoing(port), Box::new(life));
        }
        self.ports[port.index()].wire.add(now, end);
    }

    fn held(&mut self, now: Time, port: PortId, target: Target, state: HoldState) {
        let holds = &mut self.ports[port.index()].holds;
        match state {
            HoldState::Held => holds.begin(target, now),
            HoldState::Open => holds.end(target, now),
        }
    }

    fn flow(&mut self, now: Time, sight: &FlowSight) {
        self.advance(sight.flow, now);
        match self.flows.get_mut(&sight.flow) {
            Some(flow) => flow.wait = sight.wait,
            None => {
                self.ports[sight.port.index()].holds.renew(Target::Queue(sight.slot), now);
                self.flows.insert(sight.flow, Flow::new(sight, now));
            }
        }
    }

    fn finished(&mut self, _: Time, flow: FlowId) {
        let last = self.last.take().filter(|life| life.flow == flow);
        self.done.push(*last.expect("a flow is complete by the packet that came in last"));
    }

    fn posted(&mut self, now: Time, flow: FlowId, seq: u32) {
        self.advance(flow, now);
        let Some(known) = self.flows.get_mut(&flow) else { return };
        if known.messages.is_empty() {
            known.history.forget(known.until);
        }
        known.messages.push_back((seq, known.until));
    }

    fn acknowledged(&mut self, _: Time, flow: FlowId, seq: u32) {
        let node = self.setup.node;
        let Some(known) = self.flows.get_mut(&flow) else { return };
        while known.messages.front().is_some_and(|m| m.0 <= seq) {
            self.messages.extend(known.message(node, flow));
        }
        let oldest = known.messages.front().map_or(known.until, |m| m.1);
        known.history.forget(oldest);
    }

    fn message(&mut self, now: Time, flow: FlowId, seq: u32) {
        // one packet may complete several messages
        let last = self.last.as_ref().filter(|life| life.flow == flow);
        let mut life = last.expect("a message is complete by the packet that came in last").clone();
        life.hops.iter_mut().for_each(|hop| hop.culprits.truncate(MOST_CULPRITS));
        self.messages.push(Piece::Arrived { flow, seq, life, at: now });
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        let log = log(outcome);
        let mut flows: Vec<_> = std::mem::take(&mut self.flows).into_iter().collect();
        flows.sort_unstable_by_key(|(flow, _)| *flow);
        log.raw.append(&mut self.messages);
        for (flow, mut at) in flows {
            while let Some(piece) = at.message(self.setup.node, flow) {
                log.raw.push(piece);
            }
            let port = (self.setup.node, at.port);
            log.raw.push(Piece::Host { flow, port, history: at.history });
        }
        log.raw.extend(self.done.drain(..).map(|life| Piece::Deciding(Box::new(life))));
    }
}
