//! What a run is made of, resolved: every number a model uses, and nothing to look up.

mod balance;
mod check;
mod faults;
mod headroom;
mod receivers;

pub use crate::probe::ProbeConfig;
pub use balance::Balance;
pub use faults::{ControlFault, FaultKind, FaultPick, MessageKind};
pub use headroom::{Hop, dynamic_headroom, headroom};
pub use receivers::SlowReceiver;

use weir_cc::ecn::Marking;
use weir_cc::tcp::TcpParams;
use weir_cc::{CcKind, CcParams};
use weir_core::{Bytes, LinkId, NodeId, Priority, PrioritySet, Rate, Ratio, Response, Time};
use weir_fc::{Cell, EgressThresholds, OnFull, PrioritySchedule, SchemeInfo, StageLimits, Values};

/// The settings of one run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Names all random streams.
    pub seed: u64,
    /// Wires.
    pub link: LinkConfig,
    /// Switches.
    pub switch: SwitchConfig,
    /// Hosts.
    pub nic: NicConfig,
    /// The flow control scheme.
    pub scheme: Scheme,
    /// The congestion control.
    pub cc: CcParams,
    /// TCP, where hosts use it ([`Reliability::Tcp`]).
    pub tcp: TcpParams,
    /// How paths are chosen.
    pub routing: Routing,
    /// How packets are spread over paths that are equally good.
    pub balance: Balance,
    /// Paths that flows may name by index: the nodes from source to destination.
    pub paths: Vec<Vec<NodeId>>,
    /// Links that fail and recover.
    pub failures: Vec<LinkFailure>,
    /// Control frames that are lost, late or effective twice.
    pub faults: Vec<ControlFault>,
    /// Hosts that take data in slowly; one of each host at most.
    pub receivers: Vec<SlowReceiver>,
    /// Time from a failure or recovery to the change of routes.
    pub convergence: Time,
    /// When to stop.
    pub stop: Stop,
    /// What to record beyond the totals.
    pub probes: ProbeConfig,
    /// How to compute it; results do not depend on this.
    pub engine: EngineConfig,
    /// Whether switches and NICs may take shortcuts: spare work whose result is known beforehand.
    /// Results do not depend on this either; tests compare both.
    pub shortcuts: bool,
}

impl Config {
    /// A run of `scheme` with the defaults of everything else: seed 1, no congestion control, all
    /// shortest paths, no failures, until the network has drained.
    pub fn new(scheme: impl Into<Scheme>) -> Self {
        Self {
            seed: 1,
            link: LinkConfig::default(),
            switch: SwitchConfig::default(),
            nic: NicConfig::default(),
            scheme: scheme.into(),
            cc: CcParams::new(CcKind::None),
            tcp: TcpParams::default(),
            routing: Routing::default(),
            balance: Balance::default(),
            paths: Vec::new(),
            failures: Vec::new(),
            faults: Vec::new(),
            receivers: Vec::new(),
            convergence: Time::ZERO,
            stop: Stop::Drained,
            probes: ProbeConfig::default(),
            engine: EngineConfig::default(),
            shortcuts: true,
        }
    }
}

/// Which engine moves the network. Never changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineConfig {
    /// What suits the network, on at most this many threads: as many as there is enough work
    /// for in each window.
    Auto {
        /// The most threads.
        threads: usize,
    },
    /// One node at a time in order of time, each as far as the lookahead allows.
    Sequential,
    /// One instant at a time: slow and plain, the reference for the others.
    Stepwise,
    /// Sweeps over all nodes on exactly this many threads (fewer if the network has fewer
    /// racks).
    Window {
        /// How many threads.
        threads: usize,
    },
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self::Auto { threads: 1 }
    }
}

/// A flow control scheme with its parameters.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// Which.
    pub info: &'static SchemeInfo,
    /// What was given for its parameters.
    pub values: Values,
}

impl From<&'static SchemeInfo> for Scheme {
    /// The scheme with the defaults of all its parameters.
    fn from(info: &'static SchemeInfo) -> Self {
        Self { info, values: Values::new() }
    }
}

