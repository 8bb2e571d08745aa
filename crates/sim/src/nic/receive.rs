//! The way into a host: data is delivered and acknowledged, ACKs move their flow on.

use super::selective::{self, Kept};
use super::tcp::TcpReceiver;
use super::{Nic, NicTimer};
use crate::config::Reliability;
use crate::control::Responder;
use crate::env::Env;
use crate::link::damage;
use crate::outcome::{DropReason, Fate, MaybeTime};
use crate::parcel::MessageEnd;
use crate::probe::record::Held;
use weir_cc::hpcc::Telemetry;
use weir_cc::{Ack, IntHop, MAX_HOPS, Timers};
use weir_core::{Bytes, FlowId, Packet, PacketKind, PortId, Time, packet::flags};
use weir_fc::{HoldState, NodeView, PortQueue};

/// A flow at its receiver.
///
/// It is kept until the end of the run, because a packet that was sent again may arrive late. So
/// it is small, and what most flows do not need stands apart.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// The next packet in order; of datagrams, how many came.
    pub(super) expected: u32,
    /// One past the highest packet seen.
    seen: u32,
    pub(crate) delivered: u64,
    finish: MaybeTime,
    rare: Option<Box<Rare>>,
}

/// Hops as a packet's records show them.
#[cold]
fn record(telemetry: Telemetry, hops: &[IntHop]) -> [IntHop; MAX_HOPS] {
    let mut recorded = [IntHop::default(); MAX_HOPS];
    for (there, hop) in recorded.iter_mut().zip(hops) {
        *there = telemetry.record(*hop);
    }
    recorded
}

/// What few receivers need.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    /// The last datagram came, and another one is missing.
    last_came: bool,
    /// The last NACK: for which packet, and when. It is void when that packet has come.
    nacked: Option<(u32, Time)>,
    last_cnp: Option<Time>,
    reordered: u64,
    /// Selective repeat: what came out of order.
    pub(super) kept: Option<Box<Kept>>,
    /// The last packets of messages that came before packets ahead of them.
    ends: Vec<(u32, MessageEnd)>,
    pub(super) tcp: Option<Box<TcpReceiver>>,
}

impl Receiver {
    const NEW: Self =
        Self { expected: 0, seen: 0, delivered: 0, finish: MaybeTime::NONE, rare: None };

    #[inline]
    pub(super) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// When all its payload had arrived.
    #[inline]
    pub(crate) fn finish(&self) -> Option<Time> {
        self.finish.get()
    }

    #[inline]
    pub(super) fn complete(&mut self, now: Time) {
        self.finish = Some(now).into();
    }

    /// Packets that arrived behind a later one.
    pub(crate) fn reordered(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.reordered)
    }

    /// TCP's side of it.
    pub(super) fn tcp(&mut self) -> Option<&mut TcpReceiver> {
        self.rare.as_mut()?.tcp.as_deref_mut()
    }

    /// Packet `p` of a queue pair came for the first time, and `expected` is up to date: the
    /// last packets of the messages that are complete by that, and what they say. `message_end` is
    /// what `p` says if it ends one.
    pub(super) fn ends(
        &mut self,
        p: &Packet,
        message_end: Option<MessageEnd>,
    ) -> Vec<(u32, MessageEnd)> {
        if !p.flow.is_pair() {
            return Vec::new();
        }
        if let Some(message_end) = message_end {
            let ends = &mut self.rare().ends;
            let at = ends.partition_point(|(seq, _)| *seq < p.seq);
            ends.insert(at, (p.seq, message_end));
        }
        let expected = self.expected;
        let Some(rare) = &mut self.rare else { return Vec::new() };
        let complete = rare.ends.partition_point(|(seq, _)| *seq < expected);
        rare.ends.drain(..complete).collect()
    }

    /// Forgets what is of no use for a complete flow with selective repeat.
    pub(super) fn drop_kept(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.kept = None;
        }
    }

    /// Delivers a datagram with headers of `header` bytes, in whatever order they come: none comes
    /// twice. Returns whether the flow is complete with it, which it never is if one was lost.
    fn take_datagram(&mut self, p: &Packet, header: u64, now: Time) -> bool {
        self.expected += 1;
        self.delivered += u64::from(p.size) - header;
        let last_came = p.has(flags::LAST) || self.rare.as_ref().is_some_and(|rare| rare.last_came);
        let complete = last_came && self.expected == self.seen;
        if complete {
            self.complete(now);
        } else if last_came {
            self.rare().last_came = true;
        }
        complete
    }

    /// Whether packet `p` is to be answered by a CNP, which it is at most once per `interval`.
    #[inline(always)]
    pub(super) fn owes_cnp(&mut self, p: &Packet, interval: Option<Time>, now: Time) -> bool {
        let Some(gap) = interval.filter(|_| p.has(flags::CE)) else { return false };
        let last = &mut self.rare().last_cnp;
        let owes = last.is_none_or(|at| now >= at + gap);
        if owes {
            *last = Some(now);
        }
        owes
    }
}

