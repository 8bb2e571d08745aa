//! The keys of a scenario file as data: one table serves the reader, its error messages, the
//! JSON schema and the reference in the book.

mod egress;
mod fault;
mod job;
mod pipeline;
mod receiver;
mod run;

pub use egress::EGRESS;
pub use fault::FAULT;
pub use job::JOB;
pub use pipeline::{PIPELINE, SHARED_POOL};
pub use receiver::SLOW_RECEIVER;
pub use run::{PROBE, REFERENCE, REPORT, RUN, VARIANT};
use weir_core::Response;
pub use weir_core::param::{Kind, Param as Key};

/// A table of a scenario file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name: `switch` for `[switch]`.
    pub name: &'static str,
    /// Whether it may stand several times: `[[traffic]]`.
    pub repeated: bool,
    /// What it is about.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

impl Section {
    /// As it is written in a file.
    pub fn header(&self) -> String {
        if self.repeated { format!("[[{}]]", self.name) } else { format!("[{}]", self.name) }
    }
}

/// Two lists of keys, one after the other.
pub const fn joined<const N: usize>(a: &[Key], b: &[Key]) -> [Key; N] {
    assert!(a.len() + b.len() == N && N > 0);
    let mut all = [if a.is_empty() { b[0] } else { a[0] }; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < a.len() { a[i] } else { b[i - a.len()] };
        i += 1;
    }
    all
}

/// A key; without a default its absence has a meaning of its own.
pub const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key::new(name, kind, default, doc)
}

/// The keys in front of all sections.
pub const ROOT: Section = Section {
    name: "",
    repeated: false,
    doc: "Name and description of the scenario.",
    keys: &[
        key(
            "name",
            Kind::Text,
            "",
            "Short name, used for directories; default: the name of the file.",
        ),
        key("title", Kind::Text, "", "One line for tables and pages."),
        key("notes", Kind::Text, "", "Notes for readers: sources, choices, caveats."),
    ],
};

/// Keys of `[topology]` besides those of its kind.
pub const TOPOLOGY: Section = Section {
    name: "topology",
    repeated: false,
    doc: "The network. Besides `kind`, the parameters of that kind; `weir topo SCENARIO` \
          describes and draws the result.",
    keys: &[
        key("kind", Kind::Text, "", "The topology; `explicit` is your own graph."),
        key(
            "per-metre",
            Kind::Time(&[]),
            "5ns",
            "How long a signal takes for a metre of cable, where links have a length.",
        ),
    ],
};

/// Keys of `[topology]` with `kind = "explicit"`.
pub const EXPLICIT: &[Key] = &[
    key("file", Kind::Text, "", "A graph file, relative to the scenario; instead of the lists."),
    key("hosts", Kind::Names, "", "Names of hosts."),
    key("switches", Kind::Names, "", "Names of switches."),
    key(
        "links",
        Kind::Names,
        "",
        "Links as `\"h0 s0\"`, or with rate and delay or length as `\"s0 s1 400Gbps 1us\"` or \
         `\"s0 s1 400Gbps 100m\"`.",
    ),
    key(
        "failed",
        Kind::Names,
        "",
        "Links that have failed from the start, as `\"s0 s1\"`: they are left out, and no route \
         uses them at any time.",
    ),
    key("ports", Kind::Names, "", "Names for ports, as `\"P_d Sc h9\"`: the port of Sc to h9."),
    key("rate", Kind::Text, "", "Rate of links that give none."),
    key("delay", Kind::Text, "", "Delay of links that give none."),
    key("length", Kind::Length, "", "Length of links that give none, instead of `delay`."),
    key(
        "per-metre",
        Kind::Time(&[]),
        "5ns",
        "How long a signal takes for a metre of cable, where links have a length.",
    ),
];

