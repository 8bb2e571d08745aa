//! The interface between a NIC and a flow's congestion control.

use std::fmt::Debug;
use weir_core::{Bytes, Rate, Time};

/// The most hops an INT stack can describe.
pub const MAX_HOPS: usize = 8;

/// What a flow's sender knows about its way to the receiver when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The speed of the sending NIC: the ceiling, and the rate flows start at.
    pub line_rate: Rate,
    /// The round-trip time without queueing, of this path or the largest of the network.
    pub base_rtt: Time,
    /// The bandwidth-delay product that windows are made of. Zero means that no window is known.
    pub bdp: Bytes,
    /// Payload bytes of a full packet.
    pub mtu: Bytes,
    /// Switches on the way (used by Swift's topology scaling).
    pub hops: u32,
}

/// What one switch wrote into a packet as it left, for algorithms with in-band telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct IntHop {
    /// When the packet left; wraps with packed telemetry (see [`crate::hpcc::Telemetry`]).
    pub time: Time,
    /// Bytes the port had sent before this packet; wraps with packed telemetry.
    pub tx_bytes: u64,
    /// Bytes queued at the port behind this packet.
    pub queue: u64,
    /// Speed of the port.
    pub rate: Rate,
    /// Which port: any number that tells the ports of a network apart, or [`IntHop::NO_PORT`].
    pub port: u32,
}

impl IntHop {
    /// The port is not known.
    pub const NO_PORT: u32 = u32::MAX;
}

/// An acknowledgement, positive or negative, as the congestion control sees it.
///
/// Sequence numbers are bytes of the flow. The NIC does its own work first (raising `snd_una`,
/// going back on a NACK) and then reports the state *after* it.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Now.
    pub now: Time,
    /// Everything below has arrived.
    pub seq: u64,
    /// The next byte the sender will send.
    pub snd_nxt: u64,
    /// Bytes acknowledged for the first time by this packet.
    pub newly_acked: u64,
    /// The data packet it answers carried a congestion mark.
    pub ecn: bool,
    /// Time since the data packet it answers was sent; zero unless the algorithm asks for it
    /// ([`Needs::rtt`]).
    pub rtt: Time,
    /// What the switches on the forward path wrote, first hop first; empty unless the algorithm
    /// asks for it ([`Needs::telemetry`]). A NIC that received more hops than it can tell apart
    /// must not report the stack.
    pub hops: &'a [IntHop],
}

/// What an algorithm reacts to. NICs and switches provide what is asked for here and nothing else,
/// because each of these costs time per packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Congestion marks that switches set: [`Ack::ecn`], or [`CongestionControl::on_cnp`].
    pub marks: bool,
    /// The round-trip time of each acknowledged packet: [`Ack::rtt`].
    pub rtt: bool,
    /// The records that every switch on the way writes: [`Ack::hops`].
    pub telemetry: bool,
}

impl Needs {
    /// No feedback at all.
    pub const NOTHING: Self = Self { marks: false, rtt: false, telemetry: false };
    /// Congestion marks only.
    pub const MARKS: Self = Self { marks: true, ..Self::NOTHING };
    /// The round-trip time only.
    pub const RTT: Self = Self { rtt: true, ..Self::NOTHING };
    /// Telemetry only.
    pub const TELEMETRY: Self = Self { telemetry: true, ..Self::NOTHING };
}

/// What an event did to the pace of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Nothing.
    Same,
    /// The rate may have changed; it acts from the next packet sent.
    NextPacket,
    /// The rate may have changed and the gap after the packet sent last is re-timed: what is left
    /// of it is stretched or shrunk as if that packet had been paced at the new rate.
    Retime,
}

/// Which of a flow's timers. The names are those of DCQCN; your own algorithm may use each
/// for what it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TimerKind {
    /// DCQCN: decay or raise of alpha.
    Alpha,
    /// DCQCN: look whether a congestion notification came.
    Decrease,
    /// DCQCN: raise the rate.
    Increase,
}

