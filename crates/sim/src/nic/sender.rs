//! What a flow knows at its sender: what to send again, pacing, window, constant-rate production.

use super::pair::QueuePair;
use super::selective;
use super::tcp::TcpFlow;
use crate::config::{NicConfig, WindowConfig};
use crate::extras::Extras;
use crate::probe::held::HoldClock;
use crate::probe::{FlowSight, FlowWait};
use std::collections::VecDeque;
use weir_cc::reliability::selective_repeat;
use weir_cc::{Cc, Path, Timers};
use weir_core::{Bytes, Packet, PacketKind, PortId, Priority, QueueId, Time, packet::flags};
use weir_fc::HoldState;
use weir_traffic::{FlowSpec, WhileHeld};

/// What decides which packet is next, where that is not go-back-N.
#[expect(
    clippy::large_enum_variant,
    reason = "a flow has it in a box, and all flows have the same"
)]
pub(crate) enum Machine {
    /// Selective repeat: which packets arrived.
    Repeat(selective_repeat::Sender),
    Tcp(TcpFlow),
}

/// A flow at its sender. What every packet and every ACK touches comes first.
#[repr(C)]
pub(crate) struct Sender {
    /// What all its packets have in common.
    header: Packet,
    /// Packets below are acknowledged.
    pub(crate) una: u32,
    /// The next packet to send; with selective repeat and TCP, the next one in order.
    pub(crate) nxt: u32,
    /// One past the highest packet ever sent.
    pub(crate) highest: u32,
    /// How many packets the flow has; `u32::MAX` while open-ended.
    pub(crate) total: u32,
    /// The pace allows the next packet then.
    pub(crate) next_time: Time,
    /// How many packets may be in flight, where that never changes; else 0.
    fixed_window: u32,
    /// Picoseconds per byte at a pace that never changes; else 0.
    fixed_pace: u32,
    payload: u64,
    /// Payload of the last packet.
    last_payload: u64,
    /// The first packet of the message that was posted last; 0 of a flow, which is one message.
    last_message: u32,
    /// Where the oldest message ends that is not acknowledged; `u32::MAX` if there is none, and of
    /// a flow.
    message_end: u32,
    pub(crate) packets: u64,
    pub(crate) retransmitted: u64,
    /// Bytes of the frame sent last, for re-timing.
    pub(crate) last_frame: u64,
    pub(crate) port: u16,
    pub(crate) held: bool,
    /// Stands among the flows of its port that can send.
    pub(crate) ready: bool,
    /// Stands in the single queue of the NIC.
    pub(crate) in_fifo: bool,
    /// Its receiver cannot know which packet is the last one.
    open_ended: bool,
    window: WindowConfig,
    /// The messages of a queue pair of a job: it has no end of its own.
    pub(crate) pair: Option<Box<QueuePair>>,
    /// Selective repeat or TCP. Without, it is go-back-N.
    pub(crate) machine: Option<Box<Machine>>,
    /// When each packet in flight was sent, for algorithms that look at the RTT.
    pub(crate) sent_at: Option<VecDeque<Time>>,
    pub(crate) cc: Cc,
    /// The entry in the pacing heap that is not stale.
    pub(crate) paced_at: Time,
    pub(crate) hold_clock: HoldClock,
    /// The priority's hold clock when the flow started, moved on by every hold that the flow's own
    /// one covers: a time held twice counts once.
    pub(crate) priority_stamp: Time,
    /// The priority's hold clock when the hold of the flow itself began.
    covered_from: Time,
    /// Held time when it had sent everything.
    pub(crate) held_total: Option<Time>,
    /// Constant rate: packets that were produced (sent, queued or discarded).
    pub(crate) produced: u64,
    pub(crate) discarded: u64,
    /// How often the retransmission timer has fired.
    pub(crate) timeouts: u64,
    pub(crate) spec: FlowSpec,
}