impl Nic {
    /// A packet arrives at port `i`.
    #[inline]
    pub(super) fn on_arrival(
        &mut self,
        i: usize,
        packet: &Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        self.tally.hops += 1;
        if self.ports.len() > 1 {
            self.came_by = PortId::from_index(i);
        }
        if !self.undamaged && self.check_arrival(i, packet, now, env) {
            return;
        }
        match packet.kind {
            PacketKind::Data => {
                self.tally.last_activity = now;
                self.take_in(packet, now, env);
            }
            PacketKind::Ack | PacketKind::Nack | PacketKind::SynAck => {
                self.tally.last_activity = now;
                self.count.acks_arrived += 1;
                self.on_ack(packet, now, env);
            }
            PacketKind::Cnp => {
                self.tally.last_activity = now;
                self.count.acks_arrived += 1;
                self.on_cnp(packet, now);
            }
            PacketKind::Syn => {
                self.tally.last_activity = now;
                self.count.acks_arrived += 1;
                self.on_syn(packet, now, env);
            }
            PacketKind::Control => self.on_control_frame(PortId::from_index(i), packet, now, env),
            PacketKind::Mark => unreachable!("marks are never on a wire"),
        }
        if !self.quiet.contains(packet.priority) && packet.kind != PacketKind::Control {
            self.tell_delivered(packet, now, env);
        }
    }

    /// The host takes in a data packet.
    #[inline(always)]
    fn take_in(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        self.count.data_arrived += 1;
        if let Some(recorder) = &mut self.probes.recorder {
            let header = env.shared.config.nic.header.get();
            recorder.arrived(packet.flow, u64::from(packet.size).saturating_sub(header));
        }
        self.on_data(packet, now, env);
    }

    /// The host takes in a packet that has waited in the receive buffer.
    #[inline(never)]
    pub(super) fn deliver(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        self.take_in(packet, now, env);
        if !self.quiet.contains(packet.priority) {
            self.tell_delivered(packet, now, env);
        }
    }

    #[inline(never)]
    fn tell_delivered(&mut self, packet: &Packet, now: Time, env: &mut Env<'_, '_>) {
        let view = NodeView { now, books: &self.books };
        self.fc.delivered(&view, packet, &mut self.actions);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
    }

    /// Counts a packet that is lost as it arrives.
    #[cold]
    pub(super) fn lose(
        &mut self,
        reason: DropReason,
        p: &Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        self.tally.drop(now, p);
        self.probes.dropped(now, reason, p);
        env.wires.extras.discard(p);
    }

    /// Tells probes of a packet, drops it if it was damaged on the wire, and puts data for a slow
    /// host into its receive buffer; returns whether it is dealt with.
    #[inline(never)]
    fn check_arrival(&mut self, i: usize, p: &Packet, now: Time, env: &mut Env<'_, '_>) -> bool {
        self.probes.arrived(now, PortId::from_index(i), p, &env.wires.extras);
        let port = &self.ports[i];
        let survival = env.shared.byte_survival_ln;
        let errors = &mut self.bit_errors;
        if let Some(reason) = damage(p, &port.tx, &port.outages, errors, survival, now) {
            if p.kind == PacketKind::Control && reason == DropReason::BitError {
                let message = &env.wires.extras.messages.get(p.extra).message;
                self.faults.note(now, PortId::from_index(i), Fate::Damaged, message);
            }
            self.lose(reason, p, now, env);
            return true;
        }
        p.kind == PacketKind::Data && self.take_later(p, now, env)
    }

    #[inline(always)]
    fn on_data(&mut self, p: &Packet, now: Time, env: &mut Env<'_, '_>) {
        let nic = &env.shared.config.nic;
        let datagram = p.has(flags::DATAGRAM);
        let r = self.receivers.entry(p.flow).or_insert(Receiver::NEW);
        if p.seq < r.seen && !p.has(flags::RESENT) {
            r.rare().reordered += 1;
            self.disorder.get_or_insert((now, p.flow, p.seq));
        }
        r.seen = r.seen.max(p.seq + 1);
        if datagram {
            if r.take_datagram(p, nic.header.get(), now) {
                self.count.completed += 1;
                self.probes.finished(now, p.flow);
            }
            return;
        }
        if nic.reliability != Reliability::GoBackN {
            self.on_data_in_any_order(p, now, env);
            return;
        }
        let mut arrived = None;
        if p.seq == r.expected {
            r.expected = p.seq + 1;
            r.delivered += u64::from(p.size) - nic.header.get();
            if p.has(flags::LAST) {
                match Self::message_end(p, env) {
                    Some(message_end) => arrived = Some(message_end),
                    None => {
                        r.complete(now);
                        self.count.completed += 1;
                        self.probes.finished(now, p.flow);
                    }
                }
            }
        }
        let expected = r.expected;
        let kind = if p.seq < expected {
            PacketKind::Ack
        } else {
            // A gap: say so once, and again after a while.
            let nacked = &mut r.rare().nacked;
            let again =
                nacked.is_none_or(|(seq, at)| seq != expected || now >= at + nic.nack_interval);
            if !again {
                env.wires.extras.discard(p);
                return;
            }
            *nacked = Some((expected, now));
            PacketKind::Nack
        };
        let cnp = r.owes_cnp(p, env.shared.cnp_interval, now);
        if let Some(message_end) = arrived {
            self.note_arrived(p.flow, (p.seq, message_end), now);
        }
        self.acknowledge(p, kind, expected, p.extra, cnp, now, env);
    }