/// Thresholds of `[switch]`.
pub const THRESHOLDS: &[Key] = &[
    key("xoff", Kind::Size(&[]), "75KB", "Static: pause an ingress at or above this many bytes."),
    key("xon", Kind::Size(&[]), "45KB", "Static: resume it at or below this many bytes."),
    key(
        "limit",
        Kind::Size(&["lossless", "unlimited"]),
        "lossless",
        "Static: largest number of bytes of one ingress (port, priority). `lossless` is xoff, \
         plus a frame less one byte, plus the headroom that the link needs; one frame more under \
         GFC, and no limit under schemes that do not pause at xoff.",
    ),
    key(
        "alpha",
        Kind::Fraction,
        "",
        "Dynamic: pause at this share of the free shared memory; a power of two from 1/256 to \
         128, for ports at the rate of the slowest link. It doubles with the rate of a port, up to \
         1; above 1 it is the same for all ports. Needs a `buffer`.",
    ),
    key("reserve", Kind::Size(&[]), "4096B", "Dynamic: reserved per (port, lossless priority)."),
    key("resume-offset", Kind::Size(&[]), "3072B", "Dynamic: resume this far below the threshold."),
    key(
        "headroom",
        Kind::Size(&["auto"]),
        "auto",
        "Dynamic: headroom per (port, lossless priority); `auto` computes it from each link.",
    ),
    key(
        "headroom-pool",
        Kind::Size(&["none"]),
        "none",
        "Dynamic: memory that is set aside as headroom of all ports and priorities together; each \
         of them may use its `headroom` of it. `none`: each has its own.",
    ),
    key(
        "buffer",
        Kind::Size(&["unlimited"]),
        "unlimited",
        "The same as `buffer` of `[switch]`, which is preferred.",
    ),
];

/// ECN marking.
pub const ECN: &[Key] = &[
    key("kmin", Kind::Size(&[]), "", "No packet is marked at or below this queue length."),
    key("kmax", Kind::Size(&[]), "", "Every packet is marked above this queue length."),
    key("pmax", Kind::Fraction, "1", "Marking probability just below kmax."),
    key(
        "at",
        Kind::Choice(&["dequeue", "enqueue"]),
        "dequeue",
        "Which queue length counts: the bytes that a packet leaves behind (dequeue), or those it \
         finds (enqueue).",
    ),
];

/// The PFC watchdog.
pub const WATCHDOG: &[Key] = &[
    key(
        "detect",
        Kind::Time(&[]),
        "400ms",
        "A priority that is held this long without interruption is stuck.",
    ),
    key(
        "restore",
        Kind::Time(&[]),
        "2s",
        "Normal operation resumes after this time without a hold.",
    ),
    key(
        "action",
        Kind::Choice(&["drop", "forward", "alert"]),
        "drop",
        "What to do while it is stuck.",
    ),
];