impl Sender {
    pub(crate) fn new(
        spec: FlowSpec,
        port: u16,
        cc: Cc,
        wants_rtt: bool,
        path: &Path,
        nic: &NicConfig,
    ) -> Self {
        let payload = nic.payload.get();
        let (total, last_payload) = packets(&spec, payload);
        let machine = selective::sender(&spec, total, path, nic);
        Self {
            next_time: spec.start,
            fixed_window: if machine.is_some() { 0 } else { fixed_window(&spec, &cc, nic) },
            fixed_pace: fixed_pace(&cc),
            machine,
            header: header(&spec, port),
            spec,
            port,
            una: 0,
            nxt: 0,
            highest: 0,
            total,
            payload,
            last_payload,
            last_message: 0,
            message_end: u32::MAX,
            cc,
            window: nic.window,
            paced_at: Time::NEVER,
            sent_at: wants_rtt.then(VecDeque::new),
            held: false,
            hold_clock: HoldClock::default(),
            priority_stamp: Time::ZERO,
            covered_from: Time::ZERO,
            held_total: None,
            ready: false,
            in_fifo: false,
            open_ended: spec.rate.is_none() && spec.size == Bytes::MAX,
            pair: None,
            produced: 0,
            discarded: 0,
            timeouts: 0,
            packets: 0,
            retransmitted: 0,
            last_frame: 0,
        }
    }

    /// From now on it sends the messages of a queue pair, of which there are none yet.
    pub(super) fn use_pair(&mut self, pair: QueuePair) {
        self.close();
        self.open_ended = false;
        self.pair = Some(Box::new(pair));
    }

    /// A message of a queue pair follows what there is; returns the number of its last packet.
    pub(super) fn post(&mut self, bytes: u64, op: u64, tag: u64) -> u32 {
        let Some(pair) = &mut self.pair else { unreachable!("flows have no messages") };
        let before = bytes.saturating_sub(1) / self.payload;
        let packets = u32::try_from(before + 1).unwrap_or(u32::MAX);
        self.last_message = self.total;
        self.last_payload = bytes - before * self.payload;
        self.total = self.total.saturating_add(packets);
        pair.post(self.total, self.last_payload as u32, op, tag);
        self.message_end = pair.first_end();
        match self.machine.as_deref_mut() {
            Some(Machine::Repeat(repeat)) => repeat.extend(u64::from(packets)),
            Some(Machine::Tcp(flow)) => flow.machine.extend(packets),
            None => {}
        }
        self.total - 1
    }

    /// Whether a message of a queue pair is acknowledged as a whole, and nobody was told.
    #[inline(always)]
    pub(super) fn has_complete_message(&self) -> bool {
        self.message_end <= self.una
    }

    /// The oldest of these messages: its operation and its last packet.
    pub(super) fn complete_message(&mut self) -> Option<(u64, u32)> {
        let pair = self.pair.as_mut()?;
        let complete = pair.acknowledged(self.una);
        self.message_end = pair.first_end();
        complete
    }

    /// The end of the message of packet `seq`, and the payload of its last packet.
    #[inline(always)]
    fn end_of(&self, seq: u32) -> (u32, u64) {
        match &self.pair {
            Some(pair) if seq < self.last_message => pair.end_of(seq),
            _ => (self.total, self.last_payload),
        }
    }

    /// The last packet of a message says which one it ends.
    pub(super) fn address(&self, packet: &mut Packet, extras: &mut Extras) {
        if !packet.has(flags::LAST) {
            return;
        }
        if packet.extra == Packet::NO_EXTRA {
            packet.extra = extras.telemetry.start();
        }
        let message_end = self.pair.as_ref().and_then(|pair| pair.message_end_of(packet.seq));
        extras.telemetry.get_mut(packet.extra).set_ends(message_end);
    }

    /// From now on TCP decides what is sent.
    pub(super) fn use_tcp(&mut self, flow: TcpFlow) {
        self.fixed_window = 0;
        self.machine = Some(Box::new(Machine::Tcp(flow)));
    }

    /// TCP's side of the flow, if it has one.
    pub(super) fn tcp(&self) -> Option<&TcpFlow> {
        match self.machine.as_deref() {
            Some(Machine::Tcp(flow)) => Some(flow),
            _ => None,
        }
    }

