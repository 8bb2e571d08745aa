//! The keys of a pipelined switch.

use super::{Key, Kind, key};

/// The packet processor of a pipelined switch.
pub const PIPELINE: &[Key] = &[
    key(
        "rate",
        Kind::Whole { min: 1, max: 1_000_000_000_000 },
        "1000000",
        "Packets per second of the processor, independent of their size.",
    ),
    key("delay", Kind::Time(&[]), "25us", "Latency of a packet in addition to its processing."),
    key(
        "delay-at",
        Kind::Choice(&["before", "after"]),
        "before",
        "Where the delay applies. `before`: between arrival and processing. `after`: between \
         processing and the egress queue.",
    ),
    key(
        "egress",
        Kind::Size(&[]),
        "60KB",
        "Largest number of bytes of an egress queue (port, priority). ACKs have no limit.",
    ),
    key(
        "on-full",
        Kind::Choice(&["drop", "stop"]),
        "drop",
        "What happens to a packet of a lossless priority whose egress queue is full: `drop` it, or \
         `stop` the processor for all ports and priorities until there is room. PFC's `on-full` \
         overrides it, CaPFC always drops, and packets of other priorities are always dropped.",
    ),
];

/// The shared memory of a pipelined switch.
pub const SHARED_POOL: &[Key] = &[
    key("dedicated", Kind::Size(&[]), "8KB", "Dedicated memory of each (port, priority)."),
    key(
        "total",
        Kind::Size(&[]),
        "350KB",
        "The pool: what all packets together may use beyond dedicated memory.",
    ),
    key(
        "queue",
        Kind::Size(&[]),
        "80KB",
        "Largest part of the pool for one queue, ingress or egress.",
    ),
    key("port", Kind::Size(&[]), "100KB", "Largest part of the pool for one side of a port."),
    key(
        "ingress",
        Kind::Size(&[]),
        "",
        "Largest part of the pool for all ingress queues; default: total.",
    ),
    key(
        "egress",
        Kind::Size(&[]),
        "",
        "Largest part of the pool for all egress queues; default: total.",
    ),
];