    /// Answers `p`: by a CNP if it is due, and by an ACK or NACK.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "most of them are fields of one packet")]
    pub(super) fn acknowledge(
        &mut self,
        p: &Packet,
        kind: PacketKind,
        expected: u32,
        extra: u32,
        cnp: bool,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        if cnp {
            self.answer_with_cnp(p, expected, now, env);
        }
        let echoes = env.shared.cnp_interval.is_none() && p.has(flags::CE);
        let echo = if echoes { flags::CE } else { 0 };
        self.answer(p, kind, expected, echo, extra, now, env);
    }

    #[cold]
    fn answer_with_cnp(&mut self, p: &Packet, expected: u32, now: Time, env: &mut Env<'_, '_>) {
        self.answer(p, PacketKind::Cnp, expected, 0, Packet::NO_EXTRA, now, env);
    }

    /// The port towards the sender of `p`.
    #[inline(always)]
    pub(super) fn way_back(&self, p: &Packet, env: &Env<'_, '_>) -> usize {
        if self.ports.len() == 1 {
            return 0;
        }
        let (source, hash) = (p.flow.source(), p.flow.hash64());
        // a rail answers for itself
        let routes = &env.shared.epochs[self.epoch].1;
        if p.flow.is_pair() && routes.next_hops(self.id, source).contains(&self.came_by) {
            return self.came_by.index();
        }
        env.shared.epochs[self.epoch].1.next_hop(self.id, source, hash).map_or(0, PortId::index)
    }

    /// Sends an ACK, NACK or CNP back to the sender of `p`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "all of them are fields of one packet")]
    pub(super) fn answer(
        &mut self,
        p: &Packet,
        kind: PacketKind,
        seq: u32,
        bits: u8,
        extra: u32,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let nic = &env.shared.config.nic;
        let o = self.way_back(p, env);
        let answer = Packet {
            flow: p.flow,
            seq,
            dst: p.flow.source(),
            wire_tag: 0,
            extra,
            size: nic.ack.get() as u16,
            ingress: PortId::from_index(o),
            kind,
            priority: nic.ack_priority,
            flags: bits,
            local_tag: 0,
        };
        self.count.acks_sent += 1;
        let port = &mut self.ports[o];
        if now > port.tx.busy_until && port.is_clear_for(answer.priority, now) {
            // Whatever else is to be sent has the port's clock set.
            self.tally.last_activity = now;
            port.tx.send(now, &answer, env.wires);
            self.probes.sent(now, o, &answer);
        } else {
            port.acks.push_back(answer);
            self.wake(o, now);
        }
    }

    /// The slot of one of this host's flows, while it lasts.
    #[inline]
    fn slot(&self, flow: FlowId) -> Option<u32> {
        if flow.is_pair() {
            return self.agent.as_ref().and_then(|agent| agent.slot(flow));
        }
        self.slot_of.get(flow.number() as usize).copied().filter(|&s| s != u32::MAX)
    }