    /// TCP's side of the flow, if it has one, to change it.
    pub(super) fn tcp_mut(&mut self) -> Option<&mut TcpFlow> {
        match self.machine.as_deref_mut() {
            Some(Machine::Tcp(flow)) => Some(flow),
            _ => None,
        }
    }

    /// Constant-rate flows are datagrams: no ACKs, no retransmission.
    #[inline]
    pub(crate) fn is_datagram(&self) -> bool {
        self.header.has(flags::DATAGRAM)
    }

    /// The priority of its packets.
    #[inline]
    pub(crate) fn priority(&self) -> Priority {
        self.header.priority
    }

    /// Whether it throws away what it produces while held.
    pub(crate) fn discards(&self) -> bool {
        self.is_datagram() && self.spec.while_held == WhileHeld::Discard
    }

    /// When the `n`-th packet of a constant-rate flow has been produced.
    pub(crate) fn produced_at(&self, n: u64) -> Time {
        let rate = self.spec.rate.expect("a constant-rate flow has a rate");
        self.spec.start.saturating_add(rate.time_for(Bytes::new(n.saturating_mul(self.payload))))
    }

    /// Whether a constant-rate flow has packets left to make.
    pub(crate) fn has_more_to_produce(&self) -> bool {
        self.produced < u64::from(self.total) + self.discarded
    }

    /// After a hold: a discarding source has only its latest packet left.
    pub(crate) fn skip_missed(&mut self, now: Time) {
        if !self.discards() {
            return;
        }
        let rate = self.spec.rate.expect("a constant-rate flow has a rate");
        let latest = rate.bytes_in(now.saturating_sub(self.spec.start)).get() / self.payload;
        // it makes no more than its flow has
        let latest = latest.min((u64::from(self.total) + self.discarded).saturating_sub(1));
        if latest > self.produced {
            let missed = latest - self.produced;
            self.discarded += missed;
            self.produced = latest;
            // The packets that were never sent are not part of the flow any more.
            self.total =
                self.total.saturating_sub(u32::try_from(missed).unwrap_or(u32::MAX)).max(self.nxt);
            self.next_time = self.produced_at(self.produced);
        }
    }

    /// Bytes of payload in flight.
    #[inline]
    fn in_flight(&self) -> u64 {
        u64::from(self.nxt - self.una) * self.payload
    }

    /// Whether it has a packet to send that its window allows, pace and holds aside.
    #[inline]
    pub(crate) fn has_data(&self) -> bool {
        if self.fixed_window != 0 {
            return self.nxt < self.total && self.nxt - self.una < self.fixed_window;
        }
        self.has_data_now()
    }

    /// [`Sender::has_data`] where the window changes or packets are sent again one by one.
    fn has_data_now(&self) -> bool {
        match self.machine.as_deref() {
            Some(Machine::Tcp(flow)) => return flow.machine.can_transmit(),
            // what is sent again is in flight already
            Some(Machine::Repeat(r)) if r.has_hole() || !r.has_next() => return r.has_hole(),
            _ => {}
        }
        if self.nxt >= self.total {
            return false;
        }
        if self.is_datagram() {
            return true;
        }
        let window = match self.window {
            WindowConfig::Unlimited => return true,
            WindowConfig::Bytes(w) => w,
            WindowConfig::FromCc => match self.cc.window() {
                Some(w) => w,
                None => return true,
            },
        };
        self.in_flight() < window.get()
    }

    /// The header of the flow, without what differs from packet to packet.
    pub(crate) fn header(&self) -> Packet {
        self.header
    }

    /// Packet `seq`, whose headers take `overhead` bytes.
    #[inline(always)]
    pub(crate) fn packet(&self, seq: u32, overhead: Bytes) -> Packet {
        let mut packet = self.header;
        packet.seq = seq;
        let (end, last_payload) = self.end_of(seq);
        let payload = if seq + 1 == end { last_payload } else { self.payload };
        packet.size = (payload + overhead.get()) as u16;
        packet.flags |= if seq == 0 { flags::FIRST } else { 0 };
        packet.flags |= if seq + 1 == end && !self.open_ended { flags::LAST } else { 0 };
        packet.flags |= if seq < self.highest { flags::RESENT } else { 0 };
        packet
    }