/// Wires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// Bytes each frame costs on the wire beyond its own: preamble, start delimiter and gap.
    pub overhead: Bytes,
    /// Time between the arrival of a control frame and its effect.
    pub response: Response,
    /// Probability that a bit is received wrong; a frame with a wrong bit is dropped.
    pub bit_error_rate: f64,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self { overhead: Bytes::new(20), response: Response::NONE, bit_error_rate: 0.0 }
    }
}

/// Most bytes of one ingress (port, priority) under static thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngressLimit {
    /// What losslessness needs: `xoff + (frame - 1) + headroom` (see [`headroom`]) under a scheme
    /// that pauses at `xoff`, a frame more under one that slows down, no limit under others (see
    /// [`IngressBound`]).
    ///
    /// [`IngressBound`]: weir_fc::IngressBound
    Lossless,
    /// No limit.
    Unlimited,
    /// This many bytes.
    Bytes(Bytes),
}

/// How a switch's memory is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdConfig {
    /// One tail-drop pool.
    Pool,
    /// Fixed pause and resume thresholds per ingress (port, priority).
    Static {
        /// Pause at or above.
        xoff: Bytes,
        /// Resume at or below.
        xon: Bytes,
        /// Most bytes.
        limit: IngressLimit,
    },
    /// Static thresholds that follow the speed of each port, in proportion to `per`; `xoff` is at
    /// least ten of the largest frames. The limit is what losslessness needs.
    PerSpeed {
        /// Pause at or above, on ports of the speed `per`.
        xoff: Bytes,
        /// Resume at or below.
        xon: Bytes,
        /// The speed for which these are.
        per: Rate,
    },
    /// Dynamic thresholds: alpha times what is left of the shared pool.
    Dynamic {
        /// alpha = 2^-shift for ports at the speed of the slowest; faster ports get alpha
        /// doubled per doubling of the speed, up to 1 or to that of the slowest.
        shift: i8,
        /// Reserved per (port, lossless priority).
        reserve: Bytes,
        /// Resume this far below the threshold.
        resume_offset: Bytes,
        /// Headroom per (port, lossless priority); `None` computes it from the link.
        headroom: Option<Bytes>,
    },
}

impl ThresholdConfig {
    /// The OFC paper's thresholds, for 40 Gb/s, at the speed of ports.
    pub const AUTO: Self = Self::PerSpeed {
        xoff: Bytes::from_kb(75),
        xon: Bytes::from_kb(45),
        per: Rate::from_gbps(40),
    };

    /// The thresholds of a port of this speed; `frame` is the largest one.
    pub fn at(self, port: Rate, frame: Bytes) -> Self {
        let Self::PerSpeed { xoff, xon, per } = self else { return self };
        let scaled = |of: u64, to: u64, by: u64| {
            let product = u128::from(of) * u128::from(to) / u128::from(by.max(1));
            u64::try_from(product).unwrap_or(u64::MAX)
        };
        let high = scaled(xoff.get(), port.as_bps(), per.as_bps());
        let high = high.max(frame.get().saturating_mul(10));
        let low = scaled(high, xon.get(), xoff.get());
        Self::Static { xoff: Bytes::new(high), xon: Bytes::new(low), limit: IngressLimit::Lossless }
    }
}

/// How marking thresholds depend on the port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnScale {
    /// The thresholds are for ports of this speed, and in proportion for others.
    pub per: Option<Rate>,
    /// They are lowered where a queue would otherwise be paused before it is marked.
    pub before_pause: bool,
}

/// When a switch decides whether to mark a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnAt {
    /// When it leaves its queue, by what it leaves behind there.
    #[default]
    Dequeue,
    /// When it joins its queue, by what it finds there.
    Enqueue,
}

/// ECN marking at egress queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnConfig {
    /// No marks at or below.
    pub kmin: Bytes,
    /// All are marked above.
    pub kmax: Bytes,
    /// Marking probability just below `kmax`.
    pub pmax: Ratio,
}

impl EcnConfig {
    /// The rule by which a port marks.
    pub fn marking(self) -> Marking {
        Marking { kmin: self.kmin.get(), kmax: self.kmax.get(), pmax: self.pmax.as_f64() }
    }
}

/// What the watchdog does with a stuck queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Drop what is queued and what comes.
    Drop,
    /// Ignore the pause.
    Forward,
    /// Only count it.
    Alert,
}