impl TimerKind {
    /// How many kinds there are.
    pub const COUNT: usize = 3;
    /// All kinds.
    pub const ALL: [Self; Self::COUNT] = [Self::Alpha, Self::Decrease, Self::Increase];

    /// The kind as an index below [`TimerKind::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Timers an algorithm wants, in the order it asked for them.
///
/// Create one, hand it to every call, and [`drain`](Timers::drain) it after each. A kind that is
/// armed again before it fired replaces the earlier request: the earlier one must not fire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timers {
    requests: [Option<(TimerKind, Time)>; TimerKind::COUNT],
    len: u8,
}

impl Timers {
    /// No requests.
    pub const fn new() -> Self {
        Self { requests: [None; TimerKind::COUNT], len: 0 }
    }

    /// Asks for `kind` to fire at `at`.
    ///
    /// # Panics
    /// When one call arms more timers than there are kinds: each kind needs at most one.
    #[inline]
    pub fn arm(&mut self, kind: TimerKind, at: Time) {
        self.requests[usize::from(self.len)] = Some((kind, at));
        self.len += 1;
    }

    /// Whether nothing was asked for.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the requests out, oldest first.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = (TimerKind, Time)> + use<> {
        std::mem::take(self).requests.into_iter().flatten()
    }
}

/// A flow's congestion control at its sender.
///
/// The NIC calls these when the thing happened, at a non-decreasing `now`, and reads
/// [`rate`](Self::rate) and [`window`](Self::window) afterwards. All `on_` hooks but
/// [`on_ack`](Self::on_ack) default to doing nothing, and calling them when an algorithm does not
/// need them is harmless.
pub trait CongestionControl: Debug + Send {
    /// What the algorithm reacts to. What is not asked for here is not reported: see [`Ack`].
    fn needs() -> Needs
    where
        Self: Sized;

    /// An ACK or NACK of this flow arrived. Called for every one, also for the one that completes
    /// the flow.
    fn on_ack(&mut self, ack: &Ack<'_>, timers: &mut Timers) -> Pacing;

    /// A congestion notification packet of this flow arrived (where receivers send them, see
    /// [`CcParams::cnp_interval`](crate::CcParams::cnp_interval)).
    fn on_cnp(&mut self, now: Time, timers: &mut Timers) -> Pacing {
        let _ = (now, timers);
        Pacing::Same
    }

    /// A packet of `frame_bytes` was sent. Called after its gap was computed: what it changes acts
    /// from the next packet.
    fn on_sent(&mut self, now: Time, frame_bytes: u64, timers: &mut Timers) -> Pacing {
        let _ = (now, frame_bytes, timers);
        Pacing::Same
    }

    /// The timer `kind`, armed through [`Timers::arm`] for `now`, fired.
    fn on_timer(&mut self, kind: TimerKind, now: Time, timers: &mut Timers) -> Pacing {
        let _ = (kind, now, timers);
        Pacing::Same
    }

    /// The retransmission timer of the flow expired.
    fn on_timeout(&mut self, now: Time) -> Pacing {
        let _ = now;
        Pacing::Same
    }

    /// The flow leaves by a NIC of this speed from now on (its host has several, and a link
    /// failed). Limits that an algorithm took from the first NIC stay, unless it says otherwise.
    /// Only `weir-ns3` calls this: in `weir-sim` a flow keeps its NIC.
    fn on_nic(&mut self, line_rate: Rate) {
        let _ = line_rate;
    }

    /// The pace: after a packet of L frame bytes the next one starts `8 L / rate` later.
    fn rate(&self) -> Rate;

    /// The most bytes in flight; `None` is no limit. A packet may be sent while
    /// `snd_nxt - snd_una` is below the window: a whole packet need not fit.
    fn window(&self) -> Option<Bytes>;
}
