//! The switches: what a packet waited for.

use super::culprits::{Account, Departures};
use super::lives::{HoldLog, Stretches, outside};
use super::{Setup, log};
use crate::outcome::pieces::{Hold, Hop, Life, Piece};
use crate::outcome::{DropReason, Outcome, PauseCulprits};
use crate::probe::interface::{PauseSent, Probe};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use weir_core::{
    Bytes, FlowId, NodeId, Packet, PacketKind, PortId, Priority, QueueId, Time, packet::flags,
};
use weir_fc::{HoldState, PortQueue, Target};

/// A packet in the switch.
#[derive(Debug)]
struct Inside {
    life: Box<Life>,
    arrived: Time,
    /// The egress queue it is in, and since when; before, how long it waited in front of that.
    queued: Option<(PortQueue, Time)>,
    ingress: (Time, bool),
    /// Holds of queues that it has left for another one.
    held: Vec<Hold>,
    /// Since when it is in this queue.
    since: Time,
    /// Who had built the queue up, if it may be the packet that completes its flow.
    original: Vec<(FlowId, u64)>,
}

/// Packets of one flow at one port.
#[derive(Debug, Default)]
struct Own {
    wire: Stretches,
    waiting: u32,
    /// Up to which departure of the port it is counted for how many each of them waited.
    counted: u64,
}

impl Own {
    /// How many packets of other flows its packets have waited for since this was asked last:
    /// each packet that waits counts each that left.
    fn waited_for(&mut self, departures: u64) -> i64 {
        let left = departures - std::mem::replace(&mut self.counted, departures);
        i64::from(self.waiting) * left as i64
    }
}

/// One egress port.
#[derive(Debug, Default)]
struct Port {
    wire: Stretches,
    /// What is on the wire: the flow, from when and until when.
    sending: Option<(FlowId, Time, Time)>,
    holds: HoldLog,
    waiting: u32,
    /// Data packets that left.
    count: u64,
    departures: Departures,
}

/// When a flow was held at a port.
#[derive(Debug, Default)]
pub(crate) struct Felt {
    pub(crate) holds: Vec<Hold>,
    pub(crate) packets: u64,
}

impl Felt {
    /// A packet was held. Packets that stood in the queue at the same time felt the same hold, and
    /// those of a queue leave in order: what ended before the last known hold did is known.
    fn add(&mut self, held: &[Hold]) {
        self.packets += u64::from(!held.is_empty());
        for hold in held {
            match self.holds.iter_mut().rev().find(|known| known.target == hold.target) {
                Some(known) if hold.to <= known.to => {}
                Some(known) if hold.from <= known.to => known.to = hold.to,
                _ => self.holds.push(*hold),
            }
        }
    }
}

/// The probe of a switch.
pub(super) struct HopProbe {
    setup: Setup,
    ports: Vec<Port>,
    inside: FxHashMap<(FlowId, u32), VecDeque<Inside>>,
    own: FxHashMap<(FlowId, PortId), Own>,
    felt: FxHashMap<(FlowId, PortId), Felt>,
    /// Whose packet joined an egress queue last, by ingress.
    before: Vec<Option<FlowId>>,
    account: Account,
    pauses: Vec<PauseCulprits>,
    passed: FxHashMap<((NodeId, PortId), PortId), u64>,
    /// Packets that waited for one of a flow, less packets that one of it waited for.
    weights: FxHashMap<(FlowId, PortId), i64>,
}

impl HopProbe {
    pub(super) fn new(setup: Setup) -> Self {
        let ports: Vec<Port> = setup.ports.of.iter().map(|_| Port::default()).collect();
        Self {
            before: vec![None; ports.len()],
            ports,
            inside: FxHashMap::default(),
            own: FxHashMap::default(),
            felt: FxHashMap::default(),
            account: Account::default(),
            pauses: Vec::new(),
            passed: FxHashMap::default(),
            weights: FxHashMap::default(),
            setup,
        }
    }

    /// Takes a packet out that is in an egress queue.
    fn take_queued(&mut self, packet: &Packet) -> Option<Inside> {
        self.take(packet, |inside| inside.queued.is_some())
    }

    /// Takes a packet out that is on its way to an egress queue.
    fn take_arriving(&mut self, packet: &Packet) -> Option<Inside> {
        self.take(packet, |inside| inside.queued.is_none())
    }

    fn take(&mut self, packet: &Packet, which: impl Fn(&Inside) -> bool) -> Option<Inside> {
        let key = (packet.flow, packet.seq);
        let all = self.inside.get_mut(&key)?;
        let at = all.iter().position(which)?;
        let inside = all.remove(at);
        if all.is_empty() {
            self.inside.remove(&key);
        }
        inside
    }

    /// The holds of a packet until `now`, those of queues that it has left included.
    fn holds(&self, inside: &Inside, priority: Priority, now: Time) -> Vec<Hold> {
        let Some((at, _)) = inside.queued else { return Vec::new() };
        let targets = [Target::Queue(at.queue), Target::Priority(priority)];
        let mut held = inside.held.clone();
        held.extend(self.ports[at.port.index()].holds.within(&targets, inside.since, now));
        held
    }