/// The PFC watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogConfig {
    /// A priority that is held this long without interruption is stuck.
    pub detect: Time,
    /// Normal operation resumes after this time without a hold.
    pub restore: Time,
    /// What to do while it is stuck.
    pub action: WatchdogAction,
}

/// Where the latency of a pipelined switch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayAt {
    /// In front of the processor: a packet may be processed this long after its arrival.
    Before,
    /// Behind it: a packet is put into its egress queue this long after it was processed.
    After,
}

/// A pipelined switch: a FIFO per ingress port, one packet processor that serves them in turn, and
/// bounded egress queues. Thresholds of the ingress are the static ones of [`SwitchConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineConfig {
    /// Packets per second of the processor, independent of their size.
    pub rate: u64,
    /// Latency of a packet in addition to its processing.
    pub delay: Time,
    /// Where that is.
    pub delay_at: DelayAt,
    /// What happens to a packet of a lossless priority at a full egress queue, unless the scheme
    /// has a rule of its own; of another priority it is dropped.
    pub on_full: OnFull,
    /// What bounds the queues.
    pub limits: StageLimits,
}

impl PipelineConfig {
    /// How long the processor takes for one packet.
    pub fn service(&self) -> Time {
        Time::from_ps(Time::from_ms(1000).as_ps().div_ceil(self.rate.max(1)))
    }
}

impl Default for PipelineConfig {
    /// The CaPFC paper's switch: a million packets per second, 25 us in front of the processor,
    /// 60 KB per egress queue, and packets that do not fit are dropped.
    fn default() -> Self {
        Self {
            rate: 1_000_000,
            delay: Time::from_us(25),
            delay_at: DelayAt::Before,
            on_full: OnFull::Drop,
            limits: StageLimits::Dedicated { egress: Bytes::from_kb(60) },
        }
    }
}

/// Switches: shared memory and output queued, or pipelined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// All memory; [`Bytes::MAX`] for no limit.
    pub buffer: Bytes,
    /// How it is divided.
    pub thresholds: ThresholdConfig,
    /// Dynamic thresholds: headroom of all ingresses of a switch together; `None` if each has its
    /// own.
    pub headroom_pool: Option<Bytes>,
    /// Thresholds of egress queues; `None` for none. A pipelined switch has its own instead.
    pub egress: Option<EgressThresholds>,
    /// The cells in which memory is counted; `None` for bytes. Not in a pipelined switch.
    pub cell: Option<Cell>,
    /// Bit `p` set: priority `p` is lossless.
    pub lossless: PrioritySet,
    /// How priorities share a port.
    pub schedule: PrioritySchedule,
    /// ECN marking; `None` for never.
    pub ecn: Option<EcnConfig>,
    /// How its thresholds depend on the port.
    pub ecn_scale: EcnScale,
    /// When it is decided.
    pub ecn_at: EcnAt,
    /// Time from the last bit of a packet to its place in memory. Control frames are not
    /// delayed by it.
    pub latency: Time,
    /// PFC watchdog; `None` for off.
    pub watchdog: Option<WatchdogConfig>,
    /// A pipelined switch instead of a shared-memory one; `latency` must be zero then.
    pub pipeline: Option<PipelineConfig>,
}

impl SwitchConfig {
    /// Time from the last bit of a packet to its egress queue, if nothing is in its way.
    pub fn hop_latency(&self) -> Time {
        self.pipeline.map_or(self.latency, |p| p.delay + p.service())
    }
}

impl SwitchConfig {
    /// The most that every egress queue of a shared-memory switch may hold at least when all others
    /// are empty; `None` without thresholds there.
    pub fn shortest_egress(&self) -> Option<Bytes> {
        let of = self.egress?;
        let share = of.share.map_or(Bytes::MAX, |s| weir_fc::share_of(s.pool, s.shift));
        Some(of.limit.min(of.lossless).min(share))
    }

    /// The most that an egress queue of a pipelined switch may hold; `None` in shared memory.
    pub fn longest_egress(&self) -> Option<Bytes> {
        self.pipeline.map(|p| match p.limits {
            StageLimits::Dedicated { egress } => egress,
            StageLimits::Shared(limits) => limits.longest(),
        })
    }
}