    /// Bytes of the frame that it would send now, whose headers take `overhead` bytes.
    pub(crate) fn next_frame(&self, overhead: Bytes) -> u64 {
        let payload = match self.machine.as_deref() {
            None => self.payload_of(self.nxt),
            Some(Machine::Tcp(flow)) => flow.machine.next_bytes().get(),
            Some(Machine::Repeat(repeat)) => {
                self.payload_of(repeat.peek().map_or(self.nxt, |seq| seq as u32))
            }
        };
        payload + overhead.get()
    }

    /// The number of the packet to send now; none if TCP decides.
    #[inline(always)]
    pub(crate) fn next_seq(&mut self) -> Option<u32> {
        match &mut self.machine {
            None => Some(self.nxt),
            Some(machine) => selective::next_seq(machine),
        }
    }

    /// Packet `seq`, a frame of `size` bytes, was sent at `now`. A constant-rate source makes
    /// its packets as it sends them, unless they wait in the single queue of a `fifo` NIC.
    #[inline(always)]
    pub(crate) fn sent(&mut self, seq: u32, now: Time, size: u64, fifo: bool, timers: &mut Timers) {
        self.packets += 1;
        self.retransmitted += u64::from(seq < self.highest);
        if let Some(sent_at) = &mut self.sent_at {
            if seq == self.nxt {
                sent_at.push_back(now);
            } else {
                selective::sent_again(sent_at, seq - self.una, now);
            }
        }
        self.nxt = self.nxt.max(seq + 1);
        self.highest = self.highest.max(self.nxt);
        self.last_frame = size;
        if !self.is_datagram() {
            if self.fixed_pace != 0 {
                self.next_time = now + Time::from_ps(size * u64::from(self.fixed_pace));
            } else {
                self.next_time = now + self.cc.rate().time_for(Bytes::new(size));
                if !self.cc.is_fixed() {
                    self.cc.on_sent(now, size, timers);
                }
            }
        } else if !fifo {
            self.produced += 1;
            self.next_time = self.produced_at(self.produced);
        }
    }

    /// Go-back-N: an ACK or NACK came. How many packets are newly acknowledged, and the
    /// round-trip time of the latest of them, where that is kept.
    #[inline(always)]
    pub(crate) fn on_answer(&mut self, p: &Packet, now: Time) -> (u32, Time) {
        let newly = p.seq.saturating_sub(self.una);
        let rtt = self.sent_at.as_mut().map_or(Time::ZERO, |sent_at| {
            let oldest = sent_at.drain(..(newly as usize).min(sent_at.len())).next_back();
            oldest.map_or(Time::ZERO, |t| now - t)
        });
        self.una = self.una.max(p.seq);
        if p.kind == PacketKind::Nack {
            self.nxt = self.una;
            if let Some(sent_at) = &mut self.sent_at {
                sent_at.clear();
            }
        } else {
            self.nxt = self.nxt.max(self.una);
        }
        (newly, rtt)
    }

    /// Payload of packet `seq`.
    #[inline]
    pub(crate) fn payload_of(&self, seq: u32) -> u64 {
        let (end, last_payload) = self.end_of(seq);
        if seq + 1 == end { last_payload } else { self.payload }
    }

    /// Payload that is not acknowledged; none of a flow without an end.
    pub(crate) fn unacknowledged(&self) -> Bytes {
        let size = self.spec.size;
        match &self.pair {
            Some(pair) => Bytes::new(pair.bytes_from(self.una, self.payload)),
            None if size == Bytes::MAX => Bytes::ZERO,
            None => size.saturating_sub(Bytes::new(u64::from(self.una) * self.payload)),
        }
    }

    /// A hold of the flow itself begins or ends at `now`, when its priority has been held for
    /// `priority` in all.
    pub(crate) fn note_hold(&mut self, state: HoldState, priority: Time, now: Time) {
        if state.is_held() {
            self.hold_clock.start(now);
            self.covered_from = priority;
        } else {
            self.hold_clock.stop(now);
            self.priority_stamp += priority - self.covered_from;
        }
    }