    #[inline]
    fn on_ack(&mut self, p: &Packet, now: Time, env: &mut Env<'_, '_>) {
        let stack = (p.extra != Packet::NO_EXTRA).then(|| env.wires.extras.telemetry.take(p.extra));
        let Some(slot) = self.slot(p.flow) else { return };
        let payload = env.shared.config.nic.payload.get();
        let s = self.slots[slot as usize].as_mut().expect("a live flow has a slot");
        let nxt_before = s.nxt;
        let (newly, rtt) = if s.machine.is_none() {
            s.on_answer(p, now)
        } else if s.tcp().is_some() {
            return self.on_tcp_answer(slot, p, now, env);
        } else {
            selective::on_answer(s, p, stack.and_then(|s| s.answers), now)
        };
        let (una, nxt) = (s.una, s.nxt);
        let done = s.is_done();
        let ends_message = s.has_complete_message();
        // A shortcut: a flow that could send before and can still, or has nothing left to send,
        // need not be settled again.
        let unchanged = s.machine.is_none()
            && nxt == nxt_before
            && (nxt >= s.total || s.ready)
            && env.shared.config.shortcuts;
        let change = if s.cc.is_fixed() {
            None
        } else {
            // the last packet of a message has records even if nobody asks for telemetry
            let stack = stack.filter(|_| env.shared.telemetry.is_some());
            let hops = stack.map_or(&[][..], |stack| stack.hops);
            let packed = env.shared.telemetry.filter(|t| matches!(t, Telemetry::Packed { .. }));
            let recorded = packed.map(|telemetry| record(telemetry, hops));
            let hops = recorded.as_ref().map_or(hops, |recorded| &recorded[..hops.len()]);
            let ack = Ack {
                now,
                seq: u64::from(una) * payload,
                snd_nxt: u64::from(nxt) * payload,
                newly_acked: u64::from(newly) * payload,
                ecn: p.has(flags::CE),
                rtt,
                hops,
            };
            self.count.telemetry += u64::from(!ack.hops.is_empty());
            let mut timers = Timers::new();
            let old = s.cc.rate();
            let pacing = s.cc.on_ack(&ack, &mut timers);
            self.arm_cc(slot, timers);
            Some((old, pacing))
        };
        if newly > 0
            && let Some(timeout) = env.shared.config.nic.timeout
        {
            if una < nxt {
                self.timers.arm(NicTimer::Timeout(slot), now + timeout);
            } else {
                self.timers.cancel(NicTimer::Timeout(slot));
            }
        }
        if done {
            self.end(slot, now, env);
            return;
        }
        if ends_message {
            self.note_acked(slot, now);
        }
        match change {
            None if unchanged => {}
            None => self.settle(slot, now),
            Some((old, pacing)) => self.repace(slot, old, pacing, now),
        }
    }

    fn on_cnp(&mut self, p: &Packet, now: Time) {
        let Some(slot) = self.slot(p.flow) else { return };
        let s = self.slots[slot as usize].as_mut().expect("a live flow has a slot");
        let mut timers = Timers::new();
        let old = s.cc.rate();
        let pacing = s.cc.on_cnp(now, &mut timers);
        self.arm_cc(slot, timers);
        self.repace(slot, old, pacing, now);
    }

    /// Gives the slot of a finished flow back and writes its record.
    #[inline(always)]
    pub(super) fn end_if_done(&mut self, slot: u32, now: Time, env: &mut Env<'_, '_>) -> bool {
        let done = self.slots[slot as usize].as_ref().is_some_and(|s| s.is_done());
        if done {
            self.end(slot, now, env);
        }
        done
    }

    #[inline(never)]
    pub(super) fn end(&mut self, slot: u32, now: Time, env: &mut Env<'_, '_>) {
        let s = self.slots[slot as usize].take().expect("the slot is taken");
        let port = &mut self.ports[usize::from(s.port)];
        port.ready.set(slot, s.priority(), false);
        if s.held {
            port.meter.holds.count(s.priority(), HoldState::Open, now);
            let what = Held::Flow(s.spec.id, s.priority());
            self.probes.record_hold(now, PortId(s.port), what, HoldState::Open);
        }
        if s.in_fifo
            && let Some(fifo) = &mut port.fifo
        {
            // a late ACK: what it stood there to send again had arrived; it may have been held
            // there, with others behind it
            fifo.retain(|&queued| queued != slot);
            self.wake(usize::from(s.port), now);
        }
        let agent = self.agent.as_mut().filter(|_| s.pair.is_some());
        match agent {
            Some(agent) => agent.forget(s.spec.id),
            None => self.slot_of[s.spec.id.number() as usize] = u32::MAX,
        }
        self.free.push(slot);
        for kind in weir_cc::TimerKind::ALL {
            self.timers.cancel(NicTimer::Cc(kind, slot));
        }
        self.timers.cancel(NicTimer::Timeout(slot));
        if s.spec.stop.is_some() {
            self.timers.cancel(NicTimer::Stop(slot));
        }
        let acked = (!s.is_datagram() && s.spec.size != Bytes::MAX).then_some(now);
        let record = self.record_of(&s, acked, now);
        match self.agent.as_mut().filter(|_| s.pair.is_some()) {
            Some(agent) => agent.records.put(record),
            None => self.records.put(record),
        }
        let view = NodeView { now, books: &self.books };
        let at = PortQueue { port: PortId(s.port), queue: weir_core::QueueId(slot) };
        self.fc.flow_ends(&view, at, &s.header(), &mut self.actions);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host keeps one of these with its flow id for each flow that it has ever received.
    #[test]
    fn a_receiver_takes_32_bytes() {
        assert_eq!(size_of::<Receiver>(), 32);
    }
}