/// `[switch]`.
pub const SWITCH: Section = Section {
    name: "switch",
    repeated: false,
    doc: "All switches: their memory, thresholds and queues.",
    keys: &[
        key(
            "model",
            Kind::Choice(&["shared-memory", "pipelined"]),
            "shared-memory",
            "How a switch stores packets. `shared-memory`: one memory for all ports, queues at the \
             egress. `pipelined`: a FIFO per ingress port, one packet processor, bounded egress \
             queues.",
        ),
        key("buffer", Kind::Size(&["unlimited"]), "unlimited", "All memory of one switch."),
        key(
            "thresholds",
            Kind::Table(THRESHOLDS, &["auto", "pool"]),
            "auto",
            "When an ingress is paused: static `{ xoff, xon }`, dynamic `{ alpha }`, or \
             `\"pool\"` for one tail-drop pool without pauses. `\"auto\"` is static and follows \
             the speed of ports: xoff 75KB and xon 45KB per 40 Gb/s of each ingress port, xoff at \
             least ten of the largest frames.",
        ),
        key(
            "lossless",
            Kind::Wholes { min: 0, max: 7 },
            "3",
            "Priorities that flow control protects.",
        ),
        key(
            "weights",
            Kind::Wholes { min: 0, max: 1000 },
            "",
            "Eight weights, priority 0 first: 0 is strict priority (served first, 7 before 6), \
             the others share the remaining bandwidth by deficit round robin. Default: all strict.",
        ),
        key("quantum", Kind::Size(&[]), "1500B", "Bytes per unit of weight and visit."),
        key(
            "ecn",
            Kind::Table(ECN, &["auto", "off", "dcqcn", "dcqcn-paper", "dcqcn-ns3-rdma", "dctcp"]),
            "auto",
            "ECN marking at egress queues. A name is a published profile: `dcqcn` is kmin 100KB, \
             kmax 400KB, pmax 20% per 25 Gb/s of the port, `dcqcn-paper` kmin 5KB, kmax 200KB, \
             pmax 1%, `dcqcn-ns3-rdma` kmin 40KB, kmax 1000KB, pmax 100%, `dctcp` \
             kmin = kmax = 30KB per 10 Gb/s of the port. `auto` takes the profile of the \
             congestion control, if that needs marks, and lowers kmin and kmax in proportion \
             until kmax is half of the pause threshold: marking comes before pausing.",
        ),
        key(
            "latency",
            Kind::Time(&[]),
            "0ns",
            "Forwarding latency: from the last bit of a packet to its queue.",
        ),
        key(
            "watchdog",
            Kind::Table(WATCHDOG, &["off"]),
            "off",
            "PFC watchdog: what to do with a priority that stays held.",
        ),
        key(
            "egress",
            Kind::Table(EGRESS, &["off"]),
            "off",
            "Thresholds of egress queues (port, priority) in shared memory: a packet that finds \
             its queue too long is dropped (`egress-full`).",
        ),
        key(
            "cell",
            Kind::Size(&["off"]),
            "off",
            "Memory is counted in cells of this size, whole ones for each packet. Headroom that \
             is computed counts cells of the smallest packets. Lengths of egress queues, for \
             marking and `egress`, stay in bytes. `off`: memory is counted in bytes.",
        ),
        key(
            "pipeline",
            Kind::Table(PIPELINE, &[]),
            "",
            "The processor of a pipelined switch. Default: the CaPFC paper's.",
        ),
        key(
            "shared-pool",
            Kind::Table(SHARED_POOL, &[]),
            "",
            "A pipelined switch whose queues share a pool, instead of a limit per egress queue.",
        ),
    ],
};

/// `[link]`.
pub const LINK: Section = Section {
    name: "link",
    repeated: false,
    doc: "All wires. Speeds and delays belong to the topology.",
    keys: &[
        key(
            "overhead",
            Kind::Size(&[]),
            "20B",
            "Bytes on the wire in addition to each frame: preamble, delimiter and gap.",
        ),
        key(
            "response",
            Kind::Time(&[Response::STANDARD]),
            "0ns",
            "Time between the arrival of a control frame and its effect. `802.1Qbb` is the longest \
             time that the standard allows a port of its speed: 1.51 us at 40 Gb/s, 2.02 us at \
             100 Gb/s, 1.16 us at 400 Gb/s.",
        ),
        key("bit-error-rate", Kind::Below(1), "0", "Probability that a bit is received wrong."),
    ],
};