    /// For how long it was held until `now`, by itself or with its priority, which has been held
    /// for `priority` in all.
    pub(crate) fn held_time(&self, priority: Time, now: Time) -> Time {
        let alone = if self.hold_clock.running() { self.covered_from } else { priority };
        self.hold_clock.read(now) + alone.saturating_sub(self.priority_stamp)
    }

    /// What probes are told of it; a datagram of a single-queue NIC stands in that queue.
    #[cold]
    pub(super) fn sight(&self, slot: u32, fifo_datagram: bool, now: Time) -> FlowSight {
        let queued = fifo_datagram && self.produced > self.packets + self.discarded;
        let later = self.next_time > now;
        let wait = match () {
            () if queued => FlowWait::Turn,
            () if self.is_datagram() && later => FlowWait::Production(self.next_time),
            () if !self.has_data() => FlowWait::Window,
            () if later => FlowWait::Pace(self.next_time),
            () => FlowWait::Turn,
        };
        FlowSight {
            flow: self.spec.id,
            slot: QueueId(slot),
            port: PortId(self.port),
            priority: self.priority(),
            wait,
        }
    }

    /// An open-ended flow ends with what it has sent.
    pub(crate) fn close(&mut self) {
        if self.highest < self.total {
            self.total = self.highest;
            self.last_payload = self.payload;
        }
        match self.machine.as_deref_mut() {
            Some(Machine::Repeat(repeat)) => repeat.close(),
            Some(Machine::Tcp(flow)) => flow.machine.close(),
            None => {}
        }
    }

    /// Whether everything was sent and, where that is asked for, acknowledged.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.nxt >= self.total
            && (self.is_datagram() || self.una >= self.total)
            && self.pair.is_none()
    }
}

/// The window in packets, if it is the same throughout.
fn fixed_window(spec: &FlowSpec, cc: &Cc, nic: &NicConfig) -> u32 {
    let window = match nic.window {
        _ if spec.rate.is_some() => None,
        WindowConfig::Unlimited => None,
        WindowConfig::Bytes(window) => Some(window),
        WindowConfig::FromCc if cc.is_fixed() => cc.window(),
        WindowConfig::FromCc => return 0,
    };
    let packets = |window: Bytes| window.get().div_ceil(nic.payload.get());
    window.map_or(u32::MAX, |window| u32::try_from(packets(window)).unwrap_or(u32::MAX))
}

/// Picoseconds per byte, if they are the same throughout and a whole number.
fn fixed_pace(cc: &Cc) -> u32 {
    let pace = if cc.is_fixed() { cc.rate().ps_per_byte() } else { None };
    pace.and_then(|ps| u32::try_from(ps).ok()).unwrap_or(0)
}

fn header(spec: &FlowSpec, port: u16) -> Packet {
    let mut bits = 0;
    bits |= if spec.path.is_some() { flags::PINNED } else { 0 };
    bits |= if spec.high { flags::HIGH } else { 0 };
    bits |= if spec.rate.is_some() { flags::DATAGRAM } else { 0 };
    Packet {
        flow: spec.id,
        seq: 0,
        dst: spec.dst,
        wire_tag: 0,
        extra: Packet::NO_EXTRA,
        size: 0,
        ingress: PortId(port),
        kind: PacketKind::Data,
        priority: spec.priority,
        flags: bits,
        local_tag: 0,
    }
}

/// How many packets a flow has, and the payload of the last one.
fn packets(spec: &FlowSpec, payload: u64) -> (u32, u64) {
    let mut size = spec.size.get();
    if let (Some(rate), Some(stop)) = (spec.rate, spec.stop) {
        // what is produced before `stop`: the packet made at the start counts
        let span = stop.saturating_sub(spec.start).saturating_sub(Time::from_ps(1));
        size = size.min((rate.bytes_in(span).get() / payload + 1).saturating_mul(payload));
    }
    if size == u64::MAX {
        return (u32::MAX, payload);
    }
    let n = size.div_ceil(payload).max(1);
    let last = size - (n - 1) * payload;
    (u32::try_from(n).unwrap_or(u32::MAX), last)
}

#[cfg(test)]
mod tests;