    /// A packet leaves an egress queue, for the wire or to be lost: the flow felt its holds.
    fn leave(&mut self, packet: &Packet, inside: &Inside, now: Time) -> Vec<Hold> {
        let Some((at, _)) = inside.queued else { return Vec::new() };
        let held = self.holds(inside, packet.priority, now);
        if !held.is_empty() {
            self.felt.entry((packet.flow, at.port)).or_default().add(&held);
        }
        let port = &mut self.ports[at.port.index()];
        port.waiting -= 1;
        if port.waiting == 0 {
            port.holds.forget_past();
        }
        port.departures.shrinks(packet.size);
        if !self.setup.pipelined {
            self.account.remove(packet);
        }
        held
    }

    /// What a packet that leaves now waited for.
    fn hop(&mut self, packet: &Packet, inside: &Inside, held: Vec<Hold>, now: Time) -> Hop {
        let (at, queued) = inside.queued.expect("it was queued");
        let port = &self.ports[at.port.index()];
        let key = (packet.flow, at.port);
        let (mut own, mut others, mut idle) = (Time::ZERO, Time::ZERO, Time::ZERO);
        for (from, to) in outside(&held, queued, now) {
            let busy = port.wire.within(from, to);
            let mine = self.own.get(&key).map_or(Time::ZERO, |o| o.wire.within(from, to));
            own += mine.min(busy);
            others += busy - mine.min(busy);
            idle += to - from - busy;
        }
        let culprits = match decides(packet) && own + others > Time::ZERO {
            true => port.departures.culprits((queued, now), &port.wire, &inside.original),
            false => Vec::new(),
        };
        Hop {
            node: self.setup.node,
            port: at.port,
            queued,
            left: now,
            ingress: inside.ingress,
            own,
            others,
            idle,
            held,
            culprits,
        }
    }

    /// One packet fewer of a flow waits at a port.
    fn forget_own(&mut self, flow: FlowId, port: PortId, queued: Time) {
        let count = self.ports[port.index()].count;
        if let Some(own) = self.own.get_mut(&(flow, port)) {
            *self.weights.entry((flow, port)).or_default() -= own.waited_for(count);
            own.waiting -= 1;
            match own.waiting {
                0 => _ = self.own.remove(&(flow, port)),
                // the next one came later than this one
                _ => own.wire.forget(queued),
            }
        }
    }
}

/// Whether this may be the packet that completes its flow: where packets stay in order, no other
/// one is.
fn decides(packet: &Packet) -> bool {
    packet.kind == PacketKind::Data && (packet.has(flags::LAST) || packet.has(flags::RESENT))
}

impl Probe for HopProbe {
    fn arrived(&mut self, now: Time, port: PortId, packet: &Packet) {
        if packet.kind != PacketKind::Data {
            return;
        }
        let life = self.setup.lives.take(self.setup.ports.incoming(port), packet.flow, packet.seq);
        if self.setup.pipelined {
            self.account.add(packet);
        }
        self.inside.entry((packet.flow, packet.seq)).or_default().push_back(Inside {
            life,
            arrived: now,
            queued: None,
            ingress: (Time::ZERO, false),
            held: Vec::new(),
            since: now,
            original: Vec::new(),
        });
    }

    fn queued(&mut self, now: Time, at: PortQueue, packet: &Packet) {
        let port = &mut self.ports[at.port.index()];
        let original = if decides(packet) { port.departures.built_up() } else { Vec::new() };
        port.departures.joined(packet);
        let before = self.before[packet.ingress.index()].replace(packet.flow);
        if packet.kind != PacketKind::Data {
            return;
        }
        port.waiting += 1;
        match self.setup.pipelined {
            true => self.account.remove(packet),
            false => self.account.add(packet),
        }
        let own = self.own.entry((packet.flow, at.port)).or_default();
        if own.waiting == 0
            && let Some((_, from, to)) = port.sending.filter(|s| s.0 == packet.flow && s.2 > now)
        {
            own.wire.add(from, to);
        }
        let waited_for = own.waited_for(port.count);
        own.waiting += 1;
        if waited_for != 0 {
            *self.weights.entry((packet.flow, at.port)).or_default() -= waited_for;
        }
        let found = self.inside.get_mut(&(packet.flow, packet.seq));
        let inside = found.and_then(|all| all.iter_mut().find(|i| i.queued.is_none()));
        let inside = inside.expect("what is queued came in");
        let waited = (now - inside.arrived).saturating_sub(self.setup.latency);
        inside.ingress = (waited, before == Some(packet.flow));
        (inside.queued, inside.since, inside.original) = (Some((at, now)), now, original);
    }

