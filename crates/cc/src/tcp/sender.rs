//! The sending side: what may be sent, what an ACK means, and the retransmission timer.

use super::rtt::Rto;
use super::window::CongestionWindow;
use super::{Ack, EcnMode, Handshake, TcpParams};
use weir_core::{Bytes, Time};

/// A data segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its number within the flow, from 0.
    pub seq: u32,
    /// Its payload.
    pub bytes: u64,
    /// It is the last of the flow.
    pub last: bool,
    /// It was sent before.
    pub resent: bool,
    /// Switches may mark it. Otherwise they must not: it is a retransmission under RFC 3168
    /// (section 6.1.5), or ECN is off.
    pub ect: bool,
    /// The sender has reduced its window since it said so last (RFC 3168, section 6.1.2).
    pub cwr: bool,
}

/// What a sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Opens the connection; never ECN-capable.
    Syn {
        /// It was sent before.
        resent: bool,
    },
    /// Payload.
    Data(Data),
}

/// What an ACK acknowledged for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// Segments.
    pub segments: u32,
    /// Their payload.
    pub bytes: u64,
}

/// How far the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// A SYN is to be sent; `attempts` were.
    SynDue { attempts: u32 },
    /// The last SYN was sent at this time.
    SynSent { attempts: u32, at: Time },
    /// Data may be sent from this time.
    Until(Time),
    /// Data may be sent.
    Done,
}

/// Recovery from a loss; it ends when everything below `until` is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// NewReno fast recovery (RFC 6582).
    Recovery {
        until: u32,
        partial_ack_seen: bool,
    },
    /// After a timeout: slow start from the first segment missing.
    Loss {
        until: u32,
    },
}

/// The sending side of a flow.
///
/// Segments `una..nxt` are in flight. `highest` is one past the highest segment ever sent; it is
/// above `nxt` only after a timeout, while segments are sent again.
#[derive(Clone, Debug)]
pub struct Sender {
    una: u32,
    nxt: u32,
    highest: u32,
    total: u32,
    mss: u64,
    /// Payload of the last segment.
    last_bytes: u64,
    window: CongestionWindow,
    receive_window: u64,
    opening: Opening,
    phase: Phase,
    /// Segment `una` is sent next, whatever the window.
    resend_una: bool,
    dup_acks: u32,
    dup_threshold: Option<u32>,
    /// `highest` when the last recovery began: duplicate ACKs up to there may stem from what was
    /// sent again (RFC 6582, section 3.2, step 1).
    recover: Option<u32>,
    ecn: EcnMode,
    /// The next new segment says "reduced".
    cwr_due: bool,
    /// No further cut for marks until a segment beyond this one is acknowledged.
    cut_until: Option<u32>,
    rto: Rto,
    deadline: Option<Time>,
    /// The segment whose round trip is being timed, and when it was sent.
    timed: Option<(u32, Time)>,
    /// `una` at the last timeout.
    timed_out: Option<u32>,
    /// The most bytes in flight since `round_end` was set: growth needs a window that was used.
    peak: u64,
    round_end: u32,
    base_rtt: Time,
    rto_fallback: Time,
    counts: Counts,
}

/// How often a sender reacted to the network; timeouts are counted by the owner of the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The window was cut for ECN marks.
    pub mark_cuts: u64,
    /// Fast retransmit began.
    pub fast_retransmits: u64,
}

impl Sender {
    /// A flow of `size` bytes (`Bytes::MAX`: open-ended) in segments of `mss` bytes that starts
    /// at `now` on a path with the round-trip time `base_rtt` (used by [`Handshake::Delay`]).
    ///
    /// # Panics
    /// When `mss` is zero.
    pub fn new(params: &TcpParams, size: Bytes, mss: Bytes, base_rtt: Time, now: Time) -> Self {
        let mss = mss.get();
        assert!(mss > 0, "a segment has at least one byte");
        let (total, last_bytes) = segments(size.get(), mss);
        Self {
            una: 0,
            nxt: 0,
            highest: 0,
            total,
            mss,
            last_bytes,
            window: CongestionWindow::new(params, mss),
            receive_window: params.receive_window.get(),
            opening: match params.handshake {
                Handshake::None => Opening::Done,
                Handshake::Delay => Opening::Until(now.saturating_add(base_rtt)),
                Handshake::Packets => Opening::SynDue { attempts: 0 },
            },
            phase: Phase::Open,
            resend_una: false,
            dup_acks: 0,
            dup_threshold: params.dup_threshold.map(|n| n.get()),
            recover: None,
            ecn: params.ecn,
            cwr_due: false,
            cut_until: None,
            rto: Rto::new(params),
            deadline: None,
            timed: None,
            timed_out: None,
            peak: 0,
            round_end: 0,
            base_rtt,
            rto_fallback: params.rto_fallback,
            counts: Counts::default(),
        }
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) has a segment. Changes with every other
    /// call, and with time only where [`next_timeout`](Self::next_timeout) says so.
    pub fn can_transmit(&self) -> bool {
        match self.opening {
            Opening::SynDue { .. } => true,
            Opening::SynSent { .. } | Opening::Until(_) => false,
            Opening::Done => self.next_segment().is_some(),
        }
    }

