//! Two endpoints and a simulated clock: a NIC on each side of a wire that loses, repeats, delays
//! and marks packets.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use weir_cc::tcp::{Ack, Arrival, Data, Receiver, Segment, Sender, TcpParams};
use weir_core::rng::Stream;
use weir_core::{Bytes, Time};

/// What a wire does to packets, in percent, and how late it may deliver one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wire {
    pub(crate) loss: u64,
    pub(crate) repeat: u64,
    pub(crate) mark: u64,
    /// Extra delay of a packet: up to this, drawn for each.
    pub(crate) jitter: Time,
    /// The sender is held after a packet, for up to ten times the latency.
    pub(crate) hold: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The sender's wire is free.
    Free,
    SenderTimer,
    ReceiverTimer,
    Syn,
    SynAck,
    /// (number, payload, last, marked, reduced)
    Data(u32, u64, bool, bool, bool),
    /// (expected, echo)
    Ack(u32, bool),
}

/// What happened, for the tests to judge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// The segments the application got, in the order it got them.
    pub(crate) delivered: Vec<u32>,
    pub(crate) bytes: u64,
    pub(crate) sent: u64,
    pub(crate) resent: u64,
    pub(crate) timeouts: u64,
    pub(crate) acks: u64,
    pub(crate) finished_at: Time,
}

/// The two endpoints.
pub(crate) struct Pair {
    sender: Sender,
    receiver: Receiver,
    wire: Wire,
    random: Stream,
    now: Time,
    latency: Time,
    /// How long a segment occupies the sender's wire.
    serialisation: Time,
    free_at: Time,
    /// When the timers of sender and receiver fire next. As in a NIC they may fire early.
    timers: [Time; 2],
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
    arrived: BTreeSet<u32>,
    pub(crate) outcome: Transfer,
}

impl Pair {
    pub(crate) fn new(params: &TcpParams, size: u64, mss: u64, wire: Wire, seed: u64) -> Self {
        let latency = Time::from_us(50);
        let base_rtt = latency * 2;
        let (size, mss) = (Bytes::new(size), Bytes::new(mss));
        Self {
            sender: Sender::new(params, size, mss, base_rtt, Time::ZERO),
            receiver: Receiver::new(params),
            wire,
            random: Stream::new(seed, "wire", 0),
            now: Time::ZERO,
            latency,
            serialisation: Time::from_us(2),
            free_at: Time::ZERO,
            timers: [Time::NEVER; 2],
            events: BinaryHeap::new(),
            order: 0,
            arrived: BTreeSet::new(),
            outcome: Transfer::default(),
        }
    }

    fn push(&mut self, at: Time, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    /// Sends a packet: it arrives once, twice or never, in any order.
    fn carry(&mut self, event: Event) {
        let copies = if self.happens(self.wire.repeat) { 2 } else { 1 };
        for _ in 0..copies {
            if !self.happens(self.wire.loss) {
                let jitter = self.random.below(self.wire.jitter.as_ps() + 1);
                self.push(self.now + self.latency + Time::from_ps(jitter), event);
            }
        }
    }

    /// Lets the sender's NIC do what it can at `now`.
    fn settle(&mut self) {
        while self.now >= self.free_at && self.sender.can_transmit() {
            let segment = self.sender.poll_transmit(self.now).expect("it can transmit");
            self.transmit(segment);
            self.free_at = self.now + self.serialisation;
            if self.happens(self.wire.hold) {
                self.free_at += Time::from_ps(self.random.below(self.latency.as_ps() * 10));
            }
            self.push(self.free_at, Event::Free);
        }
        self.arm(0, self.sender.next_timeout(), Event::SenderTimer);
        self.arm(1, self.receiver.next_timeout(), Event::ReceiverTimer);
        self.check();
    }

    /// Sees to it that a timer fires at `at` or earlier.
    fn arm(&mut self, timer: usize, at: Option<Time>, event: Event) {
        if let Some(at) = at.filter(|&at| at < self.timers[timer]) {
            self.timers[timer] = at;
            self.push(at, event);
        }
    }

    fn transmit(&mut self, segment: Segment) {
        match segment {
            Segment::Syn { .. } => self.carry(Event::Syn),
            Segment::Data(Data { seq, bytes, last, resent, ect, cwr }) => {
                self.outcome.sent += 1;
                self.outcome.resent += u64::from(resent);
                assert!(!(resent && cwr), "only a new segment says reduced");
                let marked = ect && self.happens(self.wire.mark);
                self.carry(Event::Data(seq, bytes, last, marked, cwr));
            }
        }
    }

    /// What holds at any time.
    fn check(&self) {
        let s = &self.sender;
        assert!(s.una() <= s.nxt() && s.nxt() <= s.highest() && s.highest() <= s.total());
        assert!(s.window().get() > 0 && s.window().ssthresh() > 0);
        assert!(s.una() <= self.receiver.expected(), "acknowledged before it arrived");
        if let Some(alpha) = s.window().alpha() {
            assert!((0.0..=1.0).contains(&alpha), "{alpha}");
        }
        // It never waits for something that cannot come.
        assert!(s.is_finished() || s.can_transmit() || s.next_timeout().is_some());
    }

    fn on_data(&mut self, arrival: Arrival, bytes: u64) {
        let before = self.receiver.expected();
        let received = self.receiver.on_data(self.now, arrival);
        assert_eq!(received.new, self.arrived.insert(arrival.seq), "new once");
        if received.new {
            self.outcome.bytes += bytes;
        }
        for seq in before..self.receiver.expected() {
            assert!(self.arrived.contains(&seq), "{seq} delivered before it arrived");
            self.outcome.delivered.push(seq);
        }
        for ack in received.acks.into_iter().flatten() {
            self.on_ack_made(ack);
        }
    }

    fn on_ack_made(&mut self, ack: Ack) {
        self.outcome.acks += 1;
        self.carry(Event::Ack(ack.expected, ack.ece));
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Free => {}
            Event::SenderTimer => {
                self.timers[0] = Time::NEVER;
                self.outcome.timeouts += u64::from(self.sender.on_timeout(self.now));
            }
            Event::ReceiverTimer => {
                self.timers[1] = Time::NEVER;
                if let Some(ack) = self.receiver.on_timeout(self.now) {
                    self.on_ack_made(ack);
                }
            }
            Event::Syn => self.carry(Event::SynAck),
            Event::SynAck => self.sender.on_syn_ack(self.now),
            Event::Data(seq, bytes, last, ce, cwr) => {
                self.on_data(Arrival { seq, last, ce, cwr }, bytes);
            }
            Event::Ack(expected, ece) => {
                self.sender.on_ack(self.now, Ack { expected, ece });
            }
        }
    }

    /// Runs until the sender has everything acknowledged; `None` when that takes more than
    /// `steps` events.
    pub(crate) fn run(mut self, steps: u64) -> Option<Transfer> {
        self.settle();
        for _ in 0..steps {
            if self.sender.is_finished() {
                assert!(self.receiver.is_complete());
                self.outcome.finished_at = self.now;
                return Some(self.outcome);
            }
            let Reverse((at, _, event)) = self.events.pop().expect("something is always due");
            self.now = at;
            self.handle(event);
            self.settle();
        }
        None
    }
}