/// `[nic]`.
pub const NIC: Section = Section {
    name: "nic",
    repeated: false,
    doc: "All hosts: how they send, and how they repair losses.",
    keys: &[
        key(
            "queues",
            Kind::Choice(&["per-flow", "by-priority", "fifo"]),
            "per-flow",
            "`per-flow`: a queue per flow, served in turn regardless of priority. `by-priority`: \
             priorities share the wire by `weights`, and the flows of a priority take turns. \
             `fifo`: one queue for all flows, with head-of-line blocking.",
        ),
        key(
            "weights",
            Kind::Wholes { min: 0, max: 1000 },
            "",
            "With `by-priority`, eight weights as in `[switch]`: 0 is strict priority. Default: \
             all strict.",
        ),
        key(
            "quantum",
            Kind::Size(&[]),
            "1500B",
            "With `by-priority`: bytes per unit of weight and visit.",
        ),
        key(
            "transport",
            Kind::Choice(&["roce", "tcp"]),
            "roce",
            "The transport of flows: RDMA over Ethernet with the congestion control of \
             `[congestion-control]`, or TCP, which has its own (`[tcp]`). Constant-rate sources \
             send datagrams in both cases.",
        ),
        key(
            "payload",
            Kind::Size(&[]),
            "1500B",
            "Payload of a full packet; with TCP it is `mss` of `[tcp]`.",
        ),
        key(
            "header",
            Kind::Size(&[]),
            "18B",
            "Headers and checksum of a data frame; with TCP the default is 58B.",
        ),
        key(
            "ack",
            Kind::Size(&[]),
            "64B",
            "Frame bytes of an ACK, and of a SYN. 0B together with an `overhead` of 0B in \
             `[link]`: ACKs take no time on the wire, as closed forms have it.",
        ),
        key(
            "ack-priority",
            Kind::WholeOr { min: 0, max: 7, words: &["data"] },
            "7",
            "Priority of ACKs, which are neither paused nor dropped for lack of memory. `data` \
             (TCP): ACKs have the priority of their data, and are stored, paused and dropped like \
             data.",
        ),
        key(
            "window",
            Kind::Size(&["from-cc", "unlimited"]),
            "from-cc",
            "Largest payload of a flow in flight; `from-cc`: decided by its congestion control, \
             and with selective repeat at most one bandwidth-delay product.",
        ),
        key(
            "timeout",
            Kind::Time(&["never", "auto"]),
            "auto",
            "Retransmission timeout. `auto`: never, if packets cannot be lost (they can with a \
             scheme that is not lossless, bit errors, failing links, slow receivers or a \
             watchdog); 1ms under `none`; else 10ms, or five times the time in which the slowest \
             link sends a full switch memory, so that no pause triggers it.",
        ),
        key(
            "reliability",
            Kind::Choice(&["go-back-n", "selective-repeat"]),
            "go-back-n",
            "What is sent again after a loss: everything from the lost packet on, or only what is \
             missing (IRN).",
        ),
        key(
            "reorder",
            Kind::Whole { min: 0, max: 1_000_000 },
            "0",
            "Selective repeat: a packet counts as lost when a packet more than this many behind \
             it has arrived. If this is larger than the window, only the timeout repairs losses.",
        ),
        key(
            "nack-interval",
            Kind::Time(&[]),
            "500us",
            "Go-back-N: a NACK for the same packet is repeated after this long. With selective \
             repeat every packet out of order is answered by one.",
        ),
    ],
};

/// Keys of `[tcp]` besides the parameters of TCP.
pub const TCP: Section = Section {
    name: "tcp",
    repeated: false,
    doc: "TCP, where `transport = \"tcp\"` in `[nic]`. Parameters given here replace those of the \
          `profile`.",
    keys: &[
        key(
            "profile",
            Kind::Choice(&["linux", "detail"]),
            "linux",
            "Parameter set: `linux` has the defaults below, `detail` those of DeTail and CaPFC: \
             no fast retransmit, since packets of a flow may take different paths, and an RTO_min \
             of 10 ms.",
        ),
        key("mss", Kind::Size(&[]), "1460B", "Payload of a full segment."),
    ],
};

/// Keys of `[flow-control]` besides the parameters of the scheme.
pub const FLOW_CONTROL: Section = Section {
    name: "flow-control",
    repeated: false,
    doc: "The flow control scheme. Its parameters are in the same table as `scheme`; those of \
          other schemes, for `weir compare`, in separate tables: `[flow-control.pfc]`.",
    keys: &[key("scheme", Kind::Text, "pfc", "The scheme; `weir schemes` lists them.")],
};

