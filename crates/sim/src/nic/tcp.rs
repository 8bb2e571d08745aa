//! TCP: how a NIC drives the state machines of [`weir_cc::tcp`].
//!
//! A flow's machine decides which segment is next, and when its timer fires. The sender's `una`,
//! `nxt` and `highest` follow it. The NIC's timer is set late: it may fire before the machine's
//! time has come, which does nothing, and is set again then, so that most ACKs touch no timer.
//!
//! A SYN is a packet of its flow: it takes the flow's turn and its holds, at the priority of the
//! flow's data. ACKs and SYN-ACKs have the priority of ACKs, or travel in the class of their data
//! (see [`streams`](super::streams)).

use super::receive::Receiver;
use super::{Nic, NicTimer};
use crate::config::NicConfig;
use crate::env::Env;
use crate::nic::sender::Sender;
use crate::outcome::TcpRecord;
use weir_cc::Path;
use weir_cc::tcp::{self, Ack, Arrival, Segment, TcpParams};
use weir_core::{Bytes, FlowId, Packet, PacketKind, PortId, QueueId, Time, packet::flags};
use weir_fc::{NodeView, PortQueue};
use weir_traffic::FlowSpec;

/// TCP's side of a flow at its sender.
pub(crate) struct TcpFlow {
    pub(super) machine: tcp::Sender,
    /// When the NIC's timer fires: not later than the machine's.
    armed: Time,
    opened: Option<Time>,
    /// The largest window.
    peak: u64,
}

impl TcpFlow {
    pub(super) fn new(params: &TcpParams, spec: &FlowSpec, path: &Path, now: Time) -> Self {
        let machine = tcp::Sender::new(params, spec.size, path.mtu, path.base_rtt, now);
        Self {
            opened: machine.is_open().then_some(now),
            peak: machine.window().get(),
            armed: Time::NEVER,
            machine,
        }
    }

    /// Something happened to the machine.
    fn note(&mut self, now: Time) {
        self.peak = self.peak.max(self.machine.window().get());
        if self.opened.is_none() && self.machine.is_open() {
            self.opened = Some(now);
        }
    }

    pub(super) fn record(&self) -> TcpRecord {
        let counts = self.machine.counts();
        TcpRecord {
            opened: self.opened,
            window: Bytes::new(self.machine.window().get()),
            peak_window: Bytes::new(self.peak),
            ecn_cuts: counts.mark_cuts,
            fast_retransmits: counts.fast_retransmits,
        }
    }
}

impl Sender {
    /// The segment that the wire takes now.
    fn take_segment(&mut self, now: Time, nic: &NicConfig) -> Packet {
        let flow = self.tcp_mut().expect("TCP decides");
        match flow.machine.poll_transmit(now).expect("a flow whose turn it is has a segment") {
            Segment::Syn { .. } => {
                let mut packet = self.header();
                packet.kind = PacketKind::Syn;
                packet.size = nic.ack.get() as u16;
                packet
            }
            Segment::Data(data) => {
                let mut packet = self.packet(data.seq, nic.header);
                packet.flags |= if data.cwr { flags::CWR } else { 0 };
                self.packets += 1;
                self.retransmitted += u64::from(data.resent);
                packet
            }
        }
    }

    /// Takes over how far TCP has come.
    fn follow(&mut self, now: Time) {
        let Some(flow) = self.tcp_mut() else { return };
        flow.note(now);
        let machine = &flow.machine;
        (self.una, self.nxt, self.highest) = (machine.una(), machine.nxt(), machine.highest());
    }
}

/// TCP's side of a flow at its receiver.
#[derive(Clone, Debug)]
pub(crate) struct TcpReceiver {
    machine: tcp::Receiver,
    /// The last segment that arrived: delayed ACKs are answers to it.
    last: Packet,
}

impl Nic {
    /// Sends the next segment of a flow.
    #[inline(never)]
    pub(super) fn send_segment(&mut self, o: usize, slot: u32, now: Time, env: &mut Env<'_, '_>) {
        let Self { slots, ports, .. } = self;
        let s = slots[slot as usize].as_deref_mut().expect("the slot is taken");
        let port = &mut ports[o];
        let mut packet = s.take_segment(now, &env.shared.config.nic);
        s.follow(now);
        let in_pair = s.pair.is_some() && packet.kind == PacketKind::Data;
        if in_pair {
            s.address(&mut packet, &mut env.wires.extras);
        }
        if s.nxt >= s.total && s.held_total.is_none() && s.pair.is_none() {
            let clock = &port.priority_clocks[s.priority().index()];
            s.held_total = Some(s.held_time(clock.read(now), now));
        }
        match packet.kind {
            PacketKind::Data => self.count.data_sent += 1,
            _ => self.count.acks_sent += 1,
        }
        self.tally.last_activity = now;
        self.watch_timeout(slot);
        if in_pair {
            self.note_left(slot, packet.seq, now);
        }
        self.put_on_wire(o, QueueId(slot), packet, now, env);
    }