impl Default for SwitchConfig {
    /// The OFC paper's thresholds on priority 3.
    fn default() -> Self {
        Self {
            buffer: Bytes::MAX,
            thresholds: ThresholdConfig::Static {
                xoff: Bytes::from_kb(75),
                xon: Bytes::from_kb(45),
                limit: IngressLimit::Lossless,
            },
            headroom_pool: None,
            egress: None,
            cell: None,
            lossless: PrioritySet::from_bits(1 << 3),
            schedule: PrioritySchedule::default(),
            ecn: None,
            ecn_scale: EcnScale::default(),
            ecn_at: EcnAt::default(),
            latency: Time::ZERO,
            watchdog: None,
            pipeline: None,
        }
    }
}

/// How a NIC chooses the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicDiscipline {
    /// A queue per flow, round robin, whatever their priorities.
    PerFlow,
    /// Priorities share the wire as they do at a switch, the flows of a priority take turns.
    ByPriority(PrioritySchedule),
    /// One queue for all flows: whatever is held at its head holds the rest.
    Fifo,
}

/// What a flow sends again after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reliability {
    /// Everything from the lost packet on: the receiver takes packets in order only.
    #[default]
    GoBackN,
    /// What is missing: the receiver keeps what comes out of order (IRN). A window that is left
    /// to the congestion control is never more than one bandwidth-delay product.
    SelectiveRepeat,
    /// TCP, which is its own congestion control: that of [`Config::cc`] must be none, `window` left
    /// to it and `timeout` left out. Constant-rate sources stay datagrams.
    Tcp,
}

/// How much a flow may have in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowConfig {
    /// What the congestion control says.
    FromCc,
    /// No limit, whatever the congestion control says.
    Unlimited,
    /// This many bytes of payload.
    Bytes(Bytes),
}

/// Hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicConfig {
    /// How flows share the wire.
    pub discipline: NicDiscipline,
    /// Payload bytes of a full packet.
    pub payload: Bytes,
    /// Header and trailer bytes of a data frame, FCS included.
    pub header: Bytes,
    /// Frame bytes of an ACK.
    pub ack: Bytes,
    /// Priority of ACKs; they are never dropped for lack of memory.
    pub ack_priority: Priority,
    /// TCP: ACKs, and SYN-ACKs, travel at the priority of their data instead, and are stored,
    /// paused and dropped as data are.
    pub acks_with_data: bool,
    /// Bytes in flight.
    pub window: WindowConfig,
    /// Retransmission timeout; `None` for never.
    pub timeout: Option<Time>,
    /// What is sent again after a loss.
    pub reliability: Reliability,
    /// Go-back-N: a NACK for the same packet is repeated after this long.
    pub nack_interval: Time,
    /// Selective repeat: a packet is taken for lost when one more than so many packets behind it
    /// has arrived; 0 where nothing overtakes.
    pub reorder: u32,
}

impl Default for NicConfig {
    /// 1500 B packets with an 18 B Ethernet header and FCS, no window.
    fn default() -> Self {
        Self {
            discipline: NicDiscipline::PerFlow,
            payload: Bytes::new(1500),
            header: Bytes::new(18),
            ack: Bytes::new(64),
            ack_priority: Priority::ALL[7],
            acks_with_data: false,
            window: WindowConfig::FromCc,
            timeout: None,
            reliability: Reliability::GoBackN,
            nack_interval: Time::from_us(500),
            reorder: 0,
        }
    }
}

impl NicConfig {
    /// The largest data frame.
    pub fn max_frame(&self) -> Bytes {
        self.payload + self.header
    }
}

/// How paths are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Routing {
    /// All shortest paths.
    #[default]
    Ecmp,
    /// Never up after down: free of cyclic buffer dependencies.
    UpDown,
}

/// A link that fails, and perhaps recovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFailure {
    /// Which.
    pub link: LinkId,
    /// When it goes down.
    pub down: Time,
    /// When it comes back.
    pub up: Option<Time>,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// When all flows are done and nothing is left in the network.
    Drained,
    /// At this time, or when drained.
    At(Time),
}