/// Keys of `[congestion-control]` besides the parameters of the algorithm.
pub const CONGESTION_CONTROL: Section = Section {
    name: "congestion-control",
    repeated: false,
    doc: "The congestion control of senders. Its parameters are in the same table as `algorithm`; \
          those of others, for `--cc`, in separate tables: `[congestion-control.dcqcn]`. \
          Parameters given here replace those of the `profile`.",
    keys: &[key("algorithm", Kind::Text, "none", "The algorithm; `weir schemes` lists them.")],
};

/// Keys of `[[traffic]]` besides the parameters of the pattern.
pub const TRAFFIC: Section = Section {
    name: "traffic",
    repeated: true,
    doc: "The flows: senders, receivers, sizes and start times. Besides `kind`, the parameters of \
          that pattern. Hosts are named one by one (`\"h0\"`), as a range (`\"h2..h7\"`), as all \
          hosts of a switch (`\"leaf0\"`) or as `\"all\"`.",
    keys: &[key("kind", Kind::Text, "", "The pattern; `weir patterns` lists them.")],
};

/// `[[path]]`.
pub const PATH: Section = Section {
    name: "path",
    repeated: true,
    doc: "A static path, for traffic that names it.",
    keys: &[
        key("name", Kind::Text, "", "The name of the path."),
        key("nodes", Kind::Names, "", "Every node from the sender to the receiver."),
    ],
};

/// `[[failure]]`.
pub const FAILURE: Section = Section {
    name: "failure",
    repeated: true,
    doc: "A link that fails, and optionally recovers.",
    keys: &[
        key("link", Kind::Names, "", "The two nodes that it joins: `[\"leaf0\", \"spine1\"]`."),
        key(
            "down",
            Kind::Time(&[]),
            "",
            "When it fails. With 0 it never was part of a route, and nothing converges.",
        ),
        key("up", Kind::Time(&["never"]), "never", "When the link recovers; default: never."),
    ],
};

/// `[routing]`.
pub const ROUTING: Section = Section {
    name: "routing",
    repeated: false,
    doc: "How paths are chosen.",
    keys: &[
        key(
            "kind",
            Kind::Choice(&["ecmp", "up-down"]),
            "ecmp",
            "`ecmp`: all shortest paths. `up-down`: paths that never go up after going down, \
             which cannot deadlock.",
        ),
        key(
            "balance",
            Kind::Choice(&["flow", "adaptive", "random", "round-robin", "flowlet"]),
            "flow",
            "How packets are spread over several equal paths. `flow`: one per flow, by hash. By \
             packet: `adaptive`, to a port with few drain bytes (DeTail); `random`; `round-robin`. \
             `flowlet`: a flow draws a new path after a gap. All except `flow` can reorder \
             packets.",
        ),
        key(
            "drain-low",
            Kind::Size(&[]),
            "16KB",
            "Adaptive: a port is drawn from those with fewer drain bytes than this, if there are \
             any. Drain bytes are the bytes that leave the port before a new packet of the same \
             priority.",
        ),
        key(
            "drain-high",
            Kind::Size(&[]),
            "32KB",
            "Adaptive: else from those with fewer than this, else from all.",
        ),
        key(
            "flowlet-gap",
            Kind::Time(&[]),
            "100us",
            "Flowlet: the gap between packets of a flow, at a switch, after which the flow draws \
             a new port.",
        ),
        key(
            "convergence",
            Kind::Time(&[]),
            "100us",
            "Time from a failure or recovery to the change of routes.",
        ),
    ],
};

/// All sections in the order they are documented.
pub const SECTIONS: &[Section] = &[
    TOPOLOGY,
    TRAFFIC,
    JOB,
    SWITCH,
    LINK,
    NIC,
    TCP,
    FLOW_CONTROL,
    CONGESTION_CONTROL,
    ROUTING,
    PATH,
    FAILURE,
    FAULT,
    SLOW_RECEIVER,
    PROBE,
    RUN,
    VARIANT,
    REPORT,
    REFERENCE,
];
