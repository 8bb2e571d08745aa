//! What a run tells: completions, pause frames, queue lengths, packet records, progress.

use std::ops::ControlFlow;

/// A finished flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FctRecord {
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Source port.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
    /// Bytes.
    pub size: u64,
    /// Start in ns.
    pub start_ns: u64,
    /// From start to the sender's last ACK, in ns.
    pub fct_ns: u64,
    /// The original's estimate of that time on an idle network.
    pub standalone_ns: u64,
}

/// A pause or resume frame that reached a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcRecord {
    /// When.
    pub time_ns: u64,
    /// Where.
    pub node: u32,
    /// Whether the node is a switch.
    pub is_switch: bool,
    /// The port's number at its node, from 1.
    pub interface: u32,
    /// Pause, or resume.
    pub pause: bool,
}

/// Distribution of a port's queue lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDistribution<'a> {
    /// The switch.
    pub switch: u32,
    /// The port's number at it, from 1.
    pub interface: u32,
    /// Samples so far with `i kB <= queue < i + 1 kB`.
    pub samples: &'a [u32],
}

/// What happened to a recorded packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TraceEvent {
    /// It was received.
    Receive = 0,
    /// It joined a queue.
    Enqueue = 1,
    /// It left a queue, or was built by a NIC.
    Dequeue = 2,
    /// It was dropped because its link is down.
    Drop = 3,
}

/// The part of a packet record that depends on the kind of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceBody {
    /// Data.
    Data {
        /// Source port.
        sport: u16,
        /// Destination port.
        dport: u16,
        /// First byte.
        seq: u32,
        /// Timestamp, where the mode carries one.
        ts: u64,
        /// Priority group.
        pg: u16,
        /// Payload bytes.
        payload: u16,
    },
    /// ACK or NACK.
    Ack {
        /// Source port.
        sport: u16,
        /// Destination port.
        dport: u16,
        /// Bit 0: the data packet was marked.
        flags: u16,
        /// Priority group.
        pg: u16,
        /// Next byte expected.
        seq: u32,
        /// Echoed timestamp.
        ts: u64,
    },
    /// Pause or resume.
    Pfc {
        /// Pause time; 0 resumes.
        time: u32,
        /// Bytes in the sender's own queue.
        qlen: u32,
        /// The queue it is about.
        queue: u8,
    },
}

/// One packet record of the binary trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// When.
    pub time_ns: u64,
    /// Where.
    pub node: u32,
    /// The port's number at its node, from 1.
    pub interface: u32,
    /// Queue.
    pub queue: u8,
    /// Bytes in that queue.
    pub qlen: u32,
    /// Source address.
    pub sip: u32,
    /// Destination address.
    pub dip: u32,
    /// Wire bytes.
    pub size: u16,
    /// 0x11 data, 0xFC ACK, 0xFD NACK, 0xFE PFC.
    pub l3_protocol: u8,
    /// What happened.
    pub event: TraceEvent,
    /// ECN bits.
    pub ecn: u8,
    /// Whether the node is a switch.
    pub is_switch: bool,
    /// The rest.
    pub body: TraceBody,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub now_ns: u64,
    /// Where the run ends.
    pub stop_ns: u64,
    /// Flows finished.
    pub flows_done: usize,
    /// Flows in all.
    pub flows: usize,
    /// Packets sent over a link so far.
    pub packet_hops: u64,
}

/// Receives what a run tells, as it happens.
pub trait Recorder {
    /// A flow finished.
    fn fct(&mut self, record: &FctRecord);
    /// A pause or resume frame reached a port.
    fn pfc(&mut self, record: &PfcRecord);

    /// Queue lengths are dumped; one call per dump, ports in ascending order.
    fn queues(&mut self, time_ns: u64, ports: &mut dyn Iterator<Item = QueueDistribution<'_>>) {
        let _ = (time_ns, ports);
    }

    /// Whether queue lengths should be sampled: it is slow.
    fn wants_queues(&self) -> bool {
        false
    }

    /// A packet of a traced node.
    fn packet(&mut self, record: &TraceRecord) {
        let _ = record;
    }

    /// Whether packets of traced nodes should be reported.
    fn wants_packets(&self) -> bool {
        false
    }

    /// Called now and then; `Break` ends the run.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let _ = progress;
        ControlFlow::Continue(())
    }
}

/// Keeps completions and pause frames in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Finished flows, in order of completion.
    pub fct: Vec<FctRecord>,
    /// Pause and resume frames, in order.
    pub pfc: Vec<PfcRecord>,
}

impl Recorder for Memory {
    fn fct(&mut self, record: &FctRecord) {
        self.fct.push(*record);
    }

    fn pfc(&mut self, record: &PfcRecord) {
        self.pfc.push(*record);
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It came to its stop time.
    StopTime,
    /// The recorder asked for it.
    Interrupted,
    /// A timer with a period below a microsecond fired: the original never leaves this
    /// nanosecond.
    Stuck {
        /// When.
        time_ns: u64,
    },
    /// A host had to send to another to which no path leads any more: the original divides by
    /// the number of its next hops, zero, and crashes.
    NoRoute {
        /// When.
        time_ns: u64,
        /// The host that had to send data or an ACK.
        from: u32,
        /// The host it was for.
        to: u32,
    },
}

/// Frames sent by one sort of node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Data packets.
    pub data: u64,
    /// ACKs.
    pub ack: u64,
    /// NACKs.
    pub nack: u64,
    /// Pause and resume frames.
    pub pfc: u64,
    /// Wire bytes of all of them.
    pub bytes: u64,
}

/// Totals of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events executed, as the original counts them: cancelled ones, the end and its start-up
    /// events included.
    pub events: u64,
    /// Sent by hosts.
    pub host: Sent,
    /// Sent by switches.
    pub switch: Sent,
    /// Packets that found no room in a switch.
    pub drops: u64,
    /// Frames lost on links (errors, or a link that is down).
    pub lost: u64,
    /// Packets for which a switch had no route.
    pub unroutable: u64,
    /// The largest round-trip time between hosts, in ns.
    pub max_rtt_ns: u64,
    /// The largest bandwidth-delay product between hosts, in bytes.
    pub max_bdp: u64,
    /// Where the run ended.
    pub end_ns: u64,
    /// Flows that finished.
    pub flows_done: usize,
}

impl Counters {
    #[inline]
    pub(crate) fn count_sent(&mut self, is_host: bool, kind: usize, size: u32) {
        let sent = if is_host { &mut self.host } else { &mut self.switch };
        let counter = match kind {
            0 => &mut sent.data,
            1 => &mut sent.ack,
            2 => &mut sent.nack,
            _ => &mut sent.pfc,
        };
        *counter += 1;
        sent.bytes += u64::from(size);
    }

    /// Packets that crossed a link, frames of all kinds.
    pub fn packet_hops(&self) -> u64 {
        [self.host, self.switch].iter().map(|s| s.data + s.ack + s.nack + s.pfc).sum()
    }
}