    fn moved(&mut self, now: Time, at: PortId, from: QueueId, to: QueueId, packet: &Packet) {
        let key = (packet.flow, packet.seq);
        let old = PortQueue { port: at, queue: from };
        let is_it = |i: &&mut Inside| i.queued.is_some_and(|(q, _)| q == old);
        let Some(all) = self.inside.get_mut(&key) else { return };
        let Some(inside) = all.iter_mut().find(is_it) else { return };
        let targets = [Target::Queue(from), Target::Priority(packet.priority)];
        let held = self.ports[at.index()].holds.within(&targets, inside.since, now);
        inside.held.extend(held);
        inside.since = now;
        if let Some((q, _)) = &mut inside.queued {
            q.queue = to;
        }
    }

    fn sent(&mut self, now: Time, port: PortId, packet: &Packet) {
        let end = now + self.setup.ports.serialisation(port, packet.size);
        if packet.kind == PacketKind::Data {
            let mut inside = self.take_queued(packet).expect("what is sent was queued");
            let held = self.leave(packet, &inside, now);
            let hop = self.hop(packet, &inside, held, now);
            self.forget_own(packet.flow, port, hop.queued);
            let there = &mut self.ports[port.index()];
            there.count += 1;
            let mut behind = i64::from(there.waiting);
            if let Some(own) = self.own.get_mut(&(packet.flow, port)) {
                own.wire.add(now, end);
                // its own packets do not count as waiting for it
                own.counted = there.count;
                behind -= i64::from(own.waiting);
            }
            if behind != 0 {
                *self.weights.entry((packet.flow, port)).or_default() += behind;
            }
            let last = inside.life.hops.last();
            let from = last.map(|h| (h.node, h.port));
            let from = from.unwrap_or((packet.flow.source(), inside.life.port));
            *self.passed.entry((from, port)).or_default() += u64::from(packet.size);
            inside.life.hops.push(hop);
            self.setup.lives.put(self.setup.ports.outgoing(port), inside.life);
        } else if packet.kind != PacketKind::Control {
            self.ports[port.index()].departures.shrinks(packet.size);
        }
        let there = &mut self.ports[port.index()];
        there.sending = Some((packet.flow, now, end));
        there.departures.left(now, packet, &there.wire);
        there.wire.add(now, end);
        if there.waiting == 0 {
            there.wire.keep_last();
        }
    }

    fn dropped(&mut self, now: Time, _: DropReason, packet: &Packet) {
        if packet.kind != PacketKind::Data {
            return;
        }
        if self.take_arriving(packet).is_some() {
            if self.setup.pipelined {
                self.account.remove(packet);
            }
        } else if let Some(inside) = self.take_queued(packet) {
            self.leave(packet, &inside, now);
            let (at, queued) = inside.queued.expect("it was queued");
            self.forget_own(packet.flow, at.port, queued);
        }
    }

    fn held(&mut self, now: Time, port: PortId, target: Target, state: HoldState) {
        let port = &mut self.ports[port.index()];
        match state {
            HoldState::Held => port.holds.begin(target, now),
            HoldState::Open => port.holds.end(target, now),
        }
        if port.waiting == 0 {
            port.holds.forget_past();
        }
    }

    fn paused(&mut self, now: Time, pause: &PauseSent<'_>) {
        if !pause.pause || self.pauses.len() >= self.setup.most_pauses {
            return;
        }
        if pause.cause().is_some_and(|(_, held)| held) {
            return;
        }
        let (flows, total) = self.account.most(pause.port, pause.priority);
        self.pauses.push(PauseCulprits {
            at: now,
            node: self.setup.node,
            port: pause.port,
            priority: pause.priority,
            flows,
            total,
        });
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        let log = log(outcome);
        let node = self.setup.node;
        let mut felt: Vec<_> = std::mem::take(&mut self.felt).into_iter().collect();
        felt.sort_unstable_by_key(|(at, _)| *at);
        for ((flow, port), felt) in felt {
            log.packets_held.push((flow, node, port, felt.packets));
            log.raw.push(Piece::Felt { flow, port: (node, port), holds: felt.holds });
        }
        let passed = std::mem::take(&mut self.passed).into_iter();
        log.passed.extend(passed.map(|((from, to), n)| (from, (node, to), Bytes::new(n))));
        let weights = std::mem::take(&mut self.weights).into_iter().filter(|(_, n)| *n != 0);
        log.waited_for.extend(weights.map(|((flow, port), n)| (flow, node, port, n)));
        log.pauses.append(&mut self.pauses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packets of a flow: the first is queued at 0 and leaves at 45 ns, the second comes at
    /// 15 ns and leaves at 70 ns. The queue is held from 10 to 20, from 30 to 40 and from 50 to
    /// 60 ns: three holds, and nothing between them.
    #[test]
    fn a_flow_feels_each_hold_once_and_not_the_time_between() {
        let hold = |from, to| Hold {
            target: Target::Queue(QueueId(0)),
            from: Time::from_ns(from),
            to: Time::from_ns(to),
        };
        let mut felt = Felt::default();
        felt.add(&[hold(10, 20), hold(30, 40)]);
        felt.add(&[hold(15, 20), hold(30, 40), hold(50, 60)]);
        assert_eq!(felt.holds, [hold(10, 20), hold(30, 40), hold(50, 60)]);
        assert_eq!(felt.packets, 2);
    }
}