    /// Payload of the segment that [`poll_transmit`](Self::poll_transmit) would give; zero for a
    /// SYN and where there is none.
    pub fn next_bytes(&self) -> Bytes {
        let next = match self.opening {
            Opening::Done => self.next_segment(),
            _ => None,
        };
        Bytes::new(next.map_or(0, |seq| self.bytes_of(seq)))
    }

    /// The segment that the wire takes at `now`, or `None` until an ACK or a timeout. Call it
    /// again as soon as the wire can take another one; look at
    /// [`next_timeout`](Self::next_timeout) afterwards.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        match self.opening {
            Opening::SynDue { attempts } => {
                self.opening = Opening::SynSent { attempts: attempts + 1, at: now };
                self.deadline = Some(now.saturating_add(self.rto.timeout()));
                return Some(Segment::Syn { resent: attempts > 0 });
            }
            Opening::SynSent { .. } | Opening::Until(_) => return None,
            Opening::Done => {}
        }
        let seq = self.next_segment()?;
        self.resend_una = false;
        let resent = seq < self.highest;
        if resent {
            // Karn: no sample of anything that a retransmission may have acknowledged.
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((seq, now));
        }
        self.nxt = self.nxt.max(seq + 1);
        self.highest = self.highest.max(self.nxt);
        self.peak = self.peak.max(self.flight());
        // RFC 6298, 5.1
        self.deadline.get_or_insert(now.saturating_add(self.rto.timeout()));
        let cwr = !resent && std::mem::take(&mut self.cwr_due);
        Some(Segment::Data(Data {
            seq,
            bytes: self.bytes_of(seq),
            last: seq + 1 == self.total,
            resent,
            ect: match self.ecn {
                EcnMode::Off => false,
                EcnMode::Rfc3168 => !resent,
                EcnMode::Dctcp => true,
            },
            cwr,
        }))
    }

    /// The segment to send next, if the window has room for it.
    fn next_segment(&self) -> Option<u32> {
        if self.resend_una {
            return Some(self.una);
        }
        let window = self.window.get().min(self.receive_window).max(self.mss);
        let fits = self.nxt < self.total && self.flight() + self.bytes_of(self.nxt) <= window;
        fits.then_some(self.nxt)
    }

    /// The SYN-ACK arrived: data may be sent. A second one changes nothing.
    pub fn on_syn_ack(&mut self, now: Time) {
        let attempts = match self.opening {
            Opening::SynSent { attempts, at } => {
                if attempts == 1 {
                    self.rto.sample(now - at);
                }
                attempts
            }
            // The timer has expired and the SYN is not sent again yet: the first one arrived.
            Opening::SynDue { attempts } if attempts > 0 => attempts + 1,
            _ => return,
        };
        if attempts > 1 {
            // RFC 6298, 5.7; RFC 5681, section 3.1
            self.rto.start_over(self.rto_fallback);
            self.window.collapse();
        }
        self.opening = Opening::Done;
        self.deadline = None;
    }

    /// An ACK arrived. Afterwards look at [`can_transmit`](Self::can_transmit),
    /// [`next_timeout`](Self::next_timeout) and [`is_finished`](Self::is_finished).
    pub fn on_ack(&mut self, now: Time, ack: Ack) -> Acked {
        // An old one, overtaken by a later ACK, or one for what was never sent.
        if ack.expected < self.una || ack.expected > self.highest {
            return Acked::default();
        }
        let acked = Acked {
            segments: ack.expected - self.una,
            bytes: self.bytes_between(self.una, ack.expected),
        };
        let flight = self.flight();
        let ece = ack.ece && self.ecn != EcnMode::Off;
        if acked.segments > 0 {
            self.advance(now, ack.expected, acked.bytes, ece, flight);
        } else if self.una < self.nxt {
            self.on_duplicate();
        }
        if ece {
            self.on_echo();
        }
        acked
    }

    /// Everything below `expected` arrived.
    fn advance(&mut self, now: Time, expected: u32, bytes: u64, ece: bool, flight: u64) {
        self.una = expected;
        // After a timeout an ACK may cover what was to be sent again.
        self.nxt = self.nxt.max(self.una);
        self.resend_una = false;
        self.dup_acks = 0;
        if let Some((seq, at)) = self.timed
            && seq < self.una
        {
            self.timed = None;
            self.rto.sample(now - at);
        }
        self.window.count_marks(bytes, if ece { bytes } else { 0 }, self.una, self.nxt);
        if self.una > self.round_end {
            self.round_end = self.nxt;
            self.peak = flight;
        }
        let mut restart = true;
        match self.phase {
            Phase::Open => self.grow(bytes, u64::MAX, ece),
            Phase::Loss { until } => {
                // RFC 3465, section 2.3: an ACK may cover much that arrived before the timeout.
                self.grow(bytes, self.mss, ece);
                if self.una >= until {
                    self.phase = Phase::Open;
                }
            }
            Phase::Recovery { until, .. } if self.una >= until => {
                self.window.leave_recovery(self.flight());
                self.phase = Phase::Open;
            }
            Phase::Recovery { until, partial_ack_seen } => {
                self.window.deflate(bytes);
                self.resend_una = true;
                // RFC 6582, section 3.2: only the first partial ACK restarts the timer.
                restart = !partial_ack_seen;
                self.phase = Phase::Recovery { until, partial_ack_seen: true };
            }
        }
        // RFC 6298, 5.2 and 5.3
        if self.una == self.nxt {
            self.deadline = None;
        } else if restart {
            self.deadline = Some(now.saturating_add(self.rto.timeout()));
        }
    }

    /// Raises the window for `bytes` acknowledged, unless the ACK echoes a mark (RFC 3168, section
    /// 6.1.2) or the window was not what limited the sender (RFC 7661, section 4.1): a paused
    /// flow must not earn a window that it never filled.
    fn grow(&mut self, bytes: u64, limit: u64, ece: bool) {
        let used = if self.window.in_slow_start() {
            self.window.get() < self.peak.saturating_mul(2)
        } else {
            self.window.get() < self.peak + self.mss
        };
        if used && !ece {
            self.window.grow(bytes, limit);
        }
    }

    /// An ACK acknowledged nothing new while something is in flight.
    fn on_duplicate(&mut self) {
        self.dup_acks = self.dup_acks.saturating_add(1);
        match self.phase {
            Phase::Recovery { .. } => self.window.inflate(),
            Phase::Loss { .. } => {}
            Phase::Open => {
                let enough = Some(self.dup_acks) == self.dup_threshold;
                if enough && self.recover.is_none_or(|recover| self.una > recover) {
                    self.enter_recovery();
                }
            }
        }
    }

    /// Fast retransmit (RFC 6582, section 3.2, step 2).
    fn enter_recovery(&mut self) {
        // RFC 3168, section 6.1.2: once per window, whether for marks or losses. With DCTCP a cut
        // for marks may have been small: a loss is answered in full (RFC 8257, section 3.5).
        if !self.was_cut() || self.ecn == EcnMode::Dctcp {
            self.window.cut_threshold(self.flight());
        }
        self.window.enter_recovery(self.dup_acks);
        self.counts.fast_retransmits += 1;
        self.phase = Phase::Recovery { until: self.highest, partial_ack_seen: false };
        self.recover = Some(self.highest);
        self.resend_una = true;
        self.reduced();
    }

    /// A mark was echoed: cuts the window, once per window of data.
    fn on_echo(&mut self) {
        if self.was_cut() || self.phase != Phase::Open {
            return;
        }
        self.window.cut_for_mark();
        self.counts.mark_cuts += 1;
        self.reduced();
    }

    /// Whether the window was cut for something in the present window of data. An ACK of exactly
    /// what was sent before the cut cannot know of it: the first segment after it says "reduced".
    fn was_cut(&self) -> bool {
        self.cut_until.is_some_and(|until| self.una <= until)
    }

    /// The window was reduced, for whatever reason.
    fn reduced(&mut self) {
        self.cut_until = Some(self.highest);
        self.cwr_due = self.ecn != EcnMode::Off;
    }

    /// When to call [`on_timeout`](Self::on_timeout). It moves with every ACK; a NIC may leave its
    /// own timer at an earlier time and ask again when that fires.
    pub fn next_timeout(&self) -> Option<Time> {
        match self.opening {
            Opening::Until(at) => Some(at),
            _ => self.deadline,
        }
    }

    /// The time of [`next_timeout`](Self::next_timeout) has come. Whether it was a retransmission
    /// timeout; calling it early does nothing. Afterwards
    /// [`poll_transmit`](Self::poll_transmit) has a segment, and the timer starts again when that
    /// is sent: a flow that is held cannot time out twice for one transmission.
    pub fn on_timeout(&mut self, now: Time) -> bool {
        if self.next_timeout().is_none_or(|at| now < at) {
            return false;
        }
        match self.opening {
            Opening::Until(_) => {
                self.opening = Opening::Done;
                self.rto.sample(self.base_rtt);
                return false;
            }
            Opening::SynSent { attempts, .. } => self.opening = Opening::SynDue { attempts },
            Opening::SynDue { .. } | Opening::Done => self.on_data_timeout(),
        }
        self.deadline = None;
        self.rto.back_off();
        true
    }

    fn on_data_timeout(&mut self) {
        // RFC 5681, section 3.1: the threshold is held while the same segment times out again.
        if self.timed_out != Some(self.una) {
            self.window.cut_threshold(self.flight());
        }
        self.timed_out = Some(self.una);
        self.window.collapse();
        self.phase = Phase::Loss { until: self.highest };
        self.recover = Some(self.highest);
        self.nxt = self.una;
        self.resend_una = false;
        self.dup_acks = 0;
        self.timed = None;
        self.peak = 0;
        self.reduced();
    }

    /// An open-ended flow ends with what was sent so far.
    pub fn close(&mut self) {
        self.total = self.highest;
        self.last_bytes = self.mss;
    }

    /// So many more segments follow on a connection that was [closed](Self::close) or extended
    /// before. They may be shorter than the largest; the window counts them as full ones.
    pub fn extend(&mut self, segments: u32) {
        self.total = self.total.saturating_add(segments);
        self.last_bytes = self.mss;
    }

    /// Whether everything is acknowledged.
    pub fn is_finished(&self) -> bool {
        self.una >= self.total
    }

    fn bytes_of(&self, seq: u32) -> u64 {
        if seq + 1 == self.total { self.last_bytes } else { self.mss }
    }

    /// Payload of segments `from..to`.
    fn bytes_between(&self, from: u32, to: u32) -> u64 {
        let full = u64::from(to - from) * self.mss;
        if to == self.total && to > from { full - self.mss + self.last_bytes } else { full }
    }

    /// Bytes in flight.
    pub fn flight(&self) -> u64 {
        self.bytes_between(self.una, self.nxt)
    }

    /// The first segment not acknowledged.
    pub fn una(&self) -> u32 {
        self.una
    }

    /// The next segment to send, retransmissions of [`una`](Self::una) aside.
    pub fn nxt(&self) -> u32 {
        self.nxt
    }

    /// One past the highest segment ever sent.
    pub fn highest(&self) -> u32 {
        self.highest
    }

    /// How many segments the flow has; `u32::MAX` while open-ended.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// The congestion window.
    pub fn window(&self) -> &CongestionWindow {
        &self.window
    }

    /// The round-trip time estimate and the retransmission timeout.
    pub fn rto(&self) -> &Rto {
        &self.rto
    }

    /// How often it reacted to marks and duplicate ACKs.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether the connection is open: data may be sent.
    pub fn is_open(&self) -> bool {
        self.opening == Opening::Done
    }

    /// Whether fast recovery is under way.
    pub fn in_recovery(&self) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
    }
}

/// How many segments `size` bytes are, and the payload of the last one. Nothing to send is one
/// segment without payload, as in go-back-N.
fn segments(size: u64, mss: u64) -> (u32, u64) {
    if size == u64::MAX {
        return (u32::MAX, mss);
    }
    let n = size.div_ceil(mss).max(1);
    (u32::try_from(n).unwrap_or(u32::MAX), size - (n - 1) * mss)
}