    /// Starts a packet of TCP on the wire: scheme and limits are told of it.
    pub(super) fn put_on_wire(
        &mut self,
        o: usize,
        queue: QueueId,
        mut packet: Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let port = &mut self.ports[o];
        if !self.quiet.contains(packet.priority) {
            let view = NodeView { now, books: &self.books };
            let from = PortQueue { port: PortId::from_index(o), queue };
            self.fc.depart(&view, &mut packet, from, &mut self.actions);
        }
        if let Some(limits) = &mut port.limits {
            limits.started(now, packet.priority, u64::from(packet.size));
        }
        port.tx.send(now, &packet, env.wires);
        self.probes.sent(now, o, &packet);
        if !self.actions.is_empty() {
            self.carry_out(now, env);
        }
    }

    /// Ensures that the timer of a flow fires at the time its state machine requests, or earlier.
    pub(super) fn watch_timeout(&mut self, slot: u32) {
        let Some(flow) = self.slots[slot as usize].as_mut().and_then(|s| s.tcp_mut()) else {
            return;
        };
        if let Some(at) = flow.machine.next_timeout().filter(|&at| at < flow.armed) {
            flow.armed = at;
            self.timers.arm(NicTimer::Timeout(slot), at);
        }
    }

    /// The timer of a flow fires.
    pub(super) fn on_tcp_timeout(&mut self, slot: u32, now: Time) {
        let Some(s) = &mut self.slots[slot as usize] else { return };
        let Some(flow) = s.tcp_mut() else { return };
        flow.armed = Time::NEVER;
        let timed_out = flow.machine.on_timeout(now);
        s.timeouts += u64::from(timed_out);
        s.follow(now);
        self.watch_timeout(slot);
        self.settle(slot, now);
    }

    /// An ACK or a SYN-ACK arrived.
    #[inline(never)]
    pub(super) fn on_tcp_answer(
        &mut self,
        slot: u32,
        p: &Packet,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let s = self.slots[slot as usize].as_mut().expect("a live flow has a slot");
        let Some(flow) = s.tcp_mut() else { return };
        if p.kind == PacketKind::SynAck {
            flow.machine.on_syn_ack(now);
        } else {
            flow.machine.on_ack(now, Ack { expected: p.seq, ece: p.has(flags::CE) });
        }
        s.follow(now);
        if s.is_done() {
            self.end(slot, now, env);
            return;
        }
        self.note_acked(slot, now);
        self.watch_timeout(slot);
        self.settle(slot, now);
    }

    /// A SYN arrived. It is answered, and changes nothing else.
    pub(super) fn on_syn(&mut self, p: &Packet, now: Time, env: &mut Env<'_, '_>) {
        self.tcp_answer(p, PacketKind::SynAck, 0, 0, now, env);
    }

    /// A data segment arrived.
    pub(super) fn on_segment(&mut self, p: &Packet, now: Time, env: &mut Env<'_, '_>) {
        let config = env.shared.config;
        let message_end = Self::message_end(p, env);
        env.wires.extras.discard(p);
        let r = self.receivers.get_mut(&p.flow).expect("the flow is known");
        let tcp = r.rare().tcp.get_or_insert_with(|| {
            Box::new(TcpReceiver { machine: tcp::Receiver::new(&config.tcp), last: *p })
        });
        tcp.last = Packet { extra: Packet::NO_EXTRA, ..*p };
        let before = tcp.machine.next_timeout();
        let (last, ce) = (p.has(flags::LAST), p.has(flags::CE));
        let arrival = Arrival { seq: p.seq, last, ce, cwr: p.has(flags::CWR) };
        let received = tcp.machine.on_data(now, arrival);
        let due = tcp.machine.next_timeout();
        let (expected, complete) = (tcp.machine.expected(), tcp.machine.is_complete());
        r.expected = expected;
        if received.new {
            r.delivered += u64::from(p.size) - config.nic.header.get();
        }
        let ended = r.ends(p, message_end.filter(|_| received.new));
        if complete && r.finish().is_none() && !p.flow.is_pair() {
            r.complete(now);
            self.count.completed += 1;
            self.probes.finished(now, p.flow);
        }
        ended.into_iter().for_each(|end| self.note_arrived(p.flow, end, now));
        if due != before {
            let timer = NicTimer::DelayedAck(p.flow);
            match due {
                Some(at) => self.timers.arm(timer, at),
                None => self.timers.cancel(timer),
            }
        }
        for ack in received.acks.into_iter().flatten() {
            self.send_ack(p, ack, now, env);
        }
    }

    /// An ACK was held back for as long as it may be.
    pub(super) fn on_delayed_ack(&mut self, flow: FlowId, now: Time, env: &mut Env<'_, '_>) {
        let tcp = self.receivers.get_mut(&flow).and_then(Receiver::tcp);
        let Some((ack, last)) = tcp.and_then(|t| Some((t.machine.on_timeout(now)?, t.last))) else {
            return;
        };
        self.send_ack(&last, ack, now, env);
    }

    fn send_ack(&mut self, p: &Packet, ack: Ack, now: Time, env: &mut Env<'_, '_>) {
        let echo = if ack.ece { flags::CE } else { 0 };
        self.tcp_answer(p, PacketKind::Ack, ack.expected, echo, now, env);
    }

    /// Sends an ACK or SYN-ACK back to the sender of `p`.
    fn tcp_answer(
        &mut self,
        p: &Packet,
        kind: PacketKind,
        seq: u32,
        bits: u8,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        if env.shared.config.nic.acks_with_data {
            self.answer_with_data(p, kind, seq, bits, now, env);
        } else {
            self.answer(p, kind, seq, bits, Packet::NO_EXTRA, now, env);
        }
    }
}
